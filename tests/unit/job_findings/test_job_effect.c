// What else changed in a stretch of a job, and columns of its lanes: each figure by arithmetic, of reports made by hand.
#define _GNU_SOURCE
#include "netprof.h"

#include "job_scene.h"

#include "analysis/job/findings/job_effect.h"
#include "analysis/job/job_columns.h"

static void expect_near(double value, double expected, double slack, const char *what)
{
    if (isnan(expected) && isnan(value)) return;
    if (!(fabs(value - expected) <= slack)) fail_msg("%s: %.12g is not %.12g", what, value, expected);
}

static void expect_taken(char *text, const char *expected)
{
    if (expected)
        assert_string_equal(text, expected);
    else
        assert_null(text);
    free(text);
}

// A node's meter: one value, and another one in the windows from..to.
static void node_steps(scene *s, size_t node, job_meter meter, double otherwise, double then, int from, int to)
{
    job_lane *lane = scene_steps(s, meter, otherwise, then, from, to);
    lane->node = node;
    s->nodes[node].lanes[meter] = lane;
}

// ---- beside the time around it ----

// From window 32 to 48 of three nodes; beside it lie 16 windows before and after.
static void what_changed_meanwhile(void **state)
{
    scene s;
    (void)state;
    scene_make(&s, 3, 1, "cxi", true);
    node_steps(&s, 0, JOB_SENT, 10e9, 5e9, 30, 48);
    node_steps(&s, 1, JOB_SENT, 8e9, 7.6e9, 30, 48);
    node_steps(&s, 2, JOB_SENT, 6e9, 3e9, 30, 48);
    node_steps(&s, 0, JOB_CPU, 4, 3, 32, 48);
    node_steps(&s, 1, JOB_CPU, 2, 2, 32, 48);
    node_steps(&s, 2, JOB_GPU_BUSY, 0.8, 0.2, 32, 48);
    node_steps(&s, 1, JOB_POWER, 300, 240, 32, 48);
    node_steps(&s, 0, JOB_DISK_WRITTEN, 1e6, 7e6, 32, 48);
    node_steps(&s, 1, JOB_DISK_WRITTEN, 3e6, 4e6, 32, 48);
    double from = 32 * scene_window_s, to = 48 * scene_window_s;
    job_around a = job_around_of(&s.r, from, to);
    expect_near(a.from_s, 16 * scene_window_s, 1e-9, "around, from");
    expect_near(a.to_s, 64 * scene_window_s, 1e-9, "around, to");
    assert_true(a.span == JOB_NONE);
    job_effect x = job_effect_of(&s.r, from, to);
    // Two of the 16 windows before it fell already, but for a bin at the edge.
    double before = (10 * (14 + 16 - 0.25) + 5 * 1.75) / (32 - 0.5) + (8 * (14 + 16 - 0.25) + 7.6 * 1.75) / (32 - 0.5) +
                    (6 * (14 + 16 - 0.25) + 3 * 1.75) / (32 - 0.5);
    expect_near(x.sent, 15.6 / before, 1e-4, "sent");
    expect_near(x.cpu, 5. / 6, 1e-4, "CPUs");
    expect_near(x.gpu, 0.25, 1e-4, "GPUs");
    expect_near(x.power, 0.8, 1e-4, "power");
    expect_near(x.written, 5.5e6, 100, "written");
    expect_near(x.written_before, 2e6, 100, "written before");
    assert_int_equal(x.known, 3);
    assert_int_equal(x.slowed, 2);
    expect_near(x.fell_s, 30 * scene_window_s, 0.54, "since when");
    assert_true(job_effect_fell(&x));
    expect_taken(job_effect_text(&s.r, &x), "2 of 3 nodes sent less, all together 33.7 %");
    node_steps(&s, 0, JOB_FILES_WRITTEN, 2e6, 3e6, 32, 48); // what is known of files comes first
    x = job_effect_of(&s.r, from, to);
    expect_near(x.written, 3e6, 100, "files written");
    expect_near(x.written_before, 2e6, 100, "files written before");
    scene_end(&s);
}

