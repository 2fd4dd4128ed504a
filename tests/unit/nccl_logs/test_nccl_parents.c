// Of which call an operation of a proxy is a part, from logs of the Inspector; and when calls ran. Every log is written here, so
// what must come out is arithmetic on what was written.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/base/json_values.h"
#include "analysis/base/stb_ds.h"
#include "analysis/nccl/export/nccl_peers_export.h"
#include "analysis/nccl/findings/nccl_findings.h"
#include "analysis/nccl/logs/nccl_logs.h"
#include "analysis/nccl/view/nccl_lanes.h"
#include "analysis/nccl/view/nccl_pairs.h"
#include "analysis/nccl/view/nccl_view.h"
#include "nccl_claims.h"
#include "support.h"

#include <math.h>

typedef struct log_file {
    char *tree;
    FILE *f;
} log_file;

static log_file log_open(const char *name)
{
    log_file l = {.tree = tree_make()};
    l.f = fopen(tree_path(l.tree, name), "we");
    assert_non_null(l.f);
    return l;
}

// Rank 0 of two, one on each host.
static void log_begin_of(const log_file *l, const char *host)
{
    fprintf(l->f,
            "{\"header\":{\"id\":\"0xab\",\"comm_name\":\"dp\",\"rank\":%d,\"n_ranks\":2,\"nnodes\":2},\"metadata\":{"
            "\"inspector_output_format_version\":\"v4.4\",\"dump_timestamp_us\":9000000,\"hostname\":\"%s\","
            "\"pid\":7},",
            host[1] == '1', host);
}

static void log_begin(const log_file *l)
{
    log_begin_of(l, "h0");
}

// from_us 0: it is not told when it ran.
static void log_call(const log_file *l, const char *coll, unsigned sn, unsigned size, unsigned long long from_us,
                     unsigned us)
{
    log_begin(l);
    fprintf(l->f,
            "\"coll_perf\":{\"coll\":\"%s\",\"coll_sn\":%u,\"coll_msg_size_bytes\":%u,\"coll_exec_time_us\":%u,"
            "\"coll_algobw_gbs\":1.0,\"coll_busbw_gbs\":1.0",
            coll, sn, size, us);
    if (from_us)
        fprintf(l->f, ",\"event_trace_ts\":{\"coll_start_ts\":%llu,\"coll_stop_ts\":%llu}", from_us, from_us + us);
    fprintf(l->f, "}}\n");
}

static void log_p2p(const log_file *l, const char *operation, unsigned sn, unsigned size)
{
    log_begin(l);
    fprintf(
        l->f,
        "\"p2p_perf\":{\"p2p\":\"%s\",\"p2p_sn\":%u,\"p2p_peer\":1,\"p2p_msg_size_bytes\":%u,\"p2p_exec_time_us\":9,"
        "\"p2p_algobw_gbs\":1.0,\"p2p_busbw_gbs\":1.0}}\n",
        operation, sn, size);
}

// An operation of two steps, which wait 1, 2, 3 us and 10, 20, 30 us.
static void log_operation(const log_file *l, const char *type, unsigned sn, bool sends, unsigned bytes,
                          unsigned long long from_us)
{
    log_begin(l);
    fprintf(l->f,
            "\"proxy_trace\":{\"record_type\":\"proxy_op\",\"parent_type\":\"%s\",\"parent_sn\":%u,\"peer\":1,"
            "\"direction\":\"%s\",\"n_steps_completed\":2,\"trans_size_bytes\":%u,\"total_us\":60,\"is_final\":true,"
            "\"steps\":[",
            type, sn, sends ? "send" : "recv", bytes);
    for (int i = 0; i < 2; i++) {
        unsigned long long at = from_us + (unsigned)i;
        fprintf(l->f, "%s{\"step\":%d,", i ? "," : "", i);
        if (sends)
            fprintf(l->f, "\"gpu_produce_us\":%d,\"peer_credit_us\":%d,\"wire_us\":%d", i ? 10 : 1, i ? 20 : 2,
                    i ? 30 : 3);
        else
            fprintf(l->f, "\"wire_us\":%d,\"flush_us\":%d,\"gpu_consume_us\":%d", i ? 10 : 1, i ? 20 : 2, i ? 30 : 3);
        if (from_us) fprintf(l->f, ",\"event_trace_ts\":{\"send_gpu_wait_ts\":%llu}", at);
        fprintf(l->f, "}");
    }
    fprintf(l->f, "]}}\n");
}

