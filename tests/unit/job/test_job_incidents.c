// Incidents: who was held from when to when, what fell meanwhile, and what of it may be blamed; every figure and sentence whole,
// of a report as a model.
#define _GNU_SOURCE
#include "netprof.h"

#include "support.h"

#include "analysis/base/stb_ds.h"
#include "analysis/job/findings/job_findings_make.h"

#include <math.h>

// Times are in bins of the lanes, so that none holds some of both: 2^29 ns each.
enum { NODES = 2, NICS = 2, DEVICES = NODES * NICS, BIN = 1 << 29, BEGIN = 200, END = 328, LENGTH = 560 };
static const double bin_s = BIN * 1e-9, lasts_s = (END - BEGIN) * (BIN * 1e-9);

// A job of 301 s on two nodes of two NICs each; from 1:47 to 2:56 something may happen. Start with scene_of().
typedef struct scene {
    job_report r;
    job_reader reader;
    job_node_reader readers[NODES];
    job_node nodes[NODES];
    job_device devices[DEVICES];
    job_lane **lanes; // stb_ds
} scene;

static int64_t ns_of(const scene *s, int at)
{
    return s->r.begin_ns + (int64_t)at * BIN;
}

static void scene_of(scene *s, size_t nodes)
{
    static char *const names[NODES] = {"n1", "n2"};
    *s = (scene){.r = {.begin_ns = INT64_C(2000) * BIN,
                       .end_s = LENGTH * bin_s,
                       .bin_s = bin_s,
                       .interval_s = 1,
                       .nodes = s->nodes,
                       .node_count = nodes,
                       .devices = s->devices,
                       .device_count = nodes * NICS,
                       .reader = &s->reader}};
    s->reader.nodes = s->readers;
    for (size_t i = 0; i < NODES; i++)
        s->nodes[i] =
            (job_node){.name = names[i], .first_device = i * NICS, .device_count = NICS, .end_s = LENGTH * bin_s};
    for (size_t i = 0; i < DEVICES; i++)
        s->devices[i] = (job_device){.node = i / NICS,
                                     .source = "cxi",
                                     .name = i % NICS ? "cxi1" : "cxi0",
                                     .label = i % NICS ? "NIC 2 (cxi1)" : "NIC 1 (cxi0)"};
}

// A lane that has one value from BEGIN to END, and another one before and after it.
static job_lane *steps(scene *s, job_meter meter, double otherwise, double then)
{
    job_lane *lane = job_lane_make(meter, 0, JOB_NONE);
    for (int t = 0; t < LENGTH; t++) {
        double value = t >= BEGIN && t < END ? then : otherwise;
        job_bins_add(lane->bins, ns_of(s, t), ns_of(s, t + 1), value, value, value);
    }
    lane->total = lane->bins->integral;
    arrput(s->lanes, lane);
    return lane;
}

static void nodes_do(scene *s, job_meter meter, size_t node, double otherwise, double then)
{
    s->nodes[node].lanes[meter] = steps(s, meter, otherwise, then);
}

// The device was held for so much of the time from BEGIN to END.
static void is_held(scene *s, size_t device, job_meter meter, double share)
{
    s->devices[device].lanes[meter] = steps(s, meter, 0, share);
    arrput(s->reader.episodes,
           ((job_episode){
               .device = device, .meter = meter, .from_ns = ns_of(s, BEGIN), .to_ns = ns_of(s, END), .mean = share}));
}

static void scene_end(scene *s)
{
    job_findings_free(&s->r);
    for (size_t i = 0; i < arrlenu(s->lanes); i++)
        job_lane_free(s->lanes[i]);
    arrfree(s->lanes);
    arrfree(s->reader.episodes);
    arrfree(s->reader.told);
}

// The only incident: its sentence and headline.
static const job_finding *expect_incident(scene *s, severity how, const char *claim, const char *title)
{
    job_add_incidents(&s->r);
    assert_int_equal(s->r.finding_count, 1);
    const job_finding *x = s->r.findings;
    assert_string_equal(x->claim, claim);
    assert_string_equal(x->title, title);
    assert_int_equal(x->severity, how);
    assert_true(x->incident);
    assert_true(fabs(x->from_s - BEGIN * bin_s) < 1e-9 && fabs(x->to_s - END * bin_s) < 1e-9);
    return x;
}

