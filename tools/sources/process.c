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
// A job of many processes is read thinner, for all of it to take less than a hundredth of a CPU: CPU time, faults, threads
// and resident memory of so many in turn as a four-hundredth of the time suffices for; bytes, open files, waits and CPUs
// allowed of so many as a thousandth does; and of those that ended, or whose children did, at once. New processes
// are then found in the list of all, which is read for a thousandth. The last reading of a recording is of everything.
//
// Of a task whose parent is no process of the job but waits for it on the job's behalf (Slurm's slurmstepd), what the
// parent was given by the tasks that it waited for is the job's, too. Processes that ended and whose last use came to
// nobody who is looked at are counted: with them all sums are at least.
//
// busiest_thread grows by what the busiest thread of each stretch between two looks at the threads used of a CPU: at most
// as fast as the time. Threads that began and ended within a stretch are not in it.
//
// cpus_allowed is how many CPUs the job's threads together may run on, the most at any full reading; the open files are
// those of the process that came nearest to its limit so far.
#define _GNU_SOURCE
#include "process_members.h"
#include "process_read.h"
#include "process_threads.h"
#include "sources_makers.h"
#include "shapes.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const int64_t TURN_PART = 400, CLOSER_PART = 1000, LIST_PART = 1000, TURN_LEAST_NS = 1000000;
static const int64_t SHARES_PART = 1000, SHARES_PART_MANY = 2000, SHARES_FIRST_NS = 1000000000,
                     SHARES_LATER_NS = INT64_C(5000000000), THREADS_PART = 500, THREADS_LEAST_NS = 1000000000;

// ---- shares of common pages ----

static int64_t process_clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// How long to wait after a reading that took so long: half of the time so far suits jobs of seconds and of days.
static int64_t process_shares_pause(const process_state *s, int64_t now, int64_t took)
{
    int64_t pause = (now - s->shares_first_ns) / 2;
    if (pause < SHARES_FIRST_NS) pause = SHARES_FIRST_NS;
    if (pause > SHARES_LATER_NS) pause = SHARES_LATER_NS;
    int64_t part = s->count > MANY ? SHARES_PART_MANY : SHARES_PART;
    return took * part > pause ? took * part : pause;
}

