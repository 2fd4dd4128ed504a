// What is known and what not: a row for each question, a cell for each device or one over all of them; what was not read is hatched
// and says what it would have told.
#include "render/chart/chart_private.h"
#include "render/chart/charts_cause.h"

#include <math.h>
#include <stdio.h>

typedef struct cover {
    arena *memory;
    const char **columns;
    size_t column_count;
    cover_row *rows;
    size_t count;
    const char *right_head;
    bool worded; // some row has a state
} cover;

static const double cover_head = 14, cover_pitch = 14.5, cover_cell_height = 12.2, cover_word = 58;

static void cover_draw_cell(canvas *c, const cover_cell *cell, canvas_box box)
{
    double middle = box.x + box.width / 2, base = box.y + box.height / 2 + 2.6;
    double wide = canvas_text_width(c, cell->text, TYPE_CELL);
    if (cell->state == COVER_HATCHED) {
        canvas_hatch(c, box);
        if (!*cell->text) return;
        wide = fmin(wide, box.width - 12);
        canvas_rect(c, (canvas_box){middle - wide / 2 - 4, box.y + 1.2, wide + 8, box.height - 2.4}, INK_PAPER, 0);
        canvas_text(c, middle, base, cell->text, TYPE_CELL, INK_TEXT, ALIGN_CENTER, wide + 2);
        return;
    }
    theme_ink field = cell->marked ? theme_severity_field(cell->severity) : INK_RECEIVED_PALE;
    canvas_rect(c, box, cell->state == COVER_KNOWN ? field : INK_EMPTY, 0);
    if (cell->state != COVER_KNOWN) return;
    if (cell->marked) canvas_mark(c, box.x + 8, box.y + box.height / 2, cell->severity);
    if (cell->marked)
        canvas_text(c, box.x + box.width - 5, base, cell->text, TYPE_CELL, INK_TEXT, ALIGN_RIGHT, box.width - 20);
    else
        canvas_text(c, middle, base, cell->text, TYPE_CELL, INK_TEXT, ALIGN_CENTER, box.width - 4);
}

static void cover_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const cover *v = x->data;
    double left = box.x + .33 * box.width, end = box.x + (v->worded ? .72 : .78) * box.width, right = box.x + box.width;
    double step = (end - left) / (double)(v->column_count ? v->column_count : 1), y = box.y + cover_head;
    for (size_t i = 0; i < v->column_count; i++)
        canvas_text(c, left + step * ((double)i + .5), box.y + 8, v->columns[i], TYPE_TABLE_STRONG, INK_SECONDARY,
                    ALIGN_CENTER, step - 3);
    canvas_text(c, right, box.y + 8, v->right_head, TYPE_AXIS, INK_SECONDARY, ALIGN_RIGHT, 0);
    for (size_t r = from; r < from + count && r < v->count; r++, y += cover_pitch) {
        const cover_row *row = &v->rows[r];
        double base = y + cover_cell_height / 2 + 2.6;
        double sub = canvas_text(c, left - 8, base, row->sub, TYPE_AXIS, INK_SECONDARY, ALIGN_RIGHT, .12 * box.width);
        canvas_text(c, box.x, base, row->label, TYPE_TABLE, INK_TEXT, ALIGN_LEFT, left - 16 - box.x - sub);
        for (size_t i = 0; i < row->count; i++) {
            double from_x = row->count == 1 ? left : left + step * (double)i;
            cover_draw_cell(c, &row->cells[i],
                            (canvas_box){from_x, y, (row->count == 1 ? end - left : step) - 2, cover_cell_height});
        }
        if (v->worded) {
            canvas_mark(c, end + 8, base - 2.6, row->severity);
            canvas_text(c, end + 14, base, theme_severity_word(row->severity), TYPE_AXIS,
                        theme_severity_ink(row->severity), ALIGN_LEFT, cover_word - 14);
        }
        canvas_text(c, right, base, row->right, row->strong ? TYPE_CELL_STRONG : TYPE_CELL,
                    row->strong ? INK_TEXT : INK_SECONDARY, ALIGN_RIGHT,
                    right - end - 6 - (v->worded ? cover_word : 0));
    }
}

static void cover_fill_twin(chart *x, const cover *v)
{
    x->twin.columns = v->column_count + 4;
    chart_cell(&x->twin, "");
    chart_cell(&x->twin, "of");
    for (size_t i = 0; i < v->column_count; i++)
        chart_cell(&x->twin, v->columns[i]);
    chart_cell(&x->twin, "state");
    chart_cell(&x->twin, v->right_head);
    for (size_t r = 0; r < v->count; r++) {
        const cover_row *row = &v->rows[r];
        chart_cell(&x->twin, row->label);
        chart_cell(&x->twin, row->sub);
        for (size_t i = 0; i < v->column_count; i++) {
            const cover_cell *cell = row->count == 1 ? &row->cells[0] : &row->cells[i];
            chart_cellf(&x->twin, "%s%s", cell->state == COVER_HATCHED ? "not read: " : "", cell->text);
        }
        chart_cell(&x->twin, v->worded ? theme_severity_word(row->severity) : "");
        chart_cell(&x->twin, row->right);
    }
}

chart chart_cover(chart_head head, const char *const *columns, size_t column_count, const cover_row *rows, size_t count,
                  const char *right_head, bool worded)
{
    chart x;
    cover *v = chart_begin(&x, head, sizeof *v);
    v->columns = arena_copy(v->memory, columns, column_count, sizeof *columns);
    v->column_count = column_count;
    for (size_t i = 0; i < column_count; i++)
        v->columns[i] = arena_text(v->memory, columns[i]);
    v->rows = arena_copy(v->memory, rows, count, sizeof *rows);
    v->count = count;
    v->right_head = arena_text(v->memory, right_head);
    v->worded = worded;
    for (size_t r = 0; r < count; r++) {
        cover_row *row = &v->rows[r];
        row->label = arena_text(v->memory, row->label);
        row->sub = arena_text(v->memory, row->sub);
        row->right = arena_text(v->memory, row->right);
        cover_cell *cells = arena_copy(v->memory, row->cells, row->count, sizeof *row->cells);
        for (size_t i = 0; i < row->count; i++)
            cells[i].text = arena_text(v->memory, cells[i].text);
        row->cells = cells;
    }
    x.rows = count ? count : 1;
    x.squeeze = .85;
    x.height = chart_even_height;
    x.fixed_height = cover_head;
    x.row_height = cover_pitch;
    x.draw = cover_draw;
    cover_fill_twin(&x, v);
    return x;
}
