// The first questions of a comparison: was the same work done, did it end well, how much slower was it, and what is set
// up otherwise? Expected figures are arithmetic on the numbers that stand in each test.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "netprof.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builtin_rules.h"
#include "compare_bench.h"

// ---- runs with commands ----

static netprof_fact facts[COMPARISON_SIDES][most_runs][4];

// A run of so many MB in so many seconds by a command that ended so; NULL: not known.
static void add_work(bench *b, comparison_side side, double megabytes, int seconds, const char *command,
                     const char *exit_status)
{
    char text[128];
    files *s = &b->sides[side];
    snprintf(text, sizeof text, "hni_sts_rx_ok_octets=%.0f pct_retry_srb_requests=5", megabytes * 1e6);
    add_run(b, side, "cxi", text);
    last_for(b, side, seconds);
    dataset_run *run = &s->runs[s->set.run_count - 1];
    run->facts = facts[side][s->set.run_count - 1];
    run->fact_count = 0;
    if (command) run->facts[run->fact_count++] = (netprof_fact){"command", command};
    if (exit_status) run->facts[run->fact_count++] = (netprof_fact){"exit_status", exit_status};
}

static const comparison_sentence *find_sentence(const comparison *c, const char *name)
{
    for (size_t i = 0; i < c->sentence_count; i++)
        if (strcmp(c->sentences[i].rule, name) == 0) return &c->sentences[i];
    return NULL;
}

static void expect(const bench *b, severity s, const char *title)
{
    assert_string_equal(b->c.title, title);
    assert_int_equal(b->c.severity, s);
}

// Both sides, one run each.
static void compare_work(bench *b, double healthy_mb, int healthy_s, double faulty_mb, int faulty_s,
                         const char *healthy_command, const char *faulty_command)
{
    memset(b, 0, sizeof *b);
    add_work(b, COMPARISON_HEALTHY, healthy_mb, healthy_s, healthy_command, "0");
    add_work(b, COMPARISON_FAULTY, faulty_mb, faulty_s, faulty_command, "0");
    assert_int_equal(make(b, NULL), NETPROF_OK);
}

// ---- slower ----

static void twelve_times_slower_for_the_same_bytes(void **state)
{
    bench b;
    (void)state;
    compare_work(&b, 210, 10, 210, 120, "./transfer", "./transfer");
    expect(&b, SEVERITY_HIGH, "12 times slower for the same work");
    const comparison_sentence *x = find_sentence(&b.c, "duration");
    assert_int_equal(x->severity, SEVERITY_HIGH);
    assert_int_equal(x->subject, COMPARISON_OF_SPEED);
    is_near(x->cost_s, 110);
    assert_string_equal(x->text, "12 times slower for the same work: 210 MB moved on both sides, in 2 min 00 s instead "
                                 "of 10 s; one run on each side: how much runs vary is not known");
    clear(&b);
}

// What else differs and is no finding may be chance: it is listed, and never the headline's reason.
static void a_counter_that_may_be_chance_is_no_reason(void **state)
{
    bench b = {0};
    (void)state;
    for (int side = 0; side < COMPARISON_SIDES; side++)
        for (int i = 0; i < 3; i++) {
            add_run(&b, (comparison_side)side, "cxi",
                    side ? "hni_sts_rx_ok_octets=9000000000 lpe_net_match_overflow_0=170000"
                         : "hni_sts_rx_ok_octets=9000000000 lpe_net_match_overflow_0=600");
            last_for(&b, (comparison_side)side, side ? 120 : 10);
        }
    assert_int_equal(make(&b, NULL), NETPROF_OK);
    const comparison_sentence *x = find_sentence(&b.c, "lpe_net_match_overflow_0");
    assert_non_null(x);
    assert_int_equal(x->severity, SEVERITY_INFO);
    expect(&b, SEVERITY_HIGH, "12 times slower for the same work");
    clear(&b);
}

static void one_run_on_each_side_judges_by_the_factor(void **state)
{
    static const struct {
        int seconds;
        severity s;
    } rows[] = {{104, SEVERITY_OK},   {199, SEVERITY_INFO}, {200, SEVERITY_WATCH}, {399, SEVERITY_WATCH},
                {400, SEVERITY_WARN}, {999, SEVERITY_WARN}, {1000, SEVERITY_HIGH}, {20, SEVERITY_OK}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench b;
        compare_work(&b, 9000, 100, 9000, rows[i].seconds, NULL, NULL);
        const comparison_sentence *x = find_sentence(&b.c, "duration");
        assert_non_null(x);
        assert_int_equal(x->severity, rows[i].s == SEVERITY_OK ? SEVERITY_INFO : rows[i].s);
        assert_int_equal(x->subject, rows[i].s ? COMPARISON_OF_SPEED : COMPARISON_OF_CONTEXT);
        clear(&b);
    }
}

