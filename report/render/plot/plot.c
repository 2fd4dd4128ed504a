#include "plot.h"
#include "plot_parts.h"

#include "analysis/base/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- axes ----

// Less is nothing: numbers near the smallest of all have few digits, and powers of the base below them are zero.
static const double least = 1e-290;

// The least round number >= value >= least: a digit of the list times a power of the base.
static double plot_round_up(double value, double base, const double *digits, size_t count)
{
    double power = pow(base, floor(log(value) / log(base)));
    for (;;) {
        for (size_t i = 0; i < count; i++)
            if (digits[i] * power >= value * (1 - 1e-9)) return digits[i] * power;
        power *= base;
    }
}

// Multiples of step from min to max, or 0 when there are more than `most`.
static size_t plot_multiples(double min, double max, double step, size_t most, double tics[10])
{
    double slack = 1e-9 * (max - min), first = ceil((min - slack) / step), last = floor((max + slack) / step);
    if (last - first + 1 > (double)most || last < first) return 0;
    size_t count = (size_t)(last - first) + 1;
    for (size_t i = 0; i < count; i++) {
        tics[i] = (first + (double)i) * step;
        if (fabs(tics[i]) < slack) tics[i] = 0;
    }
    return count;
}

static size_t plot_linear_tics(plot_axis axis, size_t most, double tics[10])
{
    static const double decimal[] = {1, 2, 2.5, 5, 10};
    static const double binary[] = {1, 2};
    double range = axis.max - axis.min, step = range / (double)most;
    if (!(range >= 10 * least) || !isfinite(range)) return 0;
    for (int tries = 0; tries < 16; tries++) {
        step = axis.binary ? plot_round_up(step, 2, binary, 2) : plot_round_up(step, 10, decimal, 5);
        if (!isfinite(step)) return 0;
        size_t count = plot_multiples(axis.min, axis.max, step, most, tics);
        if (count) return count;
        step *= 1.01;
    }
    return 0;
}

static size_t plot_log_tics(plot_axis axis, size_t most, double tics[10])
{
    static const double between[] = {1, 2, 5};
    double base = axis.binary ? 2 : 10, slack = 1e-9;
    double first = ceil(log(axis.min) / log(base) - slack), last = floor(log(axis.max) / log(base) + slack);
    double stride = ceil((last - first + 1) / (double)most);
    size_t count = 0;
    if (last > first) {
        for (double power = first; power <= last + slack; power += stride)
            tics[count++] = pow(base, power);
        return count;
    }
    for (double power = first - 1; power <= last + 1 && !axis.binary; power++)
        for (size_t i = 0; i < 3; i++) {
            double tic = between[i] * pow(10, power);
            if (tic < axis.min * (1 - slack) || tic > axis.max * (1 + slack)) continue;
            if (count == most) return plot_linear_tics(axis, most, tics);
            tics[count++] = tic;
        }
    return count > 1 ? count : plot_linear_tics(axis, most, tics);
}

size_t plot_tics(plot_axis axis, size_t most, double tics[10])
{
    if (most > 10) most = 10;
    // Nothing between them that a double could tell apart.
    if (!most || !(axis.max - axis.min > 1e-12 * fmax(fabs(axis.min), fabs(axis.max)))) return 0;
    if (!axis.log) return plot_linear_tics(axis, most, tics);
    return axis.min > 0 ? plot_log_tics(axis, most, tics) : 0;
}

static double plot_round_end(double value)
{
    static const double digits[] = {1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10};
    if (fabs(value) < least) return 0;
    double end = plot_round_up(fabs(value), 10, digits, sizeof digits / sizeof *digits);
    if (!isfinite(end)) end = fabs(value);
    return value < 0 ? -end : end;
}

static plot_axis plot_log_axis(double low, double high)
{
    plot_axis axis = {1, 10, true, false};
    if (!(high > 0)) return axis;
    axis.min = pow(10, floor(log10(low) + 1e-9));
    axis.max = pow(10, ceil(log10(high) - 1e-9));
    if (axis.min == 0) axis.min = DBL_MIN;
    if (!isfinite(axis.max)) axis.max = DBL_MAX;
    if (!(axis.max > axis.min)) axis.max = axis.min * 10;
    return axis;
}

plot_axis plot_axis_for(const double *values, size_t count, bool log)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i]) || (log && values[i] <= 0)) continue;
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    if (log) return plot_log_axis(low, high);
    plot_axis axis = {0, 1, false, false};
    if (!(high >= low)) return axis;
    axis.min = low < 0 ? plot_round_end(low) : 0;
    axis.max = high > 0 ? plot_round_end(high) : 0;
    if (axis.min == axis.max) axis.max = 1;
    return axis;
}

// ---- density ----

static size_t plot_cell_of(double at, size_t cells)
{
    size_t cell = (size_t)(at * (double)cells);
    return cell < cells ? cell : cells - 1;
}

void plot_density(plot_axis x, plot_axis y, const double *xs, const double *ys, size_t count, theme_ink ramp,
                  size_t columns, size_t rows, uint16_t *inks)
{
    size_t cells = columns * rows, most = 0;
    size_t *counts = memory_calloc(cells, sizeof *counts);
    for (size_t i = 0; i < count && cells; i++) {
        double across = plot_at(x, xs[i]), up = plot_at(y, ys[i]);
        if (!(across >= 0 && across <= 1 && up >= 0 && up <= 1)) continue;
        size_t *cell = &counts[(rows - 1 - plot_cell_of(up, rows)) * columns + plot_cell_of(across, columns)];
        if (++*cell > most) most = *cell;
    }
    for (size_t i = 0; i < cells; i++) {
        double share = most > 1 ? log((double)counts[i]) / log((double)most) : 1;
        inks[i] = counts[i] ? (uint16_t)theme_ramp(ramp, 0.15 + 0.85 * share) : INK_NONE;
    }
    free(counts);
}

// ---- what is drawn singly ----

size_t plot_points(const plot *p)
{
    size_t points = 0;
    for (size_t i = 0; i < p->series_count; i++)
        points += p->series[i].count;
    return points;
}
