// The files of a directory. Thread rule: any, for different lists.
#ifndef NETPROF_LISTING_H
#define NETPROF_LISTING_H

#include "netprof.h"

#include <stdbool.h>

// Start from {0}; listing_free() at the end.
typedef struct listing {
    char **paths;
    size_t count;
    size_t room; // private
} listing;

// One more path, copied. False without memory.
bool listing_add(listing *l, const char *path);
// Behind what there is, in byte order: the files of a directory whose names end in one of the endings (up to NULL), but
// for hidden ones. _IO: errno tells; _NOMEM.
netprof_err listing_add_directory(listing *l, const char *directory, const char *const *endings);
// All in byte order, each once.
void listing_sort(listing *l);
void listing_free(listing *l);

bool listing_is_directory(const char *path);

#endif
