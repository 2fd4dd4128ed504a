// Maps from two numbers, or from a number and a name, to an index.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/base/index_map.h"

#include <stdio.h>

enum { SIDE = 60 };

// Some are negative, some differ in their upper half only, and pairs of them exist both ways round.
static int64_t number(size_t i)
{
    return ((int64_t)i - SIDE / 2) * (i % 2 ? 1 : INT64_C(0x100000000));
}

static void every_pair_is_found_again(void **state)
{
    index_map *map = NULL;
    (void)state;
    assert_int_equal(index_map_find(map, map_key_of_pair(1, 2)), INDEX_NONE);
    for (size_t a = 0; a < SIDE; a++)
        for (size_t b = 0; b < SIDE; b += 2) {
            size_t place = index_map_put(&map, map_key_of_pair(number(a), number(b)), a * SIDE + b);
            assert_int_equal(place, a * SIDE + b);
        }
    assert_int_equal(hmlenu(map), SIDE * SIDE / 2);
    for (size_t a = 0; a < SIDE; a++)
        for (size_t b = 0; b < SIDE; b++)
            assert_int_equal(index_map_find(map, map_key_of_pair(number(a), number(b))),
                             b % 2 ? INDEX_NONE : a * SIDE + b);
    hmfree(map);
    assert_int_equal(index_map_find(map, map_key_of_pair(number(0), number(0))), INDEX_NONE);
}

static void a_put_keeps_the_first_index(void **state)
{
    index_map *map = NULL;
    (void)state;
    assert_int_equal(index_map_put(&map, map_key_of_pair(-1, INT64_MAX), 7), 7);
    assert_int_equal(index_map_put(&map, map_key_of_pair(-1, INT64_MAX), 0), 7);
    assert_int_equal(index_map_find(map, map_key_of_pair(-1, INT64_MAX)), 7);
    assert_int_equal(index_map_find(map, map_key_of_pair(INT64_MAX, -1)), INDEX_NONE);
    assert_int_equal(hmlenu(map), 1);
    hmfree(map);
}

static void names_of_several_kinds(void **state)
{
    index_map *map = NULL;
    char name[8];
    (void)state;
    for (size_t i = 0; i < 3000; i++) {
        snprintf(name, sizeof name, "n%zu", i / 3);
        assert_int_equal(index_map_put(&map, map_key_of_name(i % 3, name), i), i);
    }
    for (size_t i = 0; i < 3000; i++) {
        snprintf(name, sizeof name, "n%zu", i / 3);
        assert_int_equal(index_map_find(map, map_key_of_name(i % 3, name)), i);
        assert_int_equal(map[i].value, i); // in the order of insertion
    }
    assert_int_equal(index_map_find(map, map_key_of_name(3, "n1")), INDEX_NONE);
    hmfree(map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_is_found_again),
        cmocka_unit_test(a_put_keeps_the_first_index),
        cmocka_unit_test(names_of_several_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
