// One table of fields (nccl_view_memory.c) serves writing and reading.
#include "nccl_view_json.h"

#include "analysis/base/readable.h"
#include "analysis/base/json_values.h"
#include "analysis/base/stb_ds.h"
#include "analysis/nccl/export/nccl_export.h"
#include "nccl_view_memory.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- writing ----

// The shortest text that reads back as the same number; null if it is not finite.
static json_object *view_json_exact(double value)
{
    char text[320]; // as gcc 10 counts, which does not see the digits' range
    if (!isfinite(value)) return NULL;
    for (int digits = 6; digits <= 17; digits += digits == 6 ? 9 : 1) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    return json_new_double_s(value, text);
}

static json_object *view_json_spread_value(const nccl_spread *s)
{
    json_object *list;
    if (!s->count) return NULL;
    list = json_new_array();
    json_append(list, json_new_uint64(s->count));
    for (size_t i = 0; i < NCCL_VIEW_SPREAD_NUMBERS; i++)
        json_append(list,
                    view_json_exact(*(const double *)(const void *)((const char *)s + nccl_view_spread_numbers[i])));
    return list;
}

static json_object *view_json_row_value(const nccl_view_shape *s, const void *row);

static json_object *view_json_list_value(const nccl_view_shape *s, const nccl_view_any_list *list)
{
    json_object *array = json_new_array();
    for (size_t i = 0; i < list->count; i++)
        json_append(array, view_json_row_value(s, (const char *)list->items + i * s->size));
    return array;
}

// The numbers of severities in files: those of version 0.1, and what came later behind them.
static const severity view_json_codes[SEVERITIES] = {SEVERITY_OK,   SEVERITY_INFO,     SEVERITY_WATCH,  SEVERITY_WARN,
                                                     SEVERITY_HIGH, SEVERITY_CRITICAL, SEVERITY_UNKNOWN};

static uint64_t view_json_code_of(severity s)
{
    uint64_t code = 0;
    while (code < SEVERITIES - 1 && view_json_codes[code] != s)
        code++;
    return code;
}

static json_object *view_json_field_value(const nccl_view_field *f, const void *row)
{
    const void *at = (const char *)row + f->offset;
    switch (f->kind) {
    case NCCL_VIEW_TEXT: return json_text_value(*(const char *const *)at);
    case NCCL_VIEW_COUNT: return json_new_uint64(*(const uint64_t *)at);
    case NCCL_VIEW_SEVERITY: return json_new_uint64(view_json_code_of((severity) * (const uint64_t *)at));
    case NCCL_VIEW_NUMBER: return view_json_exact(*(const double *)at);
    case NCCL_VIEW_FLAG: return json_new_boolean(*(const bool *)at);
    case NCCL_VIEW_SPREAD: return view_json_spread_value(at);
    case NCCL_VIEW_LIST: return view_json_list_value(f->rows, at);
    }
    return NULL;
}

static json_object *view_json_row_value(const nccl_view_shape *s, const void *row)
{
    json_object *o = s->tuple ? json_new_array() : json_new_object();
    for (size_t i = 0; i < s->count; i++) {
        json_object *value = view_json_field_value(&s->fields[i], row);
        if (s->tuple)
            json_append(o, value);
        else
            json_put(o, s->fields[i].key, value);
    }
    return o;
}

