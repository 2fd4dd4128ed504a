#define _GNU_SOURCE // pwritev
#include "seglog.h"

#include "crc32c.h"
#include "little.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SEGLOG_VERSION = 1, SEGLOG_MAGIC = 0x45504e21 };

static const unsigned char seglog_magic[8] = {'N', 'P', 'L', 'O', 'G', 0x0d, 0x0a, 0x01};

static uint32_t seglog_seed(uint64_t salt)
{
    unsigned char bytes[8];
    little_put(bytes, salt, 8);
    return crc32c(0, bytes, sizeof bytes);
}

int seglog_random(void *to, size_t size)
{
    unsigned char *p = to;
    while (size) {
        ssize_t n = getrandom(p, size, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? errno : EIO;
        p += n;
        size -= (size_t)n;
    }
    return 0;
}

// ---- the header ----

static void seglog_put_header(unsigned char to[SEGLOG_HEADER], const seglog_header *h)
{
    memcpy(to, seglog_magic, 8);
    little_put(to + 8, SEGLOG_VERSION, 4);
    little_put(to + 16, h->salt, 8);
    memcpy(to + 24, h->owner, 16);
    little_put(to + 40, h->first, 8);
    little_put(to + 48, (uint64_t)h->time_ns, 8);
    little_put(to + 56, h->extra, 8);
    little_put(to + 12, crc32c(crc32c(0, to, 12), to + 16, 48), 4);
}

static bool seglog_get_header(seglog_header *h, const unsigned char *from)
{
    if (memcmp(from, seglog_magic, 8) != 0 || little_get(from + 8, 4) != SEGLOG_VERSION ||
        little_get(from + 12, 4) != crc32c(crc32c(0, from, 12), from + 16, 48))
        return false;
    h->salt = little_get(from + 16, 8);
    memcpy(h->owner, from + 24, 16);
    h->first = little_get(from + 40, 8);
    h->time_ns = (int64_t)little_get(from + 48, 8);
    h->extra = little_get(from + 56, 8);
    return true;
}

// ---- writing ----

// 0 or an errno.
static int seglog_write(int fd, struct iovec *parts, int count, uint64_t at)
{
    while (count) {
        ssize_t n = pwritev(fd, parts, count, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? errno : ENOSPC;
        at += (uint64_t)n;
        for (; count && (size_t)n >= parts->iov_len; parts++, count--)
            n -= (ssize_t)parts->iov_len;
        if (!count) break;
        parts->iov_base = (char *)parts->iov_base + n;
        parts->iov_len -= (size_t)n;
    }
    return 0;
}

int seglog_create(seglog *log, const char *path, seglog_header *header)
{
    unsigned char bytes[SEGLOG_HEADER];
    *log = (seglog){.fd = -1};
    int error = seglog_random(&header->salt, sizeof header->salt);
    if (error) return error;
    log->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (log->fd < 0) return errno;
    seglog_put_header(bytes, header);
    struct iovec part = {bytes, sizeof bytes};
    error = seglog_write(log->fd, &part, 1, 0);
    if (error) {
        seglog_close(log);
        unlink(path);
        return error;
    }
    log->seed = seglog_seed(header->salt);
    log->size = SEGLOG_HEADER;
    return 0;
}

int seglog_continue(seglog *log, const char *path, seglog_header *header, uint64_t *cut)
{
    seglog_reader r;
    seglog_entry e;
    struct stat st;
    *log = (seglog){.fd = -1};
    *cut = 0;
    int error = seglog_reader_open(&r, path);
    if (error) return error;
    *header = r.header;
    while (seglog_reader_next(&r, &e))
        continue;
    log->seed = r.seed;
    log->size = r.at;
    seglog_reader_close(&r);
    log->fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (log->fd < 0 || fstat(log->fd, &st)) error = errno;
    if (!error && (uint64_t)st.st_size > log->size) {
        *cut = (uint64_t)st.st_size - log->size;
        if (ftruncate(log->fd, (off_t)log->size)) error = errno;
    }
    if (error) seglog_close(log);
    return error;
}

void seglog_head(const seglog *log, unsigned char *to, const seglog_entry *e)
{
    little_put(to, SEGLOG_MAGIC, 4);
    little_put(to + 4, e->size, 4);
    little_put(to + 8, e->kind, 2);
    little_put(to + 10, e->flags, 2);
    little_put(to + 12, crc32c(0, e->data, e->size), 4);
    little_put(to + 16, e->number, 8);
    little_put(to + 24, (uint64_t)e->time_ns, 8);
    little_put(to + 32, crc32c(log->seed, to, 32), 4);
}

int seglog_append(seglog *log, const seglog_entry *e)
{
    unsigned char head[SEGLOG_HEAD];
    if (e->size > SEGLOG_MOST) return EFBIG;
    seglog_head(log, head, e);
    struct iovec parts[2] = {{head, sizeof head}, {(void *)(uintptr_t)e->data, e->size}};
    int error = seglog_write(log->fd, parts, e->size ? 2 : 1, log->size);
    if (!error)
        log->size += SEGLOG_HEAD + e->size;
    else
        seglog_take_back(log, log->size);
    return error;
}

int seglog_append_made(seglog *log, const void *data, size_t size)
{
    struct iovec part = {(void *)(uintptr_t)data, size};
    int error = size ? seglog_write(log->fd, &part, 1, log->size) : 0;
    if (!error)
        log->size += size;
    else
        seglog_take_back(log, log->size);
    return error;
}

void seglog_take_back(seglog *log, uint64_t size)
{
    if (ftruncate(log->fd, (off_t)size)) errno = 0; // whoever reads it passes over half an entry
    log->size = size;
}

int seglog_sync(seglog *log)
{
    while (fdatasync(log->fd))
        if (errno != EINTR) return errno;
    return 0;
}

void seglog_close(seglog *log)
{
    if (log->fd >= 0) close(log->fd);
    log->fd = -1;
}

// ---- reading ----

// How many bytes there were, at most `size`.
static size_t seglog_read(const seglog_reader *r, void *to, size_t size, uint64_t at)
{
    size_t got = 0;
    if (r->memory) {
        if (at >= r->memory_size) return 0;
        got = r->memory_size - at < size ? (size_t)(r->memory_size - at) : size;
        memcpy(to, r->memory + at, got);
        return got;
    }
    while (got < size) {
        ssize_t n = pread(r->fd, (char *)to + got, size - got, (off_t)(at + got));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        got += (size_t)n;
    }
    return got;
}

// The same for what is small, by way of a window: entries are read one after another.
static size_t seglog_read_on(seglog_reader *r, void *to, size_t size, uint64_t at)
{
    enum { WINDOW = 4096 };
    if (r->memory || size > WINDOW / 2) return seglog_read(r, to, size, at);
    if (!r->window && !(r->window = malloc(WINDOW))) return seglog_read(r, to, size, at);
    if (at < r->window_at || at - r->window_at + size > r->window_size) {
        r->window_at = at;
        r->window_size = seglog_read(r, r->window, WINDOW, at);
    }
    size_t got = r->window_size - (size_t)(at - r->window_at);
    if (got > size) got = size;
    memcpy(to, r->window + (at - r->window_at), got);
    return got;
}

static int seglog_reader_begin(seglog_reader *r)
{
    unsigned char bytes[SEGLOG_HEADER];
    if (seglog_read(r, bytes, sizeof bytes, 0) < sizeof bytes || !seglog_get_header(&r->header, bytes)) {
        seglog_reader_close(r);
        return EILSEQ;
    }
    r->seed = seglog_seed(r->header.salt);
    r->at = SEGLOG_HEADER;
    return 0;
}

int seglog_reader_open(seglog_reader *r, const char *path)
{
    *r = (seglog_reader){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
    return r->fd < 0 ? errno : seglog_reader_begin(r);
}

int seglog_reader_memory(seglog_reader *r, const void *data, size_t size)
{
    *r = (seglog_reader){.fd = -1, .memory = data, .memory_size = size};
    return seglog_reader_begin(r);
}

static bool seglog_make_room(seglog_reader *r, size_t size)
{
    if (size <= r->room) return true;
    unsigned char *more = realloc(r->buffer, size);
    if (!more) return false;
    r->buffer = more;
    r->room = size;
    return true;
}

static bool seglog_is_head(const seglog_reader *r, const unsigned char *p)
{
    return little_get(p, 4) == SEGLOG_MAGIC && little_get(p + 32, 4) == crc32c(r->seed, p, 32) &&
           little_get(p + 4, 4) <= SEGLOG_MOST;
}

static bool seglog_try_entry(seglog_reader *r, uint64_t at, seglog_entry *e)
{
    unsigned char head[SEGLOG_HEAD];
    if (seglog_read_on(r, head, sizeof head, at) < sizeof head || !seglog_is_head(r, head)) return false;
    *e = (seglog_entry){.size = (uint32_t)little_get(head + 4, 4),
                        .kind = (uint16_t)little_get(head + 8, 2),
                        .flags = (uint16_t)little_get(head + 10, 2),
                        .number = little_get(head + 16, 8),
                        .time_ns = (int64_t)little_get(head + 24, 8)};
    if (!seglog_make_room(r, (size_t)e->size + 1) ||
        seglog_read_on(r, r->buffer, e->size, at + SEGLOG_HEAD) < e->size ||
        crc32c(0, r->buffer, e->size) != little_get(head + 12, 4))
        return false;
    e->data = r->buffer;
    return true;
}

// A file that grows may have held half of this entry when the window was read, or nothing.
static bool seglog_read_entry(seglog_reader *r, uint64_t at, seglog_entry *e)
{
    if (r->window_at == at) r->window_size = 0;
    if (seglog_try_entry(r, at, e)) return true;
    if (r->window_at == at || !r->window_size) return false;
    r->window_size = 0;
    return seglog_try_entry(r, at, e);
}

// The next place from `from` on where there is a head; UINT64_MAX: none.
static uint64_t seglog_find_head(const seglog_reader *r, uint64_t from)
{
    unsigned char window[16384];
    for (;;) {
        size_t n = seglog_read(r, window, sizeof window, from);
        if (n < SEGLOG_HEAD) return UINT64_MAX;
        for (size_t i = 0; i + SEGLOG_HEAD <= n; i++)
            if (seglog_is_head(r, window + i)) return from + i;
        from += n - SEGLOG_HEAD + 1;
    }
}

bool seglog_reader_here(seglog_reader *r, seglog_entry *e)
{
    if (!seglog_read_entry(r, r->at, e)) return false;
    r->at += SEGLOG_HEAD + e->size;
    return true;
}

bool seglog_reader_next(seglog_reader *r, seglog_entry *e)
{
    if (seglog_reader_here(r, e)) return true;
    for (uint64_t at = r->at + 1; (at = seglog_find_head(r, at)) != UINT64_MAX; at++) {
        if (!seglog_read_entry(r, at, e)) continue;
        r->lost += at - r->at;
        r->at = at + SEGLOG_HEAD + e->size;
        return true;
    }
    return false;
}

void seglog_reader_close(seglog_reader *r)
{
    if (r->fd >= 0) close(r->fd);
    free(r->buffer);
    free(r->window);
    *r = (seglog_reader){.fd = -1};
}
