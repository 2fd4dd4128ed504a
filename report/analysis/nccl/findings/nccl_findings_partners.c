// Send and Recv that take longer than those between others: ranks and pairs.
//
// A transfer lasts until both sides have come, so that it is long for whoever waits: who comes late makes its partners'
// calls long and not its own, who comes early only its own. Where both sides' are long, with whichever partner, it is the
// rank's way to the others; with one partner alone it is the way between these two. What a process, or two, do in several
// communicators is one finding: of a process the dearest, of a pair the first; the others are evidence.
#include "nccl_findings_make.h"

#include "analysis/base/map_key.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/nccl/logs/nccl_spread.h"

#include <stdlib.h>
#include <string.h>

// What one rank did with one partner.
typedef struct partners_cell {
    const nccl_p2p *p;
    nccl_class type;
    uint32_t member, partner;
    bool near; // on the same host
    bool judged, slow, explained;
    double ratio; // of the median of its equals
} partners_cell;

typedef struct partners_judging {
    nccl_findings_making *m;
    partners_cell *cells;
    size_t count, judged, slow;
    size_t *of, *first; // of: cells by their members and partners; those of a member begin at of[first[member]]
    double *lost;       // [members], and room for partners_side_of() alone
    bool *seen;
} partners_judging;

// The transfers that have one rank on one side.
typedef struct partners_side {
    size_t cells, slow, partners;
    double cost_us, ratio; // ratio: the middle of all; cost: of the partner that lost most
} partners_side;

static uint32_t partners_host(const nccl *n, uint32_t member)
{
    return n->processes[n->members[member].process].host;
}

static int partners_by_equals(const void *a, const void *b)
{
    const partners_cell *x = a, *y = b;
    if (x->type != y->type) return x->type < y->type ? -1 : 1;
    if (x->near != y->near) return x->near ? -1 : 1;
    int order = strcmp(x->p->operation, y->p->operation);
    if (!order) order = strcmp(x->p->timing, y->p->timing);
    if (!order) order = (x->p->size > y->p->size) - (x->p->size < y->p->size);
    if (!order) order = (x->member > y->member) - (x->member < y->member);
    return order ? order : (x->partner > y->partner) - (x->partner < y->partner);
}

static bool partners_are_equals(const partners_cell *x, const partners_cell *y)
{
    return x->type == y->type && x->near == y->near && strcmp(x->p->operation, y->p->operation) == 0 &&
           strcmp(x->p->timing, y->p->timing) == 0 && x->p->size == y->p->size;
}

// Where a partner is, is only known of those with a log.
static void partners_collect(partners_judging *j)
{
    const nccl *n = j->m->n;
    j->cells = memory_array(NULL, n->p2p_count, sizeof *j->cells);
    for (size_t i = 0; i < n->p2p_count; i++) {
        const nccl_p2p *p = &n->p2p[i];
        uint32_t communicator = n->members[p->member].communicator;
        uint32_t partner = p->peer < 0 ? NCCL_NONE : nccl_member_of_rank(n, communicator, p->peer);
        if (p->records < NCCL_LEAST_CALLS || partner == NCCL_NONE) continue;
        j->cells[j->count++] = (partners_cell){.p = p,
                                               .type = n->communicators[communicator].type,
                                               .member = p->member,
                                               .partner = partner,
                                               .near = partners_host(n, p->member) == partners_host(n, partner)};
    }
    if (j->count) qsort(j->cells, j->count, sizeof *j->cells, partners_by_equals);
}

static void partners_compare(partners_judging *j)
{
    double *work = memory_array(NULL, j->count, sizeof *work);
    for (size_t i = 0, k; i < j->count; i = k) {
        for (k = i; k < j->count && partners_are_equals(&j->cells[i], &j->cells[k]); k++)
            work[k - i] = j->cells[k].p->time_us.p50;
        if (k - i < NCCL_LEAST_CALLS) continue;
        j->m->f->judged++;
        double median = nccl_median_of(work, k - i);
        for (size_t c = i; c < k; c++) {
            partners_cell *x = &j->cells[c];
            x->judged = true;
            x->ratio = median > 0 ? x->p->time_us.p50 / median : 1;
            x->slow = x->ratio > nccl_finding_rules[NCCL_RULE_SLOW_PAIR].limit && x->p->time_us.p25 > median + 2; // us
            j->slow += x->slow;
        }
        j->judged += k - i;
    }
    free(work);
}

// ---- one rank ----

// Each cell stands with its member and with its partner: nobody's have to be searched for among all.
static void partners_index(partners_judging *j)
{
    size_t members = j->m->n->member_count;
    j->first = memory_calloc(members + 2, sizeof *j->first);
    j->of = memory_array(NULL, 2 * j->count + 1, sizeof *j->of);
    j->lost = memory_calloc(members + 1, sizeof *j->lost);
    j->seen = memory_calloc(members + 1, sizeof *j->seen);
    for (size_t i = 0; i < j->count; i++) {
        j->first[j->cells[i].member + 2]++;
        if (j->cells[i].partner != j->cells[i].member) j->first[j->cells[i].partner + 2]++;
    }
    for (size_t i = 2; i < members + 2; i++)
        j->first[i] += j->first[i - 1];
    for (size_t i = 0; i < j->count; i++) {
        j->of[j->first[j->cells[i].member + 1]++] = i;
        if (j->cells[i].partner != j->cells[i].member) j->of[j->first[j->cells[i].partner + 1]++] = i;
    }
}

