// Ways between ranks that are slow on the wire (a link, a rail, neither), and the bytes of NIC counters that calls get by
// how long each used the network: files of netprof's plugin, written row by row, and arithmetic on them.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/nccl/findings/nccl_overlap.h"
#include "analysis/nccl/logs/nccl_logs.h"
#include "nccl_told.h"
#include "recorded_rows.h"
#include "support.h"

static const int64_t BEGIN = INT64_C(1763643720000000000), US = 1000;

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-6)) fail_msg("%.12g is not %.12g", value, expected);
}

static void put_communicator(recorded_file *f, int serial, const char *name, int rank, int ranks, int nodes)
{
    rows r = rows_begin("nccl.comm");
    char id[16];
    snprintf(id, sizeof id, "0xa%d", serial);
    rows_number(&r, "comm", serial);
    rows_text(&r, "id", id);
    rows_text(&r, "name", name);
    rows_number(&r, "rank", rank);
    rows_number(&r, "ranks", ranks);
    rows_number(&r, "nodes", nodes);
    rows_number(&r, "begin_ns", BEGIN);
    rows_put(f, &r);
}

static void put_call(rows *r, int comm, int call, const char *func, int sn, double from_s, double to_s)
{
    int64_t from = BEGIN + (int64_t)(from_s * 1e9), to = BEGIN + (int64_t)(to_s * 1e9);
    rows_number(r, "comm", comm);
    rows_number(r, "call", call);
    rows_text(r, "kind", "coll");
    rows_text(r, "func", func);
    rows_number(r, "sn", sn);
    rows_number(r, "bytes", 4096);
    rows_text(r, "algo", "RING");
    rows_number(r, "enqueue_ns", from - 5 * US);
    rows_number(r, "first_ns", from);
    rows_number(r, "last_ns", to);
    rows_number(r, "kernels", 1);
    rows_number(r, "gpu_begin_ns", from);
    rows_number(r, "gpu_end_ns", to);
    rows_next(r);
}

static void put_sent(rows *r, int comm, int call, int peer, bool sends, int64_t bytes, int64_t wire_us)
{
    rows_number(r, "comm", comm);
    rows_number(r, "call", call);
    rows_number(r, "peer", peer);
    rows_text(r, "direction", sends ? "send" : "recv");
    rows_text(r, "transport", "ib");
    rows_number(r, "ops", 1);
    rows_number(r, "steps", 40);
    rows_number(r, "timed", 40);
    rows_number(r, "bytes", bytes);
    rows_number(r, "own_gpu_ns", 40 * 2 * US);
    rows_number(r, "wire_ns", 40 * wire_us * US);
    rows_next(r);
}

// ---- slow ways ----

enum { HOSTS = 6, EACH = 2, RANKS = HOSTS * EACH };

// How long a step from one rank to another is on the wire, in us: 10, and what is slow 50.
typedef int64_t wire_of(int from, int to);

static int64_t all_alike(int from, int to)
{
    return 10 + (from * 7 + to) % 3; // 10, 11 or 12
}

static int64_t one_link(int from, int to)
{
    return from == 2 && to == 4 ? 50 : all_alike(from, to);
}

// As slow as each other.
static int64_t two_links(int from, int to)
{
    return from == 6 && to == 8 ? 50 : one_link(from, to);
}

static int64_t one_rail(int from, int to)
{
    return from % EACH && to % EACH ? 50 : all_alike(from, to);
}

// Within a rail to the next two hosts, and to the next host's other place: 12 * 3 ways.
static void write_ways(const char *tree, wire_of *wire)
{
    static const int steps[] = {EACH, 2 * EACH, 0};
    for (int rank = 0; rank < RANKS; rank++) {
        char host[8];
        snprintf(host, sizeof host, "h%d", rank / EACH);
        recorded_file f = recorded_open(tree, "", host, 100 + rank);
        rows calls = rows_begin("nccl.call"), sent = rows_begin("nccl.transfer");
        put_communicator(&f, 1, "world", rank, RANKS, HOSTS);
        put_call(&calls, 1, 1, "AllReduce", 0, 0.001, 0.002);
        for (int i = 0; i < 3; i++) {
            int across = (rank / EACH * EACH + EACH + !(rank % EACH)) % RANKS;
            int peer = steps[i] ? (rank + steps[i]) % RANKS : across;
            put_sent(&sent, 1, 1, peer, true, 1000, wire(rank, peer));
        }
        rows_put(&f, &calls);
        rows_put(&f, &sent);
        recorded_close(&f);
    }
}

typedef struct way_case {
    const char *what;
    wire_of *wire;
    const char *rule, *words; // NULL: no finding about ways
    size_t count;             // of findings
} way_case;

