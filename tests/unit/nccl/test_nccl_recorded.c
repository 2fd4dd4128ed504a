// Files of netprof's own profiler plugin, written here row by row: what is read of them, what it sums up to, and what is
// said of the network devices that ranks used. Every figure is arithmetic on the rows.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/nccl/export/nccl_export.h"
#include "analysis/nccl/findings/nccl_places.h"
#include "analysis/nccl/findings/nccl_waits.h"
#include "analysis/nccl/logs/nccl_logs.h"
#include "analysis/nccl/logs/nccl_recorded.h"
#include "analysis/nccl/view/nccl_view.h"
#include "nccl_told.h"
#include "recorded_rows.h"
#include "support.h"

enum { HOSTS = 4, EACH = 2, RANKS = HOSTS * EACH, CALLS = 4, BYTES = 1 << 20 };

static const int64_t BEGIN = INT64_C(1763643720000000000), MS = 1000000, US = 1000;

static void assert_near(double value, double expected, double by)
{
    if (!(fabs(value - expected) <= by)) fail_msg("%.12g is not %.12g", value, expected);
}

// What differs between the jobs of these tests.
typedef struct job_plan {
    int64_t step; // a rank sends to the rank so many further; 0: 1
    const char *(*adapter)(int rank, int member);
    const char *(*transport)(int rank);
    int64_t (*sent)(int rank, int member); // bytes through each member of its device
    int members;                           // 0: 1
    bool active;                           // readings of a port that is active
} job_plan;

static const char *adapter_by_place(int rank, int member)
{
    (void)member;
    return rank % EACH ? "mlx5_1" : "mlx5_0";
}

static const char *always_ib(int rank)
{
    (void)rank;
    return "ib";
}

static int64_t even_bytes(int rank, int member)
{
    (void)member;
    return 1000 * (rank + 1);
}

static void put_communicator(recorded_file *f, int rank)
{
    rows r = rows_begin("nccl.comm");
    rows_number(&r, "comm", 1);
    rows_text(&r, "id", "0xab");
    rows_text(&r, "name", "world");
    rows_number(&r, "rank", rank);
    rows_number(&r, "ranks", RANKS);
    rows_number(&r, "nodes", HOSTS);
    rows_number(&r, "begin_ns", BEGIN);
    rows_put(f, &r);
}

// Call 1, 2, ... of sequence numbers 0, 1, ...: 100 us and 1 us more for each rank, a millisecond apart.
static void put_calls(recorded_file *f, int rank)
{
    rows r = rows_begin("nccl.call");
    for (int sn = 0; sn < CALLS; sn++) {
        int64_t at = BEGIN + (sn + 1) * MS;
        rows_number(&r, "comm", 1);
        rows_number(&r, "call", sn + 1);
        rows_text(&r, "kind", "coll");
        rows_text(&r, "func", "AllReduce");
        rows_number(&r, "sn", sn);
        rows_number(&r, "bytes", BYTES);
        rows_text(&r, "algo", "RING");
        rows_text(&r, "proto", "SIMPLE");
        rows_number(&r, "enqueue_ns", at - 5 * US);
        rows_number(&r, "first_ns", at + 1 * US + rank);
        rows_number(&r, "last_ns", at + 90 * US);
        rows_number(&r, "kernels", 1);
        rows_number(&r, "gpu_begin_ns", at);
        rows_number(&r, "gpu_end_ns", at + (100 + rank) * US);
        rows_next(&r);
    }
    rows_put(f, &r);
}

// Of each call two operations of four steps to the next rank, and as many from the one before.
static void put_transfers(recorded_file *f, const job_plan *plan, int rank)
{
    rows r = rows_begin("nccl.transfer");
    int step = plan->step ? (int)plan->step : 1;
    for (int sn = 0; sn < CALLS; sn++)
        for (int sends = 0; sends < 2; sends++) {
            rows_number(&r, "comm", 1);
            rows_number(&r, "call", sn + 1);
            rows_number(&r, "peer", (rank + (sends ? step : RANKS - step)) % RANKS);
            rows_text(&r, "direction", sends ? "send" : "recv");
            rows_text(&r, "transport", plan->transport(rank));
            rows_number(&r, "ops", 2);
            rows_number(&r, "steps", 8);
            rows_number(&r, "timed", 8);
            rows_number(&r, "bytes", sends ? 1000 * (rank + 1) : 1000 * ((rank + RANKS - step) % RANKS + 1));
            rows_number(&r, "own_gpu_ns", sends ? 8 * US : 4 * US);
            rows_number(&r, "credit_ns", sends ? 16 * US : 0);
            rows_number(&r, "wire_ns", sends ? (24 + 8 * rank) * US : 32 * US);
            rows_number(&r, "flush_ns", sends ? 0 : 2 * US);
            rows_next(&r);
        }
    rows_put(f, &r);
}

