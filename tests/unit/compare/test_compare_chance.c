// What chance does to a comparison: the tests of ranks and means against counting all cases and against printed tables,
// and runs that differ in nothing, which must not be told apart more often than stated.
#define _GNU_SOURCE // nftw
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "netprof.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builtin_rules.h"
#include "compare_bench.h"
#include "analysis/compare/compare_chance.h"
#include "sim.h"
#include "tree.h"

// ---- random numbers ----

static uint64_t random_state;

static double uniform(void) // in (0, 1): splitmix64
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return ((double)((z ^ z >> 31) >> 11) + 0.5) * 0x1p-53;
}

static double gauss(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

// A count whose mean is this.
static double poisson(double mean)
{
    double limit = exp(-mean), product = uniform();
    if (mean > 50) return fmax(0, round(mean + sqrt(mean) * gauss()));
    double count = 0;
    for (; product > limit; product *= uniform())
        count++;
    return count;
}

// ---- ranks and means ----

static void splits(void **state)
{
    (void)state;
    is_near(chance_splits(5, 5), 252);
    is_near(chance_splits(1, 1), 2);
    is_near(chance_splits(3, 2), 10);
    is_near(chance_splits(20, 10), 30045015);
}

// The sum of ranks of the chosen ones, each value's rank by counting.
static double rank_sum(const double *values, size_t count, unsigned chosen)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count && chosen >> i & 1; k++)
            sum += values[k] < values[i] ? 1 : values[k] > values[i] ? 0 : 0.5;
    return sum;
}

static void ranks_against_counting_all_splits(void **state)
{
    (void)state;
    random_state = 7;
    for (int round = 0; round < 60; round++) {
        size_t h = 1 + (size_t)(uniform() * 5), f = 1 + (size_t)(uniform() * 5), count = h + f;
        double values[10], far = 0, all = 0;
        for (size_t i = 0; i < count; i++)
            values[i] = floor(uniform() * 8); // with equal ones
        double own = rank_sum(values, count, ((1u << f) - 1) << h);
        for (unsigned chosen = 0; chosen < 1u << count; chosen++) {
            if ((size_t)__builtin_popcount(chosen) != f) continue;
            all++;
            far += rank_sum(values, count, chosen) >= own;
        }
        is_near(chance_of_ranks(values, h, values + h, f, 1), far / all);
    }
    double low[] = {1, 2, 3, 4, 5}, high[] = {10, 11, 12, 13, 14};
    is_near(chance_of_ranks(low, 5, high, 5, 1), 1.0 / 252);
    is_near(chance_of_ranks(low, 5, high, 5, -1), 1);
    is_near(chance_of_ranks(high, 5, low, 5, -1), 1.0 / 252);
}

// Many runs: the normal distribution, here against values drawn at random.
static void many_ranks(void **state)
{
    (void)state;
    random_state = 11;
    int beyond = 0, rounds = 2000;
    for (int round = 0; round < rounds; round++) {
        double values[30];
        for (size_t i = 0; i < 30; i++)
            values[i] = gauss();
        beyond += chance_of_ranks(values, 15, values + 15, 15, 1) <= 0.05;
    }
    assert_true(beyond > 70 && beyond < 130); // 100 expected, sigma 9.7
}

