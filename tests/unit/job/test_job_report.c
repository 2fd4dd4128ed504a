// The job report on recordings made here; every expected figure is arithmetic on what was recorded.
#define _GNU_SOURCE
#include "netprof.h"

#include "job_claims.h"
#include "job_cluster.h"

#include "analysis/job/job_bins.h"
#include "analysis/job/job_report.h"

#include <math.h>

// ---- helpers ----

static void expect_close(double value, double expected, double part)
{
    if (!(fabs(value - expected) <= part * fmax(1e-9, fabs(expected)))) fail_msg("%.12g is not %.12g", value, expected);
}

static job_report report_of(const job_report_options *options)
{
    job_report job = {0};
    netprof_error error = {.code = NETPROF_OK};
    const char *paths[] = {tree};
    if (job_report_read(&job, paths, 1, options, &error)) fail_msg("%s: %s", error.path, error.text);
    job_claims_check(&job);
    return job;
}

static job_report report_with_rules(rules *set)
{
    rules_builtin(set);
    return report_of(&(job_report_options){.rules = set});
}

static const job_use *use_of(const job_report *job, job_meter meter)
{
    for (size_t i = 0; i < job->use_count; i++)
        if (job->uses[i].meter == meter) return &job->uses[i];
    return NULL;
}

static const job_phase *phase_of(const job_report *job, const char *name)
{
    for (size_t i = 0; i < job->phase_count; i++)
        if (strcmp(job->phases[i].name, name) == 0) return &job->phases[i];
    fail_msg("no phase %s", name);
    return NULL;
}

static size_t warnings_with(const job_report *job, const char *text)
{
    size_t count = 0;
    for (size_t i = 0; i < job->warning_count; i++)
        count += strstr(job->warnings[i].text, text) != NULL;
    return count;
}

// One second of a usual node: 2.5 CPUs, 1 GB/s and NIC, 100 W and 10 W.
static void busy_second(node_file *f, double seconds)
{
    node_add(f, "job", "cpu_user", 2.25e6 * seconds);
    node_add(f, "job", "cpu_system", 0.25e6 * seconds);
    node_add(f, "job", "read_chars", 3e6 * seconds);
    node_add(f, "job", "write_bytes", 5e6 * seconds);
    node_add(f, "cpu", "user", 3e6 * seconds);
    node_add(f, "cpu", "idle", 0.6e6 * seconds);
    node_add(f, "cpu", "iowait", 0.4e6 * seconds);
    node_add(f, "cxi0", "hni_sts_tx_ok_octets", 1e9 * seconds);
    node_add(f, "cxi1", "hni_sts_tx_ok_octets", 1e9 * seconds);
    node_add(f, "cxi0", "hni_sts_rx_ok_octets", 0.5e9 * seconds);
    node_add(f, "package-0", "energy", 100e6 * seconds);
    node_add(f, "package-0/core", "energy", 70e6 * seconds);
    node_add(f, "package-0/dram", "energy", 10e6 * seconds);
}

static node_file usual_node(const char *name, const char *file, const node_shape *shape)
{
    node_shape s = shape ? *shape : (node_shape){.parts = NODE_ALL & ~NODE_CGROUP & ~NODE_HWMON, .interval_s = 1};
    s.name = name;
    node_file f = node_open(tree_path(tree, file), &s);
    if (s.parts & NODE_MEMORY) {
        node_set(&f, "memory", "MemTotal", 64.0 * (1 << 30));
        node_set(&f, "memory", "MemAvailable", 48.0 * (1 << 30));
    }
    if (s.parts & NODE_PROCESS) node_set(&f, "job", "resident", 8.0 * (1 << 30));
    return f;
}

// ---- tests ----

static void totals_and_means_of_a_node(void **state)
{
    (void)state;
    const char *const facts[] = {"job_id", "51877", "job_name", "llm", "command", "./train", NULL};
    node_shape shape = {.parts = NODE_ALL & ~NODE_CGROUP & ~NODE_HWMON, .interval_s = 1, .facts = facts};
    node_file f = usual_node("n1", "n1.netprof", &shape);
    for (int t = 0; t <= 60; t++) {
        node_set(&f, "job", "resident", (t + 1) * 1e9 / 61); // a gauge: up to 1 GB
        node_take(&f, t);
        busy_second(&f, 1);
    }
    node_close(&f);
    job_report job = report_of(NULL);
    assert_int_equal(job.node_count, 1);
    assert_string_equal(job.nodes[0].name, "n1");
    assert_string_equal(job.job_id, "51877");
    assert_string_equal(job.job_name, "llm");
    assert_int_equal(job.begin_ns, CLUSTER_EPOCH);
    expect_close(job.end_s, 60, 1e-9);
    const job_use *cpu = use_of(&job, JOB_CPU);
    expect_close(cpu->mean, 2.5, 1e-6);
    expect_close(cpu->total, 150, 1e-9);
    expect_close(cpu->capacity, 4, 1e-9);
    assert_int_equal(cpu->scope, JOB_SCOPE_JOB);
    expect_close(use_of(&job, JOB_NODE_CPU)->mean, 3, 1e-6);
    expect_close(use_of(&job, JOB_IO_WAIT)->mean, 0.1, 1e-6); // 0.4 of 4 CPUs
    const job_use *sent = use_of(&job, JOB_SENT);
    expect_close(sent->mean, 2e9, 1e-6);
    expect_close(sent->total, 120e9, 1e-9);
    expect_close(sent->capacity, 50e9, 1e-9);
    expect_close(use_of(&job, JOB_RECEIVED)->total, 30e9, 1e-9);
    expect_close(use_of(&job, JOB_FILES_READ)->total, 180e6, 1e-9);
    expect_close(use_of(&job, JOB_DISK_WRITTEN)->mean, 5e6, 1e-6);
    const job_lane *memory = job.nodes[0].lanes[JOB_MEMORY];
    expect_close(memory->mean, 31e9 / 61, 1e-5);
    expect_close(memory->high, 1e9, 1e-9);
    expect_close(memory->last, 1e9, 1e-9);
    expect_close(memory->capacity, 64.0 * (1 << 30), 1e-9);
    expect_close(job.nodes[0].lanes[JOB_NODE_MEMORY]->mean, 16.0 * (1 << 30), 1e-6);
    // A package holds its cores; memory is a domain of its own.
    expect_close(job.energy.part_j[JOB_PART_CPU], 6000, 1e-9);
    expect_close(job.energy.part_j[JOB_PART_DRAM], 600, 1e-9);
    expect_close(job.energy.total_j, 6600, 1e-9);
    expect_close(job.energy.node_w, 110, 1e-5);
    assert_true(isnan(job.energy.part_j[JOB_PART_GPU]));
    assert_false(job.energy.whole);
    assert_int_equal(job.samples, 61);
    assert_int_equal(job.expected, 61);
    assert_null(use_of(&job, JOB_GPU_BUSY));
    job_report_free(&job);
}

static void gaps_are_gaps_and_totals_cross_them(void **state)
{
    (void)state;
    tree_write(tree, "job.phases", "%lld first\n%lld.5 second\n", 1700000000LL, 1700000025LL);
    node_file f = usual_node("n1", "n1.netprof", NULL);
    for (int t = 0; t <= 50; t++) {
        if (t <= 20 || t >= 30) node_take(&f, t);
        busy_second(&f, 1);
    }
    node_close(&f);
    job_report job = report_of(NULL);
    expect_close(use_of(&job, JOB_SENT)->total, 100e9, 1e-9);
    expect_close(use_of(&job, JOB_SENT)->mean, 2e9, 1e-6);
    expect_close(use_of(&job, JOB_CPU)->total, 125, 1e-9);
    expect_close(job.nodes[0].lanes[JOB_CPU]->known_s, 40, 1e-9);
    assert_int_equal(job.nodes[0].gap_count, 1);
    expect_close(job.nodes[0].gaps[0].from_s, 20, 1e-6);
    expect_close(job.nodes[0].gaps[0].to_s, 30, 1e-6);
    assert_int_equal(job.samples, 42);
    assert_int_equal(job.expected, 51);
    job_column columns[50];
    assert_true(job_report_columns(&job, JOB_SENT, JOB_ALL_NODES, 0, 50, columns, 50));
    for (int t = 0; t < 50; t++) {
        if (t > 20 && t < 29) assert_true(isnan(columns[t].mean) && isnan(columns[t].total) && columns[t].nodes == 0);
        if (t < 19 || t > 30) expect_close(columns[t].mean, 2e9, 1e-3);
    }
    // The phases meet within the gap: what it counted is theirs in proportion.
    expect_close(phase_of(&job, "first")->meters[JOB_SENT].amount, 51e9, 1e-3);
    expect_close(phase_of(&job, "second")->meters[JOB_SENT].amount, 49e9, 1e-3);
    expect_close(phase_of(&job, "first")->energy_j, 25.5 * 110, 1e-3);
    expect_close(phase_of(&job, "second")->meters[JOB_CPU].mean, 2.5, 1e-3);
    job_report_free(&job);
}

// Samples that are missing are told as their share, and with the node that misses them.
static void missing_samples_are_counted(void **state)
{
    rules set = {0};
    (void)state;
    for (int n = 0; n < 2; n++) {
        node_file f = usual_node(n ? "n2" : "n1", n ? "n2.netprof" : "n1.netprof", NULL);
        for (int t = 0; t <= 99; t++) {
            if (!n || t < 30 || t >= 60) node_take(&f, t); // n2: 70 of 100
            busy_second(&f, 1);
        }
        node_close(&f);
    }
    job_report job = report_with_rules(&set);
    const job_finding *x = finding_of(&job, "samples-missing");
    assert_non_null(x);
    expect_close(x->value, 30.0 / 200, 1e-9);
    assert_string_equal(job.nodes[x->node].name, "n2");
    assert_int_equal(x->nodes, 1);
    assert_string_equal(x->claim, "30 of 200 samples are missing (15.0 %), all of n2");
    job_report_free(&job);
    rules_free(&set);
}

