// Writes the recordings of a job that never ran: a training on many nodes, with checkpoints, on which one NIC is paused
// for a while and one node's memory grows.
//
//     make_job [-n NODES] [-t SECONDS] [-d NICS] [-g GPUS] [-q] DIRECTORY
//
// One file for each node as `netprof record --interval 1s` writes it: the NICs' fast set, CPU, memory, the job's processes,
// energy and GPUs, once a second. DIRECTORY/phases.phases has the phases. All from sums and a hash: two runs write the same
// bytes. The phases are those of an hour, stretched to SECONDS: init to 210 s, a checkpoint of 50 s at every quarter of the
// hour, the end at 3580 s; from 2300 to 2650 s NIC 1 of node 11 is paused 44 % of the time and all nodes send 36 % less.
#include "catalog.h"
#include "netprof.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EPOCH_NS INT64_C(1795179720000000000) // 2026-11-20 13:02:00 UTC
#define GIB      1073741824.0

enum { DEVICES_MOST = 64, CPUS = 128, INTERVAL_S = 1 };

static long node_count = 16, seconds = 3600, nics = 4, gpus = 4;
static int quiet;

static double noise(uint64_t a, uint64_t b) // -0.5 .. 0.5
{
    uint64_t z = a * UINT64_C(0x9e3779b97f4a7c15) + b;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0 - 0.5;
}

// ---- what the job does ----

enum { INIT = 0, TRAIN, CHECKPOINT, END, SLOW, PHASES };

static int phase_at(double t)
{
    double of = t * 3600 / (double)seconds;
    if (of < 210) return INIT;
    if (of >= 3580) return END;
    for (int i = 1; i <= 3; i++)
        if (of >= 900 * i && of < 900 * i + 50) return CHECKPOINT;
    if (of >= 3530) return CHECKPOINT;
    return of >= 2300 && of < 2650 ? SLOW : TRAIN;
}

// Per second of a phase: of one node.
static const struct rates {
    double sent, received, read, written, cpus, gpu_busy, cpu_w, gpu_w, rest_w;
} rates[PHASES] = {[INIT] = {0.5e9, 6e9, 6.1e9, 0.05e9, 74, 11, 340, 500, 540},
                   [TRAIN] = {31.4e9, 31.5e9, 0.01e9, 0.05e9, 28, 92, 340, 1900, 340},
                   [CHECKPOINT] = {5.1e9, 0.4e9, 0.01e9, 5e9, 44, 7, 340, 500, 320},
                   [END] = {0.1e9, 0.1e9, 0, 0, 4, 1, 260, 400, 200},
                   [SLOW] = {20e9, 20.1e9, 0.01e9, 0.05e9, 22, 60, 330, 1350, 300}};

// ---- the schema of a node ----

static void add(netprof_list *list, const char *name, const char *unit, netprof_kind kind)
{
    netprof_counter c = {.name = name, .unit = unit, .kind = (uint8_t)kind, .width = 64};
    netprof_list_counter(list, &c);
}

static void add_device(netprof_list *list, const char *stem, long number, uint32_t flags)
{
    char name[32];
    snprintf(name, sizeof name, "%s%ld", stem, number);
    netprof_list_device(list, name, 0, flags);
}

static void add_fast(netprof_list *list)
{
    size_t count;
    const char *const *names = catalog_cassini_1_names(&count);
    for (size_t i = 0; i < count; i++) {
        const catalog_entry *entry = catalog_find("cxi", names[i]);
        if (catalog_marks("cxi", names[i]) & CATALOG_FAST) add(list, names[i], entry ? entry->unit : "events", NETPROF_KIND_COUNTER);
    }
}

