// What the NICs did during the regions: readings become differences, traffic and findings.
#include "regions_private.h"

#include "analysis/data/dataset_private.h"
#include "analysis/rules/evaluate.h"
#include "analysis/data/traffic.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static netprof_err no_memory(netprof_error *error)
{
    return regions_fail(error, NETPROF_ERR_NOMEM, NULL, "no memory");
}

// ---- the schema of a host ----

static bool had_before(const regions *r, size_t host, size_t host_view, const netprof_device *dev)
{
    const regions_store *s = r->store;
    for (size_t i = 0; i < host_view; i++) {
        if (s->host_views[i].host != host) continue;
        const netprof_schema *schema = s->views[s->host_views[i].view].schema;
        for (size_t d = 0; d < schema->device_count; d++)
            if (strcmp(schema->devices[d].source, dev->source) == 0 && strcmp(schema->devices[d].name, dev->name) == 0)
                return true;
    }
    return false;
}

// Where the counters of one of several views are in the host's schema. A device that an earlier view has is that one's.
static bool map_columns(regions *r, size_t number)
{
    regions_host_view *hv = &r->store->host_views[number];
    const netprof_schema *view = r->store->views[hv->view].schema, *schema = r->hosts[hv->host].schema;
    hv->columns = malloc((view->counter_count + 1) * sizeof *hv->columns);
    if (!hv->columns) return false;
    for (size_t i = 0; i < view->counter_count; i++)
        hv->columns[i] = UINT32_MAX;
    for (size_t d = 0; d < view->device_count; d++) {
        const netprof_device *dev = &view->devices[d];
        if (had_before(r, hv->host, number, dev)) continue;
        for (size_t i = dev->first; i < (size_t)dev->first + dev->count; i++) {
            size_t at = netprof_find(schema, dev->source, dev->name, view->counters[i].name);
            if (at != NETPROF_NONE) hv->columns[i] = (uint32_t)at;
        }
    }
    return true;
}

// Several views on this host: a schema of their own.
static bool join_views(regions *r, size_t host)
{
    const regions_store *s = r->store;
    const netprof_schema **views = malloc((s->host_view_count + 1) * sizeof *views);
    size_t count = 0;
    if (!views) return false;
    for (size_t i = 0; i < s->host_view_count; i++)
        if (s->host_views[i].host == host) views[count++] = s->views[s->host_views[i].view].schema;
    bool done = regions_views_join(views, count, &r->hosts[host].schema) == NETPROF_OK;
    free(views);
    for (size_t i = 0; i < s->host_view_count && done; i++)
        if (s->host_views[i].host == host) done = map_columns(r, i);
    return done;
}

static bool make_schemas(regions *r)
{
    const regions_store *s = r->store;
    size_t *views = calloc(r->host_count + 1, sizeof *views);
    bool done = views != NULL;
    for (size_t i = 0; done && i < s->host_view_count; i++)
        if (++views[s->host_views[i].host] == 1) {
            r->hosts[s->host_views[i].host].schema = s->views[s->host_views[i].view].schema;
            netprof_schema_retain(r->hosts[s->host_views[i].host].schema);
        }
    for (size_t i = 0; done && i < r->host_count; i++) {
        if (views[i] < 2) continue;
        netprof_schema_release(r->hosts[i].schema);
        r->hosts[i].schema = NULL;
        done = join_views(r, i);
    }
    free(views);
    return done;
}

// ---- a reading as a difference ----

static bool make_delta(netprof_delta *delta, const netprof_schema *schema)
{
    if (!dataset_blank_delta(delta, schema)) return false;
    memset(delta->flags, NETPROF_FLAG_UNKNOWN, schema->counter_count); // and the statuses are SKIPPED
    return true;
}

static double mean_call_ns(const regions_node *node, const regions_reading *seen)
{
    const regions_cell *cell = regions_cell_of(node, seen->rank);
    return cell && cell->sums.measured ? (double)cell->sums.total_ns / (double)cell->sums.measured : 0;
}

// Its driver refreshes it too seldom for calls of this length.
static bool is_stale(const netprof_schema *schema, const netprof_counter *c, double call_ns)
{
    const netprof_device *dev = &schema->devices[c->device];
    if (!(c->flags & NETPROF_SLOW_REFRESH)) return false;
    const char *age = netprof_fact_of(dev->facts, dev->fact_count, "lifespan_ms");
    return age && call_ns < REGIONS_TOO_SHORT_FOLD * 1e6 * strtod(age, NULL);
}

