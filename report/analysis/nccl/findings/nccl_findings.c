#include "nccl_findings.h"

#include "nccl_findings_make.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/words.h"

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

// How long the collectives took that each process was in with others.
static void nccl_findings_sum_times(nccl_findings_making *m)
{
    const nccl *n = m->n;
    for (size_t i = 0; i < n->communicator_count; i++) {
        const nccl_communicator *c = &n->communicators[i];
        double complete = 0;
        for (uint32_t k = 0; k < c->operation_count; k++)
            complete += (double)n->operations[c->first_operation + k].complete_time_us;
        for (uint32_t k = c->first_member; c->ranks > 1 && k < c->first_member + c->member_count; k++) {
            m->time_us[n->members[k].process] += (double)c->time_us;
            m->complete_us[n->members[k].process] += complete;
        }
    }
}

static void nccl_findings_judge(nccl_findings_making *m, const nccl_comparison *comparison)
{
    nccl_findings_find_alone(m);
    nccl_findings_late_ranks(m);
    nccl_findings_early_ranks(m);
    nccl_findings_late_hosts(m);
    nccl_findings_explain_late_ranks(m);
    nccl_findings_slow(m);
    nccl_findings_below_peak(m);
    nccl_findings_wire_changes(m);
    nccl_findings_skew(m);
    nccl_findings_misleading_mean(m);
    nccl_findings_partners(m);
    nccl_findings_sockets(m);
    nccl_findings_devices(m);
    nccl_findings_peers(m);
    nccl_findings_missing(m);
    nccl_findings_dropped(m);
    nccl_findings_parts_dropped(m);
    nccl_findings_damage(m);
    nccl_findings_odd_records(m);
    if (comparison) nccl_findings_compared(m, comparison);
}

void nccl_findings_make(nccl_findings *f, const nccl *n, const nccl_comparison *comparison)
{
    nccl_findings_making m = {.f = f,
                              .n = n,
                              .time_us = memory_calloc(n->process_count, sizeof *m.time_us),
                              .complete_us = memory_calloc(n->process_count, sizeof *m.complete_us),
                              .late_processes = memory_calloc(n->process_count, sizeof *m.late_processes),
                              .beside_early = memory_calloc(n->member_count, sizeof *m.beside_early),
                              .wire_judged = memory_calloc(n->communicator_count, sizeof *m.wire_judged)};
    *f = (nccl_findings){0};
    nccl_findings_sum_times(&m);
    nccl_findings_judge(&m, comparison);
    if (f->count) qsort(f->items, f->count, sizeof *f->items, nccl_findings_by_weight);
    nccl_findings_conclude(&m);
    free(m.time_us);
    free(m.complete_us);
    free(m.late_processes);
    free(m.wire_judged);
    free(m.beside_early);
    arrfree(m.alone);
}

char *nccl_findings_amount(double value, const char *unit)
{
    if (strcmp(unit, "of calls") != 0) return memory_format("%.9g%s%s", value, *unit ? " " : "", unit);
    if (value > 1) return memory_format("%s times the even share of calls", words_number(value).text);
    return memory_format("%s of calls", words_share(value).text);
}
