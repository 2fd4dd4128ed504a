// For whom calls on windows wait, where that is one process alone: an access epoch to one target (MPI_Win_start), an exposure
// epoch to one origin (MPI_Win_post), a fence of two; an unlock or flush lasts until what was put is there, or what was asked for
// is here. Who holds a lock, for which one waits in MPI_Win_lock, MPI does not tell.
#pragma once

#include "abi.h"

// Told by the calls, once they are done: they tell peers.h for whom they waited. Return 0. Thread: any.
int64_t windows_access_began(uintptr_t group, uintptr_t window);
int64_t windows_access_ended(uintptr_t window);
int64_t windows_exposed(uintptr_t group, uintptr_t window);
int64_t windows_exposure_ended(uintptr_t window);
int64_t windows_fenced(uintptr_t window);
int64_t windows_touches(int64_t world, uintptr_t window, bool puts); // returns world
int64_t windows_locked(uintptr_t window);
int64_t windows_target_done(int64_t world, uintptr_t window, bool unlocks); // what was begun with that one
int64_t windows_all_done(uintptr_t window);                                 // with all

void windows_forget(const void *window); // before it is freed; as MPI keeps it
