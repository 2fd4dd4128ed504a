#define _POSIX_C_SOURCE 200809L // open_memstream
// SQLite: a table for each table, with indexes and views; those of values and rates are views (sink_sqlite_readings.h). Its integers end at 2^63-1: a larger value is NULL in its
// place, and the table beyond_int64 holds its 64 bits; printf('%llu', bits) is the exact number there.
#include "export/export.h"
#include "analysis/base/memory.h"

#include <stdlib.h>
#include <string.h>

#ifdef EXPORT_HAS_SQLITE
#include "sink_sqlite_readings.h"

#include <sqlite3.h>

typedef struct sqlite_state {
    export_sink *sink;
    sqlite3 *db;
    sqlite3_stmt *rows[EXPORT_TABLES], *beyond, *columns;
    sqlite_readings *readings; // NULL: neither values nor rates
    bool has[EXPORT_TABLES];   // the table, or the view in its place
} sqlite_state;

static const char setting_up[] =
    "PRAGMA page_size=8192; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-65536; BEGIN;"
    "CREATE TABLE export(key TEXT PRIMARY KEY, value TEXT);"
    "CREATE TABLE columns(table_name TEXT, column_name TEXT, type TEXT, unit TEXT);"
    "CREATE TABLE beyond_int64(table_name TEXT, row INTEGER, column_name TEXT, bits INTEGER,"
    " PRIMARY KEY(table_name, row, column_name)) WITHOUT ROWID;";

// Made if all the tables that they need exist.
static const struct {
    export_id needs[3];
    size_t count;
    const char *sql;
} extras[] = {
    {{EXPORT_COUNTERS}, 1, "CREATE INDEX counters_by_name ON counters(run, source, device, counter);"},
    {{EXPORT_REGION_RANKS}, 1, "CREATE INDEX region_ranks_by_region ON region_ranks(region, rank);"},
    {{EXPORT_REGION_COUNTERS}, 1, "CREATE INDEX region_counters_by_region ON region_counters(region, counter);"},
    {{EXPORT_FINDINGS}, 1, "CREATE INDEX findings_by_rule ON findings(rule, severity);"},
    // CROSS JOIN: few counters are chosen first, and their rates found by them.
    {{EXPORT_RATES, EXPORT_COUNTERS},
     2,
     // The counters that count a device's bytes, each way; NULL: not known in that interval.
     "CREATE VIEW device_rates AS SELECT r.run, r.host, r.source, r.device, r.from_ns, r.to_ns,"
     " max(CASE c.role WHEN 'bytes received' THEN r.rate_per_s END) AS received_bytes_per_s,"
     " max(CASE c.role WHEN 'bytes sent' THEN r.rate_per_s END) AS sent_bytes_per_s, max(r.lower_bound) AS "
     "lower_bound"
     " FROM counters c CROSS JOIN counter_rates r ON r.run = c.run AND r.source = c.source AND r.device = c.device"
     " AND r.counter = c.counter WHERE c.role IS NOT NULL"
     " GROUP BY r.run, r.host, r.source, r.device, r.from_ns, r.to_ns;"
     // Counters of trouble that grew, by unit: different units are never ranked together.
     "CREATE VIEW worst_counters AS SELECT c.unit, r.run, r.host, r.source, r.device, r.counter, sum(r.difference) "
     "AS total,"
     " max(r.rate_per_s) AS largest_rate_per_s, max(r.lower_bound OR r.difference IS NULL) AS lower_bound"
     " FROM counters c CROSS JOIN counter_rates r ON r.run = c.run AND r.source = c.source AND r.device = c.device"
     " AND r.counter = c.counter WHERE c.trouble = 1"
     " GROUP BY c.unit, r.run, r.host, r.source, r.device, r.counter HAVING total > 0 ORDER BY c.unit, total DESC;"},
    {{EXPORT_RATES, EXPORT_COUNTERS, EXPORT_DEVICES},
     3,
     // Each byte once: of the physical devices, those whose traffic no other device of the host shows; each run for
     // itself, for several runs of a host may have counted at the same time.
     "CREATE VIEW host_totals AS SELECT r.run, r.host, min(r.from_ns) AS from_ns, max(r.to_ns) AS to_ns,"
     " sum(CASE c.role WHEN 'bytes received' THEN r.difference END) AS bytes_received,"
     " sum(CASE c.role WHEN 'bytes sent' THEN r.difference END) AS bytes_sent,"
     " max(r.lower_bound OR r.difference IS NULL) AS lower_bound"
     " FROM devices d JOIN counters c ON c.run = d.run AND c.source = d.source AND c.device = d.device"
     " CROSS JOIN counter_rates r ON r.run = c.run AND r.source = c.source AND r.device = c.device"
     " AND r.counter = c.counter WHERE c.role IS NOT NULL AND d.physical = 1 AND d.repeats = 0 GROUP BY r.run, "
     "r.host;"},
};

