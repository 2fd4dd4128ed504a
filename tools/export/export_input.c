#define _POSIX_C_SOURCE 200809L // strdup
#include "export_input.h"

#include "export.h"
#include "cli/inputs.h"
#include "analysis/base/saturating_sum.h"
#include "analysis/base/stb_ds.h"
#include "analysis/regions/regions.h"

#include <stdlib.h>
#include <string.h>

// ---- walking ----

static bool export_input_stopped(const input_visitor *v)
{
    return v->stop && v->stop(v->user);
}

static void export_input_walk_kept(const dataset_run *run, const input_visitor *v)
{
    for (size_t i = 0; v->fact && i < run->fact_count && !export_input_stopped(v); i++)
        v->fact(v->user, &run->facts[i]);
    for (size_t i = 0; v->snapshot && i < run->snapshot_count && !export_input_stopped(v); i++)
        v->snapshot(v->user, &run->snapshots[i]);
    for (size_t i = 0; v->delta && i < run->delta_count && !export_input_stopped(v); i++)
        v->delta(v->user, &run->deltas[i]);
}

typedef struct file_state {
    bool complete, regions, calls;
    const char *path;
    bool speak; // say what is wrong
} file_state;

static void export_input_take_item(const netprof_item *item, const input_visitor *v, file_state *f)
{
    switch (item->type) {
    case NETPROF_ITEM_FACT:
        if (v->fact) v->fact(v->user, item->fact);
        break;
    case NETPROF_ITEM_SNAPSHOT:
        if (v->snapshot) v->snapshot(v->user, item->snapshot);
        break;
    case NETPROF_ITEM_DELTA:
        if (v->delta) v->delta(v->user, item->delta);
        break;
    case NETPROF_ITEM_REGIONS: f->regions = true; break;
    case NETPROF_ITEM_EVENTS: f->calls |= strcmp(item->events->kind, "nccl.call") == 0; break;
    case NETPROF_ITEM_FILE: break; // each part is read by itself
    case NETPROF_ITEM_DAMAGE:
        f->complete = false;
        if (f->speak)
            warn("%s: byte %llu: %s (%llu bytes)", safe(f->path), (unsigned long long)item->offset,
                 item->text ? safe(item->text) : "damaged", (unsigned long long)item->size);
        break;
    case NETPROF_ITEM_END:
        if (f->complete && !item->complete && f->speak)
            warn("%s: the writer did not end this file: it may have more to come", safe(f->path));
        f->complete = f->complete && item->complete;
        break;
    }
}

static int export_input_walk_netprof(const struct export_input *in, const input_visitor *v, file_state *f)
{
    netprof_reader *reader = NULL;
    netprof_error error;
    netprof_item item = {.type = NETPROF_ITEM_FACT};
    parts_stream stream;
    netprof_err err = parts_reader(&in->file->parts, in->part, &stream, NULL, &reader, &error);
    while (!err && item.type != NETPROF_ITEM_END && !export_input_stopped(v)) {
        err = netprof_reader_next(reader, &item, &error);
        if (err) break;
        if (!parts_is_to_come(&in->file->parts, in->part, &item))
            export_input_take_item(&item, v, f);
        else if (item.type == NETPROF_ITEM_END && f->speak)
            warn("%s: %s", safe(f->path), PARTS_GROWS);
    }
    netprof_reader_close(reader);
    return err ? fail_error(in->path, &error) : EXIT_DONE;
}

int input_walk(struct export_input *in, const input_visitor *visitor)
{
    file_state f = {.complete = true, .path = in->path};
    if (!in->file->kept) return export_input_walk_netprof(in, visitor, &f);
    export_input_walk_kept(&in->file->set.runs[in->part], visitor);
    return EXIT_DONE;
}

// ---- the first look ----

static void export_input_look_at_fact(void *user, const netprof_fact *fact)
{
    struct export_input *in = user;
    arrput(in->facts, ((netprof_fact){memory_strdup(fact->key), memory_strdup(fact->value)}));
    in->fact_count = arrlenu(in->facts);
}

