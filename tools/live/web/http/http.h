// An HTTP server for few users and many nodes: rows of a table say who may ask what. Whatever clients do, it stays within
// bounds: of connections (the oldest unfinished one makes room for a new one), of a request's size and time, and of requests
// a second from one address.
//
// Thread rule: one thread opens and closes. Handlers run on the server's thread and return at once; what takes longer is a
// job, of which each lane has one at a time.
#ifndef LIVE_WEB_HTTP_H
#define LIVE_WEB_HTTP_H

#include "http_model.h"

typedef struct http_options {
    const char *address; // "127.0.0.1"
    unsigned port;
    const char *certificate, *key,
        *clients; // PEM, as texts; clients: of who signs certificates that may read. NULL: none
    const char *read_token, *control_token;
    const http_row *rows; // a path of NULL ends them
    void *user;
} http_options;

typedef struct http_counts {
    uint64_t requests, refused, failed, connections, dropped; // refused: no right; dropped: for want of room or time
} http_counts;

typedef struct http_server http_server;

// NULL: *why says why not; free() it.
http_server *http_open(const http_options *o, char **why);
unsigned http_port(const http_server *h);
void http_look(http_server *h); // once a second: ends what takes too long
void http_count(http_server *h, http_counts *c);
void http_close(http_server *h);

const char *http_query(const http_request *r, const char *key); // NULL: not given

#endif
