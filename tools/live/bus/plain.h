// What bus.h promises, where libnats is not there: NATS as an agent needs it, without TLS and files of credentials.
//
// Thread rule: any, after plain_open(). What is heard comes on a thread of this client.
#ifndef LIVE_PLAIN_H
#define LIVE_PLAIN_H

#include "bus_options.h"

typedef struct plain plain;

plain *plain_open(const bus_options *o, char **why);
bool plain_is_up(plain *p);
size_t plain_most(plain *p);
void plain_problem(plain *p, char to[160]);
bool plain_publish(plain *p, const char *subject, const void *data, size_t size);
bool plain_subscribe(plain *p, const char *subject, bus_heard heard, void *user);
void plain_close(plain *p);

#endif