static void fill_delta(netprof_delta *delta, const regions_host_view *hv, const uint64_t *values, size_t count,
                       int64_t time_ns, double call_ns)
{
    const netprof_schema *schema = delta->schema;
    for (size_t i = 0; i < schema->counter_count; i++)
        delta->elapsed_ns[i] = time_ns;
    for (size_t i = 0; i < count; i++) {
        size_t at = hv->columns ? hv->columns[i] : i;
        if (at == UINT32_MAX) continue;
        const netprof_counter *c = &schema->counters[at];
        bool counts = c->kind == NETPROF_KIND_COUNTER || c->kind == NETPROF_KIND_HISTOGRAM;
        if (!counts || is_stale(schema, c, call_ns)) continue;
        delta->after[at] = delta->values[at] = values[i];
        delta->before_status[at] = delta->after_status[at] = NETPROF_STATUS_OK;
        delta->flags[at] = NETPROF_FLAG_OK;
    }
}

netprof_err regions_counters_make(regions_counters *c, const regions *r, const regions_node *node,
                                  const regions_reading *seen, netprof_error *error)
{
    const regions_host_view *hv = &r->store->host_views[seen->view];
    const regions_rank *rank = &r->ranks[seen->rank];
    const netprof_schema *view = r->store->views[hv->view].schema;
    int64_t time_ns = seen->time_ns < INT64_MAX ? (int64_t)seen->time_ns : INT64_MAX;
    *c = (regions_counters){.d = {0}};
    if (seen->state != REGIONS_KNOWN)
        return regions_fail(error, NETPROF_ERR_ARG, NULL, "the region has no counters there");
    uint64_t *values = calloc(view->counter_count + 1, sizeof *values);
    if (!values || !make_delta(&c->delta, r->hosts[seen->host].schema)) {
        free(values);
        return no_memory(error);
    }
    regions_unpack_add(seen->values, values, view->counter_count);
    fill_delta(&c->delta, hv, values, view->counter_count, time_ns, mean_call_ns(node, seen));
    free(values);
    c->delta.wall_begin_ns = rank->wall_ns;
    c->delta.wall_end_ns = rank->wall_ns > INT64_MAX - time_ns ? INT64_MAX : rank->wall_ns + time_ns;
    c->delta.interval_ns = time_ns;
    c->delta.sweep_ns = rank->sweep_ns;
    netprof_err failed = difference_of_delta(&c->d, &c->delta, error);
    if (failed) regions_counters_free(c);
    return failed;
}

void regions_counters_free(regions_counters *c)
{
    difference_free(&c->d);
    free(c->delta.memory); // the schema is the host's
    *c = (regions_counters){.d = {0}};
}

// ---- what is in it ----

static uint64_t granularity_ns(const regions_rank *rank)
{
    int64_t ns = rank->sweep_ns > rank->interval_ns ? rank->sweep_ns : rank->interval_ns;
    return ns > 0 ? (uint64_t)ns : 0;
}

static uint64_t limit_ns(const regions *r, const regions_reading *seen)
{
    uint64_t ns = granularity_ns(&r->ranks[seen->rank]);
    return ns > UINT64_MAX / REGIONS_TOO_SHORT_FOLD ? UINT64_MAX : ns * REGIONS_TOO_SHORT_FOLD;
}

static regions_state state_of(const regions *r, const regions_node *node, const regions_reading *seen)
{
    if (!seen->calls)
        return r->ranks[seen->rank].mode == NETPROF_MODE_SAMPLER ? REGIONS_TOO_SHORT : REGIONS_NO_COUNTERS;
    return mean_call_ns(node, seen) < (double)limit_ns(r, seen) ? REGIONS_TOO_SHORT : REGIONS_KNOWN;
}

// Devices whose bytes stand for the host: ports, and of two that count the same bytes one.
static bool is_counted(const netprof_schema *schema, const traffic *t)
{
    return t->known && !t->repeated && schema->devices[t->device].flags & NETPROF_DEVICE_PHYSICAL;
}

