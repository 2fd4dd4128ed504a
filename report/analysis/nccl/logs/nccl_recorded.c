#include "nccl_recorded.h"

#include "analysis/base/saturating_sum.h"
#include "analysis/base/stb_ds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

// ---- what a file is ----

static bool recorded_ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

bool nccl_recorded_is_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return strncmp(name, "netprof-nccl-", 13) == 0 && recorded_ends_with(name, ".netprof");
}

bool nccl_recorded_recognise(const char *path)
{
    netprof_reader *r;
    netprof_item item = {.type = NETPROF_ITEM_FACT};
    bool found = false;
    if (!recorded_ends_with(path, ".netprof") || netprof_reader_open(&r, path, NULL, NULL)) return false;
    while (!found && item.type == NETPROF_ITEM_FACT && !netprof_reader_next(r, &item, NULL)) // facts come first
        found =
            item.type == NETPROF_ITEM_FACT && !strcmp(item.fact->key, "recorder") && !strcmp(item.fact->value, "nccl");
    netprof_reader_close(r);
    return found;
}

// ---- communicators ----

enum { RECORDED_FUNCS = 64 }; // of a communicator; NCCL has about a dozen

typedef struct recorded_func { // graph replays repeat a sequence number: they are counted on
    const char *name;
    uint64_t next, ahead;
} recorded_func;

typedef struct recorded_comm {
    int64_t serial;
    const char *id, *name;
    uint64_t rank, ranks, nodes, first_us, calls, p2ps, dropped, parts_dropped, untimed;
    recorded_func *funcs;
    uint32_t member; // of the chunk
} recorded_comm;

// Where the transfers of a call belong.
typedef struct recorded_call {
    int64_t number, comm;
    uint32_t spent;
} recorded_call;

// All that went from one rank to another, or came.
typedef struct recorded_pair {
    int64_t comm, peer;
    bool sends;
    uint64_t verbs_ops, socket_ops, ops, unsized_ops, steps, timed, bytes, own_gpu_ns, credit_ns, wire_ns, flush_ns;
} recorded_pair;

typedef struct recorded {
    nccl_chunk *c;
    const char *host;
    uint64_t pid, last_us;
    recorded_comm *comms; // by serial
    recorded_pair *pairs;
    nccl_index pair_index, spent_index, used_index;
    recorded_call *calls; // by number
} recorded;

static recorded_comm *recorded_comm_of(const recorded *r, int64_t serial)
{
    size_t low = 0, high = arrlenu(r->comms);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->comms[middle].serial == serial) return &r->comms[middle];
        *(r->comms[middle].serial < serial ? &low : &high) = r->comms[middle].serial < serial ? middle + 1 : middle;
    }
    return NULL;
}

static nccl_text recorded_text(const char *text)
{
    return (nccl_text){text, (uint32_t)strlen(text), false};
}

static nccl_line recorded_line(const recorded *r, const recorded_comm *x, nccl_outcome outcome)
{
    return (nccl_line){.outcome = outcome,
                       .minor = -1,
                       .header = {.seen = 31,
                                  .id = recorded_text(x->id),
                                  .name = recorded_text(x->name),
                                  .rank = x->rank,
                                  .ranks = x->ranks,
                                  .nodes = x->nodes},
                       .metadata = {.seen = 15, .host = recorded_text(r->host), .dump_us = r->last_us, .pid = r->pid}};
}

// ---- rows ----

typedef enum recorded_place {
    AT_COMM,
    AT_ID,
    AT_NAME,
    AT_RANK,
    AT_RANKS,
    AT_NODES,
    AT_BEGIN_NS,
    AT_KIND,
    AT_FUNC,
    AT_SN,
    AT_BYTES,
    AT_PEER,
    AT_ALGO,
    AT_PROTO,
    AT_ENQUEUE_NS,
    AT_KERNELS,
    AT_GPU_BEGIN_NS,
    AT_GPU_END_NS,
    AT_READY_NS,
    AT_LAST_NS,
    AT_DIRECTION,
    AT_TRANSPORT,
    AT_OPS,
    AT_STEPS,
    AT_TIMED,
    AT_OWN_GPU_NS,
    AT_CREDIT_NS,
    AT_WIRE_NS,
    AT_FLUSH_NS,
    AT_WHAT,
    AT_COUNT,
    AT_CALL,
    AT_FIRST_NS,
    AT_DEVICE,
    AT_QP,
    AT_ADAPTER,
    AT_REQUESTS,
    PLACES
} recorded_place;

