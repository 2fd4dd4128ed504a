// A head's directory, as whoever writes it and whoever reads it see it.
//
//     lock                    held while a head runs
//     head                    who it is: id and the epoch of its last run
//     journal/NUMBER.segment  seglog files: rows, then what came, in its order
//     preambles               a seglog file: what frames build on, once each
//     sessions/NAME.json      sessions
//     status.json             what the head sees, every 2 s
//
// Thread rule: any.
#ifndef LIVE_JOURNAL_MODEL_H
#define LIVE_JOURNAL_MODEL_H

#include <stdint.h>

// Kinds of a segment's entries; the number of an entry is that of its row.
enum journal_kind {
    JOURNAL_ROW = 1,   // a node's stream: 16 bytes of stream, u64 durable so far, the node's name; the entry's time is
                       // when it was heard from. From here on the row is of this stream
    JOURNAL_FRAME = 2, // a frame as it came, but for its preamble; the entry's time is when
    JOURNAL_ELSEWHERE = 3, // u64 first, u64 last: another head has these
    JOURNAL_PREAMBLE = 4,  // in the file of preambles: SHA-256, preamble
    JOURNAL_MISSING = 5 // after a row: i64 since when its missing ticks are counted, u64 up to which number, then a u64
                        // for each reason
};

typedef struct journal_segment {
    uint64_t number, bytes;
} journal_segment;

// The stream's 16 bytes as text, then the node's name; free() it.
char *journal_stream_key(const char *node, const unsigned char stream[16]);
char *journal_segment_path(const char *directory, uint64_t number); // free() it
// Those that there are, in order; an stb_ds array. 0 or an errno.
int journal_segments_list(const char *directory, journal_segment **out);

#endif
