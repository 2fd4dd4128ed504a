// JSON: what netprof_write_json() writes (netprof.h, section 11) and what net_prof's collect() writes.
#define _POSIX_C_SOURCE 200809L // strdup
#include "dataset_private.h"

#include <errno.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 32, MAX_SOURCES = 1024, MAX_INTERFACE = 1 << 20, JSON_VERSION = 1 };

static netprof_err no_memory(dataset_input *in)
{
    return dataset_fail(in, NETPROF_ERR_NOMEM, 0, "no memory");
}

// ---- the text ----

// Parses the whole text; on failure *stop tells where and *reason what was wrong.
static json_object *parse(const char *text, size_t size, size_t *stop, const char **reason)
{
    json_tokener *tokener = json_tokener_new_ex(MAX_DEPTH);
    json_object *root = NULL;
    *stop = 0;
    *reason = "no memory";
    if (!tokener) return NULL;
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_ALLOW_TRAILING_CHARS);
    while (*stop < size && !root) {
        size_t part = size - *stop < INT_MAX / 2 ? size - *stop : INT_MAX / 2;
        root = json_tokener_parse_ex(tokener, text + *stop, (int)part);
        enum json_tokener_error code = json_tokener_get_error(tokener);
        *stop += json_tokener_get_parse_end(tokener);
        *reason = code == json_tokener_continue ? "the file ends too early" : json_tokener_error_desc(code);
        if (code != json_tokener_continue && !root) break;
    }
    json_tokener_free(tokener);
    return root;
}

// The part before `stop` that is whole, with the brackets closed that were open: free() it. What a cut file
// still tells is in there.
static char *mend(const char *text, size_t stop, size_t *size)
{
    char stack[MAX_DEPTH];
    size_t depth = 0, safe_depth = 0, safe = 0;
    bool quoted = false;
    for (size_t i = 0; i < stop; i++) {
        char c = text[i];
        if (quoted) {
            if (c == '\\') i++;
            quoted = c != '"';
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            if (depth == MAX_DEPTH) break;
            stack[depth++] = c == '{' ? '}' : ']';
        } else if (c == '}' || c == ']') {
            if (!depth || stack[--depth] != c) break;
            safe = i + 1;
            safe_depth = depth;
        } else if (c == ',') {
            safe = i;
            safe_depth = depth;
        }
    }
    char *mended = malloc(safe + safe_depth + 1);
    if (!mended) return NULL;
    memcpy(mended, text, safe);
    while (safe_depth)
        mended[safe++] = stack[--safe_depth];
    mended[safe] = 0;
    *size = safe;
    return mended;
}

// The parser takes a number beyond 64 bits for the largest one; say so.
static void warn_of_large_numbers(dataset_input *in)
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

static netprof_err parse_input(dataset_input *in, json_object **root)
{
    size_t stop, size, ignored;
    const char *reason, *unused;
    *root = parse(in->data, in->size, &stop, &reason);
    if (*root) return NETPROF_OK;
    char *mended = mend(in->data, stop, &size);
    if (mended) *root = parse(mended, size, &ignored, &unused);
    free(mended);
    uint64_t line = dataset_line_at(in, stop);
    if (!*root) return dataset_fail(in, NETPROF_ERR_PARSE, line, "line %llu: %s", (unsigned long long)line, reason);
    in->run.complete = false;
    dataset_warn(in, line, stop, "%s; what comes before was used", reason);
    return NETPROF_OK;
}

// ---- values ----

static json_object *member(json_object *object, const char *key, json_type type)
{
    json_object *value;
    if (!json_object_is_type(object, json_type_object) || !json_object_object_get_ex(object, key, &value)) return NULL;
    return json_object_is_type(value, type) ? value : NULL;
}

static const char *text_make(json_object *object, const char *key)
{
    json_object *value = member(object, key, json_type_string);
    return value ? json_object_get_string(value) : "";
}

static size_t length_of(json_object *array)
{
    return array ? json_object_array_length(array) : 0;
}

// A whole number, or a string of one (writers avoid numbers beyond 2^53 for readers that keep doubles).
static bool to_u64(json_object *value, uint64_t *number)
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

static int64_t int_of(json_object *object, const char *key)
{
    json_object *value;
    uint64_t number = 0;
    if (json_object_object_get_ex(object, key, &value) && !to_u64(value, &number)) number = 0;
    return (int64_t)number;
}

