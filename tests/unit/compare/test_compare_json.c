// The document of a comparison, whole: comparison.json beside this file holds it of made-up ones. Of the first two its
// figures are arithmetic on the numbers below; 10 seconds pass in each run unless said. The third is of a comparison whose
// every number is another one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "netprof.h"

#include <math.h>
#include <stdio.h>

#include "builtin_rules.h"
#include "compare_bench.h"
#include "golden.h"

// One run a side: what is on one side only, what has no value, facts, devices that came and went.
static json_object *of_two_runs(void)
{
    bench b;
    compare_two(&b, "cxi",
                "@mtu=9000 hni_sts_rx_ok_octets=1000000 pct_no_tct_nacks=10 pct_sct_timeouts=4u pct_no_mst_nacks=7 "
                "hni_rx_ok_64=5h",
                "@mtu=1500 hni_sts_rx_ok_octets=1000000 pct_no_tct_nacks=900 pct_sct_timeouts=30 pct_no_mst_nacks=7r "
                "hni_rx_ok_64=9h pct_conn_sct_open=2 peer3:pct_sct_timeouts=1");
    json_object *o = comparison_json(&b.c, 0, true);
    clear(&b);
    return o;
}

// Two against three runs, of unlike length.
static json_object *of_five_runs(void)
{
    bench b = {0};
    char text[160];
    for (int i = 0; i < 5; i++) {
        comparison_side side = i < 2 ? COMPARISON_HEALTHY : COMPARISON_FAULTY;
        snprintf(text, sizeof text,
                 "hni_sts_rx_ok_octets=%d hni_pcs_uncorrected_cw=%d pct_no_tct_nacks=%d peer:hni_sts_rx_ok_octets=%d",
                 100000000 + i, i < 2 ? 0 : 2 * i - 3, 40 + 10 * i, 50000000 - i);
        add_run(&b, side, "cxi", text);
        last_for(&b, side, i < 2 ? 20 + i : 34 + 2 * i);
    }
    assert_int_equal(make(&b, NULL), NETPROF_OK);
    json_object *o = comparison_json(&b.c, 1, false);
    clear(&b);
    return o;
}

// ---- every member of its own value ----

static const comparison_range ranges[] = {{1.5, 1.25, 1.75}, {2.5, 2.25, 2.75}, {3.5, 3.25, 3.75}, {4.5, 4.25, 4.75},
                                          {5.5, 5.25, 5.75}, {6.5, 6.25, 6.75}, {7.5, 7.25, 7.75}, {8.5, 8.25, 8.75}};

static comparison_device made_devices[] = {
    {.source = "cxi",
     .name = "cxi0",
     .physical = true,
     .runs = {2, 3},
     .basis = COMPARISON_BYTES_OWN,
     .received = {{10, 9, 11}, {12, 8, 14}},
     .sent = {{20, 19, 21}, {22, 18, 24}},
     .speed_bits_per_s = 2e11},
    {.source = "ethtool", .name = "eth7", .runs = {4, 5}, .basis = COMPARISON_BYTES_INTERFACE, .speed_bits_per_s = 4},
    {.source = "netdev", .name = "eth8", .runs = {6, 7}, .basis = COMPARISON_BYTES_UNKNOWN},
    {.source = "ip", .name = "Tcp", .runs = {8, 9}, .basis = COMPARISON_BYTES_IP},
    {.source = "cpu", .name = "cpu", .runs = {1, 11}, .basis = COMPARISON_BYTES_NODE},
};

