#include "convert.h"

#include "analysis/catalog/catalog.h"
#include "analysis/base/csv.h"
#include "analysis/base/json_text.h"
#include "analysis/base/saturating_sum.h"
#include "analysis/base/stb_ds.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

static const struct {
    convert_format format;
    const char *name, *ending;
} formats[] = {{CONVERT_NETPROF, "netprof", ".netprof"},
               {CONVERT_JSON, "json", ".json"},
               {CONVERT_NET_PROF_JSON, "net_prof", NULL},
               {CONVERT_CSV, "csv", ".csv"}};
enum { FORMATS = sizeof formats / sizeof *formats };

convert_format convert_format_of_path(const char *path)
{
    size_t n = strlen(path);
    for (size_t i = 0; i < FORMATS; i++) {
        size_t e = formats[i].ending ? strlen(formats[i].ending) : SIZE_MAX;
        if (n > e && strcasecmp(path + n - e, formats[i].ending) == 0) return formats[i].format;
    }
    return CONVERT_UNKNOWN;
}

convert_format convert_format_named(const char *name)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (strcasecmp(formats[i].name, name) == 0) return formats[i].format;
    return CONVERT_UNKNOWN;
}

static netprof_err convert_fail(netprof_error *error, netprof_err code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static netprof_err convert_fail(netprof_error *error, netprof_err code, const char *format, ...)
{
    if (!error) return code;
    *error = (netprof_error){.code = code, .sys_errno = code == NETPROF_ERR_IO ? errno : 0};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return code;
}

// ---- text on its way out; the first failure sticks ----

typedef struct sink {
    netprof_write_fn write;
    void *user;
    int failed; // errno
    size_t used;
    char data[1 << 16];
} sink;

static void convert_flush(sink *out)
{
    if (!out->failed && out->used) out->failed = out->write(out->user, out->data, out->used);
    out->used = 0;
}

static void convert_put_char(sink *out, char c)
{
    if (out->used == sizeof out->data) convert_flush(out);
    out->data[out->used++] = c;
}

static void convert_put(sink *out, const char *text)
{
    while (*text)
        convert_put_char(out, *text++);
}

static void convert_put_block(void *to, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        convert_put_char(to, bytes[i]);
}

static void convert_put_format(sink *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void convert_put_format(sink *out, const char *format, ...)
{
    char text[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    convert_put(out, text);
}

static netprof_err convert_sink_end(sink *out, netprof_error *error)
{
    convert_flush(out);
    errno = out->failed;
    return out->failed ? convert_fail(error, NETPROF_ERR_IO, "%s", strerror(out->failed)) : NETPROF_OK;
}

static void convert_put_value(sink *out, const netprof_counter *counter, uint64_t value)
{
    if (counter->flags & NETPROF_SIGNED)
        convert_put_format(out, "%" PRId64, (int64_t)value);
    else
        convert_put_format(out, "%" PRIu64, value);
}

static bool convert_has_value(uint8_t status)
{
    return status == NETPROF_STATUS_OK || status == NETPROF_STATUS_SATURATED;
}

// ---- CSV ----

static void convert_put_csv_row(sink *out, const dataset_run *run, const netprof_snapshot *s, size_t number, size_t i)
{
    const netprof_counter *counter = &s->schema->counters[i];
    const netprof_device *device = &s->schema->devices[counter->device];
    const char *texts[] = {run->host, device->source, device->name, counter->name, counter->unit};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        csv_text(convert_put_block, out, texts[k], true);
        convert_put_char(out, ',');
    }
    convert_put_format(out, "%s,%zu,%" PRId64 ",", netprof_kind_name((netprof_kind)counter->kind), number, s->wall_ns);
    if (s->stamps_ns[i]) convert_put_format(out, "%" PRId64, s->stamps_ns[i]);
    convert_put_char(out, ',');
    if (convert_has_value(s->status[i])) convert_put_value(out, counter, s->values[i]);
    convert_put_format(out, ",%s\r\n", netprof_status_name((netprof_status)s->status[i]));
}

static netprof_err convert_write_csv(const dataset *set, sink *out, netprof_error *error)
{
    size_t number = 0;
    convert_put(out, "host,source,device,counter,unit,kind,snapshot,time_ns,stamp_ns,value,status\r\n");
    for (size_t r = 0; r < set->run_count; r++) {
        const dataset_run *run = &set->runs[r];
        for (size_t n = 0; n < run->snapshot_count; n++) {
            const netprof_snapshot *s = &run->snapshots[n];
            number++;
            for (size_t i = 0; i < s->schema->counter_count; i++)
                if (s->status[i] != NETPROF_STATUS_SKIPPED) convert_put_csv_row(out, run, s, number, i);
        }
    }
    if (!number) return convert_fail(error, NETPROF_ERR_ARG, "no snapshot; CSV holds snapshots only");
    return convert_sink_end(out, error);
}

// ---- net_prof's JSON ----

// "2025-07-18T15:47:34.346847+00:00": microseconds, as net_prof writes times.
static void convert_put_iso_time(sink *out, int64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm parts;
    char text[64];
    gmtime_r(&seconds, &parts); // of years 1677 to 2262
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    convert_put_format(out, "\"%s.%06" PRId64 "+00:00\"", text, ns % 1000000000 / 1000);
}

enum net_prof_list { GROUPS, DESCRIPTIONS, UNITS };

// One of the three lists that run in parallel, an element for each group of the counter.
static void convert_put_group_list(sink *out, const catalog_entry *entry, enum net_prof_list what)
{
    static const char *const keys[] = {"groups", "descriptions", "units"};
    static const char *const none[] = {"UNGROUPED", "No description", "No Units"};
    const catalog_group *group;
    const char *comma = "";
    convert_put_format(out, ", \"%s\": [", keys[what]);
    for (size_t i = 0; entry && (group = catalog_group_at(i)); i++) {
        if (!(entry->groups & (uint64_t)1 << i)) continue;
        convert_put(out, comma);
        json_text_quoted(convert_put_block, out,
                         what == GROUPS         ? group->name
                         : what == DESCRIPTIONS ? entry->description
                                                : entry->unit);
        comma = ", ";
    }
    if (!*comma) json_text_quoted(convert_put_block, out, none[what]);
    convert_put_char(out, ']');
}

static void convert_put_net_prof_entry(sink *out, const netprof_snapshot *s, size_t i, unsigned long interface,
                                       size_t id)
{
    const netprof_counter *counter = &s->schema->counters[i];
    const catalog_entry *entry = catalog_find("cxi", counter->name);
    int64_t stamp = s->stamps_ns[i] > 0 ? s->stamps_ns[i] : s->wall_ns > 0 ? s->wall_ns : 0;
    convert_put_format(out, "\n  {\"id\": %zu, \"interface\": %lu, \"counter_name\": ", id, interface);
    json_text_quoted(convert_put_block, out, counter->name);
    convert_put(out, ", \"value\": ");
    convert_put_value(out, counter, s->values[i]);
    convert_put_format(out, ", \"timestamp\": %" PRId64 ".%09" PRId64 ", \"timestamp_ISO_8601\": ", stamp / 1000000000,
                       stamp % 1000000000);
    convert_put_iso_time(out, stamp);
    convert_put_group_list(out, entry, GROUPS);
    convert_put_group_list(out, entry, DESCRIPTIONS);
    convert_put_group_list(out, entry, UNITS);
    convert_put_char(out, '}');
}

typedef struct named_index {
    const char *name;
    size_t index;
} named_index;

static int convert_compare_named(const void *a, const void *b)
{
    return strcmp(((const named_index *)a)->name, ((const named_index *)b)->name);
}

// "cxi3" is interface 4; 0 for devices that net_prof does not know.
static unsigned long convert_interface_of(const netprof_device *device)
{
    char *end;
    if (strcmp(device->source, "cxi") != 0 || strncmp(device->name, "cxi", 3) != 0) return 0;
    unsigned long n = strtoul(device->name + 3, &end, 10);
    return end > device->name + 3 && !*end && device->name[3] != '-' && n < UINT32_MAX ? n + 1 : 0;
}

// net_prof's ids count the files of a directory in the order of their bytes.
static size_t convert_put_net_prof_device(sink *out, const netprof_snapshot *s, const netprof_device *device,
                                          named_index *order, bool *comma)
{
    unsigned long interface = convert_interface_of(device);
    size_t put_count = 0;
    for (size_t k = 0; k < device->count; k++)
        order[k] = (named_index){s->schema->counters[device->first + k].name, device->first + k};
    qsort(order, device->count, sizeof *order, convert_compare_named);
    for (size_t k = 0; interface && k < device->count; k++) {
        // The retry handler's counters are no telemetry files.
        if (!convert_has_value(s->status[order[k].index]) || strchr(order[k].name, ':')) continue;
        if (*comma) convert_put_char(out, ',');
        *comma = true;
        convert_put_net_prof_entry(out, s, order[k].index, interface, k + 1);
        put_count++;
    }
    return put_count;
}

static netprof_err convert_pick_snapshot(const dataset *set, size_t wanted, const netprof_snapshot **found,
                                         netprof_error *error)
{
    size_t number = 0;
    *found = NULL;
    for (size_t r = 0; r < set->run_count; r++)
        for (size_t n = 0; n < set->runs[r].snapshot_count; n++)
            if (++number == wanted || !*found) *found = &set->runs[r].snapshots[n];
    if (wanted > number || !number) return convert_fail(error, NETPROF_ERR_ARG, "there are %zu snapshots", number);
    if (!wanted && number > 1)
        return convert_fail(error, NETPROF_ERR_ARG, "net_prof's JSON holds one snapshot and there are %zu: choose one",
                            number);
    return NETPROF_OK;
}

static netprof_err convert_write_net_prof(const dataset *set, const convert_options *options, sink *out,
                                          netprof_error *error)
{
    const netprof_snapshot *s;
    netprof_err err = convert_pick_snapshot(set, options->snapshot, &s, error);
    if (err) return err;
    named_index *order = memory_array(NULL, s->schema->counter_count, sizeof *order);
    int64_t duration = difference_capped(s->end_ns, s->begin_ns), begin = s->wall_ns > 0 ? s->wall_ns : 0;
    size_t written = 0, values = 0;
    bool comma = false;
    if (duration < 0) duration = 0;
    convert_put(out, "{\n \"meta\": {\"input_path\": \"/sys/class/cxi\", \"started_at\": ");
    convert_put_iso_time(out, begin);
    convert_put(out, ", \"finished_at\": ");
    convert_put_iso_time(out, sum_capped_signed(begin, duration));
    convert_put_format(out, ", \"duration_s\": %.6f},\n \"counters\": [", (double)duration / 1e9);
    for (size_t d = 0; d < s->schema->device_count; d++)
        written += convert_put_net_prof_device(out, s, &s->schema->devices[d], order, &comma);
    convert_put(out, "\n ]\n}\n");
    free(order);
    for (size_t i = 0; i < s->schema->counter_count; i++)
        values += convert_has_value(s->status[i]);
    if (options->left_out) *options->left_out = values - written;
    if (!written) return convert_fail(error, NETPROF_ERR_ARG, "no Cassini device; net_prof's JSON knows no others");
    return convert_sink_end(out, error);
}

// ---- netprof's own formats ----

// Puts everything of all runs into three arrays, as shallow copies.
static netprof_err convert_write_json(const dataset *set, const convert_options *options, netprof_write_fn write,
                                      void *user, netprof_error *error)
{
    netprof_fact *facts = NULL;
    netprof_snapshot *snapshots = NULL;
    netprof_delta *deltas = NULL;
    for (size_t r = 0; r < set->run_count; r++) {
        const dataset_run *run = &set->runs[r];
        for (size_t i = 0; i < run->fact_count; i++)
            arrput(facts, run->facts[i]);
        for (size_t i = 0; i < run->snapshot_count; i++)
            arrput(snapshots, run->snapshots[i]);
        for (size_t i = 0; i < run->delta_count; i++)
            arrput(deltas, run->deltas[i]);
    }
    netprof_json what = {.facts = facts,
                         .fact_count = arrlenu(facts),
                         .snapshots = snapshots,
                         .snapshot_count = arrlenu(snapshots),
                         .deltas = deltas,
                         .delta_count = arrlenu(deltas),
                         .u64_strings = options->u64_strings};
    netprof_err err = netprof_write_json(&what, write, user, error);
    arrfree(facts);
    arrfree(snapshots);
    arrfree(deltas);
    return err;
}

static netprof_err convert_write_run(netprof_writer *writer, const dataset_run *run, netprof_error *error)
{
    netprof_err err = NETPROF_OK;
    for (size_t i = 0; i < run->fact_count && !err; i++)
        err = netprof_write_fact(writer, run->facts[i].key, run->facts[i].value, error);
    for (size_t i = 0; i < run->snapshot_count && !err; i++)
        err = netprof_write_snapshot(writer, &run->snapshots[i], error);
    for (size_t i = 0; i < run->delta_count && !err; i++)
        err = netprof_write_delta(writer, &run->deltas[i], error);
    return err;
}

static netprof_err convert_write_netprof(const dataset *set, netprof_write_fn write, void *user, netprof_error *error)
{
    netprof_writer *writer;
    netprof_err err = netprof_writer_open_fn(&writer, write, user, error), closed;
    if (err) return err;
    for (size_t r = 0; r < set->run_count && !err; r++)
        err = convert_write_run(writer, &set->runs[r], error);
    closed = netprof_writer_close(writer, !err, err ? NULL : error);
    return err ? err : closed;
}

netprof_err convert_write(const dataset *set, convert_format format, const convert_options *options,
                          netprof_write_fn write, void *user, netprof_error *error)
{
    static const convert_options defaults = {0};
    if (!options) options = &defaults;
    if (options->end_zero) return convert_fail(error, NETPROF_ERR_ARG, "convert_options was never initialised");
    if (format == CONVERT_NETPROF) return convert_write_netprof(set, write, user, error);
    if (format == CONVERT_JSON) return convert_write_json(set, options, write, user, error);
    sink *out = memory_alloc(sizeof *out);
    out->write = write;
    out->user = user;
    out->failed = 0;
    out->used = 0;
    netprof_err err = format == CONVERT_CSV             ? convert_write_csv(set, out, error)
                      : format == CONVERT_NET_PROF_JSON ? convert_write_net_prof(set, options, out, error)
                                                        : convert_fail(error, NETPROF_ERR_ARG, "no such format");
    free(out);
    return err;
}
