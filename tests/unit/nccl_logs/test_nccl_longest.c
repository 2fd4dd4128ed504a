// The longest line that is used, to the byte, where the reader's buffer is as long as the limit; which files beside others are
// NCCL's, by what they are called and what they hold; and what they hold together.
#define _GNU_SOURCE // nftw
#include "netprof.h"

#include "analysis/nccl/logs/nccl_logs.h"
#include "analysis/nccl/view/nccl_beside.h"
#include "support.h"

static const char record[] =
    "{\"header\":{\"id\":\"0x1\",\"comm_name\":\"dp\",\"rank\":0,\"n_ranks\":1,\"nnodes\":1},\"metadata\":{"
    "\"inspector_output_format_version\":\"v4.0\",\"dump_timestamp_us\":1749490000000000,\"hostname\":\"h\",\"pid\":7},"
    "\"coll_perf\":{\"coll\":\"AllReduce\",\"coll_sn\":3,\"coll_msg_size_bytes\":64,\"coll_exec_time_us\":5,"
    "\"coll_algobw_gbs\":1,\"coll_busbw_gbs\":1}}\n";

static void put(const char *tree, const char *name, const char *text)
{
    FILE *f = fopen(tree_path(tree, name), "we");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

// An object of that many bytes, and a record after it.
static void put_long(const char *tree, size_t length)
{
    FILE *f = fopen(tree_path(tree, "a.log"), "we");
    assert_non_null(f);
    fprintf(f, "{\"long\":\"%*s\"}\n%s", (int)length - 11, "x", record);
    assert_int_equal(fclose(f), 0);
}

// A buffer holds 2^18 bytes, and twice as many whenever it is full: with a limit one below that, what is one longer is given up.
static void the_longest_line(void **state)
{
    static const struct {
        size_t limit, length;
        bool used;
    } rows[] = {{(1 << 18) - 1, (1 << 18) - 1, true}, {(1 << 18) - 1, 1 << 18, false},
                {(1 << 18) - 1, 300000, false},       {1 << 18, 1 << 18, true},
                {1 << 18, (1 << 19) - 1, true},       {1 << 18, 1 << 19, false}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *tree = tree_make();
        const char *path = tree;
        const nccl_options how = {.max_line = rows[i].limit};
        nccl n = {0};
        put_long(tree, rows[i].length);
        assert_int_equal(nccl_read(&n, &path, 1, &how, NULL), NETPROF_OK);
        if (n.outcomes[NCCL_OTHER] != rows[i].used || n.outcomes[NCCL_TOO_LONG] != !rows[i].used)
            fail_msg("limit %zu, %zu bytes: %d used, %d too long", rows[i].limit, rows[i].length,
                     (int)n.outcomes[NCCL_OTHER], (int)n.outcomes[NCCL_TOO_LONG]);
        assert_int_equal(n.lines, 2);
        assert_int_equal(n.outcomes[NCCL_COLL], 1);
        assert_int_equal(n.files[0].first_bad_line, 1);
        if (rows[i].used) assert_int_equal(n.bytes, rows[i].length + 1 + sizeof record - 1);
        assert_false(n.files[0].tail_cut);
        nccl_free(&n);
        tree_remove(tree);
    }
}

static void files_beside(void **state)
{
    static const struct {
        const char *name, *text;
        bool is;
    } rows[] = {{"a.log", record, true},
                {"b.log", "nonsense\n", false},
                {"c.jsonl", record, true},
                {"node.netprof", record, false}, // netprof's own, and not of its plugin
                {"d.log.netprof", record, false},
                {"netprof", record, true},
                {"e.netprofs", record, true},
                {"x", record, true},
                {"f.log", "", false}};
    char *tree = tree_make(), *none = strdup(tree_path(tree, "none")), *empty = strdup(tree_path(tree, "there/x"));
    (void)state;
    assert_int_equal(mkdir(empty, 0777), 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        put(tree, rows[i].name, rows[i].text);
        if (nccl_beside_is_file(tree_path(tree, rows[i].name)) != rows[i].is) fail_msg("%s", rows[i].name);
    }
    assert_false(nccl_beside_is_file(none));
    assert_false(nccl_beside_is_file(empty)); // a directory
    free(none);
    // In a directory only what logs are called.
    static const char *const found[] = {"a.log", "c.jsonl"};
    const char *paths[] = {tree, tree_path(tree, "there/x"), tree_path(tree, "b.log")};
    nccl n = {0};
    assert_true(nccl_beside_read(&n, paths, 3));
    assert_int_equal(n.file_count, COUNT(found));
    for (size_t i = 0; i < COUNT(found); i++)
        assert_string_equal(n.files[i].name, found[i]);
    assert_int_equal(n.outcomes[NCCL_COLL], 2);
    assert_int_equal(n.duplicates, 1);
    nccl_free(&n);
    n = (nccl){0};
    const char *named[] = {tree_path(tree, "x"), tree_path(tree, "e.netprofs"), tree_path(tree, "node.netprof")};
    assert_true(nccl_beside_read(&n, named, 3));
    assert_int_equal(n.file_count, 2);
    nccl_free(&n);
    n = (nccl){0};
    assert_false(nccl_beside_read(&n, paths + 1, 2));
    assert_int_equal(n.file_count, 0);
    free(empty);
    tree_remove(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_longest_line), cmocka_unit_test(files_beside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
