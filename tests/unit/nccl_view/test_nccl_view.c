// What a report of NCCL logs shows: figures of small logs whose results are worked out here by hand, the saved result
// and back, and what is no saved result.
#define _GNU_SOURCE // nftw
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/nccl/export/nccl_export.h"
#include "analysis/nccl/logs/nccl_logs.h"
#include "analysis/nccl/view/nccl_view.h"
#include "analysis/nccl/view/nccl_view_json.h"
#include "support.h"

#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 20 };

// A call of `size` bytes: AllReduce in version 4.0.
typedef struct writer {
    FILE *file;
    const char *id, *name, *host;
    int rank, ranks, nodes, pid;
} writer;

static void put(const writer *w, unsigned sn, unsigned long long size, unsigned us)
{
    fprintf(w->file,
            "{\"header\":{\"id\":\"%s\",\"comm_name\":\"%s\",\"rank\":%d,\"n_ranks\":%d,\"nnodes\":%d},"
            "\"metadata\":{\"inspector_output_format_version\":\"v4.0\",\"dump_timestamp_us\":%llu,"
            "\"hostname\":\"%s\","
            "\"pid\":%d},\"coll_perf\":{\"coll\":\"AllReduce\",\"coll_sn\":%u,\"coll_msg_size_bytes\":%llu,"
            "\"coll_exec_time_us\":%u,\"coll_algobw_gbs\":%f,\"coll_busbw_gbs\":%f}}\n",
            w->id, w->name, w->rank, w->ranks, w->nodes, 1749490000000000ULL + sn * 1000000ULL, w->host, w->pid, sn,
            size, us, (double)size / 1e3 / us, (double)size / 1e3 / us * 2 * (w->ranks - 1) / w->ranks);
}

static writer open_log(const char *tree, const char *id, const char *name, int rank)
{
    writer w = {NULL, id, name, rank < 2 ? "h1" : "h2", rank, 4, 2, 100 + rank};
    char file[80];
    snprintf(file, sizeof file, "%s-pid%d.log", w.host, w.pid);
    w.file = fopen(tree_path(tree, file), "ae");
    assert_non_null(w.file);
    return w;
}

// 20 calls of 1,000,000 bytes. Times 150 + rank, but 100 for the late one: rank 2, in call 7 rank 1. `lost`: a call that
// rank 3 has no record of.
static void write_calls(const char *tree, const char *id, const char *name, unsigned lost)
{
    for (int rank = 0; rank < 4; rank++) {
        writer w = open_log(tree, id, name, rank);
        for (unsigned sn = 0; sn < CALLS; sn++)
            if (!(rank == 3 && sn == lost))
                put(&w, sn, 1000000, rank == (sn == 7 ? 1 : 2) ? 100 : 150 + (unsigned)rank);
        assert_int_equal(fclose(w.file), 0);
    }
}

static const nccl_peak peak = {"*", 20};

static void view_tree(nccl_view *v, const char *tree)
{
    const nccl_options how = {.peaks = &peak, .peak_count = 1};
    nccl n = {0};
    nccl_findings f;
    assert_int_equal(nccl_read(&n, &tree, 1, &how, NULL), NETPROF_OK);
    nccl_findings_make(&f, &n, NULL);
    nccl_view_make(v, &n, &f, NULL, NULL);
    nccl_findings_free(&f);
    nccl_free(&n);
}

static void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-9 * fabs(b))) fail_msg("%.17g is not %.17g", a, b);
}

static const nccl_view_process *process(const nccl_view *v, uint64_t rank)
{
    for (size_t i = 0; i < v->late.count; i++)
        if (v->late.items[i].rank == rank) return &v->late.items[i];
    fail_msg("rank %llu is not in the map", (unsigned long long)rank);
    return NULL;
}

