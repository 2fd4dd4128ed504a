#define _GNU_SOURCE // realpath
#include "loaded_library.h"

#include "cli/common.h"
#include "cli/output.h"
#include "analysis/base/memory.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *loaded_library_find(const char *option, const char *name)
{
    static const char *const places[] = {"", "/" NETPROF_MODULES};
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = 0;
    char *slash = strrchr(program, '/');
    if (slash) *slash = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char *path = memory_format("%s%s/%s", program, places[i], name), *real = realpath(path, NULL);
        free(path);
        if (real) return real;
    }
    fail(EXIT_FILE, "%s: %s is neither in %s nor in %s/%s", option, name, safe(program), safe(program),
         NETPROF_MODULES);
    return NULL;
}
