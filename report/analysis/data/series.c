#include "series.h"

#include "analysis/catalog/catalog.h"
#include "snapshot_subset.h"
#include "analysis/base/list.h"
#include "analysis/base/lookup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double second = 1e-9;

// One counter that is followed: where it is in the input, and what it means.
typedef struct followed {
    size_t from;     // index in the snapshots as they come; first, for cut_snapshot()
    uint32_t device; // of the series
    int way;         // SERIES_IN, SERIES_OUT; -1: an event of a kind
    uint32_t kind;   // of the series' counters
} followed;

// What a counter means, looked up once for all files.
enum { MEANS_NOTHING = -2, MEANS_EVENT = -1 }; // else SERIES_IN or SERIES_OUT
typedef struct known_counter {
    char *name;
    int means;
    uint32_t kind; // of the series' counters, once it was met as an event; UINT32_MAX before
} known_counter;

// The file at hand. Snapshots are cut down to what is followed, as snapshots of a small schema of their own: so
// differences are made by the same rules as everywhere.
struct series_reader {
    lookup names; // (source, name) -> index of known
    known_counter *known;
    size_t known_count;
    char **sources;
    size_t source_count;
    const netprof_schema *schema, *small; // of the last snapshot
    followed *followed;                   // [followed_count], beside small->counters
    size_t followed_count, followed_room;
    netprof_snapshot last, cut; // cut down: the last one and the one at hand
    bool has_last;
    int64_t last_wall_ns, last_mono_ns; // of the last snapshot; wall: put on the run's axis
};

// ---- what a counter means ----

// Pauses, missing credits, back-pressure: in the catalog's groups about congestion, but for what counts traffic.
static bool tells_of_waiting(const char *source, const char *counter)
{
    static const char *const groups[] = {"CxiCongestion", "EthPause", "RdmaCongestion"};
    const catalog_entry *entry = catalog_find(source, counter);
    if (!entry || strcmp(entry->unit, "packets") == 0 || strcmp(entry->unit, "bytes") == 0) return false;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        size_t group = catalog_group_find(groups[i]);
        if (group != CATALOG_NO_GROUP && entry->groups >> group & 1) return true;
    }
    return false;
}

static int meaning_of(const char *source, const netprof_counter *c)
{
    uint32_t marks = catalog_marks(source, c->name);
    if (c->kind != NETPROF_KIND_COUNTER) return MEANS_NOTHING;
    if (marks & CATALOG_RX_BYTES) return SERIES_IN;
    if (marks & CATALOG_TX_BYTES) return SERIES_OUT;
    if (marks & (CATALOG_HARMLESS | CATALOG_UNUSABLE | CATALOG_SAME_AS | CATALOG_CLOCK_ONLY)) return MEANS_NOTHING;
    return catalog_is_trouble(source, c->name, c->unit) || tells_of_waiting(source, c->name) ? MEANS_EVENT
                                                                                             : MEANS_NOTHING;
}

static bool source_number(struct series_reader *r, const char *source, size_t *number)
{
    for (*number = 0; *number < r->source_count; ++*number)
        if (strcmp(r->sources[*number], source) == 0) return true;
    if (!list_grow_one(&r->sources, r->source_count, sizeof *r->sources)) return false;
    r->sources[r->source_count] = strdup(source);
    return r->sources[r->source_count] && ++r->source_count;
}

// NULL: no memory. Valid until the next call.
static known_counter *know(struct series_reader *r, size_t source, const netprof_counter *c)
{
    size_t found = lookup_find(&r->names, source, c->name), *place;
    if (found != LOOKUP_NONE) return &r->known[found];
    if (!list_grow_one(&r->known, r->known_count, sizeof *r->known)) return NULL;
    known_counter *k = &r->known[r->known_count];
    *k = (known_counter){strdup(c->name), meaning_of(r->sources[source], c), UINT32_MAX};
    if (!k->name || !(place = lookup_put(&r->names, source, k->name))) {
        free(k->name);
        return NULL;
    }
    *place = r->known_count++;
    return k;
}

