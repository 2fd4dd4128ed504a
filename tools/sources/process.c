// The job's processes, summed: from the given roots down, and who once belonged stays although its parent died.
//
// CPU time, faults and I/O of a child that ended are kept exactly: the kernel adds them to the parent that waits
// for it (proc(5): cutime, cstime, cminflt, cmajflt; /proc/PID/io likewise counts reaped children). Where no member
// reaps it (parent gone, SIGCHLD ignored), what was last seen of it stays in the sum: less than it used, by at most
// what it did since the last reading. Members are read before their children, so nothing is ever counted twice.
//
// The kernel reports the wait for a CPU only by thread (/proc/PID/task/TID/schedstat): what a thread waited since the
// last reading before it ended is not known. Shares of common pages (/proc/PID/smaps_rollup) make the kernel walk all
// of a process's page tables: they are read every second at first and every five seconds later on, but so seldom that
// it takes a thousandth of the time, and carry the time of reading.
//
// cpus_allowed is how many CPUs the job's threads together may run on, the most at any full reading; the open files are
// those of the process that came nearest to its limit so far.
#define _GNU_SOURCE
#include "cpulist.h"
#include "sources_makers.h"
#include "shapes.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

// The values that are summed, in the order of `sums`.
enum {
    USER,
    SYSTEM,
    MINOR_FAULTS,
    MAJOR_FAULTS,
    READ_CHARS,
    WRITE_CHARS,
    READ_CALLS,
    WRITE_CALLS,
    READ_BYTES,
    WRITE_BYTES,
    SUMS
};
enum { FIRST_IO = READ_CHARS };
enum { DEBT_TICKS = 3 }; // readings within which a parent must reap a child that has vanished

typedef struct member {
    pid_t pid, parent;
    uint64_t start;        // ticks since boot: with pid, who it is
    uint64_t own[SUMS];    // of it alone; I/O: with its reaped children, as the kernel gives it
    uint64_t waited[SUMS]; // of children that it reaped
    uint64_t base[SUMS];   // what it had before the recording
    uint64_t pool[SUMS];   // what its sums of children grew by in this walk and no child explains yet
    uint64_t debt[SUMS];   // kept for children that it may still reap
    int debt_ticks;
    uint64_t resident, shared, size, threads, files;
    bool alive, io_denied, files_denied, known;
    bool ended;               // but nobody waited for it yet
    bool is_old, waits_known; // began before the recording; its threads' waits were seen once
} member;

// How long a thread has waited for a CPU.
typedef struct thread {
    pid_t tid;
    uint64_t wait_ns;
} thread;

typedef struct thread_list {
    thread *items; // sorted by tid, once a walk is done
    size_t count, room;
} thread_list;

// Of all members together, at one time.
enum { PROPORTIONAL, UNIQUE, SWAPPED, SHARES };
static const int64_t SHARES_PART = 1000, SHARES_FIRST_NS = 1000000000, SHARES_LATER_NS = INT64_C(5000000000);

typedef struct process_state {
    thread_list threads, now; // of the last walk, and of the one at hand
    uint64_t wait_ns;         // all that was seen
    bool wait_told, no_waits; // of some thread; the kernel counts none
    uint64_t shares[SHARES];
    bool shares_known;
    int shares_errno;
    int64_t shares_stamp_ns;                 // CLOCK_REALTIME
    int64_t shares_first_ns, shares_next_ns; // CLOCK_MONOTONIC
    const sources_job *job;
    member *members;
    size_t count, room;
    uint64_t gone[SUMS]; // of members that ended and that no other member's sums hold (two's complement)
    bool io_lost;        // the bytes that one of these read and wrote were never known
    uint64_t begin;      // start time of the first walk, in ticks since boot
    cpulist affinity;    // of all threads in this walk
    uint64_t cpus_allowed, files_peak, files_limit; // 0: not known
    long hz, page;
} process_state;

// ---- reading one process ----

// The fields after the command name; fields[0] is the third column, the state.
static size_t process_stat_numbers(char *at, uint64_t *fields, size_t most)
{
    size_t n = 0;
    for (char *word; n < most && (word = emit_word(&at)); n++)
        fields[n] = *word == '-' ? 0 - (uint64_t)strtoull(word + 1, NULL, 10) : (uint64_t)strtoull(word, NULL, 10);
    return n;
}

static uint64_t process_ticks_us(const process_state *s, uint64_t ticks)
{
    return ticks * (1000000u / (uint64_t)s->hz);
}

