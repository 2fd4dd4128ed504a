// A page for each part of the machine that was recorded: over time, each node and all together, each NIC and GPU.
#include "pages_job_view.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP_METERS = 7, DEVICE_ROWS = 24, TABLE_NODES = 12 };

typedef struct group {
    const char *name, *title, *subline;
    job_meter meters[GROUP_METERS]; // JOB_METERS ends them
    job_meter together[2];          // all nodes together; JOB_METERS: none
    job_meter map;                  // time x node, and time x device
    const char *device_noun;        // "NIC"; NULL: there are no devices
} group;

static const group groups[] = {
    {"cpu",
     "CPU",
     "CPUs busy, and what kept tasks from them.",
     {JOB_CPU, JOB_NODE_CPU, JOB_CPU_PRESSURE, JOB_THROTTLED, JOB_INSTRUCTIONS, JOB_CYCLES, JOB_METERS},
     {JOB_CPU, JOB_NODE_CPU},
     JOB_CPU,
     NULL},
    {"memory",
     "Memory",
     "Memory in use, and how long tasks waited for it.",
     {JOB_MEMORY, JOB_NODE_MEMORY, JOB_MEMORY_PRESSURE, JOB_METERS},
     {JOB_MEMORY, JOB_METERS},
     JOB_MEMORY,
     NULL},
    {"network",
     "Network",
     "Bytes through the ports of each node, each byte once, and what held them up.",
     {JOB_SENT, JOB_RECEIVED, JOB_PAUSED, JOB_RETRIES, JOB_METERS},
     {JOB_SENT, JOB_RECEIVED},
     JOB_RECEIVED,
     "NIC"},
    {"virtual",
     "Virtual devices",
     "Loopback, bridges, veth and the like: in no figure of the network. Of a node the busiest, for the same bytes may "
     "pass several.",
     {JOB_VIRTUAL_SENT, JOB_VIRTUAL_RECEIVED, JOB_METERS},
     {JOB_METERS, JOB_METERS},
     JOB_VIRTUAL_SENT,
     "device"},
    {"io",
     "Input and output",
     "Files and disks, and how long tasks waited for them.",
     {JOB_FILES_READ, JOB_FILES_WRITTEN, JOB_DISK_READ, JOB_DISK_WRITTEN, JOB_IO_WAIT, JOB_IO_PRESSURE, JOB_METERS},
     {JOB_DISK_READ, JOB_DISK_WRITTEN},
     JOB_DISK_WRITTEN,
     NULL},
    {"energy",
     "Energy",
     "Power over time; energy is from cumulative counters, so gaps lose nothing.",
     {JOB_POWER, JOB_POWER_CPU, JOB_POWER_DRAM, JOB_POWER_GPU, JOB_METERS},
     {JOB_POWER, JOB_METERS},
     JOB_POWER,
     NULL},
    {"gpu",
     "GPU",
     "How busy the GPUs were, and what slowed them.",
     {JOB_GPU_BUSY, JOB_GPU_MEMORY, JOB_GPU_CLOCK, JOB_GPU_THROTTLED, JOB_POWER_GPU, JOB_METERS},
     {JOB_METERS, JOB_METERS},
     JOB_GPU_BUSY,
     "GPU"},
};
enum { GROUPS = sizeof groups / sizeof *groups };

static size_t job_meters_known_meters(const job_report *job, const group *g, job_meter *known)
{
    size_t n = 0;
    for (size_t i = 0; g->meters[i] != JOB_METERS; i++) {
        job_meter m = g->meters[i], same = m == JOB_NODE_CPU ? JOB_CPU : m == JOB_NODE_MEMORY ? JOB_MEMORY : JOB_METERS;
        const job_use *u = same == JOB_METERS ? NULL : job_view_use_of(job, same);
        bool repeats = u && u->scope == JOB_SCOPE_NODE; // it is the node's already
        if (job_view_has(job, m) && !repeats) known[n++] = m;
    }
    return n;
}