// Files differ in how many nodes the scheduler gave: the most counts, and what no cluster has does not.
static void nodes_that_were_given(void **state)
{
    static const struct {
        const char *counts[2];
        size_t given;
    } rows[] = {{{"3", "5"}, 5}, {{"5", "3"}, 5},           {{"2", "2"}, 2},  {{"4", "99999999999"}, 4},
                {{"4", "0"}, 4}, {{"99999999999", "2"}, 2}, {{"-7", "2"}, 2}, {{"x", "3"}, 3}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (int n = 0; n < 2; n++) {
            const char *const facts[] = {"job_id", "7", "job_node_count", rows[i].counts[n], NULL};
            node_shape shape = {.parts = NODE_CPU, .interval_s = 1, .facts = facts};
            node_file f = usual_node(n ? "n2" : "n1", n ? "n2.netprof" : "n1.netprof", &shape);
            for (int t = 0; t <= 3; t++)
                node_take(&f, t);
            node_close(&f);
        }
        job_report job = report_of(NULL);
        if (job.given_nodes != rows[i].given) fail_msg("row %zu: %zu", i, job.given_nodes);
        job_report_free(&job);
    }
}

// A phase's amounts are of all nodes and all its stretches; its means are per node, weighted by the time.
static void phases_add_up_over_nodes_and_stretches(void **state)
{
    (void)state;
    tree_write(tree, "job.phases", "%lld work\n%lld rest\n%lld work\n", 1700000000LL, 1700000010LL, 1700000030LL);
    for (int n = 0; n < 2; n++) {
        node_file f = usual_node(n ? "n2" : "n1", n ? "n2.netprof" : "n1.netprof", NULL);
        for (int t = 0; t <= 40; t++) {
            node_take(&f, t);
            busy_second(&f, n ? 3 : 1); // three times as much of everything
        }
        node_close(&f);
    }
    job_report job = report_of(NULL);
    const job_phase *work = phase_of(&job, "work"), *rest = phase_of(&job, "rest");
    assert_int_equal(job.phase_count, 2);
    assert_int_equal(work->count, 2);
    expect_close(work->time_s, 20, 1e-6);
    // 2 GB/s and 6 GB/s for 20 s; 2.5 and 7.5 CPUs; 110 W and 330 W.
    expect_close(work->meters[JOB_SENT].amount, 160e9, 1e-3);
    expect_close(work->meters[JOB_SENT].mean, 4e9, 1e-3);
    expect_close(work->meters[JOB_CPU].amount, 200, 1e-3);
    expect_close(work->meters[JOB_CPU].mean, 5, 1e-3);
    expect_close(work->energy_j, 20 * 440, 1e-3);
    expect_close(rest->meters[JOB_SENT].amount, 160e9, 1e-3);
    assert_true(isnan(work->meters[JOB_MEMORY].amount)); // a gauge has none
    expect_close(work->meters[JOB_MEMORY].mean, 8.0 * (1 << 30), 1e-6);
    assert_true(isnan(work->meters[JOB_GPU_BUSY].mean) && isnan(work->meters[JOB_GPU_BUSY].amount));
    job_report_free(&job);
}

// P14: rows of hosts with other starts, lengths and intervals are joined by time, not by index.
static void hosts_meet_on_the_time_axis(void **state)
{
    (void)state;
    const struct {
        const char *name, *file;
        double begin, end, interval;
    } hosts[] = {
        {"n1", "a.netprof", 0, 200, 1}, {"n2", "b.netprof", 13.7, 120, 2}, {"n10", "c.netprof", 40.25, 200, 0.5}};
    for (size_t i = 0; i < COUNT(hosts); i++) {
        node_shape shape = {.interval_s = hosts[i].interval};
        node_file f = usual_node(hosts[i].name, hosts[i].file, &shape);
        for (double t = hosts[i].begin; t <= hosts[i].end; t += hosts[i].interval) {
            // 1 GB/s until 100 s, 3 GB/s from then on.
            double bytes = 1e9 * (t - hosts[i].begin) + (t > 100 ? 2e9 * (t - 100) : 0);
            node_set(&f, "cxi0", "hni_sts_tx_ok_octets", bytes);
            node_take(&f, t);
        }
        node_close(&f);
    }
    job_report job = report_of(NULL);
    assert_int_equal(job.node_count, 3);
    assert_string_equal(job.nodes[1].name, "n2");
    assert_string_equal(job.nodes[2].name, "n10"); // by number
    expect_close(job.nodes[1].begin_s, 13.7, 1e-6);
    job_column columns[20];
    assert_true(job_report_columns(&job, JOB_SENT, JOB_ALL_NODES, 0, 200, columns, 20));
    assert_int_equal(columns[0].nodes, 1); // 0 to 10 s: n1 alone
    assert_true(isnan(columns[0].total));
    expect_close(columns[0].mean, 1e9, 1e-3);
    for (int i = 5; i < 9; i++) {
        assert_int_equal(columns[i].nodes, 3);
        expect_close(columns[i].total, 3e9, 1e-3);
        expect_close(columns[i].high, 1e9, 1e-3);
    }
    expect_close(columns[11].total, 9e9, 1e-2); // all three changed at the same second
    expect_close(columns[11].low, 3e9, 1e-2);
    assert_int_equal(columns[15].nodes, 2); // n2 has ended
    // n2's time before its begin and behind its end is missing: 13.7 s at 2 s, 80 s at 2 s.
    assert_int_equal(job.nodes[1].samples, 54);
    assert_int_equal(job.nodes[1].expected, 54 + 7 + 40);
    job_report_free(&job);
}

// P9: a wrap is counted on, a reset is no rate at all; nothing is ever negative.
static void wraps_and_resets(void **state)
{
    (void)state;
    node_shape shape = {.parts = NODE_ENERGY | NODE_PROCESS, .interval_s = 1, .energy_width = 32};
    node_file f = usual_node("n1", "n1.netprof", &shape);
    uint64_t energy = 4000000000u; // wraps at 4294.97 J
    for (int t = 0; t <= 20; t++) {
        f.x.values[node_index(&f, "package-0", "energy")] = energy & 0xFFFFFFFFu;
        node_take(&f, t);
        energy += 200000000u;
        if (t == 10)
            node_set(&f, "job", "cpu_user", 1000); // the process source started anew
        else
            node_add(&f, "job", "cpu_user", 1e6);
    }
    node_close(&f);
    job_report job = report_of(NULL);
    expect_close(job.energy.part_j[JOB_PART_CPU], 4000, 1e-9);
    const job_lane *power = job.nodes[0].lanes[JOB_POWER_CPU], *cpu = job.nodes[0].lanes[JOB_CPU];
    expect_close(power->low, 200, 1e-9);
    expect_close(power->high, 200, 1e-9);
    assert_false(power->lower_bound);
    assert_true(cpu->lower_bound);
    assert_int_equal(cpu->resets, 1);
    expect_close(cpu->total, 19, 1e-9); // the step of the reset is not known
    expect_close(cpu->low, 1, 1e-9);
    expect_close(cpu->high, 1, 1e-9);
    expect_close(cpu->mean, 1, 1e-6);
    job_report_free(&job);
}

static void no_rights_are_no_zero(void **state)
{
    (void)state;
    node_file f = usual_node("n1", "n1.netprof", NULL);
    node_status(&f, "package-0", "energy", NETPROF_STATUS_DENIED);
    node_status(&f, "package-0/dram", "energy", NETPROF_STATUS_DENIED);
    for (int t = 0; t <= 10; t++) {
        node_take(&f, t);
        node_add(&f, "job", "cpu_user", 1e6);
    }
    node_close(&f);
    job_report job = report_of(NULL);
    assert_int_equal(job.nodes[0].state[JOB_POWER_CPU], JOB_DENIED);
    assert_null(job.nodes[0].lanes[JOB_POWER_CPU]);
    assert_null(use_of(&job, JOB_POWER));
    assert_true(isnan(job.energy.total_j) && isnan(job.energy.part_j[JOB_PART_CPU]) && isnan(job.energy.node_w));
    assert_int_equal(job.energy.state[JOB_PART_CPU], JOB_DENIED);
    assert_non_null(strstr(job.energy.how, "not permitted"));
    bool told = false;
    for (size_t i = 0; i < job.note_count; i++)
        told |= strstr(job.notes[i].text, "No CPU energy") != NULL;
    assert_true(told);
    json_object *o = job_report_json(&job), *energy = NULL, *total = NULL;
    assert_true(json_object_object_get_ex(o, "energy", &energy));
    assert_true(json_object_object_get_ex(energy, "energy_j", &total));
    assert_null(total); // null, not 0
    json_object_put(o);
    job_report_free(&job);
}

// P15: what was not recorded has no row, and the title says something of this job.
static void a_job_of_one_second(void **state)
{
    (void)state;
    node_file f = usual_node("n1", "n1.netprof", NULL);
    for (int i = 0; i <= 10; i++) {
        node_take(&f, i * 0.1);
        busy_second(&f, 0.1);
    }
    node_close(&f);
    job_report job = report_of(NULL);
    expect_close(job.end_s, 1, 1e-9);
    expect_close(use_of(&job, JOB_CPU)->mean, 2.5, 1e-5);
    expect_close(use_of(&job, JOB_CPU)->total, 2.5, 1e-9);
    expect_close(use_of(&job, JOB_SENT)->total, 2e9, 1e-9);
    expect_close(job.energy.total_j, 110, 1e-9);
    job_column columns[10];
    job_report_columns(&job, JOB_CPU, 0, 0, 1, columns, 10);
    for (int i = 0; i < 10; i++)
        expect_close(columns[i].mean, 2.5, 0.01);
    assert_int_equal(job.finding_count, 0);
    assert_non_null(strstr(job.title, "CPUs"));
    assert_null(use_of(&job, JOB_GPU_BUSY));
    job_report_free(&job);
}

