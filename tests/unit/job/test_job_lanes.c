// What a node's meters are in the end: in order, whole, in shares, as sums of parts, and never more than there is.
#define _GNU_SOURCE
#include "netprof.h"

#include "job_cluster.h"

#include <math.h>

static void expect_near(double value, double expected, double share, const char *what)
{
    if (isnan(expected) && isnan(value)) return;
    if (!(fabs(value - expected) <= share * fabs(expected))) fail_msg("%s: %.12g is not %.12g", what, value, expected);
}

// Sums over resident sizes come to more than the node has: so much they were at most.
static void memory_is_never_more_than_there_is(void **state)
{
    static const double resident[] = {50e9, 50e9, 90e9, 90e9, 80e9};
    (void)state;
    node_file f = node_open(tree_path(tree, "n1.netprof"),
                            &(node_shape){.name = "n1", .parts = NODE_PROCESS | NODE_MEMORY, .interval_s = 1});
    node_set(&f, "memory", "MemTotal", 64e9);
    node_set(&f, "memory", "MemAvailable", 4e9);
    for (size_t t = 0; t < COUNT(resident); t++) {
        node_set(&f, "job", "resident", resident[t]);
        node_take(&f, (double)t);
    }
    node_close(&f);
    job_report job = report_of_tree(NULL);
    const job_lane *x = job.nodes[0].lanes[JOB_MEMORY];
    assert_true(x->upper_bound && !x->lower_bound);
    expect_near(x->first, 50e9, 1e-9, "first");
    expect_near(x->last, 64e9, 1e-9, "last");
    expect_near(x->low, 50e9, 1e-9, "low");
    expect_near(x->high, 64e9, 1e-9, "high");
    expect_near(x->mean, (50e9 + 3 * 64e9) / 4, 0.01, "mean"); // the second step is 70 of 64 GB
    expect_near(x->capacity, 64e9, 1e-9, "capacity");
    expect_near(x->known_s, 4, 1e-9, "known");
    expect_near(job.nodes[0].memory_peak, 64e9, 1e-9, "peak");
    expect_near(job.nodes[0].lanes[JOB_NODE_MEMORY]->mean, 60e9, 1e-6, "the node's own");
    job_report_free(&job);
}

// In shares of all CPUs.
static void waits_for_disks_in_shares(void **state)
{
    (void)state;
    node_file f = node_open(tree_path(tree, "n1.netprof"),
                            &(node_shape){.name = "n1", .parts = NODE_CPU, .cpus = 8, .interval_s = 1});
    for (int t = 0; t <= 20; t++) {
        node_take(&f, t);
        node_add(&f, "cpu", "iowait", t < 5 ? 0.8e6 : 1.6e6);
        node_add(&f, "cpu", "user", 2e6);
    }
    node_close(&f);
    job_report job = report_of_tree(NULL);
    const job_lane *x = job.nodes[0].lanes[JOB_IO_WAIT];
    expect_near(x->mean, (5 * 0.1 + 15 * 0.2) / 20, 1e-6, "mean");
    expect_near(x->low, 0.1, 1e-6, "low");
    expect_near(x->high, 0.2, 1e-6, "high");
    expect_near(x->capacity, 1, 1e-9, "capacity");
    expect_near(job.nodes[0].lanes[JOB_NODE_CPU]->capacity, 8, 1e-9, "CPUs");
    expect_near(job.nodes[0].lanes[JOB_NODE_CPU]->mean, 2, 1e-6, "busy");
    expect_near(job.nodes[0].lanes[JOB_CPU]->mean, 2, 1e-6, "the node's stands for the job's");
    assert_int_equal(job.nodes[0].lanes[JOB_CPU]->meter, JOB_CPU);
    assert_int_equal(job.nodes[0].scope[JOB_CPU], JOB_SCOPE_NODE);
    expect_near(job.nodes[0].cpus, 8, 1e-9, "all");
    job_report_free(&job);
}

