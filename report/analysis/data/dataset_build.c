#include "dataset_build.h"

#include "analysis/base/readable.h"
#include "analysis/base/stb_ds.h"
#include "device_changes.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
    if (set->warning_count == MAX_WARNINGS) {
        set->warnings_dropped++;
        return;
    }
    dataset_warning warning = {memory_strdup(in->path), line, line ? 0 : in->base + offset, memory_strdup(text)};
    arrput(set->warnings, warning);
    set->warning_count = arrlenu(set->warnings);
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

uint64_t dataset_line_at(const dataset_input *in, size_t offset)
{
    uint64_t line = 1;
    for (size_t i = 0; i < offset && i < in->size; i++)
        line += in->data[i] == '\n';
    return line;
}

// ---- what a run holds ----

void dataset_add_fact(dataset_input *in, const char *key, const char *value)
{
    netprof_fact fact = {memory_strdup(key), memory_strdup(value)};
    arrput(in->run.facts, fact);
    in->run.fact_count = arrlenu(in->run.facts);
}

static uint64_t dataset_bytes_of(const netprof_schema *schema, size_t per_counter)
{
    return (uint64_t)schema->counter_count * per_counter + (uint64_t)schema->device_count * 16 + 256;
}

// Takes the bytes off the limit of what may be kept.
static netprof_err dataset_reserve(dataset_input *in, uint64_t bytes)
{
    if (bytes > in->room)
        return dataset_fail(in, NETPROF_ERR_LIMIT, 0, "more than the allowed memory (at snapshot %zu)",
                            in->run.snapshot_count + 1);
    in->room -= bytes;
    return NETPROF_OK;
}

// The run in progress has no path of its own yet.
static netprof_err dataset_call_each(const dataset_input *in, size_t index, const netprof_snapshot *snapshot)
{
    dataset_run run = in->run;
    run.path = (char *)(uintptr_t)in->path;
    return in->options->each ? in->options->each(in->options->user, &run, index, snapshot) : NETPROF_OK;
}

static bool dataset_has_device(const netprof_schema *schema, const netprof_device *device)
{
    for (size_t i = 0; i < schema->device_count; i++)
        if (strcmp(schema->devices[i].name, device->name) == 0 &&
            strcmp(schema->devices[i].source, device->source) == 0)
            return true;
    return false;
}

// The absence of the device that has not ended, or NULL.
static dataset_absence *dataset_open_absence(const dataset_run *run, const netprof_device *device)
{
    for (size_t i = 0; i < run->absence_count; i++) {
        dataset_absence *a = &run->absences[i];
        if (!a->to && strcmp(a->name, device->name) == 0 && strcmp(a->source, device->source) == 0) return a;
    }
    return NULL;
}

void dataset_note_devices(dataset_input *in, size_t index, const netprof_schema *schema)
{
    dataset_run *run = &in->run;
    if (run->seen == schema) return;
    netprof_schema_retain(schema);
    netprof_schema_release(run->seen);
    run->seen = schema;
    if (!run->snapshot_count) return;
    const netprof_schema *first = run->snapshots[0].schema;
    for (size_t i = 0; i < first->device_count; i++) {
        const netprof_device *device = &first->devices[i];
        if (!device_is_watched(device) || !dataset_could_see(schema, device->source)) continue;
        dataset_absence *open = dataset_open_absence(run, device);
        bool there = dataset_has_device(schema, device);
        if (there && open) open->to = index;
        if (there || open) continue;
        dataset_absence made = {memory_strdup(device->source), memory_strdup(device->name), index, 0};
        arrput(run->absences, made);
        run->absence_count = arrlenu(run->absences);
    }
}

netprof_err dataset_add_snapshot(dataset_input *in, const netprof_snapshot *snapshot)
{
    dataset_run *run = &in->run;
    size_t index = run->snapshot_count + (size_t)run->skipped;
    dataset_note_devices(in, index, snapshot->schema);
    netprof_err err = dataset_call_each(in, index, snapshot);
    if (err) return dataset_fail(in, err, 0, "%s (at snapshot %zu)", netprof_strerror(err), index + 1);
    if (in->options->ends_only && run->snapshot_count == 2) {
        run->skipped++;
        return netprof_snapshot_copy(&run->snapshots[1], snapshot, in->error); // into the memory of the one before
    }
    netprof_snapshot copy = NETPROF_ZERO;
    err = dataset_reserve(in, dataset_bytes_of(snapshot->schema, 18));
    if (!err) err = netprof_snapshot_copy(&copy, snapshot, in->error);
    if (err) return err;
    arrput(run->snapshots, copy);
    run->snapshot_count = arrlenu(run->snapshots);
    return NETPROF_OK;
}

void dataset_make_delta(netprof_delta *delta, const netprof_schema *schema)
{
    dataset_blank_delta(delta, schema);
    netprof_schema_retain(schema);
}

netprof_err dataset_add_delta(dataset_input *in, netprof_delta *delta)
{
    netprof_err err = dataset_reserve(in, dataset_bytes_of(delta->schema, 35));
    if (err) {
        dataset_delta_free(delta);
        return err;
    }
    arrput(in->run.deltas, *delta);
    in->run.delta_count = arrlenu(in->run.deltas);
    return NETPROF_OK;
}

// ---- whole files ----

uint64_t dataset_max_bytes(const dataset_options *options)
{
    return options->max_bytes ? options->max_bytes : DEFAULT_MAX_BYTES;
}

netprof_err dataset_slurp(dataset_input *in, const char *path, char **data, size_t *size)
{
    uint64_t limit = dataset_max_bytes(in->options);
    struct stat st;
    FILE *file = readable_stream(path);
    if (!file) return dataset_fail(in, NETPROF_ERR_IO, 0, "%s", readable_error(errno));
    char *text = NULL;
    size_t used = 0, capacity = 1 << 15;
    // What is too large is not read first: the program would seem to hang.
    bool large = fstat(fileno(file), &st) == 0 && st.st_size > 0 && (uint64_t)st.st_size > limit;
    netprof_err err = NETPROF_OK;
    do {
        capacity *= 2;
        text = memory_realloc(text, capacity);
        if (!large) used += fread(text + used, 1, capacity - 1 - used, file);
        if (ferror(file)) err = dataset_fail(in, NETPROF_ERR_IO, 0, "%s", strerror(errno));
        if (large || used > limit)
            err = dataset_fail(in, NETPROF_ERR_LIMIT, 0, "larger than %llu bytes", (unsigned long long)limit);
    } while (!err && used == capacity - 1);
    fclose(file);
    if (err) {
        free(text);
        return err;
    }
    text[used] = 0;
    *data = text;
    *size = used;
    return NETPROF_OK;
}