static void two_snapshots_are_a_job(void **state)
{
    (void)state;
    node_file f = usual_node("n1", "n1.netprof", &(node_shape){.parts = NODE_PROCESS});
    node_take(&f, 0);
    node_add(&f, "job", "cpu_user", 30e6);
    node_take(&f, 10);
    node_close(&f);
    job_report job = report_of(NULL);
    expect_close(use_of(&job, JOB_CPU)->mean, 3, 1e-6);
    assert_true(isnan(use_of(&job, JOB_CPU)->capacity)); // how many CPUs there are was not recorded
    assert_true(isnan(job.nodes[0].lanes[JOB_MEMORY]->capacity));
    job_report_free(&job);
}

// n2's cxi1 is held 44 % of the time from 100 to 160 s, and all nodes send 64 % of what they did; n3 for 20 s only.
// More incidents than are told: those that blocked most are, whenever they were.
static void the_worst_incidents_are_told(void **state)
{
    enum { INCIDENTS = 18, TOLD = 16, EACH_S = 400 };
    (void)state;
    rules set = {0};
    node_file f = usual_node("n1", "n1.netprof", &(node_shape){.parts = NODE_PROCESS | NODE_CPU, .interval_s = 10});
    for (int t = 0; t <= INCIDENTS * EACH_S; t += 10) {
        // 70 to 240 s, the longer the later.
        bool incident = t < INCIDENTS * EACH_S && t % EACH_S >= 100 && t % EACH_S < 170 + 10 * (t / EACH_S);
        node_take(&f, t);
        node_add(&f, "cxi0", "hni_sts_tx_ok_octets", 10e9);
        node_add(&f, "cxi1", "hni_sts_tx_ok_octets", incident ? 6.4e9 : 10e9);
        node_add(&f, "job", "cpu_user", 40e6);
        node_add(&f, "cpu", "user", 40e6);
        node_add(&f, "cxi1", "hni_tx_paused_0", incident ? 4.4e9 : 1e6);
    }
    node_close(&f);
    job_report job = report_with_rules(&set);
    double first_s = INFINITY;
    size_t incidents = 0;
    for (size_t i = 0; i < job.finding_count; i++) {
        if (!job.findings[i].incident) continue;
        incidents++;
        first_s = fmin(first_s, job.findings[i].from_s);
    }
    assert_int_equal(incidents, TOLD);
    expect_close(first_s, (INCIDENTS - TOLD) * EACH_S + 100, 10);
    rules_free(&set);
    job_report_free(&job);
}

// Nodes and devices are put into the order of their names; what was found on one stays its own. n2 is read first.
static void an_incident_of_a_node_that_is_read_first(void **state)
{
    (void)state;
    rules set = {0};
    for (int n = 2; n >= 1; n--) {
        node_file f = usual_node(n == 2 ? "n2" : "n1", n == 2 ? "a.netprof" : "b.netprof",
                                 &(node_shape){.parts = NODE_PROCESS | NODE_CPU, .interval_s = 10});
        for (int t = 0; t <= 400; t += 10) {
            bool incident = n == 2 && t >= 100 && t < 250;
            node_take(&f, t);
            node_add(&f, "cxi0", "hni_sts_tx_ok_octets", 10e9);
            node_add(&f, "cxi1", "hni_sts_tx_ok_octets", incident ? 6.4e9 : 10e9);
            node_add(&f, "job", "cpu_user", 40e6);
            node_add(&f, "cpu", "user", 40e6);
            node_add(&f, "cxi1", "hni_tx_paused_0", incident ? 4.4e9 : 1e6);
        }
        node_close(&f);
    }
    job_report job = report_with_rules(&set);
    size_t incidents = 0;
    for (size_t i = 0; i < job.finding_count; i++) {
        const job_finding *x = &job.findings[i];
        if (!x->incident) continue;
        incidents++;
        assert_string_equal(job.nodes[x->node].name, "n2");
        assert_int_equal(job.devices[x->device].node, x->node);
        assert_string_equal(job.devices[x->device].name, "cxi1");
        assert_non_null(strstr(x->claim, "n2"));
        expect_close(x->from_s, 100, 1e-6);
        expect_close(x->to_s, 250, 1e-6);
    }
    assert_int_equal(incidents, 1);
    rules_free(&set);
    job_report_free(&job);
}

// One reading is no time in which anything could be judged: it is said, and nothing is taken for well.
static void one_reading_is_said(void **state)
{
    (void)state;
    rules set = {0};
    node_file f = usual_node("n1", "n1.netprof", &(node_shape){.parts = NODE_PROCESS | NODE_CPU, .interval_s = 1});
    node_take(&f, 0);
    node_close(&f);
    f = usual_node("n2", "n2.netprof", &(node_shape){.parts = NODE_PROCESS | NODE_CPU, .interval_s = 1});
    for (int t = 0; t <= 5; t++)
        node_take(&f, t);
    node_close(&f);
    job_report job = report_with_rules(&set);
    bool said = false;
    for (size_t i = 0; i < job.warning_count; i++)
        said |= strstr(job.warnings[i].text, "holds one snapshot") != NULL;
    assert_true(said);
    rules_free(&set);
    job_report_free(&job);
}

static void one_nic_is_held(void **state)
{
    (void)state;
    rules set = {0};
    for (int n = 1; n <= 4; n++) {
        char name[16], file[32];
        snprintf(name, sizeof name, "n%d", n);
        snprintf(file, sizeof file, "n%d.netprof", n);
        node_file f = usual_node(name, file, &(node_shape){.parts = NODE_PROCESS | NODE_CPU, .interval_s = 1});
        for (int t = 0; t <= 300; t++) {
            node_take(&f, t);
            bool incident = t >= 100 && t < 160;
            node_add(&f, "cxi0", "hni_sts_tx_ok_octets", incident ? 0.64e9 : 1e9);
            node_add(&f, "job", "cpu_user", 4e6);
            node_add(&f, "cpu", "user", 4e6);
            node_add(&f, "cxi1", "hni_tx_paused_0",
                     n == 2 && incident              ? 0.44e9
                     : n == 3 && t >= 200 && t < 220 ? 0.9e9
                                                     : 1e5);
            if (n == 2 && incident) node_add(&f, "cxi1", "pct_retry_srb_requests", 100);
        }
        node_close(&f);
    }
    job_report job = report_with_rules(&set);
    const job_finding *x = &job.findings[0];
    assert_string_equal(x->rule, "nic-paused");
    assert_int_equal(x->severity, SEVERITY_HIGH);
    assert_true(x->incident);
    expect_close(x->from_s, 100, 1e-6);
    expect_close(x->to_s, 160, 1e-6);
    expect_close(x->value, 0.44, 1e-6);
    expect_close(x->sent_ratio, 0.64, 0.01);
    expect_close(x->cpu_ratio, 1, 0.01);
    assert_true(isnan(x->gpu_ratio));
    assert_true(isnan(x->lost_s)); // it is held: the victim
    expect_close(x->cost_s, 0.44 * 60, 0.001);
    assert_string_equal(job.nodes[x->node].name, "n2");
    assert_string_equal(job.devices[x->device].name, "cxi1");
    assert_string_equal(job.title,
                        "n2\u2019s NIC 2 (cxi1): transmit blocked by the network 44.0 % of the time for 60 s");
    assert_non_null(strstr(x->claim, "1:40-2:40: n2 NIC 2 (cxi1) transmit blocked by the network 44.0 % of the time"));
    assert_non_null(strstr(x->claim, ", 6000 retries; the 7 other NICs at most 0.0100 %"));
    size_t incidents = 0;
    for (size_t i = 0; i < job.finding_count; i++)
        incidents += job.findings[i].incident;
    assert_int_equal(incidents, 1); // 20 s are too short
    const job_phase *p = phase_of(&job, "n2 blocked");
    assert_int_equal(p->finding, 0);
    expect_close(p->time_s, 60, 1e-6);
    expect_close(p->meters[JOB_SENT].mean, 0.64e9, 0.01);
    job_worst worst[3];
    size_t all;
    assert_int_equal(job_report_worst(&job, JOB_PAUSED, 60, worst, 3, &all), 3);
    assert_int_equal(all, 8);
    assert_string_equal(job.devices[worst[0].device].name, "cxi1");
    assert_int_equal(job.devices[worst[0].device].node, 1);
    expect_close(worst[0].value, 0.44, 0.03);
    for (size_t i = 0; i < job.note_count; i++)
        assert_null(strstr(job.notes[i].text, "lost"));
    size_t order[4];
    job_report_rank_nodes(&job, JOB_SENT, order);
    assert_int_equal(order[0], 1);
    job_report_free(&job);
    rules_free(&set);
}

static void memory_that_grows_and_a_node_that_idles(void **state)
{
    (void)state;
    for (int n = 1; n <= 3; n++) {
        char name[16], file[32];
        snprintf(name, sizeof name, "n%d", n);
        snprintf(file, sizeof file, "n%d.netprof", n);
        node_shape shape = {.parts = NODE_PROCESS | NODE_CPU | NODE_MEMORY, .interval_s = 10};
        node_file f = usual_node(name, file, &shape);
        for (int t = 0; t <= 1200; t += 10) {
            // n2: 16 GiB and 12 MiB/s more: 30 GiB + 64 MiB at the end, 64 GiB are full in 2895 s. Resident sizes, which may
            // count some of it more than once, say nothing of that: the node's memory does.
            double more = n == 2 ? t * 12.0 * (1 << 20) : 0;
            node_set(&f, "job", "resident", 3 * (16.0 * (1 << 30) + more));
            node_set(&f, "memory", "MemAvailable", 48.0 * (1 << 30) - more);
            node_take(&f, t);
            node_add(&f, "job", "cpu_user", n == 3 ? 5e6 : 20e6); // 0.5 and 2 of 4 CPUs
        }
        node_close(&f);
    }
    job_report job = report_of(NULL);
    const job_finding *x = finding_of(&job, "mem-growth");
    assert_non_null(x);
    double left = (64.0 * 1024 - 16.0 * 1024 - 1200 * 12.0) / 12.0;
    expect_close(x->value, left, 0.01);
    assert_int_equal(x->severity, SEVERITY_WATCH);
    assert_string_equal(job.nodes[x->node].name, "n2");
    assert_int_equal(x->nodes, 1);
    assert_non_null(strstr(x->claim, "720 MiB/min"));
    assert_non_null(strstr(x->claim, "n2: the node\u2019s memory grows"));
    x = finding_of(&job, "node-peers");
    assert_non_null(x);
    assert_string_equal(job.nodes[x->node].name, "n3");
    assert_string_equal(x->title, x->claim); // of what it did less
    expect_close(x->value, 0.25, 1e-4);
    x = finding_of(&job, "cpu-low");
    assert_non_null(x);
    expect_close(x->value, 4.5 / 12, 1e-4);
    assert_int_equal(x->severity, SEVERITY_WATCH);
    assert_non_null(strstr(x->origin, "jobstats"));
    job_report_free(&job);
}

