// Dumbbells: two values of each counter on a logarithmic axis, so that the length between the dots is the ratio.
#include "chart_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct dumbbells {
    arena *memory;
    double pitch; // higher where names stand below their descriptions
    bool marked;  // some row has a severity: a column of words at the right
    const char *heads[DUMBBELL_COLUMNS];
    dumbbell_row *rows;
    size_t count;
} dumbbells;

static const double head_height = 13, tall_pitch = 20.5, low_pitch = 14.5, axis_height = 15, lane = 16, dot = 2.9,
                    word_width = 44;

// Rows of one panel are neighbours.
static size_t dumbbell_panel_end(const dumbbells *d, size_t first)
{
    size_t end = first + 1;
    while (end < d->count && d->rows[end].panel == d->rows[first].panel)
        end++;
    return end;
}

static double dumbbell_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    const dumbbells *d = x->data;
    double sum = head_height;
    (void)c;
    (void)width;
    (void)from;
    (void)count;
    for (size_t i = 0; i < d->count; i = dumbbell_panel_end(d, i))
        sum += d->pitch * (double)(dumbbell_panel_end(d, i) - i) + axis_height;
    return sum;
}

// ---- where things are ----

typedef struct places {
    double label, device, left, right, column; // label: its width; device: right edge; left and right: of the axis
    bool narrow;
} places;

static places dumbbell_place_columns(const dumbbells *d, canvas *c, canvas_box box)
{
    places p = {.narrow = box.width < 420};
    double devices = 0;
    for (size_t i = 0; i < d->count; i++)
        devices = fmax(devices, canvas_text_width(c, d->rows[i].device, TYPE_TABLE));
    p.column = p.narrow ? 44 : 52;
    double columns = p.column * (p.narrow ? 2 : DUMBBELL_COLUMNS);
    p.label = box.width * (p.narrow ? .3 : d->marked ? .29 : .25);
    if (d->marked && !p.narrow) p.column = 45, columns = p.column * DUMBBELL_COLUMNS;
    p.device = box.x + p.label + fmin(devices, box.width * .14) + 6;
    p.left = p.device + 8 + lane;
    p.right = fmax(box.x + box.width - columns - 2 - (d->marked ? word_width : 0), p.left + 20);
    return p;
}

static bool dumbbell_is_positive(double value)
{
    return isfinite(value) && value > 0;
}

static void dumbbell_widen(double value, double *low, double *high)
{
    if (!dumbbell_is_positive(value)) return;
    *low = fmin(*low, value);
    *high = fmax(*high, value);
}

// Whole decades around all values of a panel.
static plot_axis dumbbell_panel_axis(const dumbbells *d, size_t first, size_t end)
{
    double low = INFINITY, high = 0;
    for (size_t i = first; i < end; i++)
        for (int k = 0; k < 4; k++)
            dumbbell_widen(((const double[]){d->rows[i].before, d->rows[i].after, d->rows[i].low, d->rows[i].high})[k],
                           &low, &high);
    if (!(high > 0)) return (plot_axis){.min = 1, .max = 10, .log = true};
    double from = floor(log10(low)), to = ceil(log10(high));
    if (to - from < 1) to = from + 1;
    return (plot_axis){.min = pow(10, from), .max = pow(10, to), .log = true};
}

static double dumbbell_place(const places *p, plot_axis axis, double value)
{
    if (!dumbbell_is_positive(value)) return p->left - lane / 2 - 2;
    return p->left + plot_at(axis, value) * (p->right - p->left);
}

// ---- drawing ----

// One line with sign and word, or the description above the name.
static void dumbbell_draw_name(canvas *c, const dumbbells *d, const dumbbell_row *r, const places *p, canvas_box box,
                               double y)
{
    bool low = d->pitch < tall_pitch;
    double base = low ? y + d->pitch / 2 + 1.6 : y + 8, x = box.x + (d->marked ? 11 : 0);
    theme_type type = r->marked && r->severity >= SEVERITY_WATCH ? TYPE_TABLE_STRONG : TYPE_TABLE;
    if (r->marked) canvas_mark(c, box.x + 3.5, base - 2.6, r->severity);
    x += canvas_text(c, x, base, *r->gloss ? r->gloss : r->name, type, INK_TEXT, ALIGN_LEFT,
                     box.x + p->label - 4 - x - (r->more ? 22 : 0));
    if (r->more) canvas_text(c, x + 5, base, r->more, TYPE_AXIS, INK_SECONDARY, ALIGN_LEFT, 22);
    if (!low && *r->gloss) canvas_text(c, box.x, y + 16, r->name, TYPE_MONO, INK_SECONDARY, ALIGN_LEFT, p->label - 4);
    if (r->marked)
        canvas_text(c, box.x + box.width, base, theme_severity_word(r->severity), TYPE_AXIS,
                    theme_severity_ink(r->severity), ALIGN_RIGHT, word_width);
}

