// NVIDIA GPUs, by the driver's library NVML.
#ifndef TOOLS_SOURCES_GPU_NVML_H
#define TOOLS_SOURCES_GPU_NVML_H

#include "gpu_list.h"

typedef struct gpu_nvml gpu_nvml;

extern const char *gpu_nvml_library;     // replaced by tests
gpu_nvml *gpu_nvml_open(gpu_list *list); // NULL: none, or list->error
void gpu_nvml_close(gpu_nvml *n);

#endif
