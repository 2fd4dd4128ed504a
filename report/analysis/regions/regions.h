// Regions: what the processes of a job measured around their code, joined over threads, ranks and hosts.
//
//     regions job = {0};
//     netprof_error error;
//     if (!regions_read(&job, paths, count, &(regions_options){.rules = &set}, &error)) {
//         for (size_t i = 0; i < job.node_count; i++)
//             ... job.nodes[i].name, .depth, .mean_ns, .share, .odd, .nic ...
//     }
//     regions_free(&job);
//
// A file of netprof.h tells of one process, which is a *rank* here, whether a launcher started it or not. A *node* is a
// path of region names ("main/step/halo"): the same path in all threads of all ranks is one node. A *cell* is one rank in
// one node, all its threads together. A *reading* is what the NICs of one host did during a node.
//
// TIME. The time of a rank in a node is the sum over its threads, so that own time and children always add up to the
// parent, and the top level to the whole. With one thread it is what the clock on the wall says; with several
// (cell.threads) cell.longest_ns is the longest of one thread. Calls that were counted and not timed (NETPROF_EVERY) are
// in `calls` and not in `measured`, nor in any time. A share is of the time of the top-level regions of all ranks.
//
// BALANCE. Mean, median and the odd rank are over the ranks that have the node, which may be fewer than all. The odd rank
// is the one farthest from the median, in either direction: in a collective the culprit is the one that waits least. There
// is none with fewer than REGIONS_ODD_RANKS. Its distance from the median is an upper bound of what the others waited
// for it (odd rank long), or of what each waited there (odd rank short): it says how much shorter the region, not the
// run, would be.
//
// NIC COUNTERS. They belong to the device: every process of a host that had the region open saw the same bytes, and
// adding them up would count those once for each rank. So of each host one thread's reading is taken: of those that read
// the same devices the one that was inside longest, which saw most. (Ranks that were told to read different devices,
// NETPROF_INCLUDE, each stand for theirs.) It is a lower bound of what the devices did while any rank of the host was
// inside: what they did while only others were inside is missing. It is not attributable to a process, and neither to
// this region alone: reading.open tells how many regions with counters were open in that process meanwhile, host.ranks
// how many processes shared the devices, and programs that used no region are in it, too. Children and own traffic
// therefore need not add up to the parent's. What was read while a region was shorter than its counters can tell
// (regions_nic.limit_ns) is no figure at all: state is REGIONS_TOO_SHORT and no bytes are there, though the time is
// exact and the bytes are in the parent.
//
// BYTES OF THE PROGRAM (NETPROF_BYTES) are the node's own and, with its children's, inclusive. They are of all calls.
//
// All text is from outside and hostile (names of regions, hosts, devices; claims hold them): escape it. Times are ns.
//
// Thread rule: one thread at a time. Everything that is returned ends with regions_free(), unless it says otherwise.
#ifndef NETPROF_REGIONS_H
#define NETPROF_REGIONS_H

#include "analysis/rules/findings.h"

#define REGIONS_NONE ((size_t)-1)

enum {
    REGIONS_ODD_RANKS = 4,      // fewer have no median to be far from
    REGIONS_TOO_SHORT_FOLD = 10 // a region is too short below so many times the counters' granularity
};

// ---- who ----

typedef struct regions_host {
    const char *name; // "" when the file does not tell
    size_t *ranks;    // indexes of its ranks, rising
    size_t rank_count;
    // The devices and counters that its ranks read, and only those that their regions have; NULL without counters.
    const netprof_schema *schema;
} regions_host;

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
    const char *warning;         // what netprof.h had to say; ""
    netprof_mode mode;           // TIME: no counters
    int64_t wall_ns, elapsed_ns; // when its first region began, and from then to the writing of the file
    int64_t sweep_ns;            // how long a reading of the counters took; 0 without
    int64_t interval_ns;         // sampler: between readings; else 0
    uint64_t threads;
    uint64_t time_ns;     // of its top-level regions, over all threads
    uint64_t calls;       // of all its regions
    uint64_t mismatched;  // ends of what was not the innermost open region
    uint64_t dropped;     // begins that could not be counted
    uint64_t overhead_ps; // of an empty begin/end pair, where it was measured at start
    bool complete;        // false: its file is cut or damaged, what could be read is here
} regions_rank;

// ---- what ----

// Calls of one region, of one rank or of all. Sums saturate at UINT64_MAX.
typedef struct regions_calls {
    uint64_t calls, measured; // all, and those that were timed
    uint64_t open;            // begun and not ended when the file was written: in no figure
    uint64_t spans, aborted;  // of the calls: spans; ended from outside
    uint64_t total_ns;        // of the measured calls, a recursion's inner ones too: mean of a call = total / measured
    uint64_t inclusive_ns, exclusive_ns; // a recursion's inner calls are in it once
    uint64_t min_ns, max_ns;             // of a call; only when measured
    double variance_ns2;                 // of the single calls
    uint64_t bytes;                      // declared by the program in this very node
} regions_calls;

