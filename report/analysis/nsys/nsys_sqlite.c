#define _POSIX_C_SOURCE 200809L
#include "nsys_sqlite.h"

#include "analysis/base/readable.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPEN_READONLY = 1, OPEN_URI = 0x40, OK = 0, NOTADB = 26, CORRUPT = 11 };

static netprof_err sqlite_fail(netprof_error *error, netprof_err code, int sys_errno, const char *path,
                               const char *text)
{
    if (!error) return code;
    *error = (netprof_error){.code = code, .sys_errno = sys_errno};
    snprintf(error->path, sizeof error->path, "%s", path);
    snprintf(error->text, sizeof error->text, "%s", text);
    return code;
}

static bool sqlite_find_functions(nsys_sqlite *s)
{
    const struct {
        const char *name;
        void *to;
    } functions[] = {{"sqlite3_open_v2", &s->open_v2},
                     {"sqlite3_close_v2", &s->close},
                     {"sqlite3_exec", &s->exec},
                     {"sqlite3_prepare_v2", &s->prepare_v2},
                     {"sqlite3_step", &s->step},
                     {"sqlite3_reset", &s->reset},
                     {"sqlite3_finalize", &s->finalize},
                     {"sqlite3_bind_text", &s->bind_text},
                     {"sqlite3_bind_int64", &s->bind_int64},
                     {"sqlite3_column_type", &s->column_type},
                     {"sqlite3_column_int64", &s->column_int64},
                     {"sqlite3_column_double", &s->column_double},
                     {"sqlite3_column_text", &s->column_text},
                     {"sqlite3_errmsg", &s->errmsg}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(s->library, functions[i].name);
        if (!found) return false;
        memcpy(functions[i].to, &found,
               sizeof found); // C has no cast from an object's pointer to a function's
    }
    return true;
}

// "file:PATH?immutable=1", with what has a meaning in it as %XX.
static char *sqlite_uri(const char *path)
{
    char *uri = memory_alloc(3 * strlen(path) + 32), *to = uri;
    to += sprintf(to, "file:%s", *path == '/' ? "" : "./");
    for (const unsigned char *c = (const unsigned char *)path; *c; c++)
        to += sprintf(to, isalnum(*c) || strchr("/._-", *c) ? "%c" : "%%%02X", *c);
    strcpy(to, "?mode=ro&immutable=1");
    return uri;
}

// Recent changes may still be in files beside it, which are ignored when a file is opened as immutable.
static netprof_err sqlite_check_whole(const char *path, netprof_error *error)
{
    static const struct {
        const char *ending, *text;
    } others[] = {{"-wal",
                   "is not complete: what was written last is in the file beside it that ends in -wal; close its "
                   "writer, or run: sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)'"},
                  {"-journal", "is still being written, or its writer was stopped: a file beside it ends in -journal; "
                               "export it again"}};
    netprof_err err = NETPROF_OK;
    for (size_t i = 0; !err && i < sizeof others / sizeof *others; i++) {
        struct stat st;
        char *name = memory_format("%s%s", path, others[i].ending);
        if (stat(name, &st) == 0 && st.st_size > 0) err = sqlite_fail(error, NETPROF_ERR_IO, 0, path, others[i].text);
        free(name);
    }
    return err;
}