static const char *const recorded_names[PLACES] = {[AT_COMM] = "comm",
                                                   [AT_ID] = "id",
                                                   [AT_NAME] = "name",
                                                   [AT_RANK] = "rank",
                                                   [AT_RANKS] = "ranks",
                                                   [AT_NODES] = "nodes",
                                                   [AT_BEGIN_NS] = "begin_ns",
                                                   [AT_KIND] = "kind",
                                                   [AT_FUNC] = "func",
                                                   [AT_SN] = "sn",
                                                   [AT_BYTES] = "bytes",
                                                   [AT_PEER] = "peer",
                                                   [AT_ALGO] = "algo",
                                                   [AT_PROTO] = "proto",
                                                   [AT_ENQUEUE_NS] = "enqueue_ns",
                                                   [AT_KERNELS] = "kernels",
                                                   [AT_GPU_BEGIN_NS] = "gpu_begin_ns",
                                                   [AT_GPU_END_NS] = "gpu_end_ns",
                                                   [AT_READY_NS] = "ready_ns",
                                                   [AT_LAST_NS] = "last_ns",
                                                   [AT_DIRECTION] = "direction",
                                                   [AT_TRANSPORT] = "transport",
                                                   [AT_OPS] = "ops",
                                                   [AT_STEPS] = "steps",
                                                   [AT_TIMED] = "timed",
                                                   [AT_OWN_GPU_NS] = "own_gpu_ns",
                                                   [AT_CREDIT_NS] = "credit_ns",
                                                   [AT_WIRE_NS] = "wire_ns",
                                                   [AT_FLUSH_NS] = "flush_ns",
                                                   [AT_WHAT] = "what",
                                                   [AT_COUNT] = "count",
                                                   [AT_CALL] = "call",
                                                   [AT_FIRST_NS] = "first_ns",
                                                   [AT_DEVICE] = "device",
                                                   [AT_QP] = "qp",
                                                   [AT_ADAPTER] = "adapter",
                                                   [AT_REQUESTS] = "requests"};

typedef struct recorded_rows {
    const netprof_events *e;
    const netprof_events_column *at[PLACES]; // NULL: there is none
    size_t row;
} recorded_rows;

static recorded_rows recorded_rows_of(const netprof_events *e)
{
    recorded_rows t = {.e = e};
    for (size_t i = e->column_count; i-- > 0;)
        for (int k = 0; k < PLACES; k++)
            if (strcmp(e->columns[i].name, recorded_names[k]) == 0) t.at[k] = &e->columns[i];
    return t;
}

static int64_t recorded_number(const recorded_rows *t, recorded_place place)
{
    const netprof_events_column *c = t->at[place];
    return c && c->numbers ? c->numbers[t->row] : 0;
}

static const char *recorded_word(const recorded_rows *t, recorded_place place)
{
    const netprof_events_column *c = t->at[place];
    return c && c->texts ? c->texts[t->row] : "";
}

static uint64_t recorded_us(int64_t ns)
{
    return ns > 0 ? ((uint64_t)ns + 500) / 1000 : 0;
}

static void recorded_sum(uint64_t *to, const recorded_rows *t, recorded_place place)
{
    int64_t value = recorded_number(t, place);
    if (value > 0) *to = sum_capped(*to, (uint64_t)value);
}

static void recorded_add_comm(recorded *r, const recorded_rows *t)
{
    int64_t rank = recorded_number(t, AT_RANK), ranks = recorded_number(t, AT_RANKS),
            nodes = recorded_number(t, AT_NODES);
    int64_t serial = recorded_number(t, AT_COMM);
    const char *id = recorded_word(t, AT_ID), *name = recorded_word(t, AT_NAME);
    bool is_next = !arrlenu(r->comms) || serial > arrlast(r->comms).serial; // the plugin counts them
    if (!is_next || rank < 0 || ranks < 1 || ranks > INT32_MAX || nodes < 1 || nodes > INT32_MAX || rank >= ranks) {
        r->c->outcomes[NCCL_BAD_VALUE]++;
        return;
    }
    recorded_comm x = {.serial = serial,
                       .id = nccl_arena_text(&r->c->arena, id, strlen(id)),
                       .name = nccl_arena_text(&r->c->arena, name, strlen(name)),
                       .rank = (uint64_t)rank,
                       .ranks = (uint64_t)ranks,
                       .nodes = (uint64_t)nodes,
                       .first_us = recorded_us(recorded_number(t, AT_BEGIN_NS))};
    nccl_line line = recorded_line(r, &x, NCCL_DUMP_STATS);
    x.member = nccl_chunk_member(r->c, &line);
    arrput(r->comms, x);
    r->c->outcomes[NCCL_BLANK]++; // it says of whom the others are
}

