// The parts of a model that only the reader and the functions of the model use.
#ifndef NETPROF_NCCL_STORE_H
#define NETPROF_NCCL_STORE_H

#include "nccl_memory.h"

// Shared by all records of one file, member, collective and size.
typedef struct nccl_slot {
    uint32_t member, series, file;
    uint32_t what;
} nccl_slot;

// Lives as long as the nccl.
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
