// Processes that somebody else started and that are measured until they end: netprof run -p.
#ifndef TOOLS_ATTACHED_H
#define TOOLS_ATTACHED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct attached {
    pid_t *pids; // stb_ds array
    int *fds;    // a pidfd of each (pidfd_open(2)); -1: it has ended
    int any;     // an epoll(7) descriptor that can be read when one ended; -1: the kernel has no pidfds, look by hand
} attached;

// Process numbers by commas. Returns an exit code after saying what is wrong, of a process that is not there, too.
int attached_open(attached *a, const char *text);
// Notes which have ended. True: all.
bool attached_have_ended(attached *a);
// Are some of them in another network namespace than this process?
bool attached_are_elsewhere(const attached *a);
char *attached_names(const attached *a); // "process 12 (iperf3)", "processes 12, 14"; free() it
void attached_close(attached *a);

#endif
