// The lists that pages show of NCCL's logs, field by field, of a small job whose figures are worked out here by hand.
#define _GNU_SOURCE // nftw
#include "netprof.h"

#include "analysis/nccl/export/nccl_export.h"
#include "analysis/nccl/findings/nccl_compare.h"
#include "analysis/nccl/view/nccl_view.h"
#include "analysis/nccl/view/nccl_view_json.h"
#include "nccl_job.h"
#include "support.h"

#include <json-c/json.h>
#include <math.h>

static void view_job(nccl *n, char **tree, nccl_view *v, const nccl_comparison *c)
{
    nccl_findings f;
    if (!c) read_job(n, tree);
    nccl_findings_make(&f, n, c);
    nccl_view_make(v, n, &f, c, NULL);
    nccl_findings_free(&f);
}

static void what_was_read(void **state)
{
    nccl n;
    nccl_view v;
    char *tree;
    (void)state;
    view_job(&n, &tree, &v, NULL);
    assert_int_equal(v.files, 4);
    assert_int_equal(v.files_damaged, 1);
    assert_int_equal(v.recorded_files, 0);
    assert_int_equal(v.lines, 13 + 24 + 4); // calls, pairs, and what is none
    assert_int_equal(v.unusable, 3);
    assert_int_equal(v.records, 13);
    assert_int_equal(v.hosts, 2);
    assert_int_equal(v.processes, 4);
    assert_int_equal(v.communicators, 2);
    assert_int_equal(v.ranks, 4);
    assert_int_equal(v.calls, 4);
    assert_int_equal(v.time_us, 153 + 150 + 40 + 20);
    assert_int_equal(v.first_dump_us, T);
    assert_int_equal(v.last_dump_us, T + 6750000);
    assert_string_equal(v.first_host, "h1");
    assert_string_equal(v.last_host, "h2");
    assert_string_equal(v.versions, "v4.0, v4.2");
    assert_true(v.bytes > 5000 && v.bytes == v.unpacked_bytes);
    // Of 14 records that others know of one is missing; three lines are none.
    assert_true(v.completeness_known);
    assert_int_equal(v.ranks_seen, 6);
    assert_int_equal(v.ranks_expected, 6);
    assert_int_equal(v.records_seen, 13);
    assert_int_equal(v.records_expected, 14);
    assert_int_equal(v.calls_judgeable, 4);
    assert_int_equal(v.calls_complete, 3);
    assert_int_equal(v.reasons.count, 2);
    assert_string_equal(v.reasons.items[0].what, "after the end of a log (h2)");
    assert_int_equal(v.reasons.items[0].count, 1);
    assert_string_equal(v.reasons.items[1].what, "lines that cannot be used");
    assert_int_equal(v.reasons.items[1].count, 3);
    assert_int_equal(v.damaged.count, 1);
    const nccl_view_file *file = &v.damaged.items[0];
    assert_string_equal(file->name, "h2-pid103.log");
    assert_string_equal(file->problem, "the last line is cut");
    assert_string_equal(file->reasons, "2 bad_json, 1 not_object");
    assert_int_equal(file->lines, 2 + 4);
    assert_int_equal(file->bad, 3);
    assert_int_equal(file->first_bad_line, 3);
    assert_int_equal(file->duplicates + file->conflicts, 0);
    assert_int_equal(v.gone.count, 1);
    assert_string_equal(v.gone.items[0].host, "h2");
    assert_int_equal(v.gone.items[0].pid, 103);
    assert_int_equal(v.gone.items[0].tail, 1);
    assert_int_equal(v.gone.items[0].between, 0);
    assert_int_equal(v.damaged_left + v.gone_left + v.pairs_left + v.series_left + v.kinds_left + v.slowest_left, 0);
    nccl_view_free(&v);
    nccl_free(&n);
    tree_remove(tree);
}

