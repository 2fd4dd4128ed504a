#include "nccl_text.h"

#include "analysis/base/csv.h"
#include "analysis/base/json_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void nccl_out_begin(nccl_out *o, netprof_write_fn write, void *user)
{
    o->write = write;
    o->user = user;
    o->failed = o->inside = false;
    o->size = 0;
}

static void nccl_out_flush(nccl_out *o)
{
    if (o->size && !o->failed) o->failed = o->write(o->user, o->text, o->size) != 0;
    o->size = 0;
}

netprof_err nccl_out_end(nccl_out *o)
{
    nccl_out_flush(o);
    return o->failed ? NETPROF_ERR_IO : NETPROF_OK;
}

void nccl_out_bytes(nccl_out *o, const char *text, size_t length)
{
    while (length) {
        if (o->size == sizeof o->text) nccl_out_flush(o);
        size_t n = sizeof o->text - o->size < length ? sizeof o->text - o->size : length;
        memcpy(o->text + o->size, text, n);
        o->size += n;
        text += n;
        length -= n;
    }
}

static void nccl_out_put(void *to, const char *bytes, size_t length)
{
    nccl_out_bytes(to, bytes, length);
}

void nccl_out_text(nccl_out *o, const char *text)
{
    nccl_out_bytes(o, text, strlen(text));
}

void nccl_out_u64(nccl_out *o, uint64_t value)
{
    char text[24], *p = text + sizeof text;
    do
        *--p = (char)('0' + value % 10);
    while (value /= 10);
    nccl_out_bytes(o, p, (size_t)(text + sizeof text - p));
}

// At most 9 digits. Nothing when it is NAN.
static void nccl_out_number(nccl_out *o, double value)
{
    char text[40];
    if (!isfinite(value)) return;
    if (value == floor(value) && value >= 0 && value < 1e9) {
        nccl_out_u64(o, (uint64_t)value);
        return;
    }
    nccl_out_bytes(o, text, (size_t)snprintf(text, sizeof text, "%.9g", value));
}

void nccl_out_exact(nccl_out *o, double value)
{
    char text[40];
    int length = 0;
    if (!isfinite(value)) return;
    for (int digits = 15; digits <= 17; digits++) {
        length = snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    if (!strpbrk(text, ".e")) length += snprintf(text + length, sizeof text - (size_t)length, ".0");
    nccl_out_bytes(o, text, (size_t)length);
}

// ---- CSV ----

static void nccl_csv_next_cell(nccl_out *o)
{
    if (o->inside) nccl_out_bytes(o, ",", 1);
    o->inside = true;
}

void nccl_csv_name(nccl_out *o, const char *text)
{
    nccl_csv_next_cell(o);
    csv_text(nccl_out_put, o, text, true);
}

void nccl_csv_u64(nccl_out *o, uint64_t value)
{
    nccl_csv_next_cell(o);
    nccl_out_u64(o, value);
}

void nccl_csv_i64(nccl_out *o, int64_t value)
{
    nccl_csv_next_cell(o);
    if (value < 0) nccl_out_bytes(o, "-", 1);
    nccl_out_u64(o, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void nccl_csv_number(nccl_out *o, double value)
{
    nccl_csv_next_cell(o);
    nccl_out_number(o, value);
}

void nccl_csv_spread(nccl_out *o, const nccl_spread *s, bool short_form)
{
    const double all[] = {s->p5, s->p25, s->p50, s->p75, s->p95, s->p99, s->mean},
                 few[] = {s->p5, s->p50, s->p95, s->p99};
    const double *values = short_form ? few : all;
    for (size_t i = 0; i < (short_form ? sizeof few : sizeof all) / sizeof *all; i++)
        nccl_csv_number(o, values[i]);
}

void nccl_csv_line_end(nccl_out *o)
{
    nccl_out_bytes(o, "\n", 1);
    o->inside = false;
}

// ---- JSON ----

void nccl_json_quoted(nccl_out *o, const char *text)
{
    json_text_quoted(nccl_out_put, o, text);
}

void nccl_json_key(nccl_out *o, const char *key)
{
    if (o->inside) nccl_out_bytes(o, ",", 1);
    o->inside = true;
    nccl_out_bytes(o, "\"", 1);
    nccl_out_text(o, key);
    nccl_out_bytes(o, "\":", 2);
}

void nccl_json_begin(nccl_out *o)
{
    nccl_out_bytes(o, "{", 1);
    o->inside = false;
}

void nccl_json_end(nccl_out *o)
{
    nccl_out_bytes(o, "}\n", 2);
    o->inside = false;
}

void nccl_json_member_text(nccl_out *o, const char *key, const char *text)
{
    nccl_json_key(o, key);
    nccl_json_quoted(o, text);
}

void nccl_json_member_u64(nccl_out *o, const char *key, uint64_t value)
{
    nccl_json_key(o, key);
    nccl_out_u64(o, value);
}

void nccl_json_member_i64(nccl_out *o, const char *key, int64_t value)
{
    nccl_json_key(o, key);
    if (value < 0) nccl_out_bytes(o, "-", 1);
    nccl_out_u64(o, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void nccl_json_member_number(nccl_out *o, const char *key, double value)
{
    nccl_json_key(o, key);
    if (isfinite(value))
        nccl_out_number(o, value);
    else
        nccl_out_text(o, "null");
}
