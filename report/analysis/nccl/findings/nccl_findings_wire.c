// The wire: below its peak, changed during the run, hidden by waiting.
#include "nccl_findings_make.h"

#include "analysis/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- peak, change, skew ----

// Such findings accuse nobody, or rest on what somebody said.
static severity wire_at_most(severity s, severity most)
{
    return s < most ? s : most;
}

void nccl_findings_below_peak(nccl_findings_making *m)
{
    const nccl *n = m->n;
    for (size_t i = 0; i < n->series_count; i++) {
        const nccl_series *s = &n->series[i];
        bool largest = i + 1 == n->series_count || n->series[i + 1].operation != s->operation;
        if (!largest || isnan(s->peak_share) || s->instance_count < NCCL_LEAST_CALLS) continue;
        m->f->judged++;
        if (s->size >= 1 << 20) m->wire_judged[s->communicator] = true;
        if (s->peak_share >= nccl_finding_rules[NCCL_RULE_BELOW_PEAK].limit || s->size < 1 << 20) continue;
        const nccl_communicator *c = &n->communicators[s->communicator];
        double cost = (double)s->wire_total_us * (1 - s->peak_share);
        double share = cost / (double)c->time_us;
        nccl_finding *x = nccl_finding_add(
            m, NCCL_RULE_BELOW_PEAK, wire_at_most(nccl_finding_severity(share), SEVERITY_WARN), s->peak_share,
            memory_format("%s of %s on communicator %s moves %s in the median, %s of the peak of %s", n->colls[s->coll],
                          words_binary((double)s->size).text, c->label, nccl_finding_rate(s->spreads.bus_gbs.p50).text,
                          words_share(s->peak_share).text, nccl_finding_rate(c->peak_gbs).text));
        x->device = c->label;
        x->communicator = s->communicator;
        x->series = (uint32_t)i;
        x->cost_us = cost;
        x->cost_share = share;
        nccl_finding_evidence(x, memory_strdup("bus bandwidth p50"), s->spreads.bus_gbs.p50, "GB/s");
        nccl_finding_evidence(x, memory_strdup("calls"), (double)s->instance_count, "calls");
    }
}

void nccl_findings_wire_changes(nccl_findings_making *m)
{
    const nccl *n = m->n;
    for (size_t i = 0; i < n->series_count; i++) {
        const nccl_series *s = &n->series[i];
        const nccl_change *change = &s->wire_change;
        if (!change->found) continue;
        const nccl_communicator *c = &n->communicators[s->communicator];
        uint64_t after = 0;
        for (size_t k = 0; k < s->instance_count; k++)
            after += n->instances[s->first_instance + k].sn >= change->sn;
        double cost = change->after > change->before ? (change->after - change->before) * (double)after : 0;
        double share = cost / (double)c->time_us;
        nccl_finding *x =
            nccl_finding_add(m, NCCL_RULE_WIRE_CHANGE, wire_at_most(nccl_finding_severity(share), SEVERITY_WATCH),
                             change->after / change->before,
                             memory_format("the wire time of %s of %s on communicator %s went from %s to %s at sn %llu",
                                           n->colls[s->coll], words_binary((double)s->size).text, c->label,
                                           nccl_finding_time(change->before).text,
                                           nccl_finding_time(change->after).text, (unsigned long long)change->sn));
        x->device = c->label;
        x->communicator = s->communicator;
        x->series = (uint32_t)i;
        x->first_sn = change->sn;
        x->to_the_end = true;
        if (cost > 0) x->cost_us = cost;
        if (cost > 0) x->cost_share = share;
    }
}

void nccl_findings_skew(nccl_findings_making *m)
{
    const nccl *n = m->n;
    for (size_t i = 0; i < n->series_count; i++) {
        const nccl_series *s = &n->series[i];
        const nccl_communicator *c = &n->communicators[s->communicator];
        double skew = s->spreads.skew_us.p50, wire = s->spreads.wire_us.p50;
        if (c->ranks < 2 || s->instance_count < NCCL_LEAST_CALLS) continue;
        m->f->judged++;
        if (skew <= nccl_finding_rules[NCCL_RULE_SKEW].limit * wire || skew <= 1000 ||
            (double)s->time_us < 0.05 * (double)c->time_us)
            continue;
        bool known = false;
        for (uint32_t k = 0; k < c->member_count; k++)
            known |= m->late_processes[n->members[c->first_member + k].process];
        double cost = (double)(s->time_us - s->wire_total_us), share = cost / (double)c->time_us;
        severity bad = known ? SEVERITY_INFO : wire_at_most(nccl_finding_severity(share), SEVERITY_WARN);
        nccl_finding *x = nccl_finding_add(
            m, NCCL_RULE_SKEW, bad, skew / wire,
            memory_format("%s of %s on communicator %s waits longer than it moves: skew %s, wire %s in the median",
                          n->colls[s->coll], words_binary((double)s->size).text, c->label, nccl_finding_time(skew).text,
                          nccl_finding_time(wire).text));
        x->device = c->label;
        x->communicator = s->communicator;
        x->series = (uint32_t)i;
        x->cost_us = cost;
        x->cost_share = share;
        x->explained_by = known ? nccl_finding_rules[NCCL_RULE_LATE_RANK].name : NULL;
    }
}

void nccl_findings_misleading_mean(nccl_findings_making *m)
{
    const nccl *n = m->n;
    const nccl_series *dearest = NULL;
    for (size_t i = 0; i < n->series_count; i++)
        if (n->communicators[n->series[i].communicator].ranks > 1 &&
            (!dearest || n->series[i].time_us > dearest->time_us))
            dearest = &n->series[i];
    if (!dearest || !(dearest->spreads.mean_bus_gbs.p50 <
                      nccl_finding_rules[NCCL_RULE_MEAN_MISLEADS].limit * dearest->spreads.bus_gbs.p50))
        return;
    const nccl_communicator *c = &n->communicators[dearest->communicator];
    nccl_finding *x = nccl_finding_add(
        m, NCCL_RULE_MEAN_MISLEADS, SEVERITY_INFO, dearest->spreads.mean_bus_gbs.p50 / dearest->spreads.bus_gbs.p50,
        memory_format("ranks that wait look slow: a mean over ranks shows %s for %s of %s on communicator %s, "
                      "the wire moves %s",
                      nccl_finding_rate(dearest->spreads.mean_bus_gbs.p50).text, n->colls[dearest->coll],
                      words_binary((double)dearest->size).text, c->label,
                      nccl_finding_rate(dearest->spreads.bus_gbs.p50).text));
    x->device = c->label;
    x->communicator = dearest->communicator;
    x->series = (uint32_t)(dearest - n->series);
}
