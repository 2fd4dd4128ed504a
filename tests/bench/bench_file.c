/* Differences, files and the command: two full snapshots a second apart, with the values and stamps of a real node
   where its dumps are at hand, else of the simulator. */
#define _GNU_SOURCE
#include "netprof.h"

#include "bench.h"
#include "sim.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { REFERENCE_CHANGES = 1506 }; /* of the reference pair of 8 NICs, for which the targets of sizes are */

/* Two snapshots, and where they are as files. */
static struct pair {
    netprof_snapshot before, after;
    netprof_delta delta;
    char both[600], first[600], second[600], scratch[600];
} pair;

static uint32_t changed_values(const netprof_snapshot *a, const netprof_snapshot *b)
{
    uint32_t n = 0;
    size_t i;
    for (i = 0; i < a->schema->counter_count; i++)
        n += a->values[i] != b->values[i];
    return n;
}

/* -- a simulated second -- */

/* A driver's stamps are of the node's clock; the simulator's stand in a year of its own, and what is far away is kept to
   the nanosecond. */
static void set_wall_clock(netprof_snapshot *s)
{
    size_t i = 0;
    while (i < s->schema->counter_count && !s->stamps_ns[i])
        i++;
    if (i < s->schema->counter_count) s->wall_ns = s->stamps_ns[i];
}

static int simulated(netprof_snapshot *before, netprof_snapshot *after)
{
    netprof_config config = {0};
    sim_step_options second = {.seconds = 1.0};
    netprof *np;
    sim *s;
    int failed = 1;
    config.root = bench.tree;
    config.sources = "cxi";
    s = sim_open(bench.tree);
    if (s && netprof_open(&np, &config, NULL) == NETPROF_OK) {
        failed = netprof_take(np, before, NETPROF_SET_ALL, NULL) != NETPROF_OK || sim_step(s, &second) != 0 ||
                 netprof_take(np, after, NETPROF_SET_ALL, NULL) != NETPROF_OK;
        netprof_close(np);
    }
    sim_close(s);
    if (!failed) {
        set_wall_clock(before);
        set_wall_clock(after);
    }
    return failed;
}

/* -- the dumps of a real node: 4 NICs, one line a counter, in the order of names.txt -- */

typedef struct dump {
    uint64_t *values;
    int64_t *stamps; /* sorted within a NIC: the dump was written in another order than it was read */
    size_t count;
} dump;

typedef struct names {
    char **names;
    size_t count;
} names;

static FILE *open_dump(const char *file)
{
    char path[1024];
    return bench_path(path, sizeof path, "%s/%s", bench.aurora, file) == 0 ? fopen(path, "re") : NULL;
}

static names read_names(void)
{
    names list = {NULL, 0};
    FILE *f = open_dump("names.txt");
    char line[256];
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        list.names = realloc(list.names, (list.count + 1) * sizeof *list.names);
        list.names[list.count++] = strdup(line);
    }
    if (f) fclose(f);
    return list;
}

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static dump read_dump(const char *file, size_t per_nic)
{
    dump d = {NULL, NULL, 0};
    unsigned long long value, seconds, nanoseconds;
    FILE *f = open_dump(file);
    size_t i;
    while (f && fscanf(f, "%llu@%llu.%llu", &value, &seconds, &nanoseconds) == 3) {
        d.values = realloc(d.values, (d.count + 1) * sizeof *d.values);
        d.stamps = realloc(d.stamps, (d.count + 1) * sizeof *d.stamps);
        d.values[d.count] = value;
        d.stamps[d.count++] = (int64_t)(seconds * 1000000000 + nanoseconds);
    }
    if (f) fclose(f);
    for (i = 0; i + per_nic <= d.count; i += per_nic)
        qsort(d.stamps + i, per_nic, sizeof *d.stamps, by_time);
    return d;
}

static size_t position(const names *list, const char *name)
{
    size_t i = 0;
    while (i < list->count && strcmp(list->names[i], name) != 0)
        i++;
    return i;
}

