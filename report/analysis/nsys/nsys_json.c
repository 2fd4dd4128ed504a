#include "analysis/data/clocks.h"
#include "analysis/base/json_values.h"
#include "nsys.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static json_object *nsys_json_text(const char *text)
{
    return text ? json_text_value(text) : NULL;
}

static json_object *nsys_json_number(double value)
{
    return isfinite(value) ? json_new_double(value) : NULL;
}

// Sums end at UINT64_MAX: that one is not known.
static json_object *nsys_json_exact(uint64_t value)
{
    if (value == UINT64_MAX) return NULL;
    return value > INT64_MAX ? json_new_uint64(value) : json_new_int64((int64_t)value);
}

// Keys of quantities end in their unit: "total_ns", "total_bytes".
static void nsys_json_put_quantity(json_object *o, const char *what, const char *unit, json_object *value)
{
    char key[64];
    snprintf(key, sizeof key, "%s_%s", what, unit);
    json_put(o, key, value);
}

static json_object *nsys_json_row(const nsys_table *t, const nsys_row *row)
{
    json_object *o = json_new_object();
    json_put(o, "name", nsys_json_text(row->name));
    if (row->of) json_put(o, "of", json_new_string(row->of));
    json_put(o, "share", nsys_json_number(row->share));
    json_put_exact(o, "count", row->count);
    nsys_json_put_quantity(o, "total", t->unit, nsys_json_exact(row->total));
    nsys_json_put_quantity(o, "mean", t->unit, nsys_json_number(row->mean));
    nsys_json_put_quantity(o, "median", t->unit, nsys_json_number(row->median));
    nsys_json_put_quantity(o, "min", t->unit, nsys_json_exact(row->min));
    nsys_json_put_quantity(o, "max", t->unit, nsys_json_exact(row->max));
    nsys_json_put_quantity(o, "deviation", t->unit, nsys_json_number(row->deviation));
    if (strcmp(t->name, "cuda_gpu_kern_sum") == 0) json_put(o, "nccl", json_new_boolean(row->nccl));
    return o;
}

static json_object *nsys_json_table(const nsys_table *t)
{
    json_object *o = json_new_object(), *rows = json_new_array();
    json_put(o, "title", nsys_json_text(t->title));
    json_put_exact(o, "count", t->count);
    nsys_json_put_quantity(o, "total", t->unit, nsys_json_exact(t->total));
    json_put_exact(o, "rows_left_out", t->left_out);
    if (strcmp(t->name, "nvtx_sum") == 0) json_put_exact(o, "unended", t->unended);
    for (size_t i = 0; i < t->row_count; i++)
        json_append(rows, nsys_json_row(t, &t->rows[i]));
    json_put(o, "rows", rows);
    return o;
}

static const char *const spent_keys[NSYS_SPENT] = {"kernels_ns", "nccl_kernels_ns", "memory_operations_ns", "mpi_ns",
                                                   "cuda_api_ns"};

static json_object *nsys_json_gpu(const nsys *n, const nsys_gpu *gpu)
{
    static const char *const keys[NSYS_BUSY] = {"kernels", "nccl_kernels", "memory_operations"};
    json_object *o = json_new_object();
    json_put(o, "gpu", json_new_int64(gpu->device));
    if (gpu->pid >= 0) json_put(o, "pid", json_new_int64(gpu->pid));
    json_put(o, "name", nsys_json_text(gpu->name));
    json_put(o, "bus", nsys_json_text(gpu->bus));
    for (int what = 0; what < NSYS_BUSY; what++) {
        json_object *busy = json_new_object(), *list = json_new_array();
        json_put_exact(busy, "busy_ns", gpu->busy_ns[what]);
        for (size_t i = 0; i < n->bin_count; i++)
            json_append(list, nsys_json_number(gpu->busy[what][i]));
        json_put(busy, "shares", list);
        json_put(o, keys[what], busy);
    }
    return o;
}

static json_object *nsys_json_busy(const nsys *n)
{
    json_object *o = json_new_object(), *begins = json_new_array(), *gpus = json_new_array();
    bool wall = n->session_ns > 0;
    json_put(o, "clock", json_new_string(wall ? "ns since 1970-01-01 UTC" : "ns since the profile began"));
    for (size_t i = 0; i < n->bin_count; i++)
        json_append(begins, json_new_int64((wall ? n->session_ns : 0) + nsys_bin_begin(n, i)));
    json_put(o, "bin_begins_ns", begins);
    json_put(o, "end_ns", n->bin_count ? json_new_int64((wall ? n->session_ns : 0) + n->end_ns) : NULL);
    for (size_t i = 0; i < n->gpu_count; i++)
        json_append(gpus, nsys_json_gpu(n, &n->gpus[i]));
    json_put(o, "gpus", gpus);
    return o;
}

