// Calls over the sequence number: a panel for each size, or all sizes in one. Few calls are points, many are a density.
// And how they are spread, in the same columns.
#include "pages_nccl_private.h"

#include "render/chart/charts_plots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 3, LINE = 40 };

typedef struct panel {
    const char *label, *tip;
    axes_scale x, y;
    double *xs, *ys;
    size_t count;      // points or bars; 0 with a density
    double *widths;    // of bars; NULL: points
    uint16_t *density; // NULL: points
    double at[LINE], median[LINE];
    double peak; // NAN: none
} panel;

typedef struct panels {
    arena *memory;
    panel *items;
    size_t count;
    const char *note;
    double height; // of a panel
} panels;

static const double head_height = 13;

static double nccl_panels_panel_pitch(const canvas *c, const panels *p)
{
    return head_height + p->height + (p->count ? axes_x_height(c, &p->items[0].x) : AXES_X_HEIGHT) + 6;
}

static double nccl_panels_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    const panels *p = x->data;
    double note = from + count >= (p->count + COLUMNS - 1) / COLUMNS
                      ? *p->note ? canvas_paragraph_height(c, width, p->note, TYPE_FOOT, 0) + 4 : 0
                      : 0;
    return (double)count * nccl_panels_panel_pitch(c, p) + note;
}

static void nccl_panels_draw_line(canvas *c, const panel *p, const axes *a)
{
    const plot_series drawn_as = {
        .kind = PLOT_LINE, .ink = INK_TEXT, .line_width = 1.1, .x = p->at, .y = p->median, .count = LINE};
    plot drawn = {a->x.axis, a->y.axis, &drawn_as, 1};
    canvas_plot(c, a->box, &drawn);
}

static void nccl_panels_draw_panel(canvas *c, const panel *p, canvas_box box, double high)
{
    axes a = {{0, box.y + head_height, 0, high}, p->x, p->y};
    double tics = axes_label_width(c, &a.y, a.box.height) + 6;
    a.box.x = box.x + tics;
    a.box.width = box.width - tics;
    canvas_text(c, a.box.x, box.y + 8, p->label, TYPE_TABLE_STRONG, INK_TEXT, ALIGN_LEFT, a.box.width);
    if (p->density) canvas_image(c, a.box, p->density, NCCL_VIEW_ACROSS, NCCL_VIEW_UP);
    axes_draw_y(c, &a);
    if (p->density) {
        nccl_panels_draw_line(c, p, &a);
    } else {
        const plot_series drawn_as = {.kind = p->widths ? PLOT_BARS : PLOT_POINTS,
                                      .ink = INK_RECEIVED,
                                      .line_width = p->count > 300 ? .8 : 1.2,
                                      .x = p->xs,
                                      .y = p->ys,
                                      .x2 = p->widths,
                                      .count = p->count};
        plot drawn = {a.x.axis, a.y.axis, &drawn_as, 1};
        canvas_plot(c, a.box, &drawn);
    }
    double peak = axes_y(&a, p->peak);
    if (!isnan(peak) && p->peak <= a.y.axis.max)
        canvas_line(c, a.box.x, peak, a.box.x + a.box.width, peak, INK_TEXT, .9);
    axes_draw_x(c, &a, a.box.x - 8, box.x + box.width);
    canvas_hover(c, a.box, p->tip);
}

static void nccl_panels_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const panels *p = x->data;
    const double gap = 14, pitch = nccl_panels_panel_pitch(c, p);
    size_t across = p->count < COLUMNS ? p->count : COLUMNS;
    double width = (box.width - gap * (double)(across - 1)) / (double)(across ? across : 1);
    double y = box.y;
    width = fmin(width, box.width * .6);
    for (size_t row = from; row < from + count; row++, y += pitch)
        for (size_t k = 0; k < COLUMNS && row * COLUMNS + k < p->count; k++)
            nccl_panels_draw_panel(c, &p->items[row * COLUMNS + k],
                                   (canvas_box){box.x + (width + gap) * (double)k, y, width, pitch}, p->height);
    if (*p->note && from + count >= (p->count + COLUMNS - 1) / COLUMNS)
        canvas_paragraph(c, box.x, y + 4, box.width, p->note, TYPE_FOOT, INK_SECONDARY, 0);
}

// ---- data ----

static size_t nccl_panels_place(double at, double max, size_t cells)
{
    double cell = at / max * (double)cells;
    return cell >= (double)cells ? cells - 1 : cell > 0 ? (size_t)cell : 0;
}

