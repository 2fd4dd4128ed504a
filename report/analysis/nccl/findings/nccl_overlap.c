#include "nccl_overlap.h"

#include "analysis/base/json_values.h"
#include "analysis/base/memory.h"
#include "analysis/nccl/logs/nccl_spread.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- calls of a host ----

// A call as one, whichever of the host's ranks are in it.
typedef struct overlap_call {
    uint32_t communicator;
    const char *coll;
    uint64_t size, sn;
    double from_s, to_s; // on the series' axis
    double bytes[2], time_s, shared_s;
    size_t others; // at most, in one interval
    bool known;
} overlap_call;

typedef struct overlap_making {
    nccl_overlap *o;
    const nccl_counters *c;
    const nccl_counters_host *host;
    overlap_call *calls; // by begin
    size_t count;
    overlap_call **active;
} overlap_making;

static int overlap_by_call(const void *a, const void *b)
{
    const overlap_call *x = a, *y = b;
    if (x->communicator != y->communicator) return x->communicator < y->communicator ? -1 : 1;
    int order = strcmp(x->coll, y->coll);
    if (order) return order;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    return (x->sn > y->sn) - (x->sn < y->sn);
}

static bool overlap_same_row(const overlap_call *x, const overlap_call *y)
{
    return x->communicator == y->communicator && x->size == y->size && strcmp(x->coll, y->coll) == 0;
}

static int overlap_by_begin(const void *a, const void *b)
{
    const overlap_call *x = a, *y = b;
    if (x->from_s != y->from_s) return x->from_s < y->from_s ? -1 : 1;
    return overlap_by_call(a, b);
}

static double overlap_at_s(const series *s, int64_t ns)
{
    return (double)(ns - s->begin_ns) / 1e9;
}

static uint32_t overlap_host(const nccl *n, size_t span)
{
    return n->processes[n->members[n->spent[n->spans[span].spent].member].process].host;
}

// Spans are by host and time.
static size_t overlap_first_span(const nccl *n, uint32_t host)
{
    size_t low = 0, high = n->span_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (overlap_host(n, middle) < host)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void overlap_take_calls(overlap_making *k)
{
    const nccl *n = k->c->n;
    size_t kept = 0;
    for (size_t i = overlap_first_span(n, k->host->host); i < n->span_count && overlap_host(n, i) == k->host->host;
         i++) {
        const nccl_spent *x = &n->spent[n->spans[i].spent];
        const nccl_member *m = &n->members[x->member];
        k->calls[k->count++] = (overlap_call){.communicator = m->communicator,
                                              .coll = x->coll,
                                              .size = x->size,
                                              .sn = n->spans[i].sn,
                                              .from_s = overlap_at_s(k->c->s, n->spans[i].begin_ns),
                                              .to_s = overlap_at_s(k->c->s, n->spans[i].end_ns)};
    }
    if (k->count) qsort(k->calls, k->count, sizeof *k->calls, overlap_by_call);
    for (size_t i = 0; i < k->count; i++) {
        overlap_call *to = kept ? &k->calls[kept - 1] : NULL;
        if (!to || overlap_by_call(to, &k->calls[i]) != 0) {
            k->calls[kept++] = k->calls[i];
            continue;
        }
        to->from_s = fmin(to->from_s, k->calls[i].from_s);
        to->to_s = fmax(to->to_s, k->calls[i].to_s);
    }
    k->count = kept;
    if (k->count) qsort(k->calls, k->count, sizeof *k->calls, overlap_by_begin);
}

// ---- intervals ----

static double overlap_of(const overlap_call *x, double from_s, double to_s)
{
    double from = fmax(x->from_s, from_s), to = fmin(x->to_s, to_s);
    return to > from ? to - from : 0;
}

// Calls that used the network in an interval; intervals come by their begin. Returns how many; *next: the first call that
// has not begun.
static size_t overlap_active(overlap_making *k, size_t count, size_t *next, double from_s, double to_s)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (k->active[i]->to_s > from_s) k->active[kept++] = k->active[i];
    for (; *next < k->count && k->calls[*next].from_s < to_s; ++*next)
        if (k->calls[*next].to_s > from_s) k->active[kept++] = &k->calls[*next];
    return kept;
}

