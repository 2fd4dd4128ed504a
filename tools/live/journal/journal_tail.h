// Follows a journal while a head writes it: each look gives what came since the last one. It only reads, and a head knows
// nothing of it. Thread rule: one thread at a time per tail.
#ifndef LIVE_JOURNAL_TAIL_H
#define LIVE_JOURNAL_TAIL_H

#include "journal_model.h"
#include "live/wire/frame.h"

typedef struct journal_tail journal_tail;

// A frame that the head has accepted, in the order in which it came, and when that was (wall clock). The preamble is the one that it builds on; NULL: it is
// not known (any more), or the frame is a gap.
typedef void (*journal_tail_take)(void *user, const char *node, int64_t came_ns, const frame *f,
                                  const unsigned char *preamble, size_t size);

// Begins with the segment that was being written at this time.
journal_tail *journal_tail_open(const char *directory, int64_t from_ns);
// Takes at most so many frames; returns how many there were. 0: nothing new.
size_t journal_tail_look(journal_tail *t, size_t most, journal_tail_take take, void *user);
void journal_tail_close(journal_tail *t);

#endif
