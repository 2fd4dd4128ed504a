// What tables and JSON hold of NCCL's logs, cell by cell, of a small job whose figures are worked out here by hand.
#define _GNU_SOURCE // nftw
#include "netprof.h"

#include "analysis/nccl/export/nccl_export.h"
#include "analysis/nccl/logs/nccl_logs.h"
#include "nccl_job.h"
#include "support.h"

#include <json-c/json.h>
#include <math.h>

// ---- CSV ----

static char *table_text(const nccl *n, nccl_table table)
{
    struct sink s = {0};
    assert_int_equal(nccl_export(n, table, NULL, sink_write, &s), NETPROF_OK);
    sink_write(&s, "", 1);
    char *text = strdup((const char *)s.data);
    sink_free(&s);
    return text;
}

// Cell number `column` of a line; names here hold no commas.
static bool cell_at(const char *line, size_t column, char *to, size_t size)
{
    const char *end = line + strcspn(line, "\n");
    for (; column; column--) {
        line += strcspn(line, ",\n");
        if (line >= end) return false;
        line++;
    }
    snprintf(to, size, "%.*s", (int)strcspn(line, ",\n"), line);
    return true;
}

static size_t column_of(const char *text, const char *name)
{
    char cell[100];
    for (size_t i = 0; cell_at(text, i, cell, sizeof cell); i++)
        if (strcmp(cell, name) == 0) return i;
    fail_msg("no column %s", name);
    return 0;
}

typedef struct expected_cell {
    const char *row, *column, *value; // row: "NAME=VALUE NAME=VALUE"
} expected_cell;

static bool is_row(const char *text, const char *line, const char *row)
{
    char name[100], value[100], cell[100];
    int used;
    for (; sscanf(row, " %99[^=]=%99s%n", name, value, &used) == 2; row += used)
        if (!cell_at(line, column_of(text, name), cell, sizeof cell) || strcmp(cell, value) != 0) return false;
    return true;
}

