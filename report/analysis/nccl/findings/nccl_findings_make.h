// The rules, and making findings; shared by the parts of the findings.
#ifndef NETPROF_NCCL_FINDINGS_MAKE_H
#define NETPROF_NCCL_FINDINGS_MAKE_H

#include "nccl_compare.h"
#include "nccl_findings_model.h"

#include "analysis/base/words.h"

enum {
    NCCL_RULE_LATE_RANK,
    NCCL_RULE_OFTEN_LATE,
    NCCL_RULE_EARLY_RANK,
    NCCL_RULE_LATE_HOST,
    NCCL_RULE_SLOW_HOST,
    NCCL_RULE_SLOW_COMMUNICATOR,
    NCCL_RULE_SLOWER,
    NCCL_RULE_FASTER,
    NCCL_RULE_BELOW_PEAK,
    NCCL_RULE_WIRE_CHANGE,
    NCCL_RULE_SKEW,
    NCCL_RULE_LATE_PARTNER,
    NCCL_RULE_SLOW_PARTNER,
    NCCL_RULE_SLOW_PAIR,
    NCCL_RULE_SOCKETS,
    NCCL_RULE_SOCKETS_UNUSED,
    NCCL_RULE_UNEQUAL_MEMBERS,
    NCCL_RULE_OTHER_ADAPTER,
    NCCL_RULE_SLOW_RAIL,
    NCCL_RULE_SLOW_SENDER,
    NCCL_RULE_SLOW_RECEIVER,
    NCCL_RULE_SLOW_LINK,
    NCCL_RULE_PLUGIN_DROPPED,
    NCCL_RULE_PARTS_DROPPED,
    NCCL_RULE_RECORDS_MISSING,
    NCCL_RULE_LOGS_DAMAGED,
    NCCL_RULE_CONFLICTS,
    NCCL_RULE_DISAGREEING,
    NCCL_RULE_INVALID_SIZES,
    NCCL_RULE_DUPLICATES,
    NCCL_RULE_MEAN_MISLEADS,
    NCCL_RULE_CROSS_RAIL,
    NCCL_RULE_NIC_COUNTERS,
    NCCL_RULES
};

enum { NCCL_LEAST_CALLS = 10 }; // fewer are not judged
#define NCCL_BY_CHANCE 5.0      // z; thousands of ranks are looked at

// The one member of an operation whose calls are unlike those of all others, in the mean of those calls.
typedef struct nccl_alone {
    uint32_t operation, member, process;
    bool waits;                        // its calls are longer: it comes early; else it comes late
    double us, low_us, high_us, ratio; // of a call: its own, the others' least and most; own / their median
    double extra_us;                   // beyond that median, in all those calls
    uint64_t first_sn, last_sn;
    bool from_begin, to_the_end;
} nccl_alone;

typedef struct nccl_findings_making {
    nccl_findings *f;
    const nccl *n;
    // By process, of all collectives that it took part in with others: how long they took, all and the complete ones.
    double *time_us, *complete_us;
    bool *late_processes; // by process: one is late by itself
    bool *wire_judged;    // by communicator
    nccl_alone *alone;    // stb_ds; of each operation at most one
    bool
        *beside_early; // by member: alone with a rank that comes early elsewhere, too: it always is the last of the two
} nccl_findings_making;

// What chance makes of being last: sums over calls.
typedef struct nccl_chance {
    double count, last;        // how often it was
    double expected, variance; // and would be if nobody were later than others
} nccl_chance;

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
// Who a member is, by the one name that a rank has in claims and tables, that in its widest communicator: "rank 2 on host
// h1" where a claim is about that one, "rank 13 of world, on host h1," where it is about another. free() it.
char *nccl_finding_rank(const nccl *n, uint32_t member);
char *nccl_finding_process(const nccl *n, uint32_t process); // "rank 13 of world, on host h1,"
const char *nccl_finding_host(const nccl *n, uint32_t member);
// How bad a finding with such a cost is.
severity nccl_finding_severity(double cost_share);
words_text nccl_finding_cost(double cost_us, double cost_share); // "1.2 s, 9.5 %"
void nccl_chance_add(nccl_chance *c, double count, double last, double p);
double nccl_chance_z(const nccl_chance *c);
// How many calls like these are needed for one that is last in all of them to be beyond chance.
double nccl_chance_needed(const nccl_chance *c);

void nccl_findings_find_alone(nccl_findings_making *m); // m->alone, m->beside_early
words_text nccl_alone_when(const nccl_alone *x);
// Of m->alone, the one that is late there; or NULL.
const nccl_alone *nccl_alone_late(const nccl_findings_making *m, uint32_t process, uint32_t operation);
void nccl_findings_early_ranks(nccl_findings_making *m);
void nccl_findings_late_ranks(nccl_findings_making *m);
// How often a process was last in all that it took part in with others.
nccl_chance nccl_findings_chance_of(const nccl_findings_making *m, uint32_t process);
// Says of which ranks lateness could not be judged, and counts them.
void nccl_findings_late_unknown(nccl_findings_making *m);
void nccl_findings_late_hosts(nccl_findings_making *m);
void nccl_findings_explain_late_ranks(nccl_findings_making *m);
void nccl_findings_slow(nccl_findings_making *m);
void nccl_findings_below_peak(nccl_findings_making *m);
void nccl_findings_wire_changes(nccl_findings_making *m);
void nccl_findings_skew(nccl_findings_making *m);
void nccl_findings_misleading_mean(nccl_findings_making *m);
void nccl_findings_sockets(nccl_findings_making *m);
void nccl_findings_devices(nccl_findings_making *m);
void nccl_findings_peers(nccl_findings_making *m);
void nccl_findings_partners(nccl_findings_making *m);
void nccl_findings_missing(nccl_findings_making *m);
void nccl_findings_dropped(nccl_findings_making *m);
void nccl_findings_parts_dropped(nccl_findings_making *m);
void nccl_findings_damage(nccl_findings_making *m);
void nccl_findings_odd_records(nccl_findings_making *m);
void nccl_findings_compared(nccl_findings_making *m, const nccl_comparison *c);
// Counts what was judged, says what could not be, and makes severity and verdict.
void nccl_findings_conclude(nccl_findings_making *m);

#endif
