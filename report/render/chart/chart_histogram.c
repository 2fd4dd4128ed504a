// Distributions: small multiples of size classes, and one distribution with another as its outline.
#include "chart_private.h"
#include "charts_plots.h"

#include <math.h>
#include <stdio.h>

// ---- small multiples ----

typedef struct histograms {
    arena *memory;
    histogram_style style;
    histogram_set *sets;
    size_t count, ways;
    const char *share_title;
    double most; // share of a bin: one scale for all
} histograms;

static const double cell_height = 74, cell_gap = 16, tic_room = 30;
static const theme_ink inks[2] = {INK_RECEIVED, INK_SENT}, line_inks[2] = {INK_RECEIVED_TEXT, INK_SENT_TEXT};

static size_t histogram_per_line(double width, size_t count)
{
    size_t most = width < 240 ? 1 : width < 420 ? 2 : 4;
    return count && count < most ? count : most;
}

static bool histogram_has_lines(const histograms *h)
{
    for (size_t i = 0; i < h->count; i++)
        if (h->sets[i].line[0] || h->sets[i].line[1]) return true;
    return false;
}

static double histogram_draw_key(const histograms *h, canvas *c, double left, double y, double width, bool draw)
{
    axes_key keys[3];
    size_t n = 0;
    for (size_t way = 0; way < h->ways; way++)
        keys[n++] = (axes_key){h->style.way[way], SWATCH_BOX, inks[way], INK_NONE, 0};
    if (histogram_has_lines(h))
        keys[n++] = (axes_key){"share up to this size", SWATCH_LINE, INK_SECONDARY, INK_NONE, 0};
    return axes_draw_key(c, keys, n, left, y, width, draw) + 4;
}

// Each row of the chart is one set; they are drawn several to a line.
static double histogram_histograms_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    const histograms *h = x->data;
    size_t line = histogram_per_line(width, h->count), lines = (count + line - 1) / line;
    (void)from;
    return histogram_draw_key(h, c, 0, 0, width, false) + (double)lines * (cell_height + cell_gap + 12) -
           (canvas_figure_of(c) ? 4 : cell_gap);
}

static double histogram_sum_of(const double *counts, size_t n)
{
    double sum = 0;
    for (size_t i = 0; counts && i < n; i++)
        sum += counts[i] > 0 ? counts[i] : 0;
    return sum;
}

static bool histogram_is_known(const double *counts, size_t n)
{
    for (size_t i = 0; counts && i < n; i++)
        if (isnan(counts[i])) return false;
    return counts != NULL;
}

// The shares of one side as bars, and its cumulative line where it has one.
static size_t histogram_add_side(const histograms *h, const histogram_set *s, size_t way, double *room, plot_series *to)
{
    size_t bins = h->style.bin_count, n = 0;
    double *x = room, *y = room + bins, *width = room + 2 * bins, *ends = room + 3 * bins;
    double sum = histogram_sum_of(s->values[way], bins), bar = 0.8 / (double)h->ways;
    if (!(sum > 0)) return 0;
    for (size_t i = 0; i < bins; i++) {
        x[i] = (double)i + 0.5 + (h->ways == 2 ? ((double)way - 0.5) * bar : 0);
        y[i] = s->values[way][i] / sum;
        width[i] = bar;
        ends[i] = (double)i + 1;
    }
    to[n++] = (plot_series){.kind = PLOT_BARS, .ink = inks[way], .x = x, .y = y, .x2 = width, .count = bins};
    if (s->line[way])
        to[n++] = (plot_series){
            .kind = PLOT_LINE, .ink = line_inks[way], .line_width = 0.9, .x = ends, .y = s->line[way], .count = bins};
    return n;
}

static void histogram_hover_bins(canvas *c, const histograms *h, const histogram_set *s, canvas_box box)
{
    size_t bins = h->style.bin_count;
    double step = box.width / (double)bins;
    for (size_t i = 0; i < bins; i++) {
        char text[600];
        int used = snprintf(text, sizeof text, "%.60s, %.40s:", s->label, h->style.bins[i]);
        for (size_t way = 0; way < h->ways; way++) {
            double sum = histogram_sum_of(s->values[way], bins);
            if (!histogram_is_known(s->values[way], bins) || used < 0 || (size_t)used >= sizeof text) continue;
            used += snprintf(text + used, sizeof text - (size_t)used, "%s %.40s %s (%s)", way ? "," : "",
                             h->style.way[way], number_volume(s->values[way][i], h->style.what).text,
                             number_percent(sum > 0 ? s->values[way][i] / sum : 0).text);
        }
        canvas_hover(c, (canvas_box){box.x + step * (double)i, box.y, step, box.height}, text);
    }
}

