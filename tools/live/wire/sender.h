// What an agent sends, and when: go-back-N. Frames are on their way up to a window; a watermark moves it; what is not
// confirmed in time, or was asked for, is sent again from the first unconfirmed number on. Pure: no clock, network or file.
#ifndef LIVE_SENDER_H
#define LIVE_SENDER_H

#include "frame.h"

enum { SENDER_WINDOW = 4, SENDER_WINDOW_MOST = 64 };

typedef struct sender {
    unsigned char stream[16];
    uint64_t base, head, epoch; // durable up to there, as this head said
    uint64_t next;              // the number to send
    uint32_t credit;
    struct {
        uint64_t first, last;
    } flights[SENDER_WINDOW_MOST];
    unsigned flying;
    int64_t moved_ns, back_ns, timeout_ns; // last progress; last time it went back; how long to wait for progress
    unsigned char given[SHA256_BYTES];     // the preamble that the head was given
    bool has_given;
    uint64_t random, sent, again; // frames sent, and how often it went back
} sender;

// base, head and epoch: what was confirmed before, 0 for nothing.
void sender_begin(sender *s, const unsigned char stream[16], uint64_t base, uint64_t head, uint64_t epoch,
                  uint64_t seed);
// Goes back where the time is over. The number to send now; 0: nothing may be sent now.
uint64_t sender_next(sender *s, int64_t now_ns);
// When to ask again if no watermark comes; INT64_MAX: nothing is on its way.
int64_t sender_patience(const sender *s);
// True: what was confirmed moved on. `written`: the highest number that was ever given.
bool sender_heard(sender *s, const watermark *w, uint64_t written, int64_t now_ns);
// The connection is new: what was on its way may be lost.
void sender_connected(sender *s, int64_t now_ns);

// ---- frames ----

// The first tick of this number or a higher one; as spool_reader_get().
typedef bool (*sender_source)(void *user, uint64_t number, uint64_t high, spool_tick *t);

typedef struct sender_limits {
    unsigned ticks; // of a frame
    size_t bytes;
} sender_limits;

// Makes the next frame, of ticks from the source or of the gap before them, and counts it as sent. False: nothing to send now.
// low, high: of the spool.
bool sender_pack(sender *s, frame_buffer *b, const sender_limits *limits, sender_source get, void *user, uint64_t low,
                 uint64_t high, int64_t now_ns);

#endif
