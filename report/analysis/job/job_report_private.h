// What the parts of the job report share.
#ifndef NETPROF_JOB_REPORT_PRIVATE_H
#define NETPROF_JOB_REPORT_PRIVATE_H

#include "job_report.h"
#include "analysis/base/lookup.h"
#include "analysis/base/pairs.h"
#include "analysis/base/text.h"

#include <math.h>
#include <stdarg.h>

// ---- text ----

void job_warn(job_report *r, const char *path, const char *format, ...) __attribute__((format(printf, 3, 4)));

// As fmin() and fmax(), NAN of both alone; those are calls of a library, and these are made for every value read.
static inline double job_less(double a, double b)
{
    return b < a || isnan(a) ? b : a;
}

static inline double job_more(double a, double b)
{
    return b > a || isnan(a) ? b : a;
}

// ---- bins ----

typedef struct job_bin {
    float known_s, integral, low, high; // integral: of the value over the known time ...
    float from_s, to_s;                 // ... which lies between these, since the bin's begin
} job_bin;

// What was counted while samples were missing.
typedef struct job_skipped {
    int64_t from_ns, to_ns;
    double amount;
} job_skipped;

enum { JOB_SKIPPED = 64 }; // more are joined with their neighbours

// Bins of 2^shift ns; bin i of all times is [i << shift, (i + 1) << shift), so those of different lanes lie alike.
typedef struct job_bins {
    int64_t first;
    unsigned shift;
    size_t count, room;
    job_bin *items;
    job_skipped *skipped;
    size_t skipped_count;
    double integral;   // of all that was added, more exact than the items'
    int64_t offset_ns; // of the clock: what was added at t is at t + offset_ns on the axis
    unsigned owners;   // lanes
} job_bins;

job_bins *job_bins_make(void);
void job_bins_free(job_bins *b); // the last owner's frees it
// A value known from..to, in ns on the clock of the axis. False: no memory.
bool job_bins_add(job_bins *b, int64_t from_ns, int64_t to_ns, double value, double low, double high);
// An amount of events without a value: integral alone.
bool job_bins_skip(job_bins *b, int64_t from_ns, int64_t to_ns, double amount);
void job_bins_coarsen(job_bins *b, unsigned shift); // to bins of at least 2^shift ns

// Adds values where both are known; where b has nothing yet, from's are taken.
bool job_bins_join(job_bins *b, const job_bins *from);

typedef struct job_span {
    double known_s, integral, low, high; // low, high: NAN when nothing is known
} job_span;
// Bins that reach over an edge count in proportion to what of their known time lies within.
job_span job_bins_span(const job_bins *b, int64_t from_ns, int64_t to_ns);

// ---- what is read ----

// What of a meter, by whom: each is a lane of its own while reading; the best one is the node's in the end.
enum { JOB_SCOPES = 4 };

typedef enum job_kind {
    JOB_RATE = 0, // a counter: value and total by its differences
    JOB_LEVEL     // a gauge
} job_kind;

typedef enum job_join { JOB_SUM = 0, JOB_MOST, JOB_MEAN } job_join;

// A row: what a counter means.
typedef struct job_source_row {
    const char *source, *device, *counter; // patterns
    job_meter meter;
    job_scope scope;
    job_kind kind;
    job_join join;  // with other counters of the same node or device
    double factor;  // from the counter's unit; 0: by the unit's name (time to seconds)
    bool of_device; // a lane of the device, of which the node's is made
} job_source_row;

// NULL when it means nothing here. Bytes of network devices are the catalog's business: job_bytes_row().
const job_source_row *job_source_row_of(const netprof_device *device, const netprof_counter *counter);
const job_source_row *job_bytes_row(bool is_sent);
// 1e-6 for "us"; 0 when the unit is no time.
double job_seconds_of_unit(const char *unit);
// How lanes of a node's devices come together.
job_join job_device_join(job_meter meter);

// An episode in which a meter of a device was beyond its limit.
typedef struct job_episode {
    size_t device;
    job_meter meter;
    int64_t from_ns, to_ns;
    double mean, high, retries;
} job_episode;

typedef struct job_watch_row {
    job_meter meter;
    const char *rule;
    double limit;   // the value, of its unit
    double least_s; // so long at least
    severity severity;
    const char *class_name, *origin, *advice;
} job_watch_row;

const job_watch_row *job_watch_of(job_meter meter); // NULL: it is not watched

// What is kept of a finding of the rules about one node, folded by rule in the end.
typedef struct job_node_finding {
    size_t node;
    severity severity;
    int class_rank;
    char *rule, *device, *source, *claim, *advice, *origin, *unit, *value_text;
    double value, threshold;
    bool is_pause; // as rule.is_pause
} job_node_finding;

