// Outputs that are still being written. When the program runs out of memory (memory.h), they are removed, so that nobody
// takes half a file for a whole one. Thread rule: any.
#ifndef NETPROF_UNFINISHED_H
#define NETPROF_UNFINISHED_H

// Registers a file, or a directory of files, that exists under a temporary name. At most 16 at a time; the path is not
// copied and must stay valid until unfinished_end() gets the same pointer (NULL: does nothing).
void unfinished_begin(const char *path);
void unfinished_end(const char *path);
// Removes a file, or a directory of files, registered or not, without allocating.
void unfinished_drop(const char *path);
// Removes everything that is registered.
void unfinished_remove(void);

#endif
