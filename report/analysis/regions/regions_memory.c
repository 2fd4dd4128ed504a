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
    return value | (uint64_t) * (*at)++ << shift;
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
        if (at <= count) values[at - 1] = sum_capped(values[at - 1], value);
    }
}

// ---- sums ----

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
    to->calls = sum_capped(to->calls, more->calls);
    to->measured = sum_capped(to->measured, more->measured);
    to->open = sum_capped(to->open, more->open);
    to->spans = sum_capped(to->spans, more->spans);
    to->aborted = sum_capped(to->aborted, more->aborted);
    to->total_ns = sum_capped(to->total_ns, more->total_ns);
    to->inclusive_ns = sum_capped(to->inclusive_ns, more->inclusive_ns);
    to->exclusive_ns = sum_capped(to->exclusive_ns, more->exclusive_ns);
    to->bytes = sum_capped(to->bytes, more->bytes);
    if (more->measured && more->min_ns < to->min_ns) to->min_ns = more->min_ns;
    if (more->measured && more->max_ns > to->max_ns) to->max_ns = more->max_ns;
}
