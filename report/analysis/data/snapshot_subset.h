// Snapshots cut down to the counters that are followed, so that deltas are made of these alone. Thread rule: any, for
// different snapshots.
#ifndef NETPROF_CUT_H
#define NETPROF_CUT_H

#include "netprof.h"

// Fills `to`, of the schema `small`, with counters of a larger snapshot. `followed` is an array with an element of `size`
// bytes for each counter of `small`, which begins with the index in `from` as a size_t. NETPROF_OK or NETPROF_ERR_NOMEM.
netprof_err cut_snapshot(netprof_snapshot *to, const netprof_schema *small, const netprof_snapshot *from,
                         const void *followed, size_t size);

#endif
