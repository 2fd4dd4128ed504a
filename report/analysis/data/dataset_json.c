// JSON: what netprof_write_json() writes (netprof.h, section 11) and what net_prof's collect() writes.
#include "dataset_json.h"

#include "dataset_net_prof.h"
#include "json_items.h"
#include "analysis/base/index_map.h"

#include <errno.h>
#include "analysis/base/json.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SOURCES = 1024, MAX_INTERFACE = 1 << 20, JSON_VERSION = 2 };

// The parser takes a number beyond 64 bits for the largest one; say so.
static void json_warn_of_large_numbers(dataset_input *in)
{
    static const char largest[] = "18446744073709551615";
    bool quoted = false;
    for (size_t i = 0; i < in->size; i++) {
        size_t digits = 0;
        if (in->data[i] == '"') quoted = !quoted;
        if (in->data[i] == '\\' && quoted) i++;
        if (quoted) continue;
        while (i + digits < in->size && in->data[i + digits] >= '0' && in->data[i + digits] <= '9')
            digits++;
        if (digits > 20 || (digits == 20 && memcmp(in->data + i, largest, 20) > 0)) {
            in->run.complete = false;
            dataset_warn(in, dataset_line_at(in, i), i, "a number beyond 64 bits was taken for the largest one");
            return;
        }
        if (digits) i += digits - 1;
    }
}

// ---- values ----

static json_object *json_member(json_object *object, const char *key, json_type type)
{
    json_object *value;
    if (!json_object_is_type(object, json_type_object) || !json_object_object_get_ex(object, key, &value)) return NULL;
    return json_object_is_type(value, type) ? value : NULL;
}

// Version 1 had other names for some things: `old`, which is read for one version more.
static const char *json_key_of(json_object *object, const char *key, const char *old)
{
    return json_object_is_type(object, json_type_object) && json_object_object_get_ex(object, key, NULL) ? key : old;
}

static const char *json_text_of(json_object *object, const char *key)
{
    json_object *value = json_member(object, key, json_type_string);
    return value ? json_object_get_string(value) : "";
}

static size_t json_length_of(json_object *array)
{
    return array ? json_object_array_length(array) : 0;
}

// A whole number, or a string of one (writers avoid numbers beyond 2^53 for readers that keep doubles).
static bool json_to_u64(json_object *value, uint64_t *number)
{
    if (json_object_is_type(value, json_type_int)) {
        int64_t small = json_object_get_int64(value);
        *number = small < 0 ? (uint64_t)small : json_object_get_uint64(value);
        return true;
    }
    if (!json_object_is_type(value, json_type_string)) return false;
    const char *text = json_object_get_string(value);
    char *end;
    errno = 0;
    uint64_t read = *text == '-' ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 10);
    if (end == text || *end || errno || !(*text == '-' || (*text >= '0' && *text <= '9'))) return false;
    *number = read;
    return true;
}

static int64_t json_int_of(json_object *object, const char *key)
{
    json_object *value;
    uint64_t number = 0;
    if (json_object_object_get_ex(object, key, &value) && !json_to_u64(value, &number)) number = 0;
    return (int64_t)number;
}

static bool json_flag_of(json_object *object, const char *key)
{
    json_object *value = json_member(object, key, json_type_boolean);
    return value && json_object_get_boolean(value);
}

// The number whose name it is; `none` when nobody has that name.
#define NUMBER_OF_NAME(type, name_function, name, last, none)                                                          \
    do {                                                                                                               \
        for (int i = 0; i <= (int)(last); i++)                                                                         \
            if (strcmp(name_function((type)i), name) == 0) return (type)i;                                             \
        return none;                                                                                                   \
    } while (0)

static netprof_status json_status_named(const char *name)
{
    NUMBER_OF_NAME(netprof_status, netprof_status_name, name, NETPROF_STATUS_UNREADABLE, NETPROF_STATUS_UNREADABLE);
}

static netprof_kind json_kind_named(const char *name)
{
    NUMBER_OF_NAME(netprof_kind, netprof_kind_name, name, NETPROF_KIND_HISTOGRAM, NETPROF_KIND_COUNTER);
}