static bool is_about(double value, double expected)
{
    return fabs(value - expected) < 1e-6;
}

// ---- tests ----

// One NIC, while nobody sent less: the network let it wait, and that cost nothing that is known.
static void one_nic_alone(void **state)
{
    scene s;
    (void)state;
    scene_of(&s, 2);
    is_held(&s, 3, JOB_PAUSED, 0.4375);
    s.devices[0].lanes[JOB_PAUSED] = steps(&s, JOB_PAUSED, 0.5, 0.0625);
    s.devices[2].lanes[JOB_PAUSED] = steps(&s, JOB_PAUSED, 0, 0.03125);
    for (size_t i = 0; i < NODES; i++) {
        nodes_do(&s, JOB_SENT, i, 1e9, 1e9);
        nodes_do(&s, JOB_CPU, i, 8, 6);
        nodes_do(&s, JOB_POWER, i, 100, 150);
    }
    const job_finding *x = expect_incident(
        &s, SEVERITY_WATCH,
        "1:47-2:56: n2 NIC 2 (cxi1) transmit blocked by the network 43.8 % of the time; the 2 other NICs "
        "at most 6.25 %",
        "n2\u2019s NIC 2 (cxi1): transmit blocked by the network 43.8 % of the time for 68.7 s");
    assert_string_equal(x->rule, "nic-paused");
    assert_string_equal(x->unit, "of the time");
    assert_string_equal(x->explained_by, "");
    assert_int_equal(x->node, 1);
    assert_int_equal(x->device, 3);
    assert_int_equal(x->nodes, 1);
    assert_int_equal(x->devices, 1);
    assert_int_equal(x->meter, JOB_PAUSED);
    assert_true(is_about(x->value, 0.4375) && is_about(x->threshold, 0.05));
    assert_true(is_about(x->cost_s, 0.4375 * lasts_s));
    assert_true(isnan(x->lost_s) && isnan(x->gpu_ratio));
    assert_true(is_about(x->sent_ratio, 1) && is_about(x->cpu_ratio, 0.75) && is_about(x->power_ratio, 1.5));
    assert_int_equal(s.nodes[1].severity, SEVERITY_WATCH);
    assert_int_equal(s.nodes[0].severity, SEVERITY_OK);
    scene_end(&s);
}

static void what_was_sent_meanwhile(void **state)
{
    static const struct {
        double then[NODES]; // of 1e9
        severity how;
        const char *said;
    } rows[] = {{{1e9, 1e9}, SEVERITY_WATCH, ""},
                {{0.95e9, 0.97e9}, SEVERITY_WATCH, ""},
                {{0.75e9, 0.75e9}, SEVERITY_HIGH, "; all 2 nodes sent 25 % less meanwhile"},
                {{1e9, 0.75e9}, SEVERITY_HIGH, "; 1 of 2 nodes sent less, all together 12.5 % meanwhile"},
                {{0.9375e9, 0.9375e9}, SEVERITY_HIGH, "; the nodes together sent 6.25 % less meanwhile"},
                {{2e9, 2e9}, SEVERITY_WATCH, ""}};
    static const char begins[] = "1:47-2:56: n1 NIC 1 (cxi0) transmit blocked by the network 62.5 % of the time";
    char expected[300];
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        scene s;
        scene_of(&s, 2);
        is_held(&s, 0, JOB_PAUSED, 0.625);
        for (size_t k = 0; k < NODES; k++)
            nodes_do(&s, JOB_SENT, k, 1e9, rows[i].then[k]);
        snprintf(expected, sizeof expected, "%s%s", begins, rows[i].said);
        const job_finding *x =
            expect_incident(&s, rows[i].how, expected,
                            "n1\u2019s NIC 1 (cxi0): transmit blocked by the network 62.5 % of the time for 68.7 s");
        assert_true(isnan(x->lost_s)); // nobody knows what held it
        scene_end(&s);
    }
}

