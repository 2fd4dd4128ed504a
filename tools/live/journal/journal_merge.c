#include "journal_merge.h"

#include "live/spool/spool_model.h"

#include "analysis/base/stb_ds.h"

#include <stddef.h>

// The stretch that has this number, or the first behind it; NULL: there is none.
static const journal_stretch *journal_merge_find(const journal_stretch *all, size_t *at, uint64_t number)
{
    while (*at < arrlenu(all) && all[*at].last < number)
        ++*at;
    return *at < arrlenu(all) ? &all[*at] : NULL;
}

// 3: it has the tick; 2: it knows why there is none; 1: it knows that another has it; 0: it says nothing of the number.
static int journal_merge_rank(const journal_stretch *s, uint64_t number)
{
    if (!s || s->first > number) return 0;
    if (!s->is_gap) return 3;
    return s->reason == SPOOL_ELSEWHERE ? 1 : 2;
}

static void journal_merge_put(journal_stretch **to, const journal_stretch *s, uint64_t first, uint64_t last)
{
    journal_stretch *before = arrlenu(*to) ? &arrlast(*to) : NULL, piece = *s;
    piece.first = first;
    piece.last = last;
    if (before && before->is_gap && piece.is_gap && before->reason == piece.reason) {
        before->last = last;
        before->last_ns = piece.last_ns;
        return;
    }
    // Of a part of a frame nobody knows the first time without reading it.
    if (before && !before->is_gap && !piece.is_gap && piece.first_ns < before->last_ns)
        piece.first_ns = before->last_ns;
    arrput(*to, piece);
}

// A gap reaches from the tick before it to the one behind it.
static void journal_merge_times(journal_stretch *all)
{
    for (size_t i = 0; i < arrlenu(all); i++) {
        if (!all[i].is_gap) continue;
        if (i && !all[i - 1].is_gap) all[i].first_ns = all[i - 1].last_ns;
        if (i + 1 < arrlenu(all) && !all[i + 1].is_gap) all[i].last_ns = all[i + 1].first_ns;
    }
}

journal_stretch *journal_merge(const journal_stretch *a, const journal_stretch *b)
{
    static const journal_stretch elsewhere = {.is_gap = true, .reason = SPOOL_ELSEWHERE};
    journal_stretch *merged = NULL;
    size_t i = 0, k = 0;
    uint64_t number = 0;
    for (;;) {
        const journal_stretch *s = journal_merge_find(a, &i, number), *t = journal_merge_find(b, &k, number);
        if (!s && !t) break;
        uint64_t nearest = !t || (s && s->first < t->first) ? s->first : t->first;
        if (!arrlenu(merged) && number < nearest)
            number = nearest; // what is before the first of both, none of them knows
        int x = journal_merge_rank(s, number), y = journal_merge_rank(t, number);
        const journal_stretch *best = y > x ? t : s, *other = y > x ? s : t;
        uint64_t last;
        if (x || y) {
            last = best->last;
            if (best->is_gap && other && other->first > number && other->first <= last) last = other->first - 1;
            if (best->is_gap && other && other->first <= number && other->last < last) last = other->last;
        } else {
            best = &elsewhere;
            last = nearest - 1;
        }
        journal_merge_put(&merged, best, number, last);
        number = last + 1;
    }
    journal_merge_times(merged);
    return merged;
}
