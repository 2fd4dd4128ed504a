// NIC counters on the time axis of the logs.
#include "nccl_view_parts.h"

#include "analysis/nccl/findings/nccl_overlap.h"
#include "analysis/nccl/logs/nccl_spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- NIC counters on the logs' time axis ----

static size_t nics_column(const nccl_view *v, double from_dump_s)
{
    double length = v->columns_to_s - v->columns_from_s;
    return nccl_view_place(from_dump_s - v->columns_from_s, length > 0 ? length : 1, v->columns.count);
}

static void nics_add(nccl_view_making *m, const nccl_counters *c, const nccl_counters_host *h)
{
    nccl_view *v = m->v;
    v->nics.items[v->nics.count++] = (nccl_view_nic){nccl_view_text(v, c->n->hosts[h->host].name),
                                                     nccl_view_text(v, h->trouble.counter),
                                                     nccl_view_text(v, h->trouble.unit),
                                                     nccl_view_text(v, h->waiting.counter),
                                                     nccl_view_text(v, h->waiting.unit),
                                                     h->to_s - h->from_s,
                                                     h->bytes[SERIES_IN],
                                                     h->bytes[SERIES_OUT],
                                                     h->peak_rate[SERIES_IN],
                                                     h->peak_rate[SERIES_OUT],
                                                     h->trouble.counter ? h->trouble.amount : NAN,
                                                     h->waiting.counter ? h->waiting.amount : NAN};
}

// The rate of a run in every column: the sum of its chosen devices; NAN where one is not known.
static bool nics_run_rates(const nccl_counters *c, size_t run, int way, double from_s, double to_s, double *rates,
                           double *one, size_t columns)
{
    const series_run *r = &c->s->runs[run];
    bool any = false;
    for (size_t k = 0; k < columns; k++)
        rates[k] = 0;
    for (size_t i = r->first_device; i < r->first_device + r->device_count; i++) {
        if (!c->s->devices[i].chosen) continue;
        series_columns(&c->s->devices[i], way, from_s, to_s, one, columns);
        for (size_t k = 0; k < columns; k++)
            rates[k] += one[k];
        any = true;
    }
    return any;
}

static void nics_add_rates(nccl_view_making *m, const nccl_counters *c, int way, double *rates, double *one)
{
    nccl_view *v = m->v;
    double begin_s = nccl_counters_time_s(c->s, v->first_dump_us);
    uint64_t known[NCCL_VIEW_COLUMNS] = {0};
    for (size_t i = 0; i < c->count; i++) {
        if (!nics_run_rates(c, c->hosts[i].run, way, begin_s + v->columns_from_s, begin_s + v->columns_to_s, rates, one,
                            v->columns.count))
            continue;
        for (size_t k = 0; k < v->columns.count; k++) {
            nccl_view_column *x = &v->columns.items[k];
            double *sum = way ? &x->sent : &x->received, *high = way ? &x->sent_high : &x->received_high;
            if (isnan(rates[k])) continue;
            *sum = known[k]++ ? *sum + rates[k] : rates[k];
            *high = fmax(*high, rates[k]);
        }
    }
    for (size_t k = 0; k < v->columns.count; k++) {
        nccl_view_column *x = &v->columns.items[k];
        double *sum = way ? &x->sent : &x->received;
        if (known[k]) *sum /= (double)known[k];
    }
}

// How many counters of trouble, and of waiting, moved in a column; 0 where a recording runs and none did.
static void nics_add_events(nccl_view_making *m, const nccl_counters *c)
{
    nccl_view *v = m->v;
    double begin_s = nccl_counters_time_s(c->s, v->first_dump_us);
    for (size_t i = 0; i < c->count; i++) {
        const series_run *r = &c->s->runs[c->hosts[i].run];
        size_t last = nics_column(v, r->end_s - begin_s);
        for (size_t k = nics_column(v, r->begin_s - begin_s); k <= last; k++) {
            nccl_view_column *x = &v->columns.items[k];
            if (isnan(x->trouble)) x->trouble = x->waiting = 0;
        }
        for (size_t k = 0; k < c->s->event_count; k++) {
            const series_event *e = &c->s->events[k];
            double at = (e->from_s + e->to_s) / 2 - begin_s;
            if (e->device < r->first_device || e->device >= r->first_device + r->device_count) continue;
            if (at < v->columns_from_s || at > v->columns_to_s) continue;
            nccl_view_column *x = &v->columns.items[nics_column(v, at)];
            *(c->s->counters[e->counter].trouble ? &x->trouble : &x->waiting) += 1;
        }
    }
}

typedef struct timed {
    size_t column;
    double wire_us, skew_us;
} timed;

static int nics_by_column(const void *a, const void *b)
{
    const timed *x = a, *y = b;
    return (x->column > y->column) - (x->column < y->column);
}

