// The job's control group: version 2 (kernel: Documentation/admin-guide/cgroup-v2.rst), else the controllers of
// version 1. Both are told under the same names; times in microseconds.
#define _GNU_SOURCE
#include "private.h"
#include "shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const emit_shape time_us = SHAPE("us", COUNTER, NETPROF_FAST), periods = SHAPE("periods", COUNTER, NETPROF_FAST),
                        events = SHAPE("events", COUNTER, NETPROF_FAST), bytes = SHAPE("bytes", GAUGE, NETPROF_FAST),
                        moved = SHAPE("bytes", COUNTER, NETPROF_FAST), requests = SHAPE("requests", COUNTER, 0),
                        processes = SHAPE("processes", GAUGE, 0);

// A number of a file: by its key, or the whole file.
typedef struct row {
    const char *controller; // version 1: where; version 2: NULL
    const char *file, *key; // key NULL: the file is one number
    const char *name;
    const emit_shape *shape;
    uint64_t multiply, divide;
} row;

static const row rows_2[] = {
    {NULL, "cpu.stat", "usage_usec", "cpu_usage", &time_us, 1, 1},
    {NULL, "cpu.stat", "user_usec", "cpu_user", &time_us, 1, 1},
    {NULL, "cpu.stat", "system_usec", "cpu_system", &time_us, 1, 1},
    {NULL, "cpu.stat", "nr_periods", "periods", &periods, 1, 1},
    {NULL, "cpu.stat", "nr_throttled", "throttled_periods", &periods, 1, 1},
    {NULL, "cpu.stat", "throttled_usec", "throttled_time", &time_us, 1, 1},
    {NULL, "memory.current", NULL, "memory_current", &bytes, 1, 1},
    {NULL, "memory.peak", NULL, "memory_peak", &bytes, 1, 1},
    {NULL, "memory.max", NULL, "memory_limit", &bytes, 1, 1},
    {NULL, "memory.swap.current", NULL, "swap_current", &bytes, 1, 1},
    {NULL, "memory.stat", "anon", "memory_anonymous", &bytes, 1, 1},
    {NULL, "memory.stat", "file", "memory_file", &bytes, 1, 1},
    {NULL, "memory.stat", "inactive_file", "memory_file_inactive", &bytes, 1, 1},
    {NULL, "memory.events", "high", "memory_high_events", &events, 1, 1},
    {NULL, "memory.events", "max", "memory_limit_events", &events, 1, 1},
    {NULL, "memory.events", "oom_kill", "oom_kills", &events, 1, 1},
    {NULL, "pids.current", NULL, "processes", &processes, 1, 1},
};

// cpuacct.stat counts ticks of 10 ms (USER_HZ is 100 on every architecture that netprof runs on).
static const row rows_1[] = {
    {"cpuacct", "cpuacct.usage", NULL, "cpu_usage", &time_us, 1, 1000},
    {"cpuacct", "cpuacct.stat", "user", "cpu_user", &time_us, 10000, 1},
    {"cpuacct", "cpuacct.stat", "system", "cpu_system", &time_us, 10000, 1},
    {"cpu", "cpu.stat", "nr_periods", "periods", &periods, 1, 1},
    {"cpu", "cpu.stat", "nr_throttled", "throttled_periods", &periods, 1, 1},
    {"cpu", "cpu.stat", "throttled_time", "throttled_time", &time_us, 1, 1000},
    {"memory", "memory.usage_in_bytes", NULL, "memory_current", &bytes, 1, 1},
    {"memory", "memory.max_usage_in_bytes", NULL, "memory_peak", &bytes, 1, 1},
    {"memory", "memory.limit_in_bytes", NULL, "memory_limit", &bytes, 1, 1},
    {"memory", "memory.stat", "total_rss", "memory_anonymous", &bytes, 1, 1},
    {"memory", "memory.stat", "total_cache", "memory_file", &bytes, 1, 1},
    {"memory", "memory.stat", "total_inactive_file", "memory_file_inactive", &bytes, 1, 1},
    {"memory", "memory.failcnt", NULL, "memory_limit_events", &events, 1, 1},
    {"memory", "memory.oom_control", "oom_kill", "oom_kills", &events, 1, 1},
    {"pids", "pids.current", NULL, "processes", &processes, 1, 1},
};

