// Snapshots become lanes: what a meter was from one reading to the next, what waits for a counter that was not refreshed, and
// how long one was beyond its limit. Snapshots are given one after another, as reading a file gives them.
#define _GNU_SOURCE
#include "netprof.h"

#include "job_cluster.h"

#include "analysis/base/stb_ds.h"
#include "analysis/job/job_store.h"

// One recording of a node. Start with scene_of(), end with scene_end().
typedef struct scene {
    job_report r;
    job_report_options options;
    dataset_run run;
    node_file f;
    size_t taken;
} scene;

static void scene_of(scene *s, const node_shape *shape)
{
    static char path[] = "n1.netprof";
    const netprof_schema *schema = cluster_schema(shape);
    *s = (scene){.run = {.path = path, .host = "n1"}, .f = {.x = NETPROF_ZERO}};
    s->r.reader = job_reader_make(&s->options);
    assert_int_equal(netprof_snapshot_make(&s->f.x, schema, NULL), NETPROF_OK);
    netprof_schema_release(schema);
    memset(s->f.x.status, NETPROF_STATUS_OK, s->f.x.schema->counter_count);
}

static void scene_take(scene *s, double seconds)
{
    netprof_snapshot *x = &s->f.x;
    int64_t ns = (int64_t)llround(seconds * 1e9);
    x->begin_ns = INT64_C(5000000000000) + ns;
    x->end_ns = x->begin_ns + 1000000;
    x->wall_ns = CLUSTER_EPOCH + ns;
    for (size_t d = 0; d < x->schema->device_count; d++)
        x->device_begin_ns[d] = x->device_end_ns[d] = x->begin_ns;
    assert_int_equal(job_take(&s->r, &s->run, s->taken++, x), NETPROF_OK);
}

static void scene_end(scene *s)
{
    netprof_snapshot_free(&s->f.x);
    job_report_free(&s->r);
}

static double seconds_of(int64_t ns)
{
    return (double)(ns - CLUSTER_EPOCH) * 1e-9;
}

// ---- episodes ----

// So many steps of such a length; the counter grows by this share of the time, in every second step by another.
typedef struct stretch {
    double step_s;
    int steps;
    double share, other;
    int retries; // in each
} stretch;

// The NIC "cxi1" and the GPU "gpu1" were as these stretches say; nothing is of their neighbours.
static void expect_episodes(const char *device, const char *counter, double per_s, const stretch *stretches,
                            size_t count, const char *expected)
{
    char text[1024] = "";
    scene s;
    double at = 0;
    scene_of(&s, &(node_shape){.name = "n1", .gpus = 2});
    scene_take(&s, at);
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < stretches[i].steps; k++) {
            double share = k % 2 ? stretches[i].other : stretches[i].share;
            at += stretches[i].step_s;
            node_add(&s.f, device, counter, share * per_s * stretches[i].step_s);
            node_add(&s.f, "cxi1", "pct_retry_srb_requests", stretches[i].retries);
            scene_take(&s, at);
        }
    job_run_end(&s.r);
    for (size_t i = 0; i < arrlenu(s.r.reader->episodes); i++) {
        const job_episode *e = &s.r.reader->episodes[i];
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s of %s: %g to %g, %.4g, %.4g, %g retries\n",
                 job_meter_of(e->meter)->name, s.r.devices[e->device].name, seconds_of(e->from_ns),
                 seconds_of(e->to_ns), e->mean, e->high, e->retries);
    }
    assert_string_equal(text, expected);
    scene_end(&s);
}

