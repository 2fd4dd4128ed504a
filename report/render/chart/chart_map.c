// Rows over time: when, and who. One scale for all rows, zero is empty, not measured is hatched.
#include "chart_private.h"
#include "charts_plots.h"

#include "analysis/base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct map {
    arena *memory;
    map_style style;
    map_row *rows;
    size_t count;
    double max;
    bool marks;   // some row has one
    bool hatched; // some cell was not measured
} map;

static const double head_height = 17, ribbon_height = 14, row_gap = 1.4;

static double map_row_height(const map *m)
{
    return m->count <= 8 ? 13.1 : m->count <= 16 ? 11 : 9;
}

static double map_fixed_height(const canvas *c, const map *m)
{
    return head_height + (m->style.phase_count ? ribbon_height : 0) +
           (m->style.no_axis ? 2 : axes_x_height(c, &m->style.axis) + 2);
}

static double map_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    const map *m = x->data;
    (void)width;
    (void)from;
    return map_fixed_height(c, m) + (double)count * map_row_height(m);
}

static theme_ink map_ink_of(const map *m, double value)
{
    if (isnan(value)) return INK_NONE; // hatched
    if (!(value > 0)) return INK_EMPTY;
    return theme_ramp(m->style.ramp, 0.06 + 0.94 * value / m->max);
}

static number_text map_value_text(const map *m, double value)
{
    switch (m->style.format) {
    case AXES_PERCENT: return number_percent(value);
    case AXES_BINARY: return number_binary(value);
    case AXES_TIME:
    case AXES_DURATION: return number_duration(value);
    default: return number_prefixed(value, m->style.unit);
    }
}

// What is not here yet is a blue dotted line, what is lost a red field: neither looks like what nobody measured. Where there
// was nothing to measure, nothing is drawn.
static void map_draw_absent(canvas *c, char state, canvas_box run)
{
    double middle = run.y + run.height / 2, thick = fmin(2, fmax(.8, run.height / 3));
    if (state == MAP_LOST)
        canvas_rect(c, run, INK_BAD, 0);
    else if (state == MAP_WAITS)
        canvas_dashed(c, run.x, middle, run.x + run.width, middle, INK_INFO, thick);
    else if (state != MAP_NOT_THERE)
        canvas_hatch(c, run);
}

static char map_state(const map_row *r, size_t column)
{
    bool unknown = isnan(r->values[column]);
    return !unknown ? 0 : r->states ? r->states[column] : MAP_MEASURED;
}

// Of columns without a value: was there something that could have been measured?
static const char *map_why_not(const map_row *r, size_t from, size_t end)
{
    for (size_t i = from; i < end; i++)
        if (map_state(r, i) != MAP_NOT_THERE) return "not measured";
    return "nothing to measure";
}

// Runs of cells that were measured, as pictures, and of those that were not.
static void map_draw_cells(canvas *c, const map *m, const map_row *r, canvas_box box)
{
    double step = box.width / (double)m->style.columns;
    for (size_t i = 0, from; i < m->style.columns; i = from) {
        char state = map_state(r, i);
        uint16_t inks[MAP_COLUMNS];
        for (from = i; from < m->style.columns && map_state(r, from) == state; from++)
            inks[from - i] = (uint16_t)map_ink_of(m, r->values[from]);
        canvas_box run = {box.x + step * (double)i, box.y, step * (double)(from - i), box.height};
        if (state)
            map_draw_absent(c, state, run);
        else
            canvas_image(c, run, inks, from - i, 1);
    }
}

