// What is wrong now, as netprof findings wrote it. Thread rule: one thread.
#ifndef LIVE_SESSION_FINDINGS_H
#define LIVE_SESSION_FINDINGS_H

#include "cli/fail_on.h"

#include <stdint.h>

// Prints it; ended: also what is over. Returns an exit code, by `failing`.
int session_findings(const char *directory, int64_t now_ns, bool as_json, bool ended, const fail_on *failing);

#endif
