// Points; where there are too many to be seen singly, how dense they are.
#include "chart_private.h"

#include "analysis/base/memory.h"
#include "charts_plots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ACROSS = 300, UP = 150, MOST_SETS = 8 };

typedef struct scatter {
    arena *memory;
    scatter_style style;
    scatter_set *sets; // x and y: NULL when they are only a density
    size_t count, points, most;
    uint16_t *density;                   // NULL: points
    double *xs, *medians, *lows, *highs; // of a density: quantiles along x
    size_t columns;
} scatter;

static double scatter_draw_keys(const scatter *s, canvas *c, double left, double y, double width, bool draw)
{
    axes_key keys[MOST_SETS + 2];
    size_t n = 0;
    for (size_t i = 0; !s->density && i < s->count && i < MOST_SETS; i++)
        keys[n++] = (axes_key){s->sets[i].label, SWATCH_DOT, s->sets[i].ink, INK_NONE, 0};
    if (s->density) {
        keys[n++] = (axes_key){"median", SWATCH_LINE, INK_TEXT, INK_NONE, 0};
        keys[n++] = (axes_key){"5 % and 95 %", SWATCH_DASHED, INK_TEXT, INK_NONE, 0};
    }
    return fmax(axes_draw_key(c, keys, n, left, y, width - (s->density ? 100 : 0), draw), s->density ? 15 : 0);
}

static double scatter_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    const scatter *s = x->data;
    (void)from;
    (void)count;
    return scatter_draw_keys(s, c, 0, 0, width, false) + 4 + (s->style.height > 0 ? s->style.height : 170) +
           axes_x_height(c, &s->style.x_scale);
}

static void scatter_draw_points(canvas *c, const scatter *s, const axes *a)
{
    plot_series series[MOST_SETS];
    size_t n = 0;
    for (size_t i = 0; i < s->count && n < MOST_SETS; i++)
        series[n++] = (plot_series){.kind = PLOT_POINTS,
                                    .ink = s->sets[i].ink,
                                    .line_width = s->points > 1000 ? 0.9 : 1.4,
                                    .x = s->sets[i].x,
                                    .y = s->sets[i].y,
                                    .count = s->sets[i].count};
    plot p = {a->x.axis, a->y.axis, series, n};
    canvas_plot(c, a->box, &p);
}

static void scatter_draw_density(canvas *c, const scatter *s, const axes *a)
{
    const plot_series series[3] = {
        {.kind = PLOT_LINE, .ink = INK_TEXT, .line_width = 1.2, .x = s->xs, .y = s->medians, .count = s->columns},
        {.kind = PLOT_LINE,
         .ink = INK_TEXT,
         .line_width = 0.7,
         .dashed = true,
         .x = s->xs,
         .y = s->lows,
         .count = s->columns},
        {.kind = PLOT_LINE,
         .ink = INK_TEXT,
         .line_width = 0.7,
         .dashed = true,
         .x = s->xs,
         .y = s->highs,
         .count = s->columns}};
    plot p = {a->x.axis, a->y.axis, series, 3};
    canvas_plot(c, a->box, &p);
}

static void scatter_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const scatter *s = x->data;
    double keys = scatter_draw_keys(s, c, box.x, box.y, box.width, true) + 4;
    axes a = {{0, box.y + keys, 0, box.height - keys - axes_x_height(c, &s->style.x_scale)},
              s->style.x_scale,
              s->style.y_scale};
    double tics = axes_label_width(c, &a.y, a.box.height) + 6;
    (void)from;
    (void)count;
    a.box.x = box.x + tics;
    a.box.width = box.width - tics;
    if (s->density) canvas_image(c, a.box, s->density, ACROSS, UP);
    axes_draw_y(c, &a);
    if (s->density) {
        char most[64];
        snprintf(most, sizeof most, "%zu points", s->most);
        axes_draw_ramp(c, box.x + box.width, box.y, INK_BLUE, "1", most);
        scatter_draw_density(c, s, &a);
    } else {
        scatter_draw_points(c, s, &a);
    }
    axes_draw_x(c, &a, a.box.x - 8, box.x + box.width);
}

// ---- the density of many ----

