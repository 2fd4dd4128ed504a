// Rules: the language of formulas, the tables, and every rule at, below and above its thresholds. 10 seconds pass in
// every case; a Cassini-1 counts 1e10 clocks in them and its line carries 212.5e9 bit/s, 200e9 for frames.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/rules/evaluate.h"
#include "builtin_rules.h"
#include "analysis/rules/findings.h"
#include "situation.h"
#include "analysis/base/text.h"
#include "finding_claims.h"

#include <math.h>
#include <unistd.h>

// ---- the language ----

// The value of a formula on counters a=10 b=4 z=0 p_0=1 p_1=2 p_10=4 of a Cassini NIC; NAN: it has none.
static double value_of(const char *text)
{
    situation x;
    expression formula;
    expression_error error;
    evaluation e;
    rule none = {.source = "cxi"};
    situation_make(&x, "cxi",
                   "@cassini_version=1.1 @port_speed=BS_200G @speed_mbps=200000 @pci_width=16 peer:@port_speed=BS_200G "
                   "peer:@master=dev0 peer2:@master=dev0 peer2:a=7 peer2:@port_speed=CD_50G a=10 b=4 z=0 p_0=1 p_1=2 "
                   "p_10=4 q_1=5 q_2=5 g=3>8 same=5>5 lost=7u old=3k r=9r peer:a=20 peer:b=1 netdev/a=77");
    assert_true(expression_parse(&formula, text, NULL, &error));
    evaluation_begin(&e, &x.d);
    evaluation_of(&e, &none, 0);
    reading r = evaluate(&e, &formula);
    evaluation_end(&e);
    expression_free(&formula);
    situation_free(&x);
    return r.status ? NAN : r.number;
}

static void formulas(void **state)
{
    static const struct {
        const char *text;
        double value;
    } rows[] = {
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"8 / 2 / 2", 2},
        {"7 - 2 - 1", 4},
        {"-2 + 5", 3},
        {"20%", 0.2},
        {"1e-4 * 1e4", 1},
        {"a", 10},
        {"a / b", 2.5},
        {"a - b", 6},
        {"a > b", 1},
        {"a < b", 0},
        {"a >= 10", 1},
        {"a <= 9", 0},
        {"a == 10", 1},
        {"not a == 10", 0},
        {"a > 9 and b > 9", 0},
        {"a > 9 or b > 9", 1},
        {"sum(p_*)", 7},
        {"sum(p_?)", 3},
        {"sum(p_[0-1])", 3},
        {"sum(p_[2-99])", 4},
        {"max(p_*)", 4},
        {"min(p_*)", 1},
        {"mean(p_*)", 7.0 / 3},
        {"count(p_*)", 3},
        {"sum(a, b, nothing)", 14},
        {"sum(a, old)", 10},
        {"first(nothing, a, b)", 10},
        {"first(old, b)", 4},
        {"first(nothing, b / z, 3)", 3},
        {"which(p_*)", 10},
        {"which(p_0, p_1)", 1},
        {"known(a)", 1},
        {"known(nothing)", 0},
        {"known(lost)", 0},
        {"rate(a)", 1},
        {"before(g)", 3},
        {"after(g)", 8},
        {"after(g) - before(g)", 5},
        {"changed(g)", 1},
        {"changed(same)", 0},
        {"T", 10},
        {"CLK", 1e9},
        {"R", 212.5e9},
        {"SPEED", 200e9},
        {"DEVICES", 3},
        {"PHYSICAL", 1},
        {"WITHIN", 0},
        {"fact(pci_width)", 16},
        {"is(port_speed, BS_200G)", 1},
        {"is(port_speed, CD_50G)", 0},
        {"peers(a)", 13.5},
        {"total(a)", 37},
        {"used(a)", 3},
        {"used(b)", 2},
        {"used(p_0)", 1},
        {"used(p_0 / 1000)", 1},
        {"used(p_0 / 1001)", 0},
        {"spread(a)", 20 / (37 / 3.0)},
        {"members(a)", 27},
        {"members(1)", 2},
        {"best(port_speed, a)", 20},
        {"flagged(reset)", 1},
        {"'a'", 10},
        {"z > 1 and lost > 1", 0},
        {"a > 1 or lost > 1", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double value = value_of(rows[i].text);
        if (!(fabs(value - rows[i].value) <= 1e-9 * fabs(rows[i].value)))
            fail_msg("%s = %g, expected %g", rows[i].text, value, rows[i].value);
    }
}

// before, after and changed are of a counter's two values, not of a number that was worked out.
static void formulas_that_need_a_counter(void **state)
{
    static const char *const texts[] = {"before(a + 1)", "after(a + 1)", "changed(a + 1)",     "before(3)",
                                        "after(3)",      "changed(3)",   "changed(b, rate(a))"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        expression_error error;
        expression e = {0};
        assert_false(expression_parse(&e, texts[i], NULL, &error));
        if (!strstr(error.text, "expected the name of a counter")) fail_msg("%s: %s", texts[i], error.text);
        expression_free(&e);
    }
}

// --fail-on and tables of rules name severities by these words, and by no others.
static void words_of_severities(void **state)
{
    static const char *const words[] = {"ok", "info", "unknown", "watch", "warn", "high", "critical"};
    severity s = SEVERITY_OK;
    (void)state;
    for (int i = 0; i < SEVERITIES; i++) {
        assert_string_equal(severity_name((severity)i), words[i]);
        assert_true(severity_parse(words[i], &s));
        assert_int_equal(s, i);
    }
    assert_false(severity_parse("worst", &s) || severity_parse("", &s) || severity_parse("HIGH", &s) ||
                 severity_parse("war", &s) || severity_parse("warns", &s));
    assert_int_equal(s, SEVERITY_CRITICAL); // left alone
    assert_string_equal(severity_name((severity)-1), "");
    assert_string_equal(severity_name(SEVERITIES), "");
}

// What is not there, not read or not comparable has no value, and neither has what is made of it.
static void formulas_without_a_value(void **state)
{
    static const char *const texts[] = {"nothing",
                                        "lost",
                                        "old",
                                        "r",
                                        "g",
                                        "a + lost",
                                        "a / z",
                                        "sum(a, lost)",
                                        "max(p_*, r)",
                                        "first(lost, a)",
                                        "sum(nothing)",
                                        "a > lost",
                                        "fact(nothing)",
                                        "peers(nothing)",
                                        "used(nothing)",
                                        "which(a)", // no number in its name
                                        "which(p_2)",
                                        "which(z)",
                                        "which(q_*)", // both grew as much
                                        "WIRE",
                                        "netdev/a",
                                        "members(nothing)",
                                        "best(nothing, a)",
                                        "best(pci_width, a)",
                                        "not lost",
                                        "lost > 1 and a > 1"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!isnan(value_of(texts[i]))) fail_msg("%s has a value", texts[i]);
}

static void refused_formulas(void **state)
{
    static const struct {
        const char *text;
        size_t column;
    } rows[] = {{"", 1},
                {"a +", 4},
                {"a b", 3},
                {"(a", 3},
                {"a *b", 3},
                {"sum()", 5},
                {"sum(a", 6},
                {"nofunction(a)", 1},
                {"'a", 2},
                {"3a", 2},
                {"a + + b", 5},
                {"before(1)", 9},
                {"peers(peers(a))", 7},
                {"members(total(a))", 9},
                {"used(total(a))", 6},
                {"best(a)", 7},
                {"best(1 + 2, a)", 8},
                {"is(a)", 5},
                {"known(a, b)", 11},
                {"1e999", 1},
                {"a ) b", 3},
                {"a $ b", 3}};
    char deep[2000];
    expression e;
    expression_error error;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (expression_parse(&e, rows[i].text, NULL, &error)) fail_msg("'%s' was accepted", rows[i].text);
        if (error.column != rows[i].column)
            fail_msg("'%s': column %zu (%s), expected %zu", rows[i].text, error.column, error.text, rows[i].column);
    }
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = 0;
    assert_false(expression_parse(&e, deep, NULL, &error));
    for (size_t i = 0; i + 2 < sizeof deep; i += 2)
        memcpy(deep + i, "1+ ", 4);
    assert_false(expression_parse(&e, deep, NULL, &error));
}

static void patterns(void **state)
{
    (void)state;
    assert_true(text_like("hni_*_paused_[0-7]", "hni_tx_paused_7"));
    assert_false(text_like("hni_*_paused_[0-7]", "hni_tx_paused_8"));
    assert_true(text_like("rx[0-99]_recover", "rx12_recover"));
    assert_false(text_like("rx[0-99]_recover", "rx123_recover"));
    assert_false(text_like("rx[0-99]_recover", "rx_recover"));
    assert_true(text_like("a?c*", "abc"));
    assert_false(text_like("a?c", "ac"));
}

// ---- every rule at its thresholds ----

#define BOND        "@kind=bond carrier=1>1 peer:@master=dev0 peer2:@master=dev0 "
#define LINKS(a, b) "peer:rx_bytes=" #a " peer:tx_bytes=0 peer2:rx_bytes=" #b " peer2:tx_bytes=0"
#define PORT        "@hca_type=MT4123 state=4>4 "
#define GPU_BUSY    "busy_time=1000000 seen_time=10000000 "
#define GPU_LOADED  "loaded_time=10000000 clock_max=2000>2000 reason_hardware=0 reason_thermal=0 "
#define GPU_WAITS   "@job=yes seen_time=300000000 busy_time=74999999 netdev/@speed_mbps=100000 netdev/rx_bytes=1 "
// The node's own line; each case says the rest.
#define NODE_CPU "context_switches=1 nice=0 system=0 idle=0 irq=0 softirq=0 "
#define CXI      "@cassini_version=1.1 @port_speed=BS_200G @speed_mbps=200000 "
#define BUSY     "hni_sts_tx_ok_octets=2500000000 hni_sts_rx_ok_octets=0 " // 1 % of 250e9 bytes
#define ETH      "@speed_mbps=100000 rx_packets=1000000 tx_packets=1000000 rx_bytes=1000000000 tx_bytes=1000000000 "
#define IB       "@rate_bps=100000000000 port_xmit_packets=1000000 port_rcv_packets=1000000 "
// All of it stayed on the node, or went over a port.
#define LOCAL   "netdev/rx_bytes=99 netdev/tx_bytes=0 IpExt/InOctets=500 IpExt/OutOctets=500 "
#define LOOP    "netdev/@kind=loopback netdev/rx_bytes=510 netdev/tx_bytes=510 IpExt/InOctets=500 IpExt/OutOctets=500 "
#define LOOPING "peer:netdev/@kind=loopback peer:netdev/rx_bytes=460 peer:netdev/tx_bytes=460 "
#define WIRED   "netdev/rx_bytes=50 netdev/tx_bytes=50 IpExt/InOctets=500 IpExt/OutOctets=500 "
#define TCP_MEM "sockstat/TCP_mem_pressure=500>500 sockstat/TCP_mem_limit=1000>1000 "
#define TRACKED "conntrack/drop/cpu0=0 conntrack/early_drop/cpu0=0 "
#define TCP     "Tcp/OutSegs=1000000 Tcp/InSegs=1000000 "
enum {
    OK = SEVERITY_OK,
    INFO = SEVERITY_INFO,
    WATCH = SEVERITY_WATCH,
    WARN = SEVERITY_WARN,
    HIGH = SEVERITY_HIGH,
    CRITICAL = SEVERITY_CRITICAL
};

