// The tree of regions as a table with bars in its cells, and as an icicle: width is time, colour is traffic.
#include "chart_private.h"
#include "render/plot/axes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct tree {
    arena *memory;
    region_row *rows;
    size_t count;
    const char *note;
    double low, high; // of the icicle's colours, bytes/s; high 0: there is none
    size_t depth;     // levels
} tree;

static const double head_height = 15, pitch = 12.8, step = 9;

// ---- the table ----

static double regions_table_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    const tree *t = x->data;
    double note =
        *t->note && from + count >= t->count ? canvas_paragraph_height(c, width, t->note, TYPE_FOOT, 0) + 5 : 0;
    return head_height + (double)count * pitch + note;
}

typedef struct places {
    double name, calls, bar, bar_width, time, own, odd, sent, sent_width, sent_text, paused,
        retries;  // right edges but name, bar, sent
    double pitch; // of rows
    bool narrow;
} places;

static places regions_place_columns(canvas_box box)
{
    double w = box.width;
    places p = {.narrow = w < 420};
    if (p.narrow) { // name, time, odd rank
        p.name = box.x;
        p.bar = box.x + .5 * w;
        p.bar_width = .2 * w;
        p.time = box.x + .84 * w;
        p.odd = box.x + w;
        return p;
    }
    p.name = box.x;
    p.calls = box.x + .29 * w;
    p.bar = box.x + .31 * w;
    p.bar_width = .13 * w;
    p.time = box.x + .525 * w;
    p.own = box.x + .6 * w;
    p.odd = box.x + .7 * w;
    p.sent = box.x + .715 * w;
    p.sent_width = .06 * w;
    p.sent_text = box.x + .855 * w;
    p.paused = box.x + .925 * w;
    p.retries = box.x + w;
    return p;
}

static void regions_draw_heads(canvas *c, const places *p, double y)
{
    canvas_text(c, p->bar, y, "time of all", TYPE_AXIS, INK_SECONDARY, ALIGN_LEFT, p->bar_width);
    canvas_text(c, p->time, y, "mean", TYPE_AXIS, INK_SECONDARY, ALIGN_RIGHT, 0);
    canvas_text(c, p->odd, y, "odd rank", TYPE_AXIS, INK_SECONDARY, ALIGN_RIGHT, 0);
    if (p->narrow) return;
    canvas_text(c, p->calls, y, "calls", TYPE_AXIS, INK_SECONDARY, ALIGN_RIGHT, 0);
    canvas_text(c, p->own, y, "own", TYPE_AXIS, INK_SECONDARY, ALIGN_RIGHT, 0);
    canvas_text(c, p->sent_text, y, "NICs sent", TYPE_AXIS, INK_SECONDARY, ALIGN_RIGHT, 0);
    canvas_text(c, p->paused, y, "paused", TYPE_AXIS, INK_SECONDARY, ALIGN_RIGHT, 0);
    canvas_text(c, p->retries, y, "retries", TYPE_AXIS, INK_SECONDARY, ALIGN_RIGHT, 0);
}

static void regions_draw_nic(canvas *c, const region_row *r, const places *p, double y, double base)
{
    if (r->note) { // in place of the figures: no wrong number can be read
        canvas_hatch(c, (canvas_box){p->sent, y, p->retries - p->sent, p->pitch - 1.6});
        canvas_rect(c, (canvas_box){p->sent + 8, y + .6, canvas_text_width(c, r->note, TYPE_CELL) + 6, p->pitch - 2.8},
                    INK_PAPER, 0);
        canvas_text(c, p->sent + 11, base, r->note, TYPE_CELL, INK_TEXT, ALIGN_LEFT, p->retries - p->sent - 14);
        return;
    }
    if (isfinite(r->sent_share)) {
        double share = fmin(fmax(r->sent_share, 0), 1);
        canvas_rect(c, (canvas_box){p->sent, y + 2, p->sent_width, p->pitch - 5.6}, INK_EMPTY, 0);
        canvas_rect(c, (canvas_box){p->sent, y + 2, fmax(share * p->sent_width, share > 0 ? .8 : 0), p->pitch - 5.6},
                    INK_SENT, 0);
    }
    canvas_text(c, p->sent_text, base, r->sent, TYPE_CELL, INK_TEXT, ALIGN_RIGHT,
                p->sent_text - p->sent - p->sent_width - 2);
    if (r->severity > SEVERITY_INFO)
        canvas_rect(c, (canvas_box){p->sent_text + 4, y, p->paused - p->sent_text - 2, p->pitch - 1.6},
                    theme_severity_field(r->severity), 0);
    canvas_text(c, p->paused, base, r->paused, r->severity > SEVERITY_INFO ? TYPE_CELL_STRONG : TYPE_CELL, INK_TEXT,
                ALIGN_RIGHT, p->paused - p->sent_text - 4);
    canvas_text(c, p->retries, base, r->retries, TYPE_CELL, INK_TEXT, ALIGN_RIGHT, p->retries - p->paused - 4);
}

