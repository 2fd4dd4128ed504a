// What the transfers of each collective waited for, summed over its ranks: every field against the rows that were recorded.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/nccl/findings/nccl_waits.h"
#include "analysis/nccl/logs/nccl_logs.h"
#include "recorded_rows.h"
#include "support.h"

#include <math.h>

static const int64_t BEGIN = INT64_C(1763643720000000000), US = 1000;

// What one rank sent, or received, in all calls of a collective and size; times in us.
typedef struct spent {
    const char *func;
    int64_t size, calls;
    int rank;
    bool sends;
    int64_t steps, bytes, gpu, credit, wire, flush;
    bool unsized; // one more operation, of which nobody recorded the bytes
} spent_row;

static const spent_row spent_rows[] = {
    {"AllReduce", 4096, 3, 0, true, 10, 1000, 40, 20, 30, 0, false},
    {"AllReduce", 4096, 2, 1, true, 20, 3000, 10, 400, 70, 0, false},
    {"AllReduce", 4096, 3, 2, true, 5, 500, 1, 2, 95, 0, false},
    {"AllReduce", 4096, 3, 0, false, 6, 3100, 7, 0, 50, 9, false},
    {"AllReduce", 65536, 1, 0, true, 4, 900, 5, 5, 5, 0, false},
    {"AllReduce", 65536, 1, 1, false, 8, 901, 100, 0, 200, 300, true},
    {"AllGather", 4096, 4, 2, true, 3, 77, 600, 100, 90, 0, true},
    {"Broadcast", 512, 2, 1, false, 2, 66, 11, 0, 600, 4, false},
    {"Broadcast", 512, 2, 0, true, 2, 66, 0, 0, 0, 0, false},
    {"Broadcast", 512, 2, 2, true, 2, 66, 0, 0, 0, 0, false},
};
enum { RANKS = 3 };

static void put_transfer(recorded_file *f, const spent_row *x, int64_t call, bool unsized)
{
    rows r = rows_begin("nccl.transfer");
    rows_number(&r, "comm", 1);
    rows_number(&r, "call", call);
    rows_number(&r, "peer", (x->rank + (x->sends ? 1 : RANKS - 1)) % RANKS);
    rows_text(&r, "direction", x->sends ? "send" : "recv");
    rows_text(&r, "transport", "ib");
    rows_number(&r, "ops", 1);
    rows_number(&r, "steps", unsized ? 0 : x->steps);
    rows_number(&r, "timed", unsized ? 0 : x->steps);
    rows_number(&r, "bytes", unsized ? 0 : x->bytes);
    rows_number(&r, "own_gpu_ns", unsized ? 0 : x->gpu * US);
    rows_number(&r, "credit_ns", unsized ? 0 : x->credit * US);
    rows_number(&r, "wire_ns", unsized ? 0 : x->wire * US);
    rows_number(&r, "flush_ns", unsized ? 0 : x->flush * US);
    rows_put(f, &r);
}

static void put_calls(recorded_file *f, const spent_row *x, int64_t *call)
{
    rows r = rows_begin("nccl.call");
    for (int64_t i = 0; i < x->calls; i++) {
        rows_number(&r, "comm", 1);
        rows_number(&r, "call", ++*call);
        rows_text(&r, "kind", "coll");
        rows_text(&r, "func", x->func);
        rows_number(&r, "sn", *call);
        rows_number(&r, "bytes", x->size);
        rows_number(&r, "kernels", 1);
        rows_number(&r, "enqueue_ns", BEGIN);
        rows_number(&r, "gpu_begin_ns", BEGIN + *call * US);
        rows_number(&r, "gpu_end_ns", BEGIN + (*call + 10) * US);
        rows_next(&r);
    }
    rows_put(f, &r);
}

