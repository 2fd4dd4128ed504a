// libnccl-profiler-netprof.so: what NCCL and RCCL load, for the interfaces v4 to v7.
//
// Callbacks of events (plugin_events.c) only stamp what happens into the pools of their communicator. A thread of this
// library's own, here, drains them, samples the network devices and writes the file. It lives from the first init to the
// last finalize, so that the library can be unloaded at any time after it.
#define _GNU_SOURCE
#include "plugin_chain.h"
#include "plugin_clock.h"
#include "plugin_drain.h"
#include "plugin_events.h"
#include "plugin_file.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

enum { DRAIN_EVERY_MS = 10, FLUSH_EVERY_MS = 1000 };

// Neither is taken by events. The first, of init and finalize, is held while the last finalize waits for the thread,
// which needs the second.
static pthread_mutex_t main_life = PTHREAD_MUTEX_INITIALIZER, main_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t main_wake;
static plugin_context *main_open[POOL_CONTEXTS];
static uint32_t main_open_count, main_serial;
static uint64_t main_uses; // of contexts, in the whole process
static plugin_chain *main_chain;
static pthread_t main_thread;
static bool main_running, main_ending;
static int main_level; // index in main_levels
static struct timespec main_control_time;

// ---- processes ----

#ifdef PLUGIN_SCRIPT
int plugin_getpid(void);
#else
static int plugin_getpid(void)
{
    return (int)getpid();
}
#endif

// A child of fork() has the pools but not the thread, the file is its parent's, and the lock may be held for ever.
static bool main_is_child(void)
{
    int pid = plugin_pid;
    return pid && plugin_getpid() != pid;
}

// ---- levels ----

static const struct {
    const char *name;
    int mask;
} main_levels[] = {{"off", 0},
                   {"coll", EVENT_COLL | EVENT_P2P},
                   {"proxy", EVENT_COLL | EVENT_P2P | EVENT_PROXY_OP},
                   {"step", EVENT_COLL | EVENT_P2P | EVENT_PROXY_OP | EVENT_PROXY_STEP | EVENT_NET},
                   {"all", EVENT_COLL | EVENT_P2P | EVENT_PROXY_OP | EVENT_PROXY_STEP | EVENT_NET | EVENT_KERNEL}};
enum { LEVELS = sizeof main_levels / sizeof *main_levels, LEVEL_PROXY = 2 };

static int main_level_of(const char *text, int otherwise)
{
    size_t length = text ? strcspn(text, " \t\r\n") : 0;
    for (int i = 0; i < LEVELS; i++)
        if (length == strlen(main_levels[i].name) && strncmp(text, main_levels[i].name, length) == 0) return i;
    return otherwise;
}

static void main_set_mask(const plugin_context *c)
{
    if (c->mask) __atomic_store_n(c->mask, main_levels[main_level].mask | c->chained_mask, __ATOMIC_RELAXED);
}

static void main_set_level(int level)
{
    if (level == main_level) return;
    main_level = level;
    for (uint32_t i = 0; i < main_open_count; i++)
        main_set_mask(main_open[i]);
}

// While it runs: any thread.
EXPORTED int netprof_nccl_level(const char *name)
{
    int level = main_level_of(name, -1);
    if (main_is_child()) return EINVAL;
    pthread_mutex_lock(&main_lock);
    if (level >= 0) main_set_level(level);
    pthread_mutex_unlock(&main_lock);
    return level >= 0 ? 0 : EINVAL;
}

// The file that NETPROF_NCCL_CONTROL names holds a level: read when it changes.
static void main_read_control(void)
{
    const char *path = getenv("NETPROF_NCCL_CONTROL");
    struct stat st;
    char text[32] = "";
    if (!path || !*path || stat(path, &st) || !S_ISREG(st.st_mode) ||
        memcmp(&st.st_mtim, &main_control_time, sizeof st.st_mtim) == 0)
        return;
    FILE *from = fopen(path, "re");
    if (!from) return;
    main_control_time = st.st_mtim;
    if (fgets(text, sizeof text, from)) main_set_level(main_level_of(text, main_level));
    fclose(from);
}

// ---- the thread ----

static void main_drain_all(bool last)
{
    for (uint32_t i = 0; i < main_open_count; i++)
        drain_context(main_open[i], last);
}

