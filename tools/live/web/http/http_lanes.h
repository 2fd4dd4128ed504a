// Jobs in order: of each lane one at a time, on a thread of its own. Thread rule: any.
#ifndef LIVE_WEB_HTTP_LANES_H
#define LIVE_WEB_HTTP_LANES_H

#include "http_model.h"

typedef struct http_lanes http_lanes;

enum { HTTP_WAITING = 16 }; // jobs that may wait in a lane

// done: on the lane's thread, with what add() was given.
http_lanes *http_lanes_open(void *user, void (*done)(void *waiting, http_answer *a));
bool http_lanes_add(http_lanes *l, const http_answer *order, void *waiting); // false: too many wait
void http_lanes_stop(http_lanes *l); // all that wait are done: 503, and nothing is added any more
void http_lanes_close(http_lanes *l);

#endif
