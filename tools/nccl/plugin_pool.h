// What is under way: calls (collectives, sends, receives), parts (operations of the proxies, kernels) and steps, in pools
// that each communicator brings. Handles are numbers, not pointers: whoever stops an event twice, or one that never
// began, of another process or of a library that was loaded anew, stops nothing. So are contexts: with PXN, NCCL hands
// the proxies of a process what another process got from init.
//
// Thread rule: any thread takes, finds and ends slots; none of it waits, allocates or enters the kernel. Contexts are made
// and recycled with the lock of plugin_main.c held.
#ifndef NETPROF_PLUGIN_POOL_H
#define NETPROF_PLUGIN_POOL_H

#include "plugin_abi.h"

#include <stdatomic.h>

enum { POOL_CONTEXTS = 4096, POOL_DEVICES = 1024 };

extern _Atomic int plugin_pid; // of this process; 0 without a communicator

typedef enum pool_class { POOL_CALLS = 0, POOL_PARTS, POOL_STEPS, POOL_CLASSES } pool_class;

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
    uint32_t count, size;  // count: a power of two
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

// Returns a context, or NULL: no memory, or too many.
plugin_context *pool_context_make(void);
// Its memory stays: a late callback finds nothing there, but finds it.
void pool_context_recycle(plugin_context *c);
plugin_context *pool_context_at(uint32_t number);          // NULL: none
void *pool_context_name(plugin_context *c, uint64_t salt); // for NCCL; of any two uses another
plugin_context *pool_context_of(const void *context);      // NULL: of another process, or long gone
void pool_end(void);                                       // frees all, when the library goes

// A free slot in the phase TAKEN, or NULL: counted as a drop.
void *pool_take(plugin_context *c, pool_class which, uint32_t type);
// The slot can now be found. Returns its handle.
void *pool_publish(plugin_context *c, pool_class which, void *slot);
// What is live under a handle; NULL: nothing.
pool_slot *pool_find(const void *handle, plugin_context **c, pool_class *which);
pool_slot *pool_find_of(const void *handle, pool_class which);
bool pool_is_handle(const void *handle);      // of this library, whatever became of it
pool_slot *pool_find_any(const void *handle); // also what is done but not yet drained
// From live to another phase. False: somebody else was first.
bool pool_move(pool_slot *slot, pool_phase to);
// For the drain: the handle's slot in any phase but free; its number in the pool.
void *pool_slot_of(plugin_context *c, uint64_t handle, pool_class which, uint32_t *number);
void pool_free(pool_slot *slot);

static inline void *pool_at(const pool *p, uint32_t i)
{
    return p->slots + (size_t)(i & (p->count - 1)) * p->size;
}

static inline pool_phase pool_phase_of(const pool_slot *slot)
{
    return (pool_phase)(atomic_load_explicit(&slot->state, memory_order_acquire) & 3);
}

static inline void pool_dropped(plugin_context *c, pool_drop what)
{
    atomic_fetch_add_explicit(&c->drops[what], 1, memory_order_relaxed);
}

#endif
