// A value over size: how near to the peak, and from which size on.
#include "chart_private.h"
#include "charts_plots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct curve {
    arena *memory;
    curve_style style;
    curve_line *lines;
    size_t count;
} curve;

static axes_key curve_key_of(const curve_line *l, size_t nth)
{
    return (axes_key){l->label, l->low ? SWATCH_BAND : l->dashed ? SWATCH_DASHED : SWATCH_LINE, l->ink, l->pale, nth};
}

static double curve_draw_keys(const curve *v, canvas *c, double left, double y, double width, bool draw)
{
    enum { MOST = 16 };
    axes_key keys[MOST];
    size_t count = v->count < MOST ? v->count : MOST;
    for (size_t i = 0; i < count; i++)
        keys[i] = curve_key_of(&v->lines[i], i);
    return axes_draw_key(c, keys, count, left, y, width, draw);
}

static double curve_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    const curve *v = x->data;
    (void)from;
    (void)count;
    return curve_draw_keys(v, c, 0, 0, width, false) + 4 + (v->style.height > 0 ? v->style.height : 150) +
           axes_x_height(c, &v->style.x_scale);
}

static void curve_draw_data(canvas *c, const curve *v, const axes *a)
{
    enum { MOST = 16 };
    plot_series series[3 * MOST];
    size_t n = 0, lines = v->count < MOST ? v->count : MOST, points = v->style.count;
    for (size_t i = 0; i < lines; i++)
        if (v->lines[i].low && v->lines[i].high)
            series[n++] = (plot_series){.kind = PLOT_BAND,
                                        .ink = v->lines[i].pale,
                                        .x = v->style.x,
                                        .y = v->lines[i].low,
                                        .y2 = v->lines[i].high,
                                        .count = points};
    for (size_t i = 0; i < lines; i++) {
        const curve_line *l = &v->lines[i];
        series[n++] = (plot_series){.kind = PLOT_LINE,
                                    .ink = l->ink,
                                    .line_width = l->dashed ? 1 : 1.5,
                                    .dashed = l->dashed,
                                    .nth = i,
                                    .x = v->style.x,
                                    .y = l->y,
                                    .count = points};
        if (!l->dashed)
            series[n++] = (plot_series){.kind = PLOT_POINTS,
                                        .ink = l->ink,
                                        .line_width = 1.8,
                                        .x = v->style.x,
                                        .y = l->y,
                                        .count = points,
                                        .nth = i};
    }
    plot p = {a->x.axis, a->y.axis, series, n};
    canvas_plot(c, a->box, &p);
}

// Labels the last point of a line, unless the label would meet another one.
static void curve_draw_ends(canvas *c, const curve *v, const axes *a)
{
    double taken = INFINITY;
    for (size_t i = 0; i < v->count; i++) {
        const curve_line *l = &v->lines[i];
        size_t last = v->style.count;
        while (last && isnan(l->y[last - 1]))
            last--;
        if (!last || !*l->end_label) continue;
        double x = axes_x(a, v->style.x[last - 1]), y = axes_y(a, l->y[last - 1]) - 6;
        if (l->high && l->high[last - 1] > l->y[last - 1]) y = axes_y(a, l->high[last - 1]) - 4;
        y = fmax(y, a->box.y + 7);
        if (fabs(y - taken) < 9) y = taken + 10;
        taken = y;
        double right = a->box.x + a->box.width;
        canvas_text(c, fmin(x, right), y, l->end_label, TYPE_TABLE_STRONG,
                    l->dashed ? INK_SECONDARY : canvas_line_ink(c, l->ink, i), ALIGN_RIGHT, 120);
    }
}

static number_text curve_x_text(const axes_scale *s, double value)
{
    return s->format == AXES_BINARY ? number_binary(value)
           : s->format == AXES_SI   ? number_prefixed(value, s->unit)
                                    : number_duration(value);
}

static void curve_draw_hovers(canvas *c, const curve *v, const axes *a)
{
    const curve_style *s = &v->style;
    for (size_t i = 0; i < s->count; i++) {
        double x = axes_x(a, s->x[i]), before = i ? axes_x(a, s->x[i - 1]) : x,
               behind = i + 1 < s->count ? axes_x(a, s->x[i + 1]) : x;
        double left = fmax((x + before) / 2, a->box.x), right = fmin((x + behind) / 2, a->box.x + a->box.width);
        char text[800];
        int used = snprintf(text, sizeof text, "%s:", curve_x_text(&s->x_scale, s->x[i]).text);
        for (size_t k = 0; k < v->count && used > 0 && (size_t)used < sizeof text; k++)
            used += snprintf(text + used, sizeof text - (size_t)used, "%s %.60s %s", k ? "," : "", v->lines[k].label,
                             number_prefixed(v->lines[k].y[i], s->y_scale.unit).text);
        if (right - left < 4) right = left + 4;
        canvas_hover(c, (canvas_box){left, a->box.y, right - left, a->box.height}, text);
    }
}