static bool process_read_stat(const process_state *s, const emit *e, member *m)
{
    char text[1024];
    uint64_t f[24];
    if (!emit_process_stat(e, m->pid, text, sizeof text)) return false;
    m->ended = *text == 'Z' || *text == 'X';
    if (process_stat_numbers(text, f, 24) < 22) return false;
    m->parent = (pid_t)f[1];
    m->own[MINOR_FAULTS] = f[7];
    m->waited[MINOR_FAULTS] = f[8];
    m->own[MAJOR_FAULTS] = f[9];
    m->waited[MAJOR_FAULTS] = f[10];
    m->own[USER] = process_ticks_us(s, f[11]);
    m->own[SYSTEM] = process_ticks_us(s, f[12]);
    m->waited[USER] = process_ticks_us(s, f[13]);
    m->waited[SYSTEM] = process_ticks_us(s, f[14]);
    m->threads = f[17];
    m->start = f[19];
    m->size = f[20];
    m->resident = f[21] * (uint64_t)s->page;
    return true;
}

// "rchar: N", ... A process of somebody else is denied.
static void process_read_io(const emit *e, member *m)
{
    static const struct {
        const char *begin;
        int sum;
    } rows[] = {{"rchar: ", READ_CHARS},  {"wchar: ", WRITE_CHARS},     {"syscr: ", READ_CALLS},
                {"syscw: ", WRITE_CALLS}, {"read_bytes: ", READ_BYTES}, {"write_bytes: ", WRITE_BYTES}};
    char path[64], *at, *line;
    emit_file io = {.fd = -1};
    int error;
    snprintf(path, sizeof path, "/proc/%ld/io", (long)m->pid);
    at = emit_file_read(&io, e, path, &error);
    m->io_denied = !at && error != ENOENT && error != ESRCH;
    while (at && (line = emit_line(&at)))
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            if (strncmp(line, rows[i].begin, strlen(rows[i].begin)) == 0)
                emit_number(line + strlen(rows[i].begin), &m->own[rows[i].sum]);
    emit_file_close(&io);
}

static void process_read_memory(const process_state *s, const emit *e, member *m)
{
    char text[128], *at = text;
    uint64_t value;
    m->shared = 0;
    if (!emit_read_line(e, text, sizeof text, "/proc/%ld/statm", (long)m->pid)) return;
    emit_word(&at);
    emit_word(&at);
    if (emit_number(emit_word(&at), &value)) m->shared = value * (uint64_t)s->page;
}

static void process_count_files(const emit *e, member *m)
{
    char path[512];
    DIR *d;
    m->files = 0;
    snprintf(path, sizeof path, "%.400s/proc/%ld/fd", emit_root(e), (long)m->pid);
    m->files_denied = !(d = opendir(path)) && errno == EACCES;
    if (!d) return;
    for (struct dirent *x; (x = readdir(d));)
        m->files += x->d_name[0] != '.';
    closedir(d);
}

// Keeps the process that comes nearest to its own soft limit.
static void process_compare_files(process_state *s, const member *m)
{
    struct rlimit limit;
    if (!m->files || prlimit(m->pid, RLIMIT_NOFILE, NULL, &limit) || limit.rlim_cur == RLIM_INFINITY || !limit.rlim_cur)
        return;
    if (s->files_limit && (double)m->files * (double)s->files_limit <= (double)s->files_peak * (double)limit.rlim_cur)
        return;
    s->files_peak = m->files;
    s->files_limit = limit.rlim_cur;
}

static void process_add_affinity(process_state *s, pid_t tid)
{
    cpulist set = {0};
    int bytes = (int)sizeof set.bits;
    if (sched_getaffinity(tid, (size_t)bytes, (cpu_set_t *)(void *)set.bits) == 0) cpulist_add(&s->affinity, &set);
}

// ---- waiting for a CPU ----

