// Histograms whose samples moved to other bins, and gauges whose ranges do not meet.
#include "comparer.h"

#include "analysis/base/stb_ds.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- histograms ----

// One bucket of a run's device.
typedef struct bucket {
    const char *name;
    size_t stem; // length of the name up to the bucket's number
    unsigned long number;
} bucket;

// "pct_req_rsp_latency_7", "hni_rx_ok_36_to_63", "hni_rx_ok_8192_to_max": the number is the first of the range.
static bool shapes_parse_bucket(const char *name, bucket *b)
{
    size_t n = strlen(name), at = n;
    if (n > 7 && strcmp(name + n - 7, "_to_max") == 0) {
        at = n - 7;
    } else {
        while (at && isdigit((unsigned char)name[at - 1]))
            at--;
        if (at == n) return false;
        if (at > 4 && strncmp(name + at - 4, "_to_", 4) == 0 && isdigit((unsigned char)name[at - 5]))
            at -= 4;
        else
            at = n;
    }
    while (at && isdigit((unsigned char)name[at - 1]))
        at--;
    *b = (bucket){name, at, strtoul(name + at, NULL, 10)};
    return true;
}

static int shapes_by_bin(const void *a, const void *b)
{
    const bucket *x = a, *y = b;
    size_t least = x->stem < y->stem ? x->stem : y->stem;
    int order = strncmp(x->name, y->name, least);
    if (order) return order;
    if (x->stem != y->stem) return x->stem < y->stem ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static bucket *shapes_buckets(const netprof_schema *schema, const netprof_device *dev, size_t *count)
{
    bucket *list = memory_calloc(dev->count, sizeof *list);
    *count = 0;
    for (size_t i = dev->first; i < (size_t)dev->first + dev->count; i++)
        if (schema->counters[i].kind == NETPROF_KIND_HISTOGRAM &&
            shapes_parse_bucket(schema->counters[i].name, &list[*count]))
            ++*count;
    qsort(list, *count, sizeof *list, shapes_by_bin);
    return list;
}

// Share of the samples in each bin, of one side's runs together. False: too few, or a bin is not known.
static bool shapes_shares(const comparer *m, size_t device, comparison_side side, const bucket *bins, size_t count,
                          double *share)
{
    enum { LEAST = 1000 };
    const comparison *c = m->c;
    double all = 0;
    for (size_t b = 0; b < count; b++) {
        share[b] = 0;
        for (size_t r = 0; r < c->run_count; r++) {
            size_t place = comparer_place(m, device, r);
            if (c->runs[r]->side != side || place == DIFFERENCE_NONE) continue;
            size_t i = evaluation_counter(&m->runs[r], place, bins[b].name);
            if (i == DIFFERENCE_NONE) return false;
            const difference_row *row = &c->runs[r]->d.rows[i];
            if (row->flag != NETPROF_FLAG_OK && row->flag != NETPROF_FLAG_WRAPPED) return false;
            share[b] += (double)row->magnitude;
        }
        all += share[b];
    }
    for (size_t b = 0; b < count && all > 0; b++)
        share[b] /= all;
    return all >= LEAST;
}

static size_t shapes_middle(const double *share, size_t count)
{
    double sum = 0;
    size_t b = 0;
    while (b + 1 < count && (sum += share[b]) < 0.5)
        b++;
    return b;
}

static void shapes_add(comparison *c, comparison_shape shape, const bucket *bins, double *const share[COMPARISON_SIDES])
{
    shape.name = memory_format("%.*s*", (int)bins->stem, bins->name);
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        shape.share[side] = memory_copy(share[side], shape.bins * sizeof **share);
        shape.middle_bin[side] = shapes_middle(share[side], shape.bins);
        shape.middle[side] = bins[shape.middle_bin[side]].name;
    }
    arrput(c->shapes, shape);
}

// One histogram on the devices of its source: the one where it moved most stays.
static void shapes_compare(comparer *m, size_t first, size_t end, const bucket *bins, size_t count)
{
    static const double least = 0.05;
    comparison_shape shape = {.source = m->c->devices[first].source, .bins = count};
    double *work = memory_calloc(4 * count, sizeof *work);
    double *share[COMPARISON_SIDES] = {work, work + count},
           *most[COMPARISON_SIDES] = {work + 2 * count, work + 3 * count};
    for (size_t i = first; i < end; i++) {
        double moved = 0;
        bool known = true;
        for (int side = 0; side < COMPARISON_SIDES; side++)
            known = known && shapes_shares(m, i, (comparison_side)side, bins, count, share[side]);
        for (size_t b = 0; b < count; b++)
            moved += fabs(share[0][b] - share[1][b]) / 2;
        if (!known || moved <= shape.moved) continue;
        shape.moved = moved;
        shape.device = i;
        memcpy(most[0], share[0], 2 * count * sizeof *work);
    }
    if (shape.moved >= least) shapes_add(m->c, shape, bins, most);
    free(work);
}

