// SQLite files as Nsight Systems exports them, made row by row; include support.h first. SQLite's library is loaded, as
// the programs do: where it is missing, tests that need it are skipped.
#ifndef NETPROF_TESTS_NSYS_EXPORT_H
#define NETPROF_TESTS_NSYS_EXPORT_H

#include "support.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef struct export_file {
    void *sqlite, *db;
    int (*exec)(void *, const char *, void *, void *, char **);
} export_file;

SUPPORT void *export_function(void *sqlite, const char *name)
{
    void *found = dlsym(sqlite, name);
    assert_non_null(found);
    return found;
}

SUPPORT bool export_possible(void)
{
    void *sqlite = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    if (sqlite) dlclose(sqlite);
    return sqlite != NULL;
}

SUPPORT __attribute__((format(printf, 2, 3))) void export_sql(export_file *f, const char *format, ...)
{
    char text[8192], *error = NULL;
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    assert_true(n >= 0 && (size_t)n < sizeof text);
    if (f->exec(f->db, text, NULL, NULL, &error)) fail_msg("%s: %s", text, error ? error : "?");
}

#define EXPORT_CALL "start INT, end INT, globalTid INT, nameId INT"
#define EXPORT_GPU  "start INT, end INT, deviceId INT, globalPid INT"
#define EXPORT_MPI  "start INT, end INT, globalTid INT, textId INT"

// An empty file, with every table that is read.
SUPPORT export_file export_open(const char *path)
{
    export_file f = {.sqlite = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL)};
    int (*open)(const char *, void **, int, const char *);
    assert_non_null(f.sqlite);
    void *found = export_function(f.sqlite, "sqlite3_open_v2");
    memcpy(&open, &found, sizeof found);
    found = export_function(f.sqlite, "sqlite3_exec");
    memcpy(&f.exec, &found, sizeof found);
    assert_int_equal(open(path, &f.db, 2 | 4, NULL), 0); // to read and write, and created
    export_sql(&f, "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; BEGIN;"
                   "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)");
    return f;
}

SUPPORT void export_close(export_file *f)
{
    int (*close)(void *);
    export_sql(f, "COMMIT");
    void *found = export_function(f->sqlite, "sqlite3_close_v2");
    memcpy(&close, &found, sizeof found);
    assert_int_equal(close(f->db), 0);
    dlclose(f->sqlite);
}

// When the profile began, ns since 1970, and on which host.
SUPPORT void export_session(export_file *f, const char *host, long long begin_ns)
{
    export_sql(f,
               "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INT);"
               "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (%lld);"
               "CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);"
               "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('CpuCores', '64'), ('Hostname', '%s')",
               begin_ns, host);
}

// What the file calls a process, and a thread of it.
SUPPORT long long export_global(int pid)
{
    return (long long)pid << 24 | 7;
}

SUPPORT void export_rank(export_file *f, int pid, int rank)
{
    export_sql(f,
               "CREATE TABLE IF NOT EXISTS MPI_RANKS (globalTid INT, rank INT);"
               "INSERT INTO MPI_RANKS VALUES (%lld, %d)",
               export_global(pid), rank);
}

SUPPORT void export_string(export_file *f, int id, const char *text)
{
    export_sql(f, "INSERT OR IGNORE INTO StringIds VALUES (%d, '%s')", id, text);
}

// So many ns from `begin` on. Tables are made when they get their first event; names: of export_string().
SUPPORT void export_kernel(export_file *f, int pid, int device, int name, long long begin, long long ns)
{
    export_sql(f,
               "CREATE TABLE IF NOT EXISTS CUPTI_ACTIVITY_KIND_KERNEL (" EXPORT_GPU ", demangledName INT);"
               "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (%lld, %lld, %d, %lld, %d)",
               begin, begin + ns, device, export_global(pid), name);
}

SUPPORT void export_copy(export_file *f, int pid, int device, int kind, long long begin, long long ns, long long bytes)
{
    export_sql(f,
               "CREATE TABLE IF NOT EXISTS CUPTI_ACTIVITY_KIND_MEMCPY (" EXPORT_GPU ", copyKind INT, bytes INT);"
               "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (%lld, %lld, %d, %lld, %d, %lld)",
               begin, begin + ns, device, export_global(pid), kind, bytes);
}

// A call of the CUDA API ("CUPTI_ACTIVITY_KIND_RUNTIME") or of the operating system ("OSRT_API").
SUPPORT void export_call(export_file *f, const char *table, int pid, int name, long long begin, long long ns)
{
    export_sql(f,
               "CREATE TABLE IF NOT EXISTS %s (" EXPORT_CALL ");"
               "INSERT INTO %s VALUES (%lld, %lld, %lld, %d)",
               table, table, begin, begin + ns, export_global(pid), name);
}

// A collective of MPI.
SUPPORT void export_collective(export_file *f, int pid, int name, long long begin, long long ns, long long bytes)
{
    export_sql(f,
               "CREATE TABLE IF NOT EXISTS MPI_COLLECTIVES_EVENTS (" EXPORT_MPI ", size INT);"
               "INSERT INTO MPI_COLLECTIVES_EVENTS VALUES (%lld, %lld, %lld, %d, %lld)",
               begin, begin + ns, export_global(pid), name, bytes);
}

// A range of NVTX that was pushed (59) or started (60); ns < 0: it never ended.
SUPPORT void export_range(export_file *f, int pid, int type, const char *text, long long begin, long long ns)
{
    export_sql(f,
               "CREATE TABLE IF NOT EXISTS NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, globalTid INT);"
               "INSERT INTO NVTX_EVENTS VALUES (%lld, nullif(%lld, -1), %d, '%s', %lld)",
               begin, ns < 0 ? -1 : begin + ns, type, text, export_global(pid));
}

#endif
