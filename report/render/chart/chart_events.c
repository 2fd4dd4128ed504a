// Events over time: a strip of ticks for each kind of event, with its status in shape, colour and word.
#include "chart_private.h"
#include "charts_plots.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct events {
    arena *memory;
    events_style style;
    events_row *rows;
    size_t count;
} events;

static const double status_width = 46;

static bool events_has_no_words(const canvas *c)
{
    return canvas_figure_of(c) && canvas_figure_of(c)->no_words;
}

static double events_label_width(const events *e, canvas *c, double width)
{
    double label = 0;
    if (e->style.label_width > 0 && !canvas_figure_of(c)) return fmin(e->style.label_width, .4 * width);
    for (size_t i = 0; i < e->count; i++) {
        label = fmax(label, canvas_text_width(c, e->rows[i].label, TYPE_TABLE));
        if (!e->style.compact) label = fmax(label, fmin(canvas_text_width(c, e->rows[i].note, TYPE_AXIS), 120));
    }
    return fmin(label, 0.28 * width) + 8;
}

enum { LABEL_BYTES = 160 };

// Of a label that is too wide for one line, the first of two lines; 0: one is enough, or two are not.
static size_t events_first_line(canvas *c, const char *label, double width)
{
    char line[LABEL_BYTES];
    size_t length = strlen(label);
    if (length >= sizeof line || canvas_text_width(c, label, TYPE_TABLE) <= width) return 0;
    for (size_t cut = length; cut-- > 1;) {
        if (!strchr(" _-/", label[cut])) continue;
        size_t end = cut + (label[cut] != ' ');
        snprintf(line, sizeof line, "%.*s", (int)end, label);
        if (canvas_text_width(c, line, TYPE_AXIS) > width) continue;
        return canvas_text_width(c, label + end, TYPE_AXIS) <= width ? end : 0;
    }
    return 0;
}

static bool events_two_lines(const events *e, canvas *c, double label)
{
    for (size_t i = 0; i < e->count; i++)
        if (events_first_line(c, e->rows[i].label, label - 6)) return true;
    return false;
}

static double events_row_height(const events *e, bool two_lines)
{
    return e->style.compact ? 13.2 + (two_lines ? 1.6 : 0) : 19 + (two_lines ? 5 : 0);
}

static double events_strip_height(const events *e)
{
    return e->style.compact ? 11.2 : 16;
}

static double events_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    const events *e = x->data;
    (void)from;
    return (double)count * events_row_height(e, events_two_lines(e, c, events_label_width(e, c, width))) +
           axes_x_height(c, &e->style.axis);
}

static double events_most_of(const events_row *r)
{
    double most = 0;
    for (size_t i = 0; i < r->count; i++)
        most = fmax(most, r->amount[i]);
    return most;
}

typedef struct extent {
    double first, last; // of the ticks; NAN: there are none
    double from, to;    // of the longest stretch between them
} extent;

static theme_ink events_ink_of(const events_row *r)
{
    if (r->background) return INK_PEER;
    return r->severity > SEVERITY_INFO ? theme_severity_ink(r->severity) : INK_SECONDARY;
}

// Ticks that fall together on paper are one: the highest of them. Those that last fill the places that they cover.
static extent events_draw_ticks(canvas *c, const events_row *r, const axes *a, double lasts)
{
    enum { PLACES = 512 };
    double most = events_most_of(r), high[PLACES] = {0}, step = a->box.width / PLACES;
    extent e = {NAN, NAN, 0, 0};
    for (size_t i = 0; i < r->count && most > 0; i++) {
        double at = plot_at(a->x.axis, r->at[i]);
        if (!(r->amount[i] > 0) || !(at >= 0 && at <= 1)) continue;
        double half = lasts > 0 ? (plot_at(a->x.axis, r->at[i] + lasts / 2) - at) * PLACES : 0;
        double first = fmax(at * PLACES - half, 0), last = fmin(at * PLACES + half, PLACES) - (half > 0 ? 1e-6 : 0);
        for (size_t k = (size_t)first; k < PLACES && (double)k <= fmax(last, first); k++)
            high[k] = fmax(high[k], fmax(r->amount[i] / most * a->box.height, 1.5));
    }
    for (size_t i = 0, end; i < PLACES; i = end) {
        double x = a->box.x + step * (double)i;
        for (end = i + 1; end < PLACES && high[end] == high[i]; end++) {
        }
        if (!(high[i] > 0)) continue;
        double width = step * (double)(end - i) + (end < PLACES && high[end] > 0 ? step / 4 : 0); // no seams
        canvas_rect(c, (canvas_box){x, a->box.y + a->box.height - high[i], fmax(width, 0.8), high[i]}, events_ink_of(r),
                    0);
        if (isnan(e.first)) e.first = x;
        if (!isnan(e.last) && x - e.last > e.to - e.from) e.from = e.last, e.to = x;
        e.last = x + step * (double)(end - i);
    }
    return e;
}

