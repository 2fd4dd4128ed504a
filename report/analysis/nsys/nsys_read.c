#define _POSIX_C_SOURCE 200809L // strcasecmp
#include "nsys_reading.h"
#include "analysis/base/readable.h"
#include "analysis/base/memory.h"
#include "analysis/base/saturating_sum.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { DEFAULT_BINS = 120, MAX_BINS = 100000 };

#define TEXT_ID .names = {"textId", "nameId"}

// clang-format off
static const event_source sources[] = {
    {.table = "CUPTI_ACTIVITY_KIND_RUNTIME", .kind = NSYS_API, .busy = -1, .spent = NSYS_SPENT_API, .flags = API_VERSION,
     .names = {"nameId", "name"}},
    {.table = "CUPTI_ACTIVITY_KIND_KERNEL", .kind = NSYS_KERNELS, .busy = NSYS_BUSY_KERNELS, .spent = NSYS_SPENT_KERNELS,
     .names = {"demangledName", "shortName", "mangledName", "name"}},
    {.table = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", .kind = NSYS_GRAPHS, .busy = NSYS_BUSY_KERNELS, .spent = NSYS_SPENT_KERNELS,
     .flags = GRAPH, .names = {"graphId"}},
    {.table = "CUPTI_ACTIVITY_KIND_MEMCPY", .kind = NSYS_MEMORY_TIME, .busy = NSYS_BUSY_MEMORY, .spent = NSYS_SPENT_MEMORY,
     .bytes = "bytes", .copy_kind = "copyKind"},
    {.table = "CUPTI_ACTIVITY_KIND_MEMSET", .kind = NSYS_MEMORY_TIME, .busy = NSYS_BUSY_MEMORY, .spent = NSYS_SPENT_MEMORY,
     .bytes = "bytes", .fixed = "[CUDA memset]"},
    {.table = "NVTX_EVENTS", .kind = NSYS_NVTX, .busy = -1, .spent = -1, .of = OF_PUSHPOP, .names = {"textId"}},
    {.table = "MPI_P2P_EVENTS", .kind = NSYS_MPI, .busy = -1, .spent = NSYS_SPENT_MPI, .of = OF_P2P, .flags = EACH_ONCE, TEXT_ID},
    {.table = "MPI_COLLECTIVES_EVENTS", .kind = NSYS_MPI, .busy = -1, .spent = NSYS_SPENT_MPI, .of = OF_COLL,
     .flags = EACH_ONCE | MEETINGS, TEXT_ID},
    {.table = "MPI_START_WAIT_EVENTS", .kind = NSYS_MPI, .busy = -1, .spent = NSYS_SPENT_MPI, .of = OF_START_WAIT, .flags = EACH_ONCE,
     TEXT_ID},
    {.table = "MPI_OTHER_EVENTS", .kind = NSYS_MPI, .busy = -1, .spent = NSYS_SPENT_MPI, .of = OF_OTHER, .flags = EACH_ONCE, TEXT_ID},
    {.table = "MPI_P2P_EVENTS", .kind = NSYS_MPI_SIZE, .busy = -1, .spent = -1, .of = OF_P2P, .flags = MESSAGE_SIZE, TEXT_ID,
     .bytes = "size"},
    {.table = "MPI_COLLECTIVES_EVENTS", .kind = NSYS_MPI_SIZE, .busy = -1, .spent = -1, .of = OF_COLL_SEND, .flags = MESSAGE_SIZE,
     TEXT_ID, .bytes = "size"},
    {.table = "MPI_COLLECTIVES_EVENTS", .kind = NSYS_MPI_SIZE, .busy = -1, .spent = -1, .of = OF_COLL_RECV, .flags = MESSAGE_SIZE,
     TEXT_ID, .bytes = "recvSize"},
    {.table = "OSRT_API", .kind = NSYS_OSRT, .busy = -1, .spent = -1, .names = {"nameId", "name"}},
};
// clang-format on
#undef TEXT_ID

// Tables that hold what is not read.
static const char *const others[] = {"GPU_METRICS",
                                     "NET_NIC_METRIC",
                                     "NET_IB_SWITCH_METRIC",
                                     "UCP_SUBMIT_EVENTS",
                                     "SCHED_EVENTS",
                                     "COMPOSITE_EVENTS",
                                     "CUBLAS_EVENTS",
                                     "CUDNN_EVENTS",
                                     "CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS",
                                     "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"};

static netprof_err nsys_read_fail(const reading *r, netprof_err code, const char *text)
{
    if (!r->error) return code;
    *r->error = (netprof_error){.code = code};
    snprintf(r->error->path, sizeof r->error->path, "%s", r->n->path ? r->n->path : "");
    snprintf(r->error->text, sizeof r->error->text, "%s", text);
    return code;
}

