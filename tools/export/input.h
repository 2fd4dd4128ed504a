// Files as netprof-export reads them: one snapshot after another, so that a day's recording needs the memory of a few.
#ifndef EXPORT_INPUT_H
#define EXPORT_INPUT_H

#include "dataset.h"

struct export_input {
    const char *path;
    dataset_format format;
    dataset set; // what is not .netprof on a disk is read once and kept
    bool kept;
    bool complete;            // no damage, and ended by its writer
    bool is_regions;          // the file holds regions and no counters; or it is a directory
    uint64_t run;             // its number, 1 for the first file of counters
    char *host;               // "" unknown
    int64_t begin_ns, end_ns; // CLOCK_REALTIME of the first and the last snapshot
    uint64_t snapshots, deltas;
    netprof_fact *facts; // of the run
    size_t fact_count;
    netprof_snapshot first, last; // last: only with several
};

typedef struct input_visitor {
    void *user;
    void (*fact)(void *user, const netprof_fact *fact); // any of these may be NULL
    void (*snapshot)(void *user, const netprof_snapshot *snapshot);
    void (*delta)(void *user, const netprof_delta *delta);
    bool (*stop)(void *user); // asked before each
} input_visitor;

// Opens and looks through the whole file once; damage is said. Returns an exit code after saying what is wrong.
int input_open(struct export_input *in, const char *path, const char *names);
// Everything in the file's order. Returns an exit code.
int input_walk(struct export_input *in, const input_visitor *visitor);
void input_close(struct export_input *in);
// A schema of the run, or NULL. Lives as long as the input.
const netprof_schema *input_schema(const struct export_input *in);

#endif
