// Regions side by side: bandwidth on one scale, and how long their calls took on one logarithmic axis, with the middle and
// the 99th percentile.
#include "charts_first.h"
#include "render/chart/chart_private.h"
#include "render/plot/axes.h"

#include <math.h>

enum { CALLS_TEXTS = 5 };

typedef struct calls {
    arena *memory;
    calls_row *rows;
    size_t count;
    calls_style style;
    const char **rates, **middles, **p99s; // [count]
    bool has_rate, has_calls;
} calls;

// Where the columns are: the right edges of texts, and both pictures.
typedef struct calls_layout {
    double text[CALLS_TEXTS]; // text[0]: the right edge of names
    double bar, bar_width, rate, histogram, histogram_width, middle, p99;
} calls_layout;

static const double calls_gap = 10, calls_head = 14, calls_axis = 12, row_pitch = 16, rest_pitch = 13;

static const char *calls_text_of(const calls_row *r, size_t i)
{
    const char *const texts[CALLS_TEXTS] = {r->name, r->calls, r->time, r->share, r->bytes};
    return texts[i];
}

static const char *const calls_heads[CALLS_TEXTS] = {"region", "calls", "own time", "share", "bytes"};

static double calls_widest(const calls *d, canvas *c, size_t column)
{
    double widest = canvas_text_width(c, calls_heads[column], TYPE_TABLE);
    theme_type type = column ? TYPE_CELL : TYPE_TABLE_STRONG;
    for (size_t i = 0; i < d->count; i++)
        widest = fmax(widest, canvas_text_width(c, calls_text_of(&d->rows[i], column), type));
    if (d->style.rest[0] && column != 1 && column < 4)
        widest = fmax(widest, canvas_text_width(c, d->style.rest[column ? column - 1 : 0], TYPE_CELL));
    return widest;
}

static double calls_widest_of(canvas *c, const char *const *texts, size_t count, const char *head)
{
    return fmax(canvas_text_width(c, head, TYPE_TABLE), chart_widest(c, texts, count, TYPE_CELL_STRONG, 80));
}

static calls_layout calls_lay_out(const calls *d, canvas *c, canvas_box box)
{
    calls_layout l = {.text = {0}};
    double widths[CALLS_TEXTS], right = box.x + box.width, x = box.x;
    for (size_t i = 0; i < CALLS_TEXTS; i++)
        widths[i] = calls_widest(d, c, i);
    widths[0] = fmin(widths[0], .3 * box.width);
    for (size_t i = 0; i < CALLS_TEXTS; i++)
        l.text[i] = x += widths[i] + (i ? calls_gap : 0);
    double left = x + calls_gap;
    if (d->has_calls) {
        l.p99 = right;
        l.middle = l.p99 - calls_widest_of(c, d->p99s, d->count, "p99") - calls_gap;
        right = l.middle - calls_widest_of(c, d->middles, d->count, "p50") - calls_gap;
    }
    double rate = d->has_rate ? calls_widest_of(c, d->rates, d->count, "bandwidth") + calls_gap : 0,
           room = fmax(right - left - rate, 20);
    l.bar_width = d->has_rate ? room * (d->has_calls ? .34 : 1) : 0;
    l.bar = left;
    l.rate = left + l.bar_width + rate;
    l.histogram = d->has_rate ? l.rate + calls_gap : left;
    l.histogram_width = d->has_calls ? fmax(right - l.histogram, 10) : 0;
    return l;
}

static double calls_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    const calls *d = x->data;
    (void)c;
    (void)width;
    bool last = from + count >= d->count;
    return calls_head + (double)count * row_pitch +
           (last && d->style.rest[0] ? rest_pitch
            : d->has_calls           ? calls_axis
                                     : 0);
}

static void calls_draw_heads(const calls *d, canvas *c, const calls_layout *l, canvas_box box)
{
    double y = box.y + 7;
    for (size_t i = 0; i < CALLS_TEXTS; i++)
        canvas_text(c, i ? l->text[i] : box.x, y, calls_heads[i], TYPE_TABLE, INK_SECONDARY,
                    i ? ALIGN_RIGHT : ALIGN_LEFT, 0);
    if (d->has_rate) canvas_text(c, l->rate, y, "bandwidth", TYPE_TABLE, INK_SECONDARY, ALIGN_RIGHT, 0);
    if (d->has_calls) {
        canvas_text(c, l->histogram, y, "time per call", TYPE_TABLE, INK_SECONDARY, ALIGN_LEFT, l->histogram_width);
        canvas_text(c, l->middle, y, "p50", TYPE_TABLE, INK_SECONDARY, ALIGN_RIGHT, 0);
        canvas_text(c, l->p99, y, "p99", TYPE_TABLE, INK_SECONDARY, ALIGN_RIGHT, 0);
    }
    canvas_line(c, box.x, box.y + 11, box.x + box.width, box.y + 11, INK_HAIR, .6);
}

