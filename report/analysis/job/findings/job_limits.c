// Findings about the whole job over time: CPUs and GPUs that were hardly used, memory near its limit, nodes that did
// less than others.
#include "analysis/job/job_columns.h"
#include "analysis/job/job_words.h"
#include "job_finding.h"
#include "analysis/job/job_store.h"
#include "analysis/base/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct limit {
    const char *rule, *class_name;
    double info, watch, warn; // NAN: none
    double least_s;
    const char *origin, *advice;
} limit;

enum { CPU_LOW, GPU_IDLE, MEMORY_PEAK, MEMORY_GROWTH, POWER_CAP, SAMPLES_MISSING };
static const limit limits[] = {
    [CPU_LOW] = {"cpu-low", "utilisation", 0.80, 0.65, NAN, 300, "jobstats (Princeton)",
                 "Fewer CPUs or nodes, or more ranks and threads; look for waiting: I/O, one rank, the network"},
    [GPU_IDLE] = {"gpu-idle", "utilisation", NAN, 0.25, 0.15, 300, "jobstats (Princeton)",
                  "Look what the GPUs wait for: input, the CPU, communication"},
    [MEMORY_PEAK] = {"mem-peak", "utilisation", NAN, 0.90, 0.98, 0, "node exporter mixin; netdata",
                     "A step more and the kernel kills processes: more memory or fewer ranks a node"},
    [MEMORY_GROWTH] = {"mem-growth", "utilisation", NAN, 7200, 1800, 60,
                       "own: a straight line reaches the limit in 2 h",
                       "Look for a leak or for buffers that grow with the steps"},
    [POWER_CAP] = {"power-cap", "back-pressure", 0.95, NAN, NAN, 10, "own",
                   "They run at their power limit: normal at full load; a higher limit is the site's to give"},
    [SAMPLES_MISSING] = {"samples-missing", "data", 0.01, 0.10, NAN, 0, "own",
                         "See why the recorder did not run or was late; figures over these times are not known"},
};

static severity job_judge_low(const limit *l, double value)
{
    if (value < l->warn) return SEVERITY_WARN;
    if (value < l->watch) return SEVERITY_WATCH;
    return value < l->info ? SEVERITY_INFO : SEVERITY_OK;
}

static severity job_judge_high(const limit *l, double value)
{
    if (value >= l->warn) return SEVERITY_WARN;
    if (value >= l->watch) return SEVERITY_WATCH;
    return value >= l->info ? SEVERITY_INFO : SEVERITY_OK;
}

static job_finding job_limit_finding(const job_report *r, const limit *l, severity s, double value, const char *unit)
{
    job_finding x = job_finding_blank;
    x.severity = s;
    x.class_rank = rules_class_rank(l->class_name);
    x.rule = (char *)(uintptr_t)l->rule;
    x.advice = (char *)(uintptr_t)l->advice;
    x.origin = (char *)(uintptr_t)l->origin;
    x.unit = (char *)(uintptr_t)unit;
    x.value = value;
    x.threshold = s == SEVERITY_WARN ? l->warn : s == SEVERITY_WATCH ? l->watch : l->info;
    x.to_s = r->end_s;
    return x;
}

static const job_use *job_find_use(const job_report *r, job_meter meter)
{
    for (size_t i = 0; i < r->use_count; i++)
        if (r->uses[i].meter == meter) return &r->uses[i];
    return NULL;
}

static void job_find_cpu_low(job_report *r)
{
    const job_use *use = job_find_use(r, JOB_CPU), *gpu = job_find_use(r, JOB_GPU_BUSY);
    const limit *l = &limits[CPU_LOW];
    if (!use || !(use->capacity > 0) || !(r->end_s >= l->least_s)) return;
    double value = use->mean / use->capacity;
    severity s = job_judge_low(l, value);
    // Where GPUs work, CPUs may wait for them.
    if (gpu && gpu->mean >= limits[GPU_IDLE].watch && s > SEVERITY_INFO) s = SEVERITY_INFO;
    if (!s) return;
    words_text share = words_share(value);
    job_finding x = job_limit_finding(r, l, s, value, "of the CPUs");
    x.meter = JOB_CPU;
    x.nodes = use->nodes;
    x.node = use->nodes == 1 ? use->low_node : JOB_NONE;
    job_basis basis = r->efficiency[JOB_EFFICIENCY_CPU].basis;
    bool given = basis > JOB_BASIS_NODE;
    x.claim = memory_format("the job used %s of %s%s CPUs a node in the mean (%s%s%s)", words_number(use->mean).text,
                            words_number(use->capacity).text, given ? " allocated" : "", share.text,
                            basis ? "; measured against " : "", job_basis_text(basis));
    x.title = memory_format("The job used %s of %s CPUs", share.text,
                            given   ? "its"
                            : basis ? "the nodes\u2019"
                                    : "the");
    job_add_finding(r, x);
}

