// Times: sums over ranks, shares, and which rank is unlike the others.
#include "regions_store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- one node ----

static int regions_compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double regions_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, regions_compare_doubles);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void regions_find_extremes(regions_node *node, uint64_t time_ns)
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
    if (node->span) return;
    node->share = time_ns ? (double)node->sums.inclusive_ns / (double)time_ns : 0;
    node->own_share = time_ns ? (double)node->sums.exclusive_ns / (double)time_ns : 0;
}

// The rank farthest from the median. `times` is scratch.
static void regions_find_odd(regions_node *node, double *times, double run_ns)
{
    double farthest = 0;
    if (node->cell_count < REGIONS_ODD_RANKS || node->span) return;
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
    double scatter =
        1.4826 * regions_median(times, node->cell_count); // the standard deviation if the others are Gaussian
    node->odd_notable = farthest > 0.1 * node->median_ns && farthest > 4 * scatter && farthest >= 1e-3 * run_ns;
}

static void regions_add_cells(regions_arena *arena, regions_node *node)
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
    node->histogram = regions_keep_packed(arena, buckets, NETPROF_HISTOGRAM_BUCKETS);
}

void regions_node_balance(regions_arena *arena, regions_node *node, uint64_t time_ns, size_t ranks)
{
    node->odd = REGIONS_NONE;
    node->max_over_mean = node->odd_over_median = NAN;
    regions_add_cells(arena, node);
    if (!node->cell_count) return;
    double *times = NULL, squares = 0;
    regions_find_extremes(node, time_ns);
    for (size_t i = 0; i < node->cell_count; i++) {
        double ns = (double)node->cells[i].sums.inclusive_ns;
        arrput(times, ns);
        squares += (ns - node->mean_ns) * (ns - node->mean_ns);
    }
    node->deviation_ns = sqrt(squares / (double)node->cell_count);
    node->median_ns = regions_median(times, node->cell_count);
    regions_find_odd(node, times, (double)time_ns / (double)ranks);
    arrfree(times);
}

// ---- the tree ----

// A region that was open when the file was written (the program was killed, or ended within it) has no time for that
// call; it lasted at least as long as the regions within it.
static void regions_close_open_cells(regions *r, size_t number)
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

static void regions_add_to_ranks(regions *r, const regions_node *node)
{
    for (size_t i = 0; i < node->cell_count; i++) {
        const regions_cell *cell = &node->cells[i];
        regions_rank *rank = &r->ranks[cell->rank];
        rank->calls = sum_capped(rank->calls, cell->sums.calls);
        if (node->depth || node->span) continue;
        rank->time_ns = sum_capped(rank->time_ns, cell->sums.inclusive_ns);
        r->time_ns = sum_capped(r->time_ns, cell->sums.inclusive_ns);
    }
}

// Time of the rank's threads that went into reading counters; a sampler has a thread of its own.
static double regions_apart_ns(const regions_rank *rank)
{
    return rank->mode == NETPROF_MODE_SAMPLER ? 0 : (double)rank->reading_ns;
}

// What measuring cost a rank, and the time that it is a share of: a rank with several threads had more than it lived.
static void regions_add_measuring(const regions_rank *rank, double *cost_ns, double *of_ns)
{
    double cost = (double)rank->calls * (double)rank->overhead_ps / 1e3 + (double)rank->reading_ns;
    *cost_ns += cost;
    *of_ns += fmax(fmax((double)rank->elapsed_ns, (double)rank->time_ns + regions_apart_ns(rank)), cost);
}

static void regions_add_ranks(regions *r)
{
    double overhead_ns = 0, of_ns = 0;
    for (size_t i = 0; i < r->rank_count; i++) {
        const regions_rank *rank = &r->ranks[i];
        r->calls = sum_capped(r->calls, rank->calls);
        r->mismatched = sum_capped(r->mismatched, rank->mismatched);
        r->dropped = sum_capped(r->dropped, rank->dropped);
        r->readings = sum_capped(r->readings, rank->readings);
        r->reading_ns = sum_capped(r->reading_ns, rank->reading_ns);
        regions_add_measuring(rank, &overhead_ns, &of_ns);
    }
    r->overhead_share = of_ns > 0 ? overhead_ns / of_ns : 0;
}

void regions_node_share(regions_node *node, double lived_ns)
{
    if (node->span) return;
    node->run_share = lived_ns > 0 ? (double)node->sums.inclusive_ns / lived_ns : 0;
    node->own_run_share = lived_ns > 0 ? (double)node->sums.exclusive_ns / lived_ns : 0;
}

