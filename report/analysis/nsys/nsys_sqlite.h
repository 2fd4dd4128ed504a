// The few functions of SQLite's C interface that reading needs, from the library found at run time.
#ifndef NETPROF_NSYS_SQLITE_H
#define NETPROF_NSYS_SQLITE_H

#include "netprof.h"

#include <stdbool.h>

typedef struct nsys_sqlite_table {
    char *name, **columns; // columns: array of stb_ds
} nsys_sqlite_table;

typedef struct nsys_sqlite {
    void *library, *db;
    void *has_table;           // a statement; NULL until it is needed
    nsys_sqlite_table *tables; // those of which columns were asked; array of stb_ds
    int (*open_v2)(const char *name, void **db, int flags, const char *vfs);
    int (*close)(void *db);
    int (*exec)(void *db, const char *sql, int (*row)(void *, int, char **, char **), void *user, char **message);
    int (*prepare_v2)(void *db, const char *sql, int size, void **statement, const char **tail);
    int (*step)(void *statement);
    int (*reset)(void *statement);
    int (*finalize)(void *statement);
    int (*bind_text)(void *statement, int place, const char *text, int size, void (*release)(void *));
    int (*bind_int64)(void *statement, int place, long long value);
    int (*column_type)(void *statement, int column);
    long long (*column_int64)(void *statement, int column);
    double (*column_double)(void *statement, int column);
    const unsigned char *(*column_text)(void *statement, int column);
    const char *(*errmsg)(void *db);
} nsys_sqlite;

enum {
    NSYS_SQLITE_ROW = 100,
    NSYS_SQLITE_DONE = 101,
    NSYS_SQLITE_INTEGER = 1,
    NSYS_SQLITE_FLOAT = 2,
    NSYS_SQLITE_TEXT = 3,
    NSYS_SQLITE_NULL = 5
};

netprof_err nsys_sqlite_open(nsys_sqlite *s, const char *path, netprof_error *error);
void nsys_sqlite_close(nsys_sqlite *s);
bool nsys_sqlite_has(nsys_sqlite *s, const char *table);
bool nsys_sqlite_has_column(nsys_sqlite *s, const char *table, const char *column);
bool nsys_sqlite_any(nsys_sqlite *s, const char *table); // has it a row
void *nsys_sqlite_query(nsys_sqlite *s,
                        const char *sql); // NULL: the file's tables and columns do not allow it
// A whole number, also one that is kept as a real or a text.
bool nsys_sqlite_whole(nsys_sqlite *s, void *row, int column, int64_t *value);

#endif
