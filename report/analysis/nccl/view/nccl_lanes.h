// When NCCL's calls ran: a lane for each rank of each communicator, on the wall clock of its host.
//
// Of a file of netprof's plugin a call is there from the first to the last of its operations on the network; of a log of the
// Inspector that was told to be verbose, from its first kernel's begin to the last one's end, else from the call's begin to its
// end. Of all other calls nobody knows when they ran (within a node no proxy takes part; kernels by the GPU's clock alone
// have no place on the host's): they are counted, and in no lane. Thread rule: one thread at a time.
#ifndef NETPROF_NCCL_LANES_H
#define NETPROF_NCCL_LANES_H

#include "analysis/nccl/logs/nccl_model.h"

// A stretch in which at least one call ran.
typedef struct nccl_stretch {
    int64_t begin_ns, end_ns;
    int64_t before_ns; // the lengths of those before it, summed
} nccl_stretch;

typedef struct nccl_lane {
    char *host, *label;      // "rank 3 of world"
    nccl_stretch *stretches; // stb_ds: by time, apart from each other
    uint64_t calls, untimed; // calls: in the lane; untimed: those that are not
} nccl_lane;

// Start from {0}; nccl_lanes_free() at the end.
typedef struct nccl_lanes {
    nccl_lane *items; // stb_ds: by host, process, communicator
    size_t count;     // with a call, with a time or without
    uint64_t calls, untimed;
} nccl_lanes;

void nccl_lanes_make(nccl_lanes *l, const nccl *n);
void nccl_lanes_free(nccl_lanes *l);
// The share of that time in which a call ran, 0 to 1.
double nccl_lane_busy(const nccl_lane *x, int64_t from_ns, int64_t to_ns);
int64_t nccl_lane_ns(const nccl_lane *x); // in which a call ran, in all

#endif
