// netprof regions for programs.
#include "cli/output.h"
#include "regions_output.h"
#include "analysis/peers/pairs_json.h"
#include "analysis/regions/pairs/regions_pairs.h"
#include "summary.h"

#include <math.h>
#include <stdlib.h>

static json_object *regions_json_index(size_t index)
{
    return index == REGIONS_NONE ? NULL : json_exact_value(index);
}

static json_object *regions_json_number_or_null(long number)
{
    return number < 0 ? NULL : json_new_int64(number);
}

// ---- who ----

// From MPI_Init's end to MPI_Finalize's begin; null where work and waiting cannot be told apart.
static json_object *regions_json_times(const regions *job, const regions_rank *rank)
{
    const regions_times *t = &rank->times;
    if (!t->known || (!job->waits.mpi && !job->waits.known)) return NULL;
    json_object *o = json_new_object();
    json_put(o, "elapsed_s", json_number_value(t->run_ns / 1e9));
    json_put(o, "work_ns", json_number_value(t->work_ns));
    json_put(o, "waiting_ns", json_number_value(t->peer_ns + t->all_ns));
    json_put(o, "mpi_ns", job->waits.mpi ? json_number_value(t->mpi_ns) : NULL);
    json_put(o, "mpi_init_and_finalize_ns", job->waits.mpi ? json_number_value(t->apart_ns) : NULL);
    return o;
}

static json_object *regions_json_rank(const regions *job, const regions_rank *rank)
{
    static const char *const modes[] = {"", "off", "time", "fast", "sampler"};
    json_object *o = json_new_object();
    json_put(o, "rank", regions_json_number_or_null(rank->number));
    json_put_text(o, "label", rank->label);
    json_put(o, "pid", regions_json_number_or_null(rank->pid));
    json_put(o, "is_child", json_new_boolean(rank->child));
    json_put(o, "ended", *rank->end ? json_text_value(rank->end) : NULL);
    json_put_text(o, "host", job->hosts[rank->host].name);
    json_put_text(o, "file", rank->path);
    json_put_text(o, "netprof", rank->version);
    json_put_text(o, "mode", rank->mode <= NETPROF_MODE_SAMPLER ? modes[rank->mode] : "");
    json_put_text(o, "clock", rank->clock);
    json_put(o, "begin_ns", json_new_int64(rank->wall_ns));
    json_put(o, "elapsed_s", json_number_value((double)rank->elapsed_ns / 1e9));
    json_put_exact(o, "regions_ns", rank->time_ns);
    json_put_exact(o, "threads", rank->threads);
    json_put_exact(o, "calls", rank->calls);
    json_put_exact(o, "mismatched_ends", rank->mismatched);
    json_put_exact(o, "dropped_begins", rank->dropped);
    json_put_exact(o, "overhead_ps_per_call", rank->overhead_ps);
    json_put_exact(o, "reading_count", rank->readings);
    json_put_exact(o, "reading_ns", rank->reading_ns);
    json_put(o, "sweep_s", rank->sweep_ns ? json_number_value((double)rank->sweep_ns / 1e9) : NULL);
    json_put(o, "interval_s", rank->interval_ns ? json_number_value((double)rank->interval_ns / 1e9) : NULL);
    json_put(o, "work_and_waiting", regions_json_times(job, rank));
    json_put(o, "cpu_ns", rank->cpu_ns < 0 ? NULL : json_new_int64(rank->cpu_ns));
    json_put(o, "waited_for_cpu_ns", rank->cpu_wait_ns < 0 ? NULL : json_new_int64(rank->cpu_wait_ns));
    json_put(o, "cpu_list", *rank->cpus ? json_text_value(rank->cpus) : NULL);
    json_put(o, "complete", json_new_boolean(rank->complete));
    if (*rank->warning) json_put_text(o, "warning", rank->warning);
    return o;
}

