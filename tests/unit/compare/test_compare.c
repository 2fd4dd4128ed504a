// The comparison of healthy and faulty runs. Expected figures are arithmetic on the numbers that stand in each test:
// 10 seconds pass, and a score is the class's weight times log2 of the two rates' ratio with one event more on each.
#define _GNU_SOURCE // nftw
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
#include <unistd.h>

#include "builtin_rules.h"
#include "compare_bench.h"
#include "analysis/compare/compare.h"
#include "sim.h"
#include "analysis/base/text.h"
#include "tree.h"

// ---- ratios and scores ----

static void per_second_and_per_byte(void **state)
{
    bench b;
    (void)state;
    compare_two(&b, "cxi", "hni_sts_rx_ok_octets=4000000 hni_sts_tx_ok_octets=1000000 pct_retry_srb_requests=5",
                "hni_sts_rx_ok_octets=1500000 hni_sts_tx_ok_octets=1000000 pct_retry_srb_requests=60");
    const comparison_cell *cell = cell_of(&b.c, "pct_retry_srb_requests");
    assert_int_equal(cell->state, COMPARISON_CHANGED);
    assert_int_equal(cell->direction, 1);
    is_near(cell->side[COMPARISON_HEALTHY].per_s.median, 0.5);
    is_near(cell->worst_per_s, 6);
    is_near(cell->ratio_per_s, 12);
    is_near(cell->worst_per_byte, 60 / 2.5e6);
    is_near(cell->ratio_per_byte, 24);          // half the bytes
    is_near(cell->score, 8 * log2(61.0 / 6.0)); // the milder one: per second
    assert_int_equal(cell->side[COMPARISON_FAULTY].exact, 60);
    assert_int_equal(b.c.devices[0].basis, COMPARISON_BYTES_OWN);
    is_near(b.c.bytes_ratio, 0.5);
    clear(&b);
}

static void runs_of_different_length(void **state)
{
    bench b = {0};
    (void)state;
    add_run(&b, COMPARISON_HEALTHY, "cxi", "hni_sts_rx_ok_octets=1000000000 pct_retry_srb_requests=100");
    add_run(&b, COMPARISON_FAULTY, "cxi", "hni_sts_rx_ok_octets=10000000000 pct_retry_srb_requests=1000");
    last_for(&b, COMPARISON_FAULTY, 100);
    assert_int_equal(make(&b, NULL), NETPROF_OK);
    is_near(cell_of(&b.c, "pct_retry_srb_requests")->ratio_per_s, 1);
    is_near(cell_of(&b.c, "pct_retry_srb_requests")->ratio_per_byte, 1);
    assert_int_equal(b.c.ranked_count, 0);
    is_near(b.c.seconds_ratio, 10);
    assert_true(says(&b.c, "runs of different length: 10 s to 100 s"));
    clear(&b);
}

// Files without times: nothing per second, and per byte all the same.
static void no_times(void **state)
{
    bench b = {0};
    (void)state;
    add_run(&b, COMPARISON_HEALTHY, "cxi", "hni_sts_rx_ok_octets=1000000 pct_retry_srb_requests=5");
    last_for(&b, COMPARISON_HEALTHY, 0);
    add_run(&b, COMPARISON_FAULTY, "cxi", "hni_sts_rx_ok_octets=1000000 pct_retry_srb_requests=500");
    last_for(&b, COMPARISON_FAULTY, 0);
    assert_int_equal(make(&b, NULL), NETPROF_OK);
    const comparison_cell *cell = cell_of(&b.c, "pct_retry_srb_requests");
    assert_true(isnan(cell->ratio_per_s));
    is_near(cell->ratio_per_byte, 100);
    is_near(cell->score, 8 * log2(501.0 / 6.0));
    assert_true(says(&b.c, "the length of a run is not known"));
    clear(&b);
}

// What only follows the traffic is no difference; the bytes themselves are.
static void the_milder_of_the_two_counts(void **state)
{
    bench b;
    const char *healthy = "hni_sts_rx_ok_octets=1000000000 pct_req_ordered=1000000 hni_rx_paused_1=2000000000";
    const char *faulty = "hni_sts_rx_ok_octets=2000000000 pct_req_ordered=2000000 hni_rx_paused_1=2000000000";
    (void)state;
    compare_two(&b, "cxi", healthy, faulty);
    assert_int_equal(cell_of(&b.c, "hni_sts_rx_ok_octets")->state, COMPARISON_CHANGED);
    is_near(cell_of(&b.c, "hni_sts_rx_ok_octets")->ratio_per_s, 2);
    assert_int_equal(cell_of(&b.c, "pct_req_ordered")->state, COMPARISON_SAME); // twice per second, once per byte
    assert_int_equal(cell_of(&b.c, "hni_rx_paused_1")->state, COMPARISON_SAME); // once per second, half per byte
    assert_int_equal(b.c.ranked_count, 1);
    comparison_basis bases[] = {COMPARISON_PER_SECOND, COMPARISON_PER_BYTE};
    const char *changed[] = {"pct_req_ordered", "hni_rx_paused_1"}, *same[] = {"hni_rx_paused_1", "pct_req_ordered"};
    for (int i = 0; i < 2; i++) {
        clear(&b);
        add_run(&b, COMPARISON_HEALTHY, "cxi", healthy);
        add_run(&b, COMPARISON_FAULTY, "cxi", faulty);
        assert_int_equal(make(&b, &(comparison_options){.basis = bases[i]}), NETPROF_OK);
        assert_int_equal(cell_of(&b.c, changed[i])->state, COMPARISON_CHANGED);
        assert_int_equal(cell_of(&b.c, same[i])->state, COMPARISON_SAME);
    }
    clear(&b);
}

