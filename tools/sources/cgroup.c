// The job's control group: version 2 (kernel: Documentation/admin-guide/cgroup-v2.rst), else the controllers of
// version 1. Both are reported under the same names; times in microseconds.
//
// Limits hold for all that is below the group that has them: memory_limit, cpu_quota and cpu_period are the tightest of
// the group's own and those above it. Of Slurm's groups the job's is taken, not the step's or task's below it: it has
// the limits of what was given to the job.
#define _GNU_SOURCE
#include "cgroup.h"
#include "cpulist.h"
#include "membership.h"
#include "sources_makers.h"
#include "shapes.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
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
    {"memory", "memory.stat", "total_rss", "memory_anonymous", &bytes, 1, 1},
    {"memory", "memory.stat", "total_cache", "memory_file", &bytes, 1, 1},
    {"memory", "memory.stat", "total_inactive_file", "memory_file_inactive", &bytes, 1, 1},
    {"memory", "memory.failcnt", NULL, "memory_limit_events", &events, 1, 1},
    {"memory", "memory.oom_control", "oom_kill", "oom_kills", &events, 1, 1},
    {"pids", "pids.current", NULL, "processes", &processes, 1, 1},
};

enum {
    ROWS = sizeof rows_2 / sizeof *rows_2 > sizeof rows_1 / sizeof *rows_1 ? sizeof rows_2 / sizeof *rows_2
                                                                           : sizeof rows_1 / sizeof *rows_1
};

typedef struct group {
    char *path;   // below the root, with the mount's; NULL: no such controller
    size_t mount; // length of the mount's part
} group;

typedef struct cgroup_state {
    const sources_job *job;
    pid_t pid;
    bool own;     // its group names the scheduler's job
    size_t next;  // of the job's processes, who is asked next for such a group
    char *wanted; // given by the user, or NULL
    bool found;
    char *name;
    const row *rows;
    size_t row_count;
    group groups[ROWS];        // of each row
    emit_file files[ROWS], io; // of rows of one file, the first one's
    char *text;                // of the file that was read last, or NULL and why
    int text_errno;
    char *io_path;
    group memory, cpu, cpuset; // where limits begin
    uint64_t memory_limit;     // as it was read last; 0: none
} cgroup_state;

// ---- where it is ----

static bool cgroup_is_there(const emit *e, const char *path, const char *file)
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
        for (int i = 0; i < 5; i++)
            point = emit_word(&line);
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

bool cgroup_exists(const char *path)
{
    FILE *info = fopen("/proc/self/mountinfo", "re");
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    while (info && !found && getline(&line, &room, info) > 0) {
        const char *type = strstr(line, " - ");
        char *at = line, *point = NULL, *full;
        struct stat st;
        if (!type || strncmp(type + 3, "cgroup", 6) != 0) continue;
        for (int i = 0; i < 5; i++)
            point = emit_word(&at);
        if (!point || asprintf(&full, "%s/%s", point, path) < 0) continue;
        found = stat(full, &st) == 0 && S_ISDIR(st.st_mode);
        free(full);
    }
    if (info) fclose(info);
    free(line);
    return found;
}

// Path of the process's group in version 2 (controller NULL) or of a controller, from its line "N:controllers:path";
// free it.
static char *cgroup_path_of(const emit *e, pid_t pid, const char *controller)
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

static char *cgroup_join_path(const char *mount, const char *path)
{
    char *full;
    if (asprintf(&full, "%s%s%s", mount, *path == '/' ? "" : "/", strcmp(path, "/") == 0 ? "" : path) < 0) return NULL;
    size_t length = strlen(full);
    if (length && full[length - 1] == '/') full[length - 1] = 0;
    return full;
}

// The job's group, else the process's own; in a container with its own view the path may not lead anywhere: then it is
// the mount itself. path NULL: there is none.
static group cgroup_find_group(const emit *e, const cgroup_state *s, const char *controller, const char *probe)
{
    char *mount = cgroup_mount(e, controller), *path = NULL, *full = NULL;
    group found = {NULL, 0};
    if (!mount) return found;
    path = s->wanted ? strdup(s->wanted) : cgroup_path_of(e, s->pid, controller);
    for (int whole = 0; path && whole < 2 && !full; whole++) {
        char *tried = strdup(path);
        if (tried && !whole && !s->wanted) membership_cut_to_job(tried);
        full = tried ? cgroup_join_path(mount, tried) : NULL;
        free(tried);
        if (!full || cgroup_is_there(e, full, probe)) continue;
        free(full);
        full = NULL;
    }
    if (!full && !s->wanted && cgroup_is_there(e, mount, probe)) full = strdup(mount);
    found = (group){full, strlen(mount)};
    free(path);
    free(mount);
    return found;
}