// The dearest first.
static void series_and_pairs(void **state)
{
    static const struct {
        const char *label, *type, *coll;
        uint64_t ranks, size, calls, incomplete, time_us;
        double wire, skew;                                                      // medians
    } rows[] = {{"dp", "mixed", "AllReduce", 4, 1000000, 2, 1, 303, 110, 41.5}, // between 100 and 120, 53 and 30
                {"dp", "mixed", "Broadcast", 4, 2048, 1, 0, 40, 32, 8},
                {"tp", "nvlink-only", "AllReduce", 2, 500, 1, 0, 20, 10, 10}};
    nccl n;
    nccl_view v;
    char *tree;
    (void)state;
    view_job(&n, &tree, &v, NULL);
    assert_int_equal(v.series.count, COUNT(rows));
    assert_int_equal(v.kinds.count, COUNT(rows));
    for (size_t i = 0; i < COUNT(rows); i++) {
        const nccl_view_series *x = &v.series.items[i];
        const nccl_view_kind *k = &v.kinds.items[i];
        assert_string_equal(x->label, rows[i].label);
        assert_string_equal(x->type, rows[i].type);
        assert_string_equal(x->coll, rows[i].coll);
        assert_int_equal(x->ranks, rows[i].ranks);
        assert_int_equal(x->size, rows[i].size);
        assert_int_equal(x->calls, rows[i].calls);
        assert_int_equal(x->incomplete, rows[i].incomplete);
        assert_int_equal(x->time_us, rows[i].time_us);
        assert_true(x->wire_us.p50 == rows[i].wire && x->skew_us.p50 == rows[i].skew);
        // Here each kind is of one communicator.
        assert_string_equal(k->type, rows[i].type);
        assert_string_equal(k->coll, rows[i].coll);
        assert_int_equal(k->size, rows[i].size);
        assert_int_equal(k->calls, rows[i].calls);
        assert_int_equal(k->incomplete, rows[i].incomplete);
        assert_int_equal(k->time_us, rows[i].time_us);
        assert_true(k->wire_us.p50 == rows[i].wire && k->skew_us.p50 == rows[i].skew && k->has_bus);
        assert_true(k->peak_gbs == 40);
    }
    assert_int_equal(v.paths.count, 3);
    for (size_t i = 0; i < 3; i++) {
        const nccl_view_path *x = &v.paths.items[i];
        assert_string_equal(x->algo, x->size == 2048 ? "TREE" : "RING");
        assert_string_equal(x->coll, x->size == 2048 ? "Broadcast" : "AllReduce");
        assert_string_equal(x->proto, "LL");
        assert_string_equal(x->type, x->size == 500 ? "nvlink-only" : "mixed");
        assert_int_equal(x->calls, x->size == 1000000 ? 2 : 1);
        if (x->size == 500) assert_true(x->wire_us.p50 == 10 && fabs(x->bus_gbs.p50 - 0.05) < 1e-9);
    }
    assert_int_equal(v.pairs.count, 2); // 12 of 60 us before 12 of 50
    for (size_t i = 0; i < 2; i++) {
        const nccl_view_pair *x = &v.pairs.items[i];
        assert_string_equal(x->label, "dp");
        assert_string_equal(x->operation, i ? "Send" : "Recv");
        assert_string_equal(x->host, i ? "h1" : "h2");
        assert_int_equal(x->rank, i ? 1 : 2);
        assert_int_equal(x->size, 4096);
        assert_int_equal(x->records, 12);
        assert_true(i ? x->peer == 2 : isnan(x->peer));
        assert_true(x->time_us.p50 == (i ? 50 : 60) && x->bus_gbs.p50 == (i ? 2.5 : 3.5));
    }
    nccl_view_free(&v);
    nccl_free(&n);
    tree_remove(tree);
}

