// Sums, spreads and chances.
#ifndef NETPROF_PEERS_NUMBERS_H
#define NETPROF_PEERS_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>

// The chance of a value of Student's t this far from 0, on either side.
double peers_student(double t, double freedom);
// The chance that a variance of so much freedom is so many times one of as much as `of`, or more, where both are the same.
double peers_fisher(double ratio, double freedom, double of);
// A value of the middle, of an even number the mean of both; reorders them. NAN of none.
double peers_median(double *values, size_t count);

// What the others vary by: measured within each (noise, from so many values), and between them.
typedef struct peers_error {
    double noise, noise_freedom;     // variance of a mean
    double between, between_freedom; // variance
} peers_error;

// Mean and variance of values without some: without[i] may be NULL.
typedef struct peers_sum {
    double count, mean, variance;
} peers_sum;

peers_sum peers_sum_of(const double *values, size_t count, const bool *without);
// The chance of a difference this large between one value and the mean of `others`.
double peers_chance(double difference, const peers_error *e, double others);
// How often a healthy group of this size may be accused.
double peers_chance_most(size_t count);
// What is between `others` of this variance, after what noise may make of it is taken off and what is usual is added.
peers_error peers_error_of(double variance, double others, double noise, double noise_freedom);

#endif
