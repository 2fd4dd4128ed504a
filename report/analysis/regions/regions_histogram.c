#include "regions_histogram.h"

#include "analysis/base/saturating_sum.h"
#include "regions_pack.h"

#include <math.h>
#include <string.h>

static bool regions_has_any(const unsigned char *packed)
{
    return packed && *packed;
}

bool regions_histogram(const regions_node *node, uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS])
{
    memset(buckets, 0, NETPROF_HISTOGRAM_BUCKETS * sizeof *buckets);
    if (!regions_has_any(node->histogram)) return false;
    regions_unpack_add(node->histogram, buckets, NETPROF_HISTOGRAM_BUCKETS);
    return true;
}

bool regions_cell_histogram(const regions_cell *cell, uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS])
{
    memset(buckets, 0, NETPROF_HISTOGRAM_BUCKETS * sizeof *buckets);
    if (!regions_has_any(cell->histogram)) return false;
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
    // The smallest value with q of all calls at or below it. Rounding keeps 7 / 200 * 200 at 7.
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
