/* What the times, bytes and values of regions add up to, by the test's own clock: reading counters takes time there, and
   nothing else does but what a test says. */
struct timespec;
static int test_clock(int clock, struct timespec *t);
static long test_pread(int fd, void *data, unsigned long size, long offset);
#define NETPROF_OS_CLOCK(clock, t)               test_clock((clock), (t))
#define NETPROF_OS_PREAD(fd, data, size, offset) test_pread((fd), (data), (size), (offset))
#include <sched.h>
static int yields; /* of threads that wait for a lock */
static int test_yield(void)
{
    __atomic_add_fetch(&yields, 1, __ATOMIC_SEQ_CST);
    return sched_yield();
}
#define sched_yield() test_yield()
#define NETPROF_NO_TSC
#define NETPROF_IMPLEMENTATION
#include "../../netprof.h"

#include <semaphore.h>
#include <sys/wait.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { READ_NS = 1000, SPIN_NS = 50000 };

static int64_t made_up_ns; /* 0: the real clock; threads of the library read it, too */
static uint64_t reads;     /* by this thread, each of which takes READ_NS */
static char tree[256];

static int test_clock(int clock, struct timespec *t)
{
    int64_t ns = __atomic_load_n(&made_up_ns, __ATOMIC_RELAXED);
    if (!ns) return clock_gettime(clock, t);
    t->tv_sec = ns / 1000000000;
    t->tv_nsec = ns % 1000000000;
    return 0;
}

static long test_pread(int fd, void *data, unsigned long size, long offset)
{
    if (__atomic_load_n(&made_up_ns, __ATOMIC_RELAXED)) {
        __atomic_fetch_add(&made_up_ns, READ_NS, __ATOMIC_RELAXED);
        reads++;
    }
    return pread(fd, data, size, offset);
}

static void spin(int64_t ns)
{
    __atomic_fetch_add(&made_up_ns, ns, __ATOMIC_RELAXED);
}

/* One NIC with one counter of the fast set. */
static void set_octets(uint64_t value)
{
    char path[400], text[100];
    int fd, n = snprintf(text, sizeof text, "%llu@1700000000.000000001\n", (unsigned long long)value);
    snprintf(path, sizeof path, "%s/sys/class/cxi/cxi0/device/telemetry/hni_sts_tx_ok_octets", tree);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, (size_t)n), n);
    close(fd);
}

static int make_tree(void **state)
{
    char command[600];
    (void)state;
    snprintf(tree, sizeof tree, "/tmp/netprof-sums.XXXXXX");
    if (!mkdtemp(tree)) return 1;
    snprintf(command, sizeof command, "mkdir -p %s/sys/class/cxi/cxi0/device/telemetry", tree);
    if (system(command) != 0) return 1;
    set_octets(1000);
    setenv("NETPROF", "fast", 1);
    setenv("NETPROF_ROOT", tree, 1);
    setenv("NETPROF_OUTPUT", "/dev/null", 1);
    return 0;
}

static int remove_tree(void **state)
{
    char command[600];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", tree);
    return system(command);
}

static int fresh(void **state)
{
    (void)state;
    netprof_region("first use");
    __atomic_store_n(&made_up_ns, netprof__clock(CLOCK_MONOTONIC) + 1000000000, __ATOMIC_RELAXED);
    NETPROF_BEGIN("first use");
    NETPROF_END("first use");
    netprof_regions_reset();
    reads = 0;
    return 0;
}

static int back_to_real_time(void **state)
{
    (void)state;
    while (netprof__this_thread->depth)
        netprof_end(netprof__this_thread->frames[netprof__this_thread->depth].region);
    __atomic_store_n(&made_up_ns, 0, __ATOMIC_RELAXED);
    netprof_regions_reset();
    return 0;
}

static int fresh_time(void **state)
{
    netprof_set_mode(NETPROF_MODE_TIME);
    return fresh(state);
}

static int back_to_fast(void **state)
{
    netprof_set_mode(NETPROF_MODE_FAST);
    return back_to_real_time(state);
}

static const netprof_stat *stat_of(const netprof_regions *r, const char *name)
{
    const netprof_stat *found = NULL;
    size_t i;
    for (i = 0; i < r->count; i++)
        if (r->stats[i].calls && strcmp(r->stats[i].region, name) == 0) {
            assert_null(found); /* once */
            found = &r->stats[i];
        }
    assert_non_null(found);
    return found;
}

static netprof_regions take(void)
{
    netprof_regions r;
    assert_int_equal(netprof_regions_take(&r, NULL), NETPROF_OK);
    return r;
}

/* -- reading counters is no time of a region -- */

