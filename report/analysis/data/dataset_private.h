// What the readers of the single formats share.
#ifndef NETPROF_DATASET_PRIVATE_H
#define NETPROF_DATASET_PRIVATE_H

#include "dataset.h"
#include "analysis/base/lookup.h"

// One file on its way into the data set.
typedef struct dataset_input {
    dataset *set;
    const char *path;
    const char *data;
    size_t size;
    uint64_t base;             // where the data begin in the file
    const struct parts *parts; // a .netprof file that is not in memory: then data is NULL ...
    size_t part;               // ... and this part of it is read
    const dataset_options *options;
    uint64_t room; // bytes of snapshots that may still be kept
    netprof_error *error;
    dataset_run run;
} dataset_input;

// line 0: the place is the offset.
void dataset_warn(dataset_input *in, uint64_t line, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// Fills in the error and returns the code.
netprof_err dataset_fail(dataset_input *in, netprof_err code, uint64_t line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
uint64_t dataset_line_at(const dataset_input *in, size_t offset);

netprof_err dataset_add_fact(dataset_input *in, const char *key, const char *value);
// A copy of the snapshot becomes the run's, where snapshots are kept.
netprof_err dataset_add_snapshot(dataset_input *in, const netprof_snapshot *snapshot);
// Likewise; its arrays must be one block from malloc(), kept in delta->memory.
netprof_err dataset_add_delta(dataset_input *in, netprof_delta *delta);
// A delta of the schema, all zero, its arrays one block in delta->memory; the schema is not retained. False: no memory.
bool dataset_blank_delta(netprof_delta *delta, const netprof_schema *schema);
// The same with the schema retained.
netprof_err dataset_make_delta(dataset_input *in, netprof_delta *delta, const netprof_schema *schema);

// Whole file into memory with a NUL behind it; free() it.
netprof_err dataset_slurp(dataset_input *in, const char *path, char **data, size_t *size);

netprof_err dataset_read_json(dataset_input *in); // both kinds
netprof_err dataset_read_net_prof_text(dataset_input *in);

// How the catalog describes a Cassini counter.
netprof_counter dataset_cassini_counter(const char *name);
// First and last stamp of each device become the times between which it was read, and those of the snapshot.
void dataset_times_from_stamps(netprof_snapshot *snapshot);

#endif
