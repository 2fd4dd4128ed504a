// Two jobs: what became slower or faster.
#include "nccl_findings_make.h"

#include "analysis/base/memory.h"
#include <math.h>
#include <stdlib.h>

// ---- two jobs ----

static void compared_report_class(nccl_findings_making *m, const nccl_comparison *c, nccl_class type,
                                  nccl_verdict verdict)
{
    const nccl_compared *worst = NULL;
    size_t count = 0, all = 0;
    double cost = 0, time = 0;
    for (size_t i = 0; i < c->after->kind_count; i++)
        time += (double)c->after->kinds[i].time_us;
    for (size_t i = 0; i < c->count; i++) {
        const nccl_compared *r = &c->rows[i];
        if (!r->before || !r->after || r->after->type != type) continue;
        all++;
        if (r->verdict != verdict) continue;
        count++;
        cost += (r->after->spreads.wire_us.p50 - r->before->spreads.wire_us.p50) * (double)r->after->instances;
        if (!worst || fabs(log(r->wire_ratio)) > fabs(log(worst->wire_ratio))) worst = r;
    }
    if (!worst) return;
    bool slower = verdict == NCCL_SLOWER;
    severity s = slower ? nccl_finding_severity(cost / time) : SEVERITY_INFO;
    nccl_finding *x = nccl_finding_add(
        m, slower ? NCCL_RULE_SLOWER : NCCL_RULE_FASTER, s, worst->wire_ratio,
        memory_format("%zu of %zu kinds of collectives on %s communicators (%s) are %s on the wire than in the "
                      "compared "
                      "job; most %s of %s: %s instead of %s (x %s)",
                      count, all, nccl_class_name(type), nccl_class_meaning(type), slower ? "slower" : "faster",
                      c->after->colls[worst->after->coll], words_binary((double)worst->after->size).text,
                      nccl_finding_time(worst->after->spreads.wire_us.p50).text,
                      nccl_finding_time(worst->before->spreads.wire_us.p50).text,
                      words_number(worst->wire_ratio).text));
    x->device = nccl_class_name(type);
    if (slower) x->cost_us = cost;
    if (slower) x->cost_share = cost / time;
    nccl_finding_evidence(x, memory_strdup("rank-sum z"), worst->z, "");
    nccl_finding_evidence(x, memory_strdup("calls here"), (double)worst->after->instances, "calls");
    nccl_finding_evidence(x, memory_strdup("calls in the compared job"), (double)worst->before->instances, "calls");
}

// A wire is judged where it was compared with that of the other job.
static void compared_note_judged(nccl_findings_making *m, const nccl_comparison *c)
{
    bool *compared = memory_calloc(c->after->kind_count, sizeof *compared);
    for (size_t i = 0; i < c->count; i++)
        if (c->rows[i].before && c->rows[i].after) compared[c->rows[i].after - c->after->kinds] = true;
    for (size_t i = 0; i < m->n->series_count; i++) {
        const nccl_series *s = &m->n->series[i];
        if (m->n->communicators[s->communicator].ranks > 1 && compared[s->kind]) m->wire_judged[s->communicator] = true;
    }
    free(compared);
}

void nccl_findings_compared(nccl_findings_making *m, const nccl_comparison *c)
{
    m->f->judged += c->slower + c->faster + c->alike;
    compared_note_judged(m, c);
    for (int type = 0; type < NCCL_CLASSES; type++) {
        compared_report_class(m, c, (nccl_class)type, NCCL_SLOWER);
        compared_report_class(m, c, (nccl_class)type, NCCL_FASTER);
    }
}
