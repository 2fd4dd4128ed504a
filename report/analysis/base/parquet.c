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
    const char *form; // of what is written, as COPY wants it
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

// Of what a version does not know there is its own way.
static void parquet_set(parquet_writer *p, const char *what)
{
    duck_result result = {{NULL}};
    p->query(p->connection, what, &result);
    p->destroy_result(&result);
}

parquet_writer *parquet_open(char *text, size_t size)
{
    const char *path = getenv("NETPROF_DUCKDB");
    parquet_writer *p = memory_calloc(1, sizeof *p);
    p->form = "FORMAT parquet, COMPRESSION zstd";
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
        // One thread reads the CSV anyway, and each more would hold a part of the rows in memory.
        parquet_set(p, "SET threads = 1");
        return p;
    }
    parquet_close(p);
    return NULL;
}

int parquet_as_arrow(parquet_writer *p, char *text, size_t size)
{
    duck_result result = {{NULL}};
    int failed = p->query(p->connection, "LOAD nanoarrow", &result);
    p->destroy_result(&result);
    p->form = "FORMAT ARROWS";
    if (failed)
        snprintf(text, size,
                 "DuckDB's extension nanoarrow is needed and not installed: INSTALL nanoarrow FROM community in "
                 "the same version of DuckDB");
    return failed ? -1 : 0;
}

// Doubles every quote, as SQL wants it in a text (') or in a name (").
static char *parquet_doubled(const char *text, char quote)
{
    char *copy = memory_alloc(2 * strlen(text) + 1), *to = copy;
    for (; *text; text++) {
        if (*text == quote) *to++ = quote;
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
        char *name = parquet_doubled(columns[i].name, '\'');
        fprintf(to, "%s'%s': '%s'", i ? ", " : "", name, columns[i].type);
        free(name);
    }
    if (fclose(to)) memory_exhausted();
    return text;
}

// All columns as they are read, but those that a function makes.
static char *parquet_selection(const parquet_column *columns, size_t count)
{
    char *text = NULL;
    size_t size, made = 0;
    FILE *to = memory_check(open_memstream(&text, &size));
    putc('*', to);
    for (size_t i = 0; i < count; i++) {
        if (!columns[i].made) continue;
        char *name = parquet_doubled(columns[i].name, '"');
        fprintf(to, "%s%s(\"%s\") AS \"%s\"", made++ ? ", " : " REPLACE (", columns[i].made, name, name);
        free(name);
    }
    if (made) putc(')', to);
    if (fclose(to)) memory_exhausted();
    return text;
}

int parquet_convert(parquet_writer *p, const char *csv, bool head, const char *file, const parquet_column *columns,
                    size_t count, char *text, size_t size)
{
    // Lines of many columns or long texts need more memory: as much as DuckDB takes by itself, and only then.
    static const struct {
        const char *memory;
        unsigned line; // DuckDB reads 16 of them at a time
    } tries[] = {{"SET memory_limit = '160MB'", 1u << 20}, {"SET memory_limit = '80%'", 1u << 26}};
    char *from = parquet_doubled(csv, '\''), *to = parquet_doubled(file, '\''),
         *list = parquet_column_list(columns, count), *selection = parquet_selection(columns, count);
    int failed = 1;
    for (size_t i = 0; failed && i < sizeof tries / sizeof *tries; i++) {
        duck_result result = {{NULL}};
        char *query = memory_format(
            "COPY (SELECT %s FROM read_csv('%s', header = %s, delim = ',', quote = '\"', escape = '\"', "
            "auto_detect = false, parallel = false, nullstr = '', allow_quoted_nulls = false, max_line_size = %u, "
            "columns = {%s})) TO '%s' (%s)",
            selection, from, head ? "true" : "false", tries[i].line, list, to, p->form);
        parquet_set(p, tries[i].memory);
        failed = p->query(p->connection, query, &result);
        const char *why = failed ? p->result_error(&result) : "";
        snprintf(text, size, "%s", why ? why : "DuckDB failed");
        p->destroy_result(&result);
        free(query);
    }
    free(from);
    free(to);
    free(list);
    free(selection);
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
