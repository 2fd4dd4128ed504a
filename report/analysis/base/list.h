// Lists in memory that grow by doubling. A list is a pointer to its elements; its address is given. Thread rule: any, for
// different lists.
#ifndef NETPROF_LIST_H
#define NETPROF_LIST_H

#include <stdbool.h>
#include <stddef.h>

// Makes room for one more element of a size behind count; room is how many there is room for. False: no memory, and the
// list is as it was.
bool list_grow(void *list, size_t count, size_t *room, size_t size);
// The same for lists without a room of their own: they grow at powers of two, so the count tells when.
bool list_grow_one(void *list, size_t count, size_t size);

#endif