static bool count_kind(series *s, const char *source, const netprof_counter *c, known_counter *k)
{
    if (k->kind != UINT32_MAX) return true;
    const catalog_entry *entry = catalog_find(source, c->name);
    if (!list_grow_one(&s->counters, s->counter_count, sizeof *s->counters)) return false;
    series_counter *to = &s->counters[s->counter_count];
    *to = (series_counter){.source = strdup(source), .name = strdup(c->name)};
    to->unit = strdup(entry && *entry->unit ? entry->unit : c->unit);
    to->trouble = catalog_is_trouble(source, c->name, to->unit ? to->unit : "");
    k->kind = (uint32_t)s->counter_count++;
    return to->source && to->name && to->unit;
}

// ---- devices ----

static double line_rate_of(const netprof_device *d)
{
    const char *speed = netprof_fact_of(d->facts, d->fact_count, "speed_mbps");
    double mbps = speed ? strtod(speed, NULL) : 0;
    return mbps > 0 && mbps < 1e7 ? mbps * 1e6 / 8 : 0;
}

// An interface that belongs to a NIC of another source, or is told of by the driver as well, repeats its bytes.
bool series_repeats(const netprof_schema *schema, const netprof_device *d)
{
    bool netdev = strcmp(d->source, "netdev") == 0, ethtool = strcmp(d->source, "ethtool") == 0;
    for (size_t i = 0; i < schema->device_count && (netdev || ethtool); i++) {
        const netprof_device *other = &schema->devices[i];
        const char *belongs = netprof_fact_of(other->facts, other->fact_count, "netdev");
        if (strcmp(other->source, "cxi") == 0 && belongs && strcmp(belongs, d->name) == 0) return true;
        if (ethtool && strcmp(other->source, "netdev") == 0 && strcmp(other->name, d->name) == 0) return true;
    }
    return false;
}

static bool find_device(series *s, const netprof_schema *schema, size_t device, uint32_t *found)
{
    const netprof_device *d = &schema->devices[device];
    size_t run = s->run_count - 1;
    for (size_t i = s->runs[run].first_device; i < s->device_count; i++)
        if (strcmp(s->devices[i].source, d->source) == 0 && strcmp(s->devices[i].name, d->name) == 0) {
            *found = (uint32_t)i;
            return true;
        }
    if (s->device_count == UINT32_MAX || !list_grow_one(&s->devices, s->device_count, sizeof *s->devices)) return false;
    series_device *to = &s->devices[s->device_count];
    *to =
        (series_device){.run = run, .source = strdup(d->source), .name = strdup(d->name), .line_rate = line_rate_of(d)};
    to->physical = d->flags & NETPROF_DEVICE_PHYSICAL;
    to->chosen = !series_repeats(schema, d);
    *found = (uint32_t)s->device_count++;
    s->runs[run].device_count++;
    return to->source && to->name;
}

// ---- snapshots cut down ----

static bool add_followed(series *s, netprof_list *list, const netprof_schema *schema, size_t source, size_t i,
                         bool *open)
{
    const netprof_counter *c = &schema->counters[i];
    const netprof_device *d = &schema->devices[c->device];
    struct series_reader *r = s->reader;
    known_counter *k = know(r, source, c);
    if (!k) return false;
    if (k->means == MEANS_NOTHING) return true;
    followed f = {.from = i, .way = k->means};
    if (!find_device(s, schema, c->device, &f.device)) return false;
    if (k->means == MEANS_EVENT && !count_kind(s, d->source, c, k)) return false;
    f.kind = k->kind;
    if (!*open) netprof_list_device(list, d->name, d->identity, d->flags);
    *open = true;
    netprof_list_counter(list, c);
    if (!list_grow(&r->followed, r->followed_count, &r->followed_room, sizeof f)) return false;
    r->followed[r->followed_count++] = f;
    return true;
}

// The small schema of what is followed.
static netprof_err follow(series *s, const netprof_schema *schema)
{
    struct series_reader *r = s->reader;
    netprof_list *list = netprof_build_begin(NULL);
    const char *source = "", *host = netprof_fact_of(schema->facts, schema->fact_count, "host");
    const char *boot = netprof_fact_of(schema->facts, schema->fact_count, "boot_id");
    bool good = list != NULL;
    netprof_schema_release(r->schema);
    netprof_schema_release(r->small);
    r->schema = r->small = NULL;
    r->followed_count = 0;
    if (!list) return NETPROF_ERR_NOMEM;
    if (host) netprof_build_fact(list, "host", host);
    if (boot) netprof_build_fact(list, "boot_id", boot);
    for (size_t d = 0; d < schema->device_count; d++) {
        const netprof_device *device = &schema->devices[d];
        bool open = false;
        size_t number = 0;
        good = good && source_number(r, device->source, &number);
        if (strcmp(source, device->source) != 0) netprof_build_source(list, source = device->source);
        for (size_t i = device->first; i < (size_t)device->first + device->count; i++)
            good = good && add_followed(s, list, schema, number, i, &open);
    }
    netprof_err err = netprof_build_end(list, &r->small, NULL);
    if (err || !good) return err ? err : NETPROF_ERR_NOMEM;
    netprof_schema_retain(schema);
    r->schema = schema;
    return NETPROF_OK;
}

