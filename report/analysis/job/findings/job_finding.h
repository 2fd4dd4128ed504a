// Adding a finding to the report.
#ifndef NETPROF_JOB_FINDING_H
#define NETPROF_JOB_FINDING_H

#include "analysis/job/job_model.h"

extern const job_finding job_finding_blank;

// Takes claim and title, copies the other texts.
void job_add_finding(job_report *r, job_finding x);

#endif
