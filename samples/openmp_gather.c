// OpenMP: each thread of a parallel loop computes pieces of a table and sends them to one that collects them. Threads
// of a team are threads like any other to netprof: regions need nothing but their begin and end.
#define NETPROF_IMPLEMENTATION
#include "netprof.h"

#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PIECES = 64, PIECE = 1024 };

static uint64_t received;

static void *collect(void *argument)
{
    static char block[65536];
    for (ssize_t n; (n = recv(*(int *)argument, block, sizeof block, 0)) > 0;)
        received += (uint64_t)n;
    return NULL;
}

static void compute(int piece, double *cells)
{
    NETPROF_SCOPE("compute");
    for (int i = 0; i < PIECE; i++)
        cells[i] = 1.0 / (1 + piece * PIECE + i);
}

static void send_piece(int fd, const double *cells)
{
    NETPROF_SCOPE("send");
#pragma omp critical
    {
        const char *data = (const char *)cells;
        size_t left = PIECE * sizeof *cells;
        for (ssize_t n; left; data += n, left -= (size_t)n) {
            if ((n = send(fd, data, left, MSG_NOSIGNAL)) < 0) {
                perror("send");
                exit(1);
            }
        }
    }
    NETPROF_BYTES(PIECE * sizeof *cells);
}

int main(void)
{
    int ends[2], threads = 1;
    pthread_t collector;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || pthread_create(&collector, NULL, collect, &ends[1])) {
        perror("collector");
        return 1;
    }
#pragma omp parallel num_threads(4)
    {
        double cells[PIECE];
#pragma omp single
        threads = omp_get_num_threads();
#pragma omp for schedule(dynamic)
        for (int piece = 0; piece < PIECES; piece++) {
            compute(piece, cells);
            send_piece(ends[0], cells);
        }
    }
    close(ends[0]);
    pthread_join(collector, NULL);
    close(ends[1]);
    printf("%d threads sent %llu bytes\n", threads, (unsigned long long)received);
    return 0;
}