static void throughput_where_the_work_differs(void **state)
{
    bench b;
    (void)state;
    compare_work(&b, 2060, 10, 406, 10, "iperf3 -c host", "iperf3 -c host -w 8K");
    expect(&b, SEVERITY_WARN, "Not the same work: 406 MB instead of 2.06 GB, throughput 0.197 times");
    assert_int_equal(find_sentence(&b.c, "throughput")->severity, SEVERITY_WARN);
    assert_true(says(&b.c, "throughput 0.197 times: 40.6 MB/s instead of 206 MB/s"));
    clear(&b);
    // Another program does other work.
    compare_work(&b, 2060, 10, 406, 10, "iperf3 -c host", "/usr/bin/ping host");
    assert_int_equal(b.c.severity, SEVERITY_WATCH);
    assert_true(says(&b.c, "Not the same work: 406 MB instead of 2.06 GB, by another program"));
    clear(&b);
}

// Nobody knows whether less was to be done; but nothing is said to be well.
static void less_traffic_without_a_command_is_not_judged(void **state)
{
    bench b;
    (void)state;
    compare_work(&b, 2100, 10, 52, 10, NULL, NULL);
    expect(
        &b, SEVERITY_UNKNOWN,
        "Could not be judged: not the same work: 52.0 MB instead of 2.10 GB, throughput 0.0248 times; whether less was "
        "to be done is not known");
    clear(&b);
    compare_work(&b, 210, 10, 260, 200, NULL, NULL); // more bytes (sent again, perhaps), and much more time
    assert_int_equal(b.c.severity, SEVERITY_HIGH);
    clear(&b);
}

static void next_to_no_traffic_the_command_is_the_work(void **state)
{
    bench b;
    (void)state;
    compare_work(&b, 0.002, 10, 0.009, 50, "./solve", "./solve");
    expect(&b, SEVERITY_WARN, "5 times slower for the same work");
    clear(&b);
    compare_work(&b, 0.002, 10, 0.009, 50, "./solve", "./render");
    assert_int_equal(b.c.work.same, COMPARISON_WORK_OTHER);
    assert_true(says(&b.c, "Not the same work: another program, and next to no traffic on both sides"));
    clear(&b);
    compare_work(&b, 0.002, 10, 0.009, 50, NULL, NULL);
    assert_int_equal(b.c.work.same, COMPARISON_WORK_UNKNOWN);
    assert_true(says(&b.c, "Whether it was the same work is not known"));
    clear(&b);
}

// ---- several runs ----

static void add_times(bench *b, comparison_side side, const int *seconds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_work(b, side, 9000, seconds[i], "./transfer", "0");
}