// One counter of trouble of one device.
typedef struct job_trouble {
    size_t event, device;
    double sum;
} job_trouble;

// Amounts of an event on one node; its own bins, for each node has its clock.
typedef struct job_event_lane {
    size_t node;
    job_bins *bins;
} job_event_lane;

// What was read of one run, until all are.
typedef struct job_run {
    size_t node;
    int64_t wall_ns, mono_ns, end_wall_ns, end_mono_ns;
    char *path, *boot_id;
    bool ended, stopped; // as it was meant to; by a signal, which may have been meant or not
    netprof_fact *facts; // of its clock
    size_t fact_count;
} job_run;

typedef struct job_mark {
    int64_t at_ns;
    char *name; // NULL: an end
} job_mark;

// The time that a run covers. 0: nothing.
typedef struct job_stretch {
    int64_t from_ns, to_ns;
    size_t run; // in job_reader.runs
} job_stretch;

typedef struct job_node_reader {
    job_lane *lanes[JOB_METERS][JOB_SCOPES];
    job_state state[JOB_METERS][JOB_SCOPES];
    double memory_limit, memory_total, cpus;
    double cpuset, quota, period, affinity, scheduler_cpus, scheduler_memory; // NAN unknown
    double power_limit;                                                       // W of all packages together; NAN unknown
    double waited_s;    // that the job's threads waited for a CPU; NAN unknown
    double others_wait; // share of the time that threads of others than the job waited for one; 0: no finding
    job_stretch *runs;  // of each run of it
    size_t run_count, run_room;
    uint64_t recorder_ns;
    double recorder_s;
} job_node_reader;

typedef struct job_reader {
    const job_report_options *options;
    job_node_reader *nodes; // beside job_report.nodes
    size_t node_room, device_room;
    job_episode *episodes;
    size_t episode_count, episode_room;
    job_node_finding *found;
    size_t found_count, found_room;
    job_trouble *troubles;
    size_t trouble_count, trouble_room;
    pairs trouble_of; // (event, device) -> trouble
    size_t event_room;
    job_run *runs; // all that were read; those from `file` on are of the file at hand
    size_t run_count, run_room, file;
    job_mark *marks;
    size_t mark_count, mark_room;
    char **region_paths;
    size_t region_count, region_room;
    struct job_known *known;          // counters by name
    struct job_run_reader *run;       // the file at hand
    struct job_region_reader *series; // or this, of a process's regions
    job_region_place *places;
    size_t place_count;
    netprof_error first; // of the first file that could not be used
    bool unknown_judged; // a rule could be judged somewhere
    size_t judged, unknown;
    double start_s, limit_s; // of the job, by its scheduler: since 1970, and its length. NAN unknown
} job_reader;

struct job_known *job_known_make(void);
void job_known_free(struct job_known *known);
void job_node_finding_free(job_node_finding *x);
bool job_read_phases(job_report *r, const char *path); // false: no memory; what is wrong is a warning
bool job_parse_phases(job_report *r, const char *path, const char *text, size_t size);
// A fact of a file at its first snapshot, or of that one; NULL: there is none.
const char *job_fact_of(const dataset_run *run, const netprof_schema *schema, const char *key);
// dataset_options.each; user is the job_report.
netprof_err job_take(void *user, const dataset_run *run, size_t index, const netprof_snapshot *snapshot);
// Behind the last snapshot of a run: at the next one's first, and at the end of the file.
netprof_err job_run_end(job_report *r);
void job_run_free(job_report *r);
job_lane *job_lane_make(job_meter meter, size_t node, size_t device);
void job_lane_free(job_lane *lane);

// ---- behind the last file, in this order ----

bool job_finish_lanes(job_report *r);
bool job_make_facts(job_report *r, const dataset_run *run); // of one file, as it is read
bool job_make_phases(job_report *r);
void job_fill_phase(const job_report *r, job_phase *p, const job_phase_span *spans, size_t count);
bool job_make_uses(job_report *r);
bool job_limit_binds(const job_node_reader *x); // of the control group's memory: less than the node has
void job_allocate(job_report *r, size_t node);
void job_take_allocation(job_report *r, size_t node, const dataset_run *run); // of one file, as it is read
void job_make_efficiency(job_report *r);
bool job_make_energy(job_report *r);
bool job_make_findings(job_report *r);
bool job_judge_node(job_report *r, size_t node, const dataset *set, netprof_error *error);
bool job_make_notes(job_report *r);

// Means of a meter over a stretch: of one node's lane, or over the nodes that know it. NAN unknown.
double job_mean_between(const job_report *r, job_meter meter, size_t node, double from_s, double to_s);
double job_median(double *values, size_t count); // sorts them; NAN of none
int64_t job_ns_of(const job_report *r, double at_s);

#endif
