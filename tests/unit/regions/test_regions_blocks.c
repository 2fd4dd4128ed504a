// The stretches in which libnetprof-mpi.so tells how much of its time a rank was inside MPI: what of them is read, how much
// of them lies between two points of time, and which part of the run all ranks have.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "netprof.h"

#include "analysis/regions/regions_blocks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct told {
    const char *began, *ended, *block, *first, *inside;
} told;

static bool read_told(regions_blocks *b, const told *t)
{
    const netprof_fact facts[] = {{"mpi_cpus", "0-3"},        {"mpi_began_ns", t->began},    {"mpi_ended_ns", t->ended},
                                  {"mpi_block_ns", t->block}, {"mpi_first_block", t->first}, {"mpi_inside", t->inside}};
    netprof_fact there[6];
    size_t count = 0;
    for (size_t i = 0; i < 6; i++)
        if (facts[i].value) there[count++] = facts[i];
    memset(b, 0xa5, sizeof *b); // whatever it was before
    return regions_blocks_read(b, there, count);
}

static void all_that_is_told(void **state)
{
    regions_blocks b;
    (void)state;
    assert_true(read_told(&b, &(told){"1000", "1900", "300", "3", "0,10000,2500"}));
    assert_int_equal(b.began_ns, 1000);
    assert_int_equal(b.ended_ns, 1900);
    assert_int_equal(b.block_ns, 300);
    assert_int_equal(b.first, 3);
    assert_int_equal(b.count, 3);
    assert_int_equal(b.inside[0], 0);
    assert_int_equal(b.inside[1], 10000);
    assert_int_equal(b.inside[2], 2500);
    assert_true(read_told(&b, &(told){"1", "2", "1", "0", "7"})); // the least that makes sense
    assert_int_equal(b.count, 1);
    assert_int_equal(b.inside[0], 7);
    assert_true(read_told(&b, &(told){"1700000000123456789", "9223372036854775806", "1", "0", "1"}));
    assert_int_equal(b.began_ns, INT64_C(1700000000123456789));
    assert_int_equal(b.ended_ns, INT64_MAX - 1);
}

// Without a begin and an end nothing is kept; with them, but no list that makes sense, they are.
static void what_makes_no_sense_is_left_out(void **state)
{
    static const told nothing[] = {{NULL, "1900", "300", "3", "1"},
                                   {"1000", NULL, "300", "3", "1"},
                                   {"0", "1900", "300", "3", "1"},
                                   {"1000", "1000", "300", "3", "1"},
                                   {"1000", "999", "300", "3", "1"},
                                   {"-1000", "1900", "300", "3", "1"},
                                   {"+1000", "1900", "300", "3", "1"},
                                   {" 1000", "1900", "300", "3", "1"},
                                   {"1000x", "1900", "300", "3", "1"},
                                   {"1000", ":900", "300", "3", "1"},
                                   {"1000", "/900", "300", "3", "1"},
                                   {"", "1900", "300", "3", "1"},
                                   {"1000", "9223372036854775807", "300", "3", "1"},
                                   {"1000", "99999999999999999999", "300", "3", "1"},
                                   {"1000", "00000000000000001900", "300", "3", "1"}};
    static const told no_list[] = {{"1000", "1900", "0", "3", "1"},      {"1000", "1900", NULL, "3", "1"},
                                   {"1000", "1900", "300", NULL, "1"},   {"1000", "1900", "300", "-3", "1"},
                                   {"1000", "1900", "300", "3", NULL},   {"1000", "1900", "300", "3", ""},
                                   {"1000", "1900", "300", "3", "5,x"},  {"1000", "1900", "300", "3", ",5"},
                                   {"1000", "1900", "300", "3", "5,,6"}, {"1000", "1900", "300", "3", "5;6"},
                                   {"1000", "1900", "300", "3", "5,-1"}, {"1000", "1900", "300", "3", "5,10001"}};
    regions_blocks b;
    (void)state;
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) {
        if (read_told(&b, &nothing[i])) fail_msg("without a begin or an end: %zu", i);
        assert_int_equal(b.began_ns, 0);
        assert_int_equal(b.ended_ns, 0);
        assert_int_equal(b.block_ns, 0);
        assert_int_equal(b.first, 0);
        assert_int_equal(b.count, 0);
    }
    for (size_t i = 0; i < sizeof no_list / sizeof *no_list; i++) {
        if (read_told(&b, &no_list[i])) fail_msg("without a list: %zu", i);
        assert_int_equal(b.began_ns, 1000);
        assert_int_equal(b.ended_ns, 1900);
        assert_int_equal(b.count, 0);
    }
}