static void several_runs_by_their_middle(void **state)
{
    static const struct {
        int healthy[5], faulty[5];
        severity s;
        const char *words;
    } rows[] = {
        // apart, by a fifth
        {{100, 101, 102, 103, 104},
         {120, 121, 122, 123, 124},
         SEVERITY_WATCH,
         "in 2 min 02 s (2 min 00 s to 2 min 04 s) instead of 102 s (100 s to 104 s); the ranges do not "
         "meet: so far apart by chance in 2 of 252 splits"},
        {{100, 101, 102, 103, 104}, {150, 151, 152, 153, 154}, SEVERITY_WARN, "do not meet"},
        {{100, 101, 102, 103, 104}, {250, 251, 252, 253, 254}, SEVERITY_HIGH, "do not meet"},
        // one odd run of five
        {{100, 101, 102, 103, 104}, {100, 101, 102, 103, 900}, SEVERITY_OK, "Same work in the same time"},
        // the ranges meet
        {{100, 110, 120, 130, 140},
         {105, 120, 130, 140, 150},
         SEVERITY_INFO,
         "the ranges of the two sides meet: so far apart by chance in "},
        // wide, but the ranks leave no doubt
        {{100, 150, 200, 250, 300}, {310, 400, 500, 600, 700}, SEVERITY_HIGH, "do not meet"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench b = {0};
        add_times(&b, COMPARISON_HEALTHY, rows[i].healthy, 5);
        add_times(&b, COMPARISON_FAULTY, rows[i].faulty, 5);
        assert_int_equal(make(&b, NULL), NETPROF_OK);
        if (b.c.severity != rows[i].s || !says(&b.c, rows[i].words))
            fail_msg("row %zu: %s: %s", i, severity_name(b.c.severity), b.c.sentences[0].text);
        // The chance that is used is the one that is told.
        char told[80];
        snprintf(told, sizeof told, "by chance in %.0f of 252 splits", b.c.work.chance * 252);
        if (strstr(rows[i].words, "meet") && !says(&b.c, told)) fail_msg("row %zu: expected %s", i, told);
        clear(&b);
    }
}

// Three and two runs: ten splits show nothing by ranks, but a step far beyond their spread does. The chances are those of
// Student's test of the logarithms, integrated elsewhere: 6.470e-5 and 0.1148.
static void few_runs_by_their_spread(void **state)
{
    bench b = {0};
    (void)state;
    add_times(&b, COMPARISON_HEALTHY, (int[]){100, 101, 102}, 3);
    add_times(&b, COMPARISON_FAULTY, (int[]){130, 131}, 2);
    assert_int_equal(make(&b, NULL), NETPROF_OK);
    assert_int_equal(find_sentence(&b.c, "duration")->severity, SEVERITY_WARN);
    assert_true(fabs(b.c.work.chance - 6.470e-5) < 1e-8);
    assert_true(says(&b.c, "do not meet: so far apart by chance in fewer than 1 of 1000 such comparisons"));
    clear(&b);
    add_times(&b, COMPARISON_HEALTHY, (int[]){100, 120, 140}, 3);
    add_times(&b, COMPARISON_FAULTY, (int[]){150, 170}, 2);
    assert_int_equal(make(&b, NULL), NETPROF_OK);
    assert_int_equal(find_sentence(&b.c, "duration")->severity, SEVERITY_INFO);
    assert_true(says(&b.c, "do not meet: so far apart by chance in 11.5 % of such comparisons"));
    clear(&b);
}

// ---- what could not be judged ----

// Runs of a port that counts its bytes and nothing else: there is nothing to check.
static void compare_unchecked(bench *b, double healthy_mb, int healthy_s, double faulty_mb, int faulty_s)
{
    memset(b, 0, sizeof *b);
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        char text[80];
        snprintf(text, sizeof text, "rx_bytes=%.0f", (side ? faulty_mb : healthy_mb) * 1e6);
        add_run(b, (comparison_side)side, "netdev", text);
        last_for(b, (comparison_side)side, side ? faulty_s : healthy_s);
        dataset_run *run = &b->sides[side].runs[0];
        run->facts = facts[side][0];
        run->fact_count = 1;
        run->facts[0] = (netprof_fact){"command", side ? "./transfer -x" : "./transfer"};
    }
    assert_int_equal(make(b, NULL), NETPROF_OK);
}

static void no_good_news_of_what_no_check_judged(void **state)
{
    bench b;
    (void)state;
    compare_unchecked(&b, 200, 10, 200, 10);
    expect(&b, SEVERITY_OK, "Same work in the same time; no check was possible on one side at least");
    clear(&b);
    compare_unchecked(&b, 200, 10, 200, 15);
    expect(&b, SEVERITY_INFO,
           "1.50 times slower for the same work, which may be chance; no check was possible on one side at least");
    clear(&b);
    compare_unchecked(&b, 200, 10, 150, 9);
    expect(&b, SEVERITY_UNKNOWN,
           "Could not be judged: no check was possible on one side at least; not the same work: 150 MB instead of 200 "
           "MB, throughput 0.833 times, which may be chance");
    assert_string_equal(b.c.sentences[0].text, "Could not be judged: no check was possible on one side at least");
    assert_int_equal(b.c.sentences[0].severity, SEVERITY_UNKNOWN);
    clear(&b);
}

// ---- how the commands ended ----

static void add_ends(bench *b, comparison_side side, const char *const *ends, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_work(b, side, 9000, 100, "./transfer", ends[i]);
}

