// The head at work: frames from the bus into the journal, watermarks back, and what it sees into status.json.
// Thread rule: one thread, which has the journal and the bus work on others.
#ifndef LIVE_COLLECTING_H
#define LIVE_COLLECTING_H

#include "live/bus/bus.h"

#include <stdint.h>

typedef struct collecting collecting;

// Returns an exit code after saying what is wrong.
int collecting_open_journal(collecting **out, const char *directory, uint64_t journal_bytes);
// False: *why says why not; free() it.
// stands_by: collects only while no other head does that does the same.
bool collecting_begin(collecting *c, const bus_options *bus, const char *cluster, bool stands_by, char **why);
// What comes on np.CLUSTER.WHAT; and what is told there. False: it cannot be heard.
bool collecting_hear(collecting *c, const char *what, bus_heard heard, void *user);
void collecting_tell(collecting *c, const char *what, const char *text);
// How long nothing was heard from the node, ns; INT64_MAX: never.
int64_t collecting_silence(collecting *c, const char *node);
void collecting_look(collecting *c); // several times a second
bool collecting_is_up(collecting *c);
bool collecting_is_superseded(collecting *c);
void collecting_close(collecting *c); // commits what was accepted

#endif
