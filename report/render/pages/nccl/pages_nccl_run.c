// Wire time and skew over the sequence number, one above the other on the same scale: a wait longer than the wire is
// seen to be longer.
#include "pages_nccl_private.h"
#include "nccl_page.h"

#include "render/chart/charts_plots.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PANELS = 2 };

typedef struct curve {
    double *y, *low, *high;
    double top; // of its axis, seconds
    const char *label;
    theme_ink ink, pale, text;
} curve;

typedef struct run {
    arena *memory;
    double *x;
    size_t count;
    curve curves[PANELS];
    plot_axis axis;
    int64_t *written_ns; // [count]; 0: not known
    bool dated;
    axes_span *gaps;
    size_t gap_count;
    double change; // NAN: none
    int panels;    // 1: there is only one rank, and no skew
    const char *note;
} run;

static const double data_height = 124, head_height = 11, panel_gap = 5;

static axes_scale nccl_run_scale(const run *r)
{
    return (axes_scale){.axis = r->axis, .unit = "", .wall_ns = r->dated, .title = "Sequence number"};
}

static int64_t nccl_run_when(const void *user, double sn)
{
    const run *r = user;
    size_t i = 0;
    while (i + 1 < r->count && r->x[i + 1] <= sn)
        i++;
    return r->count && r->x[i] <= sn && sn < r->axis.max ? r->written_ns[i] : 0;
}

// Of everything but the data.
static double nccl_run_fixed_height(const run *r, canvas *c, double width)
{
    const axes_scale x = nccl_run_scale(r);
    return r->panels * (head_height + panel_gap) + axes_x_height(c, &x) +
           canvas_paragraph_height(c, width, r->note, TYPE_FOOT, 0) + 7;
}

static double nccl_run_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    (void)from, (void)count;
    return data_height + nccl_run_fixed_height(x->data, c, width);
}

static void nccl_run_draw_curve(canvas *c, const run *r, const curve *k, const axes *a)
{
    const plot_series drawn_as[2] = {
        {.kind = PLOT_BAND, .ink = k->pale, .x = r->x, .y = k->low, .y2 = k->high, .count = r->count},
        {.kind = PLOT_LINE, .ink = k->ink, .line_width = 1.2, .x = r->x, .y = k->y, .count = r->count}};
    plot p = {a->x.axis, a->y.axis, drawn_as, 2};
    canvas_plot(c, a->box, &p);
}

static void nccl_run_draw_hovers(canvas *c, const run *r, const axes *a)
{
    for (size_t i = 0; i < r->count; i++) {
        axes_span span = {r->x[i], i + 1 < r->count ? r->x[i + 1] : a->x.axis.max, NULL, INK_NONE};
        double left, right;
        char text[240];
        if (!axes_clip(a, &span, &left, &right)) continue;
        if (r->panels == 1 && !isnan(r->curves[0].y[i]))
            snprintf(text, sizeof text, "from sn %.0f: %s", r->x[i], number_duration(r->curves[0].y[i]).text);
        else if (isnan(r->curves[0].y[i]))
            snprintf(text, sizeof text, "from sn %.0f: no complete call", r->x[i]);
        else
            snprintf(text, sizeof text, "from sn %.0f: wire %s, skew %s", r->x[i],
                     number_duration(r->curves[0].y[i]).text, number_duration(r->curves[1].y[i]).text);
        canvas_hover(c, (canvas_box){left, a->box.y, fmax(right - left, .5), a->box.height}, text);
    }
}

// Why a stretch is empty, where there is room to say it.
static void nccl_run_draw_gap_labels(canvas *c, const run *r, const axes *a)
{
    for (size_t i = 0; i < r->gap_count; i++) {
        double left, right, text = r->gaps[i].label ? canvas_text_width(c, r->gaps[i].label, TYPE_AXIS) : 0;
        if (!(text > 0) || !axes_clip(a, &r->gaps[i], &left, &right) || right - left < text + 12 || a->box.height < 14)
            continue;
        double middle = (left + right) / 2, base = a->box.y + a->box.height / 2 + 2.3;
        canvas_rect(c, (canvas_box){middle - text / 2 - 4, base - 7.5, text + 8, 10.5}, INK_PAPER, 1.5);
        canvas_text(c, middle, base, r->gaps[i].label, TYPE_AXIS, INK_SECONDARY, ALIGN_CENTER, 0);
    }
}

