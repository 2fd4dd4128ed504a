// Heat in a ring of cells that threads share out: in each step every thread sends its edge cells to both neighbours,
// takes theirs, and computes. Regions nest: "step" holds "halo exchange" and "compute", in each thread by itself.
#define NETPROF_IMPLEMENTATION
#include "netprof.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { THREADS = 4, CELLS = 4096, HALO = 64, STEPS = 100 };

typedef struct worker {
    pthread_t thread;
    int left, right; // sockets to the neighbours
    double cells[HALO + CELLS + HALO], next[HALO + CELLS + HALO];
    uint64_t sent;
} worker;

static worker workers[THREADS];

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void send_cells(worker *w, int fd, const double *cells)
{
    const char *data = (const char *)cells;
    size_t left = HALO * sizeof *cells;
    for (ssize_t n; left; data += n, left -= (size_t)n)
        if ((n = send(fd, data, left, MSG_NOSIGNAL)) < 0) die("send");
    NETPROF_BYTES(HALO * sizeof *cells);
    w->sent += HALO * sizeof *cells;
}

static void receive_cells(int fd, double *cells)
{
    char *data = (char *)cells;
    size_t left = HALO * sizeof *cells;
    for (ssize_t n; left; data += n, left -= (size_t)n)
        if ((n = recv(fd, data, left, 0)) <= 0) die("recv");
}

static void exchange(worker *w)
{
    NETPROF_SCOPE("halo exchange"); // to the end of this function, however it ends
    send_cells(w, w->right, w->cells + CELLS);
    send_cells(w, w->left, w->cells + HALO);
    receive_cells(w->left, w->cells);
    receive_cells(w->right, w->cells + HALO + CELLS);
}

static void compute(worker *w)
{
    NETPROF_SCOPE("compute");
    for (int i = HALO; i < HALO + CELLS; i++)
        w->next[i] = w->cells[i] + 0.25 * (w->cells[i - 1] - 2 * w->cells[i] + w->cells[i + 1]);
    memcpy(w->cells + HALO, w->next + HALO, CELLS * sizeof *w->cells);
}

static void *work(void *argument)
{
    worker *w = argument;
    for (int i = 0; i < STEPS; i++) {
        NETPROF_BEGIN("step");
        exchange(w);
        compute(w);
        NETPROF_END("step");
    }
    return NULL;
}

int main(void)
{
    uint64_t sent = 0;
    double heat = 0;
    for (int i = 0; i < THREADS; i++) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) die("socketpair");
        workers[i].right = ends[0];
        workers[(i + 1) % THREADS].left = ends[1];
    }
    workers[0].cells[HALO + CELLS / 2] = 1;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i])) die("thread");
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        sent += workers[i].sent;
        for (int k = HALO; k < HALO + CELLS; k++)
            heat += workers[i].cells[k];
        close(workers[i].left);
        close(workers[i].right);
    }
    printf("%d threads, %d steps: %llu bytes of halo sent, heat %.6f\n", THREADS, STEPS, (unsigned long long)sent,
           heat);
    return 0;
}
