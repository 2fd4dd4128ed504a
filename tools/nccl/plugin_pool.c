#define _GNU_SOURCE
#include "plugin_pool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

_Static_assert(sizeof(void *) == 8, "handles take 64 bits");
_Static_assert(sizeof(pool_call) <= POOL_SLOT_BYTES && sizeof(pool_part) <= POOL_SLOT_BYTES &&
                   sizeof(pool_step) <= POOL_SLOT_BYTES,
               "two cache lines");
_Static_assert(POOL_CONTEXTS == 1 << (POOL_MARK_SHIFT - POOL_NUMBER_SHIFT) &&
                   POOL_SLOTS <= 1 << (POOL_NUMBER_SHIFT - POOL_SLOT_SHIFT) && POOL_SLOT_SHIFT == 32,
               "the fields of a handle");

static const uint32_t pool_counts[POOL_CLASSES] = {POOL_CALLS_COUNT, POOL_PARTS_COUNT, POOL_STEPS_COUNT},
                      pool_firsts[POOL_CLASSES] = {POOL_CALLS_FIRST, POOL_PARTS_FIRST, POOL_STEPS_FIRST};
enum { POOL_BYTES = POOL_HEAD + POOL_SLOTS * POOL_SLOT_BYTES };

_Atomic int plugin_pid;
_Atomic(plugin_context *) pool_contexts[POOL_CONTEXTS];
static uint32_t pool_context_count;
static plugin_context *pool_spares[POOL_CONTEXTS];
static uint32_t pool_spare_count;

// Pages that are never used cost nothing.
static plugin_context *pool_context_map(void)
{
    if (pool_context_count == POOL_CONTEXTS) return NULL;
    void *memory = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    plugin_context *c = memory;
    for (int i = 0; i < POOL_CLASSES; i++) {
        c->pools[i].count = pool_counts[i];
        c->pools[i].slots = (char *)pool_slot_at(c, pool_firsts[i]);
    }
    c->number = pool_context_count;
    atomic_store(&pool_contexts[pool_context_count++], c);
    return c;
}

plugin_context *pool_context_make(void)
{
    return pool_spare_count ? pool_spares[--pool_spare_count] : pool_context_map();
}

void pool_context_recycle(plugin_context *c)
{
    for (int i = 0; i < POOL_CLASSES; i++) {
        pool *p = &c->pools[i];
        for (uint32_t k = 0; k < p->count; k++) // what was still live: its handle is worth nothing from now on
            if (pool_phase_of(pool_at(p, k)) != SLOT_FREE) pool_free(pool_at(p, k));
        p->tail = atomic_load(&p->next);
    }
    memset(c->devices, 0, sizeof c->devices);
    memset(c->told_drops, 0, sizeof c->told_drops);
    for (int i = 0; i < DROPS; i++)
        atomic_store(&c->drops[i], 0);
    atomic_store(&c->p2p_count, 0);
    pool_spares[pool_spare_count++] = c;
}

void *pool_context_name(plugin_context *c, uint64_t salt)
{
    uint64_t token = POOL_CONTEXT_MARK << POOL_MARK_SHIFT | (uint64_t)c->number << POOL_NUMBER_SHIFT |
                     salt * UINT64_C(0x9e3779b97f4a7c15) >> (64 - POOL_NUMBER_SHIFT);
    atomic_store_explicit(&c->token, token, memory_order_release);
    return (void *)(uintptr_t)token;
}

void pool_end(void)
{
    for (uint32_t i = 0; i < pool_context_count; i++) {
        plugin_context *c = atomic_exchange(&pool_contexts[i], NULL);
        free(c->sums);
        munmap(c, POOL_BYTES);
    }
    pool_context_count = pool_spare_count = 0;
}

void *pool_slot_of(plugin_context *c, uint64_t handle, pool_class which, uint32_t *number)
{
    pool_slot *slot = pool_find_any((void *)(uintptr_t)handle);
    const pool *p = &c->pools[which];
    if (!slot || (char *)slot < p->slots || (char *)slot >= p->slots + (size_t)p->count * POOL_SLOT_BYTES) return NULL;
    *number = (uint32_t)((size_t)((char *)slot - p->slots) / POOL_SLOT_BYTES);
    return slot;
}

void pool_free(pool_slot *slot)
{
    uint32_t state = atomic_load_explicit(&slot->state, memory_order_relaxed);
    atomic_store_explicit(&slot->state, state & ~3u, memory_order_release);
}