// Behind the ticks, or before them; false: there is no room.
static bool events_draw_note(canvas *c, const events_row *r, const axes *a, extent ticks, double base)
{
    double text = canvas_text_width(c, r->note, TYPE_AXIS), right = a->box.x + a->box.width;
    theme_ink ink = r->background ? INK_SECONDARY : events_ink_of(r);
    if (ticks.last + 4 + text <= right)
        canvas_text(c, ticks.last + 4, base, r->note, TYPE_AXIS, ink, ALIGN_LEFT, 0);
    else if (ticks.first - 4 - text >= a->box.x)
        canvas_text(c, ticks.first - 4, base, r->note, TYPE_AXIS, ink, ALIGN_RIGHT, 0);
    else if (ticks.to - ticks.from >= text + 8)
        canvas_text(c, (ticks.from + ticks.to) / 2, base, r->note, TYPE_AXIS, ink, ALIGN_CENTER, 0);
    else
        return false;
    return true;
}

static void events_draw_label(canvas *c, const events_row *r, const axes *a, double left, double base, bool noted)
{
    double width = a->box.x - left - 6, note = base + 4;
    size_t first = events_first_line(c, r->label, width);
    if (first) {
        char line[LABEL_BYTES];
        double top = noted ? base - 3.3 : base - 7;
        snprintf(line, sizeof line, "%.*s", (int)first, r->label);
        canvas_text(c, left, top, line, TYPE_AXIS, INK_TEXT, ALIGN_LEFT, 0);
        canvas_text(c, left, top + 6.8, r->label + first + (r->label[first] == ' '), TYPE_AXIS, INK_TEXT, ALIGN_LEFT,
                    0);
        note = top + 13.6;
    } else {
        canvas_text(c, left, noted ? base : base - 3.6, r->label, TYPE_TABLE, INK_TEXT, ALIGN_LEFT, width);
    }
    if (!noted) canvas_text(c, left, note, r->note, TYPE_AXIS, INK_SECONDARY, ALIGN_LEFT, width);
}

static double events_status_of(const events *e, canvas *c)
{
    if (events_has_no_words(c)) return 2;
    double width = status_width;
    for (size_t i = 0; i < e->count; i++)
        width = fmax(width, canvas_text_width(c, e->rows[i].right, TYPE_TABLE) + 10);
    return fmin(width, 90);
}

static void events_draw_row(canvas *c, const events *e, const events_row *r, const axes *a, double left, double end)
{
    double base = a->box.y + events_strip_height(e) / 2 + 2.3, right = a->box.x + a->box.width + 8;
    if (r->unknown) {
        events_draw_label(c, r, a, left, base, true);
        canvas_tip(c, "not measured");
        canvas_hatch(c, a->box);
        if (!events_has_no_words(c))
            canvas_text(c, right, base, "unknown", TYPE_AXIS, INK_SECONDARY, ALIGN_LEFT, status_width - 6);
        return;
    }
    axes_begin_time(c, a, 0, 0);
    canvas_rect(c, a->box, INK_EMPTY, 0);
    axes_hatch(c, a, e->style.gaps, e->style.gap_count);
    extent ticks = events_draw_ticks(c, r, a, e->style.width);
    bool none = isnan(ticks.first);
    if (none) canvas_text(c, a->box.x + 4, base, *r->note ? r->note : "none", TYPE_AXIS, INK_SECONDARY, ALIGN_LEFT, 0);
    bool noted = none || !*r->note || events_draw_note(c, r, a, ticks, base);
    axes_end_time(c, a);
    events_draw_label(c, r, a, left, base, noted || e->style.compact);
    if (events_has_no_words(c)) return;
    if (*r->right) {
        canvas_text(c, end, base, r->right, TYPE_TABLE, INK_TEXT, ALIGN_RIGHT, end - right);
        return;
    }
    canvas_mark(c, right + 3, base - 2.3, r->severity);
    canvas_text(c, right + 10, base, theme_severity_word(r->severity), TYPE_AXIS, theme_severity_ink(r->severity),
                ALIGN_LEFT, 0);
}

