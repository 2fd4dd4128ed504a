#define _GNU_SOURCE
#include "secret.h"

#include "live/spool/seglog.h"

#include "analysis/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool secret_read(const char *path, char to[SECRET_SIZE + 1])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n = fd < 0 ? -1 : read(fd, to, SECRET_SIZE);
    if (fd >= 0) close(fd);
    to[n == SECRET_SIZE ? SECRET_SIZE : 0] = 0;
    return strspn(to, "0123456789abcdef") == SECRET_SIZE;
}

// One that cannot be kept is good until the next start.
static void secret_write(const char *path, const char *secret)
{
    char *beside = memory_format("%s.new", path);
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool good = fd >= 0 && write(fd, secret, SECRET_SIZE) == SECRET_SIZE && fsync(fd) == 0;
    if (fd >= 0 && close(fd)) good = false;
    if (!good || rename(beside, path)) unlink(beside);
    free(beside);
}

int secret_find(const char *directory, char to[SECRET_SIZE + 1], bool *known)
{
    unsigned char bytes[SECRET_SIZE / 2];
    char *path = memory_format("%s/secret", directory);
    *known = secret_read(path, to);
    int error = *known ? 0 : seglog_random(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes && !*known; i++)
        sprintf(to + 2 * i, "%02x", bytes[i]);
    if (!*known && !error) secret_write(path, to);
    free(path);
    return error;
}
