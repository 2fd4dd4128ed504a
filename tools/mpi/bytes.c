#include "bytes.h"

#include <stdatomic.h>
#include <stdlib.h>

// A function of the MPI library with the parameters that follow, looked up once.
#define ASK(function, ...) ((int (*)(__VA_ARGS__))bytes_ask(&(static_function){&(function##_address), #function}))
#define ASKED(function)    static _Atomic(abi_function) function##_address

typedef struct static_function {
    _Atomic(abi_function) *address;
    const char *name;
} static_function;

static int bytes_without(void)
{
    return -1;
}

static abi_function bytes_ask(const static_function *f)
{
    abi_function found = atomic_load_explicit(f->address, memory_order_relaxed);
    if (found) return found;
    found = abi_find(f->name);
    if (!found) found = (abi_function)bytes_without;
    atomic_store_explicit(f->address, found, memory_order_relaxed);
    return found;
}

// Likewise an object.
typedef _Atomic(void *) static_object;

static void *bytes_ask_object(static_object *address, const char *name)
{
    void *found = atomic_load_explicit(address, memory_order_relaxed);
    if (!found) atomic_store_explicit(address, found = abi_symbol(name), memory_order_relaxed);
    return found;
}

ASKED(PMPI_Type_size_x);
ASKED(PMPI_Type_f2c);
ASKED(PMPI_Comm_f2c);
ASKED(PMPI_Request_f2c);
ASKED(PMPI_Request_get_status);
ASKED(PMPI_Status_f2c);
ASKED(PMPI_Status_c2f);
ASKED(PMPI_Isend);
ASKED(PMPI_Irecv);
ASKED(PMPI_Isend_c);
ASKED(PMPI_Irecv_c);
ASKED(PMPI_Wait);
ASKED(PMPI_Comm_get_errhandler);
ASKED(PMPI_Errhandler_free);
ASKED(PMPI_Get_elements_x);
ASKED(PMPI_Comm_rank);
ASKED(PMPI_Comm_size);
ASKED(PMPI_Comm_remote_size);
ASKED(PMPI_Comm_test_inter);
ASKED(PMPI_Topo_test);
ASKED(PMPI_Cartdim_get);
ASKED(PMPI_Graph_neighbors_count);
ASKED(PMPI_Dist_graph_neighbors_count);

typedef uintptr_t from_fortran(int);

// ---- handles ----

uintptr_t bytes_handle_value(uintptr_t handle)
{
    return abi_here()->handle_bytes == 4 ? (uint32_t)handle : handle;
}

uintptr_t bytes_constant(_Atomic uintptr_t *known, const abi_handle *handle)
{
    uintptr_t number = atomic_load_explicit(known, memory_order_relaxed);
    if (!number) atomic_store_explicit(known, number = abi_number(handle), memory_order_relaxed);
    return number;
}

uintptr_t bytes_type_from_fortran(int type)
{
    if (!abi_here()->converts) return (uint32_t)type;
    return ((from_fortran *)bytes_ask(&(static_function){&PMPI_Type_f2c_address, "PMPI_Type_f2c"}))(type);
}

uintptr_t bytes_comm_from_fortran(int comm)
{
    if (!abi_here()->converts) return (uint32_t)comm;
    return ((from_fortran *)bytes_ask(&(static_function){&PMPI_Comm_f2c_address, "PMPI_Comm_f2c"}))(comm);
}

static uintptr_t bytes_request_from_fortran(int request)
{
    if (!abi_here()->converts) return (uint32_t)request;
    return ((from_fortran *)bytes_ask(&(static_function){&PMPI_Request_f2c_address, "PMPI_Request_f2c"}))(request);
}

static uintptr_t bytes_handle_at(const void *handles, int i)
{
    return abi_here()->handle_bytes == 4 ? ((const uint32_t *)handles)[i] : ((const uintptr_t *)handles)[i];
}

