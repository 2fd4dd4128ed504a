// The arithmetic of the comparison: cells, scores, lines, histograms, gauges.
#include "compare_private.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- what a counter is measured with ----

enum { LEAST_SIGMAS = 3 };

// An event: what one count more means; for time, 0.01 % of the interval. A difference of less than `floor` a second, or
// of less than the factor `ratio`, is none.
static const struct {
    double floor_per_s, ratio;
} limits[COMPARISON_CLASSES] = {[COMPARISON_ERRORS] = {0, 1.5},
                                [COMPARISON_STALLS] = {10, 1.5},
                                [COMPARISON_PACKETS] = {10, 1.25},
                                [COMPARISON_BYTES] = {1e4, 1.1}};
static const double time_event = 1e-4, time_floor = 1e-3; // of the interval

// Units of a second; 0: no unit of time. Cycles are the device's.
static double units_per_second(const char *unit, double clock_hz)
{
    static const struct {
        const char *unit;
        double per_second;
    } rows[] = {{"ns", 1e9}, {"us", 1e6}, {"ms", 1e3}, {"s", 1}};
    if (strcmp(unit, "cycles") == 0) return clock_hz;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].unit, unit) == 0) return rows[i].per_second;
    return 0;
}

static comparison_class class_of(const char *source, const char *name, const char *unit, uint32_t marks)
{
    static const struct {
        const char *unit;
        comparison_class kind;
    } rows[] = {{"cycles", COMPARISON_STALLS},
                {"ticks", COMPARISON_STALLS},
                {"evictions", COMPARISON_STALLS},
                {"bytes", COMPARISON_BYTES}};
    if (marks & CATALOG_WAITING) return COMPARISON_STALLS;
    if (marks & CATALOG_FAULT || catalog_is_trouble(source, name, unit)) return COMPARISON_ERRORS;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].unit, unit) == 0) return rows[i].kind;
    return COMPARISON_PACKETS;
}

// Sources about the node and the job: only their errors and stalls are ranked. Which core ran a program, and what it
// read from a disk, differs from run to run.
static bool is_network(const char *source)
{
    static const char *const others[] = {"process",  "cgroup", "cpu",   "memory", "disk",
                                         "pressure", "energy", "hwmon", "self"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i], source) == 0) return false;
    return true;
}

// ---- one cell ----

// What one run counted.
typedef struct sample {
    comparison_side side;
    size_t run;
    bool known;
    const char *reason; // of what is not known
    uint64_t exact;
    double count, seconds, bytes; // NAN unknown
    double event;                 // what counts as one
} sample;

// A basis: what the counts are divided by.
typedef struct yardstick {
    bool known;
    comparison_range healthy;
    double exposure, event; // medians of the healthy runs
} yardstick;

static double exposure_of(const sample *s, comparison_basis basis)
{
    return basis == COMPARISON_PER_BYTE ? s->bytes : s->seconds;
}

static double rate_of(const sample *s, comparison_basis basis)
{
    double exposure = exposure_of(s, basis);
    return s->known && exposure > 0 ? s->count / exposure : NAN;
}

static const char *reason_of(const evaluation *e, size_t i)
{
    const netprof_delta *delta = e->d->delta;
    uint8_t before = delta->before_status[i], after = delta->after_status[i];
    if (e->d->rows[i].flag != NETPROF_FLAG_UNKNOWN) return netprof_flag_name((netprof_flag)e->d->rows[i].flag);
    return netprof_status_name((netprof_status)(after == NETPROF_STATUS_OK ? before : after));
}

static sample take_sample(const comparer *m, const comparison_line *line, size_t device, size_t run)
{
    const evaluation *e = &m->runs[run];
    size_t place = comparer_place(m, device, run);
    size_t i = place == DIFFERENCE_NONE ? LOOKUP_NONE : lookup_find(&e->index, place, line->name);
    sample s = {.side = m->c->runs[run]->side,
                .run = run,
                .reason = "absent",
                .count = NAN,
                .seconds = NAN,
                .bytes = m->bytes[run * m->c->device_count + device]};
    if (i == LOOKUP_NONE) return s;
    const difference_row *row = &e->d->rows[i];
    int64_t elapsed_ns = e->d->delta->elapsed_ns[i];
    double units;
    s.reason = reason_of(e, i);
    s.known = (row->flag == NETPROF_FLAG_OK || row->flag == NETPROF_FLAG_WRAPPED) && !row->negative;
    if (!s.known) return s;
    s.exact = row->magnitude;
    s.count = (double)row->magnitude;
    s.seconds = elapsed_ns > 0 ? (double)elapsed_ns / 1e9 : NAN;
    units = units_per_second(line->unit, evaluation_clock(e, place));
    s.event = units > 0 && s.seconds > 0 ? fmax(1, time_event * units * s.seconds) : 1;
    if (line->time_driven) s.bytes = NAN;
    return s;
}

