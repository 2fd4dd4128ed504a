// Preloaded, a wall clock that is ahead of the real one by as many ns as the file LIVE_CLOCK says, at any time.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *clock_ahead_ns;
static int (*clock_real)(clockid_t, struct timespec *);

__attribute__((constructor)) static void clock_begin(void)
{
    const char *path = getenv("LIVE_CLOCK");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *at = fd >= 0 ? mmap(NULL, sizeof *clock_ahead_ns, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0) close(fd);
    if (at != MAP_FAILED) clock_ahead_ns = at;
    *(void **)&clock_real = dlsym(RTLD_NEXT, "clock_gettime");
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    if (!clock_real) clock_begin(); // another constructor came first
    int code = clock_real(clock, t);
    if (code || clock != CLOCK_REALTIME || !clock_ahead_ns) return code;
    int64_t ns = (int64_t)t->tv_sec * 1000000000 + t->tv_nsec + *clock_ahead_ns;
    t->tv_sec = (time_t)(ns / 1000000000);
    t->tv_nsec = (long)(ns % 1000000000);
    return 0;
}
