/* The texts of /proc/net that the source ip reads: any bytes in them, at discovery and when read again. The files
   come from memory: the input is split at bytes 0xff, and each open() of a name gets the piece of that name. */
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

static int piece_open(int dirfd, const char *path, int flags);
static ssize_t piece_read(int fd, void *to, size_t size);
static ssize_t piece_pread(int fd, void *to, size_t size, long offset);
static int piece_close(int fd);

#define _GNU_SOURCE
#define NETPROF_OS_OPENAT(dirfd, path, flags)    piece_open((dirfd), (path), (flags))
#define NETPROF_OS_READ(fd, data, size)          piece_read((fd), (data), (size))
#define NETPROF_OS_PREAD(fd, data, size, offset) piece_pread((fd), (data), (size), (offset))
#define NETPROF_OS_CLOSE(fd)                     piece_close(fd)
#define NETPROF_STATIC
#define NETPROF_IMPLEMENTATION
#include "../../netprof.h"
#include "expect.h"

#define PIECES   8
#define FIRST_FD 100000 /* numbers that no real descriptor has */

static const char *const names[PIECES] = {"snmp",     "netstat",   "snmp6", "softnet_stat",
                                          "sockstat", "sockstat6", "dev",   "wireless"};
static const uint8_t *pieces[PIECES];
static size_t sizes[PIECES];
static size_t positions[64];
static int which[64];

static int piece_open(int dirfd, const char *path, int flags)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int i, k;
    (void)dirfd;
    if (flags & O_DIRECTORY) return openat(AT_FDCWD, "/", flags | O_CLOEXEC);
    for (i = 0; i < PIECES; i++)
        if (strcmp(name, names[i]) == 0)
            for (k = 0; k < 64; k++)
                if (which[k] < 0) {
                    which[k] = i;
                    positions[k] = 0;
                    return FIRST_FD + k;
                }
    errno = ENOENT;
    return -1;
}

static ssize_t piece_pread(int fd, void *to, size_t size, long offset)
{
    int i;
    if (fd < FIRST_FD) return pread(fd, to, size, offset);
    i = which[fd - FIRST_FD];
    expect(i >= 0 && offset >= 0);
    if ((size_t)offset >= sizes[i]) return 0;
    if (size > sizes[i] - (size_t)offset) size = sizes[i] - (size_t)offset;
    memcpy(to, pieces[i] + offset, size);
    return (ssize_t)size;
}

static ssize_t piece_read(int fd, void *to, size_t size)
{
    ssize_t n;
    if (fd < FIRST_FD) return read(fd, to, size);
    n = piece_pread(fd, to, size, (long)positions[fd - FIRST_FD]);
    positions[fd - FIRST_FD] += (size_t)n;
    return n;
}

static int piece_close(int fd)
{
    if (fd < FIRST_FD) return close(fd);
    expect(which[fd - FIRST_FD] >= 0);
    which[fd - FIRST_FD] = -1;
    return 0;
}

/* Gives each name its piece; `turn` turns them round, so that a file changes between two readings. */
static void split(const uint8_t *data, size_t size, int turn)
{
    int i;
    memset(pieces, 0, sizeof pieces);
    memset(sizes, 0, sizeof sizes);
    for (i = 0; i < PIECES; i++) {
        const uint8_t *end = size ? (const uint8_t *)memchr(data, 0xff, size) : NULL;
        size_t n = end ? (size_t)(end - data) : size;
        pieces[(i + turn) % PIECES] = data;
        sizes[(i + turn) % PIECES] = n;
        if (!end) break;
        data += n + 1;
        size -= n + 1;
    }
}

static void check(const netprof_snapshot *s)
{
    size_t i;
    for (i = 0; i < s->schema->counter_count; i++) {
        expect(*s->schema->counters[i].name != 0);
        expect(s->status[i] <= NETPROF_STATUS_UNREADABLE);
        expect(netprof__has_value(s->status[i]) || s->values[i] == 0);
        expect(netprof__has_value(s->status[i]) || s->status[i] == NETPROF_STATUS_ABSENT ||
               s->status[i] == NETPROF_STATUS_SKIPPED || s->errnos[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    netprof_config config = {0};
    netprof_snapshot s = NETPROF_ZERO;
    netprof *np;
    netprof_err failed;
    int turn, i;
    memset(which, 0xff, sizeof which);
    config.root = "/nowhere";
    config.sources = "ip";
    split(data, size, 0);
    failed = netprof_open(&np, &config, NULL);
    expect(failed == NETPROF_OK || failed == NETPROF_ERR_NOSOURCE);
    for (turn = 0; turn < 3; turn++) {
        split(data, size, turn == 1);
        expect(netprof_take(np, &s, turn == 2 ? NETPROF_SET_FAST : NETPROF_SET_ALL, NULL) == NETPROF_OK);
        check(&s);
    }
    netprof_close(np);
    netprof_snapshot_free(&s);
    for (i = 0; i < 64; i++)
        expect(which[i] < 0); /* all closed */
    return 0;
}
