// The pages of a comparison, as their parts share them.
#ifndef NETPROF_PAGES_COMPARE_H
#define NETPROF_PAGES_COMPARE_H

#include "render/base/arena.h"
#include "render/document/document.h"
#include "pages.h"

typedef struct compare_page {
    const comparison *c;
    const regions *regions[COMPARISON_SIDES]; // of the runs' processes; NULL: none
    document *doc;
    arena *memory;
    const char *source;  // whose devices are the columns: the source of the worst line or check
    size_t first, count; // its devices that have a place there
    size_t *devices;
    const char **labels;
    bool figures_later;   // the work's table had no room beside the charts
    bool traffic_follows; // the first page has the changes by device instead
} compare_page;

void compare_page_first(compare_page *p); // title, verdict and the charts of the first page
void compare_page_add_work(compare_page *p);
void compare_page_add_traffic(compare_page *p); // pale healthy, solid faulty; a sentence where all are alike
void compare_page_add_figures(compare_page *p); // the work's table, where the first page has none

const char *compare_page_ratio_text(compare_page *p, double ratio, comparison_state state);
const char *compare_page_turn_text(compare_page *p,
                                   const comparison_verdict *v); // "OK -> HIGH"; "OK" where both are alike

#endif