// Hover texts: stretches of columns with the most in each.
static void map_hover_row(canvas *c, const map *m, const map_row *r, canvas_box box)
{
    enum { STRETCHES = 40, LEAST = 5, ALL = 80 }; // ALL: of a whole map, or pages become heavy
    size_t columns = m->style.columns, most = m->count ? ALL / m->count : STRETCHES;
    size_t stretches = most > STRETCHES ? STRETCHES : most < LEAST ? LEAST : most;
    if (stretches > columns) stretches = columns;
    double step = box.width / (double)columns;
    for (size_t s = 0; s < stretches; s++) {
        size_t from = s * columns / stretches, end = (s + 1) * columns / stretches;
        double high = NAN, span = (m->style.to - m->style.from) / (double)columns;
        char text[480];
        for (size_t i = from; i < end; i++)
            high = fmax(high, r->values[i]);
        snprintf(text, sizeof text, "%.*s, from %s: %s%s", utf8_within(r->label, 60), r->label,
                 number_duration(m->style.from + span * (double)from).text,
                 isnan(high) ? map_why_not(r, from, end) : map_value_text(m, high).text,
                 end - from > 1 && !isnan(high) ? " at most" : "");
        canvas_hover(c, (canvas_box){box.x + step * (double)from, box.y, step * (double)(end - from), box.height},
                     text);
    }
}

static bool map_has_no_words(const canvas *c)
{
    return canvas_figure_of(c) && canvas_figure_of(c)->no_words;
}

static void map_draw_row(canvas *c, const map *m, const map_row *r, const axes *a, double left, double y, double right,
                         double high)
{
    bool words = !map_has_no_words(c), marked = r->marked && words;
    double base = y + high / 2 + 2.2, marks = m->marks && words ? 44 : 0;
    canvas_box box = {axes_x(a, m->style.from), y, 0, high > 3 * row_gap ? high - row_gap : high};
    box.width = axes_x(a, m->style.to) - box.x;
    axes here = *a;
    here.box.y = box.y;
    here.box.height = box.height;
    axes_begin_time(c, &here, 0, 0);
    map_draw_cells(c, m, r, box);
    map_hover_row(c, m, r, box);
    axes_end_time(c, &here);
    theme_ink ink = marked && r->severity >= SEVERITY_WARN ? INK_BAD : INK_TEXT;
    if (!r->quiet)
        canvas_text(c, left, base, r->label, TYPE_TABLE, ink, ALIGN_LEFT, a->box.x - left - (marked ? marks : 0) - 6);
    if (marked) {
        canvas_mark(c, a->box.x - marks + 2, base - 2.4, r->severity);
        canvas_text(c, a->box.x - marks + 9, base, theme_severity_word(r->severity), TYPE_AXIS,
                    theme_severity_ink(r->severity), ALIGN_LEFT, 0);
    }
    if (words) canvas_text(c, right, base, r->right, TYPE_TABLE, ink, ALIGN_RIGHT, right - a->box.x - a->box.width - 6);
}

// Widths of the columns beside the map.
static void map_measure(const map *m, canvas *c, double width, double *label, double *right)
{
    *label = canvas_text_width(c, m->style.label_head, TYPE_AXIS);
    *right = canvas_text_width(c, m->style.right_head, TYPE_AXIS);
    for (size_t i = 0; i < m->count; i++) {
        *label = fmax(*label, canvas_text_width(c, m->rows[i].label, TYPE_TABLE));
        *right = fmax(*right, canvas_text_width(c, m->rows[i].right, TYPE_TABLE));
    }
    *label = fmin(*label, 0.28 * width) + (m->marks ? 50 : 8);
    *right = *right > 0 ? fmin(*right, 0.25 * width) + 8 : 0;
    if (canvas_figure_of(c)) { // as wide as its texts, not as other charts'
        if (map_has_no_words(c)) *label -= m->marks ? 42 : 0, *right = 0;
        return;
    }
    if (m->style.label_width > 0) *label = fmin(m->style.label_width, .4 * width);
    if (m->style.right_width > 0) *right = fmin(m->style.right_width, .3 * width);
}

// Between groups of rows.
static const double map_space = 3.5;