/* NIC n shows what NIC n % 4 of the dump did, and was read behind those before it. */
static void put_dump(netprof_snapshot *s, const dump *d, const names *list)
{
    const netprof_schema *schema = s->schema;
    size_t nics = d->count / list->count, i, k;
    int64_t length = d->stamps[d->count - 1] - d->stamps[0], offset = s->begin_ns - d->stamps[0];
    s->wall_ns = d->stamps[0];
    for (i = 0; i < schema->device_count; i++) {
        const netprof_device *device = &schema->devices[i];
        size_t from = i % nics * list->count;
        int64_t later = (int64_t)(i / nics) * length;
        for (k = 0; k < device->count && k < list->count; k++) {
            size_t at = position(list, schema->counters[device->first + k].name);
            if (at < list->count) s->values[device->first + k] = d->values[from + at];
            s->stamps_ns[device->first + k] = d->stamps[from + k] + later;
        }
        s->device_begin_ns[i] = d->stamps[from] + later + offset;
        s->device_end_ns[i] = d->stamps[from + k - 1] + later + offset;
    }
    s->end_ns = s->device_end_ns[schema->device_count - 1];
}

static void keep_changes(const netprof_snapshot *before, netprof_snapshot *after, uint32_t wanted)
{
    uint32_t n = changed_values(before, after);
    size_t i;
    for (i = before->schema->counter_count; i-- > 0 && n > wanted;)
        if (after->values[i] != before->values[i]) {
            after->values[i] = before->values[i];
            n--;
        }
}

static int real(const netprof_snapshot *like, netprof_snapshot *before, netprof_snapshot *after)
{
    names list = {NULL, 0};
    dump a, b;
    int failed;
    if (!bench.aurora) return 1;
    list = read_names();
    if (!list.count) return 1;
    a = read_dump("before.txt", list.count);
    b = read_dump("after.txt", list.count);
    failed = a.count < list.count || a.count % list.count || a.count != b.count ||
             netprof_snapshot_copy(before, like, NULL) != NETPROF_OK ||
             netprof_snapshot_copy(after, like, NULL) != NETPROF_OK;
    if (!failed) {
        after->begin_ns = before->begin_ns + b.stamps[0] - a.stamps[0];
        put_dump(before, &a, &list);
        put_dump(after, &b, &list);
        keep_changes(before, after, REFERENCE_CHANGES);
    }
    while (list.count)
        free(list.names[--list.count]);
    free(list.names);
    free(a.values);
    free(a.stamps);
    free(b.values);
    free(b.stamps);
    return failed;
}

/* -- files -- */

static double size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (double)st.st_size : -1;
}

static double first_size(const netprof_snapshot *before)
{
    return netprof_save_file(pair.scratch, before, 1, NULL) == NETPROF_OK ? size_of(pair.scratch) / 1024 : -1;
}

static void second_size(const netprof_snapshot *before, const netprof_snapshot *after)
{
    unsigned changed = (unsigned)changed_values(before, after);
    netprof_snapshot two[2];
    double one = first_size(before);
    char name[64];
    two[0] = *before;
    two[1] = *after;
    snprintf(name, sizeof name, "  a second one, %u values changed", changed);
    if (one < 0 || netprof_save_file(pair.scratch, two, 2, NULL) != NETPROF_OK)
        bench_skip(name, "cannot write the file");
    else
        bench_figure(name, size_of(pair.scratch) / 1024 - one, "KiB",
                     changed <= REFERENCE_CHANGES && bench.nics <= 8 ? 12 : 0);
}

static void sizes(const char *what, const netprof_snapshot *before, const netprof_snapshot *after)
{
    double one = first_size(before);
    char name[64];
    snprintf(name, sizeof name, "file, %s: one full snapshot", what);
    if (one < 0)
        bench_skip(name, "cannot write the file");
    else
        bench_figure(name, one, "KiB", bench.nics <= 8 ? 64 : 0);
    second_size(before, after);
}

