// Who sent to whom: rows send, columns receive. A late sender is a row, a late receiver a column, a slow way a cell, a slow
// path between groups a block; lines part the nodes.
#include "render/chart/chart_private.h"
#include "render/chart/charts_peers.h"

#include <math.h>
#include <stdio.h>

typedef struct matrix {
    arena *memory;
    matrix_style style;
    matrix_cell *cells;
    size_t count;
    double max;
    bool max_at_least; // any cell may be more, then so may the largest
} matrix;

static const double matrix_foot = 12, matrix_side = 232, matrix_wide = 22, matrix_rank = 7.4;
static const double matrix_bar = 24, matrix_bars = 60; // the longest bar, and all with its number

// Ranks have names of their own where there is room for them, else their nodes have.
static bool matrix_names_ranks(const matrix *m, double side)
{
    return side / (double)m->style.count >= matrix_rank || m->style.group_count == m->style.count;
}

static double matrix_label_width(const matrix *m, canvas *c)
{
    double widest = 0;
    for (size_t i = 0; i < m->style.count; i++)
        widest = fmax(widest, canvas_text_width(c, m->style.labels[i], TYPE_AXIS));
    for (size_t i = 0; i < m->style.group_count; i++)
        widest = fmax(widest, canvas_text_width(c, m->style.nodes[i], TYPE_AXIS));
    return fmin(widest, 70) + 16;
}

static double matrix_side_in(const matrix *m, canvas *c, double width)
{
    double side = fmin(fmax(150, matrix_wide * (double)m->style.count), matrix_side); // few ranks need no large field
    if (m->style.side > 0) side = fmin(side, m->style.side);
    double left = width - matrix_label_width(m, c) - (m->style.medians ? matrix_bars : 4);
    return fmin(left, canvas_figure_of(c) ? 1e9 : side);
}

// Above the field; one line more where the colour scale leaves no room beside it.
static double matrix_head(double side)
{
    return side > 130 ? 30 : 40;
}

static double matrix_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    const matrix *m = x->data;
    (void)from;
    (void)count;
    double side = matrix_side_in(m, c, width);
    return matrix_head(side) + side + 4 +
           (*m->style.note ? canvas_paragraph_height(c, width, m->style.note, TYPE_AXIS, 3) + 2 : 0) + matrix_foot - 8;
}

static number_text matrix_text(const matrix *m, double value)
{
    return m->style.format == AXES_DURATION ? number_duration(value) : number_prefixed(value, m->style.unit);
}

static number_text matrix_cell_text(const matrix *m, const matrix_cell *x)
{
    return words_at_least(x->at_least, matrix_text(m, x->value));
}

static theme_ink matrix_ink(const matrix *m, double value)
{
    return value > 0 ? theme_ramp(m->style.ramp, .08 + .92 * fmin(value / m->max, 1)) : INK_EMPTY;
}

// ---- the field ----

static void matrix_draw_cells(canvas *c, const matrix *m, canvas_box box, double step)
{
    uint16_t *inks = arena_make(m->memory, m->style.count * m->style.count, sizeof *inks);
    for (size_t i = 0; i < m->style.count * m->style.count; i++)
        inks[i] = INK_PAPER;
    for (size_t i = 0; i < m->count; i++) {
        const matrix_cell *x = &m->cells[i];
        inks[x->row * m->style.count + x->column] = (uint16_t)(isnan(x->value) ? INK_NONE : matrix_ink(m, x->value));
    }
    canvas_image(c, box, inks, m->style.count, m->style.count);
    for (size_t i = 0; i < m->count; i++) {
        const matrix_cell *x = &m->cells[i];
        if (isnan(x->value))
            canvas_hatch(c, (canvas_box){box.x + step * (double)x->column, box.y + step * (double)x->row, step, step});
    }
}

// What a cell is, where a pointer can find it.
static void matrix_hover(canvas *c, const matrix *m, canvas_box box, double step)
{
    enum { MOST = 600 }; // or pages become heavy
    char text[300];
    if (m->count > MOST) return;
    for (size_t i = 0; i < m->count; i++) {
        const matrix_cell *x = &m->cells[i];
        snprintf(text, sizeof text, "%.80s to %.80s: %s", m->style.labels[x->row], m->style.labels[x->column],
                 isnan(x->value) ? "not measured" : matrix_cell_text(m, x).text);
        canvas_hover(c, (canvas_box){box.x + step * (double)x->column, box.y + step * (double)x->row, step, step},
                     text);
    }
}

// Between nodes where they have several ranks, else a thin grid.
static void matrix_draw_lines(canvas *c, const matrix *m, canvas_box box, double step)
{
    bool nodes = m->style.group_count < m->style.count;
    for (size_t i = 1; i < m->style.count; i++) {
        bool edge = m->style.groups[i] != m->style.groups[i - 1];
        double at = step * (double)i;
        if (!edge && step < 6) continue;
        theme_ink ink = edge && nodes ? INK_PEER : INK_HAIR;
        double line = edge && nodes ? .4 : .35;
        canvas_line(c, box.x + at, box.y, box.x + at, box.y + box.height, ink, line);
        canvas_line(c, box.x, box.y + at, box.x + box.width, box.y + at, ink, line);
    }
    canvas_frame(c, box, INK_SECONDARY, .6);
}

