// The figures for every chart and table of a report on NCCL logs, few enough to be saved.
//
// A report is drawn from a view alone. nccl.json keeps one (member "view"), so a report made from the logs and one made
// later from the saved result are the same, byte for byte. Writer and reader share one table of the fields.
//
// Texts are valid UTF-8 but foreign; texts are never NULL. Times are microseconds, bandwidths GB/s (1e9 bytes per
// second), unknown numbers NAN. Rows that did not fit are counted, never silently left out.
//
// Thread rule: one thread at a time per view.
#ifndef NETPROF_NCCL_VIEW_MODEL_H
#define NETPROF_NCCL_VIEW_MODEL_H

#include "analysis/nccl/logs/nccl_model.h"

enum {
    NCCL_VIEW_BINS = 200,       // over the run
    NCCL_VIEW_ACROSS = 300,     // cells of the density of a kind with many calls, ...
    NCCL_VIEW_UP = 150,         // ... on the axes 0 .. x_max and 0 .. y_max
    NCCL_VIEW_POINTS = 800,     // more calls than this are a density
    NCCL_VIEW_KINDS = 400,      // (class, collective, size), those with the most time
    NCCL_VIEW_SERIES = 400,     // (communicator, collective, size), likewise
    NCCL_VIEW_PROCESSES = 1024, // those that cost or waited most
    NCCL_VIEW_FILES = 200,
    NCCL_VIEW_FINDINGS = 60,
    NCCL_VIEW_HOSTS = 64, // of the late map
    NCCL_VIEW_COLUMNS = 200,
    NCCL_VIEW_MATRICES = 4,   // communicators: with findings first, then those that moved most
    NCCL_VIEW_WAITS = 48,     // (communicator, collective, size), and of each ...
    NCCL_VIEW_WAITING = 8,    // ... ranks
    NCCL_VIEW_TRANSFERS = 64, // processes
    NCCL_VIEW_ADAPTERS = 200,
    NCCL_VIEW_OVERLAPS = 64, // (host, communicator, collective, size)
    NCCL_VIEW_UNITS = 128    // rows of a matrix: a communicator with more ranks is one of hosts
};

// An array with its length.
#define NCCL_LIST(type)                                                                                                \
    struct {                                                                                                           \
        type *items;                                                                                                   \
        size_t count;                                                                                                  \
    }

// Every severity in a view is one of enum severity.
typedef struct nccl_view_line {
    uint64_t severity;
    const char *text;
} nccl_view_line;

typedef struct nccl_view_evidence {
    const char *name, *unit;
    double value;
} nccl_view_evidence;

typedef struct nccl_view_finding {
    uint64_t severity;
    const char *rule, *device, *claim, *unit, *origin, *advice, *explained_by;
    double value, limit;
    NCCL_LIST(nccl_view_evidence) evidence;
} nccl_view_finding;

// A line of the first page's table: one collective and size of alike communicators; or several small sizes together.
typedef struct nccl_view_row {
    const char *label, *coll; // label: "dp 0", "tp 0-31", "8 mixed"
    uint64_t communicators, ranks, size_low, size_high, sizes;
    uint64_t calls, incomplete;
    double bytes;                                        // that the algorithm moves, of all calls
    double time_us;                                      // wire and skew, mean over the communicators
    nccl_spread wire_us, skew_us, bus_gbs, mean_bus_gbs; // count 0: several sizes
    double peak_gbs;
    uint64_t severity; // of the skew
} nccl_view_row;

// Of one communicator group and collective: bandwidth by size.
typedef struct nccl_view_size {
    uint64_t size, calls;
    nccl_spread bus_gbs;
    double mean_gbs; // median of what a mean over ranks shows
} nccl_view_size;

typedef struct nccl_view_reason {
    const char *what;
    uint64_t count;
} nccl_view_reason;

// A process in the map of arrivals, or in the list of them.
typedef struct nccl_view_process {
    const char *host;
    const char *name; // "13 of world": its rank in its widest communicator, as claims name it; "" in older files
    uint64_t pid, local, rank; // rank: in the chosen communicator; UINT64_MAX: in none
    uint64_t judged, last_alone;
    double behind_us; // mean over judged calls: median time - its time; > 0 is late; NAN: none was judged
    uint64_t records, last_arrivals, cost_us, caused_us, suffered_us, missing, missing_tail;
} nccl_view_process;

typedef struct nccl_view_bin {
    uint64_t first_sn, last_sn, instances, complete;
    double wire_p5, wire_p50, wire_p95, skew_p5, skew_p50, skew_p95;
    uint64_t written_us; // when the first line of its first call was written; 0: not known
} nccl_view_bin;

// Calls of a kind: x is the sequence number, y the bus bandwidth (time where there is none). calls 1 each, or, where
// there are too many, the middle of a cell with all calls in it.
typedef struct nccl_view_point {
    double x, y;
    uint64_t calls;
} nccl_view_point;

typedef struct nccl_view_count {
    double count;
} nccl_view_count;