static void retries_of_its_own(void **state)
{
    static const struct {
        double retries;
        const char *said;
    } rows[] = {{0, ""}, {0.9, ""}, {1, ", 1 retry"}, {1.9, ", 1 retry"}, {2, ", 2 retries"}, {250, ", 250 retries"}};
    char expected[300];
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        scene s;
        scene_of(&s, 1);
        is_held(&s, 1, JOB_PAUSED, 0.625);
        s.reader.episodes[0].retries = rows[i].retries;
        nodes_do(&s, JOB_SENT, 0, 1e9, 0.5e9);
        snprintf(
            expected, sizeof expected,
            "1:47-2:56: n1 NIC 2 (cxi1) transmit blocked by the network 62.5 %% of the time%s; the node sent 50 %% "
            "less meanwhile",
            rows[i].said);
        expect_incident(&s, SEVERITY_HIGH, expected,
                        "n1\u2019s NIC 2 (cxi1): transmit blocked by the network 62.5 % of the time for 68.7 s");
        scene_end(&s);
    }
}

// Several at the same time: of one node, of all, of some; from the least to the most held.
static void several_at_once(void **state)
{
    static const struct {
        size_t nodes;
        double held[DEVICES]; // 0: not
        const char *claim, *title;
        size_t node, device, count_of_nodes; // of the finding
    } rows[] = {
        {2,
         {0.25, 0.25, 0.25, 0.25},
         "1:47-2:56: all 4 NICs of 2 nodes transmit blocked by the network 25 % of the time: congestion in the fabric "
         "or "
         "at receivers",
         "All 4 NICs of 2 nodes: transmit blocked by the network 25 % of the time for 68.7 s",
         JOB_NONE,
         JOB_NONE,
         2},
        {2,
         {0.25, 0.5, 0, 0.375},
         "1:47-2:56: 3 of 4 NICs of 2 nodes transmit blocked by the network 25 % to 50 % of the time; the 1 other NIC "
         "at "
         "most 0 %: congestion in the fabric or at receivers",
         "3 of 4 NICs of 2 nodes: transmit blocked by the network 25 % to 50 % of the time for 68.7 s",
         JOB_NONE,
         JOB_NONE,
         2},
        {2,
         {0, 0, 0.5, 0.25},
         "1:47-2:56: 2 of 4 NICs, those of n2 transmit blocked by the network 25 % to 50 % of the time; the 2 other "
         "NICs at most 0 "
         "%",
         "2 of 4 NICs, those of n2: transmit blocked by the network 25 % to 50 % of the time for 68.7 s",
         1,
         2,
         1},
        {1,
         {0.25, 0.5},
         "1:47-2:56: all 2 NICs of n1 transmit blocked by the network 25 % to 50 % of the time: congestion in the "
         "fabric or at "
         "receivers",
         "All 2 NICs of n1: transmit blocked by the network 25 % to 50 % of the time for 68.7 s",
         0,
         JOB_NONE,
         1},
        {2,
         {0.5, 0, 0.25, 0},
         "1:47-2:56: 2 of 4 NICs of 2 nodes transmit blocked by the network 25 % to 50 % of the time; the 2 other NICs "
         "at most 0 "
         "%",
         "2 of 4 NICs of 2 nodes: transmit blocked by the network 25 % to 50 % of the time for 68.7 s",
         0,
         0,
         2},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        scene s;
        size_t devices = 0;
        scene_of(&s, rows[i].nodes);
        for (size_t k = 0; k < s.r.device_count; k++) {
            devices += rows[i].held[k] > 0;
            if (rows[i].held[k] > 0)
                is_held(&s, k, JOB_PAUSED, rows[i].held[k]);
            else
                s.devices[k].lanes[JOB_PAUSED] = steps(&s, JOB_PAUSED, 0.25, 0);
        }
        job_add_incidents(&s.r);
        assert_int_equal(s.r.finding_count, 1);
        const job_finding *x = s.r.findings;
        assert_string_equal(x->claim, rows[i].claim);
        assert_string_equal(x->title, rows[i].title);
        assert_int_equal(x->node, rows[i].node);
        assert_int_equal(x->device, rows[i].device);
        assert_int_equal(x->nodes, rows[i].count_of_nodes);
        assert_int_equal(x->devices, devices);
        assert_int_equal(arrlenu(s.reader.told), devices);
        for (size_t k = 0; k < s.r.device_count; k++)
            if (rows[i].held[k] > 0) assert_int_equal(s.nodes[k / NICS].severity, SEVERITY_HIGH);
        scene_end(&s);
    }
}

