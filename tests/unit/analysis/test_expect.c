// What is expected of a node, and how the command of a run ended.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "netprof.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "builtin_rules.h"
#include "analysis/base/stb_ds.h"
#include "analysis/rules/findings.h"
#include "situation.h"
#include "finding_claims.h"

static void lists_of_names(void **state)
{
    static const struct {
        const char *list;
        size_t count;
        const char *first, *last;
        double bits_per_s;
    } good[] = {{"cxi0", 1, "cxi0", "cxi0", 0},
                {"cxi0-7", 8, "cxi0", "cxi7", 0},
                {"cxi8-cxi11@200G", 4, "cxi8", "cxi11", 200e9},
                {"hsn0,mlx5_0/1@2.5Gb/s", 2, "hsn0", "mlx5_0/1", 2.5e9},
                {"br-0", 1, "br-0", "br-0", 0},                   // no number before the dash
                {"enp1s0f7-3", 1, "enp1s0f7-3", "enp1s0f7-3", 0}, // no range that ends after it begins
                {"port08-11", 4, "port08", "port11", 0},          // as wide as the first
                {"port098-port102", 5, "port098", "port102", 0},
                {"a0-2047,b0-2047", 4096, "a0", "b2047", 0},
                {"eth0@100000M", 1, "eth0", "eth0", 100e9}};
    static const char *const bad[] = {"",         "cxi0,", "cxi0@",    "cxi0@fast",  "cxi0@200",
                                      "cxi0@-1G", "@200G", "cxi[0-3]", "cxi0-99999", "a0-2047,b0-2048"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        expected_devices x = {0};
        char *problem = NULL;
        assert_true(expected_parse(&x, good[i].list, &problem));
        assert_int_equal(arrlenu(x.items), good[i].count);
        assert_string_equal(x.items[0].name, good[i].first);
        assert_string_equal(x.items[good[i].count - 1].name, good[i].last);
        assert_true(x.items[good[i].count - 1].bits_per_s == good[i].bits_per_s);
        expected_free(&x);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        expected_devices x = {0};
        char *problem = NULL;
        if (expected_parse(&x, bad[i], &problem)) fail_msg("'%s' was taken", bad[i]);
        assert_non_null(problem);
        free(problem);
        expected_free(&x);
    }
}

static const finding *find(const findings *f, const char *rule_name)
{
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->items[i].rule->name, rule_name) == 0) return &f->items[i];
    return NULL;
}

// dev0 is a port of 100 Gb/s whose link is up, dev1 one whose link is down.
#define PORTS "@speed_mbps=100000 carrier=1>1 carrier_down_count=0 peer:@speed_mbps=100000 peer:carrier=0>0"

static void what_is_not_as_expected(void **state)
{
    static const struct {
        const char *list, *rule, *device;
        severity severity;
    } cases[] = {{"dev0", NULL, NULL, SEVERITY_OK},
                 {"dev0@100G", NULL, NULL, SEVERITY_OK},
                 {"dev0@200G", "expected-slow", "dev0", SEVERITY_HIGH},
                 {"dev1", "expected-down", "dev1", SEVERITY_HIGH},
                 {"dev0,dev2", "expected-missing", "dev2", SEVERITY_CRITICAL}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        situation s;
        findings f = {0};
        expected_devices x = {0};
        char *problem = NULL;
        situation_make(&s, "netdev", PORTS);
        assert_true(expected_parse(&x, cases[i].list, &problem));
        findings_make_expecting(&f, &s.d, &x, &built_in);
        if (!cases[i].rule) {
            assert_null(find(&f, "expected-slow"));
            assert_null(find(&f, "expected-down"));
            assert_null(find(&f, "expected-missing"));
        } else {
            const finding *found = find(&f, cases[i].rule);
            assert_non_null(found);
            assert_ptr_equal(found, &f.items[0]);
            assert_int_equal(found->severity, cases[i].severity);
            assert_string_equal(finding_device(&f, found), cases[i].device);
        }
        findings_free(&f);
        expected_free(&x);
        situation_free(&s);
    }
}

static void check_unknown(const char *source, const char *text, const char *list, const char *rule_name,
                          const char *device, const char *reason)
{
    situation s;
    findings f = {0};
    expected_devices x = {0};
    char *problem = NULL;
    const finding_unknown *u = NULL;
    situation_make(&s, source, text);
    assert_true(expected_parse(&x, list, &problem));
    findings_make_expecting(&f, &s.d, &x, &built_in);
    for (size_t i = 0; i < f.unknown_count; i++)
        if (f.unknown[i].rule && strcmp(f.unknown[i].rule->name, rule_name) == 0) u = &f.unknown[i];
    if (!u) fail_msg("%s: %s is not among what is unknown", list, rule_name);
    assert_string_equal(finding_unknown_place(&f, u), device);
    assert_string_equal(u->reason, reason);
    assert_true(u->matters);
    assert_null(find(&f, rule_name));
    assert_int_equal(f.severity, SEVERITY_UNKNOWN);
    findings_free(&f);
    expected_free(&x);
    situation_free(&s);
}

