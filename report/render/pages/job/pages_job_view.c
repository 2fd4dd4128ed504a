#include "pages_job_view.h"
#include "analysis/job/job_words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PHASE_INKS = 6, COLUMNS = MAP_COLUMNS, INCIDENTS = 4 };

// ---- columns of time ----

// Where samples are few, columns as wide as they would not lie where they do: each is drawn in up to four parts, so that
// its edges are off by an eighth of it at most.
static double job_view_parts_of_sample(const job_report *job, double samples)
{
    enum { MOST = 4 };
    double room = floor(COLUMNS / 2 / fmax(samples, 1)),
           finest = job->bin_s > 0 ? floor(job->interval_s / job->bin_s) : 1;
    double parts = fmin(fmin(room, MOST), finest); // NAN: no interval is known
    return parts >= 1 ? parts : 1;
}

static void job_view_choose_columns(job_view *v)
{
    const job_report *job = v->job;
    double least = fmax(job->bin_s, isnan(job->interval_s) ? 0 : job->interval_s), count = 1;
    if (least > 0 && job->end_s > 0) count = floor(job->end_s / least + .01);
    count *= job_view_parts_of_sample(job, count);
    v->time = (pages_time){0, job->end_s, count < 1 ? 1 : count > COLUMNS ? COLUMNS : (size_t)count, job->begin_ns};
    v->column_s = pages_time_column_s(&v->time);
}

const char *job_view_column_words(const job_view *v)
{
    double interval = v->job->interval_s;
    bool binned = v->column_s > (v->time.columns < COLUMNS ? 1.5 : 1.001) * interval; // as many as there is room for
    if (!binned) return "each sample";
    return arena_format(v->memory, "mean of each %s", number_duration(v->column_s).text);
}

// ---- phases ----

// Ranks of phases by their time: the longest is 0. Incidents are no phases.
static size_t job_view_phase_rank(const job_report *job, size_t phase)
{
    size_t rank = 0;
    const job_phase *p = &job->phases[phase];
    for (size_t i = 0; i < job->phase_count; i++) {
        const job_phase *q = &job->phases[i];
        if (q->finding == JOB_NONE && (q->time_s > p->time_s || (q->time_s == p->time_s && i < phase))) rank++;
    }
    return rank;
}

theme_ink job_view_phase_ink(const job_view *v, size_t phase)
{
    size_t rank = job_view_phase_rank(v->job, phase);
    return rank < PHASE_INKS ? (theme_ink)(INK_PHASE + (int)rank) : INK_PEER;
}

static void job_view_make_phases(job_view *v)
{
    const job_report *job = v->job;
    axes_span *spans = arena_make(v->memory, job->span_count + 1, sizeof *spans);
    theme_ink *inks = arena_make(v->memory, job->phase_count + 1, sizeof *inks);
    for (size_t i = 0; i < job->phase_count; i++)
        inks[i] = job_view_phase_ink(v, i);
    for (size_t i = 0; i < job->span_count; i++) {
        const job_phase_span *s = &job->spans[i];
        if (job->phases[s->phase].finding != JOB_NONE) continue;
        spans[v->phase_count++] = (axes_span){s->from_s, s->to_s, job->phases[s->phase].name, inks[s->phase]};
    }
    v->phases = spans;
}

// ---- gaps: where no node has samples ----

static void job_view_mark_gaps(const job_view *v, const job_node *node, size_t *without)
{
    for (size_t g = 0; g < node->gap_count; g++) {
        size_t from = (size_t)fmax(node->gaps[g].from_s / v->column_s, 0);
        for (size_t k = from; k < v->time.columns && (double)k * v->column_s < node->gaps[g].to_s; k++) {
            double begin = fmax(node->gaps[g].from_s, (double)k * v->column_s);
            double end = fmin(node->gaps[g].to_s, (double)(k + 1) * v->column_s);
            without[k] += end - begin > v->column_s / 2;
        }
    }
}

static void job_view_make_gaps(job_view *v)
{
    size_t *without = arena_make(v->memory, v->time.columns, sizeof *without);
    bool *known = arena_make(v->memory, v->time.columns, sizeof *known);
    if (!(v->column_s > 0)) return;
    for (size_t i = 0; i < v->job->node_count; i++)
        job_view_mark_gaps(v, &v->job->nodes[i], without);
    for (size_t k = 0; k < v->time.columns; k++)
        known[k] = without[k] < v->job->node_count;
    v->gaps = pages_time_gaps(v->memory, &v->time, known, &v->gap_count);
}

