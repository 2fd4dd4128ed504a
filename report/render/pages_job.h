// The document about a job: everything that its nodes did, on one time axis.
#ifndef NETPROF_PAGES_JOB_H
#define NETPROF_PAGES_JOB_H

#include "document.h"
#include "job_report.h"

// clocks: what is known about the hosts' clocks, said at the end; NULL: nothing more. brief: only the first
// page. NULL: no memory.
document *pages_job(const job_report *job, const char *clocks, bool brief, netprof_error *error);

#endif
