// Who waited for whom: jobs of 2 to 1000 ranks, made call by call. In each of them all ranks share one run, so that who
// works longer waits less; the test knows who was late, for it made the work.
#define _GNU_SOURCE
#include "netprof.h"
#include "support.h"

#include "analysis/regions/regions.h"
#include "regions_job.h"

#include <math.h>

static job_rank rank_;

// ---- reading ----

static regions read_job(const char *tree)
{
    regions r = {0};
    netprof_error error;
    const char *paths[] = {tree};
    if (regions_read(&r, paths, 1, NULL, &error)) fail_msg("%s: %s", error.path, error.text);
    return r;
}

// An accusation: a line of watch or worse that is about this rank.
static bool is_accused(const regions *r, size_t rank)
{
    for (size_t i = 0; i < r->note_count; i++)
        if (r->notes[i].severity >= SEVERITY_WATCH && r->notes[i].rank == rank) return true;
    return false;
}

static bool is_told(const regions *r, const char *part)
{
    for (size_t i = 0; i < r->note_count; i++)
        if (strstr(r->notes[i].text, part)) return true;
    return false;
}

static void expect_nobody(const regions *r)
{
    for (size_t i = 0; i < r->rank_count; i++)
        if (is_accused(r, i)) fail_msg("rank %zu is accused: %s", i, r->notes[0].text);
}

static void expect_first(const regions *r, size_t rank)
{
    if (r->notes[0].rank != rank || r->notes[0].severity < SEVERITY_WATCH)
        fail_msg("expected rank %zu first: %s", rank, r->notes[0].text);
    assert_non_null(strstr(r->title, "late"));
    for (size_t i = 0; i < r->rank_count; i++)
        if (i != rank && is_accused(r, i)) fail_msg("rank %zu is accused, too", i);
    assert_true(r->waits.gain_ns <= r->waits.longest_ns);
}

// ---- chance ----

static uint64_t seed;

static double chance(void) // 0 .. 1
{
    seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = seed;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(chance() + 1e-300)) * cos(6.283185307179586 * chance());
}

// ---- jobs of many steps ----

enum { RANKS_MOST = 1000, STEPS_MOST = 256, STEP_NS = 10000000 };

typedef struct steps {
    size_t ranks, per_host, count;            // count: of steps
    double noise;                             // of each rank's work in a step
    double (*load)(size_t rank, size_t step); // times STEP_NS
    const char *wait;
    bool blocks;
    const char *cpus; // that each may use; NULL: not known
} steps;

static double even(size_t rank, size_t step)
{
    (void)rank;
    (void)step;
    return 1;
}

static size_t odd_one;                // of the next functions
static double begins[STEPS_MOST + 1]; // of the last job's steps, ns

static double straggler(size_t rank, size_t step)
{
    return even(rank, step) + (rank == odd_one ? 1 : 0);
}
static double early_bird(size_t rank, size_t step)
{
    return even(rank, step) - (rank == odd_one ? 0.9 : 0);
}
static double late_from_the_middle(size_t rank, size_t step)
{
    return even(rank, step) + (rank == odd_one && step >= 64 ? 1 : 0);
}
static double half_from_the_middle(size_t rank, size_t step)
{
    return even(rank, step) - (rank == odd_one && step >= 64 ? 0.5 : 0);
}
static double nothing_from_the_middle(size_t rank, size_t step)
{
    return even(rank, step) - (rank == odd_one && step >= 64 ? 0.999 : 0);
}
static double late_for_a_quarter(size_t rank, size_t step)
{
    return even(rank, step) + (rank == odd_one && step >= STEPS_MOST / 4 && step < STEPS_MOST / 2 ? 1 : 0);
}
static double slow_host(size_t rank, size_t step)
{
    return even(rank, step) + (rank / 4 == 1 ? 0.5 : 0);
}
static double two_in_turn(size_t rank, size_t step)
{
    return even(rank, step) + (rank == step % 2 ? 1 : 0);
}
static double all_in_turn(size_t rank, size_t step)
{
    return even(rank, step) + (rank == step % 4 ? 1 : 0);
}
static double drifting(size_t rank, size_t step)
{
    return even(rank, step) + (rank == step / (STEPS_MOST / 4) ? 2 : 0);
}

