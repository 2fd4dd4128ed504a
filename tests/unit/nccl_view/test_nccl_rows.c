// The table of collectives on the first page: which communicators share a row and what it is called, which sizes become one, and
// what the page is about. Sums and medians are made anew here.
#define _GNU_SOURCE // nftw
#include "netprof.h"

#include "analysis/nccl/findings/nccl_findings_make.h"
#include "analysis/nccl/logs/nccl_logs.h"
#include "analysis/nccl/view/nccl_view.h"
#include "support.h"

#include <math.h>

typedef struct call {
    const char *id, *name, *coll;
    int ranks, sn;
    unsigned size, us, skew_us; // the first rank took us, the others skew_us longer
    bool lost;                  // by the last rank
} call;

static void put_record(FILE *f, const call *c, int rank)
{
    fprintf(f,
            "{\"header\":{\"id\":\"%s\",\"comm_name\":\"%s\",\"rank\":%d,\"n_ranks\":%d,\"nnodes\":1},\"metadata\":{"
            "\"inspector_output_format_version\":\"v4.0\",\"dump_timestamp_us\":%llu,\"hostname\":\"h\",\"pid\":%d},"
            "\"coll_perf\":{\"coll\":\"%s\",\"coll_sn\":%d,\"coll_msg_size_bytes\":%u,\"coll_exec_time_us\":%u,"
            "\"coll_algobw_gbs\":1,\"coll_busbw_gbs\":%d.5}}\n",
            c->id, c->name, rank, c->ranks, 1749490000000000ULL + (unsigned)c->sn * 1000000ULL,
            100 + 10 * (c->id[2] - '0') + rank, c->coll, c->sn, c->size, c->us + (rank ? c->skew_us : 0), rank);
}

typedef struct scene {
    char *tree;
    nccl n;
    nccl_view v;
} scene;

static void scene_begin(scene *s, const call *calls, size_t count, const nccl_options *how)
{
    *s = (scene){.tree = tree_make()};
    const char *path = s->tree;
    FILE *f = fopen(tree_path(s->tree, "h.log"), "we");
    assert_non_null(f);
    for (size_t i = 0; i < count; i++)
        for (int rank = 0; rank < calls[i].ranks - calls[i].lost; rank++)
            put_record(f, &calls[i], rank);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(nccl_read(&s->n, &path, 1, how, NULL), NETPROF_OK);
}

static void scene_view(scene *s, nccl_finding *finding)
{
    const nccl_findings f = {.items = finding, .count = finding != NULL, .verdict = ""};
    nccl_view_make(&s->v, &s->n, &f, NULL, NULL);
}

static void scene_end(scene *s)
{
    nccl_view_free(&s->v);
    nccl_free(&s->n);
    tree_remove(s->tree);
}

static void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-9 * fabs(b)) && !(isnan(a) && isnan(b))) fail_msg("%.17g is not %.17g", a, b);
}

// ---- alike communicators ----

// Three that are alike, of unlike numbers of calls, and one of another name and size.
static const call alike[] = {
    {"0x1", "tp 3", "AllReduce", 2, 0, 4000, 100, 7, false},  {"0x1", "tp 3", "AllReduce", 2, 1, 4000, 120, 9, true},
    {"0x2", "tp 12", "AllReduce", 2, 0, 4000, 160, 1, false}, {"0x2", "tp 12", "AllReduce", 2, 1, 4000, 110, 5, false},
    {"0x2", "tp 12", "AllReduce", 2, 2, 4000, 130, 3, true},  {"0x3", "tp 5", "AllReduce", 2, 0, 4000, 500, 40, false},
    {"0x4", "ep", "AllReduce", 3, 0, 4000, 50, 2, false},     {"0x5", "tp 7", "AllReduce", 3, 0, 4000, 60, 8, false}};

static void check_alike(const scene *s, size_t at, const char *label, int communicators, int calls, int incomplete,
                        double time_us, double wire, double skew)
{
    const nccl_view_row *r = &s->v.rows.items[at];
    assert_string_equal(r->label, label);
    assert_string_equal(r->coll, "AllReduce");
    assert_int_equal(r->communicators, communicators);
    assert_int_equal(r->calls, calls);
    assert_int_equal(r->incomplete, incomplete);
    assert_int_equal(r->size_low, 4000);
    assert_int_equal(r->size_high, 4000);
    assert_int_equal(r->sizes, 1);
    near(r->bytes, 4000.0 * calls);
    near(r->time_us, time_us);
    near(r->wire_us.p50, wire);
    near(r->skew_us.p50, skew);
    assert_int_equal(r->wire_us.count, calls);
}

