// Who sent to whom: matrices of bytes and of waiting, for every kind of report that knows.
#ifndef NETPROF_PAGES_PEERS_H
#define NETPROF_PAGES_PEERS_H

#include "analysis/regions/regions_model.h"
#include "render/base/arena.h"
#include "render/chart/charts_peers.h"
#include "render/document/document.h"

#define PAGES_PEERS_CHARTS "peers-bytes peers-delay peers-latest peers-largest "

#define PAGES_PEERS_BYTES .444 // of the width, for two matrices of one size where the right one has bars
#define PAGES_PEERS_SIDE  158  // of each of these, in pt, so that the table below them finds room

// Nothing where no rank tells what it sent to whom.
void pages_peers_of_regions(document *doc, arena *memory, const regions *r);

// Where a whole row or column of delays is framed: the medians of the rows beside it ...
void pages_peers_set_medians(arena *memory, matrix_style *style, const matrix_cell *cells, size_t count);
// ... and a table of the latest senders, or receivers. Where nothing is framed, or one pair, none is called late.
void pages_peers_add_latest(document *doc, arena *memory, const char *name, const char *of_what,
                            const matrix_style *style, const matrix_cell *cells, size_t count);

#endif
