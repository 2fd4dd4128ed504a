// Samples for a report alone: as often as fits the run's length, which nobody knows before, and kept in memory.
#ifndef TOOLS_RUN_SAMPLES_H
#define TOOLS_RUN_SAMPLES_H

#include "run_model.h"

enum { RUN_SAMPLES_MS = 100, RUN_SAMPLES_MOST = 600 }; // the first interval; as many as a page can show

void run_samples_take(execution *e);
// Puts what is left of them into the file, with both ends.
void run_samples_write(execution *e);
void run_samples_free(execution *e);

#endif
