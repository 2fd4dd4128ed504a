// NCCL's calls on the axis of time of a run with regions, below the time that its ranks spent in MPI.
#ifndef NETPROF_PAGES_REGIONS_COLLECTIVES_H
#define NETPROF_PAGES_REGIONS_COLLECTIVES_H

#include "analysis/regions/regions_model.h"
#include "render/base/arena.h"
#include "render/document/document.h"

struct nccl_lanes;
void pages_regions_collectives(document *doc, arena *memory, const regions *r, const struct nccl_lanes *collectives);

#endif