static void episodes_beyond_a_limit(void **state)
{
    static const struct {
        stretch stretches[4];
        const char *expected;
    } rows[] = {
        {{{1, 5, 0, 0, 0}, {1, 30, 0.06, 0.08, 2}, {1, 5, 0, 0, 1}},
         "network_paused of cxi1: 5 to 35, 0.07, 0.08, 60 retries\n"},
        {{{1, 5, 0, 0, 0}, {1, 29, 0.06, 0.08, 2}, {1, 5, 0, 0, 1}}, ""}, // too short
        {{{1, 40, 0.05, 0.05, 3}}, ""},                                   // not beyond the limit
        {{{1, 7, 0, 0, 0}, {1, 33, 0.051, 0.051, 3}}, "network_paused of cxi1: 7 to 40, 0.051, 0.051, 99 retries\n"},
        // Ten seconds below the limit do not end it, eleven do; what is below counts for nothing.
        {{{1, 20, 0.08, 0.08, 1}, {1, 10, 0.01, 0.01, 1}, {1, 10, 0.1, 0.1, 3}},
         "network_paused of cxi1: 0 to 40, 0.065, 0.1, 50 retries\n"},
        {{{1, 30, 0.08, 0.08, 1}, {1, 11, 0.01, 0.01, 1}, {1, 31, 0.09, 0.09, 2}},
         "network_paused of cxi1: 0 to 30, 0.08, 0.08, 30 retries\n"
         "network_paused of cxi1: 41 to 72, 0.09, 0.09, 62 retries\n"},
        {{{1, 15, 0.06, 0.06, 1}, {1, 10, 0, 0, 0}, {1, 15, 0.06, 0.06, 1}}, ""}, // in the mean it is below the limit
        // Short steps are seen by the second, long ones as they are.
        {{{0.25, 20, 0, 0, 0}, {0.25, 128, 0.11, 0.03, 1}, {0.25, 3, 0.2, 0.2, 9}},
         "network_paused of cxi1: 5 to 37, 0.07, 0.07, 128 retries\n"},
        {{{4, 3, 0, 0, 0}, {4, 8, 0.07, 0.09, 5}}, "network_paused of cxi1: 12 to 44, 0.08, 0.09, 40 retries\n"},
        {{{4, 3, 0.07, 0.07, 5}, {4, 10, 0, 0, 0}, {4, 5, 0.2, 0.2, 5}, {4, 4, 0, 0, 0}},
         "network_paused of cxi1: 0 to 72, 0.06722, 0.2, 40 retries\n"},
        // While samples are missing nothing is known.
        {{{1, 20, 0.08, 0.08, 1}, {5, 1, 0.9, 0.9, 7}, {1, 12, 0.08, 0.08, 1}},
         "network_paused of cxi1: 0 to 37, 0.06919, 0.08, 32 retries\n"},
        {{{1, 30, 0.08, 0.08, 1}, {12, 1, 0.9, 0.9, 7}, {1, 31, 0.06, 0.06, 1}},
         "network_paused of cxi1: 0 to 30, 0.08, 0.08, 30 retries\n"
         "network_paused of cxi1: 42 to 73, 0.06, 0.06, 31 retries\n"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        expect_episodes("cxi1", "hni_tx_paused_0", 1e9, rows[i].stretches, 4, rows[i].expected);
}

// Each meter by its own limit, and for as long as is its own.
static void episodes_of_other_meters(void **state)
{
    static const stretch sixty[] = {{1, 3, 0, 0, 0}, {1, 60, 0.011, 0.013, 0}},
                         fewer[] = {{1, 3, 0, 0, 0}, {1, 59, 0.011, 0.013, 0}},
                         less[] = {{1, 3, 0, 0, 0}, {1, 70, 0.01, 0.01, 0}};
    static const stretch holding[] = {{1, 3, 0, 0, 0}, {1, 30, 0.3, 0.5, 4}};
    (void)state;
    expect_episodes("gpu1", "throttled_thermal", 1e6, sixty, 2,
                    "gpu_throttled of gpu1: 3 to 63, 0.012, 0.013, 0 retries\n");
    expect_episodes("gpu1", "throttled_thermal", 1e6, fewer, 2, "");
    expect_episodes("gpu1", "throttled_thermal", 1e6, less, 2, "");
    expect_episodes("cxi1", "hni_rx_paused_0", 1e9, holding, 2,
                    "network_holding of cxi1: 3 to 33, 0.4, 0.5, 120 retries\n");
    expect_episodes("cxi1", "hni_sts_tx_ok_octets", 1e9, holding, 2, "");
}

// ---- lanes ----

static void lane_text(char *text, size_t size, const job_lane *x)
{
    snprintf(text, size, "known %g s, %g to %g, %g in all%s, %zu resets, bins %g", x->known_s, x->low, x->high,
             x->total, x->lower_bound ? " at least" : "", x->resets, x->bins->integral);
    for (size_t i = 0; i < x->bins->skipped_count; i++) {
        const job_skipped *k = &x->bins->skipped[i];
        size_t n = strlen(text);
        snprintf(text + n, size - n, ", skipped %g from %g to %g", k->amount, seconds_of(k->from_ns),
                 seconds_of(k->to_ns));
    }
}

static void expect_lane(const job_lane *x, const char *expected)
{
    char text[512];
    assert_non_null(x);
    lane_text(text, sizeof text, x);
    assert_string_equal(text, expected);
}

// Whose it is, and that of its node.
static void expect_device(const scene *s, size_t device, job_meter meter, const char *expected)
{
    const job_lane *x = s->r.devices[device].lanes[meter];
    expect_lane(x, expected);
    assert_int_equal(x->meter, meter);
    assert_int_equal(x->node, 0);
    assert_int_equal(x->device, device);
    assert_true(isnan(x->first) && isnan(x->last) && isnan(x->capacity));
}

static void expect_node(const scene *s, job_meter meter, int scope, const char *expected)
{
    const job_lane *x = s->r.reader->nodes[0].lanes[meter][scope];
    expect_lane(x, expected);
    assert_int_equal(x->meter, meter);
    assert_int_equal(x->device, JOB_NONE);
}

// Two NICs: bytes add up to their node's, of pauses the longest counts; amounts of a gap are in the totals alone.
static void rates_of_devices_and_their_node(void **state)
{
    static const double at[] = {1, 2, 3, 4, 9, 10},
                        sent[][6] = {{100, 300, 200, 400, 5000, 100}, {10, 0, 0, 50, 700, 30}};
    static const double paused[][6] = {{0.1, 0.2, 0, 0, 0.5, 0.3}, {0.3, 0.1, 0, 0.2, 1, 0.1}};
    scene s;
    (void)state;
    scene_of(&s, &(node_shape){.name = "n1"});
    scene_take(&s, 0);
    for (size_t i = 0; i < COUNT(at); i++) {
        for (int k = 0; k < 2; k++) {
            const char *name = k ? "cxi1" : "cxi0";
            node_add(&s.f, name, "hni_sts_tx_ok_octets", sent[k][i]);
            node_add(&s.f, name, "hni_tx_paused_0", paused[k][i] * 1e9);
        }
        scene_take(&s, at[i]);
    }
    job_run_end(&s.r);
    expect_device(&s, 0, JOB_SENT, "known 5 s, 100 to 400, 6100 in all, 0 resets, bins 1100, skipped 5000 from 4 to 9");
    expect_device(&s, 1, JOB_SENT, "known 5 s, 0 to 50, 790 in all, 0 resets, bins 90, skipped 700 from 4 to 9");
    expect_node(&s, JOB_SENT, JOB_SCOPE_NODE,
                "known 5 s, 110 to 450, 6890 in all, 0 resets, bins 1190, skipped 5700 from 4 to 9");
    expect_device(&s, 0, JOB_PAUSED, "known 5 s, 0 to 0.3, 1.1 in all, 0 resets, bins 0.6, skipped 0.5 from 4 to 9");
    expect_device(&s, 1, JOB_PAUSED, "known 5 s, 0 to 0.3, 1.7 in all, 0 resets, bins 0.7, skipped 1 from 4 to 9");
    expect_node(&s, JOB_PAUSED, JOB_SCOPE_NODE,
                "known 5 s, 0 to 0.3, 2 in all, 0 resets, bins 1, skipped 1 from 4 to 9");
    assert_int_equal(s.r.nodes[0].gap_count, 1);
    assert_int_equal(s.r.nodes[0].samples, 7);
    scene_end(&s);
}

// A counter that was set to 0 is not known in that step, nor is its node's sum; one that is denied likewise.
static void rates_that_are_not_known(void **state)
{
    scene s;
    (void)state;
    scene_of(&s, &(node_shape){.name = "n1"});
    for (int t = 0; t <= 6; t++) {
        node_add(&s.f, "cxi0", "hni_sts_tx_ok_octets", 100);
        node_add(&s.f, "cxi1", "hni_sts_tx_ok_octets", 10 * t);
        if (t == 3) node_set(&s.f, "cxi0", "hni_sts_tx_ok_octets", 7);
        node_status(&s.f, "cxi1", "hni_sts_tx_ok_octets", t == 5 ? NETPROF_STATUS_DENIED : NETPROF_STATUS_OK);
        scene_take(&s, t);
    }
    job_run_end(&s.r);
    expect_device(&s, 0, JOB_SENT, "known 5 s, 100 to 100, 500 in all at least, 1 resets, bins 500");
    expect_device(&s, 1, JOB_SENT, "known 4 s, 10 to 40, 100 in all at least, 0 resets, bins 100");
    expect_node(&s, JOB_SENT, JOB_SCOPE_NODE, "known 3 s, 110 to 140, 370 in all at least, 1 resets, bins 370");
    scene_end(&s);
}

// A driver that refreshes its counter now and then says when: until it does, amounts wait, those of the node with them.
static void what_waits_for_a_counter(void **state)
{
    static const double stamps[] = {0, 1, 1, 1, 4, 5, 5, 5}, sent[] = {0, 100, 0, 0, 900, 200, 0, 0};
    scene s;
    (void)state;
    scene_of(&s, &(node_shape){.name = "n1"});
    size_t k = node_index(&s.f, "cxi0", "hni_sts_tx_ok_octets");
    for (size_t i = 0; i < COUNT(stamps); i++) {
        node_add(&s.f, "cxi0", "hni_sts_tx_ok_octets", sent[i]);
        node_add(&s.f, "cxi1", "hni_sts_tx_ok_octets", 10);
        s.f.x.stamps_ns[k] = CLUSTER_EPOCH + (int64_t)llround(stamps[i] * 1e9);
        scene_take(&s, (double)i);
    }
    job_run_end(&s.r);
    expect_device(&s, 0, JOB_SENT, "known 5 s, 100 to 300, 1200 in all, 0 resets, bins 1200");
    expect_device(&s, 1, JOB_SENT, "known 7 s, 10 to 10, 70 in all, 0 resets, bins 70");
    expect_node(&s, JOB_SENT, JOB_SCOPE_NODE, "known 5 s, 110 to 310, 1250 in all, 0 resets, bins 1250");
    scene_end(&s);
}

// Gauges: between two readings as much as in their middle; of processes that come and go, what there was; across a gap nothing.
static void levels_of_a_node(void **state)
{
    static const double at[] = {0, 1, 2, 3, 4, 9}, resident[] = {0, 400, 600, 600, 1000, 2000},
                        available[] = {40, 50, 50, 30, 30, 20};
    (void)state;
    for (int denied = 0; denied < 2; denied++) {
        scene s;
        scene_of(&s, &(node_shape){.name = "n1", .parts = NODE_PROCESS | NODE_MEMORY, .nics = -1});
        node_set(&s.f, "memory", "MemTotal", 100);
        for (size_t i = 0; i < COUNT(at); i++) {
            bool hidden = denied && i == 2;
            node_set(&s.f, "job", "resident", resident[i]);
            node_set(&s.f, "memory", "MemAvailable", available[i]);
            node_status(&s.f, "memory", "MemAvailable", hidden ? NETPROF_STATUS_DENIED : NETPROF_STATUS_OK);
            scene_take(&s, at[i]);
        }
        job_run_end(&s.r);
        const job_node_reader *node = &s.r.reader->nodes[0];
        const job_lane *own = node->lanes[JOB_MEMORY][JOB_SCOPE_JOB],
                       *whole = node->lanes[JOB_NODE_MEMORY][JOB_SCOPE_NODE];
        expect_lane(own, "known 4 s, 400 to 2000, nan in all at least, 0 resets, bins 2300");
        assert_true(own->first == 400 && own->last == 2000);
        // The middles are 55, 50, 60 and 70.
        expect_lane(whole, denied ? "known 2 s, 50 to 80, nan in all at least, 0 resets, bins 125"
                                  : "known 4 s, 50 to 80, nan in all at least, 0 resets, bins 235");
        assert_true(whole->first == 60 && whole->last == 80);
        assert_true(node->memory_total == 100);
        scene_end(&s);
    }
}

// Of GPUs the mean is the node's where it is a share, else the sum; energy says what power only samples.
static void gpus_of_a_node(void **state)
{
    static const double busy[2][4] = {{40, 60, 60, 100}, {20, 20, 40, 0}},
                        memory[2][4] = {{1000, 3000, 3000, 5000}, {100, 100, 300, 300}};
    scene s;
    (void)state;
    scene_of(&s, &(node_shape){.name = "n1", .nics = -1, .gpus = 2});
    for (int t = 0; t < 4; t++) {
        for (int k = 0; k < 2; k++) {
            const char *name = k ? "gpu1" : "gpu0";
            node_set(&s.f, name, "busy", busy[k][t]);
            node_set(&s.f, name, "memory_used", memory[k][t]);
            node_set(&s.f, name, "memory_total", k ? 8000 : 7000);
            node_set(&s.f, name, "power_limit", k ? 500e6 : 700e6);
            node_set(&s.f, name, "energy", (k ? 200e6 : 300e6) * t);
            node_set(&s.f, name, "power", 1e6);
        }
        scene_take(&s, t);
    }
    job_run_end(&s.r);
    const job_lane *const *first = (const job_lane *const *)s.r.devices[0].lanes,
                          *const *second = (const job_lane *const *)s.r.devices[1].lanes;
    expect_lane(first[JOB_GPU_BUSY], "known 3 s, 0.4 to 1, nan in all, 0 resets, bins 1.9"); // .5, .6, .8
    expect_lane(second[JOB_GPU_BUSY], "known 3 s, 0 to 0.4, nan in all, 0 resets, bins 0.7");
    expect_node(&s, JOB_GPU_BUSY, JOB_SCOPE_NODE, "known 3 s, 0.3 to 0.5, nan in all, 0 resets, bins 1.3");
    expect_lane(first[JOB_GPU_MEMORY], "known 3 s, 1000 to 5000, nan in all, 0 resets, bins 9000");
    expect_lane(second[JOB_GPU_MEMORY], "known 3 s, 100 to 300, nan in all, 0 resets, bins 600");
    expect_node(&s, JOB_GPU_MEMORY, JOB_SCOPE_NODE, "known 3 s, 1100 to 5300, nan in all, 0 resets, bins 9600");
    expect_lane(first[JOB_POWER_GPU], "known 3 s, 300 to 300, 900 in all, 0 resets, bins 900");
    expect_lane(second[JOB_POWER_GPU], "known 3 s, 200 to 200, 600 in all, 0 resets, bins 600");
    expect_node(&s, JOB_POWER_GPU, JOB_SCOPE_NODE, "known 3 s, 500 to 500, 1500 in all, 0 resets, bins 1500");
    assert_true(first[JOB_GPU_MEMORY]->capacity == 7000 && second[JOB_GPU_MEMORY]->capacity == 8000);
    assert_true(first[JOB_POWER_GPU]->capacity == 700 && second[JOB_POWER_GPU]->capacity == 500);
    assert_true(isnan(first[JOB_GPU_BUSY]->capacity));
    scene_end(&s);
}

// ---- what is no meter ----

// What was given, and how the recorder itself fared: the last, the least or the most of the readings after the first.
static void what_is_kept_of_gauges(void **state)
{
    static const struct {
        const char *device, *counter;
        double values[4];
    } rows[] = {{"recorder", "ticks_missed", {100, 103, 107, 107}},
                {"recorder", "late", {50e6, 2e6, 9e6, 1e6}},
                {"/job", "memory_limit", {700, 900, 800, 850}},
                {"/job", "memory_current", {5000, 300, 700, 600}},
                {"/job", "memory_peak", {400, 400, 750, 720}},
                {"/job", "cpu_quota", {10, 20, 40, 30}},
                {"/job", "cpu_period", {11, 21, 41, 31}},
                {"/job", "cpuset_cpus", {12, 22, 42, 32}},
                {"job", "cpus_allowed", {13, 23, 43, 33}},
                {"job", "run_queue_wait", {2e9, 3e9, 6.5e9, 7.5e9}},
                {"package-0", "power_limit_long_term", {120e6, 130e6, 170e6, 150e6}}};
    const unsigned parts = NODE_RECORDER | NODE_CGROUP | NODE_PROCESS | NODE_ENERGY | NODE_GIVEN;
    scene s;
    (void)state;
    scene_of(&s, &(node_shape){.name = "n1", .parts = parts});
    for (size_t t = 0; t < 4; t++) {
        for (size_t i = 0; i < COUNT(rows); i++)
            node_set(&s.f, rows[i].device, rows[i].counter, rows[i].values[t]);
        scene_take(&s, (double)t);
    }
    job_run_end(&s.r);
    const job_node_reader *x = &s.r.reader->nodes[0];
    assert_int_equal(s.r.nodes[0].missed, 7);
    assert_true(fabs(s.r.nodes[0].late_s - 0.009) < 1e-12);
    assert_true(x->memory_limit == 800 && x->group_high == 700 && x->group_peak == 750);
    assert_true(x->quota == 30 && x->period == 31 && x->cpuset == 32 && x->affinity == 33);
    assert_true(fabs(x->waited_s - 5.5) < 1e-9);
    assert_true(fabs(x->power_limit - 150) < 1e-9);
    assert_true(x->unseen == 0 && isnan(x->scheduler_cpus));
    scene_end(&s);
}

// What counts trouble, by device: how much, and when it was damage of a link also when.
static void trouble_of_devices(void **state)
{
    static const double damage[2][4] = {{0, 0, 5, 2}, {0, 11, 0, 0}}, retries[4] = {9, 4, 0, 6},
                        killed[4] = {3, 0, 2, 0};
    char text[1024] = "";
    scene s;
    (void)state;
    scene_of(&s, &(node_shape){.name = "n1", .parts = NODE_CGROUP});
    for (int t = 0; t < 4; t++) {
        node_add(&s.f, "cxi0", "hni_pcs_uncorrected_cw", damage[0][t]);
        node_add(&s.f, "cxi1", "hni_pcs_uncorrected_cw", damage[1][t]);
        node_add(&s.f, "cxi1", "pct_retry_srb_requests", retries[t]);
        node_add(&s.f, "/job", "oom_kills", killed[t]);
        scene_take(&s, t);
    }
    job_run_end(&s.r);
    for (size_t i = 0; i < arrlenu(s.r.reader->troubles); i++) {
        const job_trouble *x = &s.r.reader->troubles[i];
        const job_event *e = &s.r.events[x->event];
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s of %s: %g, then %g\n", e->counter, s.r.devices[x->device].name, x->sum,
                 x->bins ? x->bins->integral : NAN);
    }
    assert_string_equal(text, "pct_retry_srb_requests of cxi1: 10, then nan\n"
                              "hni_pcs_uncorrected_cw of cxi1: 11, then 11\n"
                              "oom_kills of /job: 2, then nan\n"
                              "hni_pcs_uncorrected_cw of cxi0: 7, then 7\n");
    for (size_t i = 0; i < s.r.event_count; i++) {
        const job_event *e = &s.r.events[i];
        double all = strcmp(e->counter, "oom_kills") == 0                ? 2
                     : strcmp(e->counter, "pct_retry_srb_requests") == 0 ? 10
                                                                         : 18;
        assert_true(e->known);
        assert_int_equal(e->lane_count, 1);
        assert_int_equal(e->lanes[0].node, 0);
        assert_true(fabs(e->lanes[0].bins->integral - all) < 1e-6);
    }
    assert_int_equal(s.r.event_count, 3);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(episodes_beyond_a_limit),
        cmocka_unit_test(episodes_of_other_meters),
        cmocka_unit_test(rates_of_devices_and_their_node),
        cmocka_unit_test(rates_that_are_not_known),
        cmocka_unit_test(what_waits_for_a_counter),
        cmocka_unit_test(levels_of_a_node),
        cmocka_unit_test(gpus_of_a_node),
        cmocka_unit_test(what_is_kept_of_gauges),
        cmocka_unit_test(trouble_of_devices),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
