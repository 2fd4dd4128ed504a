// The logs themselves: missing, dropped, damaged and odd records.
#include "nccl_findings_make.h"

#include "analysis/base/memory.h"
#include "analysis/base/saturating_sum.h"

#include <stdlib.h>

// ---- the data themselves ----

void nccl_findings_missing(nccl_findings_making *m)
{
    const nccl *n = m->n;
    uint64_t calls = 0, complete = 0, records = 0, missing = 0, tail = 0, absent = 0;
    for (size_t i = 0; i < n->communicator_count; i++) {
        const nccl_communicator *c = &n->communicators[i];
        if (c->ranks < 2) continue;
        calls += c->instances;
        complete += c->complete;
        records += c->records;
        missing += c->missing;
        tail += c->missing_tail;
        absent += c->missing_absent;
    }
    if (!calls) return;
    // Where only steps were recorded, many calls have no time and so no record: nobody knows whether one was lost, too.
    if (missing && n->untimed) return;
    m->f->judged++;
    if (!missing) return;
    double incomplete = (double)(calls - complete) / (double)calls,
           share = (double)missing / (double)(records + missing);
    nccl_finding *x = nccl_finding_add(
        m, NCCL_RULE_RECORDS_MISSING,
        incomplete > nccl_finding_rules[NCCL_RULE_RECORDS_MISSING].limit ? SEVERITY_WATCH : SEVERITY_INFO, incomplete,
        memory_format("%s of the records are missing (%llu), so %s of the calls are incomplete and late ranks are not "
                      "judged in them",
                      words_share(share).text, (unsigned long long)missing, words_share(incomplete).text));
    nccl_finding_evidence(x, memory_strdup("records lost between others of the same rank"),
                          (double)(missing - tail - absent), "records");
    nccl_finding_evidence(x, memory_strdup("records after the end of a rank's log"), (double)tail, "records");
    nccl_finding_evidence(x, memory_strdup("records of ranks without a log"), (double)absent, "records");
    nccl_finding_evidence(x, memory_strdup("records that were read"), (double)records, "records");
}

void nccl_findings_dropped(nccl_findings_making *m)
{
    const nccl *n = m->n;
    uint64_t dropped = 0, written = 0;
    uint32_t worst = 0;
    for (uint32_t i = 0; i < n->member_count; i++) {
        const nccl_dump_stats *s = &n->members[i].stats;
        dropped += s->coll_dropped + s->p2p_dropped;
        written += s->coll_records + s->p2p_records;
        if (s->coll_dropped > n->members[worst].stats.coll_dropped) worst = i;
    }
    if (!n->has_dump_stats) return;
    m->f->judged++;
    if (!dropped) return;
    double share = (double)dropped / ((double)dropped + (double)written);
    char *rank = nccl_finding_rank(n, worst);
    nccl_finding *x = nccl_finding_add(
        m, NCCL_RULE_PLUGIN_DROPPED, SEVERITY_WATCH, share,
        memory_format("the plugin dropped %s, %s of all, before it could write %s; most were of "
                      "%s in communicator %s",
                      words_many(dropped, "record").text, words_share(share).text, words_noun(dropped, "it|them").text,
                      rank, n->communicators[n->members[worst].communicator].label));
    free(rank);
    x->device = nccl_finding_host(n, worst);
    x->member = worst;
}

// By member: operations and timed steps that were kept. Kernels are not counted, so that the share of what was lost is at
// most too large.
static double *logs_parts_kept(const nccl *n)
{
    double *kept = memory_calloc(n->member_count, sizeof *kept);
    for (size_t i = 0; i < n->proxy_count; i++)
        kept[n->proxies[i].member] += (double)n->proxies[i].operations + (double)n->proxies[i].timed;
    return kept;
}

