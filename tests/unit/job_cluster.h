// Recordings of nodes as netprof record writes them, with values that the test sets. Start from node_open(), set values,
// node_take() at a time in seconds, node_close().
#ifndef NETPROF_TESTS_JOB_CLUSTER_H
#define NETPROF_TESTS_JOB_CLUSTER_H

#include "analysis/job/job_report.h"
#include "job_claims.h"
#include "support.h"

#include <math.h>
#include <stdbool.h>

#define CLUSTER_EPOCH INT64_C(1700000000000000000)

enum {
    NODE_PROCESS = 1,
    NODE_CGROUP = 2,
    NODE_CPU = 4,
    NODE_MEMORY = 8,
    NODE_ENERGY = 16,
    NODE_HWMON = 32,
    NODE_RECORDER = 64,
    NODE_ALL = 127,
    NODE_LOOPBACK = 128,
    NODE_PERF = 512,   // the job's task clock
    NODE_PARTS = 1024, // memory, of what processes share each with its part
    NODE_BOUND = 2048, // the busiest thread, and the time that all waited for I/O
    NODE_GIVEN = 256 // limits: of the process and the control group, of power; the node's pressure; all absent at first
};

// All zero: two NICs and no more.
typedef struct node_shape {
    const char *name, *host; // node name; host NULL: the same
    const char *boot;        // its boot_id; NULL: the name
    unsigned parts;
    int nics, gpus;           // nics 0: two, -1: none
    int veths;                // virtual interfaces "veth0", ... that say 10 Gbit/s, as the kernel's do
    int cpus;                 // 0: 4
    int energy_width;         // bits; 0: 64
    double interval_s;        // as told by the file; 0: not told
    int64_t offset_ns;        // of its wall clock
    const char *group;        // NULL: "/job"
    const char *cpu_group;    // of its CPU time, where that is another's
    bool group_given;         // by the user
    bool gpu_clock;           // GPUs tell their clock
    const char *const *facts; // key, value, ..., NULL
} node_shape;

// The directory of a test, made and removed around it.
static char *tree;

static int setup(void **state)
{
    (void)state;
    tree = tree_make();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    tree_remove(tree);
    return 0;
}

// Of all recordings in the directory; rules may be NULL.
SUPPORT job_report report_of_tree(const rules *judged_by)
{
    job_report job = {0};
    netprof_error error = {.code = NETPROF_OK};
    if (job_report_read(&job, (const char *const[]){tree}, 1, &(job_report_options){.rules = judged_by}, &error))
        fail_msg("%s: %s", error.path, error.text);
    job_claims_check(&job);
    return job;
}

// The first of the rule, or NULL.
SUPPORT const job_finding *finding_of(const job_report *job, const char *name)
{
    for (size_t i = 0; i < job->finding_count; i++)
        if (strcmp(job->findings[i].rule, name) == 0) return &job->findings[i];
    return NULL;
}

typedef struct node_file {
    netprof_writer *writer;
    netprof_snapshot x;
    int64_t offset_ns;
} node_file;

SUPPORT void cluster_counter(netprof_list *list, const char *name, const char *unit, netprof_kind kind, int width)
{
    netprof_counter c = {.name = name, .unit = unit, .kind = (uint8_t)kind, .width = (uint8_t)width};
    netprof_list_counter(list, &c);
}

SUPPORT void cluster_counters(netprof_list *list, const char *const *names, const char *unit, netprof_kind kind,
                              int width)
{
    for (; *names; names++)
        cluster_counter(list, *names, unit, kind, width);
}

