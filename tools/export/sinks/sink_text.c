#include "sink_text.h"

#include "analysis/base/csv.h"
#include "analysis/base/words.h"

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

// An empty text is quoted, as only what is missing is an empty cell.
static void sink_text_put(FILE *to, const char *text, bool guard)
{
    if (*text)
        csv_text(put_to_file, to, text, guard);
    else
        fputs("\"\"", to);
}

// "time_utc" of "time_ns".
static void sink_text_put_utc_name(FILE *to, const char *name)
{
    size_t n = strlen(name);
    if (n > 3 && strcmp(name + n - 3, "_ns") == 0) n -= 3;
    fprintf(to, ",%.*s_utc", (int)n, name);
}

// 2026-11-23T13:18:10.123456789Z
static void sink_text_put_utc(FILE *to, const export_cell *time)
{
    putc(',', to);
    if (!time->known) return;
    words_text text = words_utc(time->as.i64, 9);
    fprintf(to, "%.10sT%sZ", text.text, text.text + 11);
}

void put_csv_head(FILE *to, const export_table *table, bool guard, bool utc)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (i) putc(',', to);
        sink_text_put(to, table->columns[i].name, guard);
        if (utc && table->columns[i].type == EXPORT_TIME) sink_text_put_utc_name(to, table->columns[i].name);
    }
    fputs("\r\n", to);
}

void put_csv_row(FILE *to, const export_table *table, const export_cell *cells, bool guard, bool utc)
{
    for (size_t i = 0; i < table->column_count; i++) {
        if (i) putc(',', to);
        if (utc && table->columns[i].type == EXPORT_TIME) {
            if (cells[i].known) put_i64(to, cells[i].as.i64);
            sink_text_put_utc(to, &cells[i]);
            continue;
        }
        if (!cells[i].known) continue;
        switch (table->columns[i].type) {
        case EXPORT_TEXT:
        case EXPORT_NAME: sink_text_put(to, cells[i].as.text, guard); break;
        case EXPORT_U64: put_u64(to, cells[i].as.u64); break;
        case EXPORT_TIME:
        case EXPORT_I64: put_i64(to, cells[i].as.i64); break;
        case EXPORT_F64: put_f64(to, cells[i].as.f64); break;
        }
    }
    fputs("\r\n", to);
}
