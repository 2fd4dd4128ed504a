// What a job's NICs moved beside what its layers say they sent: sums by node and by layer, and every sentence whole.
#define _GNU_SOURCE
#include "netprof.h"

#include "support.h"

#include "analysis/base/stb_ds.h"
#include "analysis/job/bytes/job_explained.h"
#include "analysis/peers/pairs.h"

#include <math.h>

enum { NODES = 3 };

// A job of three nodes "n1" to "n3" on hosts "h1" to "h3", whose NICs sent and received what a test says. Start with job_of().
typedef struct job {
    job_report report;
    job_node nodes[NODES];
    job_lane sent[NODES], received[NODES];
} job;

static void job_of(job *j, const double *sent, const double *received)
{
    static char *const names[NODES] = {"n1", "n2", "n3"}, *const hosts[NODES] = {"h1", "h2", "h3"};
    *j = (job){.report = {.begin_ns = 1000000000, .end_s = 10, .nodes = j->nodes, .node_count = NODES}};
    for (size_t i = 0; i < NODES; i++) {
        j->sent[i] = (job_lane){.meter = JOB_SENT, .total = sent[i]};
        j->received[i] = (job_lane){.meter = JOB_RECEIVED, .total = received[i]};
        j->nodes[i] = (job_node){.name = names[i], .host = hosts[i], .end_s = 10};
        j->nodes[i].lanes[JOB_SENT] = &j->sent[i];
        j->nodes[i].lanes[JOB_RECEIVED] = &j->received[i];
    }
}

// A layer with one place on each of the nodes of these names.
static pairs layer_of(const char *layer, const char *const *names, size_t count)
{
    pairs p = {.layer = layer};
    for (size_t i = 0; i < count; i++)
        pairs_add_place(&p, "rank", pairs_add_node(&p, names[i]));
    return p;
}

static void sends(pairs *p, uint32_t from, uint32_t to, uint64_t bytes)
{
    pairs_add(p, &(pairs_cell){.sender = from, .receiver = to, .bytes = bytes, .messages = 1});
}

// The text, or NULL; and everything is given back.
static void expect_text(job *j, pairs *layers, size_t count, const char *expected)
{
    const pairs *list[4];
    for (size_t i = 0; i < count; i++)
        list[i] = &layers[i];
    job_explain(&j->report, list, count);
    const char *text = j->report.explained.text;
    if (!text != !expected) fail_msg("%s", text ? text : "nothing was said");
    if (expected) assert_string_equal(text, expected);
    job_explained_free(&j->report.explained);
    assert_null(j->report.explained.text);
}

static const char *const both[] = {"n1", "n2"}, *const by_any_name[] = {"n3", "h1", "n2", "n1"};
static const double sent[NODES] = {1100, 650, 4000}, received[NODES] = {600, 1200, 5000};

// n1 sends 1000 to n2 and gets 500; 60 stay on n1.
static pairs usual_layer(void)
{
    pairs p = layer_of("MPI", both, 2);
    sends(&p, 0, 1, 1000);
    sends(&p, 1, 0, 500);
    sends(&p, 0, 0, 60);
    pairs_finish(&p);
    return p;
}

// ---- tests ----

