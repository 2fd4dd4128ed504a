// From when to when a level is another one.
#ifndef NETPROF_PEERS_ONSET_H
#define NETPROF_PEERS_ONSET_H

#include <stddef.h>

typedef struct peers_stretch {
    size_t from, to; // to: the first value after it
} peers_stretch;

// The stretch of `count` values, none of them below 0, whose level differs from that of the rest: by maximum likelihood,
// with noise that is the same on both levels or that goes with the level, whichever fits better. To the end, unless one
// that ends before tells much more. Its edges are where most of the likelihood is within two values. `least`: so many
// values are in it, and outside.
peers_stretch peers_onset(const double *values, size_t count, size_t least);

// How far its level is from that of the rest, in standard deviations of what the values vary by within both; INFINITY where
// it is all of them.
double peers_onset_height(const double *values, size_t count, peers_stretch x);

// The same by how much likelier the values are with this stretch than without any: the root of twice the logarithm.
double peers_onset_evidence(const double *values, size_t count, peers_stretch x);

// What a peer did, in logarithms, beside what the others did there in the mean, as far as it moved with them: in place, no
// logarithm any more.
void peers_onset_beside(double *own, const double *others, size_t count);

#endif
