// A log of everything that there is (bare lines of three kinds, of two communicators; more of them than were announced; what
// began anew; names with escapes; nonsense; a tail that is cut), read in parts of every size: whole, the figures are
// arithmetic on what was written, and however it is cut, JSON and tables of it are the same to the byte.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/nccl/export/nccl_export.h"
#include "analysis/nccl/logs/nccl_logs.h"
#include "support.h"

enum { BATCHES = 14, COLLS = 5, SENDS = 3, PROXIES = 2, EXTRA_COLLS = 2, EXTRA_SENDS = 4 };

static void put_who(FILE *f, int communicator, int batch)
{
    fprintf(f,
            "{\"header\":{\"id\":\"0xa%d\",\"comm_name\":\"%s\",\"rank\":%d,\"n_ranks\":%d,\"nnodes\":1},\"metadata\":{"
            "\"inspector_output_format_version\":\"v4.3\",\"dump_timestamp_us\":%d,\"hostname\":\"h%s\",\"pid\":77},",
            communicator, communicator ? "d\\u0070" : "t\\u0070", communicator, 2 + communicator, 1000 + 100 * batch,
            batch % 2 ? "1" : "\\u0031");
}

// What a batch tells: so many lines of each kind follow.
static void put_stats(FILE *f, int communicator, int batch, int colls, int sends)
{
    put_who(f, communicator, batch);
    fprintf(
        f,
        "\"dump_stats\":{\"coll_records\":%d,\"coll_dropped_total\":%d,\"p2p_records\":%d,\"p2p_dropped_total\":%d}}"
        "\n",
        colls, 3 * batch + communicator, sends, 2 * batch + communicator);
}

static int time_of(int communicator, int sn)
{
    return 100 + communicator * 50 + sn * 7 % 11;
}

static void put_coll(FILE *f, int communicator, int sn)
{
    fprintf(f,
            "{\"coll_perf\":{\"coll\":\"%s\",\"coll_algo\":\"%s\",\"coll_proto\":\"%s\",\"coll_sn\":%d,"
            "\"coll_msg_size_bytes\":%d,\"coll_exec_time_us\":%d,\"coll_timing_source\":\"kernel_gpu\","
            "\"coll_algobw_gbs\":1.0,\"coll_busbw_gbs\":2.0",
            sn % 5 ? "AllReduce" : "Broad\\u0063ast", sn % 3 ? "RING" : "TREE", sn % 4 ? "LL" : "SIMPLE", sn,
            sn % 2 ? 4096 : 65536, time_of(communicator, sn));
    if (sn % 4 == 1)
        fprintf(f, ",\"event_trace_ts\":{\"coll_start_ts\":%d,\"coll_stop_ts\":%d}", 5000 + 1000 * sn,
                5000 + 1000 * sn + time_of(communicator, sn));
    fprintf(f, "}}\n");
}

static void put_p2p(FILE *f, int sn)
{
    fprintf(
        f,
        "{\"p2p_perf\":{\"p2p\":\"%s\",\"p2p_sn\":%d,\"p2p_peer\":%d,\"p2p_msg_size_bytes\":%d,"
        "\"p2p_exec_time_us\":%d,\"p2p_timing_source\":\"kernel_cpu\",\"p2p_algobw_gbs\":1.0,\"p2p_busbw_gbs\":3.0}}"
        "\n",
        sn % 3 ? "Send" : "Recv", sn, sn % 2, sn % 3 ? 512 : 768, 20 + sn % 7);
}

static void put_proxy(FILE *f, int i)
{
    fprintf(f,
            "{\"proxy_trace\":{\"record_type\":\"proxy_op\",\"parent_type\":\"coll\",\"parent_sn\":%d,\"is_final\":"
            "true,\"peer\":1,\"direction\":\"%s\","
            "\"n_steps_completed\":%d,\"n_steps_dropped\":%d,\"trans_size_bytes\":%d,\"total_us\":%d,\"steps\":[{"
            "\"gpu_produce_us\":%d,\"peer_credit_us\":2,\"wire_us\":3}]}}\n",
            i / 4, i % 2 ? "send" : "recv", 4 + i, i % 3, 1000 + i, 50 + i, 5 + i);
}

typedef struct counts {
    uint64_t colls, sends, proxies, lost; // lost: more than were announced
    uint64_t proxy_steps, proxy_bytes;
} counts;

// Batches of both communicators in turn; every third announces less than comes.
static counts write_log(const char *tree)
{
    counts n = {0};
    int sn[2] = {0, 0}, p2p = 0, proxies = 0;
    FILE *f = fopen(tree_path(tree, "a.log"), "we");
    assert_non_null(f);
    put_coll(f, 0, 99); // of whom is told nowhere
    n.lost++;
    for (int batch = 0; batch < BATCHES; batch++) {
        int communicator = batch % 2;
        bool more = batch % 3 == 1;
        if (batch == 8) sn[0] = 0; // it begins anew
        put_stats(f, communicator, batch, COLLS, SENDS);
        for (int i = 0; i < COLLS + (more ? EXTRA_COLLS : 0); i++)
            put_coll(f, communicator, sn[communicator] + i);
        for (int i = 0; i < SENDS + (more ? EXTRA_SENDS : 0); i++)
            put_p2p(f, p2p + i);
        for (int i = 0; i < PROXIES; i++, proxies++) {
            put_proxy(f, proxies);
            n.proxy_steps += 4 + (uint64_t)proxies;
            n.proxy_bytes += 1000 + (uint64_t)proxies;
        }
        sn[communicator] += COLLS;
        p2p += SENDS;
        n.colls += COLLS;
        n.sends += SENDS;
        n.proxies += PROXIES;
        n.lost += more ? EXTRA_COLLS + EXTRA_SENDS : 0;
        if (batch == 4) fprintf(f, "nonsense\n\n");
        if (batch == 9) fprintf(f, "[]\n");
    }
    put_who(f, 1, BATCHES); // and its end is missing
    assert_int_equal(fclose(f), 0);
    return n;
}