static void limits_of_a_control_group(void **state)
{
    (void)state;
    rules set = {0};
    node_file f =
        usual_node("n1", "n1.netprof",
                   &(node_shape){.parts = NODE_CGROUP | NODE_MEMORY | NODE_CPU | NODE_PROCESS, .interval_s = 1});
    node_set(&f, "/job", "memory_limit", 10e9);
    node_set(&f, "/job", "memory_peak", 50e9); // of an earlier job, or of the page cache
    for (int t = 0; t <= 20; t++) {
        node_set(&f, "/job", "memory_current", t == 12 ? 9.9e9 : 6e9);
        node_set(&f, "/job", "memory_file_inactive", 1e8);
        node_take(&f, t);
        if (t == 12) node_add(&f, "/job", "oom_kills", 1);
    }
    node_close(&f);
    job_report job = report_with_rules(&set);
    assert_int_equal(job.nodes[0].scope[JOB_MEMORY], JOB_SCOPE_GROUP);
    expect_close(job.nodes[0].lanes[JOB_MEMORY]->capacity, 10e9, 1e-9);
    expect_close(job.nodes[0].lanes[JOB_MEMORY]->high, 9.8e9, 1e-9);
    expect_close(job.nodes[0].memory_peak, 9.8e9, 1e-9);
    const job_finding *x = finding_of(&job, "mem-peak");
    assert_non_null(x);
    expect_close(x->value, 0.98, 1e-9);
    assert_string_equal(job.findings[0].rule, "oom-kill"); // by the table of rules
    assert_int_equal(job.severity, SEVERITY_CRITICAL);
    assert_true(job.event_count > 0);
    assert_string_equal(job.events[0].counter, "oom_kills");
    expect_close(job.events[0].sum, 1, 1e-9);
    double columns[20];
    job_event_columns(&job, &job.events[0], 0, 20, columns, 20);
    expect_close(columns[11] + columns[12] + columns[13], 1, 0.01);
    job_report_free(&job);
    rules_free(&set);
}

static void most_memory_of_processes(void **state)
{
    (void)state;
    unsigned parts = NODE_CGROUP | NODE_MEMORY | NODE_CPU | NODE_PROCESS;
    node_file f = usual_node("n1", "n1.netprof", &(node_shape){.parts = parts, .interval_s = 1});
    node_set(&f, "/job", "memory_limit", 64e9); // nearly the whole node: no limit of the job
    node_set(&f, "memory", "MemTotal", 64e9);
    node_set(&f, "/job", "memory_peak", 50e9);
    for (int t = 0; t <= 20; t++) {
        node_set(&f, "job", "resident", t == 12 ? 3e8 : 1e8);
        node_take(&f, t);
    }
    node_close(&f);
    job_report job = report_of(NULL);
    assert_int_equal(job.nodes[0].scope[JOB_MEMORY], JOB_SCOPE_JOB);
    expect_close(job.nodes[0].memory_peak, 3e8, 1e-9);
    job_report_free(&job);
}

static size_t notes_with(const job_report *job, const char *text)
{
    size_t count = 0;
    for (size_t i = 0; i < job->note_count; i++)
        count += strstr(job->notes[i].text, text) != NULL;
    return count;
}

// Times of a job of a minute are told in seconds: of what is shorter, how long it was.
static void brief_gaps(void **state)
{
    (void)state;
    node_file f = usual_node("n1", "n1.netprof", &(node_shape){.parts = NODE_CPU, .interval_s = 0.1});
    for (int i = 0; i <= 300; i++)
        if ((i < 51 || i > 53) && (i < 101 || i > 130)) node_take(&f, i * 0.1);
    node_close(&f);
    job_report job = report_of(NULL);
    assert_int_equal(job.nodes[0].gap_count, 2);
    assert_int_equal(notes_with(&job, "No samples: n1 0:05 (400 ms), n1 0:10-0:13; "), 1);
    job_report_free(&job);
}

// Two and a half intervals are no gap yet; more are.
static void the_shortest_gap(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        node_file f = usual_node("n1", "n1.netprof", &(node_shape){.parts = NODE_CPU, .interval_s = 1});
        for (int i = 0; i <= 20; i++)
            node_take(&f, i < 11 ? i : i + 1.5 + 0.25 * more);
        node_close(&f);
        job_report job = report_of(NULL);
        assert_int_equal(job.nodes[0].gap_count, more);
        expect_close(job.nodes[0].lanes[JOB_CPU]->known_s, more ? 21.75 - 2.75 : 21.5, 1e-9);
        job_report_free(&job);
    }
}

// A job has no memory before its first process and behind its last one; it did not begin with nothing.
static void memory_of_processes_that_come_and_go(void **state)
{
    (void)state;
    node_file f = usual_node("n1", "n1.netprof", &(node_shape){.parts = NODE_MEMORY | NODE_PROCESS, .interval_s = 1});
    for (int t = 0; t <= 10; t++) {
        node_set(&f, "job", "resident", t >= 3 && t <= 6 ? 4e8 : 0);
        node_take(&f, t);
    }
    node_close(&f);
    job_report job = report_of(NULL);
    const job_lane *memory = job.nodes[0].lanes[JOB_MEMORY];
    assert_non_null(memory);
    assert_int_equal(job.nodes[0].scope[JOB_MEMORY], JOB_SCOPE_JOB);
    expect_close(memory->known_s, 5, 1e-9); // from 2 to 7
    expect_close(memory->mean, 4e8, 1e-6);
    expect_close(memory->low, 4e8, 1e-9);
    expect_close(memory->high, 4e8, 1e-9);
    job_report_free(&job);
}

// The node's memory is not that of a job whose processes were too short to be seen.
static void memory_of_processes_never_seen(void **state)
{
    (void)state;
    node_file f = usual_node("n1", "n1.netprof", &(node_shape){.parts = NODE_MEMORY | NODE_PROCESS, .interval_s = 1});
    node_set(&f, "job", "resident", 0);
    for (int t = 0; t <= 10; t++) {
        node_add(&f, "job", "cpu_user", 1e5);
        node_take(&f, t);
    }
    node_close(&f);
    job_report job = report_of(NULL);
    assert_null(job.nodes[0].lanes[JOB_MEMORY]);
    assert_int_not_equal(job.nodes[0].state[JOB_MEMORY], JOB_KNOWN);
    assert_true(isnan(job.nodes[0].memory_peak));
    expect_close(job.nodes[0].lanes[JOB_NODE_MEMORY]->mean, 16.0 * (1 << 30), 1e-6);
    expect_close(use_of(&job, JOB_CPU)->total, 1, 1e-9);
    job_report_free(&job);
}

// A lane that is 0 all the time takes no room, and tells the same as one with bins.
static void lanes_of_zeros(void **state)
{
    (void)state;
    const int64_t second = 1000000000;
    for (int gap = 0; gap < 2; gap++) {
        job_bins *b = job_bins_make();
        for (int t = 0; t < 100; t++)
            if (!gap || t != 10) job_bins_add(b, t * second, (t + 1) * second, 0, 0, 0);
        assert_int_equal(b->items == NULL, !gap);
        assert_true(job_bins_known(b));
        job_span x = job_bins_span(b, 20 * second, 70 * second);
        expect_close(x.known_s, 50, 1e-6);
        assert_true(x.integral == 0 && x.low == 0 && x.high == 0);
        assert_true(isnan(job_bins_span(b, 200 * second, 300 * second).low));
        job_bins_add(b, 100 * second, 101 * second, 3, 3, 3);
        assert_non_null(b->items);
        x = job_bins_span(b, 0, 101 * second);
        expect_close(x.known_s, gap ? 100 : 101, 1e-6);
        expect_close(x.integral, 3, 1e-6);
        assert_true(x.low == 0 && x.high == 3);
        expect_close(job_bins_span(b, 0, 100 * second).known_s, gap ? 99 : 100, 1e-6);
        job_bins_trim(b);
        assert_int_equal(b->room, b->count);
        job_bins_free(b);
    }
}

// Bytes over the loopback are not the ports', and are said where they are more.
static void traffic_beside_the_ports(void **state)
{
    (void)state;
    for (int pass = 0; pass < 2; pass++) {
        node_file f = usual_node("n1", "n1.netprof", &(node_shape){.parts = NODE_CPU | NODE_LOOPBACK, .interval_s = 1});
        for (int t = 0; t <= 10; t++) {
            node_take(&f, t);
            node_add(&f, "lo", "tx_bytes", 71e7);
            node_add(&f, "lo", "rx_bytes", 72e7);
            if (pass) node_add(&f, "cxi0", "hni_sts_tx_ok_octets", 72e7);
        }
        node_close(&f);
        job_report job = report_of(NULL);
        expect_close(use_of(&job, JOB_SENT)->total, pass ? 7.2e9 : 0, 1e-9);
        assert_int_equal(
            notes_with(&job, "7.20 GB went through lo, which is memory and not a network; the ports carried 0 B"),
            !pass);
        assert_int_equal(strcmp(job.title, "No fault found; its traffic stayed on this host") == 0, !pass);
        job_report_free(&job);
    }
}

