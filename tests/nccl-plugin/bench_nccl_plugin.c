/* What an event costs the thread of NCCL that makes it: netprof's profiler plugin beside one that does nothing, and beside
   clocks, on one thread, all in one run.

   bench_nccl_plugin PLUGIN.so EMPTY.so [BATCHES]     medians over so many batches (400) */
#define _GNU_SOURCE
#include "plugin_abi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 300, MOST = 4096 };

typedef struct plugin {
    const abi_plugin *table;
    void *context;
    int mask;
} plugin;

static void *outer[2], *op; /* parents of what is measured */
static size_t without;      /* events that found no place */

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* -- what is measured: EVENTS of each -- */

static void calls(const plugin *p)
{
    abi_event e = {.type.wide = EVENT_COLL,
                   .coll = {.func = "AllReduce", .count = 1, .datatype = "ncclFloat32", .algo = "RING", .proto = "LL"}};
    for (int i = 0; i < EVENTS; i++) {
        void *handle;
        e.coll.sn++;
        p->table->start(p->context, &handle, &e);
        without += !handle;
        p->table->stop(handle);
    }
}

static void operations(const plugin *p)
{
    abi_event e = {
        .type.wide = EVENT_PROXY_OP, .parent = outer[1], .op = {.pid = (int)getpid(), .peer = 1, .sends = 1}};
    for (int i = 0; i < EVENTS; i++) {
        void *handle;
        p->table->start(p->context, &handle, &e);
        without += !handle;
        p->table->stop(handle);
    }
}

static void steps(const plugin *p)
{
    abi_event e = {.type.wide = EVENT_PROXY_STEP, .parent = op};
    abi_state bytes = {.bytes = 65536};
    for (int i = 0; i < EVENTS; i++) {
        void *handle;
        p->table->start(p->context, &handle, &e);
        without += !handle;
        p->table->state(handle, STATE_SEND_CREDIT, NULL);
        p->table->state(handle, STATE_SEND_GPU, NULL);
        p->table->state(handle, STATE_SEND_WIRE, &bytes);
        p->table->stop(handle);
    }
}

static void kernels(const plugin *p)
{
    abi_event e = {.type.wide = EVENT_KERNEL, .parent = outer[1], .kernel = {.timer_ns = 1}};
    abi_state end = {.timer_ns = 2};
    for (int i = 0; i < EVENTS; i++) {
        void *handle;
        p->table->start(p->context, &handle, &e);
        without += !handle;
        p->table->state(handle, STATE_KERNEL_STOP, &end);
        p->table->stop(handle);
    }
}

static void requests(const plugin *p)
{
    abi_net_ib ib = {.type = 1, .device = 1, .qp = 7, .length = 4096};
    abi_event e = {.type.wide = EVENT_NET, .net = {(int64_t)NET_IB << 16 | 1, &ib}};
    for (int i = 0; i < EVENTS; i++) {
        void *handle;
        p->table->start(p->context, &handle, &e);
    }
}

static void clocks(const plugin *p)
{
    struct timespec t;
    (void)p;
    for (int i = 0; i < EVENTS; i++)
        clock_gettime(CLOCK_MONOTONIC, &t);
}

static const struct row {
    const char *name;
    void (*run)(const plugin *p);
    int callbacks, rest_us;       /* rest: until the plugin's thread has made room again */
    double most, most_a_callback; /* targets; 0: none */
} rows[] = {{"Coll or P2p: start, stop", calls, 2, 12000, 60, 0},
            {"ProxyOp: start, stop", operations, 2, 12000, 0, 0},
            {"ProxyStep: start, 3 states, stop", steps, 5, 0, 0, 40},
            {"KernelCh: start, state, stop", kernels, 3, 12000, 0, 0},
            {"NetPlugin: start", requests, 1, 0, 0, 0},
            {"clock_gettime (anchor)", clocks, 1, 0, 0, 0}};

/* What the row was to be, and whether it was. */
static const char *verdict(const struct row *r, double ns)
{
    static char text[64];
    double most = r->most > 0 ? r->most : r->most_a_callback, load = 0;
    if (getloadavg(&load, 1) != 1) load = 0;
    if (!(most > 0)) return "";
    snprintf(text, sizeof text, "  <= %g%s %s %.2f", most, r->most > 0 ? "" : " a callback",
             (r->most > 0 ? ns : ns / r->callbacks) <= most ? "ok" : "MISSED", load);
    return text;
}

/* -- measuring -- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(const struct row *r, const plugin *p, int batches)
{
    static double values[MOST];
    for (int i = 0; i < batches; i++) {
        double begin = now_ns();
        r->run(p);
        values[i] = (now_ns() - begin) / EVENTS;
        if (r->rest_us && p->mask) usleep((useconds_t)r->rest_us);
    }
    qsort(values, (size_t)batches, sizeof *values, by_value);
    return values[batches / 2];
}

static plugin open_plugin(const char *path)
{
    plugin p = {0};
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    p.table = library ? dlsym(library, "ncclProfiler_v5") : NULL;
    if (!p.table) {
        fprintf(stderr, "bench_nccl_plugin: %s: %s\n", path, library ? "has no ncclProfiler_v5" : dlerror());
        exit(1);
    }
    p.table->init(&p.context, 1, &p.mask, "world", 2, 4, 0, NULL);
    return p;
}

int main(int count, char **arguments)
{
    char directory[] = "/tmp/netprof-bench-XXXXXX", line[600];
    int batches = count > 3 ? atoi(arguments[3]) : 400;
    if (count < 3 || batches < 1 || batches > MOST || !mkdtemp(directory)) return 2;
    setenv("NETPROF_NCCL_DIR", directory, 1);
    setenv("NETPROF_NCCL", "all", 1);
    plugin plugins[2] = {open_plugin(arguments[1]), open_plugin(arguments[2])};
    abi_event coll = {.type.wide = EVENT_COLL, .coll = {.func = "AllReduce"}};
    plugins[0].table->start(plugins[0].context, &outer[1], &coll);
    abi_event e = {
        .type.wide = EVENT_PROXY_OP, .parent = outer[1], .op = {.pid = (int)getpid(), .peer = 1, .sends = 1}};
    plugins[0].table->start(plugins[0].context, &op, &e);
    printf("%-36s %9s %9s %12s  %s\n", "ns", "netprof", "empty", "a callback", "target, load");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double ours = median_of(&rows[i], &plugins[0], batches), empty = median_of(&rows[i], &plugins[1], batches);
        printf("%-36s %9.1f %9.1f %12.1f%s\n", rows[i].name, ours, empty, ours / rows[i].callbacks,
               verdict(&rows[i], ours));
    }
    size_t all = 2 * (size_t)batches * EVENTS * 4; /* the empty plugin's handles are NULL: half of them */
    printf("# medians of %d batches of %d events; %zu of %zu found no place\n", batches, EVENTS, without - all / 2,
           all / 2);
    plugins[0].table->finalize(plugins[0].context);
    snprintf(line, sizeof line, "rm -rf %s", directory);
    return system(line) != 0;
}