static double edge; // by how many deviations of the others the odd one works longer
static double at_the_edge(size_t rank, size_t step)
{
    (void)step;
    if (rank == 0) return 1 + edge * 0.001 * sqrt(28.0 / 6);
    return 1 + 0.001 * ((double)rank - 4); // -3 .. 3 thousandths, whose squares add up to 28
}

// As the wrapper of MPI writes them.
static void write_with_blocks(job_rank *r, const char *tree, const double *inside, size_t count, int64_t block_ns,
                              const char *cpus)
{
    char list[8 * REGIONS_BLOCKS], number[4][32];
    size_t used = 0;
    const int64_t first = r->wall_ns / block_ns;
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%d", i ? "," : "", (int)(inside[i] * 10000));
    snprintf(number[0], 32, "%lld", (long long)(first * block_ns));
    snprintf(number[1], 32, "%lld", (long long)((first + (int64_t)count) * block_ns));
    snprintf(number[2], 32, "%lld", (long long)block_ns);
    snprintf(number[3], 32, "%lld", (long long)first);
    const netprof_fact facts[] = {{"mpi_began_ns", number[0]}, {"mpi_ended_ns", number[1]},
                                  {"mpi_block_ns", number[2]}, {"mpi_first_block", number[3]},
                                  {"mpi_inside", list},        {"mpi_cpus", cpus}};
    job_write_with(r, tree, facts, sizeof facts / sizeof *facts - !cpus);
}

// Every step ends where all meet: each waits for the one that works longest.
static regions run_steps(const steps *s)
{
    static double work[RANKS_MOST][STEPS_MOST], inside[REGIONS_BLOCKS];
    double length[STEPS_MOST] = {0}, run = 0;
    char *tree = tree_make();
    for (size_t k = 0; k < s->count; k++) {
        for (size_t i = 0; i < s->ranks; i++) {
            work[i][k] = STEP_NS * fmax(s->load(i, k) * (1 + s->noise * normal()), 0.01);
            length[k] = fmax(length[k], work[i][k]);
        }
        begins[k] = run;
        begins[k + 1] = run += length[k];
    }
    for (size_t i = 0; i < s->ranks; i++) {
        char host[32];
        double begin = 0;
        snprintf(host, sizeof host, "h%zu", s->per_host ? i / s->per_host : 0);
        job_begin(&rank_, (long)i, host);
        rank_.rank_count = (long)s->ranks;
        rank_.wall_ns = INT64_C(1700000000000000000) / 25000000 * 25000000;
        memset(inside, 0, sizeof inside);
        job_call(&rank_, 0, "MPI_Init", 1000000);
        for (size_t k = 0; k < s->count; k++) {
            job_call(&rank_, 0, s->wait, (uint64_t)(length[k] - work[i][k]) + 1000);
            double from = begin + work[i][k], to = begin + length[k], block = run / REGIONS_BLOCKS;
            for (size_t b = 0; b < REGIONS_BLOCKS; b++)
                inside[b] += fmax(fmin(to, ((double)b + 1) * block) - fmax(from, (double)b * block), 0) / block;
            begin += length[k];
        }
        job_call(&rank_, 0, "MPI_Finalize", 1000000);
        rank_.elapsed_ns = (int64_t)run + 2000000;
        if (s->blocks)
            write_with_blocks(&rank_, tree, inside, REGIONS_BLOCKS, (int64_t)(run / REGIONS_BLOCKS), s->cpus);
        else
            job_write(&rank_, tree);
    }
    regions r = read_job(tree);
    tree_remove(tree);
    return r;
}

// ---- tests ----

static void a_straggler_is_first_and_nobody_else(void **state)
{
    static const size_t ranks[] = {2, 4, 8, 64, 1000};
    static const double noise[] = {0.01, 0.1, 0.3};
    (void)state;
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        for (size_t k = 0; k < sizeof noise / sizeof *noise; k++) {
            seed = i * 10 + k;
            odd_one = ranks[i] / 2;
            const steps s = {ranks[i], 8, 64, noise[k], straggler, "MPI_Allreduce", true, NULL};
            regions r = run_steps(&s);
            expect_first(&r, odd_one);
            assert_true(r.severity >= SEVERITY_HIGH);
            assert_true(is_told(&r, "wait in MPI_Allreduce") || is_told(&r, "waits in MPI_Allreduce"));
            regions_free(&r);
        }
}

