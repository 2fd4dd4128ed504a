// What the usual schedulers and launchers say of the job, in the environment.
#ifndef TOOLS_RECORD_JOB_H
#define TOOLS_RECORD_JOB_H

#include <stddef.h>

const char *record_job_key(size_t i);         // the facts in their order, "job_id", ...; NULL after the last
const char *record_job_fact(const char *key); // NULL: the environment does not say

#endif
