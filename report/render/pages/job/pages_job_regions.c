// Where the ranks' time went, over time: shares of the threads' time by regions, one above the other.
#include "pages_job_regions.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_SHARE .002

enum { NAMED = 6, PARTS = 24, SHOWN_NODES = 12, SHOWN_REGIONS = 24 }; // PARTS: of the job, to compare nodes by

// What one layer of the stack is: a region, all that have no layer of their own, or no region at all.
typedef struct layer {
    const char *label;
    theme_ink ink;
    size_t from, end; // in job_report.region_times; from == end: outside of all
} layer;

static size_t job_regions_layers_of(const job_view *v, layer *layers)
{
    const job_report *job = v->job;
    size_t n = 0, named = job->region_time_count;
    while (named && job->region_times[named - 1].others)
        named--;
    double least = LEAST_SHARE * job_region_threads(job);
    while (named && job->region_times[named - 1].own_s < least)
        named--;                                                      // too thin to be seen
    bool all = named <= NAMED + 1 && named == job->region_time_count; // one more costs no more than "others"
    if (!all && named > NAMED) named = NAMED;
    for (; n < named; n++)
        layers[n] = (layer){job->region_times[n].name, (theme_ink)(INK_CATEGORY + n), n, n + 1};
    if (named < job->region_time_count)
        layers[n++] = (layer){arena_format(v->memory, "%s more", number_grouped(job->region_time_count - named).text),
                              INK_PEER, named, job->region_time_count};
    layers[n++] = (layer){"in no region", INK_EMPTY, 0, 0};
    return n;
}

// A share for each point; of what is outside the rest.
static double *job_regions_points_of(const job_view *v, const layer *l, size_t node, const double *below)
{
    size_t count = job_view_point_count(v), twice = count == v->time.columns ? 1 : 2;
    double *points = arena_make(v->memory, count, sizeof *points);
    for (size_t i = 0; i < v->time.columns; i++) {
        double from = v->column_s * (double)i, share = l->from == l->end ? 1 - below[i * twice] : 0;
        for (size_t k = l->from; k < l->end; k++)
            share += job_region_share(v->job, k, node, from, from + v->column_s);
        if (share < 0) share = 0; // rounding
        for (size_t k = 0; k < twice; k++)
            points[i * twice + k] = share;
    }
    return points;
}

size_t region_curves(const job_view *v, size_t node, lines_curve *curves)
{
    layer layers[REGION_CURVES];
    size_t count = job_view_point_count(v), n = job_regions_layers_of(v, layers);
    const double *below = arena_make(v->memory, count, sizeof *below);
    for (size_t i = 0; i < n; i++) {
        double *y = job_regions_points_of(v, &layers[i], node, below), *top = arena_make(v->memory, count, sizeof *top);
        for (size_t k = 0; k < count; k++)
            top[k] = fmin(below[k] + y[k], isnan(y[k]) ? NAN : 1);
        for (size_t k = 0; k < count; k++)
            if (isnan(y[k])) top[k] = NAN;
        curves[i] = (lines_curve){.label = layers[i].label,
                                  .ink = layers[i].ink,
                                  .pale = layers[i].ink,
                                  .y = y,
                                  .low = below,
                                  .high = top,
                                  .area = true,
                                  .no_key = layers[i].from == layers[i].end};
        below = top;
    }
    return n;
}

// ---- the page ----

static const char *job_regions_ranks_text(const job_view *v, size_t node)
{
    size_t ranks = job_region_ranks(v->job, node);
    return arena_format(v->memory, "%s %s", number_grouped(ranks).text, words_noun(ranks, "process|processes").text);
}

// The largest regions' shares in parts of the job.
typedef struct shares {
    double of[NAMED][PARTS];
} shares;

static shares job_regions_shares_of(const job_report *job, size_t node)
{
    shares x = {0};
    double width = job->end_s / PARTS;
    for (size_t k = 0; k < job->region_time_count && k < NAMED; k++)
        for (size_t i = 0; i < PARTS; i++)
            x.of[k][i] = job_region_share(job, k, node, width * (double)i, width * (double)(i + 1));
    return x;
}

static double job_regions_unlike(const shares *x, const shares *all)
{
    double sum = 0;
    for (size_t k = 0; k < NAMED; k++)
        for (size_t i = 0; i < PARTS; i++) {
            double off = x->of[k][i] - all->of[k][i];
            if (!isnan(off)) sum += fabs(off);
        }
    return sum;
}

typedef struct candidate {
    size_t node;
    double unlike;
} candidate;

static int job_regions_by_unlike(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->unlike != y->unlike) return x->unlike < y->unlike ? 1 : -1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static int job_regions_by_node(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    return x->node < y->node ? -1 : x->node > y->node;
}

