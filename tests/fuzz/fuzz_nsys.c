/* Nsight Systems exports. The first byte chooses: the rest is a file as it is, or rows of the tables that such a file
   has, each value of any type. Whatever is in it: every event is counted or said to be left out, rows add up to their
   table, no GPU is busy longer than there was time, and (of one input in 32) two files of the same make twice as much. */
#define _GNU_SOURCE
#include "expect.h"
#include "input.h"
#include "analysis/base/json_values.h"
#include "analysis/nsys/nsys.h"

#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS = 300, RUNTIME = 0, KERNEL, GRAPH, MEMCPY, MEMSET, OSRT, NVTX, TABLES = 17 };

static const struct {
    const char *name;
    unsigned columns;
    const char *create;
} tables[TABLES] = {
    [RUNTIME] = {"CUPTI_ACTIVITY_KIND_RUNTIME", 4, "start INT, end INT, globalTid INT, nameId INT"},
    [KERNEL] = {"CUPTI_ACTIVITY_KIND_KERNEL", 6, "start, end, deviceId, globalPid, demangledName, shortName"},
    [GRAPH] = {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", 5, "start INT, end INT, deviceId INT, globalPid INT, graphId INT"},
    [MEMCPY] = {"CUPTI_ACTIVITY_KIND_MEMCPY", 6,
                "start INT, end INT, deviceId INT, globalPid INT, bytes INT, copyKind INT"},
    [MEMSET] = {"CUPTI_ACTIVITY_KIND_MEMSET", 5, "start INT, end INT, deviceId INT, globalPid INT, bytes INT"},
    [OSRT] = {"OSRT_API", 4, "start INT, end INT, globalTid INT, nameId INT"},
    [NVTX] = {"NVTX_EVENTS", 7,
              "start INT, end INT, globalTid INT, eventType INT, text TEXT, textId INT, domainId INT"},
    {"MPI_P2P_EVENTS", 5, "start INT, end INT, globalTid INT, textId INT, size INT"},
    {"MPI_COLLECTIVES_EVENTS", 7,
     "start INT, end INT, globalTid INT, textId INT, commHandle INT, size INT, recvSize INT"},
    {"MPI_START_WAIT_EVENTS", 4, "start INT, end INT, globalTid INT, textId INT"},
    {"MPI_RANKS", 2, "globalTid INT, rank INT"},
    {"MPI_COMMUNICATORS", 3, "rank INT, commHandle INT, size INT"},
    {"ENUM_CUDA_MEMCPY_OPER", 2, "id INT, label TEXT"},
    {"TARGET_INFO_GPU", 3, "id INT, name TEXT, busLocation TEXT"},
    {"TARGET_INFO_CUDA_DEVICE", 3, "gpuId INT, cudaId INT, pid INT"},
    {"TARGET_INFO_SESSION_START_TIME", 1, "utcEpochNs INT"},
    {"TARGET_INFO_SYSTEM_ENV", 2, "name TEXT, value TEXT"},
};
static const char *const texts[] = {"MPI_Barrier",
                                    "MPI_Allreduce",
                                    "ncclDevKernel_AllReduce",
                                    "void ncclKernel()",
                                    "k",
                                    "",
                                    "cudaFree_v3020",
                                    "\x1b[31m<b>&",
                                    "Hostname",
                                    "host",
                                    "12",
                                    "-3",
                                    "9223372036854775807"};
enum { TEXTS = sizeof texts / sizeof *texts };

/* What is used of SQLite, by sqlite3.h's types; its handles are opaque. */
static struct {
    int (*config)(int, ...);
    int (*open_v2)(const char *, void **, int, const char *);
    int (*exec)(void *, const char *, int (*)(void *, int, char **, char **), void *, char **);
    int (*prepare_v2)(void *, const char *, int, void **, const char **);
    int (*bind_null)(void *, int);
    int (*bind_int64)(void *, int, int64_t);
    int (*bind_double)(void *, int, double);
    int (*bind_text)(void *, int, const char *, int, void (*)(void *));
    int (*bind_blob)(void *, int, const void *, int, void (*)(void *));
    int (*step)(void *);
    int (*reset)(void *);
} sqlite;
enum { SQLITE_MULTITHREAD = 2, SQLITE_WRITTEN = 2 | 4, SQLITE_OK = 0, SQLITE_DONE = 101 };

static char directory[256], paths[2][300];
static char *empty; // a file of all tables without rows: every input's rows are written into a copy of it
static size_t empty_size;
static void *db, *inserts[TABLES]; // stays open, so that tables and statements are not parsed for each input

static void tidy(void)
{
    for (int i = 0; i < 2; i++)
        unlink(paths[i]);
    rmdir(directory);
}

static bool find(void *library, const char *name, void *to)
{
    void *found = library ? dlsym(library, name) : NULL;
    memcpy(to, &found, sizeof found);
    return found != NULL;
}

static bool find_sqlite(void)
{
    void *l = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    return find(l, "sqlite3_config", &sqlite.config) && find(l, "sqlite3_open_v2", &sqlite.open_v2) &&
           find(l, "sqlite3_exec", &sqlite.exec) && find(l, "sqlite3_prepare_v2", &sqlite.prepare_v2) &&
           find(l, "sqlite3_bind_null", &sqlite.bind_null) && find(l, "sqlite3_bind_int64", &sqlite.bind_int64) &&
           find(l, "sqlite3_bind_double", &sqlite.bind_double) && find(l, "sqlite3_bind_text", &sqlite.bind_text) &&
           find(l, "sqlite3_bind_blob", &sqlite.bind_blob) && find(l, "sqlite3_step", &sqlite.step) &&
           find(l, "sqlite3_reset", &sqlite.reset);
}

static void make_empty(void);

/* False where SQLite is not there. */
static bool start(void)
{
    static bool found;
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    if (*directory) return found;
    snprintf(directory, sizeof directory, "%s/netprof-fuzz-XXXXXX", base);
    expect(mkdtemp(directory) != NULL);
    for (int i = 0; i < 2; i++)
        snprintf(paths[i], sizeof paths[i], "%s/%d.sqlite", directory, i);
    atexit(tidy);
    found = find_sqlite();
    if (found) make_empty();
    return found;
}

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    expect(f != NULL);
    expect(!size || fwrite(data, 1, size, f) == size);
    expect(fclose(f) == 0);
}

