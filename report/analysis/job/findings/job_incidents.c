// Episodes as incidents: who was blocked or slowed from when to when, and what else changed meanwhile.
#include "job_findings_make.h"
#include "job_blame.h"
#include "job_finding.h"

#include "analysis/base/text.h"
#include "analysis/base/words.h"
#include "analysis/job/job_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double job_incident_seconds(const job_report *r, int64_t at_ns)
{
    return (double)(at_ns - r->begin_ns) / 1e9;
}

// ---- the same time ----

static bool job_incident_overlaps(const job_episode *x, const job_episode *y)
{
    int64_t from = x->from_ns > y->from_ns ? x->from_ns : y->from_ns, to = x->to_ns < y->to_ns ? x->to_ns : y->to_ns;
    return x->meter == y->meter && (to - from) * 2 > y->to_ns - y->from_ns;
}

// Which devices had an episode in the time of the first one.
static void job_incident_join(const job_report *r, job_group *g, size_t first, bool *done)
{
    const job_episode *all = r->reader->episodes;
    bool *seen = memory_calloc(r->node_count, sizeof *seen);
    for (size_t i = first; i < arrlenu(all); i++) {
        size_t device = all[i].device, node = r->devices[device].node;
        if (i != first && (done[i] || !job_incident_overlaps(&all[first], &all[i]))) continue;
        done[i] = true;
        g->devices += !g->member[device];
        g->member[device] = true;
        g->nodes += !seen[node];
        seen[node] = true;
    }
    free(seen);
}

// ... and how the devices stood in that time.
static void job_incident_weigh(const job_report *r, job_group *g)
{
    size_t last = JOB_NONE;
    g->low = g->high = g->worst->mean;
    g->others = NAN;
    for (size_t i = 0; i < r->device_count; i++) {
        const job_lane *lane = r->devices[i].lanes[g->worst->meter];
        if (!lane) continue;
        g->all++;
        g->all_nodes += r->devices[i].node != last;
        last = r->devices[i].node;
        job_span x = job_bins_span(lane->bins, g->worst->from_ns, g->worst->to_ns);
        double mean = x.known_s > 0 ? x.integral / x.known_s : NAN;
        if (!g->member[i]) {
            g->others = job_more(g->others, mean);
        } else if (i != g->worst->device) {
            g->low = job_less(g->low, mean);
            g->high = job_more(g->high, mean);
        }
    }
}

static job_group job_incident_group(const job_report *r, size_t first, bool *done)
{
    job_group g = {.worst = &r->reader->episodes[first], .member = memory_calloc(r->device_count, sizeof *g.member)};
    g.from_s = job_incident_seconds(r, g.worst->from_ns);
    g.to_s = job_incident_seconds(r, g.worst->to_ns);
    job_incident_join(r, &g, first, done);
    job_incident_weigh(r, &g);
    return g;
}

// ---- words ----

static bool job_incident_is_of_gpu(const job_group *g)
{
    return g->worst->meter == JOB_GPU_THROTTLED;
}

// "n2 NIC 2 (cxi1)", "2 of 4 NICs of n2", "all 32 NICs of 8 nodes", "6 of 32 NICs on 3 of 8 nodes". free() it.
static char *job_incident_who(const job_report *r, const job_group *g, bool title)
{
    const job_device *d = &r->devices[g->worst->device];
    const char *node = r->nodes[d->node].name, *what = job_incident_is_of_gpu(g) ? "GPU" : "NIC";
    if (g->devices == 1) return memory_format("%s%s %s", node, title ? "\u2019s" : "", d->label);
    char *count = g->devices == g->all ? memory_format("all %s", words_many(g->all, what).text)
                                       : memory_format("%zu of %s", g->devices, words_many(g->all, what).text);
    char *where = g->nodes == 1 && g->all_nodes > 1 ? memory_format(", those of %s", node)
                  : g->nodes == 1                   ? memory_format(" of %s", node)
                  : g->nodes == g->all_nodes        ? memory_format(" of %zu nodes", g->nodes)
                                                    : memory_format(" on %zu of %zu nodes", g->nodes, g->all_nodes);
    char *text = memory_format("%s%s", count, where);
    if (title && *text == 'a') *text = 'A';
    free(count);
    free(where);
    return text;
}