static void alike_share_a_row(void **state)
{
    scene s;
    (void)state;
    scene_begin(&s, alike, COUNT(alike), NULL);
    scene_view(&s, NULL);
    assert_int_equal(s.v.rows.count, 3);
    // Wire: 100 110 120 130 160 500; skew of those with both ranks, of one rank none: 0 0 1 5 7 40.
    check_alike(&s, 0,
                "tp 3\xe2\x80\x93"
                "12",
                3, 6, 2, (107 + 120 + 161 + 115 + 130 + 540) / 3.0, 125, 3);
    check_alike(&s, 1, "tp 7", 1, 1, 0, 68, 60, 8);
    check_alike(&s, 2, "ep", 1, 1, 0, 52, 50, 2);
    near(s.v.rows.items[0].bus_gbs.p50, (4000 / 120.0 + 4000 / 130.0) / 2 / 1000); // of two ranks the factor is 1
    near(s.v.rows.items[0].bus_gbs.max, 4000 / 100.0 / 1000);
    near(s.v.rows.items[1].bus_gbs.p50, 4000 / 60.0 / 1000 * 4 / 3);
    near(s.v.rows.items[0].mean_bus_gbs.max, 1);   // of 0.5 and 1.5
    near(s.v.rows.items[0].mean_bus_gbs.min, 0.5); // of the first rank alone
    near(s.v.rows.items[1].mean_bus_gbs.p50, 1.5);
    assert_true(isnan(s.v.rows.items[0].peak_gbs));
    scene_end(&s);
}

// One that is accused has a row of its own, whether its ranks are late or it is slow; of something else it is not.
static void accused_are_alone(void **state)
{
    static const struct {
        int which;
        bool alone;
    } rows[] = {{NCCL_RULE_SKEW, true},
                {NCCL_RULE_LATE_RANK, true},
                {NCCL_RULE_SLOW_COMMUNICATOR, true},
                {NCCL_RULE_WIRE_CHANGE, false},
                {NCCL_RULE_BELOW_PEAK, false}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        scene s;
        scene_begin(&s, alike, 6, NULL);
        uint32_t which = 0;
        while (strcmp(s.n.communicators[which].name, "tp 5") != 0)
            which++;
        nccl_finding x = {.rule = &nccl_finding_rules[rows[i].which],
                          .severity = SEVERITY_INFO,
                          .claim = "c",
                          .device = "d",
                          .communicator = which,
                          .member = NCCL_NONE,
                          .host = NCCL_NONE,
                          .cost_us = NAN};
        scene_view(&s, &x);
        assert_int_equal(s.v.rows.count, rows[i].alone ? 2 : 1);
        assert_string_equal(s.v.rows.items[0].label, rows[i].alone ? "tp 5"
                                                                   : "tp 3\xe2\x80\x93"
                                                                     "12");
        assert_int_equal(s.v.rows.items[0].communicators, rows[i].alone ? 1 : 3);
        if (rows[i].alone)
            check_alike(&s, 1,
                        "tp 3\xe2\x80\x93"
                        "12",
                        2, 5, 2, (107 + 120 + 161 + 115 + 130) / 2.0, 120, 1);
        const nccl_view_row *r = &s.v.rows.items[rows[i].alone];
        if (rows[i].alone) near(r->bus_gbs.p50, 4000 / 120.0 / 1000); // of two communicators as of three
        if (rows[i].alone) assert_true(r->mean_bus_gbs.count == 5 && r->mean_bus_gbs.max == 1);
        scene_end(&s);
    }
}

// Without names they are counted; of one name they are told so.
static void other_labels(void **state)
{
    static const struct {
        const char *names[3], *label;
    } rows[] = {{{"", "", ""}, "3 nvlink-only"},
                {{"ep", "ep", "ep"},
                 "ep \xc3\x97"
                 "3"},
                {{"ep 4", "ep 4", "ep 4"},
                 "ep 4 \xc3\x97"
                 "3"},
                {{"a9", "a10", "a008"},
                 "a8\xe2\x80\x93"
                 "10"}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        static const char *const ids[] = {"0x1", "0x2", "0x3"};
        call calls[3];
        scene s;
        for (int k = 0; k < 3; k++)
            calls[k] = (call){ids[k], rows[i].names[k], "AllGather", 2, 0, 100, 30, 1, false};
        scene_begin(&s, calls, 3, NULL);
        scene_view(&s, NULL);
        assert_int_equal(s.v.rows.count, 1);
        assert_string_equal(s.v.rows.items[0].label, rows[i].label);
        assert_int_equal(s.v.rows.items[0].communicators, 3);
        scene_end(&s);
    }
}

