// From chunks to one model: who the members are, which of them are one communicator, where every record belongs.
#include "nccl_merge_parts.h"

#include <stdlib.h>

// Turns the members of chunks into indexes of n->members, for point to point and proxies.
static void nccl_merge_resolve_members(nccl_merging *m)
{
    for (size_t i = 0; i < m->chunk_count; i++)
        for (size_t k = 0; k < arrlenu(m->chunks[i].members); k++) {
            nccl_local_member *local = &m->chunks[i].members[k];
            if (local->global != NCCL_NONE) local->global = m->members[local->global].final;
        }
}

void nccl_merge(nccl *n, nccl_chunk *chunks, size_t count)
{
    nccl_merging m = {.n = n, .memory = n->memory, .chunks = chunks, .chunk_count = count};
    nccl_merge_members(&m);
    nccl_merge_restarts(&m);
    nccl_merge_communicators(&m);
    nccl_merge_series(&m);
    nccl_merge_records(&m);
    nccl_merge_resolve_members(&m);
    arrfree(m.members);
    hmfree(m.texts);
    hmfree(m.member_of);
    hmfree(m.what_of);
    hmfree(m.series_of);
}
