// Small multiples over one axis: what moves together is seen above one another. Gaps stay gaps, in every panel.
#include "chart_private.h"
#include "charts_plots.h"

#include "analysis/base/utf8.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct lines {
    arena *memory;
    lines_style style;
    lines_panel *panels;
    axes_scale *scales; // of y, for each panel
    size_t count;
} lines;

static const double ribbon_height = 16, boxes_height = 14, label_width = 74;

// ---- data ----

typedef struct bin {
    double sum, low, high;
    size_t count;
} bin;

static void lines_chart_add_to_bin(bin *b, double y, double low, double high)
{
    if (isnan(y)) return;
    if (isnan(low)) low = y;
    if (isnan(high)) high = y;
    b->low = b->count ? fmin(b->low, low) : low;
    b->high = b->count ? fmax(b->high, high) : high;
    b->sum += y;
    b->count++;
}

// Layers lie upon each other: their edges are means, not extremes.
static void lines_chart_average_edges(lines_curve *to, const lines_curve *from, size_t count, double *low, double *high)
{
    for (size_t k = 0; k < LINES_COLUMNS; k++) {
        bin lower = {0}, upper = {0};
        for (size_t i = k * count / LINES_COLUMNS; i < (k + 1) * count / LINES_COLUMNS; i++) {
            if (isnan(from->y[i])) continue;
            lines_chart_add_to_bin(&lower, from->low[i], NAN, NAN);
            lines_chart_add_to_bin(&upper, from->high[i], NAN, NAN);
        }
        low[k] = lower.count ? lower.sum / (double)lower.count : NAN;
        high[k] = upper.count ? upper.sum / (double)upper.count : NAN;
    }
    to->low = low;
    to->high = high;
}

// Mean and band of LINES_COLUMNS bins of neighbours; a bin with no value is a gap.
static lines_curve lines_chart_thinned(arena *memory, const lines_curve *from, size_t count)
{
    lines_curve to = *from;
    double *y = arena_make(memory, 3 * LINES_COLUMNS, sizeof *y), *low, *high;
    low = y + LINES_COLUMNS;
    high = low + LINES_COLUMNS;
    for (size_t k = 0; k < LINES_COLUMNS; k++) {
        bin b = {0};
        for (size_t i = k * count / LINES_COLUMNS; i < (k + 1) * count / LINES_COLUMNS; i++)
            lines_chart_add_to_bin(&b, from->y[i], from->low ? from->low[i] : NAN, from->high ? from->high[i] : NAN);
        y[k] = b.count ? b.sum / (double)b.count : NAN;
        low[k] = b.count ? b.low : NAN;
        high[k] = b.count ? b.high : NAN;
    }
    to.y = y;
    to.low = low;
    to.high = high;
    if (from->area) lines_chart_average_edges(&to, from, count, low, high);
    return to;
}

static lines_curve lines_chart_copied(arena *memory, const lines_curve *from, size_t count)
{
    lines_curve to = *from;
    to.label = arena_text(memory, from->label);
    if (count > LINES_COLUMNS) return lines_chart_thinned(memory, &to, count);
    to.y = arena_copy(memory, from->y, count, sizeof(double));
    to.low = from->low ? arena_copy(memory, from->low, count, sizeof(double)) : NULL;
    to.high = from->high ? arena_copy(memory, from->high, count, sizeof(double)) : NULL;
    return to;
}

static const double *lines_chart_thinned_x(arena *memory, const double *x, size_t count)
{
    double *to = arena_make(memory, LINES_COLUMNS, sizeof *to);
    for (size_t k = 0; k < LINES_COLUMNS; k++) {
        size_t from = k * count / LINES_COLUMNS, end = (k + 1) * count / LINES_COLUMNS;
        to[k] = (x[from] + x[end - 1]) / 2;
    }
    return to;
}

