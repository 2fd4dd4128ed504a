// Live findings: what netprof check says of windows becomes findings that begin, go on and end; what was not judged is no good
// news.
#define _GNU_SOURCE
#include "live/findings/judge_json.h"
#include "live/findings/judge_take.h"
#include "live/findings/judge_hosts.h"
#include "support.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <math.h>

static const int64_t second = 1000000000;
static judge j;

static int set_up(void **state)
{
    (void)state;
    j = (judge){.directory = "nowhere"};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    judge_free(&j);
    return 0;
}

static judge_host *host(const char *name, judge_state state, severity s, const char *text)
{
    judge_host *h = judge_add_host(&j, name);
    free(h->text);
    h->state = state;
    h->severity = s;
    h->text = memory_strdup(text);
    return h;
}

static judge_raw raw(const char *name, const char *rule_name, severity s, double cost_s)
{
    judge_raw r = {.told = json_new_object(), .host = memory_strdup(name), .severity = s, .cost_s = cost_s};
    json_put(r.told, "rule", json_new_string(rule_name));
    json_put(r.told, "severity", json_new_string(severity_name(s)));
    r.key = judge_key(name, "", rule_name, "");
    return r;
}

// A window that ends at this second, with this finding of n1, or none. Windows are of 60 s.
static void window(int64_t at_s, severity s)
{
    judge_raw *list = NULL;
    if (s > SEVERITY_UNKNOWN) arrput(list, raw("n1", "r", s, NAN));
    j.window.to_ns = at_s * second;
    j.window.from_ns = (at_s - 60) * second;
    judge_update(&j, list, 60 * second);
}

static void test_finding_does_not_flap(void **state)
{
    (void)state;
    host("n1", JUDGE_JUDGED, SEVERITY_WARN, "");
    window(100, SEVERITY_WARN);
    for (int64_t at = 110; at < 200; at += 20) { // every second window shows it
        window(at, SEVERITY_OK);
        assert_false(j.findings[0].now);
        window(at + 10, at == 150 ? SEVERITY_HIGH : SEVERITY_WATCH);
        assert_int_equal(arrlenu(j.findings), 1);
        assert_int_equal(j.findings[0].begin_ns, 100 * second);
        assert_int_equal(j.findings[0].end_ns, 0);
        assert_true(j.findings[0].now);
    }
    assert_int_equal(j.findings[0].severity, SEVERITY_WATCH);
    assert_int_equal(j.findings[0].worst, SEVERITY_HIGH);
    assert_int_equal(j.findings[0].seen_ns, 200 * second);
    window(259, SEVERITY_OK);
    assert_int_equal(j.findings[0].end_ns, 0);
    window(260, SEVERITY_OK); // a whole window without it
    assert_int_equal(j.findings[0].end_ns, 200 * second);
    window(270, SEVERITY_WARN); // another one
    assert_int_equal(arrlenu(j.findings), 2);
    assert_int_equal(j.findings[0].begin_ns, 270 * second);
    assert_int_equal(j.findings[1].end_ns, 200 * second);
}

static void test_finding_of_node_that_is_not_judged_goes_on(void **state)
{
    (void)state;
    host("n1", JUDGE_JUDGED, SEVERITY_WARN, "");
    window(100, SEVERITY_WARN);
    host("n1", JUDGE_SILENT, SEVERITY_UNKNOWN, "not heard from for 1 min");
    window(1000, SEVERITY_OK);
    assert_int_equal(j.findings[0].end_ns, 0);
    // It comes back with the same: whether it had it all the time nobody knows.
    host("n1", JUDGE_JUDGED, SEVERITY_WARN, "");
    window(2000, SEVERITY_WARN);
    assert_int_equal(arrlenu(j.findings), 2);
    assert_int_equal(j.findings[0].begin_ns, 2000 * second);
    assert_int_equal(j.findings[1].end_ns, 100 * second);
}

// A window of the session s with a finding of its two nodes together, or none; `group`: the one in which both were judged.
static void window_of_session(int64_t at_s, bool found, size_t group)
{
    judge_raw *list = NULL;
    if (found) {
        judge_raw r = raw("", "r", SEVERITY_WARN, NAN);
        r.session = "s";
        free(r.key);
        r.key = judge_key("", "", "r", "s");
        arrput(list, r);
    }
    j.window.to_ns = at_s * second;
    j.window.from_ns = (at_s - 60) * second;
    if (!j.sessions) sh_new_strdup(j.sessions);
    shput(j.sessions, "s", group);
    judge_update(&j, list, 60 * second);
}