static uint64_t recorded_sn(recorded *r, recorded_comm *x, const char *func, uint64_t sn)
{
    recorded_func *f = NULL;
    for (size_t i = 0; i < arrlenu(x->funcs) && !f; i++)
        if (strcmp(x->funcs[i].name, func) == 0) f = &x->funcs[i];
    if (!f && arrlenu(x->funcs) == RECORDED_FUNCS) return sn;
    if (!f) {
        recorded_func fresh = {.name = nccl_arena_text(&r->c->arena, func, strlen(func))};
        arrput(x->funcs, fresh);
        f = &arrlast(x->funcs);
    }
    if (sn + f->ahead < f->next) f->ahead = f->next - sn;
    f->next = sn + f->ahead + 1;
    return sn + f->ahead;
}

// ---- what calls waited for, and when they used the network ----

typedef struct recorded_spent_key {
    const nccl_chunk *c;
    uint32_t member;
    const char *func;
    uint64_t size;
} recorded_spent_key;

static bool recorded_same_spent(const void *user, uint32_t i)
{
    const recorded_spent_key *k = user;
    const nccl_spent *x = &k->c->spent[i];
    return x->member == k->member && x->size == k->size && strcmp(x->coll, k->func) == 0;
}

static uint32_t recorded_spent_of(recorded *r, const recorded_comm *x, const char *func, uint64_t size)
{
    recorded_spent_key k = {r->c, x->member, func, size};
    uint64_t hash = nccl_mix(nccl_mix(nccl_hash_bytes(func, strlen(func)), size), x->member);
    uint32_t next = (uint32_t)arrlenu(r->c->spent),
             found = nccl_index_put(&r->spent_index, hash, recorded_same_spent, &k, next);
    if (found == next) {
        nccl_spent fresh = {
            .member = x->member, .coll = nccl_arena_text(&r->c->arena, func, strlen(func)), .size = size};
        arrput(r->c->spent, fresh);
    }
    return found;
}

// A call of whose transfers the file may tell later.
static void recorded_expect(recorded *r, const recorded_rows *t, const recorded_comm *x, uint64_t size, uint64_t sn)
{
    uint32_t spent = recorded_spent_of(r, x, recorded_word(t, AT_FUNC), size);
    recorded_call call = {recorded_number(t, AT_CALL), x->serial, spent};
    nccl_span span = {spent, sn, recorded_number(t, AT_FIRST_NS), recorded_number(t, AT_LAST_NS)};
    r->c->spent[spent].calls++;
    // When it was is known, also of a call whose time on this rank is not.
    if (r->last_us) nccl_chunk_note_time(r->c, x->member, r->last_us);
    if (span.end_ns > 0) nccl_chunk_note_time(r->c, x->member, recorded_us(span.end_ns));
    if (!arrlenu(r->calls) || call.number > arrlast(r->calls).number) arrput(r->calls, call); // the plugin counts them
    if (span.begin_ns > 0 && span.end_ns > span.begin_ns) arrput(r->c->spans, span);
}

