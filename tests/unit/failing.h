// An allocator that fails: so many calls succeed, then none does. Include after netprof.h.
#ifndef NETPROF_TESTS_FAILING_H
#define NETPROF_TESTS_FAILING_H

#include <stdlib.h>

static void *failing_resize(void *user, void *pointer, size_t size)
{
    long *left = (long *)user;
    return (*left)-- > 0 ? realloc(pointer, size) : NULL;
}

static void failing_release(void *user, void *pointer)
{
    (void)user;
    free(pointer);
}

// The caller sets *left before each trial.
static netprof_alloc failing_alloc(long *left)
{
    netprof_alloc a = {failing_resize, failing_release, NULL};
    a.user = left;
    return a;
}

#endif
