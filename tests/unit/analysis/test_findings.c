// Findings on whole nodes: every scenario of the simulated Cassini node, a node of Ethernet and InfiniBand made of
// files, and a real node's two snapshots. The tables of what was planted and what was found first are printed.
#define _GNU_SOURCE // nftw
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "netprof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "builtin_rules.h"
#include "analysis/data/dataset.h"
#include "analysis/rules/findings.h"
#include "analysis/rules/findings_nodes.h"
#include "sim.h"
#include "situation.h"
#include "tree.h"
#include "finding_claims.h"

enum { NICS = 4, SECONDS = 10 };
static const int64_t SECOND = INT64_C(1000000000);

static netprof_snapshot snapshot_of(const char *root)
{
    netprof_config config = NETPROF_ZERO;
    netprof_snapshot s = NETPROF_ZERO;
    netprof *np = NULL;
    config.root = root;
    config.hold = NETPROF_HOLD_NONE;
    config.max_fds = 64;
    assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_OK);
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    netprof_close(np);
    return s;
}

// Sources without stamps of their own take the time of the sweep.
static void shift(netprof_snapshot *s, int64_t ns)
{
    s->begin_ns += ns;
    s->end_ns += ns;
    s->wall_ns += ns;
    for (size_t d = 0; d < s->schema->device_count; d++) {
        s->device_begin_ns[d] += ns;
        s->device_end_ns[d] += ns;
    }
}

typedef struct outcome {
    netprof_snapshot before, after;
    difference d;
    findings f;
} outcome;

static void judge(outcome *o)
{
    shift(&o->after, SECONDS * SECOND - (o->after.begin_ns - o->before.begin_ns));
    assert_int_equal(difference_of_snapshots(&o->d, &o->before, &o->after, false, NULL), NETPROF_OK);
    findings_make(&o->f, &o->d, &built_in);
    finding_claims_check(&o->f);
}

static void forget(outcome *o)
{
    findings_free(&o->f);
    difference_free(&o->d);
    netprof_snapshot_free(&o->before);
    netprof_snapshot_free(&o->after);
}

static const finding *find(const findings *f, const char *rule_name, const char *device)
{
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->items[i].rule->name, rule_name) == 0 &&
            (!device || !strcmp(finding_device(f, &f->items[i]), device)))
            return &f->items[i];
    return NULL;
}

static void print_outcome(const char *scenario, const char *planted, const findings *f)
{
    char first[96] = "-";
    size_t watch = 0;
    if (f->count)
        snprintf(first, sizeof first, "%s %s (%s)", severity_name(f->items[0].severity), f->items[0].rule->name,
                 finding_device(f, &f->items[0]));
    for (size_t i = 0; i < f->count; i++)
        watch += f->items[i].severity >= SEVERITY_WATCH;
    print_message("    %-22s %-26s %-50s %zu\n", scenario, planted ? planted : "-", first, watch);
}

static void print_head(const char *of)
{
    print_message("    %-22s %-26s %-50s %s\n", of, "planted", "first finding", "watch or worse");
}

// ---- the simulated Cassini node ----

static sim *make_node(const sim_options *options)
{
    tree_remove("");
    assert_int_equal(sim_create(tree_root, options), 0);
    sim *s = sim_open(tree_root);
    assert_non_null(s);
    assert_int_equal(sim_sync_clock(s), 0); // it keeps its files open from here on
    return s;
}

static void step(sim *s, const char *scenario, const int *nics, int count)
{
    assert_int_equal(
        sim_step(s, &(sim_step_options){.seconds = SECONDS, .scenario = scenario, .nics = nics, .nic_count = count}),
        0);
}

// On one NIC, or where the scenario likes.
static void run_scenario(outcome *o, sim *s, const char *scenario, const int *nic)
{
    *o = (outcome){0};
    step(s, strcmp(scenario, "wrap") == 0 ? "wrap" : "healthy", nic, nic != NULL);
    o->before = snapshot_of(tree_root);
    step(s, scenario, nic, nic != NULL);
    o->after = snapshot_of(tree_root);
    judge(o);
}

static const struct planted {
    const char *scenario, *rule; // NULL: no fault; then at most ...
    bool one;                    // hits one NIC: cxi2 here
    severity most;
} planted[] = {
    {"healthy", NULL, false, SEVERITY_INFO},
    {"idle", NULL, false, SEVERITY_INFO},
    {"light", NULL, false, SEVERITY_INFO},
    {"slack", NULL, false, SEVERITY_INFO},
    {"history", NULL, false, SEVERITY_WARN}, // days of mixed life: retries, late receives
    {"congestion", "egress-paused", false, 0},
    {"write-pressure", "host-write-back-pressure", false, 0},
    {"slow-reads", "host-read-latency", false, 0},
    {"incast", "ingress-paused", true, 0},
    {"link-corrected", "corrected-codewords", true, 0},
    {"link-uncorrected", "uncorrected-codewords", true, 0},
    {"link-replay", "link-retry", true, 0},
    {"link-flap", "link-flaps", true, 0},
    {"timeouts", "network-timeouts", true, 0},
    {"target-exhaustion", "target-resources", false, 0},
    {"match-overflow", "unexpected-messages", false, 0},
    {"match-depth", "match-depth", false, 0},
    {"translation-misses", "translation-misses", false, 0},
    {"unbalanced", "nic-peers", true, 0},
    {"small-messages", "packet-size", false, 0},
    {"event-queue-overflow", "event-queue-overflow", true, 0},
    {"cancelled", "cancelled", true, 0},
    {"shaping", "shaping", false, 0},
    {"pcie-degraded", "pcie-link", true, 0},
    {"wrap", NULL, true, SEVERITY_INFO},
    {"reset", "counter-reset", true, 0},
};
enum { PLANTED = sizeof planted / sizeof *planted };

static void expect_planted(const struct planted *p, const findings *f)
{
    print_outcome(p->scenario, p->rule, f);
    if (!p->rule && f->severity > p->most)
        fail_msg("%s: %s: %s", p->scenario, f->items[0].rule->name, f->items[0].claim);
    if (!p->rule) return;
    assert_true(f->count > 0);
    assert_string_equal(f->items[0].rule->name, p->rule);
    assert_true(f->items[0].severity >= SEVERITY_WATCH);
    if (p->one) assert_string_equal(finding_device(f, &f->items[0]), "cxi2");
    for (int nic = 0; nic < NICS; nic++) { // on all NICs that were hit, and on no other
        char name[16];
        snprintf(name, sizeof name, "cxi%d", nic);
        assert_int_equal(find(f, p->rule, name) != NULL, !p->one || nic == 2);
    }
}