static axes calls_axes(const calls *d, const calls_layout *l, double y, double height)
{
    return (axes){
        {l->histogram, y, l->histogram_width, height},
        {.axis = {d->style.edges[0], d->style.edges[d->style.bins], true, false}, .format = AXES_DURATION, .unit = ""},
        {.axis = {0, 1, false, false}, .unit = ""}};
}

static void calls_draw_histogram(const calls *d, canvas *c, const calls_row *r, const calls_layout *l, double y)
{
    double most = 0, high = row_pitch - 4;
    axes a = calls_axes(d, l, y, high);
    for (size_t i = 0; r->counts && i < d->style.bins; i++)
        most = fmax(most, r->counts[i]);
    for (size_t i = 0; most > 0 && i < d->style.bins; i++) {
        double from = axes_x(&a, d->style.edges[i]), to = axes_x(&a, d->style.edges[i + 1]),
               tall =
                   r->counts[i] > 0 ? fmax(high * r->counts[i] / most, .6) : 0; // one call in a million is there, too
        if (tall > 0)
            canvas_rect(c, (canvas_box){from, y + high - tall, fmax(to - from - .2, .4), tall}, INK_PART + 1, 0);
    }
    canvas_line(c, l->histogram, y + high, l->histogram + l->histogram_width, y + high, INK_HAIR, .5);
    double middle = axes_x(&a, r->middle_s), last = axes_x(&a, r->p99_s);
    if (!isnan(middle)) canvas_line(c, middle, y, middle, y + high, INK_TEXT, .9);
    if (!isnan(last)) canvas_dashed(c, last, y, last, y + high, INK_SENT_TEXT, 1.1);
}

static void calls_draw_row(const calls *d, canvas *c, size_t i, const calls_layout *l, canvas_box box, double most)
{
    const calls_row *r = &d->rows[i];
    double base = box.y + 10.5;
    if (i % 2 == 0) canvas_rect(c, box, INK_EMPTY, 0);
    canvas_text(c, box.x + 2, base, r->name, TYPE_TABLE_STRONG, INK_TEXT, ALIGN_LEFT, l->text[0] - box.x - 2);
    for (size_t k = 1; k < CALLS_TEXTS; k++)
        canvas_text(c, l->text[k], base, calls_text_of(r, k), k == 2 ? TYPE_CELL_STRONG : TYPE_CELL, INK_TEXT,
                    ALIGN_RIGHT, 0);
    if (d->has_rate && !isnan(r->rate)) {
        canvas_rect(c, (canvas_box){l->bar, box.y + 4.5, l->bar_width, row_pitch - 9}, INK_HAIR, 0);
        canvas_rect(
            c, (canvas_box){l->bar, box.y + 4.5, fmax(most > 0 ? l->bar_width * r->rate / most : 0, .8), row_pitch - 9},
            INK_RECEIVED, 0);
        canvas_text(c, l->rate, base, d->rates[i], TYPE_CELL_STRONG, INK_TEXT, ALIGN_RIGHT, 0);
    }
    if (!d->has_calls) return;
    if (r->counts) calls_draw_histogram(d, c, r, l, box.y + 2);
    canvas_text(c, l->middle, base, d->middles[i], TYPE_CELL_STRONG, INK_TEXT, ALIGN_RIGHT, 0);
    canvas_text(c, l->p99, base, d->p99s[i], TYPE_CELL, INK_TEXT, ALIGN_RIGHT, 0);
}

static void calls_draw_rest(const calls *d, canvas *c, const calls_layout *l, canvas_box box, double y)
{
    const char *const *rest = d->style.rest;
    canvas_text(c, box.x + 2, y, rest[0], TYPE_CELL, INK_SECONDARY, ALIGN_LEFT, l->text[1] - box.x);
    canvas_text(c, l->text[2], y, rest[1], TYPE_CELL, INK_SECONDARY, ALIGN_RIGHT, 0);
    canvas_text(c, l->text[3], y, rest[2], TYPE_CELL, INK_SECONDARY, ALIGN_RIGHT, 0);
    double end = d->has_calls ? l->histogram - 8 : box.x + box.width;
    if (end - l->text[3] > 60)
        canvas_text(c, l->text[3] + calls_gap, y, d->style.sum, TYPE_CELL, INK_SECONDARY, ALIGN_LEFT,
                    end - l->text[3] - calls_gap);
}

