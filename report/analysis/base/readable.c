#define _GNU_SOURCE // O_TMPFILE
#include "readable.h"

#include "memory.h"
#include "pipe_write.h"
#include "stb_ds.h"
#include "unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { LOOK_MS = 50, PIECE = 1 << 16, UNPACKED_MOST = 32, PACKED_TIMES = 100 };
static const uint64_t MOST_BYTES = UINT64_C(4) << 30;     // of a pipe, and of what is unpacked
static const uint64_t PACKED_BYTES = UINT64_C(256) << 20; // unpacked whatever the size of the packed file

// What was read of a pipe, or unpacked.
typedef struct spool {
    dev_t device;
    ino_t inode;
    int fd;
    off_t size; // of a packed file, which may be another one by now
    struct timespec changed;
} spool;

static spool *spools;   // an array of stb_ds
static spool *unpacked; // the same, of packed files: the last UNPACKED_MOST
static pthread_mutex_t readable_lock = PTHREAD_MUTEX_INITIALIZER;
static void (*readable_told)(const char *path, int begins);

void readable_on_wait(void (*waits)(const char *path, int begins))
{
    readable_told = waits;
}

const char *readable_error(int number)
{
    switch (number) {
    case EMEDIUMTYPE: return "is a device; expected a file or a pipe";
    case EFBIG: return "gives more than 4 GiB; put it into a file";
    case EINTR: return "ended by a signal while nobody wrote this pipe";
    case E2BIG: return "unpacks to more than 4 GiB, or more than a hundred times its size; unpack it first";
    case EBADMSG: return "its compressed data are damaged";
    case ENOTEMPTY: return "no room for a copy in $TMPDIR";
    }
    return strerror(number);
}

// ---- pipes ----

static int readable_temporary(void)
{
    const char *directory = getenv("TMPDIR");
    if (!directory || !*directory) directory = "/tmp";
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) return fd;
    char *name = memory_format("%s/netprof-input.XXXXXX", directory); // a file system without files that have no name
    fd = mkostemp(name, O_CLOEXEC);
    if (fd >= 0) unlink(name);
    free(name);
    return fd;
}

static int readable_copy(int from, int to)
{
    char block[PIECE];
    uint64_t size = 0;
    for (;;) {
        ssize_t n = read(from, block, sizeof block);
        if (n < 0 && errno == EINTR && !pipe_is_interrupted()) continue;
        if (n <= 0) return n < 0 ? errno : 0;
        if ((size += (uint64_t)n) > MOST_BYTES) return EFBIG;
        for (ssize_t done = 0, w; done < n; done += w) {
            w = write(to, block + done, (size_t)(n - done));
            if (w < 0 && errno == EINTR) w = 0;
            if (w < 0) return errno == ENOSPC || errno == EDQUOT ? ENOTEMPTY : errno;
        }
    }
}

// Until somebody has opened a named pipe for writing; 0 or an errno.
static int readable_wait_writer(int fd, const char *path)
{
    struct pollfd writer = {.fd = fd, .events = POLLIN};
    bool waits = false, interrupted = false;
    while (poll(&writer, 1, waits ? LOOK_MS : 0) <= 0 && !interrupted) {
        if (readable_told && !waits) readable_told(path, 1);
        waits = true;
        interrupted = pipe_is_interrupted();
    }
    if (readable_told && waits) readable_told(path, 0);
    return interrupted ? EINTR : 0;
}

// A descriptor of the copy, or -1 with errno.
static int readable_read_pipe(const char *path, int fd, const struct stat *st, bool standard)
{
    int error = standard || !S_ISFIFO(st->st_mode) ? 0 : readable_wait_writer(fd, path);
    int copy = error ? -1 : readable_temporary();
    if (!error && copy < 0) error = errno;
    if (!error && !standard) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    if (!error) error = readable_copy(fd, copy);
    if (!error) {
        arrput(spools, ((spool){.device = st->st_dev, .inode = st->st_ino, .fd = copy}));
        return copy;
    }
    if (copy >= 0) close(copy);
    errno = error;
    return -1;
}

static int readable_find_spool(const struct stat *st)
{
    for (size_t i = 0; i < arrlenu(spools); i++)
        if (spools[i].device == st->st_dev && spools[i].inode == st->st_ino) return spools[i].fd;
    return -1;
}

// With an offset of its own; where there is no /proc, with the same, at the begin.
static int readable_open_again(int fd)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int again = open(path, O_RDONLY | O_CLOEXEC);
    if (again < 0) again = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (again >= 0 && lseek(again, 0, SEEK_SET) < 0) {
        close(again);
        again = -1;
    }
    return again;
}

// ---- opening ----

// 0, or the errno for why it is not read.
static int readable_refuse(int fd, const struct stat *st)
{
    if (S_ISDIR(st->st_mode)) return EISDIR;
    if (S_ISBLK(st->st_mode)) return EMEDIUMTYPE;
    if (!S_ISCHR(st->st_mode)) return 0;
    return st->st_rdev == makedev(1, 3) || isatty(fd) ? 0 : EMEDIUMTYPE; // /dev/null, a terminal
}

