// A head's journal: what agents send, in the order in which it came, with one commit for all of them. A frame counts as
// durable when it was written and forced to the disk, and not before. While the disk takes nothing, what was accepted waits
// in memory, up to a bound; then nothing more is accepted, and the agents keep it.
//
// Thread rule: one thread takes, one commits; the caller locks around journal_take(), journal_begin_commit(),
// journal_end_commit() and whatever reads rows.
#ifndef LIVE_JOURNAL_H
#define LIVE_JOURNAL_H

#include "journal_known.h"

typedef struct journal journal;

typedef struct journal_options {
    const char *directory;
    uint64_t segment_bytes, waiting_bytes; // of a segment; of what may wait in memory
    uint32_t credit;
    int64_t wall_ns;
} journal_options;

// NULL: *why says why not; free() it.
journal *journal_open(const journal_options *o, char **why);
const receiver_head *journal_head(const journal *j);
// From now on of this epoch, if it is higher: the head takes over from another.
void journal_raise(journal *j, uint64_t epoch);
uint64_t journal_cut(const journal *j); // bytes that were cut from a torn tail
// A frame from this node. `wall_ns`: now. False: it was not even looked at, because too much waits or too many streams are
// known.
bool journal_take(journal *j, const char *node, const frame *f, int64_t wall_ns, receiver_verdict *verdict);
// With the next commit every node is told what is durable: after a connection was lost, with whatever was on its way.
void journal_tell_all(journal *j);
size_t journal_waiting(const journal *j); // bytes that wait for the next commit
// A commit: begin (locked) puts aside what waits; write (not locked) forces it to the disk, and is tried again until it
// returns 0; end (locked) makes the watermarks.
bool journal_begin_commit(journal *j); // false: there is nothing to do
int journal_write(journal *j);         // 0 or an errno
void journal_end_commit(journal *j, void (*tell)(void *user, const char *node, const watermark *w), void *user);
size_t journal_row_count(const journal *j);
const journal_row *journal_row_at(const journal *j, size_t index);
int64_t journal_heard(const journal *j, const char *node); // when last, ns since 1970; 0: never
uint64_t journal_bytes(const journal *j);                  // of all segments
// The oldest segments, but for the one that is written, that have to go for there to be at most so many bytes: numbers, the
// first first, appended to *to (stb_ds).
void journal_surplus(const journal *j, uint64_t most, uint64_t **to);
// Removes the oldest segment, which is to have this number. False: it is not the oldest, or cannot be removed.
bool journal_drop(journal *j, uint64_t number);
void journal_close(journal *j);

#endif
