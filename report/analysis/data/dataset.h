// Data sets: what one or several files hold, in one shape, whatever program wrote them.
//
// A file is recognised by its content: .netprof, netprof's JSON, net_prof's JSON, or net_prof's raw text
// (lines "value@seconds.nanoseconds"). What is wrong with a file becomes a warning with its place, and
// everything that can be read is there; a file of which nothing can be used is an error. Files that were put together
// (.netprof, parts.h) are one run each.
//
// Thread rule: one thread at a time per data set.
#ifndef NETPROF_DATASET_H
#define NETPROF_DATASET_H

#include "netprof.h"

#include <stdbool.h>

typedef enum dataset_format {
    DATASET_UNKNOWN = 0,
    DATASET_NETPROF,       // .netprof
    DATASET_JSON,          // netprof's JSON
    DATASET_NET_PROF_JSON, // written by net_prof's collect()
    DATASET_NET_PROF_TEXT  // telemetry files one after another, as net_prof reads them
} dataset_format;

typedef struct dataset_warning {
    char *path;
    uint64_t line;   // 1 for the first; 0 when the format has none: then offset holds
    uint64_t offset; // bytes
    char *text;
} dataset_warning;

// What one file, or one part of it, holds. Arrays are the data set's; they end with the data set.
typedef struct dataset_run {
    char *path;
    size_t part, parts; // of files put together: which of how many; 0 of 1 otherwise
    dataset_format format;
    const char *host;    // the node's name (dataset_node()), "" when the file does not tell
    bool complete;       // false: the file is cut or damaged, see the warnings
    uint64_t skipped;    // snapshots that were left out (dataset_options.ends_only)
    netprof_fact *facts; // of the run
    size_t fact_count;
    netprof_snapshot *snapshots; // in the order of the file; each has its schema
    size_t snapshot_count;
    netprof_delta *deltas;
    size_t delta_count;
} dataset_run;

// Start from {0}; dataset_free() at the end.
typedef struct dataset {
    dataset_run *runs; // in the order of reading
    size_t run_count;
    dataset_warning *warnings;
    size_t warning_count;
    uint64_t warnings_dropped; // beyond the first thousand
    size_t regions;            // summaries of regions that were passed over: regions.h reads them
} dataset;

// All zero = defaults.
typedef struct dataset_options {
    const char *names; // path of a list of counter names, one a line, for net_prof's text; NULL: Cassini-1's
    // 1: of the snapshots of a file keep only the first and the last. Without each(), what those of a .netprof between
    // them hold is then not looked at, only whether they are whole.
    int ends_only;
    // Called for each snapshot of a file, index 0 for its first, also for those that ends_only drops; run is what is known
    // of the file until then. An error ends the reading.
    netprof_err (*each)(void *user, const dataset_run *cmd_check_run, size_t index, const netprof_snapshot *snapshot);
    void *user;
    uint64_t
        max_bytes; // of the snapshots kept of one file (or part of it), and of a file in another format than .netprof,
                   // which is read bit by bit; 0: 1 GiB
    uint64_t end_zero;
} dataset_options;

// Adds what the file holds as one more run, of files put together as one each; "-" is the standard input. Errors leave the data set as it was,
// but for warnings: _IO, _FORMAT (not a kind of file that is known), _PARSE (known, but nothing usable in
// it), _LIMIT, _VERSION, _NOMEM; error->path and error->text tell, and error->offset is the line in a text
// file.
netprof_err dataset_read(dataset *set, const char *path, const dataset_options *options, netprof_error *error);
// The same from memory; `name` stands for the path in messages.
netprof_err dataset_read_memory(dataset *set, const char *name, const void *data, size_t size,
                                const dataset_options *options, netprof_error *error);
void dataset_remove_run(dataset *set, size_t index);
void dataset_free(dataset *set);

// Which kind of file begins like this.
dataset_format dataset_recognise(const void *data, size_t size);
const char *dataset_format_name(dataset_format format); // ".netprof", "netprof JSON", ...

// A fact of the run, or else of its first schema; NULL when there is none.
const char *dataset_fact(const dataset_run *cmd_compare_run, const char *key);
// What the run's node is called: its pod, else the name that the scheduler gave the node (several may be on one host),
// else its host name. schema: of a snapshot that is not in the run yet; may be NULL. "" when the file does not tell.
const char *dataset_node(const dataset_run *cmd_convert_run, const netprof_schema *schema);

#endif
