// Mirrored linear bars: amounts and balance compare honestly on a linear axis, and the printed value keeps the tiny.
#include "chart_private.h"

#include <math.h>
#include <stdio.h>

typedef struct bars {
    arena *memory;
    bars_style style;
    bars_row *rows;
    size_t count;
    double most;
} bars;

static const double row_height = 13.2, head_height = 14, axis_height = 17, label_room = 54, share_width = 52;

static bool bars_has_shares(const bars *b)
{
    for (size_t i = 0; b->style.share_head && i < b->count; i++)
        if (!isnan(b->rows[i].share[0]) || !isnan(b->rows[i].share[1])) return true;
    return false;
}

static double bars_note_height(const bars *b, canvas *c, double width)
{
    return *b->style.note ? canvas_paragraph_height(c, width, b->style.note, TYPE_FOOT, 0) + 6 : 0;
}

static double bars_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    const bars *b = x->data;
    return head_height + (double)count * row_height + axis_height +
           (from + count == b->count ? bars_note_height(b, c, width) : 0);
}

typedef struct geometry {
    double left, right, zero, scale; // points for one unit of value
    double longest;
} geometry;

static geometry bars_measure(const bars *b, canvas *c, canvas_box box)
{
    geometry g = {.left = 0};
    for (size_t i = 0; i < b->count; i++)
        g.left = fmax(g.left, canvas_text_width(c, b->rows[i].label, TYPE_TABLE_STRONG));
    g.left = box.x + fmin(g.left, 110) + 12;
    g.right = box.x + box.width - (bars_has_shares(b) ? 2 * share_width : 0) - 6;
    g.zero = (g.left + g.right) / 2;
    g.longest = (g.right - g.left) / 2 - label_room;
    g.scale = b->most > 0 ? g.longest / b->most : 0;
    return g;
}

static void bars_draw_value(canvas *c, const bars_row *r, int side, const geometry *g, double y, const char *unit)
{
    static const theme_ink inks[2] = {INK_RECEIVED, INK_SENT}, pales[2] = {INK_RECEIVED_PALE, INK_SENT_PALE};
    double sign = side ? 1 : -1, length = r->value[side] * g->scale, pale = r->pale[side] * g->scale;
    double end = g->zero + sign * fmax(isnan(length) ? 0 : length, isnan(pale) ? 0 : pale) + sign * 6;
    canvas_align align = side ? ALIGN_LEFT : ALIGN_RIGHT;
    if (pale > 0) canvas_rect(c, (canvas_box){side ? g->zero : g->zero - pale, y + 1.2, pale, 10.4}, pales[side], 0);
    if (r->tip[side]) canvas_tip(c, r->tip[side]);
    double thick = isnan(pale) ? 8.6 : 5.4, shift = isnan(pale) ? 2.1 : 3.7;
    if (length > 0)
        canvas_rect(c, (canvas_box){side ? g->zero : g->zero - length, y + shift, length, thick}, inks[side], 0);
    if (isnan(length)) {
        canvas_box box = {side ? g->zero + 1 : g->zero - 25, y + 2.1, 24, 8.6};
        canvas_hatch(c, box);
        return;
    }
    canvas_text(c, end, y + 9.1, number_volume_rate(r->value[side], unit).text, TYPE_TABLE,
                length > 3 ? INK_TEXT : INK_SECONDARY, align, 0);
}

// So many decimals for a column that its largest share has three digits or one decimal.
static unsigned bars_share_decimals(const bars *b, int side)
{
    double most = 0;
    for (size_t i = 0; i < b->count; i++)
        most = fmax(most, b->rows[i].share[side]);
    return most >= .1 ? 1 : most >= .01 ? 2 : 4;
}

static void bars_draw_share(canvas *c, double share, unsigned decimals, double right, double y)
{
    if (isnan(share)) return;
    number_text n = number_fixed(100 * share, decimals);
    bool small = n.text[0] == '<' || share == 0;
    canvas_text(c, right, y + 9.1, n.text, TYPE_TABLE, small ? INK_SECONDARY : INK_TEXT, ALIGN_RIGHT, 0);
}

static void bars_draw_axis(canvas *c, const bars *b, const geometry *g, double top, double bottom)
{
    double tics[10];
    plot_axis axis = {.min = 0, .max = b->most > 0 ? b->most * (g->zero - g->left) / g->longest : 1};
    size_t count = b->most > 0 ? plot_tics(axis, 3, tics) : 0;
    canvas_line(c, g->zero, top, g->zero, bottom + 2, INK_SECONDARY, .9);
    canvas_text(c, g->zero, bottom + 11, "0", TYPE_AXIS, INK_SECONDARY, ALIGN_CENTER, 0);
    for (size_t i = 0; i < count; i++) {
        number_text n = chart_tic(tics[i], b->style.unit, true);
        double half = canvas_text_width(c, n.text, TYPE_AXIS) / 2;
        for (int side = 0; side < 2 && tics[i] > 0; side++) {
            double x = g->zero + (side ? 1 : -1) * tics[i] * g->scale;
            if (x - half < g->left || x + half > g->right || fabs(x - g->zero) < half + 8) continue;
            canvas_line(c, x, bottom, x, bottom + 3, INK_SECONDARY, .5);
            canvas_text(c, x, bottom + 11, n.text, TYPE_AXIS, INK_SECONDARY, ALIGN_CENTER, 0);
        }
    }
}

