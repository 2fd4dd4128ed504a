// The result of regions_read(): processes, hosts, the tree of regions with times and NIC counters, findings and notes. regions.h
// explains what the figures mean.
#ifndef NETPROF_REGIONS_MODEL_H
#define NETPROF_REGIONS_MODEL_H

#include "analysis/rules/findings.h"
#include "regions_calls.h"

#define REGIONS_NONE ((size_t)-1)

enum {
    REGIONS_ODD_RANKS = 4,      // fewer have no median to be far from
    REGIONS_TOO_SHORT_FOLD = 10 // a region is too short below so many times the counters' granularity
};

// ---- who ----

typedef struct regions_host {
    const char *name; // "" when the file does not say
    size_t *ranks;    // indexes of its ranks, rising
    size_t rank_count;
    // The devices and counters that its ranks read for their regions; NULL without counters.
    const netprof_schema *schema;
} regions_host;

// How a rank spent the run: in MPI from the end of MPI_Init to the beginning of MPI_Finalize, else within its regions.
typedef struct regions_times {
    bool known;        // can work and waiting be told apart?
    double run_ns;     // = work_ns + peer_ns + all_ns
    double apart_ns;   // MPI_Init and MPI_Finalize, beside the run
    double mpi_ns;     // of the run, in MPI
    double peer_ns;    // waiting for some other rank
    double all_ns;     // waiting in collectives
    double work_ns;    // all else
    double doubt_ns;   // of work_ns: between calls that asked in vain, and may have been waiting
    double polls_ns;   // of peer_ns: asking, and between its questions; for whom or for how many is not known
    uint64_t meetings; // how often it waited, as far as one wait is independent of another
    uint64_t polls;
} regions_times;

// How much of each of many equally long stretches of the wall clock a rank was inside MPI (libnetprof-mpi.so).
enum { REGIONS_BLOCKS = 64 };
typedef struct regions_blocks {
    int64_t began_ns, ended_ns;      // the run; 0 unknown
    int64_t block_ns, first;         // length of a block; the wall clock at the first one over that length
    size_t count;                    // 0 unknown
    uint16_t inside[REGIONS_BLOCKS]; // ten-thousandths of a block
} regions_blocks;

// What a process sent to another one, by calls of MPI that name it (libnetprof-mpi.so, table mpi.peers). As it is in the file:
// hostile numbers.
typedef struct regions_peer {
    int64_t peer; // rank of MPI_COMM_WORLD; below 0: none of it
    int64_t sent_bytes, sends;
    int64_t send_ns, timed_sends;       // until it took what was sent: blocking sends, and waits for others
    int64_t receive_ns, timed_receives; // until a message came from it: blocking receives, and waits for others
    int64_t got_bytes, gets;            // that this process took from there: one-sided
} regions_peer;

// One process.
typedef struct regions_rank {
    const char *label; // "17"; where that is not unique or not known "17 (pid 4242)", "pid 4242"
    long number;       // -1: not known
    long pid;          // -1: not known
    size_t host;
    const char *path;            // of its file
    const char *command;         // "" unknown
    const char *version;         // of netprof.h; "" unknown
    const char *clock;           // "tsc", "clock_gettime"
    const char *warning;         // of netprof.h while it measured; ""
    netprof_mode mode;           // TIME: no counters
    int64_t wall_ns, elapsed_ns; // when its first region began, and from then to the writing of the file
    int64_t sweep_ns;            // how long a reading of the counters took; 0 without
    int64_t interval_ns;         // sampler: between readings; else 0
    uint64_t threads;
    uint64_t time_ns;     // of its top-level regions, over all threads
    uint64_t calls;       // of all its regions
    uint64_t mismatched;  // ends of a region that was not the innermost open one
    uint64_t dropped;     // begins that could not be counted
    uint64_t overhead_ps; // of an empty begin/end pair, where it was measured at start
    // Of the counters: mode fast: by its threads, in no region's time; sampler: by a thread of its own, CPU time.
    uint64_t readings, reading_ns;
    bool complete; // false: its file is cut or damaged, and this is what could be read
    regions_times times;
    regions_blocks blocks;
    const char *cpus;            // that it may use, "0-3,8"; "" unknown
    int64_t cpu_ns, cpu_wait_ns; // CPU time of all threads; how long the main thread waited for a CPU; -1: not known
    int64_t open_ns;             // how long the call of MPI had lasted that was open when the file was written; or 0
    // Between calls that asked in vain whether something had come: it waited; it worked or waited. -1: not known.
    int64_t polled_ns, between_polls_ns;
    bool ended; // it left MPI_Finalize
    size_t run; // 0; higher: of a later run whose files lie in the same place
    // How the process ended: "exit", "quick_exit", "MPI_Abort", "no" (it ran when the file was written); "" unknown.
    const char *end;
    const char *run_name;                    // what the launcher calls the run; "" unknown
    long start, parent_pid, parent_start;    // of the process and its parent, in clock ticks since boot; -1 unknown
    bool forked;                             // by fork() from a process with regions
    bool child;                              // of a process that is here, or forked: no rank of its own
    bool from_series;                        // only samples over time are known: calls, time, bytes
    uint64_t lost_in_handler, lost_too_deep; // of `dropped`
    bool tells_peers;                        // it counted what it sent to whom
    const regions_peer *peers;
    size_t peer_count;
} regions_rank;