/* `tell`: with rows of the sizes. */
static int make_pair(int tell)
{
    netprof_snapshot before = NETPROF_ZERO, after = NETPROF_ZERO, two[2];
    netprof_snapshot_free(&pair.before);
    netprof_snapshot_free(&pair.after);
    bench_path(pair.both, sizeof pair.both, "%s/both.netprof", bench.tree);
    bench_path(pair.first, sizeof pair.first, "%s/first.netprof", bench.tree);
    bench_path(pair.second, sizeof pair.second, "%s/second.netprof", bench.tree);
    bench_path(pair.scratch, sizeof pair.scratch, "%s/scratch.netprof", bench.tree);
    if (simulated(&before, &after) != 0) return -1;
    if (real(&before, &pair.before, &pair.after) != 0) {
        netprof_snapshot_free(&pair.before);
        netprof_snapshot_free(&pair.after);
        netprof_snapshot_copy(&pair.before, &before, NULL);
        netprof_snapshot_copy(&pair.after, &after, NULL);
        bench_note("no dumps of a real node: values and stamps of the simulator");
    } else if (tell) {
        sizes("real values", &pair.before, &pair.after);
    }
    if (tell) {
        netprof_snapshot fewer = NETPROF_ZERO;
        sizes("simulated", &before, &after);
        if (netprof_snapshot_copy(&fewer, &after, NULL) == NETPROF_OK) {
            keep_changes(&before, &fewer, REFERENCE_CHANGES);
            second_size(&before, &fewer);
            netprof_snapshot_free(&fewer);
        }
    }
    netprof_snapshot_free(&before);
    netprof_snapshot_free(&after);
    two[0] = pair.before;
    two[1] = pair.after;
    return netprof_save_file(pair.both, two, 2, NULL) != NETPROF_OK ||
           netprof_save_file(pair.first, two, 1, NULL) != NETPROF_OK ||
           netprof_save_file(pair.second, two + 1, 1, NULL) != NETPROF_OK;
}

int bench_pair_files(const char **first, const char **second)
{
    if (!*pair.first && make_pair(0) != 0) return -1;
    *first = pair.first;
    *second = pair.second;
    return 0;
}

static void *prepare_pair(const void *with)
{
    (void)with;
    return &pair;
}

static int64_t once_diff(void *state)
{
    struct pair *p = state;
    int64_t begin = bench_now();
    if (netprof_diff(&p->before, &p->after, NULL, &p->delta, NULL) != NETPROF_OK) return -1;
    return bench_now() - begin;
}

static int64_t once_subtract(void *state)
{
    struct pair *p = state;
    size_t i, n = p->before.schema->counter_count;
    int64_t begin = bench_now();
    uint64_t *values = malloc(n * 8);
    int64_t *elapsed = malloc(n * 8);
    if (!values || !elapsed) return -1;
    for (i = 0; i < n; i++) {
        values[i] = p->after.values[i] - p->before.values[i];
        elapsed[i] = p->after.stamps_ns[i] - p->before.stamps_ns[i];
    }
    __asm__ volatile("" : : "g"(values), "g"(elapsed) : "memory");
    free(values);
    free(elapsed);
    return bench_now() - begin;
}

static int64_t once_write(void *state)
{
    struct pair *p = state;
    netprof_snapshot two[2];
    int64_t begin = bench_now();
    two[0] = p->before;
    two[1] = p->after;
    if (netprof_save_file(p->scratch, two, 2, NULL) != NETPROF_OK) return -1;
    return bench_now() - begin;
}

/* The arrays of both snapshots as they are, just as safely. */
static int64_t once_plain_write(void *state)
{
    struct pair *p = state;
    size_t i, n = p->before.schema->counter_count;
    int64_t begin = bench_now();
    char temporary[700];
    int fd, failed = 0;
    bench_path(temporary, sizeof temporary, "%s.tmp", p->scratch);
    fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    for (i = 0; i < 2; i++) {
        const netprof_snapshot *s = i ? &p->after : &p->before;
        failed |= write(fd, s->values, n * 8) < 0 || write(fd, s->stamps_ns, n * 8) < 0 || write(fd, s->status, n) < 0;
    }
    failed |= fsync(fd) != 0 || close(fd) != 0 || rename(temporary, p->scratch) != 0;
    return failed ? -1 : bench_now() - begin;
}