static json_object *regions_json_hosts(const regions *job)
{
    json_object *list = json_new_array();
    for (size_t i = 0; i < job->host_count; i++) {
        const regions_host *host = &job->hosts[i];
        json_object *o = json_new_object(), *devices = json_new_array();
        json_put_text(o, "host", host->name);
        json_put_exact(o, "rank_count", host->rank_count);
        for (size_t d = 0; host->schema && d < host->schema->device_count; d++)
            json_append(devices, json_text_value(host->schema->devices[d].name));
        json_put(o, "devices", devices);
        json_append(list, o);
    }
    return list;
}

// ---- a region ----

static void regions_json_add_calls(json_object *o, const regions_calls *c)
{
    bool any = c->measured > 0;
    json_put_exact(o, "calls", c->calls);
    json_put_exact(o, "measured_calls", c->measured);
    json_put_exact(o, "open_calls", c->open);
    json_put_exact(o, "aborted_calls", c->aborted);
    json_put_exact(o, "span_count", c->spans);
    json_put_exact(o, "spans_waited_for", c->waits);
    json_put_exact(o, "waited_ns", c->waited_ns);
    json_put_exact(o, "inclusive_ns", c->inclusive_ns);
    json_put_exact(o, "exclusive_ns", c->exclusive_ns);
    json_put(o, "min_ns", any ? json_exact_value(c->min_ns) : NULL);
    json_put(o, "max_ns", any ? json_exact_value(c->max_ns) : NULL);
    json_put(o, "mean_ns", json_number_value(regions_mean_call_ns(c)));
    json_put(o, "variance_ns2", any ? json_number_value(c->variance_ns2) : NULL);
    json_put_exact(o, "declared_bytes", c->bytes);
}

static json_object *regions_json_place(const regions_view *view, const regions_node *n, size_t cell)
{
    json_object *o = json_new_object();
    json_put(o, "rank", regions_json_number_or_null(view->job->ranks[n->cells[cell].rank].number));
    json_put_text(o, "label", view->job->ranks[n->cells[cell].rank].label);
    json_put_exact(o, "inclusive_ns", n->cells[cell].sums.inclusive_ns);
    return o;
}

static json_object *regions_json_balance(const regions_view *view, const regions_node *n)
{
    json_object *o = json_new_object(), *odd = NULL;
    if (!n->cell_count) return o;
    json_put(o, "mean_ns", json_number_value(n->mean_ns));
    json_put(o, "median_ns", json_number_value(n->median_ns));
    json_put(o, "deviation_ns", json_number_value(n->deviation_ns));
    json_put(o, "max_over_mean", json_number_value(n->max_over_mean));
    json_put(o, "slowest_less_mean_ns", json_number_value(n->imbalance_ns));
    json_put(o, "fastest", regions_json_place(view, n, n->fastest));
    json_put(o, "slowest", regions_json_place(view, n, n->slowest));
    if (n->odd != REGIONS_NONE) {
        odd = regions_json_place(view, n, n->odd);
        json_put(odd, "over_median", json_number_value(n->odd_over_median));
        json_put(odd, "less_median_ns",
                 json_number_value(n->odd_distance_ns)); // an upper bound of what others wait
        json_put(odd, "notable", json_new_boolean(n->odd_notable));
    }
    json_put(o, "odd", odd);
    return o;
}

static json_object *regions_json_quantile(const regions_node *n, const uint64_t *buckets, double q)
{
    json_object *o = json_new_object();
    regions_quantile x = regions_quantile_of(buckets, q, n->sums.min_ns, n->sums.max_ns);
    json_put_exact(o, "low_ns", x.low_ns);
    json_put_exact(o, "high_ns", x.high_ns);
    return o;
}

static void regions_json_add_durations(json_object *o, const regions_node *n)
{
    static const struct {
        const char *key;
        double q;
    } rows[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}};
    uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS];
    json_object *quantiles = json_new_object(), *list = json_new_array();
    bool any = regions_histogram(n, buckets);
    for (size_t i = 0; any && i < sizeof rows / sizeof *rows; i++)
        json_put(quantiles, rows[i].key, regions_json_quantile(n, buckets, rows[i].q));
    for (unsigned i = 0; any && i < NETPROF_HISTOGRAM_BUCKETS; i++) {
        if (!buckets[i]) continue;
        json_object *bucket = json_new_object();
        json_put_exact(bucket, "from_ns", netprof_histogram_floor_ns(i));
        json_put(bucket, "below_ns",
                 i + 1 < NETPROF_HISTOGRAM_BUCKETS ? json_exact_value(netprof_histogram_floor_ns(i + 1)) : NULL);
        json_put_exact(bucket, "calls", buckets[i]);
        json_append(list, bucket);
    }
    json_put(o, "quantiles", quantiles);
    json_put(o, "histogram", list);
}

