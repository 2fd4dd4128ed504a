// Lanes of NCCL's calls and who sent to whom, of a job made by hand: which calls join, how much of a time they fill, in which
// order lanes come, and what nobody timed.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/base/stb_ds.h"
#include "analysis/nccl/view/nccl_lanes.h"
#include "analysis/nccl/view/nccl_pairs.h"
#include "nccl_all_to_all.h"

static nccl_host hosts[] = {{.name = "b"}, {.name = "a"}};
static nccl_process processes[] = {{.host = 0, .pid = 30}, {.host = 1, .pid = 20}, {.host = 1, .pid = 10}};
static nccl_communicator communicators[] = {{.label = "world"}, {.label = "tp"}};
// Calls known: 5, 0, 9, 2, 3.
static nccl_member members[] = {{.communicator = 0, .process = 0, .rank = 7, .coll_records = 3, .p2p_records = 2},
                                {.communicator = 1, .process = 0, .rank = 8},
                                {.communicator = 0, .process = 1, .rank = 5, .coll_records = 4},
                                {.communicator = 1, .process = 2, .rank = 6, .p2p_records = 2},
                                {.communicator = 0, .process = 2, .rank = 4}};
static nccl_spent spent[] = {{.member = 2, .calls = 3},
                             {.member = 4, .calls = 1},
                             {.member = 2, .calls = 6},
                             {.member = 4, .calls = 2},
                             {.member = 0, .calls = 4}};
static nccl_span spans[] = {
    // of rank 5: 100 to 300 of three calls that overlap or touch, 400 to 450, 1000 to 1400 with one inside
    {.spent = 0, .begin_ns = 1000, .end_ns = 1400},
    {.spent = 2, .begin_ns = 150, .end_ns = 250},
    {.spent = 0, .begin_ns = 100, .end_ns = 200},
    {.spent = 2, .begin_ns = 400, .end_ns = 450},
    {.spent = 0, .begin_ns = 250, .end_ns = 300},
    {.spent = 2, .begin_ns = 1100, .end_ns = 1150},
    // of rank 7
    {.spent = 4, .begin_ns = 50, .end_ns = 60},
    // of rank 4: more calls than are known otherwise
    {.spent = 1, .begin_ns = 5, .end_ns = 6},
    {.spent = 3, .begin_ns = 5, .end_ns = 9},
    {.spent = 1, .begin_ns = 20, .end_ns = 21},
    {.spent = 3, .begin_ns = 30, .end_ns = 31}};

static const nccl job = {.hosts = hosts,
                         .host_count = COUNT(hosts),
                         .processes = processes,
                         .process_count = COUNT(processes),
                         .communicators = communicators,
                         .communicator_count = COUNT(communicators),
                         .members = members,
                         .member_count = COUNT(members),
                         .spent = spent,
                         .spent_count = COUNT(spent),
                         .spans = spans,
                         .span_count = COUNT(spans)};

// By host, then process, then as members are ordered; one without any call is none.
static void lanes_in_order(void **state)
{
    static const struct {
        const char *host, *label;
        uint64_t calls, untimed;
        size_t stretches;
        int64_t ns;
    } cases[] = {{"a", "rank 6 of tp", 0, 2, 0, 0},
                 {"a", "rank 4 of world", 4, 0, 3, 4 + 1 + 1},
                 {"a", "rank 5 of world", 6, 3, 3, 200 + 50 + 400},
                 {"b", "rank 7 of world", 1, 4, 1, 10}};
    nccl_lanes l;
    (void)state;
    nccl_lanes_make(&l, &job);
    assert_int_equal(l.count, COUNT(cases));
    assert_int_equal(l.calls, 4 + 6 + 1);
    assert_int_equal(l.untimed, 2 + 3 + 4);
    for (size_t i = 0; i < COUNT(cases); i++) {
        const nccl_lane *x = &l.items[i];
        assert_string_equal(x->host, cases[i].host);
        assert_string_equal(x->label, cases[i].label);
        assert_int_equal(x->calls, cases[i].calls);
        assert_int_equal(x->untimed, cases[i].untimed);
        assert_int_equal(arrlenu(x->stretches), cases[i].stretches);
        assert_int_equal(nccl_lane_ns(x), cases[i].ns);
    }
    nccl_lanes_free(&l);
    assert_int_equal(l.count, 0);
    assert_null(l.items);
    assert_int_equal(l.calls + l.untimed, 0);
}

static void stretches(void **state)
{
    static const nccl_stretch expected[] = {{100, 300, 0}, {400, 450, 200}, {1000, 1400, 250}};
    static const struct {
        int64_t from, to;
        double busy_ns;
    } cases[] = {{0, 100, 0},       {0, 101, 1},     {0, 300, 200},  {99, 301, 200},  {100, 300, 200},
                 {150, 250, 100},   {300, 400, 0},   {299, 401, 2},  {250, 420, 70},  {0, 2000, 650},
                 {450, 1000, 0},    {449, 1001, 2},  {410, 430, 20}, {1400, 1500, 0}, {1399, 1500, 1},
                 {1200, 1300, 100}, {20, 1100, 350}, {300, 300, 0},  {200, 100, 0},   {-50, 150, 50}};
    nccl_lanes l;
    (void)state;
    nccl_lanes_make(&l, &job);
    const nccl_lane *x = &l.items[2];
    for (size_t i = 0; i < COUNT(expected); i++) {
        assert_int_equal(x->stretches[i].begin_ns, expected[i].begin_ns);
        assert_int_equal(x->stretches[i].end_ns, expected[i].end_ns);
        assert_int_equal(x->stretches[i].before_ns, expected[i].before_ns);
    }
    for (size_t i = 0; i < COUNT(cases); i++) {
        double length = (double)(cases[i].to - cases[i].from);
        assert_near(nccl_lane_busy(x, cases[i].from, cases[i].to), length > 0 ? cases[i].busy_ns / length : 0);
        assert_true(nccl_lane_busy(&l.items[0], cases[i].from, cases[i].to) == 0); // nothing is timed there
    }
    nccl_lanes_free(&l);
}

