#define _GNU_SOURCE
#include "tokens.h"

#include "live/spool/seglog.h"

#include "analysis/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int tokens_read(const char *path, char token[HTTP_TOKEN + 1])
{
    struct stat st;
    char line[HTTP_TOKEN + 2] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return errno;
    int error = fstat(fd, &st) ? errno : st.st_mode & 077 ? EPERM : 0;
    ssize_t n = error ? 0 : read(fd, line, sizeof line - 1);
    close(fd);
    if (error) return error;
    size_t size = n < 0 ? 0 : strspn(line, "0123456789abcdef");
    if (size != HTTP_TOKEN || (line[size] && line[size] != '\n')) return EILSEQ;
    memcpy(token, line, HTTP_TOKEN);
    token[HTTP_TOKEN] = 0;
    return 0;
}

static int tokens_make(const char *path, char token[HTTP_TOKEN + 1])
{
    unsigned char bytes[HTTP_TOKEN / 2];
    char line[HTTP_TOKEN + 2], *beside = memory_format("%s.new", path);
    int error = seglog_random(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    snprintf(line, sizeof line, "%s\n", token);
    unlink(beside);
    int fd = error ? -1 : open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (!error && fd < 0) error = errno;
    if (!error && write(fd, line, strlen(line)) != (ssize_t)strlen(line)) error = errno ? errno : ENOSPC;
    if (fd >= 0) close(fd);
    if (!error && rename(beside, path)) error = errno;
    free(beside);
    return error;
}

int tokens_find(const char *directory, const char *name, char token[HTTP_TOKEN + 1])
{
    char *path = memory_format("%s/%s", directory, name);
    int error = tokens_read(path, token);
    if (error == ENOENT) error = tokens_make(path, token);
    free(path);
    return error;
}
