// The sub-commands of netprof, in the order of its help. A new one is a name here, command_NAME in cmd_NAME.c, and
// netprof-NAME.1 in man/.
#ifndef TOOLS_COMMANDS_H
#define TOOLS_COMMANDS_H

#include "cli/command.h"

// clang-format off
#define COMMANDS(X)                                                                                                    \
    X(list)                                                                                                            \
    X(collect)                                                                                                         \
    X(diff)                                                                                                            \
    X(check)                                                                                                           \
    X(compare)                                                                                                         \
    X(run)                                                                                                             \
    X(record)                                                                                                          \
    X(merge)                                                                                                           \
    X(job)                                                                                                             \
    X(regions)                                                                                                         \
    X(convert)                                                                                                         \
    X(nccl)                                                                                                            \
    X(nsys)
// clang-format on

#define COMMAND_DECLARED(name) extern const command command_##name;
COMMANDS(COMMAND_DECLARED)

#endif