static void regions_draw_row(canvas *c, const region_row *r, const places *p, double y)
{
    double indent = step * (double)(r->depth < 6 ? r->depth : 6), base = y + p->pitch / 2 + 1.8, x = p->name + indent;
    double left = (p->narrow ? p->bar : p->calls - 34) - x - 4;
    if (r->severity > SEVERITY_INFO) {
        canvas_mark(c, x + 3, base - 2.6, r->severity);
        x += 10;
        left -= 10;
    }
    if (r->tip) canvas_tip(c, r->tip);
    canvas_text(c, x, base, r->name, r->depth ? TYPE_TABLE : TYPE_TABLE_STRONG, INK_TEXT, ALIGN_LEFT, left);
    canvas_rect(c, (canvas_box){p->bar, y + 2, p->bar_width, p->pitch - 5.6}, INK_EMPTY, 0);
    canvas_rect(c, (canvas_box){p->bar, y + 2, fmin(r->share, 1) * p->bar_width, p->pitch - 5.6}, INK_PEER, 0);
    canvas_rect(c, (canvas_box){p->bar, y + 2, fmin(r->own_share, 1) * p->bar_width, p->pitch - 5.6}, INK_TEXT, 0);
    canvas_text(c, p->time, base, r->time, TYPE_CELL_STRONG, INK_TEXT, ALIGN_RIGHT,
                p->time - p->bar - p->bar_width - 2);
    canvas_text(c, p->odd, base, r->odd, TYPE_CELL, r->odd_strong ? INK_WATCH : INK_SECONDARY, ALIGN_RIGHT, 52);
    if (p->narrow) return;
    canvas_text(c, p->calls, base, r->calls, TYPE_CELL, INK_SECONDARY, ALIGN_RIGHT, 34);
    canvas_text(c, p->own, base, r->own, TYPE_CELL, INK_TEXT, ALIGN_RIGHT, p->own - p->time - 3);
    regions_draw_nic(c, r, p, y, base);
}

static void regions_table_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const tree *t = x->data;
    places p = regions_place_columns(box);
    double y = box.y + head_height, rows = pitch * (double)count;
    p.pitch = chart_pitch(box, regions_table_height(x, c, box.width, from, count) - rows, count, pitch);
    regions_draw_heads(c, &p, box.y + 8);
    for (size_t i = from; i < from + count && i < t->count; i++, y += p.pitch)
        regions_draw_row(c, &t->rows[i], &p, y);
    if (*t->note && from + count >= t->count)
        canvas_paragraph(c, box.x, y + 9, box.width, t->note, TYPE_FOOT, INK_SECONDARY, 0);
}

static void regions_fill_twin(chart *x, const tree *t)
{
    static const char *const heads[] = {"region",        "depth",    "calls",     "mean of ranks", "own",
                                        "share of time", "odd rank", "NICs sent", "paused",        "retries"};
    chart_heads(&x->twin, UINT64_C(0x3be), heads, sizeof heads / sizeof *heads);
    for (size_t i = 0; i < t->count; i++) {
        const region_row *r = &t->rows[i];
        chart_cell(&x->twin, r->name);
        chart_cellf(&x->twin, "%zu", r->depth);
        chart_cell(&x->twin, r->calls);
        chart_cell(&x->twin, r->time);
        chart_cell(&x->twin, r->own);
        chart_cell(&x->twin, number_percent(r->share).text);
        chart_cell(&x->twin, r->odd);
        chart_cell(&x->twin, r->note ? r->note : r->sent);
        chart_cell(&x->twin, r->note ? NUMBER_UNKNOWN : r->paused);
        chart_cell(&x->twin, r->note ? NUMBER_UNKNOWN : r->retries);
    }
}

static tree *regions_make_tree(chart *x, chart_head head, const region_row *rows, size_t count, const char *note)
{
    tree *t = chart_begin(x, head, sizeof *t);
    t->rows = arena_copy(t->memory, rows, count, sizeof *rows);
    t->count = count;
    t->note = arena_text(t->memory, note);
    t->low = INFINITY;
    for (size_t i = 0; i < t->count; i++) {
        region_row *r = &t->rows[i];
        const char **texts[] = {&r->name, &r->calls, &r->time, &r->own, &r->odd, &r->sent, &r->paused, &r->retries};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            *texts[k] = arena_text(t->memory, *texts[k]);
        r->note = r->note ? arena_text(t->memory, r->note) : NULL;
        r->tip = r->tip ? arena_text(t->memory, r->tip) : NULL;
        if (r->depth + 1 > t->depth) t->depth = r->depth + 1;
        if (isfinite(r->bytes_per_s) && r->bytes_per_s > 0) {
            t->low = fmin(t->low, r->bytes_per_s);
            t->high = fmax(t->high, r->bytes_per_s);
        }
    }
    return t;
}

