/* What the times, bytes and values of regions add up to, by the test's own clock: reading counters takes time there, and
   nothing else does but what a test says. */
struct timespec;
static int test_clock(int clock, struct timespec *t);
static long test_pread(int fd, void *data, unsigned long size, long offset);
#define NETPROF_OS_CLOCK(clock, t)               test_clock((clock), (t))
#define NETPROF_OS_PREAD(fd, data, size, offset) test_pread((fd), (data), (size), (offset))
#define NETPROF_NO_TSC
#define NETPROF_IMPLEMENTATION
#include "../../netprof.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { READ_NS = 1000, SPIN_NS = 50000 };

static int64_t made_up_ns; /* 0: the real clock */
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
    if (made_up_ns) {
        made_up_ns += READ_NS;
        reads++;
    }
    return pread(fd, data, size, offset);
}

static void spin(int64_t ns)
{
    made_up_ns += ns;
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
    made_up_ns = netprof__clock(CLOCK_MONOTONIC) + 1000000000;
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
    made_up_ns = 0;
    netprof_regions_reset();
    return 0;
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
    made_up_ns = 0;
    unsetenv("NETPROF_ROOT");
    np = netprof__region_context(1);
    for (i = 0; np && i < np->part_count; i++)
        assert_string_not_equal(np->parts[i].source.name, "ip");
    before = np ? (int)np->part_count : 0;
    netprof_close(np);
    setenv("NETPROF_SOURCES", "netdev,ip", 1);
    np = netprof__region_context(1);
    for (i = 0; np && i < np->part_count; i++)
        after += strcmp(np->parts[i].source.name, "ip") == 0;
    assert_int_equal(after, 1);
    netprof_close(np);
    unsetenv("NETPROF_SOURCES");
    np = netprof__region_context(0);
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
    netprof_reader *reader;
    netprof_item item;
    (void)state;
    memset(&file, 0, sizeof file);
    file.alloc = netprof__alloc_or_default(NULL);
    NETPROF_BEGIN("step");
    spin(1);
    NETPROF_END("step");
    r = take();
    assert_int_equal(netprof_writer_open_fn(&w, write_to, &file, NULL), NETPROF_OK);
    assert_int_equal(netprof_write_regions(w, &r, NULL), NETPROF_OK);
    assert_int_equal(netprof_writer_close(w, 1, NULL), NETPROF_OK);
    assert_int_equal(netprof_reader_open_memory(&reader, file.data, file.size, NULL, NULL), NETPROF_OK);
    assert_int_equal(netprof_reader_next(reader, &item, NULL), NETPROF_OK);
    assert_int_equal(item.type, NETPROF_ITEM_REGIONS);
    assert_int_equal(item.regions->readings, 2);
    assert_int_equal(item.regions->readings, r.readings);
    assert_int_equal(item.regions->reading_ns, r.reading_ns);
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
        cmocka_unit_test_setup_teardown(test_round_trip, fresh, back_to_real_time),
    };
    return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
