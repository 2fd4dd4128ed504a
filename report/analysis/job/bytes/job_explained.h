// Bytes explained: what the NICs of a job's nodes moved beside what its programs say they sent to other nodes.
//
// What stays within a node passes no NIC (shared memory). A layer's bytes are payload: headers, acknowledgements and what was
// sent again are in the rest, and so is whatever else ran on the nodes. Bytes that were handed to collectives are no part of
// it: which way the library moved them nobody says.
#ifndef NETPROF_JOB_EXPLAINED_H
#define NETPROF_JOB_EXPLAINED_H

#include "analysis/job/job_model.h"

// Once the lanes and the ranks have their places. MPI's part is that of r->regions; `layers` may hold others'.
void job_explain(job_report *r, const pairs *const *layers, size_t count);
void job_explained_free(job_explained *e);

#endif
