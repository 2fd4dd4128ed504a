// The arithmetic of one counter of one device: rates of both sides, chance, score.
#include "compare_cells.h"
#include "compare_chance.h"

#include <math.h>
#include <string.h>

// ---- units and thresholds ----

enum { LEAST_SIGMAS = 3 };

// An event is one count more; for time, 0.01 % of the interval. A difference of less than `floor` a second, or
// by less than the factor `ratio`, counts as none.
static const struct {
    double floor_per_s, ratio;
} limits[COMPARISON_CLASSES] = {[COMPARISON_ERRORS] = {0, 1.5},
                                [COMPARISON_STALLS] = {10, 1.5},
                                [COMPARISON_PACKETS] = {10, 1.25},
                                [COMPARISON_BYTES] = {1e4, 1.1}};
static const double time_event = 1e-4, time_floor = 1e-3; // of the interval

// Units of a second; 0: no unit of time. Cycles are the device's.
static double cells_units_per_second(const char *unit, double clock_hz)
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

// ---- one cell ----

// What counts are divided by, as the healthy runs have it.
typedef struct yardstick {
    bool known;
    comparison_range healthy;
    double exposure, event; // medians of the healthy runs
} yardstick;

static double cells_exposure(const sample *s, comparison_basis basis)
{
    return basis == COMPARISON_PER_BYTE ? s->bytes : s->seconds;
}

double cells_rate(const sample *s, comparison_basis basis)
{
    double exposure = cells_exposure(s, basis);
    return s->known && exposure > 0 ? s->count / exposure : NAN;
}

static const char *cells_reason(const evaluation *e, size_t i)
{
    const netprof_delta *delta = e->d->delta;
    uint8_t before = delta->before_status[i], after = delta->after_status[i];
    if (e->d->rows[i].flag != NETPROF_FLAG_UNKNOWN) return netprof_flag_name((netprof_flag)e->d->rows[i].flag);
    return netprof_status_name((netprof_status)(after == NETPROF_STATUS_OK ? before : after));
}

static void cells_set_event(const comparer *m, const comparison_line *line, sample *s, size_t place)
{
    double units = cells_units_per_second(line->unit, evaluation_clock(&m->runs[s->run], place));
    s->event = units > 0 && s->seconds > 0 ? fmax(1, time_event * units * s->seconds) : 1;
}

sample cells_sample(const comparer *m, const comparison_line *line, size_t device, size_t run)
{
    const evaluation *e = &m->runs[run];
    size_t place = comparer_place(m, device, run);
    size_t i = place == DIFFERENCE_NONE ? DIFFERENCE_NONE : evaluation_counter(e, place, line->name);
    sample s = {.side = m->c->runs[run]->side,
                .run = run,
                .reason = "absent",
                .count = NAN,
                .seconds = NAN,
                .bytes = m->bytes[run * m->c->device_count + device]};
    if (i == DIFFERENCE_NONE) return s;
    const difference_row *row = &e->d->rows[i];
    int64_t elapsed_ns = e->d->delta->elapsed_ns[i];
    s.reason = cells_reason(e, i);
    s.known = (row->flag == NETPROF_FLAG_OK || row->flag == NETPROF_FLAG_WRAPPED) && !row->negative;
    if (!s.known) return s;
    s.exact = row->magnitude;
    s.count = (double)row->magnitude;
    s.seconds = elapsed_ns > 0 ? (double)elapsed_ns / 1e9 : NAN;
    cells_set_event(m, line, &s, place);
    if (line->time_driven) s.bytes = NAN;
    return s;
}