static double overlap_sum(const overlap_making *k, size_t count, double from_s, double to_s, size_t *overlapping)
{
    double sum = 0;
    *overlapping = 0;
    for (size_t i = 0; i < count; i++) {
        double time = overlap_of(k->active[i], from_s, to_s);
        sum += time;
        *overlapping += time > 0;
    }
    return sum;
}

static void overlap_add_device(overlap_making *k, const series_device *d)
{
    size_t active = 0, next = 0, overlapping;
    for (size_t i = 0; i < d->count; i++) {
        const series_step *step = &d->steps[i];
        active = overlap_active(k, active, &next, step->from_s, step->to_s);
        double all = overlap_sum(k, active, step->from_s, step->to_s, &overlapping);
        if (step->gap || (isnan(step->rate[0]) && isnan(step->rate[1]))) continue;
        for (size_t j = 0; j < active; j++) {
            overlap_call *x = k->active[j];
            double time = overlap_of(x, step->from_s, step->to_s);
            if (time <= 0) continue;
            for (int way = 0; way < 2; way++)
                if (!isnan(step->rate[way]))
                    x->bytes[way] += step->rate[way] * (step->to_s - step->from_s) * time / all;
            x->known = true;
            x->time_s += time;
            x->shared_s += time * time / all;
            if (overlapping - 1 > x->others) x->others = overlapping - 1;
        }
    }
}

static void overlap_add_devices(overlap_making *k)
{
    const series *s = k->c->s;
    const series_run *run = &s->runs[k->host->run];
    for (size_t i = run->first_device; i < run->first_device + run->device_count; i++)
        if (s->devices[i].chosen) overlap_add_device(k, &s->devices[i]);
}

// ---- rows ----

// Of a member; rows are by member, collective and size. NULL: none.
static const nccl_spent *overlap_spent(const nccl *n, uint32_t member, const nccl_overlap_row *row)
{
    size_t low = 0, high = n->spent_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const nccl_spent *x = &n->spent[middle];
        int order = x->member == member ? strcmp(x->coll, row->coll) : x->member < member ? -1 : 1;
        if (!order) order = (x->size > row->size) - (x->size < row->size);
        if (!order) return x;
        *(order < 0 ? &low : &high) = order < 0 ? middle + 1 : middle;
    }
    return NULL;
}

static void overlap_add_own(overlap_making *k, nccl_overlap_row *row)
{
    const nccl *n = k->c->n;
    const nccl_communicator *c = &n->communicators[row->communicator];
    bool told = false;
    for (uint32_t i = c->first_member; i < c->first_member + c->member_count; i++) {
        if (n->processes[n->members[i].process].host != row->host) continue;
        const nccl_spent *x = overlap_spent(n, i, row);
        if (!x) continue;
        told |= x->sent || x->received;
        row->own_bytes[SERIES_IN] += (double)x->received_bytes;
        row->own_bytes[SERIES_OUT] += (double)x->sent_bytes;
        row->own_at_least[SERIES_IN] |= x->received_at_least || nccl_member_lost_parts(n, i);
        row->own_at_least[SERIES_OUT] |= x->sent_at_least || nccl_member_lost_parts(n, i);
    }
    if (!told) row->own_bytes[SERIES_IN] = row->own_bytes[SERIES_OUT] = NAN;
}

static void overlap_add_row(overlap_making *k, const overlap_call *calls, size_t count, double *work)
{
    nccl_overlap_row *row = &k->o->items[k->o->count++];
    double share = 0;
    size_t known = 0;
    *row = (nccl_overlap_row){.host = k->host->host,
                              .communicator = calls->communicator,
                              .coll = calls->coll,
                              .size = calls->size,
                              .bytes = {NAN, NAN},
                              .share = NAN,
                              .others = NAN};
    for (size_t i = 0; i < count; i++) {
        const overlap_call *x = &calls[i];
        if (!x->known) continue;
        for (int way = 0; way < 2; way++)
            row->bytes[way] = (isnan(row->bytes[way]) ? 0 : row->bytes[way]) + x->bytes[way];
        share += x->shared_s / x->time_s;
        row->alone += x->others == 0;
        work[known++] = (double)x->others;
    }
    row->calls = known;
    row->unknown = count - known;
    if (known) {
        row->share = share / (double)known;
        row->others = nccl_spread_of(work, known).p50;
    }
    overlap_add_own(k, row);
}

