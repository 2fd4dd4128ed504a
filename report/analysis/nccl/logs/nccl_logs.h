// Reading NCCL Inspector logs: from files to the model. Thread rule: one thread at a time per nccl; nccl_read() starts
// threads of its own and ends them.
#ifndef NETPROF_NCCL_LOGS_H
#define NETPROF_NCCL_LOGS_H

#include "nccl_model.h"

// All zero = defaults.
typedef struct nccl_options {
    size_t threads;  // 0: as many as processors may be used
    size_t max_line; // bytes; 0: 16 MiB
    uint64_t part;   // plain files of twice this size are read in parts, by several threads; 0: 32 MiB
    const nccl_peak *peaks;
    size_t peak_count;
    // Called now and then, in the caller's thread, with the bytes on disk that were read, of all. NULL: not called.
    void (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
} nccl_options;

// Reads files, and below directories whatever ends in .log, .jsonl (each also .gz or .zst) or .prom, and computes
// everything. Faults of files and lines are in nccl.files. Errors: _NOSOURCE (no such file, or not one line
// could be used: n->files lists what was looked at), _IO (a path that was named cannot be opened). After
// an error, too, n must be freed.
netprof_err nccl_read(nccl *n, const char *const *paths, size_t count, const nccl_options *options,
                      netprof_error *error);

// Does this look like logs of the Inspector: a directory with such a file below it, or a file whose first lines are
// of a kind that is known? Cheap.
bool nccl_recognise(const char *path);

#endif
