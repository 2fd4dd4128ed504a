// Writing to named pipes: a pending signal that ends programs interrupts the wait for a reader, or for room, even while
// it is blocked.
#ifndef TOOLS_PIPES_H
#define TOOLS_PIPES_H

#include <stddef.h>

int pipe_open(const char *path); // for writing; -1 with errno (EINTR: interrupted by such a signal)
int pipe_write(void *pipe, const void *data, size_t size); // int *: what pipe_open() returned; 0 or an errno

#endif
