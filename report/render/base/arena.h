// Memory that is freed together: what a chart keeps.
#ifndef NETPROF_ARENA_H
#define NETPROF_ARENA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct arena arena;

arena *arena_open(void); // NULL: no memory
void arena_close(arena *a);
bool arena_failed(const arena *a);
void *arena_make(arena *a, size_t count, size_t size); // zeroed; NULL without memory
void *arena_copy(arena *a, const void *data, size_t count, size_t size);
const char *arena_text(arena *a, const char *text); // never NULL: "" for NULL and without memory
const char *arena_format(arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
