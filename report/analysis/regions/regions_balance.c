// Times: sums over ranks, shares, who is unlike the others. And the same by name instead of by path.
#include "regions_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static netprof_err no_memory(netprof_error *error)
{
    return regions_fail(error, NETPROF_ERR_NOMEM, NULL, "no memory");
}

const regions_cell *regions_cell_of(const regions_node *node, size_t rank)
{
    size_t low = 0, high = node->cell_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (node->cells[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < node->cell_count && node->cells[low].rank == rank ? &node->cells[low] : NULL;
}

// ---- histograms ----

static bool has_any(const unsigned char *packed)
{
    return packed && *packed;
}

bool regions_histogram(const regions_node *node, uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS])
{
    memset(buckets, 0, NETPROF_HISTOGRAM_BUCKETS * sizeof *buckets);
    if (!has_any(node->histogram)) return false;
    regions_unpack_add(node->histogram, buckets, NETPROF_HISTOGRAM_BUCKETS);
    return true;
}

bool regions_cell_histogram(const regions_cell *cell, uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS])
{
    memset(buckets, 0, NETPROF_HISTOGRAM_BUCKETS * sizeof *buckets);
    if (!has_any(cell->histogram)) return false;
    regions_unpack_add(cell->histogram, buckets, NETPROF_HISTOGRAM_BUCKETS);
    return true;
}

regions_quantile regions_quantile_of(const uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS], double q, uint64_t min_ns,
                                     uint64_t max_ns)
{
    uint64_t all = 0, below = 0;
    unsigned bucket = 0;
    for (unsigned i = 0; i < NETPROF_HISTOGRAM_BUCKETS; i++)
        all = sum_capped(all, buckets[i]);
    if (!all) return (regions_quantile){0, 0};
    // the smallest value that has q of all at or below it; 7 / 200 * 200 is 7, whatever doubles make of it
    double wanted = fmin(fmax(q, 0), 1) * (double)all, whole = round(wanted);
    wanted = fabs(wanted - whole) <= 1e-9 * whole ? whole : ceil(wanted);
    while (bucket < NETPROF_HISTOGRAM_BUCKETS - 1 && (double)(below + buckets[bucket]) < fmax(wanted, 1))
        below += buckets[bucket++];
    uint64_t low = netprof_histogram_floor_ns(bucket);
    uint64_t high = bucket + 1 < NETPROF_HISTOGRAM_BUCKETS ? netprof_histogram_floor_ns(bucket + 1) - 1 : UINT64_MAX;
    if (low < min_ns) low = min_ns;
    if (high > max_ns) high = max_ns;
    return (regions_quantile){low < high ? low : high, high};
}

static const unsigned char *keep_histogram(regions_arena *arena, const uint64_t *buckets)
{
    regions_bytes packed = {0};
    regions_pack(&packed, buckets, NETPROF_HISTOGRAM_BUCKETS);
    const unsigned char *kept = packed.failed ? NULL : regions_keep(arena, packed.data, packed.size);
    free(packed.data);
    return kept;
}

