// The job report as job_report_read() makes it. job_report.h explains the figures.
#ifndef NETPROF_JOB_MODEL_H
#define NETPROF_JOB_MODEL_H

#include "analysis/peers/pairs.h"
#include "analysis/regions/regions.h"
#include "job_meters.h"

#define JOB_NONE      ((size_t)-1)
#define JOB_ALL_NODES ((size_t)-2)

typedef enum job_state {
    JOB_ABSENT = 0, // the recording has no such counter
    JOB_DENIED,     // it is there and may not be read (rights)
    JOB_UNREADABLE, // it is there and cannot be read
    JOB_KNOWN
} job_state;

// The allocation or limit that a figure is measured against.
typedef enum job_basis {
    JOB_BASIS_NONE = 0,
    JOB_BASIS_NODE,      // all CPUs of the node: no allocation is known
    JOB_BASIS_AFFINITY,  // the CPUs that the job's threads together may run on
    JOB_BASIS_SCHEDULER, // what the scheduler gave
    JOB_BASIS_CPUSET,    // of the job's control group
    JOB_BASIS_QUOTA,     // of it or one above it
    JOB_BASIS_MIXED,     // nodes differ
    JOB_BASIS_REQUEST,   // memory: what the scheduler gave
    JOB_BASIS_CGROUP,    // memory: the limit of the control group
    JOB_BASIS_NODE_MEMORY,
    JOB_BASIS_LIMIT // the scheduler's time limit
} job_basis;

typedef enum job_scope {
    JOB_SCOPE_NONE = 0,
    JOB_SCOPE_JOB,
    JOB_SCOPE_GROUP,
    JOB_SCOPE_NODE,
    // While files are read; in the end they are the job's.
    JOB_SCOPE_CLOCK, // CPU time by perf's clock of the job's tasks
    JOB_SCOPE_PARTS  // memory, of what processes share each with its part
} job_scope;

// By what the CPU time or the memory of a node was measured.
typedef enum job_measure {
    JOB_BY_NOTHING = 0,
    JOB_BY_GROUP,     // the kernel's account of the job's control group
    JOB_BY_PROCESSES, // sums over the processes that were seen, and those that they waited for
    JOB_BY_CLOCK,     // perf's clock of the job's tasks, which counted more than these sums
    JOB_BY_PARTS,     // memory: proportional set sizes
    JOB_BY_RESIDENT,  // memory: resident sizes; what processes share counts in each: at most
    JOB_BY_NODE,      // the whole node
    JOB_BY_MIXED      // nodes differ
} job_measure;

// Of one node, or one of its devices, over the whole time.
typedef struct job_lane {
    job_meter meter;
    size_t node, device; // device: index in job_report.devices, or JOB_NONE: the node's
    double capacity;     // what the value could be at most, in its unit; NAN unknown
    double known_s;      // how long the value is known
    double mean;         // over that time; NAN unknown
    double low, high;    // of single steps; NAN unknown
    double total;        // of a rate: amount from first to last reading, gaps included, in total_unit; NAN unknown
    bool lower_bound;    // a counter of it was reset or could not be read for a while: the total may be larger
    bool upper_bound;    // a gauge that counts some more than once: it was at most this
    double first, last;  // of a gauge: its first and last reading; NAN
    size_t resets;
    struct job_bins *bins; // private
} job_lane;

typedef struct job_device {
    size_t node;
    char *source, *name;         // "cxi" "cxi2"; "gpu" "gpu1"
    char *label;                 // "NIC 3 (cxi2)", "GPU 1"; unique within its node
    double line_rate;            // bytes/s each way; NAN unknown
    char *alike;                 // findings_alike_key()
    job_lane *lanes[JOB_METERS]; // NULL: there is none
} job_device;

typedef struct job_gap {
    double from_s, to_s;
    bool idle; // between recordings that have nothing to do with one another: nothing was to be sampled
} job_gap;

