// What a comparison tells, whole: every sentence, answer and note in its order, events, devices, and the figures of a cell.
// Expected figures are arithmetic on the numbers that stand in each test; 10 seconds pass unless said.
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
#include "analysis/base/text.h"

#define ONE_RUN                                                                                                        \
    "note: one run on each side: how much counters vary from run to run is not known; those without a rule are shown " \
    "and accuse nobody\n"

static const char *device_name(const comparison *c, size_t device)
{
    return device == DIFFERENCE_NONE ? "node" : c->devices[device].name;
}

// All that is told, a line each.
static char *told(const comparison *c)
{
    char *text = NULL;
    text_append(&text, "%s: %s\n", severity_name(c->severity), c->title);
    for (size_t i = 0; i < c->sentence_count; i++) {
        const comparison_sentence *s = &c->sentences[i];
        text_append(&text, "%s, %s %s, %s: %s\n", severity_name(s->severity), comparison_subject_name(s->subject),
                    s->rule, device_name(c, s->device), s->text);
    }
    for (size_t i = 0; i < c->answer_count; i++)
        text_append(&text, "%s: %s %s\n", severity_name(c->answers[i].severity), c->answers[i].question,
                    c->answers[i].text);
    for (size_t i = 0; i < c->note_count; i++)
        text_append(&text, "note: %s\n", c->notes[i]);
    return text;
}

static void tells(const comparison *c, const char *expected)
{
    char *text = told(c);
    assert_string_equal(text, expected);
    free(text);
}

// ---- one run a side ----

static void a_finding_on_some_of_the_devices(void **state)
{
    bench b;
    (void)state;
    compare_two(&b, "cxi",
                "@mtu=9000 hni_pcs_uncorrected_cw=0 hni_sts_rx_ok_octets=1000000 "
                "peer:@mtu=9000 peer:hni_pcs_uncorrected_cw=0 peer2:@mtu=9000 peer2:hni_pcs_uncorrected_cw=0 "
                "peer3:@mtu=9000 peer3:hni_pcs_uncorrected_cw=0 peer4:@mtu=9000 peer4:hni_pcs_uncorrected_cw=0",
                "@mtu=1500 hni_pcs_uncorrected_cw=2 hni_sts_rx_ok_octets=1000000 "
                "peer:@mtu=1500 peer:hni_pcs_uncorrected_cw=8 peer2:@mtu=1500 peer2:hni_pcs_uncorrected_cw=4 "
                "peer3:@mtu=1500 peer3:hni_pcs_uncorrected_cw=0 peer4:@mtu=1500 peer4:hni_pcs_uncorrected_cw=0");
    tells(
        &b.c,
        "warn: dev1 and dev2: 8 codewords could not be corrected in 10 s (0.800/s): data were lost on the cable; same "
        "work in the same time\n"
        "warn, check uncorrected-codewords, dev1: dev1 and dev2: 8 codewords could not be corrected in 10 s (0.800/s): "
        "data were lost on the cable; healthy run 0\n"
        "info, setup configuration, dev0: MTU 1500 instead of 9000 on dev0, dev1, dev2 and 2 more\n"
        "info, context duration, node: Same work in the same time: 1.00 MB moved on both sides in 10 s\n"
        "ok: Same work? Yes: 1.00 MB moved on both sides\n"
        "ok: Slower? No: 10 s on both sides\n"
        "warn: What differs? dev1 and dev2: 8 codewords could not be corrected in 10 s (0.800/s): data were lost on "
        "the "
        "cable; healthy run 0\n"
        "info: Also MTU 1500 instead of 9000 on dev0, dev1, dev2 and 2 more\n"
        "info: Look next Reseat or replace the cable; check the switch port\n" ONE_RUN);
    const comparison_line *line = find_line(&b.c, "hni_pcs_uncorrected_cw");
    assert_int_equal(line->worst, 1);
    assert_int_equal(line->pattern, COMPARISON_SOME);
    assert_string_equal(line->pattern_text, "dev0, dev1, dev2");
    is_near(line->score, 8 * log2(9));
    is_near(line->cells[0].score, 8 * log2(3));
    is_near(line->cells[2].score, 8 * log2(5));
    assert_int_equal(b.c.fact_count, 5);
    clear(&b);
}

