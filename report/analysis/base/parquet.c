#define _POSIX_C_SOURCE 200809L // open_memstream
#include "parquet.h"

#include "memory.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The few functions of DuckDB's C interface that are needed; a result has 48 bytes there and never grows.
typedef struct duck_result {
    void *words[16];
} duck_result;

struct parquet_writer {
    void *library, *database, *connection;
    int (*open)(const char *path, void **database);
    int (*connect)(void *database, void **connection);
    int (*query)(void *connection, const char *text, duck_result *result);
    const char *(*result_error)(duck_result *result);
    void (*destroy_result)(duck_result *result);
    void (*disconnect)(void **connection);
    void (*close)(void **database);
};

static int parquet_find_functions(parquet_writer *p)
{
    const struct {
        const char *name;
        void *to;
    } functions[] = {{"duckdb_open", &p->open},
                     {"duckdb_connect", &p->connect},
                     {"duckdb_query", &p->query},
                     {"duckdb_result_error", &p->result_error},
                     {"duckdb_destroy_result", &p->destroy_result},
                     {"duckdb_disconnect", &p->disconnect},
                     {"duckdb_close", &p->close}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(p->library, functions[i].name);
        if (!found) return -1;
        memcpy(functions[i].to, &found,
               sizeof found); // C has no cast from an object's pointer to a function's
    }
    return 0;
}

parquet_writer *parquet_open(char *text, size_t size)
{
    const char *path = getenv("NETPROF_DUCKDB");
    parquet_writer *p = memory_calloc(1, sizeof *p);
    p->library = dlopen(path && *path ? path : "libduckdb.so", RTLD_NOW | RTLD_LOCAL);
    if (!p->library) {
        snprintf(text, size,
                 "DuckDB's library is needed for Parquet and cannot be loaded (%s); install libduckdb.so, or name it "
                 "in NETPROF_DUCKDB",
                 dlerror());
    } else if (parquet_find_functions(p)) {
        snprintf(text, size, "the library %s is not DuckDB's", path && *path ? path : "libduckdb.so");
    } else if (p->open(NULL, &p->database) || p->connect(p->database, &p->connection)) {
        snprintf(text, size, "DuckDB does not start");
    } else {
        // Each thread holds a part of the rows in memory: not one per core of a large node.
        duck_result result = {{NULL}};
        p->query(p->connection, "SET threads = 4", &result);
        p->destroy_result(&result);
        return p;
    }
    parquet_close(p);
    return NULL;
}

// Doubles every ', as SQL wants it in a text.
static char *parquet_quoted(const char *text)
{
    char *copy = memory_alloc(2 * strlen(text) + 1), *to = copy;
    for (; *text; text++) {
        if (*text == '\'') *to++ = '\'';
        *to++ = *text;
    }
    *to = 0;
    return copy;
}

// The columns as a struct of SQL, {'name': 'TYPE', ...}.
static char *parquet_column_list(const parquet_column *columns, size_t count)
{
    char *text = NULL;
    size_t size;
    FILE *to = memory_check(open_memstream(&text, &size));
    for (size_t i = 0; i < count; i++) {
        char *name = parquet_quoted(columns[i].name);
        fprintf(to, "%s'%s': '%s'", i ? ", " : "", name, columns[i].type);
        free(name);
    }
    if (fclose(to)) memory_exhausted();
    return text;
}

int parquet_convert(parquet_writer *p, const char *csv, bool head, const char *file, const parquet_column *columns,
                    size_t count, char *text, size_t size)
{
    duck_result result = {{NULL}};
    char *from = parquet_quoted(csv), *to = parquet_quoted(file), *list = parquet_column_list(columns, count);
    char *query = memory_format(
        "COPY (SELECT * FROM read_csv('%s', header = %s, delim = ',', quote = '\"', escape = '\"', "
        "auto_detect = false, parallel = false, nullstr = '', allow_quoted_nulls = false, max_line_size = 67108864, "
        "columns = {%s})) TO '%s' (FORMAT parquet, COMPRESSION zstd)",
        from, head ? "true" : "false", list, to);
    int failed = p->query(p->connection, query, &result);
    const char *why = failed ? p->result_error(&result) : "";
    snprintf(text, size, "%s", why ? why : "DuckDB failed");
    p->destroy_result(&result);
    free(query);
    free(from);
    free(to);
    free(list);
    return failed ? -1 : 0;
}

void parquet_close(parquet_writer *p)
{
    if (!p) return;
    if (p->connection) p->disconnect(&p->connection);
    if (p->database) p->close(&p->database);
    // The library stays loaded: threads of its own may still be running.
    free(p);
}
