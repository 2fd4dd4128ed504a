#define _POSIX_C_SOURCE 200809L // strdup
#include "nsys_private.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// A century after any beginning: sums of two such times stay within 64 bits.
#define LATEST_NS ((int64_t)1 << 62)
enum { DEFAULT_BINS = 120, MAX_BINS = 100000, MAX_GPUS = 1024, MAX_PROCESSES = 65536, MAX_MEETINGS = 4096 };

// What of a row is asked for, and where it stands.
enum {
    AT_BEGIN = 0,
    AT_END,
    AT_NAME,
    AT_TEXT,
    AT_DEVICE,
    AT_GLOBAL,
    AT_BYTES,
    AT_KIND,
    AT_TYPE,
    AT_DOMAIN,
    AT_COLUMNS
};

enum {
    EACH_ONCE =
        1, // a call has a row for each of its requests or directions: rows that are alike are one call
    API_VERSION = 2,  // "cudaLaunchKernel_v7000": the version of the interface is no part of the name
    MESSAGE_SIZE = 4, // what counts is the size alone; rows without one are of no message
    GRAPH = 8,        // named by the number of a graph
    MEETINGS = 16     // may be a call that nobody leaves before everybody entered it
};

enum {
    OF_NONE = 0,
    OF_PUSHPOP,
    OF_STARTEND,
    OF_P2P,
    OF_COLL,
    OF_START_WAIT,
    OF_OTHER,
    OF_COLL_SEND,
    OF_COLL_RECV
};
static const char *const of_names[] = {NULL,         "PushPop", "StartEnd",  "p2p",      "coll",
                                       "start_wait", "other",   "coll_send", "coll_recv"};

typedef struct event_source {
    const char *table;
    nsys_kind kind;
    int busy;  // -1: not on a GPU
    int spent; // -1: none
    int of;
    unsigned flags;
    const char *names[4];          // columns: the first that holds something names the event
    const char *bytes, *copy_kind; // columns
    const char *fixed;             // the name of all
} event_source;

static const event_source sources[] = {
    {"CUPTI_ACTIVITY_KIND_RUNTIME",
     NSYS_API,
     -1,
     NSYS_SPENT_API,
     OF_NONE,
     API_VERSION,
     {"nameId", "name"},
     NULL,
     NULL,
     NULL},
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     NSYS_KERNELS,
     NSYS_BUSY_KERNELS,
     NSYS_SPENT_KERNELS,
     OF_NONE,
     0,
     {"demangledName", "shortName", "mangledName", "name"},
     NULL,
     NULL,
     NULL},
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
     NSYS_GRAPHS,
     NSYS_BUSY_KERNELS,
     NSYS_SPENT_KERNELS,
     OF_NONE,
     GRAPH,
     {"graphId"},
     NULL,
     NULL,
     NULL},
    {"CUPTI_ACTIVITY_KIND_MEMCPY",
     NSYS_MEMORY_TIME,
     NSYS_BUSY_MEMORY,
     NSYS_SPENT_MEMORY,
     OF_NONE,
     0,
     {NULL},
     "bytes",
     "copyKind",
     NULL},
    {"CUPTI_ACTIVITY_KIND_MEMSET",
     NSYS_MEMORY_TIME,
     NSYS_BUSY_MEMORY,
     NSYS_SPENT_MEMORY,
     OF_NONE,
     0,
     {NULL},
     "bytes",
     NULL,
     "[CUDA memset]"},
    {"NVTX_EVENTS", NSYS_NVTX, -1, -1, OF_PUSHPOP, 0, {"textId"}, NULL, NULL, NULL},
    {"MPI_P2P_EVENTS",
     NSYS_MPI,
     -1,
     NSYS_SPENT_MPI,
     OF_P2P,
     EACH_ONCE,
     {"textId", "nameId"},
     NULL,
     NULL,
     NULL},
    {"MPI_COLLECTIVES_EVENTS",
     NSYS_MPI,
     -1,
     NSYS_SPENT_MPI,
     OF_COLL,
     EACH_ONCE | MEETINGS,
     {"textId", "nameId"},
     NULL,
     NULL,
     NULL},
    {"MPI_START_WAIT_EVENTS",
     NSYS_MPI,
     -1,
     NSYS_SPENT_MPI,
     OF_START_WAIT,
     EACH_ONCE,
     {"textId", "nameId"},
     NULL,
     NULL,
     NULL},
    {"MPI_OTHER_EVENTS",
     NSYS_MPI,
     -1,
     NSYS_SPENT_MPI,
     OF_OTHER,
     EACH_ONCE,
     {"textId", "nameId"},
     NULL,
     NULL,
     NULL},
    {"MPI_P2P_EVENTS", NSYS_MPI_SIZE, -1, -1, OF_P2P, MESSAGE_SIZE, {"textId", "nameId"}, "size", NULL, NULL},
    {"MPI_COLLECTIVES_EVENTS",
     NSYS_MPI_SIZE,
     -1,
     -1,
     OF_COLL_SEND,
     MESSAGE_SIZE,
     {"textId", "nameId"},
     "size",
     NULL,
     NULL},
    {"MPI_COLLECTIVES_EVENTS",
     NSYS_MPI_SIZE,
     -1,
     -1,
     OF_COLL_RECV,
     MESSAGE_SIZE,
     {"textId", "nameId"},
     "recvSize",
     NULL,
     NULL},
    {"OSRT_API", NSYS_OSRT, -1, -1, OF_NONE, 0, {"nameId", "name"}, NULL, NULL, NULL},
};