// The y axis of a panel: all its curves and bands, and its limit.
static axes_scale lines_chart_scale_of(const lines_panel *p, size_t count, double top)
{
    axes_scale s = {.axis.log = p->log, .format = p->format, .unit = p->unit};
    if (top > 0 && !p->log) s.axis = (plot_axis){0, top, false, p->format == AXES_BINARY};
    double all[3] = {NAN, NAN, isnan(p->limit) ? NAN : p->limit};
    for (size_t k = 0; k < p->curve_count; k++)
        for (size_t i = 0; i < count; i++) {
            const double *of[3] = {p->curves[k].y, p->curves[k].low, p->curves[k].high};
            for (size_t m = 0; m < 3; m++) {
                double v = of[m] ? of[m][i] : NAN;
                if (!isfinite(v) || (p->log && v <= 0)) continue;
                all[0] = fmin(v, all[0]); // fmin and fmax pass over NAN
                all[1] = fmax(v, all[1]);
            }
        }
    return axes_complete(s, all, 3);
}

// ---- drawing ----

static double lines_chart_panel_height(const lines *l, const canvas *c)
{
    if (c && canvas_figure_of(c) && l->count == 1) return 96;
    return l->style.panel_height > 0 ? l->style.panel_height : 62;
}

// The panels' names are beside them on a page, and the titles of their axes in a figure.
static double lines_chart_beside(const canvas *c)
{
    return canvas_figure_of(c) ? 0 : label_width;
}

static double lines_chart_weight(const lines *l, size_t i)
{
    return l->style.weights ? l->style.weights[i] : 1;
}

static double lines_chart_weights(const lines *l, size_t from, size_t count)
{
    double sum = 0;
    for (size_t i = from; i < from + count && i < l->count; i++)
        sum += lines_chart_weight(l, i);
    return sum;
}

static double lines_chart_gap(const lines *l)
{
    return l->style.fill ? 9 : 12;
}

static double lines_chart_key_of(const lines_panel *p, canvas *c, double left, double y, double width, bool draw)
{
    axes_key keys[16];
    size_t count = 0;
    for (size_t i = 0; i < p->curve_count && count < 16; i++) {
        const lines_curve *k = &p->curves[i];
        if (k->no_key) continue;
        axes_swatch swatch = k->area ? SWATCH_BOX : k->low ? SWATCH_BAND : k->dashed ? SWATCH_DASHED : SWATCH_LINE;
        keys[count++] = (axes_key){k->label, swatch, k->ink, k->pale, k->area || k->dashed ? 0 : i};
    }
    return axes_draw_key(c, keys, count, left, y, width, draw);
}

static double lines_chart_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    const lines *l = x->data;
    double sum = (l->style.phase_count ? ribbon_height : 0) + (l->style.box_count ? boxes_height + 4 : 0) +
                 axes_x_height(c, &l->style.axis) - (canvas_figure_of(c) ? lines_chart_gap(l) : 0);
    for (size_t i = from; i < from + count && i < l->count; i++)
        sum += lines_chart_panel_height(l, c) * lines_chart_weight(l, i) + lines_chart_gap(l) +
               lines_chart_key_of(&l->panels[i], c, 0, 0, width - lines_chart_beside(c), false);
    return sum;
}

// Within the incident, after it or before it; on paper of its own, for curves run below it.
static void lines_chart_draw_incident_label(canvas *c, const axes *a, const char *label, double left, double right)
{
    double text = canvas_text_width(c, label, TYPE_AXIS), x;
    if (text + 4 <= right - left)
        x = (left + right - text) / 2;
    else if (right + 3 + text <= a->box.x + a->box.width)
        x = right + 3;
    else if (left - 3 - text >= a->box.x)
        x = left - 3 - text;
    else
        return;
    canvas_rect(c, (canvas_box){x - 2, a->box.y + .5, text + 4, 9.5}, INK_PAPER, 1);
    canvas_text(c, x, a->box.y + 7, label, TYPE_AXIS, INK_BAD, ALIGN_LEFT, 0);
}

typedef enum incident_part { INCIDENT_WASH = 0, INCIDENT_EDGES, INCIDENT_LABELS } incident_part;