static bool flag_of(json_object *object, const char *key)
{
    json_object *value = member(object, key, json_type_boolean);
    return value && json_object_get_boolean(value);
}

// The number whose name it is; `none` when nobody has that name.
#define NUMBER_OF_NAME(type, name_function, name, last, none)                                                          \
    do {                                                                                                               \
        for (int i = 0; i <= (int)(last); i++)                                                                         \
            if (strcmp(name_function((type)i), name) == 0) return (type)i;                                             \
        return none;                                                                                                   \
    } while (0)

static netprof_status status_named(const char *name)
{
    NUMBER_OF_NAME(netprof_status, netprof_status_name, name, NETPROF_STATUS_UNREADABLE, NETPROF_STATUS_UNREADABLE);
}

static netprof_kind kind_named(const char *name)
{
    NUMBER_OF_NAME(netprof_kind, netprof_kind_name, name, NETPROF_KIND_HISTOGRAM, NETPROF_KIND_COUNTER);
}

static netprof_flag flag_named(const char *name)
{
    NUMBER_OF_NAME(netprof_flag, netprof_flag_name, name, NETPROF_FLAG_UNKNOWN, NETPROF_FLAG_UNKNOWN);
}

// ---- netprof's JSON: schemas ----

typedef struct json_schema {
    const netprof_schema *schema;
    lookup devices;  // (index of the source, name of the device)
    lookup counters; // (index of the device, name of the counter)
} json_schema;

static void json_schema_free(json_schema *s)
{
    netprof_schema_release(s->schema);
    lookup_free(&s->devices);
    lookup_free(&s->counters);
}

static unsigned counter_flags(json_object *counter)
{
    static const struct {
        const char *name;
        unsigned flag;
    } rows[] = {{"fast", NETPROF_FAST},
                {"signed", NETPROF_SIGNED},
                {"saturates", NETPROF_SATURATES},
                {"stamped", NETPROF_STAMPED},
                {"slow-refresh", NETPROF_SLOW_REFRESH}};
    json_object *list = member(counter, "flags", json_type_array);
    unsigned flags = 0;
    for (size_t i = 0; i < length_of(list); i++) {
        const char *name = json_object_get_string(json_object_array_get_idx(list, i));
        for (size_t k = 0; name && k < sizeof rows / sizeof *rows; k++)
            if (strcmp(rows[k].name, name) == 0) flags |= rows[k].flag;
    }
    return flags;
}

static netprof_err list_counters(dataset_input *in, netprof_list *build, size_t device, json_object *counters,
                                 lookup *seen, size_t *count)
{
    for (size_t i = 0; i < length_of(counters); i++) {
        json_object *c = json_object_array_get_idx(counters, i);
        json_object *named = member(c, "name", json_type_string);
        const char *name = text_make(c, "name");
        size_t *place = lookup_put(seen, device, name);
        if (!place) return no_memory(in);
        if (!named || *place != LOOKUP_NONE) {
            dataset_warn(in, 0, 0, "device %zu: counter %zu has %s", device + 1, i + 1,
                         named ? "the name of another one" : "no name");
            continue;
        }
        *place = (*count)++;
        int64_t scale = int_of(c, "scale"), width = int_of(c, "width");
        netprof_counter counter = {.name = name,
                                   .unit = text_make(c, "unit"),
                                   .scale = (uint16_t)(scale > 0 && scale <= UINT16_MAX ? scale : 1),
                                   .flags = (uint16_t)counter_flags(c),
                                   .kind = (uint8_t)kind_named(text_make(c, "kind")),
                                   .width = (uint8_t)(width >= 0 && width <= 64 ? width : 0)};
        netprof_list_counter(build, &counter);
    }
    return NETPROF_OK;
}

typedef void (*fact_function)(netprof_list *build, const char *key, const char *value);

static void list_facts(netprof_list *build, json_object *facts, fact_function add)
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
static netprof_err list_devices(dataset_input *in, netprof_list *build, json_object *devices, const char *name,
                                bool *taken, json_schema *s, size_t *device_count, size_t *counter_count)
{
    const char *source = name;
    for (size_t i = 0; i < length_of(devices); i++) {
        json_object *d = json_object_array_get_idx(devices, i);
        if (taken[i] || (name && strcmp(text_make(d, "source"), name) != 0)) continue;
        if (!source || strcmp(source, text_make(d, "source")) != 0)
            netprof_build_source(build, source = text_make(d, "source"));
        unsigned flags = (flag_of(d, "physical") ? NETPROF_DEVICE_PHYSICAL : 0) |
                         (flag_of(d, "virtual") ? NETPROF_DEVICE_VIRTUAL : 0);
        taken[i] = true;
        netprof_list_device(build, text_make(d, "name"), (uint64_t)int_of(d, "identity"), flags);
        list_facts(build, member(d, "facts", json_type_object), netprof_list_fact);
        netprof_err err = list_counters(in, build, (*device_count)++, member(d, "counters", json_type_array),
                                        &s->counters, counter_count);
        if (err) return err;
    }
    return NETPROF_OK;
}

