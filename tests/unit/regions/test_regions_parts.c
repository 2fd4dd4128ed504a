// What regions are made of: blocks of time, packed numbers, quantiles, sums of calls and values, names of calls; and who is
// late, of ranks made by hand. Expected values are arithmetic.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/regions/regions_blocks.h"
#include "analysis/regions/regions_histogram.h"
#include "analysis/regions/regions_store.h"
#include "support.h"

#include <math.h>

static void expect_close(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-6 * fmax(1, fabs(expected)))) fail_msg("%.12g is not %.12g", value, expected);
}

// ---- blocks ----

static size_t blocks_of(const char *began, const char *ended, const char *block, const char *first, const char *inside,
                        regions_blocks *b)
{
    const netprof_fact facts[] = {{"mpi_began_ns", began},
                                  {"mpi_ended_ns", ended},
                                  {"mpi_block_ns", block},
                                  {"mpi_inside", inside},
                                  {"mpi_first_block", first}};
    bool any = regions_blocks_read(b, facts, first ? 5 : 4);
    assert_int_equal(any, b->count > 0);
    return b->count;
}

static void blocks_from_facts(void **state)
{
    regions_blocks b;
    char list[500] = "1";
    (void)state;
    assert_int_equal(blocks_of("1000", "2000", "100", "10", "0,5000,10000", &b), 3);
    assert_true(b.began_ns == 1000 && b.ended_ns == 2000 && b.block_ns == 100 && b.first == 10);
    assert_true(b.inside[0] == 0 && b.inside[1] == 5000 && b.inside[2] == 10000);
    static const char *const lists[] = {"", "10001", "-1", "5,,6", "5;6", "5 6", "x", "5,x"};
    for (size_t i = 0; i < COUNT(lists); i++) {
        assert_int_equal(blocks_of("1000", "2000", "100", "10", lists[i], &b), 0);
        assert_int_equal(b.ended_ns, 2000); // the run is known all the same
    }
    for (int i = 1; i < 64; i++)
        strcat(list, ",1");
    assert_int_equal(blocks_of("1000", "2000", "100", "0", list, &b), 64);
    assert_int_equal(blocks_of("1000", "2000", "100", "0", strcat(list, ",1"), &b), 0);
    assert_int_equal(blocks_of("1000", "2000", "0", "10", "1", &b), 0);
    assert_int_equal(blocks_of("1000", "2000", "100", "-1", "1", &b), 0);
    assert_int_equal(blocks_of("1000", "2000", "100", NULL, "1", &b), 0);
    assert_int_equal(b.began_ns, 1000);
    static const char *const times[][2] = {{"0", "5"}, {"5", "5"}, {"6", "5"}, {"", "5"}, {"5", "9223372036854775807"},
                                           {"5x", "9"}};
    for (size_t i = 0; i < COUNT(times); i++) {
        assert_int_equal(blocks_of(times[i][0], times[i][1], "100", "10", "1", &b), 0);
        assert_int_equal(b.began_ns + b.ended_ns + b.block_ns, 0);
    }
}

// Blocks from 1000 on, 100 ns each, of which none, half and all lies inside.
static void time_inside_a_window(void **state)
{
    regions_blocks b;
    (void)state;
    blocks_of("1000", "1300", "100", "10", "0,5000,10000", &b);
    static const double rows[][3] = {{1000, 1300, 150}, {0, 5000, 150},   {1000, 1100, 0},  {1100, 1200, 50},
                                     {1200, 1300, 100}, {1150, 1210, 35}, {1250, 1260, 10}, {1190, 1200, 5},
                                     {1300, 1400, 0},   {900, 1000, 0},   {1299, 1301, 1}};
    for (size_t i = 0; i < COUNT(rows); i++)
        expect_close(regions_blocks_inside(&b, rows[i][0], rows[i][1]), rows[i][2]);
}

