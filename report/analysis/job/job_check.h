// What the samples of a run tell, for a judgement that looks at its ends: incidents, limits over time, how it ended. So
// `netprof check` and `netprof job` say the same of the same files, in the same order.
#ifndef NETPROF_JOB_CHECK_H
#define NETPROF_JOB_CHECK_H

#include "job_report.h"

#include "analysis/rules/findings.h"

// Start from {0}; job_check_free() at the end, not before the findings that it was added to.
typedef struct job_check {
    rule **rules; // stb_ds; of findings that no table has
} job_check;

// Adds to the findings of a run those of the job report that are about its node; others, that the samples tell better,
// become context. The report and `set`, which both were made with, outlive them.
void job_check_add(job_check *c, findings *f, const job_report *r, size_t node, const rules *set);
// The node of a run: by its fact "node", else its host. JOB_NONE: there is none.
size_t job_check_node(const job_report *r, const dataset_run *run);
void job_check_free(job_check *c);

#endif