static void lines_chart_draw_incidents(canvas *c, const axes *a, const axes_span *spans, size_t count,
                                       incident_part part)
{
    double left, right;
    for (size_t i = 0; i < count; i++) {
        if (!axes_clip(a, &spans[i], &left, &right)) continue;
        if (part == INCIDENT_WASH) {
            canvas_rect(c, (canvas_box){left, a->box.y, right - left, a->box.height}, INK_BAD_PALE, 0);
        } else if (part == INCIDENT_LABELS) {
            lines_chart_draw_incident_label(c, a, spans[i].label, left, right);
        } else {
            canvas_dashed(c, left, a->box.y, left, a->box.y + a->box.height, INK_BAD, 0.8);
            canvas_dashed(c, right, a->box.y, right, a->box.y + a->box.height, INK_BAD, 0.8);
        }
    }
}

// Whether all curves are areas of which each begins where the one before ends. Such are drawn from the last one on, each down
// to the bottom: the edges between them are drawn once, and no gap shows there.
static bool lines_chart_is_stack(const lines_panel *p, size_t points)
{
    bool stack = p->curve_count > 1;
    for (size_t i = 0; stack && i < p->curve_count; i++) {
        const lines_curve *k = &p->curves[i];
        stack = k->area && k->low && k->high && k->pale != INK_NONE;
        for (size_t at = 0; stack && i && at < points; at++) {
            double from = k->low[at], end = k[-1].high[at];
            stack = (from >= end && from <= end) || (isnan(from) && isnan(end));
        }
    }
    return stack;
}

static void lines_chart_draw_curves(canvas *c, const lines *l, const lines_panel *p, const axes *a)
{
    enum { MOST = 64 };
    plot_series series[2 * MOST];
    size_t n = 0, count = l->style.count;
    if (lines_chart_is_stack(p, count) && p->curve_count <= MOST) {
        for (size_t i = p->curve_count; i-- > 0;)
            series[n++] = (plot_series){.kind = PLOT_BAND,
                                        .ink = p->curves[i].pale,
                                        .x = l->style.x,
                                        .y = p->curves[0].low,
                                        .y2 = p->curves[i].high,
                                        .count = count};
    }
    for (size_t i = n ? p->curve_count : 0; i < p->curve_count && i < MOST; i++) {
        const lines_curve *k = &p->curves[i];
        if (!k->low || !k->high || k->pale == INK_NONE) continue;
        series[n++] = (plot_series){
            .kind = PLOT_BAND, .ink = k->pale, .x = l->style.x, .y = k->low, .y2 = k->high, .count = count};
    }
    for (size_t i = 0; i < p->curve_count && i < MOST; i++) {
        const lines_curve *k = &p->curves[i];
        if (k->area) continue;
        series[n++] = (plot_series){.kind = k->step ? PLOT_STEP : PLOT_LINE,
                                    .ink = k->ink,
                                    .line_width = 1,
                                    .dashed = k->dashed,
                                    .nth = i,
                                    .x = l->style.x,
                                    .y = k->y,
                                    .count = count};
    }
    plot drawn = {a->x.axis, a->y.axis, series, n};
    canvas_plot(c, a->box, &drawn);
}

static number_text lines_chart_value_text(const lines_panel *p, double value)
{
    switch (p->format) {
    case AXES_BINARY: return number_binary(value);
    case AXES_PERCENT: return number_percent(value);
    case AXES_TIME:
    case AXES_DURATION: return number_duration(value);
    default: return number_prefixed(value, p->unit);
    }
}

