// A piece of a stream, as an index of journals has it. Thread rule: any.
#ifndef LIVE_JOURNAL_STRETCH_H
#define LIVE_JOURNAL_STRETCH_H

#include <stdbool.h>
#include <stdint.h>

// Numbers that follow on those before them: ticks, or a gap. Times of a gap: of the tick before it and of the one behind it.
// Where several heads' journals are one, a frame may reach beyond its stretch on both sides.
typedef struct journal_stretch {
    uint64_t at, first, last;
    int64_t first_ns, last_ns;
    uint32_t segment;
    bool is_gap, has_key; // has_key: with a tick that needs none before it
    unsigned reason;
} journal_stretch;

#endif