static netprof_flag json_flag_named(const char *name)
{
    NUMBER_OF_NAME(netprof_flag, netprof_flag_name, name, NETPROF_FLAG_UNKNOWN, NETPROF_FLAG_UNKNOWN);
}

// ---- netprof's JSON: schemas ----

typedef struct json_schema {
    const netprof_schema *schema;
    index_map *devices;  // from (index of the source, name of the device)
    index_map *counters; // from (index of the device, name of the counter)
} json_schema;

static void json_schema_free(json_schema *s)
{
    netprof_schema_release(s->schema);
    hmfree(s->devices);
    hmfree(s->counters);
}

static unsigned json_counter_flags(json_object *counter)
{
    static const struct {
        const char *name;
        unsigned flag;
    } rows[] = {{"fast", NETPROF_FAST},
                {"signed", NETPROF_SIGNED},
                {"saturates", NETPROF_SATURATES},
                {"stamped", NETPROF_STAMPED},
                {"slow-refresh", NETPROF_SLOW_REFRESH}};
    json_object *list = json_member(counter, "flags", json_type_array);
    unsigned flags = 0;
    for (size_t i = 0; i < json_length_of(list); i++) {
        const char *name = json_object_get_string(json_object_array_get_idx(list, i));
        for (size_t k = 0; name && k < sizeof rows / sizeof *rows; k++)
            if (strcmp(rows[k].name, name) == 0) flags |= rows[k].flag;
    }
    return flags;
}

static void json_list_counters(dataset_input *in, netprof_list *build, size_t device, json_object *counters,
                               index_map **seen, size_t *count)
{
    for (size_t i = 0; i < json_length_of(counters); i++) {
        json_object *c = json_object_array_get_idx(counters, i);
        json_object *named = json_member(c, json_key_of(c, "counter", "name"), json_type_string);
        const char *name = named ? json_object_get_string(named) : "";
        if (!named || index_map_put(seen, map_key_of_name(device, name), *count) != *count) {
            dataset_warn(in, 0, 0, "device %zu: counter %zu has %s", device + 1, i + 1,
                         named ? "the name of another one" : "no name");
            continue;
        }
        ++*count;
        int64_t scale = json_int_of(c, "scale"), width = json_int_of(c, json_key_of(c, "width_bits", "width"));
        netprof_counter counter = {.name = name,
                                   .unit = json_text_of(c, "unit"),
                                   .scale = (uint16_t)(scale > 0 && scale <= UINT16_MAX ? scale : 1),
                                   .flags = (uint16_t)json_counter_flags(c),
                                   .kind = (uint8_t)json_kind_named(json_text_of(c, "kind")),
                                   .width = (uint8_t)(width >= 0 && width <= 64 ? width : 0)};
        netprof_list_counter(build, &counter);
    }
}

typedef void (*fact_function)(netprof_list *build, const char *key, const char *value);

static void json_list_facts(netprof_list *build, json_object *facts, fact_function add)
{
    if (!facts) return;
    struct json_object_iter at;
    json_object_object_foreachC(facts, at)
    {
        const char *key = at.key;
        json_object *value = at.val;
        if (value) add(build, key, json_object_get_string(value));
    }
}

// The devices of one source, or with `name` NULL those whose source has no row of its own.
static void json_list_devices(dataset_input *in, netprof_list *build, json_object *devices, const char *name,
                              bool *taken, json_schema *s, size_t *device_count, size_t *counter_count)
{
    const char *source = name;
    for (size_t i = 0; i < json_length_of(devices); i++) {
        json_object *d = json_object_array_get_idx(devices, i);
        if (taken[i] || (name && strcmp(json_text_of(d, "source"), name) != 0)) continue;
        if (!source || strcmp(source, json_text_of(d, "source")) != 0)
            netprof_build_source(build, source = json_text_of(d, "source"));
        unsigned flags = (json_flag_of(d, "physical") ? NETPROF_DEVICE_PHYSICAL : 0) |
                         (json_flag_of(d, "virtual") ? NETPROF_DEVICE_VIRTUAL : 0);
        taken[i] = true;
        netprof_list_device(build, json_text_of(d, json_key_of(d, "device", "name")),
                            (uint64_t)json_int_of(d, "identity"), flags);
        json_list_facts(build, json_member(d, "facts", json_type_object), netprof_list_fact);
        json_list_counters(in, build, (*device_count)++, json_member(d, "counters", json_type_array), &s->counters,
                           counter_count);
    }
}

