// What formulas are made of: speeds and clocks of devices, which devices are one port, what is read of counters without a value,
// where formulas end, thresholds at their limits, and the order of findings.
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

#include "analysis/base/text.h"
#include "analysis/rules/evaluate.h"
#include "analysis/rules/expression.h"
#include "analysis/rules/findings.h"
#include "situation.h"

static const rule of_cxi = {.source = "cxi", .name = "test"};

static void is_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected))) fail_msg("%.12g, expected %.12g", value, expected);
}

// ---- devices ----

// Bits a second on the wire of a Cassini link are 1.0625 times those of its frames; a codeword has 5440 bits.
static void speeds_of_devices(void **state)
{
    static const struct {
        const char *source, *text;
        double speed, line_rate;
    } rows[] = {
        {"cxi", "@port_speed=ck400G a=1", 400e9, 425e9},
        {"cxi", "@port_speed=BS_200G a=1", 200e9, 212.5e9},
        {"cxi", "@port_speed=BJ_100G a=1", 103.125e9 / 1.0625, 103.125e9},
        {"cxi", "@port_speed=bj_100G a=1", 103.125e9 / 1.0625, 103.125e9},
        {"cxi", "@port_speed=CD_100G a=1", 100e9, 106.25e9},
        {"cxi", "@port_speed=CD_50G a=1", 50e9, 53.125e9},
        {"cxi", "@port_speed=unknown @speed_mbps=100000 a=1", 100e9, 106.25e9},
        {"cxi", "@speed_mbps=200000 a=1", 200e9, 212.5e9},
        {"cxi", "hni_pcs_good_cw=390625000", 39062500.0 * 5440 / 1.0625, 39062500.0 * 5440}, // in 10 s
        {"cxi", "a=1", 0, 0},
        {"netdev", "@speed_mbps=25000 a=1", 25e9, 25e9},
        {"netdev", "@speed_mbps=4294967295 a=1", 0, 0}, // what drivers say that do not know
        {"netdev", "@speed_mbps=4294967294 a=1", 0, 0}, // more than any line
        {"netdev", "@speed_mbps=99999999 a=1", 99999999e6, 99999999e6},
        {"netdev", "@speed_mbps=100000000 a=1", 0, 0},
        {"netdev", "@speed_mbps=-1 a=1", 0, 0},
        {"netdev", "a=1", 0, 0},
        {"rdma", "@rate_bps=400000000000 a=1", 400e9, 400e9},
        {"rdma", "@rate_bps=400000000000 @speed_mbps=100000 a=1", 100e9, 100e9},
        {"rdma", "@netdev=dev0 a=1 netdev/@speed_mbps=10000 netdev/b=1", 10e9, 10e9}, // its interface's
        {"rdma", "@netdev=dev0 @rate_bps=56000000000 a=1 netdev/@speed_mbps=10000 netdev/b=1", 56e9, 56e9},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        situation x;
        evaluation e;
        situation_make(&x, rows[i].source, rows[i].text);
        evaluation_begin(&e, &x.d);
        is_near(evaluation_speed(&e, 0), rows[i].speed);
        is_near(evaluation_line_rate(&e, 0), rows[i].line_rate);
        evaluation_end(&e);
        situation_free(&x);
    }
}

// By the chip's version, else by the counter that counts each clock of it.
static void clocks_of_devices(void **state)
{
    static const struct {
        const char *text;
        double hz;
    } rows[] = {{"@cassini_version=1.1 a=1", 1e9},
                {"@cassini_version=2.0 a=1", 1.1e9},
                {"@cassini_version=1.1 tou_tou_oxe_num_idles=11000000000", 1e9},
                {"tou_tou_oxe_num_idles=11000000000", 1.1e9},
                {"tou_tou_oxe_num_idles=10100000000", 1e9},
                {"tou_tou_oxe_num_idles=11000000000u", 1e9},
                {"a=1", 1e9}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        situation x;
        evaluation e;
        situation_make(&x, "cxi", rows[i].text);
        evaluation_begin(&e, &x.d);
        is_near(evaluation_clock(&e, 0), rows[i].hz);
        evaluation_end(&e);
        situation_free(&x);
    }
}

static size_t device_of(const situation *x, const char *source, const char *name)
{
    for (size_t i = 0; i < x->after.schema->device_count; i++)
        if (strcmp(x->after.schema->devices[i].source, source) == 0 &&
            strcmp(x->after.schema->devices[i].name, name) == 0)
            return i;
    fail_msg("%s/%s is not there", source, name);
    return 0;
}

