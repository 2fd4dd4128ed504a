// Files as netprof-export reads them: one snapshot after another, so that a day's recording needs the memory of a few.
#ifndef EXPORT_INPUT_H
#define EXPORT_INPUT_H

#include "analysis/data/clocks.h"
#include "analysis/data/dataset.h"
#include "analysis/data/file_parts.h"

// A file: several, when netprof merge or cat put them together.
typedef struct input_file {
    const char *path;
    parts parts; // of .netprof on a disk: read again and again, as it was at first
    dataset set; // what else there is, which is read once and kept
    bool kept;
    size_t count; // of its parts
} input_file;

struct export_input {
    const char *path;
    input_file *file;
    size_t part;
    dataset_format format;
    bool complete;            // no damage, and ended by its writer
    bool is_regions;          // the file holds regions and no counters
    bool has_calls;           // NCCL's, as tables of events
    uint64_t run;             // its number, 1 for the first file of counters
    char *host, *node;        // "" unknown; the node is the host unless the file names it otherwise
    int64_t begin_ns, end_ns; // of the first and the last snapshot, on the axis
    clocks_axis axis;
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

// Return exit codes after saying what is wrong.
int input_file_open(input_file *f, const char *path, const char *names);
void input_file_close(input_file *f);
// Reads one part once; warns of damage.
int input_open(struct export_input *in, input_file *file, size_t part);
// Everything in the file's order. Returns an exit code.
int input_walk(struct export_input *in, const input_visitor *visitor);
void input_close(struct export_input *in);

#endif
