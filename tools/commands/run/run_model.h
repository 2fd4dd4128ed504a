// What netprof run was asked for, and one execution of it.
#ifndef TOOLS_RUN_MODEL_H
#define TOOLS_RUN_MODEL_H

#include "cli/common.h"
#include "commands/print/interval_table.h"
#include "measure/attached.h"
#include "measure/ranks_run.h"
#include "measure/record.h"
#include "measure/witness.h"
#include "sources/tcp/tcp_sockets.h"
#include "sources/sources.h"

#include <sys/resource.h>

enum {
    EXIT_TIMED_OUT = 124,
    EXIT_CANNOT_START = 126,
    EXIT_NOT_FOUND = 127,
    EXIT_SIGNAL = 128
}; // as timeout(1), the shell

// How the report is written.
typedef enum run_format { RUN_TEXT = 0, RUN_JSON, RUN_CSV, RUN_FIELDS } run_format;

// The same for every run.
typedef struct run_request {
    const char **words;                                     // of the command; NULL: none
    char *line;                                             // the words, quoted; NULL: none
    bool node;                                              // -a: the node and not the command's processes
    attached attached;                                      // -p
    int64_t interval_ns, delay_ns, timeout_ns, duration_ns; // 0: none
    bool recording;                                         // -o with --interval
    bool samples;                                           // for the report alone, see run_samples.h
    bool prints;                                            // each interval, while it runs
    bool mpi, nccl;
    netprof_set set;    // in between
    const char *output; // --output
    run_format format;
    const char *separator; // of RUN_FIELDS
    uint64_t count;        // of runs
    FILE *to;              // where each interval goes; NULL: nowhere
    bool untitled;         // CSV goes behind what is there already
    char *names;           // names of the attached processes; NULL: there are none
    // what all runs share
    schedule clock;
    witness witness;
} run_request;

// What ended the measuring.
typedef enum run_end {
    RUN_ENDED = 0, // the command, or the attached processes
    RUN_DURATION,
    RUN_SIGNAL
} run_end;

typedef struct execution {
    run_request *ask;
    ranks_run mpi;
    sources_job job; // the processes
    netprof *np;
    bool readable; // there is something to read
    recorder *to;
    netprof_snapshot before, after, between;
    uint64_t series;        // snapshots in between
    netprof_snapshot *kept; // of run_samples.h
    interval_table intervals;
    pid_t child; // 0: none
    bool started, measured, reaped;
    bool timed_out, killed; // --timeout; and SIGTERM did not suffice
    int signal;             // 0, or what the user sent to end it
    run_end end;
    int status;                                    // as wait4() gives it
    struct rusage use;                             // of the command, and of all that it or this process waited for
    bool reaps;                                    // processes that outlive their parents become children of this one
    bool left_behind;                              // processes of it go on: there is more
    int64_t begin_ns, end_ns, wall_begin_ns;       // of what was measured
    tcp_sockets *sockets;                          // NULL: nothing is kept, or TCP's counters are not read
    int64_t sockets_at;                            // when they are looked at next; 0: never
    int64_t delay_at, timeout_at, kill_at, end_at; // CLOCK_MONOTONIC; 0: never, or over
} execution;

int64_t run_now_ns(clockid_t clock);
int run_exit_status(const execution *e); // as the shell gives it
double run_seconds(struct timeval t);
double run_elapsed_s(const execution *e);
uint64_t run_missed(const execution *e);    // ticks that passed while nobody could read
const char *run_ending(const execution *e); // how the command ended: "was killed by signal 9 (Killed)"

#endif
