// Differences over time. A recording reads some counters more often than others; each is differenced against the last
// snapshot that read it, whichever that was.
#ifndef EXPORT_HELD_H
#define EXPORT_HELD_H

#include "netprof.h"

#include <stdbool.h>

typedef struct held_snapshot {
    netprof_snapshot s;
    size_t waiting; // counters of which it is the last reading
} held_snapshot;

// Start from {0}; held_free() at the end.
typedef struct held {
    held_snapshot **items;        // an array of stb_ds
    const netprof_schema *schema; // of the last snapshot; retained
    held_snapshot **latest;       // [counter_count]: who read it last; NULL: nobody
} held;

// Takes the next snapshot. visit() gets each difference that ends with it, and which counters of the snapshot's schema
// it is about: places[i] is the index in the difference's schema of counter i, or (size_t)-1.
typedef void (*held_visit)(void *user, const netprof_delta *delta, const size_t *places);
netprof_err held_take(held *h, const netprof_snapshot *s, held_visit visit, void *user, netprof_error *error);
void held_free(held *h);

#endif
