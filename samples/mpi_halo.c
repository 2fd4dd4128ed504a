// Heat in a ring of cells, cut into one piece per MPI rank: each step exchanges the edge cells with both neighbours
// and then asks all ranks for the largest change. Two regions, and a file from each rank at its end.
#define NETPROF_IMPLEMENTATION
#include "netprof.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 4096, HALO = 512, STEPS = 20 };

static double cells[HALO + CELLS + HALO], next[HALO + CELLS + HALO];

// Sends the outermost own cells to both sides and receives the neighbours' into the halo.
static uint64_t exchange(int left, int right)
{
    MPI_Request requests[4];
    NETPROF_SCOPE("halo exchange");
    MPI_Irecv(cells, HALO, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(cells + HALO + CELLS, HALO, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(cells + CELLS, HALO, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(cells + HALO, HALO, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    NETPROF_BYTES(2 * HALO * sizeof(double));
    return 2 * HALO * sizeof(double);
}

static double step(void)
{
    double change = 0;
    for (int i = HALO; i < HALO + CELLS; i++) {
        next[i] = cells[i] + 0.25 * (cells[i - 1] - 2 * cells[i] + cells[i + 1]);
        change = fmax(change, fabs(next[i] - cells[i]));
    }
    for (int i = HALO; i < HALO + CELLS; i++)
        cells[i] = next[i];
    return change;
}

static double largest(double mine)
{
    double all;
    NETPROF_BEGIN("largest change");
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    NETPROF_BYTES(sizeof mine);
    NETPROF_END("largest change");
    return all;
}

int main(int argc, char **argv)
{
    int rank, size, provided;
    uint64_t sent = 0, all_sent;
    double change = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    netprof_set_rank(rank, size);
    if (rank == 0) cells[HALO + CELLS / 2] = 1;
    for (int i = 0; i < STEPS; i++) {
        sent += exchange((rank + size - 1) % size, (rank + 1) % size);
        change = largest(step());
    }
    MPI_Reduce(&sent, &all_sent, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks, %d steps: %llu bytes of halo sent, largest change of the last step %.6f\n", size, STEPS,
               (unsigned long long)all_sent, change);
    MPI_Finalize();
    return 0;
}