typedef struct nccl_view_kind {
    const char *type, *meaning, *coll;
    uint64_t size, calls, incomplete, time_us;
    bool has_bus; // else bandwidths are not defined: y is the wire time
    nccl_spread wire_us, skew_us, time_spread_us, bus_gbs, mean_bus_gbs;
    double peak_gbs;
    double x_max, y_max; // of points
    NCCL_LIST(nccl_view_point) points;
    double low, high; // of the histogram of y
    NCCL_LIST(nccl_view_count) bins;
} nccl_view_kind;

typedef struct nccl_view_series {
    const char *label, *type, *coll;
    uint64_t ranks, size, calls, incomplete, time_us;
    nccl_spread wire_us, skew_us, bus_gbs;
} nccl_view_series;

typedef struct nccl_view_path {
    const char *type, *coll, *algo, *proto;
    uint64_t size, calls;
    nccl_spread wire_us, bus_gbs;
} nccl_view_path;

typedef struct nccl_view_file {
    const char *name, *problem;
    uint64_t lines, bad, first_bad_line, duplicates, conflicts;
    const char *reasons; // "3 bad_json, 1 no_context"
} nccl_view_file;

typedef struct nccl_view_gone { // records that others have, of a process
    const char *host;
    uint64_t pid, tail, between;
} nccl_view_gone;

typedef struct nccl_view_compared {
    const char *type, *coll, *verdict;
    uint64_t size;
    double before_us, after_us, wire_ratio, skew_ratio, bus_ratio, z;
} nccl_view_compared;

typedef struct nccl_view_pair {
    const char *label, *operation, *host;
    uint64_t rank, size, records;
    double peer; // NAN: not logged
    nccl_spread time_us, bus_gbs;
} nccl_view_pair;

typedef struct nccl_view_metric {
    const char *name, *labels;
    double value;
} nccl_view_metric;

// A column of the time axis that logs and recordings share.
typedef struct nccl_view_column {
    double wire_us, skew_us; // medians of the calls that were written then
    uint64_t calls;
    double received, received_high, sent, sent_high; // bytes/s: mean over the hosts, and the highest host
    double trouble, waiting;                         // events of counters of that sort; NAN: not measured
} nccl_view_column;

typedef struct nccl_view_nic { // a host that recordings and logs know
    const char *host, *trouble, *trouble_unit, *waiting,
        *waiting_unit; // the counters that moved most often, or ""
    double seconds, received, sent, peak_received, peak_sent, trouble_amount, waiting_amount;
} nccl_view_nic;

// What a host's NICs moved while calls of one kind used the network: a share by time where others did, too.
typedef struct nccl_view_overlap {
    const char *host, *label, *coll, *others; // label: the communicator's; others: "alone", "shared with 1 other: 50 %"
    uint64_t size, calls;                     // calls: of which the counters know
    double received, sent, own_received, own_sent; // bytes; own: of NCCL's transfers; NAN: not read, not told
    bool own_received_at_least, own_sent_at_least; // lower bounds
} nccl_view_overlap;

// What transfers of a rank waited for, summed over steps, which overlap.
typedef struct nccl_view_waiting {
    const char *name, *host;                             // "13 of world", as nccl_view_process
    uint64_t pid, calls;                                 // calls: 0 where they are not told apart
    uint64_t sent, received, sent_bytes, received_bytes; // sent, received: timed steps
    double gpu_us, credit_us, wire_us;                   // sending
    double data_us, flush_us, consume_us;                // receiving
    bool sent_at_least, received_at_least;               // bytes are lower bounds
} nccl_view_waiting;

// Of a communicator, collective and size: the sums over its ranks, and the ranks with the longest steps.
typedef struct nccl_view_wait {
    const char *label, *coll, *mostly,
        *longest; // longest: whose sending steps take longest; "": fewer than two ranks sent
    uint64_t size, calls, ranks;
    double gpu_us, credit_us, wire_us, data_us, flush_us, consume_us;
    double middle_us, longest_us; // of a sending step: the ranks' median, and the longest's
    NCCL_LIST(nccl_view_waiting) items;
} nccl_view_wait;

// What a process moved through an adapter in one direction, over its communicators.
typedef struct nccl_view_adapter {
    const char *name, *host, *way, *by; // way: "sends", "receives", "not known"; by: "RDMA", "sockets"
    const char *adapter, *remark;       // adapter: "" not known; remark: what a finding says of it
    uint64_t pid, requests, severity;
    double member, bytes, share; // of a joined device; bytes: NAN not told; share: of what it sends
} nccl_view_adapter;

// A row and column of a matrix: a rank of its communicator, or a host.
typedef struct nccl_view_unit {
    const char *host;
    double rank;       // NAN: all of the host
    uint64_t severity; // of the worst finding that names it as slow to send (its row) or to receive (its column)
} nccl_view_unit;

