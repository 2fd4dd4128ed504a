#include "arena.h"

#include "analysis/base/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct block {
    struct block *next;
    max_align_t data[];
} block;

struct arena {
    block *blocks;
};

arena *arena_open(void)
{
    return memory_calloc(1, sizeof(arena));
}

void arena_close(arena *a)
{
    if (!a) return;
    for (block *b = a->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(a);
}

void *arena_make(arena *a, size_t count, size_t size)
{
    if (size && count > (SIZE_MAX / 2 - sizeof(block)) / size) memory_exhausted();
    block *b = memory_calloc(1, sizeof *b + count * size);
    b->next = a->blocks;
    a->blocks = b;
    return b->data;
}

void *arena_copy(arena *a, const void *data, size_t count, size_t size)
{
    void *mine = arena_make(a, count, size);
    if (count) memcpy(mine, data, count * size);
    return mine;
}

const char *arena_text(arena *a, const char *text)
{
    return text && *text ? arena_copy(a, text, strlen(text) + 1, 1) : "";
}

const char *arena_format(arena *a, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0) memory_exhausted();
    char *text = arena_make(a, (size_t)length + 1, 1);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}
