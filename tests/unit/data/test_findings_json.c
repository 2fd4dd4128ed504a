// Findings as JSON, whole: findings.json beside this file holds them of situations of every source; 10 seconds pass. Last come
// some whose every number is another one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "netprof.h"

#include "builtin_rules.h"
#include "finding_claims.h"
#include "situation.h"
#include "analysis/base/json.h"
#include "golden.h"

#include <math.h>

static const char *const situations[][2] = {
    {"cxi", "@port_speed=BS_200G hni_rx_paused_1=5000000000 hni_sts_rx_ok_octets=1000000000 pct_sct_timeouts=3 "
            "hni_pcs_uncorrected_cw=2 peer:hni_rx_paused_1=0 peer:hni_pcs_uncorrected_cw=0 "
            "peer:hni_sts_rx_ok_octets=990000000"},
    {"cxi", "x_errors=1000 peer:x_errors=1010 peer2:x_errors=1005 pct_no_tct_nacks=50u"},
    {"netdev",
     "@speed_mbps=1000 rx_bytes=1200000000 tx_bytes=5000 rx_dropped=700 rx_errors=3 rx_packets=900000 carrier_down=2"},
    {"netdev", "rx_packets=1000000 tx_packets=1000 ethtool/rx_crc_errors_phy=12 ethtool/rx_discards_phy=9000 "
               "ethtool/rx_out_of_buffer=77 ethtool/tx_pause_ctrl_phy=5r"},
    {"rdma", "port_xmit_wait=2000000000 symbol_error=3 link_downed=1 port_xmit_data=4000000000 out_of_sequence=99 "
             "local_ack_timeout_err=4 state=4>1"},
    {"ip", "Tcp/RetransSegs=5000 Tcp/OutSegs=100000 Tcp/InSegs=90000 Udp/RcvbufErrors=12 TcpExt/ListenDrops=4 "
           "TcpExt/TCPTimeouts=40"},
    {"cgroup", "oom_kills=1 throttled_time=4000000 periods=100 throttled_periods=60 cpu_usage=6000000"},
    {"cxi", "hni_sts_rx_ok_octets=1000"},
};

// ---- every member of its own value ----

static const rule rule_a = {.name = "rule-a",
                            .class_name = "transport",
                            .source = "cxi",
                            .unit = "/s",
                            .advice = "Do a"},
                  rule_b = {.name = "rule-b", .class_name = "data", .source = "memory", .unit = "", .advice = ""};
static const rule_threshold threshold_a = {EXPRESSION_GREATER, 11.5, "HPE: so", NULL, NULL, {0}},
                            threshold_b = {EXPRESSION_LESS, 12.5, "own", NULL, NULL, {0}};

static finding made_items[] = {
    {.rule = &rule_a,
     .severity = SEVERITY_HIGH,
     .device = 1,
     .value = 21,
     .cost_s = 22,
     .claim = (char[]){"claim a"},
     .evidence = {{"count_b", "packets", 1, false, 23, 24},
                  {"count_b", "packets", 1, true, 25, 26},
                  {"count_a", "bytes", 0, false, -27, 28},
                  {"count_a", "bytes", 0, false, 0, 33},
                  {"a_fact", "Mb/s", DIFFERENCE_NONE, false, 29, 30}},
     .evidence_count = 5,
     .threshold = &threshold_a,
     .explained_by = (char[]){"rule-b"},
     .peers = 31,
     .peers_min = 32,
     .peers_max = 34,
     .alike = 35,
     .alike_of = 36},
    {.rule = &rule_b,
     .severity = SEVERITY_WATCH,
     .device = DIFFERENCE_NONE,
     .value = 41,
     .cost_s = 0,
     .claim = (char[]){"claim b"},
     .threshold = &threshold_b},
    {.rule = &rule_a,
     .severity = SEVERITY_CRITICAL,
     .device = 0,
     .value = 51,
     .cost_s = NAN,
     .claim = (char[]){"claim c"},
     .of_nodes = 52,
     .of_devices = 53,
     .threshold = &threshold_b},
    {.rule = &rule_a,
     .severity = SEVERITY_INFO,
     .device = 0,
     .value = 61,
     .cost_s = NAN,
     .claim = (char[]){"claim d"},
     .subject = (char[]){"rank 3"},
     .threshold = &threshold_a},
};

static finding_unknown made_unknown[] = {
    {&rule_a, "cxi", NULL, 1, "count_b", "why a", (char[]){"/sys/b"}, FINDING_DENIED, 13, 71, SEVERITY_HIGH, "x", true},
    {&rule_b, "memory", (char[]){"rank 4"}, 0, NULL, "why b", NULL, FINDING_GONE, 2, 72, SEVERITY_WATCH, "x", false},
    {NULL, "rdma", NULL, DIFFERENCE_NONE, NULL, "why c", NULL, FINDING_DENIED, 1, 73, SEVERITY_CRITICAL, "x", true},
    {&rule_b, "memory", NULL, DIFFERENCE_NONE, "c", "why d", NULL, FINDING_RESET, 0, 74, SEVERITY_WARN, "x", false},
};

static finding_background made_background[] = {{"cxi", "count_b", "packets", 81, 82, 83, 8.5},
                                               {"netdev", "count_c", "", 84, 85, 86, NAN}};

// Of two devices: count_a of the first grows by 40 and count_b of the second by 70, in 10 s.
static json_object *of_some_made_up(void)
{
    situation s;
    situation_make(&s, "cxi", "count_a=40 peer:count_b=70");
    findings f = {.d = &s.d,
                  .items = made_items,
                  .count = sizeof made_items / sizeof *made_items,
                  .unknown = made_unknown,
                  .unknown_count = sizeof made_unknown / sizeof *made_unknown,
                  .background = made_background,
                  .background_count = sizeof made_background / sizeof *made_background,
                  .judged = 91,
                  .severity = SEVERITY_WARN,
                  .verdict = (char[]){"the verdict"}};
    json_object *o = findings_json(&f);
    situation_free(&s);
    return o;
}

static void documents_whole(void **state)
{
    (void)state;
    json_object *made = json_new_array();
    for (size_t i = 0; i < sizeof situations / sizeof *situations; i++) {
        situation s;
        findings f = {0};
        situation_make(&s, situations[i][0], situations[i][1]);
        findings_make(&f, &s.d, &built_in);
        finding_claims_check(&f);
        json_append(made, findings_json(&f));
        findings_free(&f);
        situation_free(&s);
    }
    json_append(made, of_some_made_up());
    golden_expect(made, "data/findings.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(documents_whole)};
    return cmocka_run_group_tests(tests, load, unload);
}
