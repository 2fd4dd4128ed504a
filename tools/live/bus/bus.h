// A connection to NATS that is made, and made again, by itself. Nothing waits in it while it is down: the spool does.
//
// Thread rule: any, after bus_open(). What is heard comes on a thread of the library.
#ifndef LIVE_BUS_H
#define LIVE_BUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bus bus;

// Files, PEM; NULL: none.
typedef struct bus_tls {
    bool on;
    const char *ca;                // who signed the server's certificate; NULL: whom this machine trusts
    const char *certificate, *key; // this program's own, for a server that asks for one
    bool trusts;                   // whatever certificate it has: for a server of one's own
} bus_tls;

// For a server that knows a program only once it was told who that is: by another user, who may do no more than that.
typedef struct bus_joining {
    const char *user, *password; // NULL: this is no such server
    const char *subject, *text;  // where it is told, and what
    const char *reply;           // where "yes" comes back, or "no"
    bool known;                  // it was told before
} bus_joining;

typedef struct bus_options {
    const char *url, *name; // nats:// or tls://HOST:PORT, several by commas; what the server lists this connection as
    const char *user, *password; // or NULL
    const char *credentials;     // a file with a JWT and its key, or NULL
    bus_joining joining;
    bus_tls tls;
    int64_t again_ms;          // how long to wait before it connects again
    void (*connected)(void *); // also when it is connected again
    void *user_data;
} bus_options;

typedef void (*bus_heard)(void *user, const char *subject, const void *data, size_t size);

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