static bool sink_sqlite_check(sqlite_state *q, int result)
{
    if (result == SQLITE_OK || result == SQLITE_DONE || result == SQLITE_ROW) return true;
    export_fail(q->sink, "SQLite: %s", sqlite3_errmsg(q->db));
    return false;
}

static bool sink_sqlite_execute(sqlite_state *q, const char *sql)
{
    return sink_sqlite_check(q, sqlite3_exec(q->db, sql, NULL, NULL, NULL));
}

static bool sink_sqlite_prepare(sqlite_state *q, sqlite3_stmt **statement, const char *sql)
{
    return sink_sqlite_check(q, sqlite3_prepare_v2(q->db, sql, -1, statement, NULL));
}

static bool sink_sqlite_step(sqlite_state *q, sqlite3_stmt *statement)
{
    bool good = sink_sqlite_check(q, sqlite3_step(statement));
    sqlite3_reset(statement);
    return good;
}

static void *sink_sqlite_open(export_sink *sink, const char *path)
{
    sqlite_state *q = memory_calloc(1, sizeof *q);
    q->sink = sink;
    if (!sink_sqlite_check(q, sqlite3_open_v2(path, &q->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL)))
        return q;
    if (sink_sqlite_execute(q, setting_up) &&
        sink_sqlite_execute(q, "INSERT INTO export VALUES('format', 'netprof-export'), ('version', '2')"))
        (void)(sink_sqlite_prepare(q, &q->beyond, "INSERT INTO beyond_int64 VALUES(?,?,?,?)") &&
               sink_sqlite_prepare(q, &q->columns, "INSERT INTO columns VALUES(?,?,?,?)"));
    return q;
}

static const char *sink_sqlite_type_of(export_type type)
{
    static const char *const types[] = {[EXPORT_TEXT] = "TEXT",   [EXPORT_NAME] = "TEXT",    [EXPORT_U64] = "INTEGER",
                                        [EXPORT_I64] = "INTEGER", [EXPORT_TIME] = "INTEGER", [EXPORT_F64] = "REAL"};
    return types[type];
}

static void sink_sqlite_describe(sqlite_state *q, const export_table *table, size_t i)
{
    static const char *const types[] = {[EXPORT_TEXT] = "text", [EXPORT_NAME] = "text",  [EXPORT_U64] = "uint64",
                                        [EXPORT_I64] = "int64", [EXPORT_TIME] = "int64", [EXPORT_F64] = "float64"};
    const char *const texts[] = {table->name, utf8(table->columns[i].name), types[table->columns[i].type],
                                 table->columns[i].unit};
    for (int k = 0; k < 4; k++)
        sqlite3_bind_text(q->columns, k + 1, utf8(texts[k]), -1, SQLITE_TRANSIENT);
    sink_sqlite_step(q, q->columns);
}

static void sink_sqlite_table(void *state, export_id id, const export_table *table)
{
    sqlite_state *q = state;
    char *create = NULL, *insert = NULL;
    size_t create_size, insert_size;
    int limit = sqlite3_limit(q->db, SQLITE_LIMIT_COLUMN, -1);
    if (table->column_count > (size_t)limit) {
        export_fail(q->sink,
                    "the wide table has %zu columns, and SQLite can have %d: choose counters with --include, or "
                    "leave --wide out",
                    table->column_count, limit);
        return;
    }
    FILE *c = memory_check(open_memstream(&create, &create_size)),
         *n = memory_check(open_memstream(&insert, &insert_size));
    fprintf(c, "CREATE TABLE \"%s\"(", table->name);
    fprintf(n, "INSERT INTO \"%s\" VALUES(", table->name);
    for (size_t i = 0; i < table->column_count; i++) {
        fputs(i ? ",\"" : "\"", c);
        for (const char *t = utf8(table->columns[i].name); *t; t++)
            fprintf(c, "%.*s", *t == '"' ? 2 : 1, *t == '"' ? "\"\"" : t);
        fprintf(c, "\" %s", sink_sqlite_type_of(table->columns[i].type));
        fputs(i ? ",?" : "?", n);
        sink_sqlite_describe(q, table, i);
    }
    fputs(")", c);
    fputs(")", n);
    if (fclose(c) || fclose(n)) memory_exhausted();
    q->has[id] = true;
    if (id == EXPORT_VALUES || id == EXPORT_RATES)
        q->readings = q->readings ? q->readings : sqlite_readings_open(q->sink, q->db);
    else if (sink_sqlite_execute(q, create))
        sink_sqlite_prepare(q, &q->rows[id], insert);
    free(create);
    free(insert);
}