// More shades where few calls are: a single one is seen.
static theme_ink nccl_panels_shade(uint64_t calls, uint64_t most)
{
    return theme_ramp(INK_BLUE, .4 + .6 * log((double)calls) / log((double)(most > 1 ? most : 2)));
}

static bool nccl_panels_is_dense(const nccl_view_kind *k)
{
    for (size_t i = 0; i < k->points.count; i++)
        if (k->points.items[i].calls != 1) return true;
    return k->points.count > NCCL_VIEW_POINTS;
}

static void nccl_panels_make_density(panels *p, panel *to, const nccl_view_kind *k)
{
    enum { CELLS = NCCL_VIEW_ACROSS * NCCL_VIEW_UP };
    uint64_t most = 1;
    to->density = arena_make(p->memory, CELLS, sizeof *to->density);
    for (size_t i = 0; i < CELLS; i++)
        to->density[i] = INK_PAPER;
    for (size_t i = 0; i < k->points.count; i++)
        if (k->points.items[i].calls > most) most = k->points.items[i].calls;
    for (size_t i = 0; i < k->points.count; i++) {
        const nccl_view_point *q = &k->points.items[i];
        if (!q->calls || !(q->x >= 0) || !(q->y >= 0)) continue;
        size_t row = NCCL_VIEW_UP - 1 - nccl_panels_place(q->y, k->y_max, NCCL_VIEW_UP),
               column = nccl_panels_place(q->x, k->x_max, NCCL_VIEW_ACROSS);
        to->density[row * NCCL_VIEW_ACROSS + column] = (uint16_t)nccl_panels_shade(q->calls, most);
    }
}

static int nccl_panels_by_y(const void *a, const void *b)
{
    const nccl_view_point *x = a, *y = b;
    return (x->y > y->y) - (x->y < y->y);
}

// The median of the calls in each of LINE stretches; nothing where there are less than eight.
static void nccl_panels_make_medians(panels *p, panel *to, const nccl_view_kind *k)
{
    enum { LEAST = 8 };
    nccl_view_point *sorted = arena_copy(p->memory, k->points.items, k->points.count, sizeof *sorted);
    qsort(sorted, k->points.count, sizeof *sorted, nccl_panels_by_y);
    double sums[LINE] = {0}, seen[LINE] = {0};
    for (size_t i = 0; i < k->points.count; i++)
        sums[nccl_panels_place(sorted[i].x, k->x_max, LINE)] += (double)sorted[i].calls;
    for (size_t i = 0; i < LINE; i++) {
        to->at[i] = ((double)i + .5) / LINE * k->x_max;
        to->median[i] = NAN;
    }
    for (size_t i = 0; i < k->points.count; i++) {
        size_t at = nccl_panels_place(sorted[i].x, k->x_max, LINE);
        seen[at] += (double)sorted[i].calls;
        if (isnan(to->median[at]) && sums[at] >= LEAST && 2 * seen[at] >= sums[at]) to->median[at] = sorted[i].y;
    }
}

static void nccl_panels_copy_points(panels *p, panel *to, const nccl_view_kind *k)
{
    to->xs = arena_make(p->memory, k->points.count + 1, sizeof *to->xs);
    to->ys = arena_make(p->memory, k->points.count + 1, sizeof *to->ys);
    for (size_t i = 0; i < k->points.count; i++) {
        to->xs[i] = k->points.items[i].x;
        to->ys[i] = k->points.items[i].y;
    }
    to->count = k->points.count;
}

static bool nccl_panels_is_drawable(const nccl_view_kind *k)
{
    return k->points.count && k->x_max > 0 && k->y_max > 0 && k->x_max < 1e200 && k->y_max < 1e200;
}

// GB/s as bytes per second, so that the axis has a prefix of its own; times as seconds.
static double nccl_panels_factor_of(const nccl_view_kind *k)
{
    return k->has_bus ? 1e9 : 1e-6;
}

static void nccl_panels_scale(nccl_view_kind *k)
{
    double factor = nccl_panels_factor_of(k);
    for (size_t i = 0; i < k->points.count; i++)
        k->points.items[i].y *= factor;
    k->y_max *= factor;
    k->peak_gbs *= factor;
}

