// Snapshots reduced to the counters that are followed, so that deltas are made of these alone. Thread rule: any, for
// different snapshots.
#ifndef NETPROF_SNAPSHOT_SUBSET_H
#define NETPROF_SNAPSHOT_SUBSET_H

#include "netprof.h"

// Fills `to`, of the schema `small`, with counters of a larger snapshot. `followed` is an array with one element of `size`
// bytes for each counter of `small`, which begins with its index in `from` as a size_t.
void snapshot_subset(netprof_snapshot *to, const netprof_schema *small, const netprof_snapshot *from,
                     const void *followed, size_t size);

#endif
