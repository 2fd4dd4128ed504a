// Keeping snapshots in a file as they come, and the facts of the run that they belong to.
#ifndef TOOLS_RECORD_H
#define TOOLS_RECORD_H

#include "cli/common.h"

#include <signal.h>

typedef struct recorder recorder;

// The path determines the format: names in .json, and "-" (standard output), are JSON; all others .netprof. %h (host),
// %n (node: the scheduler's name of it, else the host's), %j (job), %r (rank) and %p (process) in the path are
// replaced. live: a .netprof file appears at once and grows; otherwise, and JSON always, the file appears whole at the
// end. NULL after saying why.
recorder *recorder_open(const char *path, bool live);
const char *recorder_path(const recorder *r);
void recorder_fact(recorder *r, const char *key, const char *value);
void recorder_number(recorder *r, const char *key, int64_t value);
void recorder_snapshot(recorder *r, const netprof_snapshot *snapshot);
// Returns when all snapshots so far are on the disk (live .netprof files only).
void recorder_sync(recorder *r);
// Nothing more can be kept: the disk is full, say, or somebody removed the file. recorder_close() says why.
bool recorder_failed(const recorder *r);
// keep = false drops the file. Returns an exit code after saying what went wrong, now or before.
int recorder_close(recorder *r, bool keep);

// Ends the file that is open, if any, with what it holds, without allocating; JSON, which is written at the end, is
// lost. For programs that run out of memory: a live file is rescued by itself.
void recorder_rescue(void);

// Job, rank and the like, from the environment of the usual schedulers and launchers.
void recorder_job(recorder *r);
// The kernel's word on this node's wall clock, as facts WHEN_synchronised, WHEN_max_error_us ...: how far it may be
// from UTC. when: "clock" at the begin, "clock_end" at the end.
void recorder_clock(recorder *r, const char *when);
// The words as one line that a shell reads as the same words; free it.
char *shell_line(const char *const *words);

// ---- an absolute schedule, signals and a keyboard, as one thing to wait for ----

// One rate. Places in time are multiples of the interval after the start, so nothing drifts however late a reading is.
typedef struct schedule_row {
    int64_t interval_ns, next_ns; // CLOCK_MONOTONIC
    uint64_t taken, missed;       // ticks read, and ticks that passed while nobody could
    int64_t late_ns;              // how late the last one began
    int64_t late_most_ns;
} schedule_row;

enum { SCHEDULE_ROWS = 4 };
enum { SCHEDULE_SIGNAL = -1, SCHEDULE_END = -2, SCHEDULE_INPUT = -3 };

typedef struct schedule {
    schedule_row rows[SCHEDULE_ROWS];
    size_t count;
    sigset_t watched;  // signals
    int signals;       // a signalfd, to wait for them and the input at once
    int input;         // another descriptor to read from; -1: none
    int64_t until_ns;  // 0: for ever
    sigset_t old_mask; // of the signals before
    bool open;
} schedule;

// The signals stay blocked for good: one that comes late must not cost the exit status. False: see errno.
bool schedule_open(schedule *s, const sigset_t *signals);
// One more rate, whose first tick is an interval after `begin_ns`. Returns its row.
schedule_row *schedule_add(schedule *s, int64_t interval_ns, int64_t begin_ns);
// Waits. Returns the index of the row that is due, SCHEDULE_SIGNAL (in *info), SCHEDULE_END at until_ns, or
// SCHEDULE_INPUT when there is something to read.
int schedule_wait(schedule *s, siginfo_t *info);
void schedule_close(schedule *s); // a zeroed one, too
int64_t schedule_now(void);       // CLOCK_MONOTONIC

#endif
