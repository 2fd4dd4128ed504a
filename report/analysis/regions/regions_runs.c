// Files of several runs that lie in one place: what ran one after the other is no job, and nobody waited for anybody.
#include "regions_store.h"

#include <stdlib.h>

enum { GAP_NS = 500000 }; // clocks of two processes of a host differ by less

typedef struct regions_life {
    int64_t begin, end;
    size_t rank;
} regions_life;

static int regions_compare_lives(const void *a, const void *b)
{
    const regions_life *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

// A rank that was there before, or on a host that was there before a process without a rank: other ranks may be those of
// another host, whose clock differs.
static bool regions_seen_before(const regions *r, const regions_life *lives, size_t from, size_t until)
{
    for (size_t i = from; i < until; i++)
        for (size_t k = 0; k < from; k++) {
            const regions_rank *x = &r->ranks[lives[i].rank], *y = &r->ranks[lives[k].rank];
            if (x->number == y->number && (x->number >= 0 || x->host == y->host)) return true;
        }
    return false;
}

void regions_tell_runs(regions *r)
{
    regions_life *lives = NULL;
    size_t first = 0;
    r->runs = 1;
    for (size_t i = 0; i < r->rank_count; i++) {
        const regions_rank *x = &r->ranks[i];
        int64_t end;
        if (x->wall_ns > 0 && x->elapsed_ns >= 0 && !__builtin_add_overflow(x->wall_ns, x->elapsed_ns, &end))
            arrput(lives, ((regions_life){x->wall_ns, end, i}));
    }
    size_t n = arrlenu(lives);
    if (n) qsort(lives, n, sizeof *lives, regions_compare_lives);
    int64_t end = n ? lives[0].end : 0;
    for (size_t i = 1; i <= n; i++) {
        bool apart = i < n && lives[i].begin > end && lives[i].begin - end > GAP_NS;
        if (i == n || apart) {
            if (first && regions_seen_before(r, lives, first, i)) r->runs++;
            for (size_t k = first; k < i; k++)
                r->ranks[lives[k].rank].run = r->runs - 1;
            first = i;
        }
        if (i < n && lives[i].end > end) end = lives[i].end;
    }
    arrfree(lives);
}