static void matrix_draw_mark(canvas *c, const matrix *m, canvas_box box, double step)
{
    size_t n = m->style.count, row = m->style.mark_row, column = m->style.mark_column;
    if (row >= n && column >= n) return;
    canvas_box mark = box;
    double wide = step * (double)(m->style.mark_count ? m->style.mark_count : 1);
    if (row < n) mark.y += step * (double)row, mark.height = wide;
    if (column < n) mark.x += step * (double)column, mark.width = wide;
    canvas_frame(c, (canvas_box){mark.x - .8, mark.y - .8, mark.width + 1.6, mark.height + 1.6}, INK_BAD, 1.3);
}

// What is usual for each row, so that a late one stands out; one value that is far off makes no bar.
static void matrix_draw_medians(canvas *c, const matrix *m, canvas_box box, double step)
{
    double most = 0, left = box.x + box.width + 6;
    if (!m->style.medians) return;
    for (size_t i = 0; i < m->style.count; i++)
        most = fmax(most, m->style.medians[i]);
    canvas_text(c, left, box.y - 4, "median of row", TYPE_AXIS, INK_SECONDARY, ALIGN_LEFT, matrix_bars - 6);
    canvas_line(c, left, box.y, left, box.y + box.height, INK_PEER, .6);
    for (size_t i = 0; i < m->style.count; i++) {
        double value = m->style.medians[i], y = box.y + step * (double)i;
        if (!(value > 0)) continue;
        bool marked = i >= m->style.mark_row && i < m->style.mark_row + (m->style.mark_count ? m->style.mark_count : 1);
        double width = fmax(value / most * matrix_bar, .6);
        canvas_rect(c, (canvas_box){left, y + .1 * step, width, .8 * step}, marked ? INK_BAD : INK_PEER, 0);
        if (marked && i == m->style.mark_row)
            canvas_text(c, left + width + 3, y + step / 2 + 2.3, matrix_text(m, value).text, TYPE_AXIS, INK_BAD,
                        ALIGN_LEFT, 0);
    }
}

// ---- its sides ----

typedef struct matrix_tic {
    const char *text;
    double at; // its middle
    bool marked;
} matrix_tic;

static matrix_tic matrix_tic_of(const matrix *m, size_t from, size_t end, double step, bool ranks, size_t marked)
{
    bool here = marked >= from && marked < end;
    return (matrix_tic){.text = ranks || here ? m->style.labels[here ? marked : from]
                                              : m->style.nodes[m->style.groups[from]],
                        .at = step * (here && !ranks ? (double)marked + .5 : (double)(from + end) / 2),
                        .marked = here};
}

// The marked one first: its name stays, whatever else has room.
static size_t matrix_tics(const matrix *m, double step, size_t marked, matrix_tic *tics)
{
    size_t count = 0;
    bool ranks = matrix_names_ranks(m, step * (double)m->style.count);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0, end; i < m->style.count; i = end) {
            for (end = i + 1; !ranks && end < m->style.count && m->style.groups[end] == m->style.groups[i];)
                end++;
            matrix_tic tic = matrix_tic_of(m, i, end, step, ranks, marked);
            if (tic.marked == (pass == 0)) tics[count++] = tic;
        }
    return count;
}

static void matrix_draw_rows(canvas *c, const matrix *m, canvas_box box, double step, double left)
{
    matrix_tic tics[MATRIX_MOST];
    size_t count = matrix_tics(m, step, m->style.mark_row, tics), shown = 0;
    for (size_t i = 0; i < count; i++) {
        bool free = true;
        for (size_t k = 0; k < shown; k++)
            free &= fabs(tics[k].at - tics[i].at) >= matrix_rank;
        if (!free) continue;
        tics[shown++] = tics[i];
        canvas_text(c, box.x - 4, box.y + tics[i].at + 2.3, tics[i].text, TYPE_AXIS,
                    tics[i].marked ? INK_BAD : INK_SECONDARY, ALIGN_RIGHT, box.x - 4 - left);
    }
    canvas_text_upwards(c, left - 4, box.y + box.height / 2, "sender", TYPE_AXIS, INK_SECONDARY);
}