static void bind_value(void *statement, int column, input *in)
{
    int failed;
    switch (input_take(in, 1) % 9) {
    case 0: failed = sqlite.bind_null(statement, column); break;
    case 1: failed = sqlite.bind_int64(statement, column, (int64_t)input_take(in, 1)); break;
    case 2: failed = sqlite.bind_int64(statement, column, (int64_t)(input_take(in, 8) & INT64_MAX)); break;
    case 3: failed = sqlite.bind_int64(statement, column, -(int64_t)input_take(in, 2)); break;
    case 4: failed = sqlite.bind_text(statement, column, texts[input_take(in, 1) % TEXTS], -1, NULL); break;
    case 5: failed = sqlite.bind_double(statement, column, (double)input_take(in, 2) + 0.5); break;
    case 6: failed = sqlite.bind_double(statement, column, (double)input_take(in, 2)); break;
    case 7: failed = sqlite.bind_int64(statement, column, (int64_t)(input_take(in, 2) << 24)); break; // a process
    default: failed = sqlite.bind_blob(statement, column, "\0\xff", 2, NULL);
    }
    expect(!failed);
}

static void run_sql(const char *text)
{
    expect(sqlite.exec(db, text, NULL, NULL, NULL) == SQLITE_OK);
}

static void make_tables(void)
{
    char *text = NULL;
    size_t size;
    FILE *sql = open_memstream(&text, &size);
    expect(sql != NULL);
    fputs("PRAGMA page_size=512; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN; CREATE TABLE StringIds (id "
          "INTEGER PRIMARY KEY, value TEXT);",
          sql);
    for (int i = 0; i < TEXTS; i++)
        fprintf(sql, "INSERT INTO StringIds VALUES (%d, '%s');", i, texts[i]);
    for (int i = 0; i < TABLES; i++)
        fprintf(sql, "CREATE TABLE %s (%s);", tables[i].name, tables[i].create);
    fputs("COMMIT;", sql);
    expect(fclose(sql) == 0);
    run_sql(text);
    free(text);
}

static void make_empty(void)
{
    char text[128];
    expect(sqlite.config(SQLITE_MULTITHREAD) == SQLITE_OK); // each connection has one thread: no lock for each call
    expect(sqlite.open_v2(paths[0], &db, SQLITE_WRITTEN, NULL) == SQLITE_OK);
    make_tables();
    for (int i = 0; i < TABLES; i++) {
        snprintf(text, sizeof text, "INSERT INTO %s VALUES (?%.*s)", tables[i].name, 2 * (int)(tables[i].columns - 1),
                 ",?,?,?,?,?,?,?,?,?");
        expect(sqlite.prepare_v2(db, text, -1, &inserts[i], NULL) == SQLITE_OK);
    }
    FILE *made = fopen(paths[0], "rb");
    empty = malloc(1 << 20);
    expect(made && empty);
    empty_size = fread(empty, 1, 1 << 20, made);
    expect(empty_size > 0 && empty_size < 1 << 20);
    fclose(made);
}

/* How many rows each table got. SQLite sees by the number of its changes that the file was put back. */
static void write_rows(input in, size_t counts[TABLES])
{
    write_file(paths[0], empty, empty_size);
    run_sql("BEGIN");
    for (int n = 0; n < ROWS && in.size; n++) {
        size_t t = input_take(&in, 1) % TABLES;
        for (unsigned c = 1; c <= tables[t].columns; c++)
            bind_value(inserts[t], (int)c, &in);
        expect(sqlite.step(inserts[t]) == SQLITE_DONE && sqlite.reset(inserts[t]) == SQLITE_OK);
        counts[t]++;
    }
    run_sql("COMMIT");
}

