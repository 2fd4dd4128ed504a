/* What a day of a simulated node weighs and takes to read: so many seconds are simulated and recorded at 1 Hz, all
   counters and, in a file of its own, the fast set. A day is what stands at the beginning (the schema) and the rest times
   86,400 over its seconds; the rest are whole chains of 64 snapshots, as their first ones are larger. With --seconds 86400
   nothing is extrapolated (and it takes hours). */
#define _GNU_SOURCE
#include "netprof.h"
#include "analysis/data/series.h"
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DAY = 86400, CHAIN = 64 };

static double now_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int fail(const char *what)
{
    fprintf(stderr, "bench_day: %s\n", what);
    return 1;
}

/* What comes before the last so many whole chains, and is not the rule: in the first chain stamps are kept to the
   nanosecond until the pace is known. */
static int seconds_before(int seconds)
{
    return seconds >= 2 * CHAIN ? seconds % CHAIN + CHAIN : 1;
}

static double size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) ? -1 : (double)st.st_size;
}

/* Files of [0] all counters, [1] the fast set, and how many bytes of them are the beginning. The simulator's clock is the
   axis: the snapshots' own times are moved to it. */
static int record(const char *tree, const char *const *paths, int seconds, size_t *counters, double *before)
{
    netprof_config config = NETPROF_ZERO;
    netprof_snapshot x[2] = {NETPROF_ZERO, NETPROF_ZERO};
    netprof_writer *writers[2] = {NULL, NULL};
    sim_step_options second = {.seconds = 1, .scenario = "healthy"};
    netprof *np = NULL;
    sim *s = sim_open(tree);
    config.root = tree;
    config.sources = "cxi";
    config.hold = NETPROF_HOLD_ALL;
    int failed = !s || netprof_open(&np, &config, NULL) || netprof_writer_open(&writers[0], paths[0], 1, NULL) ||
                 netprof_writer_open(&writers[1], paths[1], 1, NULL);
    int64_t wall = INT64_C(1746204071) * 1000000000, mono = INT64_C(1000000000000);
    for (int i = 0; i < seconds && !failed; i++) {
        failed = sim_step(s, &second) != 0;
        second.continued = 1;
        for (int set = 0; set < 2 && !failed; set++) {
            failed = netprof_take(np, &x[set], set ? NETPROF_SET_FAST : NETPROF_SET_ALL, NULL) != NETPROF_OK;
            if (failed) break;
            int64_t by = mono + (int64_t)i * 1000000000 - x[set].begin_ns;
            x[set].begin_ns += by, x[set].end_ns += by, x[set].wall_ns = wall + (int64_t)i * 1000000000;
            for (size_t d = 0; d < x[set].schema->device_count; d++)
                x[set].device_begin_ns[d] += by, x[set].device_end_ns[d] += by;
            failed = netprof_write_snapshot(writers[set], &x[set], NULL) != NETPROF_OK;
            if (i + 1 == seconds_before(seconds)) before[set] = size_of(paths[set]);
        }
        if (!failed) *counters = x[0].schema->counter_count;
    }
    for (int set = 0; set < 2; set++) {
        failed |= netprof_writer_close(writers[set], !failed, NULL) != NETPROF_OK;
        netprof_snapshot_free(&x[set]);
    }
    netprof_close(np);
    sim_close(s);
    return failed;
}

static int read_back(const char *path, double *elapsed_s, double *cpu_s, size_t *snapshots)
{
    dataset set = {0};
    series s = {0};
    dataset_options how = {.ends_only = 1, .each = series_take, .user = &s};
    double begin = now_s(CLOCK_MONOTONIC), cpu = now_s(CLOCK_PROCESS_CPUTIME_ID);
    int failed = dataset_read(&set, path, &how, NULL) != NETPROF_OK;
    series_finish(&s);
    *elapsed_s = now_s(CLOCK_MONOTONIC) - begin;
    *cpu_s = now_s(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    *snapshots = s.run_count ? s.runs[0].snapshots : 0;
    series_free(&s);
    dataset_free(&set);
    return failed;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        double most_mib;
    } sets[2] = {{"all", 1024}, {"fast", 40}};
    char place[] = "/dev/shm/netprof-day-XXXXXX", tree[64], all[64], fast[64], command[96];
    const char *const paths[2] = {all, fast};
    int seconds = argc > 2 && strcmp(argv[1], "--seconds") == 0 ? atoi(argv[2]) : 300, code = 0;
    size_t counters = 0, snapshots;
    double before[2] = {0, 0};
    if (seconds < 2) return fail("usage: bench_day [--seconds N]");
    if (!mkdtemp(place)) return fail("no place in /dev/shm");
    snprintf(tree, sizeof tree, "%s/node", place);
    snprintf(all, sizeof all, "%s/all.netprof", place);
    snprintf(fast, sizeof fast, "%s/fast.netprof", place);
    double begin = now_s(CLOCK_MONOTONIC);
    if (sim_create(tree, &(sim_options){.nics = 8}) || record(tree, paths, seconds, &counters, before))
        code = fail("recording failed");
    double took = now_s(CLOCK_MONOTONIC) - begin;
    if (!code) printf("%zu counters, %d s recorded in %.1f s\n", counters, seconds, took);
    if (!code)
        printf("%-6s %12s %12s %10s %14s %14s %10s\n", "set", "bytes", "bytes/tick", "day MiB", "read ms/tick",
               "cpu ms/tick", "day s");
    for (int i = 0; i < 2 && !code; i++) {
        double elapsed, cpu, size = size_of(paths[i]);
        if (size < 0 || read_back(paths[i], &elapsed, &cpu, &snapshots) || snapshots != (size_t)seconds) {
            code = fail("reading failed");
            break;
        }
        int first = seconds_before(seconds);
        double tick = (size - before[i]) / (seconds - first), day = (before[i] + tick * (DAY - first)) / 1048576;
        printf("%-6s %12.0f %12.0f %10.1f %14.3f %14.3f %10.1f  size %s (at most %.0f MiB)\n", sets[i].name, size, tick,
               day, elapsed / seconds * 1e3, cpu / seconds * 1e3, cpu / seconds * DAY,
               day <= sets[i].most_mib ? "ok" : "MISSED", sets[i].most_mib);
    }
    snprintf(command, sizeof command, "rm -rf '%s'", place);
    if (system(command) != 0) code = 1;
    return code;
}
