// The document about a job: everything that its nodes did, on one time axis.
#ifndef NETPROF_PAGES_JOB_H
#define NETPROF_PAGES_JOB_H

#include "render/document/document.h"
#include "analysis/job/job_report.h"
#include "analysis/nsys/nsys.h"
#include "render/pages/pages_kind.h"

extern const pages_kind pages_job_kind, pages_job_programs_kind;

struct nccl_lanes; // nccl_lanes.h

// brief: only the first page.
// full: all the evidence, also where nothing on the one node is worth watching.
// collectives: what files of NCCL beside the recordings tell; NULL: there are none.
document *pages_job(const job_report *job, const struct nccl_lanes *collectives, bool brief, bool full);

// Adds how the job's programs used their GPUs, by exports of Nsight Systems, on the job's time axis.
void pages_job_programs(document *doc, const job_report *job, nsys_job *programs);

#endif