static nccl_spent *recorded_spent_at(const recorded *r, const recorded_rows *t)
{
    int64_t number = recorded_number(t, AT_CALL);
    size_t low = 0, high = arrlenu(r->calls);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->calls[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    bool found =
        low < arrlenu(r->calls) && r->calls[low].number == number && r->calls[low].comm == recorded_number(t, AT_COMM);
    return found ? &r->c->spent[r->calls[low].spent] : NULL;
}

static double recorded_time_us(const recorded_rows *t, recorded_place place)
{
    int64_t ns = recorded_number(t, place);
    return ns > 0 ? (double)ns / 1e3 : 0;
}

// Operations without steps do not tell what they moved.
static bool recorded_is_unsized(const recorded_rows *t)
{
    return recorded_number(t, AT_OPS) > 0 && !recorded_number(t, AT_STEPS) && !recorded_number(t, AT_BYTES);
}

static void recorded_spend(const recorded *r, const recorded_rows *t, bool sends)
{
    nccl_spent *x = recorded_spent_at(r, t);
    if (!x) return;
    recorded_sum(sends ? &x->sent : &x->received, t, AT_TIMED);
    recorded_sum(sends ? &x->sent_bytes : &x->received_bytes, t, AT_BYTES);
    *(sends ? &x->sent_at_least : &x->received_at_least) |= recorded_is_unsized(t);
    *(sends ? &x->gpu_us : &x->consume_us) += recorded_time_us(t, AT_OWN_GPU_NS);
    *(sends ? &x->wire_us : &x->data_us) += recorded_time_us(t, AT_WIRE_NS);
    *(sends ? &x->credit_us : &x->flush_us) += recorded_time_us(t, sends ? AT_CREDIT_NS : AT_FLUSH_NS);
}

// In a ring a rank first sends data of its own, without waiting for another's. Inside a tree, or where one rank has what
// all want, the first data that it sends are those that it got: when they were ready tells nothing of this rank.
static bool recorded_begins_alone(const recorded_rows *t)
{
    static const char *const funcs[] = {"AllReduce", "AllGather", "ReduceScatter"};
    if (strcmp(recorded_word(t, AT_KIND), "p2p") == 0) return true;
    if (strcmp(recorded_word(t, AT_ALGO), "RING") != 0) return false;
    for (size_t i = 0; i < sizeof funcs / sizeof *funcs; i++)
        if (strcmp(recorded_word(t, AT_FUNC), funcs[i]) == 0) return true;
    return false;
}

// When it began and ended on this rank, in ns of one clock. A kernel's times are the GPU's; else the call begins when its
// GPU has the first data ready, and ends with the last operation of its proxies. Without either, nobody can tell how long
// its GPU kept it waiting: then false.
static bool recorded_span(const recorded_rows *t, int64_t *begin, int64_t *end, const char **timing)
{
    bool kernels = recorded_number(t, AT_KERNELS) > 0;
    *begin = recorded_number(t, kernels ? AT_GPU_BEGIN_NS : AT_READY_NS);
    *end = recorded_number(t, kernels ? AT_GPU_END_NS : AT_LAST_NS);
    *timing = kernels ? "kernel_gpu" : "proxy_steps";
    return *begin > 0 && *end > *begin && (kernels || recorded_begins_alone(t));
}

static void recorded_add_call(recorded *r, const recorded_rows *t)
{
    recorded_comm *x = recorded_comm_of(r, recorded_number(t, AT_COMM));
    bool p2p = strcmp(recorded_word(t, AT_KIND), "p2p") == 0;
    int64_t begin, end, bytes = recorded_number(t, AT_BYTES), peer = recorded_number(t, AT_PEER);
    const char *timing, *func = recorded_word(t, AT_FUNC);
    bool sized = bytes >= 0 && (uint64_t)bytes <= NCCL_SIZE_LIMIT;
    if (!x || !sized || !*func || (p2p && (peer < 0 || peer > INT32_MAX))) {
        r->c->outcomes[x ? NCCL_BAD_VALUE : NCCL_NO_CONTEXT]++;
        r->c->invalid_sizes += x && !sized;
        return;
    }
    r->last_us = recorded_us(recorded_number(t, AT_ENQUEUE_NS));
    nccl_line line = recorded_line(r, x, p2p ? NCCL_P2P : NCCL_COLL);
    uint64_t sn = (uint64_t)recorded_number(t, AT_SN);
    if (!p2p) sn = recorded_sn(r, x, func, sn);
    recorded_expect(r, t, x, (uint64_t)bytes, sn);
    bool timed = recorded_span(t, &begin, &end, &timing);
    *(p2p ? &x->p2ps : &x->calls) += timed;
    x->untimed += !timed;
    if (!timed) {
        r->c->outcomes[NCCL_BLANK]++;
        return;
    }
    line.perf = (nccl_perf){.seen = 1u << NCCL_PERF_ALGO | 1u << NCCL_PERF_PROTO | 1u << NCCL_PERF_TIMING |
                                    (p2p ? 1u << NCCL_PERF_PEER : 0),
                            .coll = recorded_text(func),
                            .algo = recorded_text(recorded_word(t, AT_ALGO)),
                            .proto = recorded_text(recorded_word(t, AT_PROTO)),
                            .timing = recorded_text(timing),
                            .sn = sn,
                            .size = (uint64_t)bytes,
                            .time_us = recorded_us(end - begin),
                            .peer = p2p ? (uint64_t)peer : 0};
    double traffic = p2p ? (double)bytes : nccl_traffic_bytes(func, (uint64_t)bytes, (int64_t)x->ranks);
    line.perf.bus_gbs = line.perf.time_us ? traffic * (p2p ? 1 : nccl_bus_factor(func, (int64_t)x->ranks)) / 1e3 /
                                                (double)line.perf.time_us
                                          : 0;
    nccl_chunk_use(r->c, &line);
    r->c->outcomes[line.outcome]++;
}

typedef struct recorded_pair_key {
    const recorded *r;
    int64_t comm, peer;
    bool sends;
} recorded_pair_key;

static bool recorded_same_pair(const void *user, uint32_t i)
{
    const recorded_pair_key *k = user;
    const recorded_pair *x = &k->r->pairs[i];
    return x->comm == k->comm && x->peer == k->peer && x->sends == k->sends;
}

static recorded_pair *recorded_pair_of(recorded *r, const recorded_rows *t)
{
    recorded_pair_key k = {r, recorded_number(t, AT_COMM), recorded_number(t, AT_PEER),
                           strcmp(recorded_word(t, AT_DIRECTION), "send") == 0};
    uint64_t hash = nccl_mix(nccl_mix((uint64_t)k.comm, (uint64_t)k.peer), k.sends);
    uint32_t next = (uint32_t)arrlenu(r->pairs),
             found = nccl_index_put(&r->pair_index, hash, recorded_same_pair, &k, next);
    recorded_pair fresh = {.comm = k.comm, .peer = k.peer, .sends = k.sends};
    if (found == next) arrput(r->pairs, fresh);
    return &r->pairs[found];
}

static void recorded_add_transfer(recorded *r, const recorded_rows *t)
{
    recorded_pair *x = recorded_pair_of(r, t);
    recorded_sum(&x->ops, t, AT_OPS);
    const char *transport = recorded_word(t, AT_TRANSPORT);
    if (strcmp(transport, "ib") == 0) recorded_sum(&x->verbs_ops, t, AT_OPS);
    if (strcmp(transport, "socket") == 0) recorded_sum(&x->socket_ops, t, AT_OPS);
    if (recorded_is_unsized(t)) recorded_sum(&x->unsized_ops, t, AT_OPS);
    recorded_sum(&x->steps, t, AT_STEPS);
    recorded_sum(&x->timed, t, AT_TIMED);
    recorded_sum(&x->bytes, t, AT_BYTES);
    recorded_sum(&x->own_gpu_ns, t, AT_OWN_GPU_NS);
    recorded_sum(&x->credit_ns, t, AT_CREDIT_NS);
    recorded_sum(&x->wire_ns, t, AT_WIRE_NS);
    recorded_sum(&x->flush_ns, t, AT_FLUSH_NS);
    recorded_spend(r, t, x->sends);
    r->c->outcomes[NCCL_PROXY]++;
}

// ---- through which devices ----

typedef struct recorded_used_key {
    const nccl_chunk *c;
    uint32_t member;
    const char *transport, *direction, *adapter;
    int64_t device;
} recorded_used_key;

static bool recorded_same_used(const void *user, uint32_t i)
{
    const recorded_used_key *k = user;
    const nccl_used *x = &k->c->used[i];
    return x->member == k->member && x->device == k->device && strcmp(x->transport, k->transport) == 0 &&
           strcmp(x->direction, k->direction) == 0 && strcmp(x->adapter, k->adapter) == 0;
}

static const char *recorded_keep(const recorded *r, const char *text)
{
    return nccl_arena_text(&r->c->arena, text, strlen(text));
}

// The plugin tells what came since it told last: a queue pair has several rows.
static void recorded_add_device(recorded *r, const recorded_rows *t)
{
    const recorded_comm *x = recorded_comm_of(r, recorded_number(t, AT_COMM));
    r->c->outcomes[x ? NCCL_BLANK : NCCL_NO_CONTEXT]++;
    if (!x) return;
    recorded_used_key k = {r->c,
                           x->member,
                           recorded_word(t, AT_TRANSPORT),
                           recorded_word(t, AT_DIRECTION),
                           recorded_word(t, AT_ADAPTER),
                           recorded_number(t, AT_DEVICE)};
    uint64_t hash = nccl_mix(nccl_mix(nccl_hash_bytes(k.adapter, strlen(k.adapter)), (uint64_t)k.device), k.member);
    hash = nccl_mix(hash, nccl_hash_bytes(k.direction, strlen(k.direction)));
    uint32_t next = (uint32_t)arrlenu(r->c->used),
             found = nccl_index_put(&r->used_index, hash, recorded_same_used, &k, next);
    if (found == next) {
        nccl_used fresh = {k.member,
                           recorded_keep(r, k.transport),
                           recorded_keep(r, k.direction),
                           recorded_keep(r, k.adapter),
                           k.device,
                           0,
                           0};
        arrput(r->c->used, fresh);
    }
    recorded_sum(&r->c->used[found].requests, t, AT_REQUESTS);
    recorded_sum(&r->c->used[found].bytes, t, AT_BYTES);
}

static void recorded_add_drop(recorded *r, const recorded_rows *t)
{
    recorded_comm *x = recorded_comm_of(r, recorded_number(t, AT_COMM));
    const char *what = recorded_word(t, AT_WHAT);
    bool is_part = strcmp(what, "parts") == 0 || strcmp(what, "steps") == 0 || strcmp(what, "orphans") == 0;
    if (x && strcmp(what, "calls") == 0) recorded_sum(&x->dropped, t, AT_COUNT);
    if (x && is_part) recorded_sum(&x->parts_dropped, t, AT_COUNT);
    r->c->outcomes[NCCL_BLANK]++;
}

// bytes: of the chunk. A row takes a byte or more, since no two have the same times: a crafted chunk of a few bytes would
// fill the memory.
static void recorded_add_events(recorded *r, const netprof_events *e, uint64_t bytes)
{
    static const struct {
        const char *kind;
        void (*add)(recorded *r, const recorded_rows *t);
    } kinds[] = {{"nccl.comm", recorded_add_comm},
                 {"nccl.call", recorded_add_call},
                 {"nccl.transfer", recorded_add_transfer},
                 {"nccl.device", recorded_add_device},
                 {"nccl.drops", recorded_add_drop}};
    if (e->count > bytes) {
        r->c->problem = "a part of it holds more rows than bytes";
        return;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(e->kind, kinds[i].kind) != 0) continue;
        recorded_rows t = recorded_rows_of(e);
        for (; t.row < e->count; t.row++) {
            r->c->lines++;
            kinds[i].add(r, &t);
        }
    }
}