static comparison_run made_runs[] = {
    {.side = COMPARISON_HEALTHY,
     .label = (char[]){"good"},
     .host = (char[]){"n1"},
     .command = (char[]){"solve -x"},
     .wall_ns = 1700000000123456789,
     .elapsed_ns = 2500000000,
     .exit_status = "3",
     .bytes = 31,
     .packets = 32,
     .f = {.severity = SEVERITY_WATCH, .verdict = (char[]){"of the good one"}}},
    {.side = COMPARISON_FAULTY,
     .label = (char[]){"bad"},
     .host = (char[]){""},
     .elapsed_ns = 1,
     .damaged = true,
     .signal = "9",
     .bytes = 33,
     .packets = 34,
     .f = {.severity = SEVERITY_HIGH, .verdict = (char[]){"of the bad one"}}},
    {.side = COMPARISON_FAULTY,
     .label = (char[]){"worse"},
     .host = (char[]){"n3"},
     .bytes = NAN,
     .packets = NAN,
     .f = {.severity = SEVERITY_OK, .verdict = (char[]){"of the worse one"}}},
};

static comparison_cell made_cells[] = {
    {.state = COMPARISON_CHANGED,
     .side = {{1, 4, 41, {51, 50, 52}, {54, 53, 55}}, {2, 42.5, 9, {57, 56, 58}, {60, 59, 61}}},
     .ratio_per_s = 62,
     .ratio_per_byte = 63,
     .worst_per_s = 64,
     .worst_per_byte = 65,
     .worst_run = 1,
     .outside = 2,
     .z = 66,
     .chance = 0.0625,
     .beyond = true,
     .direction = 1,
     .score = 67},
    {.state = COMPARISON_UNKNOWN,
     .side = {{3, 71, 7, {72, 72, 72}, {73, 73, 73}}, {0, NAN, 8, {74, 74, 74}, {75, 75, 75}}},
     .ratio_per_s = NAN,
     .ratio_per_byte = NAN,
     .worst_per_s = 76,
     .worst_per_byte = 77,
     .worst_run = DIFFERENCE_NONE,
     .outside = 5,
     .z = NAN,
     .chance = 0.5,
     .direction = -1,
     .score = 78,
     .reason = "denied"},
};

static const char *made_equal[] = {"same_a", "same_b"};

static comparison_line made_lines[] = {
    {"cxi", "count_a", "bytes", "what a counts", NULL, COMPARISON_STALLS, false, 1, 2, made_cells, 1, 81, made_equal, 2,
     COMPARISON_SOME, (char[]){"eth7, eth8"}},
    {"cpu", "count_b", "", "", NULL, COMPARISON_BYTES, true, 4, 1, made_cells, 0, 82, NULL, 0, COMPARISON_ALONE,
     (char[]){"within chance"}},
    {"cpu", "count_c", "s", "c", NULL, COMPARISON_ERRORS, true, 3, 1, made_cells + 1, 0, 0, NULL, 0, COMPARISON_NOWHERE,
     (char[]){"5 of 8"}},
};

static const rule of_devices = {.name = "rule-a", .class_name = "transport", .source = "cxi", .unit = "/s"},
                  of_the_node = {.name = "rule-b", .class_name = "data", .source = "memory", .unit = ""};
static const finding made_findings[] = {{.claim = (char[]){"claim of the good"}}, {.claim = (char[]){"of the bad"}}};

static comparison_verdict made_verdicts[] = {
    {{COMPARISON_JUDGED, COMPARISON_NOT_KNOWN},
     {SEVERITY_WATCH, SEVERITY_HIGH},
     {91, NAN},
     {&made_findings[0], NULL},
     {0, DIFFERENCE_NONE},
     {3, 4},
     {1, 2},
     0.125,
     true,
     false},
    {{COMPARISON_NOT_THERE, COMPARISON_JUDGED},
     {SEVERITY_WARN, SEVERITY_CRITICAL},
     {NAN, 92},
     {NULL, &made_findings[1]},
     {DIFFERENCE_NONE, 2},
     {5, 6},
     {7, 8},
     NAN,
     false,
     true},
};

static comparison_check made_checks[] = {
    {&of_devices, false, 2, 2, made_verdicts, 1, {SEVERITY_OK, SEVERITY_OK}, true},
    {&of_the_node, true, 0, 1, made_verdicts + 1, 0, {SEVERITY_OK, SEVERITY_OK}, false},
};

