// Page 2 of a job: what moved together, and where the energy went, phase by phase.
#include "render/base/buffer.h"
#include "pages_job_regions.h"
#include "analysis/base/utf8.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PANELS = 11, SHOWN_PHASES = 16 };
static const double WORTH_DRAWING = 1e6; // bytes/s of files of one node, beside its network

// ---- panels ----

typedef struct panels {
    lines_panel items[PANELS];
    lines_curve curves[PANELS][REGION_CURVES];
    double tops[PANELS];
    lines_mark marks[PANELS];
    size_t count, mark_count;
} panels;

static double job_series_peak_of(const job_view *v, const double *values)
{
    double most = 0;
    for (size_t i = 0; values && i < job_view_point_count(v); i++)
        most = fmax(most, isnan(values[i]) ? 0 : values[i]);
    return most;
}

// The node that is alone the highest for most of the time that the band is wide; JOB_NONE: none is.
static size_t job_series_alone_high(const job_view *v, const job_column *c, size_t *last)
{
    size_t votes = 0, wide = 0, candidate = JOB_NONE;
    for (size_t i = 0; i < v->time.columns; i++) { // majority vote
        if (!(c[i].high > 1.3 * c[i].mean) || c[i].high_node == JOB_NONE) continue;
        wide++;
        if (!votes) candidate = c[i].high_node;
        votes += c[i].high_node == candidate ? 1 : (size_t)-1;
    }
    size_t hits = 0;
    for (size_t i = 0; i < v->time.columns; i++)
        if (c[i].high > 1.3 * c[i].mean && c[i].high_node == candidate) hits++, *last = i;
    return wide * 5 > v->time.columns && hits * 10 >= wide * 8 ? candidate : JOB_NONE;
}

static void job_series_name_band(const job_view *v, panels *p, const job_column *c, const double *high, theme_ink ink)
{
    size_t at = 0, node = v->job->node_count > 3 ? job_series_alone_high(v, c, &at) : JOB_NONE;
    if (node == JOB_NONE || node >= v->job->node_count) return;
    p->marks[p->mark_count++] =
        (lines_mark){p->count, v->column_s * ((double)at + .5), high[at * job_view_point_count(v) / v->time.columns],
                     v->job->nodes[node].name, ink};
}

static lines_curve job_series_curve_of(const job_view *v, job_meter meter, const job_column *c, double factor,
                                       const char *label, theme_ink ink, theme_ink pale)
{
    bool band = !*label;
    (void)meter;
    return (lines_curve){.label = label,
                         .ink = ink,
                         .pale = band ? pale : INK_NONE,
                         .y = job_view_points(v, c, JOB_MEAN, factor),
                         .low = band ? job_view_points(v, c, JOB_LOW, factor) : NULL,
                         .high = band ? job_view_points(v, c, JOB_HIGH, factor) : NULL};
}

// As a share of the capacity where there is one; the axis ends at the limit where that matters.
static void job_series_add_panel(const job_view *v, panels *p, job_meter meter, bool as_share)
{
    const job_use *u = job_view_use_of(v->job, meter);
    job_column *c =
        u && p->count < PANELS && !job_view_is_zero(v->job, meter) ? job_view_columns(v, meter, JOB_ALL_NODES) : NULL;
    if (!c) return;
    const char *title = job_meter_of(meter)->title, *per = v->job->node_count > 1 ? "per node" : "";
    bool share = as_share && u->capacity > 0;
    lines_panel *panel = &p->items[p->count];
    *panel = pages_time_panel(title, NULL, share ? AXES_PERCENT : job_view_format(meter),
                              share ? "" : job_view_axis_unit(meter), p->curves[p->count], 1);
    p->curves[p->count][0] = job_series_curve_of(v, meter, c, share ? 1 / u->capacity : 1, "",
                                                 job_view_ink(meter, false), job_view_ink(meter, true));
    bool bounded = meter == JOB_MEMORY || meter == JOB_NODE_MEMORY; // how near the limit is, is the point
    double top = share || !*job_meter_of(meter)->unit ? 1
                 : bounded                            ? u->capacity
                                                      : NAN,
           peak = job_series_peak_of(v, p->curves[p->count][0].high);
    p->tops[p->count] = top > 0 && peak >= .2 * top && peak <= top ? top : NAN;
    const char *limit =
        share ? arena_format(v->memory, "of %s", job_view_text(meter, u->capacity).text)
        : u->capacity > 0 && *job_meter_of(meter)->unit
            ? arena_format(v->memory, "%s %s", meter == JOB_SENT || meter == JOB_RECEIVED ? "line rate is" : "limit",
                           job_view_text(meter, u->capacity).text)
            : "";
    const char *scope = job_view_scope_of(u);
    bool said = *scope && u->scope != JOB_SCOPE_NODE;
    panel->below = arena_format(v->memory, "%s%s%s%s%s", per, *per && *limit ? "; " : "", limit,
                                said && (*per || *limit) ? "; " : "", said ? scope : "");
    if (p->curves[p->count][0].high)
        job_series_name_band(v, p, c, p->curves[p->count][0].high, job_view_ink(meter, false));
    p->count++;
}

