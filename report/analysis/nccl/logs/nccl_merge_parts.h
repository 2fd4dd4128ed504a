// Types and steps that the parts of the merge share.
#ifndef NETPROF_NCCL_MERGE_PARTS_H
#define NETPROF_NCCL_MERGE_PARTS_H

#include "nccl_parts.h"

#include "analysis/base/map_key.h"
#include "analysis/base/stb_ds.h"

// A member while it is put together. Those that began anew under the same id are several, with generations 0, 1, ...
typedef struct nccl_joined {
    const char *id, *name, *host;
    int64_t rank, ranks, nodes, pid;
    uint32_t generation;
    nccl_dump_stats stats;   // of the file with most dumps: copies of a log repeat them
    nccl_dump_stats current; // of the file that is looked at
    uint32_t file;
    uint64_t first_dump_us, last_dump_us, steps_back;
    uint32_t run;    // 0, 1, ... within the id
    uint32_t group;  // of equal id, ranks and nodes
    uint32_t final;  // index in n->members
    uint32_t newest; // the generation that records go to now: index
    uint64_t coll_records, p2p_records;
} nccl_joined;

// Numbers things in the order in which they come: a map of stb_ds.
typedef struct nccl_numbering {
    map_key key;
    uint32_t value;
} nccl_numbering;

static inline uint32_t nccl_number(nccl_numbering **numbers, const void *key, size_t size)
{
    map_key hashed = map_key_of_bytes(key, size);
    uint32_t next = (uint32_t)hmlenu(*numbers);
    ptrdiff_t at = hmgeti(*numbers, hashed);
    if (at >= 0) return (*numbers)[at].value;
    hmput(*numbers, hashed, next);
    return next;
}

typedef struct nccl_merging {
    nccl *n;
    nccl_store *memory;
    nccl_chunk *chunks;
    size_t chunk_count;
    nccl_joined *members; // array of stb_ds
    struct nccl_shared_text {
        map_key key;
        const char *value;
    } * texts;
    nccl_numbering *member_of, *what_of, *series_of;
} nccl_merging;

// Equal texts have equal pointers.
const char *nccl_merge_text(nccl_merging *m, const char *text);
// The index of the member with this key, added if it is new.
uint32_t nccl_merge_member(nccl_merging *m, const nccl_joined *key);

// The steps, in this order.
void nccl_merge_members(nccl_merging *m);
void nccl_merge_restarts(nccl_merging *m);
void nccl_merge_communicators(nccl_merging *m);
void nccl_merge_series(nccl_merging *m);
void nccl_merge_records(nccl_merging *m);

#endif
