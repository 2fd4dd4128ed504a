// Plain tables, divided over pages with their heads repeated. Texts that are wider than their column are wrapped.
#include "chart_private.h"

#include <math.h>
#include <string.h>

typedef struct grid {
    arena *memory;
    table_column *columns;
    size_t column_count;
    const char **cells;
    size_t count;
    double widths[64], measured; // the columns' widths for this width
    unsigned char *lines;        // of each row, then
} grid;

enum { MOST_LINES = 6 };

static const double row_height = 10.6, line_height = 7.2 * 1.35, head_height = 14, column_gap = 9;

static bool table_chart_has_heads(const grid *g)
{
    for (size_t k = 0; k < g->column_count; k++)
        if (*g->columns[k].head) return true;
    return false;
}

static bool table_chart_is_heading(const grid *g, size_t row)
{
    if (g->column_count < 2 || !*g->cells[row * g->column_count]) return false;
    for (size_t i = 1; i < g->column_count; i++)
        if (*g->cells[row * g->column_count + i]) return false;
    return true;
}

static theme_type table_chart_type_of(table_look look)
{
    return look == TABLE_NAME ? TYPE_MONO : TYPE_CELL;
}

// Widths: as wide as the texts, what is left goes by share; too much is taken from the widest.
static void table_chart_measure(const grid *g, canvas *c, double width, double *widths)
{
    double sum = column_gap * (double)(g->column_count - 1), shares = 0;
    for (size_t k = 0; k < g->column_count; k++) {
        widths[k] = canvas_text_width(c, g->columns[k].head, TYPE_TABLE);
        for (size_t r = 0; r < g->count; r++) {
            const char *text = g->cells[r * g->column_count + k];
            bool counts = *text && !table_chart_is_heading(g, r) &&
                          (double)strlen(text) * 9 > widths[k]; // no glyph is wider than 9 pt
            if (counts)
                widths[k] = fmax(widths[k], canvas_text_width(c, text, table_chart_type_of(g->columns[k].look)));
        }
        widths[k] = ceil(widths[k] + .5);
        sum += widths[k];
        shares += g->columns[k].share;
    }
    while (sum > width) {
        size_t widest = 0;
        for (size_t k = 1; k < g->column_count; k++)
            if (widths[k] > widths[widest]) widest = k;
        double less = fmax(fmin(sum - width, widths[widest] * .2), .5);
        widths[widest] -= less;
        sum -= less;
        if (widths[widest] < 4) break;
    }
    for (size_t k = 0; k < g->column_count && shares > 0 && sum < width; k++)
        widths[k] += (width - sum) * g->columns[k].share / shares;
}

// Texts are wrapped in so many lines; names and numbers stay on one.
static size_t table_chart_lines(const grid *g, canvas *c, size_t row)
{
    size_t most = 1;
    if (table_chart_is_heading(g, row)) return most;
    for (size_t k = 0; k < g->column_count; k++) {
        const char *text = g->cells[row * g->column_count + k];
        if (g->columns[k].look != TABLE_TEXT || (double)strlen(text) * 9 <= g->widths[k]) continue;
        if (canvas_text_width(c, text, TYPE_CELL) <= g->widths[k] + .01) continue;
        double lines = canvas_paragraph_height(c, g->widths[k], text, TYPE_CELL, MOST_LINES) / line_height + .5;
        if ((size_t)lines > most) most = (size_t)lines;
    }
    return most;
}

static void table_chart_lay_out(grid *g, canvas *c, double width)
{
    if (g->measured == width) return;
    table_chart_measure(g, c, width, g->widths);
    for (size_t r = 0; r < g->count; r++)
        g->lines[r] = (unsigned char)table_chart_lines(g, c, r);
    g->measured = width;
}

static double table_chart_row_height(const grid *g, size_t row)
{
    return row_height + (g->lines[row] - 1) * line_height;
}

static double table_chart_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    grid *g = x->data; // only what was measured changes
    double height = table_chart_has_heads(g) ? head_height : 3;
    table_chart_lay_out(g, c, width);
    for (size_t r = from; r < from + count && r < g->count; r++)
        height += table_chart_row_height(g, r);
    return height;
}

// Does the column tell its rows apart? Rank 0 is no zero.
static bool table_chart_names(const grid *g, size_t k)
{
    static const char *const heads[] = {"rank", "local rank", "local", "peer", "pid", "GPU"};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (g->columns[k].head && strcmp(g->columns[k].head, heads[i]) == 0) return true;
    return k == 0;
}

