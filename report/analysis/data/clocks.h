// Host clocks: how far the wall clocks of runs on several hosts are apart, as their files show, and how much
// of it stays uncertain.
//
//     clocks c = {0};
//     if (!clocks_of_dataset(&c, &set))
//         axis_ns = clocks_place(&c, run, wall_ns); // on the axis of the reference run
//     puts(c.text);
//     clocks_free(&c);
//
// Evidence, the strongest first:
//   one boot    runs with the same boot_id share the monotonic clock: nothing is uncertain between them, even where the
//               wall clock was set meanwhile, or several nodes are on one host.
//   kernel      the kernel's clock state (ntp_adjtime(2), facts clock_* of netprof record and run): how far its clock
//               may be from UTC. Two synchronised clocks are apart by no more than both errors.
//   events      what happens on all nodes at almost the same time, as the begin of a job step. They narrow what the
//               kernel says where they agree with it, and stand alone where no clock is synchronised; several of them
//               over time show a drift.
// A clock is moved only as far as the evidence demands: an offset of 0 that fits stays.
//
// Thread rule: one thread at a time.
#ifndef NETPROF_CLOCKS_H
#define NETPROF_CLOCKS_H

#include "dataset.h"

#include <stdio.h>

#define CLOCKS_UNKNOWN_NS INT64_C(-1)
// Within this the tasks of one job step begin, on all nodes (own value: launchers start trees of daemons).
#define CLOCKS_STEP_BEGIN_NS INT64_C(5000000000)

typedef enum clocks_basis {
    CLOCKS_NOTHING = 0, // taken as it is; the error is not known
    CLOCKS_EVENTS,
    CLOCKS_KERNEL,
    CLOCKS_ONE_BOOT // as the reference, or it is the reference
} clocks_basis;

// Facts about a run's clock. Texts are the caller's and may be NULL.
typedef struct clocks_input {
    const char *name, *boot_id;
    int64_t wall_ns, mono_ns;         // one instant by both clocks; mono 0: unknown
    int64_t end_wall_ns, end_mono_ns; // a later one; 0: unknown
    int64_t max_error_ns;             // as the kernel reports it, the larger of begin and end; CLOCKS_UNKNOWN_NS
    bool unsynchronised;              // the kernel says so
} clocks_input;

// The same key in several runs is the same instant: each wall clock is off it by tolerance_ns at most.
typedef struct clocks_event {
    size_t run;
    const char *key;
    int64_t wall_ns, tolerance_ns;
} clocks_event;

typedef struct clocks_run {
    clocks_basis basis;
    size_t host;       // of clocks.hosts: runs of one boot are of one host
    int64_t offset_ns; // to be added to its wall clock at wall_ns ...
    double drift;      // ... and so much for each ns after it
    int64_t wall_ns;
    int64_t error_ns;        // what remains, against the reference; CLOCKS_UNKNOWN_NS
    int64_t set_ns;          // how far its wall clock was set while it was recorded; 0: it was not
    int64_t contradicted_ns; // events say that it is off by so much, and the kernel says that it cannot be; 0
} clocks_run;

// Start from {0}; clocks_free() at the end.
typedef struct clocks {
    clocks_run *runs; // beside the input
    size_t count, hosts;
    size_t reference; // index of a run
    int64_t error_ns; // between any two runs; CLOCKS_UNKNOWN_NS when one of them is not known
    char *text;       // one or a few sentences for a report's foot; names in it are hostile
} clocks;

void clocks_find(clocks *c, const clocks_input *runs, size_t count, const clocks_event *events, size_t event_count);
// Of the runs of a data set; two snapshots of each (ends_only) do.
void clocks_of_dataset(clocks *c, const dataset *set);

// The snapshots of one run on one axis: the wall clock of the first, and from there on the monotonic clock, for the wall
// clock may be set meanwhile. Start from {0}.
typedef struct clocks_axis {
    bool begun;
    int64_t at_ns, wall_ns, mono_ns; // of the last snapshot: on the axis, and by its two clocks
    size_t steps;                    // how often the wall clock was set ...
    int64_t set_ns;                  // ... and by how much in all; ahead is positive
} clocks_axis;

// Takes the next snapshot; returns when it was on the axis, 0 where its wall clock is not known or before 1970: any two of
// these times can be subtracted.
int64_t clocks_axis_next(clocks_axis *axis, const netprof_snapshot *x);
// How far a wall clock was set that went on by wall_ns while mono_ns passed; 0: no further than clocks drift.
int64_t clocks_set_by(int64_t wall_ns, int64_t mono_ns);
// The same between the two ends of a difference; 0, too, where their times are not known.
int64_t clocks_set_between(const netprof_delta *d);
// "set 1 h back", "set 3 times, 5 min 00 s ahead in all"; free() it.
char *clocks_set_words(size_t steps, int64_t set_ns);

// The clock's part of an input: facts -> max_error_ns, unsynchronised.
void clocks_take_facts(clocks_input *to, const netprof_fact *facts, size_t count);
// How much time, without a sign: "120 ms", "3 min 30 s".
void clocks_put_time(FILE *to, double ns);
int64_t clocks_place(const clocks *c, size_t run, int64_t wall_ns);
void clocks_free(clocks *c);

#endif