static void partners_free(partners_judging *j)
{
    free(j->cells);
    free(j->first);
    free(j->of);
    free(j->lost);
    free(j->seen);
}

// own: the rank's calls; else those of its partners with it.
static partners_side partners_side_of(const partners_judging *j, uint32_t member, bool own)
{
    partners_side s = {0};
    size_t from = j->first[member], to = j->first[member + 1];
    double *ratios = memory_array(NULL, to - from + 1, sizeof *ratios);
    for (size_t i = from; i < to; i++) {
        const partners_cell *x = &j->cells[j->of[i]];
        uint32_t other = own ? x->partner : x->member;
        if (!x->judged || (own ? x->member : x->partner) != member || other == member) continue;
        s.partners += !j->seen[other];
        j->seen[other] = true;
        s.slow += x->slow;
        ratios[s.cells++] = x->ratio;
        if (x->slow) j->lost[other] += x->p->time_us.p50 * (1 - 1 / x->ratio) * (double)x->p->records;
        if (j->lost[other] > s.cost_us) s.cost_us = j->lost[other];
    }
    s.ratio = s.cells ? nccl_median_of(ratios, s.cells) : 1;
    free(ratios);
    for (size_t i = from; i < to; i++) { // as they were
        const partners_cell *x = &j->cells[j->of[i]];
        j->seen[x->member] = j->seen[x->partner] = false;
        j->lost[x->member] = j->lost[x->partner] = 0;
    }
    return s;
}

static bool partners_all_slow(const partners_side *s)
{
    return s->partners >= 2 && 10 * s->slow >= 9 * s->cells;
}

// Most transfers between others must be as usual: one that stands alone.
static bool partners_others_are_well(const partners_judging *j, uint32_t member)
{
    size_t others = j->judged, slow = j->slow;
    for (size_t i = j->first[member]; i < j->first[member + 1]; i++) {
        others -= j->cells[j->of[i]].judged;
        slow -= j->cells[j->of[i]].slow;
    }
    return others && 4 * slow <= others;
}

static void partners_explain(partners_judging *j, uint32_t member)
{
    for (size_t i = j->first[member]; i < j->first[member + 1]; i++)
        j->cells[j->of[i]].explained = true;
}

// A rank that stands out.
typedef struct partners_odd {
    uint32_t member, process;
    partners_side with;
    bool own_too; // its own calls are long as well
} partners_odd;

static int partners_by_process(const void *a, const void *b)
{
    const partners_odd *x = a, *y = b;
    if (x->process != y->process) return x->process < y->process ? -1 : 1;
    if (x->with.cost_us != y->with.cost_us) return x->with.cost_us > y->with.cost_us ? -1 : 1;
    return (x->member > y->member) - (x->member < y->member);
}

// all: of one process, the dearest first.
static void partners_report_process(partners_judging *j, const partners_odd *all, size_t count)
{
    const nccl *n = j->m->n;
    uint32_t member = all->member;
    const char *label = n->communicators[n->members[member].communicator].label;
    char *who = nccl_finding_rank(n, member), *more = NULL;
    const char *is = all->own_too
                         ? "transfers slowly to and from whichever partner: Send and Recv with it, its own and theirs, "
                           "take"
                         : "comes late to Send and Recv, and its partners wait for it: their calls with it take";
    if (count > 1) more = memory_format(", likewise in %s,", words_many(count - 1, "other communicator").text);
    nccl_finding *x = nccl_finding_add(
        j->m, all->own_too ? NCCL_RULE_SLOW_PARTNER : NCCL_RULE_LATE_PARTNER, SEVERITY_WATCH, all->with.ratio,
        memory_format("%s in communicator %s%s %s %s times as long as between equals", who, label, more ? more : "", is,
                      words_number(all->with.ratio).text));
    free(who);
    free(more);
    x->device = nccl_finding_host(n, member);
    x->communicator = n->members[member].communicator;
    x->member = member;
    x->cost_us = 0;
    for (size_t i = 0; i < count; i++) {
        x->cost_us += all[i].with.cost_us;
        nccl_finding_evidence(
            x, memory_format("partners in %s", n->communicators[n->members[all[i].member].communicator].label),
            (double)all[i].with.partners, "");
    }
    if (all->own_too || !j->m->late_processes[all->process]) return;
    x->severity = SEVERITY_INFO; // it is late for collectives as well: that is one event
    x->explained_by = nccl_finding_rules[NCCL_RULE_LATE_RANK].name;
}

