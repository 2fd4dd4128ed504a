// A program of netprof that the head runs beside itself, at a low priority: it ends with the head, and is started again when it
// dies. Thread rule: one thread.
#ifndef LIVE_COMPANION_H
#define LIVE_COMPANION_H

#include <stdint.h>
#include <sys/types.h>

typedef struct companion {
    const char *program, *directory; // started as PROGRAM --dir DIRECTORY MORE...
    const char *more[9];             // up to a NULL
    pid_t pid;                       // 0: it does not run
    int64_t again_at_ns;
    int64_t patience_until_ns; // once it was told to end
    int said;                  // that it cannot be started
} companion;

void companion_look(companion *c, int64_t now_ns); // starts it where it does not run; CLOCK_MONOTONIC
void companion_end(companion *c);                  // tells it to end: of several, all before one is waited for
void companion_close(companion *c);                // waits until it has ended; after some seconds it is killed

#endif
