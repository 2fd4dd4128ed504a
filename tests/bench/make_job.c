// make_job [-n NODES] [-t SECONDS] [-i INTERVAL] [-g GPUS] [-k NICS] [-r RANKS] [-a] [-w SECONDS] DIR
// Recordings of a job that never ran, a file for each node, and its phases: for tests of the job report and for its
// benchmark. Init, train with checkpoints, end; one NIC that is held for a tenth of the time, which slows all; one node
// whose memory grows; one GPU that is slowed; a node without samples for a while. -a: all counters of Cassini-1. -w: the
// nodes are of one boot of one host, and the wall clock of the last one was set so far ahead.
// -r: as many ranks on each node sampled their regions, with two threads each; the nodes wait for the one that is held.
#define _POSIX_C_SOURCE 200809L
#include "analysis/catalog/catalog.h"
#include "netprof.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BEGIN INT64_C(1763643720)
#define GIB   1073741824.0

typedef struct shape {
    int nodes, gpus, nics, ranks;
    bool all;
    double seconds, interval, ahead;
    const char *directory;
} shape;

static void stop_if(bool bad, const char *what)
{
    if (!bad) return;
    fprintf(stderr, "make_job: %s\n", what);
    exit(1);
}

// errno tells why.
static void stop_if_failed(bool bad, const char *path)
{
    if (!bad) return;
    fprintf(stderr, "make_job: %s: %s\n", path, strerror(errno));
    exit(1);
}

static void stop_on(netprof_err failed, const char *path, const netprof_error *error)
{
    if (!failed) return;
    fprintf(stderr, "make_job: %s: %s%s%s\n", path, error->text, *error->text && error->sys_errno ? ": " : "",
            error->sys_errno ? strerror(error->sys_errno) : "");
    exit(1);
}

// ---- what there is ----

static void counters(netprof_list *list, const char *const *names, const char *unit, netprof_kind kind, int width,
                     bool fast)
{
    for (; *names; names++) {
        netprof_counter c = {.name = *names,
                             .unit = unit,
                             .kind = (uint8_t)kind,
                             .width = (uint8_t)width,
                             .flags = fast ? NETPROF_FAST : 0};
        netprof_list_counter(list, &c);
    }
}

static void device(netprof_list *list, const char *source, const char *name, bool physical)
{
    if (source) netprof_build_source(list, source);
    netprof_list_device(list, name, 0, physical ? NETPROF_DEVICE_PHYSICAL : NETPROF_DEVICE_VIRTUAL);
}

static void all_of_cassini(netprof_list *list)
{
    size_t count;
    const char *const *names = catalog_cassini_1_names(&count);
    for (size_t i = 0; i < count; i++) {
        const catalog_entry *entry = catalog_find("cxi", names[i]);
        netprof_counter c = {.name = names[i], .unit = entry ? entry->unit : "", .width = 56};
        if (entry) c.kind = entry->kind;
        netprof_list_counter(list, &c);
    }
}

