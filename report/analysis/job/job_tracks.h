// While the snapshots of one file are read: shared by job_samples.c (files and rates), job_follow.c (which counters are
// followed) and job_steps.c (from differences into lanes).
#ifndef NETPROF_JOB_TRACKS_H
#define NETPROF_JOB_TRACKS_H

#include "job_store.h"
#include "analysis/data/clocks.h"

enum { RECENT = 9, TRACKS_MOST = 8 };

// The role of a followed counter other than in meters.
typedef enum other {
    OTHER_NONE = 0,
    OTHER_TROUBLE,
    OTHER_MISSED,      // of the recorder: ticks
    OTHER_LATE,        // ns
    OTHER_RECORDER,    // CPU time of it, ns
    OTHER_LIMIT,       // of the control group's memory
    OTHER_GROUP_NOW,   // memory of the control group, the page cache with it
    OTHER_GROUP_PEAK,  // the most of that since the group began, between readings as well
    OTHER_TOTAL,       // memory of the node
    OTHER_CPUSET,      // CPUs of the job
    OTHER_QUOTA,       // CPU time that it may use in each ...
    OTHER_PERIOD,      // ... of these
    OTHER_AFFINITY,    // CPUs
    OTHER_WAITED,      // ns that threads of the job waited for a CPU
    OTHER_UNSEEN,      // processes whose last use nobody accounted for
    OTHER_POWER_LIMIT, // of a package, uW
    OTHER_GPU_MEMORY,
    OTHER_GPU_POWER,
    OTHER_GPU_CLOCK
} other;

typedef struct followed {
    size_t from;                  // index in the file's schema; first, for snapshot_subset()
    const job_source_row *row;    // NULL: no meter is made of it
    const job_source_row *second; // another meter that is made of it, too; or NULL
    other other;
    size_t local; // device, or JOB_NONE
    size_t event;
    double factor, other_factor;
    bool off;         // another track follows it more closely
    uint64_t known;   // of OTHER_TROUBLE: the last value
    int64_t known_ns; // when; 0: none yet
} followed;

// Collected in one step for one lane.
typedef struct slot {
    bool level, unknown, stale, reset;
    size_t parts;
    double value, before, after, amount, elapsed_s;
    int64_t pending_ns; // since then amounts wait for a counter that was not refreshed
    double pending;
    bool pending_gap;
} slot;

// Those of one owner. Most have nothing in most steps.
typedef struct slots {
    uint64_t touched; // bit m: of[m] has something of the step at hand
    slot of[JOB_METERS];
} slots;

_Static_assert(JOB_METERS <= 64, "a bit for each meter");

typedef struct watching {
    int64_t window_ns, from_ns, to_ns; // window: begin of the second at hand; from..to: the episode, 0 none
    double window, integral, high;     // of the value: in the window, in the episode
    double window_retries, retries;    // of the NIC meanwhile
} watching;

typedef struct local_device {
    size_t device; // of the report
    bool chosen;   // its bytes count
    bool beside;   // not they, but they are none that others count as well
    slots slots;
    watching watched[JOB_METERS];
} local_device;

// The readings of one rate in one file.
typedef struct track {
    char *key;
    const netprof_schema *schema, *small;
    followed *followed; // stb_ds; one for each of small->counters
    netprof_snapshot last, cut;
    netprof_delta delta; // between them; its memory serves the next step again
    bool has_last, slow;
    clocks_axis axis;
    int64_t interval_ns, recent[RECENT];
    size_t steps;
} track;

typedef struct job_run_reader {
    size_t node, number; // number: of the node's runs
    track tracks[TRACKS_MOST];
    size_t track_count;
    local_device *devices; // stb_ds
    slots slots[JOB_SCOPES];
    bool overlapped;
    bool wait_known; // it may be in the first and last reading alone
    double wait_first_s, wait_last_s;
} run_reader;

typedef struct step {
    int64_t from_ns, to_ns;
    bool gap; // samples are missing within
} step;

// Is this time covered by another file of the node?
bool job_is_covered(const job_report *r, int64_t from_ns, int64_t to_ns);
// Adds a difference of the track's small snapshots to the lanes.
void job_add_difference(job_report *r, track *t, const netprof_delta *delta, const step *at);
void job_end_episodes(job_report *r);

// Makes the track's small schema of what is followed of a snapshot's; what it followed before is dropped.
void job_follow(job_report *r, track *t, const netprof_snapshot *x);
void job_release_track(track *t);

#endif