static void an_early_bird_is_never_accused(void **state)
{
    static const size_t ranks[] = {3, 4, 8, 64};
    (void)state;
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        for (size_t k = 0; k < 5; k++) {
            seed = i * 100 + k;
            odd_one = 1;
            const steps s = {ranks[i], 8, 64, 0.02, early_bird, "MPI_Barrier", k % 2 == 0, NULL};
            regions r = run_steps(&s);
            expect_nobody(&r);
            assert_null(strstr(r.title, "Rank"));
            regions_free(&r);
        }
    odd_one = 1;
    const steps s = {4, 8, 64, 0.02, early_bird, "MPI_Barrier", true, NULL};
    regions r = run_steps(&s);
    assert_true(is_told(&r, "Rank 1 has the least work"));
    regions_free(&r);
    // Of two ranks the other one is late.
    const steps two = {2, 8, 64, 0.02, early_bird, "MPI_Barrier", true, NULL};
    r = run_steps(&two);
    expect_first(&r, 0);
    regions_free(&r);
}

// One rank alone works more, less or nothing from the 65th of 128 steps on. The sentence says since when, within two of
// 64 stretches of the run (in noise of 30 % one in twenty is farther off, see tests/labelled/README.md: four), and less
// work is no accusation.
static void since_when_a_rank_is_unlike_the_others(void **state)
{
    static const struct {
        double (*load)(size_t, size_t);
        const char *said;
    } kinds[] = {{late_from_the_middle, "it alone works longer from "},
                 {half_from_the_middle, "alone works less from "},
                 {nothing_from_the_middle, "alone does next to no work from "}};
    static const size_t ranks[] = {8, 64, 1000};
    static const double noise[] = {0.01, 0.1, 0.3};
    (void)state;
    for (size_t i = 0; i < 27; i++) {
        seed = i;
        odd_one = ranks[i / 9] / 3;
        const steps s = {ranks[i / 9], 8, 128, noise[i / 3 % 3], kinds[i % 3].load, "MPI_Allreduce", true, NULL};
        regions r = run_steps(&s);
        const regions_alone *x = &r.waits.alone;
        double window = begins[128] / REGIONS_BLOCKS / 1e9, windows = s.noise < 0.3 ? 2 : 4;
        if (x->rank != odd_one || fabs(x->from_s - begins[64] / 1e9) > windows * window || !x->to_end)
            fail_msg("%zu ranks, noise %g: rank %zu from %g s, not %g", s.ranks, s.noise, x->rank, x->from_s,
                     begins[64] / 1e9);
        if (!is_told(&r, kinds[i % 3].said)) fail_msg("not told: %s", kinds[i % 3].said);
        if (i % 3)
            expect_nobody(&r);
        else
            expect_first(&r, odd_one);
        regions_free(&r);
    }
}

// Of few ranks, one that is late for a while: the others wait only then.
static void late_for_a_while(void **state)
{
    (void)state;
    for (size_t n = 4; n <= 16; n *= 2) {
        seed = n;
        odd_one = 2;
        const steps s = {n, 8, STEPS_MOST, 0.05, late_for_a_quarter, "MPI_Barrier", true, NULL};
        regions r = run_steps(&s);
        double window = begins[STEPS_MOST] / REGIONS_BLOCKS / 1e9;
        expect_first(&r, 2);
        assert_int_equal(r.waits.late_count, 1);
        assert_true(fabs(r.waits.alone.from_s - begins[STEPS_MOST / 4] / 1e9) <= 2 * window);
        assert_true(fabs(r.waits.alone.until_s - begins[STEPS_MOST / 2] / 1e9) <= 2 * window);
        regions_free(&r);
    }
}

static void noise_alone_accuses_nobody(void **state)
{
    static const size_t ranks[] = {2, 3, 4, 5, 8, 16, 64, 256};
    static const double noise[] = {0.01, 0.1, 0.3};
    (void)state;
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        for (size_t k = 0; k < 3; k++)
            for (size_t again = 0; again < (ranks[i] < 64 ? 25 : 3); again++) {
                seed = i * 10000 + k * 1000 + again;
                const steps s = {ranks[i], 8,    again % 3 ? 64 : STEPS_MOST,
                                 noise[k], even, again % 2 ? "MPI_Recv" : "MPI_Barrier",
                                 true,     NULL};
                regions r = run_steps(&s);
                expect_nobody(&r);
                if (!strstr(r.title, "No rank stands out")) fail_msg("%s", r.title);
                regions_free(&r);
            }
}

