// What NCCL and RCCL call in a profiler plugin, in this project's own words: interfaces v4 (NCCL 2.27), v5 (2.28), v6
// (2.29) and v7 (2.31). Fields that an interface lacks lie behind the end of its descriptor: read them only where
// `version` says that they are there. RCCL's v6 appends fields of its own, so that no descriptor is ever copied whole.
#ifndef NETPROF_PLUGIN_ABI_H
#define NETPROF_PLUGIN_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { // types of events, bits of the mask
    EVENT_GROUP = 1 << 0,
    EVENT_COLL = 1 << 1,
    EVENT_P2P = 1 << 2,
    EVENT_PROXY_OP = 1 << 3,
    EVENT_PROXY_STEP = 1 << 4,
    EVENT_PROXY_CONTROL = 1 << 5,
    EVENT_KERNEL = 1 << 6,
    EVENT_NET = 1 << 7,
    EVENT_GROUP_API = 1 << 8,
    EVENT_COLL_API = 1 << 9,
    EVENT_P2P_API = 1 << 10,
    EVENT_LAUNCH = 1 << 11,
    EVENT_CE_COLL = 1 << 12,
    EVENT_CE_SYNC = 1 << 13,
    EVENT_CE_BATCH = 1 << 14,
    EVENT_KERNEL_PHASE = 1 << 15
};

enum { // states of events
    STATE_SEND_GPU = 8,
    STATE_SEND_WIRE = 9,
    STATE_RECEIVE = 10,
    STATE_FLUSH = 11,
    STATE_RECEIVE_GPU = 12,
    STATE_OP_IN_PROGRESS = 19,
    STATE_SEND_CREDIT = 20,
    STATE_KERNEL_STOP = 22
};

enum { NET_IB = 1, NET_SOCKET = 2 }; // the upper half of netPlugin.id
enum { NET_VERSION = 1 };            // the lower half: of the structures below

typedef struct abi_coll {
    uint64_t sn;
    const char *func;
    const void *from;
    void *to;
    size_t count;
    int root;
    const char *datatype;
    uint8_t channels, warps;
    const char *algo, *proto;
    void *group;         // v5
    const char *variant; // v7
    bool symmetric;      // v7
    uint64_t tag;        // v7
} abi_coll;

typedef struct abi_p2p {
    const char *func;
    void *buffer;
    const char *datatype;
    size_t count;
    int peer;
    uint8_t channels; // v5: the shim of v4 leaves it as it was
    void *group;      // v5
    uint64_t tag;     // v7
} abi_p2p;

typedef struct abi_op {
    int pid; // the process whose call it is: with PXN another one
    uint8_t channel;
    int peer, steps, chunk, sends;
} abi_op;

typedef struct abi_kernel {
    uint8_t channel;
    uint64_t timer_ns; // the GPU's clock
} abi_kernel;

typedef struct abi_net {
    int64_t id; // version, and in the upper half NET_IB or NET_SOCKET
    void *data;
} abi_net;

enum { NET_IB_READ = 4 };   // IBV_WR_RDMA_READ: a flush to the own GPU
typedef struct abi_net_ib { // data of NET_IB
    uint8_t type;
    struct {
        int device;
        uint64_t request;
        int opcode, qp;
        size_t length;
    };
} abi_net_ib;

typedef struct abi_net_socket { // data of NET_SOCKET
    uint8_t type;
    struct {
        int fd, op;
        size_t length;
    };
} abi_net_socket;

typedef struct abi_event {
    union {
        uint8_t small; // v4
        uint64_t wide; // v5
    } type;
    void *parent;
    int rank;
    union {
        abi_coll coll;
        abi_p2p p2p;
        abi_op op;
        abi_kernel kernel;
        abi_net net;
        int step;
    };
} abi_event;

typedef union abi_state { // what a state brings; may be NULL
    size_t bytes;         // of a step
    uint64_t timer_ns;    // STATE_KERNEL_STOP
} abi_state;

