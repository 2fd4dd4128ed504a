// What a job was bound by: what was used up for most of the time, by figures that prove it. What no counter tells, such as
// the bandwidth of the memory, is not guessed: then it is "not known", and what came nearest is said.
#include "analysis/job/job_columns.h"
#include "analysis/job/job_store.h"
#include "analysis/base/text.h"
#include "analysis/base/threads/parallel.h"
#include "analysis/base/words.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MOST = 120 };
static const double MOST_OF_THE_TIME = 0.5; // own
static const double WAITED = 0.2;           // as the rule runqueue-wait has it

// Time of all nodes in which the figure is known, what was used in it, and how much of it was at the limit.
typedef struct account {
    double known_s, used_s, limit_s;
} account;

static size_t job_bottleneck_columns(const job_report *r)
{
    double samples = r->interval_s > 0 ? floor(r->end_s / r->interval_s) : 1;
    return samples < 1 ? 1 : samples > COLUMNS_MOST ? COLUMNS_MOST : (size_t)samples;
}

static bool job_bottleneck_is_own(const job_node *node, job_meter meter)
{
    return node->scope[meter] == JOB_SCOPE_JOB || node->scope[meter] == JOB_SCOPE_GROUP;
}

// The highest share of a line rate of any NIC of the node; NAN unknown.
static double job_bottleneck_of_nics(const job_report *r, const job_node *node, job_meter meter, double from_s,
                                     double to_s)
{
    double most = NAN;
    for (size_t i = node->first_device; i < node->first_device + node->device_count; i++) {
        const job_lane *lane = r->devices[i].lanes[meter];
        if (lane && lane->capacity > 0) most = fmax(most, job_lane_span(r, lane, from_s, to_s).mean / lane->capacity);
    }
    return most;
}

// How much of what there is was used in a stretch, 0..1; NAN unknown.
static double job_bottleneck_used(const job_report *r, const job_node *node, job_bottleneck_of of, double from_s,
                                  double to_s)
{
    static const job_meter meters[JOB_BOUNDS] = {JOB_CPU,      JOB_THREAD, JOB_GPU_BUSY,  JOB_SENT,
                                                 JOB_RECEIVED, JOB_PAUSED, JOB_IO_STALLED};
    job_meter meter = meters[of];
    if (of == JOB_BOUND_WAITING) return NAN; // of the whole time alone
    if (of == JOB_BOUND_SENDING || of == JOB_BOUND_RECEIVING)
        return job_bottleneck_of_nics(r, node, meter, from_s, to_s);
    if ((of == JOB_BOUND_CPU || of == JOB_BOUND_THREAD) && !job_bottleneck_is_own(node, meter)) return NAN;
    double mean = job_lane_span(r, node->lanes[meter], from_s, to_s).mean;
    return of == JOB_BOUND_CPU ? mean / node->cpus_allocated : mean;
}

// A thread that is busy while all CPUs or the GPUs are is bound by these: it may only be waiting for them.
static void job_bottleneck_add(account *accounts, const double *used, double length_s)
{
    bool others = used[JOB_BOUND_CPU] >= JOB_AT_LIMIT || used[JOB_BOUND_GPU] >= JOB_AT_LIMIT;
    for (int of = 0; of < JOB_BOUNDS; of++) {
        if (isnan(used[of])) continue;
        accounts[of].known_s += length_s;
        accounts[of].used_s += used[of] * length_s;
        if (used[of] >= JOB_AT_LIMIT && !(of == JOB_BOUND_THREAD && others)) accounts[of].limit_s += length_s;
    }
}

// Of the time that its threads could have run.
static void job_bottleneck_measure_waits(job_report *r)
{
    double waited = 0, ran = 0;
    for (size_t i = 0; i < r->node_count; i++) {
        const job_lane *lane = r->nodes[i].lanes[JOB_CPU];
        if (!lane || isnan(lane->total) || !(r->reader->nodes[i].waited_s >= 0)) continue;
        waited += r->reader->nodes[i].waited_s;
        ran += lane->total;
    }
    double share = waited + ran >= 1 ? waited / (waited + ran) : NAN;
    r->bottlenecks[JOB_BOUND_WAITING] = (job_bottleneck){share, NAN, share >= WAITED};
}

typedef struct job_bottleneck_accounts {
    const job_report *r;
    size_t columns;
    account (*nodes)[JOB_BOUNDS];
} job_bottleneck_accounts;

static void job_bottleneck_measure_node(void *user, size_t node)
{
    const job_bottleneck_accounts *x = user;
    double width = x->r->end_s / (double)x->columns;
    for (size_t c = 0; c < x->columns && width > 0; c++) {
        double used[JOB_BOUNDS];
        for (int of = 0; of < JOB_BOUNDS; of++)
            used[of] = job_bottleneck_used(x->r, &x->r->nodes[node], (job_bottleneck_of)of, width * (double)c,
                                           width * (double)(c + 1));
        job_bottleneck_add(x->nodes[node], used, width);
    }
}

