// The columns of the wide tables: every counter of all files, once.
#ifndef EXPORT_WIDE_H
#define EXPORT_WIDE_H

#include "export_catalog.h"
#include "analysis/base/index_map.h"

typedef struct wide_side {
    export_table table;
    export_column *columns; // an array of stb_ds; names and units belong to it
    size_t first;           // columns before the first counter's
    index_map *taken;       // names in small letters: SQLite and DuckDB ignore case
} wide_side;

typedef struct wide {
    wide_side values, rates;
    index_map *index; // source, device and counter -> number of the counter
    struct wide_place {
        size_t value, rate; // columns; rate: (size_t)-1 for none
    } * places;             // by number; an array of stb_ds
} wide;

// Start from {0}; wide_free() at the end.
void wide_begin(wide *w);
void wide_add(wide *w, known_schema *k);          // a schema's counters, which get their columns
void wide_assign(const wide *w, known_schema *k); // the columns of counters that were added before
void wide_free(wide *w);

#endif
