// The NICs of a job beside each other: node by node, rail by rail, how much of the time a link was taken.
#include "pages_job_view.h"

#include "render/chart/charts_cause.h"
#include "analysis/base/words.h"

#include <math.h>
#include <string.h>

enum { RAILS = 8, RAIL_NODES = 64 };

// The NICs of a node in their order; its first one is rail 1.
typedef struct rails {
    size_t count;
    const job_device *(*of)[RAILS]; // [node][rail]; NULL: this node has no such one
} rails;

static bool rails_has_line(const job_device *d)
{
    return d->line_rate > 0 && (d->lanes[JOB_SENT] || d->lanes[JOB_RECEIVED]);
}

static rails rails_find(const job_view *v)
{
    const job_report *job = v->job;
    rails r = {.of = arena_make(v->memory, job->node_count, sizeof *r.of)};
    for (size_t i = 0; i < job->device_count; i++) {
        const job_device *d = &job->devices[i];
        size_t k = 0;
        if (!rails_has_line(d)) continue;
        while (k < RAILS && r.of[d->node][k])
            k++;
        if (k == RAILS) return (rails){0}; // more than have a row each: the pages of devices tell
        r.of[d->node][k] = d;
        if (k + 1 > r.count) r.count = k + 1;
    }
    return r;
}

static double rails_mean(const job_lane *lane)
{
    return lane ? lane->mean : NAN;
}

// Sending and held, or receiving and holding its senders: what is not free.
static double rails_taken(const job_device *d, job_meter moved, job_meter held)
{
    if (!d || isnan(rails_mean(d->lanes[moved]))) return NAN;
    double wait = rails_mean(d->lanes[held]);
    return fmin(rails_mean(d->lanes[moved]) / d->line_rate + (isnan(wait) ? 0 : wait), 1);
}

// The node farthest from the median of those that are known, above or below it: a NIC that does nothing is unlike the others,
// too. JOB_NONE: all are within a tenth of it, or a little.
static size_t rails_odd(const job_view *v, const double *values, size_t known)
{
    static const double near = .1, little = .01;
    size_t n = 0, low = JOB_NONE, high = JOB_NONE, count = v->job->node_count;
    double *sorted = arena_make(v->memory, count + 1, sizeof *sorted);
    for (size_t i = 0; i < count; i++) {
        if (isnan(values[i])) continue;
        sorted[n++] = values[i];
        if (low == JOB_NONE || values[i] < values[low]) low = i;
        if (high == JOB_NONE || values[i] > values[high]) high = i;
    }
    if (known < 2) return JOB_NONE;
    double median = job_median(sorted, n), above = values[high] - median, below = median - values[low];
    size_t odd = below > 1.001 * above ? low : high; // of two nodes the one with more
    double off = fabs(values[odd] - median);
    return off > near * median && off >= little ? odd : JOB_NONE;
}

static ranks_row rails_row(const job_view *v, const rails *r, size_t rail, job_meter moved, job_meter held)
{
    const job_report *job = v->job;
    double *values = arena_make(v->memory, job->node_count, sizeof *values);
    size_t known = 0;
    double sum = 0;
    for (size_t i = 0; i < job->node_count; i++) {
        values[i] = rails_taken(r->of[i][rail], moved, held);
        if (isnan(values[i])) continue;
        sum += values[i];
        known++;
    }
    const char *way = moved == JOB_SENT ? "sent" : "received";
    ranks_row row = {.label = r->count > 1 ? arena_format(v->memory, "%s, rail %zu", way, rail + 1) : way,
                     .middle = known > 0 ? arena_text(v->memory, job_view_percent(sum / (double)known).text) : "",
                     .note = known > 1   ? "alike"
                             : known > 0 ? ""
                                         : "not known",
                     .values = values,
                     .use = true};
    size_t odd = rails_odd(v, values, known);
    if (odd == JOB_NONE) return row;
    row.note = arena_format(v->memory, "%.24s: %s", job->nodes[odd].name, job_view_percent(values[odd]).text);
    row.strong = true;
    return row;
}

// The node that the worst finding about a NIC names.
static size_t rails_marked(const job_report *job)
{
    for (size_t i = 0; i < job->finding_count; i++) {
        const job_finding *f = &job->findings[i];
        if (f->device != JOB_NONE && f->device < job->device_count && f->severity >= SEVERITY_WATCH &&
            rails_has_line(&job->devices[f->device]))
            return job->devices[f->device].node;
    }
    return job->node_count;
}

void job_rails(const job_view *v, document *doc)
{
    const job_report *job = v->job;
    ranks_row rows[2 * RAILS];
    size_t count = 0;
    if (job->node_count < 2 || job->node_count > RAIL_NODES) return;
    rails r = rails_find(v);
    if (!r.count) return;
    for (int way = 0; way < 2; way++)
        for (size_t k = 0; k < r.count; k++)
            rows[count++] = rails_row(v, &r, k, way ? JOB_RECEIVED : JOB_SENT, way ? JOB_HOLDING : JOB_PAUSED);
    const char **names = arena_make(v->memory, job->node_count, sizeof *names);
    const char **none = arena_make(v->memory, job->node_count, sizeof *none);
    size_t *groups = arena_make(v->memory, job->node_count, sizeof *groups);
    for (size_t i = 0; i < job->node_count; i++) {
        names[i] = job->nodes[i].name;
        none[i] = "";
        groups[i] = i;
    }
    const ranks_style style = {.columns = none,
                               .groups = groups,
                               .hosts = names,
                               .count = job->node_count,
                               .group_count = job->node_count,
                               .marked = rails_marked(job),
                               .low = .7,
                               .high = 1.4,
                               .middle_head = "mean",
                               .column_head = ""};
    document_add(doc,
                 chart_ranks((chart_head){"rails", "Use of the NICs",
                                          "share of the time that a link was taken, moving data or held: a rail or "
                                          "a node unlike the others?"},
                             &style, rows, count));
}
