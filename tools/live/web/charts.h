// Charts as SVG. Rows of routes.c. Thread rule: the server's thread.
#ifndef LIVE_WEB_CHARTS_H
#define LIVE_WEB_CHARTS_H

#include "web.h"

void charts_map(void *user, const http_request *r, http_answer *a);
void charts_node(void *user, const http_request *r, http_answer *a);
void charts_open(web *w); // before the server begins
void charts_close(web *w);
void charts_css(void *user, const http_request *r, http_answer *a);

#endif