static void nccl_run_draw_change(canvas *c, const run *r, const axes *a)
{
    double at = axes_x(a, r->change);
    if (isnan(r->change) || isnan(at) || at < a->box.x || at > a->box.x + a->box.width) return;
    canvas_dashed(c, at, a->box.y, at, a->box.y + a->box.height, INK_TEXT, 1);
}

static void nccl_run_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const run *r = x->data;
    double sum = r->curves[0].top + (r->panels > 1 ? r->curves[1].top : 0), y = box.y, widest = 0;
    double high = fmax(fmin(box.height - nccl_run_fixed_height(r, c, box.width), data_height), 20);
    axes a = {{0, 0, 0, 0}, nccl_run_scale(r), {{0, 1, false, false}, AXES_DURATION, "", 0, "Time"}};
    (void)from, (void)count;
    for (int i = 0; i < r->panels; i++) {
        a.y.axis.max = r->curves[i].top;
        widest = fmax(widest, axes_label_width(c, &a.y, high * r->curves[i].top / sum));
    }
    a.box.x = box.x + widest + 6;
    a.box.width = box.width - widest - 6;
    for (int i = 0; i < r->panels; i++) {
        const curve *k = &r->curves[i];
        a.box.y = y + head_height;
        a.box.height = high * k->top / sum;
        a.y.axis.max = k->top;
        axes_hatch(c, &a, r->gaps, r->gap_count);
        axes_draw_y(c, &a);
        nccl_run_draw_curve(c, r, k, &a);
        nccl_run_draw_change(c, r, &a);
        if (i == 0) nccl_run_draw_gap_labels(c, r, &a);
        canvas_text(c, a.box.x, y + 7, k->label, TYPE_TABLE_STRONG, k->text, ALIGN_LEFT, a.box.width);
        nccl_run_draw_hovers(c, r, &a);
        y += head_height + a.box.height + panel_gap;
    }
    axes_draw_x_when(c, &a, a.box.x - 8, box.x + box.width, nccl_run_when, r);
    canvas_paragraph(c, box.x, y - panel_gap + axes_x_height(c, &a.x) + 9, box.width, r->note, TYPE_FOOT, INK_SECONDARY,
                     0);
}

// ---- making it ----

// Neighbouring bins without a complete call are one gap.
static void nccl_run_find_gaps(run *r, const nccl_view *v)
{
    r->gaps = arena_make(r->memory, v->run.count + 1, sizeof *r->gaps);
    for (size_t i = 0; i < v->run.count; i++) {
        const nccl_view_bin *b = &v->run.items[i];
        double end = i + 1 < v->run.count ? (double)v->run.items[i + 1].first_sn : (double)b->last_sn + 1;
        if (b->complete) continue;
        if (r->gap_count && r->gaps[r->gap_count - 1].to == (double)b->first_sn)
            r->gaps[r->gap_count - 1].to = end;
        else
            r->gaps[r->gap_count++] = (axes_span){(double)b->first_sn, end, NULL, INK_NONE};
    }
    for (size_t i = 0; i < r->gap_count; i++)
        if (r->gaps[i].to - r->gaps[i].from > .08 * (r->axis.max - r->axis.min)) r->gaps[i].label = "incomplete";
}

static void nccl_run_find_tops(run *r)
{
    for (int i = 0; i < PANELS; i++) {
        double most = 0;
        for (size_t k = 0; k < r->count; k++)
            most = fmax(most, fmax(r->curves[i].high[k], r->curves[i].y[k]));
        most *= 1.06; // room above the line
        r->curves[i].top = plot_axis_for(&most, 1, false).max;
    }
    // One scale; but a panel is never too low to be read.
    for (int i = 0; i < PANELS && r->panels > 1; i++)
        r->curves[i].top = fmax(r->curves[i].top, .28 * r->curves[!i].top);
}

