#include "memory.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_CLEAN_UPS = 16 };

static void (*memory_clean_ups[MOST_CLEAN_UPS])(void);
static size_t memory_clean_up_count;

void memory_at_exhaustion(void (*clean_up)(void))
{
    for (size_t i = 0; i < memory_clean_up_count; i++)
        if (memory_clean_ups[i] == clean_up) return;
    if (memory_clean_up_count < MOST_CLEAN_UPS) memory_clean_ups[memory_clean_up_count++] = clean_up;
}

// Standard output is not flushed: half a table or half a JSON document is worse than none.
_Noreturn void memory_exhausted(void)
{
    static const char message[] = "netprof: out of memory\n";
    static int entered;
    static _Thread_local bool here;
    if (here) _exit(MEMORY_EXIT); // a clean-up that allocates: waiting for itself would never end
    here = true;
    while (__atomic_exchange_n(&entered, 1, __ATOMIC_SEQ_CST)) // a second thread: the first one ends the program
        pause();
    ssize_t written = write(STDERR_FILENO, message, sizeof message - 1);
    (void)written;
    while (memory_clean_up_count)
        memory_clean_ups[--memory_clean_up_count]();
    _exit(MEMORY_EXIT);
}

void *memory_check(void *pointer)
{
    if (!pointer) memory_exhausted();
    return pointer;
}

void *memory_alloc(size_t size)
{
    return memory_check(malloc(size ? size : 1));
}

void *memory_calloc(size_t count, size_t size)
{
    return memory_check(count && size ? calloc(count, size) : calloc(1, 1));
}

void *memory_realloc(void *block, size_t size)
{
    return memory_check(realloc(block, size ? size : 1));
}

void *memory_array(void *block, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size) memory_exhausted();
    return memory_realloc(block, count * size);
}

void *memory_copy(const void *data, size_t size)
{
    void *copy = memory_alloc(size);
    if (size) memcpy(copy, data, size);
    return copy;
}

char *memory_strdup(const char *text)
{
    return memory_copy(text, strlen(text) + 1);
}

char *memory_strndup(const char *text, size_t most)
{
    size_t length = strnlen(text, most);
    char *copy = memory_alloc(length + 1);
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

char *memory_format(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0) memory_exhausted(); // glibc fails here only for want of memory, or for more than INT_MAX bytes
    char *text = memory_alloc((size_t)length + 1);
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}
