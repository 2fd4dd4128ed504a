#include "regions_flat.h"

#include "regions_store.h"

#include <string.h>

typedef struct regions_flattener {
    const regions *r;
    regions_flat *flat;
    size_t *next;     // for each node: the next one of the same name, or REGIONS_NONE
    size_t *at;       // ... how many of its cells were taken so far
    bool *nested;     // ... is it within one of the same name?
    uint64_t *values; // scratch, for the counters of a view
} regions_flattener;

static bool regions_is_nested(const regions *r, size_t node)
{
    for (size_t i = r->nodes[node].parent; i != REGIONS_NONE; i = r->nodes[i].parent)
        if (r->nodes[i].span == r->nodes[node].span && strcmp(r->nodes[i].name, r->nodes[node].name) == 0) return true;
    return false;
}

// Chains of equal names. Returns the first node of each (stb_ds).
static size_t *regions_chain_names(regions_flattener *f)
{
    regions_index *names = NULL;
    size_t *firsts = NULL, *lasts = NULL;
    for (size_t i = 0; i < f->r->node_count; i++) {
        map_key key = regions_child_key(0, f->r->nodes[i].name, f->r->nodes[i].span);
        ptrdiff_t at = hmgeti(names, key);
        f->next[i] = REGIONS_NONE;
        f->nested[i] = regions_is_nested(f->r, i);
        if (at < 0) {
            hmput(names, key, arrlenu(firsts));
            arrput(firsts, i);
            arrput(lasts, i);
        } else {
            f->next[lasts[at]] = i;
            lasts[at] = i;
        }
    }
    hmfree(names);
    arrfree(lasts);
    return firsts;
}

static void regions_add_to_cell(regions_cell *to, const regions_cell *more, bool nested, uint64_t *buckets)
{
    regions_calls sums = more->sums;
    if (nested) sums.inclusive_ns = 0;
    regions_calls_add(&to->sums, &sums);
    regions_unpack_add(more->histogram, buckets, NETPROF_HISTOGRAM_BUCKETS);
    if (more->threads > to->threads) to->threads = more->threads;
    if (!nested) to->longest_ns = sum_capped(to->longest_ns, more->longest_ns);
}

// The cell of one rank over all nodes of the chain. False when there is none.
static bool regions_join_cells(regions_flattener *f, size_t first, size_t rank, regions_cell *cell, uint64_t *buckets)
{
    bool any = false;
    *cell = (regions_cell){.rank = rank, .sums = {.min_ns = UINT64_MAX}};
    for (size_t i = first; i != REGIONS_NONE; i = f->next[i]) {
        const regions_node *node = &f->r->nodes[i];
        if (f->at[i] >= node->cell_count || node->cells[f->at[i]].rank != rank) continue;
        if (!any) memset(buckets, 0, NETPROF_HISTOGRAM_BUCKETS * sizeof *buckets);
        any = true;
        regions_add_to_cell(cell, &node->cells[f->at[i]++], f->nested[i], buckets);
    }
    return any;
}

static void regions_join_ranks(regions_flattener *f, size_t first, regions_node *to)
{
    uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS];
    for (size_t i = first; i != REGIONS_NONE; i = f->next[i])
        f->at[i] = 0;
    for (size_t rank = 0; rank < f->r->rank_count; rank++) {
        regions_cell cell;
        if (!regions_join_cells(f, first, rank, &cell, buckets)) continue;
        cell.histogram = regions_keep_packed(&f->flat->store->arena, buckets, NETPROF_HISTOGRAM_BUCKETS);
        arrput(to->cells, cell);
    }
    to->cell_count = arrlenu(to->cells);
}

static void regions_add_reading(regions_flattener *f, regions_reading *to, const regions_reading *more)
{
    const regions_host_view *view = &f->r->store->host_views[to->view];
    size_t count = f->r->store->views[view->view].schema->counter_count;
    double calls = (double)to->calls + (double)more->calls;
    if (calls > 0) to->open = (to->open * (double)to->calls + more->open * (double)more->calls) / calls;
    to->calls = sum_capped(to->calls, more->calls);
    to->unread = sum_capped(to->unread, more->unread);
    to->time_ns = sum_capped(to->time_ns, more->time_ns);
    if (more->readers > to->readers) to->readers = more->readers;
    memset(f->values, 0, count * sizeof *f->values);
    regions_unpack_add(to->values, f->values, count);
    regions_unpack_add(more->values, f->values, count);
    to->values = regions_keep_packed(&f->flat->store->arena, f->values, count);
}

