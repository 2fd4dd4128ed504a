// The page of one node, which a run with --report ends in: what moved, part by part of the program and on one axis with
// what the CPUs did for it; how fast and how even each region was; what was not judged; what to do next.
#include "pages_job_regions.h"
#include "analysis/base/utf8.h"
#include "analysis/base/memory.h"
#include "analysis/base/text.h"
#include "analysis/base/words.h"
#include "render/chart/first/charts_first.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PANELS = 12, CURVES = 4, PARTS = 12, NIC_PANELS = 3, ENOUGH = 5, MARKS = 3 * PARTS };
static const double WORTH_DRAWING = 1e6; // bytes/s of files, and bytes: what a program loads at its start is no panel

// ---- parts: which region, if one has most of the threads' time ----

typedef struct first_parts {
    axes_span items[PARTS];
    size_t count;
} first_parts;

static size_t job_first_main_region(const job_view *v, double from, double to)
{
    for (size_t i = 0; i < v->job->region_time_count; i++)
        if (!v->job->region_times[i].others && job_region_share(v->job, i, JOB_ALL_NODES, from, to) > .5) return i;
    return JOB_NONE;
}

// Nothing where regions come and go faster than samples: these are drawn as shares of the time.
static first_parts job_first_find_parts(const job_view *v)
{
    first_parts p = {.count = 0};
    size_t last = JOB_NONE;
    double covered = 0;
    if (!job_region_ranks(v->job, JOB_ALL_NODES)) return p;
    for (size_t i = 0; i < v->time.columns; i++) {
        double from = v->column_s * (double)i, to = from + v->column_s;
        size_t region = job_first_main_region(v, from, to);
        if (region != JOB_NONE) covered += v->column_s;
        if (region != JOB_NONE && region == last) {
            p.items[p.count - 1].to = to;
        } else if (region != JOB_NONE) {
            if (p.count == PARTS) return (first_parts){.count = 0};
            p.items[p.count] = (axes_span){from, to, v->job->region_times[region].name,
                                           (theme_ink)(INK_PHASE + (p.count % 2 ? 0 : 2))};
            p.count++;
        }
        last = region;
    }
    return covered > .6 * v->job->end_s ? p : (first_parts){.count = 0};
}

// ---- panels ----

typedef struct first_panels {
    lines_panel items[PANELS];
    lines_curve curves[PANELS][REGION_CURVES];
    double tops[PANELS], weights[PANELS]; // what moved, and by which CPUs, is looked at first
    lines_mark marks[MARKS];
    size_t count, mark_count;
    const first_parts *parts;
} first_panels;

static const double *job_first_zeros(const job_view *v)
{
    return arena_make(v->memory, job_view_point_count(v), sizeof(double));
}

static double *job_first_points(const job_view *v, const job_lane *lane)
{
    return lane ? job_view_points(v, job_view_columns_of_lane(v, lane), JOB_MEAN, 1) : NULL;
}

static lines_panel *job_first_new_panel(first_panels *p)
{
    if (p->count == PANELS) return NULL;
    p->tops[p->count] = NAN;
    p->weights[p->count] = 1;
    return &p->items[p->count++];
}

static double job_first_most(const job_view *v, const double *y)
{
    double most = 0;
    for (size_t i = 0; y && i < job_view_point_count(v); i++)
        most = fmax(most, isnan(y[i]) ? 0 : y[i]);
    return most;
}

static double job_first_amount(const job_view *v, const job_lane *lane)
{
    return lane && lane->mean > 0 ? lane->mean * v->job->end_s : 0;
}

// The mean of a lane in each part, in words, at its place, where they fit into the part.
static void job_first_mark_parts(const job_view *v, first_panels *p, const job_lane *lane, job_meter meter,
                                 theme_ink ink)
{
    static const double character = .0098; // its share of the axis, at most
    for (size_t i = 0; i < p->parts->count && p->mark_count < MARKS; i++) {
        const axes_span *part = &p->parts->items[i];
        job_column c;
        job_lane_columns(v->job, lane, part->from, part->to, &c, 1);
        if (isnan(c.mean)) continue;
        const char *text = arena_text(v->memory, job_view_text(meter, c.mean).text);
        if ((double)strlen(text) * character * v->job->end_s > part->to - part->from) continue;
        p->marks[p->mark_count++] = (lines_mark){p->count - 1, (part->from + part->to) / 2, c.mean, text, ink};
    }
}

static bool job_first_is_alike(const job_lane *a, const job_lane *b)
{
    return a && b && fabs(a->total - b->total) <= .01 * fmax(a->total, b->total);
}