// No good news where what is expected was not read.
static void what_was_not_read(void **state)
{
    (void)state;
    check_unknown("netdev", "carrier=1>1u tx_packets=5", "dev0", "expected-down", "dev0", "denied");
    check_unknown("netdev", "tx_packets=5", "dev0", "expected-down", "dev0", "the state of its link is not known");
    check_unknown("netdev", "carrier=1>1", "dev0@100G", "expected-slow", "dev0", "its speed is not known");
    check_unknown("netdev", PORTS, "cxi0", "expected-missing", "cxi0", "its source was not read");
    check_unknown("netdev", PORTS, "mlx5_0/1", "expected-missing", "mlx5_0/1", "its source was not read");
    check_unknown("cxi", "properties/link=1>1", "hsn0", "expected-missing", "hsn0", "its source was not read");
}

static netprof_snapshot denied_snapshot(int64_t at_ns)
{
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema;
    netprof_snapshot s = NETPROF_ZERO;
    netprof_build_source(list, "cxi");
    netprof_list_state(list, NETPROF_STATUS_DENIED, EACCES, "/sys/class/cxi");
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    assert_int_equal(netprof_snapshot_make(&s, schema, NULL), NETPROF_OK);
    netprof_schema_release(schema);
    s.begin_ns = s.end_ns = at_ns;
    return s;
}

static void a_source_that_is_denied(void **state)
{
    netprof_snapshot a = denied_snapshot(1000000000), b = denied_snapshot(2000000000);
    difference d = {0};
    findings f = {0};
    expected_devices x = {0};
    char *problem = NULL;
    (void)state;
    assert_int_equal(difference_of_snapshots(&d, &a, &b, 0, NULL), NETPROF_OK);
    assert_true(expected_parse(&x, "cxi0-3", &problem));
    findings_make_expecting(&f, &d, &x, &built_in);
    assert_int_equal(f.count, 0);
    assert_int_equal(f.severity, SEVERITY_UNKNOWN);
    size_t told = 0;
    for (size_t i = 0; i < f.gap_count; i++) {
        char *text = finding_gap_text(&f, &f.gaps[i]);
        told += strcmp(text, "cxi0-cxi3: Permission denied (/sys/class/cxi): hides 4 checks (at worst critical)") == 0;
        free(text);
    }
    assert_int_equal(told, 1);
    findings_free(&f);
    expected_free(&x);
    difference_free(&d);
    netprof_snapshot_free(&a);
    netprof_snapshot_free(&b);
}

// A port whose link nobody could tell is expected to be there, and no more.
static void a_link_that_was_never_known(void **state)
{
    situation s;
    findings f = {0};
    expected_devices x = {0};
    (void)state;
    situation_make(&s, "netdev", "carrier=1>1u tx_packets=5");
    expected_of_node(&x, &s.d);
    assert_int_equal(arrlenu(x.items), 1);
    findings_make_expecting(&f, &s.d, &x, &built_in);
    for (size_t i = 0; i < f.unknown_count; i++)
        assert_true(!f.unknown[i].rule || strcmp(f.unknown[i].rule->source, "expect") != 0);
    findings_free(&f);
    expected_free(&x);
    situation_free(&s);
}

// What was up when the node was well: dev0, not dev1.
static void as_it_was_when_all_was_well(void **state)
{
    situation s;
    expected_devices x = {0};
    (void)state;
    situation_make(&s, "netdev", PORTS);
    expected_of_node(&x, &s.d);
    assert_int_equal(arrlenu(x.items), 1);
    assert_string_equal(x.items[0].name, "dev0");
    assert_string_equal(x.items[0].source, "netdev");
    assert_true(x.items[0].bits_per_s == 100e9);
    expected_free(&x);
    situation_free(&s);
}

static void how_the_command_ended(void **state)
{
    static const struct {
        const char *status, *signal, *claim;
    } cases[] = {{"0", NULL, NULL},
                 {"1", NULL, "the command failed with exit status 1"},
                 {"139", NULL, "the command failed with exit status 139"},
                 {"139", "11", "the command was ended by signal 11 (segmentation fault)"},
                 {"143", "15", "the command was ended by signal 15 (terminated)"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        situation s;
        findings f = {0};
        const netprof_fact facts[] = {{"exit_status", cases[i].status}, {"signal", cases[i].signal}};
        situation_make(&s, "netdev", PORTS);
        difference_keep_facts(&s.d, facts, cases[i].signal ? 2 : 1);
        findings_make(&f, &s.d, &built_in);
        finding_claims_check(&f);
        const finding *x = find(&f, "job-failed");
        assert_int_equal(x != NULL, cases[i].claim != NULL);
        if (x) {
            assert_string_equal(x->claim, cases[i].claim);
            assert_int_equal(x->severity, SEVERITY_WARN);
            assert_true(isnan(x->cost_s)); // nobody measured it
            assert_ptr_equal(x, &f.items[0]);
        }
        findings_free(&f);
        situation_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_names),
        cmocka_unit_test(what_is_not_as_expected),
        cmocka_unit_test(what_was_not_read),
        cmocka_unit_test(a_source_that_is_denied),
        cmocka_unit_test(a_link_that_was_never_known),
        cmocka_unit_test(as_it_was_when_all_was_well),
        cmocka_unit_test(how_the_command_ended),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
