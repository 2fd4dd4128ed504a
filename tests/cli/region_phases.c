// Two regions in turn: region_phases ROUNDS MILLISECONDS [SAMPLES [kill]]. Each is as long as that, and with SAMPLES
// until its series has so many of it in a row, none of them later than two steps after the one before. With "kill" it
// ends itself by SIGKILL in the last one.
#include "netprof.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void rest(int ms)
{
    struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

// The series that this process writes: whatever its name is, it is among its open files.
static bool find_series(char *path, size_t size)
{
    char target[4096];
    bool found = false;
    DIR *files = opendir("/proc/self/fd");
    for (struct dirent *e; files && !found && (e = readdir(files));) {
        snprintf(path, size, "/proc/self/fd/%.40s", e->d_name);
        ssize_t n = readlink(path, target, sizeof target - 1);
        if (n < 0) continue;
        target[n] = 0;
        found = ends_with(target, ".series.netprof");
    }
    if (files) closedir(files);
    return found;
}

// The longest row of samples since a moment.
static int longest_row(const char *path, int64_t since_ns, int64_t step_ns)
{
    netprof_reader *reader = NULL;
    netprof_item item;
    int64_t last_ns = 0;
    int row = 0, longest = 0;
    if (netprof_reader_open(&reader, path, NULL, NULL)) return 0;
    while (!netprof_reader_next(reader, &item, NULL) && item.type != NETPROF_ITEM_END) {
        if (item.type != NETPROF_ITEM_SNAPSHOT || item.snapshot->begin_ns < since_ns) continue;
        row = item.snapshot->begin_ns - last_ns > 2 * step_ns ? 1 : row + 1;
        last_ns = item.snapshot->begin_ns;
        if (row > longest) longest = row;
    }
    netprof_reader_close(reader);
    return longest;
}

// The file is read anew when it has grown.
static void await_samples(int samples, int64_t since_ns)
{
    const char *step = getenv("NETPROF_SERIES");
    int64_t step_ns = step ? (int64_t)(strtod(step, NULL) * 1e9) : 0, until_ns = since_ns + INT64_C(120000000000);
    char path[64];
    struct stat st;
    for (off_t size = 0; now_ns() < until_ns; rest(2)) {
        if (!find_series(path, sizeof path) || stat(path, &st) || st.st_size == size) continue;
        size = st.st_size;
        if (longest_row(path, since_ns, step_ns) >= samples) return;
    }
    fprintf(stderr, "region_phases: no %d samples in a row within two minutes\n", samples);
    exit(1);
}

static void phase(int ms, int samples)
{
    int64_t since_ns = now_ns();
    rest(ms);
    if (samples > 0) await_samples(samples, since_ns);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 2, ms = argc > 2 ? atoi(argv[2]) : 300;
    int samples = argc > 3 ? atoi(argv[3]) : 0;
    NETPROF_BEGIN("main");
    for (int i = 0; i < rounds; i++) {
        NETPROF_BEGIN("solve");
        NETPROF_BYTES(500);
        phase(ms, samples);
        NETPROF_END("solve");
        NETPROF_BEGIN("wait <&>/all");
        phase(ms, samples);
        if (argc > 4 && i + 1 == rounds) raise(SIGKILL);
        NETPROF_END("wait <&>/all");
    }
    NETPROF_END("main");
    return 0;
}
