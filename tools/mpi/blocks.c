#include "blocks.h"

#include <stdio.h>
#include <string.h>

static void blocks_double(blocks *b)
{
    uint64_t sums[BLOCKS_MOST + 1] = {0};
    int64_t first = b->first >> 1;
    for (int i = 0; i < b->count; i++)
        sums[((b->first + i) >> 1) - first] += b->inside_ns[i];
    b->count = b->count ? (int)(((b->first + b->count - 1) >> 1) - first) + 1 : 0;
    b->first = first;
    b->shift++;
    memcpy(b->inside_ns, sums, sizeof b->inside_ns);
}

void blocks_add(blocks *b, int64_t from_ns, int64_t to_ns)
{
    if (from_ns < 0 || to_ns <= from_ns) return;
    if (!b->shift) {
        b->shift = BLOCKS_SHIFT;
        b->first = from_ns >> b->shift;
    }
    while (((to_ns - 1) >> b->shift) - b->first >= BLOCKS_MOST)
        blocks_double(b);
    if (from_ns < b->first << b->shift) from_ns = b->first << b->shift; // the clock was set back
    while (from_ns < to_ns) {
        int64_t at = from_ns >> b->shift, end = (at + 1) << b->shift;
        if (end > to_ns) end = to_ns;
        b->inside_ns[at - b->first] += (uint64_t)(end - from_ns);
        if (at - b->first >= b->count) b->count = (int)(at - b->first) + 1;
        from_ns = end;
    }
}

void blocks_text(const blocks *b, char text[BLOCKS_TEXT])
{
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < b->count; i++) {
        double share = (double)b->inside_ns[i] / (double)((int64_t)1 << b->shift);
        used += (size_t)snprintf(text + used, BLOCKS_TEXT - used, "%s%d", i ? "," : "",
                                 share < 1 ? (int)(share * 10000 + 0.5) : 10000);
    }
}
