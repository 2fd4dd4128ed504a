// The pages of a comparison, as their parts share them.
#ifndef NETPROF_PAGES_COMPARE_H
#define NETPROF_PAGES_COMPARE_H

#include "render/base/arena.h"
#include "render/document/document.h"
#include "pages.h"

typedef struct compare_page {
    const comparison *c;
    document *doc;
    arena *memory;
    const char *source;  // whose devices are the columns: the source of the worst line or check
    size_t first, count; // its devices that have a place there
    size_t *devices;
    const char **labels;
} compare_page;

void compare_page_first(compare_page *p); // title, verdict and the charts of the first page

const char *compare_page_ratio_text(compare_page *p, double ratio, comparison_state state);
const char *compare_page_turn_text(compare_page *p,
                                   const comparison_verdict *v); // "OK -> HIGH"; "OK" where both are alike

#endif
