// Sums over the readings of a GPU: drivers report use, clocks and throttling as states of the moment; weighted by the time
// since the last reading they become busy_time, loaded_cycles, reason_power_cap and the like, which are as exact as
// readings are frequent.
#ifndef TOOLS_SOURCES_GPU_SUMS_H
#define TOOLS_SOURCES_GPU_SUMS_H

#include "gpu_list.h"

// Adds what was just read. passed_us: time since the last reading.
void gpu_sums_add(gpu *g, uint64_t passed_us);
void gpu_sums_tell(const gpu *g, emit *e);

#endif
