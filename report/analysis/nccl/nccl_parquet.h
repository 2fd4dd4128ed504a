// CSV files as Parquet, by DuckDB's library where it is installed: it is loaded when it is asked for.
// Thread rule: one thread at a time.
#ifndef NETPROF_NCCL_PARQUET_H
#define NETPROF_NCCL_PARQUET_H

#include <stddef.h>

typedef struct nccl_parquet nccl_parquet;

// NULL after writing why into `text`. The library is $NETPROF_DUCKDB, else libduckdb.so where libraries are looked for.
nccl_parquet *nccl_parquet_open(char *text, size_t size);
// 0, or -1 after writing why into `text`. Names are taken from the CSV file's first line, and its empty cells are NULL.
int nccl_parquet_convert(nccl_parquet *p, const char *csv, const char *parquet, char *text, size_t size);
void nccl_parquet_close(nccl_parquet *p);

#endif