// Nodes with processes, in the nodes' order; of more than fit those that are most unlike the sum. *all: how many there are.
static candidate *job_regions_choose_nodes(const job_view *v, size_t *shown, size_t *all)
{
    const job_report *job = v->job;
    candidate *list = arena_make(v->memory, job->node_count + 1, sizeof *list);
    size_t n = 0;
    for (size_t i = 0; i < job->node_count; i++)
        if (job_region_ranks(job, i)) list[n++] = (candidate){.node = i};
    *all = *shown = n;
    if (n <= SHOWN_NODES) return list;
    const shares sum = job_regions_shares_of(job, JOB_ALL_NODES);
    for (size_t i = 0; i < n; i++) {
        const shares own = job_regions_shares_of(job, list[i].node);
        list[i].unlike = job_regions_unlike(&own, &sum);
    }
    qsort(list, n, sizeof *list, job_regions_by_unlike);
    *shown = SHOWN_NODES;
    qsort(list, *shown, sizeof *list, job_regions_by_node);
    return list;
}

static void job_regions_add_stacks(const job_view *v, document *doc)
{
    const job_report *job = v->job;
    size_t n = 0, shown, all;
    const candidate *nodes = job_regions_choose_nodes(v, &shown, &all);
    lines_panel *panels = arena_make(v->memory, shown + 1, sizeof *panels);
    lines_curve *curves = arena_make(v->memory, (shown + 1) * REGION_CURVES, sizeof *curves);
    double *tops = arena_make(v->memory, shown + 1, sizeof *tops);
    for (size_t i = 0; i <= shown && (!i || job->node_count > 1); i++, n++) {
        size_t node = i ? nodes[i - 1].node : JOB_ALL_NODES;
        lines_curve *own = &curves[i * REGION_CURVES];
        size_t count = region_curves(v, node, own);
        for (size_t k = 0; i && k < count; k++)
            own[k].no_key = true;
        panels[i] = pages_time_panel(i                     ? job->nodes[node].name
                                     : job->node_count > 1 ? "All nodes"
                                                           : "Regions",
                                     job_regions_ranks_text(v, node), AXES_PERCENT, "", own, count);
        tops[i] = 1;
    }
    lines_style style = job_view_lines(v);
    style.panel_height = n > 8 ? 34 : 46;
    style.tops = tops;
    document_add(doc,
                 chart_lines((chart_head){"regions-over-time", "Own time of regions",
                                          "share of the threads' time, without regions within; empty: in no region"},
                             &style, panels, n));
    if (shown < all)
        document_note(doc,
                      arena_format(v->memory,
                                   "The %zu nodes that differ most from the sum; %zu more are in it and not drawn.",
                                   shown, all - shown));
}

static void job_regions_add_table(const job_view *v, document *doc)
{
    static const table_column columns[] = {{"region", TABLE_TEXT, 1},
                                           {"own time, all threads", TABLE_NUMBER, 0},
                                           {"share", TABLE_NUMBER, 0},
                                           {"calls", TABLE_NUMBER, 0},
                                           {"declared bytes", TABLE_NUMBER, 0}};
    const job_report *job = v->job;
    size_t shown = job->region_time_count < SHOWN_REGIONS ? job->region_time_count : SHOWN_REGIONS;
    size_t width = sizeof columns / sizeof *columns - 1; // without bytes
    double threads = job_region_threads(job), outside = threads;
    for (size_t i = 0; i < job->region_time_count; i++) {
        outside -= job->region_times[i].own_s;
        if (job->region_times[i].bytes) width = sizeof columns / sizeof *columns;
    }
    sheet t = sheet_open(width);
    for (size_t i = 0; i < shown; i++) {
        const job_region_time *x = &job->region_times[i];
        const char *row[] = {x->others ? "others" : x->name, arena_text(v->memory, number_duration(x->own_s).text),
                             arena_text(v->memory, job_view_percent(threads > 0 ? x->own_s / threads : NAN).text),
                             arena_text(v->memory, number_grouped(x->calls).text),
                             x->bytes ? arena_text(v->memory, number_prefixed((double)x->bytes, "B").text) : "none"};
        for (size_t k = 0; k < width; k++)
            sheet_text(&t, row[k]);
    }
    if (shown == job->region_time_count && outside > LEAST_SHARE * threads) {
        const char *row[] = {"in no region", arena_text(v->memory, number_duration(outside).text),
                             arena_text(v->memory, job_view_percent(outside / threads).text), "", ""};
        for (size_t k = 0; k < width; k++)
            sheet_text(&t, row[k]);
    }
    const char *question = shown < job->region_time_count
                               ? arena_format(v->memory, "the first %zu of %zu, by name", shown, job->region_time_count)
                               : "by name, wherever they are";
    sheet_end(&t, doc, (chart_head){"region-times", "Regions in all", question}, columns);
}

void job_regions_table(const job_view *v, document *doc)
{
    if (job_region_ranks(v->job, JOB_ALL_NODES) && v->job->region_time_count) job_regions_add_table(v, doc);
}

void job_regions_page(job_view *v, document *doc)
{
    if (!job_region_ranks(v->job, JOB_ALL_NODES) || !v->job->region_time_count) return;
    document_part(doc, "Where the processes' time went");
    document_subline(doc, arena_format(v->memory, "Own time of %s, as they sampled themselves; %s.",
                                       job_regions_ranks_text(v, JOB_ALL_NODES), job_view_column_words(v)));
    job_regions_add_stacks(v, doc);
    job_regions_add_table(v, doc);
}