// Within a phase, to its ends; at the ends of the job, no further than these; where nothing is known, nothing.
static void the_time_around_it(void **state)
{
    scene s;
    job_phase_span spans[] = {{1, 10, 40}, {0, 40, 110}};
    (void)state;
    scene_make(&s, 1, 1, "cxi", true);
    job_around a = job_around_of(&s.r, 5, 25);
    assert_true(a.from_s >= 0 && a.from_s <= 0 && a.span == JOB_NONE);
    expect_near(a.to_s, 45, 1e-9, "to");
    a = job_around_of(&s.r, 100, 130);
    expect_near(a.from_s, 70, 1e-9, "from");
    expect_near(a.to_s, s.r.end_s, 1e-9, "to");
    s.r.spans = spans;
    s.r.span_count = 2;
    a = job_around_of(&s.r, 20, 50); // its middle decides
    assert_int_equal(a.span, 0);
    expect_near(a.from_s, 10, 1e-9, "phase, from");
    expect_near(a.to_s, 40, 1e-9, "phase, to");
    a = job_around_of(&s.r, 60, 160);
    assert_int_equal(a.span, 1);
    assert_int_equal(job_around_of(&s.r, 110, 130).span, JOB_NONE);
    job_effect x = job_effect_of(&s.r, 20, 30);
    assert_true(isnan(x.sent) && isnan(x.cpu) && isnan(x.gpu) && isnan(x.power) && isnan(x.written) && isnan(x.fell_s));
    assert_true(!x.known && !x.slowed && !job_effect_fell(&x));
    scene_end(&s);
}

// It is the first column in which the traffic is nearer to what it is then: also where that is the first of all.
static void since_when_it_fell(void **state)
{
    (void)state;
    for (int dip = 0; dip < 2; dip++) {
        scene s;
        job_phase_span phase = {0, 30 * scene_window_s, 60 * scene_window_s};
        scene_make(&s, 2, 1, "cxi", true);
        s.r.spans = &phase;
        s.r.span_count = 1;
        for (size_t n = 0; n < 2; n++)
            node_steps(&s, n, JOB_SENT, 4e9, 2e9, 32, 48);
        for (size_t n = 0; n < 2 && dip; n++) { // for one step at the begin of the phase; it has four bins
            job_bin *bins = s.nodes[n].lanes[JOB_SENT]->bins->items;
            for (int k = 0; k < 4; k++)
                bins[4 * 30 * SCENE_WINDOW + k].integral /= 4;
        }
        job_effect x = job_effect_of(&s.r, 32 * scene_window_s, 48 * scene_window_s);
        expect_near(x.fell_s, (dip ? 30 : 32) * scene_window_s, dip ? 1e-6 : 0.54, "since when");
        node_steps(&s, 0, JOB_SENT, 4e9, 3.9e9, 32, 48);
        node_steps(&s, 1, JOB_SENT, 4e9, 3.9e9, 32, 48);
        assert_true(isnan(job_effect_of(&s.r, 32 * scene_window_s, 48 * scene_window_s).fell_s)); // hardly
        scene_end(&s);
    }
}

static void effects_in_words(void **state)
{
    job_report r = {.node_count = 5}, one = {.node_count = 1};
    job_effect x = {.sent = 0.748, .slowed = 5, .known = 5, .cpu = NAN, .gpu = NAN};
    (void)state;
    expect_taken(job_effect_text(&r, &x), "all 5 nodes sent 25.2 % less");
    expect_taken(job_effect_text(&one, &x), "the node sent 25.2 % less");
    x.slowed = 0;
    expect_taken(job_effect_text(&r, &x), "the nodes together sent 25.2 % less");
    x.slowed = 3;
    expect_taken(job_effect_text(&r, &x), "3 of 5 nodes sent less, all together 25.2 %");
    x.sent = 0.95;
    expect_taken(job_effect_text(&r, &x), "");
    assert_false(job_effect_fell(&x));
    x.sent = 0.6; // 40 % less: of blocked 28 %, 1.25 times as much and 5 % are explained
    assert_true(job_effect_is_too_large(&x, 0.279) && !job_effect_is_too_large(&x, 0.281));
    expect_taken(job_effect_pause(&x), NULL);
    x.cpu = 0.488;
    expect_taken(job_effect_pause(&x), "used its CPUs 51.2 % less");
    x.gpu = 0.248;
    expect_taken(job_effect_pause(&x), "kept its GPUs busy 75.2 % less");
    x.written = 3e9, x.written_before = 1.4e9;
    expect_taken(job_effect_pause(&x), "wrote 3.00 GB/s a node instead of 1.40 GB/s");
    x.written_before = 1.6e9; // not twice as much
    expect_taken(job_effect_pause(&x), "kept its GPUs busy 75.2 % less");
    x.written = 0.9e6, x.written_before = 0; // next to nothing
    x.gpu = 0.5;
    expect_taken(job_effect_pause(&x), "used its CPUs 51.2 % less");
    x.cpu = 0.5;
    expect_taken(job_effect_pause(&x), NULL);
}

// ---- columns ----

