// Calls over the run, and the points and histograms of each kind of call.
#include "nccl_view_parts.h"

#include "analysis/nccl/logs/nccl_spread.h"

#include <math.h>
#include <stdlib.h>

// ---- over the run ----

static uint64_t calls_other_runs(const nccl *n, const nccl_communicator *c)
{
    uint64_t count = 0;
    for (size_t i = 0; i < n->communicator_count; i++)
        count += &n->communicators[i] != c && strcmp(n->communicators[i].id, c->id) == 0;
    return count;
}

// Ten calls make quantiles; but a short run has some bins, too.
static size_t calls_bins_for(size_t calls)
{
    size_t bins = calls / 10 > 40 ? calls / 10 : calls < 40 ? calls : 40;
    return bins < NCCL_VIEW_BINS ? bins : NCCL_VIEW_BINS;
}

// A stretch of instances of a series for a chart over the run: medians and quantiles of `per` instances each.
typedef struct calls_bin {
    uint64_t first_sn, last_sn;
    size_t instances, complete;
    uint64_t written_us;
    nccl_spread wire_us, skew_us; // of the complete ones; when none is: count 0
} calls_bin;

// At most `most` bins of equal numbers of instances; free() it.
static calls_bin *calls_make_bins(const nccl *n, const nccl_series *s, size_t most, size_t *count)
{
    size_t total = s->instance_count;
    calls_bin *all = memory_calloc(total < most ? total : most, sizeof *all);
    double *wire = memory_array(NULL, total, 2 * sizeof *wire), *skew = wire + total;
    *count = total < most ? total : most;
    for (size_t i = 0; i < *count; i++) {
        size_t begin = total * i / *count, end = total * (i + 1) / *count;
        calls_bin *b = &all[i];
        const nccl_instance *x = n->instances + s->first_instance;
        b->first_sn = x[begin].sn;
        b->last_sn = x[end - 1].sn;
        b->instances = end - begin;
        b->written_us = x[begin].first_dump_us;
        for (size_t k = begin; k < end; k++) {
            if (!x[k].complete) continue;
            wire[b->complete] = (double)x[k].min_us;
            skew[b->complete++] = (double)(x[k].max_us - x[k].min_us);
        }
        b->wire_us = nccl_spread_of(wire, b->complete);
        b->skew_us = nccl_spread_of(skew, b->complete);
    }
    free(wire);
    return all;
}

void nccl_view_add_run(nccl_view_making *m)
{
    nccl_view *v = m->v;
    const nccl_series *s = m->main_group == NCCL_NONE ? NULL : nccl_view_series_over_run(m);
    size_t count;
    if (!s) return;
    calls_bin *bins = calls_make_bins(m->n, s, calls_bins_for(s->instance_count), &count);
    v->run_label = nccl_view_text(v, nccl_view_communicator(m, s)->label);
    v->run_ranks = (uint64_t)nccl_view_communicator(m, s)->ranks;
    v->run_size = s->size;
    v->run_calls = s->instance_count;
    v->run_others = calls_other_runs(m->n, nccl_view_communicator(m, s));
    v->run_changed = s->skew_change.found;
    v->run_change_sn = s->skew_change.found ? s->skew_change.sn : 0;
    v->run.items = nccl_view_take(v, count, sizeof *v->run.items);
    for (size_t i = 0; i < count; i++) {
        const calls_bin *b = &bins[i];
        v->run.items[v->run.count++] = (nccl_view_bin){b->first_sn,    b->last_sn,     b->instances,   b->complete,
                                                       b->wire_us.p5,  b->wire_us.p50, b->wire_us.p95, b->skew_us.p5,
                                                       b->skew_us.p50, b->skew_us.p95, b->written_us};
    }
    free(bins);
}

// ---- kinds: points and histograms ----

// Six digits are more than a chart can show.
static double calls_six_digits(double value)
{
    if (!isfinite(value) || value == 0) return value;
    int places = 5 - (int)floor(log10(fabs(value)));
    if (places > 18) return value;
    double scale = pow(10, abs(places));
    return places >= 0 ? round(value * scale) / scale : round(value / scale) * scale;
}

// A round number that is not less.
static double calls_round_up(double value)
{
    static const double steps[] = {1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10};
    if (!(value > 0)) return 1;
    double decade = pow(10, floor(log10(value)));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i] * decade >= value) return calls_six_digits(steps[i] * decade);
    return calls_six_digits(10 * decade);
}

static double calls_y(const nccl_view_kind *k, const nccl_series *s, const nccl_instance *x)
{
    return k->has_bus ? nccl_bus_gbs(s, (double)x->min_us) : (double)x->min_us;
}

// Calls visit() for every call of the kind.
typedef struct kind_walk {
    const nccl_view_making *m;
    nccl_view_kind *k;
    uint32_t kind;
    uint32_t *cells;
} kind_walk;

static void calls_walk(const kind_walk *w, void (*visit)(const kind_walk *w, double x, double y))
{
    const nccl *n = w->m->n;
    for (size_t i = 0; i < n->series_count; i++) {
        const nccl_series *s = &n->series[i];
        if (s->kind != w->kind) continue;
        for (size_t k = 0; k < s->instance_count; k++) {
            const nccl_instance *x = &n->instances[s->first_instance + k];
            double y = calls_y(w->k, s, x);
            if (!isnan(y)) visit(w, (double)x->sn, y);
        }
    }
}

