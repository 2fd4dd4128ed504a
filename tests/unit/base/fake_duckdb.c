/* A made libduckdb.so: it notes what it is asked and answers what a test wrote into fake_duckdb. Signatures as in duckdb.h. */
#include "fake_duckdb.h"

#include <stdio.h>
#include <string.h>

typedef struct result {
    void *fields[5];
    const char *why;
} result;

__attribute__((visibility("default"))) fake_duckdb_state fake_duckdb;

int duckdb_open(const char *path, void **database)
{
    if (path || fake_duckdb.open_result) return 1;
    fake_duckdb.databases++;
    *database = &fake_duckdb.databases;
    return 0;
}

int duckdb_connect(void *database, void **connection)
{
    if (database != &fake_duckdb.databases || fake_duckdb.connect_result) return 1;
    fake_duckdb.connections++;
    *connection = &fake_duckdb.connections;
    return 0;
}

int duckdb_query(void *connection, const char *text, result *to)
{
    size_t used = strlen(fake_duckdb.queries);
    fake_duckdb.results++;
    *to = (result){{NULL}, fake_duckdb.why};
    if (connection != &fake_duckdb.connections) return 1;
    snprintf(fake_duckdb.queries + used, sizeof fake_duckdb.queries - used, "%s\n", text);
    if (!fake_duckdb.refuses || strncmp(text, fake_duckdb.refuses, strlen(fake_duckdb.refuses)) != 0) return 0;
    if (!fake_duckdb.refused) return 0;
    if (fake_duckdb.refused > 0) fake_duckdb.refused--;
    return 1;
}

const char *duckdb_result_error(result *of)
{
    return of->why;
}

void duckdb_destroy_result(result *of)
{
    fake_duckdb.results--;
    *of = (result){{NULL}, NULL};
}

void duckdb_disconnect(void **connection)
{
    if (*connection == &fake_duckdb.connections) fake_duckdb.connections--;
    *connection = NULL;
}

/* A connection that is left open keeps the database. */
void duckdb_close(void **database)
{
    if (*database == &fake_duckdb.databases && !fake_duckdb.connections) fake_duckdb.databases--;
    *database = NULL;
}