static void expect_column(const job_column *x, double mean, double low, double high, double total, size_t nodes,
                          size_t low_node, size_t high_node)
{
    expect_near(x->mean, mean, 1e-4 * fabs(mean), "mean");
    expect_near(x->low, low, 1e-4 * fabs(low), "low");
    expect_near(x->high, high, 1e-4 * fabs(high), "high");
    expect_near(x->total, total, 1e-4 * fabs(total), "total");
    assert_int_equal(x->nodes, nodes);
    assert_int_equal(x->low_node, low_node);
    assert_int_equal(x->high_node, high_node);
}

// Four columns of 16 windows each, of which the third is another; a node that does not know the meter, and one that knows
// it in the first half alone.
static void columns_of_nodes(void **state)
{
    scene s;
    job_column c[4];
    (void)state;
    scene_make(&s, 4, 1, "cxi", true);
    assert_false(job_report_columns(&s.r, JOB_SENT, JOB_ALL_NODES, 0, s.r.end_s, c, 4));
    assert_false(job_report_columns(&s.r, JOB_SENT, 1, 0, s.r.end_s, c, 4));
    node_steps(&s, 0, JOB_SENT, 10, 2, 32, 48);
    node_steps(&s, 1, JOB_SENT, 7, 4, 32, 48);
    node_steps(&s, 3, JOB_SENT, 5, 1, 40, 48);
    assert_true(job_report_columns(&s.r, JOB_SENT, JOB_ALL_NODES, 0, s.r.end_s, c, 4));
    expect_column(&c[0], 22. / 3, 5, 10, 22, 3, 3, 0);
    expect_column(&c[2], 3, 2, 4, 9, 3, 0, 1); // of means: 2, 4 and 3
    expect_column(&c[3], 22. / 3, 5, 10, 22, 3, 3, 0);
    assert_true(job_report_columns(&s.r, JOB_SENT, 3, 0, s.r.end_s, c, 4));
    expect_column(&c[1], 5, 5, 5, 5, 1, 3, 3);
    expect_column(&c[2], 3, 1, 5, 3, 1, 3, 3);
    assert_true(job_report_columns(&s.r, JOB_SENT, 2, 0, s.r.end_s, c, 4)); // others know it
    expect_column(&c[0], NAN, NAN, NAN, NAN, 0, JOB_NONE, JOB_NONE);
    s.nodes[2].lanes[JOB_SENT] = job_lane_make(JOB_SENT, 2, JOB_NONE);
    arrput(s.lanes, s.nodes[2].lanes[JOB_SENT]);
    job_bins_add(s.nodes[2].lanes[JOB_SENT]->bins, s.r.begin_ns, s.r.begin_ns + INT64_C(128) * SCENE_BIN, 9, 9, 9);
    job_report_columns(&s.r, JOB_SENT, JOB_ALL_NODES, 0, s.r.end_s, c, 4);
    expect_column(&c[0], 31. / 4, 5, 10, 31, 4, 3, 0);
    expect_column(&c[2], 3, 2, 4, NAN, 3, 0, 1); // of all of them it is not known
    expect_near(job_mean_between(&s.r, JOB_SENT, JOB_ALL_NODES, 0, 16 * scene_window_s), 31. / 4, 1e-3, "of all");
    expect_near(job_mean_between(&s.r, JOB_SENT, 3, 32 * scene_window_s, 48 * scene_window_s), 3, 1e-3, "of one");
    assert_true(isnan(job_mean_between(&s.r, JOB_SENT, 3, 20, 20)) && isnan(job_mean_between(&s.r, JOB_CPU, 3, 0, 20)));
    node_steps(&s, 0, JOB_GPU_BUSY, 0.2, 0.2, 0, 64); // of what averages, the mean is the total
    node_steps(&s, 3, JOB_GPU_BUSY, 0.6, 0.6, 0, 64);
    job_report_columns(&s.r, JOB_GPU_BUSY, JOB_ALL_NODES, 0, s.r.end_s, c, 4);
    expect_column(&c[0], 0.4, 0.2, 0.6, 0.4, 2, 0, 3);
    scene_end(&s);
}