// ---- the query: columns differ from version to version ----

typedef struct query {
    char text[1200];
    size_t used;
} query;

static void query_put(query *q, const char *text)
{
    size_t size = strlen(text);
    if (q->used + size >= sizeof q->text) return;
    memcpy(q->text + q->used, text, size + 1);
    q->used += size;
}

// The column, or NULL where the file has none.
static bool query_put_column(reading *r, query *q, const event_source *from, const char *column)
{
    bool has = column && nsys_sqlite_has_column(&r->db, from->table, column);
    query_put(q, ", ");
    query_put(q, has ? "e.\"" : "NULL");
    if (has) query_put(q, column), query_put(q, "\"");
    return has;
}

static void query_put_names(reading *r, query *q, const event_source *from)
{
    query_put(q, ", coalesce(");
    for (size_t i = 0; i < 4 && from->names[i]; i++) {
        if (!nsys_sqlite_has_column(&r->db, from->table, from->names[i])) continue;
        query_put(q, "e.\""), query_put(q, from->names[i]), query_put(q, "\", ");
    }
    query_put(q, "NULL, NULL)");
}

// Ranges that are pushed and popped, or started and ended (also those of a text file's import).
static const char nvtx_ranges[] = " WHERE e.eventType IN (59, 60, 70, 71)";

static bool query_make(reading *r, query *q, const event_source *from)
{
    bool nvtx = from->kind == NSYS_NVTX, sizes = from->flags & MESSAGE_SIZE;
    const char *global = nsys_sqlite_has_column(&r->db, from->table, "globalTid") ? "globalTid" : "globalPid";
    if (!nsys_sqlite_has_column(&r->db, from->table, "start") || !nsys_sqlite_has_column(&r->db, from->table, "end"))
        return false;
    query_put(q, from->flags & EACH_ONCE ? "SELECT DISTINCT e.start, e.end" : "SELECT e.start, e.end");
    query_put_names(r, q, from);
    query_put_column(r, q, from, nvtx ? "text" : NULL);
    query_put_column(r, q, from, from->busy >= 0 ? "deviceId" : NULL);
    query_put_column(r, q, from, global);
    bool has_bytes = query_put_column(r, q, from, from->bytes);
    query_put_column(r, q, from, from->copy_kind);
    bool typed = query_put_column(r, q, from, nvtx ? "eventType" : NULL);
    query_put_column(r, q, from, nvtx ? "domainId" : NULL);
    query_put_column(r, q, from, from->flags & MEETINGS ? "commHandle" : NULL);
    query_put(q, " FROM ");
    query_put(q, from->table);
    query_put(q, " e");
    if (typed) query_put(q, nvtx_ranges);
    if (nvtx && !typed) query_put(q, " WHERE e.end IS NOT NULL");
    if (from->flags & MEETINGS) query_put(q, " ORDER BY e.start"); // they are counted
    return has_bytes || !sizes;
}

static netprof_err nsys_read_events(reading *r, const event_source *from)
{
    query q = {.used = 0};
    int result;
    char text[160];
    if (!nsys_sqlite_has(&r->db, from->table)) return NETPROF_OK;
    bool known = query_make(r, &q, from);
    if (!known && from->flags & MESSAGE_SIZE) return NETPROF_OK; // older than the sizes
    void *rows = known ? nsys_sqlite_query(&r->db, q.text) : NULL;
    if (!rows) {
        snprintf(text, sizeof text, "the table %s has other columns than those known", from->table);
        return nsys_read_fail(r, NETPROF_ERR_FORMAT, text);
    }
    r->n->tables[from->kind].present = true;
    if (from->kind == NSYS_MEMORY_TIME) r->n->tables[NSYS_MEMORY_SIZE].present = true;
    if (from->spent >= 0) r->n->knows[from->spent] = true;
    if (from->kind == NSYS_KERNELS) r->n->knows[NSYS_SPENT_NCCL] = true;
    while ((result = r->db.step(rows)) == NSYS_SQLITE_ROW)
        nsys_event_add(r, rows, from);
    netprof_err err = NETPROF_OK;
    if (result != NSYS_SQLITE_DONE) {
        snprintf(text, sizeof text, "%s: %.100s", from->table, r->db.errmsg(r->db.db));
        err = nsys_read_fail(r, NETPROF_ERR_DAMAGED, text);
    }
    r->db.finalize(rows);
    return err;
}

// ---- the session ----

