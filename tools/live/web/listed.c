#include "listed.h"

#include "analysis/base/memory.h"

#include <stdlib.h>
#include <string.h>

static char *listed_copy(const char *text, size_t size)
{
    return memcpy(memory_alloc(size + 1), text, size + 1);
}

bool listed_give(web *w, web_list which, http_answer *a)
{
    const web_listed *x = &w->listed[which];
    if (!x->text || x->turn != web_turn(w)) return false;
    a->data = listed_copy(x->text, x->size);
    a->size = x->size;
    a->type = x->type;
    return true;
}

void listed_keep(web *w, web_list which, uint64_t turn, const http_answer *a)
{
    web_listed *x = &w->listed[which];
    free(x->text);
    *x = (web_listed){.turn = turn, .text = listed_copy(a->data, a->size), .size = a->size, .type = a->type};
}
