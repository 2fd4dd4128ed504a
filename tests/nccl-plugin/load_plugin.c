// load_plugin [VERSION [leave]]: loads the profiler plugin that NCCL_PROFILER_PLUGIN names as NCCL does, and plays one communicator
// of one rank that calls 20 times, by the kernel's clock. leave: it ends without finalizing its communicator.
// load_plugin share FILE: a collective that is alone, then two at the same time, while a network device moves bytes: FILE is what the
// plugin reads of it. What there is to wait for is that the plugin has read the file; no time is.
#include "player.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

enum { SENT_ALONE = 1000000, SENT_SHARED = 600000 };

static void play_calls(player *p)
{
    for (uint64_t i = 0; i < 20; i++) {
        void *coll = player_coll(p, "AllReduce", i, 1024), *op;
        player_stop(p, coll);
        op = player_op(p, coll, 2, true, 0);
        player_stop(p, op);
    }
}

// ---- a device whose bytes are known ----

static struct {
    int file, notify;
    unsigned sent;
} device;

static void device_send(unsigned bytes)
{
    char text[16];
    device.sent += bytes;
    snprintf(text, sizeof text, "%09u\n", device.sent); // as long as before: who reads meanwhile sees all of it
    if (pwrite(device.file, text, strlen(text), 0) != (ssize_t)strlen(text)) abort();
}

static void device_wait_for_one_reading(void)
{
    char events[4096];
    struct pollfd p = {.fd = device.notify, .events = POLLIN};
    if (poll(&p, 1, 60000) != 1 || read(device.notify, events, sizeof events) <= 0) abort();
}

// One that was begun after this was called: the first may have been under way.
static void device_wait_for_reading(void)
{
    char events[4096];
    while (read(device.notify, events, sizeof events) > 0)
        ;
    device_wait_for_one_reading();
    device_wait_for_one_reading();
}

static void device_open(const char *path)
{
    device.file = open(path, O_WRONLY | O_CLOEXEC);
    device.notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (device.file < 0 || inotify_add_watch(device.notify, path, IN_ACCESS) < 0) abort();
    device_send(0);
}

static void *begin_call(player *p, const char *func, void **op)
{
    void *coll = player_coll(p, func, p->sn, 1024);
    player_stop(p, coll);
    *op = player_op(p, coll, 2, true, 0);
    player_step(p, *op, true, 250000, 0, 0, 0);
    return *op;
}

static void play_shared(player *p)
{
    void *ops[3];
    device_wait_for_reading();
    begin_call(p, "AllReduce", &ops[0]);
    device_send(SENT_ALONE);
    device_wait_for_reading();
    player_stop(p, ops[0]);
    device_wait_for_reading();
    begin_call(p, "AllGather", &ops[1]);
    begin_call(p, "ReduceScatter", &ops[2]);
    device_send(SENT_SHARED);
    device_wait_for_reading();
    player_stop(p, ops[1]);
    player_stop(p, ops[2]);
    device_wait_for_reading();
}

int main(int count, char **arguments)
{
    bool shares = count > 2 && strcmp(arguments[1], "share") == 0;
    int version = count > 1 && !shares ? atoi(arguments[1]) : 5;
    const char *path = getenv("NCCL_PROFILER_PLUGIN");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    char symbol[32];
    player p;
    snprintf(symbol, sizeof symbol, "ncclProfiler_v%d", version);
    const void *table = library ? dlsym(library, symbol) : NULL;
    if (!table) {
        puts("no plugin");
        return 0;
    }
    if (shares) device_open(arguments[2]);
    player_init(&p, version, table, 0xabc, "world", 2, 4, 1);
    if (shares)
        play_shared(&p);
    else
        play_calls(&p);
    if (count > 2 && !shares) return puts("left") < 0;
    player_finalize(&p);
    dlclose(library);
    puts(p.wrong ? p.wrong : "played");
    return p.wrong != NULL;
}
