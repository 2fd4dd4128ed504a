// How figures of regions come about: a stat from the sums that a thread keeps, the clock's correction, what is said of a whole
// process, and which of several copies of netprof has the regions.
#define _GNU_SOURCE
#define NETPROF_IMPLEMENTATION
#define NETPROF_STATIC
#include "netprof.h"

#include "support.h"

static void assert_near(double is, double should, double share)
{
    double off = is > should ? is - should : should - is;
    if (!(off <= share * should)) fail_msg("%g instead of %g", is, should);
}

// ---- a stat ----

// Calls of these durations, of which the last two were inside another of the same; all times by 1.5.
static void a_stat_from_its_sums(void **state)
{
    static const uint64_t took[] = {40, 12, 70, 26, 1000, 4, 58};
    static netprof__thread thread;
    static netprof__node parent, node;
    netprof__tally y;
    netprof_stat s;
    double sum = 0, squares = 0, off = 0;
    const double n = COUNT(took);
    (void)state;
    memset(&y, 0, sizeof y);
    memset(&s, 0, sizeof s);
    y.pivot = 36;
    for (size_t i = 0; i < COUNT(took); i++) {
        *(i < 5 ? &y.inclusive : &y.recursive) += took[i];
        sum += (double)took[i];
        squares += (double)took[i] * (double)took[i];
        off += ((double)took[i] - 36) * ((double)took[i] - 36);
    }
    memcpy(&y.squares, &off, sizeof off);
    thread.number = 6;
    node.index = 9, node.parent = &parent, parent.index = 5;
    y.calls = 14, y.measured = COUNT(took), y.skipped = 3;
    y.spans = 2, y.adopted = 80, y.within = 310, y.min = 4, y.max = 1000, y.bytes = 777, y.aborted = 8,
    y.too_short = 11;
    y.counted = 13, y.concurrency = 17, y.waits = 19, y.waited = 22;
    netprof__stat_fill(&s, &thread, &node, &y, 1.5);
    assert_int_equal(s.thread, 6);
    assert_int_equal(s.node, 9);
    assert_int_equal(s.parent, 5);
    assert_int_equal(s.calls, 14);
    assert_int_equal(s.measured, 7);
    assert_int_equal(s.open, 14 - 7 - 3);
    assert_int_equal(s.spans, 2);
    assert_int_equal(s.total_ns, 1210 * 3 / 2);
    assert_int_equal(s.inclusive_ns, (1148 + 80) * 3 / 2);
    assert_int_equal(s.exclusive_ns, (1210 + 80 - 310) * 3 / 2);
    assert_int_equal(s.min_ns, 6);
    assert_int_equal(s.max_ns, 1500);
    assert_near(s.variance_ns2, (squares / n - sum / n * (sum / n)) * 2.25, 1e-9);
    assert_int_equal(s.bytes, 777);
    assert_int_equal(s.aborted, 8);
    assert_int_equal(s.too_short, 11);
    assert_int_equal(s.counted, 13);
    assert_int_equal(s.concurrency, 17);
    assert_int_equal(s.waits, 19);
    assert_int_equal(s.waited_ns, 33);
    // at the top, of equal calls, none open; and where none was timed
    node.parent = &thread.root;
    off = 7 * 4.0;
    memcpy(&y.squares, &off, sizeof off);
    y.calls = 10, y.inclusive = 7 * 38, y.recursive = 0;
    netprof__stat_fill(&s, &thread, &node, &y, 1);
    assert_int_equal(s.parent, UINT32_MAX);
    assert_int_equal(s.open, 0);
    assert_true(s.variance_ns2 == 0);
    y.measured = 0, y.skipped = 0, y.min = UINT64_MAX;
    netprof__stat_fill(&s, &thread, &node, &y, 1);
    assert_int_equal(s.min_ns, 0);
    assert_true(s.variance_ns2 == 0);
    assert_int_equal(s.open, 10);
}

static void times_are_rounded(void **state)
{
    (void)state;
    assert_int_equal(netprof__scale_ns(0, 3), 0);
    assert_int_equal(netprof__scale_ns(10, 1), 10);
    assert_int_equal(netprof__scale_ns(10, 1.04), 10);
    assert_int_equal(netprof__scale_ns(10, 1.06), 11);
    assert_int_equal(netprof__scale_ns(1000000, 0.9999997), 1000000);
    assert_int_equal(netprof__scale_ns(1000000, 0.9999994), 999999);
}

// ---- the clock ----

