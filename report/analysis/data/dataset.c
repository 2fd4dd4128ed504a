#define _POSIX_C_SOURCE 200809L // strdup
#include "dataset_private.h"

#include "analysis/catalog/catalog.h"
#include "analysis/base/list.h"
#include "file_parts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WARNINGS = 1000 };
#define DEFAULT_MAX_BYTES ((uint64_t)1 << 30)

// ---- messages ----

void dataset_warn(dataset_input *in, uint64_t line, uint64_t offset, const char *format, ...)
{
    dataset *set = in->set;
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    dataset_warning warning = {strdup(in->path), line, line ? 0 : in->base + offset, strdup(text)};
    if (set->warning_count < MAX_WARNINGS && warning.path && warning.text &&
        list_grow_one(&set->warnings, set->warning_count, sizeof warning)) {
        set->warnings[set->warning_count++] = warning;
        return;
    }
    set->warnings_dropped++;
    free(warning.path);
    free(warning.text);
}

netprof_err dataset_fail(dataset_input *in, netprof_err code, uint64_t line, const char *format, ...)
{
    if (!in->error) return code;
    *in->error = (netprof_error){.code = code, .sys_errno = code == NETPROF_ERR_IO ? errno : 0, .offset = line};
    snprintf(in->error->path, sizeof in->error->path, "%s", in->path);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(in->error->text, sizeof in->error->text, format, arguments);
    va_end(arguments);
    return code;
}

static netprof_err no_memory(dataset_input *in)
{
    return dataset_fail(in, NETPROF_ERR_NOMEM, 0, "no memory");
}

uint64_t dataset_line_at(const dataset_input *in, size_t offset)
{
    uint64_t line = 1;
    for (size_t i = 0; i < offset && i < in->size; i++)
        line += in->data[i] == '\n';
    return line;
}

// ---- what a run holds ----

netprof_err dataset_add_fact(dataset_input *in, const char *key, const char *value)
{
    dataset_run *run = &in->run;
    netprof_fact fact = {strdup(key), strdup(value)};
    if (fact.key && fact.value && list_grow_one(&run->facts, run->fact_count, sizeof fact)) {
        run->facts[run->fact_count++] = fact;
        return NETPROF_OK;
    }
    free((char *)fact.key);
    free((char *)fact.value);
    return no_memory(in);
}

static uint64_t bytes_of(const netprof_schema *schema, size_t per_counter)
{
    return (uint64_t)schema->counter_count * per_counter + (uint64_t)schema->device_count * 16 + 256;
}

// Takes the bytes off what may be kept.
static netprof_err reserve(dataset_input *in, uint64_t bytes)
{
    if (bytes > in->room)
        return dataset_fail(in, NETPROF_ERR_LIMIT, 0, "more than the allowed memory (at snapshot %zu)",
                            in->run.snapshot_count + 1);
    in->room -= bytes;
    return NETPROF_OK;
}

// The run gets its path only at its end.
static netprof_err tell(const dataset_input *in, size_t index, const netprof_snapshot *snapshot)
{
    dataset_run run = in->run;
    run.path = (char *)(uintptr_t)in->path;
    return in->options->each ? in->options->each(in->options->user, &run, index, snapshot) : NETPROF_OK;
}

netprof_err dataset_add_snapshot(dataset_input *in, const netprof_snapshot *snapshot)
{
    dataset_run *run = &in->run;
    size_t index = run->snapshot_count + (size_t)run->skipped;
    netprof_err err = tell(in, index, snapshot);
    if (err) return dataset_fail(in, err, 0, "%s (at snapshot %zu)", netprof_strerror(err), index + 1);
    if (in->options->ends_only && run->snapshot_count == 2) {
        run->skipped++;
        return netprof_snapshot_copy(&run->snapshots[1], snapshot, in->error); // into the memory of the one before
    }
    netprof_snapshot copy = NETPROF_ZERO;
    err = reserve(in, bytes_of(snapshot->schema, 18));
    if (!err && !list_grow_one(&run->snapshots, run->snapshot_count, sizeof copy)) err = no_memory(in);
    if (!err) err = netprof_snapshot_copy(&copy, snapshot, in->error);
    if (!err) run->snapshots[run->snapshot_count++] = copy;
    return err;
}

static void free_delta(netprof_delta *delta)
{
    netprof_schema_release(delta->schema);
    free(delta->memory);
}