static void log_read(log_file *l, nccl *n, uint64_t part)
{
    const char *paths[] = {l->tree};
    assert_int_equal(fclose(l->f), 0);
    *n = (nccl){0};
    assert_int_equal(nccl_read(n, paths, 1, &(nccl_options){.part = part, .threads = 1}, NULL), NETPROF_OK);
}

static void log_end(log_file *l, nccl *n)
{
    nccl_free(n);
    tree_remove(l->tree);
}

static const nccl_spent *spent_of(const nccl *n, const char *coll, uint64_t size)
{
    for (size_t i = 0; i < n->spent_count; i++)
        if (strcmp(n->spent[i].coll, coll) == 0 && n->spent[i].size == size) return &n->spent[i];
    return NULL;
}

// ---- of which call ----

static void one_collective_is_told_by_its_number(void **state)
{
    (void)state;
    for (int parts = 0; parts < 2; parts++) { // a file in parts: calls and operations are in different ones
        log_file l = log_open("h0-pid7.log");
        nccl n;
        for (unsigned sn = 0; sn < 4; sn++)
            log_call(&l, "AllReduce", sn, sn < 3 ? 1000 : 5000, 0, 100);
        for (unsigned sn = 0; sn < 4; sn++)
            for (int sends = 0; sends < 2; sends++)
                log_operation(&l, "coll", sn, sends, 600 + sn, 0);
        log_operation(&l, "coll", 9, true, 1, 0); // there is no such call
        log_read(&l, &n, parts ? 900 : 0);
        assert_int_equal(n.spent_count, 2);
        const nccl_spent *x = spent_of(&n, "AllReduce", 1000);
        assert_non_null(x);
        assert_int_equal(x->calls, 3);
        assert_int_equal(x->sent, 6);
        assert_int_equal(x->received, 6);
        assert_int_equal(x->sent_bytes, 600 + 601 + 602);
        assert_true(x->gpu_us == 33 && x->credit_us == 66 && x->wire_us == 99);
        assert_true(x->data_us == 33 && x->flush_us == 66 && x->consume_us == 99);
        x = spent_of(&n, "AllReduce", 5000);
        assert_non_null(x);
        assert_int_equal(x->calls, 1);
        assert_int_equal(x->received_bytes, 603);
        assert_int_equal(n.proxied, 9);
        assert_int_equal(n.untied, 1);
        log_end(&l, &n);
    }
}

static void of_several_collectives_the_time_decides(void **state)
{
    log_file l = log_open("h0-pid7.log");
    nccl n;
    (void)state;
    log_call(&l, "AllReduce", 0, 1000, 1000000, 1000);
    log_call(&l, "AllGather", 0, 2000, 3000000, 1000);
    log_call(&l, "AllReduce", 1, 1000, 5000000, 1000);
    log_call(&l, "AllGather", 1, 2000, 5000500, 1000);
    log_call(&l, "AllReduce", 2, 1000, 0, 1000);
    log_call(&l, "AllGather", 3, 2000, 6000000, 1000);
    log_operation(&l, "coll", 0, true, 10, 1000500);
    log_operation(&l, "coll", 0, true, 20, 3000500);
    log_operation(&l, "coll", 0, false, 40, 3000500);
    log_operation(&l, "coll", 1, true, 50, 5000700); // both ran
    log_operation(&l, "coll", 2, true, 60, 5500000); // the number is one call's; an AllGather 2 may be missing
    log_operation(&l, "coll", 3, true, 70, 8000000); // that one did not run then
    log_read(&l, &n, 0);
    assert_int_equal(n.spent_count, 2);
    const nccl_spent *x = spent_of(&n, "AllGather", 2000);
    assert_non_null(x);
    assert_int_equal(x->sent_bytes, 20);
    assert_int_equal(x->received_bytes, 40);
    assert_int_equal(x->calls, 1);
    assert_int_equal(x->sent, 2);
    x = spent_of(&n, "AllReduce", 1000);
    assert_non_null(x);
    assert_int_equal(x->sent_bytes, 10);
    assert_int_equal(x->calls, 1);
    assert_int_equal(n.proxied, 6);
    assert_int_equal(n.untied, 3);
    log_end(&l, &n);
}