// A NIC that holds others is the cause: where it alone does, and the others fell with it, it slowed them.
static void a_host_that_drains_slowly(void **state)
{
    scene s;
    (void)state;
    scene_of(&s, 2);
    is_held(&s, 2, JOB_HOLDING, 0.625);
    for (size_t i = 0; i < DEVICES; i++)
        if (i != 2) s.devices[i].lanes[JOB_HOLDING] = steps(&s, JOB_HOLDING, 0, 0.125);
    for (size_t i = 0; i < NODES; i++)
        nodes_do(&s, JOB_SENT, i, 1e9, 0.75e9);
    const job_finding *x =
        expect_incident(&s, SEVERITY_HIGH,
                        "1:47-2:56: n2 NIC 1 (cxi0) receive blocked 62.5 % of the time; the 3 other NICs at most 12.5 "
                        "%: this host drains "
                        "slowly; all 2 nodes sent 25 % less meanwhile",
                        "n2\u2019s NIC 1 (cxi0) slowed all 2 nodes for 68.7 s: receive blocked 62.5 % of the time");
    assert_string_equal(x->rule, "nic-holding");
    assert_string_equal(x->explained_by, "");
    assert_true(is_about(x->lost_s, 0.25 * lasts_s) && is_about(x->cost_s, 0.625 * lasts_s));
    job_findings_free(&s.r);
    arrsetlen(s.reader.told, 0);
    s.devices[0].lanes[JOB_HOLDING] =
        steps(&s, JOB_HOLDING, 0, 0.25); // others do as well: none of them is the cause alone
    x = expect_incident(&s, SEVERITY_HIGH,
                        "1:47-2:56: n2 NIC 1 (cxi0) receive blocked 62.5 % of the time; the 3 other NICs at most 25 %: "
                        "this host drains slowly; all 2 nodes sent 25 % less meanwhile",
                        "n2\u2019s NIC 1 (cxi0): receive blocked 62.5 % of the time for 68.7 s");
    assert_true(isnan(x->lost_s));
    scene_end(&s);
}

// Who is held by such a NIC is explained by it, where that one was about as long and as much.
static void who_is_held_by_it(void **state)
{
    static const struct {
        double holding;
        int from, to;
        bool explains;
    } rows[] = {{0.25, BEGIN, END, true},      {0.24, BEGIN, END, false},          {0.5, BEGIN + 63, END, true},
                {0.5, BEGIN + 64, END, false}, {0.5, BEGIN - 100, END - 63, true}, {0.5, BEGIN - 100, END - 64, false}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        scene s;
        scene_of(&s, 2);
        is_held(&s, 0, JOB_PAUSED, 0.5);
        is_held(&s, 3, JOB_HOLDING, rows[i].holding);
        s.reader.episodes[1].from_ns = ns_of(&s, rows[i].from);
        s.reader.episodes[1].to_ns = ns_of(&s, rows[i].to);
        job_add_incidents(&s.r);
        assert_int_equal(s.r.finding_count, 2);
        const job_finding *x = &s.r.findings[strcmp(s.r.findings[0].rule, "nic-paused") != 0];
        assert_string_equal(x->explained_by, rows[i].explains ? "nic-holding" : "");
        assert_string_equal(
            x->claim, rows[i].explains
                          ? "1:47-2:56: n1 NIC 1 (cxi0) transmit blocked by the network 50 % of the time; n2 NIC 2 "
                            "(cxi1) was receive blocked in that time: its host drains slowly"
                          : "1:47-2:56: n1 NIC 1 (cxi0) transmit blocked by the network 50 % of the time");
        scene_end(&s);
    }
}