typedef struct job_node {
    char *name; // unique
    char *host;
    char *pod;                         // of its first recording; NULL: none
    char *system;                      // "AMD EPYC 7543, 2 sockets"; "" unknown
    size_t first_device, device_count; // in job_report.devices
    job_lane *lanes[JOB_METERS];       // NULL: there is none
    job_state state[JOB_METERS];
    job_scope scope[JOB_METERS];
    job_measure cpu_by, memory_by;
    size_t first_place;         // of its processes, in job_report.region_places, or JOB_NONE
    double cpus;                // of the whole node; NAN unknown
    double cpus_allocated;      // what of them the job may use; NAN unknown
    job_basis cpus_basis;       // ... and who says so
    double memory_requested;    // bytes, of the scheduler; NAN unknown
    double begin_s, end_s;      // first and last snapshot
    double interval_s;          // between samples as it was meant, else the median; NAN unknown
    uint64_t samples, expected; // readings of everything; how many fit into the job's time at this interval
    uint64_t missed;            // ticks that the recorder says it missed
    double late_s;              // the latest reading's lateness; NAN unknown
    double sweep_s;             // the longest reading
    job_gap *gaps;              // no samples, from its begin to its end; the first and last ones too when it began late
    size_t gap_count;
    double memory_peak;   // bytes, the most at a reading, of what the memory meter is of; NAN unknown
    double shift_s;       // what was added to its clock ...
    double uncertainty_s; // ... and how far it may still be off; NAN: not known
    severity severity;    // of its worst finding
    bool complete;        // false: a file of it is cut or damaged
    double recorder_cpu;  // CPUs that recording took; NAN unknown
} job_node;

// ---- facts ----

// A line of job facts, in the order to show; only known ones.
typedef struct job_fact {
    const char *key; // "job_id", "user", ...
    const char *title;
    char *text;
} job_fact;

// ---- used of what was given ----

typedef enum job_efficiency_of {
    JOB_EFFICIENCY_CPU = 0,
    JOB_EFFICIENCY_MEMORY,
    JOB_EFFICIENCY_TIME,
    JOB_EFFICIENCIES
} job_efficiency_of;

// CPU: CPU seconds of the job, of those that its CPUs had in that time, over all nodes. Memory: bytes at the peak, of the
// node that came nearest to what it was given. Time: seconds from the job's begin (else the recording's) to the
// recording's end.
typedef struct job_efficiency {
    double used, of;               // NAN unknown; of: INFINITY where there is no limit
    double left;                   // of the time; NAN unknown
    bool lower_bound, upper_bound; // more, less was used
    job_measure by;
    job_basis basis;
    size_t node;  // of the memory, or JOB_NONE
    size_t nodes; // that know it
} job_efficiency;

// ---- use of the nodes ----

typedef struct job_use {
    job_meter meter;
    double mean;      // over the job's time and the nodes that know it, per node
    double low, high; // lowest and highest node's mean
    size_t low_node, high_node;
    double capacity;    // of one node, in the mean; NAN unknown
    double total, peak; // JOB_ADDS: sum over nodes of lane.total; the highest value of any node. NAN unknown
    bool lower_bound, upper_bound;
    size_t nodes;    // that know it
    job_scope scope; // of all nodes; JOB_SCOPE_NONE when they differ
} job_use;

// ---- what it was bound by ----

typedef enum job_bottleneck_of {
    JOB_BOUND_CPU = 0, // the CPUs that it was given
    JOB_BOUND_THREAD,  // one thread, where CPUs were left
    JOB_BOUND_GPU,     // its GPUs
    JOB_BOUND_SENDING, // the line rate of a NIC
    JOB_BOUND_RECEIVING,
    JOB_BOUND_BLOCKED, // the network let a NIC not send
    JOB_BOUND_IO,      // all tasks waited for I/O
    JOB_BOUND_WAITING, // a CPU to run on, which others had
    JOB_BOUNDS
} job_bottleneck_of;

// Something that may be used up, over all nodes that know it.
typedef struct job_bottleneck {
    double mean;  // share of what there is that was used; NAN: not recorded
    double share; // of the time that it was at its limit, JOB_AT_LIMIT of what there is or more
    bool bound;   // for most of the time
} job_bottleneck;

#define JOB_AT_LIMIT 0.9

// ---- energy ----

typedef enum job_part { JOB_PART_CPU = 0, JOB_PART_DRAM, JOB_PART_GPU, JOB_PART_REST, JOB_PARTS } job_part;

typedef struct job_energy {
    double part_j[JOB_PARTS];   // all nodes; NAN: not measured. REST: what the nodes' own meters tell beyond the parts
    job_state state[JOB_PARTS]; // the worst of the nodes that have such a part; REST: KNOWN only when whole
    size_t part_nodes[JOB_PARTS]; // on how many nodes it is known
    double total_j;               // NAN: nothing is measured
    bool whole;                   // by meters of whole nodes, on every node; else the sum of the parts that are known
    bool lower_bound;             // a part is missing for a while, or on some nodes
    double node_w;                // mean power of a node; NAN unknown
    const char *how;              // one sentence: by which meters, and what is not in it
} job_energy;

// ---- phases and regions ----