// ---- one node ----

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median_of(double *values, size_t count) // sorts
{
    qsort(values, count, sizeof *values, compare_doubles);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void find_extremes(regions_node *node, uint64_t time_ns)
{
    for (size_t i = 0; i < node->cell_count; i++) {
        uint64_t ns = node->cells[i].sums.inclusive_ns;
        if (!i || ns < node->fastest_ns) {
            node->fastest_ns = ns;
            node->fastest = i;
        }
        if (!i || ns > node->slowest_ns) {
            node->slowest_ns = ns;
            node->slowest = i;
        }
    }
    node->mean_ns = (double)node->sums.inclusive_ns / (double)node->cell_count;
    node->max_over_mean = node->mean_ns > 0 ? (double)node->slowest_ns / node->mean_ns : NAN;
    node->imbalance_ns = fmax((double)node->slowest_ns - node->mean_ns, 0);
    node->share = time_ns ? (double)node->sums.inclusive_ns / (double)time_ns : 0;
    node->own_share = time_ns ? (double)node->sums.exclusive_ns / (double)time_ns : 0;
}

// The rank farthest from the median. `times` is scratch.
static void find_odd(regions_node *node, double *times, double run_ns)
{
    double farthest = 0;
    if (node->cell_count < REGIONS_ODD_RANKS) return;
    for (size_t i = 0; i < node->cell_count; i++) {
        double apart = (double)node->cells[i].sums.inclusive_ns - node->median_ns;
        times[i] = fabs(apart);
        if (fabs(apart) <= farthest) continue;
        farthest = fabs(apart);
        node->odd = i;
        node->odd_distance_ns = apart;
    }
    if (node->odd == REGIONS_NONE) return;
    if (node->median_ns > 0) node->odd_over_median = (double)node->cells[node->odd].sums.inclusive_ns / node->median_ns;
    double scatter = 1.4826 * median_of(times, node->cell_count); // the deviation, were the others Gaussian
    node->odd_notable = farthest > 0.1 * node->median_ns && farthest > 4 * scatter && farthest >= 1e-3 * run_ns;
}

static bool add_cells(regions_arena *arena, regions_node *node)
{
    uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS] = {0};
    node->sums = (regions_calls){.min_ns = UINT64_MAX};
    for (size_t i = 0; i < node->cell_count; i++) {
        regions_cell *cell = &node->cells[i];
        regions_calls_add(&node->sums, &cell->sums);
        node->threads += cell->threads;
        regions_unpack_add(cell->histogram, buckets, NETPROF_HISTOGRAM_BUCKETS);
        if (!cell->sums.measured) cell->sums.min_ns = 0;
    }
    if (!node->sums.measured) node->sums.min_ns = 0;
    node->sampled = node->sums.calls - node->sums.open > node->sums.measured && node->sums.calls > node->sums.open;
    node->histogram = keep_histogram(arena, buckets);
    return node->histogram != NULL;
}

netprof_err regions_node_balance(regions_arena *arena, regions_node *node, uint64_t time_ns, size_t ranks,
                                 netprof_error *error)
{
    double *times = malloc((node->cell_count + 1) * sizeof *times), squares = 0;
    node->odd = REGIONS_NONE;
    node->max_over_mean = node->odd_over_median = NAN;
    if (!times || !add_cells(arena, node)) {
        free(times);
        return no_memory(error);
    }
    if (node->cell_count) {
        find_extremes(node, time_ns);
        for (size_t i = 0; i < node->cell_count; i++) {
            times[i] = (double)node->cells[i].sums.inclusive_ns;
            squares += (times[i] - node->mean_ns) * (times[i] - node->mean_ns);
        }
        node->deviation_ns = sqrt(squares / (double)node->cell_count);
        node->median_ns = median_of(times, node->cell_count);
        find_odd(node, times, (double)time_ns / (double)ranks);
    }
    free(times);
    return NETPROF_OK;
}

// ---- the tree ----

// A region that was open when the file was written (the program was killed, or ended within it) has no time of its own
// for that call, but what was within it is known: its time is at least that.
static void close_open_cells(regions *r, size_t number)
{
    regions_node *node = &r->nodes[number];
    for (size_t i = 0; i < node->cell_count; i++) {
        regions_cell *cell = &node->cells[i];
        uint64_t within = 0;
        if (!cell->sums.open) continue;
        for (size_t c = number + 1; c < node->end; c = r->nodes[c].end) {
            const regions_cell *part = regions_cell_of(&r->nodes[c], cell->rank);
            if (part) within = sum_capped(within, part->sums.inclusive_ns);
        }
        within = sum_capped(within, cell->sums.exclusive_ns);
        if (within > cell->sums.inclusive_ns) cell->sums.inclusive_ns = within;
        if (cell->threads == 1) cell->longest_ns = cell->sums.inclusive_ns;
    }
}

static void add_to_ranks(regions *r, const regions_node *node)
{
    for (size_t i = 0; i < node->cell_count; i++) {
        const regions_cell *cell = &node->cells[i];
        regions_rank *rank = &r->ranks[cell->rank];
        rank->calls = sum_capped(rank->calls, cell->sums.calls);
        if (node->depth) continue;
        rank->time_ns = sum_capped(rank->time_ns, cell->sums.inclusive_ns);
        r->time_ns = sum_capped(r->time_ns, cell->sums.inclusive_ns);
    }
}

