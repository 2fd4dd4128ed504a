#include "plugin_events.h"

#include "plugin_chain.h"
#include "plugin_clock.h"

#include <string.h>

_Atomic uint64_t events_foreign;

// ---- what begins ----

static void *events_start_coll(plugin_context *c, const abi_event *e)
{
    pool_call *x = pool_take(c, POOL_CALLS, POOL_CALLS_FIRST, POOL_CALLS_COUNT, EVENT_COLL);
    if (!x) return NULL;
    x->func = e->coll.func;
    x->datatype = e->coll.datatype;
    x->algo = e->coll.algo;
    x->proto = e->coll.proto;
    x->sn = e->coll.sn;
    x->count = e->coll.count;
    x->tag = c->version >= 7 ? e->coll.tag : 0;
    x->peer = -1;
    x->channels = e->coll.channels;
    x->stop = 0;
    x->begin = plugin_ticks();
    return x;
}

static void *events_start_p2p(plugin_context *c, const abi_event *e)
{
    pool_call *x = pool_take(c, POOL_CALLS, POOL_CALLS_FIRST, POOL_CALLS_COUNT, EVENT_P2P);
    if (!x) return NULL;
    x->func = e->p2p.func;
    x->datatype = e->p2p.datatype;
    x->algo = x->proto = NULL;
    x->sn = atomic_fetch_add_explicit(&c->p2p_count, 1, memory_order_relaxed) + 1;
    x->count = e->p2p.count;
    x->tag = c->version >= 7 ? e->p2p.tag : 0;
    x->peer = e->p2p.peer;
    x->channels = c->version >= 5 ? e->p2p.channels : 0;
    x->stop = 0;
    x->begin = plugin_ticks();
    return x;
}

static void *events_start_op(plugin_context *c, const abi_event *e)
{
    pool_part *x = pool_take(c, POOL_PARTS, POOL_PARTS_FIRST, POOL_PARTS_COUNT, EVENT_PROXY_OP);
    if (!x) return NULL;
    x->call = (uint64_t)(uintptr_t)e->parent;
    x->peer = e->op.peer;
    x->channel = e->op.channel;
    x->sends = e->op.sends != 0;
    x->transport = 0;
    x->device = -1;
    x->steps = x->timed = 0;
    x->end = x->ready = x->bytes = 0;
    memset(x->wait, 0, sizeof x->wait);
    x->begin = plugin_ticks();
    return x;
}

static void *events_start_step(plugin_context *c, const abi_event *e)
{
    pool_step *x = pool_take(c, POOL_STEPS, POOL_STEPS_FIRST, POOL_STEPS_COUNT, EVENT_PROXY_STEP);
    if (!x) return NULL;
    x->part = (uint64_t)(uintptr_t)e->parent;
    x->bytes = x->ready = 0;
    memset(x->wait, 0, sizeof x->wait);
    x->in = WAIT_NONE;
    x->since = plugin_ticks();
    return x;
}

static void *events_start_kernel(plugin_context *c, const abi_event *e)
{
    pool_part *x = pool_take(c, POOL_PARTS, POOL_PARTS_FIRST, POOL_PARTS_COUNT, EVENT_KERNEL);
    if (!x) return NULL;
    x->call = (uint64_t)(uintptr_t)e->parent;
    x->channel = e->kernel.channel;
    x->begin = e->kernel.timer_ns;
    x->end = 0;
    return x;
}

// ---- requests to network devices: added up where they begin ----

static pool_device *events_device(plugin_context *c, uint64_t key)
{
    enum { TRIES = 32 }; // a full table costs no more
    for (uint32_t i = 0, at = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 54); i < TRIES; i++, at++) {
        pool_device *d = &c->devices[at % POOL_DEVICES];
        uint64_t known = atomic_load_explicit(&d->key, memory_order_relaxed);
        if (known == key) return d;
        if (!known && (atomic_compare_exchange_strong(&d->key, &known, key) || known == key)) return d;
    }
    pool_dropped(c, DROP_DEVICES);
    return NULL;
}

// The operation of a proxy that a request is of; NULL: unknown.
static pool_part *events_part_of(const abi_event *e)
{
    const pool_step *step = pool_find_of(e->parent, EVENT_PROXY_STEP);
    return step ? pool_find_of((void *)(uintptr_t)step->part, EVENT_PROXY_OP) : NULL;
}

// Not part of events_start: what it keeps on the stack would be guarded there for every event.
__attribute__((noinline)) static void events_add_request(plugin_context *c, const abi_event *e)
{
    int transport = (int)(e->net.id >> 16 & 0xffff), device = -1, qp = -1;
    size_t length;
    pool_part *part = events_part_of(e);
    if (!e->net.data || (e->net.id & 0xffff) != NET_VERSION || (transport != NET_IB && transport != NET_SOCKET)) return;
    if (transport == NET_IB) {
        abi_net_ib ib;
        memcpy(&ib, e->net.data, sizeof ib);
        if (!(ib.type & 1) || (ib.opcode == NET_IB_READ && part && !part->sends)) return; // a flush stays on the host
        device = ib.device;
        qp = ib.qp;
        length = part && !part->sends ? 0 : ib.length; // who receives does not know it
    } else {
        abi_net_socket socket;
        memcpy(&socket, e->net.data, sizeof socket);
        length = socket.length;
    }
    if (part) {
        part->transport = (int8_t)transport;
        part->device = device;
    }
    uint64_t direction = !part ? POOL_EITHER : part->sends ? POOL_SENDS : POOL_RECEIVES;
    pool_device *d = events_device(c, (uint64_t)transport << 60 | direction << 48 | (uint64_t)(uint16_t)device << 32 |
                                          (uint64_t)(uint32_t)qp);
    if (!d) return;
    atomic_fetch_add_explicit(&d->requests, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&d->bytes, length, memory_order_relaxed);
}

