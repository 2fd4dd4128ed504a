#define _POSIX_C_SOURCE 200809L
#include "nsys_sqlite.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPEN_READONLY = 1, OPEN_URI = 0x40, OK = 0, NOTADB = 26, CORRUPT = 11 };

static netprof_err fail(netprof_error *error, netprof_err code, int sys_errno, const char *path,
                        const char *text)
{
    if (!error) return code;
    *error = (netprof_error){.code = code, .sys_errno = sys_errno};
    snprintf(error->path, sizeof error->path, "%s", path);
    snprintf(error->text, sizeof error->text, "%s", text);
    return code;
}

static bool find_functions(nsys_sqlite *s)
{
    const struct {
        const char *name;
        void *to;
    } functions[] = {{"sqlite3_open_v2", &s->open_v2},
                     {"sqlite3_close_v2", &s->close},
                     {"sqlite3_exec", &s->exec},
                     {"sqlite3_prepare_v2", &s->prepare_v2},
                     {"sqlite3_step", &s->step},
                     {"sqlite3_finalize", &s->finalize},
                     {"sqlite3_bind_text", &s->bind_text},
                     {"sqlite3_column_type", &s->column_type},
                     {"sqlite3_column_int64", &s->column_int64},
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

// "file:PATH?immutable=1", with what has a meaning in it as %XX. NULL without memory.
static char *uri_of(const char *path)
{
    char *uri = malloc(3 * strlen(path) + 32), *to = uri;
    if (!uri) return NULL;
    to += sprintf(to, "file:%s", *path == '/' ? "" : "./");
    for (const unsigned char *c = (const unsigned char *)path; *c; c++)
        to += sprintf(to, isalnum(*c) || strchr("/._-", *c) ? "%c" : "%%%02X", *c);
    strcpy(to, "?mode=ro&immutable=1");
    return uri;
}

netprof_err nsys_sqlite_open(nsys_sqlite *s, const char *path, netprof_error *error)
{
    *s = (nsys_sqlite){0};
    if (access(path, R_OK)) return fail(error, NETPROF_ERR_IO, errno, path, strerror(errno));
    s->library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!s->library || !find_functions(s))
        return fail(error, NETPROF_ERR_IO, 0, path,
                    "SQLite's library (libsqlite3.so.0) is needed to read this and is not here");
    char *uri = uri_of(path);
    if (!uri) return fail(error, NETPROF_ERR_NOMEM, 0, path, "no memory");
    int result = s->open_v2(uri, &s->db, OPEN_READONLY | OPEN_URI, NULL);
    free(uri);
    // No function of the file's own schema is run, and a page that is no page is an error, not a crash.
    if (!result) s->exec(s->db, "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON", NULL, NULL, NULL);
    if (!result) result = s->exec(s->db, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
    if (!result) return NETPROF_OK;
    netprof_err code = result == NOTADB    ? NETPROF_ERR_FORMAT
                       : result == CORRUPT ? NETPROF_ERR_DAMAGED
                                           : NETPROF_ERR_IO;
    return fail(error, code, 0, path,
                result == NOTADB ? "expected an SQLite file (nsys export --type sqlite)"
                : s->db          ? s->errmsg(s->db)
                                 : "no memory");
}

void nsys_sqlite_close(nsys_sqlite *s)
{
    if (s->db) s->close(s->db);
    if (s->library) dlclose(s->library);
    *s = (nsys_sqlite){0};
}

bool nsys_sqlite_has(nsys_sqlite *s, const char *table)
{
    // A view could be anything.
    static const char sql[] =
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1 AND sql NOT LIKE '%VIRTUAL%'";
    void *statement = NULL;
    if (s->prepare_v2(s->db, sql, -1, &statement, NULL)) return false;
    s->bind_text(statement, 1, table, -1, NULL);
    bool found = s->step(statement) == NSYS_SQLITE_ROW;
    s->finalize(statement);
    return found;
}

void *nsys_sqlite_query(nsys_sqlite *s, const char *const *queries)
{
    for (; *queries; queries++) {
        void *statement = NULL;
        if (s->prepare_v2(s->db, *queries, -1, &statement, NULL) == OK && statement) return statement;
    }
    return NULL;
}