static const struct row {
    const char *rule, *counters;
    int expected;
} rows[] = {
    {"link-flaps", CXI "link_restarts/time_0=5>5 link_restarts/time_1=0>0", OK},
    {"link-flaps", CXI "link_restarts/time_0=5>5 link_restarts/time_1=0>1700000005", HIGH},
    {"link-flaps",
     CXI "link_restarts/time_0=5>6 link_restarts/time_1=0>7 link_restarts/time_2=0>8 link_restarts/time_3=0>9 "
         "link_restarts/time_4=0>9",
     CRITICAL},
    {"pcie-link", CXI "@pci_width=16 @pci_max_width=16 @pci_speed=16.0 @pci_max_speed=16.0 x=1", OK},
    {"pcie-link", CXI "@pci_width=16 @pci_max_width=16 @pci_speed=8.0 @pci_max_speed=16.0 x=1", WARN},
    {"pcie-link", CXI "@pci_width=8 @pci_max_width=16 @pci_speed=16.0 @pci_max_speed=16.0 x=1", HIGH},
    {"pcie-errors", CXI "properties/pcie_uncorr_err=0", OK},
    {"pcie-errors", CXI "properties/pcie_uncorr_err=1", HIGH},
    {"uncorrected-codewords", CXI "hni_pcs_uncorrected_cw=0", OK},
    {"uncorrected-codewords", CXI "hni_pcs_uncorrected_cw=2", WATCH},
    {"uncorrected-codewords", CXI "hni_pcs_uncorrected_cw=3", WARN},
    {"uncorrected-codewords", CXI "hni_pcs_uncorrected_cw=10", WARN},
    {"uncorrected-codewords", CXI "hni_pcs_uncorrected_cw=11", HIGH},
    {"uncorrected-codewords", CXI "hni_pcs_uncorrected_cw=212", HIGH},     // 212 / 10 s / 212.5e9 < 1e-10
    {"uncorrected-codewords", CXI "hni_pcs_uncorrected_cw=213", CRITICAL}, // > 1e-10
    {"link-retry", CXI "hni_llr_tx_replay_event=0 hni_llr_rx_replay_event=0", OK},
    {"link-retry", CXI "hni_llr_tx_replay_event=4 hni_llr_rx_replay_event=6", INFO},
    {"link-retry", CXI "hni_llr_tx_replay_event=5 hni_llr_rx_replay_event=6", WARN},
    {"corrected-codewords", CXI "hni_pcs_corrected_cw=21250", OK}, // 1e-8 of 2125e9 bits
    {"corrected-codewords", CXI "hni_pcs_corrected_cw=21251", WATCH},
    {"corrected-codewords", CXI "hni_pcs_corrected_cw=42500000", WATCH}, // 2e-5
    {"corrected-codewords", CXI "hni_pcs_corrected_cw=42500001", WARN},
    {"corrected-codewords", CXI "hni_pcs_corrected_cw=101 peer:hni_pcs_corrected_cw=12", INFO},
    {"corrected-codewords", CXI "hni_pcs_corrected_cw=100 peer:hni_pcs_corrected_cw=12", OK},
    {"corrected-codewords", CXI "hni_pcs_corrected_cw=101 peer:hni_pcs_corrected_cw=13", OK},
    {"drops", CXI "hni_rx_ok_ieee=0 hni_rx_ok_opt=1000000 hni_pfc_fifo_oflw_cntr_3=0", OK},
    {"drops", CXI "hni_rx_ok_ieee=0 hni_rx_ok_opt=1000000 hni_pfc_fifo_oflw_cntr_3=9", WATCH},
    {"drops", CXI "hni_rx_ok_ieee=0 hni_rx_ok_opt=1000000 hni_discard_cntr_0=10",
     WARN}, // erratum 2964 makes it more, not less
    {"drops", CXI "hni_rx_ok_ieee=0 hni_rx_ok_opt=1000000 hni_pfc_fifo_oflw_cntr_3=100", WARN},
    {"drops", CXI "hni_rx_ok_ieee=0 hni_rx_ok_opt=1000000 ixe_rx_pkt_drop_pct=101", HIGH},
    {"drops", CXI "hni_rx_ok_ieee=0 hni_rx_ok_opt=1000000 hni_pfc_fifo_oflw_cntr_3=20000", HIGH},
    {"drops", CXI "hni_rx_ok_ieee=0 hni_rx_ok_opt=1000000 hni_pfc_fifo_oflw_cntr_3=20409", CRITICAL}, // 2 % of 1020409
    {"event-queue-overflow", CXI "ee_events_dropped_ordinary_cntr_0=0", OK},
    {"event-queue-overflow", CXI "ee_events_dropped_ordinary_cntr_0=1", HIGH},
    {"host-write-back-pressure", CXI "parbs_tarb_pi_posted_pkts=999 parbs_tarb_pi_posted_blocked_cnt=99999", OK},
    {"host-write-back-pressure", CXI "parbs_tarb_pi_posted_pkts=1000 parbs_tarb_pi_posted_blocked_cnt=3000", OK},
    {"host-write-back-pressure", CXI "parbs_tarb_pi_posted_pkts=1000 parbs_tarb_pi_posted_blocked_cnt=3001", INFO},
    {"host-write-back-pressure", CXI "parbs_tarb_pi_posted_pkts=1000 parbs_tarb_pi_posted_blocked_cnt=9999999",
     INFO}, // of 1e10 clocks
    {"host-write-back-pressure", CXI "parbs_tarb_pi_posted_pkts=1000000 parbs_tarb_pi_posted_blocked_cnt=10000000",
     WATCH},
    {"host-write-back-pressure", CXI "parbs_tarb_pi_posted_pkts=9000000 parbs_tarb_pi_posted_blocked_cnt=100000000",
     WARN},
    {"host-write-back-pressure", CXI "parbs_tarb_pi_posted_pkts=90000000 parbs_tarb_pi_posted_blocked_cnt=1000000000",
     HIGH},
    {"host-write-back-pressure", CXI "parbs_tarb_pi_posted_pkts=900 parbs_tarb_pi_posted_blocked_cnt=9000000000",
     HIGH}, // hardly a packet passes
    {"host-write-back-pressure", CXI "parbs_tarb_pi_posted_pkts=0 parbs_tarb_pi_posted_blocked_cnt=9000000000",
     HIGH}, // none passes
    {"host-write-back-pressure", CXI "parbs_tarb_pi_posted_pkts=34000000 parbs_tarb_pi_posted_blocked_cnt=100000000",
     INFO}, // under 3 cycles each
    {"host-read-latency", CXI "parbs_tarb_pi_non_posted_pkts=999 parbs_tarb_pi_non_posted_blocked_cnt=99999", OK},
    {"host-read-latency", CXI "parbs_tarb_pi_non_posted_pkts=1000 parbs_tarb_pi_non_posted_blocked_cnt=3000", OK},
    {"host-read-latency", CXI "parbs_tarb_pi_non_posted_pkts=1000 parbs_tarb_pi_non_posted_blocked_cnt=3001", INFO},
    {"host-read-latency", CXI "parbs_tarb_pi_non_posted_pkts=1000 parbs_tarb_pi_non_posted_blocked_cnt=9999999",
     INFO}, // of 1e10 clocks
    {"host-read-latency", CXI "parbs_tarb_pi_non_posted_pkts=1000000 parbs_tarb_pi_non_posted_blocked_cnt=10000000",
     WATCH},
    {"host-read-latency", CXI "parbs_tarb_pi_non_posted_pkts=9000000 parbs_tarb_pi_non_posted_blocked_cnt=100000000",
     WARN},
    {"host-read-latency", CXI "parbs_tarb_pi_non_posted_pkts=90000000 parbs_tarb_pi_non_posted_blocked_cnt=1000000000",
     HIGH},
    {"host-read-latency", CXI "parbs_tarb_pi_non_posted_pkts=900 parbs_tarb_pi_non_posted_blocked_cnt=9000000000",
     HIGH}, // hardly a packet passes
    {"host-read-latency", CXI "parbs_tarb_pi_non_posted_pkts=0 parbs_tarb_pi_non_posted_blocked_cnt=9000000000",
     HIGH}, // none passes
    {"host-read-latency", CXI "parbs_tarb_pi_non_posted_pkts=34000000 parbs_tarb_pi_non_posted_blocked_cnt=100000000",
     INFO}, // under 3 cycles each
    {"translation-misses", CXI BUSY "atu_cache_miss_0=500000 atu_cache_hit_base_page_size_0=9500000", OK},
    {"translation-misses", CXI BUSY "atu_cache_miss_0=500001 atu_cache_hit_base_page_size_0=9500000", WARN},
    {"translation-misses", CXI BUSY "atu_cache_miss_0=2000000 atu_cache_hit_base_page_size_0=8000000", WARN},
    {"translation-misses", CXI BUSY "atu_cache_miss_0=2000001 atu_cache_hit_base_page_size_0=8000000", HIGH},
    {"translation-misses", CXI "atu_cache_miss_0=400000 atu_cache_hit_base_page_size_0=600000", INFO}, // idle
    {"translation-misses", CXI "atu_cache_miss_0=999999 atu_cache_hit_base_page_size_0=600000", INFO},
    {"translation-misses", CXI "atu_cache_miss_0=1000000 atu_cache_hit_base_page_size_0=600000",
     WARN}, // single words: hardly a byte, and many misses
    {"translation-misses", CXI "atu_cache_miss_0=5000000 atu_cache_hit_base_page_size_0=3000000", HIGH},
    {"translation-misses", CXI BUSY "atu_cache_miss_0=9999 atu_cache_hit_base_page_size_0=0", OK},
    {"translation-evictions", CXI "atu_cache_evictions=50000 atu_cache_miss_0=1000000", OK},
    {"translation-evictions", CXI "atu_cache_evictions=50001 atu_cache_miss_0=1000000", INFO},
    {"translation-evictions", CXI "atu_cache_evictions=100001 atu_cache_miss_0=1000000", WARN},
    {"ingress-paused", CXI "hni_rx_paused_1=9999999", OK},
    {"ingress-paused", CXI "hni_rx_paused_1=10000000", INFO}, // 0.1 % of 1e10
    {"ingress-paused", CXI "hni_rx_paused_1=99999999", INFO},
    {"ingress-paused", CXI "hni_rx_paused_1=100000000", WARN},
    {"ingress-paused", CXI "hni_rx_paused_std=1000000000", HIGH},
    {"ingress-buffer-stall", CXI "hni_rx_stall_ixe_pktbuf_1=9999999", OK},
    {"ingress-buffer-stall", CXI "hni_rx_stall_ixe_pktbuf_1=10000000", INFO},
    {"ingress-buffer-stall", CXI "hni_rx_stall_ixe_pktbuf_1=100000000", WARN},
    {"ingress-buffer-stall", CXI "hni_rx_stall_ixe_pktbuf_1=1000000000", HIGH},
    {"match-depth", CXI "lpe_sts_net_match_attempts_0=16000 lpe_net_match_requests_0=1000", OK},
    {"match-depth", CXI "lpe_sts_net_match_attempts_0=16001 lpe_net_match_requests_0=1000", WARN},
    {"match-depth", CXI "lpe_sts_net_match_attempts_0=128000 lpe_net_match_requests_0=1000", WARN},
    {"match-depth", CXI "lpe_sts_net_match_attempts_0=128001 lpe_net_match_requests_0=1000", HIGH},
    {"match-depth", CXI "lpe_sts_net_match_attempts_0=999000 lpe_net_match_requests_0=999", OK},
    {"egress-paused", CXI "hni_tx_paused_1=9999999 hni_tx_paused_3=9999999", OK}, // the largest, never the sum
    {"egress-paused", CXI "hni_tx_paused_1=10000000", INFO},
    {"egress-paused", CXI "hni_tx_paused_1=100000000", WARN},
    {"egress-paused", CXI "hni_tx_paused_1=1000000000", HIGH},
    {"egress-paused", "@cassini_version=2.0 hni_tx_paused_1=1000000000", WARN}, // of 1.1e10 clocks
    {"congestion-marks", CXI "ixe_tc_req_ecn_pkts_0=10 ixe_tc_req_no_ecn_pkts_0=9990", OK},
    {"congestion-marks", CXI "ixe_tc_req_ecn_pkts_0=11 ixe_tc_req_no_ecn_pkts_0=9989", INFO},
    {"congestion-marks", CXI "ixe_tc_req_ecn_pkts_0=100 ixe_tc_req_no_ecn_pkts_0=9900", INFO},
    {"congestion-marks", CXI "ixe_tc_req_ecn_pkts_0=101 ixe_tc_req_no_ecn_pkts_0=9899", WARN},
    {"congestion-marks", CXI "ixe_tc_rsp_ecn_pkts_0=1000 ixe_tc_req_no_ecn_pkts_0=9000", WARN},
    {"congestion-marks", CXI "ixe_tc_rsp_ecn_pkts_0=1001 ixe_tc_req_no_ecn_pkts_0=8999", HIGH},
    {"congestion-marks", CXI "ixe_tc_req_ecn_pkts_0=9999 ixe_tc_req_no_ecn_pkts_0=0", OK},
    {"flow-control", CXI "hni_fgfc_event_xoff=0", OK},
    {"flow-control", CXI "hni_fgfc_event_xoff=1", INFO},
    {"shaping", CXI "oxe_stall_ts_no_out_crd_tsc_4=9999999", OK},
    {"shaping", CXI "oxe_stall_ts_no_out_crd_tsc_4=10000000", INFO},
    {"shaping", CXI "oxe_stall_ts_no_out_crd_tsc_4=100000000", WARN},
    {"shaping", CXI "oxe_stall_ts_no_out_crd_tsc_4=1000000000", HIGH},
    {"cancelled", CXI "rh:connections_cancelled=0 rh:pkts_cancelled_o=0", OK},
    {"cancelled", CXI "rh:connections_cancelled=0 rh:pkts_cancelled_o=1", CRITICAL},
    {"network-timeouts", CXI "pct_spt_timeouts=0 pct_sct_timeouts=0", OK},
    {"network-timeouts", CXI "pct_spt_timeouts=0 pct_sct_timeouts=1", WATCH},
    {"network-timeouts", CXI "pct_spt_timeouts=2 pct_sct_timeouts=1", WARN},
    {"network-timeouts", CXI "pct_spt_timeouts=10 pct_sct_timeouts=0", HIGH},
    {"network-timeouts", CXI "rh:spt_timeouts=0 rh:sct_timeouts=0 pct_spt_timeouts=10", OK}, // the first source counts
    {"target-resources", CXI "pct_no_tct_nacks=0", OK},
    {"target-resources", CXI "pct_no_tct_nacks=10", INFO},
    {"target-resources", CXI "pct_no_tct_nacks=6 pct_no_trs_nacks=5", WARN},
    {"target-resources", CXI "pct_no_trs_nacks=1000", WARN},
    {"target-resources", CXI "pct_no_trs_nacks=1001", HIGH},
    {"retries", CXI "pct_retry_srb_requests=0 pct_req_ordered=1000000", OK},
    {"retries", CXI "pct_retry_srb_requests=2 pct_req_ordered=1000000", WATCH},
    {"retries", CXI "pct_retry_srb_requests=3 pct_req_ordered=1000000", WARN},
    {"retries", CXI "pct_retry_srb_requests=9 pct_req_ordered=1000000", WARN},
    {"retries", CXI "pct_retry_srb_requests=10 pct_req_ordered=10000000", WARN},
    {"retries", CXI "pct_retry_srb_requests=10 pct_req_ordered=9999999", HIGH},
    {"retries", CXI "pct_retry_srb_requests=10 pct_req_ordered=999999", WARN},
    {"retries", CXI "pct_retry_srb_requests=10 pct_req_ordered=9999999 pct_no_trs_nacks=5", WARN}, // explained
    {"retries", CXI "pct_retry_srb_requests=10 pct_req_ordered=9999999 pct_no_trs_nacks=4", HIGH},
    {"nack-drops", CXI "pct_trs_rsp_nack_drops=0", OK},
    {"nack-drops", CXI "pct_trs_rsp_nack_drops=9", WATCH},
    {"nack-drops", CXI "pct_trs_rsp_nack_drops=10", WARN},
    {"unexpected-messages", CXI "lpe_net_match_overflow_0=50 lpe_net_match_priority_0=950", OK},
    {"unexpected-messages", CXI "lpe_net_match_overflow_0=51 lpe_net_match_priority_0=949", INFO},
    {"unexpected-messages", CXI "lpe_net_match_overflow_0=100 lpe_net_match_priority_0=900", INFO},
    {"unexpected-messages", CXI "lpe_net_match_overflow_0=101 lpe_net_match_priority_0=899", WARN},
    {"unexpected-messages", CXI "lpe_net_match_overflow_0=500 lpe_net_match_priority_0=500", WARN},
    {"unexpected-messages", CXI "lpe_net_match_overflow_0=501 lpe_net_match_priority_0=499", HIGH},
    {"unexpected-messages", CXI "lpe_net_match_overflow_0=999 lpe_net_match_priority_0=0", OK},
    {"software-matching", CXI "lpe_net_match_request_0=500 lpe_net_match_requests_0=1000", OK},
    {"software-matching", CXI "lpe_net_match_request_0=501 lpe_net_match_requests_0=1000", INFO},
    {"rendezvous-offload", CXI "lpe_rndzv_puts_offloaded_0=900 lpe_rndzv_puts_0=1000", OK},
    {"rendezvous-offload", CXI "lpe_rndzv_puts_offloaded_0=899 lpe_rndzv_puts_0=1000", WARN},
    {"rendezvous-offload", CXI "lpe_rndzv_puts_offloaded_0=0 lpe_rndzv_puts_0=999", OK},
    {"latency-tail", CXI "pct_req_rsp_latency_0=900000 pct_req_rsp_latency_31=100000", OK},
    {"latency-tail", CXI "pct_req_rsp_latency_0=900000 pct_req_rsp_latency_31=100001", INFO},
    {"packet-size", CXI "hni_sts_tx_ok_octets=2560000256 hni_tx_ok_opt=10000001", OK},
    {"packet-size", CXI "hni_sts_tx_ok_octets=2560000255 hni_tx_ok_opt=10000001", WATCH},
    {"packet-size", CXI "hni_sts_tx_ok_octets=640000000 hni_tx_ok_opt=10000000", OK}, // 1e6/s
    {"bandwidth", CXI "hni_sts_tx_ok_octets=200000000000", OK},                       // 80 % of 250e9 bytes
    {"bandwidth", CXI "hni_sts_tx_ok_octets=200000000001", INFO},
    {"idle", CXI "hni_sts_tx_ok_octets=250000000", OK},
    {"idle", CXI "hni_sts_tx_ok_octets=249999999", INFO},

    {"eth-link-flap", ETH "carrier_down_count=0", OK},
    {"eth-link-flap", ETH "carrier_down_count=1", HIGH},
    {"eth-link-flap", ETH "carrier_down_count=1 carrier=0>1", OK}, // was down at the beginning
    {"eth-link-flap", ETH "carrier_changes=2", HIGH},
    {"eth-link-flap", ETH "carrier_down_count=5", CRITICAL},
    {"eth-crc", ETH "rx_crc_errors=0", OK},
    {"eth-crc", "rx_packets=9998 rx_bytes=9999 rx_crc_errors=1", INFO},
    {"eth-crc", ETH "ethtool/rx_crc_errors_phy=0 rx_crc_errors=7", OK}, // the first that exists
    {"eth-crc", ETH "rx_crc_errors=4", WATCH},
    {"eth-crc", ETH "rx_crc_errors=5", WARN},
    {"eth-crc", ETH "rx_crc_errors=9", WARN},
    {"eth-crc", ETH "rx_crc_errors=10", HIGH}, // 10 / 8e9 bits
    {"eth-crc", ETH "rx_crc_errors=10102", CRITICAL},
    {"eth-crc", "rx_packets=1 rx_bytes=100 rx_crc_errors=20000", CRITICAL}, // nothing gets through
    {"eth-fec-uncorrectable", ETH "ethtool/fec/uncorrectable_blocks=0", OK},
    {"eth-fec-uncorrectable", ETH "ethtool/fec/uncorrectable_blocks=2", WATCH},
    {"eth-fec-uncorrectable", ETH "ethtool/fec/uncorrectable_blocks=9", WARN},
    {"eth-fec-uncorrectable", ETH "ethtool/fec/uncorrectable_blocks=10", HIGH},
    {"eth-fec-margin", ETH "ethtool/rx_corrected_bits_phy=1000000 ethtool/rx_bits_phy=1000000000000", OK},
    {"eth-fec-margin",
     ETH "ethtool/rx_corrected_bits_phy=10001 ethtool/rx_bits_phy=1000000000000 peer:rx_packets=5 "
         "peer:ethtool/rx_corrected_bits_phy=1250",
     INFO},
    {"eth-fec-margin",
     ETH "ethtool/rx_corrected_bits_phy=10001 ethtool/rx_bits_phy=1000000000000 peer:rx_packets=5 "
         "peer:ethtool/rx_corrected_bits_phy=1251",
     OK},
    {"eth-fec-margin", ETH "ethtool/rx_corrected_bits_phy=1000001 ethtool/rx_bits_phy=1000000000000", WATCH},
    {"eth-fec-margin", ETH "ethtool/rx_corrected_bits_phy=10000001 ethtool/rx_bits_phy=1000000000000", WARN},
    {"eth-fec-margin", ETH "ethtool/rx_corrected_bits_phy=50000001 ethtool/rx_bits_phy=1000000000000", HIGH},
    {"eth-fec-margin", ETH "ethtool/fec/corrected_bits=200000001", CRITICAL}, // of 1e12 bits
    {"eth-phy-fault", ETH "ethtool/module_high_temp=0", OK},
    {"eth-phy-fault", ETH "ethtool/module_high_temp=2", WATCH},
    {"eth-phy-fault", ETH "ethtool/module_high_temp=3", WARN},
    {"eth-pcie-degraded", ETH "@pci_width=16 @pci_max_width=16 @pci_speed=16 @pci_max_speed=16", OK},
    {"eth-pcie-degraded", ETH "@pci_width=16 @pci_max_width=16 @pci_speed=8 @pci_max_speed=16", WARN},
    {"eth-pcie-degraded", ETH "@pci_width=16 @pci_max_width=16 @pci_speed=5 @pci_max_speed=16", HIGH}, // 66 < 100 Gb/s
    {"eth-pcie-degraded", ETH "@pci_width=8 @pci_max_width=16 @pci_speed=16 @pci_max_speed=16", HIGH},
    {"eth-pcie-errors", ETH "ethtool/rx_pci_signal_integrity=0", OK},
    {"eth-pcie-errors", ETH "ethtool/rx_pci_signal_integrity=2", WATCH},
    {"eth-pcie-errors", ETH "ethtool/rx_pci_signal_integrity=3", WARN},
    {"eth-speed-duplex", ETH "@duplex=full", OK},
    {"eth-speed-duplex", ETH "@duplex=half", HIGH},
    {"eth-tx-timeout", ETH "ethtool/tx12_recover=0", OK},
    {"eth-tx-timeout", ETH "ethtool/tx12_recover=1", HIGH},
    {"eth-rx-ring-drop", ETH "rx_missed_errors=0", OK},
    {"eth-rx-ring-drop", "rx_packets=9998 rx_missed_errors=1", INFO},
    {"eth-rx-ring-drop", ETH "rx_missed_errors=9", WATCH},
    {"eth-rx-ring-drop", ETH "rx_missed_errors=11", WARN},
    {"eth-rx-ring-drop", ETH "ethtool/rx_out_of_buffer=101", HIGH},
    {"eth-rx-ring-drop", ETH "ethtool/rx_out_of_buffer=20409", CRITICAL},    // 2 % of 1020409
    {"eth-rx-ring-drop", "rx_packets=900 rx_missed_errors=90000", CRITICAL}, // hardly a packet gets through
    {"eth-rx-buffer-drop", "rx_packets=9990 ethtool/rx_discards_phy=9", INFO},
    {"eth-rx-buffer-drop", ETH "ethtool/rx_discards_phy=9", WATCH},
    {"eth-rx-buffer-drop", ETH "ethtool/rx_discards_phy=11", WARN},
    {"eth-rx-buffer-drop", ETH "ethtool/rx_discards_phy=101", HIGH},
    {"eth-rx-buffer-drop", ETH "ethtool/rx_prio3_discards=20409", CRITICAL},
    {"eth-rx-buffer-85", ETH "ethtool/rx_buffer_passed_thres_phy=0", OK},
    {"eth-rx-buffer-85", ETH "ethtool/rx_buffer_passed_thres_phy=1", WATCH},
    {"qdisc-drop", ETH "qdisc_drops=0 qdisc_overlimits=1000", OK},
    {"qdisc-drop", "tx_packets=9900 qdisc_drops=99", INFO},
    {"qdisc-drop", ETH "qdisc_drops=1", WATCH},
    {"qdisc-drop", ETH "qdisc_drops=1000", WATCH}, // of 1001000
    {"qdisc-drop", ETH "qdisc_drops=1002", WARN},
    {"eth-tx-drop", ETH "tx_dropped=0", OK},
    {"eth-tx-drop", "tx_packets=990 tx_dropped=9", INFO},
    {"eth-tx-drop", ETH "tx_dropped=99", WATCH},
    {"eth-tx-drop", ETH "tx_dropped=101", WARN},
    {"eth-tx-drop", ETH "tx_dropped=20409", HIGH},
    {"eth-tx-drop", "tx_packets=5 tx_dropped=5000", HIGH},
    {"eth-rx-stack-drop", ETH "rx_dropped=999", OK},
    {"eth-rx-stack-drop", ETH "rx_dropped=1000", WATCH},
    {"eth-rx-stack-drop", ETH "rx_dropped=19000 rx_nohandler=1000", WARN},
    {"eth-mtu-mismatch", ETH "rx_length_errors=0", OK},
    {"eth-mtu-mismatch", ETH "rx_length_errors=9", WATCH},
    {"eth-mtu-mismatch", ETH "rx_length_errors=10", WARN},
    {"eth-mtu-mismatch", ETH "ethtool/rx_oversize_pkts_phy=101", HIGH},
    {"eth-pcie-stall", ETH "ethtool/outbound_pci_stalled_wr_events=0", OK},
    {"eth-pcie-stall", ETH "ethtool/outbound_pci_stalled_wr_events=1", WARN}, // of 10 seconds
    {"eth-pcie-stall", ETH "ethtool/outbound_pci_stalled_rd_events=5", HIGH},
    {"eth-pause-tx", ETH "ethtool/tx_prio3_pause_duration=9999", OK}, // us, of 1e7
    {"eth-pause-tx", ETH "ethtool/tx_prio3_pause_duration=10000", WATCH},
    {"eth-pause-tx", ETH "ethtool/tx_prio3_pause_duration=100000", WARN},
    {"eth-pause-tx", ETH "ethtool/tx_prio3_pause_duration=1000000", HIGH},
    {"eth-pause-tx", ETH "ethtool/tx_global_pause_duration=8000000", CRITICAL},
    {"eth-pause-rx", ETH "ethtool/rx_prio3_pause_duration=9999 ethtool/rx_prio4_pause_duration=9999", OK},
    {"eth-pause-rx", ETH "ethtool/rx_prio3_pause_duration=10000", WATCH},
    {"eth-pause-rx", ETH "ethtool/rx_prio3_pause_duration=100000", WARN},
    {"eth-pause-rx", ETH "ethtool/rx_prio3_pause_duration=1000000", HIGH},
    {"eth-pause-rx", ETH "ethtool/rx_prio3_pause_duration=8000000", CRITICAL},
    {"eth-pause-rx-frames", ETH "ethtool/rx_prio3_pause=1", INFO},
    {"eth-pause-rx-frames", ETH "ethtool/link_xoff_rx.nic=1001", WATCH},
    {"eth-pause-rx-frames", ETH "ethtool/rx_prio3_pause=2000 ethtool/rx_prio3_pause_duration=1", OK},
    {"eth-pause-tx-frames", ETH "ethtool/pause/tx_pause_frames=1000", INFO},
    {"eth-pause-tx-frames", ETH "ethtool/pause/tx_pause_frames=1001", WATCH},
    {"eth-pause-storm", ETH "ethtool/tx_pause_storm_warning_events=0", OK},
    {"eth-pause-storm", ETH "ethtool/tx_pause_storm_warning_events=1", WARN},
    {"eth-pause-storm", ETH "ethtool/tx_pause_storm_error_events=1", CRITICAL},
    {"eth-cloud-allowance", ETH "ethtool/bw_in_allowance_exceeded=0", OK},
    {"eth-cloud-allowance", ETH "ethtool/bw_in_allowance_exceeded=9", WATCH},
    {"eth-cloud-allowance", ETH "ethtool/bw_in_allowance_exceeded=199", WARN},
    {"eth-cloud-allowance", ETH "ethtool/bw_in_allowance_exceeded=200", HIGH},
    {"eth-cloud-allowance", ETH "ethtool/conntrack_allowance_exceeded=10", HIGH},
    {"eth-tx-queue-stop", ETH "ethtool/tx_queue_stopped=999", OK},
    {"eth-tx-queue-stop", ETH "ethtool/tx_queue_stopped=1000", WATCH},
    {"eth-tx-queue-stop", ETH "ethtool/queue_0_tx_queue_stop=10000", WARN},
    {"eth-steer-miss", ETH "ethtool/rx_steer_missed_packets=9999", OK},
    {"eth-steer-miss", ETH "ethtool/rx_steer_missed_packets=10000", WATCH},
    {"eth-queue-imbalance",
     ETH "ethtool/rx0_packets=4000000 ethtool/rx1_packets=1 ethtool/rx2_packets=1 ethtool/rx3_packets=1", OK},
    {"eth-queue-imbalance",
     ETH "ethtool/rx0_packets=4000000 ethtool/rx1_packets=0 ethtool/rx2_packets=0 ethtool/rx3_packets=0 "
         "ethtool/rx10_packets=0",
     WATCH},
    {"eth-utilisation", "@speed_mbps=1000 tx_bytes=1 rx_bytes=999999999", OK}, // of 1.25e9
    {"eth-utilisation", "@speed_mbps=1000 tx_bytes=1 rx_bytes=1000000000", INFO},
    {"eth-utilisation", "@speed_mbps=1000 tx_bytes=1 rx_bytes=1125000000", WATCH},
    {"eth-small-packets", "rx_packets=10000001 tx_packets=0 rx_bytes=2560000256 tx_bytes=0", OK},
    {"eth-small-packets", "rx_packets=10000001 tx_packets=0 rx_bytes=2560000255 tx_bytes=0", INFO},
    {"x-rdma-invisible", "rx_bytes=901 ethtool/rx_bytes_phy=1000", OK}, // below 1e9
    {"x-rdma-invisible", "rx_bytes=900000000 ethtool/rx_bytes_phy=1000000000", INFO},
    {"x-rdma-invisible", "rx_bytes=900000001 ethtool/rx_bytes_phy=1000000000", OK},

    {"ib-port-state", IB "state=4>4", OK},
    {"ib-port-state", IB "state=1>1", INFO},
    {"ib-port-state", IB "state=4>1", CRITICAL},
    {"ib-link-downed", IB "link_downed=0", OK},
    {"ib-link-downed", IB "link_downed=1", HIGH},
    {"ib-link-downed", IB "link_downed=5", CRITICAL},
    {"ib-link-recovery", IB "link_error_recovery=1", WARN},
    {"ib-link-recovery", IB "@driver=mlx5_core link_error_recovery=10", HIGH},
    {"ib-link-recovery", IB "@driver=hfi1 link_error_recovery=10", OK},
    {"ib-symbol-ber", IB "symbol_error=0", OK},
    {"ib-symbol-ber", IB "symbol_error=1", WATCH}, // of 1e12 bits
    {"ib-symbol-ber", IB "symbol_error=3", HIGH},
    {"ib-symbol-ber", "@rate_bps=100000000000000 symbol_error=10", OK}, // an impossible speed is unknown
    {"ib-symbol-ber", "@rate_bps=2000000000000 symbol_error=10", WARN}, // 5e-13
    {"ib-symbol-ber", IB "symbol_error=100", CRITICAL},
    {"ib-symbol-ber", "@rate_bps=10000000000 symbol_error=9", OK}, // 1e11 bits tell nothing of so few
    {"ib-symbol-ber", "@rate_bps=10000000000 symbol_error=10", CRITICAL},
    {"ib-rcv-errors", IB "port_rcv_errors=2", WATCH},
    {"ib-rcv-errors", IB "port_rcv_errors=3", WARN},
    {"ib-rcv-errors", IB "port_rcv_errors=10", HIGH},
    {"ib-integrity", IB "excessive_buffer_overrun_errors=0", OK},
    {"ib-integrity", IB "excessive_buffer_overrun_errors=2", WATCH},
    {"ib-integrity", IB "excessive_buffer_overrun_errors=3", WARN},
    {"ib-integrity", IB "excessive_buffer_overrun_errors=10", HIGH},
    {"ib-xmit-discards", IB "port_xmit_discards=9", WATCH},
    {"ib-xmit-discards", IB "port_xmit_discards=10", WARN},
    {"ib-xmit-discards", IB "port_xmit_discards=100", HIGH},
    {"ib-constraint", IB "port_rcv_constraint_errors=1", WATCH},
    {"ib-constraint", IB "port_rcv_constraint_errors=10", WARN},
    {"ib-vl15", IB "VL15_dropped=1", INFO},
    {"ib-vl15", IB "VL15_dropped=100", WATCH},
    {"ib-xmit-wait", IB "port_xmit_wait=156249999", OK}, // 64 bits each, of 1e12
    {"ib-xmit-wait", IB "port_xmit_wait=156250000", WATCH},
    {"ib-xmit-wait", IB "port_xmit_wait=1562500000", WARN},
    {"ib-xmit-wait", IB "port_xmit_wait=3906250000", HIGH},
    {"ib-xmit-wait", "@rate_bps=100000000000 port_xmit_packets=5 port_xmit_wait=14062500000",
     HIGH}, // 90 %: hardly a packet leaves
    {"ib-xmit-wait", "@rate_bps=100000000000 port_xmit_packets=5 port_xmit_wait=1562499999", OK},
    {"roce-cnp-throttled", IB "rp_cnp_handled=9", OK},
    {"roce-cnp-throttled", IB "rp_cnp_handled=10", WATCH},
    {"roce-cnp-throttled", IB "rp_cnp_handled=100", WARN},
    {"roce-cnp-throttled", IB "rp_cnp_handled=1000", HIGH},
    {"roce-ecn-marked", IB "np_ecn_marked_roce_packets=999", OK},
    {"roce-ecn-marked", IB "np_ecn_marked_roce_packets=1000", WATCH},
    {"roce-ecn-marked", IB "np_ecn_marked_roce_packets=10000", WARN},
    {"roce-ecn-marked", IB "np_ecn_marked_roce_packets=100000", HIGH},
    {"roce-cnp-ignored", IB "rp_cnp_ignored=4 rp_cnp_handled=5", OK},
    {"roce-cnp-ignored", IB "rp_cnp_ignored=4 rp_cnp_handled=6", INFO},
    {"roce-cnp-ignored", IB "rp_cnp_ignored=10 rp_cnp_handled=11", WARN},
    {"roce-cnp-ignored", IB "rp_cnp_ignored=10 rp_cnp_handled=10", HIGH},
    {"roce-cnp-not-sent", IB "np_ecn_marked_roce_packets=99 np_cnp_sent=0", OK},
    {"roce-cnp-not-sent", IB "np_ecn_marked_roce_packets=100 np_cnp_sent=0", WARN},
    {"roce-cnp-not-sent", IB "np_ecn_marked_roce_packets=100 np_cnp_sent=1", OK},
    {"rdma-given-up", IB "req_transport_retries_exceeded=0", OK},
    {"rdma-given-up", IB "req_transport_retries_exceeded=1", CRITICAL},
    {"rdma-timeout", "port_xmit_packets=9999 local_ack_timeout_err=9", INFO},
    {"rdma-timeout", IB "local_ack_timeout_err=2", WATCH},
    {"rdma-timeout", IB "local_ack_timeout_err=3", WARN},
    {"rdma-timeout", "port_xmit_packets=1 local_ack_timeout_err=10", HIGH},
    {"rdma-timeout", IB "local_ack_timeout_err=0 to_retransmits=1", OK},
    {"rdma-seq-nak", "port_xmit_packets=999999 packet_seq_err=1", INFO},
    {"rdma-seq-nak", "port_xmit_packets=1000 packet_seq_err=100", HIGH},
    {"rdma-seq-nak", IB "packet_seq_err=9", WATCH},
    {"rdma-seq-nak", IB "packet_seq_err=10", WARN},
    {"rdma-seq-nak", IB "packet_seq_err=60 implied_nak_seq_err=40", HIGH},
    {"rdma-oos", IB "out_of_sequence=99999", INFO}, // adaptive routing
    {"rdma-oos", IB "out_of_sequence=100000", WATCH},
    {"rdma-oos", IB "out_of_sequence=9 packet_seq_err=1", INFO},
    {"rdma-oos", IB "out_of_sequence=10 packet_seq_err=1", WATCH},
    {"rdma-oos", IB "out_of_sequence=100 duplicate_request=9", WATCH},
    {"rdma-oos", IB "out_of_sequence=100 duplicate_request=10", WARN},
    {"rdma-rnr-local", "port_rcv_packets=99999 out_of_buffer=1", INFO},
    {"rdma-rnr-local", IB "out_of_buffer=9", WATCH},
    {"rdma-rnr-local", IB "out_of_buffer=10", WARN},
    {"rdma-rnr-local", IB "out_of_buffer=100", HIGH},
    {"rdma-rnr-local", "port_rcv_packets=50 out_of_buffer=100", HIGH},
    {"rdma-rnr-remote", "port_xmit_packets=99999 rnr_nak_retry_err=1", INFO},
    {"rdma-rnr-remote", IB "rnr_nak_retry_err=9", WATCH},
    {"rdma-rnr-remote", IB "rnr_nak_retry_err=10", WARN},
    {"rdma-rnr-remote", IB "rnr_nak_retry_err=100", HIGH},
    {"rdma-rnr-remote", "port_xmit_packets=50 rnr_nak_retry_err=100", HIGH},
    {"rdma-adaptive-retrans", IB "roce_adp_retrans=9", INFO},
    {"rdma-adaptive-retrans", "port_xmit_packets=2000000 roce_adp_retrans=10", WATCH},
    {"rdma-adaptive-retrans", IB "roce_adp_retrans=10", WARN},
    {"rdma-duplicate", IB "duplicate_request=9", INFO},
    {"rdma-duplicate", IB "duplicate_request=10", WATCH},
    {"rdma-cqe-error", IB "req_cqe_error=5 req_cqe_flush_error=5", OK},
    {"rdma-cqe-error", IB "req_cqe_error=6 req_cqe_flush_error=5", HIGH},
    {"rdma-protection", IB "resp_local_length_error=1", HIGH},
    {"roce-icrc", IB "rx_icrc_encapsulated=2", WATCH},
    {"roce-icrc", IB "rx_icrc_encapsulated=3", WARN},
    {"efa-retrans", "tx_pkts=1000000 retrans_pkts=99", OK},
    {"efa-retrans", "tx_pkts=1000000 retrans_pkts=100", WATCH},
    {"efa-retrans", "tx_pkts=1000000 retrans_pkts=1000", WARN},
    {"efa-retrans", "tx_pkts=1000000 retrans_pkts=10000", HIGH},
    {"efa-timeout", "retrans_timeout_events=9 impaired_remote_conn_events=0 unresponsive_remote_events=0", WATCH},
    {"efa-timeout", "retrans_timeout_events=10 impaired_remote_conn_events=0 unresponsive_remote_events=0", WARN},
    {"efa-timeout", "retrans_timeout_events=0 impaired_remote_conn_events=3 unresponsive_remote_events=0", WARN},
    {"efa-timeout", "retrans_timeout_events=0 impaired_remote_conn_events=0 unresponsive_remote_events=1", HIGH},
    {"efa-drops", "rx_pkts=1000000 rx_drops=9", OK},
    {"efa-drops", "rx_pkts=100000 rx_drops=9", INFO},
    {"efa-drops", "rx_pkts=1000000 rx_drops=10", WARN},
    {"hw-counter-age", "@lifespan_ms=10000 port_xmit_packets=1", OK},
    {"hw-counter-age", "@lifespan_ms=10001 port_xmit_packets=1", INFO},

    {"softnet-drop", "softnet/dropped/cpu0=0", OK},
    {"softnet-drop", "softnet/dropped/cpu0=9", WATCH},
    {"softnet-drop", "softnet/dropped/cpu0=50 softnet/dropped/cpu1=50", WARN},
    {"softnet-drop", "softnet/dropped/cpu0=51 softnet/dropped/cpu1=50", HIGH},
    {"softnet-squeeze", "softnet/time_squeeze/cpu0=100 softnet/dropped/cpu0=0", INFO},
    {"softnet-squeeze", "softnet/time_squeeze/cpu0=101 softnet/dropped/cpu0=0", WATCH},
    {"softnet-squeeze", "softnet/time_squeeze/cpu0=101 softnet/dropped/cpu0=1", WARN},
    {"udp-rcvbuf", "Udp/InDatagrams=900 Udp/RcvbufErrors=1", INFO},
    {"udp-rcvbuf", "Udp/InDatagrams=999 Udp/RcvbufErrors=1", WATCH},
    {"udp-rcvbuf", "Udp/InDatagrams=9990 Udp/RcvbufErrors=10", WARN},
    {"udp-rcvbuf", "Udp/InDatagrams=990 Udp/RcvbufErrors=10", HIGH},
    {"udp-rcvbuf", "Udp/InDatagrams=99999999 Udp/RcvbufErrors=100", WATCH},
    {"udp-rcvbuf", "Udp/InDatagrams=99999999 Udp/RcvbufErrors=101", HIGH},
    {"udp-rcvbuf", "Udp/InDatagrams=1 Udp/RcvbufErrors=5000", HIGH},
    {"udp-sndbuf", "Udp/SndbufErrors=100", WATCH},
    {"udp-sndbuf", "Udp/SndbufErrors=101", WARN},
    {"tcp-rcv-prune", "TcpExt/PruneCalled=1 TcpExt/RcvPruned=0 TcpExt/OfoPruned=2", WATCH},
    {"tcp-rcv-prune", "TcpExt/PruneCalled=1 TcpExt/RcvPruned=0 TcpExt/OfoPruned=3", WARN},
    {"tcp-rcv-prune", "TcpExt/PruneCalled=1 TcpExt/RcvPruned=1 TcpExt/OfoPruned=0", WARN},
    {"tcp-rcv-prune", "TcpExt/PruneCalled=1 TcpExt/RcvPruned=10 TcpExt/OfoPruned=0", HIGH},
    {"tcp-backlog-drop", "TcpExt/TCPBacklogDrop=9", WATCH},
    {"tcp-backlog-drop", "TcpExt/TCPBacklogDrop=29", WARN},
    {"tcp-backlog-drop", "TcpExt/TCPBacklogDrop=30", HIGH},
    {"tcp-memory", "TcpExt/TCPMemoryPressures=1 TcpExt/TCPAbortOnMemory=0", WARN},
    {"tcp-memory", "TcpExt/TCPMemoryPressures=0 TcpExt/TCPAbortOnMemory=1", HIGH},
    {"tcp-memory-full", TCP_MEM "sockstat/TCP_mem=100>500", OK},
    {"tcp-memory-full", TCP_MEM "sockstat/TCP_mem=900>501", WARN},
    {"tcp-memory-full", TCP_MEM "sockstat/TCP_mem=100>901", CRITICAL},
    {"tcp-orphans", "sockstat/TCP_orphan=90>24 sockstat/TCP_orphan_limit=100>100", OK},
    {"tcp-orphans", "sockstat/TCP_orphan=0>25 sockstat/TCP_orphan_limit=100>100", WARN},
    {"tcp-orphans", "sockstat/TCP_orphan=0>50 sockstat/TCP_orphan_limit=100>100", CRITICAL},
    {"conntrack-full", "conntrack/entries=990>749 conntrack/max=1000>1000", OK},
    {"conntrack-full", "conntrack/entries=1>750 conntrack/max=1000>1000", WATCH},
    {"conntrack-full", "conntrack/entries=1>900 conntrack/max=1000>1000", WARN},
    {"conntrack-full", "conntrack/entries=1>950 conntrack/max=1000>1000", CRITICAL},
    {"conntrack-drop", TRACKED "conntrack/drop/cpu1=0 conntrack/insert_failed/cpu0=0", OK},
    {"conntrack-drop", TRACKED "conntrack/drop/cpu1=0 conntrack/insert_failed/cpu0=9", WATCH},
    {"conntrack-drop", TRACKED "conntrack/drop/cpu1=2 conntrack/insert_failed/cpu0=0", WATCH},
    {"conntrack-drop", TRACKED "conntrack/drop/cpu1=3 conntrack/insert_failed/cpu0=0", WARN},
    {"conntrack-drop", TRACKED "conntrack/drop/cpu1=10 conntrack/insert_failed/cpu0=0", HIGH},
    {"neigh-table-full", "arp_cache/table_fulls/cpu0=0 ndisc_cache/table_fulls/cpu1=0", OK},
    {"neigh-table-full", "arp_cache/table_fulls/cpu0=0 ndisc_cache/table_fulls/cpu1=1", HIGH},
    {"tcp-listen-overflow", "TcpExt/ListenOverflows=10 TcpExt/ListenDrops=10", WATCH}, // not added
    {"tcp-listen-overflow", "TcpExt/ListenOverflows=10 TcpExt/ListenDrops=11", WARN},
    {"tcp-listen-overflow", "TcpExt/ListenOverflows=51 TcpExt/ListenDrops=51", CRITICAL},
    {"tcp-syn-queue", "TcpExt/TCPReqQFullDrop=10", WATCH},
    {"tcp-syn-queue", "TcpExt/TCPReqQFullDrop=11", WARN},
    {"tcp-syn-queue", "TcpExt/TCPReqQFullDoCookies=51", CRITICAL},
    {"tcp-checksum", "Tcp/InSegs=1000000 Tcp/InCsumErrors=9 Udp/InCsumErrors=0", WATCH},
    {"tcp-checksum", TCP "Tcp/InCsumErrors=10 Udp/InCsumErrors=0", WARN},
    {"ip-fragments", "Ip/OutRequests=10000 Ip/FragCreates=99 Ip/ReasmFails=0 Ip/ReasmReqds=0", OK},
    {"ip-fragments", "Ip/OutRequests=10000 Ip/FragCreates=100 Ip/ReasmFails=0 Ip/ReasmReqds=0", WATCH},
    {"ip-fragments", "Ip/OutRequests=10000 Ip/FragCreates=0 Ip/ReasmFails=10 Ip/ReasmReqds=10000", WARN},
    {"ip-fragments", "Ip/OutRequests=10000 Ip/FragCreates=0 Ip/ReasmFails=9 Ip/ReasmReqds=100", OK},
    {"ip-fragments", "Ip/OutRequests=10000 Ip/FragCreates=0 Ip/ReasmFails=10 Ip/ReasmReqds=1000", HIGH},
    {"ip-discards", "Ip/InReceives=1000000 Ip/InDiscards=9", INFO},
    {"ip-discards", "Ip/InReceives=10000 Ip/InDiscards=9", INFO},
    {"ip-discards", "Ip/InReceives=1000000 Ip/InDiscards=10", WATCH},
    {"ip-discards", "Ip/InReceives=1000000 Ip/OutNoRoutes=1000", WARN},
    {"tcp-zero-window", "TcpExt/TCPToZeroWindowAdv=0 IpExt/InOctets=0", OK},
    {"tcp-zero-window", "TcpExt/TCPToZeroWindowAdv=9 IpExt/InOctets=1000", INFO},
    {"tcp-zero-window", "TcpExt/TCPToZeroWindowAdv=10 IpExt/InOctets=1000", WATCH},
    {"tcp-zero-window", "TcpExt/TCPToZeroWindowAdv=100 IpExt/InOctets=1000000000", WARN},
    {"tcp-zero-window", "TcpExt/TCPToZeroWindowAdv=100 IpExt/InOctets=1000000001", INFO}, // windows' worth between two
    {"tcp-zero-window", "TcpExt/TCPToZeroWindowAdv=100 IpExt/InOctets=1000 snmp6/Ip6InOctets=999999000", WARN},
    {"tcp-zero-window", "TcpExt/TCPToZeroWindowAdv=100 IpExt/InOctets=1000 snmp6/Ip6InOctets=999999001", INFO},
    {"ecn-marked", "IpExt/InCEPkts=99 IpExt/InECT0Pkts=9901", OK},
    {"ecn-marked", "IpExt/InCEPkts=100 IpExt/InECT0Pkts=9900", WATCH},
    {"ecn-marked", "IpExt/InCEPkts=1000 IpExt/InECT0Pkts=9000", WARN},
    {"tcp-retrans-ratio", "Tcp/OutSegs=8999 Tcp/RetransSegs=999", INFO},
    {"tcp-retrans-ratio", "Tcp/OutSegs=19289 Tcp/RetransSegs=1", INFO}, // chance
    {"tcp-retrans-ratio", "Tcp/OutSegs=19289 Tcp/RetransSegs=9", INFO},
    {"tcp-retrans-ratio", "Tcp/OutSegs=19289 Tcp/RetransSegs=10", WATCH},
    {"tcp-retrans-ratio", TCP "Tcp/RetransSegs=45", INFO},
    {"tcp-retrans-ratio", TCP "Tcp/RetransSegs=46", WATCH},
    {"tcp-retrans-ratio", TCP "Tcp/RetransSegs=1000", WARN},
    {"tcp-retrans-ratio", TCP "Tcp/RetransSegs=10000", HIGH},
    {"tcp-retrans-ratio", TCP "Tcp/RetransSegs=30000", CRITICAL},
    {"tcp-retrans-ratio", TCP LOCAL "Tcp/RetransSegs=30000", INFO}, // nothing went over the wire
    {"tcp-retrans-ratio", TCP WIRED "Tcp/RetransSegs=30000", CRITICAL},
    {"tcp-retrans-ratio", TCP LOOP "Tcp/RetransSegs=30000", INFO}, // a container that has nothing but its loopback
    {"tcp-retrans-ratio", TCP "netdev/rx_bytes=50 netdev/tx_bytes=50 IpExt/InOctets=9u Tcp/RetransSegs=30000", INFO},
    {"tcp-retrans-ratio", TCP WIRED LOOPING "Tcp/RetransSegs=30000", INFO}, // the ports forward for others
    {"tcp-zero-window", LOOP "TcpExt/TCPToZeroWindowAdv=100", INFO},
    {"tcp-rto", TCP LOOP "TcpExt/TCPTimeouts=10", INFO},
    {"tcp-rto", "Tcp/OutSegs=999 TcpExt/TCPTimeouts=9", INFO},
    {"tcp-rto", TCP "TcpExt/TCPTimeouts=0", OK},
    {"tcp-rto", TCP "TcpExt/TCPTimeouts=2", WATCH},
    {"tcp-rto", TCP "TcpExt/TCPTimeouts=3", WARN},
    {"tcp-rto", TCP "TcpExt/TCPTimeouts=10", HIGH},
    {"tcp-rto", TCP LOCAL "TcpExt/TCPTimeouts=10", INFO},
    {"tcp-lost-retransmit", "Tcp/RetransSegs=99 TcpExt/TCPLostRetransmit=99", OK},
    {"tcp-lost-retransmit", LOCAL "Tcp/RetransSegs=100 TcpExt/TCPLostRetransmit=10", INFO},
    {"tcp-lost-retransmit", "Tcp/RetransSegs=100 TcpExt/TCPLostRetransmit=9", INFO},
    {"tcp-lost-retransmit", "Tcp/RetransSegs=1000 TcpExt/TCPLostRetransmit=10", WATCH},
    {"tcp-lost-retransmit", "Tcp/RetransSegs=100 TcpExt/TCPLostRetransmit=10", WARN},
    {"tcp-spurious", "Tcp/RetransSegs=100 TcpExt/TCPDSACKRecv=49", OK},
    {"tcp-spurious", LOCAL "Tcp/RetransSegs=100 TcpExt/TCPDSACKRecv=50", INFO},
    {"tcp-spurious", "Tcp/RetransSegs=100 TcpExt/TCPDSACKRecv=50", WATCH},
    {"tcp-host-queue", "TcpExt/TCPSpuriousRtxHostQueues=0", OK},
    {"tcp-host-queue", "TcpExt/TCPSpuriousRtxHostQueues=9", INFO},
    {"tcp-host-queue", "TcpExt/TCPSpuriousRtxHostQueues=10", WATCH},
    {"tcp-syn-retrans", "Tcp/ActiveOpens=19 TcpExt/TCPSynRetrans=19", OK},
    {"tcp-syn-retrans", "Tcp/ActiveOpens=20 TcpExt/TCPSynRetrans=9", INFO},
    {"tcp-syn-retrans", "Tcp/ActiveOpens=1000 TcpExt/TCPSynRetrans=10", WATCH},
    {"tcp-syn-retrans", "Tcp/ActiveOpens=200 TcpExt/TCPSynRetrans=10", WARN},
    {"tcp-syn-retrans", "Tcp/ActiveOpens=50 TcpExt/TCPSynRetrans=10", HIGH},
    {"tcp-out-of-order", TCP "TcpExt/TCPOFOQueue=9999", OK},
    {"tcp-out-of-order", TCP LOCAL "TcpExt/TCPOFOQueue=50000", INFO},
    {"tcp-out-of-order", TCP "TcpExt/TCPOFOQueue=10000", WATCH},
    {"tcp-out-of-order", TCP "TcpExt/TCPOFOQueue=50000", WARN},
    {"tcp-abort", "TcpExt/TCPAbortOnTimeout=0", OK},
    {"tcp-abort", "TcpExt/TCPAbortOnTimeout=1", WATCH},
    {"tcp-abort", "TcpExt/TCPAbortOnTimeout=2", WARN},
    {"tcp-abort", "TcpExt/TCPAbortOnTimeout=3", HIGH},
    {"tcp-peer-limited", "busy_time=1000000 rwnd_limited=99999", OK},
    {"tcp-peer-limited", "busy_time=1000000 rwnd_limited=100000", WATCH},
    {"tcp-peer-limited", "busy_time=1000000 sndbuf_limited=500000", WARN},
    {"tcp-rtt-inflation", "bytes_acked=1000000 rtt=1>299 min_rtt=1>100", OK},
    {"tcp-rtt-inflation", "bytes_acked=1000000 rtt=1>300 min_rtt=1>100", WATCH},
    {"tcp-rtt-inflation", "bytes_acked=1000000 rtt=1>1000 min_rtt=1>100", WARN},

    {"oom-kill", "oom_kills=0", OK},
    {"oom-kill", "oom_kills=1", CRITICAL},
    {"oom-kill-node", "oom_kill=0", OK},
    {"oom-kill-node", "oom_kill=1", CRITICAL},
    {"mem-limit", "memory_current=1>899 memory_file_inactive=1>100 memory_limit=1000>1000", OK},
    {"mem-limit", "memory_current=1>900 memory_file_inactive=1>100 memory_limit=1000>1000", INFO},
    {"mem-limit", "memory_current=1>1000 memory_file_inactive=1>100 memory_limit=1000>1000", WARN},
    {"mem-limit", "memory_current=1>990 memory_file_inactive=1>10 memory_limit=1000>1000", CRITICAL},
    {"mem-limit-node", "MemAvailable=900>201 MemTotal=1000>1000", OK},
    {"mem-limit-node", "MemAvailable=900>200 MemTotal=1000>1000", INFO},
    {"mem-limit-node", "MemAvailable=900>100 MemTotal=1000>1000", WARN},
    {"mem-limit-node", "MemAvailable=900>20 MemTotal=1000>1000", CRITICAL},
    {"cgroup-throttle", "periods=100 throttled_periods=0", OK},
    {"cgroup-throttle", "periods=9 throttled_periods=9", OK},
    {"cgroup-throttle", "periods=100 throttled_periods=1", WATCH},
    {"cgroup-throttle", "periods=100 throttled_periods=25", WARN},
    {"cgroup-throttle", "periods=100 throttled_periods=50", HIGH},
    {"runqueue-wait", "cpu_user=4000000 cpu_system=950000 run_queue_wait=49999999", OK}, // of 5 s, in ns
    {"runqueue-wait", "cpu_user=4000000 cpu_system=950000 run_queue_wait=50000000", WATCH},
    {"runqueue-wait", "cpu_user=4000000 cpu_system=950000 run_queue_wait=50000000 run_queue_turns=5000",
     WATCH}, // 10 us each
    {"runqueue-wait", "cpu_user=4000000 cpu_system=950000 run_queue_wait=50000000 run_queue_turns=5001", OK},
    {"runqueue-wait", "cpu_user=4000000 cpu_system=750000 run_queue_wait=250000000", WARN},
    {"runqueue-wait", "cpu_user=4000000 cpu_system=750000 run_queue_wait=250000000 run_queue_turns=1000000", WARN},
    {"runqueue-wait", "cpu_user=4000000 cpu_system=0 run_queue_wait=1000000000", HIGH},
    {"runqueue-wait", "cpu_user=900000 cpu_system=99999 run_queue_wait=1000000000", OK}, // too little to judge
    {"cpu-pressure", "cpu_some=999999", OK},
    {"cpu-pressure", "cpu_some=1000000", WATCH},
    {"cpu-pressure", "cpu_some=2500000", WARN},
    {"mem-pressure", "memory_some=99999 memory_full=99999", OK},
    {"mem-pressure", "memory_some=100000 memory_full=99999", WATCH},
    {"mem-pressure", "memory_some=100000 memory_full=100000", WARN},
    {"mem-pressure", "memory_some=1000000 memory_full=1000000", HIGH},
    {"swap", "pswpin=0 pswpout=0", OK},
    {"swap", "pswpin=1 pswpout=0", WATCH},
    {"swap", "pswpin=500 pswpout=500", WARN},
    {"swap-full", "SwapFree=100>11 SwapTotal=100>100 pswpin=1 pswpout=0", OK},
    {"swap-full", "SwapFree=100>10 SwapTotal=100>100 pswpin=0 pswpout=0", INFO},
    {"swap-full", "SwapFree=100>10 SwapTotal=100>100 pswpin=0 pswpout=1", HIGH},
    {"major-faults", "pgmajfault=4999", OK},
    {"major-faults", "pgmajfault=5000", WARN},
    {"io-wait", NODE_CPU "user=910000 iowait=90000", OK},
    {"io-wait", NODE_CPU "user=900000 iowait=100000", WATCH},
    {"io-wait", NODE_CPU "user=600000 iowait=400000", WARN},
    {"io-wait", NODE_CPU "user=0 iowait=999999", OK}, // too little to judge
    {"cpu-steal", NODE_CPU "user=951000 iowait=0 steal=49000", OK},
    {"cpu-steal", NODE_CPU "user=950000 iowait=0 steal=50000", WATCH},
    {"cpu-steal", NODE_CPU "user=900000 iowait=0 steal=100000", WARN},
    {"cpu-steal", NODE_CPU "user=800000 iowait=0 steal=200000", HIGH},
    {"numa-memory", "numa_local=80001 numa_other=19999", OK},
    {"numa-memory", "numa_local=80000 numa_other=20000", WATCH},
    {"numa-memory", "numa_local=50000 numa_other=50000", WARN},
    {"cpu-busy", NODE_CPU "user=899999 iowait=100001", OK},
    {"cpu-busy", NODE_CPU "user=900000 iowait=100000", INFO},

    {"softirq-hot", "softirq=8000000 idle=2000000 peer:user=4000000 peer:idle=6000000 peer:iowait=0", WARN},
    {"softirq-hot", "softirq=7999999 idle=2000001 peer:user=4000000 peer:idle=6000000 peer:iowait=0", OK},
    {"softirq-hot", "softirq=8000000 idle=2000000 peer:user=5000000 peer:idle=5000000 peer:iowait=0",
     OK}, // all are busy
    {"softirq-hot", "softirq=8000000 idle=2000000 context_switches=5 peer:idle=6000000 peer:iowait=0",
     OK}, // the whole node
    {"swap-full", "SwapFree=0>101 SwapTotal=1000>1000 pswpin=9 pswpout=9", OK},
    {"swap-full", "SwapFree=0>100 SwapTotal=1000>1000 pswpin=0 pswpout=0", INFO}, // swapped out long ago
    {"swap-full", "SwapFree=0>100 SwapTotal=1000>1000 pswpin=0 pswpout=1", HIGH},
    {"swap-full", "SwapFree=0>0 SwapTotal=0>0 pswpin=0 pswpout=0", OK}, // there is none
    {"edac-uncorrected", "ue_count=0 ce_count=0", OK},
    {"edac-uncorrected", "ue_count=1 ce_count=0", CRITICAL},
    {"edac-corrected", "ue_count=0 ce_count=0", OK},
    {"edac-corrected", "ue_count=0 ce_count=2", INFO},
    {"edac-corrected", "ue_count=0 ce_count=3", WATCH},
    {"edac-corrected", "ue_count=0 ce_count=149", WARN},
    {"edac-corrected", "ue_count=0 ce_count=150", HIGH},
    // 200 W for 10 s; a step is 10 s.
    {"power-cap", "energy=1899999999 power_limit_long_term=200000000>200000000", OK},
    {"power-cap", "energy=1900000000 power_limit_long_term=200000000>200000000", INFO},
    {"power-cap", "energy=1900000000 power_limit_long_term=0>0", OK}, // there is none
    {"fd-limit", "open_files_peak=0>699 open_files_limit=1000>1000", OK},
    {"fd-limit", "open_files_peak=0>700 open_files_limit=1000>1000", WATCH},
    {"fd-limit", "open_files_peak=0>900 open_files_limit=1000>1000", WARN},
    {"gpu-ecc", "ecc_uncorrected=0", OK},
    {"gpu-ecc", "ecc_uncorrected=1", CRITICAL},
    {"link-unused", "properties/link=0>0 peer:properties/link=1>1 peer2:properties/link=1>1", INFO},
    {"link-unused", "properties/link=1>0 peer:properties/link=1>1", OK}, // it was up: link-lost
    {"link-unused", "properties/link=0>0 peer:properties/link=0>0", OK}, // as all of them
    {"link-unused", "properties/link=1>1 peer:properties/link=1>1", OK},
    {"gpu-rows-failed", "rows_failed=0>0", OK},
    {"gpu-rows-failed", "rows_failed=1>1", CRITICAL}, // long ago, and still so
    {"gpu-rows-uncorrected", "rows_remapped_uncorrected=511>511", OK},
    {"gpu-rows-uncorrected", "rows_remapped_uncorrected=511>512", CRITICAL},
    {"gpu-rows-pending", "rows_pending=0>0", OK},
    {"gpu-rows-pending", "rows_pending=0>1", HIGH},
    {"gpu-nvlink-down", "@model=A nvlinks_up=18>18 peer:@model=A peer:nvlinks_up=18>18", OK},
    {"gpu-nvlink-down", "@model=A nvlinks_up=18>17 peer:@model=A peer:nvlinks_up=18>18", HIGH},
    {"gpu-nvlink-down", "@model=A nvlinks_up=4>4 peer:@model=B peer:nvlinks_up=18>18", OK}, // another model
    {"gpu-nvlink-crc", "nvlink_crc_errors=0", OK},
    {"gpu-nvlink-crc", "nvlink_crc_errors=2", WATCH},
    {"gpu-nvlink-crc", "nvlink_crc_errors=999", WARN},
    {"gpu-nvlink-crc", "nvlink_crc_errors=1000", HIGH}, // 100 a second
    {"gpu-nvlink-recovery", "nvlink_replays=0 nvlink_recoveries=0", OK},
    {"gpu-nvlink-recovery", "nvlink_replays=0 nvlink_recoveries=1", HIGH},
    // 16 lanes of the fifth generation: 30.72 a minute, 5.12 in ten seconds
    {"gpu-pcie-replay", "pcie_replays=5 pcie_generation_max=5>5 pcie_width_max=16>16", OK},
    {"gpu-pcie-replay", "pcie_replays=6 pcie_generation_max=5>5 pcie_width_max=16>16", WARN},
    {"gpu-pcie-replay", "pcie_replays=52 pcie_generation_max=5>5 pcie_width_max=16>16", HIGH},
    {"gpu-pcie-replay", "pcie_replays=2 pcie_generation_max=4>4 pcie_width_max=16>16", OK}, // 2.56
    {"gpu-pcie-replay", "pcie_replays=3 pcie_generation_max=4>4 pcie_width_max=16>16", WARN},
    {"gpu-pcie-width", "pcie_width=16>16 pcie_width_max=16>16", OK},
    {"gpu-pcie-width", "pcie_width=16>8 pcie_width_max=16>16", HIGH},
    {"gpu-pcie-width", "pcie_width=0>0 pcie_width_max=0>0", OK}, // a GPU without PCIe
    {"gpu-pcie-generation", "busy=0>10 pcie_generation=1>4 pcie_generation_max=5>5", WARN},
    {"gpu-pcie-generation", "busy=0>10 pcie_generation=1>5 pcie_generation_max=5>5", OK},
    {"gpu-pcie-generation", "busy=0>9 pcie_generation=1>1 pcie_generation_max=5>5", OK}, // it sleeps
    {"gpu-throttle-hardware", GPU_BUSY "reason_hardware=0", OK},
    {"gpu-throttle-hardware", GPU_BUSY "reason_hardware=99999", WATCH},
    {"gpu-throttle-hardware", GPU_BUSY "reason_hardware=100000", HIGH},
    {"gpu-throttle-hardware", "busy_time=999999 seen_time=10000000 reason_hardware=1", OK}, // hardly used
    {"gpu-throttle-thermal", GPU_BUSY "reason_thermal=0", OK},
    {"gpu-throttle-thermal", GPU_BUSY "reason_thermal=99999", WATCH},
    {"gpu-throttle-thermal", GPU_BUSY "reason_thermal=100000", WARN},
    {"gpu-power-cap", GPU_BUSY "reason_power_cap=999999", OK},
    {"gpu-power-cap", GPU_BUSY "reason_power_cap=1000000", INFO},
    {"gpu-clock-drop", GPU_LOADED "loaded_cycles=14000000000", OK}, // 1400 MHz
    {"gpu-clock-drop", GPU_LOADED "loaded_cycles=13990000000", WATCH},
    {"gpu-clock-drop", GPU_LOADED "loaded_cycles=10000000000", WARN}, // half
    {"gpu-clock-drop",
     GPU_LOADED
     "@model=A loaded_cycles=13000000000 "
     "peer:@model=A peer:loaded_time=10000000 peer:clock_max=2000>2000 peer:reason_hardware=0 peer:reason_thermal=0 "
     "peer:loaded_cycles=16300000000",
     WARN},
    {"gpu-clock-drop",
     GPU_LOADED
     "@model=A loaded_cycles=13000000000 "
     "peer:@model=A peer:loaded_time=10000000 peer:clock_max=2000>2000 peer:reason_hardware=0 peer:reason_thermal=0 "
     "peer:loaded_cycles=16200000000",
     WATCH},
    {"gpu-clock-drop",
     "loaded_time=10000000 clock_max=2000>2000 reason_hardware=0 reason_thermal=1 loaded_cycles=13990000000", HIGH},
    {"gpu-clock-drop", "loaded_time=9999999 clock_max=2000>2000 reason_hardware=0 reason_thermal=0 loaded_cycles=1",
     OK},
    {"gpu-idle", "@job=yes seen_time=300000000 busy_time=75000000", OK},
    {"gpu-idle", "@job=yes seen_time=300000000 busy_time=74999999", WATCH},
    {"gpu-idle", "@job=yes seen_time=300000000 busy_time=44999999", WARN},
    {"gpu-idle", "job_time=1 seen_time=300000000 busy_time=0", WARN},
    {"gpu-idle", "@job=no job_time=0 seen_time=300000000 busy_time=0", OK}, // somebody else's
    {"gpu-idle", "seen_time=300000000 busy_time=0", OK},                    // nobody's
    {"gpu-idle", "@job=yes seen_time=299999999 busy_time=0", OK},           // too short to tell
    // 10 % of 100 Gbit/s for 10 s: 12.5 GB
    {"x-gpu-wait", GPU_WAITS "netdev/tx_bytes=12499999999", INFO},
    {"x-gpu-wait", GPU_WAITS "netdev/tx_bytes=12500000000", OK},                   // the network was in use
    {"x-gpu-wait", GPU_WAITS "netdev/tx_bytes=1 netdev/carrier_down_count=9", OK}, // the link flapped
    {"x-gpu-wait", GPU_WAITS "netdev/tx_bytes=1 netdev/tx_packets=1000 netdev/tx_dropped=2000", OK}, // it lost
    {"x-gpu-wait", "@job=yes seen_time=300000000 busy_time=0", OK}, // nothing is known of the network
    {"x-gpu-wait", "@job=yes seen_time=300000000 busy_time=0 netdev/tx_bytes=1 netdev/rx_bytes=1",
     OK}, // nor of its speed
    {"x-gpu-wait", "@job=yes seen_time=300000000 busy_time=0 netdev/@speed_mbps=100000 netdev/rx_bytes=1",
     OK}, // nor what it sent
    {"x-gpu-wait",
     "@job=yes seen_time=300000000 busy_time=75000000 netdev/@speed_mbps=100000 netdev/tx_bytes=1 "
     "netdev/rx_bytes=1",
     OK}, // it did not wait
    {"gpu-memory-full", "memory_peak=0>899 memory_total=1000>1000", OK},
    {"gpu-memory-full", "memory_peak=0>900 memory_total=1000>1000", INFO},
    {"gpu-memory-full", "memory_peak=0>980 memory_total=1000>1000", WATCH},
    {"perf-ipc", "instructions=1000000000 cycles=1000000000", OK},
    {"perf-ipc", "instructions=999999999 cycles=1000000000", INFO},
    {"perf-ipc", "instructions=499999999 cycles=1000000000", WATCH},
    {"perf-ipc", "instructions=1 cycles=999999999", OK}, // too little to judge
    {"perf-multiplexed",
     "group1_time_enabled=500000000 group1_time_running=500000000 group2_time_enabled=500000000 "
     "group2_time_running=450000000",
     OK}, // 95 %
    {"perf-multiplexed", "group1_time_enabled=1000000000 group1_time_running=949999999", INFO},
    {"perf-multiplexed", "group1_time_enabled=1000000000 group1_time_running=99999999", WATCH},
    {"eth-bond-degraded", BOND "peer:carrier=1>1 peer2:carrier=1>1", OK},
    {"eth-bond-degraded", BOND "peer:carrier=1>1 peer2:carrier=1>0", WARN},
    {"eth-bond-degraded", BOND "peer:carrier=0>0 peer2:carrier=1>0", HIGH},
    {"eth-bond-degraded", "@kind=bridge carrier=1>1 peer:@master=dev0 peer:carrier=0>0", OK},
    {"eth-numa-remote", ETH "@numa_node=1 rx_packets=10000 ethtool/rx_pp_alloc_waive=999", OK},
    {"eth-numa-remote", ETH "@numa_node=1 rx_packets=10000 ethtool/rx_pp_alloc_waive=1000", WATCH},
    {"eth-numa-remote", ETH "@numa_node=1 rx_packets=10000 ethtool/rx_pp_alloc_waive=1000 ethtool/rx_out_of_buffer=1",
     WARN},
    {"x-loopback-nic", ETH "ethtool/rx_vport_unicast_bytes=1000000000 ethtool/vport_loopback_bytes=99999999", OK},
    {"x-loopback-nic", ETH "ethtool/rx_vport_unicast_bytes=1000000000 ethtool/vport_loopback_bytes=100000000", INFO},
    {"x-loopback-nic",
     ETH "ethtool/rx_vport_unicast_bytes=400000000 ethtool/rx_vport_rdma_unicast_bytes=600000000 "
         "ethtool/vport_loopback_bytes=500000000",
     WATCH},
    // 0.1 % of 100 Gbit/s for 10 s: 125 MB
    {"eth-idle", "@speed_mbps=100000 carrier=1>1 tx_bytes=0 rx_bytes=124999999", INFO},
    {"eth-idle", "@speed_mbps=100000 carrier=1>1 tx_bytes=125000001 rx_bytes=0", OK},
    {"eth-idle", "@speed_mbps=100000 carrier=1>0 tx_bytes=0 rx_bytes=0", OK}, // it is down, not idle
    {"ib-idle", "@rate_bps=100000000000 state=4>4 port_xmit_data=0 port_rcv_data=124999999", INFO},
    {"ib-idle", "@rate_bps=100000000000 state=4>4 port_xmit_data=0 port_rcv_data=125000001", OK},
    {"ib-rate-low", PORT "@rate_bps=100000000000 peer:@hca_type=MT4123 peer:@rate_bps=200000000000", HIGH},
    {"ib-rate-low", PORT "@rate_bps=200000000000 peer:@hca_type=MT4123 peer:@rate_bps=200000000000", OK},
    {"ib-rate-low", PORT "@rate_bps=100000000000 peer:@hca_type=MT4115 peer:@rate_bps=200000000000",
     OK}, // another model
    {"opa-quality", "DcUnctblErr=0 DcRecvErr=0 DcFmCfgErr=0", OK},
    {"opa-quality", "DcUnctblErr=1 DcRecvErr=1 DcFmCfgErr=0", WATCH},
    {"opa-quality", "DcUnctblErr=1 DcRecvErr=1 DcFmCfgErr=1", WARN},
    {"opa-congestion", "DcRcvFcn=0 DcRcvBcn=0 DcMarkFcn=0", OK},
    {"opa-congestion", "DcRcvFcn=3 DcRcvBcn=0 DcMarkFcn=0", INFO},
    {"x-stack-total", BOND "rx_bytes=1000000 tx_bytes=0 " LINKS(509999, 500000), OK},
    {"x-stack-total", BOND "rx_bytes=1000000 tx_bytes=0 " LINKS(510001, 500000), WATCH},
    {"x-stack-total", BOND "rx_bytes=1000000 tx_bytes=0 " LINKS(400000, 500000), WATCH},

    {"counter-reset", CXI "a=1", OK},
    {"counter-reset", CXI "a=1r", WATCH},
    {"counter-saturated", CXI "a=1s", WATCH},
    {"x-over-line", CXI "hni_sts_tx_ok_octets=266953125000", OK}, // 1.005 of 265.625e9 bytes
    {"x-over-line", CXI "hni_sts_tx_ok_octets=266953125001", WATCH},
    {"bad-frames", CXI "hni_rx_bad_opt=0", OK},
    {"bad-frames", CXI "hni_rx_bad_opt=9", WATCH},
    {"bad-frames", CXI "hni_rx_bad_opt=4 hni_rx_bad_ieee=6", WARN},
    {"bad-frames", CXI "hni_rx_bad_opt=100", WARN},
    {"bad-frames", CXI "hni_rx_bad_ieee=101", HIGH},
    {"drops-unclaimed", CXI "ixe_rx_pkt_drop_rmu_norsp=0", OK},
    {"drops-unclaimed", CXI "rmu_enet_frame_rejected_cntr=1000 ixe_rx_pkt_drop_rmu_norsp=1000", INFO}, // multicast
    {"drops-unclaimed", CXI "rmu_enet_frame_rejected_cntr=1000 ixe_rx_pkt_drop_rmu_norsp=1009", WATCH},
    {"drops-unclaimed",
     CXI "rmu_enet_frame_rejected_cntr=1000 ixe_rx_pkt_drop_rmu_norsp=1000 ixe_rx_pkt_drop_rmu_wrsp=10", WARN},
    {"drops-unclaimed", CXI "rmu_enet_frame_rejected_cntr=1000 ixe_rx_pkt_drop_rmu_norsp=1101", HIGH},
    {"drops-unclaimed", CXI "ixe_rx_pkt_drop_rmu_norsp=99", WARN},
    {"tcp-rcv-collapse", "Tcp/InSegs=1000000 TcpExt/TCPRcvCollapsed=0", OK},
    {"tcp-rcv-collapse", "Tcp/InSegs=100000 TcpExt/TCPRcvCollapsed=99", INFO},
    {"tcp-rcv-collapse", "Tcp/InSegs=100000 TcpExt/TCPRcvCollapsed=100", WATCH},
    {"tcp-path-mtu", "TcpExt/TCPMTUPFail=0 TcpExt/TCPMTUPSuccess=0", OK},
    {"tcp-path-mtu", "TcpExt/TCPMTUPFail=10 TcpExt/TCPMTUPSuccess=10", INFO},
    {"tcp-path-mtu", "TcpExt/TCPMTUPFail=10 TcpExt/TCPMTUPSuccess=9", WATCH},
};
enum { ROWS = sizeof rows / sizeof *rows };

