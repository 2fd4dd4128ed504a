// From single events to tables, of one file and of several.

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

static void table_values_add(nsys_values *v, uint64_t value)
{
    if (value >= UINT32_MAX)
        arrput(v->wide, value);
    else
        arrput(v->narrow, (uint32_t)value);
}

static size_t table_values_count(const nsys_values *v)
{
    return arrlenu(v->narrow) + arrlenu(v->wide);
}

static uint64_t table_value_at(const nsys_values *v, size_t i)
{
    size_t narrow = arrlenu(v->narrow);
    return i < narrow ? v->narrow[i] : v->wide[i - narrow];
}

void nsys_values_free(nsys_values *v)
{
    arrfree(v->narrow);
    arrfree(v->wide);
}

// The k-th smallest, byte by byte from the top: nothing is moved, so that the worst case is as fast as any.
static uint64_t table_select_value(const nsys_values *v, size_t k)
{
    size_t narrow = arrlenu(v->narrow);
    bool in_wide = k >= narrow; // all of these are larger
    size_t from = in_wide ? narrow : 0, to = in_wide ? table_values_count(v) : narrow;
    uint64_t chosen = 0, mask = 0;
    if (in_wide) k -= narrow;
    for (int shift = in_wide ? 56 : 24; shift >= 0; shift -= 8) {
        size_t counts[256] = {0}, byte = 0;
        for (size_t i = from; i < to; i++) {
            uint64_t value = table_value_at(v, i);
            if ((value & mask) == chosen) counts[value >> shift & 0xff]++;
        }
        while (k >= counts[byte])
            k -= counts[byte++];
        chosen |= (uint64_t)byte << shift;
        mask |= (uint64_t)0xff << shift;
    }
    return chosen;
}

static double table_median(const nsys_values *v)
{
    size_t n = table_values_count(v);
    uint64_t upper = table_select_value(v, n / 2), lower = n % 2 ? upper : table_select_value(v, n / 2 - 1);
    return (double)lower + (double)(upper - lower) / 2;
}

// ---- gathering ----

size_t nsys_gather_group(nsys_gather *g, const char *of, size_t of_number, const char *name)
{
    map_key key = map_key_of_name(of_number, name);
    size_t found = nsys_find_key(g->names, key);
    if (found != NSYS_NONE) return found;
    nsys_group group = {.name = memory_strdup(name), .of = of};
    found = arrlenu(g->groups);
    arrput(g->groups, group);
    hmput(g->names, key, found);
    return found;
}

void nsys_gather_add(nsys_gather *g, size_t group, uint64_t value)
{
    table_values_add(&g->groups[group].values, value);
}

void nsys_gather_free(nsys_gather *g)
{
    for (size_t i = 0; i < arrlenu(g->groups); i++) {
        free(g->groups[i].name);
        nsys_values_free(&g->groups[i].values);
    }
    arrfree(g->groups);
    hmfree(g->names);
    hmfree(g->ids);
}

// ---- rows ----

static void table_finish_row(nsys_row *row)
{
    row->mean = row->total == UINT64_MAX ? row->sum / (double)row->count : (double)row->total / (double)row->count;
    row->deviation = row->count > 1 ? sqrt(row->squares / (double)(row->count - 1)) : 0;
}

// Takes the group's name and values.
static void table_fill_row(nsys_row *row, nsys_group *g, bool keep)
{
    const nsys_values *v = &g->values;
    *row = (nsys_row){.name = g->name, .of = g->of, .count = table_values_count(v), .min = UINT64_MAX};
    g->name = NULL;
    for (size_t i = 0; i < row->count; i++) {
        uint64_t value = table_value_at(v, i);
        row->total = sum_capped(row->total, value);
        row->sum += (double)value;
        if (value < row->min) row->min = value;
        if (value > row->max) row->max = value;
    }
    double mean = row->total == UINT64_MAX ? row->sum / (double)row->count : (double)row->total / (double)row->count;
    for (size_t i = 0; i < row->count; i++) {
        double off = (double)table_value_at(v, i) - mean;
        row->squares += off * off;
    }
    row->median = table_median(v);
    table_finish_row(row);
    if (keep) {
        row->values = *v;
        g->values = (nsys_values){0};
    } else {
        nsys_values_free(&g->values);
    }
}

static int table_by_total(const void *a, const void *b)
{
    const nsys_row *x = a, *y = b;
    if (x->total != y->total) return x->total < y->total ? 1 : -1;
    int names = strcmp(x->name, y->name);
    return names ? names : strcmp(x->of ? x->of : "", y->of ? y->of : "");
}