static void ports_that_come_and_go(void **state)
{
    bench b;
    (void)state;
    compare_two(&b, "cxi",
                "hni_sts_rx_ok_octets=10000 peer2:hni_sts_rx_ok_octets=1 peer3:hni_sts_rx_ok_octets=1 "
                "peer4:hni_sts_rx_ok_octets=1 peer5:hni_sts_rx_ok_octets=1",
                "hni_sts_rx_ok_octets=10000 peer6:hni_sts_rx_ok_octets=4");
    tells(
        &b.c,
        "warn: Other ports: dev6 instead of dev2, dev3, dev4 and 1 more (cxi); 2 instead of 5\n"
        "warn, setup device-missing, node: Other ports: dev6 instead of dev2, dev3, dev4 and 1 more (cxi); 2 instead "
        "of "
        "5\n"
        "info, context duration, node: Whether it was the same work is not known: next to no traffic, and the files do "
        "not name the commands\n"
        "unknown: Same work? Not known: next to no traffic, and the files do not name the commands\n"
        "warn: What differs? Other ports: dev6 instead of dev2, dev3, dev4 and 1 more (cxi); 2 instead of 5\n"
        "note: devices only on the healthy side, not compared: dev2 (cxi), dev3 (cxi), dev4 (cxi) and 1 more\n"
        "note: device only on the faulty side, not compared: dev6 (cxi)\n"
        "note: 4 counters only on the healthy side, 1 counter only on the faulty side: not compared\n" ONE_RUN);
    assert_int_equal(b.c.counts.only[COMPARISON_HEALTHY], 4);
    assert_int_equal(b.c.counts.only[COMPARISON_FAULTY], 1);
    clear(&b);
}

static void what_has_no_value_on_one_side(void **state)
{
    static const char *const expected[][3] = {{"pct_no_tct_nacks", "denied", "ok"},
                                              {"pct_no_mst_nacks", "ok", "reset"}};
    bench b;
    (void)state;
    compare_two(&b, "cxi", "hni_sts_rx_ok_octets=10000 pct_no_tct_nacks=4u pct_no_mst_nacks=4 pct_conn_sct_open=7",
                "hni_sts_rx_ok_octets=10000 pct_no_tct_nacks=4 pct_no_mst_nacks=4r pct_conn_sct_open=7 "
                "pct_sct_timeouts=5");
    assert_int_equal(b.c.missing_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(b.c.missing[i].name, expected[i][0]);
        assert_string_equal(b.c.missing[i].reason[COMPARISON_HEALTHY], expected[i][1]);
        assert_string_equal(b.c.missing[i].reason[COMPARISON_FAULTY], expected[i][2]);
        assert_int_equal(b.c.missing[i].device, 0);
    }
    tells(
        &b.c,
        "warn: dev0: 5 requests or connections timed out in 10 s: packets were lost\n"
        "warn, check network-timeouts, dev0: dev0: 5 requests or connections timed out in 10 s: packets were lost; "
        "healthy run: nothing to judge\n"
        "watch, check counter-reset, dev0: dev0: 1 counter started again from zero: the device or its driver was "
        "reset; "
        "healthy run 0 counters\n"
        "info, context duration, node: Whether it was the same work is not known: next to no traffic, and the files do "
        "not name the commands\n"
        "unknown: Same work? Not known: next to no traffic, and the files do not name the commands\n"
        "warn: What differs? dev0: 5 requests or connections timed out in 10 s: packets were lost; healthy run: "
        "nothing "
        "to judge\n"
        "watch: Also dev0: 1 counter started again from zero: the device or its driver was reset; healthy run 0 "
        "counters\n"
        "info: Look next Look for link flaps and uncorrected codewords here and at the peers\n"
        "note: 1 of 5 counters started again from zero in the faulty run bad\n"
        "note: 2 counters could not be compared: reset, not read, or not readable (--all names them)\n" ONE_RUN);
    clear(&b);
}