static void nccl_run_fill_curves(run *r, const nccl_view *v)
{
    size_t n = v->run.count;
    r->x = arena_make(r->memory, n + 1, sizeof *r->x);
    for (int i = 0; i < PANELS; i++) {
        double *all = arena_make(r->memory, 3 * (n + 1), sizeof *all);
        r->curves[i].y = all, r->curves[i].low = all + n + 1, r->curves[i].high = all + 2 * (n + 1);
    }
    r->written_ns = arena_make(r->memory, n + 1, sizeof *r->written_ns);
    for (size_t k = 0; k < n; k++) {
        const nccl_view_bin *b = &v->run.items[k];
        r->written_ns[k] = nccl_page_wall_ns(b->written_us);
        r->dated |= r->written_ns[k] != 0;
        const double us[PANELS][3] = {{b->wire_p50, b->wire_p5, b->wire_p95}, {b->skew_p50, b->skew_p5, b->skew_p95}};
        r->x[k] = (double)b->first_sn;
        for (int i = 0; i < PANELS; i++) {
            r->curves[i].y[k] = b->complete ? us[i][0] / 1e6 : NAN;
            r->curves[i].low[k] = b->complete ? us[i][1] / 1e6 : NAN;
            r->curves[i].high[k] = b->complete ? us[i][2] / 1e6 : NAN;
        }
    }
    r->count = r->x ? n : 0;
}

static const char *nccl_run_skew_label(run *r, const nccl_view *v)
{
    if (!v->run_changed) return "skew: how long the first waits for the last";
    return arena_format(r->memory, "skew: changes at sn %s", number_grouped(v->run_change_sn).text);
}

static void nccl_run_fill_twin(chart *x, const nccl_view *v)
{
    static const char *const heads[] = {"from sn",
                                        "to sn",
                                        "calls",
                                        "complete",
                                        "wire p5 (\xc2\xb5s)",
                                        "wire p50",
                                        "wire p95",
                                        "skew p5 (\xc2\xb5s)",
                                        "skew p50",
                                        "skew p95"};
    x->twin.columns = sizeof heads / sizeof *heads;
    x->twin.right = ~UINT64_C(0);
    for (size_t i = 0; i < x->twin.columns; i++)
        chart_cell(&x->twin, heads[i]);
    for (size_t i = 0; i < v->run.count; i++) {
        const nccl_view_bin *b = &v->run.items[i];
        const uint64_t counts[] = {b->first_sn, b->last_sn, b->instances, b->complete};
        const double us[] = {b->wire_p5, b->wire_p50, b->wire_p95, b->skew_p5, b->skew_p50, b->skew_p95};
        for (size_t k = 0; k < 4; k++)
            chart_cellf(&x->twin, "%llu", (unsigned long long)counts[k]);
        for (size_t k = 0; k < 6; k++)
            chart_cell(&x->twin, b->complete ? number_fixed(us[k], 1).text : "not measured");
    }
}

chart nccl_chart_run(chart_head head, const nccl_view *v)
{
    chart x;
    run *r = chart_begin(&x, head, sizeof *r);
    size_t n = v->run.count;
    r->panels = v->run_ranks > 1 ? PANELS : 1;
    nccl_run_fill_curves(r, v);
    if (n) {
        double end = (double)v->run.items[n - 1].last_sn + 1;
        r->axis = (plot_axis){r->x[0], end > r->x[0] ? end : r->x[0] + 1, false, false};
        nccl_run_find_tops(r);
        nccl_run_find_gaps(r, v);
    }
    r->change = v->run_changed ? (double)v->run_change_sn : NAN;
    r->curves[0].label = r->panels > 1 ? "wire time" : "time";
    r->curves[0].ink = r->curves[0].text = INK_RECEIVED, r->curves[0].pale = INK_RECEIVED_PALE;
    r->curves[0].text = INK_RECEIVED_TEXT;
    r->curves[1].label = nccl_run_skew_label(r, v);
    r->curves[1].ink = INK_SENT, r->curves[1].pale = INK_SENT_PALE, r->curves[1].text = INK_SENT_TEXT;
    uint64_t each = n ? (v->run_calls + n - 1) / n : 0;
    r->note = arena_format(
        r->memory,
        "x: sequence number (sn), which NCCL counts for each collective of a communicator, of all sizes. "
        "Line: median of %s%s; "
        "band: p5 to p95. Hatched: no complete call.%s%s%s",
        each > 1 ? "up to " : "", words_many(each, "call").text,
        r->dated ? " Below: when the call's first line was written." : "",
        v->run_changed ? " Dashed: where the skew changes." : "",
        v->run_others ? arena_format(r->memory, " %llu other runs of this communicator (restarts) are not in it.",
                                     (unsigned long long)v->run_others)
                      : "");
    x.squeeze = .64;
    x.height = nccl_run_height;
    x.draw = nccl_run_draw;
    nccl_run_fill_twin(&x, v);
    return x;
}