static void add_ranks(regions *r)
{
    double overhead_ns = 0;
    for (size_t i = 0; i < r->rank_count; i++) {
        const regions_rank *rank = &r->ranks[i];
        r->calls = sum_capped(r->calls, rank->calls);
        r->mismatched = sum_capped(r->mismatched, rank->mismatched);
        r->dropped = sum_capped(r->dropped, rank->dropped);
        overhead_ns += (double)rank->calls * (double)rank->overhead_ps / 1e3;
    }
    r->overhead_share = r->time_ns ? overhead_ns / (double)r->time_ns : 0;
}

netprof_err regions_balance(regions *r, netprof_error *error)
{
    netprof_err failed = NETPROF_OK;
    for (size_t i = r->node_count; i-- > 0;)
        close_open_cells(r, i);
    for (size_t i = 0; i < r->node_count; i++)
        add_to_ranks(r, &r->nodes[i]);
    add_ranks(r);
    for (size_t i = 0; i < r->node_count && !failed; i++)
        failed = regions_node_balance(&r->store->arena, &r->nodes[i], r->time_ns, r->rank_count, error);
    for (size_t i = r->node_count; !failed && i-- > 0;) {
        regions_node *node = &r->nodes[i];
        node->bytes = sum_capped(node->bytes, node->sums.bytes);
        if (node->parent != REGIONS_NONE)
            r->nodes[node->parent].bytes = sum_capped(r->nodes[node->parent].bytes, node->bytes);
    }
    return failed;
}

// ---- paths ----

static size_t escaped_length(const char *name)
{
    size_t n = 0;
    for (; *name; name++)
        n += *name == '/' || *name == '\\' ? 2 : 1;
    return n;
}

char *regions_path(const regions *r, size_t number)
{
    size_t length = r->nodes[number].depth; // slashes
    for (size_t i = number; i != REGIONS_NONE; i = r->nodes[i].parent)
        length += escaped_length(r->nodes[i].name);
    char *path = malloc(length + 1);
    if (!path) return NULL;
    char *at = path + length;
    *at = 0;
    for (size_t i = number; i != REGIONS_NONE; i = r->nodes[i].parent) {
        if (i != number) *--at = '/';
        const char *name = r->nodes[i].name;
        for (size_t k = strlen(name); k-- > 0;) {
            *--at = name[k];
            if (name[k] == '/' || name[k] == '\\') *--at = '\\';
        }
    }
    return path;
}

// Is the path's next name this one? Returns what comes behind it, or NULL.
static const char *match_name(const char *path, const char *name)
{
    for (; *name; name++) {
        if (*name == '/' || *name == '\\') {
            if (*path != '\\') return NULL;
            path++;
        }
        if (*path++ != *name) return NULL;
    }
    return !*path || *path == '/' ? path : NULL;
}

size_t regions_find(const regions *r, const char *path)
{
    size_t at = 0, end = r->node_count;
    while (at < end) {
        const char *rest = match_name(path, r->nodes[at].name);
        if (rest && !*rest) return at;
        if (rest) {
            path = rest + 1;
            end = r->nodes[at].end;
            at++;
        } else {
            at = r->nodes[at].end;
        }
    }
    return REGIONS_NONE;
}

// ---- by name ----

typedef struct flattener {
    const regions *r;
    regions_flat *flat;
    size_t *next;     // [node_count]: the next node of the same name, or REGIONS_NONE
    size_t *at;       // [node_count]: cells taken so far
    bool *nested;     // [node_count]: below one of the same name
    uint64_t *values; // scratch: counters of a view
} flattener;

static bool is_nested(const regions *r, size_t node)
{
    for (size_t i = r->nodes[node].parent; i != REGIONS_NONE; i = r->nodes[i].parent)
        if (strcmp(r->nodes[i].name, r->nodes[node].name) == 0) return true;
    return false;
}

