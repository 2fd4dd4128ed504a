// netprof check as a child: its JSON, and the processor time it took. Thread rule: one thread.
#ifndef LIVE_JUDGE_CHECK_H
#define LIVE_JUDGE_CHECK_H

#include "analysis/base/json.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct judge_checked {
    json_object *told; // its document; NULL: there is none
    char *why;         // why not
    double cpu_s;
    bool ended; // one of the signals came meanwhile
} judge_checked;

// Of files in `directory`, an absolute path; apart: each by itself. `stop`: blocked signals that end it.
void judge_check(judge_checked *c, const char *directory, const char *const *files, size_t count, bool apart,
                 const sigset_t *stop);
void judge_checked_free(judge_checked *c);

#endif
