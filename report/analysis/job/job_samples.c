// Snapshots as they come: cut down to what a meter is made of, differenced by netprof_diff(), added to the lanes.
#include "job_regions.h"
#include "job_store.h"
#include "job_tracks.h"
#include "analysis/base/saturating_sum.h"
#include "analysis/data/snapshot_subset.h"

#include <stdlib.h>
#include <string.h>

// ---- tracks ----

// A recorder that samples at several rates names the rate of a schema by its own device. "" with one rate.
static const char *job_rate_name(const netprof_schema *schema)
{
    for (size_t i = 0; i < schema->device_count; i++)
        if (strcmp(schema->devices[i].source, "user") == 0 && strncmp(schema->devices[i].name, "recorder", 8) == 0)
            return schema->devices[i].name;
    return "";
}

// Counters that the faster track follows are left to it.
static void job_share_counters(run_reader *run, const track *fast)
{
    for (size_t k = 0; k < run->track_count; k++) {
        track *t = &run->tracks[k];
        for (size_t i = 0; t != fast && i < arrlenu(t->followed); i++) {
            const netprof_counter *c = &t->small->counters[i];
            const netprof_device *d = &t->small->devices[c->device];
            t->followed[i].off |= netprof_find(fast->small, d->source, d->name, c->name) != NETPROF_NONE;
        }
    }
}

static int64_t job_told_interval_ns(const dataset_run *run, const char *key)
{
    const char *text = netprof_fact_of(run->facts, run->fact_count, key);
    double ns = text ? strtod(text, NULL) : 0;
    return ns > 0 && ns < 1e15 ? (int64_t)ns : 0;
}

// NULL: more rates than anybody records.
static track *job_find_track(job_report *r, const dataset_run *from, const netprof_snapshot *x)
{
    run_reader *run = r->reader->run;
    const char *key = job_rate_name(x->schema);
    for (size_t i = 0; i < run->track_count; i++)
        if (run->tracks[i].schema == x->schema) return &run->tracks[i];
    track *t = NULL;
    for (size_t i = 0; i < run->track_count && !t; i++)
        if (strcmp(run->tracks[i].key, key) == 0) t = &run->tracks[i];
    if (!t) {
        if (run->track_count == TRACKS_MOST) return NULL;
        t = &run->tracks[run->track_count];
        *t = (track){.key = memory_strdup(key), .slow = run->track_count == 0};
        run->track_count++;
        t->interval_ns = job_told_interval_ns(from, t->slow ? "interval_ns" : "fast_interval_ns");
    }
    job_follow(r, t, x);
    if (!t->slow) job_share_counters(run, t);
    return t;
}

// ---- steps ----

static int job_by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// The interval as it is told, else the median of the last steps; 0: not known yet.
static int64_t job_usual_step_ns(const track *t)
{
    int64_t sorted[RECENT];
    size_t n = t->steps < RECENT ? t->steps : RECENT;
    if (t->interval_ns) return t->interval_ns;
    if (n < 3) return 0;
    memcpy(sorted, t->recent, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, job_by_number);
    return sorted[n / 2];
}

static void job_add_gap(job_report *r, double from_s, double to_s)
{
    job_node *node = &r->nodes[r->reader->run->node];
    arrput(node->gaps, ((job_gap){from_s, to_s, false}));
    node->gap_count++;
}

// From one snapshot of a track to the next. Gaps are kept in ns since the first snapshot of all in the end.
static netprof_err job_add_step(job_report *r, track *t, int64_t from_ns, int64_t to_ns)
{
    netprof_diff_options force = {.force = 1};
    int64_t usual = job_usual_step_ns(t);
    step at = {from_ns, to_ns, job_is_gap(to_ns - from_ns, usual)};
    t->recent[t->steps++ % RECENT] = to_ns - from_ns;
    if (job_is_covered(r, from_ns, to_ns)) {
        r->reader->run->overlapped = true;
        return NETPROF_OK;
    }
    if (at.gap && t->slow) job_add_gap(r, (double)from_ns * 1e-9, (double)to_ns * 1e-9);
    netprof_err err = netprof_diff(&t->last, &t->cut, &force, &t->delta, NULL);
    if (!err) job_add_difference(r, t, &t->delta, &at);
    return err;
}

