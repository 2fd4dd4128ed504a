// Parquet and Arrow, by DuckDB's library where it is installed: a file for each table. The rows are gathered as CSV beside the
// output, and DuckDB turns that into either with the types of the columns; memory stays bounded by what it needs for
// a part of the rows.
#define _POSIX_C_SOURCE 200809L
#include "export/export.h"
#include "sink_text.h"
#include "analysis/base/memory.h"
#include "analysis/base/unfinished.h"
#include "analysis/base/parquet.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct parquet_state {
    export_sink *sink;
    char *path;
    parquet_writer *duck;
    FILE *files[EXPORT_TABLES];
    char *names[EXPORT_TABLES];
    const export_table *tables[EXPORT_TABLES];
} parquet_state;

static parquet_state *sink_parquet_begin(export_sink *sink, const char *path)
{
    char text[512];
    parquet_state *p = memory_calloc(1, sizeof *p);
    p->sink = sink;
    p->path = memory_strdup(path);
    p->duck = parquet_open(text, sizeof text);
    if (!p->duck) export_fail(sink, "%s", text);
    return p;
}

static void *sink_parquet_open(export_sink *sink, const char *path)
{
    return sink_parquet_begin(sink, path);
}

static void *sink_arrows_open(export_sink *sink, const char *path)
{
    char text[512];
    parquet_state *p = sink_parquet_begin(sink, path);
    if (p->duck && parquet_as_arrow(p->duck, text, sizeof text)) export_fail(sink, "%s", text);
    return p;
}

static void sink_parquet_table(void *state, export_id id, const export_table *table)
{
    parquet_state *p = state;
    p->tables[id] = table;
    char *name = export_file_name(p->sink, p->path, table, "rows");
    p->names[id] = memory_format("%s%s", name, strcmp(name, p->path) == 0 ? ".rows" : "");
    free(name);
    p->files[id] = fopen(p->names[id], "wxe");
    if (!p->files[id])
        export_fail(p->sink, "%s: %s", safe(p->names[id]), strerror(errno));
    else if (export_options_of(p->sink)->only)
        unfinished_begin(p->names[id]); // beside the output, not in its directory
}

static void sink_parquet_row(void *state, export_id id, const export_table *table, const export_cell *cells)
{
    parquet_state *p = state;
    put_csv_row(p->files[id], table, cells, false, false);
    if (ferror(p->files[id])) export_fail(p->sink, "%s", strerror(errno ? errno : EIO));
}

static void sink_parquet_convert(parquet_state *p, int i)
{
    static const char *const types[] = {[EXPORT_TEXT] = "VARCHAR", [EXPORT_NAME] = "VARCHAR", [EXPORT_U64] = "UBIGINT",
                                        [EXPORT_I64] = "BIGINT",   [EXPORT_TIME] = "BIGINT",  [EXPORT_F64] = "DOUBLE"};
    const export_table *t = p->tables[i];
    char text[512];
    parquet_column *columns = memory_calloc(t->column_count, sizeof *columns);
    for (size_t k = 0; k < t->column_count; k++) {
        columns[k] = (parquet_column){memory_strdup(utf8(t->columns[k].name)), types[t->columns[k].type],
                                      t->columns[k].type == EXPORT_TIME ? "make_timestamp_ns" : NULL};
    }
    char *to = export_file_name(p->sink, p->path, t, export_options_of(p->sink)->driver->name);
    if (parquet_convert(p->duck, p->names[i], false, to, columns, t->column_count, text, sizeof text))
        export_fail(p->sink, "DuckDB: %s", safe(text));
    for (size_t k = 0; k < t->column_count; k++)
        free((char *)(uintptr_t)columns[k].name);
    free(columns);
    free(to);
}

static void sink_parquet_close(void *state, bool finish)
{
    parquet_state *p = state;
    for (int i = 0; i < EXPORT_TABLES; i++) {
        if (p->files[i] && fclose(p->files[i]) && finish) export_fail(p->sink, "%s", strerror(errno));
        if (p->files[i] && finish && !export_failed(p->sink)) sink_parquet_convert(p, i);
        if (p->names[i] && p->files[i]) unlink(p->names[i]);
        unfinished_end(p->names[i]);
        free(p->names[i]);
    }
    parquet_close(p->duck);
    free(p->path);
    free(p);
}

const export_driver export_parquet = {.name = "parquet",
                                      .directory = true,
                                      .open = sink_parquet_open,
                                      .table = sink_parquet_table,
                                      .row = sink_parquet_row,
                                      .close = sink_parquet_close};

const export_driver export_arrows = {.name = "arrows",
                                     .directory = true,
                                     .open = sink_arrows_open,
                                     .table = sink_parquet_table,
                                     .row = sink_parquet_row,
                                     .close = sink_parquet_close};
