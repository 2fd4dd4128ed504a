// One event: when it was, what it is called, which GPU and which process it is of.
#define _POSIX_C_SOURCE 200809L // strdup
#include "analysis/base/list.h"
#include "nsys_reading.h"
#include "analysis/base/saturating_sum.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_GPUS = 1024, MAX_PROCESSES = 65536, MAX_MEETINGS = 4096 };

static const char *const of_names[] = {NULL,         "PushPop", "StartEnd",  "p2p",      "coll",
                                       "start_wait", "other",   "coll_send", "coll_recv"};

// ---- its name and time ----

static void without_version(char *name)
{
    size_t n = strlen(name);
    if (n <= 6 || name[n - 6] != '_' || name[n - 5] != 'v') return;
    for (size_t i = n - 4; i < n; i++)
        if (!isdigit((unsigned char)name[i])) return;
    name[n - 6] = 0;
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
    return r->db.column_type(row, AT_NAME) == NSYS_SQLITE_INTEGER && nsys_sqlite_whole(&r->db, row, AT_NAME, id);
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
    char *name = numbered ? nsys_string(&r->names, id) : nsys_text(&r->names, row, AT_NAME);
    if (!name) name = nsys_text(&r->names, row, AT_TEXT);
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
    if (nsys_sqlite_whole(&r->db, row, AT_DOMAIN, &domain)) nsys_sqlite_whole(&r->db, row, AT_GLOBAL, &global);
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
    bool numbered = from->copy_kind
                        ? nsys_sqlite_whole(&r->db, row, AT_KIND, &id)
                        : !from->fixed && is_id(r, row, &id) && r->db.column_type(row, AT_TEXT) != NSYS_SQLITE_TEXT;
    if (from->kind == NSYS_NVTX && nsys_sqlite_whole(&r->db, row, AT_DOMAIN, &domain)) {
        nsys_sqlite_whole(&r->db, row, AT_GLOBAL, &global);
        domain = (int64_t)pairs_find(&r->names.domain_of, domain, nsys_pid(global)) + 1;
    }
    what = domain << 8 | of;
    size_t found = numbered ? pairs_find(&g->ids, what, id) : PAIRS_NONE;
    if (found != PAIRS_NONE) return found;
    char *name = name_of(r, row, from);
    found = name ? nsys_gather_group(g, of_names[of], (size_t)of, name) : LOOKUP_NONE;
    free(name);
    if (found != LOOKUP_NONE && numbered && !pairs_set(&g->ids, what, id, found)) return LOOKUP_NONE;
    return found;
}

// The last moment that the ranges tell of: what never ended counts to it.
static int64_t last_nvtx(reading *r)
{
    if (r->last_nvtx >= 0) return r->last_nvtx;
    r->last_nvtx = 0;
    void *row = nsys_sqlite_query(&r->db, "SELECT max(max(start), coalesce(max(\"end\"), 0)) FROM NVTX_EVENTS");
    if (row && r->db.step(row) == NSYS_SQLITE_ROW) nsys_sqlite_whole(&r->db, row, 0, &r->last_nvtx);
    if (row) r->db.finalize(row);
    return r->last_nvtx;
}

// Is there a time that can be: whole numbers, and an end that is no leftover.
static bool read_span(reading *r, void *row, const event_source *from, nsys_span *span)
{
    if (!nsys_sqlite_whole(&r->db, row, AT_BEGIN, &span->begin)) return false;
    bool ended = nsys_sqlite_whole(&r->db, row, AT_END, &span->end);
    bool open = from->kind == NSYS_NVTX &&
                (r->db.column_type(row, AT_END) == NSYS_SQLITE_NULL || (ended && span->end <= 0 && span->begin > 0));
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
        if (r->names.devices[i].pid == pid && r->names.devices[i].ordinal == ordinal) return &r->names.devices[i];
    return NULL;
}

// Events that tell no process are of the first one that had a GPU of this number.
static bool is_same(int64_t owner, int64_t other)
{
    bool open = owner == NSYS_NO_PID || other == NSYS_NO_PID;
    return owner == other || (open && owner != NSYS_KNOWN_GPU && other != NSYS_KNOWN_GPU);
}

// Which GPU it was: what one process calls 0 may be another one than that of the next.
static bool add_gpu(reading *r, int64_t ordinal, int64_t pid, int what, nsys_span span)
{
    size_t found = pairs_find(&r->gpu_of, ordinal, pid);
    if (found == PAIRS_NONE) {
        const nsys_device *known = device_of(r, pid, ordinal);
        int64_t device = known ? known->gpu : ordinal, owner = known ? NSYS_KNOWN_GPU : pid;
        for (found = 0; found < r->gpu_count; found++)
            if (r->gpus[found].device == device && is_same(r->gpus[found].pid, owner)) break;
        if (found == r->gpu_count) {
            if (r->gpu_count == MAX_GPUS) return true; // no such machine: the tables have it, the lanes do not
            if (!list_grow_one(&r->gpus, r->gpu_count, sizeof *r->gpus)) return false;
            r->gpus[r->gpu_count++] = (nsys_spans){.device = device, .pid = owner};
        }
        if (!pairs_set(&r->gpu_of, ordinal, pid, found)) return false;
    }
    return nsys_spans_add(&r->gpus[found], what, span);
}