static void cgroup_set_group(group *g, group to)
{
    free(g->path);
    *g = to;
}

// From a group to the one above it; false at the mount.
static bool cgroup_step_up(char *path, size_t mount)
{
    char *slash = strrchr(path, '/');
    if (!slash || (size_t)(slash - path) < mount) return false;
    *slash = 0;
    return true;
}

static void cgroup_find_rows(cgroup_state *s, const emit *e, const row *rows, size_t count)
{
    s->rows = rows;
    s->row_count = count;
    for (size_t i = 0; i < count; i++)
        cgroup_set_group(&s->groups[i], cgroup_find_group(e, s, rows[i].controller, rows[i].file));
}

static void cgroup_find_limits(cgroup_state *s, const emit *e, bool version_2)
{
    cgroup_set_group(&s->memory,
                     cgroup_find_group(e, s, version_2 ? NULL : "memory", version_2 ? "" : "memory.limit_in_bytes"));
    cgroup_set_group(&s->cpu, cgroup_find_group(e, s, version_2 ? NULL : "cpu", version_2 ? "" : "cpu.cfs_quota_us"));
    cgroup_set_group(&s->cpuset, cgroup_find_group(e, s, "cpuset", "cpuset.cpus"));
    if (!s->cpuset.path) cgroup_set_group(&s->cpuset, cgroup_find_group(e, s, NULL, ""));
}

static char *cgroup_name_of(const cgroup_state *s, const emit *e, bool version_2)
{
    char *name = s->wanted ? strdup(s->wanted) : cgroup_path_of(e, s->pid, version_2 ? NULL : "memory");
    if (name && !s->wanted) membership_cut_to_job(name);
    return name;
}

static void cgroup_find(cgroup_state *s, emit *e)
{
    group version_2 = cgroup_find_group(e, s, NULL, "cpu.stat");
    // Hybrid systems mount version 2 without controllers beside version 1; it would give CPU usage only.
    group version_1 = cgroup_find_group(e, s, "memory", "memory.stat");
    bool whole = version_2.path && (cgroup_is_there(e, version_2.path, "memory.current") || !version_1.path);
    free(s->io_path);
    s->io_path = NULL;
    if (whole) {
        cgroup_find_rows(s, e, rows_2, sizeof rows_2 / sizeof *rows_2);
        if (asprintf(&s->io_path, "%s/io.stat", version_2.path) < 0) s->io_path = NULL;
    } else {
        cgroup_find_rows(s, e, rows_1, sizeof rows_1 / sizeof *rows_1);
    }
    cgroup_find_limits(s, e, whole);
    for (size_t i = 0; i < s->row_count && !s->found; i++)
        s->found = s->groups[i].path != NULL;
    free(s->name);
    s->name = cgroup_name_of(s, e, whole);
    if (!s->found) emit_state(e, NETPROF_STATUS_ABSENT, 0, "/sys/fs/cgroup");
    free(version_1.path);
    free(version_2.path);
}

// The files that are held open are those of the group before.
static void cgroup_find_anew(cgroup_state *s, emit *e)
{
    for (size_t i = 0; i < ROWS; i++)
        emit_file_close(&s->files[i]);
    emit_file_close(&s->io);
    s->found = false;
    cgroup_find(s, e);
}

// ---- reading ----

// Copies the word after the key, or the only word of a file that is one number; other rows read the same text.
static bool cgroup_word_of(const char *text, const char *key, char *word, size_t size)
{
    size_t length = key ? strlen(key) : 0;
    while (key && *text && !(strncmp(text, key, length) == 0 && text[length] == ' ')) {
        text = strchrnul(text, '\n');
        text += *text == '\n';
    }
    if (!*text) return false;
    if (key) text += length + 1;
    size_t n = strcspn(text, " \n");
    if (n >= size) return false;
    memcpy(word, text, n);
    word[n] = 0;
    return true;
}

// Rows of one file are adjacent: it is read once, at the first of them, so that all have values of the same time.
static char *cgroup_read_row(cgroup_state *s, const emit *e, size_t i)
{
    bool again = i > 0 && strcmp(s->rows[i - 1].file, s->rows[i].file) == 0;
    char path[4096];
    if (!again) {
        snprintf(path, sizeof path, "%.4000s/%s", s->groups[i].path, s->rows[i].file);
        s->text = emit_file_read(&s->files[i], e, path, &s->text_errno);
    }
    return s->text;
}

