#define _POSIX_C_SOURCE 200809L // strdup
#include "nccl_columns.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const text_columns[] = {"algo",
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
                                           "slurm_job_id",
                                           "timing",
                                           "version"};

enum { UNSIGNED = 0, SIGNED, REAL, TEXT };
static const char *const column_types[] = {
    [UNSIGNED] = "UBIGINT", [SIGNED] = "BIGINT", [REAL] = "DOUBLE", [TEXT] = "VARCHAR"};

typedef struct scan {
    FILE *from;
    char *cell;
    size_t size, room;
    bool failed;
} scan;

static void columns_append(scan *s, int c)
{
    if (s->size == s->room) {
        char *larger = realloc(s->cell, s->room ? 2 * s->room : 256);
        if (!larger) {
            s->failed = true;
            return;
        }
        s->cell = larger;
        s->room = s->room ? 2 * s->room : 256;
    }
    s->cell[s->size++] = (char)c;
}

// The next cell; returns what ended it: ',', '\n', or EOF.
static int columns_next_cell(scan *s)
{
    bool quoted = false;
    int c;
    s->size = 0;
    while ((c = getc(s->from)) != EOF) {
        if (c == '"') {
            if (quoted) {
                c = getc(s->from);
                if (c == '"') {
                    columns_append(s, c);
                    continue;
                }
                if (c != EOF) ungetc(c, s->from);
            }
            quoted = !quoted;
        } else if (!quoted && (c == ',' || c == '\n')) {
            break;
        } else if (quoted || c != '\r') {
            columns_append(s, c);
        }
    }
    columns_append(s, 0);
    return c;
}

static int columns_type_of_cell(const char *text)
{
    char *end;
    size_t digits = strspn(text, "0123456789");
    if (!*text || (!text[digits] && digits < 20)) return UNSIGNED; // an empty cell is none
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

static parquet_column *columns_read_names(scan *s, int **kinds, size_t *count)
{
    parquet_column *columns = NULL;
    int end;
    do {
        end = columns_next_cell(s);
        parquet_column *longer = s->failed ? NULL : realloc(columns, (*count + 1) * sizeof *columns);
        if (longer) columns = longer;
        int *kind = longer ? realloc(*kinds, (*count + 1) * sizeof **kinds) : NULL;
        if (kind) *kinds = kind;
        if (!kind || !(columns[*count].name = strdup(s->cell))) {
            nccl_columns_free(columns, *count);
            return NULL;
        }
        (*kinds)[*count] = columns_type_of_name(s->cell);
        ++*count;
    } while (end == ',');
    return columns;
}

parquet_column *nccl_columns(const char *csv, size_t *count)
{
    scan s = {.from = fopen(csv, "re")};
    int *kinds = NULL, end = '\n';
    *count = 0;
    parquet_column *columns = s.from ? columns_read_names(&s, &kinds, count) : NULL;
    bool *filled = columns ? calloc(*count, sizeof *filled) : NULL;
    for (size_t i = 0; filled && !s.failed && end != EOF; i = end == ',' ? i + 1 : 0) {
        end = columns_next_cell(&s);
        if (s.failed || i >= *count || !*s.cell) continue;
        int kind = columns_type_of_cell(s.cell);
        if (kind > kinds[i]) kinds[i] = kind;
        filled[i] = true;
    }
    // What is empty all over could be anything.
    for (size_t i = 0; filled && i < *count; i++)
        columns[i].type = column_types[!filled[i] && kinds[i] != TEXT ? REAL : kinds[i]];
    if (columns && (!filled || s.failed)) {
        nccl_columns_free(columns, *count);
        columns = NULL;
    }
    if (s.from) fclose(s.from);
    free(s.cell);
    free(kinds);
    free(filled);
    return columns;
}

void nccl_columns_free(parquet_column *columns, size_t count)
{
    for (size_t i = 0; columns && i < count; i++)
        free((char *)(uintptr_t)columns[i].name);
    free(columns);
}