static void test_readings_are_apart(void **state)
{
    netprof_regions r;
    const netprof_stat *step, *child;
    int i, k;
    (void)state;
    for (i = 0; i < 5; i++) {
        NETPROF_BEGIN("step");
        spin(7);
        for (k = 0; k < 3; k++) {
            NETPROF_BEGIN("child");
            spin(SPIN_NS);
            NETPROF_END("child");
        }
        NETPROF_END("step");
    }
    r = take();
    assert_int_equal(r.mode, NETPROF_MODE_FAST);
    step = stat_of(&r, "step");
    child = stat_of(&r, "child");
    assert_int_equal(child->inclusive_ns, 15 * SPIN_NS);
    assert_int_equal(child->max_ns, SPIN_NS);
    assert_int_equal(step->exclusive_ns, 5 * 7);
    assert_int_equal(step->inclusive_ns, 15 * SPIN_NS + 5 * 7);
    assert_int_equal(r.readings, 40); /* at both edges of 20 calls */
    assert_true(reads >= 40);
    assert_int_equal(r.reading_ns, reads * READ_NS);
    assert_int_equal((uint64_t)r.elapsed_ns, step->inclusive_ns + r.reading_ns);
    netprof_regions_free(&r);
}

/* Calls that end by the end of an outer one, each with its own reading. */
static void test_readings_of_aborted_calls(void **state)
{
    netprof_regions r;
    (void)state;
    NETPROF_BEGIN("outer");
    spin(100);
    NETPROF_BEGIN("middle");
    spin(10);
    NETPROF_BEGIN("inner");
    spin(1);
    NETPROF_END("outer");
    r = take();
    assert_int_equal(stat_of(&r, "inner")->inclusive_ns, 1);
    assert_int_equal(stat_of(&r, "middle")->inclusive_ns, 11);
    assert_int_equal(stat_of(&r, "outer")->inclusive_ns, 111);
    assert_int_equal(stat_of(&r, "outer")->exclusive_ns, 100);
    assert_int_equal((uint64_t)r.elapsed_ns, 111 + r.reading_ns);
    netprof_regions_free(&r);
}

/* A call that is open at a reset begins anew: what was read before is forgotten with it. */
static void test_readings_before_a_reset(void **state)
{
    netprof_regions r;
    (void)state;
    NETPROF_BEGIN("outer");
    NETPROF_BEGIN("inner");
    spin(10);
    NETPROF_END("inner");
    netprof_regions_reset();
    reads = 0;
    spin(100);
    NETPROF_END("outer");
    r = take();
    assert_int_equal(stat_of(&r, "outer")->inclusive_ns, 100);
    assert_int_equal(r.reading_ns, reads * READ_NS);
    netprof_regions_free(&r);
}

static void test_counters_are_exact(void **state)
{
    netprof_regions r;
    uint64_t octets = 1000;
    int i;
    (void)state;
    for (i = 0; i < 10; i++) {
        NETPROF_BEGIN("send");
        set_octets(octets += 1014);
        NETPROF_END("send");
        set_octets(octets += 5);
    }
    r = take();
    assert_int_equal(r.counter_count, 1);
    assert_int_equal(stat_of(&r, "send")->counted, 10);
    assert_int_equal(stat_of(&r, "send")->counter_sums[0], 10140);
    netprof_regions_free(&r);
}

/* The kernel's protocol counters only where they are asked for: they are text, and slow. */
static void test_default_of_fast(void **state)
{
    netprof *np;
    size_t i;
    int before, after = 0;
    (void)state;
    __atomic_store_n(&made_up_ns, 0, __ATOMIC_RELAXED);
    unsetenv("NETPROF_ROOT");
    np = netprof__region_context(1, NULL);
    for (i = 0; np && i < np->part_count; i++)
        assert_string_not_equal(np->parts[i].source.name, "ip");
    before = np ? (int)np->part_count : 0;
    netprof_close(np);
    setenv("NETPROF_SOURCES", "netdev,ip", 1);
    np = netprof__region_context(1, NULL);
    for (i = 0; np && i < np->part_count; i++)
        after += strcmp(np->parts[i].source.name, "ip") == 0;
    assert_int_equal(after, 1);
    netprof_close(np);
    unsetenv("NETPROF_SOURCES");
    np = netprof__region_context(0, NULL);
    assert_int_equal((int)np->part_count, before + 1); /* the sampler's thread has the time */
    netprof_close(np);
    setenv("NETPROF_ROOT", tree, 1);
}

/* -- names and places -- */

