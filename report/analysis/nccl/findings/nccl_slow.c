#include "nccl_slow.h"

#include "analysis/base/stb_ds.h"
#include "analysis/nccl/logs/nccl_spread.h"

#include <math.h>
#include <stdlib.h>

static int slow_by_equals(const nccl *n, const nccl_series *x, const nccl_series *y)
{
    const nccl_communicator *a = &n->communicators[x->communicator], *b = &n->communicators[y->communicator];
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (a->ranks != b->ranks) return a->ranks < b->ranks ? -1 : 1;
    return (a->nodes > b->nodes) - (a->nodes < b->nodes);
}

// qsort() hands on nothing else.
typedef struct slow_sorted {
    const nccl *n;
    const nccl_series *s;
} slow_sorted;

static int slow_by_group(const void *a, const void *b)
{
    const slow_sorted *x = a, *y = b;
    int order = slow_by_equals(x->n, x->s, y->s);
    return order ? order : (x->s > y->s) - (x->s < y->s);
}

static double slow_sd_of(slow_wires *w, const slow_group *g)
{
    size_t known = 0;
    for (size_t i = g->first; i < g->first + g->count; i++) {
        const nccl_spread *s = &w->series[i]->spreads.wire_us;
        if (s->count >= NCCL_LEAST_CALLS) w->work[known++] = log(s->p75 / s->p25) / 1.349;
    }
    if (known) return nccl_median_of(w->work, known);
    // All are short: how far their middles lie from each other holds it as well, times the root of the calls.
    double calls = 0;
    for (size_t i = 0; i < g->count; i++) {
        const nccl_spread *s = &w->series[g->first + i]->spreads.wire_us;
        w->work[i] = log(s->p50);
        calls += (double)s->count / (double)g->count;
    }
    nccl_spread middles = nccl_spread_of(w->work, g->count);
    return (middles.p75 - middles.p25) / 1.349 * sqrt(calls);
}

static void slow_add_group(slow_wires *w, const slow_sorted *sorted, size_t count)
{
    slow_group g = {.first =
                        w->group_count ? w->groups[w->group_count - 1].first + w->groups[w->group_count - 1].count : 0,
                    .count = count};
    if (count < SLOW_LEAST_EQUALS) return;
    for (size_t i = 0; i < count; i++)
        w->series[g.first + i] = sorted[i].s;
    g.sd = slow_sd_of(w, &g);
    w->groups[w->group_count++] = g;
}

static void slow_note_hosts(slow_wires *w)
{
    const nccl *n = w->n;
    for (uint32_t c = 0; c < n->communicator_count; c++)
        for (uint32_t k = 0; k < n->communicators[c].member_count; k++) {
            uint32_t host = n->processes[n->members[n->communicators[c].first_member + k].process].host;
            uint32_t **list = &w->communicators[host];
            if (!arrlenu(*list) || arrlast(*list) != c) arrput(*list, c);
        }
}

void slow_wires_make(slow_wires *w, const nccl *n)
{
    slow_sorted *sorted = memory_array(NULL, n->series_count, sizeof *sorted);
    size_t count = 0;
    *w = (slow_wires){.n = n,
                      .series = memory_array(NULL, n->series_count, sizeof *w->series),
                      .groups = memory_array(NULL, n->series_count, sizeof *w->groups),
                      .has_slow = memory_calloc(n->communicator_count, sizeof *w->has_slow),
                      .communicators = memory_calloc(n->host_count, sizeof *w->communicators),
                      .work = memory_array(NULL, n->series_count, sizeof *w->work)};
    for (size_t i = 0; i < n->series_count; i++) {
        const nccl_series *s = &n->series[i];
        if (s->instance_count >= SLOW_LEAST_CALLS && s->spreads.wire_us.p25 > 0 &&
            n->communicators[s->communicator].ranks > 1)
            sorted[count++] = (slow_sorted){n, s};
    }
    if (count) qsort(sorted, count, sizeof *sorted, slow_by_group);
    for (size_t i = 0, k; i < count; i = k) {
        for (k = i + 1; k < count && slow_by_equals(n, sorted[i].s, sorted[k].s) == 0;)
            k++;
        slow_add_group(w, sorted + i, k - i);
    }
    free(sorted);
    slow_note_hosts(w);
}