// Where the ranks' time went.
static void job_series_add_regions(const job_view *v, panels *p)
{
    size_t ranks = job_region_ranks(v->job, JOB_ALL_NODES);
    if (!ranks || !v->job->region_time_count) return;
    lines_panel *panel = &p->items[p->count];
    *panel = pages_time_panel(
        "Regions",
        arena_format(v->memory, "own time, %s; empty: in no region", words_many(ranks, "process|processes").text),
        AXES_PERCENT, "", p->curves[p->count], 0);
    panel->curve_count = region_curves(v, JOB_ALL_NODES, p->curves[p->count]);
    if (!panel->curve_count) return;
    p->tops[p->count++] = 1;
}

static void job_series_add_files(const job_view *v, panels *p)
{
    bool files = job_view_has(v->job, JOB_FILES_READ) || job_view_has(v->job, JOB_FILES_WRITTEN);
    job_meter ways[2] = {files ? JOB_FILES_READ : JOB_DISK_READ, files ? JOB_FILES_WRITTEN : JOB_DISK_WRITTEN};
    lines_panel *panel = &p->items[p->count];
    size_t n = 0;
    if (p->count == PANELS) return;
    if (job_view_is_zero(v->job, ways[0]) && job_view_is_zero(v->job, ways[1])) return;
    const job_use *in = job_view_use_of(v->job, ways[0]), *out = job_view_use_of(v->job, ways[1]);
    if (v->job->node_count == 1 && fmax(in ? in->peak : 0, out ? out->peak : 0) < WORTH_DRAWING) return;
    for (int way = 0; way < 2; way++) {
        job_column *c = job_view_columns(v, ways[way], JOB_ALL_NODES);
        if (!c) continue;
        p->curves[p->count][n++] =
            job_series_curve_of(v, ways[way], c, 1, way ? "written" : "read", way ? INK_PEER : INK_TEXT, INK_NONE);
    }
    if (!n) return;
    *panel = pages_time_panel(files ? "Files" : "Disks", v->job->node_count > 1 ? "per node" : "", AXES_SI, "B/s",
                              p->curves[p->count], n);
    p->tops[p->count++] = NAN;
}

// ---- what ran meanwhile: whose regions, from when to when ----

static size_t job_series_make_boxes(const job_view *v, axes_span *boxes, const char **below)
{
    const job_report *job = v->job;
    size_t rank = JOB_NONE;
    for (size_t i = 0; i < job->rank_count; i++)
        if (rank == JOB_NONE ||
            job->regions.ranks[job->ranks[i].rank].number < job->regions.ranks[job->ranks[rank].rank].number)
            rank = i;
    if (rank == JOB_NONE) return 0;
    buffer b = {0};
    size_t named = 0, others = 0;
    for (size_t i = 0; i < job->regions.node_count; i++) {
        const regions_node *n = &job->regions.nodes[i];
        const regions_cell *cell = n->depth <= 1 ? regions_cell_of(n, job->ranks[rank].rank) : NULL;
        if (!cell) continue;
        if (named >= 4) {
            others++;
            continue;
        }
        buffer_printf(&b, "%s%.*s", named++ ? ", " : "", utf8_within(n->name, 40), n->name);
        if (cell->sums.calls > 1) buffer_printf(&b, " \xc3\x97 %s", number_grouped(cell->sums.calls).text);
    }
    if (others) buffer_printf(&b, " + %zu more", others);
    *below = arena_format(v->memory, "rank %s", job->regions.ranks[job->ranks[rank].rank].label);
    boxes[0] = (axes_span){job->ranks[rank].from_s, job->ranks[rank].to_s, arena_text(v->memory, b.data ? b.data : ""),
                           INK_NONE};
    buffer_free(&b);
    return 1;
}

// ---- title ----

// "Network and GPUs fell together", by the worst incident in which more than one thing fell.
static const char *job_series_series_title(const job_view *v, const job_finding **when)
{
    static const char *const plain = "All on one time axis";
    for (size_t i = 0; i < v->job->finding_count; i++) {
        const job_finding *f = &v->job->findings[i];
        const struct {
            const char *what;
            double ratio;
        } parts[] = {
            {"network", f->sent_ratio}, {"GPUs", f->gpu_ratio}, {"CPUs", f->cpu_ratio}, {"power", f->power_ratio}};
        const char *fell[4];
        size_t n = 0;
        if (!f->incident || f->severity < SEVERITY_WARN) continue;
        for (size_t k = 0; k < 4; k++)
            if (parts[k].ratio < .9) fell[n++] = parts[k].what;
        if (n < 2) continue;
        const char *list = fell[0];
        for (size_t k = 1; k < n; k++)
            list = arena_format(v->memory, "%s%s%s", list, k + 1 == n ? " and " : ", ", fell[k]);
        const char *capital =
            arena_format(v->memory, "%c%s", list[0] >= 'a' && list[0] <= 'z' ? list[0] - 32 : list[0], list + 1);
        *when = f;
        return arena_format(v->memory, "%s fell together", capital);
    }
    return plain;
}

