// Bullets: what passed in a field that is the line, with what was declared as a tick.
#include "render/chart/chart_private.h"
#include "render/chart/charts_cause.h"

#include <math.h>

typedef struct bullets {
    arena *memory;
    bullets_row *rows;
    size_t count;
    const char *note;
} bullets;

static const double bullets_pitch = 17.5, bullets_foot = 13;

static double bullets_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    const bullets *b = x->data;
    double note = *b->note ? canvas_paragraph_height(c, width, b->note, TYPE_FOOT, 0) : 0;
    (void)from;
    (void)count;
    return bullets_pitch * (double)b->count + bullets_foot + note;
}

static void bullets_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const bullets *b = x->data;
    double label = 0, y = box.y, rows = bullets_pitch * (double)b->count;
    double pitch = chart_pitch(box, bullets_height(x, c, box.width, from, count) - rows, b->count, bullets_pitch);
    for (size_t i = 0; i < b->count; i++)
        label = fmax(label, canvas_text_width(c, b->rows[i].label, TYPE_TABLE));
    label = fmin(label, .34 * box.width) + 8;
    double width = box.width - label - 4, left = box.x + label;
    for (size_t i = 0; i < b->count; i++, y += pitch) {
        const bullets_row *r = &b->rows[i];
        double base = y + pitch / 2 + 1.4, bar = isfinite(r->share) ? fmin(r->share, 1) * width : 0, at = left + bar;
        canvas_text(c, box.x, base, r->label, TYPE_TABLE, INK_TEXT, ALIGN_LEFT, label - 6);
        if (!isfinite(r->share)) {
            canvas_hatch(c, (canvas_box){left, y + 2, width, pitch - 5});
            canvas_rect(c, (canvas_box){left + 4, y + 3, canvas_text_width(c, r->text, TYPE_CELL) + 6, pitch - 7},
                        INK_PAPER, 0);
            canvas_text(c, left + 7, base, r->text, TYPE_CELL, INK_SECONDARY, ALIGN_LEFT, width - 14);
            continue;
        }
        canvas_rect(c, (canvas_box){left, y + 2, width, pitch - 5}, INK_SENT_PALE, 0);
        canvas_rect(c, (canvas_box){left, y + 2, fmax(bar, .6), pitch - 5}, INK_SENT, 0);
        double tick = isfinite(r->tick) ? left + fmin(r->tick, 1) * width : left;
        if (isfinite(r->tick)) canvas_line(c, tick, y + .8, tick, y + pitch - 1.8, INK_TEXT, 1.6);
        at = fmax(at, tick) + 5;
        double wide = canvas_text_width(c, r->text, TYPE_CELL_STRONG) + 6 + canvas_text_width(c, r->more, TYPE_CELL);
        if (at + wide > left + width && tick - left - bar > wide + 10) at = left + bar + 5;
        if (at + wide > left + width) at = fmax(left + 3, fmin(left + bar, tick) - wide - 4);
        at += canvas_text(c, at, base, r->text, TYPE_CELL_STRONG, INK_TEXT, ALIGN_LEFT, 0) + 6;
        canvas_text(c, at, base, r->more, TYPE_CELL, INK_TEXT, ALIGN_LEFT, box.x + box.width - at);
    }
    static const char *const tics[] = {"0", "25", "50", "75", "100 %"};
    for (int i = 0; i < 5; i++)
        canvas_text(c, left + width * i / 4, y + 7, tics[i], TYPE_AXIS, INK_SECONDARY,
                    i == 0   ? ALIGN_LEFT
                    : i == 4 ? ALIGN_RIGHT
                             : ALIGN_CENTER,
                    0);
    if (*b->note) canvas_paragraph(c, box.x, y + 18, box.width, b->note, TYPE_FOOT, INK_SECONDARY, 0);
}

chart chart_bullets(chart_head head, const bullets_row *rows, size_t count, const char *note)
{
    chart x;
    bullets *b = chart_begin(&x, head, sizeof *b);
    b->rows = arena_copy(b->memory, rows, count, sizeof *rows);
    b->count = count;
    b->note = arena_text(b->memory, note);
    x.twin.columns = 4;
    x.twin.right = 8;
    chart_cell(&x.twin, "region");
    chart_cell(&x.twin, "NICs sent");
    chart_cell(&x.twin, "beside what the program declared");
    chart_cell(&x.twin, "of the line");
    for (size_t i = 0; i < count; i++) {
        bullets_row *r = &b->rows[i];
        r->label = arena_text(b->memory, r->label);
        r->text = arena_text(b->memory, r->text);
        r->more = arena_text(b->memory, r->more);
        chart_cell(&x.twin, r->label);
        chart_cell(&x.twin, r->text);
        chart_cell(&x.twin, r->more);
        chart_cell(&x.twin, isfinite(r->share) ? number_percent(r->share).text : NUMBER_UNKNOWN);
    }
    x.height = bullets_height;
    x.draw = bullets_draw;
    x.squeeze = .8;
    return x;
}