static void a_command_that_failed(void **state)
{
    static const struct {
        const char *healthy[3], *faulty[3];
        size_t count;
        severity s;
        const char *title;
    } rows[] = {
        {{"0"}, {"1"}, 1, SEVERITY_HIGH, "The faulty run failed (exit status 1), the healthy one did not"},
        {{"1"}, {"0"}, 1, SEVERITY_UNKNOWN, "The healthy run failed (exit status 1), the faulty one did not"},
        {{"1"},
         {"139"},
         1,
         SEVERITY_UNKNOWN,
         "On both sides the command failed: the faulty run failed (exit status 139), the healthy run failed (exit "
         "status "
         "1)"},
        {{"0", "0", "0"},
         {"0", "7", "0"},
         3,
         SEVERITY_WATCH,
         "1 of 3 faulty runs failed (exit status 7), the healthy ones did not"},
        {{"0", "0", "0"},
         {"0", "7", "7"},
         3,
         SEVERITY_HIGH,
         "2 of 3 faulty runs failed (exit status 7), the healthy ones did not"},
        {{NULL}, {"1"}, 1, SEVERITY_HIGH, "The faulty run failed (exit status 1)"},
        {{"1"}, {NULL}, 1, SEVERITY_UNKNOWN, "The healthy run failed (exit status 1)"},
        // of those that do not say how they ended nothing is said
        {{"0", NULL, "0"},
         {"7", "7", "7"},
         3,
         SEVERITY_HIGH,
         "3 of 3 faulty runs failed (exit status 7), 2 of 3 healthy ones did not; how the others ended is not known"},
        {{NULL, "7", "7"},
         {NULL, NULL, NULL},
         3,
         SEVERITY_UNKNOWN,
         "2 of the 2 healthy runs that say how they ended failed (exit status 7)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench b = {0};
        add_ends(&b, COMPARISON_HEALTHY, rows[i].healthy, rows[i].count);
        add_ends(&b, COMPARISON_FAULTY, rows[i].faulty, rows[i].count);
        assert_int_equal(make(&b, NULL), NETPROF_OK);
        expect(&b, rows[i].s, rows[i].title);
        assert_string_equal(b.c.sentences[0].rule, "exit-status");
        clear(&b);
    }
}

static void a_signal(void **state)
{
    bench b = {0};
    (void)state;
    add_work(&b, COMPARISON_HEALTHY, 9000, 100, "./transfer", "0");
    add_work(&b, COMPARISON_FAULTY, 9000, 100, "./transfer", "139");
    dataset_run *run = &b.sides[COMPARISON_FAULTY].runs[0];
    run->facts[run->fact_count++] = (netprof_fact){"signal", "11"};
    assert_int_equal(make(&b, NULL), NETPROF_OK);
    expect(&b, SEVERITY_HIGH, "The faulty run failed (signal 11, segmentation fault), the healthy one did not");
    clear(&b);
}

// Of the same bytes, packets are told where they are fewer than four fifths, or more than five fourths.
static void packets_of_the_same_bytes(void **state)
{
    static const struct {
        int packets; // instead of 20000
        const char *expected;
    } rows[] = {{12000, "200 MB moved on both sides, in 0.600 times the packets, in"},
                {13000, "200 MB moved on both sides, in 0.650 times the packets, in"},
                {15800, "200 MB moved on both sides, in 0.790 times the packets, in"},
                {16200, "200 MB moved on both sides, in "},
                {20000, "200 MB moved on both sides, in "},
                {24800, "200 MB moved on both sides, in "},
                {25200, "200 MB moved on both sides, in 1.26 times the packets, in"},
                {31000, "200 MB moved on both sides, in 1.55 times the packets, in"},
                {0, "200 MB moved on both sides, in "}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench b = {0};
        char text[128];
        snprintf(text, sizeof text, "rx_bytes=200000000 rx_packets=%d", rows[i].packets);
        add_run(&b, COMPARISON_HEALTHY, "netdev", "rx_bytes=200000000 rx_packets=20000");
        add_run(&b, COMPARISON_FAULTY, "netdev", text);
        last_for(&b, COMPARISON_FAULTY, 30);
        assert_int_equal(make(&b, NULL), NETPROF_OK);
        assert_true(says(&b.c, rows[i].expected));
        assert_int_equal(says(&b.c, "the packets"), strstr(rows[i].expected, "the packets") != NULL);
        clear(&b);
    }
}

// ---- set up otherwise ----

static void configuration_comes_before_counters(void **state)
{
    bench b = {0};
    (void)state;
    for (int side = 0; side < 2; side++) {
        add_run(&b, (comparison_side)side, "netdev",
                side ? "@mtu=1500 rx_bytes=200000000 rx_packets=150000 qdisc_drops=40"
                     : "@mtu=9000 rx_bytes=200000000 rx_packets=24000 qdisc_drops=0");
        if (side) last_for(&b, COMPARISON_FAULTY, 30);
    }
    assert_int_equal(make(&b, NULL), NETPROF_OK);
    expect(&b, SEVERITY_WATCH, "3 times slower for the same work; what differs: MTU 1500 instead of 9000 on dev0");
    assert_string_equal(b.c.sentences[0].rule, "duration");
    assert_string_equal(b.c.sentences[1].rule, "configuration");
    assert_int_equal(b.c.sentences[1].severity, SEVERITY_WATCH);
    assert_true(says(&b.c, "200 MB moved on both sides, in 6.25 times the packets"));
    clear(&b);
    // Where nothing is slower it is context.
    compare_two(&b, "netdev", "@mtu=9000 rx_bytes=200000000", "@mtu=1500 rx_bytes=200000000");
    assert_int_equal(find_sentence(&b.c, "configuration")->severity, SEVERITY_INFO);
    assert_string_equal(b.c.title, "Same work in the same time; no check was possible on one side at least; what "
                                   "differs: MTU 1500 instead of 9000 on dev0");
    assert_int_equal(b.c.severity, SEVERITY_INFO);
    clear(&b);
}

static void facts_of_the_node_count_and_those_of_the_run_do_not(void **state)
{
    bench b;
    (void)state;
    memset(&b, 0, sizeof b);
    for (int side = 0; side < 2; side++) {
        add_work(&b, (comparison_side)side, 9000, side ? 300 : 100, "./transfer", "0");
        dataset_run *run = &b.sides[side].runs[0];
        run->facts[run->fact_count++] = (netprof_fact){"cpus_allowed", side ? "1" : "16"};
        run->facts[run->fact_count++] = (netprof_fact){"pid", side ? "815" : "4711"};
    }
    assert_int_equal(make(&b, NULL), NETPROF_OK);
    expect(&b, SEVERITY_WATCH,
           "3 times slower for the same work; what differs: CPUs that the command may use 1 instead of 16");
    assert_int_equal(b.c.fact_count, 1);
    clear(&b);
}

static void another_card_under_the_same_name(void **state)
{
    bench b = {0};
    (void)state;
    compare_two(&b, "cxi", "@pci=0000:21:00.0 pct_no_tct_nacks=10", "@pci=0000:a1:00.0 pct_no_tct_nacks=10");
    assert_true(
        says(&b.c, "another card under the same name, PCI address 0000:a1:00.0 instead of 0000:21:00.0 on dev0"));
    clear(&b);
    // On another host cards have other places.
    add_run(&b, COMPARISON_HEALTHY, "cxi", "@pci=0000:21:00.0 pct_no_tct_nacks=10");
    add_run(&b, COMPARISON_FAULTY, "cxi", "@pci=0000:a1:00.0 pct_no_tct_nacks=10");
    b.sides[COMPARISON_FAULTY].runs[0].host = "node2";
    assert_int_equal(make(&b, NULL), NETPROF_OK);
    assert_int_equal(b.c.fact_count, 0);
    clear(&b);
}

static void a_port_that_one_side_lacks(void **state)
{
    bench b;
    (void)state;
    compare_two(&b, "cxi", "pct_no_tct_nacks=10 peer:pct_no_tct_nacks=10 peer2:pct_no_tct_nacks=9",
                "pct_no_tct_nacks=10 peer2:pct_no_tct_nacks=9");
    const comparison_sentence *x = find_sentence(&b.c, "device-missing");
    assert_non_null(x);
    assert_int_equal(x->severity, SEVERITY_WARN);
    assert_string_equal(x->text, "Port missing on the faulty side: dev1 (cxi); 2 instead of 3");
    assert_int_equal(b.c.severity, SEVERITY_WARN);
    clear(&b);
    compare_two(&b, "cxi", "pct_no_tct_nacks=10", "pct_no_tct_nacks=10 peer:pct_no_tct_nacks=9");
    assert_int_equal(find_sentence(&b.c, "device-new")->severity, SEVERITY_INFO);
    clear(&b);
}

// ---- counters that one side has ----

static void a_counter_that_only_one_side_has_is_new(void **state)
{
    bench b = {0};
    (void)state;
    // a shaper: its counters appear with it
    add_run(&b, COMPARISON_HEALTHY, "netdev",
            "@qdisc=noqueue rx_bytes=200000000 tx_bytes=9000 rx_packets=150000 "
            "tx_packets=100 rx_errors=0 tx_errors=0");
    add_run(&b, COMPARISON_FAULTY, "netdev",
            "@qdisc=tbf rx_bytes=200000000 tx_bytes=9000 rx_packets=150000 "
            "tx_packets=100 rx_errors=0 tx_errors=0 qdisc_overlimits=22908 "
            "qdisc_drops=0");
    last_for(&b, COMPARISON_FAULTY, 400);
    assert_int_equal(make(&b, NULL), NETPROF_OK);
    expect(&b, SEVERITY_HIGH,
           "40 times slower for the same work; what differs: queueing discipline tbf instead of noqueue on dev0");
    const comparison_cell *cell = cell_of(&b.c, "qdisc_overlimits");
    assert_int_equal(cell->state, COMPARISON_NEW);
    assert_int_equal(cell->side[COMPARISON_FAULTY].exact, 22908);
    assert_null(find_line(&b.c, "qdisc_drops")); // 0 and not there
    assert_int_equal(b.c.missing_count, 0);
    clear(&b);
}

// Another kernel has other counters, and a recording of a few counters lacks the others: nothing is new.
static void counters_of_other_software_are_not_compared(void **state)
{
    bench b;
    (void)state;
    compare_two(&b, "cxi", "@driver_rev=1 hni_sts_rx_ok_octets=1000 pct_no_tct_nacks=1",
                "@driver_rev=2 hni_sts_rx_ok_octets=1000 pct_no_tct_nacks=1 pct_no_trs_nacks=50");
    assert_null(find_line(&b.c, "pct_no_trs_nacks"));
    assert_int_equal(b.c.missing_count, 1);
    assert_string_equal(b.c.missing[0].name, "pct_no_trs_nacks");
    assert_string_equal(b.c.missing[0].reason[COMPARISON_HEALTHY], "absent");
    assert_string_equal(b.c.missing[0].reason[COMPARISON_FAULTY], "ok");
    clear(&b);
    compare_two(&b, "cxi", "hni_sts_rx_ok_octets=1000",
                "hni_sts_rx_ok_octets=1000 pct_no_tct_nacks=1 pct_no_trs_nacks=50 pct_no_mst_nacks=2");
    assert_null(find_line(&b.c, "pct_no_trs_nacks"));
    assert_int_equal(b.c.missing_count, 3);
    clear(&b);
}

// ---- chance ----

// "1 of 5 runs": an odd run is context, never the headline.
static void an_odd_run_is_no_headline(void **state)
{
    bench b = {0};
    (void)state;
    for (int i = 0; i < 5; i++) {
        add_run(&b, COMPARISON_HEALTHY, "cxi",
                "@cassini_version=1.1 hni_sts_rx_ok_octets=5000000000 hni_tx_paused_1=0");
        add_run(&b, COMPARISON_FAULTY, "cxi",
                i == 2 ? "@cassini_version=1.1 hni_sts_rx_ok_octets=5000000000 hni_tx_paused_1=4000000000"
                       : "@cassini_version=1.1 hni_sts_rx_ok_octets=5000000000 hni_tx_paused_1=0");
    }
    assert_int_equal(make(&b, NULL), NETPROF_OK);
    assert_true(b.c.severity < SEVERITY_WATCH);
    assert_true(says(&b.c, "egress-paused: only in 1 of 5 faulty runs"));
    assert_null(strstr(b.c.title, "paused"));
    clear(&b);
    for (int i = 0; i < 5; i++) {
        add_run(&b, COMPARISON_HEALTHY, "cxi",
                "@cassini_version=1.1 hni_sts_rx_ok_octets=5000000000 hni_tx_paused_1=0");
        add_run(&b, COMPARISON_FAULTY, "cxi",
                "@cassini_version=1.1 hni_sts_rx_ok_octets=5000000000 hni_tx_paused_1=4000000000");
    }
    assert_int_equal(make(&b, NULL), NETPROF_OK);
    assert_int_equal(b.c.severity, SEVERITY_HIGH);
    assert_true(says(&b.c, "in 5 of 5 faulty runs, 0 of 5 healthy ones (values this far apart: by chance in 1 of 252 "
                           "splits)"));
    clear(&b);
}

// A counter without a rule is a finding where the runs can show it: 5 and 5 can, 3 and 3 cannot.
static void counters_are_findings_where_the_runs_are_enough(void **state)
{
    static const struct {
        int runs;
        severity s;
    } rows[] = {{3, SEVERITY_INFO}, {5, SEVERITY_WATCH}};
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        bench b = {0};
        for (int i = 0; i < rows[k].runs; i++) {
            char text[128];
            add_run(&b, COMPARISON_HEALTHY, "ip", "IpExt/InOctets=9000000 TcpExt/TCPSackFailures=0");
            snprintf(text, sizeof text, "IpExt/InOctets=9000000 TcpExt/TCPSackFailures=%d", 700 + 50 * i);
            add_run(&b, COMPARISON_FAULTY, "ip", text);
        }
        assert_int_equal(make(&b, NULL), NETPROF_OK);
        assert_int_equal(b.c.severity, rows[k].s);
        assert_int_equal(b.c.sentences[0].subject, COMPARISON_OF_COUNTER);
        assert_int_equal(b.c.sentences[0].severity, rows[k].s);
        if (rows[k].runs == 5)
            assert_true(says(&b.c, "5 of 5 faulty runs beyond all 5 healthy ones, a value this far occurs in 1 of 252 "
                                   "splits by chance"));
        clear(&b);
    }
}

