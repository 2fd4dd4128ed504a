// The types of a comparison and their names. compare.h makes one.
#ifndef NETPROF_COMPARE_MODEL_H
#define NETPROF_COMPARE_MODEL_H

#include "analysis/rules/findings.h"

typedef enum comparison_side { COMPARISON_HEALTHY = 0, COMPARISON_FAULTY = 1, COMPARISON_SIDES = 2 } comparison_side;

// Worst first; also the order of the panels on a page.
typedef enum comparison_class {
    COMPARISON_ERRORS = 0, // errors, drops, repetition, timeouts, damaged and repaired codewords
    COMPARISON_STALLS,     // waiting: pause, blocked cycles, credits, congestion marks, misses
    COMPARISON_PACKETS,    // packets, messages, commands, and everything else that is counted
    COMPARISON_BYTES,
    COMPARISON_CLASSES
} comparison_class;

typedef enum comparison_basis {
    COMPARISON_MILDER = 0, // per second and per byte: the one that changed less decides
    COMPARISON_PER_SECOND,
    COMPARISON_PER_BYTE
} comparison_basis;

typedef enum comparison_state {
    COMPARISON_UNKNOWN = 0, // no value on one side at least: absent, unreadable, reset
    COMPARISON_ZERO,        // 0 in all runs of both sides
    COMPARISON_SAME,        // equal, within chance, within the healthy runs' range, or below the floor
    COMPARISON_CHANGED,     // beyond that; there is a ratio
    COMPARISON_NEW,         // 0 in all healthy runs: no ratio
    COMPARISON_GONE         // 0 in all faulty runs: no ratio
} comparison_state;

// How the devices of a line differ from each other.
typedef enum comparison_pattern {
    COMPARISON_NOWHERE = 0, // within chance on all
    COMPARISON_ALONE,       // there is one device only
    COMPARISON_ALL_ALIKE,   // changed on all by nearly the same ratio
    COMPARISON_ALL,         // changed on all, but not alike
    COMPARISON_ONLY_ONE,
    COMPARISON_SOME
} comparison_pattern;

typedef struct comparison_run {
    comparison_side side;
    char *label;        // the path, or of two files "BEFORE, AFTER"; hostile text
    char *host;         // "" if the files do not say; hostile text
    char *command;      // of the run, NULL if the files do not say; hostile text
    int64_t wall_ns;    // when it began, ns since 1970; 0 unknown
    int64_t elapsed_ns; // of the command when the files say it, else the longest of its counters'; 0 unknown
    bool damaged;       // parts of its files are missing
    const char *exit_status, *signal; // of the command, NULL unknown, or none; borrowed
    const dataset_run *first, *last;  // its files, the same when one holds the whole run; borrowed
    difference d;
    findings f;            // filled in by comparison_make()
    double bytes, packets; // moved by the node, each once; NAN unknown
    // How far it was at each of its samples, where its file has more than both ends: seconds and bytes since the first one.
    double *sample_s, *sample_bytes; // [sample_count], rising from 0
    size_t sample_count;             // 0: only its ends are known
} comparison_run;

bool comparison_failed(const comparison_run *run); // did its command fail? False also when that is not known

// The bytes that a device's counters are divided by.
typedef enum comparison_bytes {
    COMPARISON_BYTES_UNKNOWN = 0, // none of the below: no ratio per byte
    COMPARISON_BYTES_OWN,         // its own counters of bytes, sent and received
    COMPARISON_BYTES_INTERFACE,   // those of the network interface that it belongs to
    COMPARISON_BYTES_IP,          // those of the IP layer
    COMPARISON_BYTES_NODE         // those of all ports of the node
} comparison_bytes;

// One side's figure of one quantity. All NAN when no run of the side has it.
typedef struct comparison_range {
    double median, min, max;
} comparison_range;

// A device by source and name. Devices are in order of source (as the runs have them), then as the runs have them.
typedef struct comparison_device {
    const char *source, *name;     // hostile text
    bool physical;                 // in any run
    size_t runs[COMPARISON_SIDES]; // how many runs of a side have it
    size_t *places;                // [run_count]: its index in the run's schema, or DIFFERENCE_NONE
    comparison_bytes basis;        // of its ratios per byte
    comparison_range received[COMPARISON_SIDES], sent[COMPARISON_SIDES]; // bytes per second
    double speed_bits_per_s;                                             // of one direction, for frames; 0 unknown
    size_t order;                                                        // private
} comparison_device;

