// Whom the job report blames: recordings of eight nodes with four NICs each, 300 s, and something in the fourth minute.
#define _GNU_SOURCE
#include "netprof.h"

#include "builtin_rules.h"
#include "job_cluster.h"

#include "analysis/base/memory.h"
#include "analysis/job/job_report.h"

#include <math.h>
#include <stdlib.h>

enum { NODES = 8, NICS = 4, SECONDS = 300, FROM = 180, TO = 240, NOBODY = -1, EVERYBODY = -2 };

// What happens from FROM to TO.
typedef struct scene {
    int node, nic;  // that is held, or NOBODY, EVERYBODY
    double held;    // share of the time that it is transmit blocked
    int early_s;    // it begins so long before the others fall; negative: after
    int holder;     // a node whose first NIC is receive blocked, or NOBODY
    double holding; // share of the time
    int damaged;    // a node whose first NIC's link is damaged, or NOBODY
    double sent;    // of all nodes, relative to the other time
    double cpu;     // the same
    double written; // bytes/s of each node, else 1e6
    bool twice;     // the same again from 60 to 120 s
} scene;

static const scene quiet = {.node = NOBODY, .holder = NOBODY, .damaged = NOBODY, .sent = 1, .cpu = 1, .written = 1e6};

static bool is_then(const scene *s, int t, int shift)
{
    return (t >= FROM - shift && t < TO) || (s->twice && t >= 60 && t < 120);
}

static void second_of_nic(const scene *s, node_file *f, int node, int nic, int t)
{
    char name[16];
    snprintf(name, sizeof name, "cxi%d", nic);
    bool held = (s->node == node && s->nic == nic) || s->node == EVERYBODY;
    node_add(f, name, "hni_sts_tx_ok_octets", is_then(s, t, 0) ? 5e9 * s->sent : 5e9);
    node_add(f, name, "hni_tx_paused_0", held && is_then(s, t, s->early_s) ? s->held * 1e9 : 1e5);
    node_add(f, name, "hni_rx_paused_0", s->holder == node && nic == 0 && is_then(s, t, 0) ? s->holding * 1e9 : 0);
    node_add(f, name, "hni_pcs_uncorrected_cw", s->damaged == node && nic == 0 && is_then(s, t, 0) ? 20 : 0);
}

static void record_node(const scene *s, int node)
{
    char name[16], file[32];
    snprintf(name, sizeof name, "n%d", node + 1);
    snprintf(file, sizeof file, "n%d.netprof", node + 1);
    node_shape shape = {.name = name, .parts = NODE_PROCESS | NODE_CPU, .nics = NICS, .interval_s = 1};
    node_file f = node_open(tree_path(tree, file), &shape);
    node_set(&f, "job", "resident", 8e9);
    for (int t = 0; t <= SECONDS; t++) {
        node_take(&f, t);
        for (int nic = 0; nic < NICS; nic++)
            second_of_nic(s, &f, node, nic, t);
        node_add(&f, "job", "cpu_user", is_then(s, t, 0) ? 3.8e6 * s->cpu : 3.8e6);
        node_add(&f, "job", "write_chars", is_then(s, t, 0) ? s->written : 1e6);
        node_add(&f, "cpu", "user", 3e6);
        node_add(&f, "cpu", "idle", 1e6);
    }
    node_close(&f);
}

static job_report report_of(const scene *s)
{
    for (int node = 0; node < NODES; node++)
        record_node(s, node);
    return report_of_tree(&built_in);
}

static void expect_in(const char *text, const char *part)
{
    if (!strstr(text, part)) fail_msg("'%s' is not in '%s'", part, text);
}

static void expect_nowhere(const job_report *job, const char *part)
{
    if (strstr(job->title, part)) fail_msg("'%s' is in the title '%s'", part, job->title);
    for (size_t i = 0; i < job->note_count; i++)
        if (strstr(job->notes[i].text, part)) fail_msg("'%s' is in the note '%s'", part, job->notes[i].text);
    for (size_t i = 0; i < job->finding_count; i++)
        if (strstr(job->findings[i].claim, part)) fail_msg("'%s' is in '%s'", part, job->findings[i].claim);
}

static size_t accusations_of(const job_report *job)
{
    size_t count = 0;
    for (size_t i = 0; i < job->finding_count; i++)
        count += job->findings[i].severity >= SEVERITY_WATCH;
    return count;
}

// ---- tests ----

