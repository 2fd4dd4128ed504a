// For whom a neighbourhood collective waits, where all neighbours are one other process.
#pragma once

#include "abi.h"

// Before such a call that waits. Thread: any.
void neighbors_meet(uintptr_t comm);
