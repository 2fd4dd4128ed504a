// The work of a comparison: how far each side was at what time, how long its steps took or how fast it moved, and the figures.
#include "pages_compare.h"
#include "analysis/base/utf8.h"
#include "analysis/base/words.h"
#include "render/base/number.h"
#include "render/chart/charts_cause.h"
#include "render/chart/charts_plots.h"
#include "pages_signs.h"
#include "sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- the work in figures ----

// "4.32 s", of several runs "4.32 s (4.10 s to 4.90 s)".
static const char *compare_work_range_text(compare_page *p, const comparison_range *r, number_text (*number)(double))
{
    if (!isfinite(r->median)) return NUMBER_UNKNOWN;
    const number_text low = number(r->min), high = number(r->max);
    if (!(r->min < r->max) || strcmp(low.text, high.text) == 0) return arena_text(p->memory, number(r->median).text);
    return arena_format(p->memory, "%s (%s to %s)", number(r->median).text, low.text, high.text);
}

static number_text compare_work_of_bytes(double bytes)
{
    return number_volume(bytes, "bytes");
}

static number_text compare_work_packets(double packets)
{
    return number_volume(packets, "packets");
}

static number_text compare_work_rate(double bytes_per_s)
{
    return number_volume_rate(bytes_per_s, "bytes");
}

static const char *compare_work_side_text(compare_page *p, const comparison_range *r, number_text (*number)(double),
                                          bool ranges)
{
    if (ranges || !isfinite(r->median)) return compare_work_range_text(p, r, number);
    return arena_text(p->memory, number(r->median).text);
}

// The first question: the same work, and slower?
static bool compare_work_make_table(compare_page *p, chart *x, bool ranges)
{
    static const table_column columns[] = {{"of a run", TABLE_TEXT, 0},
                                           {"healthy", TABLE_NUMBER, 1},
                                           {"faulty", TABLE_NUMBER, 1},
                                           {TIMES, TABLE_NUMBER, 0}};
    const comparison_work *w = &p->c->work;
    const struct {
        const char *name;
        const comparison_range *sides;
        number_text (*number)(double);
    } rows[] = {{"time", w->seconds, number_duration},
                {"moved", w->bytes, compare_work_of_bytes},
                {"packets", w->packets, compare_work_packets},
                {"throughput", w->bytes_per_s, compare_work_rate}};
    sheet t = sheet_open(4);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const comparison_range *h = &rows[i].sides[COMPARISON_HEALTHY], *f = &rows[i].sides[COMPARISON_FAULTY];
        if (!isfinite(h->median) && !isfinite(f->median)) continue;
        sheet_text(&t, rows[i].name);
        sheet_text(&t, compare_work_side_text(p, h, rows[i].number, ranges));
        sheet_text(&t, compare_work_side_text(p, f, rows[i].number, ranges));
        sheet_text(&t, h->median > 0 && f->median > 0 ? arena_text(p->memory, number_plain(f->median / h->median).text)
                                                      : NUMBER_UNKNOWN);
    }
    if (!sheet_rows(&t)) return false;
    *x = sheet_chart(&t,
                     (chart_head){"work", "The work and its time",
                                  ranges ? "medians of the runs, their ranges in brackets" : "medians of the runs"},
                     columns);
    return true;
}

// ---- what was moved by when ----

// The run of a side that took as long as its median says; of several the first that was sampled on its way.
static const comparison_run *compare_work_middle(const comparison *c, comparison_side side)
{
    const comparison_run *best = NULL;
    double least = INFINITY;
    for (size_t r = 0; r < c->run_count; r++) {
        const comparison_run *run = c->runs[r];
        double off = fabs((double)run->elapsed_ns / 1e9 - c->work.seconds[side].median);
        if (run->side != side || !(off < least || (off <= least && best && !best->sample_count))) continue;
        best = run;
        least = off;
    }
    return best;
}

static void compare_work_follow(compare_page *p, comparison_side side, slope_line *line)
{
    const comparison_run *run = compare_work_middle(p->c, side);
    if (!run || !run->sample_count) return;
    line->at = run->sample_s;
    line->amounts = run->sample_bytes;
    line->count = run->sample_count;
    line->seconds = run->sample_s[run->sample_count - 1];
    line->amount = run->sample_bytes[run->sample_count - 1];
}

