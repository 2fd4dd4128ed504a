#include "regions_pack.h"

#include "analysis/base/saturating_sum.h"
#include "analysis/base/stb_ds.h"

#include <string.h>

void *regions_keep(regions_arena *arena, const void *data, size_t size)
{
    enum { CHUNK = 1 << 18 };
    size_t room = (size + 7) & ~(size_t)7;
    regions_chunk *chunk = arena->chunks;
    if (!chunk || chunk->size - chunk->used < room) {
        size_t all = room > CHUNK ? room : CHUNK;
        chunk = memory_alloc(sizeof *chunk + all);
        *chunk = (regions_chunk){arena->chunks, 0, all};
        arena->chunks = chunk;
    }
    void *kept = (unsigned char *)(chunk + 1) + chunk->used;
    chunk->used += room;
    return memcpy(kept, data, size);
}

const char *regions_keep_text(regions_arena *arena, const char *text)
{
    return regions_keep(arena, text, strlen(text) + 1);
}

void regions_arena_free(regions_arena *arena)
{
    while (arena->chunks) {
        regions_chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
}

// LEB128: seven bits a byte, the lowest first.
static void regions_put(unsigned char **to, uint64_t value)
{
    for (; value > 127; value >>= 7)
        arrput(*to, (unsigned char)(value | 128));
    arrput(*to, (unsigned char)value);
}

static uint64_t regions_get(const unsigned char **at)
{
    uint64_t value = 0;
    unsigned shift = 0;
    for (; **at & 128; shift += 7)
        value |= (uint64_t)(*(*at)++ & 127) << shift;
    return value | (uint64_t) * (*at)++ << shift;
}

void regions_pack(unsigned char **to, const uint64_t *values, size_t count)
{
    size_t last = 0; // the previous one, counted from 1
    for (size_t i = 0; i < count; i++) {
        if (!values[i]) continue;
        regions_put(to, i + 1 - last);
        regions_put(to, values[i]);
        last = i + 1;
    }
    regions_put(to, 0);
}

void regions_unpack_add(const unsigned char *from, uint64_t *values, size_t count)
{
    size_t at = 0;
    for (uint64_t step; (step = regions_get(&from));) {
        at += step;
        uint64_t value = regions_get(&from);
        if (at <= count) values[at - 1] = sum_capped(values[at - 1], value);
    }
}

unsigned char *regions_keep_packed(regions_arena *arena, const uint64_t *values, size_t count)
{
    unsigned char *packed = NULL;
    regions_pack(&packed, values, count);
    unsigned char *kept = regions_keep(arena, packed, arrlenu(packed));
    arrfree(packed);
    return kept;
}