chart chart_regions(chart_head head, const region_row *rows, size_t count, const char *note)
{
    chart x;
    tree *t = regions_make_tree(&x, head, rows, count, note);
    x.rows = t->count ? t->count : 1;
    x.height = regions_table_height;
    x.draw = regions_table_draw;
    x.is_text = true;
    x.squeeze = .8;
    regions_fill_twin(&x, t);
    return x;
}

// ---- the icicle ----

enum { LEVELS = 6, OUTSIDE = 10, OUTSIDE_ROWS = 3 };
static const double level = 16, scale_height = 17, outside_pitch = 10, outside_least = .008; // of the time

// A piece of the icicle, and where its name stands: inside, or outside with a leader.
typedef struct piece {
    const region_row *row;
    canvas_box box;
    char text[200]; // "" where the box is too small for any
    bool outside, placed;
    size_t line; // outside: which line of them
    double x, width;
} piece;

static void regions_name_piece(canvas *c, piece *p)
{
    snprintf(p->text, sizeof p->text, "%.80s  %s", p->row->name, number_percent(p->row->share).text);
    if (canvas_text_width(c, p->text, TYPE_CELL) < p->box.width - 6) return;
    snprintf(p->text, sizeof p->text, "%.80s", p->row->name);
    if (canvas_text_width(c, p->text, TYPE_CELL) < p->box.width - 4) return;
    snprintf(p->text, sizeof p->text, "%.80s  %s", p->row->name, number_percent(p->row->share).text);
    p->outside = p->row->share >= outside_least;
    if (p->outside) return;
    p->text[0] = 0;
}

static double icicle_leader(const piece *p)
{
    return p->box.x + p->box.width / 2;
}

// Whether a name in its place meets no other name, and no leader a name.
static bool regions_is_free(const piece *pieces, size_t count, const piece *p)
{
    double x = icicle_leader(p);
    for (size_t i = 0; i < count; i++) {
        const piece *o = &pieces[i];
        if (!o->outside || o == p || !o->text[0] || !o->placed) continue;
        bool over = o->x < p->x + p->width + 6 && p->x < o->x + o->width + 6;
        if (o->line == p->line && over) return false;
        double leader = icicle_leader(o);
        if (o->line < p->line && x > o->x - 3 && x < o->x + o->width + 3) return false;
        if (p->line < o->line && leader > p->x - 3 && leader < p->x + p->width + 3) return false;
    }
    return true;
}

// Names that do not fit: beside the ends of their leaders, right or left, in the first line with room; those that find none are
// left out.
static size_t regions_place_outside(canvas *c, piece *pieces, size_t count, canvas_box box)
{
    size_t lines = 0, placed = 0;
    for (size_t i = count; i-- > 0;) {
        piece *p = &pieces[i];
        if (!p->outside) continue;
        p->width = canvas_text_width(c, p->text, TYPE_CELL);
        for (size_t k = 0; k < 2 * OUTSIDE_ROWS && !p->placed && placed < OUTSIDE; k++) {
            static const size_t left_lines[OUTSIDE_ROWS] = {1, 0, 2}; // below the one whose leader it would cross
            p->line = k % 2 ? left_lines[k / 2] : k / 2;
            p->x = icicle_leader(p) + (k % 2 ? -4 - p->width : 4);
            p->placed = p->x >= box.x && p->x + p->width <= box.x + box.width && regions_is_free(pieces, count, p);
        }
        placed += p->placed;
        if (p->placed && p->line + 1 > lines) lines = p->line + 1;
        if (!p->placed) p->outside = false, p->text[0] = 0;
    }
    return lines;
}

static int regions_by_left(const void *a, const void *b)
{
    const piece *x = a, *y = b;
    return (x->box.x > y->box.x) - (x->box.x < y->box.x);
}

