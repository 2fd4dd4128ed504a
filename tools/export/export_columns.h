// The columns of the wide tables: every counter of all files, once.
#ifndef EXPORT_WIDE_H
#define EXPORT_WIDE_H

#include "export_catalog.h"

typedef struct wide_side {
    export_table table;
    export_column *columns;
    size_t first; // columns before the first counter's
    lookup taken; // names in small letters: SQLite and DuckDB tell them apart by nothing else
    char **memory;
    size_t memory_count;
} wide_side;

typedef struct wide {
    wide_side values, rates;
    lookup index;                         // "source/device/counter" -> number of the counter
    size_t *value_columns, *rate_columns; // by number
    size_t count;
} wide;

// Start from {0}; wide_free() at the end.
void wide_begin(wide *w);
void wide_add(wide *w, known_schema *k);          // a schema's counters, which get their columns
void wide_assign(const wide *w, known_schema *k); // the columns of counters that were added before
void wide_free(wide *w);

#endif