// Hover texts: up to 24 stretches, fewer where panels are many, each with the point in its middle; the table has more.
static void lines_chart_draw_hovers(canvas *c, const lines *l, const lines_panel *p, const axes *a)
{
    enum { MOST = 24, LEAST = 6, ALL = 120 };
    size_t each = ALL / (l->count ? l->count : 1), most = each > MOST ? MOST : each < LEAST ? LEAST : each;
    size_t count = l->style.count, stretches = count < most ? count : most;
    for (size_t s = 0; s < stretches; s++) {
        size_t from = s * count / stretches, end = (s + 1) * count / stretches, i = (from + end) / 2;
        axes_span span = {l->style.x[from], end < count ? l->style.x[end] : l->style.axis.axis.max, NULL, INK_NONE};
        double left, right;
        char text[800];
        if (!axes_clip(a, &span, &left, &right)) continue;
        number_text at = lines_chart_value_text(
            &(lines_panel){.format = l->style.axis.format, .unit = l->style.axis.unit}, l->style.x[i]);
        int used = snprintf(text, sizeof text, "%s", at.text);
        for (size_t k = 0; k < p->curve_count && used > 0 && (size_t)used < sizeof text - 1; k++)
            used +=
                snprintf(text + used, sizeof text - (size_t)used, "%s %.*s%s%s", k ? "," : ":",
                         utf8_within(p->curves[k].label, 40), p->curves[k].label, *p->curves[k].label ? " " : "",
                         isnan(p->curves[k].y[i]) ? "not measured" : lines_chart_value_text(p, p->curves[k].y[i]).text);
        canvas_hover(c, (canvas_box){left, a->box.y, right - left, a->box.height}, text);
    }
}

// Where layers are not measured, though others may be.
static void lines_chart_hatch_unknown(canvas *c, const lines *l, const lines_curve *k, const axes *a)
{
    const double *x = l->style.x;
    size_t count = l->style.count;
    for (size_t i = 0, end; i < count; i = end + 1) {
        for (end = i; end < count && isnan(k->y[end]);)
            end++;
        if (end == i) continue;
        double from = i ? (x[i - 1] + x[i]) / 2 : l->style.axis.axis.min;
        double to = end < count ? (x[end - 1] + x[end]) / 2 : l->style.axis.axis.max;
        axes_hatch(c, a, &(axes_span){from, to, "", INK_NONE}, 1);
    }
}

static void lines_chart_draw_limit(canvas *c, const lines_panel *p, const axes *a)
{
    double y = axes_y(a, p->limit);
    if (isnan(p->limit) || isnan(y)) return;
    canvas_line(c, a->box.x, y, a->box.x + a->box.width, y, INK_TEXT, 0.9);
    canvas_text(c, a->box.x + 4, y + 7, p->limit_label, TYPE_AXIS, INK_TEXT, ALIGN_LEFT, a->box.width - 8);
}

// The phases behind a panel.
static void lines_chart_draw_wash(canvas *c, const axes *a, const axes_span *phases, size_t count)
{
    double left, right;
    for (size_t i = 0; i < count; i++)
        if (phases[i].ink > INK_PHASE && phases[i].ink < INK_PHASE_PALE && axes_clip(a, &phases[i], &left, &right))
            canvas_rect(c, (canvas_box){left, a->box.y, right - left, a->box.height},
                        (theme_ink)(phases[i].ink - INK_PHASE + INK_PHASE_PALE), 0);
}

// How high and how low the lines of a panel are between two places, with the samples on both sides of these.
static void lines_chart_extent(const lines *l, const lines_panel *p, const axes *a, double left, double right,
                               double *top, double *bottom)
{
    for (size_t k = 0; k < p->curve_count; k++)
        for (size_t i = 0; i < l->style.count; i++) {
            bool behind = i + 1 < l->style.count && left > axes_x(a, l->style.x[i + 1]);
            bool before = i > 0 && axes_x(a, l->style.x[i - 1]) > right;
            double y = axes_y(a, p->curves[k].area ? p->curves[k].high[i] : p->curves[k].y[i]);
            if (behind || before || isnan(y)) continue;
            *top = fmin(*top, y);
            *bottom = fmax(*bottom, y);
        }
}