static const netprof_schema *schema_of(const shape *s, const char *node)
{
    static const char *const octets[] = {"hni_sts_rx_ok_octets", "hni_sts_tx_ok_octets", NULL}, *const paused[] = {
                                                                                                    "hni_tx_paused_0",
                                                                                                    NULL};
    static const char *const retries[] = {"pct_retry_srb_requests", NULL}, *const corrected[] = {
                                                                               "hni_pcs_corrected_cw",
                                                                               "hni_pcs_uncorrected_cw", NULL};
    static const char *const cpu[] = {"user", "system", "idle", "iowait", NULL}, *const job[] = {"cpu_user",
                                                                                                 "cpu_system", NULL};
    static const char *const moved[] = {"read_chars", "write_chars", "read_bytes", "write_bytes", NULL},
                             *const resident[] = {"resident", NULL};
    static const char *const memory[] = {"MemTotal", "MemAvailable", NULL}, *const energy[] = {"energy", NULL},
                             *const power[] = {"power1", NULL};
    static const char *const busy[] = {"busy", NULL}, *const used[] = {"memory_used", "memory_total", NULL},
                             *const limit[] = {"power_limit", NULL};
    static const char *const slowed[] = {"throttled_thermal", NULL}, *const clock[] = {"clock", NULL},
                             *const pressure[] = {"cpu_some", "io_some", NULL};
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema = NULL;
    char name[32];
    netprof_build_fact(list, "host", node);
    netprof_build_fact(list, "boot_id", s->ahead != 0 ? "one" : node);
    device(list, "process", "job", false);
    counters(list, job, "us", NETPROF_KIND_COUNTER, 64, true);
    counters(list, moved, "bytes", NETPROF_KIND_COUNTER, 64, true);
    counters(list, resident, "bytes", NETPROF_KIND_GAUGE, 64, true);
    device(list, "cpu", "cpu", true);
    netprof_list_fact(list, "cpus", "128");
    counters(list, cpu, "us", NETPROF_KIND_COUNTER, 64, true);
    device(list, "memory", "memory", true);
    counters(list, memory, "bytes", NETPROF_KIND_GAUGE, 64, true);
    device(list, "pressure", "pressure", true);
    counters(list, pressure, "us", NETPROF_KIND_COUNTER, 64, true);
    device(list, "energy", "package-0", true);
    counters(list, energy, "uJ", NETPROF_KIND_COUNTER, 64, true);
    device(list, NULL, "package-0/dram", false);
    counters(list, energy, "uJ", NETPROF_KIND_COUNTER, 64, true);
    device(list, "hwmon", "power_meter ACPI000D:00", true);
    counters(list, power, "uW", NETPROF_KIND_GAUGE, 64, true);
    for (int i = 0; i < s->gpus; i++) {
        snprintf(name, sizeof name, "gpu%d", i);
        device(list, i ? NULL : "gpu", name, true);
        counters(list, busy, "percent", NETPROF_KIND_GAUGE, 64, true);
        counters(list, used, "bytes", NETPROF_KIND_GAUGE, 64, true);
        counters(list, energy, "uJ", NETPROF_KIND_COUNTER, 64, true);
        counters(list, limit, "uW", NETPROF_KIND_GAUGE, 64, true);
        counters(list, slowed, "us", NETPROF_KIND_COUNTER, 64, true);
        counters(list, clock, "MHz", NETPROF_KIND_GAUGE, 64, true);
    }
    for (int i = 0; i < s->nics; i++) {
        snprintf(name, sizeof name, "cxi%d", i);
        device(list, i ? NULL : "cxi", name, true);
        netprof_list_fact(list, "speed_mbps", "200000");
        if (s->all) {
            all_of_cassini(list);
            continue;
        }
        counters(list, octets, "bytes", NETPROF_KIND_COUNTER, 56, true);
        counters(list, paused, "cycles", NETPROF_KIND_COUNTER, 56, true);
        counters(list, retries, "retries", NETPROF_KIND_COUNTER, 56, true);
        counters(list, corrected, "codewords", NETPROF_KIND_COUNTER, 56, true);
    }
    stop_if(netprof_build_end(list, &schema, NULL) != NETPROF_OK, "no memory");
    return schema;
}

// ---- what happens ----

typedef struct state {
    double sent, received, files, cpus, busy; // a second
} state;

// Of a phase: part of the time gone, 0..1.
static const char *phase_at(double part)
{
    double turn = fmod(part * 4 + 0.05, 1);
    if (part < 0.06) return "init";
    if (part > 0.985) return "end";
    return turn > 0.05 && turn < 0.11 ? "checkpoint" : "train";
}

static bool is_incident(double part)
{
    return part >= 0.64 && part < 0.74;
}

static state state_at(double part)
{
    const char *phase = phase_at(part);
    if (strcmp(phase, "init") == 0) return (state){1e9, 6e9, 6e9, 74, 0.11};
    if (strcmp(phase, "checkpoint") == 0) return (state){5e9, 0.4e9, 5e9, 43, 0.07};
    if (strcmp(phase, "end") == 0) return (state){0.1e9, 0.1e9, 0, 4, 0.01};
    return is_incident(part) ? (state){20e9, 20e9, 0.3e9, 22, 0.60} : (state){31e9, 31e9, 0.3e9, 28, 0.92};
}

static uint64_t noise(uint64_t *seed, uint64_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*seed >> 33) % below;
}

