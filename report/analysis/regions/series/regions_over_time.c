// Ranks held against each other over time, by what they sampled of their regions (NETPROF_SERIES): the one that alone spends
// more or less of its time in a region, and since when. Where MPI itself is measured, its own account over time tells more.
#include "analysis/regions/regions_store.h"

#include "analysis/peers/peers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OVER_WINDOWS = 64, OVER_WINDOWS_LEAST = 6, OVER_NAMES = 16, OVER_PATHS = 1 << 16 };

// Own. A region is looked at from this share of the run on; less than the other is next to none.
static const double over_least_share = 0.05, over_nothing = 0.02;

// What each rank spent in each region, in windows of the wall clock that all of them lived through.
typedef struct over_axis {
    double from_ns, step_ns;
    size_t ranks, windows;
    size_t nodes[OVER_NAMES]; // the first node of each name
    size_t count;
    float *values; // [count * ranks * windows]: threads in the region, in the mean
} over_axis;

// ---- what is looked at ----

// Names of work, by their share of the run, wherever in the tree they are.
static void over_choose_names(const regions *r, over_axis *a)
{
    regions_index *known = NULL;
    double *sums = NULL;   // stb_ds
    size_t *firsts = NULL; // stb_ds
    for (size_t i = 0; i < r->node_count; i++) {
        const regions_node *n = &r->nodes[i];
        map_key key = map_key_of_name(0, n->name);
        if (n->span || n->kind != REGIONS_WORK) continue;
        ptrdiff_t at = hmgeti(known, key);
        if (at < 0) {
            hmput(known, key, arrlenu(sums));
            arrput(sums, 0);
            arrput(firsts, i);
            at = hmgeti(known, key);
        }
        sums[known[at].value] += n->own_run_share;
    }
    for (size_t i = 0; i < arrlenu(sums) && a->count < OVER_NAMES; i++)
        if (sums[i] >= over_least_share) a->nodes[a->count++] = firsts[i];
    hmfree(known);
    arrfree(sums);
    arrfree(firsts);
}

static size_t over_find_name(const regions *r, const over_axis *a, const char *name)
{
    size_t i = 0;
    while (i < a->count && strcmp(r->nodes[a->nodes[i]].name, name) != 0)
        i++;
    return i;
}

// Of windows shorter than the samples are apart, several would have one value.
static bool over_axis_make(const regions *r, over_axis *a, double interval_ns)
{
    double from = 0, to = INFINITY, longest = 0;
    *a = (over_axis){.ranks = r->rank_count};
    for (size_t i = 0; i < r->rank_count; i++) {
        double begin = (double)r->ranks[i].wall_ns, lived = (double)r->ranks[i].elapsed_ns;
        if (r->ranks[i].number < 0) return false; // processes that may do anything
        from = fmax(from, begin);
        to = fmin(to, begin + lived);
        longest = fmax(longest, lived);
    }
    if (!(interval_ns > 0) || !(to - from > 0.5 * longest)) return false;
    a->windows = (size_t)fmin(OVER_WINDOWS, floor((to - from) / interval_ns));
    if (a->windows < OVER_WINDOWS_LEAST) return false;
    a->from_ns = from;
    a->step_ns = (to - from) / (double)a->windows;
    over_choose_names(r, a);
    a->values = memory_calloc(a->count * a->ranks * a->windows + 1, sizeof *a->values);
    return a->count > 0;
}

// ---- one process ----

typedef struct over_path {
    size_t name; // in the axis, or beyond
    uint64_t own_ns;
} over_path;

typedef struct over_process {
    const regions *r;
    over_axis *a;
    size_t rank;
    const netprof_schema *schema;
    regions_index *paths;
    over_path *states; // stb_ds
    size_t *state_of;  // stb_ds: of each device, or OVER_PATHS
    int64_t wall_ns, mono_ns, interval_ns;
    bool begun;
    double covered[OVER_WINDOWS]; // of each window, ns
} over_process;

// How much of a stretch of time lies in a window.
static double over_within(const over_axis *a, size_t window, double from_ns, double to_ns)
{
    double begin = a->from_ns + (double)window * a->step_ns;
    return fmax(fmin(to_ns, begin + a->step_ns) - fmax(from_ns, begin), 0);
}

static size_t over_first_window(const over_axis *a, double at_ns)
{
    double window = floor((at_ns - a->from_ns) / a->step_ns);
    return window > 0 ? (size_t)fmin(window, (double)a->windows) : 0;
}

static void over_add(over_process *p, size_t name, double from_ns, double to_ns, double own_ns)
{
    float *values = p->a->values + (name * p->a->ranks + p->rank) * p->a->windows;
    for (size_t w = over_first_window(p->a, from_ns); w < p->a->windows; w++) {
        double part = over_within(p->a, w, from_ns, to_ns);
        if (!(part > 0)) break;
        values[w] += (float)(own_ns / (to_ns - from_ns) * part / p->a->step_ns);
    }
}