// A node of many containers: each of its interfaces is weighed against all others, but not each time anew, which took
// hours. What a virtual one says of its speed is nothing that it could be measured by.
static void thousands_of_interfaces(void **state)
{
    (void)state;
    enum { VETHS = 1000, SECONDS = 4 };
    uint64_t most = 0; // the busiest one's bytes are the least that went
    rules set = {0};
    node_file f = usual_node("n1", "n1.netprof",
                             &(node_shape){.parts = NODE_LOOPBACK, .veths = VETHS, .nics = 1, .interval_s = 1});
    for (int t = 0; t <= SECONDS; t++) {
        node_take(&f, t);
        node_add(&f, "cxi0", "hni_sts_tx_ok_octets", 5e9);
        for (size_t i = 0; i < f.x.schema->counter_count; i++)
            if (strcmp(f.x.schema->devices[f.x.schema->counters[i].device].name, "lo") != 0 &&
                strcmp(f.x.schema->counters[i].name, "tx_bytes") == 0)
                f.x.values[i] += most = 1000 * i;
    }
    node_close(&f);
    job_report job = report_with_rules(&set);
    expect_close(use_of(&job, JOB_SENT)->total, 5e9 * SECONDS, 1e-9);
    expect_close(use_of(&job, JOB_SENT)->capacity, 25e9, 1e-9);
    expect_close(use_of(&job, JOB_VIRTUAL_SENT)->total, (double)most * SECONDS, 1e-9);
    assert_true(job.nodes[0].lanes[JOB_VIRTUAL_SENT]->lower_bound);
    assert_true(isnan(use_of(&job, JOB_VIRTUAL_SENT)->capacity));
    size_t physical = 0;
    for (size_t i = 0; i < job.device_count; i++)
        physical += isnan(job.devices[i].line_rate) ? 0 : 1;
    assert_int_equal(job.device_count, VETHS + 2);
    assert_int_equal(physical, 1);
    job_report_free(&job);
    rules_free(&set);
}

// What they moved has lanes of its own: each device's, and the node's, and no part of the network's.
static void virtual_devices_have_lanes(void **state)
{
    (void)state;
    node_file f = usual_node("n1", "n1.netprof", &(node_shape){.parts = NODE_CPU | NODE_LOOPBACK, .interval_s = 1});
    for (int t = 0; t <= 10; t++) {
        node_take(&f, t);
        node_add(&f, "lo", "tx_bytes", t < 5 ? 1e6 : 3e6);
        node_add(&f, "lo", "rx_bytes", 4e6);
        node_add(&f, "cxi0", "hni_sts_tx_ok_octets", 5e6);
    }
    node_close(&f);
    job_report job = report_of(NULL);
    const job_device *lo = NULL;
    for (size_t i = 0; i < job.device_count; i++)
        if (strcmp(job.devices[i].name, "lo") == 0) lo = &job.devices[i];
    assert_non_null(lo);
    assert_null(lo->lanes[JOB_SENT]);
    expect_close(lo->lanes[JOB_VIRTUAL_SENT]->total, 20e6, 1e-9);
    expect_close(use_of(&job, JOB_VIRTUAL_SENT)->total, 20e6, 1e-9);
    expect_close(use_of(&job, JOB_VIRTUAL_RECEIVED)->mean, 4e6, 1e-6);
    expect_close(use_of(&job, JOB_SENT)->total, 50e6, 1e-9);
    assert_false(use_of(&job, JOB_VIRTUAL_SENT)->lower_bound);
    expect_close(job_lane_span(&job, lo->lanes[JOB_VIRTUAL_SENT], 6, 9).mean, 3e6, 0.01);
    json_object *o = job_report_json(&job), *use, *one;
    assert_true(json_object_object_get_ex(o, "use", &use) && json_object_object_get_ex(use, "virtual_sent", &one));
    assert_true(json_object_object_get_ex(one, "total", &one));
    expect_close(json_object_get_double(one), 20e6, 1e-9);
    json_object_put(o);
    job_report_free(&job);
}

// By the order that its header gives: the smaller of cpuset and scheduler, else where threads may run, else all; and the
// quota below that.
static void what_a_job_was_given(void **state)
{
    static const struct {
        int cpuset, quota, period, affinity; // 0: absent
        const char *scheduler;
        double is;
        job_basis by;
    } rows[] = {
        {0, 0, 0, 0, NULL, 16, JOB_BASIS_NODE},
        {16, 0, 0, 16, NULL, 16, JOB_BASIS_NODE},
        {8, 0, 0, 1, NULL, 8, JOB_BASIS_CPUSET},
        {8, 0, 0, 1, "4", 4, JOB_BASIS_SCHEDULER},
        {2, 0, 0, 1, "4", 2, JOB_BASIS_CPUSET},
        {0, 0, 0, 3, NULL, 3, JOB_BASIS_AFFINITY},
        {16, 0, 0, 3, "16", 16, JOB_BASIS_SCHEDULER},
        {8, 150000, 100000, 8, "8", 1.5, JOB_BASIS_QUOTA},
        {2, 400000, 100000, 8, NULL, 2, JOB_BASIS_CPUSET},
        {0, 400000, 100000, 0, NULL, 4, JOB_BASIS_QUOTA},
        {0, 0, 0, 0, "-4", 16, JOB_BASIS_NODE}, // no number
        {0, 0, 0, 0, "4x", 16, JOB_BASIS_NODE},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *const facts[] = {rows[i].scheduler ? "job_cpus_on_node" : NULL, rows[i].scheduler, NULL};
        unsigned parts = NODE_PROCESS | NODE_CGROUP | NODE_CPU | NODE_GIVEN;
        node_file f =
            usual_node("n1", "n1.netprof", &(node_shape){.parts = parts, .cpus = 16, .interval_s = 1, .facts = facts});
        const struct {
            const char *device, *counter;
            int value;
        } values[] = {{"/job", "cpuset_cpus", rows[i].cpuset},
                      {"/job", "cpu_quota", rows[i].quota},
                      {"/job", "cpu_period", rows[i].period},
                      {"job", "cpus_allowed", rows[i].affinity}};
        for (size_t k = 0; k < COUNT(values); k++) {
            node_set(&f, values[k].device, values[k].counter, values[k].value);
            if (!values[k].value) node_status(&f, values[k].device, values[k].counter, NETPROF_STATUS_VANISHED);
        }
        for (int t = 0; t <= 10; t++) {
            if (t == 10)
                node_status(&f, "/job", "cpuset_cpus", NETPROF_STATUS_VANISHED); // the group ended with the job
            node_take(&f, t);
            node_add(&f, "job", "cpu_user", 0.75e6);
        }
        node_close(&f);
        job_report job = report_of(NULL);
        if (!(fabs(job.nodes[0].cpus_allocated - rows[i].is) < 1e-9) || job.nodes[0].cpus_basis != rows[i].by)
            fail_msg("row %zu: %g by %s", i, job.nodes[0].cpus_allocated, job_basis_name(job.nodes[0].cpus_basis));
        expect_close(job.nodes[0].lanes[JOB_CPU]->capacity, rows[i].is, 1e-9);
        expect_close(job.nodes[0].cpus, 16, 1e-9); // the node's own, whatever the job was given of it
        const job_efficiency *e = &job.efficiency[JOB_EFFICIENCY_CPU];
        expect_close(e->used, 7.5, 1e-9);
        expect_close(e->of, 10 * rows[i].is, 1e-9);
        assert_int_equal(e->basis, rows[i].by);
        job_report_free(&job);
    }
}

// Two nodes; the second came nearer to its memory. 400 s of an hour, begun 100 s before the recording.
static void used_of_what_was_given(void **state)
{
    (void)state;
    for (int n = 1; n <= 2; n++) {
        char start[32];
        snprintf(start, sizeof start, "%lld", (long long)(CLUSTER_EPOCH / 1000000000 - 100));
        const char *const facts[] = {"job_cpus_on_node",
                                     n == 1 ? "2" : "3",
                                     "job_memory_on_node",
                                     "4294967296",
                                     "job_start_s",
                                     start,
                                     "job_time_limit_s",
                                     "3600",
                                     NULL};
        node_file f =
            usual_node(n == 1 ? "n1" : "n2", n == 1 ? "1.netprof" : "2.netprof",
                       &(node_shape){.parts = NODE_PROCESS | NODE_CPU | NODE_MEMORY, .interval_s = 10, .facts = facts});
        for (int t = 0; t <= 300; t += 10) {
            node_set(&f, "job", "resident", n * 1e9 * (t == 100 ? 1 : 0.5));
            node_take(&f, t);
            node_add(&f, "job", "cpu_user", 10e6); // one CPU
        }
        node_close(&f);
    }
    job_report job = report_of(NULL);
    const job_efficiency *e = job.efficiency;
    char text[200];
    expect_close(e[JOB_EFFICIENCY_CPU].used, 600, 1e-9);
    expect_close(e[JOB_EFFICIENCY_CPU].of, 300 * 5, 1e-9);
    assert_string_equal(job_efficiency_text(text, sizeof text, &job, JOB_EFFICIENCY_CPU),
                        "2 to 3 CPUs a node: what the scheduler gave");
    expect_close(e[JOB_EFFICIENCY_MEMORY].used, 2e9, 1e-9);
    expect_close(e[JOB_EFFICIENCY_MEMORY].of, 4294967296.0, 1e-9);
    assert_string_equal(job_efficiency_text(text, sizeof text, &job, JOB_EFFICIENCY_MEMORY),
                        "the memory requested, on n2");
    expect_close(e[JOB_EFFICIENCY_TIME].used, 400, 1e-9);
    expect_close(e[JOB_EFFICIENCY_TIME].of, 3600, 1e-9);
    expect_close(e[JOB_EFFICIENCY_TIME].left, 3200, 1e-9);
    const job_finding *x = finding_of(&job, "cpu-low");
    assert_non_null(x); // 2 of 5: below 65 % of what was given, though a quarter of the nodes' 8
    expect_close(x->value, 0.4, 1e-4);
    assert_int_equal(x->severity, SEVERITY_WATCH);
    assert_non_null(strstr(x->claim, "allocated"));
    job_report_free(&job);
}

