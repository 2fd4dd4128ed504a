// The kinds of parameters in calls.txt. C_: as C declares them; L_: in the form for large counts; F_: a Fortran
// parameter (always a pointer, word_f) as the value that the expressions for bytes want.
#pragma once

#include "bytes.h"
#include "exchange.h"
#include "neighbors.h"
#include "peers.h"
#include "polls.h"
#include "ranks.h"
#include "requests.h"
#include "windows.h"

#define C_in(word)     const void *word
#define C_out(word)    void *word
#define C_count(word)  int word
#define C_counts(word) const int *word
#define C_large(word)  MPI_Count word // in every form of the call
#define C_displs(word) const int *word
#define C_unit(word)   int word
#define C_type(word)   MPI_Datatype word
#define C_types(word)  const MPI_Datatype *word
#define C_int(word)    int word
#define C_int_p(word)  int *word
#define C_ints(word)   const int *word
#if (defined MPICH_NUMVERSION && MPICH_NUMVERSION < 40100000) || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION < 6)
#define C_parts(word) int *word // these lack a const
#else
#define C_parts(word) const int *word
#endif
#define C_aint(word)     MPI_Aint word
#define C_aints(word)    const MPI_Aint *word
#define C_offset(word)   MPI_Offset word
#define C_comm(word)     MPI_Comm word
#define C_comm_p(word)   MPI_Comm *word
#define C_group(word)    MPI_Group word
#define C_info(word)     MPI_Info word
#define C_infos(word)    const MPI_Info *word
#define C_op(word)       MPI_Op word
#define C_win(word)      MPI_Win word
#define C_win_p(word)    MPI_Win *word
#define C_file(word)     MPI_File word
#define C_file_p(word)   MPI_File *word
#define C_message(word)  MPI_Message *word
#define C_request(word)  MPI_Request *word
#define C_made(word)     MPI_Request word // a request itself
#define C_requests(word) MPI_Request *word
#define C_status(word)   MPI_Status *word
#define C_given(word)    MPI_Status *word // a status that is looked at
#define C_statuses(word) MPI_Status *word
#define C_text(word)     const char *word
#define C_texts(word)    char **word
#define C_argvs(word)    char ***word
#define C_argc(word)     int *word
#define C_argv(word)     char ***word
#define C_query(word)    MPI_Grequest_query_function *word
#define C_free(word)     MPI_Grequest_free_function *word
#define C_cancel(word)   MPI_Grequest_cancel_function *word

#define L_count(word)  MPI_Count word
#define L_counts(word) const MPI_Count *word
#define L_displs(word) const MPI_Aint *word
#define L_unit(word)   MPI_Aint word

#define F_in(word)     const void *word = word##_f;
#define F_out(word)    const void *word = word##_f;
#define F_count(word)  int word = *(const int *)word##_f;
#define F_counts(word) const int *word = word##_f;
#define F_large(word)  MPI_Count word = *(const MPI_Count *)word##_f;
#define F_type(word)   uintptr_t word = bytes_type_from_fortran(*(const int *)word##_f);
#define F_types(word)  const void *word = word##_f;
#define F_int(word)    int word = *(const int *)word##_f;
#define F_int_p(word)  const int *word = word##_f;
#define F_comm(word)   uintptr_t word = bytes_comm_from_fortran(*(const int *)word##_f);
#define F_group(word)  uintptr_t word = ranks_group_from_fortran(*(const int *)word##_f);
#define F_win(word)    uintptr_t word = ranks_window_from_fortran(*(const int *)word##_f);
#define F_handle_p(word, handle)                                                                                       \
    uintptr_t word##_c = handle;                                                                                       \
    const void *word = abi_here()->converts ? (const void *)&word##_c : word##_f;
#define F_comm_p(word)   F_handle_p(word, bytes_comm_from_fortran(*(const int *)word##_f))
#define F_win_p(word)    F_handle_p(word, ranks_window_from_fortran(*(const int *)word##_f))
#define F_request(word)  const void *word = word##_f;
#define F_requests(word) const void *word = word##_f;
#define F_given(word)    void *word = word##_f;

// Vocabulary of the expressions; `fortran`: the parameters are Fortran's.
#define to(rank)            bytes_to(rank)
#define is_root(root, comm) bytes_is_root(root, (uintptr_t)(comm))
#define to_root(root)       bytes_to_root(root)
#define in_place(buffer)    bytes_in_place(buffer, fortran)
#define rank(comm)          bytes_rank((uintptr_t)(comm))
#define members(comm)       bytes_members((uintptr_t)(comm))
#define peers(comm)         bytes_peers((uintptr_t)(comm))
#define neighbors(comm)     bytes_neighbors((uintptr_t)(comm))
#define size(count, type)   bytes_size((int64_t)(count), (uintptr_t)(type))
#define sum(counts, n)      _Generic((counts), const int * : bytes_sum_int, const MPI_Count * : bytes_sum_count)(counts, n)
#define sizes(counts, types, n)                                                                                        \
    _Generic((counts), const int * : bytes_sizes_int, const MPI_Count * : bytes_sizes_count)(counts, types, n, fortran)