static void nccl_panels_add_panel(panels *p, const nccl_panel *from)
{
    nccl_view_kind k = *from->kind;
    panel *to = &p->items[p->count];
    k.points.items = arena_copy(p->memory, k.points.items, k.points.count, sizeof *k.points.items);
    if (!nccl_panels_is_drawable(&k)) return;
    nccl_panels_scale(&k);
    to->label = arena_text(p->memory, from->label);
    to->tip = arena_format(p->memory, "%s: %s calls, median %s", to->label, number_grouped(k.calls).text,
                           k.has_bus ? number_volume_rate(k.bus_gbs.p50 * 1e9, "bytes").text
                                     : number_duration(k.wire_us.p50 / 1e6).text);
    to->x = (axes_scale){{0, k.x_max, false, false}, AXES_SI, "", 0, "Sequence number"};
    to->y = (axes_scale){{0, k.y_max, false, false},
                         k.has_bus ? AXES_SI : AXES_DURATION,
                         k.has_bus ? "B/s" : "",
                         0,
                         k.has_bus ? "Bus bandwidth" : "Time of a call"};
    to->peak = k.has_bus ? k.peak_gbs : NAN;
    if (nccl_panels_is_dense(&k)) {
        nccl_panels_make_density(p, to, &k);
        nccl_panels_make_medians(p, to, &k);
    } else {
        nccl_panels_copy_points(p, to, &k);
    }
    p->count++;
}

static void nccl_panels_fill_twin(chart *x, const nccl_panel *items, size_t count)
{
    static const char *const heads[] = {"size", "calls",  "incomplete", "p5",  "median",
                                        "p95",  "lowest", "highest",    "unit"};
    x->twin.columns = sizeof heads / sizeof *heads;
    x->twin.right = 0xfe;
    for (size_t i = 0; i < x->twin.columns; i++)
        chart_cell(&x->twin, heads[i]);
    for (size_t i = 0; i < count; i++) {
        const nccl_view_kind *k = items[i].kind;
        const nccl_spread *s = k->has_bus ? &k->bus_gbs : &k->wire_us;
        const double values[] = {s->p5, s->p50, s->p95, s->min, s->max};
        chart_cell(&x->twin, items[i].label);
        chart_cellf(&x->twin, "%llu", (unsigned long long)k->calls);
        chart_cellf(&x->twin, "%llu", (unsigned long long)k->incomplete);
        for (size_t n = 0; n < 5; n++)
            chart_cell(&x->twin, s->count ? number_plain(values[n]).text : "not known");
        chart_cell(&x->twin, k->has_bus ? "GB/s" : "\xc2\xb5s");
    }
}

chart nccl_chart_panels(chart_head head, const nccl_panel *items, size_t count)
{
    chart x;
    panels *p = chart_begin(&x, head, sizeof *p);
    p->items = arena_make(p->memory, count + 1, sizeof *p->items);
    p->height = 104;
    bool dense = false, peak = false;
    for (size_t i = 0; i < count; i++)
        nccl_panels_add_panel(p, &items[i]);
    for (size_t i = 0; i < p->count; i++) {
        dense = dense || p->items[i].density;
        peak = peak || isfinite(p->items[i].peak);
    }
    p->note = arena_format(
        p->memory,
        "x: sequence number, of all communicators of the class. A point is a call%s%s. Every panel has its "
        "own scale.",
        dense ? "; where there are more than 800 of a size, blue is how many (log), the line their median" : "",
        peak ? "; the black line is the peak" : "");
    x.rows = p->count ? (p->count + COLUMNS - 1) / COLUMNS : 1;
    x.height = nccl_panels_height;
    x.draw = nccl_panels_draw;
    nccl_panels_fill_twin(&x, items, count);
    return x;
}

// ---- how they are spread ----

// The ends of all bins of a kind, in the unit of its axis; false: there is no spread that could be drawn.
static bool nccl_panels_find_ends(const nccl_view_kind *k, double *low, double *high)
{
    *low = k->low * nccl_panels_factor_of(k);
    *high = k->high * nccl_panels_factor_of(k);
    if (!k->bins.count || !isfinite(*low) || !isfinite(*high) || *low < 0) return false;
    if (!(*high > *low)) { // all calls alike: one bar
        *high = *low > 0 ? *low * 1.05 : 1;
        *low *= .95;
    }
    return *high > *low;
}

