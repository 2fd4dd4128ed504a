#define _GNU_SOURCE // memfd_create, mkostemp
#include "anonymous_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int anonymous_file(const char *what)
{
    int fd = memfd_create(what, MFD_CLOEXEC);
    if (fd >= 0 || (errno != ENOSYS && errno != EPERM)) return fd; // EPERM: a filter of a container's
    const char *directory = getenv("TMPDIR");
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/netprof-XXXXXX", directory && *directory ? directory : "/tmp");
    if (n < 0 || (size_t)n >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) unlink(path);
    return fd;
}
