// Programs installed with netprof.
#ifndef TOOLS_HELPER_PROGRAM_H
#define TOOLS_HELPER_PROGRAM_H

// The path of a program beside this one, or only its name if there is none, to be looked for in PATH. free() it.
char *helper_program(const char *program);

#endif
