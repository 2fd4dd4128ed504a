// NCCL's calls over time.
#ifndef EXPORT_NCCL_H
#define EXPORT_NCCL_H

#include "export.h"

// A log of the NCCL Inspector, or a directory with some, and no file of netprof's plugin. Cheap.
bool export_nccl_is_log(const char *path);
// recorded: files of netprof's profiler plugin. For formats with spans. Returns an exit code.
int export_nccl(export_sink *sink, const char **recorded, size_t recorded_count, const char **logs, size_t log_count);

#endif
