// Sequence numbers in any order and far apart, versions, runs of one id, and where a series changed.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/nccl/logs/nccl_logs.h"
#include "support.h"

#include <math.h>

typedef struct record {
    const char *id;
    int rank, ranks;
    uint64_t sn, dump_us;
    int us, pid; // pid 0: one of its rank and size
} record;

static void put(FILE *f, const record *r, const char *version)
{
    fprintf(f,
            "{\"header\":{\"id\":\"%s\",\"comm_name\":\"dp\",\"rank\":%d,\"n_ranks\":%d,\"nnodes\":1},\"metadata\":{"
            "\"inspector_output_format_version\":\"%s\",\"dump_timestamp_us\":%llu,\"hostname\":\"h\",\"pid\":%d},"
            "\"coll_perf\":{\"coll\":\"AllReduce\",\"coll_sn\":%llu,\"coll_msg_size_bytes\":1000000,"
            "\"coll_exec_time_us\":%d,\"coll_algobw_gbs\":1.0,\"coll_busbw_gbs\":1.0}}\n",
            r->id, r->rank, r->ranks, version, (unsigned long long)r->dump_us,
            r->pid ? r->pid : 100 + r->rank + 10 * r->ranks, (unsigned long long)r->sn, r->us);
}

static void read_all(nccl *n, const char *tree)
{
    *n = (nccl){0};
    assert_int_equal(nccl_read(n, &tree, 1, NULL, NULL), NETPROF_OK);
}

// ---- order ----

// `step` apart: close to each other they are counted, far from each other compared. Of what is told twice the first counts.
static void numbers_in_any_order(void **state)
{
    enum { NUMBERS = 40 };
    static const uint64_t steps[] = {1, 3, 50, 1000000007};
    (void)state;
    for (size_t s = 0; s < COUNT(steps); s++) {
        char *tree = tree_make();
        nccl n;
        FILE *f = fopen(tree_path(tree, "a.log"), "we");
        assert_non_null(f);
        for (int rank = 0; rank < 2; rank++)
            for (uint64_t i = 0; i < NUMBERS + 5; i++) {
                uint64_t number = i * 17 % NUMBERS; // the last five again
                record r = {"0xab", rank, 2, 7 + number * steps[s], 1000, 100 + (int)number * 2 + rank + (i >= NUMBERS),
                            0};
                put(f, &r, "v4.0");
            }
        assert_int_equal(fclose(f), 0);
        read_all(&n, tree);
        assert_int_equal(n.instance_count, NUMBERS);
        assert_int_equal(n.conflicts, 2 * 5);
        for (size_t i = 0; i < NUMBERS; i++) {
            const nccl_instance *x = &n.instances[i];
            assert_int_equal(x->sn, 7 + i * steps[s]);
            assert_int_equal(x->count, 2);
            assert_true(x->complete);
            assert_int_equal(x->min_us, 100 + i * 2);
            assert_int_equal(x->max_us, 101 + i * 2);
            assert_int_equal(n.members[x->first_late].rank, 0);
        }
        nccl_free(&n);
        tree_remove(tree);
    }
}

// ---- versions ----

static void versions(void **state)
{
    static const struct {
        const char *version;
        int bit; // -1: not known
        const char *name;
    } rows[] = {{"v4.0", 0, "v4.0"},  {"v4.3", 3, "v4.3"},    {"v4.15", 15, "v4.15"}, {"v5.0", 16, "v5.0"},
                {"v5.2", 18, "v5.2"}, {"v5.15", 31, "v5.15"}, {"v4.16", -1, NULL},    {"v6.0", -1, NULL},
                {"v4", -1, NULL},     {"v4.", -1, NULL},      {"v4.x", -1, NULL},     {"v4.1x", -1, NULL},
                {"w4.1", -1, NULL},   {"v4,1", -1, NULL},     {"v4.123", -1, NULL}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *tree = tree_make(), text[16];
        nccl n;
        const record r = {"0xab", 0, 2, 1, 1000, 100, 0};
        FILE *f = fopen(tree_path(tree, "a.log"), "we");
        assert_non_null(f);
        put(f, &r, rows[i].version);
        assert_int_equal(fclose(f), 0);
        read_all(&n, tree);
        assert_int_equal(n.outcomes[NCCL_COLL], 1); // what can be read is read
        if (n.foreign_version != (rows[i].bit < 0)) fail_msg("%s", rows[i].version);
        assert_int_equal(n.versions, rows[i].bit < 0 ? 0 : UINT64_C(1) << rows[i].bit);
        if (rows[i].name) assert_string_equal(nccl_version_name(rows[i].bit, text, sizeof text), rows[i].name);
        nccl_free(&n);
        tree_remove(tree);
    }
}

// ---- runs ----

