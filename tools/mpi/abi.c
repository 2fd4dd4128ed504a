#define _GNU_SOURCE // RTLD_NEXT, dl_iterate_phdr
#include "abi.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

const abi abi_table[] = {
    {
        .name = "Open MPI",
        .sign = "ompi_mpi_byte",
        .handle_bytes = sizeof(void *),
        .proc_null = -2,
        .any_source = -1,
        .root = -4,
        .cart = 1,
        .graph = 2,
        .dist_graph = 3,
        .source_at = 0,
        .in_place = 1,
        .status_ignore = 0,
        .byte = {"ompi_mpi_byte", 0},
        .null_type = {"ompi_mpi_datatype_null", 0},
        .null_request = {"ompi_request_null", 0},
        .world = {"ompi_mpi_comm_world", 0},
        .errors_are_fatal = {"ompi_mpi_errors_are_fatal", 0},
        .fortran_in_place = "mpi_fortran_in_place_",
        .fortran_bottom = "mpi_fortran_bottom_",
        .converts = true,
    },
    {
        .name = "MPICH",
        .handle_bytes = 4,
        .proc_null = -1,
        .any_source = -2,
        .root = -3,
        .cart = 2,
        .graph = 1,
        .dist_graph = 3,
        .source_at = 2,
        .in_place = UINTPTR_MAX,
        .status_ignore = 1,
        .byte = {NULL, 0x4c00010d},
        .null_type = {NULL, 0x0c000000},
        .null_request = {NULL, 0x2c000000},
        .world = {NULL, 0x44000000},
        .errors_are_fatal = {NULL, 0x54000000},
        .fortran_in_place = "MPIR_F_MPI_IN_PLACE",
        .fortran_bottom = "MPIR_F_MPI_BOTTOM",
        .points_to = true,
    },
};
const size_t abi_count = sizeof abi_table / sizeof *abi_table;

// ---- symbols ----

enum { MOST_LIBRARIES = 16 };

typedef struct library_list {
    char paths[MOST_LIBRARIES][1024];
    size_t count;
} library_list;

static int abi_note_library(struct dl_phdr_info *info, size_t size, void *to)
{
    library_list *list = to;
    (void)size;
    if (list->count < MOST_LIBRARIES && info->dlpi_name && strstr(info->dlpi_name, "libmpi") &&
        strlen(info->dlpi_name) < sizeof *list->paths)
        strcpy(list->paths[list->count++], info->dlpi_name);
    return 0;
}

// Python's modules, for one, load their MPI with RTLD_LOCAL: it is then in no scope that dlsym() looks at for us.
static void *abi_symbol_of_loaded(const char *name)
{
    library_list list = {.count = 0};
    void *found = NULL;
    dl_iterate_phdr(abi_note_library, &list);
    for (size_t i = 0; i < list.count && !found; i++) {
        void *library = dlopen(list.paths[i], RTLD_LAZY | RTLD_NOLOAD);
        if (!library) continue;
        found = dlsym(library, name);
        dlclose(library);
    }
    return found;
}

void *abi_symbol(const char *name)
{
    void *found = dlsym(RTLD_DEFAULT, name); // a program may have its own copy of an object (-no-pie): that one counts
    return found ? found : abi_symbol_of_loaded(name);
}

static abi_function abi_as_function(void *symbol)
{
    abi_function function;
    memcpy(&function, &symbol, sizeof function);
    return function;
}

abi_function abi_find(const char *name)
{
    return abi_as_function(abi_symbol(name));
}

abi_function abi_find_once(_Atomic(abi_function) *known, const char *name)
{
    abi_function found = atomic_load_explicit(known, memory_order_relaxed);
    if (!found) atomic_store_explicit(known, found = abi_find(name), memory_order_relaxed);
    return found;
}

abi_function abi_next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    return abi_as_function(found ? found : abi_symbol_of_loaded(name));
}

uintptr_t abi_number(const abi_handle *handle)
{
    return handle->symbol ? (uintptr_t)abi_symbol(handle->symbol) : handle->number;
}

// ---- which one ----

// The binary interface that MPI 5 defines is a third one: its library says so in its name.
static bool abi_is_standard_abi(void)
{
    Dl_info info;
    void *function = abi_symbol("PMPI_Init");
    return function && dladdr(function, &info) && info.dli_fname && strstr(info.dli_fname, "libmpi_abi");
}

static const abi *abi_look(void)
{
    // MPI 3 brought what bytes.c asks for.
    if (!abi_symbol("PMPI_Type_size_x") || !abi_symbol("PMPI_Get_elements_x") || abi_is_standard_abi()) {
        fprintf(stderr, "netprof: this program's MPI is neither of MPICH's nor of Open MPI's family, or older than "
                        "MPI 3: its calls are no regions\n");
        return NULL;
    }
    for (size_t i = 0; i < abi_count; i++)
        if (!abi_table[i].sign || abi_symbol(abi_table[i].sign)) return &abi_table[i];
    return NULL;
}

const abi *abi_here(void)
{
    static _Atomic(const abi *) here;
    static atomic_int looked; // 0 not yet, 1 somebody does, 2 done
    int nobody = 0;
    if (atomic_load_explicit(&looked, memory_order_acquire) == 2)
        return atomic_load_explicit(&here, memory_order_relaxed);
    if (atomic_compare_exchange_strong(&looked, &nobody, 1)) {
        atomic_store(&here, abi_look());
        atomic_store(&looked, 2);
    }
    while (atomic_load(&looked) != 2)
        continue;
    return atomic_load(&here);
}