static void write_rank(const char *tree, int rank)
{
    char host[8];
    int64_t call = 0;
    snprintf(host, sizeof host, "h%d", rank);
    recorded_file f = recorded_open(tree, "", host, 100 + rank);
    rows c = rows_begin("nccl.comm");
    rows_number(&c, "comm", 1);
    rows_text(&c, "id", "0xab");
    rows_text(&c, "name", "world");
    rows_number(&c, "rank", rank);
    rows_number(&c, "ranks", RANKS);
    rows_number(&c, "nodes", RANKS);
    rows_number(&c, "begin_ns", BEGIN);
    rows_put(&f, &c);
    for (size_t i = 0; i < COUNT(spent_rows); i++) {
        const spent_row *x = &spent_rows[i];
        bool again = false;
        if (x->rank != rank) continue;
        // What it sent and received in the same calls is told once.
        for (size_t k = 0; k < i; k++)
            again |=
                spent_rows[k].rank == rank && strcmp(spent_rows[k].func, x->func) == 0 && spent_rows[k].size == x->size;
        if (!again) put_calls(&f, x, &call);
        put_transfer(&f, x, again ? 1 : call, false);
        if (x->unsized) put_transfer(&f, x, call, true);
    }
    recorded_close(&f);
}

typedef struct sums {
    uint64_t sent, received, sent_bytes, received_bytes;
    double gpu, credit, wire, data, flush, consume;
    bool sent_at_least, received_at_least;
} sums;

static sums sums_of(const char *func, int64_t size)
{
    sums s = {0};
    for (size_t i = 0; i < COUNT(spent_rows); i++) {
        const spent_row *x = &spent_rows[i];
        if (strcmp(x->func, func) != 0 || x->size != size) continue;
        *(x->sends ? &s.sent : &s.received) += (uint64_t)x->steps;
        *(x->sends ? &s.sent_bytes : &s.received_bytes) += (uint64_t)x->bytes;
        *(x->sends ? &s.gpu : &s.consume) += (double)x->gpu;
        *(x->sends ? &s.wire : &s.data) += (double)x->wire;
        s.credit += (double)x->credit;
        s.flush += (double)x->flush;
        *(x->sends ? &s.sent_at_least : &s.received_at_least) |= x->unsized;
    }
    return s;
}

static void check_row(const nccl_waits_row *row)
{
    const sums s = sums_of(row->coll, (int64_t)row->size);
    assert_int_equal(row->sum.sent, s.sent);
    assert_int_equal(row->sum.received, s.received);
    assert_int_equal(row->sum.sent_bytes, s.sent_bytes);
    assert_int_equal(row->sum.received_bytes, s.received_bytes);
    const double found[] = {row->sum.gpu_us,     row->sum.credit_us, row->sum.wire_us,
                            row->sum.receive_us, row->sum.flush_us,  row->sum.consume_us},
                 expected[] = {s.gpu, s.credit, s.wire, s.data, s.flush, s.consume};
    for (size_t i = 0; i < COUNT(found); i++)
        if (fabs(found[i] - expected[i]) > 1e-9)
            fail_msg("%s of %d: wait %zu is %g, not %g", row->coll, (int)row->size, i, found[i], expected[i]);
    assert_int_equal(row->sum.sent_at_least, s.sent_at_least);
    assert_int_equal(row->sum.received_at_least, s.received_at_least);
    assert_true(fabs(nccl_split_send_us(&row->sum) - (s.gpu + s.credit + s.wire)) < 1e-9);
    assert_true(fabs(nccl_split_receive_us(&row->sum) - (s.data + s.flush + s.consume)) < 1e-9);
}

