// Late hosts: no process of them stands out, all together do.
#include "nccl_findings_make.h"

#include "analysis/base/memory.h"

#include <math.h>
#include <stdlib.h>

// A host in the collectives that it shares with others.
typedef struct late_host {
    nccl_chance chance,
        rest; // rest: without its ranks that are late by themselves, and the calls in which these were last
    double cost_us, lost_us; // lost: the same for each of its processes that was in the call, summed over them
    uint32_t here, late;     // its ranks in the communicator at hand, and those of them that are late by themselves
    double late_last;        // how often one of these was last there
} late_host;

static uint32_t late_host_of(const nccl *n, uint32_t member)
{
    return n->processes[n->members[member].process].host;
}

static void late_host_expect(const nccl_communicator *c, late_host *h)
{
    double complete = (double)c->complete, ranks = (double)c->ranks;
    if (h->here) nccl_chance_add(&h->chance, complete, 0, h->here / ranks);
    if (h->here > h->late)
        nccl_chance_add(&h->rest, complete - h->late_last, 0, (h->here - h->late) / (ranks - h->late));
    h->rest.last -= h->late_last;
    h->here = h->late = 0;
    h->late_last = 0;
}

// Several of its ranks are in the communicator: how often chance would make one of them the last.
static void late_hosts_expect(const nccl_findings_making *m, const nccl_communicator *c, late_host *hosts)
{
    const nccl *n = m->n;
    for (uint32_t i = c->first_member; i < c->first_member + c->member_count; i++) {
        late_host *h = &hosts[late_host_of(n, i)];
        h->here++;
        if (!m->late_processes[n->members[i].process]) continue;
        h->late++;
        h->late_last += (double)n->members[i].waiting.judged_last;
    }
    for (uint32_t i = c->first_member; i < c->first_member + c->member_count; i++)
        late_host_expect(c, &hosts[late_host_of(n, i)]);
}

static void late_hosts_count(const nccl_findings_making *m, late_host *hosts)
{
    const nccl *n = m->n;
    for (size_t i = 0; i < n->communicator_count; i++) {
        const nccl_communicator *c = &n->communicators[i];
        if (c->type == NCCL_MIXED) late_hosts_expect(m, c, hosts);
        for (uint32_t k = c->first_member; c->type == NCCL_HCA_ONLY && k < c->first_member + c->member_count; k++) {
            const nccl_waiting *w = &n->members[k].waiting;
            late_host *h = &hosts[late_host_of(n, k)];
            nccl_chance_add(&h->chance, (double)w->judged, (double)w->judged_last, 1 / (double)c->ranks);
            if (!m->late_processes[n->members[k].process])
                nccl_chance_add(&h->rest, (double)w->judged, (double)w->judged_last, 1 / (double)c->ranks);
            h->cost_us += (double)w->judged_cost_us;
            h->lost_us += (double)w->judged_cost_us;
        }
    }
    for (size_t i = 0; i < n->host_count; i++) {
        hosts[i].chance.last += (double)n->hosts[i].judged_last;
        hosts[i].rest.last += (double)n->hosts[i].judged_last;
        hosts[i].cost_us += (double)n->hosts[i].judged_cost_us;
        hosts[i].lost_us += (double)n->hosts[i].judged_cost_us * n->hosts[i].process_count;
    }
}

// Beyond its even share, as a part of what there is beyond it.
static double late_beyond(const nccl_chance *c)
{
    double even = c->expected / c->count;
    return even < 1 ? (c->last / c->count - even) / (1 - even) : 0;
}

static bool late_host_stands_out(const nccl_chance *c)
{
    return c->count > 0 && c->count >= nccl_chance_needed(c) &&
           late_beyond(c) > nccl_finding_rules[NCCL_RULE_LATE_HOST].limit && nccl_chance_z(c) >= NCCL_BY_CHANCE;
}

// A rank that is late by itself makes its host late, unless the host is late without it, too; all of its ranks are the host.
static bool late_host_is_explained(const nccl_findings_making *m, const nccl_host *h, const late_host *x)
{
    uint32_t late = 0;
    for (uint32_t p = h->first_process; p < h->first_process + h->process_count; p++)
        late += m->late_processes[p];
    return late && late < h->process_count && !late_host_stands_out(&x->rest);
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
    late_hosts_count(m, hosts);
    for (uint32_t i = 0; i < n->host_count; i++) {
        const nccl_chance *c = &hosts[i].chance;
        if (n->hosts[i].process_count < 2 || !(c->count > 0) || c->count < nccl_chance_needed(c)) continue;
        m->f->judged++;
        if (!late_host_stands_out(c) || late_host_is_explained(m, &n->hosts[i], &hosts[i])) continue;
        late_host_report(m, i, &hosts[i], late_beyond(c));
    }
    free(hosts);
}

// Is this rank late more than twice as much as the others of its host in the mean?
static bool late_more_than_its_host(const nccl_findings_making *m, uint32_t process)
{
    static const double more = 2; // own
    const nccl_host *h = &m->n->hosts[m->n->processes[process].host];
    nccl_chance own = nccl_findings_chance_of(m, process);
    double others = 0, count = 0;
    for (uint32_t p = h->first_process; p < h->first_process + h->process_count; p++) {
        nccl_chance c = nccl_findings_chance_of(m, p);
        if (p == process || !(c.count > 0)) continue;
        others += fmax(late_beyond(&c), 0);
        count++;
    }
    return count > 0 && own.count > 0 && late_beyond(&own) > more * others / count;
}

// Ranks of a late host are late, too, and often: that is one cause, not many.
void nccl_findings_explain_late_ranks(nccl_findings_making *m)
{
    nccl_findings *f = m->f;
    const nccl_rule *host = &nccl_finding_rules[NCCL_RULE_LATE_HOST],
                    *often = &nccl_finding_rules[NCCL_RULE_OFTEN_LATE],
                    *rank = &nccl_finding_rules[NCCL_RULE_LATE_RANK];
    for (size_t i = 0; i < f->count; i++)
        for (size_t k = 0; k < f->count && (f->items[i].rule == often || f->items[i].rule == rank); k++) {
            if (f->items[k].rule != host || f->items[k].host != f->items[i].host) continue;
            uint32_t process = m->n->members[f->items[i].member].process;
            if (f->items[i].rule == rank && late_more_than_its_host(m, process)) continue;
            f->items[i].severity = SEVERITY_INFO;
            f->items[i].explained_by = host->name;
        }
}