static void every_scenario(const sim_options *options)
{
    sim *s = make_node(options);
    print_head(options->asic == 2 ? "scenario (Cassini-2)" : "scenario");
    for (int i = 0; sim_scenario_name(i); i++) {
        const int hit = 2;
        size_t p = 0;
        outcome o;
        while (p < PLANTED && strcmp(planted[p].scenario, sim_scenario_name(i)) != 0)
            p++;
        if (p == PLANTED) fail_msg("%s: a scenario without an expectation", sim_scenario_name(i));
        run_scenario(&o, s, planted[p].scenario, planted[p].one ? &hit : NULL);
        expect_planted(&planted[p], &o.f);
        forget(&o);
    }
    assert_int_equal(sim_close(s), 0);
}

static void planted_faults_are_found_first(void **state)
{
    (void)state;
    every_scenario(&(sim_options){.nics = NICS, .seed = 3});
}

static void on_cassini_2_with_global_pause(void **state)
{
    (void)state;
    every_scenario(&(sim_options){.nics = NICS, .seed = 5, .asic = 2, .global_pause = 1, .no_retry_handler = 0});
}

// Each on a NIC of its own.
static void two_faults_are_both_found(void **state)
{
    static const int pairs[][2] = {{9, 12}, {7, 20}, {10, 22}, {8, 19}, {11, 7}, {12, 10}};
    (void)state;
    sim *s = make_node(&(sim_options){.nics = NICS, .seed = 7});
    print_head("two scenarios");
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct planted *a = &planted[pairs[i][0]], *b = &planted[pairs[i][1]];
        char both[64];
        outcome o;
        const int hit = 1;
        snprintf(both, sizeof both, "%s,%s", a->scenario, b->scenario);
        run_scenario(&o, s, both, &hit);
        print_outcome(both, b->rule, &o.f);
        assert_non_null(find(&o.f, a->rule, "cxi1"));
        assert_non_null(find(&o.f, b->rule, "cxi1"));
        assert_string_equal(finding_device(&o.f, &o.f.items[0]), "cxi1");
        forget(&o);
    }
    assert_int_equal(sim_close(s), 0);
}

static void symptoms_name_their_cause(void **state)
{
    outcome o;
    (void)state;
    sim *s = make_node(&(sim_options){.nics = 3, .seed = 3});
    run_scenario(&o, s, "write-pressure", NULL);
    assert_string_equal(find(&o.f, "ingress-paused", "cxi0")->explained_by, "host-write-back-pressure");
    assert_null(o.f.items[0].explained_by);
    forget(&o);
    const int hit = 2;
    run_scenario(&o, s, "link-flap", &hit);
    assert_non_null(strstr(find(&o.f, "network-timeouts", "cxi2")->explained_by, "link-flaps"));
    assert_string_equal(find(&o.f, "eth-link-flap", NULL)->explained_by, "link-flaps"); // the NIC's own interface
    forget(&o);
    assert_int_equal(sim_close(s), 0);
}

static void unreadable_counters_are_unknown(void **state)
{
    sim *s = make_node(&(sim_options){.nics = 2});
    outcome o = {0};
    bool seen = false;
    (void)state;
    o.before = snapshot_of(tree_root);
    step(s, "healthy", NULL, 0);
    assert_int_equal(sim_fault(s, 1, "garbage", "hni_pcs_uncorrected_cw"), 0);
    o.after = snapshot_of(tree_root);
    sim_close(s);
    judge(&o);
    for (size_t i = 0; i < o.f.unknown_count; i++)
        seen |= strcmp(o.f.unknown[i].rule->name, "uncorrected-codewords") == 0 && o.f.unknown[i].device == 1;
    assert_true(seen);
    assert_int_equal(o.f.severity, SEVERITY_UNKNOWN);
    assert_int_equal(strncmp(o.f.verdict, "Could not be judged: cxi1: hni_pcs_uncorrected_cw: not a number (", 65), 0);
    assert_non_null(strstr(o.f.verdict, "/sys/class/cxi/cxi1/device/telemetry/hni_pcs_uncorrected_cw)"));
    forget(&o);
}

// ---- Ethernet, InfiniBand and TCP, made of files ----

// A counter and how much a healthy node adds to it in ten seconds. %d is the port: 0 and 1.
static const struct file_row {
    const char *path;
    uint64_t healthy;
} files[] = {
    {"sys/class/net/eth%d/statistics/rx_bytes", 10000000000},
    {"sys/class/net/eth%d/statistics/tx_bytes", 10000000000},
    {"sys/class/net/eth%d/statistics/rx_packets", 8000000},
    {"sys/class/net/eth%d/statistics/tx_packets", 8000000},
    {"sys/class/net/eth%d/statistics/rx_crc_errors", 0},
    {"sys/class/net/eth%d/statistics/rx_missed_errors", 0},
    {"sys/class/net/eth%d/statistics/rx_fifo_errors", 0},
    {"sys/class/net/eth%d/statistics/rx_length_errors", 0},
    {"sys/class/net/eth%d/statistics/rx_dropped", 100},
    {"sys/class/net/eth%d/statistics/tx_dropped", 0},
    {"sys/class/net/eth%d/carrier_down_count", 0},
    {"sys/class/net/eth%d/ifindex", 0},
    {"sys/class/infiniband/mlx5_%d/ports/1/counters/port_xmit_data", 5000000000},
    {"sys/class/infiniband/mlx5_%d/ports/1/counters/port_rcv_data", 5000000000},
    {"sys/class/infiniband/mlx5_%d/ports/1/counters/port_xmit_packets", 5000000},
    {"sys/class/infiniband/mlx5_%d/ports/1/counters/port_rcv_packets", 5000000},
    {"sys/class/infiniband/mlx5_%d/ports/1/counters/unicast_xmit_packets", 5000000},
    {"sys/class/infiniband/mlx5_%d/ports/1/counters/port_xmit_wait", 1000},
    {"sys/class/infiniband/mlx5_%d/ports/1/counters/port_xmit_discards", 0},
    {"sys/class/infiniband/mlx5_%d/ports/1/counters/port_rcv_errors", 0},
    {"sys/class/infiniband/mlx5_%d/ports/1/counters/symbol_error", 0},
    {"sys/class/infiniband/mlx5_%d/ports/1/counters/link_downed", 0},
    {"sys/class/infiniband/mlx5_%d/ports/1/counters/link_error_recovery", 0},
    {"sys/class/infiniband/mlx5_%d/ports/1/hw_counters/out_of_buffer", 0},
    {"sys/class/infiniband/mlx5_%d/ports/1/hw_counters/out_of_sequence", 0},
    {"sys/class/infiniband/mlx5_%d/ports/1/hw_counters/packet_seq_err", 0},
    {"sys/class/infiniband/mlx5_%d/ports/1/hw_counters/local_ack_timeout_err", 0},
    {"sys/class/infiniband/mlx5_%d/ports/1/hw_counters/rnr_nak_retry_err", 0},
    {"sys/class/infiniband/mlx5_%d/ports/1/hw_counters/np_ecn_marked_roce_packets", 0},
    {"sys/class/infiniband/mlx5_%d/ports/1/hw_counters/np_cnp_sent", 0},
    {"sys/class/infiniband/mlx5_%d/ports/1/hw_counters/rp_cnp_handled", 0},
    {"sys/class/infiniband/mlx5_%d/ports/1/hw_counters/rp_cnp_ignored", 0},
    {"sys/class/infiniband/mlx5_%d/ports/1/hw_counters/req_transport_retries_exceeded", 0},
};

