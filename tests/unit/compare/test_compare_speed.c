// What comparisons of many kinds say of the work and its speed, whole: speed.json beside this file holds it, of runs that moved
// so much in so long. Factors, ranges and medians are arithmetic on the numbers below.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "netprof.h"

#include <stdio.h>

#include "builtin_rules.h"
#include "compare_bench.h"
#include "analysis/base/json_values.h"
#include "golden.h"

typedef struct run {
    int megabytes, packets, ms; // packets: thousands
    const char *command, *exit_status, *signal, *more;
} run;

enum { RUNS = 6, FACTS = 3 };

typedef struct row {
    const char *name;
    run healthy[RUNS], faulty[RUNS]; // those without a name of more counters are none
} row;

static const char none[] = "", solve[] = "/opt/bin/solve -n 4";

static const row rows[] = {
    {"slower, without doubt",
     {{500, 40, 20000, solve, "0", NULL, none},
      {500, 40, 21000, solve, "0", NULL, none},
      {500, 40, 20500, solve, "0", NULL, none}},
     {{500, 40, 31000, solve, "0", NULL, none},
      {500, 40, 30000, solve, "0", NULL, none},
      {500, 40, 33000, solve, "0", NULL, none}}},
    {"slower, and the ranges meet",
     {{500, 40, 20000, solve, NULL, NULL, none},
      {500, 40, 29000, solve, NULL, NULL, none},
      {500, 40, 22000, solve, NULL, NULL, none},
      {500, 40, 21000, solve, NULL, NULL, none}},
     {{500, 40, 31000, solve, NULL, NULL, none},
      {500, 40, 28000, solve, NULL, NULL, none},
      {500, 40, 33000, solve, NULL, NULL, none}}},
    {"faster",
     {{700, 60, 44000, solve, NULL, NULL, none}, {700, 60, 40000, solve, NULL, NULL, none}},
     {{710, 60, 10000, solve, NULL, NULL, none}, {690, 60, 11000, solve, NULL, NULL, none}}},
    {"six against five, by their ranks",
     {{300, 30, 10000, solve, NULL, NULL, none},
      {300, 30, 10100, solve, NULL, NULL, none},
      {300, 30, 10200, solve, NULL, NULL, none},
      {300, 30, 10300, solve, NULL, NULL, none},
      {300, 30, 10400, solve, NULL, NULL, none},
      {300, 30, 10900, solve, NULL, NULL, none}},
     {{300, 30, 12100, solve, NULL, NULL, none},
      {300, 30, 12700, solve, NULL, NULL, none},
      {300, 30, 12200, solve, NULL, NULL, none},
      {300, 30, 12300, solve, NULL, NULL, none},
      {300, 30, 11500, solve, NULL, NULL, none}}},
    {"twice the packets", {{100, 80, 10000, solve, NULL, NULL, none}}, {{100, 200, 26000, solve, NULL, NULL, none}}},
    {"in milliseconds", {{2, 80, 20, solve, NULL, NULL, none}}, {{2, 80, 119, solve, NULL, NULL, none}}},
    {"in a few more milliseconds", {{2, 80, 20, solve, NULL, NULL, none}}, {{2, 80, 120, solve, NULL, NULL, none}}},
    {"less by another program",
     {{900, 80, 10000, "/opt/bin/solve -n 4", NULL, NULL, none}, {910, 80, 10000, solve, NULL, NULL, none}},
     {{90, 80, 12000, "/opt/bin/other", NULL, NULL, none}, {95, 80, 12000, "/opt/bin/other", NULL, NULL, none}}},
    {"less by the same program elsewhere",
     {{900, 80, 10000, solve, NULL, NULL, none}},
     {{300, 80, 12000, "solve --mode x/y", NULL, NULL, none}}},
    {"less without a command", {{900, 80, 10000, NULL, NULL, NULL, none}}, {{300, 80, 6000, NULL, NULL, NULL, none}}},
    {"more", {{300, 80, 12000, solve, NULL, NULL, none}}, {{900, 85, 50000, solve, NULL, NULL, none}}},
    {"more, without times", {{300, 80, 0, solve, NULL, NULL, none}}, {{900, 85, 0, solve, NULL, NULL, none}}},
    {"next to nothing, the same command",
     {{0, 0, 12000, solve, "0", NULL, none}},
     {{0, 1, 60000, solve, "0", NULL, none}}},
    {"next to nothing, another command",
     {{0, 0, 12000, solve, NULL, NULL, none}},
     {{0, 1, 60000, "solve", NULL, NULL, none}}},
    {"next to nothing, another program",
     {{0, 0, 12000, solve, NULL, NULL, none}},
     {{0, 1, 60000, "b", NULL, NULL, none}}},
    {"same, without times", {{300, 80, 0, solve, NULL, NULL, none}}, {{290, 80, 0, solve, NULL, NULL, none}}},
    {"some failed, one by a signal",
     {{300, 80, 12000, solve, "0", NULL, none}, {300, 80, 12000, solve, "0", NULL, none}},
     {{300, 80, 12000, solve, "0", NULL, none},
      {10, 3, 1000, solve, NULL, "9", none},
      {300, 80, 12000, solve, NULL, NULL, none},
      {10, 3, 2000, solve, "5", NULL, none}}},
    {"both sides failed",
     {{300, 80, 12000, solve, "0", NULL, none},
      {30, 8, 2000, solve, "2", NULL, none},
      {31, 8, 2000, solve, "3", NULL, none}},
     {{10, 3, 1000, solve, NULL, "64", none}, {10, 3, 2000, solve, "5", NULL, none}}},
    {"the healthy ones failed",
     {{300, 80, 12000, solve, "1", NULL, none}, {30, 8, 2000, solve, NULL, "11", none}},
     {{10, 3, 1000, solve, "0", NULL, none},
      {10, 3, 2000, solve, NULL, NULL, none},
      {10, 3, 2000, solve, NULL, NULL, none}}},
    {"slower with a loss",
     {{400, 40, 10000, solve, NULL, NULL, "tx_dropped=0 rx_errors=3"},
      {400, 40, 10500, solve, NULL, NULL, "tx_dropped=1"},
      {400, 40, 10200, solve, NULL, NULL, "tx_dropped=0 rx_errors=4"}},
     {{400, 40, 25000, solve, NULL, NULL, "tx_dropped=6000 rx_errors=3"},
      {400, 40, 26000, solve, NULL, NULL, "tx_dropped=7000 rx_errors=5"},
      {400, 40, 27000, solve, NULL, NULL, "tx_dropped=9000 rx_errors=0"}}},
    {"a loss in one run of four",
     {{400, 40, 10000, solve, NULL, NULL, "tx_dropped=0"}, {400, 40, 10100, solve, NULL, NULL, "tx_dropped=0"}},
     {{400, 40, 10000, solve, NULL, NULL, "tx_dropped=0"},
      {400, 40, 10200, solve, NULL, NULL, "tx_dropped=6000"},
      {400, 40, 10000, solve, NULL, NULL, "tx_dropped=0"},
      {400, 40, 10000, solve, NULL, NULL, "tx_dropped=0"}}},
    {"a loss in three runs of four, and in one of three",
     {{400, 40, 10000, solve, NULL, NULL, "tx_dropped=0"},
      {400, 40, 10100, solve, NULL, NULL, "tx_dropped=8000"},
      {400, 40, 10000, solve, NULL, NULL, "tx_dropped=0"}},
     {{400, 40, 10000, solve, NULL, NULL, "tx_dropped=5000"},
      {400, 40, 10200, solve, NULL, NULL, "tx_dropped=6000"},
      {400, 40, 10000, solve, NULL, NULL, "tx_dropped=0"},
      {400, 40, 10000, solve, NULL, NULL, "tx_dropped=7000"}}},
    {"a loss in four runs of five",
     {{400, 40, 10000, solve, NULL, NULL, "tx_dropped=0"},
      {400, 40, 10050, solve, NULL, NULL, "tx_dropped=0"},
      {400, 40, 10100, solve, NULL, NULL, "tx_dropped=0"},
      {400, 40, 10150, solve, NULL, NULL, "tx_dropped=0"},
      {400, 40, 10200, solve, NULL, NULL, "tx_dropped=0"}},
     {{400, 40, 10000, solve, NULL, NULL, "tx_dropped=5000"},
      {400, 40, 10050, solve, NULL, NULL, "tx_dropped=0"},
      {400, 40, 10100, solve, NULL, NULL, "tx_dropped=6000"},
      {400, 40, 10150, solve, NULL, NULL, "tx_dropped=7000"},
      {400, 40, 10200, solve, NULL, NULL, "tx_dropped=9000"}}},
    {"a small loss in five runs of six",
     {{400, 40, 10000, solve, NULL, NULL, "tx_dropped=0"},
      {400, 40, 10050, solve, NULL, NULL, "tx_dropped=0"},
      {400, 40, 10100, solve, NULL, NULL, "tx_dropped=0"},
      {400, 40, 10150, solve, NULL, NULL, "tx_dropped=0"},
      {400, 40, 10200, solve, NULL, NULL, "tx_dropped=0"},
      {400, 40, 10250, solve, NULL, NULL, "tx_dropped=0"}},
     {{400, 40, 10000, solve, NULL, NULL, "tx_dropped=3"},
      {400, 40, 10050, solve, NULL, NULL, "tx_dropped=4"},
      {400, 40, 10100, solve, NULL, NULL, "tx_dropped=0"},
      {400, 40, 10150, solve, NULL, NULL, "tx_dropped=3"},
      {400, 40, 10200, solve, NULL, NULL, "tx_dropped=5"},
      {400, 40, 10250, solve, NULL, NULL, "tx_dropped=4"}}},
    {"another driver, else alike",
     {{400, 40, 10000, solve, NULL, NULL, "@driver=ixgbe"}},
     {{400, 40, 10000, solve, NULL, NULL, "@driver=ice"}}},
    {"another MTU, else alike",
     {{400, 40, 10000, solve, NULL, NULL, "@mtu=9000"}},
     {{400, 40, 10000, solve, NULL, NULL, "@mtu=1500"}}},
    {"another kernel and fewer CPUs",
     {{400, 40, 10000, solve, NULL, NULL, "@node.kernel=6.1 @node.cpus=64"}},
     {{400, 40, 10000, solve, NULL, NULL, "@node.kernel=6.8 @node.cpus=32"}}},
    {"an interface more",
     {{400, 40, 10000, solve, NULL, NULL, ""}},
     {{400, 40, 10000, solve, NULL, NULL, "peer:rx_bytes=1000 peer:rx_packets=7"}}},
    {"an interface less",
     {{400, 40, 10000, solve, NULL, NULL, "peer:rx_bytes=1000 peer:rx_packets=7"}},
     {{400, 40, 10000, solve, NULL, NULL, ""}}},
    {"a loss that another counter tells as well",
     {{400, 40, 10000, solve, NULL, NULL,
       "collisions=0 tx_dropped=0 peer:tx_packets=2000000000 peer:collisions=0 peer:tx_dropped=0"}},
     {{400, 40, 10000, solve, NULL, NULL,
       "collisions=7000 tx_dropped=7000 peer:tx_packets=2000000000 peer:collisions=9000 peer:tx_dropped=9000"}}},
    {"times of the faulty side alone",
     {{300, 80, 0, solve, NULL, NULL, none}},
     {{300, 80, 9000, solve, NULL, NULL, none}}},
    {"times of the healthy side alone",
     {{300, 80, 9000, solve, NULL, NULL, none}},
     {{300, 80, 0, solve, NULL, NULL, none}}},
    {"one of two without times",
     {{300, 80, 9000, solve, NULL, NULL, none}, {300, 80, 0, solve, NULL, NULL, none}},
     {{300, 80, 7000, solve, NULL, NULL, none}, {300, 80, 8000, solve, NULL, NULL, none}}},
    {"a loss that is gone",
     {{400, 40, 10000, solve, NULL, NULL, "tx_dropped=5000 peer:tx_dropped=0 peer:rx_bytes=40000000"},
      {400, 40, 10100, solve, NULL, NULL, "tx_dropped=8000 peer:tx_dropped=0 peer:rx_bytes=41000000"}},
     {{400, 40, 10000, solve, NULL, NULL, "tx_dropped=0 peer:tx_dropped=2 peer:rx_bytes=40000000"},
      {400, 40, 10200, solve, NULL, NULL, "tx_dropped=0 peer:tx_dropped=3 peer:rx_bytes=42000000"}}},
};

