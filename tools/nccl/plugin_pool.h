// What is under way: calls (collectives, sends, receives), parts (operations of the proxies, kernels) and steps, in pools
// that each communicator brings. Handles are numbers, not pointers: whoever stops an event twice, or one that never
// began, of another process or of a library that was loaded anew, stops nothing. So are contexts: with PXN, NCCL hands
// the proxies of a process what another process got from init.
//
// Thread rule: any thread takes, finds and ends slots; none of it waits, allocates or enters the kernel. Contexts are made
// and recycled with the lock of plugin_main.c held.
//
// A context, its handles and slots in numbers, so that an event goes from the one to the other without a search:
//   what NCCL has as context: from the top 6 bits of a mark, 12 of the context's number, 46 of its use and its process
//   a handle: 6 bits of another mark, 12 of the context, 14 of the slot, 32 of the slot's state while it is live
#ifndef NETPROF_PLUGIN_POOL_H
#define NETPROF_PLUGIN_POOL_H

#include "plugin_abi.h"

#include <stdatomic.h>
#include <stddef.h>

enum { POOL_CONTEXTS = 4096, POOL_DEVICES = 1024 };
#define POOL_CONTEXT_MARK UINT64_C(0x16)
#define POOL_HANDLE_MARK  UINT64_C(0x17)
enum { POOL_MARK_SHIFT = 58, POOL_NUMBER_SHIFT = 46, POOL_SLOT_SHIFT = 32 };

extern _Atomic int plugin_pid; // of this process; 0 without a communicator

typedef enum pool_class { POOL_CALLS = 0, POOL_PARTS, POOL_STEPS, POOL_CLASSES } pool_class;
// Slots of each class, powers of two; the first of each in the context; the bytes of a slot: two cache lines.
enum {
    POOL_CALLS_COUNT = 2048,
    POOL_PARTS_COUNT = 4096,
    POOL_STEPS_COUNT = 4096,
    POOL_CALLS_FIRST = 0,
    POOL_PARTS_FIRST = POOL_CALLS_FIRST + POOL_CALLS_COUNT,
    POOL_STEPS_FIRST = POOL_PARTS_FIRST + POOL_PARTS_COUNT,
    POOL_SLOTS = POOL_STEPS_FIRST + POOL_STEPS_COUNT,
    POOL_SLOT_BYTES = 128
};

typedef enum pool_phase { SLOT_FREE = 0, SLOT_TAKEN, SLOT_LIVE, SLOT_DONE } pool_phase;

// The beginning of every slot.
typedef struct pool_slot {
    _Atomic uint32_t state; // pool_phase, and above it a number that changes with each use
    uint32_t type;          // EVENT_...
    void *next;             // handle of the chained plugin
} pool_slot;

typedef struct pool_call {
    pool_slot slot;
    const char *func, *datatype, *algo, *proto; // NCCL's own; valid until its communicator is finalized
    uint64_t sn, count, tag;
    uint64_t begin, stop; // ticks
    int32_t peer, channels;
} pool_call;

// What a step can wait for.
typedef enum pool_wait { WAIT_NONE = 0, WAIT_GPU, WAIT_CREDIT, WAIT_WIRE, WAIT_FLUSH, WAITS } pool_wait;

typedef struct pool_part {
    pool_slot slot;
    uint64_t call; // handle; 0: none of this process
    int32_t peer;
    uint8_t channel;
    bool sends;
    int8_t transport; // NET_...; 0 unknown
    int32_t device;   // -1 unknown
    uint32_t steps, timed;
    uint64_t begin, end;         // ticks; of a kernel the GPU's ns
    uint64_t ready;              // when the GPU had its first data ready
    uint64_t bytes, wait[WAITS]; // ticks
} pool_part;

typedef struct pool_step {
    pool_slot slot;
    uint64_t part;
    uint64_t since; // ticks
    uint64_t bytes, wait[WAITS];
    uint64_t ready;
    uint8_t in; // pool_wait
} pool_step;

typedef struct pool {
    _Atomic uint32_t next; // where to look for a free slot
    uint32_t tail;         // the drain's: what lies before it was free
    uint32_t count;        // a power of two
    char *slots;
} pool;