// Of each member two queue pairs that send, each with half of the bytes and 60 requests, and one that receives.
static void put_devices(recorded_file *f, const job_plan *plan, int rank)
{
    rows r = rows_begin("nccl.device");
    for (int member = 0; member < (plan->members ? plan->members : 1); member++)
        for (int qp = 0; qp < 3; qp++) {
            rows_number(&r, "comm", 1);
            rows_text(&r, "transport", plan->transport(rank));
            rows_number(&r, "device", member);
            rows_number(&r, "qp", 100 + qp);
            rows_number(&r, "requests", qp < 2 ? 60 : 10);
            rows_number(&r, "bytes", qp < 2 ? plan->sent(rank, member) / 2 : 0);
            rows_text(&r, "direction", qp < 2 ? "send" : "recv");
            rows_text(&r, "adapter", plan->adapter(rank, member));
            rows_next(&r);
        }
    rows_put(f, &r);
}

static void put_drops(recorded_file *f)
{
    static const char *const what[] = {"calls", "parts", "steps", "orphans", "kinds of tomorrow"};
    rows r = rows_begin("nccl.drops");
    for (int i = 0; i < 5; i++) {
        rows_number(&r, "comm", 1);
        rows_text(&r, "what", what[i]);
        rows_number(&r, "count", i + 1);
        rows_next(&r);
    }
    rows_put(f, &r);
}

static void write_rank(const char *tree, const char *folder, const job_plan *plan, int rank, bool drops)
{
    char host[8];
    snprintf(host, sizeof host, "h%d", rank / EACH + 1);
    recorded_file f = recorded_open(tree, folder, host, 100 + rank);
    put_communicator(&f, rank);
    put_calls(&f, rank);
    put_transfers(&f, plan, rank);
    if (plan->adapter) put_devices(&f, plan, rank);
    if (drops) put_drops(&f);
    if (plan->active) recorded_put_port(&f, "mlx5_0/1", rank / EACH == 1 ? 4 : 1); // ib_verbs.h: ACTIVE is 4, DOWN 1
    recorded_close(&f);
}

typedef struct results {
    char *tree;
    nccl n;
    nccl_findings f;
} results;

static void read_tree(results *r)
{
    const char *path = r->tree;
    netprof_error error = {.code = NETPROF_OK};
    if (nccl_read(&r->n, &path, 1, NULL, &error)) fail_msg("%s", error.text);
    nccl_findings_make(&r->f, &r->n, NULL);
    claims_check(&r->n, &r->f);
}

static results read_job(const job_plan *plan)
{
    results r = {.tree = tree_make()};
    for (int rank = 0; rank < RANKS; rank++)
        write_rank(r.tree, "", plan, rank, false);
    read_tree(&r);
    return r;
}

static void results_end(results *r)
{
    nccl_findings_free(&r->f);
    nccl_free(&r->n);
    tree_remove(r->tree);
}

static const job_plan usual = {.adapter = adapter_by_place, .transport = always_ib, .sent = even_bytes};

// ---- what is read ----

static void calls_are_records(void **state)
{
    results r = read_job(&usual);
    (void)state;
    assert_int_equal(r.n.file_count, RANKS);
    assert_int_equal(r.n.member_count, RANKS);
    assert_int_equal(r.n.record_count, RANKS * CALLS);
    assert_int_equal(r.n.instance_count, CALLS);
    assert_int_equal(r.n.untimed, 0);
    for (size_t i = 0; i < r.n.file_count; i++) {
        const nccl_file *f = &r.n.files[i];
        assert_true(f->recorded && !f->tail_cut && !f->problem && !f->error);
        assert_int_equal(f->lines, 1 + CALLS + 2 * CALLS + 3); // communicator, calls, transfers, queue pairs
        assert_int_equal(f->outcomes[NCCL_COLL], CALLS);
        assert_int_equal(f->outcomes[NCCL_PROXY], 2 * CALLS);
        assert_int_equal(f->outcomes[NCCL_BLANK], 1 + 3);
        assert_int_equal(f->outcomes[NCCL_DUMP_STATS], 1); // what the plugin counted, at the end
    }
    for (size_t i = 0; i < r.n.instance_count; i++) {
        const nccl_instance *x = &r.n.instances[i];
        assert_int_equal(x->sn, i);
        assert_int_equal(x->min_us, 100);
        assert_int_equal(x->max_us, 100 + RANKS - 1);
        assert_true(x->complete && x->late_count == 1);
        assert_int_equal(r.n.members[x->first_late].rank, 0);
        // 1 MiB in 107 us at the slowest, 2 * 7 / 8 of it on each link.
        assert_near(x->min_bus, BYTES / 107e3 * 2 * 7 / 8, 1e-9);
    }
    const nccl_communicator *c = &r.n.communicators[0];
    assert_string_equal(c->label, "world");
    assert_int_equal(c->ranks, RANKS);
    assert_int_equal(c->nodes, HOSTS);
    const nccl_what *what = nccl_record_what(&r.n, &r.n.records[0]);
    assert_string_equal(what->algo, "RING");
    assert_string_equal(what->proto, "SIMPLE");
    assert_string_equal(what->timing, "kernel_gpu");
    for (int rank = 0; rank < RANKS; rank++) {
        const nccl_member *m = &r.n.members[rank];
        assert_int_equal(m->stats.coll_records, CALLS);
        assert_int_equal(m->stats.coll_dropped + m->stats.parts_dropped + m->stats.p2p_records, 0);
        assert_int_equal(m->last_dump_us, (BEGIN + CALLS * MS + 90 * US) / 1000); // the end of its last transfer
    }
    results_end(&r);
}