// All pieces of some width, each level so high; returns how many. lines: of names outside.
static size_t regions_lay_out(const tree *t, canvas *c, canvas_box box, double high, piece *pieces, size_t *lines)
{
    double next[LEVELS + 1]; // where the next piece of a level begins
    size_t count = 0;
    for (size_t i = 0; i <= LEVELS; i++)
        next[i] = box.x;
    for (size_t i = 0; i < t->count; i++) {
        const region_row *r = &t->rows[i];
        if (r->depth >= LEVELS) continue;
        double width = fmin(r->share, 1) * box.width, left = next[r->depth];
        next[r->depth] += width;
        for (size_t k = r->depth + 1; k <= LEVELS; k++)
            next[k] = left; // its children begin where it does
        if (width < .7) continue;
        pieces[count] = (piece){.row = r, .box = {left, box.y + high * (double)r->depth, width - .6, high - 1}};
        regions_name_piece(c, &pieces[count++]);
    }
    qsort(pieces, count, sizeof *pieces, regions_by_left);
    *lines = regions_place_outside(c, pieces, count, box);
    return count;
}

static size_t regions_levels(const tree *t)
{
    return t->depth < LEVELS ? t->depth : LEVELS;
}

static double regions_icicle_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    const tree *t = x->data;
    arena *memory = arena_open();
    piece *pieces = arena_make(memory, t->count + 1, sizeof *pieces);
    size_t lines;
    (void)from;
    (void)count;
    regions_lay_out(t, c, (canvas_box){0, 0, width, 0}, level, pieces, &lines);
    arena_close(memory);
    return scale_height + level * (double)regions_levels(t) + (lines ? 4 + outside_pitch * (double)lines : 0);
}

static theme_ink regions_color_of(const tree *t, double rate)
{
    if (!(rate > 0)) return INK_EMPTY;
    if (!(t->high > t->low)) return theme_ramp(INK_BLUE, .6);
    return theme_ramp(INK_BLUE, .15 + .85 * log(rate / t->low) / log(t->high / t->low));
}

// On a hatching a name needs a ground of its own.
static void regions_draw_piece(canvas *c, const tree *t, const piece *p)
{
    const region_row *r = p->row;
    theme_ink ink = isnan(r->bytes_per_s) ? INK_PAPER : regions_color_of(t, r->bytes_per_s);
    double middle = p->box.x + p->box.width / 2, base = p->box.y + p->box.height / 2 + 2.6;
    if (r->tip) canvas_tip(c, r->tip);
    if (isnan(r->bytes_per_s))
        canvas_hatch(c, p->box);
    else
        canvas_rect(c, p->box, ink, 0);
    if (p->outside || !p->text[0]) return;
    double wide = canvas_text_width(c, p->text, TYPE_CELL);
    if (isnan(r->bytes_per_s))
        canvas_rect(c, (canvas_box){middle - wide / 2 - 2, p->box.y + 3, wide + 4, p->box.height - 6}, INK_PAPER, 0);
    canvas_text(c, middle, base, p->text, TYPE_CELL, (theme_ink)(INK_ON + ink), ALIGN_CENTER, 0);
}

static void regions_draw_outside(canvas *c, const piece *p, double bottom)
{
    double x = icicle_leader(p), base = bottom + 4 + outside_pitch * (double)p->line + 6.5, end = base - 2.6;
    canvas_line(c, x, p->box.y + p->box.height, x, end, INK_SECONDARY, .5);
    canvas_line(c, x, end, x + (p->x > x ? 3 : -3), end, INK_SECONDARY, .5);
    canvas_text(c, p->x, base, p->text, TYPE_CELL, INK_TEXT, ALIGN_LEFT, 0);
}

static void regions_icicle_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const tree *t = x->data;
    arena *memory = arena_open();
    piece *pieces = arena_make(memory, t->count + 1, sizeof *pieces);
    size_t lines, levels = regions_levels(t);
    double fixed = regions_icicle_height(x, c, box.width, from, count) - level * (double)levels,
           high = chart_pitch(box, fixed, levels, level);
    size_t n = regions_lay_out(t, c, (canvas_box){box.x, box.y + scale_height, box.width, 0}, high, pieces, &lines);
    if (t->high > t->low)
        axes_draw_ramp(c, box.x + box.width, box.y, INK_BLUE, number_volume_rate(t->low, "bytes").text,
                       number_volume_rate(t->high, "bytes").text);
    canvas_text(c, box.x, box.y + 10, t->note, TYPE_FOOT, INK_SECONDARY, ALIGN_LEFT, box.width - 110);
    for (size_t i = 0; i < n; i++)
        regions_draw_piece(c, t, &pieces[i]);
    for (size_t i = 0; i < n; i++)
        if (pieces[i].outside) regions_draw_outside(c, &pieces[i], box.y + scale_height + high * (double)levels);
    arena_close(memory);
}

chart chart_icicle(chart_head head, const region_row *rows, size_t count, const char *note)
{
    chart x;
    tree *t = regions_make_tree(&x, head, rows, count, note);
    x.height = regions_icicle_height;
    x.draw = regions_icicle_draw;
    x.squeeze = .8;
    regions_fill_twin(&x, t);
    return x;
}
