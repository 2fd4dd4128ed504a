// The document about a job: everything that its nodes did, on one time axis.
#ifndef NETPROF_PAGES_JOB_H
#define NETPROF_PAGES_JOB_H

#include "document.h"
#include "job_report.h"

// brief: only the first page. NULL: no memory.
document *pages_job(const job_report *job, bool brief, netprof_error *error);

#endif