static double job_first_moved(const job_device *d, bool *is_virtual)
{
    double most = 0;
    *is_virtual = false;
    for (int i = 0; i < 4; i++) {
        static const job_meter meters[] = {JOB_SENT, JOB_RECEIVED, JOB_VIRTUAL_SENT, JOB_VIRTUAL_RECEIVED};
        const job_lane *lane = d->lanes[meters[i]];
        if (!lane || !(lane->total > most)) continue;
        most = lane->total;
        *is_virtual = i > 1;
    }
    return most;
}

static void job_first_add_nic(const job_view *v, first_panels *p, const job_device *d, bool is_virtual)
{
    job_meter in = is_virtual ? JOB_VIRTUAL_RECEIVED : JOB_RECEIVED, out = is_virtual ? JOB_VIRTUAL_SENT : JOB_SENT;
    const job_lane *received = d->lanes[in], *sent = d->lanes[out];
    lines_panel *panel = job_first_new_panel(p);
    if (!panel) return;
    lines_curve *curves = p->curves[p->count - 1];
    bool once = job_first_is_alike(received, sent);
    size_t n = 0;
    if (received)
        curves[n++] = (lines_curve){.label = once ? "" : "received",
                                    .ink = INK_RECEIVED,
                                    .pale = INK_RECEIVED_PALE,
                                    .y = job_first_points(v, received),
                                    .low = job_first_zeros(v),
                                    .high = job_first_points(v, received)};
    if (sent && !once)
        curves[n++] =
            (lines_curve){.label = "sent", .ink = INK_SENT_TEXT, .pale = INK_NONE, .y = job_first_points(v, sent)};
    const char *rate =
        d->line_rate > 0 ? arena_format(v->memory, "; line rate %s", number_prefixed(d->line_rate, "B/s").text) : "";
    const char *place = strcmp(d->label, "lo") == 0 ? "; memory, not a network" : is_virtual ? "; virtual" : rate;
    *panel = pages_time_panel(arena_format(v->memory, "%.*s", utf8_within(d->label, 40), d->label),
                              arena_format(v->memory, "%s%s", once ? "sent = received" : "",
                                           once     ? place
                                           : *place ? place + 2
                                                    : ""),
                              AXES_SI, "B/s", curves, n);
    if (p->count == 1) p->weights[0] = 1.3;
    if (once || !sent || !received)
        job_first_mark_parts(v, p, received ? received : sent, received ? in : out,
                             received ? INK_RECEIVED_TEXT : INK_SENT_TEXT);
}

static int job_first_by_bytes(const void *a, const void *b)
{
    const job_device *x = *(const job_device *const *)a, *y = *(const job_device *const *)b;
    bool is_virtual;
    double p = job_first_moved(x, &is_virtual), q = job_first_moved(y, &is_virtual);
    return p != q ? (p < q ? 1 : -1) : (x > y) - (x < y);
}

// Devices that moved something worth a picture beside the busiest one; the others are named below.
static size_t job_first_choose_nics(const job_view *v, const job_device **list, const char **idle)
{
    const job_report *job = v->job;
    bool is_virtual;
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < job->device_count; i++)
        if (job_first_moved(&job->devices[i], &is_virtual) > 0) list[n++] = &job->devices[i];
    qsort(list, n, sizeof *list, job_first_by_bytes);
    double most = n ? job_first_moved(list[0], &is_virtual) : 0;
    for (size_t i = 0; i < n; i++)
        if (job_first_moved(list[i], &is_virtual) >= fmax(1e-6 * most, 1000)) list[kept++] = list[i];
    *idle = n > kept ? arena_format(v->memory, "%s%s moved next to nothing", list[kept]->label,
                                    n - kept > 1 ? arena_format(v->memory, " and %zu more", n - kept - 1) : "")
                     : "";
    return kept;
}

static bool job_first_add_nics(const job_view *v, first_panels *p, const char **idle)
{
    const job_device **list = arena_make(v->memory, v->job->device_count + 1, sizeof *list);
    size_t n = job_first_choose_nics(v, list, idle);
    bool is_virtual;
    for (size_t i = 0; i < n && n <= NIC_PANELS; i++) {
        job_first_moved(list[i], &is_virtual);
        job_first_add_nic(v, p, list[i], is_virtual);
    }
    return n <= NIC_PANELS;
}

