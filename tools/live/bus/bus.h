// A connection to NATS that is made, and made again, by itself. Nothing waits in it while it is down: the spool does.
//
// Thread rule: any, after bus_open(). What is heard comes on a thread of the library.
#ifndef LIVE_BUS_H
#define LIVE_BUS_H

#include "bus_options.h"

typedef struct bus bus;

// Returns at once; the connection may come later. NULL: *why says why not, free() it.
bus *bus_open(const bus_options *o, char **why);
bool bus_is_up(bus *b);
size_t bus_most(bus *b);                // the largest message that the server takes; 0: not known yet
void bus_problem(bus *b, char to[160]); // the last thing that went wrong, or ""
uint64_t bus_dropped(bus *b);           // messages that the library threw away because this program was too slow
bool bus_publish(bus *b, const char *subject, const void *data, size_t size);
bool bus_subscribe(bus *b, const char *subject, bus_heard heard, void *user);
void bus_close(bus *b);

#endif
