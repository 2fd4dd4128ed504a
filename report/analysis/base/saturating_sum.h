// Sums of what hostile files count. Thread rule: any.
#ifndef NETPROF_SUM_H
#define NETPROF_SUM_H

#include <stdint.h>

// What is more than 64 bits hold stays at their largest value.
static inline uint64_t sum_capped(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#endif