static const struct host_case {
    const char *name;
    const char *words[6]; // "rx_crc_errors=500": more on port 1; "Tcp.RetransSegs=5": of the stack
    const char *rule, *device;
    const char *also; // a second fault, which must be found as well
} host_cases[] = {
    {"healthy", {0}, NULL, NULL, NULL},
    {"bad cable", {"rx_crc_errors=500"}, "eth-crc", "eth1", NULL},
    {"small ring", {"rx_missed_errors=4000"}, "eth-rx-ring-drop", "eth1", NULL},
    {"port went down", {"carrier_down_count=1", "rx_crc_errors=3"}, "eth-link-flap", "eth1", NULL},
    {"longer frames", {"rx_length_errors=5000"}, "eth-mtu-mismatch", "eth1", NULL},
    {"lost at sending", {"tx_dropped=200000"}, "eth-tx-drop", "eth1", NULL},
    {"nobody listens", {"rx_dropped=200000"}, "eth-rx-stack-drop", "eth1", NULL},
    {"full port", {"rx_bytes=110000000000"}, "eth-utilisation", "eth1", NULL},
    {"slow slot", {"/sys/class/net/eth1/device/current_link_width=8"}, "eth-pcie-degraded", "eth1", NULL},
    {"ib link down", {"link_downed=1", "port_xmit_discards=40"}, "ib-link-downed", "mlx5_1/1", NULL},
    {"ib cable", {"symbol_error=60", "port_rcv_errors=5"}, "ib-symbol-ber", "mlx5_1/1", NULL},
    {"ib congestion", {"port_xmit_wait=3000000000"}, "ib-xmit-wait", "mlx5_1/1", NULL},
    {"ib discards", {"port_xmit_discards=500"}, "ib-xmit-discards", "mlx5_1/1", NULL},
    {"peer lost", {"req_transport_retries_exceeded=1", "local_ack_timeout_err=8"}, "rdma-given-up", "mlx5_1/1", NULL},
    {"rdma timeouts", {"local_ack_timeout_err=8", "packet_seq_err=3"}, "rdma-timeout", "mlx5_1/1", NULL},
    {"rdma loss", {"packet_seq_err=6000", "out_of_sequence=50"}, "rdma-seq-nak", "mlx5_1/1", NULL},
    {"late receives", {"out_of_buffer=9000"}, "rdma-rnr-local", "mlx5_1/1", NULL},
    {"slow peer", {"rnr_nak_retry_err=9000"}, "rdma-rnr-remote", "mlx5_1/1", NULL},
    {"roce congestion", {"rp_cnp_handled=40000"}, "roce-cnp-throttled", "mlx5_1/1", NULL},
    {"dcqcn off", {"rp_cnp_ignored=100"}, "roce-cnp-ignored", "mlx5_1/1", NULL},
    {"no cnp", {"np_ecn_marked_roce_packets=4000"}, "roce-cnp-not-sent", "mlx5_1/1", NULL},
    {"tcp loss", {"Tcp.RetransSegs=60000", "TcpExt.TCPTimeouts=3"}, "tcp-retrans-ratio", "ip", NULL},
    {"tcp timers", {"TcpExt.TCPTimeouts=300"}, "tcp-rto", "ip", NULL},
    {"listen queue", {"TcpExt.ListenOverflows=200"}, "tcp-listen-overflow", "ip", NULL},
    {"slow udp reader", {"Udp.RcvbufErrors=50000"}, "udp-rcvbuf", "ip", NULL},
    {"busy core", {"softnet.dropped=500"}, "softnet-drop", "ip", NULL},
    {"ib port down", {"/sys/class/infiniband/mlx5_1/ports/1/state=1: DOWN\n"}, "ib-port-state", "mlx5_1/1", NULL},
    {"ib half rate",
     {"/sys/class/infiniband/mlx5_1/ports/1/rate=100 Gb/sec (2X HDR)\n"},
     "ib-rate-low",
     "mlx5_1/1",
     NULL},
    {"cable and small ring", {"rx_crc_errors=500", "rx_missed_errors=4000"}, "eth-crc", "eth1", "eth-rx-ring-drop"},
    {"ib cable, late receives",
     {"symbol_error=60", "out_of_buffer=9000"},
     "ib-symbol-ber",
     "mlx5_1/1",
     "rdma-rnr-local"},
    {"small ring, peer lost",
     {"rx_missed_errors=4000", "req_transport_retries_exceeded=1"},
     "rdma-given-up",
     "mlx5_1/1",
     "eth-rx-ring-drop"},
    {"tcp loss, slow reader",
     {"Tcp.RetransSegs=60000", "Udp.RcvbufErrors=50000"},
     "tcp-retrans-ratio",
     "ip",
     "udp-rcvbuf"},
};

static uint64_t extra(const struct host_case *c, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; c && i < 6 && c->words[i]; i++)
        if (strncmp(c->words[i], name, n) == 0 && c->words[i][n] == '=') return strtoull(c->words[i] + n + 1, NULL, 10);
    return 0;
}

static void write_number(const char *path, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%llu\n", (unsigned long long)number);
    tree_write(path, text);
}