static void errors_before_stalls_before_traffic(void **state)
{
    bench b;
    (void)state;
    compare_two(&b, "cxi",
                "hni_sts_rx_ok_octets=1000000 pct_req_ordered=1000 parbs_tarb_pi_posted_blocked_cnt=100000000 "
                "pct_retry_srb_requests=30",
                "hni_sts_rx_ok_octets=64000000 pct_req_ordered=64000000 parbs_tarb_pi_posted_blocked_cnt=6400000000 "
                "pct_retry_srb_requests=192000");
    assert_string_equal(b.c.lines[0].name, "pct_retry_srb_requests");
    assert_int_equal(b.c.lines[0].kind, COMPARISON_ERRORS);
    assert_int_equal(find_line(&b.c, "parbs_tarb_pi_posted_blocked_cnt")->kind, COMPARISON_STALLS);
    assert_int_equal(find_line(&b.c, "pct_req_ordered")->kind, COMPARISON_PACKETS);
    assert_int_equal(find_line(&b.c, "hni_sts_rx_ok_octets")->kind, COMPARISON_BYTES);
    assert_true(comparison_weight(COMPARISON_ERRORS) > comparison_weight(COMPARISON_STALLS));
    assert_true(comparison_weight(COMPARISON_STALLS) > comparison_weight(COMPARISON_PACKETS));
    assert_true(comparison_weight(COMPARISON_PACKETS) > comparison_weight(COMPARISON_BYTES));
    clear(&b);
}

static void new_gone_zero_and_unknown(void **state)
{
    bench b;
    (void)state;
    compare_two(
        &b, "cxi",
        "hni_sts_rx_ok_octets=1000 pct_sct_timeouts=0 pct_no_tct_nacks=900 pct_no_trs_nacks=0 pct_no_mst_nacks=4u "
        "hni_rx_paused_0=7",
        "hni_sts_rx_ok_octets=1000 pct_sct_timeouts=3 pct_no_tct_nacks=0 pct_no_trs_nacks=0 pct_no_mst_nacks=9 "
        "hni_rx_paused_0=4r");
    assert_int_equal(cell_of(&b.c, "pct_sct_timeouts")->state, COMPARISON_NEW);
    assert_true(isnan(cell_of(&b.c, "pct_sct_timeouts")->ratio_per_s));
    is_near(cell_of(&b.c, "pct_sct_timeouts")->score, 8 * log2(4));
    assert_int_equal(cell_of(&b.c, "pct_no_tct_nacks")->state, COMPARISON_GONE);
    assert_int_equal(cell_of(&b.c, "pct_no_tct_nacks")->direction, -1);
    assert_null(find_line(&b.c, "pct_no_trs_nacks")); // 0 on both sides
    assert_null(find_line(&b.c, "pct_no_mst_nacks")); // no value on one
    assert_null(find_line(&b.c, "hni_rx_paused_0"));
    assert_int_equal(b.c.counts.states[COMPARISON_NEW], 1);
    assert_int_equal(b.c.counts.states[COMPARISON_GONE], 1);
    assert_int_equal(b.c.counts.states[COMPARISON_ZERO], 1);
    assert_int_equal(b.c.counts.states[COMPARISON_UNKNOWN], 2);
    assert_int_equal(b.c.counts.states[COMPARISON_SAME], 1);
    assert_true(says(&b.c, "2 counters could not be compared"));
    assert_true(says(&b.c, "1 of 6 counters started again from zero in the faulty run bad"));
    clear(&b);
}