// Student's t of 7 others is 8.8 for one of 2000 jobs; their mean is not exact either: times the root of 1 + 1/7, 9.41.
static void few_others_are_no_exact_measure(void **state)
{
    (void)state;
    for (int beyond = 0; beyond < 2; beyond++) {
        edge = beyond ? 9.6 : 9.2;
        const steps s = {8, 8, 64, 0, at_the_edge, "MPI_Allreduce", false, NULL};
        regions r = run_steps(&s);
        assert_int_equal(r.waits.late_count, beyond);
        regions_free(&r);
    }
}

static void a_slow_host_is_named_as_a_whole(void **state)
{
    (void)state;
    for (size_t n = 16; n <= 64; n *= 2) {
        seed = n;
        const steps s = {n, 4, 64, 0.05, slow_host, "MPI_Allreduce", true, NULL};
        regions r = run_steps(&s);
        if (strncmp(r.title, "Host h1 is late", 15) != 0) fail_msg("%s", r.title);
        assert_int_equal(r.waits.late_count, 4);
        regions_free(&r);
    }
}

static void two_that_alternate_are_both_late(void **state)
{
    (void)state;
    for (size_t n = 4; n <= 64; n *= 4) {
        seed = n;
        const steps s = {n, 8, 64, 0.02, two_in_turn, "MPI_Barrier", true, NULL};
        regions r = run_steps(&s);
        assert_int_equal(r.waits.late_count, 2);
        if (strncmp(r.notes[0].text, "Ranks ", 6) != 0 || !strstr(r.notes[0].text, "late"))
            fail_msg("%s", r.notes[0].text);
        assert_true(r.waits.late[0].rank < 2 && r.waits.late[1].rank < 2);
        if (!strstr(r.notes[0].text, "each works about ")) fail_msg("%s", r.notes[0].text);
        regions_free(&r);
    }
}

static void all_in_turn_is_nobody(void **state)
{
    (void)state;
    seed = 1;
    const steps s = {4, 8, 64, 0.02, all_in_turn, "MPI_Barrier", true, NULL};
    regions r = run_steps(&s);
    expect_nobody(&r);
    assert_true(r.waits.wait_share > 0.3);
    regions_free(&r);
}

