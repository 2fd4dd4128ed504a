// From single events to tables, and to shares over time.
#define _POSIX_C_SOURCE 200809L // strdup
#include "nsys_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool grow(void *list, size_t count, size_t *room, size_t size)
{
    void **place = list;
    if (count < *room) return true;
    size_t larger = *room ? 2 * *room : 16;
    void *grown = realloc(*place, larger * size);
    if (!grown) return false;
    *place = grown;
    *room = larger;
    return true;
}

// ---- tables ----

static nsys_group *group_of(nsys_gather *g, const char *name, bool nccl)
{
    size_t found = lookup_find(&g->names, nccl, name), *place;
    if (found != LOOKUP_NONE) return &g->groups[found];
    if (!(g->count & (g->count - 1))) {
        nsys_group *larger = realloc(g->groups, (g->count ? 2 * g->count : 1) * sizeof *larger);
        if (!larger) return NULL;
        g->groups = larger;
    }
    nsys_group *to = &g->groups[g->count];
    *to = (nsys_group){.name = strdup(name), .nccl = nccl};
    if (!to->name) return NULL;
    g->count++;
    if (!(place = lookup_put(&g->names, nccl, to->name))) return NULL;
    *place = g->count - 1;
    return to;
}

bool nsys_gather_add(nsys_gather *g, const char *name, bool nccl, uint64_t value)
{
    nsys_group *group = group_of(g, name, nccl);
    if (!group || !grow(&group->values, group->count, &group->room, sizeof *group->values)) return false;
    group->values[group->count++] = value;
    return true;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void fill_row(nsys_row *row, nsys_group *g)
{
    double sum = 0, squares = 0;
    *row = (nsys_row){.name = g->name, .nccl = g->nccl, .count = g->count};
    g->name = NULL;
    qsort(g->values, g->count, sizeof *g->values, by_value);
    for (size_t i = 0; i < g->count; i++) {
        row->total = add(row->total, g->values[i]);
        sum += (double)g->values[i];
    }
    row->min = g->values[0];
    row->max = g->values[g->count - 1];
    row->mean = sum / (double)g->count;
    row->median = ((double)g->values[(g->count - 1) / 2] + (double)g->values[g->count / 2]) / 2;
    for (size_t i = 0; i < g->count; i++) {
        double off = (double)g->values[i] - row->mean;
        squares += off * off;
    }
    row->deviation = g->count > 1 ? sqrt(squares / (double)(g->count - 1)) : 0;
}

static int by_total(const void *a, const void *b)
{
    const nsys_row *x = a, *y = b;
    if (x->total != y->total) return x->total < y->total ? 1 : -1;
    return strcmp(x->name, y->name);
}

bool nsys_gather_end(nsys_gather *g, nsys_table *table)
{
    table->rows = calloc(g->count + 1, sizeof *table->rows);
    for (size_t i = 0; table->rows && i < g->count; i++) {
        if (!g->groups[i].count) continue;
        nsys_row *row = &table->rows[table->row_count++];
        fill_row(row, &g->groups[i]);
        table->total = add(table->total, row->total);
        table->count += row->count;
    }
    if (table->rows) qsort(table->rows, table->row_count, sizeof *table->rows, by_total);
    for (size_t i = 0; table->rows && i < table->row_count; i++)
        table->rows[i].share =
            table->total ? (double)table->rows[i].total / (double)table->total : (double)NAN;
    nsys_gather_free(g);
    return table->rows != NULL;
}

void nsys_gather_free(nsys_gather *g)
{
    for (size_t i = 0; i < g->count; i++) {
        free(g->groups[i].name);
        free(g->groups[i].values);
    }
    free(g->groups);
    lookup_free(&g->names);
    *g = (nsys_gather){0};
}

// ---- busy over time ----

bool nsys_spans_add(nsys_spans **gpus, size_t *count, int64_t device, int what, nsys_span span)
{
    size_t i = 0;
    while (i < *count && (*gpus)[i].device != device)
        i++;
    if (i == *count) {
        nsys_spans *larger = realloc(*gpus, (*count + 1) * sizeof *larger);
        if (!larger) return false;
        *gpus = larger;
        larger[(*count)++] = (nsys_spans){.device = device};
    }
    nsys_spans *to = &(*gpus)[i];
    if (!grow(&to->items[what], to->count[what], &to->room[what], sizeof span)) return false;
    to->items[what][to->count[what]++] = span;
    return true;
}

static int by_begin(const void *a, const void *b)
{
    const nsys_span *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static int by_device(const void *a, const void *b)
{
    const nsys_spans *x = a, *y = b;
    return (x->device > y->device) - (x->device < y->device);
}

static double bin_length(const nsys *n)
{
    return (double)(n->end_ns - n->begin_ns) / (double)n->bin_count;
}

int64_t nsys_bin_begin(const nsys *n, size_t i)
{
    return i >= n->bin_count ? n->end_ns : n->begin_ns + (int64_t)(bin_length(n) * (double)i);
}

static void add_span(const nsys *n, double *bins, nsys_span s)
{
    double length = bin_length(n), begin = (double)(s.begin - n->begin_ns),
           end = (double)(s.end - n->begin_ns);
    if (!(length > 0)) return;
    size_t first = (size_t)(begin / length);
    for (size_t i = first; i < n->bin_count && (double)i * length < end; i++) {
        double from = fmax(begin, (double)i * length), to = fmin(end, (double)(i + 1) * length);
        if (to > from) bins[i] += (to - from) / length;
    }
}

// Spans of several streams overlap: time counts once.
static void join_spans(const nsys *n, nsys_gpu *gpu, int what, nsys_span *items, size_t count)
{
    if (count) qsort(items, count, sizeof *items, by_begin);
    for (size_t i = 0; i < count;) {
        nsys_span joined = items[i++];
        while (i < count && items[i].begin <= joined.end) {
            if (items[i].end > joined.end) joined.end = items[i].end;
            i++;
        }
        gpu->busy_ns[what] += (uint64_t)(joined.end - joined.begin);
        add_span(n, gpu->busy[what], joined);
    }
    for (size_t i = 0; i < n->bin_count; i++)
        gpu->busy[what][i] = fmin(gpu->busy[what][i], 1);
}

bool nsys_spans_end(nsys *n, nsys_spans *gpus, size_t count, size_t bins)
{
    if (!count) return true;
    n->begin_ns = INT64_MAX;
    for (size_t g = 0; g < count; g++)
        for (int what = 0; what < NSYS_BUSY; what++)
            for (size_t i = 0; i < gpus[g].count[what]; i++) {
                const nsys_span *s = &gpus[g].items[what][i];
                if (s->begin < n->begin_ns) n->begin_ns = s->begin;
                if (s->end > n->end_ns) n->end_ns = s->end;
            }
    n->bin_count = bins;
    qsort(gpus, count, sizeof *gpus, by_device);
    n->gpus = calloc(count, sizeof *n->gpus);
    if (!n->gpus) return false;
    for (size_t g = 0; g < count; g++) {
        nsys_gpu *gpu = &n->gpus[n->gpu_count++];
        gpu->device = gpus[g].device;
        for (int what = 0; what < NSYS_BUSY; what++) {
            if (!(gpu->busy[what] = calloc(bins, sizeof *gpu->busy[what]))) return false;
            join_spans(n, gpu, what, gpus[g].items[what], gpus[g].count[what]);
        }
    }
    return true;
}

void nsys_spans_free(nsys_spans *gpus, size_t count)
{
    for (size_t g = 0; g < count; g++)
        for (int what = 0; what < NSYS_BUSY; what++)
            free(gpus[g].items[what]);
    free(gpus);
}
