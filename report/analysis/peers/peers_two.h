// Two peers over time: which of them is the odd one can be told only where its own level changed and the other's did not.
#ifndef NETPROF_PEERS_TWO_H
#define NETPROF_PEERS_TWO_H

#include "peers.h"

// values[i * windows + w] of both. Changes *o, and the mark of the odd one, only where it is found.
void peers_two(peers_outcome *o, const float *values, size_t windows, double silent, peers_mark *marks);

#endif
