// The heads whose directories a session is read from. Thread rule: one thread at a time.
#ifndef LIVE_SESSION_HEADS_H
#define LIVE_SESSION_HEADS_H

#include "live/journal/journal_index.h"
#include "live/journal/sessions.h"

// Directories by commas, or one whose name may hold any: those that there are, as an stb_ds array of strings.
char **session_heads_split(const char *directories);
void session_heads_free(char **heads);
// What all of them have of the session's time. NULL: *why says why not; free() it.
journal_index *session_heads_open(const char *directories, const session *s, int64_t now_ns, char **why);

#endif
