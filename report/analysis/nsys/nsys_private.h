// What the parts of the nsys reader share.
#ifndef NETPROF_NSYS_PRIVATE_H
#define NETPROF_NSYS_PRIVATE_H

#include "lookup.h"
#include "nsys.h"

// The events of one table, by name.
typedef struct nsys_group {
    char *name;
    bool nccl;
    uint64_t *values;
    size_t count, room;
} nsys_group;

typedef struct nsys_gather {
    lookup names;
    nsys_group *groups;
    size_t count;
} nsys_gather;

typedef struct nsys_span {
    int64_t begin, end;
} nsys_span;

// The spans of one GPU.
typedef struct nsys_spans {
    int64_t device;
    nsys_span *items[NSYS_BUSY];
    size_t count[NSYS_BUSY], room[NSYS_BUSY];
} nsys_spans;

// All return false without memory.
bool nsys_gather_add(nsys_gather *g, const char *name, bool nccl, uint64_t value);
bool nsys_gather_end(nsys_gather *g, nsys_table *table); // fills the table and frees what was gathered
void nsys_gather_free(nsys_gather *g);
bool nsys_spans_add(nsys_spans **gpus, size_t *count, int64_t device, int what, nsys_span span);
bool nsys_spans_end(nsys *n, nsys_spans *gpus, size_t count, size_t bins);
void nsys_spans_free(nsys_spans *gpus, size_t count);

#endif
