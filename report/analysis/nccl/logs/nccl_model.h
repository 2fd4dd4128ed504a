// NCCL Inspector logs: what every rank said of every collective, in one model that tables, findings and pages share.
//
// How it fits together. A log *file* is written by one *process* (host, pid). A process takes part in *communicators*
// (id, ranks) as a *member* (its rank there). Each member logs a *record* for each call; the records of all members for
// the same call are an *instance* (communicator, collective, size, sequence number). Instances with the same
// communicator, collective and size are a *series*; with the same class of communicator, collective and size a *kind*;
// all of one communicator and collective, whatever size, an *operation*.
//
// A rank's time is waiting for the last rank, then the wire. So of the times of one instance
//     wire = the shortest; skew = longest - shortest; late = the rank (or, on ties, ranks) with the shortest.
// A mean over ranks mixes the two: it is kept only because NVIDIA's exporter shows it.
//
// Times are whole microseconds as logged; bandwidths are GB/s (1e9 bytes per second). Unknown numbers are NAN, unknown
// counts are said by a flag, never 0. Text from outside (hosts, names, collectives) is valid UTF-8 but otherwise
// hostile: escape it for what it is printed to.
//
// Thread rule: one thread at a time per nccl.
#ifndef NETPROF_NCCL_MODEL_H
#define NETPROF_NCCL_MODEL_H

#include "netprof.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NCCL_NONE       UINT32_MAX          // an index that points nowhere
#define NCCL_SIZE_LIMIT ((uint64_t)1 << 62) // a larger message size is an overflow, not a size

// ---- what was read ----

// The outcome of a line; every line has exactly one.
typedef enum nccl_outcome {
    NCCL_BLANK = 0,
    NCCL_BAD_JSON,   // no JSON, two objects in a line, cut, no UTF-8, nested deeper than 512
    NCCL_NOT_OBJECT, // JSON, but a number, text or list
    NCCL_TOO_LONG,   // longer than nccl_options.max_line
    NCCL_NO_CONTEXT, // who says it is missing: no header, no metadata, or a bare line without its dump_stats
    NCCL_BAD_VALUE,  // a field that is needed is missing, or no number of its kind; or the size is invalid
    NCCL_OTHER,      // an object of no kind that is known
    NCCL_COLL,       // used: a collective
    NCCL_P2P,        // used: point to point
    NCCL_DUMP_STATS, // used: counts of what was recorded and dropped
    NCCL_PROXY,      // used: a proxy's trace
    NCCL_OUTCOMES
} nccl_outcome;
const char *nccl_outcome_name(nccl_outcome outcome); // "bad_json", as in lines.csv

typedef enum nccl_packing { NCCL_PLAIN = 0, NCCL_GZIP, NCCL_ZSTD } nccl_packing;

typedef struct nccl_file {
    char *path;
    const char *name; // its last part
    nccl_packing packing;
    bool cut;        // the compressed stream ends early, or is damaged: everything before that place was used
    bool tail_cut;   // the last line has no end
    bool prometheus; // a .prom file: its lines are in nccl.metrics, not here
    bool recorded;   // of netprof's own plugin: a .netprof file, whose rows are counted as lines
    int error;       // errno: could not be opened, or read to its end; 0: it was
    char *problem;   // what is wrong with it, a sentence without the path; NULL: nothing
    uint64_t size;   // bytes on disk
    uint64_t bytes;  // of lines, unpacked
    uint64_t lines, outcomes[NCCL_OUTCOMES];
    uint64_t first_bad_line; // number of the first line that was not used although not blank; 0: none
    uint64_t snapshots;      // of NICs, in a recorded file
    const char *rdma;       // likewise: an RDMA adapter whose port was active at the first reading; NULL: none was seen
    uint32_t host;          // of a recorded file: index in nccl.hosts; NCCL_NONE: unknown
    uint64_t invalid_sizes; // of NCCL_BAD_VALUE: the message size is above NCCL_SIZE_LIMIT
    uint64_t duplicates;    // of NCCL_COLL: the same record was there before; left out
    uint64_t conflicts;     // of NCCL_COLL: another time for the same call of the same rank; left out
    uint64_t disagreeing;   // of NCCL_COLL: logged bandwidth differs from the recomputed by more than 0.1 %
} nccl_file;