static bool histogram_labels_fit(canvas *c, const histograms *h, double step, size_t every)
{
    double taken = -1e9;
    for (size_t i = 0; i < h->style.bin_count; i += every) {
        double width = canvas_text_width(c, h->style.bins[i], TYPE_AXIS), x = step * ((double)i + 0.5) - width / 2;
        if (x < taken) return false;
        taken = x + width + 5;
    }
    return true;
}

// As many labels as fit at even distances that divide the bins, from the first on.
static void histogram_label_bins(canvas *c, const histograms *h, canvas_box box)
{
    size_t bins = h->style.bin_count, every = 1;
    double step = box.width / (double)bins;
    while (every < bins && (bins % every || !histogram_labels_fit(c, h, step, every)))
        every++;
    for (size_t i = 0; i < bins; i += every)
        canvas_text(c, box.x + step * ((double)i + 0.5), box.y + box.height + 9, h->style.bins[i], TYPE_AXIS,
                    INK_SECONDARY, ALIGN_CENTER, 0);
}

static void histogram_draw_set(canvas *c, const histograms *h, const histogram_set *s, canvas_box cell)
{
    size_t bins = h->style.bin_count, n = 0;
    axes a = {{cell.x + tic_room, cell.y + 12, cell.width - tic_room, cell_height - 12},
              {.axis = {0, (double)bins, false, false}},
              axes_complete((axes_scale){.format = AXES_PERCENT, .title = h->share_title}, &h->most, 1)};
    plot_series series[4];
    double *room = arena_make(h->memory, 8 * bins, sizeof *room);
    double total[2] = {histogram_sum_of(s->values[0], bins), h->ways > 1 ? histogram_sum_of(s->values[1], bins) : 0};
    bool known = histogram_is_known(s->values[0], bins) || (h->ways > 1 && histogram_is_known(s->values[1], bins));
    canvas_text(c, cell.x, cell.y + 7, s->label, TYPE_TABLE_STRONG, INK_TEXT, ALIGN_LEFT, cell.width);
    axes_draw_y(c, &a);
    if (!known) {
        canvas_hatch(c, a.box);
        canvas_text(c, a.box.x + a.box.width / 2, a.box.y + a.box.height / 2 + 2, "not measured", TYPE_AXIS,
                    INK_SECONDARY, ALIGN_CENTER, a.box.width);
        return;
    }
    for (size_t way = 0; way < h->ways; way++)
        n += histogram_add_side(h, s, way, room + 4 * bins * way, series + n);
    plot p = {a.x.axis, a.y.axis, series, n};
    if (n) canvas_plot(c, a.box, &p);
    if (!(total[0] > 0) && !(total[1] > 0)) {
        char none[80];
        snprintf(none, sizeof none, "no %.60s", h->style.what);
        double text = fmin(canvas_text_width(c, none, TYPE_AXIS), a.box.width);
        canvas_rect(c,
                    (canvas_box){a.box.x + (a.box.width - text) / 2 - 3, a.box.y + a.box.height / 2 - 6, text + 6, 11},
                    INK_PAPER, 0);
        canvas_text(c, a.box.x + a.box.width / 2, a.box.y + a.box.height / 2 + 2, none, TYPE_AXIS, INK_SECONDARY,
                    ALIGN_CENTER, a.box.width);
    }
    histogram_label_bins(c, h, a.box);
    if (canvas_figure_of(c))
        canvas_text(c, a.box.x + a.box.width / 2, a.box.y + a.box.height + 19, h->style.bins_title, TYPE_AXIS, INK_TEXT,
                    ALIGN_CENTER, 0);
    histogram_hover_bins(c, h, s, a.box);
}

static void histogram_histograms_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const histograms *h = x->data;
    size_t line = histogram_per_line(box.width, h->count);
    const double between = 14;
    double width = (box.width - between * (double)(line - 1)) / (double)line;
    double key = histogram_draw_key(h, c, box.x, box.y, box.width, true);
    for (size_t i = from; i < from + count && i < h->count; i++) {
        size_t place = i - from;
        canvas_box cell = {box.x + (double)(place % line) * (width + between),
                           box.y + key + (double)(place / line) * (cell_height + cell_gap + 12), width, cell_height};
        histogram_draw_set(c, h, &h->sets[i], cell);
    }
}

static void histogram_histograms_table(chart_twin *t, const histograms *h)
{
    t->columns = 2 + h->style.bin_count;
    t->right = ~UINT64_C(3);
    chart_cell(t, "");
    chart_cell(t, "");
    for (size_t i = 0; i < h->style.bin_count; i++)
        chart_cell(t, h->style.bins[i]);
    for (size_t i = 0; i < h->count; i++)
        for (size_t way = 0; way < h->ways; way++) {
            chart_cell(t, h->sets[i].label);
            chart_cell(t, h->style.way[way]);
            for (size_t k = 0; k < h->style.bin_count; k++) {
                double v = h->sets[i].values[way] ? h->sets[i].values[way][k] : NAN;
                if (isnan(v))
                    chart_cell(t, "not measured");
                else
                    chart_cellf(t, "%.0f", v);
            }
        }
}

