// AMD and Intel GPUs, by their drivers' files in sysfs.
#ifndef TOOLS_SOURCES_GPU_DRM_H
#define TOOLS_SOURCES_GPU_DRM_H

#include "gpu_list.h"

void gpu_drm_open(gpu_list *list, const emit *e);

#endif
