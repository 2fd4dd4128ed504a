// The table of collectives: is it the wire or the waiting, and how near to the peak is the wire?
#include "pages_nccl_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct row {
    nccl_view_row r;
    const char *size, *calls, *bytes, *time, *wire[2], *skew[2], *bus, *share, *folded;
} row;

typedef struct grid {
    arena *memory;
    row *rows;
    size_t count;
    const char *note;
    double most_gbs; // end of bars without a peak
} grid;

static const double pitch = 13.2, head_height = 15;

static double nccl_table_note_height(const grid *g, canvas *c, double width)
{
    return canvas_paragraph_height(c, width, g->note, TYPE_FOOT, 0) + 4;
}

static double nccl_table_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    const grid *g = x->data;
    return head_height + (double)count * pitch + (from + count >= g->count ? nccl_table_note_height(g, c, width) : 0);
}

// Right edges of numbers; label, coll, skew and bar are left edges.
typedef struct places {
    double label, coll, size, calls, bytes, time, wire[2], skew, skew_text[2], bar, bar_end, bus, share;
} places;

static places nccl_table_place_columns(canvas_box box)
{
    double w = box.width, x = box.x;
    return (places){.label = x,
                    .coll = x + .105 * w,
                    .size = x + .315 * w,
                    .calls = x + .378 * w,
                    .bytes = x + .448 * w,
                    .time = x + .502 * w,
                    .wire = {x + .572 * w, x + .622 * w},
                    .skew = x + .63 * w,
                    .skew_text = {x + .724 * w, x + .776 * w},
                    .bar = x + .795 * w,
                    .bar_end = x + .893 * w,
                    .bus = x + .94 * w,
                    .share = x + w};
}

static void nccl_table_head(canvas *c, double x, double y, const char *text, canvas_align align)
{
    canvas_text(c, x, y, text, TYPE_AXIS, INK_SECONDARY, align, 0);
}

static void nccl_table_draw_heads(canvas *c, const places *p, canvas_box box)
{
    double y = box.y + 7;
    nccl_table_head(c, p->label, y, "comm.", ALIGN_LEFT);
    nccl_table_head(c, p->coll, y, "collective", ALIGN_LEFT);
    nccl_table_head(c, p->size, y, "size", ALIGN_RIGHT);
    nccl_table_head(c, p->calls, y, "calls", ALIGN_RIGHT);
    nccl_table_head(c, p->bytes, y, "bytes", ALIGN_RIGHT);
    nccl_table_head(c, p->time, y, "time s", ALIGN_RIGHT);
    nccl_table_head(c, p->wire[0], y, "wire p50", ALIGN_RIGHT);
    nccl_table_head(c, p->wire[1], y, "p95", ALIGN_RIGHT);
    nccl_table_head(c, p->skew_text[0], y, "skew p50", ALIGN_RIGHT);
    nccl_table_head(c, p->skew_text[1], y, "p95", ALIGN_RIGHT);
    nccl_table_head(c, p->bar, y, "bus bandwidth", ALIGN_LEFT);
    nccl_table_head(c, p->share, y, "of peak", ALIGN_RIGHT);
    canvas_line(c, box.x, box.y + 11, box.x + box.width, box.y + 11, INK_HAIR, .6);
}

static void nccl_table_number(canvas *c, double right, double base, const char *text, bool strong, double room)
{
    bool none = strcmp(text, NUMBER_UNKNOWN) == 0;
    canvas_text(c, right, base, text, strong && !none ? TYPE_CELL_STRONG : TYPE_CELL, none ? INK_SECONDARY : INK_TEXT,
                ALIGN_RIGHT, room);
}

static void nccl_table_draw_skew(canvas *c, const row *r, const places *p, double y, double base)
{
    if (r->r.severity >= SEVERITY_WATCH) {
        severity s = (severity)r->r.severity;
        canvas_rect(c, (canvas_box){p->skew, y, p->skew_text[1] + 2 - p->skew, pitch - 1.2}, theme_severity_field(s),
                    0);
        canvas_mark(c, p->skew + 5, base - 2.5, s);
        canvas_text(c, p->skew + 11, base, theme_severity_word(s), TYPE_AXIS, theme_severity_ink(s), ALIGN_LEFT, 0);
    }
    nccl_table_number(c, p->skew_text[0], base, r->skew[0], r->r.severity >= SEVERITY_WATCH, p->skew_text[0] - p->skew);
    nccl_table_number(c, p->skew_text[1], base, r->skew[1], false, p->skew_text[1] - p->skew_text[0] - 3);
}

