// The nodes that a head collects from: what each did in the last quarter of an hour, and how it stands. What is here is read
// while more comes: one thread at a time, under nodes_lock().
#ifndef LIVE_WEB_NODES_H
#define LIVE_WEB_NODES_H

#include "live/wire/frame.h"
#include "meters.h"
#include "stream.h"

#include <stdint.h>

enum { NODES_COLUMNS = 180, NODES_FULL = 1024 }; // NODES_FULL: nodes of which every tick is read
static const int64_t nodes_column_ns = 5000000000;

typedef enum node_state {
    NODE_ON_TIME = 0,
    NODE_LATE,   // not heard from for more than three of its intervals
    NODE_BEHIND, // it has ticks that are not here
    NODE_LOST,   // ticks of it are no more
    NODE_SILENT, // not heard from for 30 s
    NODE_STATES
} node_state;

typedef struct node_gap {
    int64_t from_ns, to_ns;
    uint64_t ticks;
    unsigned reason;
} node_gap;

typedef struct node {
    char *name;
    float values[METERS][NODES_COLUMNS];    // mean over a column; NAN: not measured
    int64_t columns[NODES_COLUMNS];         // which column each place is of, in columns since 1970
    netprof_snapshot last;                  // the latest reading; its schema is NULL before there is one
    meter_reading now;                      // of the last column
    int64_t tick_ns, interval_ns, heard_ns; // heard: when its last frame came
    uint64_t frames, ticks;
    node_gap *gaps; // of ticks that are lost; the newest last; stb_ds
    // As the head sees it, by its status file.
    bool known;
    int64_t silent_ns; // when it last said so; -1: not since the head was started
    uint64_t behind, lost, durable, bytes;
    // Private.
    stream *stream;
    netprof_snapshot base; // the first reading of the column at hand
} node;

typedef struct nodes nodes;

nodes *nodes_open(void);
void nodes_lock(nodes *n);
void nodes_unlock(nodes *n);
// Not locked: it locks where it must. user is the nodes; as journal_tail_take.
void nodes_take(void *user, const char *name, int64_t came_ns, const frame *f, const unsigned char *preamble,
                size_t size);
// Locked, as all that follows.
size_t nodes_count(const nodes *n);
node *nodes_at(nodes *n, size_t i); // by name
node *nodes_find(nodes *n, const char *name);
node *nodes_make(nodes *n, const char *name);
int64_t node_silence(const node *x, int64_t now_ns); // ns; -1: not heard from since the head was started
node_state node_state_of(const node *x, int64_t now_ns);
const char *node_state_name(node_state s); // "on_time"
// NAN: not measured, or not yet.
float node_value(const node *x, meter m, int64_t column);
void nodes_close(nodes *n);

#endif