static netprof_err list_sources(dataset_input *in, netprof_list *build, json_object *text, json_schema *s)
{
    json_object *devices = member(text, "devices", json_type_array);
    json_object *sources = member(text, "sources", json_type_array);
    size_t device_count = 0, counter_count = 0, rows = length_of(sources);
    bool *taken = calloc(length_of(devices) + 1, sizeof *taken);
    netprof_err err = taken ? NETPROF_OK : no_memory(in);
    if (rows > MAX_SOURCES) err = dataset_fail(in, NETPROF_ERR_LIMIT, 0, "more than %d sources", MAX_SOURCES);
    list_facts(build, member(text, "facts", json_type_object), netprof_build_fact);
    for (size_t i = 0; i < rows && !err; i++) {
        json_object *row = json_object_array_get_idx(sources, i);
        netprof_build_source(build, text_make(row, "name"));
        netprof_list_state(build, status_named(text_make(row, "status")), (int)int_of(row, "errno"),
                           text_make(row, "path"));
        err = list_devices(in, build, devices, text_make(row, "name"), taken, s, &device_count, &counter_count);
    }
    if (!err) err = list_devices(in, build, devices, NULL, taken, s, &device_count, &counter_count);
    free(taken);
    return err;
}

static size_t source_index(const netprof_schema *schema, const char *name)
{
    size_t i = 0;
    while (i < schema->source_count && strcmp(schema->sources[i].name, name) != 0)
        i++;
    return i;
}

static netprof_err read_schema(dataset_input *in, json_object *text, json_schema *s)
{
    netprof_list *build = netprof_build_begin(in->error);
    if (!build) return no_memory(in);
    netprof_err err = list_sources(in, build, text, s), ended = netprof_build_end(build, &s->schema, in->error);
    if (err || ended) return err ? err : ended;
    for (size_t d = 0; d < s->schema->device_count; d++) {
        const netprof_device *device = &s->schema->devices[d];
        size_t *place = lookup_put(&s->devices, source_index(s->schema, device->source), device->name);
        if (!place) return no_memory(in);
        if (*place == LOOKUP_NONE) *place = d;
    }
    return NETPROF_OK;
}

// ---- netprof's JSON: snapshots and deltas ----

typedef struct json_schemas {
    json_schema *rows;
    size_t count;
} json_schemas;

static const json_schema *schema_of(dataset_input *in, json_object *item, const json_schemas *schemas, const char *what,
                                    size_t index)
{
    int64_t number = member(item, "schema", json_type_int) ? int_of(item, "schema") : -1;
    if (number >= 0 && (uint64_t)number < schemas->count) return &schemas->rows[number];
    in->run.complete = false;
    if (number < 0)
        dataset_warn(in, 0, 0, "%s %zu: expected an object with a \"schema\"", what, index + 1);
    else
        dataset_warn(in, 0, 0, "%s %zu: there is no schema %lld", what, index + 1, (long long)number);
    return NULL;
}

static size_t device_of(dataset_input *in, json_object *item, const json_schema *s)
{
    const char *name = text_make(item, "device"), *source = text_make(item, "source");
    size_t device = lookup_find(&s->devices, source_index(s->schema, source), name);
    if (device == LOOKUP_NONE) {
        in->run.complete = false;
        dataset_warn(in, 0, 0, "device %.60s of source %.20s is not in the schema", name, source);
    }
    return device;
}

static void warn_of_counter(dataset_input *in, const json_schema *s, size_t device, const char *name, const char *what)
{
    in->run.complete = false;
    dataset_warn(in, 0, 0, "%.60s, counter %.60s: %s", s->schema->devices[device].name, name, what);
}