SUPPORT void cluster_node_parts(netprof_list *list, const node_shape *s)
{
    static const char *const times[] = {"cpu_user", "cpu_system", NULL}, *const moved[] = {"read_chars", "write_chars",
                                                                                           "read_bytes", "write_bytes",
                                                                                           NULL};
    static const char *const group[] = {"memory_current", "memory_limit", "memory_file_inactive", "memory_peak", NULL};
    static const char *const cpu[] = {"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", NULL};
    static const char *const memory[] = {"MemTotal", "MemAvailable", "SwapTotal", "SwapFree", NULL};
    if (s->parts & NODE_PROCESS) {
        netprof_build_source(list, "process");
        netprof_list_device(list, "job", 0, NETPROF_DEVICE_VIRTUAL);
        cluster_counters(list, times, "us", NETPROF_KIND_COUNTER, 64);
        cluster_counters(list, moved, "bytes", NETPROF_KIND_COUNTER, 64);
        cluster_counter(list, "resident", "bytes", NETPROF_KIND_GAUGE, 64);
        if (s->parts & NODE_PARTS) cluster_counter(list, "memory_proportional", "bytes", NETPROF_KIND_GAUGE, 64);
        if (s->parts & NODE_BOUND) cluster_counter(list, "busiest_thread", "ns", NETPROF_KIND_COUNTER, 64);
        if (s->parts & NODE_GIVEN) cluster_counter(list, "run_queue_wait", "ns", NETPROF_KIND_COUNTER, 64);
        if (s->parts & NODE_GIVEN) cluster_counter(list, "cpus_allowed", "CPUs", NETPROF_KIND_GAUGE, 64);
    }
    if (s->parts & NODE_CGROUP) {
        netprof_build_source(list, "cgroup");
        netprof_list_device(list, s->group ? s->group : "/job", 0, NETPROF_DEVICE_VIRTUAL);
        if (s->group_given) netprof_list_fact(list, "given", "yes");
        if (s->cpu_group) netprof_list_fact(list, "cpu_group", s->cpu_group);
        cluster_counter(list, "cpu_usage", "us", NETPROF_KIND_COUNTER, 64);
        cluster_counter(list, "oom_kills", "events", NETPROF_KIND_COUNTER, 64);
        cluster_counters(list, group, "bytes", NETPROF_KIND_GAUGE, 64);
        static const char *const times_given[] = {"cpu_quota", "cpu_period", NULL};
        if (s->parts & NODE_GIVEN) cluster_counters(list, times_given, "us", NETPROF_KIND_GAUGE, 64);
        if (s->parts & NODE_GIVEN) cluster_counter(list, "cpuset_cpus", "CPUs", NETPROF_KIND_GAUGE, 64);
    }
    if (s->parts & NODE_PERF) {
        netprof_build_source(list, "perf");
        netprof_list_device(list, "job", 0, NETPROF_DEVICE_VIRTUAL);
        cluster_counter(list, "task_clock", "ns", NETPROF_KIND_COUNTER, 64);
    }
    if (s->parts & NODE_GIVEN) {
        netprof_build_source(list, "pressure");
        netprof_list_device(list, "pressure", 0, NETPROF_DEVICE_PHYSICAL);
        cluster_counter(list, "cpu_some", "us", NETPROF_KIND_COUNTER, 64);
        if (s->parts & NODE_BOUND) cluster_counter(list, "io_full", "us", NETPROF_KIND_COUNTER, 64);
    }
    if (s->parts & NODE_CPU) {
        char cpus[16];
        snprintf(cpus, sizeof cpus, "%d", s->cpus ? s->cpus : 4);
        netprof_build_source(list, "cpu");
        netprof_list_device(list, "cpu", 0, NETPROF_DEVICE_PHYSICAL);
        netprof_list_fact(list, "cpus", cpus);
        cluster_counters(list, cpu, "us", NETPROF_KIND_COUNTER, 64);
    }
    if (s->parts & NODE_MEMORY) {
        netprof_build_source(list, "memory");
        netprof_list_device(list, "memory", 0, NETPROF_DEVICE_PHYSICAL);
        cluster_counters(list, memory, "bytes", NETPROF_KIND_GAUGE, 64);
        cluster_counter(list, "pswpin", "pages", NETPROF_KIND_COUNTER, 64);
        cluster_counter(list, "pswpout", "pages", NETPROF_KIND_COUNTER, 64);
    }
    if (s->parts & NODE_ENERGY) {
        netprof_build_source(list, "energy");
        netprof_list_device(list, "package-0", 0, NETPROF_DEVICE_PHYSICAL);
        cluster_counter(list, "energy", "uJ", NETPROF_KIND_COUNTER, s->energy_width ? s->energy_width : 64);
        if (s->parts & NODE_GIVEN) cluster_counter(list, "power_limit_long_term", "uW", NETPROF_KIND_GAUGE, 64);
        netprof_list_device(list, "package-0/core", 0, NETPROF_DEVICE_VIRTUAL);
        cluster_counter(list, "energy", "uJ", NETPROF_KIND_COUNTER, 64);
        netprof_list_device(list, "package-0/dram", 0, NETPROF_DEVICE_VIRTUAL);
        cluster_counter(list, "energy", "uJ", NETPROF_KIND_COUNTER, 64);
    }
    if (s->parts & NODE_HWMON) {
        netprof_build_source(list, "hwmon");
        netprof_list_device(list, "power_meter ACPI000D:00", 0, NETPROF_DEVICE_PHYSICAL);
        cluster_counter(list, "power1", "uW", NETPROF_KIND_GAUGE, 64);
    }
    if (s->parts & NODE_LOOPBACK) {
        static const char *const bytes[] = {"rx_bytes", "tx_bytes", NULL};
        netprof_build_source(list, "netdev");
        netprof_list_device(list, "lo", 0, NETPROF_DEVICE_VIRTUAL);
        cluster_counters(list, bytes, "bytes", NETPROF_KIND_COUNTER, 64);
    }
    for (int i = 0; i < s->veths; i++) {
        char name[32];
        snprintf(name, sizeof name, "veth%d", i);
        if (i == 0 && !(s->parts & NODE_LOOPBACK)) netprof_build_source(list, "netdev");
        netprof_list_device(list, name, 0, NETPROF_DEVICE_VIRTUAL);
        netprof_list_fact(list, "speed_mbps", "10000");
        cluster_counter(list, "tx_bytes", "bytes", NETPROF_KIND_COUNTER, 64);
    }
    if (s->parts & NODE_RECORDER) {
        netprof_build_source(list, "user");
        netprof_list_device(list, "recorder", 0, NETPROF_DEVICE_VIRTUAL);
        cluster_counter(list, "ticks_missed", "ticks", NETPROF_KIND_COUNTER, 64);
        cluster_counter(list, "late", "ns", NETPROF_KIND_GAUGE, 64);
    }
}

