// Shares of the threads' time by regions: a panel of the page of series, and a page of its own.
#ifndef NETPROF_JOB_REGIONS_H
#define NETPROF_JOB_REGIONS_H

#include "pages_job_view.h"

enum { REGION_CURVES = 9 }; // at most: seven named, the others, none

// The layers of one panel, the lowest first; of a node or JOB_ALL_NODES; returns how many.
size_t region_curves(const job_view *v, size_t node, lines_curve *curves);
void job_regions_table(const job_view *v, document *doc); // nothing where there are none
void job_regions_page(job_view *v, document *doc);

#endif
