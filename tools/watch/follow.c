#define _GNU_SOURCE
#include "follow.h"

#include "analysis/base/readable.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER = 16, COMPACT_ITEMS = 256, PIECE = 8 << 20, MOST_TAIL = 64 << 20 };

// A chunk, as the reader reported it.
typedef struct item {
    size_t offset, size;
    const netprof_schema *schema; // of the reader at hand; only compared. NULL: no snapshot
} item;

// Bytes that belong to no item.
typedef struct stretch {
    size_t offset, end;
} stretch;

struct follow {
    char *path, *unpacked; // unpacked: where the same is that the path has packed; NULL: nowhere
    int fd;
    ino_t inode;
    dev_t device;
    off_t read;          // bytes of the file that were looked at
    unsigned char *data; // what is kept
    size_t size, room;
    size_t delivered;  // bytes of data that were delivered
    item *items;       // of the last pass, in order
    stretch *damaged;  // in the last pass, in order
    size_t compact_at; // so many snapshots are worth thinning
    bool thinned, ended;
};

follow *follow_open(const char *path)
{
    follow *f = memory_calloc(1, sizeof *f);
    f->path = memory_strdup(path);
    f->fd = -1;
    f->compact_at = COMPACT_ITEMS;
    return f;
}

static netprof_err follow_failed(netprof_error *error, netprof_err code, const follow *f, const char *text)
{
    *error = (netprof_error){.code = code, .sys_errno = code == NETPROF_ERR_IO ? errno : 0};
    snprintf(error->path, sizeof error->path, "%s", f->path);
    snprintf(error->text, sizeof error->text, "%s", text);
    return code;
}

static void follow_begin_anew(follow *f)
{
    if (f->fd >= 0) close(f->fd);
    free(f->unpacked);
    f->unpacked = NULL;
    f->fd = -1;
    f->read = 0;
    f->size = f->delivered = 0;
    arrsetlen(f->items, 0);
    arrsetlen(f->damaged, 0);
    f->compact_at = COMPACT_ITEMS;
    f->thinned = f->ended = false;
}

// True if the path now names another file, or the file was cut.
static bool follow_was_replaced(const follow *f)
{
    struct stat st;
    if (f->fd < 0) return false;
    if (stat(f->path, &st) == 0 && (st.st_ino != f->inode || st.st_dev != f->device)) return true;
    return fstat(f->fd, &st) == 0 && st.st_size < f->read;
}

// What gzip or zstd packed is whole: it is unpacked once, and does not grow.
static bool follow_unpack(follow *f)
{
    unsigned char head[4];
    ssize_t n = pread(f->fd, head, sizeof head, 0);
    if (n < (ssize_t)sizeof head || !unpack_is_packed(head, sizeof head)) return true;
    int unpacked = readable_open(f->path), error = errno;
    close(f->fd);
    f->fd = unpacked;
    if (unpacked >= 0) f->unpacked = memory_format("/proc/self/fd/%d", unpacked);
    errno = error;
    return unpacked >= 0;
}

static netprof_err follow_open_file(follow *f, netprof_error *error)
{
    struct stat st;
    if (follow_was_replaced(f)) follow_begin_anew(f);
    if (f->fd >= 0) return NETPROF_OK;
    f->fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (f->fd < 0 || fstat(f->fd, &st)) return follow_failed(error, NETPROF_ERR_IO, f, "cannot open");
    if (!S_ISREG(st.st_mode)) {
        follow_begin_anew(f);
        return follow_failed(error, NETPROF_ERR_FORMAT, f, "not a file that grows");
    }
    f->inode = st.st_ino;
    f->device = st.st_dev;
    return follow_unpack(f) ? NETPROF_OK : follow_failed(error, NETPROF_ERR_IO, f, "cannot unpack");
}

// At most a piece: a long recording is not kept whole.
static netprof_err follow_read_more(follow *f, netprof_error *error)
{
    for (size_t before = f->size; f->size - before < PIECE;) {
        if (f->room - f->size < 65536) f->data = memory_realloc(f->data, f->room = 2 * f->room + 65536);
        ssize_t n = pread(f->fd, f->data + f->size, f->room - f->size, f->read);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return follow_failed(error, NETPROF_ERR_IO, f, "cannot read");
        if (n == 0) break;
        f->size += (size_t)n;
        f->read += n;
    }
    return NETPROF_OK;
}

const char *follow_path(const follow *f)
{
    return f->unpacked ? f->unpacked : f->path;
}

// Did the recorder close the file? Once chunks were given up, only the whole file shows it.
static bool follow_is_complete(const follow *f, const netprof_item *end)
{
    netprof_reader *reader;
    netprof_item x = {.complete = 0};
    size_t told =
        arrlenu(f->items) ? f->items[arrlenu(f->items) - 1].offset + f->items[arrlenu(f->items) - 1].size : HEADER;
    if (!f->thinned || told == f->size) return end->complete;
    if (netprof_reader_open(&reader, follow_path(f), NULL, NULL)) return false;
    while (!netprof_reader_next(reader, &x, NULL) && x.type != NETPROF_ITEM_END)
        continue;
    netprof_reader_close(reader);
    return x.complete;
}

// True where the last pass found damage, perhaps a chunk that was not all there yet but held what looks like another one.
// Asked for in order of offsets, from at = 0.
static bool follow_was_damaged(const follow *f, size_t offset, size_t *at)
{
    while (*at < arrlenu(f->damaged) && f->damaged[*at].end <= offset)
        ++*at;
    return *at < arrlenu(f->damaged) && f->damaged[*at].offset <= offset;
}

