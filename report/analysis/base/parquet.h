// CSV files as Parquet, by DuckDB's library where it is installed: it is loaded when it is asked for.
// Thread rule: one thread at a time.
#ifndef NETPROF_PARQUET_H
#define NETPROF_PARQUET_H

#include <stdbool.h>
#include <stddef.h>

typedef struct parquet_writer parquet_writer;

typedef struct parquet_column {
    const char *name; // UTF-8
    const char *type; // of SQL: "UBIGINT"
} parquet_column;

// NULL after writing why into `text`. The library is $NETPROF_DUCKDB, else libduckdb.so where libraries are looked for.
parquet_writer *parquet_open(char *text, size_t size);
// 0, or -1 after writing why into `text`. The CSV file (RFC 4180) begins with a line of names, when head; names and
// types are those of the columns, of which there are as many. An empty cell is NULL and a quoted empty one an empty
// text.
int parquet_convert(parquet_writer *p, const char *csv, bool head, const char *file, const parquet_column *columns,
                    size_t count, char *text, size_t size);
void parquet_close(parquet_writer *p);

#endif
