// Shapes of values that several sources share.
#ifndef TOOLS_SOURCES_SHAPES_H
#define TOOLS_SOURCES_SHAPES_H

#include "emit.h"

#define SHAPE(unit_, kind_, flags_)                                                                                    \
    {                                                                                                                  \
        .unit = unit_, .kind = NETPROF_KIND_##kind_, .width = 64, .flags = flags_, .scale = 1                          \
    }

#endif