// Adds what happened in a step to a counter, by its name; gauges are set.
static void move(const shape *s, netprof_snapshot *x, int node, double part, double step, uint64_t *seed)
{
    state now = state_at(part);
    double watts = 600 + 450 * s->gpus * now.busy;
    for (size_t i = 0; i < x->schema->counter_count; i++) {
        const netprof_counter *c = &x->schema->counters[i];
        const netprof_device *d = &x->schema->devices[c->device];
        const char *name = c->name;
        uint64_t *v = &x->values[i];
        int number = (int)strcspn(d->name, "0123456789") < (int)strlen(d->name)
                         ? atoi(d->name + strcspn(d->name, "0123456789"))
                         : 0;
        double jitter = 1 + ((double)noise(seed, 1000) - 500) / 20000;
        if (strcmp(name, "hni_sts_tx_ok_octets") == 0)
            *v += (uint64_t)(now.sent / s->nics * jitter * step);
        else if (strcmp(name, "hni_sts_rx_ok_octets") == 0)
            *v += (uint64_t)(now.received / s->nics * jitter * step);
        else if (strcmp(name, "hni_tx_paused_0") == 0)
            *v += (uint64_t)((node == 10 % s->nodes && number == 1 && is_incident(part) ? 0.44e9 : 1e6) * step);
        else if (strcmp(name, "pct_retry_srb_requests") == 0)
            *v += (uint64_t)(node == 10 % s->nodes && number == 1 && is_incident(part) ? 600 * step : 0);
        else if (strcmp(name, "hni_pcs_corrected_cw") == 0)
            *v += noise(seed, 100) == 0;
        else if (strstr(name, "uncorrected"))
            continue;
        else if (strcmp(d->source, "cxi") == 0)
            *v += c->kind == NETPROF_KIND_COUNTER && i % 3 == 0 ? noise(seed, 1000) : 0;
        else if (strcmp(name, "cpu_user") == 0 || strcmp(name, "user") == 0)
            *v += (uint64_t)(now.cpus * 1e6 * step * jitter);
        else if (strcmp(name, "idle") == 0)
            *v += (uint64_t)((128 - now.cpus) * 1e6 * step);
        else if (strcmp(name, "read_chars") == 0 || strcmp(name, "read_bytes") == 0)
            *v += (uint64_t)(part < 0.06 ? now.files * step : 0);
        else if (strcmp(name, "write_chars") == 0 || strcmp(name, "write_bytes") == 0)
            *v += (uint64_t)(part >= 0.06 ? now.files * step : 0);
        else if (strcmp(name, "resident") == 0)
            *v = (uint64_t)((fmin(part / 0.06, 1) * 172 + (node == 3 ? part * 164 : 0)) * GIB);
        else if (strcmp(name, "MemTotal") == 0)
            *v = (uint64_t)(512 * GIB);
        else if (strcmp(name, "MemAvailable") == 0)
            *v = (uint64_t)((500 - fmin(part / 0.06, 1) * 172 - (node == 3 ? part * 164 : 0)) * GIB);
        else if (strcmp(name, "cpu_some") == 0)
            *v += (uint64_t)(2e4 * step);
        else if (strcmp(d->name, "package-0") == 0)
            *v += (uint64_t)((150 + now.cpus) * 1e6 * step);
        else if (strcmp(d->name, "package-0/dram") == 0)
            *v += (uint64_t)(40e6 * step);
        else if (strcmp(name, "power1") == 0)
            *v = (uint64_t)(watts * 1e6);
        else if (strcmp(name, "busy") == 0)
            *v = (uint64_t)(now.busy * 100 * jitter);
        else if (strcmp(name, "memory_used") == 0)
            *v = (uint64_t)(71e9);
        else if (strcmp(name, "memory_total") == 0)
            *v = (uint64_t)(96e9);
        else if (strcmp(name, "energy") == 0)
            *v += (uint64_t)(450 * now.busy * 1e6 * step);
        else if (strcmp(name, "power_limit") == 0)
            *v = 700000000;
        else if (strcmp(name, "throttled_thermal") == 0)
            *v += node == 2 && number == 1 && part > 0.33 && part < 0.37 ? (uint64_t)(1e6 * step) : 0;
        else if (strcmp(name, "clock") == 0)
            *v = node == 2 && number == 1 && part > 0.33 && part < 0.37 ? 1200 : 1980;
    }
}

