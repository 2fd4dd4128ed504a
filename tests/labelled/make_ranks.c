// Writes the region files of an MPI program that never ran: steps of work, each of which ends where ranks wait for one another.
//
//     make_ranks [-n RANKS] [-p RANKS_PER_HOST] [-s STEPS] [-e NOISE] [-k KIND] [-r RANK] [-x BY] [-c CALL] [-d SEED] [-o ONSET] [-a N] [-b N] DIRECTORY
//
// KIND: even; late, early (rank RANK works BY of a step longer, or less); host (all of its host are late); turns (RANK ranks are late in
// turn); drifts (a quarter of the run long rank 0 is late, then rank 1, ...); once (rank RANK is late in one step, by BY steps).
// late and early begin at the share ONSET of the steps, and go on to the end.
// Every Nth rank does not wait in CALL, but asks (MPI_Test) until all have come: -a: it sleeps for nine tenths of that time; -b: it asks
// without a pause, and three tenths of the time are spent between its questions.
// CALL: MPI_Barrier, MPI_Allreduce, ...: all wait for the last one. MPI_Recv: a rank waits for its left neighbour alone.
#define _GNU_SOURCE
#include "netprof.h"
#include "support.h"

#include "regions_job.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <unistd.h>

enum { RANKS = 10000, STEPS = 400, BLOCKS = 64, STEP_NS = 10000000 };

static struct {
    size_t ranks, per_host, steps, rank, naps, spins;
    double noise, by, onset;
    const char *kind, *call;
    uint64_t seed;
} plan = {8, 4, 200, 3, 0, 0, 0.02, 0.5, 0, "even", "MPI_Allreduce", 1};

static double work[RANKS][STEPS], entered[RANKS][STEPS], left[RANKS][STEPS];

