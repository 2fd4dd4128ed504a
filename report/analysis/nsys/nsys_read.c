#define _POSIX_C_SOURCE 200809L // strdup
#include "nsys_private.h"
#include "nsys_sqlite.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A century after any beginning: sums of two such times stay within 64 bits.
#define LATEST_NS ((int64_t)1 << 62)
enum { DEFAULT_BINS = 120, MAX_BINS = 100000, MAX_DEVICES = 1024 };

static const struct {
    const char *title, *name, *unit, *counted;
} kinds[NSYS_TABLES] = {
    [NSYS_API] = {"CUDA API", "cuda_api_sum", "ns", "Num Calls"},
    [NSYS_KERNELS] = {"CUDA kernels", "cuda_gpu_kern_sum", "ns", "Instances"},
    [NSYS_MEMORY_TIME] = {"GPU memory operations by time", "cuda_gpu_mem_time_sum", "ns", "Count"},
    [NSYS_MEMORY_SIZE] = {"GPU memory operations by size", "cuda_gpu_mem_size_sum", "bytes", "Count"},
    [NSYS_NVTX] = {"NVTX ranges", "nvtx_sum", "ns", "Instances"},
    [NSYS_OSRT] = {"OS runtime libraries", "osrt_sum", "ns", "Num Calls"},
};

// Columns: begin, end, name (a text, or a number of StringIds that is not there), device, bytes, kind of copy. The
// first query that the file allows is taken: columns differ from version to version.
typedef struct event_source {
    const char *table;
    nsys_kind kind;
    int busy; // -1: not on a GPU
    const char *queries[5];
} event_source;

#define NAMED(column, table)                                                                                 \
    "SELECT e.start, e.end, coalesce(s.value, e." column "), NULL, NULL, NULL FROM " table                   \
    " e LEFT JOIN StringIds s ON s.id = e." column
#define KERNEL(column)                                                                                       \
    "SELECT e.start, e.end, coalesce(s.value, e." column                                                     \
    "), e.deviceId, NULL, NULL FROM CUPTI_ACTIVITY_KIND_KERNEL e"                                            \
    " LEFT JOIN StringIds s ON s.id = e." column
// Ranges that are pushed and popped, or started and ended (also those of a text file's import).
#define NVTX_RANGES " WHERE e.eventType IN (59, 60, 70, 71) AND e.end IS NOT NULL"

static const event_source sources[] = {
    {"CUPTI_ACTIVITY_KIND_RUNTIME",
     NSYS_API,
     -1,
     {NAMED("nameId", "CUPTI_ACTIVITY_KIND_RUNTIME"),
      "SELECT e.start, e.end, e.nameId, NULL, NULL, NULL FROM CUPTI_ACTIVITY_KIND_RUNTIME e", NULL}},
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     NSYS_KERNELS,
     NSYS_BUSY_KERNELS,
     {KERNEL("demangledName"), KERNEL("shortName"), KERNEL("mangledName"),
      "SELECT e.start, e.end, e.shortName, e.deviceId, NULL, NULL FROM CUPTI_ACTIVITY_KIND_KERNEL e", NULL}},
    {"CUPTI_ACTIVITY_KIND_MEMCPY",
     NSYS_MEMORY_TIME,
     NSYS_BUSY_MEMORY,
     {"SELECT start, end, NULL, deviceId, bytes, copyKind FROM CUPTI_ACTIVITY_KIND_MEMCPY", NULL}},
    {"CUPTI_ACTIVITY_KIND_MEMSET",
     NSYS_MEMORY_TIME,
     NSYS_BUSY_MEMORY,
     {"SELECT start, end, '[CUDA memset]', deviceId, bytes, NULL FROM CUPTI_ACTIVITY_KIND_MEMSET", NULL}},
    {"NVTX_EVENTS",
     NSYS_NVTX,
     -1,
     {"SELECT e.start, e.end, coalesce(e.text, s.value), NULL, NULL, NULL FROM NVTX_EVENTS e"
      " LEFT JOIN StringIds s ON s.id = e.textId" NVTX_RANGES,
      "SELECT e.start, e.end, e.text, NULL, NULL, NULL FROM NVTX_EVENTS e" NVTX_RANGES, NULL}},
    {"OSRT_API",
     NSYS_OSRT,
     -1,
     {NAMED("nameId", "OSRT_API"), "SELECT e.start, e.end, e.nameId, NULL, NULL, NULL FROM OSRT_API e",
      NULL}},
};

typedef struct reading {
    nsys *n;
    nsys_sqlite db;
    nsys_gather gathers[NSYS_TABLES];
    nsys_spans *gpus;
    size_t gpu_count;
    netprof_error *error;
} reading;

static netprof_err fail(const reading *r, netprof_err code, const char *text)
{
    if (!r->error) return code;
    *r->error = (netprof_error){.code = code};
    snprintf(r->error->path, sizeof r->error->path, "%s", r->n->path ? r->n->path : "");
    snprintf(r->error->text, sizeof r->error->text, "%s", text);
    return code;
}

