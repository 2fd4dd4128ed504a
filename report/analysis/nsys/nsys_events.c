// One event: when it was, what it is called, which GPU and which process it is of.

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

static void event_cut_version(char *name)
{
    size_t n = strlen(name);
    if (n <= 6 || name[n - 6] != '_' || name[n - 5] != 'v') return;
    for (size_t i = n - 4; i < n; i++)
        if (!isdigit((unsigned char)name[i])) return;
    name[n - 6] = 0;
}

static bool event_is_id(reading *r, void *row, int64_t *id)
{
    return r->db.column_type(row, AT_NAME) == NSYS_SQLITE_INTEGER && nsys_sqlite_whole(&r->db, row, AT_NAME, id);
}

static char *event_graph_name(reading *r, void *row)
{
    int64_t id;
    return event_is_id(r, row, &id) ? memory_format("graph %lld", (long long)id) : memory_strdup("graph");
}

// By a number of the file's strings, or in the row itself; some versions write 0 for no number.
static char *event_written_name(reading *r, void *row, const event_source *from)
{
    int64_t id;
    bool numbered = event_is_id(r, row, &id);
    char *name = numbered ? nsys_string(&r->names, id) : nsys_text(&r->names, row, AT_NAME);
    if (!name) name = nsys_text(&r->names, row, AT_TEXT);
    if (name) return name;
    return numbered ? nsys_number(id) : memory_strdup(from->kind == NSYS_NVTX ? "" : "(no name)");
}

// free() it.
static char *event_name(reading *r, void *row, const event_source *from)
{
    int64_t kind = 0, domain = 0, global = 0;
    if (from->fixed) return memory_strdup(from->fixed);
    if (from->flags & GRAPH) return event_graph_name(r, row);
    if (from->copy_kind) {
        nsys_sqlite_whole(&r->db, row, AT_KIND, &kind);
        return nsys_copy_name(&r->names, kind);
    }
    char *name = event_written_name(r, row, from);
    if (from->flags & API_VERSION) event_cut_version(name);
    if (from->kind != NSYS_NVTX) return name;
    if (nsys_sqlite_whole(&r->db, row, AT_DOMAIN, &domain)) nsys_sqlite_whole(&r->db, row, AT_GLOBAL, &global);
    char *joined = memory_format("%s:%s", nsys_domain(&r->names, domain, global), name);
    free(name);
    return joined;
}

static int event_style(reading *r, void *row, const event_source *from)
{
    int64_t type = 59;
    if (from->kind != NSYS_NVTX) return from->of;
    nsys_sqlite_whole(&r->db, row, AT_TYPE, &type);
    return type == 60 || type == 71 ? OF_STARTEND : OF_PUSHPOP;
}

// The group that the row belongs to: by the number of its name where that was seen already, else by its name.
static size_t event_group(reading *r, void *row, const event_source *from)
{
    nsys_gather *g = &r->gathers[from->kind];
    int64_t id = 0, domain = 0, global = 0, what;
    int of = event_style(r, row, from);
    bool numbered = from->copy_kind ? nsys_sqlite_whole(&r->db, row, AT_KIND, &id)
                                    : !from->fixed && event_is_id(r, row, &id) &&
                                          r->db.column_type(row, AT_TEXT) != NSYS_SQLITE_TEXT;
    if (from->kind == NSYS_NVTX && nsys_sqlite_whole(&r->db, row, AT_DOMAIN, &domain)) {
        nsys_sqlite_whole(&r->db, row, AT_GLOBAL, &global);
        domain = (int64_t)nsys_find(r->names.domain_of, domain, nsys_pid(global)) + 1;
    }
    what = domain << 8 | of;
    size_t found = numbered ? nsys_find(g->ids, what, id) : NSYS_NONE;
    if (found != NSYS_NONE) return found;
    char *name = event_name(r, row, from);
    found = nsys_gather_group(g, of_names[of], (size_t)of, name);
    free(name);
    if (numbered) nsys_put(&g->ids, what, id, found);
    return found;
}

