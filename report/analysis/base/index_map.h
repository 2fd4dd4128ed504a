// Maps from names or numbers to indexes: stb_ds maps under the keys of map_key.h, freed with hmfree().
//
//     index_map *devices = NULL;
//     hmput(devices, map_key_of_name(0, name), i);
//     size_t i = index_map_find(devices, map_key_of_name(0, name));
//
// Thread rule: finding does not write to the map, so any number of threads may look up while none puts.
#ifndef NETPROF_INDEX_MAP_H
#define NETPROF_INDEX_MAP_H

#include "map_key.h"
#include "stb_ds.h"

#define INDEX_NONE ((size_t)-1)

typedef struct index_map {
    map_key key;
    size_t value;
} index_map;

// INDEX_NONE when the key is not in the map.
static inline size_t index_map_find(const index_map *map, map_key key)
{
    index_map *rows = (index_map *)(uintptr_t)map;
    ptrdiff_t at;
    if (!rows) return INDEX_NONE;
    return hmgeti_ts(rows, key, at) < 0 ? INDEX_NONE : rows[at].value;
}

// The index under the key; a new key gets `value`.
static inline size_t index_map_put(index_map **map, map_key key, size_t value)
{
    size_t found = index_map_find(*map, key);
    if (found != INDEX_NONE) return found;
    hmput(*map, key, value);
    return value;
}

#endif
