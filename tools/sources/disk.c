// Whole disks by /proc/diskstats (kernel: Documentation/admin-guide/iostats.rst). Sectors are 512 bytes whatever the
// disk; partitions, RAM disks and unused loop devices are left out: their bytes are those of a disk, or none.
#include "sources_makers.h"
#include "shapes.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct disk_state {
    emit_file stats;
} disk_state;

static const emit_shape requests = SHAPE("requests", COUNTER, 0);
static const emit_shape sectors = {.unit = "bytes", .kind = NETPROF_KIND_COUNTER, .scale = 512, .flags = NETPROF_FAST};
static const emit_shape milliseconds = {.unit = "us", .kind = NETPROF_KIND_COUNTER, .scale = 1000};
static const emit_shape waiting = {.unit = "requests", .kind = NETPROF_KIND_GAUGE, .scale = 1};

static const struct {
    const char *name; // NULL: not reported
    const emit_shape *shape;
} columns[] = {
    {"reads", &requests},
    {"reads_merged", &requests},
    {"read_bytes", &sectors},
    {"read_time", &milliseconds},
    {"writes", &requests},
    {"writes_merged", &requests},
    {"write_bytes", &sectors},
    {"write_time", &milliseconds},
    {"in_flight", &waiting},
    {"busy_time", &milliseconds},
    {"queue_time", &milliseconds},
    {"discards", &requests},
    {NULL, NULL},
    {"discard_bytes", &sectors},
    {NULL, NULL},
    {"flushes", &requests},
    {"flush_time", &milliseconds},
};

static bool disk_is_whole(const emit *e, const char *name)
{
    char path[512];
    struct stat st;
    if (strncmp(name, "ram", 3) == 0 || strchr(name, '/')) return false;
    int n = snprintf(path, sizeof path, "%s/sys/block/%s", emit_root(e), name);
    if (n < 0 || (size_t)n >= sizeof path) return false;
    if (stat(path, &st) == 0) return true;
    // Without sysfs (a saved /proc alone): partitions cannot be distinguished, and are listed, too.
    snprintf(path, sizeof path, "%s/sys/block", emit_root(e));
    return stat(path, &st) != 0;
}

// Physical when it is no layer above other disks.
static unsigned disk_layer(const char *name)
{
    static const char *const above[] = {"dm-", "md", "loop", "zram", "nbd", "drbd"};
    for (size_t i = 0; i < sizeof above / sizeof *above; i++)
        if (strncmp(name, above[i], strlen(above[i])) == 0) return NETPROF_DEVICE_VIRTUAL;
    return NETPROF_DEVICE_PHYSICAL;
}

static void disk_walk_columns(emit *e, char *line)
{
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        const char *word = emit_word(&line);
        uint64_t value;
        if (!word) return;
        if (!columns[i].name) continue;
        if (emit_number(word, &value) && value <= UINT64_MAX / 1000)
            emit_value(e, columns[i].name, columns[i].shape, value * columns[i].shape->scale);
        else
            emit_failed(e, columns[i].name, columns[i].shape, EBADMSG);
    }
}

static void disk_walk(void *state, emit *e)
{
    disk_state *s = state;
    int error;
    char *at = emit_file_read(&s->stats, e, "/proc/diskstats", &error), *line;
    if (!at) {
        emit_state(e, netprof_status_of_errno(error), error, "/proc/diskstats");
        return;
    }
    while ((line = emit_line(&at))) {
        emit_word(&line);
        emit_word(&line);
        char *name = emit_word(&line);
        if (!name || !disk_is_whole(e, name)) continue;
        if (strncmp(name, "loop", 4) == 0 && strncmp(line, "0 0 0 0 0 0 0", 13) == 0) continue;
        emit_device(e, name, disk_layer(name));
        disk_walk_columns(e, line);
    }
}

static void disk_close(void *state)
{
    emit_file_close(&((disk_state *)state)->stats);
}

netprof_err sources_add_disk(netprof *np, const sources_job *job, netprof_error *error)
{
    static const emit_source source = {
        .name = "disk", .size = sizeof(disk_state), .walk = disk_walk, .close = disk_close};
    (void)job;
    return emit_add(np, &source, NULL, error);
}
