#include "series.h"

#include "clocks.h"
#include "snapshot_subset.h"
#include "analysis/catalog/catalog.h"
#include "analysis/base/index_map.h"
#include "analysis/base/saturating_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double second = 1e-9;

// One counter that is followed: where it is in the input, and what it means.
typedef struct followed {
    size_t from;     // index in the snapshots as they come; first, for snapshot_subset()
    uint32_t device; // of the series
    int way;         // SERIES_IN, SERIES_OUT; -1: an event of a kind
    uint32_t kind;   // of the series' counters
} followed;

// The meaning of a counter, looked up once for all files.
enum { MEANS_NOTHING = -2, MEANS_EVENT = -1 }; // else SERIES_IN or SERIES_OUT
typedef struct known_counter {
    int means;
    uint32_t kind; // of the series' counters, once it was met as an event; UINT32_MAX before
} known_counter;

// The file at hand. Snapshots are cut down to what is followed, as snapshots of a small schema of their own: so
// differences are made by the same rules as everywhere.
struct series_reader {
    index_map *names; // from (source, name) to known
    known_counter *known;
    char **sources;
    const netprof_schema *schema, *small; // of the last snapshot
    followed *followed;                   // one for each of small->counters
    netprof_snapshot last, cut;           // cut down: the last one and the one at hand
    bool has_last;
    clocks_axis axis;
};

// ---- the meaning of a counter ----

// Pauses, missing credits, back-pressure: in the catalog's groups about congestion, except those that count traffic.
static bool series_tells_of_waiting(const char *source, const char *counter)
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

static int series_meaning_of(const char *source, const netprof_counter *c)
{
    uint32_t marks = catalog_marks(source, c->name);
    if (c->kind != NETPROF_KIND_COUNTER) return MEANS_NOTHING;
    if (marks & CATALOG_RX_BYTES) return SERIES_IN;
    if (marks & CATALOG_TX_BYTES) return SERIES_OUT;
    if (marks & (CATALOG_HARMLESS | CATALOG_UNUSABLE | CATALOG_SAME_AS | CATALOG_CLOCK_ONLY)) return MEANS_NOTHING;
    return catalog_is_trouble(source, c->name, c->unit) || series_tells_of_waiting(source, c->name) ? MEANS_EVENT
                                                                                                    : MEANS_NOTHING;
}

static size_t series_source_number(struct series_reader *r, const char *source)
{
    size_t number = 0, count = arrlenu(r->sources);
    while (number < count && strcmp(r->sources[number], source) != 0)
        number++;
    if (number == count) arrput(r->sources, memory_strdup(source));
    return number;
}

// Valid until the next call.
static known_counter *series_know(struct series_reader *r, size_t source, const netprof_counter *c)
{
    size_t count = arrlenu(r->known), found = index_map_put(&r->names, map_key_of_name(source, c->name), count);
    if (found == count) arrput(r->known, ((known_counter){series_meaning_of(r->sources[source], c), UINT32_MAX}));
    return &r->known[found];
}

static void series_count_kind(series *s, const char *source, const netprof_counter *c, known_counter *k)
{
    if (k->kind != UINT32_MAX) return;
    const catalog_entry *entry = catalog_find(source, c->name);
    series_counter made = {.source = memory_strdup(source),
                           .name = memory_strdup(c->name),
                           .unit = memory_strdup(entry && *entry->unit ? entry->unit : c->unit)};
    made.trouble = catalog_is_trouble(source, c->name, made.unit);
    k->kind = (uint32_t)s->counter_count;
    arrput(s->counters, made);
    s->counter_count = arrlenu(s->counters);
}

// ---- devices ----

static double series_line_rate_of(const netprof_device *d)
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

