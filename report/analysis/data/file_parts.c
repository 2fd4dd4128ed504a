#define _GNU_SOURCE // memmem
#include "file_parts.h"

#include "analysis/base/readable.h"
#include "analysis/base/stb_ds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER = 16, WINDOW = 1 << 20, SPARE = 4096 };

static const unsigned char magic[8] = {0x89, 'N', 'P', 'R', 'O', 'F', '\r', '\n'};

static netprof_err parts_fail(netprof_error *error, netprof_err code, int number, const char *text)
{
    if (!error) return code;
    *error = (netprof_error){.code = code, .sys_errno = number};
    snprintf(error->text, sizeof error->text, "%s", text);
    return code;
}

bool parts_is_header(const void *data, size_t size)
{
    return size >= HEADER && memcmp(data, magic, sizeof magic) == 0;
}

// Among other bytes: the whole header, which holds zeros, so that no text in a chunk is taken for one.
static bool parts_is_header_within(const unsigned char *at)
{
    static const unsigned char order[4] = {4, 3, 2, 1};
    return memcmp(at, magic, sizeof magic) == 0 && !at[10] && !at[11] && memcmp(at + 12, order, sizeof order) == 0;
}

size_t parts_next(const void *data, size_t size, size_t from)
{
    const unsigned char *all = data;
    while (from + HEADER <= size) {
        const unsigned char *found = memmem(all + from, size - from, magic, sizeof magic);
        if (!found || (size_t)(found - all) + HEADER > size) break;
        if (parts_is_header_within(found)) return (size_t)(found - all);
        from = (size_t)(found - all) + 1;
    }
    return size;
}

size_t parts_count(const void *data, size_t size)
{
    size_t count = 0;
    for (size_t at = 0; at < size; at = parts_next(data, size, at + 1))
        count++;
    return count;
}

static uint64_t parts_chunk_size(const unsigned char *head)
{
    return 12 + ((uint64_t)head[4] | (uint64_t)head[5] << 8 | (uint64_t)head[6] << 16 | (uint64_t)head[7] << 24);
}

