// Who sent to whom: matrices of bytes and of waiting, for every kind of report that knows.
#ifndef NETPROF_PAGES_PEERS_H
#define NETPROF_PAGES_PEERS_H

#include "analysis/regions/regions_model.h"
#include "render/base/arena.h"
#include "render/document/document.h"

#define PAGES_PEERS_CHARTS "peers-bytes peers-delay peers-largest "

// Nothing where no rank tells what it sent to whom.
void pages_peers_of_regions(document *doc, arena *memory, const regions *r);

#endif
