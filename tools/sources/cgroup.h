// Control groups: where the kernel shows them.
#ifndef TOOLS_SOURCES_CGROUP_H
#define TOOLS_SOURCES_CGROUP_H

#include "emit.h"

// Mount point of control groups of version 2 (controller NULL) or of a controller of version 1; NULL, or free() it.
char *cgroup_mount(const emit *e, const char *controller);
// Is there such a group, of version 2 or of any controller of version 1? path: below the mount point.
bool cgroup_exists(const char *path);

#endif
