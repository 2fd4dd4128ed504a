// The rules, and making findings; shared by the parts of the findings.
#ifndef NETPROF_NCCL_FINDINGS_MAKE_H
#define NETPROF_NCCL_FINDINGS_MAKE_H

#include "nccl_compare.h"
#include "nccl_findings_model.h"

#include "analysis/base/words.h"

enum {
    NCCL_RULE_LATE_RANK,
    NCCL_RULE_OFTEN_LATE,
    NCCL_RULE_LATE_HOST,
    NCCL_RULE_SLOW_HOST,
    NCCL_RULE_SLOW_COMMUNICATOR,
    NCCL_RULE_SLOWER,
    NCCL_RULE_FASTER,
    NCCL_RULE_BELOW_PEAK,
    NCCL_RULE_WIRE_CHANGE,
    NCCL_RULE_SKEW,
    NCCL_RULE_SLOW_PAIR,
    NCCL_RULE_PLUGIN_DROPPED,
    NCCL_RULE_RECORDS_MISSING,
    NCCL_RULE_LOGS_DAMAGED,
    NCCL_RULE_CONFLICTS,
    NCCL_RULE_DISAGREEING,
    NCCL_RULE_INVALID_SIZES,
    NCCL_RULE_DUPLICATES,
    NCCL_RULE_MEAN_MISLEADS,
    NCCL_RULE_NIC_COUNTERS,
    NCCL_RULES
};

enum { NCCL_LEAST_CALLS = 10 }; // fewer are not judged
#define NCCL_BY_CHANCE 5.0      // z; thousands of ranks are looked at
#define NCCL_COSTS     0.01     // of the time in collectives: less is only context (own)

typedef struct nccl_findings_making {
    nccl_findings *f;
    const nccl *n;
} nccl_findings_making;

// All rules, ended by one without a name.
extern const nccl_rule nccl_finding_rules[NCCL_RULES + 1];

// Adds a finding of a rule. Takes the claim.
nccl_finding *nccl_finding_add(nccl_findings_making *m, int which, severity s, double value, char *claim);
// Adds what could not be judged. Takes the text.
void nccl_finding_unknown(nccl_findings_making *m, char *text);
// Takes the name; more than NCCL_EVIDENCE are left out.
void nccl_finding_evidence(nccl_finding *x, char *name, double value, const char *unit);
words_text nccl_finding_time(double us);
words_text nccl_finding_rate(double gbs);
const char *nccl_finding_host(const nccl *n, uint32_t member);
// How far k of count is above what chance makes of p, in standard deviations.
double nccl_finding_beyond_chance(double k, double count, double p);

// late_processes: by process, set where one is late by itself.
void nccl_findings_late_ranks(nccl_findings_making *m, bool *late_processes);
void nccl_findings_late_hosts(nccl_findings_making *m, const bool *late_processes);
void nccl_findings_explain_often_late(nccl_findings_making *m);
void nccl_findings_slow(nccl_findings_making *m);
void nccl_findings_below_peak(nccl_findings_making *m);
void nccl_findings_wire_changes(nccl_findings_making *m);
void nccl_findings_skew(nccl_findings_making *m, const bool *late_processes);
void nccl_findings_misleading_mean(nccl_findings_making *m);
void nccl_findings_slow_pairs(nccl_findings_making *m);
void nccl_findings_missing(nccl_findings_making *m);
void nccl_findings_dropped(nccl_findings_making *m);
void nccl_findings_damage(nccl_findings_making *m);
void nccl_findings_odd_records(nccl_findings_making *m);
void nccl_findings_compared(nccl_findings_making *m, const nccl_comparison *c);

#endif
