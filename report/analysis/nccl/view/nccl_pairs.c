#include "nccl_pairs.h"
#include "analysis/nccl/findings/nccl_peers.h"

#include "analysis/base/memory.h"
#include "analysis/base/saturating_sum.h"
#include "nccl_beside.h"

#include <stdlib.h>

// A process is a place: it may be a rank of several communicators.
static void nccl_pairs_places(pairs *p, const nccl *n)
{
    for (size_t i = 0; i < n->process_count; i++) {
        const char *host = n->hosts[n->processes[i].host].name;
        char *label = memory_format("pid %lld", (long long)n->processes[i].pid);
        pairs_add_place(p, label, pairs_add_node(p, host));
        free(label);
    }
}

void nccl_pairs(pairs *p, const nccl *n)
{
    nccl_peers peers;
    *p = (pairs){.layer = "NCCL", .mark = {PAIRS_NONE, PAIRS_NONE}, .unknown = true};
    nccl_pairs_places(p, n);
    nccl_peers_make(&peers, n);
    for (size_t i = 0; i < peers.count; i++) {
        const nccl_peer *x = &peers.items[i];
        if (x->sender == NCCL_NONE) continue; // what came from there is no bytes that a process here sent
        p->at_least |= !nccl_peer_tells_bytes(x) || x->at_least;
        p->unknown &= !nccl_peer_tells_bytes(x);
        if (!nccl_peer_tells_bytes(x)) continue;
        if (x->receiver == NCCL_NONE) {
            p->outside_bytes = sum_capped(p->outside_bytes, x->bytes);
            continue;
        }
        pairs_add(p, &(pairs_cell){.sender = n->members[x->sender].process,
                                   .receiver = n->members[x->receiver].process,
                                   .bytes = x->bytes,
                                   .messages = x->sent});
    }
    for (size_t i = 0; i < n->member_count; i++)
        p->at_least |= n->members[i].stats.parts_dropped > 0;
    nccl_peers_free(&peers);
    pairs_finish(p);
}

bool nccl_pairs_read(pairs *p, const char *const *paths, size_t count)
{
    nccl n = {0};
    bool read = nccl_beside_read(&n, paths, count);
    *p = (pairs){0};
    if (read) nccl_pairs(p, &n);
    nccl_free(&n);
    return read;
}
