// Requests: whose message completes one, what starts with a persistent one, and for which of several a call waited.
//
// MPI gives handles again. What an entry says is of the newest request with its handle: whatever call makes a request tells of
// it here, and an entry has ended once a call has completed its request, so that one which was made behind our back (by a
// library that calls PMPI_ itself) is not taken for it. (Calls for any of very many, and MPI_Testall of them, are not followed
// so.) Thread rule: any.
#pragma once

#include "bytes.h"

// Told by the call that made the request, once it is there. They return the bytes that the call counts.
int64_t requests_post(const void *request, bool fortran, int64_t peer, int64_t bytes); // a send, which counts now
// lasts: it is persistent, and so is its handle.
int64_t requests_expect(const void *request, bool fortran, int source, uintptr_t comm, bool lasts);
int64_t requests_nobody(const void *request, bool fortran, bool lasts);   // MPI_PROC_NULL's
int64_t requests_other(const void *request, bool fortran, int64_t bytes); // that has no one peer

// Persistent requests of whatever kind: their bytes, and whom they send to, are known when they are made and counted whenever
// they start.
int64_t requests_plan(int64_t peer, int64_t bytes); // of what this thread keeps next: a send; bytes
int64_t requests_plan_nobody(void);                 // likewise; 0
// Likewise, in parts: who waits for it waits for its own threads as well, which make the parts ready.
int64_t requests_plan_parts(int64_t peer, int64_t bytes);
int64_t requests_keep(const void *request, bool fortran, int64_t bytes); // 0
int64_t requests_started(const void *requests, int n, bool fortran);
void requests_forget(const void *request, bool fortran);

// Around a call that may complete some: before, and after it when it completed any. Returns 0.
void requests_remember(const void *requests, int n, bool fortran);
int64_t requests_completed(const void *requests, bool fortran);

// Before a call that waits for all of them, or for any: tells peers.h for whom, where that can be seen. For all, it is the
// one that comes last, which is found by asking MPI of each in turn until it is there: the call that follows then finds all
// complete, and does with them whatever it does. For any, the first to come is no culprit: only where one peer is left is it
// he. What had come before the call was not waited for, and where a request is of another kind (a collective's) nobody can
// tell. NETPROF_MPI_WAITS=0: MPI is not asked, and nobody is told.
void requests_wait_all(const void *requests, int n, bool fortran);
void requests_wait_any(const void *requests, int n, bool fortran);

// May MPI be asked? The one of them that came last, of those that had not come when this was called, with its status; when it
// returns all are there. False: none was waited for, or MPI gave an error, which whatever waits for them will give again.
bool requests_may_ask(void);
bool requests_find_last(const void *requests, int n, bool fortran, uintptr_t *last, bytes_status *status);
