// What a job was bound by: only where the figures prove it.
#define _GNU_SOURCE
#include "netprof.h"

#include "job_cluster.h"

#include "analysis/job/job_report.h"

enum { SECONDS = 20, LINE_RATE_GBIT = 200 };

// Use of what there is in each of two halves of the time: CPUs of 4, shares of a thread, of a GPU, of the line rate of cxi1
// as sender, of the time waited for I/O and blocked by the network, and CPU seconds waited for one.
typedef struct half {
    double cpus, thread, gpu, sent, stalled, paused, waited;
} half;

static void record_halves(const char *name, const half *halves)
{
    char file[64];
    snprintf(file, sizeof file, "%s.netprof", name);
    node_file f = node_open(
        tree_path(tree, file),
        &(node_shape){
            .name = name, .parts = NODE_PROCESS | NODE_CPU | NODE_GIVEN | NODE_BOUND, .interval_s = 1, .gpus = 1});
    for (int t = 0; t <= SECONDS; t++) {
        const half *now = &halves[t >= SECONDS / 2];
        node_set(&f, "gpu0", "busy", now->gpu * 100);
        node_take(&f, t);
        node_add(&f, "job", "cpu_user", now->cpus * 1e6);
        node_add(&f, "cpu", "user", now->cpus * 1e6);
        node_add(&f, "job", "busiest_thread", now->thread * 1e9);
        node_add(&f, "job", "run_queue_wait", now->waited * 1e9);
        node_add(&f, "cxi1", "hni_sts_tx_ok_octets", now->sent * LINE_RATE_GBIT * 1e9 / 8);
        node_add(&f, "cxi1", "hni_tx_paused_0", now->paused * 1e9);
        node_add(&f, "pressure", "io_full", now->stalled * 1e6);
    }
    node_close(&f);
}

