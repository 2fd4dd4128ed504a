/* Reading: netprof_take() beside what the kernel charges for the same files, and beside what people write by hand. */
#define _GNU_SOURCE
#include "netprof.h"

#include "bench.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* -- the counters' files, in the order in which netprof reads them -- */

typedef struct files {
    const netprof_schema *schema;
    int *dirs; /* [device] telemetry/ */
    int *fds;  /* [count], held ones */
    size_t count;
    char **paths; /* [counter], full ones */
} files;

static netprof *open_node(const netprof_config *given)
{
    netprof_config config = {0};
    netprof_error error;
    netprof *np;
    if (given) config = *given;
    config.root = bench.tree;
    config.sources = "cxi";
    if (netprof_open(&np, &config, &error) == NETPROF_OK) return np;
    bench_cannot("netprof_open: %s", error.text);
    return NULL;
}

/* include NULL: all devices. */
static files *list_files(const char *include)
{
    static files f;
    netprof_config config = {0};
    netprof *np;
    size_t i;
    config.include = include;
    np = open_node(&config);
    if (!np) return NULL;
    f.schema = netprof_get_schema(np);
    netprof_schema_retain(f.schema);
    netprof_close(np);
    f.dirs = calloc(f.schema->device_count, sizeof *f.dirs);
    f.fds = calloc(f.schema->counter_count, sizeof *f.fds);
    f.paths = calloc(f.schema->counter_count, sizeof *f.paths);
    for (i = 0; f.dirs && i < f.schema->device_count; i++) {
        char path[1024];
        bench_path(path, sizeof path, "%s/sys/class/cxi/%s/device/telemetry", bench.tree, f.schema->devices[i].name);
        f.dirs[i] = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    return f.dirs && f.fds && f.paths ? &f : NULL;
}

/* -- the loops to compare with -- */

static _Thread_local volatile uint64_t sink; /* what is read is used */

static files *hold(files *f, unsigned flags)
{
    size_t i;
    bench_many_files();
    for (i = 0; f && i < f->schema->counter_count; i++) {
        const netprof_counter *c = &f->schema->counters[i];
        if ((c->flags & flags) != flags) continue;
        f->fds[f->count] = openat(f->dirs[c->device], c->name, O_RDONLY | O_CLOEXEC);
        if (f->fds[f->count++] < 0) {
            bench_cannot("cannot hold %zu files open: raise the hard limit (ulimit -Hn), or --nics fewer",
                         f->schema->counter_count);
            return NULL;
        }
    }
    return f;
}

static void *prepare_held(const void *with)
{
    return hold(list_files(with), 0);
}

static void *prepare_fast(const void *with)
{
    return hold(list_files(with), NETPROF_FAST);
}

static void *prepare_loose(const void *with)
{
    return list_files(with);
}

static void *prepare_paths(const void *with)
{
    files *f = list_files(with);
    size_t i;
    for (i = 0; f && i < f->schema->counter_count; i++) {
        const netprof_counter *c = &f->schema->counters[i];
        if (asprintf(&f->paths[i], "%s/sys/class/cxi/%s/device/telemetry/%s", bench.tree,
                     f->schema->devices[c->device].name, c->name) < 0)
            return NULL;
    }
    return f;
}

/* Part of the counters, for one thread or two. */
typedef struct stretch {
    const files *f;
    size_t from, to;
    int failed;
} stretch;

static void *pread_stretch(void *argument)
{
    stretch *s = argument;
    uint64_t sum = 0;
    char text[96];
    size_t i;
    for (i = s->from; i < s->to; i++) {
        s->failed |= pread(s->f->fds[i], text, sizeof text, 0) <= 0;
        sum += (unsigned char)text[0];
    }
    sink = sum;
    return NULL;
}

static void *openat_stretch(void *argument)
{
    stretch *s = argument;
    uint64_t sum = 0;
    char text[96];
    size_t i;
    for (i = s->from; i < s->to; i++) {
        const netprof_counter *c = &s->f->schema->counters[i];
        int fd = openat(s->f->dirs[c->device], c->name, O_RDONLY | O_CLOEXEC);
        s->failed |= fd < 0 || read(fd, text, sizeof text) <= 0;
        close(fd);
        sum += (unsigned char)text[0];
    }
    sink = sum;
    return NULL;
}

static int64_t once_alone(const files *f, size_t count, void *(*read_stretch)(void *))
{
    int64_t begin = bench_now();
    stretch all = {f, 0, count, 0};
    read_stretch(&all);
    return all.failed ? -1 : bench_now() - begin;
}

static int64_t once_by_two(const files *f, size_t count, void *(*read_stretch)(void *))
{
    int64_t begin = bench_now();
    stretch first = {f, 0, count / 2, 0}, second = {f, count / 2, count, 0};
    pthread_t thread;
    if (pthread_create(&thread, NULL, read_stretch, &second) != 0) return -1;
    read_stretch(&first);
    pthread_join(thread, NULL);
    return first.failed || second.failed ? -1 : bench_now() - begin;
}

static int64_t once_pread(void *state)
{
    return once_alone(state, ((const files *)state)->count, pread_stretch);
}

static int64_t once_pread_by_two(void *state)
{
    return once_by_two(state, ((const files *)state)->count, pread_stretch);
}

static int64_t once_openat(void *state)
{
    return once_alone(state, ((const files *)state)->schema->counter_count, openat_stretch);
}

static int64_t once_openat_by_two(void *state)
{
    return once_by_two(state, ((const files *)state)->schema->counter_count, openat_stretch);
}

/* The least that turns "value@seconds.nanoseconds" into numbers. */
static int64_t once_pread_parse(void *state)
{
    const files *f = state;
    int64_t begin = bench_now();
    size_t i;
    uint64_t sum = 0;
    char text[96];
    for (i = 0; i < f->count; i++) {
        uint64_t part[3] = {0, 0, 0};
        const char *p = text;
        int k = 0;
        ssize_t got = pread(f->fds[i], text, sizeof text - 1, 0);
        if (got <= 0) return -1;
        for (text[got] = 0; k < 3; p++) {
            unsigned digit = (unsigned char)*p - (unsigned)'0';
            if (digit < 10)
                part[k] = part[k] * 10 + digit;
            else
                k++;
        }
        sum += part[0] + part[1] * 1000000000 + part[2];
    }
    sink = sum;
    return bench_now() - begin;
}

static int64_t once_stdio(void *state)
{
    const files *f = state;
    int64_t begin = bench_now();
    size_t i, n = f->schema->counter_count;
    uint64_t sum = 0;
    char text[96];
    for (i = 0; i < n; i++) {
        FILE *file = fopen(f->paths[i], "re");
        if (!file) return -1;
        if (!fgets(text, sizeof text, file)) return -1;
        fclose(file);
        sum += strtoull(text, NULL, 10);
    }
    sink = sum;
    return bench_now() - begin;
}

/* -- netprof -- */

typedef struct taking {
    netprof *np;
    netprof_snapshot snapshot;
    netprof_set set;
} taking;

typedef struct how {
    netprof_hold hold;
    int threads, usual_limit; /* usual_limit: the soft limit of a login, 1024 */
    netprof_set set;
    const char *include;
} how;

static void *prepare_take(const void *with)
{
    static taking t;
    const how *h = with;
    netprof_config config = {0};
    config.hold = h->hold;
    config.threads = h->threads;
    config.include = h->include;
    if (h->hold == NETPROF_HOLD_ALL) {
        bench_many_files();
        config.max_fds = 1 << 24;
    } else if (h->usual_limit) {
        struct rlimit limit;
        if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > 1024) {
            limit.rlim_cur = 1024;
            setrlimit(RLIMIT_NOFILE, &limit);
        }
    }
    t.set = h->set;
    t.np = open_node(&config);
    if (!t.np) return NULL;
    if (netprof_take(t.np, &t.snapshot, t.set, NULL) != NETPROF_OK || t.snapshot.not_ok) {
        bench_cannot("netprof_take: %u counters without a value", (unsigned)t.snapshot.not_ok);
        return NULL;
    }
    return &t;
}