// Two layers whose nodes have another order than the job's, one by its host's name as well as by its own.
static void sums_of_two_layers(void **state)
{
    job j;
    pairs layers[3] = {layer_of("MPI", by_any_name, 4), layer_of("NCCL", both, 2), layer_of("more", both, 2)};
    const pairs *list[] = {&layers[0], &layers[1], &layers[2]};
    const job_explained *e = &j.report.explained;
    (void)state;
    sends(&layers[0], 0, 1, 1);  // n3 to h1
    sends(&layers[0], 1, 2, 2);  // h1 to n2
    sends(&layers[0], 3, 2, 4);  // n1 to n2
    sends(&layers[0], 2, 3, 8);  // n2 to n1
    sends(&layers[0], 2, 2, 16); // within n2
    sends(&layers[1], 0, 1, 32);
    sends(&layers[1], 1, 0, 64);
    sends(&layers[1], 1, 1, 128);
    sends(&layers[2], 0, 1, 256); // a third layer has no place
    layers[0].outside_bytes = 1000;
    layers[1].outside_bytes = 2000;
    layers[0].together_bytes = 10000;
    layers[1].together_bytes = 20000;
    for (size_t i = 0; i < 3; i++)
        pairs_finish(&layers[i]);
    layers[1].at_least = true;
    job_of(&j, sent, received);
    j.received[1].lower_bound = true;
    job_explain(&j.report, list, 3);
    assert_int_equal(e->layer_count, 2);
    assert_string_equal(e->layers[0], "MPI");
    assert_string_equal(e->layers[1], "NCCL");
    assert_false(e->at_least[0]);
    assert_true(e->at_least[1]);
    assert_int_equal(e->node_count, 3);
    const job_explained_node expected[] = {{0, 1100, 600, false, {2 + 4, 32}, {1 + 8, 64}},
                                           {1, 650, 1200, true, {8, 64}, {2 + 4, 32}},
                                           {2, 4000, 5000, false, {1, 0}, {0, 0}}};
    for (size_t i = 0; i < e->node_count; i++) {
        const job_explained_node *x = &e->nodes[i], *y = &expected[i];
        assert_int_equal(x->node, y->node);
        assert_true(fabs(x->nic_sent - y->nic_sent) < 1e-9 && fabs(x->nic_received - y->nic_received) < 1e-9);
        assert_int_equal(x->lower_bound, y->lower_bound);
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(x->sent[k], y->sent[k]);
            assert_int_equal(x->received[k], y->received[k]);
        }
    }
    assert_true(fabs(e->nic_sent - 5750) < 1e-9 && fabs(e->nic_received - 6800) < 1e-9);
    assert_int_equal(e->sent[0], 15);
    assert_int_equal(e->received[0], 15);
    assert_int_equal(e->sent[1], 96);
    assert_int_equal(e->received[1], 96);
    assert_int_equal(e->within, 16 + 128);
    assert_int_equal(e->outside, 3000);
    assert_int_equal(e->together, 30000);
    assert_true(e->lower_bound);
    assert_false(e->partial);
    assert_false(e->is_virtual);
    job_explained_free(&j.report.explained);
    assert_int_equal(e->node_count, 0);
    for (size_t i = 0; i < 3; i++)
        pairs_free(&layers[i]);
}

static void what_the_rest_may_be(void **state)
{
    job j;
    pairs layers[2] = {usual_layer(), {.layer = "NCCL", .unknown = true}};
    (void)state;
    job_of(&j, sent, received);
    expect_text(&j, layers, 1,
                "the NICs of 2 nodes sent 1.75 kB; the messages of MPI to other nodes are 1.50 kB (85.7 %). The rest, "
                "250 B: headers, acknowledgements, what was sent again, and what else used these nodes. Within nodes, "
                "past the NICs: 60 B.");
    layers[0].outside_bytes = 70;
    layers[0].together_bytes = 2000;
    expect_text(&j, layers, 2,
                "the NICs of 2 nodes sent 1.75 kB; the messages of MPI to other nodes are 1.50 kB (85.7 %). The rest, "
                "250 B: headers, acknowledgements, what was sent again, collectives (given 2.00 kB; which way these "
                "went is not known), what NCCL sent (the steps of its transfers were not recorded), messages to ranks "
                "without a file, and what else used these nodes. Within nodes, past the NICs: 60 B.");
    layers[0].outside_bytes = layers[0].together_bytes = 0;
    j.received[1].lower_bound = true; // they moved more
    expect_text(&j, layers, 1,
                "the NICs of 2 nodes sent \u2265 1.75 kB; the messages of MPI to other nodes are 1.50 kB (\u2264 85.7 "
                "%). The rest, \u2265 250 B: headers, acknowledgements, what was sent again, and what else used these "
                "nodes. Within nodes, past the NICs: 60 B.");
    layers[0].at_least = true; // the messages as well: of two bounds there is no share
    expect_text(&j, layers, 1,
                "the NICs of 2 nodes sent \u2265 1.75 kB; the messages of MPI to other nodes are \u2265 1.50 kB. The "
                "rest: headers, acknowledgements, what was sent again, transfers of which it was not recorded how much "
                "they moved, and what else used these nodes. Within nodes, past the NICs: 60 B.");
    j.received[1].lower_bound = false;
    expect_text(&j, layers, 1,
                "the NICs of 2 nodes sent 1.75 kB; the messages of MPI to other nodes are \u2265 1.50 kB (\u2265 85.7 "
                "%). The rest, \u2264 250 B: headers, acknowledgements, what was sent again, transfers of which it was "
                "not recorded how much they moved, and what else used these nodes. Within nodes, past the NICs: 60 B.");
    pairs_free(&layers[0]);
}