// A process that wrote logs, or a host. Sums are over its members.
typedef struct nccl_waiting {
    uint64_t records;        // of communicators with more than one rank
    uint64_t last_arrivals;  // of these: it had the shortest time (ties count for each)
    uint64_t last_alone;     // ... and no other rank had it
    uint64_t suffered_us;    // its time - the shortest, summed: how long it waited for others
    uint64_t cost_us;        // when last alone: second shortest - shortest, summed: what it alone cost the call
    uint64_t caused_us;      // when last alone: how long the others waited for it, summed over them (rank time)
    uint64_t judged;         // of records: those of complete instances, for which the next are
    uint64_t judged_last;    // last alone
    uint64_t judged_cost_us; // see cost_us
    double behind_us;        // median time of the instance - its time, summed over judged: > 0 is late
    uint64_t missing;        // records that others of the communicator have and it has not ...
    uint64_t missing_tail;   // ... of these: after its last record of the collective: its log ends earlier
} nccl_waiting;

typedef struct nccl_process {
    uint32_t host; // index in nccl.hosts
    int64_t pid;
    uint32_t local;        // 0, 1, ... among the processes of its host, by pid
    uint32_t first_member; // index in nccl.process_members, member_count of them
    uint32_t member_count;
    uint64_t first_dump_us, last_dump_us;
    nccl_waiting waiting;
} nccl_process;

typedef struct nccl_host {
    const char *name;
    uint32_t first_process, process_count; // neighbours in nccl.processes
    nccl_waiting waiting;
    // In communicators with several ranks on each of several nodes:
    uint64_t judged_last;    // complete instances in which only ranks of this host were last ...
    uint64_t judged;         // ... of those in which it took part
    uint64_t judged_cost_us; // shortest time on other hosts - shortest here, summed over judged_last
} nccl_host;

// A member's dump_stats (v4.1 and later).
typedef struct nccl_dump_stats {
    uint64_t dumps; // 0: nothing
    uint64_t coll_records, coll_dropped, p2p_records, p2p_dropped;
    uint64_t untimed; // calls whose length nobody recorded: no record of them
    uint64_t
        parts_dropped; // operations, steps and kernels that netprof's plugin lost: times and waits are of the others
} nccl_dump_stats;

// A rank of a communicator.
typedef struct nccl_member {
    uint32_t communicator, process;
    int64_t rank;
    nccl_dump_stats stats;
    nccl_waiting waiting;
    uint64_t coll_records, p2p_records; // used
    uint64_t first_dump_us, last_dump_us;
} nccl_member;

// The exporter's classes, in its order of testing.
typedef enum nccl_class {
    NCCL_SINGLE_RANK = 0, // one rank
    NCCL_NVLINK_ONLY,     // one node (whatever links it)
    NCCL_HCA_ONLY,        // one rank on each node
    NCCL_MIXED,           // several ranks on each of several nodes
    NCCL_CLASSES
} nccl_class;
nccl_class nccl_class_of(int64_t ranks, int64_t nodes);
const char *nccl_class_name(nccl_class c);    // the exporter's: "nvlink-only"
const char *nccl_class_meaning(nccl_class c); // what it really says: "one node"

// One run of a communicator. A communicator that was made anew under the same id (other processes, or the sequence
// numbers began again) is another one.
typedef struct nccl_communicator {
    const char *id;    // "0x35bf99c9e9c616"
    const char *name;  // "" when unknown
    const char *label; // what to call it: the name, else the id; with " #2" for the second run of the same id
    uint32_t run;      // 1, 2, ... of the same id, by time
    int64_t ranks, nodes;
    nccl_class type;
    uint32_t first_member,
        member_count; // in nccl.members, by rank; member_count < ranks: some ranks have no log
    uint32_t first_operation, operation_count;
    uint64_t first_dump_us, last_dump_us;
    uint64_t instances, complete; // complete: every rank of it was seen
    uint64_t records, missing, missing_tail,
        missing_absent;        // of instances that somebody saw; absent: no log at all
    uint64_t time_us, wire_us; // longest and shortest times of all instances, summed
    double peak_gbs;           // as given; NAN unknown
} nccl_communicator;

