// Calls MPI in many ways and writes, for each rank, how often it called what and how many bytes that was by its own
// arithmetic: "name calls bytes" into the file DIRECTORY/expected.RANK.
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, left, right;

// ---- what is expected ----

typedef struct expectation {
    const char *name;
    long long calls, bytes;
} expectation;

static expectation expectations[200];

static void expect(const char *name, long long bytes)
{
    expectation *e = expectations;
    while (e->name && strcmp(e->name, name) != 0)
        e++;
    e->name = name;
    e->calls++;
    e->bytes += bytes;
}

// One call that works, of so many bytes.
#define CALL(name, bytes, ...)                                                                                         \
    do {                                                                                                               \
        if (MPI_##name(__VA_ARGS__) != MPI_SUCCESS) abort();                                                           \
        expect("MPI_" #name, (bytes));                                                                                 \
    } while (0)

static void write_expectations(const char *directory)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/expected.%d", directory, rank);
    FILE *to = fopen(path, "w");
    if (!to) abort();
    for (const expectation *e = expectations; e->name; e++)
        fprintf(to, "%s %lld %lld\n", e->name, e->calls, e->bytes);
    if (fclose(to)) abort();
}

// ---- point to point ----

enum { N = 10 };
static double out[64 * N], in[64 * N];

static void point_to_point(void)
{
    MPI_Request r;
    MPI_Status status;
    MPI_Message message;
    MPI_Datatype column; // 3 of 9 doubles: what is sent is smaller than what it spans
    CALL(Irecv, 0, in, N, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &r);
    CALL(Send, N * 8, out, N, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);
    CALL(Wait, 0, &r, &status);
    CALL(Isend, 3, out, 3, MPI_BYTE, right, 1, MPI_COMM_WORLD, &r);
    CALL(Recv, 3, in, N, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
         MPI_STATUS_IGNORE); // less than there is room for
    CALL(Wait, 0, &r, MPI_STATUS_IGNORE);
    CALL(Isend, 5 * 4, out, 5, MPI_INT, right, 2, MPI_COMM_WORLD, &r);
    CALL(Mprobe, 0, left, 2, MPI_COMM_WORLD, &message, &status);
    CALL(Mrecv, 5 * 4, in, N, MPI_INT, &message, &status);
    CALL(Waitall, 0, 1, &r, MPI_STATUSES_IGNORE);
    CALL(Irecv, 0, in, 1, MPI_CHAR, left, 3, MPI_COMM_WORLD, &r);
    CALL(Ssend, 1, out, 1, MPI_CHAR, right, 3, MPI_COMM_WORLD);
    CALL(Wait, 0, &r, &status);
    CALL(Send, 0, out, N, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    CALL(Recv, 0, in, N, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    CALL(Sendrecv, 7, out, 7, MPI_CHAR, right, 4, in, N, MPI_DOUBLE, left, 4, MPI_COMM_WORLD, &status);
    CALL(Sendrecv_replace, 2 * 8, out, 2, MPI_DOUBLE, right, 5, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_vector(3, 1, 3, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    CALL(Isend, 2 * 3 * 8, out, 2, column, right, 6, MPI_COMM_WORLD, &r);
    CALL(Recv, 2 * 3 * 8, in, 6, MPI_DOUBLE, left, 6, MPI_COMM_WORLD, &status);
    CALL(Wait, 0, &r, &status);
    MPI_Type_free(&column);
}

static void persistent(void)
{
    MPI_Request r[2];
    for (int again = 0; again < 2; again++) { // requests that were freed are forgotten
        CALL(Send_init, 0, out, N + again, MPI_DOUBLE, right, 7, MPI_COMM_WORLD, &r[0]);
        CALL(Recv_init, 0, in, N + again, MPI_DOUBLE, left, 7, MPI_COMM_WORLD, &r[1]);
        for (int i = 0; i < 3; i++) {
            CALL(Startall, (N + again) * 8, 2, r);
            CALL(Waitall, 0, 2, r, MPI_STATUSES_IGNORE);
        }
        CALL(Start, 0, &r[1]);
        CALL(Start, (N + again) * 8, &r[0]);
        CALL(Waitall, 0, 2, r, MPI_STATUSES_IGNORE);
        CALL(Request_free, 0, &r[0]);
        CALL(Request_free, 0, &r[1]);
    }
}

// ---- collectives ----

static void rooted(void)
{
    int counts[64], displs[64], root = size - 1, sum = 0;
    for (int i = 0; i < size; i++) {
        counts[i] = i + 1;
        displs[i] = sum;
        sum += i + 1;
    }
    MPI_Datatype none = MPI_DATATYPE_NULL; // what does not matter at a rank may be anything
    int *nowhere = NULL;
    int here = rank == root;
    CALL(Bcast, here ? N * 8 : 0, out, N, MPI_DOUBLE, root, MPI_COMM_WORLD);
    CALL(Gather, 3 * 4, out, 3, MPI_INT, in, 3, here ? MPI_INT : none, root, MPI_COMM_WORLD);
    CALL(Gather, here ? 0 : 4, here ? MPI_IN_PLACE : out, 1, here ? none : MPI_INT, in, 1, here ? MPI_INT : none, root,
         MPI_COMM_WORLD);
    CALL(Gatherv, (rank + 1) * 4, out, rank + 1, MPI_INT, in, here ? counts : nowhere, here ? displs : nowhere,
         here ? MPI_INT : none, root, MPI_COMM_WORLD);
    CALL(Scatter, here ? size * 2 * 8 : 0, out, 2, here ? MPI_DOUBLE : none, in, 2, MPI_DOUBLE, root, MPI_COMM_WORLD);
    CALL(Scatterv, here ? sum * 4 : 0, out, here ? counts : nowhere, here ? displs : nowhere, here ? MPI_INT : none, in,
         rank + 1, MPI_INT, root, MPI_COMM_WORLD);
    CALL(Reduce, N * 8, out, in, N, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
    CALL(Reduce, N * 8, here ? MPI_IN_PLACE : in, here ? in : NULL, N, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
}

static void all_to_all(void)
{
    int counts[64], displs[64], zeros[64] = {0}, sum = 0;
    MPI_Datatype types[64];
    for (int i = 0; i < size; i++) {
        counts[i] = rank + i + 1; // what rank i gets of this one, and the other way round
        displs[i] = sum;
        sum += counts[i];
        types[i] = i % 2 == rank % 2 ? MPI_INT : MPI_FLOAT; // of the same size
    }
    CALL(Allgather, 2 * 8, out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, MPI_COMM_WORLD);
    CALL(Allgather, 8, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    CALL(Alltoall, size * 3 * 4, out, 3, MPI_INT, in, 3, MPI_INT, MPI_COMM_WORLD);
    CALL(Alltoall, size * 2 * 4, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 2, MPI_INT, MPI_COMM_WORLD);
    CALL(Alltoallv, sum * 4, out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        displs[i] *= 4;
    for (int i = 0; i < size; i++)
        types[i] = i == rank || (i + rank) % 2 ? MPI_INT : MPI_FLOAT;
    CALL(Alltoallw, sum * 4, out, counts, displs, types, in, counts, displs, types, MPI_COMM_WORLD);
    for (int i = 0, at = 0; i < size; i++) {
        counts[i] = i + 1;
        displs[i] = at;
        at += i + 1;
    }
    CALL(Allgatherv, (rank + 1) * 4, out, rank + 1, MPI_INT, in, counts, displs, MPI_INT, MPI_COMM_WORLD);
    CALL(Allgatherv, (rank + 1) * 4, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, displs, MPI_INT, MPI_COMM_WORLD);
    CALL(Allreduce, N * 8, out, in, N, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    CALL(Allreduce, N * 8, MPI_IN_PLACE, in, N, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    CALL(Reduce_scatter, size * (size + 1) / 2 * 4, out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CALL(Reduce_scatter_block, size * 2 * 4, out, in, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CALL(Scan, N * 4, out, in, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CALL(Exscan, N * 4, out, in, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    (void)zeros;
}

static void nonblocking(void)
{
    MPI_Request r[4];
    CALL(Ibarrier, 0, MPI_COMM_WORLD, &r[0]);
    CALL(Ibcast, rank == 0 ? 11 : 0, out, 11, MPI_CHAR, 0, MPI_COMM_WORLD, &r[1]);
    CALL(Iallreduce, 3 * 8, out + N, in + N, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r[2]);
    CALL(Ialltoall, size * 4, out + 2 * N, 1, MPI_INT, in + 2 * N, 1, MPI_INT, MPI_COMM_WORLD, &r[3]);
    CALL(Waitall, 0, 4, r, MPI_STATUSES_IGNORE);
}

// The first rank on one side, the others on the other.
static void between_groups(void)
{
    MPI_Comm group, between;
    int first = rank == 0;
    CALL(Comm_split, 0, MPI_COMM_WORLD, first, rank, &group);
    CALL(Intercomm_create, 0, group, 0, MPI_COMM_WORLD, first ? 1 : 0, 9, &between);
    CALL(Bcast, first ? N * 8 : 0, out, N, MPI_DOUBLE, first ? MPI_ROOT : 0, between);
    CALL(Gather, first ? 0 : 4, out, 1, MPI_INT, in, 1, MPI_INT, first ? MPI_ROOT : 0, between);
    CALL(Alltoall, (first ? size - 1 : 1) * 4, out, 1, MPI_INT, in, 1, MPI_INT, between);
    CALL(Allgather, 2 * 4, out, 2, MPI_INT, in, 2, MPI_INT, between);
    CALL(Comm_free, 0, &between);
    CALL(Comm_free, 0, &group);
}

static void among_neighbors(void)
{
    MPI_Comm ring, star;
    int periods[1] = {1}, sources[64], targets[64], counts[2] = {1, 2}, displs[2] = {0, 1}, n = rank ? 1 : size - 1;
    CALL(Cart_create, 0, MPI_COMM_WORLD, 1, &size, periods, 0, &ring);
    CALL(Neighbor_alltoall, 2 * 3 * 8, out, 3, MPI_DOUBLE, in, 3, MPI_DOUBLE, ring);
    CALL(Neighbor_allgather, 3 * 8, out, 3, MPI_DOUBLE, in, 3, MPI_DOUBLE, ring);
    CALL(Comm_free, 0, &ring);
    for (int i = 0; i < n; i++)
        sources[i] = targets[i] = rank ? 0 : i + 1;
    CALL(Dist_graph_create_adjacent, 0, MPI_COMM_WORLD, n, sources, MPI_UNWEIGHTED, n, targets, MPI_UNWEIGHTED,
         MPI_INFO_NULL, 0, &star);
    CALL(Neighbor_alltoall, n * 4, out, 1, MPI_INT, in, 1, MPI_INT, star);
    if (n <= 2) CALL(Barrier, 0, MPI_COMM_SELF);
    CALL(Comm_free, 0, &star);
    (void)counts;
    (void)displs;
}

// ---- one-sided ----

static void one_sided(void)
{
    MPI_Win window;
    MPI_Request r;
    int *memory, one = 1, result;
    CALL(Win_allocate, 0, 64 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    CALL(Win_fence, 0, 0, window);
    CALL(Put, 3 * 4, out, 3, MPI_INT, right, 0, 3, MPI_INT, window);
    CALL(Accumulate, 2 * 4, out, 2, MPI_INT, right, 8, 2, MPI_INT, MPI_SUM, window);
    CALL(Win_fence, 0, 0, window);
    CALL(Get, 5 * 4, in, 5, MPI_INT, left, 0, 5, MPI_INT, window);
    CALL(Get, 0, in, 5, MPI_INT, MPI_PROC_NULL, 0, 5, MPI_INT, window);
    CALL(Win_fence, 0, 0, window);
    CALL(Win_lock, 0, MPI_LOCK_SHARED, right, 0, window);
    CALL(Rput, 4, out, 1, MPI_INT, right, 16 + rank, 1, MPI_INT, window, &r);
    CALL(Wait, 0, &r, MPI_STATUS_IGNORE);
    CALL(Fetch_and_op, 4, &one, &result, MPI_INT, right, 20, MPI_SUM, window);
    CALL(Get_accumulate, 2 * 4, NULL, 0, MPI_INT, in, 2, MPI_INT, right, 24, 2, MPI_INT, MPI_NO_OP, window);
    CALL(Win_flush, 0, right, window);
    CALL(Win_unlock, 0, right, window);
    CALL(Win_free, 0, &window);
}

// ---- files ----

static void files(const char *directory)
{
    char path[1024];
    MPI_File file;
    MPI_Status status;
    MPI_Request r;
    snprintf(path, sizeof path, "%s/data", directory);
    CALL(File_open, 0, MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    CALL(File_write_at_all, N * 8, file, rank * N * 8, out, N, MPI_DOUBLE, &status);
    CALL(File_sync, 0, file);
    CALL(Barrier, 0, MPI_COMM_WORLD);
    CALL(File_read_at, N * 8, file, rank * N * 8, in, N, MPI_DOUBLE, MPI_STATUS_IGNORE);
    CALL(File_read_at, 3 * 8, file, (size * N - 3) * 8, in, N, MPI_DOUBLE,
         &status); // the end of the file is near
    CALL(Barrier, 0, MPI_COMM_WORLD);
    CALL(File_iwrite_at, 4, file, rank * 4, out, 1, MPI_INT, &r);
    CALL(Wait, 0, &r, &status);
    CALL(File_close, 0, &file);
}

// ---- threads ----

enum { THREADS = 3, TIMES = 20 };

// Each thread sends to its own rank.
static void *thread_main(void *argument)
{
    int tag = 100 + *(int *)argument, mine[N] = {0}, got[N];
    MPI_Request r;
    for (int i = 0; i < TIMES; i++) {
        MPI_Isend(mine, N, MPI_INT, 0, tag, MPI_COMM_SELF, &r);
        MPI_Recv(got, N, MPI_INT, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t ids[THREADS];
    int numbers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (pthread_create(&ids[i], NULL, thread_main, &numbers[i])) abort();
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    for (int i = 0; i < THREADS * TIMES; i++) {
        expect("MPI_Isend", N * 4);
        expect("MPI_Recv", N * 4);
        expect("MPI_Wait", 0);
    }
}

// ---- what fails, and what is new ----

static void failing(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Send(out, N, MPI_DOUBLE, size + 5, 0, MPI_COMM_WORLD) == MPI_SUCCESS) abort();
    expect("MPI_Send", 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void of_mpi_4(void)
{
#if MPI_VERSION >= 4
    MPI_Request r;
    MPI_Count counts[64];
    MPI_Aint displs[64];
    for (int i = 0; i < size; i++) {
        counts[i] = 2;
        displs[i] = 2 * i;
    }
    CALL(Irecv_c, 0, in, N, MPI_DOUBLE, left, 11, MPI_COMM_WORLD, &r);
    CALL(Send_c, N * 8, out, N, MPI_DOUBLE, right, 11, MPI_COMM_WORLD);
    CALL(Wait, 0, &r, MPI_STATUS_IGNORE);
    CALL(Alltoallv_c, size * 2 * 4, out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, MPI_COMM_WORLD);
    CALL(Allreduce_init, 0, out, in, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    CALL(Start, N * 8, &r);
    CALL(Wait, 0, &r, MPI_STATUS_IGNORE);
    CALL(Request_free, 0, &r);
#endif
}

static void partitioned(void)
{
#if MPI_VERSION >= 4
    MPI_Request r[2];
    int last[1] = {4}, flag = 0;
    CALL(Psend_init, 0, out, 5, 2, MPI_DOUBLE, right, 12, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    CALL(Precv_init, 0, in, 5, 2, MPI_DOUBLE, left, 12, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
    for (int i = 0; i < 2; i++) {
        CALL(Startall, 5 * 2 * 8, 2, r);
        CALL(Pready, 0, 0, r[0]);
        CALL(Pready_range, 0, 1, 3, r[0]);
        CALL(Pready_list, 0, 1, last, r[0]);
        CALL(Parrived, 0, r[1], 0, &flag);
        CALL(Waitall, 0, 2, r, MPI_STATUSES_IGNORE);
    }
    CALL(Request_free, 0, &r[0]);
    CALL(Request_free, 0, &r[1]);
#endif
}

// The program once more, as a child that says good-bye at once.
static void spawning(char *program)
{
    MPI_Comm child;
    char *arguments[] = {"child", NULL};
    CALL(Comm_spawn, 0, program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child, MPI_ERRCODES_IGNORE);
    CALL(Comm_disconnect, 0, &child);
}

static int be_a_child(void)
{
    MPI_Comm parent;
    if (MPI_Init(NULL, NULL) || MPI_Comm_get_parent(&parent) || MPI_Comm_disconnect(&parent)) return 1;
    return MPI_Finalize();
}

int main(int argc, char **argv)
{
    int provided;
    if (argc < 2 || argc > 3) return 2;
    if (strcmp(argv[1], "child") == 0) return be_a_child();
    CALL(Init_thread, 0, &argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    point_to_point();
    persistent();
    rooted();
    all_to_all();
    nonblocking();
    between_groups();
    among_neighbors();
    one_sided();
    files(argv[1]);
    if (provided == MPI_THREAD_MULTIPLE) threads();
    failing();
    of_mpi_4();
    partitioned();
    if (argc == 3) spawning(argv[0]);
    CALL(Finalize, 0);
    write_expectations(argv[1]);
    return 0;
}