static void first_page(void **unused)
{
    char *tree = tree_make();
    nccl_view v;
    (void)unused;
    write_calls(tree, "0xab", "dp0", CALLS);
    view_tree(&v, tree);
    assert_int_equal(v.ranks, 4);
    assert_int_equal(v.calls, CALLS);
    assert_int_equal(v.rows.count, 1);
    const nccl_view_row *r = &v.rows.items[0];
    assert_string_equal(r->label, "dp0");
    assert_int_equal(r->calls, CALLS);
    near(r->bytes, CALLS * 1e6);
    near(r->time_us, CALLS * 153.0); // the longest is always rank 3's 153
    near(r->wire_us.p50, 100);
    near(r->skew_us.p50, 53);
    near(r->bus_gbs.p50, 1e6 / 100e-6 * 2 * 3 / 4 / 1e9);
    near(r->peak_gbs, 20);
    assert_int_equal(r->severity, SEVERITY_OK); // less than 1 ms
    // Records: all that are known to have been were seen.
    assert_true(v.completeness_known);
    assert_int_equal(v.records_expected, 4 * CALLS);
    assert_int_equal(v.records_seen, 4 * CALLS);
    assert_int_equal(v.calls_complete, CALLS);
    assert_int_equal(v.reasons.count, 0);
    // Behind the median: of 100 150 151 153 it is 150.5; of 100 150 152 153 151.
    assert_string_equal(v.main_coll, "AllReduce");
    assert_int_equal(v.late.count, 4);
    near(process(&v, 2)->behind_us, (19 * 50.5 + (151 - 152)) / 20);
    near(process(&v, 1)->behind_us, (19 * (150.5 - 151) + 51) / 20);
    assert_int_equal(process(&v, 2)->last_alone, 19);
    assert_int_equal(process(&v, 1)->last_alone, 1);
    assert_string_equal(process(&v, 2)->host, "h2");
    assert_int_equal(process(&v, 2)->local, 0);
    assert_int_equal(process(&v, 3)->local, 1);
    near(v.late_floor_us, 10);
    assert_non_null(strstr(v.verdict, "Rank 2 of dp0, on h2, was late: 950"));
    nccl_view_free(&v);
    tree_remove(tree);
}