static void check_cells(const nccl *n, nccl_table table, size_t rows, const expected_cell *cells, size_t count)
{
    char *text = table_text(n, table), cell[100];
    size_t lines = 0;
    for (const char *c = text; (c = strchr(c, '\n')); c++)
        lines++;
    assert_int_equal(lines, rows + 1);
    for (size_t i = 0; i < count; i++) {
        size_t found = 0;
        for (const char *line = strchr(text, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
            if (!is_row(text, line, cells[i].row)) continue;
            found++;
            assert_true(cell_at(line, column_of(text, cells[i].column), cell, sizeof cell));
            if (strcmp(cell, cells[i].value) != 0)
                fail_msg("%s, %s: \"%s\" and not \"%s\"", cells[i].row, cells[i].column, cell, cells[i].value);
        }
        if (found != 1) fail_msg("%s: %zu rows", cells[i].row, found);
    }
    free(text);
}

static void instances(void **state)
{
    static const char first[] = "id=0xab coll_sn=4", second[] = "id=0xab coll_sn=5", third[] = "id=0xab coll_sn=6",
                      other[] = "id=0x1c coll_sn=0";
    static const expected_cell cells[] = {
        {first, "comm_type", "mixed"},
        {first, "coll", "AllReduce"},
        {first, "size", "1000000"},
        {first, "log_count", "4"},
        {first, "n_ranks", "4"},
        {first, "min_us", "100"},
        {first, "max_us", "153"},
        {first, "mean_us", "138.5"},
        {first, "max_busbw", "15"},
        {first, "min_busbw", "9.80392157"}, // 1 MB in 153 us, 1.5 times
        {first, "missing_ranks", "0"},
        {first, "skew_us", "53"},
        {first, "last_arrival_rank", "2"},
        {first, "last_arrival_host", "h2"},
        {first, "last_arrival_pid", "102"},
        {first, "communicator", "dp"},
        {first, "last_arrival_ranks", "2"},
        {first, "last_arrival_cost_us", "50"},
        {first, "median_us", "150.5"},
        {first, "wire_algbw_gbs", "10"},
        {first, "wire_busbw_gbs", "15"},
        {first, "algo", "RING"},
        {first, "proto", "LL"},
        {first, "first_dump_us", "1749490004000000"},
        {first, "last_dump_us", "1749490004750000"},
        {second, "log_count", "3"},
        {second, "missing_ranks", "1"},
        {second, "median_us", "140"},
        {second, "last_arrival_cost_us", "20"},
        {second, "skew_us", "30"},
        {second, "last_dump_us", "1749490005500000"},
        {third, "coll", "Broadcast"},
        {third, "algo", "TREE"},
        {third, "size", "2048"},
        {third, "last_arrival_ranks", "0;2"},
        {third, "last_arrival_cost_us", "0"},
        {third, "wire_busbw_gbs", "0.064"},
        {other, "comm_type", "nvlink-only"},
        {other, "communicator", "tp"},
        {other, "n_ranks", "2"},
        {other, "max_busbw", "0.05"},
        {other, "min_busbw", "0.025"},
        {other, "mean_us", "15"},
        {other, "last_arrival_ranks", "1"},
    };
    nccl n;
    char *tree;
    (void)state;
    read_job(&n, &tree);
    check_cells(&n, NCCL_INSTANCES_CSV, 4, cells, COUNT(cells));
    nccl_free(&n);
    tree_remove(tree);
}

static void sums(void **state)
{
    static const char reduce[] = "id=0xab coll=AllReduce", cast[] = "id=0xab coll=Broadcast",
                      tp[] = "id=0x1c coll=AllReduce";
    static const expected_cell of_series[] = {
        {reduce, "instances", "2"},
        {reduce, "incomplete", "1"},
        {reduce, "missing_records", "1"},
        {reduce, "time_us", "303"},
        {reduce, "wire_us", "220"},
        {reduce, "ranks_seen", "4"},
        {reduce, "n_ranks", "4"},
        {reduce, "nnodes", "2"},
        {reduce, "communicator", "dp"},
        {reduce, "comm_type", "mixed"},
        {reduce, "size", "1000000"},
        {reduce, "peak_gbs", "40"},
        {cast, "instances", "1"},
        {cast, "incomplete", "0"},
        {cast, "missing_records", "0"},
        {cast, "time_us", "40"},
        {cast, "wire_us", "32"},
        {cast, "skew_us_p50", "8"},
        {cast, "skew_us_p95", "8"},
        {cast, "wire_us_p05", "32"},
        {cast, "wire_us_p50", "32"},
        {cast, "wire_us_p99", "32"},
        {cast, "time_us_p05", "40"},
        {cast, "time_us_p99", "40"},
        {cast, "best_busbw_p50", "0.064"},
        {cast, "busbw_gbs_p50", "0.064"},
        {cast, "algbw_gbs_p95", "0.064"},
        {cast, "wire_change_sn", ""},
        {cast, "wire_us_before", ""},
        {cast, "skew_us_after", ""},
        {cast, "size", "2048"},
        {tp, "time_us", "20"},
        {tp, "wire_us", "10"},
        {tp, "skew_us_p99", "10"},
        {tp, "algbw_gbs_p50", "0.05"},
        {tp, "busbw_gbs_p05", "0.05"},
        {tp, "peak_share", "0.00125"},
        {tp, "n_ranks", "2"},
        {tp, "nnodes", "1"},
    };
    static const char kind[] = "comm_type=nvlink-only", mixed[] = "comm_type=mixed coll=AllReduce";
    static const expected_cell types[] = {
        {kind, "coll", "AllReduce"},
        {kind, "size", "500"},
        {kind, "instances", "1"},
        {kind, "meaning", "one node"},
        {kind, "incomplete", "0"},
        {kind, "time_us", "20"},
        {kind, "wire_us", "10"},
        {kind, "skew_us_p50", "10"},
        {kind, "time_us_p95", "20"},
        {kind, "min", "0.0375"},
        {kind, "mean", "0.0375"},
        {kind, "max", "0.0375"},
        {kind, "peak_gbs", "40"},
        {kind, "peak_share", "0.00125"},
        {mixed, "instances", "2"},
        {mixed, "incomplete", "1"},
        {mixed, "time_us", "303"},
        {mixed, "wire_us", "220"},
        {mixed, "meaning", "several ranks on each node"},
    };
    nccl n;
    char *tree;
    (void)state;
    read_job(&n, &tree);
    check_cells(&n, NCCL_COMMUNICATORS_CSV, 3, of_series, COUNT(of_series));
    check_cells(&n, NCCL_TYPES_CSV, 3, types, COUNT(types));
    nccl_free(&n);
    tree_remove(tree);
}

// Complete calls alone are judged: of dp sn 4 and 6, of tp the only one.
static void ranks_and_pairs(void **state)
{
    static const expected_cell ranks[] = {
        {"pid=100", "host", "h1"},
        {"pid=100", "records", "4"},
        {"pid=100", "local_rank", "0"},
        {"pid=101", "local_rank", "1"},
        {"pid=102", "host", "h2"},
        {"pid=102", "records", "3"},
        {"pid=102", "last_alone", "2"},
        {"pid=102", "cost_us", "70"},
        {"pid=102", "wait_us_caused", "204"}, // 50 + 51 + 53, and 30 + 20
        {"pid=103", "missing", "1"},
    };
    static const expected_cell pairs[] = {
        {"p2p=Send", "id", "0xab"},
        {"p2p=Send", "communicator", "dp"},
        {"p2p=Send", "comm_type", "mixed"},
        {"p2p=Send", "rank", "1"},
        {"p2p=Send", "host", "h1"},
        {"p2p=Send", "pid", "101"},
        {"p2p=Send", "peer", "2"},
        {"p2p=Send", "size", "4096"},
        {"p2p=Send", "timing", "kernel_cpu"},
        {"p2p=Send", "records", "12"},
        {"p2p=Send", "bytes", "49152"},
        {"p2p=Send", "time_us_p05", "50"},
        {"p2p=Send", "time_us_p99", "50"},
        {"p2p=Send", "busbw_gbs_p50", "2.5"},
        {"p2p=Recv", "rank", "2"},
        {"p2p=Recv", "host", "h2"},
        {"p2p=Recv", "peer", ""},
        {"p2p=Recv", "time_us_p50", "60"},
        {"p2p=Recv", "busbw_gbs_p95", "3.5"},
    };
    nccl n;
    char *tree;
    (void)state;
    read_job(&n, &tree);
    check_cells(&n, NCCL_RANKS_CSV, 4, ranks, COUNT(ranks));
    check_cells(&n, NCCL_P2P_CSV, 2, pairs, COUNT(pairs));
    nccl_free(&n);
    tree_remove(tree);
}

// ---- documents ----

static void check_lines(const char *text, const char *const *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strstr(text, lines[i])) fail_msg("no %s in %s", lines[i], text);
}

