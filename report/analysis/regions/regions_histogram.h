// How long the calls of a region took.
#ifndef NETPROF_REGIONS_HISTOGRAM_H
#define NETPROF_REGIONS_HISTOGRAM_H

#include "regions_model.h"

// Calls in each bucket (netprof_histogram_floor_ns()), of all ranks. False when no call was measured.
bool regions_histogram(const regions_node *node, uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS]);
// The same of one rank.
bool regions_cell_histogram(const regions_cell *cell, uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS]);

// Bounds of a quantile: low <= x <= high for certain. Both are 0 when there is no call.
typedef struct regions_quantile {
    uint64_t low_ns, high_ns;
} regions_quantile;

// q: 0..1; min and max: of the calls, which narrow the first and the last bucket.
regions_quantile regions_quantile_of(const uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS], double q, uint64_t min_ns,
                                     uint64_t max_ns);

#endif
