// The arithmetic of one counter of one device: rates of both sides, chance, score.
#include "compare_cells.h"

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

static double cells_rate(const sample *s, comparison_basis basis)
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
    double units;
    s.reason = cells_reason(e, i);
    s.known = (row->flag == NETPROF_FLAG_OK || row->flag == NETPROF_FLAG_WRAPPED) && !row->negative;
    if (!s.known) return s;
    s.exact = row->magnitude;
    s.count = (double)row->magnitude;
    s.seconds = elapsed_ns > 0 ? (double)elapsed_ns / 1e9 : NAN;
    units = cells_units_per_second(line->unit, evaluation_clock(e, place));
    s.event = units > 0 && s.seconds > 0 ? fmax(1, time_event * units * s.seconds) : 1;
    if (line->time_driven) s.bytes = NAN;
    return s;
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

// The faulty run that deviates most; of runs that do not, the one with the largest rate.
static const sample *cells_find_worst(const comparison *c, const comparison_line *line, comparison_cell *cell,
                                      const sample *samples, size_t count, const yardstick *by)
{
    const sample *worst = NULL;
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        const sample *s = &samples[i];
        if (s->side != COMPARISON_FAULTY || !s->known) continue;
        double deviates = cells_judged_deviation(c, line, s, by);
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

const char *cells_unknown_reason(const sample *samples, size_t count, comparison_side side)
{
    const char *reason = "absent";
    for (size_t i = 0; i < count; i++)
        if (samples[i].side == side && strcmp(samples[i].reason, "absent") != 0) reason = samples[i].reason;
    return reason;
}

comparison_cell cells_make(const comparison *c, const comparison_line *line, const sample *samples, size_t count,
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
        cell.side[side] = cells_amount(samples, count, (comparison_side)side, values);
        if (!cell.side[side].runs) cell.reason = cells_unknown_reason(samples, count, (comparison_side)side);
    }
    if (cell.reason) return cell;
    for (int basis = COMPARISON_PER_SECOND; basis <= COMPARISON_PER_BYTE; basis++)
        by[basis] = cells_yardstick(samples, count, (comparison_basis)basis, values);
    const sample *worst = cells_find_worst(c, line, &cell, samples, count, by);
    cells_choose_state(&cell, samples, count);
    cell.worst_run = worst->run;
    cell.worst_per_s = cells_rate(worst, COMPARISON_PER_SECOND);
    cell.worst_per_byte = cells_rate(worst, COMPARISON_PER_BYTE);
    cell.ratio_per_s = cells_ratio(cell.worst_per_s, by[COMPARISON_PER_SECOND].healthy.median);
    cell.ratio_per_byte = cells_ratio(cell.worst_per_byte, by[COMPARISON_PER_BYTE].healthy.median);
    cell.z = cells_robust_z(samples, count, &by[COMPARISON_PER_SECOND], cell.worst_per_s, values);
    return cell;
}