static void slow_ways_are_named(void **state)
{
    static const way_case cases[] = {
        {"nothing", all_alike, NULL, NULL, 0},
        {"a link", one_link, "nccl-slow-link",
         "the way from rank 2 on host h1 to rank 4 on host h2 in communicator world is slow: 50 µs", 1},
        {"two links", two_links, "nccl-slow-link", " in communicator world is slow: 50 µs", 2},
        {"a rail", one_rail, "nccl-slow-rail", "the ways between ranks of place 1 on their hosts", 1}};
    json_object *all = json_new_object();
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const way_case *x = &cases[i];
        char *tree = tree_make();
        const char *path = tree;
        nccl n = {0};
        nccl_findings f;
        size_t found = 0;
        write_ways(tree, x->wire);
        assert_int_equal(nccl_read(&n, &path, 1, NULL, NULL), NETPROF_OK);
        nccl_findings_make(&f, &n, NULL);
        claims_check(&n, &f);
        for (size_t k = 0; k < f.count; k++) {
            const nccl_finding *y = &f.items[k];
            if (!strstr(y->rule->name, "nccl-slow-")) continue;
            if (!x->rule || strcmp(y->rule->name, x->rule) != 0) fail_msg("%s: %s", x->what, y->claim);
            if (!strstr(y->claim, x->words)) fail_msg("%s: %s", x->what, y->claim);
            // 50 us a step beside a lower quartile of 10 to 12, and 2 us for the GPU: 38 to 40 of 52.
            assert_true(y->cost_share > 38.0 / 52 - 1e-9 && y->cost_share < 40.0 / 52 + 1e-9);
            if (strcmp(x->rule, "nccl-slow-rail") == 0) {
                const double evidence[] = {HOSTS, 2 * HOSTS, 2 * HOSTS, 0, 4 * HOSTS};
                for (int e = 0; e < 5; e++)
                    assert_near(y->evidence[e].value, evidence[e]);
                assert_int_equal(y->rail, 1);
            }
            found++;
        }
        assert_int_equal(found, x->count);
        json_put(all, x->what, told(&n, &f));
        nccl_findings_free(&f);
        nccl_free(&n);
        tree_remove(tree);
    }
    golden_expect(all, "nccl/ways.json"); // and all that is said, whole
}

// ---- counters and calls ----

// Two ranks of one host, which is half of the communicator. Seconds:
//     AllReduce 0    0.2 to 0.6 and 0.3 to 0.8: as one call 0.2 to 0.8
//     AllGather 0    0.4 to 1.5
//     AllReduce 1    3.2 to 3.4, where nothing was read; AllReduce 2 4.5 to 4.6, alone
static void write_host(const char *tree)
{
    for (int rank = 0; rank < 2; rank++) {
        recorded_file f = recorded_open(tree, "", "h1", 100 + rank);
        rows calls = rows_begin("nccl.call"), sent = rows_begin("nccl.transfer");
        put_communicator(&f, 1, "world", rank, 4, 2);
        put_call(&calls, 1, 1, "AllReduce", 0, rank ? 0.3 : 0.2, rank ? 0.8 : 0.6);
        put_call(&calls, 1, 2, "AllGather", 0, 0.4, 1.5);
        put_call(&calls, 1, 3, "AllReduce", 1, 3.2, 3.4);
        put_call(&calls, 1, 4, "AllReduce", 2, 4.5, 4.6);
        put_sent(&sent, 1, 1, 2, true, 70 + rank, 10);
        put_sent(&sent, 1, 1, 3, false, 30 + rank, 10);
        rows_put(&f, &calls);
        rows_put(&f, &sent);
        recorded_close(&f);
    }
}

static const nccl_overlap_row *row_of(const nccl_overlap *o, const char *coll)
{
    for (size_t i = 0; i < o->count; i++)
        if (strcmp(o->items[i].coll, coll) == 0) return &o->items[i];
    fail_msg("no row of %s", coll);
    return NULL;
}