static void what_all_ranks_have(void **state)
{
    regions_rank ranks[3] = {{0}};
    regions r = {.ranks = ranks, .rank_count = 3};
    double from, to;
    (void)state;
    blocks_of("1000", "2000", "100", "10", "1", &ranks[0].blocks);
    blocks_of("1200", "1900", "100", "10", "1", &ranks[1].blocks);
    blocks_of("1100", "2100", "100", "10", "1", &ranks[2].blocks);
    assert_true(regions_blocks_common(&r, &from, &to));
    assert_true(from == 1200 && to == 1900);
    ranks[1].blocks.ended_ns = 1700; // half of the longest is too little
    assert_false(regions_blocks_common(&r, &from, &to));
    ranks[1].blocks.ended_ns = 1701;
    assert_true(regions_blocks_common(&r, &from, &to));
    ranks[2].blocks.count = 0;
    assert_false(regions_blocks_common(&r, &from, &to));
    r.rank_count = 0;
    assert_false(regions_blocks_common(&r, &from, &to));
}

// ---- numbers and quantiles ----

static void packed_numbers_add_up(void **state)
{
    static const uint64_t values[300] = {[0] = 1, [1] = 127, [2] = 128, [130] = 16384, [299] = UINT64_MAX};
    static const uint64_t none[300];
    uint64_t sum[300] = {[0] = 5, [3] = 7, [299] = 1};
    regions_arena arena = {0};
    (void)state;
    unsigned char *packed = regions_keep_packed(&arena, values, 300), *empty = regions_keep_packed(&arena, none, 300);
    assert_int_equal(*empty, 0);
    regions_unpack_add(packed, sum, 300);
    regions_unpack_add(empty, sum, 300);
    for (size_t i = 0; i < 300; i++)
        assert_true(sum[i] == (i == 299 ? UINT64_MAX : values[i] + (i == 0 ? 5 : i == 3 ? 7 : 0)));
    uint64_t few[3] = {0};
    regions_unpack_add(packed, few, 2); // what does not fit is left out
    assert_true(few[0] == 1 && few[1] == 127 && few[2] == 0);
    // Things of all sizes are kept side by side, each aligned.
    const char *texts[400];
    char text[2000];
    for (size_t i = 0; i < COUNT(texts); i++) {
        memset(text, 'a' + (int)(i % 26), sizeof text);
        text[i * 5] = 0;
        texts[i] = regions_keep_text(&arena, text);
        assert_int_equal((uintptr_t)texts[i] % 8, 0);
    }
    for (size_t i = 0; i < COUNT(texts); i++) {
        assert_int_equal(strlen(texts[i]), i * 5);
        if (i) assert_int_equal(texts[i][i * 5 - 1], 'a' + (int)(i % 26));
    }
    regions_arena_free(&arena);
    assert_null(arena.chunks);
}

// Ten calls in one bucket, five in a later one: which of them holds a quantile, within the shortest and the longest call.
static void quantiles_of_calls(void **state)
{
    uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS] = {0};
    (void)state;
    regions_quantile none = regions_quantile_of(buckets, 0.5, 1, 2);
    assert_true(!none.low_ns && !none.high_ns);
    buckets[20] = 10, buckets[23] = 5;
    uint64_t low = netprof_histogram_floor_ns(20), next = netprof_histogram_floor_ns(21) - 1;
    uint64_t far = netprof_histogram_floor_ns(23), last = netprof_histogram_floor_ns(24) - 1;
    static const struct {
        double q;
        bool later;
    } rows[] = {{-1, false}, {0, false}, {0.5, false}, {10.0 / 15, false}, {0.67, true}, {1, true}, {2, true}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        regions_quantile x = regions_quantile_of(buckets, rows[i].q, 0, UINT64_MAX);
        assert_true(x.low_ns == (rows[i].later ? far : low) && x.high_ns == (rows[i].later ? last : next));
        x = regions_quantile_of(buckets, rows[i].q, low + 1, far + 1);
        assert_true(x.low_ns == (rows[i].later ? far : low + 1) && x.high_ns == (rows[i].later ? far + 1 : next));
    }
    memset(buckets, 0, sizeof buckets);
    buckets[NETPROF_HISTOGRAM_BUCKETS - 1] = 1;
    regions_quantile x = regions_quantile_of(buckets, 1, 0, UINT64_MAX);
    assert_true(x.low_ns == netprof_histogram_floor_ns(NETPROF_HISTOGRAM_BUCKETS - 1) && x.high_ns == UINT64_MAX);
}

