// What one client may take from the others: connections that are open, and requests a second. Thread rule: any.
#ifndef LIVE_WEB_HTTP_BOUNDS_H
#define LIVE_WEB_HTTP_BOUNDS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct http_bounds http_bounds;

enum {
    HTTP_SLOW_S = 10,
    HTTP_BURST = 200,
    HTTP_PER_S = 50,
    HTTP_WRONG = 20
}; // HTTP_WRONG: a wrong token counts so many

http_bounds *http_bounds_open(unsigned most);
// A connection; over `most` the oldest one that has nothing asked is shut down, else the oldest of all.
void *http_bounds_begin(http_bounds *b, int fd, int64_t now_ns);
void http_bounds_busy(http_bounds *b, void *connection, bool busy, int64_t now_ns); // a request is complete, answered
void http_bounds_end(http_bounds *b, void *connection);
void http_bounds_look(http_bounds *b, int64_t now_ns); // shuts down those that take too long to ask
// False: too many requests from this address.
bool http_bounds_may(http_bounds *b, const struct sockaddr *from, unsigned cost, int64_t now_ns);
void http_bounds_count(http_bounds *b, uint64_t *open, uint64_t *dropped);
void http_bounds_close(http_bounds *b);

#endif