// The last moment in any range: ranges that never ended count to it.
static int64_t event_last_nvtx(reading *r)
{
    if (r->last_nvtx >= 0) return r->last_nvtx;
    r->last_nvtx = 0;
    void *row = nsys_sqlite_query(&r->db, "SELECT max(max(start), coalesce(max(\"end\"), 0)) FROM NVTX_EVENTS");
    if (row && r->db.step(row) == NSYS_SQLITE_ROW) nsys_sqlite_whole(&r->db, row, 0, &r->last_nvtx);
    if (row) r->db.finalize(row);
    return r->last_nvtx;
}

// Is there a time that can be: whole numbers, and an end that is no leftover.
static bool event_read_span(reading *r, void *row, const event_source *from, nsys_span *span)
{
    if (!nsys_sqlite_whole(&r->db, row, AT_BEGIN, &span->begin)) return false;
    bool ended = nsys_sqlite_whole(&r->db, row, AT_END, &span->end);
    bool open = from->kind == NSYS_NVTX &&
                (r->db.column_type(row, AT_END) == NSYS_SQLITE_NULL || (ended && span->end <= 0 && span->begin > 0));
    if (open) {
        span->end = event_last_nvtx(r);
        r->n->tables[NSYS_NVTX].unended++;
    }
    return (ended || open) && span->begin >= 0 && span->end >= span->begin && span->end < LATEST_NS;
}

// ---- GPUs and processes ----

static const nsys_device *event_device(const reading *r, int64_t pid, int64_t ordinal)
{
    for (size_t i = 0; i < arrlenu(r->names.devices); i++)
        if (r->names.devices[i].pid == pid && r->names.devices[i].ordinal == ordinal) return &r->names.devices[i];
    return NULL;
}

// Events without a process belong to the first process that had a GPU of this number.
static bool event_is_same_owner(int64_t owner, int64_t other)
{
    bool open = owner == NSYS_NO_PID || other == NSYS_NO_PID;
    return owner == other || (open && owner != NSYS_KNOWN_GPU && other != NSYS_KNOWN_GPU);
}

// Which GPU it was: what one process calls 0 may be another one than that of the next.
static void event_add_gpu(reading *r, int64_t ordinal, int64_t pid, int what, nsys_span span)
{
    size_t found = nsys_find(r->gpu_of, ordinal, pid), count = arrlenu(r->gpus);
    if (found == NSYS_NONE) {
        const nsys_device *known = event_device(r, pid, ordinal);
        nsys_spans gpu = {.device = known ? known->gpu : ordinal, .pid = known ? NSYS_KNOWN_GPU : pid};
        for (found = 0; found < count; found++)
            if (r->gpus[found].device == gpu.device && event_is_same_owner(r->gpus[found].pid, gpu.pid)) break;
        if (found == MAX_GPUS) return; // no such machine: the tables have it, the lanes do not
        if (found == count) arrput(r->gpus, gpu);
        nsys_put(&r->gpu_of, ordinal, pid, found);
    }
    nsys_spans_add(&r->gpus[found], what, span);
}

static void event_add_process(reading *r, int64_t pid, int spent, uint64_t ns)
{
    nsys *n = r->n;
    if (r->last_process >= n->process_count || n->processes[r->last_process].pid != pid) {
        size_t found = nsys_find(r->process_of, pid, 0);
        if (found == NSYS_NONE) {
            if (n->process_count == MAX_PROCESSES) return;
            size_t rank = nsys_find(r->names.rank_of, pid, 0);
            nsys_process process = {.pid = pid, .rank = rank == NSYS_NONE ? -1 : (int64_t)rank};
            found = n->process_count++;
            arrput(n->processes, process);
            nsys_put(&r->process_of, pid, 0, found);
        }
        r->last_process = found;
    }
    uint64_t *sum = &n->processes[r->last_process].spent_ns[spent];
    *sum = sum_capped(*sum, ns);
}

// MPI_COMM_WORLD of MPICH and what is made of it, whose handles are 32 bits; those of Open MPI are addresses.
enum { MPICH_WORLD = 0x44000000 };