// Medians of the calls of the series over the run, in the columns in which they were written.
static void nics_add_written(nccl_view_making *m, const nccl_series *s)
{
    nccl_view *v = m->v;
    const nccl *n = m->n;
    timed *all = memory_array(NULL, s->instance_count, sizeof *all);
    double *values = m->values;
    for (size_t i = 0; i < s->instance_count; i++) {
        const nccl_instance *x = &n->instances[s->first_instance + i];
        all[i] = (timed){nics_column(v, (double)(x->first_dump_us - v->first_dump_us) / 1e6), (double)x->min_us,
                         (double)(x->max_us - x->min_us)};
    }
    qsort(all, s->instance_count, sizeof *all, nics_by_column);
    for (size_t i = 0, k; i < s->instance_count; i = k) {
        nccl_view_column *to = &v->columns.items[all[i].column];
        for (k = i; k < s->instance_count && all[k].column == all[i].column; k++)
            values[k - i] = all[k].wire_us;
        to->calls = k - i;
        to->wire_us = nccl_median_of(values, k - i);
        for (size_t j = i; j < k; j++)
            values[j - i] = all[j].skew_us;
        to->skew_us = nccl_median_of(values, k - i);
    }
    free(all);
}

// ---- counters joined with calls ----

static int nics_by_bytes(const void *a, const void *b)
{
    const nccl_overlap_row *x = a, *y = b;
    double p = fmax(0, fmax(x->bytes[0], x->bytes[1])), q = fmax(0, fmax(y->bytes[0], y->bytes[1])); // of NAN the other
    if (p != q) return p > q ? -1 : 1;
    if (x->host != y->host) return x->host < y->host ? -1 : 1;
    if (x->communicator != y->communicator) return x->communicator < y->communicator ? -1 : 1;
    int order = strcmp(x->coll, y->coll);
    return order ? order : (x->size > y->size) - (x->size < y->size);
}

static void nics_add_overlaps(nccl_view_making *m, const nccl_counters *c)
{
    nccl_view *v = m->v;
    nccl_overlap o;
    nccl_overlap_make(&o, c);
    if (o.count) qsort(o.items, o.count, sizeof *o.items, nics_by_bytes);
    size_t kept = o.count < NCCL_VIEW_OVERLAPS ? o.count : NCCL_VIEW_OVERLAPS;
    v->overlaps.items = nccl_view_take(v, kept, sizeof *v->overlaps.items);
    for (size_t i = 0; i < kept && v->overlaps.items; i++) {
        const nccl_overlap_row *x = &o.items[i];
        v->overlaps.items[v->overlaps.count++] =
            (nccl_view_overlap){.host = nccl_view_text(v, m->n->hosts[x->host].name),
                                .label = nccl_view_text(v, m->n->communicators[x->communicator].label),
                                .coll = nccl_view_text(v, x->coll),
                                .others = nccl_view_text(v, nccl_overlap_say(x).text),
                                .size = x->size,
                                .calls = x->calls,
                                .received = x->bytes[SERIES_IN],
                                .sent = x->bytes[SERIES_OUT],
                                .own_received = x->own_bytes[SERIES_IN],
                                .own_sent = x->own_bytes[SERIES_OUT],
                                .own_received_at_least = x->own_at_least[SERIES_IN],
                                .own_sent_at_least = x->own_at_least[SERIES_OUT]};
    }
    v->overlaps_left = o.count - v->overlaps.count;
    nccl_overlap_free(&o);
}

void nccl_view_add_counters(nccl_view_making *m, const nccl_counters *c)
{
    nccl_view *v = m->v;
    const nccl_series *s = m->main_group == NCCL_NONE ? NULL : nccl_view_series_over_run(m);
    double rates[NCCL_VIEW_COLUMNS], one[NCCL_VIEW_COLUMNS];
    if (!c) return;
    v->counters_known = true;
    v->nics.items = nccl_view_take(v, c->count, sizeof *v->nics.items);
    for (size_t i = 0; i < c->count; i++)
        nics_add(m, c, &c->hosts[i]);
    nics_add_overlaps(m, c);
    if (!c->count || !s) return;
    v->columns_from_s = 0;
    v->columns_to_s = fmax((double)(v->last_dump_us - v->first_dump_us) / 1e6, 1e-6);
    v->columns.items = nccl_view_take(v, NCCL_VIEW_COLUMNS, sizeof *v->columns.items);
    // About three calls in a column: fewer make gaps where nothing is missing.
    size_t columns = s->instance_count / 3 < 30 ? 30 : s->instance_count / 3;
    v->columns.count = !v->columns.items ? 0 : columns < NCCL_VIEW_COLUMNS ? columns : NCCL_VIEW_COLUMNS;
    for (size_t k = 0; k < v->columns.count; k++)
        v->columns.items[k] = (nccl_view_column){NAN, NAN, 0, NAN, NAN, NAN, NAN, NAN, NAN};
    for (int way = 0; way < 2 && v->columns.count; way++)
        nics_add_rates(m, c, way, rates, one);
    if (v->columns.count) nics_add_events(m, c);
    if (v->columns.count) nics_add_written(m, s);
}