// A NIC and its interface, an RDMA port and its interface, an interface of its own, and ethtool's view of all.
static void which_devices_are_one_port(void **state)
{
    static const struct {
        const char *source, *name;
        bool again; // counted by another one
    } rows[] = {{"cxi", "dev0", false},    {"netdev", "dev0", true},  {"ethtool", "dev0", true},
                {"rdma", "dev1", false},   {"netdev", "dev1", true},  {"rdma", "dev2", false},
                {"netdev", "dev2", false}, {"ethtool", "dev2", true}, {"netdev", "dev3", false},
                {"ethtool", "dev4", false}};
    situation x;
    evaluation e;
    (void)state;
    situation_make(
        &x, "cxi",
        "@netdev=dev0 a=1 netdev/b=1 ethtool/c=1 peer:rdma/@netdev=dev1 peer:rdma/@link_layer=InfiniBand "
        "peer:rdma/d=1 peer:netdev/b=1 peer2:rdma/@netdev=dev2 peer2:rdma/@link_layer=Ethernet peer2:rdma/d=1 "
        "peer2:netdev/b=1 peer2:ethtool/c=1 peer3:netdev/b=1 peer4:ethtool/c=1");
    evaluation_begin(&e, &x.d);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            size_t a = device_of(&x, rows[i].source, rows[i].name), b = device_of(&x, rows[k].source, rows[k].name);
            bool linked = i == k || (strcmp(rows[i].name, rows[k].name) == 0 && strcmp(rows[i].name, "dev4") != 0);
            if (evaluation_linked(&e, a, b) != linked)
                fail_msg("%s/%s and %s/%s", rows[i].source, rows[i].name, rows[k].source, rows[k].name);
        }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (evaluation_counts_again(&e, device_of(&x, rows[i].source, rows[i].name)) != rows[i].again)
            fail_msg("%s/%s", rows[i].source, rows[i].name);
    evaluation_end(&e);
    situation_free(&x);
}

static void counters_by_name(void **state)
{
    static const char *const names[] = {"m", "z", "a", "k", "b", "q", "c"};
    situation x;
    evaluation e;
    (void)state;
    situation_make(&x, "cxi", "m=1 z=1 a=1 k=1 b=1 q=1 c=1 peer:x=1 peer:a=1");
    evaluation_begin(&e, &x.d);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(evaluation_counter(&e, 0, names[i]), netprof_find(x.after.schema, "cxi", "dev0", names[i]));
    assert_int_equal(evaluation_counter(&e, 1, "a"), netprof_find(x.after.schema, "cxi", "dev1", "a"));
    assert_int_equal(evaluation_counter(&e, 0, "x"), DIFFERENCE_NONE);
    assert_int_equal(evaluation_counter(&e, 1, "m"), DIFFERENCE_NONE);
    assert_int_equal(evaluation_counter(&e, 0, ""), DIFFERENCE_NONE);
    evaluation_end(&e);
    situation_free(&x);
}

// ---- readings ----

