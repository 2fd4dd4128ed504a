// Where the reference data is that does not come from this project: NETPROF_SHARED, or shared/ beside the
// source tree.
#ifndef NETPROF_TESTS_REFERENCE_H
#define NETPROF_TESTS_REFERENCE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// The path of a file of the reference data; NULL, with a line that says so, when it is not there.
static inline const char *reference_file(const char *name)
{
    static char path[4096];
    const char *shared = getenv("NETPROF_SHARED");
    if (shared)
        snprintf(path, sizeof path, "%s/data/%s", shared, name);
    else
        snprintf(path, sizeof path, "%s/../shared/data/%s", NETPROF_TEST_TOP, name);
    if (access(path, R_OK) == 0) return path;
    printf("skipped: no reference data %s\n", path);
    return NULL;
}

#endif
