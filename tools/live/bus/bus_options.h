// How to reach a server of NATS, and who this is to it. Plain structs.
#ifndef LIVE_BUS_OPTIONS_H
#define LIVE_BUS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