static void test_dynamic_names(void **state)
{
    static const char *const levels[] = {"level0", "level1", "level2"};
    char name[16];
    netprof_regions r;
    int i;
    (void)state;
    for (i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "level%d", i);
        NETPROF_BEGIN_DYNAMIC(name);
        spin(10 + i);
        {
            NETPROF_SCOPE_ID(netprof_region("within"));
            spin(1);
        }
        NETPROF_END_DYNAMIC(name);
        {
            NETPROF_SCOPE_DYNAMIC(name);
            spin(1000);
            name[0] = 'x'; /* the text was copied */
        }
    }
    r = take();
    for (i = 0; i < 3; i++) {
        assert_int_equal(stat_of(&r, levels[i])->calls, 2);
        assert_int_equal(stat_of(&r, levels[i])->inclusive_ns, 1011 + i);
    }
    assert_int_equal(r.mismatched, 0);
    netprof_regions_free(&r);
}

static void test_mismatch_says_where(void **state)
{
    netprof_regions r;
    char expected[200];
    int begun, ended;
    (void)state;
    begun = __LINE__ + 1;
    NETPROF_BEGIN("left open");
    ended = __LINE__ + 1;
    NETPROF_END("never begun");
    NETPROF_END("left open");
    r = take();
    snprintf(expected, sizeof expected,
             "end of never begun (test_regions_sums.c:%d) while left open (begun at test_regions_sums.c:%d) is the "
             "innermost region",
             ended, begun);
    assert_int_equal(r.mismatched, 1);
    assert_string_equal(r.warning, expected);
    netprof_regions_free(&r);
}

/* -- spans: work beside -- */

static const netprof_stat *parent_of(const netprof_regions *r, const netprof_stat *s)
{
    size_t i;
    for (i = 0; s->parent != UINT32_MAX && i < r->count; i++)
        if (r->stats[i].thread == s->thread && r->stats[i].node == s->parent) return &r->stats[i];
    return NULL;
}

/* Two messages on their way while the step computes: known times, bytes and waits, and nothing of them in the step. */
static void test_spans_that_overlap(void **state)
{
    netprof_region_id id = netprof_region("message");
    netprof_span a, b;
    netprof_regions r;
    const netprof_stat *s, *step;
    (void)state;
    NETPROF_BEGIN("step");
    a = netprof_span_begin(id);
    spin(100);
    b = netprof_span_begin(id);
    NETPROF_BEGIN("compute");
    spin(1000);
    NETPROF_END("compute");
    netprof_span_bytes(&a, 5000);
    netprof_span_bytes(&a, 7);
    netprof_span_bytes(&b, 20);
    NETPROF_BEGIN("wait");
    netprof_span_wait(&a);
    spin(40);
    netprof_span_end(a);
    netprof_span_wait(&b);
    spin(2);
    netprof_span_end(b);
    NETPROF_END("wait");
    NETPROF_END("step");
    r = take();
    s = stat_of(&r, "message");
    step = stat_of(&r, "step");
    assert_ptr_equal(parent_of(&r, s), step);
    assert_int_equal(s->spans, 2);
    assert_int_equal(s->calls, 2);
    assert_int_equal(s->bytes, 5027);
    assert_int_equal(s->waits, 2);
    if (r.mode == NETPROF_MODE_TIME) {
        assert_int_equal(s->inclusive_ns, 1140 + 1042);
        assert_int_equal(s->waited_ns, 40 + 2);
    }
    assert_int_equal(step->inclusive_ns, 1142);
    assert_int_equal(step->exclusive_ns, 100); /* the rest is in compute and wait; the messages are beside */
    assert_int_equal(step->bytes, 0);
    netprof_regions_free(&r);
}

static void test_spans_have_counters(void **state)
{
    netprof_region_id id = netprof_region("message");
    netprof_span a, b;
    netprof_regions r;
    const netprof_stat *s;
    (void)state;
    set_octets(1000);
    a = netprof_span_begin(id);
    set_octets(1100);
    b = netprof_span_begin(id);
    set_octets(1130);
    netprof_span_end(a); /* 130 */
    set_octets(2130);
    netprof_span_end(b); /* 1030: by time, so that 30 are in both */
    netprof_span_end(b); /* once too often: no counters are taken from it */
    r = take();
    s = stat_of(&r, "message");
    assert_int_equal(s->counted, 2);
    assert_int_equal(s->too_short, 1);
    assert_int_equal(s->counter_sums[0], 130 + 1030);
    assert_int_equal(netprof__regions_state.open, 0);
    assert_int_equal(parent_of(&r, s) != NULL, 0);
    netprof_regions_free(&r);
}