static void is_event(const comparison *c, size_t i, const char *words, const char *unit, const char *device,
                     double healthy, double faulty, size_t more)
{
    const comparison_event *e = &c->events[i];
    assert_string_equal(e->words, words);
    assert_string_equal(e->unit, unit);
    assert_string_equal(device_name(c, e->device), device);
    is_near(e->value[COMPARISON_HEALTHY], healthy);
    is_near(e->value[COMPARISON_FAULTY], faulty);
    assert_int_equal(e->more, more);
}

// Held back 4 s of 10 s; writes blocked 5 s tell the same, retries follow from timeouts, and the cable is clean.
static void several_findings_in_their_order(void **state)
{
    bench b;
    (void)state;
    compare_two(&b, "cxi",
                "@cassini_version=1.1 hni_sts_rx_ok_octets=1000000 hni_sts_tx_ok_octets=1000000 hni_rx_paused_1=0 "
                "parbs_tarb_pi_posted_blocked_cnt=0 hni_tx_paused_1=0 hni_pcs_uncorrected_cw=0 pct_sct_timeouts=0 "
                "hni_llr_tx_replay_event=0 hni_pcs_corrected_cw=100 hni_pcs_good_cw=390000000 pct_retry_srb_requests=0",
                "@cassini_version=1.1 hni_sts_rx_ok_octets=1000000 hni_sts_tx_ok_octets=1000000 "
                "hni_rx_paused_1=4000000000 parbs_tarb_pi_posted_blocked_cnt=5000000000 hni_tx_paused_1=0 "
                "hni_pcs_uncorrected_cw=0 pct_sct_timeouts=7 hni_llr_tx_replay_event=0 hni_pcs_corrected_cw=100 "
                "hni_pcs_good_cw=390000000 pct_retry_srb_requests=7");
    tells(
        &b.c,
        "high: dev0: receive blocked: this host drains slowly; it held its senders back 40 % of the time (4 s of 10 s, "
        "priority 1); same work in the same time\n"
        "high, check ingress-paused, dev0: dev0: receive blocked: this host drains slowly; it held its senders back 40 "
        "% "
        "of the time (4 s of 10 s, priority 1); healthy run 0 %\n"
        "warn, check network-timeouts, dev0: dev0: 7 requests or connections timed out in 10 s: packets were lost; "
        "healthy run 0 requests or connections\n"
        "warn, check retries, dev0: dev0: 7 requests were sent again in 10 s (0.700/s); healthy run 0 (explained by "
        "network-timeouts)\n"
        "info, context duration, node: Same work in the same time: 2.00 MB moved on both sides in 10 s\n"
        "ok, context , node: Links: none of 3 checks of links and their errors found anything on either side\n"
        "ok: Same work? Yes: 2.00 MB moved on both sides\n"
        "ok: Slower? No: 10 s on both sides\n"
        "high: What differs? dev0: receive blocked: this host drains slowly; it held its senders back 40 % of the time "
        "(4 s of 10 s, priority 1); healthy run 0 %\n"
        "warn: Also dev0: 7 requests or connections timed out in 10 s: packets were lost; healthy run 0 requests or "
        "connections\n"
        "warn: Also dev0: 7 requests were sent again in 10 s (0.700/s); healthy run 0\n"
        "ok: What it is not Not the cable: 0 damaged beyond repair, 0 sent again on the link, repairs \u00d71\n"
        "info: Look next Look at host write back-pressure and translation misses; if both are low many send to this "
        "node at once (incast) or receives are posted late\n" ONE_RUN);
    assert_int_equal(b.c.event_count, 4);
    is_event(&b.c, 0, "Held its senders back", "of the time", "dev0", 0, 0.4, 1);
    is_event(&b.c, 1, "Requests timed out", "timeouts", "dev0", 0, 7, 0);
    is_event(&b.c, 2, "Requests sent again", "retries/s", "dev0", 0, 0.7, 0);
    is_event(&b.c, 3, "Moved by the node, in and out", "bytes", "node", 200000, 200000, 0);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(b.c.events[i].is_finding, i < 3);
        assert_int_equal(b.c.events[i].alike, 0);
        assert_int_equal(b.c.events[i].state, i < 3 ? COMPARISON_NEW : COMPARISON_CHANGED);
    }
    clear(&b);
}