// ---- what ----

// Calls of one region, of one rank or of all. Sums saturate at UINT64_MAX.
typedef struct regions_calls {
    uint64_t calls, measured;            // all, and those that were timed
    uint64_t open;                       // begun and not ended when the file was written; counted nowhere else
    uint64_t spans, aborted;             // of the calls: spans; ended from outside
    uint64_t total_ns;                   // of all measured calls, recursive ones too: mean of a call = total / measured
    uint64_t inclusive_ns, exclusive_ns; // time within recursive calls counts once
    uint64_t min_ns, max_ns;             // of a call; only when measured
    double variance_ns2;                 // of the single calls
    uint64_t bytes;                      // declared by the program in this node, not in its children
    uint64_t waits, waited_ns;           // spans whose program said when it began to wait for them, and how long it did
} regions_calls;

// One rank in one node.
typedef struct regions_cell {
    size_t rank;
    uint32_t threads;    // that entered the node
    uint32_t order;      // private
    uint64_t longest_ns; // inclusive time of the thread with the most
    regions_calls sums;
    const unsigned char *histogram; // private
} regions_cell;

typedef enum regions_state {
    REGIONS_NO_COUNTERS = 0, // none were read
    REGIONS_TOO_SHORT,       // the region is too short for its counters: there are no figures
    REGIONS_UNCERTAIN,       // so short that reading took long beside it: bytes and retries, but no rates nor findings
    REGIONS_KNOWN
} regions_state;

// The NICs of one host during a node; the figures are valid only when the state is UNCERTAIN or KNOWN.
typedef struct regions_reading {
    size_t host, rank; // whose reading it is
    uint32_t thread;
    uint32_t readers; // threads of the host that read these devices here; one of them is used
    regions_state state;
    uint64_t calls;   // calls whose counters are included
    uint64_t unread;  // calls of this thread without counters: no sample fell within them, or reading failed
    uint64_t time_ns; // time within these calls; scaled down in proportion when some have no counters
    double open;      // regions with counters that were open in the process when calls ended, counting this one
                      // and those around it; above depth + 1, other threads had some open too
    // How much of the time between the readings at both ends of a call was not the call: so much of the bytes may have
    // passed just before and after it. 0 where the counters were not read then and there (sampler).
    double uncertain;
    bool no_port; // the host has no NIC among its devices: the bytes are those of lo and other interfaces without one
    // Sums over the physical devices of the host, counting each byte once; [TRAFFIC_RECEIVED], [TRAFFIC_SENT].
    bool bytes_known[2];
    uint64_t bytes[2];
    double bytes_per_s[2];   // NAN unknown
    double line_bytes_per_s; // line rates of these devices added up, one way; 0 when one is unknown
    double share;            // of the line rate, of the busiest device and way; NAN unknown
    size_t busiest;          // that device, in host.schema, or REGIONS_NONE
    double paused;           // share of the time in which the most paused device had to stop sending; NAN unknown
    size_t most_paused;      // that device, or REGIONS_NONE
    bool retries_known;
    uint64_t retries;    // repeated transmissions, of all devices
    uint32_t view, room; // private
    unsigned char *values;
} regions_reading;

// All hosts of a node together.
typedef struct regions_nic {
    regions_state state; // the best of the hosts
    double uncertain;    // the largest of the readings'
    bool no_port;        // of some reading
    size_t hosts;        // hosts whose readings are included
    uint64_t limit_ns;   // calls shorter than this on average are too short; 0 without counters
    bool bytes_known[2];
    uint64_t bytes[2];       // sum over hosts
    double bytes_per_s[2];   // mean per host; NAN unknown
    double line_bytes_per_s; // mean per host; 0 unknown
    double share;            // the largest of the readings' ...
    size_t busiest;          // ... and which reading that was, or REGIONS_NONE
    double paused;           // likewise
    size_t most_paused;
    bool retries_known;
    uint64_t retries;
    // Bytes sent by the NICs over bytes declared by the program, both including children; NAN when either is unknown
    // or 0, when not all calls were measured, or when a rank that declared bytes has no reading on its host.
    double sent_over_declared;
} regions_nic;

