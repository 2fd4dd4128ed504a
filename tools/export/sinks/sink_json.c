// JSON: one document; every number is exact, missing is null. Tables are filled side by side, so each is gathered in a
// file of its own and the document is put together at the end.
#define _POSIX_C_SOURCE 200809L
#include "export/export.h"
#include "sink_text.h"
#include "analysis/base/json_text.h"
#include "analysis/base/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct json_state {
    export_sink *sink;
    char *path;
    FILE *parts[EXPORT_TABLES];
    const export_table *tables[EXPORT_TABLES];
    uint64_t rows[EXPORT_TABLES];
} json_state;

// Unlinked at once; beside the output, where there is room for it.
static FILE *sink_json_open_part(const char *path)
{
    if (strcmp(path, "-") == 0) return tmpfile();
    char *name = memory_format("%s.XXXXXX", path);
    int fd = mkstemp(name);
    FILE *file = fd >= 0 ? fdopen(fd, "w+") : NULL;
    if (fd >= 0) unlink(name);
    free(name);
    return file;
}

static void *sink_json_open(export_sink *sink, const char *path)
{
    json_state *j = memory_calloc(1, sizeof *j);
    j->sink = sink;
    j->path = memory_strdup(path);
    return j;
}

static void sink_json_table(void *state, export_id id, const export_table *table)
{
    json_state *j = state;
    j->tables[id] = table;
    j->parts[id] = sink_json_open_part(j->path);
    if (!j->parts[id]) export_fail(j->sink, "%s", strerror(errno));
}

static void sink_json_row(void *state, export_id id, const export_table *table, const export_cell *cells)
{
    json_state *j = state;
    FILE *to = j->parts[id];
    fputs(j->rows[id]++ ? ",\n{" : "\n{", to);
    for (size_t i = 0; i < table->column_count; i++) {
        const export_cell *c = &cells[i];
        if (i) putc(',', to);
        json_text_quoted(put_to_file, to, table->columns[i].name);
        putc(':', to);
        if (!c->known) {
            fputs("null", to);
            continue;
        }
        switch (table->columns[i].type) {
        case EXPORT_TEXT:
        case EXPORT_NAME: json_text_quoted(put_to_file, to, c->as.text); break;
        case EXPORT_U64: put_u64(to, c->as.u64); break;
        case EXPORT_TIME:
        case EXPORT_I64: put_i64(to, c->as.i64); break;
        case EXPORT_F64: put_f64(to, c->as.f64); break;
        }
    }
    putc('}', to);
    if (ferror(to)) export_fail(j->sink, "%s", strerror(errno ? errno : EIO));
}

static void sink_json_put_columns(FILE *to, const export_table *table)
{
    static const char *const types[] = {[EXPORT_TEXT] = "text", [EXPORT_NAME] = "text",  [EXPORT_U64] = "uint64",
                                        [EXPORT_I64] = "int64", [EXPORT_TIME] = "int64", [EXPORT_F64] = "float64"};
    fputs("{\"columns\":[", to);
    for (size_t i = 0; i < table->column_count; i++) {
        fputs(i ? ",{\"name\":" : "{\"name\":", to);
        json_text_quoted(put_to_file, to, table->columns[i].name);
        fprintf(to, ",\"type\":\"%s\",\"unit\":", types[table->columns[i].type]);
        json_text_quoted(put_to_file, to, table->columns[i].unit);
        putc('}', to);
    }
    fputs("],\n\"rows\":[", to);
}

static bool sink_json_append(FILE *to, FILE *part)
{
    char block[1 << 16];
    size_t n;
    rewind(part);
    while ((n = fread(block, 1, sizeof block, part)) > 0)
        if (fwrite(block, 1, n, to) != n) return false;
    return !ferror(part);
}

static bool sink_json_put_document(json_state *j, FILE *to)
{
    bool good = true, first = true;
    fprintf(to, "{\"format\":\"netprof-export\",\"version\":1,\"netprof\":\"%s\",\"tables\":{", netprof_version());
    for (int i = 0; i < EXPORT_TABLES && good; i++) {
        if (!j->parts[i]) continue;
        fputs(first ? "\n" : ",\n", to);
        first = false;
        json_text_quoted(put_to_file, to, j->tables[i]->name);
        putc(':', to);
        sink_json_put_columns(to, j->tables[i]);
        good = !fflush(j->parts[i]) && sink_json_append(to, j->parts[i]);
        fputs("]}", to);
    }
    fputs("}}\n", to);
    return good && !ferror(to);
}

static void sink_json_close(void *state, bool finish)
{
    json_state *j = state;
    FILE *to = !finish ? NULL : strcmp(j->path, "-") == 0 ? stdout : fopen(j->path, "we");
    bool good = !finish || (to && sink_json_put_document(j, to));
    if (to && to != stdout && fclose(to)) good = false;
    if (!good && !(to == stdout)) export_fail(j->sink, "%s", strerror(errno ? errno : EIO));
    for (int i = 0; i < EXPORT_TABLES; i++)
        if (j->parts[i]) fclose(j->parts[i]);
    free(j->path);
    free(j);
}

const export_driver export_json = {.name = "json",
                                   .stream = true,
                                   .open = sink_json_open,
                                   .table = sink_json_table,
                                   .row = sink_json_row,
                                   .close = sink_json_close};