// The group's own meter for its map, or the first that is known.
static job_meter job_meters_map_meter(const job_report *job, const group *g, const job_meter *known)
{
    return job_view_has(job, g->map) ? g->map : known[0];
}

// ---- over time ----

static const char *job_meters_below_words(const job_view *v, const job_use *u)
{
    const char *scope = job_view_scope_of(u), *unit = job_meter_of(u->meter)->unit;
    const char *limit = *unit && u->capacity > 0
                            ? arena_format(v->memory, "of %s", job_view_text(u->meter, u->capacity).text)
                        : strcmp(unit, "CPUs") == 0 ? "CPUs"
                                                    : "";
    return arena_format(v->memory, "%s%s%s%s%s", v->job->node_count > 1 ? "per node" : "",
                        v->job->node_count > 1 && *limit ? " " : "", limit,
                        *scope && (v->job->node_count > 1 || *limit) ? "; " : "", scope);
}

typedef struct panels {
    lines_panel items[GROUP_METERS + 1];
    lines_curve curves[GROUP_METERS + 1][2];
    double tops[GROUP_METERS + 1];
    size_t count;
} panels;

static void job_meters_add_panel(const job_view *v, panels *p, job_meter meter)
{
    const job_use *u = job_view_use_of(v->job, meter);
    job_column *c = job_view_columns(v, meter, JOB_ALL_NODES);
    lines_curve *curve = p->curves[p->count];
    if (!c || !u || job_view_is_zero(v->job, meter)) return;
    *curve = (lines_curve){.label = "",
                           .ink = job_view_ink(meter, false),
                           .pale = job_view_ink(meter, true),
                           .y = job_view_points(v, c, JOB_MEAN, 1),
                           .low = job_view_points(v, c, JOB_LOW, 1),
                           .high = job_view_points(v, c, JOB_HIGH, 1)};
    if (!curve->y || !curve->low || !curve->high) return;
    double top = *job_meter_of(meter)->unit ? u->capacity : 1;
    p->tops[p->count] = u->peak > .5 * top && u->peak <= top ? top : NAN;
    p->items[p->count++] = pages_time_panel(job_meter_of(meter)->title, job_meters_below_words(v, u),
                                            job_view_format(meter), job_view_axis_unit(meter), curve, 1);
}

// The sum over the nodes, with a gap where one of them has no sample.
static void job_meters_add_together(const job_view *v, panels *p, const group *g)
{
    static const theme_ink inks[2] = {INK_TEXT, INK_PEER};
    size_t n = 0;
    job_meter first = JOB_METERS;
    lines_curve *curves = p->curves[p->count];
    for (size_t i = 0; i < 2 && v->job->node_count > 1; i++) {
        job_meter m = g->together[i];
        job_column *c = m != JOB_METERS && job_view_has(v->job, m) && !job_view_is_zero(v->job, m)
                            ? job_view_columns(v, m, JOB_ALL_NODES)
                            : NULL;
        if (!c) continue;
        bool coloured = m == JOB_SENT || m == JOB_RECEIVED;
        curves[n] = (lines_curve){.label = job_meter_of(m)->title,
                                  .ink = coloured ? job_view_ink(m, false) : inks[n],
                                  .y = job_view_points(v, c, JOB_TOTAL, 1)};
        if (!curves[n++].y) return;
        if (first == JOB_METERS) first = m;
    }
    if (!n) return;
    if (n == 1) curves[0].label = "";
    p->tops[p->count] = NAN;
    p->items[p->count++] = pages_time_panel(
        "All nodes", n > 1 ? "together" : arena_format(v->memory, "together: %s", job_meter_of(first)->title),
        job_view_format(first), job_view_axis_unit(first), curves, n);
}

