#include "sheet.h"

#include "analysis/base/stb_ds.h"

#include <stdarg.h>
#include <stdio.h>

sheet sheet_open(size_t columns)
{
    return (sheet){.columns = columns};
}

static void sheet_copy(sheet *s, const char *text)
{
    if (!s->memory) s->memory = arena_open();
    arrput(s->cells, arena_text(s->memory, text));
}

void sheet_text(sheet *s, const char *text)
{
    arrput(s->cells, text ? text : "");
}

void sheet_number(sheet *s, number_text n)
{
    sheet_copy(s, n.text);
}

void sheet_format(sheet *s, const char *format, ...)
{
    va_list values;
    if (!s->memory) s->memory = arena_open();
    va_start(values, format);
    int length = vsnprintf(NULL, 0, format, values);
    va_end(values);
    char *text = arena_make(s->memory, length < 0 ? 1 : (size_t)length + 1, 1);
    va_start(values, format);
    if (length > 0) vsnprintf(text, (size_t)length + 1, format, values);
    va_end(values);
    sheet_text(s, text);
}

void sheet_count(sheet *s, uint64_t value)
{
    sheet_format(s, "%llu", (unsigned long long)value);
}

void sheet_row(sheet *s, const char *const *cells)
{
    for (size_t i = 0; i < s->columns; i++)
        sheet_text(s, cells[i]);
}

void sheet_heading(sheet *s, const char *text)
{
    sheet_text(s, text);
    for (size_t i = 1; i < s->columns; i++)
        sheet_text(s, "");
}

size_t sheet_rows(const sheet *s)
{
    return arrlenu(s->cells) / s->columns;
}

chart sheet_chart(sheet *s, chart_head head, const table_column *columns)
{
    chart x = chart_table(head, columns, s->columns, s->cells, sheet_rows(s));
    arrfree(s->cells);
    arena_close(s->memory);
    *s = (sheet){0};
    return x;
}

void sheet_end(sheet *s, document *doc, chart_head head, const table_column *columns)
{
    if (sheet_rows(s)) document_add(doc, sheet_chart(s, head, columns));
}