// Of several nodes: it goes on until they were held against each other without it, or their session is over.
static void test_finding_of_several_nodes(void **state)
{
    (void)state;
    window_of_session(100, true, 1);
    window_of_session(170, false, 0); // one of them is behind
    assert_int_equal(j.findings[0].end_ns, 0);
    window_of_session(180, false, 1);
    assert_int_equal(j.findings[0].end_ns, 100 * second);
    window_of_session(190, true, 1);
    shdel(j.sessions, "s");
    window(260, SEVERITY_OK);
    assert_int_equal(j.findings[0].end_ns, 190 * second);
}

static void test_findings_survive_a_new_start(void **state)
{
    (void)state;
    host("n1", JUDGE_JUDGED, SEVERITY_WARN, "text")->last_ns = 77;
    window(100, SEVERITY_WARN);
    window(110, SEVERITY_WATCH);
    j.window.text = memory_strdup("v");
    char *text = judge_json(&j);
    judge_free(&j);
    j = (judge){.directory = "nowhere"};
    json_tokener *tokener = json_new_tokener(64);
    json_object *o = json_feed_tokener(tokener, text, (int)strlen(text));
    judge_go_on(&j, o);
    json_object_put(o);
    json_tokener_free(tokener);
    free(text);
    assert_int_equal(judge_find_host(&j, "n1")->last_ns, 77);
    host("n1", JUDGE_JUDGED, SEVERITY_WARN, "");
    window(120, SEVERITY_WATCH);
    assert_int_equal(arrlenu(j.findings), 1);
    assert_int_equal(j.findings[0].begin_ns, 100 * second);
    assert_int_equal(j.findings[0].seen_ns, 120 * second);
    assert_int_equal(j.findings[0].worst, SEVERITY_WARN);
}

// Within a group the order is netprof check's, whatever the costs; between groups severity counts, then cost.
static void test_merge(void **state)
{
    static const char *const want[] = {"a1", "b1", "b2", "a2", "a3", "b3"};
    judge_raw *lists[2] = {NULL, NULL};
    (void)state;
    arrput(lists[0], raw("a1", "cause", SEVERITY_HIGH, NAN));
    arrput(lists[0], raw("a2", "cause", SEVERITY_WARN, 1));
    arrput(lists[0], raw("a3", "effect", SEVERITY_WARN, 100));
    arrput(lists[1], raw("b1", "x", SEVERITY_WARN, 3));
    arrput(lists[1], raw("b2", "x", SEVERITY_WARN, 2));
    arrput(lists[1], raw("b3", "x", SEVERITY_WATCH, 1000));
    judge_raw *all = judge_merge(lists, 2);
    assert_int_equal(arrlenu(all), COUNT(want));
    for (size_t i = 0; i < arrlenu(all); i++)
        assert_string_equal(all[i].host, want[i]);
    judge_update(&j, all, second); // frees them
}

static void conclude(severity s, const char *text, const char *want, severity want_severity)
{
    judge_group g = {.told = json_new_object(), .severity = s, .text = memory_strdup(text)};
    judge_conclude(&j, &g, text ? 1 : 0, NULL);
    if (!strstr(j.window.text, want)) fail_msg("'%s' is not in '%s'", want, j.window.text);
    assert_int_equal(j.window.severity, want_severity);
    json_object_put(g.told);
    free(g.text);
}

static void test_what_is_not_judged_is_no_good_news(void **state)
{
    (void)state;
    judge_conclude(&j, NULL, 0, NULL);
    assert_int_equal(j.window.severity, SEVERITY_UNKNOWN);
    host("n1", JUDGE_JUDGED, SEVERITY_OK, "");
    conclude(SEVERITY_OK, "No fault found", "No fault found", SEVERITY_OK);
    host("n2", JUDGE_SILENT, SEVERITY_UNKNOWN, "not heard from for 40.0 s");
    conclude(SEVERITY_OK, "No fault found", "Could not be judged on 1 of 2 nodes, first n2: not heard from for 40.0 s",
             SEVERITY_UNKNOWN);
    conclude(SEVERITY_WARN, "warn on 1 of 1 nodes",
             "warn on 1 of 1 nodes; 1 other node could not be judged, first n2: not heard from for 40.0 s",
             SEVERITY_WARN);
    host("n2", JUDGE_GONE, SEVERITY_UNKNOWN, "");
    conclude(SEVERITY_OK, "No fault found", "No fault found; 1 node left out, not heard from for more than a day",
             SEVERITY_OK);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {TEST(test_finding_does_not_flap),
                                       TEST(test_finding_of_several_nodes),
                                       TEST(test_finding_of_node_that_is_not_judged_goes_on),
                                       TEST(test_findings_survive_a_new_start),
                                       TEST(test_merge),
                                       TEST(test_what_is_not_judged_is_no_good_news)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
