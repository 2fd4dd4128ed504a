/* What the made libduckdb.so notes, and how it answers: found by dlsym() under the name "fake_duckdb". */
#ifndef FAKE_DUCKDB_H
#define FAKE_DUCKDB_H

enum { FAKE_DUCKDB_TEXT = 8000 };

typedef struct fake_duckdb_state {
    int open_result, connect_result;
    int databases, connections, results; /* that are open */
    int refused;                         /* so many of the queries that begin with `refuses` fail; -1: all */
    const char *refuses, *why;           /* why: of one that failed; may be NULL */
    char queries[FAKE_DUCKDB_TEXT];      /* each a line */
} fake_duckdb_state;

extern fake_duckdb_state fake_duckdb;

#endif
