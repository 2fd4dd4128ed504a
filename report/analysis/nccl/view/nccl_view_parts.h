// Types and steps that the parts of a view share.
#ifndef NETPROF_NCCL_VIEW_PARTS_H
#define NETPROF_NCCL_VIEW_PARTS_H

#include "nccl_view_memory.h"
#include "analysis/nccl/findings/nccl_counters.h"
#include "analysis/nccl/findings/nccl_findings.h"
#include "analysis/base/memory.h"

typedef struct nccl_view_making {
    nccl_view *v;
    const nccl *n;
    const nccl_findings *f;
    uint32_t *groups;               // of each communicator: the first one of its group
    double *values;                 // room for one number of every instance
    uint32_t main_group, main_coll; // NCCL_NONE: there is nothing
} nccl_view_making;

// A row to be, and the series in it.
typedef struct nccl_view_lot {
    uint32_t group, coll;
    uint64_t size, time_us;
    uint32_t first, count; // in the ordered series
    double share;          // of all rows' time
} nccl_view_lot;

typedef struct nccl_view_sorted_series {
    uint32_t series, group, coll;
    uint64_t size;
} nccl_view_sorted_series;

typedef struct nccl_view_lots {
    nccl_view_sorted_series *sorted;
    uint32_t *series; // in that order
    nccl_view_lot *items;
    size_t count;
} nccl_view_lots;

typedef struct nccl_view_weighed {
    uint64_t weight;
    uint32_t index;
} nccl_view_weighed;

// ---- shared (nccl_view_shared.c) ----

void nccl_view_add_facts(nccl_view_making *m);
const nccl_communicator *nccl_view_communicator(const nccl_view_making *m, const nccl_series *s);
uint64_t nccl_view_unusable_lines(const uint64_t outcomes[NCCL_OUTCOMES]);
bool nccl_view_is_damaged(const nccl_file *f);
bool nccl_view_takes_part(const nccl *n, const nccl_communicator *c, uint32_t process);
nccl_view_process nccl_view_process_row(nccl_view_making *m, uint32_t index);
// The series of the main collective that the chart over the run shows; NULL: none.
const nccl_series *nccl_view_series_over_run(const nccl_view_making *m);
// The cell of 0 .. max that contains the value; values outside go to the first or last cell.
size_t nccl_view_place(double at, double max, size_t cells);
int nccl_view_by_weight(const void *a, const void *b); // of nccl_view_weighed: the heaviest first, of equals the first

// ---- the parts, in the order in which they are made ----

void nccl_view_add_findings(nccl_view_making *m); // nccl_view_words.c
void nccl_view_make_groups(nccl_view_making *m);  // nccl_view_collectives.c
void nccl_view_make_lots(nccl_view_making *m, nccl_view_lots *l);
void nccl_view_free_lots(nccl_view_lots *l);
void nccl_view_choose_main(nccl_view_making *m, const nccl_view_lots *l);
void nccl_view_add_rows(nccl_view_making *m, const nccl_view_lots *l);
void nccl_view_add_sizes(nccl_view_making *m, const nccl_view_lots *l);
void nccl_view_add_completeness(nccl_view_making *m); // nccl_view_late.c
void nccl_view_add_late(nccl_view_making *m);
void nccl_view_add_run(nccl_view_making *m); // nccl_view_calls.c
void nccl_view_add_kinds(nccl_view_making *m);
void nccl_view_add_series(nccl_view_making *m); // nccl_view_lists.c
void nccl_view_add_processes(nccl_view_making *m);
void nccl_view_add_gone(nccl_view_making *m);
void nccl_view_add_pairs(nccl_view_making *m);
void nccl_view_add_paths(nccl_view_making *m);
void nccl_view_add_files(nccl_view_making *m);
void nccl_view_add_comparison(nccl_view_making *m, const nccl_comparison *c);
void nccl_view_add_metrics(nccl_view_making *m);
void nccl_view_add_counters(nccl_view_making *m, const nccl_counters *c); // nccl_view_nics.c
void nccl_view_add_matrices(nccl_view_making *m);                         // nccl_view_matrix.c
void nccl_view_add_waits(nccl_view_making *m);                            // nccl_view_waits.c
void nccl_view_add_adapters(nccl_view_making *m);
const char *nccl_view_title(nccl_view_making *m); // nccl_view_words.c, after all others
void nccl_view_say_all(nccl_view_making *m);

#endif