static netprof_err json_list_sources(dataset_input *in, netprof_list *build, json_object *text, json_schema *s)
{
    json_object *devices = json_member(text, "devices", json_type_array);
    json_object *sources = json_member(text, "sources", json_type_array);
    size_t device_count = 0, counter_count = 0, rows = json_length_of(sources);
    if (rows > MAX_SOURCES) return dataset_fail(in, NETPROF_ERR_LIMIT, 0, "more than %d sources", MAX_SOURCES);
    bool *taken = memory_calloc(json_length_of(devices), sizeof *taken);
    json_list_facts(build, json_member(text, "facts", json_type_object), netprof_build_fact);
    for (size_t i = 0; i < rows; i++) {
        json_object *row = json_object_array_get_idx(sources, i);
        const char *name = json_text_of(row, json_key_of(row, "source", "name"));
        netprof_build_source(build, name);
        netprof_list_state(build, json_status_named(json_text_of(row, "status")), (int)json_int_of(row, "errno"),
                           json_text_of(row, json_key_of(row, "source_path", "path")));
        json_list_devices(in, build, devices, name, taken, s, &device_count, &counter_count);
    }
    json_list_devices(in, build, devices, NULL, taken, s, &device_count, &counter_count);
    free(taken);
    return NETPROF_OK;
}

static size_t json_source_index(const netprof_schema *schema, const char *name)
{
    size_t i = 0;
    while (i < schema->source_count && strcmp(schema->sources[i].name, name) != 0)
        i++;
    return i;
}

static netprof_err json_read_schema(dataset_input *in, json_object *text, json_schema *s)
{
    netprof_list *build = memory_check(netprof_build_begin(in->error));
    netprof_err err = json_list_sources(in, build, text, s), ended = netprof_build_end(build, &s->schema, in->error);
    if (err || ended) return err ? err : ended;
    for (size_t d = 0; d < s->schema->device_count; d++) {
        const netprof_device *device = &s->schema->devices[d];
        index_map_put(&s->devices, map_key_of_name(json_source_index(s->schema, device->source), device->name), d);
    }
    return NETPROF_OK;
}

// ---- netprof's JSON: snapshots and deltas ----

typedef struct json_schemas {
    json_schema *rows;
    size_t count;
} json_schemas;

static const json_schema *json_schema_of(dataset_input *in, json_object *item, const json_schemas *schemas,
                                         const char *what, size_t index)
{
    int64_t number = json_member(item, "schema", json_type_int) ? json_int_of(item, "schema") : -1;
    if (number >= 0 && (uint64_t)number < schemas->count) return &schemas->rows[number];
    in->run.complete = false;
    if (number < 0)
        dataset_warn(in, 0, 0, "%s %zu: expected an object with a \"schema\"", what, index + 1);
    else
        dataset_warn(in, 0, 0, "%s %zu: there is no schema %lld", what, index + 1, (long long)number);
    return NULL;
}

static size_t json_device_of(dataset_input *in, json_object *item, const json_schema *s)
{
    const char *name = json_text_of(item, "device"), *source = json_text_of(item, "source");
    size_t device = index_map_find(s->devices, map_key_of_name(json_source_index(s->schema, source), name));
    if (device == INDEX_NONE) {
        in->run.complete = false;
        dataset_warn(in, 0, 0, "device %.60s of source %.20s is not in the schema", name, source);
    }
    return device;
}

static void json_warn_of_counter(dataset_input *in, const json_schema *s, size_t device, const char *name,
                                 const char *what)
{
    in->run.complete = false;
    dataset_warn(in, 0, 0, "%.60s, counter %.60s: %s", s->schema->devices[device].name, name, what);
}