static char *read_as_text(nccl *n, const char *tree, uint64_t part, size_t threads)
{
    const nccl_options how = {.part = part, .threads = threads};
    *n = (nccl){0};
    assert_int_equal(nccl_read(n, &tree, 1, &how, NULL), NETPROF_OK);
    json_object *o = nccl_json(n, NULL, NULL);
    const char *text = json_to_text(o, JSON_C_TO_STRING_PRETTY);
    struct sink all = {0};
    sink_write(&all, text, strlen(text));
    json_object_put(o);
    for (int table = 0; table < NCCL_TABLES; table++)
        assert_int_equal(nccl_export(n, (nccl_table)table, NULL, sink_write, &all), NETPROF_OK);
    sink_write(&all, "", 1);
    return (char *)all.data;
}

// The first communicator began anew with its fifth batch: 4 batches before, 3 after it.
static void check_communicators(const nccl *n)
{
    static const struct {
        const char *label;
        uint64_t ranks, calls, first_us, last_us, dropped, p2p;
    } rows[] = {{"dp", 3, 7 * COLLS, 1100, 2300, 3 * 13 + 1, 7 * SENDS},
                {"tp", 2, 4 * COLLS, 1000, 1800, 0, 0},
                {"tp #2", 2, 3 * COLLS, 1800, 2200, 0, 0}};
    assert_int_equal(n->communicator_count, COUNT(rows));
    for (size_t i = 0; i < COUNT(rows); i++) {
        const nccl_communicator *c = &n->communicators[i];
        const nccl_member *m = &n->members[c->first_member];
        assert_string_equal(c->label, rows[i].label);
        assert_int_equal(c->ranks, rows[i].ranks);
        assert_int_equal(c->instances, rows[i].calls);
        assert_int_equal(c->records, rows[i].calls);
        assert_int_equal(m->coll_records, rows[i].calls);
        assert_int_equal(c->first_dump_us, rows[i].first_us);
        assert_int_equal(c->last_dump_us, rows[i].last_us);
        if (rows[i].dropped) assert_int_equal(m->stats.coll_dropped, rows[i].dropped);
        if (rows[i].p2p) assert_int_equal(m->p2p_records, rows[i].p2p);
    }
}

static void check_whole(const nccl *n, const counts *c)
{
    uint64_t p2p = 0, operations = 0, steps = 0, bytes = 0, time_us = 0, expected_us = 0;
    assert_int_equal(n->outcomes[NCCL_COLL], c->colls);
    assert_int_equal(n->outcomes[NCCL_P2P], c->sends);
    assert_int_equal(n->outcomes[NCCL_PROXY], c->proxies);
    assert_int_equal(n->outcomes[NCCL_NO_CONTEXT], c->lost);
    assert_int_equal(n->outcomes[NCCL_DUMP_STATS], BATCHES);
    assert_int_equal(n->outcomes[NCCL_BAD_JSON], 2);
    assert_int_equal(n->outcomes[NCCL_NOT_OBJECT], 1);
    assert_int_equal(n->outcomes[NCCL_BLANK], 1);
    assert_int_equal(n->files[0].first_bad_line, 1);
    assert_true(n->files[0].tail_cut);
    for (size_t i = 0; i < n->p2p_count; i++)
        p2p += n->p2p[i].records;
    assert_int_equal(p2p, c->sends);
    for (size_t i = 0; i < n->proxy_count; i++) {
        operations += n->proxies[i].operations;
        steps += n->proxies[i].steps;
        bytes += n->proxies[i].bytes;
    }
    assert_int_equal(operations, c->proxies);
    assert_int_equal(steps, c->proxy_steps);
    assert_int_equal(bytes, c->proxy_bytes);
    for (size_t i = 0; i < n->communicator_count; i++)
        time_us += n->communicators[i].time_us;
    for (int communicator = 0; communicator < 2; communicator++)
        for (int sn = 0; sn < (communicator ? 7 : 4) * COLLS; sn++)
            expected_us += (uint64_t)time_of(communicator, sn);
    for (int sn = 0; sn < 3 * COLLS; sn++)
        expected_us += (uint64_t)time_of(0, sn);
    assert_int_equal(time_us, expected_us);
    check_communicators(n);
}

static void parts_of_every_size(void **state)
{
    char *tree = tree_make();
    counts c = write_log(tree);
    nccl n;
    (void)state;
    char *whole = read_as_text(&n, tree, 0, 1);
    check_whole(&n, &c);
    uint64_t size = n.files[0].size;
    nccl_free(&n);
    for (uint64_t part = 40; part < size; part += part / 9 + 7) {
        char *text = read_as_text(&n, tree, part, 1 + part % 3);
        check_whole(&n, &c);
        if (strcmp(text, whole) != 0) fail_msg("in parts of %d:\n%s\nwhole:\n%s", (int)part, text, whole);
        nccl_free(&n);
        free(text);
    }
    free(whole);
    tree_remove(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts_of_every_size)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