static void add_way(regions_reading *seen, const traffic *t, int way)
{
    if (!t->bytes_known[way]) return;
    seen->bytes_known[way] = true;
    seen->bytes[way] = sum_capped(seen->bytes[way], t->bytes[way]);
    if (isnan(seen->bytes_per_s[way])) seen->bytes_per_s[way] = 0;
    seen->bytes_per_s[way] += t->byte_rate[way];
}

static void add_traffic(regions_reading *seen, const netprof_schema *schema, const traffic *all)
{
    bool rates_known = true;
    seen->bytes_per_s[TRAFFIC_RECEIVED] = seen->bytes_per_s[TRAFFIC_SENT] = seen->share = NAN;
    seen->busiest = REGIONS_NONE;
    for (size_t i = 0; i < schema->device_count; i++) {
        const traffic *t = &all[i];
        if (!is_counted(schema, t)) continue;
        add_way(seen, t, TRAFFIC_RECEIVED);
        add_way(seen, t, TRAFFIC_SENT);
        rates_known &= t->line_rate > 0;
        seen->line_bytes_per_s += t->line_rate;
        if (isnan(t->share) || t->share <= seen->share) continue;
        seen->share = t->share;
        seen->busiest = i;
    }
    if (!rates_known) seen->line_bytes_per_s = 0;
}

// How long a device had to stop sending: what the rules say of it, whatever they call bad.
static void add_pauses(regions_reading *seen, const difference *d, const rules *set)
{
    evaluation e;
    seen->paused = NAN;
    seen->most_paused = REGIONS_NONE;
    if (!set || !evaluation_begin(&e, d)) return;
    for (size_t k = 0; k < set->count; k++) {
        const rule *x = set->items[k];
        for (size_t i = 0; x->is_pause && i < d->delta->schema->device_count; i++) {
            if (!evaluation_applies(&e, x, i)) continue;
            evaluation_of(&e, x, i);
            struct reading got = evaluate(&e, &x->value);
            if (got.status || got.number <= seen->paused) continue;
            seen->paused = got.number;
            seen->most_paused = i;
        }
    }
    evaluation_end(&e);
}

static void add_retries(regions_reading *seen, const difference *d)
{
    // One counter of each kind of NIC, in requests or packets: others count the bytes or the timeouts of the same.
    static const struct {
        const char *source, *name;
    } rows[] = {{"cxi", "pct_retry_srb_requests"}, {"rdma", "roce_adp_retrans"}, {"rdma", "retrans_pkts"}};
    const netprof_schema *schema = d->delta->schema;
    for (size_t i = 0; i < schema->counter_count; i++) {
        const char *source = schema->devices[schema->counters[i].device].source;
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            if (d->rows[i].flag != NETPROF_FLAG_OK || strcmp(source, rows[k].source) != 0 ||
                strcmp(rows[k].name, schema->counters[i].name) != 0)
                continue;
            seen->retries_known = true;
            seen->retries = sum_capped(seen->retries, d->rows[i].magnitude);
        }
    }
}

// ---- one reading ----

// The findings of one reading, on their way into the node's.
typedef struct regions_verdict {
    regions_finding *items;
    size_t count, room;
} regions_verdict;

static bool keep_finding(regions_verdict *v, const finding *x, size_t node, const regions_reading *seen)
{
    if (x->severity < SEVERITY_WATCH) return true;
    regions_finding *list = regions_grow(v->items, v->count, &v->room, sizeof *list);
    char *claim = list ? strdup(x->claim) : NULL;
    if (list) v->items = list;
    if (!claim) return false;
    list[v->count++] = (regions_finding){.rule = x->rule,
                                         .severity = x->severity,
                                         .value = x->value,
                                         .claim = claim,
                                         .node = node,
                                         .host = seen->host,
                                         .device = x->device,
                                         .places = 1,
                                         .hosts = 1,
                                         .part = REGIONS_NONE};
    return true;
}

static netprof_err find_troubles(regions_verdict *v, const difference *d, const rules *set, size_t node,
                                 const regions_reading *seen, netprof_error *error)
{
    findings f = {0};
    netprof_err failed = findings_make(&f, d, set, error);
    bool done = true;
    for (size_t i = 0; i < f.count && !failed && done; i++)
        done = keep_finding(v, &f.items[i], node, seen);
    findings_free(&f);
    return failed || done ? failed : no_memory(error);
}

