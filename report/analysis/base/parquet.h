// Converts CSV files to Parquet, or to Arrow, with DuckDB's library, which is loaded on demand where it is installed.
// Thread rule: one thread at a time.
#ifndef NETPROF_PARQUET_H
#define NETPROF_PARQUET_H

#include <stdbool.h>
#include <stddef.h>

typedef struct parquet_writer parquet_writer;

typedef struct parquet_column {
    const char *name; // UTF-8
    const char *type; // of SQL: "UBIGINT"
    const char *made; // by this function of SQL of what was read; NULL: as it is
} parquet_column;

// NULL after writing the reason into `text`. The library is $NETPROF_DUCKDB, else libduckdb.so on the library path.
parquet_writer *parquet_open(char *text, size_t size);
// 0, or -1 after writing the reason into `text`. csv: path of an RFC 4180 file with these columns in this order; head:
// its first line holds names. An empty cell becomes NULL, a quoted empty one an empty text.
int parquet_convert(parquet_writer *p, const char *csv, bool head, const char *file, const parquet_column *columns,
                    size_t count, char *text, size_t size);
// What follows is written as an Arrow IPC stream (.arrows), by DuckDB's extension nanoarrow. -1 after writing into `text` why
// it cannot be had: DuckDB installs it from its own site.
int parquet_as_arrow(parquet_writer *p, char *text, size_t size);
void parquet_close(parquet_writer *p);

#endif