// Values, and with them the stamps, which come in the same order.
static void read_values(dataset_input *in, const json_schema *s, size_t device, json_object *item,
                        netprof_snapshot *snapshot)
{
    json_object *values = member(item, "values", json_type_object);
    json_object *stamps = member(item, "stamps_ns", json_type_array);
    size_t position = 0;
    if (!values) return;
    struct json_object_iter at;
    json_object_object_foreachC(values, at)
    {
        const char *name = at.key;
        json_object *value = at.val;
        size_t k = lookup_find(&s->counters, device, name);
        json_object *stamp = position < length_of(stamps) ? json_object_array_get_idx(stamps, position) : NULL;
        uint64_t stamp_ns;
        position++;
        if (k == LOOKUP_NONE) {
            warn_of_counter(in, s, device, name, "not in the schema");
            continue;
        }
        if (stamp && to_u64(stamp, &stamp_ns)) snapshot->stamps_ns[k] = (int64_t)stamp_ns;
        if (!value) continue; // null: not_ok says why
        if (to_u64(value, &snapshot->values[k])) {
            snapshot->status[k] = NETPROF_STATUS_OK;
            continue;
        }
        snapshot->status[k] = NETPROF_STATUS_UNREADABLE;
        snapshot->errnos[k] = EBADMSG;
        warn_of_counter(in, s, device, name, "expected a whole number");
    }
}

// {"counter": ["denied", 13]}
static void read_not_ok(dataset_input *in, const json_schema *s, size_t device, json_object *item,
                        netprof_snapshot *snapshot)
{
    json_object *list = member(item, "not_ok", json_type_object);
    if (!list) return;
    struct json_object_iter at;
    json_object_object_foreachC(list, at)
    {
        const char *name = at.key;
        json_object *why = at.val;
        size_t k = lookup_find(&s->counters, device, name);
        if (k == LOOKUP_NONE || !json_object_is_type(why, json_type_array) || !length_of(why)) {
            warn_of_counter(in, s, device, name, "expected a counter and [status, errno]");
            continue;
        }
        const char *status = json_object_get_string(json_object_array_get_idx(why, 0));
        json_object *number = length_of(why) > 1 ? json_object_array_get_idx(why, 1) : NULL;
        snapshot->status[k] = (uint8_t)status_named(status ? status : "");
        int reason = json_object_is_type(number, json_type_int) ? json_object_get_int(number) : 0;
        snapshot->errnos[k] = (uint8_t)(reason > 0 && reason <= UINT8_MAX ? reason : 0); // another one is none
        if (snapshot->status[k] != NETPROF_STATUS_OK && snapshot->status[k] != NETPROF_STATUS_SATURATED)
            snapshot->values[k] = 0;
    }
}

static void fill_snapshot(dataset_input *in, const json_schema *s, json_object *item, netprof_snapshot *snapshot)
{
    json_object *devices = member(item, "devices", json_type_array);
    snapshot->begin_ns = int_of(item, "begin_ns");
    snapshot->end_ns = int_of(item, "end_ns");
    snapshot->wall_ns = int_of(item, "wall_ns");
    snapshot->stamp_error_ns = int_of(item, "stamp_error_ns");
    snapshot->set = strcmp(text_make(item, "set"), "fast") == 0 ? NETPROF_SET_FAST : NETPROF_SET_ALL;
    for (size_t i = 0; i < length_of(devices); i++) {
        json_object *d = json_object_array_get_idx(devices, i);
        size_t device = device_of(in, d, s);
        if (device == LOOKUP_NONE) continue;
        snapshot->device_begin_ns[device] = int_of(d, "begin_ns");
        snapshot->device_end_ns[device] = int_of(d, "end_ns");
        read_values(in, s, device, d, snapshot);
        read_not_ok(in, s, device, d, snapshot);
    }
    for (size_t k = 0; k < s->schema->counter_count; k++) {
        if (snapshot->status[k] == NETPROF_STATUS_OK || snapshot->status[k] == NETPROF_STATUS_SATURATED) continue;
        snapshot->values[k] = 0; // a device may be there twice
        snapshot->not_ok += snapshot->status[k] != NETPROF_STATUS_SKIPPED;
    }
}

static netprof_err read_snapshots(dataset_input *in, json_object *root, const json_schemas *schemas)
{
    json_object *list = member(root, "snapshots", json_type_array);
    netprof_err err = NETPROF_OK;
    netprof_snapshot snapshot = NETPROF_ZERO;
    for (size_t i = 0; i < length_of(list) && !err; i++) {
        json_object *item = json_object_array_get_idx(list, i);
        const json_schema *s = schema_of(in, item, schemas, "snapshot", i);
        if (!s) continue;
        err = netprof_snapshot_make(&snapshot, s->schema, in->error);
        if (err) break;
        fill_snapshot(in, s, item, &snapshot);
        err = dataset_add_snapshot(in, &snapshot);
    }
    netprof_snapshot_free(&snapshot);
    return err;
}

