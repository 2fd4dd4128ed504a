// Plays scripts to a profiler plugin, as NCCL would. Time, host and process are the script's. Thread rule: any thread, a
// rank in one at a time.
#ifndef NETPROF_PLAYER_H
#define NETPROF_PLAYER_H

#include "plugin_abi.h"

#include <stdatomic.h>

extern _Atomic int64_t player_ns; // since 1970; below 0: the kernel's clock
extern _Atomic int player_pid;
extern char player_host[64];

// One communicator's rank.
typedef struct player {
    int version;       // of the interface
    const void *table; // abi_plugin, of v4 abi_plugin_v4
    void *context;
    int mask;
    uint64_t sn;
    const char *wrong; // a callback that did not return 0
} player;

// The kernel's list of queue pairs, for adapters with the numbers 3, 4, ...; ended by one without an adapter.
typedef struct player_queue_pair {
    const char *adapter;
    uint32_t number, pid;
} player_queue_pair;
extern const player_queue_pair *player_queue_pairs; // NULL: the kernel has no such list
extern int player_listings;                         // how often it was asked for adapters

// The tables that are linked into the test, by version.
const void *player_table(int version);
void player_init(player *p, int version, const void *table, uint64_t id, const char *name, int nodes, int ranks,
                 int rank);
void player_finalize(player *p);
// A type is written as the interface has it. Returns the handle.
void *player_start(player *p, uint64_t type, abi_event *event);
void player_stop(player *p, void *handle);
void player_state(player *p, void *handle, int state, uint64_t value);
void player_events_state(player *p, void *handle, int state, abi_state *value); // which may be NULL

// A collective of floats; and its parts. Strings are those of NCCL.
void *player_coll(player *p, const char *func, uint64_t sn, size_t count);
void *player_p2p(player *p, const char *func, int peer, size_t count);
void *player_op(player *p, void *call, int peer, bool sends, int channel);
// A step that waits so long, in ns of the script, for its GPU, the peer's credit (or, receiving, the flush) and the wire.
void player_step(player *p, void *op, bool sends, size_t bytes, int64_t gpu_ns, int64_t other_ns, int64_t wire_ns);
void player_kernel(player *p, void *call, int channel, uint64_t from_ns, uint64_t to_ns);
void player_request(player *p, void *step, int device, int qp, size_t bytes); // device -1: a socket
void player_flush(player *p, void *step, int device, int qp);

#endif