typedef struct job_phase_meter {
    double mean;   // per node, in the meter's unit; NAN unknown
    double amount; // of all nodes, in total_unit, gaps included; NAN unknown
} job_phase_meter;

// One stretch of a phase on the axis.
typedef struct job_phase_span {
    size_t phase;
    double from_s, to_s;
} job_phase_span;

// All stretches of one name, or one incident, whose figures are in those of its phase, too.
typedef struct job_phase {
    char *name;
    size_t count;   // stretches
    size_t finding; // of an incident: which; else JOB_NONE
    size_t within;  // of an incident: the phase it lies in mostly, or JOB_NONE
    double time_s;  // in all
    job_phase_meter meters[JOB_METERS];
    double energy_j; // of all nodes; NAN unknown
} job_phase;

// A process that left regions (regions_rank) on the axis.
typedef struct job_rank_span {
    size_t rank; // of job_report.regions
    size_t node; // JOB_NONE: no recording of its node
    double from_s, to_s;
} job_rank_span;

// Time that threads spent in the regions of one name, wherever it is, less the regions within: of the processes that
// sampled themselves (NETPROF_SERIES).
typedef struct job_region_time {
    char *name;
    bool others;  // what is not under a name of its own
    double own_s; // of all threads of the nodes that have a recording, of what was sampled
    uint64_t calls, bytes;
    struct job_region_lane *lanes; // private: [lane_count], beside region_places
    size_t lane_count;
} job_region_time;

// The processes of one node that did so.
typedef struct job_region_place {
    char *node, *host;
    size_t at;                // node, or JOB_NONE: no recording of it
    size_t next;              // place of the same node, or JOB_NONE
    size_t ranks;             // processes
    double threads_s;         // how long their threads lived
    struct job_bins *threads; // private
} job_region_place;

// ---- bytes explained ----

enum { JOB_LAYERS = 2 }; // MPI, NCCL

typedef struct job_explained_node {
    size_t node;
    double nic_sent, nic_received;                   // bytes
    bool lower_bound;                                // the NICs moved more
    uint64_t sent[JOB_LAYERS], received[JOB_LAYERS]; // to and from other nodes, by layer
} job_explained_node;

// What the NICs moved, and what of it the layers say they sent to other nodes (bytes/job_explained.h).
typedef struct job_explained {
    const char *layers[JOB_LAYERS]; // "MPI"
    size_t layer_count;             // 0: none told
    const char *not_told;           // a layer whose calls were recorded, and not what they sent; or NULL
    job_explained_node *nodes;      // by node: those with a recording of their NICs and a layer that told
    size_t node_count;
    double nic_sent, nic_received; // of these nodes, as are the next
    uint64_t sent[JOB_LAYERS], received[JOB_LAYERS];
    uint64_t within, together, outside; // within nodes; given to collectives; to ranks that no file is of
    size_t ranks, ranks_told;           // of MPI
    bool lower_bound;                   // the NICs moved more
    bool at_least[JOB_LAYERS];          // the layer sent more: of some that is not known
    bool is_virtual;                    // no NIC is known: these are virtual interfaces' bytes
    bool partial;                       // other nodes had ranks, too
    char *text;                         // a few sentences; NULL: nothing can be said
} job_explained;

// ---- findings ----

typedef struct job_finding {
    severity severity;
    char *rule;              // "paused", "mem-growth", "cpu-low", ...
    int class_rank;          // as rule.class_rank: of equally bad ones the earlier class comes first
    char *claim;             // one sentence, with times ("38:20-44:10") where it is an incident
    char *title;             // the shorter sentence for a headline: "n11's cxi2 slowed all 16 nodes for 5 min 50 s"
    char *advice;            // "" none
    char *origin;            // of the threshold: "own", "jobstats", ...
    size_t node;             // the worst, or JOB_NONE: the job
    size_t device;           // in job_report.devices, or JOB_NONE
    size_t nodes;            // how many have it
    size_t devices;          // of an incident: how many have it
    job_meter meter;         // that it is about, or JOB_METERS
    double value, threshold; // in `unit`; NAN
    char *unit;
    double from_s, to_s; // of an incident; else the whole time
    bool incident;
    // Other meters during the incident, relative to their values around it; 1: no change, NAN: unknown.
    double sent_ratio, cpu_ratio, gpu_ratio, power_ratio;
    double cost_s; // seconds of the job that it blocked or cost, on the worst device; NAN unknown
    double lost_s; // of work, (1 - sent_ratio) of its length, where there is evidence that this was the cause; else NAN
    char *explained_by; // the rule of the finding that is its cause; "" none is known
} job_finding;

