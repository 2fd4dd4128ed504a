#define _GNU_SOURCE
#include "status_file.h"

#include "live/spool/spool_model.h"

#include "analysis/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STATUS_FILE_MOST = 256 << 20 };

bool status_file_head_runs(const char *directory)
{
    char *path = memory_format("%s/lock", directory);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool runs = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
    if (fd >= 0) close(fd); // with it the lock
    free(path);
    return runs;
}

bool status_file_is_new(const char *directory, const char *name, status_seen *seen)
{
    char *path = memory_format("%s/%s", directory, name);
    struct stat st;
    status_seen now = {.inode = 0};
    if (stat(path, &st) == 0)
        now = (status_seen){.device = st.st_dev,
                            .inode = st.st_ino,
                            .size = (uint64_t)st.st_size,
                            .changed_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec};
    bool same = now.device == seen->device && now.inode == seen->inode && now.size == seen->size &&
                now.changed_ns == seen->changed_ns;
    *seen = now;
    free(path);
    return !same;
}

uint64_t status_file_number(json_object *o, const char *key)
{
    json_object *v;
    return json_object_object_get_ex(o, key, &v) ? json_object_get_uint64(v) : 0;
}

const char *status_file_text(json_object *o, const char *key)
{
    json_object *v;
    const char *text = json_object_object_get_ex(o, key, &v) ? json_object_get_string(v) : NULL;
    return text ? text : "";
}

json_object *status_file_parse(const char *path)
{
    json_object *o = NULL;
    FILE *f = fopen(path, "re");
    if (f) {
        json_tokener *tokener = json_new_tokener(8);
        char piece[65536];
        size_t n, all = 0;
        while ((n = fread(piece, 1, sizeof piece, f)) > 0 && !o && (all += n) < STATUS_FILE_MOST)
            o = json_feed_tokener(tokener, piece, (int)n);
        json_tokener_free(tokener);
        fclose(f);
    }
    if (o && !json_object_is_type(o, json_type_object)) {
        json_object_put(o);
        o = NULL;
    }
    return o;
}

json_object *status_file_read(const char *directory)
{
    char *path = memory_format("%s/status.json", directory);
    json_object *o = status_file_parse(path);
    free(path);
    return o;
}

uint64_t status_file_missing(json_object *node)
{
    json_object *missing;
    uint64_t sum = 0;
    if (!json_object_object_get_ex(node, "missing_ticks", &missing)) return 0;
    for (unsigned i = 0; i < SPOOL_REASONS; i++) // numbers passed over, and what another head has, are not lost
        if (i != SPOOL_RESTARTED && i != SPOOL_ELSEWHERE) sum += status_file_number(missing, spool_reason_name(i));
    return sum;
}

int64_t status_file_silence(json_object *node)
{
    json_object *v;
    return json_object_object_get_ex(node, "silent_ns", &v) && v ? json_object_get_int64(v) : -1;
}