static void job_series_add_panels(job_view *v, document *doc, const char *title, const char *question)
{
    panels p = {.count = 0};
    axes_span boxes[2];
    const char *below = "";
    static const job_meter shown[] = {JOB_SENT,         JOB_RECEIVED, JOB_FILES_READ, JOB_FILES_WRITTEN, JOB_DISK_READ,
                                      JOB_DISK_WRITTEN, JOB_GPU_BUSY, JOB_CPU,        JOB_POWER};
    job_series_add_regions(v, &p);
    bool measured = p.count > 0;
    job_series_add_panel(v, &p, JOB_SENT, false);
    job_series_add_panel(v, &p, JOB_RECEIVED, false);
    job_series_add_files(v, &p);
    job_series_add_panel(v, &p, JOB_GPU_BUSY, false);
    job_series_add_panel(v, &p, job_view_has(v->job, JOB_CPU) ? JOB_CPU : JOB_NODE_CPU, true);
    job_series_add_panel(v, &p, job_view_has(v->job, JOB_MEMORY) ? JOB_MEMORY : JOB_NODE_MEMORY, false);
    job_series_add_panel(v, &p, JOB_POWER, false);
    if (!p.count) {
        job_view_say_zero(v, doc, shown, sizeof shown / sizeof *shown);
        document_note(doc, "Nothing that changes with time was recorded.");
        return;
    }
    lines_style style = job_view_lines(v);
    style.panel_height = p.count > 5 ? 52 : 62;
    style.boxes = boxes;
    style.boxes_label = "Regions";
    style.tops = p.tops;
    style.marks = p.marks;
    style.mark_count = p.mark_count;
    style.wash = true;
    if (!measured) style.box_count = job_series_make_boxes(v, boxes, &below);
    style.boxes_below = below;
    document_add(doc, chart_lines((chart_head){"time-lines", title, question}, &style, p.items, p.count));
    job_view_say_zero(v, doc, shown, sizeof shown / sizeof *shown);
}

// ---- energy ----

static void job_series_add_shares(const job_view *v, document *doc)
{
    static const char *const parts[JOB_PARTS] = {"CPU", "memory", "GPU", "rest of the nodes"};
    static const theme_ink inks[JOB_PARTS] = {INK_PART + 1, INK_PART + 2, INK_PART, INK_PART + 3};
    static const job_part order[JOB_PARTS] = {JOB_PART_GPU, JOB_PART_CPU, JOB_PART_DRAM, JOB_PART_REST};
    const job_energy *e = &v->job->energy;
    share_segment of_parts[JOB_PARTS], of_phases[SHOWN_PHASES + 1];
    size_t parts_count = 0, phases = 0;
    double named = 0;
    for (size_t i = 0; i < JOB_PARTS; i++) {
        double j = e->part_j[order[i]];
        if (j > 0)
            of_parts[parts_count++] = (share_segment){
                parts[order[i]], arena_text(v->memory, job_view_energy_number(j).text), j, inks[order[i]]};
    }
    for (size_t i = 0; i < v->job->phase_count && phases < SHOWN_PHASES; i++) {
        const job_phase *p = &v->job->phases[i];
        if (p->finding != JOB_NONE || !(p->energy_j > 0)) continue;
        of_phases[phases++] = (share_segment){p->name, arena_text(v->memory, job_view_energy_number(p->energy_j).text),
                                              p->energy_j, job_view_phase_ink(v, i)};
        named += p->energy_j;
    }
    if (phases && e->total_j - named > .001 * e->total_j)
        of_phases[phases++] =
            (share_segment){"in no phase", arena_text(v->memory, job_view_energy_number(e->total_j - named).text),
                            e->total_j - named, INK_EMPTY};
    const char *total =
        arena_format(v->memory, "%s%s", e->lower_bound ? "\xe2\x89\xa5 " : "", job_view_energy_number(e->total_j).text);
    share_row rows[2] = {{"by part", total, of_parts, parts_count}, {"by phase", total, of_phases, phases}};
    const char *question = arena_format(v->memory, "where did the energy go? %s", e->how ? e->how : "");
    document_add(doc, chart_shares((chart_head){"energy", "Energy to solution", question}, rows, phases ? 2 : 1));
}