static void dumbbell_draw_row(canvas *c, const dumbbells *d, const dumbbell_row *r, const places *p, plot_axis axis,
                              canvas_box box, double y)
{
    theme_ink ink = r->strong ? INK_WATCH : INK_TEXT, bar = r->strong ? INK_WATCH : INK_PEER;
    double middle = y + d->pitch / 2 - 1, base = middle + 2.6, a = dumbbell_place(p, axis, r->before),
           b = dumbbell_place(p, axis, r->after);
    dumbbell_draw_name(c, d, r, p, box, y);
    canvas_text(c, p->device, base, r->device, TYPE_TABLE, INK_SECONDARY, ALIGN_RIGHT,
                p->device - box.x - p->label - 2);
    if (dumbbell_is_positive(r->low) && dumbbell_is_positive(r->high) && r->high > r->low) {
        double from = dumbbell_place(p, axis, r->low), to = dumbbell_place(p, axis, r->high);
        canvas_rect(c, (canvas_box){from, middle - 4, fmax(to - from, 1), 8}, INK_HAIR, 2);
    }
    bool both = dumbbell_is_positive(r->before) && dumbbell_is_positive(r->after);
    if (isfinite(r->before) && isfinite(r->after)) {
        if (both)
            canvas_line(c, a, middle, b, middle, bar, 2);
        else
            canvas_dashed(c, a, middle, b, middle, bar, 1.4);
    }
    if (r->tip) canvas_tip(c, r->tip);
    if (isfinite(r->before)) canvas_dot(c, a, middle, dot, INK_PAPER, INK_TEXT);
    if (isfinite(r->after)) canvas_dot(c, b, middle, dot, ink, INK_NONE);
    for (size_t i = p->narrow ? 1 : 0, k = 0; i < (p->narrow ? 3 : DUMBBELL_COLUMNS); i++, k++) {
        double right = p->right + 2 + p->column * (double)(k + 1);
        bool strong = r->strong && i >= 2;
        canvas_text(c, right, base, r->columns[i], i == 1 || strong ? TYPE_TABLE_STRONG : TYPE_TABLE,
                    strong   ? INK_WATCH
                    : i == 1 ? INK_TEXT
                             : INK_SECONDARY,
                    ALIGN_RIGHT, p->column - 3);
    }
}

static void dumbbell_draw_axis(canvas *c, const dumbbells *d, size_t first, size_t end, const places *p, plot_axis axis,
                               double top, double bottom)
{
    double tics[10], last = -1e9;
    size_t count = plot_tics(axis, 6, tics);
    bool zero = false;
    for (size_t i = 0; i < count; i++)
        canvas_line(c, dumbbell_place(p, axis, tics[i]), top, dumbbell_place(p, axis, tics[i]), bottom, INK_HAIR, .5);
    for (size_t i = first; i < end; i++)
        zero |= d->rows[i].before == 0 || d->rows[i].after == 0;
    canvas_text(c, p->device, bottom + 9, d->rows[first].unit, TYPE_AXIS, INK_SECONDARY, ALIGN_RIGHT, p->device * .5);
    if (zero) canvas_text(c, dumbbell_place(p, axis, 0), bottom + 9, "0", TYPE_AXIS, INK_SECONDARY, ALIGN_CENTER, 0);
    if (zero) last = dumbbell_place(p, axis, 0) + 4;
    for (size_t i = 0; i < count; i++) {
        number_text label = chart_tic(tics[i], "", false);
        double x = dumbbell_place(p, axis, tics[i]), half = canvas_text_width(c, label.text, TYPE_AXIS) / 2;
        if (x - half < last + 3 || x + half > p->right + 12) continue;
        canvas_text(c, x, bottom + 9, label.text, TYPE_AXIS, INK_SECONDARY, ALIGN_CENTER, 0);
        last = x + half;
    }
}