// A program that paused by itself: more was lost than the blocked time explains, and it is seen what it did instead.
static void a_program_that_paused(void **state)
{
    static const struct {
        job_meter meter;
        double otherwise, then;
        const char *did; // NULL: nothing that tells
    } rows[] = {{JOB_FILES_WRITTEN, 1e6, 2.5e9, "wrote 2.50 GB/s a node instead of 1.00 MB/s"},
                {JOB_DISK_WRITTEN, 1e6, 2.5e6, "wrote 2.50 MB/s a node instead of 1.00 MB/s"},
                {JOB_DISK_WRITTEN, 1e6, 1.99e6, NULL},
                {JOB_FILES_WRITTEN, 1e3, 0.99e6, NULL},
                {JOB_GPU_BUSY, 1, 0.375, "kept its GPUs busy 62.5 % less"},
                {JOB_GPU_BUSY, 1, 0.5, NULL},
                {JOB_CPU, 8, 3, "used its CPUs 62.5 % less"},
                {JOB_CPU, 8, 4, NULL}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char expected[400];
        scene s;
        scene_of(&s, 2);
        is_held(&s, 0, JOB_PAUSED, 0.25);
        for (size_t k = 0; k < NODES; k++) {
            nodes_do(&s, JOB_SENT, k, 1e9, 0.25e9);
            nodes_do(&s, rows[i].meter, k, rows[i].otherwise, rows[i].then);
        }
        snprintf(expected, sizeof expected,
                 rows[i].did
                     ? "1:47-2:56: n1 NIC 1 (cxi0) transmit blocked by the network 25 %% of the time; all 2 nodes "
                       "sent 75 %% less and %s: more than the blocked time explains, so the program seems to have "
                       "paused by itself, and nothing is counted as lost"
                     : "1:47-2:56: n1 NIC 1 (cxi0) transmit blocked by the network 25 %% of the time; all 2 nodes "
                       "sent 75 %% less meanwhile%s",
                 rows[i].did ? rows[i].did : "");
        const job_finding *x =
            expect_incident(&s, rows[i].did ? SEVERITY_INFO : SEVERITY_HIGH, expected,
                            "n1\u2019s NIC 1 (cxi0): transmit blocked by the network 25 % of the time for 68.7 s");
        if (rows[i].did) assert_true(is_about(x->cost_s, 0) && is_about(x->lost_s, 0));
        if (!rows[i].did) assert_true(is_about(x->cost_s, 0.25 * lasts_s) && isnan(x->lost_s));
        scene_end(&s);
    }
}

static void a_gpu_that_was_slowed(void **state)
{
    scene s;
    (void)state;
    scene_of(&s, 2);
    for (size_t i = 0; i < DEVICES; i++) {
        s.devices[i].source = "gpu";
        s.devices[i].label = i % 2 ? "GPU 2 (gpu1)" : "GPU 1 (gpu0)";
    }
    is_held(&s, 1, JOB_GPU_THROTTLED, 0.25);
    nodes_do(&s, JOB_SENT, 0, 1e9, 0.5e9); // no word of the network
    expect_incident(&s, SEVERITY_WATCH,
                    "1:47-2:56: n1 GPU 2 (gpu1) slowed by heat or its hardware for 68.7 s, 25 % of the time",
                    "n1\u2019s GPU 2 (gpu1) was slowed by heat or its hardware for 68.7 s");
    job_findings_free(&s.r);
    s.devices[1].lanes[JOB_GPU_CLOCK] = steps(&s, JOB_GPU_CLOCK, 1.98e9, 1.25e9);
    expect_incident(
        &s, SEVERITY_WATCH,
        "1:47-2:56: n1 GPU 2 (gpu1) slowed by heat or its hardware for 68.7 s at 1.25 GHz, 25 % of the time",
        "n1\u2019s GPU 2 (gpu1) was slowed by heat or its hardware for 68.7 s");
    job_findings_free(&s.r);
    is_held(&s, 2, JOB_GPU_THROTTLED, 0.5);
    s.devices[0].lanes[JOB_GPU_THROTTLED] = s.devices[3].lanes[JOB_GPU_THROTTLED] = NULL;
    expect_incident(
        &s, SEVERITY_WATCH,
        "1:47-2:56: all 2 GPUs of 2 nodes slowed by heat or its hardware for 68.7 s, 25 % to 50 % of the time",
        "All 2 GPUs of 2 nodes was slowed by heat or its hardware for 68.7 s");
    scene_end(&s);
}