// What a NIC was, everywhere in the same words.
static const char *job_incident_was(const job_group *g)
{
    switch (g->worst->meter) {
    case JOB_PAUSED: return "transmit blocked by the network";
    case JOB_HOLDING: return "receive blocked";
    default: return "slowed by heat or its hardware";
    }
}

// "44.0 %", "12.0 % to 44.0 %".
static char *job_incident_share(const job_group *g)
{
    words_text low = words_share(g->low), high = words_share(g->high);
    bool alike = g->high <= 1.1 * g->low || strcmp(low.text, high.text) == 0;
    return alike ? memory_strdup(words_share(g->worst->mean).text) : memory_format("%s to %s", low.text, high.text);
}

static void job_incident_add_cause(char **text, const job_report *r, const job_group *g, const job_blame *b)
{
    if (b->why == JOB_WHY_LINK)
        text_append(text, "; its link damaged %s in that time", words_volume(b->damaged, b->damaged_unit).text);
    if (g->worst->meter == JOB_HOLDING)
        text_append(text, ": %s slowly", g->nodes > 1 ? "these hosts drain" : "this host drains");
    if (b->holder != JOB_NONE)
        text_append(text, "; %s %s was receive blocked in that time: its host drains slowly",
                    r->nodes[r->devices[b->holder].node].name, r->devices[b->holder].label);
    else if (b->why == JOB_WHY_UNKNOWN && job_group_is_of_all(g) && g->worst->meter == JOB_PAUSED)
        text_append(text, ": congestion in the fabric or at receivers");
}

static void job_incident_add_effect(char **text, const job_report *r, const job_blame *b, const job_effect *x)
{
    char *less = job_effect_text(r, x);
    if (b->paused && *less)
        text_append(text,
                    "; %s and %s: more than the blocked time explains, so the program seems to have paused by itself, "
                    "and nothing is counted as lost",
                    less, b->paused);
    else if (*less)
        text_append(text, "; %s meanwhile", less);
    free(less);
}

static char *job_incident_claim(const job_report *r, const job_group *g, const job_blame *b, const job_effect *x)
{
    char *who = job_incident_who(r, g, false), *share = job_incident_share(g), *text = NULL;
    words_text length = words_duration(g->to_s - g->from_s);
    size_t rest = g->all - g->devices;
    bool gpu = job_incident_is_of_gpu(g);
    text_append(&text, "%s-%s: %s %s", words_moment(g->from_s, r->end_s).text, words_moment(g->to_s, r->end_s).text,
                who, job_incident_was(g));
    if (gpu) {
        job_column c = job_lane_span(r, r->devices[g->worst->device].lanes[JOB_GPU_CLOCK], g->from_s, g->to_s);
        text_append(&text, " for %s", length.text);
        if (c.mean > 0) text_append(&text, " at %s", words_quantity(c.mean, "Hz").text);
        text_append(&text, ", %s of the time", share);
    } else {
        text_append(&text, " %s of the time", share);
        if (g->worst->retries >= 1)
            text_append(&text, ", %s",
                        g->worst->retries < 2 ? "1 retry" : words_volume(g->worst->retries, "retries").text);
        if (rest && !isnan(g->others))
            text_append(&text, "; the %s at most %s", words_many(rest, "other NIC").text, words_share(g->others).text);
        job_incident_add_cause(&text, r, g, b);
        job_incident_add_effect(&text, r, b, x);
    }
    free(who);
    free(share);
    return text;
}

