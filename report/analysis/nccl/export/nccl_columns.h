// The types of the columns of a CSV table that nccl_export() wrote, for formats that have types.
#ifndef NETPROF_NCCL_COLUMNS_H
#define NETPROF_NCCL_COLUMNS_H

#include "analysis/base/parquet.h"

// NULL when the file cannot be read (see errno). Names and identities are texts whatever they
// look like ("0xab" is no number); other columns are whole numbers where all their cells are. Free with
// nccl_columns_free().
parquet_column *nccl_columns(const char *csv, size_t *count);
void nccl_columns_free(parquet_column *columns, size_t count);

#endif