static void cgroup_walk_row(cgroup_state *s, emit *e, size_t i)
{
    const row *x = &s->rows[i];
    char *text, word[64];
    uint64_t value;
    if (!s->groups[i].path) return;
    text = cgroup_read_row(s, e, i);
    if (!text) {
        if (s->text_errno != ENOENT) emit_failed(e, x->name, x->shape, s->text_errno);
        return;
    }
    if (!cgroup_word_of(text, x->key, word, sizeof word) || strcmp(word, "max") == 0)
        return; // an older kernel; no limit
    if (!emit_number(word, &value))
        emit_failed(e, x->name, x->shape, EBADMSG);
    else
        emit_value(e, x->name, x->shape, value / x->divide * x->multiply);
}

// "8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=5 dios=6": one device each.
static void cgroup_walk_io(cgroup_state *s, emit *e)
{
    static const struct {
        const char *key, *name;
        const emit_shape *shape;
    } keys[] = {{"rbytes", "read_bytes", &moved},
                {"wbytes", "write_bytes", &moved},
                {"rios", "reads", &requests},
                {"wios", "writes", &requests}};
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

// ---- limits ----

// Version 1 says "no limit" by the largest whole page, version 2 by a word.
static void cgroup_read_memory_limit(cgroup_state *s, const emit *e)
{
    char path[4096], text[64];
    const char *file = s->rows == rows_2 ? "memory.max" : "memory.limit_in_bytes";
    s->memory_limit = 0;
    if (!s->memory.path) return;
    snprintf(path, sizeof path, "%s", s->memory.path);
    do {
        uint64_t value;
        if (!emit_read_line(e, text, sizeof text, "%s/%s", path, file) || !emit_number(text, &value)) continue;
        if (value < UINT64_C(1) << 62 && (!s->memory_limit || value < s->memory_limit)) s->memory_limit = value;
    } while (cgroup_step_up(path, s->memory.mount));
}

static bool cgroup_read_quota(const emit *e, const char *path, bool version_2, uint64_t *quota, uint64_t *period)
{
    char text[64], other[64], *at = text;
    if (!version_2)
        return emit_read_line(e, text, sizeof text, "%s/cpu.cfs_quota_us", path) &&
               emit_number(text, quota) && // -1: none
               emit_read_line(e, other, sizeof other, "%s/cpu.cfs_period_us", path) && emit_number(other, period) &&
               *period;
    if (!emit_read_line(e, text, sizeof text, "%s/cpu.max", path)) return false;
    return emit_number(emit_word(&at), quota) && emit_number(emit_word(&at), period) && *period;
}

static void cgroup_walk_quota(const cgroup_state *s, emit *e)
{
    static const emit_shape time = SHAPE("us", GAUGE, 0);
    char path[4096];
    uint64_t least[2] = {0, 0};
    if (!s->cpu.path) return;
    snprintf(path, sizeof path, "%s", s->cpu.path);
    do {
        uint64_t quota, period;
        if (!cgroup_read_quota(e, path, s->rows == rows_2, &quota, &period)) continue;
        if (least[1] && (double)quota * (double)least[1] >= (double)least[0] * (double)period) continue;
        least[0] = quota;
        least[1] = period;
    } while (cgroup_step_up(path, s->cpu.mount));
    if (!least[1]) return;
    emit_value(e, "cpu_quota", &time, least[0]);
    emit_value(e, "cpu_period", &time, least[1]);
}

// The nearest group that has a set of its own or inherited it; version 2 has the file only where the controller is on.
static void cgroup_walk_cpuset(const cgroup_state *s, emit *e)
{
    static const emit_shape cpus = SHAPE("CPUs", GAUGE, 0);
    static const char *const files[] = {"cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus"};
    char path[4096], text[8192];
    if (!s->cpuset.path) return;
    snprintf(path, sizeof path, "%s", s->cpuset.path);
    do {
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            cpulist set = {0};
            if (!emit_read_line(e, text, sizeof text, "%s/%s", path, files[i]) || !*text) continue;
            bool whole = strlen(text) < sizeof text - 1;
            if (whole && cpulist_add_text(&set, text))
                emit_value(e, "cpuset_cpus", &cpus, cpulist_count(&set));
            else
                emit_failed(e, "cpuset_cpus", &cpus, EBADMSG);
            return;
        }
    } while (cgroup_step_up(path, s->cpuset.mount));
}

