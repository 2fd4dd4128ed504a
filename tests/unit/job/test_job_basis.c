// By what the job report measures CPU time and memory: one node for 100 s, whose accounts disagree as real ones do.
#define _GNU_SOURCE
#include "netprof.h"

#include "job_claims.h"
#include "job_cluster.h"

#include "analysis/base/memory.h"
#include "analysis/base/words.h"
#include "analysis/job/job_report.h"

#include <math.h>

#define GIB 1073741824.0

enum { SECONDS = 100 };

// What each account says: CPUs, and bytes. 0: it is not there.
typedef struct accounts {
    double group_cpu, process_cpu, clock_cpu;                       // CPUs busy
    double group_memory, inactive, parts, resident, resident_later; // later: from second 51 on; 0: the same
    double group_peak[2];                                           // the most of the group before and after second 50
    const char *group, *cpu_group, *id, *scheduler, *used_us;       // used_us: of the command, by the kernel
    bool given;
} accounts;

static job_report report_of(const accounts *a)
{
    job_report job = {0};
    netprof_error error = {.code = NETPROF_OK};
    const char *const facts[] = {
        "scheduler",   a->scheduler ? a->scheduler : "slurm", "job_id",        a->id ? a->id : "99",
        "user_cpu_us", a->used_us ? a->used_us : "0",         "system_cpu_us", "0",
        NULL};
    unsigned parts = NODE_CPU | NODE_MEMORY | NODE_PROCESS;
    if (a->group) parts |= NODE_CGROUP;
    if (a->clock_cpu > 0) parts |= NODE_PERF;
    if (a->parts > 0) parts |= NODE_PARTS;
    node_shape shape = {.name = "n1",
                        .parts = parts,
                        .interval_s = 1,
                        .facts = facts,
                        .group = a->group,
                        .cpu_group = a->cpu_group,
                        .group_given = a->given};
    node_file f = node_open(tree_path(tree, "n1.netprof"), &shape);
    node_set(&f, "memory", "MemTotal", 16 * GIB);
    node_set(&f, "memory", "MemAvailable", 12 * GIB);
    for (int t = 0; t <= SECONDS; t++) {
        node_set(&f, "job", "resident", t > 50 && a->resident_later > 0 ? a->resident_later : a->resident);
        if (a->parts > 0) node_set(&f, "job", "memory_proportional", a->parts);
        if (a->group) node_set(&f, a->group, "memory_current", a->group_memory + a->inactive);
        if (a->group) node_set(&f, a->group, "memory_file_inactive", a->inactive);
        if (a->group) node_set(&f, a->group, "memory_peak", a->group_peak[t > 50]);
        if (a->group) node_status(&f, a->group, "memory_limit", NETPROF_STATUS_ABSENT);
        node_take(&f, t);
        node_add(&f, "job", "cpu_user", a->process_cpu * 1e6);
        if (a->group) node_add(&f, a->group, "cpu_usage", a->group_cpu * 1e6);
        if (a->clock_cpu > 0)
            f.x.values[netprof_find(f.x.schema, "perf", "job", "task_clock")] += (uint64_t)(a->clock_cpu * 1e9);
        node_add(&f, "cpu", "user", 3.9e6);
        node_add(&f, "cpu", "idle", 0.1e6);
    }
    node_close(&f);
    if (job_report_read(&job, (const char *const[]){tree}, 1, NULL, &error)) fail_msg("%s: %s", error.path, error.text);
    job_claims_check(&job);
    return job;
}

static const char *const own = "/slurm/uid_0/job_99";

// ---- tests ----