static const char *compare_work_question(const slope_line lines[COMPARISON_SIDES])
{
    if (lines[0].count && lines[1].count) return "moved since the start, by samples";
    return lines[0].count || lines[1].count ? "moved since the start; dashed: only the ends are read"
                                            : "moved since the start; only the ends are read";
}

static bool compare_work_make_slopes(compare_page *p, chart *x)
{
    const comparison_work *w = &p->c->work;
    slope_line lines[COMPARISON_SIDES];
    if (w->same == COMPARISON_WORK_UNKNOWN || !(fabs(log(w->slower)) > log(1.05)))
        return false; // lines one over the other
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        if (!(w->seconds[side].median > 0) || !(w->bytes[side].median > 0)) return false;
        lines[side] =
            (slope_line){.name = comparison_side_name((comparison_side)side),
                         .label = arena_format(p->memory, "%s %s", comparison_side_name((comparison_side)side),
                                               number_volume_rate(w->bytes_per_s[side].median, "bytes").text),
                         .seconds = w->seconds[side].median,
                         .amount = w->bytes[side].median};
        compare_work_follow(p, (comparison_side)side, &lines[side]);
    }
    double longer =
        lines[COMPARISON_FAULTY].seconds - lines[COMPARISON_HEALTHY].seconds; // as far apart as they are drawn
    const slopes_style style = {.unit = "B",
                                .later = w->same == COMPARISON_WORK_SAME && w->slower > 1.05
                                             ? arena_format(p->memory, "%s later", number_duration(longer).text)
                                             : ""};
    *x = chart_slopes((chart_head){"work-over-time", "Work over time", compare_work_question(lines)}, &style, lines);
    return true;
}

// ---- how long the steps took ----

enum { FINE_BINS = 24 }; // more are shown on a logarithmic axis, in bins of half an octave

typedef struct compare_spread {
    double edges[NETPROF_HISTOGRAM_BUCKETS + 1], counts[COMPARISON_SIDES][NETPROF_HISTOGRAM_BUCKETS];
    size_t bins;
    bool fine; // a bin is a bucket, on a linear axis
} compare_spread;

// A stretch of the program that each rank went through again and again.
static bool compare_work_is_step(const regions_node *n)
{
    enum { LEAST_CALLS = 20, LEAST_OF_A_RANK = 10 };
    return !n->span && n->kind != REGIONS_APART && n->sums.measured >= LEAST_CALLS &&
           n->sums.calls >= LEAST_OF_A_RANK * n->cell_count;
}

// The node of the same path; NULL: none.
static const regions_node *compare_work_same_node(const regions *from, size_t node, const regions *in)
{
    char *path = regions_path(from, node);
    const regions_node *found = NULL;
    for (size_t i = 0; i < in->node_count && !found; i++) {
        if (in->nodes[i].depth != from->nodes[node].depth || strcmp(in->nodes[i].name, from->nodes[node].name) != 0)
            continue;
        char *other = regions_path(in, i);
        if (strcmp(path, other) == 0) found = &in->nodes[i];
        free(other);
    }
    free(path);
    return found;
}

// The step of the program: what both sides did again and again, and most of the time. nodes[0] NULL: none is known.
static void compare_work_find_step(const compare_page *p, const regions_node *nodes[COMPARISON_SIDES])
{
    const regions *healthy = p->regions[COMPARISON_HEALTHY], *faulty = p->regions[COMPARISON_FAULTY];
    nodes[0] = nodes[1] = NULL;
    for (size_t i = 0; healthy && faulty && i < faulty->node_count; i++) {
        const regions_node *n = &faulty->nodes[i];
        if (!compare_work_is_step(n) || (nodes[1] && n->sums.inclusive_ns <= nodes[1]->sums.inclusive_ns)) continue;
        const regions_node *same = compare_work_same_node(faulty, i, healthy);
        if (!same || !compare_work_is_step(same)) continue;
        nodes[COMPARISON_HEALTHY] = same;
        nodes[COMPARISON_FAULTY] = n;
    }
}