static size_t values_of(const sample *samples, size_t count, comparison_side side, comparison_basis basis,
                        double *values)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        double rate = rate_of(&samples[i], basis);
        if (samples[i].side == side && !isnan(rate)) values[n++] = rate;
    }
    return n;
}

static yardstick make_yardstick(const sample *samples, size_t count, comparison_basis basis, double *values)
{
    yardstick y = {.known = false};
    size_t n = values_of(samples, count, COMPARISON_HEALTHY, basis, values), k = 0;
    y.healthy = comparison_range_of(values, n);
    for (size_t i = 0; i < count; i++)
        if (samples[i].side == COMPARISON_HEALTHY && !isnan(rate_of(&samples[i], basis)))
            values[k++] = exposure_of(&samples[i], basis);
    y.exposure = comparison_median(values, k);
    k = 0;
    for (size_t i = 0; i < count; i++)
        if (samples[i].side == COMPARISON_HEALTHY && samples[i].known) values[k++] = samples[i].event;
    y.event = comparison_median(values, k);
    y.known = n > 0;
    return y;
}

// More than chance: counts vary as their root does, in events.
static bool is_beyond_chance(const sample *s, const yardstick *y, double edge, comparison_basis basis)
{
    double exposure = exposure_of(s, basis), scale = exposure / y->exposure;
    double count = s->count / s->event, expected = edge * exposure / s->event;
    double healthy = edge * y->exposure / y->event;
    double variance = count + 1 + (healthy + 1) * scale * scale * (y->event / s->event) * (y->event / s->event);
    return fabs(count - expected) >= LEAST_SIGMAS * sqrt(variance);
}

static double floor_of(const comparison_line *line, const sample *s)
{
    // Time's event is so many units: the floor is as many times larger as its share is.
    return s->event > 1 ? s->event / s->seconds * (time_floor / time_event) : limits[line->kind].floor_per_s;
}

// How much more or less a faulty run has than the healthy ones, as log2; 0 when it is no difference.
static double deviation(const comparison_line *line, const sample *s, const yardstick *y, comparison_basis basis)
{
    double rate = rate_of(s, basis), exposure = exposure_of(s, basis);
    if (isnan(rate) || !y->known) return 0;
    double edge = fmin(fmax(rate, y->healthy.min), y->healthy.max);
    double own = s->event / exposure, theirs = y->event / y->exposure;
    bool first_error = line->kind == COMPARISON_ERRORS && !(y->healthy.max > 0) && s->count > 0;
    double more = fmax(rate + own, edge + theirs), less = fmin(rate + own, edge + theirs);
    if (rate >= edge && rate <= edge) return 0; // within the range
    if (!first_error && !is_beyond_chance(s, y, edge, basis)) return 0;
    if (!first_error && more < limits[line->kind].ratio * less) return 0;
    if (fabs(rate - edge) * exposure / s->seconds < floor_of(line, s)) return 0;
    double far = log2((rate + own) / (y->healthy.median + theirs));
    if (first_error) return fmax(far, 0.1); // also when it came in a much longer run
    return (far > 0) == (rate > edge) ? far : 0;
}

// By the basis of the comparison: the milder of the two counts, where they agree on the direction.
static double judged_deviation(const comparison *c, const comparison_line *line, const sample *s, const yardstick *by)
{
    double second = deviation(line, s, &by[COMPARISON_PER_SECOND], COMPARISON_PER_SECOND);
    if (c->basis == COMPARISON_PER_SECOND || line->kind == COMPARISON_BYTES || line->time_driven) return second;
    bool has_bytes = by[COMPARISON_PER_BYTE].known && s->bytes > 0;
    double byte = has_bytes ? deviation(line, s, &by[COMPARISON_PER_BYTE], COMPARISON_PER_BYTE) : 0;
    bool has_time = by[COMPARISON_PER_SECOND].known && s->seconds > 0;
    if (c->basis == COMPARISON_PER_BYTE || !has_time) return byte;
    if (!has_bytes) return second;
    if (second * byte <= 0) return 0;
    return fabs(second) < fabs(byte) ? second : byte;
}

