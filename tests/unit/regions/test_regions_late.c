// A rank that is late, by more and by less: from a hundredth of the run on it is told, by what it costs, and in which regions.
#define _GNU_SOURCE
#include "netprof.h"
#include "support.h"

#include "analysis/regions/regions.h"
#include "regions_job.h"

#include <math.h>

static job_rank rank_;

// Four ranks compute for 300 us of a run of a millisecond and meet ten times; rank 2 computes longer by so many ns.
static regions read_late_by(uint64_t ns)
{
    char *tree = tree_make();
    const char *paths[] = {tree};
    netprof_error error;
    regions r = {0};
    for (long i = 0; i < 4; i++) {
        uint64_t work = 30000 + (i == 2 ? ns / 10 : 0);
        job_begin(&rank_, i, "h");
        job_call(&rank_, 0, "MPI_Init", 10);
        job_call(&rank_, 0, "main", 1000000);
        job_calls(&rank_, 0, "main/compute", 10, work);
        job_calls(&rank_, 0, "main/step", 10, 100000 - work);
        job_calls(&rank_, 0, "main/step/MPI_Allreduce", 10, 100000 - work);
        job_write(&rank_, tree);
    }
    if (regions_read(&r, paths, 1, NULL, &error)) fail_msg("%s: %s", error.path, error.text);
    tree_remove(tree);
    return r;
}

static void who_is_late_by_a_hundredth_of_the_run(void **state)
{
    static const uint64_t late[] = {0, 5000, 9900, 10000, 10100, 15000, 19000, 90000, 400000};
    (void)state;
    for (size_t i = 0; i < COUNT(late); i++) {
        regions r = read_late_by(late[i]);
        const regions_waits *w = &r.waits;
        bool told = late[i] >= 10000;
        assert_true(w->known);
        assert_true(fabs(w->run_ns - 1e6) < 0.5);
        assert_int_equal(w->late_count, told);
        assert_true(fabs(w->gain_ns - (told ? (double)late[i] : 0)) < 0.5);
        assert_false(w->in_turn);
        assert_true(told == (w->where != REGIONS_NONE) && told == (w->waits_in != REGIONS_NONE));
        if (told) {
            assert_int_equal(w->late[0].rank, 2);
            assert_true(fabs(w->late[0].excess_ns - (double)late[i]) < 0.5);
            assert_true(isnan(w->late[0].from_s) && isnan(w->late[0].until_s));
            assert_string_equal(r.nodes[w->where].name, "compute");
            assert_string_equal(r.nodes[w->waits_in].name, "MPI_Allreduce");
        }
        regions_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_is_late_by_a_hundredth_of_the_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