// The rules of one table among all.
static const char *source_of(const rule *x)
{
    return strcmp(x->source, "*") == 0 ? "cxi" : x->source;
}

static int found(const findings *f, const char *name)
{
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->items[i].rule->name, name) == 0) return (int)f->items[i].severity;
    return SEVERITY_OK;
}

static void thresholds(void **state)
{
    size_t wrong = 0;
    (void)state;
    assert_int_equal(built_in.problem_count, 0);
    for (size_t i = 0; i < ROWS; i++) {
        const rule *x = rules_find(&built_in, rows[i].rule);
        situation s;
        findings f = {0};
        if (!x) fail_msg("%s: no such rule", rows[i].rule);
        situation_make(&s, source_of(x), rows[i].counters);
        findings_make(&f, &s.d, &built_in);
        finding_claims_check(&f);
        if (found(&f, rows[i].rule) != rows[i].expected) {
            wrong++;
            print_error("%s on %s: %s, expected %s\n", rows[i].rule, rows[i].counters,
                        severity_name((severity)found(&f, rows[i].rule)), severity_name((severity)rows[i].expected));
        }
        findings_free(&f);
        situation_free(&s);
    }
    assert_int_equal(wrong, 0);
}

// Facts that a rule's value is made of are its evidence, each with its number; one that is missing is none.
static void facts_are_evidence(void **state)
{
    static const struct {
        const char *name;
        double number;
    } expected[] = {{"pci_width", 8}, {"pci_max_width", 16}, {"pci_speed", 16}, {"pci_max_speed", 32}};
    situation s;
    findings f = {0};
    (void)state;
    situation_make(&s, "cxi",
                   "@cassini_version=1.1 @pci_width=8 @pci_max_width=16 @pci_speed=16.0 @pci_max_speed=32.0 x=1");
    findings_make(&f, &s.d, &built_in);
    finding_claims_check(&f);
    const finding *x = NULL;
    for (size_t i = 0; i < f.count; i++)
        if (strcmp(f.items[i].rule->name, "pcie-link") == 0) x = &f.items[i];
    assert_non_null(x);
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        bool there = false;
        for (size_t i = 0; i < x->evidence_count; i++)
            there |= strcmp(x->evidence[i].name, expected[k].name) == 0 && x->evidence[i].number == expected[k].number;
        if (!there) fail_msg("%s is no evidence", expected[k].name);
    }
    findings_free(&f);
    situation_free(&s);
}

