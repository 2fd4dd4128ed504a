// How long calls took: bins at their true edges on a logarithmic axis whose tics are 1, 2, 4, 8 of a unit.
#include "render/chart/chart_private.h"
#include "render/chart/charts_cause.h"
#include "render/plot/axes.h"

#include <math.h>
#include <stdio.h>

typedef struct durations {
    arena *memory;
    const double *edges;
    size_t bins;
    durations_set bars, outline;
    double *shares, *outlined; // outlined: NULL: none
    double most;
} durations;

static const double durations_plot = 80, durations_key = 13;

static const axes_scale durations_x = {.title = "Time per call"}; // its tics have their units

// A figure of a paper may be too narrow for the key on one line.
static double durations_draw_key(const durations *d, canvas *c, double left, double y, double width, bool draw)
{
    const axes_key keys[2] = {{d->bars.label, SWATCH_BOX, INK_PART + 2, INK_NONE, 0},
                              {d->outlined ? d->outline.label : NULL, SWATCH_LINE, INK_WATCH, INK_NONE, 0}};
    double height = axes_draw_key(c, keys, d->outlined ? 2 : 1, left, y, width, draw) + 2;
    return canvas_figure_of(c) ? height : durations_key;
}

static double durations_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    (void)from;
    (void)count;
    return durations_draw_key(x->data, c, 0, 0, width - 40, false) + durations_plot + axes_x_height(c, &durations_x);
}

static double durations_place(const durations *d, canvas_box field, double seconds)
{
    double from = log(d->edges[0]), to = log(d->edges[d->bins]);
    return field.x + field.width * (log(seconds) - from) / (to - from);
}

// 1, 2, 4, ..., 512 of ns, us, ms and s: as many as have room.
static void durations_draw_tics(canvas *c, const durations *d, canvas_box field)
{
    static const char *const units[] = {"ns", WORDS_MICRO "s", "ms", "s"};
    double last = -1e9, bottom = field.y + field.height;
    for (int u = 0; u < 4; u++)
        for (int k = 1; k <= 512; k *= 2) {
            double seconds = pow(1000, u - 3) * k, x;
            char text[40];
            if (seconds < d->edges[0] * .999 || seconds > d->edges[d->bins] * 1.001) continue;
            x = durations_place(d, field, seconds);
            snprintf(text, sizeof text, "%d" NUMBER_SPACE "%s", k, units[u]);
            double half = canvas_text_width(c, text, TYPE_AXIS) / 2;
            canvas_line(c, x, bottom, x, bottom + 2.5, INK_SECONDARY, .6);
            if (x - half < last + 4 || x + half > field.x + field.width + 10) continue;
            canvas_text(c, x, bottom + 10, text, TYPE_AXIS, INK_SECONDARY, ALIGN_CENTER, 0);
            last = x + half;
        }
}

static void durations_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const durations *d = x->data;
    double key = durations_draw_key(d, c, 0, 0, box.width - 40, false), x_height = axes_x_height(c, &durations_x);
    double high = fmax(box.height - key - x_height, 10);
    axes a = {.box = {0, box.y + key, 0, high},
              .y = axes_complete((axes_scale){.format = AXES_PERCENT, .title = "Share of calls"}, &d->most, 1)};
    double tics = axes_label_width(c, &a.y, a.box.height) + 6;
    (void)from;
    (void)count;
    a.box.x = box.x + tics;
    a.box.width = box.width - tics - 8;
    durations_draw_key(d, c, a.box.x, box.y, box.width - 40, true);
    axes_draw_y(c, &a);
    canvas_point points[2 * 256 + 4];
    size_t n = 0;
    double floor = a.box.y + a.box.height;
    for (size_t i = 0; i < d->bins; i++) {
        double left = durations_place(d, a.box, d->edges[i]), right = durations_place(d, a.box, d->edges[i + 1]);
        double top = axes_y(&a, d->shares[i]);
        char tip[260];
        snprintf(tip, sizeof tip, "%s to %s: %s", number_duration(d->edges[i]).text,
                 number_duration(d->edges[i + 1]).text, number_percent(d->shares[i]).text);
        canvas_tip(c, tip);
        canvas_rect(c, (canvas_box){left, top, right - left - .5, floor - top}, INK_PART + 2, 0);
        if (!d->outlined || i >= 256) continue;
        if (!n) points[n++] = (canvas_point){left, floor};
        points[n++] = (canvas_point){left, axes_y(&a, d->outlined[i])};
        points[n++] = (canvas_point){right, axes_y(&a, d->outlined[i])};
    }
    if (n) points[n] = (canvas_point){points[n - 1].x, floor}, n++;
    if (n) canvas_polyline(c, points, n, INK_WATCH, 1.4);
    canvas_line(c, a.box.x, floor, a.box.x + a.box.width, floor, INK_SECONDARY, .6);
    durations_draw_tics(c, d, a.box);
    if (canvas_figure_of(c))
        canvas_text(c, a.box.x + a.box.width / 2, floor + 10 + 9, durations_x.title, TYPE_AXIS, INK_TEXT, ALIGN_CENTER,
                    0);
}

static double *durations_shares(durations *d, const double *counts)
{
    double sum = 0, *shares = arena_make(d->memory, d->bins + 1, sizeof *shares);
    for (size_t i = 0; i < d->bins; i++)
        sum += counts[i];
    for (size_t i = 0; i < d->bins; i++) {
        shares[i] = sum > 0 ? counts[i] / sum : 0;
        d->most = fmax(d->most, shares[i]);
    }
    return shares;
}

chart chart_durations(chart_head head, const double *edges, size_t bins, const durations_set *bars,
                      const durations_set *outline)
{
    chart x;
    durations *d = chart_begin(&x, head, sizeof *d);
    d->edges = arena_copy(d->memory, edges, bins + 1, sizeof *edges);
    d->bins = bins;
    d->bars.label = arena_text(d->memory, bars->label);
    d->shares = durations_shares(d, bars->counts);
    if (outline->counts) d->outline.label = arena_text(d->memory, outline->label);
    if (outline->counts) d->outlined = durations_shares(d, outline->counts);
    x.twin.columns = outline->counts ? 4 : 3;
    x.twin.right = 0xf;
    chart_cell(&x.twin, "from");
    chart_cell(&x.twin, "to");
    chart_cell(&x.twin, d->bars.label);
    if (d->outlined) chart_cell(&x.twin, d->outline.label);
    for (size_t i = 0; i < bins; i++) {
        chart_cell(&x.twin, number_duration(edges[i]).text);
        chart_cell(&x.twin, number_duration(edges[i + 1]).text);
        chart_cell(&x.twin, number_percent(d->shares[i]).text);
        if (d->outlined) chart_cell(&x.twin, number_percent(d->outlined[i]).text);
    }
    x.height = durations_height;
    x.draw = durations_draw;
    x.squeeze = .7;
    return x;
}