static uintptr_t bytes_type_at(const void *types, int i, bool fortran)
{
    return fortran ? bytes_type_from_fortran(((const int *)types)[i]) : bytes_handle_at(types, i);
}

uintptr_t bytes_request_at(const void *requests, int i, bool fortran)
{
    return fortran ? bytes_request_from_fortran(((const int *)requests)[i]) : bytes_handle_at(requests, i);
}

// ---- ranks ----

static bool bytes_is_fortran_constant(const void *buffer, static_object *address, const char *name)
{
    void *place = bytes_ask_object(address, name);
    if (place && abi_here()->points_to) place = *(void **)place;
    return place && buffer == place;
}

bool bytes_in_place(const void *buffer, bool fortran)
{
    static static_object address;
    const abi *here = abi_here();
    if (!fortran) return (uintptr_t)buffer == here->in_place;
    return bytes_is_fortran_constant(buffer, &address, here->fortran_in_place);
}

bool bytes_is_fortran_bottom(const void *buffer)
{
    static static_object address;
    return bytes_is_fortran_constant(buffer, &address, abi_here()->fortran_bottom);
}

bool bytes_to(int rank)
{
    return rank != abi_here()->proc_null;
}

static int bytes_ask_comm(uintptr_t comm, const static_function *f)
{
    int result = 0;
    return ((int (*)(uintptr_t, int *))bytes_ask(f))(comm, &result) ? 0 : result;
}

#define ASK_COMM(comm, function) bytes_ask_comm((comm), &(static_function){&(function##_address), #function})

bool bytes_errors_are_fatal(uintptr_t comm)
{
    static _Atomic uintptr_t fatal;
    _Alignas(uintptr_t) unsigned char handler[sizeof(uintptr_t)] = {0};
    if (ASK(PMPI_Comm_get_errhandler, uintptr_t, void *)(comm, handler)) return false;
    bool are = bytes_handle_at(handler, 0) == bytes_constant(&fatal, &abi_here()->errors_are_fatal);
    ASK(PMPI_Errhandler_free, void *)(handler);
    return are;
}

int bytes_rank(uintptr_t comm)
{
    return ASK_COMM(comm, PMPI_Comm_rank);
}

int bytes_members(uintptr_t comm)
{
    return ASK_COMM(comm, PMPI_Comm_size);
}

int bytes_peers(uintptr_t comm)
{
    return ASK_COMM(comm, PMPI_Comm_test_inter) ? ASK_COMM(comm, PMPI_Comm_remote_size) : bytes_members(comm);
}

bool bytes_is_root(int root, uintptr_t comm)
{
    if (root < 0) return root == abi_here()->root;
    return !ASK_COMM(comm, PMPI_Comm_test_inter) && bytes_rank(comm) == root;
}

bool bytes_to_root(int root)
{
    return root >= 0;
}

int bytes_topology(uintptr_t comm, int *in, int *out)
{
    const abi *here = abi_here();
    int topology = ASK_COMM(comm, PMPI_Topo_test), weighted, failed = 0;
    *in = *out = 0;
    if (topology == here->cart)
        *out = ASK_COMM(comm, PMPI_Cartdim_get);
    else if (topology == here->graph)
        failed = ASK(PMPI_Graph_neighbors_count, uintptr_t, int, int *)(comm, bytes_rank(comm), out);
    else if (topology == here->dist_graph)
        failed = ASK(PMPI_Dist_graph_neighbors_count, uintptr_t, int *, int *, int *)(comm, in, out, &weighted);
    if (failed) *in = *out = 0;
    return topology;
}

int bytes_neighbors(uintptr_t comm)
{
    int in, out, topology = bytes_topology(comm, &in, &out);
    return topology == abi_here()->cart ? 2 * out : out;
}

// ---- sizes ----

int64_t bytes_size(int64_t count, uintptr_t type)
{
    static _Atomic uintptr_t null_type;
    MPI_Count size = 0;
    if (count <= 0 || bytes_handle_value(type) == bytes_constant(&null_type, &abi_here()->null_type)) return 0;
    if (ASK(PMPI_Type_size_x, uintptr_t, MPI_Count *)(type, &size) || size < 0) return 0;
    return count * (int64_t)size;
}