static void check_row(const nsys_table *t, const nsys_row *row)
{
    double low = (double)row->min, high = (double)row->max;
    expect(row->name && row->count && row->min <= row->max && row->max <= row->total);
    expect(row->mean >= low * (1 - 1e-9) && row->mean <= high * (1 + 1e-9) && row->deviation >= 0);
    expect(isnan(row->median) || (row->median >= low && row->median <= high));
    expect(t->total ? row->share >= 0 && row->share <= 1 + 1e-9 : isnan(row->share));
}

static void check_tables(nsys *n)
{
    for (int kind = 0; kind < NSYS_TABLES; kind++) {
        const nsys_table *t = nsys_table_of(n, (nsys_kind)kind);
        uint64_t count = 0;
        double share = 0;
        expect(t != NULL);
        for (size_t i = 0; i < t->row_count; i++) {
            check_row(t, &t->rows[i]);
            count += t->rows[i].count;
            share += t->rows[i].share;
        }
        expect(count == t->count && (!count || t->present || t->total == 0));
        expect(!t->row_count || !t->total || fabs(share - 1) < 1e-6);
    }
}

static void check_busy(const nsys *n)
{
    uint64_t all = (uint64_t)(n->end_ns - n->begin_ns);
    double columns[7];
    for (size_t g = 0; g < n->gpu_count; g++) {
        const nsys_gpu *gpu = &n->gpus[g];
        for (int what = 0; what < NSYS_BUSY; what++) {
            expect(gpu->busy_ns[what] <= all);
            for (size_t i = 0; i < n->bin_count; i++)
                expect(gpu->busy[what][i] >= 0 && gpu->busy[what][i] <= 1);
            nsys_busy_columns(n, gpu, what, n->begin_ns - 1000, n->end_ns + 1000, columns, 7);
            for (int c = 0; c < 7; c++)
                expect(isnan(columns[c]) || (columns[c] >= 0 && columns[c] <= 1));
        }
        expect(gpu->busy_ns[NSYS_BUSY_NCCL] <= gpu->busy_ns[NSYS_BUSY_KERNELS]);
    }
    expect(nsys_bin_begin(n, n->bin_count) == n->end_ns);
}

static void check_counts(const nsys *n, const size_t counts[TABLES])
{
    const struct {
        nsys_kind kind;
        size_t rows;
    } all[] = {{NSYS_API, counts[RUNTIME]},
               {NSYS_KERNELS, counts[KERNEL]},
               {NSYS_GRAPHS, counts[GRAPH]},
               {NSYS_MEMORY_TIME, counts[MEMCPY] + counts[MEMSET]},
               {NSYS_OSRT, counts[OSRT]}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        expect(n->tables[all[i].kind].count + n->tables[all[i].kind].left_out == all[i].rows);
    expect(n->tables[NSYS_NVTX].count + n->tables[NSYS_NVTX].left_out <= counts[NVTX]);
}

/* A copy of the first file is the second. */
static void copy_file(void)
{
    static char bytes[1 << 16];
    FILE *from = fopen(paths[0], "rb"), *to = fopen(paths[1], "wb");
    expect(from && to);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, from)) > 0;)
        expect(fwrite(bytes, 1, n, to) == n);
    expect(fclose(from) == 0 && fclose(to) == 0);
}

static void check_together(const nsys *one)
{
    const char *both[] = {paths[0], paths[1]};
    const nsys_options options = {.bins = 9};
    bool chosen[NSYS_TABLES];
    nsys_job job = {0};
    copy_file();
    expect(nsys_job_read(&job, both, 2, &options, NULL) == NETPROF_OK);
    for (int kind = 0; kind < NSYS_READ; kind++) {
        const nsys_table *t = &job.together.tables[kind];
        expect(t->count == 2 * one->tables[kind].count && t->left_out == 2 * one->tables[kind].left_out);
        expect(t->row_count == one->tables[kind].row_count);
    }
    check_tables(&job.together);
    expect(job.spent_count == 2 * one->process_count && job.clock_text);
    for (int kind = 0; kind < NSYS_TABLES; kind++)
        chosen[kind] = true;
    json_object *o = json_new_object();
    json_put(o, "file", nsys_json(&job.files[0], chosen));
    nsys_job_json(o, &job, chosen);
    expect(json_object_to_json_string(o) != NULL);
    json_object_put(o);
    nsys_job_free(&job);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t counts[TABLES] = {0};
    const nsys_options options = {.bins = 5};
    netprof_error error = {.code = NETPROF_OK};
    nsys n = {0};
    if (!start() || !size || size > 1 << 20) return 0;
    bool rows = *data & 1;
    if (rows)
        write_rows((input){data + 1, size - 1}, counts);
    else
        write_file(paths[0], data + 1, size - 1);
    netprof_err failed = nsys_read(&n, paths[0], &options, &error);
    expect(failed ? error.code == failed && *error.path && *error.text : n.path != NULL);
    expect(!rows || !failed);
    if (!failed) {
        check_tables(&n);
        check_busy(&n);
        if (rows) check_counts(&n, counts);
        if (size % 32 == 0) check_together(&n); // reads twice more
    }
    nsys_free(&n);
    return 0;
}
