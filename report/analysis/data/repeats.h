// The same work done several times: what each run took and moved, side by side.
//
// Thread rule: one thread at a time per set of repeats.
#ifndef NETPROF_REPEATS_H
#define NETPROF_REPEATS_H

#include "difference.h"

// One quantity over the runs. Of the command (time, memory): source and device are "".
typedef struct repeats_row {
    char *source, *device, *counter, *unit;
    bool trouble;   // a counter of errors, drops or repetition
    bool physical;  // of a port
    bool repeated;  // another device counts the same bytes
    double *values; // one for each run, NAN: not known; an stb_ds array
} repeats_row;

// Start from {0}.
typedef struct repeats {
    repeats_row *rows; // an stb_ds array
    size_t runs;
    const netprof_schema **schemas; // of each run, NULL: nothing was read; an stb_ds array, private
} repeats;

// One more run. d: what the node did in it; NULL, or without a delta: nothing is known of it. Its traffic and its
// counters of trouble are put.
void repeats_add(repeats *r, const difference *d);
// A quantity of the command in the newest run.
void repeats_put(repeats *r, const char *counter, const char *unit, double value);
// Did it have a value other than 0 in any run?
bool repeats_moved(const repeats_row *row);
void repeats_free(repeats *r);

#endif
