// What patterns leave of a data set: counters, devices, sources, values of readings and differences, absences.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/data/dataset.h"
#include "analysis/data/dataset_filter.h"
#include "support.h"

// Values of the first reading are 1, 2, ..., of the second 10, 20, ...
static const struct row counters[] = {{"cxi", "cxi0", "tx", .flags = NETPROF_FAST},
                                      {"cxi", "cxi0", "rx", .flags = NETPROF_FAST},
                                      {"cxi", "cxi0", "errors", .flags = 0},
                                      {"cxi", "cxi1", "tx", .flags = NETPROF_FAST},
                                      {"cxi", "cxi1", "rx", .flags = 0},
                                      {"netdev", "eth0", "tx", .flags = NETPROF_FAST},
                                      {"netdev", "lo", "tx", .flags = 0},
                                      {"rdma", "mlx5_0/1", "tx", .flags = 0}};

static void write_file(const char *path)
{
    netprof_snapshot s[2];
    netprof_delta delta = NETPROF_ZERO;
    netprof_writer *w;
    const netprof_schema *schema = schema_of_rows(counters, COUNT(counters), "h1", NULL);
    assert_int_equal(netprof_writer_open(&w, path, 0, NULL), NETPROF_OK);
    for (int i = 0; i < 2; i++) {
        if (!i) netprof_schema_retain(schema);
        s[i] = snapshot_of(schema);
        s[i].begin_ns = s[i].end_ns = i * 1000000000ll;
        s[i].wall_ns = 1763643720000000000ll + s[i].begin_ns;
        for (size_t k = 0; k < COUNT(counters); k++)
            s[i].values[k] = (k + 1) * (i ? 10 : 1);
    }
    assert_int_equal(netprof_diff(&s[0], &s[1], NULL, &delta, NULL), NETPROF_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(netprof_write_snapshot(w, &s[i], NULL), NETPROF_OK);
    assert_int_equal(netprof_write_delta(w, &delta, NULL), NETPROF_OK);
    assert_int_equal(netprof_writer_close(w, 1, NULL), NETPROF_OK);
    netprof_delta_free(&delta);
    netprof_snapshot_free(&s[0]);
    netprof_snapshot_free(&s[1]);
}

// "cxi0/tx=1,10,9 ": the readings, and the difference.
static char *text_of(const dataset_run *run)
{
    static char text[400];
    const netprof_schema *schema = run->snapshots[0].schema;
    *text = 0;
    assert_ptr_equal(schema, run->snapshots[1].schema);
    assert_ptr_equal(schema, run->deltas[0].schema);
    for (size_t i = 0; i < schema->counter_count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s/%s=%d,%d,%d ",
                 schema->devices[schema->counters[i].device].name, schema->counters[i].name,
                 (int)run->snapshots[0].values[i], (int)run->snapshots[1].values[i], (int)run->deltas[0].values[i]);
    return text;
}

#define CXI0   "cxi0/tx=1,10,9 cxi0/rx=2,20,18 cxi0/errors=3,30,27 "
#define CXI1   "cxi1/tx=4,40,36 cxi1/rx=5,50,45 "
#define NETDEV "eth0/tx=6,60,54 lo/tx=7,70,63 "
#define RDMA   "mlx5_0/1/tx=8,80,72 "

typedef struct filter_case {
    dataset_filter filter; // include, exclude, sources, fast
    const char *left;
    size_t sources, absences;
} filter_case;

static const filter_case cases[] = {
    {{NULL, NULL, NULL, false}, CXI0 CXI1 NETDEV RDMA, 3, 3},
    {{"cxi0", NULL, NULL, false}, CXI0, 3, 1},
    {{"cxi*", NULL, NULL, false}, CXI0 CXI1, 3, 2},
    {{"cxi", NULL, NULL, false}, "", 3, 0},
    {{"cxi0,lo", NULL, NULL, false}, CXI0 "lo/tx=7,70,63 ", 3, 1},
    {{"*/tx", NULL, NULL, false}, "cxi0/tx=1,10,9 cxi1/tx=4,40,36 " NETDEV RDMA, 3, 0},
    {{"cxi1/r*", NULL, NULL, false}, "cxi1/rx=5,50,45 ", 3, 0},
    {{"mlx5_0/1", NULL, NULL, false}, RDMA, 3, 0},
    {{NULL, "cxi0", NULL, false}, CXI1 NETDEV RDMA, 3, 2},
    {{NULL, "cxi0/errors,lo", NULL, false}, "cxi0/tx=1,10,9 cxi0/rx=2,20,18 " CXI1 "eth0/tx=6,60,54 " RDMA, 3, 3},
    {{"cxi*", "*/tx", NULL, false}, "cxi0/rx=2,20,18 cxi0/errors=3,30,27 cxi1/rx=5,50,45 ", 3, 2},
    {{NULL, NULL, "netdev", false}, NETDEV, 1, 1},
    {{NULL, NULL, "rdma,cxi", false}, CXI0 CXI1 RDMA, 2, 2},
    {{NULL, NULL, "cx*", false}, "", 0, 0}, // names, no patterns
    {{"lo", NULL, "netdev", false}, "lo/tx=7,70,63 ", 1, 0},
    {{NULL, NULL, NULL, true}, "cxi0/tx=1,10,9 cxi0/rx=2,20,18 cxi1/tx=4,40,36 eth0/tx=6,60,54 ", 3, 3},
    {{"eth0", NULL, NULL, true}, "eth0/tx=6,60,54 ", 3, 1},
};

static void add_absence(dataset_run *run, const char *source, const char *name)
{
    dataset_absence a = {memory_strdup(source), memory_strdup(name), 0, 1};
    arrput(run->absences, a);
    run->absence_count++;
}

static size_t counters_in(const char *text)
{
    size_t count = 0;
    while ((text = strchr(text, ' ')))
        count++, text++;
    return count;
}

static void patterns_leave(void **state)
{
    char *tree = tree_make();
    (void)state;
    write_file(tree_path(tree, "a.netprof"));
    for (size_t i = 0; i < COUNT(cases); i++) {
        const filter_case *x = &cases[i];
        dataset set = {0};
        assert_int_equal(dataset_read(&set, tree_path(tree, "a.netprof"), NULL, NULL), NETPROF_OK);
        dataset_run *run = &set.runs[0];
        add_absence(run, "cxi", "cxi0");
        add_absence(run, "cxi", "cxi1");
        add_absence(run, "netdev", "eth0");
        size_t kept = dataset_filter_apply(&set, &x->filter);
        if (strcmp(text_of(run), x->left) != 0) fail_msg("case %zu leaves %s", i, text_of(run));
        assert_int_equal(kept, counters_in(x->left));
        const netprof_schema *schema = run->snapshots[0].schema;
        assert_int_equal(schema->source_count, x->sources);
        assert_string_equal(schema->facts[0].value, "h1");
        if (run->absence_count != x->absences) fail_msg("case %zu: %zu absences", i, run->absence_count);
        assert_int_equal(arrlenu(run->absences), x->absences);
        // What is not a counter's stays.
        assert_int_equal(run->deltas[0].interval_ns, 1000000000);
        assert_int_equal(run->deltas[0].wall_end_ns - run->deltas[0].wall_begin_ns, 1000000000);
        for (size_t k = 0; k < schema->counter_count; k++) {
            assert_int_equal(run->deltas[0].before[k], run->snapshots[0].values[k]);
            assert_int_equal(run->deltas[0].after[k], run->snapshots[1].values[k]);
            assert_int_equal(run->deltas[0].before_status[k], NETPROF_STATUS_OK);
            assert_int_equal(run->deltas[0].after_status[k], NETPROF_STATUS_OK);
            assert_int_equal(run->deltas[0].flags[k], NETPROF_FLAG_OK);
        }
        dataset_free(&set);
    }
    tree_remove(tree);
}

// One after the other it is the same.
static void readings_one_by_one(void **state)
{
    char *tree = tree_make();
    (void)state;
    write_file(tree_path(tree, "a.netprof"));
    for (size_t i = 0; i < COUNT(cases); i++) {
        dataset set = {0};
        netprof_snapshot one = NETPROF_ZERO;
        char text[400] = "", expected[400] = "";
        assert_int_equal(dataset_read(&set, tree_path(tree, "a.netprof"), NULL, NULL), NETPROF_OK);
        dataset_filtering *d = dataset_filtering_open(&cases[i].filter);
        for (int k = 0; k < 2; k++) {
            assert_int_equal(dataset_filtering_snapshot(d, &one, &set.runs[0].snapshots[k]),
                             counters_in(cases[i].left));
            for (size_t j = 0; j < one.schema->counter_count; j++)
                snprintf(text + strlen(text), sizeof text - strlen(text), "%d ", (int)one.values[j]);
        }
        dataset_filter_apply(&set, &cases[i].filter);
        for (int k = 0; k < 2; k++)
            for (size_t j = 0; j < set.runs[0].snapshots[k].schema->counter_count; j++)
                snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%d ",
                         (int)set.runs[0].snapshots[k].values[j]);
        assert_string_equal(text, expected);
        netprof_snapshot_free(&one);
        dataset_filtering_close(d);
        dataset_free(&set);
    }
    tree_remove(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_leave),
        cmocka_unit_test(readings_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
