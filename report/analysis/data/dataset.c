#include "dataset.h"

#include "dataset_build.h"
#include "dataset_json.h"
#include "dataset_net_prof.h"
#include "file_parts.h"
#include "analysis/base/readable.h"
#include "analysis/base/stb_ds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- .netprof ----

static netprof_err dataset_copy_delta(dataset_input *in, const netprof_delta *from)
{
    netprof_delta to;
    size_t n = from->schema->counter_count;
    dataset_make_delta(&to, from->schema);
    memcpy(to.before, from->before, n * sizeof *to.before);
    memcpy(to.after, from->after, n * sizeof *to.after);
    memcpy(to.values, from->values, n * sizeof *to.values);
    memcpy(to.elapsed_ns, from->elapsed_ns, n * sizeof *to.elapsed_ns);
    memcpy(to.flags, from->flags, n);
    memcpy(to.before_status, from->before_status, n);
    memcpy(to.after_status, from->after_status, n);
    to.wall_begin_ns = from->wall_begin_ns;
    to.wall_end_ns = from->wall_end_ns;
    to.interval_ns = from->interval_ns;
    to.sweep_ns = from->sweep_ns;
    to.stamp_error_ns = from->stamp_error_ns;
    return dataset_add_delta(in, &to);
}

static netprof_err dataset_take_item(dataset_input *in, const netprof_item *item)
{
    if (in->parts && parts_is_to_come(in->parts, in->part, item)) {
        if (item->type == NETPROF_ITEM_END) dataset_warn(in, 0, item->offset, PARTS_GROWS);
        return NETPROF_OK;
    }
    switch (item->type) {
    case NETPROF_ITEM_FACT: dataset_add_fact(in, item->fact->key, item->fact->value); return NETPROF_OK;
    case NETPROF_ITEM_SNAPSHOT:
        if (item->snapshot) return dataset_add_snapshot(in, item->snapshot);
        dataset_note_devices(in, in->run.snapshot_count + (size_t)in->run.skipped, item->schema);
        in->run.skipped++;
        return NETPROF_OK;
    case NETPROF_ITEM_DELTA: return dataset_copy_delta(in, item->delta);
    case NETPROF_ITEM_REGIONS: in->set->regions++; return NETPROF_OK; // no part of a data set of counters
    case NETPROF_ITEM_EVENTS: return NETPROF_OK;                      // nor these
    case NETPROF_ITEM_FILE: return NETPROF_OK;                        // each part is read by itself
    case NETPROF_ITEM_DAMAGE:
        in->run.complete = false;
        dataset_warn(in, 0, item->offset, "%s (%llu bytes)", item->text ? item->text : "damaged",
                     (unsigned long long)item->size);
        return NETPROF_OK;
    case NETPROF_ITEM_END:
        if (in->run.complete && !item->complete)
            dataset_warn(in, 0, item->offset, "the writer did not end this file: it may have more to come");
        in->run.complete = in->run.complete && item->complete;
        return NETPROF_OK;
    }
    return NETPROF_OK; // an item of a later version
}

static netprof_err dataset_open_netprof(const dataset_input *in, parts_stream *stream, netprof_reader **reader)
{
    netprof_limits limits = {.max_memory = in->room};
    return in->parts ? parts_reader(in->parts, in->part, stream, &limits, reader, in->error)
                     : netprof_reader_open_memory(reader, in->data, in->size, &limits, in->error);
}

// The offset of the last intact snapshot, and of the first one that it builds on.
typedef struct last_snapshot {
    uint64_t offset, needs; // 0: not known
} last_snapshot;

static last_snapshot dataset_find_last(const dataset_input *in)
{
    last_snapshot last = {0};
    netprof_reader *reader;
    netprof_item item = {.type = NETPROF_ITEM_FACT};
    parts_stream stream;
    if (dataset_open_netprof(in, &stream, &reader)) return last;
    netprof_reader_pass(reader, UINT64_MAX);
    netprof_err err = NETPROF_OK;
    while (!err && item.type != NETPROF_ITEM_END) {
        err = netprof_reader_next(reader, &item, NULL);
        if (!err && item.type == NETPROF_ITEM_SNAPSHOT) last = (last_snapshot){item.offset, item.needs};
    }
    netprof_reader_close(reader);
    return err ? (last_snapshot){0} : last;
}