static void matrix_draw_columns(canvas *c, const matrix *m, canvas_box box, double step)
{
    matrix_tic tics[MATRIX_MOST];
    double from[MATRIX_MOST], to[MATRIX_MOST];
    size_t count = matrix_tics(m, step, m->style.mark_column, tics), shown = 0;
    for (size_t i = 0; i < count; i++) {
        double half = fmin(canvas_text_width(c, tics[i].text, TYPE_AXIS), 60) / 2;
        double at = fmin(fmax(tics[i].at, half), box.width - half);
        bool free = true;
        for (size_t k = 0; k < shown; k++)
            free &= at - half > to[k] + 4 || at + half < from[k] - 4;
        if (!free) continue;
        from[shown] = at - half;
        to[shown++] = at + half;
        canvas_text(c, box.x + at, box.y - 4, tics[i].text, TYPE_AXIS, tics[i].marked ? INK_BAD : INK_SECONDARY,
                    ALIGN_CENTER, 60);
    }
    canvas_text(c, box.x, box.y - 13, "receiver", TYPE_AXIS, INK_SECONDARY, ALIGN_LEFT, 0);
}

static void matrix_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const matrix *m = x->data;
    double asked = matrix_side_in(m, c, box.width), head = matrix_head(asked), label = matrix_label_width(m, c);
    double side = fmin(asked, box.height - head - 4), step = side / (double)m->style.count, y = box.y + head;
    canvas_box field = {box.x + label, y, side, side};
    (void)from;
    (void)count;
    axes_draw_ramp(c, box.x + label + side, box.y, m->style.ramp, "> 0",
                   words_at_least(m->max_at_least, matrix_text(m, m->max)).text);
    canvas_rect(c, (canvas_box){box.x + label, box.y, 8, 6}, INK_PAPER, 0);
    canvas_frame(c, (canvas_box){box.x + label, box.y, 8, 6}, INK_SECONDARY, .5);
    canvas_text(c, box.x + label + 11, box.y + 5.8, "no message", TYPE_AXIS, INK_SECONDARY, ALIGN_LEFT, 0);
    matrix_draw_cells(c, m, field, step);
    matrix_draw_lines(c, m, field, step);
    matrix_draw_mark(c, m, field, step);
    matrix_draw_medians(c, m, field, step);
    matrix_draw_rows(c, m, field, step, box.x + 10);
    matrix_draw_columns(c, m, field, step);
    matrix_hover(c, m, field, step);
    if (*m->style.note)
        canvas_paragraph(c, box.x, y + side + 12, box.width, m->style.note, TYPE_AXIS, INK_SECONDARY, 3);
}

// ---- its table ----

static void matrix_fill(chart_twin *t, const matrix *m, size_t most)
{
    t->columns = 3;
    t->right = 4;
    chart_cell(t, "sender");
    chart_cell(t, "receiver");
    chart_cell(t, m->style.format == AXES_DURATION ? "time" : m->style.unit);
    for (size_t i = 0; i < m->count && i < most; i++) {
        const matrix_cell *x = &m->cells[i];
        chart_cell(t, m->style.labels[x->row]);
        chart_cell(t, m->style.labels[x->column]);
        chart_cell(t, isnan(x->value) ? "not measured" : matrix_cell_text(m, x).text);
    }
    if (m->count <= most) return;
    chart_cellf(t, "and %zu more pairs", m->count - most);
    chart_cell(t, "");
    chart_cell(t, "");
}

static void matrix_fill_all(const chart *x, chart_twin *t)
{
    matrix_fill(t, x->data, SIZE_MAX);
}

static void matrix_copy_style(matrix *m, const matrix_style *style)
{
    m->style = *style;
    const char **labels = arena_copy(m->memory, style->labels, style->count, sizeof *labels);
    const char **nodes = arena_copy(m->memory, style->nodes, style->group_count, sizeof *nodes);
    for (size_t i = 0; i < style->count; i++)
        labels[i] = arena_text(m->memory, labels[i]);
    for (size_t i = 0; i < style->group_count; i++)
        nodes[i] = arena_text(m->memory, nodes[i]);
    m->style.labels = labels;
    m->style.nodes = nodes;
    m->style.groups = arena_copy(m->memory, style->groups, style->count, sizeof *style->groups);
    m->style.unit = arena_text(m->memory, style->unit);
    if (style->medians) m->style.medians = arena_copy(m->memory, style->medians, style->count, sizeof *style->medians);
    m->style.note = arena_text(m->memory, style->note);
}

chart chart_matrix(chart_head head, const matrix_style *style, const matrix_cell *cells, size_t count)
{
    enum { SHOWN = 60 };
    chart x;
    matrix *m = chart_begin(&x, head, sizeof *m);
    matrix_copy_style(m, style);
    m->cells = arena_copy(m->memory, cells, count, sizeof *cells);
    m->count = count;
    for (size_t i = 0; i < count; i++) {
        m->max = fmax(m->max, cells[i].value);
        m->max_at_least |= cells[i].at_least;
    }
    if (!(m->max > 0)) m->max = 1;
    x.height = matrix_height;
    x.draw = matrix_draw;
    x.all = matrix_fill_all;
    matrix_fill(&x.twin, m, SHOWN);
    return x;
}
