// A job recorded by netprof's plugin in which everybody sends to everybody: ranks, bytes, steps and waits are unlike. Include
// netprof.h first.
#ifndef NETPROF_TESTS_NCCL_ALL_TO_ALL_H
#define NETPROF_TESTS_NCCL_ALL_TO_ALL_H

#include "analysis/nccl/findings/nccl_peers.h"
#include "analysis/nccl/logs/nccl_logs.h"
#include "analysis/nccl/view/nccl_view.h"
#include "nccl_claims.h"
#include "recorded_rows.h"
#include "support.h"

static const int64_t BEGIN = INT64_C(1763643720000000000), US = 1000;

enum { HOSTS = 6, EACH = 2, RANKS = HOSTS * EACH, USUAL = 20, SLOW = 100, SLOWER = 150 };

SUPPORT void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)) && !(isnan(value) && isnan(expected)))
        fail_msg("%.12g is not %.12g", value, expected);
}

// ---- a job in which everybody sends to everybody ----

typedef bool way_is_slow(int from, int to, nccl_wait wait);

SUPPORT int64_t steps_of(int from, int to)
{
    return 40 + (from * 3 + to) % 7;
}

SUPPORT int64_t bytes_of(int from, int to)
{
    return 1000 * (from + 1) + 10 * to + 1;
}

SUPPORT int64_t wait_of(way_is_slow *slow, int from, int to, nccl_wait wait, int communicator)
{
    if (slow(from, to, wait)) return communicator == 1 ? SLOW : SLOWER;
    return USUAL + (from * 7 + to + (int)wait) % 3;
}

SUPPORT void put_communicator(recorded_file *f, int serial, int rank, int ranks, int nodes)
{
    rows r = rows_begin("nccl.comm");
    rows_number(&r, "comm", serial);
    rows_text(&r, "id", serial == 1 ? "0xa1" : "0xa2");
    rows_text(&r, "name", serial == 1 ? "world" : "second");
    rows_number(&r, "rank", rank);
    rows_number(&r, "ranks", ranks);
    rows_number(&r, "nodes", nodes);
    rows_number(&r, "begin_ns", BEGIN);
    rows_put(f, &r);
}

SUPPORT void put_call(recorded_file *f, int serial)
{
    rows r = rows_begin("nccl.call");
    rows_number(&r, "comm", serial);
    rows_number(&r, "call", 1);
    rows_text(&r, "kind", "coll");
    rows_text(&r, "func", "AllReduce");
    rows_number(&r, "bytes", 4096);
    rows_number(&r, "enqueue_ns", BEGIN + 900 * US);
    rows_number(&r, "first_ns", BEGIN + 1000 * US);
    rows_number(&r, "last_ns", BEGIN + 2000 * US);
    rows_number(&r, "kernels", 1);
    rows_number(&r, "gpu_begin_ns", BEGIN + 1000 * US);
    rows_number(&r, "gpu_end_ns", BEGIN + 2000 * US);
    rows_put(f, &r);
}

SUPPORT void put_transfer(rows *r, way_is_slow *slow, int serial, int rank, int peer, bool sends)
{
    int from = sends ? rank : peer, to = sends ? peer : rank;
    int64_t steps = steps_of(from, to);
    rows_number(r, "comm", serial);
    rows_number(r, "call", 1);
    rows_number(r, "peer", peer);
    rows_text(r, "direction", sends ? "send" : "recv");
    rows_text(r, "transport", "ib");
    rows_number(r, "ops", 1);
    rows_number(r, "steps", steps);
    rows_number(r, "timed", steps);
    rows_number(r, "bytes", bytes_of(from, to));
    rows_number(r, "own_gpu_ns", sends ? steps * wait_of(slow, from, to, NCCL_WAIT_GPU, serial) * US : 3 * US);
    rows_number(r, "credit_ns", sends ? steps * wait_of(slow, from, to, NCCL_WAIT_CREDIT, serial) * US : 0);
    rows_number(r, "wire_ns", sends ? steps * wait_of(slow, from, to, NCCL_WAIT_WIRE, serial) * US : 5 * US);
    rows_number(r, "flush_ns", sends ? 0 : steps * wait_of(slow, from, to, NCCL_WAIT_FLUSH, serial) * US);
    rows_next(r);
}

SUPPORT void write_all_to_all(const char *tree, way_is_slow *slow, int communicators)
{
    for (int rank = 0; rank < RANKS; rank++) {
        char host[8];
        snprintf(host, sizeof host, "h%d", rank / EACH);
        recorded_file f = recorded_open(tree, "", host, 100 + rank);
        rows sent = rows_begin("nccl.transfer");
        for (int serial = 1; serial <= communicators; serial++) {
            put_communicator(&f, serial, rank, RANKS, HOSTS);
            put_call(&f, serial);
            for (int peer = 0; peer < RANKS; peer++)
                for (int sends = 0; sends < 2 && peer != rank; sends++)
                    put_transfer(&sent, slow, serial, rank, peer, sends);
        }
        rows_put(&f, &sent);
        recorded_close(&f);
    }
}

typedef struct results {
    char *tree;
    nccl n;
    nccl_findings f;
    nccl_peers p;
    nccl_view v;
} results;

SUPPORT void read_results(results *r)
{
    const char *path = r->tree;
    assert_int_equal(nccl_read(&r->n, &path, 1, NULL, NULL), NETPROF_OK);
    nccl_findings_make(&r->f, &r->n, NULL);
    claims_check(&r->n, &r->f);
    nccl_peers_make(&r->p, &r->n);
    nccl_view_make(&r->v, &r->n, &r->f, NULL, NULL);
}

SUPPORT void results_end(results *r)
{
    nccl_view_free(&r->v);
    nccl_peers_free(&r->p);
    nccl_findings_free(&r->f);
    nccl_free(&r->n);
    tree_remove(r->tree);
}

SUPPORT int rank_of(const results *r, uint32_t member)
{
    return (int)r->n.members[member].rank;
}

SUPPORT bool none_is_slow(int from, int to, nccl_wait wait)
{
    (void)from, (void)to, (void)wait;
    return false;
}

SUPPORT bool from_3(int from, int to, nccl_wait wait)
{
    return from == 3 && to >= 0 && wait == NCCL_WAIT_WIRE;
}

#endif