// A reading of 1, 1.1 and 5.1 s within 10 s; the situation's are instants.
static void a_reading_that_takes_long(void **state)
{
    (void)state;
    for (int late = 0; late < 3; late++) {
        situation s;
        findings f = {0};
        situation_make(&s, "cxi", "hni_sts_tx_ok_octets=1");
        s.after.end_ns += (int64_t[]){1000000000, 1100000000, 5100000000}[late];
        difference_free(&s.d);
        assert_int_equal(difference_of_snapshots(&s.d, &s.before, &s.after, 0, NULL), NETPROF_OK);
        findings_make(&f, &s.d, &built_in);
        finding_claims_check(&f);
        assert_int_equal(found(&f, "x-time"), late == 2 ? WATCH : late ? INFO : OK);
        if (late) assert_string_equal(finding_device(&f, &f.items[0]), "node");
        findings_free(&f);
        situation_free(&s);
    }
}

// That the readings took long is no verdict where what matters could not be judged: the one that was denied outranks it.
static void long_readings_hide_nothing_else(void **state)
{
    situation s;
    findings f = {0};
    (void)state;
    situation_make(&s, "cxi", "hni_sts_tx_ok_octets=1 hni_pcs_uncorrected_cw=0u");
    s.after.end_ns += 5100000000;
    difference_free(&s.d);
    assert_int_equal(difference_of_snapshots(&s.d, &s.before, &s.after, 0, NULL), NETPROF_OK);
    findings_make(&f, &s.d, &built_in);
    finding_claims_check(&f);
    assert_int_equal(found(&f, "x-time"), WATCH);
    assert_int_equal(f.severity, SEVERITY_UNKNOWN);
    assert_int_equal(strncmp(f.verdict, "Could not be judged: dev0: hni_pcs_uncorrected_cw: denied", 57), 0);
    assert_non_null(strstr(f.verdict, "; besides, a reading took 51"));
    findings_free(&f);
    situation_free(&s);
}

