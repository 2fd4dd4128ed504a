// A job's processes as they were last read, see process.c.
#ifndef TOOLS_SOURCES_PROCESS_MODEL_H
#define TOOLS_SOURCES_PROCESS_MODEL_H

#include "cpulist.h"
#include "emit.h"
#include "sources_job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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
enum { MANY = 64 };      // with more members than that, details are read in turn

typedef struct process_member {
    pid_t pid, parent;
    uint64_t start;        // ticks since boot: with pid, who it is
    uint64_t own[SUMS];    // of it alone; I/O: with its reaped children, as the kernel gives it
    uint64_t waited[SUMS]; // of children that it reaped
    uint64_t base[SUMS];   // what it had before the recording
    uint64_t pool[SUMS];   // what its sums of children grew by in this walk and no child explains yet
    uint64_t debt[SUMS];   // kept for children that it may still reap
    int debt_ticks, io_debt_ticks;
    int stat; // a descriptor plus 1 that is kept open, or 0
    uint64_t resident, shared, size, threads, files;
    bool alive, io_denied, files_denied, known;
    bool ended;               // but nobody waited for it yet
    bool is_old, waits_known; // began before the recording; its threads' waits were seen once
    bool outside;             // waits for tasks of the job, and is none
    bool detailed, last_seen; // its details were read in this walk; after it had ended
    bool read, listed;        // in this walk: its line in stat was read; it is in the list of all processes
    bool walked;              // its threads were, too
} process_member;

// How long a thread has waited for a CPU, and had one, and how often it got one.
typedef struct process_thread {
    pid_t tid, pid;
    uint64_t wait_ns, ran_ns, turns;
    int64_t seen_ns; // CLOCK_MONOTONIC
    double share;    // of the time up to then that it had a CPU, 0..1
} process_thread;

typedef struct process_thread_list {
    process_thread *items; // sorted by tid, once a walk is done
    size_t count, room;
} process_thread_list;

// Of all members together, at one time.
enum { PROPORTIONAL, UNIQUE, SWAPPED, SHARES };

typedef struct process_state {
    process_thread_list threads, now;    // of the last walk, and of the one at hand
    uint64_t wait_ns, turns;             // all that was seen
    bool wait_told, no_waits;            // of some thread; the kernel counts none
    bool threads_asked;                  // of some thread it was asked how long it ran
    bool walks_threads;                  // this walk looks at threads
    int64_t threads_ns, threads_next_ns; // CLOCK_MONOTONIC: of the last such walk; in a fast reading not before this
    int64_t busiest_stamp_ns;            // CLOCK_REALTIME of it
    double busiest_ns;                   // CPU time of the busiest thread of each stretch between such walks
    uint64_t shares[SHARES];
    bool shares_known;
    int shares_errno;
    int64_t shares_stamp_ns;                 // CLOCK_REALTIME
    int64_t shares_first_ns, shares_next_ns; // CLOCK_MONOTONIC
    const sources_job *job;
    process_member *members;
    size_t count, room;
    uint32_t *index; // by the number of the process: place of the member plus 1; a power of two places
    size_t index_room;
    pid_t *others, *others_now; // rising: processes that are no members
    size_t other_count, other_room, now_count, now_room;
    int64_t list_ns;     // CLOCK_MONOTONIC: before this the list of all processes is not read again
    size_t turn, closer; // who is read next; whose details are
    int64_t walk_ns;     // CLOCK_MONOTONIC of the last walk
    size_t kept, keeps;  // descriptors
    uint64_t unseen;     // members that ended and whose last use came to nobody who is looked at
    uint64_t gone[SUMS]; // of members that ended and that no other member's sums hold (two's complement)
    bool io_lost;        // the bytes that one of these read and wrote were never known
    uint64_t begin;      // start time of the first walk, in ticks since boot
    cpulist affinity;    // of all threads in this walk
    uint64_t cpus_allowed, files_peak, files_limit; // 0: not known
    long hz, page;
} process_state;

#endif
