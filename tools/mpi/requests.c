#include "requests.h"

#include "bytes.h"
#include "peers.h"
#include "ranks.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef enum requests_kind { REQUESTS_OTHER = 0, REQUESTS_NOBODY, REQUESTS_SENDS, REQUESTS_RECEIVES } requests_kind;

typedef struct requests_entry {
    uintptr_t request;
    int64_t bytes, peer;    // peer: a rank of MPI_COMM_WORLD; of a receive from any source: not known yet
    uintptr_t comm;         // of a receive from any source
    uint64_t freed;         // likewise: communicators that had been freed when it was made
    unsigned char kind;     // requests_kind
    bool used, from_anyone; // used: the slot is
    bool lasts, ended;      // lasts: it is persistent; ended: it is complete, and its handle may be another one's
    bool in_parts;
} requests_entry;

// Slots are probed one after the other; capacity is a power of two, of which at most half are used. Handles that come when
// REQUESTS_MOST are here are not kept: what they wait for is not told.
enum { REQUESTS_FIRST = 256, REQUESTS_MOST = 1 << 19 };
static struct {
    atomic_flag lock;
    requests_entry *entries;
    size_t capacity, count;
} all = {.lock = ATOMIC_FLAG_INIT};

static void requests_lock(void)
{
    while (atomic_flag_test_and_set_explicit(&all.lock, memory_order_acquire))
        sched_yield();
}

static void requests_unlock(void)
{
    atomic_flag_clear_explicit(&all.lock, memory_order_release);
}

// ---- entries; with the lock held ----

