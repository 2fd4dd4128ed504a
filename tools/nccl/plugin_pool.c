#define _GNU_SOURCE
#include "plugin_pool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// A handle, from the top: 8 bits of a mark, 12 of the context, 2 of the class, 26 of the slot's use, 16 of its number.
#define HANDLE_MARK (UINT64_C(0x5e) << 56)
// A context: the mark, 12 bits of its number, 44 of its use and its process.
#define CONTEXT_MARK (UINT64_C(0x5c) << 56)
enum { USE_BITS = 26, TRIES = 8, POOL_AHEAD = 8 };

_Static_assert(sizeof(void *) == 8, "handles take 64 bits");
_Static_assert(sizeof(pool_call) <= 128 && sizeof(pool_part) <= 128 && sizeof(pool_step) <= 128, "two cache lines");

static const struct {
    uint32_t count, size;
} pool_shapes[POOL_CLASSES] = {{2048, 128}, {4096, 128}, {4096, 128}};

_Atomic int plugin_pid;
static _Atomic(plugin_context *) pool_contexts[POOL_CONTEXTS];
static uint32_t pool_context_count;
static plugin_context *pool_spares[POOL_CONTEXTS];
static uint32_t pool_spare_count;

static size_t pool_bytes(void)
{
    size_t bytes = (sizeof(plugin_context) + 127) & ~(size_t)127;
    for (int i = 0; i < POOL_CLASSES; i++)
        bytes += (size_t)pool_shapes[i].count * pool_shapes[i].size;
    return bytes;
}

