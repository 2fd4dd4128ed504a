// Communicators, and hosts, that are slow on the wire.
#include "nccl_findings_make.h"

#include "analysis/base/memory.h"
#include "analysis/nccl/logs/nccl_spread.h"

#include <math.h>
#include <stdlib.h>

// ---- slow communicators, slow hosts ----

typedef struct pace {
    uint32_t communicator;
    double slow_us, time_us,
        excess_us; // wire time of its series that have equals: slow ones, all; above the median
    double ratio;  // of the dearest slow series
    uint32_t series;
} pace;

static bool slow_are_equals(const nccl *n, const nccl_series *a, const nccl_series *b)
{
    const nccl_communicator *x = &n->communicators[a->communicator], *y = &n->communicators[b->communicator];
    return a->kind == b->kind && x->ranks == y->ranks && x->nodes == y->nodes;
}

static int slow_by_kind(const void *a, const void *b)
{
    const nccl_series *x = *(const nccl_series *const *)a, *y = *(const nccl_series *const *)b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    return (x > y) - (x < y);
}

static void slow_pace_group(nccl_findings_making *m, const nccl_series **group, size_t count, double *work, pace *paces)
{
    const nccl *n = m->n;
    enum { LEAST_EQUALS = 3 };
    size_t judged = 0;
    for (size_t i = 0; i < count; i++)
        if (group[i]->instance_count >= NCCL_LEAST_CALLS) work[judged++] = group[i]->spreads.wire_us.p50;
    if (judged < LEAST_EQUALS) return;
    m->f->judged++;
    double median = nccl_median_of(work, judged);
    for (size_t i = 0; i < count; i++) {
        const nccl_series *s = group[i];
        pace *p = &paces[s->communicator];
        if (s->instance_count < NCCL_LEAST_CALLS) continue;
        p->time_us += (double)s->wire_total_us;
        double p50 = s->spreads.wire_us.p50, excess = (p50 - median) * (double)s->instance_count;
        if (p50 <= nccl_finding_rules[NCCL_RULE_SLOW_COMMUNICATOR].limit * median || p50 - median < 2)
            continue; // whole us are logged
        p->slow_us += (double)s->wire_total_us;
        if (excess > p->excess_us || p->ratio <= 0) {
            p->ratio = p50 / median;
            p->series = (uint32_t)(s - n->series);
        }
        p->excess_us += excess;
    }
}

static bool slow_is_slow(const pace *p)
{
    return p->slow_us > p->time_us / 2 && p->slow_us > 0;
}

static bool slow_has_host(const nccl *n, const nccl_communicator *c, uint32_t host)
{
    for (uint32_t k = 0; k < c->member_count; k++)
        if (n->processes[n->members[c->first_member + k].process].host == host) return true;
    return false;
}

// All slow communicators of the class have the host, and all that have it are slow; there are some without.
static bool slow_may_be_host(const nccl *n, const pace *paces, nccl_class type, uint32_t host)
{
    size_t slow_with = 0, fast_without = 0;
    for (size_t i = 0; i < n->communicator_count; i++) {
        const nccl_communicator *c = &n->communicators[i];
        if (c->type != type || !(paces[i].time_us > 0)) continue;
        bool here = slow_has_host(n, c, host), slow = slow_is_slow(&paces[i]);
        if (here != slow) return false;
        slow_with += here;
        fast_without += !here;
    }
    return slow_with && fast_without;
}

// The only such host; NCCL_NONE if there is none, or if there are several.
static uint32_t slow_find_host(const nccl *n, const pace *paces, nccl_class type)
{
    uint32_t found = NCCL_NONE;
    for (uint32_t host = 0; host < n->host_count; host++) {
        if (!slow_may_be_host(n, paces, type, host)) continue;
        if (found != NCCL_NONE) return NCCL_NONE;
        found = host;
    }
    return found;
}