// With `last`, the snapshots before those that the last one needs are only counted, once there are enough of them for a
// look ahead to pay. *read_last: offset of the last snapshot that was decoded.
static netprof_err dataset_read_items(dataset_input *in, last_snapshot *last, uint64_t *read_last)
{
    enum { MANY = 64 }; // so many build on each other
    netprof_reader *reader;
    netprof_error wrong;
    parts_stream stream;
    netprof_err err = dataset_open_netprof(in, &stream, &reader);
    if (err) return err;
    netprof_item item = {.type = NETPROF_ITEM_FACT};
    in->run.complete = true;
    while (!err && item.type != NETPROF_ITEM_END) {
        uint64_t behind = item.offset + item.size;
        err = netprof_reader_next(reader, &item, &wrong);
        if (err == NETPROF_ERR_IO && in->run.snapshot_count) { // use what was read
            in->run.complete = false;
            dataset_warn(in, 0, behind, "the rest of the file cannot be read: %s", strerror(wrong.sys_errno));
            err = NETPROF_OK;
            break;
        }
        if (err && in->error) *in->error = wrong;
        if (!err) err = dataset_take_item(in, &item);
        if (err || item.type != NETPROF_ITEM_SNAPSHOT || !item.snapshot) continue;
        *read_last = item.offset;
        if (!last || last->needs || in->run.snapshot_count + in->run.skipped != MANY) continue;
        *last = dataset_find_last(in);
        netprof_reader_pass(reader, last->needs);
    }
    netprof_reader_close(reader);
    return err;
}

static netprof_err dataset_read_netprof(dataset_input *in)
{
    const dataset_input before = *in;
    const size_t warnings = in->set->warning_count, regions = in->set->regions;
    const uint64_t dropped = in->set->warnings_dropped;
    last_snapshot last = {0};
    uint64_t read_last = 0;
    netprof_err err = dataset_read_items(in, in->options->ends_only && !in->options->each ? &last : NULL, &read_last);
    if (err || !last.needs || read_last == last.offset) return err;
    // The last one is intact but does not decode: the real end is among those that were passed over.
    dataset_run_free(&in->run);
    dataset_drop_warnings(in->set, warnings);
    in->set->warnings_dropped = dropped;
    in->set->regions = regions;
    *in = before;
    return dataset_read_items(in, NULL, &read_last);
}

// ---- any file ----

// "123@456": what a telemetry file begins with.
static bool dataset_is_stamped(const char *text, size_t size)
{
    size_t i = 0;
    while (i < size && text[i] >= '0' && text[i] <= '9')
        i++;
    return i > 0 && i + 1 < size && text[i] == '@' && text[i + 1] >= '0' && text[i + 1] <= '9';
}

dataset_format dataset_recognise(const void *data, size_t size)
{
    const char *text = data;
    if (parts_is_header(data, size)) return DATASET_NETPROF;
    while (size && strchr(" \t\r\n", *text) && *text)
        text++, size--;
    if (dataset_is_stamped(text, size)) return DATASET_NET_PROF_TEXT;
    if (!size || (*text != '{' && *text != '[')) return DATASET_UNKNOWN;
    // Which of the two is told by their first words; the JSON reader looks closer.
    size_t near = size < 256 ? size : 256;
    char head[257];
    memcpy(head, text, near);
    head[near] = 0;
    return strstr(head, "\"netprof") ? DATASET_JSON : DATASET_NET_PROF_JSON;
}

static netprof_err dataset_refuse(dataset_input *in)
{
    return dataset_fail(in, NETPROF_ERR_FORMAT, 0,
                        "expected a .netprof file, JSON of netprof or net_prof, or lines value@seconds.nanoseconds");
}

// What begins like nothing that is known is not read to its end.
static netprof_err dataset_look_at_head(dataset_input *in, const char *path)
{
    char head[4096];
    FILE *file = readable_stream(path);
    if (!file) return dataset_fail(in, NETPROF_ERR_IO, 0, "%s", readable_error(errno));
    size_t n = fread(head, 1, sizeof head, file), blank = 0;
    fclose(file);
    size_t mark = n >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (blank < n - mark && head[mark + blank] && strchr(" \t\r\n", head[mark + blank]))
        blank++;
    bool known = n < sizeof head || mark + blank == n || dataset_recognise(head + mark, n - mark) != DATASET_UNKNOWN;
    return known ? NETPROF_OK : dataset_refuse(in);
}

static netprof_err dataset_read_input(dataset_input *in)
{
    in->run.format = in->parts ? DATASET_NETPROF : dataset_recognise(in->data, in->size);
    switch (in->run.format) {
    case DATASET_NETPROF: return dataset_read_netprof(in);
    case DATASET_JSON:
    case DATASET_NET_PROF_JSON: return dataset_read_json(in);
    case DATASET_NET_PROF_TEXT: return dataset_read_net_prof_text(in);
    case DATASET_UNKNOWN: break;
    }
    if (!in->size) return dataset_fail(in, NETPROF_ERR_FORMAT, 0, "empty");
    return dataset_refuse(in);
}