static void what_transfers_waited_for(void **state)
{
    results r = read_job(&usual);
    (void)state;
    assert_int_equal(r.n.spent_count, RANKS);
    assert_int_equal(r.n.proxy_count, 2 * RANKS);
    for (int rank = 0; rank < RANKS; rank++) {
        const nccl_spent *x = &r.n.spent[rank];
        assert_int_equal(r.n.members[x->member].rank, rank);
        assert_int_equal(x->calls, CALLS);
        assert_int_equal(x->size, BYTES);
        assert_int_equal(x->sent, 8 * CALLS);
        assert_int_equal(x->received, 8 * CALLS);
        assert_int_equal(x->sent_bytes, 1000 * (rank + 1) * CALLS);
        assert_int_equal(x->received_bytes, 1000 * ((rank + RANKS - 1) % RANKS + 1) * CALLS);
        const double us[] = {x->gpu_us, x->credit_us, x->wire_us, x->data_us, x->flush_us, x->consume_us};
        const double expected[] = {8, 16, 24 + 8 * rank, 32, 2, 4};
        for (int i = 0; i < 6; i++)
            assert_near(us[i], expected[i] * CALLS, 1e-9);
        assert_false(x->sent_at_least || x->received_at_least);
    }
    for (size_t i = 0; i < r.n.proxy_count; i++) {
        const nccl_proxy *p = &r.n.proxies[i];
        bool sends = strcmp(p->direction, "send") == 0;
        int64_t rank = r.n.members[p->member].rank;
        assert_int_equal(p->peer, (rank + (sends ? 1 : RANKS - 1)) % RANKS);
        assert_int_equal(p->operations, 2 * CALLS);
        assert_int_equal(p->steps, 8 * CALLS);
        assert_int_equal(p->timed, 8 * CALLS);
        assert_int_equal(p->verbs_operations, 2 * CALLS);
        assert_int_equal(p->socket_operations + p->unsized, 0);
        assert_int_equal(p->gpu_us, (sends ? 8 : 4) * CALLS);
        assert_int_equal(p->credit_us, (sends ? 16 : 0) * CALLS);
        assert_int_equal(p->wire_us, (sends ? 24 + 8 * rank : 32) * CALLS);
        assert_int_equal(p->flush_us, (sends ? 0 : 2) * CALLS);
    }
    results_end(&r);
}

// By host, then time: of the first host's two ranks each call's later one a nanosecond behind.
static void when_calls_used_the_network(void **state)
{
    results r = read_job(&usual);
    (void)state;
    assert_int_equal(r.n.span_count, RANKS * CALLS);
    for (size_t i = 0; i < r.n.span_count; i++) {
        const nccl_span *x = &r.n.spans[i];
        size_t host = i / (EACH * CALLS), sn = i / EACH % CALLS, rank = host * EACH + i % EACH;
        assert_int_equal(r.n.members[r.n.spent[x->spent].member].rank, rank);
        assert_int_equal(x->sn, sn);
        assert_int_equal(x->begin_ns, BEGIN + (int64_t)(sn + 1) * MS + US + (int64_t)rank);
        assert_int_equal(x->end_ns, BEGIN + (int64_t)(sn + 1) * MS + 90 * US);
    }
    results_end(&r);
}

