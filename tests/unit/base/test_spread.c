// Mean, spread and outliers against figures worked out by hand.
#include "analysis/base/distribution.h"
#include "analysis/base/spread.h"
#include "analysis/base/stb_ds.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

static void known_values(void **state)
{
    (void)state;
    // 2, 4, 4, 4, 5, 5, 7, 9: sum 40, mean 5, squares of the distances 9+1+1+1+0+0+4+16 = 32
    const double values[] = {9, 2, 4, NAN, 4, 4, 5, 5, 7};
    spread s = spread_of(values, 9);
    assert_true(s.count == 8);
    assert_true(s.mean == 5);
    assert_true(fabs(s.deviation - sqrt(32.0 / 7)) < 1e-12);
    assert_true(fabs(s.standard_error - sqrt(32.0 / 7 / 8)) < 1e-12);
    assert_true(s.median == 4.5);
    assert_true(s.least == 2 && s.most == 9);
    // distances from 4.5: 0.5 0.5 0.5 0.5 0.5 2.5 2.5 4.5; the median is 0.5
    assert_true(fabs(s.width - 1.4826 * 0.5) < 1e-12);
    assert_true(spread_is_outlier(&s, 9));    // 4.5 > 3.5 x 0.7413 = 2.59
    assert_true(!spread_is_outlier(&s, 7));   // 2.5 < 2.59
    assert_true(!spread_is_outlier(&s, 4.5)); // the median itself
}

static void few_values(void **state)
{
    (void)state;
    const double one[] = {3}, four[] = {1, 1, 1, 100}, none[] = {NAN};
    spread s = spread_of(one, 1);
    assert_true(s.count == 1 && s.mean == 3 && s.median == 3 && isnan(s.deviation) && isnan(s.standard_error));
    s = spread_of(four, 4);
    assert_true(!spread_is_outlier(&s, 100)); // four say too little
    s = spread_of(none, 1);
    assert_true(s.count == 0 && isnan(s.mean) && isnan(s.median) && isnan(s.least));
    s = spread_of(none, 0);
    assert_true(s.count == 0 && isnan(s.mean));
}

static void equal_values(void **state)
{
    (void)state;
    const double same[] = {7, 7, 7, 7, 7, 7}, odd[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    spread s = spread_of(same, 6);
    assert_true(s.deviation == 0 && !spread_is_outlier(&s, 7));
    s = spread_of(odd, 10); // the mean distance is 0.1: 1 > 3.5 x 0.12533
    assert_true(spread_is_outlier(&s, 1) && !spread_is_outlier(&s, 0));
}

// Of few values the percentiles are exact, of many at most 0.4 % too high; negative ones and zero have their place.
static void distributions(void **state)
{
    distribution d = {.count = 0};
    (void)state;
    assert_true(isnan(distribution_percentile(&d, 0.5)));
    for (int i = 100; i > 0; i--)
        distribution_add(&d, i);
    distribution_add(&d, NAN);
    assert_true(distribution_is_exact(&d));
    assert_true(distribution_percentile(&d, 0.5) == 50);
    assert_true(distribution_percentile(&d, 0.99) == 99);
    assert_true(distribution_percentile(&d, 0.991) == 100);
    assert_true(distribution_percentile(&d, 0) == 1);
    distribution_free(&d);
    // the i-th smallest of these is (i - 2000) cubed
    for (unsigned i = 1; i <= 100000; i++) {
        double x = (double)(i * 7919u % 100003u % 100001u) - 2000;
        if (x >= -1999) distribution_add(&d, x * x * x);
    }
    assert_true(!distribution_is_exact(&d));
    double shares[] = {0.001, 0.01, 0.0205, 0.5, 0.95, 0.99, 1};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        double x = distribution_percentile(&d, shares[i]);
        uint64_t below = 0, not_above = 0;
        for (unsigned k = 1; k <= 100000; k++) {
            double y = (double)(k * 7919u % 100003u % 100001u) - 2000, cube = y * y * y;
            if (y < -1999) continue;
            below += cube <= x;
            not_above += cube <= x - fabs(x) * 0.0041;
        }
        assert_true((double)below >= shares[i] * (double)d.count);
        assert_true((double)not_above < shares[i] * (double)d.count || not_above == 0);
    }
    assert_true(hmlenu(d.buckets) < 10000);
    distribution_free(&d);
    // half of these are one value
    for (int i = 0; i < 5000; i++)
        distribution_add(&d, 0.1);
    for (int i = 0; i < 4000; i++)
        distribution_add(&d, 7);
    assert_true(distribution_percentile(&d, 0.5) >= 0.1 && distribution_percentile(&d, 0.5) <= 0.1 * 1.004);
    distribution_free(&d);
    // one value many times, and the ends of what a double can be
    for (int i = 0; i < 5000; i++)
        distribution_add(&d, 0.1);
    distribution_add(&d, 5e-324);
    distribution_add(&d, -INFINITY);
    assert_true(distribution_percentile(&d, 0.5) == 0.1);
    assert_true(distribution_percentile(&d, 0) <= -1.7e308);
    distribution_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_values), cmocka_unit_test(distributions),
                                       cmocka_unit_test(few_values), cmocka_unit_test(equal_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
