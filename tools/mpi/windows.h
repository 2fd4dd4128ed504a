// For whom calls on windows wait, where that is one process alone: an access epoch to one target (MPI_Win_start), an exposure
// epoch to one origin (MPI_Win_post). A fence is for all; and who holds a lock, for which one waits, MPI does not tell.
#pragma once

#include "abi.h"

// Told by the calls, once they are done: they tell peers.h for whom they waited. Return 0. Thread: any.
int64_t windows_access_began(uintptr_t group, uintptr_t window);
int64_t windows_access_ended(uintptr_t window);
int64_t windows_exposed(uintptr_t group, uintptr_t window);
int64_t windows_exposure_ended(uintptr_t window);

void windows_forget(const void *window); // before it is freed; as MPI keeps it
