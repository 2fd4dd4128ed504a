// Completeness: three bars on one scale, since few lost records make many incomplete calls.
#include "pages_nccl_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct share {
    const char *label, *figures, *brief, *percent; // brief: figures where there is little room
    double share;                                  // NAN: what would be all is not known
    severity severity;
} share;

typedef struct reason {
    const char *what, *count;
} reason;

typedef struct complete {
    arena *memory;
    share shares[3];
    reason *reasons;
    size_t reason_count;
    const char *sum; // of missing records
} complete;

enum { SHARES = 3 };
static const double share_pitch = 25, wide_pitch = 34, line_pitch = 11, column_gap = 22;

// On the whole width of a page the bars are side by side.
static bool nccl_complete_is_wide(double width)
{
    return width > 380;
}

static double nccl_complete_height(const chart *x, canvas *c, double width, size_t from, size_t count)
{
    const complete *k = x->data;
    (void)c, (void)from, (void)count;
    double bars = nccl_complete_is_wide(width) ? wide_pitch : SHARES * share_pitch;
    return bars + (k->reason_count ? 8 + line_pitch * (double)(1 + k->reason_count) : 0);
}

static void nccl_complete_draw_share(canvas *c, const share *s, canvas_box box, bool below)
{
    double base = box.y + 8, bar = box.y + 12, right = box.x + box.width;
    double word = canvas_text(c, box.x, base, s->label, TYPE_TABLE, INK_TEXT, ALIGN_LEFT, .5 * box.width) + 6;
    if (isfinite(s->share)) {
        canvas_mark(c, box.x + word + 3, base - 2.5, s->severity);
        word += 9 + canvas_text(c, box.x + word + 9, base, theme_severity_word(s->severity), TYPE_AXIS,
                                theme_severity_ink(s->severity), ALIGN_LEFT, 0);
    }
    double percent = canvas_text(c, right, base, s->percent, TYPE_TABLE_STRONG, INK_TEXT, ALIGN_RIGHT, 60);
    double room = box.width - percent - word - 10;
    const char *figures = canvas_text_width(c, s->figures, TYPE_CELL) <= room ? s->figures : s->brief;
    if (below)
        canvas_text(c, box.x, bar + 14.5, s->figures, TYPE_CELL, INK_SECONDARY, ALIGN_LEFT, box.width);
    else
        canvas_text(c, right - percent - 5, base, figures, TYPE_CELL, INK_SECONDARY, ALIGN_RIGHT, room);
    if (!isfinite(s->share)) {
        canvas_rect(c, (canvas_box){box.x, bar, box.width, 6}, INK_EMPTY, 0);
        return;
    }
    double seen = fmin(fmax(s->share, 0), 1) * box.width;
    if (s->share < 1) seen = fmin(seen, box.width - 1.2); // what is missing is seen
    canvas_rect(c, (canvas_box){box.x, bar, seen, 6}, theme_severity_ink(s->severity), 0);
    if (s->share < 1) canvas_hatch(c, (canvas_box){box.x + seen, bar, box.width - seen, 6});
}

static void nccl_complete_draw(const chart *x, canvas *c, canvas_box box, size_t from, size_t count)
{
    const complete *k = x->data;
    double y = box.y, right = box.x + box.width;
    (void)from, (void)count;
    double each = (box.width - (SHARES - 1) * column_gap) / SHARES;
    for (size_t i = 0; i < SHARES; i++) {
        canvas_box wide = {box.x + (each + column_gap) * (double)i, box.y, each, share_pitch},
                   narrow = {box.x, box.y + share_pitch * (double)i, box.width, share_pitch};
        nccl_complete_draw_share(c, &k->shares[i], nccl_complete_is_wide(box.width) ? wide : narrow,
                                 nccl_complete_is_wide(box.width));
    }
    y += nccl_complete_is_wide(box.width) ? wide_pitch : SHARES * share_pitch;
    if (!k->reason_count) return;
    y += 12;
    canvas_text(c, box.x, y, "Missing or left out", TYPE_TABLE_STRONG, INK_SECONDARY, ALIGN_LEFT, 0);
    canvas_text(c, right, y, k->sum, TYPE_TABLE_STRONG, INK_SECONDARY, ALIGN_RIGHT, 0);
    canvas_shorten_at(c, SHORTEN_END);
    for (size_t i = 0; i < k->reason_count; i++) {
        y += line_pitch;
        double taken = canvas_text(c, right, y, k->reasons[i].count, TYPE_CELL, INK_TEXT, ALIGN_RIGHT, 70);
        canvas_text(c, box.x, y, k->reasons[i].what, TYPE_CELL, INK_TEXT, ALIGN_LEFT, box.width - taken - 6);
    }
    canvas_shorten_at(c, SHORTEN_MIDDLE);
}

