// Finding the files of logs.
#define _GNU_SOURCE // asprintf
#include "nccl_parts.h"

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
    return files_is_metrics(name);
}

typedef struct finder {
    nccl *n;
    size_t room;
    bool failed;
} finder;

static void files_add(finder *f, const char *path, const struct stat *st)
{
    nccl *n = f->n;
    nccl_store *memory = n->memory;
    if (!NCCL_ROOM(n->files, n->file_count, f->room)) {
        f->failed = true;
        return;
    }
    char *copy = nccl_arena_text(&memory->arena, path, strlen(path));
    if (!copy) {
        f->failed = true;
        return;
    }
    const char *slash = strrchr(copy, '/');
    n->files[n->file_count++] = (nccl_file){.path = copy,
                                            .name = slash ? slash + 1 : copy,
                                            .prometheus = files_is_metrics(copy),
                                            .size = st->st_size > 0 ? (uint64_t)st->st_size : 0};
}

// A directory that cannot be opened is kept as a file with its error: what is below it is unknown, not nothing.
static void files_add_unreadable(finder *f, const char *path, int error)
{
    struct stat none = {0};
    files_add(f, path, &none);
    if (!f->failed) f->n->files[f->n->file_count - 1].error = error;
}

static void files_find_below(finder *f, const char *directory, unsigned depth)
{
    enum { DEPTH = 64 };
    DIR *d = opendir(directory);
    struct dirent *entry;
    struct stat st;
    if (!d) {
        files_add_unreadable(f, directory, errno);
        return;
    }
    while (!f->failed && (entry = readdir(d))) {
        char *path;
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        if (asprintf(&path, "%s%s%s", directory, files_ends_with(directory, "/") ? "" : "/", name) < 0) {
            f->failed = true;
            break;
        }
        // Links to files are followed, links to directories are not: they may lead in circles.
        if (lstat(path, &st) == 0) {
            if (S_ISDIR(st.st_mode) && depth < DEPTH)
                files_find_below(f, path, depth + 1);
            else if (files_is_log(name) && stat(path, &st) == 0 && S_ISREG(st.st_mode))
                files_add(f, path, &st);
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
    finder f = {n, 0, false};
    struct stat st;
    for (size_t i = 0; i < count && !f.failed; i++) {
        if (stat(paths[i], &st) != 0) {
            error->sys_errno = errno;
            snprintf(error->path, sizeof error->path, "%s", paths[i]);
            return error->code = NETPROF_ERR_IO;
        }
        if (S_ISDIR(st.st_mode))
            files_find_below(&f, paths[i], 0);
        else
            files_add(&f, paths[i], &st);
    }
    if (f.failed) return error->code = NETPROF_ERR_NOMEM;
    if (n->file_count) qsort(n->files, n->file_count, sizeof *n->files, files_by_path);
    size_t kept = 0; // named twice is there once
    for (size_t i = 0; i < n->file_count; i++)
        if (!kept || strcmp(n->files[kept - 1].path, n->files[i].path) != 0) n->files[kept++] = n->files[i];
    n->file_count = kept;
    return NETPROF_OK;
}
