// The files of a spool: FIRST.segment, where FIRST is the number of the first tick, in 20 digits. Thread rule: any.
#ifndef LIVE_SPOOL_SEGMENTS_H
#define LIVE_SPOOL_SEGMENTS_H

#include <stdint.h>

typedef struct spool_segment {
    uint64_t first, bytes;
} spool_segment;

char *spool_segment_path(const char *directory, uint64_t first); // free() it
// Those that there are, in order; an stb_ds array. 0 or an errno.
int spool_segments_list(const char *directory, spool_segment **out);
uint64_t spool_segment_last(const char *path); // the number of its last tick; 0: it has none
// Forces to the disk what was written: the last two files, and the directory.
void spool_segments_sync(const char *directory);

#endif
