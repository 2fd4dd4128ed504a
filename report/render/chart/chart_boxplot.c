// Box plots: the distribution, not only the mean, side by side.
#include "chart_private.h"

#include "analysis/base/memory.h"
#include "charts_plots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct boxplot {
    arena *memory;
    boxplot_style style;
    boxplot_row *rows;
    size_t count;
} boxplot;

static double boxplot_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    const boxplot *b = x->data;
    (void)c;
    (void)width;
    (void)from;
    (void)count;
    return (b->style.height > 0 ? b->style.height : 130) + AXES_X_HEIGHT + 4;
}

static number_text boxplot_value_text(const boxplot *b, double value)
{
    const axes_scale *s = &b->style.y_scale;
    switch (s->format) {
    case AXES_BINARY: return number_binary(value);
    case AXES_PERCENT: return number_percent(value);
    case AXES_TIME:
    case AXES_DURATION: return number_duration(value);
    default: return number_prefixed(value, s->unit);
    }
}

// Boxes of one ink are one series.
static void boxplot_draw_boxes(canvas *c, const boxplot *b, const axes *a)
{
    size_t n = b->count, made = 0;
    double(*five)[5] = memory_array(NULL, n, sizeof *five), *x = memory_array(NULL, 2 * n, sizeof *x);
    plot_series *series = memory_array(NULL, n, sizeof *series);
    for (size_t i = 0; i < n; i++) {
        const boxplot_row *r = &b->rows[i];
        const double values[5] = {r->low, r->q1, r->median, r->q3, r->high};
        for (size_t k = 0; k < 5; k++)
            five[i][k] = values[k];
        x[i] = (double)i + 0.5;
        x[n + i] = 0.6;
        if (i && b->rows[i - 1].ink == r->ink)
            series[made - 1].count++;
        else
            series[made++] = (plot_series){.kind = PLOT_BOX,
                                           .ink = r->ink,
                                           .line_width = 0.8,
                                           .x = x + i,
                                           .x2 = x + n + i,
                                           .boxes = (const double(*)[5])five + i,
                                           .count = 1};
    }
    plot p = {a->x.axis, a->y.axis, series, made};
    canvas_plot(c, a->box, &p);
    free(five);
    free(x);
    free(series);
}

// Labels below the boxes: all, or so many as fit.
static void boxplot_draw_labels(canvas *c, const boxplot *b, const axes *a)
{
    double step = a->box.width / (double)b->count, base = a->box.y + a->box.height + 10, taken = a->box.x - 8;
    for (size_t i = 0; i < b->count; i++) {
        double middle = a->box.x + step * ((double)i + 0.5),
               width = fmin(canvas_text_width(c, b->rows[i].label, TYPE_AXIS), 80);
        double left = fmin(fmax(middle - width / 2, a->box.x - 8), a->box.x + a->box.width - width);
        if (left < taken) continue;
        canvas_text(c, left, base, b->rows[i].label, TYPE_AXIS, INK_SECONDARY, ALIGN_LEFT, 80);
        taken = left + width + 5;
    }
}

static void boxplot_draw_hovers(canvas *c, const boxplot *b, const axes *a)
{
    double step = a->box.width / (double)b->count;
    for (size_t i = 0; i < b->count; i++) {
        const boxplot_row *r = &b->rows[i];
        canvas_box box = {a->box.x + step * (double)i, a->box.y, step, a->box.height};
        char text[800];
        if (isnan(r->median)) {
            canvas_hatch(c, (canvas_box){box.x + step * 0.2, box.y, step * 0.6, box.height});
            snprintf(text, sizeof text, "%.60s: not measured", r->label);
        } else {
            snprintf(text, sizeof text, "%.60s: median %s, quartiles %s and %s, %.16s %s, %.16s %s, %zu samples",
                     r->label, boxplot_value_text(b, r->median).text, boxplot_value_text(b, r->q1).text,
                     boxplot_value_text(b, r->q3).text, b->style.low_name, boxplot_value_text(b, r->low).text,
                     b->style.high_name, boxplot_value_text(b, r->high).text, r->samples);
        }
        canvas_hover(c, box, text);
    }
}

static void boxplot_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const boxplot *b = x->data;
    axes a = {.box = {0, box.y + 4, 0, box.height - AXES_X_HEIGHT - 4},
              .x = {.axis = {0, (double)(b->count ? b->count : 1), false, false}},
              .y = b->style.y_scale};
    double tics = axes_label_width(c, &a.y, a.box.height) + 6;
    (void)from;
    (void)count;
    a.box.x = box.x + tics;
    a.box.width = box.width - tics;
    axes_draw_y(c, &a);
    if (!b->count) return;
    boxplot_draw_boxes(c, b, &a);
    boxplot_draw_labels(c, b, &a);
    boxplot_draw_hovers(c, b, &a);
}

static void boxplot_make_table(chart_twin *t, const boxplot *b)
{
    const char *heads[] = {"", "samples", b->style.low_name, "25 %", "median", "75 %", b->style.high_name};
    t->columns = sizeof heads / sizeof *heads;
    t->right = 0x7e;
    for (size_t i = 0; i < t->columns; i++)
        chart_cell(t, heads[i]);
    for (size_t i = 0; i < b->count; i++) {
        const boxplot_row *r = &b->rows[i];
        const double values[5] = {r->low, r->q1, r->median, r->q3, r->high};
        chart_cell(t, r->label);
        chart_cellf(t, "%zu", r->samples);
        for (size_t k = 0; k < 5; k++)
            chart_cell(t, isnan(values[k]) ? "not measured" : boxplot_value_text(b, values[k]).text);
    }
}

static bool boxplot_pick(chart *x, chart_pick *p)
{
    boxplot *b = x->data;
    size_t kept = chart_pick_rows(x, p, b->rows, sizeof *b->rows, b->count, CHART_TITLE, offsetof(boxplot_row, label));
    if (!kept) return false;
    b->count = kept;
    boxplot_make_table(&x->twin, b);
    return true;
}

chart chart_boxplot(chart_head head, const boxplot_style *style, const boxplot_row *rows, size_t count)
{
    chart x;
    boxplot *b = chart_begin(&x, head, sizeof *b);
    b->style = *style;
    b->style.y_scale.unit = arena_text(b->memory, style->y_scale.unit);
    b->style.y_scale.title = arena_text(b->memory, style->y_scale.title ? style->y_scale.title : head.title);
    b->style.low_name = arena_text(b->memory, style->low_name);
    b->style.high_name = arena_text(b->memory, style->high_name);
    b->rows = arena_copy(b->memory, rows, count, sizeof *rows);
    b->count = count;
    double *all = arena_make(b->memory, 2 * count + 1, sizeof *all);
    for (size_t i = 0; i < b->count; i++) {
        b->rows[i].label = arena_text(b->memory, rows[i].label);
        all[2 * i] = rows[i].low;
        all[2 * i + 1] = rows[i].high;
    }
    b->style.y_scale = axes_complete(b->style.y_scale, all, 2 * b->count);
    x.draw = boxplot_draw;
    x.pick = boxplot_pick;
    x.height = boxplot_height;
    boxplot_make_table(&x.twin, b);
    return x;
}