static uint32_t series_find_device(series *s, const netprof_schema *schema, size_t device)
{
    const netprof_device *d = &schema->devices[device];
    size_t run = s->run_count - 1;
    for (size_t i = s->runs[run].first_device; i < s->device_count; i++)
        if (strcmp(s->devices[i].source, d->source) == 0 && strcmp(s->devices[i].name, d->name) == 0)
            return (uint32_t)i;
    if (s->device_count == UINT32_MAX) memory_exhausted();
    series_device made = {.run = run,
                          .source = memory_strdup(d->source),
                          .name = memory_strdup(d->name),
                          .line_rate = series_line_rate_of(d),
                          .physical = d->flags & NETPROF_DEVICE_PHYSICAL,
                          .chosen = !series_repeats(schema, d)};
    arrput(s->devices, made);
    s->device_count = arrlenu(s->devices);
    s->runs[run].device_count++;
    return (uint32_t)s->device_count - 1;
}

// ---- snapshots cut down ----

static void series_add_followed(series *s, netprof_list *list, const netprof_schema *schema, size_t source, size_t i,
                                bool *open)
{
    const netprof_counter *c = &schema->counters[i];
    const netprof_device *d = &schema->devices[c->device];
    struct series_reader *r = s->reader;
    known_counter *k = series_know(r, source, c);
    if (k->means == MEANS_NOTHING) return;
    followed f = {.from = i, .way = k->means, .device = series_find_device(s, schema, c->device)};
    if (k->means == MEANS_EVENT) series_count_kind(s, d->source, c, k);
    f.kind = k->kind;
    if (!*open) netprof_list_device(list, d->name, d->identity, d->flags);
    *open = true;
    netprof_list_counter(list, c);
    arrput(r->followed, f);
}

// Makes the small schema of the counters that are followed.
static netprof_err series_follow(series *s, const netprof_schema *schema)
{
    struct series_reader *r = s->reader;
    netprof_list *list = memory_check(netprof_build_begin(NULL));
    const char *source = "", *host = netprof_fact_of(schema->facts, schema->fact_count, "host");
    const char *boot = netprof_fact_of(schema->facts, schema->fact_count, "boot_id");
    netprof_schema_release(r->schema);
    netprof_schema_release(r->small);
    r->schema = r->small = NULL;
    arrsetlen(r->followed, 0);
    if (host) netprof_build_fact(list, "host", host);
    if (boot) netprof_build_fact(list, "boot_id", boot);
    for (size_t d = 0; d < schema->device_count; d++) {
        const netprof_device *device = &schema->devices[d];
        bool open = false;
        size_t number = series_source_number(r, device->source);
        if (strcmp(source, device->source) != 0) netprof_build_source(list, source = device->source);
        for (size_t i = device->first; i < (size_t)device->first + device->count; i++)
            series_add_followed(s, list, schema, number, i, &open);
    }
    netprof_err err = netprof_build_end(list, &r->small, NULL);
    if (err) return err;
    netprof_schema_retain(schema);
    r->schema = schema;
    return NETPROF_OK;
}

// ---- steps ----

// Seconds since the epoch in a double keep some 200 ns; they become seconds since the beginning in series_finish().
static double series_absolute(int64_t wall_ns)
{
    return (double)wall_ns * second;
}

// The step of a device that ends with this snapshot.
static series_step *series_step_of(series_device *d, size_t snapshot, double from_s, double to_s)
{
    if (!d->count || d->last != snapshot) {
        arrput(d->steps, ((series_step){from_s, to_s, {NAN, NAN}, false}));
        d->count = arrlenu(d->steps);
        d->last = snapshot;
    }
    return &d->steps[d->count - 1];
}

static bool series_has_value(uint8_t flag)
{
    return flag == NETPROF_FLAG_OK || flag == NETPROF_FLAG_WRAPPED;
}

static bool series_was_asked_for(const netprof_delta *delta, size_t i)
{
    return delta->before_status[i] != NETPROF_STATUS_SKIPPED && delta->after_status[i] != NETPROF_STATUS_SKIPPED;
}