void cells_assume_nothing(const comparer *m, const comparison_line *line, size_t device, sample *samples)
{
    const comparison *c = m->c;
    size_t has[COMPARISON_SIDES] = {0, 0};
    for (size_t r = 0; r < c->run_count; r++) {
        if (comparer_place(m, device, r) == DIFFERENCE_NONE) return;
        has[samples[r].side] += strcmp(samples[r].reason, "absent") != 0;
    }
    if (!has[0] == !has[1] || !m->same_makers[device]) return;
    comparison_side side = has[COMPARISON_HEALTHY] ? COMPARISON_FAULTY : COMPARISON_HEALTHY;
    for (size_t r = 0; r < c->run_count; r++) {
        sample *s = &samples[r];
        size_t place = comparer_place(m, device, r);
        int64_t elapsed_ns = c->runs[r]->d.devices[place].elapsed_ns;
        if (s->side != side) continue;
        s->known = true;
        s->exact = 0;
        s->count = 0;
        s->seconds = elapsed_ns > 0 ? (double)elapsed_ns / 1e9 : NAN;
        cells_set_event(m, line, s, place);
    }
}

static size_t cells_values(const sample *samples, size_t count, comparison_side side, comparison_basis basis,
                           double *values)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        double rate = cells_rate(&samples[i], basis);
        if (samples[i].side == side && !isnan(rate)) values[n++] = rate;
    }
    return n;
}

static yardstick cells_yardstick(const sample *samples, size_t count, comparison_basis basis, double *values)
{
    yardstick y = {.known = false};
    size_t n = cells_values(samples, count, COMPARISON_HEALTHY, basis, values), k = 0;
    y.healthy = comparison_range_of(values, n);
    for (size_t i = 0; i < count; i++)
        if (samples[i].side == COMPARISON_HEALTHY && !isnan(cells_rate(&samples[i], basis)))
            values[k++] = cells_exposure(&samples[i], basis);
    y.exposure = comparison_median(values, k);
    k = 0;
    for (size_t i = 0; i < count; i++)
        if (samples[i].side == COMPARISON_HEALTHY && samples[i].known) values[k++] = samples[i].event;
    y.event = comparison_median(values, k);
    y.known = n > 0;
    return y;
}

// One or two healthy runs tell nothing of how much a device varies; devices that are alike do.
cells_peers cells_peers_of(const comparer *m, const comparison_line *line, const sample *samples, double *values)
{
    enum { LEAST_DEVICES = 3, ENOUGH_RUNS = 3 };
    const comparison *c = m->c;
    cells_peers peers = {{{NAN, NAN, NAN}, {NAN, NAN, NAN}, {NAN, NAN, NAN}}};
    if (c->side_count[COMPARISON_HEALTHY] >= ENOUGH_RUNS) return peers;
    for (int basis = COMPARISON_PER_SECOND; basis <= COMPARISON_PER_BYTE; basis++) {
        size_t n = 0, devices = 0;
        for (size_t i = 0; i < line->device_count; i++) {
            if (!c->devices[line->first_device + i].physical) continue;
            size_t more = cells_values(&samples[i * c->run_count], c->run_count, COMPARISON_HEALTHY,
                                       (comparison_basis)basis, values + n);
            devices += more > 0;
            n += more;
        }
        if (devices >= LEAST_DEVICES) peers.by[basis] = comparison_range_of(values, n);
    }
    return peers;
}

// More than chance: counts vary as their root does, in events.
static bool cells_is_beyond_chance(const sample *s, const yardstick *y, double edge, comparison_basis basis)
{
    double exposure = cells_exposure(s, basis), scale = exposure / y->exposure;
    double count = s->count / s->event, expected = edge * exposure / s->event;
    double healthy = edge * y->exposure / y->event;
    double variance = count + 1 + (healthy + 1) * scale * scale * (y->event / s->event) * (y->event / s->event);
    return fabs(count - expected) >= LEAST_SIGMAS * sqrt(variance);
}

static double cells_floor(const comparison_line *line, const sample *s)
{
    // Time's event is so many units: the floor is as many times larger as its share is.
    return s->event > 1 ? s->event / s->seconds * (time_floor / time_event) : limits[line->kind].floor_per_s;
}

