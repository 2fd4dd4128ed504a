#include "sink_text.h"

#include "analysis/base/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void put_u64(FILE *to, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    fwrite(digits + at, 1, sizeof digits - at, to);
}

void put_i64(FILE *to, int64_t value)
{
    if (value < 0) putc('-', to);
    put_u64(to, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void put_f64(FILE *to, double value)
{
    char text[40];
    if (value > -1e15 && value < 1e15 && !(floor(value) < value)) { // whole numbers are many
        put_i64(to, (int64_t)value);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        double read = strtod(text, NULL);
        if (!(read < value) && !(read > value)) break;
    }
    fputs(text, to);
}

// Spreadsheets take a cell that begins with one of these for a formula, and would run what a hostile name holds. A
// plain number is none.
static bool sink_text_is_formula(const char *text)
{
    char *end;
    if (!*text || !strchr("=+-@\t\r", *text)) return false;
    if (*text != '-' && *text != '+') return true;
    strtod(text, &end);
    return end == text || *end;
}

// How many bytes stand for themselves in every format: ASCII but for controls, quotes and backslashes.
size_t plain_length(const char *text)
{
    const char *c = text;
    while (*c >= ' ' && *c < 0x7f && *c != '"' && *c != '\\')
        c++;
    return (size_t)(c - text);
}

static void sink_text_put(FILE *to, const char *text, bool guard)
{
    size_t length;
    bool guarded = guard && sink_text_is_formula(text);
    bool quote = !*text || *text == ' ' || guarded || strpbrk(text, "\",") != NULL;
    for (const char *c = text + plain_length(text); *c && !quote; c++)
        quote = (unsigned char)*c < ' ' || *c == 0x7f;
    quote = quote || text[strlen(text) - 1] == ' ';
    if (quote) putc('"', to);
    if (guarded) putc('\'', to);
    while (*text) {
        size_t plain = plain_length(text);
        fwrite(text, 1, plain, to);
        text += plain;
        if (!*text) break;
        if (*text == '"') putc('"', to);
        const char *character = utf8_next(&text, &length);
        fwrite(character, 1, length, to);
    }
    if (quote) putc('"', to);
}

void put_csv_head(FILE *to, const export_table *table, bool guard)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (i) putc(',', to);
        sink_text_put(to, table->columns[i].name, guard);
    }
    fputs("\r\n", to);
}

void put_csv_row(FILE *to, const export_table *table, const export_cell *cells, bool guard)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (i) putc(',', to);
        if (!cells[i].known) continue;
        switch (table->columns[i].type) {
        case EXPORT_TEXT:
        case EXPORT_NAME: sink_text_put(to, cells[i].as.text, guard); break;
        case EXPORT_U64: put_u64(to, cells[i].as.u64); break;
        case EXPORT_I64: put_i64(to, cells[i].as.i64); break;
        case EXPORT_F64: put_f64(to, cells[i].as.f64); break;
        }
    }
    fputs("\r\n", to);
}
