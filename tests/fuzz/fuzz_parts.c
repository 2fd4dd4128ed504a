/* Parts of files: any bytes, in memory and as a file. Where parts begin is compared with a search of every byte; parts put
   together again are the file. */
#define _GNU_SOURCE
#include "expect.h"
#include "analysis/base/readable.h"
#include "analysis/data/file_parts.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* netprof.h, section 10.1: the signature, a version below 65536, the order of bytes. */
static int is_header(const uint8_t *at, size_t left)
{
    static const uint8_t signature[] = {0x89, 'N', 'P', 'R', 'O', 'F', '\r', '\n'}, order[] = {4, 3, 2, 1};
    return left >= 16 && memcmp(at, signature, 8) == 0 && at[10] == 0 && at[11] == 0 && memcmp(at + 12, order, 4) == 0;
}

/* The next begin of a part behind `from`, by looking at each byte; size: none. */
static size_t next_by_hand(const uint8_t *data, size_t size, size_t from)
{
    for (size_t at = from + 1; at < size; at++)
        if (is_header(data + at, size - at)) return at;
    return size;
}

static void in_memory(const uint8_t *data, size_t size)
{
    size_t count = 0;
    for (size_t at = 0; at < size; at = next_by_hand(data, size, at)) {
        expect(parts_next(data, size, at + 1) == next_by_hand(data, size, at));
        count++;
    }
    expect(parts_count(data, size) == count);
}

/* In pieces of any size what the stream of a part gives is the part, and then no more. */
static void read_through(const parts *p, size_t part, const uint8_t *data, size_t size)
{
    char piece[61];
    parts_stream stream = parts_begin(p, part);
    size_t at = 0, got = 1;
    while (got) {
        size_t most = 1 + (at + part) % sizeof piece;
        expect(parts_read(&stream, piece, most, &got) == 0);
        expect(got == (most < size - at ? most : size - at) && memcmp(piece, data + at, got) == 0);
        at += got;
    }
    expect(at == size);
}

static void as_plain_file(const char *path, const uint8_t *data, size_t size)
{
    parts p = {0};
    netprof_error error;
    size_t at = 0;
    netprof_err err = parts_open(&p, path, &error);
    expect((err == NETPROF_OK) == (parts_is_header(data, size) != 0));
    expect(err || parts_hold(path) <= (PARTS_SNAPSHOTS | PARTS_REGIONS));
    expect(!err || parts_hold(path) == 0);
    for (size_t i = 0; !err && i < p.count; i++) {
        uint64_t wanted = parts_size(&p, i);
        expect(p.at[i] == at && at + wanted <= size && wanted > 0);
        expect(at + wanted == next_by_hand(data, size, at));
        read_through(&p, i, data + at, wanted);
        at += wanted;
    }
    expect(err || at == size);
    parts_close(&p);
}

/* What is packed is read as what it unpacks to; damaged, it can't be opened. */
static void as_file(const uint8_t *data, size_t size)
{
    enum { MOST = 1 << 20 };
    char path[64];
    struct stat st = {0};
    int fd = memfd_create("parts", MFD_CLOEXEC);
    expect(fd >= 0 && (!size || write(fd, data, size) == (ssize_t)size));
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int plain = readable_open(path);
    expect(plain < 0 || fstat(plain, &st) == 0);
    uint8_t *bytes = malloc(MOST);
    expect(bytes != NULL);
    if (plain < 0) {
        parts p;
        netprof_error error;
        expect(parts_open(&p, path, &error) == NETPROF_ERR_IO && parts_hold(path) == 0);
    } else if (st.st_size <= MOST) {
        expect(pread(plain, bytes, MOST, 0) == (ssize_t)st.st_size);
        as_plain_file(path, bytes, (size_t)st.st_size);
    }
    free(bytes);
    if (plain >= 0) close(plain);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1); /* nothing beyond its end may be read */
    expect(exact != NULL);
    if (size) memcpy(exact, data, size);
    in_memory(exact, size);
    as_file(exact, size);
    free(exact);
    return 0;
}