// Two NICs with the same trouble, one with another of its own: 51 % and 50 % of the time, 1000 times the retries.
static void counters_of_one_run_accuse_nobody(void **state)
{
    bench b;
    (void)state;
    compare_two(&b, "cxi",
                "hni_sts_rx_ok_octets=4000000 hni_sts_tx_ok_octets=1000000 pct_retry_srb_requests=5 "
                "parbs_tarb_pi_posted_blocked_cnt=0 peer:hni_sts_rx_ok_octets=4000000 "
                "peer:hni_sts_tx_ok_octets=1000000 peer:parbs_tarb_pi_posted_blocked_cnt=0",
                "hni_sts_rx_ok_octets=4000000 hni_sts_tx_ok_octets=1000000 pct_retry_srb_requests=5000 "
                "parbs_tarb_pi_posted_blocked_cnt=5000000000 peer:hni_sts_rx_ok_octets=4000000 "
                "peer:hni_sts_tx_ok_octets=1000000 peer:parbs_tarb_pi_posted_blocked_cnt=5100000000");
    assert_string_equal(b.c.sentences[0].text,
                        "dev0: pct_retry_srb_requests 500 packets/s; healthy run 0.500 packets/s (1000 times): request "
                        "packets sent again from the retry buffer");
    assert_string_equal(b.c.sentences[1].text,
                        "dev1: parbs_tarb_pi_posted_blocked_cnt 510 M cycles/s; healthy run 0 cycles/s (new); all 2 "
                        "alike: clocks writes to the host waited for posted PCIe credits");
    assert_int_equal(b.c.severity, SEVERITY_INFO);
    is_event(&b.c, 0, "request packets sent again from the retry buffer", "packets", "dev0", 0.5, 500, 0);
    is_near(b.c.events[0].ratio_per_s, 1000);
    is_near(b.c.events[0].ratio_per_byte, 1000);
    assert_int_equal(b.c.events[0].alike, 0);
    is_event(&b.c, 1, "clocks writes to the host waited for posted PCIe credits", "cycles", "dev1", 0, 5.1e8, 0);
    assert_int_equal(b.c.events[1].alike, 2);
    assert_true(isnan(b.c.events[1].ratio_per_s));
    is_event(&b.c, 2, "Moved by the node, in and out", "bytes", "node", 1e6, 1e6, 0);
    is_near(b.c.events[2].ratio_per_s, 1);
    assert_int_equal(b.c.event_count, 3);
    clear(&b);
}

// ---- several runs ----

// Healthy: 20, 21 and 22 s; faulty: 40, 42 and 44 s, with 3, 5 and 7 codewords lost. 100 MB each.
static void three_runs_a_side(void **state)
{
    bench b = {0};
    char text[128];
    (void)state;
    for (int i = 0; i < 6; i++) {
        comparison_side side = i < 3 ? COMPARISON_HEALTHY : COMPARISON_FAULTY;
        snprintf(text, sizeof text, "hni_sts_rx_ok_octets=100000000 hni_pcs_uncorrected_cw=%d", i < 3 ? 0 : 2 * i - 3);
        add_run(&b, side, "cxi", text);
        last_for(&b, side, i < 3 ? 20 + i : 34 + 2 * i);
    }
    assert_int_equal(make(&b, NULL), NETPROF_OK);
    tells(
        &b.c,
        "high: 2 times slower for the same work; what differs: dev0: 5 codewords could not be corrected in 42 s "
        "(0.119/s): data were lost on the cable\n"
        "high, speed duration, node: 2 times slower for the same work: 100 MB moved on both sides, in 42 s (40 s to 44 "
        "s) instead of 21 s (20 s to 22 s); the ranges do not meet: so far apart by chance in fewer than 1 of 1000 "
        "such "
        "comparisons\n"
        "warn, check uncorrected-codewords, dev0: dev0: 5 codewords could not be corrected in 42 s (0.119/s): data "
        "were "
        "lost on the cable; healthy runs 0 (median); in 3 of 3 faulty runs, 0 of 3 healthy ones (values this far "
        "apart: "
        "by chance in 1 of 20 splits)\n"
        "ok: Same work? Yes: 100 MB moved on both sides\n"
        "high: Slower? Yes: 2 times slower, 42 s (40 s to 44 s) instead of 21 s (20 s to 22 s); by chance in fewer "
        "than "
        "1 of 1000\n"
        "warn: What differs? dev0: 5 codewords could not be corrected in 42 s (0.119/s): data were lost on the cable; "
        "healthy runs 0 (median); in 3 of 3 faulty runs, 0 of 3 healthy ones (values this far apart: by chance in 1 of "
        "20 splits)\n"
        "info: Look next Reseat or replace the cable; check the switch port\n"
        "note: runs of different length: 20 s to 44 s; counts of short runs are less certain\n"
        "note: 3 healthy and 3 faulty runs can be split in 20 ways: too few to tell counters from chance; those "
        "without "
        "a rule accuse nobody (5 and 5 runs can)\n");
    const comparison_event *moved = &b.c.events[b.c.event_count - 1];
    is_near(moved->value[COMPARISON_HEALTHY], 1e8 / 21);
    is_near(moved->value[COMPARISON_FAULTY], 1e8 / 42);
    is_near(moved->low, 1e8 / 22);
    is_near(moved->high, 1e8 / 20);
    is_near(moved->ratio_per_s, 0.5);
    clear(&b);
}

