// Mean, maximum and percentiles of each counter's rate, and of each gauge, per node. Thread rule: one thread.
#ifndef LIVE_SESSION_STATISTICS_H
#define LIVE_SESSION_STATISTICS_H

#include "live/journal/sessions.h"

// `directories`: as session_heads_split() takes them. Prints them as a table, and another of how many readings of each node there
// are, from when to when, and how many are missing and why. Returns an exit code after saying what is wrong.
int session_statistics(const char *directories, const session *s, int64_t now_ns, bool as_json);

#endif
