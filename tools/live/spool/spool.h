// The spool: a node's own record of every tick, a ring of segments in a directory. A tick is in it before anybody sends it.
//
// Ticks are numbered from 1 on, without end: also over restarts of the agent and of the node. A number that has no entry is
// a gap, whose reason the entry behind it has in its flags. Each segment can be read alone: it begins with the preamble (the
// facts and the schema, as they stand in a .netprof file before the first snapshot) that its ticks build on.
//
// What a kill leaves is whole to the last tick, for the kernel keeps what was written. What the node's own death leaves is
// what was synced: spool_segments_sync(), by default every 5 s. As ticks behind that may have been sent already, the numbers go on
// a million higher after the node started again, so that no number is used twice.
//
// Thread rule: one thread writes; spool_reader (another thread or process) may read meanwhile.
#ifndef LIVE_SPOOL_H
#define LIVE_SPOOL_H

#include "seglog.h"
#include "spool_model.h"

typedef struct spool_options {
    const char *directory;
    uint64_t bytes;         // of the ring
    uint64_t segment_bytes; // 0: a sixteenth of it, at most 16 MiB
    const char *boot_id;    // of the kernel; NULL: /proc/sys/kernel/random/boot_id
} spool_options;

typedef struct spool spool;

// Makes the directory, cuts a torn tail, goes on. NULL: *why says why not, with the path; free() it.
spool *spool_open(const spool_options *o, char **why);
const unsigned char *spool_stream(const spool *s); // 16 random bytes: this spool, from its first tick on
uint64_t spool_next(const spool *s);               // the number of the next tick
uint64_t spool_low(const spool *s);                // the oldest number that is there; spool_next() where there is none
uint64_t spool_bytes(const spool *s);
uint64_t spool_cut(const spool *s); // bytes that were cut from a torn tail when it was opened
// What the ticks from now on build on. Copied.
void spool_preamble(spool *s, const void *data, size_t size);
// The tick gets the next number whether it can be kept or not: 0, or an errno, and then its number is a gap.
int spool_append(spool *s, int64_t wall_ns, bool is_key, const void *data, size_t size);
// The head has these: where the disk is full, segments of such ticks go first.
void spool_acknowledged(spool *s, uint64_t number);
// The next tick begins a segment.
bool spool_is_at_end_of_segment(const spool *s);
void spool_close(spool *s);

#endif
