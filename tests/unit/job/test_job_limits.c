// Findings about a whole job against its limits: at, below and above each, with every figure and sentence whole, of a report as
// a model.
#define _GNU_SOURCE
#include "netprof.h"

#include "support.h"

#include "analysis/base/stb_ds.h"
#include "analysis/job/job_store.h"

#include <math.h>

enum { NODES = 3 };

// A job of 300 s on three nodes that is known to be one. Start with scene_of().
typedef struct scene {
    job_report r;
    job_fact fact;
    job_node nodes[NODES];
} scene;

static void scene_of(scene *s)
{
    static char *const names[NODES] = {"n1", "n2", "n3"};
    *s = (scene){.r = {.begin_ns = 1000000000,
                       .end_s = 300,
                       .interval_s = 1,
                       .nodes = s->nodes,
                       .node_count = NODES,
                       .facts = &s->fact,
                       .fact_count = 1},
                 .fact = {"job_id", "Job", "7"}};
    for (size_t i = 0; i < NODES; i++)
        s->nodes[i] = (job_node){.name = names[i], .end_s = 300};
}

// What is used, before what is there already.
static job_use *use_of(scene *s, job_meter meter, double mean, double capacity)
{
    job_use *x = &s->r.uses[s->r.use_count++];
    *x = (job_use){.meter = meter, .mean = mean, .capacity = capacity, .nodes = NODES, .low_node = 1, .high = NAN};
    return x;
}

// A line for each finding: severity, rule, value and threshold with unit, node and how many, meter and since when; sentence and
// headline. They are gone afterwards.
static void expect_findings(scene *s, const char *expected)
{
    char text[4096] = "";
    size_t had = s->r.finding_count;
    job_find_limits(&s->r);
    for (size_t i = had; i < s->r.finding_count; i++) {
        job_finding *x = &s->r.findings[i];
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s %s: %.3g/%.3g %s, %s of %zu, %s from %g to %g\n%s\n%s\n",
                 severity_name(x->severity), x->rule, x->value, x->threshold, x->unit,
                 x->node == JOB_NONE ? "none" : s->r.nodes[x->node].name, x->nodes,
                 x->meter == JOB_METERS ? "" : job_meter_of(x->meter)->name, x->from_s, x->to_s, x->claim, x->title);
        char *texts[] = {x->rule, x->claim, x->title, x->advice, x->origin, x->unit, x->explained_by};
        assert_true(*x->advice && *x->origin && !*x->explained_by && !x->incident);
        for (size_t k = 0; k < COUNT(texts); k++)
            free(texts[k]);
    }
    arrfree(s->r.findings);
    s->r.finding_count = 0;
    assert_string_equal(text, expected);
}

// ---- tests ----

