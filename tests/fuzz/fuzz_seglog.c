// Segments of spools and journals: bytes as they come, and files made of the input's entries with planted damage, of which
// every entry that was not touched must be read, in order.
#include "live/spool/little.h"
#include "live/spool/seglog.h"
#include "expect.h"
#include "input.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 64 };

static void read_raw(const uint8_t *data, size_t size)
{
    seglog_reader r;
    seglog_entry e;
    if (seglog_reader_memory(&r, data, size)) return;
    uint64_t at = r.at;
    while (seglog_reader_next(&r, &e)) {
        expect(r.at > at && r.at <= size);
        at = r.at;
    }
    seglog_reader_close(&r);
}

// A header with the checksum that it must have.
static size_t make_file(input *in, unsigned char *file, uint64_t *begins, unsigned *count)
{
    static unsigned char header[SEGLOG_HEADER];
    static seglog log;
    if (!log.seed) { // the salt is random: once, for all inputs of this process
        char path[] = "/tmp/netprof-fuzz-XXXXXX";
        seglog_header h = {.first = 1};
        expect(mkstemp(path) >= 0);
        unlink(path);
        expect(seglog_create(&log, path, &h) == 0);
        expect(pread(log.fd, header, sizeof header, 0) == sizeof header);
        unlink(path);
    }
    size_t size = SEGLOG_HEADER;
    memcpy(file, header, SEGLOG_HEADER);
    bool more = true;
    for (*count = 0; *count < MOST && in->size > 2 && more; ++*count) {
        size_t n = input_take(in, 1);
        if (n > in->size) n = in->size;
        const seglog_entry e = {.kind = 2, .number = *count, .size = (uint32_t)n, .data = in->data};
        begins[*count] = size;
        seglog_head(&log, file + size, &e);
        memcpy(file + size + SEGLOG_HEAD, in->data, n);
        size += SEGLOG_HEAD + n;
        in->data += n;
        in->size -= n;
        more = (input_take(in, 1) & 1) == 0;
    }
    begins[*count] = size;
    return size;
}

static void read_damaged(const uint8_t *data, size_t size)
{
    static unsigned char file[SEGLOG_HEADER + MOST * (SEGLOG_HEAD + 256)];
    uint64_t begins[MOST + 1];
    unsigned count, next = 0;
    int touched[MOST] = {0};
    input in = {data, size};
    size_t whole = make_file(&in, file, begins, &count);
    for (unsigned i = 0; i < 4 && in.size > 2; i++) {
        size_t at = input_take(&in, 2);
        unsigned char flip = (unsigned char)input_take(&in, 1);
        if (at < SEGLOG_HEADER || at >= whole || !flip) continue;
        file[at] ^= flip;
        for (unsigned k = 0; k < count; k++)
            if (at >= begins[k] && at < begins[k + 1]) touched[k] = 1;
    }
    seglog_reader r;
    seglog_entry e;
    expect(seglog_reader_memory(&r, file, whole) == 0);
    while (seglog_reader_next(&r, &e)) {
        expect(e.number < count && e.number >= next);
        for (; next < e.number; next++)
            expect(touched[next]);
        expect(e.size == begins[next + 1] - begins[next] - SEGLOG_HEAD);
        next++;
    }
    for (; next < count; next++)
        expect(touched[next]);
    seglog_reader_close(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_raw(data, size);
    read_damaged(data, size);
    return 0;
}
