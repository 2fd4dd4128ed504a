// The state while files are read, and the steps from files to the report. Private to the job report.
#ifndef NETPROF_JOB_STORE_H
#define NETPROF_JOB_STORE_H

#include "analysis/base/index_map.h"
#include "analysis/base/stb_ds.h"
#include "job_bins.h"
#include "analysis/data/dataset.h"
#include "analysis/rules/node_settings.h"
#include "job_sources.h"

// Every scope of a meter is a lane of its own while reading; the best one becomes the node's in the end.
enum { JOB_SCOPES = 6 };

// An episode in which a meter of a device was beyond its limit.
typedef struct job_episode {
    size_t device;
    job_meter meter;
    int64_t from_ns, to_ns;
    double mean, high, retries;
} job_episode;

enum { JOB_EPISODES_MOST = 4096 };

// The worst value of a rule about faults on a node; INFINITY: it could not be judged of a device.
typedef struct job_rule_value {
    const rule *rule;
    size_t node;
    double value;
} job_rule_value;

// A finding of the rules about one node; folded by rule in the end.
typedef struct job_node_finding {
    size_t node;
    severity severity;
    int class_rank;
    char *rule, *device, *source, *claim, *advice, *origin, *unit, *value_text;
    double value, threshold;
    bool is_pause; // as rule.is_pause
    char *effect;  // of a cause: what it did, as an incident tells it; NULL: nothing
    severity effect_severity;
    double effect_cost_s;
} job_node_finding;

// An incident, and one of the devices that it is about.
typedef struct job_told {
    size_t finding, device;
} job_told;

// One counter of trouble of one device.
typedef struct job_trouble {
    size_t event, device;
    double sum;
    job_bins *bins; // of damage on a link: when it was; else NULL
} job_trouble;

// One run, kept until all are read.
typedef struct job_run {
    size_t node;
    int64_t wall_ns, mono_ns, end_wall_ns, end_mono_ns;
    size_t clock_steps;   // how often the wall clock was set ...
    int64_t clock_set_ns; // ... and by how much in all
    char *path, *boot_id;
    bool ended, stopped; // as it was meant to; by a signal, which may have been meant or not
    netprof_fact *facts; // stb_ds; of its clock
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
    double group_high, group_peak; // bytes of the control group, page cache and all: the most at a reading; the most
                                   // between two readings; 0: none known
    double unseen;                 // processes that ended and whose last use nobody accounted for
    double waited_s;               // that the job's threads waited for a CPU; NAN unknown
    double others_wait; // share of the time that threads of others than the job waited for one; 0: no finding
    job_stretch *runs;  // stb_ds; of each run of it
    uint64_t recorder_ns;
    double recorder_s;
    char *group, *cpu_group;          // of the job, as it was recorded; NULL: none
    bool group_is_own, cpu_is_of_own; // that of the memory, of the CPU time, is the job's and nobody else's
    bool group_given;                 // by the user
    double used_cpu_s;                // of the command, by the kernel's account of what it waited for; NAN unknown
} job_node_reader;

// A counter's entry in the catalog, looked up once for all files.
typedef struct job_known_counter {
    bool trouble;
    uint32_t bytes; // CATALOG_TX_BYTES, CATALOG_RX_BYTES or 0
    size_t event;   // JOB_NONE before it was met
} job_known_counter;

typedef struct job_known {
    map_key key; // (source, counter)
    job_known_counter value;
} job_known;

// Arrays are of stb_ds.
typedef struct job_reader {
    const job_report_options *options;
    bool is_piece;          // of a job that has other nodes
    job_node_reader *nodes; // one for each of job_report.nodes
    index_map *node_of;     // of names, while files are read
    job_episode *episodes;
    job_node_finding *found;
    job_rule_value *rule_values; // node after node, in the rules' order
    job_told *told;              // by incidents
    job_trouble *troubles;
    struct {
        map_key key; // (event, device)
        size_t value;
    } * trouble_of;
    job_run *runs; // all that were read; those from `file` on are of the current file
    size_t file;
    job_mark *marks;
    char **region_paths;
    job_known *known;
    struct job_run_reader *run;       // the current file
    struct job_region_reader *series; // or this, for what a process sampled of its regions
    job_region_place *places;
    netprof_error first; // of the first file that could not be used
    size_t judged, unknown;
    char **given_nodes; // that the scheduler gave, by all files; stb_ds
    char *given_list;   // the last list
    size_t given_count; // how many those are, where only that is told
    size_t ended_runs;  // that say how their command ended
    size_t worst_ended; // a node on which one failed, or JOB_NONE
    int worst_status, worst_signal;
    node_settings settings;  // of the nodes
    double start_s, limit_s; // of the job, by its scheduler: since 1970, and its length. NAN unknown
} job_reader;

job_reader *job_reader_make(const job_report_options *options);
void job_warn(job_report *r, const char *path, const char *format, ...) __attribute__((format(printf, 3, 4)));
void job_node_finding_free(job_node_finding *x);
void job_read_phases(job_report *r, const char *path); // problems are warnings
void job_parse_phases(job_report *r, const char *path, const char *text, size_t size);
// A fact of the file, or of its first snapshot's schema; NULL if there is none.
const char *job_fact_of(const dataset_run *run, const netprof_schema *schema, const char *key);
// The name of the node that a run is of. schema: of its first snapshot.
const char *job_node_name(const dataset_run *run, const netprof_schema *schema);
// dataset_options.each; user is the job_report.
netprof_err job_take(void *user, const dataset_run *run, size_t index, const netprof_snapshot *snapshot);
// Call after the last snapshot of a run: at the first of the next one, and at the end of the file.
void job_run_end(job_report *r);
void job_run_free(job_report *r);
job_lane *job_lane_make(job_meter meter, size_t node, size_t device);
void job_lane_free(job_lane *lane);
static inline bool job_lane_is_known(const job_lane *lane)
{
    return lane && (lane->known_s > 0 || !isnan(lane->total));
}

// Are samples missing in so long a step? From two and a half usual ones on; usual_ns 0: not known.
static inline bool job_is_gap(int64_t step_ns, int64_t usual_ns)
{
    return usual_ns > 0 && step_ns > usual_ns &&
           (uint64_t)(step_ns - usual_ns) > (uint64_t)usual_ns + (uint64_t)usual_ns / 2;
}

void job_findings_free(job_report *r); // and the notes: none is left

// ---- after the last file, in this order ----

void job_finish_lanes(job_report *r);
void job_make_facts(job_report *r, const dataset_run *run); // of one file, as it is read
void job_make_phases(job_report *r);
void job_fill_phase(const job_report *r, job_phase *p, const job_phase_span *spans, size_t count);
void job_make_uses(job_report *r);
bool job_limit_binds(const job_node_reader *x);              // of the control group's memory: less than the node has
void job_choose_lanes(job_report *r, size_t node);           // of each meter the one that says most
void job_tell_group(job_report *r, const netprof_device *d); // of the current file
void job_take_account(job_report *r, size_t node, const dataset_run *run); // of one file, as it is read
void job_allocate(job_report *r, size_t node);
void job_take_allocation(job_report *r, size_t node, const dataset_run *run); // of one file, as it is read
void job_make_efficiency(job_report *r);
void job_make_energy(job_report *r);
void job_find_limits(job_report *r);
void job_make_findings(job_report *r);
void job_judge_node(job_report *r, size_t node, const dataset *set);
void job_make_notes(job_report *r);
void job_make_bottlenecks(job_report *r);

#endif
