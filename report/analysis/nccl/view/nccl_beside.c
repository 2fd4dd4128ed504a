#include "nccl_beside.h"

#include "analysis/base/directory.h"
#include "analysis/nccl/logs/nccl_logs.h"
#include "analysis/nccl/logs/nccl_recorded.h"

#include <string.h>

bool nccl_beside_is_file(const char *path)
{
    size_t length = strlen(path);
    if (nccl_recorded_is_name(path)) return true;
    bool is_recording = length > 8 && strcmp(path + length - 8, ".netprof") == 0;
    return !is_recording && !listing_is_directory(path) && nccl_recognise(path);
}

static void nccl_beside_find(listing *files, const char *const *paths, size_t count)
{
    static const char *const endings[] = {".netprof", ".log",      ".log.gz",    ".log.zst",
                                          ".jsonl",   ".jsonl.gz", ".jsonl.zst", NULL};
    for (size_t i = 0; i < count; i++) {
        listing there = {0};
        if (!listing_is_directory(paths[i])) {
            if (nccl_beside_is_file(paths[i])) listing_add(files, paths[i]);
            continue;
        }
        if (!listing_add_directory(&there, paths[i], endings)) listing_sort(&there);
        for (size_t k = 0; k < there.count; k++)
            if (nccl_beside_is_file(there.paths[k])) listing_add(files, there.paths[k]);
        listing_free(&there);
    }
}

bool nccl_beside_read(nccl *n, const char *const *paths, size_t count)
{
    listing files = {0};
    nccl_beside_find(&files, paths, count);
    bool read = files.count && !nccl_read(n, (const char *const *)files.paths, files.count, NULL, NULL);
    listing_free(&files);
    return read;
}
