// Allocation for programs: what is returned is never NULL. When memory runs out, the program ends with one message and
// MEMORY_EXIT, after the clean-up that was registered, so that no half-written file is left behind. Everything is freed
// with free(). Thread rule: any, except where noted.
#ifndef NETPROF_MEMORY_H
#define NETPROF_MEMORY_H

#include <stddef.h>

enum { MEMORY_EXIT = 3 }; // exit status of a program that ran out of memory

void *memory_alloc(size_t size); // uninitialised; a size of 0 gives a block of its own, too
void *memory_calloc(size_t count, size_t size);
void *memory_realloc(void *block, size_t size);             // NULL: a new block
void *memory_array(void *block, size_t count, size_t size); // realloc() to count * size, which may overflow
void *memory_copy(const void *data, size_t size);
char *memory_strdup(const char *text);
char *memory_strndup(const char *text, size_t most);
char *memory_format(const char *format, ...) __attribute__((format(printf, 1, 2))); // as asprintf()

// Returns its argument; NULL is an allocation of a library that failed.
void *memory_check(void *pointer);
// Ends the program as described above.
_Noreturn void memory_exhausted(void);

// Registers a function that runs before a program ends for want of memory. It must not allocate. The last one registered
// runs first; at most 16. Call before threads start.
void memory_at_exhaustion(void (*clean_up)(void));

#endif
