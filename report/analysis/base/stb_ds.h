// The container of report/ and tools/: Sean Barrett's stb_ds, dynamic arrays and hash maps, with memory that ends the
// program when there is none left (memory.h). Include this instead of <stb/stb_ds.h>.
//
//     int *numbers = NULL;                                arrput(numbers, 7); arrlenu(numbers); arrfree(numbers);
//     struct { int64_t key; size_t value; } *map = NULL;  hmput(map, 7, 1); hmgeti(map, 7); hmfree(map);
//
// An array is freed with arrfree(), never with free(). Maps keep the order in which keys were first put, as long as none
// is deleted, and are seeded at random. A key that is a struct must have no padding. Names are keyed by map_key.h, not by
// the library's own string maps (sh...): their hash can be made to collide whatever the seed is.
// Thread rule: one thread at a time per container; hmget and hmgeti write to the map as well (hmget_ts and hmgeti_ts do
// not). The first hmput() of a map draws from a seed that all maps share: one thread at a time, which it sees to itself.
#ifndef NETPROF_STB_DS_H
#define NETPROF_STB_DS_H

#include "memory.h"

#include <stdlib.h>

#define STBDS_REALLOC(context, block, size) memory_realloc(block, size)
#define STBDS_FREE(context, block)          free(block)
#include <stb/stb_ds.h>

// Around a put; has_table: not the first one. What is put may be made by puts, up to 64 deep.
void stb_ds_put_begin(int has_table);
void stb_ds_put_end(void);
#undef hmput
#define hmput(t, k, v)                                                                                                 \
    (stb_ds_put_begin((t) && stbds_header((t)-1)->hash_table), stbds_hmput(t, k, v), stb_ds_put_end())

#endif
