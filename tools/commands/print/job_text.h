// The short text of netprof job.
#ifndef TOOLS_JOB_TEXT_H
#define TOOLS_JOB_TEXT_H

#include "analysis/job/job_report.h"

#include <stdio.h>

// A line a job, for arrays. job_lines_end() prints what was added, if anything, and frees it.
typedef struct table job_lines;
job_lines *job_lines_begin(void);
void job_lines_add(job_lines *t, const job_report *job, const char *name);
void job_lines_end(job_lines *t, FILE *to);
// all: every finding with its advice, and a line for each node.
void job_print(FILE *to, const job_report *job, bool all);

#endif