// A node on which threads waited all the time. What that is to the job: nothing, much, or not known.
static void a_busy_node_is_weighed_by_the_job(void **state)
{
    static const struct {
        double waited_s, used, others; // of ten: waited (-1: not known), CPUs of the job, of the whole node
        const char *rule, *title;
        severity severity;
    } rows[] = {
        {0.05, 1, 4, NULL, NULL, SEVERITY_OK}, // 0.5 % of its time
        {5, 1, 4, "runqueue-wait",
         "n1: the job's threads were ready and waited for a CPU 33.3 % of the time that they could have run",
         SEVERITY_HIGH},
        {-1, 1, 4, "cpu-pressure", "n1: threads waited for a CPU 100 % of the time (10 s of 10 s)", SEVERITY_WARN},
        {-1, 0.1, 4, NULL, NULL, SEVERITY_OK}, // a fortieth of the work is its own
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        rules set = {0};
        node_file f = usual_node("n1", "n1.netprof",
                                 &(node_shape){.parts = NODE_PROCESS | NODE_CPU | NODE_GIVEN, .interval_s = 1});
        for (int t = 0; t <= 10; t++) {
            // Not in the fast set: only the first and the last reading have it.
            node_status(&f, "job", "run_queue_wait",
                        rows[i].waited_s < 0 ? NETPROF_STATUS_UNSUPPORTED
                        : t % 10             ? NETPROF_STATUS_SKIPPED
                                             : NETPROF_STATUS_OK);
            node_take(&f, t);
            node_add(&f, "pressure", "cpu_some", 1e6);
            if (rows[i].waited_s > 0) node_add(&f, "job", "run_queue_wait", rows[i].waited_s * 1e8);
            node_add(&f, "job", "cpu_user", rows[i].used * 1e6);
            node_add(&f, "cpu", "user", rows[i].others * 1e6);
        }
        node_close(&f);
        job_report job = report_with_rules(&set);
        const job_finding *x = rows[i].rule ? finding_of(&job, rows[i].rule) : NULL;
        if (rows[i].rule) {
            assert_non_null(x);
            assert_string_equal(x->title, rows[i].title); // no word for the device: there is one
            assert_int_equal(x->severity, rows[i].severity);
        }
        assert_int_equal(finding_of(&job, "cpu-pressure") != NULL,
                         rows[i].rule && strcmp(rows[i].rule, "cpu-pressure") == 0);
        assert_int_equal(notes_with(&job, "n1 is busy: threads waited for a CPU 100 % of the time"), !rows[i].rule);
        job_report_free(&job);
        rules_free(&set);
    }
}

// 95 W of 100, a limit that not every package has is none.
static void packages_at_their_power_limit(void **state)
{
    (void)state;
    for (int pass = 0; pass < 2; pass++) {
        node_file f = usual_node("n1", "n1.netprof",
                                 &(node_shape){.parts = NODE_CPU | NODE_ENERGY | NODE_GIVEN, .interval_s = 1});
        node_set(&f, "package-0", "power_limit_long_term", 100e6);
        if (pass) node_status(&f, "package-0", "power_limit_long_term", NETPROF_STATUS_DENIED);
        for (int t = 0; t <= 20; t++) {
            node_take(&f, t);
            node_add(&f, "package-0", "energy", 96e6);
        }
        node_close(&f);
        job_report job = report_of(NULL);
        const job_finding *x = finding_of(&job, "power-cap");
        assert_int_equal(x != NULL, !pass);
        if (x) expect_close(x->value, 0.96, 1e-6);
        if (x) assert_non_null(strstr(x->claim, " drew 96 % of their power limit"));
        if (x) assert_int_equal(x->severity, SEVERITY_INFO);
        if (x) assert_int_equal(x->meter, JOB_POWER_CPU); // whose chart shows it
        job_report_free(&job);
    }
}

// Two recordings of one node, a minute apart.
static void time_between_recordings(void **state)
{
    static const struct {
        const char *first, *second, *ended_by; // jobs
        bool idle;
    } rows[] = {
        {NULL, NULL, "duration", true}, {NULL, NULL, NULL, false},  // no word of its end: it was killed
        {"1", "1", "signal", false},    {"1", "2", "signal", true}, // the recorder was started again; another job
        {"1", "1", "stop file", true},  {NULL, NULL, "signal", true}, {NULL, NULL, "file", false}, // the disk was full
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (int n = 0; n < 2; n++) {
            const char *job = n ? rows[i].second : rows[i].first, *facts[5] = {0};
            size_t k = 0;
            if (job) facts[k++] = "job_id", facts[k++] = job;
            if (rows[i].ended_by) facts[k++] = "ended_by", facts[k++] = rows[i].ended_by;
            node_file f = usual_node("n1", n ? "2.netprof" : "1.netprof",
                                     &(node_shape){.parts = NODE_PROCESS | NODE_CPU, .interval_s = 1, .facts = facts});
            for (int t = 0; t <= 10; t++) {
                node_take(&f, t + 70 * n);
                node_add(&f, "job", "cpu_user", 1e6);
            }
            node_close(&f);
        }
        job_report job = report_of(NULL);
        if (job.nodes[0].gap_count != 1 || job.nodes[0].gaps[0].idle != rows[i].idle) fail_msg("row %zu", i);
        assert_int_equal(job.samples, 22);
        assert_int_equal(job.expected, rows[i].idle ? 22 : 22 + 59);
        assert_int_equal(notes_with(&job, "No samples"), !rows[i].idle);
        expect_close(job.efficiency[JOB_EFFICIENCY_CPU].of, (rows[i].idle ? 20 : 80) * 4, 1e-9);
        job_report_free(&job);
    }
}

// Old pages that stay in a full swap space cost nothing; on another node they move.
static void swap_that_is_full(void **state)
{
    (void)state;
    rules set = {0};
    for (int n = 1; n <= 2; n++) {
        node_file f = usual_node(n == 1 ? "n1" : "n2", n == 1 ? "1.netprof" : "2.netprof",
                                 &(node_shape){.parts = NODE_MEMORY, .interval_s = 1});
        node_set(&f, "memory", "SwapTotal", 100e6);
        node_set(&f, "memory", "SwapFree", 5e6);
        for (int t = 0; t <= 10; t++) {
            node_take(&f, t);
            if (n == 2) node_add(&f, "memory", "pswpout", 50);
        }
        node_close(&f);
    }
    job_report job = report_with_rules(&set);
    const job_finding *x = finding_of(&job, "swap-full");
    assert_non_null(x);
    assert_int_equal(x->severity, SEVERITY_HIGH);
    assert_int_equal(x->nodes, 1); // info is no finding of the job
    assert_string_equal(job.nodes[x->node].name, "n2");
    expect_close(x->value, 0.95, 1e-9);
    assert_int_equal(job.nodes[0].severity, SEVERITY_OK);
    job_report_free(&job);
    rules_free(&set);
}

// GPUs that wait while the network is idle, too, are not bound by it.
static void idle_gpus(void **state)
{
    (void)state;
    const char *const facts[] = {"job_id", "17", NULL};
    node_shape shape = {.parts = NODE_RECORDER, .interval_s = 10, .gpus = 1, .facts = facts};
    node_file f = usual_node("n1", "n1.netprof", &shape);
    for (int t = 0; t <= 400; t += 10) {
        node_set(&f, "gpu0", "busy", t < 200 ? 30 : 10);
        node_set(&f, "recorder", "late", 2e6);
        node_take(&f, t);
        node_add(&f, "cxi0", "hni_sts_tx_ok_octets", 10e9);
        node_add(&f, "recorder", "ticks_missed", t == 100 ? 3 : 0);
    }
    node_close(&f);
    job_report job = report_of(NULL);
    const job_finding *x = finding_of(&job, "gpu-idle");
    assert_non_null(x);
    expect_close(x->value, (190 * 0.3 + 10 * 0.2 + 200 * 0.1) / 400, 1e-6);
    assert_int_equal(x->severity, SEVERITY_WATCH);
    assert_non_null(strstr(x->claim, "network"));
    assert_int_equal(job.nodes[0].missed, 3);
    expect_close(job.nodes[0].late_s, 0.002, 1e-9);
    job_report_free(&job);
}

// Two nodes, the CPUs and GPUs of one half as busy as those of the other: a finding where there is a job, and only there.
static void nodes_without_a_job_may_idle(void **state)
{
    static const struct {
        const char *key, *value;
        bool is_job;
    } rows[] = {
        {"kernel", "6.1.0", false}, {"job_id", "17", true}, {"scheduler", "slurm", true}, {"command", "a", true}};
    static const char *const rules_of_jobs[] = {"cpu-low", "node-peers", "gpu-idle"};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *const facts[] = {rows[i].key, rows[i].value, NULL};
        node_shape shape = {.parts = NODE_CPU, .interval_s = 10, .gpus = 1, .facts = facts};
        for (int n = 1; n <= 2; n++) {
            node_file f = usual_node(n == 1 ? "n1" : "n2", n == 1 ? "n1.netprof" : "n2.netprof", &shape);
            for (int t = 0; t <= 400; t += 10) {
                node_set(&f, "gpu0", "busy", 10 * n);
                node_take(&f, t);
                node_add(&f, "cpu", "user", n * 5e6);
                node_add(&f, "cpu", "idle", 40e6 - n * 5e6);
            }
            node_close(&f);
        }
        job_report job = report_of(NULL);
        for (size_t k = 0; k < COUNT(rules_of_jobs); k++)
            assert_int_equal(finding_of(&job, rules_of_jobs[k]) != NULL, rows[i].is_job);
        if (!rows[i].is_job) assert_int_equal(job.severity, SEVERITY_OK);
        job_report_free(&job);
    }
}