static void pressure_of_the_fabric_accuses_no_single_nic(void **state)
{
    (void)state;
    scene s = quiet;
    s.node = EVERYBODY;
    s.held = 0.3;
    s.sent = 0.7;
    job_report job = report_of(&s);
    assert_string_equal(job.title,
                        "All 32 NICs of 8 nodes: transmit blocked by the network 30.0 % of the time for 60 s");
    const job_finding *x = &job.findings[0];
    assert_string_equal(x->rule, "nic-paused");
    expect_in(x->claim, "congestion in the fabric or at receivers");
    expect_in(x->claim, "all 8 nodes sent ");
    assert_int_equal(x->nodes, 8);
    assert_int_equal(x->devices, 32);
    assert_int_equal(x->node, JOB_NONE); // who reads the JSON drains no node for it
    assert_int_equal(x->device, JOB_NONE);
    assert_true(fabs(x->cost_s - 18) < 0.1); // blocked, of 60 s
    assert_true(isnan(x->lost_s));
    expect_nowhere(&job, "slowed");
    expect_nowhere(&job, "n1");
    assert_null(finding_of(&job, "egress-paused")); // the same, of the whole time
    for (size_t i = 0; i < job.node_count; i++)
        assert_int_equal(job.nodes[i].severity, SEVERITY_HIGH);
    job_report_free(&job);
}

static void a_nic_that_is_held_is_the_victim(void **state)
{
    (void)state;
    scene s = quiet;
    s.node = 0;
    s.held = 0.44;
    s.sent = 0.64;
    job_report job = report_of(&s);
    assert_string_equal(job.title,
                        "n1\u2019s NIC 1 (cxi0): transmit blocked by the network 44.0 % of the time for 60 s");
    const job_finding *x = &job.findings[0];
    expect_in(x->claim, "; all 8 nodes sent ");
    expect_in(x->claim, " % less meanwhile");
    assert_true(fabs(x->sent_ratio - 0.64) < 0.01);
    expect_in(x->advice, "not at its host");
    assert_true(isnan(x->lost_s)); // nobody knows
    assert_true(fabs(x->cost_s - 0.44 * 60) < 0.1);
    expect_nowhere(&job, "slowed");
    expect_nowhere(&job, "was lost");
    job_report_free(&job);
}

// With and without a sign that the program paused by itself.
static void a_checkpoint_is_no_loss(void **state)
{
    (void)state;
    for (int pass = 0; pass < 2; pass++) {
        scene s = quiet;
        s.node = 2;
        s.nic = 1;
        s.held = 0.44;
        s.sent = 0.19;
        if (pass == 0) s.written = 5e9;
        if (pass == 1) s.cpu = 0.1;
        job_report job = report_of(&s);
        const job_finding *x = finding_of(&job, "nic-paused");
        assert_non_null(x);
        assert_int_equal(x->severity, SEVERITY_INFO);
        assert_int_equal(accusations_of(&job), 0);
        assert_true(x->lost_s <= 0);
        expect_in(x->claim, "the program seems to have paused by itself, and nothing is counted as lost");
        expect_in(x->claim, pass ? " and used its CPUs " : " GB/s a node instead of 1.00 MB/s");
        expect_in(job.title, "No fault found");
        expect_nowhere(&job, "slowed");
        job_report_free(&job);
    }
}

// 8 % of one NIC's time do not make 32 NICs lose 20 %.
static void a_loss_has_a_plausible_size(void **state)
{
    (void)state;
    scene s = quiet;
    s.node = s.damaged = 0;
    s.held = 0.08;
    s.sent = 0.8;
    job_report job = report_of(&s);
    const job_finding *x = finding_of(&job, "nic-paused");
    assert_non_null(x);
    assert_true(isnan(x->lost_s));
    expect_nowhere(&job, "slowed");
    job_report_free(&job);
}

static void a_damaged_link_is_the_cause(void **state)
{
    (void)state;
    scene s = quiet;
    s.node = s.damaged = 0;
    s.held = 0.44;
    s.sent = 0.64;
    job_report job = report_of(&s);
    const job_finding *cause = &job.findings[0], *x = finding_of(&job, "nic-paused");
    assert_string_equal(cause->rule, "uncorrected-codewords");
    assert_string_equal(job.nodes[cause->node].name, "n1");
    expect_in(job.title, "n1 cxi0: 1200 codewords could not be corrected");
    expect_in(cause->claim, "3:00-4:00 its NIC was transmit blocked by the network 44.0 % of the time");
    expect_in(cause->claim, "all 8 nodes sent ");
    assert_string_equal(x->explained_by, "uncorrected-codewords");
    expect_in(x->claim, "its link damaged 1200 codewords in that time");
    assert_true(fabs(x->lost_s - 0.36 * 60) < 0.5);
    job_report_free(&job);
}

