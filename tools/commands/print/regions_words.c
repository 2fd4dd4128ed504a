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

// Where the character ends that begins here. What is no UTF-8 counts byte by byte.
static const char *regions_next_character(const char *text)
{
    for (text++; ((unsigned char)*text & 0xc0) == 0x80; text++)
        continue;
    return text;
}

static const char *regions_skip(const char *text, size_t characters)
{
    while (characters-- && *text)
        text = regions_next_character(text);
    return text;
}

char *regions_short_text(const char *text, size_t most)
{
    size_t length = 0, front = most / 2;
    for (const char *p = text; *p; p = regions_next_character(p))
        length++;
    if (length <= most) return memory_strdup(text);
    const char *end = regions_skip(text, front), *rest = regions_skip(text, length - (most - 1 - front));
    return memory_format("%.*s\xe2\x80\xa6%s", (int)(end - text), text, rest);
}