// By the wall clock, while 10 s passed: 10 s; a little more, as clocks drift; 5 s less; an hour more.
static void a_clock_that_was_set(void **state)
{
    static const struct {
        int64_t more_ns;
        const char *claim;
    } all[] = {{0, NULL},
               {9000000, NULL},
               {-5 * INT64_C(1000000000), "the wall clock was set 5 s back between the two readings"},
               {3600 * INT64_C(1000000000), "the wall clock was set 1 h 00 min ahead between the two readings"}};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        situation s;
        findings f = {0};
        situation_make(&s, "netdev", "rx_bytes=1000");
        s.before.wall_ns = INT64_C(1700000000000000000);
        s.after.wall_ns = s.before.wall_ns + s.after.begin_ns - s.before.begin_ns + all[i].more_ns;
        difference_free(&s.d);
        assert_int_equal(difference_of_snapshots(&s.d, &s.before, &s.after, 0, NULL), NETPROF_OK);
        findings_make(&f, &s.d, &built_in);
        finding_claims_check(&f);
        assert_int_equal(found(&f, "clock-set"), all[i].claim ? INFO : OK);
        assert_true(f.severity < SEVERITY_WATCH); // a note, no fault
        for (size_t k = 0; k < f.count; k++)
            if (strcmp(f.items[k].rule->name, "clock-set") == 0) assert_string_equal(f.items[k].claim, all[i].claim);
        findings_free(&f);
        situation_free(&s);
    }
}

