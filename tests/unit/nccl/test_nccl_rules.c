// Findings on small logs of collectives whose times are arithmetic: what is said, of whom, and what it cost, to the
// microsecond.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/nccl/logs/nccl_logs.h"
#include "nccl_told.h"
#include "support.h"

enum { CALLS = 120 };

typedef struct log {
    const char *tree;
    FILE *f;
    int communicator, rank, ranks; // one rank a host
} log_file;

static void log_begin(log_file *l, const char *name)
{
    l->f = fopen(tree_path(l->tree, name), "we");
    assert_non_null(l->f);
}

static void log_end(log_file *l)
{
    assert_int_equal(fclose(l->f), 0);
}

static void log_head(const log_file *l)
{
    int host = l->communicator * l->ranks + l->rank;
    fprintf(l->f,
            "{\"header\":{\"id\":\"0xa%d\",\"comm_name\":\"dp%d\",\"rank\":%d,\"n_ranks\":%d,\"nnodes\":%d},"
            "\"metadata\":{\"inspector_output_format_version\":\"v4.0\",\"dump_timestamp_us\":1000000,"
            "\"hostname\":\"h%d\",\"pid\":%d},",
            l->communicator, l->communicator, l->rank, l->ranks, l->ranks, host, 100 + host);
}

// The bandwidths are what size and time make.
static void log_call(const log_file *l, int sn, const char *bytes, int us)
{
    double gbs = 1048576 / 1e3 / us;
    log_head(l);
    fprintf(l->f,
            "\"coll_perf\":{\"coll\":\"AllReduce\",\"coll_sn\":%d,\"coll_msg_size_bytes\":%s,\"coll_exec_time_us\":%d,"
            "\"coll_algobw_gbs\":%.9f,\"coll_busbw_gbs\":%.9f}}\n",
            sn, bytes, us, gbs, gbs * 2 * (l->ranks - 1) / l->ranks);
}

// Five values whose median is 2, again and again.
static int noise(int sn)
{
    return sn * 7 % 5;
}

typedef struct results {
    nccl n;
    nccl_findings f;
} results;

static void judge(results *r, const char *tree)
{
    r->n = (nccl){0};
    assert_int_equal(nccl_read(&r->n, &tree, 1, NULL, NULL), NETPROF_OK);
    nccl_findings_make(&r->f, &r->n, NULL);
    claims_check(&r->n, &r->f);
}

static void results_end(results *r)
{
    nccl_findings_free(&r->f);
    nccl_free(&r->n);
}

static const nccl_finding *only(const results *r, const char *name)
{
    const nccl_finding *found = NULL;
    for (size_t i = 0; i < r->f.count; i++) {
        if (strcmp(r->f.items[i].rule->name, name) != 0) continue;
        if (found) fail_msg("two findings of %s", name);
        found = &r->f.items[i];
    }
    if (!found) fail_msg("no finding of %s", name);
    return found;
}

static double evidence_of(const nccl_finding *x, const char *name)
{
    for (size_t i = 0; i < x->evidence_count; i++)
        if (strcmp(x->evidence[i].name, name) == 0) return x->evidence[i].value;
    fail_msg("no evidence %s", name);
    return NAN;
}

// Of eight communicators of two hosts each one takes twice as long in each call: half of its time is too much.
static void a_slow_communicator(void **state)
{
    enum { COMMUNICATORS = 8, SLOW = 5 };
    char *tree = tree_make(), name[40];
    results r;
    (void)state;
    for (int c = 0; c < COMMUNICATORS; c++)
        for (int rank = 0; rank < 2; rank++) {
            log_file l = {tree, NULL, c, rank, 2};
            snprintf(name, sizeof name, "h%d-pid%d.log", 2 * c + rank, 100 + 2 * c + rank);
            log_begin(&l, name);
            for (int sn = 0; sn < CALLS; sn++)
                log_call(&l, sn, "1048576", (c == SLOW ? 2 : 1) * (100 + noise(sn)));
            log_end(&l);
        }
    judge(&r, tree);
    const nccl_finding *x = only(&r, "nccl-slow-communicator");
    assert_string_equal(x->device, r.n.communicators[x->communicator].label);
    assert_non_null(strstr(x->device, "dp5"));
    assert_true(fabs(x->value - 2) < 1e-9);
    assert_true(fabs(x->cost_us - 102 * CALLS) < 1e-6); // a call's median is 102 us on the others
    assert_true(fabs(x->cost_share - 0.5) < 1e-9);
    assert_int_equal(x->severity, SEVERITY_HIGH);
    assert_true(evidence_of(x, "host h10, rank") == 0 && evidence_of(x, "host h11, rank") == 1);
    assert_true(fabs(evidence_of(x, "all its wire time beside that of its equals") - 2) < 1e-9);
    assert_ptr_equal(x, r.f.items); // nobody else is worse, or as bad
    for (size_t i = 1; i < r.f.count; i++)
        assert_true(r.f.items[i].severity <= SEVERITY_INFO);
    results_end(&r);
    tree_remove(tree);
}