// The buckets of both sides that hold calls; two of them at least, so that an axis has a length.
static bool compare_work_gather_steps(const regions_node *const nodes[COMPARISON_SIDES], compare_spread *s)
{
    uint64_t buckets[COMPARISON_SIDES][NETPROF_HISTOGRAM_BUCKETS];
    size_t first = NETPROF_HISTOGRAM_BUCKETS, last = 0;
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        if (!regions_histogram(nodes[side], buckets[side])) return false;
        for (size_t i = 0; i < NETPROF_HISTOGRAM_BUCKETS; i++) {
            if (!buckets[side][i]) continue;
            if (i < first) first = i;
            if (i > last) last = i;
        }
    }
    if (first > last || last + 2 >= NETPROF_HISTOGRAM_BUCKETS) return false;
    if (first) first--;
    last++;
    size_t fold = last - first < FINE_BINS ? 1 : 4;
    first -= first % fold;
    s->fine = fold == 1;
    s->bins = (last - first) / fold + 1;
    for (size_t i = 0; i <= s->bins; i++) {
        size_t bucket = first + i * fold;
        bool inside = bucket < NETPROF_HISTOGRAM_BUCKETS;
        s->edges[i] =
            (double)netprof_histogram_floor_ns(inside ? (unsigned)bucket : NETPROF_HISTOGRAM_BUCKETS - 1) / 1e9;
        for (size_t k = bucket; i < s->bins && k < bucket + fold && k < NETPROF_HISTOGRAM_BUCKETS; k++)
            for (int side = 0; side < COMPARISON_SIDES; side++)
                s->counts[side][i] += (double)buckets[side][k];
    }
    return s->edges[0] > 0;
}

static const char *compare_work_step_label(compare_page *p, const regions_node *n, comparison_side side)
{
    return arena_format(p->memory, "%s %s", comparison_side_name(side),
                        number_duration((double)n->sums.total_ns / (double)n->sums.measured / 1e9).text);
}

static chart compare_work_spread_chart(chart_head head, const compare_spread *s, axes_scale scale, const char *what,
                                       const char *const labels[COMPARISON_SIDES])
{
    const distribution_style style = {.edges = s->edges, .bins = s->bins, .x_scale = scale, .what = what, .height = 58};
    const distribution_set bars = {labels[COMPARISON_FAULTY], INK_WATCH, s->counts[COMPARISON_FAULTY]},
                           outline = {labels[COMPARISON_HEALTHY], INK_TEXT, s->counts[COMPARISON_HEALTHY]};
    return chart_distribution(head, &style, &bars, &outline);
}

static bool compare_work_make_steps(compare_page *p, chart *x)
{
    const regions_node *nodes[COMPARISON_SIDES];
    compare_spread *s = arena_make(p->memory, 1, sizeof *s);
    compare_work_find_step(p, nodes);
    if (!nodes[0] || !compare_work_gather_steps(nodes, s)) return false;
    const char *const labels[COMPARISON_SIDES] = {compare_work_step_label(p, nodes[0], COMPARISON_HEALTHY),
                                                  compare_work_step_label(p, nodes[1], COMPARISON_FAULTY)};
    const chart_head head = {"spread", "Time per step",
                             arena_format(p->memory, "each side's calls of %.*s; means",
                                          utf8_within(nodes[COMPARISON_FAULTY]->name, 24),
                                          nodes[COMPARISON_FAULTY]->name)};
    if (s->fine) {
        *x = compare_work_spread_chart(head, s, (axes_scale){.format = AXES_TIME, .title = "Time per step"}, "steps",
                                       labels);
        return true;
    }
    const durations_set bars = {labels[COMPARISON_HEALTHY], s->counts[COMPARISON_HEALTHY]},
                        outline = {labels[COMPARISON_FAULTY], s->counts[COMPARISON_FAULTY]};
    *x = chart_durations(head, s->edges, s->bins, &bars, &outline);
    return true;
}

// ---- how fast it moved, where no steps are known ----

