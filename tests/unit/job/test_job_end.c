// How a job ended and which of its nodes were recorded, as its files tell.
#define _GNU_SOURCE
#include "netprof.h"

#include "job_cluster.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/job/job_nodelist.h"
#include "analysis/job/job_report.h"

static void record_node(const char *name, const char *const *facts)
{
    char file[64];
    snprintf(file, sizeof file, "%s.netprof", name);
    node_file f = node_open(tree_path(tree, file),
                            &(node_shape){.name = name, .parts = NODE_CPU, .interval_s = 1, .facts = facts});
    for (int t = 0; t <= 10; t++) {
        node_take(&f, t);
        node_add(&f, "cpu", "user", 3.9e6);
    }
    node_close(&f);
}

// ---- tests ----

static void lists_of_nodes(void **state)
{
    static const struct {
        const char *list, *names; // NULL: none
    } rows[] = {{"n1", "n1"},
                {"n[1-3]", "n1 n2 n3"},
                {"n[08-11,20],login", "n08 n09 n10 n11 n20 login"},
                {"a,b,c", "a b c"},
                {"r[1-2]n[1-2]x", "r1n1x r1n2x r2n1x r2n2x"},
                {"", ""},
                {"n[1-3", NULL},
                {"n[3-1]", NULL},
                {"n[a-b]", NULL},
                {"n[1-999999999]", NULL},
                {"n[]", NULL},
                {"n1,n[]", NULL}, // no part of a list that cannot be read
                {"n1,n[1,]", NULL},
                {"n1,n[3-1]", NULL},
                {"r[1-9999]n[1-9999]", NULL}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char **names = job_nodelist(rows[i].list), joined[256] = "";
        for (size_t k = 0; k < arrlenu(names); k++) {
            strcat(joined, k ? " " : "");
            strcat(joined, names[k]);
        }
        if (!rows[i].names != !names && (!rows[i].names || *rows[i].names)) fail_msg("%s: %s", rows[i].list, joined);
        if (rows[i].names) assert_string_equal(joined, rows[i].names);
        job_nodelist_free(names);
    }
}

static void a_node_without_a_recording(void **state)
{
    (void)state;
    const char *const facts[] = {"job_id", "8", "job_nodes", "n[1-3]", "job_node_count", "3", "exit_status", "0", NULL};
    record_node("n1", facts);
    record_node("n2", facts);
    job_report job = report_of_tree(NULL);
    const job_finding *x = &job.findings[0];
    assert_string_equal(x->rule, "node-missing");
    assert_int_equal(x->severity, SEVERITY_UNKNOWN);
    assert_int_equal(job.severity, SEVERITY_UNKNOWN);
    assert_string_equal(x->claim, "n3: no recording; 2 of 3 nodes were recorded");
    assert_string_equal(job.title, "n3: no recording, 2 of 3 nodes");
    assert_int_equal(job.given_nodes, 3);
    job_report_free(&job);
    record_node("n3", facts);
    job = report_of_tree(NULL);
    assert_null(finding_of(&job, "node-missing"));
    assert_non_null(strstr(job.title, "No fault found"));
    job_report_free(&job);
}

// One node of several may be all that was meant; but of the others nothing is known.
static void one_node_of_several(void **state)
{
    (void)state;
    record_node("n1", (const char *const[]){"job_id", "8", "job_node_count", "4", NULL});
    job_report job = report_of_tree(NULL);
    assert_int_equal(job.severity, SEVERITY_UNKNOWN);
    assert_string_equal(job.findings[0].claim, "3 nodes of the job: no recording; 1 of 4 nodes was recorded");
    assert_null(strstr(job.title, "No fault found"));
    job_report_free(&job);
}

// A list of other names than the recordings have says how many there are, and no more.
static void names_of_another_kind(void **state)
{
    (void)state;
    const char *const facts[] = {"job_id", "8", "job_nodes", "gpu[1-2]", "job_node_count", "2", NULL};
    record_node("a", facts);
    record_node("b", facts);
    job_report job = report_of_tree(NULL);
    assert_null(finding_of(&job, "node-missing"));
    job_report_free(&job);
}