static void is_range(const comparison_range *r, double median, double min, double max)
{
    is_near(r->median, median);
    is_near(r->min, min);
    is_near(r->max, max);
}

// Counts of 10, 20 and 40 against 100, 200 and 400, of 1 MB in each run.
static void all_figures_of_a_cell(void **state)
{
    static const int counts[] = {20, 10, 40, 400, 100, 200};
    bench b = {0};
    char text[128];
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        snprintf(text, sizeof text, "hni_sts_rx_ok_octets=1000000 pct_no_mst_nacks=%d", counts[i]);
        add_run(&b, i < 3 ? COMPARISON_HEALTHY : COMPARISON_FAULTY, "cxi", text);
    }
    assert_int_equal(make(&b, NULL), NETPROF_OK);
    const comparison_cell *cell = cell_of(&b.c, "pct_no_mst_nacks");
    is_range(&cell->side[COMPARISON_HEALTHY].per_s, 2, 1, 4);
    is_range(&cell->side[COMPARISON_FAULTY].per_s, 20, 10, 40);
    is_range(&cell->side[COMPARISON_HEALTHY].per_byte, 20e-6, 10e-6, 40e-6);
    is_range(&cell->side[COMPARISON_FAULTY].per_byte, 200e-6, 100e-6, 400e-6);
    is_near(cell->side[COMPARISON_HEALTHY].count, 20);
    is_near(cell->side[COMPARISON_FAULTY].count, 200);
    assert_int_equal(cell->side[COMPARISON_HEALTHY].runs, 3);
    assert_int_equal(cell->side[COMPARISON_FAULTY].runs, 3);
    assert_int_equal(cell->state, COMPARISON_CHANGED);
    assert_int_equal(cell->direction, 1);
    is_near(cell->ratio_per_s, 10);
    is_near(cell->ratio_per_byte, 10);
    is_near(cell->worst_per_s, 40);
    is_near(cell->worst_per_byte, 400e-6);
    assert_int_equal(cell->worst_run, 3); // that with 400
    assert_int_equal(cell->outside, 3);
    is_near(cell->z, (20.0 - 2) / (1.4826 * 1)); // distances from 2: 0, 1 and 2
    is_near(cell->chance, 1.0 / 20);             // of 20 splits only this one lies so far out
    is_near(cell->score, 8 * log2((20 + .1) / (2 + .1)));
    assert_null(cell->reason);
    clear(&b);
}

