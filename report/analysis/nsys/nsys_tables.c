// From single events to tables, of one file and of several.
#define _POSIX_C_SOURCE 200809L // strdup
#include "analysis/base/list.h"
#include "nsys_private.h"
#include "analysis/base/saturating_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const nsys_table starts[NSYS_TABLES] = {
    [NSYS_API] = {"CUDA API", "cuda_api_sum", "ns", "Num Calls", NULL, "Name", .rows = NULL},
    [NSYS_KERNELS] = {"CUDA kernels", "cuda_gpu_kern_sum", "ns", "Instances", NULL, "Name", .rows = NULL},
    [NSYS_MEMORY_TIME] = {"GPU memory operations by time", "cuda_gpu_mem_time_sum", "ns", "Count", NULL, "Operation",
                          .rows = NULL},
    [NSYS_MEMORY_SIZE] = {"GPU memory operations by size", "cuda_gpu_mem_size_sum", "bytes", "Count", NULL, "Operation",
                          .rows = NULL},
    [NSYS_GRAPHS] = {"CUDA graphs recorded whole", "cuda_graph_sum", "ns", "Launches", NULL, "Name", .rows = NULL},
    [NSYS_NVTX] = {"NVTX ranges", "nvtx_sum", "ns", "Instances", "Style", "Range", .rows = NULL},
    [NSYS_MPI] = {"MPI", "mpi_event_sum", "ns", "Instances", "Source", "Name", .rows = NULL},
    [NSYS_MPI_SIZE] = {"MPI messages by size", "mpi_msg_size_sum", "bytes", "Instances", "Source", "Name",
                       .rows = NULL},
    [NSYS_OSRT] = {"OS runtime libraries", "osrt_sum", "ns", "Num Calls", NULL, "Name", .rows = NULL},
    [NSYS_GPU] = {"Kernels and GPU memory operations", "cuda_gpu_sum", "ns", "Instances", "Category", "Operation",
                  .rows = NULL},
    [NSYS_NVTX_PUSHPOP] = {"NVTX ranges that were pushed and popped", "nvtx_pushpop_sum", "ns", "Instances", NULL,
                           "Range", .rows = NULL},
    [NSYS_NVTX_STARTEND] = {"NVTX ranges that were started and ended", "nvtx_startend_sum", "ns", "Instances", NULL,
                            "Range", .rows = NULL},
};

void nsys_table_start(nsys_table *t, nsys_kind kind)
{
    *t = starts[kind];
}

const char *nsys_kind_name(nsys_kind kind)
{
    return starts[kind].name;
}

nsys_kind nsys_kind_named(const char *name)
{
    int kind = 0;
    while (kind < NSYS_TABLES && strcmp(starts[kind].name, name) != 0)
        kind++;
    return (nsys_kind)kind;
}

bool nsys_is_nccl(const char *name)
{
    if (strncmp(name, "void ", 5) == 0) name += 5;
    return strncmp(name, "nccl", 4) == 0;
}

// ---- values: few are as wide as a machine word ----

static bool values_add(nsys_values *v, uint64_t value)
{
    bool is_wide = value >= UINT32_MAX;
    if (is_wide) {
        if (!list_grow(&v->wide, v->wide_count, &v->wide_room, sizeof *v->wide)) return false;
        v->wide[v->wide_count++] = value;
    } else {
        if (!list_grow(&v->narrow, v->narrow_count, &v->narrow_room, sizeof *v->narrow)) return false;
        v->narrow[v->narrow_count++] = (uint32_t)value;
    }
    return true;
}

static size_t values_count(const nsys_values *v)
{
    return v->narrow_count + v->wide_count;
}

static uint64_t value_at(const nsys_values *v, size_t i)
{
    return i < v->narrow_count ? v->narrow[i] : v->wide[i - v->narrow_count];
}

void nsys_values_free(nsys_values *v)
{
    free(v->narrow);
    free(v->wide);
    *v = (nsys_values){0};
}

// The k-th smallest, byte by byte from the top: nothing is moved, so that the worst case is as fast as any.
static uint64_t select_value(const nsys_values *v, size_t k)
{
    bool in_wide = k >= v->narrow_count; // all of these are larger
    size_t from = in_wide ? v->narrow_count : 0, to = in_wide ? values_count(v) : v->narrow_count;
    uint64_t chosen = 0, mask = 0;
    if (in_wide) k -= v->narrow_count;
    for (int shift = in_wide ? 56 : 24; shift >= 0; shift -= 8) {
        size_t counts[256] = {0}, byte = 0;
        for (size_t i = from; i < to; i++) {
            uint64_t value = value_at(v, i);
            if ((value & mask) == chosen) counts[value >> shift & 0xff]++;
        }
        while (k >= counts[byte])
            k -= counts[byte++];
        chosen |= (uint64_t)byte << shift;
        mask |= (uint64_t)0xff << shift;
    }
    return chosen;
}