static void sends_and_receives_are_told_by_their_way(void **state)
{
    log_file l = log_open("h0-pid7.log");
    nccl n;
    (void)state;
    log_call(&l, "AllReduce", 1, 1000, 0, 100);
    log_p2p(&l, "Send", 1, 300);
    log_p2p(&l, "Recv", 1, 400);
    log_operation(&l, "p2p", 1, true, 300, 0);
    log_operation(&l, "p2p", 1, false, 400, 0);
    log_operation(&l, "other", 1, false, 400, 0); // of a kind that nobody knows
    log_read(&l, &n, 0);
    assert_int_equal(n.spent_count, 2);
    assert_int_equal(spent_of(&n, "Send", 300)->sent_bytes, 300);
    assert_int_equal(spent_of(&n, "Send", 300)->received, 0);
    assert_int_equal(spent_of(&n, "Recv", 400)->received_bytes, 400);
    assert_int_equal(n.untied, 1);
    log_end(&l, &n);
}

static void a_copy_of_a_log_counts_once(void **state)
{
    log_file l = log_open("h0-pid7.log");
    nccl n;
    (void)state;
    for (int copy = 0; copy < 2; copy++) {
        if (copy) {
            assert_int_equal(fclose(l.f), 0);
            l.f = fopen(tree_path(l.tree, "copy.log"), "we");
            assert_non_null(l.f);
        }
        log_call(&l, "AllReduce", 0, 1000, 0, 100);
        log_operation(&l, "coll", 0, true, 10, 0);
        log_operation(&l, "coll", 5, true, 10, 0);
    }
    log_read(&l, &n, 0);
    assert_int_equal(n.spent_count, 1);
    assert_int_equal(n.spent[0].sent_bytes, 10);
    assert_int_equal(n.proxied, 2);
    assert_int_equal(n.untied, 1);
    log_end(&l, &n);
}

// ---- bytes that nobody recorded ----

// What rank 0 sent to rank 1: in the matrix and its picture, and in the sums of the process and of the collective.
static void expect_lower_bound(const nccl *n, bool lower)
{
    json_object *peers = nccl_peers_json(n), *row = json_object_array_get_idx(peers, 0), *told = NULL;
    assert_int_equal(json_object_object_get_ex(row, "bytes_lower_bound", &told), lower);
    if (lower) {
        json_object *of_0 = json_object_array_get_idx(told, 0), *of_1 = json_object_array_get_idx(told, 1);
        assert_true(json_object_get_boolean(json_object_array_get_idx(of_0, 1)));
        assert_null(json_object_array_get_idx(of_1, 0));
    }
    json_object_put(peers);
    json_object *proxies = nccl_proxies_json(n);
    row = json_object_array_get_idx(proxies, 0);
    assert_int_equal(json_object_object_get_ex(row, "lower_bounds", &told), lower);
    if (lower) {
        assert_int_equal(json_object_array_length(told), 1);
        assert_string_equal(json_object_get_string(json_object_array_get_idx(told, 0)), "tx_bytes");
    }
    json_object_put(proxies);
    nccl_findings f;
    nccl_view v;
    nccl_findings_make(&f, n, NULL);
    claims_check(n, &f);
    nccl_view_make(&v, n, &f, NULL, NULL);
    assert_int_equal(v.matrices.count, 1);
    assert_int_equal(v.matrices.items[0].cells.items[0].bytes, 700);
    assert_int_equal(v.matrices.items[0].cells.items[0].at_least, lower);
    nccl_view_free(&v);
    nccl_findings_free(&f);
}

