// The sentence that sums up NCCL's logs, whole, for everything that can and cannot be judged; and what is said of a rank
// whose calls alone are longer: it comes early.
#define _GNU_SOURCE // nftw
#include "netprof.h"

#include "analysis/base/words.h"
#include "analysis/nccl/logs/nccl_logs.h"
#include "nccl_claims.h"
#include "recorded_rows.h"
#include "support.h"

// A job of communicators with as many ranks each, one on each host; all collectives are of 1 MiB.
typedef struct job {
    int communicators, ranks, calls;
    int (*us)(int communicator, int rank, int sn);
    int (*broadcast_us)(int communicator, int rank, int sn); // NULL: AllReduce alone
} job;

static void put_call(FILE *f, const job *j, int communicator, int rank, const char *coll, int sn, int us)
{
    double gbs = 1048576 / 1e3 / us;
    fprintf(f,
            "{\"header\":{\"id\":\"0xa%d\",\"comm_name\":\"dp%d\",\"rank\":%d,\"n_ranks\":%d,\"nnodes\":%d},"
            "\"metadata\":{\"inspector_output_format_version\":\"v4.0\",\"dump_timestamp_us\":1000000,"
            "\"hostname\":\"h%d\",\"pid\":%d},\"coll_perf\":{\"coll\":\"%s\",\"coll_sn\":%d,"
            "\"coll_msg_size_bytes\":1048576,\"coll_exec_time_us\":%d,\"coll_algobw_gbs\":%.9f,"
            "\"coll_busbw_gbs\":%.9f}}\n",
            communicator, communicator, rank, j->ranks, j->ranks, communicator * j->ranks + rank,
            100 + communicator * j->ranks + rank, coll, sn, us, gbs,
            *coll == 'B' ? gbs : gbs * 2 * (j->ranks - 1) / j->ranks);
}

typedef struct results {
    char *tree;
    nccl n;
    nccl_findings f;
} results;

static void judge(results *r)
{
    const char *path = r->tree;
    assert_int_equal(nccl_read(&r->n, &path, 1, NULL, NULL), NETPROF_OK);
    nccl_findings_make(&r->f, &r->n, NULL);
    claims_check(&r->n, &r->f);
}

static results judge_job(const job *j)
{
    results r = {.tree = tree_make()};
    for (int c = 0; c < j->communicators; c++)
        for (int rank = 0; rank < j->ranks; rank++) {
            char name[40];
            snprintf(name, sizeof name, "c%d-r%d.log", c, rank);
            FILE *f = fopen(tree_path(r.tree, name), "we");
            assert_non_null(f);
            for (int sn = 0; sn < j->calls; sn++) {
                put_call(f, j, c, rank, "AllReduce", sn, j->us(c, rank, sn));
                if (j->broadcast_us) put_call(f, j, c, rank, "Broadcast", sn, j->broadcast_us(c, rank, sn));
            }
            assert_int_equal(fclose(f), 0);
        }
    judge(&r);
    return r;
}

static void results_end(results *r)
{
    nccl_findings_free(&r->f);
    nccl_free(&r->n);
    tree_remove(r->tree);
}

// 100 to 104 us, each rank as often the shortest as any.
static int alike(int communicator, int rank, int sn)
{
    return 100 + (sn * 7 + rank * 3 + communicator) % 5;
}

static int rank_1_late(int communicator, int rank, int sn)
{
    return rank == 1 && communicator == 0 ? 40 : alike(communicator, rank, sn);
}

// ---- the sentence ----

static void nothing_to_judge(void **state)
{
    static const struct {
        job j;
        const char *text;
    } cases[] = {
        {{1, 1, 1, alike, NULL}, "1 collective of single ranks: nobody to wait for"},
        {{1, 1, 3, alike, NULL}, "3 collectives of single ranks: nobody to wait for"},
        {{1, 3, 4, alike, NULL},
         "Nothing could be judged: too few complete calls, and no communicator has two equals with enough calls"}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        results r = judge_job(&cases[i].j);
        assert_string_equal(r.f.verdict, cases[i].text);
        assert_int_equal(r.f.severity, i < 2 ? SEVERITY_OK : SEVERITY_UNKNOWN);
        assert_int_equal(r.f.is_blind, i == 2);
        results_end(&r);
    }
    results r = {.tree = tree_make()};
    tree_write(r.tree, "a.log", "%s",
               "{\"header\":{\"id\":\"0xab\",\"rank\":0,\"n_ranks\":2,\"nnodes\":1},\"metadata\":{"
               "\"inspector_output_format_version\":\"v4.0\",\"dump_timestamp_us\":5,\"hostname\":\"h\",\"pid\":7},"
               "\"p2p_perf\":{\"p2p\":\"Send\",\"p2p_sn\":0,\"p2p_peer\":1,\"p2p_msg_size_bytes\":8,"
               "\"p2p_exec_time_us\":9,\"p2p_algobw_gbs\":1.0,\"p2p_busbw_gbs\":1.0}}\n");
    judge(&r);
    assert_string_equal(r.f.verdict, "Nothing could be judged: the logs hold no collective");
    results_end(&r);
}