// The same as JSON. Of the four times of a call, 100 (late), 150, 151 or 152, and 153: the shortest is on the wire, the
// longest is what the call took; the others wait what they are longer. Only the late one's call costs: until the second.
static void all_as_json(void **unused)
{
    static const struct {
        const char *path;
        double value;
    } numbers[] = {
        {"/logs/file_count", 4},
        {"/logs/lines", 4 * CALLS},
        {"/logs/outcomes/coll", 4 * CALLS},
        {"/logs/duplicates", 0},
        {"/logs/conflicts", 0},
        {"/logs/invalid_sizes", 0},
        {"/logs/disagreeing", 0},
        {"/logs/first_dump_us", 1749490000e6},
        {"/logs/last_dump_us", 1749490000e6 + (CALLS - 1) * 1e6},
        {"/communicators/0/rank_count", 4},
        {"/communicators/0/host_count", 2},
        {"/communicators/0/ranks_seen", 4},
        {"/communicators/0/calls", CALLS},
        {"/communicators/0/complete_calls", CALLS},
        {"/communicators/0/records", 4 * CALLS},
        {"/communicators/0/missing", 0},
        {"/communicators/0/missing_tail", 0},
        {"/communicators/0/missing_absent", 0},
        {"/communicators/0/total_us", 153 * CALLS},
        {"/communicators/0/total_wire_us", 100 * CALLS},
        {"/communicators/0/peak_gbs", 20},
        {"/communicators/0/series/0/size_bytes", 1000000},
        {"/communicators/0/series/0/calls", CALLS},
        {"/communicators/0/series/0/incomplete_calls", 0},
        {"/communicators/0/series/0/missing_records", 0},
        {"/communicators/0/series/0/total_us", 153 * CALLS},
        {"/communicators/0/series/0/total_wire_us", 100 * CALLS},
        {"/communicators/0/series/0/peak_share", 15.0 / 20},
        {"/types/0/size_bytes", 1000000},
        {"/types/0/calls", CALLS},
        {"/types/0/incomplete_calls", 0},
        {"/types/0/total_us", 153 * CALLS},
        {"/types/0/total_wire_us", 100 * CALLS},
        {"/types/0/peak_share", 15.0 / 20},
        // rank 0 has 150 in all calls, rank 1 151, and 100 in call 7, rank 2 100, and 152 in that call, rank 3 153
        {"/ranks/0/records", CALLS},
        {"/ranks/0/last_arrivals", 0},
        {"/ranks/0/last_alone", 0},
        {"/ranks/0/wait_us_suffered", 50 * CALLS},
        {"/ranks/0/wait_us_caused", 0},
        {"/ranks/0/cost_us", 0},
        {"/ranks/0/judged", CALLS},
        {"/ranks/0/missing", 0},
        {"/ranks/0/missing_tail", 0},
        {"/ranks/0/behind_median_us", (19 * (150.5 - 150) + 1) / 20},
        {"/ranks/1/last_alone", 1},
        {"/ranks/1/wait_us_suffered", 51 * 19},
        {"/ranks/1/wait_us_caused", 50 + 52 + 53},
        {"/ranks/1/cost_us", 50},
        {"/ranks/1/behind_median_us", (19 * (150.5 - 151) + 51) / 20},
        {"/ranks/2/last_arrivals", 19},
        {"/ranks/2/last_alone", 19},
        {"/ranks/2/wait_us_suffered", 52},
        {"/ranks/2/wait_us_caused", 19 * (50 + 51 + 53)},
        {"/ranks/2/cost_us", 19 * 50},
        {"/ranks/2/judged_last_alone", 19},
        {"/ranks/2/judged_cost_us", 19 * 50},
        {"/ranks/3/local_rank", 1},
        {"/ranks/3/pid", 103},
        {"/ranks/3/wait_us_suffered", 53 * CALLS},
        {"/hosts/0/process_count", 2},
        {"/hosts/0/records", 2 * CALLS},
        {"/hosts/0/last_alone", 1},
        {"/hosts/1/last_alone", 19},
        {"/hosts/1/wait_us_suffered", 52 + 53 * CALLS},
        {"/judged_of/rank_count", 4},
        {"/judged_of/communicator_count", 1},
    };
    static const struct {
        const char *path, *text;
    } texts[] = {{"/communicators/0/label", "dp0"},
                 {"/communicators/0/id", "0xab"},
                 {"/communicators/0/name", "dp0"},
                 {"/communicators/0/comm_type", "mixed"},
                 {"/communicators/0/series/0/coll", "AllReduce"},
                 {"/types/0/comm_type", "mixed"},
                 {"/types/0/coll", "AllReduce"},
                 {"/ranks/0/host", "h1"},
                 {"/ranks/3/host", "h2"},
                 {"/hosts/1/host", "h2"},
                 {"/logs/versions/0", "v4.0"},
                 {"/findings/0/device", "h2"}};
    static const struct {
        const char *name;
        double value; // of every call
    } spreads[] = {{"wire_us", 100}, {"skew_us", 53}, {"time_us", 153}, {"algbw_gbs", 10}, {"busbw_gbs", 15}};
    static const char *const parts[] = {"min", "p5", "p25", "p50", "p75", "p95", "p99", "max", "mean"};
    char *tree = tree_make(), path[100];
    const char *paths[] = {tree};
    nccl n = {0};
    nccl_findings f;
    json_object *at;
    (void)unused;
    write_calls(tree, "0xab", "dp0", CALLS);
    assert_int_equal(nccl_read(&n, paths, 1, &(nccl_options){.peaks = &peak, .peak_count = 1}, NULL), NETPROF_OK);
    nccl_findings_make(&f, &n, NULL);
    json_object *o = nccl_json(&n, &f, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (json_pointer_get(o, numbers[i].path, &at)) fail_msg("no %s", numbers[i].path);
        if (!(fabs(json_object_get_double(at) - numbers[i].value) <= 1e-9 * fabs(numbers[i].value)))
            fail_msg("%s: %s, not %g", numbers[i].path, json_object_to_json_string(at), numbers[i].value);
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (json_pointer_get(o, texts[i].path, &at)) fail_msg("no %s", texts[i].path);
        assert_string_equal(json_object_get_string(at), texts[i].text);
    }
    for (int of = 0; of < 2; of++)
        for (size_t i = 0; i < sizeof spreads / sizeof *spreads; i++)
            for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
                snprintf(path, sizeof path, "%s/%s/%s", of ? "/types/0" : "/communicators/0/series/0", spreads[i].name,
                         parts[k]);
                if (json_pointer_get(o, path, &at)) fail_msg("no %s", path);
                near(json_object_get_double(at), spreads[i].value);
            }
    json_object_put(o);
    nccl_findings_free(&f);
    nccl_free(&n);
    tree_remove(tree);
}