// Amounts counted while nothing was sampled lie over that time evenly; on the axis, as its clock was moved.
static void amounts_between(void **state)
{
    scene s;
    (void)state;
    scene_make(&s, 1, 1, "cxi", true);
    job_lane *lane = scene_steps(&s, JOB_SENT, 10, 4, 32, 48);
    double w = scene_window_s;
    job_bins_skip(lane->bins, s.r.begin_ns + INT64_C(64) * 4 * SCENE_BIN, s.r.begin_ns + INT64_C(80) * 4 * SCENE_BIN,
                  800);
    expect_near(job_lane_amount(&s.r, lane, 0, 64 * w), (48 * 10 + 16 * 4) * w, 0.1, "all that was sampled");
    expect_near(job_lane_amount(&s.r, lane, 40 * w, 68 * w), (8 * 4 + 16 * 10) * w + 200, 0.1, "some of both");
    expect_near(job_lane_amount(&s.r, lane, 72 * w, 100 * w), 400, 0.1, "the rest");
    lane->bins->offset_ns = INT64_C(-64) * SCENE_BIN; // 16 windows earlier
    expect_near(job_lane_amount(&s.r, lane, 16 * w, 52 * w), (16 * 4 + 16 * 10) * w + 200, 0.1, "moved");
    expect_near(job_lane_amount(&s.r, lane, 64 * w, 90 * w), 0, 1e-9, "behind it");
    lane->total = NAN;
    assert_true(isnan(job_lane_amount(&s.r, lane, 0, 64 * w)) && isnan(job_lane_amount(&s.r, NULL, 0, 64 * w)));
    scene_end(&s);
}

// The worst stretch of each device, and the devices by it.
static void the_worst_of_devices(void **state)
{
    scene s;
    job_worst worst[3];
    size_t all = 0;
    (void)state;
    scene_make(&s, 2, 2, "cxi", true);
    s.devices[0].lanes[JOB_PAUSED] = scene_steps(&s, JOB_PAUSED, 0.1, 0.5, 8, 16);
    s.devices[1].lanes[JOB_PAUSED] = scene_steps(&s, JOB_PAUSED, 0.1, 0.8, 40, 44);
    s.devices[3].lanes[JOB_PAUSED] = scene_steps(&s, JOB_PAUSED, 0.2, 0.2, 0, 64);
    size_t count = job_report_worst(&s.r, JOB_PAUSED, 8 * scene_window_s, worst, 3, &all);
    assert_int_equal(count, 3);
    assert_int_equal(all, 3);
    assert_true(worst[0].device == 0 && worst[1].device == 1 && worst[2].device == 3); // 0.5, (0.8 + 0.1) / 2, 0.2
    expect_near(worst[0].value, 0.5, 1e-3, "the first");
    expect_near(worst[1].value, 0.45, 1e-3, "the second");
    expect_near(worst[2].value, 0.2, 1e-3, "the third");
    expect_near(worst[0].from_s, 8 * scene_window_s, 0.3, "from");
    expect_near(worst[0].to_s, 16 * scene_window_s, 0.3, "to");
    count = job_report_worst(&s.r, JOB_PAUSED, 4 * scene_window_s, worst, 2, &all);
    assert_true(count == 2 && all == 3 && worst[0].device == 1 && worst[1].device == 0);
    expect_near(worst[0].value, 0.8, 1e-3, "of a shorter time");
    expect_near(worst[0].from_s, 40 * scene_window_s, 0.3, "from");
    count = job_report_worst(&s.r, JOB_PAUSED, 1000, worst, 3, &all); // longer than the job: all of it
    expect_near(worst[0].value, 0.2, 1e-3, "of all");
    assert_true(worst[0].device == 3 && count == 3);
    expect_near(worst[1].value, 0.15, 1e-3, "of all");    // (8 x 0.5 + 56 x 0.1) / 64
    expect_near(worst[2].value, 0.14375, 1e-3, "of all"); // (4 x 0.8 + 60 x 0.1) / 64
    scene_end(&s);
}

// The worst first; of equally bad ones the farthest from the middle, 7, and what is not known as if it were there.
static void nodes_by_how_telling_they_are(void **state)
{
    static const double means[] = {3, 7, NAN, 20, 8, 4};
    size_t order[COUNT(means)];
    scene s;
    (void)state;
    scene_make(&s, COUNT(means), 0, "cxi", true);
    for (size_t i = 0; i < COUNT(means); i++)
        if (!isnan(means[i])) node_steps(&s, i, JOB_CPU, means[i], means[i], 0, 64);
    s.nodes[4].severity = SEVERITY_WARN;
    s.nodes[2].severity = SEVERITY_WATCH;
    job_report_rank_nodes(&s.r, JOB_CPU, order);
    static const size_t expected[] = {4, 2, 3, 0, 5, 1}; // 13, 4, 3 and 0 away
    for (size_t i = 0; i < COUNT(means); i++)
        assert_int_equal(order[i], expected[i]);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_changed_meanwhile), cmocka_unit_test(the_time_around_it),
        cmocka_unit_test(since_when_it_fell),     cmocka_unit_test(effects_in_words),
        cmocka_unit_test(columns_of_nodes),       cmocka_unit_test(amounts_between),
        cmocka_unit_test(the_worst_of_devices),   cmocka_unit_test(nodes_by_how_telling_they_are),
    };
    return cmocka_run_group_tests_name("job_effect", tests, NULL, NULL);
}