// Half a nanosecond a tick was the first estimate. In ten seconds there were so many ticks:
static void the_clock_is_corrected(void **state)
{
    static struct netprof__regions_state g;
    static const struct {
        uint64_t ticks;
        double factor;
    } cases[] = {{10000000000, 2}, {5000000000, 4}};
    uint64_t ticks;
    (void)state;
    g.ns_per_tick_24 = (uint64_t)NETPROF__TICK_UNIT / 2;
    g.use_tsc = 1;
    for (size_t i = 0; i < COUNT(cases); i++) {
        g.begin_ns = netprof__clock_and_ticks(&ticks) - 10000000000;
        if (ticks <= cases[i].ticks) continue; // the machine has run for too short a time
        g.begin_ticks = ticks - cases[i].ticks;
        assert_near(netprof__clock_factor(&g), cases[i].factor, 0.2);
    }
    g.use_tsc = 0; // then there is nothing to correct
    assert_true(netprof__clock_factor(&g) == 1);
    g.use_tsc = 1;
    g.begin_ticks = UINT64_MAX; // it ran backwards
    assert_true(netprof__clock_factor(&g) == 1);
    g.begin_ticks = 0;
    g.begin_ns = netprof__clock_and_ticks(&ticks) + 10000000000; // too short
    assert_true(netprof__clock_factor(&g) == 1);
    g.factor = 1.25; // as it was said before
    assert_true(netprof__clock_factor(&g) == 1.25);
}

// ---- a process ----

static void what_is_said_of_a_process(void **state)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    netprof_regions r;
    (void)state;
    setenv("NETPROF", "time", 1);
    setenv("NETPROF_OUTPUT", "/dev/null", 1);
    NETPROF_BEGIN("a");
    NETPROF_END("a");
    g->sampler_readings = 100, g->sampler_base[0] = 30;
    g->sampler_ns = 900, g->sampler_base[1] = 200;
    g->overhead_ps = 4321;
    g->sweep_ns = 8765;
    assert_int_equal(netprof_regions_take(&r, NULL), NETPROF_OK);
    assert_int_equal(r.readings, 70);
    assert_int_equal(r.reading_ns, 700);
    assert_int_equal(r.overhead_ps, 4321);
    assert_int_equal(r.sweep_ns, 8765);
    assert_int_equal(r.interval_ns, 0);
    assert_int_equal(r.threads, 1);
    assert_int_equal(r.mode, NETPROF_MODE_TIME);
    assert_string_equal(r.clock, g->use_tsc ? "tsc" : "clock_gettime");
    assert_true(r.wall_ns == g->since_wall_ns && r.elapsed_ns > 0);
    netprof_regions_free(&r);
    g->sampler_readings = g->sampler_ns = g->sampler_base[0] = g->sampler_base[1] = 0;
}

// ---- several copies ----

static netprof__meeting *meet(const netprof__meeting *page, const char *name, netprof__meeting *best)
{
    char line[256];
    snprintf(line, sizeof line, "%lx-%lx rw-p 00000000 00:01 77    %s\n", (unsigned long)(uintptr_t)page,
             (unsigned long)(uintptr_t)page + 4096, name);
    return netprof__meeting_of(line, best);
}

static void the_earliest_copy_has_the_regions(void **state)
{
    static netprof__meeting pages[3];
    char name[128];
    (void)state;
    for (size_t i = 0; i < 3; i++)
        memcpy(pages[i].magic, netprof__meeting_name, sizeof pages[i].magic);
    pages[0].stamp_ns = 500, pages[1].stamp_ns = 400, pages[2].stamp_ns = 400;
    snprintf(name, sizeof name, "/memfd:%s (deleted)", netprof__meeting_name);
    assert_ptr_equal(meet(&pages[1], name, &pages[0]), &pages[1]); // earlier
    assert_ptr_equal(meet(&pages[0], name, &pages[1]), &pages[1]); // later
    assert_ptr_equal(meet(&pages[1], name, &pages[2]), &pages[1]); // at once: the lower address
    assert_ptr_equal(meet(&pages[2], name, &pages[1]), &pages[1]);
    assert_ptr_equal(meet(&pages[1], name, &pages[1]), &pages[1]);
    assert_ptr_equal(meet(&pages[1], "/memfd:other (deleted)", &pages[0]), &pages[0]);
    assert_ptr_equal(meet(&pages[1], "/usr/lib/libc.so.6", &pages[0]), &pages[0]);
    snprintf(name, sizeof name, "/memfd:%s2 (deleted)", netprof__meeting_name);
    assert_ptr_equal(meet(&pages[1], name, &pages[0]), &pages[0]);
    snprintf(name, sizeof name, "/memfd:%s (deleted)", netprof__meeting_name);
    pages[1].magic[0] ^= 1; // of another version
    assert_ptr_equal(meet(&pages[1], name, &pages[0]), &pages[0]);
    pages[2].stamp_ns = 0; // never became ready
    assert_ptr_equal(meet(&pages[2], name, &pages[0]), &pages[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stat_from_its_sums),      cmocka_unit_test(times_are_rounded),
        cmocka_unit_test(the_clock_is_corrected),    cmocka_unit_test(the_earliest_copy_has_the_regions),
        cmocka_unit_test(what_is_said_of_a_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
