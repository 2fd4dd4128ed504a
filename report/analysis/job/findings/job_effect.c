#include "job_effect.h"

#include "analysis/base/memory.h"
#include "analysis/base/words.h"
#include "analysis/job/job_columns.h"
#include "analysis/job/job_store.h"

#include <string.h>

// Own heuristics, as shares of what was usual.
#define JOB_EFFECT_FALL       0.95 // the job's traffic fell, and
#define JOB_EFFECT_NODE_FALL  0.9  // a node's, which varies more
#define JOB_EFFECT_EXPLAINED  1.25 // a NIC that is held for a share of the time explains so much of that less, and
#define JOB_EFFECT_UNEXACT    0.05 // so much more, which is as exact as the means are
#define JOB_EFFECT_PAUSE      0.5  // CPUs or GPUs at less: the program waits for something of its own
#define JOB_EFFECT_WRITES     2    // writes at more, and
#define JOB_EFFECT_WRITES_B_S 1e6  // bytes/s a node at least: the program writes

job_around job_around_of(const job_report *r, double from_s, double to_s)
{
    double middle = (from_s + to_s) / 2, length = to_s - from_s;
    for (size_t i = 0; i < r->span_count; i++)
        if (r->spans[i].from_s <= middle && r->spans[i].to_s >= middle)
            return (job_around){r->spans[i].from_s, r->spans[i].to_s, i};
    return (job_around){fmax(0, from_s - length), fmin(r->end_s, to_s + length), JOB_NONE};
}

// Mean over the nodes (or of one) within the stretch but outside the incident.
static double job_effect_around(const job_report *r, job_meter meter, size_t node, const job_around *a, double from_s,
                                double to_s)
{
    double sum = 0, known = 0;
    // A bin at the edge holds some of both.
    const double parts[2][2] = {{a->from_s, from_s - r->bin_s}, {to_s + r->bin_s, a->to_s}};
    for (size_t i = 0; i < r->node_count; i++) {
        const job_lane *lane = r->nodes[i].lanes[meter];
        if (!lane || (node != JOB_ALL_NODES && node != i)) continue;
        for (size_t p = 0; p < 2; p++) {
            if (!(parts[p][1] > parts[p][0])) continue;
            job_span x = job_bins_span(lane->bins, job_ns_of(r, parts[p][0]), job_ns_of(r, parts[p][1]));
            sum += x.integral;
            known += x.known_s;
        }
    }
    return known > 0 ? sum / known : NAN;
}

static double job_effect_ratio(const job_report *r, job_meter meter, size_t node, const job_around *a, double from_s,
                               double to_s)
{
    double before = job_effect_around(r, meter, node, a, from_s, to_s),
           then = job_mean_between(r, meter, node, from_s, to_s);
    return before > 0 ? then / before : NAN;
}

// The first column of time whose traffic is nearer to that of the incident than to that before it.
static double job_effect_fall(const job_report *r, const job_around *a, double from_s, double to_s)
{
    enum { COLUMNS = 512 };
    job_column columns[COLUMNS];
    double step = fmax(r->bin_s, r->interval_s > 0 ? r->interval_s : 0),
           begin = fmax(a->from_s, from_s - 10 * step - 1);
    size_t count = step > 0 ? (size_t)fmin(COLUMNS, ceil((to_s - begin) / step)) : 0;
    double before = job_mean_between(r, JOB_SENT, JOB_ALL_NODES, a->from_s, from_s - step),
           then = job_mean_between(r, JOB_SENT, JOB_ALL_NODES, from_s, to_s);
    if (!count || !(then < JOB_EFFECT_FALL * before)) return NAN;
    if (!job_report_columns(r, JOB_SENT, JOB_ALL_NODES, begin, to_s, columns, count)) return NAN;
    for (size_t i = 0; i < count; i++)
        if (columns[i].mean < (before + then) / 2) return begin + (to_s - begin) * (double)i / (double)count;
    return NAN;
}

job_effect job_effect_of(const job_report *r, double from_s, double to_s)
{
    job_around a = job_around_of(r, from_s, to_s);
    job_effect x = {.sent = job_effect_ratio(r, JOB_SENT, JOB_ALL_NODES, &a, from_s, to_s),
                    .cpu = job_effect_ratio(r, JOB_CPU, JOB_ALL_NODES, &a, from_s, to_s),
                    .gpu = job_effect_ratio(r, JOB_GPU_BUSY, JOB_ALL_NODES, &a, from_s, to_s),
                    .power = job_effect_ratio(r, JOB_POWER, JOB_ALL_NODES, &a, from_s, to_s),
                    .written = job_mean_between(r, JOB_FILES_WRITTEN, JOB_ALL_NODES, from_s, to_s),
                    .written_before = job_effect_around(r, JOB_FILES_WRITTEN, JOB_ALL_NODES, &a, from_s, to_s)};
    if (isnan(x.written)) {
        x.written = job_mean_between(r, JOB_DISK_WRITTEN, JOB_ALL_NODES, from_s, to_s);
        x.written_before = job_effect_around(r, JOB_DISK_WRITTEN, JOB_ALL_NODES, &a, from_s, to_s);
    }
    for (size_t i = 0; i < r->node_count; i++) {
        double ratio = job_effect_ratio(r, JOB_SENT, i, &a, from_s, to_s);
        x.known += isnan(ratio) ? 0 : 1;
        x.slowed += ratio < JOB_EFFECT_NODE_FALL;
    }
    x.fell_s = job_effect_fall(r, &a, from_s, to_s);
    return x;
}

bool job_effect_fell(const job_effect *x)
{
    return x->sent < JOB_EFFECT_FALL;
}

char *job_effect_text(const job_report *r, const job_effect *x)
{
    if (!job_effect_fell(x)) return memory_strdup("");
    words_text less = words_share(1 - x->sent);
    if (r->node_count == 1) return memory_format("the node sent %s less", less.text);
    if (x->slowed == r->node_count) return memory_format("all %zu nodes sent %s less", r->node_count, less.text);
    if (!x->slowed) return memory_format("the nodes together sent %s less", less.text);
    return memory_format("%zu of %zu nodes sent less, all together %s", x->slowed, r->node_count, less.text);
}

// One that is held for a share of the time can keep all others waiting for as long, and hardly for longer.
bool job_effect_is_too_large(const job_effect *x, double blocked)
{
    return 1 - x->sent > JOB_EFFECT_EXPLAINED * blocked + JOB_EFFECT_UNEXACT;
}

char *job_effect_pause(const job_effect *x)
{
    bool writes = x->written > JOB_EFFECT_WRITES * x->written_before && x->written > JOB_EFFECT_WRITES_B_S;
    if (writes)
        return memory_format("wrote %s/s a node instead of %s/s", words_quantity(x->written, "B").text,
                             words_quantity(x->written_before, "B").text);
    if (x->gpu < JOB_EFFECT_PAUSE) return memory_format("kept its GPUs busy %s less", words_share(1 - x->gpu).text);
    if (x->cpu < JOB_EFFECT_PAUSE) return memory_format("used its CPUs %s less", words_share(1 - x->cpu).text);
    return NULL;
}