// verdict NULL: the figures only.
static netprof_err measure(const regions *r, const regions_node *node, size_t number, regions_reading *seen,
                           const rules *set, regions_verdict *verdict, netprof_error *error)
{
    regions_counters c;
    seen->state = state_of(r, node, seen);
    seen->bytes_per_s[0] = seen->bytes_per_s[1] = seen->share = seen->paused = NAN;
    seen->busiest = seen->most_paused = REGIONS_NONE;
    seen->bytes_known[0] = seen->bytes_known[1] = seen->retries_known = false;
    seen->bytes[0] = seen->bytes[1] = seen->retries = 0;
    seen->line_bytes_per_s = 0;
    if (seen->state != REGIONS_KNOWN) return NETPROF_OK;
    netprof_err failed = regions_counters_make(&c, r, node, seen, error);
    if (failed) return failed;
    traffic *all = traffic_make(&c.d);
    if (all) {
        add_traffic(seen, c.d.delta->schema, all);
        add_pauses(seen, &c.d, set);
        add_retries(seen, &c.d);
        if (verdict && set) failed = find_troubles(verdict, &c.d, set, number, seen, error);
    } else {
        failed = no_memory(error);
    }
    free(all);
    regions_counters_free(&c);
    return failed;
}

// ---- a node: its readings together ----

static void add_to_nic(regions_nic *nic, const regions_reading *seen, size_t number, double *rates, bool *known)
{
    for (int way = 0; way < 2; way++) {
        if (!seen->bytes_known[way]) continue;
        nic->bytes_known[way] = true;
        nic->bytes[way] = sum_capped(nic->bytes[way], seen->bytes[way]);
        rates[way] += seen->bytes_per_s[way];
    }
    if (seen->bytes_known[0] || seen->bytes_known[1]) {
        *known &= seen->line_bytes_per_s > 0;
        nic->line_bytes_per_s += seen->line_bytes_per_s;
    }
    if (!isnan(seen->share) && !(seen->share <= nic->share)) {
        nic->share = seen->share;
        nic->busiest = number;
    }
    if (!isnan(seen->paused) && !(seen->paused <= nic->paused)) {
        nic->paused = seen->paused;
        nic->most_paused = number;
    }
    nic->retries_known |= seen->retries_known;
    nic->retries = sum_capped(nic->retries, seen->retries);
}

static bool is_sampled(const regions *r, const regions_node *node)
{
    if (node->sampled) return true;
    if (node < r->nodes || node >= r->nodes + r->node_count) return false; // of a flat list
    for (const regions_node *n = node; n < r->nodes + node->end; n++)
        if (n->sampled) return true;
    return false;
}

// Every rank's bytes can have been seen: there is a reading of its host, and all calls are in it.
static bool is_covered(const regions *r, const regions_node *node)
{
    for (size_t i = 0; i < node->cell_count; i++) {
        size_t host = r->ranks[node->cells[i].rank].host, low = 0, high = node->reading_count;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (node->readings[middle].host < host)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == node->reading_count || node->readings[low].host != host ||
            node->readings[low].state != REGIONS_KNOWN || node->readings[low].unread)
            return false;
    }
    return !is_sampled(r, node);
}

static void sum_readings(const regions *r, regions_node *node)
{
    regions_nic *nic = &node->nic;
    double rates[2] = {0, 0};
    bool lines_known = true;
    *nic = (regions_nic){.bytes_per_s = {NAN, NAN},
                         .share = NAN,
                         .paused = NAN,
                         .busiest = REGIONS_NONE,
                         .most_paused = REGIONS_NONE,
                         .sent_over_declared = NAN};
    size_t last = REGIONS_NONE;
    for (size_t i = 0; i < node->reading_count; i++) {
        const regions_reading *seen = &node->readings[i];
        uint64_t limit = limit_ns(r, seen);
        if (limit > nic->limit_ns) nic->limit_ns = limit;
        if (seen->state > nic->state) nic->state = seen->state;
        if (seen->state != REGIONS_KNOWN) continue;
        nic->hosts += seen->host != last;
        last = seen->host;
        add_to_nic(nic, seen, i, rates, &lines_known);
    }
    for (int way = 0; way < 2; way++)
        if (nic->bytes_known[way]) nic->bytes_per_s[way] = rates[way] / (double)nic->hosts;
    nic->line_bytes_per_s = lines_known && nic->hosts ? nic->line_bytes_per_s / (double)nic->hosts : 0;
    if (nic->bytes_known[TRAFFIC_SENT] && node->bytes && is_covered(r, node))
        nic->sent_over_declared = (double)nic->bytes[TRAFFIC_SENT] / (double)node->bytes;
}

