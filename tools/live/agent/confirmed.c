#include "confirmed.h"

#include "live/spool/crc32c.h"
#include "live/spool/little.h"

#include "analysis/base/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONFIRMED_SIZE = 44 };

bool confirmed_read(const char *directory, confirmed *c)
{
    unsigned char bytes[CONFIRMED_SIZE + 1];
    char *path = memory_format("%s/confirmed", directory);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t n = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);
    if (fd >= 0) close(fd);
    free(path);
    if (n != CONFIRMED_SIZE || little_get(bytes + 40, 4) != crc32c(0, bytes, 40)) return false;
    memcpy(c->stream, bytes, 16);
    c->base = little_get(bytes + 16, 8);
    c->head = little_get(bytes + 24, 8);
    c->epoch = little_get(bytes + 32, 8);
    return true;
}

bool confirmed_write(const char *directory, const confirmed *c)
{
    unsigned char bytes[CONFIRMED_SIZE];
    char *path = memory_format("%s/confirmed", directory), *beside = memory_format("%s/confirmed.new", directory);
    memcpy(bytes, c->stream, 16);
    little_put(bytes + 16, c->base, 8);
    little_put(bytes + 24, c->head, 8);
    little_put(bytes + 32, c->epoch, 8);
    little_put(bytes + 40, crc32c(0, bytes, 40), 4);
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool good = fd >= 0 && write(fd, bytes, sizeof bytes) == sizeof bytes;
    if (fd >= 0 && close(fd)) good = false;
    if (good) good = rename(beside, path) == 0;
    free(path);
    free(beside);
    return good;
}
