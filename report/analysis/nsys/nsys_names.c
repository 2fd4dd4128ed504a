// What numbers in an export mean: strings, domains of NVTX, kinds of copies, ranks and GPUs.
#define _POSIX_C_SOURCE 200809L // strdup
#include "analysis/base/list.h"
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

char *nsys_keep(nsys_names *names, const char *text)
{
    char *kept = text ? strdup(text) : NULL;
    names->no_memory |= text && !kept;
    return kept;
}

char *nsys_text(nsys_names *names, void *row, int column)
{
    const nsys_sqlite *db = names->db;
    bool text = db->column_type(row, column) == NSYS_SQLITE_TEXT;
    return nsys_keep(names, text ? (const char *)db->column_text(row, column) : NULL);
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
    char number[48];
    snprintf(number, sizeof number, "(name %lld)", (long long)id);
    return strdup(number);
}

// Adds a text to a list, and what it is found by. Takes the text; NULL is none.
static bool keep(char ***list, size_t *count, pairs *ids, int64_t a, int64_t b, char *text)
{
    if (!text || !list_grow_one(list, *count, sizeof **list) || !pairs_set(ids, a, b, *count)) {
        free(text);
        return false;
    }
    (*list)[(*count)++] = text;
    return true;
}

// ---- NVTX ----

enum { DOMAIN_CREATE = 75, MAX_DOMAINS = 1 << 20 };

// Of several of one process that name a domain the first counts.
static bool read_domains(nsys_names *names)
{
    nsys_sqlite *db = names->db;
    bool good = true, ids = nsys_sqlite_has_column(db, "NVTX_EVENTS", "textId"),
         texts = nsys_sqlite_has_column(db, "NVTX_EVENTS", "text");
    char sql[240];
    if (!nsys_sqlite_has(db, "NVTX_EVENTS") || (!ids && !texts)) return true;
    snprintf(sql, sizeof sql, "SELECT domainId, globalTid, %s, %s FROM NVTX_EVENTS WHERE eventType = %d ORDER BY start",
             ids ? "textId" : "NULL", texts ? "text" : "NULL", DOMAIN_CREATE);
    void *row = nsys_sqlite_query(db, sql);
    while (row && good && names->domain_count < MAX_DOMAINS && db->step(row) == NSYS_SQLITE_ROW) {
        int64_t domain, global, id;
        if (!nsys_sqlite_whole(db, row, 0, &domain) || !nsys_sqlite_whole(db, row, 1, &global)) continue;
        if (pairs_find(&names->domain_of, domain, nsys_pid(global)) != PAIRS_NONE) continue;
        char *text = nsys_sqlite_whole(db, row, 2, &id) ? nsys_string(names, id) : NULL;
        if (!text) text = nsys_text(names, row, 3);
        if (text) good = keep(&names->domains, &names->domain_count, &names->domain_of, domain, nsys_pid(global), text);
    }
    if (row) db->finalize(row);
    return good;
}

const char *nsys_domain(const nsys_names *names, int64_t domain, int64_t global)
{
    size_t found = pairs_find(&names->domain_of, domain, nsys_pid(global));
    return found == PAIRS_NONE ? "" : names->domains[found];
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
    size_t found = pairs_find(&names->copy_of, kind, 0);
    if (found != PAIRS_NONE) return strdup(names->copies[found]);
    if (kind >= 0 && kind < (int64_t)(sizeof known / sizeof *known))
        snprintf(text, sizeof text, "[CUDA memcpy %s]", known[kind]);
    else
        snprintf(text, sizeof text, "[CUDA memcpy of kind %lld]", (long long)kind);
    return strdup(text);
}

static bool read_copies(nsys_names *names)
{
    nsys_sqlite *db = names->db;
    bool good = true;
    void *row =
        nsys_sqlite_has(db, "ENUM_CUDA_MEMCPY_OPER")
            ? nsys_sqlite_query(db, "SELECT id, '[CUDA memcpy ' || label || ']' FROM ENUM_CUDA_MEMCPY_OPER LIMIT 1000")
            : NULL;
    while (row && good && db->step(row) == NSYS_SQLITE_ROW) {
        int64_t id;
        char *text = nsys_text(names, row, 1);
        if (!text) continue;
        if (nsys_sqlite_whole(db, row, 0, &id))
            good = keep(&names->copies, &names->copy_count, &names->copy_of, id, 0, text);
        else
            free(text);
    }
    if (row) db->finalize(row);
    return good;
}

// ---- ranks and GPUs ----