static char *job_incident_title(const job_report *r, const job_group *g, const job_blame *b, const job_effect *x)
{
    char *who = job_incident_who(r, g, true), *share = job_incident_share(g), *text = NULL;
    words_text length = words_duration(g->to_s - g->from_s);
    if (job_incident_is_of_gpu(g))
        text_append(&text, "%s was %s for %s", who, job_incident_was(g), length.text);
    else if (b->slowed && x->slowed == r->node_count)
        text_append(&text, "%s slowed all %zu nodes for %s: %s %s of the time", who, r->node_count, length.text,
                    job_incident_was(g), share);
    else if (b->slowed)
        text_append(&text, "%s slowed %zu of %zu nodes for %s: %s %s of the time", who, x->slowed, r->node_count,
                    length.text, job_incident_was(g), share);
    else
        text_append(&text, "%s: %s %s of the time for %s", who, job_incident_was(g), share, length.text);
    free(who);
    free(share);
    return text;
}

// What the link's own fault did, for the finding about it.
static char *job_incident_effect(const job_report *r, const job_group *g, const job_blame *b, const job_effect *x)
{
    char *text = NULL, *less = job_effect_text(r, x);
    text_append(&text, "%s-%s its NIC was %s %s of the time", words_moment(g->from_s, r->end_s).text,
                words_moment(g->to_s, r->end_s).text, job_incident_was(g), words_share(g->worst->mean).text);
    if (*less) text_append(&text, b->slowed ? ", and it slowed the job: %s" : ", and %s", less);
    free(less);
    return text;
}

// ---- findings ----

// Tells the rule's finding about the cause what it did, and how bad that was.
static void job_incident_tell_cause(job_report *r, const job_group *g, const job_blame *b, const job_effect *x,
                                    severity how)
{
    const job_device *d = &r->devices[g->worst->device];
    for (size_t i = 0; i < arrlenu(r->reader->found); i++) {
        job_node_finding *cause = &r->reader->found[i];
        bool same = cause->rule && strcmp(cause->rule, b->rule) == 0 && cause->node == d->node &&
                    strcmp(cause->device, d->name) == 0;
        if (!same || cause->effect) continue;
        cause->effect = job_incident_effect(r, g, b, x);
        cause->effect_severity = how;
        cause->effect_cost_s = g->worst->mean * (g->to_s - g->from_s);
        return;
    }
}

// A NIC that was held while nobody sent less cost nothing that is known; one held while the program paused, nothing.
static severity job_incident_severity(const job_group *g, const job_blame *b, const job_effect *x)
{
    severity s = job_watch_of(g->worst->meter)->severity;
    if (b->why == JOB_WHY_PROGRAM) return SEVERITY_INFO;
    bool victim = g->worst->meter == JOB_PAUSED && b->why == JOB_WHY_UNKNOWN;
    if (victim && x->sent >= 0.95 && !job_group_is_of_all(g)) return SEVERITY_WATCH;
    return s;
}

// The devices and their nodes, beside the worst one's. The finding is the next to be added.
static void job_incident_mark_members(job_report *r, const job_group *g, severity s)
{
    for (size_t i = 0; i < r->device_count; i++) {
        if (!g->member[i]) continue;
        arrput(r->reader->told, ((job_told){r->finding_count, i}));
        if (s > r->nodes[r->devices[i].node].severity) r->nodes[r->devices[i].node].severity = s;
    }
}

