// The number of bytes that a call moves. Everything here asks the MPI library by its PMPI_ functions.
#pragma once

#include "abi.h"

// Where handles are 32 bits wide, the rest of a register may hold anything.
uintptr_t bytes_handle_value(uintptr_t handle);
uintptr_t bytes_constant(_Atomic uintptr_t *known, const abi_handle *handle); // looked up once

// Handles as the implementation passes them, whatever the language of the caller.
uintptr_t bytes_type_from_fortran(int type);
uintptr_t bytes_comm_from_fortran(int comm);

bool bytes_in_place(const void *buffer, bool fortran);
bool bytes_to(int rank);                      // a process, not MPI_PROC_NULL
bool bytes_is_root(int root, uintptr_t comm); // this rank is the one that has what the others get
bool bytes_to_root(int root);                 // this rank is one of those that send to the root
int64_t bytes_size(int64_t count, uintptr_t type);

int bytes_rank(uintptr_t comm);
int bytes_members(uintptr_t comm);   // of the own group
int bytes_peers(uintptr_t comm);     // of the group that receives: the remote one of an intercommunicator
int bytes_neighbors(uintptr_t comm); // that this rank sends to

int64_t bytes_sum_int(const int *counts, int n);
int64_t bytes_sum_count(const MPI_Count *counts, int n);
// One type for each count, in an array of the caller's handles.
int64_t bytes_sizes_int(const int *counts, const void *types, int n, bool fortran);
int64_t bytes_sizes_count(const MPI_Count *counts, const void *types, int n, bool fortran);

// A status that is looked at, whether or not the caller wants one.
typedef struct bytes_status {
    uint64_t room[8];
} bytes_status;
void *bytes_status_given(void *status, bytes_status *own, bool fortran);
bool bytes_status_from_fortran(const void *status, bytes_status *converted);
int64_t bytes_arrived(const void *status, bool fortran);

// A request as the implementation passes it; and how it stands, which changes nothing. Thread: any.
uintptr_t bytes_request_at(const void *requests, int i, bool fortran);
int bytes_request_status(uintptr_t request, int *there, bytes_status *status); // 0: *there and *status are set
