/* What an event costs the thread of NCCL that makes it: netprof's profiler plugin beside one that does nothing, and beside
   clocks and additions, on one thread, all in one run.

   bench_nccl_plugin PLUGIN.so EMPTY.so [BATCHES]     medians over so many batches (400) */
#define _GNU_SOURCE
#include "plugin_abi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

enum { EVENTS = 300, FIRST = 100, MOST = 4096 };

typedef struct plugin {
    const abi_plugin *table;
    void *context;
    int mask;
} plugin;

static void *outer[2], *op;       /* parents of what is measured */
static size_t without;            /* events that found no place */
static volatile uint64_t nowhere; /* so that nothing is left out */

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* -- what is measured: so many of each -- */

static void calls(const plugin *p, int events)
{
    abi_event e = {.type.wide = EVENT_COLL,
                   .coll = {.func = "AllReduce", .count = 1, .datatype = "ncclFloat32", .algo = "RING", .proto = "LL"}};
    for (int i = 0; i < events; i++) {
        void *handle;
        e.coll.sn++;
        p->table->start(p->context, &handle, &e);
        without += !handle;
        p->table->stop(handle);
    }
}

static void operations(const plugin *p, int events)
{
    abi_event e = {
        .type.wide = EVENT_PROXY_OP, .parent = outer[1], .op = {.pid = (int)getpid(), .peer = 1, .sends = 1}};
    for (int i = 0; i < events; i++) {
        void *handle;
        p->table->start(p->context, &handle, &e);
        without += !handle;
        p->table->stop(handle);
    }
}

static void steps(const plugin *p, int events)
{
    abi_event e = {.type.wide = EVENT_PROXY_STEP, .parent = op};
    abi_state bytes = {.bytes = 65536};
    for (int i = 0; i < events; i++) {
        void *handle;
        p->table->start(p->context, &handle, &e);
        without += !handle;
        p->table->state(handle, STATE_SEND_CREDIT, NULL);
        p->table->state(handle, STATE_SEND_GPU, NULL);
        p->table->state(handle, STATE_SEND_WIRE, &bytes);
        p->table->stop(handle);
    }
}

static void kernels(const plugin *p, int events)
{
    abi_event e = {.type.wide = EVENT_KERNEL, .parent = outer[1], .kernel = {.timer_ns = 1}};
    abi_state end = {.timer_ns = 2};
    for (int i = 0; i < events; i++) {
        void *handle;
        p->table->start(p->context, &handle, &e);
        without += !handle;
        p->table->state(handle, STATE_KERNEL_STOP, &end);
        p->table->stop(handle);
    }
}

static void requests(const plugin *p, int events)
{
    abi_net_ib ib = {.type = 1, .device = 1, .qp = 7, .length = 4096};
    abi_event e = {.type.wide = EVENT_NET, .net = {(int64_t)NET_IB << 16 | 1, &ib}};
    for (int i = 0; i < events; i++) {
        void *handle;
        p->table->start(p->context, &handle, &e);
    }
}

static void clocks(const plugin *p, int events)
{
    struct timespec t;
    (void)p;
    for (int i = 0; i < events; i++)
        clock_gettime(CLOCK_MONOTONIC, &t);
}

/* What the plugin reads, where the processor has it: once in a start, once in a stop. */
static void counters(const plugin *p, int events)
{
    uint64_t sum = 0;
    (void)p;
    for (int i = 0; i < events; i++) {
#if defined(__x86_64__)
        sum += __rdtsc();
#elif defined(__aarch64__)
        uint64_t ticks;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        sum += ticks;
#endif
    }
    nowhere = sum;
}

/* How fast the processor is now: each waits for the one before it (tests/bench/pace.c). */
static void additions(const plugin *p, int events)
{
    uint64_t x = 1;
    (void)p;
    for (int i = 0; i < events; i++) {
        x += 3;
        __asm__ volatile("" : "+r"(x));
    }
    nowhere = x;
}

static const struct row {
    const char *name;
    void (*run)(const plugin *p, int events);
    int callbacks, rest_us;       /* rest: until the plugin's thread has made room again */
    double most, most_a_callback; /* targets; 0: none */
} rows[] = {{"Coll or P2p: start, stop", calls, 2, 12000, 60, 0},
            {"ProxyOp: start, stop", operations, 2, 12000, 0, 0},
            {"ProxyStep: start, 3 states, stop", steps, 5, 0, 0, 40},
            {"KernelCh: start, state, stop", kernels, 3, 12000, 0, 0},
            {"NetPlugin: start", requests, 1, 0, 0, 0},
            {"clock_gettime (anchor)", clocks, 1, 0, 0, 0},
            {"processor's counter (anchor)", counters, 1, 0, 0, 0},
            {"addition after addition (anchor)", additions, 1, 0, 0, 0}};
enum { ROWS = sizeof rows / sizeof *rows, ROW_CALLS = 0, ROW_COUNTER = ROWS - 2, ROW_ADDITION = ROWS - 1 };

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

typedef struct cost {
    double ns, first_ns; /* of an event; the same of the first ones after a rest, of rows that rest */
} cost;

static double middle(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[count / 2];
}

static double timed(const struct row *r, const plugin *p, int events)
{
    double begin = now_ns();
    r->run(p, events);
    return (now_ns() - begin) / events;
}

/* After a rest, caches and what the processor has learned are other programs': the first events find that out. */
static cost cost_of(const struct row *r, const plugin *p, int batches)
{
    static double values[MOST], first[MOST];
    for (int i = 0; i < batches; i++) {
        first[i] = timed(r, p, FIRST);
        values[i] = timed(r, p, EVENTS);
        if (r->rest_us && p->mask) usleep((useconds_t)r->rest_us);
    }
    return (cost){middle(values, batches), r->rest_us && p->mask ? middle(first, batches) : 0};
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

static void print_rows(const plugin plugins[2], int batches)
{
    double addition = cost_of(&rows[ROW_ADDITION], &plugins[1], batches).ns, ns[ROWS];
    printf("%-36s %9s %9s %12s %10s %10s  %s\n", "ns", "netprof", "empty", "a callback", "additions", "at first",
           "target, load");
    for (size_t i = 0; i < ROWS; i++) {
        cost ours = cost_of(&rows[i], &plugins[0], batches), empty = cost_of(&rows[i], &plugins[1], batches);
        ns[i] = ours.ns;
        printf("%-36s %9.1f %9.1f %12.1f %10.0f", rows[i].name, ours.ns, empty.ns, ours.ns / rows[i].callbacks,
               ours.ns / addition);
        if (ours.first_ns > 0)
            printf(" %10.1f%s\n", ours.first_ns, verdict(&rows[i], ours.ns));
        else
            printf(" %10s%s\n", "", verdict(&rows[i], ours.ns));
    }
    if (ns[ROW_COUNTER] > 1)
        printf("# of a call's %.1f ns, %.1f are its two readings of the processor's counter\n", ns[ROW_CALLS],
               2 * ns[ROW_COUNTER]);
    size_t all = 2 * (size_t)batches * (EVENTS + FIRST) * 4; /* the empty plugin's handles are NULL: half of them */
    printf("# medians of %d batches of %d events, at first: of the %d before them, after a rest; an addition took "
           "%.2f ns; %zu of %zu found no place\n",
           batches, EVENTS, FIRST, addition, without - all / 2, all / 2);
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
    print_rows(plugins, batches);
    plugins[0].table->finalize(plugins[0].context);
    snprintf(line, sizeof line, "rm -rf %s", directory);
    return system(line) != 0;
}