// The wrapper's stretches tell who was late when.
static void a_drifting_straggler_is_late_in_turn(void **state)
{
    (void)state;
    seed = 3;
    const steps s = {4, 8, STEPS_MOST, 0.05, drifting, "MPI_Barrier", true, NULL};
    regions r = run_steps(&s);
    if (strncmp(r.title, "Ranks are late in turn", 22) != 0) fail_msg("%s", r.title);
    assert_int_equal(r.waits.late_count, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(r.waits.late[i].rank, i);
    regions_free(&r);
}

static double drifting_alike(size_t rank, size_t step)
{
    bool late = rank == step / 16;
    return rank == 2 ? (late ? 0.85 : 0.3) : late ? 0.55 : 0.4;
}

// Of ranks that are late one after the other none is named alone, though the shares of work of one differ most.
static void of_those_that_drift_none_is_alone(void **state)
{
    (void)state;
    for (uint64_t i = 1; i <= 20; i++) {
        seed = i;
        const steps s = {4, 8, 64, 0.1, drifting_alike, "MPI_Barrier", true, "0-1"};
        regions r = run_steps(&s);
        if (r.waits.late_count == 1) fail_msg("%s", r.notes[0].text);
        assert_int_equal(r.waits.alone.rank, REGIONS_NONE);
        regions_free(&r);
    }
}

// CPUs that were shared are said in the same sentence, before any rank, and in the title.
static void who_is_late_in_turn_on_shared_cpus(void **state)
{
    (void)state;
    for (int crowded = 0; crowded < 2; crowded++) {
        seed = 3;
        const steps s = {4, 8, STEPS_MOST, 0.05, drifting, "MPI_Barrier", true, crowded ? "0-1" : "0-3"};
        regions r = run_steps(&s);
        const char *title = crowded ? "4 ranks on 2 CPUs; ranks are late in turn" : "Ranks are late in turn",
                   *first = crowded ? "4 ranks shared 2 CPUs; ranks are late in turn: rank 0 from "
                                    : "Ranks are late in turn: rank 0 from ";
        if (strncmp(r.title, title, strlen(title)) != 0) fail_msg("%s", r.title);
        if (strncmp(r.notes[0].text, first, strlen(first)) != 0) fail_msg("%s", r.notes[0].text);
        assert_int_equal(r.severity, crowded ? SEVERITY_WARN : SEVERITY_HIGH);
        regions_free(&r);
    }
}

static double three_loads(size_t rank, size_t step)
{
    (void)step;
    return rank == 3 ? 4 : rank < 3 ? 0.7 + 0.05 * (double)rank : 1.3;
}

// What the others work is their middle, as the sentence says, not their mean.
static void the_others_are_their_median(void **state)
{
    (void)state;
    seed = 5;
    const steps s = {8, 8, 64, 0, three_loads, "MPI_Allreduce", true, NULL};
    regions r = run_steps(&s);
    expect_first(&r, 3);
    // 64 steps of 10 ms: four of seven work 1.3 of them
    assert_true(is_told(&r, "the others work 832 ms in the median"));
    assert_true(fabs(r.waits.late[0].excess_ns - 64 * STEP_NS * 2.7) < 1e6);
    regions_free(&r);
}

// A rank that has the others wait at the end of a part that only it is in is late; in which of its regions is told.
static void its_own_region_is_named(void **state)
{
    char *tree = tree_make();
    (void)state;
    for (long i = 0; i < 4; i++) {
        uint64_t work = i == 2 ? 900 : 300;
        job_begin(&rank_, i, "h");
        job_call(&rank_, 0, "MPI_Init", 10);
        job_call(&rank_, 0, "main", 1000000);
        job_calls(&rank_, 0, "main/compute", 10, work * 100);
        job_calls(&rank_, 0, "main/step", 10, (1000 - work) * 100);
        job_calls(&rank_, 0, "main/step/MPI_Allreduce", 10, (1000 - work) * 100 - 5);
        job_write(&rank_, tree);
    }
    regions r = read_job(tree);
    expect_first(&r, 2);
    assert_string_equal(r.nodes[r.waits.where].name, "compute");
    assert_string_equal(r.nodes[r.waits.waits_in].name, "MPI_Allreduce");
    assert_true(r.waits.gain_ns > 599000 && r.waits.gain_ns < 601000); // 10 x (900 - 300) x 100
    regions_free(&r);
    tree_remove(tree);
}

// Long in a wait and last where all meet, but with no more work: a victim that others wait for.
static void who_is_held_is_no_culprit(void **state)
{
    char *tree = tree_make();
    (void)state;
    for (long i = 0; i < 8; i++) {
        uint64_t held = i == 5 ? 40000 : 0;
        job_begin(&rank_, i, "h");
        job_call(&rank_, 0, "MPI_Init", 10);
        job_call(&rank_, 0, "main", 1000000);
        job_calls(&rank_, 0, "main/MPI_Waitall", 10, 10000 + held / 10 * 5 + (uint64_t)i);
        job_calls(&rank_, 0, "main/MPI_Allreduce", 10, 30000 - held / 10 * 5 - (uint64_t)i);
        job_write(&rank_, tree);
    }
    regions r = read_job(tree);
    assert_int_equal(r.waits.late_count, 0);
    assert_int_equal(r.waits.held, 5);
    assert_true(is_told(&r, "Rank 5 is held in MPI_Waitall"));
    assert_true(is_told(&r, "it does not work longer"));
    assert_true(r.severity <= SEVERITY_WATCH);
    regions_free(&r);
    tree_remove(tree);
}

// The share of MPI in the run, which is known from how long the process lived.
static void shares_are_of_the_run(void **state)
{
    char *tree = tree_make();
    (void)state;
    for (long i = 0; i < 2; i++) {
        job_begin(&rank_, i, "h");
        job_call(&rank_, 0, "MPI_Init", 2000000);
        job_call(&rank_, 0, "MPI_Allreduce", 80000);
        job_call(&rank_, 0, "MPI_Finalize", 500000);
        rank_.elapsed_ns = 10000000 + 2500000;
        job_write(&rank_, tree);
    }
    regions r = read_job(tree);
    assert_true(fabs(r.waits.mpi_share - 0.008) < 1e-9);
    assert_string_equal(r.title, "No rank stands out: MPI takes 0.800 % of the run");
    char *run = regions_run_text(&r);
    assert_string_equal(run, "run 10 ms, MPI 0.800 % of it, waiting or moving data 0.800 %; MPI_Init and MPI_Finalize "
                             "2.50 ms beside it");
    free(run);
    regions_free(&r);
    tree_remove(tree);
}

// Files of an earlier run in the same directory.
static void two_runs_are_not_one_job(void **state)
{
    char *tree = tree_make();
    (void)state;
    for (long run = 0; run < 2; run++)
        for (long i = 0; i < 2; i++) {
            job_begin(&rank_, i, "h");
            rank_.pid = 100 * run + i + 1;
            rank_.rank_count = 2;
            rank_.wall_ns += run * 60000000000;
            job_call(&rank_, 0, "MPI_Init", 10);
            job_call(&rank_, 0, "MPI_Barrier", run ? 9000000 : 100);
            rank_.elapsed_ns = 10000000;
            job_write(&rank_, tree);
        }
    regions r = read_job(tree);
    assert_int_equal(r.runs, 2);
    expect_nobody(&r);
    assert_int_equal(r.severity, SEVERITY_WATCH);
    assert_string_equal(r.title, "Files of 2 runs: not compared");
    regions_free(&r);
    tree_remove(tree);
}

static void missing_files_leave_the_question_open(void **state)
{
    char *tree = tree_make();
    (void)state;
    job_begin(&rank_, 2, "h");
    rank_.rank_count = 4;
    job_call(&rank_, 0, "MPI_Init", 10);
    job_call(&rank_, 0, "MPI_Barrier", 1000);
    rank_.elapsed_ns = 2000;
    job_write(&rank_, tree);
    regions r = read_job(tree);
    assert_string_equal(r.title, "3 of 4 ranks left no file: who was late cannot be told");
    regions_free(&r);
    tree_remove(tree);
}

// More ranks than CPUs: said in the same breath, and the blame is milder.
static void who_shares_cpus_is_blamed_with_care(void **state)
{
    char *tree = tree_make();
    (void)state;
    for (int crowded = 0; crowded < 3; crowded++) {
        for (long i = 0; i < 4; i++) {
            const netprof_fact facts[] = {{"mpi_cpus", crowded ? "0-1" : "0,2,4-5"},
                                          {"cpu_wait_ns", crowded == 2 && i == 1 ? "700000" : "1000"}};
            job_begin(&rank_, i, "h");
            job_call(&rank_, 0, "MPI_Init", 10);
            job_calls(&rank_, 0, "MPI_Barrier", 10, i == 1 ? 100 : 80000);
            rank_.elapsed_ns = 1000010;
            job_write_with(&rank_, tree, facts, 2);
        }
        regions r = read_job(tree);
        expect_first(&r, 1);
        assert_int_equal(r.severity, crowded ? SEVERITY_WARN : SEVERITY_HIGH);
        const char *title = crowded ? "4 ranks on 2 CPUs; rank 1 is late: " : "Rank 1 is late: ";
        if (strncmp(r.title, title, strlen(title)) != 0) fail_msg("%s", r.title);
        assert_int_equal(is_told(&r, "4 ranks shared 2 CPUs; even so rank 1 is late"), crowded == 1);
        assert_int_equal(is_told(&r, "4 ranks shared 2 CPUs: rank 1 is late"), crowded == 2);
        assert_int_equal(is_told(&r, "which explains that it came late"), crowded == 2);
        regions_free(&r);
    }
    tree_remove(tree);
}

// How long ranks waited for a CPU: of one rank or of each, as it was; who had the CPU meanwhile is not known.
static void waits_for_cpus_are_of_one_rank_or_of_each(void **state)
{
    static const struct {
        const char *waited[4], *text;
    } rows[] = {{{"1000", "250000", "2000", "0"}, "A rank waited for a CPU for 25 % of the run"},
                {{"300000", "250000", "400000", "350000"}, "Each rank waited for a CPU for 25 % of the run or more"},
                {{"300000", "20000", "400000", "350000"}, "A rank waited for a CPU for 40 % of the run"},
                {{"300000", NULL, "400000", "350000"}, "A rank waited for a CPU for 40 % of the run"}};
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char *tree = tree_make();
        for (long i = 0; i < 4; i++) {
            const netprof_fact facts[] = {{"mpi_cpus", "0-3"}, {"cpu_wait_ns", rows[k].waited[i]}};
            job_begin(&rank_, i, "h");
            job_call(&rank_, 0, "MPI_Init", 10);
            job_calls(&rank_, 0, "MPI_Barrier", 10, 50000);
            rank_.elapsed_ns = 1000010;
            job_write_with(&rank_, tree, facts, rows[k].waited[i] ? 2 : 1);
        }
        regions r = read_job(tree);
        if (strcmp(r.title, rows[k].text) != 0 || strcmp(r.notes[0].text, rows[k].text) != 0) fail_msg("%s", r.title);
        expect_nobody(&r);
        regions_free(&r);
        tree_remove(tree);
    }
}

