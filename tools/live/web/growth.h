// How fast a journal grows, and what that will come to. Pure. Thread rule: as its owner.
#ifndef LIVE_WEB_GROWTH_H
#define LIVE_WEB_GROWTH_H

#include <stdint.h>

typedef struct growth {
    int64_t since_ns, next_ns; // of two stretches: the one that the rate is of, and the one that takes its place
    uint64_t since, next;      // sizes there, in bytes
    int64_t last_ns;
    uint64_t last;
} growth;

// {0} at first. Where it became smaller (the oldest segments went), it is measured anew.
void growth_note(growth *g, int64_t wall_ns, uint64_t bytes);
double growth_rate(const growth *g); // bytes a second, of the last one to two hours; NAN: less than a minute is known
// "3.20 GB a day: full in 50 days", or that it comes to its limit first; NULL: not known, or it does not grow. free() it.
char *growth_words(const growth *g, uint64_t limit, double free_bytes);

#endif