static void process_read_shares(process_state *s, const emit *e)
{
    uint64_t shares[SHARES] = {0};
    int64_t begin = process_clock_ns(CLOCK_MONOTONIC);
    int error = 0;
    if (begin < s->shares_next_ns) return;
    for (size_t i = 0; i < s->count && !error; i++)
        if (!s->members[i].outside) error = process_add_shares(e, s->members[i].pid, shares);
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

static uint64_t process_held(const process_member *m, int sum)
{
    return m->own[sum] + m->waited[sum];
}

// The part of reaped children. CPU time and faults have columns of their own for it; for I/O the kernel gives only one
// number, in which the children's part is unknown.
static void process_grow(process_member *m, const process_member *before, int from, int to)
{
    for (int i = from; i < to; i++) {
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
static void process_settle(process_state *s, process_member *m, int from, int to, int *ticks)
{
    for (int i = from; i < to; i++) {
        uint64_t paid = process_take(&m->pool[i], m->debt[i]);
        s->gone[i] -= paid;
        m->debt[i] -= paid;
    }
    if (*ticks && --*ticks == 0) memset(m->debt + from, 0, (size_t)(to - from) * sizeof *m->debt);
}

// What is dearer to read than its line in stat.
static void process_look_closer(process_state *s, const emit *e, process_member *m)
{
    const process_member before = *m;
    if (m->outside || m->detailed) return;
    m->detailed = true;
    m->last_seen = m->ended;
    process_read_io(e, m);
    process_read_memory(s, e, m);
    if (!emit_fast_only(e)) {
        process_count_files(e, m);
        process_compare_files(s, m);
    }
    if (!before.known) return;
    process_grow(m, &before, FIRST_IO, SUMS);
    process_settle(s, m, FIRST_IO, SUMS, &m->io_debt_ticks);
}

// Of one that waits for tasks of the job: what it was given by them, nothing of its own.
static void process_leave_own(process_member *m)
{
    memset(m->own, 0, sizeof m->own);
    m->threads = m->size = m->resident = 0;
}

// Reads a process; false when it is not there, or the number belongs to another one by now.
static bool process_look_at(process_state *s, const emit *e, size_t index)
{
    process_member *m = &s->members[index], before = *m;
    if (!process_read_stat(s, e, m) || (before.known && before.start != m->start)) {
        before.stat = m->stat;
        *m = before;
        return false;
    }
    if (m->outside) process_leave_own(m);
    m->read = true;
    if (before.known) {
        process_grow(m, &before, 0, FIRST_IO);
        process_settle(s, m, 0, FIRST_IO, &m->debt_ticks);
    }
    // What it did last is read at once: soon it is gone.
    if (!before.known || s->count <= MANY || (m->ended && !m->last_seen)) process_look_closer(s, e, m);
    m->alive = true;
    if (!before.known && m->start < s->begin) {
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
    process_member *m = process_find_member(s, pid);
    if (m && m->alive) return;
    if (m) {
        process_look_at(s, e, (size_t)(m - s->members));
        return;
    }
    if (!process_new_member(s, pid)) return;
    if (!process_look_at(s, e, s->count - 1)) process_drop_last(s);
}

// Children of all threads of a process, and how long the threads of a member have waited; false where the kernel does
// not report children (CONFIG_PROC_CHILDREN).
static bool process_join_children(process_state *s, const emit *e, pid_t pid, const process_member *waiting,
                                  bool was_there)
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

static int process_compare_pids(const void *a, const void *b)
{
    pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
    return x < y ? -1 : x > y;
}

static bool process_is_other(const process_state *s, pid_t pid)
{
    return s->other_count && bsearch(&pid, s->others, s->other_count, sizeof pid, process_compare_pids);
}

static void process_keep_other(process_state *s, pid_t pid)
{
    if (s->now_count == s->now_room) {
        size_t room = s->now_room ? 2 * s->now_room : 256;
        pid_t *longer = realloc(s->others_now, room * sizeof *longer);
        if (!longer) return; // it is looked at again next time
        s->others_now = longer;
        s->now_room = room;
    }
    s->others_now[s->now_count++] = pid;
}

// True: it is a member now.
static bool process_scan_process(process_state *s, const emit *e, pid_t pid)
{
    process_member probe = {.pid = pid};
    if (!process_read_stat(s, e, &probe)) return false;
    const process_member *parent = process_find_member(s, probe.parent);
    if (!parent || parent->outside) return false; // one that had ended would be nobody's parent
    process_join(s, e, pid);
    return true;
}

// The list of all processes; returns how many have joined. Numbers rise in it, so those that are no members are sorted.
static size_t process_scan_all(process_state *s, const emit *e)
{
    char path[512];
    size_t joined = 0;
    snprintf(path, sizeof path, "%.400s/proc", emit_root(e));
    DIR *d = opendir(path);
    if (!d) return 0;
    s->now_count = 0;
    for (struct dirent *x; (x = readdir(d));) {
        pid_t pid = (pid_t)strtol(x->d_name, NULL, 10);
        process_member *m = pid > 0 ? process_find_member(s, pid) : NULL;
        if (m) m->listed = true;
        if (m || pid <= 0) continue;
        if (!process_is_other(s, pid) && process_scan_process(s, e, pid))
            joined++;
        else
            process_keep_other(s, pid);
    }
    closedir(d);
    qsort(s->others_now, s->now_count, sizeof *s->others_now, process_compare_pids);
    return joined;
}

// By everybody's parent, again until no more is found. Who is no member now is none later, unless it is told to be one.
static void process_join_by_parents(process_state *s, const emit *e)
{
    while (process_scan_all(s, e))
        continue;
    pid_t *old = s->others;
    size_t room = s->other_room;
    s->others = s->others_now;
    s->other_count = s->now_count;
    s->other_room = s->now_room;
    s->others_now = old;
    s->now_room = room;
}

// Slurm's daemon of a step waits for the tasks, and has no environment of the job: what it waited for is the job's.
static void process_join_waiting(process_state *s, const emit *e, const process_member *task)
{
    char name[32];
    if (process_find_member(s, task->parent) || task->parent <= 1 || task->parent == getpid()) return;
    if (!emit_read_line(e, name, sizeof name, "/proc/%ld/comm", (long)task->parent)) return;
    if (strcmp(name, "slurmstepd") != 0) return;
    process_member *m = process_new_member(s, task->parent);
    if (!m) return;
    m->outside = true;
    if (!process_look_at(s, e, s->count - 1)) process_drop_last(s);
}

// ---- those that ended ----

// The nearest member above that lives: a parent that ended with its child was reaped with it.
static process_member *process_heir(process_state *s, const process_member *m)
{
    process_member *x = process_find_member(s, m->parent);
    for (size_t steps = 0; x && !x->alive && steps < s->count; steps++)
        x = process_find_member(s, x->parent);
    return x && x->alive ? x : NULL;
}

// What came to the heir is this member as it was last seen and, behind that, the children that it reaped after its last
// reading: those are its debt. Without an heir they came to nobody, and what was kept for them stays.
static void process_bury(process_state *s, const process_member *m)
{
    process_member *above = process_heir(s, m);
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
    if (above)
        above->debt_ticks = above->io_debt_ticks = DEBT_TICKS;
    else if (!m->outside && !m->ended)
        s->unseen++;
}

static void process_bury_ended(process_state *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        if (s->members[i].alive) continue;
        process_bury(s, &s->members[i]);
        process_forget_stat(s, &s->members[i]);
    }
    for (size_t i = 0; i < s->count; i++)
        if (s->members[i].alive) s->members[kept++] = s->members[i];
    if (kept == s->count) return;
    s->count = kept;
    process_index_all(s);
}

// ---- telling ----

static size_t process_count_living(const process_state *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++)
        n += !s->members[i].ended && !s->members[i].outside;
    return n;
}

// Those whose parents are no processes of the job: with them a new branch of the tree begins.
static void process_join_roots(process_state *s, const emit *e, bool many)
{
    size_t before = s->count;
    for (size_t i = 0; i < s->job->pid_count; i++)
        if (!many || !process_find_member(s, s->job->pids[i])) process_join(s, e, s->job->pids[i]);
    for (size_t i = before, end = s->count; i < end; i++) {
        const process_member task = s->members[i];
        process_join_waiting(s, e, &task);
    }
    if (s->count > before) s->other_count = 0; // children of theirs were nobody's
}

// The threads of a process, and its children; false where the kernel does not tell these.
static bool process_walk_threads(process_state *s, const emit *e, size_t i)
{
    const process_member m = s->members[i]; // the list may move
    if (m.outside) return true;
    bool told = process_join_children(s, e, m.pid, s->walks_threads ? &m : NULL, m.is_old && !m.waits_known);
    s->members[i].waits_known |= s->walks_threads;
    s->members[i].walked = s->walks_threads;
    return told;
}

// Is there time for more? Asked for each of many, answered by the clock now and then.
typedef struct turn {
    int64_t end_ns;
    size_t asked;
    bool over;
} turn;

static turn process_begin_turn(const process_state *s, int64_t elapsed_ns, int64_t part)
{
    int64_t most = elapsed_ns / part;
    if (most < TURN_LEAST_NS) most = TURN_LEAST_NS;
    if (s->job->whole) most = INT64_MAX / 2;
    return (turn){.end_ns = process_clock_ns(CLOCK_THREAD_CPUTIME_ID) + most};
}

static bool process_has_time(turn *t)
{
    if (t->asked++ % 8 == 0) t->over |= process_clock_ns(CLOCK_THREAD_CPUTIME_ID) > t->end_ns;
    return !t->over;
}

// Details of so many members as there is time for.
static void process_look_closer_in_turn(process_state *s, const emit *e, int64_t elapsed_ns)
{
    turn t = process_begin_turn(s, elapsed_ns, CLOSER_PART);
    for (size_t n = 0, end = s->count; n < end && process_has_time(&t); n++) {
        if (s->closer >= end) {
            s->closer = 0;
            s->affinity = (cpulist){0};
        }
        if (s->members[s->closer].listed) {
            process_look_closer(s, e, &s->members[s->closer]);
            process_walk_threads(s, e, s->closer);
        }
        s->closer++;
    }
}

// A parent that waited for somebody may have waited for this one.
static bool process_may_be_reaped(const process_state *s, const process_member *m)
{
    const process_member *above = process_find_member(s, m->parent);
    for (int i = 0; above && i < SUMS; i++)
        if (above->pool[i]) return true;
    return false;
}

// After all processes were listed. Parents come before their children here, too. Whose parent has grown is looked at after
// it: else what it did would count twice, in the parent and as what is still there. What is gone before its parent was
// read is the parent's debt.
static void process_look_in_turn(process_state *s, const emit *e, int64_t elapsed_ns)
{
    turn t = process_begin_turn(s, elapsed_ns, TURN_PART);
    size_t from = s->job->whole || s->turn >= s->count ? 0 : s->turn;
    for (size_t i = 0; i < s->count; i++) {
        process_member *m = &s->members[i];
        m->alive = m->listed || m->read;
        if (!m->alive || m->read) continue;
        bool turns = i >= from && process_has_time(&t);
        if (turns) s->turn = i + 1;
        if (turns || process_may_be_reaped(s, m)) m->alive = process_look_at(s, e, i);
    }
    if (!t.over) s->turn = 0;
}

// All processes, or, where that was dear a moment ago, none: then those that were there count as there until they are read.
static void process_list_in_turn(process_state *s, const emit *e, int64_t now)
{
    int64_t begin = process_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (size_t i = 0; i < s->count; i++)
        s->members[i].listed = !s->job->whole && now < s->list_ns;
    if (!s->job->whole && now < s->list_ns) return;
    process_join_by_parents(s, e);
    s->list_ns = now + LIST_PART * (process_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin);
}

// Fast readings look at threads every second at most, and so seldom that it takes a five-hundredth of the time.
static void process_time_threads(process_state *s, int64_t begin_ns)
{
    int64_t pause = (process_clock_ns(CLOCK_MONOTONIC) - begin_ns) * THREADS_PART;
    s->threads_next_ns = begin_ns + (pause > THREADS_LEAST_NS ? pause : THREADS_LEAST_NS);
    s->busiest_stamp_ns = process_clock_ns(CLOCK_REALTIME);
}

static void process_update(process_state *s, const emit *e)
{
    int64_t now = process_clock_ns(CLOCK_MONOTONIC), elapsed = s->walk_ns ? now - s->walk_ns : 0;
    bool many = s->count > MANY, told = true;
    s->walk_ns = now;
    s->walks_threads = !emit_fast_only(e) || (!many && now >= s->threads_next_ns);
    if (!many && s->walks_threads) s->affinity = (cpulist){0};
    for (size_t i = 0; i < s->count; i++) {
        process_member *m = &s->members[i];
        m->alive = m->detailed = m->walked = m->read = m->listed = false;
        memset(m->pool, 0, sizeof m->pool);
    }
    for (size_t i = 0; i < s->count; i++) // before those that they wait for
        if (s->members[i].outside) process_look_at(s, e, i);
    process_join_roots(s, e, many);
    if (s->job->adopted) told = process_join_children(s, e, getpid(), NULL, false);
    // The list grows during the loop: children come after their parents. Those whose parent ended come from the last
    // walk.
    for (size_t i = 0; !many && i < s->count; i++) {
        if (!s->members[i].alive && !process_look_at(s, e, i)) continue;
        told &= process_walk_threads(s, e, i);
    }
    if (many)
        process_list_in_turn(s, e, now);
    else if (!told)
        process_join_by_parents(s, e);
    if (many) process_look_closer_in_turn(s, e, elapsed);
    if (many) process_look_in_turn(s, e, elapsed);
    process_bury_ended(s);
    if (s->job->living) *s->job->living = process_count_living(s);
    if (!s->walks_threads) return;
    size_t cpus = cpulist_count(&s->affinity);
    if (cpus > s->cpus_allowed) s->cpus_allowed = cpus;
    process_end_threads(s);
    process_time_threads(s, now);
    if (!emit_fast_only(e)) process_read_shares(s, e);
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
    static const emit_shape wait = SHAPE("ns", COUNTER, 0), turns = SHAPE("switches", COUNTER, 0),
                            share = SHAPE("bytes", GAUGE, NETPROF_STAMPED), cpus = SHAPE("CPUs", GAUGE, 0),
                            files = SHAPE("files", GAUGE, 0);
    static const char *const names[SHARES] = {"memory_proportional", "memory_unique", "memory_swapped"};
    if (s->wait_told || !s->count) {
        emit_value(e, "run_queue_wait", &wait, s->wait_ns);
        emit_value(e, "run_queue_turns", &turns, s->turns);
    } else { // a kernel that does not count them
        emit_failed(e, "run_queue_wait", &wait, EOPNOTSUPP);
        emit_failed(e, "run_queue_turns", &turns, EOPNOTSUPP);
    }
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
                            processes = SHAPE("processes", GAUGE, NETPROF_FAST), files = SHAPE("files", GAUGE, 0),
                            ended = SHAPE("processes", COUNTER, NETPROF_FAST),
                            busiest = SHAPE("ns", COUNTER, NETPROF_FAST | NETPROF_STAMPED);
    process_member all = {0};
    size_t outside = 0;
    for (size_t i = 0; i < s->count; i++) {
        const process_member *m = &s->members[i];
        outside += m->outside;
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
    emit_value(e, "processes", &processes, s->count - outside);
    emit_value(e, "ended_unseen", &ended, s->unseen);
    if (s->wait_told || !s->threads_asked)
        emit_stamped(e, "busiest_thread", &busiest, (uint64_t)s->busiest_ns, s->busiest_stamp_ns);
    else
        emit_failed(e, "busiest_thread", &busiest, EOPNOTSUPP); // a kernel that does not count it
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
        struct rlimit files;
        if (getrlimit(RLIMIT_NOFILE, &files) == 0) s->keeps = files.rlim_cur / 2; // the others are for everybody else
    }
    process_update(s, e);
    emit_device(e, "job", NETPROF_DEVICE_VIRTUAL);
    process_tell(s, e);
}

static void process_close(void *state)
{
    process_state *s = state;
    for (size_t i = 0; i < s->count; i++)
        process_forget_stat(s, &s->members[i]);
    free(s->members);
    free(s->index);
    free(s->others);
    free(s->others_now);
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
