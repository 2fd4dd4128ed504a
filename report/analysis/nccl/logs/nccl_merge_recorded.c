// Waits by collective; and what only files of netprof's plugin hold: when calls used the network, devices. Of copies of a file
// one counts.
#include "nccl_parts.h"

#include "analysis/base/memory.h"

#include <stdlib.h>

// ---- what calls waited for ----

// A row of a chunk, and where it came from.
typedef struct recorded_row {
    nccl_spent spent;
    uint32_t chunk, index; // its place there
} recorded_row;

static int recorded_by_group(const nccl_spent *x, const nccl_spent *y)
{
    int order = nccl_compare_u64(x->member, y->member);
    if (!order) order = strcmp(x->coll, y->coll);
    return order ? order : nccl_compare_u64(x->size, y->size);
}

// Of copies the one with most steps first, then most calls.
static int recorded_by_row(const void *a, const void *b)
{
    const recorded_row *x = a, *y = b;
    int order = recorded_by_group(&x->spent, &y->spent);
    if (!order) order = nccl_compare_u64(y->spent.sent, x->spent.sent);
    if (!order) order = nccl_compare_u64(y->spent.calls, x->spent.calls);
    if (!order) order = nccl_compare_u64(x->chunk, y->chunk);
    return order ? order : nccl_compare_u64(x->index, y->index);
}

// places: of each chunk and row there, the row in n->spent, or NCCL_NONE where it is another's copy.
static void recorded_keep_spent(nccl *n, const recorded_row *rows, size_t count, uint32_t **places)
{
    nccl_store *memory = n->memory;
    n->spent = memory_calloc(count, sizeof *n->spent);
    for (size_t i = 0; i < count; i++) {
        const recorded_row *x = &rows[i];
        bool copy = i > 0 && recorded_by_group(&rows[i - 1].spent, &x->spent) == 0;
        places[x->chunk][x->index] = copy ? NCCL_NONE : (uint32_t)n->spent_count;
        if (copy) continue;
        n->spent[n->spent_count] = x->spent;
        n->spent[n->spent_count++].coll = nccl_arena_text(&memory->arena, x->spent.coll, strlen(x->spent.coll));
    }
}

static uint32_t **recorded_merge_spent(nccl *n, const nccl_chunk *chunks, size_t count)
{
    uint32_t **places = memory_calloc(count, sizeof *places);
    size_t room = 0, total = 0;
    for (size_t i = 0; i < count; i++)
        room += arrlenu(chunks[i].spent);
    recorded_row *rows = memory_array(NULL, room, sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        places[i] = memory_array(NULL, arrlenu(chunks[i].spent), sizeof **places);
        for (size_t k = 0; k < arrlenu(chunks[i].spent); k++) {
            recorded_row row = {chunks[i].spent[k], (uint32_t)i, (uint32_t)k};
            row.spent.member = chunks[i].members[row.spent.member].global;
            places[i][k] = NCCL_NONE;
            if (row.spent.member != NCCL_NONE) rows[total++] = row;
        }
    }
    if (total) qsort(rows, total, sizeof *rows, recorded_by_row);
    recorded_keep_spent(n, rows, total, places);
    free(rows);
    return places;
}

// ---- when they used the network ----

typedef struct recorded_time {
    nccl_span span;
    uint32_t host;
} recorded_time;

static int recorded_by_time(const void *a, const void *b)
{
    const recorded_time *x = a, *y = b;
    int order = nccl_compare_u64(x->host, y->host);
    if (!order) order = nccl_compare_u64((uint64_t)x->span.begin_ns, (uint64_t)y->span.begin_ns);
    if (!order) order = nccl_compare_u64((uint64_t)x->span.end_ns, (uint64_t)y->span.end_ns);
    if (!order) order = nccl_compare_u64(x->span.spent, y->span.spent);
    return order ? order : nccl_compare_u64(x->span.sn, y->span.sn);
}

static void recorded_merge_spans(nccl *n, const nccl_chunk *chunks, size_t count, uint32_t *const *places)
{
    size_t room = 0, total = 0;
    for (size_t i = 0; i < count; i++)
        room += arrlenu(chunks[i].spans);
    recorded_time *all = memory_array(NULL, room, sizeof *all);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < arrlenu(chunks[i].spans); k++) {
            nccl_span x = chunks[i].spans[k];
            x.spent = places[i][x.spent];
            if (x.spent == NCCL_NONE) continue;
            all[total++] = (recorded_time){x, n->processes[n->members[n->spent[x.spent].member].process].host};
        }
    if (total) qsort(all, total, sizeof *all, recorded_by_time);
    n->spans = memory_array(NULL, total, sizeof *n->spans);
    for (size_t i = 0; i < total; i++)
        n->spans[n->span_count++] = all[i].span;
    free(all);
}

// ---- devices ----

static int recorded_by_place(const nccl_used *x, const nccl_used *y)
{
    int order = nccl_compare_u64(x->member, y->member);
    if (!order) order = strcmp(x->transport, y->transport);
    if (!order) order = (x->device > y->device) - (x->device < y->device);
    if (!order) order = strcmp(x->adapter, y->adapter);
    return order ? order : strcmp(x->direction, y->direction);
}

static int recorded_by_used(const void *a, const void *b)
{
    const nccl_used *x = a, *y = b;
    int order = recorded_by_place(x, y);
    if (!order) order = nccl_compare_u64(y->bytes, x->bytes);
    return order ? order : nccl_compare_u64(y->requests, x->requests);
}

static void recorded_merge_used(nccl *n, const nccl_chunk *chunks, size_t count)
{
    nccl_store *memory = n->memory;
    size_t room = 0, total = 0;
    for (size_t i = 0; i < count; i++)
        room += arrlenu(chunks[i].used);
    nccl_used *all = memory_array(NULL, room, sizeof *all);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < arrlenu(chunks[i].used); k++) {
            all[total] = chunks[i].used[k];
            all[total].member = chunks[i].members[all[total].member].global;
            total += all[total].member != NCCL_NONE;
        }
    if (total) qsort(all, total, sizeof *all, recorded_by_used);
    n->used = memory_array(NULL, total, sizeof *n->used);
    for (size_t i = 0; i < total; i++) {
        if (i && recorded_by_place(&all[i - 1], &all[i]) == 0) continue;
        nccl_used *x = &n->used[n->used_count++];
        *x = all[i];
        x->transport = nccl_arena_text(&memory->arena, x->transport, strlen(x->transport));
        x->direction = nccl_arena_text(&memory->arena, x->direction, strlen(x->direction));
        x->adapter = nccl_arena_text(&memory->arena, x->adapter, strlen(x->adapter));
    }
    free(all);
}

// Whose network devices a file has readings of.
static void recorded_find_host(nccl *n, const nccl_chunk *c)
{
    for (size_t i = 0; c->snapshots && i < arrlenu(c->members); i++) {
        uint32_t member = c->members[i].global;
        if (member == NCCL_NONE || !*c->members[i].host) continue;
        n->files[c->file].host = n->processes[n->members[member].process].host;
        return;
    }
}

void nccl_merge_recorded(nccl *n, nccl_chunk *chunks, size_t count)
{
    uint32_t **places = recorded_merge_spent(n, chunks, count);
    recorded_merge_spans(n, chunks, count, places);
    recorded_merge_used(n, chunks, count);
    for (size_t i = 0; i < count; i++) {
        recorded_find_host(n, &chunks[i]);
        free(places[i]);
    }
    free(places);
}
