// How long this process was inside MPI over time, in as few numbers as tell a rank that is always late from ranks that
// are late in turn, and both from chance: at most BLOCKS_MOST stretches of the wall clock, all of one length, a power of
// two of nanoseconds; whenever they are too few, the length doubles. The stretches of all ranks begin at multiples of
// their length, so the shorter ones add up to the longer ones, and no rank needs to know of another.
#pragma once

#include <stdint.h>

enum { BLOCKS_MOST = 64, BLOCKS_SHIFT = 24 }; // the first length: 2^24 ns, 17 ms

// Starts as {0}. Thread: one at a time.
typedef struct blocks {
    int shift;     // of the length; 0: nothing was added
    int64_t first; // the number of the first block: the wall clock divided by the length
    uint64_t inside_ns[BLOCKS_MOST];
    int count;
} blocks;

void blocks_add(blocks *b, int64_t from_ns, int64_t to_ns); // nothing before the first block counts
enum { BLOCKS_TEXT = 6 * BLOCKS_MOST + 1 };
void blocks_text(const blocks *b, char text[BLOCKS_TEXT]); // ten-thousandths of a block: "0,125,10000"