static void table_chart_draw_cell(canvas *c, const grid *g, size_t k, const char *text, double x, double y,
                                  size_t lines)
{
    table_look look = g->columns[k].look;
    double width = g->widths[k];
    bool zero = (!table_chart_names(g, k) && strcmp(text, "0") == 0) || strcmp(text, NUMBER_UNKNOWN) == 0;
    if (look == TABLE_TEXT && lines > 1) {
        canvas_paragraph(c, x, y, width, text, TYPE_CELL, INK_TEXT, MOST_LINES);
        return;
    }
    canvas_shorten_at(c, look == TABLE_TEXT ? SHORTEN_END : SHORTEN_MIDDLE);
    canvas_text(c, look == TABLE_NUMBER ? x + width : x, y, text, table_chart_type_of(look),
                zero ? INK_SECONDARY : INK_TEXT, look == TABLE_NUMBER ? ALIGN_RIGHT : ALIGN_LEFT, width);
    canvas_shorten_at(c, SHORTEN_MIDDLE);
}

static void table_chart_draw_heads(canvas *c, const grid *g, const double *widths, canvas_box box)
{
    double x = box.x;
    for (size_t k = 0; k < g->column_count; k++) {
        bool right = g->columns[k].look == TABLE_NUMBER;
        canvas_text(c, right ? x + widths[k] : x, box.y + 7, g->columns[k].head, TYPE_TABLE, INK_SECONDARY,
                    right ? ALIGN_RIGHT : ALIGN_LEFT, widths[k]);
        x += widths[k] + column_gap;
    }
    canvas_line(c, box.x, box.y + 11, box.x + box.width, box.y + 11, INK_HAIR, .6);
}

static void table_chart_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    grid *g = x->data;
    double y = box.y + (table_chart_has_heads(g) ? head_height : 3);
    const double *widths = g->widths;
    table_chart_lay_out(g, c, box.width);
    if (table_chart_has_heads(g)) table_chart_draw_heads(c, g, widths, box);
    for (size_t r = from; r < from + count && r < g->count; r++) {
        double at = box.x, height = table_chart_row_height(g, r);
        const char *const *cells = g->cells + r * g->column_count;
        if (table_chart_is_heading(g, r)) {
            canvas_text(c, at, y + 7.6, cells[0], TYPE_TABLE_STRONG, INK_TEXT, ALIGN_LEFT, box.width);
            y += height;
            continue;
        }
        for (size_t k = 0; k < g->column_count; k++) {
            table_chart_draw_cell(c, g, k, cells[k], at, y + 7.6, g->lines[r]);
            at += widths[k] + column_gap;
        }
        y += height;
        canvas_line(c, box.x, y - .4, box.x + box.width, y - .4, INK_EMPTY, .5);
    }
}

static void table_chart_fill_twin(chart *x, const grid *g)
{
    x->twin.columns = g->column_count;
    x->is_table = true;
    for (size_t k = 0; k < g->column_count; k++) {
        if (g->columns[k].look == TABLE_NUMBER && k < 64) x->twin.right |= UINT64_C(1) << k;
        chart_cell(&x->twin, g->columns[k].head);
    }
    for (size_t i = 0; i < g->count * g->column_count; i++)
        chart_cell(&x->twin, g->cells[i]);
}

chart chart_table(chart_head head, const table_column *columns, size_t column_count, const char *const *cells,
                  size_t row_count)
{
    chart x;
    grid *g = chart_begin(&x, head, sizeof *g);
    g->columns = arena_copy(g->memory, columns, column_count, sizeof *columns);
    g->cells = arena_copy(g->memory, cells, column_count * row_count, sizeof *cells);
    if (column_count <= 64) {
        g->column_count = column_count;
        g->count = row_count;
    }
    for (size_t k = 0; k < g->column_count; k++)
        g->columns[k].head = arena_text(g->memory, columns[k].head);
    for (size_t i = 0; i < g->column_count * g->count; i++)
        g->cells[i] = arena_text(g->memory, cells[i]);
    g->lines = arena_make(g->memory, g->count + 1, 1);
    x.rows = g->count ? g->count : 1;
    x.height = table_chart_height;
    x.draw = table_chart_draw;
    table_chart_fill_twin(&x, g);
    return x;
}
