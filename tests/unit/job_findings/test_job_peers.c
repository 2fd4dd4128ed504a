// Devices and nodes of a job that alone do less or more than their peers: since when, by how much, and what else is known;
// every figure and sentence whole, of a report as a model.
#define _GNU_SOURCE
#include "netprof.h"

#include "support.h"

#include "analysis/base/stb_ds.h"
#include "analysis/job/findings/job_findings_make.h"

#include <math.h>

// Times are in windows in which peers are compared, eight bins of 2^29 ns each.
enum { DEVICES = 4, BIN = 1 << 29, WINDOW = 8, LENGTH = 64 };
static const double window_s = WINDOW * (BIN * 1e-9);

// A job of 275 s on one node with four NICs of 25 GB/s. Start with scene_of().
typedef struct scene {
    job_report r;
    job_report_options options;
    job_reader reader;
    job_node_reader reader_of_node;
    job_fact fact;
    job_node node;
    job_device devices[DEVICES];
    job_lane **lanes; // stb_ds
} scene;

static void scene_of(scene *s)
{
    static char *const names[DEVICES] = {"cxi0", "cxi1", "cxi2", "cxi3"}, *const labels[DEVICES] = {
                                                                              "NIC 1 (cxi0)", "NIC 2 (cxi1)",
                                                                              "NIC 3 (cxi2)", "NIC 4 (cxi3)"};
    const double end_s = LENGTH * window_s;
    *s = (scene){.r = {.begin_ns = INT64_C(4000) * BIN,
                       .end_s = end_s,
                       .bin_s = BIN * 1e-9,
                       .interval_s = BIN * 1e-9,
                       .nodes = &s->node,
                       .node_count = 1,
                       .devices = s->devices,
                       .device_count = DEVICES,
                       .facts = &s->fact,
                       .fact_count = 1,
                       .reader = &s->reader},
                 .options = {.threads = 1},
                 .reader = {.options = &s->options, .nodes = &s->reader_of_node},
                 .fact = {"job_id", "Job", "7"},
                 .node = {.name = "n1", .device_count = DEVICES, .end_s = end_s}};
    for (size_t i = 0; i < DEVICES; i++)
        s->devices[i] = (job_device){.source = "cxi", .name = names[i], .label = labels[i], .line_rate = 25e9};
}

// One value in the windows from..to, and another one before and after them.
static job_lane *steps(scene *s, job_meter meter, double otherwise, double then, int from, int to)
{
    job_lane *lane = job_lane_make(meter, 0, JOB_NONE);
    for (int t = 0; t < LENGTH * WINDOW; t++) {
        double value = t >= from * WINDOW && t < to * WINDOW ? then : otherwise;
        int64_t at = s->r.begin_ns + (int64_t)t * BIN;
        job_bins_add(lane->bins, at, at + BIN, value, value, value);
    }
    lane->mean = lane->bins->integral / s->r.end_s;
    lane->total = lane->bins->integral;
    arrput(s->lanes, lane);
    return lane;
}

// All move 2 GB/s, and what they receive half as much; one of them another amount from..to.
static void nics_move(scene *s, size_t odd, double sent, int from, int to)
{
    for (size_t i = 0; i < DEVICES; i++) {
        s->devices[i].lanes[JOB_SENT] = steps(s, JOB_SENT, 2e9, i == odd ? sent : 2e9, from, to);
        s->devices[i].lanes[JOB_RECEIVED] = steps(s, JOB_RECEIVED, 1e9, i == odd ? sent / 2 : 1e9, from, to);
    }
}

static void scene_end(scene *s)
{
    job_findings_free(&s->r);
    for (size_t i = 0; i < arrlenu(s->lanes); i++)
        job_lane_free(s->lanes[i]);
    arrfree(s->lanes);
}

static const job_finding *expect_one(scene *s, severity how, const char *claim)
{
    job_find_device_peers(&s->r);
    if (!claim) {
        if (s->r.finding_count) fail_msg("%s", s->r.findings[0].claim);
        return NULL;
    }
    if (s->r.finding_count != 1) fail_msg("%zu findings", s->r.finding_count);
    assert_string_equal(s->r.findings[0].claim, claim);
    assert_int_equal(s->r.findings[0].severity, how);
    return s->r.findings;
}

// ---- tests ----