static netprof_err job_next_snapshot(job_report *r, track *t, const netprof_snapshot *x)
{
    run_reader *run = r->reader->run;
    job_node *node = &r->nodes[run->node];
    job_node_reader *more = &r->reader->nodes[run->node];
    clocks_axis axis = t->axis;
    int64_t last = axis.at_ns, wall = clocks_axis_next(&axis, x);
    netprof_err err = NETPROF_OK;
    if (t->has_last && wall <= last) return NETPROF_OK; // read twice, or of another boot: there is no step
    if (t->has_last) err = job_add_step(r, t, last, wall);
    if (t->slow && !job_is_covered(r, wall - 1, sum_capped_signed(wall, 1)))
        node->samples++; // nor the last of an earlier file
    node->sweep_s = fmax(node->sweep_s, (double)difference_capped(x->end_ns, x->begin_ns) * 1e-9);
    job_stretch *span = &more->runs[run->number];
    if (!span->from_ns || wall < span->from_ns) span->from_ns = wall;
    if (wall > span->to_ns) span->to_ns = wall;
    netprof_snapshot before = t->last;
    t->last = t->cut;
    t->cut = before; // its memory serves the next one
    t->has_last = true;
    t->axis = axis;
    return err;
}

// ---- runs and nodes ----

const char *job_node_name(const dataset_run *run, const netprof_schema *schema)
{
    const char *host = job_fact_of(run, schema, "host"), *name = job_fact_of(run, schema, "node");
    const char *slash = run->path ? strrchr(run->path, '/') : NULL;
    if (!name || !*name) name = host;
    return name && *name ? name : slash ? slash + 1 : run->path ? run->path : "?";
}

static size_t job_find_node(job_report *r, const dataset_run *run, const netprof_schema *schema)
{
    const char *host = job_fact_of(run, schema, "host"), *name = job_node_name(run, schema);
    size_t at = index_map_put(&r->reader->node_of, map_key_of_name(0, name), r->node_count);
    if (at < r->node_count) return at;
    job_node node = {.name = memory_strdup(name),
                     .host = memory_strdup(host ? host : ""),
                     .first_place = JOB_NONE,
                     .interval_s = NAN,
                     .late_s = NAN,
                     .memory_peak = NAN,
                     .uncertainty_s = NAN,
                     .recorder_cpu = NAN,
                     .complete = true};
    job_node_reader more = {.memory_limit = NAN,
                            .memory_total = NAN,
                            .cpus = NAN,
                            .cpuset = NAN,
                            .quota = NAN,
                            .period = NAN,
                            .affinity = NAN,
                            .scheduler_cpus = NAN,
                            .scheduler_memory = NAN,
                            .power_limit = NAN,
                            .used_cpu_s = NAN,
                            .waited_s = NAN};
    arrput(r->nodes, node);
    arrput(r->reader->nodes, more);
    return r->node_count++;
}

// The model and how many CPUs there are, by the facts of the cpu device.
static void job_tell_system(job_report *r, size_t index, const netprof_schema *schema)
{
    job_node *node = &r->nodes[index];
    for (size_t i = 0; i < schema->device_count; i++) {
        const netprof_device *d = &schema->devices[i];
        if (strcmp(d->source, "cpu") != 0 || strcmp(d->name, "cpu") != 0) continue;
        const char *cpus = netprof_fact_of(d->facts, d->fact_count, "cpus");
        const char *model = netprof_fact_of(d->facts, d->fact_count, "model");
        double count = cpus ? strtod(cpus, NULL) : 0;
        if (count >= 1 && count < 1e6) r->reader->nodes[index].cpus = count;
        if (!node->system) node->system = memory_strdup(model ? model : "");
    }
}

