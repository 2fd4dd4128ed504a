// Sums of counts from hostile files. Thread rule: any.
#ifndef NETPROF_SUM_H
#define NETPROF_SUM_H

#include <stdint.h>

// a + b, or the largest value where 64 bits cannot hold it.
static inline uint64_t sum_capped(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#endif
