// Regions by name instead of by path: the same names, wherever they are in the tree.
#ifndef NETPROF_REGIONS_FLAT_H
#define NETPROF_REGIONS_FLAT_H

#include "regions_model.h"

// Each name is a top-level node without children, in the order of the tree. Time in a region within another of the same
// name counts once; its calls count. There are no findings. The regions must live as long as this.
typedef struct regions_flat {
    regions_node *nodes;
    size_t node_count;
    struct regions_store *store; // private
} regions_flat;

void regions_flatten(regions_flat *flat, const regions *r);
void regions_flat_free(regions_flat *flat);

#endif