static void nccl_table_draw_bar(canvas *c, const grid *g, const row *r, const places *p, double y, double base)
{
    double value = r->r.bus_gbs.p50, width = p->bar_end - p->bar;
    bool peak = r->r.peak_gbs > 0;
    if (!r->r.bus_gbs.count) {
        canvas_text(c, p->bar, base, r->folded, TYPE_AXIS, INK_SECONDARY, ALIGN_LEFT, p->share - p->bar);
        return;
    }
    if (peak) {
        canvas_rect(c, (canvas_box){p->bar, y + 2, width, pitch - 5.4}, INK_EMPTY, 0);
        canvas_rect(c, (canvas_box){p->bar, y + 2, fmax(fmin(value / r->r.peak_gbs, 1) * width, .8), pitch - 5.4},
                    INK_RECEIVED, 0);
        canvas_line(c, p->bar_end, y + .6, p->bar_end, y + pitch - 2, INK_TEXT, .9);
    } else if (g->most_gbs > 0) { // without a peak there is no field to fill
        canvas_rect(c, (canvas_box){p->bar, y + 2, fmax(value / g->most_gbs * width, .8), pitch - 5.4},
                    INK_RECEIVED_PALE, 0);
    }
    nccl_table_number(c, p->bus, base, r->bus, true, p->bus - p->bar_end - 2);
    nccl_table_number(c, p->share, base, r->share, false, p->share - p->bus - 2);
}

static void nccl_table_draw_row(canvas *c, const grid *g, const row *r, const places *p, double y)
{
    double base = y + pitch / 2 + 1.8;
    canvas_text(c, p->label, base, r->r.label, TYPE_TABLE_STRONG, INK_TEXT, ALIGN_LEFT, p->coll - p->label - 4);
    canvas_text(c, p->coll, base, r->r.coll, TYPE_CELL, INK_TEXT, ALIGN_LEFT, .125 * (p->share - p->label));
    nccl_table_number(c, p->size, base, r->size, false, .09 * (p->share - p->label));
    nccl_table_number(c, p->calls, base, r->calls, false, p->calls - p->size - 3);
    nccl_table_number(c, p->bytes, base, r->bytes, false, p->bytes - p->calls - 3);
    nccl_table_number(c, p->time, base, r->time, true, p->time - p->bytes - 3);
    nccl_table_number(c, p->wire[0], base, r->wire[0], true, p->wire[0] - p->time - 3);
    nccl_table_number(c, p->wire[1], base, r->wire[1], false, p->wire[1] - p->wire[0] - 3);
    nccl_table_draw_skew(c, r, p, y, base);
    nccl_table_draw_bar(c, g, r, p, y, base);
}

static void nccl_table_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const grid *g = x->data;
    places p = nccl_table_place_columns(box);
    double y = box.y + head_height;
    nccl_table_draw_heads(c, &p, box);
    for (size_t i = from; i < from + count && i < g->count; i++, y += pitch) {
        if (i > from) canvas_line(c, box.x, y - .7, box.x + box.width, y - .7, INK_HAIR, .3);
        nccl_table_draw_row(c, g, &g->rows[i], &p, y);
    }
    if (from + count >= g->count) canvas_paragraph(c, box.x, y + 8, box.width, g->note, TYPE_FOOT, INK_SECONDARY, 0);
}

// ---- texts ----

// The size of a message, short enough for a column: 256 MiB.
static const char *nccl_table_size_text(grid *g, const nccl_view_row *r)
{
    if (r->size_low == r->size_high) return arena_text(g->memory, number_binary((double)r->size_low).text);
    return arena_format(g->memory, "%s\xe2\x80\x93%s", number_binary((double)r->size_low).text,
                        number_binary((double)r->size_high).text);
}

// Milliseconds with as many decimals as the whole column needs.
static const char *nccl_table_ms_text(grid *g, const nccl_spread *s, double us, unsigned decimals)
{
    return arena_text(g->memory, s->count ? number_fixed(us / 1e3, decimals).text : NUMBER_UNKNOWN);
}

static unsigned nccl_table_decimals_of(const nccl_view_row *rows, size_t count)
{
    double least = INFINITY;
    for (size_t i = 0; i < count; i++)
        if (rows[i].wire_us.count && rows[i].wire_us.p50 > 0) least = fmin(least, rows[i].wire_us.p50);
    return least < 50 ? 3 : least < 5000 ? 2 : 1;
}

