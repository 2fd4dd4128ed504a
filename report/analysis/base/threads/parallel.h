// Work in several threads.
#ifndef NETPROF_PARALLEL_H
#define NETPROF_PARALLEL_H

#include <stddef.h>

typedef struct parallel_options {
    size_t threads;           // at most; 0: as many as CPUs are usable, PARALLEL_USUAL at most
    void (*poll)(void *user); // called now and then in the caller's thread, which then does not work; may be NULL
    void *user;               // poll's
} parallel_options;

enum { PARALLEL_USUAL = 8 };

// Calls work(user, i) once for each i below count, in several threads, in about that order, and returns when all have ended.
// Where no thread can be made the caller's does it all. Signals stay with the caller's thread.
void parallel_for(const parallel_options *options, size_t count, void (*work)(void *user, size_t i), void *user);

#endif