static comparison_amount amount_of(const sample *samples, size_t count, comparison_side side, double *values)
{
    comparison_amount a = {.count = NAN};
    size_t n = values_of(samples, count, side, COMPARISON_PER_SECOND, values);
    a.per_s = comparison_range_of(values, n);
    n = values_of(samples, count, side, COMPARISON_PER_BYTE, values);
    a.per_byte = comparison_range_of(values, n);
    for (size_t i = 0; i < count; i++) {
        if (samples[i].side != side || !samples[i].known) continue;
        values[a.runs++] = samples[i].count;
        a.exact = samples[i].exact;
    }
    a.count = comparison_median(values, a.runs);
    return a;
}

static double robust_z(const sample *samples, size_t count, const yardstick *y, double worst, double *values)
{
    size_t n = values_of(samples, count, COMPARISON_HEALTHY, COMPARISON_PER_SECOND, values);
    if (n < 3) return NAN;
    for (size_t i = 0; i < n; i++)
        values[i] = fabs(values[i] - y->healthy.median);
    double spread = fmax(1.4826 * comparison_median(values, n), y->event / y->exposure);
    return (worst - y->healthy.median) / spread;
}

static double ratio_of(double faulty, double healthy)
{
    return faulty > 0 && healthy > 0 ? faulty / healthy : NAN;
}

static void choose_state(comparison_cell *cell, const sample *samples, size_t count)
{
    bool any[COMPARISON_SIDES] = {false, false};
    for (size_t i = 0; i < count; i++)
        if (samples[i].known) any[samples[i].side] |= samples[i].count > 0;
    if (!any[COMPARISON_HEALTHY] && !any[COMPARISON_FAULTY])
        cell->state = COMPARISON_ZERO;
    else if (!cell->direction)
        cell->state = COMPARISON_SAME;
    else if (!any[COMPARISON_HEALTHY])
        cell->state = COMPARISON_NEW;
    else
        cell->state = any[COMPARISON_FAULTY] ? COMPARISON_CHANGED : COMPARISON_GONE;
}

// The faulty run that deviates most; of runs that do not, the one with the largest rate.
static const sample *find_worst(const comparison *c, const comparison_line *line, comparison_cell *cell,
                                const sample *samples, size_t count, const yardstick *by)
{
    const sample *worst = NULL;
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        const sample *s = &samples[i];
        if (s->side != COMPARISON_FAULTY || !s->known) continue;
        double deviates = judged_deviation(c, line, s, by);
        cell->outside += fabs(deviates) > 0;
        bool further =
            fabs(deviates) > fabs(most) || (fabs(deviates) >= fabs(most) && worst && s->count > worst->count);
        if (worst && !further) continue;
        worst = s;
        most = deviates;
    }
    cell->direction = most > 0 ? 1 : most < 0 ? -1 : 0;
    cell->score = fabs(most) * comparison_weight(line->kind);
    return worst;
}

static const char *unknown_reason(const sample *samples, size_t count, comparison_side side)
{
    const char *reason = "absent";
    for (size_t i = 0; i < count; i++)
        if (samples[i].side == side && strcmp(samples[i].reason, "absent") != 0) reason = samples[i].reason;
    return reason;
}

static comparison_cell make_cell(const comparison *c, const comparison_line *line, const sample *samples, size_t count,
                                 double *values)
{
    comparison_cell cell = {.ratio_per_s = NAN,
                            .ratio_per_byte = NAN,
                            .worst_per_s = NAN,
                            .worst_per_byte = NAN,
                            .worst_run = DIFFERENCE_NONE,
                            .z = NAN};
    yardstick by[COMPARISON_PER_BYTE + 1] = {{.known = false}};
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        cell.side[side] = amount_of(samples, count, (comparison_side)side, values);
        if (!cell.side[side].runs) cell.reason = unknown_reason(samples, count, (comparison_side)side);
    }
    if (cell.reason) return cell;
    for (int basis = COMPARISON_PER_SECOND; basis <= COMPARISON_PER_BYTE; basis++)
        by[basis] = make_yardstick(samples, count, (comparison_basis)basis, values);
    const sample *worst = find_worst(c, line, &cell, samples, count, by);
    choose_state(&cell, samples, count);
    cell.worst_run = worst->run;
    cell.worst_per_s = rate_of(worst, COMPARISON_PER_SECOND);
    cell.worst_per_byte = rate_of(worst, COMPARISON_PER_BYTE);
    cell.ratio_per_s = ratio_of(cell.worst_per_s, by[COMPARISON_PER_SECOND].healthy.median);
    cell.ratio_per_byte = ratio_of(cell.worst_per_byte, by[COMPARISON_PER_BYTE].healthy.median);
    cell.z = robust_z(samples, count, &by[COMPARISON_PER_SECOND], cell.worst_per_s, values);
    return cell;
}