// Calls that took no time: the axis has a length all the same. Calls that took all ranks alike long: who is late is looked
// for down to the microsecond that is logged, and no further (it was, without an end).
static void alike_to_the_microsecond(void **unused)
{
    (void)unused;
    for (unsigned us = 0; us <= 100; us += 100) {
        char *tree = tree_make();
        nccl_view v;
        for (int rank = 0; rank < 4; rank++) {
            writer w = open_log(tree, "0xab", "dp0", rank);
            for (unsigned sn = 0; sn < CALLS; sn++)
                fprintf(
                    w.file,
                    "{\"header\":{\"id\":\"0xab\",\"comm_name\":\"dp0\",\"rank\":%d,\"n_ranks\":4,\"nnodes\":2},"
                    "\"metadata\":{\"inspector_output_format_version\":\"v4.0\",\"dump_timestamp_us\":%llu,"
                    "\"hostname\":\"%s\",\"pid\":%d},\"coll_perf\":{\"coll\":\"Barrier\",\"coll_sn\":%u,"
                    "\"coll_msg_size_bytes\":0,\"coll_exec_time_us\":%u,\"coll_algobw_gbs\":0,\"coll_busbw_gbs\":0}}\n",
                    rank, 1749490000000000ULL + sn * 1000000ULL, w.host, w.pid, sn, us);
            assert_int_equal(fclose(w.file), 0);
        }
        view_tree(&v, tree);
        assert_int_equal(v.kinds.count, 1);
        if (v.kinds.items[0].points.count) near(v.kinds.items[0].y_max, us ? us : 1);
        nccl_view_free(&v);
        tree_remove(tree);
    }
}

static void kinds_and_run(void **unused)
{
    char *tree = tree_make();
    nccl_view v;
    (void)unused;
    write_calls(tree, "0xab", "dp0", CALLS);
    view_tree(&v, tree);
    assert_int_equal(v.kinds.count, 1);
    const nccl_view_kind *k = &v.kinds.items[0];
    assert_string_equal(k->type, "mixed");
    assert_int_equal(k->points.count, CALLS);
    for (size_t i = 0; i < CALLS; i++) {
        near(k->points.items[i].x + 1, (double)i + 1);
        near(k->points.items[i].y, 15);
        assert_int_equal(k->points.items[i].calls, 1);
    }
    assert_true(k->y_max >= 15 && k->x_max >= CALLS - 1);
    assert_int_equal(k->bins.count, 1);
    assert_true(k->bins.items[0].count == CALLS);
    uint64_t calls = 0;
    for (size_t i = 0; i < v.run.count; i++) {
        assert_int_equal(v.run.items[i].first_sn, calls); // one after the other, none twice
        calls += v.run.items[i].instances;
        assert_int_equal(v.run.items[i].last_sn, calls - 1);
        near(v.run.items[i].wire_p50, 100);
        near(v.run.items[i].skew_p50, 53);
    }
    assert_int_equal(calls, CALLS);
    nccl_view_free(&v);
    tree_remove(tree);
}

