#include "json_values.h"
#include "nsys.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void add(json_object *o, const char *key, json_object *value)
{
    json_object_object_add(o, key, value);
}

static json_object *text_json(const char *text)
{
    return text ? json_text_value(text) : NULL;
}

static json_object *number_json(double value)
{
    return isfinite(value) ? json_object_new_double(value) : NULL;
}

static json_object *exact_json(uint64_t value)
{
    return value > INT64_MAX ? json_object_new_uint64(value) : json_object_new_int64((int64_t)value);
}

// Keys of quantities end in their unit: "total_ns", "total_bytes".
static void add_quantity(json_object *o, const char *what, const char *unit, json_object *value)
{
    char key[64];
    snprintf(key, sizeof key, "%s_%s", what, unit);
    add(o, key, value);
}

static json_object *row_json(const nsys_table *t, const nsys_row *row)
{
    json_object *o = json_object_new_object();
    add(o, "name", text_json(row->name));
    add(o, "share", number_json(row->share));
    json_put_exact(o, "count", row->count);
    add_quantity(o, "total", t->unit, exact_json(row->total));
    add_quantity(o, "mean", t->unit, number_json(row->mean));
    add_quantity(o, "median", t->unit, number_json(row->median));
    add_quantity(o, "min", t->unit, exact_json(row->min));
    add_quantity(o, "max", t->unit, exact_json(row->max));
    add_quantity(o, "deviation", t->unit, number_json(row->deviation));
    if (strcmp(t->name, "cuda_gpu_kern_sum") == 0) add(o, "nccl", json_object_new_boolean(row->nccl));
    return o;
}

static json_object *table_json(const nsys_table *t)
{
    json_object *o = json_object_new_object(), *rows = json_object_new_array();
    add(o, "title", text_json(t->title));
    json_put_exact(o, "count", t->count);
    add_quantity(o, "total", t->unit, exact_json(t->total));
    json_put_exact(o, "left_out", t->left_out);
    for (size_t i = 0; i < t->row_count; i++)
        json_object_array_add(rows, row_json(t, &t->rows[i]));
    add(o, "rows", rows);
    return o;
}

static json_object *gpu_json(const nsys *n, const nsys_gpu *gpu)
{
    static const char *const keys[NSYS_BUSY] = {"kernels", "nccl_kernels", "memory_operations"};
    json_object *o = json_object_new_object();
    add(o, "device", json_object_new_int64(gpu->device));
    for (int what = 0; what < NSYS_BUSY; what++) {
        json_object *busy = json_object_new_object(), *list = json_object_new_array();
        json_put_exact(busy, "busy_ns", gpu->busy_ns[what]);
        for (size_t i = 0; i < n->bin_count; i++)
            json_object_array_add(list, number_json(gpu->busy[what][i]));
        add(busy, "shares", list);
        add(o, keys[what], busy);
    }
    return o;
}

static json_object *busy_json(const nsys *n)
{
    json_object *o = json_object_new_object(), *begins = json_object_new_array(),
                *gpus = json_object_new_array();
    bool wall = n->session_ns > 0;
    add(o, "clock", json_object_new_string(wall ? "ns since 1970-01-01 UTC" : "ns since the profile began"));
    for (size_t i = 0; i < n->bin_count; i++)
        json_object_array_add(begins,
                              json_object_new_int64((wall ? n->session_ns : 0) + nsys_bin_begin(n, i)));
    add(o, "bin_begins_ns", begins);
    add(o, "end_ns", n->bin_count ? json_object_new_int64((wall ? n->session_ns : 0) + n->end_ns) : NULL);
    for (size_t i = 0; i < n->gpu_count; i++)
        json_object_array_add(gpus, gpu_json(n, &n->gpus[i]));
    add(o, "gpus", gpus);
    return o;
}

json_object *nsys_json(const nsys *n)
{
    json_object *o = json_object_new_object(), *tables = json_object_new_object();
    add(o, "file", text_json(n->path));
    add(o, "host", text_json(n->host));
    add(o, "session_begin_ns", n->session_ns > 0 ? json_object_new_int64(n->session_ns) : NULL);
    for (int i = 0; i < NSYS_TABLES; i++)
        if (n->tables[i].present) add(tables, n->tables[i].name, table_json(&n->tables[i]));
    add(o, "tables", tables);
    add(o, "busy", busy_json(n));
    return o;
}