// True if all ranks take part: by the file's list of communicators; else a process that has only one is taken to have
// that of all.
static bool event_is_of_all(reading *r, void *row, int64_t pid)
{
    int64_t handle;
    if (!nsys_sqlite_whole(&r->db, row, AT_COMMUNICATOR, &handle)) return true; // older files lack it
    size_t rank = nsys_find(r->names.rank_of, pid, 0), size = NSYS_NONE;
    if (rank != NSYS_NONE) size = nsys_find(r->names.size_of, handle, (int64_t)rank);
    bool all = size == NSYS_NONE ? handle == MPICH_WORLD : size == r->names.largest_communicator;
    if (size != NSYS_NONE || (handle >= 0 && handle <= UINT32_MAX) || r->mixed) return all;
    if (nsys_find(r->communicators, pid, handle) != NSYS_NONE) return true;
    r->mixed = nsys_find(r->has_one, pid, 0) != NSYS_NONE;
    nsys_put(&r->communicators, pid, handle, 0);
    nsys_put(&r->has_one, pid, 0, 0);
    return true;
}

static void event_add_meeting(reading *r, void *row, const char *name, int64_t pid, nsys_span span)
{
    static const char *const known[NSYS_MEETINGS] = {"MPI_Barrier", "MPI_Allreduce", "MPI_Alltoall", "MPI_Allgather"};
    nsys *n = r->n;
    size_t kind = 0;
    while (kind < NSYS_MEETINGS && strcmp(known[kind], name) != 0)
        kind++;
    if (kind == NSYS_MEETINGS || !event_is_of_all(r, row, pid)) return;
    size_t at = nsys_find(r->round_of, (int64_t)kind, pid);
    if (at == NSYS_NONE) {
        round_count none = {kind, 0};
        at = arrlenu(r->round_counts);
        arrput(r->round_counts, none);
        nsys_put(&r->round_of, (int64_t)kind, pid, at);
    }
    nsys_meeting meeting = {kind, r->round_counts[at].count++, span.begin, span.end};
    if (n->meeting_count == MAX_MEETINGS) return;
    arrput(n->meetings, meeting);
    n->meeting_count++;
}

static void event_add_size(reading *r, void *row, const event_source *from, size_t group)
{
    int64_t bytes;
    bool message = from->flags & MESSAGE_SIZE;
    if (!from->bytes) return;
    nsys_kind kind = message ? NSYS_MPI_SIZE : NSYS_MEMORY_SIZE;
    if (!nsys_sqlite_whole(&r->db, row, AT_BYTES, &bytes) || bytes < 0) {
        r->n->tables[kind].left_out++;
        return;
    }
    if (!message)
        group = nsys_gather_group(&r->gathers[kind], NULL, 0, r->gathers[NSYS_MEMORY_TIME].groups[group].name);
    nsys_gather_add(&r->gathers[kind], group, (uint64_t)bytes);
}

void nsys_event_add(reading *r, void *row, const event_source *from)
{
    nsys_span span;
    int64_t global, ordinal = 0;
    bool sizes = from->flags & MESSAGE_SIZE;
    if (sizes && r->db.column_type(row, AT_BYTES) == NSYS_SQLITE_NULL) return;
    if (!sizes && !event_read_span(r, row, from, &span)) {
        r->n->tables[from->kind].left_out++;
        return;
    }
    size_t group = event_group(r, row, from);
    event_add_size(r, row, from, group);
    if (sizes) return;
    uint64_t ns = (uint64_t)(span.end - span.begin);
    nsys_gather_add(&r->gathers[from->kind], group, ns);
    const char *name = r->gathers[from->kind].groups[group].name;
    bool nccl = from->kind == NSYS_KERNELS && nsys_is_nccl(name);
    int64_t pid = nsys_sqlite_whole(&r->db, row, AT_GLOBAL, &global) ? nsys_pid(global) : NSYS_NO_PID;
    bool placed = from->busy >= 0 && nsys_sqlite_whole(&r->db, row, AT_DEVICE, &ordinal);
    if (placed) event_add_gpu(r, ordinal, pid, from->busy, span);
    if (placed && nccl) event_add_gpu(r, ordinal, pid, NSYS_BUSY_NCCL, span);
    if (from->spent >= 0) event_add_process(r, pid, from->spent, ns);
    if (nccl) event_add_process(r, pid, NSYS_SPENT_NCCL, ns);
    if (from->flags & MEETINGS) event_add_meeting(r, row, name, pid, span);
}
