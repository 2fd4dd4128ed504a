#include "nccl_model.h"

#include <string.h>

#include <stdio.h>

const char *nccl_outcome_name(nccl_outcome outcome)
{
    static const char *const names[NCCL_OUTCOMES] = {"blank",      "bad_json",   "not_object", "too_long",
                                                     "no_context", "bad_value",  "other",      "coll",
                                                     "p2p",        "dump_stats", "proxy"};
    return names[outcome];
}

static const struct {
    const char *name, *meaning;
} classes[NCCL_CLASSES] = {{"single-rank", "one rank"},
                           {"nvlink-only", "one node"},
                           {"hca-only", "one rank on each node"},
                           {"mixed", "several ranks on each node"}};

nccl_class nccl_class_of(int64_t ranks, int64_t nodes)
{
    if (ranks == 1) return NCCL_SINGLE_RANK;
    if (nodes == 1) return NCCL_NVLINK_ONLY;
    return ranks == nodes ? NCCL_HCA_ONLY : NCCL_MIXED;
}

const char *nccl_class_name(nccl_class c)
{
    return classes[c].name;
}

const char *nccl_class_meaning(nccl_class c)
{
    return classes[c].meaning;
}

const char *nccl_size_text(uint64_t bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
    uint64_t scale = 1;
    size_t unit = 0;
    for (; bytes / scale >= 1000; unit++)
        scale *= 1000;
    if (!bytes)
        snprintf(text, size, "0B");
    else
        snprintf(text, size, "%.2f%s", (double)bytes / (double)scale, units[unit]);
    return text;
}

const nccl_member *nccl_widest_member(const nccl *n, uint32_t process)
{
    const nccl_process *p = &n->processes[process];
    const nccl_member *best = NULL;
    for (uint32_t i = p->first_member; i < p->first_member + p->member_count; i++) {
        const nccl_member *m = &n->members[n->process_members[i]];
        if (!best || n->communicators[m->communicator].ranks > n->communicators[best->communicator].ranks) best = m;
    }
    return best;
}

const char *nccl_version_name(int bit, char *text, size_t size)
{
    snprintf(text, size, "v%d.%d", 4 + bit / NCCL_MINORS, bit % NCCL_MINORS);
    return text;
}

bool nccl_member_lost_parts(const nccl *n, uint32_t member)
{
    return n->members[member].stats.parts_dropped > 0;
}

uint32_t nccl_member_of_rank(const nccl *n, uint32_t communicator, int64_t rank)
{
    const nccl_communicator *c = &n->communicators[communicator];
    uint32_t low = c->first_member, high = c->first_member + c->member_count, end = high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (n->members[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && n->members[low].rank == rank ? low : NCCL_NONE;
}

bool nccl_adapter_is_known(const char *adapter)
{
    return *adapter && !strchr(adapter, '|');
}
