// The page. Thread rule: the server's thread.
#ifndef LIVE_WEB_PAGE_H
#define LIVE_WEB_PAGE_H

#include "web.h"

void page_answer(http_answer *a);

#endif