// One counter of one device on one side.
typedef struct comparison_amount {
    size_t runs;    // with a value
    double count;   // median over the runs, in the counter's unit; NAN without a run
    uint64_t exact; // the count itself, when runs == 1
    comparison_range per_s, per_byte;
} comparison_amount;

typedef struct comparison_cell {
    comparison_state state;
    comparison_amount side[COMPARISON_SIDES];
    // Faulty over healthy, of the medians; NAN when one of them is 0 or unknown, and per byte also where it means
    // nothing (line.time_driven, no bytes).
    double ratio_per_s, ratio_per_byte;
    double worst_per_s, worst_per_byte; // of the worst faulty run
    size_t worst_run;                   // index of that run, DIFFERENCE_NONE without one
    size_t outside;                     // how many faulty runs lie outside the healthy range and chance
    double z;                           // robust: (middle - median) / (1.4826 MAD) per second; NAN below 3 healthy runs
    double chance;                      // in how many of all splits of these runs the faulty ones lie as far out, 0..1
    bool beyond;        // all counters together, runs split at random show such a one at most once in 100
    int direction;      // of the middle run: 1 more, -1 less, 0 the same
    double score;       // of the middle run; 0 unless CHANGED, NEW or GONE
    const char *reason; // of UNKNOWN: "reset", "denied", "absent", ...; else NULL
} comparison_cell;

// A counter, over the devices of its source.
typedef struct comparison_line {
    const char *source, *name, *unit; // unit "" unknown
    const char *gloss;                // the catalog's description, "" unknown
    const catalog_entry *entry;       // NULL unknown
    comparison_class kind;
    bool time_driven; // grows with time whatever the traffic (a live link's codewords): no ratio per byte
    size_t first_device, device_count; // cells[i] is of devices[first_device + i]
    comparison_cell *cells;
    size_t worst;       // the cell with the largest score
    double score;       // its score
    const char **equal; // counters with the very same counts on all devices, folded into this one
    size_t equal_count;
    comparison_pattern pattern;
    char *pattern_text; // "only cxi4", "all 8 alike", "cxi1, cxi4", "5 of 8", "within chance"
} comparison_line;

// A histogram: how far its samples moved.
typedef struct comparison_shape {
    const char *source;
    char *name;    // "pct_req_rsp_latency_*"
    size_t device; // where it moved most
    size_t bins;
    double moved;                         // share of the samples that lie in other bins, 0..1
    const char *middle[COMPARISON_SIDES]; // counter of the bin with the median sample
    size_t middle_bin[COMPARISON_SIDES];  // its number in order of the bins, 0 for the first
    double *share[COMPARISON_SIDES];      // [bins], of all samples of the side's runs together
} comparison_shape;

// A gauge or state at the end of the runs; never a ratio. Only those whose ranges do not meet are listed.
typedef struct comparison_gauge {
    size_t device;
    const char *name, *unit;
    bool is_signed;
    comparison_range side[COMPARISON_SIDES];
} comparison_gauge;

// How good a reason a fact is for a difference.
typedef enum comparison_reason {
    COMPARISON_SETTING = 0, // MTU, speed, CPUs: "configuration"
    COMPARISON_MAKE,        // driver, firmware, kernel, model: "software"
    COMPARISON_MEASURING    // who measured: none
} comparison_reason;

// A fact of a device, or of the node (device DIFFERENCE_NONE), that is not the same on both sides.
typedef struct comparison_fact {
    size_t device;
    const char *key, *words; // "speed_mbps", "speed (Mb/s)"
    comparison_reason reason;
    const char *side[COMPARISON_SIDES]; // hostile text
} comparison_fact;

typedef enum comparison_judgement {
    COMPARISON_NOT_THERE = 0, // nothing to judge: no such counter, or too little traffic
    COMPARISON_NOT_KNOWN,     // could not be judged
    COMPARISON_JUDGED
} comparison_judgement;

