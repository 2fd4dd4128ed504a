// One process: the statistics of its threads, sorted by path and packed.
#include "regions_store.h"

#include "analysis/base/memory.h"

#include <stdlib.h>
#include <string.h>

// ---- paths ----

typedef struct regions_stat_key {
    uint32_t thread, node;
    size_t stat;
} regions_stat_key;

static int regions_compare_stats(const void *a, const void *b)
{
    const regions_stat_key *x = a, *y = b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    return x->stat < y->stat ? -1 : x->stat > y->stat;
}

// Threads in the order of first use, and the nodes of each likewise, so that parents come first.
static void regions_sort_stats(regions_part *part)
{
    const netprof_regions *from = part->from;
    regions_stat_key *keys = NULL;
    for (size_t i = 0; i < from->count; i++)
        arrput(keys, ((regions_stat_key){from->stats[i].thread, from->stats[i].node, i}));
    if (keys) qsort(keys, from->count, sizeof *keys, regions_compare_stats);
    for (size_t i = 0; i < from->count; i++)
        part->order[i] = keys[i].stat;
    arrfree(keys);
}

// The part's node of a statistic's parent, or REGIONS_NONE at the top. If the file lost the parent, that is the top, too.
static size_t regions_parent_of(const regions_part *part, size_t place)
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

static bool regions_is_span(const netprof_stat *s)
{
    return s->spans && s->spans >= s->calls;
}

static void regions_add_stat(regions_part *part, size_t place)
{
    size_t stat = part->order[place], parent = regions_parent_of(part, place);
    bool span = regions_is_span(&part->from->stats[stat]);
    map_key key = regions_child_key(parent, part->from->stats[stat].region, span);
    ptrdiff_t found = hmgeti(part->index, key);
    part->next[stat] = REGIONS_NONE;
    if (found < 0) {
        part->node_of[stat] = arrlenu(part->nodes);
        hmput(part->index, key, arrlenu(part->nodes));
        arrput(part->nodes, ((regions_part_node){.parent = parent, .span = span, .first = stat, .last = stat}));
        return;
    }
    part->node_of[stat] = part->index[found].value;
    regions_part_node *node = &part->nodes[part->node_of[stat]];
    part->next[node->last] = stat;
    node->last = stat;
}

// ---- one node ----

static regions_calls regions_calls_of(const netprof_stat *s)
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
                           .bytes = s->bytes,
                           .waits = s->waits,
                           .waited_ns = s->waited_ns};
}

static void regions_pack_histogram(regions_part *part, regions_part_node *node)
{
    uint64_t sum[NETPROF_HISTOGRAM_BUCKETS] = {0};
    const uint64_t *buckets = part->from->stats[node->first].histogram;
    if (node->first != node->last) {
        for (size_t i = node->first; i != REGIONS_NONE; i = part->next[i])
            for (size_t b = 0; b < NETPROF_HISTOGRAM_BUCKETS; b++)
                sum[b] = sum_capped(sum[b], part->from->stats[i].histogram[b]);
        buckets = sum;
    }
    node->histogram = arrlenu(part->packed);
    regions_pack(&part->packed, buckets, NETPROF_HISTOGRAM_BUCKETS);
}

// How long the thread was inside during the calls whose counters are known. Calls of a sampler that no sample fell into
// are covered by the samples around them; in other modes a reading failed, and its call is left out.
static uint64_t regions_read_ns(const netprof_regions *from, const netprof_stat *s)
{
    if (from->mode == NETPROF_MODE_SAMPLER || !s->too_short) return s->inclusive_ns;
    return (uint64_t)((double)s->inclusive_ns * (double)s->counted / ((double)s->counted + (double)s->too_short));
}

// The reading of the thread that was inside longest.
static void regions_choose_reading(regions_part *part, regions_part_node *node)
{
    const netprof_stat *best = NULL;
    uint64_t longest = 0;
    for (size_t i = node->first; i != REGIONS_NONE; i = part->next[i]) {
        const netprof_stat *s = &part->from->stats[i];
        uint64_t ns = s->counted ? regions_read_ns(part->from, s) : 0;
        if (!s->counter_sums || (!s->counted && !s->too_short)) continue;
        node->readers += s->counted > 0;
        if (best && (ns < longest || (ns == longest && s->counted <= best->counted))) continue;
        best = s;
        longest = ns;
    }
    node->values = arrlenu(part->packed);
    if (!best) return;
    node->has_reading = true;
    node->thread = best->thread;
    node->counted = best->counted;
    node->unread = best->too_short;
    node->read_ns = longest;
    node->open = best->counted ? (double)best->concurrency / (double)best->counted : 0;
    regions_pack(&part->packed, best->counter_sums, part->from->counter_count);
}

