// Quantiles, mean and spread of values in every order against those of a plain sort, and of few values by hand.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/nccl/logs/nccl_spread.h"
#include "support.h"

#include <math.h>

enum { MOST = 700 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double at(const double *sorted, size_t count, double q)
{
    double place = q * (double)(count - 1);
    size_t i = (size_t)place;
    return i + 1 < count ? sorted[i] * (1 - (place - (double)i)) + sorted[i + 1] * (place - (double)i) : sorted[i];
}

static void check(const char *what, const double *values, size_t count)
{
    double own[MOST], sorted[MOST], sum = 0, squares = 0;
    memcpy(own, values, count * sizeof *own);
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_value);
    nccl_spread s = nccl_spread_of(own, count);
    const double quantiles[] = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1},
                 found[] = {s.min, s.p5, s.p25, s.p50, s.p75, s.p95, s.p99, s.max};
    assert_int_equal(s.count, count);
    for (size_t i = 0; i < COUNT(quantiles); i++)
        if (!(fabs(found[i] - at(sorted, count, quantiles[i])) <= 1e-9))
            fail_msg("%s, %zu values: %g of %g", what, count, found[i], quantiles[i]);
    for (size_t i = 0; i < count; i++)
        sum += sorted[i];
    for (size_t i = 0; i < count; i++)
        squares += (sorted[i] - sum / (double)count) * (sorted[i] - sum / (double)count);
    assert_true(fabs(s.mean - sum / (double)count) <= 1e-9);
    if (count > 1) assert_true(fabs(s.sd - sqrt(squares / (double)(count - 1))) <= 1e-9 * (1 + s.sd));
    assert_memory_equal(own, sorted, count * sizeof *own);
    memcpy(own, values, count * sizeof *own);
    assert_true(fabs(nccl_median_of(own, count) - at(sorted, count, 0.5)) <= 1e-9);
}

// The two smallest stand where the median of the first, the middle and the last is the second smallest: a quicksort by it
// splits off these two, and what is left is as bad again.
static void make_deep(double *values, size_t count)
{
    double left[MOST];
    if (count < 4) {
        for (size_t i = 0; i < count; i++)
            values[i] = MOST - (double)i;
        return;
    }
    make_deep(left, count - 2);
    size_t middle = count / 2;
    for (size_t i = 2; i < count; i++)
        values[i] = left[i - 2];
    values[0] = MOST - 2.0 * (double)count;
    values[1] = left[middle - 2];
    values[middle] = values[0] + 1;
}

static void in_every_order(void **state)
{
    double values[MOST];
    uint64_t random = 7;
    (void)state;
    for (size_t count = 1; count <= MOST; count += count / 6 + 1) {
        for (size_t i = 0; i < count; i++)
            values[i] = (double)i * 1.5;
        check("rising", values, count);
        for (size_t i = 0; i < count; i++)
            values[i] = (double)(count - i);
        check("falling", values, count);
        for (size_t i = 0; i < count; i++)
            values[i] = (double)(i < count / 2 ? i : count - i);
        check("up and down", values, count);
        for (size_t i = 0; i < count; i++)
            values[i] = (double)(random_below(&random, 5));
        check("many alike", values, count);
        for (size_t i = 0; i < count; i++)
            values[i] = 4;
        check("all alike", values, count);
        for (size_t i = 0; i < count; i++)
            values[i] = (double)random_below(&random, 1000000) / 7;
        check("by chance", values, count);
    }
    for (size_t count = 150; count <= 460; count += 31) {
        make_deep(values, count);
        check("deep", values, count);
    }
}

static void few_values(void **state)
{
    double one[] = {3}, two[] = {5, 1};
    (void)state;
    nccl_spread s = nccl_spread_of(NULL, 0);
    assert_int_equal(s.count, 0);
    const double none[] = {s.min, s.p5, s.p25, s.p50, s.p75, s.p95, s.p99, s.max, s.mean, s.sd};
    for (size_t i = 0; i < COUNT(none); i++)
        assert_true(isnan(none[i]));
    assert_true(isnan(nccl_median_of(NULL, 0)));
    s = nccl_spread_of(one, 1);
    assert_true(s.min == 3 && s.p99 == 3 && s.max == 3 && s.mean == 3 && isnan(s.sd));
    s = nccl_spread_of(two, 2);
    assert_true(s.min == 1 && s.p25 == 2 && s.p50 == 3 && s.p75 == 4 && s.max == 5 && s.mean == 3);
    assert_true(fabs(s.sd - sqrt(8)) < 1e-12); // 4 and 4, by one
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_every_order), cmocka_unit_test(few_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