static size_t requests_slot(const requests_entry *entries, size_t capacity, uintptr_t request)
{
    size_t at = (size_t)((request * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (capacity - 1);
    while (entries[at].used && entries[at].request != request)
        at = (at + 1) & (capacity - 1);
    return at;
}

static requests_entry *requests_find(uintptr_t request)
{
    if (!all.capacity) return NULL;
    requests_entry *e = &all.entries[requests_slot(all.entries, all.capacity, request)];
    return e->used ? e : NULL;
}

static bool requests_grow(void)
{
    size_t capacity = all.capacity ? 2 * all.capacity : REQUESTS_FIRST;
    requests_entry *entries = calloc(capacity, sizeof *entries);
    if (!entries) return false;
    for (size_t i = 0; i < all.capacity; i++)
        if (all.entries[i].used) entries[requests_slot(entries, capacity, all.entries[i].request)] = all.entries[i];
    free(all.entries);
    all.entries = entries;
    all.capacity = capacity;
    return true;
}

static void requests_put(const requests_entry *e)
{
    requests_entry *to = requests_find(e->request);
    if (!to) {
        if (all.count >= REQUESTS_MOST || (2 * (all.count + 1) > all.capacity && !requests_grow())) return;
        all.count++;
        to = &all.entries[requests_slot(all.entries, all.capacity, e->request)];
    }
    *to = *e;
    to->used = true;
}

static void requests_note(const void *request, bool fortran, requests_entry e)
{
    e.request = bytes_request_at(request, 0, fortran);
    requests_lock();
    requests_put(&e);
    requests_unlock();
}

// ---- requests that are made ----

int64_t requests_post(const void *request, bool fortran, int64_t peer, int64_t bytes)
{
    requests_note(request, fortran, (requests_entry){.kind = REQUESTS_SENDS, .peer = peer});
    return peers_posts(peer, bytes);
}

// The communicator may be freed before the message comes: of one source its rank is asked for now.
int64_t requests_expect(const void *request, bool fortran, int source, uintptr_t comm, bool lasts)
{
    bool anyone = source == abi_here()->any_source;
    requests_note(request, fortran,
                  (requests_entry){.kind = REQUESTS_RECEIVES,
                                   .peer = anyone ? RANKS_UNKNOWN : ranks_of_comm(source, comm),
                                   .from_anyone = anyone,
                                   .comm = comm,
                                   .freed = anyone ? ranks_comms_freed() : 0,
                                   .lasts = lasts});
    return 0;
}

int64_t requests_nobody(const void *request, bool fortran, bool lasts)
{
    requests_note(request, fortran, (requests_entry){.kind = REQUESTS_NOBODY, .lasts = lasts});
    return 0;
}

int64_t requests_other(const void *request, bool fortran, int64_t bytes)
{
    requests_forget(request, fortran);
    return bytes;
}

void requests_forget(const void *request, bool fortran)
{
    uintptr_t handle = bytes_request_at(request, 0, fortran);
    requests_lock();
    requests_entry *e = requests_find(handle);
    if (e) *e = (requests_entry){.request = handle, .used = true};
    requests_unlock();
}

// ---- requests that are completed ----

// Own. A call for any of more requests is not looked into: to ask of all of them each time would cost more than it tells.
enum { REQUESTS_ANY_MOST = 64 };

static __thread struct {
    uintptr_t handles[REQUESTS_ANY_MOST];
    int count;
} remembered __attribute__((tls_model("initial-exec")));

static bool requests_is_null(uintptr_t request)
{
    static _Atomic uintptr_t null_request;
    return request == bytes_constant(&null_request, &abi_here()->null_request);
}

void requests_remember(const void *requests, int n, bool fortran)
{
    remembered.count = n <= REQUESTS_ANY_MOST ? n : 0;
    for (int i = 0; i < remembered.count; i++)
        remembered.handles[i] = bytes_request_at(requests, i, fortran);
}

// With the lock held. Persistent ones keep their handles.
static void requests_end(uintptr_t handle)
{
    requests_entry *e = requests_is_null(handle) ? NULL : requests_find(handle);
    if (e) e->ended = !e->lasts;
}

int64_t requests_completed(const void *requests, bool fortran)
{
    requests_lock();
    for (int i = 0; i < remembered.count; i++)
        if (requests_is_null(bytes_request_at(requests, i, fortran))) requests_end(remembered.handles[i]);
    requests_unlock();
    remembered.count = 0;
    return 0;
}

static void requests_end_all(const void *requests, int n, bool fortran)
{
    requests_lock();
    for (int i = 0; i < n; i++)
        requests_end(bytes_request_at(requests, i, fortran));
    requests_unlock();
}

// ---- persistent ones ----

static __thread struct {
    requests_kind kind;
    int64_t peer;
    bool in_parts;
} planned __attribute__((tls_model("initial-exec")));

int64_t requests_plan(int64_t peer, int64_t bytes)
{
    planned.kind = REQUESTS_SENDS;
    planned.peer = peer;
    planned.in_parts = false;
    return bytes;
}

int64_t requests_plan_parts(int64_t peer, int64_t bytes)
{
    requests_plan(peer, bytes);
    planned.in_parts = true;
    return bytes;
}

int64_t requests_plan_nobody(void)
{
    planned.kind = REQUESTS_NOBODY;
    return 0;
}

int64_t requests_keep(const void *request, bool fortran, int64_t bytes)
{
    requests_note(request, fortran,
                  (requests_entry){.kind = (unsigned char)planned.kind,
                                   .peer = planned.peer,
                                   .bytes = bytes,
                                   .lasts = true,
                                   .in_parts = planned.in_parts});
    planned.kind = REQUESTS_OTHER;
    planned.in_parts = false;
    return 0;
}

int64_t requests_started(const void *requests, int n, bool fortran)
{
    int64_t sum = 0;
    requests_lock();
    for (int i = 0; i < n; i++) {
        const requests_entry *e = requests_find(bytes_request_at(requests, i, fortran));
        if (!e) continue;
        sum += e->bytes;
        if (e->kind == REQUESTS_SENDS) peers_add_posted(e->peer, e->bytes);
    }
    requests_unlock();
    return sum;
}

// ---- for whom a call waits ----

// Own. After so many questions in vain the processor is offered to others, which may have to do what is waited for.
enum { REQUESTS_YIELD = 64 };

// What the requests of a call are.
typedef struct requests_set {
    requests_entry first; // of those that have a peer
    int count;            // of these, as far as it was looked
    bool several;         // peers or ways; then the count is no more than begun
    bool unknown;         // one is of another kind, or not known
    bool ended;           // one has the handle of a request that is complete
} requests_set;

static bool requests_are_alike(const requests_entry *a, const requests_entry *b)
{
    return a->kind == b->kind && a->peer == b->peer && !a->from_anyone && !b->from_anyone;
}

static void requests_look_at_one(requests_set *s, requests_entry *e, bool any)
{
    bool known = e && !e->ended && !e->in_parts, nobody = known && e->kind == REQUESTS_NOBODY;
    s->ended |= e && e->ended;
    if ((nobody || (e && e->ended)) && !any) return;
    s->unknown |= !known || nobody || e->kind == REQUESTS_OTHER; // a call for any does not wait where one is nobody's
    if (s->unknown) return;
    if (!s->count++)
        s->first = *e;
    else
        s->several |= !requests_are_alike(&s->first, e) || (any && s->count > REQUESTS_ANY_MOST);
}

// For any it ends where nothing more can be learnt.
static requests_set requests_look_at(const void *requests, int n, bool fortran, bool any)
{
    requests_set s = {.count = 0};
    requests_lock();
    for (int i = 0; i < n && !(any && (s.unknown || s.several)); i++) {
        uintptr_t handle = bytes_request_at(requests, i, fortran);
        if (!requests_is_null(handle)) requests_look_at_one(&s, requests_find(handle), any);
    }
    requests_unlock();
    return s;
}

// How one of them stands; asking also lets MPI get on with its work.
typedef enum requests_state { REQUESTS_PENDING, REQUESTS_THERE, REQUESTS_FAILED } requests_state;

static requests_state requests_ask(uintptr_t request, bytes_status *status)
{
    int there = 0;
    if (bytes_request_status(request, &there, status)) return REQUESTS_FAILED;
    return there ? REQUESTS_THERE : REQUESTS_PENDING;
}

// The first that has not come yet; n: none.
static int requests_first_pending(const void *requests, int n, bool fortran)
{
    bytes_status status;
    for (int i = 0; i < n; i++) {
        uintptr_t handle = bytes_request_at(requests, i, fortran);
        if (!requests_is_null(handle) && requests_ask(handle, &status) == REQUESTS_PENDING) return i;
    }
    return n;
}

static bool requests_all_pending(const void *requests, int n, bool fortran)
{
    bytes_status status;
    for (int i = 0; i < n; i++) {
        uintptr_t handle = bytes_request_at(requests, i, fortran);
        if (!requests_is_null(handle) && requests_ask(handle, &status) != REQUESTS_PENDING) return false;
    }
    return true;
}

// Waits for each in turn. When the last one that was waited for came, all others were there, or came within the time of one
// question after it: it is the one that the whole wait lasted for.
bool requests_find_last(const void *requests, int n, bool fortran, uintptr_t *last, bytes_status *status)
{
    bool found = false;
    for (int i = 0; i < n; i++) {
        uintptr_t handle = bytes_request_at(requests, i, fortran);
        if (requests_is_null(handle)) continue;
        bytes_status own;
        requests_state state = requests_ask(handle, &own);
        bool waited = state == REQUESTS_PENDING;
        for (unsigned asked = 1; state == REQUESTS_PENDING; asked++) {
            if (asked % REQUESTS_YIELD == 0) sched_yield();
            state = requests_ask(handle, &own);
        }
        if (state == REQUESTS_FAILED) return false;
        if (!waited) continue;
        *last = handle;
        *status = own;
        found = true;
    }
    return found;
}

// What an MPI completes at once has one handle for all such requests: then it is there, whatever became of the others.
static bool requests_ended_are_there(const void *requests, int n, bool fortran)
{
    bytes_status status;
    for (int i = 0; i < n; i++) {
        uintptr_t handle = bytes_request_at(requests, i, fortran);
        if (requests_is_null(handle)) continue;
        requests_lock();
        const requests_entry *e = requests_find(handle);
        bool ended = e && e->ended;
        requests_unlock();
        if (ended && requests_ask(handle, &status) != REQUESTS_THERE) return false;
    }
    return true;
}

static void requests_tell(const requests_entry *e, const bytes_status *status)
{
    int64_t peer = e->peer;
    if (e->from_anyone) {
        static _Atomic uintptr_t world;
        bool is_world = bytes_handle_value(e->comm) == bytes_constant(&world, &abi_here()->world);
        if (!is_world && e->freed != ranks_comms_freed()) return; // its handle may be another one's now
        peer = ranks_of_comm(ranks_source(status, false), e->comm);
    }
    peers_awaits(peer, e->kind == REQUESTS_RECEIVES);
}

static void requests_tell_last(const void *requests, int n, bool fortran)
{
    uintptr_t last = 0;
    bytes_status status;
    if (!requests_find_last(requests, n, fortran, &last, &status)) return;
    requests_lock();
    const requests_entry *e = requests_find(last);
    requests_entry of = e ? *e : (requests_entry){.kind = REQUESTS_OTHER};
    requests_unlock();
    if (of.kind == REQUESTS_SENDS || of.kind == REQUESTS_RECEIVES) requests_tell(&of, &status);
}

bool requests_may_ask(void)
{
    static atomic_int may; // 0 not looked yet, 1 no, 2 yes
    int known = atomic_load_explicit(&may, memory_order_relaxed);
    if (!known) {
        const char *said = getenv("NETPROF_MPI_WAITS");
        known = said && strcmp(said, "0") == 0 ? 1 : 2;
        atomic_store_explicit(&may, known, memory_order_relaxed);
    }
    return known == 2;
}

static void requests_tell_all(const void *requests, int n, bool fortran)
{
    requests_set s = requests_look_at(requests, n, fortran, false);
    if (s.unknown || !s.count) return;
    if (s.ended && !requests_ended_are_there(requests, n, fortran)) return;
    if (s.several || s.first.from_anyone)
        requests_tell_last(requests, n, fortran);
    else if (requests_first_pending(requests, n, fortran) < n)
        requests_tell(&s.first, NULL);
}

void requests_wait_all(const void *requests, int n, bool fortran)
{
    if (n < 1 || !requests_may_ask()) return;
    requests_tell_all(requests, n, fortran);
    requests_end_all(requests, n, fortran);
}

void requests_wait_any(const void *requests, int n, bool fortran)
{
    requests_remember(requests, n, fortran);
    if (n < 1 || !requests_may_ask()) return;
    requests_set s = requests_look_at(requests, n, fortran, true);
    if (s.unknown || s.several || !s.count) return;
    if (s.first.from_anyone) // it is alone
        requests_tell_last(requests, n, fortran);
    else if (requests_all_pending(requests, n, fortran))
        requests_tell(&s.first, NULL);
}