static void cpus_that_were_hardly_used(void **state)
{
    static const struct {
        double mean, end_s;
        const char *expected;
    } rows[] = {
        {12.8, 300, ""},
        {12.7, 300,
         "info cpu-low: 0.794/0.8 of the CPUs, none of 3, cpu from 0 to 300\n"
         "the job used 12.7 of 16 CPUs a node in the mean (79.4 %)\nThe job used 79.4 % of the CPUs\n"},
        {10.4, 300,
         "info cpu-low: 0.65/0.8 of the CPUs, none of 3, cpu from 0 to 300\n"
         "the job used 10.4 of 16 CPUs a node in the mean (65 %)\nThe job used 65 % of the CPUs\n"},
        {10, 300,
         "watch cpu-low: 0.625/0.65 of the CPUs, none of 3, cpu from 0 to 300\n"
         "the job used 10 of 16 CPUs a node in the mean (62.5 %)\nThe job used 62.5 % of the CPUs\n"},
        {10, 299.9, ""}, // too short
        {0.5, 400,
         "watch cpu-low: 0.0312/0.65 of the CPUs, none of 3, cpu from 0 to 400\n"
         "the job used 0.500 of 16 CPUs a node in the mean (3.12 %)\nThe job used 3.12 % of the CPUs\n"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        scene s;
        scene_of(&s);
        use_of(&s, JOB_CPU, rows[i].mean, 16);
        s.r.end_s = rows[i].end_s;
        expect_findings(&s, rows[i].expected);
        s.fact.key = "kernel"; // nodes without a job may idle
        expect_findings(&s, "");
    }
}

// By whom the CPUs were given is said; where GPUs work, CPUs may wait for them; of one node it is that node.
static void cpus_of_an_allocation(void **state)
{
    scene s;
    (void)state;
    scene_of(&s);
    job_use *cpu = use_of(&s, JOB_CPU, 10, 16), *gpu = use_of(&s, JOB_GPU_BUSY, 0.25, 1);
    s.r.efficiency[JOB_EFFICIENCY_CPU].basis = JOB_BASIS_QUOTA;
    expect_findings(&s, "info cpu-low: 0.625/0.8 of the CPUs, none of 3, cpu from 0 to 300\n"
                        "the job used 10 of 16 allocated CPUs a node in the mean (62.5 %; measured against its CPU "
                        "quota)\nThe job used 62.5 % of its CPUs\n");
    s.r.efficiency[JOB_EFFICIENCY_CPU].basis = JOB_BASIS_NODE;
    cpu->nodes = 1;
    gpu->mean = 0.26;
    expect_findings(&s, "info cpu-low: 0.625/0.8 of the CPUs, n2 of 1, cpu from 0 to 300\n"
                        "the job used 10 of 16 CPUs a node in the mean (62.5 %; measured against all CPUs of the "
                        "node)\nThe job used 62.5 % of the nodes\u2019 CPUs\n");
    cpu->capacity = NAN;
    expect_findings(&s, "");
    cpu->capacity = 0;
    expect_findings(&s, "");
}

static void gpus_that_were_idle(void **state)
{
    job_finding *told = NULL;
    scene s;
    (void)state;
    scene_of(&s);
    job_use *gpu = use_of(&s, JOB_GPU_BUSY, 0.25, 1);
    expect_findings(&s, "");
    gpu->mean = 0.1875;
    static const char watched[] = "watch gpu-idle: 0.188/0.25 of the time, none of 3, gpu_busy from 0 to 300\n"
                                  "the GPUs were busy 18.8 % of the time in the mean\n"
                                  "The GPUs were busy 18.8 % of the time\n",
                      beside[] = "watch gpu-idle: 0.188/0.25 of the time, none of 3, gpu_busy from 0 to 300\n"
                                 "the GPUs were busy 18.8 % of the time in the mean, and the network under 10 % of its "
                                 "line rate: it is not what they wait for\nThe GPUs were busy 18.8 % of the time\n";
    expect_findings(&s, watched);
    s.r.end_s = 299;
    expect_findings(&s, "");
    s.r.end_s = 300;
    gpu->mean = 0.15;
    expect_findings(&s, "watch gpu-idle: 0.15/0.25 of the time, none of 3, gpu_busy from 0 to 300\n"
                        "the GPUs were busy 15 % of the time in the mean\nThe GPUs were busy 15 % of the time\n");
    gpu->mean = 0.125;
    expect_findings(&s, "warn gpu-idle: 0.125/0.15 of the time, none of 3, gpu_busy from 0 to 300\n"
                        "the GPUs were busy 12.5 % of the time in the mean\nThe GPUs were busy 12.5 % of the time\n");
    gpu->mean = 0.1875; // the network: it idles where both ways are known to, and nothing was held
    job_use *sent = use_of(&s, JOB_SENT, 0.9e9, 10e9);
    expect_findings(&s, watched);
    job_use *received = use_of(&s, JOB_RECEIVED, 0.9e9, 10e9);
    expect_findings(&s, beside);
    sent->mean = 1e9;
    expect_findings(&s, watched);
    sent->mean = 0.9e9;
    received->mean = 1e9;
    expect_findings(&s, watched);
    received->mean = 0.9e9;
    job_use *paused = use_of(&s, JOB_PAUSED, 0, 1);
    paused->high = 0.01;
    expect_findings(&s, watched);
    paused->high = 0.009;
    expect_findings(&s, beside);
    arrput(told, (job_finding){.rule = "gpu-idle"}); // said of single GPUs
    s.r.findings = told;
    s.r.finding_count = 1;
    expect_findings(&s, "");
}

// The fullest of three nodes, and how many are; not by sums that count some more than once, where the node's own is known.
static void memory_near_its_limit(void **state)
{
    job_lane own[NODES], whole[NODES];
    scene s;
    (void)state;
    scene_of(&s);
    for (size_t i = 0; i < NODES; i++) {
        own[i] = (job_lane){
            .meter = JOB_MEMORY, .high = 3 * 1024. * 1024 * 1024, .capacity = 4 * 1024. * 1024 * 1024, .last = NAN};
        whole[i] = own[i];
        whole[i].meter = JOB_NODE_MEMORY;
        whole[i].capacity *= 2;
        s.nodes[i].lanes[JOB_MEMORY] = &own[i];
        s.nodes[i].lanes[JOB_NODE_MEMORY] = &whole[i];
    }
    expect_findings(&s, "");
    own[1].high = 0.9 * own[1].capacity;
    expect_findings(&s, "watch mem-peak: 0.9/0.9 of the limit, n2 of 1, memory from 0 to 300\n"
                        "n2: memory was at 3.60 GiB of 4 GiB (90 %)\nn2: memory reached 90 % of its limit\n");
    own[1].high = 0.899 * own[1].capacity;
    expect_findings(&s, "");
    own[0].high = 0.9375 * own[0].capacity;
    own[2].high = 0.96875 * own[0].capacity;
    expect_findings(&s, "watch mem-peak: 0.969/0.9 of the limit, n3 of 2, memory from 0 to 300\n"
                        "n3 and another node: memory was at 3.88 GiB of 4 GiB (96.9 %)\n"
                        "n3: memory reached 96.9 % of its limit\n");
    own[1].high = own[1].capacity;
    expect_findings(&s, "warn mem-peak: 1/0.98 of the limit, n2 of 3, memory from 0 to 300\n"
                        "n2 and 2 other nodes: memory was at 4 GiB of 4 GiB (100 %)\nn2: memory reached 100 % of its "
                        "limit\n");
    for (size_t i = 0; i < NODES; i++)
        own[i].upper_bound = true;
    expect_findings(&s, "");
    whole[2].high = 7.875 * 1024 * 1024 * 1024;
    expect_findings(&s, "warn mem-peak: 0.984/0.98 of the limit, n3 of 1, node_memory from 0 to 300\n"
                        "n3: the node\u2019s memory was at 7.88 GiB of 8 GiB (98.4 %)\n"
                        "n3: the node\u2019s memory reached 98.4 % of what there is\n");
    whole[2].capacity = 0;
    expect_findings(&s, "");
}

// Memory that grows by so many GiB a second from the first to the last second, and is so large at the end.
static void grow(const scene *s, job_lane *lane, double per_s, double last, double from_s, double to_s)
{
    const double gib = 1024. * 1024 * 1024;
    lane->last = last * gib;
    for (double t = from_s; t < to_s; t++) {
        double value = lane->last + per_s * gib * (t + 0.5 - to_s);
        int64_t ns = s->r.begin_ns + (int64_t)(t * 1e9);
        job_bins_add(lane->bins, ns, ns + 1000000000, value, value, value);
    }
}

// When a straight line through the second half reaches the limit: within two hours is told, within half an hour is bad.
static void memory_that_grows(void **state)
{
    static const struct {
        double per_s, last, begin_s, end_s; // GiB
        const char *expected;               // of 64 GiB
    } rows[] = {
        {1 / 128., 32, 0, 300, // 32 GiB more in 4096 s
         "watch mem-growth: 4.1e+03/7.2e+03 s, n2 of 1, memory from 150 to 300\n"
         "n2: memory grows 480 MiB/min, 32 GiB of 64 GiB at the end: full in 1 h 08 min\n"
         "n2\u2019s memory is full in 1 h 08 min\n"},
        {1 / 24., 32, 0, 300,
         "warn mem-growth: 768/1.8e+03 s, n2 of 1, memory from 150 to 300\n"
         "n2: memory grows 2.50 GiB/min, 32 GiB of 64 GiB at the end: full in 12 min 48 s\n"
         "n2\u2019s memory is full in 12 min 48 s\n"},
        {1 / 128., 4, 0, 300, ""},   // 7680 s
        {1 / 512., 57, 0, 300, ""},  // of noise and caches: less than a hundredth of the limit in that time
        {-1 / 128., 32, 0, 300, ""}, // it shrinks
        {1 / 24., 32, 200, 300,
         "warn mem-growth: 768/1.8e+03 s, n2 of 1, memory from 250 to 300\n"
         "n2: memory grows 2.50 GiB/min, 32 GiB of 64 GiB at the end: full in 12 min 48 s\n"
         "n2\u2019s memory is full in 12 min 48 s\n"},
        {1 / 16., 32, 250, 300, ""}, // too short to tell
        {1 / 24., 64, 0, 300,
         "warn mem-peak: 1/0.98 of the limit, n2 of 1, memory from 0 to 300\n"
         "n2: memory was at 64 GiB of 64 GiB (100 %)\nn2: memory reached 100 % of its limit\n"
         "warn mem-growth: 0/1.8e+03 s, n2 of 1, memory from 150 to 300\n"
         "n2: memory grows 2.50 GiB/min, 64 GiB of 64 GiB at the end: full in 0 s\nn2\u2019s memory is full in 0 s\n"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        scene s;
        job_lane *lane = job_lane_make(JOB_MEMORY, 1, JOB_NONE);
        scene_of(&s);
        s.nodes[1].lanes[JOB_MEMORY] = lane;
        s.nodes[1].begin_s = rows[i].begin_s;
        s.nodes[1].end_s = rows[i].end_s;
        lane->capacity = 64 * 1024. * 1024 * 1024;
        grow(&s, lane, rows[i].per_s, rows[i].last, rows[i].begin_s, rows[i].end_s);
        lane->high = lane->last;
        expect_findings(&s, rows[i].expected);
        lane->last = NAN;
        lane->high = 0;
        expect_findings(&s, "");
        job_lane_free(lane);
    }
}

// The node whose memory is full first is told of, and that others grow as well.
static void memory_of_several_that_grows(void **state)
{
    static const double per_s[NODES] = {1 / 128., 1 / 64., 0};
    job_lane *lanes[NODES];
    scene s;
    (void)state;
    scene_of(&s);
    for (size_t i = 0; i < NODES; i++) {
        lanes[i] = job_lane_make(JOB_MEMORY, i, JOB_NONE);
        lanes[i]->capacity = 64 * 1024. * 1024 * 1024;
        lanes[i]->high = 0;
        grow(&s, lanes[i], per_s[i], 32, 0, 300);
        s.nodes[i].lanes[JOB_MEMORY] = lanes[i];
    }
    expect_findings(&s, "watch mem-growth: 2.05e+03/7.2e+03 s, n2 of 2, memory from 150 to 300\n"
                        "n2 and another node: memory grows 960 MiB/min, 32 GiB of 64 GiB at the end: full in 34 min 08 "
                        "s\nn2\u2019s memory is full in 34 min 08 s\n");
    for (size_t i = 0; i < NODES; i++)
        job_lane_free(lanes[i]);
}

static void power_at_its_limit(void **state)
{
    scene s;
    (void)state;
    scene_of(&s);
    s.fact.key = "kernel"; // whoever runs there
    job_use *cpu = use_of(&s, JOB_POWER_CPU, 375, 400), *gpu = use_of(&s, JOB_POWER_GPU, 1900, 2000);
    gpu->nodes = 2;
    expect_findings(&s, "info power-cap: 0.95/0.95 of the limit, none of 2, power_gpu from 0 to 300\n"
                        "the GPUs drew 95 % of their power limit in the mean\nThe GPUs ran at their power limit\n");
    cpu->mean = 387.5;
    expect_findings(&s, "info power-cap: 0.95/0.95 of the limit, none of 2, power_gpu from 0 to 300\n"
                        "the GPUs drew 95 % of their power limit in the mean\nThe GPUs ran at their power limit\n"
                        "info power-cap: 0.969/0.95 of the limit, none of 3, power_cpu from 0 to 300\n"
                        "the CPUs drew 96.9 % of their power limit in the mean\nThe CPUs ran at their power limit\n");
    cpu->capacity = NAN;
    s.r.end_s = 10;
    expect_findings(&s, "info power-cap: 0.95/0.95 of the limit, none of 2, power_gpu from 0 to 10\n"
                        "the GPUs drew 95 % of their power limit in the mean\nThe GPUs ran at their power limit\n");
    s.r.end_s = 9.9;
    expect_findings(&s, "");
}

// One sample of a job is always missing somewhere; from a hundredth on it is told whose they are.
static void samples_that_are_missing(void **state)
{
    static const struct {
        uint64_t samples[NODES], expected[NODES];
        const char *text;
    } rows[] = {
        {{100, 100, 100}, {100, 100, 100}, ""},
        {{0, 9, 0}, {0, 10, 0}, ""},
        {{100, 98, 100}, {100, 100, 100}, ""}, // 2 of 300
        {{100, 97, 100},
         {100, 100, 100},
         "info samples-missing: 0.01/0.01 of the samples, n2 of 1,  from 0 to 300\n"
         "3 of 300 samples are missing (1.00 %), all of n2\n1.00 % of the samples are missing\n"},
        {{64, 48, 62},
         {64, 64, 64},
         "info samples-missing: 0.0938/0.01 of the samples, n2 of 2,  from 0 to 300\n"
         "18 of 192 samples are missing (9.38 %), most of them of n2\n9.38 % of the samples are missing\n"},
        {{64, 44, 60},
         {64, 64, 64},
         "watch samples-missing: 0.125/0.1 of the samples, n2 of 2,  from 0 to 300\n"
         "24 of 192 samples are missing (12.5 %), most of them of n2\n12.5 % of the samples are missing\n"},
        {{52, 64, 52},
         {64, 64, 64},
         "watch samples-missing: 0.125/0.1 of the samples, none of 2,  from 0 to 300\n"
         "24 of 192 samples are missing (12.5 %), on 2 nodes\n12.5 % of the samples are missing\n"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        scene s;
        scene_of(&s);
        for (size_t k = 0; k < NODES; k++) {
            s.r.samples += s.nodes[k].samples = rows[i].samples[k];
            s.r.expected += s.nodes[k].expected = rows[i].expected[k];
        }
        expect_findings(&s, rows[i].text);
    }
}

// The words of several findings at once, in this order.
static void several_at_once(void **state)
{
    job_lane memory = {.meter = JOB_MEMORY, .high = 1, .capacity = 1, .last = NAN};
    scene s;
    (void)state;
    scene_of(&s);
    use_of(&s, JOB_CPU, 1, 16);
    use_of(&s, JOB_GPU_BUSY, 0.1, 1);
    use_of(&s, JOB_POWER_GPU, 1, 1);
    use_of(&s, JOB_POWER_CPU, 1, 1);
    s.nodes[0].lanes[JOB_MEMORY] = &memory;
    s.nodes[0].expected = s.r.expected = 10;
    job_find_limits(&s.r);
    static const char *const names[] = {"cpu-low", "gpu-idle", "mem-peak", "power-cap", "power-cap", "samples-missing"};
    assert_int_equal(s.r.finding_count, COUNT(names));
    for (size_t i = 0; i < COUNT(names); i++)
        assert_string_equal(s.r.findings[i].rule, names[i]);
    assert_int_equal(s.nodes[0].severity, SEVERITY_WARN); // of its worst finding
    assert_int_equal(s.nodes[1].severity, SEVERITY_OK);
    for (size_t i = 0; i < s.r.finding_count; i++) {
        job_finding *x = &s.r.findings[i];
        char *texts[] = {x->rule, x->claim, x->title, x->advice, x->origin, x->unit, x->explained_by};
        for (size_t k = 0; k < COUNT(texts); k++)
            free(texts[k]);
    }
    arrfree(s.r.findings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpus_that_were_hardly_used),
        cmocka_unit_test(cpus_of_an_allocation),
        cmocka_unit_test(gpus_that_were_idle),
        cmocka_unit_test(memory_near_its_limit),
        cmocka_unit_test(memory_that_grows),
        cmocka_unit_test(memory_of_several_that_grows),
        cmocka_unit_test(power_at_its_limit),
        cmocka_unit_test(samples_that_are_missing),
        cmocka_unit_test(several_at_once),
    };
    return cmocka_run_group_tests_name("job_limits", tests, NULL, NULL);
}
