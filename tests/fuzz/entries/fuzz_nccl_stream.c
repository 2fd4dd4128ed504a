/* Logs of the NCCL Inspector as files, plain, gzip or zstd. Any bytes are unpacked or said to be damaged; and what was
   packed here, in one piece or several, is read as if it were plain. */
#define _GNU_SOURCE
#include "pieces.h"
#include "analysis/nccl/logs/nccl_logs.h"
#include "analysis/nccl/logs/nccl_stream.h"

#include <zlib.h>
#include <zstd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 20 }; // that a small file may unpack to: its rest is not looked at

/* What a stream gives, read in pieces of `most` bytes. */
static uint8_t *unpacked(const char *path, size_t most, size_t *got, int *whole)
{
    uint8_t *all = malloc(MOST + 256);
    nccl_stream *s = nccl_stream_open(path, 0);
    expect(all && s);
    *got = 0;
    for (size_t n = 1; n && *got < MOST; *got += n) {
        n = nccl_stream_read(s, all + *got, most);
        expect(n <= most);
    }
    *whole = !nccl_stream_problem(s) && !nccl_stream_error(s) && *got < MOST;
    expect(nccl_stream_error(s) == 0);
    nccl_stream_close(s);
    return all;
}

static void check_any(const uint8_t *data, size_t size)
{
    size_t a, b;
    int whole, again;
    const char *path = pieces_file(0, data, size);
    uint8_t *once = unpacked(path, 256, &a, &whole), *twice = unpacked(path, 61, &b, &again);
    size_t both = a < b ? a : b;
    expect(memcmp(once, twice, both) == 0 && whole == again && (!whole || a == b));
    free(once);
    free(twice);
}

/* Packs a stretch behind what is there already: a file may have several members, or frames. */
static size_t pack(uint8_t *to, size_t room, const uint8_t *data, size_t size, int zstd)
{
    if (zstd) {
        size_t n = ZSTD_compress(to, room, data, size, 1);
        expect(!ZSTD_isError(n));
        return n;
    }
    z_stream z = {
        .next_in = (uint8_t *)(uintptr_t)data, .avail_in = (uInt)size, .next_out = to, .avail_out = (uInt)room};
    expect(deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    expect(deflate(&z, Z_FINISH) == Z_STREAM_END);
    size_t n = room - z.avail_out;
    deflateEnd(&z);
    return n;
}

static netprof_err read_logs(nccl *n, const char *path)
{
    const nccl_options how = {.threads = 1, .max_line = 4096, .part = 1 << 16};
    netprof_error error = {.code = NETPROF_OK};
    *n = (nccl){0};
    return nccl_read(n, &path, 1, &how, &error);
}

static void check_same(const uint8_t *text, size_t size, int zstd, size_t cut)
{
    size_t room = 2 * size + 1024, at = 0, got;
    uint8_t *packed = malloc(room);
    int whole;
    nccl plain, read;
    expect(packed != NULL);
    if (cut > size) cut = size;
    at = pack(packed, room, text, cut, zstd);
    if (cut < size) at += pack(packed + at, room - at, text + cut, size - cut, zstd);
    const char *path = pieces_file(1, packed, at);
    uint8_t *all = unpacked(path, 200, &got, &whole);
    expect(whole && got == size && (!size || memcmp(all, text, size) == 0));
    free(all);
    netprof_err first = read_logs(&plain, pieces_file(0, text, size)), second = read_logs(&read, path);
    // What begins as a packed file does is one.
    int looks_packed = size >= 2 && (memcmp(text, "\x1f\x8b", 2) == 0 || text[0] == 0x28 || (text[0] & 0xf0) == 0x50);
    expect(looks_packed || (first == second && plain.record_count == read.record_count));
    for (int i = 0; !looks_packed && i < NCCL_OUTCOMES; i++)
        expect(plain.outcomes[i] == read.outcomes[i]);
    nccl_free(&plain);
    nccl_free(&read);
    free(packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3 || size > 1 << 16) return 0;
    switch (data[0] % 3) {
    case 0: check_any(data + 3, size - 3); break;
    case 1: check_same(data + 3, size - 3, 0, pieces_get(data + 1, 2)); break;
    default: check_same(data + 3, size - 3, 1, pieces_get(data + 1, 2)); break;
    }
    return 0;
}
