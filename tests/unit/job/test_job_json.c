// The JSON of a job's report says what was recorded: two nodes of a minute, the second with three times as much of
// everything and a gap. Every expected figure is arithmetic on that.
#define _GNU_SOURCE
#include "netprof.h"

#include "job_cluster.h"

#include "analysis/job/job_report.h"

#include <math.h>

// What a path of keys and indexes leads to: "hosts.1.meters.cpu.mean". Fails where there is nothing.
static json_object *at(json_object *o, const char *path)
{
    char copy[200], *save;
    snprintf(copy, sizeof copy, "%s", path);
    for (char *key = strtok_r(copy, ".", &save); key; key = strtok_r(NULL, ".", &save)) {
        json_object *next = NULL;
        if (json_object_is_type(o, json_type_array))
            next = json_object_array_get_idx(o, (size_t)atoi(key));
        else if (!json_object_object_get_ex(o, key, &next))
            fail_msg("%s: no %s", path, key);
        o = next;
    }
    return o;
}

static void expect_number(json_object *o, const char *path, double expected)
{
    double value = json_object_get_double(at(o, path));
    if (!at(o, path) || !(fabs(value - expected) <= 1e-3 * fmax(1e-9, fabs(expected))))
        fail_msg("%s: %.12g is not %.12g", path, value, expected);
}

static void expect_text(json_object *o, const char *path, const char *expected)
{
    const char *text = json_object_get_string(at(o, path));
    if (!text || strcmp(text, expected) != 0) fail_msg("%s: %s is not %s", path, text, expected);
}

static void expect_length(json_object *o, const char *path, size_t expected)
{
    if (json_object_array_length(at(o, path)) != expected)
        fail_msg("%s: %zu elements, expected %zu", path, json_object_array_length(at(o, path)), expected);
}

static bool has(json_object *o, const char *path, const char *key)
{
    return json_object_object_get_ex(at(o, path), key, NULL);
}

static void record(const char *name, double times, int from, int to)
{
    const char *const facts[] = {"job_id", "51877", "job_name", "llm", NULL};
    char file[32];
    snprintf(file, sizeof file, "%s.netprof", name);
    node_file f =
        node_open(tree_path(tree, file), &(node_shape){.name = name,
                                                       .parts = NODE_PROCESS | NODE_CPU | NODE_MEMORY | NODE_ENERGY,
                                                       .nics = 1,
                                                       .gpus = 1,
                                                       .veths = 1,
                                                       .interval_s = 1,
                                                       .facts = facts});
    node_set(&f, "memory", "MemTotal", 64e9);
    node_set(&f, "memory", "MemAvailable", 48e9);
    node_set(&f, "job", "resident", 8e9 * times);
    node_set(&f, "gpu0", "busy", 25 * times);
    node_set(&f, "gpu0", "memory_used", 10e9);
    for (int t = 0; t <= 60; t++) {
        if (t <= from || t >= to) node_take(&f, t);
        node_add(&f, "job", "cpu_user", 0.5e6 * times);
        node_add(&f, "cpu", "user", 0.5e6 * times);
        node_add(&f, "cpu", "idle", 2e6);
        node_add(&f, "cxi0", "hni_sts_tx_ok_octets", 1e9 * times);
        node_add(&f, "cxi0", "hni_sts_rx_ok_octets", 0.25e9 * times);
        node_add(&f, "veth0", "tx_bytes", 1e6 * times);
        node_add(&f, "package-0", "energy", 100e6 * times);
        node_add(&f, "package-0/dram", "energy", 10e6 * times);
    }
    node_close(&f);
}

// The recording, and a file beside it that is none.
static json_object *report(job_report *job)
{
    netprof_error error = {.code = NETPROF_OK};
    const char *paths[] = {tree};
    tree_write(tree, "job.phases", "%lld work\n%lld rest\n%lld work\n", 1700000000LL, 1700000010LL, 1700000050LL);
    record("n1", 1, 60, 60);
    record("n2", 3, 20, 30);
    tree_write(tree, "z.netprof", "no recording\n");
    if (job_report_read(job, paths, 1, NULL, &error)) fail_msg("%s: %s", error.path, error.text);
    return job_report_json(job);
}