// Files of netprof's plugin with calls that have no time of a GPU.
static void recorded_without_times(void **state)
{
    static const char *const texts[] = {"Nothing could be judged: 1 call was recorded without the time it took",
                                        "Nothing could be judged: 2 calls were recorded without the time they took"};
    (void)state;
    for (int calls = 1; calls <= 2; calls++) {
        results r = {.tree = tree_make()};
        recorded_file f = recorded_open(r.tree, "", "h1", 100);
        rows c = rows_begin("nccl.comm"), all = rows_begin("nccl.call");
        rows_number(&c, "comm", 1);
        rows_text(&c, "id", "0xab");
        rows_number(&c, "ranks", 2);
        rows_number(&c, "nodes", 1);
        rows_put(&f, &c);
        for (int i = 0; i < calls; i++) {
            rows_number(&all, "comm", 1);
            rows_number(&all, "call", i + 1);
            rows_text(&all, "kind", "coll");
            rows_text(&all, "func", "AllReduce");
            rows_number(&all, "sn", i);
            rows_number(&all, "bytes", 4096);
            rows_next(&all);
        }
        rows_put(&f, &all);
        recorded_close(&f);
        judge(&r);
        assert_string_equal(r.f.verdict, texts[calls - 1]);
        assert_int_equal(r.f.severity, SEVERITY_UNKNOWN);
        const char *said = NULL; // and again among what is not known, with what would record it
        for (size_t i = 0; i < r.f.unknown_count; i++)
            if (strstr(r.f.unknown[i], texts[calls - 1] + sizeof "Nothing could be judged: " - 1))
                said = r.f.unknown[i];
        assert_non_null(said);
        assert_memory_equal(said, "nccl-late-rank: ", 16);
        assert_non_null(strstr(said, " on this rank; NETPROF_NCCL=step records it of rings over the network"));
        results_end(&r);
    }
}

static void all_is_well(void **state)
{
    const job alone = {1, 3, 120, alike, NULL}, equals = {4, 3, 120, alike, NULL};
    char text[500];
    (void)state;
    results r = judge_job(&alone);
    snprintf(text, sizeof text,
             "No late rank among 3 ranks in 120 collectives (one %s behind the others in every call would have been "
             "found); the wire could not be judged: no communicator has two equals with enough calls",
             words_duration(r.f.what.late_us / 1e6).text);
    assert_string_equal(r.f.verdict, text);
    assert_int_equal(r.f.what.ranks, 3);
    assert_int_equal(r.f.what.late, 3);
    assert_int_equal(r.f.what.communicators, 1);
    assert_int_equal(r.f.what.wires, 0);
    assert_int_equal(r.f.what.wire_ranks, 0);
    assert_true(r.f.is_blind);
    assert_int_equal(r.f.severity, SEVERITY_UNKNOWN);
    results_end(&r);
    r = judge_job(&equals);
    snprintf(text, sizeof text,
             "No late rank among 12 ranks in 480 collectives (one %s behind the others in every call would have been "
             "found) and no slow wire in 4 communicators (one %s times as slow as its equals would have been found)",
             words_duration(r.f.what.late_us / 1e6).text, words_number(r.f.what.wire_ratio).text);
    assert_string_equal(r.f.verdict, text);
    assert_int_equal(r.f.what.wires, 4);
    assert_int_equal(r.f.what.wire_ranks, 12);
    assert_true(r.f.what.wire_ratio > 1);
    assert_false(r.f.is_blind);
    assert_int_equal(r.f.severity, SEVERITY_OK);
    results_end(&r);
}