// One rule on one device: the middle of each side's runs (of two middle ones the milder).
typedef struct comparison_verdict {
    comparison_judgement judged[COMPARISON_SIDES];
    severity severity[COMPARISON_SIDES];      // when JUDGED
    double value[COMPARISON_SIDES];           // the rule's value, in rule->unit; NAN unless JUDGED
    const finding *finding[COMPARISON_SIDES]; // of that run; NULL when it was OK
    size_t run[COMPARISON_SIDES];             // which run that was, DIFFERENCE_NONE unless JUDGED
    size_t runs[COMPARISON_SIDES];            // how many runs were judged ...
    size_t found[COMPARISON_SIDES];           // ... and how many of them are worth watching, or worse
    double chance;                            // as in comparison_cell; NAN unless both sides were JUDGED
    // The two sides' marks differ: fine (ok, info), doubtful (watch, warn), bad (high, critical). A side where there was
    // nothing to judge counts as OK; one that could not be judged never flips, nor does one whose middle faulty run lies
    // near the healthy ones, or near what alike devices had in one or two healthy runs.
    bool flipped, near;
} comparison_verdict;

// A rule over the devices of its source.
typedef struct comparison_check {
    const rule *rule;
    bool of_node;                    // cells[0] is the node; first_device means nothing
    size_t first_device, cell_count; // cells[i] is of devices[first_device + i]
    comparison_verdict *cells;
    size_t worst;                        // the most important cell: flipped first, then the worst severity
    severity severity[COMPARISON_SIDES]; // the worst of each side
    bool flipped;
} comparison_check;

// Was the same work done, and how much slower? All NAN where it is not known.
typedef enum comparison_same {
    COMPARISON_WORK_UNKNOWN = 0,
    COMPARISON_WORK_SAME, // the same bytes; or next to none, by the same command
    COMPARISON_WORK_OTHER
} comparison_same;

typedef struct comparison_work {
    comparison_same same;
    comparison_range seconds[COMPARISON_SIDES], bytes[COMPARISON_SIDES], packets[COMPARISON_SIDES],
        bytes_per_s[COMPARISON_SIDES];
    size_t failed[COMPARISON_SIDES], ended[COMPARISON_SIDES]; // runs that failed, of those that say how they ended
    bool by_throughput;                                       // other work, or no times: slower by the bytes per second
    double slower;  // how many times: of the medians, in duration or throughput; below 1 the faulty side was faster
    double gap;     // the same between the nearest runs of the two sides; below 1 the ranges meet
    double chance;  // how often runs that differ in nothing are as far apart; NAN where the runs are too few to say
    bool by_spread; // that is told by how much they vary, not by their ranks in all splits
    char *headline; // in few words, NULL unknown: "11.4 times slower for the same work"
} comparison_work;

// What a sentence is about. Equally bad ones come in this order.
typedef enum comparison_subject {
    COMPARISON_OF_OUTCOME = 0, // how the commands ended
    COMPARISON_OF_SPEED,
    COMPARISON_OF_SETUP, // configuration, devices
    COMPARISON_OF_CHECK,
    COMPARISON_OF_COUNTER,
    COMPARISON_OF_CONTEXT // what is alike, or better: no finding
} comparison_subject;

typedef struct comparison_sentence {
    severity severity; // OK: a good sign; INFO: context, or no more than chance may do
    char *text;        // one sentence, names from outside as they are: hostile text
    size_t brief;      // so much of it says what and where, for the first line; 0: all
    size_t told;       // so much of it comes before in how many runs and what chance does; 0: all
    comparison_subject subject;
    const char *rule; // a rule's name, or "exit-status", "duration", "throughput", "configuration", ...
    size_t device;    // or DIFFERENCE_NONE
    double cost_s;    // time that the faulty runs took longer; NAN unknown
    size_t order;     // private
} comparison_sentence;

// The verdict once more, as answers to fixed questions in fixed order; equally bad ones come as in the verdict.
typedef struct comparison_answer {
    severity severity;
    const char *question; // "Slower?"
    char *text;           // one sentence; hostile text
} comparison_answer;

// What a byte passes on its way, in order.
enum { COMPARISON_STAGES = 5 };

typedef struct comparison_stage {
    const char *name, *what;           // "PCIe to the host", "writes blocked"
    const char *rule;                  // that watches it; NULL: no counter does
    const comparison_check *check;     // NULL: nothing could judge it
    const comparison_verdict *verdict; // of the path's device; NULL likewise
} comparison_stage;

typedef struct comparison_path {
    const char *of; // "of a received byte"; NULL: nothing backs up on any way
    comparison_stage stages[COMPARISON_STAGES];
    size_t device, outlined; // outlined: the stage that went worse and lies farthest along
    bool backs_up;           // by the rules the outlined stage explains that of `first`
    size_t first;
} comparison_path;

