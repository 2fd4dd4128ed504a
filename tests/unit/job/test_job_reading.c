// Many files of a job, read by several threads: the report is the same whoever read them, and what each file tells is in it
// once.
#define _GNU_SOURCE
#include "netprof.h"

#include "job_cluster.h"

#include "analysis/base/memory.h"

enum { NODES = 25, SECONDS = 40 };

// Node i sends i + 1 MB/s; every fifth loses packets, i + 1 each second.
static void write_node(int i, const char *file, double from, double to, const char *const *facts)
{
    char name[16];
    snprintf(name, sizeof name, "n%d", i);
    node_shape shape = {.name = name, .parts = NODE_ALL & ~NODE_HWMON, .interval_s = 1, .gpus = i % 3, .facts = facts};
    node_file f = node_open(tree_path(tree, file), &shape);
    node_set(&f, "memory", "MemTotal", 64.0 * (1 << 30));
    node_set(&f, "memory", "MemAvailable", 48.0 * (1 << 30));
    for (double t = from; t <= to; t++) {
        node_take(&f, t);
        node_add(&f, "cxi0", "hni_sts_tx_ok_octets", (i + 1) * 1e6);
        node_add(&f, "cxi0", "hni_sts_rx_ok_octets", 1e6);
        node_add(&f, "cpu", "user", 1e6);
        if (i % 5 == 0) node_add(&f, "cxi0", "pct_retry_srb_requests", i + 1);
    }
    node_close(&f);
}

static void write_nodes(const char *const *facts)
{
    char file[32];
    for (int i = 0; i < NODES; i++) {
        snprintf(file, sizeof file, "f%02d.netprof", i);
        write_node(i, file, 0, SECONDS, facts);
    }
}

// Only the first bytes of a file stay.
static void cut(const char *file, long size)
{
    assert_int_equal(truncate(tree_path(tree, file), size), 0);
}

static job_report read_by(size_t threads, const rules *judged_by)
{
    job_report job = {0};
    netprof_error error = {.code = NETPROF_OK};
    const job_report_options how = {.rules = judged_by, .threads = threads};
    if (job_report_read(&job, (const char *const[]){tree}, 1, &how, &error)) fail_msg("%s: %s", error.path, error.text);
    return job;
}

static char *all_of(const job_report *job)
{
    json_object *o = job_report_json(job);
    char *text = memory_strdup(json_to_text(o, JSON_C_TO_STRING_PRETTY)), *longer;
    json_object_put(o);
    for (size_t i = 0; i < job->warning_count; i++) {
        longer = memory_format("%s%s: %s\n", text, job->warnings[i].path, job->warnings[i].text);
        free(text);
        text = longer;
    }
    return text;
}

static void expect_the_same_by_any_threads(void)
{
    static const size_t threads[] = {2, 3, 8, 0};
    rules set = {0};
    rules_builtin(&set);
    job_report job = read_by(1, &set);
    char *alone = all_of(&job);
    job_report_free(&job);
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        job = read_by(threads[i], &set);
        char *together = all_of(&job);
        assert_string_equal(together, alone);
        free(together);
        job_report_free(&job);
    }
    free(alone);
    rules_free(&set);
}

static double sent_by(const job_report *job, const char *name)
{
    for (size_t i = 0; i < job->node_count; i++)
        if (strcmp(job->nodes[i].name, name) == 0) return job->nodes[i].lanes[JOB_SENT]->total;
    fail_msg("no node %s", name);
    return 0;
}

static double event_sum(const job_report *job, const char *counter, size_t *devices)
{
    for (size_t i = 0; i < job->event_count; i++) {
        *devices = job->events[i].devices;
        if (strcmp(job->events[i].counter, counter) == 0) return job->events[i].sum;
    }
    fail_msg("no event %s", counter);
    return 0;
}

static void expect_warning(const job_report *job, const char *file, const char *text, size_t times)
{
    size_t count = 0;
    for (size_t i = 0; i < job->warning_count; i++)
        count += strstr(job->warnings[i].path, file) && strstr(job->warnings[i].text, text);
    if (count != times) fail_msg("%zu warnings of %s: %s", count, file, text);
}

// ---- tests ----

static void each_file_counts_once(void **state)
{
    (void)state;
    size_t devices;
    write_nodes(NULL);
    for (size_t threads = 1; threads <= 8; threads *= 2) {
        job_report job = read_by(threads, NULL);
        assert_int_equal(job.node_count, NODES);
        assert_int_equal(job.files, NODES);
        assert_int_equal(job.samples, NODES * (SECONDS + 1));
        assert_int_equal(job.device_count, NODES * 3 + 8 * (1 + 2)); // 2 NICs, a control group; 1 or 2 GPUs on 8 each
        for (int i = 0; i < NODES; i++) {
            char name[16];
            snprintf(name, sizeof name, "n%d", i);
            assert_string_equal(job.nodes[i].name, name);
            assert_true(sent_by(&job, name) == (i + 1) * 1e6 * SECONDS);
        }
        // 1, 6, 11, 16, 21 a second
        assert_true(event_sum(&job, "pct_retry_srb_requests", &devices) == 55 * SECONDS);
        assert_int_equal(devices, 5);
        assert_int_equal(job.warning_count, 0);
        job_report_free(&job);
    }
    expect_the_same_by_any_threads();
}

