// Sparse arrays of numbers (histograms, sums of counters) packed into bytes, and an arena for small things.
#ifndef NETPROF_REGIONS_PACK_H
#define NETPROF_REGIONS_PACK_H

#include <stddef.h>
#include <stdint.h>

// Small things that live as long as the arena; none is freed alone.
typedef struct regions_chunk {
    struct regions_chunk *next;
    size_t used, size;
} regions_chunk;

typedef struct regions_arena {
    regions_chunk *chunks;
} regions_arena;

void *regions_keep(regions_arena *arena, const void *data, size_t size); // returns a copy
const char *regions_keep_text(regions_arena *arena, const char *text);
void regions_arena_free(regions_arena *arena);

// Appends pairs (distance from the previous one, value) of the values that are not 0, then a 0, to an stb_ds array.
void regions_pack(unsigned char **to, const uint64_t *values, size_t count);
void regions_unpack_add(const unsigned char *from, uint64_t *values, size_t count);
// The same packed into the arena.
unsigned char *regions_keep_packed(regions_arena *arena, const uint64_t *values, size_t count);

#endif