int64_t bytes_sum_int(const int *counts, int n)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += counts[i];
    return sum;
}

int64_t bytes_sum_count(const MPI_Count *counts, int n)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += counts[i];
    return sum;
}

int64_t bytes_sizes_int(const int *counts, const void *types, int n, bool fortran)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += bytes_size(counts[i], bytes_type_at(types, i, fortran));
    return sum;
}

int64_t bytes_sizes_count(const MPI_Count *counts, const void *types, int n, bool fortran)
{
    int64_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += bytes_size(counts[i], bytes_type_at(types, i, fortran));
    return sum;
}

// ---- statuses ----

void *bytes_status_given(void *status, bytes_status *own, bool fortran)
{
    static static_object address;
    if (!abi_here()) return status;
    void *ignore = (void *)abi_here()->status_ignore;
    if (fortran) {
        void **place = bytes_ask_object(&address, "MPI_F_STATUS_IGNORE");
        ignore = place ? *place : NULL;
    }
    return status == ignore ? own : status;
}

bool bytes_status_from_fortran(const void *status, bytes_status *converted)
{
    return !ASK(PMPI_Status_f2c, const void *, void *)(status, converted);
}

void bytes_status_to_fortran(const bytes_status *status, void *converted)
{
    ASK(PMPI_Status_c2f, const void *, void *)(status, converted);
}

int64_t bytes_arrived(const void *status, bool fortran)
{
    static _Atomic uintptr_t byte_type;
    bytes_status converted;
    MPI_Count count = 0;
    if (fortran) {
        if (!bytes_status_from_fortran(status, &converted)) return 0;
        status = &converted;
    }
    uintptr_t byte = bytes_constant(&byte_type, &abi_here()->byte);
    if (ASK(PMPI_Get_elements_x, const void *, uintptr_t, MPI_Count *)(status, byte, &count)) return 0;
    return count > 0 ? (int64_t)count : 0;
}

int bytes_request_status(uintptr_t request, int *there, bytes_status *status)
{
    return ASK(PMPI_Request_get_status, uintptr_t, int *, void *)(request, there, status);
}

// ---- messages ----

typedef int bytes_start(const void *, int, uintptr_t, int, int, uintptr_t, void *);
typedef int bytes_start_large(const void *, MPI_Count, uintptr_t, int, int, uintptr_t, void *);

bool bytes_can_begin(bool large)
{
    static const char *const names[][2] = {{"PMPI_Isend", "PMPI_Irecv"}, {"PMPI_Isend_c", "PMPI_Irecv_c"}};
    _Atomic(abi_function) *const addresses[][2] = {{&PMPI_Isend_address, &PMPI_Irecv_address},
                                                   {&PMPI_Isend_c_address, &PMPI_Irecv_c_address}};
    bool can = true;
    for (int i = 0; i < 2; i++)
        can &= bytes_ask(&(static_function){addresses[large][i], names[large][i]}) != (abi_function)bytes_without;
    return can;
}

int bytes_begin(bool sends, bool large, const bytes_message *m, void *request)
{
    if (large) {
        bytes_start_large *start = sends ? (bytes_start_large *)atomic_load(&PMPI_Isend_c_address)
                                         : (bytes_start_large *)atomic_load(&PMPI_Irecv_c_address);
        return start(m->buffer, m->count, m->type, m->peer, m->tag, m->comm, request);
    }
    bytes_start *start =
        sends ? (bytes_start *)atomic_load(&PMPI_Isend_address) : (bytes_start *)atomic_load(&PMPI_Irecv_address);
    return start(m->buffer, (int)m->count, m->type, m->peer, m->tag, m->comm, request);
}

int bytes_end(void *request, void *status)
{
    return ASK(PMPI_Wait, void *, void *)(request, status);
}