// Values, and with them the stamps, which come in the same order.
static void json_read_values(dataset_input *in, const json_schema *s, size_t device, json_object *item,
                             netprof_snapshot *snapshot)
{
    json_object *values = json_member(item, "values", json_type_object);
    json_object *stamps = json_member(item, "stamps_ns", json_type_array);
    size_t position = 0;
    if (!values) return;
    struct json_object_iter at;
    json_object_object_foreachC(values, at)
    {
        const char *name = at.key;
        json_object *value = at.val;
        size_t k = index_map_find(s->counters, map_key_of_name(device, name));
        json_object *stamp = position < json_length_of(stamps) ? json_object_array_get_idx(stamps, position) : NULL;
        uint64_t stamp_ns;
        position++;
        if (k == INDEX_NONE) {
            json_warn_of_counter(in, s, device, name, "not in the schema");
            continue;
        }
        if (stamp && json_to_u64(stamp, &stamp_ns)) snapshot->stamps_ns[k] = (int64_t)stamp_ns;
        if (!value) continue; // null: not_ok says why
        if (json_to_u64(value, &snapshot->values[k])) {
            snapshot->status[k] = NETPROF_STATUS_OK;
            continue;
        }
        snapshot->status[k] = NETPROF_STATUS_UNREADABLE;
        snapshot->errnos[k] = EBADMSG;
        json_warn_of_counter(in, s, device, name, "expected a whole number");
    }
}

// {"counter": ["denied", 13]}
static void json_read_not_ok(dataset_input *in, const json_schema *s, size_t device, json_object *item,
                             netprof_snapshot *snapshot)
{
    json_object *list = json_member(item, "not_ok", json_type_object);
    if (!list) return;
    struct json_object_iter at;
    json_object_object_foreachC(list, at)
    {
        const char *name = at.key;
        json_object *why = at.val;
        size_t k = index_map_find(s->counters, map_key_of_name(device, name));
        if (k == INDEX_NONE || !json_object_is_type(why, json_type_array) || !json_length_of(why)) {
            json_warn_of_counter(in, s, device, name, "expected a counter and [status, errno]");
            continue;
        }
        const char *status = json_object_get_string(json_object_array_get_idx(why, 0));
        json_object *number = json_length_of(why) > 1 ? json_object_array_get_idx(why, 1) : NULL;
        snapshot->status[k] = (uint8_t)json_status_named(status ? status : "");
        int reason = json_object_is_type(number, json_type_int) ? json_object_get_int(number) : 0;
        snapshot->errnos[k] = (uint8_t)(reason > 0 && reason <= UINT8_MAX ? reason : 0); // any other number is no errno
        if (snapshot->status[k] != NETPROF_STATUS_OK && snapshot->status[k] != NETPROF_STATUS_SATURATED)
            snapshot->values[k] = 0;
    }
}

static void json_fill_snapshot(dataset_input *in, const json_schema *s, json_object *item, netprof_snapshot *snapshot)
{
    json_object *devices = json_member(item, "devices", json_type_array);
    snapshot->begin_ns = json_int_of(item, json_key_of(item, "monotonic_begin_ns", "begin_ns"));
    snapshot->end_ns = json_int_of(item, json_key_of(item, "monotonic_end_ns", "end_ns"));
    snapshot->wall_ns = json_int_of(item, json_key_of(item, "time_ns", "wall_ns"));
    snapshot->stamp_error_ns = json_int_of(item, "stamp_error_ns");
    snapshot->set = strcmp(json_text_of(item, "set"), "fast") == 0 ? NETPROF_SET_FAST : NETPROF_SET_ALL;
    for (size_t i = 0; i < json_length_of(devices); i++) {
        json_object *d = json_object_array_get_idx(devices, i);
        size_t device = json_device_of(in, d, s);
        if (device == INDEX_NONE) continue;
        snapshot->device_begin_ns[device] = json_int_of(d, json_key_of(d, "monotonic_begin_ns", "begin_ns"));
        snapshot->device_end_ns[device] = json_int_of(d, json_key_of(d, "monotonic_end_ns", "end_ns"));
        json_read_values(in, s, device, d, snapshot);
        json_read_not_ok(in, s, device, d, snapshot);
    }
    for (size_t k = 0; k < s->schema->counter_count; k++) {
        if (snapshot->status[k] == NETPROF_STATUS_OK || snapshot->status[k] == NETPROF_STATUS_SATURATED) continue;
        snapshot->values[k] = 0; // a device may be there twice
        snapshot->not_ok += snapshot->status[k] != NETPROF_STATUS_SKIPPED;
    }
}

