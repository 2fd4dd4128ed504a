// Ranks of any communicator or window as ranks of MPI_COMM_WORLD.
#pragma once

#include "abi.h"

enum { RANKS_UNKNOWN = -1 }; // no rank of MPI_COMM_WORLD: of another world, or none

// rank: of the group that is sent to, the remote one of an intercommunicator. Thread: any.
int64_t ranks_of_comm(int rank, uintptr_t comm);
int64_t ranks_of_window(int rank, uintptr_t window);

// Before it is freed: its handle may come back as another one's. In a call that may fail nothing is lost.
void ranks_forget(const void *handle, bool window); // as MPI keeps it
uint64_t ranks_comms_freed(void);                   // how many communicators were so far

// Has this group one member alone? Then *world is its rank in MPI_COMM_WORLD, or RANKS_UNKNOWN.
bool ranks_is_one(uintptr_t group, int64_t *world);
// Has this window two members? Then *world is the other one.
bool ranks_other_of_two(uintptr_t window, int64_t *world);

uintptr_t ranks_window_from_fortran(int window);
uintptr_t ranks_group_from_fortran(int group);
int ranks_source(const void *status, bool fortran); // of the message that it is about
