// Data sets: the contents of one or several files in one shape, whichever program wrote them.
//
// A file is recognised by its content: .netprof, netprof's JSON, net_prof's JSON, or net_prof's raw text
// (lines "value@seconds.nanoseconds"). Faults of a file become warnings with their place, and everything readable is
// kept; a file with nothing usable is an error. Files joined into one (.netprof, file_parts.h) are one run each.
//
// Thread rule: one thread at a time per data set.
#ifndef NETPROF_DATASET_H
#define NETPROF_DATASET_H

#include "dataset_model.h"

// All zero = defaults.
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

// Adds the file's contents as one more run, or as one run for each file joined in it; "-" is the standard input. Errors
// leave the data set as it was, except for warnings: _IO, _FORMAT (unknown kind of file), _PARSE (known, but nothing
// usable in it), _LIMIT, _VERSION; see error->path and error->text; error->offset is the line in a text file.
netprof_err dataset_read(dataset *set, const char *path, const dataset_options *options, netprof_error *error);
// The same from memory; `name` is used as the path in messages.
netprof_err dataset_read_memory(dataset *set, const char *name, const void *data, size_t size,
                                const dataset_options *options, netprof_error *error);

// The kind of a file that begins like this.
dataset_format dataset_recognise(const void *data, size_t size);

#endif