// Four ranks on two CPUs that wait for them half of the time had them for as long themselves; where they had a sixth of that,
// others had the rest. 1,000,010 ns of two CPUs are 2,000,020 ns: four times 80,000 of that are 16.0 %.
static void who_had_the_cpus_that_ranks_shared(void **state)
{
    static const struct {
        const char *used, *waited, *more;
    } rows[] = {
        {"500000", "500000", ""},
        {"80000", "920000",
         "; together they got 16.0 % of these CPUs: while they waited others had them, or a limit withheld them"},
        {"80000", "100000", ""}, // they slept: of what they waited for, they may have had all
        {NULL, "920000", ""}};
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char *tree = tree_make();
        for (long i = 0; i < 4; i++) {
            const netprof_fact facts[] = {
                {"mpi_cpus", "0-1"}, {"cpu_wait_ns", rows[k].waited}, {"cpu_ns", rows[k].used}};
            job_begin(&rank_, i, "h");
            job_call(&rank_, 0, "MPI_Init", 10);
            job_calls(&rank_, 0, "MPI_Barrier", 10, 50000);
            rank_.elapsed_ns = 1000010;
            job_write_with(&rank_, tree, facts, rows[k].used ? 3 : 2);
        }
        regions r = read_job(tree);
        double waited = strtod(rows[k].waited, NULL) / 1e4;
        char *text = memory_format("4 ranks shared 2 CPUs; each rank waited for a CPU for %.0f %% of the run or more%s",
                                   waited, rows[k].more);
        assert_string_equal(r.notes[0].text, text);
        assert_string_equal(r.title, "4 ranks shared 2 CPUs; no rank stands out");
        expect_nobody(&r);
        free(text);
        regions_free(&r);
        tree_remove(tree);
    }
}

