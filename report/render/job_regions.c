// Where the ranks' time went, over time: shares of the threads' time by regions, one above the other.
#include "job_regions.h"

#include <math.h>

#define LEAST_SHARE .002

enum { NAMED = 6, SHOWN_NODES = 12, SHOWN_REGIONS = 24 };

// What one layer of the stack is: a region, all that have no layer of their own, or no region at all.
typedef struct layer {
    const char *label;
    theme_ink ink;
    size_t from, end; // in job_report.region_times; from == end: outside of all
} layer;

static double threads_of(const job_report *job)
{
    double sum = 0;
    for (size_t i = 0; i < job->region_place_count; i++)
        sum += job->region_places[i].threads_s;
    return sum;
}

static size_t layers_of(const job_view *v, layer *layers)
{
    const job_report *job = v->job;
    size_t n = 0, named = job->region_time_count;
    while (named && job->region_times[named - 1].others) named--;
    double least = LEAST_SHARE * threads_of(job);
    while (named && job->region_times[named - 1].own_s < least) named--; // too thin to be seen
    bool all = named <= NAMED + 1 && named == job->region_time_count; // one more costs no more than "others"
    if (!all && named > NAMED) named = NAMED;
    for (; n < named; n++)
        layers[n] = (layer){job->region_times[n].name, (theme_ink)(INK_CATEGORY + n), n, n + 1};
    if (named < job->region_time_count)
        layers[n++] = (layer){arena_format(v->memory, "%s more", number_grouped(job->region_time_count - named).text), INK_PEER,
                              named, job->region_time_count};
    layers[n++] = (layer){"in no region", INK_EMPTY, 0, 0};
    return n;
}

// A share for each point; of what is outside the rest.
static double *points_of(const job_view *v, const layer *l, size_t node, const double *below)
{
    size_t count = view_point_count(v), twice = count == v->columns ? 1 : 2;
    double *points = arena_make(v->memory, count, sizeof *points);
    for (size_t i = 0; points && i < v->columns; i++) {
        double from = v->column_s * (double)i, share = l->from == l->end ? 1 - below[i * twice] : 0;
        for (size_t k = l->from; k < l->end; k++)
            share += job_region_share(v->job, k, node, from, from + v->column_s);
        if (share < 0) share = 0; // rounding
        for (size_t k = 0; k < twice; k++) points[i * twice + k] = share;
    }
    return points;
}

size_t region_curves(const job_view *v, size_t node, lines_curve *curves)
{
    layer layers[REGION_CURVES];
    size_t count = view_point_count(v), n = layers_of(v, layers);
    const double *below = arena_make(v->memory, count, sizeof *below);
    for (size_t i = 0; i < n; i++) {
        double *y = below ? points_of(v, &layers[i], node, below) : NULL, *top = arena_make(v->memory, count, sizeof *top);
        if (!y || !top) return 0;
        for (size_t k = 0; k < count; k++) top[k] = fmin(below[k] + y[k], isnan(y[k]) ? NAN : 1);
        for (size_t k = 0; k < count; k++)
            if (isnan(y[k])) top[k] = NAN;
        curves[i] = (lines_curve){.label = layers[i].label, .ink = layers[i].ink, .pale = layers[i].ink, .y = y, .low = below,
                                  .high = top, .area = true};
        below = top;
    }
    return n;
}

// ---- the page ----

static const char *ranks_text(const job_view *v, size_t node)
{
    size_t ranks = job_region_ranks(v->job, node);
    return arena_format(v->memory, "%s process%s", number_grouped(ranks).text, ranks == 1 ? "" : "es");
}

static void add_stacks(const job_view *v, document *doc)
{
    const job_report *job = v->job;
    size_t most = SHOWN_NODES < job->node_count ? SHOWN_NODES : job->node_count, n = 0, left_out = 0;
    lines_panel *panels = arena_make(v->memory, most + 1, sizeof *panels);
    lines_curve *curves = arena_make(v->memory, (most + 1) * REGION_CURVES, sizeof *curves);
    double *tops = arena_make(v->memory, most + 1, sizeof *tops), *x = view_times(v);
    if (!panels || !curves || !tops || !x) return;
    for (size_t i = 0; i <= job->node_count; i++) {
        size_t node = i ? i - 1 : JOB_ALL_NODES;
        if (!job_region_ranks(job, node) || (i && job->node_count < 2)) continue;
        if (n > most) {
            left_out++;
            continue;
        }
        lines_curve *own = &curves[n * REGION_CURVES];
        size_t count = region_curves(v, node, own);
        for (size_t k = 0; n && k < count; k++) own[k].no_key = true;
        panels[n] = (lines_panel){.label = i ? job->nodes[node].name : job->node_count > 1 ? "All nodes" : "Regions", .below = ranks_text(v, node),
                                  .format = AXES_PERCENT, .unit = "", .curves = own, .curve_count = count, .limit = NAN};
        tops[n++] = 1;
    }
    lines_style style = {.x = x, .count = view_point_count(v), .axis = view_time_axis(v), .x_head = "seconds", .phases = v->phases,
                         .phase_count = v->phase_count, .gaps = v->gaps, .gap_count = v->gap_count, .incidents = v->incidents,
                         .incident_count = v->incident_count, .panel_height = n > 8 ? 34 : 46, .phases_label = "Phases", .tops = tops,
                         .squeeze = true};
    document_add(doc, chart_lines((chart_head){"regions-over-time", "Own time of regions",
                                               "share of the threads' time; what a region spends in regions within it is theirs"},
                                  &style, panels, n));
    if (left_out) document_note(doc, arena_format(v->memory, "%zu more nodes are in the sum and not drawn.", left_out));
}

static void add_table(const job_view *v, document *doc)
{
    static const table_column columns[] = {{"region", TABLE_TEXT, 1}, {"own time, all threads", TABLE_NUMBER, 0}, {"share", TABLE_NUMBER, 0},
                                           {"calls", TABLE_NUMBER, 0}, {"declared bytes", TABLE_NUMBER, 0}};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    const job_report *job = v->job;
    size_t shown = job->region_time_count < SHOWN_REGIONS ? job->region_time_count : SHOWN_REGIONS, at = 0;
    double threads = threads_of(job);
    const char **cells = arena_make(v->memory, shown * COLUMNS + 1, sizeof *cells);
    if (!cells) return;
    for (size_t i = 0; i < shown; i++) {
        const job_region_time *x = &job->region_times[i];
        cells[at++] = x->others ? "others" : x->name;
        cells[at++] = arena_text(v->memory, number_duration(x->own_s).text);
        cells[at++] = arena_text(v->memory, view_percent(threads > 0 ? x->own_s / threads : NAN).text);
        cells[at++] = arena_text(v->memory, number_grouped(x->calls).text);
        cells[at++] = x->bytes ? arena_text(v->memory, number_prefixed((double)x->bytes, "B").text) : "none";
    }
    const char *question = shown < job->region_time_count ? arena_format(v->memory, "the first %zu of %zu, by name", shown, job->region_time_count)
                                                          : "by name, wherever they are";
    document_add(doc, chart_table((chart_head){"region-times", "Regions in all", question}, columns, COLUMNS, cells, shown));
}

void job_regions_page(job_view *v, document *doc)
{
    if (!job_region_ranks(v->job, JOB_ALL_NODES) || !v->job->region_time_count) return;
    document_part(doc, "Where the processes' time went");
    document_subline(doc, arena_format(v->memory, "Own time of %s, as they sampled themselves; %s.", ranks_text(v, JOB_ALL_NODES), view_column_words(v)));
    add_stacks(v, doc);
    add_table(v, doc);
}
