// The callbacks of events, for all interfaces. Thread rule: any; see plugin_pool.h.
#ifndef NETPROF_PLUGIN_EVENTS_H
#define NETPROF_PLUGIN_EVENTS_H

#include "plugin_pool.h"

extern _Atomic uint64_t events_foreign; // operations of proxies for other processes (PXN), which are not kept

int events_start(const void *context, void **handle, abi_event *event, uint32_t type);
int events_stop(void *handle);
int events_state(void *handle, int state, abi_state *value);

#endif