// A job that was killed while all but one rank hang in a barrier: the open call counts.
static void who_hangs_waits(void **state)
{
    char *tree = tree_make();
    (void)state;
    for (long i = 0; i < 4; i++) {
        const netprof_fact facts[] = {{"mpi_open_ns", "900000"}};
        job_begin(&rank_, i, "h");
        job_call(&rank_, 0, "MPI_Init", 10);
        job_calls(&rank_, 0, "MPI_Barrier", 4, 100);
        if (i != 3) job_find(&rank_, 0, "MPI_Barrier")->open = 1;
        rank_.elapsed_ns = 1000010;
        job_write_with(&rank_, tree, facts, i != 3);
    }
    regions r = read_job(tree);
    expect_first(&r, 3);
    regions_free(&r);
    tree_remove(tree);
}

// Rank 0 works longest. Rank 5 asks for it all the while: between its questions it slept, or nobody can tell.
static void who_asks_for_it_waits(void **state)
{
    (void)state;
    for (int slept = 0; slept < 2; slept++) {
        char *tree = tree_make();
        for (long i = 0; i < 8; i++) {
            bool asks = i == 5;
            const netprof_fact facts[] = {{"mpi_polled_ns", asks && slept ? "800000" : "0"},
                                          {"mpi_between_polls_ns", asks && !slept ? "800000"
                                                                   : i            ? "0"
                                                                                  : "50000"}};
            job_begin(&rank_, i, "h");
            job_call(&rank_, 0, "MPI_Init", 10);
            if (asks)
                job_calls(&rank_, 0, "MPI_Test", 100, 1000);
            else
                job_calls(&rank_, 0, "MPI_Barrier", 10, i ? 90000 + (uint64_t)i : 10000);
            rank_.elapsed_ns = 1000010;
            job_write_with(&rank_, tree, facts, 2);
        }
        regions r = read_job(tree);
        expect_first(&r, 0);
        assert_int_equal(r.waits.late_count, 1);
        if (!is_told(&r, "Rank 0 is late: it works 900 µs; the others work 100 µs in the median"))
            fail_msg("%s", r.notes[0].text);
        assert_int_equal(r.waits.in_doubt, slept ? REGIONS_NONE : 5);
        assert_int_equal(is_told(&r, "Rank 5 asked 100 times whether something had come (MPI_Test, MPI_Iprobe): what "
                                     "it does in between, 800 µs in all, counts as work, and may be waiting"),
                         !slept);
        assert_true(fabs(r.ranks[5].times.work_ns - (slept ? 100000 : 900000)) < 1);
        char *run = regions_run_text(&r); // more than MPI's own time: what is between the questions is told with it
        assert_int_equal(strstr(run, ", waiting, polling or moving data ") != NULL, slept);
        free(run);
        regions_free(&r);
        tree_remove(tree);
    }
}