static void regions_pack_node(regions_part *part, regions_part_node *node)
{
    node->cell.sums = (regions_calls){.min_ns = UINT64_MAX};
    for (size_t i = node->first; i != REGIONS_NONE; i = part->next[i]) {
        regions_calls one = regions_calls_of(&part->from->stats[i]);
        regions_calls_add(&node->cell.sums, &one);
        node->cell.threads += one.calls || one.open || one.bytes || one.inclusive_ns;
        if (one.inclusive_ns > node->cell.longest_ns) node->cell.longest_ns = one.inclusive_ns;
    }
    regions_pack_histogram(part, node);
    regions_choose_reading(part, node);
    node->packed_end = arrlenu(part->packed);
}

void regions_part_begin(regions_part *part)
{
    *part = (regions_part){.from = NULL};
    hmput(part->index, (map_key){0}, 0); // makes the map, which regions_part_fill() empties
}

void regions_part_fill(regions_part *part, const netprof_regions *from)
{
    while (hmlenu(part->index))
        hmdel(part->index, part->index[hmlenu(part->index) - 1].key);
    arrsetlen(part->nodes, 0);
    arrsetlen(part->packed, 0);
    arrsetlen(part->order, from->count);
    arrsetlen(part->next, from->count);
    arrsetlen(part->node_of, from->count);
    part->from = from;
    part->has_counters = from->schema && from->counter_count;
    regions_sort_stats(part);
    for (size_t i = 0; i < from->count; i++)
        regions_add_stat(part, i);
    for (size_t i = 0; i < arrlenu(part->nodes); i++)
        regions_pack_node(part, &part->nodes[i]);
    part->view_hash = part->has_counters ? regions_view_hash(from) : 0;
}

void regions_part_free(regions_part *part)
{
    arrfree(part->order);
    arrfree(part->next);
    arrfree(part->node_of);
    arrfree(part->nodes);
    arrfree(part->packed);
    hmfree(part->index);
}

// ---- a process of which only samples over time are there ----

bool regions_series(const netprof_schema *schema)
{
    for (size_t i = 0; i < schema->device_count; i++)
        if (strcmp(schema->devices[i].source, "regions") == 0 && strcmp(schema->devices[i].name, "process") == 0)
            return true;
    return false;
}

typedef struct regions_last {
    regions_origin origin;
    const netprof_schema *schema; // of the last sample
    uint64_t *values;             // stb_ds
    int64_t wall_ns, begin_ns, end_ns;
} regions_last;

static void regions_keep_last(regions_last *last, const netprof_snapshot *s)
{
    if (!last->schema) {
        last->wall_ns = s->wall_ns;
        last->begin_ns = s->begin_ns;
    }
    netprof_schema_retain(s->schema);
    netprof_schema_release(last->schema);
    last->schema = s->schema;
    last->end_ns = s->end_ns;
    arrsetlen(last->values, s->schema->counter_count);
    memcpy(last->values, s->values, s->schema->counter_count * sizeof *s->values);
}

// Up to where the file ends: its process was killed, perhaps amid a sample.
static void regions_read_last(regions_last *last, const char *path)
{
    netprof_reader *reader = NULL;
    netprof_item item = {.type = NETPROF_ITEM_FACT};
    if (netprof_reader_open(&reader, path, NULL, NULL)) return;
    while (!netprof_reader_next(reader, &item, NULL) && item.type != NETPROF_ITEM_END) {
        if (item.type == NETPROF_ITEM_FACT) {
            netprof_fact copy = {memory_strdup(item.fact->key), memory_strdup(item.fact->value)};
            arrput(last->origin.facts, copy);
        } else if (item.type == NETPROF_ITEM_SNAPSHOT && regions_series(item.snapshot->schema)) {
            regions_keep_last(last, item.snapshot);
        }
    }
    netprof_reader_close(reader);
}

