// What is judged live: nodes, what was found on them, and since when.
//
// Thread rule: one thread.
#ifndef LIVE_JUDGE_MODEL_H
#define LIVE_JUDGE_MODEL_H

#include "analysis/base/json.h"
#include "analysis/rules/rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Why a node was not judged.
typedef enum judge_state {
    JUDGE_JUDGED = 0,
    JUDGE_SILENT, // nothing was heard from it for 30 s
    JUDGE_BEHIND, // it is heard from, but its readings of this time have not come yet
    JUDGE_FAILED, // netprof check did not work on it
    JUDGE_GONE    // silent for more than a day: nobody waits for it
} judge_state;

typedef struct judge_host {
    char *name;
    judge_state state;
    severity severity;  // of the last window, where it was judged
    char *text;         // its verdict, or why there is none
    int64_t silent_ns;  // for how long nothing was heard; -1: not since the head started
    int64_t last_ns;    // its last reading, wall clock; 0: not known
    uint64_t behind;    // ticks that it still holds
    char *file;         // the recording of the window, in the working directory; NULL: none
    char *small;        // another one, of few counters and readings, to be held against thousands of others; NULL: none
    uint64_t snapshots; // in `file`
    bool grouped;       // a session that goes on has it, and holds all of it against the others
    bool wide;          // a session that goes on has it, and too many others for that
} judge_host;

typedef struct judge_finding {
    char *key;         // host, device and rule
    json_object *told; // as netprof check tells it, with "host"
    char *host;        // "": of several
    char *session;     // whose nodes were held against each other; NULL: it was judged by itself
    severity severity, worst;
    int64_t begin_ns, seen_ns, end_ns; // ends of the first and the last window that showed it; end 0: it goes on
    bool now;                          // the last window showed it
} judge_finding;

typedef struct judge_names {
    char *key;
    size_t value;
} judge_names;

// A session that goes on. Value: the number of the group, from 1, in which all of its nodes were held against each other; 0: they
// were not.
typedef struct judge_session {
    char *key;
    size_t value;
} judge_session;

// Of the window that was judged last.
typedef struct judge_window {
    int64_t from_ns, to_ns, wall_ns;
    double every_s, cpu_s;
    severity severity;
    char *text;
} judge_window;

typedef struct judge {
    const char *directory; // the head's
    judge_host *hosts;     // stb_ds
    judge_names *by_name;
    judge_finding
        *findings; // stb_ds: those that go on, in the order of netprof check, then those that ended, the last first
    judge_session *sessions; // those that go on; stb_ds
    judge_window window;
} judge;

judge_host *judge_find_host(judge *j, const char *name); // NULL: there is none
judge_host *judge_add_host(judge *j, const char *name);
// What tells a finding from others; "" of none. The session counts where it is of several nodes. free() it.
char *judge_key(const char *host, const char *device, const char *rule_name, const char *session);
const char *judge_state_name(judge_state s);
void judge_free_hosts(judge *j);
void judge_free_finding(judge_finding *x);
void judge_free(judge *j);

#endif