static int overlap_by_bytes(const void *a, const void *b)
{
    const nccl_overlap_row *x = a, *y = b;
    if (x->host != y->host) return x->host < y->host ? -1 : 1;
    double p = isnan(x->bytes[1]) ? 0 : x->bytes[1], q = isnan(y->bytes[1]) ? 0 : y->bytes[1];
    if (p != q) return p > q ? -1 : 1;
    if (x->communicator != y->communicator) return x->communicator < y->communicator ? -1 : 1;
    int order = strcmp(x->coll, y->coll);
    return order ? order : (x->size > y->size) - (x->size < y->size);
}

static void overlap_add_host(overlap_making *k, double *work)
{
    k->count = 0;
    overlap_take_calls(k);
    overlap_add_devices(k);
    if (k->count) qsort(k->calls, k->count, sizeof *k->calls, overlap_by_call);
    for (size_t i = 0, j; i < k->count; i = j) {
        for (j = i + 1; j < k->count && overlap_same_row(&k->calls[i], &k->calls[j]);)
            j++;
        overlap_add_row(k, &k->calls[i], j - i, work);
    }
}

void nccl_overlap_make(nccl_overlap *o, const nccl_counters *c)
{
    const nccl *n = c->n;
    *o = (nccl_overlap){.items = memory_array(NULL, n->spent_count, sizeof *o->items)};
    overlap_making k = {.o = o,
                        .c = c,
                        .calls = memory_array(NULL, n->span_count, sizeof *k.calls),
                        .active = memory_array(NULL, n->span_count, sizeof *k.active)};
    double *work = memory_array(NULL, n->span_count, sizeof *work);
    for (size_t i = 0; i < c->count; i++) {
        k.host = &c->hosts[i];
        if (i && k.host->host == c->hosts[i - 1].host) continue; // another recording of the same host
        overlap_add_host(&k, work);
    }
    if (o->count) qsort(o->items, o->count, sizeof *o->items, overlap_by_bytes);
    free(k.calls);
    free(k.active);
    free(work);
}

void nccl_overlap_free(nccl_overlap *o)
{
    free(o->items);
    *o = (nccl_overlap){0};
}

nccl_overlap_text nccl_overlap_say(const nccl_overlap_row *x)
{
    nccl_overlap_text said;
    char more[100] = ""; // NCCL's bytes are of these, too
    if (x->unknown) snprintf(more, sizeof more, "; not read in %s", words_many(x->unknown, "more call").text);
    if (!x->calls)
        snprintf(said.text, sizeof said.text, "not read then");
    else if (x->alone == x->calls)
        snprintf(said.text, sizeof said.text, "alone%s", more);
    else if (x->others < .5) // the median over calls
        snprintf(said.text, sizeof said.text, "alone in most calls%s", more);
    else
        snprintf(said.text, sizeof said.text, "shared with %s%s: %s%s", words_number(x->others).text,
                 x->others == 1 ? " other" : " others", words_share(x->share).text, more);
    return said;
}

json_object *nccl_overlap_json(const nccl_overlap *o, const nccl *n)
{
    json_object *list = json_new_array();
    for (size_t i = 0; i < o->count; i++) {
        const nccl_overlap_row *x = &o->items[i];
        json_object *row = json_new_object();
        json_put_text(row, "host", n->hosts[x->host].name);
        json_put_text(row, "communicator", n->communicators[x->communicator].label);
        json_put_text(row, "coll", x->coll);
        json_put_exact(row, "size_bytes", x->size);
        json_put_exact(row, "calls", x->calls);
        json_put_exact(row, "calls_alone", x->alone);
        json_put_exact(row, "calls_unknown", x->unknown);
        json_put_number(row, "rx_bytes", x->bytes[SERIES_IN]);
        json_put_number(row, "tx_bytes", x->bytes[SERIES_OUT]);
        json_put_number(row, "nccl_rx_bytes", x->own_bytes[SERIES_IN]);
        json_put_number(row, "nccl_tx_bytes", x->own_bytes[SERIES_OUT]);
        json_put_lower_bounds(row, x->own_at_least[SERIES_IN] ? "nccl_rx_bytes" : NULL,
                              x->own_at_least[SERIES_OUT] ? "nccl_tx_bytes" : NULL);
        json_put_number(row, "share", x->share);
        json_put_number(row, "other_calls", x->others);
        json_append(list, row);
    }
    return list;
}