static void over_cover(over_process *p, double from_ns, double to_ns)
{
    for (size_t w = over_first_window(p->a, from_ns); w < p->a->windows; w++) {
        double part = over_within(p->a, w, from_ns, to_ns);
        if (!(part > 0)) break;
        p->covered[w] += part;
    }
}

static size_t over_find_path(over_process *p, const netprof_device *d)
{
    map_key key = map_key_of_name(0, d->name);
    ptrdiff_t at = hmgeti(p->paths, key);
    if (at >= 0) return p->paths[at].value;
    if (arrlenu(p->states) == OVER_PATHS) return OVER_PATHS;
    const char *name = netprof_fact_of(d->facts, d->fact_count, "name");
    hmput(p->paths, key, arrlenu(p->states));
    arrput(p->states, ((over_path){.name = over_find_name(p->r, p->a, name ? name : d->name)}));
    return arrlenu(p->states) - 1;
}

// The schema changes with every new region.
static void over_follow_schema(over_process *p, const netprof_schema *schema)
{
    if (p->schema == schema) return;
    arrsetlen(p->state_of, 0);
    for (size_t i = 0; i < schema->device_count; i++) {
        bool of_region = strcmp(schema->devices[i].source, "region") == 0;
        size_t state = of_region ? over_find_path(p, &schema->devices[i]) : OVER_PATHS;
        arrput(p->state_of, state);
    }
    netprof_schema_retain(schema);
    netprof_schema_release(p->schema);
    p->schema = schema;
}

// The own time since the last sample; no counter of ours goes back.
static double over_grown(over_path *x, const netprof_snapshot *s, const netprof_device *d)
{
    for (size_t i = d->first; i < (size_t)d->first + d->count; i++) {
        if (strcmp(s->schema->counters[i].name, "own_time") != 0 || s->status[i] != NETPROF_STATUS_OK) continue;
        uint64_t before = x->own_ns;
        x->own_ns = s->values[i];
        return x->own_ns > before ? (double)(x->own_ns - before) : 0;
    }
    return 0;
}

// After a pause of the sampler, what came meanwhile has no place in time.
static void over_take(over_process *p, const netprof_snapshot *s)
{
    static const double threads_most = 1e6; // beyond, it is no time that threads can have spent
    bool steady =
        p->begun && p->mono_ns >= 0 && s->begin_ns > p->mono_ns && s->begin_ns - p->mono_ns < INT64_MAX - p->wall_ns;
    int64_t on = steady ? s->begin_ns - p->mono_ns : 0, wall = steady ? p->wall_ns + on : s->wall_ns;
    bool placed = steady && (double)on <= 2.5 * (double)p->interval_ns;
    over_follow_schema(p, s->schema);
    for (size_t i = 0; i < s->schema->device_count; i++) {
        if (p->state_of[i] == OVER_PATHS) continue;
        over_path *x = &p->states[p->state_of[i]];
        double own = over_grown(x, s, &s->schema->devices[i]);
        if (placed && x->name < p->a->count && own <= threads_most * (double)on)
            over_add(p, x->name, (double)p->wall_ns, (double)wall, own);
    }
    if (placed) over_cover(p, (double)p->wall_ns, (double)wall);
    p->begun = true;
    p->wall_ns = wall > 0 ? wall : 0;
    p->mono_ns = s->begin_ns;
}

// What is not known of a rank is no zero.
static void over_forget_uncovered(over_process *p)
{
    for (size_t w = 0; w < p->a->windows; w++)
        for (size_t k = 0; k < p->a->count && p->covered[w] < 0.5 * p->a->step_ns; k++)
            p->a->values[(k * p->a->ranks + p->rank) * p->a->windows + w] = NAN;
}

// ---- files ----

// Which process a series is of, and how far its samples are apart.
typedef struct over_origin {
    char host[256];
    long pid;
    int64_t interval_ns;
} over_origin;

static void over_take_fact(over_origin *o, const netprof_fact *fact)
{
    if (strcmp(fact->key, "host") == 0) snprintf(o->host, sizeof o->host, "%s", fact->value);
    if (strcmp(fact->key, "pid") == 0) o->pid = strtol(fact->value, NULL, 10);
    if (strcmp(fact->key, "interval_ns") == 0) o->interval_ns = strtoll(fact->value, NULL, 10);
}

static size_t over_rank_of(const regions *r, const over_origin *o, int64_t wall_ns)
{
    for (size_t i = 0; i < r->rank_count && o->pid >= 0; i++) {
        const regions_rank *x = &r->ranks[i];
        double begin = (double)x->wall_ns, at = (double)wall_ns;
        if (o->pid != x->pid || strcmp(o->host, r->hosts[x->host].name) != 0) continue;
        // its first sample comes after its first region, and before its file
        if (at >= begin - 1e9 && at <= begin + (double)x->elapsed_ns + 1e9) return i;
    }
    return REGIONS_NONE;
}

