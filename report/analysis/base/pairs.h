// From two numbers to an index: a hash table. Thread rule: one thread at a time per table.
#ifndef NETPROF_PAIRS_H
#define NETPROF_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAIRS_NONE ((size_t)-1)

typedef struct pairs_slot {
    int64_t a, b;
    size_t index; // PAIRS_NONE: free
} pairs_slot;

// Start from {0}; pairs_free() at the end.
typedef struct pairs {
    pairs_slot *slots;
    size_t count, mask;
} pairs;

// Where the index of the pair is kept; PAIRS_NONE for a new one, which is in the table once an index is written there.
// NULL without memory. Valid until the next put.
size_t *pairs_put(pairs *table, int64_t a, int64_t b);
bool pairs_set(pairs *table, int64_t a, int64_t b, size_t index); // the same with its index; false: no memory
size_t pairs_find(const pairs *table, int64_t a, int64_t b);      // PAIRS_NONE when there is no such pair
void pairs_free(pairs *table);

#endif
