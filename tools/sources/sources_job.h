// The job that sources measure.
#ifndef TOOLS_SOURCES_JOB_H
#define TOOLS_SOURCES_JOB_H

#include "netprof.h"

#include <stdbool.h>
#include <sys/types.h>

// All zero: no job is known, the node alone. Kept by the sources: it must live as long as the context, and its list
// of processes may change between readings.
typedef struct sources_job {
    const pid_t *pids; // roots of the job's process tree
    size_t pid_count;
    bool expected;  // processes will come: the job is listed before it has one
    bool elsewhere; // ... and this process is not one of them: its control group is not the job's
    bool adopted;   // children of this process belong to the job ...
    pid_t stranger; // ... but for this one (0: none)
    size_t *living; // NULL, or where a reading puts how many processes of the job it saw that had not ended
    const char *scheduler, *job_id; // of a scheduler's job, or NULL
    const char *cgroup;             // path of a control group below its mount, or NULL: that of the first pid
    bool whole;                     // a reading takes everything, whatever it costs
    bool per_cpu;                   // a device for each CPU
    const char *perf;               // performance events and groups, by commas; NULL: the usual ones
} sources_job;

#endif
