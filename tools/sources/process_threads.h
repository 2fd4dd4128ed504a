// How long the job's threads waited for a CPU, and where they may run.
#ifndef TOOLS_SOURCES_PROCESS_THREADS_H
#define TOOLS_SOURCES_PROCESS_THREADS_H

#include "process_model.h"

void process_add_affinity(process_state *s, pid_t tid);
void process_add_thread(process_state *s, const emit *e, const process_member *m, pid_t tid, bool was_there);
void process_end_threads(process_state *s); // all that were added are those of this walk

#endif