// ---- lines ----

typedef struct line_maker {
    comparer *m;
    lookup names; // (first device of the source, name) -> 1
    sample *samples;
    double *values;
    uint64_t *hashes; // [line_count]
} line_maker;

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(1099511628211);
}

static size_t source_end(const comparison *c, size_t first)
{
    size_t i = first;
    while (i < c->device_count && strcmp(c->devices[i].source, c->devices[first].source) == 0)
        i++;
    return i;
}

static void count_only(comparison *c, const sample *samples, size_t count)
{
    bool there[COMPARISON_SIDES] = {false, false};
    for (size_t i = 0; i < count; i++)
        there[samples[i].side] |= strcmp(samples[i].reason, "absent") != 0;
    for (int side = 0; side < COMPARISON_SIDES; side++)
        c->counts.only[side] += there[side] && !there[!side];
}

// Fills in the cells. False when there is nothing to show: 0 or unknown everywhere.
static bool fill_line(line_maker *l, comparison_line *line, uint64_t *hash)
{
    comparison *c = l->m->c;
    bool any = false;
    *hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < line->device_count; i++) {
        size_t device = line->first_device + i;
        for (size_t r = 0; r < c->run_count; r++) {
            l->samples[r] = take_sample(l->m, line, device, r);
            if (l->samples[r].known && l->samples[r].exact)
                *hash = mix(mix(*hash, i * c->run_count + r), l->samples[r].exact);
        }
        line->cells[i] = make_cell(c, line, l->samples, c->run_count, l->values);
        bool exists = strcmp(unknown_reason(l->samples, c->run_count, COMPARISON_HEALTHY), "absent") != 0 ||
                      strcmp(unknown_reason(l->samples, c->run_count, COMPARISON_FAULTY), "absent") != 0;
        count_only(c, l->samples, c->run_count);
        if (exists) c->counts.states[line->cells[i].state]++;
        any |= line->cells[i].state >= COMPARISON_SAME;
        if (line->cells[i].score > line->cells[line->worst].score) line->worst = i;
    }
    // Where nothing stands out, show where most was counted.
    for (size_t i = 0; i < line->device_count && !(line->cells[line->worst].score > 0); i++)
        if (line->cells[i].state > line->cells[line->worst].state ||
            line->cells[i].side[COMPARISON_FAULTY].count > line->cells[line->worst].side[COMPARISON_FAULTY].count)
            line->worst = i;
    line->score = line->cells[line->worst].score;
    return any;
}

// log2 of how far a cell went, for comparing devices with each other.
static double step_of(const comparison_line *line, const comparison_cell *cell)
{
    return cell->direction * cell->score / comparison_weight(line->kind);
}

static void find_pattern(comparison_line *line)
{
    static const double alike = 0.59; // log2: half as much again
    size_t known = 0, changed = 0;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < line->device_count; i++) {
        const comparison_cell *cell = &line->cells[i];
        known += cell->state != COMPARISON_UNKNOWN;
        if (!(cell->score > 0)) continue;
        changed++;
        low = fmin(low, step_of(line, cell));
        high = fmax(high, step_of(line, cell));
    }
    if (!changed)
        line->pattern = COMPARISON_NOWHERE;
    else if (known == 1)
        line->pattern = COMPARISON_ALONE;
    else if (changed == known)
        line->pattern = high - low <= alike ? COMPARISON_ALL_ALIKE : COMPARISON_ALL;
    else
        line->pattern = changed == 1 ? COMPARISON_ONLY_ONE : COMPARISON_SOME;
}

static bool keep_line(line_maker *l, comparison_line line, uint64_t hash)
{
    comparison *c = l->m->c;
    comparison_line *list = comparer_grow(l->m, c->lines, c->line_count, sizeof *list);
    uint64_t *hashes = comparer_grow(l->m, l->hashes, c->line_count, sizeof *hashes);
    if (list) c->lines = list;
    if (hashes) l->hashes = hashes;
    if (!list || !hashes) return false;
    hashes[c->line_count] = hash;
    list[c->line_count++] = line;
    return true;
}

