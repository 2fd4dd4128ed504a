// The last readings, for rates and for rules over a window: those with all counters and those of the fast set apart.
#ifndef WATCH_HISTORY_H
#define WATCH_HISTORY_H

#include "netprof.h"

#include <stdbool.h>
#include <stddef.h>

enum { HISTORY_SETS = 2 }; // by netprof_set

// Start from {0} and a window; history_free() at the end.
typedef struct history {
    int64_t window_ns;
    struct history_set {
        netprof_snapshot *items; // oldest first; an array of stb_ds
        size_t count;
    } sets[HISTORY_SETS];
} history;

// Keeps a copy; what is older than the window, but for one, is given up. A reading of another
// host or boot, or before the last, begins anew.
void history_add(history *h, const netprof_snapshot *s);
// The set whose readings are shown: all counters, unless their last reading is much older than the fast set's.
netprof_set history_shown(const history *h);
// The last reading of the shown set, the one before (but for one right before it), and the oldest within the window; false when there are not two.
bool history_last(const history *h, const netprof_snapshot **first, const netprof_snapshot **before,
                  const netprof_snapshot **last);
void history_free(history *h);

#endif