// The job's own code and the kernel's part upon it, below the line of the whole machine; CPUs, not shares.
static void job_first_add_cpu(const job_view *v, first_panels *p)
{
    const job_node *node = &v->job->nodes[0];
    const job_lane *job = node->lanes[JOB_CPU], *kernel = node->lanes[JOB_KERNEL], *all = node->lanes[JOB_NODE_CPU];
    lines_panel *panel = job || all ? job_first_new_panel(p) : NULL;
    if (!panel) return;
    lines_curve *curves = p->curves[p->count - 1];
    size_t n = 0, count = job_view_point_count(v);
    double cpus = (job ? job : all)->capacity;
    double *machine = job_first_points(v, all), *both = job_first_points(v, job), *part = job_first_points(v, kernel);
    for (size_t i = 0; machine && cpus > 0 && i < count; i++) // ticks come late: no more than there are
        machine[i] = fmin(machine[i], isnan(machine[i]) ? NAN : cpus);
    if (both && part) {
        double *own = arena_make(v->memory, count, sizeof *own);
        for (size_t i = 0; i < count; i++)
            own[i] = fmax(both[i] - part[i], isnan(both[i]) || isnan(part[i]) ? NAN : 0);
        for (size_t i = 0; i < count; i++)
            if (isnan(both[i]) || isnan(part[i])) own[i] = NAN;
        curves[n++] = (lines_curve){.label = "its own code",
                                    .ink = INK_PART,
                                    .pale = INK_PART,
                                    .y = own,
                                    .low = job_first_zeros(v),
                                    .high = own,
                                    .area = true};
        curves[n++] = (lines_curve){.label = "in the kernel for it",
                                    .ink = INK_PART + 2,
                                    .pale = INK_PART + 2,
                                    .y = part,
                                    .low = own,
                                    .high = both,
                                    .area = true};
    } else if (both) {
        curves[n++] = (lines_curve){.label = "the job", .ink = INK_SECONDARY, .pale = INK_NONE, .y = both};
    }
    if (machine) curves[n++] = (lines_curve){.label = "whole machine", .ink = INK_TEXT, .pale = INK_NONE, .y = machine};
    *panel = pages_time_panel(
        "CPU", cpus > 0 ? arena_format(v->memory, "CPUs busy, of %s", number_plain(cpus).text) : "CPUs busy", AXES_SI,
        "", curves, n);
    p->weights[p->count - 1] = 1.2;
    double most = fmax(job_first_most(v, machine), job_first_most(v, both));
    p->tops[p->count - 1] = cpus > 0 && most > .2 * cpus && most < 1.1 * cpus ? cpus : NAN;
}

// One meter of the node as a line in a field below it.
static void job_first_add_meter(const job_view *v, first_panels *p, job_meter meter, const char *title,
                                const char *below, theme_ink ink, theme_ink pale)
{
    const job_lane *lane = v->job->nodes[0].lanes[meter];
    lines_panel *panel = lane && lane->high > 0 ? job_first_new_panel(p) : NULL;
    if (!panel) return;
    double *y = job_first_points(v, lane);
    p->curves[p->count - 1][0] =
        (lines_curve){.label = "", .ink = ink, .pale = pale, .y = y, .low = job_first_zeros(v), .high = y};
    *panel =
        pages_time_panel(title, below, job_view_format(meter), job_view_axis_unit(meter), p->curves[p->count - 1], 1);
    p->weights[p->count - 1] = .65;
    bool bounded = meter == JOB_MEMORY || meter == JOB_NODE_MEMORY;
    double top = bounded ? lane->capacity : !*job_meter_of(meter)->unit ? 1 : NAN;
    if (top > 0 && lane->high >= .2 * top && lane->high <= 1.1 * top) p->tops[p->count - 1] = top;
}

static void job_first_add_files(const job_view *v, first_panels *p)
{
    static const job_meter ways[2][2] = {{JOB_FILES_READ, JOB_FILES_WRITTEN}, {JOB_DISK_READ, JOB_DISK_WRITTEN}};
    const job_node *node = &v->job->nodes[0];
    for (int kind = 0; kind < 2; kind++) {
        const job_lane *in = node->lanes[ways[kind][0]], *out = node->lanes[ways[kind][1]];
        double *read = job_first_points(v, in), *written = job_first_points(v, out);
        if (fmax(job_first_most(v, read), job_first_most(v, written)) < WORTH_DRAWING) continue;
        if (fmax(job_first_amount(v, in), job_first_amount(v, out)) < WORTH_DRAWING) continue;
        lines_panel *panel = job_first_new_panel(p);
        if (!panel) return;
        lines_curve *curves = p->curves[p->count - 1];
        size_t n = 0;
        if (in) curves[n++] = (lines_curve){.label = "read", .ink = INK_TEXT, .y = read};
        if (out) curves[n++] = (lines_curve){.label = "written", .ink = INK_PEER, .y = written};
        *panel = pages_time_panel(kind ? "Disks" : "Files", kind ? "" : "read() and write(), sockets too", AXES_SI,
                                  "B/s", curves, n);
        return;
    }
}

