// Times of which a job has no samples: before a node's recording, between two of them, within one and after it.
#define _GNU_SOURCE
#include "netprof.h"

#include "job_cluster.h"

#include <math.h>

static void record(const char *name, const char *file, double interval_s, const double *at, size_t count)
{
    node_file f =
        node_open(tree_path(tree, file), &(node_shape){.name = name, .parts = NODE_CPU, .interval_s = interval_s});
    for (size_t i = 0; i < count; i++) {
        node_take(&f, at[i]);
        node_add(&f, "cpu", "user", 1e6);
    }
    node_close(&f);
}

// Readings at equal distances, from..to.
static void record_evenly(const char *name, const char *file, double interval_s, double from, double to)
{
    double at[200];
    size_t count = (size_t)llround((to - from) / interval_s) + 1;
    for (size_t i = 0; i < count; i++)
        at[i] = from + (double)i * interval_s;
    record(name, file, interval_s, at, count);
}

// Two and a half intervals between two files are as many as within one: no gap yet, whatever their begin is.
static void two_and_a_half_intervals(void **state)
{
    (void)state;
    for (int k = 1; k < 60; k++) {
        bool more = k % 3 == 0;
        double at = 0.1 * k, gap = more ? 0.251 : 0.25;
        record_evenly("n1", "a.netprof", 0.1, 0, at);
        record_evenly("n1", "b.netprof", 0.1, at + gap, at + gap + 0.7); // so long is the job
        record_evenly("n2", "c.netprof", 0.1, gap, at + gap + 0.6);
        record_evenly("n3", "d.netprof", 0.1, 0, at + 0.7);
        job_report job = report_of_tree(NULL);
        if (job.nodes[0].gap_count != more) fail_msg("%d: %zu gaps between", k, job.nodes[0].gap_count);
        if (job.nodes[1].gap_count != more) fail_msg("%d: %zu gaps before", k, job.nodes[1].gap_count);
        if (job.nodes[2].gap_count != more) fail_msg("%d: %zu gaps after", k, job.nodes[2].gap_count);
        job_report_free(&job);
    }
}

static void expect_gap(const job_node *node, size_t i, double from, double to)
{
    const job_gap *x = &node->gaps[i];
    if (!(fabs(x->from_s - from) < 1e-6 && fabs(x->to_s - to) < 1e-6) || x->idle)
        fail_msg("%s: %g to %g", node->name, x->from_s, x->to_s);
}

// Of n2 the files were read in another order than they were written; one lies within another.
static void gaps_of_every_kind(void **state)
{
    static const double within[] = {0, 1, 2, 7, 8, 9, 10, 11, 14, 15, 16};
    (void)state;
    record_evenly("n1", "1.netprof", 1, 0, 40);
    record_evenly("n2", "2.netprof", 1, 14, 20);
    record_evenly("n2", "3.netprof", 1, 5, 10);
    record_evenly("n2", "4.netprof", 1, 25, 30);
    record_evenly("n2", "5.netprof", 1, 16, 18);
    record("n3", "6.netprof", 1, within, COUNT(within));
    record_evenly("n4", "7.netprof", 2, 4, 36);
    job_report job = report_of_tree(NULL);
    assert_int_equal(job.node_count, 4);
    assert_int_equal(job.nodes[0].gap_count, 0);
    assert_int_equal(job.nodes[1].gap_count, 4);
    expect_gap(&job.nodes[1], 0, 0, 5);
    expect_gap(&job.nodes[1], 1, 10, 14);
    expect_gap(&job.nodes[1], 2, 20, 25);
    expect_gap(&job.nodes[1], 3, 30, 40);
    assert_int_equal(job.nodes[1].samples, 7 + 6 + 6);
    assert_int_equal(job.nodes[1].expected, 19 + 5 + 3 + 4 + 10);
    assert_true(fabs(job.nodes[1].begin_s - 5) < 1e-9 && fabs(job.nodes[1].end_s - 30) < 1e-9);
    assert_int_equal(job.nodes[2].gap_count, 3);
    expect_gap(&job.nodes[2], 0, 2, 7);
    expect_gap(&job.nodes[2], 1, 11, 14);
    expect_gap(&job.nodes[2], 2, 16, 40);
    assert_int_equal(job.nodes[2].samples, COUNT(within));
    assert_int_equal(job.nodes[2].expected, COUNT(within) + 4 + 2 + 24);
    assert_int_equal(job.nodes[3].gap_count, 0); // two intervals are none
    assert_int_equal(job.nodes[3].expected, 17);
    assert_int_equal(job.samples, 41 + 19 + 11 + 17);
    assert_int_equal(job.expected, 41 + 41 + 41 + 17);
    assert_true(fabs(job.interval_s - 1) < 1e-9 && fabs(job.nodes[3].interval_s - 2) < 1e-9);
    assert_true(fabs(job.end_s - 40) < 1e-9 && job.begin_ns == CLUSTER_EPOCH);
    job_report_free(&job);
}

// Steps of sixty years are as good as any.
static void steps_as_long_as_clocks_go(void **state)
{
    static const double at[] = {0, 1.87e9, 3.74e9, 5.61e9, 7.48e9};
    (void)state;
    record("n1", "1.netprof", 0, at, COUNT(at));
    job_report job = report_of_tree(NULL);
    assert_int_equal(job.nodes[0].gap_count, 0);
    assert_int_equal(job.nodes[0].samples, COUNT(at));
    assert_true(fabs(job.end_s - 7.48e9) < 1);
    assert_true(fabs(job.nodes[0].interval_s - 1.87e9) < 1);
    job_report_free(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(two_and_a_half_intervals, setup, teardown),
        cmocka_unit_test_setup_teardown(gaps_of_every_kind, setup, teardown),
        cmocka_unit_test_setup_teardown(steps_as_long_as_clocks_go, setup, teardown),
    };
    return cmocka_run_group_tests_name("job_gaps", tests, NULL, NULL);
}
