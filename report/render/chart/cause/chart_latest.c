// Who sends latest, or takes latest: a short table, and beside it how the matrix above it is read.
#include "render/chart/chart_private.h"
#include "render/chart/charts_peers.h"

#include <math.h>

typedef struct latest {
    arena *memory;
    latest_style style;
    latest_row *rows;
    size_t count;
} latest;

enum { LATEST_KEYS = 3 };

static const double latest_pitch = 12, latest_head = 14, latest_key = 14, latest_glyph = 10, latest_column = 66;

typedef struct latest_place {
    double table, key, width; // their widths; width: of all
    bool below;               // the key stands below the table
} latest_place;

static latest_place latest_lay_out(double width)
{
    latest_place p = {.table = width, .key = width, .width = width, .below = width < 400};
    if (!p.below) p.table = .47 * width, p.key = .47 * width;
    return p;
}

static double latest_table_height(const latest *l)
{
    return latest_head + latest_pitch * (double)(l->count + (l->style.others > 0));
}

static double latest_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    const latest *l = x->data;
    latest_place p = latest_lay_out(width);
    double table = latest_table_height(l), key = latest_head + latest_key * LATEST_KEYS;
    double note = *l->style.note ? canvas_paragraph_height(c, width, l->style.note, TYPE_AXIS, 0) + 4 : 0;
    (void)from;
    (void)count;
    return (p.below ? table + 8 + key : fmax(table, key)) + note;
}

static void latest_draw_number(canvas *c, double right, double base, double value, bool strong, const char *before)
{
    number_text text = isnan(value) ? (number_text){NUMBER_UNKNOWN} : number_duration(value);
    double width = canvas_text(c, right, base, text.text, strong ? TYPE_CELL_STRONG : TYPE_CELL,
                               isnan(value) ? INK_SECONDARY : INK_TEXT, ALIGN_RIGHT, 0);
    if (*before) canvas_text(c, right - width - 2, base, before, TYPE_CELL, INK_TEXT, ALIGN_RIGHT, 0);
}

static void latest_draw_table(canvas *c, const latest *l, canvas_box box)
{
    const latest_style *s = &l->style;
    double right = box.x + box.width, inside = right, outside = right - (s->inside ? latest_column : 0);
    double place = box.x + .34 * box.width, texts = (s->outside ? outside : inside) - latest_column;
    canvas_text(c, box.x, box.y + 7, s->who, TYPE_TABLE, INK_SECONDARY, ALIGN_LEFT, 0);
    if (s->outside) canvas_text(c, outside, box.y + 7, "to other nodes", TYPE_AXIS, INK_SECONDARY, ALIGN_RIGHT, 0);
    if (s->inside) canvas_text(c, inside, box.y + 7, "within its node", TYPE_AXIS, INK_SECONDARY, ALIGN_RIGHT, 0);
    canvas_line(c, box.x, box.y + 11, right, box.y + 11, INK_HAIR, .6);
    double y = box.y + latest_head + 8;
    for (size_t i = 0; i < l->count; i++, y += latest_pitch) {
        const latest_row *r = &l->rows[i];
        canvas_text(c, box.x, y, r->label, r->marked ? TYPE_TABLE_STRONG : TYPE_TABLE, r->marked ? INK_BAD : INK_TEXT,
                    ALIGN_LEFT, place - box.x - 6);
        if (texts - place > 20)
            canvas_text(c, place, y, r->where, TYPE_TABLE, INK_SECONDARY, ALIGN_LEFT, texts - place);
        if (s->outside) latest_draw_number(c, outside, y, r->outside, r->marked, "");
        if (s->inside) latest_draw_number(c, inside, y, r->inside, r->marked && !s->outside, "");
    }
    if (!s->others) return;
    canvas_text(c, box.x, y, arena_format(l->memory, s->others > 1 ? "%zu others" : "%zu other", s->others), TYPE_TABLE,
                INK_TEXT, ALIGN_LEFT, 0);
    latest_draw_number(c, s->outside ? outside : inside, y, s->others_most, false, "\u2264");
}

