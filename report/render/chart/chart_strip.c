// The health strip: faults are few, so every check of every device is shown.
#include "chart_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct strip {
    arena *memory;
    const char **columns;
    size_t column_count;
    strip_row *rows;
    size_t count;
    bool words; // all rows have words of their own, and everything was read
} strip;

static const double pitch = 13.2, cell_height = 11.6, head_height = 13, gap = 2;

static bool strip_known(const strip_cell *cell)
{
    return cell->state == STRIP_KNOWN;
}

static bool strip_is_worse(const strip_cell *a, const strip_cell *b)
{
    return a->severity != b->severity ? a->severity > b->severity : a->weight > b->weight;
}

// The worst cell of a row; NULL when none is known.
static const strip_cell *strip_worst_of(const strip *s, const strip_row *r)
{
    const strip_cell *worst = NULL;
    for (size_t i = 0; i < s->column_count; i++)
        if (strip_known(&r->cells[i]) && (!worst || strip_is_worse(&r->cells[i], worst))) worst = &r->cells[i];
    return worst;
}

static size_t strip_count_unknown(const strip *s, const strip_row *r)
{
    size_t count = 0;
    for (size_t i = 0; i < s->column_count; i++)
        count += r->cells[i].state == STRIP_UNKNOWN;
    return count;
}

// "OK", "OK, 1 not read", "OK to HIGH".
static double strip_word_width(const strip *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->rows[i].word || (strip_worst_of(s, &s->rows[i]) && strip_count_unknown(s, &s->rows[i])))
            return s->words ? 54 : 70;
    return 40;
}

// Mark and word of the row: what a reader of plain text gets.
static void strip_draw_word(canvas *c, const strip *s, const strip_row *r, double x, double y, double width)
{
    if (r->word && !strip_count_unknown(s, r)) {
        const strip_cell *shown = strip_worst_of(s, r);
        canvas_text(c, x, y, r->word, TYPE_AXIS, shown ? theme_severity_ink(shown->severity) : INK_SECONDARY,
                    ALIGN_LEFT, width - 4);
        return;
    }
    const strip_cell *worst = strip_worst_of(s, r);
    size_t unknown = strip_count_unknown(s, r);
    if (!worst) {
        canvas_text(c, x, y, unknown ? "not read" : NUMBER_UNKNOWN, TYPE_AXIS, INK_SECONDARY, ALIGN_LEFT, width - 4);
        return;
    }
    if (unknown) { // never the good word alone
        char text[48];
        snprintf(text, sizeof text, "%s, %zu not read", theme_severity_word(worst->severity), unknown);
        canvas_text(c, x, y, text, TYPE_AXIS, worst->severity ? theme_severity_ink(worst->severity) : INK_SECONDARY,
                    ALIGN_LEFT, width - 4);
        return;
    }
    canvas_text(c, x, y, theme_severity_word(worst->severity), TYPE_AXIS, theme_severity_ink(worst->severity),
                ALIGN_LEFT, width - 4);
}

static void strip_draw_cell(canvas *c, const strip_cell *cell, canvas_box box)
{
    double base = box.y + box.height / 2 + 2.6, right = box.x + box.width - 4;
    bool marked = box.width >= 38 || (cell->before && box.width >= 28), calm = cell->severity == SEVERITY_OK;
    // Two marks where the number leaves them room.
    bool both = cell->before && box.width - canvas_text_width(c, cell->text, TYPE_CELL_STRONG) >= 22;
    // A number is never cut: where both do not fit, it goes before the mark.
    if (marked && !both && cell->before && canvas_text_width(c, cell->text, TYPE_CELL_STRONG) > right - box.x - 10)
        marked = false;
    if (cell->tip) canvas_tip(c, cell->tip);
    if (cell->state == STRIP_UNKNOWN) {
        canvas_hatch(c, box);
        return;
    }
    if (cell->state == STRIP_ABSENT) {
        canvas_rect(c, box, INK_EMPTY, 0);
        canvas_text(c, box.x + box.width / 2, base, NUMBER_UNKNOWN, TYPE_CELL, INK_SECONDARY, ALIGN_CENTER, 0);
        return;
    }
    canvas_rect(c, box, theme_severity_field(cell->severity), 0);
    if (marked) canvas_mark(c, box.x + (both ? 12.5 : cell->before ? 5 : 8), box.y + box.height / 2, cell->severity);
    if (both) canvas_mark(c, box.x + 4.5, box.y + box.height / 2, cell->before_severity);
    canvas_text(c, right, base, cell->text, calm ? TYPE_CELL : TYPE_CELL_STRONG,
                calm || marked ? INK_TEXT : theme_severity_ink(cell->severity), ALIGN_RIGHT,
                right - box.x -
                    (both                     ? 19
                     : marked && cell->before ? 10
                     : marked                 ? 13
                                              : 1));
}

