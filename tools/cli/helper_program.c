#include "helper_program.h"

#include "analysis/base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *helper_program(const char *program)
{
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n > 0) {
        self[n] = 0;
        *strrchr(self, '/') = 0;
        char *path = memory_format("%s/%s", self, program);
        if (access(path, X_OK) == 0) return path;
        free(path);
    }
    return memory_strdup(program);
}