// One rank in one node.
typedef struct regions_cell {
    size_t rank;
    uint32_t threads;    // that were in the node
    uint32_t order;      // private
    uint64_t longest_ns; // inclusive time of the one that was inside longest
    regions_calls sums;
    const unsigned char *histogram; // private
} regions_cell;

typedef enum regions_state {
    REGIONS_NO_COUNTERS = 0, // none were read
    REGIONS_TOO_SHORT,       // the region is too short for its counters: there are no figures
    REGIONS_KNOWN
} regions_state;

// The NICs of one host during a node; figures only when KNOWN.
typedef struct regions_reading {
    size_t host, rank; // whose reading it is
    uint32_t thread;
    uint32_t readers; // threads of the host that read these devices here: of them one is taken
    regions_state state;
    uint64_t calls;   // whose counters are in it
    uint64_t unread;  // calls of this thread without counters: no sample between their edges, or it failed
    uint64_t time_ns; // inside during these calls; when some are without counters, in proportion
    double open;      // regions with counters that were open in the process at the ends, itself and those around it
                      // included; more than depth + 1: other threads' as well
    // Of the physical devices of the host, each byte once; by TRAFFIC_RECEIVED, TRAFFIC_SENT.
    bool bytes_known[2];
    uint64_t bytes[2];
    double bytes_per_s[2];   // NAN unknown
    double line_bytes_per_s; // of all these devices together, one way; 0 when one is unknown
    double share;            // of the line rate, of the busiest device and way; NAN unknown
    size_t busiest;          // that device, in host.schema, or REGIONS_NONE
    double paused;           // share of the time that the most paused device had to stop sending; NAN unknown
    size_t most_paused;      // that device, or REGIONS_NONE
    bool retries_known;
    uint64_t retries;    // repeated transmissions, of all devices
    uint32_t view, room; // private
    unsigned char *values;
} regions_reading;

// All hosts of a node together.
typedef struct regions_nic {
    regions_state state; // KNOWN when it is in at least one host
    size_t hosts;        // whose readings are in it
    uint64_t limit_ns;   // shorter calls (in the mean) are too short; 0 without counters
    bool bytes_known[2];
    uint64_t bytes[2];       // sum over hosts
    double bytes_per_s[2];   // of one host, in the mean; NAN unknown
    double line_bytes_per_s; // of one host, in the mean; 0 unknown
    double share;            // the largest of the readings' ...
    size_t busiest;          // ... and which reading that was, or REGIONS_NONE
    double paused;           // likewise
    size_t most_paused;
    bool retries_known;
    uint64_t retries;
    // Bytes sent by the NICs over bytes declared by the program, both with the children's; NAN when either is unknown or
    // 0, when not all calls were measured, or when a rank that declared bytes has no reading on its host.
    double sent_over_declared;
} regions_nic;

// A rule that found something, once for each node: the worst place, and how many others there are.
typedef struct regions_finding {
    const rule *rule;
    severity severity;
    double value; // in rule->unit
    char *claim;
    size_t node;
    size_t host, device;  // device: in host.schema, or DIFFERENCE_NONE: the host as a whole
    size_t places, hosts; // (host, device) with this rule in this node, as bad or less; and on how many hosts
    // A region within this one where the same rule finds the same device much worse: the trouble is there. Or NONE.
    size_t part;
} regions_finding;

// A path of names. Nodes stand in the order of the code: a parent before its children, children in the order of first
// use by the lowest rank that has them.
typedef struct regions_node {
    const char *name; // of the region
    size_t parent;    // < its own index, or REGIONS_NONE
    size_t end;       // the index behind its last descendant
    uint32_t depth;   // 0 at the top
    uint32_t child_count;
    regions_cell *cells; // [cell_count], ranks rising
    size_t cell_count;
    regions_calls sums; // over all ranks
    uint64_t threads;   // of all ranks that were in it
    uint64_t bytes;     // declared, inclusive: with the children's
    bool sampled;       // measured < calls
    double share;       // of the time of all top-level regions, 0..1
    double own_share;   // likewise of the exclusive time
    // Over the ranks that have it (cells), of their inclusive times:
    double mean_ns, median_ns, deviation_ns; // deviation: of the ranks, not of the calls
    uint64_t fastest_ns, slowest_ns;
    size_t fastest, slowest;   // indexes of cells
    double max_over_mean;      // 1 = even; NAN without time
    double imbalance_ns;       // slowest - mean: what the ranks wait in the mean, if they meet behind the region
    size_t odd;                // index of the cell farthest from the median, or REGIONS_NONE
    double odd_over_median;    // NAN without, or when the median is 0
    double odd_distance_ns;    // odd - median, with its sign; 0 without
    bool odd_notable;          // by more than 10 %, far from the other ranks' scatter, and 0.1 % of the run or more
    regions_reading *readings; // [reading_count], hosts rising; a host whose ranks read different devices has several
    size_t reading_count;
    regions_nic nic;
    size_t first_finding, finding_count; // regions.findings[]
    const unsigned char *histogram;      // private
} regions_node;

