#define _GNU_SOURCE
#include "nccl_stream.h"

#include "analysis/base/readable.h"
#include "analysis/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { INPUT = 64 << 10 };

struct nccl_stream {
    int fd, error;
    nccl_packing packing;
    const char *problem;
    uint64_t taken;
    bool ended;   // nothing more comes
    bool between; // between two packed streams, where a file may end
    z_stream gzip;
    ZSTD_DStream *zstd;
    size_t begin, end; // what of input is not used yet
    unsigned char input[INPUT];
};

// Returns how many bytes came; fewer than room only at the end or after an error.
static size_t stream_read_fully(nccl_stream *s, void *to, size_t room)
{
    size_t n = 0;
    while (n < room) {
        ssize_t got = read(s->fd, (char *)to + n, room - n);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            s->error = errno;
            s->problem = "cannot be read to its end";
        }
        if (got <= 0) break;
        n += (size_t)got;
    }
    s->taken += n;
    return n;
}

static bool stream_refill(nccl_stream *s)
{
    if (s->begin < s->end) return true;
    s->begin = 0;
    s->end = stream_read_fully(s, s->input, sizeof s->input);
    return s->end > 0;
}

static void stream_begin_unpacking(nccl_stream *s)
{
    static const unsigned char gzip[] = {0x1f, 0x8b}, zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    s->end = stream_read_fully(s, s->input, sizeof s->input);
    s->between = true;
    if (s->end >= sizeof gzip && memcmp(s->input, gzip, sizeof gzip) == 0) {
        s->packing = NCCL_GZIP;
        if (inflateInit2(&s->gzip, 15 + 16) != Z_OK) memory_exhausted();
    } else if (s->end >= sizeof zstd && memcmp(s->input, zstd, sizeof zstd) == 0) {
        s->packing = NCCL_ZSTD;
        s->zstd = memory_check(ZSTD_createDStream());
    }
}

nccl_stream *nccl_stream_open(const char *path, uint64_t offset)
{
    nccl_stream *s = memory_alloc(sizeof *s);
    memset(s, 0, offsetof(nccl_stream, input));
    s->fd = readable_open(path);
    if (s->fd >= 0 && offset && lseek(s->fd, (off_t)offset, SEEK_SET) < 0) s->error = errno;
    if (s->fd >= 0 && !s->error && !offset) stream_begin_unpacking(s);
    int error = s->fd < 0 ? errno : s->error;
    if (!error) return s;
    nccl_stream_close(s);
    errno = error;
    return NULL;
}

static size_t stream_read_plain(nccl_stream *s, char *to, size_t room)
{
    size_t n = s->end - s->begin;
    if (n > room) n = room;
    memcpy(to, s->input + s->begin, n);
    s->begin += n;
    return n < room ? n + stream_read_fully(s, to + n, room - n) : n;
}

static size_t stream_stop(nccl_stream *s, const char *problem, size_t n)
{
    s->ended = true;
    if (!s->problem) s->problem = problem;
    return n;
}

// gzip's members may follow each other; zeros and anything else after the last one are padding.
static size_t stream_read_gzip(nccl_stream *s, char *to, size_t room)
{
    size_t n = 0;
    while (n < room) {
        if (!stream_refill(s)) return stream_stop(s, s->between ? NULL : "the compressed data are cut", n);
        s->between = false;
        s->gzip.next_in = s->input + s->begin;
        s->gzip.avail_in = (uInt)(s->end - s->begin);
        s->gzip.next_out = (Bytef *)to + n;
        s->gzip.avail_out = room - n > UINT32_MAX ? UINT32_MAX : (uInt)(room - n);
        uInt had = s->gzip.avail_out;
        int result = inflate(&s->gzip, Z_NO_FLUSH);
        n += had - s->gzip.avail_out;
        s->begin = s->end - s->gzip.avail_in;
        if (result == Z_STREAM_END) {
            s->between = true;
            inflateReset(&s->gzip);
            if (stream_refill(s) && s->input[s->begin] != 0x1f) return stream_stop(s, NULL, n);
        } else if (result != Z_OK && result != Z_BUF_ERROR) {
            return stream_stop(s, "the compressed data are damaged", n);
        }
    }
    return n;
}

static size_t stream_read_zstd(nccl_stream *s, char *to, size_t room)
{
    ZSTD_outBuffer out = {to, room, 0};
    while (out.pos < out.size) {
        bool more = stream_refill(s);
        ZSTD_inBuffer in = {s->input, s->end, s->begin};
        size_t had = out.pos, result = 0;
        if (more || !s->between) result = ZSTD_decompressStream(s->zstd, &out, &in);
        s->begin = in.pos;
        if (ZSTD_isError(result)) return stream_stop(s, "the compressed data are damaged", out.pos);
        if (!more && out.pos == had) return stream_stop(s, s->between ? NULL : "the compressed data are cut", out.pos);
        s->between = result == 0;
    }
    return out.pos;
}

size_t nccl_stream_read(nccl_stream *s, void *to, size_t room)
{
    if (s->ended) return 0;
    switch (s->packing) {
    case NCCL_GZIP: return stream_read_gzip(s, to, room);
    case NCCL_ZSTD: return stream_read_zstd(s, to, room);
    default: return stream_read_plain(s, to, room);
    }
}

nccl_packing nccl_stream_packing(const nccl_stream *s)
{
    return s->packing;
}

uint64_t nccl_stream_taken(const nccl_stream *s)
{
    return s->taken;
}

const char *nccl_stream_problem(const nccl_stream *s)
{
    return s->problem;
}

int nccl_stream_error(const nccl_stream *s)
{
    return s->error;
}

void nccl_stream_close(nccl_stream *s)
{
    if (!s) return;
    if (s->fd >= 0) close(s->fd);
    if (s->packing == NCCL_GZIP) inflateEnd(&s->gzip);
    ZSTD_freeDStream(s->zstd);
    free(s);
}