static netprof_err json_read_snapshots(dataset_input *in, json_document *d, const json_schemas *schemas)
{
    json_object *list = json_member(d->root, "snapshots", json_type_array), *item;
    netprof_err err = NETPROF_OK;
    netprof_snapshot snapshot = NETPROF_ZERO;
    for (size_t i = 0; !err && json_document_item(in, d, list, &d->snapshots, i, &item); i++) {
        const json_schema *s = json_schema_of(in, item, schemas, "snapshot", i);
        if (s) err = netprof_snapshot_make(&snapshot, s->schema, in->error);
        if (s && !err) {
            json_fill_snapshot(in, s, item, &snapshot);
            err = dataset_add_snapshot(in, &snapshot);
        }
        json_object_put(item);
    }
    netprof_snapshot_free(&snapshot);
    return err;
}

// {"before": 1, "after": 3, "delta": 2, "flag": "ok", "elapsed_ns": 5}, and "before_status" and
// "after_status", which say why there may be no value.
static void json_read_change(json_object *change, netprof_delta *delta, size_t k)
{
    static const char *const status_keys[] = {"before_status", "after_status"};
    uint64_t *const value[] = {&delta->before[k], &delta->after[k]};
    uint8_t *const status[] = {&delta->before_status[k], &delta->after_status[k]};
    const char *const keys[] = {"before", "after"};
    json_object *number;
    for (int i = 0; i < 2; i++) {
        bool readable = json_object_object_get_ex(change, keys[i], &number) && json_to_u64(number, value[i]);
        const char *name = json_text_of(change, status_keys[i]);
        *status[i] = (uint8_t)(*name ? json_status_named(name) : readable ? NETPROF_STATUS_OK : NETPROF_STATUS_SKIPPED);
    }
    if (json_object_object_get_ex(change, json_key_of(change, "delta", "value"), &number) &&
        !json_to_u64(number, &delta->values[k]))
        delta->values[k] = 0;
    delta->flags[k] = (uint8_t)json_flag_named(json_text_of(change, "flag"));
    delta->elapsed_ns[k] = json_int_of(change, "elapsed_ns");
}

static void json_fill_delta(dataset_input *in, const json_schema *s, json_object *item, netprof_delta *delta)
{
    json_object *devices = json_member(item, "devices", json_type_array);
    delta->wall_begin_ns = json_int_of(item, json_key_of(item, "begin_ns", "wall_begin_ns"));
    delta->wall_end_ns = json_int_of(item, json_key_of(item, "end_ns", "wall_end_ns"));
    delta->interval_ns = json_int_of(item, json_key_of(item, "elapsed_ns", "interval_ns"));
    delta->sweep_ns = json_int_of(item, "sweep_ns");
    delta->stamp_error_ns = json_int_of(item, "stamp_error_ns");
    memset(delta->flags, NETPROF_FLAG_UNKNOWN, s->schema->counter_count);
    for (size_t i = 0; i < json_length_of(devices); i++) {
        json_object *d = json_object_array_get_idx(devices, i);
        json_object *changes = json_member(d, "counters", json_type_object);
        size_t device = json_device_of(in, d, s);
        if (device == INDEX_NONE || !changes) continue;
        struct json_object_iter at;
        json_object_object_foreachC(changes, at)
        {
            const char *name = at.key;
            json_object *change = at.val;
            size_t k = index_map_find(s->counters, map_key_of_name(device, name));
            if (k == INDEX_NONE || !json_object_is_type(change, json_type_object))
                json_warn_of_counter(in, s, device, name, "expected a counter of the schema and its change");
            else
                json_read_change(change, delta, k);
        }
    }
}

static netprof_err json_read_deltas(dataset_input *in, json_document *d, const json_schemas *schemas)
{
    json_object *list = json_member(d->root, "deltas", json_type_array), *item;
    netprof_err err = NETPROF_OK;
    for (size_t i = 0; !err && json_document_item(in, d, list, &d->deltas, i, &item); i++) {
        const json_schema *s = json_schema_of(in, item, schemas, "delta", i);
        if (s) {
            netprof_delta delta;
            dataset_make_delta(&delta, s->schema);
            json_fill_delta(in, s, item, &delta);
            err = dataset_add_delta(in, &delta);
        }
        json_object_put(item);
    }
    return err;
}