static void the_nodes_own_meter_holds_the_parts(void **state)
{
    (void)state;
    node_shape shape = {.parts = NODE_ENERGY | NODE_HWMON, .interval_s = 1, .gpus = 2};
    node_file f = usual_node("n1", "n1.netprof", &shape);
    node_set(&f, "power_meter ACPI000D:00", "power1", 1000e6);
    for (int g = 0; g < 2; g++) {
        const char *gpu = g ? "gpu1" : "gpu0";
        node_set(&f, gpu, "busy", g ? 90 : 50);
        node_set(&f, gpu, "memory_used", 40e9);
        node_set(&f, gpu, "memory_total", 80e9);
        node_set(&f, gpu, "power_limit", 700e6);
        node_set(&f, gpu, "power", 5e6); // energy tells better
    }
    for (int t = 0; t <= 100; t++) {
        node_take(&f, t);
        node_add(&f, "package-0", "energy", 200e6);
        node_add(&f, "gpu0", "energy", 300e6);
        node_add(&f, "gpu1", "energy", 350e6);
        if (t >= 10 && t < 90) node_add(&f, "gpu1", "throttled_thermal", 0.5e6);
    }
    node_close(&f);
    job_report job = report_of(NULL);
    assert_true(job.energy.whole);
    expect_close(job.energy.total_j, 100e3, 1e-6);
    expect_close(job.energy.part_j[JOB_PART_CPU], 20e3, 1e-9);
    expect_close(job.energy.part_j[JOB_PART_GPU], 65e3, 1e-9);
    expect_close(job.energy.part_j[JOB_PART_DRAM], 0, 1e-9); // measured, and 0
    expect_close(job.energy.part_j[JOB_PART_REST], 15e3, 1e-5);
    expect_close(use_of(&job, JOB_GPU_BUSY)->mean, 0.7, 1e-6);
    expect_close(use_of(&job, JOB_GPU_MEMORY)->mean, 80e9, 1e-6);
    expect_close(use_of(&job, JOB_GPU_MEMORY)->capacity, 160e9, 1e-9);
    expect_close(use_of(&job, JOB_POWER_GPU)->mean, 650, 1e-6);
    expect_close(use_of(&job, JOB_POWER_GPU)->capacity, 1400, 1e-9);
    const job_finding *x = finding_of(&job, "gpu-throttled");
    assert_non_null(x);
    assert_string_equal(job.devices[x->device].label, "GPU 2 (gpu1)");
    expect_close(x->from_s, 10, 1e-6);
    expect_close(x->to_s, 90, 1e-6);
    expect_close(x->value, 0.5, 1e-6);
    job_report_free(&job);
}

// Ten readings of the network between two of everything, as --fast-network writes them: nothing counts twice.
static void tracks_of_two_rates(void **state)
{
    (void)state;
    const char *const facts[] = {"interval_ns", "1000000000", "fast_interval_ns", "100000000", NULL};
    node_shape shape = {.name = "n1", .parts = NODE_PROCESS | NODE_RECORDER, .facts = facts}, fast = {.name = "n1"};
    node_file f = node_open(tree_path(tree, "n1.netprof"), &shape), other = f;
    const netprof_schema *schema = NULL;
    netprof_list *list = netprof_build_begin(NULL);
    netprof_build_fact(list, "host", "n1");
    netprof_build_fact(list, "boot_id", "n1");
    cluster_nics(list, 2);
    netprof_build_source(list, "user");
    netprof_list_device(list, "recorder/fast", 0, NETPROF_DEVICE_VIRTUAL);
    cluster_counter(list, "ticks_missed", "ticks", NETPROF_KIND_COUNTER, 64);
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    (void)fast;
    other.x = (netprof_snapshot)NETPROF_ZERO;
    assert_int_equal(netprof_snapshot_make(&other.x, schema, NULL), NETPROF_OK);
    netprof_schema_release(schema);
    memset(other.x.status, NETPROF_STATUS_OK, other.x.schema->counter_count);
    for (int i = 0; i <= 200; i++) {
        double bytes = 1e8 * i;
        node_set(&f, "cxi0", "hni_sts_tx_ok_octets", bytes);
        node_set(&other, "cxi0", "hni_sts_tx_ok_octets", bytes);
        node_set(&f, "job", "cpu_user", 1e5 * i);
        if (i % 10 == 0) node_take(&f, i * 0.1);
        node_take(&other, i * 0.1 + 0.001);
    }
    netprof_snapshot_free(&other.x);
    node_close(&f);
    job_report job = report_of(NULL);
    expect_close(use_of(&job, JOB_SENT)->total, 20e9, 1e-9);
    expect_close(use_of(&job, JOB_SENT)->mean, 1e9, 1e-5);
    expect_close(use_of(&job, JOB_CPU)->total, 20, 1e-9);
    assert_int_equal(job.nodes[0].samples, 21);
    assert_int_equal(job.nodes[0].gap_count, 0);
    job_report_free(&job);
}

static void files_of_one_node(void **state)
{
    (void)state;
    const struct {
        const char *file;
        int begin, end;
    } files[] = {{"a.netprof", 0, 30}, {"b.netprof", 40, 60}, {"c.netprof", 10, 20}};
    for (size_t i = 0; i < COUNT(files); i++) {
        node_file f = usual_node("n1", files[i].file, &(node_shape){.parts = NODE_PROCESS, .interval_s = 1});
        for (int t = files[i].begin; t <= files[i].end; t++) {
            node_take(&f, t);
            node_add(&f, "job", "cpu_user", 1e6);
        }
        node_close(&f);
    }
    job_report job = report_of(NULL);
    assert_int_equal(job.node_count, 1);
    expect_close(use_of(&job, JOB_CPU)->total, 50, 1e-9); // 30 s and 20 s; the third repeats the first
    assert_int_equal(warnings_with(&job, "overlaps"), 1);
    assert_int_equal(job.nodes[0].samples, 31 + 21);
    assert_int_equal(job.nodes[0].gap_count, 1);
    expect_close(job.nodes[0].gaps[0].from_s, 30, 1e-6);
    job_report_free(&job);
}

// Four recordings of ten seconds, ten seconds between them: three gaps of nine readings each.
static void a_node_in_four_parts(void **state)
{
    enum { PARTS = 4 };
    (void)state;
    for (int part = 0; part < PARTS; part++) {
        char file[32];
        snprintf(file, sizeof file, "part%d.netprof", part);
        node_file f = usual_node("n1", file, &(node_shape){.parts = NODE_PROCESS, .interval_s = 1});
        for (int t = 20 * part; t <= 20 * part + 10; t++)
            node_take(&f, t);
        node_close(&f);
    }
    job_report job = report_of(NULL);
    assert_int_equal(job.node_count, 1);
    assert_int_equal(job.nodes[0].gap_count, PARTS - 1);
    for (int i = 0; i < PARTS - 1; i++) {
        expect_close(job.nodes[0].gaps[i].from_s, 20 * i + 10, 1e-6);
        expect_close(job.nodes[0].gaps[i].to_s, 20 * i + 20, 1e-6);
    }
    assert_int_equal(job.samples, PARTS * 11);
    assert_int_equal(job.expected, 71);
    job_report_free(&job);
}

// A recording that was cut in two at a reading: it is in both, and counts once.
static void files_that_share_a_reading(void **state)
{
    (void)state;
    for (int part = 0; part < 2; part++) {
        node_file f =
            usual_node("n1", part ? "b.netprof" : "a.netprof", &(node_shape){.parts = NODE_PROCESS, .interval_s = 1});
        for (int t = 10 * part; t <= 10 * part + 10; t++) {
            node_set(&f, "job", "cpu_user", 1e6 * t);
            node_take(&f, t);
        }
        node_close(&f);
    }
    job_report job = report_of(NULL);
    expect_close(use_of(&job, JOB_CPU)->total, 20, 1e-9);
    assert_int_equal(job.samples, 21);
    assert_int_equal(job.expected, 21);
    assert_int_equal(job.warning_count, 0);
    job_report_free(&job);
}

// What is read at both ends alone, as most counters are where the fast set is in between, is counted nevertheless; when it
// moved is not known. Of what was read once nothing is known, not even that it stood still.
static void counters_read_now_and_then(void **state)
{
    (void)state;
    node_file f = usual_node("n1", "n1.netprof", &(node_shape){.parts = NODE_CGROUP, .interval_s = 1});
    node_set(&f, "cxi0", "pct_retry_srb_requests", 100);
    for (int t = 0; t <= 10; t++) {
        bool all = t == 0 || t == 7 || t == 10;
        node_add(&f, "cxi0", "pct_retry_srb_requests", 3);
        node_status(&f, "cxi0", "pct_retry_srb_requests", all ? NETPROF_STATUS_OK : NETPROF_STATUS_SKIPPED);
        node_status(&f, "cxi1", "pct_retry_srb_requests", NETPROF_STATUS_SKIPPED);
        node_status(&f, "/job", "oom_kills", t == 0 ? NETPROF_STATUS_OK : NETPROF_STATUS_SKIPPED);
        node_take(&f, t);
    }
    node_close(&f);
    job_report job = report_of(NULL);
    assert_true(job.event_count > 1);
    assert_string_equal(job.events[0].counter, "pct_retry_srb_requests");
    expect_close(job.events[0].sum, 30, 1e-9);
    assert_int_equal(job.events[0].devices, 1);
    double columns[10];
    job_event_columns(&job, &job.events[0], 0, 10, columns, 10);
    for (int i = 0; i < 10; i++)
        expect_close(columns[i], 0, 1e-9);
    for (size_t i = 0; i < job.event_count; i++)
        if (strcmp(job.events[i].counter, "oom_kills") == 0) assert_false(job.events[i].known);
    for (size_t i = 0; i < job.note_count; i++)
        assert_null(strstr(job.notes[i].text, "out-of-memory"));
    job_report_free(&job);
}

