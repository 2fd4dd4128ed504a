// What netprof regions is to show, and what its text, JSON and CSV have in common.
#ifndef TOOLS_REGIONS_WORDS_H
#define TOOLS_REGIONS_WORDS_H

#include "analysis/regions/regions.h"

enum regions_ranks { RANKS_TOGETHER = 0, RANKS_ALL, RANKS_ONE };

typedef struct regions_view {
    const regions *job;
    const regions_node *nodes; // the tree, or the list by name
    size_t node_count;
    bool flat;
    size_t sort_key;
    size_t *order; // indexes of the nodes to show, in order
    size_t order_count;
    size_t left_out;  // below the least share
    double min_share; // 0..1
    int ranks;        // regions_ranks
    long rank;        // of RANKS_ONE: its number
    size_t region;    // to look at closely, or REGIONS_NONE
} regions_view;

bool regions_is_wanted(const regions_view *view, size_t rank); // by --rank
double regions_mean_call_ns(const regions_calls *calls);       // NAN without a measured call
const char *regions_state_name(regions_state state);           // "no counters", "too short", "uncertain", "known"
// "main/step/halo" in a tree, the name in a list; free it.
char *regions_node_path(const regions_view *view, size_t node);
// A name or path for a table: at most so many characters, the middle of longer ones is "..." (in UTF-8, one character);
// free it.
enum { REGIONS_NAME_WIDTH = 60 };
char *regions_short_text(const char *text, size_t most);

#endif
