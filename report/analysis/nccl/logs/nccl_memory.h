// Memory of the reader: arenas, and an index of keys that are kept elsewhere. Thread rule: one thread at a time per
// object; unlike a map of stb_ds an index may be started by any thread.
#ifndef NETPROF_NCCL_MEMORY_H
#define NETPROF_NCCL_MEMORY_H

#include "nccl_model.h"

#include <string.h>

typedef struct nccl_block nccl_block;
typedef struct nccl_arena { // start from {0}
    nccl_block *blocks;
} nccl_arena;
void *nccl_arena_take(nccl_arena *a, size_t size);
char *nccl_arena_text(nccl_arena *a, const char *text, size_t length);
void nccl_arena_free(nccl_arena *a);

// From keys to indexes; the keys are elsewhere. Start from {0}.
typedef struct nccl_index {
    struct nccl_index_slot {
        uint32_t hash, value; // value 0: free, else 1 + index
    } * slots;
    size_t count, mask;
} nccl_index;
// Returns the index with the same key; if the key is new, it is kept with `next`, which is returned.
uint32_t nccl_index_put(nccl_index *x, uint64_t hash, bool (*same)(const void *user, uint32_t index), const void *user,
                        uint32_t next);
void nccl_index_free(nccl_index *x);

static inline uint64_t nccl_mix(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}

static inline uint64_t nccl_hash_bytes(const char *text, size_t length)
{
    uint64_t h = length, word;
    for (; length >= 8; text += 8, length -= 8) {
        memcpy(&word, text, 8);
        h = nccl_mix(h, word);
    }
    word = 0;
    memcpy(&word, text, length);
    return nccl_mix(h, word);
}

#endif
