// Values that Intel's library (Level Zero) adds to those of sysfs.
#ifndef TOOLS_SOURCES_GPU_ZE_H
#define TOOLS_SOURCES_GPU_ZE_H

#include "gpu_list.h"

typedef struct gpu_ze gpu_ze;

extern const char *const *gpu_ze_names;             // of the library; replaced by tests
gpu_ze *gpu_ze_open(gpu_list *list, const emit *e); // NULL: none, or no Intel GPU
void gpu_ze_close(gpu_ze *z);

#endif
