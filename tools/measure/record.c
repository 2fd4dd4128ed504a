#define _GNU_SOURCE // ppoll
#include "record.h"

#include "record_file.h"
#include "record_job.h"
#include "record_path.h"

#include "cli/output.h"
#include "cli/whole_file.h"
#include "analysis/base/output_file.h"
#include "analysis/base/pipe_write.h"
#include "analysis/base/memory.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

struct recorder {
    char *pattern, *path;
    recorder_kind kind;
    netprof_error error; // the first; later calls do nothing
    netprof_writer *writer;
    // where its bytes go: one of these
    record_file *live;
    output_file *whole;
    int pipe;            // a named pipe; -1: none
    bool begun;          // a reading is in it
    bool is_json;        // kept until the end
    netprof_fact *facts; // all so far: a file that follows this one holds them as well
    netprof_snapshot *snapshots;
    size_t fact_count, snapshot_count;
    // readings that were left out, because the file took none and memory was full
    uint64_t lost, gap, gaps;       // in all; since the file took one; how often that was
    int64_t gap_from_ns, gap_to_ns; // wall clock
    int gap_error;
    bool lost_before; // readings of an earlier file; said before
    bool was_cut;
};

// ---- facts of the run ----

void recorder_job(recorder *r)
{
    for (size_t i = 0; record_job_key(i); i++)
        recorder_fact(r, record_job_key(i), record_job_fact(record_job_key(i)));
}

typedef struct clock_teller {
    recorder_tell tell;
    void *user;
    const char *when;
} clock_teller;

static void record_clock_fact(const clock_teller *t, const char *what, const char *value)
{
    char *key = memory_format("%s_%s", t->when, what);
    t->tell(t->user, key, value);
    free(key);
}

// adjtimex(2) with modes 0 only reads, and needs no rights.
void recorder_clock_facts(const char *when, recorder_tell tell, void *user)
{
    const clock_teller to = {tell, user, when};
    struct timex t = {.modes = 0};
    int state = adjtimex(&t);
    if (state < 0) return;
    bool good = state != TIME_ERROR && !(t.status & STA_UNSYNC);
    record_clock_fact(&to, "synchronised", good ? "yes" : "no");
    record_clock_fact(&to, "max_error_us", words_integer(t.maxerror).text);
    record_clock_fact(&to, "estimated_error_us", words_integer(t.esterror).text);
    record_clock_fact(&to, "offset_ns", words_integer(t.status & STA_NANO ? t.offset : t.offset * 1000).text);
    record_clock_fact(&to, "frequency_ppb",
                      words_integer((int64_t)t.freq * 1000 / 65536).text); // ppm with 16 binary places
}

static void record_tell(void *user, const char *key, const char *value)
{
    recorder_fact(user, key, value);
}

void recorder_clock(recorder *r, const char *when)
{
    if (r) recorder_clock_facts(when, record_tell, r);
}