static void job_meters_add_lines(const job_view *v, document *doc, const group *g, const job_meter *known, size_t count)
{
    panels p = {.count = 0};
    for (size_t i = 0; i < count; i++)
        job_meters_add_panel(v, &p, known[i]);
    job_meters_add_together(v, &p, g);
    if (!p.count) return;
    lines_style style = job_view_lines(v);
    style.panel_height = 50;
    style.wash = true;
    style.tops = p.tops;
    const char *name = arena_format(v->memory, "%s-lines", g->name);
    chart_head head = {name, "Over time", "line = mean of the nodes, band = lowest to highest node"};
    if (v->job->node_count == 1) head = (chart_head){name, "", ""};
    document_add(doc, chart_lines(head, &style, p.items, p.count));
}

// ---- maps ----

static map_style job_meters_map_over(const job_view *v, job_meter meter)
{
    bool harm = meter == JOB_PAUSED || meter == JOB_THROTTLED || meter == JOB_GPU_THROTTLED;
    return (map_style){.columns = v->time.columns,
                       .axis = pages_time_axis(&v->time),
                       .from = 0,
                       .to = v->job->end_s,
                       .ramp = harm ? INK_ORANGE : INK_BLUE,
                       .format = job_view_format(meter),
                       .unit = strcmp(job_meter_of(meter)->unit, "CPUs") == 0 ? "CPUs" : job_view_axis_unit(meter),
                       .label_head = "node",
                       .right_head = "mean",
                       .incidents = v->incidents,
                       .incident_count = v->incident_count,
                       .squeeze = true};
}

static void job_meters_add_node_map(const job_view *v, document *doc, const group *g, job_meter meter)
{
    job_selection shown = job_view_nodes(v, JOB_NODES);
    map_row *rows = arena_make(v->memory, shown.count + 1, sizeof *rows);
    size_t n = 0;
    if (v->job->node_count < 2 || job_view_is_zero(v->job, meter)) return;
    for (size_t i = 0; i < shown.count; i++) {
        const job_node *node = &v->job->nodes[shown.nodes[i]];
        const job_lane *lane = node->lanes[meter];
        rows[n] = (map_row){.label = job_view_node_label(v, &shown, i),
                            .values = job_view_values(v, job_view_columns(v, meter, shown.nodes[i]), JOB_MEAN, 1),
                            .right = arena_text(v->memory, lane ? job_view_text(meter, lane->mean).text
                                                                : job_view_why_node_not(node, meter))};
        if (!rows[n++].values) return;
    }
    map_style style = job_meters_map_over(v, meter);
    const char *title = arena_format(v->memory, "%s, time \xc3\x97 node", job_meter_of(meter)->title);
    const char *question = shown.median != JOB_NONE
                               ? arena_format(v->memory, "%d of %zu nodes that tell most, the median, the plainest",
                                              JOB_TELLING, v->job->node_count)
                               : "is any node unlike the others?";
    if (n)
        document_add(doc, chart_map((chart_head){arena_format(v->memory, "%s-nodes", g->name), title, question}, &style,
                                    rows, n));
}

// ---- tables ----

static const char *job_meters_figure_with_node(const job_view *v, job_meter meter, double value, size_t node)
{
    if (isnan(value)) return NUMBER_UNKNOWN;
    const char *name = node < v->job->node_count && v->job->node_count > 1 ? v->job->nodes[node].name : "";
    return arena_format(v->memory, "%s%s%s", job_view_text(meter, value).text, *name ? "  " : "", name);
}