typedef struct change_row {
    int before_us, after_us;
    bool told, costs;
} change_row;

// The second half of the calls takes longer, or less long: by a quarter at least it is told.
static void a_change_of_the_wire(void **state)
{
    static const change_row rows[] = {
        {98, 298, true, true}, {298, 98, true, false}, {98, 128, true, true}, {98, 120, false, false}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *tree = tree_make();
        const change_row *row = &rows[i];
        results r;
        for (int rank = 0; rank < 2; rank++) {
            log_file l = {tree, NULL, 0, rank, 2};
            log_begin(&l, rank ? "b.log" : "a.log");
            for (int sn = 0; sn < CALLS; sn++)
                log_call(&l, sn, "1048576", (sn < CALLS / 2 ? row->before_us : row->after_us) + noise(sn));
            log_end(&l);
        }
        judge(&r, tree);
        if (row->told) {
            const nccl_finding *x = only(&r, "nccl-wire-change");
            double step = row->after_us - row->before_us, all = (row->before_us + row->after_us + 4) * (CALLS / 2.0);
            assert_true(fabs(x->value - (row->after_us + 2.0) / (row->before_us + 2)) < 1e-9);
            assert_int_equal(x->first_sn, CALLS / 2);
            assert_true(x->to_the_end);
            assert_int_equal(!isnan(x->cost_us), row->costs);
            assert_int_equal(!isnan(x->cost_share), row->costs);
            if (row->costs) assert_true(fabs(x->cost_us - step * CALLS / 2) < 1e-6);
            if (row->costs) assert_true(fabs(x->cost_share - x->cost_us / all) < 1e-9);
            // It accuses nobody: at most to be watched.
            assert_int_equal(x->severity, row->costs ? SEVERITY_WATCH : SEVERITY_INFO);
        }
        for (size_t k = 0; k < r.f.count && !row->told; k++)
            assert_true(strcmp(r.f.items[k].rule->name, "nccl-wire-change") != 0);
        results_end(&r);
        tree_remove(tree);
    }
}

// What is wrong with the logs themselves, each counted. 20 calls of two ranks are 40 records.
static void odd_records(void **state)
{
    char *tree = tree_make();
    results r;
    (void)state;
    for (int rank = 0; rank < 2; rank++) {
        log_file l = {tree, NULL, 0, rank, 2};
        log_begin(&l, rank ? "b.log" : "a.log");
        for (int sn = 0; sn < 20; sn++)
            log_call(&l, sn, "1048576", 100);
        for (int sn = 0; sn < 3 * rank; sn++)
            log_call(&l, sn, "1048576", 100); // again
        for (int sn = 5; sn < 5 + 2 * rank; sn++)
            log_call(&l, sn, "1048576", 111); // again, with another time
        if (rank) log_call(&l, 21, "9223372036854775807", 100);
        if (rank) fprintf(l.f, "nonsense\n");
        log_head(&l);
        fprintf(l.f,
                "\"dump_stats\":{\"coll_records\":%d,\"coll_dropped_total\":%d,\"p2p_records\":0,"
                "\"p2p_dropped_total\":%d}}\n",
                rank ? 30 : 20, rank ? 8 : 1, rank ? 0 : 1);
        log_end(&l);
    }
    judge(&r, tree);
    assert_true(only(&r, "nccl-duplicates")->value == 3);
    assert_true(only(&r, "nccl-invalid-size")->value == 1);
    const nccl_finding *x = only(&r, "nccl-conflicting-records");
    assert_true(fabs(x->value * (double)r.n.outcomes[NCCL_COLL] - 2) < 1e-9);
    assert_int_equal(x->severity, SEVERITY_WATCH);
    assert_non_null(strstr(x->claim, "2 records give another time"));
    x = only(&r, "nccl-plugin-dropped");
    assert_true(fabs(x->value - 10.0 / 60) < 1e-9); // 8 and 1 and 1, of these and 50 that were written
    assert_int_equal(r.n.members[x->member].rank, 1);
    assert_non_null(strstr(x->claim, "the plugin dropped 10 records"));
    x = only(&r, "nccl-logs-damaged");
    assert_non_null(strstr(x->claim, "0 of 2 files are cut, 0 could not be read; 1 of 49 lines"));
    assert_true(fabs(x->value - 1.0 / 49) < 1e-9); // 40 + 3 + 2 + 1, the nonsense, two of the plugin's own
    assert_int_equal(x->severity, SEVERITY_WATCH);
    golden_expect(told(&r.n, &r.f), "nccl/records.json"); // and all that is said, whole
    results_end(&r);
    tree_remove(tree);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_communicator),
        cmocka_unit_test(a_change_of_the_wire),
        cmocka_unit_test(odd_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