// What its times and waits are judged by is only a part: where that is much, neither good news nor an accusation stands on it
// alone.
void nccl_findings_parts_dropped(nccl_findings_making *m)
{
    const nccl *n = m->n;
    const double limit = nccl_finding_rules[NCCL_RULE_PARTS_DROPPED].limit;
    uint64_t dropped = 0, ranks = 0, much = 0;
    uint32_t worst = 0;
    double share = 0, *kept = logs_parts_kept(n);
    for (uint32_t i = 0; i < n->member_count; i++) {
        double lost = (double)n->members[i].stats.parts_dropped, own = lost > 0 ? lost / (lost + kept[i]) : 0;
        dropped = sum_capped(dropped, n->members[i].stats.parts_dropped);
        ranks += lost > 0;
        much += own > limit;
        if (own > share) worst = i, share = own;
    }
    free(kept);
    if (!dropped) return;
    char *rank = nccl_finding_rank(n, worst);
    nccl_finding *x = nccl_finding_add(
        m, NCCL_RULE_PARTS_DROPPED, much ? SEVERITY_WATCH : SEVERITY_INFO, share,
        memory_format("the plugin lost %s on %s, so that times of calls and what transfers waited for are "
                      "judged by the others; most, %s, of %s in communicator %s",
                      words_many(dropped, "operation, step or kernel|operations, steps and kernels").text,
                      words_many(ranks, "rank").text, words_share(share).text, rank,
                      n->communicators[n->members[worst].communicator].label));
    free(rank);
    x->device = nccl_finding_host(n, worst);
    x->member = worst;
    nccl_finding_evidence(x, memory_strdup("lost"), (double)dropped, "parts");
    if (much)
        nccl_finding_unknown(m, memory_format("%s, %s: times and waits of %s are of what was kept",
                                              nccl_finding_rules[NCCL_RULE_LATE_RANK].name,
                                              nccl_finding_rules[NCCL_RULE_SLOW_SENDER].name,
                                              words_many(much, "rank").text));
}

static uint64_t damage_unused_lines(const uint64_t *outcomes)
{
    uint64_t sum = 0;
    for (int i = NCCL_BAD_JSON; i < NCCL_COLL; i++)
        sum += outcomes[i];
    return sum;
}

void nccl_findings_damage(nccl_findings_making *m)
{
    const nccl *n = m->n;
    uint64_t cut = 0, unreadable = 0, unused = damage_unused_lines(n->outcomes) - n->invalid_sizes;
    const nccl_file *first = NULL;
    for (size_t i = 0; i < n->file_count; i++) {
        const nccl_file *f = &n->files[i];
        cut += f->cut || f->tail_cut;
        unreadable += f->error != 0;
        if (!first && (f->cut || f->tail_cut || f->error || damage_unused_lines(f->outcomes) > f->invalid_sizes))
            first = f;
    }
    m->f->judged++;
    if (!first) return;
    double share = n->lines ? (double)unused / (double)n->lines : 0;
    bool much = cut || unreadable || share > nccl_finding_rules[NCCL_RULE_LOGS_DAMAGED].limit;
    nccl_finding *x =
        nccl_finding_add(m, NCCL_RULE_LOGS_DAMAGED, much ? SEVERITY_WATCH : SEVERITY_INFO, share,
                         memory_format("%llu of %zu files are cut, %llu could not be read; %llu of %llu lines "
                                       "could not be used; the first "
                                       "is %s",
                                       (unsigned long long)cut, n->file_count, (unsigned long long)unreadable,
                                       (unsigned long long)unused, (unsigned long long)n->lines, first->name));
    for (int i = NCCL_BAD_JSON; i < NCCL_COLL; i++)
        if (n->outcomes[i])
            nccl_finding_evidence(x, memory_strdup(nccl_outcome_name((nccl_outcome)i)), (double)n->outcomes[i],
                                  "lines");
}

void nccl_findings_odd_records(nccl_findings_making *m)
{
    const nccl *n = m->n;
    double records = (double)n->outcomes[NCCL_COLL];
    if (n->conflicts)
        nccl_finding_add(
            m, NCCL_RULE_CONFLICTS, SEVERITY_WATCH, (double)n->conflicts / records,
            memory_format("%s %s another time for a call of a rank that was logged before; the first is kept",
                          words_many(n->conflicts, "record").text, words_noun(n->conflicts, "gives|give").text));
    if ((double)n->disagreeing > 0)
        nccl_finding_add(m, NCCL_RULE_DISAGREEING,
                         (double)n->disagreeing > nccl_finding_rules[NCCL_RULE_DISAGREEING].limit * records
                             ? SEVERITY_WATCH
                             : SEVERITY_INFO,
                         (double)n->disagreeing / records,
                         memory_format("in %s the logged bandwidth is not what size and time make (%s)",
                                       words_many(n->disagreeing, "record").text,
                                       words_share((double)n->disagreeing / records).text));
    if (n->invalid_sizes)
        nccl_finding_add(m, NCCL_RULE_INVALID_SIZES, SEVERITY_INFO, (double)n->invalid_sizes,
                         memory_format("%s %s a message size that cannot be and %s left out",
                                       words_many(n->invalid_sizes, "record").text,
                                       words_noun(n->invalid_sizes, "has|have").text,
                                       words_noun(n->invalid_sizes, "is|are").text));
    if (n->duplicates)
        nccl_finding_add(
            m, NCCL_RULE_DUPLICATES, SEVERITY_INFO, (double)n->duplicates,
            memory_format("%s %s there twice and %s counted once", words_many(n->duplicates, "record").text,
                          words_noun(n->duplicates, "was|were").text, words_noun(n->duplicates, "is|are").text));
}