static void all_and_nothing_is_explained(void **state)
{
    static const double nothing[NODES] = {0, 0, 0}, as_told[NODES] = {1000, 500, 0};
    job j;
    pairs layer = usual_layer(), idle = layer_of("MPI", both, 1);
    (void)state;
    job_of(&j, as_told, received);
    expect_text(&j, &layer, 1,
                "the NICs of 2 nodes sent 1.50 kB; the messages of MPI to other nodes are 1.50 kB (100 %). The rest, "
                "0 B: headers, acknowledgements, what was sent again, and what else used these nodes. Within nodes, "
                "past the NICs: 60 B.");
    sends(&idle, 0, 0, 0);
    pairs_finish(&idle);
    job_of(&j, nothing, received);
    expect_text(&j, &idle, 1, "the NICs of 1 node sent 0 B; the messages of MPI to other nodes are 0 B.");
    pairs_free(&idle);
    pairs_free(&layer);
}

// Nodes whose NICs are not known, and hosts that no recording is of: what went to them and from them is left out.
static void nodes_that_are_left_out(void **state)
{
    job j;
    pairs layer = usual_layer(), other = layer_of("MPI", (const char *const[]){"n1", "elsewhere"}, 2);
    (void)state;
    job_of(&j, sent, received);
    j.received[1].total = NAN;
    expect_text(&j, &layer, 1,
                "the NICs of 1 node sent 1.10 kB; the messages of MPI to other nodes are 1.00 kB (90.9 %). The rest, "
                "100 B: headers, acknowledgements, what was sent again, and what else used these nodes. Within nodes, "
                "past the NICs: 60 B. Nodes whose NICs were not read are left out.");
    j.nodes[0].lanes[JOB_SENT] = NULL;
    expect_text(&j, &layer, 1, NULL);
    sends(&other, 0, 1, 700);
    pairs_finish(&other);
    job_of(&j, sent, received);
    expect_text(&j, &other, 1,
                "the NICs of 1 node sent 1.10 kB; the messages of MPI to other nodes are 700 B (63.6 %). The rest, "
                "400 B: headers, acknowledgements, what was sent again, and what else used these nodes. Nodes whose "
                "NICs were not read are left out.");
    pairs_free(&other);
    pairs_free(&layer);
}

// Of files of several runs it is not known which the recording is of; of no layer, or one that did not tell, nothing is said.
static void when_nothing_is_said(void **state)
{
    job j;
    pairs layer = usual_layer(), silent = {.layer = "NCCL", .unknown = true};
    (void)state;
    job_of(&j, sent, received);
    expect_text(&j, NULL, 0, NULL);
    expect_text(&j, &silent, 1, NULL);
    j.report.regions.runs = 2;
    expect_text(&j, &layer, 1, NULL);
    j.report.regions.runs = 1;
    job_explain(&j.report, (const pairs *const[]){&layer}, 1);
    assert_non_null(j.report.explained.text);
    job_explained_free(&j.report.explained);
    pairs_free(&layer);
}

// Where no port is known, virtual interfaces are what there is, and they are called so.
static void virtual_interfaces_are_called_so(void **state)
{
    job j;
    pairs layer = usual_layer();
    (void)state;
    for (int way = 0; way < 2; way++) {
        job_of(&j, sent, received);
        job_lane *lanes[] = {&j.sent[1], &j.received[1]};
        j.nodes[1].lanes[way ? JOB_VIRTUAL_RECEIVED : JOB_VIRTUAL_SENT] = lanes[way];
        j.nodes[1].lanes[way ? JOB_RECEIVED : JOB_SENT] = NULL;
        expect_text(&j, &layer, 1,
                    "the virtual interfaces of 2 nodes sent 1.75 kB; the messages of MPI to other nodes are 1.50 kB "
                    "(85.7 %). The rest, 250 B: headers, acknowledgements, what was sent again, and what else used "
                    "these nodes. Within nodes, past the NICs: 60 B.");
    }
    pairs_free(&layer);
}

