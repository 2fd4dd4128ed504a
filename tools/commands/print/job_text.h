// The short text of netprof job.
#ifndef TOOLS_JOB_TEXT_H
#define TOOLS_JOB_TEXT_H

#include "analysis/job/job_report.h"

#include <stdio.h>

// all: every finding with its advice, and a line for each node.
void job_print(FILE *to, const job_report *job, bool all);

#endif