// A segment or two sent again are in every other run.
static void a_few_events_are_no_headline(void **state)
{
    bench b;
    (void)state;
    compare_two(&b, "ip", "IpExt/InOctets=9000000 Tcp/RetransSegs=0 TcpExt/TCPSackFailures=0",
                "IpExt/InOctets=9000000 Tcp/RetransSegs=2 TcpExt/TCPSackFailures=2");
    assert_true(b.c.severity <= SEVERITY_INFO);
    assert_null(strstr(b.c.title, "TCPSackFailures"));
    assert_true(says(&b.c, "TCPSackFailures"));
    clear(&b);
}

// One healthy run: what NICs that are alike show is no difference of one of them.
static void alike_devices_are_replicas(void **state)
{
    bench b;
    (void)state;
    compare_two(&b, "cxi", "pct_retry_srb_requests=40 peer:pct_retry_srb_requests=53 peer2:pct_retry_srb_requests=1640",
                "pct_retry_srb_requests=45 peer:pct_retry_srb_requests=1160 peer2:pct_retry_srb_requests=1500");
    assert_int_equal(b.c.ranked_count, 0);
    clear(&b);
    compare_two(&b, "cxi", "pct_retry_srb_requests=40 peer:pct_retry_srb_requests=53 peer2:pct_retry_srb_requests=164",
                "pct_retry_srb_requests=45 peer:pct_retry_srb_requests=11600 peer2:pct_retry_srb_requests=150");
    assert_int_equal(b.c.ranked_count, 1);
    assert_string_equal(b.c.lines[0].pattern_text, "only dev1");
    clear(&b);
}

