// Sessions: a name for a stretch of time over chosen nodes. A session is a file; its data are in the journal, so that any
// number of them, overlapping or in the past, cost nothing. Thread rule: any, for different objects.
#ifndef LIVE_SESSIONS_H
#define LIVE_SESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct session {
    char name[65];
    char *nodes, *sources, *include, *exclude; // lists by commas; NULL: all
    int64_t interval_ns;                       // 0: every tick
    bool fast;                                 // the fast set alone
    int64_t start_ns, stop_ns;                 // wall clock; stop 0: it goes on. A start to come: it is planned
} session;

typedef enum session_state { SESSION_PLANNED = 0, SESSION_GOES_ON, SESSION_ENDED } session_state;
session_state session_state_of(const session *s, int64_t now_ns);
const char *session_state_name(session_state s); // "planned", "goes on", "ended"

bool session_is_name(const char *name); // 1 to 64 of letters, digits, - _ and ., not first a point
// 0 or an errno; EILSEQ: it is no session. To parse is the same of its file's text, which ends with a NUL after so many bytes.
int session_read(const char *directory, const char *name, session *s);
int session_parse(const char *name, const char *text, size_t size, session *s);
char *session_file_text(const session *s);                  // free() it
int session_write(const char *directory, const session *s); // 0 or an errno
// Ends one that goes on; one that is planned still is deleted. 0 or an errno.
int session_end(const char *directory, session *s, int64_t now_ns);
int session_delete(const char *directory, const char *name);
// All that can be read, by name; an stb_ds array. 0 or an errno, also where one of them may be a session but cannot be read.
int session_list(const char *directory, session **out);
void session_free(session *s);
void session_list_free(session **all);

#endif