static void slow_report_host(nccl_findings_making *m, pace *paces, nccl_class type, uint32_t host)
{
    const nccl *n = m->n;
    size_t slow = 0;
    double excess = 0;
    const pace *worst = NULL;
    for (size_t i = 0; i < n->communicator_count; i++) {
        if (n->communicators[i].type != type || !slow_is_slow(&paces[i])) continue;
        slow++;
        excess += paces[i].excess_us;
        if (!worst || paces[i].ratio > worst->ratio) worst = &paces[i];
    }
    const nccl_series *s = &n->series[worst->series];
    nccl_finding *x = nccl_finding_add(
        m, NCCL_RULE_SLOW_HOST, SEVERITY_HIGH, worst->ratio,
        memory_format("%s communicators with host %s are slow on the wire, those without it are not: %s of %s takes "
                      "%s times as long (%s), which cost %s in all",
                      nccl_class_name(type), n->hosts[host].name, n->colls[s->coll], words_binary((double)s->size).text,
                      words_number(worst->ratio).text, nccl_finding_time(s->spreads.wire_us.p50).text,
                      nccl_finding_time(excess).text));
    x->device = n->hosts[host].name;
    x->host = host;
    x->series = worst->series;
    x->cost_us = excess;
    nccl_finding_evidence(x, memory_strdup("slow communicators"), (double)slow, "");
}

static void slow_report(nccl_findings_making *m, const pace *p)
{
    const nccl *n = m->n;
    const nccl_series *s = &n->series[p->series];
    const nccl_communicator *c = &n->communicators[s->communicator];
    nccl_finding *x = nccl_finding_add(
        m, NCCL_RULE_SLOW_COMMUNICATOR, p->excess_us > NCCL_COSTS * (double)c->time_us ? SEVERITY_WARN : SEVERITY_INFO,
        p->ratio,
        memory_format("communicator %s is slow on the wire: %s of %s takes %s times as long as on its equals "
                      "(%s), which cost %s",
                      c->label, n->colls[s->coll], words_binary((double)s->size).text, words_number(p->ratio).text,
                      nccl_finding_time(s->spreads.wire_us.p50).text, nccl_finding_time(p->excess_us).text));
    x->device = c->label;
    x->communicator = s->communicator;
    x->series = p->series;
    x->cost_us = p->excess_us;
    for (uint32_t k = 0, shown_hosts = 0; k < c->member_count && shown_hosts < 4; k++) {
        const nccl_process *process = &n->processes[n->members[c->first_member + k].process];
        if (k && n->processes[n->members[c->first_member + k - 1].process].host == process->host) continue;
        nccl_finding_evidence(x, memory_format("host %s, rank", n->hosts[process->host].name),
                              (double)n->members[c->first_member + k].rank, "");
        shown_hosts++;
    }
}

static void slow_report_paces(nccl_findings_making *m, pace *paces)
{
    const nccl *n = m->n;
    for (int type = 0; type < NCCL_CLASSES; type++) {
        uint32_t host = type != NCCL_SINGLE_RANK ? slow_find_host(n, paces, (nccl_class)type) : NCCL_NONE;
        if (host != NCCL_NONE) {
            slow_report_host(m, paces, (nccl_class)type, host);
            continue;
        }
        for (size_t i = 0; i < n->communicator_count; i++)
            if (n->communicators[i].type == (nccl_class)type && slow_is_slow(&paces[i])) slow_report(m, &paces[i]);
    }
}

void nccl_findings_slow(nccl_findings_making *m)
{
    const nccl *n = m->n;
    const nccl_series **order = memory_array(NULL, n->series_count, sizeof *order), **group;
    double *work = memory_array(NULL, n->series_count, sizeof *work);
    pace *paces = memory_calloc(n->communicator_count, sizeof *paces);
    bool *done = memory_calloc(n->series_count, sizeof *done);
    group = memory_array(NULL, n->series_count, sizeof *group);
    for (size_t i = 0; i < n->series_count; i++)
        order[i] = &n->series[i];
    qsort(order, n->series_count, sizeof *order, slow_by_kind);
    for (size_t i = 0; i < n->series_count; i++) {
        size_t count = 0;
        if (done[i]) continue;
        for (size_t k = i; k < n->series_count && order[k]->kind == order[i]->kind; k++) {
            if (done[k] || !slow_are_equals(n, order[i], order[k])) continue;
            done[k] = true;
            group[count++] = order[k];
        }
        slow_pace_group(m, group, count, work, paces);
    }
    slow_report_paces(m, paces);
    free(order);
    free(work);
    free(paces);
    free(done);
    free(group);
}
