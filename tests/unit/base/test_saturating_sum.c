// Sums and differences at the ends of 64 bits.
#include "analysis/base/saturating_sum.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void counts(void **state)
{
    (void)state;
    assert_true(sum_capped(2, 3) == 5);
    assert_true(sum_capped(UINT64_MAX - 3, 3) == UINT64_MAX);
    assert_true(sum_capped(UINT64_MAX - 3, 4) == UINT64_MAX);
    assert_true(sum_capped(UINT64_MAX, UINT64_MAX) == UINT64_MAX);
}

static void signed_sums(void **state)
{
    (void)state;
    assert_true(sum_capped_signed(2, -5) == -3);
    assert_true(sum_capped_signed(INT64_MAX - 3, 3) == INT64_MAX);
    assert_true(sum_capped_signed(INT64_MAX - 3, 4) == INT64_MAX);
    assert_true(sum_capped_signed(INT64_MIN + 3, -3) == INT64_MIN);
    assert_true(sum_capped_signed(INT64_MIN + 3, -4) == INT64_MIN);
    assert_true(sum_capped_signed(INT64_MIN, INT64_MAX) == -1);
}

static void differences(void **state)
{
    (void)state;
    assert_true(difference_capped(2, 5) == -3);
    assert_true(difference_capped(0, INT64_MIN + 1) == INT64_MAX);
    assert_true(difference_capped(0, INT64_MIN) == INT64_MAX);
    assert_true(difference_capped(INT64_MAX, -1) == INT64_MAX);
    assert_true(difference_capped(-1, INT64_MAX) == INT64_MIN);
    assert_true(difference_capped(-2, INT64_MAX) == INT64_MIN);
    assert_true(difference_capped(INT64_MIN, 1) == INT64_MIN);
    assert_true(difference_capped(INT64_MIN, INT64_MIN) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),
        cmocka_unit_test(signed_sums),
        cmocka_unit_test(differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