// Known to be, both ways.
static bool job_network_idles(const job_report *r)
{
    const job_use *ways[] = {job_find_use(r, JOB_SENT), job_find_use(r, JOB_RECEIVED)},
                  *paused = job_find_use(r, JOB_PAUSED);
    for (size_t i = 0; i < 2; i++)
        if (!ways[i] || !(ways[i]->mean < 0.1 * ways[i]->capacity)) return false;
    return !paused || paused->high < 0.01;
}

static void job_find_gpu_idle(job_report *r)
{
    const job_use *use = job_find_use(r, JOB_GPU_BUSY);
    const limit *l = &limits[GPU_IDLE];
    for (size_t i = 0; i < r->finding_count; i++)
        if (strcmp(r->findings[i].rule, l->rule) == 0) return; // said of single GPUs
    severity s = use && r->end_s >= l->least_s ? job_judge_low(l, use->mean) : SEVERITY_OK;
    if (!s) return;
    words_text share = words_share(use->mean);
    job_finding x = job_limit_finding(r, l, s, use->mean, "of the time");
    x.meter = JOB_GPU_BUSY;
    x.nodes = use->nodes;
    x.claim = memory_format(
        "the GPUs were busy %s of the time in the mean%s", share.text,
        job_network_idles(r) ? ", and the network under 10 % of its line rate: it is not what they wait for" : "");
    x.title = memory_format("The GPUs were busy %s of the time", share.text);
    job_add_finding(r, x);
}

// What is judged of a node's memory: what its job used, but for sums that count some of it more than once: these accuse
// nobody, and the node's own memory is looked at instead.
static const job_lane *job_judged_memory(const job_report *r, size_t node)
{
    const job_lane *lane = r->nodes[node].lanes[JOB_MEMORY];
    return lane && lane->upper_bound ? r->nodes[node].lanes[JOB_NODE_MEMORY] : lane;
}

static const char *job_whose_memory(const job_lane *lane)
{
    return lane->meter == JOB_NODE_MEMORY ? "the node\u2019s memory" : "memory";
}

static void job_find_memory_peak(job_report *r)
{
    double most = 0;
    size_t worst = JOB_NONE, count = 0;
    for (size_t i = 0; i < r->node_count; i++) {
        const job_lane *lane = job_judged_memory(r, i);
        double share = lane && lane->capacity > 0 ? lane->high / lane->capacity : NAN;
        count += job_judge_high(&limits[MEMORY_PEAK], share) > 0;
        if (share > most) most = share, worst = i;
    }
    severity s = job_judge_high(&limits[MEMORY_PEAK], most);
    if (!s || worst == JOB_NONE) return;
    char who[300];
    words_text share = words_share(most);
    const job_lane *lane = job_judged_memory(r, worst);
    job_finding x = job_limit_finding(r, &limits[MEMORY_PEAK], s, most, "of the limit");
    x.meter = lane->meter;
    x.node = worst;
    x.nodes = count;
    job_nodes_text(who, sizeof who, r->nodes[worst].name, count);
    x.claim = memory_format("%s: %s was at %s of %s (%s)", who, job_whose_memory(lane), words_binary(lane->high).text,
                            words_binary(lane->capacity).text, share.text);
    x.title = memory_format("%s: %s reached %s of %s", r->nodes[worst].name, job_whose_memory(lane), share.text,
                            lane->meter == JOB_NODE_MEMORY ? "what there is" : "its limit");
    job_add_finding(r, x);
}

// Straight line through the second half of a lane, by least squares.
typedef struct line {
    double slope, r2, from_s, to_s, end;
    size_t points;
} line;

static line job_fit_line(const job_report *r, const job_lane *lane, double from_s, double to_s)
{
    enum { POINTS = 64 };
    job_column columns[POINTS];
    double n = 0, st = 0, sv = 0, stt = 0, stv = 0, svv = 0;
    line l = {.from_s = from_s, .to_s = to_s, .end = lane->last};
    job_lane_columns(r, lane, from_s, to_s, columns, POINTS);
    for (size_t i = 0; i < POINTS; i++) {
        double t = ((double)i + 0.5) / POINTS * (to_s - from_s), v = columns[i].mean;
        if (isnan(v)) continue;
        n++, st += t, sv += v, stt += t * t, stv += t * v, svv += v * v;
        l.points++;
    }
    double a = n * stt - st * st, b = n * stv - st * sv, c = n * svv - sv * sv;
    if (l.points < 8 || !(a > 0)) return l;
    l.slope = b / a;
    l.r2 = c > 0 ? b * b / (a * c) : 0;
    return l;
}

