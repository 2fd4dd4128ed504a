// A table of a page while it is filled, cell after cell, row after row. sheet_end() puts it on the page and frees it; one
// without cells needs no end.
#ifndef NETPROF_SHEET_H
#define NETPROF_SHEET_H

#include "render/base/arena.h"
#include "render/base/number.h"
#include "render/chart/charts.h"
#include "render/document/document.h"

typedef struct sheet {
    arena *memory;      // of cells that are copied; NULL: none yet
    const char **cells; // an stb_ds array
    size_t columns;
} sheet;

sheet sheet_open(size_t columns);
void sheet_text(sheet *s, const char *text); // not copied before the end; NULL: an empty cell
void sheet_number(sheet *s, number_text n);
void sheet_format(sheet *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sheet_count(sheet *s, uint64_t value);         // "12345"
void sheet_row(sheet *s, const char *const *cells); // as sheet_text() for all columns
void sheet_heading(sheet *s, const char *text);     // a row of its own
size_t sheet_rows(const sheet *s);
chart sheet_chart(sheet *s, chart_head head, const table_column *columns); // ends it
// Adds the chart, unless there is no row.
void sheet_end(sheet *s, document *doc, chart_head head, const table_column *columns);

#endif