static void the_whole(void **state)
{
    job_report job = {0};
    json_object *o = report(&job);
    (void)state;
    expect_text(o, "format", "netprof-job");
    expect_number(o, "version", 2);
    expect_text(o, "facts.job_id", "51877");
    expect_text(o, "facts.job_name", "llm");
    assert_int_equal(json_object_get_int64(at(o, "begin_ns")), CLUSTER_EPOCH);
    expect_number(o, "elapsed_s", 60);
    expect_number(o, "interval_s", 1);
    expect_number(o, "host_count", 2);
    expect_number(o, "snapshot_count", 61 + 52);
    expect_number(o, "expected_snapshot_count", 2 * 61);
    expect_text(o, "damaged", "true"); // one file cannot be read
    expect_length(o, "warnings", 1);
    assert_non_null(strstr(json_object_get_string(at(o, "warnings.0.file")), "z.netprof"));
    assert_true(*json_object_get_string(at(o, "warnings.0.text")));
    assert_true(*json_object_get_string(at(o, "verdict.text")));
    assert_true(json_object_array_length(at(o, "verdict.notes")) > 0);
    assert_true(*json_object_get_string(at(o, "verdict.notes.0.text")));
    assert_true(*json_object_get_string(at(o, "state")));
    json_object_put(o);
    job_report_free(&job);
}

static void what_was_used(void **state)
{
    job_report job = {0};
    json_object *o = report(&job);
    (void)state;
    expect_text(o, "use.network_sent.title", "Network sent");
    expect_text(o, "use.network_sent.unit", "bytes/s");
    expect_number(o, "use.network_sent.mean", (60 * 1e9 + 50 * 3e9) / 110); // where it is known
    expect_number(o, "use.network_sent.min", 1e9);
    expect_text(o, "use.network_sent.min_host", "n1");
    expect_number(o, "use.network_sent.max", 3e9);
    expect_text(o, "use.network_sent.max_host", "n2");
    expect_number(o, "use.network_sent.peak", 3e9);
    expect_number(o, "use.network_sent.total", 240e9);
    expect_text(o, "use.network_sent.total_unit", "bytes");
    expect_number(o, "use.network_sent.host_count", 2);
    expect_number(o, "use.cpu.total", 120); // CPU seconds
    expect_text(o, "use.cpu.scope", "job");
    expect_number(o, "use.gpu_busy.mean", (60 * 0.25 + 50 * 0.75) / 110);
    assert_false(has(o, "use.gpu_busy", "total"));
    expect_number(o, "energy.energy_j", 60 * 440);
    expect_text(o, "energy.whole_nodes", "false");
    expect_number(o, "energy.parts.cpu.energy_j", 60 * 400);
    expect_text(o, "energy.parts.cpu.status", "known");
    expect_number(o, "energy.parts.cpu.host_count", 2);
    expect_number(o, "energy.parts.dram.energy_j", 60 * 40);
    expect_number(o, "energy.parts.gpu.energy_j", 0); // measured, and 0
    assert_string_equal(json_object_get_string(at(o, "energy.how")), job.energy.how);
    assert_true(strlen(job.energy.how) > 10);
    expect_number(o, "efficiency.cpu.used_cpu_s", 120);
    expect_number(o, "efficiency.memory.used_bytes", 24e9);
    json_object_put(o);
    job_report_free(&job);
}

static json_object *device_of(json_object *host, const char *name)
{
    for (size_t i = 0; i < json_object_array_length(at(host, "devices")); i++) {
        json_object *d = json_object_array_get_idx(at(host, "devices"), i);
        if (strcmp(json_object_get_string(at(d, "device")), name) == 0) return d;
    }
    fail_msg("no device %s", name);
    return NULL;
}