static int process_compare_threads(const void *a, const void *b)
{
    const thread *x = a, *y = b;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

// A kernel without statistics of the scheduler says zeros of every thread; others do of those that have not run yet.
static bool process_waits_are_counted(const emit *e)
{
    char text[96], *at = text;
    uint64_t ran;
    bool known = emit_read_line(e, text, sizeof text, "/proc/self/schedstat") && emit_number(emit_word(&at), &ran);
    return !known || ran;
}

// A new member's threads have waited before the recording when it had begun before.
static void process_add_thread(process_state *s, const emit *e, const member *m, pid_t tid, bool was_there)
{
    char text[96], *at = text;
    uint64_t ran, wait;
    if (s->no_waits) return;
    if (!emit_read_line(e, text, sizeof text, "/proc/%ld/task/%ld/schedstat", (long)m->pid, (long)tid)) return;
    if (!emit_number(emit_word(&at), &ran) || !emit_number(emit_word(&at), &wait)) return;
    s->no_waits = !ran && !wait && !s->wait_told && !process_waits_are_counted(e);
    if (s->no_waits) return;
    s->wait_told = true;
    if (s->now.count == s->now.room) {
        size_t room = s->now.room ? 2 * s->now.room : 64;
        thread *longer = realloc(s->now.items, room * sizeof *longer);
        if (!longer) return;
        s->now.items = longer;
        s->now.room = room;
    }
    thread *x = &s->now.items[s->now.count++];
    *x = (thread){tid, wait};
    const thread *last =
        s->threads.count ? bsearch(x, s->threads.items, s->threads.count, sizeof *x, process_compare_threads) : NULL;
    if (last && last->wait_ns <= wait)
        s->wait_ns += wait - last->wait_ns;
    else if (!was_there)
        s->wait_ns += wait;
}

static void process_end_threads(process_state *s)
{
    thread_list old = s->threads;
    if (s->now.count) qsort(s->now.items, s->now.count, sizeof *s->now.items, process_compare_threads);
    s->threads = s->now;
    s->now = (thread_list){old.items, 0, old.room};
}

// ---- shares of common pages ----

static int64_t process_clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// Adds what a process has; an errno. One that has just ended has none any more.
static int process_add_shares(const emit *e, pid_t pid, uint64_t *shares)
{
    static const struct {
        const char *begin;
        int share;
    } rows[] = {{"Pss:", PROPORTIONAL}, {"Private_Clean:", UNIQUE}, {"Private_Dirty:", UNIQUE}, {"Swap:", SWAPPED}};
    char path[64], *line;
    emit_file rollup = {.fd = -1};
    int error;
    snprintf(path, sizeof path, "/proc/%ld/smaps_rollup", (long)pid);
    char *at = emit_file_read(&rollup, e, path, &error);
    while (at && (line = emit_line(&at))) {
        char *name = emit_word(&line);
        uint64_t kib;
        for (size_t i = 0; name && i < sizeof rows / sizeof *rows; i++)
            if (strcmp(name, rows[i].begin) == 0 && emit_number(emit_word(&line), &kib)) {
                shares[rows[i].share] += kib * 1024;
                break;
            }
    }
    emit_file_close(&rollup);
    return error == ESRCH ? 0 : error;
}

// How long to wait after a reading that took so long: half of the time so far suits jobs of seconds and of days.
static int64_t process_shares_pause(const process_state *s, int64_t now, int64_t took)
{
    int64_t pause = (now - s->shares_first_ns) / 2;
    if (pause < SHARES_FIRST_NS) pause = SHARES_FIRST_NS;
    if (pause > SHARES_LATER_NS) pause = SHARES_LATER_NS;
    return took * SHARES_PART > pause ? took * SHARES_PART : pause;
}

static void process_read_shares(process_state *s, const emit *e)
{
    uint64_t shares[SHARES] = {0};
    int64_t begin = process_clock_ns(CLOCK_MONOTONIC);
    int error = 0;
    if (begin < s->shares_next_ns) return;
    for (size_t i = 0; i < s->count && !error; i++)
        error = process_add_shares(e, s->members[i].pid, shares);
    if (!s->shares_first_ns) s->shares_first_ns = begin;
    s->shares_next_ns = begin + process_shares_pause(s, begin, process_clock_ns(CLOCK_MONOTONIC) - begin);
    s->shares_errno = error;
    // Of processes that have all ended, the last of them is kept.
    if (error || (!shares[PROPORTIONAL] && !shares[UNIQUE] && s->shares_known)) return;
    memcpy(s->shares, shares, sizeof shares);
    s->shares_stamp_ns = process_clock_ns(CLOCK_REALTIME);
    s->shares_known = true;
}

// ---- membership ----

static member *process_find_member(process_state *s, pid_t pid)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->members[i].pid == pid && s->members[i].known) return &s->members[i];
    return NULL;
}

