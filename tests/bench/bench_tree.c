/* The simulated node that the rows read: telemetry files of 8 NICs and nothing else that counts. */
#define _GNU_SOURCE
#include "bench.h"

#include "sim.h"

#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

int bench_path(char *to, size_t size, const char *format, ...)
{
    va_list arguments;
    int n;
    va_start(arguments, format);
    n = vsnprintf(to, size, format, arguments);
    va_end(arguments);
    return n >= 0 && (size_t)n < size ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path) != 0 && errno != ENOENT;
}

int bench_remove_all(const char *path)
{
    return nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* tmpfs with room for a page each, if there is one. */
static const char *place(void)
{
    static const char shm[] = "/dev/shm";
    const char *other = getenv("TMPDIR");
    struct statfs fs;
    uint64_t need = (uint64_t)bench.nics * 3000 * 4096;
    if (bench.place) return bench.place;
    if (access(shm, W_OK) == 0 && statfs(shm, &fs) == 0 && (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize > need)
        return shm;
    return other && *other ? other : "/tmp";
}

int bench_tree_make(void)
{
    static const char *const extras[] = {"link_restarts", "properties/link", "properties/pcie_corr_err",
                                         "properties/pcie_uncorr_err"};
    sim_options options = {.nics = bench.nics, .seed = 1, .no_retry_handler = 1};
    char path[1024];
    size_t i;
    int nic, failed;
    bench_path(bench.tree, sizeof bench.tree, "%s/netprof-bench.%ld", place(), (long)getpid());
    failed = sim_create(bench.tree, &options);
    errno = failed ? -failed : 0;
    for (nic = 0; !failed && nic < bench.nics; nic++)
        for (i = 0; i < sizeof extras / sizeof *extras; i++)
            if (bench_path(path, sizeof path, "%s/sys/class/cxi/cxi%d/device/%s", bench.tree, nic, extras[i]) == 0)
                bench_remove_all(path);
    return failed;
}

void bench_tree_remove(void)
{
    if (*bench.tree) bench_remove_all(bench.tree);
}