// When it was read: by its own stamp, unless the device's clock is another.
static double series_end_of(const netprof_snapshot *x, size_t i, double to_s)
{
    double stamp = series_absolute(x->stamps_ns[i]);
    return x->stamps_ns[i] > 0 && fabs(stamp - to_s) < 10 ? stamp : to_s;
}

static void series_add_bytes(series *s, const netprof_delta *delta, size_t i, const followed *f, size_t own,
                             double from_s, double to_s)
{
    series_device *d = &s->devices[f->device];
    size_t snapshot = s->runs[s->run_count - 1].snapshots;
    if (!series_was_asked_for(delta, i)) return;
    bool known = series_has_value(delta->flags[i]);
    if (known && delta->elapsed_ns[i] <= 0) return; // it was not refreshed
    if (known) {
        to_s = series_end_of(&s->reader->cut, own, to_s);
        from_s = to_s - (double)delta->elapsed_ns[i] * second;
    }
    series_step *step = series_step_of(d, snapshot, from_s, to_s);
    if (!known) return;
    step->rate[f->way] = (double)delta->values[i] / ((double)delta->elapsed_ns[i] * second);
    d->bytes[f->way] += (double)delta->values[i];
}

static void series_add_event(series *s, const netprof_delta *delta, size_t i, const followed *f, double from_s,
                             double to_s)
{
    uint8_t flag = delta->flags[i];
    double amount = (double)delta->values[i];
    bool counts = series_has_value(flag) || flag == NETPROF_FLAG_RESET || flag == NETPROF_FLAG_SUSPECT;
    if (!counts || !(amount > 0)) return;
    arrput(s->events, ((series_event){from_s, to_s, amount, f->kind, f->device}));
    s->event_count = arrlenu(s->events);
    s->counters[f->kind].sum += amount;
    s->counters[f->kind].events++;
}

// The counter of the difference that is followed[i]: the same index unless the schema changed between the two.
static size_t series_place_of(const struct series_reader *r, const netprof_delta *delta, size_t i)
{
    const netprof_counter *c = &r->small->counters[i];
    const netprof_device *d = &r->small->devices[c->device];
    if (delta->schema == r->small) return i;
    return netprof_find(delta->schema, d->source, d->name, c->name);
}

static void series_add_difference(series *s, const netprof_delta *delta, double from_s, double to_s)
{
    struct series_reader *r = s->reader;
    bool reset = false;
    for (size_t i = 0; i < arrlenu(r->followed); i++) {
        const followed *f = &r->followed[i];
        size_t k = series_place_of(r, delta, i);
        if (k == NETPROF_NONE) continue;
        reset |= delta->flags[k] == NETPROF_FLAG_RESET;
        if (f->way >= 0)
            series_add_bytes(s, delta, k, f, i, from_s, to_s);
        else
            series_add_event(s, delta, k, f, from_s, to_s);
    }
    s->runs[s->run_count - 1].resets += reset;
}

// ---- runs ----

static void series_begin_run(series *s, const dataset_run *run)
{
    if (!s->reader) s->reader = memory_calloc(1, sizeof *s->reader);
    netprof_snapshot_free(&s->reader->last);
    s->reader->has_last = false;
    s->reader->axis = (clocks_axis){0};
    series_run made = {
        .path = memory_strdup(run->path ? run->path : ""), .interval_s = NAN, .first_device = s->device_count};
    arrput(s->runs, made);
    s->run_count = arrlenu(s->runs);
}

