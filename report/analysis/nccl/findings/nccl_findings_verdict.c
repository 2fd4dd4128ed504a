// What was judged, what could not be, and the verdict.
#include "nccl_findings_make.h"

#include "analysis/base/memory.h"
#include "analysis/base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- how late a rank must be to be seen ----

// The share of values that are below x, from quantiles.
static double judged_share_below(const nccl_spread *s, double x)
{
    const double shares[] = {0, .05, .25, .5, .75, .95, .99, 1},
                 values[] = {s->min, s->p5, s->p25, s->p50, s->p75, s->p95, s->p99, s->max};
    size_t i = 1;
    if (x <= s->min) return 0;
    while (i < 8 && values[i] < x)
        i++;
    if (i == 8) return 1;
    return shares[i - 1] + (shares[i] - shares[i - 1]) * (x - values[i - 1]) / (values[i] - values[i - 1]);
}

// Of all calls of the process, those with a smaller skew: a rank that is later than this was the last in them.
static double judged_share_last(const nccl *n, const nccl_process *p, double late_us)
{
    double calls = 0, last = 0;
    for (uint32_t i = p->first_member; i < p->first_member + p->member_count; i++) {
        const nccl_communicator *c = &n->communicators[n->members[n->process_members[i]].communicator];
        for (uint32_t o = c->first_operation; c->ranks > 1 && o < c->first_operation + c->operation_count; o++)
            for (uint32_t k = 0; k < n->operations[o].series_count; k++) {
                const nccl_series *s = &n->series[n->operations[o].first_series + k];
                calls += (double)s->instance_count;
                last += (double)s->instance_count * judged_share_below(&s->spreads.skew_us, late_us);
            }
    }
    return calls > 0 ? last / calls : 1;
}

static double judged_least_lateness(const nccl *n)
{
    double most = 0;
    for (size_t i = 0; i < n->process_count; i++) {
        const nccl_process *p = &n->processes[i];
        if (!p->waiting.judged || judged_share_last(n, p, most) > 0.5) continue;
        double low = most, high = most > 1 ? 2 * most : 2;
        while (judged_share_last(n, p, high) <= 0.5 && high < 1e18)
            low = high, high *= 2;
        while (high > 1 && high - low > 0.01 * high) // where no rank was later than another it would never end
            *(judged_share_last(n, p, (low + high) / 2) > 0.5 ? &high : &low) = (low + high) / 2;
        most = high;
    }
    return most > 1 ? most : 1; // whole us are logged
}

// ---- the wire ----

static bool judged_has_wire(const nccl_findings_making *m, const nccl_process *p)
{
    const nccl *n = m->n;
    for (uint32_t i = p->first_member; i < p->first_member + p->member_count; i++)
        if (m->wire_judged[n->members[n->process_members[i]].communicator]) return true;
    return false;
}

static void judged_count_wires(nccl_findings_making *m)
{
    const nccl *n = m->n;
    nccl_judged *what = &m->f->what;
    for (size_t i = 0; i < n->communicator_count; i++) {
        what->communicators += n->communicators[i].ranks > 1 && n->communicators[i].instances;
        what->wires += m->wire_judged[i];
    }
    for (size_t i = 0; i < n->process_count; i++)
        what->wire_ranks += n->processes[i].waiting.records && judged_has_wire(m, &n->processes[i]);
    if (what->wires == what->communicators) return;
    const char *name = nccl_finding_rules[NCCL_RULE_SLOW_COMMUNICATOR].name;
    size_t left = what->communicators - what->wires;
    const nccl_communicator *first = NULL;
    for (size_t i = 0; i < n->communicator_count && !first; i++)
        if (n->communicators[i].ranks > 1 && n->communicators[i].instances && !m->wire_judged[i])
            first = &n->communicators[i];
    nccl_finding_unknown(m, memory_format("%s: the wire of %zu of %s: fewer than two others like it, or fewer than %d "
                                          "calls, to compare (the first: %s); --peak and --compare judge it without",
                                          name, left, words_many(what->communicators, "communicator").text,
                                          NCCL_LEAST_CALLS, first->label));
}

// ---- the sentence ----

words_text nccl_judged_text(size_t judged, size_t all, const char *noun)
{
    words_text t;
    if (judged == all)
        t = words_many(all, noun);
    else
        snprintf(t.text, sizeof t.text, "%zu of %.50s", judged, words_many(all, noun).text);
    return t;
}