static void through_which_devices(void **state)
{
    results r = read_job(&usual);
    (void)state;
    assert_int_equal(r.n.used_count, 2 * RANKS);
    for (size_t i = 0; i < r.n.used_count; i++) {
        const nccl_used *x = &r.n.used[i];
        int rank = (int)r.n.members[x->member].rank;
        bool sends = i % 2; // "recv" comes before "send"
        assert_string_equal(x->direction, sends ? "send" : "recv");
        assert_string_equal(x->transport, "ib");
        assert_string_equal(x->adapter, adapter_by_place(rank, 0));
        assert_int_equal(x->device, 0);
        assert_int_equal(x->requests, sends ? 120 : 10);
        assert_int_equal(x->bytes, sends ? 1000 * (rank + 1) : 0);
    }
    // In the ring every second transfer leaves its host, to the other place.
    nccl_peers peers;
    nccl_places places;
    nccl_peers_make(&peers, &r.n);
    nccl_places_make(&places, &r.n, &peers);
    assert_true(places.by_adapter);
    assert_int_equal(places.count, 2);
    nccl_crossing c = nccl_crossing_of(&places, &r.n, &peers);
    assert_near(c.between, (2 + 4 + 6 + 8) * 1000.0 * CALLS, 1e-9); // ranks 1, 3, 5, 7
    assert_near(c.across, c.between, 1e-9);
    assert_int_equal(c.ways, HOSTS);
    nccl_places_free(&places);
    nccl_peers_free(&peers);
    results_end(&r);
}

static void a_copy_counts_once(void **state)
{
    results once = read_job(&usual), r = {.tree = tree_make()};
    (void)state;
    for (int rank = 0; rank < RANKS; rank++) {
        write_rank(r.tree, "", &usual, rank, false);
        write_rank(r.tree, "copy/", &usual, rank, false);
    }
    read_tree(&r);
    assert_int_equal(r.n.file_count, 2 * RANKS);
    assert_int_equal(r.n.duplicates, RANKS * CALLS);
    assert_int_equal(r.n.conflicts, 0);
    assert_int_equal(r.n.instance_count, once.n.instance_count);
    assert_int_equal(r.n.spent_count, once.n.spent_count);
    assert_int_equal(r.n.span_count, once.n.span_count);
    assert_int_equal(r.n.used_count, once.n.used_count);
    assert_int_equal(r.n.proxy_count, once.n.proxy_count);
    for (size_t i = 0; i < r.n.spent_count; i++)
        assert_int_equal(r.n.spent[i].sent_bytes, once.n.spent[i].sent_bytes);
    for (size_t i = 0; i < r.n.used_count; i++)
        assert_int_equal(r.n.used[i].bytes, once.n.used[i].bytes);
    results_end(&r);
    results_end(&once);
}

// Calls are told of apart from what was lost of their parts; other words of a later version are neither.
static void what_was_lost(void **state)
{
    results r = {.tree = tree_make()};
    (void)state;
    for (int rank = 0; rank < RANKS; rank++)
        write_rank(r.tree, "", &usual, rank, rank == 5);
    read_tree(&r);
    for (uint32_t i = 0; i < RANKS; i++) {
        assert_int_equal(r.n.members[i].stats.coll_dropped, i == 5 ? 1 : 0);
        assert_int_equal(r.n.members[i].stats.parts_dropped, i == 5 ? 2 + 3 + 4 : 0);
        assert_int_equal(nccl_member_lost_parts(&r.n, i), i == 5);
        nccl_split s = nccl_spent_split(&r.n, &r.n.spent[i]);
        assert_int_equal(s.sent_at_least, i == 5);
        assert_int_equal(s.received_at_least, i == 5);
    }
    results_end(&r);
}

// ---- what is not used ----

typedef struct odd_row {
    const char *what;
    int64_t comm, rank, ranks, nodes; // of a communicator
    nccl_outcome outcome;
} odd_row;

