#define _GNU_SOURCE // ppoll
#include "record.h"

#include "cli/output.h"
#include "cli/whole_file.h"
#include "analysis/base/output_file.h"
#include "analysis/base/pipe_write.h"
#include "analysis/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

struct recorder {
    char *path;
    netprof_error error; // the first; later calls do nothing
    netprof_writer *writer;
    bool live;
    struct stat opened; // the live file, as it was when it was last looked at
    bool begun;         // it was looked at with a reading in it
    int lock;           // a descriptor that holds its lock; -1: none
    int pipe;           // a named pipe that is written to; -1: none
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
    {"rank",
     {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "PALS_RANKID", "SLURM_PROCID", "ALPS_APP_PE",
      "MV2_COMM_WORLD_RANK"}},
    {"rank_count", {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", "MV2_COMM_WORLD_SIZE"}},
    {"local_rank", {"OMPI_COMM_WORLD_LOCAL_RANK", "PALS_LOCAL_RANKID", "SLURM_LOCALID", "MV2_COMM_WORLD_LOCAL_RANK"}},
    {"job_user", {"SLURM_JOB_USER", "PBS_O_LOGNAME", "OAR_USER"}},
    {"job_account", {"SLURM_JOB_ACCOUNT", "PBS_ACCOUNT", "OAR_PROJECT_NAME"}},
    {"job_partition", {"SLURM_JOB_PARTITION", "PBS_QUEUE", "LSB_QUEUE", "OAR_QUEUE"}},
};

static const char *record_job_fact(size_t row)
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
        if (record_job_fact(i)) recorder_fact(r, job_facts[i].key, record_job_fact(i));
}

static void record_clock_fact(recorder *r, const char *when, const char *what, const char *value)
{
    char *key = memory_format("%s_%s", when, what);
    recorder_fact(r, key, value);
    free(key);
}

// adjtimex(2) with modes 0 only reads, and needs no rights.
void recorder_clock(recorder *r, const char *when)
{
    struct timex t = {.modes = 0};
    int state = adjtimex(&t);
    if (!r || state < 0) return;
    bool good = state != TIME_ERROR && !(t.status & STA_UNSYNC);
    record_clock_fact(r, when, "synchronised", good ? "yes" : "no");
    record_clock_fact(r, when, "max_error_us", words_integer(t.maxerror).text);
    record_clock_fact(r, when, "estimated_error_us", words_integer(t.esterror).text);
    record_clock_fact(r, when, "offset_ns", words_integer(t.status & STA_NANO ? t.offset : t.offset * 1000).text);
    record_clock_fact(r, when, "frequency_ppb",
                      words_integer((int64_t)t.freq * 1000 / 65536).text); // ppm with 16 binary places
}

char *shell_line(const char *const *words)
{
    size_t size = 1;
    for (size_t i = 0; words[i]; i++)
        size += 4 * strlen(words[i]) + 3;
    char *line = memory_alloc(size), *to = line;
    for (size_t i = 0; words[i]; i++) {
        const char *word = words[i];
        static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%^";
        bool quoted = !*word || word[strspn(word, plain)];
        if (i) *to++ = ' ';
        if (quoted) *to++ = '\'';
        for (; *word; word++)
            to += sprintf(to, *word == '\'' ? "'\\''" : "%c", *word);
        if (quoted) *to++ = '\'';
    }
    *to = 0;
    return line;
}

// ---- where it goes ----

// A '/' in a value (a job name, say) must not lead elsewhere.
static void record_put_value(FILE *to, const char *value)
{
    for (; *value; value++)
        putc(*value == '/' ? '_' : *value, to);
}

static char *record_expand_path(const char *pattern)
{
    char *path = NULL, host[256] = "host";
    size_t size;
    FILE *to = memory_check(open_memstream(&path, &size));
    gethostname(host, sizeof host - 1);
    const char *node = getenv("SLURMD_NODENAME");
    for (; *pattern; pattern++) {
        const char *job = record_job_fact(0), *rank = record_job_fact(5);
        char after = *pattern == '%' ? pattern[1] : 0;
        if (after == 'h')
            record_put_value(to, host);
        else if (after == 'n')
            record_put_value(to, node && *node ? node : host);
        else if (after == 'j')
            record_put_value(to, job ? job : "nojob");
        else if (after == 'r')
            record_put_value(to, rank ? rank : "0");
        else if (after == 'p')
            fprintf(to, "%ld", (long)getpid());
        else if (after == '%')
            putc('%', to);
        else {
            putc(*pattern, to);
            continue;
        }
        pattern++;
    }
    if (fclose(to)) memory_exhausted();
    return path;
}

static bool record_ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

// Two that write one live file destroy each other's readings. False when somebody else writes it; where the file system
// has no locks, nobody can know. The lock comes before the writer, which empties the file: so it may have to be made
// here.
static bool record_lock_live(recorder *r)
{
    r->lock = open(r->path, O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0666);
    if (r->lock < 0 || flock(r->lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return true;
    fail(EXIT_FILE, "%s: another recorder is writing it (in the name, %%n is the node, %%p the process)",
         safe(r->path));
    return false;
}

static recorder *record_give_up(recorder *r)
{
    if (r->lock >= 0) close(r->lock);
    if (r->pipe >= 0) close(r->pipe);
    free(r->path);
    free(r);
    return NULL;
}

static netprof_err record_open_pipe(recorder *r)
{
    r->pipe = pipe_open(r->path, whole_file_waits);
    if (r->pipe >= 0) return netprof_writer_open_fn(&r->writer, pipe_write, &r->pipe, &r->error);
    bool ended = errno == EINTR;
    r->error = (netprof_error){.code = NETPROF_ERR_IO, .sys_errno = ended ? 0 : errno};
    snprintf(r->error.text, sizeof r->error.text,
             ended ? "ended by a signal while nobody read this pipe" : "cannot open");
    return NETPROF_ERR_IO;
}

static recorder *recorder_latest; // the one that is open

// A live file without a reading cannot be read: it goes, unless somebody has put another in its place.
static void record_remove_empty(const recorder *r)
{
    struct stat now;
    if (!r->live || r->begun || stat(r->path, &now)) return;
    if (now.st_ino == r->opened.st_ino && now.st_dev == r->opened.st_dev) unlink(r->path);
}

// Only a live file may end early: the others appear whole or not at all.
static void recorder_at_exhaustion(void)
{
    recorder *r = recorder_latest;
    recorder_latest = NULL;
    if (!r) return;
    netprof_writer_close(r->writer, r->live, NULL);
    record_remove_empty(r);
}

recorder *recorder_open(const char *path, bool live)
{
    struct stat there;
    recorder *r = memory_calloc(1, sizeof *r);
    r->path = strcmp(path, "-") == 0 ? memory_strdup(path) : record_expand_path(path);
    r->live = live;
    r->lock = r->pipe = -1;
    r->is_json = strcmp(path, "-") == 0 || record_ends_with(path, ".json");
    if (r->is_json) return r;
    bool exists = stat(r->path, &there) == 0;
    r->live =
        live && (!exists || S_ISREG(there.st_mode)); // a pipe or a device is anybody's: neither locked nor removed
    if (r->live && !record_lock_live(r)) return record_give_up(r);
    bool is_pipe = exists && S_ISFIFO(there.st_mode);
    if (is_pipe ? record_open_pipe(r) : netprof_writer_open(&r->writer, r->path, live, &r->error)) {
        if (r->live && !exists) unlink(r->path); // it was made for its lock
        fail_error(r->path, &r->error);
        return record_give_up(r);
    }
    if (r->live && stat(r->path, &r->opened)) r->live = false; // it cannot be looked at again
    recorder_latest = r;
    memory_at_exhaustion(recorder_at_exhaustion);
    return r;
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
    r->facts = memory_realloc(r->facts, (r->fact_count + 1) * sizeof *r->facts);
    r->facts[r->fact_count++] = (netprof_fact){memory_strdup(key), memory_strdup(value)};
}

void recorder_number(recorder *r, const char *key, int64_t value)
{
    recorder_fact(r, key, words_integer(value).text);
}

// A growing file must still exist under its name: whatever is written to a removed file is lost.
static bool record_is_there(recorder *r)
{
    struct stat now;
    if (!r->live || r->is_json || r->error.code) return true;
    bool ours = stat(r->path, &now) == 0 && now.st_ino == r->opened.st_ino && now.st_dev == r->opened.st_dev;
    bool cut = ours && S_ISREG(now.st_mode) && now.st_size < r->opened.st_size;
    if (ours) r->opened = now;
    if (ours && !cut) return true;
    r->error = (netprof_error){.code = NETPROF_ERR_IO};
    snprintf(r->error.text, sizeof r->error.text,
             cut ? "the file was cut while it grew: readings of it are lost"
                 : "the file was removed or replaced while it grew: its readings are lost");
    return ours;
}

void recorder_snapshot(recorder *r, const netprof_snapshot *snapshot)
{
    if (!r || r->error.code) return;
    if (!r->is_json) {
        netprof_write_snapshot(r->writer, snapshot, &r->error);
        // Its size before was next to nothing: a file that is cut soon would have grown over it again unnoticed.
        if (!r->begun && !r->error.code) r->begun = record_is_there(r);
        return;
    }
    r->snapshots = memory_realloc(r->snapshots, (r->snapshot_count + 1) * sizeof *r->snapshots);
    r->snapshots[r->snapshot_count] = (netprof_snapshot)NETPROF_ZERO;
    if (!netprof_snapshot_copy(&r->snapshots[r->snapshot_count], snapshot, &r->error)) r->snapshot_count++;
}

void recorder_sync(recorder *r)
{
    if (!r || !r->live || r->is_json || !record_is_there(r)) return;
    int fd = open(r->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    fdatasync(fd);
    close(fd);
}

bool recorder_failed(const recorder *r)
{
    return r && r->error.code;
}

static int record_write_json(recorder *r)
{
    netprof_json json = {
        .facts = r->facts, .fact_count = r->fact_count, .snapshots = r->snapshots, .snapshot_count = r->snapshot_count};
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
        bool ours = record_is_there(r);
        netprof_error error = {.code = NETPROF_OK};
        recorder_latest = NULL;
        if (netprof_writer_close(r->writer, keep, &error) && keep && !r->error.code) r->error = error;
        if (r->live && !keep && ours) unlink(r->path);
        if (keep && r->error.code == NETPROF_ERR_NOMEM) record_remove_empty(r);
        if (r->error.code && keep) code = fail_error(r->path, &r->error);
    } else if (keep) {
        code = r->error.code ? fail_error(r->path, &r->error) : record_write_json(r);
    }
    if (r->lock >= 0) close(r->lock);
    if (r->pipe >= 0) close(r->pipe);
    for (size_t i = 0; i < r->fact_count; i++) {
        free((void *)(uintptr_t)r->facts[i].key);
        free((void *)(uintptr_t)r->facts[i].value);
    }
    for (size_t i = 0; i < r->snapshot_count; i++)
        netprof_snapshot_free(&r->snapshots[i]);
    free(r->facts);
    free(r->snapshots);
    free(r->path);
    free(r);
    return code;
}

void recorder_rescue(void)
{
    recorder *r = recorder_latest;
    recorder_latest = NULL;
    if (!r) return;
    netprof_writer_close(r->writer, r->begun, NULL);
    record_remove_empty(r);
}

// ---- schedule ----

int64_t schedule_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool schedule_open(schedule *s, const sigset_t *signals)
{
    *s = (schedule){.input = -1, .open = true, .watched = *signals};
    sigprocmask(SIG_BLOCK, signals, &s->old_mask);
    s->signals = signalfd(-1, signals, SFD_CLOEXEC);
    return s->signals >= 0;
}

schedule_row *schedule_add(schedule *s, int64_t interval_ns, int64_t begin_ns)
{
    schedule_row *row = &s->rows[s->count++];
    *row = (schedule_row){.interval_ns = interval_ns, .next_ns = begin_ns + interval_ns};
    return row;
}

// The row is read now: its next place in time is the first one ahead.
static void record_row_due(schedule_row *r, int64_t now)
{
    int64_t behind = (now - r->next_ns) / r->interval_ns;
    r->late_ns = now - r->next_ns;
    if (r->late_ns > r->late_most_ns) r->late_most_ns = r->late_ns;
    r->missed += (uint64_t)behind;
    r->taken++;
    r->next_ns += (behind + 1) * r->interval_ns;
}

// The next row, or s->count for the end; *wake: when.
static size_t record_next_row(const schedule *s, int64_t *wake)
{
    size_t first = s->count;
    *wake = s->until_ns ? s->until_ns : INT64_MAX;
    for (size_t i = 0; i < s->count; i++) {
        if (s->rows[i].next_ns >= *wake) continue;
        *wake = s->rows[i].next_ns;
        first = i;
    }
    return first;
}

// How long until `wake`, for a call that takes NULL for ever.
static const struct timespec *record_time_left(int64_t wake, struct timespec *room)
{
    int64_t left = wake - schedule_now();
    if (wake == INT64_MAX) return NULL;
    *room = left > 0 ? (struct timespec){left / 1000000000, left % 1000000000} : (struct timespec){0};
    return room;
}

// True: a signal came before `wake`.
static bool record_wait_signal(const schedule *s, int64_t wake, siginfo_t *info)
{
    struct timespec room;
    return sigtimedwait(&s->watched, info, record_time_left(wake, &room)) > 0;
}

// Until there is a signal, input, or `wake`. True: there is input.
static bool record_wait_input(const schedule *s, int64_t wake)
{
    struct pollfd fds[2] = {{.fd = s->signals, .events = POLLIN}, {.fd = s->input, .events = POLLIN}};
    struct timespec room;
    return ppoll(fds, 2, record_time_left(wake, &room), NULL) > 0 && fds[1].revents;
}

// Without a keyboard there is only one thing to wait for, and the cheaper call does.
int schedule_wait(schedule *s, siginfo_t *info)
{
    for (;;) {
        int64_t wake, now;
        size_t row = record_next_row(s, &wake);
        bool input = s->input >= 0 && record_wait_input(s, wake);
        // A signal comes before a tick that is due: however long readings take, they can be ended.
        if (record_wait_signal(s, s->input >= 0 ? 0 : wake, info)) return SCHEDULE_SIGNAL;
        now = schedule_now();
        if (wake <= now) {
            if (row == s->count) return SCHEDULE_END;
            record_row_due(&s->rows[row], now);
            return (int)row;
        }
        if (input) return SCHEDULE_INPUT;
    }
}

void schedule_close(schedule *s)
{
    if (s->open && s->signals >= 0) close(s->signals);
    s->open = false;
}