// Columns, one entry for each rank: thousands of objects would take long.
static json_object *regions_json_ranks(const regions_view *view, const regions_node *n)
{
    json_object *o = json_new_object(), *rank = json_new_array(), *calls = json_new_array(),
                *inclusive = json_new_array(), *exclusive = json_new_array(), *bytes = json_new_array();
    for (size_t i = 0; i < n->cell_count; i++) {
        if (!regions_is_wanted(view, n->cells[i].rank)) continue;
        json_append(rank, json_exact_value(n->cells[i].rank));
        json_append(calls, json_exact_value(n->cells[i].sums.calls));
        json_append(inclusive, json_exact_value(n->cells[i].sums.inclusive_ns));
        json_append(exclusive, json_exact_value(n->cells[i].sums.exclusive_ns));
        json_append(bytes, json_exact_value(n->cells[i].sums.bytes));
    }
    json_put(o, "rank_index", rank);
    json_put(o, "calls", calls);
    json_put(o, "inclusive_ns", inclusive);
    json_put(o, "exclusive_ns", exclusive);
    json_put(o, "declared_bytes", bytes);
    return o;
}

// ---- values ----

static json_object *regions_json_value(const regions_value *v)
{
    json_object *o = json_new_object(), *list = json_new_array();
    json_put_text(o, "name", v->name);
    json_put_exact(o, "count", v->count);
    json_put(o, "total", json_new_int64(v->sum));
    json_put(o, "min", json_new_int64(v->least));
    json_put(o, "max", json_new_int64(v->most));
    json_put(o, "in_longest_call", v->longest_ns ? json_new_int64(v->at_longest) : NULL);
    json_put(o, "longest_call_ns", v->longest_ns ? json_exact_value(v->longest_ns) : NULL);
    json_put(o, "longest_call_rank_index", v->longest_ns ? json_exact_value(v->rank) : NULL);
    for (unsigned i = 0; i < NETPROF_VALUE_BUCKETS; i++) {
        if (!v->counts[i]) continue;
        json_object *bucket = json_new_object();
        json_put(bucket, "from", i ? json_new_int64(netprof_value_floor(i)) : NULL);
        json_put(bucket, "below", i + 1 < NETPROF_VALUE_BUCKETS ? json_new_int64(netprof_value_floor(i + 1)) : NULL);
        json_put_exact(bucket, "count", v->counts[i]);
        json_put_exact(bucket, "inside_ns", v->times_ns[i]);
        json_append(list, bucket);
    }
    json_put(o, "histogram", list);
    return o;
}

static json_object *regions_json_values(const regions_node *n)
{
    json_object *list = json_new_array();
    for (size_t i = 0; i < n->value_count; i++)
        json_append(list, regions_json_value(&n->values[i]));
    return list;
}

// ---- NICs ----

static const char *const way_keys[2][2] = {{"rx_bytes", "rx_bytes_per_s"}, {"tx_bytes", "tx_bytes_per_s"}};

static json_object *regions_json_device(const regions *job, size_t host, size_t device)
{
    const netprof_schema *schema = job->hosts[host].schema;
    return device == REGIONS_NONE || !schema ? NULL : json_text_value(schema->devices[device].name);
}