static void communicators_that_cannot_be(void **state)
{
    static const odd_row rows_of[] = {{"the first", 3, 0, 2, 1, NCCL_BLANK},
                                      {"the next", 4, 1, 2, 2, NCCL_BLANK},
                                      {"counted back", 4, 0, 2, 1, NCCL_BAD_VALUE},
                                      {"rank below 0", 5, -1, 2, 1, NCCL_BAD_VALUE},
                                      {"a rank too many", 6, 2, 2, 1, NCCL_BAD_VALUE},
                                      {"no ranks", 7, 0, 0, 1, NCCL_BAD_VALUE},
                                      {"more ranks than can be", 8, 0, INT64_C(1) << 31, 1, NCCL_BAD_VALUE},
                                      {"most ranks", 9, 0, INT32_MAX, 1, NCCL_BLANK},
                                      {"no nodes", 10, 0, 2, 0, NCCL_BAD_VALUE},
                                      {"more nodes than can be", 11, 0, 2, INT64_C(1) << 31, NCCL_BAD_VALUE},
                                      {"one rank", 12, 0, 1, 1, NCCL_BLANK}};
    (void)state;
    for (size_t i = 2; i <= COUNT(rows_of); i++) { // with one more each time, what that one is
        char *tree = tree_make();
        recorded_file f = recorded_open(tree, "", "h1", 100);
        rows r = rows_begin("nccl.comm");
        uint64_t good = 0, bad = 0;
        for (size_t k = 0; k < i; k++) {
            rows_number(&r, "comm", rows_of[k].comm);
            rows_text(&r, "id", "0xab");
            rows_number(&r, "rank", rows_of[k].rank);
            rows_number(&r, "ranks", rows_of[k].ranks);
            rows_number(&r, "nodes", rows_of[k].nodes);
            rows_next(&r);
            *(rows_of[k].outcome == NCCL_BLANK ? &good : &bad) += 1;
        }
        rows_put(&f, &r);
        recorded_close(&f);
        nccl n = {0};
        const char *path = tree;
        nccl_read(&n, &path, 1, NULL, NULL);
        if (n.files[0].outcomes[NCCL_BLANK] != good || n.files[0].outcomes[NCCL_BAD_VALUE] != bad)
            fail_msg("%s: %d used, %d not", rows_of[i - 1].what, (int)n.files[0].outcomes[NCCL_BLANK],
                     (int)n.files[0].outcomes[NCCL_BAD_VALUE]);
        nccl_free(&n);
        tree_remove(tree);
    }
}

typedef struct odd_call {
    const char *what, *kind, *func, *algo;
    int64_t comm, sn, bytes, peer, kernels, begin, end; // end and begin in us
    nccl_outcome outcome;
    bool untimed;
    uint64_t sn_as_read;
    const char *timing;
} odd_call;

// A call each, all in one file.
static const odd_call odd_calls[] = {
    {"by its kernel", "coll", "AllReduce", "TREE", 1, 7, 8, 0, 2, 10, 30, NCCL_COLL, false, 7, "kernel_gpu"},
    {"the same number again", "coll", "AllReduce", "RING", 1, 7, 8, 0, 0, 40, 70, NCCL_COLL, false, 8, "proxy_steps"},
    {"counted on", "coll", "AllReduce", "RING", 1, 8, 8, 0, 1, 80, 90, NCCL_COLL, false, 9, "kernel_gpu"},
    {"another counts for itself", "coll", "AllGather", "RING", 1, 7, 8, 0, 0, 1, 2, NCCL_COLL, false, 7, "proxy_steps"},
    {"alike", "coll", "ReduceScatter", "RING", 1, 7, 8, 0, 0, 1, 9, NCCL_COLL, false, 7, "proxy_steps"},
    {"what it has is another's", "coll", "Broadcast", "RING", 1, 7, 8, 0, 0, 1, 2, NCCL_BLANK, true, 0, NULL},
    {"inside a tree", "coll", "AllReduce", "TREE", 1, 20, 8, 0, 0, 1, 2, NCCL_BLANK, true, 0, NULL},
    {"without an end", "coll", "AllReduce", "RING", 1, 21, 8, 0, 1, 5, 5, NCCL_BLANK, true, 0, NULL},
    {"without a begin", "coll", "AllReduce", "RING", 1, 22, 8, 0, 1, 0, 5, NCCL_BLANK, true, 0, NULL},
    {"to another", "p2p", "Send", "", 1, 3, 8, 1, 0, 5, 25, NCCL_P2P, false, 3, "proxy_steps"},
    {"to nobody", "p2p", "Send", "", 1, 4, 8, -1, 0, 5, 6, NCCL_BAD_VALUE, false, 0, NULL},
    {"to whom there cannot be", "p2p", "Send", "", 1, 4, 8, INT64_C(1) << 31, 0, 5, 6, NCCL_BAD_VALUE, false, 0, NULL},
    {"of no communicator", "coll", "AllReduce", "RING", 2, 7, 8, 0, 1, 1, 2, NCCL_NO_CONTEXT, false, 0, NULL},
    {"of no name", "coll", "", "RING", 1, 7, 8, 0, 1, 1, 2, NCCL_BAD_VALUE, false, 0, NULL},
    {"negative", "coll", "AllReduce", "RING", 1, 7, -1, 0, 1, 1, 2, NCCL_BAD_VALUE, false, 0, NULL},
    {"too large", "coll", "AllReduce", "RING", 1, 7, (INT64_C(1) << 62) + 1, 0, 1, 1, 2, NCCL_BAD_VALUE, false, 0,
     NULL},
};