// One healthy run: what three NICs counted is their range. 40 to 90 a second, so 70 is nothing on the first, 300 is.
static void devices_that_are_alike_lend_their_range(void **state)
{
    bench b;
    (void)state;
    compare_two(&b, "cxi", "pct_no_mst_nacks=400 peer:pct_no_mst_nacks=900 peer2:pct_no_mst_nacks=500",
                "pct_no_mst_nacks=700 peer:pct_no_mst_nacks=900 peer2:pct_no_mst_nacks=3000");
    const comparison_line *line = find_line(&b.c, "pct_no_mst_nacks");
    assert_int_equal(line->cells[0].state, COMPARISON_SAME);
    assert_int_equal(line->cells[1].state, COMPARISON_SAME);
    assert_int_equal(line->cells[2].state, COMPARISON_CHANGED);
    is_near(line->cells[2].score, 8 * log2(300.1 / 50.1));
    assert_int_equal(line->worst, 2);
    assert_string_equal(line->pattern_text, "only dev2");
    clear(&b);
    compare_two(&b, "cxi", "pct_no_mst_nacks=400 peer:pct_no_mst_nacks=900", // two are too few
                "pct_no_mst_nacks=700 peer:pct_no_mst_nacks=900");
    assert_int_equal(find_line(&b.c, "pct_no_mst_nacks")->cells[0].state, COMPARISON_CHANGED);
    clear(&b);
}

// "peer:x=5": x is the counter.
static char *named(const char *text)
{
    char *whole = NULL;
    for (; *text; text++)
        if (*text == 'x')
            text_append(&whole, "pct_no_mst_nacks");
        else
            text_append(&whole, "%c", *text);
    return whole;
}

// The device that stands for a line: the largest score, and where there is none, where most was counted.
static void the_worst_cell_of_a_line(void **state)
{
    static const struct {
        const char *healthy, *faulty;
        size_t worst;
        comparison_pattern pattern;
        const char *text;
    } rows[] = {
        {"x=5 peer:x=5 peer2:x=5", "x=50 peer:x=5000 peer2:x=500", 1, COMPARISON_ALL, "all 3, most dev1"},
        {"x=5 peer:x=5 peer2:x=5", "x=5000 peer:x=50 peer2:x=500", 0, COMPARISON_ALL, "all 3, most dev0"},
        {"x=5 peer:x=5 peer2:x=5", "x=50 peer:x=500 peer2:x=5000", 2, COMPARISON_ALL, "all 3, most dev2"},
        {"x=5 peer:x=5 peer2:x=5", "x=500 peer:x=500 peer2:x=500", 0, COMPARISON_ALL_ALIKE, "all 3 alike"},
        {"x=5 peer:x=5 peer2:x=5", "x=5 peer:x=500 peer2:x=5", 1, COMPARISON_ONLY_ONE, "only dev1"},
        {"x=5 peer:x=5 peer2:x=5", "x=5 peer:x=500 peer2:x=5000", 2, COMPARISON_SOME, "dev1, dev2"},
        {"x=5 peer:x=5u peer2:x=5u", "x=5000 peer:x=5 peer2:x=5", 0, COMPARISON_ALONE, "dev0"},
        {"x=5u peer:x=5 peer2:x=9", "x=50 peer:x=5 peer2:x=9", 2, COMPARISON_NOWHERE, "within chance"},
        {"x=5u peer:x=9 peer2:x=5", "x=50 peer:x=9 peer2:x=5", 1, COMPARISON_NOWHERE, "within chance"},
        {"x=9 peer:x=5 peer2:x=7", "x=9 peer:x=5 peer2:x=7", 0, COMPARISON_NOWHERE, "within chance"},
        {"x=5 peer:x=5 peer2:x=5 peer3:x=5 peer4:x=5", "x=500 peer:x=600 peer2:x=5 peer3:x=700 peer4:x=400", 3,
         COMPARISON_SOME, "4 of 5, most dev3"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench b;
        char *healthy = named(rows[i].healthy), *faulty = named(rows[i].faulty);
        compare_two(&b, "cxi", healthy, faulty);
        free(healthy);
        free(faulty);
        const comparison_line *line = find_line(&b.c, "pct_no_mst_nacks");
        assert_non_null(line);
        if (line->worst != rows[i].worst || line->pattern != rows[i].pattern || line->score < line->cells[0].score)
            fail_msg("%s: %s: dev%zu, %s", rows[i].healthy, rows[i].faulty, line->worst, line->pattern_text);
        assert_string_equal(line->pattern_text, rows[i].text);
        is_near(line->score, line->cells[line->worst].score);
        clear(&b);
    }
}

// ---- histograms and gauges ----

// Samples of 1000 each: 600 of them lie in other bins (half of the absolute differences), from a median in the second bin to
// one in the third. On the second device fewer moved. Too few samples tell nothing.
static void histograms_by_their_bins(void **state)
{
    bench b;
    (void)state;
    compare_two(&b, "cxi",
                "rsp_latency_0=100h rsp_latency_2=700h rsp_latency_10=200h size_1_to_9=999h size_10_to_max=0h "
                "peer:rsp_latency_0=100h peer:rsp_latency_2=700h peer:rsp_latency_10=200h",
                "rsp_latency_0=0h rsp_latency_2=200h rsp_latency_10=800h size_1_to_9=0h size_10_to_max=999h "
                "peer:rsp_latency_0=100h peer:rsp_latency_2=500h peer:rsp_latency_10=400h");
    assert_int_equal(b.c.shape_count, 1);
    const comparison_shape *shape = &b.c.shapes[0];
    static const double shares[2][3] = {{0.1, 0.7, 0.2}, {0, 0.2, 0.8}};
    assert_string_equal(shape->source, "cxi");
    assert_string_equal(shape->name, "rsp_latency_*");
    assert_int_equal(shape->device, 0);
    assert_int_equal(shape->bins, 3);
    is_near(shape->moved, 0.6);
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < 3; i++)
            is_near(shape->share[side][i], shares[side][i]);
    assert_int_equal(shape->middle_bin[COMPARISON_HEALTHY], 1);
    assert_int_equal(shape->middle_bin[COMPARISON_FAULTY], 2);
    assert_string_equal(shape->middle[COMPARISON_HEALTHY], "rsp_latency_2");
    assert_string_equal(shape->middle[COMPARISON_FAULTY], "rsp_latency_10");
    clear(&b);
}