static void histogram_copy_sets(histograms *h, const histogram_set *sets, size_t count)
{
    size_t bins = h->style.bin_count;
    h->sets = arena_copy(h->memory, sets, count, sizeof *sets);
    for (size_t i = 0; i < count; i++) {
        histogram_set *s = &h->sets[i];
        s->label = arena_text(h->memory, s->label);
        for (size_t way = 0; way < 2; way++) {
            if (s->values[way]) s->values[way] = arena_copy(h->memory, s->values[way], bins, sizeof(double));
            if (s->line[way]) s->line[way] = arena_copy(h->memory, s->line[way], bins, sizeof(double));
        }
    }
    h->count = count;
    for (size_t i = 0; i < count; i++)
        for (size_t way = 0; way < h->ways; way++) {
            double sum = histogram_sum_of(h->sets[i].values[way], bins);
            for (size_t k = 0; k < bins && sum > 0; k++)
                h->most = fmax(h->most, h->sets[i].values[way][k] / sum);
            if (h->sets[i].line[way]) h->most = 1; // a line of sums ends there
        }
    if (!(h->most > 0)) h->most = 1;
}

chart chart_histograms(chart_head head, const histogram_style *style, const histogram_set *sets, size_t count)
{
    chart x;
    histograms *h = chart_begin(&x, head, sizeof *h);
    h->style = *style;
    h->ways = style->way[1] ? 2 : 1;
    h->style.way[0] = arena_text(h->memory, style->way[0]);
    h->style.way[1] = arena_text(h->memory, style->way[1]);
    h->style.what = arena_text(h->memory, style->what);
    h->style.bins_title = arena_text(h->memory, style->bins_title ? style->bins_title : head.title);
    char title[100];
    snprintf(title, sizeof title, "Share of %.80s", style->what);
    h->share_title = arena_text(h->memory, title);
    const char **bins = arena_make(h->memory, style->bin_count + 1, sizeof *bins);
    for (size_t i = 0; i < style->bin_count; i++)
        bins[i] = arena_text(h->memory, style->bins[i]);
    h->style.bins = bins;
    histogram_copy_sets(h, sets, style->bin_count ? count : 0);
    x.rows = h->count ? h->count : 1;
    x.draw = histogram_histograms_draw;
    x.height = histogram_histograms_height;
    histogram_histograms_table(&x.twin, h);
    return x;
}

// ---- one distribution, another as its outline ----

typedef struct distribution {
    arena *memory;
    distribution_style style;
    distribution_set bars, outline;
    bool outlined;
    axes_scale y;
    double *middles, *widths, *shares, *steps, *step_at; // of bars; of the outline, one more
} distribution;

static double histogram_distribution_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    const distribution *d = x->data;
    (void)width;
    (void)from;
    (void)count;
    return (d->style.height > 0 ? d->style.height : 130) + 14 + axes_x_height(c, &d->style.x_scale);
}

static void histogram_distribution_hovers(canvas *c, const distribution *d, const axes *a)
{
    for (size_t i = 0; i < d->style.bins; i++) {
        axes_span span = {d->style.edges[i], d->style.edges[i + 1], NULL, INK_NONE};
        double left, right;
        char text[480];
        if (!axes_clip(a, &span, &left, &right)) continue;
        snprintf(text, sizeof text, "%.60s: %s %.40s, %s", d->bars.label, number_plain(d->bars.counts[i]).text,
                 d->style.what, number_percent(d->shares[i]).text);
        canvas_hover(c, (canvas_box){left, a->box.y, right - left, a->box.height}, text);
    }
}

static void histogram_distribution_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const distribution *d = x->data;
    size_t bins = d->style.bins;
    axes a = {.box = {0, box.y + 14, 0, box.height - 14 - axes_x_height(c, &d->style.x_scale)},
              .x = d->style.x_scale,
              .y = d->y};
    double tics = axes_label_width(c, &a.y, a.box.height) + 6;
    const axes_key keys[2] = {{d->bars.label, SWATCH_BOX, d->bars.ink, INK_NONE, 0},
                              {d->outlined ? d->outline.label : NULL, SWATCH_LINE, d->outline.ink, INK_NONE, 0}};
    (void)from;
    (void)count;
    a.box.x = box.x + tics;
    a.box.width = box.width - tics;
    axes_draw_key(c, keys, 2, a.box.x, box.y, a.box.width, true);
    axes_draw_y(c, &a);
    const plot_series series[2] = {
        {.kind = PLOT_BARS, .ink = d->bars.ink, .x = d->middles, .y = d->shares, .x2 = d->widths, .count = bins},
        {.kind = PLOT_STEP,
         .ink = d->outline.ink,
         .line_width = 1.5,
         .x = d->step_at,
         .y = d->steps,
         .count = bins + 3}};
    plot p = {a.x.axis, a.y.axis, series, d->outlined ? 2 : 1};
    canvas_plot(c, a.box, &p);
    axes_draw_x(c, &a, a.box.x - 8, box.x + box.width);
    histogram_distribution_hovers(c, d, &a);
}