static void chance_and_floors(void **state)
{
    static const struct {
        const char *name;
        int healthy, faulty;
        bool differs;
    } rows[] = {
        {"pct_retry_srb_requests", 3, 9, false},       // 6 more; chance: 3 times the root of 3 + 1 + 9 + 1
        {"pct_retry_srb_requests", 3, 30, true},       // 27 more; 17
        {"pct_retry_srb_requests", 1000, 1300, false}, // beyond chance, but less than half as much again
        {"pct_retry_srb_requests", 1000, 1600, true},
        {"hni_rx_paused_0", 0, 5000000, false}, // cycles of 1 GHz: 0.05 % of the time
        {"hni_rx_paused_0", 0, 50000000, true}, // 0.5 %
        {"pct_req_ordered", 0, 90, false},      // 9 a second
        {"pct_req_ordered", 0, 900, true},
        {"hni_sts_tx_octets_ieee", 0, 90000, false}, // 9 kB a second
        {"hni_sts_tx_octets_ieee", 0, 900000, true},
        {"hni_sts_tx_octets_ieee", 90000000, 96000000, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench b;
        char healthy[96], faulty[96];
        snprintf(healthy, sizeof healthy, "@cassini_version=1.1 hni_sts_rx_ok_octets=1000 %s=%d", rows[i].name,
                 rows[i].healthy);
        snprintf(faulty, sizeof faulty, "@cassini_version=1.1 hni_sts_rx_ok_octets=1000 %s=%d", rows[i].name,
                 rows[i].faulty);
        compare_two(&b, "cxi", healthy, faulty);
        if ((cell_of(&b.c, rows[i].name)->score > 0) != rows[i].differs)
            fail_msg("%s: %d against %d: score %g", rows[i].name, rows[i].healthy, rows[i].faulty,
                     cell_of(&b.c, rows[i].name)->score);
        clear(&b);
    }
}

static void what_tells_time_is_not_taken_per_byte(void **state)
{
    bench b;
    (void)state;
    compare_two(&b, "cxi", "hni_sts_rx_ok_octets=1000000000 hni_pcs_corrected_cw=400 hni_pcs_good_cw=390000000",
                "hni_sts_rx_ok_octets=100000000 hni_pcs_corrected_cw=400000 hni_pcs_good_cw=390000001");
    assert_true(find_line(&b.c, "hni_pcs_corrected_cw")->time_driven);
    is_near(cell_of(&b.c, "hni_pcs_corrected_cw")->ratio_per_s, 1000);
    assert_true(isnan(cell_of(&b.c, "hni_pcs_corrected_cw")->ratio_per_byte));
    assert_null(find_line(&b.c, "hni_pcs_good_cw"));
    assert_int_equal(b.c.counts.clocks, 1);
    clear(&b);
}

// ---- several runs ----

static void several_healthy_runs_are_a_range(void **state)
{
    static const char *const healthy[] = {"hni_sts_rx_ok_octets=1000 pct_no_tct_nacks=1000 pct_no_trs_nacks=1000",
                                          "hni_sts_rx_ok_octets=1000 pct_no_tct_nacks=1100 pct_no_trs_nacks=9000",
                                          "hni_sts_rx_ok_octets=1000 pct_no_tct_nacks=1200 pct_no_trs_nacks=2000"};
    bench b = {0};
    (void)state;
    for (size_t i = 0; i < 3; i++)
        add_run(&b, COMPARISON_HEALTHY, "cxi", healthy[i]);
    add_run(&b, COMPARISON_FAULTY, "cxi", "hni_sts_rx_ok_octets=1000 pct_no_tct_nacks=8000 pct_no_trs_nacks=8000");
    assert_int_equal(make(&b, NULL), NETPROF_OK);
    const comparison_cell *cell = cell_of(&b.c, "pct_no_tct_nacks");
    is_near(cell->side[COMPARISON_HEALTHY].per_s.min, 100);
    is_near(cell->side[COMPARISON_HEALTHY].per_s.median, 110);
    is_near(cell->side[COMPARISON_HEALTHY].per_s.max, 120);
    is_near(cell->z, (800 - 110) / (1.4826 * 10));
    is_near(cell->ratio_per_s, 800.0 / 110);
    assert_int_equal(cell->state, COMPARISON_CHANGED);
    assert_int_equal(cell_of(&b.c, "pct_no_trs_nacks")->state, COMPARISON_SAME); // within 100 to 900
    clear(&b);
}

static void several_faulty_runs_by_their_middle(void **state)
{
    static const char *const faulty[] = {"hni_sts_rx_ok_octets=1000 pct_no_tct_nacks=1000",
                                         "hni_sts_rx_ok_octets=1000 pct_no_tct_nacks=64000",
                                         "hni_sts_rx_ok_octets=1000 pct_no_tct_nacks=2000"};
    bench b = {0};
    (void)state;
    add_run(&b, COMPARISON_HEALTHY, "cxi", "hni_sts_rx_ok_octets=1000 pct_no_tct_nacks=1000");
    for (size_t i = 0; i < 3; i++)
        add_run(&b, COMPARISON_FAULTY, "cxi", faulty[i]);
    assert_int_equal(make(&b, NULL), NETPROF_OK);
    const comparison_cell *cell = cell_of(&b.c, "pct_no_tct_nacks");
    is_near(cell->side[COMPARISON_FAULTY].per_s.median, 200);
    is_near(cell->worst_per_s, 6400);
    assert_int_equal(cell->worst_run, 2); // after the healthy one, the second
    assert_int_equal(cell->outside, 2);
    is_near(cell->score, 8 * log2(2001.0 / 1001.0)); // of the middle one
    is_near(cell->ratio_per_s, 2);
    assert_true(isnan(cell->z)); // one healthy run is no spread
    clear(&b);
}

// ---- devices ----

static void patterns(void **state)
{
    static const struct {
        const char *healthy, *faulty;
        comparison_pattern pattern;
        const char *text;
    } rows[] = {
        {"pct_no_tct_nacks=10 peer:pct_no_tct_nacks=10", "pct_no_tct_nacks=12 peer:pct_no_tct_nacks=900",
         COMPARISON_ONLY_ONE, "only dev1"},
        {"pct_no_tct_nacks=10 peer:pct_no_tct_nacks=10", "pct_no_tct_nacks=1000 peer:pct_no_tct_nacks=900",
         COMPARISON_ALL_ALIKE, "all 2 alike"},
        {"pct_no_tct_nacks=10 peer:pct_no_tct_nacks=10", "pct_no_tct_nacks=90000 peer:pct_no_tct_nacks=900",
         COMPARISON_ALL, "all 2, most dev0"},
        {"pct_no_tct_nacks=10 peer:pct_no_tct_nacks=10", "pct_no_tct_nacks=11 peer:pct_no_tct_nacks=12",
         COMPARISON_NOWHERE, "within chance"},
        {"pct_no_tct_nacks=10", "pct_no_tct_nacks=1000", COMPARISON_ALONE, "dev0"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench b;
        compare_two(&b, "cxi", rows[i].healthy, rows[i].faulty);
        const comparison_line *line = find_line(&b.c, "pct_no_tct_nacks");
        assert_int_equal(line->pattern, rows[i].pattern);
        assert_string_equal(line->pattern_text, rows[i].text);
        clear(&b);
    }
}

static void devices_that_one_side_lacks_are_said(void **state)
{
    bench b;
    (void)state;
    compare_two(&b, "cxi", "pct_no_tct_nacks=10 peer:pct_no_tct_nacks=10", "pct_no_tct_nacks=10 netdev/rx_bytes=5");
    assert_true(says(&b.c, "device only on the healthy side, not compared: dev1 (cxi)"));
    assert_true(says(&b.c, "device only on the faulty side, not compared: dev0 (netdev)"));
    assert_int_equal(b.c.counts.only[COMPARISON_HEALTHY], 1);
    assert_int_equal(b.c.counts.only[COMPARISON_FAULTY], 1);
    assert_int_equal(find_line(&b.c, "pct_no_tct_nacks")->cells[0].state, COMPARISON_SAME);
    assert_int_equal(find_line(&b.c, "pct_no_tct_nacks")->cells[1].state, COMPARISON_UNKNOWN);
    assert_string_equal(find_line(&b.c, "pct_no_tct_nacks")->cells[1].reason, "absent");
    clear(&b);
}

static void hosts_and_drivers_that_differ_are_said(void **state)
{
    bench b = {0};
    (void)state;
    add_run(&b, COMPARISON_HEALTHY, "cxi", "@driver_rev=1.2 @speed_mbps=200000 pct_no_tct_nacks=10");
    add_run(&b, COMPARISON_FAULTY, "cxi", "@driver_rev=1.3 @speed_mbps=200000 pct_no_tct_nacks=10");
    b.sides[COMPARISON_FAULTY].runs[0].host = "node2";
    assert_int_equal(make(&b, NULL), NETPROF_OK);
    assert_int_equal(b.c.fact_count, 1);
    assert_string_equal(b.c.facts[0].key, "driver_rev");
    assert_string_equal(b.c.facts[0].side[COMPARISON_FAULTY], "1.3");
    assert_true(says(&b.c, "driver 1.3 instead of 1.2 on dev0"));
    assert_true(says(&b.c, "different hosts: healthy node1, faulty node2"));
    clear(&b);
}

// A port that is up on the faulty side is no difference that could explain a fault; one that is not up is said.
static void ports_that_are_not_up_are_said(void **state)
{
    static const struct {
        const char *key, *up, *other;
    } rows[] = {{"operstate", "up", "down"}, {"phys_state", "LinkUp", "Polling"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int up = 0; up < 2; up++) {
            bench b = {0};
            char text[2][100];
            for (int side = 0; side < 2; side++)
                snprintf(text[side], sizeof *text, "@%s=%s pct_no_tct_nacks=10", rows[i].key,
                         side == up ? rows[i].up : rows[i].other);
            add_run(&b, COMPARISON_HEALTHY, "cxi", text[0]);
            add_run(&b, COMPARISON_FAULTY, "cxi", text[1]);
            assert_int_equal(make(&b, NULL), NETPROF_OK);
            assert_int_equal(b.c.fact_count, !up);
            clear(&b);
        }
}

// ---- folding, gauges ----

static void equal_counters_are_folded(void **state)
{
    bench b;
    (void)state;
    compare_two(&b, "cxi",
                "hni_tx_paused_0=50000000 hni_tx_paused_1=50000000 hni_tx_paused_2=50000001 pct_spt_timeouts=1 "
                "rh:spt_timeouts=1 hni_sts_rx_ok_octets=1000",
                "hni_tx_paused_0=900000000 hni_tx_paused_1=900000000 hni_tx_paused_2=900000000 pct_spt_timeouts=499 "
                "rh:spt_timeouts=500 hni_sts_rx_ok_octets=1000");
    const comparison_line *paused = find_line(&b.c, "hni_tx_paused_0"), *timeouts = find_line(&b.c, "rh:spt_timeouts");
    assert_int_equal(paused->equal_count, 1);
    assert_string_equal(paused->equal[0], "hni_tx_paused_1");
    assert_non_null(find_line(&b.c, "hni_tx_paused_2")); // one cycle apart
    assert_int_equal(timeouts->equal_count, 1);          // the catalog knows that these are the same events
    assert_string_equal(timeouts->equal[0], "pct_spt_timeouts");
    assert_null(find_line(&b.c, "pct_spt_timeouts"));
    clear(&b);
}

// "Errors" of Udp and "drops" that only Udp has: the same counts where both are.
static void equal_where_the_counter_is(void **state)
{
    bench b;
    (void)state;
    compare_two(&b, "ip", "IpExt/InOctets=9 Udp/InErrors=0 Icmp/InErrors=0 Udp/RcvbufErrors=0",
                "IpExt/InOctets=9 Udp/InErrors=30 Icmp/InErrors=0 Udp/RcvbufErrors=30");
    assert_int_equal(find_line(&b.c, "InErrors")->equal_count, 1);
    assert_string_equal(find_line(&b.c, "InErrors")->equal[0], "RcvbufErrors");
    clear(&b);
}

static void gauges_stand_apart(void **state)
{
    bench b;
    (void)state;
    compare_two(&b, "netdev", "rx_bytes=1000 mtu=9000>9000 carrier=1>1", "rx_bytes=1000 mtu=1500>1500 carrier=1>1");
    assert_int_equal(b.c.gauge_count, 1);
    assert_string_equal(b.c.gauges[0].name, "mtu");
    is_near(b.c.gauges[0].side[COMPARISON_HEALTHY].median, 9000);
    is_near(b.c.gauges[0].side[COMPARISON_FAULTY].median, 1500);
    assert_int_equal(b.c.counts.gauges, 2);
    assert_null(find_line(&b.c, "mtu"));
    clear(&b);
}

// ---- checks and words ----

static void checks_that_turned(void **state)
{
    bench b;
    (void)state;
    compare_two(&b, "cxi",
                "@cassini_version=1.1 hni_tx_paused_1=0 peer:@cassini_version=1.1 peer:hni_tx_paused_1=0 "
                "hni_pcs_uncorrected_cw=0 peer:hni_pcs_uncorrected_cw=0",
                "@cassini_version=1.1 hni_tx_paused_1=0 peer:@cassini_version=1.1 peer:hni_tx_paused_1=3100000000 "
                "hni_pcs_uncorrected_cw=0 peer:hni_pcs_uncorrected_cw=0");
    assert_int_equal(b.c.severity, SEVERITY_HIGH);
    assert_string_equal(b.c.title,
                        "dev1: transmit blocked by the network 31 % of the time (3.10 s of 10 s, priority 1)");
    assert_string_equal(b.c.checks[0].rule->name, "egress-paused");
    assert_true(b.c.checks[0].flipped);
    assert_int_equal(b.c.checks[0].worst, 1);
    assert_false(b.c.checks[0].cells[0].flipped);
    is_near(b.c.checks[0].cells[1].value[COMPARISON_FAULTY], 0.31);
    is_near(b.c.checks[0].cells[1].value[COMPARISON_HEALTHY] + 1, 1);
    assert_int_equal(b.c.checks[0].cells[1].severity[COMPARISON_HEALTHY], SEVERITY_OK);
    assert_false(find_check(&b.c, "uncorrected-codewords")->flipped);
    assert_int_equal(find_check(&b.c, "uncorrected-codewords")->cells[0].judged[COMPARISON_FAULTY], COMPARISON_JUDGED);
    assert_int_equal(find_answer(&b.c, "What differs?")->severity, SEVERITY_HIGH);
    assert_string_equal(
        find_answer(&b.c, "What differs?")->text,
        "dev1: transmit blocked by the network 31 % of the time (3.10 s of 10 s, priority 1); healthy run 0 %");
    assert_string_equal(find_answer(&b.c, "What it is not")->text, "Not the cable: 0 damaged beyond repair");
    assert_string_equal(b.c.path.of, "of a sent byte");
    assert_string_equal(b.c.path.stages[b.c.path.outlined].rule, "egress-paused");
    assert_string_equal(b.c.devices[b.c.path.device].name, "dev1");
    assert_false(b.c.path.backs_up);
    assert_string_equal(b.c.events[0].words, "Held by the network");
    is_near(b.c.events[0].value[COMPARISON_FAULTY], 0.31);
    assert_int_equal(b.c.events[0].state, COMPARISON_NEW);
    clear(&b);
}

// What grew beside a finding is its own event: only what the finding's rules read tells the same.
static void another_trouble_is_not_told_by_a_finding(void **state)
{
    bench b;
    bool found = false;
    (void)state;
    compare_two(&b, "cxi", "@cassini_version=1.1 hni_tx_paused_1=0 cq_num_tx_cmd_align_errors=0",
                "@cassini_version=1.1 hni_tx_paused_1=3100000000 cq_num_tx_cmd_align_errors=50000");
    assert_string_equal(b.c.events[0].check->rule->name, "egress-paused");
    assert_int_equal(b.c.events[0].more, 0);
    for (size_t i = 1; i < b.c.event_count; i++)
        found |= b.c.events[i].line && strcmp(b.c.events[i].line->name, "cq_num_tx_cmd_align_errors") == 0;
    assert_true(found);
    clear(&b);
}

// A rule's name within a longer one's is another rule.
static void lists_of_rules_are_read_by_whole_names(void **state)
{
    (void)state;
    assert_true(findings_names_rule("pcie-link, host-read-latency", "host-read-latency"));
    assert_true(findings_names_rule("pcie-link", "pcie-link"));
    assert_false(findings_names_rule("pcie-link-width, old-pcie-link", "pcie-link"));
    assert_false(findings_names_rule("pcie-link", ""));
}

static void what_could_not_be_judged_does_not_turn(void **state)
{
    bench b;
    (void)state;
    compare_two(&b, "cxi", "hni_pcs_uncorrected_cw=3u hni_sts_rx_ok_octets=1000",
                "hni_pcs_uncorrected_cw=3 hni_sts_rx_ok_octets=1000");
    const comparison_check *check = find_check(&b.c, "uncorrected-codewords");
    assert_int_equal(check->cells[0].judged[COMPARISON_HEALTHY], COMPARISON_NOT_KNOWN);
    assert_int_equal(check->cells[0].severity[COMPARISON_FAULTY], SEVERITY_WARN);
    assert_false(check->flipped);
    for (size_t i = 0; i < b.c.answer_count; i++) // no line of the page is worse than the verdict
        assert_true(b.c.answers[i].severity <= b.c.severity || b.c.answers[i].severity <= SEVERITY_INFO);
    clear(&b);
}

static void trouble_that_went_away_is_no_fault(void **state)
{
    bench b;
    (void)state;
    compare_two(&b, "cxi", "hni_pcs_uncorrected_cw=3 hni_sts_rx_ok_octets=1000",
                "hni_pcs_uncorrected_cw=0 hni_sts_rx_ok_octets=1000");
    assert_true(b.c.severity < SEVERITY_WATCH);
    assert_true(says(&b.c, "Only on the healthy side: dev0: 3 codewords could not be corrected"));
    assert_int_equal(strncmp(b.c.title, "Nothing went worse", 18), 0);
    clear(&b);
}

static void nothing_differs(void **state)
{
    bench b;
    (void)state;
    compare_two(&b, "cxi", "hni_pcs_uncorrected_cw=0 hni_sts_rx_ok_octets=1000000",
                "hni_pcs_uncorrected_cw=0 hni_sts_rx_ok_octets=1000500");
    assert_string_equal(b.c.title,
                        "No difference beyond chance. Same work in the same time: 1.00 MB moved on both sides in 10 s");
    assert_int_equal(b.c.severity, SEVERITY_OK);
    assert_int_equal(b.c.ranked_count, 0);
    clear(&b);
}

// One run on each side shows them, and accuses nobody.
static void counters_without_rules_are_shown(void **state)
{
    bench b;
    (void)state;
    compare_two(&b, "ip", "IpExt/InOctets=1000000 TcpExt/TCPSackFailures=0",
                "IpExt/InOctets=1000000 TcpExt/TCPSackFailures=700");
    assert_int_equal(b.c.severity, SEVERITY_INFO);
    assert_non_null(strstr(b.c.title, "Same work in the same time; no check was possible on one side at least; most "
                                      "changed: TcpExt: TCPSackFailures 70 events/s; healthy run 0 events/s (new)"));
    assert_true(says(&b.c, "one run on each side: how much counters vary"));
    assert_int_equal(b.c.devices[1].basis, COMPARISON_BYTES_IP);
    clear(&b);
}

static void nothing_in_common(void **state)
{
    bench b;
    (void)state;
    compare_two(&b, "netdev", "rx_bytes=5", "tx_bytes=5");
    assert_int_equal(b.c.line_count, 0);
    assert_int_equal(strncmp(b.c.title, "Nothing to compare", 18), 0);
    assert_int_equal(b.c.severity, SEVERITY_UNKNOWN); // never "ok"
    clear(&b);
}

// ---- files become runs ----

// A file with one snapshot: the begin or the end of a run.
static void add_end(bench *b, comparison_side which, const char *path, const char *host, int end, int later)
{
    situation x;
    dataset_run *file = add_file(&b->sides[which], path, host);
    situation_make(&x, "cxi", "hni_sts_rx_ok_octets=1000");
    difference_free(&x.d);
    file->snapshots[0] = end ? x.after : x.before;
    file->snapshots[0].wall_ns += later * SECOND;
    file->snapshot_count = 1;
    netprof_snapshot_free(end ? &x.before : &x.after);
}

static void single_snapshots_pair_by_host(void **state)
{
    bench b = {0};
    (void)state;
    add_end(&b, COMPARISON_HEALTHY, "a0", "a", 0, 0);
    add_end(&b, COMPARISON_HEALTHY, "b0", "b", 0, 0);
    add_end(&b, COMPARISON_HEALTHY, "a1", "a", 1, 0);
    add_end(&b, COMPARISON_HEALTHY, "b1", "b", 1, 0);
    add_run(&b, COMPARISON_FAULTY, "cxi", "hni_sts_rx_ok_octets=1000");
    assert_int_equal(make(&b, NULL), NETPROF_OK);
    assert_int_equal(b.c.side_count[COMPARISON_HEALTHY], 2);
    assert_string_equal(b.c.runs[0]->label, "a0, a1");
    assert_string_equal(b.c.runs[1]->label, "b0, b1");
    assert_string_equal(b.c.runs[2]->label, "bad");
    assert_true(b.c.runs[0]->elapsed_ns == 10 * SECOND);
    clear(&b);
}

static void snapshots_without_a_partner_are_refused(void **state)
{
    bench b = {0};
    (void)state;
    add_end(&b, COMPARISON_HEALTHY, "a0", "a", 0, 0);
    add_end(&b, COMPARISON_HEALTHY, "b1", "b", 1, 0);
    assert_int_equal(make(&b, NULL), NETPROF_ERR_ARG);
    assert_string_equal(b.error.path, "a0");
    assert_string_equal(b.error.text, "holds one snapshot of a; expected a second one of the same host behind it");
    clear(&b);
    add_end(&b, COMPARISON_HEALTHY, "late", "a", 0, 100);
    add_end(&b, COMPARISON_HEALTHY, "early", "a", 1, 0);
    assert_int_equal(make(&b, NULL), NETPROF_ERR_ARG);
    assert_string_equal(b.error.path, "early");
    assert_string_equal(b.error.text, "is earlier than late; expected the earlier one first");
    clear(&b);
    add_run(&b, COMPARISON_HEALTHY, "cxi", "hni_sts_rx_ok_octets=1000");
    assert_int_equal(make(&b, NULL), NETPROF_ERR_ARG);
    assert_string_equal(b.error.text, "no faulty run");
    clear(&b);
}

static void a_delta_is_a_run(void **state)
{
    bench b = {0};
    situation x;
    (void)state;
    situation_make(&x, "cxi", "hni_sts_rx_ok_octets=4000");
    dataset_run *file = add_file(&b.sides[COMPARISON_HEALTHY], "delta", "a");
    file->deltas[0] = *x.d.delta;
    file->delta_count = 1;
    add_run(&b, COMPARISON_FAULTY, "cxi", "hni_sts_rx_ok_octets=4000");
    assert_int_equal(make(&b, NULL), NETPROF_OK);
    is_near(b.c.lines[0].cells[0].side[COMPARISON_HEALTHY].per_s.median, 400);
    clear(&b);
    situation_free(&x);
}

// ---- JSON ----

static json_object *get(json_object *o, const char *path)
{
    json_object *found = NULL;
    if (json_pointer_get(o, path, &found)) fail_msg("%s: not there", path);
    return found;
}

static void as_json(void **state)
{
    bench b;
    (void)state;
    compare_two(&b, "cxi", "hni_sts_rx_ok_octets=1000000 pct_no_tct_nacks=10 pct_sct_timeouts=0",
                "hni_sts_rx_ok_octets=1000000 pct_no_tct_nacks=900 pct_sct_timeouts=30");
    json_object *o = comparison_json(&b.c, 1, false);
    assert_string_equal(json_object_get_string(get(o, "/format")), "netprof-comparison");
    assert_int_equal(json_object_get_int(get(o, "/version")), 3);
    assert_string_equal(json_object_get_string(get(o, "/verdict/text")), b.c.title);
    assert_string_equal(json_object_get_string(get(o, "/runs/1/side")), "faulty");
    assert_int_equal(json_object_array_length(get(o, "/differences")), 1);
    assert_string_equal(json_object_get_string(get(o, "/differences/0/counter")), "pct_no_tct_nacks");
    assert_string_equal(json_object_get_string(get(o, "/differences/0/class")), "errors");
    assert_int_equal(json_object_get_int(get(o, "/differences/0/devices/0/faulty/delta")), 900);
    is_near(json_object_get_double(get(o, "/differences/0/devices/0/ratio_per_s")), 90);
    assert_string_equal(json_object_get_string(get(o, "/checks/0/devices/0/healthy/severity")), "ok");
    assert_true(b.c.checks[0].cells[0].chance >= 0 && b.c.checks[0].cells[0].chance <= 1);
    is_near(json_object_get_double(get(o, "/checks/0/devices/0/chance")), b.c.checks[0].cells[0].chance);
    json_object_put(o);
    o = comparison_json(&b.c, 0, true);
    assert_int_equal(json_object_array_length(get(o, "/differences")), 3);
    assert_null(get(o, "/differences/1/devices/0/ratio_per_s")); // new: no ratio
    json_object_put(o);
    clear(&b);
}

// ---- the simulated node ----

enum { NICS = 2, STEP = 10 };

static void step_to(sim *s, const char *scenario, const int *nic)
{
    assert_int_equal(
        sim_step(s, &(sim_step_options){.seconds = STEP, .scenario = scenario, .nics = nic, .nic_count = nic != NULL}),
        0);
}

// A step of the node. Sources without stamps of their own take the time of the sweep.
static netprof_snapshot step_after(sim *s, const netprof_snapshot *before, const char *scenario, const int *nic)
{
    step_to(s, scenario, nic);
    netprof_snapshot x = snapshot_of(tree_root, "cxi,netdev");
    if (!before) return x;
    int64_t shift = STEP * SECOND - (x.begin_ns - before->begin_ns);
    x.begin_ns += shift;
    x.end_ns += shift;
    x.wall_ns += shift;
    for (size_t d = 0; d < x.schema->device_count; d++) {
        x.device_begin_ns[d] += shift;
        x.device_end_ns[d] += shift;
    }
    return x;
}

// A step of the scenario as a run of a side.
static void add_step(bench *b, comparison_side which, sim *s, const char *scenario, const int *nic)
{
    dataset_run *file = add_file(&b->sides[which], scenario, "sim0");
    file->snapshots[0] = step_after(s, NULL, strcmp(scenario, "wrap") == 0 ? "wrap" : "healthy", nic);
    file->snapshots[1] = step_after(s, &file->snapshots[0], scenario, nic);
    file->snapshot_count = 2;
}

// The same run again.
static void copy_run(bench *to, const bench *from)
{
    dataset_run *file = add_file(&to->sides[COMPARISON_HEALTHY], "healthy", "sim0");
    for (int e = 0; e < 2; e++)
        assert_int_equal(
            netprof_snapshot_copy(&file->snapshots[e], &from->sides[COMPARISON_HEALTHY].snapshots[0][e], NULL), 0);
    file->snapshot_count = 2;
}

// What a scenario plants, from the simulator's table: the check that must turn first, and the counters of which one
// must have changed most. NULL: nothing goes wrong.
static const struct planted {
    const char *scenario, *rule;
    bool one;
    const char *counters[6];
} planted[] = {
    {"healthy", NULL, false, {0}},
    {"idle", NULL, false, {0}},
    {"light", NULL, false, {0}},
    {"wrap", NULL, true, {0}},
    {"congestion", "egress-paused", false, {"hni_tx_paused_*", "hni_pause_recv_*", "ixe_*ecn_pkts_*"}},
    {"write-pressure",
     "host-write-back-pressure",
     false,
     {"parbs_tarb_pi_posted_blocked_cnt", "hni_rx_paused_*", "hni_rx_stall_ixe_pktbuf_*", "hni_pause_*sent*",
      "hni_pause_refresh"}},
    {"slow-reads", "host-read-latency", false, {"parbs_tarb_pi_non_posted_blocked_cnt"}},
    {"incast", "ingress-paused", true, {"hni_rx_paused_*", "hni_pause_*sent*", "hni_pause_refresh", "ixe_*ecn_pkts_*"}},
    {"link-corrected", "corrected-codewords", true, {"hni_pcs_corrected_cw", "hni_pcs_fecl_errors_*"}},
    {"link-uncorrected",
     "uncorrected-codewords",
     true,
     {"hni_pcs_uncorrected_cw", "hni_pcs_corrected_cw", "hni_llr_?x_replay_event", "hni_pcs_fecl_errors_*"}},
    {"link-replay", "link-retry", true, {"hni_llr_*"}},
    {"link-flap", "link-flaps", true, {"*timeouts*", "pct_retry_*", "hni_llr_*", "carrier_*"}},
    {"timeouts", "network-timeouts", true, {"*timeouts*", "pct_retry_srb_requests"}},
    {"target-exhaustion", "target-resources", false, {"*nack*", "pct_resource_busy", "pct_retry_srb_requests"}},
    {"match-overflow", "unexpected-messages", false, {"lpe_net_match_overflow_0"}},
    {"match-depth", "match-depth", false, {"lpe_sts_net_match_attempts_0"}},
    {"translation-misses", "translation-misses", false, {"atu_cache_*"}},
    {"small-messages", "packet-size", false, {"ixe_rx_ptl_*", "mst_requests", "*smallmsg*", "ixe_disp_*"}},
    {"event-queue-overflow", "event-queue-overflow", true, {"ee_events_dropped_ordinary_cntr_0"}},
    {"cancelled", "cancelled", true, {"rh:*cancelled*", "*timeouts*", "pct_retry_srb_requests"}},
    {"shaping", "shaping", false, {"oxe_stall_ts_no_out_crd_tsc_4"}},
    {"pcie-degraded",
     "pcie-link",
     true,
     {"parbs_tarb_pi_*_blocked_cnt", "hni_rx_paused_*", "hni_pause_*sent*", "hni_pause_refresh", "hni_rx_stall_*"}},
    {"reset", "counter-reset", true, {0}},
};

static bool is_family(const struct planted *p, const char *counter)
{
    for (size_t i = 0; i < 6 && p->counters[i]; i++)
        if (text_like(p->counters[i], counter)) return true;
    return false;
}

static void expect_planted(const struct planted *p, const comparison *c)
{
    const comparison_check *first = c->check_count && c->checks[0].flipped ? &c->checks[0] : NULL;
    const char *counter = c->ranked_count ? c->lines[0].name : "-";
    print_message("    %-21s %-25s %-25s %s\n", p->scenario, p->rule ? p->rule : "-", first ? first->rule->name : "-",
                  counter);
    if (!p->rule) {
        if (c->severity >= SEVERITY_WATCH) fail_msg("%s: %s", p->scenario, c->title);
        return;
    }
    assert_non_null(first);
    assert_string_equal(first->rule->name, p->rule);
    if (!first->of_node && p->one) assert_string_equal(c->devices[first->first_device + first->worst].name, "cxi1");
    if (!p->counters[0]) return;
    assert_true(is_family(p, counter));
    if (p->one && strcmp(p->rule, "nic-peers") != 0) // the others' traffic went down further than this one's up
        assert_string_equal(c->devices[c->lines[0].first_device + c->lines[0].worst].name, "cxi1");
}

static void expect_all_planted(const struct planted *rows, size_t count, int nics)
{
    tree_remove("");
    assert_int_equal(sim_create(tree_root, &(sim_options){.nics = nics, .seed = 3}), 0);
    sim *s = sim_open(tree_root);
    assert_non_null(s);
    print_message("    %-21s %-25s %-25s %s\n", "healthy against", "planted", "first check that turned",
                  "changed most");
    bench healthy = {0};
    add_step(&healthy, COMPARISON_HEALTHY, s, "healthy", NULL);
    for (size_t i = 0; i < count; i++) {
        const struct planted *p = &rows[i];
        const int hit = 1;
        bench b = {0};
        copy_run(&b, &healthy);
        add_step(&b, COMPARISON_FAULTY, s, p->scenario, p->one ? &hit : NULL);
        assert_int_equal(make(&b, NULL), NETPROF_OK);
        expect_planted(p, &b.c);
        clear(&b);
    }
    clear(&healthy);
    assert_int_equal(sim_close(s), 0);
}

static void planted_counters_come_first(void **state)
{
    (void)state;
    expect_all_planted(planted, sizeof planted / sizeof *planted, NICS);
}

// Of two NICs nobody can say which is the odd one.
static void one_nic_of_four_carries_nearly_all(void **state)
{
    static const struct planted row = {
        "unbalanced", "nic-peers", true, {"ixe_disp_*", "hni_sts_*octets*", "*rendezvous*", "tx_bytes", "rx_bytes"}};
    (void)state;
    expect_all_planted(&row, 1, 4);
}

// The latency histogram of requests moves under congestion; the model puts its centre from bin 14 to 29.
static void histograms_move(void **state)
{
    bench b = {0};
    (void)state;
    tree_remove("");
    assert_int_equal(sim_create(tree_root, &(sim_options){.nics = 1, .seed = 4}), 0);
    sim *s = sim_open(tree_root);
    add_step(&b, COMPARISON_HEALTHY, s, "healthy", NULL);
    add_step(&b, COMPARISON_FAULTY, s, "congestion", NULL);
    assert_int_equal(sim_close(s), 0);
    assert_int_equal(make(&b, NULL), NETPROF_OK);
    const comparison_shape *shape = &b.c.shapes[0];
    assert_string_equal(shape->name, "pct_req_rsp_latency_*");
    assert_int_equal(shape->bins, 32);
    assert_true(shape->moved > 0.5 && shape->moved <= 1);
    assert_true(shape->middle_bin[COMPARISON_FAULTY] > shape->middle_bin[COMPARISON_HEALTHY] + 5);
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        double sum = 0;
        for (size_t i = 0; i < shape->bins; i++)
            sum += shape->share[side][i];
        is_near(sum, 1);
    }
    clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(per_second_and_per_byte),
        cmocka_unit_test(runs_of_different_length),
        cmocka_unit_test(no_times),
        cmocka_unit_test(the_milder_of_the_two_counts),
        cmocka_unit_test(errors_before_stalls_before_traffic),
        cmocka_unit_test(new_gone_zero_and_unknown),
        cmocka_unit_test(chance_and_floors),
        cmocka_unit_test(what_tells_time_is_not_taken_per_byte),
        cmocka_unit_test(several_healthy_runs_are_a_range),
        cmocka_unit_test(several_faulty_runs_by_their_middle),
        cmocka_unit_test(patterns),
        cmocka_unit_test(devices_that_one_side_lacks_are_said),
        cmocka_unit_test(hosts_and_drivers_that_differ_are_said),
        cmocka_unit_test(ports_that_are_not_up_are_said),
        cmocka_unit_test(equal_counters_are_folded),
        cmocka_unit_test(equal_where_the_counter_is),
        cmocka_unit_test(gauges_stand_apart),
        cmocka_unit_test(checks_that_turned),
        cmocka_unit_test(another_trouble_is_not_told_by_a_finding),
        cmocka_unit_test(lists_of_rules_are_read_by_whole_names),
        cmocka_unit_test(what_could_not_be_judged_does_not_turn),
        cmocka_unit_test(trouble_that_went_away_is_no_fault),
        cmocka_unit_test(nothing_differs),
        cmocka_unit_test(counters_without_rules_are_shown),
        cmocka_unit_test(nothing_in_common),
        cmocka_unit_test(single_snapshots_pair_by_host),
        cmocka_unit_test(snapshots_without_a_partner_are_refused),
        cmocka_unit_test(a_delta_is_a_run),
        cmocka_unit_test(as_json),
        cmocka_unit_test_setup_teardown(planted_counters_come_first, tree_setup, tree_teardown),
        cmocka_unit_test_setup_teardown(one_nic_of_four_carries_nearly_all, tree_setup, tree_teardown),
        cmocka_unit_test_setup_teardown(histograms_move, tree_setup, tree_teardown),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