static void write_node(const shape *s, int node)
{
    char name[32], path[4096], text[32];
    netprof_writer *w = NULL;
    netprof_snapshot x = NETPROF_ZERO;
    netprof_error error;
    uint64_t seed = (uint64_t)node + 1;
    snprintf(name, sizeof name, "n%02d", node + 1);
    snprintf(path, sizeof path, "%s/%s.netprof", s->directory, name);
    snprintf(text, sizeof text, "%.0f", s->interval * 1e9);
    const netprof_schema *schema = schema_of(s, name);
    stop_on(netprof_writer_open(&w, path, 0, &error), path, &error);
    const char *const facts[][2] = {{"node", name},        {"job_id", "51877"},         {"job_name", "llm-pretrain"},
                                    {"job_user", "anna"},  {"job_account", "proj-llm"}, {"job_partition", "gpu-b"},
                                    {"interval_ns", text}, {"exit_status", "0"}};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        netprof_write_fact(w, facts[i][0], facts[i][1], NULL);
    stop_if(netprof_snapshot_make(&x, schema, NULL) != NETPROF_OK, "no memory");
    netprof_schema_release(schema);
    memset(x.status, NETPROF_STATUS_OK, x.schema->counter_count);
    for (double t = 0; t <= s->seconds + 1e-9; t += s->interval) {
        double part = t / s->seconds;
        int64_t ns = (int64_t)llround(t * 1e9);
        move(s, &x, node, part, t > 0 ? s->interval : 0, &seed);
        if ((node == 5 && part > 0.39 && part < 0.43) || (part > 0.855 && part < 0.867)) continue;
        x.begin_ns = INT64_C(1000000000000) + ns;
        x.end_ns = x.begin_ns + 2000000;
        x.wall_ns = BEGIN * 1000000000 + ns + (node + 1 == s->nodes ? (int64_t)llround(s->ahead * 1e9) : 0);
        for (size_t d = 0; d < x.schema->device_count; d++)
            x.device_begin_ns[d] = x.device_end_ns[d] = x.begin_ns;
        stop_on(netprof_write_snapshot(w, &x, &error), path, &error);
    }
    stop_on(netprof_writer_close(w, 1, &error), path, &error);
    netprof_snapshot_free(&x);
}

// ---- regions ----

static const struct {
    const char *path, *name;
    double init, train, held, checkpoint, end; // share of a thread's time
} paths[] = {{"main", "main", .20, .02, .02, .05, .30},
             {"main/read input", "read input", .75, .01, .01, 0, 0},
             {"main/step/forward", "forward", 0, .26, .17, 0, 0},
             {"main/step/backward", "backward", 0, .41, .27, 0, 0},
             {"main/step/allreduce", "allreduce", .02, .14, .42, .15, 0},
             {"main/step/optimizer", "optimizer", 0, .08, .05, 0, 0},
             {"main/checkpoint", "checkpoint", 0, 0, 0, .78, .10}};
enum { PATHS = sizeof paths / sizeof *paths, BEFORE = 2, EACH = 2, THREADS = 2 };

static double share_at(size_t i, double part, bool late)
{
    const char *phase = phase_at(part);
    if (strcmp(phase, "init") == 0) return paths[i].init;
    if (strcmp(phase, "checkpoint") == 0) return paths[i].checkpoint;
    if (strcmp(phase, "end") == 0) return paths[i].end;
    // Who is late waits for nobody.
    return is_incident(part) && !late ? paths[i].held : paths[i].train;
}

static const netprof_schema *schema_of_regions(const char *node)
{
    static const char *const threads[] = {"thread_time", "sampling_time", NULL}, *const each[] = {"calls", "own_time",
                                                                                                  NULL};
    const netprof_schema *schema = NULL;
    netprof_list *list = netprof_build_begin(NULL);
    netprof_build_fact(list, "host", node);
    netprof_build_fact(list, "boot_id", node);
    device(list, "regions", "process", false);
    counters(list, threads, "ns", NETPROF_KIND_COUNTER, 64, true);
    for (size_t i = 0; i < PATHS; i++) {
        device(list, i ? NULL : "region", paths[i].path, false);
        netprof_list_fact(list, "name", paths[i].name);
        counters(list, each, "ns", NETPROF_KIND_COUNTER, 64, true);
    }
    stop_if(netprof_build_end(list, &schema, NULL) != NETPROF_OK, "no memory");
    return schema;
}