bool nccl_findings_mention(const nccl_findings *f, const char *class_name)
{
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->items[i].rule->class_name, class_name) == 0 && f->items[i].rule->by_cost) return true;
    return false;
}

static char *judged_late_part(const nccl_findings *f, size_t calls)
{
    const nccl_judged *what = &f->what;
    if (!what->late) return memory_strdup("Too few complete calls to judge whether ranks are late");
    return memory_format("No %s among %s in %s (one %s behind the others in every call would have been found)",
                         nccl_findings_mention(f, "late") ? "costly lateness" : "late rank",
                         nccl_judged_text(what->late, what->ranks, "rank").text, words_many(calls, "collective").text,
                         nccl_finding_time(what->late_us).text);
}

static char *judged_wire_part(const nccl_findings *f)
{
    const nccl_judged *what = &f->what;
    char found[140] = "";
    if (!what->wires)
        return memory_strdup("; the wire could not be judged: no communicator has two equals with enough calls");
    if (what->wire_ratio > 0)
        snprintf(found, sizeof found, " (one %s times as slow as its equals would have been found)",
                 words_number(what->wire_ratio).text);
    return memory_format("%s no %s in %s%s", what->late ? " and" : ";",
                         nccl_findings_mention(f, "wire") ? "costly slowness of the wire" : "slow wire",
                         nccl_judged_text(what->wires, what->communicators, "communicator").text, found);
}

static char *judged_good(const nccl_findings *f, const nccl *n)
{
    if (!n->instance_count && n->untimed)
        return memory_format("Nothing could be judged: %s recorded without the time %s took",
                             words_many(n->untimed, "call was|calls were").text, n->untimed == 1 ? "it" : "they");
    if (!n->instance_count) return memory_strdup("Nothing could be judged: the logs hold no collective");
    if (!f->what.ranks)
        return memory_format("%s of single ranks: nobody to wait for",
                             words_many(n->instance_count, "collective").text);
    if (!f->what.late && !f->what.wires)
        return memory_strdup("Nothing could be judged: too few complete calls, and no communicator has two equals with "
                             "enough calls");
    char *late = judged_late_part(f, n->instance_count), *wire = judged_wire_part(f);
    char *text = memory_format("%s%s", late, wire);
    free(late);
    free(wire);
    return text;
}

static char *judged_bad(const nccl_findings *f)
{
    const nccl_judged *what = &f->what;
    size_t late = what->ranks - what->late, wire = what->ranks - what->wire_ranks;
    const char *claim = f->items[0].claim;
    char *text;
    if (late && wire)
        text = memory_format("%s (not judged: lateness of %s, wire of %zu)", claim,
                             nccl_judged_text(late, what->ranks, "rank").text, wire);
    else if (late || wire)
        text = memory_format("%s (not judged: %s of %s)", claim, late ? "lateness" : "wire",
                             nccl_judged_text(late + wire, what->ranks, "rank").text);
    else
        text = memory_strdup(claim);
    text_capital(text);
    return text;
}

void nccl_findings_conclude(nccl_findings_making *m)
{
    nccl_findings *f = m->f;
    nccl_findings_late_unknown(m);
    judged_count_wires(m);
    if (m->n->untimed)
        nccl_finding_unknown(m,
                             memory_format("%s: %s recorded without the time %s took on this rank; NETPROF_NCCL=step "
                                           "records it of rings over the network, NETPROF_NCCL=all everywhere",
                                           nccl_finding_rules[NCCL_RULE_LATE_RANK].name,
                                           words_many(m->n->untimed, "call was|calls were").text,
                                           m->n->untimed == 1 ? "it" : "they"));
    bool bad = f->count && f->items[0].severity >= SEVERITY_WATCH;
    f->is_blind = !m->n->instance_count || f->what.late < f->what.ranks || f->what.wire_ranks < f->what.ranks;
    f->what.late_us = bad || !f->what.late ? NAN : judged_least_lateness(m->n);
    f->severity = bad || (f->count && !f->is_blind) ? f->items[0].severity
                  : f->is_blind                     ? SEVERITY_UNKNOWN
                                                    : SEVERITY_OK;
    f->verdict = bad ? judged_bad(f) : judged_good(f, m->n);
}