netprof_err regions_node_nic(const regions *r, regions_node *node, netprof_error *error)
{
    netprof_err failed = NETPROF_OK;
    for (size_t i = 0; i < node->reading_count && !failed; i++)
        failed = measure(r, node, 0, &node->readings[i], r->store->rules, NULL, error);
    if (!failed) sum_readings(r, node);
    return failed;
}

// ---- all nodes: by several threads, a reading at a time ----

typedef struct regions_judging {
    regions *r;
    const rules *set;
    size_t *nodes, *readings; // of each task
    regions_verdict *verdicts;
    size_t count, next;
    pthread_mutex_t lock;
    netprof_err failed;
} regions_judging;

static bool next_tasks(regions_judging *j, size_t *from, size_t *until)
{
    enum { STEP = 16 };
    pthread_mutex_lock(&j->lock);
    *from = j->next;
    *until = j->count - j->next < STEP ? j->count : j->next + STEP;
    if (j->failed) *until = *from;
    j->next = *until;
    pthread_mutex_unlock(&j->lock);
    return *from < *until;
}

static void *judge_some(void *argument)
{
    regions_judging *j = argument;
    for (size_t from, until; next_tasks(j, &from, &until);) {
        netprof_err failed = NETPROF_OK;
        for (size_t i = from; i < until && !failed; i++) {
            const regions_node *node = &j->r->nodes[j->nodes[i]];
            failed = measure(j->r, node, j->nodes[i], &node->readings[j->readings[i]], j->set, &j->verdicts[i], NULL);
        }
        if (!failed) continue;
        pthread_mutex_lock(&j->lock);
        j->failed = failed;
        pthread_mutex_unlock(&j->lock);
    }
    return NULL;
}

static void judge_all(regions_judging *j, const regions_options *options)
{
    enum { MOST = 8, WORTH_IT = 64 };
    pthread_t others[MOST];
    long there = sysconf(_SC_NPROCESSORS_ONLN);
    size_t wanted = options->threads > 0 ? (size_t)options->threads : there > 0 ? (size_t)there : 1, started = 0;
    if (wanted > MOST) wanted = MOST;
    if (j->count < WORTH_IT) wanted = 1;
    while (started + 1 < wanted && pthread_create(&others[started], NULL, judge_some, j) == 0)
        started++;
    judge_some(j);
    for (size_t i = 0; i < started; i++)
        pthread_join(others[i], NULL);
}

// ---- findings of a node: a rule once ----

// Worse, by the way the rule's thresholds point.
static bool is_worse(const regions_finding *a, const regions_finding *b)
{
    const rule_threshold *t = &a->rule->thresholds[a->severity];
    bool small = t->op == EXPRESSION_LESS || t->op == EXPRESSION_LESS_EQUAL;
    if (a->severity != b->severity) return a->severity > b->severity;
    return small ? a->value < b->value : a->value > b->value;
}

static void fold(regions_finding *into, regions_finding *more)
{
    size_t places = into->places + 1, hosts = into->hosts;
    if (is_worse(more, into)) {
        free(into->claim);
        *into = *more;
    } else {
        free(more->claim);
    }
    into->places = places;
    into->hosts = hosts;
}

static bool add_finding(regions *r, size_t first, regions_finding *x, size_t *last_host)
{
    for (size_t i = first; i < r->finding_count; i++)
        if (r->findings[i].rule == x->rule) {
            bool new_host = last_host[i - first] != x->host;
            last_host[i - first] = x->host;
            fold(&r->findings[i], x);
            r->findings[i].hosts += new_host;
            return true;
        }
    regions_finding *list = regions_grow(r->findings, r->finding_count, &r->store->finding_room, sizeof *list);
    if (!list) return false;
    r->findings = list;
    last_host[r->finding_count - first] = x->host;
    list[r->finding_count++] = *x;
    return true;
}

