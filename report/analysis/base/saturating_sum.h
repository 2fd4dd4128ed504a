// Sums and differences of counts and times from hostile files. Thread rule: any.
#ifndef NETPROF_SUM_H
#define NETPROF_SUM_H

#include <stdint.h>

// a + b, or the largest value where 64 bits cannot hold it.
static inline uint64_t sum_capped(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

// a + b, or the nearest that 64 bits hold.
static inline int64_t sum_capped_signed(int64_t a, int64_t b)
{
    int64_t sum;
    return !__builtin_add_overflow(a, b, &sum) ? sum : b < 0 ? INT64_MIN : INT64_MAX;
}

// a - b, or the nearest that 64 bits hold.
static inline int64_t difference_capped(int64_t a, int64_t b)
{
    int64_t left; // not `difference`: that is a type here
    return !__builtin_sub_overflow(a, b, &left) ? left : b > 0 ? INT64_MIN : INT64_MAX;
}

#endif