enum { ROWS = sizeof rows_2 / sizeof *rows_2 > sizeof rows_1 / sizeof *rows_1 ? sizeof rows_2 / sizeof *rows_2
                                                                              : sizeof rows_1 / sizeof *rows_1 };

typedef struct group {
    char *path; // below the root, with the mount's; NULL: no such controller
} group;

typedef struct cgroup_state {
    pid_t pid;
    char *wanted; // given by the user, or NULL
    bool found;
    char *name;
    const row *rows;
    size_t row_count;
    group groups[ROWS]; // of each row
    emit_file files[ROWS], io;
    char *io_path;
} cgroup_state;

// ---- where it is ----

static bool is_there(const emit *e, const char *path, const char *file)
{
    char full[4096];
    struct stat st;
    int n = snprintf(full, sizeof full, "%s%s/%s", emit_root(e), path, file);
    return n > 0 && (size_t)n < sizeof full && stat(full, &st) == 0;
}

// Mount point of version 2 (controller NULL) or of a controller of version 1, from mountinfo; free it. Fields: id
// parent major:minor root mount-point options ... - type source super-options.
char *cgroup_mount(const emit *e, const char *controller)
{
    emit_file info = {.fd = -1};
    int error;
    char *at = emit_file_read(&info, e, "/proc/self/mountinfo", &error), *line, *found = NULL;
    while (!found && at && (line = emit_line(&at))) {
        char *end = strstr(line, " - "), *point = NULL, *type, *word;
        if (!end) continue;
        *end = 0;
        for (int i = 0; i < 5; i++) point = emit_word(&line);
        end += 3;
        type = emit_word(&end);
        emit_word(&end);
        if (!point || !type) continue;
        if (!controller && strcmp(type, "cgroup2") == 0) found = strdup(point);
        if (!controller || strcmp(type, "cgroup") != 0 || !end) continue;
        for (char *options = end; !found && (word = strsep(&options, ","));)
            if (strcmp(word, controller) == 0) found = strdup(point);
    }
    emit_file_close(&info);
    return found;
}

// Path of the process's group in version 2 (controller NULL) or of a controller, from its line "N:controllers:path";
// free it.
static char *path_of(const emit *e, pid_t pid, const char *controller)
{
    emit_file list = {.fd = -1};
    char file[64], *line, *found = NULL;
    int error;
    snprintf(file, sizeof file, "/proc/%ld/cgroup", (long)pid);
    char *at = emit_file_read(&list, e, file, &error);
    while (!found && at && (line = emit_line(&at))) {
        strsep(&line, ":");
        char *controllers = strsep(&line, ":"), *word;
        if (!line || !controllers) continue;
        if (!controller && !*controllers) found = strdup(line);
        while (!found && controller && (word = strsep(&controllers, ",")))
            if (strcmp(word, controller) == 0) found = strdup(line);
    }
    emit_file_close(&list);
    return found;
}

// The group's directory; in a container with its own view the path may not lead anywhere: then it is the mount itself.
static char *directory_of(const emit *e, const cgroup_state *s, const char *controller, const char *probe)
{
    char *mount = cgroup_mount(e, controller), *path, *full = NULL;
    if (!mount) return NULL;
    path = s->wanted ? strdup(s->wanted) : path_of(e, s->pid, controller);
    if (path && asprintf(&full, "%s%s%s", mount, *path == '/' ? "" : "/", strcmp(path, "/") == 0 ? "" : path) < 0) full = NULL;
    if (full && full[strlen(full) - 1] == '/') full[strlen(full) - 1] = 0;
    if (full && !is_there(e, full, probe)) {
        free(full);
        full = !s->wanted && is_there(e, mount, probe) ? strdup(mount) : NULL;
    }
    free(path);
    free(mount);
    return full;
}

static void find_rows(cgroup_state *s, const emit *e, const row *rows, size_t count)
{
    s->rows = rows;
    s->row_count = count;
    for (size_t i = 0; i < count; i++) {
        free(s->groups[i].path);
        s->groups[i].path = directory_of(e, s, rows[i].controller, rows[i].file);
    }
}

