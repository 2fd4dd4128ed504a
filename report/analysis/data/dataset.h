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
