// Errors of MPI_Sendrecv of much, between ranks that go round: those of a communicator whose errors are returned, and a send
// that cannot be while a message is there already. Each rank ends with 0 if all is as MPI defines it; it says what is not.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MUCH = 200000, LITTLE = 100, TAG = 3 };

static char out[MUCH], in[MUCH];
static int wrong, handled;

static void expect(int holds, const char *what)
{
    if (!holds) fprintf(stderr, "not so: %s\n", what);
    wrong += !holds;
}

static int class_of(int error)
{
    int is;
    MPI_Error_class(error, &is);
    return is;
}

static void count_error(MPI_Comm *comm, int *error, ...)
{
    (void)comm;
    (void)error;
    handled++;
}

int main(int argc, char **argv)
{
    int rank, size, there = 0;
    MPI_Comm own;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);

    // More comes than there is room for: this communicator's errors are returned, those of MPI_COMM_WORLD end the program.
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    int error = MPI_Sendrecv(out, MUCH, MPI_CHAR, right, TAG, in, LITTLE, MPI_CHAR, left, TAG, own, MPI_STATUS_IGNORE);
    expect(class_of(error) == MPI_ERR_TRUNCATE, "a message that is too long is returned as such");

    // A program's own handler is called once.
    MPI_Comm_create_errhandler(count_error, &handler);
    MPI_Comm_set_errhandler(own, handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Sendrecv(out, MUCH, MPI_CHAR, right, TAG, in, LITTLE, MPI_CHAR, left, TAG, own, MPI_STATUS_IGNORE);
    expect(handled == 1, "the handler is called once");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);

    // A message is there, the send has a tag that cannot be: nothing is done, and the message stays.
    out[0] = 'x';
    in[0] = '-';
    MPI_Send(out, 1, MPI_CHAR, right, TAG, own);
    while (!there)
        MPI_Iprobe(left, TAG, own, &there, MPI_STATUS_IGNORE);
    error = MPI_Sendrecv(out, MUCH, MPI_CHAR, right, -7, in, MUCH, MPI_CHAR, left, TAG, own, MPI_STATUS_IGNORE);
    expect(class_of(error) == MPI_ERR_TAG, "a tag that cannot be is returned as such");
    expect(in[0] == '-', "and nothing was received");
    MPI_Iprobe(left, TAG, own, &there, MPI_STATUS_IGNORE);
    expect(there, "the message is still there");
    if (there) MPI_Recv(in, MUCH, MPI_CHAR, left, TAG, own, MPI_STATUS_IGNORE);
    expect(in[0] == 'x', "and can be received");

    MPI_Errhandler_free(&handler);
    MPI_Comm_free(&own);
    MPI_Finalize();
    return wrong != 0;
}
