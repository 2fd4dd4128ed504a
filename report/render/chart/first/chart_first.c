// The small charts at the end of a run's page: amounts, what was not judged, and what to do next.
#include "charts_first.h"
#include "render/chart/chart_private.h"

#include <math.h>

// ---- amounts ----

typedef struct amounts {
    arena *memory;
    amount_row *rows;
    size_t count;
} amounts;

static const double amount_pitch = 13;

static void first_draw_amounts(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const amounts *a = x->data;
    double label = 0, value = 0, y = box.y + 9;
    for (size_t i = 0; i < a->count; i++) {
        label = fmax(label, canvas_text_width(c, a->rows[i].title, TYPE_TABLE));
        value = fmax(value, canvas_text_width(c, a->rows[i].value, TYPE_TABLE_STRONG));
    }
    label = fmin(label + 12, .4 * box.width);
    value = fmin(value, .35 * box.width);
    for (size_t i = from; i < from + count && i < a->count; i++, y += amount_pitch) {
        const amount_row *r = &a->rows[i];
        double right = box.x + label + value;
        canvas_text(c, box.x, y, r->title, TYPE_TABLE, INK_TEXT, ALIGN_LEFT, label - 6);
        canvas_text(c, right, y, r->value, TYPE_TABLE_STRONG, INK_TEXT, ALIGN_RIGHT, value + 2);
        canvas_text(c, right + 7, y, r->note, TYPE_CELL, INK_SECONDARY, ALIGN_LEFT, box.x + box.width - right - 7);
    }
}

chart chart_amounts(chart_head head, const amount_row *rows, size_t count)
{
    chart x;
    amounts *a = chart_begin(&x, head, sizeof *a);
    a->rows = arena_copy(a->memory, rows, count, sizeof *rows);
    a->count = count;
    x.twin.columns = 3;
    x.twin.right = 2;
    for (size_t i = 0; i < 3; i++)
        chart_cell(&x.twin, "");
    for (size_t i = 0; i < count; i++) {
        amount_row *r = &a->rows[i];
        r->title = arena_text(a->memory, r->title);
        r->value = arena_text(a->memory, r->value);
        r->note = arena_text(a->memory, r->note);
        chart_cell(&x.twin, r->title);
        chart_cell(&x.twin, r->value);
        chart_cell(&x.twin, r->note);
    }
    x.rows = count ? count : 1;
    x.is_table = true;
    x.height = chart_even_height;
    x.fixed_height = 2;
    x.row_height = amount_pitch;
    x.draw = first_draw_amounts;
    return x;
}

// ---- what was not judged ----

typedef struct unjudged {
    arena *memory;
    unjudged_row *rows;
    size_t count;
    const char *none, *foot;
} unjudged;

enum { WHY_LINES = 3 };
static const double hatch_width = 5, unjudged_left = 12, unjudged_gap = 7;

static double first_unjudged_row_height(const unjudged_row *r, canvas *c, double width)
{
    return 11 + canvas_paragraph_height(c, width - unjudged_left, r->why, TYPE_CELL, WHY_LINES) + (*r->help ? 10 : 0);
}

static double first_unjudged_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    const unjudged *u = x->data;
    double sum = 4;
    for (size_t i = from; i < from + count && i < u->count; i++)
        sum += first_unjudged_row_height(&u->rows[i], c, width) + unjudged_gap;
    if (!u->count) sum += canvas_paragraph_height(c, width, u->none, TYPE_TABLE, 3) + unjudged_gap;
    if (*u->foot) sum += canvas_paragraph_height(c, width, u->foot, TYPE_CELL, 3);
    return sum;
}