static int compare_findings(const void *a, const void *b)
{
    const regions_finding *x = a, *y = b;
    if (x->severity != y->severity) return x->severity > y->severity ? -1 : 1;
    if (x->rule->class_rank != y->rule->class_rank) return x->rule->class_rank < y->rule->class_rank ? -1 : 1;
    int name = strcmp(x->rule->name, y->rule->name);
    return name;
}

// The tasks are node after node, and within a node host after host.
static bool collect_findings(regions_judging *j)
{
    regions *r = j->r;
    size_t *last_host = malloc(((j->set ? j->set->count : 0) + 1) * sizeof *last_host);
    bool done = last_host != NULL;
    for (size_t task = 0, node = 0; last_host && node < r->node_count; node++) {
        r->nodes[node].first_finding = r->finding_count;
        for (; task < j->count && j->nodes[task] == node; task++)
            for (size_t i = 0; i < j->verdicts[task].count; i++) {
                done = done && add_finding(r, r->nodes[node].first_finding, &j->verdicts[task].items[i], last_host);
                if (!done) free(j->verdicts[task].items[i].claim);
            }
        r->nodes[node].finding_count = r->finding_count - r->nodes[node].first_finding;
        if (r->nodes[node].finding_count)
            qsort(&r->findings[r->nodes[node].first_finding], r->nodes[node].finding_count, sizeof *r->findings,
                  compare_findings);
    }
    free(last_host);
    return done;
}

// Is the trouble of `whole` rather that of `part`, a region within: the same rule and device, half as bad again?
static bool is_rather_there(const regions_finding *whole, const regions_finding *part)
{
    const rule_threshold *t = &whole->rule->thresholds[whole->severity];
    bool small = t->op == EXPRESSION_LESS || t->op == EXPRESSION_LESS_EQUAL;
    if (part->rule != whole->rule || part->host != whole->host || part->device != whole->device) return false;
    return part->severity >= whole->severity &&
           (small ? 1.5 * part->value <= whole->value : part->value >= 1.5 * whole->value);
}

static void find_parts(regions *r)
{
    for (size_t i = 0; i < r->finding_count; i++) {
        regions_finding *x = &r->findings[i];
        const regions_node *node = &r->nodes[x->node];
        const regions_finding *best = NULL;
        for (size_t n = x->node + 1; n < node->end; n++)
            for (size_t k = 0; k < r->nodes[n].finding_count; k++) {
                const regions_finding *y = &r->findings[r->nodes[n].first_finding + k];
                if (is_rather_there(x, y) && (!best || is_worse(y, best))) best = y;
            }
        if (best) x->part = best->node;
    }
}

// ---- all of it ----

static bool make_tasks(regions_judging *j)
{
    for (size_t i = 0; i < j->r->node_count; i++)
        j->count += j->r->nodes[i].reading_count;
    j->nodes = malloc((j->count + 1) * sizeof *j->nodes);
    j->readings = malloc((j->count + 1) * sizeof *j->readings);
    j->verdicts = calloc(j->count + 1, sizeof *j->verdicts);
    if (!j->nodes || !j->readings || !j->verdicts) return false;
    for (size_t i = 0, task = 0; i < j->r->node_count; i++)
        for (size_t k = 0; k < j->r->nodes[i].reading_count; k++, task++) {
            j->nodes[task] = i;
            j->readings[task] = k;
        }
    return true;
}

netprof_err regions_judge(regions *r, const regions_options *options, netprof_error *error)
{
    regions_judging j = {.r = r, .set = options->rules};
    netprof_err failed = catalog_init(error);
    r->store->rules = options->rules;
    if (failed) return failed;
    pthread_mutex_init(&j.lock, NULL);
    bool done = make_schemas(r) && make_tasks(&j);
    if (done) judge_all(&j, options);
    done = done && !j.failed;
    for (size_t i = 0; i < r->node_count && done; i++)
        sum_readings(r, &r->nodes[i]);
    done = done && collect_findings(&j);
    if (done) find_parts(r);
    for (size_t i = 0; j.verdicts && i < j.count; i++)
        free(j.verdicts[i].items);
    free(j.nodes);
    free(j.readings);
    free(j.verdicts);
    pthread_mutex_destroy(&j.lock);
    return done ? NETPROF_OK : no_memory(error);
}
