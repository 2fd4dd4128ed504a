// netprof run --nccl: libnccl-profiler-netprof.so in every process of a job that uses NCCL or RCCL.
#ifndef TOOLS_NCCL_RUN_H
#define TOOLS_NCCL_RUN_H

#include "cli/common.h"

#include "analysis/base/json.h"

// Sets the environment that the command inherits. A profiler plugin that the user chose is chained. Returns an exit code
// after saying what is wrong.
int nccl_run_open(const char *directory);
size_t nccl_run_files(const char *directory); // that the processes have written
void nccl_run_summary(FILE *to, const char *directory);
json_object *nccl_run_json(const char *directory);

#endif