static bool is_gauge(const netprof_counter *counter)
{
    return counter->kind == NETPROF_KIND_GAUGE || counter->kind == NETPROF_KIND_STATE;
}

// What is left out, and counted: in how many devices it is.
static size_t *left_out(comparison *c, const char *source, const netprof_counter *counter, const char *unit,
                        uint32_t marks)
{
    bool ranked = is_network(source) || class_of(source, counter->name, unit, marks) <= COMPARISON_STALLS;
    if (is_gauge(counter)) return &c->counts.gauges;
    if (marks & CATALOG_CLOCK_ONLY) return &c->counts.clocks;
    if (marks & (CATALOG_UNUSABLE | CATALOG_UNRELIABLE | CATALOG_OVERCOUNTS)) return &c->counts.bad;
    if (counter->kind == NETPROF_KIND_HISTOGRAM) return &c->counts.histograms;
    return ranked ? NULL : &c->counts.context;
}

static void add_line(line_maker *l, size_t device, size_t run, size_t counter)
{
    comparison *c = l->m->c;
    const difference_row *row = &c->runs[run]->d.rows[counter];
    const netprof_counter *about = &c->runs[run]->d.delta->schema->counters[counter];
    size_t first = device;
    uint64_t hash;
    while (first && strcmp(c->devices[first - 1].source, c->devices[device].source) == 0)
        first--;
    size_t *seen = lookup_put(&l->names, first, about->name);
    if (!seen) l->m->no_memory = true;
    if (!seen || *seen != LOOKUP_NONE) return;
    *seen = 1;
    uint32_t marks = catalog_marks(c->devices[device].source, about->name);
    size_t *counted = left_out(c, c->devices[device].source, about, row->unit, marks);
    if (counted) {
        ++*counted;
        return;
    }
    comparison_line line = {.source = c->devices[device].source,
                            .name = about->name,
                            .unit = row->unit,
                            .gloss = row->entry ? row->entry->description : "",
                            .entry = row->entry,
                            .kind = class_of(c->devices[device].source, about->name, row->unit, marks),
                            .time_driven = marks & CATALOG_TIME_DRIVEN,
                            .first_device = first,
                            .device_count = source_end(c, first) - first};
    line.cells = calloc(line.device_count, sizeof *line.cells);
    if (!line.cells) {
        l->m->no_memory = true;
    } else if (fill_line(l, &line, &hash)) {
        find_pattern(&line);
        if (keep_line(l, line, hash)) return;
    }
    free(line.cells);
}

// ---- equal counters ----

// A counter that a device does not have counts nothing there.
static bool same_count(const comparison_cell *a, const comparison_cell *b, int side)
{
    double x = a->side[side].count, y = b->side[side].count;
    if (isnan(x) && a->reason && strcmp(a->reason, "absent") == 0) x = 0;
    if (isnan(y) && b->reason && strcmp(b->reason, "absent") == 0) y = 0;
    return (isnan(x) && isnan(y)) || (x >= y && x <= y);
}

static bool are_equal(const comparison_line *a, const comparison_line *b)
{
    if (a->source != b->source && strcmp(a->source, b->source) != 0) return false;
    if (a->kind != b->kind || strcmp(a->unit, b->unit) != 0 || a->time_driven != b->time_driven) return false;
    for (size_t i = 0; i < a->device_count; i++)
        for (int side = 0; side < COMPARISON_SIDES; side++)
            if (!same_count(&a->cells[i], &b->cells[i], side)) return false;
    return true;
}

static void fold(comparer *m, comparison_line *into, comparison_line *line)
{
    size_t more = line->equal_count + 1;
    const char **equal = realloc(into->equal, (into->equal_count + more) * sizeof *equal);
    if (!equal) {
        m->no_memory = true;
        return;
    }
    into->equal = equal;
    equal[into->equal_count++] = line->name;
    for (size_t i = 0; i < line->equal_count; i++)
        equal[into->equal_count++] = line->equal[i];
    free(line->cells);
    free(line->equal);
    *line = (comparison_line){.name = NULL};
}

