// Files that programs write: one set of rules for all of them.
//
//     - "-" is the standard output.
//     - A regular file appears whole or not at all: a temporary file beside it, fsync, rename, fsync of the directory.
//       A symbolic link stays and its target is replaced. A file that is replaced passes on its mode and, where we may,
//       its owner.
//     - Devices, sockets, named pipes, and what only looks like a file (/dev/stdout, /dev/fd/N, /proc/...) are written in
//       place: nothing is ever renamed over them.
//     - The superuser uses no symbolic link, named pipe or socket that belongs to somebody else, who could have put it
//       there to have a file replaced or read.
//     - A file that was read as input is no output: output_file_is().
//
// Thread rule: one thread at a time per output_file.
#ifndef NETPROF_OUTPUT_FILE_H
#define NETPROF_OUTPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What a path leads to. Start from {0}; output_place_free().
typedef struct output_place {
    char *target;  // with links followed; what is replaced, or written in place
    bool standard; // "-"
    bool in_place; // not a file that could be replaced; standard output included
    bool is_pipe;
    bool exists; // a regular file is there ...
    unsigned mode;
    int64_t owner, group; // ... with these
    char refused[160];    // why it may not be written, "" when it may
} output_place;

// False: see refused.
bool output_place_find(output_place *p, const char *path);
void output_place_free(output_place *p);
// Opens a place that is written in place; -1 with errno.
int output_place_open(const output_place *p, void (*waits)(const char *path, int begins));
// Creates a temporary file beside the target, with the mode and owner that the target has, or shall have; -1 with errno.
// *name: its path, to be freed.
int output_place_beside(const output_place *p, char **name);
// Gives a finished temporary file its name. Returns 0 or an errno.
int output_place_publish(const output_place *p, const char *temporary);

// Is it the same file as one that is read? False where one of the two does not exist.
bool output_file_is(const char *output, const char *input);

typedef struct output_file output_file;

// NULL: *why says why not, with errno's text; a static or thread-local text, valid until the next call.
output_file *output_file_open(const char *path, void (*waits)(const char *path, int begins), const char **why);
int output_file_write(void *file, const void *data, size_t size); // a netprof_write_fn: 0 or an errno
int output_file_descriptor(const output_file *file);
// keep = false drops what was written (in place: leaves it). Returns 0 or an errno, that of an earlier write included.
int output_file_close(output_file *file, bool keep);

// For programs: a file-size limit, and a reader that goes away, are errors of the write and do not end the program.
void output_file_signals(void);
// For a program that is started by ours, between fork and exec: as it was before.
void output_file_signals_restore(void);

// A file without a name, empty, for reading and writing, that is gone when it is closed and that started programs do not
// get: memory (Linux 3.17), and where the kernel lacks that, a file in $TMPDIR or /tmp. `what` is for people who look at
// /proc. -1, and errno: neither.
int output_file_nameless(const char *what);

#endif