static int shapes_by_moved(const void *a, const void *b)
{
    const comparison_shape *x = a, *y = b;
    if (x->moved > y->moved || x->moved < y->moved) return x->moved > y->moved ? -1 : 1;
    return strcmp(x->name, y->name);
}

// The buckets as the first run with a device of the source has them.
static void shapes_of_source(comparer *m, size_t first, size_t end)
{
    const comparison *c = m->c;
    size_t run = 0, count;
    while (run < c->run_count && c->devices[first].places[run] == DIFFERENCE_NONE)
        run++;
    if (run == c->run_count) return;
    const netprof_schema *schema = c->runs[run]->d.delta->schema;
    bucket *list = shapes_buckets(schema, &schema->devices[c->devices[first].places[run]], &count);
    for (size_t b = 0, next; b < count; b = next) {
        for (next = b + 1; next < count && list[next].stem == list[b].stem; next++)
            if (strncmp(list[next].name, list[b].name, list[b].stem) != 0) break;
        if (next > b + 1) shapes_compare(m, first, end, &list[b], next - b);
    }
    free(list);
}

void comparer_shapes(comparer *m)
{
    comparison *c = m->c;
    for (size_t first = 0, end; first < c->device_count; first = end) {
        end = comparer_source_end(c, first);
        shapes_of_source(m, first, end);
    }
    c->shape_count = arrlenu(c->shapes);
    if (c->shape_count) qsort(c->shapes, c->shape_count, sizeof *c->shapes, shapes_by_moved);
}

// ---- gauges ----

static double gauges_value(const comparer *m, size_t device, size_t run, const char *name)
{
    size_t place = comparer_place(m, device, run);
    size_t i = place == DIFFERENCE_NONE ? DIFFERENCE_NONE : evaluation_counter(&m->runs[run], place, name);
    if (i == DIFFERENCE_NONE) return NAN;
    const netprof_delta *delta = m->c->runs[run]->d.delta;
    if (delta->after_status[i] != NETPROF_STATUS_OK) return NAN;
    bool is_signed = delta->schema->counters[i].flags & NETPROF_SIGNED;
    return is_signed ? (double)(int64_t)delta->after[i] : (double)delta->after[i];
}

static void gauges_add(comparer *m, size_t device, size_t run, size_t counter, double *values)
{
    comparison *c = m->c;
    const netprof_counter *about = &c->runs[run]->d.delta->schema->counters[counter];
    comparison_gauge g = {.device = device,
                          .name = about->name,
                          .unit = c->runs[run]->d.rows[counter].unit,
                          .is_signed = about->flags & NETPROF_SIGNED};
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        size_t n = 0;
        for (size_t r = 0; r < c->run_count; r++)
            if (c->runs[r]->side == (comparison_side)side) values[n++] = gauges_value(m, device, r, about->name);
        g.side[side] = comparison_range_of(values, n);
    }
    const comparison_range *h = &g.side[COMPARISON_HEALTHY], *f = &g.side[COMPARISON_FAULTY];
    if (isnan(h->median) || isnan(f->median) || (f->min <= h->max && h->min <= f->max)) return;
    arrput(c->gauges, g);
    c->gauge_count = arrlenu(c->gauges);
}

static double gauges_step(const comparison_gauge *g)
{
    return fabs(log2((fabs(g->side[COMPARISON_FAULTY].median) + 1) / (fabs(g->side[COMPARISON_HEALTHY].median) + 1)));
}

static int gauges_by_step(const void *a, const void *b)
{
    const comparison_gauge *x = a, *y = b;
    double p = gauges_step(x), q = gauges_step(y);
    if (p > q || p < q) return p > q ? -1 : 1;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    return catalog_name_compare(x->name, y->name);
}

void comparer_gauges(comparer *m)
{
    static const uint32_t incomparable = CATALOG_CLOCK_ONLY | CATALOG_TIME_OF_DAY | CATALOG_UNUSABLE;
    comparison *c = m->c;
    double *values = memory_calloc(c->run_count, sizeof *values);
    for (size_t i = 0; i < c->device_count; i++) {
        size_t run = 0; // names as the first run with the device has them
        while (run < c->run_count && c->devices[i].places[run] == DIFFERENCE_NONE)
            run++;
        const netprof_schema *schema = c->runs[run]->d.delta->schema;
        const netprof_device *dev = &schema->devices[c->devices[i].places[run]];
        for (size_t k = dev->first; k < (size_t)dev->first + dev->count; k++)
            if (comparer_is_gauge(&schema->counters[k]) &&
                !(catalog_marks(dev->source, schema->counters[k].name) & incomparable))
                gauges_add(m, i, run, k, values);
    }
    free(values);
    if (c->gauge_count) qsort(c->gauges, c->gauge_count, sizeof *c->gauges, gauges_by_step);
}
