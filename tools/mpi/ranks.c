#include "ranks.h"
#include "bytes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef int ranks_group_of(uintptr_t, uintptr_t *);
typedef int ranks_group_size(uintptr_t, int *);
typedef int ranks_translate(uintptr_t, int, const int *, uintptr_t, int *);
typedef int ranks_group_free(uintptr_t *);

// A communicator or window whose ranks were asked for. MPI is asked once for all of them: the answer is a walk over tables
// that other processes may share.
typedef struct ranks_known {
    struct ranks_known *next;
    uintptr_t handle;
    bool window;
    int count;
    int world[];
} ranks_known;

enum { RANKS_SLOTS = 256, RANKS_MOST = 1 << 20 }; // 4 MiB: beyond, all are forgotten and asked for again

static ranks_known *slots[RANKS_SLOTS];
static size_t kept;
static _Atomic(uint64_t) comms_freed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uintptr_t ranks_handle(const void *written)
{
    return abi_here()->handle_bytes == 4 ? *(const uint32_t *)written : *(const uintptr_t *)written;
}

// ---- asking MPI ----

static bool ranks_group(uintptr_t handle, bool window, uintptr_t *group)
{
    enum { OF_WINDOW, OF_COMM, OF_REMOTE, KINDS };
    static const char *const names[KINDS] = {"PMPI_Win_get_group", "PMPI_Comm_group", "PMPI_Comm_remote_group"};
    static _Atomic(abi_function) asked[KINDS], tested;
    int between = 0;
    if (!window) {
        int (*test)(uintptr_t, int *) = (int (*)(uintptr_t, int *))abi_find_once(&tested, "PMPI_Comm_test_inter");
        if (!test || test(handle, &between)) return false;
    }
    int kind = window ? OF_WINDOW : between ? OF_REMOTE : OF_COMM;
    ranks_group_of *ask = (ranks_group_of *)abi_find_once(&asked[kind], names[kind]);
    *group = 0;
    if (!ask || ask(handle, group)) return false;
    *group = ranks_handle(group);
    return true;
}

static bool ranks_is_initialized(void)
{
    static _Atomic(abi_function) known;
    int (*ask)(int *) = (int (*)(int *))abi_find_once(&known, "PMPI_Initialized"), yes = 0;
    return ask && !ask(&yes) && yes;
}

static int ranks_count(uintptr_t group)
{
    static _Atomic(abi_function) known;
    ranks_group_size *ask = (ranks_group_size *)abi_find_once(&known, "PMPI_Group_size");
    int count = 0;
    return ask && !ask(group, &count) ? count : 0;
}

static void ranks_release(uintptr_t *group)
{
    static _Atomic(abi_function) known;
    ranks_group_free *release = (ranks_group_free *)abi_find_once(&known, "PMPI_Group_free");
    if (release) release(group);
}

static ranks_known *ranks_translate_all(uintptr_t group, uintptr_t world)
{
    static _Atomic(abi_function) known;
    ranks_translate *translate = (ranks_translate *)abi_find_once(&known, "PMPI_Group_translate_ranks");
    int count = ranks_count(group);
    if (!translate || count < 1) return NULL;
    ranks_known *k = malloc(sizeof *k + (size_t)count * sizeof *k->world);
    int *own = malloc((size_t)count * sizeof *own);
    if (k) k->count = count;
    for (int i = 0; own && i < count; i++)
        own[i] = i;
    if (!k || !own || translate(group, count, own, world, k->world)) {
        free(k);
        k = NULL;
    }
    free(own);
    return k;
}

static ranks_known *ranks_of_group(uintptr_t group)
{
    static _Atomic uintptr_t known;
    uintptr_t world;
    if (!ranks_is_initialized() || !ranks_group(bytes_constant(&known, &abi_here()->world), false, &world)) return NULL;
    ranks_known *k = ranks_translate_all(group, world);
    ranks_release(&world);
    return k;
}

static ranks_known *ranks_ask(uintptr_t handle, bool window)
{
    uintptr_t group;
    if (!ranks_is_initialized() || !ranks_group(handle, window, &group)) return NULL;
    ranks_known *k = ranks_of_group(group);
    ranks_release(&group);
    return k;
}

