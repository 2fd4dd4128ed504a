// Mean, maximum and percentiles of each counter's rate, and of each gauge, per node. Thread rule: one thread.
#ifndef LIVE_SESSION_STATISTICS_H
#define LIVE_SESSION_STATISTICS_H

#include "live/journal/sessions.h"

// Prints them as a table. Returns an exit code after saying what is wrong.
int session_statistics(const char *directory, const session *s, int64_t now_ns);

#endif
