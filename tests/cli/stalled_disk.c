// Preloaded, a disk that stalls under a recording: once a write takes 700 ms, then a flush 500 ms, and behind that writes
// fail with EIO for 500 ms. The file that STALLED_DISK names gets a line for each: what, from when, until when (monotonic
// clock, ns). Of files called *.netprof only.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// The function that this one stands before.
#define NEXT(name) (__extension__(__typeof__(&name)) dlsym(RTLD_NEXT, #name))

enum { GOOD_WRITES = 5 };

static int stalled_writes;
static int64_t stalled_flush_ns, stalled_fails_until_ns; // 0: not yet

static int64_t stalled_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int stalled_concerns(int fd)
{
    char link[64], path[4096];
    const size_t end = strlen(".netprof");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path);
    return getenv("STALLED_DISK") && n > (ssize_t)end && memcmp(path + n - end, ".netprof", end) == 0;
}

static void stalled_tell(const char *what, int64_t from_ns, int64_t to_ns)
{
    char line[96];
    int n = snprintf(line, sizeof line, "%s %lld %lld\n", what, (long long)from_ns, (long long)to_ns);
    int fd = open(getenv("STALLED_DISK"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) return;
    if (NEXT(write)(fd, line, (size_t)n) != n) abort();
    close(fd);
}

static void stalled_sleep(const char *what, long ms)
{
    int64_t from_ns = stalled_now();
    nanosleep(&(struct timespec){0, ms * 1000000}, NULL);
    stalled_tell(what, from_ns, stalled_now());
}

ssize_t write(int fd, const void *data, size_t size)
{
    if (stalled_concerns(fd)) {
        int64_t now_ns = stalled_now();
        if (++stalled_writes == GOOD_WRITES + 1) stalled_sleep("write", 700);
        if (stalled_flush_ns && !stalled_fails_until_ns) {
            stalled_fails_until_ns = now_ns + 500000000;
            stalled_tell("error", now_ns, stalled_fails_until_ns);
        }
        if (now_ns < stalled_fails_until_ns) {
            errno = EIO;
            return -1;
        }
    }
    return NEXT(write)(fd, data, size);
}

int fdatasync(int fd)
{
    if (stalled_concerns(fd) && stalled_writes > GOOD_WRITES && !stalled_flush_ns) {
        stalled_sleep("flush", 500);
        stalled_flush_ns = stalled_now();
    }
    return NEXT(fdatasync)(fd);
}
