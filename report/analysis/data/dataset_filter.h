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
} dataset_filter;

// Leaves in each run what the filter takes. Returns how many counters that is, in the readings together.
size_t dataset_filter_apply(dataset *set, const dataset_filter *f);

#endif