// The longest waiting first, sending and receiving together: AllGather 790, AllReduce 734 (of 4 KiB), Broadcast and
// AllReduce of 64 KiB 615 each: of these two what comes first by name and size, Broadcast being the later.
static void by_collective(void **state)
{
    static const struct {
        const char *coll, *mostly;
        uint64_t size, calls;
        size_t ranks;
        int longest; // rank; -1: fewer than two sent
        double longest_us, middle_us;
    } expected[] = {
        {"AllGather", "own GPU", 4096, 4, 1, -1, 790 / 3.0, NAN},
        {"AllReduce", "credit", 4096, 3, 3, 1, 480 / 20.0, 98 / 5.0},
        {"AllReduce", "mixed", 65536, 1, 2, -1, 15 / 4.0, NAN},
        {"Broadcast", "", 512, 2, 3, 0, 0, 0},
    };
    char *tree = tree_make();
    const char *path = tree;
    nccl n = {0};
    nccl_waits w;
    (void)state;
    for (int rank = 0; rank < RANKS; rank++)
        write_rank(tree, rank);
    assert_int_equal(nccl_read(&n, &path, 1, NULL, NULL), NETPROF_OK);
    nccl_waits_make(&w, &n);
    assert_int_equal(w.count, COUNT(expected));
    for (size_t i = 0; i < w.count; i++) {
        const nccl_waits_row *row = &w.items[i];
        assert_string_equal(row->coll, expected[i].coll);
        assert_int_equal(row->size, expected[i].size);
        assert_int_equal(row->communicator, 0);
        assert_int_equal(row->calls, expected[i].calls);
        assert_int_equal(row->count, expected[i].ranks);
        assert_int_equal(row->longest == NCCL_NONE ? -1 : n.members[row->longest].rank, expected[i].longest);
        assert_true(fabs(row->longest_us - expected[i].longest_us) < 1e-9);
        assert_true(isnan(expected[i].middle_us) ? isnan(row->middle_us)
                                                 : fabs(row->middle_us - expected[i].middle_us) < 1e-9);
        assert_string_equal(nccl_split_mostly(&row->sum), expected[i].mostly);
        check_row(row);
        for (size_t k = 0; k < row->count; k++) {
            const nccl_spent *x = &n.spent[w.ranks[row->first + k]];
            assert_string_equal(x->coll, row->coll);
            assert_int_equal(x->size, row->size);
            if (k) assert_true(w.ranks[row->first + k] > w.ranks[row->first + k - 1]);
        }
    }
    // Each call took 10 us; what its bandwidth is follows from its bytes, as the file has none.
    assert_int_equal(n.disagreeing, 0);
    for (size_t i = 0; i < n.instance_count; i++) {
        const nccl_series *s = &n.series[n.instances[i].series];
        const char *coll = n.colls[s->coll];
        double bytes = (double)s->size * (strcmp(coll, "AllGather") == 0 ? RANKS : 1),
               factor = strcmp(coll, "AllReduce") == 0   ? 2 * (RANKS - 1.0) / RANKS
                        : strcmp(coll, "AllGather") == 0 ? (RANKS - 1.0) / RANKS
                                                         : 1;
        assert_int_equal(n.instances[i].min_us, 10);
        assert_true(fabs(n.instances[i].max_bus - bytes / 10e3 * factor) < 1e-9);
    }
    nccl_waits_free(&w);
    assert_int_equal(w.count, 0);
    assert_null(w.items);
    nccl_free(&n);
    tree_remove(tree);
}

// Half of it is the larger part, less is not.
static void the_larger_part(void **state)
{
    static const struct {
        nccl_split s;
        const char *name;
    } rows_of[] = {
        {{.gpu_us = 5, .credit_us = 3, .wire_us = 2}, "own GPU"},
        {{.gpu_us = 4, .credit_us = 4, .wire_us = 1}, "mixed"},
        {{.gpu_us = 3, .credit_us = 5, .wire_us = 2}, "credit"},
        {{.gpu_us = 1, .credit_us = 3, .wire_us = 4}, "wire"},
        {{.receive_us = 9, .consume_us = 8}, ""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows_of); i++)
        assert_string_equal(nccl_split_mostly(&rows_of[i].s), rows_of[i].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_collective), cmocka_unit_test(the_larger_part)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