static double median_of(const nsys_values *v)
{
    size_t n = values_count(v);
    uint64_t upper = select_value(v, n / 2), lower = n % 2 ? upper : select_value(v, n / 2 - 1);
    return (double)lower + (double)(upper - lower) / 2;
}

// ---- gathering ----

static nsys_group *new_group(nsys_gather *g, const char *of, size_t of_number, const char *name)
{
    if (!list_grow_one(&g->groups, g->count, sizeof *g->groups)) return NULL;
    nsys_group *to = &g->groups[g->count];
    *to = (nsys_group){.name = strdup(name), .of = of};
    if (!to->name) return NULL;
    g->count++;
    size_t *place = lookup_put(&g->names, of_number, to->name);
    if (!place) return NULL;
    *place = g->count - 1;
    return to;
}

size_t nsys_gather_group(nsys_gather *g, const char *of, size_t of_number, const char *name)
{
    size_t found = lookup_find(&g->names, of_number, name);
    if (found != LOOKUP_NONE) return found;
    return new_group(g, of, of_number, name) ? g->count - 1 : LOOKUP_NONE;
}

bool nsys_gather_add(nsys_gather *g, size_t group, uint64_t value)
{
    return values_add(&g->groups[group].values, value);
}

void nsys_gather_free(nsys_gather *g)
{
    for (size_t i = 0; i < g->count; i++) {
        free(g->groups[i].name);
        nsys_values_free(&g->groups[i].values);
    }
    free(g->groups);
    lookup_free(&g->names);
    pairs_free(&g->ids);
    *g = (nsys_gather){0};
}

// ---- rows ----

static void finish_row(nsys_row *row)
{
    row->mean = row->total == UINT64_MAX ? row->sum / (double)row->count : (double)row->total / (double)row->count;
    row->deviation = row->count > 1 ? sqrt(row->squares / (double)(row->count - 1)) : 0;
}

// Takes the group's name and values.
static void fill_row(nsys_row *row, nsys_group *g, bool keep)
{
    const nsys_values *v = &g->values;
    *row = (nsys_row){.name = g->name, .of = g->of, .count = values_count(v), .min = UINT64_MAX};
    g->name = NULL;
    for (size_t i = 0; i < row->count; i++) {
        uint64_t value = value_at(v, i);
        row->total = sum_capped(row->total, value);
        row->sum += (double)value;
        if (value < row->min) row->min = value;
        if (value > row->max) row->max = value;
    }
    double mean = row->total == UINT64_MAX ? row->sum / (double)row->count : (double)row->total / (double)row->count;
    for (size_t i = 0; i < row->count; i++) {
        double off = (double)value_at(v, i) - mean;
        row->squares += off * off;
    }
    row->median = median_of(v);
    finish_row(row);
    if (keep) {
        row->values = *v;
        g->values = (nsys_values){0};
    } else {
        nsys_values_free(&g->values);
    }
}

static int by_total(const void *a, const void *b)
{
    const nsys_row *x = a, *y = b;
    if (x->total != y->total) return x->total < y->total ? 1 : -1;
    int names = strcmp(x->name, y->name);
    return names ? names : strcmp(x->of ? x->of : "", y->of ? y->of : "");
}

// Order, sums and shares.
static void finish_table(nsys_table *t)
{
    t->count = t->total = 0;
    double sum = 0;
    for (size_t i = 0; i < t->row_count; i++) {
        t->total = sum_capped(t->total, t->rows[i].total);
        t->count += t->rows[i].count;
        sum += t->rows[i].sum;
    }
    qsort(t->rows, t->row_count, sizeof *t->rows, by_total);
    for (size_t i = 0; i < t->row_count; i++) {
        nsys_row *row = &t->rows[i];
        bool exact = t->total < UINT64_MAX;
        row->share = !t->total ? (double)NAN : exact ? (double)row->total / (double)t->total : row->sum / sum;
    }
}

bool nsys_gather_end(nsys_gather *g, nsys_table *table, bool keep)
{
    table->rows = calloc(g->count + 1, sizeof *table->rows);
    for (size_t i = 0; table->rows && i < g->count; i++)
        if (values_count(&g->groups[i].values)) fill_row(&table->rows[table->row_count++], &g->groups[i], keep);
    for (size_t i = 0; table->rows && i < table->row_count; i++)
        table->rows[i].nccl = strcmp(table->name, starts[NSYS_KERNELS].name) == 0 && nsys_is_nccl(table->rows[i].name);
    if (table->rows) finish_table(table);
    nsys_gather_free(g);
    return table->rows != NULL;
}

