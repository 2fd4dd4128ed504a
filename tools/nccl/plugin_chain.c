#define _GNU_SOURCE
#include "plugin_chain.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

struct plugin_chain {
    void *library;
    int version;
    const abi_plugin *table; // of v4 only init differs
    _Atomic uint32_t wanted; // types
};

// Asking for an event means asking for those around it.
static uint32_t chain_with_parents(uint32_t mask)
{
    static const struct {
        uint32_t child, parents;
    } rows[] = {{EVENT_KERNEL_PHASE, EVENT_KERNEL},
                {EVENT_NET, EVENT_PROXY_STEP},
                {EVENT_PROXY_STEP, EVENT_PROXY_OP},
                {EVENT_PROXY_OP | EVENT_KERNEL, EVENT_COLL | EVENT_P2P},
                {EVENT_CE_SYNC | EVENT_CE_BATCH, EVENT_CE_COLL},
                {EVENT_COLL | EVENT_CE_COLL, EVENT_GROUP | EVENT_COLL_API},
                {EVENT_P2P, EVENT_GROUP | EVENT_P2P_API},
                {EVENT_COLL_API | EVENT_P2P_API | EVENT_LAUNCH, EVENT_GROUP_API}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (mask & rows[i].child) mask |= rows[i].parents;
    return mask;
}

static const abi_plugin *chain_refuse(abi_log log, const char *path, const char *why)
{
    if (log) log(2, 16384, "netprof", 0, "PROFILER/netprof: NETPROF_NCCL_NEXT=%s: %s", path, why);
    return NULL;
}

static const abi_plugin *chain_load(plugin_chain *chain, const char *path, int (*own_stop)(void *), abi_log log)
{
    char symbol[32];
    chain->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!chain->library) {
        const char *why = dlerror();
        return chain_refuse(log, path, why ? why : "cannot be loaded");
    }
    snprintf(symbol, sizeof symbol, "ncclProfiler_v%d", chain->version);
    const abi_plugin *table = dlsym(chain->library, symbol);
    if (!table) return chain_refuse(log, path, "has no table of the interface that this NCCL uses");
    if (table->stop == own_stop) return chain_refuse(log, path, "is this plugin itself");
    return table;
}

plugin_chain *chain_open(int version, int (*own_stop)(void *), abi_log log)
{
    const char *path = getenv("NETPROF_NCCL_NEXT");
    if (!path || !*path) return NULL;
    plugin_chain *chain = calloc(1, sizeof *chain);
    if (!chain) return NULL;
    chain->version = version;
    chain->table = chain_load(chain, path, own_stop, log);
    if (chain->table) return chain;
    chain_close(chain);
    return NULL;
}

void chain_close(plugin_chain *chain)
{
    if (!chain) return;
    if (chain->library) dlclose(chain->library);
    free(chain);
}

bool chain_begin(plugin_chain *chain, plugin_context *c, int *mask, const char *name, abi_log log)
{
    int asked = 0, failed;
    c->chained = NULL;
    if (c->version != chain->version) return false; // of another NCCL in this process
    if (chain->version == 4)
        failed = ((const abi_plugin_v4 *)chain->table)
                     ->init(&c->chained, &asked, name, c->id, c->nodes, c->ranks, c->rank, log);
    else
        failed = chain->table->init(&c->chained, c->id, &asked, name, c->nodes, c->ranks, c->rank, log);
    if (failed) return false;
    atomic_store(&chain->wanted, chain_with_parents((uint32_t)asked));
    *mask = asked;
    return true;
}

void chain_end(plugin_chain *chain, plugin_context *c)
{
    if (c->chained) chain->table->finalize(c->chained);
    c->chained = NULL;
}

bool chain_wants(const plugin_chain *chain, uint32_t type)
{
    return atomic_load_explicit(&chain->wanted, memory_order_relaxed) & type;
}

// The chained plugin's handle for one of ours; what is not ours stays.
static void *chain_handle(void *handle)
{
    pool_slot *slot = pool_find_any(handle);
    return slot ? slot->next : pool_is_handle(handle) ? NULL : handle;
}

void *chain_start(plugin_context *c, abi_event *e, uint32_t type)
{
    void *handle = NULL, *parent = e->parent, **group = NULL, *of_group = NULL;
    bool foreign = type == EVENT_PROXY_OP && e->op.pid != plugin_pid;
    if (c->version >= 5 && type == EVENT_COLL) group = &e->coll.group;
    if (c->version >= 5 && type == EVENT_P2P) group = &e->p2p.group;
    if (group) of_group = *group;
    // The descriptor is NCCL's, and longer than is known here: its parents are exchanged in place and put back.
    if (!foreign) e->parent = chain_handle(parent);
    if (group) *group = chain_handle(of_group);
    c->chain->table->start(c->chained, &handle, e);
    e->parent = parent;
    if (group) *group = of_group;
    return handle;
}

void chain_stop(plugin_chain *chain, void *handle)
{
    chain->table->stop(handle);
}

void chain_state(plugin_chain *chain, void *handle, int state, abi_state *value)
{
    chain->table->state(handle, state, value);
}
