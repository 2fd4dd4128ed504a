/* netprof nccl as a whole process beside zcat and DuckDB over the same generated logs: a table of its own.
   usage: nccl-bench NETPROF [--records N] [--repeats N] [--duckdb LIBRARY] [--place DIR] [--steps]
   Logs (490 MB for a million records) go to a new directory in DIR (TMPDIR or /tmp), and away at the end. */
#define _GNU_SOURCE
#include "nccl_generate.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 8, REPEATS = 64 };

typedef struct contestant {
    const char *name;
    const char *command[16];
    double seconds[REPEATS], processor[REPEATS];
    long peak_kib;
    int count, failed;
} contestant;

typedef struct directories {
    char top[300], plain[340], packed[340];
} directories;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void run_once(contestant *c, int keep)
{
    struct rusage used;
    int status = 0;
    double began = now();
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, 1);
        execvp(c->command[0], (char *const *)(uintptr_t)c->command);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &used) < 0 || status) {
        c->failed = 1;
        return;
    }
    if (!keep || c->count == REPEATS) return;
    c->seconds[c->count] = now() - began;
    c->processor[c->count++] = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
    if (used.ru_maxrss > c->peak_kib) c->peak_kib = used.ru_maxrss;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, int count)
{
    double sorted[REPEATS];
    memcpy(sorted, values, (size_t)count * sizeof *values);
    qsort(sorted, (size_t)count, sizeof *sorted, by_value);
    return count ? (sorted[(count - 1) / 2] + sorted[count / 2]) / 2 : 0;
}

static double least(const double *values, int count)
{
    double best = count ? values[0] : 0;
    for (int i = 1; i < count; i++)
        best = values[i] < best ? values[i] : best;
    return best;
}

/* The median of each repeat's ratio: what else the machine does hits both alike. */
static double ratio(const contestant *a, const contestant *b, int processor)
{
    double ratios[REPEATS];
    int count = a->count < b->count ? a->count : b->count;
    for (int i = 0; i < count; i++)
        ratios[i] = processor ? a->processor[i] / b->processor[i] : a->seconds[i] / b->seconds[i];
    return median(ratios, count);
}

static void row(const contestant *c, const contestant *anchor)
{
    double load = 0;
    if (getloadavg(&load, 1) != 1) load = 0;
    if (c->failed || !c->count) {
        printf("%-34s not measured: %s\n", c->name, c->failed ? "it failed" : "not installed");
        return;
    }
    printf("%-34s %8.3f %8.3f %8.3f %8.1f", c->name, median(c->seconds, c->count), least(c->seconds, c->count),
           median(c->processor, c->count), (double)c->peak_kib / 1024);
    if (anchor && anchor->count && !anchor->failed)
        printf("  %-16s %6.3f %6.3f %6.3f", anchor->name, ratio(c, anchor, 0),
               least(c->seconds, c->count) / least(anchor->seconds, anchor->count), ratio(c, anchor, 1));
    else
        printf("  %-16s %6s %6s %6s", "", "", "", "");
    printf(" %6.2f\n", load);
    fflush(stdout);
}

static void head(void)
{
    printf("%-34s %8s %8s %8s %8s  %-16s %6s %6s %6s %6s\n", "what (whole process, warm files)", "median s", "min s",
           "cpu s", "peak MiB", "beside", "ratio", "of min", "cpu", "load");
}

static void target(const char *name, double value, double most, const char *unit)
{
    double load = 0;
    if (getloadavg(&load, 1) != 1) load = 0;
    printf("%-34s %8.3f %-6s at most %5.1f %-6s %6.2f\n", name, value, unit, most, value <= most ? "ok" : "MISSED",
           load);
}

static void targets(const contestant *plain, const contestant *duckdb, const contestant *packed, const contestant *zcat)
{
    if (plain->failed || !plain->count) return;
    target("netprof nccl, time", median(plain->seconds, plain->count), 1.0, "s");
    if (duckdb->count && !duckdb->failed) target("netprof nccl, beside DuckDB", ratio(plain, duckdb, 0), 1.1, "times");
    target("netprof nccl, memory", (double)plain->peak_kib / 1024, 300, "MiB");
    if (packed->count && zcat->count && !packed->failed && !zcat->failed)
        target("netprof nccl, .gz, beside zcat", ratio(packed, zcat, 0), 1.3, "times");
}

