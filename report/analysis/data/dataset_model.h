// What a data set consists of: runs with their snapshots and deltas, and warnings. dataset.h reads one.
#ifndef NETPROF_DATASET_MODEL_H
#define NETPROF_DATASET_MODEL_H

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

// A device that the first snapshot has, and that was missing in some in between.
typedef struct dataset_absence {
    char *source, *name;
    size_t from, to; // in the snapshots [from, to), counted over all of the file; to 0: it did not come back
} dataset_absence;

// One file, or one part of it. Arrays are stb_ds arrays of the data set and end with it.
typedef struct dataset_run {
    char *path;
    size_t part, parts; // of files put together: which of how many; 0 of 1 otherwise
    dataset_format format;
    const char *host;    // the node's name (dataset_node()), "" if the file does not say
    bool complete;       // false: the file is cut or damaged, see the warnings
    uint64_t skipped;    // snapshots that were left out (dataset_options.ends_only)
    netprof_fact *facts; // of the run
    size_t fact_count;
    netprof_snapshot *snapshots; // in the order of the file; each has its schema
    size_t snapshot_count;
    netprof_delta *deltas;
    size_t delta_count;
    dataset_absence *absences; // also between the snapshots that were left out
    size_t absence_count;
    const netprof_schema *seen; // private: of the last snapshot, also if that was left out
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

// How to read. All zero = defaults.
typedef struct dataset_options {
    const char *names; // path of a list of counter names, one a line, for net_prof's text; NULL: Cassini-1's
    // 1: keep only the first and the last snapshot of a file. Without each(), the snapshots of a .netprof in between are
    // then checked for damage but not decoded.
    int ends_only;
    // Called for each snapshot of a file, index 0 for its first, including those that ends_only drops; run: the file as
    // far as it has been read. An error ends the reading.
    netprof_err (*each)(void *user, const dataset_run *run, size_t index, const netprof_snapshot *snapshot);
    void *user;
    // Limit on the snapshots kept of one file (or part of it), and on the size of a file that is not a .netprof (those
    // are read piece by piece); 0: 1 GiB.
    uint64_t max_bytes;
    uint64_t end_zero;
} dataset_options;

void dataset_remove_run(dataset *set, size_t index);
void dataset_free(dataset *set);
void dataset_run_free(dataset_run *run);                // frees its contents
void dataset_drop_warnings(dataset *set, size_t from);  // all but the first `from`
const char *dataset_format_name(dataset_format format); // ".netprof", "netprof JSON", ...

// The state of a source, NULL: it was not asked for.
const netprof_source_state *dataset_source(const netprof_schema *schema, const char *name);
// Would a device of this source be in the schema if it were there? Not where the source was left out, or could not be read.
bool dataset_could_see(const netprof_schema *schema, const char *source);

// A fact of the run, or else of its first schema; NULL if there is none.
const char *dataset_fact(const dataset_run *run, const char *key);
// The name of the run's node: its pod, else the scheduler's name of the node (one host may have several), else its host
// name; "" if the file has none. schema: of a snapshot that is not in the run yet; may be NULL.
const char *dataset_node(const dataset_run *run, const netprof_schema *schema);

// A delta of the schema, all zero, whose arrays are one block, delta->memory. The schema is not retained.
void dataset_blank_delta(netprof_delta *delta, const netprof_schema *schema);
void dataset_delta_free(netprof_delta *delta); // of a delta that retains its schema

#endif
