// What libnetprof-mpi.so keeps of the time in MPI: whatever the length of a run, at most 64 blocks, and nothing is lost.
#define _GNU_SOURCE
#include "netprof.h"
#include "support.h"

#include "../../../tools/mpi/blocks.c"
#include "../../../tools/mpi/cpus.c"

static const int64_t start = INT64_C(1700000000123456789);

static uint64_t sum_of(const blocks *b)
{
    uint64_t sum = 0;
    for (int i = 0; i < b->count; i++)
        sum += b->inside_ns[i];
    return sum;
}

static void nothing_is_lost_when_blocks_double(void **state)
{
    blocks b = {0};
    uint64_t added = 0;
    int64_t at = start;
    (void)state;
    // from 17 ms to some hours: 3 of 10 ms, then of ever longer steps
    for (int64_t step = 10000000; step < INT64_C(3600000000000); step += step / 50) {
        blocks_add(&b, at, at + step * 3 / 10);
        added += (uint64_t)(step * 3 / 10);
        at += step;
        assert_int_equal(sum_of(&b), added);
        assert_true(b.count <= BLOCKS_MOST);
        assert_true(b.first << b.shift <= start && (b.first + 1) << b.shift > start);
    }
    assert_true(b.shift > BLOCKS_SHIFT);
    assert_true(b.count > BLOCKS_MOST / 2 - 2);
    for (int i = 1; i + 1 < b.count; i++)
        assert_true(b.inside_ns[i] <= (uint64_t)1 << b.shift);
}

static void a_long_wait_lies_in_all_its_blocks(void **state)
{
    blocks b = {0};
    char text[BLOCKS_TEXT];
    const int64_t block = (int64_t)1 << BLOCKS_SHIFT, first = start / block * block;
    (void)state;
    blocks_add(&b, first + block / 2, first + 3 * block + block / 4);
    blocks_text(&b, text);
    assert_string_equal(text, "5000,10000,10000,2500");
}

static void a_clock_that_was_set_back_adds_nothing_before_the_first(void **state)
{
    blocks b = {0};
    (void)state;
    blocks_add(&b, start, start + 1000);
    blocks_add(&b, start - INT64_C(1000000000000), start - INT64_C(999999000000));
    blocks_add(&b, 5, 4);
    blocks_add(&b, -5, 4);
    assert_int_equal(sum_of(&b), 1000);
    blocks none = {0};
    char text[BLOCKS_TEXT];
    blocks_text(&none, text);
    assert_string_equal(text, "");
}

// A list that does not fit is none: a part of it would be fewer CPUs than there are.
static void lists_of_cpus(void **state)
{
    cpu_set_t set;
    char text[512], small[8], longest[4096];
    (void)state;
    CPU_ZERO(&set);
    cpus_list(&set, text, sizeof text);
    assert_string_equal(text, "");
    for (size_t i = 0; i < 4; i++)
        CPU_SET(i, &set);
    cpus_list(&set, text, sizeof text);
    assert_string_equal(text, "0-3");
    CPU_SET(8, &set);
    CPU_SET(1023, &set);
    cpus_list(&set, text, sizeof text);
    assert_string_equal(text, "0-3,8,1023");
    cpus_list(&set, small, sizeof small);
    assert_string_equal(small, "");
    CPU_ZERO(&set);
    for (size_t i = 0; i < CPU_SETSIZE; i += 2) // every other one of 1024
        CPU_SET(i, &set);
    cpus_list(&set, text, sizeof text);
    assert_string_equal(text, "");
    cpus_list(&set, longest, sizeof longest);
    assert_int_equal(strncmp(longest, "0,2,4,", 6), 0);
    assert_string_equal(longest + strlen(longest) - 10, ",1020,1022");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_when_blocks_double), cmocka_unit_test(a_long_wait_lies_in_all_its_blocks),
        cmocka_unit_test(a_clock_that_was_set_back_adds_nothing_before_the_first), cmocka_unit_test(lists_of_cpus)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
