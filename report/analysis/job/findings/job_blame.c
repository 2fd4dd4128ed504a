#include "job_blame.h"

#include "analysis/base/words.h"
#include "analysis/job/job_columns.h"

#include <string.h>

// Own heuristics.
#define JOB_BLAME_DENSER 2        // damage counts at so many times the rate of the other time,
#define JOB_BLAME_HELD   0.5      // a holder from so much of the held share on, over so much of its time
#define JOB_BLAME_PEERS  (1 / 3.) // alone is who is held with its peers at less than this share of it

bool job_group_is_of_all(const job_group *g)
{
    return g->devices > 1 && 2 * g->devices > g->all;
}

// What the link of a device damaged in that time: most of all that it damaged, or at twice the rate of the other time.
static double job_blame_damage(const job_report *r, size_t device, double from_s, double to_s, const char **unit)
{
    double most = 0;
    for (size_t i = 0; i < arrlenu(r->reader->troubles); i++) {
        const job_trouble *t = &r->reader->troubles[i];
        if (t->device != device || !t->bins) continue;
        double then = job_bins_span(t->bins, job_ns_of(r, from_s), job_ns_of(r, to_s)).integral, other = t->sum - then;
        double rest_s = r->end_s - (to_s - from_s);
        bool denser = rest_s <= 0 || then / (to_s - from_s) > JOB_BLAME_DENSER * other / rest_s;
        if (!(then >= 0.5) || !denser || then <= most) continue;
        most = round(then);
        *unit = r->events[t->event].unit;
    }
    return most;
}

// The rule whose finding on this device tells of its link.
static const char *job_blame_link_rule(const job_report *r, size_t device)
{
    const job_node_finding *best = NULL;
    int links = rules_class_rank("link-errors");
    for (size_t i = 0; i < arrlenu(r->reader->found); i++) {
        const job_node_finding *x = &r->reader->found[i];
        if (!x->rule || x->class_rank != links || x->node != r->devices[device].node) continue;
        if (strcmp(x->device, r->devices[device].name) != 0 || strcmp(x->source, r->devices[device].source) != 0)
            continue;
        if (!best || x->severity > best->severity) best = x;
    }
    return best ? best->rule : NULL;
}

// The NIC that held its senders most in that time, and not far less than these were held; JOB_NONE: none did.
static size_t job_blame_holder(const job_report *r, const job_group *g)
{
    const job_watch_row *row = job_watch_of(JOB_HOLDING);
    size_t best = JOB_NONE;
    double most = 0;
    for (size_t i = 0; i < arrlenu(r->reader->episodes); i++) {
        const job_episode *e = &r->reader->episodes[i];
        if (e->meter != JOB_HOLDING) continue;
        int64_t from = e->from_ns > g->worst->from_ns ? e->from_ns : g->worst->from_ns,
                to = e->to_ns < g->worst->to_ns ? e->to_ns : g->worst->to_ns;
        if ((double)(to - from) <= JOB_BLAME_HELD * (double)(g->worst->to_ns - g->worst->from_ns)) continue;
        if (e->mean <= row->limit || e->mean < JOB_BLAME_HELD * g->worst->mean || e->mean <= most) continue;
        most = e->mean;
        best = e->device;
    }
    return best;
}

// The only one of its peers, and not later than what it is to have slowed, as exactly as the samples tell.
static bool job_blame_is_first(const job_report *r, const job_group *g, const job_effect *x)
{
    double slack_s = 1 + (r->interval_s > 0 ? r->interval_s : 0) + r->bin_s;
    bool alone = g->devices == 1 && g->all > 1 && g->others < JOB_BLAME_PEERS * g->worst->mean;
    return alone && x->fell_s >= g->from_s - slack_s;
}

job_blame job_blame_of(const job_report *r, const job_group *g, const job_effect *x)
{
    job_blame b = {.holder = JOB_NONE};
    bool large = job_effect_is_too_large(x, g->worst->mean);
    if (g->worst->meter == JOB_PAUSED) {
        b.damaged = g->devices == 1 ? job_blame_damage(r, g->worst->device, g->from_s, g->to_s, &b.damaged_unit) : 0;
        b.holder = job_blame_holder(r, g);
    }
    if (b.damaged > 0) {
        b.why = JOB_WHY_LINK;
        b.rule = job_blame_link_rule(r, g->worst->device);
    } else if (b.holder != JOB_NONE) {
        b.why = JOB_WHY_HOLDER;
        b.rule = job_watch_of(JOB_HOLDING)->rule;
    } else if (g->worst->meter == JOB_HOLDING) {
        b.why = JOB_WHY_HOLDER;
    }
    bool mechanism = b.why == JOB_WHY_LINK || (b.why == JOB_WHY_HOLDER && g->worst->meter == JOB_HOLDING);
    b.slowed = mechanism && !large && job_effect_fell(x) && x->slowed > 1 && job_blame_is_first(r, g, x);
    if (large) b.paused = job_effect_pause(x);
    if (b.why == JOB_WHY_UNKNOWN && b.paused && !job_group_is_of_all(g)) b.why = JOB_WHY_PROGRAM;
    return b;
}
