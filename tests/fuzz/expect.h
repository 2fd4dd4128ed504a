// What a fuzz target demands of the code, whatever the bytes: expect() ends the program where it does not hold.
#ifndef FUZZ_EXPECT_H
#define FUZZ_EXPECT_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define expect(condition) expect_at((condition), __LINE__)
static inline void expect_at(int condition, int line)
{
    if (condition) return;
    fprintf(stderr, "line %d\n", line);
    abort();
}

// For writers whose output is not looked at: adds up its size.
static inline int discard(void *user, const void *data, size_t size)
{
    (void)data;
    *(size_t *)user += size;
    return 0;
}

#endif
