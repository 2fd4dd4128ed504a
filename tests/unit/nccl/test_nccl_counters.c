// NIC counters of the hosts and the time of which NCCL's logs tell: what of them falls into it is arithmetic.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/nccl/findings/nccl_counters.h"
#include "nccl_plan.h"
#include "nccl_told.h"

enum { CALLS = 21 };
#define MICRO 1e-6

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-6) && !(isnan(value) && isnan(expected)))
        fail_msg("%.12g is not %.12g", value, expected);
}

// Of three hosts with two ranks each: rank 2 on h1 in two of three calls, rank 4 on h2 in the third.
static int late_by_turns(const plan_call *c)
{
    return (c->rank == 2 && c->call % 3) || (c->rank == 4 && c->call % 3 == 0) ? 300 : 0;
}

static int one_wire(const plan_call *c)
{
    (void)c;
    return 100;
}

// Recordings of h1 (until 25 s), of h2 (from 12 s on), of h1 at another time and of a host that has no log. The logs tell of
// 10 s to 30 s, each rank a microsecond after the one before.
static series_step first_steps[] = {{.from_s = 0, .to_s = 10.5, .rate = {100, 40}},
                                    {.from_s = 10.5, .to_s = 15, .rate = {300, 60}},
                                    {.from_s = 15, .to_s = 18, .rate = {1e6, 1e6}, .gap = true},
                                    {.from_s = 18, .to_s = 22, .rate = {NAN, 80}},
                                    {.from_s = 22, .to_s = 30, .rate = {50, 20}}};
static series_step second_steps[] = {{.from_s = 8, .to_s = 20, .rate = {10, 500}},
                                     {.from_s = 25, .to_s = 30, .rate = {1e6, 1e6}}};
static series_step other_steps[] = {{.from_s = 11, .to_s = 14, .rate = {NAN, 7}},
                                    {.from_s = 29, .to_s = 40, .rate = {NAN, 3}}};
static char host_names[][16] = {"h1.cluster", "h2", "h9"},
            counter_names[][16] = {"errors", "resets", "pauses", "marks"}, unit_frames[] = "frames";

static const series *recordings(void)
{
    static series_device devices[] = {{.run = 0, .chosen = true, .steps = first_steps, .count = COUNT(first_steps)},
                                      {.run = 0, .chosen = true, .steps = second_steps, .count = COUNT(second_steps)},
                                      {.run = 0, .chosen = false, .steps = second_steps, .count = 1},
                                      {.run = 1, .chosen = true, .steps = other_steps, .count = COUNT(other_steps)},
                                      {.run = 2, .chosen = true, .steps = first_steps, .count = COUNT(first_steps)},
                                      {.run = 3, .chosen = true, .steps = first_steps, .count = COUNT(first_steps)}};
    static series_run runs[] = {
        {.host = host_names[0], .begin_s = 0, .end_s = 25, .first_device = 0, .device_count = 3},
        {.host = host_names[1], .begin_s = 12, .end_s = 100, .first_device = 3, .device_count = 1},
        {.host = host_names[0], .begin_s = 40, .end_s = 50, .first_device = 4, .device_count = 1},
        {.host = host_names[2], .begin_s = 0, .end_s = 25, .first_device = 5, .device_count = 1}};
    static series_counter counters[] = {{.name = counter_names[0], .unit = unit_frames, .trouble = true},
                                        {.name = counter_names[1], .trouble = true},
                                        {.name = counter_names[2], .unit = unit_frames},
                                        {.name = counter_names[3], .unit = unit_frames}};
    // resets twice in h1's time, errors once, and again after it and elsewhere; pauses twice there, marks once on each host.
    static series_event events[] = {{.from_s = 12, .to_s = 13, .amount = 70, .counter = 0, .device = 2},
                                    {.from_s = 25, .to_s = 26, .amount = 70, .counter = 0, .device = 0},
                                    {.from_s = 12, .to_s = 13, .amount = 70, .counter = 0, .device = 5},
                                    {.from_s = 9, .to_s = 11, .amount = 2, .counter = 1, .device = 0},
                                    {.from_s = 24, .to_s = 26, .amount = 3, .counter = 1, .device = 1},
                                    {.from_s = 11, .to_s = 12, .amount = 5, .counter = 2, .device = 0},
                                    {.from_s = 13, .to_s = 14, .amount = 6, .counter = 2, .device = 1},
                                    {.from_s = 13, .to_s = 14, .amount = 90, .counter = 3, .device = 1},
                                    {.from_s = 13, .to_s = 14, .amount = 8, .counter = 3, .device = 3},
                                    {.from_s = 10, .to_s = 12, .amount = 9, .counter = 3, .device = 3}};
    static const series s = {.runs = runs,
                             .run_count = COUNT(runs),
                             .devices = devices,
                             .device_count = COUNT(devices),
                             .counters = counters,
                             .counter_count = COUNT(counters),
                             .events = events,
                             .event_count = COUNT(events),
                             .begin_ns = INT64_C(990000000000)};
    return &s;
}