// ---- steps ----

// Seconds since the epoch in a double keep some 200 ns; they become seconds since the beginning in series_finish().
static double absolute(int64_t wall_ns)
{
    return (double)wall_ns * second;
}

// The step of a device that ends with this snapshot.
static series_step *step_of(series_device *d, size_t snapshot, double from_s, double to_s)
{
    if (d->count && d->last == snapshot) return &d->steps[d->count - 1];
    if (!list_grow(&d->steps, d->count, &d->room, sizeof *d->steps)) return NULL;
    d->last = snapshot;
    d->steps[d->count] = (series_step){from_s, to_s, {NAN, NAN}, false};
    return &d->steps[d->count++];
}

static bool has_value(uint8_t flag)
{
    return flag == NETPROF_FLAG_OK || flag == NETPROF_FLAG_WRAPPED;
}

static bool was_asked_for(const netprof_delta *delta, size_t i)
{
    return delta->before_status[i] != NETPROF_STATUS_SKIPPED && delta->after_status[i] != NETPROF_STATUS_SKIPPED;
}

// When it was read: by its own stamp, unless the device's clock is another.
static double end_of(const netprof_snapshot *x, size_t i, double to_s)
{
    double stamp = absolute(x->stamps_ns[i]);
    return x->stamps_ns[i] > 0 && fabs(stamp - to_s) < 10 ? stamp : to_s;
}

static bool add_bytes(series *s, const netprof_delta *delta, size_t i, const followed *f, size_t own, double from_s,
                      double to_s)
{
    series_device *d = &s->devices[f->device];
    size_t snapshot = s->runs[s->run_count - 1].snapshots;
    if (!was_asked_for(delta, i)) return true;
    bool known = has_value(delta->flags[i]);
    if (known && delta->elapsed_ns[i] <= 0) return true; // it was not refreshed
    if (known) {
        to_s = end_of(&s->reader->cut, own, to_s);
        from_s = to_s - (double)delta->elapsed_ns[i] * second;
    }
    series_step *step = step_of(d, snapshot, from_s, to_s);
    if (!step) return false;
    if (!known) return true;
    step->rate[f->way] = (double)delta->values[i] / ((double)delta->elapsed_ns[i] * second);
    d->bytes[f->way] += (double)delta->values[i];
    return true;
}

static bool add_event(series *s, const netprof_delta *delta, size_t i, const followed *f, double from_s, double to_s)
{
    uint8_t flag = delta->flags[i];
    double amount = (double)delta->values[i];
    bool counts = has_value(flag) || flag == NETPROF_FLAG_RESET || flag == NETPROF_FLAG_SUSPECT;
    if (!counts || !(amount > 0)) return true;
    if (!list_grow_one(&s->events, s->event_count, sizeof *s->events)) return false;
    s->events[s->event_count++] = (series_event){from_s, to_s, amount, f->kind, f->device};
    s->counters[f->kind].sum += amount;
    s->counters[f->kind].events++;
    return true;
}

// The counter of the difference that is followed[i]: the same index unless the schema changed between the two.
static size_t place_of(const struct series_reader *r, const netprof_delta *delta, size_t i)
{
    const netprof_counter *c = &r->small->counters[i];
    const netprof_device *d = &r->small->devices[c->device];
    if (delta->schema == r->small) return i;
    return netprof_find(delta->schema, d->source, d->name, c->name);
}

