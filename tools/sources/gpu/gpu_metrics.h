// gpu_metrics of amdgpu: a binary table in sysfs, of which several versions exist.
#ifndef TOOLS_SOURCES_GPU_METRICS_H
#define TOOLS_SOURCES_GPU_METRICS_H

#include "gpu_list.h"

// Is it a table of a known version?
bool gpu_metrics_known(const unsigned char *data, size_t size);
void gpu_metrics_set(gpu *g, int error, const unsigned char *data, size_t size);
// Firmware's residencies in AMD's order, UINT64_MAX where the chip does not count one: ticks in which the processor was
// called hot from outside (prochot), and in which the power limit, the socket's heat, the regulator's heat and the memory's
// heat held the clock down. all: all ticks.
enum { GPU_TICKS_AMD = 5 };
void gpu_ticks_set(gpu *g, int error, uint64_t all, const uint64_t of[GPU_TICKS_AMD]);
void gpu_xgmi_set(gpu *g, unsigned link, uint64_t read_kib, uint64_t written_kib);

#endif
