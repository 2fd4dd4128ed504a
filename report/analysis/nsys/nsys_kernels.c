#include "nsys_kernels.h"

#include "nsys_private.h"
#include "nsys_sqlite.h"
#include "analysis/base/memory.h"

#include <stdlib.h>

#define KERNELS_TABLE "CUPTI_ACTIVITY_KIND_KERNEL"

static const char *kernels_column(nsys_sqlite *s, const char *name)
{
    return nsys_sqlite_has_column(s, KERNELS_TABLE, name) ? name : NULL;
}

// What this version's file has of: begin, end, device, stream, process, name. NULL: not even times.
static void *kernels_query(nsys_sqlite *s)
{
    static const char *const names[] = {"demangledName", "shortName", "mangledName"};
    const char *name = NULL, *device = kernels_column(s, "deviceId"), *stream = kernels_column(s, "streamId"),
               *process = kernels_column(s, "globalPid");
    for (size_t i = 0; i < sizeof names / sizeof *names && !name; i++)
        name = nsys_sqlite_has(s, "StringIds") ? kernels_column(s, names[i]) : NULL;
    char *sql =
        memory_format("SELECT k.start, k.end, %s%s, %s%s, %s%s, %s FROM " KERNELS_TABLE " k%s%s", device ? "k." : "",
                      device ? device : "NULL", stream ? "k." : "", stream ? stream : "NULL", process ? "k." : "",
                      process ? process : "NULL", name ? "s.value" : "NULL",
                      name ? " LEFT JOIN StringIds s ON s.id = k." : "", name ? name : "");
    void *query = nsys_sqlite_query(s, sql);
    free(sql);
    return query;
}

static bool kernels_row(nsys_sqlite *s, void *row, nsys_kernel *k)
{
    int64_t process;
    *k = (nsys_kernel){.name = "kernel", .device = -1, .stream = -1, .pid = -1};
    if (!nsys_sqlite_whole(s, row, 0, &k->begin_ns) || !nsys_sqlite_whole(s, row, 1, &k->end_ns)) return false;
    if (k->begin_ns < 0 || k->end_ns < k->begin_ns) return false;
    if (!nsys_sqlite_whole(s, row, 2, &k->device)) k->device = -1;
    if (!nsys_sqlite_whole(s, row, 3, &k->stream)) k->stream = -1;
    if (nsys_sqlite_whole(s, row, 4, &process)) k->pid = process >> 24 & 0xffffff;
    const char *name = s->column_type(row, 5) == NSYS_SQLITE_TEXT ? (const char *)s->column_text(row, 5) : NULL;
    if (name && *name) k->name = name;
    k->nccl = nsys_is_nccl(k->name);
    return true;
}

netprof_err nsys_kernels_read(const char *path, bool (*take)(void *user, const nsys_kernel *kernel), void *user,
                              netprof_error *error)
{
    nsys_sqlite s = {0};
    nsys_kernel k;
    netprof_err err = nsys_sqlite_open(&s, path, error);
    if (err) return err;
    void *row = nsys_sqlite_has(&s, KERNELS_TABLE) ? kernels_query(&s) : NULL;
    for (bool more = row != NULL; more && s.step(row) == NSYS_SQLITE_ROW;)
        if (kernels_row(&s, row, &k)) more = take(user, &k);
    if (row) s.finalize(row);
    nsys_sqlite_close(&s);
    return NETPROF_OK;
}
