// Where it went: bars of 100 %, one above the other, each divided in another way.
#include "render/plot/axes.h"
#include "chart_private.h"
#include "charts_job.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct shares {
    arena *memory;
    share_row *rows;
    size_t count;
} shares;

static const double pitch = 18.2, bar_height = 13;

typedef struct geometry {
    double left, width; // of the bars
} geometry;

static geometry shares_measure(const shares *s, canvas *c, double width)
{
    double label = 0, right = 0;
    for (size_t i = 0; i < s->count; i++) {
        label = fmax(label, canvas_text_width(c, s->rows[i].label, TYPE_TABLE));
        right = fmax(right, canvas_text_width(c, s->rows[i].right, TYPE_TABLE_STRONG));
    }
    label = fmin(label, .25 * width) + 10;
    right = fmin(right, .25 * width) + 10;
    return (geometry){label, width - label - right};
}

static double shares_sum_of(const share_row *r)
{
    double sum = 0;
    for (size_t i = 0; i < r->count; i++)
        if (r->segments[i].value > 0) sum += r->segments[i].value;
    return sum;
}

static const char *shares_label_of(const share_segment *s, char *text, size_t size)
{
    snprintf(text, size, "%.80s %.60s", s->label, s->text);
    return text;
}

static bool shares_fits(canvas *c, const share_segment *s, double width)
{
    char text[160];
    return canvas_text_width(c, shares_label_of(s, text, sizeof text), TYPE_CELL) + 5 <= width;
}

// How many rows have segments too narrow for their labels.
static size_t shares_narrow_rows(const shares *s, canvas *c, const geometry *g)
{
    size_t rows = 0;
    for (size_t r = 0; r < s->count; r++) {
        double sum = shares_sum_of(&s->rows[r]);
        bool narrow = false;
        for (size_t i = 0; i < s->rows[r].count && !narrow; i++) {
            const share_segment *x = &s->rows[r].segments[i];
            narrow = x->value > 0 && !shares_fits(c, x, x->value / sum * g->width);
        }
        rows += narrow;
    }
    return rows;
}

static bool shares_is_named(const axes_key *keys, size_t count, const share_segment *x)
{
    for (size_t i = 0; i < count; i++)
        if (keys[i].ink == x->ink && strcmp(keys[i].label, x->label) == 0) return true;
    return false;
}

// Those that are named below, and the height of that: of one row with what they are, of several each colour once.
static double shares_key(const shares *s, canvas *c, const geometry *g, double left, double y, bool drawn)
{
    enum { MOST = 24 };
    axes_key keys[MOST];
    char texts[MOST][160];
    size_t n = 0;
    bool once = shares_narrow_rows(s, c, g) > 1;
    for (size_t r = 0; r < s->count; r++) {
        double sum = shares_sum_of(&s->rows[r]);
        for (size_t i = 0; i < s->rows[r].count && n < MOST; i++) {
            const share_segment *x = &s->rows[r].segments[i];
            if (!(x->value > 0) || shares_fits(c, x, x->value / sum * g->width)) continue;
            if (once && shares_is_named(keys, n, x)) continue;
            const char *label = once ? x->label : shares_label_of(x, texts[n], sizeof texts[n]);
            keys[n] = (axes_key){label, SWATCH_BOX, x->ink, INK_NONE, 0};
            n++;
        }
    }
    return n ? axes_draw_key(c, keys, n, left + g->left, y, g->width, drawn) + 2 : 0;
}

static double shares_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    const shares *s = x->data;
    geometry g = shares_measure(s, c, width);
    (void)from;
    (void)count;
    return (double)s->count * pitch + shares_key(s, c, &g, 0, 0, false);
}