static netprof_err add_difference(series *s, const netprof_delta *delta, double from_s, double to_s)
{
    struct series_reader *r = s->reader;
    bool good = true, reset = false;
    for (size_t i = 0; i < r->followed_count && good; i++) {
        const followed *f = &r->followed[i];
        size_t k = place_of(r, delta, i);
        if (k == NETPROF_NONE) continue;
        reset |= delta->flags[k] == NETPROF_FLAG_RESET;
        good = f->way >= 0 ? add_bytes(s, delta, k, f, i, from_s, to_s) : add_event(s, delta, k, f, from_s, to_s);
    }
    s->runs[s->run_count - 1].resets += reset;
    return good ? NETPROF_OK : NETPROF_ERR_NOMEM;
}

// ---- runs ----

static netprof_err begin_run(series *s, const dataset_run *run)
{
    struct series_reader *r = s->reader;
    if (!r && !(r = s->reader = calloc(1, sizeof *r))) return NETPROF_ERR_NOMEM;
    netprof_snapshot_free(&r->last);
    r->has_last = false;
    if (!list_grow_one(&s->runs, s->run_count, sizeof *s->runs)) return NETPROF_ERR_NOMEM;
    series_run *to = &s->runs[s->run_count++];
    *to = (series_run){.path = strdup(run->path ? run->path : ""), .interval_s = NAN, .first_device = s->device_count};
    return to->path ? NETPROF_OK : NETPROF_ERR_NOMEM;
}

// When a snapshot was, by the monotonic clock since the last one: the wall clock may have been set.
static int64_t wall_of(const struct series_reader *r, const netprof_snapshot *x)
{
    int64_t on = x->begin_ns - r->last_mono_ns;
    return r->has_last && on > 0 && x->begin_ns > 0 && r->last_mono_ns > 0 ? r->last_wall_ns + on : x->wall_ns;
}

static int by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    if (!count) return NAN;
    qsort(values, count, sizeof *values, by_number);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static netprof_err add_time(series_run *run, double at_s)
{
    if (!list_grow(&run->times, run->time_count, &run->time_room, sizeof *run->times)) return NETPROF_ERR_NOMEM;
    run->times[run->time_count++] = at_s;
    return NETPROF_OK;
}

// What happened from the last snapshot to the one at hand.
static netprof_err add_step(series *s, double from_s, double to_s)
{
    netprof_delta delta = NETPROF_ZERO;
    netprof_diff_options force = {.force = 1};
    netprof_err err = netprof_diff(&s->reader->last, &s->reader->cut, &force, &delta, NULL);
    if (!err) err = add_difference(s, &delta, from_s, to_s);
    netprof_delta_free(&delta);
    return err;
}

static netprof_err next_in_run(series *s, const netprof_snapshot *x)
{
    struct series_reader *r = s->reader;
    series_run *run = &s->runs[s->run_count - 1];
    int64_t wall = wall_of(r, x);
    double at_s = absolute(wall);
    bool back = r->has_last && wall <= r->last_wall_ns;
    netprof_err err = NETPROF_OK;
    run->snapshots++;
    run->sweep_s = fmax(run->sweep_s, (double)(x->end_ns - x->begin_ns) * second);
    run->backwards += back;
    if (r->has_last && !back) err = add_step(s, absolute(r->last_wall_ns), at_s);
    if (!err && (!run->time_count || at_s > run->times[run->time_count - 1])) err = add_time(run, at_s);
    netprof_snapshot_free(&r->last);
    r->last = r->cut;
    r->cut = (netprof_snapshot){0};
    r->has_last = true;
    r->last_wall_ns = wall;
    r->last_mono_ns = x->begin_ns;
    return err;
}

netprof_err series_take(void *user, const dataset_run *run, size_t index, const netprof_snapshot *snapshot)
{
    series *s = user;
    netprof_err err = index ? NETPROF_OK : begin_run(s, run);
    if (err) return err;
    struct series_reader *r = s->reader;
    if (r->schema != snapshot->schema || !index) err = follow(s, snapshot->schema);
    series_run *to = &s->runs[s->run_count - 1];
    if (!to->host) {
        to->host = strdup(dataset_node(run, snapshot->schema));
        if (!to->host) return NETPROF_ERR_NOMEM;
    }
    if (!err) err = cut_snapshot(&r->cut, r->small, snapshot, r->followed, sizeof *r->followed);
    return err ? err : next_in_run(s, snapshot);
}

// ---- behind the last file ----

static bool is_gap(const series_run *run, size_t k)
{
    return run->time_count > 3 && run->times[k + 1] - run->times[k] > 2.5 * run->interval_s;
}

