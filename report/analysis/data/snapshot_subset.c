#include "snapshot_subset.h"

#include "analysis/base/memory.h"

#include <string.h>

static size_t subset_index(const void *followed, size_t size, size_t i)
{
    size_t index;
    memcpy(&index, (const char *)followed + i * size, sizeof index);
    return index;
}

void snapshot_subset(netprof_snapshot *to, const netprof_schema *small, const netprof_snapshot *from,
                     const void *followed, size_t size)
{
    if (netprof_snapshot_make(to, small, NULL)) memory_exhausted();
    for (size_t i = 0; i < small->counter_count; i++) {
        size_t k = subset_index(followed, size, i);
        to->values[i] = from->values[k];
        to->status[i] = from->status[k];
        to->errnos[i] = from->errnos[k];
        to->stamps_ns[i] = from->stamps_ns[k];
    }
    for (size_t d = 0; d < small->device_count; d++) {
        size_t k = from->schema->counters[subset_index(followed, size, small->devices[d].first)].device;
        to->device_begin_ns[d] = from->device_begin_ns[k];
        to->device_end_ns[d] = from->device_end_ns[k];
    }
    to->begin_ns = from->begin_ns;
    to->end_ns = from->end_ns;
    to->wall_ns = from->wall_ns;
    to->stamp_error_ns = from->stamp_error_ns;
    to->set = from->set;
}
