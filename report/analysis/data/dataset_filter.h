// A data set without what nobody wants to look at: devices, counters and sources by patterns, after the fact.
//
// Thread rule: one thread at a time per data set.
#ifndef NETPROF_DATASET_FILTER_H
#define NETPROF_DATASET_FILTER_H

#include "dataset_model.h"

// Lists by commas, NULL: none. Patterns as netprof_config has them: of DEVICE, or with a slash of DEVICE/COUNTER; a star
// matches slashes, too.
typedef struct dataset_filter {
    const char *include, *exclude, *sources;
    bool fast; // the fast set alone
} dataset_filter;

// Leaves in each run what the filter takes. Returns how many counters that is, in the readings together.
size_t dataset_filter_apply(dataset *set, const dataset_filter *f);

// The same for snapshots that come one after the other. The filter must live as long.
typedef struct dataset_filtering dataset_filtering;
dataset_filtering *dataset_filtering_open(const dataset_filter *f);
// Fills `to`, valid until the next call, and returns how many counters it has.
size_t dataset_filtering_snapshot(dataset_filtering *d, netprof_snapshot *to, const netprof_snapshot *from);
void dataset_filtering_close(dataset_filtering *d);

#endif
