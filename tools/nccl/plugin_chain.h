// Another profiler plugin behind this one: NCCL has room for one only. Every event that it asked for reaches it with its
// own handles and parents, and nothing else does. Thread rule: open, begin and end with the lock of plugin_main.c held;
// the rest any.
#ifndef NETPROF_PLUGIN_CHAIN_H
#define NETPROF_PLUGIN_CHAIN_H

#include "plugin_pool.h"

typedef struct plugin_chain plugin_chain;

// The plugin that NETPROF_NCCL_NEXT names, with a table of this interface; NULL: none, with why said through `log`. One
// whose stop is own_stop is this library, under whatever name.
plugin_chain *chain_open(int version, int (*own_stop)(void *), abi_log log);
void chain_close(plugin_chain *chain);
// What init was called with. Fills in c->chained; *mask gets what the plugin asks for. False: it refuses.
bool chain_begin(plugin_chain *chain, plugin_context *c, int *mask, const char *name, abi_log log);
void chain_end(plugin_chain *chain, plugin_context *c);

bool chain_wants(const plugin_chain *chain, uint32_t type); // it asked for it, or for what is inside it
void *chain_start(plugin_context *c, abi_event *e, uint32_t type);
void chain_stop(plugin_chain *chain, void *handle);
void chain_state(plugin_chain *chain, void *handle, int state, abi_state *value);

#endif
