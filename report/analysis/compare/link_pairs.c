#include "link_pairs.h"

#include "analysis/base/stb_ds.h"
#include "analysis/data/traffic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_PACKETS = 1000 }; // fewer agree by chance

// A port with packets both ways; of those that count the same traffic one.
static bool ends_is_candidate(const difference *d, const traffic *t)
{
    const netprof_device *dev = &d->delta->schema->devices[t->device];
    const char *kind = netprof_fact_of(dev->facts, dev->fact_count, "kind");
    if (!t->known || t->repeated || (kind && strcmp(kind, "loopback") == 0)) return false;
    return t->packets_known[TRAFFIC_SENT] && t->packets_known[TRAFFIC_RECEIVED] &&
           t->packets[TRAFFIC_SENT] + t->packets[TRAFFIC_RECEIVED] >= LEAST_PACKETS;
}

// One received about as much as the other sent: within 5 %, because losses are looked for.
static bool ends_is_about(uint64_t sent, uint64_t received)
{
    double larger = fmax((double)sent, (double)received);
    return fabs((double)sent - (double)received) <= 0.05 * larger + 2;
}

static bool ends_fit(const traffic *a, const traffic *b)
{
    return ends_is_about(a->packets[TRAFFIC_SENT], b->packets[TRAFFIC_RECEIVED]) &&
           ends_is_about(b->packets[TRAFFIC_SENT], a->packets[TRAFFIC_RECEIVED]);
}

// The one port that fits, or DIFFERENCE_NONE: none, or several.
static size_t ends_only_fit(const traffic *x, const difference *d, const traffic *others)
{
    size_t found = DIFFERENCE_NONE;
    for (size_t i = 0; i < d->delta->schema->device_count; i++) {
        if (!ends_is_candidate(d, &others[i]) || !ends_fit(x, &others[i])) continue;
        if (found != DIFFERENCE_NONE) return DIFFERENCE_NONE;
        found = i;
    }
    return found;
}

static void ends_link_up(ends_pair *e, const traffic *a, const traffic *b)
{
    e->of[0][a->device] = b->device;
    e->of[1][b->device] = a->device;
    ends_link made = {
        .device = {a->device, b->device},
        .sent = {a->packets[TRAFFIC_SENT], b->packets[TRAFFIC_SENT]},
        .received = {b->packets[TRAFFIC_RECEIVED], a->packets[TRAFFIC_RECEIVED]},
    };
    arrput(e->links, made);
    e->count = arrlenu(e->links);
}

static size_t *ends_none(size_t count)
{
    size_t *of = memory_array(NULL, count, sizeof *of);
    for (size_t i = 0; i < count; i++)
        of[i] = DIFFERENCE_NONE;
    return of;
}

static int64_t ends_distance(int64_t a, int64_t b)
{
    return a > b ? a - b : b - a;
}

static int64_t ends_apart(const netprof_delta *a, const netprof_delta *b)
{
    if (!a->wall_begin_ns || !b->wall_begin_ns || !a->wall_end_ns || !b->wall_end_ns) return -1;
    int64_t begin = ends_distance(a->wall_begin_ns, b->wall_begin_ns),
            end = ends_distance(a->wall_end_ns, b->wall_end_ns);
    return begin > end ? begin : end;
}

void ends_find(ends_pair *e, const difference *a, const difference *b)
{
    const netprof_schema *x = a->delta->schema, *y = b->delta->schema;
    traffic *of_a = traffic_make(a), *of_b = traffic_make(b);
    ends_free(e);
    e->of[0] = ends_none(x->device_count);
    e->of[1] = ends_none(y->device_count);
    e->apart_ns = ends_apart(a->delta, b->delta);
    for (size_t i = 0; i < x->device_count; i++) {
        size_t k = ends_is_candidate(a, &of_a[i]) ? ends_only_fit(&of_a[i], b, of_b) : DIFFERENCE_NONE;
        if (k != DIFFERENCE_NONE && ends_only_fit(&of_b[k], a, of_a) == i) ends_link_up(e, &of_a[i], &of_b[k]);
    }
    free(of_a);
    free(of_b);
}

void ends_free(ends_pair *e)
{
    arrfree(e->links);
    free(e->of[0]);
    free(e->of[1]);
    *e = (ends_pair){0};
}