static int64_t once_take(void *state)
{
    taking *t = state;
    int64_t begin = bench_now();
    if (netprof_take(t->np, &t->snapshot, t->set, NULL) != NETPROF_OK) return -1;
    return bench_now() - begin;
}

static void *prepare_open(const void *with)
{
    static int state;
    (void)with;
    return &state;
}

static int64_t once_open(void *state)
{
    int64_t begin = bench_now(), ns;
    netprof *np = open_node(NULL);
    ns = bench_now() - begin;
    (void)state;
    netprof_close(np);
    return np ? ns : -1;
}

/* Opening and listing the same directories. */
static int64_t once_getdents(void *state)
{
    const files *f = state;
    int64_t begin = bench_now();
    size_t i;
    for (i = 0; i < f->schema->device_count; i++) {
        char path[1024], room[32768];
        long n, sum = 0;
        int fd;
        bench_path(path, sizeof path, "%s/sys/class/cxi/%s/device/telemetry", bench.tree, f->schema->devices[i].name);
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        while ((n = syscall(SYS_getdents64, fd, room, sizeof room)) > 0)
            sum += n;
        close(fd);
        sink = (uint64_t)sum;
    }
    return bench_now() - begin;
}

static const how held = {NETPROF_HOLD_ALL, 0, 0, NETPROF_SET_ALL, NULL};
static const how held_two = {NETPROF_HOLD_ALL, 2, 0, NETPROF_SET_ALL, NULL};
static const how held_one_nic = {NETPROF_HOLD_ALL, 0, 0, NETPROF_SET_ALL, "cxi0"};
static const how usual = {NETPROF_HOLD_FAST, 0, 1, NETPROF_SET_ALL, NULL};
static const how loose = {NETPROF_HOLD_NONE, 0, 1, NETPROF_SET_ALL, NULL};
static const how loose_two = {NETPROF_HOLD_NONE, 2, 1, NETPROF_SET_ALL, NULL};
static const how fast = {NETPROF_HOLD_FAST, 0, 0, NETPROF_SET_FAST, NULL};

