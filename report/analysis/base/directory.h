// The files of a directory. Thread rule: any, for different lists.
#ifndef NETPROF_LISTING_H
#define NETPROF_LISTING_H

#include "netprof.h"

#include <stdbool.h>

// Start from {0}; listing_free() at the end.
typedef struct listing {
    char **paths; // an array of stb_ds
    size_t count;
} listing;

void listing_add(listing *l, const char *path); // copies it
// Adds, in byte order, the regular files of a directory whose names end in one of the endings (a list up to NULL), except
// hidden ones. _IO: see errno.
netprof_err listing_add_directory(listing *l, const char *directory, const char *const *endings);
// Sorts all paths in byte order and removes duplicates.
void listing_sort(listing *l);
void listing_free(listing *l);

bool listing_is_directory(const char *path);

#endif
