// What passed each interface, interval after interval, while it is measured: as sar -n DEV prints it, as CSV, as lines of
// JSON, or as the fields of perf stat -I -x. Each interval leaves at once, whatever reads it.
#ifndef TOOLS_INTERVAL_TABLE_H
#define TOOLS_INTERVAL_TABLE_H

#include "netprof.h"

#include <stdbool.h>
#include <stdio.h>

typedef enum interval_format { INTERVAL_TEXT = 0, INTERVAL_CSV, INTERVAL_JSON, INTERVAL_FIELDS } interval_format;

// Start from zero but for the first five.
typedef struct interval_table {
    FILE *to;
    interval_format format;
    const char *separator; // of INTERVAL_FIELDS
    int64_t origin_ns;     // CLOCK_MONOTONIC; time stamps count from here, 0: they are the time of day
    int64_t step_ns;       // how far the readings are meant to be apart
    netprof_snapshot first, last;
    size_t printed; // intervals
} interval_table;

// The first reading prints nothing, each further one what happened since the one before. Returns an exit code after
// saying what is wrong.
int interval_table_add(interval_table *t, const netprof_snapshot *s);
// The averages over all intervals, where there were several.
int interval_table_average(interval_table *t);
void interval_table_free(interval_table *t);

#endif
