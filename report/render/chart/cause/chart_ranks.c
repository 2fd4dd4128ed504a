// Ranks beside each other: a cell for each, a gap between hosts, signs where the colour is strong, so that grey print says
// longer and shorter, too.
#include "render/chart/chart_private.h"
#include "render/chart/charts_cause.h"
#include "render/plot/axes.h"

#include "analysis/base/utf8.h"

#include <math.h>
#include <stdio.h>

typedef struct ranks {
    arena *memory;
    ranks_style style;
    ranks_row *rows;
    size_t count;
} ranks;

static const double ranks_head = 25, ranks_pitch = 13, ranks_foot = 10, note_width = 88;

typedef struct ranks_places {
    double first, step, gap; // of columns
} ranks_places;

static double ranks_x(const ranks *r, const ranks_places *p, size_t column)
{
    return p->first + p->step * (double)column + p->gap * (double)r->style.groups[column];
}

static theme_ink ranks_ink(const ranks *r, const ranks_row *row, double value)
{
    if (row->harm) return value > 0 ? theme_ramp(INK_ORANGE, .08 + .92 * fmin(value / .5, 1)) : INK_EMPTY;
    if (row->use) return value > 0 ? theme_ramp(INK_BLUE, .06 + .94 * fmin(value, 1)) : INK_EMPTY;
    double span = value < 1 ? log(1 / r->style.low) : log(r->style.high);
    return theme_ramp(INK_DIVERGING, .5 + .5 * log(fmax(value, 1e-3)) / span);
}

// Where columns are hosts they have no names beside these.
static const char *ranks_name(const ranks *r, size_t i)
{
    return *r->style.columns[i] ? r->style.columns[i] : r->style.hosts[r->style.groups[i]];
}

static void ranks_draw_cell(canvas *c, const ranks *r, const ranks_row *row, size_t i, canvas_box box)
{
    double value = row->values[i];
    char tip[200];
    snprintf(tip, sizeof tip, "%.*s: %s%.20s", utf8_within(ranks_name(r, i), 60), ranks_name(r, i),
             isnan(value)            ? "not there"
             : row->harm || row->use ? number_percent(value).text
                                     : number_fixed(value, 2).text,
             row->harm || row->use || isnan(value) ? "" : " of the median");
    canvas_tip(c, tip);
    if (isnan(value)) {
        canvas_hatch(c, box);
        return;
    }
    theme_ink ink = ranks_ink(r, row, value);
    canvas_rect(c, box, ink, 0);
    if (row->use && box.width >= 15) {
        canvas_text(c, box.x + box.width / 2, box.y + box.height / 2 + 2.6, number_fixed(100 * value, 0).text,
                    TYPE_CELL, (theme_ink)(INK_ON + ink), ALIGN_CENTER, box.width);
        return;
    }
    if (row->harm || row->use || box.width < 3.5) return;
    double x = box.x + box.width / 2, y = box.y + box.height / 2, arm = fmin(1.8, box.width / 2 - .6);
    if (value > 1.08 || value < .85) canvas_line(c, x - arm, y, x + arm, y, (theme_ink)(INK_ON + ink), .8);
    if (value > 1.08) canvas_line(c, x, y - arm, x, y + arm, (theme_ink)(INK_ON + ink), .8);
}

// Names of hosts over their ranks; of ranks the first of each host, and the marked one.
static void ranks_draw_axes(canvas *c, const ranks *r, const ranks_places *p, double top, double bottom)
{
    double last = -1e9, under = -1e9;
    double marked = r->style.marked < r->style.count ? ranks_x(r, p, r->style.marked) + p->step / 2 : -1e9;
    double half = marked > 0 ? canvas_text_width(c, r->style.columns[r->style.marked], TYPE_CELL_STRONG) / 2 : 0;
    for (size_t i = 0; i < r->style.count;) {
        size_t end = i;
        while (end < r->style.count && r->style.groups[end] == r->style.groups[i])
            end++;
        double from = ranks_x(r, p, i), to = ranks_x(r, p, end - 1) + p->step;
        const char *host = r->style.hosts[r->style.groups[i]], *rank = r->style.columns[i];
        double wide = canvas_text_width(c, host, TYPE_TABLE_STRONG), middle = (from + to) / 2;
        bool here = r->style.marked >= i && r->style.marked < end;
        if (middle - wide / 2 > last + 4 && (wide <= to - from + p->gap || here)) {
            canvas_text(c, middle, top, host, TYPE_TABLE_STRONG, here ? INK_BAD : INK_SECONDARY, ALIGN_CENTER, 0);
            last = middle + wide / 2;
        }
        wide = canvas_text_width(c, rank, TYPE_AXIS);
        bool free = from > under + 4 && (from + wide < marked - half - 3 || from > marked + half + 3);
        if (free && r->style.marked != i) canvas_text(c, from, bottom, rank, TYPE_AXIS, INK_SECONDARY, ALIGN_LEFT, 0);
        if (free) under = from + wide;
        i = end;
    }
    if (marked > 0)
        canvas_text(c, marked, bottom, r->style.columns[r->style.marked], TYPE_CELL_STRONG, INK_TEXT, ALIGN_CENTER, 0);
}