// Something that counts trouble, over all nodes: a row of the strip of events.
typedef struct job_event {
    char *source, *counter, *unit;
    const char *title; // the catalog's description or the name
    char *words;       // in few words, those of the rule that judges this counter; NULL: none does
    double sum;        // over all nodes and the whole time
    bool known;        // it was read twice on some node: a sum of 0 is that it did not move
    size_t devices;    // on how many it moved
    size_t worst;      // the device with the most, or JOB_NONE
    double worst_sum;
    bool background;              // moved alike on all of them: no fault of one
    severity severity;            // of the findings about it
    struct job_event_lane *lanes; // private; amounts of each node
    size_t lane_count;
} job_event;

// One sentence of the verdict box.
typedef struct job_note {
    severity severity; // OK: a good sign; INFO: context
    char *text;
    size_t finding; // or JOB_NONE
} job_note;

typedef struct job_warning {
    char *path, *text;
} job_warning;

// ---- all of it ----

// Start from {0}; job_report_free() at the end.
typedef struct job_report {
    int64_t begin_ns;  // CLOCK_REALTIME
    double end_s;      // length of the job
    double bin_s;      // width of the bins: what is drawn cannot be finer
    double interval_s; // the nodes' shortest; NAN unknown
    job_node *nodes;   // by name, numbers in names by value
    size_t node_count;
    job_device *devices; // node after node
    size_t device_count;
    job_fact *facts;
    size_t fact_count;
    const char *job_id, *job_name; // "" unknown; of the facts
    char *state;                   // how it ended: "COMPLETED, exit code 0", "not known: ..."
    double pod_start_s;            // since 1970, of the first pod to start; NAN: none, or not known
    size_t given_nodes;            // that the scheduler gave; 0: not known
    job_efficiency efficiency[JOB_EFFICIENCIES];
    job_use uses[JOB_METERS];
    size_t use_count; // only meters that any node knows
    job_bottleneck bottlenecks[JOB_BOUNDS];
    char *bound_text; // "one thread: ..."; NULL: nothing was recorded that could tell
    job_energy energy;
    job_phase *phases; // in the order of their first stretch, then incidents
    size_t phase_count;
    job_phase_span *spans; // by time
    size_t span_count;
    regions regions; // rank_count 0: no regions were recorded
    job_rank_span *ranks;
    size_t rank_count;
    job_region_time *region_times; // the longest own time first, what has no name of its own last
    size_t region_time_count;      // 0: no process sampled its regions
    job_region_place *region_places;
    size_t region_place_count;
    job_explained explained;
    job_event *events; // what moved most telling first; then those that were watched and stood still
    size_t event_count;
    job_finding *findings; // worst first
    size_t finding_count;
    job_note *notes; // the verdict box, worst first; at least one
    size_t note_count;
    char *title;                // one sentence: the worst finding, or that all is well and how much was used
    severity severity;          // of the worst finding
    uint64_t samples, expected; // of all nodes
    bool clocks_aligned;        // by more than the wall clocks' own stamps
    double uncertainty_s;       // the largest of the nodes'; NAN: not known
    char *clock_text;           // "node clocks as they are, not compared"; one line for the foot
    char *clock_note; // what the files tell of each clock, a few sentences; NULL: nothing. Names in it are hostile
    bool damaged;     // parts of a file, or whole files, are missing
    size_t files;
    job_warning *warnings; // a thousand at most
    size_t warning_count;
    struct job_reader *reader; // private
} job_report;

void job_report_free(job_report *r);

// All zero = defaults.
typedef struct job_report_options {
    const rules *rules; // for the network's and the node's findings; NULL: only those of the job itself
    const char
        *phases; // file of phases: lines "TIME NAME", TIME in seconds since 1970 (date +%s.%N); a phase ends where
                 // the next one begins, "TIME -" ends it. NULL: none but those found in directories (*.phases)
    uint64_t max_bytes; // that reading one file may take (dataset_options); 0: 1 GiB
    // Called before each file; may be NULL.
    void (*progress)(void *user, size_t done, size_t all);
    void *progress_user;
    const pairs *const *layers; // what other layers than MPI sent, for the bytes explained; [layer_count]
    size_t layer_count;
    size_t threads; // that read; 0: one for each CPU that may be used, 8 at most. The report is the same
    // Is a file theirs? Then it need not hold a recording; may be NULL.
    bool (*is_of_layer)(const char *path);
    uint64_t end_zero;
} job_report_options;

#endif
