#include "growth.h"

#include "analysis/base/memory.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdlib.h>

static const int64_t growth_least_ns = 60000000000, growth_stretch_ns = 3600000000000;
static const double growth_day_s = 86400;

void growth_note(growth *g, int64_t wall_ns, uint64_t bytes)
{
    if (!g->since_ns || bytes < g->last || wall_ns < g->last_ns)
        *g = (growth){.since_ns = wall_ns, .next_ns = wall_ns, .since = bytes, .next = bytes};
    g->last_ns = wall_ns;
    g->last = bytes;
    if (wall_ns - g->next_ns < growth_stretch_ns) return;
    g->since_ns = g->next_ns;
    g->since = g->next;
    g->next_ns = wall_ns;
    g->next = bytes;
}

double growth_rate(const growth *g)
{
    int64_t span = g->last_ns - g->since_ns;
    return span < growth_least_ns ? NAN : (double)(g->last - g->since) / ((double)span / 1e9);
}

static words_text growth_time(double seconds)
{
    if (seconds < 2 * growth_day_s) return words_duration(seconds);
    if (seconds > 3653 * growth_day_s) return (words_text){"more than 10 years"};
    return words_many((uint64_t)(seconds / growth_day_s), "day|days");
}

char *growth_words(const growth *g, uint64_t limit, double free_bytes)
{
    double rate = growth_rate(g), left = limit > g->last ? (double)(limit - g->last) : 0;
    if (!(rate > 0) || isnan(free_bytes)) return NULL;
    words_text a_day = words_amount(rate * growth_day_s, "bytes");
    // Above its limit it grows because sessions need all of it: then the disk is what ends.
    if (left > 0 && left < free_bytes)
        return memory_format(
            "%s a day: at its limit of %s in %s; then the oldest data that no session needs are dropped", a_day.text,
            words_amount((double)limit, "bytes").text, growth_time(left / rate).text);
    return memory_format("%s a day: full in %s", a_day.text, growth_time(free_bytes / rate).text);
}
