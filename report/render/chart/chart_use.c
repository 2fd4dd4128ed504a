// How well the nodes were used: the mean as a bar in a field of the capacity, the lowest and highest node as a mark,
// for a mean hides what is out of balance.
#include "chart_private.h"
#include "charts_job.h"

#include <math.h>
#include <stdio.h>

typedef struct use {
    arena *memory;
    use_row *rows;
    size_t count;
} use;

static const double pitch = 13.1, bar_height = 8.6;

static double use_clamped(double share)
{
    return fmax(0, fmin(1, share));
}

// From the lowest to the highest; one thick line where both are nearly the same.
static void use_draw_range(canvas *c, const use_row *r, double left, double width, double y)
{
    double from = left + use_clamped(r->low) * width, to = left + use_clamped(r->high) * width,
           middle = y + bar_height / 2;
    if (isnan(r->low) || isnan(r->high)) return;
    if (to - from < 1.5) {
        canvas_line(c, (from + to) / 2, y, (from + to) / 2, y + bar_height, INK_TEXT, 1.5);
        return;
    }
    canvas_line(c, from, middle, to, middle, INK_TEXT, .8);
    canvas_line(c, from, y + 1, from, y + bar_height - 1, INK_TEXT, .9);
    canvas_line(c, to, y + 1, to, y + bar_height - 1, INK_TEXT, .9);
}

static void use_draw_row(canvas *c, const use_row *r, canvas_box field, double left, double end)
{
    double base = field.y + bar_height / 2 + 2.6, x = field.x + field.width + 7;
    canvas_text(c, left, base, r->label, TYPE_TABLE, INK_TEXT, ALIGN_LEFT, field.x - left - 6);
    if (r->unknown) {
        canvas_hatch(c, field);
        canvas_text(c, x, base, r->of, TYPE_CELL, INK_SECONDARY, ALIGN_LEFT, end - x);
        return;
    }
    if (!r->no_capacity) {
        canvas_rect(c, field, INK_EMPTY, 0);
        canvas_frame(c, field, INK_HAIR, .4);
        if (r->share > 0)
            canvas_rect(c, (canvas_box){field.x, field.y, use_clamped(r->share) * field.width, field.height}, r->ink,
                        0);
        use_draw_range(c, r, field.x, field.width, field.y);
    }
    x += canvas_text(c, x, base, r->value, TYPE_TABLE_STRONG, INK_TEXT, ALIGN_LEFT, end - x) + 3;
    if (end - x > 8) canvas_text(c, x, base, r->of, TYPE_CELL, INK_SECONDARY, ALIGN_LEFT, end - x);
}

static void use_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const use *u = x->data;
    double label = 0, text = 0, y = box.y + 2;
    for (size_t i = 0; i < u->count; i++) {
        const use_row *r = &u->rows[i];
        label = fmax(label, canvas_text_width(c, r->label, TYPE_TABLE));
        text =
            fmax(text, canvas_text_width(c, r->value, TYPE_TABLE_STRONG) + 3 + canvas_text_width(c, r->of, TYPE_CELL));
    }
    label = fmin(label, .3 * box.width) + 10;
    text = fmin(text + 8, .42 * box.width);
    for (size_t i = from; i < from + count && i < u->count; i++, y += pitch) {
        canvas_box field = {box.x + label, y, box.width - label - text, bar_height};
        use_draw_row(c, &u->rows[i], field, box.x, box.x + box.width);
    }
}

static void use_fill_twin(chart_twin *t, const use *u)
{
    static const char *const heads[] = {"", "mean", "", "lowest", "highest"};
    chart_heads(t, 0x1a, heads, sizeof heads / sizeof *heads);
    for (size_t i = 0; i < u->count; i++) {
        const use_row *r = &u->rows[i];
        chart_cell(t, r->label);
        chart_cell(t, r->unknown ? "not measured" : r->value);
        chart_cell(t, r->of);
        chart_cell(t, r->no_capacity || r->unknown ? "" : number_percent(r->low).text);
        chart_cell(t, r->no_capacity || r->unknown ? "" : number_percent(r->high).text);
    }
}

chart chart_use(chart_head head, const use_row *rows, size_t count)
{
    chart x;
    use *u = chart_begin(&x, head, sizeof *u);
    u->rows = arena_copy(u->memory, rows, count, sizeof *rows);
    u->count = count;
    for (size_t i = 0; i < u->count; i++) {
        use_row *r = &u->rows[i];
        r->label = arena_text(u->memory, r->label);
        r->value = arena_text(u->memory, r->value);
        r->of = arena_text(u->memory, r->of);
    }
    x.height = chart_even_height;
    x.fixed_height = 2;
    x.row_height = pitch;
    x.draw = use_draw;
    x.rows = u->count ? u->count : 1;
    use_fill_twin(&x.twin, u);
    return x;
}

// ---- facts ----

typedef struct facts {
    arena *memory;
    fact_row *rows;
    size_t count;
} facts;

enum { FACT_LINES = 3 };

static double use_fact_label(const facts *f, canvas *c, double width)
{
    double label = 0;
    for (size_t i = 0; i < f->count; i++)
        label = fmax(label, canvas_text_width(c, f->rows[i].title, TYPE_TABLE));
    return fmin(label + 10, .45 * width);
}

static theme_type use_fact_type(const fact_row *r)
{
    return r->strong ? TYPE_TABLE_STRONG : TYPE_TABLE;
}

// What is longer than a line is wrapped: figures are never cut.
static double use_fact_height(canvas *c, const fact_row *r, double width)
{
    double leading = canvas_paragraph_height(c, width, "0", TYPE_TABLE, 1);
    return pitch + fmax(0, canvas_paragraph_height(c, width, r->text, use_fact_type(r), FACT_LINES) - leading);
}

static double use_facts_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    const facts *f = x->data;
    double label = use_fact_label(f, c, width), height = 2;
    for (size_t i = from; i < from + count && i < f->count; i++)
        height += use_fact_height(c, &f->rows[i], width - label);
    return height;
}

static void use_draw_facts(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const facts *f = x->data;
    double label = use_fact_label(f, c, box.width), y = box.y + 2;
    for (size_t i = from; i < from + count && i < f->count; i++) {
        const fact_row *r = &f->rows[i];
        double base = y + bar_height / 2 + 2.6;
        canvas_text(c, box.x, base, r->title, TYPE_TABLE, INK_SECONDARY, ALIGN_LEFT, label - 6);
        canvas_tip(c, r->text);
        canvas_paragraph(c, box.x + label, base, box.width - label, r->text, use_fact_type(r), INK_TEXT, FACT_LINES);
        y += use_fact_height(c, r, box.width - label);
    }
}

chart chart_facts(chart_head head, const fact_row *rows, size_t count)
{
    chart x;
    facts *f = chart_begin(&x, head, sizeof *f);
    f->rows = arena_copy(f->memory, rows, count, sizeof *rows);
    f->count = count;
    chart_heads(&x.twin, 0, (const char *const[]){"", ""}, 2);
    for (size_t i = 0; i < f->count; i++) {
        fact_row *r = &f->rows[i];
        r->title = chart_keep(f->memory, &x.twin, r->title);
        r->text = chart_keep(f->memory, &x.twin, r->text);
    }
    x.rows = f->count ? f->count : 1;
    x.is_table = true;
    x.height = use_facts_height;
    x.draw = use_draw_facts;
    return x;
}
