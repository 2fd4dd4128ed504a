// How nodes, head and sessions stand. Rows of routes.c. Thread rule: the server's thread.
#ifndef LIVE_WEB_STANDING_H
#define LIVE_WEB_STANDING_H

#include "web.h"

void standing_nodes(void *user, const http_request *r, http_answer *a);
void standing_findings(void *user, const http_request *r, http_answer *a);
void standing_live(void *user, const http_request *r, http_answer *a);

#endif