// The line that tells of the same events better, or the first with the very same counts.
static size_t find_equal(const comparison *c, const uint64_t *hashes, size_t i)
{
    const comparison_line *line = &c->lines[i];
    const char *better = line->entry ? line->entry->same_as : "";
    for (size_t k = 0; k < c->line_count && *better; k++)
        if (k != i && c->lines[k].name && strcmp(c->lines[k].name, better) == 0 &&
            strcmp(c->lines[k].source, line->source) == 0)
            return k;
    for (size_t k = 0; k < i; k++)
        if (c->lines[k].name && hashes[k] == hashes[i] && are_equal(&c->lines[k], line)) return k;
    return LOOKUP_NONE;
}

static int compare_names(const void *a, const void *b)
{
    return catalog_name_compare(*(const char *const *)a, *(const char *const *)b);
}

static void fold_equal(comparer *m, const uint64_t *hashes)
{
    comparison *c = m->c;
    size_t kept = 0;
    for (size_t i = 0; i < c->line_count && !m->no_memory; i++) {
        size_t into = find_equal(c, hashes, i);
        if (into != LOOKUP_NONE) fold(m, &c->lines[into], &c->lines[i]);
    }
    for (size_t i = 0; i < c->line_count; i++) {
        if (!c->lines[i].name) continue;
        c->lines[kept] = c->lines[i];
        if (c->lines[kept].equal_count)
            qsort(c->lines[kept].equal, c->lines[kept].equal_count, sizeof *c->lines[kept].equal, compare_names);
        kept++;
    }
    c->line_count = kept;
}

static int compare_lines(const void *a, const void *b)
{
    const comparison_line *x = a, *y = b;
    if (x->score > y->score || x->score < y->score) return x->score > y->score ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    int order = catalog_name_compare(x->name, y->name);
    return order ? order : strcmp(x->source, y->source);
}

static void make_lines(line_maker *l)
{
    comparison *c = l->m->c;
    for (size_t i = 0; i < c->device_count; i++) {
        for (size_t r = 0; r < c->run_count && !l->m->no_memory; r++) {
            size_t place = c->devices[i].places[r];
            if (place == DIFFERENCE_NONE) continue;
            const netprof_device *dev = &c->runs[r]->d.delta->schema->devices[place];
            for (size_t k = dev->first; k < (size_t)dev->first + dev->count; k++)
                add_line(l, i, r, k);
        }
    }
}

void comparer_lines(comparer *m)
{
    comparison *c = m->c;
    line_maker l = {.m = m};
    l.samples = calloc(c->run_count + 1, sizeof *l.samples);
    l.values = calloc(c->run_count + 1, sizeof *l.values);
    if (!l.samples || !l.values)
        m->no_memory = true;
    else
        make_lines(&l);
    if (!m->no_memory) fold_equal(m, l.hashes);
    if (!m->no_memory && c->line_count) qsort(c->lines, c->line_count, sizeof *c->lines, compare_lines);
    for (size_t i = 0; i < c->line_count && !m->no_memory; i++) {
        c->ranked_count += c->lines[i].score > 0;
        comparer_pattern_text(m, &c->lines[i]);
    }
    lookup_free(&l.names);
    free(l.samples);
    free(l.values);
    free(l.hashes);
}

// ---- histograms ----

// One bucket of a run's device.
typedef struct bucket {
    const char *name;
    size_t stem; // length of the name up to the bucket's number
    unsigned long number;
} bucket;

// "pct_req_rsp_latency_7", "hni_rx_ok_36_to_63", "hni_rx_ok_8192_to_max": the number is the first of the range.
static bool parse_bucket(const char *name, bucket *b)
{
    size_t n = strlen(name), at = n;
    if (n > 7 && strcmp(name + n - 7, "_to_max") == 0) {
        at = n - 7;
    } else {
        while (at && isdigit((unsigned char)name[at - 1]))
            at--;
        if (at == n) return false;
        if (at > 4 && strncmp(name + at - 4, "_to_", 4) == 0 && isdigit((unsigned char)name[at - 5]))
            at -= 4;
        else
            at = n;
    }
    while (at && isdigit((unsigned char)name[at - 1]))
        at--;
    *b = (bucket){name, at, strtoul(name + at, NULL, 10)};
    return true;
}

