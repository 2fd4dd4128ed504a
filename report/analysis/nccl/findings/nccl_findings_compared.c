// Two jobs: what became slower or faster.
#include "nccl_findings_make.h"

#include "analysis/base/memory.h"
#include <math.h>

// ---- two jobs ----

static void compared_report_class(nccl_findings_making *m, const nccl_comparison *c, nccl_class type,
                                  nccl_verdict verdict)
{
    const nccl_compared *worst = NULL;
    size_t count = 0, all = 0;
    double cost = 0;
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
    severity s = !slower ? SEVERITY_INFO : worst->wire_ratio >= 1.5 ? SEVERITY_HIGH : SEVERITY_WARN;
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
    nccl_finding_evidence(x, memory_strdup("rank-sum z"), worst->z, "");
    nccl_finding_evidence(x, memory_strdup("calls here"), (double)worst->after->instances, "calls");
    nccl_finding_evidence(x, memory_strdup("calls in the compared job"), (double)worst->before->instances, "calls");
}

void nccl_findings_compared(nccl_findings_making *m, const nccl_comparison *c)
{
    m->f->judged += c->slower + c->faster + c->alike;
    for (int type = 0; type < NCCL_CLASSES; type++) {
        compared_report_class(m, c, (nccl_class)type, NCCL_SLOWER);
        compared_report_class(m, c, (nccl_class)type, NCCL_FASTER);
    }
}
