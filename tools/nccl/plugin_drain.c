#include "plugin_drain.h"

#include "plugin_clock.h"
#include "plugin_file.h"

#include <stdlib.h>
#include <string.h>

// How long after its last sign a call is over: operations of its proxies begin after it was enqueued.
#define DRAIN_GRACE_NS       INT64_C(250000000)
#define DRAIN_GRACE_ALONE_NS INT64_C(2000000000) // a call of which no proxy was heard

enum { PEERS = 8 };

// Operations with one peer in one direction.
typedef struct drain_transfer {
    bool used, sends;
    int32_t peer, device;
    int8_t transport;
    uint64_t channels; // a bit each
    uint64_t ops, steps, timed, bytes, first, last, wait[WAITS];
} drain_transfer;

typedef struct drain_call {
    uint32_t state; // of the slot's use that this belongs to
    bool busy;
    uint64_t ops, kernels, first, ready, last, gpu_begin, gpu_end;
    uint64_t heard; // when the last kernel was: its times are of another clock
    drain_transfer peers[PEERS];
} drain_call;

static uint64_t drain_calls; // numbers of calls, in the file

bool drain_begin(plugin_context *c)
{
    if (!c->sums) c->sums = calloc(c->pools[POOL_CALLS].count, sizeof *c->sums);
    return c->sums != NULL;
}

// ---- rows ----

static void drain_write_transfer(const plugin_context *c, int64_t call, const drain_transfer *t)
{
    static const char *const transports[] = {"", "ib", "socket"};
    int64_t row[] = {c->serial,
                     call,
                     t->peer,
                     file_text(t->sends ? "send" : "recv"),
                     __builtin_popcountll(t->channels),
                     file_text(transports[t->transport]),
                     t->device,
                     (int64_t)t->ops,
                     (int64_t)t->steps,
                     (int64_t)t->timed,
                     (int64_t)t->bytes,
                     plugin_clock_ns(t->wait[WAIT_GPU]),
                     plugin_clock_ns(t->wait[WAIT_CREDIT]),
                     plugin_clock_ns(t->wait[WAIT_WIRE]),
                     plugin_clock_ns(t->wait[WAIT_FLUSH]),
                     plugin_clock_wall(t->first),
                     plugin_clock_wall(t->last)};
    if (!file_is_full()) file_row(TABLE_TRANSFER, row);
}

static int64_t drain_type_bytes(const char *type)
{
    static const struct {
        const char *name;
        int bytes;
    } rows[] = {{"ncclInt8", 1},    {"ncclUint8", 1},    {"ncclInt32", 4},      {"ncclUint32", 4},
                {"ncclInt64", 8},   {"ncclUint64", 8},   {"ncclFloat16", 2},    {"ncclFloat32", 4},
                {"ncclFloat64", 8}, {"ncclBfloat16", 2}, {"ncclFloat8e4m3", 1}, {"ncclFloat8e5m2", 1}};
    for (size_t i = 0; type && i < sizeof rows / sizeof *rows; i++)
        if (strcmp(type, rows[i].name) == 0) return rows[i].bytes;
    return -1; // NCCL calls some of a byte "Unknown"
}

static void drain_write_call(plugin_context *c, const pool_call *x, drain_call *s, bool finished)
{
    int64_t number = (int64_t)++drain_calls, each = drain_type_bytes(x->datatype);
    bool fits = each > 0 && x->count < (uint64_t)INT64_MAX / 8;
    int64_t row[] = {c->serial,
                     number,
                     file_text(x->slot.type == EVENT_P2P ? "p2p" : "coll"),
                     file_text(x->func),
                     (int64_t)x->sn,
                     (int64_t)x->count,
                     file_text(x->datatype),
                     fits ? (int64_t)x->count * each : -1,
                     x->peer,
                     file_text(x->algo),
                     file_text(x->proto),
                     x->channels,
                     (int64_t)x->tag,
                     plugin_clock_wall(x->begin),
                     finished ? plugin_clock_wall(x->stop) : 0,
                     plugin_clock_wall(s->first),
                     plugin_clock_wall(s->ready),
                     plugin_clock_wall(s->last),
                     (int64_t)s->kernels,
                     (int64_t)s->gpu_begin,
                     (int64_t)s->gpu_end,
                     (int64_t)s->ops,
                     finished};
    if (!file_is_full()) file_row(TABLE_CALL, row);
    for (int i = 0; i < PEERS && s->peers[i].used; i++)
        drain_write_transfer(c, number, &s->peers[i]);
}