SUPPORT void cluster_nics(netprof_list *list, int count)
{
    static const char *const bytes[] = {"hni_sts_rx_ok_octets", "hni_sts_tx_ok_octets", NULL};
    netprof_build_source(list, "cxi");
    for (int i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "cxi%d", i);
        netprof_list_device(list, name, 0, NETPROF_DEVICE_PHYSICAL);
        netprof_list_fact(list, "speed_mbps", "200000");
        cluster_counters(list, bytes, "bytes", NETPROF_KIND_COUNTER, 56);
        cluster_counter(list, "hni_tx_paused_0", "cycles", NETPROF_KIND_COUNTER, 56);
        cluster_counter(list, "pct_retry_srb_requests", "retries", NETPROF_KIND_COUNTER, 56);
        cluster_counter(list, "hni_rx_paused_0", "cycles", NETPROF_KIND_COUNTER, 56);
        cluster_counter(list, "hni_pcs_uncorrected_cw", "codewords", NETPROF_KIND_COUNTER, 56);
    }
}

SUPPORT void cluster_gpus(netprof_list *list, int count, bool clock)
{
    static const char *const gauges[] = {"memory_used", "memory_total", NULL};
    netprof_build_source(list, "gpu");
    for (int i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "gpu%d", i);
        netprof_list_device(list, name, 0, NETPROF_DEVICE_PHYSICAL);
        cluster_counter(list, "busy", "percent", NETPROF_KIND_GAUGE, 64);
        cluster_counters(list, gauges, "bytes", NETPROF_KIND_GAUGE, 64);
        cluster_counter(list, "energy", "uJ", NETPROF_KIND_COUNTER, 64);
        cluster_counter(list, "power", "uW", NETPROF_KIND_GAUGE, 64);
        cluster_counter(list, "power_limit", "uW", NETPROF_KIND_GAUGE, 64);
        cluster_counter(list, "throttled_thermal", "us", NETPROF_KIND_COUNTER, 64);
        if (clock) cluster_counter(list, "clock", "MHz", NETPROF_KIND_GAUGE, 64);
    }
}