// {"before": 1, "after": 3, "value": 2, "flag": "ok", "elapsed_ns": 5}, and "before_status" and
// "after_status", which say why there may be no value.
static void read_change(json_object *change, netprof_delta *delta, size_t k)
{
    static const char *const status_keys[] = {"before_status", "after_status"};
    uint64_t *const value[] = {&delta->before[k], &delta->after[k]};
    uint8_t *const status[] = {&delta->before_status[k], &delta->after_status[k]};
    const char *const keys[] = {"before", "after"};
    json_object *number;
    for (int i = 0; i < 2; i++) {
        bool readable = json_object_object_get_ex(change, keys[i], &number) && to_u64(number, value[i]);
        const char *name = text_make(change, status_keys[i]);
        *status[i] = (uint8_t)(*name ? status_named(name) : readable ? NETPROF_STATUS_OK : NETPROF_STATUS_SKIPPED);
    }
    if (json_object_object_get_ex(change, "value", &number) && !to_u64(number, &delta->values[k])) delta->values[k] = 0;
    delta->flags[k] = (uint8_t)flag_named(text_make(change, "flag"));
    delta->elapsed_ns[k] = int_of(change, "elapsed_ns");
}

static void fill_delta(dataset_input *in, const json_schema *s, json_object *item, netprof_delta *delta)
{
    json_object *devices = member(item, "devices", json_type_array);
    delta->wall_begin_ns = int_of(item, "wall_begin_ns");
    delta->wall_end_ns = int_of(item, "wall_end_ns");
    delta->interval_ns = int_of(item, "interval_ns");
    delta->sweep_ns = int_of(item, "sweep_ns");
    delta->stamp_error_ns = int_of(item, "stamp_error_ns");
    memset(delta->flags, NETPROF_FLAG_UNKNOWN, s->schema->counter_count);
    for (size_t i = 0; i < length_of(devices); i++) {
        json_object *d = json_object_array_get_idx(devices, i);
        json_object *changes = member(d, "counters", json_type_object);
        size_t device = device_of(in, d, s);
        if (device == LOOKUP_NONE || !changes) continue;
        struct json_object_iter at;
        json_object_object_foreachC(changes, at)
        {
            const char *name = at.key;
            json_object *change = at.val;
            size_t k = lookup_find(&s->counters, device, name);
            if (k == LOOKUP_NONE || !json_object_is_type(change, json_type_object))
                warn_of_counter(in, s, device, name, "expected a counter of the schema and its change");
            else
                read_change(change, delta, k);
        }
    }
}