static void ranks_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const ranks *r = x->data;
    double label = 0, middle = canvas_text_width(c, r->style.middle_head, TYPE_AXIS);
    double pitch = chart_pitch(box, ranks_head + ranks_foot, r->count, ranks_pitch);
    char low[96], high[96];
    (void)from;
    (void)count;
    for (size_t i = 0; i < r->count; i++) {
        label = fmax(label, canvas_text_width(c, r->rows[i].label, TYPE_TABLE));
        middle = fmax(middle, canvas_text_width(c, r->rows[i].middle, TYPE_AXIS));
    }
    label = fmin(label, .2 * box.width);
    ranks_places p = {.first = box.x + label + middle + 16};
    double width = box.x + box.width - note_width - p.first;
    p.gap = r->style.group_count > 1 ? fmin(4, .25 * width / (double)r->style.group_count) : 0;
    p.step = (width - p.gap * (double)r->style.group_count) / (double)r->style.count;
    snprintf(low, sizeof low, "%s \xe2\x89\xa4 %s", NUMBER_MINUS, number_fixed(r->style.low, 1).text);
    snprintf(high, sizeof high, "\xe2\x89\xa5 %s +", number_fixed(r->style.high, 1).text);
    if (r->count && r->rows[0].use)
        axes_draw_ramp(c, box.x + box.width, box.y, INK_BLUE, "> 0", "100 %");
    else
        axes_draw_ramp(c, box.x + box.width, box.y, INK_DIVERGING, low, high);
    canvas_text(c, box.x + label + middle + 8, box.y + 20, r->style.middle_head, TYPE_AXIS, INK_SECONDARY, ALIGN_RIGHT,
                0);
    double y = box.y + ranks_head, bottom = y + pitch * (double)r->count;
    ranks_draw_axes(c, r, &p, box.y + 20, bottom + 7);
    canvas_text(c, box.x, bottom + 7, r->style.column_head, TYPE_AXIS, INK_SECONDARY, ALIGN_LEFT, label);
    for (size_t k = 0; k < r->count; k++, y += pitch) {
        const ranks_row *row = &r->rows[k];
        double base = y + pitch / 2 + 1.8, edge = p.step > 3 ? .8 : 0;
        canvas_text(c, box.x, base, row->label, TYPE_TABLE, INK_TEXT, ALIGN_LEFT, label);
        canvas_text(c, box.x + label + middle + 8, base, row->middle, TYPE_AXIS, INK_SECONDARY, ALIGN_RIGHT, middle);
        for (size_t i = 0; i < r->style.count; i++)
            ranks_draw_cell(c, r, row, i, (canvas_box){ranks_x(r, &p, i), y, fmax(p.step - edge, .3), pitch - 1.6});
        canvas_text(c, box.x + box.width, base, row->note, row->strong ? TYPE_CELL_STRONG : TYPE_CELL,
                    row->strong ? INK_TEXT : INK_SECONDARY, ALIGN_RIGHT, note_width - 6);
    }
    if (r->style.marked < r->style.count)
        canvas_frame(c,
                     (canvas_box){ranks_x(r, &p, r->style.marked) - 1, box.y + ranks_head - 1.5, p.step + 1.2,
                                  pitch * (double)r->count + 1.2},
                     INK_TEXT, .9);
}

chart chart_ranks(chart_head head, const ranks_style *style, const ranks_row *rows, size_t count)
{
    chart x;
    ranks *r = chart_begin(&x, head, sizeof *r);
    r->style = *style;
    const char **columns = arena_copy(r->memory, style->columns, style->count, sizeof *columns);
    const char **hosts = arena_copy(r->memory, style->hosts, style->group_count, sizeof *hosts);
    for (size_t i = 0; i < style->count; i++)
        columns[i] = arena_text(r->memory, columns[i]);
    for (size_t i = 0; i < style->group_count; i++)
        hosts[i] = arena_text(r->memory, hosts[i]);
    r->style.columns = columns;
    r->style.hosts = hosts;
    r->style.groups = arena_copy(r->memory, style->groups, style->count, sizeof *style->groups);
    r->rows = arena_copy(r->memory, rows, count, sizeof *rows);
    r->count = count;
    x.twin.columns = style->count + 3;
    x.twin.right = ~UINT64_C(1);
    chart_cell(&x.twin, "");
    chart_cell(&x.twin, r->style.middle_head);
    for (size_t i = 0; i < style->count; i++)
        chart_cell(&x.twin, ranks_name(r, i));
    chart_cell(&x.twin, "most unlike");
    for (size_t k = 0; k < count; k++) {
        ranks_row *row = &r->rows[k];
        row->label = arena_text(r->memory, row->label);
        row->middle = arena_text(r->memory, row->middle);
        row->note = arena_text(r->memory, row->note);
        row->values = arena_copy(r->memory, row->values, style->count, sizeof *row->values);
        chart_cell(&x.twin, row->label);
        chart_cell(&x.twin, row->middle);
        for (size_t i = 0; i < style->count; i++)
            chart_cell(&x.twin, isnan(row->values[i])   ? NUMBER_UNKNOWN
                                : row->harm || row->use ? number_percent(row->values[i]).text
                                                        : number_fixed(row->values[i], 2).text);
        chart_cell(&x.twin, row->note);
    }
    x.height = chart_even_height;
    x.fixed_height = ranks_head + ranks_pitch * (double)r->count + ranks_foot;
    x.draw = ranks_draw;
    x.squeeze = .8;
    return x;
}