// ---- one event ----

// CUpti_ActivityMemcpyKind
static const char *copy_name(long long kind)
{
    static const char *const names[] = {
        "[CUDA memcpy of unknown kind]", "[CUDA memcpy Host-to-Device]",  "[CUDA memcpy Device-to-Host]",
        "[CUDA memcpy Host-to-Array]",   "[CUDA memcpy Array-to-Host]",   "[CUDA memcpy Array-to-Array]",
        "[CUDA memcpy Array-to-Device]", "[CUDA memcpy Device-to-Array]", "[CUDA memcpy Device-to-Device]",
        "[CUDA memcpy Host-to-Host]",    "[CUDA memcpy Peer-to-Peer]"};
    return names[kind > 0 && kind < (long long)(sizeof names / sizeof *names) ? kind : 0];
}

// "cudaLaunchKernel_v7000": the version of the interface is no part of the name.
static void without_version(char *name)
{
    size_t n = strlen(name);
    if (n <= 6 || name[n - 6] != '_' || name[n - 5] != 'v') return;
    for (size_t i = n - 4; i < n; i++)
        if (!isdigit((unsigned char)name[i])) return;
    name[n - 6] = 0;
}

static bool is_nccl(const char *name)
{
    if (strncmp(name, "void ", 5) == 0) name += 5;
    return strncmp(name, "nccl", 4) == 0;
}

// free() it; NULL without memory.
static char *name_of(reading *r, void *row, const event_source *from)
{
    int type = r->db.column_type(row, 2);
    if (from->kind == NSYS_MEMORY_TIME && type != NSYS_SQLITE_TEXT)
        return strdup(copy_name(r->db.column_int64(row, 5)));
    const unsigned char *text = type == NSYS_SQLITE_TEXT ? r->db.column_text(row, 2) : NULL;
    char number[48] = "(no name)";
    if (type == NSYS_SQLITE_INTEGER)
        snprintf(number, sizeof number, "(name %lld)", r->db.column_int64(row, 2));
    char *name = strdup(text ? (const char *)text : number);
    if (name && from->kind == NSYS_API) without_version(name);
    return name;
}

// Is there a time that can be: whole numbers, and an end that is no leftover.
static bool read_span(reading *r, void *row, nsys_span *span)
{
    if (r->db.column_type(row, 0) != NSYS_SQLITE_INTEGER || r->db.column_type(row, 1) != NSYS_SQLITE_INTEGER)
        return false;
    *span = (nsys_span){r->db.column_int64(row, 0), r->db.column_int64(row, 1)};
    return span->begin >= 0 && span->end >= span->begin && span->end < LATEST_NS;
}

static bool add_gpu(reading *r, void *row, const event_source *from, nsys_span span, bool nccl)
{
    if (from->busy < 0) return true;
    int64_t device = r->db.column_int64(row, 3);
    bool known = false;
    for (size_t i = 0; i < r->gpu_count && !known; i++)
        known = r->gpus[i].device == device;
    if (!known && r->gpu_count == MAX_DEVICES)
        return true; // no such machine: the tables have it, the lanes do not
    if (!nsys_spans_add(&r->gpus, &r->gpu_count, device, from->busy, span)) return false;
    return !nccl || nsys_spans_add(&r->gpus, &r->gpu_count, device, NSYS_BUSY_NCCL, span);
}

static bool add_event(reading *r, void *row, const event_source *from)
{
    nsys_span span;
    nsys_table *table = &r->n->tables[from->kind], *sizes = &r->n->tables[NSYS_MEMORY_SIZE];
    if (!read_span(r, row, &span)) {
        table->left_out++;
        return true;
    }
    char *name = name_of(r, row, from);
    bool nccl = name && from->kind == NSYS_KERNELS && is_nccl(name);
    bool good = name &&
                nsys_gather_add(&r->gathers[from->kind], name, nccl, (uint64_t)(span.end - span.begin)) &&
                add_gpu(r, row, from, span, nccl);
    if (good && from->kind == NSYS_MEMORY_TIME) {
        long long bytes = r->db.column_int64(row, 4);
        if (r->db.column_type(row, 4) != NSYS_SQLITE_INTEGER || bytes < 0)
            sizes->left_out++;
        else
            good = nsys_gather_add(&r->gathers[NSYS_MEMORY_SIZE], name, false, (uint64_t)bytes);
    }
    free(name);
    return good;
}

static netprof_err read_events(reading *r, const event_source *from)
{
    if (!nsys_sqlite_has(&r->db, from->table)) return NETPROF_OK;
    void *rows = nsys_sqlite_query(&r->db, from->queries);
    int result;
    if (!rows) {
        char text[160];
        snprintf(text, sizeof text, "the table %s has other columns than those known", from->table);
        return fail(r, NETPROF_ERR_FORMAT, text);
    }
    r->n->tables[from->kind].present = true;
    if (from->kind == NSYS_MEMORY_TIME) r->n->tables[NSYS_MEMORY_SIZE].present = true;
    while ((result = r->db.step(rows)) == NSYS_SQLITE_ROW) {
        if (add_event(r, rows, from)) continue;
        r->db.finalize(rows);
        return fail(r, NETPROF_ERR_NOMEM, "no memory");
    }
    netprof_err err =
        result == NSYS_SQLITE_DONE ? NETPROF_OK : fail(r, NETPROF_ERR_DAMAGED, r->db.errmsg(r->db.db));
    r->db.finalize(rows);
    return err;
}