bool ranks_is_one(uintptr_t group, int64_t *world)
{
    if (ranks_count(group) != 1) return false;
    ranks_known *k = ranks_of_group(group);
    bool one = k != NULL;
    if (one) *world = k->world[0] >= 0 ? k->world[0] : RANKS_UNKNOWN;
    free(k);
    return one;
}

// ---- what is known ----

static ranks_known **ranks_link(uintptr_t handle, bool window)
{
    ranks_known **link = &slots[(handle * UINT64_C(0x9E3779B97F4A7C15)) >> 56];
    while (*link && ((*link)->handle != handle || (*link)->window != window))
        link = &(*link)->next;
    return link;
}

static void ranks_remove(ranks_known **link)
{
    ranks_known *gone = *link;
    *link = gone->next;
    kept -= (size_t)gone->count;
    free(gone);
}

static void ranks_remove_all(void)
{
    for (size_t i = 0; i < RANKS_SLOTS; i++)
        while (slots[i])
            ranks_remove(&slots[i]);
}

// With the lock held, and until it is given back. NULL: MPI does not tell.
static const ranks_known *ranks_known_of(uintptr_t handle, bool window)
{
    ranks_known **link = ranks_link(handle, window);
    if (!*link) {
        ranks_known *k = ranks_ask(handle, window);
        if (k && kept + (size_t)k->count > RANKS_MOST) ranks_remove_all();
        link = ranks_link(handle, window);
        if (k) {
            k->handle = handle;
            k->window = window;
            k->next = NULL;
            kept += (size_t)k->count;
            *link = k;
        }
    }
    return *link;
}

static int64_t ranks_look(int rank, uintptr_t handle, bool window)
{
    pthread_mutex_lock(&lock);
    const ranks_known *k = ranks_known_of(handle, window);
    int64_t world = k && rank >= 0 && rank < k->count && k->world[rank] >= 0 ? k->world[rank] : RANKS_UNKNOWN;
    pthread_mutex_unlock(&lock);
    return world;
}

int64_t ranks_of_comm(int rank, uintptr_t comm)
{
    static _Atomic uintptr_t world;
    uintptr_t here = bytes_constant(&world, &abi_here()->world);
    comm = bytes_handle_value(comm);
    return comm == here ? rank : ranks_look(rank, comm, false);
}

int64_t ranks_of_window(int rank, uintptr_t window)
{
    return ranks_look(rank, bytes_handle_value(window), true);
}

bool ranks_other_of_two(uintptr_t window, int64_t *world)
{
    static _Atomic uintptr_t all;
    int64_t own = bytes_rank(bytes_constant(&all, &abi_here()->world));
    pthread_mutex_lock(&lock);
    const ranks_known *k = ranks_known_of(bytes_handle_value(window), true);
    bool two = k && k->count == 2 && (k->world[0] == own) != (k->world[1] == own);
    if (two) *world = k->world[k->world[0] == own] >= 0 ? k->world[k->world[0] == own] : RANKS_UNKNOWN;
    pthread_mutex_unlock(&lock);
    return two;
}

void ranks_forget(const void *handle, bool window)
{
    if (!window) atomic_fetch_add_explicit(&comms_freed, 1, memory_order_relaxed);
    pthread_mutex_lock(&lock);
    ranks_known **link = ranks_link(ranks_handle(handle), window);
    if (*link) ranks_remove(link);
    pthread_mutex_unlock(&lock);
}

uint64_t ranks_comms_freed(void)
{
    return atomic_load_explicit(&comms_freed, memory_order_relaxed);
}

// ---- Fortran, statuses ----

uintptr_t ranks_window_from_fortran(int window)
{
    if (!abi_here()->converts) return (uint32_t)window;
    uintptr_t (*convert)(int) = (uintptr_t(*)(int))abi_find("PMPI_Win_f2c");
    return convert ? convert(window) : 0;
}

uintptr_t ranks_group_from_fortran(int group)
{
    if (!abi_here()->converts) return (uint32_t)group;
    uintptr_t (*convert)(int) = (uintptr_t(*)(int))abi_find("PMPI_Group_f2c");
    return convert ? convert(group) : 0;
}

int ranks_source(const void *status, bool fortran)
{
    bytes_status converted;
    if (fortran && !bytes_status_from_fortran(status, &converted)) return RANKS_UNKNOWN;
    return ((const int *)(fortran ? &converted : status))[abi_here()->source_at];
}