bool dataset_blank_delta(netprof_delta *delta, const netprof_schema *schema)
{
    size_t n = schema->counter_count;
    uint64_t *block = calloc(n + 1, 4 * sizeof *block + 3);
    if (!block) return false;
    uint8_t *bytes = (uint8_t *)(block + 4 * n);
    *delta = (netprof_delta){.schema = schema,
                             .memory = block,
                             .before = block,
                             .after = block + n,
                             .values = block + 2 * n,
                             .elapsed_ns = (int64_t *)(block + 3 * n),
                             .flags = bytes,
                             .before_status = bytes + n,
                             .after_status = bytes + 2 * n};
    return true;
}

netprof_err dataset_make_delta(dataset_input *in, netprof_delta *delta, const netprof_schema *schema)
{
    if (!dataset_blank_delta(delta, schema)) return no_memory(in);
    netprof_schema_retain(schema);
    return NETPROF_OK;
}

netprof_err dataset_add_delta(dataset_input *in, netprof_delta *delta)
{
    dataset_run *run = &in->run;
    netprof_err err = reserve(in, bytes_of(delta->schema, 35));
    if (!err && !list_grow_one(&run->deltas, run->delta_count, sizeof *delta)) err = no_memory(in);
    if (err)
        free_delta(delta);
    else
        run->deltas[run->delta_count++] = *delta;
    return err;
}