static uint64_t regions_last_value(const regions_last *last, const netprof_device *d, const char *counter)
{
    size_t at = netprof_find(last->schema, d->source, d->name, counter);
    return at == NETPROF_NONE ? 0 : last->values[at];
}

// Length of the parent's path: up to the last slash that is not part of a name; 0 at the top.
static size_t regions_parent_length(const char *path)
{
    size_t length = 0;
    for (size_t i = 0; path[i]; i++) {
        if (path[i] == '/') length = i;
        if (path[i] == '\\' && path[i + 1]) i++;
    }
    return length;
}

static uint32_t regions_parent_stat(const netprof_schema *schema, size_t first, size_t device)
{
    const char *path = schema->devices[device].name;
    size_t length = regions_parent_length(path);
    for (size_t i = first; length && i < device; i++)
        if (strncmp(schema->devices[i].name, path, length) == 0 && !schema->devices[i].name[length])
            return (uint32_t)(i - first);
    return UINT32_MAX;
}

// Times of single calls are not known: all are taken for the mean.
static netprof_stat *regions_last_stats(const regions_last *last)
{
    static const uint64_t nothing[NETPROF_HISTOGRAM_BUCKETS];
    netprof_stat *stats = NULL;
    size_t first = 0;
    while (first < last->schema->device_count && strcmp(last->schema->devices[first].source, "region") != 0)
        first++;
    for (size_t i = first; i < last->schema->device_count; i++) {
        const netprof_device *d = &last->schema->devices[i];
        const char *name = netprof_fact_of(d->facts, d->fact_count, "name");
        netprof_stat s = {.node = (uint32_t)(i - first), .parent = regions_parent_stat(last->schema, first, i)};
        if (strcmp(d->source, "region") != 0) break;
        s.region = name ? name : d->name;
        s.calls = s.measured = regions_last_value(last, d, "calls");
        s.total_ns = s.inclusive_ns = regions_last_value(last, d, "time");
        s.exclusive_ns = regions_last_value(last, d, "own_time");
        s.bytes = regions_last_value(last, d, "bytes");
        s.min_ns = s.max_ns = s.calls ? s.total_ns / s.calls : 0;
        s.histogram = nothing;
        arrput(stats, s);
    }
    return stats;
}

static bool regions_has_process(const regions *r, const regions_last *last)
{
    const netprof_fact *facts = last->origin.facts;
    const char *host = netprof_fact_of(facts, arrlenu(facts), "host"),
               *pid = netprof_fact_of(facts, arrlenu(facts), "pid");
    for (size_t i = 0; i < r->rank_count; i++) {
        const regions_rank *x = &r->ranks[i];
        bool same = host && pid && strtol(pid, NULL, 10) == x->pid && strcmp(host, r->hosts[x->host].name) == 0;
        // its first sample comes after its first region, and before its file
        if (same && last->wall_ns >= difference_capped(x->wall_ns, 1000000000) &&
            last->wall_ns <= sum_capped_signed(sum_capped_signed(x->wall_ns, x->elapsed_ns), 1000000000))
            return true;
    }
    return false;
}

static void regions_join_last(regions *r, regions_last *last)
{
    netprof_regions from = {.mode = NETPROF_MODE_TIME, .threads = 1, .clock = "", .warning = ""};
    regions_part part;
    from.wall_ns = last->wall_ns;
    from.elapsed_ns = difference_capped(last->end_ns, last->begin_ns);
    from.stats = regions_last_stats(last);
    from.count = arrlenu(from.stats);
    regions_part_begin(&part);
    regions_part_fill(&part, &from);
    regions_join(r, &part, &last->origin);
    regions_part_free(&part);
    arrfree(from.stats);
}

void regions_join_series(regions *r)
{
    for (size_t i = 0; i < arrlenu(r->store->series); i++) {
        regions_last last = {.origin = {.path = r->store->series[i], .series = true}};
        regions_read_last(&last, r->store->series[i]);
        if (last.schema && !regions_has_process(r, &last)) regions_join_last(r, &last);
        for (size_t k = 0; k < arrlenu(last.origin.facts); k++) {
            free((char *)(uintptr_t)last.origin.facts[k].key);
            free((char *)(uintptr_t)last.origin.facts[k].value);
        }
        arrfree(last.origin.facts);
        arrfree(last.values);
        netprof_schema_release(last.schema);
    }
}
