// The view as JSON and back. One table of fields serves both ways.
#define _GNU_SOURCE // strdup
#include "nccl_view_private.h"

#include "analysis/base/json_values.h"
#include "nccl_export.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// SEVERITY: a COUNT below SEVERITIES; pages look up its word and its colour.
typedef enum field_kind { TEXT = 0, COUNT, SEVERITY, NUMBER, FLAG, SPREAD, LIST } field_kind;

typedef struct shape shape;

typedef struct field {
    const char *key;
    field_kind kind;
    size_t offset;
    const shape *rows; // of a LIST
} field;

struct shape {
    size_t size;
    bool tuple; // an array of numbers in this order, without keys
    const field *fields;
    size_t count;
};

// The layout of every NCCL_LIST.
typedef struct any_list {
    void *items;
    size_t count;
} any_list;

#define FIELD(type, kind, name)                                                                                        \
    {                                                                                                                  \
#name, kind, offsetof(type, name), NULL                                                                        \
    }
#define ROWS(type, name, shape)                                                                                        \
    {                                                                                                                  \
#name, LIST, offsetof(type, name), &shape                                                                      \
    }
#define SHAPE(name, type, tuple, ...)                                                                                  \
    static const field name##_fields[] = {__VA_ARGS__};                                                                \
    static const shape name = {sizeof(type), tuple, name##_fields, sizeof name##_fields / sizeof(field)};

#define F(kind, name) FIELD(nccl_view_line, kind, name)
SHAPE(line_shape, nccl_view_line, false, F(SEVERITY, severity), F(TEXT, text))
#undef F
#define F(kind, name) FIELD(nccl_view_evidence, kind, name)
SHAPE(evidence_shape, nccl_view_evidence, false, F(TEXT, name), F(TEXT, unit), F(NUMBER, value))
#undef F
#define F(kind, name) FIELD(nccl_view_finding, kind, name)
SHAPE(finding_shape, nccl_view_finding, false, F(SEVERITY, severity), F(TEXT, rule), F(TEXT, device), F(TEXT, claim),
      F(TEXT, unit), F(TEXT, origin), F(TEXT, advice), F(TEXT, explained_by), F(NUMBER, value), F(NUMBER, limit),
      ROWS(nccl_view_finding, evidence, evidence_shape))
#undef F
#define F(kind, name) FIELD(nccl_view_row, kind, name)
SHAPE(row_shape, nccl_view_row, false, F(TEXT, label), F(TEXT, coll), F(COUNT, communicators), F(COUNT, ranks),
      F(COUNT, size_low), F(COUNT, size_high), F(COUNT, sizes), F(COUNT, calls), F(COUNT, incomplete), F(NUMBER, bytes),
      F(NUMBER, time_us), F(SPREAD, wire_us), F(SPREAD, skew_us), F(SPREAD, bus_gbs), F(SPREAD, mean_bus_gbs),
      F(NUMBER, peak_gbs), F(SEVERITY, severity))
#undef F
#define F(kind, name) FIELD(nccl_view_size, kind, name)
SHAPE(size_shape, nccl_view_size, false, F(COUNT, size), F(COUNT, calls), F(SPREAD, bus_gbs), F(NUMBER, mean_gbs))
#undef F
#define F(kind, name) FIELD(nccl_view_reason, kind, name)
SHAPE(reason_shape, nccl_view_reason, false, F(TEXT, what), F(COUNT, count))
#undef F
#define F(kind, name) FIELD(nccl_view_process, kind, name)
SHAPE(process_shape, nccl_view_process, false, F(TEXT, host), F(COUNT, pid), F(COUNT, local), F(COUNT, rank),
      F(COUNT, judged), F(COUNT, last_alone), F(NUMBER, behind_us), F(COUNT, records), F(COUNT, last_arrivals),
      F(COUNT, cost_us), F(COUNT, caused_us), F(COUNT, suffered_us), F(COUNT, missing), F(COUNT, missing_tail))
#undef F
#define F(kind, name) FIELD(nccl_view_bin, kind, name)
SHAPE(bin_shape, nccl_view_bin, true, F(COUNT, first_sn), F(COUNT, last_sn), F(COUNT, instances), F(COUNT, complete),
      F(NUMBER, wire_p5), F(NUMBER, wire_p50), F(NUMBER, wire_p95), F(NUMBER, skew_p5), F(NUMBER, skew_p50),
      F(NUMBER, skew_p95))
#undef F
#define F(kind, name) FIELD(nccl_view_point, kind, name)
SHAPE(point_shape, nccl_view_point, true, F(NUMBER, x), F(NUMBER, y), F(COUNT, calls))
#undef F
#define F(kind, name) FIELD(nccl_view_count, kind, name)
SHAPE(count_shape, nccl_view_count, true, F(NUMBER, count))
#undef F
#define F(kind, name) FIELD(nccl_view_kind, kind, name)
SHAPE(kind_shape, nccl_view_kind, false, F(TEXT, type), F(TEXT, meaning), F(TEXT, coll), F(COUNT, size),
      F(COUNT, calls), F(COUNT, incomplete), F(COUNT, time_us), F(FLAG, has_bus), F(SPREAD, wire_us),
      F(SPREAD, skew_us), F(SPREAD, time_spread_us), F(SPREAD, bus_gbs), F(SPREAD, mean_bus_gbs), F(NUMBER, peak_gbs),
      F(NUMBER, x_max), F(NUMBER, y_max), ROWS(nccl_view_kind, points, point_shape), F(NUMBER, low), F(NUMBER, high),
      ROWS(nccl_view_kind, bins, count_shape))
#undef F
#define F(kind, name) FIELD(nccl_view_series, kind, name)
SHAPE(series_shape, nccl_view_series, false, F(TEXT, label), F(TEXT, type), F(TEXT, coll), F(COUNT, ranks),
      F(COUNT, size), F(COUNT, calls), F(COUNT, incomplete), F(COUNT, time_us), F(SPREAD, wire_us), F(SPREAD, skew_us),
      F(SPREAD, bus_gbs))
#undef F
#define F(kind, name) FIELD(nccl_view_path, kind, name)
SHAPE(path_shape, nccl_view_path, false, F(TEXT, type), F(TEXT, coll), F(TEXT, algo), F(TEXT, proto), F(COUNT, size),
      F(COUNT, calls), F(SPREAD, wire_us), F(SPREAD, bus_gbs))
#undef F
#define F(kind, name) FIELD(nccl_view_file, kind, name)
SHAPE(file_shape, nccl_view_file, false, F(TEXT, name), F(TEXT, problem), F(COUNT, lines), F(COUNT, bad),
      F(COUNT, first_bad_line), F(COUNT, duplicates), F(COUNT, conflicts), F(TEXT, reasons))
#undef F
#define F(kind, name) FIELD(nccl_view_gone, kind, name)
SHAPE(gone_shape, nccl_view_gone, false, F(TEXT, host), F(COUNT, pid), F(COUNT, tail), F(COUNT, between))
#undef F
#define F(kind, name) FIELD(nccl_view_compared, kind, name)
SHAPE(compared_shape, nccl_view_compared, false, F(TEXT, type), F(TEXT, coll), F(TEXT, verdict), F(COUNT, size),
      F(NUMBER, before_us), F(NUMBER, after_us), F(NUMBER, wire_ratio), F(NUMBER, skew_ratio), F(NUMBER, bus_ratio),
      F(NUMBER, z))
#undef F
#define F(kind, name) FIELD(nccl_view_pair, kind, name)
SHAPE(pair_shape, nccl_view_pair, false, F(TEXT, label), F(TEXT, operation), F(TEXT, host), F(COUNT, rank),
      F(COUNT, size), F(COUNT, records), F(NUMBER, peer), F(SPREAD, time_us), F(SPREAD, bus_gbs))
#undef F
#define F(kind, name) FIELD(nccl_view_metric, kind, name)
SHAPE(metric_shape, nccl_view_metric, false, F(TEXT, name), F(TEXT, labels), F(NUMBER, value))
#undef F
#define F(kind, name) FIELD(nccl_view_column, kind, name)
SHAPE(column_shape, nccl_view_column, true, F(NUMBER, wire_us), F(NUMBER, skew_us), F(COUNT, calls),
      F(NUMBER, received), F(NUMBER, received_high), F(NUMBER, sent), F(NUMBER, sent_high), F(NUMBER, trouble),
      F(NUMBER, waiting))
#undef F
#define F(kind, name) FIELD(nccl_view_nic, kind, name)
SHAPE(nic_shape, nccl_view_nic, false, F(TEXT, host), F(TEXT, trouble), F(TEXT, trouble_unit), F(TEXT, waiting),
      F(TEXT, waiting_unit), F(NUMBER, seconds), F(NUMBER, received), F(NUMBER, sent), F(NUMBER, peak_received),
      F(NUMBER, peak_sent), F(NUMBER, trouble_amount), F(NUMBER, waiting_amount))
#undef F
#define F(kind, name) FIELD(nccl_view, kind, name)
#define L(name, of)   ROWS(nccl_view, name, of)
SHAPE(view_shape, nccl_view, false, F(COUNT, files), F(COUNT, files_damaged), F(COUNT, lines), F(COUNT, bytes),
      F(COUNT, unpacked_bytes), F(COUNT, unusable), F(COUNT, records), F(COUNT, hosts), F(COUNT, processes),
      F(COUNT, communicators), F(COUNT, ranks), F(COUNT, calls), F(COUNT, first_dump_us), F(COUNT, last_dump_us),
      F(COUNT, time_us), F(TEXT, first_host), F(TEXT, last_host), F(TEXT, versions), F(SEVERITY, severity),
      F(TEXT, verdict), L(sentences, line_shape), L(findings, finding_shape), F(COUNT, findings_left),
      L(unknown, line_shape), L(rows, row_shape), F(TEXT, main_label), F(TEXT, main_coll), F(NUMBER, main_peak_gbs),
      L(sizes, size_shape), F(FLAG, completeness_known), F(COUNT, ranks_seen), F(COUNT, ranks_expected),
      F(COUNT, records_expected), F(COUNT, records_seen), F(COUNT, calls_judgeable), F(COUNT, calls_complete),
      L(reasons, reason_shape), F(NUMBER, late_floor_us), F(FLAG, late_all), F(COUNT, late_hosts),
      F(COUNT, late_hosts_left), F(COUNT, late_rows), L(late, process_shape), F(TEXT, run_label), F(COUNT, run_ranks),
      F(COUNT, run_size), F(COUNT, run_calls), F(COUNT, run_change_sn), F(COUNT, run_others), F(FLAG, run_changed),
      L(run, bin_shape), L(kinds, kind_shape), F(COUNT, kinds_left), L(series, series_shape), F(COUNT, series_left),
      L(paths, path_shape), L(slowest, process_shape), F(COUNT, slowest_left), L(damaged, file_shape),
      F(COUNT, damaged_left), L(gone, gone_shape), F(COUNT, gone_left), F(FLAG, compared_known), F(COUNT, slower),
      F(COUNT, faster), F(COUNT, alike), L(compared, compared_shape), L(pairs, pair_shape), F(COUNT, pairs_left),
      L(metrics, metric_shape), F(COUNT, metrics_left), F(FLAG, counters_known), F(NUMBER, columns_from_s),
      F(NUMBER, columns_to_s), L(columns, column_shape), L(nics, nic_shape))
#undef F
#undef L

#define F(name) offsetof(nccl_spread, name)
static const size_t spread_numbers[] = {F(min), F(p5), F(p25), F(p50), F(p75), F(p95), F(p99), F(max), F(mean), F(sd)};
#undef F
enum { SPREAD_NUMBERS = sizeof spread_numbers / sizeof *spread_numbers };

// ---- memory ----

void *nccl_view_take(nccl_view *v, size_t count, size_t size)
{
    size_t bytes = count <= SIZE_MAX / (size + 1) ? (count + 1) * size : 0;
    void *taken = bytes ? nccl_arena_take(&v->memory->arena, bytes) : NULL;
    if (taken)
        memset(taken, 0, bytes);
    else
        v->memory->failed = true;
    return taken;
}

const char *nccl_view_text(nccl_view *v, const char *text)
{
    const char *copy = text && *text ? nccl_arena_text(&v->memory->arena, text, strlen(text)) : "";
    if (!copy) v->memory->failed = true;
    return copy ? copy : "";
}

const char *nccl_view_format(nccl_view *v, const char *format, ...)
{
    va_list arguments;
    char *text = NULL;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    const char *copy = "";
    if (length < 0)
        v->memory->failed = true;
    else
        copy = nccl_view_text(v, text);
    if (length >= 0) free(text);
    return copy;
}

static void unknown_spread(nccl_spread *s)
{
    s->count = 0;
    for (size_t i = 0; i < SPREAD_NUMBERS; i++)
        *(double *)(void *)((char *)s + spread_numbers[i]) = NAN;
}

// Nothing known of a row.
static void blank_row(const shape *s, void *row)
{
    for (size_t i = 0; i < s->count; i++) {
        void *at = (char *)row + s->fields[i].offset;
        switch (s->fields[i].kind) {
        case TEXT: *(const char **)at = ""; break;
        case COUNT:
        case SEVERITY: *(uint64_t *)at = 0; break;
        case NUMBER: *(double *)at = NAN; break;
        case FLAG: *(bool *)at = false; break;
        case SPREAD: unknown_spread(at); break;
        case LIST: *(any_list *)at = (any_list){NULL, 0}; break;
        }
    }
}

bool nccl_view_begin(nccl_view *v)
{
    *v = (nccl_view){0};
    blank_row(&view_shape, v);
    v->memory = calloc(1, sizeof *v->memory);
    return v->memory != NULL;
}

void nccl_view_free(nccl_view *v)
{
    if (v->memory) nccl_arena_free(&v->memory->arena);
    free(v->memory);
    *v = (nccl_view){0};
}

// ---- writing ----

// The shortest text that reads back as the same number; null when there is none.
static json_object *exact(double value)
{
    char text[40];
    if (!isfinite(value)) return NULL;
    for (int digits = 6; digits <= 17; digits += digits == 6 ? 9 : 1) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    return json_object_new_double_s(value, text);
}

static json_object *spread_value(const nccl_spread *s)
{
    json_object *list;
    if (!s->count) return NULL;
    list = json_object_new_array();
    json_object_array_add(list, json_object_new_uint64(s->count));
    for (size_t i = 0; i < SPREAD_NUMBERS; i++)
        json_object_array_add(list, exact(*(const double *)(const void *)((const char *)s + spread_numbers[i])));
    return list;
}

static json_object *row_value(const shape *s, const void *row);

static json_object *list_value(const shape *s, const any_list *list)
{
    json_object *array = json_object_new_array();
    for (size_t i = 0; i < list->count; i++)
        json_object_array_add(array, row_value(s, (const char *)list->items + i * s->size));
    return array;
}

static json_object *field_value(const field *f, const void *row)
{
    const void *at = (const char *)row + f->offset;
    switch (f->kind) {
    case TEXT: return json_text_value(*(const char *const *)at);
    case COUNT:
    case SEVERITY: return json_object_new_uint64(*(const uint64_t *)at);
    case NUMBER: return exact(*(const double *)at);
    case FLAG: return json_object_new_boolean(*(const bool *)at);
    case SPREAD: return spread_value(at);
    case LIST: return list_value(f->rows, at);
    }
    return NULL;
}

static json_object *row_value(const shape *s, const void *row)
{
    json_object *o = s->tuple ? json_object_new_array() : json_object_new_object();
    for (size_t i = 0; i < s->count; i++) {
        json_object *value = field_value(&s->fields[i], row);
        if (s->tuple)
            json_object_array_add(o, value);
        else
            json_object_object_add(o, s->fields[i].key, value);
    }
    return o;
}

json_object *nccl_view_json(const nccl_view *v)
{
    return row_value(&view_shape, v);
}

// ---- reading ----

typedef struct reader {
    nccl_view *v;
    netprof_error *error;
    struct {
        const char *list;
        size_t row;
    } within[4]; // the rows that are being read, the outermost first
    size_t depth;
} reader;

static netprof_err refuse(reader *r, netprof_err code, const char *format, ...) __attribute__((format(printf, 3, 4)));
static netprof_err refuse(reader *r, netprof_err code, const char *format, ...)
{
    va_list arguments;
    if (!r->error) return code;
    *r->error = (netprof_error){.code = code};
    va_start(arguments, format);
    vsnprintf(r->error->text, sizeof r->error->text, format, arguments);
    va_end(arguments);
    return code;
}

static bool is_number(json_object *o)
{
    return json_object_is_type(o, json_type_double) || json_object_is_type(o, json_type_int);
}

// "findings[3].evidence[0].value: expected a number or null"; key: NULL for the row itself.
static netprof_err refuse_value(reader *r, const char *key, const char *expected)
{
    char place[160] = "";
    size_t used = 0;
    for (size_t i = 0; i < r->depth && used < sizeof place; i++)
        used += (size_t)snprintf(place + used, sizeof place - used, "%s%s[%zu]", i ? "." : "", r->within[i].list,
                                 r->within[i].row);
    return refuse(r, NETPROF_ERR_FORMAT, "%s%s%s: expected %s", place, key && r->depth ? "." : "", key ? key : "",
                  expected);
}

// Whole and not negative: counts and sizes go up to 2^64 - 1.
static bool read_count(json_object *o, uint64_t *to)
{
    if (!json_object_is_type(o, json_type_int)) return false;
    *to = json_object_get_uint64(o);
    return *to || json_object_get_int64(o) == 0; // a negative number becomes 0
}

static bool read_severity(json_object *o, uint64_t *to)
{
    return read_count(o, to) && *to < SEVERITIES;
}

static bool read_number(json_object *o, double *to)
{
    *to = o ? json_object_get_double(o) : NAN;
    return !o || (is_number(o) && isfinite(*to));
}

static bool read_spread(json_object *o, nccl_spread *to)
{
    uint64_t count = 0;
    bool good = true;
    unknown_spread(to);
    if (!o) return true;
    if (!json_object_is_type(o, json_type_array) || json_object_array_length(o) != 1 + SPREAD_NUMBERS) return false;
    good = read_count(json_object_array_get_idx(o, 0), &count);
    for (size_t i = 0; good && i < SPREAD_NUMBERS; i++)
        good = read_number(json_object_array_get_idx(o, i + 1), (double *)(void *)((char *)to + spread_numbers[i]));
    to->count = (size_t)count;
    return good;
}

static bool read_text(reader *r, json_object *o, const char **to)
{
    if (!json_object_is_type(o, json_type_string)) return false;
    *to = nccl_view_text(r->v, json_object_get_string(o)); // up to a NUL
    return true;
}

static netprof_err read_row(reader *r, const shape *s, json_object *o, void *row);

static netprof_err read_list(reader *r, const field *f, json_object *o, any_list *to)
{
    netprof_err result = NETPROF_OK;
    size_t count = json_object_is_type(o, json_type_array) ? json_object_array_length(o) : 0;
    if (!json_object_is_type(o, json_type_array)) return refuse_value(r, f->key, "a list");
    to->items = nccl_view_take(r->v, count, f->rows->size);
    if (!to->items) return refuse(r, NETPROF_ERR_NOMEM, "out of memory");
    r->within[r->depth++].list = f->key;
    for (size_t i = 0; i < count && !result; i++) {
        r->within[r->depth - 1].row = i;
        result = read_row(r, f->rows, json_object_array_get_idx(o, i), (char *)to->items + i * f->rows->size);
        to->count += !result;
    }
    r->depth--;
    return result;
}

static netprof_err read_field(reader *r, const field *f, json_object *o, void *row)
{
    static const char *const expected[] = {"a text",
                                           "a whole number",
                                           "a severity, 0 to 5",
                                           "a number or null",
                                           "true or false",
                                           "a list of 11 numbers or null",
                                           "a list"};
    _Static_assert(SEVERITIES == 6, "the text of SEVERITY names the last one");
    void *at = (char *)row + f->offset;
    bool good = true;
    switch (f->kind) {
    case TEXT: good = read_text(r, o, at); break;
    case COUNT: good = read_count(o, at); break;
    case SEVERITY: good = read_severity(o, at); break;
    case NUMBER: good = read_number(o, at); break;
    case FLAG:
        good = json_object_is_type(o, json_type_boolean);
        *(bool *)at = good && json_object_get_boolean(o);
        break;
    case SPREAD: good = read_spread(o, at); break;
    case LIST: return read_list(r, f, o, at);
    }
    return good ? NETPROF_OK : refuse_value(r, f->key, expected[f->kind]);
}

static netprof_err read_row(reader *r, const shape *s, json_object *o, void *row)
{
    netprof_err result = NETPROF_OK;
    blank_row(s, row);
    if (!json_object_is_type(o, s->tuple ? json_type_array : json_type_object))
        return refuse_value(r, r->depth ? NULL : "view", s->tuple ? "a list of numbers" : "an object");
    for (size_t i = 0; i < s->count && !result; i++) {
        json_object *value = NULL;
        // What another version did not write, or wrote besides, is not known here.
        bool there =
            s->tuple ? i < json_object_array_length(o) : json_object_object_get_ex(o, s->fields[i].key, &value);
        if (s->tuple && there) value = json_object_array_get_idx(o, i);
        if (there) result = read_field(r, &s->fields[i], value, row);
    }
    return result;
}

static netprof_err read_whole(reader *r, json_object *o)
{
    json_object *format = NULL, *version = NULL, *view = NULL;
    uint64_t number = 0;
    json_object_object_get_ex(o, "format", &format);
    if (!json_object_is_type(format, json_type_string) || strcmp(json_object_get_string(format), "netprof-nccl") != 0)
        return refuse(r, NETPROF_ERR_FORMAT, "no result of netprof nccl: \"format\" is not netprof-nccl");
    json_object_object_get_ex(o, "version", &version);
    if (!read_count(version, &number)) return refuse(r, NETPROF_ERR_FORMAT, "\"version\": expected a whole number");
    if (number > NCCL_JSON_VERSION)
        return refuse(r, NETPROF_ERR_VERSION, "version %llu, written by a later netprof", (unsigned long long)number);
    if (!json_object_object_get_ex(o, "view", &view))
        return refuse(r, NETPROF_ERR_FORMAT,
                      "holds no \"view\": it was written before there were reports; netprof nccl -o "
                      "on the logs writes it anew");
    return read_row(r, &view_shape, view, r->v);
}

netprof_err nccl_view_parse(nccl_view *v, const char *text, size_t size, netprof_error *error)
{
    enum { DEPTH = 16 };
    reader r = {.v = v, .error = error};
    netprof_err result;
    if (!nccl_view_begin(v)) return refuse(&r, NETPROF_ERR_NOMEM, "out of memory");
    json_tokener *t = size < INT32_MAX ? json_tokener_new_ex(DEPTH) : NULL;
    json_object *o = t ? json_tokener_parse_ex(t, text, (int)size) : NULL;
    enum json_tokener_error why = t ? json_tokener_get_error(t) : json_tokener_error_size;
    if (!json_object_is_type(o, json_type_object))
        result = refuse(&r, NETPROF_ERR_FORMAT, "byte %zu: %s", t ? json_tokener_get_parse_end(t) : 0,
                        why == json_tokener_continue  ? "the file ends in the middle"
                        : why == json_tokener_success ? "expected an object"
                                                      : json_tokener_error_desc(why));
    else
        result = read_whole(&r, o);
    if (!result && v->memory->failed) result = refuse(&r, NETPROF_ERR_NOMEM, "out of memory");
    json_object_put(o);
    if (t) json_tokener_free(t);
    if (result) nccl_view_free(v);
    return result;
}

// All of a file; NULL with errno.
static char *read_file(const char *path, size_t *size)
{
    enum { STEP = 64 << 10 };
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t room = 0, got = 1;
    *size = 0;
    while (file && got && nccl_grow((void **)&text, &room, *size + STEP, 1)) {
        got = fread(text + *size, 1, room - *size, file);
        *size += got;
    }
    if (file && (got || ferror(file))) { // no memory, or not read to its end
        if (got) errno = ENOMEM;
        free(text);
        text = NULL;
    }
    if (file) fclose(file);
    return text;
}

netprof_err nccl_view_read(nccl_view *v, const char *path, netprof_error *error)
{
    size_t size;
    char *text;
    netprof_err result;
    *v = (nccl_view){0};
    errno = 0;
    text = read_file(path, &size);
    if (!text) {
        int why = errno;
        result = why == ENOMEM ? NETPROF_ERR_NOMEM : NETPROF_ERR_IO;
        if (error) *error = (netprof_error){.code = result, .sys_errno = why};
    } else {
        result = nccl_view_parse(v, text, size, error);
    }
    if (result && error) snprintf(error->path, sizeof error->path, "%s", path);
    free(text);
    return result;
}

bool nccl_view_recognise(const char *path)
{
    char text[200] = "";
    FILE *file = fopen(path, "re");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    const char *at = text + strspn(text, " \t\r\n");
    return size && *at == '{' && strstr(text, "\"netprof-nccl\"") != NULL;
}