static ssize_t parts_read_at(int fd, void *to, size_t size, uint64_t at)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = pread(fd, (char *)to + done, size - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        if (n == 0) break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

static void parts_add(parts *p, uint64_t at)
{
    arrput(p->at, at);
    p->count = arrlenu(p->at);
}

// A hole holds zeros, and no header. It is skipped but for the bytes that a header across its edges could have.
static uint64_t parts_skip_hole(int fd, uint64_t at)
{
    off_t data = lseek(fd, (off_t)at, SEEK_DATA), end = data < 0 ? lseek(fd, 0, SEEK_END) : 0;
    uint64_t next = (uint64_t)(data >= 0 ? data : end > 0 ? end : 0);
    return next > at + HEADER ? next - HEADER : at;
}

// Windows overlap by a header less one byte: one that lies across two is found in the second.
static netprof_err parts_find_headers(parts *p, char *window, size_t most, netprof_error *error)
{
    for (uint64_t begin = 0;;) {
        begin = parts_skip_hole(p->fd, begin);
        ssize_t n = parts_read_at(p->fd, window, most, begin);
        if (n < 0) return parts_fail(error, NETPROF_ERR_IO, errno, "cannot read");
        size_t size = (size_t)n;
        for (size_t at = parts_next(window, size, p->count ? 0 : 1); at < size; at = parts_next(window, size, at + 1))
            if (begin + at) parts_add(p, begin + at);
        p->size = begin + size;
        if (size < most) return NETPROF_OK;
        begin += size - (HEADER - 1);
    }
}

netprof_err parts_open(parts *p, const char *path, netprof_error *error)
{
    struct stat st;
    unsigned char head[HEADER];
    *p = (parts){.fd = readable_open(path)};
    p->open = p->fd >= 0;
    netprof_err err = p->open ? NETPROF_OK : parts_fail(error, NETPROF_ERR_IO, 0, readable_error(errno));
    if (!err && (fstat(p->fd, &st) || !S_ISREG(st.st_mode) || parts_read_at(p->fd, head, HEADER, 0) != HEADER ||
                 !parts_is_header(head, HEADER)))
        err = parts_fail(error, NETPROF_ERR_FORMAT, 0, "not a .netprof file (its first bytes are others)");
    if (!err) p->grows = readable_grows(p->fd);
    if (!err) {
        // A small file needs no large window: a job has thousands of them. It may grow meanwhile.
        size_t most = st.st_size < WINDOW - SPARE ? (size_t)st.st_size + SPARE : WINDOW;
        char *window = memory_alloc(most);
        parts_add(p, 0);
        err = parts_find_headers(p, window, most, error);
        free(window);
    }
    if (err) parts_close(p);
    if (err && error) snprintf(error->path, sizeof error->path, "%s", path);
    return err;
}

uint64_t parts_size(const parts *p, size_t part)
{
    return (part + 1 < p->count ? p->at[part + 1] : p->size) - p->at[part];
}

bool parts_is_to_come(const parts *p, size_t part, const netprof_item *item)
{
    if (!p->grows || part + 1 < p->count) return false;
    if (item->type == NETPROF_ITEM_END) return !item->complete;
    return item->type == NETPROF_ITEM_DAMAGE && item->offset + item->size == parts_size(p, part);
}

parts_stream parts_begin(const parts *p, size_t part)
{
    return (parts_stream){p->fd, p->at[part], p->at[part] + parts_size(p, part)};
}

int parts_read(void *user, void *to, size_t size, size_t *got)
{
    parts_stream *s = user;
    ssize_t n = parts_read_at(s->fd, to, size < s->end - s->at ? size : (size_t)(s->end - s->at), s->at);
    *got = n < 0 ? 0 : (size_t)n;
    s->at += *got;
    return n < 0 ? errno : 0;
}

netprof_err parts_reader(const parts *p, size_t part, parts_stream *stream, const netprof_limits *limits,
                         netprof_reader **reader, netprof_error *error)
{
    *stream = parts_begin(p, part);
    return netprof_reader_open_fn(reader, parts_read, stream, limits, error);
}

void parts_close(parts *p)
{
    if (p->open) close(p->fd);
    arrfree(p->at);
    *p = (parts){0};
}

// A window on a file that is walked over.
typedef struct walk {
    int fd;
    uint64_t at; // of the window in the file
    size_t size;
    unsigned char window[1 << 16];
} walk;

// HEADER bytes at an offset of the file, or how many there are.
static size_t parts_look_at(walk *w, uint64_t at, const unsigned char **bytes)
{
    if (at < w->at || at + HEADER > w->at + w->size) {
        ssize_t n = parts_read_at(w->fd, w->window, sizeof w->window, at);
        w->at = at;
        w->size = n < 0 ? 0 : (size_t)n;
    }
    *bytes = w->window + (at - w->at);
    return w->size - (size_t)(at - w->at);
}

// From chunk to chunk by their lengths, unchecked: a hint is all that is wanted.
static unsigned parts_walk_over(walk *w)
{
    const unsigned char *head;
    unsigned found = 0;
    if (parts_look_at(w, 0, &head) < HEADER || !parts_is_header(head, HEADER)) return 0;
    for (uint64_t at = HEADER; found != (PARTS_SNAPSHOTS | PARTS_REGIONS);) {
        size_t n = parts_look_at(w, at, &head);
        if (n < 12) break;
        if (n >= HEADER && parts_is_header_within(head)) {
            at += HEADER;
            continue;
        }
        if (memcmp(head, "STEP", 4) == 0 || memcmp(head, "SNAP", 4) == 0 || memcmp(head, "DIFF", 4) == 0)
            found |= PARTS_SNAPSHOTS;
        if (memcmp(head, "REGN", 4) == 0) found |= PARTS_REGIONS;
        at += parts_chunk_size(head);
    }
    return found;
}

unsigned parts_hold(const char *path)
{
    struct stat st;
    unsigned found = 0;
    int fd = readable_open(path);
    if (fd < 0) return 0;
    walk *w = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? memory_alloc(sizeof *w) : NULL;
    if (w) {
        w->fd = fd;
        w->at = w->size = 0;
        found = parts_walk_over(w);
    }
    free(w);
    close(fd);
    return found;
}
