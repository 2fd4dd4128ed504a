// The part about time in the report of one file of network counters. Recordings of jobs: pages_job.h.
#ifndef NETPROF_PAGES_SERIES_H
#define NETPROF_PAGES_SERIES_H

#include "document.h"
#include "series.h"

// Adds what happened between the ends of the file; false: no memory.
bool pages_series_part(document *doc, const series *s);

#endif