static void put_odd_calls(recorded_file *f)
{
    rows r = rows_begin("nccl.call");
    for (size_t i = 0; i < COUNT(odd_calls); i++) {
        const odd_call *x = &odd_calls[i];
        rows_number(&r, "comm", x->comm);
        rows_number(&r, "call", (int64_t)i + 1);
        rows_text(&r, "kind", x->kind);
        rows_text(&r, "func", x->func);
        rows_number(&r, "sn", x->sn);
        rows_number(&r, "bytes", x->bytes);
        rows_number(&r, "peer", x->peer);
        rows_text(&r, "algo", x->algo);
        rows_number(&r, "enqueue_ns", BEGIN);
        rows_number(&r, "kernels", x->kernels);
        rows_number(&r, x->kernels ? "gpu_begin_ns" : "ready_ns", x->begin * US);
        rows_number(&r, x->kernels ? "gpu_end_ns" : "last_ns", x->end * US);
        rows_number(&r, x->kernels ? "ready_ns" : "gpu_begin_ns", 0);
        rows_number(&r, x->kernels ? "last_ns" : "gpu_end_ns", 0);
        rows_next(&r);
    }
    rows_put(f, &r);
}

static const nccl_record *record_of(const nccl *n, const odd_call *x)
{
    for (size_t i = 0; i < n->instance_count; i++) {
        const nccl_instance *at = &n->instances[i];
        if (strcmp(n->colls[n->series[at->series].coll], x->func) == 0 && at->sn == x->sn_as_read)
            return &n->records[at->first];
    }
    return NULL;
}

static void odd_calls_are_told_apart(void **state)
{
    char *tree = tree_make();
    const char *path = tree;
    nccl n = {0};
    uint64_t outcomes[NCCL_OUTCOMES] = {[NCCL_BLANK] = 1, [NCCL_DUMP_STATS] = 1}, untimed = 0, timed = 0;
    (void)state;
    recorded_file f = recorded_open(tree, "", "h1", 100);
    put_communicator(&f, 0);
    put_odd_calls(&f);
    recorded_close(&f);
    assert_int_equal(nccl_read(&n, &path, 1, NULL, NULL), NETPROF_OK);
    for (size_t i = 0; i < COUNT(odd_calls); i++) {
        const odd_call *x = &odd_calls[i];
        outcomes[x->outcome]++;
        untimed += x->untimed;
        if (x->outcome != NCCL_COLL) continue;
        timed++;
        const nccl_record *r = record_of(&n, x);
        if (!r) fail_msg("%s: no record", x->what);
        if (r->time_us != (uint64_t)(x->end - x->begin)) fail_msg("%s: %d us", x->what, (int)r->time_us);
        assert_string_equal(nccl_record_what(&n, r)->timing, x->timing);
    }
    for (int i = 0; i < NCCL_OUTCOMES; i++)
        if (n.files[0].outcomes[i] != outcomes[i])
            fail_msg("%s: %d, expected %d", nccl_outcome_name((nccl_outcome)i), (int)n.files[0].outcomes[i],
                     (int)outcomes[i]);
    assert_int_equal(n.files[0].invalid_sizes, 2);
    assert_int_equal(n.record_count, timed);
    assert_int_equal(n.members[0].stats.untimed, untimed);
    assert_int_equal(n.untimed, untimed);
    assert_int_equal(n.members[0].stats.p2p_records, 1);
    assert_int_equal(n.p2p_count, 1);
    assert_int_equal(n.p2p[0].peer, 1);
    assert_near(n.p2p[0].time_us.p50, 20, 1e-9);
    assert_near(n.p2p[0].bus_gbs.p50, 8 / 20e3, 1e-9);
    nccl_free(&n);
    tree_remove(tree);
}

static void names_and_first_facts(void **state)
{
    static const struct {
        const char *path;
        bool is;
    } names[] = {{"netprof-nccl-1.netprof", true},
                 {"a/b/netprof-nccl-x.netprof", true},
                 {"netprof-nccl-.netprof", true},
                 {"netprof-nccl-1.netprofx", false},
                 {"netprof-ncc-1.netprof", false},
                 {"xnetprof-nccl-1.netprof", false},
                 {"netprof-nccl-a/b.netprof", false},
                 {".netprof", false},
                 {"", false}};
    char *tree = tree_make();
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        if (nccl_recorded_is_name(names[i].path) != names[i].is) fail_msg("%s", names[i].path);
    recorded_file f = recorded_open(tree, "", "h1", 100);
    recorded_close(&f);
    assert_true(nccl_recorded_recognise(f.path));
    tree_write(tree, "netprof-nccl-2.netprof", "no such file");
    assert_false(nccl_recorded_recognise(tree_path(tree, "netprof-nccl-2.netprof")));
    assert_false(nccl_recorded_recognise(tree_path(tree, "netprof-nccl-3.netprof"))); // there is none
    tree_remove(tree);
}

