#define _GNU_SOURCE // DT_REG
#include "directory.h"

#include "memory.h"
#include "stb_ds.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void listing_take(listing *l, char *path)
{
    arrput(l->paths, path);
    l->count = arrlenu(l->paths);
}

void listing_add(listing *l, const char *path)
{
    listing_take(l, memory_strdup(path));
}

static bool listing_ends_in(const char *name, const char *const *endings)
{
    static const char *const packed[] = {".gz", ".zst"};
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (n > strlen(packed[i]) && strcmp(name + n - strlen(packed[i]), packed[i]) == 0) n -= strlen(packed[i]);
    for (; *endings; endings++) {
        size_t m = strlen(*endings);
        if (n > m && strncmp(name + n - m, *endings, m) == 0) return true;
    }
    return false;
}

static int listing_by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// Opening a named pipe or a device that somebody put there could wait for ever. What cannot be looked at is listed:
// opening it says why.
static bool listing_is_file(DIR *d, const struct dirent *x)
{
    struct stat st;
    if (x->d_type == DT_REG) return true;
    if (x->d_type != DT_LNK && x->d_type != DT_UNKNOWN) return false;
    return fstatat(dirfd(d), x->d_name, &st, 0) || S_ISREG(st.st_mode);
}

netprof_err listing_add_directory(listing *l, const char *directory, const char *const *endings)
{
    DIR *d = opendir(directory);
    size_t first = l->count, n = strlen(directory);
    if (!d && errno == ENOMEM) memory_exhausted();
    if (!d) return NETPROF_ERR_IO;
    for (struct dirent *x; (x = readdir(d));)
        if (x->d_name[0] != '.' && listing_ends_in(x->d_name, endings) && listing_is_file(d, x))
            listing_take(l, memory_format("%s%s%s", directory, n && directory[n - 1] == '/' ? "" : "/", x->d_name));
    closedir(d);
    if (l->count > first) qsort(l->paths + first, l->count - first, sizeof *l->paths, listing_by_text);
    return NETPROF_OK;
}

void listing_sort(listing *l)
{
    size_t kept = 0;
    if (l->count) qsort(l->paths, l->count, sizeof *l->paths, listing_by_text);
    for (size_t i = 0; i < l->count; i++) {
        if (kept && strcmp(l->paths[kept - 1], l->paths[i]) == 0)
            free(l->paths[i]);
        else
            l->paths[kept++] = l->paths[i];
    }
    arrsetlen(l->paths, kept);
    l->count = kept;
}

void listing_free(listing *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->paths[i]);
    arrfree(l->paths);
    *l = (listing){0};
}

bool listing_is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}
