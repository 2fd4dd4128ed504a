// What the parts of the reader share: what a chunk of a file holds before everything is put together.
#ifndef NETPROF_NCCL_PRIVATE_H
#define NETPROF_NCCL_PRIVATE_H

#include "nccl_line.h"
#include "nccl_logs.h"

#include <string.h>

// ---- memory ----

// Room for one more element: doubles. False without memory.
#define NCCL_ROOM(array, count, room)                                                                                  \
    ((count) < (room) || nccl_grow((void **)(void *)&(array), &(room), (count) + 1, sizeof *(array)))
bool nccl_grow(void **array, size_t *room, size_t wanted, size_t element);

typedef struct nccl_block nccl_block;
typedef struct nccl_arena { // start from {0}
    nccl_block *blocks;
} nccl_arena;
void *nccl_arena_take(nccl_arena *a, size_t size); // NULL without memory
char *nccl_arena_text(nccl_arena *a, const char *text, size_t length);
void nccl_arena_free(nccl_arena *a);

// From keys to indexes; the keys are elsewhere. Start from {0}.
typedef struct nccl_index {
    struct nccl_index_slot {
        uint32_t hash, value; // value 0: free, else 1 + index
    } * slots;
    size_t count, mask;
} nccl_index;
// The index whose key is the same; or, when there is none, `next`, which then is kept. NCCL_NONE without memory.
uint32_t nccl_index_put(nccl_index *x, uint64_t hash, bool (*same)(const void *user, uint32_t index), const void *user,
                        uint32_t next);
void nccl_index_free(nccl_index *x);

static inline uint64_t nccl_mix(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
    return x ^ x >> 29;
}

static inline uint64_t nccl_hash_bytes(const char *text, size_t length)
{
    uint64_t h = length, word;
    for (; length >= 8; text += 8, length -= 8) {
        memcpy(&word, text, 8);
        h = nccl_mix(h, word);
    }
    word = 0;
    memcpy(&word, text, length);
    return nccl_mix(h, word);
}

// ---- threads ----

typedef struct nccl_pool_options {
    size_t threads;
    void (*poll)(void *user); // called now and then in the caller's thread; may be NULL
    void *user;
} nccl_pool_options;
// Calls work(user, i) for each i below count, in several threads, in about that order.
void nccl_parallel(const nccl_pool_options *options, size_t count, void (*work)(void *user, size_t i), void *user);
size_t nccl_processors(void); // that this process may use

// ---- a chunk: a file, or the lines that begin in a part of it ----

typedef struct nccl_local_member {
    const char *id, *name, *host;
    int64_t rank, ranks, nodes, pid;
    nccl_dump_stats stats;
    uint64_t first_dump_us, last_dump_us;
    uint64_t steps_back; // records whose sequence number was not above those before
    uint32_t global;     // set when the chunks are put together
} nccl_local_member;

typedef struct nccl_local_slot {
    uint32_t member, what, track;
    uint32_t owner;  // set when the chunks are put together: the member there, ...
    uint32_t global; // ... and the slot; NCCL_NONE: left out
    uint64_t size, count;
} nccl_local_slot;

// The highest sequence number of a member and what.
typedef struct nccl_track {
    uint32_t member, what;
    bool any;
    uint64_t sn, dump_us;
} nccl_track;

typedef struct nccl_p2p_record {
    uint32_t member, what;
    int64_t peer;
    uint64_t sn, size, time_us;
    double bus_gbs;
} nccl_p2p_record;

// From the last dump_stats: whose the bare lines are, and how many may come.
typedef struct nccl_bare_context {
    uint32_t member; // NCCL_NONE: none
    uint64_t dump_us, coll_left, p2p_left;
} nccl_bare_context;

#define NCCL_INHERITED 0 // the member that stands for the context at the end of the chunk before

typedef struct nccl_chunk {
    uint32_t file;
    uint64_t begin, end; // lines that begin in these bytes of a plain file; end UINT64_MAX: to the end
    bool failed;         // no memory
    nccl_packing packing;
    const char *problem;
    int error;
    bool tail_cut;
    uint64_t bytes, lines, outcomes[NCCL_OUTCOMES], invalid_sizes, first_bad_line, taken;
    uint64_t versions;
    bool foreign_version;
    nccl_arena arena;
    nccl_local_member *members; // [0]: NCCL_INHERITED
    size_t member_count, member_room;
    nccl_index member_index;
    nccl_what *whats;
    size_t what_count, what_room;
    nccl_index what_index;
    nccl_local_slot *slots;
    size_t slot_count, slot_room;
    nccl_index slot_index;
    nccl_track *tracks;
    size_t track_count, track_room;
    nccl_index track_index;
    nccl_record *records; // slot is local, trace is local
    size_t record_count, record_room;
    nccl_trace *traces;
    size_t trace_count, trace_room;
    nccl_p2p_record *p2p;
    size_t p2p_count, p2p_room;
    nccl_proxy *proxies;
    size_t proxy_count, proxy_room;
    nccl_index proxy_index;
    nccl_bare_context context;
    bool context_told; // a dump_stats was seen: context is this chunk's own
    uint64_t inherited_coll, inherited_p2p, inherited_proxy;
} nccl_chunk;

// Reads the chunk's lines. `done` grows by the bytes that were read from disk.
void nccl_chunk_read(nccl_chunk *c, const char *path, size_t max_line, uint64_t *done);
// One line; text[length] must be '\n' and NCCL_LINE_PAD bytes behind it readable.
void nccl_chunk_feed(nccl_chunk *c, const char *text, size_t length);
void nccl_chunk_free(nccl_chunk *c);

// ---- the parts, in order ----

typedef struct nccl_slot {
    uint32_t member, series, file;
    uint32_t what;
} nccl_slot;

// What lives as long as the nccl.
typedef struct nccl_memory {
    nccl_arena arena;
    nccl_slot *slots;
    size_t slot_count, slot_room;
    nccl_what *whats;
    size_t what_count, what_room;
    size_t threads;
} nccl_memory;

// From chunks, in the order of files and places, to members, communicators, series and records. False without memory.
bool nccl_merge(nccl *n, nccl_chunk *chunks, size_t count);
// From records to instances and everything that is computed of them. False without memory.
bool nccl_group(nccl *n);
// Point to point and proxies. False without memory.
bool nccl_merge_p2p(nccl *n, nccl_chunk *chunks, size_t count);
// Adds the samples of a .prom file. False without memory.
bool nccl_metrics_read(nccl *n, uint32_t file);
bool nccl_set_peaks(nccl *n, const nccl_peak *peaks, size_t count);

// Sorts the values.
nccl_spread nccl_spread_of(double *values, size_t count);
// Of sorted values.
double nccl_quantile(const double *sorted, size_t count, double q);
// Reorders the values.
double nccl_median_of(double *values, size_t count);

#endif
