// Regions over time, as processes sampled them of themselves.
#ifndef NETPROF_JOB_REGION_TIMES_H
#define NETPROF_JOB_REGION_TIMES_H

#include "analysis/data/dataset.h"
#include "job_model.h"

// Which share of the threads' time went to a region (an index in region_times) itself, without those within; node: an
// index or JOB_ALL_NODES. NAN: nobody was sampled, or less than half of the stretch.
double job_region_share(const job_report *r, size_t region, size_t node, double from_s, double to_s);
// Processes whose regions are known over time, and how long their threads lived (seconds).
size_t job_region_ranks(const job_report *r, size_t node);
double job_region_threads(const job_report *r);

// ---- private to the job report ----

// A snapshot of a file of theirs (regions_series()), index 0 for its first.
void job_take_regions(job_report *r, const dataset_run *run, size_t index, const netprof_snapshot *snapshot);
void job_region_series_free(job_report *r); // what is kept while one is read
// Call after the last file, once nodes and clocks are known.
void job_place_regions(job_report *r);
void job_regions_free(job_report *r);
void job_places_free(job_region_place *places); // stb_ds

#endif