// Those that overlap for more than half are one; else each is told, the worst first, and sixteen at most.
static void the_worst_first(void **state)
{
    scene s;
    (void)state;
    scene_of(&s, 2);
    is_held(&s, 0, JOB_PAUSED, 0.25);
    is_held(&s, 2, JOB_PAUSED, 0.5);
    s.reader.episodes[0].from_ns = ns_of(&s, END - 64); // half of its time is in the other's, and no more
    s.reader.episodes[0].to_ns = ns_of(&s, END + 64);
    job_add_incidents(&s.r);
    assert_int_equal(s.r.finding_count, 2);
    assert_int_equal(s.r.findings[0].device, 2);
    assert_int_equal(s.r.findings[1].device, 0);
    job_findings_free(&s.r);
    arrsetlen(s.reader.episodes, 0);
    for (int i = 0; i < 20; i++) { // of the same harm: in their order in time
        int64_t from = ns_of(&s, ((i * 7) % 20) * 10);
        arrput(s.reader.episodes,
               ((job_episode){
                   .device = 0, .meter = JOB_PAUSED, .from_ns = from, .to_ns = from + 5 * (int64_t)BIN, .mean = 0.5}));
    }
    job_add_incidents(&s.r);
    assert_int_equal(s.r.finding_count, 16);
    for (size_t i = 0; i < 16; i++)
        assert_true(is_about(s.r.findings[i].from_s, 10 * bin_s * (double)i));
    scene_end(&s);
}

// An incident is a row of the phases, named by where and in which phase it was.
static void rows_of_phases(void **state)
{
    static const struct {
        job_meter meter;
        severity how;
        size_t nodes, within;
        const char *name; // NULL: no row
    } rows[] = {{JOB_PAUSED, SEVERITY_WATCH, 1, JOB_NONE, "n2 blocked"},
                {JOB_HOLDING, SEVERITY_HIGH, 1, 1, "train, n2 holding"},
                {JOB_GPU_THROTTLED, SEVERITY_WARN, 7, 1, "train, 7 nodes slowed"},
                {JOB_PAUSED, SEVERITY_INFO, 1, 1, NULL}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        scene s;
        job_finding x = {.severity = rows[i].how,
                         .node = 1,
                         .nodes = rows[i].nodes,
                         .meter = rows[i].meter,
                         .from_s = BEGIN * bin_s,
                         .to_s = END * bin_s,
                         .incident = true};
        job_finding all[] = {{.severity = SEVERITY_HIGH, .to_s = LENGTH * bin_s}, x};
        job_phase_span spans[] = {{0, 0, 90}, {1, 90, 200}}; // seconds
        scene_of(&s, 2);
        nodes_do(&s, JOB_POWER, 0, 50, 100);
        nodes_do(&s, JOB_POWER, 1, 50, 200);
        arrput(s.r.phases, ((job_phase){.name = "init", .finding = JOB_NONE}));
        arrput(s.r.phases, ((job_phase){.name = "train", .finding = JOB_NONE}));
        s.r.phase_count = 2;
        s.r.spans = spans;
        s.r.span_count = rows[i].within == JOB_NONE ? 1 : 2;
        s.r.findings = all;
        s.r.finding_count = COUNT(all);
        job_add_incident_phases(&s.r);
        assert_int_equal(s.r.phase_count, rows[i].name ? 3 : 2);
        if (rows[i].name) {
            const job_phase *p = &s.r.phases[2];
            assert_string_equal(p->name, rows[i].name);
            assert_int_equal(p->count, 1);
            assert_int_equal(p->finding, 1);
            assert_int_equal(p->within, rows[i].within);
            assert_true(is_about(p->time_s, lasts_s));
            assert_true(fabs(p->meters[JOB_POWER].mean - 150) < 1e-3 && fabs(p->energy_j - 300 * lasts_s) < 0.1);
            free(p->name);
        }
        arrfree(s.r.phases);
        s.r.findings = NULL;
        s.r.finding_count = 0;
        scene_end(&s);
    }
}

