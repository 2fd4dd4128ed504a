// The types of findings, and what can be asked of them. findings.h makes them.
#ifndef NETPROF_FINDINGS_MODEL_H
#define NETPROF_FINDINGS_MODEL_H

#include "analysis/data/difference.h"
#include "analysis/base/words.h"
#include "rules.h"

enum { FINDINGS_EVIDENCE = 24 };

// What of the node beside its network may be at fault. The job's own sources (process, cgroup), energy and what recording
// costs are not among them.
#define FINDINGS_HOST_SOURCES "cpu,memory,pressure,edac,gpu"

// A counter or fact that a finding rests on.
typedef struct finding_evidence {
    const char *name, *unit;
    size_t counter; // index, or DIFFERENCE_NONE for a fact
    bool gauge;     // number is the value at the end, no difference
    double number;
    uint64_t value; // exact, where it is a counter's difference or value
} finding_evidence;

typedef struct finding {
    const rule *rule;
    severity severity;
    size_t device; // index, or DIFFERENCE_NONE: the node
    double value;
    double cost_s; // seconds of the interval that it blocked or cost, NAN unknown
    char *claim;
    finding_evidence evidence[FINDINGS_EVIDENCE];
    size_t evidence_count;
    char *subject;                   // what it is about where it is no device that was read; NULL otherwise
    size_t of_nodes, of_devices;     // that have it together, and none alone; 0: it is this node's, this device's
    const rule_threshold *threshold; // the one that was crossed
    char *explained_by;              // names of rules, by commas; NULL: nothing explains it
    size_t peers;                    // other devices of the source with a value, and its range there
    double peers_min, peers_max;
    // Of `alike_of` devices that were judged, so many have this finding, with much the same value: 0 where it stands alone.
    size_t alike, alike_of;
} finding;

// Why something could not be judged.
typedef enum finding_cause {
    FINDING_NOT_KNOWN = 0, // a fact that nobody tells: the speed of a virtual port
    FINDING_SKIPPED,       // not in the set that was read
    FINDING_SATURATED,     // stuck at its largest value
    FINDING_SUSPECT,       // so narrow that it may have passed its end more than once
    FINDING_NEW,           // was not there at the begin
    FINDING_TIMELESS,      // no time passed that is known
    FINDING_RESET,
    FINDING_GONE,
    FINDING_VANISHED,
    FINDING_UNREADABLE,
    FINDING_DENIED
} finding_cause;

// A rule that should have been judged and could not; or a source that is there and could not be read, with all its rules.
typedef struct finding_unknown {
    const rule *rule; // NULL: the source
    const char *source;
    char *subject;       // as finding.subject
    size_t device;       // or DIFFERENCE_NONE
    const char *counter; // or NULL
    const char *reason;
    char *path; // of the file; NULL: not known
    finding_cause cause;
    int sys_errno;           // 0: not known
    size_t checks;           // 1; of a source: how many rules it has
    severity hides;          // the worst that could have been found
    const char *hides_class; // and of what class
    bool matters;            // it may hide a fault that a verdict must not pass over
} finding_unknown;

// Those with one cause on one group of devices: a line of text.
typedef struct finding_gap {
    char *where;    // "cxi0-cxi7", "source rdma"
    char *why;      // "hni_pcs_uncorrected_cw: Permission denied (/sys/...)"
    char *cause;    // "Permission denied"
    size_t unknown; // the first of findings.unknown
    size_t checks;  // how many it hides
    severity hides; // the worst of them
    bool matters;
} finding_gap;

// The outcome of one rule on one device. Where there was nothing to judge (no such counter, too little traffic) there is
// no record.
typedef struct finding_check {
    const rule *rule;
    size_t device;     // or DIFFERENCE_NONE: the node
    bool judged;       // false: it could not be judged, see findings.unknown
    severity severity; // when judged
    double value;      // in rule->unit, when judged
} finding_check;