// ---- net_prof's JSON ----

// One entry: {"interface": 1, "counter_name": ..., "value": ..., "timestamp": seconds}
typedef struct reading {
    const char *name;
    size_t interface, order;
    uint64_t value;
    int64_t stamp_ns;
} reading;

static int json_by_counter(const void *a, const void *b)
{
    const reading *x = a, *y = b;
    if (x->interface != y->interface) return x->interface < y->interface ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

// Seconds with a fraction, exact to the digits that are there: as a double, nanoseconds would be lost.
static int64_t json_stamp_of(json_object *entry)
{
    json_object *value;
    if (!json_object_object_get_ex(entry, "timestamp", &value) || !value) return 0;
    const char *text = json_object_get_string(value), *point = strpbrk(text, ".eE");
    errno = 0;
    long long seconds = strtoll(text, NULL, 10), ns = 0;
    if (errno || seconds < 0 || seconds > INT64_MAX / 1000000000 - 1 || (point && *point != '.')) return 0;
    for (int i = 0; i < 9; i++) {
        bool digit = point && point[1] >= '0' && point[1] <= '9';
        ns = 10 * ns + (digit ? *++point - '0' : 0);
        if (!digit) point = NULL;
    }
    return seconds * 1000000000 + ns;
}

static const char *json_counter_name(json_object *entry)
{
    static const char *const keys[] = {"counter_name", "metric_name", "name"};
    const char *name = "";
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !*name; i++)
        name = json_text_of(entry, keys[i]);
    return name;
}

static const char *json_fault_of(json_object *entry, reading *r)
{
    json_object *value = NULL;
    int64_t interface = json_int_of(entry, "interface");
    r->name = json_counter_name(entry);
    if (!*r->name) return "no counter_name";
    if (interface < 1 || interface > MAX_INTERFACE) return "expected an interface, 1 for the first";
    if (!json_object_object_get_ex(entry, "value", &value) || !json_to_u64(value, &r->value))
        return "expected a whole value";
    r->interface = (size_t)interface;
    r->stamp_ns = json_stamp_of(entry);
    return NULL;
}

// Does this key stand here? A value of the same text has no colon behind it.
static bool json_is_key(const dataset_input *in, size_t at, const char *key)
{
    size_t length = strlen(key);
    if (in->size - at < length || memcmp(in->data + at, key, length) != 0) return false;
    for (at += length; at < in->size && in->data[at] && strchr(" \t\r\n", in->data[at]);)
        at++;
    return at < in->size && in->data[at] == ':';
}

// Where the list begins: at the document's '[', or behind the outermost object's "counters".
static size_t json_list_begin(const dataset_input *in)
{
    static const char key[] = "\"counters\"";
    size_t at = 0, depth = 0;
    bool quoted = false;
    while (at < in->size && in->data[at] && strchr(" \t\r\n", in->data[at]))
        at++;
    if (at == in->size || in->data[at] == '[') return at;
    for (size_t i = at; i < in->size; i++) {
        char c = in->data[i];
        if (!quoted && depth == 1 && json_is_key(in, i, key)) return i + sizeof key - 1;
        if (c == '\\' && quoted) i++;
        if (c == '"') quoted = !quoted;
        if (!quoted && (c == '{' || c == '[')) depth++;
        if (!quoted && (c == '}' || c == ']')) depth--;
    }
    return at;
}

// How far a list was searched for its entries, which are asked for in their order: none is searched from the begin.
typedef struct json_place {
    size_t at, depth, passed; // passed: commas between entries
    bool quoted;
    size_t counted; // up to here lines are counted
    uint64_t line;
} json_place;

static uint64_t json_line_of_place(const dataset_input *in, json_place *p)
{
    for (; p->counted < p->at && p->counted < in->size; p->counted++)
        p->line += in->data[p->counted] == '\n';
    return p->line;
}

