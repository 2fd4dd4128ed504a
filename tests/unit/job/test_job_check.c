// netprof check and netprof job say the same: what the samples tell joins the findings of the ends.
#define _GNU_SOURCE
#include "netprof.h"

#include "builtin_rules.h"
#include "job_cluster.h"

#include "analysis/base/memory.h"
#include "analysis/job/job_check.h"
#include "finding_claims.h"

// n1's cxi0, or every NIC, is held for 44 % of the fourth of five minutes, and all nodes send less; or nothing happens, or
// n1's NICs may not be read.
static bool all_are_held;

static void record_node(int node, bool held, bool denied)
{
    char name[16], file[32];
    snprintf(name, sizeof name, "n%d", node);
    snprintf(file, sizeof file, "n%d.netprof", node);
    node_file f = node_open(tree_path(tree, file), &(node_shape){.name = name, .parts = NODE_CPU, .interval_s = 1});
    for (size_t i = 0; denied && i < f.x.schema->counter_count; i++)
        if (strcmp(f.x.schema->devices[f.x.schema->counters[i].device].source, "cxi") == 0)
            f.x.status[i] = NETPROF_STATUS_DENIED;
    for (int t = 0; t <= 300; t++) {
        bool then = held && t >= 180 && t < 240;
        node_take(&f, t);
        node_add(&f, "cxi0", "hni_sts_tx_ok_octets", then ? 3.2e9 : 5e9);
        node_add(&f, "cxi1", "hni_sts_tx_ok_octets", then ? 3.2e9 : 5e9);
        node_add(&f, "cxi0", "hni_tx_paused_0", then && (node == 1 || all_are_held) ? 0.44e9 : 0);
        node_add(&f, "cxi1", "hni_tx_paused_0", then && all_are_held ? 0.44e9 : 0);
        node_add(&f, "cpu", "user", 3.9e6);
        node_add(&f, "cpu", "idle", 0.1e6);
    }
    node_close(&f);
}

// One node, as netprof check judges it.
typedef struct checked {
    dataset data;
    difference d;
    findings f;
    job_check added;
} checked;

static void check_node(checked *c, const char *file, const job_report *job, size_t node)
{
    dataset_options how = {.ends_only = 1};
    assert_int_equal(dataset_read(&c->data, tree_path(tree, file), &how, NULL), NETPROF_OK);
    assert_int_equal(difference_of_dataset(&c->d, &c->data, false, NULL), NETPROF_OK);
    findings_make(&c->f, &c->d, &built_in);
    finding_claims_check(&c->f);
    assert_int_equal(job_check_node(job, &c->data.runs[0]), node);
    job_check_add(&c->added, &c->f, job, node, &built_in);
}

static void free_checked(checked *c)
{
    findings_free(&c->f);
    job_check_free(&c->added);
    difference_free(&c->d);
    dataset_free(&c->data);
}

// ---- tests ----

// 44 % of one minute of five is 8.8 % of the whole: the ends alone would warn, and not say when.
static void an_incident_is_a_finding_of_check(void **state)
{
    (void)state;
    record_node(1, true, false);
    record_node(2, true, false);
    job_report job = report_of_tree(&built_in);
    checked one = {0}, other = {0};
    assert_string_equal(job.findings[0].rule, "nic-paused");
    check_node(&one, "n1.netprof", &job, 0);
    assert_int_equal(one.f.severity, job.severity);
    assert_string_equal(one.f.items[0].rule->name, "nic-paused");
    assert_string_equal(one.f.items[0].claim, job.findings[0].claim);
    assert_string_equal(finding_device(&one.f, &one.f.items[0]), "cxi0");
    assert_string_equal(one.f.items[0].rule->class_name, "congestion");
    assert_non_null(strstr(one.f.verdict, "3:00-4:00"));
    // The rule about the whole time is told by the incident.
    for (size_t i = 0; i < one.f.count; i++)
        if (strcmp(one.f.items[i].rule->name, "egress-paused") == 0)
            assert_int_equal(one.f.items[i].severity, SEVERITY_INFO);
    json_object *o = findings_json(&one.f);
    assert_non_null(o);
    json_object_put(o);
    check_node(&other, "n2.netprof", &job, 1);
    assert_true(other.f.severity < SEVERITY_UNKNOWN);
    free_checked(&one);
    free_checked(&other);
    job_report_free(&job);
}

