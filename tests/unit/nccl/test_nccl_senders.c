// What tables, JSON and lists of pages tell of who sent to whom and what that waited for: every figure by arithmetic on the
// rows that were recorded.
#define _GNU_SOURCE // nftw
#include "netprof.h"

#include "analysis/nccl/export/nccl_export.h"
#include "nccl_all_to_all.h"
#include "support.h"

// ---- tables and JSON ----

static json_object *at(json_object *o, const char *path)
{
    json_object *found = NULL;
    if (json_pointer_get(o, path, &found)) fail_msg("no %s", path);
    return found;
}

static double number_at(json_object *o, const char *key)
{
    json_object *found = NULL;
    if (!json_object_object_get_ex(o, key, &found)) fail_msg("no %s", key);
    return json_object_get_double(found);
}

// What a rank sent, or received, over all others: steps, bytes, and each wait by its steps.
typedef struct side_sums {
    double steps, bytes, waits[NCCL_WAITS];
} side_sums;

static side_sums side_of(int rank, bool sends)
{
    side_sums s = {0};
    for (int peer = 0; peer < RANKS; peer++) {
        int from = sends ? rank : peer, to = sends ? peer : rank;
        if (peer == rank) continue;
        s.steps += (double)steps_of(from, to);
        s.bytes += (double)bytes_of(from, to);
        for (int w = 0; w < NCCL_WAITS; w++)
            s.waits[w] += (double)(steps_of(from, to) * wait_of(none_is_slow, from, to, (nccl_wait)w, 1));
    }
    return s;
}

static void check_split(json_object *o, int rank)
{
    const side_sums sent = side_of(rank, true), received = side_of(rank, false);
    assert_near(number_at(o, "tx_steps"), sent.steps);
    assert_near(number_at(o, "tx_bytes"), sent.bytes);
    assert_near(number_at(o, "own_gpu_us"), sent.waits[NCCL_WAIT_GPU]);
    assert_near(number_at(o, "credit_us"), sent.waits[NCCL_WAIT_CREDIT]);
    assert_near(number_at(o, "wire_us"), sent.waits[NCCL_WAIT_WIRE]);
    assert_near(number_at(o, "rx_steps"), received.steps);
    assert_near(number_at(o, "rx_bytes"), received.bytes);
    assert_near(number_at(o, "flush_us"), received.waits[NCCL_WAIT_FLUSH]);
    assert_near(number_at(o, "receive_us"), 5.0 * (RANKS - 1));
    assert_near(number_at(o, "consume_us"), 3.0 * (RANKS - 1));
}

static void check_matrix(json_object *o, const char *name, const results *r, nccl_wait wait, bool bytes)
{
    json_object *all = at(o, name);
    assert_int_equal(json_object_array_length(all), RANKS);
    for (size_t from = 0; from < RANKS; from++) {
        json_object *row = json_object_array_get_idx(all, from);
        assert_int_equal(json_object_array_length(row), RANKS);
        for (size_t to = 0; to < RANKS; to++) {
            json_object *cell = json_object_array_get_idx(row, to);
            if (from == to) {
                assert_null(cell);
                continue;
            }
            const nccl_peer *x = &r->p.items[from * (RANKS - 1) + to - (to > from)];
            double expected = bytes                ? (double)bytes_of((int)from, (int)to)
                              : wait == NCCL_WAITS ? nccl_peer_delay(x)
                                                   : (double)wait_of(none_is_slow, (int)from, (int)to, wait, 1);
            assert_near(json_object_get_double(cell), expected);
        }
    }
}

static void matrices_as_json(void **state)
{
    results r = {.tree = tree_make()};
    (void)state;
    write_all_to_all(r.tree, none_is_slow, 1);
    read_results(&r);
    json_object *o = nccl_json(&r.n, NULL, NULL), *missing;
    assert_int_equal(json_object_array_length(at(o, "/proxies")), RANKS);
    assert_int_equal(json_object_array_length(at(o, "/waits")), 1);
    assert_int_equal(json_object_array_length(at(o, "/waits/0/ranks")), RANKS);
    for (size_t i = 0; i < RANKS; i++) {
        json_object *x = json_object_array_get_idx(at(o, "/proxies"), i);
        char host[16];
        int rank = (int)number_at(x, "pid") - 100;
        snprintf(host, sizeof host, "h%d", rank / EACH);
        assert_string_equal(json_object_get_string(at(x, "/host")), host);
        check_split(x, rank);
        x = json_object_array_get_idx(at(o, "/waits/0/ranks"), i);
        rank = (int)number_at(x, "rank");
        assert_int_equal(number_at(x, "pid"), 100 + rank);
        assert_int_equal(number_at(x, "calls"), 1);
        check_split(x, rank);
    }
    json_object *one = at(o, "/peers/0");
    assert_string_equal(json_object_get_string(at(one, "/communicator")), "world");
    assert_string_equal(json_object_get_string(at(one, "/id")), "0xa1");
    assert_near(number_at(one, "rank_count"), RANKS);
    check_matrix(one, "/own_gpu_us", &r, NCCL_WAIT_GPU, false);
    check_matrix(one, "/credit_us", &r, NCCL_WAIT_CREDIT, false);
    check_matrix(one, "/wire_us", &r, NCCL_WAIT_WIRE, false);
    check_matrix(one, "/flush_us", &r, NCCL_WAIT_FLUSH, false);
    check_matrix(one, "/delay_us", &r, NCCL_WAITS, false);
    check_matrix(one, "/bytes", &r, NCCL_WAITS, true);
    assert_false(json_object_object_get_ex(one, "bytes_lower_bound", &missing)); // all are known
    json_object_put(o);
    results_end(&r);
}