static netprof_fact run_facts[COMPARISON_SIDES][RUNS][FACTS];

static void add(bench *b, comparison_side side, size_t number, const run *x)
{
    char text[400];
    snprintf(text, sizeof text, "@speed_mbps=10000 rx_bytes=%d tx_bytes=%d rx_packets=%d tx_packets=%d %s",
             x->megabytes * 600000, x->megabytes * 400000, x->packets * 700, x->packets * 300, x->more);
    add_run(b, side, "netdev", text);
    last_for(b, side, 0);
    dataset_run *file = &b->sides[side].runs[number];
    netprof_snapshot *after = &file->snapshots[1];
    int64_t ns = (int64_t)x->ms * 1000000;
    after->begin_ns += ns;
    after->end_ns += ns;
    after->wall_ns += ns;
    for (size_t d = 0; d < after->schema->device_count; d++) {
        after->device_begin_ns[d] += ns;
        after->device_end_ns[d] += ns;
    }
    file->facts = run_facts[side][number];
    file->fact_count = 0;
    const netprof_fact known[FACTS] = {{"command", x->command}, {"exit_status", x->exit_status}, {"signal", x->signal}};
    for (size_t i = 0; i < FACTS; i++)
        if (known[i].value) file->facts[file->fact_count++] = known[i];
}