void recorder_cpus(recorder *r)
{
    cpu_set_t allowed;
    char governor[64];
    FILE *f = fopen("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "re");
    recorder_number(r, "cpus", sysconf(_SC_NPROCESSORS_ONLN));
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) // fails on more CPUs than a set holds
        recorder_number(r, "cpus_allowed", CPU_COUNT(&allowed));
    if (f && fscanf(f, "%63s", governor) == 1) recorder_fact(r, "cpu_governor", governor);
    if (f) fclose(f);
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

static bool record_ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static recorder *recorder_latest; // the one that is open

static void recorder_free(recorder *r)
{
    if (recorder_latest == r) recorder_latest = NULL;
    for (size_t i = 0; i < r->fact_count; i++) {
        free((void *)(uintptr_t)r->facts[i].key);
        free((void *)(uintptr_t)r->facts[i].value);
    }
    for (size_t i = 0; i < r->snapshot_count; i++)
        netprof_snapshot_free(&r->snapshots[i]);
    if (r->pipe >= 0) close(r->pipe);
    free(r->facts);
    free(r->snapshots);
    free(r->pattern);
    free(r->path);
    free(r);
}

static int recorder_open_pipe(recorder *r)
{
    r->pipe = pipe_open(r->path, whole_file_waits);
    if (r->pipe >= 0) return EXIT_DONE;
    return errno == EINTR ? fail_file(EXIT_FILE, r->path, "ended by a signal while nobody read this pipe")
                          : fail_file(EXIT_FILE, r->path, "cannot open: %s", strerror(errno));
}

// A pipe or a device is anybody's: it is written in place, neither locked nor removed.
static bool recorder_is_in_place(const char *path, bool *is_pipe)
{
    output_place place;
    bool found = output_place_find(&place, path), in_place = found && place.in_place;
    *is_pipe = found && place.is_pipe;
    output_place_free(&place);
    return in_place;
}

static int recorder_open_target(recorder *r)
{
    const char *why;
    bool is_pipe, in_place = recorder_is_in_place(r->path, &is_pipe);
    if (is_pipe) return recorder_open_pipe(r);
    if (r->kind != RECORDER_WHOLE && !in_place) {
        r->live = record_file_open(r->path, r->kind == RECORDER_KEEPS ? RECORD_APPEND : RECORD_REPLACE);
        return r->live ? EXIT_DONE : EXIT_FILE;
    }
    r->whole = output_file_open(r->path, whole_file_waits, &why);
    return r->whole ? EXIT_DONE : fail_file(EXIT_FILE, r->path, "%s", why);
}

static netprof_err recorder_open_writer(recorder *r)
{
    if (r->live) return netprof_writer_open_fn(&r->writer, record_file_write, r->live, &r->error);
    if (r->whole) return netprof_writer_open_fn(&r->writer, output_file_write, r->whole, &r->error);
    return netprof_writer_open_fn(&r->writer, pipe_write, &r->pipe, &r->error);
}

// A live file without a reading cannot be read: it goes, or is again what it was.
static int recorder_close_target(recorder *r, bool keep, uint64_t *unwritten)
{
    static const int64_t patience_ns = 5000000000;
    int error = 0;
    *unwritten = 0;
    if (r->live) error = record_file_close(r->live, keep && r->begun, patience_ns, unwritten);
    if (r->whole) error = output_file_close(r->whole, keep);
    if (r->pipe >= 0) close(r->pipe);
    r->live = NULL;
    r->whole = NULL;
    r->pipe = -1;
    return error;
}

// Only a live file may end early: the others appear whole or not at all.
static void recorder_at_exhaustion(void)
{
    uint64_t unwritten;
    recorder *r = recorder_latest;
    recorder_latest = NULL;
    if (!r) return;
    netprof_writer_close(r->writer, r->live && r->begun, NULL);
    recorder_close_target(r, r->live != NULL, &unwritten);
}

void recorder_rescue(void)
{
    uint64_t unwritten;
    recorder *r = recorder_latest;
    recorder_latest = NULL;
    if (!r) return;
    netprof_writer_close(r->writer, r->begun, NULL);
    recorder_close_target(r, r->begun, &unwritten);
}

static int recorder_start(recorder *r)
{
    uint64_t unwritten;
    int code = recorder_open_target(r);
    if (code) return code;
    if (recorder_open_writer(r)) {
        code = fail_error(r->path, &r->error);
        recorder_close_target(r, false, &unwritten);
    }
    return code;
}

recorder *recorder_open(const char *path, recorder_kind kind)
{
    recorder *r = memory_calloc(1, sizeof *r);
    r->pattern = memory_strdup(path);
    r->path = strcmp(path, "-") == 0 ? memory_strdup(path) : record_path_expand(path);
    r->kind = kind;
    r->pipe = -1;
    r->is_json = strcmp(path, "-") == 0 || record_ends_with(path, ".json");
    if (r->is_json && kind == RECORDER_KEEPS && strcmp(path, "-") != 0) {
        char *next = record_path_next(r->path); // JSON cannot be continued
        free(r->path);
        r->path = next;
    }
    if (r->is_json) return r;
    if (recorder_start(r)) {
        recorder_free(r);
        return NULL;
    }
    recorder_latest = r;
    memory_at_exhaustion(recorder_at_exhaustion);
    return r;
}

const char *recorder_path(const recorder *r)
{
    return r->path;
}

bool recorder_is_live(const recorder *r)
{
    return r->live != NULL;
}

bool recorder_appends(const recorder *r)
{
    return r->live && record_file_appends(r->live);
}

void recorder_file_fact(recorder *r, const char *key, const char *value)
{
    if (!r || !value) return;
    if (r->is_json)
        recorder_fact(r, key, value);
    else if (!r->error.code)
        netprof_write_fact(r->writer, key, value, &r->error);
}

static void record_socket_fact(void *user, const char *key, const char *value)
{
    recorder_file_fact(user, key, value);
}

void recorder_sockets(recorder *r, tcp_sockets *sockets, bool since_begin)
{
    if (r && sockets) tcp_sockets_facts(sockets, since_begin, record_socket_fact, r);
}

void recorder_fact(recorder *r, const char *key, const char *value)
{
    if (!r || !value) return;
    if (!r->is_json && !r->error.code) netprof_write_fact(r->writer, key, value, &r->error);
    r->facts = memory_realloc(r->facts, (r->fact_count + 1) * sizeof *r->facts);
    r->facts[r->fact_count++] = (netprof_fact){memory_strdup(key), memory_strdup(value)};
}

void recorder_number(recorder *r, const char *key, int64_t value)
{
    recorder_fact(r, key, words_integer(value).text);
}

// ---- readings that were left out ----

// When the file takes readings again, it says what it lacks: how many, of which time, and why.
static void recorder_name_gap(recorder *r)
{
    if (!r->gap || !r->writer || r->error.code) return;
    char *key = memory_format("gap_%llu", (unsigned long long)++r->gaps);
    char *text = memory_format("%llu readings from %lld to %lld: %s", (unsigned long long)r->gap,
                               (long long)r->gap_from_ns, (long long)r->gap_to_ns,
                               r->gap_error ? strerror(r->gap_error) : "the file system did not answer");
    netprof_write_fact(r->writer, key, text, &r->error);
    r->gap = 0;
    free(key);
    free(text);
}

static bool recorder_leaves_out(recorder *r, const netprof_snapshot *snapshot)
{
    bool cut;
    if (!r->live || record_file_has_room(r->live)) return false;
    if (!r->gap++) r->gap_from_ns = snapshot->wall_ns;
    r->gap_to_ns = snapshot->wall_ns;
    r->gap_error = record_file_error(r->live, &cut);
    r->lost++;
    return true;
}

// ---- another file ----

// The next file gets all facts so far.
static void recorder_go_on_in(recorder *r, char *path)
{
    uint64_t unwritten;
    recorder_name_gap(r); // in the file that lacks it
    if (r->writer) netprof_writer_close(r->writer, true, NULL);
    r->writer = NULL;
    int failed = recorder_close_target(r, true, &unwritten);
    if (failed && !r->lost_before)
        warn("%s: the last %s could not be written: %s", safe(r->path), words_amount((double)unwritten, "bytes").text,
             strerror(failed));
    r->lost_before |= failed != 0;
    free(r->path);
    r->path = path;
    r->error = (netprof_error){.code = NETPROF_OK};
    r->begun = false;
    if (recorder_start(r)) {
        r->error = (netprof_error){.code = NETPROF_ERR_IO};
        snprintf(r->error.text, sizeof r->error.text, "cannot go on in this file");
    }
    for (size_t i = 0; i < r->fact_count && !r->error.code; i++)
        netprof_write_fact(r->writer, r->facts[i].key, r->facts[i].value, &r->error);
}

void recorder_rotate(recorder *r)
{
    if (!r || !r->live || r->error.code) return;
    char *path = record_path_expand(r->pattern), *next = record_path_next(path);
    free(path);
    recorder_go_on_in(r, next);
}

bool recorder_is_elsewhere(const recorder *r)
{
    bool gone;
    return r->live && record_file_is_elsewhere(r->live, &gone);
}

void recorder_settle(recorder *r)
{
    static const int64_t patience_ns = 5000000000;
    if (r && r->live) record_file_settle(r->live, patience_ns);
}

uint64_t recorder_size(const recorder *r)
{
    return r->live ? record_file_size(r->live) : 0;
}

bool recorder_reopen(recorder *r)
{
    bool gone;
    if (!r || !r->live || r->error.code || !record_file_is_elsewhere(r->live, &gone)) return false;
    recorder_go_on_in(r, memory_strdup(r->path));
    return true;
}

// A file that was removed goes on in a new one: what it held is lost, what comes is not. One that was only renamed is
// written on: SIGHUP begins the next.
static void recorder_look(recorder *r)
{
    bool gone, cut;
    if (!r->live) return;
    record_file_error(r->live, &cut);
    if (!cut && r->error.code) return;
    if (cut) {
        r->error = (netprof_error){.code = NETPROF_ERR_IO};
        snprintf(r->error.text, sizeof r->error.text, "the file was cut while it grew: readings of it are lost");
        r->was_cut = true;
    } else if (record_file_is_elsewhere(r->live, &gone) && gone) {
        warn("%s: the file was removed while it grew: its readings are lost; going on in a new one", safe(r->path));
        r->lost_before = true;
        recorder_go_on_in(r, memory_strdup(r->path));
    }
}

// ---- readings ----

void recorder_snapshot(recorder *r, const netprof_snapshot *snapshot)
{
    if (!r || r->error.code) return;
    if (!r->is_json) {
        if (recorder_leaves_out(r, snapshot)) return;
        recorder_name_gap(r);
        if (!r->error.code) netprof_write_snapshot(r->writer, snapshot, &r->error);
        r->begun |= !r->error.code;
        return;
    }
    r->snapshots = memory_realloc(r->snapshots, (r->snapshot_count + 1) * sizeof *r->snapshots);
    r->snapshots[r->snapshot_count] = (netprof_snapshot)NETPROF_ZERO;
    if (!netprof_snapshot_copy(&r->snapshots[r->snapshot_count], snapshot, &r->error)) r->snapshot_count++;
}

void recorder_sync(recorder *r)
{
    if (!r || !r->live) return;
    recorder_look(r);
    if (r->live) record_file_sync(r->live);
}

bool recorder_failed(const recorder *r)
{
    return r && r->error.code;
}

// ---- the end ----

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

static int recorder_say_end(const recorder *r, int failed, uint64_t unwritten)
{
    if (unwritten && !r->was_cut)
        return fail_file(EXIT_FILE, r->path, "the last %s could not be written: %s",
                         words_amount((double)unwritten, "bytes").text, strerror(failed));
    if (r->error.code) return fail_error(r->path, &r->error);
    if (failed) return fail_file(EXIT_FILE, r->path, "%s", strerror(failed));
    if (r->lost)
        return fail_file(EXIT_WORTH_FAILING, r->path, "%s left out while the file took none; it names the gaps",
                         words_many(r->lost, "reading was|readings were").text);
    return r->lost_before ? EXIT_FILE : EXIT_DONE; // said before
}

int recorder_close(recorder *r, bool keep)
{
    int code = EXIT_DONE;
    uint64_t unwritten = 0;
    if (!r) return code;
    if (r->writer && keep) recorder_look(r);
    if (keep) recorder_name_gap(r);
    if (r->writer) {
        netprof_error error = {.code = NETPROF_OK};
        recorder_latest = NULL;
        if (netprof_writer_close(r->writer, keep, &error) && keep && !r->error.code) r->error = error;
        int failed = recorder_close_target(r, keep && !(r->whole && r->error.code), &unwritten);
        if (keep) code = recorder_say_end(r, failed, unwritten);
    } else if (keep) {
        code = r->is_json && !r->error.code ? record_write_json(r) : fail_error(r->path, &r->error);
    }
    recorder_free(r);
    return code;
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