static bool read_ranks(nsys_names *names)
{
    nsys_sqlite *db = names->db;
    bool good = true;
    void *row =
        nsys_sqlite_has(db, "MPI_RANKS") ? nsys_sqlite_query(db, "SELECT globalTid, rank FROM MPI_RANKS") : NULL;
    while (row && good && db->step(row) == NSYS_SQLITE_ROW) {
        int64_t global, rank;
        if (!nsys_sqlite_whole(db, row, 0, &global) || !nsys_sqlite_whole(db, row, 1, &rank)) continue;
        if (rank >= 0 && rank < INT32_MAX) good = pairs_set(&names->rank_of, nsys_pid(global), 0, (size_t)rank);
    }
    if (row) db->finalize(row);
    return good;
}

// A handle that stood for communicators of several sizes tells nothing of its calls: it has none.
static bool read_communicators(nsys_names *names)
{
    nsys_sqlite *db = names->db;
    bool good = true;
    void *row = nsys_sqlite_has(db, "MPI_COMMUNICATORS")
                    ? nsys_sqlite_query(db, "SELECT commHandle, rank, size FROM MPI_COMMUNICATORS LIMIT 1000000")
                    : NULL;
    while (row && good && db->step(row) == NSYS_SQLITE_ROW) {
        int64_t handle, rank, size;
        if (!nsys_sqlite_whole(db, row, 0, &handle) || !nsys_sqlite_whole(db, row, 1, &rank) ||
            !nsys_sqlite_whole(db, row, 2, &size) || size < 1 || size > INT32_MAX)
            continue;
        size_t known = pairs_find(&names->size_of, handle, rank), now = (size_t)size;
        if (now > names->largest_communicator) names->largest_communicator = now;
        good = pairs_set(&names->size_of, handle, rank, known == PAIRS_NONE || known == now ? now : 0);
    }
    if (row) db->finalize(row);
    return good;
}

static bool read_devices(nsys_names *names)
{
    nsys_sqlite *db = names->db;
    bool good = true;
    void *row = nsys_sqlite_has(db, "TARGET_INFO_CUDA_DEVICE")
                    ? nsys_sqlite_query(db, "SELECT pid, cudaId, gpuId FROM TARGET_INFO_CUDA_DEVICE LIMIT 100000")
                    : NULL;
    while (row && good && db->step(row) == NSYS_SQLITE_ROW) {
        nsys_device d;
        if (!nsys_sqlite_whole(db, row, 0, &d.pid) || !nsys_sqlite_whole(db, row, 1, &d.ordinal) ||
            !nsys_sqlite_whole(db, row, 2, &d.gpu))
            continue;
        good = list_grow_one(&names->devices, names->device_count, sizeof *names->devices);
        if (good) names->devices[names->device_count++] = d;
    }
    if (row) db->finalize(row);
    return good;
}

static bool read_gpus(nsys_names *names)
{
    nsys_sqlite *db = names->db;
    bool good = true;
    const char *sql = nsys_sqlite_has_column(db, "TARGET_INFO_GPU", "busLocation")
                          ? "SELECT id, name, busLocation FROM TARGET_INFO_GPU LIMIT 10000"
                          : "SELECT id, name, NULL FROM TARGET_INFO_GPU LIMIT 10000";
    void *row = nsys_sqlite_has(db, "TARGET_INFO_GPU") ? nsys_sqlite_query(db, sql) : NULL;
    while (row && good && db->step(row) == NSYS_SQLITE_ROW) {
        int64_t id;
        if (!nsys_sqlite_whole(db, row, 0, &id)) continue;
        good = list_grow_one(&names->gpus, names->gpu_count, sizeof *names->gpus);
        if (!good) break;
        names->gpus[names->gpu_count++] = (nsys_listed_gpu){id, nsys_text(names, row, 1), nsys_text(names, row, 2)};
    }
    if (row) db->finalize(row);
    return good;
}

bool nsys_names_read(nsys_names *names, nsys_sqlite *db)
{
    names->db = db;
    if (nsys_sqlite_has(db, "StringIds"))
        names->string = nsys_sqlite_query(db, "SELECT value FROM StringIds WHERE id = ?1");
    return read_domains(names) && read_copies(names) && read_ranks(names) && read_communicators(names) &&
           read_devices(names) && read_gpus(names);
}

void nsys_names_free(nsys_names *names)
{
    if (names->string) names->db->finalize(names->string);
    for (size_t i = 0; i < names->domain_count; i++)
        free(names->domains[i]);
    for (size_t i = 0; i < names->copy_count; i++)
        free(names->copies[i]);
    for (size_t i = 0; i < names->gpu_count; i++)
        free(names->gpus[i].name), free(names->gpus[i].bus);
    free(names->domains);
    free(names->copies);
    free(names->gpus);
    free(names->devices);
    pairs_free(&names->domain_of);
    pairs_free(&names->copy_of);
    pairs_free(&names->rank_of);
    pairs_free(&names->size_of);
    *names = (nsys_names){0};
}
