// Where the samples of a job lie on its pages.
#define _GNU_SOURCE
#include "netprof.h"

#include "job_cluster.h"

#include "analysis/base/memory.h"
#include "render/pages/job/pages_job_view.h"

#include <math.h>

// A program of 5.75 s, sampled every second: bytes in the first and in the fourth one alone. Columns of 1.15 s moved the
// second burst and made the first one smaller.
static void few_samples_lie_where_they_were(void **state)
{
    (void)state;
    job_report job = {0};
    node_file f = node_open(tree_path(tree, "n1.netprof"),
                            &(node_shape){.name = "n1", .parts = NODE_CPU, .nics = 1, .interval_s = 1});
    for (int t = 0; t <= 5; t++) {
        node_take(&f, t);
        node_add(&f, "cxi0", "hni_sts_tx_ok_octets", t == 0 ? 542e6 : t == 3 ? 20e6 : 0);
        node_add(&f, "cpu", "user", 1e6);
    }
    node_take(&f, 5.75);
    node_close(&f);
    assert_int_equal(job_report_read(&job, (const char *const[]){tree}, 1, NULL, NULL), NETPROF_OK);
    job_view v = job_view_open(&job);
    job_column *columns = job_view_columns(&v, JOB_SENT, 0);
    assert_true(v.column_s <= 0.5);
    assert_string_equal(job_view_column_words(&v), "each sample");
    double most = 0;
    for (size_t i = 0; i < v.time.columns; i++) {
        double from = v.column_s * (double)i, to = from + v.column_s;
        double is = to <= 1 ? 542e6 : from >= 3 && to <= 4 ? 20e6 : 0;
        // Columns on an edge hold some of both.
        bool edge = (from < 1.3 && to > 0.7) || (from < 3.3 && to > 2.7) || (from < 4.3 && to > 3.7);
        if (!edge && !(fabs(columns[i].mean - is) <= 1e-3 * 542e6)) fail_msg("%g-%g s: %g", from, to, columns[i].mean);
        most = fmax(most, columns[i].mean);
    }
    assert_true(most > 0.999 * 542e6);
    job_view_close(&v);
    job_report_free(&job);
}

// Hundreds of samples are drawn one a column.
static void many_samples_are_columns(void **state)
{
    (void)state;
    job_report job = {0};
    node_file f = node_open(tree_path(tree, "n1.netprof"),
                            &(node_shape){.name = "n1", .parts = NODE_CPU, .nics = 1, .interval_s = 1});
    for (int t = 0; t <= 3000; t++) {
        node_take(&f, t);
        node_add(&f, "cxi0", "hni_sts_tx_ok_octets", 1e6);
    }
    node_close(&f);
    assert_int_equal(job_report_read(&job, (const char *const[]){tree}, 1, NULL, NULL), NETPROF_OK);
    job_view v = job_view_open(&job);
    assert_true(v.column_s >= 1);
    assert_string_equal(job_view_column_words(&v), "mean of each 7.50" NUMBER_SPACE "s");
    job_view_close(&v);
    job_report_free(&job);
}

// A little more samples than columns: each column is of one and a quarter, and is not called a sample.
static void what_is_binned_is_not_called_a_sample(void **state)
{
    (void)state;
    job_report job = {0};
    node_file f = node_open(tree_path(tree, "n1.netprof"),
                            &(node_shape){.name = "n1", .parts = NODE_CPU, .nics = 1, .interval_s = 1});
    for (int t = 0; t <= 500; t++) {
        node_take(&f, t);
        node_add(&f, "cxi0", "hni_sts_tx_ok_octets", 1e6);
    }
    node_close(&f);
    assert_int_equal(job_report_read(&job, (const char *const[]){tree}, 1, NULL, NULL), NETPROF_OK);
    job_view v = job_view_open(&job);
    assert_string_equal(job_view_column_words(&v), "mean of each 1.25" NUMBER_SPACE "s");
    job_view_close(&v);
    job_report_free(&job);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void amounts_have_a_space_before_their_word(void **state)
{
    (void)state;
    assert_string_equal(job_view_amount(JOB_RETRIES, 216000).text, "216" NUMBER_SPACE "k" NUMBER_SPACE "retries");
    assert_string_equal(job_view_amount(JOB_RETRIES, 0).text, "0" NUMBER_SPACE "retries");
    assert_string_equal(job_view_amount(JOB_SENT, 2e9).text, "2.00" NUMBER_SPACE "GB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(few_samples_lie_where_they_were),
        TEST(many_samples_are_columns),
        TEST(what_is_binned_is_not_called_a_sample),
        TEST(amounts_have_a_space_before_their_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