static void main_wait(void)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += DRAIN_EVERY_MS * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&main_wake, &main_lock, &until);
}

// Holds the lock except while it waits.
static void *main_work(void *unused)
{
    int64_t interval = file_sample_interval(), now = plugin_monotonic_ns(), sample = now + interval, flush = now;
    (void)unused;
    pthread_mutex_lock(&main_lock);
    // However short the life of the communicators: two, and these of all counters, as whether ports are up is one of the slow.
    if (interval) file_sample(true);
    while (!main_ending) {
        now = plugin_monotonic_ns();
        main_drain_all(false);
        if (interval && now >= sample) {
            file_sample(false);
            sample = now - (now - sample) % interval + interval;
        }
        if (now >= flush) {
            main_read_control();
            file_flush();
            flush = now + FLUSH_EVERY_MS * INT64_C(1000000);
        }
        main_wait();
    }
    if (interval) file_sample(true);
    pthread_mutex_unlock(&main_lock);
    return NULL;
}

static bool main_begin_thread(void)
{
    sigset_t all, before;
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&main_wake, &clock);
    pthread_condattr_destroy(&clock);
    main_ending = false;
    sigfillset(&all); // the program's signals are its own
    pthread_sigmask(SIG_SETMASK, &all, &before);
    main_running = pthread_create(&main_thread, NULL, main_work, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (main_running) pthread_setname_np(main_thread, "netprof-nccl");
    return main_running;
}

// ---- the first and the last communicator ----

static bool main_begin(int version, abi_log log)
{
    plugin_pid = plugin_getpid();
    plugin_clock_begin();
    main_level = main_level_of(getenv("NETPROF_NCCL"), LEVEL_PROXY);
    main_serial = 0;
    memset(&main_control_time, 0, sizeof main_control_time);
    file_begin();
    main_chain = chain_open(version, events_stop, log);
    return main_begin_thread();
}

// Whose they are, nobody here knows.
static void main_tell_foreign(void)
{
    int64_t row[] = {0, file_text("foreign"), (int64_t)atomic_exchange(&events_foreign, 0)};
    if (row[2]) file_row(TABLE_DROPS, row);
}

static void main_end(void)
{
    if (main_running) {
        main_ending = true;
        pthread_cond_signal(&main_wake);
        pthread_mutex_unlock(&main_lock); // the thread needs it to end
        pthread_join(main_thread, NULL);
        pthread_mutex_lock(&main_lock);
        pthread_cond_destroy(&main_wake);
        main_running = false;
    }
    main_tell_foreign();
    file_end();
    chain_close(main_chain);
    main_chain = NULL;
    plugin_pid = 0;
}

// ---- communicators ----

typedef struct main_asked { // what init is called with
    uint64_t id;
    int *mask;
    const char *name;
    int nodes, ranks, rank;
    abi_log log;
} main_asked;

static void main_tell(const plugin_context *c)
{
    char id[32];
    snprintf(id, sizeof id, "0x%llx", (unsigned long long)c->id);
    int64_t row[] = {c->serial, file_text(id), file_text(c->name), c->rank,
                     c->ranks,  c->nodes,      c->version,         plugin_clock_wall(c->begin)};
    file_row(TABLE_COMM, row);
}

static plugin_context *main_make_context(int version, const main_asked *a)
{
    plugin_context *c = pool_context_make();
    if (!c) return NULL;
    if (!drain_begin(c)) {
        pool_context_recycle(c);
        return NULL;
    }
    c->version = version;
    c->serial = ++main_serial;
    c->id = a->id;
    snprintf(c->name, sizeof c->name, "%s", a->name ? a->name : "");
    c->nodes = a->nodes;
    c->ranks = a->ranks;
    c->rank = a->rank;
    c->begin = plugin_ticks();
    c->mask = a->mask;
    c->chained_mask = 0;
    c->chained = NULL;
    c->chain = main_chain;
    if (c->chain && !chain_begin(c->chain, c, &c->chained_mask, a->name, a->log)) c->chain = NULL;
    return c;
}

