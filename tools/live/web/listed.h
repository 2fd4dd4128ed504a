// Texts of all nodes: one that was made since the last web_look(), which comes once a second, serves everybody who asks for it.
// Thread rule: the lists' lane.
#ifndef LIVE_WEB_LISTED_H
#define LIVE_WEB_LISTED_H

#include "web.h"

// True: there is one of this turn; it is the answer.
bool listed_give(web *w, web_list which, http_answer *a);
void listed_keep(web *w, web_list which, uint64_t turn, const http_answer *a); // turn: web_turn() before it was made

#endif