// The same damage, in the same minute, but on another node.
static void damage_of_another_node_explains_nothing(void **state)
{
    (void)state;
    scene s = quiet;
    s.node = 0;
    s.damaged = 1; // another node's
    s.held = 0.44;
    s.sent = 0.64;
    job_report job = report_of(&s);
    const job_finding *x = finding_of(&job, "nic-paused");
    assert_string_equal(x->explained_by, "");
    expect_nowhere(&job, "slowed");
    job_report_free(&job);
}

// n5 drains slowly, and all others are held: n5 comes first, and they are explained by it.
static void a_host_that_drains_slowly_is_the_cause(void **state)
{
    (void)state;
    scene s = quiet;
    s.node = 0;
    s.held = 0.5;
    s.holder = 4;
    s.holding = 0.4;
    s.sent = 0.64;
    job_report job = report_of(&s);
    const job_finding *cause = &job.findings[0], *x = finding_of(&job, "nic-paused");
    assert_string_equal(cause->rule, "nic-holding");
    assert_string_equal(job.nodes[cause->node].name, "n5");
    assert_string_equal(job.title,
                        "n5\u2019s NIC 1 (cxi0) slowed all 8 nodes for 60 s: receive blocked 40.0 % of the time");
    expect_in(cause->claim, ": this host drains slowly");
    assert_true(fabs(cause->lost_s - 0.36 * 60) < 0.5);
    assert_string_equal(x->explained_by, "nic-holding");
    expect_in(x->claim, "n5 NIC 1 (cxi0) was receive blocked in that time");
    assert_true(isnan(x->lost_s));
    expect_in(job.notes[1].text, "of work was lost");
    assert_null(finding_of(&job, "ingress-paused"));
    job_report_free(&job);
}

// Who is held only after the others had slowed down slowed nobody.
static void a_cause_comes_first(void **state)
{
    (void)state;
    scene s = quiet;
    s.node = s.damaged = 0;
    s.held = 0.44;
    s.early_s = -15;
    s.sent = 0.64;
    job_report job = report_of(&s);
    const job_finding *x = finding_of(&job, "nic-paused");
    assert_non_null(x);
    assert_true(isnan(x->lost_s));
    expect_nowhere(&job, "slowed");
    job_report_free(&job);
}

static void work_that_slowed_on_a_clean_network(void **state)
{
    (void)state;
    scene s = quiet;
    s.sent = 0.65;
    job_report job = report_of(&s);
    const job_finding *x = finding_of(&job, "work-slowed");
    assert_non_null(x);
    assert_int_equal(x->severity, SEVERITY_INFO);
    assert_int_equal(accusations_of(&job), 0);
    assert_true(fabs(x->from_s - FROM) <= 2 && fabs(x->to_s - TO) <= 2);
    assert_true(fabs(x->sent_ratio - 0.65) < 0.02);
    expect_in(job.title, "Work slowed 3:00-4:00 and the network was clean");
    expect_in(x->claim, "all 8 nodes sent ");
    expect_in(x->claim, "no NIC was blocked");
    assert_null(strstr(job.title, "No fault found"));
    job_report_free(&job);
}

// A checkpoint, a program's own rhythm, and a network that was not clean are something else.
static void what_is_no_slow_stretch(void **state)
{
    (void)state;
    scene scenes[4] = {quiet, quiet, quiet, quiet};
    scenes[0].sent = 0.19;
    scenes[0].written = 5e9;
    scenes[1].sent = 0.9;
    scenes[2].sent = 0.65;
    scenes[2].node = EVERYBODY;
    scenes[2].held = 0.3;
    for (size_t i = 0; i < COUNT(scenes); i++) {
        job_report job = report_of(&scenes[i]);
        assert_null(finding_of(&job, "work-slowed"));
        job_report_free(&job);
    }
}

// A node of four GPUs that are as busy as each other; from 200 s on the third is at another clock, and draws other power.
typedef struct gpu_scene {
    double busy; // percent
    double mhz, watts;
    severity said; // of the GPU alone; SEVERITY_OK: nothing is
    const char *claim;
    double slowed_s; // it says that heat slowed it, from 200 s on for so long
} gpu_scene;