// A rule that fired, once per node: the worst place, and how many others there are.
typedef struct regions_finding {
    const rule *rule;
    severity severity;
    double value; // in rule->unit
    char *claim;
    size_t node;
    size_t host, device;  // device: in host.schema, or DIFFERENCE_NONE: the host as a whole
    size_t places, hosts; // (host, device) pairs where this rule fired in this node; and on how many hosts
    // A region within this one where the same rule finds the same device much worse, so the trouble is there; or NONE.
    size_t part;
} regions_finding;

// What the program said of its calls (netprof_value), over all ranks. Sums saturate.
typedef struct regions_value {
    const char *name;
    uint64_t count; // how often it was said
    int64_t sum, least, most;
    uint64_t longest_ns;                                                     // the longest call that had it, ...
    int64_t at_longest;                                                      // ... with this value, ...
    size_t rank;                                                             // ... on this rank
    uint64_t counts[NETPROF_VALUE_BUCKETS], times_ns[NETPROF_VALUE_BUCKETS]; // see netprof_value_floor()
} regions_value;

// A path of names. Nodes are in the order of the code: a parent before its children, children in the order in which the
// lowest rank that has them first used them.
typedef struct regions_node {
    const char *name; // of the region
    regions_class kind;
    bool span;      // work beside what the threads do (netprof_span): no part of any share, of balance or of blame
    size_t parent;  // < its own index, or REGIONS_NONE
    size_t end;     // index after its last descendant
    uint32_t depth; // 0 at the top
    uint32_t child_count;
    regions_cell *cells; // [cell_count], ranks rising
    size_t cell_count;
    regions_value *values; // [value_count]
    size_t value_count;
    regions_calls sums; // over all ranks
    uint64_t threads;   // of all ranks that entered it
    uint64_t bytes;     // declared, including the children's
    bool sampled;       // measured < calls
    double share;       // of the time of all top-level regions, 0..1
    double own_share;   // likewise of the exclusive time
    double run_share;   // of the run: what all ranks lived, from their first region to the writing of their files
    double own_run_share;
    // Statistics of the inclusive times of the ranks that have it (cells):
    double mean_ns, median_ns, deviation_ns; // deviation: of the ranks, not of the calls
    uint64_t fastest_ns, slowest_ns;
    size_t fastest, slowest;   // indexes of cells
    double max_over_mean;      // 1 = even; NAN without time
    double imbalance_ns;       // slowest - mean: how long the ranks wait on average if they meet after the region
    size_t odd;                // index of the cell farthest from the median, or REGIONS_NONE
    double odd_over_median;    // NAN without, or when the median is 0
    double odd_distance_ns;    // odd - median, with its sign; 0 without
    bool odd_notable;          // by more than 10 %, well outside the others' scatter, and by at least 0.1 % of the run
    regions_reading *readings; // [reading_count], hosts rising; several for a host whose ranks read different devices
    size_t reading_count;
    regions_nic nic;
    size_t first_finding, finding_count; // regions.findings[]
    const unsigned char *histogram;      // private
} regions_node;

// ---- who waited for whom ----

// A rank that the others waited for, over the whole run or a stretch of it.
typedef struct regions_late {
    size_t rank;
    double excess_ns;       // its work beyond the median of those that are not late
    double from_s, until_s; // of the run
} regions_late;

// The one rank that through the run, or a part of it, works more or less than all others: shares of its time outside MPI.
typedef struct regions_alone {
    size_t rank;                     // or REGIONS_NONE: there is none, or it cannot be told
    double share, others, low, high; // in that part: its own, and the others' median, least and most
    double from_s, until_s;          // of the run
    bool from_begin, to_end;
    bool more, silent; // silent: next to no work
} regions_alone;

typedef struct regions_waits {
    bool known;                   // on all ranks; if not, nothing below is
    bool mpi;                     // MPI itself was measured
    double run_ns, longest_ns;    // mean and longest run of a rank
    double mpi_share, wait_share; // of all ranks' runs; mpi_share is NAN without mpi
    double work_ns, wait_ns;      // medians of the ranks
    regions_late *late; // stb_ds: through the whole run; or, in_turn, the stretches in which one rank was late
    size_t late_count;
    bool in_turn;
    size_t host;     // whose ranks all are late, and nobody else is; or REGIONS_NONE
    double gain_ns;  // at most, if the late ones were as the others
    size_t where;    // the region where the (first) late rank works so much longer; or REGIONS_NONE
    size_t waits_in; // the region where the others wait for it; or REGIONS_NONE
    // A rank that works as the others do, waits longer somewhere, and comes so much later to where all meet:
    size_t held, held_in, held_until; // a rank and two nodes; or REGIONS_NONE
    double held_ns;
    size_t early;        // a rank that has much less work than all others; or REGIONS_NONE
    regions_alone alone; // more: it is also the one that is late
    // The same by regions that ranks sampled over time, without MPI: shares of its time, or threads, in one region.
    regions_alone in_region;
    size_t region;  // the first node of its name
    double even_ns; // by how much the run would be shorter if all work were spread evenly, at most
    // The host with most ranks for each CPU, where they are more; or REGIONS_NONE.
    size_t crowded, crowded_cpus;
    double cpu_wait_share; // of the time of the rank that waited for a CPU most; NAN unknown
    bool crowd_explains;   // the late rank waited so much longer for a CPU than the others
    size_t in_doubt;       // a rank that would be late if what it did between its questions was work; or REGIONS_NONE
} regions_waits;