// Pages that are never used cost nothing.
static plugin_context *pool_context_map(void)
{
    if (pool_context_count == POOL_CONTEXTS) return NULL;
    void *memory = mmap(NULL, pool_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    plugin_context *c = memory;
    char *at = (char *)memory + ((sizeof *c + 127) & ~(size_t)127);
    for (int i = 0; i < POOL_CLASSES; i++) {
        c->pools[i].count = pool_shapes[i].count;
        c->pools[i].size = pool_shapes[i].size;
        c->pools[i].slots = at;
        at += (size_t)pool_shapes[i].count * pool_shapes[i].size;
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

plugin_context *pool_context_at(uint32_t number)
{
    return number < POOL_CONTEXTS ? atomic_load_explicit(&pool_contexts[number], memory_order_acquire) : NULL;
}

void *pool_context_name(plugin_context *c, uint64_t salt)
{
    uint64_t token = CONTEXT_MARK | (uint64_t)c->number << 44 | salt * UINT64_C(0x9e3779b97f4a7c15) >> 20;
    atomic_store_explicit(&c->token, token, memory_order_release);
    return (void *)(uintptr_t)token;
}

plugin_context *pool_context_of(const void *context)
{
    uint64_t token = (uint64_t)(uintptr_t)context;
    if ((token & UINT64_C(0xff) << 56) != CONTEXT_MARK) return NULL;
    plugin_context *c = pool_context_at((uint32_t)(token >> 44) & (POOL_CONTEXTS - 1));
    return c && atomic_load_explicit(&c->token, memory_order_acquire) == token ? c : NULL;
}

void pool_end(void)
{
    for (uint32_t i = 0; i < pool_context_count; i++) {
        plugin_context *c = atomic_exchange(&pool_contexts[i], NULL);
        free(c->sums);
        munmap(c, pool_bytes());
    }
    pool_context_count = pool_spare_count = 0;
}

#if defined __x86_64__
#define POOL_FETCHES __attribute__((target("prfchw")))
#else
#define POOL_FETCHES
#endif

POOL_FETCHES void *pool_take(plugin_context *c, pool_class which, uint32_t type)
{
    pool *p = &c->pools[which];
    uint32_t at = atomic_load_explicit(&p->next, memory_order_relaxed);
    for (int i = 0; i < TRIES; i++, at++) {
        pool_slot *slot = pool_at(p, at);
        uint32_t state = atomic_load_explicit(&slot->state, memory_order_relaxed);
        if ((state & 3) != SLOT_FREE ||
            !atomic_compare_exchange_strong_explicit(&slot->state, &state, state + 4 + SLOT_TAKEN, memory_order_acquire,
                                                     memory_order_relaxed))
            continue;
        atomic_store_explicit(&p->next, at + 1, memory_order_relaxed);
        // The drain freed the slots on another processor, which still has their two lines: they are asked for some
        // events ahead, to be written, so that the event that takes them does not wait.
        char *ahead = pool_at(p, at + POOL_AHEAD);
        __builtin_prefetch(ahead, 1);
        __builtin_prefetch(ahead + 64, 1);
        slot->type = type;
        slot->next = NULL;
        return slot;
    }
    atomic_fetch_add_explicit(&p->next, TRIES, memory_order_relaxed); // on, to where others may have ended
    pool_dropped(c, (pool_drop)which);
    return NULL;
}

void *pool_publish(plugin_context *c, pool_class which, void *slot)
{
    pool_slot *s = slot;
    const pool *p = &c->pools[which];
    uint32_t state = atomic_load_explicit(&s->state, memory_order_relaxed) + SLOT_LIVE - SLOT_TAKEN;
    uint64_t number = (uint64_t)((char *)slot - p->slots) / p->size, use = state >> 2 & ((1u << USE_BITS) - 1);
    atomic_store_explicit(&s->state, state, memory_order_release);
    return (void *)(uintptr_t)(HANDLE_MARK | (uint64_t)c->number << 44 | (uint64_t)which << 42 | use << 16 | number);
}

bool pool_is_handle(const void *handle)
{
    return ((uint64_t)(uintptr_t)handle & UINT64_C(0xff) << 56) == HANDLE_MARK;
}

static void *pool_resolve(uint64_t handle, plugin_context **context, pool_class *which, uint32_t *number)
{
    if (!pool_is_handle((void *)(uintptr_t)handle)) return NULL;
    plugin_context *c = pool_context_at((uint32_t)(handle >> 44) & (POOL_CONTEXTS - 1));
    unsigned class = (unsigned)(handle >> 42) & 3;
    if (!c || class >= POOL_CLASSES) return NULL;
    const pool *p = &c->pools[class];
    uint32_t at = (uint32_t)handle & 0xffff;
    if (at >= p->count) return NULL;
    pool_slot *slot = pool_at(p, at);
    uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
    if (((uint64_t)state >> 2 & ((1u << USE_BITS) - 1)) != (handle >> 16 & ((1u << USE_BITS) - 1))) return NULL;
    if ((state & 3) < SLOT_LIVE) return NULL;
    *context = c;
    *which = (pool_class) class;
    *number = at;
    return slot;
}

pool_slot *pool_find(const void *handle, plugin_context **c, pool_class *which)
{
    uint32_t number;
    pool_slot *slot = pool_resolve((uint64_t)(uintptr_t)handle, c, which, &number);
    return slot && pool_phase_of(slot) == SLOT_LIVE ? slot : NULL;
}

pool_slot *pool_find_any(const void *handle)
{
    plugin_context *c;
    pool_class which;
    uint32_t number;
    return pool_resolve((uint64_t)(uintptr_t)handle, &c, &which, &number);
}

pool_slot *pool_find_of(const void *handle, pool_class which)
{
    plugin_context *c;
    pool_class found;
    pool_slot *slot = pool_find(handle, &c, &found);
    return slot && found == which ? slot : NULL;
}

void *pool_slot_of(plugin_context *c, uint64_t handle, pool_class which, uint32_t *number)
{
    plugin_context *of;
    pool_class found;
    void *slot = pool_resolve(handle, &of, &found, number);
    return slot && of == c && found == which ? slot : NULL;
}

bool pool_move(pool_slot *slot, pool_phase to)
{
    uint32_t state = atomic_load_explicit(&slot->state, memory_order_relaxed);
    return (state & 3) == SLOT_LIVE &&
           atomic_compare_exchange_strong_explicit(&slot->state, &state, (state & ~3u) | to, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

void pool_free(pool_slot *slot)
{
    uint32_t state = atomic_load_explicit(&slot->state, memory_order_relaxed);
    atomic_store_explicit(&slot->state, state & ~3u, memory_order_release);
}