// Chains of equal names; the first of each becomes a node of the list.
static bool chain_names(flattener *f, size_t *firsts, size_t *count)
{
    lookup names = {0};
    size_t *lasts = malloc((f->r->node_count + 1) * sizeof *lasts);
    bool done = lasts != NULL;
    *count = 0;
    for (size_t i = 0; i < f->r->node_count && done; i++) {
        size_t *place = lookup_put(&names, 0, f->r->nodes[i].name);
        f->next[i] = REGIONS_NONE;
        f->nested[i] = is_nested(f->r, i);
        done = place != NULL;
        if (!done) break;
        if (*place == LOOKUP_NONE) {
            *place = (*count)++;
            firsts[*place] = i;
        } else {
            f->next[lasts[*place]] = i;
        }
        lasts[*place] = i;
    }
    lookup_free(&names);
    free(lasts);
    return done;
}

static void add_to_cell(regions_cell *to, const regions_cell *more, bool nested, uint64_t *buckets)
{
    regions_calls sums = more->sums;
    if (nested) sums.inclusive_ns = 0;
    regions_calls_add(&to->sums, &sums);
    regions_unpack_add(more->histogram, buckets, NETPROF_HISTOGRAM_BUCKETS);
    if (more->threads > to->threads) to->threads = more->threads;
    if (!nested) to->longest_ns = sum_capped(to->longest_ns, more->longest_ns);
}

// The cell of one rank over all nodes of the chain. False when there is none.
static bool join_cells(flattener *f, size_t first, size_t rank, regions_cell *cell, uint64_t *buckets)
{
    bool any = false;
    *cell = (regions_cell){.rank = rank, .sums = {.min_ns = UINT64_MAX}};
    for (size_t i = first; i != REGIONS_NONE; i = f->next[i]) {
        const regions_node *node = &f->r->nodes[i];
        if (f->at[i] >= node->cell_count || node->cells[f->at[i]].rank != rank) continue;
        if (!any) memset(buckets, 0, NETPROF_HISTOGRAM_BUCKETS * sizeof *buckets);
        any = true;
        add_to_cell(cell, &node->cells[f->at[i]++], f->nested[i], buckets);
    }
    return any;
}

static bool join_ranks(flattener *f, size_t first, regions_node *to)
{
    uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS];
    size_t room = 0;
    for (size_t i = first; i != REGIONS_NONE; i = f->next[i])
        f->at[i] = 0;
    for (size_t rank = 0; rank < f->r->rank_count; rank++) {
        regions_cell cell;
        if (!join_cells(f, first, rank, &cell, buckets)) continue;
        regions_cell *list = regions_grow(to->cells, to->cell_count, &room, sizeof *list);
        if (!list) return false;
        to->cells = list;
        cell.histogram = keep_histogram(&f->flat->store->arena, buckets);
        if (!cell.histogram) return false;
        list[to->cell_count++] = cell;
    }
    return true;
}

static bool add_values(flattener *f, regions_reading *to, const regions_reading *more)
{
    const regions_host_view *view = &f->r->store->host_views[to->view];
    size_t count = f->r->store->views[view->view].schema->counter_count;
    regions_bytes packed = {0};
    memset(f->values, 0, count * sizeof *f->values);
    regions_unpack_add(to->values, f->values, count);
    regions_unpack_add(more->values, f->values, count);
    regions_pack(&packed, f->values, count);
    unsigned char *kept = packed.failed ? NULL : regions_keep(&f->flat->store->arena, packed.data, packed.size);
    free(packed.data);
    if (kept) to->values = kept;
    return kept != NULL;
}

static bool add_reading(flattener *f, regions_reading *to, const regions_reading *more)
{
    double calls = (double)to->calls + (double)more->calls;
    if (calls > 0) to->open = (to->open * (double)to->calls + more->open * (double)more->calls) / calls;
    to->calls = sum_capped(to->calls, more->calls);
    to->unread = sum_capped(to->unread, more->unread);
    to->time_ns = sum_capped(to->time_ns, more->time_ns);
    if (more->readers > to->readers) to->readers = more->readers;
    return add_values(f, to, more);
}

static int compare_readings(const void *a, const void *b)
{
    const regions_reading *x = a, *y = b;
    if (x->host != y->host) return x->host < y->host ? -1 : 1;
    return x->view < y->view ? -1 : x->view > y->view;
}