static int scatter_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The point at a share of the sorted values, between two of them when need be.
static double scatter_quantile(const double *sorted, size_t count, double share)
{
    double place = share * (double)(count - 1);
    size_t below = (size_t)place;
    if (below + 1 >= count) return sorted[count - 1];
    return sorted[below] + (place - (double)below) * (sorted[below + 1] - sorted[below]);
}

typedef struct place {
    double x, y;
} place;

// Quantiles of the y values in each of some columns along the axis; columns with less than eight points have none.
static void scatter_make_quantiles(scatter *s, const place *points, size_t count)
{
    enum { COLUMNS = 60, LEAST = 8 };
    size_t *starts = arena_make(s->memory, COLUMNS + 1, sizeof *starts);
    double *sorted = memory_array(NULL, count, sizeof *sorted), *all = arena_make(s->memory, 4 * COLUMNS, sizeof *all);
    plot_axis axis = s->style.x_scale.axis;
    s->xs = all, s->medians = all + COLUMNS, s->lows = all + 2 * COLUMNS, s->highs = all + 3 * COLUMNS;
    s->columns = COLUMNS;
    for (size_t pass = 0; pass < 2; pass++) { // count, then fill: a sort by column
        size_t next[COLUMNS];
        for (size_t k = 0; k < COLUMNS; k++)
            next[k] = starts[k];
        for (size_t i = 0; i < count; i++) {
            double at = plot_at(axis, points[i].x);
            if (!(at >= 0 && at <= 1) || isnan(points[i].y)) continue;
            size_t column = at < 1 ? (size_t)(at * COLUMNS) : COLUMNS - 1;
            if (pass)
                sorted[next[column]++] = points[i].y;
            else
                starts[column + 1]++;
        }
        for (size_t k = 0; k < COLUMNS && !pass; k++)
            starts[k + 1] += starts[k];
    }
    for (size_t k = 0; k < COLUMNS; k++) {
        size_t n = starts[k + 1] - starts[k];
        double at = ((double)k + 0.5) / COLUMNS, *of = sorted + starts[k];
        qsort(of, n, sizeof *of, scatter_by_value);
        s->xs[k] = axis.log ? axis.min * pow(axis.max / axis.min, at) : axis.min + at * (axis.max - axis.min);
        s->medians[k] = n >= LEAST ? scatter_quantile(of, n, 0.5) : NAN;
        s->lows[k] = n >= LEAST ? scatter_quantile(of, n, 0.05) : NAN;
        s->highs[k] = n >= LEAST ? scatter_quantile(of, n, 0.95) : NAN;
    }
    free(sorted);
}

// The most points of one cell, for the key.
static size_t scatter_most_of(const scatter *s, const place *points, size_t count)
{
    size_t most = 0, *cells = memory_calloc((size_t)ACROSS * UP, sizeof *cells);
    for (size_t i = 0; i < count; i++) {
        double x = plot_at(s->style.x_scale.axis, points[i].x), y = plot_at(s->style.y_scale.axis, points[i].y);
        if (!(x >= 0 && x <= 1 && y >= 0 && y <= 1)) continue;
        size_t column = x < 1 ? (size_t)(x * ACROSS) : ACROSS - 1, row = y < 1 ? (size_t)(y * UP) : UP - 1;
        if (++cells[row * ACROSS + column] > most) most = cells[row * ACROSS + column];
    }
    free(cells);
    return most;
}

static void scatter_make_density(scatter *s, const scatter_set *sets)
{
    double *xs = memory_array(NULL, 2 * s->points, sizeof *xs), *ys = xs + s->points;
    place *all = memory_array(NULL, s->points, sizeof *all);
    size_t n = 0;
    s->density = arena_make(s->memory, (size_t)ACROSS * UP, sizeof *s->density);
    for (size_t i = 0; i < s->count; i++)
        for (size_t k = 0; k < sets[i].count; k++, n++) {
            xs[n] = all[n].x = sets[i].x[k];
            ys[n] = all[n].y = sets[i].y[k];
        }
    plot_density(s->style.x_scale.axis, s->style.y_scale.axis, xs, ys, n, INK_BLUE, ACROSS, UP, s->density);
    // No transparent pixels: where a viewer smooths the picture, they would show as dark edges.
    for (size_t i = 0; i < (size_t)ACROSS * UP; i++)
        if (s->density[i] == INK_NONE) s->density[i] = INK_PAPER;
    scatter_make_quantiles(s, all, n);
    s->most = scatter_most_of(s, all, n);
    free(xs);
    free(all);
}