// ---- incidents ----

// "n11 NIC paused": who, in few words.
static const char *job_view_incident_label(const job_view *v, const job_finding *f)
{
    const char *node = f->node < v->job->node_count ? v->job->nodes[f->node].name : "";
    const char *words = job_incident_words(f->meter);
    return arena_format(v->memory, "%.24s%s%.24s", node, *node ? " " : "", words ? words : f->rule);
}

static void job_view_make_incidents(job_view *v)
{
    axes_span *spans = arena_make(v->memory, INCIDENTS, sizeof *spans);
    for (size_t i = 0; i < v->job->finding_count && v->incident_count < INCIDENTS; i++) {
        const job_finding *f = &v->job->findings[i];
        if (f->incident && f->severity >= SEVERITY_WARN)
            spans[v->incident_count++] = (axes_span){f->from_s, f->to_s, job_view_incident_label(v, f), INK_NONE};
    }
    v->incidents = spans;
}

// ---- nodes ----

static int job_view_by_index(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

job_selection job_view_nodes(const job_view *v, size_t most)
{
    const job_report *job = v->job;
    size_t n = job->node_count, *order = arena_make(v->memory, n + 1, sizeof *order);
    job_selection s = {
        .nodes = arena_make(v->memory, n + 1, sizeof *s.nodes), .count = n, .median = JOB_NONE, .plainest = JOB_NONE};
    for (size_t i = 0; i < n; i++)
        s.nodes[i] = i;
    if (n <= most) return s;
    job_report_rank_nodes(job, job_view_has(job, JOB_SENT) ? JOB_SENT : JOB_CPU, order);
    for (s.count = 0; s.count < JOB_TELLING; s.count++)
        s.nodes[s.count] = order[s.count];
    qsort(s.nodes, s.count, sizeof *s.nodes, job_view_by_index);
    s.nodes[s.median = s.count++] = order[JOB_TELLING + (n - JOB_TELLING) / 2];
    s.nodes[s.plainest = s.count++] = order[n - 1];
    return s;
}

const char *job_view_node_label(const job_view *v, const job_selection *s, size_t i)
{
    const char *name = v->job->nodes[s->nodes[i]].name;
    if (i == s->median) return arena_format(v->memory, "%s (median)", name);
    if (i == s->plainest) return arena_format(v->memory, "%s (plainest)", name);
    return name;
}

const char *job_view_short_label(const job_view *v, const job_device *d)
{
    const char *end = strstr(d->label, " (");
    return end && end > d->label ? arena_format(v->memory, "%.*s", (int)(end - d->label), d->label) : d->label;
}

job_view job_view_open(const job_report *job)
{
    job_view v = {.memory = arena_open(), .job = job};
    job_view_choose_columns(&v);
    job_view_make_phases(&v);
    job_view_make_gaps(&v);
    job_view_make_incidents(&v);
    return v;
}

void job_view_close(job_view *v)
{
    arena_close(v->memory);
}

// ---- columns of meters ----

job_column *job_view_columns(const job_view *v, job_meter meter, size_t node)
{
    job_column *c = arena_make(v->memory, v->time.columns, sizeof *c);
    return job_report_columns(v->job, meter, node, 0, v->job->end_s, c, v->time.columns) ? c : NULL;
}

job_column *job_view_columns_of_lane(const job_view *v, const job_lane *lane)
{
    if (!lane) return NULL;
    job_column *c = arena_make(v->memory, v->time.columns, sizeof *c);
    job_lane_columns(v->job, lane, 0, v->job->end_s, c, v->time.columns);
    return c;
}

double *job_view_values(const job_view *v, const job_column *columns, job_figure figure, double factor)
{
    double *values = arena_make(v->memory, v->time.columns, sizeof *values);
    for (size_t i = 0; i < v->time.columns; i++) {
        const job_column *c = columns ? &columns[i] : NULL;
        double x = !c                    ? NAN
                   : figure == JOB_LOW   ? c->low
                   : figure == JOB_HIGH  ? c->high
                   : figure == JOB_TOTAL ? c->total
                                         : c->mean;
        values[i] = x * factor;
    }
    return values;
}

// ---- points of lines: few columns are steps, each as long as it lasts ----

enum { FEW = 60, FEW_OF_ONE = LINES_COLUMNS / 2 };

size_t job_view_point_count(const job_view *v)
{
    size_t few = v->job->node_count > 1 ? FEW : FEW_OF_ONE;
    return v->time.columns <= few ? 2 * v->time.columns : v->time.columns;
}

static double *job_view_times(const job_view *v)
{
    size_t count = job_view_point_count(v);
    if (count == v->time.columns) return pages_time_middles(v->memory, &v->time);
    double *x = arena_make(v->memory, count, sizeof *x);
    for (size_t i = 0; i < count; i++)
        x[i] = v->column_s * (double)((i + 1) / 2);
    return x;
}

lines_style job_view_lines(const job_view *v)
{
    return (lines_style){.x = job_view_times(v),
                         .count = job_view_point_count(v),
                         .axis = pages_time_axis(&v->time),
                         .x_head = "seconds",
                         .phases = v->phases,
                         .phase_count = v->phase_count,
                         .gaps = v->gaps,
                         .gap_count = v->gap_count,
                         .incidents = v->incidents,
                         .incident_count = v->incident_count,
                         .phases_label = "Phases",
                         .squeeze = true};
}

double *job_view_points(const job_view *v, const job_column *columns, job_figure figure, double factor)
{
    size_t count = job_view_point_count(v);
    double *values = job_view_values(v, columns, figure, factor);
    if (count == v->time.columns) return values;
    double *points = arena_make(v->memory, count, sizeof *points);
    for (size_t i = 0; i < count; i++)
        points[i] = values[i / 2];
    return points;
}

bool job_view_is_zero(const job_report *job, job_meter meter)
{
    const job_use *u = job_view_use_of(job, meter);
    return u && u->mean == 0 && !(u->peak > 0);
}

void job_view_say_zero(const job_view *v, document *doc, const job_meter *meters, size_t count)
{
    const char *text = "";
    for (size_t i = 0; i < count; i++)
        if (job_view_is_zero(v->job, meters[i]))
            text = arena_format(v->memory, "%s%s%s", text, *text ? ", " : "", job_meter_of(meters[i])->title);
    if (*text) document_note(doc, arena_format(v->memory, "Zero all the time: %s.", text));
}

const job_use *job_view_use_of(const job_report *job, job_meter meter)
{
    for (size_t i = 0; i < job->use_count; i++)
        if (job->uses[i].meter == meter) return &job->uses[i];
    return NULL;
}

bool job_view_has(const job_report *job, job_meter meter)
{
    return job_view_use_of(job, meter) != NULL;
}

// ---- words ----

static bool job_view_unit_is(job_meter meter, const char *unit)
{
    return strcmp(job_meter_of(meter)->unit, unit) == 0;
}

axes_format job_view_format(job_meter meter)
{
    return !*job_meter_of(meter)->unit ? AXES_PERCENT : job_view_unit_is(meter, "bytes") ? AXES_BINARY : AXES_SI;
}

const char *job_view_axis_unit(job_meter meter)
{
    if (job_view_unit_is(meter, "CPUs")) return ""; // said beside the axis: kCPUs is no unit
    return job_view_unit_is(meter, "bytes/s") ? "B/s"
           : job_view_unit_is(meter, "1/s")   ? "/s"
                                              : job_meter_of(meter)->unit;
}

number_text job_view_percent(double share)
{
    number_text n = number_fixed(100 * share, 1);
    size_t used = strlen(n.text);
    if (isfinite(share)) snprintf(n.text + used, sizeof n.text - used, NUMBER_SPACE "%%");
    return n;
}

number_text job_view_text(job_meter meter, double value)
{
    const char *unit = job_meter_of(meter)->unit;
    if (!*unit) return job_view_percent(value);
    if (job_view_unit_is(meter, "bytes")) return number_binary(value);
    if (job_view_unit_is(meter, "bytes/s")) return number_prefixed(value, "B/s");
    if (job_view_unit_is(meter, "CPUs")) {
        number_text n = number_plain(value);
        size_t used = strlen(n.text);
        if (isfinite(value)) snprintf(n.text + used, sizeof n.text - used, NUMBER_SPACE "CPUs");
        return n;
    }
    return number_prefixed(value, job_view_unit_is(meter, "1/s") ? "/s" : unit);
}

number_text job_view_amount(job_meter meter, double amount)
{
    const char *unit = job_meter_of(meter)->total_unit;
    if (strcmp(unit, "s") == 0) return number_duration(amount);
    if (strcmp(unit, "J") == 0) return job_view_energy_number(amount);
    if (strcmp(unit, "bytes") == 0) return number_prefixed(amount, "B");
    return number_volume(amount, unit); // "216 k retries"
}

number_text job_view_energy_number(double joules)
{
    return joules < 3600 ? number_prefixed(joules, "J") : number_prefixed(joules / 3600, "Wh");
}

theme_ink job_view_ink(job_meter meter, bool pale)
{
    switch (meter) {
    case JOB_VIRTUAL_SENT:
    case JOB_SENT: return pale ? INK_SENT_PALE : INK_SENT_TEXT;
    case JOB_VIRTUAL_RECEIVED:
    case JOB_RECEIVED: return pale ? INK_RECEIVED_PALE : INK_RECEIVED;
    case JOB_GPU_BUSY:
    case JOB_GPU_CLOCK:
    case JOB_GPU_MEMORY: return (theme_ink)((pale ? INK_CATEGORY_PALE : INK_CATEGORY) + 2);
    case JOB_MEMORY:
    case JOB_NODE_MEMORY:
    case JOB_MEMORY_PRESSURE: return (theme_ink)((pale ? INK_CATEGORY_PALE : INK_CATEGORY) + 6);
    case JOB_POWER:
    case JOB_POWER_CPU:
    case JOB_POWER_DRAM:
    case JOB_POWER_GPU: return (theme_ink)((pale ? INK_CATEGORY_PALE : INK_CATEGORY) + 5);
    case JOB_PAUSED:
    case JOB_HOLDING:
    case JOB_RETRIES:
    case JOB_THROTTLED:
    case JOB_GPU_THROTTLED: return pale ? INK_WATCH_PALE : INK_WATCH;
    default: return pale ? (theme_ink)(INK_CATEGORY_PALE + 7) : INK_SECONDARY;
    }
}

static const char *job_view_scope_words(job_scope scope)
{
    static const char *const words[] = {[JOB_SCOPE_NONE] = "",
                                        [JOB_SCOPE_JOB] = "of the job's processes",
                                        [JOB_SCOPE_GROUP] = "of its control group",
                                        [JOB_SCOPE_NODE] = "of the whole node"};
    return words[scope];
}

const char *job_view_scope_of(const job_use *u)
{
    static const job_meter scoped[] = {JOB_CPU,           JOB_MEMORY,    JOB_FILES_READ,
                                       JOB_FILES_WRITTEN, JOB_DISK_READ, JOB_DISK_WRITTEN};
    for (size_t i = 0; i < sizeof scoped / sizeof *scoped; i++)
        if (scoped[i] == u->meter)
            return u->upper_bound ? "of the job's processes, at most" : job_view_scope_words(u->scope);
    return "";
}

const char *job_view_why_not(const job_report *job, job_meter meter)
{
    static const char *const words[] = {[JOB_ABSENT] = "not recorded",
                                        [JOB_DENIED] = "may not be read (rights)",
                                        [JOB_UNREADABLE] = "could not be read",
                                        [JOB_KNOWN] = "not known"}; // read, but never twice
    job_state most = JOB_ABSENT;
    for (size_t i = 0; i < job->node_count; i++)
        if (job->nodes[i].state[meter] > most) most = job->nodes[i].state[meter];
    return words[most];
}

const char *job_view_why_node_not(const job_node *node, job_meter meter)
{
    static const char *const words[] = {[JOB_ABSENT] = NUMBER_UNKNOWN,
                                        [JOB_DENIED] = "denied",
                                        [JOB_UNREADABLE] = "unreadable",
                                        [JOB_KNOWN] = NUMBER_UNKNOWN};
    return words[node->state[meter]];
}