static bool add_process(reading *r, int64_t pid, int spent, uint64_t ns)
{
    nsys *n = r->n;
    if (r->last_process >= n->process_count || n->processes[r->last_process].pid != pid) {
        size_t found = pairs_find(&r->process_of, pid, 0);
        if (found == PAIRS_NONE) {
            if (n->process_count == MAX_PROCESSES) return true;
            if (!list_grow_one(&n->processes, n->process_count, sizeof *n->processes)) return false;
            size_t rank = pairs_find(&r->names.rank_of, pid, 0);
            found = n->process_count;
            n->processes[n->process_count++] =
                (nsys_process){.pid = pid, .rank = rank == PAIRS_NONE ? -1 : (int64_t)rank};
            if (!pairs_set(&r->process_of, pid, 0, found)) return false;
        }
        r->last_process = found;
    }
    uint64_t *sum = &n->processes[r->last_process].spent_ns[spent];
    *sum = sum_capped(*sum, ns);
    return true;
}

// MPI_COMM_WORLD of MPICH and what is made of it, whose handles are 32 bits; those of Open MPI are addresses.
enum { MPICH_WORLD = 0x44000000 };

// Do all ranks take part? By the file's list of communicators; else a process that has one only is taken to have that of
// all. False: no memory.
static bool of_all(reading *r, void *row, int64_t pid, bool *all)
{
    int64_t handle;
    *all = true;
    if (!nsys_sqlite_whole(&r->db, row, AT_COMMUNICATOR, &handle)) return true; // older files do not tell
    size_t rank = pairs_find(&r->names.rank_of, pid, 0), size = PAIRS_NONE;
    if (rank != PAIRS_NONE) size = pairs_find(&r->names.size_of, handle, (int64_t)rank);
    *all = size == PAIRS_NONE ? handle == MPICH_WORLD : size == r->names.largest_communicator;
    if (size != PAIRS_NONE || (handle >= 0 && handle <= UINT32_MAX) || r->mixed) return true;
    *all = true;
    if (pairs_find(&r->communicators, pid, handle) != PAIRS_NONE) return true;
    r->mixed = pairs_find(&r->has_one, pid, 0) != PAIRS_NONE;
    return pairs_set(&r->communicators, pid, handle, 0) && pairs_set(&r->has_one, pid, 0, 0);
}

static bool add_meeting(reading *r, void *row, const char *name, int64_t pid, nsys_span span)
{
    static const char *const known[NSYS_MEETINGS] = {"MPI_Barrier", "MPI_Allreduce", "MPI_Alltoall", "MPI_Allgather"};
    nsys *n = r->n;
    size_t kind = 0;
    bool all;
    while (kind < NSYS_MEETINGS && strcmp(known[kind], name) != 0)
        kind++;
    if (kind == NSYS_MEETINGS) return true;
    if (!of_all(r, row, pid, &all)) return false;
    if (!all) return true;
    size_t turn = pairs_find(&r->turns, (int64_t)kind, pid);
    if (turn == PAIRS_NONE) {
        if (!list_grow_one(&r->turn_counts, r->turn_count, sizeof *r->turn_counts)) return false;
        turn = r->turn_count;
        r->turn_counts[r->turn_count++] = (turn_count){kind, 0};
        if (!pairs_set(&r->turns, (int64_t)kind, pid, turn)) return false;
    }
    uint64_t number = r->turn_counts[turn].count++;
    if (n->meeting_count == MAX_MEETINGS) return true;
    if (!list_grow_one(&n->meetings, n->meeting_count, sizeof *n->meetings)) return false;
    n->meetings[n->meeting_count++] = (nsys_meeting){kind, number, span.begin, span.end};
    return true;
}

static bool add_size(reading *r, void *row, const event_source *from, size_t group)
{
    int64_t bytes;
    if (!from->bytes) return true;
    nsys_table *table = &r->n->tables[from->flags & MESSAGE_SIZE ? NSYS_MPI_SIZE : NSYS_MEMORY_SIZE];
    if (nsys_sqlite_whole(&r->db, row, AT_BYTES, &bytes) && bytes >= 0) {
        if (from->flags & MESSAGE_SIZE) return nsys_gather_add(&r->gathers[NSYS_MPI_SIZE], group, (uint64_t)bytes);
        size_t to =
            nsys_gather_group(&r->gathers[NSYS_MEMORY_SIZE], NULL, 0, r->gathers[NSYS_MEMORY_TIME].groups[group].name);
        return to != LOOKUP_NONE && nsys_gather_add(&r->gathers[NSYS_MEMORY_SIZE], to, (uint64_t)bytes);
    }
    table->left_out++;
    return true;
}

bool nsys_event_add(reading *r, void *row, const event_source *from)
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
    bool placed = from->busy >= 0 && nsys_sqlite_whole(&r->db, row, AT_DEVICE, &ordinal);
    return (!placed || add_gpu(r, ordinal, pid, from->busy, span)) &&
           (!nccl || !placed || add_gpu(r, ordinal, pid, NSYS_BUSY_NCCL, span)) &&
           (from->spent < 0 || add_process(r, pid, from->spent, ns)) &&
           (!nccl || add_process(r, pid, NSYS_SPENT_NCCL, ns)) &&
           (!(from->flags & MEETINGS) || add_meeting(r, row, name, pid, span));
}