static void job_incident_add(job_report *r, const job_group *g)
{
    const job_watch_row *row = job_watch_of(g->worst->meter);
    job_effect x = job_effect_of(r, g->from_s, g->to_s);
    job_blame b = job_blame_of(r, g, &x);
    job_finding made = job_finding_blank;
    made.severity = job_incident_severity(g, &b, &x);
    made.class_rank = rules_class_rank(row->class_name);
    made.rule = (char *)(uintptr_t)row->rule;
    made.advice = (char *)(uintptr_t)row->advice;
    made.origin = (char *)(uintptr_t)row->origin;
    made.unit = (char *)(uintptr_t) "of the time";
    made.explained_by = (char *)(uintptr_t)b.rule;
    made.node = r->devices[g->worst->device].node;
    made.device = g->worst->device;
    made.nodes = g->nodes;
    made.devices = g->devices;
    // What all have is no single one's: who reads this must not take the worst of them out of service.
    if (job_group_is_of_all(g)) made.device = JOB_NONE;
    if (job_group_is_of_all(g) && g->nodes > 1) made.node = JOB_NONE;
    made.meter = g->worst->meter;
    made.value = g->worst->mean;
    made.threshold = row->limit;
    made.from_s = g->from_s;
    made.to_s = g->to_s;
    made.incident = true;
    made.sent_ratio = x.sent;
    made.cpu_ratio = x.cpu;
    made.gpu_ratio = x.gpu;
    made.power_ratio = x.power;
    made.cost_s = b.why == JOB_WHY_PROGRAM ? 0 : g->worst->mean * (g->to_s - g->from_s);
    if (b.slowed) made.lost_s = fmax(0, 1 - x.sent) * (g->to_s - g->from_s);
    if (b.why == JOB_WHY_PROGRAM) made.lost_s = 0;
    made.claim = job_incident_claim(r, g, &b, &x);
    made.title = job_incident_title(r, g, &b, &x);
    job_incident_mark_members(r, g, made.severity);
    job_add_finding(r, made);
    if (b.why == JOB_WHY_LINK && b.rule) job_incident_tell_cause(r, g, &b, &x, made.severity);
    free(b.paused);
}

static int job_by_harm(const void *a, const void *b)
{
    const job_episode *x = a, *y = b;
    double p = x->mean * (double)(x->to_ns - x->from_ns), q = y->mean * (double)(y->to_ns - y->from_ns);
    if (p > q || p < q) return p > q ? -1 : 1;
    if (x->from_ns != y->from_ns) return x->from_ns < y->from_ns ? -1 : 1;
    return x->device < y->device ? -1 : x->device > y->device;
}

// The worst first.
void job_add_incidents(job_report *r)
{
    enum { SHOWN = 16 };
    job_episode *episodes = r->reader->episodes;
    size_t count = arrlenu(episodes);
    bool *done = memory_calloc(count + 1, sizeof *done);
    if (count) qsort(episodes, count, sizeof *episodes, job_by_harm);
    for (size_t i = 0, shown = 0; i < count && shown < SHOWN; i++) {
        if (done[i]) continue;
        job_group g = job_incident_group(r, i, done);
        job_incident_add(r, &g);
        free(g.member);
        shown++;
    }
    free(done);
}

// An incident is a row of the phases, too.
void job_add_incident_phases(job_report *r)
{
    for (size_t i = 0; i < r->finding_count; i++) {
        const job_finding *x = &r->findings[i];
        if (!x->incident || x->severity < SEVERITY_WATCH) continue;
        job_around a = job_around_of(r, x->from_s, x->to_s);
        size_t within = a.span == JOB_NONE ? JOB_NONE : r->spans[a.span].phase;
        const char *what = x->meter == JOB_PAUSED ? "blocked" : x->meter == JOB_HOLDING ? "holding" : "slowed";
        job_phase p = {.count = 1, .finding = i, .within = within, .time_s = x->to_s - x->from_s};
        char *who = x->nodes > 1 ? memory_format("%zu nodes", x->nodes) : memory_strdup(r->nodes[x->node].name);
        p.name = memory_format("%s%s%s %s", within == JOB_NONE ? "" : r->phases[within].name,
                               within == JOB_NONE ? "" : ", ", who, what);
        free(who);
        job_fill_phase(r, &p, &(job_phase_span){0, x->from_s, x->to_s}, 1);
        p.energy_j = p.meters[JOB_POWER].amount;
        arrput(r->phases, p);
        r->phase_count++;
    }
}