static void record_gpus(const gpu_scene *s)
{
    const char *const facts[] = {"job_id", "17", NULL};
    node_shape shape = {.name = "n1", .nics = -1, .gpus = 4, .gpu_clock = true, .interval_s = 10, .facts = facts};
    node_file f = node_open(tree_path(tree, "n1.netprof"), &shape);
    for (int t = 0; t <= 400; t += 10) {
        for (int i = 0; i < 4; i++) {
            char name[16];
            bool odd = i == 2 && t >= 200;
            snprintf(name, sizeof name, "gpu%d", i);
            node_set(&f, name, "busy", s->busy);
            node_set(&f, name, "clock", (odd ? s->mhz : 1980) + (t / 10 + i) % 3 * 15);
            if (i == 2 && t > 200 && t <= 200 + s->slowed_s) node_add(&f, name, "throttled_thermal", 10e6);
            node_add(&f, name, "energy", ((odd ? s->watts : 400) + (t / 10 + i) % 3 * 5) * 10e6);
        }
        node_take(&f, t);
    }
    node_close(&f);
}

static void a_gpu_at_another_clock(void **state)
{
    static const gpu_scene scenes[] = {
        {90, 1200, 400, SEVERITY_WATCH, "n1 GPU 3 (gpu2) alone ran at 1.2", 0}, // held back: the one unlike its peers
        {90, 1980, 150, SEVERITY_INFO, "n1 GPU 3 (gpu2) alone drew 15", 0},     // busy, but waiting, or with less to do
        {90, 1200, 150, SEVERITY_WATCH, "n1 GPU 3 (gpu2) alone ran at 1.2", 0}, // said once
        {5, 300, 60, SEVERITY_OK, "", 0},                                       // idle GPUs clock down as they like
        {90, 1980, 400, SEVERITY_OK, "", 0},
        {90, 1200, 400, SEVERITY_INFO, "n1 GPU 3 (gpu2) alone ran at 1.2", 150}, // why is told: one event is one line
        {90, 1200, 400, SEVERITY_WATCH, "n1 GPU 3 (gpu2) alone ran at 1.2", 50}, // it was at that clock for far longer
    };
    (void)state;
    for (size_t i = 0; i < COUNT(scenes); i++) {
        record_gpus(&scenes[i]);
        job_report job = report_of_tree(NULL);
        const job_finding *x = finding_of(&job, "gpu-peers");
        assert_int_equal(x != NULL, scenes[i].said != SEVERITY_OK);
        if (x) {
            assert_int_equal(x->severity, scenes[i].said);
            assert_int_equal(strncmp(x->claim, scenes[i].claim, strlen(scenes[i].claim)), 0);
            assert_true(x->from_s >= 180 && x->from_s <= 220); // within two windows
            assert_int_equal(strstr(x->claim, "that it was slowed explains it") != NULL, scenes[i].slowed_s == 150);
        }
        size_t said = 0;
        for (size_t k = 0; k < job.finding_count; k++)
            said += strcmp(job.findings[k].rule, "gpu-peers") == 0;
        assert_int_equal(said, scenes[i].said != SEVERITY_OK);
        job_report_free(&job);
    }
}

// Of 121 samples 60 windows are made, of so many samples each: windows that share a sample, as 64 would, make what one
// sample has by chance look as if it had lasted. Where one begins is to be seen by when a finding begins.
static void windows_share_no_sample(void **state)
{
    const char *const facts[] = {"job_id", "17", NULL};
    node_shape shape = {.name = "n1", .nics = -1, .gpus = 4, .gpu_clock = true, .interval_s = 1, .facts = facts};
    (void)state;
    node_file f = node_open(tree_path(tree, "n1.netprof"), &shape);
    for (int t = 0; t <= 121; t++) {
        for (int i = 0; i < 4; i++) {
            char name[16];
            snprintf(name, sizeof name, "gpu%d", i);
            node_set(&f, name, "busy", 90);
            node_set(&f, name, "clock", (i == 2 && t > 40 && t <= 60 ? 300 : 1980) + (t + i) % 3 * 15);
        }
        node_take(&f, t);
    }
    node_close(&f);
    job_report job = report_of_tree(NULL);
    const job_finding *x = finding_of(&job, "gpu-peers");
    assert_non_null(x);
    assert_true(fabs(x->from_s - 20 * 121. / 60) < 1e-3);
    job_report_free(&job);
}