// The worst finding with a capital letter, and what could not be judged besides.
static void somebody_is_late(void **state)
{
    const job alone = {1, 3, 120, rank_1_late, NULL}, equals = {4, 3, 120, rank_1_late, NULL};
    char text[700];
    (void)state;
    results r = judge_job(&alone);
    assert_string_equal(r.f.items[0].rule->name, "nccl-late-rank");
    assert_memory_equal(r.f.items[0].claim, "rank 1 on host h1 was last in 100 % of AllReduce of communicator dp0 and",
                        63);
    snprintf(text, sizeof text, "R%s (not judged: wire of 3 ranks)", r.f.items[0].claim + 1);
    assert_string_equal(r.f.verdict, text);
    assert_int_equal(r.f.severity, r.f.items[0].severity);
    assert_true(isnan(r.f.what.late_us)); // what would have been found is no matter
    results_end(&r);
    r = judge_job(&equals);
    snprintf(text, sizeof text, "R%s", r.f.items[0].claim + 1);
    assert_string_equal(r.f.verdict, text);
    results_end(&r);
}

// ---- who comes early ----

enum { ODD = 2, LONG_US = 300, CALLS = 120 };

static int since, until; // calls in which it is odd

// Ranks 0 to 4 take 100, 101, 102, 103 and 104 us.
static int early_in_calls(int communicator, int rank, int sn)
{
    (void)communicator;
    return rank == ODD && sn >= since && sn < until ? LONG_US : 100 + rank;
}

static int longer_broadcast(int communicator, int rank, int sn)
{
    int us = early_in_calls(communicator, rank, sn);
    return us == LONG_US ? 2 * LONG_US : us;
}

static const nccl_finding *only_early(const results *r)
{
    const nccl_finding *found = NULL;
    for (size_t i = 0; i < r->f.count; i++) {
        if (strcmp(r->f.items[i].rule->name, "nccl-early-rank") != 0) continue;
        assert_null(found);
        found = &r->f.items[i];
    }
    assert_non_null(found);
    return found;
}

static void who_comes_early(void **state)
{
    static const struct {
        int since, until;
        const char *when;
    } cases[] = {
        {0, CALLS, ""}, {60, CALLS, " from sn 60 to the end"}, {0, 60, " up to sn 59"}, {40, 80, " from sn 40 to 79"}};
    const job j = {1, 5, CALLS, early_in_calls, NULL};
    char text[400];
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        since = cases[i].since, until = cases[i].until;
        results r = judge_job(&j);
        const nccl_finding *x = only_early(&r);
        bool part = i > 0, end = i == 1;
        snprintf(text, sizeof text,
                 "rank 2 on host h2 alone waits longer in AllReduce of communicator dp0%s: its calls take 300 \u00b5s "
                 "in the "
                 "mean, those of the 4 other ranks 100 \u00b5s to 104 \u00b5s; it comes early, and nobody waits for it",
                 cases[i].when);
        assert_string_equal(x->claim, text);
        assert_int_equal(x->severity, SEVERITY_INFO);
        assert_string_equal(x->device, "h2");
        assert_int_equal(x->first_sn, part ? since : 0);
        assert_int_equal(x->last_sn, part ? until - 1 : 0);
        assert_int_equal(x->to_the_end, end);
        assert_string_equal(x->evidence[0].name, "pid");
        assert_true(x->evidence[0].value == 100 + ODD);
        assert_true(x->value > LONG_US / 104.0 && x->value < LONG_US / 100.0); // of the others' centre
        results_end(&r);
    }
}

// Of two collectives it is the one in which it waits more.
static void early_in_two_collectives(void **state)
{
    const job j = {1, 5, CALLS, early_in_calls, longer_broadcast},
              other = {1, 5, CALLS, longer_broadcast, early_in_calls};
    (void)state;
    since = 0, until = CALLS;
    results r = judge_job(&j);
    assert_non_null(strstr(only_early(&r)->claim, "in Broadcast of communicator dp0: its calls take 600 "));
    results_end(&r);
    r = judge_job(&other);
    assert_non_null(strstr(only_early(&r)->claim, "in AllReduce of communicator dp0: its calls take 600 "));
    results_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_to_judge), cmocka_unit_test(recorded_without_times),
        cmocka_unit_test(all_is_well),      cmocka_unit_test(somebody_is_late),
        cmocka_unit_test(who_comes_early),  cmocka_unit_test(early_in_two_collectives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