static netprof_err copy_delta(dataset_input *in, const netprof_delta *from)
{
    netprof_delta to;
    size_t n = from->schema->counter_count;
    netprof_err err = dataset_make_delta(in, &to, from->schema);
    if (err) return err;
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

static void free_run(dataset_run *run)
{
    for (size_t i = 0; i < run->snapshot_count; i++)
        netprof_snapshot_free(&run->snapshots[i]);
    for (size_t i = 0; i < run->delta_count; i++)
        free_delta(&run->deltas[i]);
    for (size_t i = 0; i < run->fact_count; i++) {
        free((char *)run->facts[i].key);
        free((char *)run->facts[i].value);
    }
    free(run->snapshots);
    free(run->deltas);
    free(run->facts);
    free(run->path);
}

void dataset_remove_run(dataset *set, size_t index)
{
    free_run(&set->runs[index]);
    set->run_count--;
    memmove(&set->runs[index], &set->runs[index + 1], (set->run_count - index) * sizeof *set->runs);
}

static void free_warnings(dataset *set, size_t from)
{
    while (set->warning_count > from) {
        const dataset_warning *w = &set->warnings[--set->warning_count];
        free(w->path);
        free(w->text);
    }
}

void dataset_free(dataset *set)
{
    if (!set) return;
    for (size_t i = 0; i < set->run_count; i++)
        free_run(&set->runs[i]);
    free_warnings(set, 0);
    free(set->runs);
    free(set->warnings);
    *set = (dataset){0};
}

const char *dataset_fact(const dataset_run *run, const char *key)
{
    const char *value = netprof_fact_of(run->facts, run->fact_count, key);
    const netprof_schema *schema = run->snapshot_count ? run->snapshots[0].schema
                                   : run->delta_count  ? run->deltas[0].schema
                                                       : NULL;
    return value || !schema ? value : netprof_fact_of(schema->facts, schema->fact_count, key);
}

const char *dataset_node(const dataset_run *run, const netprof_schema *schema)
{
    static const char *const keys[] = {"pod", "node", "host"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *name = dataset_fact(run, keys[i]);
        if (!name && schema) name = netprof_fact_of(schema->facts, schema->fact_count, keys[i]);
        if (name && *name) return name;
    }
    return "";
}

// ---- .netprof ----

static netprof_err take_item(dataset_input *in, const netprof_item *item)
{
    switch (item->type) {
    case NETPROF_ITEM_FACT: return dataset_add_fact(in, item->fact->key, item->fact->value);
    case NETPROF_ITEM_SNAPSHOT:
        if (item->snapshot) return dataset_add_snapshot(in, item->snapshot);
        in->run.skipped++;
        return NETPROF_OK;
    case NETPROF_ITEM_DELTA: return copy_delta(in, item->delta);
    case NETPROF_ITEM_REGIONS: in->set->regions++; return NETPROF_OK; // no part of a data set of counters
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

static netprof_err open_netprof(const dataset_input *in, parts_stream *stream, netprof_reader **reader)
{
    netprof_limits limits = {.max_memory = in->room};
    return in->parts ? parts_reader(in->parts, in->part, stream, &limits, reader, in->error)
                     : netprof_reader_open_memory(reader, in->data, in->size, &limits, in->error);
}

// The last snapshot that is whole: where it stands, and where the first begins that it builds on.
typedef struct last_snapshot {
    uint64_t offset, needs; // 0: not known
} last_snapshot;

static last_snapshot find_last(const dataset_input *in)
{
    last_snapshot last = {0};
    netprof_reader *reader;
    netprof_item item = {.type = NETPROF_ITEM_FACT};
    parts_stream stream;
    if (open_netprof(in, &stream, &reader)) return last;
    netprof_reader_pass(reader, UINT64_MAX);
    netprof_err err = NETPROF_OK;
    while (!err && item.type != NETPROF_ITEM_END) {
        err = netprof_reader_next(reader, &item, NULL);
        if (!err && item.type == NETPROF_ITEM_SNAPSHOT) last = (last_snapshot){item.offset, item.needs};
    }
    netprof_reader_close(reader);
    return err ? (last_snapshot){0} : last;
}

// With `last`, of the snapshots before those that the last one needs only the number is wanted, once there are so many
// that a look ahead pays. *read_last: where the last one stands that was decoded.
static netprof_err read_items(dataset_input *in, last_snapshot *last, uint64_t *read_last)
{
    enum { MANY = 64 }; // as many build on each other
    netprof_reader *reader;
    netprof_error wrong;
    parts_stream stream;
    netprof_err err = open_netprof(in, &stream, &reader);
    if (err) return err;
    netprof_item item = {.type = NETPROF_ITEM_FACT};
    in->run.complete = true;
    while (!err && item.type != NETPROF_ITEM_END) {
        uint64_t behind = item.offset + item.size;
        err = netprof_reader_next(reader, &item, &wrong);
        if (err == NETPROF_ERR_IO && in->run.snapshot_count) { // what was read is of use
            in->run.complete = false;
            dataset_warn(in, 0, behind, "the rest of the file cannot be read: %s", strerror(wrong.sys_errno));
            err = NETPROF_OK;
            break;
        }
        if (err && in->error) *in->error = wrong;
        if (!err) err = take_item(in, &item);
        if (err || item.type != NETPROF_ITEM_SNAPSHOT || !item.snapshot) continue;
        *read_last = item.offset;
        if (!last || last->needs || in->run.snapshot_count + in->run.skipped != MANY) continue;
        *last = find_last(in);
        netprof_reader_pass(reader, last->needs);
    }
    netprof_reader_close(reader);
    return err;
}

static netprof_err read_netprof(dataset_input *in)
{
    const dataset_input before = *in;
    const size_t warnings = in->set->warning_count, regions = in->set->regions;
    const uint64_t dropped = in->set->warnings_dropped;
    last_snapshot last = {0};
    uint64_t read_last = 0;
    netprof_err err = read_items(in, in->options->ends_only && !in->options->each ? &last : NULL, &read_last);
    if (err || !last.needs || read_last == last.offset) return err;
    // Whole, and yet the last one does not decode: the end is another one, among those that were passed over.
    free_run(&in->run);
    free_warnings(in->set, warnings);
    in->set->warnings_dropped = dropped;
    in->set->regions = regions;
    *in = before;
    return read_items(in, NULL, &read_last);
}

// ---- any file ----

// "123@456": what a telemetry file begins with.
static bool is_stamped(const char *text, size_t size)
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
    if (is_stamped(text, size)) return DATASET_NET_PROF_TEXT;
    if (!size || (*text != '{' && *text != '[')) return DATASET_UNKNOWN;
    // Which of the two is told by their first words; the JSON reader looks closer.
    size_t near = size < 256 ? size : 256;
    char head[257];
    memcpy(head, text, near);
    head[near] = 0;
    return strstr(head, "\"netprof") ? DATASET_JSON : DATASET_NET_PROF_JSON;
}

const char *dataset_format_name(dataset_format format)
{
    static const char *const names[] = {"unknown", ".netprof", "netprof JSON", "net_prof JSON", "net_prof text"};
    return (size_t)format < sizeof names / sizeof *names ? names[format] : "unknown";
}

netprof_err dataset_slurp(dataset_input *in, const char *path, char **data, size_t *size)
{
    uint64_t limit = in->options->max_bytes ? in->options->max_bytes : DEFAULT_MAX_BYTES;
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (!file) return dataset_fail(in, NETPROF_ERR_IO, 0, "%s", strerror(errno));
    char *text = NULL;
    size_t used = 0, capacity = 1 << 16;
    netprof_err err = NETPROF_OK;
    for (;;) {
        char *larger = realloc(text, capacity);
        if (!larger) {
            err = no_memory(in);
            break;
        }
        text = larger;
        used += fread(text + used, 1, capacity - 1 - used, file);
        if (ferror(file)) err = dataset_fail(in, NETPROF_ERR_IO, 0, "%s", strerror(errno));
        if (used > limit)
            err = dataset_fail(in, NETPROF_ERR_LIMIT, 0, "larger than %llu bytes", (unsigned long long)limit);
        if (err || used < capacity - 1) break;
        capacity *= 2;
    }
    if (file != stdin) fclose(file);
    if (err) {
        free(text);
        return err;
    }
    text[used] = 0;
    *data = text;
    *size = used;
    return NETPROF_OK;
}

static netprof_err read_input(dataset_input *in)
{
    in->run.format = in->parts ? DATASET_NETPROF : dataset_recognise(in->data, in->size);
    switch (in->run.format) {
    case DATASET_NETPROF: return read_netprof(in);
    case DATASET_JSON:
    case DATASET_NET_PROF_JSON: return dataset_read_json(in);
    case DATASET_NET_PROF_TEXT: return dataset_read_net_prof_text(in);
    case DATASET_UNKNOWN: break;
    }
    if (!in->size) return dataset_fail(in, NETPROF_ERR_FORMAT, 0, "empty");
    return dataset_fail(in, NETPROF_ERR_FORMAT, 0,
                        "expected a .netprof file, JSON of netprof or net_prof, or lines value@seconds.nanoseconds");
}

static netprof_err add_run(dataset_input *in)
{
    dataset *set = in->set;
    if (in->size >= 3 && memcmp(in->data, "\xEF\xBB\xBF", 3) == 0) in->data += 3, in->size -= 3; // UTF-8 mark
    netprof_err err = read_input(in);
    // Too much to keep: what was kept so far is of use.
    if (err == NETPROF_ERR_LIMIT && in->run.snapshot_count) {
        dataset_warn(in, 0, 0, "the rest was left out: more than the allowed memory");
        in->run.complete = false;
        err = NETPROF_OK;
    }
    if (!err && !in->run.snapshot_count && !in->run.delta_count)
        err = dataset_fail(in, NETPROF_ERR_PARSE, 0, "nothing usable in this %s file",
                           dataset_format_name(in->run.format));
    if (!err && (!list_grow_one(&set->runs, set->run_count, sizeof in->run) || !(in->run.path = strdup(in->path))))
        err = no_memory(in);
    if (err) {
        free_run(&in->run);
        // The engine's own errors do not know the name of the file.
        if (in->error && !in->error->path[0]) snprintf(in->error->path, sizeof in->error->path, "%s", in->path);
        return err;
    }
    in->run.host = dataset_node(&in->run, NULL);
    set->runs[set->run_count++] = in->run;
    return NETPROF_OK;
}

static netprof_err begin(dataset_input *in, dataset *set, const char *path, const dataset_options *options,
                         netprof_error *error)
{
    static const dataset_options defaults = {0};
    *in = (dataset_input){.set = set, .path = path, .options = options ? options : &defaults, .error = error};
    if (error) *error = (netprof_error){0};
    in->room = in->options->max_bytes ? in->options->max_bytes : DEFAULT_MAX_BYTES;
    if (in->options->end_zero) return dataset_fail(in, NETPROF_ERR_ARG, 0, "dataset_options was never initialised");
    return NETPROF_OK;
}

// ---- files put together ----

// Adds a part, whose data, or place in a file, stand in `of`; what is wrong with one part of several is a warning, and the
// others are there.
static netprof_err add_part(const dataset_input *of, size_t part, size_t count)
{
    netprof_error wrong = {.code = NETPROF_OK};
    dataset_input in = *of;
    size_t regions = of->set->regions;
    in.run = (dataset_run){.part = count > 1 ? part + 1 : 0, .parts = count};
    in.room = in.options->max_bytes ? in.options->max_bytes : DEFAULT_MAX_BYTES;
    if (count > 1) in.error = &wrong;
    netprof_err err = add_run(&in);
    if (!err || count == 1) return err;
    if (err == NETPROF_ERR_PARSE && of->set->regions > regions) return NETPROF_OK; // they have readers of their own
    if (err != NETPROF_ERR_NOMEM && err != NETPROF_ERR_IO)
        dataset_warn(&in, 0, 0, "this part of the file cannot be used: %s", wrong.text);
    else if (of->error)
        *of->error = wrong;
    return err == NETPROF_ERR_NOMEM || err == NETPROF_ERR_IO ? err : NETPROF_OK;
}

static netprof_err none_of(dataset_input *in, size_t before)
{
    if (in->set->run_count > before) return NETPROF_OK;
    return dataset_fail(in, NETPROF_ERR_PARSE, 0, "nothing usable in this %s file",
                        dataset_format_name(DATASET_NETPROF));
}

static netprof_err add_memory(dataset_input *in, const char *data, size_t size)
{
    size_t count = 0, before = in->set->run_count;
    netprof_err err = NETPROF_OK;
    in->data = data;
    in->size = size;
    if (!parts_is_header(data, size) || (count = parts_count(data, size)) == 1) return add_part(in, 0, 1);
    for (size_t i = 0, at = 0, next; i < count && !err; i++, at = next) {
        next = parts_next(data, size, at + 1);
        in->data = data + at;
        in->size = next - at;
        in->base = at;
        err = add_part(in, i, count);
    }
    return err ? err : none_of(in, before);
}

static netprof_err add_parts(dataset_input *in, const parts *p)
{
    size_t before = in->set->run_count;
    netprof_err err = NETPROF_OK;
    in->parts = p;
    for (size_t i = 0; i < p->count && !err; i++) {
        in->part = i;
        in->base = p->at[i];
        err = add_part(in, i, p->count);
    }
    return err || p->count == 1 ? err : none_of(in, before);
}

netprof_err dataset_read_memory(dataset *set, const char *name, const void *data, size_t size,
                                const dataset_options *options, netprof_error *error)
{
    dataset_input in;
    netprof_err err = begin(&in, set, name, options, error);
    return err ? err : add_memory(&in, data, size);
}

netprof_err dataset_read(dataset *set, const char *path, const dataset_options *options, netprof_error *error)
{
    dataset_input in;
    char *data;
    size_t size;
    parts p = {0};
    netprof_err err = begin(&in, set, path, options, error);
    if (err) return err;
    if (strcmp(path, "-") != 0 && !parts_open(&p, path, NULL)) {
        err = add_parts(&in, &p);
        parts_close(&p);
        return err;
    }
    err = dataset_slurp(&in, path, &data, &size);
    if (err) return err;
    err = add_memory(&in, data, size);
    free(data);
    return err;
}

// ---- for the readers of Cassini telemetry that others wrote ----

netprof_counter dataset_cassini_counter(const char *name)
{
    netprof_counter counter = {.name = name, .unit = "", .width = 56, .flags = NETPROF_STAMPED};
    const catalog_entry *entry = catalog_find("cxi", name);
    if (!entry) return counter;
    counter.unit = entry->unit;
    counter.kind = entry->kind;
    counter.width = entry->width;
    if (entry->marks & CATALOG_FAST) counter.flags |= NETPROF_FAST;
    return counter;
}

static void widen(int64_t stamp, int64_t *first, int64_t *last)
{
    if (!stamp) return;
    if (!*first || stamp < *first) *first = stamp;
    if (stamp > *last) *last = stamp;
}

void dataset_times_from_stamps(netprof_snapshot *snapshot)
{
    const netprof_schema *schema = snapshot->schema;
    for (size_t i = 0; i < schema->counter_count; i++) {
        size_t d = schema->counters[i].device;
        if (snapshot->status[i] != NETPROF_STATUS_OK) continue;
        widen(snapshot->stamps_ns[i], &snapshot->device_begin_ns[d], &snapshot->device_end_ns[d]);
        widen(snapshot->stamps_ns[i], &snapshot->begin_ns, &snapshot->end_ns);
    }
    snapshot->wall_ns = snapshot->begin_ns;
}