// ---- the table of phases ----

typedef struct phase_column {
    job_meter meter;
    const char *head;
    bool as_share; // of the capacity
} phase_column;

static const phase_column phase_columns[] = {{JOB_SENT, "sent", false},
                                             {JOB_RECEIVED, "received", false},
                                             {JOB_DISK_READ, "disk read", false},
                                             {JOB_DISK_WRITTEN, "disk written", false},
                                             {JOB_CPU, "CPU", true},
                                             {JOB_GPU_BUSY, "GPU", false},
                                             {JOB_MEMORY, "memory", false},
                                             {JOB_POWER, "power", false}};
enum { PHASE_COLUMNS = sizeof phase_columns / sizeof *phase_columns };

static const char *job_series_phase_cell(const job_view *v, const phase_column *c, double mean)
{
    const job_use *u = job_view_use_of(v->job, c->meter);
    if (c->as_share && u && u->capacity > 0) return arena_text(v->memory, number_percent(mean / u->capacity).text);
    return arena_text(v->memory, job_view_text(c->meter, mean).text);
}

static const char *job_series_phase_name(const job_view *v, const job_phase *p)
{
    return p->finding == JOB_NONE && p->count > 1 ? arena_format(v->memory, "%s \xc3\x97 %zu", p->name, p->count)
                                                  : p->name;
}

static void job_series_add_phases(const job_view *v, document *doc)
{
    const job_report *job = v->job;
    table_column columns[PHASE_COLUMNS + 3];
    size_t n = 0, shown = job->phase_count < SHOWN_PHASES ? job->phase_count : SHOWN_PHASES;
    bool energy = job->energy.total_j > 0, has[PHASE_COLUMNS];
    columns[n++] = (table_column){"means per node", TABLE_TEXT, 1};
    columns[n++] = (table_column){"time", TABLE_NUMBER, 0};
    for (size_t k = 0; k < PHASE_COLUMNS; k++) {
        has[k] = job_view_has(job, phase_columns[k].meter);
        if (has[k]) columns[n++] = (table_column){phase_columns[k].head, TABLE_NUMBER, 0};
    }
    if (energy) columns[n++] = (table_column){"energy, all nodes", TABLE_NUMBER, 0};
    sheet t = sheet_open(n);
    for (size_t i = 0; i <= shown; i++) {
        const job_phase *p = i < shown ? &job->phases[i] : NULL;
        sheet_text(&t, p ? job_series_phase_name(v, p) : "whole job");
        sheet_number(&t, number_duration(p ? p->time_s : job->end_s));
        for (size_t k = 0; k < PHASE_COLUMNS; k++) {
            const job_use *u = job_view_use_of(job, phase_columns[k].meter);
            if (has[k])
                sheet_text(&t, job_series_phase_cell(v, &phase_columns[k],
                                                     p ? p->meters[phase_columns[k].meter].mean : u->mean));
        }
        if (energy) sheet_number(&t, job_view_energy_number(p ? p->energy_j : job->energy.total_j));
    }
    const char *question = shown < job->phase_count
                               ? arena_format(v->memory, "the first %zu of %zu", shown, job->phase_count)
                           : shown ? "what each phase did; an incident has a row of its own, and is in its phase, too"
                                   : "no phases were given";
    sheet_end(&t, doc, (chart_head){"phases", "Phase by phase", question}, columns);
}

static void job_series_add_energy(const job_view *v, document *doc)
{
    const job_energy *e = &v->job->energy;
    if (e->total_j > 0) job_series_add_shares(v, doc);
    job_series_add_phases(v, doc);
    if (!(e->total_j > 0))
        document_note(doc, arena_format(v->memory, "Energy: %s.", job_view_why_not(v->job, JOB_POWER)));
}

void job_series_page(job_view *v, document *doc)
{
    const job_finding *when = NULL;
    const char *about =
        v->job->node_count > 1
            ? arena_format(v->memory, "line = mean of %zu nodes, band = lowest to highest node", v->job->node_count)
            : "line = mean, band = lowest to highest sample";
    document_part(doc, job_series_series_title(v, &when));
    if (when)
        document_subline(doc,
                         arena_format(v->memory, "From %s to %s. One time axis for all; %s; %s.",
                                      words_moment(when->from_s, v->job->end_s).text,
                                      words_moment(when->to_s, v->job->end_s).text, about, job_view_column_words(v)));
    else
        document_subline(doc,
                         arena_format(v->memory, "One time axis for all; %s; %s.", about, job_view_column_words(v)));
    job_series_add_panels(v, doc, "", "");
    job_series_add_energy(v, doc);
}

void job_series_energy(job_view *v, document *doc)
{
    if (v->job->energy.total_j > 0 || v->job->phase_count) job_series_add_energy(v, doc);
}
