// How many values are distributed, in memory that does not grow with them: the first thousand exactly, more of them in buckets
// that are at most 0.4 % wide. Thread rule: one thread at a time per object.
#ifndef NETPROF_DISTRIBUTION_H
#define NETPROF_DISTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct distribution_bucket {
    int32_t key; // in the order of the values
    uint64_t value;
} distribution_bucket;

typedef struct distribution {
    uint64_t count;
    double least, most;
    double *values;               // while there are few; stb_ds
    distribution_bucket *buckets; // when there are many; stb_ds
} distribution;

void distribution_add(distribution *d, double value); // a value that is no number is passed over
// The smallest value that at least this share of all does not exceed, or up to 0.4 % more; NAN without any. It sorts.
double distribution_percentile(distribution *d, double share);
bool distribution_is_exact(const distribution *d);
void distribution_free(distribution *d);

#endif
