// Runs of nodes: which files belong together.
//
// A file with several snapshots is a run from its first to its last; a file with one difference is a run; a file with
// one snapshot is the begin of a run whose end is the next file of the data set with one snapshot of the same host. A
// snapshot that finds no partner, or one that is earlier than its begin, is an error.
//
// Thread rule: one thread at a time per list.
#ifndef NETPROF_RUNS_H
#define NETPROF_RUNS_H

#include "difference.h"

typedef struct node_run {
    const dataset_run *first, *last; // the same when one file holds the whole run
    char *label;                     // the path, or of two files "BEFORE, AFTER"; hostile text
    int64_t wall_ns;                 // when it began, ns since 1970; 0 unknown
    int64_t elapsed_ns;              // the longest of its counters'; 0 unknown
    bool damaged;                    // parts of its files are missing
    difference d;
} node_run;

// Start from {0}; runs_free() at the end.
typedef struct run_list {
    node_run **items; // in the order of the files
    size_t count;
} run_list;

// The runs of a data set, which must outlive them. force: also across boots of a node. Errors: _ARG, _MISMATCH (two
// boots); see error->path and error->text.
netprof_err runs_of_dataset(run_list *list, const dataset *set, bool force, netprof_error *error);
void runs_free(run_list *list);

#endif
