// The nodes that a head collects from: what each did in the last quarter of an hour, and how it stands. What is here is read
// while more comes: one thread at a time, under nodes_lock().
#ifndef LIVE_WEB_NODES_H
#define LIVE_WEB_NODES_H

#include "kept.h"
#include "live/wire/frame.h"
#include "meters.h"
#include "stream.h"

#include <stdint.h>

// Of so many nodes (NODES_AT_ONCE) every tick is read as it comes; of more (NODES_FULL), and of what is looked at, once a column;
// of more still those alone that need none before them.
enum { NODES_COLUMNS = 180, NODES_AT_ONCE = 64, NODES_FULL = 1024 };
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

// How long after its reading the last tick of a frame came here, at least, in this minute and the one before it: less than 0
// where the node's clock is ahead of this one.
typedef struct node_delay {
    int64_t minute, least_ns, before_ns; // INT64_MAX: no frame came in it
} node_delay;

typedef struct node {
    char *name, *json, *label;              // as JSON text, with its quotes; as Prometheus has it: {host="NAME"}
    float *values[METERS];                  // mean over each of the columns; NAN: not measured; NULL: none was
    int64_t newest;                         // of the columns that have a place, in columns since 1970
    kept last;                              // the latest reading; its schema is NULL before there is one
    meter_reading now;                      // of the last column
    int64_t tick_ns, interval_ns, heard_ns; // heard: when its last frame came
    uint64_t frames, ticks;
    char version[24]; // of its agent; "": it has not said
    char clock;       // when the agent began: 'y' its kernel knew of a time service, 'n' of none, 0 it has not said
    node_delay delay;
    node_gap *gaps; // of ticks that are lost; the newest last; stb_ds
    // As the head sees it, by its status file.
    bool known;
    int64_t silent_ns; // when it last said so; -1: not since the head was started
    uint64_t behind, lost, durable, bytes;
    size_t rack; // racks.h
    uint64_t rack_generation;
    // Private.
    stream *stream;
    kept base;            // the first reading of the column at hand; none: that is the last one
    int64_t watched_ns;   // when it was asked for last
    unsigned char id[16]; // of its last frame: which stream, what number and time follow on it
    uint64_t next;
    int64_t frame_ns;
    stream_care care;
    bool followed, broken; // every tick was read up to the last one; readings before this one do not lead up to it
} node;

// What lists of all nodes tell of one. The texts live as long as the nodes.
typedef struct node_brief {
    const char *name, *json, *label;
    node_state state;
    int64_t silence_ns, tick_ns, interval_ns; // silence: -1, not heard from since the head was started
    uint64_t behind, lost, durable;
    bool known, measured, has_gpus; // measured: there are values
    char version[24], clock;
    int64_t delay_ns; // INT64_MAX: not known
    double values[METERS];
} node_brief;

typedef struct nodes nodes;

nodes *nodes_open(void);
void nodes_lock(nodes *n);
void nodes_unlock(nodes *n);
// Not locked: it locks where it must. user is the nodes; as journal_tail_take.
void nodes_take(void *user, const char *name, int64_t came_ns, const frame *f, const unsigned char *preamble,
                size_t size);
// Locked, as all that follows.
// All of them, by name, copied, so that long texts are made while others go on; free() it. Not locked: it locks.
node_brief *nodes_briefs(nodes *n, size_t *count);
// Each of them, by name, in turn: locked, but for pauses in which others have their turn. Not locked: it locks.
void nodes_visit(nodes *n, void (*visit)(void *user, node *x), void *user);
size_t nodes_schemas(const nodes *n); // that readings are kept of
size_t nodes_count(const nodes *n);
node *nodes_at(nodes *n, size_t i); // by name
node *nodes_find(nodes *n, const char *name);
node *nodes_make(nodes *n, const char *name);
void node_watch(node *x);                            // somebody looks at it: for a minute every tick of it is read
int64_t node_silence(const node *x, int64_t now_ns); // ns; -1: not heard from since the head was started
// INT64_MAX: no frame came in the last minute.
int64_t node_least_delay(const node *x, int64_t now_ns);
node_state node_state_of(const node *x, int64_t now_ns);
const char *node_state_name(node_state s); // "on_time"
// NAN: not measured, or not yet.
float node_value(const node *x, meter m, int64_t column);
// Of all columns of the last quarter of an hour, the oldest first, up to this one.
void node_values(const node *x, meter m, int64_t last, float to[NODES_COLUMNS]);
void nodes_close(nodes *n);

#endif
