// The rules' findings of each node, folded by rule; and episodes as incidents, with their effect on the other meters.
// Findings about the whole job over time are in job_limits.c.
#include "job_columns.h"
#include "job_words.h"
#include "job_finding.h"
#include "job_store.h"
#include "analysis/base/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the rules, node by node ----

void job_node_finding_free(job_node_finding *x)
{
    char *texts[] = {x->rule, x->device, x->source, x->claim, x->advice, x->origin, x->unit, x->value_text};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
}

// Drops a finding that another one covers. Its place in the list stays.
static void job_drop_finding(job_node_finding *x)
{
    job_node_finding_free(x);
    *x = (job_node_finding){.node = x->node};
}

// The events that a finding is about.
static void job_mark_events(job_report *r, const findings *f, const finding *x)
{
    for (size_t k = 0; k < x->evidence_count; k++) {
        if (x->evidence[k].counter == DIFFERENCE_NONE) continue;
        const netprof_schema *schema = f->d->delta->schema;
        const char *source = schema->devices[schema->counters[x->evidence[k].counter].device].source;
        for (size_t i = 0; i < r->event_count; i++) {
            job_event *e = &r->events[i];
            if (strcmp(e->counter, x->evidence[k].name) != 0 || strcmp(e->source, source) != 0) continue;
            if (x->severity > e->severity) e->severity = x->severity;
        }
    }
}

static void job_keep_finding(job_report *r, size_t node, const findings *f, const finding *x)
{
    char value[48];
    bool of_device = x->device != DIFFERENCE_NONE;
    job_node_finding new = {.node = node,
                            .severity = x->severity,
                            .class_rank = x->rule->class_rank,
                            .rule = memory_strdup(x->rule->name),
                            .device = memory_strdup(of_device ? finding_device(f, x) : ""),
                            .source = memory_strdup(of_device ? f->d->delta->schema->devices[x->device].source : ""),
                            .claim = memory_strdup(x->claim),
                            .advice = memory_strdup(x->rule->advice),
                            .origin = memory_strdup(x->threshold->origin),
                            .unit = memory_strdup(x->rule->unit),
                            .value_text = memory_strdup(finding_value_text(x, value, sizeof value)),
                            .value = x->value,
                            .threshold = x->threshold->value,
                            .is_pause = x->rule->is_pause};
    arrput(r->reader->found, new);
    job_mark_events(r, f, x);
}

void job_judge_node(job_report *r, size_t node, const dataset *set)
{
    difference d = {0};
    findings f = {0};
    netprof_error own;
    if (difference_of_dataset(&d, set, true, &own))
        job_warn(r, set->runs[0].path, "%s", own.text);
    else
        findings_make(&f, &d, r->reader->options->rules);
    for (size_t i = 0; i < f.count; i++)
        if (f.items[i].severity >= SEVERITY_WATCH) job_keep_finding(r, node, &f, &f.items[i]);
    r->reader->judged += f.judged;
    r->reader->unknown += f.unknown_count;
    findings_free(&f);
    difference_free(&d);
}

// Of what the node has once, or the job, its name says nothing that the node's does not.
static bool job_is_telling(const job_node_finding *x)
{
    return *x->device && strcmp(x->source, x->device) != 0 && !findings_source_is_whole(x->source);
}

// Who waits on a busy node? What the job itself has to do with it is known where its processes were followed: how long
// its own threads waited (which the rule runqueue-wait judges), else how much of the node's work is its own. What others
// wait for is context.
static void job_weigh_pressure(job_report *r)
{
    static const double works = 0.10; // own
    for (size_t i = 0; i < arrlenu(r->reader->found); i++) {
        job_node_finding *x = &r->reader->found[i];
        const job_node *node = &r->nodes[x->node];
        const job_lane *own = node->lanes[JOB_CPU], *all = node->lanes[JOB_NODE_CPU];
        if (!x->rule || strcmp(x->rule, "cpu-pressure") != 0 || node->scope[JOB_CPU] != JOB_SCOPE_JOB || !own) continue;
        bool known = !isnan(r->reader->nodes[x->node].waited_s),
             others = known || (all && own->mean < works * all->mean);
        bool told = false; // better
        for (size_t k = 0; k < arrlenu(r->reader->found); k++) {
            const job_node_finding *y = &r->reader->found[k];
            told |= y->rule && y->node == x->node && strcmp(y->rule, "runqueue-wait") == 0;
        }
        if (!others && !told) continue;
        if (!told) r->reader->nodes[x->node].others_wait = x->value;
        job_drop_finding(x);
    }
}

static size_t job_finding_device(const job_report *r, const job_node_finding *x)
{
    const job_node *node = &r->nodes[x->node];
    for (size_t i = node->first_device; i < node->first_device + node->device_count; i++)
        if (strcmp(r->devices[i].name, x->device) == 0 && strcmp(r->devices[i].source, x->source) == 0) return i;
    return JOB_NONE;
}

// The findings of one rule on all nodes.
typedef struct alike {
    const job_node_finding *worst;
    size_t nodes, places;
} alike;

static bool job_is_alike(const job_node_finding *x, const job_node_finding *y)
{
    return x->rule && strcmp(x->rule, y->rule) == 0;
}

static alike job_count_alike(job_report *r, size_t first)
{
    const job_node_finding *all = r->reader->found;
    alike a = {.worst = &all[first]};
    size_t last = JOB_NONE;
    for (size_t i = first; i < arrlenu(r->reader->found); i++) {
        if (!job_is_alike(&all[i], &all[first])) continue;
        job_node *node = &r->nodes[all[i].node];
        if (all[i].severity > a.worst->severity) a.worst = &all[i];
        if (all[i].severity > node->severity) node->severity = all[i].severity;
        a.nodes += all[i].node != last;
        last = all[i].node;
        a.places++;
    }
    return a;
}