// ---- sums ----

static void calls_of_two_ranks(void **state)
{
    // 2 and 4; 10, 12 and 14: their mean is 8.4
    regions_calls a = {.calls = 3,
                       .measured = 2,
                       .open = 1,
                       .spans = 2,
                       .aborted = 3,
                       .total_ns = 6,
                       .inclusive_ns = 5,
                       .exclusive_ns = 4,
                       .min_ns = 2,
                       .max_ns = 4,
                       .variance_ns2 = 1,
                       .bytes = 100,
                       .waits = 7,
                       .waited_ns = 8};
    const regions_calls b = {.calls = 30,
                             .measured = 3,
                             .open = 10,
                             .spans = 20,
                             .aborted = 30,
                             .total_ns = 36,
                             .inclusive_ns = 50,
                             .exclusive_ns = 40,
                             .min_ns = 10,
                             .max_ns = 14,
                             .variance_ns2 = 8.0 / 3,
                             .bytes = UINT64_MAX - 50,
                             .waits = 70,
                             .waited_ns = 80};
    regions_calls other = b, none = {.calls = 5, .min_ns = 0, .max_ns = 99};
    (void)state;
    regions_calls_add(&other, &a);
    regions_calls_add(&a, &b);
    assert_true(a.calls == 33 && a.measured == 5 && a.open == 11 && a.spans == 22 && a.aborted == 33);
    assert_true(a.total_ns == 42 && a.inclusive_ns == 55 && a.exclusive_ns == 44 && a.waits == 77 && a.waited_ns == 88);
    assert_true(a.min_ns == 2 && a.max_ns == 14 && a.bytes == UINT64_MAX);
    expect_close(a.variance_ns2,
                 ((2 - 8.4) * (2 - 8.4) + (4 - 8.4) * (4 - 8.4) + 1.6 * 1.6 + 3.6 * 3.6 + 5.6 * 5.6) / 5);
    expect_close(other.variance_ns2, a.variance_ns2);
    assert_true(other.min_ns == 2 && other.max_ns == 14);
    regions_calls_add(&a, &none); // not measured: nothing is known of their length
    assert_true(a.calls == 38 && a.min_ns == 2 && a.max_ns == 14);
}

static void values_of_two_ranks(void **state)
{
    regions_value x = {.name = "n",
                       .count = 2,
                       .sum = 7,
                       .least = 3,
                       .most = 4,
                       .longest_ns = 50,
                       .at_longest = 4,
                       .rank = 2,
                       .counts = {[2] = 1, [3] = 1},
                       .times_ns = {[2] = 10, [3] = 50}};
    regions_value y = {.name = "n",
                       .count = 3,
                       .sum = -9,
                       .least = -9,
                       .most = 8,
                       .longest_ns = 50,
                       .at_longest = 8,
                       .rank = 1,
                       .counts = {[3] = 2, [4] = 1},
                       .times_ns = {[3] = 5, [4] = 50}};
    regions_value z = {.name = "m", .sum = INT64_MAX}, *list = NULL;
    regions_arena arena = {0};
    (void)state;
    regions_values_add(&arena, &list, &x);
    regions_values_add(&arena, &list, &z);
    regions_values_add(&arena, &list, &y);
    regions_values_add(&arena, &list, &z);
    assert_int_equal(arrlenu(list), 2);
    const regions_value *n = &list[0];
    assert_string_equal(n->name, "n");
    assert_true(n->count == 5 && n->sum == -2 && n->least == -9 && n->most == 8 && n->longest_ns == 50);
    assert_true(n->at_longest == 8 && n->rank == 1); // of equals the lower rank
    assert_true(n->counts[2] == 1 && n->counts[3] == 3 && n->counts[4] == 1);
    assert_true(n->times_ns[2] == 10 && n->times_ns[3] == 55 && n->times_ns[4] == 50);
    assert_true(list[1].sum == INT64_MAX);
    x.longest_ns = 51;
    regions_values_add(&arena, &list, &x);
    assert_true(list[0].longest_ns == 51 && list[0].at_longest == 4 && list[0].rank == 2);
    y.rank = 0;
    regions_values_add(&arena, &list, &y);
    assert_true(list[0].rank == 2);
    arrfree(list);
    regions_arena_free(&arena);
}