// ---- what is said of devices ----

static const char *one_swapped(int rank, int member)
{
    return adapter_by_place(rank == 4 || rank == 5 ? 9 - rank : rank,
                            member); // both of h3: in another order, nothing else
}

static const char *one_other(int rank, int member)
{
    return rank == 5 ? "mlx5_7" : adapter_by_place(rank, member);
}

static const char *by_member(int rank, int member)
{
    (void)rank;
    return member ? "mlx5_1" : "mlx5_0";
}

static int64_t unlike_members(int rank, int member)
{
    return rank == 3 ? member ? 90000 : 10000 : 50000;
}

static int64_t nearly_even(int rank, int member)
{
    return rank == 3 ? member ? 51000 : 49000 : 50000;
}

static const char *one_host_by_sockets(int rank)
{
    return rank / EACH == 2 ? "socket" : "ib";
}

static const char *always_sockets(int rank)
{
    (void)rank;
    return "socket";
}

// Which rules speak of devices, and the claim's words.
typedef struct device_case {
    const char *what;
    job_plan plan;
    const char *rule, *words; // NULL: none of those
    double value;
    const char *also; // follows from it
} device_case;

static const char *const device_rules[] = {"nccl-unequal-members", "nccl-other-adapter", "nccl-cross-rail",
                                           "nccl-sockets", "nccl-rdma-unused"};

static const device_case device_cases[] = {
    {"each to the same place", {2, adapter_by_place, always_ib, even_bytes, 0, false}, NULL, NULL, 0, NULL},
    {"in a ring, over rails",
     {1, adapter_by_place, always_ib, even_bytes, 0, false},
     "nccl-cross-rail",
     "100 % of the bytes between hosts go between ranks that send through adapters of unlike names",
     1,
     NULL},
    {"two that changed places",
     {2, one_swapped, always_ib, even_bytes, 0, false},
     "nccl-cross-rail",
     "of unlike names",
     -1,
     NULL},
    {"an adapter that nobody else has",
     {2, one_other, always_ib, even_bytes, 0, false},
     "nccl-other-adapter",
     "rank 5 of world, on host h3, sends through mlx5_7; the rank of its place (1, in the order of ranks, from 0) on "
     "3 other hosts sends through mlx5_1",
     0.75,
     "nccl-cross-rail"},
    {"members alike", {2, by_member, always_ib, nearly_even, 2, false}, NULL, NULL, 0, NULL},
    {"members unlike",
     {2, by_member, always_ib, unlike_members, 2, false},
     "nccl-unequal-members",
     "sends 10 % of its bytes through mlx5_0 of a joined network device, 90 % through mlx5_1; 1 rank sends so "
     "unequally, of 8 ranks with joined devices",
     0.2,
     NULL},
    {"a host by sockets",
     {2, NULL, one_host_by_sockets, even_bytes, 0, false},
     "nccl-sockets",
     "host h3 sends through sockets (100 % of its operations), 3 other hosts send through InfiniBand or RoCE",
     1,
     NULL},
    {"all by sockets", {2, NULL, always_sockets, even_bytes, 0, false}, NULL, NULL, 0, NULL},
    {"all by sockets beside a port",
     {2, NULL, always_sockets, even_bytes, 0, true},
     "nccl-rdma-unused",
     "all 4 hosts that send use sockets, and none InfiniBand or RoCE, although 1 of them has an RDMA adapter whose "
     "port "
     "is active (mlx5_0 on host h2)",
     0.25,
     NULL},
};

static void what_is_said_of_devices(void **state)
{
    json_object *all = json_new_object();
    (void)state;
    for (size_t i = 0; i < COUNT(device_cases); i++) {
        const device_case *x = &device_cases[i];
        results r = read_job(&x->plan);
        bool said = false;
        for (size_t k = 0; k < r.f.count; k++) {
            const nccl_finding *f = &r.f.items[k];
            bool expected = x->rule && strcmp(f->rule->name, x->rule) == 0;
            for (size_t d = 0; d < COUNT(device_rules) && !expected; d++)
                if (strcmp(f->rule->name, device_rules[d]) == 0 && !(x->also && strcmp(f->rule->name, x->also) == 0))
                    fail_msg("%s: %s", x->what, f->claim);
            said |= expected;
            if (expected && !strstr(f->claim, x->words)) fail_msg("%s: %s", x->what, f->claim);
            if (expected && x->value >= 0) assert_near(f->value, x->value, 1e-9);
        }
        if (x->rule && !said) fail_msg("%s: nothing is said", x->what);
        json_put(all, x->what, told(&r.n, &r.f));
        results_end(&r);
    }
    golden_expect(all, "nccl/devices.json"); // and all that is said, whole
}

