// A path: the stages that something passes, as arrows one behind the other, each with its value before and after and a word.
#include "render/chart/chart_private.h"

#include <math.h>
#include <stdio.h>

typedef struct path {
    arena *memory;
    path_stage *stages;
    size_t count;
    path_style style;
} path;

static const double stage_height = 44, tip = 8, arrow_height = 15;

static double path_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    const path *p = x->data;
    (void)c;
    (void)width;
    (void)from;
    (void)count;
    return stage_height + (p->style.back_from < p->count ? arrow_height : 0);
}

static size_t path_outline(canvas_box box, bool first, canvas_point points[7])
{
    double right = box.x + box.width - tip, middle = box.y + box.height / 2, bottom = box.y + box.height;
    size_t n = 0;
    points[n++] = (canvas_point){box.x, box.y};
    points[n++] = (canvas_point){right, box.y};
    points[n++] = (canvas_point){box.x + box.width, middle};
    points[n++] = (canvas_point){right, bottom};
    points[n++] = (canvas_point){box.x, bottom};
    if (!first) points[n++] = (canvas_point){box.x + tip, middle};
    points[n++] = points[0];
    return n;
}

static void path_draw_value(canvas *c, const path_stage *s, double x, double y, double right)
{
    double room = right - x;
    if (!s->known) {
        canvas_mark(c, x + 3, y - 2.6, SEVERITY_UNKNOWN);
        canvas_text(c, x + 9, y, theme_severity_word(SEVERITY_UNKNOWN), TYPE_CELL_STRONG, INK_SECONDARY, ALIGN_LEFT,
                    room);
        return;
    }
    theme_ink ink = theme_severity_ink(s->severity);
    x += canvas_text(c, x, y, s->before, TYPE_TABLE, INK_SECONDARY, ALIGN_LEFT, room * .4);
    x += canvas_text(c, x, y, " \xe2\x86\x92 ", TYPE_TABLE, INK_SECONDARY, ALIGN_LEFT, 0);
    x += canvas_text(c, x, y, s->after, TYPE_TABLE_STRONG, s->severity > SEVERITY_INFO ? ink : INK_TEXT, ALIGN_LEFT,
                     right - x);
    const char *word = theme_severity_word(s->severity);
    if (x + 13 + canvas_text_width(c, word, TYPE_CELL_STRONG) > right) {
        if (x + 9 <= right) canvas_mark(c, x + 6, y - 2.6, s->severity);
        return;
    }
    canvas_mark(c, x + 7, y - 2.6, s->severity);
    canvas_text(c, x + 12, y, word, TYPE_CELL_STRONG, ink, ALIGN_LEFT, right - x - 12);
}

static void path_draw_stage(canvas *c, const path *p, size_t i, canvas_box box)
{
    const path_stage *s = &p->stages[i];
    canvas_point points[7];
    size_t n = path_outline(box, i == 0, points);
    double x = box.x + (i ? tip + 5 : 8), right = box.x + box.width - tip;
    canvas_polygon(c, points, n, s->known ? theme_severity_field(s->severity) : INK_EMPTY);
    if (!s->known) { // a hatched edge: not measured
        canvas_hatch(c, (canvas_box){box.x + (i ? tip : 0), box.y, box.width - 2 * tip, 3});
        canvas_hatch(c, (canvas_box){box.x + (i ? tip : 0), box.y + box.height - 3, box.width - 2 * tip, 3});
    }
    if (i == p->style.outlined) canvas_polyline(c, points, n, theme_severity_ink(s->severity), 1.2);
    canvas_text(c, x, box.y + 13, s->name, TYPE_TABLE_STRONG, INK_TEXT, ALIGN_LEFT, right - x);
    canvas_text(c, x, box.y + 23, s->what, TYPE_AXIS, INK_SECONDARY, ALIGN_LEFT, right - x);
    path_draw_value(c, s, x, box.y + 36, right + 4);
}

// From below the outlined stage back to the first one that it explains.
static void path_draw_back(canvas *c, const path *p, double left, double step, double y)
{
    theme_ink ink = theme_severity_ink(p->stages[p->style.outlined].severity);
    double to = left + step * ((double)p->style.back_from + .28),
           from = left + step * ((double)p->style.outlined + .72), low = y + 8,
           text = canvas_text_width(c, p->style.back_text, TYPE_TABLE), middle = (to + from) / 2;
    bool beside = text + 16 > from - to;
    canvas_line(c, from, y + 2, from, low, ink, 1);
    canvas_line(c, to, low, to, y + 3, ink, 1);
    const canvas_point head[3] = {{to - 2.6, y + 4.5}, {to + 2.6, y + 4.5}, {to, y + .5}};
    canvas_polygon(c, head, 3, ink);
    canvas_line(c, to, low, beside ? from : middle - text / 2 - 5, low, ink, 1);
    if (!beside) canvas_line(c, middle + text / 2 + 5, low, from, low, ink, 1);
    canvas_text(c, beside ? from + 6 : middle, low + 2.6, p->style.back_text, TYPE_TABLE, ink,
                beside ? ALIGN_LEFT : ALIGN_CENTER, 0);
}

static void path_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const path *p = x->data;
    double step = p->count ? (box.width - tip + 3) / (double)p->count : box.width;
    (void)from;
    (void)count;
    for (size_t i = 0; i < p->count; i++)
        path_draw_stage(c, p, i, (canvas_box){box.x + step * (double)i, box.y, step + tip - 3, stage_height});
    if (p->style.back_from < p->count) path_draw_back(c, p, box.x, step, box.y + stage_height);
}

chart chart_path(chart_head head, const path_style *style, const path_stage *stages, size_t count)
{
    chart x;
    path *p = chart_begin(&x, head, sizeof *p);
    p->style = *style;
    p->style.back_text = arena_text(p->memory, style->back_text);
    p->stages = arena_copy(p->memory, stages, count, sizeof *stages);
    p->count = count;
    static const char *const heads[] = {"stage", "what", "healthy", "faulty", "state"};
    chart_heads(&x.twin, 0, heads, sizeof heads / sizeof *heads);
    for (size_t i = 0; i < count; i++) {
        path_stage *s = &p->stages[i];
        s->name = arena_text(p->memory, s->name);
        s->what = arena_text(p->memory, s->what);
        s->before = arena_text(p->memory, s->before);
        s->after = arena_text(p->memory, s->after);
        chart_cell(&x.twin, s->name);
        chart_cell(&x.twin, s->what);
        chart_cell(&x.twin, s->known ? s->before : NUMBER_UNKNOWN);
        chart_cell(&x.twin, s->known ? s->after : NUMBER_UNKNOWN);
        chart_cell(&x.twin, theme_severity_word(s->known ? s->severity : SEVERITY_UNKNOWN));
    }
    x.height = path_height;
    x.draw = path_draw;
    return x;
}
