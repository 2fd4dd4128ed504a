// Parts of .netprof files: whole files put behind one another, by netprof merge or by cat.
//
// A part begins at a header (netprof.h, 7.16), which no chunk holds by chance, and reaches to the next one. A file that
// nobody put together is one part.
//
// Thread rule: one thread at a time per list of parts.
#ifndef NETPROF_PARTS_H
#define NETPROF_PARTS_H

#include "netprof.h"

#include <stdbool.h>

// Start from {0}; parts_close() at the end.
typedef struct parts {
    int fd; // private
    bool open;
    uint64_t *at; // [count]: offsets, rising; at[0] is 0
    size_t count;
    uint64_t size; // of the whole file
} parts;

enum { // what a file holds
    PARTS_SNAPSHOTS = 1, // or differences
    PARTS_REGIONS = 2
};

// Does it begin like a .netprof file?
bool parts_is_header(const void *data, size_t size);
// The offset of the first header behind `from`, or size.
size_t parts_next(const void *data, size_t size, size_t from);
size_t parts_count(const void *data, size_t size);
// Are there regions among its chunks? By their names.
bool parts_data_hold_regions(const void *data, size_t size);

// The parts of a regular file; it is read once, in pieces. _FORMAT: no .netprof, or no regular file; _IO, _NOMEM.
netprof_err parts_open(parts *p, const char *path, netprof_error *error);
uint64_t parts_size(const parts *p, size_t part);
// The bytes of one part with a 0 behind them: free() them. _LIMIT: there are more than max_bytes; _IO, _NOMEM.
netprof_err parts_load(const parts *p, size_t part, uint64_t max_bytes, char **data, size_t *size, netprof_error *error);
void parts_close(parts *p);

// PARTS_... of a file, by the names of its chunks; 0 when it is no .netprof file. Reads little of it.
unsigned parts_hold(const char *path);

#endif