json_object *nccl_view_json(const nccl_view *v)
{
    return view_json_row_value(nccl_view_fields(), v);
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

static netprof_err view_json_refuse(reader *r, netprof_err code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static netprof_err view_json_refuse(reader *r, netprof_err code, const char *format, ...)
{
    va_list arguments;
    if (!r->error) return code;
    *r->error = (netprof_error){.code = code};
    va_start(arguments, format);
    vsnprintf(r->error->text, sizeof r->error->text, format, arguments);
    va_end(arguments);
    return code;
}

static bool view_json_is_number(json_object *o)
{
    return json_object_is_type(o, json_type_double) || json_object_is_type(o, json_type_int);
}

// "findings[3].evidence[0].value: expected a number or null"; key: NULL for the row itself.
static netprof_err view_json_refuse_value(reader *r, const char *key, const char *expected)
{
    char place[160] = "";
    size_t used = 0;
    for (size_t i = 0; i < r->depth && used < sizeof place; i++)
        used += (size_t)snprintf(place + used, sizeof place - used, "%s%s[%zu]", i ? "." : "", r->within[i].list,
                                 r->within[i].row);
    return view_json_refuse(r, NETPROF_ERR_FORMAT, "%s%s%s: expected %s", place, key && r->depth ? "." : "",
                            key ? key : "", expected);
}

// Whole and not negative: counts and sizes go up to 2^64 - 1.
static bool view_json_read_count(json_object *o, uint64_t *to)
{
    if (!json_object_is_type(o, json_type_int)) return false;
    *to = json_object_get_uint64(o);
    return *to || json_object_get_int64(o) == 0; // a negative number becomes 0
}

static bool view_json_read_severity(json_object *o, uint64_t *to)
{
    if (!view_json_read_count(o, to) || *to >= SEVERITIES) return false;
    *to = view_json_codes[*to];
    return true;
}

static bool view_json_read_number(json_object *o, double *to)
{
    *to = o ? json_object_get_double(o) : NAN;
    return !o || (view_json_is_number(o) && isfinite(*to));
}

static bool view_json_read_spread(json_object *o, nccl_spread *to)
{
    uint64_t count = 0;
    bool good = true;
    nccl_view_blank_spread(to);
    if (!o) return true;
    if (!json_object_is_type(o, json_type_array) || json_object_array_length(o) != 1 + NCCL_VIEW_SPREAD_NUMBERS)
        return false;
    good = view_json_read_count(json_object_array_get_idx(o, 0), &count);
    for (size_t i = 0; good && i < NCCL_VIEW_SPREAD_NUMBERS; i++)
        good = view_json_read_number(json_object_array_get_idx(o, i + 1),
                                     (double *)(void *)((char *)to + nccl_view_spread_numbers[i]));
    to->count = (size_t)count;
    return good;
}

static bool view_json_read_text(reader *r, json_object *o, const char **to)
{
    if (!json_object_is_type(o, json_type_string)) return false;
    *to = nccl_view_text(r->v, json_object_get_string(o)); // up to a NUL
    return true;
}

static netprof_err view_json_read_row(reader *r, const nccl_view_shape *s, json_object *o, void *row);

static netprof_err view_json_read_list(reader *r, const nccl_view_field *f, json_object *o, nccl_view_any_list *to)
{
    netprof_err result = NETPROF_OK;
    size_t count = json_object_is_type(o, json_type_array) ? json_object_array_length(o) : 0;
    if (!json_object_is_type(o, json_type_array)) return view_json_refuse_value(r, f->key, "a list");
    to->items = nccl_view_take(r->v, count, f->rows->size);
    r->within[r->depth++].list = f->key;
    for (size_t i = 0; i < count && !result; i++) {
        r->within[r->depth - 1].row = i;
        result = view_json_read_row(r, f->rows, json_object_array_get_idx(o, i), (char *)to->items + i * f->rows->size);
        to->count += !result;
    }
    r->depth--;
    return result;
}

static netprof_err view_json_read_field(reader *r, const nccl_view_field *f, json_object *o, void *row)
{
    static const char *const expected[] = {"a text",
                                           "a whole number",
                                           "a severity, 0 to 6",
                                           "a number or null",
                                           "true or false",
                                           "a list of 11 numbers or null",
                                           "a list"};
    _Static_assert(SEVERITIES == 7, "the text of SEVERITY names the last one");
    void *at = (char *)row + f->offset;
    bool good = true;
    switch (f->kind) {
    case NCCL_VIEW_TEXT: good = view_json_read_text(r, o, at); break;
    case NCCL_VIEW_COUNT: good = view_json_read_count(o, at); break;
    case NCCL_VIEW_SEVERITY: good = view_json_read_severity(o, at); break;
    case NCCL_VIEW_NUMBER: good = view_json_read_number(o, at); break;
    case NCCL_VIEW_FLAG:
        good = json_object_is_type(o, json_type_boolean);
        *(bool *)at = good && json_object_get_boolean(o);
        break;
    case NCCL_VIEW_SPREAD: good = view_json_read_spread(o, at); break;
    case NCCL_VIEW_LIST: return view_json_read_list(r, f, o, at);
    }
    return good ? NETPROF_OK : view_json_refuse_value(r, f->key, expected[f->kind]);
}

static netprof_err view_json_read_row(reader *r, const nccl_view_shape *s, json_object *o, void *row)
{
    netprof_err result = NETPROF_OK;
    nccl_view_blank(s, row);
    if (!json_object_is_type(o, s->tuple ? json_type_array : json_type_object))
        return view_json_refuse_value(r, r->depth ? NULL : "view", s->tuple ? "a list of numbers" : "an object");
    for (size_t i = 0; i < s->count && !result; i++) {
        json_object *value = NULL;
        // Members that another version did not write stay blank; members that it added are skipped.
        bool there =
            s->tuple ? i < json_object_array_length(o) : json_object_object_get_ex(o, s->fields[i].key, &value);
        if (s->tuple && there) value = json_object_array_get_idx(o, i);
        if (there) result = view_json_read_field(r, &s->fields[i], value, row);
    }
    return result;
}

// Pages follow rows and columns.
static netprof_err view_json_check_cells(reader *r)
{
    for (size_t i = 0; i < r->v->matrices.count; i++) {
        const nccl_view_matrix *m = &r->v->matrices.items[i];
        for (size_t k = 0; k < m->cells.count; k++)
            if (m->cells.items[k].row >= m->units.count || m->cells.items[k].column >= m->units.count)
                return view_json_refuse(r, NETPROF_ERR_FORMAT, "matrices[%zu].cells[%zu]: no such unit", i, k);
    }
    return NETPROF_OK;
}

static netprof_err view_json_read_whole(reader *r, json_object *o)
{
    json_object *format = NULL, *version = NULL, *view = NULL;
    uint64_t number = 0;
    json_object_object_get_ex(o, "format", &format);
    if (!json_object_is_type(format, json_type_string) || strcmp(json_object_get_string(format), "netprof-nccl") != 0)
        return view_json_refuse(r, NETPROF_ERR_FORMAT, "no result of netprof nccl: \"format\" is not netprof-nccl");
    json_object_object_get_ex(o, "version", &version);
    if (!view_json_read_count(version, &number))
        return view_json_refuse(r, NETPROF_ERR_FORMAT, "\"version\": expected a whole number");
    if (number > NCCL_JSON_VERSION)
        return view_json_refuse(r, NETPROF_ERR_VERSION, "version %llu, written by a later netprof",
                                (unsigned long long)number);
    if (!json_object_object_get_ex(o, "view", &view))
        return view_json_refuse(r, NETPROF_ERR_FORMAT,
                                "holds no \"view\": it was written before there were reports; netprof nccl -o "
                                "on the logs writes it anew");
    netprof_err result = view_json_read_row(r, nccl_view_fields(), view, r->v);
    return result ? result : view_json_check_cells(r);
}

netprof_err nccl_view_parse(nccl_view *v, const char *text, size_t size, netprof_error *error)
{
    enum { DEPTH = 16 };
    reader r = {.v = v, .error = error};
    netprof_err result;
    nccl_view_begin(v);
    json_tokener *t = size < INT32_MAX ? json_new_tokener(DEPTH) : NULL;
    json_object *o = t ? json_feed_tokener(t, text, (int)size) : NULL;
    enum json_tokener_error why = t ? json_tokener_get_error(t) : json_tokener_error_size;
    if (!json_object_is_type(o, json_type_object))
        result = view_json_refuse(&r, NETPROF_ERR_FORMAT, "byte %zu: %s", t ? json_tokener_get_parse_end(t) : 0,
                                  why == json_tokener_continue  ? "the file ends in the middle"
                                  : why == json_tokener_success ? "expected an object"
                                                                : json_tokener_error_desc(why));
    else
        result = view_json_read_whole(&r, o);
    json_object_put(o);
    if (t) json_tokener_free(t);
    if (result) nccl_view_free(v);
    return result;
}

// All of a file: an array of stb_ds. NULL with errno.
static char *view_json_read_file(const char *path)
{
    enum { STEP = 64 << 10 };
    FILE *file = readable_stream(path);
    char *text = NULL;
    size_t got = 0;
    while (file) {
        char *to = arraddnptr(text, STEP);
        got = fread(to, 1, STEP, file);
        arrsetlen(text, arrlenu(text) - STEP + got);
        if (!got) break;
    }
    if (file && ferror(file)) arrfree(text);
    if (file) fclose(file);
    return text;
}

netprof_err nccl_view_read(nccl_view *v, const char *path, netprof_error *error)
{
    netprof_err result;
    *v = (nccl_view){0};
    errno = 0;
    char *text = view_json_read_file(path);
    if (!text) {
        result = NETPROF_ERR_IO;
        if (error) *error = (netprof_error){.code = result, .sys_errno = errno};
    } else {
        result = nccl_view_parse(v, text, arrlenu(text), error);
    }
    if (result && error) snprintf(error->path, sizeof error->path, "%s", path);
    arrfree(text);
    return result;
}

bool nccl_view_recognise(const char *path)
{
    char text[200] = "";
    FILE *file = readable_stream(path);
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file) fclose(file);
    const char *at = text + strspn(text, " \t\r\n");
    return size && *at == '{' && strstr(text, "\"netprof-nccl\"") != NULL;
}