static void sink_sqlite_keep_beyond(sqlite_state *q, const export_table *table, size_t i, uint64_t value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    sqlite3_bind_text(q->beyond, 1, table->name, -1, SQLITE_STATIC);
    sqlite3_bind_int64(q->beyond, 2, sqlite3_last_insert_rowid(q->db));
    sqlite3_bind_text(q->beyond, 3, utf8(table->columns[i].name), -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(q->beyond, 4, bits);
    sink_sqlite_step(q, q->beyond);
}

static bool sink_sqlite_is_beyond(const export_table *table, const export_cell *cells, size_t i)
{
    return cells[i].known && table->columns[i].type == EXPORT_U64 && cells[i].as.u64 > INT64_MAX;
}

static void sink_sqlite_row(void *state, export_id id, const export_table *table, const export_cell *cells)
{
    sqlite_state *q = state;
    sqlite3_stmt *row = q->rows[id];
    bool beyond = false;
    if (!row) {
        sqlite_readings_take(q->readings, id, cells);
        return;
    }
    for (size_t i = 0; i < table->column_count; i++) {
        int at = (int)i + 1;
        bool large = sink_sqlite_is_beyond(table, cells, i);
        beyond |= large;
        if (!cells[i].known || large) {
            sqlite3_bind_null(row, at);
            continue;
        }
        switch (table->columns[i].type) {
        case EXPORT_TEXT:
        case EXPORT_NAME: sqlite3_bind_text(row, at, utf8(cells[i].as.text), -1, SQLITE_TRANSIENT); break;
        case EXPORT_U64: sqlite3_bind_int64(row, at, (int64_t)cells[i].as.u64); break;
        case EXPORT_TIME:
        case EXPORT_I64: sqlite3_bind_int64(row, at, cells[i].as.i64); break;
        case EXPORT_F64: sqlite3_bind_double(row, at, cells[i].as.f64); break;
        }
    }
    if (!sink_sqlite_step(q, row) || !beyond) return;
    sqlite3_int64 rowid = sqlite3_last_insert_rowid(q->db);
    for (size_t i = 0; i < table->column_count; i++) {
        if (!sink_sqlite_is_beyond(table, cells, i)) continue;
        sink_sqlite_keep_beyond(q, table, i, cells[i].as.u64);
        sqlite3_set_last_insert_rowid(q->db, rowid);
    }
}

static void sink_sqlite_make_extras(sqlite_state *q)
{
    for (size_t i = 0; i < sizeof extras / sizeof *extras; i++) {
        bool all = true;
        for (size_t k = 0; k < extras[i].count; k++)
            all = all && q->has[extras[i].needs[k]];
        if (all && !sink_sqlite_execute(q, extras[i].sql)) return;
    }
}

static void sink_sqlite_close(void *state, bool finish)
{
    sqlite_state *q = state;
    bool good = !q->readings || !finish;
    if (!good) good = sqlite_readings_finish(q->readings, q->has[EXPORT_VALUES], q->has[EXPORT_RATES]);
    if (finish && good) sink_sqlite_make_extras(q);
    if (finish && !export_failed(q->sink)) sink_sqlite_execute(q, "PRAGMA analysis_limit=1000; COMMIT; ANALYZE;");
    for (int i = 0; i < EXPORT_TABLES; i++)
        sqlite3_finalize(q->rows[i]);
    sqlite3_finalize(q->beyond);
    sqlite3_finalize(q->columns);
    sqlite_readings_close(q->readings);
    if (sqlite3_close(q->db) && finish) export_fail(q->sink, "SQLite: %s", sqlite3_errmsg(q->db));
    free(q);
}

const export_driver export_sqlite = {.name = "sqlite",
                                     .open = sink_sqlite_open,
                                     .table = sink_sqlite_table,
                                     .row = sink_sqlite_row,
                                     .close = sink_sqlite_close};
#else
const export_driver export_sqlite = {.name = "sqlite", .missing = "sqlite3 (libsqlite3-dev)"};
#endif