static int compare_buckets(const void *a, const void *b)
{
    const bucket *x = a, *y = b;
    size_t least = x->stem < y->stem ? x->stem : y->stem;
    int order = strncmp(x->name, y->name, least);
    if (order) return order;
    if (x->stem != y->stem) return x->stem < y->stem ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static bucket *buckets_of(const netprof_schema *schema, const netprof_device *dev, size_t *count)
{
    bucket *list = calloc(dev->count + (size_t)1, sizeof *list);
    *count = 0;
    for (size_t i = dev->first; list && i < (size_t)dev->first + dev->count; i++)
        if (schema->counters[i].kind == NETPROF_KIND_HISTOGRAM && parse_bucket(schema->counters[i].name, &list[*count]))
            ++*count;
    if (list && *count) qsort(list, *count, sizeof *list, compare_buckets);
    return list;
}

// Share of the samples in each bin, of one side's runs together. False: too few, or a bin is not known.
static bool shares_of(const comparer *m, size_t device, comparison_side side, const bucket *bins, size_t count,
                      double *share)
{
    enum { LEAST = 1000 };
    const comparison *c = m->c;
    double all = 0;
    for (size_t b = 0; b < count; b++) {
        share[b] = 0;
        for (size_t r = 0; r < c->run_count; r++) {
            size_t place = comparer_place(m, device, r);
            if (c->runs[r]->side != side || place == DIFFERENCE_NONE) continue;
            size_t i = lookup_find(&m->runs[r].index, place, bins[b].name);
            if (i == LOOKUP_NONE) return false;
            const difference_row *row = &c->runs[r]->d.rows[i];
            if (row->flag != NETPROF_FLAG_OK && row->flag != NETPROF_FLAG_WRAPPED) return false;
            share[b] += (double)row->magnitude;
        }
        all += share[b];
    }
    for (size_t b = 0; b < count && all > 0; b++)
        share[b] /= all;
    return all >= LEAST;
}

static size_t middle_of(const double *share, size_t count)
{
    double sum = 0;
    size_t b = 0;
    while (b + 1 < count && (sum += share[b]) < 0.5)
        b++;
    return b;
}

static void add_shape(comparer *m, comparison_shape shape, const bucket *bins, double *const share[COMPARISON_SIDES])
{
    comparison *c = m->c;
    size_t size = bins->stem + 2;
    comparison_shape *list = comparer_grow(m, c->shapes, c->shape_count, sizeof *list);
    if (list) c->shapes = list;
    shape.name = malloc(size);
    if (shape.name) snprintf(shape.name, size, "%.*s*", (int)bins->stem, bins->name);
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        shape.share[side] = malloc(shape.bins * sizeof **share);
        if (shape.share[side]) memcpy(shape.share[side], share[side], shape.bins * sizeof **share);
        shape.middle_bin[side] = middle_of(share[side], shape.bins);
        shape.middle[side] = bins[shape.middle_bin[side]].name;
    }
    if (list && shape.name && shape.share[0] && shape.share[1]) {
        list[c->shape_count++] = shape;
        return;
    }
    m->no_memory = true;
    free(shape.name);
    free(shape.share[0]);
    free(shape.share[1]);
}

// One histogram on the devices of its source: the one where it moved most stays.
static void compare_histogram(comparer *m, size_t first, size_t end, const bucket *bins, size_t count)
{
    static const double least = 0.05;
    comparison_shape shape = {.source = m->c->devices[first].source, .bins = count};
    double *work = calloc(4 * count, sizeof *work);
    if (!work) m->no_memory = true;
    double *share[COMPARISON_SIDES] = {work, work + count},
           *most[COMPARISON_SIDES] = {work + 2 * count, work + 3 * count};
    for (size_t i = first; i < end && work; i++) {
        double moved = 0;
        bool known = true;
        for (int side = 0; side < COMPARISON_SIDES; side++)
            known = known && shares_of(m, i, (comparison_side)side, bins, count, share[side]);
        for (size_t b = 0; b < count; b++)
            moved += fabs(share[0][b] - share[1][b]) / 2;
        if (!known || moved <= shape.moved) continue;
        shape.moved = moved;
        shape.device = i;
        memcpy(most[0], share[0], 2 * count * sizeof *work);
    }
    if (work && shape.moved >= least) add_shape(m, shape, bins, most);
    free(work);
}

static int compare_shapes(const void *a, const void *b)
{
    const comparison_shape *x = a, *y = b;
    if (x->moved > y->moved || x->moved < y->moved) return x->moved > y->moved ? -1 : 1;
    return strcmp(x->name, y->name);
}

