// Looking up numbers of an export: strings, domains of NVTX, kinds of copies, ranks and GPUs.

#include "nsys_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- strings ----

// Hardware (8 bits), virtual machine (8), process (24), thread (24).
int64_t nsys_pid(int64_t global)
{
    return global >> 24 & 0xffffff;
}

char *nsys_keep(const char *text)
{
    return text ? memory_strdup(text) : NULL;
}

char *nsys_text(nsys_names *names, void *row, int column)
{
    const nsys_sqlite *db = names->db;
    bool text = db->column_type(row, column) == NSYS_SQLITE_TEXT;
    return nsys_keep(text ? (const char *)db->column_text(row, column) : NULL);
}

char *nsys_string(nsys_names *names, int64_t id)
{
    if (!names->string) return NULL;
    names->db->reset(names->string);
    names->db->bind_int64(names->string, 1, id);
    return names->db->step(names->string) == NSYS_SQLITE_ROW ? nsys_text(names, names->string, 0) : NULL;
}

char *nsys_number(int64_t id)
{
    return memory_format("(name %lld)", (long long)id);
}

// Adds a text to a list under a pair of numbers. Takes the text.
static void names_keep(char ***list, nsys_map **map, int64_t a, int64_t b, char *text)
{
    nsys_put(map, a, b, arrlenu(*list));
    arrput(*list, text);
}

// ---- NVTX ----

enum { DOMAIN_CREATE = 75, MAX_DOMAINS = 1 << 20 };

// Of several of one process that name a domain the first counts.
static void names_read_domains(nsys_names *names)
{
    nsys_sqlite *db = names->db;
    bool ids = nsys_sqlite_has_column(db, "NVTX_EVENTS", "textId"),
         texts = nsys_sqlite_has_column(db, "NVTX_EVENTS", "text");
    char sql[240];
    if (!nsys_sqlite_has(db, "NVTX_EVENTS") || (!ids && !texts)) return;
    snprintf(sql, sizeof sql, "SELECT domainId, globalTid, %s, %s FROM NVTX_EVENTS WHERE eventType = %d ORDER BY start",
             ids ? "textId" : "NULL", texts ? "text" : "NULL", DOMAIN_CREATE);
    void *row = nsys_sqlite_query(db, sql);
    while (row && arrlenu(names->domains) < MAX_DOMAINS && db->step(row) == NSYS_SQLITE_ROW) {
        int64_t domain, global, id;
        if (!nsys_sqlite_whole(db, row, 0, &domain) || !nsys_sqlite_whole(db, row, 1, &global)) continue;
        if (nsys_find(names->domain_of, domain, nsys_pid(global)) != NSYS_NONE) continue;
        char *text = nsys_sqlite_whole(db, row, 2, &id) ? nsys_string(names, id) : NULL;
        if (!text) text = nsys_text(names, row, 3);
        if (text) names_keep(&names->domains, &names->domain_of, domain, nsys_pid(global), text);
    }
    if (row) db->finalize(row);
}

const char *nsys_domain(const nsys_names *names, int64_t domain, int64_t global)
{
    size_t found = nsys_find(names->domain_of, domain, nsys_pid(global));
    return found == NSYS_NONE ? "" : names->domains[found];
}

// ---- copies ----

// CUpti_ActivityMemcpyKind, for files without ENUM_CUDA_MEMCPY_OPER.
char *nsys_copy_name(const nsys_names *names, int64_t kind)
{
    static const char *const known[] = {"Unknown",
                                        "Host-to-Device",
                                        "Device-to-Host",
                                        "Host-to-Array",
                                        "Array-to-Host",
                                        "Array-to-Array",
                                        "Array-to-Device",
                                        "Device-to-Array",
                                        "Device-to-Device",
                                        "Host-to-Host",
                                        "Peer-to-Peer",
                                        "Unified Host-to-Device",
                                        "Unified Device-to-Host",
                                        "Unified Device-to-Device"};
    char text[80];
    size_t found = nsys_find(names->copy_of, kind, 0);
    if (found != NSYS_NONE) return memory_strdup(names->copies[found]);
    if (kind >= 0 && kind < (int64_t)(sizeof known / sizeof *known))
        snprintf(text, sizeof text, "[CUDA memcpy %s]", known[kind]);
    else
        snprintf(text, sizeof text, "[CUDA memcpy of kind %lld]", (long long)kind);
    return memory_strdup(text);
}

static void names_read_copies(nsys_names *names)
{
    nsys_sqlite *db = names->db;
    void *row =
        nsys_sqlite_has(db, "ENUM_CUDA_MEMCPY_OPER")
            ? nsys_sqlite_query(db, "SELECT id, '[CUDA memcpy ' || label || ']' FROM ENUM_CUDA_MEMCPY_OPER LIMIT 1000")
            : NULL;
    while (row && db->step(row) == NSYS_SQLITE_ROW) {
        int64_t id;
        char *text = nsys_text(names, row, 1);
        if (!text) continue;
        if (nsys_sqlite_whole(db, row, 0, &id))
            names_keep(&names->copies, &names->copy_of, id, 0, text);
        else
            free(text);
    }
    if (row) db->finalize(row);
}

