#define _GNU_SOURCE
#include "nccl_stream.h"

#include "analysis/base/memory.h"
#include "analysis/base/readable.h"
#include "analysis/base/unpack.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct nccl_stream {
    int fd;
    unpack *from;
};

nccl_stream *nccl_stream_open(const char *path, uint64_t offset)
{
    nccl_stream *s = memory_calloc(1, sizeof *s);
    s->fd = readable_open_packed(path);
    int error = s->fd < 0 || (offset && lseek(s->fd, (off_t)offset, SEEK_SET) < 0) ? errno : 0;
    if (!error) s->from = unpack_open(s->fd, offset > 0);
    if (!error) error = unpack_error(s->from);
    if (!error) return s;
    nccl_stream_close(s);
    errno = error;
    return NULL;
}

size_t nccl_stream_read(nccl_stream *s, void *to, size_t room)
{
    return unpack_read(s->from, to, room);
}

nccl_packing nccl_stream_packing(const nccl_stream *s)
{
    static const nccl_packing packings[] = {
        [UNPACK_PLAIN] = NCCL_PLAIN, [UNPACK_GZIP] = NCCL_GZIP, [UNPACK_ZSTD] = NCCL_ZSTD};
    return packings[unpack_packing_of(s->from)];
}

uint64_t nccl_stream_taken(const nccl_stream *s)
{
    return unpack_taken(s->from);
}

const char *nccl_stream_problem(const nccl_stream *s)
{
    return unpack_problem(s->from);
}

int nccl_stream_error(const nccl_stream *s)
{
    return unpack_error(s->from);
}

void nccl_stream_close(nccl_stream *s)
{
    if (!s) return;
    unpack_close(s->from);
    if (s->fd >= 0) close(s->fd);
    free(s);
}
