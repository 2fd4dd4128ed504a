#include "regions_words.h"

#include "analysis/base/memory.h"

#include <math.h>
#include <string.h>

bool regions_is_wanted(const regions_view *view, size_t rank)
{
    return view->ranks != RANKS_ONE || view->job->ranks[rank].number == view->rank;
}

double regions_mean_call_ns(const regions_calls *calls)
{
    return calls->measured ? (double)calls->total_ns / (double)calls->measured : NAN;
}

const char *regions_state_name(regions_state state)
{
    static const char *const names[] = {"no counters", "too short", "uncertain", "known"};
    return names[state];
}

char *regions_node_path(const regions_view *view, size_t node)
{
    return view->flat ? memory_strdup(view->nodes[node].name) : regions_path(view->job, node);
}