// The buckets as the first run with a device of the source has them.
static void source_shapes(comparer *m, size_t first, size_t end)
{
    const comparison *c = m->c;
    size_t run = 0, count;
    while (run < c->run_count && c->devices[first].places[run] == DIFFERENCE_NONE)
        run++;
    if (run == c->run_count) return;
    const netprof_schema *schema = c->runs[run]->d.delta->schema;
    bucket *list = buckets_of(schema, &schema->devices[c->devices[first].places[run]], &count);
    if (!list) m->no_memory = true;
    for (size_t b = 0, next; b < count && list; b = next) {
        for (next = b + 1; next < count && list[next].stem == list[b].stem; next++)
            if (strncmp(list[next].name, list[b].name, list[b].stem) != 0) break;
        if (next > b + 1) compare_histogram(m, first, end, &list[b], next - b);
    }
    free(list);
}

void comparer_shapes(comparer *m)
{
    comparison *c = m->c;
    for (size_t first = 0, end; first < c->device_count; first = end) {
        end = source_end(c, first);
        source_shapes(m, first, end);
    }
    if (c->shape_count) qsort(c->shapes, c->shape_count, sizeof *c->shapes, compare_shapes);
}

// ---- gauges ----

static double gauge_value(const comparer *m, size_t device, size_t run, const char *name)
{
    size_t place = comparer_place(m, device, run);
    size_t i = place == DIFFERENCE_NONE ? LOOKUP_NONE : lookup_find(&m->runs[run].index, place, name);
    if (i == LOOKUP_NONE) return NAN;
    const netprof_delta *delta = m->c->runs[run]->d.delta;
    if (delta->after_status[i] != NETPROF_STATUS_OK) return NAN;
    bool is_signed = delta->schema->counters[i].flags & NETPROF_SIGNED;
    return is_signed ? (double)(int64_t)delta->after[i] : (double)delta->after[i];
}

static void add_gauge(comparer *m, size_t device, size_t run, size_t counter, double *values)
{
    comparison *c = m->c;
    const netprof_counter *about = &c->runs[run]->d.delta->schema->counters[counter];
    comparison_gauge g = {.device = device,
                          .name = about->name,
                          .unit = c->runs[run]->d.rows[counter].unit,
                          .is_signed = about->flags & NETPROF_SIGNED};
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        size_t n = 0;
        for (size_t r = 0; r < c->run_count; r++)
            if (c->runs[r]->side == (comparison_side)side) values[n++] = gauge_value(m, device, r, about->name);
        g.side[side] = comparison_range_of(values, n);
    }
    const comparison_range *h = &g.side[COMPARISON_HEALTHY], *f = &g.side[COMPARISON_FAULTY];
    if (isnan(h->median) || isnan(f->median) || (f->min <= h->max && h->min <= f->max)) return;
    comparison_gauge *list = comparer_grow(m, c->gauges, c->gauge_count, sizeof *list);
    if (!list) return;
    c->gauges = list;
    list[c->gauge_count++] = g;
}

static double gauge_step(const comparison_gauge *g)
{
    return fabs(log2((fabs(g->side[COMPARISON_FAULTY].median) + 1) / (fabs(g->side[COMPARISON_HEALTHY].median) + 1)));
}

static int compare_gauges(const void *a, const void *b)
{
    const comparison_gauge *x = a, *y = b;
    double p = gauge_step(x), q = gauge_step(y);
    if (p > q || p < q) return p > q ? -1 : 1;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    return catalog_name_compare(x->name, y->name);
}

void comparer_gauges(comparer *m)
{
    static const uint32_t incomparable = CATALOG_CLOCK_ONLY | CATALOG_TIME_OF_DAY | CATALOG_UNUSABLE;
    comparison *c = m->c;
    double *values = calloc(c->run_count + 1, sizeof *values);
    if (!values) m->no_memory = true;
    for (size_t i = 0; i < c->device_count && !m->no_memory; i++) {
        size_t run = 0; // names as the first run with the device has them
        while (run < c->run_count && c->devices[i].places[run] == DIFFERENCE_NONE)
            run++;
        const netprof_schema *schema = c->runs[run]->d.delta->schema;
        const netprof_device *dev = &schema->devices[c->devices[i].places[run]];
        for (size_t k = dev->first; k < (size_t)dev->first + dev->count; k++)
            if (is_gauge(&schema->counters[k]) &&
                !(catalog_marks(dev->source, schema->counters[k].name) & incomparable))
                add_gauge(m, i, run, k, values);
    }
    free(values);
    if (c->gauge_count) qsort(c->gauges, c->gauge_count, sizeof *c->gauges, compare_gauges);
}
