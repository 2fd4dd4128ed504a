// What was read when somebody last asked: netprof diff --since-last, as nstat(8) keeps it. One file for each user and host.
#ifndef TOOLS_LAST_READING_H
#define TOOLS_LAST_READING_H

#include "analysis/data/dataset.h"

// Reads the node, puts the reading that was kept before and the one of now into the data set, and keeps the latter in
// their place. state: the file, NULL: the user's own. Returns an exit code after saying what is wrong; EXIT_NOTHING, after
// saying so, where there was none of this boot.
int last_reading_exchange(dataset *set, const char *state);

#endif
