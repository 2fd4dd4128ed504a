// Sessions: started, stopped, listed, reported. Rows of routes.c. Thread rule: the server's thread.
#ifndef LIVE_WEB_RECORDED_H
#define LIVE_WEB_RECORDED_H

#include "web.h"

void recorded_start(void *user, const http_request *r, http_answer *a);
void recorded_stop(void *user, const http_request *r, http_answer *a);
void recorded_list(void *user, const http_request *r, http_answer *a);
void recorded_view(void *user, const http_request *r, http_answer *a);
void recorded_report(void *user, const http_request *r, http_answer *a);

#endif