// A step whose tasks are reaped by slurmstepd: the sums over processes have less than half of it.
static void cpu_time_of_the_control_group(void **state)
{
    static const struct {
        const char *group, *cpu_group, *id, *scheduler;
        bool given;
        job_measure by;
    } rows[] = {
        {"/slurm/uid_0/job_99", NULL, "99", "slurm", false, JOB_BY_GROUP},
        {"/system.slice/slurmstepd.scope/job_99/step_0", NULL, "99", "slurm", false, JOB_BY_GROUP},
        {"/slurm/uid_0/job_991", NULL, "99", "slurm", false, JOB_BY_PROCESSES},
        {"/slurm/uid_0/job_9", NULL, "99", "slurm", false, JOB_BY_PROCESSES},
        {"/pbs_jobs.service/jobid/99.server", NULL, "99.server", "pbs", false, JOB_BY_GROUP},
        {"/oar/user_99", NULL, "99", "oar", false, JOB_BY_GROUP},
        {"/r5c", NULL, "99", "slurm", true, JOB_BY_GROUP}, // the user said so
        {"/user.slice/session-3.scope", NULL, "99", "slurm", false, JOB_BY_PROCESSES},
        {"/", NULL, "99", "slurm", false, JOB_BY_PROCESSES},
        {"/slurm/uid_0/job_99", "/", "99", "slurm", false, JOB_BY_PROCESSES}, // version 1: its CPU time is the node's
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        accounts a = {.group_cpu = 3,
                      .process_cpu = 1.26,
                      .group = rows[i].group,
                      .cpu_group = rows[i].cpu_group,
                      .id = rows[i].id,
                      .scheduler = rows[i].scheduler,
                      .given = rows[i].given,
                      .resident = GIB};
        job_report job = report_of(&a);
        const job_efficiency *e = &job.efficiency[JOB_EFFICIENCY_CPU];
        double is = rows[i].by == JOB_BY_GROUP ? 300 : 126;
        if (job.nodes[0].cpu_by != rows[i].by) fail_msg("row %zu: by %s", i, job_measure_name(job.nodes[0].cpu_by));
        if (!(fabs(e->used - is) < 0.01)) fail_msg("row %zu: %g CPU s", i, e->used);
        assert_int_equal(e->by, rows[i].by);
        assert_false(e->lower_bound);
        job_report_free(&job);
    }
}

// A group that holds only a part of the job, for it was given wrongly, or processes left it.
static void a_group_without_its_processes(void **state)
{
    (void)state;
    job_report job = report_of(&(accounts){.group_cpu = 0.5, .process_cpu = 3, .group = own, .resident = GIB});
    assert_int_equal(job.nodes[0].cpu_by, JOB_BY_PROCESSES);
    assert_true(fabs(job.efficiency[JOB_EFFICIENCY_CPU].used - 300) < 0.01);
    job_report_free(&job);
}

// Processes that nobody waited for: perf's clock had them.
static void what_ended_unseen_makes_it_at_least(void **state)
{
    (void)state;
    job_report job = report_of(&(accounts){.process_cpu = 0.26, .clock_cpu = 2.57, .resident = GIB});
    const job_efficiency *e = &job.efficiency[JOB_EFFICIENCY_CPU];
    assert_int_equal(e->by, JOB_BY_CLOCK);
    assert_true(e->lower_bound);
    assert_true(fabs(e->used - 257) < 0.01);
    job_report_free(&job);
    job = report_of(&(accounts){.process_cpu = 2.5, .clock_cpu = 2.57, .resident = GIB}); // they agree
    assert_int_equal(job.efficiency[JOB_EFFICIENCY_CPU].by, JOB_BY_PROCESSES);
    assert_false(job.efficiency[JOB_EFFICIENCY_CPU].lower_bound);
    job_report_free(&job);
    job = report_of(&(accounts){.process_cpu = 1, .used_us = "220000000", .resident = GIB}); // the kernel's account
    assert_true(job.efficiency[JOB_EFFICIENCY_CPU].lower_bound);
    assert_true(fabs(job.efficiency[JOB_EFFICIENCY_CPU].used - 220) < 0.01);
    job_report_free(&job);
}

