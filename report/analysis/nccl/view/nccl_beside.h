// The files of NCCL that lie beside a job's recordings.
#ifndef NETPROF_NCCL_BESIDE_H
#define NETPROF_NCCL_BESIDE_H

#include "analysis/nccl/logs/nccl_model.h"

// Reads the profiler plugin's files and the Inspector's logs among these paths, and in directories (not below them). False:
// there are none that can be used; nccl_free(n) in any case.
bool nccl_beside_read(nccl *n, const char *const *paths, size_t count);
// Is it one of these: a file, by its name or its first lines?
bool nccl_beside_is_file(const char *path);

#endif