static size_t count_counters(void)
{
    netprof *np = open_node(NULL);
    size_t n = np ? netprof_get_schema(np)->counter_count : 0;
    netprof_close(np);
    return n;
}

void bench_snapshot(void)
{
    const char *python[] = {"python3", bench.loop, bench.tree, bench.cpu ? "cpu" : "elapsed", NULL};
    const bench_contestant by_holding[] = {
        {"bare pread, held", prepare_held, once_pread, NULL, NULL},
        {"pread and parse, held", prepare_held, once_pread_parse, NULL, NULL},
        {"netprof, held", prepare_take, once_take, &held, NULL},
        {"stdio, full paths", prepare_paths, once_stdio, NULL, NULL},
        {"Python open().read()", NULL, NULL, NULL, python},
    };
    const bench_contestant by_opening[] = {
        {"bare openat/read/close", prepare_loose, once_openat, NULL, NULL},
        {"netprof, default budget", prepare_take, once_take, &usual, NULL},
        {"netprof, none held", prepare_take, once_take, &loose, NULL},
    };
    const bench_contestant by_threads[] = {
        {"netprof, held", prepare_take, once_take, &held, NULL},
        {"netprof, held, 2 threads", prepare_take, once_take, &held_two, NULL},
        {"netprof, none held", prepare_take, once_take, &loose, NULL},
        {"netprof, none held, 2 threads", prepare_take, once_take, &loose_two, NULL},
        {"bare pread, 2 threads", prepare_held, once_pread_by_two, NULL, NULL},
        {"bare openat, 2 threads", prepare_loose, once_openat_by_two, NULL, NULL},
    };
    const bench_contestant smaller[] = {
        {"bare pread, fast set", prepare_fast, once_pread, NULL, NULL},
        {"netprof, fast set", prepare_take, once_take, &fast, NULL},
        {"bare pread, one NIC", prepare_held, once_pread, "cxi0", NULL},
        {"netprof, one NIC, held", prepare_take, once_take, &held_one_nic, NULL},
        {"getdents of 8 directories", prepare_loose, once_getdents, NULL, NULL},
        {"netprof_open()", prepare_open, once_open, NULL, NULL},
    };
    bench_samples s[BENCH_MOST];
    double n = (double)count_counters();
    bench_note("%d simulated NICs, %.0f counters", bench.nics, n);

    bench_round(by_holding, bench.loop ? 5 : 4, bench.repeats, s);
    bench_row("bare pread on held descriptors", &s[0], n, "ns/counter", NULL, 0);
    bench_row("  and a least parser", &s[1], n, "ns/counter", &s[0], 0);
    bench_row("netprof_take, all held", &s[2], n, "ns/counter", &s[0], 1.15);
    bench_row("  beside stdio", &s[2], n, "ns/counter", &s[3], 0.25);
    if (bench.loop) bench_row("  beside Python", &s[2], n, "ns/counter", &s[4], 0.1);
    bench_row("fopen/fgets/fclose of full paths", &s[3], n, "ns/counter", &s[0], 0);
    if (bench.loop) bench_row("Python open/read", &s[4], n, "ns/counter", &s[0], 0);
    bench_samples_free(s, bench.loop ? 5 : 4);

    bench_round(by_opening, 3, bench.repeats, s);
    bench_row("bare openat/read/close", &s[0], n, "ns/counter", NULL, 0);
    bench_row("netprof_take, default budget (soft limit 1024)", &s[1], n, "ns/counter", &s[0], 1.15);
    bench_row("netprof_take, none held", &s[2], n, "ns/counter", &s[0], 0);
    bench_samples_free(s, 3);

    if (bench.cpu) {
        bench_skip("two threads", "--cpu adds up what both take");
    } else {
        bench_round(by_threads, 6, bench.repeats, s);
        bench_row("two threads, all held", &s[1], n, "ns/counter", &s[0], 0);
        bench_row("  beside two bare threads", &s[1], n, "ns/counter", &s[4], 0);
        bench_row("two threads, none held", &s[3], n, "ns/counter", &s[2], 0);
        bench_row("  beside two bare threads", &s[3], n, "ns/counter", &s[5], 0);
        bench_samples_free(s, 6);
    }

    bench_round(smaller, 6, bench.repeats, s);
    bench_row("fast set of all NICs", &s[1], 1e3, "us", &s[0], 0);
    bench_row("one NIC, all held", &s[3], 1e6, "ms", &s[2], 1.15);
    bench_row("netprof_open of all (open and enumerate)", &s[5], 1e6, "ms", &s[4], 0);
    bench_row("  per 100 counters", &s[5], 1e6 * n / 100, "ms", NULL, 2);
    bench_samples_free(s, 6);
}