static double map_spaces(const map *m, size_t from, size_t count)
{
    double sum = 0;
    for (size_t i = from + 1; i < from + count && i < m->count; i++)
        sum += m->rows[i].apart ? map_space : 0;
    return sum;
}

// Left of its begin, where there is room for it, else right of it; never over the key of the colours.
static void map_name_incidents(const map *m, canvas *c, const axes *a, double y)
{
    const double key = 96, end = a->box.x + a->box.width - key;
    for (size_t i = 0; i < m->style.incident_count; i++) {
        const char *label = m->style.incidents[i].label;
        double at = axes_x(a, m->style.incidents[i].from), width = canvas_text_width(c, label, TYPE_AXIS);
        if (!(at >= a->box.x) || at > a->box.x + a->box.width) continue;
        bool left = at - width >= a->box.x || at + width > end;
        double from = left ? fmin(at, end) - width : at;
        if (from >= a->box.x && end > a->box.x) canvas_text(c, from, y, label, TYPE_AXIS, INK_BAD, ALIGN_LEFT, 0);
    }
}

// On a ground of its own: cells may be as dark as it is.
static void map_draw_incidents(const map *m, canvas *c, const axes *a, double bottom)
{
    for (size_t i = 0; m->style.named_incidents && i < m->style.incident_count; i++) {
        double at = axes_x(a, m->style.incidents[i].from);
        if (!(at >= a->box.x) || at > a->box.x + a->box.width) continue;
        canvas_line(c, at, a->box.y, at, bottom, INK_PAPER, 1.8);
        canvas_dashed(c, at, a->box.y, at, bottom, INK_BAD, .9);
    }
    if (!m->style.named_incidents)
        axes_draw_begins(c, a, m->style.incidents, m->style.incident_count, a->box.y, bottom);
}

static void map_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const map *m = x->data;
    double label, beside, end = box.x + box.width, y = box.y + head_height;
    map_measure(m, c, box.width, &label, &beside);
    axes a = {
        {box.x + label, y, box.width - label - beside, 0}, m->style.axis, {.axis = {0, 1, false, false}, .unit = ""}};
    axes_draw_ramp(c, a.box.x + a.box.width, box.y, m->style.ramp, "> 0", map_value_text(m, m->max).text);
    if (m->style.named_incidents) map_name_incidents(m, c, &a, y - 4);
    canvas_text(c, box.x, y - 4, m->style.label_head, TYPE_AXIS, INK_SECONDARY, ALIGN_LEFT, label - 8);
    if (!map_has_no_words(c))
        canvas_text(c, end, y - 4, m->style.right_head, TYPE_AXIS, INK_SECONDARY, ALIGN_RIGHT, beside);
    // A sample of what is hatched, where there is room for it.
    if (m->hatched && a.box.width > 190 && !canvas_figure_of(c)) {
        double at = a.box.x + a.box.width - 90 - 64;
        canvas_hatch(c, (canvas_box){at, box.y, 12, 6});
        canvas_text(c, at + 16, box.y + 5.8, "no samples", TYPE_AXIS, INK_SECONDARY, ALIGN_LEFT, 0);
    }
    if (m->style.phase_count) {
        a.box.height = ribbon_height - 3;
        axes_begin_time(c, &a, 0, 0);
        axes_draw_spans(c, &a, m->style.phases, m->style.phase_count);
        axes_end_time(c, &a);
        y += ribbon_height;
    }
    a.box.y = y;
    double pitch = chart_pitch(box, map_fixed_height(c, m), count, map_row_height(m));
    if (canvas_figure_of(c))
        pitch = (box.height - map_fixed_height(c, m) - map_spaces(m, from, count)) / (double)(count ? count : 1);
    for (size_t i = from; i < from + count && i < m->count; i++, y += pitch) {
        if (canvas_figure_of(c) && i > from && m->rows[i].apart) y += map_space;
        map_draw_row(c, m, &m->rows[i], &a, box.x, y, end, pitch);
    }
    a.box.height = y - a.box.y;
    axes_begin_time(c, &a, 0, 0);
    map_draw_incidents(m, c, &a, y);
    axes_end_time(c, &a);
    canvas_line(c, a.box.x, y, a.box.x + a.box.width, y, INK_SECONDARY, 0.8);
    if (!m->style.no_axis) axes_draw_x(c, &a, a.box.x - 8, fmin(a.box.x + a.box.width + 14, end));
}

