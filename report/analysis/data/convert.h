// A data set as a file of another format.
//
// Thread rule: one thread at a time per data set.
#ifndef NETPROF_CONVERT_H
#define NETPROF_CONVERT_H

#include "dataset.h"
#include "netprof.h"

typedef enum convert_format {
    CONVERT_UNKNOWN = 0,
    CONVERT_NETPROF,       // .netprof
    CONVERT_JSON,          // netprof's JSON
    CONVERT_NET_PROF_JSON, // as net_prof's collect() writes it: one snapshot, Cassini devices only
    CONVERT_CSV            // long and tidy: a row for each value, RFC 4180
} convert_format;

// By the ending of a file's name (".netprof", ".json", ".csv"), or by its own name: "netprof", "json",
// "net_prof", "csv".
convert_format convert_format_of_path(const char *path);
convert_format convert_format_named(const char *name);

// All zero = defaults.
typedef struct convert_options {
    size_t snapshot;  // for net_prof's JSON: which one, 1 for the first of the first run; 0: the only one
    int u64_strings;  // JSON: values as strings
    size_t *left_out; // when not NULL: how many values the format has no place for (net_prof's JSON)
    uint64_t end_zero;
} convert_options;

// Writes everything in the data set: runs one after another. CSV has snapshots only. Errors: _ARG (the format
// cannot hold this: error->text), _IO.
netprof_err convert_write(const dataset *set, convert_format format, const convert_options *options,
                          netprof_write_fn write, void *user, netprof_error *error);

#endif