void slow_wires_free(slow_wires *w)
{
    for (size_t i = 0; i < w->n->host_count; i++)
        arrfree(w->communicators[i]);
    free(w->series);
    free(w->groups);
    free(w->has_slow);
    free(w->communicators);
    free(w->work);
}

bool slow_has_host(const slow_wires *w, uint32_t communicator, uint32_t host)
{
    const uint32_t *list = w->communicators[host];
    size_t low = 0, high = arrlenu(list);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list[middle] < communicator)
            low = middle + 1;
        else
            high = middle;
    }
    return low < arrlenu(list) && list[low] == communicator;
}

bool slow_are_equals(const slow_wires *w, const nccl_series *a, const nccl_series *b)
{
    return slow_by_equals(w->n, a, b) == 0;
}

// Of values in order.
static double slow_quantile(const double *sorted, size_t count, double q)
{
    double place = q * (double)(count - 1);
    size_t i = (size_t)place;
    return i + 1 < count ? sorted[i] + (sorted[i + 1] - sorted[i]) * (place - (double)i) : sorted[count - 1];
}

void slow_wires_set_base(slow_wires *w, uint32_t host, double quantile)
{
    for (size_t i = 0; i < w->group_count; i++) {
        slow_group *g = &w->groups[i];
        size_t count = 0;
        for (size_t k = g->first; k < g->first + g->count; k++) {
            uint32_t c = w->series[k]->communicator;
            if (w->has_slow[c] || (host != NCCL_NONE && slow_has_host(w, c, host))) continue;
            w->work[count++] = w->series[k]->spreads.wire_us.p50;
        }
        g->base_us = 0;
        if (!count) continue;
        nccl_median_of(w->work, count); // puts them in order
        g->base_us = slow_quantile(w->work, count, quantile);
    }
}

void slow_wires_paces(const slow_wires *w, slow_pace *paces)
{
    for (size_t i = 0; i < w->n->communicator_count; i++)
        paces[i] = (slow_pace){.series = NCCL_NONE};
    for (size_t i = 0; i < w->group_count; i++) {
        const slow_group *g = &w->groups[i];
        for (size_t k = g->first; k < g->first + g->count && g->base_us > 0; k++) {
            const nccl_series *s = w->series[k];
            slow_pace *p = &paces[s->communicator];
            double calls = (double)s->instance_count, time = s->spreads.wire_us.p50 * calls;
            double excess = time - g->base_us * calls;
            p->time_us += time;
            p->base_us += g->base_us * calls;
            p->variance += 1.57 * g->sd * g->sd * time * time / calls; // a median's error: 1.25 times a mean's
            p->calls += calls;
            if (p->series != NCCL_NONE && excess <= p->excess_us) continue;
            p->excess_us = excess;
            p->series = (uint32_t)(s - w->n->series);
        }
    }
}

double slow_pace_ratio(const slow_pace *p)
{
    return p->time_us / p->base_us;
}

double slow_pace_error(const slow_pace *p)
{
    return sqrt(p->variance) / p->time_us;
}

bool slow_pace_is_judged(const slow_pace *p)
{
    return p->calls >= NCCL_LEAST_CALLS && p->base_us > 0;
}

bool slow_pace_is_slow(const slow_pace *p)
{
    return slow_pace_is_judged(p) && slow_pace_ratio(p) > nccl_finding_rules[NCCL_RULE_SLOW_COMMUNICATOR].limit &&
           log(slow_pace_ratio(p)) > NCCL_BY_CHANCE * slow_pace_error(p) && p->time_us - p->base_us > 2 * p->calls;
}