// What the nodes of the chain read, by host; those within one of the same name are in that one already.
static bool join_readings(flattener *f, size_t first, regions_node *to)
{
    pairs index = {0};
    size_t room = 0;
    bool done = true;
    for (size_t i = first; i != REGIONS_NONE && done; i = f->next[i]) {
        const regions_node *node = &f->r->nodes[i];
        for (size_t k = 0; k < node->reading_count && done && !f->nested[i]; k++) {
            size_t *place = pairs_put(&index, (int64_t)node->readings[k].view, 0);
            if (place && *place != PAIRS_NONE) {
                done = add_reading(f, &to->readings[*place], &node->readings[k]);
                continue;
            }
            regions_reading *list = place ? regions_grow(to->readings, to->reading_count, &room, sizeof *list) : NULL;
            done = list != NULL;
            if (!done) break;
            to->readings = list;
            *place = to->reading_count;
            list[to->reading_count++] = node->readings[k];
        }
    }
    pairs_free(&index);
    if (done && to->reading_count) qsort(to->readings, to->reading_count, sizeof *to->readings, compare_readings);
    return done;
}

// Declared bytes of the names, with those of the nodes below: the outermost nodes' sums.
static uint64_t declared(const flattener *f, size_t first)
{
    uint64_t bytes = 0;
    for (size_t i = first; i != REGIONS_NONE; i = f->next[i])
        if (!f->nested[i]) bytes = sum_capped(bytes, f->r->nodes[i].bytes);
    return bytes;
}

static netprof_err flatten_name(flattener *f, size_t first, netprof_error *error)
{
    regions_flat *flat = f->flat;
    regions_node *to = &flat->nodes[flat->node_count++];
    *to = (regions_node){.name = f->r->nodes[first].name, .parent = REGIONS_NONE, .end = flat->node_count};
    if (!join_ranks(f, first, to) || !join_readings(f, first, to)) return no_memory(error);
    netprof_err failed = regions_node_balance(&flat->store->arena, to, f->r->time_ns, f->r->rank_count, error);
    to->bytes = declared(f, first);
    return failed ? failed : regions_node_nic(f->r, to, error);
}

static bool start_flattening(flattener *f, size_t *firsts, size_t *count)
{
    size_t nodes = f->r->node_count + 1, counters = 1;
    for (size_t i = 0; i < f->r->store->view_count; i++)
        if (f->r->store->views[i].schema->counter_count > counters)
            counters = f->r->store->views[i].schema->counter_count;
    f->next = malloc(nodes * sizeof *f->next);
    f->at = malloc(nodes * sizeof *f->at);
    f->nested = malloc(nodes * sizeof *f->nested);
    f->values = malloc(counters * sizeof *f->values);
    f->flat->store = calloc(1, sizeof *f->flat->store);
    if (!f->next || !f->at || !f->nested || !f->values || !f->flat->store) return false;
    if (!chain_names(f, firsts, count)) return false;
    f->flat->nodes = calloc(*count + 1, sizeof *f->flat->nodes);
    return f->flat->nodes != NULL;
}

netprof_err regions_flatten(regions_flat *flat, const regions *r, netprof_error *error)
{
    flattener f = {.r = r, .flat = flat};
    size_t *firsts = malloc((r->node_count + 1) * sizeof *firsts), count = 0;
    *flat = (regions_flat){0};
    netprof_err failed = firsts && start_flattening(&f, firsts, &count) ? NETPROF_OK : no_memory(error);
    for (size_t i = 0; i < count && !failed; i++)
        failed = flatten_name(&f, firsts[i], error);
    free(firsts);
    free(f.next);
    free(f.at);
    free(f.nested);
    free(f.values);
    if (failed) regions_flat_free(flat);
    return failed;
}

void regions_flat_free(regions_flat *flat)
{
    for (size_t i = 0; i < flat->node_count; i++) {
        free(flat->nodes[i].cells);
        free(flat->nodes[i].readings);
    }
    free(flat->nodes);
    if (flat->store) regions_arena_free(&flat->store->arena);
    free(flat->store);
    *flat = (regions_flat){0};
}
