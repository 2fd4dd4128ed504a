// Which ports of two nodes are linked, by what both counted; and what got lost between them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "netprof.h"

#include "builtin_rules.h"
#include "analysis/compare/link_pairs.h"
#include "analysis/rules/findings.h"
#include "situation.h"

// The finding of x-pair at one of two nodes, or NULL; f must be freed.
static const finding *lost_at(findings *f, const situation nodes[2], int receiver, const ends_pair *e)
{
    findings_far far = {.d = &nodes[!receiver].d, .devices = e->of[receiver]};
    findings_make_pair(f, &nodes[receiver].d, &far, &built_in);
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->items[i].rule->name, "x-pair") == 0) return &f->items[i];
    return NULL;
}

// a sends to b what the texts say; what b finds.
static severity judged(const char *source, const char *a, const char *b, char claim[200])
{
    situation nodes[2];
    findings f = {0};
    ends_pair e = {0};
    situation_make(&nodes[0], source, a);
    situation_make(&nodes[1], source, b);
    ends_find(&e, &nodes[0].d, &nodes[1].d);
    const finding *x = lost_at(&f, nodes, 1, &e);
    severity s = x ? x->severity : SEVERITY_OK;
    snprintf(claim, 200, "%s", x ? x->claim : "");
    findings_free(&f);
    assert_null(lost_at(&f, nodes, 0, &e)); // the other way all arrived
    findings_free(&f);
    ends_free(&e);
    for (int i = 0; i < 2; i++)
        situation_free(&nodes[i]);
    return s;
}

static void what_did_not_arrive(void **state)
{
    static const struct {
        const char *source, *a, *b;
        severity expected;
    } rows[] = {
        {"netdev", "tx_packets=1000000 rx_packets=7", "tx_packets=7 rx_packets=1000000", SEVERITY_OK},
        {"netdev", "tx_packets=999999 rx_packets=7", "tx_packets=7 rx_packets=999998",
         SEVERITY_INFO}, // too few to say more
        {"netdev", "tx_packets=1000000 rx_packets=7", "tx_packets=7 rx_packets=999999", SEVERITY_WATCH},
        {"netdev", "tx_packets=1000000 rx_packets=7", "tx_packets=7 rx_packets=999901", SEVERITY_WATCH},
        {"netdev", "tx_packets=1000000 rx_packets=7", "tx_packets=7 rx_packets=999900", SEVERITY_WARN},
        {"netdev", "tx_packets=9999 rx_packets=7", "tx_packets=7 rx_packets=9900", SEVERITY_INFO},
        // more came than was sent: others sent, too
        {"netdev", "tx_packets=1000000 rx_packets=7", "tx_packets=7 rx_packets=1000001", SEVERITY_OK},
        // no pair at all
        {"netdev", "tx_packets=1000000 rx_packets=7", "tx_packets=7 rx_packets=900000", SEVERITY_OK},
        {"rdma", "port_xmit_packets=1000000 port_rcv_packets=7", "port_xmit_packets=7 port_rcv_packets=999900",
         SEVERITY_WARN},
        {"netdev", "tx_packets=1000000 rx_packets=7", "tx_packets=7 rx_packets=999900r", SEVERITY_OK}, // reset: unknown
    };
    char claim[200];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        severity s = judged(rows[i].source, rows[i].a, rows[i].b, claim);
        if (s != rows[i].expected) fail_msg("%s, %s: %s", rows[i].a, rows[i].b, severity_name(s));
    }
    judged("netdev", "tx_packets=1000000 rx_packets=7", "tx_packets=7 rx_packets=999900", claim);
    assert_string_equal(claim, "100 of 1000000 packets that the other end sent did not arrive (0.0100 %)");
}