static uint32_t sqlite_big_endian(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

// Compares the file's size with that in its header; SQLite itself notices a missing end only when it gets there.
static netprof_err sqlite_check_head(const char *path, netprof_error *error)
{
    unsigned char head[100];
    char text[160];
    struct stat st;
    FILE *file = readable_stream(path);
    if (!file) return sqlite_fail(error, NETPROF_ERR_IO, errno, path, readable_error(errno));
    bool known = fstat(fileno(file), &st) == 0;
    size_t got = known && S_ISREG(st.st_mode) ? fread(head, 1, sizeof head, file) : 0;
    int sys_errno = ferror(file) ? errno : 0;
    fclose(file);
    if (sys_errno) return sqlite_fail(error, NETPROF_ERR_IO, sys_errno, path, strerror(sys_errno));
    if (known && S_ISDIR(st.st_mode)) return sqlite_fail(error, NETPROF_ERR_IO, EISDIR, path, strerror(EISDIR));
    if (known && S_ISREG(st.st_mode) && !st.st_size) return sqlite_fail(error, NETPROF_ERR_FORMAT, 0, path, "is empty");
    if (got < 16 || memcmp(head, "SQLite format 3", 16) != 0)
        return sqlite_fail(error, NETPROF_ERR_FORMAT, 0, path, "expected an SQLite file (nsys export --type sqlite)");
    if (got < sizeof head) return sqlite_fail(error, NETPROF_ERR_DAMAGED, 0, path, "is cut within its header");
    uint32_t page = (uint32_t)head[16] << 8 | head[17], pages = sqlite_big_endian(head + 28);
    if (page == 1) page = 65536;
    bool valid = pages && memcmp(head + 24, head + 92, 4) == 0;
    if (!valid || (uint64_t)page * pages <= (uint64_t)st.st_size) return NETPROF_OK;
    snprintf(text, sizeof text, "is cut: it has %llu bytes of %llu", (unsigned long long)st.st_size,
             (unsigned long long)page * pages);
    return sqlite_fail(error, NETPROF_ERR_DAMAGED, 0, path, text);
}

netprof_err nsys_sqlite_open(nsys_sqlite *s, const char *path, netprof_error *error)
{
    *s = (nsys_sqlite){0};
    if (strcmp(path, "-") != 0 && access(path, R_OK))
        return sqlite_fail(error, NETPROF_ERR_IO, errno, path, strerror(errno));
    netprof_err err = sqlite_check_head(path, error);
    if (!err) err = sqlite_check_whole(path, error);
    if (err) return err;
    s->library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!s->library || !sqlite_find_functions(s))
        return sqlite_fail(error, NETPROF_ERR_IO, 0, path,
                           "SQLite's library (libsqlite3.so.0) is needed to read this and is not here");
    char *opened = readable_path(path); // SQLite opens it by itself, and a pipe was read already
    if (!opened) return sqlite_fail(error, NETPROF_ERR_IO, errno, path, readable_error(errno));
    char *uri = sqlite_uri(opened);
    free(opened);
    int result = s->open_v2(uri, &s->db, OPEN_READONLY | OPEN_URI, NULL);
    free(uri);
    memory_check(s->db); // without memory there is no database, not even one that says what went wrong
    // No function of the file's own schema is run, and a page that is no page is an error, not a crash.
    if (!result) s->exec(s->db, "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON", NULL, NULL, NULL);
    if (!result) result = s->exec(s->db, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
    if (!result) return NETPROF_OK;
    netprof_err code = result == NOTADB ? NETPROF_ERR_FORMAT : result == CORRUPT ? NETPROF_ERR_DAMAGED : NETPROF_ERR_IO;
    return sqlite_fail(error, code, 0, path,
                       result == NOTADB ? "begins as an SQLite file and is none: damaged, or encrypted"
                                        : s->errmsg(s->db));
}

void nsys_sqlite_close(nsys_sqlite *s)
{
    for (size_t i = 0; i < arrlenu(s->tables); i++) {
        for (size_t k = 0; k < arrlenu(s->tables[i].columns); k++)
            free(s->tables[i].columns[k]);
        arrfree(s->tables[i].columns);
        free(s->tables[i].name);
    }
    arrfree(s->tables);
    if (s->has_table) s->finalize(s->has_table);
    if (s->db) s->close(s->db);
    if (s->library) dlclose(s->library);
    *s = (nsys_sqlite){0};
}

bool nsys_sqlite_has(nsys_sqlite *s, const char *table)
{
    // A view could be anything, and so could what a virtual table is made of.
    static const char sql[] = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1 AND rootpage > 0 AND sql "
                              "NOT LIKE 'CREATE VIRTUAL%'";
    if (!s->has_table && !(s->has_table = nsys_sqlite_query(s, sql))) return false;
    s->bind_text(s->has_table, 1, table, -1, NULL);
    bool is = s->step(s->has_table) == NSYS_SQLITE_ROW;
    s->reset(s->has_table);
    return is;
}

// Reads the names of a table's columns, once: a file is asked for some hundred of them. Columns that are computed are not
// among these.
static const nsys_sqlite_table *sqlite_table(nsys_sqlite *s, const char *name)
{
    for (size_t i = 0; i < arrlenu(s->tables); i++)
        if (strcmp(s->tables[i].name, name) == 0) return &s->tables[i];
    nsys_sqlite_table table = {.name = memory_strdup(name)};
    void *row = nsys_sqlite_query(s, "SELECT name FROM pragma_table_info(?1)");
    if (row) s->bind_text(row, 1, name, -1, NULL);
    while (row && s->step(row) == NSYS_SQLITE_ROW) {
        const char *column = (const char *)s->column_text(row, 0);
        if (column) arrput(table.columns, memory_strdup(column));
    }
    if (row) s->finalize(row);
    arrput(s->tables, table);
    return &arrlast(s->tables);
}

static int sqlite_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

// As SQLite compares names: letters of ASCII in either case.
static bool sqlite_same_name(const char *a, const char *b)
{
    while (*a && sqlite_lower(*a) == sqlite_lower(*b))
        a++, b++;
    return !*a && !*b;
}

bool nsys_sqlite_has_column(nsys_sqlite *s, const char *table, const char *column)
{
    const nsys_sqlite_table *t = sqlite_table(s, table);
    for (size_t i = 0; i < arrlenu(t->columns); i++)
        if (sqlite_same_name(t->columns[i], column)) return true;
    return false;
}

bool nsys_sqlite_any(nsys_sqlite *s, const char *table)
{
    char sql[160];
    snprintf(sql, sizeof sql, "SELECT 1 FROM \"%s\" LIMIT 1", table);
    void *rows = nsys_sqlite_has(s, table) ? nsys_sqlite_query(s, sql) : NULL;
    bool is = rows && s->step(rows) == NSYS_SQLITE_ROW;
    if (rows) s->finalize(rows);
    return is;
}

void *nsys_sqlite_query(nsys_sqlite *s, const char *sql)
{
    void *statement = NULL;
    return s->prepare_v2(s->db, sql, -1, &statement, NULL) == OK ? statement : NULL;
}

bool nsys_sqlite_whole(nsys_sqlite *s, void *row, int column, int64_t *value)
{
    int type = s->column_type(row, column);
    if (type == NSYS_SQLITE_INTEGER) {
        *value = s->column_int64(row, column);
        return true;
    }
    if (type == NSYS_SQLITE_FLOAT) {
        double real = s->column_double(row, column);
        if (!(fabs(real) <= 9007199254740992.0) || real != floor(real)) return false;
        *value = (int64_t)real;
        return true;
    }
    if (type != NSYS_SQLITE_TEXT) return false;
    const char *text = (const char *)s->column_text(row, column);
    char *end = NULL;
    if (!text || (!isdigit((unsigned char)*text) && *text != '-')) return false;
    errno = 0;
    long long whole = strtoll(text, &end, 10);
    if (errno || *end || end == text) return false;
    *value = whole;
    return true;
}