static void every_call_has_its_class(void **state)
{
    static const struct {
        const char *name;
        regions_class kind;
    } rows[] = {{"MPI_Init", REGIONS_APART},
                {"MPI_Finalize", REGIONS_APART},
                {"MPI_Barrier", REGIONS_ALL},
                {"MPI_Ibarrier", REGIONS_MOVES},
                {"MPI_Allreduce_c", REGIONS_ALL},
                {"MPI_Allreduce_init", REGIONS_MOVES},
                {"MPI_Recv", REGIONS_PEER},
                {"MPI_Irecv", REGIONS_MOVES},
                {"MPI_Send", REGIONS_PEER},
                {"MPI_Isend", REGIONS_MOVES},
                {"MPI_Bsend", REGIONS_MOVES},
                {"MPI_Rsend", REGIONS_PEER},
                {"MPI_Rput", REGIONS_MOVES},
                {"MPI_Wait", REGIONS_PEER},
                {"MPI_Waitany", REGIONS_PEER},
                {"MPI_Testany", REGIONS_POLLS},
                {"MPI_Iprobe", REGIONS_POLLS},
                {"MPI_Probe", REGIONS_PEER},
                {"MPI_Win_fence", REGIONS_ALL},
                {"MPI_Win_flush", REGIONS_PEER},
                {"MPI_File_write", REGIONS_MOVES},
                {"MPI_File_write_all", REGIONS_ALL},
                {"MPI_File_iwrite_all", REGIONS_MOVES},
                {"MPI_Comm_split", REGIONS_ALL},
                {"waiter", REGIONS_WORK},
                {"compute", REGIONS_WORK},
                {"wait", REGIONS_PEER},
                {"haloExchange", REGIONS_PEER},
                {"allreduce_residual", REGIONS_ALL},
                {"pre-sync", REGIONS_ALL}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (regions_class_of(rows[i].name, true) != rows[i].kind)
            fail_msg("%s: %s", rows[i].name, regions_class_name(regions_class_of(rows[i].name, true)));
    assert_int_equal(regions_class_of("wait", false), REGIONS_WORK);
    for (size_t i = 0; i < regions_call_row_count; i++)
        assert_true(*regions_call_rows[i].reason);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_has_its_class),
        cmocka_unit_test(a_straggler_is_first_and_nobody_else),
        cmocka_unit_test(an_early_bird_is_never_accused),
        cmocka_unit_test(since_when_a_rank_is_unlike_the_others),
        cmocka_unit_test(late_for_a_while),
        cmocka_unit_test(few_others_are_no_exact_measure),
        cmocka_unit_test(noise_alone_accuses_nobody),
        cmocka_unit_test(a_slow_host_is_named_as_a_whole),
        cmocka_unit_test(two_that_alternate_are_both_late),
        cmocka_unit_test(all_in_turn_is_nobody),
        cmocka_unit_test(a_drifting_straggler_is_late_in_turn),
        cmocka_unit_test(of_those_that_drift_none_is_alone),
        cmocka_unit_test(who_is_late_in_turn_on_shared_cpus),
        cmocka_unit_test(the_others_are_their_median),
        cmocka_unit_test(its_own_region_is_named),
        cmocka_unit_test(who_is_held_is_no_culprit),
        cmocka_unit_test(shares_are_of_the_run),
        cmocka_unit_test(two_runs_are_not_one_job),
        cmocka_unit_test(missing_files_leave_the_question_open),
        cmocka_unit_test(who_shares_cpus_is_blamed_with_care),
        cmocka_unit_test(waits_for_cpus_are_of_one_rank_or_of_each),
        cmocka_unit_test(who_had_the_cpus_that_ranks_shared),
        cmocka_unit_test(who_hangs_waits),
        cmocka_unit_test(who_asks_for_it_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
