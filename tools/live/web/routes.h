// Who may ask what, and what answers. Thread rule: any.
#ifndef LIVE_WEB_ROUTES_H
#define LIVE_WEB_ROUTES_H

#include "http/http_model.h"

extern const http_row web_rows[]; // the user is the struct web

#endif
