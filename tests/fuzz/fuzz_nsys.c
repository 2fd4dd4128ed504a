/* Nsight Systems exports. The first byte chooses: the rest is a file as it is, or rows of the tables that such a file
   has, each value of any type. Whatever is in it: every event is counted or said to be left out, rows add up to their
   table, no GPU is busy longer than there was time, and two files of the same make twice as much. */
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

enum { ROWS = 300, COLUMNS = 10, RUNTIME = 0, KERNEL, GRAPH, MEMCPY, MEMSET, OSRT, NVTX, TABLES = 17 };

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

static char directory[256], paths[2][300];
static char *empty; // a file of all tables without rows: made once, for that takes longer than filling it
static size_t empty_size;
static int (*open_v2)(const char *, void **, int, const char *);
static int (*close_v2)(void *);
static int (*exec)(void *, const char *, int (*)(void *, int, char **, char **), void *, char **);

static void tidy(void)
{
    for (int i = 0; i < 2; i++)
        unlink(paths[i]);
    rmdir(directory);
}

static void find(void *library, const char *name, void *to)
{
    void *found = library ? dlsym(library, name) : NULL;
    memcpy(to, &found, sizeof found);
}

static void make_empty(void);

static void start(void)
{
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    if (*directory) return;
    snprintf(directory, sizeof directory, "%s/netprof-fuzz-XXXXXX", base);
    expect(mkdtemp(directory) != NULL);
    for (int i = 0; i < 2; i++)
        snprintf(paths[i], sizeof paths[i], "%s/%d.sqlite", directory, i);
    atexit(tidy);
    void *library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    find(library, "sqlite3_open_v2", &open_v2);
    find(library, "sqlite3_close_v2", &close_v2);
    find(library, "sqlite3_exec", &exec);
    if (exec) make_empty();
}

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    expect(f != NULL);
    expect(!size || fwrite(data, 1, size, f) == size);
    expect(fclose(f) == 0);
}

static void put_value(FILE *sql, input *in)
{
    switch (input_take(in, 1) % 9) {
    case 0: fputs("NULL", sql); break;
    case 1: fprintf(sql, "%u", (unsigned)input_take(in, 1)); break;
    case 2: fprintf(sql, "%lld", (long long)(input_take(in, 8) & INT64_MAX)); break;
    case 3: fprintf(sql, "-%u", (unsigned)input_take(in, 2)); break;
    case 4: fprintf(sql, "'%s'", texts[input_take(in, 1) % TEXTS]); break;
    case 5: fprintf(sql, "%u.5", (unsigned)input_take(in, 2)); break;
    case 6: fprintf(sql, "%u.0", (unsigned)input_take(in, 2)); break;
    case 7: fprintf(sql, "%llu", (unsigned long long)(input_take(in, 2) << 24)); break; // a process
    default: fputs("x'00ff'", sql); break;
    }
}

static void run_sql(const char *text)
{
    void *db = NULL;
    expect(open_v2(paths[0], &db, 6, NULL) == 0); // to be written, made where it is not there
    expect(exec(db, text, NULL, NULL, NULL) == 0);
    expect(close_v2(db) == 0);
}

static void make_empty(void)
{
    char *text = NULL;
    size_t size;
    FILE *sql = open_memstream(&text, &size);
    expect(sql != NULL);
    fputs("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN; CREATE TABLE StringIds (id INTEGER PRIMARY KEY, "
          "value TEXT);",
          sql);
    for (int i = 0; i < TEXTS; i++)
        fprintf(sql, "INSERT INTO StringIds VALUES (%d, '%s');", i, texts[i]);
    for (int i = 0; i < TABLES; i++)
        fprintf(sql, "CREATE TABLE %s (%s);", tables[i].name, tables[i].create);
    fputs("COMMIT;", sql);
    expect(fclose(sql) == 0);
    run_sql(text);
    free(text);
    FILE *made = fopen(paths[0], "rb");
    empty = malloc(1 << 20);
    expect(made && empty);
    empty_size = fread(empty, 1, 1 << 20, made);
    expect(empty_size > 0 && empty_size < 1 << 20);
    fclose(made);
}

/* How many rows each table got. */
static void write_rows(input in, size_t counts[TABLES])
{
    char *text = NULL;
    size_t size;
    FILE *sql = open_memstream(&text, &size);
    expect(sql != NULL);
    fputs("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;", sql);
    for (int n = 0; n < ROWS && in.size; n++) {
        size_t t = input_take(&in, 1) % TABLES;
        fprintf(sql, "INSERT INTO %s VALUES (", tables[t].name);
        for (unsigned c = 0; c < tables[t].columns; c++) {
            if (c) putc(',', sql);
            put_value(sql, &in);
        }
        fputs(");", sql);
        counts[t]++;
    }
    fputs("COMMIT;", sql);
    expect(fclose(sql) == 0);
    write_file(paths[0], empty, empty_size);
    run_sql(text);
    free(text);
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
    start();
    if (!size || size > 1 << 20 || !exec) return 0;
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
        check_together(&n);
    }
    nsys_free(&n);
    return 0;
}