// Who cost most comes first. Of the call that lost a record each waited, but nobody is judged by it.
static void processes(void **state)
{
    static const struct {
        const char *host, *name;
        uint64_t pid, local, records, last_arrivals, cost_us, caused_us, suffered_us, missing, judged, last_alone;
    } rows[] = {{"h2", "2 of dp", 102, 0, 3, 3, 50 + 20, 154 + 50, 0, 0, 2, 1},
                {"h1", "1 of dp", 101, 1, 4, 1, 10, 10, 51 + 20 + 1, 0, 3, 1},
                {"h1", "0 of dp", 100, 0, 4, 1, 0, 0, 50 + 30 + 10, 0, 3, 0},
                {"h2", "3 of dp", 103, 1, 2, 0, 0, 0, 53 + 8, 1, 2, 0}};
    nccl n;
    nccl_view v;
    char *tree;
    (void)state;
    view_job(&n, &tree, &v, NULL);
    assert_int_equal(v.slowest.count, COUNT(rows));
    for (size_t i = 0; i < COUNT(rows); i++) {
        const nccl_view_process *x = &v.slowest.items[i];
        assert_string_equal(x->host, rows[i].host);
        assert_string_equal(x->name, rows[i].name);
        assert_int_equal(x->pid, rows[i].pid);
        assert_int_equal(x->local, rows[i].local);
        assert_int_equal(x->records, rows[i].records);
        assert_int_equal(x->last_arrivals, rows[i].last_arrivals);
        assert_int_equal(x->cost_us, rows[i].cost_us);
        assert_int_equal(x->caused_us, rows[i].caused_us);
        assert_int_equal(x->suffered_us, rows[i].suffered_us);
        assert_int_equal(x->missing, rows[i].missing);
        assert_int_equal(x->missing_tail, rows[i].missing); // of AllReduce it has no later call
        assert_int_equal(x->judged, rows[i].judged);
        assert_int_equal(x->last_alone, rows[i].last_alone);
    }
    nccl_view_free(&v);
    nccl_free(&n);
    tree_remove(tree);
}

// A job beside itself; and all of the view as JSON and back.
static void compared_and_saved(void **state)
{
    nccl n;
    nccl_view v, w;
    nccl_comparison c;
    char *tree;
    (void)state;
    read_job(&n, &tree);
    nccl_compare(&c, &n, &n);
    view_job(&n, &tree, &v, &c);
    assert_true(v.compared_known);
    assert_int_equal(v.slower + v.faster, 0);
    assert_int_equal(v.compared.count, c.count);
    assert_int_equal(c.count, 3);
    for (size_t i = 0; i < c.count; i++) {
        const nccl_view_compared *x = &v.compared.items[i];
        double wire = x->size == 500 ? 10 : x->size == 2048 ? 32 : 110;
        assert_string_equal(x->type, x->size == 500 ? "nvlink-only" : "mixed");
        assert_string_equal(x->coll, x->size == 2048 ? "Broadcast" : "AllReduce");
        assert_string_equal(x->verdict, nccl_verdict_name(c.rows[i].verdict));
        assert_true(x->before_us == wire && x->after_us == wire);
        assert_true(x->wire_ratio == 1 && x->skew_ratio == 1 && x->bus_ratio == 1);
    }
    json_object *o = nccl_json(&n, NULL, &c), *view = nccl_view_json(&v);
    check_json(o,
               (json_number[]){{"/comparison/threshold_ratio", NCCL_COMPARE_CHANGE},
                               {"/comparison/threshold_z", NCCL_COMPARE_Z},
                               {"/comparison/alike", (double)c.alike},
                               {"/comparison/slower", 0},
                               {"/comparison/faster", 0},
                               {"/comparison/rows/2/wire_ratio", 1}},
               6);
    json_put(o, "view", view);
    const char *text = json_to_text(o, JSON_C_TO_STRING_PLAIN);
    assert_int_equal(nccl_view_parse(&w, text, strlen(text), NULL), NETPROF_OK);
    json_object *again = nccl_view_json(&w);
    assert_int_equal(json_object_equal(view, again), 1);
    json_object_put(again);
    json_object_put(o);
    nccl_view_free(&w);
    nccl_view_free(&v);
    nccl_compare_free(&c);
    nccl_free(&n);
    tree_remove(tree);
}

// Is a file a saved result? By how it begins, whatever spaces come before.
static void recognised(void **state)
{
    static const struct {
        const char *text;
        bool is;
    } rows[] = {{"{\"format\":\"netprof-nccl\",\"version\":3}", true},
                {" \n\t{ \"format\": \"netprof-nccl\"", true},
                {"{\"format\":\"netprof-diff\"}", false},
                {"[\"netprof-nccl\"]", false},
                {"", false}};
    char *tree = tree_make();
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        tree_write(tree, "f", "%s", rows[i].text);
        if (nccl_view_recognise(tree_path(tree, "f")) != rows[i].is) fail_msg("%s", rows[i].text);
    }
    assert_false(nccl_view_recognise(tree_path(tree, "gone")));
    tree_remove(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_read),      cmocka_unit_test(series_and_pairs), cmocka_unit_test(processes),
        cmocka_unit_test(compared_and_saved), cmocka_unit_test(recognised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