/* -- resident memory: a fresh process, started anew -- */

static long status_kib(const char *path, const char *key)
{
    char line[256];
    long kib = -1;
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0) kib = strtol(line + strlen(key), NULL, 10);
    if (f) fclose(f);
    return kib;
}

int bench_memory_child(const char *root, int hold)
{
    netprof_snapshot snapshot = NETPROF_ZERO;
    netprof_config config = {0};
    netprof *np;
    long slab = status_kib("/proc/meminfo", "Slab:");
    if (hold) bench_many_files();
    config.root = root;
    config.sources = "cxi";
    config.hold = hold ? NETPROF_HOLD_ALL : NETPROF_HOLD_NONE;
    config.max_fds = 1 << 24;
    if (netprof_open(&np, &config, NULL) != NETPROF_OK ||
        netprof_take(np, &snapshot, NETPROF_SET_ALL, NULL) != NETPROF_OK)
        return 1;
    printf("%ld %ld\n", status_kib("/proc/self/status", "VmHWM:"), status_kib("/proc/meminfo", "Slab:") - slab);
    netprof_snapshot_free(&snapshot);
    netprof_close(np);
    return 0;
}

static void memory_row(const char *name, int hold, int slab_too, double target)
{
    char command[1024];
    long resident = -1, slab = -1;
    FILE *f;
    int got;
    snprintf(command, sizeof command, "exec /proc/%ld/exe --memory-child '%s' %d", (long)getpid(), bench.tree, hold);
    f = popen(command, "re");
    got = f ? fscanf(f, "%ld %ld", &resident, &slab) : 0;
    if (f) pclose(f);
    if (got != 2 || resident < 0) {
        bench_skip(name, "no answer from the child");
        return;
    }
    bench_figure(name, (double)resident / 1024, "MiB", target);
    if (slab_too) bench_figure("  growth of the kernel's slab", (double)slab / 1024, "MiB", 0);
}

void bench_memory(void)
{
    memory_row("resident after one snapshot, none held", 0, 0, 6);
    memory_row("resident after one snapshot, all held", 1, 1, 0);
}
