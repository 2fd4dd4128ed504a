#include "history.h"

#include "analysis/base/saturating_sum.h"
#include "analysis/base/stb_ds.h"

#include <stdlib.h>
#include <string.h>

static void history_drop_first(struct history_set *set, size_t count)
{
    if (!count) return;
    for (size_t i = 0; i < count; i++)
        netprof_snapshot_free(&set->items[i]);
    arrdeln(set->items, 0, count);
    set->count = arrlenu(set->items);
}

static bool history_differs(const netprof_schema *a, const netprof_schema *b, const char *key)
{
    const char *x = netprof_fact_of(a->facts, a->fact_count, key), *y = netprof_fact_of(b->facts, b->fact_count, key);
    return x && y && strcmp(x, y) != 0;
}

static bool history_begins_anew(const netprof_snapshot *last, const netprof_snapshot *s)
{
    return s->begin_ns <= last->begin_ns || history_differs(last->schema, s->schema, "host") ||
           history_differs(last->schema, s->schema, "boot_id");
}

void history_add(history *h, const netprof_snapshot *s)
{
    struct history_set *set = &h->sets[s->set];
    size_t old = 0;
    if (set->count && history_begins_anew(&set->items[set->count - 1], s)) history_drop_first(set, set->count);
    arrput(set->items, (netprof_snapshot)NETPROF_ZERO);
    if (netprof_snapshot_copy(&arrlast(set->items), s, NULL)) memory_exhausted();
    set->count = arrlenu(set->items);
    // Keeps one reading at or before the beginning of the window.
    while (old + 2 < set->count && set->items[old + 1].begin_ns <= difference_capped(s->begin_ns, h->window_ns))
        old++;
    history_drop_first(set, old);
}

// The reading that the last one's rates begin at. A recording ends with a reading of its own, right behind a tick: what
// happened in a thousandth of a second is no rate.
static size_t history_before_last(const struct history_set *set)
{
    size_t last = set->count - 1;
    if (set->count < 3) return last - 1;
    int64_t step = difference_capped(set->items[last].begin_ns, set->items[last - 1].begin_ns),
            usual = difference_capped(set->items[last - 1].begin_ns, set->items[last - 2].begin_ns);
    return step < usual / 4 ? last - 2 : last - 1;
}

netprof_set history_shown(const history *h)
{
    const struct history_set *all = &h->sets[NETPROF_SET_ALL], *fast = &h->sets[NETPROF_SET_FAST];
    if (fast->count < 2) return NETPROF_SET_ALL;
    if (all->count < 2) return NETPROF_SET_FAST;
    int64_t behind = difference_capped(fast->items[fast->count - 1].begin_ns, all->items[all->count - 1].begin_ns);
    int64_t step =
        difference_capped(all->items[all->count - 1].begin_ns, all->items[history_before_last(all)].begin_ns);
    return difference_capped(behind, step) > step ? NETPROF_SET_FAST : NETPROF_SET_ALL;
}

bool history_last(const history *h, const netprof_snapshot **first, const netprof_snapshot **before,
                  const netprof_snapshot **last)
{
    const struct history_set *set = &h->sets[history_shown(h)];
    if (set->count < 2) return false;
    *first = &set->items[0];
    *before = &set->items[history_before_last(set)];
    *last = &set->items[set->count - 1];
    return true;
}

void history_free(history *h)
{
    for (size_t i = 0; i < HISTORY_SETS; i++) {
        history_drop_first(&h->sets[i], h->sets[i].count);
        arrfree(h->sets[i].items);
    }
    *h = (history){0};
}