// With one node there is no lowest and highest node; the heading of its figures is the name of the part.
static void job_meters_add_figures(const job_view *v, document *doc, const group *g, const job_meter *known,
                                   size_t count)
{
    bool many = v->job->node_count > 1;
    table_column columns[7];
    size_t width = 0;
    columns[width++] = (table_column){"", TABLE_TEXT, 1};
    columns[width++] = (table_column){many ? "mean per node" : "mean", TABLE_NUMBER, 0};
    if (many) columns[width++] = (table_column){"lowest node", TABLE_NUMBER, 0};
    if (many) columns[width++] = (table_column){"highest node", TABLE_NUMBER, 0};
    columns[width++] = (table_column){"peak", TABLE_NUMBER, 0};
    columns[width++] = (table_column){"of", TABLE_NUMBER, 0};
    columns[width++] = (table_column){many ? "all nodes, whole job" : "whole job", TABLE_NUMBER, 0};
    sheet t = sheet_open(width);
    for (size_t i = 0; i < count; i++) {
        const job_use *u = job_view_use_of(v->job, known[i]);
        const char *bound = u->lower_bound ? "\xe2\x89\xa5 " : "";
        sheet_text(&t, job_meter_of(known[i])->title);
        sheet_number(&t, job_view_text(known[i], u->mean));
        if (many) sheet_text(&t, job_meters_figure_with_node(v, known[i], u->low, u->low_node));
        if (many) sheet_text(&t, job_meters_figure_with_node(v, known[i], u->high, u->high_node));
        sheet_number(&t, job_view_text(known[i], u->peak));
        sheet_text(&t, *job_meter_of(known[i])->unit && u->capacity > 0
                           ? arena_text(v->memory, job_view_text(known[i], u->capacity).text)
                           : "");
        sheet_text(&t, *job_meter_of(known[i])->total_unit
                           ? arena_format(v->memory, "%s%s", bound, job_view_amount(known[i], u->total).text)
                           : "");
    }
    const chart_head head = {arena_format(v->memory, "%s-figures", g->name), many ? "In numbers" : g->title,
                             many ? "mean over the job; peak: of any sample of any node" : g->subline};
    sheet_end(&t, doc, head, columns);
}

static const char *job_meters_lane_cell(const job_view *v, const job_node *node, const job_lane *lane, job_meter m)
{
    if (!lane) return node->state[m] == JOB_DENIED ? "no rights" : NUMBER_UNKNOWN;
    return arena_text(v->memory, job_view_text(m, lane->mean).text);
}

static const char *job_meters_all_total(const job_view *v, job_meter m)
{
    const job_use *u = job_view_use_of(v->job, m);
    return arena_format(v->memory, "%s%s", u->lower_bound ? "\xe2\x89\xa5 " : "", job_view_amount(m, u->total).text);
}

static const char *job_meters_total_cell(const job_view *v, const job_lane *lane, job_meter m)
{
    return arena_format(v->memory, "%s%s", lane && lane->lower_bound ? "\xe2\x89\xa5 " : "",
                        job_view_amount(m, lane ? lane->total : NAN).text);
}

// Nodes, and which of them are unlike the others in any of the meters.
typedef struct node_rows {
    job_selection shown;
    size_t unlike;  // of them; 0: all are alike
    bool differing; // only those that differ are shown
} node_rows;

static const double NEAR = .05, NEAR_SHARE = .01; // of the median; of shares the difference itself

static double job_meters_median(const job_view *v, job_meter meter)
{
    double *means = arena_make(v->memory, v->job->node_count + 1, sizeof *means);
    size_t n = 0;
    for (size_t i = 0; i < v->job->node_count; i++) {
        const job_lane *lane = v->job->nodes[i].lanes[meter];
        if (lane && !isnan(lane->mean)) means[n++] = lane->mean;
    }
    return job_median(means, n);
}

static bool job_meters_is_unlike(const job_node *node, job_meter meter, double median)
{
    const job_lane *lane = node->lanes[meter];
    if (!lane || isnan(lane->mean)) return !isnan(median);
    double off = fabs(lane->mean - median);
    return off > NEAR * fabs(median) && (*job_meter_of(meter)->unit || off > NEAR_SHARE);
}

