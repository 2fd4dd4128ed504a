// Memory that is freed together: what a chart keeps. Nothing here returns NULL.
#ifndef NETPROF_ARENA_H
#define NETPROF_ARENA_H

#include <stddef.h>

typedef struct arena arena;

arena *arena_open(void);
void arena_close(arena *a);
void *arena_make(arena *a, size_t count, size_t size); // zeroed
void *arena_copy(arena *a, const void *data, size_t count, size_t size);
const char *arena_text(arena *a, const char *text); // NULL: ""
const char *arena_format(arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