// Reads 0 to 1, 1 to 2, a gap to 4, 4 to 5: the bytes of each second are shared by the time within it.
static void check_shares(const nccl *n, const series *s)
{
    nccl_counters c;
    nccl_overlap o;
    nccl_counters_make(&c, n, s);
    assert_int_equal(c.count, 1);
    nccl_overlap_make(&o, &c);
    assert_int_equal(o.count, 2);
    const nccl_overlap_row *reduce = row_of(&o, "AllReduce"), *gather = row_of(&o, "AllGather");
    assert_ptr_equal(gather, &o.items[0]); // the most sent bytes first
    assert_int_equal(reduce->calls, 2);
    assert_int_equal(reduce->unknown, 1);
    assert_int_equal(reduce->alone, 1);
    assert_int_equal(gather->calls, 1);
    assert_int_equal(gather->unknown, 0);
    assert_int_equal(gather->alone, 0);
    // In the first second 0.6 s each: half of 100 in and of 200 out. In the next AllGather is alone, and what came in is not
    // known. In the last AllReduce is alone, with 40 in and 60 out.
    assert_near(reduce->bytes[SERIES_IN], 50 + 40);
    assert_near(reduce->bytes[SERIES_OUT], 100 + 60);
    assert_near(gather->bytes[SERIES_IN], 50);
    assert_near(gather->bytes[SERIES_OUT], 100 + 300);
    // Its time / all: 0.5 and 1 of two calls; (0.6 * 0.5 + 0.5 * 1) / 1.1 of one.
    assert_near(reduce->share, 0.75);
    assert_near(gather->share, 0.8 / 1.1);
    assert_near(reduce->others, 0.5); // of 1 and 0 the median
    assert_near(gather->others, 1);
    assert_near(reduce->own_bytes[SERIES_OUT], 70 + 71);
    assert_near(reduce->own_bytes[SERIES_IN], 30 + 31);
    assert_true(isnan(gather->own_bytes[SERIES_OUT]) && isnan(gather->own_bytes[SERIES_IN]));
    json_object *list = nccl_overlap_json(&o, n);
    static const char *const keys[] = {"rx_bytes",    "tx_bytes",      "nccl_rx_bytes", "nccl_tx_bytes", "calls",
                                       "calls_alone", "calls_unknown", "size_bytes",    "share",         "other_calls"};
    const double values[] = {90, 160, 61, 141, 2, 1, 1, 4096, 0.75, 0.5};
    for (size_t i = 0; i < COUNT(keys); i++) {
        json_object *value = NULL;
        assert_true(json_object_object_get_ex(json_object_array_get_idx(list, 1), keys[i], &value));
        if (fabs(json_object_get_double(value) - values[i]) > 1e-6) fail_msg("%s", keys[i]);
    }
    json_object_put(list);
    nccl_overlap_free(&o);
    nccl_counters_free(&c);
}

static void counters_are_shared_by_time(void **state)
{
    char *tree = tree_make(), host[] = "h1";
    const char *path = tree;
    nccl n = {0};
    (void)state;
    write_host(tree);
    assert_int_equal(nccl_read(&n, &path, 1, NULL, NULL), NETPROF_OK);
    series_step steps[] = {{.from_s = 0, .to_s = 1, .rate = {100, 200}},
                           {.from_s = 1, .to_s = 2, .rate = {NAN, 300}},
                           {.from_s = 2, .to_s = 4, .rate = {1000, 1000}, .gap = true},
                           {.from_s = 4, .to_s = 5, .rate = {40, 60}}};
    series_step others[] = {{.from_s = 0, .to_s = 5, .rate = {1e6, 1e6}}};
    series_device devices[] = {{.run = 0, .chosen = true, .steps = steps, .count = 4},
                               {.run = 0, .chosen = false, .steps = others, .count = 1}};
    series_run runs[] = {{.host = host, .begin_s = 0, .end_s = 10, .first_device = 0, .device_count = 2}};
    const series s = {
        .runs = runs, .run_count = 1, .devices = devices, .device_count = 2, .begin_ns = BEGIN, .end_s = 10};
    check_shares(&n, &s);
    // A device that counts half of it: as two together they are the same.
    for (size_t i = 0; i < COUNT(steps); i++)
        steps[i].rate[0] /= 2, steps[i].rate[1] /= 2;
    devices[1] = devices[0];
    check_shares(&n, &s);
    // Another recording of the host adds nothing.
    series_run twice[] = {runs[0], runs[0]};
    const series again = {
        .runs = twice, .run_count = 2, .devices = devices, .device_count = 2, .begin_ns = BEGIN, .end_s = 10};
    nccl_counters c;
    nccl_overlap o;
    nccl_counters_make(&c, &n, &again);
    nccl_overlap_make(&o, &c);
    assert_int_equal(o.count, 2);
    nccl_overlap_free(&o);
    nccl_counters_free(&c);
    nccl_free(&n);
    tree_remove(tree);
}

