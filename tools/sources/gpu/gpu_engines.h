// Engines of Intel GPUs, by the kernel's performance events.
#ifndef TOOLS_SOURCES_GPU_ENGINES_H
#define TOOLS_SOURCES_GPU_ENGINES_H

#include "gpu_list.h"

void gpu_engines_open(gpu *g, const emit *e);

#endif
