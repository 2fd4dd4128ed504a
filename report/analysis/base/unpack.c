#include "unpack.h"

#include "memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { INPUT = 64 << 10 };

struct unpack {
    int fd, error;
    unpack_packing packing;
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
static size_t unpack_read_fully(unpack *s, void *to, size_t room)
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

static bool unpack_refill(unpack *s)
{
    if (s->begin < s->end) return true;
    s->begin = 0;
    s->end = unpack_read_fully(s, s->input, sizeof s->input);
    return s->end > 0;
}

static unpack_packing unpack_of(const unsigned char *data, size_t size)
{
    static const unsigned char gzip[] = {0x1f, 0x8b}, zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    if (size >= sizeof gzip && memcmp(data, gzip, sizeof gzip) == 0) return UNPACK_GZIP;
    return size >= sizeof zstd && memcmp(data, zstd, sizeof zstd) == 0 ? UNPACK_ZSTD : UNPACK_PLAIN;
}

bool unpack_is_packed(const void *data, size_t size)
{
    return unpack_of(data, size) != UNPACK_PLAIN;
}

unpack *unpack_open(int fd, bool plain)
{
    unpack *s = memory_alloc(sizeof *s);
    memset(s, 0, offsetof(unpack, input));
    s->fd = fd;
    if (plain) return s;
    s->end = unpack_read_fully(s, s->input, sizeof s->input);
    s->between = true;
    s->packing = unpack_of(s->input, s->end);
    if (s->packing == UNPACK_GZIP && inflateInit2(&s->gzip, 15 + 16) != Z_OK) memory_exhausted();
    if (s->packing == UNPACK_ZSTD) s->zstd = memory_check(ZSTD_createDStream());
    return s;
}

static size_t unpack_read_plain(unpack *s, char *to, size_t room)
{
    size_t n = s->end - s->begin;
    if (n > room) n = room;
    memcpy(to, s->input + s->begin, n);
    s->begin += n;
    return n < room ? n + unpack_read_fully(s, to + n, room - n) : n;
}

static size_t unpack_stop(unpack *s, const char *problem, size_t n)
{
    s->ended = true;
    if (!s->problem) s->problem = problem;
    return n;
}

// gzip's members may follow each other; zeros and anything else after the last one are padding.
static size_t unpack_read_gzip(unpack *s, char *to, size_t room)
{
    size_t n = 0;
    while (n < room) {
        if (!unpack_refill(s)) return unpack_stop(s, s->between ? NULL : "the compressed data are cut", n);
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
            if (unpack_refill(s) && s->input[s->begin] != 0x1f) return unpack_stop(s, NULL, n);
        } else if (result != Z_OK && result != Z_BUF_ERROR) {
            return unpack_stop(s, "the compressed data are damaged", n);
        }
    }
    return n;
}

static size_t unpack_read_zstd(unpack *s, char *to, size_t room)
{
    ZSTD_outBuffer out = {to, room, 0};
    while (out.pos < out.size) {
        bool more = unpack_refill(s);
        ZSTD_inBuffer in = {s->input, s->end, s->begin};
        size_t had = out.pos, result = 0;
        if (more || !s->between) result = ZSTD_decompressStream(s->zstd, &out, &in);
        s->begin = in.pos;
        if (ZSTD_isError(result)) return unpack_stop(s, "the compressed data are damaged", out.pos);
        if (!more && out.pos == had) return unpack_stop(s, s->between ? NULL : "the compressed data are cut", out.pos);
        s->between = result == 0;
    }
    return out.pos;
}

size_t unpack_read(unpack *s, void *to, size_t room)
{
    if (s->ended) return 0;
    switch (s->packing) {
    case UNPACK_GZIP: return unpack_read_gzip(s, to, room);
    case UNPACK_ZSTD: return unpack_read_zstd(s, to, room);
    default: return unpack_read_plain(s, to, room);
    }
}

unpack_packing unpack_packing_of(const unpack *s)
{
    return s->packing;
}

uint64_t unpack_taken(const unpack *s)
{
    return s->taken;
}

const char *unpack_problem(const unpack *s)
{
    return s->problem;
}

int unpack_error(const unpack *s)
{
    return s->error;
}

void unpack_close(unpack *s)
{
    if (!s) return;
    if (s->packing == UNPACK_GZIP) inflateEnd(&s->gzip);
    ZSTD_freeDStream(s->zstd);
    free(s);
}