// As many as there is room for, and not one more.
static void as_many_blocks_as_there_may_be(void **state)
{
    char text[8 * REGIONS_BLOCKS + 8];
    size_t used = 0;
    regions_blocks b;
    (void)state;
    for (int i = 0; i < REGIONS_BLOCKS; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%d", i ? "," : "", 100 + i);
    assert_true(read_told(&b, &(told){"1000", "1900", "300", "3", text}));
    assert_int_equal(b.count, REGIONS_BLOCKS);
    for (int i = 0; i < REGIONS_BLOCKS; i++)
        assert_int_equal(b.inside[i], 100 + i);
    snprintf(text + used, sizeof text - used, ",1");
    assert_false(read_told(&b, &(told){"1000", "1900", "300", "3", text}));
    assert_int_equal(b.count, 0);
}

// Blocks of 1000 ns from 5000 on, inside for a tenth, the half and all of each.
static void time_inside_between_two_points(void **state)
{
    static const struct {
        double from, to, inside;
    } rows[] = {{5000, 8000, 100 + 500 + 1000},
                {0, 1e9, 1600},
                {5000, 6000, 100},
                {6000, 7000, 500},
                {7000, 8000, 1000},
                {5250, 5750, 50},
                {5900, 6200, 10 + 100},
                {6500, 7250, 250 + 250},
                {5500, 7500, 50 + 500 + 500},
                {7999, 9000, 1},
                {4000, 5000, 0},
                {8000, 9000, 0},
                {6000, 6000, 0}};
    const regions_blocks b = {.block_ns = 1000, .first = 5, .count = 3, .inside = {1000, 5000, 10000, 9999}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double ns = regions_blocks_inside(&b, rows[i].from, rows[i].to);
        if (fabs(ns - rows[i].inside) > 1e-6) fail_msg("%g to %g: %g", rows[i].from, rows[i].to, ns);
    }
}

// From the last begin to the first end; too little of the longest run is no common stretch.
static void the_stretch_that_all_ranks_have(void **state)
{
    regions_rank ranks[3] = {{.blocks = {.count = 1, .began_ns = 1000, .ended_ns = 3000}},
                             {.blocks = {.count = 2, .began_ns = 1500, .ended_ns = 3500}},
                             {.blocks = {.count = 3, .began_ns = 1200, .ended_ns = 2700}}};
    regions r = {.ranks = ranks, .rank_count = 3};
    double from = 1e18, to = -1e18; // whatever they were before
    (void)state;
    assert_true(regions_blocks_common(&r, &from, &to)); // 1200 of 2000 ns
    assert_true(from == 1500 && to == 2700);
    ranks[1].blocks.began_ns = 1699;
    ranks[1].blocks.ended_ns = 3699;
    assert_true(regions_blocks_common(&r, &from, &to)); // 1001 of 2000
    assert_true(from == 1699 && to == 2700);
    ranks[1].blocks.began_ns = 1700;
    ranks[1].blocks.ended_ns = 3700;
    assert_false(regions_blocks_common(&r, &from, &to)); // no more than half
    ranks[1].blocks.ended_ns = 3500;
    ranks[2].blocks.count = 0;
    assert_false(regions_blocks_common(&r, &from, &to)); // one did not tell
    r.rank_count = 1;
    assert_true(regions_blocks_common(&r, &from, &to));
    assert_true(from == 1000 && to == 3000);
    r.rank_count = 0;
    assert_false(regions_blocks_common(&r, &from, &to));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_is_told), cmocka_unit_test(what_makes_no_sense_is_left_out),
        cmocka_unit_test(as_many_blocks_as_there_may_be), cmocka_unit_test(time_inside_between_two_points),
        cmocka_unit_test(the_stretch_that_all_ranks_have)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
