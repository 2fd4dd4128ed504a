// Mean, spread and outliers against figures worked out by hand.
#include "analysis/base/spread.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_values), cmocka_unit_test(few_values),
                                       cmocka_unit_test(equal_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
