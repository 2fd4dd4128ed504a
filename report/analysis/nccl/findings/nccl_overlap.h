// NIC counters joined with calls by overlap of time. A device is read every so often; what it moved between two readings is
// shared among the calls that used the network then, by how long each did. Where one call was alone in all its intervals,
// all of it is its own, or that of whoever else uses the NIC; where it was not, the share is an estimate, and is said to be.
// Thread rule: one thread at a time.
#ifndef NETPROF_NCCL_OVERLAP_H
#define NETPROF_NCCL_OVERLAP_H

#include "analysis/base/words.h"
#include "nccl_counters.h"

// Of a host: one collective (or "Send", "Recv") and size of a communicator. The ranks of a host in the same call are one.
typedef struct nccl_overlap_row {
    uint32_t host, communicator;
    const char *coll;
    uint64_t size;
    uint64_t calls, alone; // of which counters know; alone: no other call used the network in its intervals
    uint64_t unknown;      // calls while the devices were not read, or before and after
    double bytes[2];       // received and sent by the host's devices, its share; SERIES_IN, SERIES_OUT; NAN unknown
    double own_bytes[2];   // of NCCL's transfers of these calls, all of them; NAN: their steps were not told
    bool own_at_least[2];  // of some of them it is not known what they moved
    double share;          // its time in the intervals / that of all calls in them, mean over calls; 1: alone
    double others;         // other calls in its intervals, median over calls
} nccl_overlap_row;

// Start from {0}; nccl_overlap_free() at the end.
typedef struct nccl_overlap {
    nccl_overlap_row *items; // by host, the most bytes first
    size_t count;
} nccl_overlap;

void nccl_overlap_make(nccl_overlap *o, const nccl_counters *c);
void nccl_overlap_free(nccl_overlap *o);
// "alone", "shared with 2 others: 35 %; not read in 3 more calls"
typedef struct nccl_overlap_text {
    char text[320];
} nccl_overlap_text;
nccl_overlap_text nccl_overlap_say(const nccl_overlap_row *x);
json_object *nccl_overlap_json(const nccl_overlap *o, const nccl *n); // an array

#endif
