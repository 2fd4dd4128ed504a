#include "windows.h"

#include "bytes.h"
#include "peers.h"
#include "ranks.h"

#include <pthread.h>
#include <stdlib.h>

// The one of an epoch; WINDOWS_NOT_ONE: none is open, or to several; WINDOWS_NOBODY: of `touched`, none yet.
enum { WINDOWS_NOT_ONE = -3, WINDOWS_NOBODY = -4 };

typedef struct windows_epochs {
    struct windows_epochs *next;
    uintptr_t window;
    int64_t target, origin; // ranks of MPI_COMM_WORLD
    int64_t touched;        // whom puts and gets went to that may be under way
    bool puts;              // not only gets
    int locks;              // that are open
} windows_epochs;

static windows_epochs *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int64_t windows_one_of(uintptr_t group)
{
    int64_t world;
    return ranks_is_one(group, &world) ? world : WINDOWS_NOT_ONE;
}

static windows_epochs **windows_link(uintptr_t window)
{
    windows_epochs **link = &all;
    while (*link && (*link)->window != window)
        link = &(*link)->next;
    return link;
}

// Programs have few windows. NULL: out of memory.
static windows_epochs *windows_find(uintptr_t window)
{
    windows_epochs **link = windows_link(window);
    if (*link || !(*link = malloc(sizeof **link))) return *link;
    **link = (windows_epochs){
        .window = window, .target = WINDOWS_NOT_ONE, .origin = WINDOWS_NOT_ONE, .touched = WINDOWS_NOBODY};
    return *link;
}

// Puts `one` in the place of the one that it returns.
static int64_t windows_set(uintptr_t window, bool exposure, int64_t one)
{
    int64_t before = WINDOWS_NOT_ONE;
    pthread_mutex_lock(&lock);
    windows_epochs *e = windows_find(bytes_handle_value(window));
    if (e) {
        int64_t *at = exposure ? &e->origin : &e->target;
        before = *at;
        *at = one;
    }
    pthread_mutex_unlock(&lock);
    return before;
}

static int64_t windows_tell(int64_t one, bool for_its_message)
{
    return one == WINDOWS_NOT_ONE ? 0 : peers_awaits(one, for_its_message);
}

int64_t windows_access_began(uintptr_t group, uintptr_t window)
{
    int64_t target = windows_one_of(group);
    windows_set(window, false, target);
    return windows_tell(target, false);
}

int64_t windows_access_ended(uintptr_t window)
{
    return windows_tell(windows_set(window, false, WINDOWS_NOT_ONE), false);
}

int64_t windows_exposed(uintptr_t group, uintptr_t window)
{
    windows_set(window, true, windows_one_of(group));
    return 0;
}

int64_t windows_exposure_ended(uintptr_t window)
{
    return windows_tell(windows_set(window, true, WINDOWS_NOT_ONE), true);
}

// ---- fences, locks ----

static void windows_settle(windows_epochs *e)
{
    e->touched = WINDOWS_NOBODY;
    e->puts = false;
}

int64_t windows_fenced(uintptr_t window)
{
    int64_t other;
    pthread_mutex_lock(&lock);
    windows_epochs *e = *windows_link(bytes_handle_value(window));
    if (e) windows_settle(e);
    pthread_mutex_unlock(&lock);
    return ranks_other_of_two(window, &other) ? peers_awaits(other, true) : 0;
}

int64_t windows_touches(int64_t world, uintptr_t window, bool puts)
{
    pthread_mutex_lock(&lock);
    windows_epochs *e = windows_find(bytes_handle_value(window));
    if (e) {
        e->touched = e->touched == WINDOWS_NOBODY || e->touched == world ? world : WINDOWS_NOT_ONE;
        e->puts |= puts;
    }
    pthread_mutex_unlock(&lock);
    return world;
}

int64_t windows_locked(uintptr_t window)
{
    pthread_mutex_lock(&lock);
    windows_epochs *e = windows_find(bytes_handle_value(window));
    if (e) e->locks++;
    pthread_mutex_unlock(&lock);
    return 0;
}

// Without puts and gets an unlock only tells the target: that is nobody's wait.
int64_t windows_target_done(int64_t world, uintptr_t window, bool unlocks)
{
    pthread_mutex_lock(&lock);
    windows_epochs *e = *windows_link(bytes_handle_value(window));
    bool some = e && (e->touched == world || e->touched == WINDOWS_NOT_ONE), only_gets = e && !e->puts;
    if (e && unlocks && e->locks) e->locks--;
    if (e && (e->touched == world || (unlocks && !e->locks))) windows_settle(e);
    pthread_mutex_unlock(&lock);
    return some ? peers_awaits(world, only_gets) : 0;
}

int64_t windows_all_done(uintptr_t window)
{
    pthread_mutex_lock(&lock);
    windows_epochs *e = *windows_link(bytes_handle_value(window));
    int64_t one = e && e->touched != WINDOWS_NOBODY ? e->touched : WINDOWS_NOT_ONE;
    bool only_gets = e && !e->puts;
    if (e) windows_settle(e);
    pthread_mutex_unlock(&lock);
    return windows_tell(one, only_gets);
}

void windows_forget(const void *window)
{
    uintptr_t handle = abi_here()->handle_bytes == 4 ? *(const uint32_t *)window : *(const uintptr_t *)window;
    pthread_mutex_lock(&lock);
    windows_epochs **link = windows_link(handle), *gone = *link;
    if (gone) *link = gone->next;
    pthread_mutex_unlock(&lock);
    free(gone);
}