static void documents(void **state)
{
    static const char *const ndjson[] = {
        "{\"communicator\":\"dp\",\"id\":\"0xab\",\"run\":1,\"comm_type\":\"mixed\",\"n_ranks\":4,\"nnodes\":2,"
        "\"coll\":\"AllReduce\",\"algo\":\"RING\",\"proto\":\"LL\",\"coll_sn\":5,\"size_bytes\":1000000,\"wire_us\":"
        "120,"
        "\"skew_us\":30,\"wire_busbw_gbs\":12.5,\"ranks\":[0,1,2],\"time_us\":[150,140,120],"
        "\"first_dump_us\":1749490005000000,\"last_dump_us\":1749490005500000}\n",
        "{\"communicator\":\"tp\",\"id\":\"0x1c\",\"run\":1,\"comm_type\":\"nvlink-only\",\"n_ranks\":2,\"nnodes\":1,"
        "\"coll\":\"AllReduce\",\"algo\":\"RING\",\"proto\":\"LL\",\"coll_sn\":0,\"size_bytes\":500,\"wire_us\":10,"
        "\"skew_us\":10,\"wire_busbw_gbs\":0.05,\"ranks\":[0,1],\"time_us\":[20,10],"
        "\"first_dump_us\":1749490000000000,\"last_dump_us\":1749490000250000}\n"};
    static const char *const bulk[] = {
        "{\"index\":{\"_index\":\"nccl-detailed\",\"_id\":\"unknown-unknown-nvlink-only-AllReduce-0x1c-r2-n1-1-500-0\"}"
        "}\n"
        "{\"s_jobid\":\"unknown\",\"s_cluster\":\"unknown\",\"s_user\":\"unknown\",\"s_tag\":\"500.00B_r_2\","
        "\"s_jobid_tag\":\"unknown_500.00B_r_2\",\"s_comm_type\":\"nvlink-only\",\"s_coll_type\":\"AllReduce\","
        "\"d_msg_size\":500,\"s_msg_size_human_readable\":\"500.00B\",\"ts_current_time\":1749490006750,"
        "\"s_comm_id\":\"0x1c\",\"d_coll_sn\":0,\"d_mean_coll_busbw\":0.0375,"
        "\"d_coll_start_timestamp_us\":1749490000000000,\"d_coll_end_timestamp_us\":1749490000250000,"
        "\"d_coll_duration_us\":250000,\"d_wire_us\":10,\"d_skew_us\":10}\n",
        "{\"index\":{\"_index\":\"nccl-summary\",\"_id\":\"unknown-unknown-summary-nvlink-only-AllReduce-500\"}}\n"
        "{\"s_jobid\":\"unknown\",\"s_cluster\":\"unknown\",\"s_user\":\"unknown\",\"s_tag\":\"500.00B_r_2\","
        "\"s_jobid_tag\":\"unknown_500.00B_r_2\",\"s_comm_type\":\"nvlink-only\",\"s_coll_type\":\"AllReduce\","
        "\"d_msg_size\":500,\"s_msg_size_human_readable\":\"500.00B\",\"ts_current_time\":1749490006750,"
        "\"d_avg_busbw\":0.0375,\"d_max_busbw\":0.0375,\"d_min_busbw\":0.0375,\"d_op_count\":1,\"d_wire_us_p50\":10,"
        "\"d_skew_us_p50\":10}\n"};
    static const char *const named[] = {
        "{\"index\":{\"_index\":\"mine\",\"_id\":\"c-j-mixed-Broadcast-0xab-r4-n2-1-2048-6\"}}\n"
        "{\"s_jobid\":\"j\",\"s_cluster\":\"c\",\"s_user\":\"u\",\"s_tag\":\"2.05KB_r_4\","
        "\"s_jobid_tag\":\"j_2.05KB_r_4\",",
        "{\"index\":{\"_index\":\"sums\",\"_id\":\"c-j-summary-mixed-Broadcast-2048\"}}\n"};
    const nccl_export_options names = {"j", "c", "u", "mine", "sums"};
    struct sink s = {0};
    nccl n;
    char *tree;
    (void)state;
    read_job(&n, &tree);
    char *text = table_text(&n, NCCL_INSTANCES_NDJSON);
    check_lines(text, ndjson, COUNT(ndjson));
    free(text);
    text = table_text(&n, NCCL_BULK_NDJSON);
    check_lines(text, bulk, COUNT(bulk));
    free(text);
    assert_int_equal(nccl_export(&n, NCCL_BULK_NDJSON, &names, sink_write, &s), NETPROF_OK);
    sink_write(&s, "", 1);
    check_lines((const char *)s.data, named, COUNT(named));
    sink_free(&s);
    nccl_free(&n);
    tree_remove(tree);
}

