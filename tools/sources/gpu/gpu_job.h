// Which processes and which GPUs belong to the job.
#ifndef TOOLS_SOURCES_GPU_JOB_H
#define TOOLS_SOURCES_GPU_JOB_H

#include "gpu_list.h"

// Does the process belong to the job, by its parents or its control group?
bool gpu_of_job(const emit *e, const sources_job *job, pid_t pid);
// Is a process in a control group, or in one below it?
bool gpu_in_group(const emit *e, const char *group, pid_t pid);
// Reports whether the GPU is the job's, where that is known, and by what.
void gpu_job_facts(const gpu_list *list, const gpu *g, emit *e);

#endif