// Its label stands on paper within the hatching.
static void shares_draw_hatched(canvas *c, const share_segment *s, const char *text, canvas_box box)
{
    double width = canvas_text_width(c, text, TYPE_CELL) + 5;
    canvas_hatch(c, box);
    if (!shares_fits(c, s, box.width)) return;
    canvas_rect(c, (canvas_box){box.x + (box.width - width) / 2, box.y + 1.5, width, box.height - 3}, INK_PAPER, 0);
    canvas_text(c, box.x + box.width / 2, box.y + box.height / 2 + 2.6, text, TYPE_CELL, INK_TEXT, ALIGN_CENTER, 0);
}

static void shares_draw_row(canvas *c, const share_row *r, const geometry *g, canvas_box box, double y)
{
    double sum = shares_sum_of(r), at = box.x + g->left, base = y + bar_height / 2 + 2.6;
    char text[160];
    canvas_text(c, box.x, base, r->label, TYPE_TABLE, INK_TEXT, ALIGN_LEFT, g->left - 8);
    canvas_text(c, box.x + box.width, base, r->right, TYPE_TABLE_STRONG, INK_TEXT, ALIGN_RIGHT,
                box.width - g->left - g->width - 6);
    if (!(sum > 0)) canvas_hatch(c, (canvas_box){at, y, g->width, bar_height});
    for (size_t i = 0; i < r->count && sum > 0; i++) {
        const share_segment *x = &r->segments[i];
        double width = x->value / sum * g->width;
        if (!(x->value > 0)) continue;
        canvas_tip(c, shares_label_of(x, text, sizeof text));
        if (x->ink == INK_NONE)
            shares_draw_hatched(c, x, text, (canvas_box){at, y, width, bar_height});
        else
            canvas_rect(c, (canvas_box){at, y, width, bar_height}, x->ink, 0);
        if (at > box.x + g->left + 1) canvas_line(c, at, y, at, y + bar_height, INK_PAPER, .8);
        if (shares_fits(c, x, width) && x->ink != INK_NONE)
            canvas_text(c, at + width / 2, base, text, TYPE_CELL, (theme_ink)(INK_ON + x->ink), ALIGN_CENTER, 0);
        at += width;
    }
}

static void shares_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const shares *s = x->data;
    geometry g = shares_measure(s, c, box.width);
    (void)from;
    (void)count;
    for (size_t i = 0; i < s->count; i++)
        shares_draw_row(c, &s->rows[i], &g, box, box.y + pitch * (double)i);
    shares_key(s, c, &g, box.x, box.y + pitch * (double)s->count - 2, true);
}

static void shares_fill_twin(chart_twin *t, const shares *s)
{
    static const char *const heads[] = {"", "what", "amount", "share"};
    chart_heads(t, 0xc, heads, sizeof heads / sizeof *heads);
    for (size_t r = 0; r < s->count; r++) {
        double sum = shares_sum_of(&s->rows[r]);
        for (size_t i = 0; i < s->rows[r].count; i++) {
            const share_segment *x = &s->rows[r].segments[i];
            chart_cell(t, s->rows[r].label);
            chart_cell(t, x->label);
            chart_cell(t, isnan(x->value) ? "not measured" : x->text);
            chart_cell(t, number_percent(sum > 0 ? x->value / sum : NAN).text);
        }
    }
}

chart chart_shares(chart_head head, const share_row *rows, size_t count)
{
    chart x;
    shares *s = chart_begin(&x, head, sizeof *s);
    s->rows = arena_copy(s->memory, rows, count, sizeof *rows);
    s->count = count;
    for (size_t r = 0; r < s->count; r++) {
        share_row *row = &s->rows[r];
        share_segment *segments = arena_copy(s->memory, row->segments, row->count, sizeof *segments);
        row->label = arena_text(s->memory, row->label);
        row->right = arena_text(s->memory, row->right);
        row->segments = segments;
        for (size_t i = 0; i < row->count; i++) {
            segments[i].label = arena_text(s->memory, segments[i].label);
            segments[i].text = arena_text(s->memory, segments[i].text);
        }
    }
    x.height = shares_height;
    x.draw = shares_draw;
    shares_fill_twin(&x.twin, s);
    return x;
}