// Bytes by transport, direction, device and QP.
typedef enum pool_direction { POOL_EITHER = 0, POOL_SENDS, POOL_RECEIVES } pool_direction;
typedef struct pool_device {
    _Atomic uint64_t key; // 0: free
    _Atomic uint64_t requests, bytes;
    uint64_t told_requests, told_bytes; // the drain's
} pool_device;

typedef enum pool_drop { DROP_CALLS = 0, DROP_PARTS, DROP_STEPS, DROP_DEVICES, DROP_ORPHANS, DROPS } pool_drop;

typedef struct plugin_context {
    _Atomic bool open;
    _Atomic uint64_t token; // what NCCL is given for it
    uint32_t number;        // its place in the table
    uint32_t serial;        // of the communicators of this process
    int version;            // of the interface
    int *mask;              // NCCL's, of the whole process
    int chained_mask;       // what the chained plugin asked for
    struct plugin_chain *chain;
    void *chained; // the chained plugin's context
    uint64_t id;
    char name[128];
    int nodes, ranks, rank;
    uint64_t begin;
    _Atomic uint64_t p2p_count;
    pool pools[POOL_CLASSES];
    pool_device devices[POOL_DEVICES];
    uint32_t device_rounds; // the drain's
    _Atomic uint64_t drops[DROPS];
    struct drain_call *sums; // the drain's, one for each call's slot
    uint64_t told_drops[DROPS];
} plugin_context;

// Behind each context come its slots, of all classes.
enum { POOL_HEAD = (sizeof(plugin_context) + POOL_SLOT_BYTES - 1) / POOL_SLOT_BYTES * POOL_SLOT_BYTES };

extern _Atomic(plugin_context *) pool_contexts[POOL_CONTEXTS];

// Returns a context, or NULL: no memory, or too many.
plugin_context *pool_context_make(void);
// Its memory stays: a late callback finds nothing there, but finds it.
void pool_context_recycle(plugin_context *c);
void *pool_context_name(plugin_context *c, uint64_t salt); // for NCCL; of any two uses another
void pool_end(void);                                       // frees all, when the library goes

// For the drain: the handle's slot in any phase but free; its number in the pool.
void *pool_slot_of(plugin_context *c, uint64_t handle, pool_class which, uint32_t *number);
void pool_free(pool_slot *slot);

// ---- what callbacks use ----

static inline void *pool_at(const pool *p, uint32_t i)
{
    return p->slots + (size_t)(i & (p->count - 1)) * POOL_SLOT_BYTES;
}

static inline pool_slot *pool_slot_at(plugin_context *c, uint32_t number)
{
    return (pool_slot *)(void *)((char *)c + POOL_HEAD + (size_t)number * POOL_SLOT_BYTES);
}

static inline pool_phase pool_phase_of(const pool_slot *slot)
{
    return (pool_phase)(atomic_load_explicit(&slot->state, memory_order_acquire) & 3);
}

static inline void pool_dropped(plugin_context *c, pool_drop what)
{
    atomic_fetch_add_explicit(&c->drops[what], 1, memory_order_relaxed);
}

// NULL: none has the number.
static inline plugin_context *pool_context_at(uint64_t number)
{
    return atomic_load_explicit(&pool_contexts[number % POOL_CONTEXTS], memory_order_acquire);
}

// NULL: of another process, or long gone.
static inline plugin_context *pool_context_of(const void *context)
{
    uint64_t token = (uint64_t)(uintptr_t)context;
    if (token >> POOL_MARK_SHIFT != POOL_CONTEXT_MARK) return NULL;
    plugin_context *c = pool_context_at(token >> POOL_NUMBER_SHIFT);
    return c && atomic_load_explicit(&c->token, memory_order_acquire) == token ? c : NULL;
}

