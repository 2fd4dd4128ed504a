// How often chance alone would show as much: runs that differ in nothing, split at random into as many on each side.
//
// Thread rule: any.
#ifndef NETPROF_COMPARE_CHANCE_H
#define NETPROF_COMPARE_CHANCE_H

#include <stdbool.h>
#include <stddef.h>

double chance_splits(size_t healthy, size_t faulty); // in how many ways so many runs can be split: 252 for 5 and 5

// The share of all splits whose faulty runs together rank as high as these (direction > 0), or as low (< 0). Exact up to
// 20 runs, equal values sharing their ranks; beyond that by the normal distribution.
double chance_of_ranks(const double *healthy, size_t healthy_count, const double *faulty, size_t faulty_count,
                       int direction);

// Student's test of two means with a common spread, both directions: the share of pairs of such samples whose means are as
// far apart, if the values are normal. NAN for fewer than three values together.
double chance_of_means(const double *healthy, size_t healthy_count, const double *faulty, size_t faulty_count);

double chance_of_student(double t, size_t freedom); // P(|T| > t) with so many degrees of freedom

// Many quantities of the same runs at once: which of them stand out so far that splits of these runs show any that does
// in at most the share `limit`? Whatever the quantities' distributions, and however they hang together (the largest
// statistic over all quantities, of all splits). With too few runs none does: 5 and 4 runs are needed for 1 %.
typedef struct chance_quantity {
    const double *values[2]; // [runs], the healthy ones first; two views of it of which the milder counts, or one
    double floor;            // least spread
} chance_quantity;
void chance_of_many(const chance_quantity *quantities, size_t count, size_t healthy, size_t faulty, double limit,
                    bool *beyond);

#endif
