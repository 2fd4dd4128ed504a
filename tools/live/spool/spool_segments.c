#include "spool_segments.h"

#include "seglog.h"
#include "spool_model.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SPOOL_DIGITS = 20 };
static const char spool_ending[] = ".segment";

char *spool_segment_path(const char *directory, uint64_t first)
{
    return memory_format("%s/%0*" PRIu64 "%s", directory, SPOOL_DIGITS, first, spool_ending);
}

static int spool_segments_order(const void *a, const void *b)
{
    const spool_segment *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

int spool_segments_list(const char *directory, spool_segment **out)
{
    DIR *d = opendir(directory);
    if (!d) return errno;
    for (struct dirent *e; (e = readdir(d));) {
        struct stat st;
        char *end;
        if (strlen(e->d_name) != SPOOL_DIGITS + sizeof spool_ending - 1 ||
            strspn(e->d_name, "0123456789") != SPOOL_DIGITS || strcmp(e->d_name + SPOOL_DIGITS, spool_ending) != 0)
            continue;
        uint64_t first = strtoull(e->d_name, &end, 10);
        if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode)) continue;
        arrput(*out, ((spool_segment){.first = first, .bytes = (uint64_t)st.st_size}));
    }
    closedir(d);
    if (arrlenu(*out)) qsort(*out, arrlenu(*out), sizeof **out, spool_segments_order);
    return 0;
}

uint64_t spool_segment_last(const char *path)
{
    seglog_reader r;
    seglog_entry e;
    uint64_t last = 0;
    if (seglog_reader_open(&r, path)) return 0;
    while (seglog_reader_next(&r, &e))
        if (e.kind == SPOOL_TICK && e.number > last) last = e.number;
    seglog_reader_close(&r);
    return last;
}

static void spool_segments_sync_file(const char *path, int flags)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | flags);
    if (fd < 0) return;
    if (fdatasync(fd)) errno = 0; // tried again with the next
    close(fd);
}

void spool_segments_sync(const char *directory)
{
    spool_segment *all = NULL;
    if (spool_segments_list(directory, &all) == 0) {
        size_t count = arrlenu(all);
        for (size_t i = count > 2 ? count - 2 : 0; i < count; i++) {
            char *path = spool_segment_path(directory, all[i].first);
            spool_segments_sync_file(path, 0);
            free(path);
        }
        spool_segments_sync_file(directory, O_DIRECTORY);
    }
    arrfree(all);
}
