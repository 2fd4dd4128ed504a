// Finding the files of logs.

#include "nccl_parts.h"
#include "nccl_recorded.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

// ---- finding files ----

static bool files_ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length > tail && strcmp(name + length - tail, end) == 0;
}

static bool files_is_metrics(const char *name)
{
    return files_ends_with(name, ".prom");
}

static bool files_is_log(const char *name)
{
    static const char *const ends[] = {".log", ".log.gz", ".log.zst", ".jsonl", ".jsonl.gz", ".jsonl.zst"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (files_ends_with(name, ends[i])) return true;
    return files_is_metrics(name) || nccl_recorded_is_name(name);
}

static nccl_file *files_add(nccl *n, const char *path, off_t size)
{
    char *copy = nccl_arena_text(&nccl_store_of(n)->arena, path, strlen(path)), *slash = strrchr(copy, '/');
    nccl_file file = {.path = copy,
                      .name = slash ? slash + 1 : copy,
                      .prometheus = files_is_metrics(copy),
                      .host = NCCL_NONE,
                      .recorded = files_ends_with(copy, ".netprof"),
                      .size = size > 0 ? (uint64_t)size : 0};
    arrput(n->files, file);
    return &arrlast(n->files);
}

// A directory that cannot be opened is kept as a file with its error: what is below it is unknown, not nothing.
static void files_find_below(nccl *n, const char *directory, unsigned depth)
{
    enum { DEPTH = 64 };
    DIR *d = opendir(directory);
    struct dirent *entry;
    struct stat st;
    if (!d) {
        int error = errno;
        if (error == ENOMEM) memory_exhausted();
        files_add(n, directory, 0)->error = error;
        return;
    }
    while ((entry = readdir(d))) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        char *path = memory_format("%s%s%s", directory, files_ends_with(directory, "/") ? "" : "/", name);
        // Links to files are followed, links to directories are not: they may lead in circles.
        if (lstat(path, &st) == 0) {
            if (S_ISDIR(st.st_mode) && depth < DEPTH)
                files_find_below(n, path, depth + 1);
            else if (files_is_log(name) && stat(path, &st) == 0 && S_ISREG(st.st_mode))
                files_add(n, path, st.st_size);
        }
        free(path);
    }
    closedir(d);
}

static int files_by_path(const void *a, const void *b)
{
    return strcmp(((const nccl_file *)a)->path, ((const nccl_file *)b)->path);
}

netprof_err nccl_files_find(nccl *n, const char *const *paths, size_t count, netprof_error *error)
{
    struct stat st;
    for (size_t i = 0; i < count; i++) {
        if (stat(paths[i], &st) != 0) {
            error->sys_errno = errno;
            snprintf(error->path, sizeof error->path, "%s", paths[i]);
            return error->code = NETPROF_ERR_IO;
        }
        if (S_ISDIR(st.st_mode))
            files_find_below(n, paths[i], 0);
        else
            files_add(n, paths[i], st.st_size);
    }
    size_t found = arrlenu(n->files);
    if (found) qsort(n->files, found, sizeof *n->files, files_by_path);
    for (size_t i = 0; i < found; i++) // a file that was named twice counts once
        if (!n->file_count || strcmp(n->files[n->file_count - 1].path, n->files[i].path) != 0)
            n->files[n->file_count++] = n->files[i];
    return NETPROF_OK;
}