void regions_balance(regions *r)
{
    for (size_t i = r->node_count; i-- > 0;)
        regions_close_open_cells(r, i);
    for (size_t i = 0; i < r->node_count; i++)
        regions_add_to_ranks(r, &r->nodes[i]);
    regions_add_ranks(r);
    for (size_t i = 0; i < r->rank_count; i++) // threads may have been in more regions than there was time
        r->lived_ns +=
            fmax((double)r->ranks[i].elapsed_ns, (double)r->ranks[i].time_ns + regions_apart_ns(&r->ranks[i]));
    for (size_t i = 0; i < r->node_count; i++)
        regions_node_balance(&r->store->arena, &r->nodes[i], r->time_ns, r->rank_count);
    for (size_t i = r->node_count; i-- > 0;) {
        regions_node *node = &r->nodes[i];
        regions_node_share(node, r->lived_ns);
        node->bytes = sum_capped(node->bytes, node->sums.bytes);
        if (node->parent != REGIONS_NONE)
            r->nodes[node->parent].bytes = sum_capped(r->nodes[node->parent].bytes, node->bytes);
    }
}

// ---- one step ----

// Why what one rank takes longer costs all. A call of the region in which it takes longer and the others wait, part by
// part, for the rank and for the middle of the ranks.

static bool step_holds(const regions *r, size_t outer, size_t inner)
{
    return outer <= inner && inner < r->nodes[outer].end;
}

// The innermost region around both that every rank calls as often.
static size_t step_around(const regions *r, size_t a, size_t b)
{
    for (size_t i = r->nodes[a].parent; i != REGIONS_NONE; i = r->nodes[i].parent)
        if (step_holds(r, i, a) && step_holds(r, i, b)) return i;
    return REGIONS_NONE;
}

static int step_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Nanoseconds of one call of the step.
static double step_time(const regions *r, size_t node, size_t rank, uint64_t calls, bool own)
{
    const regions_cell *cell = regions_cell_of(&r->nodes[node], rank);
    return cell ? (double)(own ? cell->sums.exclusive_ns : cell->sums.inclusive_ns) / (double)calls : 0;
}

static double step_median(const regions *r, size_t node, uint64_t calls, bool own)
{
    double *values = memory_array(NULL, r->rank_count, sizeof *values);
    for (size_t i = 0; i < r->rank_count; i++)
        values[i] = step_time(r, node, i, calls, own);
    qsort(values, r->rank_count, sizeof *values, step_by_value);
    size_t middle = r->rank_count / 2;
    double median = r->rank_count % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    free(values);
    return median;
}

static void step_add(regions *r, size_t node, bool own)
{
    regions_step *s = &r->step;
    if (s->count == REGIONS_STEP_PARTS) return;
    regions_step_part part = {own ? REGIONS_NONE : node, step_median(r, node, s->calls, own),
                              step_time(r, node, s->rank, s->calls, own)};
    if (part.median_ns > 0 || part.rank_ns > 0) s->parts[s->count++] = part;
}

// The children; of the one in which the rank takes longer, its own children.
static void step_add_parts(regions *r, size_t node, size_t where)
{
    step_add(r, node, true);
    for (size_t i = node + 1; i < r->nodes[node].end; i = r->nodes[i].end) {
        if (r->nodes[i].span) continue;
        if (i != where && step_holds(r, i, where))
            step_add_parts(r, i, where);
        else
            step_add(r, i, false);
    }
}

void regions_make_step(regions *r)
{
    const regions_waits *w = &r->waits;
    regions_step *s = &r->step;
    bool held = w->held != REGIONS_NONE;
    size_t rank = held ? w->held : w->late_count == 1 && !w->in_turn ? w->late[0].rank : REGIONS_NONE;
    size_t where = held ? w->held_in : w->where, until = held ? w->held_until : w->waits_in;
    s->node = s->rank = REGIONS_NONE;
    if (rank == REGIONS_NONE || where == REGIONS_NONE || until == REGIONS_NONE || r->rank_count < REGIONS_ODD_RANKS)
        return;
    size_t node = step_around(r, where, until);
    if (node == REGIONS_NONE || r->nodes[node].sampled || r->nodes[node].cell_count < r->rank_count) return;
    for (size_t i = 0; i < r->nodes[node].cell_count; i++) // all ranks do as many steps
        if (r->nodes[node].cells[i].sums.calls != r->nodes[node].cells[0].sums.calls) return;
    if (r->nodes[node].cells[0].sums.calls < 2) return;
    s->node = node;
    s->rank = rank;
    s->calls = r->nodes[node].cells[0].sums.calls;
    step_add_parts(r, node, where);
    for (size_t i = 1; i < s->count; i++)
        if (s->parts[i].rank_ns - s->parts[i].median_ns > s->parts[s->longer].rank_ns - s->parts[s->longer].median_ns)
            s->longer = i;
}