static void memory_by_the_best_account(void **state)
{
    static const struct {
        const char *group;
        double parts;
        job_measure by;
        double is;
        bool at_most;
    } rows[] = {
        {"/slurm/uid_0/job_99", 1.8 * GIB, JOB_BY_GROUP, 1.6 * GIB, false},
        {"/slurm/uid_0/job_99", 0, JOB_BY_GROUP, 1.6 * GIB, false},
        {"/user.slice", 1.8 * GIB, JOB_BY_PARTS, 1.8 * GIB, false},
        {NULL, 1.8 * GIB, JOB_BY_PARTS, 1.8 * GIB, false},
        {NULL, 0, JOB_BY_RESIDENT, 8 * GIB, true},
        {"/user.slice", 0, JOB_BY_RESIDENT, 8 * GIB, true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        job_report job = report_of(&(accounts){.group_cpu = 3,
                                               .process_cpu = 3,
                                               .group = rows[i].group,
                                               .group_memory = 1.6 * GIB,
                                               .inactive = 5 * GIB,
                                               .parts = rows[i].parts,
                                               .resident = 8 * GIB});
        const job_efficiency *e = &job.efficiency[JOB_EFFICIENCY_MEMORY];
        if (e->by != rows[i].by) fail_msg("row %zu: by %s", i, job_measure_name(e->by));
        assert_true(fabs(e->used - rows[i].is) < 1);
        assert_int_equal(e->upper_bound, rows[i].at_most);
        assert_int_equal(e->lower_bound, rows[i].by == JOB_BY_PARTS); // between its readings it may have been more
        assert_true(fabs(job.nodes[0].memory_peak - rows[i].is) < 1);
        job_report_free(&job);
    }
}

// The kernel keeps the group's most between readings, too, which counts where it was reached while it was recorded.
static void memory_between_readings_is_at_least(void **state)
{
    static const struct {
        double peak[2];
        bool at_least;
    } rows[] = {
        {{6.6 * GIB, 6.6 * GIB}, false},  // as read
        {{6.6 * GIB, 6.66 * GIB}, false}, // 0.9 % more
        {{6.6 * GIB, 6.68 * GIB}, true},  // 1.2 % more
        {{9 * GIB, 9 * GIB}, false},      // before the recording
        {{9 * GIB, 9.1 * GIB}, true},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        job_report job = report_of(&(accounts){.group_cpu = 3,
                                               .process_cpu = 3,
                                               .group = "/slurm/uid_0/job_99",
                                               .group_memory = 1.6 * GIB,
                                               .inactive = 5 * GIB,
                                               .group_peak = {rows[i].peak[0], rows[i].peak[1]},
                                               .resident = 8 * GIB});
        const job_efficiency *e = &job.efficiency[JOB_EFFICIENCY_MEMORY];
        assert_int_equal(e->by, JOB_BY_GROUP);
        assert_true(fabs(e->used - 1.6 * GIB) < 1);
        if (e->lower_bound != rows[i].at_least) fail_msg("row %zu", i);
        assert_false(e->upper_bound);
        job_report_free(&job);
    }
}

// 24 forked processes of 1.5 GiB, all of it shared, on a node of 16 GiB: no fact, and no finding.
static void resident_sizes_accuse_nobody(void **state)
{
    (void)state;
    job_report job = report_of(&(accounts){.process_cpu = 3.9, .resident = 37.7 * GIB});
    const job_lane *lane = job.nodes[0].lanes[JOB_MEMORY];
    assert_true(lane->upper_bound);
    assert_true(lane->high <= 16 * GIB);
    assert_true(lane->mean <= 16 * GIB);
    assert_true(lane->low <= 16 * GIB && lane->first <= 16 * GIB && lane->last <= 16 * GIB);
    assert_true(job_lane_span(&job, lane, 20, 40).high <= 16 * GIB * 1.0001);
    assert_true(job.efficiency[JOB_EFFICIENCY_MEMORY].used <= 16 * GIB);
    for (size_t i = 0; i < job.finding_count; i++)
        assert_int_not_equal(job.findings[i].meter, JOB_MEMORY);
    assert_true(job.severity < SEVERITY_WATCH);
    job_report_free(&job);
    // For half of the time they come to more than there is: the mean is of what is shown.
    job = report_of(&(accounts){.process_cpu = 3.9, .resident = 8 * GIB, .resident_later = 37.7 * GIB});
    lane = job.nodes[0].lanes[JOB_MEMORY];
    assert_true(fabs(lane->low - 8 * GIB) < 0.01 * GIB && fabs(lane->high - 16 * GIB) < 0.01 * GIB);
    assert_true(fabs(lane->first - 8 * GIB) < 0.01 * GIB && fabs(lane->last - 16 * GIB) < 0.01 * GIB);
    assert_true(fabs(lane->mean - 12 * GIB) < 0.2 * GIB);
    assert_true(fabs(lane->mean - job_lane_span(&job, lane, 0, SECONDS).mean) < 0.01 * GIB);
    job_report_free(&job);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(cpu_time_of_the_control_group),       TEST(a_group_without_its_processes),
        TEST(what_ended_unseen_makes_it_at_least), TEST(memory_by_the_best_account),
        TEST(memory_between_readings_is_at_least), TEST(resident_sizes_accuse_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