// Nodes "v1" and "v2" of one host; the wall clock of the second was set an hour ahead.
static job_report virtual_nodes(const char *boot_of_1, const char *boot_of_2)
{
    for (int n = 1; n <= 2; n++) {
        node_shape shape = {.parts = NODE_PROCESS,
                            .host = "box",
                            .boot = n == 1 ? boot_of_1 : boot_of_2,
                            .interval_s = 1,
                            .offset_ns = n == 2 ? INT64_C(3600000000000) : 0};
        node_file f = usual_node(n == 1 ? "v1" : "v2", n == 1 ? "1.netprof" : "2.netprof", &shape);
        for (int t = 0; t <= 10; t++) {
            node_take(&f, t);
            node_add(&f, "job", "cpu_user", n * 1e6);
            if (n == 2 && t == 4) node_add(&f, "cxi0", "pct_retry_srb_requests", 7);
        }
        node_close(&f);
    }
    return report_of(NULL);
}

// Several virtual nodes on one host are told apart by their names. They share its monotonic clock, so that a wall clock
// that was set is moved back, with all that was read of its node.
static void clocks_and_virtual_nodes(void **state)
{
    (void)state;
    job_column columns[10];
    double events[10];
    job_report job = virtual_nodes("one", "one");
    assert_int_equal(job.node_count, 2);
    assert_true(job_report_columns(&job, JOB_CPU, JOB_ALL_NODES, 0, 10, columns, 10));
    for (int i = 0; i < 10; i++)
        expect_close(columns[i].total, 3, 0.01);
    assert_string_equal(job.events[0].counter, "pct_retry_srb_requests");
    job_event_columns(&job, &job.events[0], 0, 10, events, 10);
    expect_close(events[4], 7, 0.01);
    expect_close(job.end_s, 10, 1e-9);
    assert_true(job.clocks_aligned);
    expect_close(job.uncertainty_s, 0, 1e-9);
    expect_close(job.nodes[0].shift_s, 0, 1e-12);
    expect_close(job.nodes[1].shift_s, -3600, 1e-9);
    job_report_free(&job);
    job = virtual_nodes("one", "another");
    expect_close(job.end_s, 3610, 1e-9); // as their clocks say
    assert_false(job.clocks_aligned);
    assert_true(isnan(job.uncertainty_s));
    expect_close(job.nodes[1].shift_s, 0, 1e-12);
    assert_non_null(strstr(job.clock_text, "not compared"));
    job_report_free(&job);
}

// What the files themselves hold: one kernel's clock state, and two nodes of one boot.
static void clocks_by_what_the_files_hold(void **state)
{
    (void)state;
    const char *const facts[] = {"clock_synchronised", "yes", "clock_max_error_us", "2000", NULL};
    for (int n = 1; n <= 2; n++) {
        node_file f = usual_node(n == 1 ? "n1" : "n2", n == 1 ? "1.netprof" : "2.netprof",
                                 &(node_shape){.parts = NODE_PROCESS, .interval_s = 1, .facts = facts});
        for (int t = 0; t <= 10; t++)
            node_take(&f, t);
        node_close(&f);
    }
    job_report job = report_of(NULL);
    assert_true(job.clocks_aligned);
    expect_close(job.uncertainty_s, 0.004, 1e-6); // both errors together
    assert_non_null(strstr(job.clock_text, "4 ms"));
    expect_close(job.end_s, 10, 1e-9);
    job_report_free(&job);
}

static void hostile_names_and_phases(void **state)
{
    (void)state;
    static const char evil[] = "n\x1b[31m\xff\"<b>\\";
    node_file f = usual_node(evil, "n1.netprof", &(node_shape){.parts = NODE_PROCESS, .interval_s = 1});
    for (int t = 0; t <= 10; t++)
        node_take(&f, t);
    node_close(&f);
    tree_write(tree, "x.phases",
               "# a comment\n\n1700000002 \x1b[2Jinit \"x\"\r\nnot a time\n1700000004\n99999999999999999999 far\n"
               "1700000005.000000000999 -\n \t 1700000007\ttrain\n \t# indented\n1800000000 never\n");
    job_report job = report_of(NULL);
    assert_int_equal(job.span_count, 2);
    assert_string_equal(job.phases[0].name, "\x1b[2Jinit \"x\"");
    expect_close(job.spans[0].from_s, 2, 1e-9);
    expect_close(job.spans[0].to_s, 5, 1e-9);
    assert_string_equal(job.phases[1].name, "train");
    expect_close(job.spans[1].to_s, 10, 1e-9);
    assert_int_equal(warnings_with(&job, "expected TIME NAME"), 1);
    assert_int_equal(warnings_with(&job, "3 lines are no phases"), 1);
    json_object *o = job_report_json(&job);
    assert_non_null(o);
    const char *text = json_object_to_json_string(o);
    for (const char *at = text; *at; at++)
        assert_true((unsigned char)*at >= 0x20 && (unsigned char)*at != 0xff);
    json_object *again = json_tokener_parse(text);
    assert_non_null(again);
    json_object_put(again);
    json_object_put(o);
    job_report_free(&job);
}

static void files_that_are_none(void **state)
{
    (void)state;
    job_report job = {0};
    netprof_error error;
    const char *paths[] = {tree, "/nowhere/x.netprof"};
    assert_int_equal(job_report_read(&job, paths, 0, NULL, &error), NETPROF_ERR_ARG);
    assert_int_equal(job_report_read(&job, paths, 2, NULL, &error), NETPROF_ERR_FORMAT);
    assert_non_null(strstr(error.path, "nowhere"));
    assert_false(job_report_wants(paths, 2));
    tree_write(tree, "bad.netprof", "this is no recording\n");
    node_file f = usual_node("n1", "one.netprof", &(node_shape){.parts = NODE_PROCESS});
    node_take(&f, 0);
    node_close(&f);
    assert_int_equal(job_report_read(&job, paths, 1, NULL, &error), NETPROF_ERR_FORMAT);
    assert_false(job_report_wants(paths, 1));
    f = usual_node("n2", "two.netprof", &(node_shape){.parts = NODE_PROCESS});
    node_take(&f, 0);
    node_take(&f, 1);
    node_close(&f);
    assert_true(job_report_wants(paths, 1));
    job = report_of(NULL);
    assert_true(job.damaged);
    assert_int_equal(job.files, 1);
    assert_int_equal(warnings_with(&job, "one snapshot"), 1);
    assert_int_equal(warnings_with(&job, "expected a .netprof file"), 1);
    job_report_free(&job);
    // Network counters alone are no job.
    tree_remove(tree);
    tree = tree_make();
    f = usual_node("n1", "n1.netprof", &(node_shape){.nics = 1});
    node_take(&f, 0);
    node_take(&f, 1);
    node_close(&f);
    paths[0] = tree;
    assert_false(job_report_wants(paths, 1));
}

// However long a job, bins are JOB_BINS at most and keep lowest, highest and mean.
static void long_jobs_keep_extremes(void **state)
{
    (void)state;
    enum { TICKS = 20000 };
    node_file f = usual_node("n1", "n1.netprof", &(node_shape){.parts = NODE_PROCESS, .interval_s = 1});
    for (int t = 0; t <= TICKS; t++) {
        node_take(&f, t);
        node_add(&f, "job", "cpu_user", t == 12345 ? 3.5e6 : t == 15000 ? 0 : 1e6);
    }
    node_close(&f);
    job_report job = report_of(NULL);
    assert_true(job.bin_s >= (double)TICKS / JOB_BINS && job.bin_s < 3 * (double)TICKS / JOB_BINS);
    const job_lane *cpu = job.nodes[0].lanes[JOB_CPU];
    expect_close(cpu->total, TICKS + 1.5, 1e-9);
    job_column at = job_lane_span(&job, cpu, 12300, 12400), later = job_lane_span(&job, cpu, 14900, 15100);
    expect_close(at.high, 3.5, 1e-6);
    expect_close(at.low, 1, 1e-6);
    expect_close(at.mean, 1.025, 0.01);
    expect_close(later.low, 0, 1e-6);
    expect_close(job_lane_amount(&job, cpu, 0, 10000), 10000, 1e-4);
    job_report_free(&job);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(totals_and_means_of_a_node),
        TEST(gaps_are_gaps_and_totals_cross_them),
        TEST(missing_samples_are_counted),
        TEST(nodes_that_were_given),
        TEST(phases_add_up_over_nodes_and_stretches),
        TEST(hosts_meet_on_the_time_axis),
        TEST(wraps_and_resets),
        TEST(no_rights_are_no_zero),
        TEST(a_job_of_one_second),
        TEST(two_snapshots_are_a_job),
        TEST(the_worst_incidents_are_told),
        TEST(an_incident_of_a_node_that_is_read_first),
        TEST(one_reading_is_said),
        TEST(one_nic_is_held),
        TEST(memory_that_grows_and_a_node_that_idles),
        TEST(limits_of_a_control_group),
        TEST(most_memory_of_processes),
        TEST(brief_gaps),
        TEST(the_shortest_gap),
        TEST(memory_of_processes_that_come_and_go),
        TEST(memory_of_processes_never_seen),
        TEST(lanes_of_zeros),
        TEST(traffic_beside_the_ports),
        TEST(thousands_of_interfaces),
        TEST(virtual_devices_have_lanes),
        TEST(what_a_job_was_given),
        TEST(used_of_what_was_given),
        TEST(a_busy_node_is_weighed_by_the_job),
        TEST(packages_at_their_power_limit),
        TEST(time_between_recordings),
        TEST(swap_that_is_full),
        TEST(idle_gpus),
        TEST(nodes_without_a_job_may_idle),
        TEST(the_nodes_own_meter_holds_the_parts),
        TEST(tracks_of_two_rates),
        TEST(files_of_one_node),
        TEST(a_node_in_four_parts),
        TEST(files_that_share_a_reading),
        TEST(clocks_and_virtual_nodes),
        TEST(clocks_by_what_the_files_hold),
        TEST(hostile_names_and_phases),
        TEST(files_that_are_none),
        TEST(long_jobs_keep_extremes),
        TEST(counters_read_now_and_then),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