static void bound_only_by_what_the_figures_prove(void **state)
{
    static const struct {
        half halves[2];
        unsigned bound; // a bit for each job_bottleneck_of
        const char *begins;
    } rows[] = {
        {{{.cpus = 3.8, .thread = 1}, {.cpus = 3.8, .thread = 1}}, 1u << JOB_BOUND_CPU, "CPUs: 95.0 % of its CPUs"},
        {{{.cpus = 1, .thread = .96}, {.cpus = 1, .thread = .96}},
         1u << JOB_BOUND_THREAD,
         "one thread: 96.0 % of a core in the mean, 90 % or more for 100 % of the time"},
        // In a half of the time: just enough, and just not.
        {{{.cpus = 1, .thread = .96}, {.cpus = 1, .thread = .5}},
         1u << JOB_BOUND_THREAD,
         "one thread: 73.0 % of a core"},
        {{{.cpus = 1, .thread = .89}, {.cpus = 1, .thread = .89}}, 0, "not known: nothing measured was at its limit"},
        // A thread that polls for the GPU.
        {{{.cpus = 1, .thread = 1, .gpu = .97}, {.cpus = 1, .thread = 1, .gpu = .97}}, 1u << JOB_BOUND_GPU, "GPUs: "},
        {{{.cpus = .5, .thread = .3, .sent = .95}, {.cpus = .5, .thread = .3, .sent = .95}},
         1u << JOB_BOUND_SENDING,
         "sending: 95.0 % of the line rate of the busiest NIC"},
        {{{.cpus = .1, .thread = .1, .stalled = .95}, {.cpus = .1, .thread = .1, .stalled = .95}},
         1u << JOB_BOUND_IO,
         "I/O: all tasks waited for it 95.0 % of the time"},
        {{{.cpus = .1, .thread = .1}, {.cpus = .1, .thread = .1}}, 0, "not known: "},
        {{{.cpus = 1, .thread = .5, .waited = 1}, {.cpus = 1, .thread = .5, .waited = 1}},
         1u << JOB_BOUND_WAITING,
         "waiting for CPUs that others had: 50 % of the time"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        record_halves("n1", rows[i].halves);
        job_report job = report_of_tree(NULL);
        unsigned bound = 0;
        for (int of = 0; of < JOB_BOUNDS; of++)
            bound |= (unsigned)job.bottlenecks[of].bound << of;
        if (bound != rows[i].bound || strncmp(job.bound_text, rows[i].begins, strlen(rows[i].begins)) != 0)
            fail_msg("%zu: %x: %s", i, bound, job.bound_text);
        job_report_free(&job);
    }
}

// One of two nodes for the whole time is half of the nodes' time; that a thread was busy there is in the mean of both.
static void of_all_nodes(void **state)
{
    static const half busy[2] = {{.cpus = 1, .thread = 1}, {.cpus = 1, .thread = 1}},
                      idle[2] = {{.cpus = 0}, {.cpus = 0}};
    (void)state;
    record_halves("n1", busy);
    record_halves("n2", idle);
    record_halves("n3", idle);
    job_report job = report_of_tree(NULL);
    const job_bottleneck *x = &job.bottlenecks[JOB_BOUND_THREAD];
    assert_true(fabs(x->mean - 1.0 / 3) < 0.01 && fabs(x->share - 1.0 / 3) < 0.01 && !x->bound);
    job_report_free(&job);
}

// A headline of half the CPUs busy would read as if there were room.
static void a_thread_at_its_limit_is_in_the_headline(void **state)
{
    static const half busy[2] = {{.cpus = 1, .thread = .96}, {.cpus = 1, .thread = .96}};
    (void)state;
    record_halves("n1", busy);
    job_report job = report_of_tree(NULL);
    if (!strstr(job.title, "one thread at 96.0 % of its core, CPUs 25 % busy")) fail_msg("%s", job.title);
    job_report_free(&job);
}

static bool told_of_the_kernel(const job_report *job)
{
    for (size_t i = 0; i < job->note_count; i++)
        if (strstr(job->notes[i].text, "of its CPU time was spent in the kernel")) return true;
    return false;
}

// "Its" CPU time is that of one node; where most of it is the program's own there is nothing to say.
static void time_in_the_kernel_is_told_of_one_node(void **state)
{
    static const double kernel[] = {.4, .6, .6};
    (void)state;
    for (int node = 0; node < 3; node++) {
        char name[8], file[32];
        snprintf(name, sizeof name, "n%d", node ? node : 1); // the first is replaced
        snprintf(file, sizeof file, "%s.netprof", name);
        node_file f =
            node_open(tree_path(tree, file),
                      &(node_shape){.name = name, .parts = NODE_PROCESS | NODE_CPU, .nics = -1, .interval_s = 1});
        for (int t = 0; t <= SECONDS; t++) {
            node_take(&f, t);
            node_add(&f, "job", "cpu_user", 2e6 * (1 - kernel[node]));
            node_add(&f, "job", "cpu_system", 2e6 * kernel[node]);
            node_add(&f, "cpu", "user", 2e6 * (1 - kernel[node]));
            node_add(&f, "cpu", "system", 2e6 * kernel[node]);
        }
        node_close(&f);
        job_report job = report_of_tree(NULL);
        assert_int_equal(told_of_the_kernel(&job), node == 1);
        job_report_free(&job);
    }
}

static void old_recordings_have_no_thread(void **state)
{
    (void)state;
    node_file f = node_open(tree_path(tree, "n1.netprof"),
                            &(node_shape){.name = "n1", .parts = NODE_CPU, .nics = -1, .interval_s = 1});
    for (int t = 0; t <= 5; t++)
        node_take(&f, t);
    node_close(&f);
    job_report job = report_of_tree(NULL);
    assert_null(job.bound_text);
    for (int of = 0; of < JOB_BOUNDS; of++)
        assert_true(isnan(job.bottlenecks[of].mean) && !job.bottlenecks[of].bound);
    job_report_free(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bound_only_by_what_the_figures_prove, setup, teardown),
        cmocka_unit_test_setup_teardown(of_all_nodes, setup, teardown),
        cmocka_unit_test_setup_teardown(a_thread_at_its_limit_is_in_the_headline, setup, teardown),
        cmocka_unit_test_setup_teardown(time_in_the_kernel_is_told_of_one_node, setup, teardown),
        cmocka_unit_test_setup_teardown(old_recordings_have_no_thread, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