static void job_first_add_shares(const job_view *v, first_panels *p)
{
    size_t ranks = job_region_ranks(v->job, JOB_ALL_NODES);
    lines_panel *panel = ranks && v->job->region_time_count && !p->parts->count ? job_first_new_panel(p) : NULL;
    if (!panel) return;
    lines_curve *curves = p->curves[p->count - 1];
    *panel = pages_time_panel(
        "Regions",
        arena_format(v->memory, "own time, %s; empty: in no region", words_many(ranks, "process|processes").text),
        AXES_PERCENT, "", curves, region_curves(v, JOB_ALL_NODES, curves));
    p->tops[p->count - 1] = 1;
}

static bool job_first_waits(const job_node *node)
{
    return node->lanes[JOB_CPU_PRESSURE] && node->lanes[JOB_CPU_PRESSURE]->mean > .05;
}

static void job_first_add_other_meters(const job_view *v, first_panels *p)
{
    const job_node *node = &v->job->nodes[0];
    const job_lane *memory = node->lanes[JOB_MEMORY] ? node->lanes[JOB_MEMORY] : node->lanes[JOB_NODE_MEMORY];
    theme_ink system = INK_CATEGORY + 6, pale = INK_CATEGORY_PALE + 6;
    job_first_add_meter(v, p, JOB_GPU_BUSY, "GPU busy", "", INK_CATEGORY + 2, INK_CATEGORY_PALE + 2);
    job_first_add_files(v, p);
    bool large = memory && memory->high > .05 * memory->capacity;
    if (large)
        job_first_add_meter(v, p, memory->meter, "Memory",
                            arena_format(v->memory, "of %s", number_binary(memory->capacity).text), system, pale);
    job_first_add_meter(v, p, JOB_SWITCHES, "Context switches", "whole machine", system, pale);
    if (job_first_waits(node))
        job_first_add_meter(v, p, JOB_CPU_PRESSURE, "Waiting for a CPU", "whole machine", system, pale);
    job_first_add_meter(v, p, JOB_POWER, "Power", "", INK_CATEGORY + 5, INK_CATEGORY_PALE + 5);
    if (p->count + job_first_waits(node) < ENOUGH && node->lanes[JOB_SOFTIRQ] && node->lanes[JOB_SOFTIRQ]->mean > .001)
        job_first_add_meter(v, p, JOB_SOFTIRQ, "Softirq", "CPUs: packets, timers", system, pale);
}

bool job_first_over_time(const job_view *v, document *doc)
{
    first_panels *p = arena_make(v->memory, 1, sizeof *p);
    first_parts parts = job_first_find_parts(v);
    const char *idle = "";
    p->parts = &parts;
    job_first_add_shares(v, p);
    bool drawn = job_first_add_nics(v, p, &idle);
    job_first_add_cpu(v, p);
    job_first_add_other_meters(v, p);
    if (!p->count) {
        document_note(doc, "Nothing that changes with time was recorded.");
        return drawn;
    }
    lines_style style = job_view_lines(v);
    style.panel_height = p->count > 5 ? 56 : p->count > 3 ? 64 : p->count > 2 ? 90 : 130;
    style.tops = p->tops;
    style.weights = p->weights;
    style.marks = p->marks;
    style.mark_count = p->mark_count;
    style.wash = style.fill = true;
    if (parts.count && !style.phase_count) {
        style.phases = parts.items;
        style.phase_count = parts.count;
        style.phases_label = "Regions";
    } else if (parts.count) {
        style.boxes = parts.items;
        style.box_count = parts.count;
        style.boxes_label = "Regions";
    }
    const char *question = arena_format(v->memory, "%s one time axis, %s",
                                        parts.count ? "which part of the program did what?"
                                                    : "what did the program do, and the machine with it?",
                                        job_view_column_words(v));
    if (*idle) question = arena_format(v->memory, "%s; %s", question, idle);
    document_add(doc, chart_lines((chart_head){"time-lines", "Over time", question}, &style, p->items, p->count));
    return drawn;
}

// ---- regions: how fast, how even ----

enum { SHOWN = 7, BINS = 72, FEW_CALLS = 100 };

typedef struct first_region {
    const regions_node *node;
    uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS];
    bool counted;    // enough calls to speak of how even they were
    size_t from, to; // buckets with all but half a hundredth at either end
} first_region;

static int job_first_by_own_time(const void *a, const void *b)
{
    const regions_node *x = *(const regions_node *const *)a, *y = *(const regions_node *const *)b;
    if (x->sums.exclusive_ns != y->sums.exclusive_ns) return x->sums.exclusive_ns < y->sums.exclusive_ns ? 1 : -1;
    return (x > y) - (x < y);
}

