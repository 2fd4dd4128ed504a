// A session's data as recordings, one a node, that every command reads. Thread rule: one thread.
#ifndef LIVE_SESSION_EXPORT_H
#define LIVE_SESSION_EXPORT_H

#include "live/journal/journal_index.h"
#include "live/journal/sessions.h"

// `directories`: as session_heads_split() takes them. Writes NODE.netprof into a directory for each node that has data. *files: their paths, an stb_ds array of strings, to be
// freed. Returns an exit code after saying what is wrong; EXIT_NOTHING: no node has any.
int session_export(const char *directories, const session *s, int64_t now_ns, const char *to, char ***files);
bool session_is_first(const journal_index *x, size_t stream); // no stream before it is of the same node
bool session_takes_node(const session *s, const char *node);

#endif
