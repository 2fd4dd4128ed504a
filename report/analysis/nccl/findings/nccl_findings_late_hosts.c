// Late hosts: no process of them stands out, all together do.
#include "nccl_findings_make.h"

#include "analysis/base/memory.h"

#include <stdlib.h>

// A host in the collectives that it shares with others.
typedef struct late_host {
    nccl_chance chance;
    double cost_us, lost_us; // lost: the same for each of its processes that was in the call, summed over them
    uint32_t here;           // its ranks in the communicator at hand
} late_host;

static uint32_t late_host_of(const nccl *n, uint32_t member)
{
    return n->processes[n->members[member].process].host;
}

// Several of its ranks are in the communicator: how often chance would make one of them the last.
static void late_hosts_expect(const nccl *n, const nccl_communicator *c, late_host *hosts)
{
    for (uint32_t i = c->first_member; i < c->first_member + c->member_count; i++)
        hosts[late_host_of(n, i)].here++;
    for (uint32_t i = c->first_member; i < c->first_member + c->member_count; i++) {
        late_host *h = &hosts[late_host_of(n, i)];
        if (h->here) nccl_chance_add(&h->chance, (double)c->complete, 0, (double)h->here / (double)c->ranks);
        h->here = 0;
    }
}

static void late_hosts_count(const nccl *n, late_host *hosts)
{
    for (size_t i = 0; i < n->communicator_count; i++) {
        const nccl_communicator *c = &n->communicators[i];
        if (c->type == NCCL_MIXED) late_hosts_expect(n, c, hosts);
        for (uint32_t k = 0; c->type == NCCL_HCA_ONLY && k < c->member_count; k++) {
            const nccl_waiting *w = &n->members[c->first_member + k].waiting;
            late_host *h = &hosts[late_host_of(n, c->first_member + k)];
            nccl_chance_add(&h->chance, (double)w->judged, (double)w->judged_last, 1 / (double)c->ranks);
            h->cost_us += (double)w->judged_cost_us;
            h->lost_us += (double)w->judged_cost_us;
        }
    }
    for (size_t i = 0; i < n->host_count; i++) {
        hosts[i].chance.last += (double)n->hosts[i].judged_last;
        hosts[i].cost_us += (double)n->hosts[i].judged_cost_us;
        hosts[i].lost_us += (double)n->hosts[i].judged_cost_us * n->hosts[i].process_count;
    }
}

static bool late_host_is_explained(const nccl_findings_making *m, const nccl_host *h)
{
    for (uint32_t p = h->first_process; p < h->first_process + h->process_count; p++)
        if (m->late_processes[p]) return true;
    return false;
}

static void late_host_report(nccl_findings_making *m, uint32_t host, const late_host *h, double beyond)
{
    const nccl_host *of = &m->n->hosts[host];
    double time = 0, share = h->chance.last / h->chance.count, even = h->chance.expected / h->chance.count;
    for (uint32_t p = of->first_process; p < of->first_process + of->process_count; p++)
        time += m->complete_us[p];
    double cost_share = h->lost_us / time;
    nccl_finding *x = nccl_finding_add(
        m, NCCL_RULE_LATE_HOST, nccl_finding_severity(cost_share), beyond,
        memory_format("one rank or another of host %s was last in %s of the collectives that they share with other "
                      "hosts (%s if all were alike) and cost %s of the time of their collectives",
                      of->name, words_share(share).text, words_share(even).text,
                      nccl_finding_cost(h->cost_us, cost_share).text));
    x->device = of->name;
    x->host = host;
    x->cost_us = h->cost_us;
    x->cost_share = cost_share;
    nccl_finding_evidence(x, memory_strdup("complete calls"), h->chance.count, "calls");
    nccl_finding_evidence(x, memory_strdup("share when even"), even, "of calls");
}

void nccl_findings_late_hosts(nccl_findings_making *m)
{
    const nccl *n = m->n;
    late_host *hosts = memory_calloc(n->host_count, sizeof *hosts);
    late_hosts_count(n, hosts);
    for (uint32_t i = 0; i < n->host_count; i++) {
        const nccl_chance *c = &hosts[i].chance;
        if (n->hosts[i].process_count < 2 || !(c->count > 0) || c->count < nccl_chance_needed(c)) continue;
        m->f->judged++;
        double even = c->expected / c->count, beyond = (c->last / c->count - even) / (1 - even);
        if (beyond <= nccl_finding_rules[NCCL_RULE_LATE_HOST].limit || nccl_chance_z(c) < NCCL_BY_CHANCE ||
            late_host_is_explained(m, &n->hosts[i]))
            continue;
        late_host_report(m, i, &hosts[i], beyond);
    }
    free(hosts);
}

// Ranks of a late host are often late: that is one cause, not many.
void nccl_findings_explain_often_late(nccl_findings_making *m)
{
    nccl_findings *f = m->f;
    for (size_t i = 0; i < f->count; i++)
        for (size_t k = 0; k < f->count && f->items[i].rule == &nccl_finding_rules[NCCL_RULE_OFTEN_LATE]; k++) {
            if (f->items[k].rule != &nccl_finding_rules[NCCL_RULE_LATE_HOST] || f->items[k].host != f->items[i].host)
                continue;
            f->items[i].severity = SEVERITY_INFO;
            f->items[i].explained_by = nccl_finding_rules[NCCL_RULE_LATE_HOST].name;
        }
}
