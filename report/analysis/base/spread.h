// The figures of a few measurements of one thing: mean, spread, and which of them stand apart.
// Thread rule: any.
#ifndef NETPROF_SPREAD_H
#define NETPROF_SPREAD_H

#include <stdbool.h>
#include <stddef.h>

typedef struct spread {
    size_t count;          // values that are numbers
    double mean;           // NAN without any
    double deviation;      // standard deviation of the sample (n - 1); NAN below two
    double standard_error; // of the mean: deviation / sqrt(count)
    double median, least, most;
    double
        width; // what stands for the deviation without being moved by outliers, see spread_is_outlier(); NAN below five
} spread;

// NAN values are passed over.
spread spread_of(const double *values, size_t count);
// By the modified z-score (Iglewicz and Hoaglin 1993): farther from the median than 3.5 times 1.4826 x the median
// distance from it; where half of all values are equal, 1.2533 x the mean distance. Of fewer than five values none is.
bool spread_is_outlier(const spread *s, double value);

#endif