static void find(cgroup_state *s, emit *e)
{
    char *version_2 = directory_of(e, s, NULL, "cpu.stat");
    // A mount of version 2 without controllers stands beside version 1 on hybrid systems: usage alone would be all.
    char *version_1 = directory_of(e, s, "memory", "memory.stat");
    bool whole = version_2 && (is_there(e, version_2, "memory.current") || !version_1);
    if (whole) {
        find_rows(s, e, rows_2, sizeof rows_2 / sizeof *rows_2);
        if (asprintf(&s->io_path, "%s/io.stat", version_2) < 0) s->io_path = NULL;
    } else {
        find_rows(s, e, rows_1, sizeof rows_1 / sizeof *rows_1);
    }
    for (size_t i = 0; i < s->row_count && !s->found; i++) s->found = s->groups[i].path != NULL;
    free(s->name);
    s->name = s->wanted ? strdup(s->wanted) : path_of(e, s->pid, whole ? NULL : "memory");
    if (!s->found) emit_state(e, NETPROF_STATUS_ABSENT, 0, "/sys/fs/cgroup");
    free(version_1);
    free(version_2);
}

// ---- reading ----

static char *number_at(char *text, const char *key)
{
    if (!key) {
        text[strcspn(text, "\n")] = 0;
        return text;
    }
    for (char *line; (line = emit_line(&text));) {
        char *word = emit_word(&line);
        if (word && strcmp(word, key) == 0) return emit_word(&line);
    }
    return NULL;
}

static void walk_row(cgroup_state *s, emit *e, size_t i)
{
    const row *x = &s->rows[i];
    char path[4096], *text, *number;
    uint64_t value;
    int error;
    if (!s->groups[i].path) return;
    snprintf(path, sizeof path, "%.4000s/%s", s->groups[i].path, x->file);
    text = emit_file_read(&s->files[i], e, path, &error);
    number = text ? number_at(text, x->key) : NULL;
    if (text && (!number || strcmp(number, "max") == 0)) return; // an older kernel; no limit
    if (!text) {
        if (error != ENOENT) emit_failed(e, x->name, x->shape, error);
        return;
    }
    if (!emit_number(number, &value)) emit_failed(e, x->name, x->shape, EBADMSG);
    // Version 1 says "no limit" by the largest whole page.
    else if (x->shape != &bytes || value < UINT64_C(1) << 62)
        emit_value(e, x->name, x->shape, value / x->divide * x->multiply);
}

// "8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=5 dios=6": one device each.
static void walk_io(cgroup_state *s, emit *e)
{
    static const struct {
        const char *key, *name;
        const emit_shape *shape;
    } keys[] = {{"rbytes", "read_bytes", &moved}, {"wbytes", "write_bytes", &moved},
                {"rios", "reads", &requests},     {"wios", "writes", &requests}};
    int error;
    char *at = s->io_path ? emit_file_read(&s->io, e, s->io_path, &error) : NULL, *line;
    while (at && (line = emit_line(&at))) {
        char *device = emit_word(&line), *word;
        while (device && (word = emit_word(&line))) {
            char *key = strsep(&word, "="), name[64];
            uint64_t value;
            for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
                if (strcmp(keys[i].key, key) != 0 || !emit_number(word, &value)) continue;
                snprintf(name, sizeof name, "io_%.20s_%s", device, keys[i].name);
                emit_value(e, name, keys[i].shape, value);
            }
        }
    }
}

static void walk(void *state, emit *e)
{
    cgroup_state *s = state;
    if (!s->pid && !s->wanted) return;
    if (!s->found) find(s, e);
    if (!s->found) return;
    emit_device(e, s->name && *s->name ? s->name : "/", NETPROF_DEVICE_VIRTUAL);
    emit_fact(e, "version", s->rows == rows_2 ? "2" : "1");
    for (size_t i = 0; i < s->row_count; i++) walk_row(s, e, i);
    walk_io(s, e);
}

static void close_cgroup(void *state)
{
    cgroup_state *s = state;
    for (size_t i = 0; i < ROWS; i++) {
        free(s->groups[i].path);
        emit_file_close(&s->files[i]);
    }
    emit_file_close(&s->io);
    free(s->io_path);
    free(s->name);
    free(s->wanted);
}

netprof_err sources_add_cgroup(netprof *np, const sources_job *job, netprof_error *error)
{
    static const emit_source source = {"cgroup", sizeof(cgroup_state), walk, close_cgroup};
    cgroup_state state = {.pid = job->pid_count ? job->pids[0] : job->expected && !job->elsewhere ? getpid() : 0};
    state.wanted = job->cgroup ? strdup(job->cgroup) : NULL;
    return emit_add(np, &source, &state, error);
}