// Two samples whose statistic is a quantile of Student's table: (h, f) = (0 +- 1, step +- 1).
static void means_against_the_table(void **state)
{
    static const struct {
        size_t h, f;
        double t, share;
    } rows[] = {{2, 1, 63.657, 0.01}, {2, 1, 12.706, 0.05}, {2, 2, 9.925, 0.01},
                {2, 2, 4.303, 0.05},  {3, 2, 5.841, 0.01},  {4, 4, 3.707, 0.01},
                {4, 4, 5.959, 0.001}, {6, 6, 2.228, 0.05},  {6, 6, 4.587, 0.001}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double h[8], f[8], squares = 0;
        size_t m = rows[i].h, n = rows[i].f;
        for (size_t k = 0; k < m; k++)
            h[k] = k == 0 ? -1 : k == 1 ? 1 : 0;
        squares += 2;
        for (size_t k = 0; k < n; k++)
            f[k] = n < 2 ? 0 : k == 0 ? -1 : k == 1 ? 1 : 0;
        if (n > 1) squares += 2;
        double error = sqrt(squares / (double)(m + n - 2)) * sqrt(1 / (double)m + 1 / (double)n);
        for (size_t k = 0; k < n; k++)
            f[k] += rows[i].t * error;
        double share = chance_of_means(h, m, f, n);
        if (fabs(share - rows[i].share) > 0.001 * rows[i].share + 1e-6)
            fail_msg("t %g of %zu and %zu: %g, expected %g", rows[i].t, m, n, share, rows[i].share);
    }
    assert_true(isnan(chance_of_means((double[]){1}, 1, (double[]){2}, 1)));
}

// ---- many quantities ----

enum { QUANTITIES = 400, RUNS = 10 };

static double many[QUANTITIES][RUNS];

static size_t count_beyond(size_t healthy, size_t faulty, bool *first)
{
    chance_quantity q[QUANTITIES];
    bool beyond[QUANTITIES];
    size_t count = 0;
    for (size_t i = 0; i < QUANTITIES; i++)
        q[i] = (chance_quantity){{many[i], NULL}, 0.05};
    chance_of_many(q, QUANTITIES, healthy, faulty, 0.01, beyond);
    for (size_t i = 0; i < QUANTITIES; i++)
        count += beyond[i];
    *first = beyond[0];
    return count;
}

// Log-normal noise of each quantity's own spread, from 5 % to 300 %, and outliers in a twentieth of the values.
static void draw_many(void)
{
    for (size_t i = 0; i < QUANTITIES; i++)
        for (size_t r = 0; r < RUNS; r++)
            many[i][r] = gauss() * 0.05 * pow(60, (double)i / QUANTITIES) + (uniform() < 0.05 ? 8 * uniform() : 0);
}

static void of_many_quantities_at_most_one_in_100(void **state)
{
    int fired = 0, rounds = 300;
    bool first;
    (void)state;
    random_state = 13;
    for (int round = 0; round < rounds; round++) {
        draw_many();
        fired += count_beyond(5, 5, &first) > 0;
    }
    print_message("    400 quantities, 5 and 5 runs alike: %d of %d comparisons fire\n", fired, rounds);
    assert_true(fired <= 8); // 3 expected at most; more than 8 in 0.4 % of such series
    for (size_t r = 5; r < RUNS; r++)
        many[0][r] += 3;
    assert_int_equal(count_beyond(5, 5, &first), 1);
    assert_true(first);
    assert_int_equal(count_beyond(6, 4, &first), 0); // the split is another one
    assert_int_equal(count_beyond(3, 3, &first), 0); // 20 splits cannot show 1 in 100
}

// ---- runs that differ in nothing ----

enum { NICS = 4, SECONDS = 10 };

static netprof_snapshot base[2];

static int nics_setup(void **state)
{
    if (tree_setup(state)) return -1;
    tree_remove("");
    assert_int_equal(sim_create(tree_root, &(sim_options){.nics = NICS, .seed = 21}), 0);
    sim *s = sim_open(tree_root);
    base[0] = snapshot_of(tree_root, "cxi");
    assert_int_equal(sim_step(s, &(sim_step_options){.seconds = SECONDS, .scenario = "healthy"}), 0);
    base[1] = snapshot_of(tree_root, "cxi");
    return sim_close(s);
}

static int nics_teardown(void **state)
{
    for (int e = 0; e < 2; e++)
        netprof_snapshot_free(&base[e]);
    return tree_teardown(state);
}

// How much a run varies: each NIC as a whole, and each of its counters for itself.
typedef struct spread {
    double nics, counters;
} spread;