// Does a step reach over a gap of its run?
static bool reaches_over(const series_run *run, const series_step *step)
{
    for (size_t k = 0; k + 1 < run->time_count; k++)
        if (is_gap(run, k) && step->from_s < run->times[k + 1] - run->interval_s &&
            step->to_s > run->times[k] + run->interval_s)
            return true;
    return false;
}

// The run's usual step, and which are longer than 2.5 of it: there samples are missing.
static netprof_err find_gaps(series *s, series_run *run)
{
    size_t count = run->time_count ? run->time_count - 1 : 0;
    double *lengths = malloc((count + 1) * sizeof *lengths);
    if (!lengths) return NETPROF_ERR_NOMEM;
    for (size_t k = 0; k < count; k++) {
        lengths[k] = run->times[k + 1] - run->times[k];
        run->longest_s = fmax(run->longest_s, lengths[k]);
    }
    run->interval_s = median(lengths, count);
    free(lengths);
    for (size_t k = 0; k < count; k++)
        run->gaps += is_gap(run, k);
    for (size_t i = run->first_device; run->gaps && i < run->first_device + run->device_count; i++)
        for (size_t k = 0; k < s->devices[i].count; k++)
            s->devices[i].steps[k].gap = reaches_over(run, &s->devices[i].steps[k]);
    return NETPROF_OK;
}

static bool carries(const series_device *d)
{
    for (size_t i = 0; i < d->count; i++)
        if (!isnan(d->steps[i].rate[0]) || !isnan(d->steps[i].rate[1])) return true;
    return false;
}

// Physical ports with bytes; where a run has none, the others.
static void choose(series *s, series_run *run)
{
    bool physical = false;
    for (size_t i = run->first_device; i < run->first_device + run->device_count; i++) {
        series_device *d = &s->devices[i];
        d->chosen = d->chosen && carries(d);
        physical |= d->chosen && d->physical;
    }
    for (size_t i = run->first_device; i < run->first_device + run->device_count; i++) {
        series_device *d = &s->devices[i];
        d->chosen = d->chosen && d->physical == physical;
        for (size_t k = 0; k < d->count && d->chosen; k++)
            run->unknown += isnan(d->steps[k].rate[0]) || isnan(d->steps[k].rate[1]);
    }
}

void series_align(series *s, const dataset *set, const clocks *c)
{
    size_t next = 0; // runs without snapshots are in the data set only
    for (size_t i = 0; i < set->run_count && i < c->count && next < s->run_count; i++) {
        if (!set->runs[i].snapshot_count) continue;
        series_run *run = &s->runs[next++];
        run->moved_s = absolute(c->runs[i].offset_ns);
        run->moved_at_s = absolute(c->runs[i].wall_ns);
        run->drift = c->runs[i].drift;
    }
}

static double moved(const series_run *run, double at_s)
{
    return at_s + run->moved_s + run->drift * (at_s - run->moved_at_s);
}

static void align(series *s)
{
    for (size_t i = 0; i < s->run_count; i++) {
        series_run *run = &s->runs[i];
        for (size_t k = 0; k < run->time_count; k++)
            run->times[k] = moved(run, run->times[k]);
    }
    for (size_t i = 0; i < s->device_count; i++) {
        series_device *d = &s->devices[i];
        for (size_t k = 0; k < d->count; k++) {
            d->steps[k].from_s = moved(&s->runs[d->run], d->steps[k].from_s);
            d->steps[k].to_s = moved(&s->runs[d->run], d->steps[k].to_s);
        }
    }
    for (size_t i = 0; i < s->event_count; i++) {
        const series_run *run = &s->runs[s->devices[s->events[i].device].run];
        s->events[i].from_s = moved(run, s->events[i].from_s);
        s->events[i].to_s = moved(run, s->events[i].to_s);
    }
}

// From seconds since the epoch to seconds since the first snapshot of all.
static void shift(series *s, double begin)
{
    for (size_t i = 0; i < s->run_count; i++) {
        series_run *run = &s->runs[i];
        for (size_t k = 0; k < run->time_count; k++)
            run->times[k] -= begin;
        run->begin_s = run->time_count ? run->times[0] : 0;
        run->end_s = run->time_count ? run->times[run->time_count - 1] : 0;
        s->end_s = fmax(s->end_s, run->end_s);
    }
    for (size_t i = 0; i < s->device_count; i++)
        for (size_t k = 0; k < s->devices[i].count; k++) {
            s->devices[i].steps[k].from_s -= begin;
            s->devices[i].steps[k].to_s -= begin;
        }
    for (size_t i = 0; i < s->event_count; i++) {
        s->events[i].from_s -= begin;
        s->events[i].to_s -= begin;
    }
}

