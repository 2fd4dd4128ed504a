// What the parts of the merge share.
#ifndef NETPROF_NCCL_MERGE_PARTS_H
#define NETPROF_NCCL_MERGE_PARTS_H

#include "nccl_parts.h"

// A member while it is put together. Those that began anew under the same id are several, with generations 0, 1, ...
typedef struct nccl_joined {
    const char *id, *name, *host;
    int64_t rank, ranks, nodes, pid;
    uint32_t generation;
    nccl_dump_stats stats;   // of the file that told most: copies of a log tell the same
    nccl_dump_stats current; // of the file that is looked at
    uint32_t file;
    uint64_t first_dump_us, last_dump_us, steps_back;
    uint32_t run;    // 0, 1, ... within the id
    uint32_t group;  // of equal id, ranks and nodes
    uint32_t final;  // index in n->members
    uint32_t newest; // the generation that records go to now: index
    uint64_t coll_records, p2p_records;
} nccl_joined;

typedef struct nccl_merging {
    nccl *n;
    nccl_store *memory;
    nccl_chunk *chunks;
    size_t chunk_count;
    nccl_joined *members;
    size_t member_count, member_room;
    nccl_index member_index, text_index, what_index, series_index;
    const char **texts;
    size_t text_count, text_room;
    struct run_key {
        uint32_t group, run;
    } * runs;
} nccl_merging;

static inline int nccl_compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static inline int nccl_compare_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

// Equal texts have equal pointers. NULL without memory.
const char *nccl_merge_text(nccl_merging *m, const char *text);
// The index of the member with this key, added when there is none. NCCL_NONE without memory.
uint32_t nccl_merge_member(nccl_merging *m, const nccl_joined *key);

// The steps, in this order. All return false without memory.
bool nccl_merge_members(nccl_merging *m);
bool nccl_merge_restarts(nccl_merging *m);
bool nccl_merge_communicators(nccl_merging *m);
bool nccl_merge_series(nccl_merging *m);
bool nccl_merge_records(nccl_merging *m);

#endif