static void how_it_ended(void **state)
{
    static const struct {
        const char *facts[8];
        const char *is;
        severity how;
        const char *claim; // NULL: no finding
    } rows[] = {
        {{"exit_status", "0"}, "the command ended with exit status 0", SEVERITY_OK, NULL},
        {{"exit_status", "3"},
         "the command ended with exit status 3",
         SEVERITY_WARN,
         "the command failed with exit status 3"},
        {{"exit_status", "139", "signal", "11"},
         "the command was ended by signal 11 (segmentation fault)",
         SEVERITY_WARN,
         "the command was ended by signal 11 (segmentation fault)"},
        {{"job_state", "COMPLETED", "job_exit_code", "0:0"}, "COMPLETED, exit code 0", SEVERITY_OK, NULL},
        {{"job_state", "FAILED", "job_exit_code", "2:0"},
         "FAILED, exit code 2",
         SEVERITY_WARN,
         "the job\u2019s state is FAILED, exit code 2"},
        {{"job_state", "CANCELLED by 1000", "job_exit_code", "0:15"},
         "CANCELLED by 1000, exit code 0, signal 15 (terminated)",
         SEVERITY_WATCH,
         "the job\u2019s state is CANCELLED by 1000, exit code 0, signal 15 (terminated)"},
        {{"job_state", "TIMEOUT"}, "TIMEOUT", SEVERITY_WARN, "the job\u2019s state is TIMEOUT"},
        {{"job_state", "OUT_OF_MEMORY", "job_exit_code", "0:125"},
         "OUT_OF_MEMORY, exit code 0, signal 125",
         SEVERITY_CRITICAL,
         "the job\u2019s state is OUT_OF_MEMORY, exit code 0, signal 125"},
        {{"ended_by", "stop file"},
         "not known: no exit code was recorded; the recording was ended by: stop file",
         SEVERITY_OK,
         NULL},
        {{NULL}, "not known: no exit code was recorded", SEVERITY_OK, NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        record_node("n1", rows[i].facts);
        job_report job = report_of_tree(NULL);
        const job_finding *x = finding_of(&job, "job-failed");
        assert_string_equal(job.state, rows[i].is);
        assert_int_equal(job.severity, rows[i].how);
        assert_int_equal(x != NULL, rows[i].claim != NULL);
        if (x) assert_string_equal(x->claim, rows[i].claim);
        job_report_free(&job);
    }
}

// Numbers of signal(7) on Linux.
static void signals_have_names(void **state)
{
    static const struct {
        int number;
        const char *text;
    } rows[] = {{1, "1 (hung up)"},
                {2, "2 (interrupted)"},
                {3, "3 (quit)"},
                {4, "4 (illegal instruction)"},
                {6, "6 (aborted)"},
                {7, "7 (bus error)"},
                {8, "8 (arithmetic error)"},
                {9, "9 (killed)"},
                {11, "11 (segmentation fault)"},
                {15, "15 (terminated)"},
                {24, "24 (CPU time limit)"},
                {25, "25 (file size limit)"},
                {40, "40"}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char number[12], status[12], text[100];
        snprintf(number, sizeof number, "%d", rows[i].number);
        snprintf(status, sizeof status, "%d", 128 + rows[i].number);
        snprintf(text, sizeof text, "the command was ended by signal %s", rows[i].text);
        record_node("n1", (const char *const[]){"exit_status", status, "signal", number, NULL});
        job_report job = report_of_tree(NULL);
        assert_string_equal(job.state, text);
        job_report_free(&job);
    }
}

// Not everything is well because one of two says so.
static void one_of_two_says_how(void **state)
{
    (void)state;
    record_node("n1", (const char *const[]){"exit_status", "0", NULL});
    record_node("n2", (const char *const[]){NULL});
    job_report job = report_of_tree(NULL);
    assert_string_equal(job.state, "the command ended with exit status 0, as 1 of 2 recordings says");
    job_report_free(&job);
}

// Of several nodes the one that failed.
static void one_of_two_failed(void **state)
{
    (void)state;
    record_node("n9", (const char *const[]){"exit_status", "0", NULL}); // nodes are in another order than their files
    record_node("n10", (const char *const[]){"exit_status", "7", NULL});
    job_report job = report_of_tree(NULL);
    assert_string_equal(finding_of(&job, "job-failed")->claim, "the command failed with exit status 7 on n10");
    job_report_free(&job);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(lists_of_nodes), TEST(a_node_without_a_recording), TEST(one_node_of_several), TEST(names_of_another_kind),
        TEST(how_it_ended),   TEST(signals_have_names),         TEST(one_of_two_says_how), TEST(one_of_two_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
