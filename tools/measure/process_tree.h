// A process and all that it started, as one thing to end.
#ifndef TOOLS_PROCESS_TREE_H
#define TOOLS_PROCESS_TREE_H

#include <sys/types.h>

// Sends the signal to the process and to those whose parents lead to it by now; a stopped one is woken to hear it. Those
// whose parent has ended before belong to somebody else already.
void process_tree_signal(pid_t root, int number);

#endif