// Without a meter of the whole node, power is what its parts draw together; a part that was reset makes it at least that.
static void power_of_parts(void **state)
{
    (void)state;
    for (int reset = 0; reset < 2; reset++) {
        node_file f = node_open(tree_path(tree, "n1.netprof"),
                                &(node_shape){.name = "n1", .parts = NODE_ENERGY, .gpus = 2, .interval_s = 1});
        for (int i = 0; i < 2; i++) {
            const char *gpu = i ? "gpu1" : "gpu0";
            node_set(&f, gpu, "memory_total", i ? 40e9 : 80e9);
            node_set(&f, gpu, "memory_used", i ? 10e9 : 30e9);
            node_set(&f, gpu, "power_limit", i ? 300e6 : 500e6);
            node_set(&f, gpu, "busy", i ? 20 : 90);
        }
        for (int t = 0; t <= 30; t++) {
            node_take(&f, t);
            node_add(&f, "package-0", "energy", t < 10 ? 100e6 : 200e6);
            node_add(&f, "package-0/dram", "energy", t < 10 ? 10e6 : 25e6);
            node_add(&f, "gpu0", "energy", 300e6);
            node_add(&f, "gpu1", "energy", t < 10 ? 250e6 : 50e6);
            if (reset && t == 20) node_set(&f, "gpu1", "energy", 0);
        }
        node_close(&f);
        job_report job = report_of_tree(NULL);
        const job_node *n = &job.nodes[0];
        const job_lane *x = n->lanes[JOB_POWER];
        assert_true(n->state[JOB_POWER] == JOB_KNOWN && n->scope[JOB_POWER] == JOB_SCOPE_NONE);
        assert_int_equal(x->lower_bound, reset);
        // In the bin that has some of both times, the least and the most of each part add up.
        expect_near(x->low, 100 + 10 + 350, 1e-5, "low");
        expect_near(x->high, 200 + 25 + 550, 1e-5, "high");
        if (!reset) expect_near(x->mean, (10 * 660. + 20 * 575) / 30, 1e-3, "mean");
        if (!reset) expect_near(x->total, 10 * 660. + 20 * 575, 1e-6, "total");
        expect_near(x->known_s, reset ? 29 : 30, 0.02, "known");
        expect_near(n->lanes[JOB_POWER_CPU]->total, 10 * 100. + 20 * 200, 1e-6, "CPUs");
        expect_near(n->lanes[JOB_POWER_DRAM]->total, 10 * 10. + 20 * 25, 1e-6, "memory");
        expect_near(n->lanes[JOB_POWER_GPU]->capacity, 800, 1e-6, "of both");
        expect_near(n->lanes[JOB_GPU_MEMORY]->capacity, 120e9, 1e-6, "of both");
        expect_near(n->lanes[JOB_GPU_MEMORY]->mean, 40e9, 1e-6, "in both");
        expect_near(n->lanes[JOB_GPU_BUSY]->mean, 0.55, 1e-6, "in the mean");
        expect_near(n->lanes[JOB_GPU_BUSY]->capacity, 1, 1e-6, "all of the time");
        expect_near(n->lanes[JOB_SENT]->capacity, 50e9, 1e-6, "both lines");
        for (size_t i = 0; i < job.device_count; i++)
            if (strcmp(job.devices[i].name, "gpu1") == 0) {
                expect_near(job.devices[i].lanes[JOB_GPU_MEMORY]->capacity, 40e9, 1e-9, "its own");
                expect_near(job.devices[i].lanes[JOB_POWER_GPU]->capacity, 300, 1e-9, "its own");
                assert_int_equal(job.devices[i].lanes[JOB_POWER_GPU]->resets, reset);
            }
        job_report_free(&job);
    }
}

// Numbers in names by their value, whatever zeros are before them; names that are the same but for these by their letters.
static void nodes_and_devices_in_order(void **state)
{
    static const char *const names[] = {"n10", "m2", "n2", "n002", "n1b", "n1", "n1a10", "n1a9", "n0"};
    static const char *const ordered[] = {"m2", "n0", "n1", "n1a9", "n1a10", "n1b", "n002", "n2", "n10"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        char file[32];
        snprintf(file, sizeof file, "%zu.netprof", i);
        node_file f =
            node_open(tree_path(tree, file), &(node_shape){.name = names[i], .nics = 12, .gpus = 1, .interval_s = 1});
        for (int t = 0; t <= 3; t++) {
            node_take(&f, t);
            node_add(&f, "cxi11", "hni_sts_tx_ok_octets", 1000 * (double)(i + 1));
        }
        node_close(&f);
    }
    job_report job = report_of_tree(NULL);
    assert_int_equal(job.node_count, COUNT(names));
    for (size_t i = 0; i < COUNT(names); i++) {
        const job_node *n = &job.nodes[i];
        assert_string_equal(n->name, ordered[i]);
        assert_int_equal(n->device_count, 13);
        const job_device *d = &job.devices[n->first_device];
        assert_string_equal(d[0].label, "NIC 1 (cxi0)");
        assert_string_equal(d[2].label, "NIC 3 (cxi2)");
        assert_string_equal(d[11].label, "NIC 12 (cxi11)");
        assert_string_equal(d[12].label, "GPU 1 (gpu0)");
        size_t from = 0;
        while (strcmp(names[from], ordered[i]) != 0)
            from++;
        expect_near(d[11].lanes[JOB_SENT]->mean, 1000 * (double)(from + 1), 1e-6, "its own bytes");
        expect_near(d[10].lanes[JOB_SENT]->mean, 0, 1e-6, "another's");
        expect_near(n->lanes[JOB_SENT]->total, 3000 * (double)(from + 1), 1e-9, "its node's");
    }
    job_report_free(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(memory_is_never_more_than_there_is, setup, teardown),
        cmocka_unit_test_setup_teardown(waits_for_disks_in_shares, setup, teardown),
        cmocka_unit_test_setup_teardown(power_of_parts, setup, teardown),
        cmocka_unit_test_setup_teardown(nodes_and_devices_in_order, setup, teardown),
    };
    return cmocka_run_group_tests_name("job_lanes", tests, NULL, NULL);
}
