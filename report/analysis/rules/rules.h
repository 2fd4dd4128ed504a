// Rules: what counters must look like to be a finding, as data.
//
// A table of rules is CSV (RFC 4180, a line for each rule, '#' begins a comment) whose first line names the
// columns, in any order:
//
//     name          host-write-back-pressure
//     words         what it asks, in few plain words, as the name of a row: PCIe writes blocked
//     shows         what its value would show, where it could not be had: a cable or plug that is going bad
//     class         link-down, link-errors, host-loss, back-pressure, congestion, transport, utilisation, data or command:
//                   of equally bad findings the earlier class comes first
//     source        cxi, netdev, ...; * for all
//     per           device; node: once over all devices of the source; peers: devices that are alike (source, speed,
//                   driver, model, bond) are held against each other: value is what each does, and thresholds are how far
//                   one alone is from the others' middle one (33% is a third less or more), where that is beyond what
//                   these vary (analysis/peers); a name "nothing" is defined below which one does nothing
//     define        names for formulas, used in the following columns: lookups = sum(...); misses = sum(...)
//     value         the formula that is judged; see expression.h
//     unit          of the value
//     needs         the condition under which the value can be judged at all (traffic, known speed)
//     info, watch, warn, high, critical
//                   thresholds: > 3 [HPE: more than a few cycles per packet] if blocked > 1%
//                   an operator, a number, where the number is from (without brackets: own), a condition; what
//                   stands in braces before the brackets, > 0 {1 % of the datagrams, or 10/s} [netdata] if ..., is
//                   shown for all three
//     cost          the share (0 to 1) of the interval that the fault blocked or lost; empty where that is not known
//     claim         what is said: {value|x} blocked cycles per packet; formats: see rules_format(). A stretch in
//                   square brackets with one number, [, priority {which(hni_tx_paused_*)|i}], is said where the
//                   number is known; as a division by zero has no value, {x / (x > 0)|x} is where x is positive
//     alike         what is said in addition where (nearly) all devices of the source have this finding, within a
//                   factor of two: no single one is named first then
//     advice        what to do
//     explained_by  rules whose finding on the same device is the cause of this one
//     background    a threshold for the value per second of a device, < 100 [own: ...]: where it is equal (within 1 %)
//                   on all of three devices or more and this low, it is an event around them: info, whatever the
//                   thresholds say. "yes" is < 1. Never for what is lost: a fault of the fabric looks the same
//     evidence      counters shown beside those of the formula: a comma list
//     marks         what reports look for: pause (the value is the share of the time that the network let the device
//                   not send)
//
// name, source, value and one threshold are needed. Names between devices: "ethtool/x" is the counter x of the
// ethtool device of the same interface; in rules per node "Tcp/OutSegs" is OutSegs of device Tcp.
#ifndef NETPROF_RULES_H
#define NETPROF_RULES_H

#include "expression.h"
#include "netprof.h"

typedef enum severity {
    SEVERITY_OK = 0,
    SEVERITY_INFO,     // context
    SEVERITY_UNKNOWN,  // could not be judged: neither good nor bad; no rule has a threshold for it
    SEVERITY_WATCH,    // real, cost unclear
    SEVERITY_WARN,     // probably costs time
    SEVERITY_HIGH,     // surely costs time, or loses data
    SEVERITY_CRITICAL, // connection, job or hardware at risk
    SEVERITIES
} severity;

enum { RULES_LOCALS = 8, RULES_PARTS = 16, RULES_THRESHOLD_TEXT = 512 };

typedef struct rule_threshold {
    expression_op op; // EXPRESSION_GREATER, ..., or EXPRESSION_NUMBER: there is no threshold
    double value;
    const char *origin;  // "own", "HPE: ..."
    const char *shown;   // instead of operator, number, unit and condition; or NULL
    const char *if_text; // the condition as it is written; or NULL
    expression condition;
} rule_threshold;

// A piece of a claim: text, then a number. With a lead, lead, number and tail are said where the number is known.
typedef struct rule_part {
    const char *text, *lead, *format, *tail; // lead, tail: NULL
    expression number;
} rule_part;

typedef struct rule {
    const char *name, *class_name, *source, *unit, *advice, *explained_by, *alike;
    const char *words, *shows; // "": none
    int class_rank;
    bool per_node, of_peers, is_pause;
    bool in_words; // the claim tells what happened to this very device: no two are alike
    const char *local_names[RULES_LOCALS];
    expression locals[RULES_LOCALS];
    size_t local_count;
    expression value, needs, evidence, cost; // root 0: none
    rule_threshold thresholds[SEVERITIES], background;
    rule_part claim[RULES_PARTS];
    size_t part_count;
    char *memory;
} rule;

// A fault in a table: the line is refused, the others are used.
typedef struct rules_problem {
    char *path;
    size_t line;
    char *text;
} rules_problem;

// Start from {0}; rules_free() at the end. Thread rule: one thread at a time.
typedef struct rules {
    rule **items; // in the order of the tables
    size_t count;
    rules_problem *problems;
    size_t problem_count;
} rules;

// Adds the built-in tables.
void rules_builtin(rules *set);
// Adds a user's table; a rule of the same name is replaced. Bad lines become problems. Errors: _IO, _LIMIT,
// _PARSE (no header line, or no usable rule).
netprof_err rules_read(rules *set, const char *path, netprof_error *error);
netprof_err rules_read_text(rules *set, const char *path, const char *text, size_t size, netprof_error *error);
void rules_free(rules *set);

const rule *rules_find(const rules *set, const char *name);
const char *rules_words(const rule *x); // those of the rule, or without any its name
// The words of the first rule that has some and judges this counter alone, by whatever measure; NULL: none does. The set
// may be NULL.
const char *rules_words_of(const rules *set, const char *source, const char *counter);
const char *rules_class_name(int rank);       // of a rank that rules_class_rank() gave; else "data"
int rules_class_rank(const char *class_name); // of equally bad findings the lower comes first; -1: no such class
const char *severity_name(severity s);        // "ok", "info", ...
bool severity_parse(const char *text, severity *s);

// A number as a claim shows it, in a format: "" three digits, SI prefix for the large; "x" three digits;
// "%" percent; "p" percent, what is small as "5 in a million"; "i" whole; "B" bytes, "b" bits with SI prefix; "e" as
// 1.2e-10; "t" what is per bit as "120 per Tbit"; "s" a duration of so many seconds; "-" nothing (it decides a stretch in square brackets); "#packet" a count
// with its noun, "1 packet", "2.40 M packets" (another plural follows a slash: "#entry/entries"); "?was/were" the noun
// alone; "c" is for device(...): the words of the change, no number. Returns text.
const char *rules_format(char *text, size_t size, const char *format, double number);

// A threshold as it is shown: ">= 1 % of the time, if slow". Signs: "<", "<=", ">", ">=" or those given. Returns text.
const char *rules_threshold_text(const rule *x, const rule_threshold *t, const char *const signs[4],
                                 char text[RULES_THRESHOLD_TEXT]);

#endif