static void put_events(json_object *list, const comparison *c)
{
    for (size_t i = 0; i < c->event_count; i++) {
        const comparison_event *e = &c->events[i];
        json_object *o = json_new_object();
        json_put_text(o, "words", e->words);
        json_put_text(o, "unit", e->unit);
        json_put_text(o, "device", e->device == DIFFERENCE_NONE ? NULL : c->devices[e->device].name);
        json_put_exact(o, "alike", e->alike);
        json_put(o, "is_finding", json_new_boolean(e->is_finding));
        json_put_text(o, "severity", severity_name(e->severity));
        json_put_number(o, "healthy", e->value[COMPARISON_HEALTHY]);
        json_put_number(o, "faulty", e->value[COMPARISON_FAULTY]);
        json_put_number(o, "low", e->low);
        json_put_number(o, "high", e->high);
        json_put_number(o, "ratio_per_s", e->ratio_per_s);
        json_put_number(o, "ratio_per_byte", e->ratio_per_byte);
        json_put_text(o, "state", comparison_state_name(e->state));
        json_put_text(o, "check", e->check ? e->check->rule->name : NULL);
        json_put_text(o, "line", e->line ? e->line->name : NULL);
        json_put_exact(o, "more", e->more);
        json_append(list, o);
    }
}

// All sentences, answers, events and notes, and the figures of the work.
static json_object *told(const comparison *c)
{
    json_object *o = json_new_object(), *all = comparison_json(c, 0, false), *sentences = json_new_array(),
                *answers = json_new_array(), *events = json_new_array();
    static const char *const kept[] = {"verdict", "work", "notes", "bytes_ratio", "elapsed_ratio", "splits"};
    char text[2000];
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        json_put(o, kept[i], json_object_get(json_object_object_get(all, kept[i])));
    json_object_put(all);
    for (size_t i = 0; i < c->sentence_count; i++) {
        const comparison_sentence *x = &c->sentences[i];
        json_object *of = json_new_object();
        json_put_text(of, "severity", severity_name(x->severity));
        json_put_text(of, "subject", comparison_subject_name(x->subject));
        json_put_text(of, "rule", x->rule);
        json_put_text(of, "device", x->device == DIFFERENCE_NONE ? NULL : c->devices[x->device].name);
        json_put_text(of, "text", x->text);
        snprintf(text, sizeof text, "%.*s", (int)x->brief, x->text);
        json_put_text(of, "brief", text);
        snprintf(text, sizeof text, "%.*s", (int)x->told, x->text);
        json_put_text(of, "told", text);
        json_put_number(of, "cost_s", x->cost_s);
        json_append(sentences, of);
    }
    for (size_t i = 0; i < c->answer_count; i++) {
        snprintf(text, sizeof text, "%s: %s %s", severity_name(c->answers[i].severity), c->answers[i].question,
                 c->answers[i].text);
        json_append(answers, json_text_value(text));
    }
    put_events(events, c);
    json_put_text(o, "headline", c->headline);
    json_put_text(o, "work_headline", c->work.headline);
    json_put(o, "sentences", sentences);
    json_put(o, "answers", answers);
    json_put(o, "events", events);
    return o;
}

static void what_is_said(void **state)
{
    json_object *made = json_new_object();
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bench b = {0};
        for (size_t k = 0; k < RUNS && rows[i].healthy[k].more; k++)
            add(&b, COMPARISON_HEALTHY, k, &rows[i].healthy[k]);
        for (size_t k = 0; k < RUNS && rows[i].faulty[k].more; k++)
            add(&b, COMPARISON_FAULTY, k, &rows[i].faulty[k]);
        assert_int_equal(make(&b, NULL), NETPROF_OK);
        json_put(made, rows[i].name, told(&b.c));
        clear(&b);
    }
    golden_expect(made, "compare/speed.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_said)};
    return cmocka_run_group_tests(tests, load, unload);
}