// One event: what changed once, however many checks and counters tell it. By its worst device.
typedef struct comparison_event {
    const char *words; // "PCIe writes blocked"; of a counter without words its name
    const char *unit;  // of the values: "% of the time", "retries/s"; "" unknown
    size_t device;     // DIFFERENCE_NONE: the node
    size_t alike;      // so many devices alike; 0: this one
    bool is_finding;
    severity severity;
    double value[COMPARISON_SIDES];     // medians; NAN unknown
    double low, high;                   // the healthy runs' range
    double ratio_per_s, ratio_per_byte; // NAN: none
    comparison_state state;
    const comparison_check *check; // or NULL: a counter
    const comparison_line *line;   // the leading counter; NULL: none
    size_t more;                   // counters beside it that tell the same
} comparison_event;

// A counter with no value on one side at least.
typedef struct comparison_missing {
    size_t device;
    const char *name, *reason[COMPARISON_SIDES]; // "ok" where there is one
} comparison_missing;

// How many counters were compared, and why the others were not.
typedef struct comparison_counts {
    size_t states[COMPARISON_GONE + 1]; // of the counters of devices (cells), folded ones included
    size_t only[COMPARISON_SIDES];      // cells that only this side has (they are UNKNOWN)
    // Names that were not compared:
    size_t clocks;     // they only count time
    size_t bad;        // hardware errata
    size_t histograms; // buckets: see shapes
    size_t gauges;     // see gauges
    size_t context;    // of the node and the job (CPU time, memory, disks), no error and no stall
} comparison_counts;

// Start from {0}.
typedef struct comparison {
    comparison_run **runs; // healthy ones first
    size_t run_count, side_count[COMPARISON_SIDES];
    // From here on filled in by comparison_make().
    comparison_basis basis;
    comparison_device *devices;
    size_t device_count;
    comparison_line *lines;          // the highest score first, then those without a score; none for ZERO everywhere
    size_t line_count, ranked_count; // lines[0 .. ranked_count) have a score
    comparison_shape *shapes;        // moved most first; only those that moved by 5 % or more
    size_t shape_count;
    comparison_gauge *gauges;
    size_t gauge_count;
    comparison_fact *facts;
    size_t fact_count;
    comparison_check *checks; // flipped first, then the worst first; rules that nothing could judge are left out
    size_t check_count;
    comparison_counts counts;
    comparison_missing *missing; // counts.states[COMPARISON_UNKNOWN] of them
    size_t missing_count;
    comparison_work work;
    double splits; // in how many ways these runs can be split as they are: 252 for 5 and 5
    double bytes[COMPARISON_SIDES], seconds[COMPARISON_SIDES]; // of a run, medians; NAN unknown
    double bytes_ratio, seconds_ratio;                         // faulty over healthy; NAN unknown
    // Of the worst sentence. Without one of WATCH or worse: UNKNOWN when nothing could be judged, or when it is not known
    // whether the same work took longer; INFO when anything differs; OK.
    severity severity;
    const char *scope;              // as difference.scope
    char *title;                    // the same work? slower? what else differs first?
    comparison_sentence *sentences; // the verdict, worst first
    size_t sentence_count;
    comparison_answer *answers;
    size_t answer_count;
    char *headline; // the title in at most 60 characters; NULL: a part of the title does
    comparison_path path;
    comparison_event *events; // findings first, then errors and stalls that differ most, then the work itself
    size_t event_count;
    char **notes; // differences in the data: hosts, devices, counters, drivers, lengths
    size_t note_count;
} comparison;

void comparison_free(comparison *c);

bool comparison_compared(const comparison *c); // is there a counter with values on both sides

const char *comparison_side_name(comparison_side side);          // "healthy", "faulty"
const char *comparison_class_name(comparison_class kind);        // "errors", "stalls", "packets", "bytes"
const char *comparison_state_name(comparison_state state);       // "unknown", "zero", "same", "changed", "new", "gone"
const char *comparison_basis_name(comparison_basis basis);       // "milder", "second", "byte"
const char *comparison_subject_name(comparison_subject subject); // "outcome", "speed", ...
const char *comparison_same_name(comparison_same same);          // "unknown", "same", "other"
double comparison_weight(comparison_class kind);
bool comparison_is_worse(
    const comparison_verdict *v); // the faulty side's mark is worth watching, and worse than the healthy one's

#endif