static double job_time_to_full(const job_report *r, size_t node, line *l)
{
    const job_lane *lane = job_judged_memory(r, node);
    if (!lane || !(lane->capacity > 0) || isnan(lane->last)) return NAN;
    double to = r->nodes[node].end_s, from = (r->nodes[node].begin_s + to) / 2;
    if (to - from < limits[MEMORY_GROWTH].least_s / 2) return NAN;
    *l = job_fit_line(r, lane, from, to);
    // Noise and caches are no growth: a hundredth of the limit at least, and nearly straight.
    bool grows = l->r2 >= 0.9 && l->slope * (to - from) >= 0.01 * lane->capacity;
    return grows ? fmax(0, lane->capacity - lane->last) / l->slope : NAN;
}

static void job_find_memory_growth(job_report *r)
{
    double soonest = INFINITY;
    line of = {0};
    size_t worst = JOB_NONE, count = 0;
    for (size_t i = 0; i < r->node_count; i++) {
        line l;
        double full = job_time_to_full(r, i, &l);
        count += job_judge_low(&limits[MEMORY_GROWTH], full) > 0;
        if (full < soonest) soonest = full, worst = i, of = l;
    }
    severity s = job_judge_low(&limits[MEMORY_GROWTH], soonest);
    if (!s || worst == JOB_NONE) return;
    char who[300];
    words_text full = words_duration(soonest);
    const job_lane *lane = job_judged_memory(r, worst);
    job_finding x = job_limit_finding(r, &limits[MEMORY_GROWTH], s, soonest, "s");
    x.meter = lane->meter;
    x.node = worst;
    x.nodes = count;
    x.from_s = of.from_s;
    job_nodes_text(who, sizeof who, r->nodes[worst].name, count);
    x.claim = memory_format("%s: %s grows %s/min, %s of %s at the end: full in %s", who, job_whose_memory(lane),
                            words_binary(of.slope * 60).text, words_binary(lane->last).text,
                            words_binary(lane->capacity).text, full.text);
    x.title = memory_format("%s\u2019s memory is full in %s", r->nodes[worst].name, full.text);
    job_add_finding(r, x);
}

static void job_find_power_cap(job_report *r, job_meter meter, const char *whose)
{
    const job_use *use = job_find_use(r, meter);
    double value = use && use->capacity > 0 ? use->mean / use->capacity : NAN;
    severity s = r->end_s >= limits[POWER_CAP].least_s ? job_judge_high(&limits[POWER_CAP], value) : SEVERITY_OK;
    if (!s) return;
    words_text share = words_share(value);
    job_finding x = job_limit_finding(r, &limits[POWER_CAP], s, value, "of the limit");
    x.meter = meter;
    x.nodes = use->nodes;
    x.claim = memory_format("the %s drew %s of their power limit in the mean", whose, share.text);
    x.title = memory_format("The %s ran at their power limit", whose);
    job_add_finding(r, x);
}

static void job_find_missing(job_report *r)
{
    double value = r->expected ? 1 - (double)r->samples / (double)r->expected : 0;
    severity s = r->expected > r->samples + 1 ? job_judge_high(&limits[SAMPLES_MISSING], value) : SEVERITY_OK;
    if (!s) return;
    words_text share = words_share(value);
    job_finding x = job_limit_finding(r, &limits[SAMPLES_MISSING], s, value, "of the samples");
    uint64_t most = 0, all = r->expected - r->samples;
    for (size_t i = 0; i < r->node_count; i++) {
        const job_node *node = &r->nodes[i];
        uint64_t missing = node->expected > node->samples ? node->expected - node->samples : 0;
        x.nodes += missing > 0;
        if (missing <= most) continue;
        most = missing;
        x.node = i;
    }
    if (most <= all / 2) x.node = JOB_NONE; // no single node's
    char *where = x.node == JOB_NONE
                      ? memory_format("on %zu nodes", x.nodes)
                      : memory_format("%s of %s", most == all ? "all" : "most of them", r->nodes[x.node].name);
    x.claim = memory_format("%llu of %llu samples are missing (%s), %s", (unsigned long long)all,
                            (unsigned long long)r->expected, share.text, where);
    free(where);
    x.title = memory_format("%s of the samples are missing", share.text);
    job_add_finding(r, x);
}

void job_find_limits(job_report *r)
{
    if (job_is_known(r)) { // nodes without one may idle, and need not do the same
        job_find_cpu_low(r);
        job_find_gpu_idle(r);
    }
    job_find_memory_peak(r);
    job_find_memory_growth(r);
    job_find_power_cap(r, JOB_POWER_GPU, "GPUs");
    job_find_power_cap(r, JOB_POWER_CPU, "CPUs");
    job_find_missing(r);
}
