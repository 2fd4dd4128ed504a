// Counters of one unit as logarithmic bars. A log bar has no true zero: the bar is a pale guide, its end carries the
// value, and the peers' dots show whether this device is odd.
#include "chart_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct panel {
    arena *memory;
    panel_style style;
    panel_row *rows;
    size_t count;
} panel;

static const double pitch = 18.4, axis_height = 14, value_width = 74;

static double panel_place(const panel *p, double value, double left, double right)
{
    double share = log(value / p->style.low) / log(p->style.high / p->style.low);
    return left + fmax(0, fmin(1, share)) * (right - left);
}

static double panel_decades(const panel *p)
{
    return round(log10(p->style.high / p->style.low));
}

static void panel_draw_grid(canvas *c, const panel *p, double left, double right, double top, double bottom)
{
    double count = panel_decades(p), every = ceil(count / 9);
    for (double i = 0; i <= count + .01; i += every) {
        double value = p->style.low * pow(10, i), at = panel_place(p, value, left, right);
        number_text n = value < 1 ? number_plain(value) : chart_tic(value, "", false);
        if (value < 1) snprintf(n.text, sizeof n.text, "%g", value);
        canvas_line(c, at, top, at, bottom, i > 0 ? INK_HAIR : INK_SECONDARY, i > 0 ? .5 : .8);
        canvas_text(c, at, bottom + 8.5, n.text, TYPE_AXIS, INK_SECONDARY, ALIGN_CENTER, 0);
    }
}

static void panel_draw_bar(canvas *c, const panel *p, const panel_row *r, double left, double right, double y)
{
    theme_ink pale = p->style.harm ? INK_SENT_PALE : INK_RECEIVED_PALE, hard = p->style.harm ? INK_WATCH : INK_RECEIVED;
    double end = panel_place(p, r->value, left, right), furthest = end;
    if (r->exact) canvas_tip(c, r->exact);
    canvas_rect(c, (canvas_box){left, y + 3.6, end - left, 8}, pale, 0);
    canvas_rect(c, (canvas_box){end - 1.6, y + 1.6, 3.2, 12}, hard, 0);
    for (size_t i = 0; i < r->peer_count; i++) {
        if (!(r->peers[i] > 0)) continue;
        double at = panel_place(p, r->peers[i], left, right);
        canvas_dot(c, at, y + 7.6, 2.1, INK_PAPER, INK_TEXT);
        furthest = fmax(furthest, at);
    }
    if (!*r->note) return;
    double width = canvas_text_width(c, r->note, TYPE_FOOT);
    if (furthest + 8 + width < right)
        canvas_text(c, furthest + 8, y + 9.6, r->note, TYPE_FOOT, INK_SECONDARY, ALIGN_LEFT, 0);
}

static void panel_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const panel *p = x->data;
    double label = fmin(178, .36 * box.width), left = box.x + label, right = box.x + box.width - value_width + 18;
    double y = box.y, row = chart_pitch(box, axis_height, count, pitch);
    panel_draw_grid(c, p, left, right, y, y + (double)count * row);
    for (size_t i = from; i < from + count && i < p->count; i++, y += row) {
        const panel_row *r = &p->rows[i];
        canvas_text(c, left - 6, *r->gloss ? y + 6.6 : y + 9.6, r->name, TYPE_MONO, INK_TEXT, ALIGN_RIGHT, label - 8);
        canvas_shorten_at(c, SHORTEN_END);
        canvas_text(c, left - 6, y + 13.6, r->gloss, TYPE_FOOT, INK_SECONDARY, ALIGN_RIGHT, label - 8);
        canvas_shorten_at(c, SHORTEN_MIDDLE);
        panel_draw_bar(c, p, r, left, right, y);
        number_text value = number_volume_rate(r->value, strcmp(p->style.unit, "bytes") == 0 ? "bytes" : "");
        canvas_text(c, box.x + box.width, y + 10, value.text, TYPE_TABLE_STRONG, INK_TEXT, ALIGN_RIGHT,
                    value_width - 22);
    }
}

static void panel_fill_twin(chart *x, const panel *p)
{
    chart_twin *t = &x->twin;
    t->columns = 5;
    t->right = 0x1c;
    chart_cell(t, "counter");
    chart_cell(t, "meaning");
    chart_cellf(t, "%s/s", p->style.unit);
    chart_cell(t, "peers, least");
    chart_cell(t, "peers, most");
    for (size_t i = 0; i < p->count; i++) {
        const panel_row *r = &p->rows[i];
        double least = NAN, most = NAN;
        for (size_t k = 0; k < r->peer_count; k++) {
            least = fmin(least, r->peers[k]);
            most = fmax(most, r->peers[k]);
        }
        chart_cell(t, r->name);
        chart_cell(t, r->gloss);
        chart_cell(t, number_plain(r->value).text);
        chart_cell(t, number_plain(least).text);
        chart_cell(t, number_plain(most).text);
    }
}

chart chart_panel(chart_head head, const panel_style *style, const panel_row *rows, size_t count)
{
    chart x;
    panel *p = chart_begin(&x, head, sizeof *p);
    p->style = *style;
    p->style.unit = arena_text(p->memory, style->unit);
    p->rows = arena_copy(p->memory, rows, count, sizeof *rows);
    p->count = count;
    for (size_t i = 0; i < p->count; i++) {
        panel_row *r = &p->rows[i];
        r->name = arena_text(p->memory, r->name);
        r->gloss = arena_text(p->memory, r->gloss);
        r->note = arena_text(p->memory, r->note);
        r->exact = r->exact ? arena_text(p->memory, r->exact) : NULL;
        r->peers = arena_copy(p->memory, r->peers, r->peer_count, sizeof *r->peers);
    }
    x.rows = p->count ? p->count : 1;
    x.squeeze = .8;
    x.height = chart_even_height;
    x.fixed_height = axis_height;
    x.row_height = pitch;
    x.draw = panel_draw;
    panel_fill_twin(&x, p);
    return x;
}

// ---- the key ----

typedef struct panel_key {
    arena *memory;
    const char *device, *peers, *note;
} panel_key;

static void panel_key_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const panel_key *k = x->data;
    double at = box.x + 20, y = box.y + 7;
    (void)from;
    (void)count;
    canvas_rect(c, (canvas_box){box.x, y - 4, 14, 8}, INK_RECEIVED_PALE, 0);
    canvas_rect(c, (canvas_box){box.x + 13, y - 5, 3.2, 10}, INK_RECEIVED, 0);
    at += canvas_text(c, at, y + 3, k->device, TYPE_TABLE, INK_TEXT, ALIGN_LEFT, 120) + 22;
    for (int i = 0; i < 3 && *k->peers; i++)
        canvas_dot(c, at + 6.5 * i, y, 2.1, INK_PAPER, INK_TEXT);
    if (*k->peers) at += 20 + canvas_text(c, at + 20, y + 3, k->peers, TYPE_TABLE, INK_TEXT, ALIGN_LEFT, 180) + 16;
    canvas_text(c, box.x + box.width, y + 3, k->note, TYPE_FOOT, INK_SECONDARY, ALIGN_RIGHT, box.x + box.width - at);
}

chart chart_panel_key(chart_head head, const char *device, const char *peers, const char *note)
{
    chart x;
    panel_key *k = chart_begin(&x, head, sizeof *k);
    k->device = arena_text(k->memory, device);
    k->peers = arena_text(k->memory, peers);
    k->note = arena_text(k->memory, note);
    x.height = chart_even_height;
    x.fixed_height = 14;
    x.draw = panel_key_draw;
    return x;
}
