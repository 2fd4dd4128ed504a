// Files as netprof's NCCL profiler plugin writes them, row by row; include netprof.h and support.h first.
#ifndef NETPROF_TESTS_RECORDED_ROWS_H
#define NETPROF_TESTS_RECORDED_ROWS_H

#include "netprof.h"
#include "support.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { ROWS_COLUMNS = 24, ROWS_MOST = 64 };

// A table that grows; a cell that was not put is 0 or "".
typedef struct rows {
    const char *kind, *names[ROWS_COLUMNS];
    int64_t numbers[ROWS_COLUMNS][ROWS_MOST];
    const char *texts[ROWS_COLUMNS][ROWS_MOST];
    bool is_text[ROWS_COLUMNS];
    size_t column_count, count;
} rows;

typedef struct recorded_file {
    netprof_writer *writer;
    char path[512];
} recorded_file;

SUPPORT rows rows_begin(const char *kind)
{
    return (rows){.kind = kind};
}

SUPPORT size_t rows_column(rows *r, const char *name, bool is_text)
{
    for (size_t i = 0; i < r->column_count; i++)
        if (strcmp(r->names[i], name) == 0) return i;
    assert_true(r->column_count < ROWS_COLUMNS && r->count < ROWS_MOST);
    r->names[r->column_count] = name;
    r->is_text[r->column_count] = is_text;
    for (size_t i = 0; i < ROWS_MOST; i++)
        r->texts[r->column_count][i] = "";
    return r->column_count++;
}

SUPPORT void rows_number(rows *r, const char *name, int64_t value)
{
    r->numbers[rows_column(r, name, false)][r->count] = value;
}

SUPPORT void rows_text(rows *r, const char *name, const char *value)
{
    r->texts[rows_column(r, name, true)][r->count] = value;
}

SUPPORT void rows_next(rows *r)
{
    assert_true(++r->count < ROWS_MOST);
}

// A table of one row needs no rows_next().
SUPPORT void rows_put(recorded_file *f, rows *r)
{
    netprof_events_column columns[ROWS_COLUMNS] = {{NULL, NULL, NULL}};
    if (!r->count) r->count = 1;
    for (size_t i = 0; i < r->column_count; i++) {
        columns[i].name = r->names[i];
        if (r->is_text[i])
            columns[i].texts = r->texts[i];
        else
            columns[i].numbers = r->numbers[i];
    }
    const netprof_events e = {r->kind, columns, r->column_count, r->count};
    assert_int_equal(netprof_write_events(f->writer, &e, NULL), NETPROF_OK);
}

SUPPORT recorded_file recorded_open(const char *tree, const char *folder, const char *host, int pid)
{
    recorded_file f = {NULL, ""};
    char name[120], number[16];
    if (*folder) mkdir(tree_path(tree, folder), 0777);
    snprintf(name, sizeof name, "%snetprof-nccl-%s-%d.netprof", folder, host, pid);
    snprintf(f.path, sizeof f.path, "%s", tree_path(tree, name));
    snprintf(number, sizeof number, "%d", pid);
    assert_int_equal(netprof_writer_open(&f.writer, f.path, 0, NULL), NETPROF_OK);
    assert_int_equal(netprof_write_fact(f.writer, "recorder", "nccl", NULL), NETPROF_OK);
    assert_int_equal(netprof_write_fact(f.writer, "host", host, NULL), NETPROF_OK);
    assert_int_equal(netprof_write_fact(f.writer, "pid", number, NULL), NETPROF_OK);
    return f;
}

// A reading of an RDMA port's state.
SUPPORT void recorded_put_port(recorded_file *f, const char *port, uint64_t value)
{
    const struct row row[] = {{"rdma", port, "state", .kind = NETPROF_KIND_STATE}};
    netprof_snapshot s = snapshot_of(schema_of_rows(row, 1, "host", NULL));
    s.values[0] = value;
    assert_int_equal(netprof_write_snapshot(f->writer, &s, NULL), NETPROF_OK);
    netprof_snapshot_free(&s);
}

SUPPORT void recorded_close(recorded_file *f)
{
    assert_int_equal(netprof_writer_close(f->writer, 1, NULL), NETPROF_OK);
}

#endif
