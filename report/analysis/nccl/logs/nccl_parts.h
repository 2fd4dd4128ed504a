// The parts of the reader in the order in which nccl_read() calls them, and what they share.
#ifndef NETPROF_NCCL_PARTS_H
#define NETPROF_NCCL_PARTS_H

#include "nccl_chunk.h"
#include "nccl_store.h"

// Finds the files of logs that the paths name or hold; _IO: a path cannot be opened.
netprof_err nccl_files_find(nccl *n, const char *const *paths, size_t count, netprof_error *error);

// From chunks, in the order of files and places, to members, communicators, series and records.
void nccl_merge(nccl *n, nccl_chunk *chunks, size_t count);
// From records to instances and everything that is computed of them.
void nccl_group(nccl *n);
// Point to point and proxies.
void nccl_merge_p2p(nccl *n, nccl_chunk *chunks, size_t count);
// Of which calls the operations of proxies are parts, as far as logs of the Inspector tell: adds to the chunks' spent. Before the
// next.
void nccl_merge_parents(nccl *n, nccl_chunk *chunks, size_t count);
// What calls waited for; and what only files of netprof's plugin hold.
void nccl_merge_recorded(nccl *n, nccl_chunk *chunks, size_t count);
// Adds the samples of a .prom file.
void nccl_metrics_read(nccl *n, uint32_t file);
void nccl_peaks_set(nccl *n, const nccl_peak *peaks, size_t count);

// For qsort().
static inline int nccl_compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static inline int nccl_compare_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

#endif