static const double *histogram_shares_of(arena *memory, const double *counts, size_t bins)
{
    double sum = histogram_sum_of(counts, bins), *shares = arena_make(memory, bins + 1, sizeof *shares);
    for (size_t i = 0; i < bins; i++)
        shares[i] = sum > 0 ? counts[i] / sum : 0;
    return shares;
}

// An outline begins and ends on the axis.
static void histogram_make_outline(distribution *d, const double *shares)
{
    size_t bins = d->style.bins;
    d->steps = arena_make(d->memory, bins + 3, sizeof(double));
    d->step_at = arena_make(d->memory, bins + 3, sizeof(double));
    for (size_t i = 0; i < bins; i++) {
        d->step_at[i + 1] = d->style.edges[i];
        d->steps[i + 1] = shares[i];
    }
    d->step_at[0] = d->style.edges[0];
    d->step_at[bins + 1] = d->step_at[bins + 2] = d->style.edges[bins];
}

static void histogram_distribution_table(chart_twin *t, const distribution *d)
{
    t->columns = d->outlined ? 4 : 3;
    t->right = 0xf;
    chart_cell(t, "from");
    chart_cell(t, "to");
    chart_cellf(t, "%s: %s", d->bars.label, d->style.what);
    if (d->outlined) chart_cellf(t, "%s: %s", d->outline.label, d->style.what);
    for (size_t i = 0; i < d->style.bins; i++) {
        chart_cellf(t, "%.6g", d->style.edges[i]);
        chart_cellf(t, "%.6g", d->style.edges[i + 1]);
        chart_cellf(t, "%.10g", d->bars.counts[i]);
        if (d->outlined) chart_cellf(t, "%.10g", d->outline.counts[i]);
    }
}

static distribution_set histogram_copy_distribution(distribution *d, const distribution_set *from)
{
    distribution_set to = *from;
    to.label = arena_text(d->memory, from->label);
    to.counts = arena_copy(d->memory, from->counts, d->style.bins, sizeof(double));
    return to;
}

static void histogram_prepare(distribution *d)
{
    size_t bins = d->style.bins;
    double most = 0;
    const double *shares = histogram_shares_of(d->memory, d->bars.counts, bins);
    const double *outline = d->outlined ? histogram_shares_of(d->memory, d->outline.counts, bins) : NULL;
    d->middles = arena_make(d->memory, bins, sizeof(double));
    d->widths = arena_make(d->memory, bins, sizeof(double));
    d->shares = arena_copy(d->memory, shares, bins, sizeof(double));
    for (size_t i = 0; i < bins; i++) {
        const double *e = d->style.edges;
        d->middles[i] = (e[i] + e[i + 1]) / 2;
        d->widths[i] = (e[i + 1] - e[i]) * 0.94;
        most = fmax(most, fmax(shares[i], outline ? outline[i] : 0));
    }
    if (d->outlined) histogram_make_outline(d, outline);
    char title[100];
    snprintf(title, sizeof title, "Share of %.80s", d->style.what);
    d->y = axes_complete((axes_scale){.format = AXES_PERCENT, .title = arena_text(d->memory, title)}, &most, 1);
    if (d->style.x_scale.axis.max > d->style.x_scale.axis.min) return;
    d->style.x_scale.axis.min = d->style.edges[0];
    d->style.x_scale.axis.max = d->style.edges[bins];
}

chart chart_distribution(chart_head head, const distribution_style *style, const distribution_set *bars,
                         const distribution_set *outline)
{
    chart x;
    distribution *d = chart_begin(&x, head, sizeof *d);
    d->style = *style;
    d->style.edges = arena_copy(d->memory, style->edges, style->bins + 1, sizeof(double));
    d->style.what = arena_text(d->memory, style->what);
    d->style.x_scale.unit = arena_text(d->memory, style->x_scale.unit);
    d->style.x_scale.title = arena_text(d->memory, style->x_scale.title);
    d->bars = histogram_copy_distribution(d, bars);
    d->outlined = outline != NULL;
    if (outline) d->outline = histogram_copy_distribution(d, outline);
    histogram_prepare(d);
    x.draw = histogram_distribution_draw;
    x.height = histogram_distribution_height;
    histogram_distribution_table(&x.twin, d);
    return x;
}