static int main_init(int version, void **context, const main_asked *a)
{
    if (!context) return 0;
    *context = NULL;
    if (main_is_child()) return 0;
    pthread_mutex_lock(&main_life);
    pthread_mutex_lock(&main_lock);
    bool usable = main_open_count < POOL_CONTEXTS;
    bool first = usable && !main_open_count;
    if (first) usable = main_begin(version, a->log);
    plugin_context *c = usable ? main_make_context(version, a) : NULL;
    if (c) {
        main_open[main_open_count++] = c;
        main_tell(c);
        main_set_mask(c);
        *context = pool_context_name(c, (uint64_t)plugin_wall_ns() ^ (uint64_t)plugin_pid << 40 ^ ++main_uses);
        atomic_store(&c->open, true);
    } else if (first) {
        main_end();
    }
    pthread_mutex_unlock(&main_lock);
    pthread_mutex_unlock(&main_life);
    return 0;
}

static int main_finalize(void *context)
{
    uint32_t at = 0;
    if (main_is_child()) return 0;
    pthread_mutex_lock(&main_life);
    pthread_mutex_lock(&main_lock);
    plugin_context *c = pool_context_of(context);
    while (at < main_open_count && main_open[at] != c)
        at++;
    if (at < main_open_count) {
        atomic_store(&c->open, false);
        if (c->chain) chain_end(c->chain, c);
        drain_context(c, true);
        file_flush();
        main_open[at] = main_open[--main_open_count];
        if (!main_open_count) main_end();
        pool_context_recycle(c);
    }
    pthread_mutex_unlock(&main_lock);
    pthread_mutex_unlock(&main_life);
    return 0;
}

// The program ends with communicators that were never finalized: what they did is kept all the same. Their pools stay, for
// threads that still use them; the chained plugin may have ended already.
static void main_leave(void)
{
    for (uint32_t i = 0; i < main_open_count; i++) {
        atomic_store(&main_open[i]->open, false);
        main_open[i]->chain = NULL;
        drain_context(main_open[i], true);
    }
    main_open_count = 0;
    main_chain = NULL;
    main_end();
}

// The library goes: NCCL unloads it after its last communicator, and exit() before that.
__attribute__((destructor)) static void main_unload(void)
{
    struct timespec until;
    if (main_is_child()) return;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    if (pthread_mutex_timedlock(&main_life, &until)) return;
    if (!pthread_mutex_timedlock(&main_lock, &until)) {
        if (main_open_count)
            main_leave();
        else
            pool_end();
        pthread_mutex_unlock(&main_lock);
    }
    pthread_mutex_unlock(&main_life);
}

// ---- the tables ----

static int main_init_v4(void **context, int *mask, const char *name, uint64_t id, int nodes, int ranks, int rank,
                        abi_log log)
{
    return main_init(4, context, &(main_asked){id, mask, name, nodes, ranks, rank, log});
}

static int main_start_v4(void *context, void **handle, abi_event *event)
{
    return events_start(context, handle, event, event ? event->type.small : 0);
}

// RCCL's v6 differs from NVIDIA's only behind what is read here.
#define MAIN_INIT(version)                                                                                             \
    static int main_init_v##version(void **context, uint64_t id, int *mask, const char *name, int nodes, int ranks,    \
                                    int rank, abi_log log)                                                             \
    {                                                                                                                  \
        return main_init(version, context, &(main_asked){id, mask, name, nodes, ranks, rank, log});                    \
    }
MAIN_INIT(5)
MAIN_INIT(6)
MAIN_INIT(7)

static int main_start(void *context, void **handle, abi_event *event)
{
    return events_start(context, handle, event,
                        event && event->type.wide <= UINT32_MAX ? (uint32_t)event->type.wide : 0);
}

EXPORTED abi_plugin_v4 ncclProfiler_v4 = {"netprof",   main_init_v4, main_start_v4,
                                          events_stop, events_state, main_finalize};
EXPORTED abi_plugin ncclProfiler_v5 = {"netprof", main_init_v5, main_start, events_stop, events_state, main_finalize};
EXPORTED abi_plugin ncclProfiler_v6 = {"netprof", main_init_v6, main_start, events_stop, events_state, main_finalize};
EXPORTED abi_plugin ncclProfiler_v7 = {"netprof", main_init_v7, main_start, events_stop, events_state, main_finalize};
