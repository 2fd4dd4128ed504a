// MPI_Sendrecv of much, to one and from another: MPI says only when both are done. As MPI defines it to do what a send and a
// receive would that are under way at the same time, it is done so here, and the one that ends last is whom the call waited
// for.
#pragma once

#include "bytes.h"

typedef struct exchange_call {
    bytes_message send, receive;
    bool large; // counts are MPI_Count
} exchange_call;

// Was it done? Then *returned is what MPI said, and peers.h knows for whom it waited. False, and nothing was done: who is waited
// for is known otherwise, or may not be found out (NETPROF_MPI_WAITS=0). status: one that is there. Thread: any.
bool exchange_run(const exchange_call *x, void *status, bool fortran, int *returned);
