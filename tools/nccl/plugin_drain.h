// Takes what has ended out of the pools, adds up what belongs together, and hands it to the file. Thread rule: with the
// lock of plugin_main.c held.
#ifndef NETPROF_PLUGIN_DRAIN_H
#define NETPROF_PLUGIN_DRAIN_H

#include "plugin_pool.h"

bool drain_begin(plugin_context *c); // false: no memory
void drain_context(plugin_context *c, bool last);

#endif