static void free_reader(series *s)
{
    struct series_reader *r = s->reader;
    if (!r) return;
    netprof_snapshot_free(&r->last);
    netprof_snapshot_free(&r->cut);
    netprof_schema_release(r->schema);
    netprof_schema_release(r->small);
    for (size_t i = 0; i < r->known_count; i++)
        free(r->known[i].name);
    for (size_t i = 0; i < r->source_count; i++)
        free(r->sources[i]);
    free(r->known);
    free(r->sources);
    free(r->followed);
    lookup_free(&r->names);
    free(r);
    s->reader = NULL;
}

netprof_err series_finish(series *s)
{
    double begin = INFINITY;
    netprof_err err = NETPROF_OK;
    align(s);
    for (size_t i = 0; i < s->run_count; i++)
        if (s->runs[i].time_count) begin = fmin(begin, s->runs[i].times[0]);
    free_reader(s);
    if (!isfinite(begin)) return NETPROF_OK;
    s->begin_ns = (int64_t)llround(begin / second);
    shift(s, begin);
    for (size_t i = 0; i < s->run_count && !err; i++) {
        err = find_gaps(s, &s->runs[i]);
        choose(s, &s->runs[i]);
    }
    return err;
}

void series_free(series *s)
{
    if (!s) return;
    free_reader(s);
    for (size_t i = 0; i < s->run_count; i++) {
        free(s->runs[i].path);
        free(s->runs[i].host);
        free(s->runs[i].times);
    }
    for (size_t i = 0; i < s->device_count; i++) {
        free(s->devices[i].source);
        free(s->devices[i].name);
        free(s->devices[i].steps);
    }
    for (size_t i = 0; i < s->counter_count; i++) {
        free(s->counters[i].source);
        free(s->counters[i].name);
        free(s->counters[i].unit);
    }
    free(s->runs);
    free(s->devices);
    free(s->counters);
    free(s->events);
    *s = (series){0};
}

// ---- looking at it ----

// The mean of the steps from `*next` on that reach into a column; *next becomes the first that may reach into the next.
static double column_mean(const series_device *d, int way, double left, double right, size_t *next)
{
    double sum = 0, covered = 0;
    for (size_t k = *next; k < d->count && d->steps[k].from_s < right; k++) {
        const series_step *x = &d->steps[k];
        double overlap = fmin(right, x->to_s) - fmax(left, x->from_s);
        if (k == *next && x->to_s <= right) ++*next;
        if (!(overlap > 0) || x->gap || isnan(x->rate[way])) continue;
        sum += x->rate[way] * overlap;
        covered += overlap;
    }
    return covered >= (right - left) * 0.499 ? sum / covered : NAN;
}

void series_columns(const series_device *d, int way, double begin_s, double end_s, double *columns, size_t count)
{
    double width = (end_s - begin_s) / (double)count;
    size_t next = 0;
    for (size_t i = 0; i < count; i++) {
        double left = begin_s + width * (double)i;
        columns[i] = width > 0 ? column_mean(d, way, left, left + width, &next) : NAN;
    }
}

size_t series_quantiles(const series_device *d, int way, const double *shares, double *values, size_t count)
{
    double *rates = malloc((d->count + 1) * sizeof *rates);
    size_t n = 0;
    if (!rates) return SERIES_FAILED;
    for (size_t k = 0; k < d->count; k++)
        if (!d->steps[k].gap && !isnan(d->steps[k].rate[way])) rates[n++] = d->steps[k].rate[way];
    if (n) qsort(rates, n, sizeof *rates, by_number);
    for (size_t i = 0; i < count; i++) {
        double place = n ? shares[i] * (double)(n - 1) : 0;
        size_t below = (size_t)place;
        if (!n)
            values[i] = NAN;
        else if (below + 1 >= n)
            values[i] = rates[n - 1];
        else
            values[i] = rates[below] + (place - (double)below) * (rates[below + 1] - rates[below]);
    }
    free(rates);
    return n;
}