static void lost_record(void **unused)
{
    char *tree = tree_make();
    nccl_view v;
    (void)unused;
    write_calls(tree, "0xab", "dp0", 5);
    view_tree(&v, tree);
    assert_int_equal(v.records_expected, 4 * CALLS);
    assert_int_equal(v.records_seen, 4 * CALLS - 1);
    assert_int_equal(v.calls_complete, CALLS - 1);
    assert_int_equal(v.reasons.count, 1);
    assert_int_equal(v.reasons.items[0].count, 1);
    assert_int_equal(v.gone.count, 1);
    assert_int_equal(v.gone.items[0].pid, 103);
    assert_int_equal(v.gone.items[0].between, 1);
    assert_int_equal(process(&v, 2)->judged, CALLS - 1);
    // The bin of that call alone is a gap.
    uint64_t gaps = 0;
    for (size_t i = 0; i < v.run.count; i++)
        gaps += !v.run.items[i].complete && isnan(v.run.items[i].wire_p50);
    assert_int_equal(gaps, 1);
    nccl_view_free(&v);
    tree_remove(tree);
}

// Communicators that differ by their number stand on one row, with the mean of their time.
static void equal_communicators(void **unused)
{
    char *tree = tree_make(), id[8], name[8];
    nccl_view v;
    (void)unused;
    for (int i = 0; i < 3; i++) {
        snprintf(id, sizeof id, "0x%d", i + 1);
        snprintf(name, sizeof name, "tp %d", i);
        for (int rank = 0; rank < 4; rank++) {
            writer w = open_log(tree, id, name, rank);
            // nobody is always last: times 200 to 203, the shortest in turn
            for (unsigned sn = 0; sn < CALLS; sn++)
                put(&w, sn, 1000000, 200 + (sn + (unsigned)rank) % 4);
            assert_int_equal(fclose(w.file), 0);
        }
    }
    view_tree(&v, tree);
    assert_int_equal(v.rows.count, 1);
    assert_string_equal(v.rows.items[0].label, "tp 0\xe2\x80\x93"
                                               "2");
    assert_int_equal(v.rows.items[0].communicators, 3);
    assert_int_equal(v.rows.items[0].calls, 3 * CALLS);
    near(v.rows.items[0].time_us, CALLS * 203.0);
    near(v.rows.items[0].wire_us.p50, 200);
    assert_int_equal(v.rows.items[0].wire_us.count, 3 * CALLS);
    assert_int_equal(v.series.count, 3);
    assert_true(v.severity < SEVERITY_WARN);
    nccl_view_free(&v);
    tree_remove(tree);
}

// Three sizes make a curve; the smallest ones, below 5 % of the time, are one row.
static void sizes(void **unused)
{
    static const unsigned us[] = {10, 12, 20, 2000};
    char *tree = tree_make();
    nccl_view v;
    (void)unused;
    for (int rank = 0; rank < 4; rank++) {
        writer w = open_log(tree, "0xab", "dp0", rank);
        for (unsigned sn = 0; sn < 4 * CALLS; sn++)
            put(&w, sn, 1024ULL << 4 * (sn % 4), us[sn % 4] + (sn / 4 + (unsigned)rank) % 4);
        assert_int_equal(fclose(w.file), 0);
    }
    view_tree(&v, tree);
    assert_int_equal(v.rows.count, 2);
    assert_int_equal(v.rows.items[0].size_low, 1024 << 12);
    assert_int_equal(v.rows.items[1].sizes, 3);
    assert_int_equal(v.rows.items[1].size_low, 1024);
    assert_int_equal(v.rows.items[1].size_high, 1024 << 8);
    near(v.rows.items[1].time_us, CALLS * (13.0 + 15 + 23));
    assert_int_equal(v.rows.items[1].wire_us.count, 0); // of several sizes there is no median
    assert_int_equal(v.sizes.count, 4);
    for (size_t i = 0; i < 4; i++)
        near(v.sizes.items[i].bus_gbs.p50, (double)(1024ULL << 4 * i) / us[i] * 1.5 / 1e3);
    nccl_view_free(&v);
    tree_remove(tree);
}