static void events_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const events *e = x->data;
    double label = events_label_width(e, c, box.width), status = events_status_of(e, c);
    double row = events_row_height(e, events_two_lines(e, c, label));
    if (e->style.right_width > 0 && !canvas_figure_of(c)) status = fmin(e->style.right_width, .3 * box.width);
    axes a = {{box.x + label, box.y, box.width - label - status, events_strip_height(e)},
              e->style.axis,
              {.axis = {0, 1, false, false}, .unit = ""}};
    for (size_t i = from; i < from + count && i < e->count; i++) {
        events_draw_row(c, e, &e->rows[i], &a, box.x, box.x + box.width);
        a.box.y += row;
    }
    axes_draw_begins(c, &a, e->style.incidents, e->style.incident_count, box.y, a.box.y);
    a.box.height = 0;
    canvas_line(c, a.box.x, a.box.y, a.box.x + a.box.width, a.box.y, INK_SECONDARY, 0.8);
    axes_draw_x(c, &a, a.box.x - 8, a.box.x + a.box.width + 14);
}

static void events_make_table(chart_twin *t, const events *e)
{
    static const char *const heads[] = {"event", "samples with any", "sum", "most in a sample", "at", "status"};
    chart_heads(t, 0x1e, heads, sizeof heads / sizeof *heads);
    for (size_t i = 0; i < e->count; i++) {
        const events_row *r = &e->rows[i];
        double sum = 0, most = 0, at = NAN;
        size_t any = 0;
        for (size_t k = 0; k < r->count; k++) {
            if (!(r->amount[k] > 0)) continue;
            any++;
            sum += r->amount[k];
            if (r->amount[k] > most) most = r->amount[k], at = r->at[k];
        }
        chart_cell(t, r->label);
        chart_cellf(t, "%zu", any);
        chart_cell(t, r->unknown ? "not measured" : number_plain(sum).text);
        chart_cell(t, r->unknown ? "" : number_plain(most).text);
        chart_cell(t, number_duration(at).text);
        chart_cell(t, r->unknown ? "not measured" : *r->right ? r->note : theme_severity_word(r->severity));
    }
}

static bool events_pick(chart *x, chart_pick *p)
{
    events *e = x->data;
    size_t kept = chart_pick_rows(x, p, e->rows, sizeof *e->rows, e->count, offsetof(events_row, label),
                                  offsetof(events_row, note));
    if (!kept) return false;
    e->count = kept;
    events_make_table(&x->twin, e);
    return true;
}

chart chart_events(chart_head head, axes_scale axis, const events_row *rows, size_t count, const axes_span *gaps,
                   size_t gap_count)
{
    const events_style style = {.axis = axis, .gaps = gaps, .gap_count = gap_count};
    return chart_events_over(head, &style, rows, count);
}

chart chart_events_over(chart_head head, const events_style *style, const events_row *rows, size_t count)
{
    chart x;
    events *e = chart_begin(&x, head, sizeof *e);
    events_style *s = &e->style;
    *s = *style;
    s->axis.unit = arena_text(e->memory, style->axis.unit);
    s->axis.title = arena_text(e->memory, style->axis.title ? style->axis.title : axes_time_title(&style->axis));
    s->gaps = axes_copy_spans(e->memory, style->gaps, style->gap_count);
    s->incidents = axes_copy_spans(e->memory, style->incidents, style->incident_count);
    e->rows = arena_copy(e->memory, rows, count, sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        events_row *r = &e->rows[i];
        r->label = arena_text(e->memory, r->label);
        r->note = arena_text(e->memory, r->note);
        r->right = arena_text(e->memory, r->right);
        r->at = arena_copy(e->memory, r->at, r->count, sizeof(double));
        r->amount = arena_copy(e->memory, r->amount, r->count, sizeof(double));
    }
    e->count = count;
    x.rows = count ? count : 1;
    x.draw = events_draw;
    x.pick = events_pick;
    x.height = events_height;
    events_make_table(&x.twin, e);
    return x;
}