static void what_names_of_calls_mean(void **state)
{
    static const struct {
        const char *name;
        regions_class by_words, else_;
    } rows[] = {{"MPI_Allreduce", REGIONS_ALL, REGIONS_ALL},  {"MPI_Allreduce_c", REGIONS_ALL, REGIONS_ALL},
                {"MPI_Recv", REGIONS_PEER, REGIONS_PEER},     {"MPI_Iprobe", REGIONS_POLLS, REGIONS_POLLS},
                {"MPI_Isend", REGIONS_MOVES, REGIONS_MOVES},  {"MPI_Init", REGIONS_APART, REGIONS_APART},
                {"MPI_Recv_", REGIONS_MOVES, REGIONS_MOVES},  {"MPIRecv", REGIONS_WORK, REGIONS_WORK},
                {"haloExchange", REGIONS_PEER, REGIONS_WORK}, {"my halo", REGIONS_PEER, REGIONS_WORK},
                {"halos", REGIONS_WORK, REGIONS_WORK},        {"wait_barrier", REGIONS_ALL, REGIONS_WORK},
                {"barrier_wait", REGIONS_ALL, REGIONS_WORK},  {"step/WAIT", REGIONS_PEER, REGIONS_WORK},
                {"compute", REGIONS_WORK, REGIONS_WORK},      {"", REGIONS_WORK, REGIONS_WORK}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        if (regions_class_of(rows[i].name, true) != rows[i].by_words ||
            regions_class_of(rows[i].name, false) != rows[i].else_)
            fail_msg("%s", rows[i].name);
    static const char *const names[] = {"work",  "moves data",        "start and end",
                                        "polls", "waits for another", "waits for all"};
    for (int i = 0; i < 6; i++) {
        assert_string_equal(regions_class_name((regions_class)i), names[i]);
        assert_int_equal(regions_class_waits((regions_class)i), i >= 3);
    }
}

// ---- who is late ----

enum { RANKS_MOST = 4, STRETCHES = 8, BLOCK_NS = 1000000000 };

static regions_rank ranks_[RANKS_MOST];

// Ranks of 64 blocks of a second each; share(rank, block) of it lies inside MPI.
static regions ranks_of(size_t count, double (*share)(size_t rank, size_t block), uint64_t meetings)
{
    static size_t all[RANKS_MOST] = {0, 1, 2, 3};
    static regions_host host;
    const double run = 64.0 * BLOCK_NS;
    memset(ranks_, 0, sizeof ranks_);
    host = (regions_host){.name = "h", .ranks = all, .rank_count = count};
    for (size_t i = 0; i < count; i++) {
        regions_rank *rank = &ranks_[i];
        double inside = 0;
        rank->blocks = (regions_blocks){INT64_C(64) * BLOCK_NS, INT64_C(128) * BLOCK_NS, BLOCK_NS, 64, 64, {0}};
        for (size_t k = 0; k < 64; k++) {
            rank->blocks.inside[k] = (uint16_t)lround(share(i, k) * 10000);
            inside += rank->blocks.inside[k] / 10000.0 * BLOCK_NS;
        }
        rank->cpus = "";
        rank->label = "";
        rank->cpu_wait_ns = -1;
        rank->times = (regions_times){.known = true,
                                      .run_ns = run,
                                      .mpi_ns = inside,
                                      .all_ns = inside,
                                      .work_ns = run - inside,
                                      .meetings = meetings};
    }
    regions r = {.ranks = ranks_, .rank_count = count, .hosts = &host, .host_count = 1, .runs = 1};
    r.waits.known = r.waits.mpi = true;
    r.waits.run_ns = r.waits.longest_ns = run;
    r.waits.wait_share = 0.5;
    return r;
}

static const double *leads_; // of rank 0 in each stretch, as a share of it

static double leads_of_the_first(size_t rank, size_t block)
{
    return rank ? 0.5 + 0.02 * (double)(rank - 1) : 0.51 - leads_[block / 8];
}

// Of three ranks: late is who leads by a fifth in all but one of eight stretches, or so steadily that the mean of the leads is
// eight times its error.
static void a_lead_among_few_has_to_be_steady(void **state)
{
    static const struct {
        double leads[STRETCHES];
        bool late;
    } rows[] = {{{.25, .25, .25, .25, .25, .25, .25, 0}, true},
                {{.25, .25, .25, 0, .25, .25, .25, 0}, false},
                {{0, .21, .21, .21, .21, .21, .21, .21}, true},
                {{0, .19, .19, .19, .19, .19, .19, .19}, false},
                {{.05, .052, .05, .052, .05, .052, .05, .052}, true},
                {{.19, .05, .19, .05, .19, .05, .19, .05}, false},
                {{.13, .07, .13, .07, .13, .07, .13, .07}, true},
                {{.138, .062, .138, .062, .138, .062, .138, .062}, false}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        double sum = 0;
        leads_ = rows[i].leads;
        for (size_t k = 0; k < STRETCHES; k++)
            sum += leads_[k] * 8 * BLOCK_NS;
        regions r = ranks_of(3, leads_of_the_first, 0);
        regions_find_late(&r);
        if (r.waits.late_count != rows[i].late) fail_msg("row %zu: %zu late", i, r.waits.late_count);
        if (rows[i].late) {
            assert_int_equal(r.waits.late[0].rank, 0);
            expect_close(r.waits.late[0].excess_ns, sum);
            assert_true(isnan(r.waits.late[0].from_s) && isnan(r.waits.late[0].until_s) && !r.waits.in_turn);
        }
        arrfree(r.waits.late);
    }
}

static double each_in_its_quarter(size_t rank, size_t block)
{
    return block / 16 == rank ? 0.1 : 0.6;
}

// Four ranks that are late in turn, each a quarter of the run: with the time from where to where, and its lead there.
static void ranks_that_are_late_in_turn(void **state)
{
    (void)state;
    regions r = ranks_of(4, each_in_its_quarter, 16 * 32);
    regions_find_late(&r);
    assert_true(r.waits.in_turn);
    assert_int_equal(r.waits.late_count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(r.waits.late[i].rank, i);
        expect_close(r.waits.late[i].from_s, 16.0 * (double)i);
        expect_close(r.waits.late[i].until_s, 16.0 * (double)i + 16);
        expect_close(r.waits.late[i].excess_ns, 0.5 * 16 * BLOCK_NS);
    }
    arrfree(r.waits.late);
    r = ranks_of(4, each_in_its_quarter, 4 * 32 - 1); // they met too seldom for four turns
    regions_find_late(&r);
    assert_int_equal(r.waits.late_count, 0);
    arrfree(r.waits.late);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_from_facts),
        cmocka_unit_test(time_inside_a_window),
        cmocka_unit_test(what_all_ranks_have),
        cmocka_unit_test(packed_numbers_add_up),
        cmocka_unit_test(quantiles_of_calls),
        cmocka_unit_test(calls_of_two_ranks),
        cmocka_unit_test(values_of_two_ranks),
        cmocka_unit_test(what_names_of_calls_mean),
        cmocka_unit_test(a_lead_among_few_has_to_be_steady),
        cmocka_unit_test(ranks_that_are_late_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
