// A file's bytes, unpacked: plain, gzip or zstd by what it begins with, whatever its name. Thread rule: one thread at a
// time per stream.
#ifndef NETPROF_NCCL_STREAM_H
#define NETPROF_NCCL_STREAM_H

#include "nccl_model.h"

typedef struct nccl_stream nccl_stream;

// NULL with errno. For plain files reading begins at `offset`.
nccl_stream *nccl_stream_open(const char *path, uint64_t offset);
// As many bytes as fit, less only at the end; 0: the end, or a place where the data are damaged or cut.
size_t nccl_stream_read(nccl_stream *s, void *to, size_t room);
nccl_packing nccl_stream_packing(const nccl_stream *s);
uint64_t nccl_stream_taken(const nccl_stream *s);      // bytes on disk that were read
const char *nccl_stream_problem(const nccl_stream *s); // why it ended early; NULL: it did not
int nccl_stream_error(const nccl_stream *s);           // errno of a failed read, else 0
void nccl_stream_close(nccl_stream *s);

#endif