/* Of many that are open at once, each has its own counters; and again, where others were. */
static void test_many_spans_with_counters(void **state)
{
    enum { SPANS = 150 };
    netprof_region_id id = netprof_region("message");
    static netprof_span spans[SPANS];
    uint64_t expected = 0, octets = 1000;
    int round, i;
    (void)state;
    for (round = 0; round < 2; round++) {
        for (i = 0; i < SPANS; i++) {
            set_octets(octets += (uint64_t)i);
            spans[i] = netprof_span_begin(id);
            expected -= octets;
        }
        assert_int_equal(netprof__regions_state.open, SPANS);
        for (i = 0; i < SPANS; i++) {
            set_octets(octets += 3);
            netprof_span_end(spans[i * 7 % SPANS]); /* each once: 7 and 150 have no factor in common */
            expected += octets;
        }
    }
    netprof_regions r = take();
    const netprof_stat *s = stat_of(&r, "message");
    assert_int_equal(s->counted, 2 * SPANS);
    assert_int_equal(s->too_short, 0);
    assert_int_equal(s->counter_sums[0], expected);
    assert_int_equal(s->concurrency, SPANS * (SPANS + 1)); /* 150, 149, ... 1, twice */
    assert_int_equal(netprof__regions_state.open, 0);
    netprof_regions_free(&r);
}

/* However a span ends, the place where its counters were kept is free again. */
static void test_places_of_spans(void **state)
{
    netprof_region_id id = netprof_region("message");
    netprof_span first = netprof_span_begin(id), span;
    int i;
    (void)state;
    netprof_span_end(first);
    for (i = 0; i < 3; i++) {
        span = netprof_span_begin(i < 2 ? id : 4000); /* 4000: no region */
        assert_int_equal(span.sample & 65535, first.sample & 65535);
        if (i < 2) netprof_set_mode(i ? NETPROF_MODE_TIME : NETPROF_MODE_OFF);
        netprof_span_end(span);
        netprof_set_mode(NETPROF_MODE_FAST);
        assert_int_equal(netprof__regions_state.open, 0);
    }
}

/* As of a region that is open at a reset: what came before it is counted nowhere. */
static void test_span_over_a_reset(void **state)
{
    netprof_region_id id = netprof_region("message");
    netprof_span span = netprof_span_begin(id);
    netprof_regions r;
    const netprof_stat *s;
    (void)state;
    set_octets(1100);
    netprof_regions_reset();
    set_octets(1110);
    netprof_span_end(span);
    r = take();
    s = stat_of(&r, "message");
    assert_int_equal(s->calls, 1);
    assert_int_equal(s->counted, 0);
    assert_int_equal(s->too_short, 1);
    assert_int_equal(s->counter_sums[0], 0);
    assert_int_equal(netprof__regions_state.open, 0);
    netprof_regions_free(&r);
}