// ---- one step ----

// What a region is made of, a call of it: the middle of the ranks beside the one that is unlike them.
enum { REGIONS_STEP_PARTS = 12 };
typedef struct regions_step_part {
    size_t node;               // REGIONS_NONE: the step's own time
    double median_ns, rank_ns; // of one call of the step
} regions_step_part;

typedef struct regions_step {
    size_t node, rank;                           // REGIONS_NONE: there is no such region, or no such rank
    uint64_t calls;                              // of the step, on each rank
    regions_step_part parts[REGIONS_STEP_PARTS]; // in the order of the code
    size_t count, longer;                        // longer: the part in which the rank takes longer
} regions_step;

// ---- all of it ----

typedef struct regions_note {
    severity severity;    // OK: a good sign; INFO: context
    char *text;           // one sentence
    char *title;          // the same in a few words; NULL: never a title
    const char *question; // that it answers: "Who is late?"
    size_t node, rank;    // its subject, or REGIONS_NONE
    size_t meanwhile;     // where in the text what happened at the same time begins; 0: nothing is told of that
} regions_note;

typedef struct regions_warning {
    const char *path;
    uint64_t offset; // bytes
    char *text;
} regions_warning;

// Start from {0}; regions_free() at the end.
typedef struct regions {
    regions_rank *ranks; // by number, host, pid
    size_t rank_count;
    regions_host *hosts; // in the order of their lowest ranks
    size_t host_count;
    regions_node *nodes; // the tree
    size_t node_count;
    regions_finding *findings; // node after node, the worst first
    size_t finding_count;
    const char *job, *command;   // "" when unknown or not the same in all files
    long rank_count_told;        // as the launcher said; 0 unknown
    long *missing;               // numbers of ranks below that without a file; at most the first thousand
    size_t missing_count;        // all of them
    int64_t wall_ns, elapsed_ns; // from the first begin of a region to the last writing of a file; 0 unknown
    uint64_t time_ns;            // of the top-level regions of all ranks and threads: share 1
    double lived_ns;             // of all ranks: run_share 1
    size_t span_nodes;           // nodes that are spans
    uint64_t calls, mismatched, dropped;
    regions_waits waits;
    regions_step step;
    size_t runs;                   // 1; more: files of several runs; they are not compared
    size_t children;               // of the ranks: processes that others started, no ranks of their own
    uint64_t readings, reading_ns; // of the counters, of all ranks
    // Share of the run (or of the threads' time in regions, where that is more) that went into measuring: calls times the
    // cost of an empty pair, and the readings. At most 1.
    double overhead_share;
    char *title;         // a short sentence: the main thing, of the first note
    regions_note *notes; // the verdict, worst first
    size_t note_count;
    severity severity;           // of the worst note
    regions_warning *warnings;   // problems with files
    size_t warning_count;        // at most a thousand are kept
    uint64_t warnings_dropped;   // and these are not
    size_t files, files_without; // files read; those in directories that hold no regions
    bool damaged;                // parts of a file, or whole files, are missing
    struct regions_store *store; // private
} regions;

void regions_free(regions *r);
bool regions_series(const netprof_schema *schema); // is it of samples of regions over time (NETPROF_SERIES)?
// The files of one run of several, for regions_read(); arrfree() the list, the names are those of the ranks.
const char **regions_files_of_run(const regions *r, size_t run);

// The cell of a rank, or NULL. any thread.
const regions_cell *regions_cell_of(const regions_node *node, size_t rank);
// The run in figures: its length, the share of MPI and of waiting; "" when nothing of it is known. free() it.
char *regions_run_text(const regions *r);
// "main/step/halo"; a slash within a name is "\/", a backslash "\\". free() it.
char *regions_path(const regions *r, size_t node);
// The node of such a path, or REGIONS_NONE.
size_t regions_find(const regions *r, const char *path);

#endif