static void job_first_count_calls(first_region *x)
{
    uint64_t all = 0, sum = 0;
    bool any = regions_histogram(x->node, x->buckets);
    for (size_t i = 0; i < NETPROF_HISTOGRAM_BUCKETS; i++)
        all += x->buckets[i];
    x->counted = any && all >= FEW_CALLS;
    x->from = NETPROF_HISTOGRAM_BUCKETS;
    for (size_t i = 0; i < NETPROF_HISTOGRAM_BUCKETS; i++) {
        uint64_t before = sum;
        sum += x->buckets[i];
        if (x->from == NETPROF_HISTOGRAM_BUCKETS && sum * 200 >= all) x->from = i;
        if (before * 200 < all * 199) x->to = i + 1;
    }
}

static double job_first_floor_s(size_t bucket)
{
    return fmax((double)netprof_histogram_floor_ns((unsigned)bucket), .5) * 1e-9;
}

// Few and equal steps of the histograms' own buckets, over all rows.
static size_t job_first_bins(const first_region *rows, size_t count, size_t *from, size_t *step, double *edges)
{
    size_t low = NETPROF_HISTOGRAM_BUCKETS, high = 0, bins = 0;
    for (size_t i = 0; i < count; i++) {
        if (!rows[i].counted) continue;
        if (rows[i].from < low) low = rows[i].from;
        if (rows[i].to > high) high = rows[i].to;
    }
    if (low >= high) return 0;
    *step = 1 + (high - low - 1) / BINS;
    *from = low;
    for (size_t at = low; at < high && bins < BINS; at += *step)
        edges[bins++] = job_first_floor_s(at);
    size_t end = low + bins * *step;
    edges[bins] = end < NETPROF_HISTOGRAM_BUCKETS ? job_first_floor_s(end) : 2 * edges[bins - 1];
    return bins;
}

static double job_first_quantile_s(const first_region *x, double q)
{
    const regions_calls *c = &x->node->sums;
    regions_quantile of = regions_quantile_of(x->buckets, q, c->min_ns, c->max_ns);
    return ((double)of.low_ns + (double)of.high_ns) / 2 * 1e-9;
}

static calls_row job_first_make_row(const job_view *v, const first_region *x, size_t from, size_t step, size_t bins)
{
    const regions_calls *c = &x->node->sums;
    double *counts = arena_make(v->memory, bins + 1, sizeof *counts);
    for (size_t i = 0; i < bins; i++)
        for (size_t k = from + i * step; k < from + (i + 1) * step && k < NETPROF_HISTOGRAM_BUCKETS; k++)
            counts[i] += (double)x->buckets[k];
    return (calls_row){.name = x->node->name,
                       .calls = arena_text(v->memory, number_grouped(c->calls).text),
                       .time = arena_text(v->memory, number_duration((double)c->exclusive_ns * 1e-9).text),
                       .share = arena_text(v->memory, job_view_percent(x->node->own_run_share).text),
                       .bytes = c->bytes ? arena_text(v->memory, number_prefixed((double)c->bytes, "B").text) : "",
                       .rate = c->bytes && c->inclusive_ns ? (double)c->bytes / ((double)c->inclusive_ns * 1e-9) : NAN,
                       .counts = x->counted ? counts : NULL,
                       .middle_s = x->counted ? job_first_quantile_s(x, .5) : NAN,
                       .p99_s = x->counted ? job_first_quantile_s(x, .99) : NAN};
}

// The regions with the longest own time, in the order of the code.
static size_t job_first_choose_regions(const job_view *v, first_region *rows, size_t *all)
{
    const regions *r = &v->job->regions;
    const regions_node **list = arena_make(v->memory, r->node_count + 1, sizeof *list), *least = NULL;
    size_t n = 0, count = 0;
    for (size_t i = 0; i < r->node_count; i++)
        if (!r->nodes[i].span && r->nodes[i].sums.calls) list[n++] = &r->nodes[i];
    qsort(list, n, sizeof *list, job_first_by_own_time);
    *all = n;
    if (n > SHOWN) least = list[SHOWN - 1];
    for (size_t i = 0; i < r->node_count && count < SHOWN; i++) {
        const regions_node *node = &r->nodes[i];
        if (node->span || !node->sums.calls || (least && job_first_by_own_time(&node, &least) > 0)) continue;
        rows[count].node = node;
        job_first_count_calls(&rows[count++]);
    }
    return count;
}

