// From the node to the spool: readings as the chunks of a .netprof file, the facts and the schema apart as the preamble.
// Thread rule: one thread at a time.
#ifndef LIVE_TICKS_H
#define LIVE_TICKS_H

#include "live/spool/spool.h"
#include "netprof.h"

typedef struct ticks ticks;

// The facts stand before the schema in each preamble; what they point to must live as long.
ticks *ticks_open(spool *to, const netprof_fact *facts, size_t count);
// 0; an errno of the spool, and then this reading is a gap; -1: the library failed, and nothing was numbered.
int ticks_put(ticks *t, const netprof_snapshot *snapshot);
void ticks_close(ticks *t);

#endif