// What went from one unit to another: only pairs between which something did, by row and column.
typedef struct nccl_view_cell {
    uint64_t row, column;                        // sender and receiver: places in units
    uint64_t bytes, steps;                       // steps: of which it is known what they waited for
    double delay_us;                             // of a step: longer than the lower quartile of its like; NAN: no step
    double gpu_us, credit_us, wire_us, flush_us; // of a step: own GPU, receiver's credit, wire; the receiver's flush
    uint64_t severity;                           // of the worst finding that is about this pair
    bool at_least;                               // bytes are a lower bound; without bytes and steps they are not known
} nccl_view_cell;

// Who sent to whom in a communicator: row sends, column receives. A slow sender is a row, a slow receiver a column, a slow
// link a cell, a rail cells of one place on all hosts. Pages draw matrices from this alone.
typedef struct nccl_view_matrix {
    const char *label;                        // the communicator's
    const char *claim, *rule;                 // the worst finding that is about its cells; "": none
    uint64_t severity;                        // that finding's
    uint64_t ranks, bytes, steps, cells_left; // cells_left: of which one side has no log
    bool by_host, at_least;                   // at_least: as of a cell, of the sum
    NCCL_LIST(nccl_view_unit) units;
    NCCL_LIST(nccl_view_cell) cells;
} nccl_view_matrix;

// Start from {0}; nccl_view_free() at the end.
typedef struct nccl_view {
    // what was read
    uint64_t recorded_files; // of files: of netprof's own plugin
    uint64_t files, files_damaged, lines, bytes, unpacked_bytes, unusable, records, hosts, processes, communicators;
    uint64_t ranks; // of the largest communicator
    uint64_t calls, first_dump_us, last_dump_us, time_us;
    const char *first_host, *last_host, *versions; // versions: "v4.0, v4.3"
    // verdict and findings
    uint64_t severity;
    const char *verdict;
    NCCL_LIST(nccl_view_line) sentences;
    NCCL_LIST(nccl_view_finding) findings;
    uint64_t findings_left;
    NCCL_LIST(nccl_view_line) unknown;
    // the first page
    NCCL_LIST(nccl_view_row) rows;
    const char *main_label, *main_coll; // what curve, map and run are of; "": nothing
    double main_peak_gbs;
    NCCL_LIST(nccl_view_size) sizes;
    bool completeness_known; // somebody could have missed something: there is more than one rank
    uint64_t ranks_seen, ranks_expected, records_expected, records_seen, calls_judgeable, calls_complete;
    NCCL_LIST(nccl_view_reason) reasons;
    double late_floor_us; // below it a lateness is no colour: a tenth of the median wire time
    bool late_all;        // of all collectives: the main one is of too few processes
    uint64_t late_hosts, late_hosts_left, late_rows; // late_rows: processes of a host
    NCCL_LIST(nccl_view_process) late;
    const char *run_label; // the communicator of the run
    uint64_t run_ranks, run_size, run_calls, run_change_sn,
        run_others; // run_others: more runs of the same communicator
    bool run_changed;
    NCCL_LIST(nccl_view_bin) run;
    // the pages after it
    NCCL_LIST(nccl_view_kind) kinds;
    uint64_t kinds_left;
    NCCL_LIST(nccl_view_series) series;
    uint64_t series_left;
    NCCL_LIST(nccl_view_path) paths;
    NCCL_LIST(nccl_view_process) slowest;
    uint64_t slowest_left;
    NCCL_LIST(nccl_view_file) damaged;
    uint64_t damaged_left;
    NCCL_LIST(nccl_view_gone) gone;
    uint64_t gone_left;
    bool compared_known;
    uint64_t slower, faster, alike;
    NCCL_LIST(nccl_view_compared) compared;
    NCCL_LIST(nccl_view_pair) pairs;
    uint64_t pairs_left;
    NCCL_LIST(nccl_view_metric) metrics;
    uint64_t metrics_left;
    bool counters_known;
    double columns_from_s, columns_to_s; // seconds since the first dump
    NCCL_LIST(nccl_view_column) columns;
    NCCL_LIST(nccl_view_nic) nics;
    NCCL_LIST(nccl_view_overlap) overlaps; // those that moved most; none: when calls were is not known
    uint64_t overlaps_left;
    NCCL_LIST(nccl_view_matrix) matrices; // none: no operations of proxies were logged
    uint64_t matrices_left;
    NCCL_LIST(nccl_view_wait) waits;        // those with the most waiting first; none: steps were not logged by call
    uint64_t waits_left, untied;            // untied: records of proxies of which it is not known of which call
    NCCL_LIST(nccl_view_waiting) transfers; // by process, those with the longest waiting first
    uint64_t transfers_left;
    NCCL_LIST(nccl_view_adapter) adapters; // those of findings first; none: not logged
    uint64_t adapters_left;
    double between_bytes,
        across_bytes; // between hosts, and of that between unlike places; NAN: adapters were not logged
    bool places_by_adapter;
    struct nccl_view_memory *memory; // private
} nccl_view;

void nccl_view_free(nccl_view *v);

#endif