// ---- ranks and GPUs ----

static void names_read_ranks(nsys_names *names)
{
    nsys_sqlite *db = names->db;
    void *row =
        nsys_sqlite_has(db, "MPI_RANKS") ? nsys_sqlite_query(db, "SELECT globalTid, rank FROM MPI_RANKS") : NULL;
    while (row && db->step(row) == NSYS_SQLITE_ROW) {
        int64_t global, rank;
        if (!nsys_sqlite_whole(db, row, 0, &global) || !nsys_sqlite_whole(db, row, 1, &rank)) continue;
        if (rank >= 0 && rank < INT32_MAX) nsys_put(&names->rank_of, nsys_pid(global), 0, (size_t)rank);
    }
    if (row) db->finalize(row);
}

// A handle that was used for communicators of several sizes gets the size 0: its calls cannot be judged.
static void names_read_communicators(nsys_names *names)
{
    nsys_sqlite *db = names->db;
    void *row = nsys_sqlite_has(db, "MPI_COMMUNICATORS")
                    ? nsys_sqlite_query(db, "SELECT commHandle, rank, size FROM MPI_COMMUNICATORS LIMIT 1000000")
                    : NULL;
    while (row && db->step(row) == NSYS_SQLITE_ROW) {
        int64_t handle, rank, size;
        if (!nsys_sqlite_whole(db, row, 0, &handle) || !nsys_sqlite_whole(db, row, 1, &rank) ||
            !nsys_sqlite_whole(db, row, 2, &size) || size < 1 || size > INT32_MAX)
            continue;
        size_t known = nsys_find(names->size_of, handle, rank), now = (size_t)size;
        if (now > names->largest_communicator) names->largest_communicator = now;
        nsys_put(&names->size_of, handle, rank, known == NSYS_NONE || known == now ? now : 0);
    }
    if (row) db->finalize(row);
}

static void names_read_devices(nsys_names *names)
{
    nsys_sqlite *db = names->db;
    void *row = nsys_sqlite_has(db, "TARGET_INFO_CUDA_DEVICE")
                    ? nsys_sqlite_query(db, "SELECT pid, cudaId, gpuId FROM TARGET_INFO_CUDA_DEVICE LIMIT 100000")
                    : NULL;
    while (row && db->step(row) == NSYS_SQLITE_ROW) {
        nsys_device d;
        if (!nsys_sqlite_whole(db, row, 0, &d.pid) || !nsys_sqlite_whole(db, row, 1, &d.ordinal) ||
            !nsys_sqlite_whole(db, row, 2, &d.gpu))
            continue;
        arrput(names->devices, d);
    }
    if (row) db->finalize(row);
}

static void names_read_gpus(nsys_names *names)
{
    nsys_sqlite *db = names->db;
    const char *sql = nsys_sqlite_has_column(db, "TARGET_INFO_GPU", "busLocation")
                          ? "SELECT id, name, busLocation FROM TARGET_INFO_GPU LIMIT 10000"
                          : "SELECT id, name, NULL FROM TARGET_INFO_GPU LIMIT 10000";
    void *row = nsys_sqlite_has(db, "TARGET_INFO_GPU") ? nsys_sqlite_query(db, sql) : NULL;
    while (row && db->step(row) == NSYS_SQLITE_ROW) {
        int64_t id;
        if (!nsys_sqlite_whole(db, row, 0, &id)) continue;
        nsys_listed_gpu gpu = {id, nsys_text(names, row, 1), nsys_text(names, row, 2)};
        arrput(names->gpus, gpu);
    }
    if (row) db->finalize(row);
}

void nsys_names_read(nsys_names *names, nsys_sqlite *db)
{
    names->db = db;
    if (nsys_sqlite_has(db, "StringIds"))
        names->string = nsys_sqlite_query(db, "SELECT value FROM StringIds WHERE id = ?1");
    names_read_domains(names);
    names_read_copies(names);
    names_read_ranks(names);
    names_read_communicators(names);
    names_read_devices(names);
    names_read_gpus(names);
}

void nsys_names_free(nsys_names *names)
{
    if (names->string) names->db->finalize(names->string);
    for (size_t i = 0; i < arrlenu(names->domains); i++)
        free(names->domains[i]);
    for (size_t i = 0; i < arrlenu(names->copies); i++)
        free(names->copies[i]);
    for (size_t i = 0; i < arrlenu(names->gpus); i++)
        free(names->gpus[i].name), free(names->gpus[i].bus);
    arrfree(names->domains);
    arrfree(names->copies);
    arrfree(names->gpus);
    arrfree(names->devices);
    hmfree(names->domain_of);
    hmfree(names->copy_of);
    hmfree(names->rank_of);
    hmfree(names->size_of);
    *names = (nsys_names){0};
}
