// The callbacks of events, for all interfaces. Thread rule: any; see plugin_pool.h.
#ifndef NETPROF_PLUGIN_EVENTS_H
#define NETPROF_PLUGIN_EVENTS_H

#include "plugin_pool.h"

int events_start(plugin_context *c, void **handle, abi_event *event, uint32_t type);
int events_stop(void *handle);
int events_state(void *handle, int state, abi_state *value);

#endif
