// Keeping snapshots in a file as they come, and the facts of the run that they belong to.
#ifndef TOOLS_RECORD_H
#define TOOLS_RECORD_H

#include "cli/common.h"
#include "sources/tcp/tcp_sockets.h"

#include <signal.h>

typedef struct recorder recorder;

typedef enum recorder_kind {
    RECORDER_WHOLE, // the file appears whole at the end
    RECORDER_LIVE,  // it appears at once and grows; one that is there is replaced
    RECORDER_KEEPS  // the same, but a recording that is there is kept: the new one is put behind it
} recorder_kind;

// The path determines the format: names in .json, and "-" (standard output), are JSON, which always appears whole at
// the end (RECORDER_KEEPS: under the next free name); all others .netprof. %h and so on are replaced, see record_path.h.
// NULL after saying why.
recorder *recorder_open(const char *path, recorder_kind kind);
bool recorder_is_live(const recorder *r); // a .netprof file that grows
bool recorder_appends(const recorder *r); // is there an older recording in the file?
// Goes on in the file that the pattern names now, or in the next one with a number (live files only).
void recorder_rotate(recorder *r);
// Goes on in a new file of the same name, if its name leads to it no more. False: nothing to do.
bool recorder_reopen(recorder *r);
bool recorder_is_elsewhere(const recorder *r); // was the live file renamed or removed?
void recorder_settle(recorder *r);             // waits until what was recorded is in the file, at most 5 s
uint64_t recorder_size(const recorder *r);     // bytes of a live file
const char *recorder_path(const recorder *r);
void recorder_fact(recorder *r, const char *key, const char *value);
void recorder_number(recorder *r, const char *key, int64_t value);
void recorder_file_fact(recorder *r, const char *key,
                        const char *value); // of this file: those that follow do not get it
void recorder_snapshot(recorder *r, const netprof_snapshot *snapshot);
// Asks for all snapshots so far to be on the disk, without waiting (live .netprof files only).
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
// What stands behind TCP's counters: tcp_sockets.h. NULL: nothing is told.
void recorder_sockets(recorder *r, tcp_sockets *sockets, bool since_begin);
// The kernel's word on this node's wall clock, as facts WHEN_synchronised, WHEN_max_error_us ...: how far it may be
// from UTC. when: "clock" at the begin, "clock_end" at the end.
void recorder_clock(recorder *r, const char *when);
typedef void (*recorder_tell)(void *user, const char *key, const char *value);
void recorder_clock_facts(const char *when, recorder_tell tell, void *user); // the same, for who keeps them otherwise
// The CPUs of the node (cpus), those that this process and what it starts may use (cpus_allowed), and the governor of
// their clock (cpu_governor).
void recorder_cpus(recorder *r);
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