// The exporter's tree: a file for each class, collective and size.
static void summaries(void **state)
{
    static const struct {
        const char *path, *parts[3];
    } files[] = {
        {"summary/msg_size_1000000_1.00MB/summary_mixed_AllReduce_1000000.csv",
         {"\n0xab,4,1000000,", "\n0xab,5,1000000,11.", ",3,[4],[2],1749490005000000,1749490005500000,500000,1.00MB,"}},
        {"summary/msg_size_2048_2.05KB/summary_mixed_Broadcast_2048.csv",
         {"id,coll_sn,coll_msg_size_bytes,", "\n0xab,6,2048,0.0",
          ",4,[4],[2],1749490006000000,1749490006750000,750000,"}},
        {"summary/msg_size_500_500.00B/summary_nvlink-only_AllReduce_500.csv",
         {"id,coll_sn,", "\n0x1c,0,500,0.0375",
          ",2,[2],[1],1749490000000000,1749490000250000,250000,500.00B,"
          "2025-06-09 17:26:40.000,2025-06-09 17:26:40.250,250.0ms\n"}}};
    char path[200];
    nccl n;
    char *tree;
    (void)state;
    read_job(&n, &tree);
    assert_int_equal(nccl_summary_count(&n), COUNT(files));
    for (size_t i = 0; i < COUNT(files); i++) {
        size_t at = 0;
        while (at < COUNT(files) && strcmp(nccl_summary_path(&n, at, path, sizeof path), files[i].path) != 0)
            at++;
        if (at == COUNT(files)) fail_msg("no %s", files[i].path);
        struct sink s = {0};
        assert_int_equal(nccl_summary_write(&n, at, sink_write, &s), NETPROF_OK);
        sink_write(&s, "", 1);
        const char *text = (const char *)s.data;
        for (size_t k = 0; k < 3; k++) // one after the other
            if (!(text = strstr(text, files[i].parts[k]))) fail_msg("no %s in %s", files[i].parts[k], (char *)s.data);
        sink_free(&s);
    }
    nccl_free(&n);
    tree_remove(tree);
}