// More calls than points: cells, and not one call is lost.
static void density(void **unused)
{
    enum { MANY = 3000 };
    char *tree = tree_make();
    nccl_view v;
    (void)unused;
    for (int rank = 0; rank < 4; rank++) {
        writer w = open_log(tree, "0xab", "dp0", rank);
        for (unsigned sn = 0; sn < MANY; sn++)
            put(&w, sn, 1000000, 100 + sn % 7 + (unsigned)rank);
        assert_int_equal(fclose(w.file), 0);
    }
    view_tree(&v, tree);
    const nccl_view_kind *k = &v.kinds.items[0];
    uint64_t calls = 0;
    double binned = 0;
    assert_true(k->points.count < MANY);
    for (size_t i = 0; i < k->points.count; i++)
        calls += k->points.items[i].calls;
    for (size_t i = 0; i < k->bins.count; i++)
        binned += k->bins.items[i].count;
    assert_int_equal(calls, MANY);
    assert_true(binned == MANY);
    nccl_view_free(&v);
    tree_remove(tree);
}

static void one_rank(void **unused)
{
    char *tree = tree_make();
    nccl_view v;
    (void)unused;
    writer w = {fopen(tree_path(tree, "h1-pid7.log"), "we"), "0x1", "solo", "h1", 0, 1, 1, 7};
    assert_non_null(w.file);
    for (unsigned sn = 0; sn < CALLS; sn++)
        put(&w, sn, 1000, 50);
    assert_int_equal(fclose(w.file), 0);
    view_tree(&v, tree);
    assert_false(v.completeness_known); // nobody could have missed what nobody else saw
    assert_int_equal(v.rows.items[0].bus_gbs.count, 0);
    assert_int_equal(v.late.count, 0);
    assert_false(v.kinds.items[0].has_bus);
    near(v.kinds.items[0].points.items[0].y, 50);
    nccl_view_free(&v);
    tree_remove(tree);
}

// ---- saved and read again ----

static char *saved(const nccl_view *v)
{
    json_object *o = json_new_object();
    json_put(o, "format", json_new_string("netprof-nccl"));
    json_put(o, "version", json_new_int(NCCL_JSON_VERSION));
    json_put(o, "view", nccl_view_json(v));
    char *text = strdup(json_to_text(o, JSON_C_TO_STRING_PLAIN));
    json_object_put(o);
    assert_non_null(text);
    return text;
}

static void there_and_back(void **unused)
{
    char *tree = tree_make();
    nccl_view v, w;
    netprof_error error;
    (void)unused;
    write_calls(tree, "0xab", "dp\\\"0\\u001b", 5);
    view_tree(&v, tree);
    char *text = saved(&v);
    assert_int_equal(nccl_view_parse(&w, text, strlen(text), &error), NETPROF_OK);
    char *again = saved(&w);
    assert_string_equal(text, again);
    assert_string_equal(w.rows.items[0].label, v.rows.items[0].label);
    assert_true(isnan(w.columns_from_s));
    free(again);
    // Cut anywhere it is refused.
    for (size_t size = 0; size < strlen(text); size += size < 3000 ? 1 : 97) {
        nccl_view x;
        assert_int_not_equal(nccl_view_parse(&x, text, size, &error), NETPROF_OK);
        assert_null(x.memory);
    }
    free(text);
    nccl_view_free(&v);
    nccl_view_free(&w);
    tree_remove(tree);
}

#define VIEW "{\"format\":\"netprof-nccl\",\"version\":2,\"view\":"

