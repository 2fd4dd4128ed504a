#include "link_pairs.h"

#include "analysis/data/traffic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_PACKETS = 1000 }; // fewer agree by chance

// A port with packets both ways; of those that count the same traffic one.
static bool is_candidate(const difference *d, const traffic *t)
{
    const netprof_device *dev = &d->delta->schema->devices[t->device];
    const char *kind = netprof_fact_of(dev->facts, dev->fact_count, "kind");
    if (!t->known || t->repeated || (kind && strcmp(kind, "loopback") == 0)) return false;
    return t->packets_known[TRAFFIC_SENT] && t->packets_known[TRAFFIC_RECEIVED] &&
           t->packets[TRAFFIC_SENT] + t->packets[TRAFFIC_RECEIVED] >= LEAST_PACKETS;
}

// What one sent is about what the other received: within 5 %, for what is lost is looked for.
static bool is_about(uint64_t sent, uint64_t received)
{
    double larger = fmax((double)sent, (double)received);
    return fabs((double)sent - (double)received) <= 0.05 * larger + 2;
}

static bool is_pair(const traffic *a, const traffic *b)
{
    return is_about(a->packets[TRAFFIC_SENT], b->packets[TRAFFIC_RECEIVED]) &&
           is_about(b->packets[TRAFFIC_SENT], a->packets[TRAFFIC_RECEIVED]);
}

// The one port that fits, or DIFFERENCE_NONE: none, or several.
static size_t only_fit(const traffic *x, const difference *d, const traffic *others)
{
    size_t found = DIFFERENCE_NONE;
    for (size_t i = 0; i < d->delta->schema->device_count; i++) {
        if (!is_candidate(d, &others[i]) || !is_pair(x, &others[i])) continue;
        if (found != DIFFERENCE_NONE) return DIFFERENCE_NONE;
        found = i;
    }
    return found;
}

static void link_up(ends_pair *e, const traffic *a, const traffic *b)
{
    e->of[0][a->device] = b->device;
    e->of[1][b->device] = a->device;
    e->links[e->count++] = (ends_link){
        .device = {a->device, b->device},
        .sent = {a->packets[TRAFFIC_SENT], b->packets[TRAFFIC_SENT]},
        .received = {b->packets[TRAFFIC_RECEIVED], a->packets[TRAFFIC_RECEIVED]},
    };
}

static size_t *nothing_linked(size_t count)
{
    size_t *of = malloc((count + 1) * sizeof *of);
    for (size_t i = 0; of && i < count; i++)
        of[i] = DIFFERENCE_NONE;
    return of;
}

static int64_t distance(int64_t a, int64_t b)
{
    return a > b ? a - b : b - a;
}

static int64_t apart(const netprof_delta *a, const netprof_delta *b)
{
    if (!a->wall_begin_ns || !b->wall_begin_ns || !a->wall_end_ns || !b->wall_end_ns) return -1;
    int64_t begin = distance(a->wall_begin_ns, b->wall_begin_ns), end = distance(a->wall_end_ns, b->wall_end_ns);
    return begin > end ? begin : end;
}

netprof_err ends_find(ends_pair *e, const difference *a, const difference *b, netprof_error *error)
{
    const netprof_schema *x = a->delta->schema, *y = b->delta->schema;
    traffic *of_a = traffic_make(a), *of_b = traffic_make(b);
    ends_free(e);
    e->of[0] = nothing_linked(x->device_count);
    e->of[1] = nothing_linked(y->device_count);
    e->links = calloc(x->device_count + 1, sizeof *e->links);
    e->apart_ns = apart(a->delta, b->delta);
    bool done = of_a && of_b && e->of[0] && e->of[1] && e->links;
    for (size_t i = 0; done && i < x->device_count; i++) {
        size_t k = is_candidate(a, &of_a[i]) ? only_fit(&of_a[i], b, of_b) : DIFFERENCE_NONE;
        if (k != DIFFERENCE_NONE && only_fit(&of_b[k], a, of_a) == i) link_up(e, &of_a[i], &of_b[k]);
    }
    free(of_a);
    free(of_b);
    if (done) return NETPROF_OK;
    ends_free(e);
    if (error) *error = (netprof_error){.code = NETPROF_ERR_NOMEM, .text = "no memory"};
    return NETPROF_ERR_NOMEM;
}

void ends_free(ends_pair *e)
{
    free(e->links);
    free(e->of[0]);
    free(e->of[1]);
    *e = (ends_pair){0};
}
