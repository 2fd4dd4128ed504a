#define _GNU_SOURCE // fallocate
#include "mapped.h"

#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

enum { WINDOW = 256 * 1024 }; // bytes of the file that are in memory at a time, unless more are written at once

struct mapped {
    int fd;
    char *window; // NULL: bytes are written
    size_t size;  // of the window
    off_t from;   // where it begins in the file
    off_t used;   // bytes of the file
    volatile sig_atomic_t cut;
    struct sigaction before;
};

static mapped *guarded;

// A page of the window is no longer in the file: somebody cut it. What is written from here on goes nowhere.
static void on_bus(int number, siginfo_t *info, void *context)
{
    mapped *m = guarded;
    uintptr_t at = (uintptr_t)info->si_addr, from = m ? (uintptr_t)m->window : 0;
    (void)context;
    if (m && m->window && at >= from && at - from < m->size &&
        mmap(m->window, m->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED) {
        m->cut = 1;
        return;
    }
    signal(number, SIG_DFL); // it comes again
}

// Whether blocks that were made ready are there for good, and the machine's own.
static bool is_suited(int fd)
{
    struct statfs fs;
    struct stat st;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || fstatfs(fd, &fs)) return false;
    return fs.f_type == EXT4_SUPER_MAGIC || fs.f_type == XFS_SUPER_MAGIC || fs.f_type == TMPFS_MAGIC;
}

static void drop_window(mapped *m)
{
    if (m->window) munmap(m->window, m->size);
    m->window = NULL;
}

static bool was_cut(mapped *m)
{
    struct stat st;
    if (m->window && (fstat(m->fd, &st) || st.st_size < m->from + (off_t)m->size)) m->cut = 1;
    return m->cut;
}

// ulimit -f: whoever goes beyond gets a signal that ends him.
static bool is_allowed(off_t size)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || (rlim_t)size <= limit.rlim_cur);
}

// Moves the window to where the next bytes go. False: there is no room on the disk, or whatever else; then the file ends
// where it was written to.
static bool move_window(mapped *m, size_t bytes)
{
    off_t page = (off_t)sysconf(_SC_PAGESIZE), from = m->used / page * page;
    size_t size = (size_t)(m->used - from) + bytes;
    size = size < WINDOW ? WINDOW : (size + (size_t)page - 1) / (size_t)page * (size_t)page;
    drop_window(m);
    if (is_allowed(from + (off_t)size) && fallocate(m->fd, 0, from, (off_t)size) == 0) {
        void *window = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, from);
        if (window != MAP_FAILED) {
            m->window = window;
            m->size = size;
            m->from = from;
            return true;
        }
    }
    if (ftruncate(m->fd, m->used)) m->cut = 1; // zeros would stand in the middle
    return false;
}

mapped *mapped_open(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0666);
    if (fd < 0) return NULL;
    mapped *m = must(calloc(1, sizeof *m));
    m->fd = fd;
    if (guarded || !is_suited(fd) || ftruncate(fd, 0) || !move_window(m, 1)) {
        close(fd);
        free(m);
        return NULL;
    }
    struct sigaction bus = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO};
    guarded = m;
    sigaction(SIGBUS, &bus, &m->before);
    return m;
}

static int write_on(mapped *m, const char *data, size_t size)
{
    while (size) {
        ssize_t n = pwrite(m->fd, data, size, m->used);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        m->used += n;
        data += n;
        size -= (size_t)n;
    }
    return 0;
}

// The tag of a chunk last: until then, who reads the file meanwhile or finds it after a kill sees room that is not used.
static void copy_in(char *to, const char *data, size_t size)
{
    size_t tag = size < 4 ? size : 4;
    memcpy(to + tag, data + tag, size - tag);
    atomic_thread_fence(memory_order_release);
    memcpy(to, data, tag);
}

int mapped_write(void *file, const void *data, size_t size)
{
    mapped *m = file;
    bool full = m->window && (size_t)(m->used - m->from) + size > m->size;
    if (full && !was_cut(m)) move_window(m, size);
    if (m->cut) return EIO;
    if (!m->window) return write_on(m, data, size);
    copy_in(m->window + (m->used - m->from), data, size);
    m->used += (off_t)size;
    return m->cut ? EIO : 0;
}

bool mapped_is_cut(mapped *m)
{
    return was_cut(m);
}

int mapped_close(mapped *m)
{
    bool whole = !m->window || (!was_cut(m) && ftruncate(m->fd, m->used) == 0);
    int error = whole ? 0 : m->cut ? EIO : errno;
    drop_window(m);
    guarded = NULL;
    sigaction(SIGBUS, &m->before, NULL);
    if (close(m->fd) && !error && errno != EINTR) error = errno;
    free(m);
    return error;
}