static void write_stack(const struct host_case *c, uint64_t step_count)
{
    char text[1024];
    unsigned long long segments = 1000000 * step_count;
    snprintf(text, sizeof text,
             "Tcp: InSegs OutSegs RetransSegs ActiveOpens\nTcp: %llu %llu %llu %llu\n"
             "Udp: InDatagrams OutDatagrams RcvbufErrors\nUdp: %llu %llu %llu\n",
             segments, segments, (unsigned long long)extra(c, "Tcp.RetransSegs") + 10 * step_count,
             50 * step_count + 0ULL, segments, segments, (unsigned long long)extra(c, "Udp.RcvbufErrors"));
    tree_write("proc/net/snmp", text);
    snprintf(text, sizeof text, "TcpExt: TCPTimeouts ListenOverflows ListenDrops\nTcpExt: %llu %llu %llu\n",
             (unsigned long long)extra(c, "TcpExt.TCPTimeouts"), (unsigned long long)extra(c, "TcpExt.ListenOverflows"),
             (unsigned long long)extra(c, "TcpExt.ListenOverflows"));
    tree_write("proc/net/netstat", text);
    snprintf(text, sizeof text,
             "%08llx %08llx 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000\n", segments,
             (unsigned long long)extra(c, "softnet.dropped"));
    tree_write("proc/net/softnet_stat", text);
}

static void write_ports(const struct host_case *c, uint64_t step_count)
{
    static const struct {
        const char *path, *text;
    } facts[] = {{"sys/class/net/eth%d/speed", "100000\n"},
                 {"sys/class/net/eth%d/type", "1\n"},
                 {"sys/class/net/eth%d/carrier", "1\n"},
                 {"sys/class/net/eth%d/operstate", "up\n"},
                 {"sys/class/net/eth%d/device/current_link_width", "16\n"},
                 {"sys/class/net/eth%d/device/max_link_width", "16\n"},
                 {"sys/class/net/eth%d/device/current_link_speed", "16.0 GT/s PCIe\n"},
                 {"sys/class/net/eth%d/device/max_link_speed", "16.0 GT/s PCIe\n"},
                 {"sys/class/infiniband/mlx5_%d/hca_type", "MT4123\n"},
                 {"sys/class/infiniband/mlx5_%d/ports/1/state", "4: ACTIVE\n"},
                 {"sys/class/infiniband/mlx5_%d/ports/1/phys_state", "5: LinkUp\n"},
                 {"sys/class/infiniband/mlx5_%d/ports/1/rate", "200 Gb/sec (4X HDR)\n"},
                 {"sys/class/infiniband/mlx5_%d/ports/1/link_layer", "InfiniBand\n"}};
    char path[256];
    for (int port = 0; port < 2; port++) {
        for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
            snprintf(path, sizeof path, facts[i].path, port);
            tree_write(path, facts[i].text);
        }
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            snprintf(path, sizeof path, files[i].path, port);
            uint64_t more = port == 1 ? extra(c, strrchr(path, '/') + 1) : 0;
            write_number(path, 1000 + (uint64_t)port + files[i].healthy * step_count + more);
        }
    }
    for (size_t i = 0; c && i < 6 && c->words[i]; i++) { // a file as it is
        size_t n = strcspn(c->words[i], "=");
        if (c->words[i][0] != '/') continue;
        snprintf(path, sizeof path, "%.*s", (int)n - 1, c->words[i] + 1);
        tree_write(path, c->words[i] + n + 1);
    }
}

static void a_node_of_ethernet_and_infiniband(void **state)
{
    (void)state;
    print_head("node made of files");
    for (size_t i = 0; i < sizeof host_cases / sizeof *host_cases; i++) {
        const struct host_case *c = &host_cases[i];
        outcome o = {0};
        tree_remove("");
        assert_int_equal(mkdir(tree_root, 0777), 0);
        write_ports(NULL, 1);
        write_stack(NULL, 1);
        o.before = snapshot_of(tree_root);
        write_ports(c, 2);
        write_stack(c, 2);
        o.after = snapshot_of(tree_root);
        judge(&o);
        print_outcome(c->name, c->rule, &o.f);
        if (!c->rule && o.f.severity > SEVERITY_INFO) fail_msg("%s: %s", c->name, o.f.verdict);
        if (c->rule) {
            assert_true(o.f.count > 0);
            assert_string_equal(o.f.items[0].rule->name, c->rule);
            assert_string_equal(finding_device(&o.f, &o.f.items[0]), c->device);
            assert_true(o.f.items[0].severity >= SEVERITY_WATCH);
        }
        if (c->also) assert_non_null(find(&o.f, c->also, NULL));
        forget(&o);
    }
}

// ---- a real node ----

static void read_aurora(dataset *set)
{
    static const char *const names[] = {"before.txt", "after.txt"};
    for (size_t i = 0; i < 2; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/../shared/data/aurora/%s", NETPROF_TEST_TOP, names[i]);
        if (access(path, R_OK)) skip();
        assert_int_equal(dataset_read(set, path, NULL, NULL), NETPROF_OK);
    }
}

// Figures by arithmetic on the files: 3789560/668078 and 3563726/632889 cycles per packet, 210 codewords on cxi3
// and 9, 3, 38 on the others.
static void aurora_is_nearly_idle(void **state)
{
    dataset set = {0};
    difference d = {0};
    findings f = {0};
    (void)state;
    read_aurora(&set);
    assert_int_equal(difference_of_dataset(&d, &set, false, NULL), NETPROF_OK);
    findings_make(&f, &d, &built_in);
    finding_claims_check(&f);
    print_message("    %s\n", f.verdict);
    assert_int_equal(f.severity, SEVERITY_INFO);
    assert_non_null(strstr(f.verdict, "no fault found on cxi0-cxi3"));
    const finding *writes = find(&f, "host-write-back-pressure", "cxi2");
    assert_non_null(strstr(writes->claim, "(3.79 ms of 44.1 s), 5.67 blocked cycles per PCIe write"));
    assert_non_null(strstr(writes->claim, "100 % of the traffic was plain Ethernet (IP), not RDMA"));
    assert_true(writes->cost_s > 0.003789 && writes->cost_s < 0.00379);
    assert_non_null(strstr(find(&f, "host-write-back-pressure", "cxi3")->claim, "5.63 blocked cycles"));
    const finding *margin = find(&f, "corrected-codewords", "cxi3");
    assert_non_null(margin);
    assert_int_equal(margin->severity, SEVERITY_INFO);
    assert_int_equal(margin->evidence[0].value, 210);
    assert_null(find(&f, "corrected-codewords", "cxi0"));
    assert_non_null(strstr(margin->claim, "lane 3 has 97.6 % of the lanes' errors"));
    assert_null(find(&f, "drops", NULL));
    const finding *multicast = find(&f, "drops-unclaimed", "cxi0"); // that all NICs reject alike is said, and no fault
    assert_int_equal(multicast->severity, SEVERITY_INFO);
    assert_int_equal(multicast->alike, 4);
    assert_non_null(strstr(multicast->claim, "; alike on all 4 NICs: multicast"));
    findings_free(&f);
    difference_free(&d);
    dataset_free(&set);
}