// All of a row have one peak, or it has none.
static void peaks(void **state)
{
    static const nccl_peak same[] = {{"*", 40}}, other[] = {{"tp 5", 30}, {"*", 40}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        scene s;
        scene_begin(&s, alike, 6, &(nccl_options){.peaks = i ? other : same, .peak_count = i ? 2 : 1});
        scene_view(&s, NULL);
        near(s.v.rows.items[0].peak_gbs, i ? NAN : 40);
        near(s.v.main_peak_gbs, i ? NAN : 40);
        scene_end(&s);
    }
}

// ---- small sizes ----

// Two sizes or more that each take less than a twentieth of the time, and less than half of the dearest one's, are one row.
static void small_sizes(void **state)
{
    static const struct {
        unsigned us[4];
        size_t rows, sizes;            // of the last row
    } rows[] = {{{18, 1, 1, 0}, 3, 1}, // exactly a twentieth
                {{19, 1, 1, 0}, 2, 2},
                {{39, 1, 0, 0}, 2, 1}, // one alone stays
                {{700, 10, 20, 30}, 2, 3},
                {{700, 10, 20, 60}, 3, 2}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        call calls[8];
        size_t count = 0;
        double small = 0;
        scene s;
        for (unsigned k = 0; k < 4; k++)
            for (int again = 0; again <= (int)(k == 1) && rows[i].us[k]; again++)
                calls[count++] =
                    (call){"0x1",
                           "dp",
                           "AllReduce",
                           2,
                           again,
                           1000 >> k,
                           rows[i].us[k] / (k == 1 ? 2 : 1) + (k == 1 && rows[i].us[k] == 1 ? (unsigned)again : 0),
                           0,
                           k == 1 && again};
        scene_begin(&s, calls, count, NULL);
        scene_view(&s, NULL);
        assert_int_equal(s.v.rows.count, rows[i].rows);
        const nccl_view_row *last = NULL;
        for (size_t k = 0; k < s.v.rows.count; k++)
            if (s.v.rows.items[k].size_low < 1000 && (!last || s.v.rows.items[k].sizes > last->sizes))
                last = &s.v.rows.items[k];
        assert_non_null(last);
        assert_int_equal(last->sizes, rows[i].sizes);
        if (rows[i].sizes > 1) {
            bool three = rows[i].sizes == 3;
            assert_int_equal(last->size_low, three ? 125 : 250);
            assert_int_equal(last->size_high, 500);
            assert_int_equal(last->calls, three ? 4 : 3);
            assert_int_equal(last->incomplete, 1);
            near(last->bytes, 500 * 2 + 250 + (three ? 125 : 0));
            for (unsigned k = 1; k < 4; k++)
                small += rows[i].us[k] < 60 ? rows[i].us[k] : 0;
            near(last->time_us, small);
            assert_int_equal(last->wire_us.count + last->skew_us.count + last->bus_gbs.count + last->mean_bus_gbs.count,
                             0);
        }
        scene_end(&s);
    }
}

// Sizes of a collective that itself takes little: what is no less than half of its dearest stays a row.
static void small_beside_the_dearest(void **state)
{
    static const struct {
        unsigned us[3];
        size_t rows;
    } rows[] = {{{41, 20, 20}, 1 + 2}, {{40, 20, 20}, 1 + 3}, {{39, 20, 20}, 1 + 3}, {{41, 21, 20}, 1 + 3}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        call calls[4] = {{"0x1", "dp", "AllReduce", 2, 0, 1 << 20, 9000, 0, false}};
        scene s;
        for (unsigned k = 0; k < 3; k++)
            calls[1 + k] = (call){"0x1", "dp", "Broadcast", 2, (int)k, 1000 >> k, rows[i].us[k], 0, false};
        scene_begin(&s, calls, COUNT(calls), NULL);
        scene_view(&s, NULL);
        if (s.v.rows.count != rows[i].rows) fail_msg("case %zu: %zu rows", i, s.v.rows.count);
        const nccl_view_row *last = &s.v.rows.items[s.v.rows.count - 1];
        if (rows[i].rows == 3) assert_true(last->sizes == 2 && last->size_low == 250 && last->size_high == 500);
        scene_end(&s);
    }
}

// ---- how bad the skew is ----

static void skew_is_bad(void **state)
{
    static const struct {
        unsigned us, skew_us;
        bool bad;
    } rows[] = {{400, 1000, false}, {400, 1001, true}, {500, 1001, true},
                {501, 1002, false}, {501, 1003, true}, {10, 999, false}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const call one = {"0x1", "dp", "AllReduce", 2, 0, 1000, rows[i].us, rows[i].skew_us, false};
        scene s;
        scene_begin(&s, &one, 1, NULL);
        scene_view(&s, NULL);
        assert_int_equal(s.v.rows.items[0].severity, rows[i].bad ? SEVERITY_HIGH : SEVERITY_OK);
        scene_end(&s);
    }
}

