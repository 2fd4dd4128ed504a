// What is kept while files are read, and the steps from the files to the report. Private to the job report.
#ifndef NETPROF_JOB_STORE_H
#define NETPROF_JOB_STORE_H

#include "analysis/base/lookup.h"
#include "analysis/base/pairs.h"
#include "analysis/base/text.h"
#include "job_bins.h"
#include "analysis/data/dataset.h"
#include "job_sources.h"

// Every scope of a meter is a lane of its own while reading; the best one becomes the node's in the end.
enum { JOB_SCOPES = 4 };

// An episode in which a meter of a device was beyond its limit.
typedef struct job_episode {
    size_t device;
    job_meter meter;
    int64_t from_ns, to_ns;
    double mean, high, retries;
} job_episode;

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

void job_warn(job_report *r, const char *path, const char *format, ...) __attribute__((format(printf, 3, 4)));
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
bool job_find_limits(job_report *r); // false: no memory
bool job_make_findings(job_report *r);
bool job_judge_node(job_report *r, size_t node, const dataset *set, netprof_error *error);
bool job_make_notes(job_report *r);

#endif