// ---- the session ----

static void read_session(reading *r)
{
    static const char *const begin[] = {"SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME", NULL};
    static const char *const host[] = {"SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'Hostname'",
                                       NULL};
    void *row =
        nsys_sqlite_has(&r->db, "TARGET_INFO_SESSION_START_TIME") ? nsys_sqlite_query(&r->db, begin) : NULL;
    if (row && r->db.step(row) == NSYS_SQLITE_ROW && r->db.column_type(row, 0) == NSYS_SQLITE_INTEGER)
        r->n->session_ns = r->db.column_int64(row, 0);
    if (r->n->session_ns < 0 || r->n->session_ns >= LATEST_NS) r->n->session_ns = 0;
    if (row) r->db.finalize(row);
    row = nsys_sqlite_has(&r->db, "TARGET_INFO_SYSTEM_ENV") ? nsys_sqlite_query(&r->db, host) : NULL;
    if (row && r->db.step(row) == NSYS_SQLITE_ROW && r->db.column_type(row, 0) == NSYS_SQLITE_TEXT)
        r->n->host = strdup((const char *)r->db.column_text(row, 0));
    if (row) r->db.finalize(row);
}

static netprof_err read_all(reading *r, size_t bins)
{
    netprof_err err = NETPROF_OK;
    bool any = false, good = true;
    read_session(r);
    for (size_t i = 0; i < sizeof sources / sizeof *sources && !err; i++)
        err = read_events(r, &sources[i]);
    for (int i = 0; i < NSYS_TABLES; i++)
        any |= r->n->tables[i].present;
    if (!err && !any && !nsys_sqlite_has(&r->db, "StringIds"))
        return fail(r, NETPROF_ERR_FORMAT, "holds no table of Nsight Systems (nsys export --type sqlite)");
    for (int i = 0; i < NSYS_TABLES && !err; i++)
        good = good && nsys_gather_end(&r->gathers[i], &r->n->tables[i]);
    if (!err && good) good = nsys_spans_end(r->n, r->gpus, r->gpu_count, bins);
    return err || good ? err : fail(r, NETPROF_ERR_NOMEM, "no memory");
}

netprof_err nsys_read(nsys *n, const char *path, const nsys_options *options, netprof_error *error)
{
    static const nsys_options defaults = {0};
    const nsys_options *o = options ? options : &defaults;
    reading r = {.n = n, .error = error};
    *n = (nsys){.path = strdup(path)};
    if (!n->path) return fail(&r, NETPROF_ERR_NOMEM, "no memory");
    if (o->end_zero || o->bins > MAX_BINS) {
        nsys_free(n);
        return fail(&r, NETPROF_ERR_ARG, "nsys_options was never initialised, or asks for too many bins");
    }
    for (int i = 0; i < NSYS_TABLES; i++) {
        nsys_table *t = &n->tables[i];
        t->title = kinds[i].title;
        t->name = kinds[i].name;
        t->unit = kinds[i].unit;
        t->counted = kinds[i].counted;
    }
    netprof_err err = nsys_sqlite_open(&r.db, path, error);
    if (!err) err = read_all(&r, o->bins ? o->bins : DEFAULT_BINS);
    nsys_sqlite_close(&r.db);
    for (int i = 0; i < NSYS_TABLES; i++)
        nsys_gather_free(&r.gathers[i]);
    nsys_spans_free(r.gpus, r.gpu_count);
    if (err) nsys_free(n);
    return err;
}

void nsys_free(nsys *n)
{
    for (int i = 0; i < NSYS_TABLES; i++) {
        for (size_t k = 0; k < n->tables[i].row_count; k++)
            free(n->tables[i].rows[k].name);
        free(n->tables[i].rows);
    }
    for (size_t i = 0; i < n->gpu_count; i++)
        for (int what = 0; what < NSYS_BUSY; what++)
            free(n->gpus[i].busy[what]);
    free(n->gpus);
    free(n->path);
    free(n->host);
    *n = (nsys){0};
}

bool nsys_in_file(const char *path)
{
    char head[16] = {0};
    FILE *file = strcmp(path, "-") == 0 ? NULL : fopen(path, "rbe");
    bool found =
        file && fread(head, 1, sizeof head, file) == sizeof head && memcmp(head, "SQLite format 3", 16) == 0;
    if (file) fclose(file);
    return found;
}

const char *nsys_busy_name(int what)
{
    static const char *const names[NSYS_BUSY] = {"kernels", "NCCL kernels", "memory operations"};
    return names[what];
}