// What the second node counts is unknown to the first, whose only event is another: two events, each with its own.
static void a_counter_of_later_nodes(void **state)
{
    static const node_shape shape = {.name = "n0", .parts = NODE_CGROUP, .interval_s = 1, .nics = -1};
    size_t devices;
    (void)state;
    node_file f = node_open(tree_path(tree, "f00.netprof"), &shape);
    for (int t = 0; t <= SECONDS; t++) {
        node_take(&f, t);
        if (t % 10 == 5) node_add(&f, "/job", "oom_kills", 1);
    }
    node_close(&f);
    write_node(5, "f05.netprof", 0, SECONDS, NULL);
    for (size_t threads = 1; threads <= 8; threads *= 2) {
        job_report job = read_by(threads, NULL);
        assert_true(event_sum(&job, "oom_kills", &devices) == 4);
        assert_int_equal(devices, 1);
        assert_true(event_sum(&job, "pct_retry_srb_requests", &devices) == 6 * SECONDS);
        assert_int_equal(devices, 1);
        job_report_free(&job);
    }
    expect_the_same_by_any_threads();
}

// Put together they are one file, which is read in one go.
static void files_are_as_one_file_of_them(void **state)
{
    (void)state;
    write_nodes(NULL);
    rules set = {0};
    rules_builtin(&set);
    job_report job = read_by(4, &set);
    char *apart = all_of(&job), *command = memory_format("cd '%s' && cat f*.netprof >all && rm f*.netprof && "
                                                         "mv all all.netprof",
                                                         tree);
    job_report_free(&job);
    assert_int_equal(system(command), 0);
    job = read_by(4, &set);
    char *together = all_of(&job);
    assert_string_equal(together, apart);
    job_report_free(&job);
    free(command);
    free(apart);
    free(together);
    rules_free(&set);
}

static void damaged_files_among_others(void **state)
{
    (void)state;
    write_nodes(NULL);
    cut("f07.netprof", 100);  // not even a schema
    cut("f11.netprof", 4000); // some readings
    tree_write(tree, "f13.netprof", "no recording");
    job_report job = read_by(8, NULL);
    assert_true(job.damaged);
    assert_int_equal(job.node_count, NODES - 2);
    assert_int_equal(job.files, NODES - 2);
    expect_warning(&job, "f07.netprof", "", 1);
    expect_warning(&job, "f13.netprof", "", 1);
    for (size_t i = 0; i < job.node_count; i++)
        assert_int_equal(job.nodes[i].complete, strcmp(job.nodes[i].name, "n11") != 0);
    job_report_free(&job);
    expect_the_same_by_any_threads();
}

static void the_first_files_are_damaged(void **state)
{
    (void)state;
    write_nodes(NULL);
    cut("f00.netprof", 100);
    cut("f01.netprof", 100);
    job_report job = read_by(8, NULL);
    assert_int_equal(job.node_count, NODES - 2);
    job_report_free(&job);
    expect_the_same_by_any_threads();
}

// Later ones that overlap are left out, with a note; those that go on, go on.
static void several_files_of_a_node(void **state)
{
    (void)state;
    write_nodes(NULL);
    write_node(3, "f03b.netprof", SECONDS + 1, 2 * SECONDS + 1, NULL); // right behind that of the node
    write_node(3, "g03.netprof", 2 * SECONDS + 2, 3 * SECONDS + 2, NULL);
    write_node(9, "g09.netprof", 0, SECONDS, NULL);
    for (size_t threads = 1; threads <= 8; threads *= 2) {
        job_report job = read_by(threads, NULL);
        assert_int_equal(job.node_count, NODES);
        assert_int_equal(job.files, NODES + 3);
        assert_true(sent_by(&job, "n3") == 3 * 4e6 * SECONDS);
        assert_true(sent_by(&job, "n9") == 10e6 * SECONDS);
        expect_warning(&job, "g09.netprof", "overlaps in time", 1);
        job_report_free(&job);
    }
    expect_the_same_by_any_threads();
}

static void a_file_of_another_job(void **state)
{
    (void)state;
    const char *const one[] = {"job_id", "1", NULL}, *const other[] = {"job_id", "2", NULL};
    write_nodes(one);
    write_node(4, "f04.netprof", 0, SECONDS, other);
    job_report job = read_by(4, NULL);
    assert_string_equal(job.job_id, "1");
    assert_int_equal(job.warning_count, 1);
    expect_warning(&job, "f04.netprof", "is of job 2, other files of job 1", 1);
    job_report_free(&job);
    expect_the_same_by_any_threads();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_file_counts_once),      TEST(a_counter_of_later_nodes),    TEST(files_are_as_one_file_of_them),
        TEST(damaged_files_among_others), TEST(the_first_files_are_damaged), TEST(several_files_of_a_node),
        TEST(a_file_of_another_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