// ---- sums, at the end ----

static void recorded_end_pairs(recorded *r)
{
    for (size_t i = 0; i < arrlenu(r->pairs); i++) {
        const recorded_pair *p = &r->pairs[i];
        const recorded_comm *x = recorded_comm_of(r, p->comm);
        if (!x) continue;
        nccl_line line = recorded_line(r, x, NCCL_PROXY);
        line.proxy = (nccl_proxy_line){.seen = 1u << NCCL_PROXY_KIND | 1u << NCCL_PROXY_DIRECTION |
                                               (p->peer >= 0 ? 1u << NCCL_PROXY_PEER : 0),
                                       .kind = recorded_text("proxy_op"),
                                       .direction = recorded_text(p->sends ? "send" : "recv"),
                                       .peer = (uint64_t)p->peer,
                                       .operations = p->ops,
                                       .unsized = p->unsized_ops,
                                       .verbs_operations = p->verbs_ops,
                                       .socket_operations = p->socket_ops,
                                       .bytes = p->bytes,
                                       .steps = p->steps,
                                       .gpu_us = p->own_gpu_ns / 1000,
                                       .credit_us = p->credit_ns / 1000,
                                       .wire_us = p->wire_ns / 1000,
                                       .flush_us = p->flush_ns / 1000,
                                       .timed = p->timed,
                                       .step_bytes = p->bytes};
        nccl_chunk_use(r->c, &line);
    }
}

