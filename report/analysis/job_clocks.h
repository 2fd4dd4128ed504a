// What clocks.h finds about host clocks, as job_report.h asks for it.
#ifndef NETPROF_JOB_CLOCKS_H
#define NETPROF_JOB_CLOCKS_H

#include "job_report.h"

// job_report_options.clock; its user is a char *, set to what there is to say, to be freed by the caller. May be NULL.
bool job_clocks(void *text, const job_clock_run *runs, size_t count, double *shift_s, double *uncertainty_s);

#endif