// What all have is no single node's and no single NIC's.
static void what_all_have_accuses_none(void **state)
{
    (void)state;
    all_are_held = true;
    record_node(1, true, false);
    record_node(2, true, false);
    all_are_held = false;
    job_report job = report_of_tree(&built_in);
    checked one = {0};
    json_object *list = NULL, *value;
    check_node(&one, "n1.netprof", &job, 0);
    assert_string_equal(one.f.items[0].rule->name, "nic-paused");
    assert_int_equal(one.f.items[0].of_nodes, 2);
    assert_int_equal(one.f.items[0].of_devices, 4);
    assert_null(strstr(one.f.verdict, "cxi"));
    json_object *o = findings_json(&one.f);
    assert_true(json_object_object_get_ex(o, "findings", &list));
    json_object *first = json_object_array_get_idx(list, 0);
    assert_true(json_object_object_get_ex(first, "device", &value) && !value);
    assert_true(json_object_object_get_ex(first, "device_count", &value));
    assert_int_equal(json_object_get_int(value), 4);
    json_object_put(o);
    free_checked(&one);
    job_report_free(&job);
}

// What a table's rule found at the ends and the job tells, too, stays as bad as it is.
static void a_finding_of_the_table_stays(void **state)
{
    (void)state;
    for (int node = 1; node <= 2; node++) {
        char name[16], file[32];
        snprintf(name, sizeof name, "n%d", node);
        snprintf(file, sizeof file, "n%d.netprof", node);
        node_file f = node_open(tree_path(tree, file), &(node_shape){.name = name, .parts = NODE_CPU, .interval_s = 1});
        for (int t = 0; t <= 100; t++) {
            node_take(&f, t);
            node_add(&f, "cxi0", "hni_sts_tx_ok_octets", 5e9);
            node_add(&f, "cxi1", "hni_sts_tx_ok_octets", 5e9);
            if (node == 1) node_add(&f, "cxi1", "hni_pcs_uncorrected_cw", 50);
        }
        node_close(&f);
    }
    job_report job = report_of_tree(&built_in);
    checked one = {0}, other = {0};
    const job_finding *told = finding_of(&job, "uncorrected-codewords");
    assert_non_null(told);
    assert_true(told->severity >= SEVERITY_WATCH);
    check_node(&one, "n1.netprof", &job, 0);
    check_node(&other, "n2.netprof", &job, 1);
    assert_int_equal(one.f.severity, job.severity);
    assert_string_equal(one.f.items[0].rule->name, "uncorrected-codewords");
    assert_int_equal(one.f.items[0].severity, told->severity);
    assert_string_equal(finding_device(&one.f, &one.f.items[0]), "cxi1");
    assert_true(other.f.severity < SEVERITY_UNKNOWN);
    free_checked(&one);
    free_checked(&other);
    job_report_free(&job);
}

// Lost data outrank what is only watched, and no good sign contradicts them by a word that fits both.
static void lost_data_come_first(void **state)
{
    (void)state;
    node_file f =
        node_open(tree_path(tree, "n1.netprof"), &(node_shape){.name = "n1", .parts = NODE_CPU, .interval_s = 1});
    for (int t = 0; t <= 100; t++) {
        node_take(&f, t);
        node_add(&f, "cxi0", "hni_sts_tx_ok_octets", 5e9);
        node_add(&f, "cxi1", "hni_sts_tx_ok_octets", 5e9);
        node_add(&f, "cxi1", "pct_retry_srb_requests", 1);
        node_add(&f, "cxi0", "hni_pcs_uncorrected_cw", 20);
    }
    node_close(&f);
    job_report job = report_of_tree(&built_in);
    assert_true(job.finding_count >= 1);
    assert_string_equal(job.findings[0].rule, "uncorrected-codewords");
    assert_non_null(strstr(job.title, "could not be corrected"));
    for (size_t i = 0; i < job.note_count; i++)
        if (job.notes[i].severity == SEVERITY_OK) assert_null(strstr(job.notes[i].text, "codeword"));
    // Rows of events are called by the rules' plain words, and what no rule judges alone by none.
    int named = 0;
    for (size_t i = 0; i < job.event_count; i++)
        if (strcmp(job.events[i].counter, "hni_pcs_uncorrected_cw") == 0) {
            assert_string_equal(job.events[i].words, "Damaged beyond repair");
            named++;
        } else if (strcmp(job.events[i].counter, "pct_retry_srb_requests") == 0) {
            assert_string_equal(job.events[i].words, "Requests sent again");
            named++;
        }
    assert_int_equal(named, 2);
    job_report_free(&job);
}

// n1's cxi1 damages 50 codewords a second. NICs of the others damage so many, or may not be read.
typedef struct three_nodes {
    double damaged[4]; // n2's cxi0 and cxi1, n3's; NAN: may not be read
    const char *tail;
} three_nodes;