static void export_input_look_at_snapshot(void *user, const netprof_snapshot *s)
{
    struct export_input *in = user;
    netprof_snapshot *to = in->snapshots++ ? &in->last : &in->first;
    if (netprof_snapshot_copy(to, s, NULL)) memory_exhausted();
    clocks_axis_next(&in->axis, s);
    if (in->snapshots == 1) in->begin_ns = s->wall_ns;
    in->end_ns = difference_capped(s->wall_ns, in->axis.set_ns);
}

static void export_input_look_at_delta(void *user, const netprof_delta *d)
{
    struct export_input *in = user;
    if (!in->deltas++) in->begin_ns = d->wall_begin_ns;
    in->end_ns = d->wall_end_ns;
}

static const netprof_schema *export_input_schema(const struct export_input *in)
{
    return in->snapshots ? in->first.schema : NULL;
}

static const char *export_input_fact_of(const struct export_input *in, const char *key)
{
    const netprof_schema *schema = export_input_schema(in);
    const char *found = netprof_fact_of(in->facts, in->fact_count, key);
    return found || !schema ? found : netprof_fact_of(schema->facts, schema->fact_count, key);
}

static void export_input_find_host(struct export_input *in)
{
    const char *host = export_input_fact_of(in, "host"), *node = export_input_fact_of(in, "node");
    if (!host && in->file->kept) host = in->file->set.runs[in->part].host;
    in->host = memory_strdup(host ? host : "");
    in->node = memory_strdup(node && *node ? node : in->host);
}

static int export_input_look(struct export_input *in, const input_visitor *v)
{
    file_state f = {.complete = true, .path = in->path, .speak = true};
    if (in->file->kept) {
        const dataset_run *run = &in->file->set.runs[in->part];
        in->format = run->format;
        in->complete = run->complete;
        export_input_walk_kept(run, v);
        return EXIT_DONE;
    }
    in->format = DATASET_NETPROF;
    int code = export_input_walk_netprof(in, v, &f);
    in->complete = f.complete;
    in->is_regions = f.regions && !in->snapshots && !in->deltas;
    in->has_calls = f.calls;
    if (code || in->is_regions || in->has_calls || in->snapshots || in->deltas) return code;
    return fail_file(EXIT_FILE, in->path, "holds neither snapshots nor regions");
}

int input_open(struct export_input *in, input_file *file, size_t part)
{
    const input_visitor v = {.user = in,
                             .fact = export_input_look_at_fact,
                             .snapshot = export_input_look_at_snapshot,
                             .delta = export_input_look_at_delta};
    *in = (struct export_input){.path = file->path, .file = file, .part = part, .complete = true};
    int code = export_input_look(in, &v);
    if (!code && !in->is_regions) export_input_find_host(in);
    return code;
}

int input_file_open(input_file *f, const char *path, const char *names)
{
    netprof_error error;
    *f = (input_file){.path = path, .count = 1};
    netprof_err err = parts_open(&f->parts, path, &error);
    if (!err) {
        f->count = f->parts.count;
        return EXIT_DONE;
    }
    if (err != NETPROF_ERR_FORMAT) return fail_error(path, &error);
    int code = inputs_read(&f->set, &path, 1, &(dataset_options){.names = names});
    f->kept = true;
    f->count = f->set.run_count;
    return code;
}

void input_file_close(input_file *f)
{
    parts_close(&f->parts);
    dataset_free(&f->set);
}

void input_close(struct export_input *in)
{
    for (size_t i = 0; i < in->fact_count; i++) {
        free((char *)(uintptr_t)in->facts[i].key);
        free((char *)(uintptr_t)in->facts[i].value);
    }
    arrfree(in->facts);
    free(in->host);
    free(in->node);
    netprof_snapshot_free(&in->first);
    netprof_snapshot_free(&in->last);
}