void nsys_table_free(nsys_table *t)
{
    for (size_t i = 0; i < t->row_count; i++) {
        free(t->rows[i].name);
        nsys_values_free(&t->rows[i].values);
    }
    free(t->rows);
    t->rows = NULL;
    t->row_count = 0;
}

// ---- tables that are made of others ----

static bool append_rows(nsys_table *to, const nsys_table *from, const char *of_from, const char *of_to)
{
    nsys_row *larger = realloc(to->rows, (to->row_count + from->row_count + 1) * sizeof *larger);
    if (!larger) return false;
    to->rows = larger;
    for (size_t i = 0; i < from->row_count; i++) {
        if (of_from && (!from->rows[i].of || strcmp(from->rows[i].of, of_from) != 0)) continue;
        nsys_row *row = &to->rows[to->row_count];
        *row = from->rows[i];
        row->values = (nsys_values){0};
        row->of = of_to;
        if (!(row->name = strdup(from->rows[i].name))) return false;
        to->row_count++;
    }
    to->present |= from->present;
    to->left_out += from->left_out;
    return true;
}

const nsys_table *nsys_table_of(nsys *n, nsys_kind kind)
{
    nsys_table *t = &n->tables[kind];
    if (kind < NSYS_READ || t->rows) return t;
    nsys_table_start(t, kind);
    bool good = kind == NSYS_GPU
                    ? append_rows(t, &n->tables[NSYS_KERNELS], NULL, "CUDA_KERNEL") &&
                          append_rows(t, &n->tables[NSYS_MEMORY_TIME], NULL, "MEMORY_OPER")
                    : append_rows(t, &n->tables[NSYS_NVTX], kind == NSYS_NVTX_PUSHPOP ? "PushPop" : "StartEnd", NULL);
    if (!good) {
        nsys_table_free(t);
        return NULL;
    }
    finish_table(t);
    return t;
}

// ---- one table of several files' ----

// Sums of all parts; the squares are about the mean of all (after Chan, Golub and LeVeque).
static void join_sums(nsys_row *to, const nsys_row *from)
{
    double n = (double)to->count, m = (double)from->count, off = from->mean - (n > 0 ? to->sum / n : 0);
    to->squares += from->squares + (n > 0 ? off * off * n * m / (n + m) : 0);
    to->count += from->count;
    to->total = sum_capped(to->total, from->total);
    to->sum += from->sum;
    if (from->min < to->min) to->min = from->min;
    if (from->max > to->max) to->max = from->max;
}

static bool join_values(nsys_values *to, const nsys_values *from)
{
    for (size_t i = 0; i < values_count(from); i++)
        if (!values_add(to, value_at(from, i))) return false;
    return true;
}

// The row of that name, made when there is none; NULL without memory.
static nsys_row *joined_row(nsys_table *to, lookup *names, const nsys_row *like)
{
    size_t *place = lookup_put(names, like->of ? (size_t)(uintptr_t)like->of : 0, like->name);
    if (!place || *place != LOOKUP_NONE) return place ? &to->rows[*place] : NULL;
    if (!list_grow_one(&to->rows, to->row_count, sizeof *to->rows)) return NULL;
    char *name = strdup(like->name);
    if (!name) return NULL;
    *place = to->row_count;
    nsys_row *row = &to->rows[to->row_count++];
    *row = (nsys_row){.name = name, .of = like->of, .nccl = like->nccl, .min = UINT64_MAX};
    return row;
}

bool nsys_table_join(nsys_table *to, const nsys_table *const *from, size_t count)
{
    lookup names = {0};
    uint64_t events = 0;
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        to->present |= from[i]->present;
        to->left_out += from[i]->left_out;
        to->unended += from[i]->unended;
        events += from[i]->count;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t r = 0; r < from[i]->row_count && good; r++) {
            nsys_row *row = joined_row(to, &names, &from[i]->rows[r]);
            good = row != NULL;
            if (good) join_sums(row, &from[i]->rows[r]);
            if (good && events <= NSYS_TOGETHER_EVENTS) good = join_values(&row->values, &from[i]->rows[r].values);
        }
    lookup_free(&names); // its keys are names of rows
    for (size_t i = 0; i < to->row_count; i++) {
        nsys_row *row = &to->rows[i];
        finish_row(row);
        row->median = good && values_count(&row->values) == row->count ? median_of(&row->values) : (double)NAN;
        nsys_values_free(&row->values);
    }
    if (good && !to->rows) good = (to->rows = calloc(1, sizeof *to->rows)) != NULL;
    if (good) finish_table(to);
    return good;
}