// Words where the lines are not: above all that is drawn there, or below it; where neither has room they are left out.
static void lines_chart_draw_marks(canvas *c, const lines *l, size_t panel, const axes *a)
{
    const double gap = 3, high = 6.5;
    const lines_style *s = &l->style;
    for (size_t i = 0; i < s->mark_count; i++) {
        const lines_mark *m = &s->marks[i];
        double x = axes_x(a, m->x), top = axes_y(a, m->y), text = canvas_text_width(c, m->text, TYPE_AXIS),
               floor = a->box.y + a->box.height, bottom = top;
        bool inside = x >= a->box.x && x <= a->box.x + a->box.width && top >= a->box.y && top <= floor;
        if (m->panel != panel || !inside || text + 4 > a->box.width) continue;
        x = fmax(a->box.x + 2 + text / 2, fmin(a->box.x + a->box.width - 2 - text / 2, x));
        lines_chart_extent(l, &l->panels[panel], a, x - text / 2 - 1, x + text / 2 + 1, &top, &bottom);
        bool above = top - gap - high >= a->box.y;
        if (!above && bottom + gap + high > floor - 1) continue;
        canvas_text(c, x, above ? top - gap : bottom + gap + high, m->text, TYPE_AXIS, m->ink, ALIGN_CENTER, 0);
    }
}

// Of a panel, in the table: behind the time and the panels before it.
static size_t lines_chart_first_column(const lines *l, size_t panel)
{
    size_t first = 1;
    for (size_t i = 0; i < panel; i++)
        first += l->panels[i].curve_count;
    return first;
}

static void lines_chart_draw_panel(canvas *c, const lines *l, size_t i, const axes *a, double left, bool first)
{
    const lines_panel *p = &l->panels[i];
    const lines_style *s = &l->style;
    double room = a->box.x - left - axes_label_width(c, &a->y, a->box.height) - 10;
    axes_begin_time(c, a, 0, 0);
    if (s->wash) lines_chart_draw_wash(c, a, s->phases, s->phase_count);
    lines_chart_draw_incidents(c, a, s->incidents, s->incident_count, INCIDENT_WASH);
    axes_hatch(c, a, s->gaps, s->gap_count);
    bool full = p->curve_count && p->curves[0].area;
    if (full) lines_chart_hatch_unknown(c, l, &p->curves[0], a);
    axes_end_time(c, a);
    axes_draw_y(c, a);
    double label = canvas_figure_of(c)
                       ? 0
                       : canvas_paragraph(c, left, a->box.y + 7, room, p->label, TYPE_TABLE_STRONG, INK_TEXT, 2);
    size_t room_lines =
        (size_t)fmax(1, floor((a->box.height + lines_chart_gap(l) - 7 - label) / (1.35 * theme_size(TYPE_AXIS))));
    if (!canvas_figure_of(c))
        canvas_paragraph(c, left, a->box.y + 7 + label, room, p->below, TYPE_AXIS, INK_SECONDARY,
                         room_lines < 3 ? room_lines : 3);
    lines_chart_draw_limit(c, p, a);
    axes_begin_time(c, a, lines_chart_first_column(l, i), p->curve_count);
    lines_chart_draw_curves(c, l, p, a);
    lines_chart_draw_incidents(c, a, s->incidents, s->incident_count, INCIDENT_EDGES);
    if (first) lines_chart_draw_incidents(c, a, s->incidents, s->incident_count, INCIDENT_LABELS);
    lines_chart_draw_marks(c, l, i, a);
    lines_chart_draw_hovers(c, l, p, a);
    axes_end_time(c, a);
}

// Phases and what ran meanwhile, above the panels. Returns the height taken.
static double lines_chart_draw_rows(canvas *c, const lines *l, const axes *over, double left)
{
    const lines_style *s = &l->style;
    double taken = 0, room = canvas_figure_of(c) ? 0 : over->box.x - left - 6;
    axes a = *over;
    if (s->phase_count) {
        a.box.height = ribbon_height - 5;
        if (room > 0) canvas_text(c, left, a.box.y + 8, s->phases_label, TYPE_TABLE_STRONG, INK_TEXT, ALIGN_LEFT, room);
        axes_begin_time(c, &a, 0, 0);
        axes_draw_spans(c, &a, s->phases, s->phase_count);
        axes_end_time(c, &a);
        taken += ribbon_height;
    }
    if (s->box_count) {
        a.box.y = over->box.y + taken;
        a.box.height = boxes_height - 3;
        double used =
            room > 0 ? canvas_text(c, left, a.box.y + 8, s->boxes_label, TYPE_TABLE_STRONG, INK_TEXT, ALIGN_LEFT, room)
                     : 0;
        if (room - used > 20)
            canvas_text(c, left + used + 5, a.box.y + 8, s->boxes_below, TYPE_AXIS, INK_SECONDARY, ALIGN_LEFT,
                        room - used - 5);
        axes_begin_time(c, &a, 0, 0);
        axes_draw_spans(c, &a, s->boxes, s->box_count);
        axes_end_time(c, &a);
        taken += boxes_height + 4;
    }
    return taken;
}