static void job_first_add_regions(const job_view *v, document *doc)
{
    first_region *found = arena_make(v->memory, SHOWN, sizeof *found);
    calls_row rows[SHOWN];
    double edges[BINS + 2] = {0}, share = 0, bytes = 0;
    const regions *r = &v->job->regions;
    size_t from = 0, step = 1, all = 0, count = job_first_choose_regions(v, found, &all);
    if (!count) return;
    size_t bins = job_first_bins(found, count, &from, &step, edges);
    bool sampled = false, parallel = r->rank_count > 1;
    for (size_t i = 0; i < count; i++) {
        rows[i] = job_first_make_row(v, &found[i], from, step, bins);
        share += found[i].node->own_run_share;
        bytes += (double)found[i].node->sums.bytes;
        sampled |= found[i].node->sampled;
        parallel |= found[i].node->threads > r->rank_count;
    }
    double rest = fmax(1 - share, 0);
    calls_style style = {.edges = edges, .bins = bins};
    if (isfinite(share) && r->lived_ns > 0) {
        style.rest[0] = count < all ? "all else" : "outside of regions";
        style.rest[1] = arena_text(v->memory, number_duration(rest * r->lived_ns * 1e-9).text);
        style.rest[2] = arena_text(v->memory, job_view_percent(rest).text);
        style.sum =
            arena_format(v->memory, "Sum %s, 100%s%%%s%s", number_duration(r->lived_ns * 1e-9).text, NUMBER_SPACE,
                         bytes > 0 ? ", declared " : "", bytes > 0 ? number_prefixed(bytes, "B").text : "");
    }
    const char *question =
        arena_format(v->memory, "how fast was each, and how even? %s%s%s%s",
                     sampled ? "some calls were timed" : "every call was timed", bins ? "; line: p50, dashes: p99" : "",
                     parallel ? "; bandwidth for each thread" : "",
                     count < all ? arena_format(v->memory, "; %zu of %zu, by own time", count, all) : "");
    document_add(doc, chart_calls((chart_head){"region-times", "Regions", question}, &style, rows, count));
}

// ---- what the system did ----

enum { AMOUNTS = 12, EVENTS = 3, ROOM = 30 };

static const char *job_first_of_cpus(const job_view *v, double seconds)
{
    double cpus = v->job->nodes[0].cpus;
    return cpus > 0 && v->job->end_s > 0
               ? arena_format(v->memory, "%s of %s", number_percent(seconds / (cpus * v->job->end_s)).text,
                              words_many((uint64_t)llround(cpus), "CPU").text)
               : "";
}

static size_t job_first_add_cpu_amounts(const job_view *v, amount_row *rows)
{
    const job_node *node = &v->job->nodes[0];
    const job_lane *job = node->lanes[JOB_CPU], *kernel = node->lanes[JOB_KERNEL],
                   *wait = node->lanes[JOB_CPU_PRESSURE], *switches = node->lanes[JOB_SWITCHES],
                   *softirq = node->lanes[JOB_SOFTIRQ];
    size_t n = 0;
    if (job && kernel && kernel->total <= job->total)
        rows[n++] = (amount_row){"CPU time, own + kernel",
                                 arena_format(v->memory, "%s + %s", number_duration(job->total - kernel->total).text,
                                              number_duration(kernel->total).text),
                                 job_first_of_cpus(v, job->total)};
    else if (job && !isnan(job->total))
        rows[n++] = (amount_row){"CPU time", arena_text(v->memory, number_duration(job->total).text),
                                 job_first_of_cpus(v, job->total)};
    if (wait && !job_first_waits(node)) // else it has a panel
        rows[n++] = (amount_row){"Threads waited for a CPU", arena_text(v->memory, number_percent(wait->mean).text),
                                 "of the time, whole machine"};
    if (switches && switches->total > 0)
        rows[n++] =
            (amount_row){"Context switches", arena_text(v->memory, number_volume(switches->total, "").text),
                         arena_format(v->memory, "%s, whole machine", number_prefixed(switches->mean, "/s").text)};
    if (softirq && softirq->total > 0)
        rows[n++] =
            (amount_row){"Softirqs: packets, timers", arena_text(v->memory, number_duration(softirq->total).text),
                         job_first_of_cpus(v, softirq->total)};
    return n;
}

// What counts trouble and moved, in the first words that tell of it.
static size_t job_first_add_event_amounts(const job_view *v, amount_row *rows)
{
    size_t n = 0;
    for (size_t i = 0; i < v->job->event_count && n < EVENTS; i++) {
        const job_event *e = &v->job->events[i];
        if (!(e->sum > 0)) continue;
        size_t words = strcspn(e->title, ":;(");
        // A counter without words tells a reader nothing, and half of them may tell something else.
        if (!words || words > ROOM || strcmp(e->title, e->counter) == 0) continue;
        char *title = memory_format("%.*s", (int)words, e->title);
        text_capital(title);
        rows[n++] = (amount_row){arena_text(v->memory, title), arena_text(v->memory, number_volume(e->sum, "").text),
                                 arena_text(v->memory, strcmp(e->unit, "events") == 0
                                                           ? words_noun((uint64_t)e->sum, "time").text
                                                           : e->unit)};
        free(title);
    }
    return n;
}

