// What was over the last minutes, as lines of small bars: CPU, memory, and the ports that moved. Of each a few hundred numbers are
// kept, whatever the recording holds. Start from {0}; trails_free() at the end.
#ifndef WATCH_TRAILS_H
#define WATCH_TRAILS_H

#include "lines.h"
#include "netprof.h"
#include "analysis/base/index_map.h"

typedef struct trails_point {
    int64_t ns; // CLOCK_MONOTONIC
    double value;
} trails_point;

typedef struct trails_track {
    char *title;          // safe
    bool share;           // of the whole; otherwise bytes per second
    trails_point *points; // oldest first; an array of stb_ds
    bool there;           // has a last reading
    double last, last_of;
} trails_track;

typedef struct trails {
    int64_t taken_ns, step_ns; // the last reading that was taken, and how long after the one before
    trails_track *tracks;      // arrays of stb_ds, as what follows
    index_map *track_of;
    const netprof_schema *schema; // that the plan is of; retained
    struct trails_plan *plan;
} trails;

void trails_add(trails *t, const netprof_snapshot *s);
// A heading and a line for each; nothing where there are no two numbers yet, or no room.
void trails_lines(const trails *t, lines *l);
// The CPU's line alone, in so many columns; blanks where there are no two numbers yet.
void trails_cpu(const trails *t, lines *l, int columns);
void trails_free(trails *t);

#endif
