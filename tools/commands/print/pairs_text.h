// Who sent how much to whom, as a table of the largest pairs and the words above it.
#ifndef NETPROF_PAIRS_TEXT_H
#define NETPROF_PAIRS_TEXT_H

#include "analysis/peers/pairs.h"

#include <stdio.h>

// Nothing where nothing was sent by calls that name a peer. ranks_told of ranks: whose rows are there.
void pairs_print(FILE *to, const pairs *p, size_t ranks_told, size_t ranks);

#endif
