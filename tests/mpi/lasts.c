// For whom a wait lasts, which is known beforehand: in each part one of four ranks waits in calls of one kind, two others send to
// it one after the other, and the last of them only when both have, and some time later. Writes for each rank for whom it
// waits: "RANK receives" (it waits for a message of that one) or "RANK sends" (until that one takes what was sent), or
// nothing, into the file DIRECTORY/lasts.RANK. usage: lasts DIRECTORY FIRST   FIRST: number of the part in which rank 0 waits.
//
// All but what is looked at is done by polling: that is no wait.
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RANKS = 4, ROUNDS = 5, LATER_MS = 25, MESSAGE = 1, TOKEN = 2, MUCH = 1 << 20 };

// Who is who in a part.
typedef struct roles {
    int waits, first, second, last;
} roles;

static int rank;
static char out[MUCH], in[MUCH];
static MPI_Comm other;
static MPI_Win window, pair;               // pair: of the one that waits and the last one
static bool receives[RANKS], sends[RANKS]; // what is expected of this one

static void done(MPI_Request *r)
{
    for (int flag = 0; !flag;)
        MPI_Test(r, &flag, MPI_STATUS_IGNORE);
}

static void send_to(int to, int tag, MPI_Comm comm)
{
    MPI_Request r;
    MPI_Isend(out, 1, MPI_CHAR, to, tag, comm, &r);
    done(&r);
}

static void take_from(int from, int tag)
{
    MPI_Request r;
    MPI_Irecv(in, MUCH, MPI_CHAR, from, tag, MPI_COMM_WORLD, &r);
    done(&r);
}

static void receive(int from, MPI_Comm comm, MPI_Request *r)
{
    MPI_Irecv(in, 1, MPI_CHAR, from, MESSAGE, comm, r);
}

// ---- how one waits ----

static void all_of(const roles *of)
{
    MPI_Request r[5] = {MPI_REQUEST_NULL};
    receive(of->last, MPI_COMM_WORLD, &r[1]);
    receive(MPI_PROC_NULL, MPI_COMM_WORLD, &r[2]);
    receive(of->first, MPI_COMM_WORLD, &r[3]);
    receive(of->second, MPI_COMM_WORLD, &r[4]);
    MPI_Waitall(5, r, MPI_STATUSES_IGNORE);
}

// From anyone in another communicator, where ranks are turned round.
static void all_of_anyone(const roles *of)
{
    MPI_Request r[3];
    receive(MPI_ANY_SOURCE, other, &r[0]);
    receive(of->first, MPI_COMM_WORLD, &r[1]);
    receive(of->second, MPI_COMM_WORLD, &r[2]);
    MPI_Status statuses[3];
    MPI_Waitall(3, r, statuses);
    if (statuses[0].MPI_SOURCE != RANKS - 1 - of->last || statuses[1].MPI_SOURCE != of->first) abort();
}

static void any_of(const roles *of)
{
    MPI_Request r[3];
    receive(of->last, MPI_COMM_WORLD, &r[0]);
    receive(of->second, MPI_COMM_WORLD, &r[1]);
    receive(of->first, MPI_COMM_WORLD, &r[2]);
    for (int i = 0, which; i < 3; i++)
        MPI_Waitany(3, r, &which, MPI_STATUS_IGNORE);
}

static void some_of(const roles *of)
{
    MPI_Request r[3];
    int which[3];
    receive(of->first, MPI_COMM_WORLD, &r[0]);
    receive(of->last, MPI_COMM_WORLD, &r[1]);
    receive(of->second, MPI_COMM_WORLD, &r[2]);
    for (int left = 3, some; left > 0; left -= some)
        MPI_Waitsome(3, r, &some, which, MPI_STATUSES_IGNORE);
}

static void each(const roles *of)
{
    MPI_Request r[3];
    receive(of->first, MPI_COMM_WORLD, &r[0]);
    receive(of->second, MPI_COMM_WORLD, &r[1]);
    receive(of->last, MPI_COMM_WORLD, &r[2]);
    done(&r[0]);
    done(&r[1]);
    MPI_Wait(&r[2], MPI_STATUS_IGNORE);
}

