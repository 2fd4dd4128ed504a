// All findings of a job, in order.
#include "job_findings_make.h"

#include <stdlib.h>
#include <string.h>

static int job_by_weight(const void *a, const void *b)
{
    const job_finding *x = a, *y = b;
    if (x->severity != y->severity) return x->severity > y->severity ? -1 : 1;
    if (!*x->explained_by != !*y->explained_by) return !*x->explained_by ? -1 : 1;
    // The dearer first; what has a cost that is known, before what has none.
    if (isnan(x->cost_s) != isnan(y->cost_s)) return isnan(y->cost_s) ? -1 : 1;
    if (x->cost_s > y->cost_s || x->cost_s < y->cost_s) return x->cost_s > y->cost_s ? -1 : 1;
    if (x->class_rank != y->class_rank) return x->class_rank < y->class_rank ? -1 : 1;
    int order = strcmp(x->rule, y->rule);
    return order ? order : strcmp(x->claim, y->claim);
}

void job_make_findings(job_report *r)
{
    job_add_incidents(r);
    job_fold_rules(r);
    job_find_limits(r);
    job_find_settings(r);
    job_find_device_peers(r);
    job_find_node_peers(r);
    job_find_end(r);
    job_find_ranks(r);
    job_find_slow(r);
    job_finish_events(r);
    if (r->finding_count) qsort(r->findings, r->finding_count, sizeof *r->findings, job_by_weight);
    r->severity = r->finding_count ? r->findings[0].severity : SEVERITY_OK;
    job_add_incident_phases(r);
}
