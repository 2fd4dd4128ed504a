// From (number, name) to an index: a hash table whose keys are borrowed.
#ifndef NETPROF_LOOKUP_H
#define NETPROF_LOOKUP_H

#include <stddef.h>
#include <stdint.h>

#define LOOKUP_NONE ((size_t)-1)

typedef struct lookup_slot {
    const char *name; // NULL: free
    size_t number, index;
} lookup_slot;

// Start from {0}; lookup_free() at the end.
typedef struct lookup {
    lookup_slot *slots;
    size_t count, mask;
} lookup;

// Where the index of the key is kept, LOOKUP_NONE for a new key; NULL without memory. Valid until the next
// put.
size_t *lookup_put(lookup *table, size_t number, const char *name);
size_t lookup_find(const lookup *table, size_t number,
                   const char *name); // LOOKUP_NONE when there is no such key
void lookup_free(lookup *table);

#endif
