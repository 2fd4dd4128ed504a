// Findings as JSON, whole: findings.json beside this file holds them of situations of every source. 10 seconds pass.
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
    golden_expect(made, "data/findings.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(documents_whole)};
    return cmocka_run_group_tests(tests, load, unload);
}