static size_t job_first_add_other_amounts(const job_view *v, amount_row *rows)
{
    const job_node *node = &v->job->nodes[0];
    const job_lane *in = node->lanes[JOB_DISK_READ], *out = node->lanes[JOB_DISK_WRITTEN],
                   *memory = node->lanes[JOB_MEMORY];
    size_t n = 0;
    if (memory && node->memory_peak > 0)
        rows[n++] = (amount_row){
            "Memory, most at once",
            arena_format(v->memory, "%s%s", memory->upper_bound ? "\xe2\x89\xa4 " : "",
                         number_binary(node->memory_peak).text),
            memory->capacity > 0 ? arena_format(v->memory, "of %s", number_binary(memory->capacity).text) : ""};
    if (in && out && in->total >= 0 && out->total >= 0)
        rows[n++] = (amount_row){"Disk, read + written",
                                 arena_format(v->memory, "%s + %s", number_prefixed(in->total, "B").text,
                                              number_prefixed(out->total, "B").text),
                                 node->scope[JOB_DISK_READ] == JOB_SCOPE_NODE ? "whole machine" : ""};
    if (v->job->energy.total_j > 0)
        rows[n++] = (amount_row){"Energy",
                                 arena_format(v->memory, "%s%s", v->job->energy.lower_bound ? "\xe2\x89\xa5 " : "",
                                              job_view_energy_number(v->job->energy.total_j).text),
                                 v->job->energy.whole ? "whole machine" : "what has meters"};
    return n;
}

// ---- what was not judged ----

enum { UNJUDGED = 4, UNJUDGED_MOST = 40 }; // shown, and known of

// The counters that tell what a link damaged or repeated.
static bool job_first_watches_link(const job_event *e)
{
    static const char *const patterns[] = {"*crc*", "*symbol*", "*_cw", "*fec*", "*link_error*"};
    if (strcmp(e->source, "netdev") == 0 || !e->known) return false;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (text_like(patterns[i], e->counter)) return true;
    return false;
}

static bool job_first_has_source(const job_report *job, const char *source)
{
    for (size_t i = 0; i < job->device_count; i++)
        if (strcmp(job->devices[i].source, source) == 0) return true;
    return false;
}

// Does anything watch the links of a device's source? What ethtool counts is of network interfaces.
static bool job_first_has_watched_links(const job_report *job, const job_device *d)
{
    bool interface = strcmp(d->source, "netdev") == 0;
    for (size_t i = 0; i < job->event_count; i++) {
        const char *source = job->events[i].source;
        bool own = strcmp(source, d->source) == 0 || (interface && strcmp(source, "ethtool") == 0);
        if (own && job_first_watches_link(&job->events[i])) return true;
    }
    return false;
}

// A port of which only frames are counted: what its link did to them is not known. Where others are watched, one with a
// speed of its own that carried something: not the loopback, no port that is not used.
static const job_device *job_first_unwatched_port(const job_report *job)
{
    bool others = false;
    for (size_t i = 0; i < job->event_count && !others; i++)
        others = job_first_watches_link(&job->events[i]);
    for (size_t i = 0; i < job->device_count; i++) {
        const job_device *d = &job->devices[i];
        if (!d->lanes[JOB_SENT]) continue;
        if (!others) return d;
        if (d->line_rate > 0 && d->lanes[JOB_SENT]->total > 0 && !job_first_has_watched_links(job, d)) return d;
    }
    return NULL;
}

static size_t job_first_add_denied(const job_view *v, unjudged_row *rows)
{
    static const struct {
        job_meter meter;
        const char *title, *help, *perhaps;
        bool many;
    } meters[] = {{JOB_CPU, "CPU time of the program", "", "", false},
                  {JOB_MEMORY, "Memory of the program", "", "", false},
                  {JOB_POWER_CPU, "Energy of the CPUs", "sudo chmod a+r /sys/class/powercap/*/energy_uj", "", false},
                  {JOB_INSTRUCTIONS, "CPU cycles, cache misses", "sudo sysctl kernel.perf_event_paranoid=1",
                   ": many virtual machines have none", true}};
    size_t n = 0;
    for (size_t i = 0; i < sizeof meters / sizeof *meters; i++) {
        job_state state = v->job->nodes[0].state[meters[i].meter];
        if (state == JOB_DENIED || state == JOB_UNREADABLE)
            rows[n++] = (unjudged_row){meters[i].title,
                                       arena_format(v->memory, "%s %s%s.", meters[i].many ? "They" : "It",
                                                    job_view_why_not(v->job, meters[i].meter),
                                                    state == JOB_UNREADABLE ? meters[i].perhaps : ""),
                                       state == JOB_DENIED ? meters[i].help : ""};
    }
    return n;
}

