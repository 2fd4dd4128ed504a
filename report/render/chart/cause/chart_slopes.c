// Slopes: how much of something at what time, one line from the start for each run: the same height later is the same work,
// slower.
#include "render/chart/chart_private.h"
#include "render/chart/charts_plots.h"

#include <math.h>
#include <stdio.h>

typedef struct slopes {
    arena *memory;
    slope_line lines[2];
    slopes_style style;
} slopes;

static const double plot_height = 66;

static void slopes_draw_line(canvas *c, const axes *a, const slope_line *l, bool after)
{
    theme_ink ink = after ? INK_WATCH : INK_TEXT;
    double x = axes_x(a, l->seconds), y = axes_y(a, l->amount);
    canvas_dashed(c, axes_x(a, 0), axes_y(a, 0), x, y, ink, 1.5);
    canvas_dot(c, x, y, 2.9, after ? ink : INK_PAPER, ink);
}

static void slopes_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const slopes *s = x->data;
    const slope_line *h = &s->lines[0], *f = &s->lines[1];
    double seconds[2] = {h->seconds, f->seconds}, amounts[2] = {h->amount, f->amount};
    axes a = {.box = {0, box.y + 6, 0, plot_height},
              .x = axes_complete(
                  (axes_scale){.format = AXES_TIME, .axis = {.max = fmax(seconds[0], seconds[1]) * 1.02}}, seconds, 2),
              .y = axes_complete((axes_scale){.format = AXES_SI, .unit = s->style.unit}, amounts, 2)};
    double tics = axes_label_width(c, &a.y, a.box.height) + 6;
    (void)from;
    (void)count;
    a.box.x = box.x + tics;
    a.box.width = box.width - tics - 6;
    axes_draw_y(c, &a);
    axes_draw_x(c, &a, box.x, box.x + box.width);
    double end[2] = {axes_x(&a, seconds[0]), axes_x(&a, seconds[1])}, top = axes_y(&a, fmax(amounts[0], amounts[1]));
    if (*s->style.later) { // between the two ends, above the lines
        canvas_dashed(c, end[0], axes_y(&a, amounts[0]), end[1], axes_y(&a, amounts[1]), INK_BAD, .9);
        double half = canvas_text_width(c, s->style.later, TYPE_CELL_STRONG) / 2, middle = (end[0] + end[1]) / 2;
        middle = fmin(middle, a.box.x + a.box.width - half);
        canvas_text(c, middle, fmax(top - 4, box.y + 5), s->style.later, TYPE_CELL_STRONG, INK_BAD, ALIGN_CENTER, 0);
    }
    slopes_draw_line(c, &a, h, false);
    slopes_draw_line(c, &a, f, true);
    // Above the steeper line, below the flatter one.
    bool steeper = amounts[0] * seconds[1] >= amounts[1] * seconds[0];
    const slope_line *upper = steeper ? h : f, *lower = steeper ? f : h;
    // As far up as the label needs to fit beside the line.
    double wide = axes_x(&a, upper->seconds) - a.box.x,
           label = canvas_text_width(c, upper->label, TYPE_CELL_STRONG) + 8;
    double up = fmin(fmax(.55, wide > 0 ? label / wide : 1), 1);
    double ux = axes_x(&a, upper->seconds * up), uy = axes_y(&a, upper->amount * up),
           lx = axes_x(&a, lower->seconds * .55), ly = axes_y(&a, lower->amount * .55);
    canvas_text(c, fmax(ux - 8, a.box.x + label - 8), uy, upper->label, TYPE_CELL_STRONG,
                steeper ? INK_TEXT : INK_WATCH, ALIGN_RIGHT, 0);
    canvas_text(c, fmin(lx + 10, a.box.x + a.box.width - canvas_text_width(c, lower->label, TYPE_CELL_STRONG)), ly + 9,
                lower->label, TYPE_CELL_STRONG, steeper ? INK_WATCH : INK_TEXT, ALIGN_LEFT, 0);
}

chart chart_slopes(chart_head head, const slopes_style *style, const slope_line lines[2])
{
    chart x;
    slopes *s = chart_begin(&x, head, sizeof *s);
    s->style.unit = arena_text(s->memory, style->unit);
    s->style.later = arena_text(s->memory, style->later);
    x.twin.columns = 4;
    x.twin.right = 0xc;
    chart_cell(&x.twin, "");
    chart_cell(&x.twin, "rate");
    chart_cell(&x.twin, "seconds");
    chart_cell(&x.twin, s->style.unit);
    for (int i = 0; i < 2; i++) {
        s->lines[i] = lines[i];
        s->lines[i].name = arena_text(s->memory, lines[i].name);
        s->lines[i].label = arena_text(s->memory, lines[i].label);
        chart_cell(&x.twin, s->lines[i].name);
        chart_cell(&x.twin, s->lines[i].label);
        chart_cellf(&x.twin, "%.6g", lines[i].seconds);
        chart_cellf(&x.twin, "%.10g", lines[i].amount);
    }
    x.height = chart_even_height;
    x.fixed_height = plot_height + AXES_X_HEIGHT + 6;
    x.draw = slopes_draw;
    return x;
}
