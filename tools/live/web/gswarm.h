// The answers that gswarm-profiler has. Rows of routes.c. Thread rule: the server's thread.
#ifndef LIVE_WEB_GSWARM_H
#define LIVE_WEB_GSWARM_H

#include "web.h"

void gswarm_root(void *user, const http_request *r, http_answer *a);
void gswarm_status(void *user, const http_request *r, http_answer *a);
void gswarm_clients(void *user, const http_request *r, http_answer *a);
void gswarm_latest(void *user, const http_request *r, http_answer *a);

#endif