// Tables that hold what is not read.
static const char *const others[] = {"GPU_METRICS",
                                     "NET_NIC_METRIC",
                                     "NET_IB_SWITCH_METRIC",
                                     "UCP_SUBMIT_EVENTS",
                                     "SCHED_EVENTS",
                                     "COMPOSITE_EVENTS",
                                     "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"};

typedef struct turn_count {
    size_t kind;
    uint64_t count;
} turn_count;

typedef struct reading {
    nsys *n;
    nsys_sqlite db;
    nsys_names names;
    nsys_gather gathers[NSYS_READ];
    nsys_spans *gpus;
    size_t gpu_count, last_gpu;
    nsys_ids gpu_of, process_of; // (device, process), process
    nsys_ids turns;              // (kind of meeting, process): how many there were
    turn_count *turn_counts;
    size_t turn_count;
    size_t last_process;
    int64_t last_nvtx; // -1: not looked for
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

// ---- the query: columns differ from version to version ----

typedef struct query {
    char text[1200];
    size_t used;
} query;

static void put(query *q, const char *text)
{
    size_t size = strlen(text);
    if (q->used + size >= sizeof q->text) return;
    memcpy(q->text + q->used, text, size + 1);
    q->used += size;
}

// The column, or NULL where the file has none.
static bool put_column(reading *r, query *q, const event_source *from, const char *column)
{
    bool has = column && nsys_sqlite_has_column(&r->db, from->table, column);
    put(q, ", ");
    put(q, has ? "e.\"" : "NULL");
    if (has) put(q, column), put(q, "\"");
    return has;
}

static void put_names(reading *r, query *q, const event_source *from)
{
    size_t count = 0;
    put(q, ", coalesce(");
    for (size_t i = 0; i < 4 && from->names[i]; i++) {
        if (!nsys_sqlite_has_column(&r->db, from->table, from->names[i])) continue;
        put(q, "e.\""), put(q, from->names[i]), put(q, "\", ");
        count++;
    }
    put(q, "NULL, NULL)");
}

// Ranges that are pushed and popped, or started and ended (also those of a text file's import).
static const char nvtx_ranges[] = " WHERE e.eventType IN (59, 60, 70, 71)";

static bool make_query(reading *r, query *q, const event_source *from)
{
    bool nvtx = from->kind == NSYS_NVTX, sizes = from->flags & MESSAGE_SIZE;
    const char *global = nsys_sqlite_has_column(&r->db, from->table, "globalTid") ? "globalTid" : "globalPid";
    if (!nsys_sqlite_has_column(&r->db, from->table, "start") ||
        !nsys_sqlite_has_column(&r->db, from->table, "end"))
        return false;
    put(q, from->flags & EACH_ONCE ? "SELECT DISTINCT e.start, e.end" : "SELECT e.start, e.end");
    put_names(r, q, from);
    put_column(r, q, from, nvtx ? "text" : NULL);
    put_column(r, q, from, from->busy >= 0 ? "deviceId" : NULL);
    put_column(r, q, from, global);
    bool has_bytes = put_column(r, q, from, from->bytes);
    put_column(r, q, from, from->copy_kind);
    bool typed = put_column(r, q, from, nvtx ? "eventType" : NULL);
    put_column(r, q, from, nvtx ? "domainId" : NULL);
    put(q, " FROM ");
    put(q, from->table);
    put(q, " e");
    if (typed) put(q, nvtx_ranges);
    if (nvtx && !typed) put(q, " WHERE e.end IS NOT NULL");
    return has_bytes || !sizes;
}

// ---- one event ----

static void without_version(char *name)
{
    size_t n = strlen(name);
    if (n <= 6 || name[n - 6] != '_' || name[n - 5] != 'v') return;
    for (size_t i = n - 4; i < n; i++)
        if (!isdigit((unsigned char)name[i])) return;
    name[n - 6] = 0;
}

static char *text_at(reading *r, void *row, int column)
{
    bool text = r->db.column_type(row, column) == NSYS_SQLITE_TEXT;
    const unsigned char *found = text ? r->db.column_text(row, column) : NULL;
    return found ? strdup((const char *)found) : NULL;
}

static char *join(const char *a, const char *between, char *b)
{
    size_t size = b ? strlen(a) + strlen(between) + strlen(b) + 1 : 0;
    char *text = size ? malloc(size) : NULL;
    if (text) snprintf(text, size, "%s%s%s", a, between, b);
    free(b);
    return text;
}

static bool is_id(reading *r, void *row, int64_t *id)
{
    return r->db.column_type(row, AT_NAME) == NSYS_SQLITE_INTEGER &&
           nsys_sqlite_whole(&r->db, row, AT_NAME, id);
}

static char *graph_name(reading *r, void *row)
{
    int64_t id;
    char text[48] = "graph";
    if (is_id(r, row, &id)) snprintf(text, sizeof text, "graph %lld", (long long)id);
    return strdup(text);
}

// By a number of the file's strings, or in the row itself; some versions write 0 for no number.
static char *written_name(reading *r, void *row, const event_source *from)
{
    int64_t id;
    bool numbered = is_id(r, row, &id);
    char *name = numbered ? nsys_string(&r->names, id) : text_at(r, row, AT_NAME);
    if (!name) name = text_at(r, row, AT_TEXT);
    if (name) return name;
    return numbered ? nsys_number(id) : strdup(from->kind == NSYS_NVTX ? "" : "(no name)");
}

// free() it; NULL without memory.
static char *name_of(reading *r, void *row, const event_source *from)
{
    int64_t kind = 0, domain = 0, global = 0;
    if (from->fixed) return strdup(from->fixed);
    if (from->flags & GRAPH) return graph_name(r, row);
    if (from->copy_kind) {
        nsys_sqlite_whole(&r->db, row, AT_KIND, &kind);
        return nsys_copy_name(&r->names, kind);
    }
    char *name = written_name(r, row, from);
    if (name && from->flags & API_VERSION) without_version(name);
    if (from->kind != NSYS_NVTX) return name;
    if (nsys_sqlite_whole(&r->db, row, AT_DOMAIN, &domain))
        nsys_sqlite_whole(&r->db, row, AT_GLOBAL, &global);
    return join(nsys_domain(&r->names, domain, global), ":", name);
}

static int of_row(reading *r, void *row, const event_source *from)
{
    int64_t type = 59;
    if (from->kind != NSYS_NVTX) return from->of;
    nsys_sqlite_whole(&r->db, row, AT_TYPE, &type);
    return type == 60 || type == 71 ? OF_STARTEND : OF_PUSHPOP;
}

// The group that the row belongs to: by the number of its name where that was seen already, else by its name.
static size_t group_of(reading *r, void *row, const event_source *from)
{
    nsys_gather *g = &r->gathers[from->kind];
    int64_t id = 0, domain = 0, global = 0, what;
    int of = of_row(r, row, from);
    bool numbered = from->copy_kind ? nsys_sqlite_whole(&r->db, row, AT_KIND, &id)
                                    : !from->fixed && is_id(r, row, &id) &&
                                          r->db.column_type(row, AT_TEXT) != NSYS_SQLITE_TEXT;
    if (from->kind == NSYS_NVTX && nsys_sqlite_whole(&r->db, row, AT_DOMAIN, &domain)) {
        nsys_sqlite_whole(&r->db, row, AT_GLOBAL, &global);
        domain = (int64_t)nsys_ids_find(&r->names.domain_of, domain, nsys_pid(global)) + 1;
    }
    what = domain << 8 | of;
    size_t found = numbered ? nsys_ids_find(&g->ids, what, id) : LOOKUP_NONE;
    if (found != LOOKUP_NONE) return found;
    char *name = name_of(r, row, from);
    found = name ? nsys_gather_group(g, of_names[of], (size_t)of, name) : LOOKUP_NONE;
    free(name);
    if (found != LOOKUP_NONE && numbered && !nsys_ids_put(&g->ids, what, id, found)) return LOOKUP_NONE;
    return found;
}

// The last moment that the ranges tell of: what never ended counts to it.
static int64_t last_nvtx(reading *r)
{
    if (r->last_nvtx >= 0) return r->last_nvtx;
    r->last_nvtx = 0;
    void *row =
        nsys_sqlite_query(&r->db, "SELECT max(max(start), coalesce(max(\"end\"), 0)) FROM NVTX_EVENTS");
    if (row && r->db.step(row) == NSYS_SQLITE_ROW) nsys_sqlite_whole(&r->db, row, 0, &r->last_nvtx);
    if (row) r->db.finalize(row);
    return r->last_nvtx;
}

// Is there a time that can be: whole numbers, and an end that is no leftover.
static bool read_span(reading *r, void *row, const event_source *from, nsys_span *span)
{
    if (!nsys_sqlite_whole(&r->db, row, AT_BEGIN, &span->begin)) return false;
    bool ended = nsys_sqlite_whole(&r->db, row, AT_END, &span->end);
    bool open = from->kind == NSYS_NVTX && (r->db.column_type(row, AT_END) == NSYS_SQLITE_NULL ||
                                            (ended && span->end <= 0 && span->begin > 0));
    if (open) {
        span->end = last_nvtx(r);
        r->n->tables[NSYS_NVTX].unended++;
    }
    return (ended || open) && span->begin >= 0 && span->end >= span->begin && span->end < LATEST_NS;
}

// ---- GPUs and processes ----

static const nsys_device *device_of(const reading *r, int64_t pid, int64_t ordinal)
{
    for (size_t i = 0; i < r->names.device_count; i++)
        if (r->names.devices[i].pid == pid && r->names.devices[i].ordinal == ordinal)
            return &r->names.devices[i];
    return NULL;
}

// Which GPU it was: what one process calls 0 may be another one than that of the next.
static bool add_gpu(reading *r, int64_t ordinal, int64_t pid, int what, nsys_span span)
{
    size_t found = nsys_ids_find(&r->gpu_of, ordinal, pid);
    if (found == LOOKUP_NONE) {
        const nsys_device *known = device_of(r, pid, ordinal);
        int64_t device = known ? known->gpu : ordinal, owner = known ? NSYS_NO_PID : pid;
        for (found = 0; found < r->gpu_count; found++)
            if (r->gpus[found].device == device && r->gpus[found].pid == owner) break;
        if (found == r->gpu_count) {
            if (r->gpu_count == MAX_GPUS)
                return true; // no such machine: the tables have it, the lanes do not
            nsys_spans *larger = realloc(r->gpus, (r->gpu_count + 1) * sizeof *larger);
            if (!larger) return false;
            r->gpus = larger;
            larger[r->gpu_count++] = (nsys_spans){.device = device, .pid = owner};
        }
        if (!nsys_ids_put(&r->gpu_of, ordinal, pid, found)) return false;
    }
    return nsys_spans_add(&r->gpus[found], what, span);
}

static bool add_process(reading *r, int64_t pid, int spent, uint64_t ns)
{
    nsys *n = r->n;
    if (r->last_process >= n->process_count || n->processes[r->last_process].pid != pid) {
        size_t found = nsys_ids_find(&r->process_of, pid, 0);
        if (found == LOOKUP_NONE) {
            if (n->process_count == MAX_PROCESSES) return true;
            nsys_process *larger = realloc(n->processes, (n->process_count + 1) * sizeof *larger);
            if (!larger) return false;
            n->processes = larger;
            size_t rank = nsys_ids_find(&r->names.rank_of, pid, 0);
            found = n->process_count;
            larger[n->process_count++] =
                (nsys_process){.pid = pid, .rank = rank == LOOKUP_NONE ? -1 : (int64_t)rank};
            if (!nsys_ids_put(&r->process_of, pid, 0, found)) return false;
        }
        r->last_process = found;
    }
    uint64_t *sum = &n->processes[r->last_process].spent_ns[spent];
    *sum = ns > UINT64_MAX - *sum ? UINT64_MAX : *sum + ns;
    return true;
}

static bool add_meeting(reading *r, const char *name, int64_t pid, nsys_span span)
{
    static const char *const known[NSYS_MEETINGS] = {"MPI_Barrier", "MPI_Allreduce", "MPI_Alltoall",
                                                     "MPI_Allgather"};
    nsys *n = r->n;
    size_t kind = 0;
    while (kind < NSYS_MEETINGS && strcmp(known[kind], name) != 0)
        kind++;
    if (kind == NSYS_MEETINGS) return true;
    size_t turn = nsys_ids_find(&r->turns, (int64_t)kind, pid);
    if (turn == LOOKUP_NONE) {
        turn_count *larger = realloc(r->turn_counts, (r->turn_count + 1) * sizeof *larger);
        if (!larger) return false;
        r->turn_counts = larger;
        turn = r->turn_count;
        larger[r->turn_count++] = (turn_count){kind, 0};
        if (!nsys_ids_put(&r->turns, (int64_t)kind, pid, turn)) return false;
    }
    uint64_t number = r->turn_counts[turn].count++;
    if (n->meeting_count == MAX_MEETINGS) return true;
    if (!(n->meeting_count & (n->meeting_count - 1))) {
        nsys_meeting *larger =
            realloc(n->meetings, (n->meeting_count ? 2 * n->meeting_count : 1) * sizeof *larger);
        if (!larger) return false;
        n->meetings = larger;
    }
    n->meetings[n->meeting_count++] = (nsys_meeting){kind, number, span.begin, span.end};
    return true;
}

static bool add_size(reading *r, void *row, const event_source *from, size_t group)
{
    int64_t bytes;
    if (!from->bytes) return true;
    nsys_table *table = &r->n->tables[from->flags & MESSAGE_SIZE ? NSYS_MPI_SIZE : NSYS_MEMORY_SIZE];
    if (nsys_sqlite_whole(&r->db, row, AT_BYTES, &bytes) && bytes >= 0) {
        if (from->flags & MESSAGE_SIZE)
            return nsys_gather_add(&r->gathers[NSYS_MPI_SIZE], group, (uint64_t)bytes);
        size_t to = nsys_gather_group(&r->gathers[NSYS_MEMORY_SIZE], NULL, 0,
                                      r->gathers[NSYS_MEMORY_TIME].groups[group].name);
        return to != LOOKUP_NONE && nsys_gather_add(&r->gathers[NSYS_MEMORY_SIZE], to, (uint64_t)bytes);
    }
    table->left_out++;
    return true;
}

static bool add_event(reading *r, void *row, const event_source *from)
{
    nsys_span span;
    int64_t global, ordinal = 0;
    bool sizes = from->flags & MESSAGE_SIZE;
    if (sizes && r->db.column_type(row, AT_BYTES) == NSYS_SQLITE_NULL) return true;
    if (!sizes && !read_span(r, row, from, &span)) {
        r->n->tables[from->kind].left_out++;
        return true;
    }
    size_t group = group_of(r, row, from);
    if (group == LOOKUP_NONE || !add_size(r, row, from, group)) return false;
    if (sizes) return true;
    uint64_t ns = (uint64_t)(span.end - span.begin);
    if (!nsys_gather_add(&r->gathers[from->kind], group, ns)) return false;
    const char *name = r->gathers[from->kind].groups[group].name;
    bool nccl = from->kind == NSYS_KERNELS && nsys_is_nccl(name);
    int64_t pid = nsys_sqlite_whole(&r->db, row, AT_GLOBAL, &global) ? nsys_pid(global) : NSYS_NO_PID;
    nsys_sqlite_whole(&r->db, row, AT_DEVICE, &ordinal);
    return (from->busy < 0 || add_gpu(r, ordinal, pid, from->busy, span)) &&
           (!nccl || add_gpu(r, ordinal, pid, NSYS_BUSY_NCCL, span)) &&
           (from->spent < 0 || add_process(r, pid, from->spent, ns)) &&
           (!nccl || add_process(r, pid, NSYS_SPENT_NCCL, ns)) &&
           (!(from->flags & MEETINGS) || add_meeting(r, name, pid, span));
}

static netprof_err read_events(reading *r, const event_source *from)
{
    query q = {.used = 0};
    int result;
    char text[160];
    if (!nsys_sqlite_has(&r->db, from->table)) return NETPROF_OK;
    bool known = make_query(r, &q, from);
    if (!known && from->flags & MESSAGE_SIZE) return NETPROF_OK; // older than the sizes
    void *rows = known ? nsys_sqlite_query(&r->db, q.text) : NULL;
    if (!rows) {
        snprintf(text, sizeof text, "the table %s has other columns than those known", from->table);
        return fail(r, NETPROF_ERR_FORMAT, text);
    }
    r->n->tables[from->kind].present = true;
    if (from->kind == NSYS_MEMORY_TIME) r->n->tables[NSYS_MEMORY_SIZE].present = true;
    if (from->spent >= 0) r->n->knows[from->spent] = true;
    if (from->kind == NSYS_KERNELS) r->n->knows[NSYS_SPENT_NCCL] = true;
    while ((result = r->db.step(rows)) == NSYS_SQLITE_ROW) {
        if (add_event(r, rows, from)) continue;
        r->db.finalize(rows);
        return fail(r, NETPROF_ERR_NOMEM, "no memory");
    }
    netprof_err err = NETPROF_OK;
    if (result != NSYS_SQLITE_DONE) {
        snprintf(text, sizeof text, "%s: %.100s", from->table, r->db.errmsg(r->db.db));
        err = fail(r, NETPROF_ERR_DAMAGED, text);
    }
    r->db.finalize(rows);
    return err;
}

// ---- the session ----

static char *first_text(reading *r, const char *table, const char *sql)
{
    void *row = nsys_sqlite_has(&r->db, table) ? nsys_sqlite_query(&r->db, sql) : NULL;
    char *text = row && r->db.step(row) == NSYS_SQLITE_ROW ? text_at(r, row, 0) : NULL;
    if (row) r->db.finalize(row);
    return text;
}

static void read_session(reading *r)
{
    static const char version[] = "SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_PRODUCT_VERSION'";
    static const char older[] = "SELECT value FROM EXPORT_META_DATA WHERE name = 'EXPORT_PRODUCT_VERSION'";
    nsys *n = r->n;
    void *row = nsys_sqlite_has(&r->db, "TARGET_INFO_SESSION_START_TIME")
                    ? nsys_sqlite_query(&r->db, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME")
                    : NULL;
    if (row && r->db.step(row) == NSYS_SQLITE_ROW) nsys_sqlite_whole(&r->db, row, 0, &n->session_ns);
    if (n->session_ns < 0 || n->session_ns >= LATEST_NS) n->session_ns = 0;
    if (row) r->db.finalize(row);
    n->host = first_text(r, "TARGET_INFO_SYSTEM_ENV",
                         "SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'Hostname' COLLATE NOCASE");
    n->version = first_text(r, "META_DATA_EXPORT", version);
    if (!n->version) n->version = first_text(r, "EXPORT_META_DATA", older);
    for (size_t i = 0, count = 0; i < sizeof others / sizeof *others; i++)
        if (nsys_sqlite_any(&r->db, others[i])) n->not_read[count++] = others[i];
}

static int by_rank(const void *a, const void *b)
{
    const nsys_process *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < 0 ? 1 : y->rank < 0 ? -1 : x->rank > y->rank ? 1 : -1;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

// A GPU of a number that only one process has needs no process behind its name.
static void name_gpus(reading *r)
{
    nsys *n = r->n;
    for (size_t i = 0; i < n->gpu_count; i++) {
        nsys_gpu *gpu = &n->gpus[i];
        size_t same = 0;
        for (size_t k = 0; k < n->gpu_count; k++)
            same += n->gpus[k].device == gpu->device;
        const char *name = r->names.gpu_count == 1 ? r->names.gpus[0].name : NULL;
        for (size_t k = 0; k < r->names.gpu_count && gpu->pid == NSYS_NO_PID; k++)
            if (r->names.gpus[k].id == gpu->device) name = r->names.gpus[k].name;
        gpu->name = name ? strdup(name) : NULL;
        if (same == 1) gpu->pid = NSYS_NO_PID;
    }
}

static void count_turns(reading *r)
{
    bool differ[NSYS_MEETINGS] = {false};
    uint64_t *turns = r->n->turns;
    for (size_t i = 0; i < r->turn_count; i++) {
        const turn_count *t = &r->turn_counts[i];
        differ[t->kind] |= turns[t->kind] && turns[t->kind] != t->count;
        turns[t->kind] = t->count;
    }
    for (size_t k = 0; k < NSYS_MEETINGS; k++)
        if (differ[k]) turns[k] = 0;
}

static netprof_err read_all(reading *r, const nsys_options *options)
{
    netprof_err err = NETPROF_OK;
    bool any = false, good = true;
    read_session(r);
    if (!nsys_names_read(&r->names, &r->db)) return fail(r, NETPROF_ERR_NOMEM, "no memory");
    for (size_t i = 0; i < sizeof sources / sizeof *sources && !err; i++)
        err = read_events(r, &sources[i]);
    for (int i = 0; i < NSYS_READ; i++)
        any |= r->n->tables[i].present;
    if (!err && !any && !nsys_sqlite_has(&r->db, "StringIds"))
        return fail(r, NETPROF_ERR_FORMAT, "holds no table of Nsight Systems (nsys export --type sqlite)");
    if (!err)
        good = nsys_spans_end(r->n, r->gpus, r->gpu_count, options->bins ? options->bins : DEFAULT_BINS);
    nsys_spans_free(r->gpus, r->gpu_count);
    r->gpus = NULL;
    r->gpu_count = 0;
    for (int i = 0; i < NSYS_READ && !err; i++)
        good = good && nsys_gather_end(&r->gathers[i], &r->n->tables[i], options->keep);
    if (!err && !good) return fail(r, NETPROF_ERR_NOMEM, "no memory");
    name_gpus(r);
    count_turns(r);
    if (r->n->process_count) qsort(r->n->processes, r->n->process_count, sizeof *r->n->processes, by_rank);
    return err;
}

static void end_reading(reading *r)
{
    for (int i = 0; i < NSYS_READ; i++)
        nsys_gather_free(&r->gathers[i]);
    nsys_spans_free(r->gpus, r->gpu_count);
    nsys_ids_free(&r->gpu_of);
    nsys_ids_free(&r->process_of);
    nsys_ids_free(&r->turns);
    free(r->turn_counts);
    nsys_names_free(&r->names);
    nsys_sqlite_close(&r->db);
}

netprof_err nsys_read(nsys *n, const char *path, const nsys_options *options, netprof_error *error)
{
    static const nsys_options defaults = {0};
    const nsys_options *o = options ? options : &defaults;
    reading r = {.n = n, .error = error, .last_nvtx = -1};
    *n = (nsys){0};
    if (o->end_zero || o->bins > MAX_BINS) return fail(&r, NETPROF_ERR_ARG, "the options are not valid");
    if (!(n->path = strdup(path))) return fail(&r, NETPROF_ERR_NOMEM, "no memory");
    for (int i = 0; i < NSYS_TABLES; i++)
        nsys_table_start(&n->tables[i], (nsys_kind)i);
    netprof_err err = nsys_is_report(path) ? fail(&r, NETPROF_ERR_FORMAT, NSYS_EXPORT_FIRST)
                                           : nsys_sqlite_open(&r.db, path, error);
    if (!err) err = read_all(&r, o);
    end_reading(&r);
    if (err) nsys_free(n);
    return err;
}

void nsys_free(nsys *n)
{
    for (int i = 0; i < NSYS_TABLES; i++)
        nsys_table_free(&n->tables[i]);
    for (size_t i = 0; i < n->gpu_count; i++) {
        free(n->gpus[i].name);
        for (int what = 0; what < NSYS_BUSY; what++)
            free(n->gpus[i].busy[what]);
    }
    free(n->gpus);
    free(n->processes);
    free(n->meetings);
    free(n->path);
    free(n->host);
    free(n->version);
    *n = (nsys){0};
}

static bool read_head(const char *path, char head[16])
{
    FILE *file = strcmp(path, "-") == 0 ? NULL : fopen(path, "rbe");
    bool got = file && fread(head, 1, 16, file) == 16;
    if (file) fclose(file);
    return got;
}

bool nsys_in_file(const char *path)
{
    char head[16];
    return read_head(path, head) && memcmp(head, "SQLite format 3", 16) == 0;
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
    FILE *file = named ? fopen(path, "rbe") : NULL; // one that is missing is said to be missing
    if (file) fclose(file);
    return file && !nsys_in_file(path);
}

const char *nsys_spent_name(int what)
{
    static const char *const names[NSYS_SPENT] = {"kernels", "NCCL kernels", "memory operations", "MPI",
                                                  "CUDA API"};
    return names[what];
}
