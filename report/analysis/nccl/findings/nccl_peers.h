// Who sent to whom, and what that waited for: from the records of NCCL's proxy threads, a matrix of senders (rows) and
// receivers (columns) for each communicator. Thread rule: one thread at a time.
#ifndef NETPROF_NCCL_PEERS_H
#define NETPROF_NCCL_PEERS_H

#include "analysis/nccl/logs/nccl_model.h"

// What a step's time went to. The first three are the sender's, the last is the receiver's.
typedef enum nccl_wait {
    NCCL_WAIT_GPU = 0, // the sender's GPU had not produced the data
    NCCL_WAIT_CREDIT,  // the receiver had no room
    NCCL_WAIT_WIRE,    // the network had not delivered them
    NCCL_WAIT_FLUSH,   // they were not yet visible to the receiver's GPU
    NCCL_WAITS
} nccl_wait;
const char *nccl_wait_name(nccl_wait w); // "own GPU", "credit", "wire", "flush"

// A cell of the matrix: all that one member sent to another.
typedef struct nccl_peer {
    uint32_t sender, receiver; // members; NCCL_NONE: its log is missing
    uint32_t communicator;
    uint64_t bytes;                // as the sender saw it, else the receiver
    bool at_least;                 // of some operations or steps that side did not see what they moved
    uint64_t sent, received;       // timed steps of either side
    double wait_us[NCCL_WAITS];    // summed over them
    double receive_us, consume_us; // the receiver: waiting for the data, whoever was late, and for its GPU
    double beside[NCCL_WAITS];     // wait of a step beside the lower quartile of all cells like it; NAN unknown
} nccl_peer;

// Start from {0}; nccl_peers_free() at the end.
typedef struct nccl_peers {
    nccl_peer *items; // by communicator, sender, receiver
    size_t count;
} nccl_peers;

void nccl_peers_make(nccl_peers *p, const nccl *n);
void nccl_peers_free(nccl_peers *p);
// Are the bytes known? With operations alone (NETPROF_NCCL=proxy) they are not.
bool nccl_peer_tells_bytes(const nccl_peer *x);
// Of one step, us; NAN when there are none.
double nccl_peer_wait(const nccl_peer *x, nccl_wait w);
// How much longer a step waited than the lower quartile of all cells like it, over all that it can wait for, us; NAN: no
// step.
double nccl_peer_delay(const nccl_peer *x);

// Where the steps' time of one process went, over all its peers.
typedef struct nccl_split {
    uint64_t sent, received, sent_bytes, received_bytes; // timed steps
    double gpu_us, credit_us, wire_us;                   // sending
    double receive_us, flush_us, consume_us;             // receiving
    bool sent_at_least, received_at_least;               // what was moved is not known of all operations and steps
} nccl_split;

nccl_split *nccl_splits_make(const nccl *n); // by process; free()

#endif