typedef void (*abi_log)(int level, unsigned long flags, const char *where, int line, const char *format, ...);

typedef struct abi_plugin_v4 {
    const char *name;
    int (*init)(void **context, int *mask, const char *name, uint64_t id, int nodes, int ranks, int rank, abi_log log);
    int (*start)(void *context, void **handle, abi_event *event);
    int (*stop)(void *handle);
    int (*state)(void *handle, int state, abi_state *value);
    int (*finalize)(void *context);
} abi_plugin_v4;

typedef struct abi_plugin { // v5, v6, v7
    const char *name;
    int (*init)(void **context, uint64_t id, int *mask, const char *name, int nodes, int ranks, int rank, abi_log log);
    int (*start)(void *context, void **handle, abi_event *event);
    int (*stop)(void *handle);
    int (*state)(void *handle, int state, abi_state *value);
    int (*finalize)(void *context);
} abi_plugin;

#define ABI_AT(type, field, offset) _Static_assert(offsetof(type, field) == (offset), #type "." #field)
ABI_AT(abi_event, parent, 8);
ABI_AT(abi_event, rank, 16);
ABI_AT(abi_event, coll.sn, 24);
ABI_AT(abi_event, coll.func, 32);
ABI_AT(abi_event, coll.from, 40);
ABI_AT(abi_event, coll.to, 48);
ABI_AT(abi_event, coll.count, 56);
ABI_AT(abi_event, coll.root, 64);
ABI_AT(abi_event, coll.datatype, 72);
ABI_AT(abi_event, coll.channels, 80);
ABI_AT(abi_event, coll.warps, 81);
ABI_AT(abi_event, coll.algo, 88);
ABI_AT(abi_event, coll.proto, 96);
ABI_AT(abi_event, coll.group, 104);
ABI_AT(abi_event, coll.variant, 112);
ABI_AT(abi_event, coll.symmetric, 120);
ABI_AT(abi_event, coll.tag, 128);
ABI_AT(abi_event, p2p.func, 24);
ABI_AT(abi_event, p2p.buffer, 32);
ABI_AT(abi_event, p2p.datatype, 40);
ABI_AT(abi_event, p2p.count, 48);
ABI_AT(abi_event, p2p.peer, 56);
ABI_AT(abi_event, p2p.channels, 60);
ABI_AT(abi_event, p2p.group, 64);
ABI_AT(abi_event, p2p.tag, 72);
ABI_AT(abi_event, op.pid, 24);
ABI_AT(abi_event, op.channel, 28);
ABI_AT(abi_event, op.peer, 32);
ABI_AT(abi_event, op.steps, 36);
ABI_AT(abi_event, op.chunk, 40);
ABI_AT(abi_event, op.sends, 44);
ABI_AT(abi_event, step, 24);
ABI_AT(abi_event, kernel.channel, 24);
ABI_AT(abi_event, kernel.timer_ns, 32);
ABI_AT(abi_event, net.id, 24);
ABI_AT(abi_event, net.data, 32);
ABI_AT(abi_net_ib, device, 8);
ABI_AT(abi_net_ib, request, 16);
ABI_AT(abi_net_ib, opcode, 24);
ABI_AT(abi_net_ib, qp, 28);
ABI_AT(abi_net_ib, length, 32);
ABI_AT(abi_net_socket, fd, 8);
ABI_AT(abi_net_socket, op, 12);
ABI_AT(abi_net_socket, length, 16);
ABI_AT(abi_plugin, finalize, 40);
ABI_AT(abi_plugin_v4, finalize, 40);
_Static_assert(sizeof(abi_event) == 136, "the descriptor of v7");
_Static_assert(sizeof(abi_state) == 8 && sizeof(abi_plugin) == 48 && sizeof(abi_plugin_v4) == 48, "sizes");

#endif