static const netprof_schema *make_schema(const char *node)
{
    static const char *const cpu[] = {"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"};
    const netprof_schema *schema = NULL;
    netprof_list *list = netprof_build_begin(NULL);
    netprof_build_fact(list, "host", node);
    netprof_build_fact(list, "boot_id", node);
    netprof_build_source(list, "cxi");
    for (long i = 0; i < nics; i++) {
        add_device(list, "cxi", i, NETPROF_DEVICE_PHYSICAL);
        netprof_list_fact(list, "speed_mbps", "200000");
        add_fast(list);
    }
    netprof_build_source(list, "process");
    netprof_list_device(list, "job", 0, NETPROF_DEVICE_VIRTUAL);
    add(list, "cpu_user", "us", NETPROF_KIND_COUNTER);
    add(list, "cpu_system", "us", NETPROF_KIND_COUNTER);
    add(list, "read_bytes", "bytes", NETPROF_KIND_COUNTER);
    add(list, "write_bytes", "bytes", NETPROF_KIND_COUNTER);
    add(list, "resident", "bytes", NETPROF_KIND_GAUGE);
    netprof_build_source(list, "cpu");
    netprof_list_device(list, "cpu", 0, NETPROF_DEVICE_PHYSICAL);
    netprof_list_fact(list, "cpus", "128");
    for (size_t i = 0; i < sizeof cpu / sizeof *cpu; i++) add(list, cpu[i], "us", NETPROF_KIND_COUNTER);
    netprof_build_source(list, "memory");
    netprof_list_device(list, "memory", 0, NETPROF_DEVICE_PHYSICAL);
    add(list, "MemTotal", "bytes", NETPROF_KIND_GAUGE);
    add(list, "MemAvailable", "bytes", NETPROF_KIND_GAUGE);
    netprof_build_source(list, "energy");
    netprof_list_device(list, "package-0", 0, NETPROF_DEVICE_PHYSICAL);
    add(list, "energy", "uJ", NETPROF_KIND_COUNTER);
    netprof_build_source(list, "gpu");
    for (long i = 0; i < gpus; i++) {
        add_device(list, "gpu", i, NETPROF_DEVICE_PHYSICAL);
        add(list, "busy", "percent", NETPROF_KIND_GAUGE);
        add(list, "memory_used", "bytes", NETPROF_KIND_GAUGE);
        add(list, "memory_total", "bytes", NETPROF_KIND_GAUGE);
        add(list, "energy", "uJ", NETPROF_KIND_COUNTER);
    }
    netprof_build_end(list, &schema, NULL);
    return schema;
}

// ---- a node's file ----

// Where the counters of pass() are, in the order in which it asks: they are looked for once for each node.
static size_t places[32 * DEVICES_MOST], place, place_count;

static uint64_t *value_of(netprof_snapshot *x, const char *device, const char *counter)
{
    static uint64_t nowhere;
    if (place == place_count) places[place_count++] = netprof_find(x->schema, NULL, device, counter);
    size_t i = places[place++];
    return i == NETPROF_NONE ? &nowhere : &x->values[i];
}

static void add_to(netprof_snapshot *x, const char *device, const char *counter, double value)
{
    *value_of(x, device, counter) += (uint64_t)llround(value);
}

static void set_to(netprof_snapshot *x, const char *device, const char *counter, double value)
{
    *value_of(x, device, counter) = (uint64_t)llround(value);
}

// The second that begins at t.
static void pass(netprof_snapshot *x, long node, double t)
{
    const struct rates *r = &rates[phase_at(t)];
    char name[32];
    place = 0;
    double jitter = 1 + .04 * noise((uint64_t)node, (uint64_t)t), grows = node == 3 ? 165 * t / (double)seconds : 0;
    for (long i = 0; i < nics; i++) {
        bool culprit = r == &rates[SLOW] && node == 10 % node_count && i == 1 % nics;
        snprintf(name, sizeof name, "cxi%ld", i);
        add_to(x, name, "hni_sts_tx_ok_octets", r->sent * jitter / (double)nics);
        add_to(x, name, "hni_sts_rx_ok_octets", r->received * jitter / (double)nics);
        add_to(x, name, "hni_tx_paused_0", culprit ? 4.4e8 : noise((uint64_t)(node * 64 + i), (uint64_t)t) > .497 ? 4e6 : 0);
        add_to(x, name, "pct_retry_srb_requests", culprit ? 600 : 0);
        add_to(x, name, "hni_pcs_corrected_cw", noise((uint64_t)(node * 64 + i + 7), (uint64_t)t) > .49 ? 3 : 0);
    }
    for (long i = 0; i < gpus; i++) {
        snprintf(name, sizeof name, "gpu%ld", i);
        set_to(x, name, "busy", r->gpu_busy);
        set_to(x, name, "memory_used", 71 * GIB);
        set_to(x, name, "memory_total", 96 * GIB);
        add_to(x, name, "energy", r->gpu_w / (double)gpus * 1e6);
    }
    add_to(x, "job", "cpu_user", r->cpus * .9e6 * jitter);
    add_to(x, "job", "cpu_system", r->cpus * .1e6 * jitter);
    add_to(x, "job", "read_bytes", r->read * jitter);
    add_to(x, "job", "write_bytes", r->written * jitter);
    set_to(x, "job", "resident", (170 + grows) * GIB);
    add_to(x, "cpu", "user", r->cpus * 1e6);
    add_to(x, "cpu", "idle", (CPUS - r->cpus) * 1e6);
    set_to(x, "memory", "MemTotal", 512 * GIB);
    set_to(x, "memory", "MemAvailable", (512 - 175 - grows) * GIB);
    add_to(x, "package-0", "energy", r->cpu_w * 1e6);
}