// A small matrix of which one row, one column or one cell stands out.
static void latest_draw_glyph(canvas *c, double x, double y, int key)
{
    double third = latest_glyph / 3;
    canvas_rect(c, (canvas_box){x, y, latest_glyph, latest_glyph}, theme_ramp(INK_ORANGE, .1), 0);
    canvas_rect(c,
                (canvas_box){x + (key ? third : 0), y + (key == 1 ? 0 : third), key ? third : latest_glyph,
                             key == 1 ? latest_glyph : third},
                theme_ramp(INK_ORANGE, .95), 0);
}

static void latest_draw_key(canvas *c, const latest *l, canvas_box box)
{
    const struct {
        const char *name, *text, *here;
    } keys[LATEST_KEYS] = {{"a row", "a sender that the others wait for", l->style.row},
                           {"a column", "a receiver that comes early or takes late", l->style.column},
                           {"one cell", "one pair: the way between two", l->style.cell}};
    canvas_text(c, box.x, box.y + 7, "What stands out", TYPE_TABLE_STRONG, INK_TEXT, ALIGN_LEFT, 0);
    double y = box.y + latest_head, right = box.x + box.width;
    for (int i = 0; i < LATEST_KEYS; i++, y += latest_key) {
        double at = box.x + latest_glyph + 7, base = y + latest_glyph / 2 + 2.6;
        latest_draw_glyph(c, box.x, y, i);
        at += canvas_text(c, at, base, keys[i].name, TYPE_TABLE_STRONG, INK_TEXT, ALIGN_LEFT, 0) + 6;
        at += canvas_text(c, at, base, keys[i].text, TYPE_TABLE, INK_TEXT, ALIGN_LEFT, right - at) + 6;
        if (keys[i].here) canvas_text(c, at, base, keys[i].here, TYPE_TABLE_STRONG, INK_BAD, ALIGN_LEFT, right - at);
    }
}

static void latest_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const latest *l = x->data;
    latest_place p = latest_lay_out(box.width);
    double table = latest_table_height(l), key = latest_head + latest_key * LATEST_KEYS;
    (void)from;
    (void)count;
    latest_draw_table(c, l, (canvas_box){box.x, box.y, p.table, table});
    latest_draw_key(c, l, (canvas_box){box.x + box.width - p.key, box.y + (p.below ? table + 8 : 0), p.key, key});
    if (*l->style.note)
        canvas_paragraph(c, box.x, box.y + (p.below ? table + 8 + key : fmax(table, key)) + 9, box.width, l->style.note,
                         TYPE_AXIS, INK_SECONDARY, 0);
}

static void latest_fill_twin(chart_twin *t, const latest *l)
{
    const latest_style *s = &l->style;
    t->columns = (size_t)(2 + s->outside + s->inside);
    t->right = 0xc;
    chart_cell(t, s->who);
    chart_cell(t, "node");
    if (s->outside) chart_cell(t, "to other nodes");
    if (s->inside) chart_cell(t, "within its node");
    for (size_t i = 0; i < l->count; i++) {
        const latest_row *r = &l->rows[i];
        chart_cell(t, r->label);
        chart_cell(t, r->where);
        if (s->outside) chart_cell(t, isnan(r->outside) ? NUMBER_UNKNOWN : number_duration(r->outside).text);
        if (s->inside) chart_cell(t, isnan(r->inside) ? NUMBER_UNKNOWN : number_duration(r->inside).text);
    }
}

chart chart_latest(chart_head head, const latest_style *style, const latest_row *rows, size_t count)
{
    chart x;
    latest *l = chart_begin(&x, head, sizeof *l);
    l->style = *style;
    l->style.who = arena_text(l->memory, style->who);
    l->style.note = arena_text(l->memory, style->note);
    if (style->row) l->style.row = arena_text(l->memory, style->row);
    if (style->column) l->style.column = arena_text(l->memory, style->column);
    if (style->cell) l->style.cell = arena_text(l->memory, style->cell);
    l->rows = arena_copy(l->memory, rows, count, sizeof *rows);
    l->count = count;
    for (size_t i = 0; i < count; i++) {
        l->rows[i].label = arena_text(l->memory, rows[i].label);
        l->rows[i].where = arena_text(l->memory, rows[i].where);
    }
    x.height = latest_height;
    x.draw = latest_draw;
    latest_fill_twin(&x.twin, l);
    return x;
}