// ---- making it ----

static void scatter_table_of_points(chart_twin *t, const scatter *s)
{
    t->columns = 3;
    t->right = 6;
    chart_cell(t, "set");
    chart_cell(t, s->style.x_head);
    chart_cell(t, s->style.y_head);
    for (size_t i = 0; i < s->count; i++)
        for (size_t k = 0; k < s->sets[i].count; k++) {
            chart_cell(t, s->sets[i].label);
            chart_cellf(t, "%.10g", s->sets[i].x[k]);
            chart_cellf(t, "%.10g", s->sets[i].y[k]);
        }
}

static void scatter_table_of_quantiles(chart_twin *t, const scatter *s)
{
    static const char *const ends[] = {"5 %", "median", "95 %"};
    t->columns = 4;
    t->right = 0xf;
    chart_cell(t, s->style.x_head);
    for (size_t i = 0; i < 3; i++)
        chart_cellf(t, "%s, %s", s->style.y_head, ends[i]);
    for (size_t k = 0; k < s->columns; k++) {
        const double of[3] = {s->lows[k], s->medians[k], s->highs[k]};
        if (isnan(of[1])) continue;
        chart_cellf(t, "%.6g", s->xs[k]);
        for (size_t i = 0; i < 3; i++)
            chart_cellf(t, "%.6g", of[i]);
    }
}

// Axes over all sets, without a copy of them.
static plot_axis scatter_axis_of(plot_axis wanted, const scatter_set *sets, size_t count, bool up)
{
    double ends[2] = {NAN, NAN};
    if (wanted.max > wanted.min) return wanted;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < sets[i].count; k++) {
            double v = up ? sets[i].y[k] : sets[i].x[k];
            if (!isfinite(v) || (wanted.log && v <= 0)) continue;
            ends[0] = fmin(v, ends[0]);
            ends[1] = fmax(v, ends[1]);
        }
    plot_axis axis = plot_axis_for(ends, 2, wanted.log);
    axis.binary = wanted.binary;
    if (!up && !wanted.log && ends[1] > 0 && ends[1] > ends[0]) axis.max = ends[1]; // no empty end
    return axis;
}

static void scatter_copy_points(scatter *s)
{
    for (size_t i = 0; i < s->count; i++) {
        s->sets[i].x = s->density ? NULL : arena_copy(s->memory, s->sets[i].x, s->sets[i].count, sizeof(double));
        s->sets[i].y = s->density ? NULL : arena_copy(s->memory, s->sets[i].y, s->sets[i].count, sizeof(double));
    }
}

chart chart_scatter(chart_head head, const scatter_style *style, const scatter_set *sets, size_t count)
{
    chart x;
    scatter *s = chart_begin(&x, head, sizeof *s);
    s->style = *style;
    s->style.x_head = arena_text(s->memory, style->x_head);
    s->style.y_head = arena_text(s->memory, style->y_head);
    s->style.x_scale.unit = arena_text(s->memory, style->x_scale.unit);
    s->style.y_scale.unit = arena_text(s->memory, style->y_scale.unit);
    s->style.x_scale.title = style->x_scale.title ? arena_text(s->memory, style->x_scale.title) : s->style.x_head;
    s->style.y_scale.title = style->y_scale.title ? arena_text(s->memory, style->y_scale.title) : s->style.y_head;
    s->style.x_scale.axis = scatter_axis_of(style->x_scale.axis, sets, count, false);
    s->style.y_scale.axis = scatter_axis_of(style->y_scale.axis, sets, count, true);
    s->sets = arena_copy(s->memory, sets, count, sizeof *sets);
    s->count = s->sets ? count : 0;
    for (size_t i = 0; i < s->count; i++) {
        s->sets[i].label = arena_text(s->memory, sets[i].label);
        s->points += sets[i].count;
    }
    if (s->points > PLOT_POINTS_MAX) scatter_make_density(s, sets);
    scatter_copy_points(s);
    x.draw = scatter_draw;
    x.height = scatter_height;
    (s->density ? scatter_table_of_quantiles : scatter_table_of_points)(&x.twin, s);
    return x;
}
