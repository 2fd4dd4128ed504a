// Use of the GPUs by the job's processes, as the kernel reports it for their open devices (fdinfo, kfd).
#ifndef TOOLS_SOURCES_GPU_CLIENTS_H
#define TOOLS_SOURCES_GPU_CLIENTS_H

#include "gpu_list.h"

typedef struct gpu_clients gpu_clients;

gpu_clients *gpu_clients_open(void);
void gpu_clients_read(gpu_clients *c, const gpu_list *list, const emit *e);
void gpu_clients_set(const gpu_clients *c, gpu *g);
void gpu_clients_tell(const gpu_clients *c, const gpu *g, emit *e);
void gpu_clients_close(gpu_clients *c);

#endif