static void refused(void **unused)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "ends in the middle"},
        {"[]", "expected an object"},
        {"{\"format\":\"netprof-diff\",\"version\":1}", "not netprof-nccl"},
        {"{\"format\":\"netprof-nccl\",\"version\":1}", "no \"view\""},
        {"{\"format\":\"netprof-nccl\",\"view\":{}}", "\"version\": expected a whole number"},
        {"{\"format\":\"netprof-nccl\",\"version\":99,\"view\":{}}", "later netprof"},
        {"{\"format\":\"netprof-nccl\",\"version\":2,\"view\":[]}", "view: expected an object"},
        {"{\"format\":\"netprof-nccl\",\"version\":2,\"view\":{\"files\":-1}}", "files: expected a whole number"},
        {"{\"format\":\"netprof-nccl\",\"version\":2,\"view\":{\"files\":1.5}}", "files: expected a whole number"},
        {"{\"format\":\"netprof-nccl\",\"version\":2,\"view\":{\"verdict\":7}}", "verdict: expected a text"},
        {"{\"format\":\"netprof-nccl\",\"version\":2,\"view\":{\"rows\":{}}}", "rows: expected a list"},
        {"{\"format\":\"netprof-nccl\",\"version\":2,\"view\":{\"rows\":[3]}}", "rows[0]: expected an object"},
        {"{\"format\":\"netprof-nccl\",\"version\":2,\"view\":{\"rows\":[{\"wire_us\":[1]}]}}",
         "rows[0].wire_us: expected"},
        {"{\"format\":\"netprof-nccl\",\"version\":2,\"view\":{\"run\":[[\"x\"]]}}", "run[0].first_sn: expected"},
        {"{\"format\":\"netprof-nccl\",\"version\":2,\"view\":{\"main_peak_gbs\":1e999}}", "main_peak_gbs: expected"},
        // Only what has a word and a colour is a severity.
        {VIEW "{\"severity\":7}}", "severity: expected a severity, 0 to 6"},
        {VIEW "{\"severity\":-1}}", "severity: expected a severity"},
        {VIEW "{\"sentences\":[{\"severity\":901169152}]}}", "sentences[0].severity: expected a severity"},
        {VIEW "{\"rows\":[{},{},{\"severity\":901169152}]}}", "rows[2].severity: expected a severity"},
        {VIEW "{\"unknown\":[{\"severity\":18446744073709551615}]}}", "unknown[0].severity: expected a severity"},
        {VIEW "{\"findings\":[{\"severity\":7}]}}", "findings[0].severity: expected a severity"},
        {VIEW "{\"findings\":[{},{\"evidence\":[{},{\"value\":\"x\"}]}]}}",
         "findings[1].evidence[1].value: expected a number"},
        // Pages follow the places of cells.
        {VIEW "{\"matrices\":[{\"units\":[{}],\"cells\":[[0,0],[0,1]]}]}}", "matrices[0].cells[1]: no such unit"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nccl_view v;
        netprof_error error = {.text = ""};
        assert_int_not_equal(nccl_view_parse(&v, cases[i].text, strlen(cases[i].text), &error), NETPROF_OK);
        if (!strstr(error.text, cases[i].why)) fail_msg("%s: %s, not %s", cases[i].text, error.text, cases[i].why);
    }
}

// What an older or newer version did not write is not known; what it wrote besides is passed over.
static void other_versions(void **unused)
{
    static const char text[] = "{\"format\":\"netprof-nccl\",\"version\":2,\"view\":{\"files\":3,\"colour\":\"blue\","
                               "\"run\":[[1,2,3,4,5,6,7,8,9,10,11],[1,2,3]]}}";
    nccl_view v;
    (void)unused;
    assert_int_equal(nccl_view_parse(&v, text, sizeof text - 1, NULL), NETPROF_OK);
    assert_int_equal(v.files, 3);
    assert_string_equal(v.verdict, "");
    assert_true(isnan(v.main_peak_gbs));
    assert_int_equal(v.run.count, 2);
    assert_true(v.run.items[0].skew_p95 == 10);
    assert_true(isnan(v.run.items[1].wire_p5));
    nccl_view_free(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_page),  cmocka_unit_test(kinds_and_run),
        cmocka_unit_test(all_as_json), cmocka_unit_test(alike_to_the_microsecond),
        cmocka_unit_test(lost_record), cmocka_unit_test(equal_communicators),
        cmocka_unit_test(sizes),       cmocka_unit_test(density),
        cmocka_unit_test(one_rank),    cmocka_unit_test(there_and_back),
        cmocka_unit_test(refused),     cmocka_unit_test(other_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