// ---- details ----

static void an_outlier_is_compared_with_its_peers(void **state)
{
    situation s;
    findings f = {0};
    (void)state;
    situation_make(&s, "cxi", "@cassini_version=1.1 hni_tx_paused_1=3000000000 peer:hni_tx_paused_1=1000000");
    findings_make(&f, &s.d, &built_in);
    finding_claims_check(&f);
    assert_string_equal(
        f.items[0].claim,
        "transmit blocked by the network 30 % of the time (3 s of 10 s, priority 1); its peer 0.0100 %");
    assert_true(f.items[0].cost_s == 3);
    assert_int_equal(f.items[0].peers, 1);
    findings_free(&f);
    situation_free(&s);
}

// Errors that all ports of a node see alike are of what they are connected to: named once, with the least and the most.
// Alike is within 1 %, or one event where there are five; of two ports nobody can say.
static void errors_of_all_alike_are_background(void **state)
{
    static const struct {
        const char *readings;
        size_t found;
        uint64_t min, max;
        size_t devices;
    } all[] = {
        {"x_errors=1000 peer:x_errors=1000 peer2:x_errors=1000", 1, 1000, 1000, 3},
        {"x_errors=1000 peer:x_errors=1010 peer2:x_errors=1005 peer3:x_errors=1001", 1, 1000, 1010, 4},
        {"x_errors=1000 peer:x_errors=1011 peer2:x_errors=1000", 0, 0, 0, 0},
        {"x_errors=5 peer:x_errors=6 peer2:x_errors=5", 1, 5, 6, 3},
        {"x_errors=5 peer:x_errors=7 peer2:x_errors=5", 0, 0, 0, 0},
        {"x_errors=4 peer:x_errors=5 peer2:x_errors=4", 0, 0, 0, 0}, // too few to be alike by more than chance
        {"x_errors=4 peer:x_errors=4 peer2:x_errors=4", 1, 4, 4, 3},
        {"x_errors=1000 peer:x_errors=1000", 0, 0, 0, 0},
        {"x_errors=1000 peer:x_errors=1000 peer2:x_errors=0", 0, 0, 0, 0},
        {"x_errors=1000 peer:x_errors=1000 peer2:x_errors=1000r", 0, 0, 0, 0},
        {"x_errors=1000 peer:x_errors=1000 peer2:y_errors=1000", 0, 0, 0, 0},
        {"x_packets=1000 peer:x_packets=1000 peer2:x_packets=1000", 0, 0, 0, 0}, // no trouble
        {"rdma/x_errors=9 peer:rdma/x_errors=9 peer2:rdma/x_errors=9 x_errors=8 peer:x_errors=8 peer2:x_errors=8", 2, 9,
         9, 3},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        situation s;
        findings f = {0};
        situation_make(&s, "cxi", all[i].readings);
        findings_make(&f, &s.d, &built_in);
        finding_claims_check(&f);
        if (f.background_count != all[i].found) fail_msg("%s: %zu", all[i].readings, f.background_count);
        if (all[i].found) {
            const finding_background *b = &f.background[0];
            assert_string_equal(b->counter, "x_errors");
            assert_true(b->min == all[i].min && b->max == all[i].max && b->devices == all[i].devices);
        }
        findings_free(&f);
        situation_free(&s);
    }
}

// A low rate that is alike on three devices is said as info; a loss never, however alike.
static void only_a_low_rate_is_background(void **state)
{
    static const struct {
        const char *counter;
        unsigned values[3];
        const char *rule, *says; // "" nothing
        severity expected;
    } rows[] = {
        {"ixe_rx_pkt_drop_rmu_norsp",
         {990, 990, 999},
         "drops-unclaimed",
         "; alike on all 3 NICs (990 packets",
         SEVERITY_INFO},
        {"ixe_rx_pkt_drop_rmu_norsp", {900, 900, 990}, "drops-unclaimed", "", SEVERITY_HIGH}, // not alike to 1 %
        {"ixe_rx_pkt_drop_rmu_norsp",
         {1001, 1001, 1001},
         "drops-unclaimed",
         "alike on all 3 NICs: ",
         SEVERITY_HIGH}, // 100/s
        {"hni_rx_bad_opt", {9, 9, 9}, "bad-frames", "alike on all 3 NICs: damage on every link", SEVERITY_WATCH},
        {"hni_rx_bad_ieee", {5000000, 5000000, 5000000}, "bad-frames", "alike on all 3 NICs: ", SEVERITY_HIGH},
        {"hni_pfc_fifo_oflw_cntr_0",
         {5000000, 5000000, 5000000},
         "drops",
         "the fabric's or the node's configuration",
         SEVERITY_HIGH},
        {"hni_discard_cntr_0",
         {5000000, 5000000, 5000000},
         "drops",
         "counts the beginnings of discarding",
         SEVERITY_HIGH},
        {"hni_discard_cntr_0",
         {5000000, 0, 0},
         "drops",
         "counts the beginnings of discarding: a lower bound",
         SEVERITY_HIGH},
        {"ixe_rx_pkt_drop_rmu_norsp", {5000000, 0, 0}, "drops-unclaimed", "erratum 3115", SEVERITY_HIGH},
        {"hni_pcs_uncorrected_cw", {50, 50, 50}, "uncorrected-codewords", "alike on all 3 NICs", SEVERITY_HIGH},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512];
        situation s;
        findings f = {0};
        snprintf(text, sizeof text,
                 "@port_speed=BS_200G peer:@port_speed=BS_200G peer2:@port_speed=BS_200G %s=%u peer:%s=%u peer2:%s=%u",
                 rows[i].counter, rows[i].values[0], rows[i].counter, rows[i].values[1], rows[i].counter,
                 rows[i].values[2]);
        situation_make(&s, "cxi", text);
        findings_make(&f, &s.d, &built_in);
        finding_claims_check(&f);
        const finding *x = find(&f, rows[i].rule, "dev0");
        if (!x) fail_msg("%s: not found", text);
        if (x->severity != rows[i].expected) fail_msg("%s: %s", text, severity_name(x->severity));
        if (!strstr(x->claim, rows[i].says)) fail_msg("%s: '%s' without '%s'", text, x->claim, rows[i].says);
        findings_free(&f);
        situation_free(&s);
    }
}

