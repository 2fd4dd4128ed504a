// Numbers and lines of CSV, for the formats that are text.
#ifndef EXPORT_SINK_TEXT_H
#define EXPORT_SINK_TEXT_H

#include "export/export.h"

void put_u64(FILE *to, uint64_t value);
void put_i64(FILE *to, int64_t value);
void put_f64(FILE *to, double value); // the shortest text that reads back as the same number
// A CSV line. Missing is an empty cell, an empty text is "". guard: see export_options.plain.
void put_csv_row(FILE *to, const export_table *table, const export_cell *cells, bool guard, bool utc);
void put_csv_head(FILE *to, const export_table *table, bool guard, bool utc);

#endif