static int series_by_number(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double series_median(double *values, size_t count)
{
    if (!count) return NAN;
    qsort(values, count, sizeof *values, series_by_number);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

// Adds the differences from the last snapshot to the one at hand.
static netprof_err series_add_step(series *s, double from_s, double to_s)
{
    netprof_delta delta = NETPROF_ZERO;
    netprof_diff_options force = {.force = 1};
    netprof_err err = netprof_diff(&s->reader->last, &s->reader->cut, &force, &delta, NULL);
    if (!err) series_add_difference(s, &delta, from_s, to_s);
    netprof_delta_free(&delta);
    return err;
}

static netprof_err series_next_in_run(series *s, const netprof_snapshot *x)
{
    struct series_reader *r = s->reader;
    series_run *run = &s->runs[s->run_count - 1];
    int64_t before = r->axis.at_ns, wall = clocks_axis_next(&r->axis, x);
    double at_s = series_absolute(wall);
    bool back = r->has_last && wall <= before;
    netprof_err err = NETPROF_OK;
    run->snapshots++;
    run->sweep_s = fmax(run->sweep_s, (double)difference_capped(x->end_ns, x->begin_ns) * second);
    run->backwards += back;
    if (r->has_last && !back) err = series_add_step(s, series_absolute(before), at_s);
    if (!run->time_count || at_s > run->times[run->time_count - 1]) {
        arrput(run->times, at_s);
        run->time_count = arrlenu(run->times);
    }
    netprof_snapshot_free(&r->last);
    r->last = r->cut;
    r->cut = (netprof_snapshot){0};
    r->has_last = true;
    run->clock_steps = r->axis.steps;
    run->clock_set_ns = r->axis.set_ns;
    return err;
}

netprof_err series_take(void *user, const dataset_run *run, size_t index, const netprof_snapshot *snapshot)
{
    series *s = user;
    netprof_err err = NETPROF_OK;
    if (!index) series_begin_run(s, run);
    struct series_reader *r = s->reader;
    if (r->schema != snapshot->schema || !index) err = series_follow(s, snapshot->schema);
    series_run *to = &s->runs[s->run_count - 1];
    if (!to->host) to->host = memory_strdup(dataset_node(run, snapshot->schema));
    if (err) return err;
    snapshot_subset(&r->cut, r->small, snapshot, r->followed, sizeof *r->followed);
    return series_next_in_run(s, snapshot);
}

// ---- after the last file ----

static bool series_is_gap(const series_run *run, size_t k)
{
    return run->time_count > 3 && run->times[k + 1] - run->times[k] > 2.5 * run->interval_s;
}

// True if a step spans a gap of its run.
static bool series_reaches_over(const series_run *run, const series_step *step)
{
    for (size_t k = 0; k + 1 < run->time_count; k++)
        if (series_is_gap(run, k) && step->from_s < run->times[k + 1] - run->interval_s &&
            step->to_s > run->times[k] + run->interval_s)
            return true;
    return false;
}

// The run's usual step, and which are longer than 2.5 of it: there samples are missing.
static void series_find_gaps(series *s, series_run *run)
{
    size_t count = run->time_count ? run->time_count - 1 : 0;
    double *lengths = memory_array(NULL, count, sizeof *lengths);
    for (size_t k = 0; k < count; k++) {
        lengths[k] = run->times[k + 1] - run->times[k];
        run->longest_s = fmax(run->longest_s, lengths[k]);
    }
    run->interval_s = series_median(lengths, count);
    free(lengths);
    for (size_t k = 0; k < count; k++)
        run->gaps += series_is_gap(run, k);
    for (size_t i = run->first_device; run->gaps && i < run->first_device + run->device_count; i++)
        for (size_t k = 0; k < s->devices[i].count; k++)
            s->devices[i].steps[k].gap = series_reaches_over(run, &s->devices[i].steps[k]);
}

static bool series_carries(const series_device *d)
{
    for (size_t i = 0; i < d->count; i++)
        if (!isnan(d->steps[i].rate[0]) || !isnan(d->steps[i].rate[1])) return true;
    return false;
}

// Physical ports with bytes; where a run has none, the others.
static void series_choose(series *s, series_run *run)
{
    bool physical = false;
    for (size_t i = run->first_device; i < run->first_device + run->device_count; i++) {
        series_device *d = &s->devices[i];
        d->chosen = d->chosen && series_carries(d);
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
        run->moved_s = series_absolute(c->runs[i].offset_ns);
        run->moved_at_s = series_absolute(c->runs[i].wall_ns);
        run->drift = c->runs[i].drift;
    }
}

static double series_moved(const series_run *run, double at_s)
{
    return at_s + run->moved_s + run->drift * (at_s - run->moved_at_s);
}

static void series_move_times(series *s)
{
    for (size_t i = 0; i < s->run_count; i++) {
        series_run *run = &s->runs[i];
        for (size_t k = 0; k < run->time_count; k++)
            run->times[k] = series_moved(run, run->times[k]);
    }
    for (size_t i = 0; i < s->device_count; i++) {
        series_device *d = &s->devices[i];
        for (size_t k = 0; k < d->count; k++) {
            d->steps[k].from_s = series_moved(&s->runs[d->run], d->steps[k].from_s);
            d->steps[k].to_s = series_moved(&s->runs[d->run], d->steps[k].to_s);
        }
    }
    for (size_t i = 0; i < s->event_count; i++) {
        const series_run *run = &s->runs[s->devices[s->events[i].device].run];
        s->events[i].from_s = series_moved(run, s->events[i].from_s);
        s->events[i].to_s = series_moved(run, s->events[i].to_s);
    }
}

// From seconds since the epoch to seconds since the first snapshot of all.
static void series_shift(series *s, double begin)
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

static void series_free_reader(series *s)
{
    struct series_reader *r = s->reader;
    if (!r) return;
    netprof_snapshot_free(&r->last);
    netprof_snapshot_free(&r->cut);
    netprof_schema_release(r->schema);
    netprof_schema_release(r->small);
    for (size_t i = 0; i < arrlenu(r->sources); i++)
        free(r->sources[i]);
    arrfree(r->known);
    arrfree(r->sources);
    arrfree(r->followed);
    hmfree(r->names);
    free(r);
    s->reader = NULL;
}

void series_finish(series *s)
{
    double begin = INFINITY;
    series_move_times(s);
    for (size_t i = 0; i < s->run_count; i++)
        if (s->runs[i].time_count) begin = fmin(begin, s->runs[i].times[0]);
    series_free_reader(s);
    if (!isfinite(begin)) return;
    s->begin_ns = (int64_t)llround(begin / second);
    series_shift(s, begin);
    for (size_t i = 0; i < s->run_count; i++) {
        series_find_gaps(s, &s->runs[i]);
        series_choose(s, &s->runs[i]);
    }
}

void series_free(series *s)
{
    if (!s) return;
    series_free_reader(s);
    for (size_t i = 0; i < s->run_count; i++) {
        free(s->runs[i].path);
        free(s->runs[i].host);
        arrfree(s->runs[i].times);
    }
    for (size_t i = 0; i < s->device_count; i++) {
        free(s->devices[i].source);
        free(s->devices[i].name);
        arrfree(s->devices[i].steps);
    }
    for (size_t i = 0; i < s->counter_count; i++) {
        free(s->counters[i].source);
        free(s->counters[i].name);
        free(s->counters[i].unit);
    }
    arrfree(s->runs);
    arrfree(s->devices);
    arrfree(s->counters);
    arrfree(s->events);
    *s = (series){0};
}

// ---- looking at it ----

// The mean of the steps from `*next` on that reach into a column; *next becomes the first that may reach into the next.
static double series_column_mean(const series_device *d, int way, double left, double right, size_t *next)
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
        columns[i] = width > 0 ? series_column_mean(d, way, left, left + width, &next) : NAN;
    }
}

size_t series_quantiles(const series_device *d, int way, const double *shares, double *values, size_t count)
{
    double *rates = memory_array(NULL, d->count, sizeof *rates);
    size_t n = 0;
    for (size_t k = 0; k < d->count; k++)
        if (!d->steps[k].gap && !isnan(d->steps[k].rate[way])) rates[n++] = d->steps[k].rate[way];
    if (n) qsort(rates, n, sizeof *rates, series_by_number);
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