static char *nsys_read_first_text(reading *r, const char *table, const char *sql)
{
    void *row = nsys_sqlite_has(&r->db, table) ? nsys_sqlite_query(&r->db, sql) : NULL;
    char *text = row && r->db.step(row) == NSYS_SQLITE_ROW ? nsys_text(&r->names, row, 0) : NULL;
    if (row) r->db.finalize(row);
    return text;
}

static void nsys_read_session(reading *r)
{
    static const char version[] = "SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_PRODUCT_VERSION'";
    static const char older[] = "SELECT value FROM EXPORT_META_DATA WHERE name = 'EXPORT_PRODUCT_VERSION'";
    nsys *n = r->n;
    void *row = nsys_sqlite_has(&r->db, "TARGET_INFO_SESSION_START_TIME")
                    ? nsys_sqlite_query(&r->db, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME")
                    : NULL;
    if (row && r->db.step(row) == NSYS_SQLITE_ROW) nsys_sqlite_whole(&r->db, row, 0, &n->session_ns);
    if (n->session_ns < 0 || n->session_ns >= LATEST_SESSION_NS) n->session_ns = 0;
    if (row) r->db.finalize(row);
    n->host = nsys_read_first_text(r, "TARGET_INFO_SYSTEM_ENV",
                                   "SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'Hostname' COLLATE NOCASE");
    n->version = nsys_read_first_text(r, "META_DATA_EXPORT", version);
    if (!n->version) n->version = nsys_read_first_text(r, "EXPORT_META_DATA", older);
    for (size_t i = 0, count = 0; i < sizeof others / sizeof *others; i++)
        if (nsys_sqlite_any(&r->db, others[i])) n->not_read[count++] = others[i];
}

static int nsys_read_by_rank(const void *a, const void *b)
{
    const nsys_process *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < 0 ? 1 : y->rank < 0 ? -1 : x->rank > y->rank ? 1 : -1;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

// Of a node whose GPUs are all of one kind each is of that kind.
static const char *nsys_read_common_name(const nsys_names *names)
{
    const char *name = arrlenu(names->gpus) ? names->gpus[0].name : NULL;
    for (size_t i = 1; i < arrlenu(names->gpus) && name; i++)
        if (!names->gpus[i].name || strcmp(names->gpus[i].name, name) != 0) name = NULL;
    return name;
}

// A GPU whose number only one process uses needs no process in its name.
static void nsys_read_name_gpus(reading *r)
{
    nsys *n = r->n;
    for (size_t i = 0; i < n->gpu_count; i++) {
        nsys_gpu *gpu = &n->gpus[i];
        size_t same = 0;
        for (size_t k = 0; k < n->gpu_count; k++)
            same += n->gpus[k].device == gpu->device;
        const nsys_listed_gpu *listed = arrlenu(r->names.gpus) == 1 ? &r->names.gpus[0] : NULL;
        for (size_t k = 0; k < arrlenu(r->names.gpus) && gpu->pid == NSYS_KNOWN_GPU; k++)
            if (r->names.gpus[k].id == gpu->device) listed = &r->names.gpus[k];
        const char *name = listed ? listed->name : nsys_read_common_name(&r->names);
        gpu->name = nsys_keep(name);
        gpu->bus = nsys_keep(listed ? listed->bus : NULL);
        gpu->pid = same == 1 || gpu->pid < 0 ? NSYS_NO_PID : gpu->pid;
    }
}

// How many meetings of each kind every process had; 0 where processes differ, so that calls cannot be matched.
static void nsys_read_count_rounds(reading *r)
{
    bool differ[NSYS_MEETINGS] = {false};
    uint64_t *rounds = r->n->rounds;
    for (size_t i = 0; i < arrlenu(r->round_counts); i++) {
        const round_count *c = &r->round_counts[i];
        differ[c->kind] |= rounds[c->kind] && rounds[c->kind] != c->count;
        rounds[c->kind] = c->count;
    }
    for (size_t k = 0; k < NSYS_MEETINGS; k++)
        if (differ[k] || r->mixed) rounds[k] = 0;
}

// Events without a process belong to the only process, if there is just one.
static void nsys_read_join_unknown(nsys *n)
{
    if (n->process_count != 2 || (n->processes[0].pid != NSYS_NO_PID && n->processes[1].pid != NSYS_NO_PID)) return;
    size_t known = n->processes[0].pid == NSYS_NO_PID;
    for (int what = 0; what < NSYS_SPENT; what++) {
        uint64_t *to = &n->processes[known].spent_ns[what], ns = n->processes[!known].spent_ns[what];
        *to = sum_capped(*to, ns);
    }
    n->processes[0] = n->processes[known];
    n->process_count = 1;
}

static netprof_err nsys_read_all(reading *r, const nsys_options *options)
{
    netprof_err err = NETPROF_OK;
    bool any = false;
    r->names.db = &r->db;
    nsys_read_session(r);
    nsys_names_read(&r->names, &r->db);
    for (size_t i = 0; i < sizeof sources / sizeof *sources && !err; i++)
        err = nsys_read_events(r, &sources[i]);
    for (int i = 0; i < NSYS_READ; i++)
        any |= r->n->tables[i].present;
    if (!err && !any && !nsys_sqlite_has(&r->db, "StringIds"))
        return nsys_read_fail(r, NETPROF_ERR_FORMAT, "holds no table of Nsight Systems (nsys export --type sqlite)");
    if (err) return err;
    nsys_spans_end(r->n, r->gpus, options->bins ? options->bins : DEFAULT_BINS);
    for (int i = 0; i < NSYS_READ; i++)
        nsys_gather_end(&r->gathers[i], &r->n->tables[i], options->keep);
    nsys_read_name_gpus(r);
    nsys_read_count_rounds(r);
    r->n->ranks = r->names.largest_communicator;
    nsys_read_join_unknown(r->n);
    if (r->n->process_count) qsort(r->n->processes, r->n->process_count, sizeof *r->n->processes, nsys_read_by_rank);
    return NETPROF_OK;
}

static void nsys_read_end(reading *r)
{
    for (int i = 0; i < NSYS_READ; i++)
        nsys_gather_free(&r->gathers[i]);
    nsys_spans_free(r->gpus);
    hmfree(r->gpu_of);
    hmfree(r->process_of);
    hmfree(r->round_of);
    hmfree(r->communicators);
    hmfree(r->has_one);
    arrfree(r->round_counts);
    nsys_names_free(&r->names);
    nsys_sqlite_close(&r->db);
}

netprof_err nsys_read(nsys *n, const char *path, const nsys_options *options, netprof_error *error)
{
    static const nsys_options defaults = {0};
    const nsys_options *o = options ? options : &defaults;
    reading r = {.n = n, .error = error, .last_nvtx = -1};
    *n = (nsys){0};
    if (o->end_zero || o->bins > MAX_BINS) return nsys_read_fail(&r, NETPROF_ERR_ARG, "the options are not valid");
    n->path = memory_strdup(path);
    for (int i = 0; i < NSYS_TABLES; i++)
        nsys_table_start(&n->tables[i], (nsys_kind)i);
    netprof_err err = nsys_is_report(path) ? nsys_read_fail(&r, NETPROF_ERR_FORMAT, NSYS_EXPORT_FIRST)
                                           : nsys_sqlite_open(&r.db, path, error);
    if (!err) err = nsys_read_all(&r, o);
    nsys_read_end(&r);
    if (err) nsys_free(n);
    return err;
}

void nsys_free(nsys *n)
{
    for (int i = 0; i < NSYS_TABLES; i++)
        nsys_table_free(&n->tables[i]);
    for (size_t i = 0; i < n->gpu_count; i++) {
        free(n->gpus[i].name);
        free(n->gpus[i].bus);
        for (int what = 0; what < NSYS_BUSY; what++)
            free(n->gpus[i].busy[what]);
    }
    free(n->gpus);
    arrfree(n->processes);
    arrfree(n->meetings);
    free(n->path);
    free(n->host);
    free(n->version);
    *n = (nsys){0};
}

static bool nsys_read_head(const char *path, char head[16])
{
    errno = 0;
    FILE *file = readable_stream(path);
    if (!file && errno == ENOMEM) memory_exhausted();
    bool got = file && fread(head, 1, 16, file) == 16;
    if (file) fclose(file);
    return got;
}

bool nsys_in_file(const char *path)
{
    char head[16];
    return nsys_read_head(path, head) && memcmp(head, "SQLite format 3", 16) == 0;
}

bool nsys_is_report(const char *path)
{
    static const char *const endings[] = {".nsys-rep", ".qdrep", ".qdstrm"};
    size_t size = strlen(path);
    bool named = false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        named |= size > n && strcasecmp(path + size - n, endings[i]) == 0;
    }
    FILE *file = named ? readable_stream(path) : NULL; // a missing file is reported as missing
    if (file) fclose(file);
    return file && !nsys_in_file(path);
}

const char *nsys_spent_name(int what)
{
    static const char *const names[NSYS_SPENT] = {"kernels", "NCCL kernels", "memory operations", "MPI", "CUDA API"};
    return names[what];
}
