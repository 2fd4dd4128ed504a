/* Regions: a begin and an end, beside the bare time stamps and the bare system calls. A repeat is many pairs; what a row
   says is for one. */
#define _GNU_SOURCE
#include "netprof.h"

#include "bench.h"
#include "bench_regions.h"

#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* -- netprof -- */

static int pairs_plain(int pairs)
{
    int i;
    for (i = 0; i < pairs; i++) {
        NETPROF_BEGIN("pair");
        NETPROF_END("pair");
    }
    return 0;
}

static int pairs_scope(int pairs)
{
    int i;
    for (i = 0; i < pairs; i++) {
        NETPROF_SCOPE("scope");
    }
    return 0;
}

static int pairs_function(int pairs)
{
    netprof_region_id id = netprof_region("pair");
    int i;
    for (i = 0; i < pairs; i++) {
        netprof_begin(id);
        netprof_end(id);
    }
    return 0;
}

/* A name that the compiler does not know, looked up on both sides. */
static int pairs_dynamic(int pairs)
{
    static char name[] = "halo_exchange";
    int i;
    for (i = 0; i < pairs; i++) {
        netprof_begin(netprof_region(name));
        netprof_end(netprof_region(name));
    }
    return 0;
}

static int pairs_nested_2(int pairs)
{
    int i;
    for (i = 0; i < pairs; i += 2) {
        NETPROF_BEGIN("one");
        NETPROF_BEGIN("two");
        NETPROF_END("two");
        NETPROF_END("one");
    }
    return 0;
}

static int pairs_nested_8(int pairs)
{
    int i;
    for (i = 0; i < pairs; i += 8) {
        NETPROF_BEGIN("one");
        NETPROF_BEGIN("two");
        NETPROF_BEGIN("three");
        NETPROF_BEGIN("four");
        NETPROF_BEGIN("five");
        NETPROF_BEGIN("six");
        NETPROF_BEGIN("seven");
        NETPROF_BEGIN("eight");
        NETPROF_END("eight");
        NETPROF_END("seven");
        NETPROF_END("six");
        NETPROF_END("five");
        NETPROF_END("four");
        NETPROF_END("three");
        NETPROF_END("two");
        NETPROF_END("one");
    }
    return 0;
}

static int pairs_span(int pairs)
{
    netprof_region_id id = netprof_region("span");
    int i;
    for (i = 0; i < pairs; i++)
        netprof_span_end(netprof_span_begin(id));
    return 0;
}

/* As a program does that sends: where it began, how many bytes, and from when it waits. */
static int pairs_span_bytes(int pairs)
{
    netprof_region_id id = netprof_region("span");
    int i;
    for (i = 0; i < pairs; i++) {
        netprof_span span = netprof_span_begin(id);
        netprof_span_bytes(&span, 4096);
        netprof_span_end(span);
    }
    return 0;
}

static int pairs_value(int pairs)
{
    int i;
    for (i = 0; i < pairs; i++) {
        NETPROF_BEGIN("valued");
        NETPROF_VALUE("size", i);
        NETPROF_END("valued");
    }
    return 0;
}

/* -- the bare things -- */

#if defined(__x86_64__) || defined(__i386__)
static int pairs_ticks(int pairs)
{
    volatile uint64_t t;
    int i;
    for (i = 0; i < pairs; i++) {
        t = __builtin_ia32_rdtsc();
        t = __builtin_ia32_rdtsc();
    }
    (void)t;
    return 0;
}
#define TICKS "bare rdtsc pair"
#elif defined(__aarch64__)
static int pairs_ticks(int pairs)
{
    volatile uint64_t t;
    int i;
    for (i = 0; i < 2 * pairs; i++) {
        uint64_t v;
        __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(v));
        t = v;
    }
    (void)t;
    return 0;
}
#define TICKS "bare cntvct pair"
#endif

static int pairs_clock(int pairs)
{
    struct timespec t;
    int i;
    for (i = 0; i < pairs; i++) {
        clock_gettime(CLOCK_MONOTONIC, &t);
        clock_gettime(CLOCK_MONOTONIC, &t);
    }
    return 0;
}

#ifndef TICKS /* the header reads that clock, too, where it knows no counter of the processor */
static int pairs_ticks(int pairs)
{
    return pairs_clock(pairs);
}
#define TICKS "bare clock pair"
#endif