// Nodes of no job, on each of which the same NIC sends four times as much as the others: that is how they are wired or set,
// said once. Of one node that alone does so it is said of its NIC.
static void the_same_nic_of_every_node_is_meant_so(void **state)
{
    (void)state;
    for (int nodes_like_that = 1; nodes_like_that <= 5; nodes_like_that += 4) {
        for (int node = 0; node < 5; node++) {
            char name[16], file[32], nic[16];
            snprintf(name, sizeof name, "n%d", node + 1);
            snprintf(file, sizeof file, "n%d.netprof", node + 1);
            node_shape shape = {.name = name, .parts = NODE_CPU, .nics = 4, .interval_s = 1};
            node_file f = node_open(tree_path(tree, file), &shape);
            for (int t = 0; t <= SECONDS; t++) {
                node_take(&f, t);
                for (int i = 0; i < 4; i++) {
                    snprintf(nic, sizeof nic, "cxi%d", i);
                    bool more = i == 1 && node < nodes_like_that;
                    node_add(&f, nic, "hni_sts_tx_ok_octets", more ? 4e9 : 1e9);
                }
            }
            node_close(&f);
        }
        job_report job = report_of_tree(&built_in);
        size_t said = 0;
        for (size_t i = 0; i < job.finding_count; i++) {
            const job_finding *x = &job.findings[i];
            if (!strstr(x->claim, "cxi1")) continue;
            said++;
            if (nodes_like_that == 1) {
                expect_in(x->claim, "n1");
                continue;
            }
            expect_in(x->claim, "(cxi1) of 5 nodes moved more than its node's other NICs: it may be meant so");
            assert_int_equal(x->severity, SEVERITY_INFO);
            assert_int_equal(x->nodes, 5);
            assert_true(fabs(x->value - 4) < 1e-6);
        }
        assert_int_equal(said, 1);
        if (nodes_like_that == 5) assert_int_equal(accusations_of(&job), 0);
        job_report_free(&job);
    }
}

// Two of the four NICs of one node move half of what the others do, on five nodes: both are counted and that node is named, and
// none is said to stand alone; all four of them are the node, of which the same is said. One that does less and one that does more
// (-2) have nothing in common: one of them is told.
static void several_nics_of_one_node(void **state)
{
    (void)state;
    for (int odd = -2; odd <= 4; odd += odd < 0 ? 4 : 2) {
        for (int node = 0; node < 5; node++) {
            char name[16], file[32], nic[16];
            snprintf(name, sizeof name, "n%d", node + 1);
            snprintf(file, sizeof file, "n%d.netprof", node + 1);
            node_shape shape = {.name = name, .parts = NODE_CPU, .nics = 4, .interval_s = 1};
            node_file f = node_open(tree_path(tree, file), &shape);
            for (int t = 0; t <= SECONDS; t++) {
                node_take(&f, t);
                for (int i = 0; i < 4; i++) {
                    snprintf(nic, sizeof nic, "cxi%d", i);
                    double apart = node == 2 && i < abs(odd) ? odd < 0 && i == 1 ? 8e9 : 2e9 : 4e9;
                    double share = 1 + 0.02 * ((3 * t + 5 * i + 7 * node) % 5 - 2);
                    node_add(&f, nic, "hni_sts_tx_ok_octets", apart * share);
                }
            }
            node_close(&f);
        }
        job_report job = report_of_tree(&built_in);
        const job_finding *x = finding_of(&job, odd == 4 ? "node-peers" : "nic-peers");
        assert_non_null(x);
        if (odd < 0) {
            expect_in(x->claim, " alone moved ");
            job_report_free(&job);
            continue;
        }
        for (size_t i = 0; i < job.finding_count; i++)
            assert_true(odd == 4 || !strstr(job.findings[i].claim, " alone "));
        if (odd == 2) {
            expect_in(x->claim, "2 of 4 NICs of n3 moved about 2.00 GB/s: NIC 1 (cxi0), NIC 2 (cxi1); the same ones of "
                                "the 4 other nodes about 4.00 GB/s");
            assert_int_equal(x->devices, 2);
        } else {
            expect_in(x->claim, "n3 alone moved 8");
            assert_null(finding_of(&job, "nic-peers"));
        }
        assert_true(fabs(x->value - 0.5) < 0.02);
        job_report_free(&job);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_same_nic_of_every_node_is_meant_so),
        TEST(several_nics_of_one_node),
        TEST(pressure_of_the_fabric_accuses_no_single_nic),
        TEST(a_nic_that_is_held_is_the_victim),
        TEST(a_checkpoint_is_no_loss),
        TEST(a_loss_has_a_plausible_size),
        TEST(a_damaged_link_is_the_cause),
        TEST(damage_of_another_node_explains_nothing),
        TEST(a_host_that_drains_slowly_is_the_cause),
        TEST(a_cause_comes_first),
        TEST(work_that_slowed_on_a_clean_network),
        TEST(what_is_no_slow_stretch),
        TEST(a_gpu_at_another_clock),
        TEST(windows_share_no_sample),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
