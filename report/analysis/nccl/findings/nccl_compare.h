// Two jobs side by side: the same class, collective and size in both. Thread rule: one thread at a time.
#ifndef NETPROF_NCCL_COMPARE_H
#define NETPROF_NCCL_COMPARE_H

#include "analysis/nccl/logs/nccl_model.h"

// A kind is called slower or faster when the medians of the wire time differ by more than this, and by more than chance
// allows (|z| of the rank-sum test above NCCL_COMPARE_Z; own).
#define NCCL_COMPARE_CHANGE 0.10
#define NCCL_COMPARE_Z      5.0

typedef enum nccl_verdict { NCCL_ALIKE = 0, NCCL_SLOWER, NCCL_FASTER, NCCL_ONLY_BEFORE, NCCL_ONLY_AFTER } nccl_verdict;

typedef struct nccl_compared {
    const nccl_kind *before, *after; // NULL: not there
    double wire_ratio;               // after / before of the medians; NAN unless both are there, likewise the next two
    double skew_ratio, bus_ratio;
    double z; // rank-sum of the wire times, > 0: after is slower
    nccl_verdict verdict;
} nccl_compared;

// Start from {0}; nccl_compare_free() at the end. Both jobs must live as long.
typedef struct nccl_comparison {
    const nccl *before, *after;
    nccl_compared *rows; // by class, collective, size
    size_t count, slower, faster, alike;
} nccl_comparison;

void nccl_compare(nccl_comparison *c, const nccl *before, const nccl *after);
void nccl_compare_free(nccl_comparison *c);
const char *nccl_verdict_name(nccl_verdict v); // "slower", ...

#endif