// What is denied must have been read on both sides, and be as it was.
static void what_it_is_not_needs_evidence(void **state)
{
    static const char paused[] = "@cassini_version=1.1 hni_tx_paused_1=3100000000 ";
    static const struct {
        const char *healthy, *faulty;
        bool denied;
    } rows[] = {
        {"hni_pcs_uncorrected_cw=0", "hni_pcs_uncorrected_cw=0", true},
        {"hni_pcs_uncorrected_cw=0u", "hni_pcs_uncorrected_cw=0", false},
        {"hni_pcs_uncorrected_cw=0", "hni_pcs_uncorrected_cw=0u", false},
        {"", "", false},
        {"hni_pcs_uncorrected_cw=2", "hni_pcs_uncorrected_cw=2", false},
        {"hni_pcs_uncorrected_cw=0 hni_llr_tx_replay_event=0", "hni_pcs_uncorrected_cw=0 hni_llr_tx_replay_event=4",
         false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench b;
        char healthy[256], faulty[256];
        snprintf(healthy, sizeof healthy, "@cassini_version=1.1 hni_tx_paused_1=0 %s", rows[i].healthy);
        snprintf(faulty, sizeof faulty, "%s%s", paused, rows[i].faulty);
        compare_two(&b, "cxi", healthy, faulty);
        const comparison_answer *a = find_answer(&b.c, "What it is not");
        if ((a && strstr(a->text, "Not the cable")) != rows[i].denied)
            fail_msg("row %zu: %s", i, a ? a->text : "no answer");
        clear(&b);
    }
}

// The middle run of three is clean, and one of them is not: nothing is denied.
static void what_one_run_shows_is_not_denied(void **state)
{
    (void)state;
    for (int damaged = 0; damaged < 2; damaged++) {
        bench b = {0};
        for (int i = 0; i < 3; i++) {
            char text[160];
            add_run(&b, COMPARISON_HEALTHY, "cxi", "@cassini_version=1.1 hni_tx_paused_1=0 hni_pcs_uncorrected_cw=0");
            snprintf(text, sizeof text, "@cassini_version=1.1 hni_tx_paused_1=3100000000 hni_pcs_uncorrected_cw=%d",
                     damaged && i == 1 ? 40 : 0);
            add_run(&b, COMPARISON_FAULTY, "cxi", text);
        }
        assert_int_equal(make(&b, NULL), NETPROF_OK);
        const comparison_answer *a = find_answer(&b.c, "What it is not");
        assert_int_equal(a && strstr(a->text, "Not the cable"), !damaged);
        clear(&b);
    }
}

// Packets that were lost, a link that went down: the network is not cleared by other counters of it that are 0.
static void what_tells_of_it_otherwise_is_not_denied(void **state)
{
    static const struct {
        const char *source, *healthy, *faulty, *denial;
        bool denied;
    } rows[] = {
        {"cxi", "@cassini_version=1.1 hni_tx_paused_1=0 pct_spt_timeouts=0 pct_sct_timeouts=0 hni_pcs_uncorrected_cw=0",
         "@cassini_version=1.1 hni_tx_paused_1=0 pct_spt_timeouts=50 pct_sct_timeouts=0 hni_pcs_uncorrected_cw=0",
         "Not the fabric", false},
        {"cxi", "@cassini_version=1.1 hni_tx_paused_1=0 pct_spt_timeouts=0 pct_sct_timeouts=0 hni_pcs_uncorrected_cw=0",
         "@cassini_version=1.1 hni_tx_paused_1=0 pct_spt_timeouts=50 pct_sct_timeouts=0 hni_pcs_uncorrected_cw=0",
         "Not the cable", true},
        {"cxi", "@cassini_version=1.1 hni_tx_paused_1=0 netdev/carrier_down_count=0 hni_pcs_uncorrected_cw=0",
         "@cassini_version=1.1 hni_tx_paused_1=0 netdev/carrier_down_count=4 hni_pcs_uncorrected_cw=0", "Not the cable",
         false},
        {"cxi", "@cassini_version=1.1 hni_tx_paused_1=0 netdev/carrier_down_count=0 hni_pcs_uncorrected_cw=0",
         "@cassini_version=1.1 hni_tx_paused_1=0 netdev/carrier_down_count=4 hni_pcs_uncorrected_cw=0",
         "Not the fabric", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench b;
        compare_two(&b, rows[i].source, rows[i].healthy, rows[i].faulty);
        const comparison_answer *a = find_answer(&b.c, "What it is not");
        if ((a && strstr(a->text, rows[i].denial)) != rows[i].denied)
            fail_msg("row %zu: %s", i, a ? a->text : "no answer");
        clear(&b);
    }
}

// A run that failed has not done the same work, however much it moved.
static void no_work_is_the_same_that_failed(void **state)
{
    bench b = {0};
    (void)state;
    add_work(&b, COMPARISON_HEALTHY, 9000, 10, "./transfer", "0");
    add_work(&b, COMPARISON_FAULTY, 9000, 10, "./transfer", "1");
    assert_int_equal(make(&b, NULL), NETPROF_OK);
    assert_non_null(find_answer(&b.c, "Ended well?"));
    assert_null(find_answer(&b.c, "Same work?"));
    clear(&b);
}

// Bytes on one side, no counter of them on the other.
static void work_that_was_not_counted(void **state)
{
    bench b;
    (void)state;
    compare_two(&b, "cxi", "pct_retry_srb_requests=5", "hni_sts_rx_ok_octets=9000000000 pct_retry_srb_requests=5");
    const comparison_answer *a = find_answer(&b.c, "Same work?");
    assert_non_null(a);
    assert_string_equal(a->text, "Not known: one side at least has no count of its bytes");
    clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_of_the_same_bytes),
        cmocka_unit_test(what_it_is_not_needs_evidence),
        cmocka_unit_test(what_one_run_shows_is_not_denied),
        cmocka_unit_test(what_tells_of_it_otherwise_is_not_denied),
        cmocka_unit_test(no_work_is_the_same_that_failed),
        cmocka_unit_test(work_that_was_not_counted),
        cmocka_unit_test(twelve_times_slower_for_the_same_bytes),
        cmocka_unit_test(a_counter_that_may_be_chance_is_no_reason),
        cmocka_unit_test(one_run_on_each_side_judges_by_the_factor),
        cmocka_unit_test(throughput_where_the_work_differs),
        cmocka_unit_test(less_traffic_without_a_command_is_not_judged),
        cmocka_unit_test(next_to_no_traffic_the_command_is_the_work),
        cmocka_unit_test(several_runs_by_their_middle),
        cmocka_unit_test(few_runs_by_their_spread),
        cmocka_unit_test(no_good_news_of_what_no_check_judged),
        cmocka_unit_test(a_command_that_failed),
        cmocka_unit_test(a_signal),
        cmocka_unit_test(configuration_comes_before_counters),
        cmocka_unit_test(facts_of_the_node_count_and_those_of_the_run_do_not),
        cmocka_unit_test(another_card_under_the_same_name),
        cmocka_unit_test(a_port_that_one_side_lacks),
        cmocka_unit_test(a_counter_that_only_one_side_has_is_new),
        cmocka_unit_test(counters_of_other_software_are_not_compared),
        cmocka_unit_test(an_odd_run_is_no_headline),
        cmocka_unit_test(counters_are_findings_where_the_runs_are_enough),
        cmocka_unit_test(a_few_events_are_no_headline),
        cmocka_unit_test(alike_devices_are_replicas),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
