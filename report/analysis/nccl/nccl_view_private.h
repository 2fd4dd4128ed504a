// The view's memory.
#ifndef NETPROF_NCCL_VIEW_PRIVATE_H
#define NETPROF_NCCL_VIEW_PRIVATE_H

#include "nccl_private.h"
#include "nccl_view.h"

typedef struct nccl_view_memory {
    nccl_arena arena;
    bool failed;
} nccl_view_memory;

// An empty view with its memory: no text is NULL, no number is known. False without memory.
bool nccl_view_begin(nccl_view *v);
void *nccl_view_take(nccl_view *v, size_t count, size_t size); // zeroed; NULL, and v failed, without memory
const char *nccl_view_text(nccl_view *v, const char *text);    // a copy; "" without memory and for NULL
const char *nccl_view_format(nccl_view *v, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
