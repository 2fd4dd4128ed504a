// Quantiles and spreads of numbers. Thread rule: any, for different numbers.
#ifndef NETPROF_NCCL_SPREAD_H
#define NETPROF_NCCL_SPREAD_H

#include "nccl_model.h"

// Sorts the values.
nccl_spread nccl_spread_of(double *values, size_t count);
// Reorders the values.
double nccl_median_of(double *values, size_t count);

#endif