static job_finding job_folded_finding(const job_report *r, const alike *a)
{
    char who[300], more[64] = "";
    const job_node_finding *worst = a->worst;
    const char *node = r->nodes[worst->node].name, *device = job_is_telling(worst) ? worst->device : "";
    const char *shown = a->nodes > 1 ? "" : device; // of several nodes no device is named
    if (a->places > 1 && a->nodes == 1 && *device) snprintf(more, sizeof more, " and %zu more", a->places - 1);
    job_finding made = job_finding_blank;
    made.severity = worst->severity;
    made.class_rank = worst->class_rank;
    made.rule = worst->rule;
    made.advice = worst->advice;
    made.origin = worst->origin;
    made.unit = worst->unit;
    made.value = worst->value;
    made.threshold = worst->threshold;
    made.node = worst->node;
    made.device = job_finding_device(r, worst);
    made.nodes = a->nodes;
    made.to_s = r->end_s;
    made.claim = memory_format("%s%s%s%s: %s", job_nodes_text(who, sizeof who, node, a->nodes), *shown ? " " : "",
                               shown, more, worst->claim);
    made.title = memory_format("%s%s%s: %s", node, *device ? " " : "", device, worst->claim);
    return made;
}

// The same rule on other nodes is one finding: of the worst.
static void job_fold_rule(job_report *r, size_t first)
{
    job_node_finding *all = r->reader->found;
    if (!all[first].rule) return;
    alike a = job_count_alike(r, first);
    job_add_finding(r, job_folded_finding(r, &a));
    for (size_t i = arrlenu(r->reader->found); i-- > first;) // the first, by whose rule they are found, last
        if (job_is_alike(&all[i], &all[first])) job_drop_finding(&all[i]);
}

// Does an incident tell of the same pauses?
static bool job_told_by_incident(const job_report *r, const job_node_finding *x)
{
    for (size_t i = 0; i < r->finding_count && x->is_pause; i++)
        if (r->findings[i].incident && r->findings[i].node == x->node &&
            r->findings[i].device == job_finding_device(r, x))
            return true;
    return false;
}

static void job_fold_rules(job_report *r)
{
    job_weigh_pressure(r);
    for (size_t i = 0; i < arrlenu(r->reader->found); i++) {
        job_node_finding *x = &r->reader->found[i];
        if (job_told_by_incident(r, x)) job_drop_finding(x);
    }
    for (size_t i = 0; i < arrlenu(r->reader->found); i++)
        job_fold_rule(r, i);
}

// ---- incidents ----

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
static void job_add_incidents(job_report *r)
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

// ---- events ----

static bool job_is_background(const job_report *r, size_t event)
{
    double low = INFINITY, high = 0;
    size_t count = 0, all = 0;
    for (size_t i = 0; i < arrlenu(r->reader->troubles); i++) {
        const job_trouble *t = &r->reader->troubles[i];
        if (t->event != event) continue;
        low = fmin(low, t->sum);
        high = fmax(high, t->sum);
        count++;
    }
    for (size_t i = 0; i < r->device_count; i++)
        all += strcmp(r->devices[i].source, r->events[event].source) == 0 && r->devices[i].lanes[JOB_SENT];
    return count >= 3 && count >= all && high <= 2 * low;
}

static int job_by_event(const void *a, const void *b)
{
    const job_event *x = a, *y = b;
    if (!(x->sum > 0) != !(y->sum > 0)) return x->sum > 0 ? -1 : 1;
    if (x->severity != y->severity) return x->severity > y->severity ? -1 : 1;
    if (x->background != y->background) return y->background ? -1 : 1;
    int order = x->devices < y->devices ? -1 : x->devices > y->devices;
    if (!order) order = strcmp(x->source, y->source);
    return order ? order : strcmp(x->counter, y->counter);
}

static void job_finish_events(job_report *r)
{
    for (size_t i = 0; i < arrlenu(r->reader->troubles); i++) {
        const job_trouble *t = &r->reader->troubles[i];
        job_event *e = &r->events[t->event];
        e->devices++;
        if (t->sum > e->worst_sum) e->worst_sum = t->sum, e->worst = t->device;
    }
    for (size_t i = 0; i < r->event_count; i++)
        r->events[i].background = job_is_background(r, i);
    if (r->event_count) qsort(r->events, r->event_count, sizeof *r->events, job_by_event);
    arrsetlen(r->reader->troubles, 0); // their indexes are no longer valid
}

// ---- all ----

static int job_by_weight(const void *a, const void *b)
{
    const job_finding *x = a, *y = b;
    if (x->severity != y->severity) return x->severity > y->severity ? -1 : 1;
    if (x->incident != y->incident) return x->incident ? -1 : 1; // says when
    if (x->class_rank != y->class_rank) return x->class_rank < y->class_rank ? -1 : 1;
    double p = x->incident ? x->value * (x->to_s - x->from_s) : 0,
           q = y->incident ? y->value * (y->to_s - y->from_s) : 0;
    if (p > q || p < q) return p > q ? -1 : 1;
    int order = strcmp(x->rule, y->rule);
    return order ? order : strcmp(x->claim, y->claim);
}

// An incident is a row of the phases, too.
static void job_add_incident_phases(job_report *r)
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

void job_make_findings(job_report *r)
{
    job_add_incidents(r);
    job_fold_rules(r);
    job_find_limits(r);
    job_finish_events(r);
    if (r->finding_count) qsort(r->findings, r->finding_count, sizeof *r->findings, job_by_weight);
    r->severity = r->finding_count ? r->findings[0].severity : SEVERITY_OK;
    job_add_incident_phases(r);
}