static void record_three(const three_nodes *x)
{
    for (int node = 1; node <= 3; node++) {
        char name[16], file[32];
        snprintf(name, sizeof name, "n%d", node);
        snprintf(file, sizeof file, "n%d.netprof", node);
        node_file f = node_open(tree_path(tree, file), &(node_shape){.name = name, .parts = NODE_CPU, .interval_s = 1});
        for (int nic = 0; nic < 2; nic++)
            if (node > 1 && isnan(x->damaged[2 * (node - 2) + nic]))
                node_status(&f, nic ? "cxi1" : "cxi0", "hni_pcs_uncorrected_cw", NETPROF_STATUS_DENIED);
        for (int t = 0; t <= 100; t++) {
            node_take(&f, t);
            for (int nic = 0; nic < 2; nic++) {
                const char *device = nic ? "cxi1" : "cxi0";
                double damaged = node > 1 ? x->damaged[2 * (node - 2) + nic] : nic ? 50 : 0;
                node_add(&f, device, "hni_sts_tx_ok_octets", 5e9);
                node_add(&f, device, "hni_pcs_uncorrected_cw", isnan(damaged) ? 0 : damaged);
            }
        }
        node_close(&f);
    }
}

// That no other node has a fault is said where it is known of all their devices.
static void what_the_other_nodes_have(void **state)
{
    static const three_nodes rows[] = {
        {{0, 0, 0, 0}, "; its peer 0; none on the 2 other nodes"},
        {{0, 0, 0, NAN}, "; its peer 0"},
        {{NAN, 0, 0, 0}, "; its peer 0"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        record_three(&rows[i]);
        job_report job = report_of_tree(&built_in);
        const job_finding *x = finding_of(&job, "uncorrected-codewords");
        assert_non_null(x);
        assert_int_equal(x->nodes, 1);
        size_t size = strlen(x->claim), tail = strlen(rows[i].tail);
        if (size < tail || strcmp(x->claim + size - tail, rows[i].tail) != 0) fail_msg("row %zu: %s", i, x->claim);
        job_report_free(&job);
    }
}

// No table has a rule about clocks: what the samples tell of a GPU among those that are alike, check says, too.
static void a_gpu_at_another_clock(void **state)
{
    const char *const facts[] = {"job_id", "17", NULL};
    (void)state;
    node_file f = node_open(
        tree_path(tree, "n1.netprof"),
        &(node_shape){.name = "n1", .nics = -1, .gpus = 4, .gpu_clock = true, .interval_s = 10, .facts = facts});
    for (int t = 0; t <= 400; t += 10) {
        for (int i = 0; i < 4; i++) {
            char name[16];
            snprintf(name, sizeof name, "gpu%d", i);
            node_set(&f, name, "busy", 90);
            node_set(&f, name, "clock", (i == 2 && t >= 200 ? 1200 : 1980) + (t / 10 + i) % 3 * 15);
        }
        node_take(&f, t);
    }
    node_close(&f);
    job_report job = report_of_tree(&built_in);
    checked one = {0};
    check_node(&one, "n1.netprof", &job, 0);
    assert_int_equal(job.severity, SEVERITY_WATCH);
    assert_string_equal(job.findings[0].rule, "gpu-peers");
    assert_non_null(strstr(job.findings[0].claim, "GPU 3 (gpu2) alone ran at 1.2"));
    assert_int_equal(one.f.severity, job.severity);
    assert_string_equal(one.f.items[0].rule->name, "gpu-peers");
    assert_string_equal(one.f.items[0].claim, job.findings[0].claim);
    assert_string_equal(finding_device(&one.f, &one.f.items[0]), "gpu2");
    free_checked(&one);
    job_report_free(&job);
}

static void nothing_stays_nothing(void **state)
{
    (void)state;
    record_node(1, false, false);
    job_report job = report_of_tree(&built_in);
    checked one = {0};
    check_node(&one, "n1.netprof", &job, 0);
    assert_true(job.severity < SEVERITY_UNKNOWN);
    assert_true(one.f.severity < SEVERITY_UNKNOWN);
    assert_non_null(strstr(one.f.verdict, "No fault found"));
    free_checked(&one);
    job_report_free(&job);
}

static void what_could_not_be_judged(void **state)
{
    (void)state;
    record_node(1, false, true);
    job_report job = report_of_tree(&built_in);
    checked one = {0};
    check_node(&one, "n1.netprof", &job, 0);
    assert_int_equal(one.f.severity, SEVERITY_UNKNOWN);
    assert_int_equal(job.severity, SEVERITY_UNKNOWN);
    assert_string_equal(job.findings[0].rule, "not-judged");
    assert_null(strstr(job.title, "No fault found"));
    assert_non_null(strstr(job.title, "n1: could not be judged"));
    free_checked(&one);
    job_report_free(&job);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_incident_is_a_finding_of_check),
        TEST(what_all_have_accuses_none),
        TEST(a_finding_of_the_table_stays),
        TEST(lost_data_come_first),
        TEST(what_the_other_nodes_have),
        TEST(a_gpu_at_another_clock),
        TEST(nothing_stays_nothing),
        TEST(what_could_not_be_judged),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