static void stamp(netprof_snapshot *x, long second)
{
    x->begin_ns = INT64_C(5000000000000) + second * INT64_C(1000000000);
    x->end_ns = x->begin_ns + 1000000;
    x->wall_ns = EPOCH_NS + second * INT64_C(1000000000);
    for (size_t d = 0; d < x->schema->device_count; d++) x->device_begin_ns[d] = x->device_end_ns[d] = x->begin_ns;
}

static int write_node(const char *directory, long node)
{
    char path[4096], name[32];
    netprof_writer *writer = NULL;
    netprof_snapshot x = NETPROF_ZERO;
    int failed;
    snprintf(name, sizeof name, "n%02ld", node + 1);
    snprintf(path, sizeof path, "%s/%s.netprof", directory, name);
    const netprof_schema *schema = make_schema(name);
    failed = !schema || netprof_writer_open(&writer, path, 0, NULL) || netprof_snapshot_make(&x, schema, NULL);
    netprof_schema_release(schema);
    if (!failed) {
        netprof_write_fact(writer, "node", name, NULL);
        netprof_write_fact(writer, "interval_ns", "1000000000", NULL);
        netprof_write_fact(writer, "job_id", "51877", NULL);
        netprof_write_fact(writer, "job_name", "llm-pretrain", NULL);
        memset(x.status, NETPROF_STATUS_OK, x.schema->counter_count);
        place_count = 0;
        pass(&x, node, 0);
    }
    for (long t = 0; !failed && t <= seconds; t++) {
        bool gap = t * 3600 / seconds > 3080 && t * 3600 / seconds < 3120;
        stamp(&x, t);
        if (!gap) failed = netprof_write_snapshot(writer, &x, NULL) != NETPROF_OK;
        pass(&x, node, (double)t);
    }
    failed |= writer && netprof_writer_close(writer, !failed, NULL);
    netprof_snapshot_free(&x);
    if (failed) fprintf(stderr, "make_job: %s: cannot be written\n", path);
    return failed;
}

static int write_phases(const char *directory)
{
    static const char *const names[PHASES] = {"init", "train", "checkpoint", "end", "train"};
    char path[4096];
    snprintf(path, sizeof path, "%s/phases.phases", directory);
    FILE *f = fopen(path, "w");
    if (!f) return 1;
    const char *last = "";
    for (long t = 0; t < seconds; t++) {
        const char *now = names[phase_at((double)t)];
        if (strcmp(now, last) != 0) fprintf(f, "%lld %s\n", (long long)(EPOCH_NS / 1000000000 + t), now);
        last = now;
    }
    return fclose(f) != 0;
}

int main(int argc, char **argv)
{
    int option, failed = 0;
    while ((option = getopt(argc, argv, "n:t:d:g:q")) != -1) {
        switch (option) {
        case 'n': node_count = strtol(optarg, NULL, 10); break;
        case 't': seconds = strtol(optarg, NULL, 10); break;
        case 'd': nics = strtol(optarg, NULL, 10); break;
        case 'g': gpus = strtol(optarg, NULL, 10); break;
        case 'q': quiet = 1; break;
        default: return 2;
        }
    }
    if (optind + 1 != argc || node_count < 1 || seconds < 1 || nics < 1 || nics > DEVICES_MOST || gpus < 0 || gpus > DEVICES_MOST) {
        fprintf(stderr, "usage: make_job [-n NODES] [-t SECONDS] [-d NICS] [-g GPUS] [-q] DIRECTORY\n");
        return 2;
    }
    mkdir(argv[optind], 0777);
    for (long i = 0; i < node_count && !failed; i++) failed = write_node(argv[optind], i);
    failed |= write_phases(argv[optind]);
    if (!failed && !quiet) printf("%ld nodes, %ld s\n", node_count, seconds);
    return failed;
}