static void over_begin(over_process *p, const over_origin *o, const netprof_snapshot *s, bool *seen)
{
    p->rank = over_rank_of(p->r, o, s->wall_ns);
    p->interval_ns = o->interval_ns;
    if (p->rank != REGIONS_NONE && seen[p->rank]) p->rank = REGIONS_NONE; // of the same process twice
    if (p->rank != REGIONS_NONE) seen[p->rank] = true;
}

static void over_process_free(over_process *p)
{
    hmfree(p->paths);
    arrfree(p->states);
    arrfree(p->state_of);
    netprof_schema_release(p->schema);
}

static void over_read(const regions *r, over_axis *a, const char *path, bool *seen)
{
    netprof_reader *reader = NULL;
    netprof_item item = {.type = NETPROF_ITEM_FACT};
    over_origin origin = {.pid = -1};
    over_process p = {.r = r, .a = a, .rank = REGIONS_NONE};
    if (netprof_reader_open(&reader, path, NULL, NULL)) return;
    while (!netprof_reader_next(reader, &item, NULL) && item.type != NETPROF_ITEM_END) {
        if (item.type == NETPROF_ITEM_FACT) over_take_fact(&origin, item.fact);
        if (item.type != NETPROF_ITEM_SNAPSHOT || !regions_series(item.snapshot->schema)) continue;
        if (!p.begun) over_begin(&p, &origin, item.snapshot, seen);
        if (p.rank == REGIONS_NONE) break;
        over_take(&p, item.snapshot);
    }
    if (p.rank != REGIONS_NONE) over_forget_uncovered(&p);
    netprof_reader_close(reader);
    over_process_free(&p);
}

static double over_interval(const char *path)
{
    netprof_reader *reader = NULL;
    netprof_item item = {.type = NETPROF_ITEM_FACT};
    over_origin origin = {.pid = -1};
    if (netprof_reader_open(&reader, path, NULL, NULL)) return 0;
    while (!netprof_reader_next(reader, &item, NULL) && item.type != NETPROF_ITEM_END &&
           item.type != NETPROF_ITEM_SNAPSHOT)
        if (item.type == NETPROF_ITEM_FACT) over_take_fact(&origin, item.fact);
    netprof_reader_close(reader);
    return (double)origin.interval_ns;
}

// ---- who is unlike the others ----

static double over_first_begin(const regions *r)
{
    double first = INFINITY;
    for (size_t i = 0; i < r->rank_count; i++)
        first = fmin(first, (double)r->ranks[i].wall_ns);
    return first;
}

// Of the regions in which a rank is unlike the others the one with most time between them. Who is longer in one region is
// shorter in another: the longer one says more.
static void over_judge(regions *r, const over_axis *a)
{
    static const double over_chance = 5e-3; // own: what peers_follow() allows one group, here of all regions together
    regions_waits *w = &r->waits;
    double most = 0, begin = a->from_ns - over_first_begin(r);
    for (size_t k = 0; k < a->count; k++) {
        peers_outcome o;
        peers_follow(&o, a->values + k * a->ranks * a->windows, a->ranks, a->windows, over_nothing, NULL);
        if (o.chance * (double)a->count > over_chance) continue; // NAN: of two ranks, or silent
        double apart = fabs(o.value - o.centre) * (double)(o.to - o.from) * (o.value > o.centre ? 1.25 : 1);
        if (o.kind != PEERS_ONE || !(apart > most)) continue;
        most = apart;
        w->region = a->nodes[k];
        w->in_region = (regions_alone){.rank = o.odd,
                                       .share = o.value,
                                       .others = o.centre,
                                       .low = o.low,
                                       .high = o.high,
                                       .from_s = (begin + (double)o.from * a->step_ns) / 1e9,
                                       .until_s = (begin + (double)o.to * a->step_ns) / 1e9,
                                       .from_begin = o.from == 0,
                                       .to_end = o.to == a->windows,
                                       .more = o.value > o.centre,
                                       .silent = o.is_silent};
    }
}

void regions_find_over_time(regions *r)
{
    const char **series = r->store->series;
    double interval = 0; // of the one that sampled least often: no window of another is shorter
    over_axis a;
    r->waits.in_region = (regions_alone){.rank = REGIONS_NONE};
    if (r->waits.mpi || r->runs > 1 || r->children || r->rank_count < 2 || !arrlenu(series)) return;
    for (size_t i = 0; i < arrlenu(series); i++)
        interval = fmax(interval, over_interval(series[i]));
    if (over_axis_make(r, &a, interval)) {
        bool *seen = memory_calloc(r->rank_count, sizeof *seen);
        for (size_t i = 0; i < arrlenu(series); i++)
            over_read(r, &a, series[i], seen);
        for (size_t i = 0; i < r->rank_count; i++) // who sampled nothing is not known
            for (size_t k = 0; k < a.count * a.windows && !seen[i]; k++)
                a.values[(k / a.windows * a.ranks + i) * a.windows + k % a.windows] = NAN;
        free(seen);
        over_judge(r, &a);
    }
    free(a.values);
}
