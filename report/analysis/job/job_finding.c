
#include "job_finding.h"
#include "analysis/base/list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
                                       .lost_s = NAN};

job_finding *job_add_finding(job_report *r, job_finding x)
{
    const char *const fixed[] = {x.rule, x.advice, x.origin, x.unit};
    char *texts[4] = {0};
    bool good = x.claim && x.title;
    for (size_t i = 0; i < 4; i++)
        good &= (texts[i] = strdup(fixed[i] ? fixed[i] : "")) != NULL;
    if (good && list_grow_one(&r->findings, r->finding_count, sizeof *r->findings)) {
        x.rule = texts[0];
        x.advice = texts[1];
        x.origin = texts[2];
        x.unit = texts[3];
        r->findings[r->finding_count] = x;
        if (x.node != JOB_NONE && x.severity > r->nodes[x.node].severity) r->nodes[x.node].severity = x.severity;
        return &r->findings[r->finding_count++];
    }
    for (size_t i = 0; i < 4; i++)
        free(texts[i]);
    free(x.claim);
    free(x.title);
    return NULL;
}