static json_object *regions_json_reading(const regions *job, const regions_reading *x)
{
    json_object *o = json_new_object();
    bool known = x->state >= REGIONS_UNCERTAIN;
    json_put_text(o, "host", job->hosts[x->host].name);
    json_put_text(o, "state", regions_state_name(x->state));
    json_put_text(o, "read_by_rank", job->ranks[x->rank].label);
    json_put_exact(o, "read_by_thread", x->thread);
    json_put_exact(o, "reader_count", x->readers);
    json_put_exact(o, "calls", x->calls);
    json_put_exact(o, "calls_without_counters", x->unread);
    json_put_exact(o, "inside_ns", x->time_ns);
    json_put(o, "uncertain_share", known ? json_number_value(x->uncertain) : NULL);
    json_put(o, "no_port", json_new_boolean(known && x->no_port));
    json_put(o, "open_regions", x->calls ? json_number_value(x->open) : NULL);
    for (int way = IN; way <= OUT; way++) {
        json_put(o, way_keys[way][0], known && x->bytes_known[way] ? json_exact_value(x->bytes[way]) : NULL);
        json_put(o, way_keys[way][1], known ? json_number_value(x->bytes_per_s[way]) : NULL);
    }
    json_put(o, "line_rate_bytes_per_s",
             known && x->line_bytes_per_s > 0 ? json_number_value(x->line_bytes_per_s) : NULL);
    json_put(o, "share_of_line_rate", known ? json_number_value(x->share) : NULL);
    json_put(o, "busiest_device", known ? regions_json_device(job, x->host, x->busiest) : NULL);
    json_put(o, "share_of_time_paused", known ? json_number_value(x->paused) : NULL);
    json_put(o, "most_paused_device", known ? regions_json_device(job, x->host, x->most_paused) : NULL);
    json_put(o, "retries", known && x->retries_known ? json_exact_value(x->retries) : NULL);
    return o;
}

static json_object *regions_json_nic(const regions *job, const regions_node *n)
{
    const regions_nic *nic = &n->nic;
    json_object *o = json_new_object(), *list = json_new_array();
    json_put_text(o, "state", regions_state_name(nic->state));
    json_put_exact(o, "host_count", nic->hosts);
    json_put(o, "uncertain_share", nic->state >= REGIONS_UNCERTAIN ? json_number_value(nic->uncertain) : NULL);
    json_put(o, "no_port", json_new_boolean(nic->no_port));
    json_put(o, "shortest_call_ns", nic->limit_ns ? json_exact_value(nic->limit_ns) : NULL);
    for (int way = IN; way <= OUT; way++) {
        json_put(o, way_keys[way][0], nic->bytes_known[way] ? json_exact_value(nic->bytes[way]) : NULL);
        json_put(o, way == IN ? "rx_bytes_per_s_and_host" : "tx_bytes_per_s_and_host",
                 json_number_value(nic->bytes_per_s[way]));
    }
    json_put(o, "line_rate_bytes_per_s_and_host",
             nic->line_bytes_per_s > 0 ? json_number_value(nic->line_bytes_per_s) : NULL);
    json_put(o, "share_of_line_rate", json_number_value(nic->share));
    json_put(o, "share_of_time_paused", json_number_value(nic->paused));
    json_put(o, "retries", nic->retries_known ? json_exact_value(nic->retries) : NULL);
    json_put(o, "sent_over_declared", json_number_value(nic->sent_over_declared));
    for (size_t i = 0; i < n->reading_count; i++)
        json_append(list, regions_json_reading(job, &n->readings[i]));
    json_put(o, "readings", list);
    return o;
}

static json_object *regions_json_node(const regions_view *view, size_t number)
{
    const regions_node *n = &view->nodes[number];
    json_object *o = json_new_object();
    char *path = regions_node_path(view, number);
    json_put_text(o, "path", path);
    json_put_text(o, "region", n->name);
    json_put(o, "depth", json_exact_value(n->depth));
    json_put_exact(o, "rank_count", n->cell_count);
    json_put_exact(o, "threads", n->threads);
    regions_json_add_calls(o, &n->sums);
    json_put_exact(o, "declared_bytes_with_parts", n->bytes);
    json_put_text(o, "kind", n->span ? "span" : regions_class_name(n->kind));
    json_put(o, "share", n->span ? NULL : json_number_value(n->share));
    json_put(o, "share_of_run", n->span ? NULL : json_number_value(n->run_share));
    json_put(o, "own_share_of_run", n->span ? NULL : json_number_value(n->own_run_share));
    json_put(o, "own_share", n->span ? NULL : json_number_value(n->own_share));
    json_put(o, "balance", regions_json_balance(view, n));
    regions_json_add_durations(o, n);
    json_put(o, "nics", regions_json_nic(view->job, n));
    json_put(o, "values", regions_json_values(n));
    json_put(o, "by_rank", regions_json_ranks(view, n));
    free(path);
    return o;
}