static void rails_find_their_other_ends(void **state)
{
    situation nodes[2];
    ends_pair e = {0};
    (void)state;
    // dev0 and dev1 are crossed over there; dev2 is idle on both
    situation_make(&nodes[0], "netdev",
                   "tx_packets=500000 rx_packets=30000 peer:tx_packets=200000 peer:rx_packets=80000 "
                   "peer2:tx_packets=10 peer2:rx_packets=11");
    situation_make(&nodes[1], "netdev",
                   "tx_packets=80000 rx_packets=199990 peer:tx_packets=30000 peer:rx_packets=500000 "
                   "peer2:tx_packets=11 peer2:rx_packets=10");
    ends_find(&e, &nodes[0].d, &nodes[1].d);
    assert_int_equal(e.count, 2);
    assert_int_equal(e.of[0][0], 1);
    assert_int_equal(e.of[0][1], 0);
    assert_int_equal(e.of[0][2], DIFFERENCE_NONE);
    assert_int_equal(e.of[1][0], 1);
    assert_int_equal(e.of[1][2], DIFFERENCE_NONE);
    assert_int_equal(e.links[1].sent[0], 200000);
    assert_int_equal(e.links[1].received[0], 199990);
    assert_int_equal(e.links[1].sent[1], 80000);
    assert_int_equal(e.links[1].received[1], 80000);
    assert_int_equal(e.apart_ns, 0);
    ends_free(&e);
    for (int i = 0; i < 2; i++)
        situation_free(&nodes[i]);
}

// Two ports over there fit as well as one another: nothing is said.
static void two_that_fit_are_none(void **state)
{
    situation nodes[2];
    ends_pair e = {0};
    (void)state;
    situation_make(&nodes[0], "netdev", "tx_packets=500000 rx_packets=30000");
    situation_make(&nodes[1], "netdev",
                   "tx_packets=30000 rx_packets=500000 peer:tx_packets=30001 peer:rx_packets=500001");
    ends_find(&e, &nodes[0].d, &nodes[1].d);
    assert_int_equal(e.count, 0);
    ends_free(&e);
    for (int i = 0; i < 2; i++)
        situation_free(&nodes[i]);
}

// What the rule says of the node's GPU, which was busy 1 % of the time while its port received so many packets of a million.
static severity gpu_waits(unsigned received, severity *lost)
{
    char text[400];
    situation nodes[2];
    findings f = {0};
    ends_pair e = {0};
    severity waits = SEVERITY_OK;
    situation_make(&nodes[0], "netdev", "tx_packets=1000000 rx_packets=7");
    snprintf(text, sizeof text,
             "@job=yes seen_time=300000000 busy_time=3000000 netdev/@speed_mbps=100000 netdev/rx_bytes=900000000 "
             "netdev/tx_bytes=700 netdev/tx_packets=7 netdev/rx_packets=%u",
             received);
    situation_make(&nodes[1], "gpu", text);
    ends_find(&e, &nodes[0].d, &nodes[1].d);
    const finding *x = lost_at(&f, nodes, 1, &e);
    *lost = x ? x->severity : SEVERITY_OK;
    for (size_t i = 0; i < f.count; i++)
        if (strcmp(f.items[i].rule->name, "x-gpu-wait") == 0) waits = f.items[i].severity;
    findings_free(&f);
    ends_free(&e);
    for (int i = 0; i < 2; i++)
        situation_free(&nodes[i]);
    return waits;
}

// "No rule found it losing" is not said beside a rule that did, be it one for devices of all sources.
static void a_gpu_may_wait_for_what_was_lost(void **state)
{
    severity lost;
    (void)state;
    assert_int_equal(gpu_waits(1000000, &lost), SEVERITY_INFO);
    assert_int_equal(lost, SEVERITY_OK);
    assert_int_equal(gpu_waits(999900, &lost), SEVERITY_OK);
    assert_int_equal(lost, SEVERITY_WARN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_did_not_arrive),
        cmocka_unit_test(rails_find_their_other_ends),
        cmocka_unit_test(two_that_fit_are_none),
        cmocka_unit_test(a_gpu_may_wait_for_what_was_lost),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