static void recorded_end_comms(recorded *r)
{
    for (size_t i = 0; i < arrlenu(r->comms); i++) {
        recorded_comm *x = &r->comms[i];
        nccl_line line = recorded_line(r, x, NCCL_DUMP_STATS);
        line.minor = 1; // no bare lines follow
        line.stats = (nccl_stats_line){.coll_records = x->calls,
                                       .coll_dropped = x->dropped,
                                       .parts_dropped = x->parts_dropped,
                                       .p2p_records = x->p2ps,
                                       .untimed_records = x->untimed};
        if (!r->last_us) line.metadata.dump_us = x->first_us;
        nccl_chunk_use(r->c, &line);
        r->c->outcomes[line.outcome]++;
        arrfree(x->funcs);
    }
}

// All of a process is read; another's may follow, in a file that was appended.
static void recorded_end(recorded *r)
{
    recorded_end_pairs(r);
    recorded_end_comms(r);
    nccl_index_free(&r->pair_index);
    nccl_index_free(&r->spent_index);
    nccl_index_free(&r->used_index);
    arrfree(r->calls);
    arrfree(r->pairs);
    arrfree(r->comms);
    *r = (recorded){.c = r->c, .host = "unknown"};
}

// ---- the file ----

static void recorded_take_fact(recorded *r, const netprof_fact *fact)
{
    if (strcmp(fact->key, "host") == 0) r->host = nccl_arena_text(&r->c->arena, fact->value, strlen(fact->value));
    if (strcmp(fact->key, "pid") == 0) r->pid = strtoull(fact->value, NULL, 10);
}