// Below 95 % of calls much is not judged; of ranks and records the same limit.
static share nccl_complete_share_of(complete *k, const char *label, uint64_t seen, uint64_t all, bool known)
{
    share s = {
        .label = arena_text(k->memory, label), .share = known && all ? (double)seen / (double)all : NAN, .percent = ""};
    s.severity = s.share < .95 ? SEVERITY_WATCH : SEVERITY_OK;
    if (isnan(s.share)) {
        s.figures = arena_format(k->memory, "%s seen", number_grouped(seen).text);
        s.brief = arena_format(k->memory, "%s seen", number_prefixed((double)seen, "").text);
        return s;
    }
    // Never rounded up to all of it.
    double percent = seen < all ? fmin(100 * s.share, 99.99) : 100;
    s.percent = arena_format(k->memory, seen < all ? "%.4g" NUMBER_SPACE "%%" : "%.0f" NUMBER_SPACE "%%", percent);
    s.brief = arena_format(k->memory, "%s of %s", number_prefixed((double)seen, "").text,
                           number_prefixed((double)all, "").text);
    s.figures = arena_format(k->memory, "%s of %s", number_grouped(seen).text, number_grouped(all).text);
    return s;
}

static void nccl_complete_fill_twin(chart *x, const complete *k)
{
    static const char *const heads[] = {"", "figures", "share"};
    x->twin.columns = 3;
    x->twin.right = 6;
    for (size_t i = 0; i < 3; i++)
        chart_cell(&x->twin, heads[i]);
    for (size_t i = 0; i < SHARES; i++) {
        chart_cell(&x->twin, k->shares[i].label);
        chart_cell(&x->twin, k->shares[i].figures);
        chart_cell(&x->twin, isnan(k->shares[i].share) ? "not known" : k->shares[i].percent);
    }
    for (size_t i = 0; i < k->reason_count; i++) {
        chart_cell(&x->twin, k->reasons[i].what);
        chart_cell(&x->twin, k->reasons[i].count);
        chart_cell(&x->twin, "");
    }
}

chart nccl_chart_complete(chart_head head, const nccl_view *v)
{
    chart x;
    complete *k = chart_begin(&x, head, sizeof *k);
    bool known = v->completeness_known;
    k->shares[0] =
        nccl_complete_share_of(k, "Ranks with logs", known ? v->ranks_seen : v->processes, v->ranks_expected, known);
    k->shares[1] =
        nccl_complete_share_of(k, "Records", known ? v->records_seen : v->records, v->records_expected, known);
    k->shares[2] =
        nccl_complete_share_of(k, "Complete calls", known ? v->calls_complete : v->calls, v->calls_judgeable, known);
    k->reasons = arena_make(k->memory, v->reasons.count + 1, sizeof *k->reasons);
    for (size_t i = 0; i < v->reasons.count; i++)
        k->reasons[k->reason_count++] = (reason){arena_text(k->memory, v->reasons.items[i].what),
                                                 arena_text(k->memory, number_grouped(v->reasons.items[i].count).text)};
    k->sum = "records";
    x.height = nccl_complete_height;
    x.draw = nccl_complete_draw;
    nccl_complete_fill_twin(&x, k);
    return x;
}