static void nccl_table_fill_row(grid *g, row *to, const nccl_view_row *r, unsigned decimals, unsigned time_decimals)
{
    arena *a = g->memory;
    const nccl_spread unknown = {0}, *skew = r->ranks > 1 ? &r->skew_us : &unknown;
    to->r = *r;
    to->r.label = arena_text(a, r->label);
    to->r.coll = arena_text(a, r->coll);
    to->size = nccl_table_size_text(g, r);
    to->calls =
        arena_text(a, r->calls < 1000000 ? number_grouped(r->calls).text : number_prefixed((double)r->calls, "").text);
    to->bytes = arena_text(a, isfinite(r->bytes) ? number_volume(r->bytes, "bytes").text : NUMBER_UNKNOWN);
    to->time = arena_text(a, number_fixed(r->time_us / 1e6, time_decimals).text);
    to->wire[0] = nccl_table_ms_text(g, &r->wire_us, r->wire_us.p50, decimals);
    to->wire[1] = nccl_table_ms_text(g, &r->wire_us, r->wire_us.p95, decimals);
    to->skew[0] = nccl_table_ms_text(g, skew, skew->p50, decimals);
    to->skew[1] = nccl_table_ms_text(g, skew, skew->p95, decimals);
    to->bus = arena_text(a, number_plain(r->bus_gbs.count ? r->bus_gbs.p50 : NAN).text);
    to->share =
        arena_text(a, r->peak_gbs > 0 && r->bus_gbs.count ? number_fixed(100 * r->bus_gbs.p50 / r->peak_gbs, 0).text
                                                          : NUMBER_UNKNOWN);
    if (strcmp(to->share, NUMBER_UNKNOWN) != 0) to->share = arena_format(a, "%s" NUMBER_SPACE "%%", to->share);
    to->folded = r->sizes > 1   ? arena_format(a, "%llu sizes together", (unsigned long long)r->sizes)
                 : r->ranks > 1 ? "no bus bandwidth defined"
                                : "one rank";
}

static void nccl_table_fill_twin(chart *x, const grid *g)
{
    static const char *const heads[] = {"communicators", "collective",    "size",          "calls",
                                        "incomplete",    "bytes",         "time (s)",      "wire p50 (ms)",
                                        "wire p95 (ms)", "skew p50 (ms)", "skew p95 (ms)", "bus bandwidth p50 (GB/s)",
                                        "of peak",       "waiting"};
    x->twin.columns = sizeof heads / sizeof *heads;
    x->twin.right = UINT64_C(0x1ffc);
    for (size_t i = 0; i < x->twin.columns; i++)
        chart_cell(&x->twin, heads[i]);
    for (size_t i = 0; i < g->count; i++) {
        const row *r = &g->rows[i];
        const number_text incomplete = number_grouped(r->r.incomplete);
        const char *cells[] = {
            r->r.label,      r->r.coll,
            r->size,         r->calls,
            incomplete.text, r->bytes,
            r->time,         r->wire[0],
            r->wire[1],      r->skew[0],
            r->skew[1],      r->bus,
            r->share,        r->r.severity >= SEVERITY_WATCH ? theme_severity_word((severity)r->r.severity) : ""};
        for (size_t k = 0; k < x->twin.columns; k++)
            chart_cell(&x->twin, cells[k]);
    }
}

static const char *nccl_table_note_of(grid *g, size_t left)
{
    bool peak = false;
    for (size_t i = 0; i < g->count; i++)
        peak = peak || g->rows[i].r.peak_gbs > 0;
    return arena_format(
        g->memory,
        "Wire (shortest time of all ranks) and skew (longest \xe2\x88\x92 shortest) in ms; time = wire + "
        "skew, of several "
        "communicators the mean. Bus bandwidth in GB/s, from the median wire time; %s%s",
        peak ? "the line is the peak that was given." : "no peak was given (--peak), so bars compare the rows only.",
        left ? arena_format(g->memory, " %zu more rows stand behind, under All collectives.", left) : "");
}

chart nccl_chart_table(chart_head head_of, const nccl_view_row *rows, size_t count, size_t left)
{
    chart x;
    grid *g = chart_begin(&x, head_of, sizeof *g);
    g->rows = arena_make(g->memory, count + 1, sizeof *g->rows);
    double longest = 0;
    for (size_t i = 0; i < count; i++)
        longest = fmax(longest, rows[i].time_us);
    unsigned decimals = nccl_table_decimals_of(rows, count), time_decimals = longest < 1e6 ? 3 : longest < 1e7 ? 2 : 1;
    for (size_t i = 0; i < count; i++) {
        nccl_table_fill_row(g, &g->rows[g->count++], &rows[i], decimals, time_decimals);
        if (rows[i].bus_gbs.count) g->most_gbs = fmax(g->most_gbs, rows[i].bus_gbs.p50);
    }
    g->note = nccl_table_note_of(g, left);
    x.rows = g->count ? g->count : 1;
    x.height = nccl_table_height;
    x.draw = nccl_table_draw;
    nccl_table_fill_twin(&x, g);
    return x;
}