static void matrices_as_csv(void **state)
{
    results r = {.tree = tree_make()};
    struct sink peers = {0}, proxies = {0};
    char line[400];
    (void)state;
    write_all_to_all(r.tree, none_is_slow, 1);
    read_results(&r);
    assert_int_equal(nccl_export(&r.n, NCCL_PEERS_CSV, NULL, sink_write, &peers), NETPROF_OK);
    assert_int_equal(nccl_export(&r.n, NCCL_PROXIES_CSV, NULL, sink_write, &proxies), NETPROF_OK);
    sink_write(&peers, "", 1);
    sink_write(&proxies, "", 1);
    for (int from = 0; from < RANKS; from++)
        for (int to = 0; to < RANKS; to++) {
            int64_t steps = steps_of(from, to), us[NCCL_WAITS];
            if (from == to) continue;
            for (int w = 0; w < NCCL_WAITS; w++)
                us[w] = steps * wait_of(none_is_slow, from, to, (nccl_wait)w, 1);
            snprintf(line, sizeof line,
                     "\n0xa1,world,mixed,%d,h%d,%d,%d,h%d,%d,%lld,%lld,%lld,%lld,%lld,%lld,%lld,5,3,", from,
                     from / EACH, 100 + from, to, to / EACH, 100 + to, (long long)bytes_of(from, to), (long long)steps,
                     (long long)steps, (long long)us[0], (long long)us[1], (long long)us[2], (long long)us[3]);
            if (!strstr((const char *)peers.data, line)) fail_msg("no %s in %s", line, (char *)peers.data);
            snprintf(line, sizeof line, "\n0xa1,world,mixed,%d,h%d,%d,send,%d,1,%lld,", from, from / EACH, 100 + from,
                     to, (long long)steps);
            if (!strstr((const char *)proxies.data, line)) fail_msg("no %s in %s", line, (char *)proxies.data);
            snprintf(line, sizeof line, "\n0xa1,world,mixed,%d,h%d,%d,recv,%d,1,%lld,", to, to / EACH, 100 + to, from,
                     (long long)steps);
            if (!strstr((const char *)proxies.data, line)) fail_msg("no %s in %s", line, (char *)proxies.data);
        }
    sink_free(&peers);
    sink_free(&proxies);
    results_end(&r);
}

// ---- lists of pages ----

// Whose steps take longest comes first; of each all sums.
static void waits_on_pages(void **state)
{
    results r = {.tree = tree_make()};
    double before = INFINITY;
    (void)state;
    write_all_to_all(r.tree, from_3, 1);
    read_results(&r);
    assert_int_equal(r.v.transfers.count, RANKS);
    assert_int_equal(r.v.transfers_left, 0);
    assert_string_equal(r.v.transfers.items[0].name, "3 of world");
    for (size_t i = 0; i < RANKS; i++) {
        const nccl_view_waiting *x = &r.v.transfers.items[i];
        int rank = (int)x->pid - 100;
        const side_sums sent = side_of(rank, true), received = side_of(rank, false);
        assert_int_equal(x->host[1] - '0', rank / EACH);
        assert_int_equal(x->calls, 0);
        assert_near((double)x->sent, sent.steps);
        assert_near((double)x->received, received.steps);
        assert_near((double)x->sent_bytes, sent.bytes);
        assert_near((double)x->received_bytes, received.bytes);
        assert_near(x->gpu_us, sent.waits[NCCL_WAIT_GPU]);
        assert_near(x->credit_us, sent.waits[NCCL_WAIT_CREDIT]);
        assert_near(x->wire_us, rank == 3 ? SLOW * sent.steps : sent.waits[NCCL_WAIT_WIRE]);
        assert_near(x->flush_us, received.waits[NCCL_WAIT_FLUSH]);
        assert_near(x->data_us, 5.0 * (RANKS - 1));
        assert_near(x->consume_us, 3.0 * (RANKS - 1));
        assert_false(x->sent_at_least || x->received_at_least);
        double step = (x->gpu_us + x->credit_us + x->wire_us) / (double)x->sent;
        assert_true(step <= before);
        before = step;
    }
    assert_int_equal(r.v.waits.count, 1);
    assert_int_equal(r.v.waits_left, 0);
    const nccl_view_wait *w = &r.v.waits.items[0];
    double sums[2] = {0, 0};
    for (int rank = 0; rank < RANKS; rank++) {
        sums[0] += side_of(rank, true).waits[NCCL_WAIT_GPU];
        sums[1] += side_of(rank, false).waits[NCCL_WAIT_FLUSH];
    }
    assert_string_equal(w->label, "world");
    assert_string_equal(w->coll, "AllReduce");
    assert_string_equal(w->longest, "3 of world");
    assert_int_equal(w->size, 4096);
    assert_int_equal(w->calls, 1);
    assert_int_equal(w->ranks, RANKS);
    assert_near(w->gpu_us, sums[0]);
    assert_near(w->flush_us, sums[1]);
    assert_near(w->data_us, 5.0 * RANKS * (RANKS - 1));
    assert_near(w->consume_us, 3.0 * RANKS * (RANKS - 1));
    assert_true(w->items.count == 8 && strcmp(w->items.items[0].name, "3 of world") == 0); // the eight longest
    const nccl_view_waiting *first = &w->items.items[0];
    assert_near(w->longest_us, (first->gpu_us + first->credit_us + first->wire_us) / (double)first->sent);
    assert_true(w->middle_us > 3 * USUAL && w->middle_us < 3 * (USUAL + 2));
    results_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_as_json),
        cmocka_unit_test(matrices_as_csv),
        cmocka_unit_test(waits_on_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
