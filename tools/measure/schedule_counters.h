// How well a schedule is kept, as counters of the recording itself: ticks that were missed, and how late the last one was.
// Thread rule: as the context.
#ifndef TOOLS_SCHEDULE_COUNTERS_H
#define TOOLS_SCHEDULE_COUNTERS_H

#include "record.h"

// The row must live as long as the context. Returns an exit code after saying what is wrong.
int schedule_add_counters(netprof *np, schedule_row *row, const char *device);

#endif
