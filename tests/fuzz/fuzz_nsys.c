/* Nsight Systems exports. The first byte chooses: the rest is a file as it is, or rows of the tables that such a file
   has, of all or of a few of them, each value of any type. Whatever is in it: every event is counted or said to be left
   out, rows add up to their table, no GPU is busy longer than there was time, and (of one input in 32) two files of the
   same make twice as much. */
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

enum {
    ROWS = 300,
    RUNTIME = 0,
    KERNEL,
    GRAPH,
    MEMCPY,
    MEMSET,
    OSRT,
    NVTX,
    P2P,
    COLLECTIVES,
    WAITS,
    RANKS,
    COMMUNICATORS,
    OPERATIONS,
    GPUS,
    DEVICES,
    SESSION,
    ENVIRONMENT,
    TABLES,
    STRINGS = TABLES
};

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
    [P2P] = {"MPI_P2P_EVENTS", 5, "start INT, end INT, globalTid INT, textId INT, size INT"},
    [COLLECTIVES] = {"MPI_COLLECTIVES_EVENTS", 7,
                     "start INT, end INT, globalTid INT, textId INT, commHandle INT, size INT, recvSize INT"},
    [WAITS] = {"MPI_START_WAIT_EVENTS", 4, "start INT, end INT, globalTid INT, textId INT"},
    [RANKS] = {"MPI_RANKS", 2, "globalTid INT, rank INT"},
    [COMMUNICATORS] = {"MPI_COMMUNICATORS", 3, "rank INT, commHandle INT, size INT"},
    [OPERATIONS] = {"ENUM_CUDA_MEMCPY_OPER", 2, "id INT, label TEXT"},
    [GPUS] = {"TARGET_INFO_GPU", 3, "id INT, name TEXT, busLocation TEXT"},
    [DEVICES] = {"TARGET_INFO_CUDA_DEVICE", 3, "gpuId INT, cudaId INT, pid INT"},
    [SESSION] = {"TARGET_INFO_SESSION_START_TIME", 1, "utcEpochNs INT"},
    [ENVIRONMENT] = {"TARGET_INFO_SYSTEM_ENV", 2, "name TEXT, value TEXT"},
};

/* Which tables a file has, chosen by bits 1 to 4 of the first byte. A file of few is read in a third of the time. */
#define BIT(table) (UINT32_C(1) << (table))
static const uint32_t sets[] = {BIT(STRINGS) | (BIT(TABLES) - 1),
                                BIT(STRINGS) | BIT(KERNEL),
                                BIT(STRINGS) | BIT(RUNTIME),
                                BIT(STRINGS) | BIT(OSRT) | BIT(SESSION),
                                BIT(STRINGS) | BIT(GRAPH) | BIT(GPUS) | BIT(DEVICES),
                                BIT(STRINGS) | BIT(MEMCPY) | BIT(MEMSET) | BIT(OPERATIONS),
                                BIT(STRINGS) | BIT(NVTX),
                                BIT(STRINGS) | BIT(P2P) | BIT(RANKS),
                                BIT(STRINGS) | BIT(COLLECTIVES) | BIT(COMMUNICATORS) | BIT(RANKS),
                                BIT(STRINGS) | BIT(WAITS) | BIT(NVTX),
                                BIT(STRINGS) | BIT(KERNEL) | BIT(RUNTIME) | BIT(GPUS) | BIT(DEVICES) | BIT(ENVIRONMENT),
                                BIT(STRINGS) | BIT(KERNEL) | BIT(MEMCPY) | BIT(SESSION),
                                BIT(RUNTIME) | BIT(OSRT),
                                BIT(KERNEL),
                                BIT(NVTX) | BIT(MEMSET),
                                BIT(P2P) | BIT(COLLECTIVES) | BIT(WAITS)};
enum { SETS = sizeof sets / sizeof *sets };

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
enum { SQLITE_MULTITHREAD = 2, SQLITE_MEMSTATUS = 9, SQLITE_WRITTEN = 2 | 4, SQLITE_OK = 0, SQLITE_DONE = 101 };

/* A file of a set of tables. It stays open, so that tables and statements are not parsed for each input. */
typedef struct kept {
    char path[300];
    char *empty; // the file without rows: every input's rows are written into a copy of it
    size_t empty_size;
    void *db, *inserts[TABLES];
    uint8_t tables[TABLES], count; // those of the set
} kept;

static char directory[256], paths[2][300];
static kept files[SETS];