static void more_than_the_nics_moved(void **state)
{
    static const double little[NODES] = {300, 200, 0};
    job_device devices[] = {
        {.node = 0, .source = "netdev"}, {.node = 1, .source = "netdev"}, {.node = 2, .source = "cxi"}};
    job j;
    pairs layer = usual_layer();
    (void)state;
    job_of(&j, little, received);
    j.report.devices = devices;
    j.report.device_count = COUNT(devices);
    for (size_t i = 0; i < COUNT(devices); i++)
        devices[i].lanes[JOB_SENT] = &j.sent[0];
    static const char *const rest[] = {
        "sent 500 B; the messages of MPI to other nodes are 1.50 kB, more than the NICs: only the kernel's interfaces "
        "were read, which RDMA passes by, or nodes share memory",
        "sent 500 B; the messages of MPI to other nodes are 1.50 kB, more than the NICs: why is not known",
        "sent 500 B; the messages of MPI to other nodes are 1.50 kB, more than the NICs: only the kernel's interfaces "
        "were read, which RDMA passes by, or nodes share memory",
        "sent \u2265 500 B; the messages of MPI to other nodes are 1.50 kB, more than the NICs: their counters were "
        "not "
        "read all the time"};
    for (size_t i = 0; i < COUNT(rest); i++) {
        char expected[400];
        if (i == 1) devices[1].source = "rdma";        // one that RDMA does not pass by, of a node of the job
        if (i == 2) devices[1].lanes[JOB_SENT] = NULL; // and of which nothing is known
        if (i == 3) j.sent[0].lower_bound = true;
        snprintf(expected, sizeof expected, "the NICs of 2 nodes %s. Within nodes, past the NICs: 60 B.", rest[i]);
        expect_text(&j, &layer, 1, expected);
    }
    pairs_free(&layer);
}

// The share of MPI's run that not all nodes were recorded in: from the first rank's begin to the last one's end.
static void how_much_was_not_recorded(void **state)
{
    static const struct {
        double began_s[2], ended_s[2]; // of two ranks; 0: not known
        double begin_s[NODES], end_s[NODES];
        const char *said;
    } rows[] = {
        {{2, 4}, {8, 10}, {0, 0, 0}, {7, 11, 12}, ": 37.5 % of the run was not recorded"}, // of 8 s, 2 to 7 was
        {{4, 2}, {10, 8}, {3, 5, 1}, {20, 8, 12}, ": 62.5 % of the run was not recorded"}, // 5 to 8
        {{2, 2}, {102, 102}, {0, 3, 0}, {200, 200, 200}, ": 1.00 % of the run was not recorded"},
        {{2, 2}, {102, 102}, {0, 2.9, 0}, {200, 200, 200}, "only the kernel's interfaces"},
        {{2, 2}, {12, 12}, {0, 0, 13}, {20, 20, 20}, ": 100 % of the run was not recorded"},
        {{0, 4}, {8, 4}, {5, 5, 5}, {6, 6, 6}, "only the kernel's interfaces"}, // neither's run is known
        {{0, 2}, {90, 10}, {0, 0, 0}, {7, 7, 7}, ": 37.5 % of the run was not recorded"},
    };
    static const double little[NODES] = {300, 200, 0};
    pairs layer = usual_layer();
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        job j;
        regions_rank ranks[2] = {{.number = 0}, {.number = 1}};
        job_of(&j, little, received);
        for (int k = 0; k < 2; k++) {
            double began = rows[i].began_s[k];
            ranks[k].blocks.began_ns = began > 0 ? j.report.begin_ns + llround(began * 1e9) : 0;
            ranks[k].blocks.ended_ns = j.report.begin_ns + llround(rows[i].ended_s[k] * 1e9);
        }
        for (int k = 0; k < NODES; k++) {
            j.nodes[k].begin_s = rows[i].begin_s[k];
            j.nodes[k].end_s = rows[i].end_s[k];
        }
        j.report.regions.ranks = ranks;
        j.report.regions.rank_count = 2;
        job_explain(&j.report, (const pairs *const[]){&layer}, 1);
        if (!strstr(j.report.explained.text, rows[i].said)) fail_msg("%zu: %s", i, j.report.explained.text);
        job_explained_free(&j.report.explained);
    }
    pairs_free(&layer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_two_layers),           cmocka_unit_test(what_the_rest_may_be),
        cmocka_unit_test(all_and_nothing_is_explained), cmocka_unit_test(nodes_that_are_left_out),
        cmocka_unit_test(when_nothing_is_said),         cmocka_unit_test(virtual_interfaces_are_called_so),
        cmocka_unit_test(more_than_the_nics_moved),     cmocka_unit_test(how_much_was_not_recorded),
    };
    return cmocka_run_group_tests_name("job_explained", tests, NULL, NULL);
}
