// Sends known amounts to known ranks, by calls of many kinds, and writes for each rank what it sent to whom by its own
// arithmetic: "peer RANK sent BYTES MESSAGES got BYTES" into the file DIRECTORY/peers.RANK. With STEPS and KIB: that many
// rounds of so much to the rank half of all away instead.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };
static int rank, size;
static struct {
    long long sent, sends, got;
} to[MOST];

static void sends(int peer, long long bytes)
{
    to[peer].sent += bytes;
    to[peer].sends++;
}

static char out[1 << 20], in[1 << 20];

// Ranks turned round: rank r of it is rank size - 1 - r of all.
static void in_another_order(MPI_Comm turned)
{
    int mine, peer = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Request r;
    MPI_Comm_rank(turned, &mine);
    if (mine != size - 1 - rank) abort();
    MPI_Irecv(in, 100, MPI_CHAR, size - 1 - from, 1, turned, &r);
    MPI_Send(out, 100, MPI_CHAR, size - 1 - peer, 1, turned);
    sends(peer, 100);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void round_a_ring(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Request r[2];
    MPI_Status status;
    MPI_Isend(out, 1000, MPI_CHAR, right, 2, MPI_COMM_WORLD, &r[0]);
    MPI_Recv(in, sizeof in, MPI_CHAR, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, 3, MPI_DOUBLE, right, 3, in, 3, MPI_DOUBLE, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send_init(out, 7, MPI_INT, left, 4, MPI_COMM_WORLD, &r[0]);
    MPI_Recv_init(in, 7, MPI_INT, right, 4, MPI_COMM_WORLD, &r[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(2, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        sends(left, 28);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    MPI_Send(out, 9, MPI_CHAR, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
    sends(right, 1000);
    sends(right, 24);
}

// Sends whose requests are waited for together, to both neighbours; and exchanges of much with two others, and with one.
static void in_pairs(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, which;
    MPI_Request r[4];
    MPI_Irecv(in, 4000, MPI_CHAR, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(in + 4000, 4000, MPI_CHAR, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(out, 4000, MPI_CHAR, left, 8, MPI_COMM_WORLD, &r[2]);
    MPI_Issend(out, 300, MPI_CHAR, right, 8, MPI_COMM_WORLD, &r[3]);
    for (int i = 0; i < 4; i++)
        MPI_Waitany(4, r, &which, MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, 200000, MPI_CHAR, right, 9, in, 200000, MPI_CHAR, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(in, 30, MPI_CHAR, left, 9, right, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, 6, MPI_CHAR, MPI_PROC_NULL, 9, in, 6, MPI_CHAR, MPI_PROC_NULL, 9, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    sends(left, 4000);
    sends(right, 300);
    sends(right, 200000);
    sends(left, 30);
}

static void one_sided(void)
{
    int right = (rank + 1) % size, *memory;
    MPI_Win window;
    MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_fence(0, window);
    MPI_Put(out, 3, MPI_INT, right, 0, 3, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Get(in, 5, MPI_INT, right, 0, 5, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    sends(right, 12);
    to[right].got += 20;
}

// What has no peer: it is in no row.
static void together(void)
{
    int mine = rank, sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(out, 50, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static void between_halves(int steps, int kib)
{
    int peer = (rank + size / 2) % size;
    for (int i = 0; i < steps; i++) {
        MPI_Request r;
        MPI_Irecv(in, kib << 10, MPI_CHAR, peer, 6, MPI_COMM_WORLD, &r);
        MPI_Send(out, kib << 10, MPI_CHAR, peer, 6, MPI_COMM_WORLD);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        sends(peer, (long long)kib << 10);
    }
}

static void write_rows(const char *directory)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/peers.%d", directory, rank);
    FILE *f = fopen(path, "w");
    if (!f) abort();
    for (int i = 0; i < size; i++)
        if (to[i].sends || to[i].got)
            fprintf(f, "peer %d sent %lld %lld got %lld\n", i, to[i].sent, to[i].sends, to[i].got);
    if (fclose(f)) abort();
}

int main(int argc, char **argv)
{
    MPI_Comm turned;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 2 || size < 2 || size > MOST) MPI_Abort(MPI_COMM_WORLD, 2);
    if (argc > 3) {
        between_halves(atoi(argv[2]), atoi(argv[3]));
    } else {
        round_a_ring();
        in_pairs();
        one_sided();
        together();
        for (int again = 0; again < 2; again++) { // its handle may come back, then as another one's
            MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
            in_another_order(turned);
            MPI_Comm_free(&turned);
            MPI_Comm_dup(MPI_COMM_WORLD, &turned);
            int peer = (rank + 1) % size;
            MPI_Sendrecv(out, 5, MPI_CHAR, peer, 7, in, 5, MPI_CHAR, (rank + size - 1) % size, 7, turned,
                         MPI_STATUS_IGNORE);
            sends(peer, 5);
            MPI_Comm_free(&turned);
        }
    }
    write_rows(argv[1]);
    MPI_Finalize();
    return 0;
}