// ---- JSON ----

static void check_json_text(json_object *o, const char *path, const char *text)
{
    json_object *at;
    if (json_pointer_get(o, path, &at)) fail_msg("no %s", path);
    if (strcmp(json_object_get_string(at), text) != 0) fail_msg("%s: %s", path, json_object_get_string(at));
}

static void problems_pairs_and_algorithms(void **state)
{
    static const json_number numbers[] = {
        {"/problems/0/first_bad_line", 3},
        {"/problems/0/outcomes/bad_json", 2},
        {"/problems/0/outcomes/not_object", 1},
        {"/p2p/0/rank", 1},
        {"/p2p/0/peer", 2},
        {"/p2p/0/size_bytes", 4096},
        {"/p2p/0/records", 12},
        {"/p2p/0/time_us/p50", 50},
        {"/p2p/0/busbw_gbs/p50", 2.5},
        {"/p2p/1/rank", 2},
        {"/p2p/1/time_us/max", 60},
        {"/logs/outcomes/blank", 1},
        {"/communicators/0/run_number", 1},
    };
    nccl n;
    char *tree, file[300];
    (void)state;
    read_job(&n, &tree);
    json_object *o = nccl_json(&n, NULL, NULL), *at;
    check_json(o, numbers, COUNT(numbers));
    assert_int_equal(json_pointer_get(o, "/problems", &at), 0);
    assert_int_equal(json_object_array_length(at), 1); // of four files one has any
    snprintf(file, sizeof file, "%s/h2-pid103.log", tree);
    check_json_text(o, "/problems/0/file", file);
    check_json_text(o, "/problems/0/tail_cut", "true");
    check_json_text(o, "/p2p/0/operation", "Send");
    check_json_text(o, "/p2p/0/communicator", "dp");
    check_json_text(o, "/p2p/0/host", "h1");
    assert_int_not_equal(json_pointer_get(o, "/p2p/1/peer", &at), 0);
    assert_int_equal(json_pointer_get(o, "/algorithms", &at), 0);
    assert_int_equal(json_object_array_length(at), 3);
    for (size_t i = 0; i < 3; i++) {
        json_object *path = json_object_array_get_idx(at, i);
        json_object *size;
        assert_true(json_object_object_get_ex(path, "size_bytes", &size));
        int bytes = json_object_get_int(size);
        check_json_text(path, "/coll", bytes == 2048 ? "Broadcast" : "AllReduce");
        check_json_text(path, "/algo", bytes == 2048 ? "TREE" : "RING");
        check_json_text(path, "/proto", "LL");
        check_json_text(path, "/comm_type", bytes == 500 ? "nvlink-only" : "mixed");
        if (bytes == 2048)
            check_json(path, (json_number[]){{"/calls", 1}, {"/wire_us/p50", 32}, {"/busbw_gbs/max", 0.064}}, 3);
        if (bytes == 500)
            check_json(path, (json_number[]){{"/calls", 1}, {"/wire_us/min", 10}, {"/busbw_gbs/p5", 0.05}}, 3);
    }
    json_object_put(o);
    nccl_free(&n);
    tree_remove(tree);
}