static void curve_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const curve *v = x->data;
    double keys = curve_draw_keys(v, c, box.x, box.y, box.width, true) + 4;
    axes a = {{0, box.y + keys, 0, box.height - keys - axes_x_height(c, &v->style.x_scale)},
              v->style.x_scale,
              v->style.y_scale};
    double tics = axes_label_width(c, &a.y, a.box.height) + 6;
    (void)from;
    (void)count;
    a.box.x = box.x + tics;
    a.box.width = box.width - tics;
    axes_draw_y(c, &a);
    curve_draw_data(c, v, &a);
    if (!isnan(v->style.peak)) {
        double y = axes_y(&a, v->style.peak);
        canvas_line(c, a.box.x, y, a.box.x + a.box.width, y, INK_TEXT, 1.2);
        canvas_text(c, a.box.x + 4, y + 8, v->style.peak_label, TYPE_TABLE_STRONG, INK_TEXT, ALIGN_LEFT,
                    a.box.width / 2);
    }
    curve_draw_ends(c, v, &a);
    axes_draw_x(c, &a, a.box.x - 8, box.x + box.width);
    curve_draw_hovers(c, v, &a);
}

static void curve_make_table(chart_twin *t, const curve *v)
{
    chart_cell(t, v->style.x_scale.format == AXES_BINARY ? "bytes" : v->style.x_scale.unit);
    t->columns = 1;
    for (size_t k = 0; k < v->count; k++) {
        const char *ends[3] = {"", ", low", ", high"};
        for (size_t m = 0; m < (v->lines[k].low ? 3u : 1u); m++, t->columns++)
            chart_cellf(t, "%s%s (%s)", v->lines[k].label, ends[m], v->style.y_scale.unit);
    }
    t->right = ~UINT64_C(0);
    for (size_t i = 0; i < v->style.count; i++) {
        chart_cellf(t, "%.10g", v->style.x[i]);
        for (size_t k = 0; k < v->count; k++) {
            const curve_line *l = &v->lines[k];
            const double *of[3] = {l->y, l->low, l->high};
            for (size_t m = 0; m < (l->low ? 3u : 1u); m++) {
                if (isnan(of[m][i]))
                    chart_cell(t, "not measured");
                else
                    chart_cellf(t, "%.6g", of[m][i]);
            }
        }
    }
}

// All values that the y axis has to hold.
static void curve_complete_scales(curve *v)
{
    const curve_style *s = &v->style;
    double *all = arena_make(v->memory, 3 * v->count * s->count + 1, sizeof *all);
    size_t n = 0;
    for (size_t k = 0; k < v->count; k++)
        for (size_t i = 0; i < s->count; i++) {
            all[n++] = v->lines[k].y[i];
            if (v->lines[k].low) all[n++] = v->lines[k].low[i];
            if (v->lines[k].high) all[n++] = v->lines[k].high[i];
        }
    all[n++] = s->peak;
    v->style.y_scale = axes_complete(s->y_scale, all, n);
    if (s->x_scale.axis.max > s->x_scale.axis.min) return;
    v->style.x_scale.axis =
        (plot_axis){.min = INFINITY, .max = 0, .log = true, .binary = s->x_scale.format == AXES_BINARY};
    plot_axis *x = &v->style.x_scale.axis;
    for (size_t i = 0; i < s->count; i++) {
        if (!(s->x[i] > 0)) continue;
        x->min = fmin(x->min, s->x[i]);
        x->max = fmax(x->max, s->x[i]);
    }
    if (!(x->max > 0)) x->min = 1, x->max = 2;
    if (!(x->max > x->min)) x->min /= 2, x->max *= 2;
}

chart chart_curve(chart_head head, const curve_style *style, const curve_line *lines, size_t count)
{
    chart x;
    curve *v = chart_begin(&x, head, sizeof *v);
    size_t points = style->count;
    v->style = *style;
    v->style.x = arena_copy(v->memory, style->x, points, sizeof(double));
    v->style.x_scale.unit = arena_text(v->memory, style->x_scale.unit);
    v->style.y_scale.unit = arena_text(v->memory, style->y_scale.unit);
    v->style.x_scale.title = arena_text(v->memory, style->x_scale.title);
    v->style.y_scale.title = arena_text(v->memory, style->y_scale.title ? style->y_scale.title : head.title);
    v->style.peak_label = arena_text(v->memory, style->peak_label);
    v->lines = arena_copy(v->memory, lines, count, sizeof *lines);
    v->count = count;
    for (size_t i = 0; i < count; i++) {
        curve_line *l = &v->lines[i];
        l->label = arena_text(v->memory, l->label);
        l->end_label = arena_text(v->memory, l->end_label);
        l->y = arena_copy(v->memory, l->y, points, sizeof(double));
        if (l->low) l->low = arena_copy(v->memory, l->low, points, sizeof(double));
        if (l->high) l->high = arena_copy(v->memory, l->high, points, sizeof(double));
    }
    curve_complete_scales(v);
    x.draw = curve_draw;
    x.height = curve_height;
    curve_make_table(&x.twin, v);
    return x;
}