// A run like the simulated one, and counts vary as their root does besides.
static void add_alike(bench *b, comparison_side side, spread sigma)
{
    dataset_run *file = add_file(&b->sides[side], side ? "bad" : "good", "sim0");
    for (int e = 0; e < 2; e++)
        assert_int_equal(netprof_snapshot_copy(&file->snapshots[e], &base[e], NULL), 0);
    const netprof_schema *schema = base[0].schema;
    for (size_t d = 0; d < schema->device_count; d++) {
        double nic = exp(sigma.nics * gauss());
        for (size_t i = schema->devices[d].first; i < schema->devices[d].first + schema->devices[d].count; i++) {
            bool counts = schema->counters[i].kind == NETPROF_KIND_COUNTER;
            if (!counts || base[1].values[i] < base[0].values[i]) continue;
            double grew = (double)(base[1].values[i] - base[0].values[i]) * nic * exp(sigma.counters * gauss());
            file->snapshots[1].values[i] = base[0].values[i] + (uint64_t)poisson(grew);
        }
    }
    file->snapshot_count = 2;
}

// How many of so many comparisons accuse, by severity or worse.
static void compare_alike(size_t healthy, size_t faulty, spread sigma, int rounds, int fired[SEVERITIES])
{
    memset(fired, 0, SEVERITIES * sizeof *fired);
    for (int round = 0; round < rounds; round++) {
        bench b = {0};
        for (size_t i = 0; i < healthy; i++)
            add_alike(&b, COMPARISON_HEALTHY, sigma);
        for (size_t i = 0; i < faulty; i++)
            add_alike(&b, COMPARISON_FAULTY, sigma);
        assert_int_equal(make(&b, NULL), NETPROF_OK);
        for (int s = 0; s <= (int)b.c.severity; s++)
            fired[s]++;
        if (b.c.severity >= SEVERITY_WATCH) print_message("      %s: %s\n", severity_name(b.c.severity), b.c.title);
        clear(&b);
    }
}

// NETPROF_TEST_ROUNDS: so many comparisons of each kind in place of a few.
static void runs_alike_are_not_told_apart(void **state)
{
    static const size_t sides[][2] = {{1, 1}, {3, 1}, {3, 3}, {5, 5}};
    static const spread spreads[] = {{0.05, 0.05}, {0.1, 0.05}, {0.2, 0.05}, {0.3, 0.05},
                                     {0.1, 0.1},   {0.2, 0.2},  {0.3, 0.3}};
    const char *given = getenv("NETPROF_TEST_ROUNDS");
    int rounds = given ? atoi(given) : 2, total = 0, accused = 0, warned = 0;
    (void)state;
    random_state = 17;
    print_message("    healthy faulty  NICs  counters  comparisons  watch  warn  high (or worse)\n");
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++)
        for (size_t k = 0; k < sizeof spreads / sizeof *spreads; k++) {
            int fired[SEVERITIES];
            compare_alike(sides[i][0], sides[i][1], spreads[k], rounds, fired);
            print_message("    %7zu %6zu  %2.0f %%      %2.0f %%  %11d  %5d  %4d  %4d\n", sides[i][0], sides[i][1],
                          100 * spreads[k].nics, 100 * spreads[k].counters, rounds, fired[SEVERITY_WATCH],
                          fired[SEVERITY_WARN], fired[SEVERITY_HIGH]);
            total += rounds;
            accused += fired[SEVERITY_WATCH];
            warned += fired[SEVERITY_WARN];
        }
    print_message("    all: %d of %d accuse, %d with warn or worse\n", accused, total, warned);
    assert_true(warned * 100 <= total); // at most 1 in 100
    assert_true(accused * 100 <= total);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits),
        cmocka_unit_test(ranks_against_counting_all_splits),
        cmocka_unit_test(many_ranks),
        cmocka_unit_test(means_against_the_table),
        cmocka_unit_test(of_many_quantities_at_most_one_in_100),
        cmocka_unit_test_setup_teardown(runs_alike_are_not_told_apart, nics_setup, nics_teardown),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