// ---- calls of verbose logs ----

static void put_traced(FILE *f, const char *coll, int sn, const char *times)
{
    fprintf(f,
            "{\"header\":{\"id\":\"0x1\",\"comm_name\":\"c\",\"rank\":0,\"n_ranks\":2,\"nnodes\":1},\"metadata\":{"
            "\"inspector_output_format_version\":\"v4.3\",\"dump_timestamp_us\":1749490000000000,\"hostname\":\"h\","
            "\"pid\":1},\"coll_perf\":{\"coll\":\"%s\",\"coll_sn\":%d,\"coll_msg_size_bytes\":8,"
            "\"coll_exec_time_us\":5,\"coll_algobw_gbs\":1,\"coll_busbw_gbs\":1%s%s}}\n",
            coll, sn, *times ? ",\"event_trace_ts\":" : "", times);
}

#define CALL(from, to)    "{\"coll_start_ts\":" #from ",\"coll_stop_ts\":" #to
#define KERNEL(from, to)  "{\"kernel_start_ts\":" #from ",\"kernel_stop_ts\":" #to "}"
#define KERNELS(from, to) ",\"kernel_events\":[" KERNEL(from, to)

// From the first kernel's begin to the last one's end, else from the call's begin to its end; of times that cannot be, none.
static void traced_calls(void **state)
{
    static const char *const times[] = {CALL(100, 105) KERNELS(130, 170) "," KERNEL(120, 160) "]}",
                                        CALL(200, 230) KERNELS(210, 210) "]}",
                                        CALL(300, 301) "}",
                                        CALL(400, 400) "}",
                                        CALL(0, 500) "}",
                                        CALL(9000, 9223372036854775) "}",
                                        CALL(9000, 9223372036854774) "}",
                                        ""};
    static const nccl_stretch expected[] = {
        {120000, 170000, 0}, {200000, 230000, 50000}, {300000, 301000, 80000}, {9000000, 9223372036854774000, 81000}};
    char *tree = tree_make();
    const char *path = tree;
    nccl n = {0};
    nccl_lanes l;
    (void)state;
    FILE *f = fopen(tree_path(tree, "h.log"), "we");
    assert_non_null(f);
    for (size_t i = 0; i < COUNT(times); i++)
        put_traced(f, "AllReduce", (int)i, times[i]);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(nccl_read(&n, &path, 1, NULL, NULL), NETPROF_OK);
    nccl_lanes_make(&l, &n);
    assert_int_equal(l.count, 1);
    assert_string_equal(l.items[0].label, "rank 0 of c");
    assert_int_equal(l.calls, COUNT(expected));
    assert_int_equal(l.untimed, COUNT(times) - COUNT(expected));
    assert_int_equal(arrlenu(l.items[0].stretches), COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        assert_int_equal(l.items[0].stretches[i].begin_ns, expected[i].begin_ns);
        assert_int_equal(l.items[0].stretches[i].end_ns, expected[i].end_ns);
        assert_int_equal(l.items[0].stretches[i].before_ns, expected[i].before_ns);
    }
    nccl_lanes_free(&l);
    nccl_free(&n);
    tree_remove(tree);
}

// ---- who sent to whom ----

// Two communicators of the same processes: a process is one place, and both are summed.
static void pairs_of_two_communicators(void **state)
{
    results r = {.tree = tree_make()};
    pairs p;
    (void)state;
    write_all_to_all(r.tree, none_is_slow, 2);
    read_results(&r);
    nccl_pairs(&p, &r.n);
    assert_string_equal(p.layer, "NCCL");
    assert_null(p.delay);
    assert_true(p.mark.sender == PAIRS_NONE && p.mark.receiver == PAIRS_NONE);
    assert_false(p.unknown);
    assert_false(p.at_least);
    assert_int_equal(p.outside_bytes, 0);
    assert_int_equal(arrlenu(p.places), RANKS);
    assert_int_equal(arrlenu(p.nodes), HOSTS);
    for (int rank = 0; rank < RANKS; rank++) {
        char label[20], host[8];
        snprintf(label, sizeof label, "pid %d", 100 + rank);
        snprintf(host, sizeof host, "h%d", rank / EACH);
        assert_string_equal(p.places[rank].label, label);
        assert_string_equal(p.nodes[p.places[rank].node], host);
    }
    assert_int_equal(arrlenu(p.cells), RANKS * (RANKS - 1));
    for (size_t i = 0; i < arrlenu(p.cells); i++) {
        int from = (int)p.cells[i].sender, to = (int)p.cells[i].receiver;
        assert_int_equal(i, from * (RANKS - 1) + to - (to > from));
        assert_int_equal(p.cells[i].bytes, 2 * bytes_of(from, to));
        assert_int_equal(p.cells[i].messages, 2 * steps_of(from, to));
    }
    pairs_free(&p);
    r.n.members[RANKS + 3].stats.parts_dropped = 1; // some of what one member sent is not there
    nccl_pairs(&p, &r.n);
    assert_true(p.at_least);
    assert_false(p.unknown);
    pairs_free(&p);
    results_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lanes_in_order), cmocka_unit_test(stretches),
                                       cmocka_unit_test(traced_calls), cmocka_unit_test(pairs_of_two_communicators)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