static void map_make_table(chart_twin *t, const map *m)
{
    enum { MOST = 60 }; // columns of a table that somebody reads
    size_t columns = m->style.columns, shown = columns < MOST ? columns : MOST;
    double span = (m->style.to - m->style.from) / (double)columns;
    t->columns = shown + 1;
    t->right = ~UINT64_C(1);
    chart_cellf(t, "%s%s", m->style.label_head, shown < columns ? ", most from" : ", from");
    for (size_t s = 0; s < shown; s++)
        chart_cell(t, number_duration(m->style.from + span * (double)(s * columns / shown)).text);
    for (size_t i = 0; i < m->count; i++) {
        chart_cell(t, m->rows[i].label);
        for (size_t s = 0; s < shown; s++) {
            double most = NAN;
            size_t from = s * columns / shown, end = (s + 1) * columns / shown;
            for (size_t k = from; k < end; k++)
                most = fmax(most, m->rows[i].values[k]);
            chart_cell(t, isnan(most) ? map_why_not(&m->rows[i], from, end) : map_value_text(m, most).text);
        }
    }
}

static void map_copy_rows(map *m, const map_row *rows, size_t count)
{
    double most = 0;
    m->rows = arena_copy(m->memory, rows, count, sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        map_row *r = &m->rows[i];
        r->label = arena_text(m->memory, r->label);
        r->right = arena_text(m->memory, r->right);
        r->values = arena_copy(m->memory, r->values, m->style.columns, sizeof(double));
        if (r->states) r->states = arena_copy(m->memory, r->states, m->style.columns, 1);
        m->marks |= r->marked;
        for (size_t k = 0; k < m->style.columns; k++) {
            most = fmax(most, r->values[k]);
            m->hatched |= map_state(r, k) == MAP_MEASURED;
        }
    }
    m->count = count;
    m->max = m->style.max > 0 ? m->style.max : plot_axis_for(&most, 1, false).max;
}

static bool map_pick(chart *x, chart_pick *p)
{
    map *m = x->data;
    size_t kept = chart_pick_rows(x, p, m->rows, sizeof *m->rows, m->count, CHART_TITLE, offsetof(map_row, label));
    if (!kept) return false;
    m->count = kept;
    map_make_table(&x->twin, m);
    return true;
}

chart chart_map(chart_head head, const map_style *style, const map_row *rows, size_t count)
{
    chart x;
    map *m = chart_begin(&x, head, sizeof *m);
    m->style = *style;
    if (m->style.columns > MAP_COLUMNS) m->style.columns = MAP_COLUMNS;
    m->style.axis.unit = arena_text(m->memory, style->axis.unit);
    m->style.axis.title = arena_text(m->memory, style->axis.title ? style->axis.title : axes_time_title(&style->axis));
    m->style.unit = arena_text(m->memory, style->unit);
    m->style.label_head = arena_text(m->memory, style->label_head);
    m->style.right_head = arena_text(m->memory, style->right_head);
    m->style.phases = axes_copy_spans(m->memory, style->phases, style->phase_count);
    m->style.incidents = axes_copy_spans(m->memory, style->incidents, style->incident_count);
    map_copy_rows(m, rows, count);
    x.rows = count ? count : 1;
    x.draw = map_draw;
    x.pick = map_pick;
    x.height = map_height;
    x.squeeze = m->style.squeeze ? .75 : 0;
    map_make_table(&x.twin, m);
    return x;
}