// A value that is missing is told with the reason and the counter; the worst of several counts.
static void why_there_is_no_value(void **state)
{
    static const struct {
        const char *formula;
        reading_status status;
        const char *reason, *counter;
    } rows[] = {{"lost", READING_UNKNOWN, "denied", "lost"},
                {"old", READING_SKIPPED, "not in the set that was read", "old"},
                {"started", READING_UNKNOWN, "reset", "started"},
                {"full", READING_UNKNOWN, "suspect",
                 "full"}, // the difference of a counter that stands still at its largest value
                {"after(lost)", READING_UNKNOWN, "denied", "lost"},
                {"after(full)", READING_UNKNOWN, "saturated", "full"},
                {"before(old)", READING_SKIPPED, "not in the set that was read", "old"},
                {"nothing", READING_NONE, NULL, NULL},
                {"a + lost", READING_UNKNOWN, "denied", "lost"},
                {"old + lost", READING_UNKNOWN, "denied", "lost"},
                {"lost + old", READING_UNKNOWN, "denied", "lost"},
                {"nothing + lost", READING_NONE, NULL, NULL}, // nothing there to be unknown
                {"old and lost", READING_UNKNOWN, "denied", "lost"},
                {"not old", READING_SKIPPED, "not in the set that was read", "old"},
                {"rate(started)", READING_UNKNOWN, "reset", "started"},
                {"sum(a, old, lost)", READING_UNKNOWN, "denied", "lost"},
                {"sum(old)", READING_SKIPPED, "not in the set that was read", "old"},
                {"first(nothing, old)", READING_SKIPPED, "not in the set that was read", "old"},
                {"first(old, lost, a)", READING_UNKNOWN, "denied", "lost"},
                {"SPEED", READING_UNKNOWN, "the speed is not known", NULL},
                {"R", READING_UNKNOWN, "the speed is not known", NULL},
                {"LINE", READING_NONE, NULL, NULL},
                {"is(driver, x)", READING_NONE, NULL, NULL},
                {"flagged(strange)", READING_NONE, NULL, NULL},
                {"device(gone)", READING_NONE, NULL, NULL},
                {"far(a)", READING_NONE, NULL, NULL}};
    situation x;
    evaluation e;
    (void)state;
    situation_make(&x, "cxi", "lost=7u old=3k started=9r full=4s a=1");
    evaluation_begin(&e, &x.d);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expression formula;
        assert_true(expression_parse(&formula, rows[i].formula, NULL, NULL));
        evaluation_of(&e, &of_cxi, 0);
        reading r = evaluate(&e, &formula);
        if (r.status != rows[i].status) fail_msg("%s: status %d", rows[i].formula, r.status);
        if (rows[i].reason) assert_string_equal(r.reason, rows[i].reason);
        if (rows[i].counter) {
            assert_string_equal(r.counter, rows[i].counter);
            assert_int_equal(r.at, 1 + evaluation_counter(&e, 0, rows[i].counter));
        } else {
            assert_null(r.counter);
        }
        assert_false(evaluate_condition(&e, &formula)); // what is not known does not hold
        expression_free(&formula);
    }
    assert_true(evaluate_condition(&e, &(expression){0})); // no condition
    evaluation_end(&e);
    situation_free(&x);
}

// Of the whole node: all devices of the rule's source, or those that the name in front fits.
static void of_the_whole_node(void **state)
{
    static const struct {
        const char *formula;
        double value;
    } rows[] = {{"sum(a)", 1 + 20 + 300},
                {"max(a)", 300},
                {"min(a)", 1},
                {"count(a)", 3},
                {"sum(dev1/a)", 20},
                {"sum(dev[1-2]/a)", 320},
                {"mean(dev?/a)", 107},
                {"DEVICES", 3},
                {"T", 10},
                {"LOSSES", 4},
                {"LINE", 0.25},
                {"WIRE", 5000},
                {"sum(a, dev0/b)", 321 + 7},
                {"total(a)", 321},
                {"spread(a)", 300 / 107.0},
                {"used(a / 100)", 3},
                {"used(a / 100000)", 1},
                {"fact(hosts)", 12}};
    situation x;
    evaluation e;
    (void)state;
    situation_make(&x, "cxi", "@node.hosts=12 a=1 b=7 peer:a=20 peer2:a=300 netdev/a=4000");
    evaluation_begin(&e, &x.d);
    e.losses = 4;
    e.line_share = 0.25;
    e.wire_bytes = 5000;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const expression_names names = {.by_device = true};
        expression formula;
        assert_true(expression_parse(&formula, rows[i].formula, &names, NULL));
        evaluation_of(&e, &of_cxi, DIFFERENCE_NONE);
        reading r = evaluate(&e, &formula);
        if (r.status || fabs(r.number - rows[i].value) > 1e-9) fail_msg("%s = %g", rows[i].formula, r.number);
        expression_free(&formula);
    }
    evaluation_end(&e);
    situation_free(&x);
}

// ---- formulas ----

static void refusals_say_what_was_expected(void **state)
{
    static const struct {
        const char *text, *says;
    } rows[] = {{"", "the formula ends too early"},
                {"a b", "expected an operator"},
                {"(a", "expected )"},
                {"sum(a", "expected ) or a comma"},
                {"a *b", "operators stand between blanks"},
                {"a -b", "operators stand between blanks"},
                {"sum()", "expected a number, a name or ("},
                {"strange(a)", "no such function"},
                {"'a", "a quote is not closed"},
                {"''", "the name of a counter is missing"},
                {"netdev/", "the name of a counter is missing"},
                {"3a", "a number runs into a name; operators stand between blanks"},
                {"1e999", "a number that is too large"},
                {"peers(used(a))", "peers, spread, total, used, members, best and far do not nest"},
                {"is(driver)", "wrong number of arguments"},
                {"is()", "expected a word"},
                {"a $ b", "expected an operator"},
                {"a + $", "expected a number, a name or ("}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expression_error error = {0};
        expression e;
        assert_false(expression_parse(&e, rows[i].text, NULL, &error));
        if (strcmp(error.text, rows[i].says) != 0) fail_msg("%s: %s", rows[i].text, error.text);
        assert_false(expression_parse(&e, rows[i].text, NULL, NULL)); // whoever does not want to know
    }
}