// Reads what is kept once, and delivers what is new.
static netprof_err follow_pass(follow *f, follow_take *take, void *user, netprof_error *error)
{
    netprof_reader *reader;
    netprof_item x;
    stretch *damaged = NULL;
    size_t at = 0;
    netprof_err err = netprof_reader_open_memory(&reader, f->data, f->size, NULL, error);
    if (err) return err;
    arrsetlen(f->items, 0);
    while (!(err = netprof_reader_next(reader, &x, error))) {
        if (x.type == NETPROF_ITEM_END) {
            f->ended = follow_is_complete(f, &x);
            break;
        }
        // Damage up to the end is a chunk of which not all is there yet.
        if (x.type == NETPROF_ITEM_DAMAGE && x.offset + x.size == f->size) break;
        if (x.type == NETPROF_ITEM_DAMAGE)
            arrput(damaged, ((stretch){x.offset, x.offset + x.size}));
        else
            arrput(f->items, ((item){x.offset, x.size, x.snapshot ? x.snapshot->schema : NULL}));
        if (x.snapshot && (x.offset >= f->delivered || follow_was_damaged(f, x.offset, &at))) take(user, x.snapshot);
        if (x.offset + x.size > f->delivered) f->delivered = x.offset + x.size;
    }
    netprof_reader_close(reader);
    arrfree(f->damaged);
    f->damaged = damaged;
    if (err) snprintf(error->path, sizeof error->path, "%s", f->path);
    return err;
}

// ---- giving up what is not needed any more ----

// The bytes before the item that belong to no item: the header, schemas.
static size_t follow_between(const follow *f, size_t i, size_t *from)
{
    *from = i ? f->items[i - 1].offset + f->items[i - 1].size : 0;
    return f->items[i].offset - *from;
}

static void follow_append(unsigned char *to, size_t *size, const unsigned char *from, size_t count)
{
    memcpy(to + *size, from, count);
    *size += count;
}

// True if the snapshot can be read alone, given all schemas before it.
static bool follow_stands_alone(const follow *f, unsigned char *scratch, size_t schemas, size_t i)
{
    netprof_reader *reader;
    netprof_item x;
    bool alone = false;
    follow_append(scratch, &schemas, f->data + f->items[i].offset, f->items[i].size);
    if (netprof_reader_open_memory(&reader, scratch, schemas, NULL, NULL)) return false;
    while (!netprof_reader_next(reader, &x, NULL) && x.type != NETPROF_ITEM_END)
        alone = x.type == NETPROF_ITEM_SNAPSHOT;
    netprof_reader_close(reader);
    return alone;
}

// The newest snapshot of the schema that can be read alone, or the first of it.
static size_t follow_newest_key(const follow *f, unsigned char *scratch, size_t schemas, const netprof_schema *schema)
{
    size_t first = arrlenu(f->items);
    for (size_t i = arrlenu(f->items); i-- > 0;) {
        if (f->items[i].schema != schema) continue;
        first = i;
        if (follow_stands_alone(f, scratch, schemas, i)) break;
    }
    return first;
}

// Header and schemas in order, then of each schema what its newest snapshot needs. Chunks carry numbers of schemas and
// of their keys, so the order among each must stay.
static void follow_compact(follow *f)
{
    unsigned char *kept = memory_alloc(f->size), *scratch = memory_alloc(f->size);
    bool *needed = memory_calloc(arrlenu(f->items), sizeof *needed);
    size_t size = 0, from, snapshots = 0;
    for (size_t i = 0; i < arrlenu(f->items); i++) {
        size_t count = follow_between(f, i, &from);
        follow_append(kept, &size, f->data + from, count);
    }
    memcpy(scratch, kept, size);
    for (size_t i = arrlenu(f->items); i-- > 0;) {
        if (!f->items[i].schema || needed[i]) continue;
        size_t key = follow_newest_key(f, scratch, size, f->items[i].schema);
        // All of the schema from its key on; the schema is done with that.
        for (size_t k = key; k <= i; k++)
            needed[k] |= f->items[k].schema == f->items[i].schema;
        for (size_t k = 0; k < key; k++)
            if (f->items[k].schema == f->items[i].schema) f->items[k].schema = NULL;
    }
    for (size_t i = 0; i < arrlenu(f->items); i++) {
        if (!needed[i]) continue;
        follow_append(kept, &size, f->data + f->items[i].offset, f->items[i].size);
        snapshots++;
    }
    size_t tail = f->delivered;
    f->delivered = size;
    follow_append(kept, &size, f->data + tail, f->size - tail);
    memcpy(f->data, kept, size);
    f->size = size;
    arrsetlen(f->damaged, 0);
    f->compact_at = 2 * snapshots + COMPACT_ITEMS;
    f->thinned = true;
    free(kept);
    free(scratch);
    free(needed);
}

netprof_err follow_look(follow *f, follow_take *take, void *user, netprof_error *error)
{
    netprof_err err = follow_open_file(f, error);
    while (!err) {
        size_t before = f->size;
        err = follow_read_more(f, error);
        if (err || f->size == before) return err;
        if (f->size < HEADER) continue; // it has just begun
        err = follow_pass(f, take, user, error);
        if (!err && arrlenu(f->items) > f->compact_at) follow_compact(f);
        if (!err && f->size - f->delivered > MOST_TAIL)
            err = follow_failed(error, NETPROF_ERR_FORMAT, f, "more than 64 MiB that are no whole reading");
    }
    return err;
}

bool follow_ended(const follow *f)
{
    return f->ended;
}

void follow_close(follow *f)
{
    if (!f) return;
    if (f->fd >= 0) close(f->fd);
    free(f->path);
    free(f->unpacked);
    free(f->data);
    arrfree(f->items);
    arrfree(f->damaged);
    free(f);
}
