// What a head sees, as a file that others read. Thread rule: status_copy_take() as the journal; the rest any.
#ifndef LIVE_STATUS_H
#define LIVE_STATUS_H

#include "live/journal/journal.h"

typedef struct status_facts {
    bool up;                   // the server is reached
    bool stands_by;            // another head collects
    int disk_error;            // the errno that the disk gives now
    int64_t disk_since_ns;     // since when; wall clock
    uint64_t malformed;        // messages that are no frames, are not of the node whose subject they use, or that
                               // follow a head that there cannot be
    uint64_t turned_away;      // frames that there was no room for; the agents keep them
    uint64_t dropped, commits; // messages that the library dropped
    int64_t commit_ns;         // what the longest commit since the last status took the disk, or has taken so far
    uint64_t journal_limit;    // how much is kept beside what sessions need, in bytes
} status_facts;

// What of a journal is told, as a copy: to put it into words takes long where nodes are many, and frames would have to wait.
typedef struct status_copy {
    journal_row *rows; // of those whose node is known; stb_ds
    uint64_t journal_bytes;
} status_copy;

void status_copy_take(status_copy *c, const journal *j); // c: {0}, or one that was taken before
void status_copy_free(status_copy *c);
char *status_text(const status_copy *c, const status_facts *facts, int64_t wall_ns); // JSON; free() it
void status_write(const char *directory, const char *text);
// Of these segments (stb_ds, the oldest first) so many at the beginning are of no session. It reads them.
size_t status_free_segments(const char *directory, const uint64_t *surplus);

#endif