// A table of equal rows tells nothing: of many nodes those that differ are enough, if they are few.
static node_rows job_meters_choose_rows(const job_view *v, const job_meter *known, size_t count)
{
    enum { ALL = 3 };
    const job_report *job = v->job;
    node_rows x = {.shown = job_view_nodes(v, TABLE_NODES)};
    size_t *list = arena_make(v->memory, job->node_count + 1, sizeof *list);
    double medians[GROUP_METERS];
    if (job->node_count <= ALL) return (node_rows){x.shown, job->node_count, false};
    for (size_t k = 0; k < count; k++)
        medians[k] = job_meters_median(v, known[k]);
    for (size_t i = 0; i < job->node_count; i++) {
        bool unlike = false;
        for (size_t k = 0; k < count && !unlike; k++)
            unlike = job_meters_is_unlike(&job->nodes[i], known[k], medians[k]);
        if (unlike) list[x.unlike++] = i;
    }
    x.differing = x.unlike && x.unlike <= TABLE_NODES && 2 * x.unlike <= job->node_count;
    if (x.differing) x.shown = (job_selection){list, x.unlike, JOB_NONE, JOB_NONE};
    return x;
}

static const char *job_meters_rows_question(const job_view *v, const node_rows *x)
{
    if (x->differing)
        return arena_format(v->memory, "%s unlike the median by more than 5%s%%; the %zu others are alike",
                            words_many(x->unlike, "node").text, NUMBER_SPACE, v->job->node_count - x->unlike);
    return x->shown.median != JOB_NONE ? "those that tell most, the median, the plainest; all are in the appendix" : "";
}

static void job_meters_add_node_table(const job_view *v, document *doc, const group *g, const job_meter *known,
                                      size_t count)
{
    table_column columns[GROUP_METERS + 2];
    size_t width = 0;
    job_meter main = job_meters_map_meter(v->job, g, known);
    bool total = *job_meter_of(main)->total_unit != 0;
    if (v->job->node_count < 2 || count + total < 2) return; // the map says one mean already
    node_rows chosen = job_meters_choose_rows(v, known, count);
    job_selection shown = chosen.shown;
    if (!chosen.unlike) {
        document_note(doc, arena_format(v->memory,
                                        "Node by node: all %zu nodes are alike; no mean is more than 5%s%% from the "
                                        "median of the nodes (shares of the time: or more than 1%s%% of the time). "
                                        "Each is in the appendix.",
                                        v->job->node_count, NUMBER_SPACE, NUMBER_SPACE));
        return;
    }
    columns[width++] = (table_column){"node, means", TABLE_TEXT, 1};
    for (size_t i = 0; i < count; i++)
        columns[width++] = (table_column){job_meter_of(known[i])->title, TABLE_NUMBER, 0};
    if (total)
        columns[width++] =
            (table_column){arena_format(v->memory, "%s, total", job_meter_of(main)->title), TABLE_NUMBER, 0};
    sheet t = sheet_open(width);
    for (size_t r = 0; r <= shown.count; r++) {
        bool all = r == shown.count;
        const job_node *node = all ? NULL : &v->job->nodes[shown.nodes[r]];
        sheet_text(&t, all ? arena_format(v->memory, total ? "all %zu, per node; total: together" : "all %zu, per node",
                                          v->job->node_count)
                           : job_view_node_label(v, &shown, r));
        for (size_t i = 0; i < count; i++)
            sheet_text(
                &t, all ? arena_text(v->memory, job_view_text(known[i], job_view_use_of(v->job, known[i])->mean).text)
                        : job_meters_lane_cell(v, node, node->lanes[known[i]], known[i]));
        if (total)
            sheet_text(&t, all ? job_meters_all_total(v, main) : job_meters_total_cell(v, node->lanes[main], main));
    }
    sheet_end(&t, doc,
              (chart_head){arena_format(v->memory, "%s-table", g->name), "Node by node",
                           job_meters_rows_question(v, &chosen)},
              columns);
}

// ---- NICs and GPUs ----

typedef struct ranked {
    size_t device;
    double value;
} ranked;

static int job_meters_by_value(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? 1 : -1;
    return (x->device > y->device) - (x->device < y->device);
}