static void write_rank(const shape *s, int node, int rank)
{
    char name[32], path[4096], text[32];
    netprof_writer *w = NULL;
    netprof_snapshot x = NETPROF_ZERO;
    bool late = node == 10 % s->nodes;
    uint64_t seed = (uint64_t)rank + 1000;
    snprintf(name, sizeof name, "n%02d", node + 1);
    snprintf(path, sizeof path, "%s/rank-%05d.series.netprof", s->directory, rank);
    snprintf(text, sizeof text, "%.0f", s->interval * 1e9);
    const netprof_schema *schema = schema_of_regions(name);
    stop_if(netprof_writer_open(&w, path, 0, NULL) != NETPROF_OK, path);
    netprof_write_fact(w, "node", name, NULL);
    netprof_write_fact(w, "interval_ns", text, NULL);
    stop_if(netprof_snapshot_make(&x, schema, NULL) != NETPROF_OK, "no memory");
    netprof_schema_release(schema);
    memset(x.status, NETPROF_STATUS_OK, x.schema->counter_count);
    for (double t = 0; t <= s->seconds + 1e-9; t += s->interval) {
        double step = t > 0 ? s->interval * 1e9 * THREADS : 0;
        x.values[0] += (uint64_t)step;
        for (size_t i = 0; i < PATHS; i++) {
            double jitter = 1 + ((double)noise(&seed, 1000) - 500) / 10000;
            x.values[BEFORE + EACH * i] += (uint64_t)(s->interval * 5);
            x.values[BEFORE + EACH * i + 1] += (uint64_t)(share_at(i, t / s->seconds, late) * jitter * step);
        }
        x.begin_ns = INT64_C(1000000000000) + (int64_t)llround(t * 1e9);
        x.end_ns = x.begin_ns + 20000;
        x.wall_ns = BEGIN * 1000000000 + (int64_t)llround(t * 1e9);
        stop_if(netprof_write_snapshot(w, &x, NULL) != NETPROF_OK, "cannot write");
    }
    stop_if(netprof_writer_close(w, 1, NULL) != NETPROF_OK, path);
    netprof_snapshot_free(&x);
}

static void write_phases(const shape *s)
{
    char path[4096];
    const char *last = "";
    snprintf(path, sizeof path, "%s/job.phases", s->directory);
    FILE *file = fopen(path, "w");
    stop_if_failed(!file, path);
    for (int i = 0; i <= 10000; i++) {
        const char *phase = phase_at(i / 10000.0);
        if (strcmp(phase, last) == 0) continue;
        fprintf(file, "%.3f %s\n", (double)BEGIN + s->seconds * i / 10000, phase);
        last = phase;
    }
    stop_if_failed(fclose(file) != 0, path);
}

int main(int argc, char **argv)
{
    shape s = {.nodes = 16, .gpus = 4, .nics = 4, .seconds = 3600, .interval = 1};
    for (int option; (option = getopt(argc, argv, "n:t:i:g:k:r:aw:")) != -1;) {
        if (option == 'n')
            s.nodes = atoi(optarg);
        else if (option == 't')
            s.seconds = atof(optarg);
        else if (option == 'i')
            s.interval = atof(optarg);
        else if (option == 'g')
            s.gpus = atoi(optarg);
        else if (option == 'k')
            s.nics = atoi(optarg);
        else if (option == 'r')
            s.ranks = atoi(optarg);
        else if (option == 'a')
            s.all = true;
        else if (option == 'w')
            s.ahead = atof(optarg);
        else
            return 2;
    }
    stop_if(optind + 1 != argc || s.nodes < 1 || s.nics < 1 || s.gpus < 0 || s.ranks < 0 || !(s.seconds > 0) ||
                !(s.interval > 0),
            "expected [-n NODES] [-t SECONDS] [-i INTERVAL] [-g GPUS] [-k NICS] [-r RANKS] [-a] [-w SECONDS] DIR");
    s.directory = argv[optind];
    for (int i = 0; i < s.nodes; i++)
        write_node(&s, i);
    for (int i = 0; i < s.nodes * s.ranks; i++)
        write_rank(&s, i / s.ranks, i);
    write_phases(&s);
    return 0;
}