// ---- the verdict ----

static json_object *regions_json_path(const regions *job, size_t node)
{
    if (node == REGIONS_NONE) return NULL;
    char *path = regions_path(job, node);
    json_object *o = json_text_value(path);
    free(path);
    return o;
}

static json_object *regions_json_notes(const regions *job)
{
    json_object *list = json_new_array();
    for (size_t i = 0; i < job->note_count; i++) {
        const regions_note *x = &job->notes[i];
        json_object *o = json_new_object();
        json_put_text(o, "severity", severity_name(x->severity));
        json_put_text(o, "text", x->text);
        json_put(o, "path", regions_json_path(job, x->node));
        json_put(o, "rank_index", regions_json_index(x->rank));
        json_append(list, o);
    }
    return list;
}

static json_object *regions_json_findings_list(const regions *job)
{
    json_object *list = json_new_array();
    for (size_t i = 0; i < job->finding_count; i++) {
        const regions_finding *x = &job->findings[i];
        json_object *o = json_new_object();
        json_put(o, "path", regions_json_path(job, x->node));
        json_put_text(o, "severity", severity_name(x->severity));
        json_put_text(o, "rule", x->rule->name);
        json_put_text(o, "claim", x->claim);
        json_put(o, "value", json_number_value(x->value));
        json_put_text(o, "unit", x->rule->unit);
        json_put_text(o, "host", job->hosts[x->host].name);
        json_put(o, "device", x->device == DIFFERENCE_NONE ? NULL : regions_json_device(job, x->host, x->device));
        json_put_exact(o, "place_count", x->places);
        json_put_exact(o, "host_count", x->hosts);
        json_put(o, "worse_within", regions_json_path(job, x->part));
        json_put_text(o, "advice", x->rule->advice);
        json_append(list, o);
    }
    return list;
}

static json_object *regions_json_warnings(const regions *job)
{
    json_object *list = json_new_array();
    for (size_t i = 0; i < job->warning_count; i++) {
        json_object *o = json_new_object();
        json_put_text(o, "file", job->warnings[i].path);
        json_put_exact(o, "byte", job->warnings[i].offset);
        json_put_text(o, "text", job->warnings[i].text);
        json_append(list, o);
    }
    return list;
}

static json_object *regions_json_late(const regions *job)
{
    const regions_waits *w = &job->waits;
    json_object *list = json_new_array();
    for (size_t i = 0; i < w->late_count; i++) {
        const regions_late *x = &w->late[i];
        json_object *o = json_new_object();
        json_put(o, "rank_index", json_exact_value(x->rank));
        json_put(o, "rank", regions_json_number_or_null(job->ranks[x->rank].number));
        json_put(o, "longer_work_ns", json_number_value(x->excess_ns));
        json_put(o, "from_s", json_number_value(x->from_s));
        json_put(o, "to_s", json_number_value(x->until_s));
        json_append(list, o);
    }
    return list;
}

// The rank that alone works more or less; null where there is none.
static json_object *regions_json_alone(const regions *job)
{
    const regions_alone *x = &job->waits.alone;
    if (!job->waits.known || x->rank == REGIONS_NONE) return NULL;
    json_object *o = json_new_object();
    json_put(o, "rank_index", json_exact_value(x->rank));
    json_put(o, "rank", regions_json_number_or_null(job->ranks[x->rank].number));
    json_put(o, "work_share", json_number_value(x->share));
    json_put(o, "others_work_share", json_number_value(x->others));
    json_put(o, "from_s", json_number_value(x->from_s));
    json_put(o, "to_s", json_number_value(x->until_s));
    json_put(o, "whole_run", json_new_boolean(x->from_begin && x->to_end));
    return o;
}