static void job_remember_run(job_report *r, const dataset_run *run, const netprof_snapshot *x, size_t node)
{
    const char *boot = job_fact_of(run, x->schema, "boot_id");
    job_run new = {.node = node,
                   .wall_ns = x->wall_ns,
                   .mono_ns = x->begin_ns,
                   .path = memory_strdup(run->path ? run->path : ""),
                   .boot_id = memory_strdup(boot ? boot : "")};
    arrput(r->reader->runs, new);
}

static void job_run_begin(job_report *r, const dataset_run *run, const netprof_snapshot *x)
{
    job_reader *reader = r->reader;
    job_run_end(r); // the previous one, in files that were put together
    run_reader *to = reader->run = memory_calloc(1, sizeof *to);
    to->node = job_find_node(r, run, x->schema);
    to->number = arrlenu(reader->nodes[to->node].runs);
    arrput(reader->nodes[to->node].runs, ((job_stretch){.run = arrlenu(reader->runs)}));
    job_remember_run(r, run, x, to->node);
    job_tell_system(r, to->node, x->schema);
}

netprof_err job_take(void *user, const dataset_run *run, size_t index, const netprof_snapshot *snapshot)
{
    job_report *r = user;
    if (!index) job_region_series_free(r); // of files put together the one before
    // The first snapshot decides what kind of file it is.
    bool sampled = index ? r->reader->series != NULL : regions_series(snapshot->schema);
    if (sampled) {
        job_take_regions(r, run, index, snapshot);
        return NETPROF_OK;
    }
    if (!index) job_run_begin(r, run, snapshot);
    track *t = job_find_track(r, run, snapshot);
    if (!t) return NETPROF_ERR_LIMIT;
    snapshot_subset(&t->cut, t->small, snapshot, t->followed, sizeof *t->followed);
    return job_next_snapshot(r, t, snapshot);
}

// Of many nodes' lanes the room that is left at their ends adds up.
static void job_trim_lanes(job_report *r)
{
    const run_reader *run = r->reader->run;
    for (int m = 0; m < JOB_METERS; m++) {
        for (int s = 0; s < JOB_SCOPES; s++)
            if (r->reader->nodes[run->node].lanes[m][s]) job_bins_trim(r->reader->nodes[run->node].lanes[m][s]->bins);
        for (size_t i = 0; i < arrlenu(run->devices); i++) {
            job_lane *lane = r->devices[run->devices[i].device].lanes[m];
            if (lane) job_bins_trim(lane->bins);
        }
    }
}

void job_run_end(job_report *r)
{
    run_reader *to = r->reader->run;
    if (!to) return;
    job_node *node = &r->nodes[to->node];
    job_run *run = &arrlast(r->reader->runs);
    double interval = to->track_count ? (double)job_usual_step_ns(&to->tracks[0]) * 1e-9 : 0;
    if (interval > 0) node->interval_s = isnan(node->interval_s) ? interval : fmin(node->interval_s, interval);
    double waited = to->wait_last_s - to->wait_first_s, *sum = &r->reader->nodes[to->node].waited_s;
    if (to->wait_known && waited >= 0) *sum = (isnan(*sum) ? 0 : *sum) + waited;
    if (to->track_count) {
        const clocks_axis *axis = &to->tracks[0].axis;
        run->end_wall_ns = axis->wall_ns;
        run->end_mono_ns = axis->mono_ns;
        run->clock_steps = axis->steps;
        run->clock_set_ns = axis->set_ns;
    }
    if (to->overlapped)
        job_warn(r, run->path,
                 "node %s: overlaps in time with an earlier file of this node: what that one covers is left out",
                 node->name);
    job_end_episodes(r);
    job_trim_lanes(r);
    job_run_free(r);
}

void job_run_free(job_report *r)
{
    run_reader *run = r->reader->run;
    if (!run) return;
    for (size_t i = 0; i < run->track_count; i++) {
        track *t = &run->tracks[i];
        netprof_snapshot_free(&t->last);
        netprof_snapshot_free(&t->cut);
        netprof_delta_free(&t->delta);
        job_release_track(t);
        arrfree(t->followed);
        free(t->key);
    }
    arrfree(run->devices);
    free(run);
    r->reader->run = NULL;
}