static int job_meters_by_device(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    return (x->device > y->device) - (x->device < y->device);
}

// Devices that have any of the meters; over DEVICE_ROWS of them those with findings and the highest of the main meter.
static ranked *job_meters_choose_devices(const job_view *v, const job_meter *known, size_t count, job_meter main,
                                         size_t *shown, size_t *all)
{
    const job_report *job = v->job;
    ranked *list = arena_make(v->memory, job->device_count + 1, sizeof *list);
    *all = 0;
    for (size_t i = 0; i < job->device_count; i++) {
        const job_device *d = &job->devices[i];
        bool any = false;
        for (size_t k = 0; k < count; k++)
            any |= d->lanes[known[k]] != NULL;
        if (!any) continue;
        const job_lane *lane = d->lanes[main];
        ranked r = {i, lane && !isnan(lane->mean) ? lane->mean : -1};
        for (size_t k = 0; k < job->finding_count; k++)
            if (job->findings[k].device == i && job->findings[k].severity >= SEVERITY_WATCH) r.value = INFINITY;
        list[(*all)++] = r;
    }
    *shown = *all;
    if (*all <= DEVICE_ROWS) return list;
    qsort(list, *all, sizeof *list, job_meters_by_value);
    *shown = DEVICE_ROWS;
    qsort(list, *shown, sizeof *list, job_meters_by_device);
    return list;
}

static const char *job_meters_device_label(const job_view *v, const job_device *d)
{
    return v->job->node_count > 1 ? arena_format(v->memory, "%s %s", v->job->nodes[d->node].name, d->label) : d->label;
}

static void job_meters_add_device_map(const job_view *v, document *doc, const group *g, const ranked *list,
                                      size_t count, job_meter meter)
{
    map_row *rows = arena_make(v->memory, count + 1, sizeof *rows);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        const job_device *d = &v->job->devices[list[i].device];
        const job_lane *lane = d->lanes[meter];
        if (!lane) continue;
        rows[n] = (map_row){.label = job_meters_device_label(v, d),
                            .values = job_view_values(v, job_view_columns_of_lane(v, lane), JOB_MEAN, 1),
                            .right = arena_text(v->memory, job_view_text(meter, lane->mean).text)};
        if (!rows[n++].values) return;
    }
    map_style style = job_meters_map_over(v, meter);
    style.label_head = g->device_noun;
    if (n > 1)
        document_add(doc,
                     chart_map((chart_head){arena_format(v->memory, "%s-devices", g->name),
                                            arena_format(v->memory, "%s, time \xc3\x97 %s", job_meter_of(meter)->title,
                                                         g->device_noun),
                                            arena_format(v->memory, "is any %s unlike the others?", g->device_noun)},
                               &style, rows, n));
}

static void job_meters_add_device_table(const job_view *v, document *doc, const group *g, const job_meter *known,
                                        size_t count, const ranked *list, size_t shown, size_t all)
{
    table_column columns[GROUP_METERS + 3];
    bool is_virtual = g->map == JOB_VIRTUAL_SENT, totals = g->map == JOB_RECEIVED || is_virtual;
    size_t width = 0;
    columns[width++] = (table_column){arena_format(v->memory, "%s, means", g->device_noun), TABLE_TEXT, 1};
    for (size_t i = 0; i < count; i++)
        columns[width++] = (table_column){job_meter_of(known[i])->title, TABLE_NUMBER, 0};
    if (totals)
        columns[width++] = (table_column){"sent", TABLE_NUMBER, 0},
        columns[width++] = (table_column){"received", TABLE_NUMBER, 0};
    sheet t = sheet_open(width);
    for (size_t r = 0; r < shown; r++) {
        const job_device *d = &v->job->devices[list[r].device];
        sheet_text(&t, job_meters_device_label(v, d));
        for (size_t i = 0; i < count; i++) {
            const job_lane *lane = d->lanes[known[i]];
            sheet_number(&t, job_view_text(known[i], lane ? lane->mean : NAN));
        }
        for (int way = 0; way < 2 && totals; way++) {
            const job_lane *lane = d->lanes[is_virtual ? (way ? JOB_VIRTUAL_RECEIVED : JOB_VIRTUAL_SENT)
                                            : way      ? JOB_RECEIVED
                                                       : JOB_SENT];
            sheet_number(&t, job_view_amount(JOB_SENT, lane ? lane->total : NAN));
        }
    }
    const char *question =
        shown < all ? arena_format(v->memory, "%zu of %zu: those with findings and the busiest", shown, all) : "";
    sheet_end(&t, doc,
              (chart_head){arena_format(v->memory, "%s-device-table", g->name),
                           arena_format(v->memory, "%s by %s", is_virtual ? "Device" : g->device_noun, g->device_noun),
                           question},
              columns);
}