// The same id three times, of other sizes: numbered by time, whichever comes first in the order of sizes.
static void runs_by_time(void **state)
{
    static const struct {
        int ranks;
        uint64_t dump_us;
        uint32_t run;
        const char *label;
    } rows[] = {{2, 3000, 2, "dp #2"}, {3, 1000, 1, "dp"}, {4, 5000, 3, "dp #3"}};
    char *tree = tree_make();
    nccl n;
    (void)state;
    FILE *f = fopen(tree_path(tree, "a.log"), "we");
    assert_non_null(f);
    for (size_t i = 0; i < COUNT(rows); i++)
        for (int rank = 0; rank < rows[i].ranks; rank++) {
            record r = {"0xab", rank, rows[i].ranks, 1, rows[i].dump_us + (uint64_t)rank, 100, 0};
            put(f, &r, "v4.0");
        }
    assert_int_equal(fclose(f), 0);
    read_all(&n, tree);
    assert_int_equal(n.communicator_count, COUNT(rows));
    for (size_t i = 0; i < COUNT(rows); i++) {
        const nccl_communicator *c = &n.communicators[COUNT(rows) - 1 - i]; // those with most ranks first
        assert_int_equal(c->ranks, rows[i].ranks);
        assert_int_equal(c->run, rows[i].run);
        assert_string_equal(c->label, rows[i].label);
        assert_int_equal(c->first_dump_us, rows[i].dump_us);
        assert_int_equal(c->last_dump_us, rows[i].dump_us + (uint64_t)rows[i].ranks - 1);
        assert_true(c->complete == 1 && c->instances == 1);
    }
    nccl_free(&n);
    tree_remove(tree);
}

// Of two runs of the same size rank 1 has a log of the second alone: it belongs to that one, which is near in time.
static void the_nearest_run(void **state)
{
    static const record records[] = {
        {"0xab", 0, 2, 1, 1000, 100, 7}, {"0xab", 0, 2, 1, 9000, 120, 8}, {"0xab", 1, 2, 1, 8000, 130, 9}};
    char *tree = tree_make();
    nccl n;
    (void)state;
    FILE *f = fopen(tree_path(tree, "a.log"), "we");
    assert_non_null(f);
    for (size_t i = 0; i < COUNT(records); i++)
        put(f, &records[i], "v4.0");
    assert_int_equal(fclose(f), 0);
    read_all(&n, tree);
    assert_int_equal(n.communicator_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(n.communicators[i].run, i + 1);
        assert_int_equal(n.communicators[i].member_count, i + 1);
        assert_int_equal(n.communicators[i].complete, i);
        assert_int_equal(n.communicators[i].wire_us, i ? 120 : 100);
    }
    nccl_free(&n);
    tree_remove(tree);
}

// ---- where a series changed ----

typedef struct change_case {
    int count, at;       // calls; the change
    int before, after;   // us
    int spread, outlier; // of values; every 29th call takes so much longer
    bool found;
} change_case;

static int value_of(const change_case *x, int i)
{
    return (i < x->at ? x->before : x->after) + i * 7 % (x->spread + 1) + (i % 29 == 5 ? x->outlier : 0);
}

static int by_int(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static double median_of(const change_case *x, int from, int to)
{
    int values[400], count = 0;
    for (int i = from; i < to; i++)
        values[count++] = value_of(x, i);
    qsort(values, (size_t)count, sizeof *values, by_int);
    return (values[(count - 1) / 2] + values[count / 2]) / 2.0;
}

static void where_a_series_changed(void **state)
{
    static const change_case cases[] = {
        {100, 60, 100, 200, 8, 0, true},   {100, 60, 200, 100, 8, 0, true},    {100, 25, 100, 140, 8, 900, true},
        {100, 75, 100, 140, 8, 900, true}, {150, 10, 100, 300, 4, 0, true},    {150, 140, 100, 300, 4, 0, true},
        {30, 15, 100, 200, 4, 0, true},    {29, 15, 100, 200, 4, 0, false},    {100, 50, 100, 124, 0, 0, false},
        {100, 50, 100, 125, 0, 0, false},  {100, 50, 100, 126, 0, 0, true},    {100, 50, 126, 100, 0, 0, true},
        {100, 50, 125, 100, 0, 0, false},  {100, 50, 100, 150, 400, 0, false}, {100, 50, 100, 100, 0, 0, false},
    };
    (void)state;
    for (size_t k = 0; k < COUNT(cases); k++) {
        const change_case *x = &cases[k];
        char *tree = tree_make();
        nccl n;
        FILE *f = fopen(tree_path(tree, "a.log"), "we");
        assert_non_null(f);
        for (int i = 0; i < x->count; i++) {
            record r = {"0xab", 0, 2, 5 + 2 * (uint64_t)i, 1000, value_of(x, i), 0};
            put(f, &r, "v4.0");
        }
        assert_int_equal(fclose(f), 0);
        read_all(&n, tree);
        const nccl_change *c = &n.series[0].wire_change;
        if (c->found != x->found) fail_msg("case %zu", k);
        if (c->found) {
            if (c->sn != 5 + 2 * (uint64_t)x->at) fail_msg("case %zu: at %d", k, (int)c->sn);
            assert_true(fabs(c->before - median_of(x, 0, x->at)) < 1e-9);
            assert_true(fabs(c->after - median_of(x, x->at, x->count)) < 1e-9);
        }
        assert_false(n.series[0].skew_change.found);
        nccl_free(&n);
        tree_remove(tree);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_in_any_order), cmocka_unit_test(versions),
                                       cmocka_unit_test(runs_by_time), cmocka_unit_test(the_nearest_run),
                                       cmocka_unit_test(where_a_series_changed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