/* ---- DuckDB: the same files, the same grouping ---- */

static int duckdb(const char *library, const char *directory)
{
    void *handle = dlopen(library, RTLD_NOW), *database = NULL, *connection = NULL, *result[16] = {NULL};
    char query[2400];
    int (*open_database)(const char *, void **), (*connect)(void *, void **), (*ask)(void *, const char *, void *);
    if (!handle) return 1;
    *(void **)&open_database = dlsym(handle, "duckdb_open");
    *(void **)&connect = dlsym(handle, "duckdb_connect");
    *(void **)&ask = dlsym(handle, "duckdb_query");
    if (!open_database || !connect || !ask) return 1;
    snprintf(query, sizeof query,
             "CREATE TABLE groups AS SELECT header.id AS id, header.n_ranks AS n_ranks, header.nnodes AS nnodes, "
             "coll_perf.coll AS coll,"
             " coll_perf.coll_sn AS sn, coll_perf.coll_msg_size_bytes AS size, avg(coll_perf.coll_busbw_gbs) AS "
             "bus, count(*) AS records,"
             " min(coll_perf.coll_exec_time_us) AS wire, max(coll_perf.coll_exec_time_us) AS longest,"
             " min(metadata.dump_timestamp_us) AS first_dump, max(metadata.dump_timestamp_us) AS last_dump"
             " FROM read_json('%s/*.log', format = 'newline_delimited', ignore_errors = true, columns = {"
             "header: 'STRUCT(id VARCHAR, comm_name VARCHAR, \"rank\" INTEGER, n_ranks INTEGER, nnodes INTEGER)',"
             "metadata: 'STRUCT(inspector_output_format_version VARCHAR, dump_timestamp_us UBIGINT, hostname "
             "VARCHAR, pid BIGINT)',"
             "coll_perf: 'STRUCT(coll VARCHAR, coll_sn UBIGINT, coll_msg_size_bytes UBIGINT, coll_exec_time_us "
             "UBIGINT,"
             " coll_timing_source VARCHAR, coll_algobw_gbs DOUBLE, coll_busbw_gbs DOUBLE)'}) GROUP BY ALL",
             directory);
    return open_database(NULL, &database) || connect(database, &connection) || ask(connection, query, result);
}

/* ---- logs ---- */

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

static int make_logs(const char *directory, uint64_t records, const char *packing)
{
    /* 64 nodes of 4: 256 files */
    nccl_generate_plan plan = {.directory = directory,
                               .side = 8,
                               .gpus = 4,
                               .records = records,
                               .seed = 1,
                               .packing = packing,
                               .late_rank = 38,
                               .late_us = 200};
    nccl_generate_truth truth;
    if (mkdir(directory, 0777) || nccl_generate(&plan, &truth)) {
        perror(directory);
        return -1;
    }
    printf("# %d files%s, %llu records, %.0f MB of lines\n", truth.files, packing, (unsigned long long)truth.records,
           (double)truth.bytes / 1e6);
    return 0;
}

static void measure(contestant *all, int count, int repeats)
{
    for (int k = -1; k < repeats; k++) /* once to get warm; then forwards and backwards */
        for (int i = 0; i < count; i++) {
            contestant *c = &all[k & 1 ? count - 1 - i : i];
            if (c->command[0] && !c->failed) run_once(c, k >= 0);
        }
}