// All nodes sent less, and no NIC was held: what else fell, and what tasks waited for. Not where the network was not clean, or
// where that is not known.
static void work_that_slowed(void **state)
{
    static const struct {
        double sent, paused, held; // then; below 0: not known
        bool said;
    } rows[] = {{0.75, 0, 0, true},    {0.75, 0.009, 0.009, true}, {0.75, 0.011, 0, false}, {0.75, 0, 0.011, false},
                {0.875, 0, 0, false},  {0.24, 0, 0, false}, // another phase of the program
                {0.75, -1, -1, false}, {0.75, -1, 0, true}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        scene s;
        scene_of(&s, 2);
        s.r.interval_s = bin_s;
        for (size_t k = 0; k < NODES; k++) {
            nodes_do(&s, JOB_SENT, k, 1e9, rows[i].sent * 1e9);
            nodes_do(&s, JOB_CPU, k, 8, 5);
            nodes_do(&s, JOB_GPU_BUSY, k, 1, 0.875);
            nodes_do(&s, JOB_CPU_PRESSURE, k, 0, 0.04);       // hardly any
            nodes_do(&s, JOB_MEMORY_PRESSURE, k, 0.25, 0.25); // as always
            nodes_do(&s, JOB_IO_PRESSURE, k, 0, 0.5);
        }
        for (size_t k = 0; k < DEVICES; k++) {
            s.devices[k].lanes[JOB_SENT] = s.nodes[k / NICS].lanes[JOB_SENT];
            if (rows[i].paused >= 0)
                s.devices[k].lanes[JOB_PAUSED] = steps(&s, JOB_PAUSED, 0, k == 2 ? rows[i].paused : 0);
            if (rows[i].held >= 0)
                s.devices[k].lanes[JOB_HOLDING] = steps(&s, JOB_HOLDING, 0, k == 1 ? rows[i].held : 0);
        }
        job_find_slow(&s.r);
        if (s.r.finding_count != rows[i].said) fail_msg("%zu: %zu findings", i, s.r.finding_count);
        if (rows[i].said) {
            const job_finding *x = s.r.findings;
            assert_string_equal(x->rule, "work-slowed");
            assert_string_equal(
                x->claim, "1:47-2:56: work slowed and the network was clean: all 2 nodes sent 25 % less, no NIC was "
                          "blocked for 1 % of the time; GPUs were busy 12.5 % less; CPUs were busy 37.5 % less; tasks "
                          "waited for I/O 50 % of the time");
            assert_string_equal(x->title,
                                "Work slowed 1:47-2:56 and the network was clean: all 2 nodes sent 25 % less");
            assert_string_equal(x->unit, "of the usual traffic");
            assert_true(fabs(x->from_s - BEGIN * bin_s) < 1e-6 && fabs(x->to_s - END * bin_s) < 1e-6);
            assert_true(is_about(x->value, 0.75) && is_about(x->threshold, 0.85) && is_about(x->sent_ratio, 0.75));
            assert_true(is_about(x->cpu_ratio, 0.625) && is_about(x->gpu_ratio, 0.875) && isnan(x->power_ratio));
            assert_true(x->severity == SEVERITY_INFO && x->nodes == 2 && x->meter == JOB_SENT && !x->incident);
            assert_true(x->node == JOB_NONE && x->device == JOB_NONE);
        }
        scene_end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_nic_alone),
        cmocka_unit_test(what_was_sent_meanwhile),
        cmocka_unit_test(retries_of_its_own),
        cmocka_unit_test(several_at_once),
        cmocka_unit_test(a_host_that_drains_slowly),
        cmocka_unit_test(who_is_held_by_it),
        cmocka_unit_test(a_program_that_paused),
        cmocka_unit_test(a_gpu_that_was_slowed),
        cmocka_unit_test(the_worst_first),
        cmocka_unit_test(rows_of_phases),
        cmocka_unit_test(work_that_slowed),
    };
    return cmocka_run_group_tests_name("job_incidents", tests, NULL, NULL);
}
