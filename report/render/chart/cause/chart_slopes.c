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
    canvas_point *points; // room for one line's
} slopes;

static const double plot_height = 66;

// How much there was at a time, by the samples around it.
static double slopes_amount_at(const slope_line *l, double seconds)
{
    size_t k = 1;
    if (!l->count) return l->seconds > 0 ? l->amount * seconds / l->seconds : 0;
    while (k + 1 < l->count && l->at[k] < seconds)
        k++;
    double length = l->at[k] - l->at[k - 1], share = length > 0 ? (seconds - l->at[k - 1]) / length : 1;
    return l->amounts[k - 1] + fmin(fmax(share, 0), 1) * (l->amounts[k] - l->amounts[k - 1]);
}

static void slopes_draw_line(canvas *c, const axes *a, const slope_line *l, bool after, canvas_point *points)
{
    theme_ink ink = after ? INK_WATCH : INK_TEXT;
    double x = axes_x(a, l->seconds), y = axes_y(a, l->amount);
    for (size_t k = 0; k < l->count; k++)
        points[k] = (canvas_point){axes_x(a, l->at[k]), axes_y(a, l->amounts[k])};
    if (l->count)
        canvas_polyline(c, points, l->count, ink, 1.5);
    else
        canvas_dashed(c, axes_x(a, 0), axes_y(a, 0), x, y, ink, 1.5);
    canvas_dot(c, x, y, 2.9, after ? ink : INK_PAPER, ink);
}

// A label where its line is not: above that which is ahead, below the other. It begins at one of some places along the line, the
// first at which it lies within the plot.
static void slopes_draw_label(canvas *c, const axes *a, const slope_line *l, bool above, theme_ink ink)
{
    static const double shares[] = {.55, .65, .45, .75, .35, .85, .25, .95};
    enum { TRIED = sizeof shares / sizeof *shares };
    double width = canvas_text_width(c, l->label, TYPE_CELL_STRONG), right = a->box.x + a->box.width,
           bottom = a->box.y + a->box.height, zero = axes_x(a, 0), one = (axes_x(a, l->seconds) - zero) / l->seconds;
    for (size_t i = 0; i < TRIED; i++) {
        double at = l->seconds * shares[i], place = axes_x(a, at);
        double left = above ? place - 8 - width : place + 10, end = left + width;
        // The line rises: above it what counts is where the label ends, below it where it begins.
        double near = slopes_amount_at(l, fmin(fmax(((above ? end : left) - zero) / one, 0), l->seconds));
        double base = axes_y(a, near) + (above ? -3 : 9);
        if (i + 1 < TRIED && (left < a->box.x + 2 || end > right || base > bottom - 2 || base < a->box.y + 6)) continue;
        canvas_text(c, fmin(fmax(left, a->box.x + 2), right - width), fmin(fmax(base, a->box.y + 6), bottom - 2),
                    l->label, TYPE_CELL_STRONG, ink, ALIGN_LEFT, 0);
        return;
    }
}

// Between the two ends, above the lines.
static void slopes_draw_later(const slopes *s, canvas *c, const axes *a)
{
    const slope_line *h = &s->lines[0], *f = &s->lines[1];
    double end[2] = {axes_x(a, h->seconds), axes_x(a, f->seconds)}, top = axes_y(a, fmax(h->amount, f->amount));
    double half = canvas_text_width(c, s->style.later, TYPE_CELL_STRONG) / 2, middle = (end[0] + end[1]) / 2;
    if (!*s->style.later) return;
    canvas_dashed(c, end[0], axes_y(a, h->amount), end[1], axes_y(a, f->amount), INK_BAD, .9);
    middle = fmin(middle, a->box.x + a->box.width - half);
    canvas_text(c, middle, fmax(top - 4, a->box.y - 1), s->style.later, TYPE_CELL_STRONG, INK_BAD, ALIGN_CENTER, 0);
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
    slopes_draw_later(s, c, &a);
    for (int i = 0; i < 2; i++)
        slopes_draw_line(c, &a, &s->lines[i], i, s->points);
    bool steeper = amounts[0] * seconds[1] >= amounts[1] * seconds[0];
    slopes_draw_label(c, &a, h, steeper, INK_TEXT);
    slopes_draw_label(c, &a, f, !steeper, INK_WATCH);
}

// At most so many points are drawn, each a sample.
static void slopes_copy_samples(slopes *s, slope_line *l)
{
    enum { MOST = 400 };
    size_t every = l->count / MOST + 1, n = 0;
    double *at = arena_make(s->memory, l->count + 1, sizeof *at),
           *amounts = arena_make(s->memory, l->count + 1, sizeof *amounts);
    for (size_t k = 0; k < l->count; k++) {
        if (k % every && k + 1 < l->count) continue;
        at[n] = l->at[k];
        amounts[n++] = l->amounts[k];
    }
    l->at = at;
    l->amounts = amounts;
    l->count = n;
}

static void slopes_tell_all(const chart *x, chart_twin *t)
{
    const slopes *s = x->data;
    chart_heads(t, 0x6, (const char *const[]){"", "seconds", s->style.unit}, 3);
    for (int i = 0; i < 2; i++) {
        const slope_line *l = &s->lines[i];
        const double at[2] = {0, l->seconds}, amounts[2] = {0, l->amount};
        for (size_t k = 0; k < (l->count ? l->count : 2); k++) {
            chart_cell(t, l->name);
            chart_cellf(t, "%.6g", l->count ? l->at[k] : at[k]);
            chart_cellf(t, "%.10g", l->count ? l->amounts[k] : amounts[k]);
        }
    }
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
        slopes_copy_samples(s, &s->lines[i]);
        chart_cell(&x.twin, s->lines[i].name);
        chart_cell(&x.twin, s->lines[i].label);
        chart_cellf(&x.twin, "%.6g", lines[i].seconds);
        chart_cellf(&x.twin, "%.10g", lines[i].amount);
    }
    s->points = arena_make(s->memory, s->lines[0].count + s->lines[1].count + 1, sizeof *s->points);
    x.height = chart_even_height;
    x.fixed_height = plot_height + AXES_X_HEIGHT + 6;
    x.draw = slopes_draw;
    if (s->lines[0].count || s->lines[1].count) x.all = slopes_tell_all;
    return x;
}