static int pairs_empty(int pairs)
{
    int i;
    for (i = 0; i < pairs; i++)
        __asm__ __volatile__("");
    return 0;
}

static int one_getstats(int fd, unsigned index)
{
    struct {
        struct nlmsghdr head;
        struct if_stats_msg body;
    } request;
    char reply[1024];
    memset(&request, 0, sizeof request);
    request.head.nlmsg_len = sizeof request;
    request.head.nlmsg_type = RTM_GETSTATS;
    request.head.nlmsg_flags = NLM_F_REQUEST;
    request.body.ifindex = index;
    request.body.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
    return send(fd, &request, sizeof request, 0) > 0 && recv(fd, reply, sizeof reply, 0) > 0 ? 0 : -1;
}

static int pairs_getstats(int pairs)
{
    static int fd = -1;
    unsigned index = if_nametoindex("lo");
    int i;
    if (fd < 0) fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    for (i = 0; i < pairs; i++)
        if (one_getstats(fd, index) != 0 || one_getstats(fd, index) != 0) return -1;
    return 0;
}

/* -- contestants -- */

void *bench_loop_prepare(const void *with)
{
    const bench_loop *l = with;
    if (l->mode) setenv("NETPROF", l->mode, 1);
    setenv("NETPROF_OUTPUT", "/dev/null", 1);
    setenv("NETPROF_SOURCES", "netdev", 1);
    setenv("NETPROF_INCLUDE", "lo", 1);
    if (l->run(8) != 0) return NULL;
    return (void *)(uintptr_t)with;
}

int64_t bench_loop_once(void *state)
{
    const bench_loop *l = state;
    int64_t begin = bench_now();
    if (l->run(l->pairs) != 0) return -1;
    return bench_now() - begin;
}

/* As bench_loop_prepare, but with the sources that a user has who sets nothing. */
static void *prepare_default_set(const void *with)
{
    const bench_loop *l = with;
    setenv("NETPROF", l->mode, 1);
    setenv("NETPROF_OUTPUT", "/dev/null", 1);
    unsetenv("NETPROF_SOURCES");
    unsetenv("NETPROF_INCLUDE");
    if (l->run(8) != 0) return NULL;
    return (void *)(uintptr_t)with;
}

/* A thousand regions, of which each is below the one before it in groups of ten, as they are printed at exit. */
static void *prepare_print(const void *with)
{
    int group, depth;
    char name[32];
    setenv("NETPROF", "time", 1);
    setenv("NETPROF_OUTPUT", "/dev/null", 1);
    for (group = 0; group < 100; group++) {
        for (depth = 0; depth < 10; depth++) {
            snprintf(name, sizeof name, "region %d.%d", group, depth);
            netprof_begin(netprof_region(name));
        }
        while (depth-- > 0) {
            snprintf(name, sizeof name, "region %d.%d", group, depth);
            netprof_end(netprof_region(name));
        }
    }
    return (void *)(uintptr_t)with;
}

static int64_t once_print(void *state)
{
    netprof_regions r;
    int64_t begin = bench_now();
    int *fd = state, complete;
    if (netprof_regions_take(&r, NULL)) return -1;
    complete = r.count == 1000;
    netprof_print(*fd, NULL, &r);
    netprof_regions_free(&r);
    return complete ? bench_now() - begin : -1;
}

/* What threads cost each other, not what a busy machine costs them: processor time of each. */
typedef struct pair_thread {
    const bench_loop *loop;
    pthread_barrier_t *start;
    int64_t ns; /* -1: failed */
} pair_thread;

static int64_t thread_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *run_thread(void *argument)
{
    pair_thread *t = argument;
    int64_t begin;
    t->loop->run(8);
    pthread_barrier_wait(t->start);
    begin = thread_ns();
    t->ns = t->loop->run(t->loop->pairs) == 0 ? thread_ns() - begin : -1;
    return NULL;
}

/* `count` threads at once, each of which makes all the pairs; their mean. */
static int64_t run_threads(const bench_loop *l, int count)
{
    pthread_barrier_t start;
    pair_thread t[2];
    pthread_t ids[2];
    int64_t sum = 0;
    int i;
    pthread_barrier_init(&start, NULL, (unsigned)count);
    for (i = 0; i < count; i++) {
        t[i].loop = l;
        t[i].start = &start;
        if (pthread_create(&ids[i], NULL, run_thread, &t[i]) != 0) return -1;
    }
    for (i = 0; i < count; i++) {
        pthread_join(ids[i], NULL);
        sum = t[i].ns < 0 || sum < 0 ? -1 : sum + t[i].ns;
    }
    pthread_barrier_destroy(&start);
    return sum / count;
}