static void unknown_bytes_make_sums_at_least(void **state)
{
    (void)state;
    for (int unknown = 0; unknown < 2; unknown++) {
        log_file l = log_open("h0-pid7.log");
        nccl n;
        pairs p;
        log_call(&l, "AllReduce", 0, 1000, 0, 100);
        log_begin_of(&l, "h1"); // the other rank, so that what goes to it is a cell
        fprintf(l.f, "\"coll_perf\":{\"coll\":\"AllReduce\",\"coll_sn\":0,\"coll_msg_size_bytes\":1000,"
                     "\"coll_exec_time_us\":9,\"coll_algobw_gbs\":1.0,\"coll_busbw_gbs\":1.0}}\n");
        log_operation(&l, "coll", 0, true, 700, 0);
        if (unknown) {
            log_begin(&l);
            fprintf(l.f, "\"proxy_trace\":{\"record_type\":\"proxy_op\",\"peer\":1,\"direction\":\"send\"}}\n");
        }
        log_read(&l, &n, 0);
        nccl_pairs(&p, &n);
        assert_int_equal(arrlenu(p.cells), 1);
        assert_int_equal(p.cells[0].bytes, 700);
        assert_false(p.unknown);
        assert_int_equal(p.at_least, unknown);
        pairs_free(&p);
        expect_lower_bound(&n, unknown);
        log_end(&l, &n);
    }
}

// ---- when calls ran ----

static void lanes_are_where_calls_ran(void **state)
{
    log_file l = log_open("h0-pid7.log");
    nccl n;
    nccl_lanes lanes;
    (void)state;
    log_call(&l, "AllReduce", 0, 1000, 1000000, 1000000); // from second 1 to 2,
    log_call(&l, "AllReduce", 1, 1000, 1500000, 1500000); // from 1.5 to 3,
    log_call(&l, "AllGather", 0, 1000, 6000000, 500000);  // from 6 to 6.5
    log_call(&l, "AllGather", 1, 1000, 0, 500000);
    log_p2p(&l, "Send", 1, 300);
    log_read(&l, &n, 0);
    nccl_lanes_make(&lanes, &n);
    assert_int_equal(lanes.count, 1);
    assert_string_equal(lanes.items[0].label, "rank 0 of dp");
    assert_string_equal(lanes.items[0].host, "h0");
    assert_int_equal(lanes.calls, 3);
    assert_int_equal(lanes.untimed, 2);
    const nccl_lane *x = &lanes.items[0];
    assert_int_equal(nccl_lane_ns(x), INT64_C(2500000000));
    static const struct {
        double from_s, to_s, busy;
    } rows[] = {{0, 1, 0}, {0, 2, .5}, {1, 3, 1}, {2.5, 3.5, .5}, {3, 6, 0}, {6.25, 6.75, .5}, {0, 10, .25}, {7, 9, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double busy = nccl_lane_busy(x, (int64_t)(rows[i].from_s * 1e9), (int64_t)(rows[i].to_s * 1e9));
        if (fabs(busy - rows[i].busy) > 1e-9) fail_msg("row %zu: %g, not %g", i, busy, rows[i].busy);
    }
    assert_true(nccl_lane_busy(x, 5, 5) == 0);
    nccl_lanes_free(&lanes);
    log_end(&l, &n);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_collective_is_told_by_its_number),
        cmocka_unit_test(of_several_collectives_the_time_decides),
        cmocka_unit_test(sends_and_receives_are_told_by_their_way),
        cmocka_unit_test(a_copy_of_a_log_counts_once),
        cmocka_unit_test(unknown_bytes_make_sums_at_least),
        cmocka_unit_test(lanes_are_where_calls_ran),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