// ---- what the page is about ----

// That with the most rank time of complete calls; where a process is accused, one that it is in.
static void the_main_one(void **state)
{
    static const call calls[] = {
        {"0x1", "a", "AllGather", 2, 0, 1000, 500, 0, false}, // 500 of one who waits
        {"0x2", "b", "Broadcast", 4, 0, 1000, 170, 0, false}, // 170 of three
        {"0x3", "c", "AllReduce", 2, 0, 1000, 900, 0, true},  // nearly nothing, for it is not complete
        {"0x4", "d", "AllReduce", 2, 0, 1000, 505, 0, false}};
    static const char *const of[] = {"b", "a", "b", "d"};
    (void)state;
    for (int accused = 0; accused < 4; accused++) {
        scene s;
        scene_begin(&s, calls, COUNT(calls), NULL);
        nccl_finding x = {.rule = &nccl_finding_rules[NCCL_RULE_SLOW_PARTNER],
                          .severity = SEVERITY_WATCH,
                          .claim = "c",
                          .device = "d",
                          .communicator = NCCL_NONE,
                          .member = 0,
                          .host = NCCL_NONE,
                          .cost_us = NAN};
        while (accused && strcmp(s.n.communicators[s.n.members[x.member].communicator].name, of[accused]) != 0)
            x.member++;
        scene_view(&s, accused ? &x : NULL);
        assert_string_equal(s.v.main_label, of[accused]);
        assert_string_equal(s.v.run_label, of[accused]);
        assert_int_equal(s.v.sizes.count, 1);
        assert_int_equal(s.v.sizes.items[0].calls, 1);
        assert_int_equal(s.v.sizes.items[0].size, 1000);
        scene_end(&s);
    }
}

// The time of all sizes of a collective, and of each rank but one, for one is the last.
static void the_most_rank_time(void **state)
{
    static const struct {
        call calls[4];
        const char *label, *coll;
    } rows[] = {
        // 3 * 100 and 1 * 299; 3 * 100 and 1 * 301
        {{{"0x1", "a", "AllGather", 4, 0, 1000, 100, 0, false}, {"0x2", "b", "Broadcast", 2, 0, 1000, 299, 0, false}},
         "a",
         "AllGather"},
        {{{"0x1", "a", "AllGather", 4, 0, 1000, 100, 0, false}, {"0x2", "b", "Broadcast", 2, 0, 1000, 301, 0, false}},
         "b",
         "Broadcast"},
        // 2 * (50 + 60) and 1 * 215; of two collectives of one communicator each counts for itself
        {{{"0x1", "a", "AllGather", 3, 0, 1000, 50, 0, false},
          {"0x1", "a", "AllGather", 3, 1, 3000, 60, 0, false},
          {"0x2", "b", "Broadcast", 2, 0, 1000, 215, 0, false},
          {"0x2", "b", "AllReduce", 2, 0, 1000, 200, 0, false}},
         "a",
         "AllGather"},
        {{{"0x1", "a", "AllGather", 3, 0, 1000, 50, 0, false},
          {"0x1", "a", "AllGather", 3, 1, 3000, 60, 0, false},
          {"0x2", "b", "Broadcast", 2, 0, 1000, 223, 0, false},
          {"0x2", "b", "AllReduce", 2, 0, 1000, 200, 0, false}},
         "b",
         "Broadcast"},
        // nobody waits where there is one rank
        {{{"0x1", "a", "AllGather", 1, 0, 1000, 900, 0, false}, {"0x2", "b", "Broadcast", 2, 0, 1000, 2, 0, false}},
         "b",
         "Broadcast"}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t count = 0;
        scene s;
        while (count < 4 && rows[i].calls[count].id)
            count++;
        scene_begin(&s, rows[i].calls, count, NULL);
        scene_view(&s, NULL);
        if (strcmp(s.v.main_label, rows[i].label) != 0 || strcmp(s.v.main_coll, rows[i].coll) != 0)
            fail_msg("case %zu: %s of %s", i, s.v.main_coll, s.v.main_label);
        assert_int_equal(s.v.sizes.count, strcmp(rows[i].label, "a") == 0 && count == 4 ? 2 : 1);
        scene_end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(alike_share_a_row), cmocka_unit_test(accused_are_alone),
                                       cmocka_unit_test(other_labels),      cmocka_unit_test(peaks),
                                       cmocka_unit_test(small_sizes),       cmocka_unit_test(skew_is_bad),
                                       cmocka_unit_test(the_main_one),      cmocka_unit_test(small_beside_the_dearest),
                                       cmocka_unit_test(the_most_rank_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