// Orders the rows; sums and shares.
static void table_finish(nsys_table *t)
{
    t->row_count = arrlenu(t->rows);
    t->count = t->total = 0;
    double sum = 0;
    for (size_t i = 0; i < t->row_count; i++) {
        t->total = sum_capped(t->total, t->rows[i].total);
        t->count += t->rows[i].count;
        sum += t->rows[i].sum;
    }
    if (t->row_count) qsort(t->rows, t->row_count, sizeof *t->rows, table_by_total);
    for (size_t i = 0; i < t->row_count; i++) {
        nsys_row *row = &t->rows[i];
        bool exact = t->total < UINT64_MAX;
        row->share = !t->total ? (double)NAN : exact ? (double)row->total / (double)t->total : row->sum / sum;
    }
}

void nsys_gather_end(nsys_gather *g, nsys_table *table, bool keep)
{
    bool kernels = strcmp(table->name, starts[NSYS_KERNELS].name) == 0;
    for (size_t i = 0; i < arrlenu(g->groups); i++) {
        nsys_row row;
        if (!table_values_count(&g->groups[i].values)) continue;
        table_fill_row(&row, &g->groups[i], keep);
        row.nccl = kernels && nsys_is_nccl(row.name);
        arrput(table->rows, row);
    }
    table_finish(table);
    nsys_gather_free(g);
}

void nsys_table_free(nsys_table *t)
{
    for (size_t i = 0; i < t->row_count; i++) {
        free(t->rows[i].name);
        nsys_values_free(&t->rows[i].values);
    }
    arrfree(t->rows);
    t->row_count = 0;
}

// ---- tables that are made of others ----

static void table_append_rows(nsys_table *to, const nsys_table *from, const char *of_from, const char *of_to)
{
    for (size_t i = 0; i < from->row_count; i++) {
        nsys_row row = from->rows[i];
        if (of_from && (!row.of || strcmp(row.of, of_from) != 0)) continue;
        row.values = (nsys_values){0};
        row.of = of_to;
        row.name = memory_strdup(row.name);
        arrput(to->rows, row);
    }
    to->present |= from->present;
    to->left_out += from->left_out;
}

const nsys_table *nsys_table_of(nsys *n, nsys_kind kind)
{
    nsys_table *t = &n->tables[kind];
    if (kind < NSYS_READ || t->rows) return t;
    nsys_table_start(t, kind);
    if (kind == NSYS_GPU) {
        table_append_rows(t, &n->tables[NSYS_KERNELS], NULL, "CUDA_KERNEL");
        table_append_rows(t, &n->tables[NSYS_MEMORY_TIME], NULL, "MEMORY_OPER");
    } else {
        table_append_rows(t, &n->tables[NSYS_NVTX], kind == NSYS_NVTX_PUSHPOP ? "PushPop" : "StartEnd", NULL);
    }
    table_finish(t);
    return t;
}

// ---- one table of several files' ----

// Sums of all parts; the squares are about the mean of all (after Chan, Golub and LeVeque).
static void table_join_sums(nsys_row *to, const nsys_row *from)
{
    double n = (double)to->count, m = (double)from->count, off = from->mean - (n > 0 ? to->sum / n : 0);
    to->squares += from->squares + (n > 0 ? off * off * n * m / (n + m) : 0);
    to->count += from->count;
    to->total = sum_capped(to->total, from->total);
    to->sum += from->sum;
    if (from->min < to->min) to->min = from->min;
    if (from->max > to->max) to->max = from->max;
}

static void table_join_values(nsys_values *to, const nsys_values *from)
{
    for (size_t i = 0; i < table_values_count(from); i++)
        table_values_add(to, table_value_at(from, i));
}

// The row of that name, added if it is new. rows: index by style and name.
static nsys_row *table_joined_row(nsys_table *to, nsys_map **rows, const nsys_row *like)
{
    map_key key = map_key_of_name((size_t)(uintptr_t)like->of, like->name);
    size_t found = nsys_find_key(*rows, key);
    if (found == NSYS_NONE) {
        nsys_row row = {.name = memory_strdup(like->name), .of = like->of, .nccl = like->nccl, .min = UINT64_MAX};
        found = arrlenu(to->rows);
        arrput(to->rows, row);
        hmput(*rows, key, found);
    }
    return &to->rows[found];
}

void nsys_table_join(nsys_table *to, const nsys_table *const *from, size_t count)
{
    nsys_map *rows = NULL;
    uint64_t events = 0;
    for (size_t i = 0; i < count; i++) {
        to->present |= from[i]->present;
        to->left_out += from[i]->left_out;
        to->unended += from[i]->unended;
        events += from[i]->count;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t r = 0; r < from[i]->row_count; r++) {
            nsys_row *row = table_joined_row(to, &rows, &from[i]->rows[r]);
            table_join_sums(row, &from[i]->rows[r]);
            if (events <= NSYS_TOGETHER_EVENTS) table_join_values(&row->values, &from[i]->rows[r].values);
        }
    hmfree(rows);
    for (size_t i = 0; i < arrlenu(to->rows); i++) {
        nsys_row *row = &to->rows[i];
        table_finish_row(row);
        row->median = table_values_count(&row->values) == row->count ? table_median(&row->values) : (double)NAN;
        nsys_values_free(&row->values);
    }
    table_finish(to);
}