static member *process_new_member(process_state *s, pid_t pid)
{
    if (s->count == s->room) {
        size_t room = s->room ? 2 * s->room : 64;
        member *longer = realloc(s->members, room * sizeof *longer);
        if (!longer) return NULL;
        s->members = longer;
        s->room = room;
    }
    member *m = &s->members[s->count++];
    *m = (member){.pid = pid};
    return m;
}

static uint64_t process_held(const member *m, int sum)
{
    return m->own[sum] + m->waited[sum];
}

// The part of reaped children. CPU time and faults have columns of their own for it; for I/O the kernel gives only one
// number, in which the children's part is unknown.
static void process_grow(member *m, const member *before)
{
    for (int i = 0; i < SUMS; i++) {
        const uint64_t *now = i < FIRST_IO ? m->waited : m->own, *then = i < FIRST_IO ? before->waited : before->own;
        m->pool[i] = now[i] > then[i] ? now[i] - then[i] : 0;
    }
}

// So much of it, at most.
static uint64_t process_take(uint64_t *pool, uint64_t most)
{
    uint64_t part = *pool < most ? *pool : most;
    *pool -= part;
    return part;
}

// A debt for a child that was reaped meanwhile is in the parent's sums now.
static void process_settle(process_state *s, member *m)
{
    for (int i = 0; i < SUMS; i++) {
        uint64_t paid = process_take(&m->pool[i], m->debt[i]);
        s->gone[i] -= paid;
        m->debt[i] -= paid;
    }
    if (m->debt_ticks && --m->debt_ticks == 0) memset(m->debt, 0, sizeof m->debt);
}

// Reads a process; false when it is not there, or the number belongs to another one by now.
static bool process_look_at(process_state *s, const emit *e, size_t index)
{
    member *m = &s->members[index], before = *m;
    if (!process_read_stat(s, e, m) || (before.known && before.start != m->start)) {
        *m = before;
        return false;
    }
    process_read_io(e, m);
    process_read_memory(s, e, m);
    if (!emit_fast_only(e)) {
        process_count_files(e, m);
        process_compare_files(s, m);
    }
    m->alive = true;
    if (before.known) {
        process_grow(m, &before);
        process_settle(s, m);
    } else if (m->start < s->begin) {
        for (int i = 0; i < SUMS; i++)
            m->base[i] = process_held(m, i);
        m->is_old = true;
    }
    m->known = true;
    return true;
}

static void process_join(process_state *s, const emit *e, pid_t pid)
{
    if (pid == getpid() || pid == s->job->stranger) return; // the cost of recording is reported by the source self
    member *m = process_find_member(s, pid);
    if (m && m->alive) return;
    if (m) {
        process_look_at(s, e, (size_t)(m - s->members));
        return;
    }
    if (process_new_member(s, pid) && !process_look_at(s, e, s->count - 1)) s->count--;
}

// Children of all threads of a process, and how long the threads of a member have waited; false where the kernel does
// not report children (CONFIG_PROC_CHILDREN).
static bool process_join_children(process_state *s, const emit *e, pid_t pid, const member *waiting, bool was_there)
{
    char path[512];
    bool told = false;
    snprintf(path, sizeof path, "%.400s/proc/%ld/task", emit_root(e), (long)pid);
    DIR *d = opendir(path);
    if (!d) return true; // it has just ended
    for (struct dirent *x; (x = readdir(d));) {
        char file[64], *at, *word;
        emit_file list = {.fd = -1};
        int error;
        if (x->d_name[0] == '.') continue;
        if (waiting) {
            pid_t tid = (pid_t)strtol(x->d_name, NULL, 10);
            process_add_thread(s, e, waiting, tid, was_there);
            process_add_affinity(s, tid);
        }
        snprintf(file, sizeof file, "/proc/%ld/task/%.20s/children", (long)pid, x->d_name);
        at = emit_file_read(&list, e, file, &error);
        told |= at != NULL || error == ESRCH;
        while (at && (word = emit_word(&at)))
            if (*word >= '0' && *word <= '9') process_join(s, e, (pid_t)strtol(word, NULL, 10));
        emit_file_close(&list);
    }
    closedir(d);
    return told;
}

typedef struct scan {
    process_state *s;
    const emit *e;
    size_t joined;
} scan;

static void process_scan_process(void *user, const char *name)
{
    scan *x = user;
    member probe = {.pid = (pid_t)strtol(name, NULL, 10)};
    if (probe.pid <= 0 || process_find_member(x->s, probe.pid)) return;
    if (!process_read_stat(x->s, x->e, &probe)) return;
    const member *parent = process_find_member(x->s, probe.parent);
    if (!parent || !parent->alive) return;
    process_join(x->s, x->e, probe.pid);
    x->joined++;
}

