// Ranks and hosts that arrive late.
#include "nccl_findings_make.h"

#include "analysis/base/stb_ds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// ---- late ranks ----

// One member and collective that stands out.
typedef struct late {
    uint32_t operation, member, process;
    double share, even, cost_us;
    uint64_t calls; // that were judged
    uint64_t first_sn, last_sn;
    bool part, to_the_end; // part: only from first_sn to last_sn
    bool strong;           // above half
} late;

typedef struct mark {
    uint64_t sn, cost_us;
    bool last;
} mark;

static int late_by_sn(const void *a, const void *b)
{
    const mark *x = a, *y = b;
    return (x->sn > y->sn) - (x->sn < y->sn);
}

static size_t late_collect_marks(const nccl *n, const nccl_operation *o, uint32_t member, mark *to)
{
    size_t count = 0;
    for (uint32_t s = o->first_series; s < o->first_series + o->series_count; s++)
        for (size_t i = 0; i < n->series[s].instance_count; i++) {
            const nccl_instance *x = &n->instances[n->series[s].first_instance + i];
            if (!x->complete) continue;
            bool last = x->late_count == 1 && x->first_late == member;
            to[count++] = (mark){x->sn, x->second_us - x->min_us, last};
        }
    qsort(to, count, sizeof *to, late_by_sn);
    return count;
}

// The stretch in which it was last most more often than not.
static bool late_best_stretch(const mark *marks, size_t count, size_t *begin, size_t *end)
{
    long best = 0, sum = 0;
    size_t from = 0;
    for (size_t i = 0; i < count; i++) {
        if (sum <= 0) {
            sum = 0;
            from = i;
        }
        sum += marks[i].last ? 1 : -1;
        if (sum <= best) continue;
        best = sum;
        *begin = from;
        *end = i + 1;
    }
    return best > 0;
}

static void late_narrow(const nccl *n, late *x, const nccl_operation *o)
{
    enum { LEAST_STRETCH = 20 };
    size_t begin = 0, end = 0, lasts = 0;
    mark *marks = memory_array(NULL, o->complete, sizeof *marks);
    size_t count = late_collect_marks(n, o, x->member, marks);
    bool found = late_best_stretch(marks, count, &begin, &end);
    for (size_t i = begin; i < end; i++)
        lasts += marks[i].last;
    bool short_of_all = end - begin < count - count / 10, enough = end - begin >= LEAST_STRETCH;
    if (found && enough && short_of_all && 2 * lasts > end - begin) {
        x->part = x->strong = true;
        x->to_the_end = end == count;
        x->first_sn = marks[begin].sn;
        x->last_sn = marks[end - 1].sn;
        x->share = (double)lasts / (double)(end - begin);
        x->calls = end - begin;
        x->cost_us = 0;
        for (size_t i = begin; i < end; i++)
            x->cost_us += marks[i].last ? (double)marks[i].cost_us : 0;
    }
    free(marks);
}

static bool late_judge_member(const nccl *n, uint32_t operation, uint32_t i, late *x)
{
    const nccl_operation *o = &n->operations[operation];
    const nccl_communicator *c = &n->communicators[o->communicator];
    const nccl_waiting *w = &n->arrivals[o->first_arrival + i];
    double k = (double)w->judged_last, count = (double)w->judged;
    *x =
        (late){.operation = operation, .member = c->first_member + i, .even = 1 / (double)c->ranks, .calls = w->judged};
    x->process = n->members[x->member].process;
    x->share = k / count;
    x->cost_us = (double)w->judged_cost_us;
    if (k < NCCL_LEAST_CALLS || nccl_finding_beyond_chance(k, count, x->even) < NCCL_BY_CHANCE) return false;
    x->strong = x->share > nccl_finding_rules[NCCL_RULE_LATE_RANK].limit;
    late_narrow(n, x, o);
    return x->strong || x->share > nccl_finding_rules[NCCL_RULE_OFTEN_LATE].limit * x->even;
}

static int late_by_process_and_cost(const void *a, const void *b)
{
    const late *x = a, *y = b;
    if (x->process != y->process) return x->process < y->process ? -1 : 1;
    if (x->strong != y->strong) return x->strong ? -1 : 1;
    if (x->cost_us != y->cost_us) return x->cost_us > y->cost_us ? -1 : 1;
    return x->operation < y->operation ? -1 : x->operation > y->operation;
}

static char *late_claim(const nccl *n, const late *x, const nccl_operation *o)
{
    char place[80] = "";
    if (x->part && x->to_the_end)
        snprintf(place, sizeof place, " from sn %llu to the end", (unsigned long long)x->first_sn);
    else if (x->part)
        snprintf(place, sizeof place, " from sn %llu to %llu", (unsigned long long)x->first_sn,
                 (unsigned long long)x->last_sn);
    double share_of_time = x->cost_us / (double)o->complete_time_us;
    return memory_format(
        "rank %lld on host %s was last in %s of %s of communicator %s%s and cost %s (%s of their time)",
        (long long)n->members[x->member].rank, nccl_finding_host(n, x->member), words_share(x->share).text,
        n->colls[o->coll], n->communicators[o->communicator].label, place, nccl_finding_time(x->cost_us).text,
        words_share(share_of_time).text);
}

