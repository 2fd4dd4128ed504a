// Several recordings at once: a line for each.
#ifndef WATCH_OVERVIEW_H
#define WATCH_OVERVIEW_H

#include "recording.h"

// chosen: its line is marked.
void overview_lines(const recording *all, size_t count, size_t chosen, lines *l);

#endif