// Work and waiting of all ranks; null where they cannot be told apart.
static json_object *regions_json_run(const regions *job)
{
    const regions_waits *w = &job->waits;
    if (job->runs > 1 || !(w->known || w->mpi)) return NULL;
    json_object *o = json_new_object();
    json_put(o, "longest_ns", json_number_value(w->longest_ns));
    json_put(o, "mpi_share", json_number_value(w->mpi_share));
    json_put(o, "waiting_share", json_number_value(w->wait_share));
    json_put(o, "late", regions_json_late(job));
    json_put(o, "late_in_turn", json_new_boolean(w->in_turn));
    json_put(o, "gain_at_most_ns", w->late_count ? json_number_value(w->gain_ns) : NULL);
    json_put(o, "alone_unlike_the_others", regions_json_alone(job));
    json_put(o, "held_rank_index", regions_json_index(w->held));
    json_put(o, "most_ranks_host", w->crowded == REGIONS_NONE ? NULL : json_text_value(job->hosts[w->crowded].name));
    json_put(o, "cpus_of_that_host", w->crowded == REGIONS_NONE ? NULL : json_exact_value(w->crowded_cpus));
    return o;
}

// Who sent to whom; null where no file tells, or two processes have one number.
static json_object *regions_json_pairs(const regions *job)
{
    pairs p;
    if (job->runs > 1 || !regions_pairs(&p, job)) return NULL;
    json_object *o = pairs_json(&p, regions_pairs_told(job));
    pairs_free(&p);
    return o;
}

static void regions_json_add_head(json_object *o, const regions *job)
{
    json_object *verdict = json_new_object(), *missing = json_new_array();
    json_put_text(o, "job", job->job);
    json_put_text(o, "command", job->command);
    json_put(o, "begin_ns", json_new_int64(job->wall_ns));
    json_put(o, "elapsed_s", json_number_value((double)job->elapsed_ns / 1e9));
    json_put_text(verdict, "severity", severity_name(job->severity));
    json_put_text(verdict, "text", job->title);
    json_put(verdict, "notes", regions_json_notes(job));
    json_put(o, "verdict", verdict);
    json_put(o, "expected_rank_count", job->rank_count_told > 0 ? json_new_int64(job->rank_count_told) : NULL);
    for (size_t i = 0; i < job->missing_count && i < 1000; i++)
        json_append(missing, json_new_int64(job->missing[i]));
    json_put(o, "missing_ranks", missing);
    json_put(o, "work_and_waiting", regions_json_run(job));
    json_put_exact(o, "run_count", job->runs);
    json_put_exact(o, "child_count", job->children);
    json_put_exact(o, "regions_ns", job->time_ns);
    json_put_exact(o, "calls", job->calls);
    json_put_exact(o, "mismatched_ends", job->mismatched);
    json_put_exact(o, "dropped_begins", job->dropped);
    json_put(o, "share_of_time_measuring", json_number_value(job->overhead_share));
    json_put_exact(o, "reading_count", job->readings);
    json_put_exact(o, "reading_ns", job->reading_ns);
}

void regions_print_json(const regions_view *view, FILE *to)
{
    const regions *job = view->job;
    json_object *o = json_document("regions"), *ranks = json_new_array(), *list = json_new_array();
    regions_json_add_head(o, job);
    for (size_t i = 0; i < job->rank_count; i++)
        json_append(ranks, regions_json_rank(job, &job->ranks[i]));
    json_put(o, "ranks", ranks);
    json_put(o, "hosts", regions_json_hosts(job));
    json_put_text(o, "form", view->flat ? "flat" : "tree");
    for (size_t i = 0; i < view->order_count; i++)
        json_append(list, regions_json_node(view, view->order[i]));
    json_put(o, "regions", list);
    json_put_exact(o, "regions_left_out", view->left_out);
    json_put(o, "messages", regions_json_pairs(job));
    json_put(o, "findings", regions_json_findings_list(job));
    json_put(o, "warnings", regions_json_warnings(job));
    json_print(to, o);
}