// Counts of each state, and the worst device: what 64 columns come down to.
static void strip_draw_folded(canvas *c, const strip *s, const strip_row *r, canvas_box box)
{
    static const severity classes[] = {SEVERITY_OK, SEVERITY_INFO, SEVERITY_WATCH, SEVERITY_CRITICAL};
    size_t counts[SEVERITIES] = {0}, unknown = 0;
    const strip_cell *worst = strip_worst_of(s, r);
    double width = box.width / 8, base = box.y + box.height / 2 + 2.6;
    char text[32];
    for (size_t i = 0; i < s->column_count; i++) {
        const strip_cell *cell = &r->cells[i];
        unknown += cell->state == STRIP_UNKNOWN;
        if (strip_known(cell)) counts[cell->severity > SEVERITY_WATCH ? SEVERITY_CRITICAL : cell->severity]++;
    }
    for (size_t i = 0; i < 4; i++) {
        canvas_box cell = {box.x + width * (double)i + gap, box.y, width - gap, box.height};
        size_t n = counts[classes[i]];
        canvas_rect(c, cell, n ? theme_severity_field(classes[i]) : INK_EMPTY, 0);
        if (n) canvas_mark(c, cell.x + 8, cell.y + cell.height / 2, classes[i]);
        snprintf(text, sizeof text, "%zu", n);
        canvas_text(c, cell.x + cell.width - 4, base, text, TYPE_CELL, n ? INK_TEXT : INK_SECONDARY, ALIGN_RIGHT, 0);
    }
    canvas_box left_out = {box.x + 4 * width + gap, box.y, width - gap, box.height};
    if (unknown)
        canvas_hatch(c, left_out);
    else
        canvas_rect(c, left_out, INK_EMPTY, 0);
    snprintf(text, sizeof text, "%zu", unknown);
    canvas_text(c, left_out.x + left_out.width - 4, base, text, TYPE_CELL, unknown ? INK_TEXT : INK_SECONDARY,
                ALIGN_RIGHT, 0);
    if (!worst || worst->severity == SEVERITY_OK) return;
    snprintf(text, sizeof text, "%.20s", worst->text);
    double x = box.x + 5 * width + 8, right = box.x + box.width;
    x += canvas_text(c, x, base, s->columns[worst - r->cells], TYPE_CELL_STRONG, INK_TEXT, ALIGN_LEFT, right - x - 40) +
         6;
    canvas_text(c, x, base, text, TYPE_CELL, INK_TEXT, ALIGN_LEFT, right - x);
}

static void strip_folded_heads(canvas *c, canvas_box box)
{
    static const char *const heads[] = {"OK", "INFO", "WATCH", "WARN +", "not read"};
    double width = box.width / 8;
    for (size_t i = 0; i < 5; i++)
        canvas_text(c, box.x + width * (double)(i + 1) - 4, box.y + 8, heads[i], TYPE_TABLE, INK_SECONDARY, ALIGN_RIGHT,
                    width - 4);
    canvas_text(c, box.x + 5 * width + 8, box.y + 8, "worst", TYPE_TABLE, INK_SECONDARY, ALIGN_LEFT, 0);
}

