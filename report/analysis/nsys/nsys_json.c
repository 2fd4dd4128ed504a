#include "analysis/data/clocks.h"
#include "analysis/base/json_values.h"
#include "nsys.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static json_object *text_json(const char *text)
{
    return text ? json_text_value(text) : NULL;
}

static json_object *number_json(double value)
{
    return isfinite(value) ? json_object_new_double(value) : NULL;
}

// Sums end at UINT64_MAX: that one is not known.
static json_object *exact_json(uint64_t value)
{
    if (value == UINT64_MAX) return NULL;
    return value > INT64_MAX ? json_object_new_uint64(value) : json_object_new_int64((int64_t)value);
}

// Keys of quantities end in their unit: "total_ns", "total_bytes".
static void add_quantity(json_object *o, const char *what, const char *unit, json_object *value)
{
    char key[64];
    snprintf(key, sizeof key, "%s_%s", what, unit);
    json_put(o, key, value);
}

static json_object *row_json(const nsys_table *t, const nsys_row *row)
{
    json_object *o = json_object_new_object();
    json_put(o, "name", text_json(row->name));
    if (row->of) json_put(o, "of", json_object_new_string(row->of));
    json_put(o, "share", number_json(row->share));
    json_put_exact(o, "count", row->count);
    add_quantity(o, "total", t->unit, exact_json(row->total));
    add_quantity(o, "mean", t->unit, number_json(row->mean));
    add_quantity(o, "median", t->unit, number_json(row->median));
    add_quantity(o, "min", t->unit, exact_json(row->min));
    add_quantity(o, "max", t->unit, exact_json(row->max));
    add_quantity(o, "deviation", t->unit, number_json(row->deviation));
    if (strcmp(t->name, "cuda_gpu_kern_sum") == 0) json_put(o, "nccl", json_object_new_boolean(row->nccl));
    return o;
}

static json_object *table_json(const nsys_table *t)
{
    json_object *o = json_object_new_object(), *rows = json_object_new_array();
    json_put(o, "title", text_json(t->title));
    json_put_exact(o, "count", t->count);
    add_quantity(o, "total", t->unit, exact_json(t->total));
    json_put_exact(o, "left_out", t->left_out);
    if (strcmp(t->name, "nvtx_sum") == 0) json_put_exact(o, "unended", t->unended);
    for (size_t i = 0; i < t->row_count; i++)
        json_object_array_add(rows, row_json(t, &t->rows[i]));
    json_put(o, "rows", rows);
    return o;
}

static json_object *gpu_json(const nsys *n, const nsys_gpu *gpu)
{
    static const char *const keys[NSYS_BUSY] = {"kernels", "nccl_kernels", "memory_operations"};
    json_object *o = json_object_new_object();
    json_put(o, "device", json_object_new_int64(gpu->device));
    if (gpu->pid >= 0) json_put(o, "pid", json_object_new_int64(gpu->pid));
    json_put(o, "name", text_json(gpu->name));
    json_put(o, "bus", text_json(gpu->bus));
    for (int what = 0; what < NSYS_BUSY; what++) {
        json_object *busy = json_object_new_object(), *list = json_object_new_array();
        json_put_exact(busy, "busy_ns", gpu->busy_ns[what]);
        for (size_t i = 0; i < n->bin_count; i++)
            json_object_array_add(list, number_json(gpu->busy[what][i]));
        json_put(busy, "shares", list);
        json_put(o, keys[what], busy);
    }
    return o;
}

static json_object *busy_json(const nsys *n)
{
    json_object *o = json_object_new_object(), *begins = json_object_new_array(), *gpus = json_object_new_array();
    bool wall = n->session_ns > 0;
    json_put(o, "clock", json_object_new_string(wall ? "ns since 1970-01-01 UTC" : "ns since the profile began"));
    for (size_t i = 0; i < n->bin_count; i++)
        json_object_array_add(begins, json_object_new_int64((wall ? n->session_ns : 0) + nsys_bin_begin(n, i)));
    json_put(o, "bin_begins_ns", begins);
    json_put(o, "end_ns", n->bin_count ? json_object_new_int64((wall ? n->session_ns : 0) + n->end_ns) : NULL);
    for (size_t i = 0; i < n->gpu_count; i++)
        json_object_array_add(gpus, gpu_json(n, &n->gpus[i]));
    json_put(o, "gpus", gpus);
    return o;
}

