// What belongs to a model beside its arrays.
#ifndef NETPROF_NCCL_STORE_H
#define NETPROF_NCCL_STORE_H

#include "nccl_memory.h"

// What the records of one file, member, collective and size have in common.
typedef struct nccl_slot {
    uint32_t member, series, file;
    uint32_t what;
} nccl_slot;

// What lives as long as the nccl.
typedef struct nccl_store {
    nccl_arena arena;
    nccl_slot *slots; // array of stb_ds, like the next
    nccl_what *whats;
    size_t threads;
} nccl_store;

static inline nccl_store *nccl_store_of(const nccl *n)
{
    return n->memory;
}

#endif
