// From the spool to the head: a thread of its own, so that no network and no disk delays a reading.
// Thread rule: one thread.
#ifndef LIVE_SENDING_H
#define LIVE_SENDING_H

#include "live/bus/bus.h"
#include "live/spool/spool.h"

typedef struct sending sending;

typedef struct sending_options {
    const char *cluster, *node, *directory; // of the spool
    const unsigned char *stream;
    bus_options bus;      // but for who it is, where it joins
    const char *token;    // with which it joins at a head's own server; NULL: none
    unsigned batch;       // ticks of a frame
    int64_t every_ns;     // frames with fewer ticks go so often
    int64_t sync_ns;      // how often the spool is forced to the disk
    uint64_t bytes_per_s; // at most, to catch up
    uint64_t low, high;   // of the spool
} sending_options;

typedef struct sending_state {
    uint64_t confirmed, frames, again;
    bool up;
    char problem[160];
} sending_state;

// NULL: *why says why not; free() it.
sending *sending_open(const sending_options *o, char **why);
// There are ticks up to `high`. Returns up to where the head has them.
uint64_t sending_tell(sending *s, uint64_t low, uint64_t high);
void sending_look(sending *s, sending_state *state);
// Sends what is left and waits until it is confirmed, as long as the server is there, at most so long.
void sending_finish(sending *s, int64_t patience_ns);
void sending_close(sending *s);

#endif