static json_object *tables_json(nsys *n, const bool chosen[NSYS_TABLES])
{
    json_object *tables = json_object_new_object();
    for (int i = 0; i < NSYS_TABLES; i++) {
        const nsys_table *t = chosen[i] ? nsys_table_of(n, (nsys_kind)i) : NULL;
        if (t && t->present) json_put(tables, t->name, table_json(t));
    }
    return tables;
}

// What a file cannot tell is not there.
static json_object *process_json(const nsys *n, const nsys_process *p)
{
    static const char *const keys[NSYS_SPENT] = {"kernels_ns", "nccl_kernels_ns", "memory_operations_ns", "mpi_ns",
                                                 "cuda_api_ns"};
    json_object *o = json_object_new_object();
    json_put(o, "file", text_json(n->path));
    json_put(o, "host", text_json(n->host));
    json_put(o, "pid", p->pid >= 0 ? json_object_new_int64(p->pid) : NULL);
    json_put(o, "rank", p->rank >= 0 ? json_object_new_int64(p->rank) : NULL);
    for (int what = 0; what < NSYS_SPENT; what++)
        if (n->knows[what]) json_put(o, keys[what], exact_json(p->spent_ns[what]));
    return o;
}

json_object *nsys_json(nsys *n, const bool chosen[NSYS_TABLES])
{
    json_object *o = json_object_new_object(), *list = json_object_new_array();
    json_put(o, "file", text_json(n->path));
    json_put(o, "host", text_json(n->host));
    json_put(o, "version", text_json(n->version));
    json_put(o, "session_begin_ns", n->session_ns > 0 ? json_object_new_int64(n->session_ns) : NULL);
    json_put(o, "tables", tables_json(n, chosen));
    for (size_t i = 0; i < sizeof n->not_read / sizeof *n->not_read && n->not_read[i]; i++)
        json_object_array_add(list, text_json(n->not_read[i]));
    json_put(o, "tables_not_read", list);
    json_put(o, "busy", busy_json(n));
    return o;
}

static json_object *balance_json(const nsys_job *job)
{
    json_object *all = json_object_new_object();
    for (int what = 0; what < NSYS_SPENT; what++) {
        const nsys_balance *b = &job->balance[what];
        if (!b->count) continue;
        json_object *o = json_object_new_object();
        json_put_exact(o, "processes", b->count);
        json_put(o, "mean_ns", number_json(b->mean));
        json_put(o, "largest_ns", exact_json(job->spent[b->high].process->spent_ns[what]));
        json_put(o, "smallest_ns", exact_json(job->spent[b->low].process->spent_ns[what]));
        json_put(o, "largest_over_mean", number_json(b->ratio));
        json_put(all, nsys_spent_name(what), o);
    }
    return all;
}

static json_object *clocks_json(const nsys_job *job)
{
    json_object *o = json_object_new_object(), *list = json_object_new_array();
    json_put(o, "text", text_json(job->clock_text));
    json_put(o, "collectives", json_object_new_int64((int64_t)job->meetings));
    json_put(o, "uncertain_ns",
             job->placed && job->clocks->error_ns >= 0 && job->clocks->hosts > 1
                 ? json_object_new_int64(job->clocks->error_ns)
                 : NULL);
    for (size_t i = 0; job->placed && i < job->file_count; i++) {
        json_object *file = json_object_new_object();
        json_put(file, "file", text_json(job->files[i].path));
        json_put(file, "begin_ns", json_object_new_int64(job->begin_ns[i]));
        json_put(file, "moved_ns", json_object_new_int64(job->begin_ns[i] - job->files[i].session_ns));
        json_object_array_add(list, file);
    }
    json_put(o, "files", list);
    return o;
}

void nsys_job_json(json_object *to, nsys_job *job, const bool chosen[NSYS_TABLES])
{
    json_object *list = json_object_new_array();
    for (size_t i = 0; i < job->spent_count; i++)
        json_object_array_add(list, process_json(&job->files[job->spent[i].file], job->spent[i].process));
    json_put(to, "processes", list);
    if (job->repeated_rank >= 0) json_put(to, "rank_in_several_files", json_object_new_int64(job->repeated_rank));
    json_put(to, "balance", balance_json(job));
    json_put(to, "clocks", clocks_json(job));
    if (job->file_count > 1) json_put(to, "together", tables_json(&job->together, chosen));
}
