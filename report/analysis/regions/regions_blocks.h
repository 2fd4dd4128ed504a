// The stretches that libnetprof-mpi.so keeps of each rank.
#ifndef NETPROF_REGIONS_BLOCKS_H
#define NETPROF_REGIONS_BLOCKS_H

#include "regions_model.h"

// From the facts of a file (mpi_began_ns, ...). False: there are none, or none that make sense; *b is then empty.
bool regions_blocks_read(regions_blocks *b, const netprof_fact *facts, size_t count);
// How long the rank was inside MPI between two points of the wall clock.
double regions_blocks_inside(const regions_blocks *b, double from_ns, double to_ns);
// The stretch that all ranks have. False: one lacks blocks, or they have less than half of the longest run in common.
bool regions_blocks_common(const regions *r, double *from_ns, double *to_ns);

#endif
