
#include "job_finding.h"

#include "analysis/base/stb_ds.h"

#include <math.h>

const job_finding job_finding_blank = {.class_rank = 99,
                                       .node = JOB_NONE,
                                       .device = JOB_NONE,
                                       .meter = JOB_METERS,
                                       .value = NAN,
                                       .threshold = NAN,
                                       .sent_ratio = NAN,
                                       .cpu_ratio = NAN,
                                       .gpu_ratio = NAN,
                                       .power_ratio = NAN,
                                       .cost_s = NAN,
                                       .lost_s = NAN};

static char *job_finding_copy(const char *text)
{
    return memory_strdup(text ? text : "");
}

void job_add_finding(job_report *r, job_finding x)
{
    x.rule = job_finding_copy(x.rule);
    x.advice = job_finding_copy(x.advice);
    x.origin = job_finding_copy(x.origin);
    x.unit = job_finding_copy(x.unit);
    x.explained_by = job_finding_copy(x.explained_by);
    arrput(r->findings, x);
    r->finding_count++;
    if (x.node != JOB_NONE && x.severity > r->nodes[x.node].severity) r->nodes[x.node].severity = x.severity;
}