static void tidy(void)
{
    for (int i = 0; i < 2; i++)
        unlink(paths[i]);
    for (int i = 0; i < SETS; i++)
        if (files[i].db) unlink(files[i].path);
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
    if (!found) return false;
    expect(sqlite.config(SQLITE_MULTITHREAD) == SQLITE_OK);  // each connection has one thread: no lock for each call
    expect(sqlite.config(SQLITE_MEMSTATUS, 0) == SQLITE_OK); // and none for each allocation
    return true;
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

static void run_sql(const kept *f, const char *text)
{
    expect(sqlite.exec(f->db, text, NULL, NULL, NULL) == SQLITE_OK);
}

static void make_tables(const kept *f, uint32_t set)
{
    char *text = NULL;
    size_t size;
    FILE *sql = open_memstream(&text, &size);
    expect(sql != NULL);
    fputs("PRAGMA page_size=512; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;", sql);
    if (set & BIT(STRINGS)) {
        fputs("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);", sql);
        for (int i = 0; i < TEXTS; i++)
            fprintf(sql, "INSERT INTO StringIds VALUES (%d, '%s');", i, texts[i]);
    }
    for (int i = 0; i < f->count; i++)
        fprintf(sql, "CREATE TABLE %s (%s);", tables[f->tables[i]].name, tables[f->tables[i]].create);
    fputs("COMMIT;", sql);
    expect(fclose(sql) == 0);
    run_sql(f, text);
    free(text);
}

static kept *file_of(unsigned which)
{
    kept *f = &files[which];
    char text[128];
    if (f->db) return f;
    snprintf(f->path, sizeof f->path, "%s/set%u.sqlite", directory, which);
    expect(sqlite.open_v2(f->path, &f->db, SQLITE_WRITTEN, NULL) == SQLITE_OK);
    for (uint8_t t = 0; t < TABLES; t++)
        if (sets[which] & BIT(t)) f->tables[f->count++] = t;
    make_tables(f, sets[which]);
    for (int i = 0; i < f->count; i++) {
        uint8_t t = f->tables[i];
        snprintf(text, sizeof text, "INSERT INTO %s VALUES (?%.*s)", tables[t].name, 2 * (int)(tables[t].columns - 1),
                 ",?,?,?,?,?,?,?,?,?");
        expect(sqlite.prepare_v2(f->db, text, -1, &f->inserts[t], NULL) == SQLITE_OK);
    }
    FILE *made = fopen(f->path, "rb");
    f->empty = malloc(1 << 20);
    expect(made && f->empty);
    f->empty_size = fread(f->empty, 1, 1 << 20, made);
    expect(f->empty_size > 0 && f->empty_size < 1 << 20);
    fclose(made);
    return f;
}

/* How many rows each table got. SQLite sees by the number of its changes that the file was put back. */
static const char *write_rows(unsigned which, input in, size_t counts[TABLES])
{
    const kept *f = file_of(which);
    write_file(f->path, f->empty, f->empty_size);
    run_sql(f, "BEGIN");
    for (int n = 0; n < ROWS && in.size; n++) {
        unsigned t = f->tables[input_take(&in, 1) % f->count];
        for (unsigned c = 1; c <= tables[t].columns; c++)
            bind_value(f->inserts[t], (int)c, &in);
        expect(sqlite.step(f->inserts[t]) == SQLITE_DONE && sqlite.reset(f->inserts[t]) == SQLITE_OK);
        counts[t]++;
    }
    run_sql(f, "COMMIT");
    return f->path;
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

/* A copy of the file is the second. */
static void copy_file(const char *path)
{
    static char bytes[1 << 16];
    FILE *from = fopen(path, "rb"), *to = fopen(paths[1], "wb");
    expect(from && to);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, from)) > 0;)
        expect(fwrite(bytes, 1, n, to) == n);
    expect(fclose(from) == 0 && fclose(to) == 0);
}

static void check_together(const char *path, const nsys *one)
{
    const char *both[] = {path, paths[1]};
    const nsys_options options = {.bins = 9};
    bool chosen[NSYS_TABLES];
    nsys_job job = {0};
    copy_file(path);
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

/* One input in 32: by all its bytes, since lengths are mostly the longest that there may be. */
static bool is_chosen(const uint8_t *data, size_t size)
{
    uint32_t hash = 0;
    for (size_t i = 0; i < size; i++)
        hash = hash * 31 + data[i];
    return hash % 32 == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t counts[TABLES] = {0};
    const nsys_options options = {.bins = 5};
    netprof_error error = {.code = NETPROF_OK};
    nsys n = {0};
    if (!start() || !size || size > 1 << 20) return 0;
    bool rows = *data & 1;
    const char *path = paths[0];
    if (rows)
        path = write_rows(*data >> 1 & (SETS - 1), (input){data + 1, size - 1}, counts);
    else
        write_file(path, data + 1, size - 1);
    netprof_err failed = nsys_read(&n, path, &options, &error);
    expect(failed ? error.code == failed && *error.path && *error.text : n.path != NULL);
    expect(!rows || !failed);
    if (!failed) {
        check_tables(&n);
        check_busy(&n);
        if (rows) check_counts(&n, counts);
        if (is_chosen(data, size)) check_together(path, &n); // reads twice more
    }
    nsys_free(&n);
    return 0;
}
