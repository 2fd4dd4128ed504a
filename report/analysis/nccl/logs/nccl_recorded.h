// Files of netprof's own profiler plugin (libnccl-profiler-netprof.so): tables of events in a .netprof file, which become
// the same records as the lines of an Inspector's log. Thread rule: one thread at a time per chunk.
#ifndef NETPROF_NCCL_RECORDED_H
#define NETPROF_NCCL_RECORDED_H

#include "nccl_chunk.h"

bool nccl_recorded_is_name(const char *path); // what the plugin calls its files
bool nccl_recorded_recognise(const char *path);
// Instead of nccl_chunk_read(). Each row is counted as a line.
void nccl_recorded_read(nccl_chunk *c, const char *path, uint64_t *done);

#endif
