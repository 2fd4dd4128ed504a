// Findings of a job: those of rules and incidents (job_findings.c), and of the whole job over time (job_limits.c).
#ifndef NETPROF_JOB_FINDINGS_PRIVATE_H
#define NETPROF_JOB_FINDINGS_PRIVATE_H

#include "job_report_private.h"

extern const job_finding job_finding_blank;

// Takes claim and title, copies its other texts. NULL without memory, or without one of the two.
job_finding *job_add_finding(job_report *r, job_finding x);
bool job_find_limits(job_report *r); // false: no memory

const char *job_share_text(char *text, size_t size, double share); // "33 %"; returns text
// "n1", "n1 and another node", "n1 and 3 other nodes"; returns text.
const char *job_nodes_text(char *text, size_t size, const char *first, size_t count);

#endif