// Is the counter a port's state, and that ACTIVE (ib_verbs.h: 4)?
static bool recorded_is_active(const netprof_snapshot *s, size_t counter)
{
    return strcmp(s->schema->counters[counter].name, "state") == 0 && s->status[counter] == NETPROF_STATUS_OK &&
           s->values[counter] == 4;
}

static void recorded_take_adapters(recorded *r, const netprof_snapshot *s)
{
    for (size_t i = 0; i < s->schema->device_count && !r->c->rdma; i++) {
        const netprof_device *d = &s->schema->devices[i];
        for (size_t k = d->first; strcmp(d->source, "rdma") == 0 && k < (size_t)d->first + d->count; k++)
            if (recorded_is_active(s, k)) r->c->rdma = nccl_arena_text(&r->c->arena, d->name, strcspn(d->name, "/"));
    }
}

static void recorded_take_all(recorded *r, netprof_reader *reader, uint64_t *done)
{
    netprof_item item = {.type = NETPROF_ITEM_FACT};
    netprof_error error;
    while (item.type != NETPROF_ITEM_END) {
        uint64_t before = item.offset + item.size;
        if (netprof_reader_next(reader, &item, &error)) {
            r->c->error = error.sys_errno ? error.sys_errno : EIO;
            return;
        }
        if (item.type == NETPROF_ITEM_FILE) recorded_end(r);
        if (item.type == NETPROF_ITEM_FACT) recorded_take_fact(r, item.fact);
        if (item.type == NETPROF_ITEM_EVENTS) recorded_add_events(r, item.events, item.size);
        if (item.type == NETPROF_ITEM_SNAPSHOT && item.snapshot) {
            recorded_take_adapters(r, item.snapshot);
            netprof_reader_pass(reader, UINT64_MAX); // the others are for others
        }
        r->c->snapshots += item.type == NETPROF_ITEM_SNAPSHOT;
        if (item.type == NETPROF_ITEM_DAMAGE) r->c->problem = "a part of it is damaged";
        if (item.offset + item.size > before)
            __atomic_fetch_add(done, item.offset + item.size - before, __ATOMIC_RELAXED);
    }
    r->c->tail_cut = !item.complete;
    r->c->bytes = item.offset;
}

void nccl_recorded_read(nccl_chunk *c, const char *path, uint64_t *done)
{
    recorded r = {.c = c, .host = "unknown"};
    netprof_reader *reader;
    netprof_error error;
    nccl_chunk_begin(c);
    if (netprof_reader_open(&reader, path, NULL, &error)) {
        if (error.code == NETPROF_ERR_IO)
            c->error = error.sys_errno;
        else
            c->problem = "no file of the profiler plugin that can be read";
        return;
    }
    recorded_take_all(&r, reader, done);
    netprof_reader_close(reader);
    recorded_end(&r);
}
