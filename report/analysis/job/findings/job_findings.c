// All findings of a job, in order.
#include "job_findings_make.h"

#include <stdlib.h>
#include <string.h>

static int job_by_weight(const void *a, const void *b)
{
    const job_finding *x = a, *y = b;
    if (x->severity != y->severity) return x->severity > y->severity ? -1 : 1;
    if (x->incident != y->incident) return x->incident ? -1 : 1; // says when
    if (x->class_rank != y->class_rank) return x->class_rank < y->class_rank ? -1 : 1;
    double p = x->incident ? x->value * (x->to_s - x->from_s) : 0,
           q = y->incident ? y->value * (y->to_s - y->from_s) : 0;
    if (p > q || p < q) return p > q ? -1 : 1;
    int order = strcmp(x->rule, y->rule);
    return order ? order : strcmp(x->claim, y->claim);
}

void job_make_findings(job_report *r)
{
    job_add_incidents(r);
    job_fold_rules(r);
    job_find_limits(r);
    job_finish_events(r);
    if (r->finding_count) qsort(r->findings, r->finding_count, sizeof *r->findings, job_by_weight);
    r->severity = r->finding_count ? r->findings[0].severity : SEVERITY_OK;
    job_add_incident_phases(r);
}
