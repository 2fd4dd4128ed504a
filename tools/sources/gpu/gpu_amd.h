// Values that AMD's libraries (AMD SMI, ROCm SMI) add to those of sysfs.
#ifndef TOOLS_SOURCES_GPU_AMD_H
#define TOOLS_SOURCES_GPU_AMD_H

#include "gpu_list.h"

typedef struct gpu_amd gpu_amd;

extern const char *const *gpu_amdsmi_names, *const *gpu_rocm_names; // of the libraries; replaced by tests
gpu_amd *gpu_amd_open(gpu_list *list, const emit *e);               // NULL: none, or no AMD GPU
void gpu_amd_close(gpu_amd *a);

#endif
