// A plugin that another one chains: every parent and handle that it gets must be one that it handed out. It counts, and
// writes the counts into the file that NEXT_PLUGIN_SAYS names when its last communicator ends. With NEXT_PLUGIN_ANY the
// communicators need not be those of test_nccl_plugin.c.
#include "plugin_abi.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

enum { HANDLES = 1 << 16 };
typedef struct next_event {
    uint64_t type;
    void *context;
    atomic_int stops, states;
} next_event;
static next_event next_events[HANDLES];
static atomic_uint next_count, next_wrong, next_open, next_colls, next_children, next_parents;

static next_event *next_mine(const void *handle)
{
    const next_event *e = handle;
    bool mine = e >= next_events && e < next_events + next_count;
    return mine ? &next_events[e - next_events] : NULL;
}

static int next_begin(void **context, int *mask)
{
    static int contexts[64];
    const char *wanted = getenv("NEXT_PLUGIN_MASK");
    *context = &contexts[next_open++ % 64];
    *mask = wanted ? atoi(wanted) : EVENT_COLL | EVENT_P2P | EVENT_PROXY_STEP;
    return 0;
}

static int next_init(void **context, uint64_t id, int *mask, const char *name, int nodes, int ranks, int rank,
                     abi_log log)
{
    (void)log;
    if (!getenv("NEXT_PLUGIN_ANY") && (id != 0xabc || nodes != 2 || ranks != 4 || rank < 0 || !name)) next_wrong++;
    return next_begin(context, mask);
}

static int next_init_v4(void **context, int *mask, const char *name, uint64_t id, int nodes, int ranks, int rank,
                        abi_log log)
{
    return next_init(context, id, mask, name, nodes, ranks, rank, log);
}

static int next_started(void *context, void **handle, const abi_event *e, uint64_t type)
{
    if (next_count >= HANDLES) return 0;
    next_event *mine = &next_events[next_count++];
    mine->type = type;
    mine->context = context;
    if (!context) next_wrong++;
    next_colls += type == EVENT_COLL;
    next_children += type == EVENT_PROXY_STEP;
    if (e->parent && !next_mine(e->parent)) next_wrong++;
    next_parents += e->parent != NULL;
    const next_event *parent = next_mine(e->parent);
    if (type == EVENT_PROXY_STEP && (!parent || parent->type != EVENT_PROXY_OP)) next_wrong++;
    *handle = mine;
    return 0;
}

static int next_start(void *context, void **handle, abi_event *e)
{
    return next_started(context, handle, e, e->type.wide);
}

static int next_start_v4(void *context, void **handle, abi_event *e)
{
    return next_started(context, handle, e, e->type.small);
}

static int next_stop(void *handle)
{
    next_event *e = next_mine(handle);
    if (!e || e->stops++) next_wrong++;
    return 0;
}

static int next_state(void *handle, int state, abi_state *value)
{
    next_event *e = next_mine(handle);
    (void)value;
    if (!e || state < 8) next_wrong++;
    if (e) e->states++;
    return 0;
}

static int next_finalize(void *context)
{
    const char *path = getenv("NEXT_PLUGIN_SAYS");
    unsigned stopped = 0;
    if (!context) next_wrong++;
    if (--next_open || !path) return 0;
    FILE *to = fopen(path, "w");
    for (unsigned i = 0; i < next_count; i++)
        stopped += next_events[i].stops == 1;
    if (to)
        fprintf(to, "%u %u %u %u %u %u\n", next_count, stopped, next_wrong, next_colls, next_children, next_parents);
    if (to) fclose(to);
    return 0;
}

EXPORTED abi_plugin_v4 ncclProfiler_v4 = {"next", next_init_v4, next_start_v4, next_stop, next_state, next_finalize};
EXPORTED abi_plugin ncclProfiler_v5 = {"next", next_init, next_start, next_stop, next_state, next_finalize};
EXPORTED abi_plugin ncclProfiler_v6 = {"next", next_init, next_start, next_stop, next_state, next_finalize};
EXPORTED abi_plugin ncclProfiler_v7 = {"next", next_init, next_start, next_stop, next_state, next_finalize};