static void calls_visit_ends(const kind_walk *w, double x, double y)
{
    nccl_view_kind *k = w->k;
    k->x_max = fmax(k->x_max, x);
    k->low = fmin(y, k->low); // fmin and fmax pass over NAN
    k->high = fmax(y, k->high);
    k->points.count++;
}

static void calls_visit_point(const kind_walk *w, double x, double y)
{
    nccl_view_kind *k = w->k;
    k->points.items[k->points.count++] = (nccl_view_point){x, calls_six_digits(y), 1};
}

static void calls_visit_cell(const kind_walk *w, double x, double y)
{
    w->cells[nccl_view_place(y, w->k->y_max, NCCL_VIEW_UP) * NCCL_VIEW_ACROSS +
             nccl_view_place(x, w->k->x_max, NCCL_VIEW_ACROSS)]++;
}

static void calls_visit_bin(const kind_walk *w, double x, double y)
{
    nccl_view_kind *k = w->k;
    (void)x;
    k->bins.items[k->high > k->low ? nccl_view_place(y - k->low, k->high - k->low, k->bins.count) : 0].count++;
}

static void calls_keep_cells(nccl_view_making *m, nccl_view_kind *k, const uint32_t *cells)
{
    enum { CELLS = NCCL_VIEW_ACROSS * NCCL_VIEW_UP };
    size_t used = 0;
    for (size_t i = 0; i < CELLS; i++)
        used += cells[i] > 0;
    k->points.items = nccl_view_take(m->v, used, sizeof *k->points.items);
    for (size_t i = 0; i < CELLS; i++)
        if (cells[i])
            k->points.items[k->points.count++] = (nccl_view_point){
                calls_six_digits(((double)(i % NCCL_VIEW_ACROSS) + 0.5) / NCCL_VIEW_ACROSS * k->x_max),
                calls_six_digits(((double)(i / NCCL_VIEW_ACROSS) + 0.5) / NCCL_VIEW_UP * k->y_max), cells[i]};
}

static void calls_add_points(nccl_view_making *m, kind_walk *w)
{
    nccl_view_kind *k = w->k;
    enum { HISTOGRAM = 40 };
    k->low = k->high = NAN;
    calls_walk(w, calls_visit_ends);
    size_t count = k->points.count, bins = k->high > k->low ? HISTOGRAM : 1;
    k->points.count = 0;
    if (!count) return;
    k->x_max = calls_round_up(k->x_max > 0 ? k->x_max : 1);
    k->y_max = calls_round_up(k->high);
    if (count <= NCCL_VIEW_POINTS) {
        k->points.items = nccl_view_take(m->v, count, sizeof *k->points.items);
        if (k->points.items) calls_walk(w, calls_visit_point);
    } else {
        memset(w->cells, 0, sizeof *w->cells * NCCL_VIEW_ACROSS * NCCL_VIEW_UP);
        calls_walk(w, calls_visit_cell);
        calls_keep_cells(m, k, w->cells);
    }
    k->bins.items = nccl_view_take(m->v, bins, sizeof *k->bins.items);
    k->bins.count = k->bins.items ? bins : 0;
    if (k->bins.count) calls_walk(w, calls_visit_bin);
    k->low = calls_six_digits(k->low);
    k->high = calls_six_digits(k->high);
}

static void calls_fill_kind(nccl_view_making *m, const nccl_kind *from, nccl_view_kind *to)
{
    *to = (nccl_view_kind){.size = from->size,
                           .calls = from->instances,
                           .incomplete = from->incomplete,
                           .time_us = from->time_us,
                           .peak_gbs = from->peak_gbs};
    to->type = nccl_class_name(from->type);
    to->meaning = nccl_class_meaning(from->type);
    to->coll = nccl_view_text(m->v, m->n->colls[from->coll]);
    to->has_bus = from->spreads.bus_gbs.count > 0;
    to->wire_us = from->spreads.wire_us;
    to->skew_us = from->spreads.skew_us;
    to->time_spread_us = from->spreads.time_us;
    to->bus_gbs = from->spreads.bus_gbs;
    to->mean_bus_gbs = from->spreads.mean_bus_gbs;
}

void nccl_view_add_kinds(nccl_view_making *m)
{
    const nccl *n = m->n;
    nccl_view *v = m->v;
    nccl_view_weighed *order = memory_array(NULL, n->kind_count, sizeof *order);
    uint32_t *cells = memory_calloc((size_t)NCCL_VIEW_ACROSS * NCCL_VIEW_UP, sizeof *cells);
    size_t count = n->kind_count < NCCL_VIEW_KINDS ? n->kind_count : NCCL_VIEW_KINDS;
    v->kinds_left = n->kind_count - count;
    v->kinds.items = nccl_view_take(v, count, sizeof *v->kinds.items);
    for (uint32_t i = 0; i < n->kind_count; i++)
        order[i] = (nccl_view_weighed){n->kinds[i].time_us, i};
    qsort(order, n->kind_count, sizeof *order, nccl_view_by_weight);
    for (size_t i = 0; i < count; i++) {
        kind_walk w = {m, &v->kinds.items[i], order[i].index, cells};
        calls_fill_kind(m, &n->kinds[w.kind], w.k);
        calls_add_points(m, &w);
        v->kinds.count = i + 1;
    }
    free(order);
    free(cells);
}