// Ranges of bins by their first number, whatever their order; the one that moved most first; below 5 % nothing.
static void several_histograms(void **state)
{
    bench b;
    (void)state;
    compare_two(&b, "cxi",
                "rx_64_to_99=1000h rx_100_to_max=0h rx_9_to_63=0h tx_1=1000h tx_2=0h calm_1=1000h calm_2=1000h "
                "b2b=5000h x8=700h x8_1_to_5=2000h x8_6_to_7=0h",
                "rx_64_to_99=500h rx_100_to_max=400h rx_9_to_63=100h tx_1=900h tx_2=100h calm_1=1090h calm_2=910h "
                "b2b=1h x8=5h x8_1_to_5=1600h x8_6_to_7=400h");
    static const struct {
        const char *name;
        double moved;
        const char *last;
    } rows[] = {{"rx_*", 0.5, "rx_64_to_99"}, {"x8_*", 0.2, "x8_1_to_5"}, {"tx_*", 0.1, "tx_1"}};
    assert_int_equal(b.c.shape_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(b.c.shapes[i].name, rows[i].name);
        is_near(b.c.shapes[i].moved, rows[i].moved);
        assert_string_equal(b.c.shapes[i].middle[COMPARISON_HEALTHY], rows[i].last);
    }
    is_near(b.c.shapes[0].share[COMPARISON_FAULTY][0], 0.1); // 9 to 63 comes before 64
    is_near(b.c.shapes[0].share[COMPARISON_FAULTY][1], 0.5);
    is_near(b.c.shapes[0].share[COMPARISON_FAULTY][2], 0.4);
    assert_int_equal(b.c.counts.histograms, 11);
    clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_finding_on_some_of_the_devices),
        cmocka_unit_test(ports_that_come_and_go),
        cmocka_unit_test(what_has_no_value_on_one_side),
        cmocka_unit_test(several_findings_in_their_order),
        cmocka_unit_test(counters_of_one_run_accuse_nobody),
        cmocka_unit_test(three_runs_a_side),
        cmocka_unit_test(all_figures_of_a_cell),
        cmocka_unit_test(devices_that_are_alike_lend_their_range),
        cmocka_unit_test(the_worst_cell_of_a_line),
        cmocka_unit_test(histograms_by_their_bins),
        cmocka_unit_test(several_histograms),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
