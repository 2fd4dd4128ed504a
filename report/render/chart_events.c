// What happened when: a strip of ticks for each kind of event, with its status in shape, colour and word.
#include "chart_private.h"
#include "charts_plots.h"

#include <math.h>
#include <stdio.h>

typedef struct events {
    arena *memory;
    axes_scale axis;
    events_row *rows;
    size_t count;
    const axes_span *gaps;
    size_t gap_count;
} events;

static const double row_height = 14, strip_height = 12, status_width = 46;

static double height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    (void)x;
    (void)c;
    (void)width;
    (void)from;
    return (double)count * row_height + AXES_X_HEIGHT;
}

static double most_of(const events_row *r)
{
    double most = 0;
    for (size_t i = 0; i < r->count; i++)
        most = fmax(most, r->amount[i]);
    return most;
}

// Ticks of one pixel of paper are one: of those at the same place the highest.
static double draw_ticks(canvas *c, const events_row *r, const axes *a)
{
    double most = most_of(r), last_x = -1, last_high = 0, largest_at = NAN;
    theme_ink ink = r->background                   ? INK_PEER
                    : r->severity >= SEVERITY_WARN  ? INK_BAD
                    : r->severity == SEVERITY_WATCH ? INK_WATCH
                                                    : INK_SECONDARY;
    for (size_t i = 0; i <= r->count && most > 0; i++) {
        double x = i < r->count ? axes_x(a, r->at[i]) : INFINITY;
        if (i < r->count &&
            (!(r->amount[i] > 0) || !(x >= a->box.x - 0.5 && x <= a->box.x + a->box.width + 0.5)))
            continue;
        if (i < r->count && r->amount[i] == most) largest_at = x;
        double high = i < r->count ? fmax(r->amount[i] / most * a->box.height, 1.5) : 0;
        if (last_x >= 0 && x - last_x >= 0.6) {
            canvas_rect(c, (canvas_box){last_x - 0.4, a->box.y + a->box.height - last_high, 0.8, last_high},
                        ink, 0);
            last_high = 0;
        }
        if (last_x < 0 || x - last_x >= 0.6) last_x = x;
        last_high = fmax(last_high, high);
    }
    return largest_at;
}

static void draw_note(canvas *c, const events_row *r, const axes *a, double at, double base)
{
    theme_ink ink =
        r->background || r->severity <= SEVERITY_INFO ? INK_SECONDARY : theme_severity_ink(r->severity);
    double text = canvas_text_width(c, r->note, TYPE_AXIS), right = a->box.x + a->box.width;
    if (!*r->note) return;
    if (isnan(at))
        canvas_text(c, a->box.x + 4, base, r->note, TYPE_AXIS, ink, ALIGN_LEFT, a->box.width - 8);
    else if (at + 4 + text <= right)
        canvas_text(c, at + 4, base, r->note, TYPE_AXIS, ink, ALIGN_LEFT, 0);
    else
        canvas_text(c, at - 4, base, r->note, TYPE_AXIS, ink, ALIGN_RIGHT, at - 4 - a->box.x);
}

static void draw_row(canvas *c, const events *e, const events_row *r, const axes *a, double left)
{
    double base = a->box.y + strip_height / 2 + 2.3, right = a->box.x + a->box.width + 8, largest;
    canvas_text(c, left, base, r->label, TYPE_TABLE, INK_TEXT, ALIGN_LEFT, a->box.x - left - 6);
    if (r->unknown) {
        canvas_tip(c, "not measured");
        canvas_hatch(c, a->box);
        canvas_text(c, right, base, "not measured", TYPE_AXIS, INK_SECONDARY, ALIGN_LEFT, status_width - 6);
        return;
    }
    canvas_rect(c, a->box, INK_EMPTY, 0);
    axes_hatch(c, a, e->gaps, e->gap_count);
    largest = draw_ticks(c, r, a);
    if (isnan(largest))
        canvas_text(c, a->box.x + 4, base, "none", TYPE_AXIS, INK_SECONDARY, ALIGN_LEFT, 0);
    else
        draw_note(c, r, a, largest, base);
    canvas_mark(c, right + 3, base - 2.3, r->severity);
    canvas_text(c, right + 10, base, theme_severity_word(r->severity), TYPE_AXIS,
                theme_severity_ink(r->severity), ALIGN_LEFT, 0);
}

static void draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const events *e = x->data;
    double label = 0;
    for (size_t i = 0; i < e->count; i++)
        label = fmax(label, canvas_text_width(c, e->rows[i].label, TYPE_TABLE));
    label = fmin(label, 0.28 * box.width) + 8;
    axes a = {{box.x + label, box.y, box.width - label - status_width, strip_height},
              e->axis,
              {{0, 1, false, false}, AXES_SI, ""}};
    for (size_t i = from; i < from + count && i < e->count; i++) {
        draw_row(c, e, &e->rows[i], &a, box.x);
        a.box.y += row_height;
    }
    a.box.height = 0;
    canvas_line(c, a.box.x, a.box.y, a.box.x + a.box.width, a.box.y, INK_SECONDARY, 0.8);
    axes_draw_x(c, &a, a.box.x - 8, a.box.x + a.box.width + 14);
}

static void make_table(document_table *t, const events *e)
{
    static const char *const heads[] = {"event", "samples with any", "sum", "most in a sample", "at",
                                        "status"};
    t->columns = sizeof heads / sizeof *heads;
    t->right = 0x1e;
    for (size_t i = 0; i < t->columns; i++)
        document_cell(t, heads[i]);
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
        document_cell(t, r->label);
        document_cellf(t, "%zu", any);
        document_cell(t, r->unknown ? "not measured" : number_plain(sum).text);
        document_cell(t, r->unknown ? "" : number_plain(most).text);
        document_cell(t, number_duration(at).text);
        document_cell(t, r->unknown ? "not measured" : theme_severity_word(r->severity));
    }
}

chart chart_events(chart_head head, axes_scale axis, const events_row *rows, size_t count,
                   const axes_span *gaps, size_t gap_count)
{
    chart x;
    events *e = chart_begin(&x, head, sizeof *e);
    if (!e) return x;
    e->axis = axis;
    e->axis.unit = arena_text(e->memory, axis.unit);
    e->gaps = axes_copy_spans(e->memory, gaps, gap_count);
    e->gap_count = e->gaps ? gap_count : 0;
    e->rows = arena_copy(e->memory, rows, count, sizeof *rows);
    for (size_t i = 0; e->rows && i < count; i++) {
        events_row *r = &e->rows[i];
        r->label = arena_text(e->memory, r->label);
        r->note = arena_text(e->memory, r->note);
        r->at = arena_copy(e->memory, r->at, r->count, sizeof(double));
        r->amount = arena_copy(e->memory, r->amount, r->count, sizeof(double));
    }
    e->count = count;
    x.rows = count ? count : 1;
    x.draw = draw;
    x.height = height;
    if (!arena_failed(e->memory)) make_table(&x.twin, e);
    return chart_end(&x);
}