// The line will be written soon.
static inline void pool_fetch(void *line)
{
#if defined __x86_64__
    __asm__ volatile("prefetchw %0" : : "m"(*(char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

// A free slot of a class in the phase TAKEN, or NULL: counted as a drop.
static inline void *pool_take(plugin_context *c, pool_class which, uint32_t first, uint32_t count, uint32_t type)
{
    enum { TRIES = 8, AHEAD = 8 };
    pool *p = &c->pools[which];
    uint32_t at = atomic_load_explicit(&p->next, memory_order_relaxed);
    for (int i = 0; i < TRIES; i++, at++) {
        pool_slot *slot = pool_slot_at(c, first + (at & (count - 1)));
        uint32_t state = atomic_load_explicit(&slot->state, memory_order_relaxed);
        if ((state & 3) != SLOT_FREE ||
            !atomic_compare_exchange_strong_explicit(&slot->state, &state, state + 4 + SLOT_TAKEN, memory_order_acquire,
                                                     memory_order_relaxed))
            continue;
        atomic_store_explicit(&p->next, at + 1, memory_order_relaxed);
        // The drain freed the slots on another processor, which still has their two lines: they are asked for some
        // events ahead, so that the event that takes them does not wait.
        char *ahead = (char *)pool_slot_at(c, first + ((at + AHEAD) & (count - 1)));
        pool_fetch(ahead);
        pool_fetch(ahead + POOL_SLOT_BYTES / 2);
        slot->type = type;
        slot->next = NULL;
        return slot;
    }
    atomic_fetch_add_explicit(&p->next, TRIES, memory_order_relaxed); // on, to where others may have ended
    pool_dropped(c, (pool_drop)which);
    return NULL;
}

// The slot can now be found. Returns its handle.
static inline void *pool_publish(plugin_context *c, pool_slot *slot)
{
    uint32_t state = atomic_load_explicit(&slot->state, memory_order_relaxed) + SLOT_LIVE - SLOT_TAKEN;
    uint64_t number = (uint64_t)((char *)slot - ((char *)c + POOL_HEAD)) / POOL_SLOT_BYTES;
    atomic_store_explicit(&slot->state, state, memory_order_release);
    return (void *)(uintptr_t)(POOL_HANDLE_MARK << POOL_MARK_SHIFT | (uint64_t)c->number << POOL_NUMBER_SHIFT |
                               number << POOL_SLOT_SHIFT | state);
}

// Of this library, whatever became of it.
static inline bool pool_is_handle(const void *handle)
{
    const uint64_t mark = POOL_HANDLE_MARK << POOL_MARK_SHIFT | SLOT_LIVE, bits = UINT64_MAX << POOL_MARK_SHIFT | 3;
    return ((uint64_t)(uintptr_t)handle & bits) == mark;
}

// The slot that a handle names, with whatever is in it now; NULL: none.
static inline pool_slot *pool_named(const void *handle, plugin_context **context)
{
    uint64_t bits = (uint64_t)(uintptr_t)handle;
    if (!pool_is_handle(handle)) return NULL;
    plugin_context *c = pool_context_at(bits >> POOL_NUMBER_SHIFT);
    uint32_t number = (uint32_t)(bits >> POOL_SLOT_SHIFT) & ((1u << (POOL_NUMBER_SHIFT - POOL_SLOT_SHIFT)) - 1);
    if (!c || number >= POOL_SLOTS) return NULL;
    *context = c;
    return pool_slot_at(c, number);
}

// What is live under a handle; NULL: nothing.
static inline pool_slot *pool_find(const void *handle, plugin_context **c)
{
    pool_slot *slot = pool_named(handle, c);
    uint32_t live = (uint32_t)(uintptr_t)handle;
    return slot && atomic_load_explicit(&slot->state, memory_order_acquire) == live ? slot : NULL;
}

// The same for one type of event.
static inline void *pool_find_of(const void *handle, uint32_t type)
{
    plugin_context *c;
    pool_slot *slot = pool_find(handle, &c);
    return slot && slot->type == type ? slot : NULL;
}

// Also what is done but not yet drained.
static inline pool_slot *pool_find_any(const void *handle)
{
    plugin_context *c;
    pool_slot *slot = pool_named(handle, &c);
    uint32_t live = (uint32_t)(uintptr_t)handle, done = live - SLOT_LIVE + SLOT_DONE;
    uint32_t state = slot ? atomic_load_explicit(&slot->state, memory_order_acquire) : 0;
    return state == live || state == done ? slot : NULL;
}

// From live to another phase. False: somebody else was first.
static inline bool pool_move(pool_slot *slot, const void *handle, pool_phase to)
{
    uint32_t live = (uint32_t)(uintptr_t)handle, after = live - SLOT_LIVE + to;
    return atomic_compare_exchange_strong_explicit(&slot->state, &live, after, memory_order_acq_rel,
                                                   memory_order_relaxed);
}

#endif