static bool is_accepted(const char *head, const char *part, size_t count, const char *last, const char *says)
{
    char *text = NULL;
    expression e;
    expression_error error = {0};
    text_append(&text, "%s", head);
    for (size_t i = 0; i < count; i++)
        text_append(&text, "%s", part);
    text_append(&text, "%s", last);
    for (size_t i = 0; i < count && *part == '('; i++)
        text_append(&text, ")");
    bool good = expression_parse(&e, text, NULL, &error);
    if (good) expression_free(&e);
    if (!good) assert_string_equal(error.text, says);
    free(text);
    return good;
}

// 31 brackets within the formula, 255 numbers and operators, 64 arguments: and not one more.
static void limits_of_formulas(void **state)
{
    (void)state;
    assert_true(is_accepted("", "(", EXPRESSION_DEPTH - 1, "1", ""));
    assert_false(is_accepted("", "(", EXPRESSION_DEPTH, "1", "brackets are nested too deeply"));
    assert_true(is_accepted("", "1 + ", EXPRESSION_NODES / 2 - 1, "1", "")); // 128 numbers, 127 operators
    assert_false(is_accepted("", "1 + ", EXPRESSION_NODES / 2, "1", "the formula is too long"));
    assert_true(is_accepted("sum(", "a, ", 63, "a)", ""));
    assert_false(is_accepted("sum(", "a, ", 64, "a)", "wrong number of arguments"));
}

static void names_of_sources(void **state)
{
    static const char *const sources[] = {"cxi", "netdev", "ethtool", "rdma", "ip", "tcp"};
    (void)state;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        assert_true(expression_is_source(sources[i], strlen(sources[i])));
        assert_false(expression_is_source(sources[i], strlen(sources[i]) - 1));
    }
    assert_true(expression_is_source("ip/x", 2));
    assert_false(expression_is_source("cpu", 3));
    assert_false(expression_is_source("", 0));
}

// ---- thresholds and words ----

static void thresholds_at_their_limits(void **state)
{
    static const struct {
        expression_op op;
        bool below, at, above;
    } rows[] = {{EXPRESSION_GREATER, false, false, true},
                {EXPRESSION_GREATER_EQUAL, false, true, true},
                {EXPRESSION_LESS, true, false, false},
                {EXPRESSION_LESS_EQUAL, true, true, false},
                {EXPRESSION_NUMBER, false, false, false}}; // there is none
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rule_threshold t = {.op = rows[i].op, .value = 5};
        assert_int_equal(findings_crosses(&t, 4.999), rows[i].below);
        assert_int_equal(findings_crosses(&t, 5), rows[i].at);
        assert_int_equal(findings_crosses(&t, 5.001), rows[i].above);
        assert_false(findings_crosses(&t, NAN));
    }
}

static void who_is_meant(void **state)
{
    static const struct {
        const char *source;
        size_t alike, of;
        const char *who;
    } rows[] = {{"cxi", 0, 0, "dev1"},        {"cxi", 2, 2, "both NICs"},      {"cxi", 3, 3, "all 3 NICs"},
                {"cxi", 2, 5, "2 of 5 NICs"}, {"rdma", 2, 2, "both ports"},    {"netdev", 4, 4, "all 4 interfaces"},
                {"gpu", 8, 8, "all 8 GPUs"},  {"cpu", 3, 96, "3 of 96 cores"}, {"disk", 2, 2, "both devices"}};
    situation x;
    (void)state;
    situation_make(&x, "cxi", "a=1 peer:a=1");
    const findings f = {.d = &x.d};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rule of = {.source = rows[i].source};
        finding one = {.rule = &of, .device = 1, .alike = rows[i].alike, .alike_of = rows[i].of};
        assert_string_equal(finding_who(&f, &one).text, rows[i].who);
    }
    rule of = {.source = "*"};
    finding node = {.rule = &of, .device = DIFFERENCE_NONE};
    finding_unknown unknown = {.source = "*", .device = DIFFERENCE_NONE};
    assert_string_equal(finding_device(&f, &node), "node");
    assert_string_equal(finding_unknown_place(&f, &unknown), "node");
    of.source = unknown.source = "memory";
    assert_string_equal(finding_device(&f, &node), "memory");
    assert_string_equal(finding_unknown_place(&f, &unknown), "memory");
    node.device = unknown.device = 1;
    assert_string_equal(finding_device(&f, &node), "dev1");
    assert_string_equal(finding_unknown_place(&f, &unknown), "dev1");
    node.subject = unknown.subject = (char[]){"the job"};
    assert_string_equal(finding_device(&f, &node), "the job");
    assert_string_equal(finding_unknown_place(&f, &unknown), "the job");
    situation_free(&x);
}

