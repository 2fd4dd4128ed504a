// Ranks that arrive late.
#include "nccl_findings_make.h"

#include "analysis/base/stb_ds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// ---- late ranks ----

// One member and collective that stands out; or, pooled, a member or a process in all that it took part in.
typedef struct late {
    uint32_t operation, member, process; // pooled: operation is NCCL_NONE; of a process: member as well
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

// What lies before and behind the stretch, where it is so little that the rank may have been late there as often: one call in
// which it was not says nothing of when it began or ended.
static void late_widen(const mark *marks, size_t count, size_t *begin, size_t *end)
{
    static const double by_chance = 0.05;
    size_t lasts = 0;
    for (size_t i = *begin; i < *end; i++)
        lasts += marks[i].last;
    double not_last = 1 - (double)lasts / (double)(*end - *begin);
    if (pow(not_last, (double)*begin) >= by_chance) *begin = 0;
    if (pow(not_last, (double)(count - *end)) >= by_chance) *end = count;
}

static void late_narrow(const nccl *n, late *x, const nccl_operation *o)
{
    enum { LEAST_STRETCH = 20 };
    size_t begin = 0, end = 0, lasts = 0;
    mark *marks = memory_array(NULL, o->complete, sizeof *marks);
    size_t count = late_collect_marks(n, o, x->member, marks);
    bool found = late_best_stretch(marks, count, &begin, &end);
    if (found) late_widen(marks, count, &begin, &end);
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

// Strong: above half. Otherwise several times as often as its share.
static bool late_stands_out(late *x, const nccl_chance *c)
{
    x->calls = (uint64_t)c->count;
    x->share = c->last / c->count;
    x->even = c->expected / c->count;
    if (c->last < NCCL_LEAST_CALLS || nccl_chance_z(c) < NCCL_BY_CHANCE) return false;
    // Of two ranks each is the last in half of the calls.
    x->strong = x->share > nccl_finding_rules[NCCL_RULE_LATE_RANK].limit && x->share - x->even > 0.4 * (1 - x->even);
    return true;
}

static bool late_is_often(const late *x)
{
    return x->strong || x->share > nccl_finding_rules[NCCL_RULE_OFTEN_LATE].limit * x->even;
}

static bool late_judge_member(const nccl_findings_making *m, uint32_t operation, uint32_t i, late *x)
{
    const nccl *n = m->n;
    const nccl_operation *o = &n->operations[operation];
    const nccl_communicator *c = &n->communicators[o->communicator];
    const nccl_waiting *w = &n->arrivals[o->first_arrival + i];
    nccl_chance chance = {0};
    *x = (late){.operation = operation, .member = c->first_member + i, .cost_us = (double)w->judged_cost_us};
    x->process = n->members[x->member].process;
    if (m->beside_early[x->member]) return false;
    nccl_chance_add(&chance, (double)w->judged, (double)w->judged_last, 1 / (double)c->ranks);
    if (!late_stands_out(x, &chance)) return false;
    late_narrow(n, x, o);
    return late_is_often(x);
}

// ---- pooled: where each collective has too few calls, or the rank is late in all of them a little ----

nccl_chance nccl_findings_chance_of(const nccl_findings_making *m, uint32_t process)
{
    const nccl *n = m->n;
    const nccl_process *p = &n->processes[process];
    nccl_chance chance = {0};
    for (uint32_t i = p->first_member; i < p->first_member + p->member_count; i++) {
        const nccl_member *of = &n->members[n->process_members[i]];
        const nccl_communicator *c = &n->communicators[of->communicator];
        if (c->ranks > 1 && !m->beside_early[n->process_members[i]])
            nccl_chance_add(&chance, (double)of->waiting.judged, (double)of->waiting.judged_last, 1 / (double)c->ranks);
    }
    return chance;
}

// The process in all its communicators, or in the dearest of those in which it is late; only the strong ones, or only
// the others.
static bool late_judge_pooled(const nccl_findings_making *m, uint32_t process, bool strong, late *x)
{
    const nccl *n = m->n;
    const nccl_process *p = &n->processes[process];
    nccl_chance chance = nccl_findings_chance_of(m, process);
    *x = (late){
        .operation = NCCL_NONE, .member = NCCL_NONE, .process = process, .cost_us = (double)p->waiting.judged_cost_us};
    if (chance.count > 0 && late_stands_out(x, &chance) && x->strong == strong && late_is_often(x)) return true;
    bool found = false;
    for (uint32_t i = p->first_member; i < p->first_member + p->member_count; i++) {
        const nccl_member *of = &n->members[n->process_members[i]];
        const nccl_waiting *w = &of->waiting;
        late one = {.operation = NCCL_NONE,
                    .member = n->process_members[i],
                    .process = process,
                    .cost_us = (double)w->judged_cost_us};
        double ranks = (double)n->communicators[of->communicator].ranks;
        if (ranks < 2 || !w->judged || m->beside_early[one.member] || (found && one.cost_us <= x->cost_us)) continue;
        chance = (nccl_chance){0};
        nccl_chance_add(&chance, (double)w->judged, (double)w->judged_last, 1 / ranks);
        if (!late_stands_out(&one, &chance) || one.strong != strong || !late_is_often(&one)) continue;
        *x = one;
        found = true;
    }
    return found;
}

static int late_by_process_and_cost(const void *a, const void *b)
{
    const late *x = a, *y = b;
    if (x->process != y->process) return x->process < y->process ? -1 : 1;
    if (x->strong != y->strong) return x->strong ? -1 : 1;
    if (x->cost_us != y->cost_us) return x->cost_us > y->cost_us ? -1 : 1;
    return x->operation < y->operation ? -1 : x->operation > y->operation;
}

static char *late_claim_pooled(const nccl *n, const late *x, const char *cost)
{
    bool all = x->member == NCCL_NONE;
    const words_text share = words_share(x->share);
    char *rank = all ? nccl_finding_process(n, x->process) : nccl_finding_rank(n, x->member), *claim;
    if (all)
        claim =
            memory_format("%s was last in %s of the %llu complete calls of all its collectives together and cost %s "
                          "of their time",
                          rank, share.text, (unsigned long long)x->calls, cost);
    else
        claim = memory_format("%s was last in %s of the %llu complete calls of communicator %s and cost %s of the time "
                              "of its collectives",
                              rank, share.text, (unsigned long long)x->calls,
                              n->communicators[n->members[x->member].communicator].label, cost);
    free(rank);
    return claim;
}

// others: in how many other collectives it is late as well; alone: or NULL, of one that is late in all calls.
static char *late_claim(const nccl *n, const late *x, size_t others, const char *cost, const nccl_alone *alone)
{
    char place[80] = "", more[120] = "", since[200] = "";
    const nccl_operation *o = &n->operations[x->operation];
    if (x->part && x->to_the_end)
        snprintf(place, sizeof place, " from sn %llu to the end", (unsigned long long)x->first_sn);
    else if (x->part)
        snprintf(place, sizeof place, " from sn %llu to %llu", (unsigned long long)x->first_sn,
                 (unsigned long long)x->last_sn);
    else if (alone && !(alone->from_begin && alone->to_the_end))
        snprintf(since, sizeof since, "; it alone comes later%s", nccl_alone_when(alone).text);
    if (others) snprintf(more, sizeof more, ", likewise in %s,", words_many(others, "other collective").text);
    char *rank = nccl_finding_rank(n, x->member);
    char *claim =
        memory_format("%s was last in %s of %s of communicator %s%s%s and cost %s of the time of its collectives%s",
                      rank, words_share(x->share).text, n->colls[o->coll], n->communicators[o->communicator].label,
                      place, more, cost, since);
    free(rank);
    return claim;
}

static void late_add_evidence(const nccl *n, nccl_finding *x, const late *of)
{
    const char *what = of->member == NCCL_NONE ? "all collectives" : "all calls", *label = "";
    if (of->member != NCCL_NONE) label = n->communicators[n->members[of->member].communicator].label;
    if (of->operation != NCCL_NONE) what = n->colls[n->operations[of->operation].coll];
    nccl_finding_evidence(
        x,
        memory_format("last in %s%s%s (%llu calls)", what, *label ? " of " : "", label, (unsigned long long)of->calls),
        of->share, "of calls");
}

// What it cost: in those in which it is late; in all when it is late over all of them, not only for a part of the run.
static double late_cost(const nccl_findings_making *m, const late *all, size_t count)
{
    double cost = 0;
    late whole;
    bool part = false;
    for (size_t i = 0; i < count; i++) {
        cost += all[i].cost_us;
        part |= all[i].part;
    }
    if (all->operation == NCCL_NONE) return all->cost_us;
    bool is_whole = !part && late_judge_pooled(m, all->process, true, &whole) && whole.member == NCCL_NONE;
    return is_whole ? whole.cost_us : cost;
}

// All that one process was late in: one finding about the dearest, the others as evidence.
static void late_report(nccl_findings_making *m, const late *all, size_t count)
{
    const nccl *n = m->n;
    bool pooled = all->operation == NCCL_NONE;
    int which = all->strong ? NCCL_RULE_LATE_RANK : NCCL_RULE_OFTEN_LATE;
    double cost = late_cost(m, all, count), share = cost / m->complete_us[all->process];
    words_text text = nccl_finding_cost(cost, share);
    const nccl_alone *alone = nccl_alone_late(m, all->process, all->operation);
    nccl_finding *x = nccl_finding_add(
        m, which, nccl_finding_severity(share), all->strong ? all->share : all->share / all->even,
        pooled ? late_claim_pooled(n, all, text.text) : late_claim(n, all, count - 1, text.text, alone));
    x->host = n->processes[all->process].host;
    x->device = n->hosts[x->host].name;
    x->member = all->member != NCCL_NONE ? all->member : (uint32_t)(nccl_widest_member(n, all->process) - n->members);
    if (all->member != NCCL_NONE) x->communicator = n->members[all->member].communicator;
    x->operation = all->operation;
    x->first_sn = all->first_sn;
    x->last_sn = all->last_sn;
    x->to_the_end = all->to_the_end;
    x->cost_us = cost;
    x->cost_share = share;
    nccl_finding_evidence(x, memory_strdup("pid"), (double)n->processes[all->process].pid, "");
    nccl_finding_evidence(x, memory_strdup("share when even"), all->even, "of calls");
    for (size_t i = 0; i < count; i++)
        late_add_evidence(n, x, &all[i]);
}

static late *late_judge_operations(nccl_findings_making *m)
{
    const nccl *n = m->n;
    late *all = NULL, x;
    for (uint32_t i = 0; i < n->operation_count; i++) {
        const nccl_operation *o = &n->operations[i];
        const nccl_communicator *c = &n->communicators[o->communicator];
        if (c->ranks < 2 || o->complete < NCCL_LEAST_CALLS) continue;
        m->f->judged++;
        for (uint32_t k = 0; k < c->member_count; k++)
            if (late_judge_member(m, i, k, &x)) arrput(all, x);
    }
    return all;
}

// Those that no single collective shows.
static void late_add_pooled(nccl_findings_making *m, late **all)
{
    const nccl *n = m->n;
    enum { NOT, OFTEN, STRONG };
    char *known = memory_calloc(n->process_count, 1);
    late x;
    for (size_t i = 0; i < arrlenu(*all); i++) {
        char *k = &known[(*all)[i].process], now = (*all)[i].strong ? STRONG : OFTEN;
        if (now > *k) *k = now;
    }
    for (uint32_t p = 0; p < n->process_count; p++) {
        nccl_chance chance = nccl_findings_chance_of(m, p);
        if (chance.count < nccl_chance_needed(&chance)) continue;
        m->f->judged++;
        m->f->what.late++;
        bool found = known[p] != STRONG && late_judge_pooled(m, p, true, &x);
        found = found || (known[p] == NOT && late_judge_pooled(m, p, false, &x));
        if (found) arrput(*all, x);
    }
    free(known);
}

void nccl_findings_late_ranks(nccl_findings_making *m)
{
    late *all = late_judge_operations(m);
    late_add_pooled(m, &all);
    size_t count = arrlenu(all);
    if (count) qsort(all, count, sizeof *all, late_by_process_and_cost);
    for (size_t i = 0, k; i < count; i = k) {
        for (k = i + 1; k < count && all[k].process == all[i].process;)
            k++;
        late_report(m, all + i, k - i);
        if (all[i].strong) m->late_processes[all[i].process] = true;
    }
    arrfree(all);
}

// ---- which could not be judged ----

void nccl_findings_late_unknown(nccl_findings_making *m)
{
    const nccl *n = m->n;
    const nccl_process *first = NULL;
    size_t few = 0;
    double least = 0, most = 0, needed = 0;
    bool missing = false;
    for (uint32_t p = 0; p < n->process_count; p++) {
        const nccl_process *x = &n->processes[p];
        nccl_chance chance = nccl_findings_chance_of(m, p);
        if (!x->waiting.records) continue; // it has nobody to wait for
        m->f->what.ranks++;
        double enough = chance.count > 0 ? nccl_chance_needed(&chance) : NCCL_LEAST_CALLS;
        if (chance.count >= enough) continue;
        if (!few || chance.count < least) least = chance.count;
        if (chance.count > most) most = chance.count;
        if (enough > needed) needed = enough;
        missing |= x->waiting.records > x->waiting.judged;
        if (!few++) first = x;
    }
    if (!few) return;
    char range[40] = "";
    if (most > least) snprintf(range, sizeof range, "%.0f to ", least);
    nccl_finding_unknown(
        m, memory_format("%s: too few calls to judge whether %zu of %s %s late: %s%s each, %.0f are needed%s (the "
                         "first: pid %lld on host %s)",
                         nccl_finding_rules[NCCL_RULE_LATE_RANK].name, few, words_many(m->f->what.ranks, "rank").text,
                         words_noun(few, "is|are").text, range, words_many((uint64_t)most, "complete call").text,
                         needed, missing ? "; of other calls records of some ranks are missing" : "",
                         (long long)first->pid, n->hosts[first->host].name));
}
