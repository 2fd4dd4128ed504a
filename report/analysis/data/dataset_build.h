// How the readers of the single formats add to a data set.
#ifndef NETPROF_DATASET_BUILD_H
#define NETPROF_DATASET_BUILD_H

#include "dataset_model.h"

// One file while it is read into the data set.
typedef struct dataset_input {
    dataset *set;
    const char *path;
    const char *data;
    size_t size;
    uint64_t base;             // offset of the data in the file
    const struct parts *parts; // a .netprof file that is not in memory: data is NULL, and ...
    size_t part;               // ... this part of it is read
    const dataset_options *options;
    uint64_t room; // bytes of snapshots that may still be kept
    netprof_error *error;
    dataset_run run;
} dataset_input;

// The place is the line, or the offset if line is 0.
void dataset_warn(dataset_input *in, uint64_t line, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
// Fills in the error and returns the code.
netprof_err dataset_fail(dataset_input *in, netprof_err code, uint64_t line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
uint64_t dataset_line_at(const dataset_input *in, size_t offset);

void dataset_add_fact(dataset_input *in, const char *key, const char *value);
// Adds a copy of the snapshot where snapshots are kept.
netprof_err dataset_add_snapshot(dataset_input *in, const netprof_snapshot *snapshot);
// Notes what devices snapshot `index` of the file has: those of the first one that are missing. dataset_add_snapshot()
// does it by itself.
void dataset_note_devices(dataset_input *in, size_t index, const netprof_schema *schema);
// Adds the delta itself; its arrays must be one block from malloc(), kept in delta->memory.
netprof_err dataset_add_delta(dataset_input *in, netprof_delta *delta);
// dataset_blank_delta() with the schema retained.
void dataset_make_delta(netprof_delta *delta, const netprof_schema *schema);

// Limit of bytes that the options set.
uint64_t dataset_max_bytes(const dataset_options *options);
// Reads a whole file into memory and adds a NUL; free() it.
netprof_err dataset_slurp(dataset_input *in, const char *path, char **data, size_t *size);

#endif
