// What Prometheus reads. Rows of routes.c. Thread rule: the server's thread.
#ifndef LIVE_WEB_EXPOSED_H
#define LIVE_WEB_EXPOSED_H

#include "web.h"

void exposed_head(void *user, const http_request *r, http_answer *a);
void exposed_node(void *user, const http_request *r, http_answer *a);

#endif