// ---- findings in their order ----

typedef struct judged {
    rules set;
    situation x;
    findings f;
} judged;

static void judge(judged *j, const char *table, const char *text)
{
    *j = (judged){.f = {.count = 0}};
    assert_int_equal(rules_read_text(&j->set, "mine.csv", table, strlen(table), NULL), NETPROF_OK);
    assert_int_equal(j->set.problem_count, 0);
    situation_make(&j->x, "cxi", text);
    findings_make(&j->f, &j->x.d, &j->set);
}

static void forget(judged *j)
{
    findings_free(&j->f);
    situation_free(&j->x);
    rules_free(&j->set);
}

static void comes(const findings *f, const char *expected)
{
    char *text = NULL;
    for (size_t i = 0; i < f->count; i++)
        text_append(&text, "%s%s %s/%s%s%s", i ? ", " : "", severity_name(f->items[i].severity), f->items[i].rule->name,
                    finding_device(f, &f->items[i]), f->items[i].explained_by ? " by " : "",
                    f->items[i].explained_by ? f->items[i].explained_by : "");
    assert_string_equal(text ? text : "", expected);
    free(text);
}

// The severity, then the cause before what it explains, the dearer, the larger value (of a rule for small ones the smaller), and
// the device's place.
static void the_order_of_findings(void **state)
{
    judged j;
    (void)state;
    judge(
        &j,
        "name,source,value,watch,warn,high,cost,explained_by\n"
        "symptom,cxi,s,> 1,,,,cause\n"
        "cause,cxi,c,> 1,,,,\n"
        "cheap,cxi,d,> 1,,,1%,\n"
        "dear,cxi,e,> 1,,,30%,\n"
        "small,cxi,v,< 5,,,,\n"
        "grave,cxi,g,> 1,> 10,> 100,,\n",
        "s=9 c=9 d=9 e=9 v=3 g=10 peer:v=2 peer:g=11 peer2:g=101 peer2:v=2 peer3:g=1 peer3:v=5 peer3:s=2 peer4:g=500");
    comes(&j.f,
          "high grave/dev4, high grave/dev2, warn grave/dev1, watch dear/dev0, watch cheap/dev0, watch symptom/dev3, "
          "watch cause/dev0, watch small/dev1, watch small/dev2, watch small/dev0, watch grave/dev0, watch "
          "symptom/dev0 by cause"); // on dev3 there is no cause
    is_near(j.f.items[3].cost_s, 3);
    is_near(j.f.items[4].cost_s, 0.1);
    assert_true(isnan(j.f.items[6].cost_s));
    assert_int_equal(j.f.items[0].peers, 4); // 10, 11, 101 and 1
    is_near(j.f.items[0].peers_min, 1);
    is_near(j.f.items[0].peers_max, 101);
    is_near(j.f.items[0].value, 500);
    is_near(j.f.items[0].threshold->value, 100);
    forget(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(speeds_of_devices),
        cmocka_unit_test(clocks_of_devices),
        cmocka_unit_test(which_devices_are_one_port),
        cmocka_unit_test(counters_by_name),
        cmocka_unit_test(why_there_is_no_value),
        cmocka_unit_test(of_the_whole_node),
        cmocka_unit_test(refusals_say_what_was_expected),
        cmocka_unit_test(limits_of_formulas),
        cmocka_unit_test(names_of_sources),
        cmocka_unit_test(thresholds_at_their_limits),
        cmocka_unit_test(who_is_meant),
        cmocka_unit_test(the_order_of_findings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