// All that one process was late in: one finding about the dearest, the others as evidence.
static void late_report(nccl_findings_making *m, const late *all, size_t count)
{
    const nccl *n = m->n;
    const nccl_operation *o = &n->operations[all->operation];
    bool dear = all->cost_us > NCCL_COSTS * (double)o->complete_time_us;
    int which = all->strong ? NCCL_RULE_LATE_RANK : NCCL_RULE_OFTEN_LATE;
    severity s = !dear ? SEVERITY_INFO : all->strong ? SEVERITY_HIGH : SEVERITY_WATCH;
    nccl_finding *x =
        nccl_finding_add(m, which, s, all->strong ? all->share : all->share / all->even, late_claim(n, all, o));
    x->device = nccl_finding_host(n, all->member);
    x->communicator = o->communicator;
    x->operation = all->operation;
    x->member = all->member;
    x->host = n->processes[all->process].host;
    x->first_sn = all->first_sn;
    x->last_sn = all->last_sn;
    x->to_the_end = all->to_the_end;
    x->cost_us = 0;
    nccl_finding_evidence(x, memory_strdup("pid"), (double)n->processes[all->process].pid, "");
    nccl_finding_evidence(x, memory_strdup("share when even"), all->even, "of calls");
    for (size_t i = 0; i < count; i++) {
        x->cost_us += all[i].cost_us;
        const nccl_operation *other = &n->operations[all[i].operation];
        nccl_finding_evidence(x,
                              memory_format("last in %s of %s (%llu calls)", n->colls[other->coll],
                                            n->communicators[other->communicator].label,
                                            (unsigned long long)all[i].calls),
                              all[i].share, "of calls");
    }
}

void nccl_findings_late_ranks(nccl_findings_making *m, bool *late_processes)
{
    const nccl *n = m->n;
    late *all = NULL, x;
    for (uint32_t i = 0; i < n->operation_count; i++) {
        const nccl_operation *o = &n->operations[i];
        const nccl_communicator *c = &n->communicators[o->communicator];
        if (c->ranks < 2) continue;
        if (o->complete < NCCL_LEAST_CALLS) {
            nccl_finding_unknown(m, memory_format("%s: %s of communicator %s: %llu complete calls, %d are needed",
                                                  nccl_finding_rules[NCCL_RULE_LATE_RANK].name, n->colls[o->coll],
                                                  c->label, (unsigned long long)o->complete, NCCL_LEAST_CALLS));
            continue;
        }
        m->f->judged++;
        for (uint32_t k = 0; k < c->member_count; k++)
            if (late_judge_member(n, i, k, &x)) arrput(all, x);
    }
    size_t count = arrlenu(all);
    if (count) qsort(all, count, sizeof *all, late_by_process_and_cost);
    for (size_t i = 0, k; i < count; i = k) {
        for (k = i + 1; k < count && all[k].process == all[i].process;)
            k++;
        late_report(m, all + i, k - i);
        if (all[i].strong) late_processes[all[i].process] = true;
    }
    arrfree(all);
}

// ---- late hosts: no process of it stands out, all together do ----

// How often chance would make the host the last.
static double late_expected_last(const nccl *n, uint32_t host)
{
    double sum = 0;
    for (size_t i = 0; i < n->operation_count; i++) {
        const nccl_operation *o = &n->operations[i];
        const nccl_communicator *c = &n->communicators[o->communicator];
        size_t here = 0;
        for (uint32_t k = 0; c->type == NCCL_MIXED && k < c->member_count; k++)
            here += n->processes[n->members[c->first_member + k].process].host == host;
        sum += (double)o->complete * (double)here / (double)c->ranks;
    }
    return sum;
}

void nccl_findings_late_hosts(nccl_findings_making *m, const bool *late_processes)
{
    const nccl *n = m->n;
    for (uint32_t i = 0; i < n->host_count; i++) {
        const nccl_host *h = &n->hosts[i];
        double share = (double)h->judged_last / (double)h->judged;
        bool explained = false;
        if (h->judged < NCCL_LEAST_CALLS || h->process_count < 2) continue;
        for (uint32_t p = h->first_process; p < h->first_process + h->process_count; p++)
            explained |= late_processes[p];
        m->f->judged++;
        double even = late_expected_last(n, i) / (double)h->judged;
        if (explained || share <= nccl_finding_rules[NCCL_RULE_LATE_HOST].limit ||
            nccl_finding_beyond_chance((double)h->judged_last, (double)h->judged, even) < NCCL_BY_CHANCE)
            continue;
        nccl_finding *x = nccl_finding_add(
            m, NCCL_RULE_LATE_HOST, SEVERITY_HIGH, share,
            memory_format("host %s was last in %s of the collectives that several of its ranks share with other "
                          "hosts, and cost %s",
                          h->name, words_share(share).text, nccl_finding_time((double)h->judged_cost_us).text));
        x->device = h->name;
        x->host = i;
        x->cost_us = (double)h->judged_cost_us;
        nccl_finding_evidence(x, memory_strdup("complete calls"), (double)h->judged, "calls");
        nccl_finding_evidence(x, memory_strdup("share when even"), even, "of calls");
    }
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
