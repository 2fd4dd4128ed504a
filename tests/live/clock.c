// Preloaded, a wall clock that is ahead of the real one by as many ns as the file LIVE_CLOCK says, at any time. libnats keeps the
// real one: it waits for times of the kernel's clock, which is not stepped here.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *clock_ahead_ns;
static int (*clock_real)(clockid_t, struct timespec *);

static uintptr_t clock_nats_from, clock_nats_to; // where libnats' code is

static int clock_find_nats(struct dl_phdr_info *of, size_t size, void *user)
{
    (void)size;
    (void)user;
    for (unsigned i = 0; strstr(of->dlpi_name, "libnats") && i < of->dlpi_phnum; i++) {
        if (of->dlpi_phdr[i].p_type != PT_LOAD || !(of->dlpi_phdr[i].p_flags & PF_X)) continue;
        clock_nats_from = of->dlpi_addr + of->dlpi_phdr[i].p_vaddr;
        clock_nats_to = clock_nats_from + of->dlpi_phdr[i].p_memsz;
    }
    return 0;
}

__attribute__((constructor)) static void clock_begin(void)
{
    const char *path = getenv("LIVE_CLOCK");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *at = fd >= 0 ? mmap(NULL, sizeof *clock_ahead_ns, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0) close(fd);
    if (at != MAP_FAILED) clock_ahead_ns = at;
    dl_iterate_phdr(clock_find_nats, NULL);
    *(void **)&clock_real = dlsym(RTLD_NEXT, "clock_gettime");
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    if (!clock_real) clock_begin(); // another constructor came first
    int code = clock_real(clock, t);
    uintptr_t from = (uintptr_t)__builtin_return_address(0);
    if (from >= clock_nats_from && from < clock_nats_to) return code;
    if (code || clock != CLOCK_REALTIME || !clock_ahead_ns) return code;
    int64_t ns = (int64_t)t->tv_sec * 1000000000 + t->tv_nsec + *clock_ahead_ns;
    t->tv_sec = (time_t)(ns / 1000000000);
    t->tv_nsec = (long)(ns % 1000000000);
    return 0;
}