static int64_t once_one_thread(void *state)
{
    return run_threads(state, 1);
}

static int64_t once_two_threads(void *state)
{
    return run_threads(state, 2);
}

/* -- the rows -- */

/* True if a region reads the processor's counter here, and not the kernel's clock: asked in a process of its own. */
static int reads_ticks(void)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        netprof_regions r;
        setenv("NETPROF", "time", 1);
        setenv("NETPROF_OUTPUT", "/dev/null", 1);
        pairs_plain(1);
        _exit(netprof_regions_take(&r, NULL) || strcmp(r.clock, "clock_gettime") == 0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* A region costs two readings of a clock and its own work. The targets allow some 14 ns of that where the counter is read
   (24 ns a pair), 18 ns where the clock is (52 ns), 5 ns more for bytes, some 50 ns for the sampler's counters. */
static void time_rows(int n)
{
    const int counter = reads_ticks();
    const bench_loop empty = {pairs_empty, n, NULL}, out = {bench_pairs_out, n, NULL}, ticks = {pairs_ticks, n, NULL};
    const bench_loop off = {pairs_plain, n, "off"}, time_only = {pairs_plain, n, "time"};
    const bench_loop scope = {pairs_scope, n, "time"}, function = {pairs_function, n, "time"};
    const bench_loop dynamic = {pairs_dynamic, n, "time"}, span = {pairs_span, n, "time"};
    const bench_loop sampler = {pairs_plain, n, "sampler"}, bytes = {pairs_span_bytes, n, "time"};
    const bench_loop value = {pairs_value, n, "time"}, clock_pair = {pairs_clock, n, NULL};
    const bench_contestant contestants[] = {
        {"empty loop", bench_loop_prepare, bench_loop_once, &empty, NULL},
        {"compiled out", bench_loop_prepare, bench_loop_once, &out, NULL},
        {TICKS, bench_loop_prepare, bench_loop_once, &ticks, NULL},
        {"off", bench_loop_prepare, bench_loop_once, &off, NULL},
        {"netprof, time", bench_loop_prepare, bench_loop_once, &time_only, NULL},
        {"scope", bench_loop_prepare, bench_loop_once, &scope, NULL},
        {"functions", bench_loop_prepare, bench_loop_once, &function, NULL},
        {"dynamic name", bench_loop_prepare, bench_loop_once, &dynamic, NULL},
        {"span", bench_loop_prepare, bench_loop_once, &span, NULL},
        {"sampler", bench_loop_prepare, bench_loop_once, &sampler, NULL},
        {"span with bytes", bench_loop_prepare, bench_loop_once, &bytes, NULL},
        {"value", bench_loop_prepare, bench_loop_once, &value, NULL},
        {"bare clock_gettime pair", bench_loop_prepare, bench_loop_once, &clock_pair, NULL},
    };
    bench_samples s[BENCH_MOST];
    const bench_samples *pair = counter ? &s[2] : &s[12];
    bench_round(contestants, 13, bench.repeats, s);
    if (!counter)
        bench_note(
            "the kernel here keeps time by something else than the processor's counter: regions read its clock, too");
    bench_row("empty loop", &s[0], n, "ns", NULL, 0);
    bench_row("region, compiled out", &s[1], n, "ns", &s[0], 0);
    bench_row("region, off", &s[3], n, "ns", NULL, 4);
    bench_row(TICKS, &s[2], n, "ns", NULL, 0);
    if (!counter) bench_row("  clock_gettime pair, in turn with these", &s[12], n, "ns", NULL, 0);
    bench_row("region, time and all statistics", &s[4], n, "ns", pair, counter ? 1.6 : 1.35);
    bench_row("  NETPROF_SCOPE", &s[5], n, "ns", pair, 0);
    bench_row("  netprof_begin, netprof_end", &s[6], n, "ns", pair, 0);
    bench_row("  name looked up on both sides", &s[7], n, "ns", pair, 0);
    bench_row("  span", &s[8], n, "ns", pair, 0);
    bench_row("  span with bytes", &s[10], n, "ns", pair, counter ? 1.8 : 1.45);
    bench_row("  region with a value", &s[11], n, "ns", pair, 0);
    bench_row("region, sampler's counters of lo", &s[9], n, "ns", pair, counter ? 3 : 2);
    bench_samples_free(s, 13);
}

static void portable_rows(int n)
{
    const bench_loop clock_pair = {pairs_clock, n, NULL}, portable = {bench_pairs_portable, n, "time"};
    const bench_contestant contestants[] = {
        {"bare clock_gettime pair", bench_loop_prepare, bench_loop_once, &clock_pair, NULL},
        {"portable", bench_loop_prepare, bench_loop_once, &portable, NULL},
    };
    bench_samples s[BENCH_MOST];
    bench_round(contestants, 2, bench.repeats, s);
    bench_row("bare clock_gettime pair", &s[0], n, "ns", NULL, 0);
    bench_row("region, time by clock_gettime", &s[1], n, "ns", &s[0], 1.35);
    bench_samples_free(s, 2);
}

static void shape_rows(int n)
{
    const bench_loop one = {pairs_plain, n, "time"}, two = {pairs_nested_2, n, "time"};
    const bench_loop eight = {pairs_nested_8, n, "time"};
    const bench_contestant contestants[] = {
        {"netprof, one deep", bench_loop_prepare, bench_loop_once, &one, NULL},
        {"nested 2", bench_loop_prepare, bench_loop_once, &two, NULL},
        {"nested 8", bench_loop_prepare, bench_loop_once, &eight, NULL},
    };
    bench_samples s[BENCH_MOST];
    bench_round(contestants, 3, bench.repeats, s);
    bench_row("region, two deep", &s[1], n, "ns", &s[0], 0);
    bench_row("region, eight deep", &s[2], n, "ns", &s[0], 0);
    bench_samples_free(s, 3);
}

static void thread_rows(int n, const char *mode, const char *name, double target)
{
    const bench_loop pairs = {pairs_plain, n, mode};
    const bench_contestant contestants[] = {
        {"one thread", bench_loop_prepare, once_one_thread, &pairs, NULL},
        {"two threads", bench_loop_prepare, once_two_threads, &pairs, NULL},
    };
    bench_samples s[BENCH_MOST];
    bench_round(contestants, 2, bench.repeats, s);
    bench_row(name, &s[1], n, "ns", &s[0], target);
    bench_samples_free(s, 2);
}

static void counter_rows(int n)
{
    const bench_loop bare = {pairs_getstats, n, NULL}, fast = {pairs_plain, n, "fast"};
    const bench_contestant contestants[] = {
        {"two bare RTM_GETSTATS", bench_loop_prepare, bench_loop_once, &bare, NULL},
        {"fast", bench_loop_prepare, bench_loop_once, &fast, NULL},
        {"fast, default set", prepare_default_set, bench_loop_once, &fast, NULL},
    };
    bench_samples s[BENCH_MOST];
    bench_round(contestants, 3, bench.repeats, s);
    bench_row("two bare RTM_GETSTATS of lo", &s[0], n * 1e3, "us", NULL, 0);
    bench_row("region, fast set of lo by netlink", &s[1], n * 1e3, "us", &s[0], 2);
    bench_row("  of all links and NICs, the default", &s[2], n * 1e3, "us", NULL, 25);
    bench_row("  beside the two bare calls for one", &s[2], n * 1e3, "us", &s[0], 0);
    bench_samples_free(s, 3);
}

static void print_row(void)
{
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const bench_contestant contestant = {"netprof_print", prepare_print, once_print, &fd, NULL};
    bench_samples s[BENCH_MOST];
    bench_round(&contestant, 1, bench.repeats, s);
    bench_row("take and print 1,000 regions", &s[0], 1e6, "ms", NULL, 5);
    bench_samples_free(s, 1);
    close(fd);
}

void bench_regions(void)
{
    const int n = bench.quick ? 800 : 50000; /* short enough to fit between two switches of threads */
    time_rows(n);
    portable_rows(n);
    shape_rows(n);
    thread_rows(n, "time", "region, in two threads (processor time)", 1.1);
    thread_rows(n, "sampler", "  with the sampler", 0);
    thread_rows(bench.quick ? 8 : 4000, "fast", "  with the fast set", 0);
    counter_rows(bench.quick ? 8 : 4000);
    print_row();
    bench_regions_tools(n);
    bench_regions_bytes();
}