static void each_node(void **state)
{
    job_report job = {0};
    json_object *o = report(&job);
    (void)state;
    expect_length(o, "hosts", 2);
    expect_text(o, "hosts.0.host", "n1");
    expect_text(o, "hosts.1.host", "n2");
    expect_text(o, "hosts.1.hostname", "n2");
    expect_number(o, "hosts.1.begin_s", 0);
    expect_number(o, "hosts.1.end_s", 60);
    expect_number(o, "hosts.0.snapshot_count", 61);
    expect_number(o, "hosts.1.snapshot_count", 52);
    expect_number(o, "hosts.1.expected_snapshot_count", 61);
    expect_text(o, "hosts.1.complete", "true");
    expect_length(o, "hosts.0.gaps", 0);
    expect_length(o, "hosts.1.gaps", 1);
    expect_number(o, "hosts.1.gaps.0.from_s", 20);
    expect_number(o, "hosts.1.gaps.0.to_s", 30);
    expect_number(o, "hosts.1.memory_peak_bytes", 24e9);
    expect_text(o, "hosts.1.cpu_by", "processes");
    expect_number(o, "hosts.0.meters.cpu.mean", 0.5);
    expect_number(o, "hosts.1.meters.cpu.mean", 1.5);
    expect_number(o, "hosts.1.meters.cpu.total", 90);
    expect_text(o, "hosts.1.meters.cpu.total_unit", "s");
    expect_number(o, "hosts.1.meters.cpu.known_s", 50);
    expect_number(o, "hosts.0.meters.cpu.known_s", 60);
    expect_number(o, "hosts.1.meters.memory.mean", 24e9);
    assert_false(has(o, "hosts.0.meters", "instructions"));
    expect_length(o, "hosts.1.devices", 3);
    json_object *gpu = device_of(at(o, "hosts.1"), "gpu0"), *nic = device_of(at(o, "hosts.1"), "cxi0");
    expect_text(gpu, "source", "gpu");
    expect_text(gpu, "label", "GPU 1 (gpu0)");
    expect_number(gpu, "meters.gpu_busy.mean", 0.75);
    expect_text(nic, "source", "cxi");
    expect_text(nic, "label", "NIC 1 (cxi0)");
    expect_number(nic, "meters.network_received.mean", 0.75e9);
    json_object_put(o);
    job_report_free(&job);
}

// What a value could be at most is said where it is known, never made up.
static void most_values(void **state)
{
    job_report job = {0};
    json_object *o = report(&job);
    (void)state;
    expect_number(device_of(at(o, "hosts.0"), "gpu0"), "meters.gpu_busy.capacity", 1); // a share
    json_object *virtual_device = device_of(at(o, "hosts.0"), "veth0");
    assert_true(has(virtual_device, "meters", "virtual_sent"));
    assert_null(at(virtual_device, "meters.virtual_sent.capacity")); // what the kernel says of its speed is a constant
    json_object_put(o);
    job_report_free(&job);
}

static void each_phase(void **state)
{
    job_report job = {0};
    json_object *o = report(&job);
    size_t phases = 0;
    (void)state;
    for (size_t i = 0; i < json_object_array_length(at(o, "phases")); i++)
        phases += !json_object_get_boolean(at(json_object_array_get_idx(at(o, "phases"), i), "incident"));
    assert_int_equal(phases, 2);
    expect_text(o, "phases.0.phase", "work");
    expect_number(o, "phases.0.count", 2);
    expect_number(o, "phases.0.time_s", 20);
    expect_length(o, "phases.0.spans", 2);
    expect_number(o, "phases.0.spans.1.from_s", 50);
    expect_number(o, "phases.0.spans.1.to_s", 60);
    expect_number(o, "phases.0.meters.network_sent.mean", 2e9);
    expect_number(o, "phases.0.meters.network_sent.total", 80e9);
    expect_text(o, "phases.0.meters.network_sent.total_unit", "bytes");
    expect_text(o, "phases.0.meters.network_sent.unit", "bytes/s");
    expect_number(o, "phases.0.energy_j", 20 * 440);
    expect_text(o, "phases.1.phase", "rest");
    expect_number(o, "phases.1.spans.0.from_s", 10);
    assert_false(has(o, "phases.0.meters.memory", "total"));
    json_object_put(o);
    job_report_free(&job);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(the_whole), TEST(what_was_used), TEST(each_node), TEST(most_values),
                                       TEST(each_phase)};
    return cmocka_run_group_tests_name("job_json", tests, NULL, NULL);
}
