#include "nccl_memory.h"

#include "analysis/base/memory.h"

#include <stdlib.h>

struct nccl_block {
    nccl_block *next;
    size_t used, size;
    char data[];
};

void *nccl_arena_take(nccl_arena *a, size_t size)
{
    enum { BLOCK = 8 << 10 };
    nccl_block *b = a->blocks;
    size = (size + 15) & ~(size_t)15;
    if (!b || b->size - b->used < size) {
        size_t room = size > BLOCK ? size : BLOCK;
        b = memory_alloc(sizeof *b + room);
        *b = (nccl_block){a->blocks, 0, room};
        a->blocks = b;
    }
    b->used += size;
    return b->data + b->used - size;
}

char *nccl_arena_text(nccl_arena *a, const char *text, size_t length)
{
    char *copy = nccl_arena_take(a, length + 1);
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

void nccl_arena_free(nccl_arena *a)
{
    while (a->blocks) {
        nccl_block *next = a->blocks->next;
        free(a->blocks);
        a->blocks = next;
    }
}

static void nccl_index_grow(nccl_index *x)
{
    size_t size = x->slots ? 2 * (x->mask + 1) : 16;
    struct nccl_index_slot *slots = memory_calloc(size, sizeof *slots);
    for (size_t i = 0; x->slots && i <= x->mask; i++) {
        if (!x->slots[i].value) continue;
        size_t at = x->slots[i].hash & (size - 1);
        while (slots[at].value)
            at = (at + 1) & (size - 1);
        slots[at] = x->slots[i];
    }
    free(x->slots);
    x->slots = slots;
    x->mask = size - 1;
}

uint32_t nccl_index_put(nccl_index *x, uint64_t hash, bool (*same)(const void *user, uint32_t index), const void *user,
                        uint32_t next)
{
    if (x->count * 2 >= x->mask) nccl_index_grow(x);
    uint32_t short_hash = (uint32_t)(hash >> 32 ^ hash);
    size_t at = short_hash & x->mask;
    for (; x->slots[at].value; at = (at + 1) & x->mask)
        if (x->slots[at].hash == short_hash && same(user, x->slots[at].value - 1)) return x->slots[at].value - 1;
    x->slots[at] = (struct nccl_index_slot){short_hash, next + 1};
    x->count++;
    return next;
}

void nccl_index_free(nccl_index *x)
{
    free(x->slots);
    *x = (nccl_index){0};
}