// Lower panels where the box is lower than what was asked for.
static double lines_chart_given_height(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const lines *l = x->data;
    double weights = lines_chart_weights(l, from, count);
    if (canvas_figure_of(c) && count) // as high as its author wants it
        return fmax(10, lines_chart_panel_height(l, c) +
                            (box.height - lines_chart_height(x, c, box.width, from, count)) / weights);
    double missing = lines_chart_height(x, c, box.width, from, count) - box.height,
           panel = lines_chart_panel_height(l, c);
    return missing > 0 && count ? fmax(panel - missing / weights, panel / 2) : panel;
}

static void lines_chart_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const lines *l = x->data;
    double labels = 0, high = lines_chart_given_height(x, c, box, from, count), y = box.y;
    for (size_t i = from; i < from + count && i < l->count; i++)
        labels = fmax(labels, axes_label_width(c, &l->scales[i], high * lines_chart_weight(l, i)));
    double start = box.x + lines_chart_beside(c) + labels + (canvas_figure_of(c) ? 6 : 4);
    axes a = {{start, y, box.x + box.width - start, ribbon_height - 5},
              l->style.axis,
              {.axis = {0, 1, false, false}, .unit = ""}};
    y += lines_chart_draw_rows(c, l, &a, box.x);
    for (size_t i = from; i < from + count && i < l->count; i++) {
        y += lines_chart_key_of(&l->panels[i], c, a.box.x, y - 2, a.box.width, true);
        a.box = (canvas_box){a.box.x, y, a.box.width, high * lines_chart_weight(l, i)};
        a.y = l->scales[i];
        lines_chart_draw_panel(c, l, i, &a, box.x, i == from);
        y += a.box.height + lines_chart_gap(l);
    }
    axes_draw_x(c, &a, a.box.x - 8, box.x + box.width);
}

// ---- its table ----

// A curve is a column, and where its band is asked for, two more.
static size_t lines_chart_columns_of(const lines_curve *k, bool bands)
{
    return bands && k->low && k->high && !k->area ? 3 : 1;
}

typedef struct lines_table {
    bool bands;
    size_t merged; // points in a row
} lines_table;

static void lines_chart_table_head(chart_twin *t, const lines *l, lines_table how)
{
    static const char *const ends[3] = {"", ", lowest", ", highest"};
    if (how.merged > 1)
        chart_cellf(t, "%s (each row the mean of %zu points)", l->style.x_head, how.merged);
    else
        chart_cell(t, l->style.x_head);
    t->columns = 1;
    for (size_t i = 0; i < l->count; i++)
        for (size_t k = 0; k < l->panels[i].curve_count; k++) {
            const lines_panel *p = &l->panels[i];
            const char *curve = p->curves[k].label, *unit = p->format == AXES_SI ? p->unit : "";
            for (size_t m = 0; m < lines_chart_columns_of(&p->curves[k], how.bands); m++) {
                chart_cellf(t, "%s%s%s%s%s%s%s", p->label, *curve ? ", " : "", curve, ends[m], *unit ? " (" : "", unit,
                            *unit ? ")" : "");
                t->right |= UINT64_C(1) << (t->columns < 63 ? t->columns : 63); // the last bit is for all that follow
                t->columns++;
            }
        }
    t->right |= 1;
}

// Of `merged` points from there on those that are known, as their mean.
static double lines_chart_mean(const double *of, size_t from, size_t merged, size_t count)
{
    double sum = 0;
    size_t known = 0;
    for (size_t i = from; i < from + merged && i < count; i++)
        if (!isnan(of[i])) sum += of[i], known++;
    return known ? sum / (double)known : NAN;
}

