// What the transfers of a collective waited for, over all its ranks: from files of netprof's own plugin, which know of
// which call a step is a part. Thread rule: any thread.
#ifndef NETPROF_NCCL_WAITS_H
#define NETPROF_NCCL_WAITS_H

#include "nccl_peers.h"

// A collective (or "Send", "Recv") and size of a communicator.
typedef struct nccl_waits_row {
    uint32_t communicator;
    const char *coll;
    uint64_t size, calls;         // calls: of the rank with most
    size_t first, count;          // its ranks, in nccl.spent as nccl_waits.ranks orders them
    nccl_split sum;               // over the ranks
    uint32_t longest;             // member whose sending steps take longest; NCCL_NONE: fewer than two ranks sent
    double longest_us, middle_us; // of a step: that member's, and the median of all
} nccl_waits_row;

// Start from {0}; nccl_waits_free() at the end.
typedef struct nccl_waits {
    nccl_waits_row *items; // the one with the longest waiting first
    size_t count;
    uint32_t *ranks; // indexes in nccl.spent
} nccl_waits;

void nccl_waits_make(nccl_waits *w, const nccl *n);
void nccl_waits_free(nccl_waits *w);
// What the larger part of sending waited for: "own GPU", "credit", "wire"; "mixed": none is half of it; "": nothing sent.
const char *nccl_split_mostly(const nccl_split *s);
double nccl_split_send_us(const nccl_split *s);    // own GPU, credit and wire
double nccl_split_receive_us(const nccl_split *s); // data, flush and own GPU
nccl_split nccl_spent_split(const nccl *n, const nccl_spent *x);

#endif