// The tics of the calls' time below the last row: as many as have room.
static void calls_draw_axis(const calls *d, canvas *c, const calls_layout *l, double y)
{
    axes a = calls_axes(d, l, y, 4);
    double tics[10], last = -INFINITY;
    number_text labels[10];
    size_t count = axes_labels(&a.x, l->histogram_width > 140 ? 6 : 3, tics, labels);
    for (size_t i = 0; i < count; i++) {
        double x = axes_x(&a, tics[i]), half = canvas_text_width(c, labels[i].text, TYPE_AXIS) / 2;
        if (isnan(x) || x - half < last + 3 || x + half > l->histogram + l->histogram_width + 8) continue;
        canvas_line(c, x, y - .5, x, y + 1.5, INK_SECONDARY, .5);
        canvas_text(c, x, y + 8, labels[i].text, TYPE_AXIS, INK_SECONDARY, ALIGN_CENTER, 0);
        last = x + half;
    }
}

static void calls_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const calls *d = x->data;
    calls_layout l = calls_lay_out(d, c, box);
    double most = 0, y = box.y + calls_head;
    for (size_t i = 0; i < d->count; i++)
        most = fmax(most, isnan(d->rows[i].rate) ? 0 : d->rows[i].rate);
    calls_draw_heads(d, c, &l, box);
    for (size_t i = from; i < from + count && i < d->count; i++, y += row_pitch)
        calls_draw_row(d, c, i, &l, (canvas_box){box.x, y, box.width, row_pitch}, most);
    if (d->has_calls) calls_draw_axis(d, c, &l, y);
    if (from + count >= d->count && d->style.rest[0]) calls_draw_rest(d, c, &l, box, y + 9);
}

static void calls_make_table(chart_twin *t, const calls *d)
{
    static const char *const more[] = {"bandwidth", "p50", "p99"};
    t->columns = CALLS_TEXTS + 3;
    t->right = 0xfe;
    for (size_t i = 0; i < CALLS_TEXTS; i++)
        chart_cell(t, calls_heads[i]);
    for (size_t i = 0; i < 3; i++)
        chart_cell(t, more[i]);
    for (size_t i = 0; i < d->count; i++) {
        for (size_t k = 0; k < CALLS_TEXTS; k++)
            chart_cell(t, calls_text_of(&d->rows[i], k));
        chart_cell(t, d->rates[i]);
        chart_cell(t, d->middles[i]);
        chart_cell(t, d->p99s[i]);
    }
    if (!d->style.rest[0]) return;
    const char *const last[] = {d->style.rest[0], "", d->style.rest[1], d->style.rest[2], "", "", "", ""};
    for (size_t i = 0; i < t->columns; i++)
        chart_cell(t, last[i]);
}

static void calls_copy_row(calls *d, size_t i)
{
    calls_row *r = &d->rows[i];
    const char **texts[] = {&r->name, &r->calls, &r->time, &r->share, &r->bytes};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        *texts[k] = arena_text(d->memory, *texts[k]);
    if (r->counts) r->counts = arena_copy(d->memory, r->counts, d->style.bins, sizeof *r->counts);
    d->rates[i] = isnan(r->rate) ? "" : arena_text(d->memory, number_prefixed(r->rate, "B/s").text);
    d->middles[i] = isnan(r->middle_s) ? "" : arena_text(d->memory, number_duration(r->middle_s).text);
    d->p99s[i] = isnan(r->p99_s) ? "" : arena_text(d->memory, number_duration(r->p99_s).text);
    d->has_rate |= !isnan(r->rate);
    d->has_calls |= r->counts != NULL && d->style.bins > 0;
}

chart chart_calls(chart_head head, const calls_style *style, const calls_row *rows, size_t count)
{
    chart x;
    calls *d = chart_begin(&x, head, sizeof *d);
    d->style = *style;
    d->style.edges = arena_copy(d->memory, style->edges, style->bins + 1, sizeof *style->edges);
    for (size_t i = 0; i < 3 && style->rest[0]; i++)
        d->style.rest[i] = arena_text(d->memory, style->rest[i]);
    d->style.sum = arena_text(d->memory, style->sum);
    d->rows = arena_copy(d->memory, rows, count, sizeof *rows);
    d->count = count;
    d->rates = arena_make(d->memory, 3 * (count + 1), sizeof *d->rates);
    d->middles = d->rates + count + 1;
    d->p99s = d->middles + count + 1;
    for (size_t i = 0; i < count; i++)
        calls_copy_row(d, i);
    x.rows = count ? count : 1;
    x.height = calls_height;
    x.draw = calls_draw;
    calls_make_table(&x.twin, d);
    return x;
}
