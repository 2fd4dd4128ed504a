#include "nccl_findings.h"

#include "nccl_findings_make.h"
#include "analysis/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int nccl_findings_by_weight(const void *a, const void *b)
{
    const nccl_finding *x = a, *y = b;
    if (x->severity != y->severity) return x->severity > y->severity ? -1 : 1;
    double p = isnan(x->cost_us) ? 0 : x->cost_us, q = isnan(y->cost_us) ? 0 : y->cost_us;
    if (p != q) return p > q ? -1 : 1;
    if (x->rule != y->rule) return x->rule < y->rule ? -1 : 1;
    return strcmp(x->claim, y->claim);
}

static char *nccl_findings_verdict(const nccl_findings *f, const nccl *n)
{
    char *text;
    if (f->count && f->items[0].severity >= SEVERITY_WATCH)
        text = memory_strdup(f->items[0].claim);
    else if (!f->judged || !n->instance_count)
        text = memory_strdup("Nothing could be judged");
    else
        text = memory_format("No late rank and no slow wire found in %zu collectives", n->instance_count);
    if (*text >= 'a' && *text <= 'z') *text = (char)(*text - 'a' + 'A');
    return text;
}

void nccl_findings_make(nccl_findings *f, const nccl *n, const nccl_comparison *comparison)
{
    nccl_findings_making m = {.f = f, .n = n};
    bool *late_processes = memory_calloc(n->process_count, sizeof *late_processes);
    *f = (nccl_findings){0};
    nccl_findings_late_ranks(&m, late_processes);
    nccl_findings_late_hosts(&m, late_processes);
    nccl_findings_explain_often_late(&m);
    nccl_findings_slow(&m);
    nccl_findings_below_peak(&m);
    nccl_findings_wire_changes(&m);
    nccl_findings_skew(&m, late_processes);
    nccl_findings_misleading_mean(&m);
    nccl_findings_slow_pairs(&m);
    nccl_findings_missing(&m);
    nccl_findings_dropped(&m);
    nccl_findings_damage(&m);
    nccl_findings_odd_records(&m);
    if (comparison) nccl_findings_compared(&m, comparison);
    if (f->count) qsort(f->items, f->count, sizeof *f->items, nccl_findings_by_weight);
    f->severity = f->count ? f->items[0].severity : SEVERITY_OK;
    f->verdict = nccl_findings_verdict(f, n);
    free(late_processes);
}
