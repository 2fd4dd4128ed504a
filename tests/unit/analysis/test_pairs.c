// From two numbers to an index, compared with a table of all of them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/base/pairs.h"

enum { SIDE = 60 };

// Negative ones, those that differ in the upper half only, and those that swap.
static int64_t number(size_t i)
{
    return ((int64_t)i - SIDE / 2) * (i % 2 ? 1 : INT64_C(0x100000000));
}

static void every_pair_is_found_again(void **state)
{
    pairs table = {0};
    (void)state;
    assert_int_equal(pairs_find(&table, 1, 2), PAIRS_NONE);
    for (size_t a = 0; a < SIDE; a++)
        for (size_t b = 0; b < SIDE; b += 2) {
            size_t *place = pairs_put(&table, number(a), number(b));
            assert_non_null(place);
            assert_int_equal(*place, PAIRS_NONE);
            *place = a * SIDE + b;
        }
    assert_int_equal(table.count, SIDE * SIDE / 2);
    for (size_t a = 0; a < SIDE; a++)
        for (size_t b = 0; b < SIDE; b++)
            assert_int_equal(pairs_find(&table, number(a), number(b)), b % 2 ? PAIRS_NONE : a * SIDE + b);
    pairs_free(&table);
    assert_int_equal(pairs_find(&table, number(0), number(0)), PAIRS_NONE);
}

static void the_last_index_counts(void **state)
{
    pairs table = {0};
    (void)state;
    assert_true(pairs_set(&table, -1, INT64_MAX, 7));
    assert_int_equal(*pairs_put(&table, -1, INT64_MAX), 7);
    assert_true(pairs_set(&table, -1, INT64_MAX, 0));
    assert_int_equal(pairs_find(&table, -1, INT64_MAX), 0);
    assert_int_equal(pairs_find(&table, INT64_MAX, -1), PAIRS_NONE);
    assert_int_equal(table.count, 1);
    pairs_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_is_found_again),
        cmocka_unit_test(the_last_index_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