static double shares[2][3] = {{0.25, 0.5, 0.125}, {0.75, NAN, 0.375}};

static comparison_shape made_shape = {"cxi", (char[]){"latency_*"},      3,      3,
                                      0.625, {"latency_2", "latency_9"}, {1, 2}, {shares[0], shares[1]}};

static comparison_gauge made_gauge = {2, "depth", "packets", true, {{101, 100, 102}, {104, 103, 105}}};

static comparison_fact made_facts[] = {{1, "mtu", "MTU", COMPARISON_SETTING, {"9000", "1500"}},
                                       {DIFFERENCE_NONE, "kernel", "kernel", COMPARISON_MAKE, {"6.1", NULL}}};

static comparison_missing made_missing = {4, "count_d", {"denied", "ok"}};

static comparison_sentence made_sentences[] = {
    {SEVERITY_HIGH, (char[]){"first"}, 0, 0, COMPARISON_OF_CHECK, "rule-a", 2, 111, 0},
    {SEVERITY_INFO, (char[]){"second"}, 0, 0, COMPARISON_OF_CONTEXT, "", 1, 112, 0},
    {SEVERITY_WARN, (char[]){"third"}, 0, 0, COMPARISON_OF_OUTCOME, "exit-status", DIFFERENCE_NONE, NAN, 0},
};

static json_object *of_one_made_up(void)
{
    comparison_run *runs[] = {&made_runs[0], &made_runs[1], &made_runs[2]};
    char note[][8] = {"note a", "note b"}, *notes[] = {note[0], note[1]}, title[] = "what differs";
    comparison c = {.runs = runs,
                    .run_count = 3,
                    .side_count = {1, 2},
                    .basis = COMPARISON_PER_BYTE,
                    .devices = made_devices,
                    .device_count = 5,
                    .lines = made_lines,
                    .line_count = 3,
                    .ranked_count = 2,
                    .shapes = &made_shape,
                    .shape_count = 1,
                    .gauges = &made_gauge,
                    .gauge_count = 1,
                    .facts = made_facts,
                    .fact_count = 2,
                    .checks = made_checks,
                    .check_count = 2,
                    .counts = {{11, 12, 13, 14, 15, 16}, {17, 18}, 19, 20, 21, 22, 23},
                    .missing = &made_missing,
                    .missing_count = 1,
                    .work = {.same = COMPARISON_WORK_OTHER,
                             .seconds = {ranges[0], ranges[1]},
                             .bytes = {ranges[2], ranges[3]},
                             .packets = {ranges[4], ranges[5]},
                             .bytes_per_s = {ranges[6], ranges[7]},
                             .failed = {2, 3},
                             .ended = {4, 5},
                             .by_throughput = true,
                             .slower = 121,
                             .gap = 122,
                             .chance = 0.03125},
                    .splits = 123,
                    .bytes_ratio = 124,
                    .seconds_ratio = 125,
                    .severity = SEVERITY_WARN,
                    .scope = "cxi",
                    .title = title,
                    .sentences = made_sentences,
                    .sentence_count = 3,
                    .notes = notes,
                    .note_count = 2};
    json_object *o = comparison_json(&c, 0, true);
    for (size_t top = 0; top < 4; top++) { // so many lines, of those with a score; 0: all of them
        json_object *some = comparison_json(&c, top, false);
        assert_int_equal(json_object_array_length(json_object_object_get(some, "differences")), top == 1 ? 1 : 2);
        json_object_put(some);
    }
    return o;
}

static void documents_whole(void **state)
{
    (void)state;
    json_object *made = json_new_object();
    json_put(made, "of_two_runs", of_two_runs());
    json_put(made, "of_five_runs", of_five_runs());
    json_put(made, "of_one_made_up", of_one_made_up());
    golden_expect(made, "compare/comparison.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(documents_whole)};
    return cmocka_run_group_tests(tests, load, unload);
}
