// A library that a program loads for itself alone, with the MPI that it needs, as Python does with its modules.
#include <mpi.h>

// Sends itself so many bytes; then ends in order, or by MPI_Abort with this code.
int run(int bytes, int code);

int run(int bytes, int code)
{
    static char out[1000], in[1000];
    MPI_Status status;
    MPI_Init(0, 0);
    MPI_Sendrecv(out, bytes, MPI_BYTE, 0, 1, in, sizeof in, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &status);
    if (code) MPI_Abort(MPI_COMM_WORLD, code);
    return MPI_Finalize();
}