// ---- files, and tables without rows ----

static void which_tables(void **state)
{
    static const char *const files[NCCL_TABLES] = {
        "lines.csv",   "instances.csv",    "communicators.csv", "types.csv",    "ranks.csv",
        "p2p.csv",     "proxies.csv",      "waits.csv",         "adapters.csv", "peers.csv",
        "metrics.csv", "instances.ndjson", "bulk.ndjson"};
    nccl n;
    char *tree;
    (void)state;
    read_job(&n, &tree);
    for (int i = 0; i < NCCL_TABLES; i++) {
        assert_string_equal(nccl_table_file((nccl_table)i), files[i]);
        bool none = i == NCCL_PROXIES_CSV || i == NCCL_WAITS_CSV || i == NCCL_ADAPTERS_CSV || i == NCCL_PEERS_CSV ||
                    i == NCCL_METRICS_CSV;
        assert_int_equal(nccl_table_empty(&n, (nccl_table)i), none);
    }
    nccl_free(&n);
    tree_remove(tree);
}

static const char *metric_row(const char *text, const char *metric)
{
    const char *row = strstr(text, metric);
    assert_non_null(row);
    while (row > text && row[-1] != '\n')
        row--;
    return row;
}

static void metrics(void **state)
{
    static const char *const labels[] = {"hostname", "node",         "gpu",        "comm_id",      "comm_name",
                                         "rank",     "nranks",       "n_nodes",    "collective",   "p2p_operation",
                                         "coll_sn",  "message_size", "algo_proto", "slurm_job_id", "version"};
    char *tree = tree_make(), cell[100], expected[100];
    FILE *f = fopen(tree_path(tree, "nccl_inspector_metrics_GPU-1.prom"), "we");
    nccl n = {0};
    (void)state;
    assert_non_null(f);
    fputs("first{", f);
    for (size_t i = 0; i < COUNT(labels); i++)
        fprintf(f, "%s%s=\"v%zu\"", i ? "," : "", labels[i], i);
    fputs("} 1.25\nsecond{node=\"x\"} 7\n", f);
    assert_int_equal(fclose(f), 0);
    const char *path = tree;
    assert_int_equal(nccl_read(&n, &path, 1, NULL, NULL), NETPROF_OK);
    assert_false(nccl_table_empty(&n, NCCL_METRICS_CSV));
    char *text = table_text(&n, NCCL_METRICS_CSV);
    const char *first = metric_row(text, "first"), *second = metric_row(text, "second");
    for (size_t i = 0; i < COUNT(labels); i++) {
        size_t column = column_of(text, labels[i]);
        assert_int_equal(column, i + 3);
        snprintf(expected, sizeof expected, "v%zu", i);
        assert_true(cell_at(first, column, cell, sizeof cell));
        assert_string_equal(cell, expected);
        assert_true(cell_at(second, column, cell, sizeof cell));
        assert_string_equal(cell, i == 1 ? "x" : "");
    }
    assert_true(cell_at(first, 2, cell, sizeof cell));
    assert_string_equal(cell, "1.25");
    assert_true(cell_at(second, 0, cell, sizeof cell));
    assert_string_equal(cell, "nccl_inspector_metrics_GPU-1.prom");
    free(text);
    nccl_free(&n);
    tree_remove(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instances),    cmocka_unit_test(sums),      cmocka_unit_test(ranks_and_pairs),
        cmocka_unit_test(documents),    cmocka_unit_test(summaries), cmocka_unit_test(problems_pairs_and_algorithms),
        cmocka_unit_test(which_tables), cmocka_unit_test(metrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