// In the page's table four digits, as fine as is drawn; in a file with the bands all that are known.
static void lines_chart_table_values(chart_twin *t, const lines_curve *k, size_t row, size_t count, lines_table how)
{
    const double *of[3] = {k->y, k->low, k->high};
    for (size_t m = 0; m < lines_chart_columns_of(k, how.bands); m++) {
        double value = lines_chart_mean(of[m], row, how.merged, count);
        if (isnan(value))
            chart_cell(t, "not measured");
        else
            chart_cellf(t, "%.*g", how.bands ? 6 : 4, value);
    }
}

static void lines_chart_fill_table(chart_twin *t, const lines *l, lines_table how)
{
    size_t count = l->style.count;
    lines_chart_table_head(t, l, how);
    for (size_t row = 0; row < count; row += how.merged) {
        chart_cellf(t, "%.10g", lines_chart_mean(l->style.x, row, how.merged, count));
        for (size_t i = 0; i < l->count; i++)
            for (size_t k = 0; k < l->panels[i].curve_count; k++)
                lines_chart_table_values(t, &l->panels[i].curves[k], row, count, how);
    }
}

static void lines_chart_make_table(chart_twin *t, const lines *l)
{
    lines_chart_fill_table(t, l, (lines_table){.merged = 1});
}

static void lines_chart_make_all(const chart *x, chart_twin *t)
{
    lines_chart_fill_table(t, x->data, (lines_table){.bands = true, .merged = 1});
}

// What a page can carry: as many rows and cells, each the mean of some points.
static void lines_chart_make_brief(const chart *x, chart_twin *t)
{
    enum { ROWS = 200, CELLS = 5000 };
    const lines *l = x->data;
    size_t rows = CELLS / x->twin.columns < ROWS ? CELLS / x->twin.columns : ROWS;
    size_t merged = rows ? (l->style.count + rows - 1) / rows : l->style.count;
    lines_chart_fill_table(t, l, (lines_table){.merged = merged ? merged : 1});
}

// ---- making it ----

// "Sent per node"
static const char *lines_chart_title_of(arena *memory, const lines_panel *p)
{
    char text[160];
    size_t below = strcspn(p->below, ";,");
    const char *of = strncmp(p->below, "of ", 3) == 0 ? p->below : strstr(p->below, " of ");
    if (of && (size_t)(of - p->below) < below) below = (size_t)(of - p->below);
    if (isdigit((unsigned char)*p->below) || strncmp(p->below, "limit", 5) == 0) below = 0; // how many, how much
    snprintf(text, sizeof text, "%.70s%s%.*s", p->label, *p->label && below ? " " : "", (int)(below < 60 ? below : 60),
             p->below);
    return arena_text(memory, text);
}

static void lines_chart_copy_panels(lines *l, const lines_panel *panels, size_t count, size_t points)
{
    l->panels = arena_copy(l->memory, panels, count, sizeof *panels);
    l->scales = arena_make(l->memory, count, sizeof *l->scales);
    for (size_t i = 0; i < count; i++) {
        lines_panel *p = &l->panels[i];
        lines_curve *curves = arena_make(l->memory, p->curve_count, sizeof *curves);
        for (size_t k = 0; k < p->curve_count; k++)
            curves[k] = lines_chart_copied(l->memory, &panels[i].curves[k], points);
        p->label = arena_text(l->memory, p->label);
        p->below = arena_text(l->memory, p->below);
        p->unit = arena_text(l->memory, p->unit);
        p->limit_label = arena_text(l->memory, p->limit_label);
        p->curves = curves;
        l->scales[i] = lines_chart_scale_of(p, l->style.count, l->style.tops ? l->style.tops[i] : NAN);
        l->scales[i].title = lines_chart_title_of(l->memory, p);
    }
    l->count = count;
}