// The line of an entry of the list. The text is known to be JSON.
static uint64_t json_line_of_entry(const dataset_input *in, json_place *p, size_t entry)
{
    for (; p->at < in->size; p->at++) {
        char c = in->data[p->at];
        bool begins = !p->quoted && p->depth == 1 && p->passed == entry && !strchr(" \t\r\n,]", c);
        if (begins) break;
        if (c == '\\' && p->quoted) p->at++;
        if (c == '"') p->quoted = !p->quoted;
        if (p->quoted) continue;
        if (p->depth == 1 && c == ',') p->passed++;
        if (c == '[' || c == '{') p->depth++;
        if ((c == ']' || c == '}') && (!p->depth || !--p->depth)) break;
    }
    return json_line_of_place(in, p);
}

// Of two entries for the same counter the first counts, as in net_prof. Returns an stb_ds array of readings.
static reading *json_collect_readings(dataset_input *in, json_object *list)
{
    index_map *seen = NULL;
    reading *readings = NULL;
    json_place place = {.at = json_list_begin(in), .line = 1};
    for (size_t i = 0; i < json_length_of(list); i++) {
        reading r = {.order = arrlenu(readings)};
        const char *fault = json_fault_of(json_object_array_get_idx(list, i), &r);
        if (!fault && index_map_put(&seen, map_key_of_name(r.interface, r.name), r.order) != r.order)
            fault = "there before";
        if (!fault) {
            arrput(readings, r);
            continue;
        }
        in->run.complete = false;
        dataset_warn(in, json_line_of_entry(in, &place, i), 0, "counter %zu of the list: %s", i + 1, fault);
    }
    hmfree(seen);
    return readings;
}

static netprof_err json_snapshot_of_readings(dataset_input *in, const reading *readings, size_t count)
{
    netprof_snapshot snapshot = NETPROF_ZERO;
    const netprof_schema *schema;
    netprof_list *build = memory_check(netprof_build_begin(in->error));
    netprof_build_source(build, "cxi");
    for (size_t i = 0; i < count; i++) {
        if (!i || readings[i].interface != readings[i - 1].interface) {
            char name[32];
            snprintf(name, sizeof name, "cxi%zu", readings[i].interface - 1);
            netprof_list_device(build, name, 0, NETPROF_DEVICE_PHYSICAL);
        }
        netprof_counter counter = dataset_cassini_counter(readings[i].name);
        netprof_list_counter(build, &counter);
    }
    netprof_err err = netprof_build_end(build, &schema, in->error);
    if (!err) err = netprof_snapshot_make(&snapshot, schema, in->error);
    netprof_schema_release(schema);
    if (err) return err;
    for (size_t i = 0; i < count; i++) {
        snapshot.values[i] = readings[i].value;
        snapshot.stamps_ns[i] = readings[i].stamp_ns;
        snapshot.status[i] = NETPROF_STATUS_OK;
    }
    dataset_times_from_stamps(&snapshot);
    err = dataset_add_snapshot(in, &snapshot);
    netprof_snapshot_free(&snapshot);
    return err;
}

static netprof_err json_read_net_prof(dataset_input *in, json_object *list)
{
    reading *readings = json_collect_readings(in, list);
    size_t count = arrlenu(readings);
    netprof_err err = NETPROF_OK;
    if (count) {
        qsort(readings, count, sizeof *readings, json_by_counter);
        err = json_snapshot_of_readings(in, readings, count);
    }
    arrfree(readings);
    return err;
}

// ---- either ----

static void json_read_facts(dataset_input *in, json_object *facts)
{
    if (!facts) return;
    struct json_object_iter at;
    json_object_object_foreachC(facts, at)
    {
        const char *key = at.key;
        json_object *value = at.val;
        if (value) dataset_add_fact(in, key, json_object_get_string(value));
    }
}

static netprof_err json_read_own(dataset_input *in, json_document *d)
{
    json_object *root = d->root;
    json_object *list = json_member(root, "schemas", json_type_array);
    int64_t version = json_int_of(root, "version");
    if (version > JSON_VERSION)
        return dataset_fail(in, NETPROF_ERR_VERSION, 0, "version %lld; this program reads up to %d", (long long)version,
                            JSON_VERSION);
    json_schemas schemas = {memory_calloc(json_length_of(list), sizeof *schemas.rows), 0};
    netprof_err err = NETPROF_OK;
    if (!in->run.snapshot_count) json_read_facts(in, json_member(root, "facts", json_type_object)); // the first line's
    while (!err && schemas.count < json_length_of(list)) {
        json_object *text = json_object_array_get_idx(list, schemas.count);
        err = json_read_schema(in, text, &schemas.rows[schemas.count++]);
    }
    if (!err) err = json_read_snapshots(in, d, &schemas);
    if (!err) err = json_read_deltas(in, d, &schemas);
    for (size_t i = 0; i < schemas.count; i++)
        json_schema_free(&schemas.rows[i]);
    free(schemas.rows);
    return err;
}

