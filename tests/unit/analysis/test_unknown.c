// What could not be judged: that it is said with its reason, what of it matters, and what the verdict says then.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "netprof.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "builtin_rules.h"
#include "analysis/rules/findings.h"
#include "situation.h"
#include "finding_claims.h"

// A healthy loaded Cassini: link speed, bytes, and counters of rules of several classes.
#define HEALTHY                                                                                                        \
    "@port_speed=BS_200G hni_sts_tx_ok_octets=100000000000 hni_sts_rx_ok_octets=100000000000 "                         \
    "hni_pcs_good_cw=390625000 hni_pcs_corrected_cw=0 hni_llr_tx_replay_event=0 hni_tx_paused_1=0 "

typedef struct judged {
    situation s;
    findings f;
} judged;

// A reading takes time: without it one rule about the data could not be judged.
static void take_time(situation *s)
{
    s->before.end_ns += 1000000;
    s->after.end_ns += 1000000;
    difference_free(&s->d);
    assert_int_equal(difference_of_snapshots(&s->d, &s->before, &s->after, 0, NULL), NETPROF_OK);
}

static void judge(judged *j, const char *source, const char *text)
{
    memset(j, 0, sizeof *j);
    situation_make(&j->s, source, text);
    take_time(&j->s);
    findings_make(&j->f, &j->s.d, &built_in);
    finding_claims_check(&j->f);
}

static void forget(judged *j)
{
    findings_free(&j->f);
    situation_free(&j->s);
}

static void a_verdict_says_what_was_judged(void **state)
{
    judged j;
    (void)state;
    judge(&j, "cxi", HEALTHY "hni_pcs_uncorrected_cw=0");
    assert_int_equal(j.f.severity, SEVERITY_OK);
    assert_false(j.f.is_blind);
    char expected[200]; // 1e11 bytes in 10 s are 80 Gb/s, of a line of 200 Gb/s
    snprintf(expected, sizeof expected,
             "No fault found on dev0 by %zu checks at 80.0 Gb/s in, 80.0 Gb/s out (at most 40 %% of a line)",
             j.f.judged);
    assert_string_equal(j.f.verdict, expected);
    forget(&j);
    judge(&j, "cxi",
          "@port_speed=BS_200G hni_sts_tx_ok_octets=1000 hni_sts_rx_ok_octets=1000 hni_pcs_uncorrected_cw=0");
    assert_int_equal(strncmp(j.f.verdict, "Nearly idle: 800 b/s in, 800 b/s out, too little traffic to judge", 64), 0);
    forget(&j);
}

