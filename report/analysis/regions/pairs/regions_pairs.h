// Who sent how much to whom by MPI's calls that name a peer: point to point and one-sided, as libnetprof-mpi.so counted.
// Bytes of collectives are counted for each rank, not by peer: which way the MPI library moves them nobody says. The delay
// is the time in blocking receives and in waits, by the sender of the message that they lasted for: whoever has less to do
// waits longer, so it accuses nobody.
#ifndef NETPROF_REGIONS_PAIRS_H
#define NETPROF_REGIONS_PAIRS_H

#include "analysis/peers/pairs.h"
#include "analysis/regions/regions_model.h"

// False: no file tells (of another kind, or of an older netprof), or ranks of several programs have the same numbers, and *p
// is empty. pairs_free() it.
bool regions_pairs(pairs *p, const regions *r);
// How many of the ranks told; the others' rows are missing.
size_t regions_pairs_told(const regions *r);
// What the rank handed to MPI's collectives.
uint64_t regions_together_bytes(const regions *r, size_t rank);

#endif