static int64_t once_read(void *state)
{
    struct pair *p = state;
    int64_t begin = bench_now();
    netprof_reader *reader;
    netprof_item item;
    int found = 0;
    if (netprof_reader_open(&reader, p->both, NULL, NULL) != NETPROF_OK) return -1;
    do {
        if (netprof_reader_next(reader, &item, NULL) != NETPROF_OK) break;
        found += item.type == NETPROF_ITEM_SNAPSHOT;
    } while (item.type != NETPROF_ITEM_END);
    netprof_reader_close(reader);
    return found == 2 ? bench_now() - begin : -1;
}

static int64_t once_plain_read(void *state)
{
    static char room[1 << 20];
    struct pair *p = state;
    int64_t begin = bench_now();
    int fd = open(p->both, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, room, sizeof room);
    close(fd);
    return n > 0 ? bench_now() - begin : -1;
}

void bench_file(void)
{
    const bench_contestant all[] = {
        {"bare subtraction", prepare_pair, once_subtract, NULL, NULL},
        {"netprof_diff", prepare_pair, once_diff, NULL, NULL},
        {"plain arrays, fsync, rename", prepare_pair, once_plain_write, NULL, NULL},
        {"netprof_save_file", prepare_pair, once_write, NULL, NULL},
        {"plain open, read, close", prepare_pair, once_plain_read, NULL, NULL},
        {"netprof_reader", prepare_pair, once_read, NULL, NULL},
    };
    bench_samples s[BENCH_MOST];
    if (make_pair(1) != 0) {
        bench_skip("files", "cannot make two snapshots");
        return;
    }
    bench_round(all, 6, bench.repeats, s);
    bench_row("netprof_diff of two full snapshots", &s[1], 1e3, "us", &s[0], 0);
    bench_row("netprof_save_file of both", &s[3], 1e6, "ms", &s[2], 0);
    bench_row("netprof_reader: open to end of both", &s[5], 1e6, "ms", &s[4], 0);
    bench_samples_free(s, 6);
}

/* -- whole processes -- */

static int64_t once_process(void *state)
{
    char *const *command = state;
    posix_spawn_file_actions_t to_null;
    int64_t begin;
    pid_t pid;
    int status = -1;
    posix_spawn_file_actions_init(&to_null);
    posix_spawn_file_actions_addopen(&to_null, 1, "/dev/null", O_WRONLY, 0);
    begin = bench_now();
    if (posix_spawnp(&pid, command[0], &to_null, NULL, command, environ) == 0) waitpid(pid, &status, 0);
    posix_spawn_file_actions_destroy(&to_null);
    return WIFEXITED(status) && WEXITSTATUS(status) <= 1 ? bench_now() - begin : -1;
}

static void *prepare_process(const void *with)
{
    if (access(*(const char *const *)with, X_OK) == 0) return (void *)(uintptr_t)with;
    bench_cannot("no program %s", *(const char *const *)with);
    return NULL;
}

void bench_command(void)
{
    static const char *const nothing[] = {"/bin/true", NULL};
    const char *const diff[] = {bench.program ? bench.program : "netprof", "diff", pair.first, pair.second, NULL};
    const char *const json[] = {
        bench.program ? bench.program : "netprof", "diff", "--json", pair.first, pair.second, NULL};
    const bench_contestant all[] = {{"/bin/true", prepare_process, once_process, nothing, NULL},
                                    {"netprof diff", prepare_process, once_process, diff, NULL},
                                    {"netprof diff --json", prepare_process, once_process, json, NULL}};
    bench_samples s[BENCH_MOST];
    if (!*pair.first && make_pair(0) != 0) {
        bench_skip("netprof diff", "cannot make two snapshots");
        return;
    }
    if (bench.cpu) {
        bench_skip("netprof diff", "--cpu does not see what children take");
        return;
    }
    bench_round(all, 3, bench.repeats, s);
    bench_row("/bin/true, fork to exit", &s[0], 1e6, "ms", NULL, 0);
    bench_row("netprof diff of two full files, whole process", &s[1], 1e6, "ms", NULL, 50);
    bench_row("  beside /bin/true", &s[1], 1e6, "ms", &s[0], 0);
    bench_row("netprof diff --json, whole process", &s[2], 1e6, "ms", NULL, 50);
    bench_samples_free(s, 3);
}