// How much more or less a faulty run has than the healthy ones, as log2; 0 when it is no difference.
static double cells_deviation(const comparison_line *line, const sample *s, const yardstick *y, comparison_basis basis)
{
    double rate = cells_rate(s, basis), exposure = cells_exposure(s, basis);
    if (isnan(rate) || !y->known) return 0;
    double edge = fmin(fmax(rate, y->healthy.min), y->healthy.max);
    double own = s->event / exposure, theirs = y->event / y->exposure;
    bool first_error = line->kind == COMPARISON_ERRORS && !(y->healthy.max > 0) && s->count > 0;
    double more = fmax(rate + own, edge + theirs), less = fmin(rate + own, edge + theirs);
    if (rate >= edge && rate <= edge) return 0; // within the range
    if (!first_error && !cells_is_beyond_chance(s, y, edge, basis)) return 0;
    if (!first_error && more < limits[line->kind].ratio * less) return 0;
    if (fabs(rate - edge) * exposure / s->seconds < cells_floor(line, s)) return 0;
    double far = log2((rate + own) / (y->healthy.median + theirs));
    if (first_error) return fmax(far, 0.1); // also when it came in a much longer run
    return (far > 0) == (rate > edge) ? far : 0;
}

// By the basis of the comparison: the milder of the two counts, where they agree on the direction.
static double cells_judged_deviation(const comparison *c, const comparison_line *line, const sample *s,
                                     const yardstick *by)
{
    double second = cells_deviation(line, s, &by[COMPARISON_PER_SECOND], COMPARISON_PER_SECOND);
    if (c->basis == COMPARISON_PER_SECOND || line->kind == COMPARISON_BYTES || line->time_driven) return second;
    bool has_bytes = by[COMPARISON_PER_BYTE].known && s->bytes > 0;
    double byte = has_bytes ? cells_deviation(line, s, &by[COMPARISON_PER_BYTE], COMPARISON_PER_BYTE) : 0;
    bool has_time = by[COMPARISON_PER_SECOND].known && s->seconds > 0;
    if (c->basis == COMPARISON_PER_BYTE || !has_time) return byte;
    if (!has_bytes) return second;
    if (second * byte <= 0) return 0;
    return fabs(second) < fabs(byte) ? second : byte;
}

static comparison_amount cells_amount(const sample *samples, size_t count, comparison_side side, double *values)
{
    comparison_amount a = {.count = NAN};
    size_t n = cells_values(samples, count, side, COMPARISON_PER_SECOND, values);
    a.per_s = comparison_range_of(values, n);
    n = cells_values(samples, count, side, COMPARISON_PER_BYTE, values);
    a.per_byte = comparison_range_of(values, n);
    for (size_t i = 0; i < count; i++) {
        if (samples[i].side != side || !samples[i].known) continue;
        values[a.runs++] = samples[i].count;
        a.exact = samples[i].exact;
    }
    a.count = comparison_median(values, a.runs);
    return a;
}

static double cells_robust_z(const sample *samples, size_t count, const yardstick *y, double worst, double *values)
{
    size_t n = cells_values(samples, count, COMPARISON_HEALTHY, COMPARISON_PER_SECOND, values);
    if (n < 3) return NAN;
    for (size_t i = 0; i < n; i++)
        values[i] = fabs(values[i] - y->healthy.median);
    double spread = fmax(1.4826 * comparison_median(values, n), y->event / y->exposure);
    return (worst - y->healthy.median) / spread;
}

static double cells_ratio(double faulty, double healthy)
{
    return faulty > 0 && healthy > 0 ? faulty / healthy : NAN;
}

static void cells_choose_state(comparison_cell *cell, const sample *samples, size_t count)
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

// Of an even number the milder of the two in the middle; 0 when they disagree on the direction.
static double cells_middle(double *deviations, size_t count)
{
    (void)comparison_median(deviations, count); // in order
    double a = deviations[(count - 1) / 2], b = deviations[count / 2];
    if (a * b < 0) return 0;
    return fabs(a) < fabs(b) ? a : b;
}

