// Where the ranks' time went over time: what processes sampled of their own regions (NETPROF_SERIES), by name, per node.
//
// A reading has, for each path of regions, the own time that its threads have spent there so far. The difference of two
// is added to the node's bins of that name, and how long the threads lived meanwhile to the node's; many ranks add up
// in the same bins. A share is one over the other, over the same stretch: what is missing in the one is missing in the
// other.
#include "job_regions.h"
#include "job_columns.h"
#include "job_store.h"

#include "analysis/base/saturating_sum.h"
#include "analysis/base/words.h"

#include <stdlib.h>
#include <string.h>

enum { OTHER = 0, NAMES_MOST = 96, PATHS_MOST = 1 << 16 };

// Beyond this it is no time that threads can have spent.
static const double threads_most = 1e6;

// Of one name on one node.
typedef struct job_region_lane {
    job_bins *bins; // NULL: nothing that has a place in time
    double own_s;
    uint64_t calls, bytes;
} job_region_lane;

// ---- names ----

static const char *job_region_name(const netprof_device *d)
{
    const char *name = netprof_fact_of(d->facts, d->fact_count, "name");
    return name ? name : d->name;
}

// The first name is for those beyond NAMES_MOST.
static size_t job_find_region_name(job_report *r, const char *name)
{
    if (!r->region_times) arrput(r->region_times, ((job_region_time){.name = memory_strdup("")}));
    for (size_t i = 1; i < arrlenu(r->region_times); i++)
        if (strcmp(r->region_times[i].name, name) == 0) return i;
    if (arrlenu(r->region_times) > NAMES_MOST) return OTHER;
    arrput(r->region_times, ((job_region_time){.name = memory_strdup(name)}));
    r->region_time_count = arrlenu(r->region_times);
    return r->region_time_count - 1;
}

// ---- one process, while it is read ----

typedef struct path_state {
    size_t name;
    uint64_t own, calls, bytes; // so far
    bool placed;                // its lane knows all of the process's time
} path_state;

typedef struct job_region_reader {
    size_t place; // of the node
    struct {
        map_key key;
        path_state value;
    } * paths;
    const netprof_schema *schema;
    size_t *path_of; // for each device, or PATHS_MOST
    uint64_t thread_ns;
    int64_t wall_ns, mono_ns, interval_ns, first_ns;
    bool begun;
} sampled;

void job_region_series_free(job_report *r)
{
    sampled *x = r->reader->series;
    if (!x) return;
    hmfree(x->paths);
    free(x->path_of);
    netprof_schema_release(x->schema);
    free(x);
    r->reader->series = NULL;
}

// A place for each node name and host. Which nodes they are is known after the last file.
static size_t job_find_place(job_report *r, const char *node, const char *host)
{
    job_region_place *places = r->reader->places;
    for (size_t i = 0; i < arrlenu(places); i++)
        if (strcmp(places[i].node, node) == 0 && strcmp(places[i].host, host) == 0) return i;
    job_region_place new = {.node = memory_strdup(node), .host = memory_strdup(host), .threads = job_bins_make()};
    arrput(r->reader->places, new);
    return arrlenu(r->reader->places) - 1;
}

static void job_begin_series(job_report *r, const dataset_run *run, const netprof_snapshot *x)
{
    const char *host = job_fact_of(run, x->schema, "host"), *node = job_fact_of(run, x->schema, "node");
    const char *step = netprof_fact_of(run->facts, run->fact_count, "interval_ns");
    sampled *to = r->reader->series = memory_calloc(1, sizeof *to);
    int64_t told = step ? strtoll(step, NULL, 10) : 0;
    to->interval_ns = told < INT64_C(1000000000000000) ? told : 0;
    to->place = job_find_place(r, node && *node ? node : "", host ? host : "");
    r->reader->places[to->place].ranks++;
}