#define given(status)             bytes_status_given(status, &own_status, fortran)
#define arrived(status)           bytes_arrived(given(status), fortran)
#define sent(rank, comm, bytes)   (to(rank) ? peers_sends(ranks_of_comm(rank, (uintptr_t)(comm)), bytes) : 0)
#define posted(rank, comm, bytes) (to(rank) ? peers_posts(ranks_of_comm(rank, (uintptr_t)(comm)), bytes) : 0)
#define posted_as(request, rank, comm, bytes)                                                                          \
    (to(rank) ? requests_post(request, fortran, ranks_of_comm(rank, (uintptr_t)(comm)), bytes)                         \
              : requests_nobody(request, fortran, false))
#define planned(rank, comm, bytes)                                                                                     \
    (to(rank) ? requests_plan(ranks_of_comm(rank, (uintptr_t)(comm)), bytes) : requests_plan_nobody())
#define planned_parts(rank, comm, bytes)                                                                               \
    (to(rank) ? requests_plan_parts(ranks_of_comm(rank, (uintptr_t)(comm)), bytes) : requests_plan_nobody())
#define touched(rank, win, puts) windows_touches(ranks_of_window(rank, (uintptr_t)(win)), (uintptr_t)(win), puts)
#define put(rank, win, bytes)    (to(rank) ? peers_posts(touched(rank, win, true), bytes) : 0)
#define got(rank, win, bytes)    (to(rank) ? peers_gets(touched(rank, win, false), bytes) : 0)
#define received(rank, comm, bytes, status)                                                                            \
    (to(rank) ? peers_receives(ranks_of_comm(ranks_source(status, fortran), (uintptr_t)(comm)), bytes) : 0)
#define probed(rank, comm, status)                                                                                     \
    (to(rank) ? peers_awaits(ranks_of_comm(ranks_source(status, fortran), (uintptr_t)(comm)), true) : 0)
#define exchanged(dest, source, comm, bytes, status)                                                                   \
    peers_exchanges(to(dest) ? ranks_of_comm(dest, (uintptr_t)(comm)) : PEERS_NOBODY, bytes,                           \
                    to(source) ? ranks_of_comm(ranks_source(status, fortran), (uintptr_t)(comm)) : PEERS_NOBODY)
#define exchange(buf, count, type, dest, sendtag, recvbuf, recvcount, recvtype, source, recvtag, comm, status)         \
    exchange_run(&(exchange_call){{buf, count, (uintptr_t)(type), dest, sendtag, (uintptr_t)(comm)},                   \
                                  {recvbuf, recvcount, (uintptr_t)(recvtype), source, recvtag, (uintptr_t)(comm)},     \
                                  sizeof(count) > sizeof(int)},                                                        \
                 given(status), fortran, &returned)
#define expected_as(request, rank, comm, lasts)                                                                        \
    (to(rank) ? requests_expect(request, fortran, rank, (uintptr_t)(comm), lasts)                                      \
              : requests_nobody(request, fortran, lasts))
#define expected(request, rank, comm)       expected_as(request, rank, comm, false)
#define expected_often(request, rank, comm) expected_as(request, rank, comm, true)
#define made_as(request, bytes)             requests_other(request, fortran, bytes)
#define keep(request, bytes)                requests_keep(request, fortran, bytes)
#define started_bytes(requests, n)          requests_started(requests, n, fortran)
#define forget(request)                     requests_forget(request, fortran)
#define wait_all(requests, n)               requests_wait_all(requests, n, fortran)
#define wait_any(requests, n)               requests_wait_any(requests, n, fortran)
#define asked(found)                        polls_answered(*(found) != 0)
#define remember(requests, n)               requests_remember(requests, n, fortran)
#define completed(requests)                 requests_completed(requests, fortran)
#define tested(found, requests)             ((*(found) != 0 ? completed(requests) : 0) + asked(found))
#define forget_comm(comm)                   ranks_forget(comm, false)
#define forget_win(win)                     (windows_forget(win), ranks_forget(win, true))
#define access_began(group, win)            windows_access_began((uintptr_t)(group), (uintptr_t)(win))
#define access_ended(win)                   windows_access_ended((uintptr_t)(win))
#define exposed(group, win)                 windows_exposed((uintptr_t)(group), (uintptr_t)(win))
#define exposure_ended(win)                 windows_exposure_ended((uintptr_t)(win))
#define fenced(win)                         windows_fenced((uintptr_t)(win))
#define locked(win)                         windows_locked((uintptr_t)(win))
#define target_done(rank, win, unlocks)                                                                                \
    (to(rank) ? windows_target_done(ranks_of_window(rank, (uintptr_t)(win)), (uintptr_t)(win), unlocks) : 0)
#define unlocked(rank, win)  target_done(rank, win, true)
#define flushed(rank, win)   target_done(rank, win, false)
#define all_done(win)        windows_all_done((uintptr_t)(win))
#define meet_neighbors(comm) neighbors_meet((uintptr_t)(comm))