static void a_nic_alone(void **state)
{
    static const struct {
        double sent;
        int from, to;
        const char *claim; // NULL: nothing is said
        double ratio;
    } rows[] = {
        {1e9, 0, LENGTH, "n1 NIC 3 (cxi2) alone moved 1.50 GB/s; the 3 other NICs 3.00 GB/s each", 0.5},
        {6e9, 0, LENGTH, "n1 NIC 3 (cxi2) alone moved 9.00 GB/s; the 3 other NICs 3.00 GB/s each", 3},
        {0, 0, LENGTH, "n1 NIC 3 (cxi2) alone moved nothing; the 3 other NICs 3.00 GB/s each", 0},
        {1e9, 40, LENGTH, "n1 NIC 3 (cxi2) alone moved 1.50 GB/s from 2:52 on; the 3 other NICs 3.00 GB/s each", 0.5},
        {1e9, 20, 40, "n1 NIC 3 (cxi2) alone moved 1.50 GB/s from 1:26 to 2:52; the 3 other NICs 3.00 GB/s each", 0.5},
        {1e9, 0, 20, "n1 NIC 3 (cxi2) alone moved 1.50 GB/s until 1:26; the 3 other NICs 3.00 GB/s each", 0.5},
        {1.6e9, 0, LENGTH, NULL, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        scene s;
        scene_of(&s);
        nics_move(&s, 2, rows[i].sent, rows[i].from, rows[i].to);
        const job_finding *x = expect_one(&s, SEVERITY_WATCH, rows[i].claim);
        if (x) {
            char title[200];
            snprintf(title, sizeof title, "n1\u2019s%s", rows[i].claim + strlen("n1"));
            assert_string_equal(x->title, title);
            assert_string_equal(x->rule, "nic-peers");
            assert_string_equal(x->unit, "of what its peers did");
            assert_string_equal(x->explained_by, "");
            assert_int_equal(x->node, 0);
            assert_int_equal(x->device, 2);
            assert_true(x->nodes == 1 && x->devices == 1 && x->meter == JOB_SENT && !x->incident);
            assert_true(fabs(x->from_s - rows[i].from * window_s) < 1e-6 &&
                        fabs(x->to_s - rows[i].to * window_s) < 1e-6);
            assert_true(fabs(x->value - rows[i].ratio) < 1e-3);
            assert_true(fabs(x->threshold - (rows[i].ratio > 1 ? 1.5 : 1 / 1.5)) < 1e-9);
            assert_true(isnan(x->cost_s) && isnan(x->lost_s));
        }
        scene_end(&s);
    }
}

// What is known to be so is no accusation: files of its node, a port that nobody set up.
static void what_explains_it(void **state)
{
    scene s;
    (void)state;
    scene_of(&s);
    nics_move(&s, 1, 6e9, 20, LENGTH);
    s.node.lanes[JOB_FILES_READ] =
        steps(&s, JOB_FILES_READ, 0, 3e9, 20, LENGTH); // half of the 6 GB/s beyond the others
    expect_one(&s, SEVERITY_INFO,
               "n1 NIC 2 (cxi1) alone moved 9.00 GB/s from 1:26 on; the 3 other NICs 3.00 GB/s each; it read or wrote "
               "files, which explains it");
    scene_end(&s);
    scene_of(&s);
    nics_move(&s, 1, 6e9, 20, LENGTH);
    s.node.lanes[JOB_FILES_WRITTEN] = steps(&s, JOB_FILES_WRITTEN, 0, 2.9e9, 20, LENGTH);
    expect_one(&s, SEVERITY_WATCH,
               "n1 NIC 2 (cxi1) alone moved 9.00 GB/s from 1:26 on; the 3 other NICs 3.00 GB/s each");
    scene_end(&s);
    for (int always = 0; always < 2; always++) {
        scene_of(&s);
        for (size_t i = 0; i < DEVICES; i++)
            s.devices[i].source = "netdev";
        nics_move(&s, 3, 0, always ? 0 : 32, LENGTH);
        const job_finding *x =
            expect_one(&s, always ? SEVERITY_INFO : SEVERITY_WATCH,
                       always ? "n1 NIC 4 (cxi3) alone moved nothing; the 3 other NICs 3.00 GB/s each"
                              : "n1 NIC 4 (cxi3) alone moved nothing from 2:17 on; the 3 other NICs 3.00 GB/s each");
        assert_string_equal(x->rule, "eth-peers");
        scene_end(&s);
    }
}

// Two of four, or all but one of no use: nobody stands alone.
static void when_nobody_stands_alone(void **state)
{
    scene s;
    (void)state;
    scene_of(&s);
    nics_move(&s, 1, 1e9, 0, LENGTH);
    s.devices[2].lanes[JOB_SENT] = s.devices[1].lanes[JOB_SENT];
    s.devices[2].lanes[JOB_RECEIVED] = s.devices[1].lanes[JOB_RECEIVED];
    const job_finding *x = expect_one(
        &s, SEVERITY_INFO, "2 of 4 NICs of n1 moved 1.50 GB/s, the others about 3.00 GB/s: none stands alone");
    assert_int_equal(x->devices, 2);
    assert_int_equal(x->node, 0);
    scene_end(&s);
    scene_of(&s);
    s.r.device_count = 2;
    nics_move(&s, 1, 1e9, 0, LENGTH);
    expect_one(
        &s, SEVERITY_INFO,
        "the two NICs of n1 differ, 1.50 GB/s and 3.00 GB/s: which is the odd one cannot be known from them alone");
    scene_end(&s);
    scene_of(&s);
    s.r.device_count = 2;
    nics_move(&s, 1, 0, 0, LENGTH);
    expect_one(&s, SEVERITY_INFO, "some NICs of n1 were not used: it may be meant so");
    scene_end(&s);
    scene_of(&s);
    nics_move(&s, 1, 1e9, 0, LENGTH);
    s.devices[1].line_rate = 10e9; // of another kind
    expect_one(&s, SEVERITY_OK, NULL);
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_nic_alone),
        cmocka_unit_test(what_explains_it),
        cmocka_unit_test(when_nobody_stands_alone),
    };
    return cmocka_run_group_tests_name("job_peers", tests, NULL, NULL);
}
