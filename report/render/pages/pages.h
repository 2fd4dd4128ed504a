// The documents: which charts, in which order, with which words. What they show is worked out by the analysis.
#ifndef NETPROF_PAGES_H
#define NETPROF_PAGES_H

#include "analysis/compare/compare.h"
#include "render/document/document.h"
#include "analysis/rules/findings.h"
#include "analysis/nsys/nsys.h"
#include "analysis/regions/regions.h"
#include "pages_kind.h"

extern const pages_kind pages_pair_kind, pages_compare_kind, pages_regions_kind, pages_nsys_kind;

typedef struct pages_pair_input {
    const dataset *set;
    const difference *d;
    const findings *f;
    const rules *rules;
    const char *const *paths; // as given: one or two
    size_t path_count;
    bool brief;    // only the first page
    bool all_nics; // a page for each device
    bool full;     // all the evidence, also where nothing was found
} pages_pair_input;

// What happened between two snapshots.
document *pages_pair(const pages_pair_input *in);

// What differs between healthy and faulty runs. processes: what those of each side measured around their code; NULL, or of
// one side NULL: nothing is known of it.
document *pages_compare(const comparison *c, const regions *const processes[COMPARISON_SIDES], bool brief);

struct nccl_lanes; // nccl_lanes.h

// What the processes of a job measured around their code. collectives: what files of NCCL beside theirs tell; NULL: there
// are none.
document *pages_regions(const regions *r, const struct nccl_lanes *collectives, bool brief);

// How a program used its GPUs, by exports of Nsight Systems.
document *pages_nsys(nsys_job *job, bool brief);

#endif