static size_t job_find_region_path(job_report *r, sampled *x, const netprof_device *d)
{
    map_key key = map_key_of_name(0, d->name);
    ptrdiff_t at = hmgeti(x->paths, key);
    if (at >= 0) return (size_t)at;
    if (hmlenu(x->paths) == PATHS_MOST) return PATHS_MOST;
    hmput(x->paths, key, ((path_state){.name = job_find_region_name(r, job_region_name(d))}));
    return hmlenu(x->paths) - 1;
}

// The schema changes with every new region.
static void job_follow_paths(job_report *r, sampled *x, const netprof_schema *schema)
{
    if (x->schema == schema) return;
    x->path_of = memory_array(x->path_of, schema->device_count, sizeof *x->path_of);
    for (size_t i = 0; i < schema->device_count; i++) {
        bool of_region = strcmp(schema->devices[i].source, "region") == 0;
        x->path_of[i] = of_region ? job_find_region_path(r, x, &schema->devices[i]) : PATHS_MOST;
    }
    netprof_schema_retain(schema);
    netprof_schema_release(x->schema);
    x->schema = schema;
}

static bool job_counter_value(const netprof_snapshot *x, const netprof_device *d, const char *counter, uint64_t *value)
{
    for (size_t i = d->first; i < (size_t)d->first + d->count; i++)
        if (strcmp(x->schema->counters[i].name, counter) == 0) {
            *value = x->values[i];
            return x->status[i] == NETPROF_STATUS_OK;
        }
    return false;
}

// The count since the last reading; 0 if it went back, which no counter of ours does.
static uint64_t job_grown(uint64_t *last, const netprof_snapshot *x, const netprof_device *d, const char *counter)
{
    uint64_t value, before = *last;
    if (!job_counter_value(x, d, counter, &value)) return 0;
    *last = value;
    return value > before ? value - before : 0;
}

static job_region_lane *job_region_lane_at(job_report *r, size_t name, size_t place)
{
    job_region_time *to = &r->region_times[name];
    for (; to->lane_count <= place; to->lane_count++)
        arrput(to->lanes, (job_region_lane){.bins = NULL});
    return &to->lanes[place];
}

typedef struct stretch {
    int64_t from_ns, to_ns;
    bool known; // else amounts count, and are nowhere on the axis
} stretch;

static void job_add_region(job_report *r, sampled *x, path_state *p, const netprof_snapshot *s, const netprof_device *d,
                           const stretch *at)
{
    double long_ns = (double)(at->to_ns - at->from_ns);
    uint64_t own = job_grown(&p->own, s, d, "own_time"), calls = job_grown(&p->calls, s, d, "calls"),
             bytes = job_grown(&p->bytes, s, d, "bytes");
    if ((double)own > threads_most * fmax(long_ns, 1e9)) return;
    job_region_lane *to = job_region_lane_at(r, p->name, x->place);
    to->own_s += (double)own * 1e-9;
    to->calls = sum_capped(to->calls, calls);
    to->bytes = sum_capped(to->bytes, bytes);
    if (!at->known) return;
    if (!to->bins) to->bins = job_bins_make();
    double threads = (double)own / long_ns;
    // Zeros as well: what is cut at an edge is then cut alike in all lanes, and shares add up.
    job_bins_add(to->bins, at->from_ns, at->to_ns, threads, threads, threads);
    if (!p->placed) job_bins_add(to->bins, x->first_ns, at->from_ns, 0, 0, 0);
    p->placed = true;
}

// Amounts in the first reading were counted before it: they are in the totals, but nowhere on the axis.
static void job_add_region_reading(job_report *r, sampled *x, const netprof_snapshot *s, const stretch *at)
{
    job_region_place *place = &r->reader->places[x->place];
    for (size_t i = 0; i < s->schema->device_count; i++) {
        const netprof_device *d = &s->schema->devices[i];
        if (x->path_of[i] < PATHS_MOST) job_add_region(r, x, &x->paths[x->path_of[i]].value, s, d, at);
        if (strcmp(d->source, "regions") != 0 || strcmp(d->name, "process") != 0) continue;
        double lived = (double)job_grown(&x->thread_ns, s, d, "thread_time"),
               long_ns = (double)(at->to_ns - at->from_ns);
        if (lived > threads_most * fmax(long_ns, 1e9)) continue;
        place->threads_s += lived * 1e-9;
        double threads = lived / long_ns;
        if (at->known) job_bins_add(place->threads, at->from_ns, at->to_ns, threads, threads, threads);
    }
}

