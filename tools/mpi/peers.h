// How much this process sent to each other one, and how long calls waited for it: a sparse row of the matrix
// of senders and receivers. Only what names a peer is here: point to point and one-sided calls. How a collective moves its
// bytes is the MPI library's affair.
#pragma once

#include "abi.h"

// Sums. A peer is a rank of MPI_COMM_WORLD, or PEERS_OUTSIDE: all those that are not in it, or beyond PEERS_MOST.
enum { PEERS_OUTSIDE = -1, PEERS_NOBODY = -2, PEERS_MOST = 1 << 16 };
typedef struct peers_row {
    int64_t peer;
    int64_t sent_bytes, sends; // by whatever call
    // Until it had taken what was sent there: blocking sends, and waits that lasted for such a one.
    int64_t send_ns, timed_sends;
    // Until a message came from it: blocking receives, probes, and waits that lasted for such a one.
    int64_t receive_ns, timed_receives;
    int64_t got_bytes, gets; // that this process took from there (one-sided)
} peers_row;

// What the call of this thread that is open does: said once it is done, added by peers_call_ended(). They return `bytes`.
int64_t peers_sends(int64_t world_rank, int64_t bytes); // blocking
int64_t peers_posts(int64_t world_rank, int64_t bytes); // ends before the data need to have left
int64_t peers_receives(int64_t world_rank, int64_t bytes);
int64_t peers_gets(int64_t world_rank, int64_t bytes);
// It waits for that one, beside whatever else it does: for its message, else until it takes one. Returns 0.
int64_t peers_awaits(int64_t world_rank, bool for_its_message);
// A message of so few bytes is sent without asking its receiver by every MPI library that we know of (own; their limits are
// from 4 KiB for shared memory upwards).
enum { PEERS_LEAVES_AT_ONCE = 1024 };
// It sends to one and receives from another, either of them may be PEERS_NOBODY. For whom it waits is known where they are the
// same, or where what it sends is so little that it leaves at once; else exchange.h may have told. Returns the bytes that are
// sent.
int64_t peers_exchanges(int64_t to, int64_t bytes, int64_t from);

// ns: how long the call took; 0: not known.
void peers_call_ended(uint64_t ns);
// Several at once: added now.
void peers_add_posted(int64_t world_rank, int64_t bytes);

// The rows by peer, and how many; free() them. NULL: none, or out of memory.
peers_row *peers_rows(size_t *count);