// ---- tables and pages ----

static void tables_hold_every_row(void **state)
{
    results r = read_job(&usual);
    struct sink waits = {0}, adapters = {0};
    char line[400];
    (void)state;
    assert_int_equal(nccl_export(&r.n, NCCL_WAITS_CSV, NULL, sink_write, &waits), NETPROF_OK);
    assert_int_equal(nccl_export(&r.n, NCCL_ADAPTERS_CSV, NULL, sink_write, &adapters), NETPROF_OK);
    sink_write(&waits, "", 1);
    sink_write(&adapters, "", 1);
    for (int rank = 0; rank < RANKS; rank++) {
        int before = (rank + RANKS - 1) % RANKS + 1;
        // Own GPU 8, credit 16, wire 24 and more: the wire is half of it from the first rank on.
        snprintf(line, sizeof line,
                 "0xab,world,mixed,%d,h%d,%d,AllReduce,%d,%d,wire,32,%d,32,64,%d,32,%d,128,8,16,0,0\n", rank,
                 rank / EACH + 1, 100 + rank, BYTES, CALLS, 4000 * (rank + 1), 96 + 32 * rank, 4000 * before);
        if (!strstr((const char *)waits.data, line)) fail_msg("no %s in %s", line, waits.data);
        snprintf(line, sizeof line, "0xab,world,mixed,%d,h%d,%d,send,ib,mlx5_%d,0,120,%d\n", rank, rank / EACH + 1,
                 100 + rank, rank % EACH, 1000 * (rank + 1));
        if (!strstr((const char *)adapters.data, line)) fail_msg("no %s in %s", line, adapters.data);
        snprintf(line, sizeof line, "0xab,world,mixed,%d,h%d,%d,recv,ib,mlx5_%d,0,10,\n", rank, rank / EACH + 1,
                 100 + rank, rank % EACH);
        if (!strstr((const char *)adapters.data, line)) fail_msg("no %s in %s", line, adapters.data);
    }
    sink_free(&waits);
    sink_free(&adapters);
    results_end(&r);
}

static void pages_show_adapters(void **state)
{
    const job_plan plan = {2, by_member, always_ib, unlike_members, 2, false};
    results r = read_job(&plan);
    nccl_view v = {0};
    size_t accused = 0;
    (void)state;
    nccl_view_make(&v, &r.n, &r.f, NULL, NULL);
    assert_int_equal(v.recorded_files, RANKS);
    assert_int_equal(v.adapters.count, 4 * RANKS); // two members, both ways
    assert_int_equal(v.adapters_left, 0);
    for (size_t i = 0; i < v.adapters.count; i++) {
        const nccl_view_adapter *x = &v.adapters.items[i];
        int rank = (int)x->pid - 100, member = (int)x->member;
        bool sends = strcmp(x->way, "sends") == 0;
        assert_string_equal(x->by, "RDMA");
        assert_string_equal(x->adapter, by_member(rank, member));
        assert_int_equal(x->requests, sends ? 120 : 10);
        assert_true(sends ? x->bytes == (double)unlike_members(rank, member) : isnan(x->bytes));
        if (sends) assert_near(x->share, (double)unlike_members(rank, member) / 100000, 1e-9);
        if (i < 4) assert_int_equal(rank, 3); // what a finding is about comes first
        accused += x->severity == SEVERITY_WATCH;
        assert_int_equal(*x->remark != 0, rank == 3 && sends);
    }
    assert_int_equal(accused, 2);
    // To the second next rank: always to the next host, and to the same place.
    assert_near(v.between_bytes, (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8) * 1000.0 * CALLS, 1e-9);
    assert_near(v.across_bytes, 0, 1e-9);
    nccl_view_free(&v);
    results_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_records),
        cmocka_unit_test(what_transfers_waited_for),
        cmocka_unit_test(when_calls_used_the_network),
        cmocka_unit_test(through_which_devices),
        cmocka_unit_test(a_copy_counts_once),
        cmocka_unit_test(what_was_lost),
        cmocka_unit_test(communicators_that_cannot_be),
        cmocka_unit_test(odd_calls_are_told_apart),
        cmocka_unit_test(names_and_first_facts),
        cmocka_unit_test(what_is_said_of_devices),
        cmocka_unit_test(tables_hold_every_row),
        cmocka_unit_test(pages_show_adapters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