static void exchange(const roles *of)
{
    take_from(of->first, MESSAGE);
    take_from(of->second, MESSAGE);
    MPI_Sendrecv(out, 1, MPI_CHAR, of->first, TOKEN, in, 1, MPI_CHAR, of->last, MESSAGE, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

// Much, which its receiver must be there for: the message comes last,
static void exchange_much(const roles *of)
{
    take_from(of->first, MESSAGE);
    take_from(of->second, MESSAGE);
    MPI_Sendrecv(out, MUCH, MPI_CHAR, of->first, TOKEN, in, 1, MPI_CHAR, of->last, MESSAGE, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

// or what is sent is taken last.
static void exchange_taken(const roles *of)
{
    MPI_Status status;
    take_from(of->second, MESSAGE);
    if (MPI_Sendrecv(out, MUCH, MPI_CHAR, of->last, MESSAGE, in, 1, MPI_CHAR, of->first, MESSAGE, MPI_COMM_WORLD,
                     &status) != MPI_SUCCESS ||
        status.MPI_SOURCE != of->first || status.MPI_TAG != MESSAGE)
        abort();
}

// ---- windows, of two alone ----

static MPI_Group group_of(int one)
{
    MPI_Group all, group;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &one, &group);
    MPI_Group_free(&all);
    return group;
}

static void put_to(int one)
{
    MPI_Group group = group_of(one);
    MPI_Win_start(group, 0, window);
    MPI_Put(out, 1, MPI_CHAR, one, 0, 1, MPI_CHAR, window);
    MPI_Win_complete(window);
    MPI_Group_free(&group);
}

// The target is late: it opens its window last.
static void window_access(const roles *of)
{
    take_from(of->first, MESSAGE);
    take_from(of->second, MESSAGE);
    put_to(of->last);
}

static void let_access(int one)
{
    MPI_Group group = group_of(one);
    MPI_Win_post(group, 0, window);
    for (int flag = 0; !flag;)
        MPI_Win_test(window, &flag);
    MPI_Group_free(&group);
}

// The origin is late.
static void expose(const roles *of)
{
    take_from(of->first, MESSAGE);
    take_from(of->second, MESSAGE);
    MPI_Group group = group_of(of->last);
    MPI_Win_post(group, 0, window);
    MPI_Win_wait(window);
    MPI_Group_free(&group);
}

// What it sends is taken last.
static void until_taken(const roles *of)
{
    MPI_Request r[3];
    MPI_Issend(out, 1, MPI_CHAR, of->last, MESSAGE, MPI_COMM_WORLD, &r[0]);
    receive(of->first, MPI_COMM_WORLD, &r[1]);
    receive(of->second, MPI_COMM_WORLD, &r[2]);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
}

static void take_both(const roles *of)
{
    take_from(of->first, MESSAGE);
    take_from(of->second, MESSAGE);
}

static void unlock_put(const roles *of)
{
    take_both(of);
    MPI_Win_lock(MPI_LOCK_SHARED, of->last, 0, window);
    MPI_Put(out, 1, MPI_CHAR, of->last, 0, 1, MPI_CHAR, window);
    MPI_Win_unlock(of->last, window);
}

static void flush_got(const roles *of)
{
    take_both(of);
    MPI_Win_lock_all(0, window);
    MPI_Get(in, 1, MPI_CHAR, of->last, 0, 1, MPI_CHAR, window);
    MPI_Win_flush(of->last, window);
    MPI_Win_unlock_all(window); // there is nothing left to wait for
}

static void flush_several(const roles *of)
{
    take_both(of);
    MPI_Win_lock_all(0, window);
    MPI_Put(out, 1, MPI_CHAR, of->first, 0, 1, MPI_CHAR, window);
    MPI_Put(out, 1, MPI_CHAR, of->last, 0, 1, MPI_CHAR, window);
    MPI_Win_flush_all(window);
    MPI_Win_unlock_all(window);
}

static void fence_of_two(const roles *of)
{
    take_both(of);
    MPI_Win_fence(0, pair);
}

static void pair_begin(const roles *of)
{
    int members[] = {of->waits, of->last};
    char *shown;
    MPI_Group everybody, two;
    MPI_Comm both;
    MPI_Comm_group(MPI_COMM_WORLD, &everybody);
    MPI_Group_incl(everybody, 2, members, &two);
    MPI_Comm_create_group(MPI_COMM_WORLD, two, 0, &both);
    MPI_Win_allocate(1, 1, MPI_INFO_NULL, both, &shown, &pair);
    MPI_Comm_free(&both);
    MPI_Group_free(&two);
    MPI_Group_free(&everybody);
}

// With one that has no peer nobody can tell.
static void with_all(const roles *of)
{
    MPI_Request r[4];
    receive(of->first, MPI_COMM_WORLD, &r[0]);
    receive(of->last, MPI_COMM_WORLD, &r[1]);
    MPI_Ibarrier(MPI_COMM_WORLD, &r[2]);
    receive(of->second, MPI_COMM_WORLD, &r[3]);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
}

// One that is nobody's is there at once: the call may not be held until the other comes. No wait of anybody's.
static void any_of_nobody(void)
{
    MPI_Request r[2], sent;
    int which = -1;
    MPI_Irecv(in, 1, MPI_CHAR, MPI_ANY_SOURCE, TOKEN, MPI_COMM_SELF, &r[0]);
    MPI_Irecv(in + 1, 1, MPI_CHAR, MPI_PROC_NULL, TOKEN, MPI_COMM_SELF, &r[1]);
    MPI_Waitany(2, r, &which, MPI_STATUS_IGNORE);
    if (which != 1) abort();
    MPI_Isend(out, 1, MPI_CHAR, 0, TOKEN, MPI_COMM_SELF, &sent);
    done(&sent);
    done(&r[0]);
}

// ---- requests that nobody knows ----

static void later(void)
{
    const struct timespec t = {0, LATER_MS * 1000000L};
    nanosleep(&t, NULL);
}

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_cancelled(status, 0);
    return MPI_Status_set_elements(status, MPI_BYTE, 0);
}

static int release(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

static void *completes(void *request)
{
    later();
    MPI_Grequest_complete(*(MPI_Request *)request);
    return NULL;
}

// Leaves a handle that was a receive's, for another one.
static void leave_handle(void)
{
    MPI_Request r, sent;
    MPI_Irecv(in, 1, MPI_CHAR, 0, TOKEN, MPI_COMM_SELF, &r);
    MPI_Isend(out, 1, MPI_CHAR, 0, TOKEN, MPI_COMM_SELF, &sent);
    done(&sent);
    done(&r);
}

// The program's own request waits for nobody that is known,
static void own_request(void)
{
    MPI_Request r, same;
    pthread_t thread;
    leave_handle();
    MPI_Grequest_start(query, release, cancel, NULL, &r);
    same = r;
    if (pthread_create(&thread, NULL, completes, &same)) abort();
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
}

// nor does one that was made behind the library's back. Two ranks wait for each other in turn.
static void unseen_request(void)
{
    MPI_Request r;
    for (int turn = 0; turn < 2; turn++) {
        if (rank % 2 == turn) {
            leave_handle();
            PMPI_Irecv(in, 1, MPI_CHAR, rank ^ 1, TOKEN, MPI_COMM_WORLD, &r);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        } else {
            later();
            send_to(rank ^ 1, TOKEN, MPI_COMM_WORLD);
        }
    }
}

static const struct part {
    void (*wait)(const roles *of);
    const char *known; // for what of the last one it waits; NULL: that is not known
} parts[] = {
    {all_of, "receives"},        {all_of_anyone, "receives"}, {any_of, "receives"},     {some_of, "receives"},
    {each, "receives"},          {exchange, "receives"},      {until_taken, "sends"},   {with_all, NULL},
    {exchange_much, "receives"}, {exchange_taken, "sends"},   {window_access, "sends"}, {expose, "receives"},
    {unlock_put, "sends"},       {flush_got, "receives"},     {flush_several, NULL},    {fence_of_two, "receives"}};
enum { PARTS = sizeof parts / sizeof *parts };

// ---- what the others do ----

static void help_last(const struct part *part, const roles *of)
{
    if (part->wait == unlock_put || part->wait == flush_got || part->wait == flush_several)
        ; // nothing is asked of it
    else if (part->wait == fence_of_two)
        MPI_Win_fence(0, pair);
    else if (part->wait == until_taken || part->wait == exchange_taken)
        take_from(of->waits, MESSAGE);
    else if (part->wait == all_of_anyone)
        send_to(RANKS - 1 - of->waits, MESSAGE, other);
    else if (part->wait == window_access)
        let_access(of->waits);
    else if (part->wait == expose)
        put_to(of->waits);
    else
        send_to(of->waits, MESSAGE, MPI_COMM_WORLD);
    sends[of->waits] |= part->wait == expose; // it may have waited, too
    receives[of->waits] |= part->wait == fence_of_two;
}

static void help(const struct part *part, const roles *of)
{
    MPI_Request r = MPI_REQUEST_NULL;
    if (part->wait == with_all) MPI_Ibarrier(MPI_COMM_WORLD, &r);
    if (rank == of->first) {
        send_to(of->waits, MESSAGE, MPI_COMM_WORLD);
        send_to(of->second, TOKEN, MPI_COMM_WORLD);
        if (part->wait == exchange || part->wait == exchange_much) take_from(of->waits, TOKEN);
        if (part->wait == exchange_much)
            send_to(of->last, TOKEN, MPI_COMM_WORLD); // it is taken, however long that took
    } else if (rank == of->second) {
        take_from(of->first, TOKEN);
        send_to(of->waits, MESSAGE, MPI_COMM_WORLD);
        send_to(of->last, TOKEN, MPI_COMM_WORLD);
    } else {
        take_from(of->second, TOKEN);
        if (part->wait == exchange_much) take_from(of->first, TOKEN);
        later();
        help_last(part, of);
    }
    done(&r);
}

static void write_expected(const char *directory)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/lasts.%d", directory, rank);
    FILE *f = fopen(path, "w");
    if (!f) abort();
    for (int i = 0; i < RANKS; i++)
        for (int way = 0; way < 2; way++)
            if ((way ? sends : receives)[i]) fprintf(f, "%d %s\n", i, way ? "sends" : "receives");
    if (fclose(f)) abort();
}

int main(int argc, char **argv)
{
    int size;
    int threads;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &threads);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 3 || size != RANKS || atoi(argv[2]) < 0 || atoi(argv[2]) + RANKS > PARTS) MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &other);
    char *shown;
    MPI_Win_allocate(1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &shown, &window);
    any_of_nobody();
    unseen_request();
    if (threads == MPI_THREAD_MULTIPLE) own_request();
    for (int i = 0; i < RANKS; i++) {
        const struct part *part = &parts[atoi(argv[2]) + i];
        const roles of = {i, (i + 1) % RANKS, (i + 3) % RANKS, (i + 2) % RANKS};
        bool pairs = part->wait == fence_of_two && (rank == of.waits || rank == of.last);
        if (pairs) pair_begin(&of);
        for (int k = 0; k < ROUNDS; k++) {
            if (rank == i)
                part->wait(&of);
            else
                help(part, &of);
        }
        if (rank == i && part->known) (part->known[0] == 'r' ? receives : sends)[of.last] = true;
        if (pairs) MPI_Win_free(&pair);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    write_expected(argv[1]);
    MPI_Win_free(&window);
    MPI_Comm_free(&other);
    MPI_Finalize();
    return 0;
}
