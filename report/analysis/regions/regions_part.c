// One process: the stats of its threads, sorted by path, and packed.
#include "regions_private.h"

#include <stdlib.h>
#include <string.h>

// ---- paths ----

typedef struct stat_key {
    uint32_t thread, node;
    size_t stat;
} stat_key;

static int compare_keys(const void *a, const void *b)
{
    const stat_key *x = a, *y = b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    return x->stat < y->stat ? -1 : x->stat > y->stat;
}

// Threads in order of first use, and in each the nodes likewise: so that parents come first.
static bool sort_stats(regions_part *part)
{
    const netprof_regions *from = part->from;
    stat_key *keys = malloc((from->count + 1) * sizeof *keys);
    if (!keys) return false;
    for (size_t i = 0; i < from->count; i++)
        keys[i] = (stat_key){from->stats[i].thread, from->stats[i].node, i};
    qsort(keys, from->count, sizeof *keys, compare_keys);
    for (size_t i = 0; i < from->count; i++)
        part->order[i] = keys[i].stat;
    free(keys);
    return true;
}

// The part's node of the stat's parent, REGIONS_NONE at the top. A parent that the file lost counts as the top.
static size_t parent_of(const regions_part *part, size_t place)
{
    const netprof_stat *stats = part->from->stats, *s = &stats[part->order[place]];
    size_t low = 0, high = place;
    if (s->parent == UINT32_MAX) return REGIONS_NONE;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const netprof_stat *m = &stats[part->order[middle]];
        if (m->thread < s->thread || (m->thread == s->thread && m->node < s->parent))
            low = middle + 1;
        else
            high = middle;
    }
    const netprof_stat *found = &stats[part->order[low]];
    return low < place && found->thread == s->thread && found->node == s->parent ? part->node_of[part->order[low]]
                                                                                 : REGIONS_NONE;
}

static bool add_stat(regions_part *part, size_t place)
{
    size_t stat = part->order[place], parent = parent_of(part, place);
    size_t *index = lookup_put(&part->index, parent + 1, part->from->stats[stat].region);
    if (!index) return false;
    part->next[stat] = REGIONS_NONE;
    if (*index == LOOKUP_NONE) {
        regions_part_node *list = regions_grow(part->nodes, part->node_count, &part->room, sizeof *list);
        if (!list) return false;
        part->nodes = list;
        *index = part->node_count;
        list[part->node_count++] = (regions_part_node){.parent = parent, .first = stat, .last = stat};
    } else {
        regions_part_node *node = &part->nodes[*index];
        part->next[node->last] = stat;
        node->last = stat;
    }
    part->node_of[stat] = *index;
    return true;
}

// ---- one node ----

static regions_calls calls_of(const netprof_stat *s)
{
    return (regions_calls){.calls = s->calls,
                           .measured = s->measured,
                           .open = s->open,
                           .spans = s->spans,
                           .aborted = s->aborted,
                           .total_ns = s->total_ns,
                           .inclusive_ns = s->inclusive_ns,
                           .exclusive_ns = s->exclusive_ns,
                           .min_ns = s->measured ? s->min_ns : UINT64_MAX,
                           .max_ns = s->max_ns,
                           .variance_ns2 = s->variance_ns2 >= 0 ? s->variance_ns2 : 0, // not a number: damage
                           .bytes = s->bytes};
}

static void pack_histogram(regions_part *part, regions_part_node *node)
{
    uint64_t sum[NETPROF_HISTOGRAM_BUCKETS] = {0};
    const uint64_t *buckets = part->from->stats[node->first].histogram;
    if (node->first != node->last) {
        for (size_t i = node->first; i != REGIONS_NONE; i = part->next[i])
            for (size_t b = 0; b < NETPROF_HISTOGRAM_BUCKETS; b++)
                sum[b] = sum_capped(sum[b], part->from->stats[i].histogram[b]);
        buckets = sum;
    }
    node->histogram = part->packed.size;
    regions_pack(&part->packed, buckets, NETPROF_HISTOGRAM_BUCKETS);
}

// How long the thread was inside during the calls whose counters are known. A sampler's calls without a sample between
// their edges are a part of the time that its samples stand for; elsewhere a reading failed, and its call is left out.
static uint64_t read_ns(const netprof_regions *from, const netprof_stat *s)
{
    if (from->mode == NETPROF_MODE_SAMPLER || !s->too_short) return s->inclusive_ns;
    return (uint64_t)((double)s->inclusive_ns * (double)s->counted / ((double)s->counted + (double)s->too_short));
}

// Of the threads the one that was inside longest.
static void choose_reading(regions_part *part, regions_part_node *node)
{
    const netprof_stat *best = NULL;
    uint64_t longest = 0;
    for (size_t i = node->first; i != REGIONS_NONE; i = part->next[i]) {
        const netprof_stat *s = &part->from->stats[i];
        uint64_t ns = s->counted ? read_ns(part->from, s) : 0;
        if (!s->counter_sums || (!s->counted && !s->too_short)) continue;
        node->readers += s->counted > 0;
        if (best && (ns < longest || (ns == longest && s->counted <= best->counted))) continue;
        best = s;
        longest = ns;
    }
    node->values = part->packed.size;
    if (!best) return;
    node->has_reading = true;
    node->thread = best->thread;
    node->counted = best->counted;
    node->unread = best->too_short;
    node->read_ns = longest;
    node->open = best->counted ? (double)best->concurrency / (double)best->counted : 0;
    regions_pack(&part->packed, best->counter_sums, part->from->counter_count);
}

static void pack_node(regions_part *part, regions_part_node *node)
{
    node->cell.sums = (regions_calls){.min_ns = UINT64_MAX};
    for (size_t i = node->first; i != REGIONS_NONE; i = part->next[i]) {
        regions_calls one = calls_of(&part->from->stats[i]);
        regions_calls_add(&node->cell.sums, &one);
        node->cell.threads += one.calls || one.open || one.bytes;
        if (one.inclusive_ns > node->cell.longest_ns) node->cell.longest_ns = one.inclusive_ns;
    }
    pack_histogram(part, node);
    choose_reading(part, node);
    node->packed_end = part->packed.size;
}

bool regions_part_make(regions_part *part, const netprof_regions *from)
{
    *part = (regions_part){.from = from, .has_counters = from->schema && from->counter_count};
    part->order = malloc((from->count + 1) * sizeof *part->order);
    part->next = malloc((from->count + 1) * sizeof *part->next);
    part->node_of = malloc((from->count + 1) * sizeof *part->node_of);
    bool done = part->order && part->next && part->node_of && sort_stats(part);
    for (size_t i = 0; i < from->count && done; i++)
        done = add_stat(part, i);
    for (size_t i = 0; i < part->node_count && done; i++)
        pack_node(part, &part->nodes[i]);
    if (part->has_counters) part->view_hash = regions_view_hash(from);
    if (done && !part->packed.failed) return true;
    regions_part_free(part);
    return false;
}

void regions_part_free(regions_part *part)
{
    free(part->order);
    free(part->next);
    free(part->node_of);
    free(part->nodes);
    free(part->packed.data);
    lookup_free(&part->index);
    *part = (regions_part){0};
}
