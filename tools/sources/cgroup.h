// Control groups: where the kernel shows them.
#ifndef TOOLS_SOURCES_CGROUP_H
#define TOOLS_SOURCES_CGROUP_H

#include "emit.h"

// Mount point of control groups of version 2 (controller NULL) or of a controller of version 1; NULL, or free() it.
char *cgroup_mount(const emit *e, const char *controller);

#endif
