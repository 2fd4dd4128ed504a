// Makers of the sources, one in each file.
#ifndef TOOLS_SOURCES_MAKERS_H
#define TOOLS_SOURCES_MAKERS_H

#include "emit.h"
#include "sources_job.h"

#include <errno.h>

typedef netprof_err sources_maker(netprof *np, const sources_job *job, netprof_error *error);

sources_maker sources_add_cpu, sources_add_memory, sources_add_disk, sources_add_pressure, sources_add_energy,
    sources_add_hwmon, sources_add_self, sources_add_process, sources_add_cgroup, sources_add_perf, sources_add_gpu,
    sources_add_edac;

#endif