static void dumbbell_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const dumbbells *d = x->data;
    places p = dumbbell_place_columns(d, c, box);
    double y = box.y + head_height;
    (void)from;
    (void)count;
    for (size_t i = p.narrow ? 1 : 0, k = 0; i < (p.narrow ? 3 : DUMBBELL_COLUMNS); i++, k++)
        canvas_text(c, p.right + 2 + p.column * (double)(k + 1), box.y + 8, d->heads[i], TYPE_AXIS,
                    i == 1 ? INK_TEXT : INK_SECONDARY, ALIGN_RIGHT, p.column - 2);
    for (size_t i = 0; i < d->count;) {
        size_t end = dumbbell_panel_end(d, i);
        plot_axis axis = dumbbell_panel_axis(d, i, end);
        double bottom = y + d->pitch * (double)(end - i);
        dumbbell_draw_axis(c, d, i, end, &p, axis, y, bottom);
        for (; i < end; i++, y += d->pitch)
            dumbbell_draw_row(c, d, &d->rows[i], &p, axis, box, y);
        y = bottom + axis_height;
    }
}

static void dumbbell_fill_twin(chart *x, const dumbbells *d)
{
    x->twin.columns = 4 + DUMBBELL_COLUMNS;
    x->twin.right = UINT64_C(0xf0);
    chart_cell(&x->twin, "counter");
    chart_cell(&x->twin, "meaning");
    chart_cell(&x->twin, "device");
    chart_cell(&x->twin, "unit");
    for (size_t i = 0; i < DUMBBELL_COLUMNS; i++)
        chart_cell(&x->twin, d->heads[i]);
    for (size_t r = 0; r < d->count; r++) {
        chart_cell(&x->twin, d->rows[r].name);
        chart_cell(&x->twin, d->rows[r].gloss);
        chart_cell(&x->twin, d->rows[r].device);
        chart_cell(&x->twin, d->rows[r].unit);
        for (size_t i = 0; i < DUMBBELL_COLUMNS; i++)
            chart_cell(&x->twin, d->rows[r].columns[i]);
    }
}

static bool dumbbell_pick(chart *x, chart_pick *p)
{
    dumbbells *d = x->data;
    size_t kept = chart_pick_rows(x, p, d->rows, sizeof *d->rows, d->count, offsetof(dumbbell_row, name),
                                  offsetof(dumbbell_row, device));
    if (!kept) return false;
    d->count = kept;
    dumbbell_fill_twin(x, d);
    return true;
}

chart chart_dumbbell(chart_head head, const char *const heads[DUMBBELL_COLUMNS], const dumbbell_row *rows, size_t count)
{
    chart x;
    dumbbells *d = chart_begin(&x, head, sizeof *d);
    for (size_t i = 0; i < DUMBBELL_COLUMNS; i++)
        d->heads[i] = arena_text(d->memory, heads[i]);
    d->rows = arena_copy(d->memory, rows, count, sizeof *rows);
    d->count = count;
    for (size_t i = 0; i < d->count; i++) {
        dumbbell_row *r = &d->rows[i];
        r->name = arena_text(d->memory, r->name);
        r->gloss = arena_text(d->memory, r->gloss);
        r->device = arena_text(d->memory, r->device);
        r->unit = arena_text(d->memory, r->unit);
        r->tip = r->tip ? arena_text(d->memory, r->tip) : NULL;
        for (size_t k = 0; k < DUMBBELL_COLUMNS; k++)
            r->columns[k] = arena_text(d->memory, r->columns[k]);
    }
    d->pitch = low_pitch;
    for (size_t i = 0; i < d->count; i++) {
        dumbbell_row *r = &d->rows[i];
        r->more = r->more ? arena_text(d->memory, r->more) : NULL;
        d->marked = d->marked || r->marked;
        if (*r->gloss && !r->marked) d->pitch = tall_pitch;
    }
    x.height = dumbbell_height;
    x.draw = dumbbell_draw;
    dumbbell_fill_twin(&x, d);
    x.pick = dumbbell_pick;
    return x;
}
