// Memory and numbers of regions: an arena, bytes, sparse arrays, sums.
#include "regions_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *regions_keep(regions_arena *arena, const void *data, size_t size)
{
    enum { CHUNK = 1 << 18 };
    size_t room = (size + 7) & ~(size_t)7;
    regions_chunk *chunk = arena->chunks;
    if (!chunk || chunk->size - chunk->used < room) {
        size_t all = room > CHUNK ? room : CHUNK;
        chunk = malloc(sizeof *chunk + all);
        if (!chunk) return NULL;
        *chunk = (regions_chunk){arena->chunks, 0, all};
        arena->chunks = chunk;
    }
    void *kept = (unsigned char *)(chunk + 1) + chunk->used;
    chunk->used += room;
    return memcpy(kept, data, size);
}

void regions_arena_free(regions_arena *arena)
{
    while (arena->chunks) {
        regions_chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
}

void *regions_grow(void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room) return array;
    size_t more = *room ? 2 * *room : 4;
    void *larger = more <= SIZE_MAX / 2 / size ? realloc(array, more * size) : NULL;
    if (larger) *room = more;
    return larger;
}

// ---- a map ----

static regions_map_slot *slot_of(const regions_map *map, size_t a, size_t b)
{
    uint64_t h = (a + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (b + 1) * UINT64_C(0xbf58476d1ce4e5b9);
    size_t i = (size_t)(h ^ h >> 31) & map->mask;
    while (map->slots[i].a != REGIONS_NONE && (map->slots[i].a != a || map->slots[i].b != b))
        i = (i + 1) & map->mask;
    return &map->slots[i];
}

static bool grow_map(regions_map *map)
{
    size_t size = map->slots ? 2 * (map->mask + 1) : 64;
    regions_map larger = {malloc(size * sizeof *larger.slots), map->count, size - 1};
    if (!larger.slots) return false;
    for (size_t i = 0; i < size; i++)
        larger.slots[i].a = REGIONS_NONE;
    for (size_t i = 0; map->slots && i <= map->mask; i++)
        if (map->slots[i].a != REGIONS_NONE) *slot_of(&larger, map->slots[i].a, map->slots[i].b) = map->slots[i];
    free(map->slots);
    *map = larger;
    return true;
}

size_t *regions_map_put(regions_map *map, size_t a, size_t b)
{
    if ((!map->slots || 2 * map->count > map->mask) && !grow_map(map)) return NULL;
    regions_map_slot *slot = slot_of(map, a, b);
    if (slot->a == REGIONS_NONE) {
        *slot = (regions_map_slot){a, b, REGIONS_NONE};
        map->count++;
    }
    return &slot->value;
}

void regions_map_free(regions_map *map)
{
    free(map->slots);
    *map = (regions_map){0};
}

// ---- errors ----

netprof_err regions_fail(netprof_error *error, netprof_err code, const char *path, const char *format, ...)
{
    va_list arguments;
    if (!error) return code;
    *error = (netprof_error){.code = code};
    snprintf(error->path, sizeof error->path, "%s", path ? path : "");
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return code;
}

// ---- bytes ----

static void put_byte(regions_bytes *to, unsigned char byte)
{
    unsigned char *data = to->failed ? NULL : regions_grow(to->data, to->size, &to->room, 1);
    to->failed |= !data;
    if (!data) return;
    to->data = data;
    data[to->size++] = byte;
}

void regions_put(regions_bytes *to, uint64_t value)
{
    for (; value > 127; value >>= 7)
        put_byte(to, (unsigned char)(value | 128));
    put_byte(to, (unsigned char)value);
}

uint64_t regions_get(const unsigned char **at)
{
    uint64_t value = 0;
    unsigned shift = 0;
    for (; **at & 128; shift += 7)
        value |= (uint64_t)(*(*at)++ & 127) << shift;
    return value | (uint64_t)*(*at)++ << shift;
}

void regions_pack(regions_bytes *to, const uint64_t *values, size_t count)
{
    size_t behind = 0; // the last one that was put, counted from 1
    for (size_t i = 0; i < count; i++) {
        if (!values[i]) continue;
        regions_put(to, i + 1 - behind);
        regions_put(to, values[i]);
        behind = i + 1;
    }
    regions_put(to, 0);
}

void regions_unpack_add(const unsigned char *from, uint64_t *values, size_t count)
{
    size_t at = 0;
    for (uint64_t step; (step = regions_get(&from));) {
        at += step;
        uint64_t value = regions_get(&from);
        if (at <= count) values[at - 1] = regions_add(values[at - 1], value);
    }
}

// ---- sums ----

uint64_t regions_add(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

// The sum of squares about the mean of two groups of calls, by Chan's formula.
static double joined_variance(const regions_calls *a, const regions_calls *b)
{
    double n = (double)a->measured, m = (double)b->measured;
    if (n <= 0) return b->variance_ns2;
    if (m <= 0) return a->variance_ns2;
    double apart = (double)a->total_ns / n - (double)b->total_ns / m;
    return (n * a->variance_ns2 + m * b->variance_ns2 + apart * apart * n / (n + m) * m) / (n + m);
}

void regions_calls_add(regions_calls *to, const regions_calls *more)
{
    to->variance_ns2 = joined_variance(to, more);
    to->calls = regions_add(to->calls, more->calls);
    to->measured = regions_add(to->measured, more->measured);
    to->open = regions_add(to->open, more->open);
    to->spans = regions_add(to->spans, more->spans);
    to->aborted = regions_add(to->aborted, more->aborted);
    to->total_ns = regions_add(to->total_ns, more->total_ns);
    to->inclusive_ns = regions_add(to->inclusive_ns, more->inclusive_ns);
    to->exclusive_ns = regions_add(to->exclusive_ns, more->exclusive_ns);
    to->bytes = regions_add(to->bytes, more->bytes);
    if (more->measured && more->min_ns < to->min_ns) to->min_ns = more->min_ns;
    if (more->measured && more->max_ns > to->max_ns) to->max_ns = more->max_ns;
}
