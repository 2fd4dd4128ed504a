// That what libnetprof-mpi.so says of an MPI without its mpi.h fits its mpi.h: the declarations when this is compiled,
// the constants when it runs.
#define MPI_CHECK
#include "mpi/calls.h"

#include <stdio.h>

// MPI 4 has all of the calls; for an older one only what it has can be compared.
#if MPI_VERSION >= 4
#define CALL(function, declaration, ...)                                                                               \
    extern int(*const fits_##function) declaration;                                                                    \
    int(*const fits_##function) declaration = MPI_##function;
#else
#define CALL(function, declaration, ...) extern int MPI_##function declaration;
#endif
#define FORTRAN(...)
#include "calls.inc"

static int failures;

static void same(const char *what, uintptr_t said, uintptr_t is)
{
    if (said == is) return;
    printf("%s: said to be %#llx, is %#llx\n", what, (unsigned long long)said, (unsigned long long)is);
    failures++;
}

#define SAME(said, constant) same(#constant, (uintptr_t)(said), (uintptr_t)(constant))

int main(void)
{
    const abi *here = abi_here();
    if (!here) return 2;
    printf("%s\n", here->name);
    SAME(here->handle_bytes, sizeof(MPI_Comm));
    SAME(here->handle_bytes, sizeof(MPI_Datatype));
    SAME(here->handle_bytes, sizeof(MPI_Request));
    SAME(here->proc_null, MPI_PROC_NULL);
    SAME(here->any_source, MPI_ANY_SOURCE);
    SAME(here->root, MPI_ROOT);
    SAME(here->cart, MPI_CART);
    SAME(here->source_at, offsetof(MPI_Status, MPI_SOURCE) / sizeof(int));
    SAME(here->graph, MPI_GRAPH);
    SAME(here->dist_graph, MPI_DIST_GRAPH);
    SAME(here->in_place, MPI_IN_PLACE);
    SAME(here->status_ignore, MPI_STATUS_IGNORE);
    SAME(abi_number(&here->byte), MPI_BYTE);
    SAME(abi_number(&here->null_type), MPI_DATATYPE_NULL);
    SAME(abi_number(&here->null_request), MPI_REQUEST_NULL);
    SAME(abi_number(&here->world), MPI_COMM_WORLD);
    SAME(abi_number(&here->errors_are_fatal), MPI_ERRORS_ARE_FATAL);
    same("room for a status", 1, sizeof(MPI_Status) <= sizeof(bytes_status));
    same("MPI_Aint", sizeof(ptrdiff_t), sizeof(MPI_Aint));
    same("MPI_Count", sizeof(long long), sizeof(MPI_Count));
    same("MPI_Offset", sizeof(long long), sizeof(MPI_Offset));
    return failures ? 1 : 0;
}
