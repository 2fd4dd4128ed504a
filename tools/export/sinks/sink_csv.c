// CSV (RFC 4180): a file for each table. Missing is an empty cell; an empty text is "".
#include "export/export.h"
#include "sink_text.h"
#include "analysis/base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct csv_state {
    export_sink *sink;
    char *path;
    FILE *files[EXPORT_TABLES];
} csv_state;

static void *sink_csv_open(export_sink *sink, const char *path)
{
    csv_state *c = memory_calloc(1, sizeof *c);
    c->sink = sink;
    c->path = memory_strdup(path);
    return c;
}

static void sink_csv_check(csv_state *c, FILE *to)
{
    if (ferror(to)) export_fail(c->sink, "%s", strerror(errno ? errno : EIO));
}

static void sink_csv_table(void *state, export_id id, const export_table *table)
{
    csv_state *c = state;
    char *name = export_file_name(c->sink, c->path, table, "csv");
    c->files[id] = strcmp(c->path, "-") == 0 ? stdout : fopen(name, "we");
    if (!c->files[id])
        export_fail(c->sink, "%s: %s", safe(name), strerror(errno));
    else
        put_csv_head(c->files[id], table, !export_options_of(c->sink)->plain, export_options_of(c->sink)->utc);
    free(name);
}

static void sink_csv_row(void *state, export_id id, const export_table *table, const export_cell *cells)
{
    csv_state *c = state;
    put_csv_row(c->files[id], table, cells, !export_options_of(c->sink)->plain, export_options_of(c->sink)->utc);
    sink_csv_check(c, c->files[id]);
}

static void sink_csv_close(void *state, bool finish)
{
    csv_state *c = state;
    for (int i = 0; i < EXPORT_TABLES; i++) {
        FILE *file = c->files[i];
        if (!file || file == stdout) continue;
        if (fclose(file) && finish) export_fail(c->sink, "%s", strerror(errno));
    }
    free(c->path);
    free(c);
}

const export_driver export_csv = {.name = "csv",
                                  .directory = true,
                                  .stream = true,
                                  .open = sink_csv_open,
                                  .table = sink_csv_table,
                                  .row = sink_csv_row,
                                  .close = sink_csv_close};