// The faulty run that deviates most; of runs that do not, the one with the largest rate. What counts is the middle one.
static const sample *cells_find_worst(const comparison *c, const comparison_line *line, comparison_cell *cell,
                                      const sample *samples, size_t count, const yardstick *by, double *deviations)
{
    const sample *worst = NULL;
    double most = 0;
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        const sample *s = &samples[i];
        if (s->side != COMPARISON_FAULTY || !s->known) continue;
        double deviates = cells_judged_deviation(c, line, s, by);
        deviations[known++] = deviates;
        cell->outside += fabs(deviates) > 0;
        bool further =
            fabs(deviates) > fabs(most) || (fabs(deviates) >= fabs(most) && worst && s->count > worst->count);
        if (worst && !further) continue;
        worst = s;
        most = deviates;
    }
    double middle = cells_middle(deviations, known);
    cell->direction = middle > 0 ? 1 : middle < 0 ? -1 : 0;
    cell->score = fabs(middle) * comparison_weight(line->kind);
    return worst;
}

const char *cells_unknown_reason(const sample *samples, size_t count, comparison_side side)
{
    const char *reason = "absent";
    for (size_t i = 0; i < count; i++)
        if (samples[i].side == side && strcmp(samples[i].reason, "absent") != 0) reason = samples[i].reason;
    return reason;
}

// How the runs' ranks fall: by the basis that they are compared by.
static double cells_chance(const comparison *c, const sample *samples, size_t count, int direction, double *values)
{
    comparison_basis basis = c->basis == COMPARISON_PER_BYTE ? COMPARISON_PER_BYTE : COMPARISON_PER_SECOND;
    size_t h = cells_values(samples, count, COMPARISON_HEALTHY, basis, values);
    size_t f = cells_values(samples, count, COMPARISON_FAULTY, basis, values + h);
    return h && f && direction ? chance_of_ranks(values, h, values + h, f, direction) : NAN;
}

comparison_cell cells_make(const comparison *c, const comparison_line *line, const sample *samples, size_t count,
                           const cells_peers *peers, double *values)
{
    comparison_cell cell = {.chance = NAN,
                            .ratio_per_s = NAN,
                            .ratio_per_byte = NAN,
                            .worst_per_s = NAN,
                            .worst_per_byte = NAN,
                            .worst_run = DIFFERENCE_NONE,
                            .z = NAN};
    yardstick by[COMPARISON_PER_BYTE + 1] = {{.known = false}};
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        cell.side[side] = cells_amount(samples, count, (comparison_side)side, values);
        if (!cell.side[side].runs) cell.reason = cells_unknown_reason(samples, count, (comparison_side)side);
    }
    if (cell.reason) return cell;
    for (int basis = COMPARISON_PER_SECOND; basis <= COMPARISON_PER_BYTE; basis++) {
        by[basis] = cells_yardstick(samples, count, (comparison_basis)basis, values);
        if (!by[basis].known || isnan(peers->by[basis].median)) continue;
        by[basis].healthy.min = fmin(by[basis].healthy.min, peers->by[basis].min);
        by[basis].healthy.max = fmax(by[basis].healthy.max, peers->by[basis].max);
    }
    const sample *worst = cells_find_worst(c, line, &cell, samples, count, by, values);
    cells_choose_state(&cell, samples, count);
    cell.worst_run = worst->run;
    cell.worst_per_s = cells_rate(worst, COMPARISON_PER_SECOND);
    cell.worst_per_byte = cells_rate(worst, COMPARISON_PER_BYTE);
    const comparison_amount *middle = &cell.side[COMPARISON_FAULTY];
    cell.ratio_per_s = cells_ratio(middle->per_s.median, by[COMPARISON_PER_SECOND].healthy.median);
    cell.ratio_per_byte = cells_ratio(middle->per_byte.median, by[COMPARISON_PER_BYTE].healthy.median);
    cell.z = cells_robust_z(samples, count, &by[COMPARISON_PER_SECOND], middle->per_s.median, values);
    cell.chance = cells_chance(c, samples, count, cell.direction, values);
    return cell;
}