// ---- adding up ----

static void drain_add_to(drain_transfer *t, const pool_part *x)
{
    t->ops++;
    t->channels |= UINT64_C(1) << (x->channel & 63);
    t->steps += x->steps;
    t->timed += x->timed;
    t->bytes += x->bytes;
    if (x->transport) t->transport = x->transport;
    if (x->device >= 0) t->device = x->device;
    if (!t->first || x->begin < t->first) t->first = x->begin;
    if (x->end > t->last) t->last = x->end;
    for (int i = 0; i < WAITS; i++)
        t->wait[i] += x->wait[i];
}

static drain_transfer drain_transfer_of(const pool_part *x)
{
    drain_transfer t = {.used = true, .sends = x->sends, .peer = x->peer, .device = -1};
    drain_add_to(&t, x);
    return t;
}

// Of a call of this process or, with NULL, of nobody's.
static void drain_add_op(plugin_context *c, drain_call *s, const pool_part *x)
{
    drain_transfer alone = drain_transfer_of(x);
    for (int i = 0; s && i < PEERS; i++) {
        drain_transfer *t = &s->peers[i];
        if (t->used && (t->peer != x->peer || t->sends != x->sends)) continue;
        if (!t->used)
            *t = alone;
        else
            drain_add_to(t, x);
        return;
    }
    drain_write_transfer(c, 0, &alone);
}

// What is gathered of a call; begun anew with each use of its slot.
static drain_call *drain_sums(plugin_context *c, uint32_t number)
{
    pool_call *x = pool_at(&c->pools[POOL_CALLS], number);
    drain_call *s = &c->sums[number];
    uint32_t use = atomic_load_explicit(&x->slot.state, memory_order_acquire) >> 2;
    if (s->state != use) memset(s, 0, sizeof *s);
    s->state = use;
    return s;
}

static drain_call *drain_call_of(plugin_context *c, uint64_t handle)
{
    uint32_t number;
    return handle && pool_slot_of(c, handle, POOL_CALLS, &number) ? drain_sums(c, number) : NULL;
}

static void drain_take_part(plugin_context *c, const pool_part *x)
{
    drain_call *s = drain_call_of(c, x->call);
    if (!s) pool_dropped(c, DROP_ORPHANS);
    if (x->slot.type == EVENT_KERNEL) {
        if (!s || x->end < x->begin) return;
        s->kernels++;
        if (!s->gpu_begin || x->begin < s->gpu_begin) s->gpu_begin = x->begin;
        if (x->end > s->gpu_end) s->gpu_end = x->end;
        s->heard = plugin_ticks();
        return;
    }
    drain_add_op(c, s, x);
    if (!s) return;
    s->ops++;
    if (!s->first || x->begin < s->first) s->first = x->begin;
    if (x->ready && (!s->ready || x->ready < s->ready)) s->ready = x->ready;
    if (x->end > s->last) s->last = x->end;
}

// ---- pools ----

// Up to where slots were given out since the tail; at the end all are looked at.
static uint32_t drain_span(pool *p, bool last)
{
    uint32_t next = atomic_load_explicit(&p->next, memory_order_relaxed), span = next - p->tail;
    if (last || span > p->count) {
        p->tail = next - p->count;
        span = p->count;
    }
    return span;
}

static void drain_advance(pool *p)
{
    uint32_t next = atomic_load_explicit(&p->next, memory_order_relaxed);
    for (uint32_t i = 0; i < p->count && p->tail != next && pool_phase_of(pool_at(p, p->tail)) == SLOT_FREE; i++)
        p->tail++;
}

static void drain_parts(plugin_context *c, bool last)
{
    pool *p = &c->pools[POOL_PARTS];
    uint32_t span = drain_span(p, last);
    for (uint32_t i = 0; i < span; i++) {
        pool_part *x = pool_at(p, p->tail + i);
        pool_phase phase = pool_phase_of(&x->slot);
        if (phase == SLOT_LIVE) {
            drain_call *s = drain_call_of(c, x->call);
            if (s) s->busy = true;
        }
        if (phase != SLOT_DONE) continue;
        drain_take_part(c, x);
        pool_free(&x->slot);
    }
    drain_advance(p);
}