static void nccl_panels_add_histogram(panels *p, const nccl_panel *from)
{
    const nccl_view_kind *k = from->kind;
    panel *to = &p->items[p->count];
    double low, high, sum = 0, most = 0;
    size_t bins = k->bins.count;
    if (!nccl_panels_find_ends(k, &low, &high)) return;
    for (size_t i = 0; i < bins; i++)
        sum += isfinite(k->bins.items[i].count) ? fmax(k->bins.items[i].count, 0) : 0;
    to->xs = arena_make(p->memory, bins, sizeof(double));
    to->ys = arena_make(p->memory, bins, sizeof(double));
    to->widths = arena_make(p->memory, bins, sizeof(double));
    if (!(sum > 0)) return;
    for (size_t i = 0; i < bins; i++) {
        double count = isfinite(k->bins.items[i].count) ? fmax(k->bins.items[i].count, 0) : 0;
        to->xs[i] = low + (high - low) * ((double)i + .5) / (double)bins;
        to->ys[i] = count / sum;
        to->widths[i] = (high - low) / (double)bins * .94;
        most = fmax(most, to->ys[i]);
    }
    to->count = bins;
    to->label = arena_text(p->memory, from->label);
    to->tip = to->label;
    double room = bins == 1 ? high - low : 0; // beside a single bar, for it not to be a field
    to->x = (axes_scale){{fmax(low - room, 0), high + room, false, false},
                         k->has_bus ? AXES_SI : AXES_DURATION,
                         k->has_bus ? "B/s" : "",
                         0,
                         k->has_bus ? "Bus bandwidth" : "Time of a call"};
    to->y = axes_complete((axes_scale){.format = AXES_PERCENT, .title = "Share of calls"}, &most, 1);
    to->peak = NAN;
    p->count++;
}

static void nccl_panels_histogram_twin(chart *x, const nccl_panel *items, size_t count)
{
    static const char *const heads[] = {"size", "from", "to", "unit", "calls"};
    x->twin.columns = sizeof heads / sizeof *heads;
    x->twin.right = 0x16;
    for (size_t i = 0; i < x->twin.columns; i++)
        chart_cell(&x->twin, heads[i]);
    for (size_t i = 0; i < count; i++) {
        const nccl_view_kind *k = items[i].kind;
        double step = k->bins.count ? (k->high - k->low) / (double)k->bins.count : 0;
        for (size_t j = 0; j < k->bins.count; j++) {
            if (!(k->bins.items[j].count > 0)) continue;
            chart_cell(&x->twin, items[i].label);
            chart_cellf(&x->twin, "%.6g", k->low + step * (double)j);
            chart_cellf(&x->twin, "%.6g", k->low + step * (double)(j + 1));
            chart_cell(&x->twin, k->has_bus ? "GB/s" : "\xc2\xb5s");
            chart_cellf(&x->twin, "%.10g", k->bins.items[j].count);
        }
    }
}

chart nccl_chart_histograms(chart_head head, const nccl_panel *items, size_t count)
{
    chart x;
    panels *p = chart_begin(&x, head, sizeof *p);
    p->items = arena_make(p->memory, count + 1, sizeof *p->items);
    p->height = 52;
    p->note = "";
    for (size_t i = 0; i < count; i++)
        nccl_panels_add_histogram(p, &items[i]);
    x.rows = p->count ? (p->count + COLUMNS - 1) / COLUMNS : 1;
    x.height = nccl_panels_height;
    x.draw = nccl_panels_draw;
    nccl_panels_histogram_twin(&x, items, count);
    return x;
}

// ---- all sizes in one ----

// Of a density every cell is a point: its place is right, how many calls are in it is not shown.
chart nccl_chart_scatter(chart_head head, const nccl_panel *items, size_t count)
{
    enum { SETS = 8, EACH = PLOT_POINTS_MAX / SETS };
    scatter_set sets[SETS] = {{.label = NULL}};
    size_t used = 0;
    arena *memory = arena_open();
    bool bus = true;
    for (size_t i = 0; i < count && used < SETS; i++) {
        const nccl_view_kind *k = items[i].kind;
        if (!nccl_panels_is_drawable(k)) continue;
        size_t step = (k->points.count + EACH - 1) / EACH, n = 0;
        double *xs = arena_make(memory, EACH + 1, sizeof *xs), *ys = arena_make(memory, EACH + 1, sizeof *ys);
        for (size_t j = 0; j < k->points.count; j += step, n++) {
            xs[n] = k->points.items[j].x;
            ys[n] = k->points.items[j].y * nccl_panels_factor_of(k);
        }
        bus = k->has_bus;
        sets[used] = (scatter_set){items[i].label, (theme_ink)(INK_CATEGORY + used), xs, ys, xs && ys ? n : 0};
        used++;
    }
    const scatter_style style = {.x_scale = {.format = AXES_SI, .unit = ""},
                                 .x_head = "sequence number",
                                 .y_scale = {.format = bus ? AXES_SI : AXES_DURATION, .unit = bus ? "B/s" : ""},
                                 .y_head = bus ? "bus bandwidth" : "wire time"};
    chart x = chart_scatter(head, &style, sets, used);
    arena_close(memory);
    return x;
}
