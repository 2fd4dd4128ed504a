// The types of findings, and what can be asked of them. findings.h makes them.
#ifndef NETPROF_FINDINGS_MODEL_H
#define NETPROF_FINDINGS_MODEL_H

#include "analysis/data/difference.h"
#include "rules.h"

enum { FINDINGS_EVIDENCE = 12 };

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
    char *claim;
    finding_evidence evidence[FINDINGS_EVIDENCE];
    size_t evidence_count;
    const rule_threshold *threshold; // the one that was crossed
    char *explained_by;              // names of rules, by commas; NULL: nothing explains it
    size_t peers;                    // other devices of the source with a value, and its range there
    double peers_min, peers_max;
} finding;

// A rule that should have been judged and could not.
typedef struct finding_unknown {
    const rule *rule;
    size_t device;       // or DIFFERENCE_NONE
    const char *counter; // or NULL
    const char *reason;
} finding_unknown;

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

// Start from {0}.
typedef struct findings {
    const difference *d;
    finding *items; // worst first
    size_t count;
    finding_unknown *unknown;
    size_t unknown_count;
    finding_check *checks; // in the rules' order, then the devices'
    size_t check_count;
    finding_background *background;
    size_t background_count;
    size_t judged; // how often a rule could be judged, without those about the data themselves
    severity severity;
    char *verdict; // one sentence
} findings;

// The node that this one is linked with.
typedef struct findings_far {
    const difference *d;
    const size_t *devices; // for each device here the one at the other end of its link, or DIFFERENCE_NONE
} findings_far;

void findings_free(findings *f);
// Are its devices the job or the node as a whole?
bool findings_source_is_whole(const char *source);
const char *finding_device(const findings *f, const finding *x); // its name; of the node: the rule's source
// The value as the claim shows it, "" when the claim does not; returns text.
const char *finding_value_text(const finding *x, char *text, size_t size);
// A value as the rule's claim shows it, "" when the claim does not; returns text.
const char *finding_number_text(const rule *x, double value, char *text, size_t size);
bool findings_crosses(const rule_threshold *t, double value); // is it on the bad side of a threshold?

#endif