// fd: opened just now, or the standard input. Closes the first.
static int readable_open_other(const char *path, int fd, const struct stat *st, bool standard)
{
    int copy = -1, error = readable_refuse(fd, st);
    pthread_mutex_lock(&readable_lock);
    if (!error && (copy = readable_find_spool(st)) < 0) copy = readable_read_pipe(path, fd, st, standard);
    if (!error && copy < 0) error = errno;
    pthread_mutex_unlock(&readable_lock);
    if (!standard) close(fd);
    if (!error) return readable_open_again(copy);
    errno = error;
    return -1;
}

static int readable_open_standard(void)
{
    struct stat st;
    if (fstat(STDIN_FILENO, &st)) return -1;
    if (S_ISREG(st.st_mode) && lseek(STDIN_FILENO, 0, SEEK_CUR) == 0) return readable_open_again(STDIN_FILENO);
    return readable_open_other("-", STDIN_FILENO, &st, true);
}

// ---- packed files ----

static bool readable_is_zero(const char *block, size_t size)
{
    return size && !block[0] && memcmp(block, block + 1, size - 1) == 0;
}

static int readable_write_all(int to, const char *block, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t w = write(to, block + done, size - done);
        if (w < 0 && errno == EINTR) continue;
        if (w < 0) return errno == ENOSPC || errno == EDQUOT ? ENOTEMPTY : errno;
        done += (size_t)w;
    }
    return 0;
}

// 0 or an errno. What is cut ends there: whoever reads it knows how its format ends.
static int readable_unpack(unpack *from, uint64_t packed, int to)
{
    static char block[PIECE]; // under the lock
    uint64_t size = 0;
    int error = 0;
    for (size_t n; !error && (n = unpack_read(from, block, sizeof block)) > 0;) {
        size += n;
        if (size > MOST_BYTES || (size > PACKED_BYTES && size / PACKED_TIMES > packed)) return E2BIG;
        if (readable_is_zero(block, n))
            error = lseek(to, (off_t)n, SEEK_CUR) < 0 ? errno : 0;
        else
            error = readable_write_all(to, block, n);
    }
    if (!error) error = unpack_error(from);
    if (!error && unpack_problem(from) && !size) error = EBADMSG;
    if (!error && ftruncate(to, (off_t)size)) error = errno;
    return error;
}

static bool readable_is_same(const spool *x, const struct stat *st)
{
    return x->device == st->st_dev && x->inode == st->st_ino && x->size == st->st_size &&
           x->changed.tv_sec == st->st_mtim.tv_sec && x->changed.tv_nsec == st->st_mtim.tv_nsec;
}

// A descriptor of what is in it, or -1 with errno.
static int readable_unpacked(int fd, const struct stat *st)
{
    for (size_t i = 0; i < arrlenu(unpacked); i++)
        if (readable_is_same(&unpacked[i], st)) return unpacked[i].fd;
    int to = readable_temporary();
    if (to < 0) return -1;
    unpack *from = unpack_open(fd, false);
    int error = readable_unpack(from, (uint64_t)st->st_size, to);
    unpack_close(from);
    if (error) {
        close(to);
        errno = error;
        return -1;
    }
    if (arrlenu(unpacked) == UNPACKED_MOST) {
        close(unpacked[0].fd);
        arrdel(unpacked, 0);
    }
    arrput(unpacked, ((spool){st->st_dev, st->st_ino, to, st->st_size, st->st_mtim}));
    return to;
}

static bool readable_is_packed(int fd)
{
    unsigned char head[4];
    ssize_t n = pread(fd, head, sizeof head, 0);
    return n > 0 && unpack_is_packed(head, (size_t)n);
}

int readable_open(const char *path)
{
    struct stat st;
    int fd = readable_open_packed(path), plain = -1;
    if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || !readable_is_packed(fd)) return fd;
    pthread_mutex_lock(&readable_lock);
    int of = readable_unpacked(fd, &st);
    if (of >= 0) plain = readable_open_again(of);
    int error = errno;
    pthread_mutex_unlock(&readable_lock);
    close(fd);
    errno = error;
    return plain;
}

int readable_open_packed(const char *path)
{
    struct stat st;
    if (strcmp(path, "-") == 0) return readable_open_standard();
    // Opening and closing a pipe would take its writer's reader away: one that was read is not opened again.
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        pthread_mutex_lock(&readable_lock);
        int known = readable_find_spool(&st);
        pthread_mutex_unlock(&readable_lock);
        if (known >= 0) return readable_open_again(known);
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return -1;
    if (fstat(fd, &st)) {
        close(fd);
        return -1;
    }
    if (!S_ISREG(st.st_mode)) return readable_open_other(path, fd, &st, false);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    return fd;
}

FILE *readable_stream(const char *path)
{
    int fd = readable_open(path);
    return fd < 0 ? NULL : memory_check(fdopen(fd, "rb"));
}

char *readable_path(const char *path)
{
    struct stat st;
    bool there = strcmp(path, "-") != 0 && (stat(path, &st) || S_ISREG(st.st_mode));
    int fd = there ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    bool packed = fd >= 0 && readable_is_packed(fd);
    if (fd >= 0) close(fd);
    if (there && !packed) return memory_strdup(path);
    fd = readable_open(path); // stays open for those who open the path
    return fd < 0 ? NULL : memory_format("/proc/self/fd/%d", fd);
}

// A recorder that starts at this moment tries its lock more than once.
bool readable_grows(int fd)
{
    if (flock(fd, LOCK_SH | LOCK_NB)) return errno == EWOULDBLOCK;
    flock(fd, LOCK_UN);
    return false;
}
