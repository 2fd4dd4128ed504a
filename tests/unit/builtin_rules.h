// The rules that netprof brings along, for the tests of a file: setup load(), teardown unload().
#ifndef NETPROF_TESTS_BUILTIN_RULES_H
#define NETPROF_TESTS_BUILTIN_RULES_H

#include "analysis/rules/rules.h"

#include <stdlib.h>
#include <unistd.h>

static rules built_in;

static int load(void **state)
{
    (void)state;
    if (!getenv("TMPDIR") && access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 1); // thousands of files
    rules_builtin(&built_in);
    return 0;
}

static int unload(void **state)
{
    (void)state;
    rules_free(&built_in);
    return 0;
}

#endif
