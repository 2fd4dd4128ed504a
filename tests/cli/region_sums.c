/* Work of known lengths and bytes, by a clock of its own that only moves when the program says so, in each thread for
   itself: overlapping spans, threads, OpenMP, MPI. What netprof says of it must be that, to the nanosecond. */
struct timespec;
static int own_clock(int clock, struct timespec *t);
#define NETPROF_OS_CLOCK(clock, t) own_clock((clock), (t))
#define NETPROF_NO_TSC
#define NETPROF_IMPLEMENTATION
#include "netprof.h"

#ifdef WITH_MPI
#include <mpi.h>
#endif

static __thread int64_t moved_ns;

/* Readings take no time. */
static int own_clock(int clock, struct timespec *t)
{
    int64_t ns = INT64_C(1800000000000000000) + moved_ns;
    (void)clock;
    t->tv_sec = (time_t)(ns / 1000000000);
    t->tv_nsec = (long)(ns % 1000000000);
    return 0;
}

static void work(int ms)
{
    moved_ns += ms * INT64_C(1000000);
}

/* Two messages of 1 MB are on their way while 8 of 10 ms are computed. */
static void overlap(int steps)
{
    netprof_region_id isend = netprof_region("isend");
    int i;
    for (i = 0; i < steps; i++) {
        netprof_span a, b;
        NETPROF_ITERATION("step", i);
        a = netprof_span_begin(isend);
        b = netprof_span_begin(isend);
        NETPROF_BEGIN("compute");
        work(8);
        NETPROF_END("compute");
        NETPROF_VALUE("size", 1000000);
        netprof_span_bytes(&a, 1000000);
        netprof_span_bytes(&b, 1000000);
        NETPROF_BEGIN("wait");
        netprof_span_wait(&a);
        netprof_span_wait(&b);
        work(2);
        netprof_span_end(b);
        netprof_span_end(a);
        NETPROF_END("wait");
    }
}

static void iterations(int count)
{
    int i;
    for (i = 0; i < count; i++) {
        NETPROF_BEGIN("iteration");
        NETPROF_BYTES(1000);
        work(5);
        NETPROF_END("iteration");
    }
}

enum { THREADS = 8 };

static void *worker(void *argument)
{
    NETPROF_ADOPT(*(netprof_place *)argument);
    iterations(10);
    return NULL;
}

static void *stray(void *argument)
{
    (void)argument;
    iterations(10);
    return NULL;
}

/* Two threads that do not say for whom they work. */
static void strays(void)
{
    pthread_t ids[2];
    int i;
    NETPROF_BEGIN("parallel");
    for (i = 0; i < 2; i++)
        if (pthread_create(&ids[i], NULL, stray, NULL)) exit(1);
    iterations(10);
    for (i = 0; i < 2; i++)
        pthread_join(ids[i], NULL);
    NETPROF_END("parallel");
}

/* Eight threads work 50 ms each, and the first one waits for them. */
static void threads(void)
{
    pthread_t ids[THREADS];
    netprof_place here;
    int i;
    NETPROF_BEGIN("parallel");
    here = netprof_here();
    for (i = 0; i < THREADS; i++)
        if (pthread_create(&ids[i], NULL, worker, &here)) exit(1);
    for (i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    work(50);
    NETPROF_END("parallel");
}

#ifdef _OPENMP
static void openmp(void)
{
    netprof_place here;
    NETPROF_BEGIN("parallel");
    here = netprof_here();
#pragma omp parallel num_threads(4)
    {
        NETPROF_ADOPT(here);
        iterations(10);
    }
    NETPROF_END("parallel");
}
#endif

#ifdef WITH_MPI
/* Rank 2 works three times as long as the others, who wait for it; meanwhile messages are on their way on all. */
static void ranks(int *argc, char ***argv)
{
    netprof_region_id isend = netprof_region("isend");
    int rank, i, sent = 1, got;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (i = 0; i < 10; i++) {
        netprof_span span = netprof_span_begin(isend);
        NETPROF_BEGIN("compute");
        work(rank == 2 ? 30 : 10);
        NETPROF_END("compute");
        netprof_span_bytes(&span, 500000);
        NETPROF_BEGIN("allreduce");
        netprof_span_wait(&span);
        MPI_Allreduce(&sent, &got, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        work(rank == 2 ? 1 : 21);
        netprof_span_end(span);
        NETPROF_END("allreduce");
    }
    MPI_Finalize();
}
#endif

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "overlap") == 0) overlap(10);
    if (strcmp(what, "threads") == 0) threads();
    if (strcmp(what, "strays") == 0) strays();
#ifdef _OPENMP
    if (strcmp(what, "openmp") == 0) openmp();
#endif
#ifdef WITH_MPI
    if (strcmp(what, "mpi") == 0) ranks(&argc, &argv);
#endif
    return 0;
}
