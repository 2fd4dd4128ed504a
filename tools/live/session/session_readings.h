// The readings of a session: of its time, with its filter and its interval. Thread rule: one thread at a time per index.
#ifndef LIVE_SESSION_READINGS_H
#define LIVE_SESSION_READINGS_H

#include "live/journal/journal_snapshots.h"
#include "live/journal/sessions.h"

typedef journal_visitor session_readings_visitor;

// As journal_snapshots_visit(); now_ns: the end of a session that goes on.
uint64_t session_readings_visit(journal_index *x, size_t stream, const session *s, int64_t now_ns,
                                const session_readings_visitor *v);

#endif
