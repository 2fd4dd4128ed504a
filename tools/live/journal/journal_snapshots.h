// A stream of a journal as the snapshots that the agent took. Thread rule: one thread at a time per index.
#ifndef LIVE_JOURNAL_SNAPSHOTS_H
#define LIVE_JOURNAL_SNAPSHOTS_H

#include "journal_index.h"
#include "netprof.h"

typedef struct journal_visitor {
    void (*snapshot)(void *user, const netprof_snapshot *s);
    void (*fact)(void *user, const char *key, const char *value); // may be NULL; each as often as it was written
    void *user;
} journal_visitor;

// Visits the snapshots of [from_ns, to_ns], in order. Returns how many ticks were there but could not be read, because what they
// build on is missing or damaged.
uint64_t journal_snapshots_visit(journal_index *x, size_t stream, int64_t from_ns, int64_t to_ns,
                                 const journal_visitor *v);

#endif
