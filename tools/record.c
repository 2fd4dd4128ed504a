#define _GNU_SOURCE // ppoll
#include "record.h"

#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

struct recorder {
    char *path;
    netprof_error error; // the first; later calls do nothing
    netprof_writer *writer;
    bool live;
    // JSON: kept until the end
    bool is_json;
    netprof_fact *facts;
    netprof_snapshot *snapshots;
    size_t fact_count, snapshot_count;
};

// ---- facts of the run ----

// The first variable of a row that is set gives the fact.
static const struct {
    const char *key;
    const char *variables[8];
} job_facts[] = {
    {"job_id", {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "COBALT_JOBID", "FLUX_JOB_ID", "OAR_JOB_ID"}},
    {"job_name", {"SLURM_JOB_NAME", "PBS_JOBNAME", "LSB_JOBNAME", "JOB_NAME"}},
    {"job_step", {"SLURM_STEP_ID"}},
    {"job_array_task", {"SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX", "LSB_JOBINDEX"}},
    {"job_nodes", {"SLURM_JOB_NODELIST", "SLURM_NODELIST"}},
    {"rank", {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "PALS_RANKID", "SLURM_PROCID", "ALPS_APP_PE", "MV2_COMM_WORLD_RANK"}},
    {"rank_count", {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", "MV2_COMM_WORLD_SIZE"}},
    {"local_rank", {"OMPI_COMM_WORLD_LOCAL_RANK", "PALS_LOCAL_RANKID", "SLURM_LOCALID", "MV2_COMM_WORLD_LOCAL_RANK"}},
    {"job_user", {"SLURM_JOB_USER", "PBS_O_LOGNAME", "OAR_USER"}},
    {"job_account", {"SLURM_JOB_ACCOUNT", "PBS_ACCOUNT", "OAR_PROJECT_NAME"}},
    {"job_partition", {"SLURM_JOB_PARTITION", "PBS_QUEUE", "LSB_QUEUE", "OAR_QUEUE"}},
};

static const char *job_fact(size_t row)
{
    for (const char *const *name = job_facts[row].variables; *name; name++) {
        const char *value = getenv(*name);
        if (value && *value) return value;
    }
    return NULL;
}

void recorder_job(recorder *r)
{
    for (size_t i = 0; i < sizeof job_facts / sizeof *job_facts; i++)
        if (job_fact(i)) recorder_fact(r, job_facts[i].key, job_fact(i));
}

char *shell_line(const char *const *words)
{
    size_t size = 1;
    for (size_t i = 0; words[i]; i++) size += 4 * strlen(words[i]) + 3;
    char *line = must(malloc(size)), *to = line;
    for (size_t i = 0; words[i]; i++) {
        const char *word = words[i];
        static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%^";
        bool quoted = !*word || word[strspn(word, plain)];
        if (i) *to++ = ' ';
        if (quoted) *to++ = '\'';
        for (; *word; word++) to += sprintf(to, *word == '\'' ? "'\\''" : "%c", *word);
        if (quoted) *to++ = '\'';
    }
    *to = 0;
    return line;
}

// ---- where it goes ----

// A '/' in a value (a job name, say) must not lead elsewhere.
static void put_value(FILE *to, const char *value)
{
    for (; *value; value++) putc(*value == '/' ? '_' : *value, to);
}

static char *expand_path(const char *pattern)
{
    char *path = NULL, host[256] = "host";
    size_t size;
    FILE *to = must(open_memstream(&path, &size));
    gethostname(host, sizeof host - 1);
    for (; *pattern; pattern++) {
        const char *job = job_fact(0), *rank = job_fact(5);
        char after = *pattern == '%' ? pattern[1] : 0;
        if (after == 'h') put_value(to, host);
        else if (after == 'j') put_value(to, job ? job : "nojob");
        else if (after == 'r') put_value(to, rank ? rank : "0");
        else if (after == 'p') fprintf(to, "%ld", (long)getpid());
        else if (after == '%') putc('%', to);
        else {
            putc(*pattern, to);
            continue;
        }
        pattern++;
    }
    if (fclose(to)) must(NULL);
    return path;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

recorder *recorder_open(const char *path, bool live)
{
    recorder *r = must(calloc(1, sizeof *r));
    r->path = strcmp(path, "-") == 0 ? must(strdup(path)) : expand_path(path);
    r->live = live;
    r->is_json = strcmp(path, "-") == 0 || ends_with(path, ".json");
    if (r->is_json || !netprof_writer_open(&r->writer, r->path, live, &r->error)) return r;
    fail_error(r->path, &r->error);
    free(r->path);
    free(r);
    return NULL;
}

const char *recorder_path(const recorder *r)
{
    return r->path;
}

void recorder_fact(recorder *r, const char *key, const char *value)
{
    if (!r || !value) return;
    if (!r->is_json) {
        if (!r->error.code) netprof_write_fact(r->writer, key, value, &r->error);
        return;
    }
    r->facts = must(realloc(r->facts, (r->fact_count + 1) * sizeof *r->facts));
    r->facts[r->fact_count++] = (netprof_fact){must(strdup(key)), must(strdup(value))};
}

void recorder_number(recorder *r, const char *key, int64_t value)
{
    recorder_fact(r, key, number_signed(value));
}

void recorder_snapshot(recorder *r, const netprof_snapshot *snapshot)
{
    if (!r || r->error.code) return;
    if (!r->is_json) {
        netprof_write_snapshot(r->writer, snapshot, &r->error);
        return;
    }
    r->snapshots = must(realloc(r->snapshots, (r->snapshot_count + 1) * sizeof *r->snapshots));
    r->snapshots[r->snapshot_count] = (netprof_snapshot)NETPROF_ZERO;
    if (!netprof_snapshot_copy(&r->snapshots[r->snapshot_count], snapshot, &r->error)) r->snapshot_count++;
}

void recorder_sync(recorder *r)
{
    if (!r || !r->live || r->is_json) return;
    int fd = open(r->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    fdatasync(fd);
    close(fd);
}

static int write_json(recorder *r)
{
    netprof_json json = {.facts = r->facts, .fact_count = r->fact_count, .snapshots = r->snapshots,
                         .snapshot_count = r->snapshot_count};
    whole_file *file = whole_file_open(r->path);
    if (!file) return EXIT_FILE;
    netprof_err result = netprof_write_json(&json, whole_file_write, file, &r->error);
    int code = whole_file_close(file, result == NETPROF_OK || result == NETPROF_ERR_IO); // says an I/O error itself
    return result && !code ? fail_error(r->path, &r->error) : code;
}

int recorder_close(recorder *r, bool keep)
{
    int code = EXIT_DONE;
    if (!r) return code;
    if (r->writer) {
        netprof_error error = {.code = NETPROF_OK};
        if (netprof_writer_close(r->writer, keep, &error) && keep && !r->error.code) r->error = error;
        if (r->live && !keep) unlink(r->path);
        if (r->error.code && keep) code = fail_error(r->path, &r->error);
    } else if (keep) {
        code = r->error.code ? fail_error(r->path, &r->error) : write_json(r);
    }
    for (size_t i = 0; i < r->fact_count; i++) {
        free((void *)(uintptr_t)r->facts[i].key);
        free((void *)(uintptr_t)r->facts[i].value);
    }
    for (size_t i = 0; i < r->snapshot_count; i++) netprof_snapshot_free(&r->snapshots[i]);
    free(r->facts);
    free(r->snapshots);
    free(r->path);
    free(r);
    return code;
}

// ---- ticker ----

bool ticker_open(ticker *t, int64_t interval_ns, const sigset_t *signals)
{
    *t = (ticker){.timer = -1, .open = true};
    sigprocmask(SIG_BLOCK, signals, &t->old_mask);
    t->signals = signalfd(-1, signals, SFD_CLOEXEC);
    if (t->signals < 0) return false;
    if (!interval_ns) return true;
    struct timespec now;
    struct itimerspec when = {.it_interval = {interval_ns / 1000000000, interval_ns % 1000000000}};
    t->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t first = (int64_t)now.tv_nsec + interval_ns % 1000000000;
    when.it_value.tv_sec = now.tv_sec + interval_ns / 1000000000 + first / 1000000000;
    when.it_value.tv_nsec = first % 1000000000;
    return t->timer >= 0 && timerfd_settime(t->timer, TFD_TIMER_ABSTIME, &when, NULL) == 0;
}

int ticker_wait(ticker *t, struct signalfd_siginfo *info)
{
    for (;;) {
        struct pollfd fds[2] = {{.fd = t->signals, .events = POLLIN}, {.fd = t->timer, .events = POLLIN}};
        uint64_t ticks;
        if (poll(fds, 2, -1) < 0 && errno != EINTR) return SIGCHLD; // cannot happen; then look after the child
        if (fds[0].revents && read(t->signals, info, sizeof *info) == (ssize_t)sizeof *info)
            return (int)info->ssi_signo;
        if (fds[1].revents && read(t->timer, &ticks, sizeof ticks) == (ssize_t)sizeof ticks) {
            t->missed += ticks - 1;
            return 0;
        }
    }
}

void ticker_close(ticker *t)
{
    if (!t->open) return;
    if (t->timer >= 0) close(t->timer);
    if (t->signals >= 0) close(t->signals);
}

// ---- schedule ----

int64_t schedule_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// The row is read now: its next place in time is the first one ahead.
static void row_due(schedule_row *r, int64_t now)
{
    int64_t behind = (now - r->next_ns) / r->interval_ns;
    r->late_ns = now - r->next_ns;
    if (r->late_ns > r->late_most_ns) r->late_most_ns = r->late_ns;
    r->missed += (uint64_t)behind;
    r->taken++;
    r->next_ns += (behind + 1) * r->interval_ns;
}

int schedule_wait(schedule_row *rows, size_t count, int signals, int64_t until_ns, struct signalfd_siginfo *info)
{
    for (;;) {
        struct pollfd fd = {.fd = signals, .events = POLLIN};
        int64_t now = schedule_now(), wake = until_ns ? until_ns : INT64_MAX;
        size_t first = count;
        for (size_t i = 0; i < count; i++) {
            if (rows[i].next_ns >= wake) continue;
            wake = rows[i].next_ns;
            first = i;
        }
        if (wake <= now) {
            if (first == count) return -2;
            row_due(&rows[first], now);
            return (int)first;
        }
        struct timespec wait = {(wake - now) / 1000000000, (wake - now) % 1000000000};
        if (ppoll(&fd, 1, wake == INT64_MAX ? NULL : &wait, NULL) > 0 &&
            read(signals, info, sizeof *info) == (ssize_t)sizeof *info)
            return -1;
    }
}