// Collective, algorithm, protocol, source of the time: "" when not logged.
typedef struct nccl_what {
    const char *coll, *algo, *proto, *timing;
} nccl_what;

// One rank's record of one call. Private: slot (nccl_record_member() and nccl_record_what() resolve it).
typedef struct nccl_record {
    uint32_t slot;
    uint32_t trace; // 1 + index in nccl.traces; 0: none
    uint64_t sn, time_us, dump_us;
    double bus_gbs; // as logged
} nccl_record;

// From verbose logs: the host's own clock, us since the epoch; 0: not seen.
typedef struct nccl_trace {
    uint64_t start_us, stop_us;               // of the call
    uint64_t kernel_start_us, kernel_stop_us; // first and last of its channels
} nccl_trace;

typedef struct nccl_instance {
    uint32_t series;
    uint32_t first_late;        // member with the shortest time; on ties the first in the order of the files
    size_t first;               // in nccl.records, `count` of them, in the order of files and lines, each member once
    uint32_t count, late_count; // late_count: members that share the shortest time
    uint64_t sn;
    uint64_t min_us, max_us; // wire, and wire + skew
    uint64_t second_us;      // second shortest; = min_us on ties, and with one record
    double mean_us, median_us;
    double mean_bus, min_bus, max_bus; // as logged, GB/s
    uint64_t first_dump_us, last_dump_us;
    bool complete; // count == ranks of the communicator
} nccl_instance;

// Quantiles are interpolated linearly. count 0: the others are NAN. sd: of a sample; NAN with fewer than two.
typedef struct nccl_spread {
    size_t count;
    double min, p5, p25, p50, p75, p95, p99, max, mean, sd;
} nccl_spread;

typedef struct nccl_spreads {
    nccl_spread wire_us, skew_us, time_us; // time: the longest of each instance
    nccl_spread alg_gbs, bus_gbs;          // recomputed from the wire time
    nccl_spread mean_bus_gbs;              // the exporter's: mean over ranks of what was logged
    nccl_spread best_bus_gbs;              // the highest that was logged of each instance
} nccl_spreads;

// Where a series changed: the split in which the two sides differ most. sn 0 .. before it.
typedef struct nccl_change {
    bool found;           // the medians differ by more than a quarter, and not by chance (see nccl_group.c)
    uint64_t sn;          // the first after the change
    double before, after; // medians, us
} nccl_change;

typedef struct nccl_series {
    uint32_t communicator, operation, kind;
    uint32_t coll;                         // index in nccl.colls
    uint64_t size;                         // bytes as logged: per rank for AllGather and ReduceScatter
    size_t first_instance, instance_count; // in nccl.instances, by sn
    uint64_t incomplete, missing;
    uint64_t time_us, wire_total_us; // summed over instances
    double traffic_bytes;            // what algorithm bandwidth counts, of one instance
    double bus_factor;               // bus / algorithm bandwidth
    nccl_spreads spreads;            // of all instances
    nccl_change wire_change, skew_change;
    double peak_share; // median bus bandwidth of the peak; NAN unknown
} nccl_series;

// One communicator and collective: where arrival shares are counted.
typedef struct nccl_operation {
    uint32_t communicator, coll;
    uint32_t first_series, series_count; // in nccl.series, by size
    uint64_t instances, complete;
    uint64_t time_us, wire_us; // summed over instances
    uint64_t complete_time_us; // time_us of the complete ones
    size_t first_arrival;      // in nccl.arrivals: one for each member of the communicator, in their order
} nccl_operation;