// The flag behind the number: see situation.h.
static void what_matters(void **state)
{
    static const struct {
        const char *counter, *why;
        severity verdict;
        finding_cause cause;
    } cases[] = {
        {"hni_pcs_uncorrected_cw=0", NULL, SEVERITY_OK, FINDING_NOT_KNOWN},
        {"hni_pcs_uncorrected_cw=0u", "hni_pcs_uncorrected_cw: denied", SEVERITY_UNKNOWN, FINDING_DENIED},
        {"hni_pcs_uncorrected_cw=0k", "hni_pcs_uncorrected_cw: not in the set that was read", SEVERITY_OK,
         FINDING_SKIPPED},
        // only info and watch are hidden
        {"hni_fgfc_event_xoff=0u", "hni_fgfc_event_xoff: denied", SEVERITY_OK, FINDING_DENIED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        judged j;
        snprintf(text, sizeof text, HEALTHY "%s", cases[i].counter);
        judge(&j, "cxi", text);
        assert_int_equal(j.f.severity, cases[i].verdict);
        assert_int_equal(j.f.is_blind, cases[i].verdict == SEVERITY_UNKNOWN);
        assert_int_equal(j.f.gap_count, cases[i].why != NULL);
        if (cases[i].why) {
            assert_int_equal(strncmp(j.f.gaps[0].why, cases[i].why, strlen(cases[i].why)), 0);
            assert_int_equal(j.f.unknown[j.f.gaps[0].unknown].cause, cases[i].cause);
            assert_string_equal(j.f.gaps[0].where, "dev0");
            assert_int_equal(j.f.unknown_checks, 1);
        }
        forget(&j);
    }
}

// A fault that was found is the verdict; that something is missing is said behind it.
static void a_fault_comes_before_what_is_missing(void **state)
{
    judged j;
    (void)state;
    judge(&j, "cxi", HEALTHY "pct_trs_rsp_nack_drops=50000 hni_pcs_uncorrected_cw=0u");
    assert_int_equal(j.f.severity, SEVERITY_WARN);
    assert_true(j.f.is_blind);
    assert_int_equal(strncmp(j.f.verdict, "Warning: dev0: ", 15), 0);
    assert_non_null(strstr(j.f.verdict, "; 1 check could not be made, which could have shown errors of a link (dev0)"));
    forget(&j);
    judge(&j, "cxi", HEALTHY "hni_fgfc_event_xoff=0u hni_pcs_uncorrected_cw=0");
    assert_non_null(strstr(j.f.verdict, "; 1 check could not be made, which could have shown nothing worse than info"));
    forget(&j);
}

// Devices with the same troubles are one line, which tells how many checks it hides.
static void alike_devices_are_one_line(void **state)
{
    judged j;
    (void)state;
    judge(&j, "cxi",
          HEALTHY "hni_pcs_uncorrected_cw=0u peer:@port_speed=BS_200G peer:hni_pcs_uncorrected_cw=0u "
                  "peer2:@port_speed=BS_200G peer2:hni_pcs_uncorrected_cw=0r");
    assert_int_equal(j.f.gap_count, 2);
    assert_int_equal(j.f.unknown_checks, 3);
    char *first = finding_gap_text(&j.f, &j.f.gaps[0]), *second = finding_gap_text(&j.f, &j.f.gaps[1]);
    assert_string_equal(first, "dev0, dev1: hni_pcs_uncorrected_cw: denied "
                               "(/sys/class/cxi/dev0/device/telemetry/hni_pcs_uncorrected_cw): hides 2 checks (at "
                               "worst critical)");
    assert_string_equal(second, "dev2: hni_pcs_uncorrected_cw: started again from zero: hides 1 check, "
                                "uncorrected-codewords (at worst critical)");
    free(first);
    free(second);
    forget(&j);
}

static void names_in_few_words(void **state)
{
    static const struct {
        const char *names[9];
        const char *text;
    } cases[] = {{{"cxi0", "cxi1", "cxi2", "cxi3"}, "cxi0-cxi3"},
                 {{"eth0"}, "eth0"},
                 {{"eth0", "eth1"}, "eth0, eth1"},
                 {{"cxi8", "cxi9", "cxi10"}, "cxi8-cxi10"},
                 {{"cxi0", "cxi2", "cxi3", "cxi4", "eth0", "ib0", "ib1"}, "cxi0, cxi2-cxi4, eth0 and 2 others"},
                 {{"mlx5_0/1", "mlx5_1/1", "mlx5_2/1", "mlx5_3/1"}, "mlx5_0/1, mlx5_1/1, mlx5_2/1 and 1 other"},
                 {{"a99999999999999999998", "a99999999999999999999"}, "a99999999999999999998, a99999999999999999999"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t count = 0;
        while (count < 9 && cases[i].names[count])
            count++;
        char *text = findings_names_text(cases[i].names, count);
        assert_string_equal(text, cases[i].text);
        free(text);
    }
    assert_null(findings_names_text(NULL, 0));
}

// ---- sources ----

typedef struct source_case {
    const char *denied;
    netprof_status status;
    int sys_errno;
    severity verdict;
    const char *begin;
} source_case;

static netprof_snapshot snapshot_with(const source_case *c, int64_t at, uint64_t value)
{
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema;
    netprof_snapshot s = NETPROF_ZERO;
    const netprof_counter counter = {.name = "hni_pcs_uncorrected_cw", .unit = "codewords", .width = 64};
    netprof_build_source(list, "cxi");
    netprof_list_device(list, "cxi0", 0, NETPROF_DEVICE_PHYSICAL);
    netprof_list_counter(list, &counter);
    netprof_build_source(list, c->denied);
    netprof_list_state(list, c->status, c->sys_errno, "/sys/class/there");
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    assert_int_equal(netprof_snapshot_make(&s, schema, NULL), NETPROF_OK);
    netprof_schema_release(schema);
    s.begin_ns = s.end_ns = s.device_begin_ns[0] = s.device_end_ns[0] = at;
    s.end_ns += 1000000;
    s.wall_ns = at;
    s.values[0] = value;
    s.status[0] = NETPROF_STATUS_OK;
    return s;
}

// A source that is there and was denied is said even where no rule could name a device of it.
static void a_source_that_was_denied(void **state)
{
    static const source_case cases[] = {
        {"rdma", NETPROF_STATUS_DENIED, EACCES, SEVERITY_UNKNOWN,
         "Could not be judged: source rdma: /sys/class/there: Permission denied; this hides "},
        {"netdev", NETPROF_STATUS_UNREADABLE, EMFILE, SEVERITY_UNKNOWN,
         "Could not be judged: source netdev: /sys/class/there: Too many open files; this hides "},
        {"edac", NETPROF_STATUS_DENIED, EACCES, SEVERITY_UNKNOWN, "Could not be judged: source edac: "},
        {"energy", NETPROF_STATUS_DENIED, EACCES, SEVERITY_OK,
         "No fault found on cxi0 by "}, // RAPL: no fault hides there
        {"rdma", NETPROF_STATUS_ABSENT, ENOENT, SEVERITY_OK, "No fault found on cxi0 by "}, // no such hardware
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        netprof_snapshot a = snapshot_with(&cases[i], 1000000000, 5), b = snapshot_with(&cases[i], 11000000000, 5);
        difference d = {0};
        findings f = {0};
        assert_int_equal(difference_of_snapshots(&d, &a, &b, false, NULL), NETPROF_OK);
        findings_make(&f, &d, &built_in);
        finding_claims_check(&f);
        assert_int_equal(f.severity, cases[i].verdict);
        if (strncmp(f.verdict, cases[i].begin, strlen(cases[i].begin)) != 0) fail_msg("%s", f.verdict);
        if (cases[i].verdict == SEVERITY_UNKNOWN) {
            size_t own = 0;
            for (size_t k = 0; k < built_in.count; k++)
                own += strcmp(built_in.items[k]->source, cases[i].denied) == 0;
            assert_true(own > 0 && f.unknown[0].checks >= own); // and those of others that look at its counters
            assert_int_equal(f.unknown[0].sys_errno, cases[i].sys_errno);
        }
        findings_free(&f);
        difference_free(&d);
        netprof_snapshot_free(&a);
        netprof_snapshot_free(&b);
    }
}

// Denied at the beginning alone: what was read later has nothing to be compared with.
static void a_source_that_was_denied_at_first(void **state)
{
    const source_case denied = {"rdma", NETPROF_STATUS_DENIED, EACCES, SEVERITY_UNKNOWN, NULL},
                      absent = {"rdma", NETPROF_STATUS_ABSENT, ENOENT, SEVERITY_OK, NULL};
    netprof_snapshot a = snapshot_with(&denied, 1000000000, 5), b = snapshot_with(&absent, 11000000000, 5);
    difference d = {0};
    findings f = {0};
    (void)state;
    assert_int_equal(difference_of_snapshots(&d, &a, &b, false, NULL), NETPROF_OK);
    findings_make(&f, &d, &built_in);
    finding_claims_check(&f);
    assert_int_equal(f.severity, SEVERITY_UNKNOWN);
    findings_free(&f);
    difference_free(&d);
    netprof_snapshot_free(&a);
    netprof_snapshot_free(&b);
}

// Why a counter could not be read is known from the snapshots, also where their layouts differ.
static void the_errno_of_a_counter(void **state)
{
    judged j;
    (void)state;
    memset(&j, 0, sizeof j);
    situation_make(&j.s, "cxi", HEALTHY "hni_pcs_uncorrected_cw=0u");
    size_t i = netprof_find(j.s.after.schema, "cxi", "dev0", "hni_pcs_uncorrected_cw");
    j.s.after.errnos[i] = EACCES;
    take_time(&j.s);
    findings_make(&j.f, &j.s.d, &built_in);
    finding_claims_check(&j.f);
    assert_int_equal(j.f.unknown[0].sys_errno, EACCES);
    assert_non_null(strstr(j.f.verdict, "hni_pcs_uncorrected_cw: Permission denied (/sys/class/cxi/dev0/device/"));
    forget(&j);
}

// Where a counter that could not be read is, as the user can look for it: of the sources that keep it in a file of its own.
// Those of a node's own interfaces come by netlink.
static void the_file_of_a_counter(void **state)
{
    static const struct {
        const char *source, *text, *path;
    } cases[] = {
        {"cxi", HEALTHY "hni_pcs_uncorrected_cw=0u", "/sys/class/cxi/dev0/device/telemetry/hni_pcs_uncorrected_cw"},
        {"cxi", "@node.root=/made " HEALTHY "hni_pcs_uncorrected_cw=0u",
         "/made/sys/class/cxi/dev0/device/telemetry/hni_pcs_uncorrected_cw"},
        {"netdev", "rx_crc_errors=0u rx_packets=1000000 rx_bytes=1000000000 tx_bytes=1000000000", NULL},
        {"netdev", "@node.root=/made rx_crc_errors=0u rx_packets=1000000 rx_bytes=1000000000 tx_bytes=1000000000",
         "/made/sys/class/net/dev0/statistics/rx_crc_errors"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        judged j;
        judge(&j, cases[i].source, cases[i].text);
        size_t said = 0;
        for (size_t k = 0; k < j.f.gap_count; k++) {
            char *text = finding_gap_text(&j.f, &j.f.gaps[k]);
            if (cases[i].path) said += strstr(text, cases[i].path) != NULL;
            if (!cases[i].path) assert_null(strstr(text, "/sys/"));
            free(text);
        }
        assert_true(j.f.gap_count > 0);
        if (cases[i].path) assert_true(said > 0);
        forget(&j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_verdict_says_what_was_judged),
        cmocka_unit_test(what_matters),
        cmocka_unit_test(a_fault_comes_before_what_is_missing),
        cmocka_unit_test(alike_devices_are_one_line),
        cmocka_unit_test(names_in_few_words),
        cmocka_unit_test(a_source_that_was_denied),
        cmocka_unit_test(a_source_that_was_denied_at_first),
        cmocka_unit_test(the_errno_of_a_counter),
        cmocka_unit_test(the_file_of_a_counter),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
