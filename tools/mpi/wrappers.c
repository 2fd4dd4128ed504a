// libnetprof-mpi.so: preloaded, it makes a region of every call of MPI in calls.txt, named as the call, with its bytes.
// Each wrapper asks the MPI library to do the work by the name that MPI keeps for such tools (PMPI_...), or, for
// Fortran, by the next definition of the same name.
#define NETPROF_IMPLEMENTATION
#include "netprof.h"

#include "calls.h"

#include <stdatomic.h>
#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))

// One per wrapper.
typedef struct call {
    const char *name, *symbol;
    bool next; // symbol is the wrapper's own name
    _Atomic(abi_function) real;
    _Atomic(netprof_region_id) region;
} call;

// A library that calls itself, or C from Fortran, is within the call that is counted already.
static __thread bool inside __attribute__((tls_model("initial-exec")));

static abi_function call_find(call *c)
{
    abi_function real = atomic_load_explicit(&c->real, memory_order_relaxed);
    if (real) return real;
    real = c->next ? abi_next(c->symbol) : abi_find(c->symbol);
    if (!real) {
        fprintf(stderr, "netprof: this program's MPI has no %s\n", c->symbol);
        abort();
    }
    atomic_store_explicit(&c->real, real, memory_order_relaxed);
    return real;
}

static bool call_begin(call *c)
{
    netprof_region_id region = atomic_load_explicit(&c->region, memory_order_relaxed);
    if (inside || !abi_here()) return false;
    inside = true;
    if (!region) {
        region = netprof_region(c->name);
        atomic_store_explicit(&c->region, region, memory_order_relaxed);
    }
    netprof_begin(region);
    return true;
}

static void call_end(const call *c, int64_t bytes)
{
    if (bytes > 0) netprof_bytes((uint64_t)bytes);
    netprof_end(atomic_load_explicit(&c->region, memory_order_relaxed));
    inside = false;
}

// ---- start and end ----

static int started(void)
{
    uintptr_t world = abi_number(&abi_here()->world);
    int size = bytes_members(world);
    if (size > 0) netprof_set_rank(bytes_rank(world), size);
    return 0;
}

// Also at exit, but launchers are quick to kill what has come so far.
static void write_regions(void)
{
    netprof_error error;
    if (netprof_flush(&error) == NETPROF_OK) return;
    fprintf(stderr, "netprof: the regions of this rank could not be written: %s: %s\n", error.path,
            error.sys_errno ? strerror(error.sys_errno) : error.text);
}

// ---- the wrappers ----

#define CALL(function, declaration, arguments, before, bytes, after)                                                   \
    EXPORT int MPI_##function declaration;                                                                             \
    EXPORT int MPI_##function declaration                                                                              \
    {                                                                                                                  \
        enum { fortran = 0 };                                                                                          \
        static call this = {.name = "MPI_" #function, .symbol = "PMPI_" #function};                                    \
        int(*real) declaration = (int(*) declaration)call_find(&this);                                                 \
        bytes_status own_status __attribute__((unused));                                                               \
        if (!call_begin(&this)) return real arguments;                                                                 \
        before;                                                                                                        \
        int returned = real arguments;                                                                                 \
        call_end(&this, returned ? 0 : (bytes));                                                                       \
        after;                                                                                                         \
        return returned;                                                                                               \
    }

// Without the error argument, which the module mpi_f08 may leave out, an error does not come back.
#define FORTRAN(function, wrapper, declaration, arguments, locals, before, bytes, after)                               \
    EXPORT void wrapper declaration;                                                                                   \
    EXPORT void wrapper declaration                                                                                    \
    {                                                                                                                  \
        enum { fortran = 1 };                                                                                          \
        static call this = {.name = "MPI_" #function, .symbol = #wrapper, .next = true};                               \
        void(*real) declaration = (void(*) declaration)call_find(&this);                                               \
        bytes_status own_status __attribute__((unused));                                                               \
        if (!call_begin(&this)) {                                                                                      \
            real arguments;                                                                                            \
            return;                                                                                                    \
        }                                                                                                              \
        locals before;                                                                                                 \
        real arguments;                                                                                                \
        call_end(&this, error &&*error ? 0 : (bytes));                                                                 \
        after;                                                                                                         \
    }

#include "calls.inc"
