// Parts of .netprof files: whole files joined by netprof merge or by cat.
//
// A part begins at a header (netprof.h, 10.1), which no chunk holds by chance, and reaches to the next one. A file that
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
    bool grows;    // a recorder is writing it
} parts;

enum {                   // what a file holds
    PARTS_SNAPSHOTS = 1, // or differences
    PARTS_REGIONS = 2
};

// True if it begins like a .netprof file.
bool parts_is_header(const void *data, size_t size);
// The offset of the first header from `from` on, or size.
size_t parts_next(const void *data, size_t size, size_t from);
size_t parts_count(const void *data, size_t size);

// The parts of a file, opened as base/readable.h says; it is read once, in pieces. _FORMAT: no .netprof; _IO.
netprof_err parts_open(parts *p, const char *path, netprof_error *error);
uint64_t parts_size(const parts *p, size_t part);
// True for an item that is no fault in a file that grows: its end, or the beginning of a chunk before it.
bool parts_is_to_come(const parts *p, size_t part, const netprof_item *item);
#define PARTS_GROWS "still being recorded: this is what it holds so far"
// The state of reading a part.
typedef struct parts_stream {
    int fd; // of the parts, which must stay open
    uint64_t at, end;
} parts_stream;

// The bytes of a part from its begin on, bit by bit, whatever its size; fewer than there were when the file was cut
// meanwhile, which its reader reports. parts_read() is a netprof_read_fn: user is the stream.
parts_stream parts_begin(const parts *p, size_t part);
int parts_read(void *user, void *to, size_t size, size_t *got);
// netprof_reader_open_fn() of it; the stream must live as long as the reader.
netprof_err parts_reader(const parts *p, size_t part, parts_stream *stream, const netprof_limits *limits,
                         netprof_reader **reader, netprof_error *error);
void parts_close(parts *p);

// PARTS_... of a file, by the names of its chunks; 0 when it is no .netprof file. Decodes nothing, and reads no more than
// it must.
unsigned parts_hold(const char *path);

#endif