// Steps that two devices in ten seconds cannot show.
static const char *const unreachable[] = {"eth-pcie-stall watch", "mem-pressure critical", "x-time info",
                                          "x-time watch"};

static bool has_case(const rule *x, int step)
{
    char text[96];
    if (strcmp(x->name, "x-pair") == 0) return true; // of two nodes: test_ends
    if (strcmp(x->source, "expect") == 0 || strcmp(x->class_name, "command") == 0) return true; // test_expect
    if (strcmp(x->name, "clock-set") == 0) return true;                                         // a_clock_that_was_set
    if (x->of_peers) return true; // of more than two devices: test_peers
    if (x->in_words) return true; // of other devices at the two ends: test_device_changes
    for (size_t i = 0; i < ROWS; i++)
        if (strcmp(rows[i].rule, x->name) == 0 && rows[i].expected == step) return true;
    snprintf(text, sizeof text, "%s %s", x->name, severity_name((severity)step));
    for (size_t i = 0; i < sizeof unreachable / sizeof *unreachable; i++)
        if (strcmp(unreachable[i], text) == 0) return true;
    return false;
}

static void every_rule_and_step_has_a_case(void **state)
{
    size_t missing = 0;
    (void)state;
    for (size_t r = 0; r < built_in.count; r++)
        for (int s = SEVERITY_INFO; s < SEVERITIES; s++)
            if (built_in.items[r]->thresholds[s].op != EXPRESSION_NUMBER && !has_case(built_in.items[r], s)) {
                missing++;
                print_error("no case: %s %s\n", built_in.items[r]->name, severity_name((severity)s));
            }
    assert_int_equal(missing, 0);
}