static void strip_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const strip *s = x->data;
    double label = 0, y = box.y + head_height, word_width = strip_word_width(s);
    bool folded = s->column_count > STRIP_COLUMNS;
    for (size_t i = 0; i < s->count; i++)
        label = fmax(label, canvas_text_width(c, s->rows[i].label, TYPE_TABLE));
    label = fmin(label, .28 * box.width);
    double first = box.x + fmax(label + 8 + word_width, .295 * box.width), width = box.x + box.width - first;
    double step = s->column_count ? fmin(width / (double)s->column_count, 140) : width;
    if (folded) strip_folded_heads(c, (canvas_box){first, box.y, width, head_height});
    for (size_t i = 0; i < s->column_count && !folded; i++)
        canvas_text(c, first + step * ((double)i + .5), box.y + 8, s->columns[i], TYPE_TABLE_STRONG, INK_SECONDARY,
                    ALIGN_CENTER, step - 3);
    double row_pitch = chart_pitch(box, head_height, count, pitch), tall = row_pitch - pitch + cell_height;
    for (size_t r = from; r < from + count && r < s->count; r++, y += row_pitch) {
        const strip_row *row = &s->rows[r];
        double base = y + tall / 2 + 2.6;
        canvas_text(c, box.x, base, row->label, TYPE_TABLE, INK_TEXT, ALIGN_LEFT, first - box.x - word_width - 6);
        strip_draw_word(c, s, row, first - word_width, base, word_width);
        if (folded) strip_draw_folded(c, s, row, (canvas_box){first, y, width, tall});
        for (size_t i = 0; i < s->column_count && !folded; i++)
            strip_draw_cell(c, &row->cells[i], (canvas_box){first + step * (double)i + gap, y, step - gap, tall});
    }
}

static void strip_twin_cell(chart_twin *t, const strip_cell *cell)
{
    if (cell->state == STRIP_UNKNOWN)
        chart_cell(t, "not read");
    else if (cell->state == STRIP_ABSENT)
        chart_cell(t, NUMBER_UNKNOWN);
    else if (cell->before)
        chart_cellf(t, "%s %s (%s %s)", theme_severity_word(cell->severity), cell->text,
                    theme_severity_word(cell->before_severity), cell->before);
    else
        chart_cellf(t, "%s %s", theme_severity_word(cell->severity), cell->text);
}

static void strip_fill_twin(chart *x, const strip *s)
{
    x->twin.columns = s->column_count + 1;
    x->twin.right = ~UINT64_C(1);
    chart_cell(&x->twin, "");
    for (size_t i = 0; i < s->column_count; i++)
        chart_cell(&x->twin, s->columns[i]);
    for (size_t r = 0; r < s->count; r++) {
        chart_cell(&x->twin, s->rows[r].label);
        for (size_t i = 0; i < s->column_count; i++)
            strip_twin_cell(&x->twin, &s->rows[r].cells[i]);
    }
}

static const strip_cell *strip_copy_cells(arena *a, const strip_cell *cells, size_t count)
{
    strip_cell *mine = arena_copy(a, cells, count, sizeof *cells);
    for (size_t i = 0; i < count; i++) {
        mine[i].text = arena_text(a, mine[i].text);
        mine[i].before = mine[i].before ? arena_text(a, mine[i].before) : NULL;
        mine[i].tip = mine[i].tip ? arena_text(a, mine[i].tip) : NULL;
    }
    return mine;
}

chart chart_strip(chart_head head, const char *const *columns, size_t column_count, const strip_row *rows,
                  size_t row_count)
{
    chart x;
    strip *s = chart_begin(&x, head, sizeof *s);
    s->columns = arena_copy(s->memory, columns, column_count, sizeof *columns);
    s->column_count = column_count;
    for (size_t i = 0; i < s->column_count; i++)
        s->columns[i] = arena_text(s->memory, s->columns[i]);
    s->rows = arena_copy(s->memory, rows, row_count, sizeof *rows);
    s->count = row_count;
    for (size_t r = 0; r < row_count; r++) {
        s->rows[r].label = arena_text(s->memory, rows[r].label);
        s->rows[r].word = rows[r].word ? arena_text(s->memory, rows[r].word) : NULL;
        s->rows[r].cells = strip_copy_cells(s->memory, rows[r].cells, s->column_count);
    }
    s->words = true;
    for (size_t r = 0; r < row_count; r++)
        s->words = s->words && s->rows[r].word && !strip_count_unknown(s, &s->rows[r]);
    x.rows = s->count ? s->count : 1;
    x.squeeze = .8;
    x.height = chart_even_height;
    x.fixed_height = head_height;
    x.row_height = pitch;
    x.draw = strip_draw;
    strip_fill_twin(&x, s);
    return x;
}