/* A child counts nothing of a span that its parent began, and does not take it for one of its own that is open. */
static void test_span_over_a_fork(void **state)
{
    netprof_region_id id = netprof_region("message");
    netprof_span span = netprof_span_begin(id);
    int status;
    pid_t child;
    (void)state;
    set_octets(1200);
    child = fork();
    if (!child) {
        netprof_span own = netprof_span_begin(id);
        int fine = netprof__regions_state.open == 1;
        netprof_span_end(span);
        fine = fine && netprof__regions_state.open == 1;
        netprof_span_end(own);
        _exit(fine && netprof__regions_state.open == 0 ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    netprof_span_end(span);
    assert_int_equal(netprof__regions_state.open, 0);
}

/* What is open at a fork is open in the child as well: a call there shares the counters with as many others as here. Those
   that have ended are not among them. What the counters of a call were when it began is the parent's to know. */
static void test_calls_over_a_fork(void **state)
{
    netprof_regions r;
    int status;
    pid_t child;
    (void)state;
    NETPROF_BEGIN("outermost");
    NETPROF_BEGIN("outer");
    NETPROF_BEGIN("inner");
    NETPROF_END("inner");
    assert_int_equal(netprof__regions_state.open, 2);
    child = fork();
    if (!child) {
        int fine = netprof__regions_state.open == 2;
        NETPROF_BEGIN("of the child");
        set_octets(1205);
        NETPROF_END("of the child");
        NETPROF_END("outer");
        NETPROF_END("outermost");
        fine = fine && netprof_regions_take(&r, NULL) == NETPROF_OK && netprof__regions_state.open == 0;
        fine =
            fine && stat_of(&r, "of the child")->concurrency == 3 && stat_of(&r, "of the child")->counter_sums[0] == 5;
        fine = fine && stat_of(&r, "outer")->counted == 0 && stat_of(&r, "outer")->too_short == 1 &&
               stat_of(&r, "outermost")->counted == 0 && stat_of(&r, "outermost")->too_short == 1;
        netprof_regions_free(&r);
        _exit(fine ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(netprof__regions_state.open, 2);
    NETPROF_END("outer");
    NETPROF_END("outermost");
    assert_int_equal(netprof__regions_state.open, 0);
}

/* The statistics that a file ends with; they are valid until the reader is closed. */
static const netprof_regions *regions_in(netprof_reader *reader)
{
    netprof_item item;
    do
        if (netprof_reader_next(reader, &item, NULL) != NETPROF_OK) return NULL;
    while (item.type != NETPROF_ITEM_REGIONS && item.type != NETPROF_ITEM_END);
    return item.type == NETPROF_ITEM_REGIONS ? item.regions : NULL;
}

/* A process that ends amid regions has counted for each of them what moved since it began, in its file. */
static void test_counters_of_open_calls_at_an_exit(void **state)
{
    netprof_reader *reader = NULL;
    const netprof_regions *r;
    char path[400];
    int status;
    pid_t child;
    (void)state;
    set_octets(2000);
    child = fork();
    if (!child) {
        NETPROF_BEGIN("outer");
        set_octets(2100);
        NETPROF_BEGIN("inner");
        set_octets(2107);
        snprintf(path, sizeof path, "%s/ended-%%p.netprof", tree);
        if (netprof_set_output(path, NULL) == NETPROF_OK && strcmp(netprof__regions_state.output, path) == 0)
            quick_exit(0);
        _exit(1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    snprintf(path, sizeof path, "%s/ended-%d.netprof", tree, (int)child);
    assert_int_equal(netprof_reader_open(&reader, path, NULL, NULL), NETPROF_OK);
    r = regions_in(reader);
    assert_non_null(r);
    assert_int_equal(stat_of(r, "outer")->open, 1);
    assert_int_equal(stat_of(r, "outer")->counted, 1);
    assert_int_equal(stat_of(r, "outer")->counter_sums[0], 107);
    assert_int_equal(stat_of(r, "inner")->open, 1);
    assert_int_equal(stat_of(r, "inner")->counted, 1);
    assert_int_equal(stat_of(r, "inner")->counter_sums[0], 7);
    netprof_reader_close(reader);
}

/* A wait that begins while the clock stands still is no longer than one that begins when it goes on. */
static void test_wait_of_a_suspended_span(void **state)
{
    netprof_span span = netprof_span_begin(netprof_region("message"));
    netprof_regions r;
    (void)state;
    spin(10);
    netprof_span_suspend(&span);
    spin(200);
    netprof_span_wait(&span);
    spin(3000);
    netprof_span_resume(&span);
    spin(5);
    netprof_span_end(span);
    r = take();
    assert_int_equal(stat_of(&r, "message")->inclusive_ns, 15);
    assert_int_equal(stat_of(&r, "message")->waited_ns, 5);
    netprof_regions_free(&r);
}

static void *end_own_span(void *argument)
{
    netprof_span span = netprof_span_begin(netprof_region("message"));
    sem_post((sem_t *)argument);
    sem_wait((sem_t *)argument + 1);
    netprof_span_end(span);
    return NULL;
}

static unsigned changing_nodes(void)
{
    const netprof__thread *t;
    const netprof__node *n;
    unsigned count = 0;
    for (t = netprof__regions_state.threads; t; t = t->next)
        for (n = t->made; n; n = n->made_before)
            count += NETPROF__GET(n->sequence) & 1;
    return count;
}

/* Who collects holds the lock, and waits for nodes that change: none may change while its thread waits for the lock. */
static void test_spans_end_while_collected(void **state)
{
    sem_t begun_and_go[2];
    pthread_t other;
    unsigned changing;
    (void)state;
    sem_init(&begun_and_go[0], 0, 0);
    sem_init(&begun_and_go[1], 0, 0);
    assert_int_equal(pthread_create(&other, NULL, end_own_span, begun_and_go), 0);
    sem_wait(&begun_and_go[0]);
    assert_true(netprof__regions_lock());
    __atomic_store_n(&yields, 0, __ATOMIC_SEQ_CST);
    sem_post(&begun_and_go[1]);
    while (!__atomic_load_n(&yields, __ATOMIC_SEQ_CST))
        usleep(100);
    changing = changing_nodes();
    netprof__regions_unlock();
    pthread_join(other, NULL);
    assert_int_equal(changing, 0);
    assert_int_equal(netprof__regions_state.open, 0);
}

/* A span may be ended by another thread: it is counted below the same path of names there. */
static void *end_span(void *argument)
{
    netprof_span_end(*(netprof_span *)argument);
    return NULL;
}

static void in_a_thread(void *(*what)(void *), void *argument)
{
    pthread_t id;
    assert_int_equal(pthread_create(&id, NULL, what, argument), 0);
    pthread_join(id, NULL);
}

static void test_spans_between_threads(void **state)
{
    netprof_span span;
    netprof_regions r;
    const netprof_stat *s;
    (void)state;
    NETPROF_BEGIN("outer");
    NETPROF_BEGIN("inner");
    span = netprof_span_begin(netprof_region("handed on"));
    in_a_thread(end_span, &span);
    NETPROF_END("inner");
    NETPROF_END("outer");
    r = take();
    s = stat_of(&r, "handed on");
    assert_int_not_equal(s->thread, stat_of(&r, "outer")->thread);
    assert_string_equal(parent_of(&r, s)->region, "inner");
    assert_string_equal(parent_of(&r, parent_of(&r, s))->region, "outer");
    assert_null(parent_of(&r, parent_of(&r, parent_of(&r, s))));
    netprof_regions_free(&r);
}

/* Coroutines: spans in spans, each with the time in which it ran, whatever thread runs it. */
typedef struct fiber {
    netprof_span outer, inner;
} fiber;

static void *continue_fiber(void *argument)
{
    fiber *f = (fiber *)argument;
    netprof_span_resume(&f->inner);
    netprof_span_resume(&f->outer);
    spin(5);
    netprof_span_end(f->inner);
    spin(3);
    netprof_span_end(f->outer);
    return NULL;
}

static void test_fibers(void **state)
{
    fiber f[3];
    netprof_regions r;
    uint64_t outer = 0, inner = 0;
    size_t i;
    (void)state;
    for (i = 0; i < 3; i++) {
        f[i].outer = netprof_span_begin_at(netprof_region("task"), netprof_here());
        spin(10);
        f[i].inner = netprof_span_begin_at(netprof_region("reads"), netprof_span_place(&f[i].outer));
        spin(20);
        netprof_span_suspend(&f[i].inner);
        netprof_span_suspend(&f[i].outer);
        spin(1000);
    }
    for (i = 3; i-- > 0;)
        in_a_thread(continue_fiber, &f[i]);
    r = take();
    for (i = 0; i < r.count; i++) {
        const netprof_stat *s = &r.stats[i];
        if (strcmp(s->region, "reads") == 0 && s->calls) {
            assert_string_equal(parent_of(&r, s)->region, "task");
            inner += s->calls;
            if (r.mode == NETPROF_MODE_TIME) assert_int_equal(s->inclusive_ns, 25 * s->calls);
        }
        if (strcmp(s->region, "task") != 0 || !s->calls) continue;
        outer += s->calls;
        if (r.mode == NETPROF_MODE_TIME) assert_int_equal(s->inclusive_ns, 38 * s->calls);
    }
    assert_int_equal(outer, 3);
    assert_int_equal(inner, 3);
    assert_int_equal(r.mismatched, 0);
    netprof_regions_free(&r);
}

/* -- threads that work for a region of another one -- */

static void *work_for(void *argument)
{
    NETPROF_ADOPT(*(netprof_place *)argument);
    spin(2);
    NETPROF_BEGIN("iteration");
    spin(30);
    NETPROF_END("iteration");
    return NULL;
}

static void add_up(const netprof_regions *r, const char *name, uint64_t *calls, uint64_t *inclusive, uint64_t *own)
{
    size_t i;
    *calls = *inclusive = *own = 0;
    for (i = 0; i < r->count; i++) {
        if (strcmp(r->stats[i].region, name) != 0) continue;
        *calls += r->stats[i].calls;
        *inclusive += r->stats[i].inclusive_ns;
        *own += r->stats[i].exclusive_ns;
        if (strcmp(name, "iteration") == 0 && r->stats[i].calls)
            assert_string_equal(parent_of(r, &r->stats[i])->region, "parallel");
    }
}

static void test_adopted_threads(void **state)
{
    netprof_place here;
    netprof_regions r;
    uint64_t calls, inclusive, own;
    int i;
    (void)state;
    netprof_set_mode(NETPROF_MODE_TIME); /* the threads come one after the other: no readings between them */
    NETPROF_BEGIN("main");
    spin(1);
    NETPROF_BEGIN("parallel");
    here = netprof_here();
    work_for(&here);
    for (i = 0; i < 3; i++)
        in_a_thread(work_for, &here);
    NETPROF_END("parallel");
    NETPROF_END("main");
    r = take();
    add_up(&r, "iteration", &calls, &inclusive, &own);
    assert_int_equal(calls, 4);
    assert_int_equal(inclusive, 120);
    /* thread 0 was in it for all 4 * 32, each of the others for its own 32 */
    add_up(&r, "parallel", &calls, &inclusive, &own);
    assert_int_equal(calls, 1);
    assert_int_equal(inclusive, 4 * 32 + 3 * 32);
    assert_int_equal(own, 4 * 32 + 3 * 32 - 120);
    add_up(&r, "main", &calls, &inclusive, &own);
    assert_int_equal(calls, 1);
    assert_int_equal(inclusive, 1 + 4 * 32 + 3 * 32);
    assert_int_equal(own, 1);
    assert_int_equal(r.mismatched, 0);
    netprof_regions_free(&r);
    netprof_set_mode(NETPROF_MODE_FAST);
}

/* Ends that are missing, and ends of what is not there. */
static void test_adoption_with_faults(void **state)
{
    netprof_place nowhere = {NULL}, here;
    netprof_regions r;
    int i;
    (void)state;
    netprof_adopt_end();
    NETPROF_BEGIN("main");
    here = netprof_here();
    netprof_adopt(here);
    NETPROF_END("main"); /* ends the adoption with it */
    netprof_adopt_end();
    netprof_adopt(here);
    NETPROF_BEGIN("left open");
    spin(4);
    netprof_adopt_end();
    netprof_adopt(nowhere);
    NETPROF_BEGIN("top");
    NETPROF_END("top");
    netprof_adopt_end();
    NETPROF_BEGIN("after");
    netprof_adopt(here);
    for (i = 0; i < 2 * NETPROF_MAX_DEPTH; i++)
        NETPROF_BEGIN("deep"); /* none of them is ended */
    netprof_adopt_end();
    netprof_bytes(6);
    NETPROF_END("after");
    r = take();
    assert_int_equal(stat_of(&r, "after")->bytes, 6);
    assert_int_equal(stat_of(&r, "after")->calls, 1);
    assert_int_equal(netprof__this_thread->depth, 0);
    assert_int_equal(stat_of(&r, "left open")->aborted, 1);
    assert_int_equal(stat_of(&r, "left open")->inclusive_ns, 4);
    assert_string_equal(parent_of(&r, stat_of(&r, "left open"))->region, "main");
    assert_null(parent_of(&r, stat_of(&r, "top")));
    assert_int_equal(stat_of(&r, "main")->calls, 1);
    assert_int_equal(r.mismatched, 2 + NETPROF_MAX_DEPTH - 2); /* "deep", but for what was too deep */
    netprof_regions_free(&r);
}

/* -- values -- */

static const netprof_value_stat *value_of(const netprof_regions *r, const char *region, const char *name)
{
    size_t i;
    for (i = 0; i < r->value_count; i++)
        if (strcmp(r->stats[r->values[i].stat].region, region) == 0 && strcmp(r->values[i].name, name) == 0)
            return &r->values[i];
    return NULL;
}

static void give_values(void)
{
    static const int64_t sizes[] = {0, 1, 1000, 1024, 1500, 2047, 1024, -5};
    size_t i;
    for (i = 0; i < 8; i++) {
        NETPROF_ITERATION("send", i);
        NETPROF_VALUE("size", sizes[i]);
        netprof_value(netprof_region("peer"), (int64_t)(i % 2));
        spin(i == 5 ? 900 : 10);
    }
    NETPROF_VALUE("size", 1); /* no region is open */
}

static void test_values(void **state)
{
    netprof_regions r;
    const netprof_value_stat *size, *peer, *iteration;
    (void)state;
    give_values();
    r = take();
    assert_int_equal(r.value_count, 3);
    size = value_of(&r, "send", "size");
    peer = value_of(&r, "send", "peer");
    iteration = value_of(&r, "send", "iteration");
    assert_true(size && peer && iteration);
    assert_int_equal(stat_of(&r, "send")->calls, 8);
    assert_int_equal(size->count, 8);
    assert_int_equal(size->sum, 0 + 1 + 1000 + 1024 + 1500 + 2047 + 1024 - 5);
    assert_int_equal(size->least, -5);
    assert_int_equal(size->most, 2047);
    assert_int_equal(size->at_longest, 2047);
    assert_int_equal(size->longest_ns, 900);
    assert_int_equal(size->counts[0], 2);  /* 0 and -5 */
    assert_int_equal(size->counts[1], 1);  /* 1 */
    assert_int_equal(size->counts[10], 1); /* 512 to 1023 */
    assert_int_equal(size->counts[11], 4); /* 1024 to 2047 */
    assert_int_equal(size->times_ns[11], 10 + 10 + 900 + 10);
    assert_int_equal(peer->sum, 4);
    assert_int_equal(iteration->at_longest, 5);
    assert_int_equal(iteration->most, 7);
    assert_int_equal(netprof_value_floor(11), 1024);
    assert_int_equal(netprof_value_floor(0), INT64_MIN);
    assert_int_equal(netprof_value_floor(64), INT64_MAX);
    netprof_regions_free(&r);
    netprof_regions_reset();
    NETPROF_BEGIN("send");
    NETPROF_END("send");
    r = take();
    assert_int_equal(r.value_count, 0);
    netprof_regions_free(&r);
}

/* -- in the file -- */

static int write_to(void *user, const void *data, size_t size)
{
    netprof__buffer *b = (netprof__buffer *)user;
    netprof__put(b, data, size);
    return b->failed ? ENOMEM : 0;
}

static void test_round_trip(void **state)
{
    netprof_regions r;
    netprof__buffer file;
    netprof_writer *w;
    netprof_reader *reader = NULL;
    netprof_item item;
    (void)state;
    memset(&file, 0, sizeof file);
    file.alloc = netprof__alloc_or_default(NULL);
    size_t i;
    netprof_span span;
    NETPROF_BEGIN("step");
    span = netprof_span_begin(netprof_region("beside"));
    netprof_span_wait(&span);
    spin(77);
    netprof_span_end(span);
    NETPROF_END("step");
    give_values();
    r = take();
    assert_int_equal(netprof_writer_open_fn(&w, write_to, &file, NULL), NETPROF_OK);
    assert_int_equal(netprof_write_regions(w, &r, NULL), NETPROF_OK);
    assert_int_equal(netprof_writer_close(w, 1, NULL), NETPROF_OK);
    assert_int_equal(netprof_reader_open_memory(&reader, file.data, file.size, NULL, NULL), NETPROF_OK);
    assert_int_equal(netprof_reader_next(reader, &item, NULL), NETPROF_OK);
    assert_int_equal(item.type, NETPROF_ITEM_REGIONS);
    assert_int_equal(item.regions->readings, 20); /* at both ends of ten */
    assert_int_equal(item.regions->readings, r.readings);
    assert_int_equal(item.regions->reading_ns, r.reading_ns);
    assert_int_equal(item.regions->count, r.count);
    for (i = 0; i < r.count; i++) {
        assert_int_equal(item.regions->stats[i].waits, r.stats[i].waits);
        assert_int_equal(item.regions->stats[i].waited_ns, r.stats[i].waited_ns);
    }
    assert_int_equal(stat_of(item.regions, "beside")->waits, 1);
    assert_int_equal(item.regions->value_count, 3);
    for (i = 0; i < 3; i++) {
        const netprof_value_stat *a = &r.values[i], *b = &item.regions->values[i];
        assert_int_equal(a->stat, b->stat);
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->count, b->count);
        assert_int_equal(a->sum, b->sum);
        assert_int_equal(a->least, b->least);
        assert_int_equal(a->most, b->most);
        assert_int_equal(a->at_longest, b->at_longest);
        assert_int_equal(a->longest_ns, b->longest_ns);
        assert_memory_equal(a->counts, b->counts, NETPROF_VALUE_BUCKETS * sizeof *a->counts);
        assert_memory_equal(a->times_ns, b->times_ns, NETPROF_VALUE_BUCKETS * sizeof *a->times_ns);
    }
    netprof_reader_close(reader);
    netprof_regions_free(&r);
    netprof__release(&file.alloc, file.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_readings_are_apart, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_readings_of_aborted_calls, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_readings_before_a_reset, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_counters_are_exact, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_default_of_fast, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_dynamic_names, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_mismatch_says_where, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_spans_that_overlap, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_spans_that_overlap, fresh_time, back_to_fast),
        cmocka_unit_test_setup_teardown(test_spans_have_counters, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_many_spans_with_counters, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_places_of_spans, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_span_over_a_reset, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_span_over_a_fork, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_calls_over_a_fork, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_counters_of_open_calls_at_an_exit, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_wait_of_a_suspended_span, fresh_time, back_to_fast),
        cmocka_unit_test_setup_teardown(test_spans_end_while_collected, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_spans_between_threads, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_fibers, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_fibers, fresh_time, back_to_fast),
        cmocka_unit_test_setup_teardown(test_adopted_threads, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_adoption_with_faults, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_values, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_round_trip, fresh, back_to_real_time),
    };
    return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
