#include "nccl_pairs.h"
#include "nccl_peers.h"

#include "analysis/base/directory.h"
#include "analysis/base/memory.h"
#include "analysis/base/saturating_sum.h"
#include "analysis/nccl/logs/nccl_logs.h"
#include "analysis/nccl/logs/nccl_recorded.h"

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
        p->unknown &= !nccl_peer_tells_bytes(x);
        if (x->sender == NCCL_NONE) continue; // what came from there is no bytes that a process here sent
        if (x->receiver == NCCL_NONE) {
            p->outside_bytes = sum_capped(p->outside_bytes, x->bytes);
            continue;
        }
        pairs_add(p, &(pairs_cell){.sender = n->members[x->sender].process,
                                   .receiver = n->members[x->receiver].process,
                                   .bytes = x->bytes,
                                   .messages = x->sent});
    }
    nccl_peers_free(&peers);
    pairs_finish(p);
}

static void nccl_pairs_add_file(listing *files, const char *path)
{
    if (nccl_recorded_is_name(path)) listing_add(files, path);
}

static void nccl_pairs_files(listing *files, const char *const *paths, size_t count)
{
    static const char *const endings[] = {".netprof", NULL};
    for (size_t i = 0; i < count; i++) {
        listing there = {0};
        if (!listing_is_directory(paths[i]))
            nccl_pairs_add_file(files, paths[i]);
        else if (!listing_add_directory(&there, paths[i], endings))
            listing_sort(&there);
        for (size_t k = 0; k < there.count; k++)
            nccl_pairs_add_file(files, there.paths[k]);
        listing_free(&there);
    }
}

bool nccl_pairs_read(pairs *p, const char *const *paths, size_t count)
{
    listing files = {0};
    bool read = false;
    *p = (pairs){0};
    nccl_pairs_files(&files, paths, count);
    if (files.count) {
        nccl n = {0};
        read = !nccl_read(&n, (const char *const *)files.paths, files.count, NULL, NULL);
        if (read) nccl_pairs(p, &n);
        nccl_free(&n);
    }
    listing_free(&files);
    return read;
}
