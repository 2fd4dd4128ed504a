// The part about time in the report of one file of network counters. Recordings of jobs: pages_job.h.
#ifndef NETPROF_PAGES_SERIES_H
#define NETPROF_PAGES_SERIES_H

#include "render/document/document.h"
#include "analysis/data/series.h"
#include "render/pages/pages_kind.h"

extern const pages_kind pages_series_kind;

// Adds what happened between the ends of the file.
void pages_series_part(document *doc, const series *s);

#endif