// Calls visit() with the length and the rate of each stretch between two samples of a side's runs.
static size_t compare_work_each_rate(const comparison *c, comparison_side side,
                                     void (*visit)(void *user, double seconds, double rate), void *user)
{
    size_t count = 0;
    for (size_t r = 0; r < c->run_count; r++) {
        const comparison_run *run = c->runs[r];
        for (size_t k = 1; run->side == side && k < run->sample_count; k++) {
            double seconds = run->sample_s[k] - run->sample_s[k - 1];
            double rate = (run->sample_bytes[k] - run->sample_bytes[k - 1]) / seconds;
            if (!(seconds > 0) || !isfinite(rate)) continue;
            visit(user, seconds, rate);
            count++;
        }
    }
    return count;
}

static void compare_work_widen(void *user, double seconds, double rate)
{
    double *range = user;
    (void)seconds;
    range[0] = fmin(range[0], rate);
    range[1] = fmax(range[1], rate);
}

typedef struct compare_rates {
    compare_spread *s;
    double *counts;
} compare_rates;

static void compare_work_count_rate(void *user, double seconds, double rate)
{
    compare_rates *to = user;
    double width = to->s->edges[1] - to->s->edges[0];
    size_t bin = (size_t)fmax(floor((rate - to->s->edges[0]) / width), 0);
    to->counts[bin < to->s->bins ? bin : to->s->bins - 1] += seconds;
}

// Bins of a round width: 1, 2 or 5 of a power of ten.
static void compare_work_make_bins(compare_spread *s, double low, double high)
{
    enum { ABOUT = 24 };
    if (low > high / 2)
        high += (high - low) / ABOUT; // what varies little is shown as it varies
    else
        low = 0;
    double width = fmax(high - low, high / 100) / ABOUT, power = pow(10, floor(log10(width)));
    width = width <= power ? power : width <= 2 * power ? 2 * power : width <= 5 * power ? 5 * power : 10 * power;
    double first = floor(low / width) * width;
    s->bins = (size_t)(floor((high - first) / width) + 1);
    for (size_t i = 0; i <= s->bins; i++)
        s->edges[i] = first + (double)i * width;
}

static bool compare_work_make_rates(compare_page *p, chart *x)
{
    enum { LEAST = 8 };
    const comparison *c = p->c;
    compare_spread *s = arena_make(p->memory, 1, sizeof *s);
    double range[2] = {INFINITY, 0};
    const char *labels[COMPARISON_SIDES];
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        if (compare_work_each_rate(c, (comparison_side)side, compare_work_widen, range) < LEAST) return false;
        labels[side] = arena_format(p->memory, "%s %s", comparison_side_name((comparison_side)side),
                                    number_volume_rate(c->work.bytes_per_s[side].median, "bytes").text);
    }
    if (!(range[1] > 0)) return false;
    compare_work_make_bins(s, fmax(range[0], 0), range[1]);
    for (int side = 0; side < COMPARISON_SIDES; side++)
        compare_work_each_rate(c, (comparison_side)side, compare_work_count_rate, &(compare_rates){s, s->counts[side]});
    *x = compare_work_spread_chart((chart_head){"spread", "Throughput", "share of the time, by samples; means"}, s,
                                   (axes_scale){.format = AXES_SI, .unit = "B/s", .title = "Throughput"}, "time",
                                   labels);
    return true;
}

// ---- together ----

// Two of them beside each other: how it went on first, then how evenly, else the figures, which otherwise come later.
void compare_page_add_work(compare_page *p)
{
    chart parts[2];
    size_t count = 0;
    bool slopes = compare_work_make_slopes(p, &parts[0]);
    count += slopes;
    count += compare_work_make_steps(p, &parts[count]) || compare_work_make_rates(p, &parts[count]);
    p->figures_later = count == 2;
    if (count < 2) count += compare_work_make_table(p, &parts[count], count == 0);
    if (count == 2)
        document_beside(p->doc, parts[0], parts[1], slopes ? .54 : .48);
    else if (count)
        document_add(p->doc, parts[0]);
}

void compare_page_add_figures(compare_page *p)
{
    chart table;
    if (p->figures_later && compare_work_make_table(p, &table, true)) document_add(p->doc, table);
}
