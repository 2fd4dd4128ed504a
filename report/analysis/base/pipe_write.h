// Writing to named pipes: a pending signal that ends programs interrupts the wait for a reader, or for room, even while
// it is blocked.
#ifndef NETPROF_PIPE_WRITE_H
#define NETPROF_PIPE_WRITE_H

#include <stdbool.h>
#include <stddef.h>

// For writing; -1 with errno (EINTR: interrupted by such a signal). waits: called when nobody reads it yet, at the first
// look (true) and when the waiting is over (false); may be NULL.
int pipe_open(const char *path, void (*waits)(const char *path, int begins));
int pipe_write(void *pipe, const void *data, size_t size); // int *: what pipe_open() returned; 0 or an errno
bool pipe_is_interrupted(void);                            // such a signal is pending

#endif