SUPPORT const netprof_schema *cluster_schema(const node_shape *s)
{
    const netprof_schema *schema = NULL;
    netprof_list *list = netprof_build_begin(NULL);
    netprof_build_fact(list, "host", s->host ? s->host : s->name);
    netprof_build_fact(list, "boot_id", s->boot ? s->boot : s->name);
    cluster_node_parts(list, s);
    if (s->nics >= 0) cluster_nics(list, s->nics ? s->nics : 2);
    if (s->gpus) cluster_gpus(list, s->gpus, s->gpu_clock);
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    return schema;
}

SUPPORT node_file node_open(const char *path, const node_shape *s)
{
    node_file f = {.x = NETPROF_ZERO, .offset_ns = s->offset_ns};
    const netprof_schema *schema = cluster_schema(s);
    assert_int_equal(netprof_writer_open(&f.writer, path, 0, NULL), NETPROF_OK);
    netprof_write_fact(f.writer, "node", s->name, NULL);
    for (const char *const *fact = s->facts; fact && *fact; fact += 2)
        netprof_write_fact(f.writer, fact[0], fact[1], NULL);
    if (s->interval_s > 0) {
        char text[32];
        snprintf(text, sizeof text, "%.0f", s->interval_s * 1e9);
        netprof_write_fact(f.writer, "interval_ns", text, NULL);
    }
    assert_int_equal(netprof_snapshot_make(&f.x, schema, NULL), NETPROF_OK);
    netprof_schema_release(schema);
    memset(f.x.status, NETPROF_STATUS_OK, f.x.schema->counter_count);
    return f;
}

SUPPORT size_t node_index(const node_file *f, const char *device, const char *counter)
{
    size_t i = netprof_find(f->x.schema, NULL, device, counter);
    if (i == NETPROF_NONE) fail_msg("no counter %s/%s", device, counter);
    return i;
}

SUPPORT void node_set(node_file *f, const char *device, const char *counter, double value)
{
    f->x.values[node_index(f, device, counter)] = (uint64_t)llround(value);
}

SUPPORT void node_add(node_file *f, const char *device, const char *counter, double value)
{
    f->x.values[node_index(f, device, counter)] += (uint64_t)llround(value);
}

SUPPORT void node_status(node_file *f, const char *device, const char *counter, netprof_status status)
{
    f->x.status[node_index(f, device, counter)] = (uint8_t)status;
}

// The snapshot at a time of the job.
SUPPORT void node_take(node_file *f, double seconds)
{
    int64_t ns = (int64_t)llround(seconds * 1e9);
    f->x.begin_ns = INT64_C(5000000000000) + ns;
    f->x.end_ns = f->x.begin_ns + 1000000;
    f->x.wall_ns = CLUSTER_EPOCH + ns + f->offset_ns;
    for (size_t d = 0; d < f->x.schema->device_count; d++)
        f->x.device_begin_ns[d] = f->x.device_end_ns[d] = f->x.begin_ns;
    assert_int_equal(netprof_write_snapshot(f->writer, &f->x, NULL), NETPROF_OK);
}

SUPPORT void node_close(node_file *f)
{
    assert_int_equal(netprof_writer_close(f->writer, 1, NULL), NETPROF_OK);
    netprof_snapshot_free(&f->x);
}

#endif