// Any list of objects may be JSON; entries of net_prof have a value.
static bool json_is_net_prof(json_object *list)
{
    json_object *value;
    bool found = json_length_of(list) == 0;
    for (size_t i = 0; i < json_length_of(list) && !found; i++) {
        json_object *entry = json_object_array_get_idx(list, i);
        found = json_object_is_type(entry, json_type_object) && json_object_object_get_ex(entry, "value", &value);
    }
    return found;
}

static netprof_err json_read_root(dataset_input *in, json_document *d)
{
    json_object *root = d->root;
    const char *format = json_text_of(root, "format");
    bool list = json_object_is_type(root, json_type_array);
    json_object *counters = list ? root : json_member(root, "counters", json_type_array);
    if (strcmp(format, "netprof") == 0) {
        in->run.format = DATASET_JSON;
        return json_read_own(in, d);
    }
    if (*format)
        return dataset_fail(in, NETPROF_ERR_FORMAT, 0, "JSON of format %.40s; expected netprof's snapshots", format);
    if (!counters)
        return dataset_fail(in, NETPROF_ERR_FORMAT, 0,
                            "expected \"format\": \"netprof\" (netprof), or a list \"counters\" (net_prof)");
    if (!json_is_net_prof(counters))
        return dataset_fail(in, NETPROF_ERR_FORMAT, 0,
                            "JSON, but neither netprof's nor net_prof's: no entry of the list has a \"value\"");
    in->run.format = DATASET_NET_PROF_JSON;
    json_read_facts(in, json_member(root, "meta", json_type_object));
    return json_read_net_prof(in, counters);
}

// The length of a document that takes one line and has another one behind it, as collect --count 0 -o - writes them;
// otherwise all. Blank lines before it belong to it, those behind it to the next.
static size_t json_first_line(const dataset_input *in)
{
    static const char begin[] = "{\"format\":\"netprof\",";
    const char *open = memchr(in->data, '{', in->size), *from = open ? open : in->data;
    const char *stop = memchr(from, '\n', in->size - (size_t)(from - in->data));
    size_t length = stop ? (size_t)(stop - in->data) + 1 : in->size;
    size_t next = length;
    while (next < in->size && in->data[next] && strchr(" \t\r\n", in->data[next]))
        next++;
    bool lines = in->size - next >= strlen(begin) && memcmp(in->data + next, begin, strlen(begin)) == 0;
    return lines ? length : in->size;
}

static netprof_err json_read_line(dataset_input *in)
{
    json_document document;
    netprof_err err = json_document_read(in, &document);
    if (!err) {
        json_warn_of_large_numbers(in);
        err = json_read_root(in, &document);
    }
    json_document_free(&document);
    return err;
}

netprof_err dataset_read_json(dataset_input *in)
{
    const dataset_input all = *in;
    netprof_err err = NETPROF_OK;
    uint64_t line = 0;
    in->run.complete = true;
    for (size_t at = 0; !err && at < all.size; at += in->size) { // the readings of all lines are one run
        size_t told = in->set->warning_count;
        in->data = all.data + at;
        in->size = all.size - at;
        in->size = json_first_line(in);
        err = json_read_line(in);
        for (size_t i = told; i < in->set->warning_count; i++)
            if (in->set->warnings[i].line) in->set->warnings[i].line += line;
        if (line && (err == NETPROF_ERR_PARSE || err == NETPROF_ERR_FORMAT)) {
            dataset_warn(in, line + 1, 0, "this line cannot be used; the readings of the others are");
            in->run.complete = false;
            err = NETPROF_OK;
        }
        if (at + in->size < all.size) line += dataset_line_at(in, in->size) - 1;
    }
    in->data = all.data;
    in->size = all.size;
    return err;
}