// By everybody's parent, again until no more is found.
static void process_join_by_parents(process_state *s, const emit *e)
{
    scan x = {s, e, 1};
    while (x.joined) {
        x.joined = 0;
        emit_directory(e, "/proc", process_scan_process, &x);
    }
}

// ---- those that ended ----

// The nearest member above that lives: a parent that ended with its child was reaped with it.
static member *process_heir(process_state *s, const member *m)
{
    member *x = process_find_member(s, m->parent);
    for (size_t steps = 0; x && !x->alive && steps < s->count; steps++)
        x = process_find_member(s, x->parent);
    return x && x->alive ? x : NULL;
}

// What came to the heir is this member as it was last seen and, behind that, the children that it reaped after its last
// reading: those are its debt. Without an heir they came to nobody, and what was kept for them stays.
static void process_bury(process_state *s, const member *m)
{
    member *above = process_heir(s, m);
    s->io_lost |= m->io_denied && !above;
    for (int i = 0; i < SUMS; i++) {
        uint64_t last = process_held(m, i), explained = 0, paid = 0;
        if (above) {
            explained = process_take(&above->pool[i], last);
            paid = process_take(&above->pool[i], m->debt[i]);
            above->debt[i] += last - explained + m->debt[i] - paid;
        }
        s->gone[i] += last - explained - paid - m->base[i];
    }
    if (above) above->debt_ticks = DEBT_TICKS;
}

static void process_bury_ended(process_state *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++)
        if (!s->members[i].alive) process_bury(s, &s->members[i]);
    for (size_t i = 0; i < s->count; i++)
        if (s->members[i].alive) s->members[kept++] = s->members[i];
    s->count = kept;
}

// ---- telling ----

static size_t process_count_living(const process_state *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++)
        n += !s->members[i].ended;
    return n;
}

static void process_update(process_state *s, const emit *e)
{
    s->affinity = (cpulist){0};
    for (size_t i = 0; i < s->count; i++)
        s->members[i].alive = false;
    for (size_t i = 0; i < s->job->pid_count; i++)
        process_join(s, e, s->job->pids[i]);
    bool told = !s->job->adopted || process_join_children(s, e, getpid(), NULL, false);
    // The list grows during the loop: children come after their parents. Those whose parent ended come from the last
    // walk.
    for (size_t i = 0; i < s->count; i++) {
        if (!s->members[i].alive && !process_look_at(s, e, i)) continue;
        const member m = s->members[i]; // the list may move
        told &= process_join_children(s, e, m.pid, emit_fast_only(e) ? NULL : &m, m.is_old && !m.waits_known);
        s->members[i].waits_known |= !emit_fast_only(e);
    }
    if (!told) process_join_by_parents(s, e);
    process_bury_ended(s);
    if (s->job->living) *s->job->living = process_count_living(s);
    if (emit_fast_only(e)) return;
    size_t cpus = cpulist_count(&s->affinity);
    if (cpus > s->cpus_allowed) s->cpus_allowed = cpus;
    process_end_threads(s);
    process_read_shares(s, e);
}

static void process_tell_known(emit *e, const char *name, const emit_shape *shape, uint64_t value, uint64_t known)
{
    if (known)
        emit_value(e, name, shape, value);
    else
        emit_failed(e, name, shape, ENOENT);
}

// Values that are only in full readings.
static void process_tell_rest(process_state *s, emit *e)
{
    static const emit_shape wait = SHAPE("ns", COUNTER, 0), share = SHAPE("bytes", GAUGE, NETPROF_STAMPED),
                            cpus = SHAPE("CPUs", GAUGE, 0), files = SHAPE("files", GAUGE, 0);
    static const char *const names[SHARES] = {"memory_proportional", "memory_unique", "memory_swapped"};
    if (s->wait_told || !s->count)
        emit_value(e, "run_queue_wait", &wait, s->wait_ns);
    else
        emit_failed(e, "run_queue_wait", &wait, EOPNOTSUPP); // a kernel that does not count it
    for (size_t i = 0; i < SHARES; i++) {
        if (s->shares_errno)
            emit_failed(e, names[i], &share, s->shares_errno);
        else
            emit_stamped(e, names[i], &share, s->shares[i], s->shares_stamp_ns);
    }
    // Always reported, so that the list of counters stays the same when the first process comes.
    process_tell_known(e, "cpus_allowed", &cpus, s->cpus_allowed, s->cpus_allowed);
    process_tell_known(e, "open_files_peak", &files, s->files_peak, s->files_limit);
    process_tell_known(e, "open_files_limit", &files, s->files_limit, s->files_limit);
}

