// A node's frames as the snapshots that its agent took, while they come. Thread rule: one thread at a time per stream.
#ifndef LIVE_WEB_STREAM_H
#define LIVE_WEB_STREAM_H

#include "live/wire/frame.h"
#include "netprof.h"

typedef struct stream stream;
typedef void (*stream_take)(void *user, const netprof_snapshot *s);

stream *stream_open(void);
// every: each tick, which keeps some 200 kB of state; else only those that need none before them, of which there is one in at
// most 64.
void stream_frame(stream *s, bool every, const frame *f, const unsigned char *preamble, size_t preamble_size,
                  stream_take take, void *user);
void stream_close(stream *s);

#endif