void job_take_regions(job_report *r, const dataset_run *run, size_t index, const netprof_snapshot *s)
{
    if (!index) job_begin_series(r, run, s);
    sampled *x = r->reader->series;
    job_follow_paths(r, x, s->schema);
    int64_t on = difference_capped(s->begin_ns, x->mono_ns);
    bool steady = x->begun && on > 0 && s->begin_ns > 0 && x->mono_ns > 0 && x->wall_ns < INT64_MAX - on;
    int64_t wall = steady ? x->wall_ns + on : s->wall_ns; // the wall clock may have been set meanwhile
    stretch at = {x->wall_ns, wall, x->begun && wall > x->wall_ns};
    if (at.known && job_is_gap(difference_capped(wall, x->wall_ns), x->interval_ns)) at.known = false; // it was stopped
    if (!at.known) at.from_ns = at.to_ns = wall;
    job_add_region_reading(r, x, s, &at);
    if (!x->begun) x->first_ns = wall;
    x->begun = true;
    x->wall_ns = wall;
    x->mono_ns = s->begin_ns;
}

// ---- after the last file ----

// By the scheduler's name of the node; a recording that does not know that one is called as its host. Of several nodes
// of one host only the name tells.
static size_t job_node_of_place(const job_report *r, const job_region_place *place)
{
    for (size_t i = 0; *place->node && i < r->node_count; i++)
        if (strcmp(r->nodes[i].name, place->node) == 0) return i;
    for (size_t i = 0; *place->host && i < r->node_count; i++)
        if (strcmp(r->nodes[i].name, place->host) == 0) return i;
    for (size_t i = 0; *place->host && !*place->node && i < r->node_count; i++)
        if (strcmp(r->nodes[i].host, place->host) == 0) return i;
    return JOB_NONE;
}

static int job_by_own_time(const void *a, const void *b)
{
    const job_region_time *x = a, *y = b;
    if (x->own_s != y->own_s) return x->own_s < y->own_s ? 1 : -1;
    return strcmp(x->name, y->name);
}

static void job_free_region_time(job_region_time *x)
{
    for (size_t i = 0; i < x->lane_count; i++)
        job_bins_free(x->lanes[i].bins);
    arrfree(x->lanes);
    free(x->name);
}

// The longest first; the names that are too many stand last. Without those of which nothing is known on any node.
static void job_sort_region_names(job_report *r)
{
    size_t n = 0;
    job_region_time other = r->region_times[OTHER];
    for (size_t i = 1; i < r->region_time_count; i++)
        if (r->region_times[i].own_s > 0 || r->region_times[i].calls)
            r->region_times[n++] = r->region_times[i];
        else
            job_free_region_time(&r->region_times[i]);
    qsort(r->region_times, n, sizeof other, job_by_own_time);
    other.others = true;
    if (other.own_s > 0 || other.calls)
        r->region_times[n++] = other;
    else
        job_free_region_time(&other);
    r->region_time_count = n;
}

static void job_add_region_lane(job_region_time *x, const job_region_place *place, job_region_lane *lane, int64_t moved)
{
    if (place->at != JOB_NONE) {
        x->own_s += lane->own_s;
        x->calls = sum_capped(x->calls, lane->calls);
        x->bytes = sum_capped(x->bytes, lane->bytes);
    }
    if (!lane->bins) return;
    job_bins_coarsen(lane->bins, place->threads->shift);
    lane->bins->offset_ns = moved;
}

// To bins as wide as the widest lane's: what an edge cuts is cut alike in all of them, and shares add up.
static void job_widen_threads(const job_report *r, size_t place)
{
    for (size_t k = 0; k < r->region_time_count; k++) {
        const job_region_time *x = &r->region_times[k];
        if (place < x->lane_count && x->lanes[place].bins)
            job_bins_coarsen(r->region_places[place].threads, x->lanes[place].bins->shift);
    }
}