// The memory's limit is in the fast set, too: there it is what it was at the last full reading.
static void cgroup_walk_limits(cgroup_state *s, emit *e)
{
    bool full = !emit_fast_only(e);
    if (full) cgroup_read_memory_limit(s, e);
    if (s->memory_limit) emit_value(e, "memory_limit", &bytes, s->memory_limit);
    if (!full) return;
    cgroup_walk_quota(s, e);
    cgroup_walk_cpuset(s, e);
}

// Is this process in a group that names the scheduler's job? Its daemon moves a process there some time after its begin.
static bool cgroup_is_of_job(const cgroup_state *s, pid_t pid)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%ld/cgroup", (long)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    if (n <= 0) return false;
    text[n] = 0;
    return membership_in_cgroup(s->job->scheduler, s->job->job_id, text);
}

// The job's process by which its group is found: one that is there; of a scheduler's job, one whose group names the job.
// A few are asked at a time, again and again until there is one.
static bool cgroup_choose(cgroup_state *s)
{
    enum { ASKED = 4 };
    const sources_job *job = s->job;
    if (s->wanted || s->own || !job->pid_count) return false;
    for (size_t i = 0; job->job_id && i < ASKED && i < job->pid_count; i++) {
        pid_t pid = job->pids[s->next++ % job->pid_count];
        if (!cgroup_is_of_job(s, pid)) continue;
        s->own = true;
        s->pid = pid;
        return true;
    }
    for (size_t i = 0; !s->found && i < job->pid_count; i++) {
        if (job->pids[i] == s->pid || (kill(job->pids[i], 0) && errno != EPERM)) continue;
        s->pid = job->pids[i];
        return true;
    }
    if (s->found || s->pid) return false;
    s->pid = job->pids[0]; // of a made tree
    return true;
}

// A recorder that waits for its job has no process of it at first.
static bool cgroup_has_come(void *state)
{
    return cgroup_choose(state);
}

// Controllers of version 1 each have their own tree: CPU time may be another group's than memory, which names the device.
static void cgroup_tell_cpu_group(const cgroup_state *s, emit *e)
{
    const group *cpu = &s->groups[0];
    if (s->rows != rows_1 || !cpu->path || strlen(cpu->path) < cpu->mount) return;
    const char *path = cpu->path + cpu->mount;
    if (!s->name || strcmp(path, strcmp(s->name, "/") == 0 ? "" : s->name) != 0)
        emit_fact(e, "cpu_group", *path ? path : "/");
}

static void cgroup_walk(void *state, emit *e)
{
    cgroup_state *s = state;
    bool lists = emit_lists(e);
    if (lists && !s->found) cgroup_choose(s);
    if (!s->pid && !s->wanted) return;
    if (!s->found || lists) cgroup_find_anew(s, e);
    if (!s->found) return;
    emit_device(e, s->name && *s->name ? s->name : "/", NETPROF_DEVICE_VIRTUAL);
    emit_fact(e, "version", s->rows == rows_2 ? "2" : "1");
    if (s->wanted) emit_fact(e, "given", "yes");
    cgroup_tell_cpu_group(s, e);
    for (size_t i = 0; i < s->row_count; i++)
        cgroup_walk_row(s, e, i);
    cgroup_walk_limits(s, e);
    cgroup_walk_io(s, e);
}

static void cgroup_close(void *state)
{
    cgroup_state *s = state;
    for (size_t i = 0; i < ROWS; i++) {
        free(s->groups[i].path);
        emit_file_close(&s->files[i]);
    }
    emit_file_close(&s->io);
    free(s->memory.path);
    free(s->cpu.path);
    free(s->cpuset.path);
    free(s->io_path);
    free(s->name);
    free(s->wanted);
}

netprof_err sources_add_cgroup(netprof *np, const sources_job *job, netprof_error *error)
{
    static const emit_source source = {.name = "cgroup",
                                       .size = sizeof(cgroup_state),
                                       .walk = cgroup_walk,
                                       .close = cgroup_close,
                                       .changed = cgroup_has_come};
    cgroup_state state = {.job = job, .pid = job->expected && !job->elsewhere ? getpid() : 0};
    state.wanted = job->cgroup ? strdup(job->cgroup) : NULL;
    return emit_add(np, &source, &state, error);
}