static json_object *nsys_json_tables(nsys *n, const bool chosen[NSYS_TABLES])
{
    json_object *tables = json_new_object();
    for (int i = 0; i < NSYS_TABLES; i++) {
        const nsys_table *t = chosen[i] ? nsys_table_of(n, (nsys_kind)i) : NULL;
        if (t && t->present) json_put(tables, t->name, nsys_json_table(t));
    }
    return tables;
}

// Leaves out values that the file does not have.
static json_object *nsys_json_process(const nsys *n, const nsys_process *p)
{
    json_object *o = json_new_object();
    json_put(o, "file", nsys_json_text(n->path));
    json_put(o, "host", nsys_json_text(n->host));
    json_put(o, "pid", p->pid >= 0 ? json_new_int64(p->pid) : NULL);
    json_put(o, "rank", p->rank >= 0 ? json_new_int64(p->rank) : NULL);
    for (int what = 0; what < NSYS_SPENT; what++)
        if (n->knows[what]) json_put(o, spent_keys[what], nsys_json_exact(p->spent_ns[what]));
    return o;
}

json_object *nsys_json(nsys *n, const bool chosen[NSYS_TABLES])
{
    json_object *o = json_new_object(), *list = json_new_array();
    json_put(o, "file", nsys_json_text(n->path));
    json_put(o, "host", nsys_json_text(n->host));
    json_put(o, "nsys_version", nsys_json_text(n->version));
    json_put(o, "begin_ns", n->session_ns > 0 ? json_new_int64(n->session_ns) : NULL);
    json_put(o, "tables", nsys_json_tables(n, chosen));
    for (size_t i = 0; i < sizeof n->not_read / sizeof *n->not_read && n->not_read[i]; i++)
        json_append(list, nsys_json_text(n->not_read[i]));
    json_put(o, "tables_not_read", list);
    json_put(o, "busy", nsys_json_busy(n));
    return o;
}

static json_object *nsys_json_balance(const nsys_job *job)
{
    json_object *all = json_new_object();
    for (int what = 0; what < NSYS_SPENT; what++) {
        const nsys_balance *b = &job->balance[what];
        if (!b->count) continue;
        json_object *o = json_new_object();
        json_put_exact(o, "process_count", b->count);
        json_put(o, "mean_ns", nsys_json_number(b->mean));
        json_put(o, "max_ns", nsys_json_exact(job->spent[b->high].process->spent_ns[what]));
        json_put(o, "min_ns", nsys_json_exact(job->spent[b->low].process->spent_ns[what]));
        json_put(o, "max_over_mean", nsys_json_number(b->ratio));
        json_put(all, spent_keys[what], o);
    }
    return all;
}

static json_object *nsys_json_clocks(const nsys_job *job)
{
    json_object *o = json_new_object(), *list = json_new_array();
    json_put(o, "text", nsys_json_text(job->clock_text));
    json_put(o, "collective_count", json_new_int64((int64_t)job->meetings));
    json_put(o, "clock_uncertainty_ns",
             job->placed && job->clocks->error_ns >= 0 && job->clocks->hosts > 1 ? json_new_int64(job->clocks->error_ns)
                                                                                 : NULL);
    for (size_t i = 0; job->placed && i < job->file_count; i++) {
        json_object *file = json_new_object();
        json_put(file, "file", nsys_json_text(job->files[i].path));
        json_put(file, "begin_ns", json_new_int64(job->begin_ns[i]));
        json_put(file, "clock_offset_ns", json_new_int64(job->begin_ns[i] - job->files[i].session_ns));
        json_append(list, file);
    }
    json_put(o, "files", list);
    return o;
}

void nsys_job_json(json_object *to, nsys_job *job, const bool chosen[NSYS_TABLES])
{
    json_object *list = json_new_array();
    for (size_t i = 0; i < job->spent_count; i++)
        json_append(list, nsys_json_process(&job->files[job->spent[i].file], job->spent[i].process));
    json_put(to, "processes", list);
    if (job->repeated_rank >= 0) json_put(to, "rank_in_several_files", json_new_int64(job->repeated_rank));
    json_put(to, "balance", nsys_json_balance(job));
    json_put(to, "clocks", nsys_json_clocks(job));
    if (job->file_count > 1) json_put(to, "together", nsys_json_tables(&job->together, chosen));
}