// What a page says of a row: with how many others its calls shared the NIC, in the middle of its calls.
static void what_is_said_of_shares(void **state)
{
    static const struct {
        nccl_overlap_row row;
        const char *text;
    } rows_of[] = {
        {{.unknown = 3, .share = NAN, .others = NAN}, "not read then"},
        {{.calls = 4, .alone = 4, .share = 1, .others = 0}, "alone"},
        {{.calls = 4, .alone = 4, .unknown = 1, .share = 1, .others = 0}, "alone; not read in 1 more call"},
        {{.calls = 4, .alone = 3, .share = 0.9, .others = 0.25}, "alone in most calls"},
        {{.calls = 4, .alone = 2, .unknown = 2, .share = 0.75, .others = 0.5},
         "shared with 0.500 others: 75 %; not read in 2 more calls"},
        {{.calls = 4, .alone = 0, .share = 0.5, .others = 1}, "shared with 1 other: 50 %"},
        {{.calls = 4, .alone = 1, .share = 0.25, .others = 3}, "shared with 3 others: 25 %"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows_of); i++)
        assert_string_equal(nccl_overlap_say(&rows_of[i].row).text, rows_of[i].text);
}

// A job on two hosts with several calls at a time; of the second host half is read.
static void write_two_hosts(const char *tree)
{
    static const char *const funcs[] = {"AllReduce", "AllGather", "Broadcast"};
    for (int rank = 0; rank < 4; rank++) {
        char host[8];
        snprintf(host, sizeof host, "h%d", rank / 2 + 1);
        recorded_file f = recorded_open(tree, "", host, 100 + rank);
        rows calls = rows_begin("nccl.call"), sent = rows_begin("nccl.transfer");
        put_communicator(&f, 1, "world", rank, 4, 2);
        put_communicator(&f, 2, "second", rank, 4, 2);
        for (int i = 0; i < 9; i++) {
            double from = 0.25 * i + 0.05 * rank;
            put_call(&calls, 1 + i % 2, i + 1, funcs[i % 3], i, from, from + 0.5 + 0.25 * (i % 3));
            put_sent(&sent, 1 + i % 2, i + 1, (rank + 2) % 4, true, 100 * (rank + 1) + i, 10);
            put_sent(&sent, 1 + i % 2, i + 1, (rank + 2) % 4, false, 100 * ((rank + 2) % 4 + 1) + i, 10);
        }
        rows_put(&f, &calls);
        rows_put(&f, &sent);
        recorded_close(&f);
    }
}

// All bytes that were read while calls ran are some call's, and each call's time is shared as often as others ran.
static void all_bytes_are_shared(void **state)
{
    char *tree = tree_make(), host[][4] = {"h1", "h2"};
    const char *path = tree;
    nccl n = {0};
    nccl_counters c;
    nccl_overlap o;
    (void)state;
    write_two_hosts(tree);
    assert_int_equal(nccl_read(&n, &path, 1, NULL, NULL), NETPROF_OK);
    series_step steps[2][3] = {{{.from_s = 0, .to_s = 1, .rate = {100, 200}},
                                {.from_s = 1, .to_s = 2, .rate = {50, 70}},
                                {.from_s = 2, .to_s = 3.5, .rate = {20, 30}}},
                               {{.from_s = 1, .to_s = 2, .rate = {300, 500}}}};
    series_device devices[] = {{.run = 0, .chosen = true, .steps = steps[0], .count = 3},
                               {.run = 1, .chosen = true, .steps = steps[1], .count = 1}};
    series_run runs[] = {{.host = host[0], .begin_s = 0, .end_s = 10, .first_device = 0, .device_count = 1},
                         {.host = host[1], .begin_s = 0, .end_s = 10, .first_device = 1, .device_count = 1}};
    const series s = {
        .runs = runs, .run_count = 2, .devices = devices, .device_count = 2, .begin_ns = BEGIN, .end_s = 10};
    nccl_counters_make(&c, &n, &s);
    nccl_overlap_make(&o, &c);
    double bytes[2][2] = {{0, 0}, {0, 0}};
    for (size_t i = 0; i < o.count; i++)
        for (int way = 0; way < 2; way++)
            if (!isnan(o.items[i].bytes[way])) bytes[o.items[i].host][way] += o.items[i].bytes[way];
    assert_near(bytes[0][SERIES_IN], 100 + 50 + 1.5 * 20);
    assert_near(bytes[0][SERIES_OUT], 200 + 70 + 1.5 * 30);
    assert_near(bytes[1][SERIES_IN], 300);
    assert_near(bytes[1][SERIES_OUT], 500);
    golden_expect(nccl_overlap_json(&o, &n), "nccl/overlap.json");
    nccl_overlap_free(&o);
    nccl_counters_free(&c);
    nccl_free(&n);
    tree_remove(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_ways_are_named),
        cmocka_unit_test(what_is_said_of_shares),
        cmocka_unit_test(all_bytes_are_shared),
        cmocka_unit_test(counters_are_shared_by_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