static void job_meters_add_devices(const job_view *v, document *doc, const group *g, const job_meter *known,
                                   size_t count)
{
    size_t shown, all, of_devices = 0;
    job_meter meters[GROUP_METERS];
    for (size_t i = 0; i < count; i++)
        if (job_meter_of(known[i])->of_devices) meters[of_devices++] = known[i];
    if (!of_devices) return;
    job_meter main = meters[0];
    ranked *list = job_meters_choose_devices(v, meters, of_devices, main, &shown, &all);
    if (!list || !all) return;
    if (strcmp(g->device_noun, "NIC") == 0 && v->job->node_count > 1) {
        document_part(doc, "Interconnect, NIC by NIC");
        document_subline(doc,
                         arena_format(v->memory, "%s; the same bytes may be in several where one is part of another.",
                                      words_many(all, "NIC").text));
    }
    job_meters_add_device_map(v, doc, g, list, shown, main);
    job_meters_add_device_table(v, doc, g, meters, of_devices, list, shown, all);
}

// ---- together ----

static void job_meters_add_missing(const job_view *v, document *doc, const group *g)
{
    const char *text = "";
    for (size_t i = 0; g->meters[i] != JOB_METERS; i++) {
        job_meter m = g->meters[i];
        if (job_view_has(v->job, m)) continue;
        text = arena_format(v->memory, "%s%s%s (%s)", text, *text ? ", " : "", job_meter_of(m)->title,
                            job_view_why_not(v->job, m));
    }
    if (*text && v->job->node_count > 1) document_note(doc, arena_format(v->memory, "Not known: %s.", text));
}

void job_meter_pages(job_view *v, document *doc)
{
    size_t shown = 0;
    for (size_t i = 0; i < GROUPS; i++) {
        const group *g = &groups[i];
        job_meter known[GROUP_METERS];
        size_t count = job_meters_known_meters(v->job, g, known);
        if (!count || (g->map == JOB_VIRTUAL_SENT && job_view_is_zero(v->job, JOB_VIRTUAL_SENT) &&
                       job_view_is_zero(v->job, JOB_VIRTUAL_RECEIVED)))
            continue; // nothing moved: no need to distinguish it from the network
        if (v->job->node_count > 1) {
            document_part(doc, g->title);
            document_subline(doc, g->subline);
        } else if (!shown++) {
            document_part(doc, "The node, part by part");
            document_subline(doc, arena_format(v->memory, "line = mean, band = lowest to highest sample; %s.",
                                               job_view_column_words(v)));
        }
        job_meters_add_figures(v, doc, g, known, count);
        job_meters_add_lines(v, doc, g, known, count);
        job_meters_add_node_map(v, doc, g, job_meters_map_meter(v->job, g, known));
        job_meters_add_node_table(v, doc, g, known, count);
        job_view_say_zero(v, doc, known, count);
        job_meters_add_missing(v, doc, g);
        if (g->device_noun) job_meters_add_devices(v, doc, g, known, count);
    }
}
