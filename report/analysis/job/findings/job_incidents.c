// Episodes as incidents, with their effect on the other meters.
#include "job_findings_make.h"
#include "job_finding.h"

#include "analysis/base/words.h"
#include "analysis/job/job_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The stretch to compare an incident with: its phase, else the same length before and after it.
typedef struct around {
    double from_s, to_s;
    size_t span; // or JOB_NONE
} around;

static around job_around_of(const job_report *r, double from_s, double to_s)
{
    double middle = (from_s + to_s) / 2, length = to_s - from_s;
    for (size_t i = 0; i < r->span_count; i++)
        if (r->spans[i].from_s <= middle && r->spans[i].to_s >= middle)
            return (around){r->spans[i].from_s, r->spans[i].to_s, i};
    return (around){fmax(0, from_s - length), fmin(r->end_s, to_s + length), JOB_NONE};
}

// Mean over the nodes (or of one) within the stretch but outside the incident.
static double job_mean_around(const job_report *r, job_meter meter, size_t node, const around *a, double from_s,
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

static double job_ratio_to_around(const job_report *r, job_meter meter, size_t node, const around *a, double from_s,
                                  double to_s)
{
    double before = job_mean_around(r, meter, node, a, from_s, to_s),
           then = job_mean_between(r, meter, node, from_s, to_s);
    return before > 0 ? then / before : NAN;
}

static size_t job_nodes_slowed(const job_report *r, const around *a, double from_s, double to_s)
{
    size_t count = 0;
    for (size_t i = 0; i < r->node_count; i++)
        count += job_ratio_to_around(r, JOB_SENT, i, a, from_s, to_s) < 0.9;
    return count;
}

// The most that any other device of this meter had in that time.
static double job_others_at_most(const job_report *r, const job_episode *e, const bool *absorbed, size_t *others)
{
    double most = NAN;
    *others = 0;
    for (size_t i = 0; i < r->device_count; i++) {
        const job_lane *lane = r->devices[i].lanes[e->meter];
        if (!lane || i == e->device || absorbed[i]) continue;
        job_span x = job_bins_span(lane->bins, e->from_ns, e->to_ns);
        if (x.known_s > 0) most = fmax(most, x.integral / x.known_s);
        ++*others;
    }
    return most;
}

static char *job_paused_claim(const job_report *r, const job_episode *e, const bool *absorbed, size_t also)
{
    double from = (double)(e->from_ns - r->begin_ns) * 1e-9, to = (double)(e->to_ns - r->begin_ns) * 1e-9;
    char retries[96] = "", more[96] = "", others[192] = "";
    size_t count;
    double most = job_others_at_most(r, e, absorbed, &count);
    if (e->retries >= 1) snprintf(retries, sizeof retries, ", %s retries", words_count(e->retries).text);
    if (also) snprintf(more, sizeof more, " and %zu more", also);
    if (count && !isnan(most))
        snprintf(others, sizeof others, "; the %s at most %s", words_many(count, "other NIC").text,
                 words_share(most).text);
    return memory_format("%s-%s: %s %s%s transmit paused %s of the time%s%s", words_moment(from, r->end_s).text,
                         words_moment(to, r->end_s).text, r->nodes[r->devices[e->device].node].name,
                         r->devices[e->device].label, more, words_share(e->mean).text, retries, others);
}

static char *job_throttled_claim(const job_report *r, const job_episode *e, size_t also)
{
    double from = (double)(e->from_ns - r->begin_ns) * 1e-9, to = (double)(e->to_ns - r->begin_ns) * 1e-9;
    char clock[64] = "", more[64] = "";
    job_column c = job_lane_span(r, r->devices[e->device].lanes[JOB_GPU_CLOCK], from, to);
    if (c.mean > 0) snprintf(clock, sizeof clock, " at %.40s", words_quantity(c.mean, "Hz").text);
    if (also) snprintf(more, sizeof more, " and %zu more", also);
    return memory_format("%s-%s: %s %s%s slowed by heat or its hardware for %s%s, %s of the time",
                         words_moment(from, r->end_s).text, words_moment(to, r->end_s).text,
                         r->nodes[r->devices[e->device].node].name, r->devices[e->device].label, more,
                         words_duration(to - from).text, clock, words_share(e->mean).text);
}

static char *job_incident_title(const job_report *r, const job_episode *e, size_t slowed, double length_s)
{
    words_text length = words_duration(length_s);
    const char *node = r->nodes[r->devices[e->device].node].name, *label = r->devices[e->device].label;
    if (e->meter == JOB_PAUSED && slowed == r->node_count && slowed > 1)
        return memory_format("%s\u2019s %s slowed all %zu nodes for %s", node, label, slowed, length.text);
    if (e->meter == JOB_PAUSED && slowed > 1)
        return memory_format("%s\u2019s %s slowed %zu of %zu nodes for %s", node, label, slowed, r->node_count,
                             length.text);
    return memory_format("%s\u2019s %s was %s for %s", node, label,
                         e->meter == JOB_PAUSED ? "paused" : "slowed by heat or its hardware", length.text);
}

static void job_add_incident(job_report *r, const job_episode *e, const bool *absorbed, size_t also, size_t nodes)
{
    const job_watch_row *x = job_watch_of(e->meter);
    job_finding made = job_finding_blank;
    double from = (double)(e->from_ns - r->begin_ns) * 1e-9, to = (double)(e->to_ns - r->begin_ns) * 1e-9;
    around a = job_around_of(r, from, to);
    bool pause = e->meter == JOB_PAUSED;
    made.severity = x->severity;
    made.class_rank = rules_class_rank(x->class_name);
    made.rule = (char *)(uintptr_t)x->rule;
    made.advice = (char *)(uintptr_t)x->advice;
    made.origin = (char *)(uintptr_t)x->origin;
    made.unit = (char *)(uintptr_t) "of the time";
    made.node = r->devices[e->device].node;
    made.device = e->device;
    made.nodes = nodes;
    made.meter = e->meter;
    made.value = e->mean;
    made.threshold = x->limit;
    made.from_s = from;
    made.to_s = to;
    made.incident = true;
    made.sent_ratio = job_ratio_to_around(r, JOB_SENT, JOB_ALL_NODES, &a, from, to);
    made.cpu_ratio = job_ratio_to_around(r, JOB_CPU, JOB_ALL_NODES, &a, from, to);
    made.gpu_ratio = job_ratio_to_around(r, JOB_GPU_BUSY, JOB_ALL_NODES, &a, from, to);
    made.power_ratio = job_ratio_to_around(r, JOB_POWER, JOB_ALL_NODES, &a, from, to);
    if (!isnan(made.sent_ratio)) made.lost_s = fmax(0, 1 - made.sent_ratio) * (to - from);
    made.claim = pause ? job_paused_claim(r, e, absorbed, also) : job_throttled_claim(r, e, also);
    made.title = job_incident_title(r, e, pause ? job_nodes_slowed(r, &a, from, to) : 0, to - from);
    job_add_finding(r, made);
}

static int job_by_harm(const void *a, const void *b)
{
    const job_episode *x = a, *y = b;
    double p = x->mean * (double)(x->to_ns - x->from_ns), q = y->mean * (double)(y->to_ns - y->from_ns);
    if (p > q || p < q) return p > q ? -1 : 1;
    if (x->from_ns != y->from_ns) return x->from_ns < y->from_ns ? -1 : 1;
    return x->device < y->device ? -1 : x->device > y->device;
}

static bool job_episodes_overlap(const job_episode *x, const job_episode *y)
{
    int64_t from = x->from_ns > y->from_ns ? x->from_ns : y->from_ns, to = x->to_ns < y->to_ns ? x->to_ns : y->to_ns;
    return x->meter == y->meter && (to - from) * 2 > y->to_ns - y->from_ns;
}

typedef struct incident {
    bool *absorbed; // by device: it had an episode in the same time
    size_t also, nodes;
} incident;

// Other devices' episodes in the same time are part of an incident.
static incident job_absorb_episodes(const job_report *r, size_t first, bool *done)
{
    const job_episode *all = r->reader->episodes;
    incident x = {.absorbed = memory_calloc(r->device_count, sizeof *x.absorbed), .nodes = 1};
    bool *seen = memory_calloc(r->node_count, sizeof *seen);
    seen[r->devices[all[first].device].node] = true;
    for (size_t i = first + 1; i < arrlenu(all); i++) {
        size_t device = all[i].device, node = r->devices[device].node;
        if (done[i] || !job_episodes_overlap(&all[first], &all[i])) continue;
        done[i] = true;
        x.also += device != all[first].device && !x.absorbed[device];
        x.absorbed[device] = true;
        x.nodes += !seen[node];
        seen[node] = true;
    }
    free(seen);
    return x;
}

// The worst first.
void job_add_incidents(job_report *r)
{
    enum { SHOWN = 16 };
    job_episode *episodes = r->reader->episodes;
    size_t count = arrlenu(episodes);
    bool *done = memory_calloc(count, sizeof *done);
    if (count) qsort(episodes, count, sizeof *episodes, job_by_harm);
    for (size_t i = 0, shown = 0; i < count && shown < SHOWN; i++) {
        if (done[i]) continue;
        incident x = job_absorb_episodes(r, i, done);
        job_add_incident(r, &episodes[i], x.absorbed, x.also, x.nodes);
        free(x.absorbed);
        shown++;
    }
    free(done);
}

// An incident is a row of the phases, too.
void job_add_incident_phases(job_report *r)
{
    for (size_t i = 0; i < r->finding_count; i++) {
        const job_finding *x = &r->findings[i];
        if (!x->incident) continue;
        around a = job_around_of(r, x->from_s, x->to_s);
        size_t within = a.span == JOB_NONE ? JOB_NONE : r->spans[a.span].phase;
        const char *what = x->meter == JOB_PAUSED ? "paused" : "slowed";
        job_phase p = {.count = 1, .finding = i, .within = within, .time_s = x->to_s - x->from_s};
        p.name = memory_format("%s%s%s %s", within == JOB_NONE ? "" : r->phases[within].name,
                               within == JOB_NONE ? "" : ", ", r->nodes[x->node].name, what);
        job_fill_phase(r, &p, &(job_phase_span){0, x->from_s, x->to_s}, 1);
        p.energy_j = p.meters[JOB_POWER].amount;
        arrput(r->phases, p);
        r->phase_count++;
    }
}