static netprof_err read_deltas(dataset_input *in, json_object *root, const json_schemas *schemas)
{
    json_object *list = member(root, "deltas", json_type_array);
    netprof_err err = NETPROF_OK;
    for (size_t i = 0; i < length_of(list) && !err; i++) {
        json_object *item = json_object_array_get_idx(list, i);
        const json_schema *s = schema_of(in, item, schemas, "delta", i);
        netprof_delta delta;
        if (!s) continue;
        err = dataset_make_delta(in, &delta, s->schema);
        if (err) break;
        fill_delta(in, s, item, &delta);
        err = dataset_add_delta(in, &delta);
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

static int compare_readings(const void *a, const void *b)
{
    const reading *x = a, *y = b;
    if (x->interface != y->interface) return x->interface < y->interface ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

// Seconds with a fraction, exact to the digits that are there: as a double, nanoseconds would be lost.
static int64_t stamp_of(json_object *entry)
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

static const char *counter_name(json_object *entry)
{
    static const char *const keys[] = {"counter_name", "metric_name", "name"};
    const char *name = "";
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !*name; i++)
        name = text_make(entry, keys[i]);
    return name;
}

static const char *fault_of(json_object *entry, reading *r)
{
    json_object *value = NULL;
    int64_t interface = int_of(entry, "interface");
    r->name = counter_name(entry);
    if (!*r->name) return "no counter_name";
    if (interface < 1 || interface > MAX_INTERFACE) return "expected an interface, 1 for the first";
    if (!json_object_object_get_ex(entry, "value", &value) || !to_u64(value, &r->value))
        return "expected a whole value";
    r->interface = (size_t)interface;
    r->stamp_ns = stamp_of(entry);
    return NULL;
}

// Of two entries for the same counter the first counts, as in net_prof.
static netprof_err collect_readings(dataset_input *in, json_object *list, reading *readings, size_t *count)
{
    lookup seen = {0};
    netprof_err err = NETPROF_OK;
    for (size_t i = 0; i < length_of(list) && !err; i++) {
        reading *r = &readings[*count];
        const char *fault = fault_of(json_object_array_get_idx(list, i), r);
        size_t *place = fault ? NULL : lookup_put(&seen, r->interface, r->name);
        if (place && *place != LOOKUP_NONE) fault = "there before";
        if (!fault && !place) err = no_memory(in);
        if (fault) {
            in->run.complete = false;
            dataset_warn(in, 0, 0, "counter %zu of the list: %s", i + 1, fault);
        } else if (place) {
            r->order = *place = (*count)++;
        }
    }
    lookup_free(&seen);
    return err;
}

static netprof_err snapshot_of_readings(dataset_input *in, const reading *readings, size_t count)
{
    netprof_snapshot snapshot = NETPROF_ZERO;
    const netprof_schema *schema;
    netprof_list *build = netprof_build_begin(in->error);
    if (!build) return no_memory(in);
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

static netprof_err read_net_prof(dataset_input *in, json_object *list)
{
    size_t count = 0;
    reading *readings = malloc((length_of(list) + 1) * sizeof *readings);
    netprof_err err = readings ? collect_readings(in, list, readings, &count) : no_memory(in);
    if (!err && count) {
        qsort(readings, count, sizeof *readings, compare_readings);
        err = snapshot_of_readings(in, readings, count);
    }
    free(readings);
    return err;
}

// ---- either ----

static netprof_err read_facts(dataset_input *in, json_object *facts)
{
    netprof_err err = NETPROF_OK;
    if (!facts) return err;
    struct json_object_iter at;
    json_object_object_foreachC(facts, at)
    {
        const char *key = at.key;
        json_object *value = at.val;
        if (value && !err) err = dataset_add_fact(in, key, json_object_get_string(value));
    }
    return err;
}

static netprof_err read_own(dataset_input *in, json_object *root)
{
    json_object *list = member(root, "schemas", json_type_array);
    int64_t version = int_of(root, "version");
    if (version > JSON_VERSION)
        return dataset_fail(in, NETPROF_ERR_VERSION, 0, "version %lld; this program reads up to %d", (long long)version,
                            JSON_VERSION);
    json_schemas schemas = {calloc(length_of(list) + 1, sizeof *schemas.rows), 0};
    if (!schemas.rows) return no_memory(in);
    netprof_err err = read_facts(in, member(root, "facts", json_type_object));
    while (!err && schemas.count < length_of(list)) {
        json_object *text = json_object_array_get_idx(list, schemas.count);
        err = read_schema(in, text, &schemas.rows[schemas.count++]);
    }
    if (!err) err = read_snapshots(in, root, &schemas);
    if (!err) err = read_deltas(in, root, &schemas);
    for (size_t i = 0; i < schemas.count; i++)
        json_schema_free(&schemas.rows[i]);
    free(schemas.rows);
    return err;
}

static netprof_err read_root(dataset_input *in, json_object *root)
{
    const char *format = text_make(root, "format");
    bool list = json_object_is_type(root, json_type_array);
    json_object *counters = list ? root : member(root, "counters", json_type_array);
    if (strcmp(format, "netprof") == 0) {
        in->run.format = DATASET_JSON;
        return read_own(in, root);
    }
    if (*format)
        return dataset_fail(in, NETPROF_ERR_FORMAT, 0, "JSON of format %.40s; expected netprof's snapshots", format);
    if (!counters)
        return dataset_fail(in, NETPROF_ERR_FORMAT, 0,
                            "expected \"format\": \"netprof\" (netprof), or a list \"counters\" (net_prof)");
    in->run.format = DATASET_NET_PROF_JSON;
    netprof_err err = read_facts(in, member(root, "meta", json_type_object));
    return err ? err : read_net_prof(in, counters);
}

netprof_err dataset_read_json(dataset_input *in)
{
    json_object *root;
    in->run.complete = true;
    netprof_err err = parse_input(in, &root);
    if (err) return err;
    warn_of_large_numbers(in);
    err = read_root(in, root);
    json_object_put(root);
    return err;
}