static void process_tell(process_state *s, emit *e)
{
    static const struct {
        const char *name;
        emit_shape shape;
    } sums[SUMS] = {
        [USER] = {"cpu_user", SHAPE("us", COUNTER, NETPROF_FAST)},
        [SYSTEM] = {"cpu_system", SHAPE("us", COUNTER, NETPROF_FAST)},
        [MINOR_FAULTS] = {"minor_faults", SHAPE("faults", COUNTER, 0)},
        [MAJOR_FAULTS] = {"major_faults", SHAPE("faults", COUNTER, NETPROF_FAST)},
        [READ_CHARS] = {"read_chars", SHAPE("bytes", COUNTER, NETPROF_FAST)},
        [WRITE_CHARS] = {"write_chars", SHAPE("bytes", COUNTER, NETPROF_FAST)},
        [READ_CALLS] = {"read_calls", SHAPE("calls", COUNTER, 0)},
        [WRITE_CALLS] = {"write_calls", SHAPE("calls", COUNTER, 0)},
        [READ_BYTES] = {"read_bytes", SHAPE("bytes", COUNTER, NETPROF_FAST)},
        [WRITE_BYTES] = {"write_bytes", SHAPE("bytes", COUNTER, NETPROF_FAST)},
    };
    static const emit_shape bytes = SHAPE("bytes", GAUGE, NETPROF_FAST),
                            threads = SHAPE("threads", GAUGE, NETPROF_FAST),
                            processes = SHAPE("processes", GAUGE, NETPROF_FAST), files = SHAPE("files", GAUGE, 0);
    member all = {0};
    for (size_t i = 0; i < s->count; i++) {
        const member *m = &s->members[i];
        for (int k = 0; k < SUMS; k++)
            all.own[k] += process_held(m, k) - m->base[k];
        all.resident += m->resident;
        all.shared += m->shared;
        all.size += m->size;
        all.threads += m->threads;
        all.files += m->files;
        all.io_denied |= m->io_denied;
        all.files_denied |= m->files_denied;
    }
    for (int k = 0; k < SUMS; k++) {
        if (k >= FIRST_IO && (all.io_denied || s->io_lost))
            emit_failed(e, sums[k].name, &sums[k].shape, EACCES);
        else
            emit_value(e, sums[k].name, &sums[k].shape, all.own[k] + s->gone[k]);
    }
    emit_value(e, "resident", &bytes, all.resident);
    emit_value(e, "resident_shared", &bytes, all.shared);
    emit_value(e, "virtual_size", &bytes, all.size);
    emit_value(e, "threads", &threads, all.threads);
    emit_value(e, "processes", &processes, s->count);
    if (all.files_denied)
        emit_failed(e, "open_files", &files, EACCES);
    else
        emit_value(e, "open_files", &files, all.files);
    process_tell_rest(s, e);
}

static uint64_t process_uptime_ticks(const emit *e, long hz)
{
    char text[64];
    return emit_read_line(e, text, sizeof text, "/proc/uptime") ? (uint64_t)(strtod(text, NULL) * (double)hz)
                                                                : UINT64_MAX;
}

static void process_walk(void *state, emit *e)
{
    process_state *s = state;
    if (!s->job->pid_count && !s->job->expected) return;
    if (!s->begin) {
        s->hz = sysconf(_SC_CLK_TCK);
        s->page = sysconf(_SC_PAGESIZE);
        s->begin = process_uptime_ticks(e, s->hz);
    }
    process_update(s, e);
    emit_device(e, "job", NETPROF_DEVICE_VIRTUAL);
    process_tell(s, e);
}

static void process_close(void *state)
{
    process_state *s = state;
    free(s->members);
    free(s->threads.items);
    free(s->now.items);
}

netprof_err sources_add_process(netprof *np, const sources_job *job, netprof_error *error)
{
    static const emit_source source = {
        .name = "process", .size = sizeof(process_state), .walk = process_walk, .close = process_close};
    process_state state = {.job = job};
    return emit_add(np, &source, &state, error);
}