static size_t job_first_find_unjudged(const job_view *v, unjudged_row *rows)
{
    const job_report *job = v->job;
    const job_device *port = job_first_unwatched_port(job);
    size_t n = 0;
    for (size_t i = 0; i < job->finding_count && n < UNJUDGED_MOST - 8; i++)
        if (job->findings[i].severity == SEVERITY_UNKNOWN)
            rows[n++] = (unjudged_row){job->findings[i].title, job->findings[i].claim, ""};
    n += job_first_add_denied(v, rows + n);
    if (port)
        rows[n++] = (unjudged_row){"Errors of the link",
                                   arena_format(v->memory,
                                                "Of %s only frames were counted, not what the link damaged or "
                                                "repeated: virtual ports and many drivers count no more.",
                                                port->label),
                                   ""};
    if (job->nodes[0].state[JOB_INSTRUCTIONS] == JOB_ABSENT)
        rows[n++] = (unjudged_row){"CPU cycles, cache misses", "They were not asked for.",
                                   "netprof run --perf cycles,instructions --report ..."};
    return n;
}

static const char *job_first_absent(const job_view *v)
{
    const struct {
        const char *name;
        bool there;
    } all[] = {{"GPUs", job_first_has_source(v->job, "gpu")},
               {"InfiniBand or RoCE", job_first_has_source(v->job, "rdma")},
               {"Slingshot", job_first_has_source(v->job, "cxi")},
               {"energy", v->job->nodes[0].state[JOB_POWER] != JOB_ABSENT ||
                              v->job->nodes[0].state[JOB_POWER_CPU] != JOB_ABSENT}};
    const char *text = "";
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!all[i].there) text = arena_format(v->memory, "%s%s%s", text, *text ? ", " : "", all[i].name);
    return *text ? arena_format(v->memory, "Not in the recording: %s.", text) : "";
}

// The titles of what has no room, and what is not there at all.
static const char *job_first_left_out(const job_view *v, const unjudged_row *rows, size_t count)
{
    enum { NAMED = 3 };
    const char *absent = job_first_absent(v), *text = "";
    for (size_t i = 0; i < count && i < NAMED; i++)
        text = arena_format(v->memory, "%s%s%s", text, i ? "; " : "Nor judged: ", rows[i].title);
    if (count > NAMED) text = arena_format(v->memory, "%s and %zu more", text, count - NAMED);
    return count ? arena_format(v->memory, "%s. %s", text, absent) : absent;
}

static void job_first_add_system(const job_view *v, document *doc)
{
    amount_row rows[AMOUNTS];
    unjudged_row unjudged[UNJUDGED_MOST];
    size_t n = job_first_add_cpu_amounts(v, rows), open = job_first_find_unjudged(v, unjudged);
    n += job_first_add_event_amounts(v, rows + n);
    n += job_first_add_other_amounts(v, rows + n);
    size_t shown = open > UNJUDGED ? UNJUDGED : open;
    chart right = chart_unjudged((chart_head){"unjudged", "Not judged", "why, and what would help"}, unjudged, open,
                                 shown, "All that could change the verdict was read.",
                                 job_first_left_out(v, unjudged + shown, open - shown));
    if (!n)
        document_add(doc, right);
    else
        document_beside(doc, chart_amounts((chart_head){"amounts", "What the system did", "sum of the run"}, rows, n),
                        right, .56);
}

// ---- together ----

static void job_first_add_next(const job_view *v, document *doc)
{
    bool mpi = v->job->rank_count > 1;
    const next_row own = {"Your own program", "netprof run --report r.pdf -- ./prog"},
                   ranks = {"An MPI job, every call timed", "netprof run --mpi -o d -- mpirun ./prog"},
                   good = {"What differs from a good run?", "netprof report -o why.pdf a -- b"};
    const next_row rows[] = {mpi ? ranks : own, mpi ? own : ranks, good};
    document_add(doc,
                 chart_next((chart_head){"next", "Next", "commands to go on with"}, rows, sizeof rows / sizeof *rows));
}

void job_first_rest(const job_view *v, document *doc)
{
    if (v->job->regions.node_count)
        job_first_add_regions(v, doc);
    else
        job_regions_table(v, doc);
    job_first_add_system(v, doc);
    job_first_add_next(v, doc);
}
