#include "player.h"

#include "plugin_clock.h"

#include <string.h>
#include <unistd.h>

_Atomic int64_t player_ns = -1;
_Atomic int player_pid;
char player_host[64] = "node0";

extern abi_plugin_v4 ncclProfiler_v4;
extern abi_plugin ncclProfiler_v5, ncclProfiler_v6, ncclProfiler_v7;

// ---- what the plugin asks the system for ----

int plugin_getpid(void);
const char *plugin_host(void);

int plugin_getpid(void)
{
    return player_pid ? player_pid : (int)getpid();
}

const char *plugin_host(void)
{
    return player_host;
}

const player_queue_pair *player_queue_pairs;
int player_listings;

typedef int (*player_visit)(void *user, unsigned type, const unsigned char *body, size_t size);
int plugin_ask(unsigned char *request, size_t size, player_visit visit, void *user);

// An attribute of netlink (linux/netlink.h): length with its head, type, content, filled up to 4 bytes.
static size_t player_attribute(unsigned char *to, unsigned type, const void *data, size_t size)
{
    uint16_t head[2] = {(uint16_t)(size + 4), (uint16_t)type};
    memcpy(to, head, 4);
    memset(to + 4, 0, (size + 3) / 4 * 4);
    if (size) memcpy(to + 4, data, size);
    return 4 + (size + 3) / 4 * 4;
}

// The first of an adapter's queue pairs: its place is the adapter's.
static int player_is_first(const player_queue_pair *x)
{
    for (const player_queue_pair *y = player_queue_pairs; y < x; y++)
        if (strcmp(x->adapter, y->adapter) == 0) return 0;
    return 1;
}

static size_t player_entry(unsigned char *to, const player_queue_pair *x)
{
    unsigned char entry[64], list[96];
    uint32_t port = 1;
    size_t size = player_attribute(entry, 3, &port, 4); // RDMA_NLDEV_ATTR_PORT_INDEX
    size += player_attribute(entry + size, 21, &x->number, 4);
    size += player_attribute(entry + size, 28, &x->pid, 4);
    size = player_attribute(list, 20 | 0x8000, entry, size);
    return player_attribute(to, 19 | 0x8000, list, size);
}

int plugin_ask(unsigned char *request, size_t size, player_visit visit, void *user)
{
    uint16_t type;
    uint32_t asked = 0, index = 2;
    memcpy(&type, request + 4, 2);
    if (size >= 24) memcpy(&asked, request + 20, 4);
    if (!player_queue_pairs) return -93; // EPROTONOSUPPORT
    player_listings += type == (5 << 10 | 1);
    for (const player_queue_pair *x = player_queue_pairs; x->adapter; x++) {
        unsigned char body[256];
        if (!player_is_first(x)) continue;
        index++;
        size_t length = player_attribute(body, 1, &index, 4);
        length += player_attribute(body + length, 2, x->adapter, strlen(x->adapter) + 1);
        for (const player_queue_pair *y = x; type == (5 << 10 | 10) && y->adapter; y++)
            if (asked == index && strcmp(y->adapter, x->adapter) == 0 && length < 150)
                length += player_entry(body + length, y);
        visit(user, type, body, length);
    }
    return 0;
}

