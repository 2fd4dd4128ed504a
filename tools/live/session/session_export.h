// A session's data as recordings, one a node, that every command reads. Thread rule: one thread.
#ifndef LIVE_SESSION_EXPORT_H
#define LIVE_SESSION_EXPORT_H

#include "live/journal/journal_index.h"
#include "live/journal/sessions.h"

// `directories`: as session_heads_split() takes them. Writes NODE.netprof into a directory for each node that has data.
// *files: their paths, an stb_ds array of strings, to be freed. Returns an exit code after saying what is wrong; EXIT_NOTHING: no node has any.
int session_export(const char *directories, const session *s, int64_t now_ns, const char *to, char ***files);
// What one node's recording holds.
typedef struct session_written {
    uint64_t snapshots;
    int64_t first_ns, last_ns; // wall clock of its first and its last reading; 0: there is none
} session_written;

// The recording of one node, all its streams from the first of them on: an agent whose spool was removed begins another.
// Without readings there is no file. Returns an exit code after saying what is wrong.
int session_export_node(journal_index *x, size_t first, const session *s, int64_t now_ns, const char *path,
                        session_written *written);
// DIR/NODE.netprof; free() it. NULL: it has no name for a file.
char *session_file_path(const char *to, const char *node);
bool session_takes_node(const session *s, const char *node);

#endif