// (class, collective, size): the exporter's grouping.
typedef struct nccl_kind {
    nccl_class type;
    uint32_t coll;
    uint64_t size;
    uint64_t instances, incomplete, time_us, wire_us;
    nccl_spreads spreads;
    double peak_gbs, peak_share; // NAN unless all its communicators have the same peak
} nccl_kind;

// By algorithm and protocol, where they are logged.
typedef struct nccl_path {
    nccl_class type;
    nccl_what what; // timing is ""
    uint64_t size, instances;
    nccl_spread wire_us, bus_gbs;
} nccl_path;

// ---- point to point, proxies, Prometheus ----

// All records of one member, operation ("Send", "Recv"), peer and size.
typedef struct nccl_p2p {
    uint32_t member;
    int64_t peer; // its rank in the communicator
    const char *operation, *timing;
    uint64_t size, records;
    double traffic_bytes;         // summed
    nccl_spread time_us, bus_gbs; // bus as logged
} nccl_p2p;

// All proxy operations of one member, peer and direction. Times are those of the proxy thread on the CPU; steps overlap,
// so that sums over them are no time that passed.
typedef struct nccl_proxy {
    uint32_t member;
    int64_t peer;
    const char *direction; // "send", "recv"
    uint64_t operations, steps, steps_dropped;
    uint64_t bytes, total_us;
    uint64_t timed, step_bytes; // steps whose times were logged, and what they moved
    uint64_t unsized;           // operations whose bytes nobody recorded
    // Of those: waiting for the own GPU (to produce, to consume), for the receiver's credit, on the wire (a receiver:
    // for the data, whoever is late), and for the flush.
    uint64_t gpu_us, credit_us, wire_us, flush_us;
    uint64_t verbs_operations, socket_operations; // by what carried them; both 0: not recorded
} nccl_proxy;

// ---- what a call's transfers waited for ----

// Of all calls of a member, collective (or "Send", "Recv") and size: what their transfers waited for, summed over steps,
// which overlap. Netprof's own plugin knows of which call an operation of a proxy is a part. A log of the Inspector names it by
// a number that each collective counts for itself: it is known where there is one such call alone, or one alone at that time.
typedef struct nccl_spent {
    uint32_t member;
    const char *coll;
    uint64_t size, calls;                                // of a log: those of which operations are known
    uint64_t sent, received, sent_bytes, received_bytes; // sent, received: timed steps
    double gpu_us, credit_us, wire_us;                   // sending
    double data_us, flush_us, consume_us;                // receiving: data_us is waiting for the data, whoever was late
    bool sent_at_least, received_at_least;               // of some of their operations nobody recorded the bytes
} nccl_spent;

// Only in files of netprof's own plugin. When a call used the network, ns of the host's wall clock: from the first operation of its proxies to the last one's end.
typedef struct nccl_span {
    uint32_t spent; // index in nccl.spent: whose, and of which collective and size
    uint64_t sn;
    int64_t begin_ns, end_ns;
} nccl_span;

// Likewise. What a member moved through a network device as NCCL's transport numbers it: of InfiniBand and RoCE the number among
// the adapters that are joined to one device (0: the only one), of sockets -1.
typedef struct nccl_used {
    uint32_t member;
    const char *transport; // "ib", "socket"
    const char *direction; // "send", "recv", "" unknown
    const char *adapter;   // the RDMA device that the queue pair belongs to; "" unknown; "mlx5_0|mlx5_1": one of these
    int64_t device;
    uint64_t requests, bytes;
} nccl_used;

// A sample of a .prom file: an average over a window with an unknown number of calls.
typedef struct nccl_metric {
    uint32_t file;
    const char *name;   // "nccl_bus_bandwidth_gbs"
    const char *labels; // "a=1,b=2" unescaped; see nccl_metric_label()
    double value;
} nccl_metric;

// ---- the whole ----

