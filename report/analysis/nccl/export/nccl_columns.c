
#include "nccl_columns.h"

#include "analysis/base/stb_ds.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const text_columns[] = {"adapter",
                                           "algo",
                                           "algo_proto",
                                           "coll",
                                           "collective",
                                           "comm_id",
                                           "comm_name",
                                           "comm_type",
                                           "communicator",
                                           "direction",
                                           "file",
                                           "gpu",
                                           "host",
                                           "hostname",
                                           "id",
                                           "last_arrival_host",
                                           "last_arrival_ranks",
                                           "meaning",
                                           "message_size",
                                           "metric",
                                           "node",
                                           "p2p",
                                           "p2p_operation",
                                           "packing",
                                           "problem",
                                           "proto",
                                           "receiver_host",
                                           "sender_host",
                                           "sending_waited_for",
                                           "slurm_job_id",
                                           "timing",
                                           "transport",
                                           "version"};

enum { UNSIGNED = 0, SIGNED, REAL, TEXT };
static const char *const column_types[] = {
    [UNSIGNED] = "UBIGINT", [SIGNED] = "BIGINT", [REAL] = "DOUBLE", [TEXT] = "VARCHAR"};

typedef struct scan {
    FILE *from;
    char *cell; // array of stb_ds, ended by a NUL
} scan;

// The next cell; returns what ended it: ',', '\n', or EOF.
static int columns_next_cell(scan *s)
{
    bool quoted = false;
    int c;
    arrsetlen(s->cell, 0);
    while ((c = getc(s->from)) != EOF && (quoted || (c != ',' && c != '\n'))) {
        if (c == '\r' && !quoted) continue;
        if (c == '"') { // two within quotes are one that belongs to the text
            int next = quoted ? getc(s->from) : 0;
            if (next != '"') {
                if (quoted && next != EOF) ungetc(next, s->from);
                quoted = !quoted;
                continue;
            }
        }
        arrput(s->cell, (char)c);
    }
    arrput(s->cell, 0);
    return c;
}

static int columns_type_of_cell(const char *text)
{
    char *end;
    size_t digits = strspn(text, "0123456789");
    if (!*text || (!text[digits] && digits < 20)) return UNSIGNED; // an empty cell is no text
    if (!text[digits] && digits == 20 && strcmp(text, "18446744073709551615") <= 0) return UNSIGNED;
    if (*text == '-' && strlen(text) < 20 && text[1] && !text[1 + strspn(text + 1, "0123456789")]) return SIGNED;
    strtod(text, &end);
    return *end || strpbrk(text, "xXnN") ? TEXT : REAL;
}

static int columns_type_of_name(const char *name)
{
    for (size_t i = 0; i < sizeof text_columns / sizeof *text_columns; i++)
        if (strcmp(name, text_columns[i]) == 0) return TEXT;
    return UNSIGNED;
}

static parquet_column *columns_read_names(scan *s, int **kinds)
{
    parquet_column *columns = NULL;
    int end;
    do {
        end = columns_next_cell(s);
        parquet_column column = {.name = memory_strdup(s->cell)};
        arrput(columns, column);
        arrput(*kinds, columns_type_of_name(s->cell));
    } while (end == ',');
    return columns;
}

parquet_column *nccl_columns(const char *csv, size_t *count)
{
    scan s = {.from = fopen(csv, "re")};
    int *kinds = NULL, end = '\n';
    *count = 0;
    if (!s.from) return NULL;
    parquet_column *columns = columns_read_names(&s, &kinds);
    *count = arrlenu(columns);
    bool *filled = memory_calloc(*count, sizeof *filled);
    for (size_t i = 0; end != EOF; i = end == ',' ? i + 1 : 0) {
        end = columns_next_cell(&s);
        if (i >= *count || !*s.cell) continue;
        int kind = columns_type_of_cell(s.cell);
        if (kind > kinds[i]) kinds[i] = kind;
        filled[i] = true;
    }
    // A column without any value could be anything.
    for (size_t i = 0; i < *count; i++)
        columns[i].type = column_types[!filled[i] && kinds[i] != TEXT ? REAL : kinds[i]];
    fclose(s.from);
    arrfree(s.cell);
    arrfree(kinds);
    free(filled);
    return columns;
}

void nccl_columns_free(parquet_column *columns, size_t count)
{
    for (size_t i = 0; columns && i < count; i++)
        free((char *)(uintptr_t)columns[i].name);
    arrfree(columns);
}
