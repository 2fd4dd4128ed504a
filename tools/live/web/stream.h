// A node's frames as the snapshots that its agent took, while they come. Thread rule: one thread at a time per stream.
#ifndef LIVE_WEB_STREAM_H
#define LIVE_WEB_STREAM_H

#include "live/wire/frame.h"
#include "netprof.h"

typedef struct stream stream;
typedef void (*stream_take)(void *user, const netprof_snapshot *s);
typedef void (*stream_fact)(void *user,
                            const netprof_fact *f); // of those that the agent sends with its schema, again and again

typedef enum stream_care {
    STREAM_KEYS = 0,  // those ticks alone that need none before them, of which there is one in at most 64
    STREAM_BY_COLUMN, // each tick, once a column: it keeps the bytes since the last one that needs none before it
    STREAM_AT_ONCE    // each tick as it comes, which keeps some 200 kB of state
} stream_care;

// column_ns: how long a column is, of the wall clock of the node.
stream *stream_open(int64_t column_ns, stream_fact fact, void *user);
// By column, ticks are taken when the first one of another column has come, and all up to it: those of a column that a tick ends
// which needs none before it are left out.
void stream_frame(stream *s, stream_care care, const frame *f, const unsigned char *preamble, size_t preamble_size,
                  stream_take take, void *user);
void stream_close(stream *s);

#endif
