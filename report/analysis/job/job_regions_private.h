// What processes sampled of their own regions: job_regions.c.
#ifndef NETPROF_JOB_REGIONS_PRIVATE_H
#define NETPROF_JOB_REGIONS_PRIVATE_H

#include "job_report_private.h"

// A snapshot of a file of theirs (regions_series()), index 0 for its first.
netprof_err job_take_regions(job_report *r, const dataset_run *run, size_t index, const netprof_snapshot *snapshot);
void job_region_series_free(job_report *r); // what is kept while one is read
// Behind the last file, when nodes and clocks are known.
void job_place_regions(job_report *r);
void job_regions_free(job_report *r);
void job_places_free(job_region_place *places, size_t count);

#endif