// Each node by itself, by several threads; their sums are in the order of the nodes.
static void job_bottleneck_measure_nodes(const job_report *r, account *accounts)
{
    const parallel_options pool = {.threads = r->reader->options->threads};
    job_bottleneck_accounts x = {r, job_bottleneck_columns(r), memory_calloc(r->node_count + 1, sizeof *x.nodes)};
    parallel_for(&pool, r->node_count, job_bottleneck_measure_node, &x);
    for (size_t i = 0; i < r->node_count; i++)
        for (int of = 0; of < JOB_BOUNDS; of++) {
            accounts[of].known_s += x.nodes[i][of].known_s;
            accounts[of].used_s += x.nodes[i][of].used_s;
            accounts[of].limit_s += x.nodes[i][of].limit_s;
        }
    free(x.nodes);
}

static void job_bottleneck_measure(job_report *r)
{
    account accounts[JOB_BOUNDS] = {{0, 0, 0}};
    job_bottleneck_measure_nodes(r, accounts);
    for (int of = 0; of < JOB_BOUNDS; of++) {
        bool known = accounts[of].known_s > 0;
        r->bottlenecks[of] = (job_bottleneck){known ? accounts[of].used_s / accounts[of].known_s : NAN,
                                              known ? accounts[of].limit_s / accounts[of].known_s : NAN, false};
        r->bottlenecks[of].bound = r->bottlenecks[of].share >= MOST_OF_THE_TIME;
    }
    job_bottleneck_measure_waits(r);
}

// Processes that wait for each other or for a GPU may do so by asking again and again.
static bool job_bottleneck_may_poll(const job_report *r)
{
    if (!isnan(r->bottlenecks[JOB_BOUND_GPU].mean) || r->regions.rank_count > 1) return true;
    for (size_t i = 0; i < r->fact_count; i++)
        if (strcmp(r->facts[i].key, "rank_count") == 0 && strtoul(r->facts[i].text, NULL, 10) > 1) return true;
    return false;
}

// "one thread: 95.9 % of a core in the mean, 90 % or more for 97 % of the time".
static void job_bottleneck_tell(const job_report *r, char **text, job_bottleneck_of of)
{
    static const char *const names[JOB_BOUNDS][2] = {
        {"CPUs", "%s of its CPUs' time"},
        {"one thread", "%s of a core"},
        {"GPUs", "a kernel ran %s of the time"},
        {"sending", "%s of the line rate of the busiest NIC"},
        {"receiving", "%s of the line rate of the busiest NIC"},
        {"the network", "it blocked transmitting %s of the time"},
        {"I/O", "all tasks waited for it %s of the time"},
        {"waiting for CPUs that others had", "%s of the time that its threads could have run"}};
    const job_bottleneck *x = &r->bottlenecks[of];
    const char *at = strstr(names[of][1], "%s");
    text_append(text, "%s: %.*s%s%s%s", names[of][0], (int)(at - names[of][1]), names[of][1], words_share(x->mean).text,
                at + 2, of == JOB_BOUND_WAITING ? "" : " in the mean");
    if (x->bound && of != JOB_BOUND_WAITING && job_bottleneck_columns(r) > 1)
        text_append(text, ", %s or more for %s of the time", words_share(JOB_AT_LIMIT).text,
                    words_share(x->share).text);
}

// Of two that are at their limit as long, the earlier in the list.
static int job_bottleneck_next(const job_report *r, const bool *told, bool bound)
{
    int next = JOB_BOUNDS;
    for (int of = 0; of < JOB_BOUNDS; of++) {
        const job_bottleneck *x = &r->bottlenecks[of];
        if (told[of] || isnan(x->mean) || x->bound != bound) continue;
        if (of == JOB_BOUND_WAITING && next < JOB_BOUNDS) continue; // what is used up comes first
        double value = bound ? x->share : x->mean;
        if (next == JOB_BOUNDS || value > (bound ? r->bottlenecks[next].share : r->bottlenecks[next].mean)) next = of;
    }
    return next;
}

void job_make_bottlenecks(job_report *r)
{
    bool told[JOB_BOUNDS] = {false}, busy = false;
    size_t count = 0;
    job_bottleneck_measure(r);
    for (int of; (of = job_bottleneck_next(r, told, true)) < JOB_BOUNDS; count++) {
        if (count) text_append(&r->bound_text, "; ");
        job_bottleneck_tell(r, &r->bound_text, (job_bottleneck_of)of);
        busy |= of == JOB_BOUND_CPU || of == JOB_BOUND_THREAD;
        told[of] = true;
    }
    int nearest = count ? JOB_BOUNDS : job_bottleneck_next(r, told, false);
    if (nearest < JOB_BOUNDS) {
        text_append(&r->bound_text, "not known: nothing measured was at its limit most of the time; nearest ");
        job_bottleneck_tell(r, &r->bound_text, (job_bottleneck_of)nearest);
    }
    if (busy)
        text_append(&r->bound_text, "; the memory's bandwidth is not measured%s",
                    job_bottleneck_may_poll(r) ? ", and waiting by polling counts as busy" : "");
}
