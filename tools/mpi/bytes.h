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
bool bytes_is_fortran_bottom(const void *buffer);
bool bytes_to(int rank);                      // a process, not MPI_PROC_NULL
bool bytes_is_root(int root, uintptr_t comm); // this rank is the one that has what the others get
bool bytes_to_root(int root);                 // this rank is one of those that send to the root
int64_t bytes_size(int64_t count, uintptr_t type);

bool bytes_errors_are_fatal(uintptr_t comm); // MPI_ERRORS_ARE_FATAL is its handler
int bytes_rank(uintptr_t comm);
int bytes_members(uintptr_t comm);   // of the own group
int bytes_peers(uintptr_t comm);     // of the group that receives: the remote one of an intercommunicator
int bytes_neighbors(uintptr_t comm); // that this rank sends to
// The kind of topology, as MPI numbers it; of a grid *out is its dimensions, of a graph how many this rank sends to, and
// of a distributed one *in from how many it receives.
int bytes_topology(uintptr_t comm, int *in, int *out);

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
void bytes_status_to_fortran(const bytes_status *status, void *converted);
int64_t bytes_arrived(const void *status, bool fortran);

// A request as the implementation passes it; and how it stands, which changes nothing. Thread: any.
uintptr_t bytes_request_at(const void *requests, int i, bool fortran);
int bytes_request_status(uintptr_t request, int *there, bytes_status *status); // 0: *there and *status are set

// Messages that begin and end. What may be called of it: bytes_can_begin(); large: by counts of MPI_Count.
typedef struct bytes_message {
    const void *buffer;
    MPI_Count count;
    uintptr_t type;
    int peer, tag;
    uintptr_t comm;
} bytes_message;
bool bytes_can_begin(bool large);
int bytes_begin(bool sends, bool large, const bytes_message *m, void *request);
int bytes_end(void *request, void *status);