static double make_chance(void)
{
    plan.seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = plan.seed;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

static double make_noise(void)
{
    return plan.noise * sqrt(-2 * log(make_chance() + 1e-300)) * cos(6.283185307179586 * make_chance());
}

static double make_load(size_t rank, size_t step)
{
    size_t quarter = plan.steps / 4 ? plan.steps / 4 : 1;
    if (strcmp(plan.kind, "late") == 0 && (double)step < plan.onset * (double)plan.steps) return 1;
    if (strcmp(plan.kind, "early") == 0 && (double)step < plan.onset * (double)plan.steps) return 1;
    if (strcmp(plan.kind, "late") == 0) return 1 + (rank == plan.rank ? plan.by : 0);
    if (strcmp(plan.kind, "early") == 0) return 1 - (rank == plan.rank ? plan.by : 0);
    if (strcmp(plan.kind, "host") == 0) return 1 + (rank / plan.per_host == plan.rank / plan.per_host ? plan.by : 0);
    if (strcmp(plan.kind, "turns") == 0) return 1 + (rank == step % plan.rank ? plan.by : 0);
    if (strcmp(plan.kind, "drifts") == 0) return 1 + (rank == step / quarter ? plan.by : 0);
    if (strcmp(plan.kind, "once") == 0) return 1 + (rank == plan.rank && step == plan.steps / 2 ? plan.by : 0);
    return 1;
}

// When each rank enters the call that ends a step, and when it leaves it.
static void make_times(void)
{
    bool neighbours = strcmp(plan.call, "MPI_Recv") == 0;
    for (size_t k = 0; k < plan.steps; k++) {
        double last = 0;
        for (size_t i = 0; i < plan.ranks; i++) {
            work[i][k] = STEP_NS * fmax(make_load(i, k) + make_noise(), 0.01);
            entered[i][k] = (k ? left[i][k - 1] : 0) + work[i][k];
            last = fmax(last, entered[i][k]);
        }
        for (size_t i = 0; i < plan.ranks; i++) {
            double until = neighbours ? entered[(i + plan.ranks - 1) % plan.ranks][k] : last;
            left[i][k] = fmax(until, entered[i][k]) + 2000;
        }
    }
}

static void make_rank(const char *folder, size_t i, double run_ns)
{
    static job_rank r;
    char host[32], list[8 * BLOCKS], number[6][32];
    bool naps = plan.naps && i % plan.naps == 0, spins = plan.spins && i % plan.spins == 0;
    double in_call = naps ? 0.1 : spins ? 0.7 : 1, between = 0;
    double inside[BLOCKS] = {0}, block = ceil(run_ns / BLOCKS / 1e6) * 1e6;
    snprintf(host, sizeof host, "h%zu", i / plan.per_host);
    job_begin(&r, (long)i, host);
    r.rank_count = (long)plan.ranks;
    r.wall_ns = INT64_C(1700000000000000000) / (int64_t)block * (int64_t)block;
    job_call(&r, 0, "MPI_Init", 3000000);
    for (size_t k = 0; k < plan.steps; k++) {
        double waited = left[i][k] - entered[i][k];
        job_call(&r, 0, naps || spins ? "MPI_Test" : plan.call, (uint64_t)(in_call * waited));
        between += (1 - in_call) * waited;
        for (size_t b = 0; b < BLOCKS; b++)
            inside[b] +=
                fmax(fmin(left[i][k], ((double)b + 1) * block) - fmax(entered[i][k], (double)b * block), 0) / block;
    }
    job_call(&r, 0, "MPI_Finalize", 2000000);
    r.elapsed_ns = (int64_t)run_ns + 5000000;
    size_t used = 0, count = (size_t)ceil(run_ns / block);
    for (size_t b = 0; b < count; b++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%d", b ? "," : "", (int)(inside[b] * 10000));
    const int64_t first = r.wall_ns / (int64_t)block;
    snprintf(number[0], sizeof number[0], "%" PRId64, r.wall_ns);
    snprintf(number[1], sizeof number[1], "%" PRId64, r.wall_ns + (int64_t)((double)count * block));
    snprintf(number[2], sizeof number[2], "%.0f", block);
    snprintf(number[3], sizeof number[3], "%" PRId64, first);
    snprintf(number[4], sizeof number[4], "%.0f", naps ? between : 0);
    snprintf(number[5], sizeof number[5], "%.0f", spins ? between : 0);
    const netprof_fact facts[] = {{"mpi_polled_ns", number[4]}, {"mpi_between_polls_ns", number[5]},
                                  {"mpi_began_ns", number[0]},  {"mpi_ended_ns", number[1]},
                                  {"mpi_block_ns", number[2]},  {"mpi_first_block", number[3]},
                                  {"mpi_inside", list}};
    job_write_with(&r, folder, facts, sizeof facts / sizeof *facts);
}

int main(int argc, char **argv)
{
    for (int option; (option = getopt(argc, argv, "n:p:s:e:k:r:x:c:d:o:a:b:")) != -1;) {
        if (option == 'n')
            plan.ranks = (size_t)atol(optarg);
        else if (option == 'p')
            plan.per_host = (size_t)atol(optarg);
        else if (option == 's')
            plan.steps = (size_t)atol(optarg);
        else if (option == 'e')
            plan.noise = atof(optarg);
        else if (option == 'o')
            plan.onset = atof(optarg);
        else if (option == 'a')
            plan.naps = (size_t)atol(optarg);
        else if (option == 'b')
            plan.spins = (size_t)atol(optarg);
        else if (option == 'k')
            plan.kind = optarg;
        else if (option == 'r')
            plan.rank = (size_t)atol(optarg);
        else if (option == 'x')
            plan.by = atof(optarg);
        else if (option == 'c')
            plan.call = optarg;
        else if (option == 'd')
            plan.seed = (uint64_t)atoll(optarg);
        else
            return 2;
    }
    if (optind + 1 != argc || plan.ranks < 1 || plan.ranks > RANKS || plan.steps < 1 || plan.steps > STEPS ||
        plan.per_host < 1)
        return 2;
    double run_ns = 0;
    make_times();
    for (size_t i = 0; i < plan.ranks; i++)
        run_ns = fmax(run_ns, left[i][plan.steps - 1]);
    for (size_t i = 0; i < plan.ranks; i++)
        make_rank(argv[optind], i, run_ns);
    return 0;
}
