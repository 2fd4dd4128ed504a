// What is forwarded, how far it went, and what became of it. Thread rule: one thread.
#ifndef LIVE_FORWARD_MODEL_H
#define LIVE_FORWARD_MODEL_H

#include "live/journal/sessions.h"
#include "target.h"

#include <signal.h>

typedef struct forward_node {
    char *key;     // its name
    int64_t value; // the last interval that was forwarded, by number since 1970
} forward_node;

typedef struct forward_counts {
    uint64_t sent, refused, dropped, failed; // lines, lines, intervals of a node, attempts
} forward_counts;

typedef struct forward_left_out {
    char *key;     // the name of a node whose lines could not be made
    int64_t value; // when that is tried again, wall clock
} forward_left_out;

typedef struct forward {
    const char *directory;      // the head's
    char *work;                 // an absolute path: recordings and lines
    session filter;             // nodes, sources, counters, interval
    int64_t lag_ns, keep_ns;    // how long readings may take to come; how long what is refused is tried again
    const char *cluster;        // a tag of each line; NULL: none
    const char **tags;          // more, stb_ds
    bool ns;                    // stamps in nanoseconds, else in seconds
    target *lines, *findings;   // or NULL
    const char *index;          // of Elasticsearch
    forward_node *nodes;        // stb_ds
    forward_left_out *left_out; // stb_ds
    int64_t first;              // of nodes that are new: the interval before the first that is forwarded
    forward_counts line_counts, finding_counts;
    const sigset_t *stop;
    bool ended;
} forward;

// Says a failure when it begins and when it is over. `was`: the state that is kept.
void forward_say(bool *was, const target *t, bool fails, const forward_counts *c, const char *noun);
char *forward_state_path(const forward *f); // of the numbers of intervals; free() it
void forward_read_state(forward *f);
int forward_write_state(const forward *f); // 0 or an errno
void forward_free(forward *f);

#endif