// Panels of this quantity, in them the curves of this device; a panel that is a device's own stays whole.
static bool lines_chart_pick(chart *x, chart_pick *p)
{
    lines *l = x->data;
    size_t kept = 0;
    lines_panel *panels = arena_make(l->memory, l->count, sizeof *panels);
    axes_scale *scales = arena_make(l->memory, l->count, sizeof *scales);
    for (size_t i = 0; i < l->count; i++) {
        lines_panel panel = l->panels[i];
        bool own = !p->who || chart_fits(p, p->who, panel.label);
        lines_curve *curves = arena_make(l->memory, panel.curve_count, sizeof *curves);
        size_t count = 0;
        for (size_t k = 0; k < panel.curve_count; k++)
            if (own || chart_fits(p, p->who, panel.curves[k].label)) curves[count++] = panel.curves[k];
        panel.curves = curves;
        panel.curve_count = count;
        if (!chart_fits(p, p->metric, panel.label) || !count) continue;
        panels[kept] = panel;
        scales[kept++] = l->scales[i];
    }
    if (!kept) return false;
    l->panels = panels;
    l->scales = scales;
    l->count = x->rows = kept;
    l->style.mark_count = 0; // their places count the panels
    l->style.weights = NULL;
    chart_twin_clear(&x->twin);
    lines_chart_make_table(&x->twin, l);
    return true;
}

// The smallest share of its height that leaves each panel half of its own: what is between panels is not pressed.
static double lines_chart_least(const lines *l)
{
    double panels = lines_chart_panel_height(l, NULL) * lines_chart_weights(l, 0, l->count),
           fixed = lines_chart_gap(l) * (double)l->count + AXES_X_HEIGHT + (l->style.axis.wall_ns ? 8 : 0) +
                   (l->style.phase_count ? ribbon_height : 0) + (l->style.box_count ? boxes_height + 4 : 0);
    for (size_t i = 0; i < l->count; i++)
        for (size_t k = 0; k < l->panels[i].curve_count; k++)
            if (!l->panels[i].curves[k].no_key && *l->panels[i].curves[k].label) {
                fixed += 11; // a line of its key
                break;
            }
    return (fixed + panels / 2) / (fixed + panels);
}

chart chart_lines(chart_head head, const lines_style *style, const lines_panel *panels, size_t count)
{
    chart x;
    lines *l = chart_begin(&x, head, sizeof *l);
    lines_style *s = &l->style;
    *s = *style;
    s->axis = axes_complete(s->axis, s->x, s->count);
    s->axis.unit = arena_text(l->memory, s->axis.unit);
    s->axis.title = arena_text(l->memory, s->axis.title ? s->axis.title : axes_time_title(&s->axis));
    s->x_head = arena_text(l->memory, s->x_head);
    s->phases = axes_copy_spans(l->memory, s->phases, s->phase_count);
    s->gaps = axes_copy_spans(l->memory, s->gaps, s->gap_count);
    s->incidents = axes_copy_spans(l->memory, s->incidents, s->incident_count);
    s->phases_label = arena_text(l->memory, s->phases_label);
    s->boxes = axes_copy_spans(l->memory, s->boxes, s->box_count);
    s->boxes_label = arena_text(l->memory, s->boxes_label);
    s->boxes_below = arena_text(l->memory, s->boxes_below);
    lines_mark *marks = arena_copy(l->memory, s->marks, s->mark_count, sizeof *marks);
    for (size_t i = 0; i < s->mark_count; i++)
        marks[i].text = arena_text(l->memory, marks[i].text);
    s->marks = marks;
    if (s->weights) s->weights = arena_copy(l->memory, s->weights, count, sizeof *s->weights);
    if (s->count > LINES_COLUMNS) {
        s->x = lines_chart_thinned_x(l->memory, s->x, s->count);
        s->count = LINES_COLUMNS;
    } else {
        s->x = arena_copy(l->memory, s->x, s->count, sizeof *s->x);
    }
    lines_chart_copy_panels(l, panels, count, style->count);
    s->tops = NULL; // only used for the scales
    x.rows = count;
    x.draw = lines_chart_draw;
    x.pick = lines_chart_pick;
    x.all = lines_chart_make_all;
    x.brief = lines_chart_make_brief;
    x.height = lines_chart_height;
    x.squeeze = s->fill ? lines_chart_least(l) : s->squeeze ? .7 : 0;
    lines_chart_make_table(&x.twin, l);
    return x;
}