// A counter of trouble that moved alike on all devices of its source: an event around them.
typedef struct finding_background {
    const char *source, *counter, *unit;
    uint64_t min, max;
    size_t devices;
    double rate_per_s; // of one device, NAN unknown
} finding_background;

// Bytes per second in and out, and the largest share of a line, over the physical devices.
typedef struct findings_load {
    double rate[2], share;
    double wire_bytes; // in and out of the node's own network interfaces, NAN: there is none with a value
    double within; // 1: less than a tenth of the IP bytes went over them, 0: more, or not known; NAN: IP bytes unread
    size_t devices, idle;
    bool is_whole; // the share is that of all: no port that carried anything is without a known rate and speed
} findings_load;

// Start from {0}.
typedef struct findings {
    const difference *d;
    finding *items; // worst first
    size_t count;
    finding_unknown *unknown;
    size_t unknown_count;
    finding_gap *gaps; // the unknown ones by their cause, what hides most first
    size_t gap_count;
    size_t unknown_checks; // how many checks could not be made
    bool is_blind;         // something that matters could not be judged
    finding_check *checks; // in the rules' order, then the devices'
    size_t check_count;
    finding_background *background;
    size_t background_count;
    findings_load load;
    size_t judged; // how often a rule could be judged, without those about the data themselves
    severity severity;
    char *verdict;   // one sentence
    size_t blind_at; // where in it the cause begins, behind "Could not be judged: "; 0: that is not what it says
    char *places;    // the devices that were judged: "cxi0-cxi7 and the host"; NULL: none
} findings;

// The node that this one is linked with.
typedef struct findings_far {
    const difference *d;
    const size_t *devices; // for each device here the one at the other end of its link, or DIFFERENCE_NONE
} findings_far;

// What must be on a node: findings_expect.h.
typedef struct expected_device {
    char *name;
    char *source;      // NULL: of whichever
    double bits_per_s; // 0: of whatever speed
    bool any_link;     // whether its link is up is not asked: it was not known when all was well
} expected_device;

// Start from {0}; expected_free() at the end.
typedef struct expected_devices {
    expected_device *items; // an stb_ds array
} expected_devices;

void findings_free(findings *f);
// What a gap is and hides, as a line of text: free() it.
char *finding_gap_text(const findings *f, const finding_gap *gap);
const char *finding_gap_remedy(const findings *f, const finding_gap *gap); // what helps; NULL: nothing that is sure
// Names in few words, "cxi0-cxi7", "eth0, eth1, eth5 and 12 more"; free() it. NULL for none.
char *findings_names_text(const char *const *names, size_t count);
// Are its devices the job or the node as a whole?
bool findings_source_is_whole(const char *source);
const char *finding_unknown_place(const findings *f, const finding_unknown *u); // where it is: "cxi0", "cpu", "node"
const char *finding_device(const findings *f, const finding *x); // its name; of the node: the rule's source
// Whom it is about: its device, or where no single one may be named "all 8 NICs", "both GPUs", "7 of 8 NICs".
words_text finding_who(const findings *f, const finding *x);
// The value as the claim shows it, "" when the claim does not; returns text.
const char *finding_value_text(const finding *x, char *text, size_t size);
// The device that a piece of evidence is of, where that is not plain: in findings about several. Otherwise NULL.
const char *finding_evidence_device(const findings *f, const finding *x, const finding_evidence *e);
// A value as the rule's claim shows it, "" when the claim does not; returns text.
const char *finding_number_text(const rule *x, double value, char *text, size_t size);
// What devices of the network, or GPUs, that can be held against each other have in common beside their speed: source,
// driver, model, bond. NULL: it takes no part, for it is no port of the node or its link is down. free() it.
char *findings_alike_key(const difference *d, size_t device);
bool findings_names_rule(const char *list, const char *name); // is it one of the rules, or sources, that a list names?
bool findings_crosses(const rule_threshold *t, double value); // is it on the bad side of a threshold?

#endif