static void bars_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const bars *b = x->data;
    geometry g = bars_measure(b, c, box);
    bool shares = bars_has_shares(b);
    double y = box.y + head_height, right = box.x + box.width;
    double below = axis_height + (from + count == b->count ? bars_note_height(b, c, box.width) : 0);
    double row = chart_pitch(box, head_height + below, count, row_height);
    canvas_text(c, g.zero - 8, box.y + 8, b->style.way[0], TYPE_TABLE_STRONG, INK_RECEIVED_TEXT, ALIGN_RIGHT, 0);
    canvas_text(c, g.zero + 8, box.y + 8, b->style.way[1], TYPE_TABLE_STRONG, INK_SENT_TEXT, ALIGN_LEFT, 0);
    if (shares) {
        char text[80];
        snprintf(text, sizeof text, "%.60s  in", b->style.share_head);
        canvas_text(c, right - share_width, box.y + 8, text, TYPE_TABLE, INK_SECONDARY, ALIGN_RIGHT, 0);
        canvas_text(c, right, box.y + 8, "out", TYPE_TABLE, INK_SECONDARY, ALIGN_RIGHT, 0);
    }
    for (size_t i = from; i < from + count && i < b->count; i++, y += row) {
        const bars_row *r = &b->rows[i];
        canvas_text(c, box.x, y + 9.1, r->label, TYPE_TABLE_STRONG, INK_TEXT, ALIGN_LEFT, g.left - box.x - 12);
        for (int side = 0; side < 2; side++) {
            bars_draw_value(c, r, side, &g, y, b->style.unit);
            if (shares)
                bars_draw_share(c, r->share[side], bars_share_decimals(b, side), right - (side ? 0 : share_width), y);
        }
    }
    bars_draw_axis(c, b, &g, box.y + head_height - 2, y);
    if (from + count == b->count && *b->style.note)
        canvas_paragraph(c, box.x, y + axis_height + 8, box.width, b->style.note, TYPE_FOOT, INK_SECONDARY, 0);
}

static void bars_fill_twin(chart *x, const bars *b)
{
    static const char *const in_out[2] = {"in", "out"};
    chart_twin *t = &x->twin;
    bool shares = bars_has_shares(b);
    t->columns = shares ? 5 : 3;
    t->right = 0x1e;
    chart_cell(t, "");
    for (int side = 0; side < 2; side++)
        chart_cell(t, b->style.way[side]);
    for (int side = 0; shares && side < 2; side++)
        chart_cellf(t, "%s %s", b->style.share_head, in_out[side]);
    for (size_t i = 0; i < b->count; i++) {
        chart_cell(t, b->rows[i].label);
        for (int side = 0; side < 2; side++)
            chart_cell(t, number_volume_rate(b->rows[i].value[side], b->style.unit).text);
        for (int side = 0; shares && side < 2; side++)
            chart_cell(t, number_plain(100 * b->rows[i].share[side]).text);
    }
}

static bool bars_pick(chart *x, chart_pick *p)
{
    bars *b = x->data;
    size_t kept = chart_pick_rows(x, p, b->rows, sizeof *b->rows, b->count, CHART_TITLE, offsetof(bars_row, label));
    if (!kept) return false;
    b->count = kept;
    bars_fill_twin(x, b);
    return true;
}

chart chart_bars(chart_head head, const bars_style *style, const bars_row *rows, size_t count)
{
    chart x;
    bars *b = chart_begin(&x, head, sizeof *b);
    b->style = *style;
    for (int side = 0; side < 2; side++)
        b->style.way[side] = arena_text(b->memory, style->way[side]);
    b->style.unit = arena_text(b->memory, style->unit);
    b->style.note = arena_text(b->memory, style->note);
    b->style.share_head = style->share_head ? arena_text(b->memory, style->share_head) : NULL;
    b->rows = arena_copy(b->memory, rows, count, sizeof *rows);
    b->count = count;
    for (size_t i = 0; i < b->count; i++) {
        bars_row *r = &b->rows[i];
        r->label = arena_text(b->memory, r->label);
        for (int side = 0; side < 2; side++) {
            r->tip[side] = r->tip[side] ? arena_text(b->memory, r->tip[side]) : NULL;
            b->most = fmax(b->most, fmax(r->value[side], r->pale[side]));
        }
    }
    x.rows = b->count ? b->count : 1;
    x.pick = bars_pick;
    x.squeeze = .8;
    x.height = bars_height;
    x.draw = bars_draw;
    bars_fill_twin(&x, b);
    return x;
}