static void every_rule_says_what_to_do(void **state)
{
    (void)state;
    for (size_t r = 0; r < built_in.count; r++) {
        const rule *x = built_in.items[r];
        if (!x->part_count || !*x->advice) fail_msg("%s: claim or advice is missing", x->name);
        for (const char *at = x->explained_by; *at;) { // names of rules only
            char name[64];
            size_t n = strcspn(at, ", ");
            snprintf(name, sizeof name, "%.*s", (int)n, at);
            if (!rules_find(&built_in, name)) fail_msg("%s: explained by '%s'", x->name, name);
            at += n + strspn(at + n, ", ");
        }
    }
}

// ---- unknown is not ok ----

static void unknown_is_no_finding_and_not_silent(void **state)
{
    static const struct {
        const char *value, *reason;
    } cases[] = {{"hni_pcs_uncorrected_cw=50r", "reset"},
                 {"hni_pcs_uncorrected_cw=50u", "denied"},
                 {"hni_pcs_uncorrected_cw=50k", "not in the set that was read"},
                 {"hni_pcs_uncorrected_cw=50s", "suspect"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        situation s;
        findings f = {0};
        size_t k = 0;
        snprintf(text, sizeof text, CXI "%s hni_sts_tx_ok_octets=250000000000", cases[i].value);
        situation_make(&s, "cxi", text);
        findings_make(&f, &s.d, &built_in);
        finding_claims_check(&f);
        assert_int_equal(found(&f, "uncorrected-codewords"), SEVERITY_OK);
        while (k < f.unknown_count && strcmp(f.unknown[k].rule->name, "uncorrected-codewords") != 0)
            k++;
        if (k == f.unknown_count) fail_msg("%s: not among the unknown", cases[i].value);
        assert_string_equal(f.unknown[k].reason, cases[i].reason);
        assert_string_equal(f.unknown[k].counter, "hni_pcs_uncorrected_cw");
        findings_free(&f);
        situation_free(&s);
    }
}

// ---- tables of users ----

static netprof_err read_text(rules *set, const char *text)
{
    return rules_read_text(set, "mine.csv", text, strlen(text), NULL);
}

static void a_users_table(void **state)
{
    rules set = {0};
    situation s;
    findings f = {0};
    (void)state;
    rules_builtin(&set);
    size_t count = set.count;
    assert_int_equal(
        read_text(&set,
                  "# ours\n"
                  "source,name,value,warn,claim,advice\n"
                  "\n"
                  "cxi,site-octets,hni_sts_tx_ok_octets,> 5 [site],\"{value|i} octets, \"\"too many\"\"\",call us\r\n"
                  "cxi,nack-drops,pct_trs_rsp_nack_drops,> 100,,\n"),
        NETPROF_OK);
    assert_int_equal(set.problem_count, 0);
    assert_int_equal(set.count, count + 1); // nack-drops was replaced
    situation_make(&s, "cxi", CXI "hni_sts_tx_ok_octets=6 pct_trs_rsp_nack_drops=50");
    findings_make(&f, &s.d, &set);
    finding_claims_check(&f);
    assert_string_equal(f.items[0].rule->name, "site-octets");
    assert_string_equal(f.items[0].claim, "6 octets, \"too many\"");
    assert_string_equal(f.items[0].threshold->origin, "site");
    assert_string_equal(f.items[0].rule->advice, "call us");
    assert_int_equal(found(&f, "nack-drops"), SEVERITY_OK);
    findings_free(&f);
    situation_free(&s);
    rules_free(&set);
}

// Pages name rules by plain words: those of a NIC's hardware have them, short enough for a row, and say what a value that is
// missing would have shown. A user's own rule may do without: its name stands for it.
static void rules_in_plain_words(void **state)
{
    rules set = {0};
    (void)state;
    rules_builtin(&set);
    for (size_t i = 0; i < set.count; i++) {
        const rule *x = set.items[i];
        if (strlen(x->words) > 32) fail_msg("%s: words of %zu letters", x->name, strlen(x->words));
        if (!*x->words != !*x->shows) fail_msg("%s: words without shows, or the other way round", x->name);
        if (strcmp(x->source, "cxi") == 0 && strcmp(x->class_name, "data") != 0 &&
            strcmp(x->name, "link-unused") != 0 && !*x->words)
            fail_msg("%s has no plain words", x->name);
    }
    assert_string_equal(rules_words(rules_find(&set, "host-write-back-pressure")), "PCIe writes blocked");
    assert_int_equal(read_text(&set, "name,words,source,value,warn\n"
                                     "site-plain,,cxi,x,> 1\n"
                                     "site-said,Said by us,cxi,x,> 1\n"),
                     NETPROF_OK);
    assert_string_equal(rules_words(rules_find(&set, "site-plain")), "site-plain");
    assert_string_equal(rules_words(rules_find(&set, "site-said")), "Said by us");
    rules_free(&set);
}

// One that takes the place of another is looked for as that one was.
static void marks_of_rules(void **state)
{
    rules set = {0};
    (void)state;
    rules_builtin(&set);
    assert_true(rules_find(&set, "eth-pause-rx")->is_pause);
    assert_false(rules_find(&set, "eth-pause-tx")->is_pause);
    assert_int_equal(read_text(&set, "name,source,value,warn,marks\n"
                                     "eth-pause-rx,netdev,x,> 1,\n"
                                     "site-pause,netdev,y,> 1,pause\n"
                                     "site-other,netdev,y,> 1,\n"
                                     "site-wrong,netdev,y,> 1,paused\n"),
                     NETPROF_OK);
    assert_true(rules_find(&set, "eth-pause-rx")->is_pause);
    assert_true(rules_find(&set, "site-pause")->is_pause);
    assert_false(rules_find(&set, "site-other")->is_pause);
    assert_null(rules_find(&set, "site-wrong"));
    assert_int_equal(set.problem_count, 1);
    assert_int_equal(set.problems[0].line, 5);
    assert_string_equal(set.problems[0].text, "marks: 'paused': expected pause");
    rules_free(&set);
}

static void bad_lines_are_refused_with_their_number(void **state)
{
    static const struct {
        const char *line, *says;
    } cases[] = {
        {"x,cxi,a +,> 1,,", "value: character 4"},
        {"x,cxi,a,1,,", "warn: expected >"},
        {"x,cxi,a,> b,,", "warn: expected a number"},
        {"x,cxi,a,> 1 [own,,", "warn: [ without ]"},
        {"x,cxi,a,> 1 when b,,", "warn: expected 'if'"},
        {"x,cxi,a,> 1 if (b,,", "warn: character"},
        {"x,cxi,a,,,", "there is no threshold"},
        {"x,cxi,,> 1,,", "value is missing"},
        {"x,,a,> 1,,", "source is missing"},
        {",cxi,a,> 1,,", "name: ''"},
        {"a b,cxi,a,> 1,,", "name: 'a b'"},
        {"x,cxi,a,> 1,{value,", "claim: {"},
        {"x,cxi,a,> 1,{value|q},", "claim: no such format"},
        {"x,cxi,a,> 1,{value|#},", "claim: no such format"},
        {"x,cxi,a,> 1 {one,,", "warn: { without }"},
        {"x,cxi,a,> 1,{v +},", "claim: character"},
        {"x,cxi,a,> 1,,strange", "class: 'strange'"},
        {"x,cxi,\"a,> 1,,", "a quoted field is not closed"},
        {"x,cxi,\"a\"b,> 1,,", "text behind a closing quote"},
        {"x,cxi,a,> 1,,,too,many", "8 fields, the first line has 6"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rules set = {0};
        char text[512];
        snprintf(text, sizeof text, "name,source,value,warn,claim,class\ngood,cxi,a,> 1,,\n%s\nalso-good,cxi,b,> 1,,\n",
                 cases[i].line);
        assert_int_equal(read_text(&set, text), NETPROF_OK);
        assert_int_equal(set.count, 2); // the others are used
        assert_int_equal(set.problem_count, 1);
        assert_string_equal(set.problems[0].path, "mine.csv");
        assert_int_equal(set.problems[0].line, 3);
        if (strncmp(set.problems[0].text, cases[i].says, strlen(cases[i].says)) != 0)
            fail_msg("%s: '%s', expected '%s'", cases[i].line, set.problems[0].text, cases[i].says);
        rules_free(&set);
    }
}

static void tables_without_use(void **state)
{
    static const char *const texts[] = {"",
                                        "\n# nothing\n",
                                        "name,source\n",
                                        "name,source,value,wrong\n",
                                        "name,source,value,warn,warn\n",
                                        "name,source,value,warn\nx,cxi,a,\n"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        rules set = {0};
        assert_int_equal(read_text(&set, texts[i]), NETPROF_ERR_PARSE);
        rules_free(&set);
    }
    rules set = {0};
    assert_int_equal(rules_read(&set, "/nonexistent/rules.csv", NULL), NETPROF_ERR_IO);
    rules_free(&set);
}

// What the claim says of a rule "x" on a=10 b=4 z=0.
static void expect_claim(const char *claim, const char *expected)
{
    char text[512];
    rules set = {0};
    situation s;
    findings f = {0};
    snprintf(text, sizeof text, "name,source,value,warn,claim\nx,cxi,a,> 1,\"%s\"\n", claim);
    assert_int_equal(read_text(&set, text), NETPROF_OK);
    assert_int_equal(set.problem_count, 0);
    situation_make(&s, "cxi", "a=10 b=4 z=0 p_3=7 p_4=1");
    findings_make(&f, &s.d, &set);
    finding_claims_check(&f);
    assert_string_equal(f.items[0].claim, expected);
    findings_free(&f);
    situation_free(&s);
    rules_free(&set);
}

// A stretch in square brackets is said where its one number is known; other brackets are text.
static void stretches_of_claims(void **state)
{
    (void)state;
    expect_claim("{value}[, lane {which(p_*)|i}] here", "10, lane 3 here");
    expect_claim("{value}[, lane {which(q_*)|i}] here", "10 here");
    expect_claim("[{1 / (z > 0)|-}bad ][{1 / (b > 0)|-}good ]{b|#end}", "good 4 ends");
    expect_claim("[see below] {value} [{a} of {b}]", "[see below] 10 [10 of 4]");
    expect_claim("[{nothing}]", "");
}

static void thresholds_in_words(void **state)
{
    static const struct {
        const char *threshold, *text;
    } cases[] = {{"> 1%", "> 1 % of the time"},
                 {">= 0.000001", ">= 1 in a million of the time"},
                 {"> 0 [own] if a > 5 and b > 1", "> 0 % of the time, if a > 5 and b > 1"},
                 {">= 0 {1 % of them, or 10/s} [netdata] if a > 5", "1 % of them, or 10/s"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512], shown[RULES_THRESHOLD_TEXT];
        rules set = {0};
        snprintf(text, sizeof text, "name,source,value,unit,warn\nx,cxi,a,of the time,\"%s\"\n", cases[i].threshold);
        assert_int_equal(read_text(&set, text), NETPROF_OK);
        rules_threshold_text(set.items[0], &set.items[0]->thresholds[WARN], NULL, shown);
        assert_string_equal(shown, cases[i].text);
        rules_free(&set);
    }
}

static bool explains(const rule *cause, const rule *x, int steps)
{
    char name[64];
    for (const char *at = x->explained_by; *at && steps;) {
        size_t n = strcspn(at, ", ");
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        const rule *next = rules_find(&built_in, name);
        if (next == cause || (next && explains(cause, next, steps - 1))) return true;
        at += n + strspn(at + n, ", ");
    }
    return false;
}

static void no_rule_explains_itself(void **state)
{
    (void)state;
    for (size_t r = 0; r < built_in.count; r++)
        if (explains(built_in.items[r], built_in.items[r], 6)) fail_msg("%s: a circle", built_in.items[r]->name);
}

static void numbers_in_claims(void **state)
{
    static const struct {
        const char *format;
        double number;
        const char *text;
    } cases[] = {{"", 210, "210"},
                 {"", 73750, "73750"},
                 {"", 1062.3, "1.06 k"},
                 {"", 2.4e6, "2.40 M"},
                 {"", 0.5, "0.500"},
                 {"x", 5.6724, "5.67"},
                 {"x", 1234.5, "1234"},
                 {"%", 0.30124, "30.1 %"},
                 {"%", 0.0000858, "0.00858 %"},
                 {"%", 0.00000101, "0.000101 %"},
                 {"%", 7.88e-8, "< 0.0001 %"},
                 {"%", -7.88e-8, "> -0.0001 %"},
                 {"%", 0, "0 %"},
                 {"%", 12.34, "1234 %"},
                 {"x", 3e-5, "< 0.0001"},
                 {"", 3e-5, "< 0.0001"},
                 {"i", 3789560, "3789560"},
                 {"B", 2.5e9, "2.50 GB"},
                 {"b", 9.68e7, "96.8 Mb"},
                 {"e", 2.24e-11, "2.2e-11"},
                 {"t", 2.24e-11, "22.4 per Tbit"},
                 {"t", 2e-5, "20.0 M per Tbit"},
                 {"p", 0.01, "1 %"},
                 {"p", 0.0001, "0.0100 %"},
                 {"p", 4.7e-6, "4.70 in a million"},
                 {"p", 1e-6, "1 in a million"},
                 {"p", 3e-8, "30.0 in a billion"},
                 {"p", 2e-13, "0.200 in a trillion"},
                 {"p", 0, "0 %"},
                 {"s", 44.1, "44.1 s"},
                 {"s", 0.00379, "3.79 ms"},
                 {"-", 5, ""},
                 {"#packet", 1, "1 packet"},
                 {"#packet", 0.5, "0.500 packets"},
                 {"#packet", 2.4e6, "2.40 M packets"},
                 {"#entry/entries", 2, "2 entries"},
                 {"#entry/entries", 1, "1 entry"},
                 {"?was/were", 1, "was"},
                 {"?was/were", 3, "were"}};
    char text[32];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(rules_format(text, sizeof text, cases[i].format, cases[i].number), cases[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas),
        cmocka_unit_test(formulas_without_a_value),
        cmocka_unit_test(formulas_that_need_a_counter),
        cmocka_unit_test(words_of_severities),
        cmocka_unit_test(refused_formulas),
        cmocka_unit_test(patterns),
        cmocka_unit_test(thresholds),
        cmocka_unit_test(facts_are_evidence),
        cmocka_unit_test(a_reading_that_takes_long),
        cmocka_unit_test(long_readings_hide_nothing_else),
        cmocka_unit_test(a_clock_that_was_set),
        cmocka_unit_test(every_rule_and_step_has_a_case),
        cmocka_unit_test(every_rule_says_what_to_do),
        cmocka_unit_test(unknown_is_no_finding_and_not_silent),
        cmocka_unit_test(a_users_table),
        cmocka_unit_test(marks_of_rules),
        cmocka_unit_test(bad_lines_are_refused_with_their_number),
        cmocka_unit_test(tables_without_use),
        cmocka_unit_test(numbers_in_claims),
        cmocka_unit_test(stretches_of_claims),
        cmocka_unit_test(thresholds_in_words),
        cmocka_unit_test(no_rule_explains_itself),
        cmocka_unit_test(rules_in_plain_words),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
