// The sources of a node and a job, each in a file of its own in this folder; those of the network are in netprof.h.
#ifndef TOOLS_SOURCES_H
#define TOOLS_SOURCES_H

#include "sources_job.h"

typedef struct sources_entry {
    const char *name;    // as --sources takes it
    const char *summary; // one line
    bool job;            // needs processes or a control group
    netprof_err (*add)(netprof *np, const sources_job *job, netprof_error *error);
} sources_entry;

// NULL after the last.
const sources_entry *sources_at(size_t index);
const sources_entry *sources_find(const char *name);

#endif