static int64_t player_clock(clockid_t which)
{
    struct timespec t;
    int64_t ns = atomic_load(&player_ns);
    if (ns >= 0) return ns;
    clock_gettime(which, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t plugin_monotonic_ns(void)
{
    return player_clock(CLOCK_MONOTONIC);
}

int64_t plugin_wall_ns(void)
{
    return player_clock(CLOCK_REALTIME);
}

// ---- callbacks ----

const void *player_table(int version)
{
    const void *const tables[] = {&ncclProfiler_v4, &ncclProfiler_v5, &ncclProfiler_v6, &ncclProfiler_v7};
    return tables[version - 4];
}

static const abi_plugin *player_events(const player *p)
{
    return p->table;
}

static void player_log(int level, unsigned long flags, const char *where, int line, const char *format, ...)
{
    (void)level;
    (void)flags;
    (void)where;
    (void)line;
    (void)format;
}

void player_init(player *p, int version, const void *table, uint64_t id, const char *name, int nodes, int ranks,
                 int rank)
{
    *p = (player){.version = version, .table = table};
    int code =
        version == 4
            ? ((const abi_plugin_v4 *)table)->init(&p->context, &p->mask, name, id, nodes, ranks, rank, player_log)
            : ((const abi_plugin *)table)->init(&p->context, id, &p->mask, name, nodes, ranks, rank, player_log);
    if (code) p->wrong = "init";
}

void player_finalize(player *p)
{
    if (p->context && player_events(p)->finalize(p->context)) p->wrong = "finalize";
}

void *player_start(player *p, uint64_t type, abi_event *event)
{
    static char untouched;
    void *handle = &untouched;
    bool inner = type == EVENT_PROXY_STEP || type == EVENT_NET || type == EVENT_KERNEL;
    // What nobody asked for is not made; the types around it are.
    if (inner && p->context && !((uint64_t)__atomic_load_n(&p->mask, __ATOMIC_RELAXED) & type)) return NULL;
    if (p->version == 4)
        event->type.small = (uint8_t)type;
    else
        event->type.wide = type;
    if (player_events(p)->start(p->context, &handle, event)) p->wrong = "start";
    if (handle == &untouched) p->wrong = "start left the handle as it was";
    return handle;
}

void player_stop(player *p, void *handle)
{
    if (player_events(p)->stop(handle)) p->wrong = "stop";
}

void player_events_state(player *p, void *handle, int state, abi_state *value)
{
    if (player_events(p)->state(handle, state, value)) p->wrong = "state";
}

void player_state(player *p, void *handle, int state, uint64_t value)
{
    abi_state args = {.timer_ns = value};
    player_events_state(p, handle, state, &args);
}

// ---- events ----

void *player_coll(player *p, const char *func, uint64_t sn, size_t count)
{
    abi_event e = {.coll = {.sn = sn,
                            .func = func,
                            .count = count,
                            .datatype = "ncclFloat32",
                            .channels = 2,
                            .warps = 16,
                            .algo = "RING",
                            .proto = "SIMPLE"}};
    return player_start(p, EVENT_COLL, &e);
}

void *player_p2p(player *p, const char *func, int peer, size_t count)
{
    abi_event e = {.p2p = {.func = func, .datatype = "ncclFloat32", .count = count, .peer = peer, .channels = 2}};
    return player_start(p, EVENT_P2P, &e);
}

void *player_op(player *p, void *call, int peer, bool sends, int channel)
{
    abi_event e = {
        .parent = call,
        .op = {.pid = plugin_getpid(), .channel = (uint8_t)channel, .peer = peer, .steps = 1, .sends = sends}};
    return player_start(p, EVENT_PROXY_OP, &e);
}

void player_step(player *p, void *op, bool sends, size_t bytes, int64_t gpu_ns, int64_t other_ns, int64_t wire_ns)
{
    abi_event e = {.parent = op};
    void *step = player_start(p, EVENT_PROXY_STEP, &e);
    player_state(p, step, sends ? STATE_SEND_CREDIT : STATE_RECEIVE, 0);
    player_ns += sends ? other_ns : wire_ns;
    player_state(p, step, sends ? STATE_SEND_GPU : STATE_FLUSH, 0);
    player_ns += sends ? gpu_ns : other_ns;
    player_state(p, step, sends ? STATE_SEND_WIRE : STATE_RECEIVE_GPU, bytes);
    player_ns += sends ? wire_ns : gpu_ns;
    player_stop(p, step);
}

void player_kernel(player *p, void *call, int channel, uint64_t from_ns, uint64_t to_ns)
{
    abi_event e = {.parent = call, .kernel = {.channel = (uint8_t)channel, .timer_ns = from_ns}};
    void *kernel = player_start(p, EVENT_KERNEL, &e);
    player_state(p, kernel, STATE_KERNEL_STOP, to_ns);
    player_stop(p, kernel);
}

void player_request(player *p, void *step, int device, int qp, size_t bytes)
{
    abi_net_ib ib = {.type = 1, .device = device, .qp = qp, .length = bytes};
    abi_net_socket socket = {.type = 1, .fd = 5, .op = 1, .length = bytes};
    abi_event e = {.parent = step,
                   .net = {device < 0 ? (int64_t)NET_SOCKET << 16 | 1 : (int64_t)NET_IB << 16 | 1,
                           device < 0 ? (void *)&socket : (void *)&ib}};
    player_stop(p, player_start(p, EVENT_NET, &e));
}

void player_flush(player *p, void *step, int device, int qp)
{
    abi_net_ib ib = {.type = 1, .device = device, .opcode = NET_IB_READ, .qp = qp, .length = 1};
    abi_event e = {.parent = step, .net = {(int64_t)NET_IB << 16 | 1, &ib}};
    player_stop(p, player_start(p, EVENT_NET, &e));
}