// The readings of the chain, by host. A node within one of the same name is left out: that one's reading covers it.
static void regions_join_readings(regions_flattener *f, size_t first, regions_node *to)
{
    struct {
        size_t key, value;
    } *of_view = NULL;
    for (size_t i = first; i != REGIONS_NONE; i = f->next[i]) {
        const regions_node *node = &f->r->nodes[i];
        for (size_t k = 0; k < node->reading_count && !f->nested[i]; k++) {
            ptrdiff_t at = hmgeti(of_view, node->readings[k].view);
            if (at >= 0) {
                regions_add_reading(f, &to->readings[of_view[at].value], &node->readings[k]);
                continue;
            }
            hmput(of_view, node->readings[k].view, arrlenu(to->readings));
            arrput(to->readings, node->readings[k]);
        }
    }
    hmfree(of_view);
    to->reading_count = arrlenu(to->readings);
    regions_sort_readings(to->readings, to->reading_count);
}

// Bytes declared in nodes of this name and below them: the sums of the outermost ones.
static uint64_t regions_declared(const regions_flattener *f, size_t first)
{
    uint64_t bytes = 0;
    for (size_t i = first; i != REGIONS_NONE; i = f->next[i])
        if (!f->nested[i]) bytes = sum_capped(bytes, f->r->nodes[i].bytes);
    return bytes;
}

static void regions_join_named_values(regions_flattener *f, size_t first, regions_node *to)
{
    for (size_t i = first; i != REGIONS_NONE; i = f->next[i])
        for (size_t k = 0; k < f->r->nodes[i].value_count; k++)
            regions_values_add(&f->flat->store->arena, &to->values, &f->r->nodes[i].values[k]);
    to->value_count = arrlenu(to->values);
}

static void regions_flatten_name(regions_flattener *f, size_t first)
{
    regions_flat *flat = f->flat;
    regions_node *to = &flat->nodes[flat->node_count++];
    *to = (regions_node){.name = f->r->nodes[first].name,
                         .kind = f->r->nodes[first].kind,
                         .span = f->r->nodes[first].span,
                         .parent = REGIONS_NONE,
                         .end = flat->node_count};
    regions_join_ranks(f, first, to);
    regions_join_readings(f, first, to);
    regions_node_balance(&flat->store->arena, to, f->r->time_ns, f->r->rank_count);
    regions_node_share(to, f->r->lived_ns);
    to->bytes = regions_declared(f, first);
    regions_join_named_values(f, first, to);
    for (size_t i = 0; i < to->reading_count; i++)
        regions_measure(f->r, 0, to, &to->readings[i], NULL);
    regions_sum_readings(f->r, to);
}

static size_t regions_most_counters(const regions *r)
{
    size_t most = 0;
    for (size_t i = 0; i < arrlenu(r->store->views); i++)
        if (r->store->views[i].schema->counter_count > most) most = r->store->views[i].schema->counter_count;
    return most;
}

void regions_flatten(regions_flat *flat, const regions *r)
{
    regions_flattener f = {.r = r, .flat = flat};
    f.next = memory_calloc(r->node_count, sizeof *f.next);
    f.at = memory_calloc(r->node_count, sizeof *f.at);
    f.nested = memory_calloc(r->node_count, sizeof *f.nested);
    f.values = memory_calloc(regions_most_counters(r), sizeof *f.values);
    size_t *firsts = regions_chain_names(&f);
    *flat = (regions_flat){.store = memory_calloc(1, sizeof *flat->store)};
    flat->nodes = memory_calloc(arrlenu(firsts), sizeof *flat->nodes);
    for (size_t i = 0; i < arrlenu(firsts); i++)
        regions_flatten_name(&f, firsts[i]);
    arrfree(firsts);
    free(f.next);
    free(f.at);
    free(f.nested);
    free(f.values);
}

void regions_flat_free(regions_flat *flat)
{
    for (size_t i = 0; i < flat->node_count; i++) {
        arrfree(flat->nodes[i].cells);
        arrfree(flat->nodes[i].readings);
        arrfree(flat->nodes[i].values);
    }
    free(flat->nodes);
    if (flat->store) regions_arena_free(&flat->store->arena);
    free(flat->store);
    *flat = (regions_flat){0};
}