static netprof_err dataset_add_run(dataset_input *in)
{
    dataset *set = in->set;
    if (in->size >= 3 && memcmp(in->data, "\xEF\xBB\xBF", 3) == 0) in->data += 3, in->size -= 3; // UTF-8 mark
    netprof_err err = dataset_read_input(in);
    if (err == NETPROF_ERR_NOMEM) memory_exhausted();
    // Too much to keep: use what was kept so far.
    if (err == NETPROF_ERR_LIMIT && in->run.snapshot_count) {
        dataset_warn(in, 0, 0, "the rest was left out: more than the allowed memory");
        in->run.complete = false;
        err = NETPROF_OK;
    }
    if (!err && !in->run.snapshot_count && !in->run.delta_count)
        err = dataset_fail(in, NETPROF_ERR_PARSE, 0, "nothing usable in this %s file",
                           dataset_format_name(in->run.format));
    if (err) {
        dataset_run_free(&in->run);
        if (in->error && !in->error->path[0]) snprintf(in->error->path, sizeof in->error->path, "%s", in->path);
        return err;
    }
    in->run.path = memory_strdup(in->path);
    in->run.host = dataset_node(&in->run, NULL);
    arrput(set->runs, in->run);
    set->run_count = arrlenu(set->runs);
    return NETPROF_OK;
}

static netprof_err dataset_begin(dataset_input *in, dataset *set, const char *path, const dataset_options *options,
                                 netprof_error *error)
{
    static const dataset_options defaults = {0};
    *in = (dataset_input){.set = set, .path = path, .options = options ? options : &defaults, .error = error};
    if (error) *error = (netprof_error){0};
    in->room = dataset_max_bytes(in->options);
    if (in->options->end_zero) return dataset_fail(in, NETPROF_ERR_ARG, 0, "dataset_options was never initialised");
    return NETPROF_OK;
}

// ---- files put together ----

// Adds a part, whose data, or place in a file, are in `of`. A fault in one part of several is a warning; the others are
// kept.
static netprof_err dataset_add_part(const dataset_input *of, size_t part, size_t count)
{
    netprof_error wrong = {.code = NETPROF_OK};
    dataset_input in = *of;
    size_t regions = of->set->regions;
    in.run = (dataset_run){.part = count > 1 ? part + 1 : 0, .parts = count};
    in.room = dataset_max_bytes(in.options);
    if (count > 1) in.error = &wrong;
    netprof_err err = dataset_add_run(&in);
    if (!err || count == 1) return err;
    if (err == NETPROF_ERR_PARSE && of->set->regions > regions) return NETPROF_OK; // regions.h reads them
    if (err == NETPROF_ERR_IO) {
        if (of->error) *of->error = wrong;
        return err;
    }
    dataset_warn(&in, 0, 0, "this part of the file cannot be used: %s", wrong.text);
    return NETPROF_OK;
}

static netprof_err dataset_none_of(dataset_input *in, size_t before)
{
    if (in->set->run_count > before) return NETPROF_OK;
    return dataset_fail(in, NETPROF_ERR_PARSE, 0, "nothing usable in this %s file",
                        dataset_format_name(DATASET_NETPROF));
}

static netprof_err dataset_add_memory(dataset_input *in, const char *data, size_t size)
{
    size_t count = 0, before = in->set->run_count;
    netprof_err err = NETPROF_OK;
    in->data = data;
    in->size = size;
    if (!parts_is_header(data, size) || (count = parts_count(data, size)) == 1) return dataset_add_part(in, 0, 1);
    for (size_t i = 0, at = 0, next; i < count && !err; i++, at = next) {
        next = parts_next(data, size, at + 1);
        in->data = data + at;
        in->size = next - at;
        in->base = at;
        err = dataset_add_part(in, i, count);
    }
    return err ? err : dataset_none_of(in, before);
}

static netprof_err dataset_add_parts(dataset_input *in, const parts *p)
{
    size_t before = in->set->run_count;
    netprof_err err = NETPROF_OK;
    in->parts = p;
    for (size_t i = 0; i < p->count && !err; i++) {
        in->part = i;
        in->base = p->at[i];
        err = dataset_add_part(in, i, p->count);
    }
    return err || p->count == 1 ? err : dataset_none_of(in, before);
}

netprof_err dataset_read_memory(dataset *set, const char *name, const void *data, size_t size,
                                const dataset_options *options, netprof_error *error)
{
    dataset_input in;
    netprof_err err = dataset_begin(&in, set, name, options, error);
    return err ? err : dataset_add_memory(&in, data, size);
}

netprof_err dataset_read(dataset *set, const char *path, const dataset_options *options, netprof_error *error)
{
    dataset_input in;
    char *data;
    size_t size;
    parts p = {0};
    netprof_err err = dataset_begin(&in, set, path, options, error);
    if (err) return err;
    if (!parts_open(&p, path, NULL)) {
        err = dataset_add_parts(&in, &p);
        parts_close(&p);
        return err;
    }
    err = dataset_look_at_head(&in, path);
    if (!err) err = dataset_slurp(&in, path, &data, &size);
    if (err) return err;
    err = dataset_add_memory(&in, data, size);
    free(data);
    return err;
}