static void check_hosts(const nccl *n, const nccl_counters *c)
{
    const nccl_counters_host *h1 = &c->hosts[0], *h2 = &c->hosts[1];
    double begun = 0.5 - 2 * MICRO; // of the first step, from rank 2's first line on
    assert_int_equal(c->count, 2);
    assert_string_equal(n->hosts[h1->host].name, "h1");
    assert_string_equal(n->hosts[h2->host].name, "h2");
    assert_int_equal(h1->run, 0);
    assert_int_equal(h2->run, 1);
    assert_near(h1->from_s, 10 + 2 * MICRO);
    assert_near(h1->to_s, 25);
    assert_near(h2->from_s, 12);
    assert_near(h2->to_s, 30 + 5 * MICRO);
    assert_near(h1->bytes[SERIES_IN], begun * 100 + 4.5 * 300 + 3 * 50 + (10 - 2 * MICRO) * 10);
    assert_near(h1->bytes[SERIES_OUT], begun * 40 + 4.5 * 60 + 4 * 80 + 3 * 20 + (10 - 2 * MICRO) * 500);
    assert_near(h1->peak_rate[SERIES_IN], 300);
    assert_near(h1->peak_rate[SERIES_OUT], 500);
    assert_true(isnan(h2->bytes[SERIES_IN]) && isnan(h2->peak_rate[SERIES_IN]));
    assert_near(h2->bytes[SERIES_OUT], 2 * 7 + (1 + 5 * MICRO) * 3);
    assert_near(h2->peak_rate[SERIES_OUT], 7);
    assert_string_equal(h1->trouble.counter, "resets"); // in most steps
    assert_string_equal(h1->trouble.unit, "");
    assert_near(h1->trouble.amount, 5);
    assert_int_equal(h1->trouble_count, 2);
    assert_string_equal(h1->waiting.counter, "pauses");
    assert_string_equal(h1->waiting.unit, "frames");
    assert_near(h1->waiting.amount, 11);
    assert_int_equal(h1->waiting_count, 2);
    assert_null(h2->trouble.counter);
    assert_int_equal(h2->trouble_count, 0);
    assert_string_equal(h2->waiting.counter, "marks");
    assert_near(h2->waiting.amount, 8);
    assert_int_equal(h2->waiting_count, 1);
}

// Of hosts that are accused alone: what is told and the JSON, whole.
static void beside_logs(void **state)
{
    static const plan p = {3, 2, CALLS, 1, "w", late_by_turns, one_wire};
    char *tree = tree_make();
    const char *path = tree;
    nccl n = {0};
    nccl_findings f;
    nccl_counters c;
    json_object *all = json_new_object();
    (void)state;
    plan_write(&p, tree);
    assert_int_equal(nccl_read(&n, &path, 1, NULL, NULL), NETPROF_OK);
    nccl_counters_make(&c, &n, recordings());
    check_hosts(&n, &c);
    assert_near(nccl_counters_time_s(recordings(), 991500000), 1.5);
    nccl_findings_make(&f, &n, NULL);
    size_t known = f.count, judged = f.judged, told_of = 0;
    nccl_counters_findings(&f, &c);
    for (size_t i = 0; i < c.count; i++)
        for (size_t k = 0, told = 0; k < known && !told; k++)
            told_of += told = f.items[k].severity >= SEVERITY_WATCH && f.items[k].host == c.hosts[i].host;
    assert_true(told_of > 0);
    assert_int_equal(f.count, known + told_of);
    assert_int_equal(f.judged, judged + told_of);
    json_put(all, "told", told(&n, &f));
    json_put(all, "counters", nccl_counters_json(&c));
    golden_expect(all, "nccl/counters.json");
    nccl_findings_free(&f);
    nccl_counters_free(&c);
    assert_null(c.hosts);
    assert_int_equal(c.count, 0);
    nccl_free(&n);
    tree_remove(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(beside_logs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