// Where the whole node is held, no NIC is named; where one is not, or differs, they are.
static void what_is_alike_names_no_single_device(void **state)
{
    static const struct {
        const char *counters, *begins;
    } rows[] = {
        {"hni_tx_paused_0=3000000000 peer:hni_tx_paused_0=2800000000 peer2:hni_tx_paused_0=3200000000",
         "Serious: all 3 NICs: transmit blocked by the network 32 % of the time (3.20 s of 10 s, priority 0); alike on "
         "all 3 "
         "NICs (28.0 % to 32 %): the fabric or the receivers, not one NIC of this node"},
        {"hni_tx_paused_0=3000000000 peer:hni_tx_paused_0=2800000000", "Serious: both NICs: transmit blocked"},
        {"hni_tx_paused_0=900000000 peer:hni_tx_paused_0=1100000000 peer2:hni_tx_paused_0=1000000000",
         "Serious: all 3 NICs: transmit blocked"}, // across a step
        {"hni_tx_paused_0=3000000000 peer:hni_tx_paused_0=1000000000 peer2:hni_tx_paused_0=3200000000",
         "Serious: dev2 and 2 others: transmit blocked"}, // one has a third of another
        {"hni_tx_paused_0=3000000000 peer:hni_tx_paused_0=0 peer2:hni_tx_paused_0=3200000000",
         "Serious: dev2 and another: transmit blocked"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        situation s;
        findings f = {0};
        situation_make(&s, "cxi", rows[i].counters);
        findings_make(&f, &s.d, &built_in);
        finding_claims_check(&f);
        if (strncmp(f.verdict, rows[i].begins, strlen(rows[i].begins)) != 0)
            fail_msg("%s: %s", rows[i].counters, f.verdict);
        findings_free(&f);
        situation_free(&s);
    }
}

static void gpus_far_below_their_clock(void **state)
{
    static const char *const one =
        "%sclock_max=1980>1980 %sloaded_time=10000000 %sreason_hardware=0 %sreason_thermal=0 "
        "%sloaded_cycles=6000000000 ";
    char text[2048] = "";
    situation s;
    findings f = {0};
    (void)state;
    for (int i = 0; i < 3; i++) {
        const char *at = i == 0 ? "" : i == 1 ? "peer:" : "peer2:";
        snprintf(text + strlen(text), sizeof text - strlen(text), one, at, at, at, at, at);
    }
    situation_make(&s, "gpu", text);
    findings_make(&f, &s.d, &built_in);
    finding_claims_check(&f);
    assert_string_equal(f.items[0].rule->name, "gpu-clock-drop");
    assert_int_equal(f.items[0].severity, SEVERITY_WARN);
    assert_int_equal(strncmp(f.verdict, "Warning: all 3 GPUs: under load this GPU ran at 600 MHz of 1980 MHz", 67), 0);
    assert_true(f.items[0].cost_s > 6.96 && f.items[0].cost_s < 6.98); // 1 - 600 / 1980 of 10 s
    findings_free(&f);
    situation_free(&s);
}

// Of equally bad findings what cost more comes first, whatever its class; what is repaired never leads what is lost.
static void the_dearer_comes_first(void **state)
{
    static const struct {
        const char *counters, *order[4];
    } rows[] = {
        {"hni_pcs_corrected_cw=7000000 parbs_tarb_pi_posted_pkts=900 parbs_tarb_pi_posted_blocked_cnt=8900000000 "
         "hni_tx_paused_1=9000000000",
         {"egress-paused", "host-write-back-pressure", "corrected-codewords"}},
        {"hni_pcs_corrected_cw=7000000 parbs_tarb_pi_posted_pkts=900 parbs_tarb_pi_posted_blocked_cnt=9100000000 "
         "hni_tx_paused_1=9000000000",
         {"host-write-back-pressure", "egress-paused", "corrected-codewords"}},
        {"hni_pcs_corrected_cw=30000000 hni_pcs_uncorrected_cw=2", {"uncorrected-codewords", "corrected-codewords"}},
        {"hni_pcs_corrected_cw=30000000 hni_pcs_uncorrected_cw=20 hni_llr_tx_replay_event=50",
         {"uncorrected-codewords", "link-retry", "corrected-codewords"}},
        {"hni_rx_bad_opt=50 hni_llr_rx_replay_event=50", {"bad-frames", "link-retry"}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512];
        situation s;
        findings f = {0};
        snprintf(text, sizeof text, "@cassini_version=1.1 @port_speed=BS_200G %s", rows[i].counters);
        situation_make(&s, "cxi", text);
        findings_make(&f, &s.d, &built_in);
        finding_claims_check(&f);
        for (size_t k = 0; k < 4 && rows[i].order[k]; k++) {
            if (k >= f.count || strcmp(f.items[k].rule->name, rows[i].order[k]) != 0)
                fail_msg("%s: place %zu is %s", rows[i].counters, k, k < f.count ? f.items[k].rule->name : "empty");
            assert_null(strstr(f.items[k].rule->advice, "Nothing was lost"));
        }
        findings_free(&f);
        situation_free(&s);
    }
    situation s;
    findings f = {0};
    situation_make(&s, "cxi", "hni_rx_bad_opt=50 hni_llr_rx_replay_event=50");
    findings_make(&f, &s.d, &built_in);
    finding_claims_check(&f);
    assert_string_equal(f.items[1].explained_by, "bad-frames");
    assert_string_equal(f.items[1].claim, "link-level retry resent packets 50 times by its partner in 10 s (5/s)");
    findings_free(&f);
    situation_free(&s);
}

// A timer that ran out is worse than a segment sent again, and not explained by it.
static void a_timer_is_no_symptom_of_repeats(void **state)
{
    situation s;
    findings f = {0};
    (void)state;
    situation_make(&s, "ip", "Tcp/OutSegs=1000000 Tcp/InSegs=1000000 Tcp/RetransSegs=10000 TcpExt/TCPTimeouts=20");
    findings_make(&f, &s.d, &built_in);
    finding_claims_check(&f);
    assert_string_equal(f.items[0].rule->name, "tcp-rto");
    assert_null(f.items[0].explained_by);
    assert_string_equal(f.items[0].claim,
                        "a sender waited for its timer 20 times in 10 s, 0.2 s or more each, 4 s in all");
    assert_true(f.items[0].cost_s == 4);
    assert_string_equal(f.items[1].rule->name, "tcp-retrans-ratio");
    findings_free(&f);
    situation_free(&s);
}

// A link that was lost is one event: that it went down explains itself by that, and comes behind it.
static void a_lost_link_explains_its_flap(void **state)
{
    situation s;
    findings f = {0};
    (void)state;
    situation_make(&s, "netdev", "@speed_mbps=100000 carrier=1>0 carrier_down_count=1 rx_packets=5 tx_packets=5");
    findings_make(&f, &s.d, &built_in);
    finding_claims_check(&f);
    assert_string_equal(f.items[0].rule->name, "link-lost");
    assert_non_null(find(&f, "eth-link-flap", NULL)->explained_by);
    assert_string_equal(find(&f, "eth-link-flap", NULL)->explained_by, "link-lost");
    findings_free(&f);
    situation_free(&s);
    situation_make(&s, "cxi", "@netdev=dev0 properties/link=1>0 netdev/carrier_down_count=1 netdev/carrier=1>0");
    findings_make(&f, &s.d, &built_in);
    finding_claims_check(&f);
    assert_string_equal(f.items[0].rule->name, "link-lost");
    assert_string_equal(find(&f, "link-flaps", NULL)->explained_by, "link-lost");
    findings_free(&f);
    situation_free(&s);
    situation_make(&s, "rdma", "@rate_bps=100000000000 state=4>1 link_downed=1");
    findings_make(&f, &s.d, &built_in);
    finding_claims_check(&f);
    assert_string_equal(f.items[0].rule->name, "ib-port-state");
    assert_string_equal(find(&f, "ib-link-downed", NULL)->explained_by, "ib-port-state");
    findings_free(&f);
    situation_free(&s);
}

static void loopback_is_said(void **state)
{
    situation s;
    findings f = {0};
    (void)state;
    situation_make(&s, "ip",
                   "TcpExt/TCPToZeroWindowAdv=3340 IpExt/InOctets=900000000 IpExt/OutOctets=900000000 "
                   "netdev/rx_bytes=1500 netdev/tx_bytes=1500");
    findings_make(&f, &s.d, &built_in);
    finding_claims_check(&f);
    const finding *x = find(&f, "tcp-zero-window", NULL);
    assert_int_equal(x->severity, SEVERITY_INFO);
    assert_string_equal(
        x->claim,
        "programs on this node (the counter is the whole node's) stopped their peers 3340 times in 10 s (334/s) by "
        "not reading, within this node: its ports carried next to nothing of it");
    findings_free(&f);
    situation_free(&s);
}

// Evidence of several devices says whose it is; a gauge does not repeat its name as a unit.
static void evidence_says_whose_it_is(void **state)
{
    situation s;
    findings f = {0};
    rules set = {0};
    static const char table[] = "name,source,per,value,unit,warn,claim\n"
                                "balance,cxi,node,spread(hni_sts_tx_octets_opt),times the mean,> 1.5,"
                                "this NIC moved {value|x} times the mean of the node's {DEVICES|#NIC}\n";
    (void)state;
    assert_int_equal(rules_read_text(&set, "table", table, sizeof table - 1, NULL), NETPROF_OK);
    situation_make(&s, "cxi",
                   "@port_speed=BS_200G peer:@port_speed=BS_200G hni_sts_tx_octets_opt=90000000000 "
                   "peer:hni_sts_tx_octets_opt=10000000000");
    findings_make(&f, &s.d, &set);
    finding_claims_check(&f);
    const finding *x = find(&f, "balance", NULL);
    assert_int_equal(x->severity, SEVERITY_WARN);
    assert_int_equal(x->evidence_count, 2);
    assert_string_equal(finding_evidence_device(&f, x, &x->evidence[0]), "dev0");
    assert_string_equal(finding_evidence_device(&f, x, &x->evidence[1]), "dev1");
    assert_string_equal(x->claim, "this NIC moved 1.80 times the mean of the node's 2 NICs");
    findings_free(&f);
    situation_free(&s);
    rules_free(&set);
}

// Rule x-throttle-chain: a host that gives the job no CPU comes before what the network suffers from it, at equal badness.
static void the_host_comes_before_its_victims(void **state)
{
    static const struct {
        const char *counters, *first, *second;
    } rows[] = {
        {"rx_packets=1000000 rx_missed_errors=200 cgroup/periods=100 cgroup/throttled_periods=60", "cgroup-throttle",
         "eth-rx-ring-drop"},
        {"rx_packets=1000000 rx_missed_errors=200 process/cpu_user=4000000 process/cpu_system=0 "
         "process/run_queue_wait=2000000000",
         "runqueue-wait", "eth-rx-ring-drop"},
        {"rx_packets=1000000 rdma/port_rcv_packets=1000000 rdma/out_of_buffer=500 cgroup/periods=100 "
         "cgroup/throttled_periods=60",
         "cgroup-throttle", "rdma-rnr-local"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        situation s;
        findings f = {0};
        situation_make(&s, "netdev", rows[i].counters);
        findings_make(&f, &s.d, &built_in);
        finding_claims_check(&f);
        assert_int_equal(f.count, 2);
        assert_string_equal(f.items[0].rule->name, rows[i].first);
        assert_null(f.items[0].explained_by);
        assert_string_equal(f.items[1].rule->name, rows[i].second);
        assert_string_equal(f.items[1].explained_by, rows[i].first);
        findings_free(&f);
        situation_free(&s);
    }
}

static const char *text_of(json_object *o, const char *key)
{
    json_object *value = NULL;
    return json_object_object_get_ex(o, key, &value) ? json_object_get_string(value) : "";
}

static void as_json(void **state)
{
    situation s;
    findings f = {0};
    json_object *verdict, *list, *first, *threshold, *evidence;
    (void)state;
    situation_make(&s, "cxi", "@cassini_version=1.1 @speed_mbps=200000 hni_tx_paused_1=3000000000 pct_spt_timeouts=4r");
    findings_make(&f, &s.d, &built_in);
    finding_claims_check(&f);
    json_object *o = findings_json(&f);
    assert_string_equal(text_of(o, "format"), "netprof-findings");
    assert_string_equal(text_of(o, "version"), "2");
    assert_true(json_object_object_get_ex(o, "verdict", &verdict));
    assert_string_equal(text_of(verdict, "severity"), "high");
    assert_string_equal(text_of(verdict, "text"), f.verdict);
    assert_true(json_object_object_get_ex(o, "findings", &list));
    first = json_object_array_get_idx(list, 0);
    assert_string_equal(text_of(first, "rule"), "egress-paused");
    assert_string_equal(text_of(first, "severity"), "high");
    assert_string_equal(text_of(first, "device"), "dev0");
    assert_true(json_object_object_get_ex(first, "threshold", &threshold));
    assert_string_equal(text_of(threshold, "value"), "0.1");
    assert_string_equal(text_of(threshold, "origin"), "own");
    assert_true(json_object_object_get_ex(first, "evidence", &evidence));
    assert_string_equal(text_of(json_object_array_get_idx(evidence, 0), "counter"), "hni_tx_paused_1");
    assert_string_equal(text_of(json_object_array_get_idx(evidence, 0), "value"), "3000000000");
    assert_string_equal(text_of(json_object_array_get_idx(evidence, 0), "unit"), "cycles");
    assert_true(*text_of(first, "advice"));
    assert_true(json_object_object_get_ex(o, "unknown", &list));
    assert_string_equal(text_of(json_object_array_get_idx(list, 0), "reason"), "reset");
    json_object_put(o);
    findings_free(&f);
    situation_free(&s);
}

// Only nodes of different names are held against each other: one name twice, at whatever places, is one node twice.
static void nodes_of_one_name_are_not_compared(void **state)
{
    static const struct {
        const char *names[3];
        bool compared;
    } cases[] = {{{"n1", "n2", "n3"}, true},  {{"n1", "n1", "n3"}, false}, {{"n1", "n2", "n1"}, false},
                 {{"n1", "n2", "n2"}, false}, {{"n1", "n2", ""}, false},   {{"n1", NULL, "n3"}, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        situation s[3];
        findings f[3];
        findings_node nodes[3];
        size_t said = 0;
        for (size_t k = 0; k < 3; k++) {
            f[k] = (findings){0};
            situation_make(&s[k], "netdev", k == 1 ? "@mtu=1500 rx_bytes=1000" : "@mtu=9000 rx_bytes=1000");
            findings_make(&f[k], &s[k].d, &built_in);
            nodes[k] = (findings_node){.name = cases[i].names[k], .f = &f[k]};
        }
        findings_compare_nodes(nodes, 3, &built_in);
        for (size_t k = 0; k < 3; k++)
            for (size_t n = 0; n < f[k].count; n++) {
                if (strcmp(f[k].items[n].rule->name, "node-settings") != 0) continue;
                assert_int_equal(k, 1); // the odd one
                said++;
            }
        assert_int_equal(said, cases[i].compared);
        for (size_t k = 0; k < 3; k++) {
            findings_free(&f[k]);
            situation_free(&s[k]);
        }
    }
}

static void nothing_to_judge(void **state)
{
    situation s;
    findings f = {0};
    (void)state;
    situation_make(&s, "user", "steps=7");
    findings_make(&f, &s.d, &(rules){0});
    assert_int_equal(f.judged, 0);
    assert_int_equal(f.severity, SEVERITY_UNKNOWN); // never "ok"
    assert_true(f.is_blind);
    assert_string_equal(f.verdict, "Could not be judged: no rule found its counters");
    findings_free(&f);
    situation_free(&s);
}

// Rules about the node as a whole are asked even where there is nothing to read.
static void a_node_without_devices(void **state)
{
    static const char text[] = "{\"format\":\"netprof\",\"version\":1,\"schemas\":[{\"sources\":[],\"devices\":[]}],"
                               "\"snapshots\":[{\"schema\":0,\"set\":\"all\",\"begin_ns\":1000,\"end_ns\":2000,"
                               "\"wall_ns\":1000,\"devices\":[]},{\"schema\":0,\"set\":\"all\",\"begin_ns\":3000,"
                               "\"end_ns\":4000,\"wall_ns\":3000,\"devices\":[]}]}";
    dataset set = {0};
    difference d = {0};
    findings f = {0};
    (void)state;
    assert_int_equal(dataset_read_memory(&set, "empty.json", text, sizeof text - 1, NULL, NULL), NETPROF_OK);
    assert_int_equal(difference_of_dataset(&d, &set, false, NULL), NETPROF_OK);
    assert_int_equal(d.delta->schema->device_count, 0);
    findings_make(&f, &d, &built_in);
    finding_claims_check(&f);
    assert_int_equal(f.judged, 0);
    assert_int_equal(f.count, 0);
    assert_int_equal(f.severity, SEVERITY_UNKNOWN);
    assert_string_equal(f.verdict, "Could not be judged: no rule found its counters");
    findings_free(&f);
    difference_free(&d);
    dataset_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(planted_faults_are_found_first, tree_setup, tree_teardown),
        cmocka_unit_test_setup_teardown(on_cassini_2_with_global_pause, tree_setup, tree_teardown),
        cmocka_unit_test_setup_teardown(two_faults_are_both_found, tree_setup, tree_teardown),
        cmocka_unit_test_setup_teardown(symptoms_name_their_cause, tree_setup, tree_teardown),
        cmocka_unit_test_setup_teardown(unreadable_counters_are_unknown, tree_setup, tree_teardown),
        cmocka_unit_test_setup_teardown(a_node_of_ethernet_and_infiniband, tree_setup, tree_teardown),
        cmocka_unit_test(aurora_is_nearly_idle),
        cmocka_unit_test(an_outlier_is_compared_with_its_peers),
        cmocka_unit_test(only_a_low_rate_is_background),
        cmocka_unit_test(errors_of_all_alike_are_background),
        cmocka_unit_test(what_is_alike_names_no_single_device),
        cmocka_unit_test(gpus_far_below_their_clock),
        cmocka_unit_test(the_dearer_comes_first),
        cmocka_unit_test(a_timer_is_no_symptom_of_repeats),
        cmocka_unit_test(a_lost_link_explains_its_flap),
        cmocka_unit_test(loopback_is_said),
        cmocka_unit_test(evidence_says_whose_it_is),
        cmocka_unit_test(the_host_comes_before_its_victims),
        cmocka_unit_test(as_json),
        cmocka_unit_test(nodes_of_one_name_are_not_compared),
        cmocka_unit_test(nothing_to_judge),
        cmocka_unit_test(a_node_without_devices),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