// Start from {0}; nccl_read() (nccl_logs.h) fills it, nccl_free() ends it.
typedef struct nccl {
    nccl_file *files; // by path
    size_t file_count;
    nccl_host *hosts; // by name
    size_t host_count;
    nccl_process *processes; // by host and pid
    size_t process_count;
    uint32_t *process_members; // indexes of members, process after process
    nccl_member *members;
    size_t member_count;
    nccl_communicator *communicators; // by class, ranks (most first), name, id, run
    size_t communicator_count;
    const char **colls; // names of collectives, sorted
    size_t coll_count;
    nccl_operation *operations;
    size_t operation_count;
    nccl_waiting *arrivals;
    size_t arrival_count;
    nccl_series *series;
    size_t series_count;
    nccl_instance *instances; // series after series
    size_t instance_count;
    nccl_record *records;
    size_t record_count;
    nccl_trace *traces;
    size_t trace_count;
    nccl_kind *kinds; // by class name, collective, size
    size_t kind_count;
    nccl_path *paths;
    size_t path_count;
    nccl_p2p *p2p;
    size_t p2p_count;
    nccl_proxy *proxies;
    size_t proxy_count;
    nccl_spent *spent; // by member, collective, size
    size_t spent_count;
    nccl_span *spans; // by host, then time
    size_t span_count;
    nccl_used *used; // by member, transport, device, adapter, direction
    size_t used_count;
    nccl_metric *metrics;
    size_t metric_count;
    uint64_t outcomes[NCCL_OUTCOMES], lines, bytes, size;
    uint64_t duplicates, conflicts, invalid_sizes, disagreeing;
    uint64_t versions;                    // that occurred: see nccl_version_name()
    bool foreign_version;                 // a version that is not known occurred
    uint64_t first_dump_us, last_dump_us; // when lines were written; no collective's start or end
    bool has_dump_stats, has_traces, has_algorithms;
    uint64_t untimed;         // calls whose length nobody recorded, in files of netprof's plugin
    uint64_t proxied, untied; // records of proxies in logs of the Inspector; untied: of which call is not known
    void *memory;             // private
} nccl;

// Peaks, from the user: bus bandwidth in GB/s. The first whose pattern matches counts.
typedef struct nccl_peak {
    const char *pattern; // shell pattern for a communicator's name, id or class; "*" for all
    double gbs;
} nccl_peak;

void nccl_free(nccl *n);

enum { NCCL_MINORS = 16, NCCL_VERSIONS = 2 * NCCL_MINORS };
// "v4.3" of the third bit of nccl.versions, "v5.1" of the seventeenth. Returns text.
const char *nccl_version_name(int bit, char *text, size_t size);

uint32_t nccl_record_member(const nccl *n, const nccl_record *r); // index in n->members
// The process' member in its largest communicator: people know its rank there. NULL: it is in none.
const nccl_member *nccl_widest_member(const nccl *n, uint32_t process);
// One adapter, by name: not "", not one of several.
bool nccl_adapter_is_known(const char *adapter);
// Did its plugin lose operations or steps of it? Then bytes are lower bounds.
bool nccl_member_lost_parts(const nccl *n, uint32_t member);
// The member with that rank; NCCL_NONE: it has no log.
uint32_t nccl_member_of_rank(const nccl *n, uint32_t communicator, int64_t rank);
const nccl_what *nccl_record_what(const nccl *n, const nccl_record *r);
// Recomputed bandwidth of one instance of the series at this time, GB/s; NAN when the time is 0.
double nccl_alg_gbs(const nccl_series *s, double time_us);
double nccl_bus_gbs(const nccl_series *s, double time_us); // NAN also for one rank, where the factor is 0
// The traffic and the factor that they use; unknown collectives have factor NAN.
double nccl_traffic_bytes(const char *coll, uint64_t size, int64_t ranks);
double nccl_bus_factor(const char *coll, int64_t ranks);
// The value of a label, copied into text ("" if it is missing). Returns text.
const char *nccl_metric_label(const nccl_metric *m, const char *label, char *text, size_t size);
// "65.54KB", "1.00KB", "0B": the exporter's way. Returns text.
const char *nccl_size_text(uint64_t bytes, char *text, size_t size);

#endif