// ---- all of it ----

typedef struct regions_note {
    severity severity; // OK: a good sign; INFO: context
    char *text;        // one sentence
    size_t node, rank; // what it is about, or REGIONS_NONE
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
    long rank_count_told;        // by the launcher; 0 unknown
    long *missing;               // numbers of ranks below that without a file; at most the first thousand
    size_t missing_count;        // all of them
    int64_t wall_ns, elapsed_ns; // from the first begin of a region to the last writing of a file; 0 unknown
    uint64_t time_ns;            // of the top-level regions of all ranks and threads: share 1
    uint64_t calls, mismatched, dropped;
    double overhead_share; // of that time that measuring itself took, estimated: calls times the empty pair
    char *title;           // one sentence: the main thing
    regions_note *notes;   // the verdict, worst first
    size_t note_count;
    severity severity;           // of the worst note
    regions_warning *warnings;   // what is wrong with files
    size_t warning_count;        // at most a thousand are kept ...
    uint64_t warnings_dropped;   // ... of those and these
    size_t files, files_without; // that were read; that hold no regions (in a directory only)
    bool damaged;                // parts of a file, or whole files, are missing
    struct regions_store *store; // private
} regions;

// All zero = defaults.
typedef struct regions_options {
    const rules *rules; // for the findings, which need it as long as they live; NULL: no findings
    int threads;        // that read; 0: as many as there are processors, 8 at most
    uint64_t max_bytes; // that reading one file may take: schemas, one summary of regions; 0: 1 GiB
    // Called now and then with how many of the files are read; may be NULL. By the calling thread.
    void (*progress)(void *user, size_t done, size_t all);
    void *user;
    uint64_t end_zero;
} regions_options;

// Reads files, and of directories every *.netprof in them (not those below), and joins them. A file that cannot be
// used, or is damaged, becomes a warning and everything else is there. The result does not depend on the order of the
// files. Errors, which leave nothing to free: _ARG (no path, or options not initialised; the regions hold something
// already), _FORMAT (not one file holds regions: error->path and ->text tell of the first), _NOMEM.
netprof_err regions_read(regions *r, const char *const *paths, size_t count, const regions_options *options,
                         netprof_error *error);
void regions_free(regions *r);

// Does the file hold regions? Reads no more than it must. (0 also when it cannot be read.)
int regions_in_file(const char *path);

// Or what a process sampled of its regions over time (NETPROF_SERIES)? It stands beside the file of its regions, which
// tells all that is told here.
int regions_series_in_file(const char *path);
bool regions_series(const netprof_schema *schema); // the same of its schema

// The cell of a rank, or NULL. any thread.
const regions_cell *regions_cell_of(const regions_node *node, size_t rank);
// "main/step/halo"; a slash within a name is "\/", a backslash "\\". free() it; NULL without memory.
char *regions_path(const regions *r, size_t node);
// The node of such a path, or REGIONS_NONE.
size_t regions_find(const regions *r, const char *path);

// The same names wherever they are in the tree, as nodes at top level without children (name after name in the order of
// the tree). A region within another of the same name is in the times once; its calls count. Findings are not
// among them. Free with regions_flat_free(); the regions must live as long.
typedef struct regions_flat {
    regions_node *nodes;
    size_t node_count;
    struct regions_store *store; // private
} regions_flat;
netprof_err regions_flatten(regions_flat *flat, const regions *r, netprof_error *error);
void regions_flat_free(regions_flat *flat);

// ---- how long the calls took ----

// Calls in each bucket (netprof_histogram_floor_ns()), of all ranks. False when no call was measured.
bool regions_histogram(const regions_node *node, uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS]);
// The same of one rank.
bool regions_cell_histogram(const regions_cell *cell, uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS]);
// Between these two the quantile lies, for sure: low <= x <= high. Both 0 when there is no call.
typedef struct regions_quantile {
    uint64_t low_ns, high_ns;
} regions_quantile;
// q: 0..1; min and max: of the calls, which narrow the first and the last bucket.
regions_quantile regions_quantile_of(const uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS], double q, uint64_t min_ns,
                                     uint64_t max_ns);

// ---- the counters of a node on a host ----

// What the counters of a host did during a node, as a difference, for rules and tables. Counters that a region of this
// length cannot tell anything about (their drivers refresh them too seldom), and those of devices that another reading
// of the host tells of, have no value there (NETPROF_FLAG_UNKNOWN). Times and rates are over reading.time_ns.
typedef struct regions_counters {
    difference d;
    netprof_delta delta; // private
} regions_counters;

// Free with regions_counters_free(); the regions must live as long. Errors: _ARG (the reading is not KNOWN), _NOMEM. The
// node is the reading's.
netprof_err regions_counters_make(regions_counters *c, const regions *r, const regions_node *node,
                                  const regions_reading *reading, netprof_error *error);
void regions_counters_free(regions_counters *c);

#endif
