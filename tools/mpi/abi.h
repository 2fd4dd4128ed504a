// Which MPI is in this process, and its functions.
//
// MPI leaves handles, constants and the status to the implementation. Two families cover what is in use: MPICH (with
// Intel MPI, MVAPICH, Cray MPICH and others), whose handles are 32-bit numbers, and Open MPI, whose handles are
// pointers. Nothing of either is linked: the same library serves both and can be preloaded into any program. A handle
// travels through it in a whole register, and the callee takes of it what is its own.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef MPI_CHECK // compiled with an mpi.h, to see that the declarations here fit its own
#include <mpi.h>
#else
typedef uintptr_t mpi_handle;
typedef mpi_handle MPI_Comm, MPI_Datatype, MPI_File, MPI_Group, MPI_Info, MPI_Message, MPI_Op, MPI_Request, MPI_Win;
typedef void MPI_Status;
typedef int MPI_Grequest_query_function(void *, MPI_Status *);
typedef int MPI_Grequest_free_function(void *);
typedef int MPI_Grequest_cancel_function(void *, int);
typedef ptrdiff_t MPI_Aint;
typedef long long MPI_Count, MPI_Offset;
#endif

// A constant handle: a number, or the address of a symbol.
typedef struct abi_handle {
    const char *symbol;
    uintptr_t number;
} abi_handle;

typedef struct abi {
    const char *name;
    const char *sign; // a symbol that only this family has; NULL: any other
    size_t handle_bytes;
    int proc_null, any_source, root, cart, graph, dist_graph;
    size_t source_at; // of a status: its MPI_SOURCE is the int there
    uintptr_t in_place, status_ignore;
    abi_handle byte, null_type, null_request, world, errors_are_fatal;
    const char *fortran_in_place; // the address of this is Fortran's MPI_IN_PLACE,
    const char *fortran_bottom;   // likewise MPI_BOTTOM
    bool points_to;               // or what they point to
    bool converts;                // Fortran's handles are others: there are functions ..._f2c
} abi;

extern const abi abi_table[];
extern const size_t abi_count;

// The one of this process, found at the first use; NULL: this library knows none of those loaded. Thread: any.
const abi *abi_here(void);

uintptr_t abi_number(const abi_handle *handle); // of the MPI that is here; 0: it has no such symbol

typedef void (*abi_function)(void);

// A function or object of the MPI library, also where it was loaded for a plugin alone (RTLD_LOCAL). NULL: none.
void *abi_symbol(const char *name);
abi_function abi_find(const char *name);
abi_function abi_find_once(_Atomic(abi_function) *known,
                           const char *name); // likewise; looked for again only where there is none
abi_function abi_next(const char *name);      // one that has the same name here