// From the last to the first, so that they are in order.
static void job_chain_places(job_report *r)
{
    for (size_t i = r->region_place_count; i-- > 0;) {
        job_region_place *place = &r->region_places[i];
        place->next = JOB_NONE;
        if (place->at == JOB_NONE) continue;
        place->next = r->nodes[place->at].first_place;
        r->nodes[place->at].first_place = i;
    }
}

void job_place_regions(job_report *r)
{
    job_reader *reader = r->reader;
    r->region_places = reader->places;
    r->region_place_count = arrlenu(reader->places);
    reader->places = NULL;
    for (size_t i = 0; i < r->region_place_count; i++) {
        job_region_place *place = &r->region_places[i];
        place->at = job_node_of_place(r, place);
        int64_t moved = place->at == JOB_NONE ? 0 : (int64_t)llround(r->nodes[place->at].shift_s * 1e9);
        if (place->at == JOB_NONE)
            job_warn(r, "", "the series of %s on %s is not shown: there is no recording of that node",
                     words_many(place->ranks, "process|processes").text,
                     *place->node   ? place->node
                     : *place->host ? place->host
                                    : "an unknown host");
        place->threads->offset_ns = moved;
        job_widen_threads(r, i);
        for (size_t k = 0; k < r->region_time_count; k++)
            if (i < r->region_times[k].lane_count)
                job_add_region_lane(&r->region_times[k], place, &r->region_times[k].lanes[i], moved);
    }
    job_chain_places(r);
    if (r->region_time_count) job_sort_region_names(r);
}

void job_regions_free(job_report *r)
{
    for (size_t i = 0; i < r->region_time_count; i++)
        job_free_region_time(&r->region_times[i]);
    arrfree(r->region_times);
    job_places_free(r->region_places);
}

void job_places_free(job_region_place *places)
{
    for (size_t i = 0; i < arrlenu(places); i++) {
        job_bins_free(places[i].threads);
        free(places[i].node);
        free(places[i].host);
    }
    arrfree(places);
}

// ---- looking at it ----

// Places of a node, or of all nodes that have a recording: the first one, or the next after another. JOB_NONE: none.
static size_t job_next_place(const job_report *r, size_t node, size_t place)
{
    if (node != JOB_ALL_NODES) return place == JOB_NONE ? r->nodes[node].first_place : r->region_places[place].next;
    for (size_t i = place == JOB_NONE ? 0 : place + 1; i < r->region_place_count; i++)
        if (r->region_places[i].at != JOB_NONE) return i;
    return JOB_NONE;
}

size_t job_region_ranks(const job_report *r, size_t node)
{
    size_t sum = 0;
    for (size_t i = JOB_NONE; (i = job_next_place(r, node, i)) != JOB_NONE;)
        sum += r->region_places[i].ranks;
    return sum;
}

double job_region_threads(const job_report *r)
{
    double sum = 0;
    for (size_t i = JOB_NONE; (i = job_next_place(r, JOB_ALL_NODES, i)) != JOB_NONE;)
        sum += r->region_places[i].threads_s;
    return sum;
}

double job_region_share(const job_report *r, size_t region, size_t node, double from_s, double to_s)
{
    int64_t from = job_ns_of(r, from_s), to = job_ns_of(r, to_s);
    double own = 0, threads = 0, known = 0;
    const job_region_time *x = &r->region_times[region];
    for (size_t i = JOB_NONE; (i = job_next_place(r, node, i)) != JOB_NONE;) {
        job_span lived = job_bins_span(r->region_places[i].threads, from, to);
        threads += lived.integral;
        known = fmax(known, lived.known_s);
        if (i < x->lane_count && x->lanes[i].bins) own += job_bins_span(x->lanes[i].bins, from, to).integral;
    }
    if (!(threads > 0) || known < .5 * (to_s - from_s)) return NAN;
    return fmin(own / threads, 1);
}
