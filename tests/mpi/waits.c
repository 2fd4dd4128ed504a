// Ranks that work for known times and then wait for each other in one kind of call: who is late is known beforehand.
//
//     waits KIND WHO STEPS MILLISECONDS [HOW]
//
// KIND is the call where they meet; WHO: "late" (rank 1 works ten times as long as the others), "early" (rank 1 works a
// tenth), "drift" (each rank is late for its part of the run), "turns" (ranks 0 and 1 are late in every other step),
// "noise" (30 % of chance, the same for all). MILLISECONDS is the long work. Work is sleep: ranks that share a CPU do not
// disturb each other. HOW: "hang" (rank 1 works for ever in the last step), "crash" (it aborts there).
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, ranks;
static char out[64], in[64], more[64];
static MPI_Request requests[128];
static MPI_Win window;
static MPI_File file;

static void work(double ms)
{
    struct timespec t = {(time_t)(ms / 1000), (long)(fmod(ms, 1000) * 1e6)};
    while (nanosleep(&t, &t))
        continue;
}

// ---- where they meet ----

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}
static void allreduce(void)
{
    MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
static void alltoall(void)
{
    MPI_Alltoall(out, 1, MPI_CHAR, more, 1, MPI_CHAR, MPI_COMM_WORLD);
}
static void reduce(void)
{
    MPI_Reduce(out, in, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD); // to rank 1, which then lets them go
    MPI_Bcast(in, 1, MPI_INT, 1, MPI_COMM_WORLD);
}
static void bcast(void)
{
    MPI_Bcast(in, 1, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Reduce(out, in, 1, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
}
static void gather(void)
{
    MPI_Gather(out, 1, MPI_CHAR, more, 1, MPI_CHAR, 0, MPI_COMM_WORLD);
    MPI_Scatter(more, 1, MPI_CHAR, in, 1, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void send_all(void)
{
    for (int i = 0; i < ranks; i++)
        if (i != rank) MPI_Send(out, 1, MPI_CHAR, i, 1, MPI_COMM_WORLD);
}
static void receive_all(void)
{
    for (int i = 0; i < ranks; i++)
        if (i == rank)
            requests[i] = MPI_REQUEST_NULL;
        else
            MPI_Irecv(more + i, 1, MPI_CHAR, i, 1, MPI_COMM_WORLD, &requests[i]);
}
static void receive(void)
{
    send_all();
    for (int i = 0; i < ranks; i++)
        if (i != rank) MPI_Recv(more, 1, MPI_CHAR, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void probe(void)
{
    send_all();
    for (int i = 0; i < ranks; i++) {
        if (i == rank) continue;
        MPI_Probe(i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(more, 1, MPI_CHAR, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}
static void wait_each(void)
{
    send_all();
    for (int i = 0; i < ranks; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}
static void wait_all(void)
{
    send_all();
    MPI_Waitall(ranks, requests, MPI_STATUSES_IGNORE);
}
static void wait_any(void)
{
    send_all();
    for (int i = 0, which; i + 1 < ranks; i++)
        MPI_Waitany(ranks, requests, &which, MPI_STATUS_IGNORE);
}
static void wait_some(void)
{
    int which[128], done = 0;
    send_all();
    for (int left = ranks - 1; left > 0; left -= done)
        MPI_Waitsome(ranks, requests, &done, which, MPI_STATUSES_IGNORE);
}
static void test_all(void) // asks without a pause
{
    int done = 0;
    send_all();
    while (!done)
        MPI_Testall(ranks, requests, &done, MPI_STATUSES_IGNORE);
}
static void test_each(void) // sleeps between its questions
{
    send_all();
    for (int i = 0; i < ranks; i++)
        for (int done = 0; !done;) {
            MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
            if (!done) work(0.3);
        }
}
static void probe_each(void)
{
    send_all();
    for (int i = 0; i < ranks; i++) {
        int there = i == rank;
        while (!there)
            MPI_Iprobe(i, 1, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        if (i != rank) MPI_Recv(more, 1, MPI_CHAR, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}
static void ring(void)
{
    for (int i = 1; i < ranks; i++)
        MPI_Sendrecv(out, 1, MPI_CHAR, (rank + i) % ranks, 1, in, 1, MPI_CHAR, (rank + ranks - i) % ranks, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void synchronous(void) // the lower rank of each pair sends first
{
    for (int i = 0; i < ranks; i++) {
        if (i > rank) MPI_Ssend(out, 1, MPI_CHAR, i, 1, MPI_COMM_WORLD);
        if (i != rank) MPI_Recv(in, 1, MPI_CHAR, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (i < rank) MPI_Ssend(out, 1, MPI_CHAR, i, 1, MPI_COMM_WORLD);
    }
}
static void fence(void)
{
    MPI_Win_fence(0, window);
    MPI_Put(out, 1, MPI_CHAR, (rank + 1) % ranks, 0, 1, MPI_CHAR, window);
    MPI_Win_fence(0, window);
}
static void write_all(void)
{
    MPI_File_write_at_all(file, rank, out, 1, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD); // a library may let ranks without neighbours go on
}
static void nonblocking(void)
{
    MPI_Request request;
    MPI_Iallreduce(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static const struct kind {
    const char *name;
    void (*before)(void), (*meet)(void);
} kinds[] = {{"barrier", NULL, barrier},
             {"allreduce", NULL, allreduce},
             {"alltoall", NULL, alltoall},
             {"reduce", NULL, reduce},
             {"bcast", NULL, bcast},
             {"gather", NULL, gather},
             {"recv", NULL, receive},
             {"probe", NULL, probe},
             {"wait", receive_all, wait_each},
             {"waitall", receive_all, wait_all},
             {"waitany", receive_all, wait_any},
             {"waitsome", receive_all, wait_some},
             {"testall", receive_all, test_all},
             {"test", receive_all, test_each},
             {"iprobe", NULL, probe_each},
             {"sendrecv", NULL, ring},
             {"ssend", NULL, synchronous},
             {"fence", NULL, fence},
             {"write_all", NULL, write_all},
             {"iallreduce", NULL, nonblocking}};

// ---- how long they work ----

static double chance(void)
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += (double)rand() / RAND_MAX;
    return sum - 6; // about normal
}

static double length(const char *who, int step, int steps, double ms)
{
    if (!strcmp(who, "late")) return rank == 1 ? ms : ms / 10;
    if (!strcmp(who, "early")) return rank == 1 ? ms / 10 : ms;
    if (!strcmp(who, "drift")) return rank == step * ranks / steps ? ms : ms / 10;
    if (!strcmp(who, "turns")) return rank == step % 2 ? ms : ms / 10;
    return fmax(ms * (1 + 0.3 * chance()), 0);
}

int main(int argc, char **argv)
{
    const struct kind *kind = kinds;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 5) MPI_Abort(MPI_COMM_WORLD, 2);
    while (kind < kinds + sizeof kinds / sizeof *kinds && strcmp(kind->name, argv[1]))
        kind++;
    if (kind == kinds + sizeof kinds / sizeof *kinds) MPI_Abort(MPI_COMM_WORLD, 2);
    int steps = atoi(argv[3]);
    srand((unsigned)rank + 1);
    char *shown; // the window's memory
    if (kind->meet == fence) MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &shown, &window);
    if (kind->meet == write_all)
        MPI_File_open(MPI_COMM_WORLD, "waits.data", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    for (int i = 0; i < steps; i++) {
        if (kind->before) kind->before();
        if (argc > 5 && i == steps - 1 && rank == 1) {
            if (!strcmp(argv[5], "crash")) abort();
            for (;;)
                work(1000);
        }
        work(length(argv[2], i, steps, atof(argv[4])));
        kind->meet();
    }
    if (kind->meet == fence) MPI_Win_free(&window);
    if (kind->meet == write_all) MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
