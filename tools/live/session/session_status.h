// What a head sees of its nodes, from the file that it writes. Thread rule: one thread.
#ifndef LIVE_SESSION_STATUS_H
#define LIVE_SESSION_STATUS_H

#include <stdbool.h>
#include <stdint.h>

// Prints it. Returns an exit code: EXIT_WORTH_FAILING when a node is silent, or no head runs.
int session_status(const char *directory, int64_t now_ns, bool as_json);

#endif
