#include "nccl_store.h"

#include "analysis/base/stb_ds.h"

#include <stdlib.h>

uint32_t nccl_record_member(const nccl *n, const nccl_record *r)
{
    return ((const nccl_store *)n->memory)->slots[r->slot].member;
}

const nccl_what *nccl_record_what(const nccl *n, const nccl_record *r)
{
    const nccl_store *memory = n->memory;
    return &memory->whats[memory->slots[r->slot].what];
}

void nccl_free(nccl *n)
{
    nccl_store *memory = n->memory;
    if (memory) {
        nccl_arena_free(&memory->arena);
        arrfree(memory->slots);
        arrfree(memory->whats);
        free(memory);
    }
    arrfree(n->files);
    arrfree(n->metrics);
    void *arrays[] = {n->hosts,   n->processes,  n->process_members, n->members, n->communicators,
                      n->colls,   n->operations, n->arrivals,        n->series,  n->instances,
                      n->records, n->traces,     n->kinds,           n->paths,   n->p2p,
                      n->proxies, n->spent,      n->spans,           n->used};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    *n = (nccl){0};
}