static void partners_report_odd(partners_judging *j, partners_odd *odd)
{
    size_t count = arrlenu(odd);
    if (count) qsort(odd, count, sizeof *odd, partners_by_process);
    for (size_t i = 0, k; i < count; i = k) {
        for (k = i + 1; k < count && odd[k].process == odd[i].process;)
            k++;
        partners_report_process(j, odd + i, k - i);
    }
}

static void partners_add_odd(partners_judging *j, partners_odd **odd, uint32_t member, const partners_side *with,
                             bool own_too)
{
    arrput(*odd, ((partners_odd){member, j->m->n->members[member].process, *with, own_too}));
    partners_explain(j, member);
}

static void partners_report_ranks(partners_judging *j)
{
    size_t members = j->m->n->member_count;
    bool *touched = memory_calloc(members, sizeof *touched);
    partners_odd *odd = NULL;
    for (size_t i = 0; i < j->count; i++)
        if (j->cells[i].slow) touched[j->cells[i].member] = touched[j->cells[i].partner] = true;
    for (uint32_t i = 0; i < members; i++) {
        if (!touched[i] || !partners_others_are_well(j, i)) continue;
        partners_side own = partners_side_of(j, i, true), with = partners_side_of(j, i, false);
        if (partners_all_slow(&with) && 10 * own.slow >= 9 * own.cells && own.cells)
            partners_add_odd(j, &odd, i, &with, true);
        else if (partners_all_slow(&with) && own.cells && 2 * own.slow <= own.cells)
            partners_add_odd(j, &odd, i, &with, false);
        else if (partners_all_slow(&own) && 2 * with.slow <= with.cells)
            partners_explain(j, i); // it comes early, and waits
    }
    partners_report_odd(j, odd);
    arrfree(odd);
    free(touched);
}

// ---- pairs ----

// Two processes that were named, and the finding that names them.
typedef struct partners_named {
    map_key key;
    size_t value;
} partners_named;

static map_key partners_two(const nccl *n, const partners_cell *c)
{
    uint32_t a = n->members[c->member].process, b = n->members[c->partner].process;
    return a < b ? map_key_of_pair(a, b) : map_key_of_pair(b, a);
}

// In another communicator the same way is the same event.
static bool partners_are_named(partners_judging *j, partners_named **named, const partners_cell *c)
{
    const nccl *n = j->m->n;
    map_key key = partners_two(n, c);
    ptrdiff_t at = hmgeti(*named, key);
    if (at < 0) {
        hmput(*named, key, j->m->f->count);
        return false;
    }
    nccl_finding *x = &j->m->f->items[(*named)[at].value];
    nccl_finding_evidence(x,
                          memory_format("likewise in %s", n->communicators[n->members[c->member].communicator].label),
                          c->ratio, "times");
    x->cost_us += c->p->time_us.p50 * (1 - 1 / c->ratio) * (double)c->p->records;
    return true;
}

static void partners_report_pair(partners_judging *j, partners_named **named, const partners_cell *c)
{
    const nccl *n = j->m->n;
    if (partners_are_named(j, named, c)) return;
    char *from = nccl_finding_rank(n, c->member), *to = nccl_finding_rank(n, c->partner);
    uint32_t communicator = n->members[c->member].communicator;
    nccl_finding *x = nccl_finding_add(
        j->m, NCCL_RULE_SLOW_PAIR, SEVERITY_WATCH, c->ratio,
        memory_format("%s of %s between %s and %s in communicator %s takes %s times as long as between its equals (%s)",
                      c->p->operation, words_binary((double)c->p->size).text, from, to,
                      n->communicators[communicator].label, words_number(c->ratio).text,
                      nccl_finding_time(c->p->time_us.p50).text));
    free(from);
    free(to);
    x->device = nccl_finding_host(n, c->member);
    x->communicator = communicator;
    x->member = c->member;
    x->cost_us = c->p->time_us.p50 * (1 - 1 / c->ratio) * (double)c->p->records;
}

// Of what two have with each other only the slowest.
static void partners_report_pairs(partners_judging *j)
{
    partners_named *named = NULL;
    for (size_t i = 0; i < j->count; i++) {
        const partners_cell *worst = &j->cells[i];
        if (!worst->slow || worst->explained) continue;
        uint32_t member = worst->member, partner = worst->partner;
        for (size_t k = j->first[member]; k < j->first[member + 1]; k++) {
            partners_cell *x = &j->cells[j->of[k]];
            bool same_two = x->member == member ? x->partner == partner : x->member == partner;
            if (!x->slow || x->explained || !same_two) continue;
            x->explained = true;
            if (x->ratio > worst->ratio) worst = x;
        }
        partners_report_pair(j, &named, worst);
    }
    hmfree(named);
}

void nccl_findings_partners(nccl_findings_making *m)
{
    partners_judging j = {.m = m};
    partners_collect(&j);
    partners_compare(&j);
    partners_index(&j);
    partners_report_ranks(&j);
    partners_report_pairs(&j);
    partners_free(&j);
}