static bool drain_is_over(const pool_call *x, const drain_call *s, uint64_t now)
{
    uint64_t sign = s->last > x->stop ? s->last : x->stop;
    if (s->heard > sign) sign = s->heard;
    bool heard = s->ops || s->kernels;
    return !s->busy && sign <= now && plugin_clock_ns(now - sign) >= (heard ? DRAIN_GRACE_NS : DRAIN_GRACE_ALONE_NS);
}

static void drain_take_calls(plugin_context *c, bool last)
{
    pool *p = &c->pools[POOL_CALLS];
    uint32_t span = drain_span(p, last), spare = span > p->count / 4 * 3 ? span - p->count / 2 : 0;
    uint64_t now = plugin_ticks();
    for (uint32_t i = 0; i < span; i++) {
        pool_call *x = pool_at(p, p->tail + i);
        pool_phase phase = pool_phase_of(&x->slot);
        if (phase != SLOT_DONE && !(last && phase == SLOT_LIVE)) continue;
        drain_call *s = drain_sums(c, (uint32_t)(((char *)x - p->slots) / POOL_SLOT_BYTES));
        if (last || drain_is_over(x, s, now) || (i < spare && !s->busy)) {
            drain_write_call(c, x, s, phase == SLOT_DONE);
            pool_free(&x->slot);
        }
        s->busy = false;
    }
    drain_advance(p);
}

// Only with a chained plugin: what is done keeps its handle for children that come late.
static void drain_others(plugin_context *c, bool last)
{
    pool *p = &c->pools[POOL_STEPS];
    uint32_t span = drain_span(p, last);
    uint64_t now = plugin_ticks();
    for (uint32_t i = 0; i < span; i++) {
        pool_step *x = pool_at(p, p->tail + i);
        if (pool_phase_of(&x->slot) == SLOT_DONE && (last || plugin_clock_ns(now - x->since) >= DRAIN_GRACE_ALONE_NS))
            pool_free(&x->slot);
    }
    drain_advance(p);
}

// ---- statistics ----

static void drain_devices(plugin_context *c, bool last)
{
    enum { ROUNDS = 64 }; // what is added up in callbacks can wait
    static const char *const directions[] = {[POOL_EITHER] = "", [POOL_SENDS] = "send", [POOL_RECEIVES] = "recv"};
    if (!last && ++c->device_rounds % ROUNDS) return;
    for (int i = 0; i < POOL_DEVICES; i++) {
        pool_device *d = &c->devices[i];
        uint64_t key = atomic_load(&d->key), requests = atomic_load(&d->requests), bytes = atomic_load(&d->bytes);
        if (!key || (requests == d->told_requests && bytes == d->told_bytes)) continue;
        bool verbs = key >> 60 == NET_IB;
        int64_t row[] = {c->serial,
                         file_text(verbs ? "ib" : "socket"),
                         (int16_t)(key >> 32),
                         (int32_t)key,
                         (int64_t)(requests - d->told_requests),
                         (int64_t)(bytes - d->told_bytes),
                         file_text(directions[key >> 48 & 3]),
                         verbs ? file_adapter((uint32_t)key) : file_text("")};
        file_row(TABLE_DEVICE, row);
        d->told_requests = requests;
        d->told_bytes = bytes;
    }
}

static void drain_drops(plugin_context *c)
{
    static const char *const names[DROPS] = {"calls", "parts", "steps", "devices", "orphans"};
    for (int i = 0; i < DROPS; i++) {
        uint64_t now = atomic_load(&c->drops[i]);
        if (now == c->told_drops[i]) continue;
        int64_t row[] = {c->serial, file_text(names[i]), (int64_t)(now - c->told_drops[i])};
        file_row(TABLE_DROPS, row);
        c->told_drops[i] = now;
    }
}

void drain_context(plugin_context *c, bool last)
{
    plugin_clock_tune();
    drain_parts(c, last);
    drain_take_calls(c, last);
    if (c->chain) drain_others(c, last);
    drain_devices(c, last);
    drain_drops(c);
}