// ---- callbacks ----

static void *events_begin(plugin_context *c, const abi_event *e, uint32_t type)
{
    switch (type) {
    case EVENT_COLL: return events_start_coll(c, e);
    case EVENT_P2P: return events_start_p2p(c, e);
    case EVENT_PROXY_OP: return events_start_op(c, e);
    case EVENT_PROXY_STEP: return events_start_step(c, e);
    case EVENT_KERNEL: return events_start_kernel(c, e);
    case EVENT_NET: events_add_request(c, e); break;
    default: break;
    }
    // Only the chained plugin wants to hear more of it.
    return c->chain && chain_wants(c->chain, type) ? pool_take(c, POOL_STEPS, POOL_STEPS_FIRST, POOL_STEPS_COUNT, type)
                                                   : NULL;
}

int events_start(const void *context, void **handle, abi_event *e, uint32_t type)
{
    if (handle) *handle = NULL;
    if (!context || !handle || !e) return 0;
    if (type == EVENT_PROXY_OP && e->op.pid != plugin_pid) { // context and parent are of that process
        atomic_fetch_add_explicit(&events_foreign, 1, memory_order_relaxed);
        return 0;
    }
    plugin_context *c = pool_context_of(context);
    if (!c || !atomic_load_explicit(&c->open, memory_order_relaxed)) return 0;
    pool_slot *slot = events_begin(c, e, type);
    if (!slot) return 0;
    if (c->chain && chain_wants(c->chain, type)) slot->next = chain_start(c, e, type);
    *handle = pool_publish(c, slot);
    return 0;
}

static void events_stop_step(pool_step *x)
{
    uint64_t now = plugin_ticks();
    pool_part *part = pool_find_of((void *)(uintptr_t)x->part, EVENT_PROXY_OP);
    x->wait[x->in] += now - x->since;
    if (!part) return;
    for (int i = WAIT_GPU; i < WAITS; i++)
        part->wait[i] += x->wait[i];
    part->steps++;
    part->timed += x->in != WAIT_NONE;
    part->bytes += x->bytes;
    if (x->ready && (!part->ready || x->ready < part->ready)) part->ready = x->ready;
}

int events_stop(void *handle)
{
    plugin_context *c;
    pool_slot *slot = pool_find(handle, &c);
    if (!slot) return 0;
    void *next = slot->next; // only where there is a chained plugin
    struct plugin_chain *chain = next ? c->chain : NULL;
    pool_phase to = SLOT_DONE;
    switch (slot->type) {
    case EVENT_COLL:
    case EVENT_P2P: ((pool_call *)slot)->stop = plugin_ticks(); break;
    case EVENT_PROXY_OP: ((pool_part *)slot)->end = plugin_ticks(); break;
    case EVENT_PROXY_STEP:
        events_stop_step((pool_step *)slot);
        to = SLOT_FREE;
        break;
    case EVENT_KERNEL: break;
    default: ((pool_step *)slot)->since = plugin_ticks(); break;
    }
    if (pool_move(slot, handle, to) && chain) chain_stop(chain, next);
    return 0;
}

static void events_enter(pool_step *x, int state, const abi_state *value)
{
    static const uint8_t waits[] = {
        [STATE_SEND_GPU] = WAIT_GPU, [STATE_SEND_WIRE] = WAIT_WIRE,  [STATE_RECEIVE] = WAIT_WIRE,
        [STATE_FLUSH] = WAIT_FLUSH,  [STATE_RECEIVE_GPU] = WAIT_GPU, [STATE_SEND_CREDIT] = WAIT_CREDIT};
    uint8_t in = state >= 0 && state < (int)sizeof waits ? waits[state] : WAIT_NONE;
    if (in == WAIT_NONE) return;
    uint64_t now = plugin_ticks();
    x->wait[x->in] += now - x->since;
    if (state == STATE_SEND_WIRE && !x->ready) x->ready = now; // the GPU has done its part
    x->in = in;
    x->since = now;
    if (value && value->bytes > x->bytes) x->bytes = value->bytes;
}

int events_state(void *handle, int state, abi_state *value)
{
    plugin_context *c;
    pool_slot *slot = pool_find(handle, &c);
    if (!slot) return 0;
    if (slot->type == EVENT_PROXY_STEP)
        events_enter((pool_step *)slot, state, value);
    else if (slot->type == EVENT_PROXY_OP && state == STATE_OP_IN_PROGRESS)
        ((pool_part *)slot)->begin = plugin_ticks(); // its turn: until now it was queued behind others
    else if (slot->type == EVENT_KERNEL && state == STATE_KERNEL_STOP && value)
        ((pool_part *)slot)->end = value->timer_ns;
    if (slot->next && c->chain) chain_state(c->chain, slot->next, state, value);
    return 0;
}
