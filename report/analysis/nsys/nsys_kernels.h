// Each kernel of an Nsight Systems export, one after another; nsys.h has only what they are together.
#ifndef NETPROF_NSYS_KERNELS_H
#define NETPROF_NSYS_KERNELS_H

#include "netprof.h"

#include <stdbool.h>

typedef struct nsys_kernel {
    const char *name; // until the next one; "kernel" where the file does not tell
    bool nccl;
    int64_t device, stream, pid; // -1: not told
    int64_t begin_ns, end_ns;    // since the profile began
} nsys_kernel;

// take() gets each in the file's order, until it returns false. Those without a plausible time are left out. A file without
// kernels is none that is wrong.
netprof_err nsys_kernels_read(const char *path, bool (*take)(void *user, const nsys_kernel *kernel), void *user,
                              netprof_error *error);

#endif