static void plain_and_packed(const directories *d, const char *netprof, const char *self, const char *library,
                             int repeats)
{
    char both[900], cat[900], pdf[400], charts[400];
    snprintf(both, sizeof both, "ls %s/* | xargs -P 2 -n 16 zcat", d->packed);
    snprintf(cat, sizeof cat, "ls %s/* | xargs -P 2 -n 16 cat", d->plain);
    snprintf(pdf, sizeof pdf, "%s/report.pdf", d->top);
    snprintf(charts, sizeof charts, "%s/charts", d->top);
    contestant all[MOST] = {
        {.name = "netprof nccl", .command = {netprof, "nccl", d->plain, NULL}},
        {.name = "DuckDB", .command = {NULL}},
        {.name = "cat, two at a time", .command = {"sh", "-c", cat, NULL}},
        {.name = "netprof nccl, .gz", .command = {netprof, "nccl", d->packed, NULL}},
        {.name = "zcat, two at a time", .command = {"sh", "-c", both, NULL}},
        {.name = "netprof report", .command = {netprof, "report", d->plain, "-o", pdf, NULL}},
        {.name = "netprof report --charts", .command = {netprof, "report", d->plain, "--charts", charts, NULL}}};
    if (library) {
        const char *command[] = {self, "--run-duckdb", library, d->plain};
        memcpy(all[1].command, command, sizeof command);
    }
    measure(all, 7, repeats);
    head();
    row(&all[0], &all[1]);
    row(&all[0], &all[2]);
    row(&all[1], NULL);
    row(&all[2], NULL);
    row(&all[3], &all[4]);
    row(&all[4], NULL);
    row(&all[5], &all[0]);
    row(&all[6], &all[0]);
    targets(&all[0], &all[1], &all[3], &all[4]);
    for (int i = 5; i < 7; i++)
        if (all[i].count && !all[i].failed)
            printf("# %s: %.2f s more than netprof nccl\n", all[i].name,
                   median(all[i].seconds, all[i].count) - median(all[0].seconds, all[0].count));
}

/* Time for each million records: does it stay the same? */
static int steps(const directories *d, const char *netprof, uint64_t records, int repeats)
{
    char directory[400];
    contestant all[3] = {{.name = ""}};
    static const char *const names[] = {"a fifth of the records", "all the records", "ten times the records"};
    static const double parts[] = {0.2, 1, 10};
    for (int i = 0; i < 3; i++) {
        snprintf(directory, sizeof directory, "%s/step", d->top);
        if (make_logs(directory, (uint64_t)(parts[i] * (double)records), "")) return -1;
        all[i] = (contestant){.name = names[i], .command = {netprof, "nccl", directory, NULL}};
        measure(&all[i], 1, repeats);
        nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    }
    head();
    for (int i = 0; i < 3; i++)
        row(&all[i], NULL);
    printf("# processor time for a million records: %.3f, %.3f, %.3f s\n",
           median(all[0].processor, all[0].count) / (parts[0] * (double)records / 1e6),
           median(all[1].processor, all[1].count) / ((double)records / 1e6),
           median(all[2].processor, all[2].count) / (10 * (double)records / 1e6));
    return 0;
}

static int usage(void)
{
    fprintf(stderr,
            "usage: nccl-bench NETPROF [--records N] [--repeats N] [--duckdb LIBRARY] [--place DIR] [--steps]\n");
    return 2;
}

int main(int argc, char **argv)
{
    const char *place = getenv("TMPDIR"), *library = getenv("NETPROF_DUCKDB");
    uint64_t records = 1000000;
    int repeats = 9, want_steps = 0, failed;
    directories d;
    if (argc == 4 && strcmp(argv[1], "--run-duckdb") == 0) return duckdb(argv[2], argv[3]);
    if (argc < 2 || argv[1][0] == '-') return usage();
    for (int i = 2; i < argc; i++) {
        int last = i + 1 == argc;
        if (strcmp(argv[i], "--steps") == 0)
            want_steps = 1;
        else if (last)
            return usage();
        else if (strcmp(argv[i], "--records") == 0)
            records = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--repeats") == 0)
            repeats = atoi(argv[++i]);
        else if (strcmp(argv[i], "--duckdb") == 0)
            library = argv[++i];
        else if (strcmp(argv[i], "--place") == 0)
            place = argv[++i];
        else
            return usage();
    }
    if (!records || repeats < 1 || repeats > REPEATS) return usage();
    snprintf(d.top, sizeof d.top, "%s/nccl-bench-XXXXXX", place && *place ? place : "/tmp");
    if (!mkdtemp(d.top)) {
        perror(d.top);
        return 1;
    }
    snprintf(d.plain, sizeof d.plain, "%s/plain", d.top);
    snprintf(d.packed, sizeof d.packed, "%s/packed", d.top);
    failed = make_logs(d.plain, records, "") || make_logs(d.packed, records, ".gz");
    if (!failed) plain_and_packed(&d, argv[1], argv[0], library, repeats);
    if (!failed && want_steps) failed = steps(&d, argv[1], records, repeats < 3 ? repeats : 3);
    nftw(d.top, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return failed ? 1 : 0;
}