static void first_draw_unjudged(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const unjudged *u = x->data;
    double y = box.y + 2, left = box.x + unjudged_left;
    for (size_t i = from; i < from + count && i < u->count; i++) {
        const unjudged_row *r = &u->rows[i];
        double height = first_unjudged_row_height(r, c, box.width), base = y + 7.5;
        canvas_hatch(c, (canvas_box){box.x, y, hatch_width, height - 1});
        canvas_mark(c, left + 3, base - 2.8, SEVERITY_UNKNOWN);
        double word = canvas_text(c, left + 9, base, theme_severity_word(SEVERITY_UNKNOWN), TYPE_CELL_STRONG,
                                  theme_severity_ink(SEVERITY_UNKNOWN), ALIGN_LEFT, 0) +
                      14;
        canvas_text(c, left + word, base, r->title, TYPE_TABLE_STRONG, INK_TEXT, ALIGN_LEFT,
                    box.width - unjudged_left - word);
        base += 10.5;
        base += canvas_paragraph(c, left, base, box.width - unjudged_left, r->why, TYPE_CELL, INK_TEXT, WHY_LINES);
        if (*r->help)
            canvas_text(c, left, base + .5, r->help, TYPE_MONO, INK_SECONDARY, ALIGN_LEFT, box.width - unjudged_left);
        y += height + unjudged_gap;
    }
    if (!u->count) y += canvas_paragraph(c, box.x, y + 7, box.width, u->none, TYPE_TABLE, INK_TEXT, 3) + unjudged_gap;
    canvas_paragraph(c, box.x, y + 6, box.width, u->foot, TYPE_CELL, INK_SECONDARY, 3);
}

chart chart_unjudged(chart_head head, const unjudged_row *rows, size_t count, size_t shown, const char *none,
                     const char *foot)
{
    chart x;
    unjudged *u = chart_begin(&x, head, sizeof *u);
    u->rows = arena_copy(u->memory, rows, count, sizeof *rows);
    u->count = shown;
    u->none = arena_text(u->memory, none);
    u->foot = arena_text(u->memory, foot);
    x.twin.columns = 3;
    chart_cell(&x.twin, "not judged");
    chart_cell(&x.twin, "why");
    chart_cell(&x.twin, "what would help");
    for (size_t i = 0; i < count; i++) {
        unjudged_row *r = &u->rows[i];
        r->title = arena_text(u->memory, r->title);
        r->why = arena_text(u->memory, r->why);
        r->help = arena_text(u->memory, r->help);
        chart_cell(&x.twin, r->title);
        chart_cell(&x.twin, r->why);
        chart_cell(&x.twin, r->help);
    }
    if (!count) {
        chart_cell(&x.twin, u->none);
        chart_cell(&x.twin, "");
        chart_cell(&x.twin, "");
    }
    x.is_table = true;
    x.height = first_unjudged_height;
    x.draw = first_draw_unjudged;
    x.rows = count ? count : 1;
    return x;
}

// ---- what to do next ----

typedef struct next {
    arena *memory;
    next_row *rows;
    size_t count;
} next;

static void first_draw_next(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const next *n = x->data;
    const double word = 8, gap = 12;
    double wide = 0, scale, at = box.x + word;
    (void)from;
    (void)count;
    canvas_rect(c, (canvas_box){box.x, box.y, box.width, 34}, INK_INFO_PALE, 0);
    for (size_t i = 0; i < n->count; i++)
        wide += fmax(canvas_text_width(c, n->rows[i].title, TYPE_TABLE_STRONG),
                     canvas_text_width(c, n->rows[i].command, TYPE_MONO));
    double room = box.width - word - 8 - gap * (double)(n->count - 1), left = fmax(room - wide, 0);
    scale = wide > room ? room / wide : 1;
    for (size_t i = 0; i < n->count; i++) {
        const next_row *r = &n->rows[i];
        double width = scale * fmax(canvas_text_width(c, r->title, TYPE_TABLE_STRONG),
                                    canvas_text_width(c, r->command, TYPE_MONO));
        canvas_text(c, at, box.y + 13, r->title, TYPE_TABLE_STRONG, INK_TEXT, ALIGN_LEFT, width + .5);
        canvas_text(c, at, box.y + 26, r->command, TYPE_MONO, INK_TEXT, ALIGN_LEFT, width + .5);
        at += width + gap + left / (double)n->count;
    }
}

chart chart_next(chart_head head, const next_row *rows, size_t count)
{
    chart x;
    next *n = chart_begin(&x, head, sizeof *n);
    n->rows = arena_copy(n->memory, rows, count, sizeof *rows);
    n->count = count;
    chart_heads(&x.twin, 0, (const char *const[]){"next", "command"}, 2);
    for (size_t i = 0; i < count; i++) {
        n->rows[i].title = chart_keep(n->memory, &x.twin, rows[i].title);
        n->rows[i].command = chart_keep(n->memory, &x.twin, rows[i].command);
    }
    x.is_table = true;
    x.height = chart_even_height;
    x.fixed_height = 36;
    x.draw = first_draw_next;
    return x;
}
