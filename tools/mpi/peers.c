#include "peers.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef enum peers_kind {
    PEERS_NOTHING = 0,
    PEERS_SENDS,
    PEERS_POSTS,
    PEERS_RECEIVES,
    PEERS_GETS,
    PEERS_TAKEN // waits until what was sent before is taken
} peers_kind;

static __thread struct {
    peers_kind kind, waits; // waits: PEERS_RECEIVES or PEERS_TAKEN, beside the kind
    int64_t peer, bytes, awaited;
} call __attribute__((tls_model("initial-exec")));

// Slots are probed one after the other; capacity is a power of two, of which at most half are used.
static struct {
    atomic_flag lock;
    peers_row *rows;
    bool *used;
    size_t capacity, count;
    peers_row outside;
} all = {.lock = ATOMIC_FLAG_INIT};

static void peers_lock(void)
{
    while (atomic_flag_test_and_set_explicit(&all.lock, memory_order_acquire))
        sched_yield();
}

static void peers_unlock(void)
{
    atomic_flag_clear_explicit(&all.lock, memory_order_release);
}

static size_t peers_slot(const peers_row *rows, const bool *used, size_t capacity, int64_t peer)
{
    size_t at = (size_t)peer & (capacity - 1); // neighbours are the usual peers: no hash spreads them better
    while (used[at] && rows[at].peer != peer)
        at = (at + 1) & (capacity - 1);
    return at;
}

static bool peers_grow(void)
{
    size_t capacity = all.capacity ? 2 * all.capacity : 16;
    peers_row *rows = malloc(capacity * sizeof *rows);
    bool *used = calloc(capacity, sizeof *used);
    if (!rows || !used) {
        free(rows);
        free(used);
        return false;
    }
    for (size_t i = 0; i < all.capacity; i++) {
        if (!all.used[i]) continue;
        size_t at = peers_slot(rows, used, capacity, all.rows[i].peer);
        rows[at] = all.rows[i];
        used[at] = true;
    }
    free(all.rows);
    free(all.used);
    all.rows = rows;
    all.used = used;
    all.capacity = capacity;
    return true;
}

// With the lock held.
static peers_row *peers_row_of(int64_t peer)
{
    if (peer < 0) return &all.outside;
    size_t at = all.capacity ? peers_slot(all.rows, all.used, all.capacity, peer) : 0;
    if (all.capacity && all.used[at]) return &all.rows[at];
    if (all.count >= PEERS_MOST || (2 * all.count >= all.capacity && !peers_grow())) return &all.outside;
    at = peers_slot(all.rows, all.used, all.capacity, peer);
    all.rows[at] = (peers_row){.peer = peer};
    all.used[at] = true;
    all.count++;
    return &all.rows[at];
}

static void peers_add(peers_kind kind, int64_t peer, int64_t bytes, int64_t ns)
{
    peers_lock();
    peers_row *row = peers_row_of(peer);
    switch (kind) {
    case PEERS_SENDS:
        row->timed_sends += ns > 0;
        row->send_ns += ns; // fall through: sent all the same
        __attribute__((fallthrough));
    case PEERS_POSTS:
        row->sent_bytes += bytes;
        row->sends++;
        break;
    case PEERS_RECEIVES:
        row->timed_receives += ns > 0;
        row->receive_ns += ns;
        break;
    case PEERS_GETS:
        row->got_bytes += bytes;
        row->gets++;
        break;
    case PEERS_TAKEN:
        row->timed_sends += ns > 0;
        row->send_ns += ns;
        break;
    case PEERS_NOTHING: break;
    }
    peers_unlock();
}

static int64_t peers_does(peers_kind kind, int64_t peer, int64_t bytes)
{
    call.kind = kind;
    call.peer = peer;
    call.bytes = bytes;
    return bytes;
}

int64_t peers_sends(int64_t world_rank, int64_t bytes)
{
    return peers_does(PEERS_SENDS, world_rank, bytes);
}

int64_t peers_posts(int64_t world_rank, int64_t bytes)
{
    return peers_does(PEERS_POSTS, world_rank, bytes);
}

int64_t peers_receives(int64_t world_rank, int64_t bytes)
{
    return peers_does(PEERS_RECEIVES, world_rank, bytes);
}

int64_t peers_gets(int64_t world_rank, int64_t bytes)
{
    return peers_does(PEERS_GETS, world_rank, bytes);
}

int64_t peers_awaits(int64_t world_rank, bool for_its_message)
{
    call.waits = for_its_message ? PEERS_RECEIVES : PEERS_TAKEN;
    call.awaited = world_rank;
    return 0;
}

int64_t peers_exchanges(int64_t to, int64_t bytes, int64_t from)
{
    bool sends = to != PEERS_NOBODY, receives = from != PEERS_NOBODY;
    if (sends) peers_posts(to, bytes);
    if (receives && (!sends || (to == from && to >= 0) || bytes <= PEERS_LEAVES_AT_ONCE)) peers_awaits(from, true);
    return sends ? bytes : 0;
}

void peers_call_ended(uint64_t ns)
{
    if (call.kind) peers_add(call.kind, call.peer, call.bytes, (int64_t)ns);
    if (call.waits) peers_add(call.waits, call.awaited, 0, (int64_t)ns);
    call.kind = call.waits = PEERS_NOTHING;
}

void peers_add_posted(int64_t world_rank, int64_t bytes)
{
    peers_add(PEERS_POSTS, world_rank, bytes, 0);
}

static int peers_by_number(const void *a, const void *b)
{
    const peers_row *x = a, *y = b;
    return (x->peer > y->peer) - (x->peer < y->peer);
}

peers_row *peers_rows(size_t *count)
{
    size_t n = 0;
    peers_lock();
    peers_row *copy = malloc((all.count + 1) * sizeof *copy);
    if (copy && (all.outside.sends || all.outside.gets || all.outside.timed_receives || all.outside.timed_sends)) {
        copy[n] = all.outside;
        copy[n++].peer = PEERS_OUTSIDE;
    }
    for (size_t i = 0; copy && i < all.capacity; i++)
        if (all.used[i]) copy[n++] = all.rows[i];
    peers_unlock();
    if (n) qsort(copy, n, sizeof *copy, peers_by_number);
    *count = n;
    return copy;
}
