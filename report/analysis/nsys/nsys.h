// Nsight Systems: the tables that `nsys stats` prints, and how busy each GPU was over time, from its SQLite export.
//
// SQLite's library is loaded when it is asked for. The file is opened read-only and as immutable, and is hostile:
// absent tables and columns are those of another version, rows without a plausible time are counted and left out.
//
// Thread rule: one thread at a time per nsys.
#ifndef NETPROF_NSYS_H
#define NETPROF_NSYS_H

#include "netprof.h"

#include <json-c/json.h>
#include <stdbool.h>

typedef enum nsys_kind {
    NSYS_API = 0,     // calls of the CUDA API; nsys' cuda_api_sum
    NSYS_KERNELS,     // cuda_gpu_kern_sum
    NSYS_MEMORY_TIME, // copies and fills: cuda_gpu_mem_time_sum ...
    NSYS_MEMORY_SIZE, // ... and cuda_gpu_mem_size_sum
    NSYS_NVTX,        // the program's own ranges: nvtx_sum
    NSYS_OSRT,        // calls of the operating system's libraries: osrt_sum
    NSYS_TABLES
} nsys_kind;

// All of one name. Quantities are ns, or bytes in NSYS_MEMORY_SIZE.
typedef struct nsys_row {
    char *name;
    bool nccl; // a kernel of NCCL: the GPU communicates, and waits for others
    uint64_t count;
    uint64_t total; // saturates
    uint64_t min, max;
    double mean, median;
    double deviation; // of the sample (n - 1), as nsys has it; 0 of one
    double share;     // of the table's total; NAN when that is 0
} nsys_row;

typedef struct nsys_table {
    const char *title, *name, *unit, *counted; // "CUDA kernels", "cuda_gpu_kern_sum", "ns", "Instances"
    bool present;                              // the file has such events
    nsys_row *rows;                            // the largest total first
    size_t row_count;
    uint64_t count, total;
    uint64_t left_out; // events without a plausible begin, end or size
} nsys_table;

enum { NSYS_BUSY_KERNELS = 0, NSYS_BUSY_NCCL, NSYS_BUSY_MEMORY, NSYS_BUSY };

// What one GPU did: shares of the time in which at least one kernel (of NCCL; or copy, or fill) ran, whatever the
// number of streams. Kernels are those of NCCL, too.
typedef struct nsys_gpu {
    int64_t device;
    double *busy[NSYS_BUSY];     // [nsys.bin_count], 0..1
    uint64_t busy_ns[NSYS_BUSY]; // over all
} nsys_gpu;

// Start from {0}; nsys_free() at the end.
typedef struct nsys {
    char *path, *host; // host: NULL unknown
    nsys_table tables[NSYS_TABLES];
    nsys_gpu *gpus; // by device
    size_t gpu_count;
    size_t bin_count;         // 0 without events of GPUs
    int64_t begin_ns, end_ns; // of the GPUs' events, since the profile began; bins part this
    int64_t session_ns;       // CLOCK_REALTIME when the profile began; 0: the file does not tell
} nsys;

typedef struct nsys_options {
    size_t bins; // 0: 120
    uint64_t end_zero;
} nsys_options;

// Errors: _IO (no such file; SQLite's library is not there), _FORMAT (no SQLite file, or none of Nsight Systems'),
// _DAMAGED, _NOMEM, _ARG; error->path and ->text tell.
netprof_err nsys_read(nsys *n, const char *path, const nsys_options *options, netprof_error *error);
void nsys_free(nsys *n);
bool nsys_in_file(const char *path); // is it an SQLite file at all?

const char *nsys_busy_name(int what); // "kernels", "NCCL kernels", "memory operations"
int64_t nsys_bin_begin(const nsys *n,
                       size_t i);      // since the profile began; i = bin_count: the end of the last
json_object *nsys_json(const nsys *n); // an object for one file; NULL without memory

#endif
